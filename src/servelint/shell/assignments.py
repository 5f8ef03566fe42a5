"""Assignments and declarations: scalars, arrays, associative arrays, `+=`, `export`, `local`, `unset`."""

from __future__ import annotations

from servelint.launch import Word
from servelint.shell import expand
from servelint.shell.parameters import word_end
from servelint.shell.state import SUCCESS, Status, Value
from servelint.shell.syntax import Node, name_of
from servelint.text import EMPTY, Text, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.shell.evaluate import Evaluator


def assignment(shell: Evaluator, node: Node) -> Status:
    name, value = assigned(shell, node)
    if name:
        shell.set(name, value)
    return SUCCESS


def assigned(shell: Evaluator, node: Node) -> tuple[str, Value]:
    """The name and the value of an assignment node; `name[k]=v` gives the whole changed array."""
    target, value_node = node.child_by_field_name("name"), node.child_by_field_name("value")
    append = any(child.type == "+=" for child in node.children)
    if target is None:
        return "", EMPTY
    if target.type == "subscript":
        return _item(shell, target, value_node)
    name = name_of(target)
    before = shell.state.variables.get(name)
    if value_node is not None and value_node.type == "array":
        return name, _array(shell, value_node, before if append else None, associative=isinstance(before, dict))
    text = _value(shell, value_node)
    if not append:
        return name, text
    if isinstance(before, list):
        return name, [Word(Text.join((before[0].text, text))), *before[1:]] if before else [Word(text)]
    if isinstance(before, Text):
        return name, Text.join((before, text))
    return name, Text.join((Text((unknown("${" + name + "}", text.span(), shown=""),)), text))


def _value(shell: Evaluator, node: Node | None) -> Text:
    if node is None:
        return EMPTY
    # the grammar ends some values too early (`A=$B/x:$C`): the word goes on to the next white space
    text = shell.script.text
    return expand.value(text.cut(node.start_byte, max(node.end_byte, word_end(text.flat, node.start_byte))), shell)


def _item(shell: Evaluator, target: Node, value_node: Node | None) -> tuple[str, Value]:
    name, index = name_of(target.child_by_field_name("name")), target.child_by_field_name("index")
    text = _value(shell, value_node)
    key = shell.expand(shell.script.cut(index), True).value if index is not None else None
    before = shell.state.variables.get(name)
    if key is None:
        return name, {}
    if isinstance(before, list) and key.isdigit() and int(key) <= len(before):
        return name, [*before[: int(key)], Word(text), *before[int(key) + 1 :]]
    table = dict(before) if isinstance(before, dict) else {}
    table[key] = text
    return name, table


def _array(shell: Evaluator, node: Node, before: Value | None, associative: bool) -> Value:
    items: list[Word] = list(before) if isinstance(before, list) else []
    if isinstance(before, Text):
        items = [Word(before)]
    table: dict[str, Text] = dict(before) if isinstance(before, dict) else {}
    keyed = False
    for child in node.children:
        if not child.is_named or child.type == "comment":
            continue
        raw = shell.script.cut(child)
        key, sign, _ = raw.flat.partition("]=")
        if sign and key.startswith("["):
            keyed = True
            name = shell.expand(raw.cut(1, len(key)), True).value
            if name is not None:
                table[name] = expand.value(raw.cut(len(key) + 2), shell)
        else:
            items += expand.words(raw, shell)
    return table if keyed or (associative and not items) else items


def declaration(shell: Evaluator, node: Node) -> Status:
    """`export`, `declare`, `typeset`, `local`, `readonly`."""
    keyword = node.children[0].type
    words = [name_of(child) for child in node.children[1:] if child.type == "word"]
    flags = "".join([word for word in words if word.startswith("-")])
    for child in node.children[1:]:
        if child.type == "variable_assignment":
            if "A" in flags:
                shell.state.variables[name_of(child.child_by_field_name("name"))] = {}
            name, value = assigned(shell, child)
        elif child.type == "variable_name":
            name = name_of(child)
            if keyword == "export" and name not in shell.state.variables:
                continue
            before = shell.state.variables.get(name, EMPTY)
            if "A" in flags and not isinstance(before, dict):
                before = {}
            elif "a" in flags and not isinstance(before, list):
                before = []
            value = before
        else:
            continue
        if shell.local_names is not None and keyword in ("local", "declare", "typeset") and "g" not in flags:
            shell.local_names.add(name)
        shell.set(name, value)
        if keyword == "export" or "x" in flags:
            shell.state.exported |= {name}
    return SUCCESS


def unset(shell: Evaluator, node: Node) -> Status:
    for child in node.children[1:]:
        if child.type in ("variable_name", "word") and not name_of(child).startswith("-"):
            shell.state.variables[name_of(child)] = EMPTY
            shell.state.exported -= {name_of(child)}
    return SUCCESS
