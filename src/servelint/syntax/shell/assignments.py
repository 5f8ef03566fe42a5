"""Assignments and declarations: scalars, arrays, associative arrays, `+=`, `export`, `local`, `unset`."""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.text import EMPTY, Text, spend, unknown
from servelint.syntax.shell.arithmetic import integer
from servelint.syntax.shell.expand import Raw
from servelint.syntax.shell.state import SUCCESS, UNSET, Status, Value, unsure_items
from servelint.syntax.shell.syntax import Assignment
from servelint.syntax.shell.syntax import assignment as read
from servelint.syntax.shell.tree import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.evaluate import Evaluator

_NAME = re.compile(r"([A-Za-z_]\w*)(?:\[(.+)\])?", re.ASCII | re.DOTALL)
_LOCAL = ("local", "declare", "typeset")


def assignment(shell: Evaluator, node: Node) -> Status:
    made = shell.script.assignment(node)
    if made is not None:
        shell.set(*assigned(shell, made))
    return SUCCESS


def assigned(shell: Evaluator, made: Assignment) -> tuple[str, Value]:
    """The name and the value of an assignment; `name[k]=v` gives the whole changed array."""
    name = shell.resolved(made.name)
    before = shell.state.variables.get(name)
    if made.index is not None:
        return name, _item(shell, name, made.index, made.value, made.adds)
    if made.array:
        return name, _array(shell, name, made, before if made.adds else None, isinstance(before, dict))
    text = made.value.value(shell)
    if not made.adds and (isinstance(before, Text) or before is None):
        return name, Text.join((text,))
    if isinstance(before, dict) or (isinstance(before, list) and before and before[0].many):
        return name, unsure_items(name)
    if isinstance(before, list):
        # without an index, an array's first item is meant
        first = Text.join((before[0].text, text)) if before and made.adds else text
        return name, [Word(first), *before[1:]]
    if isinstance(before, Text):
        return name, Text.join((before, text))
    return name, Text.join((Text((unknown("${" + name + "}", text.span(), shown=""),)), text))


def _item(shell: Evaluator, name: str, index: Text, raw: Raw, append: bool) -> Value:
    """The array after `name[index]=raw`; unknown where it would have gaps."""
    before = shell.state.variables.get(name)
    old = (shell.item(name, index) or Text((unknown("${" + name + "}", None),))) if append else EMPTY
    text = Text.join((old, raw.value(shell)))
    if isinstance(before, dict):
        key = shell.expand(index, True).value
        return unsure_items(name) if key is None else {**before, key: text}
    at = shell.index(index)
    items = before if isinstance(before, list) else [Word(before)] if isinstance(before, Text) and before is not UNSET else []
    if at is None or not 0 <= at <= len(items) or any(word.many for word in items):
        return unsure_items(name)
    return [*items[:at], Word(text), *items[at + 1 :]]


def _array(shell: Evaluator, name: str, made: Assignment, before: Value | None, associative: bool) -> Value:
    """The array that `(...)` makes; before: what `+=` adds to."""
    items: list[Word] = list(before) if isinstance(before, list) else []
    if isinstance(before, Text) and before is not UNSET:
        items = [Word(before)]
    table: dict[str, Text] = dict(before) if isinstance(before, dict) else {}
    sure = True
    for key, raw in made.items:
        if key is None:
            items += raw.words(shell)
            continue
        value = raw.value(shell)
        if associative:
            known = shell.expand(key, True).value
            sure = sure and known is not None
            table[known or ""] = value
            continue
        at = shell.index(key)
        sure = sure and at is not None and 0 <= at <= len(items) and not any(word.many for word in items)
        if sure and at is not None:
            items[at : at + 1] = [Word(value)]
    if not sure or (associative and items):
        return unsure_items(name)
    return table if associative else items


def declaration(shell: Evaluator, node: Node) -> Status:
    """`export`, `declare`, `typeset`, `local`, `readonly`."""
    found = shell.script.simple(node.start_byte)
    keyword = found.all_words[0].text.flat if found.all_words else ""
    flags = ""
    for declared in found.declared:
        if isinstance(declared, Assignment):
            _declare(shell, keyword, flags, declared.name, declared)
            continue
        for word in declared.words(shell):
            if word.shown[:1] in ("-", "+"):
                flags += word.shown
            elif _NAME.match(word.text.flat):
                made = read(word.text)
                _declare(shell, keyword, flags, made.name if made is not None else word.text.flat, made, quoted=True)
    return SUCCESS


def _declare(shell: Evaluator, keyword: str, flags: str, name: str, target: Assignment | None, quoted: bool = False) -> None:
    """One name of a declaration, with or without a value. quoted: the value is expanded already (`export "A=$B"`)."""
    if not name.isidentifier() or "f" in flags or "p" in flags:
        return
    state = shell.state
    if shell.local_names is not None and keyword in _LOCAL and "g" not in flags:
        if name not in shell.local_names and target is None:
            state.variables[name] = UNSET
        shell.local_names.add(name)
        state.aliases = {alias: target for alias, target in state.aliases.items() if alias != name}
    if "n" in flags and keyword != "export":
        known: str | None = ""
        if target is not None:
            known = (target.value.text if quoted else target.value.value(shell)).value
        state.aliases = {**state.aliases, name: known or ""}
        return
    if "A" in flags and not isinstance(state.variables.get(name), dict):
        state.variables[name] = {}
    elif "a" in flags and not isinstance(state.variables.get(name), list):
        state.variables[name] = []
    if any(flag in flags for flag in "ilu") and keyword != "export":
        state.typed |= {name}
    if target is not None:
        if quoted:
            shell.set(name, target.value.text)
        else:
            shell.set(*assigned(shell, target))
    if keyword == "export" and "n" in flags:
        state.exported -= {name}
    elif keyword == "export" or "x" in flags:
        spend(4 * len(state.exported))
        state.exported |= {name}
        state.doubtful -= {name}


def unset(shell: Evaluator, node: Node) -> Status:
    words = [word for raw in shell.script.simple(node.start_byte).all_words[1:] for word in raw.words(shell)]
    if any(word.shown.startswith("-") and "f" in word.shown for word in words):
        for word in words:
            shell.state.own_functions().pop(word.shown, None)
        return SUCCESS
    for word in words:
        match = _NAME.fullmatch(word.text.flat)
        if match is None:
            continue
        name = shell.resolved(match.group(1))
        if match.group(2) is None:
            shell.state.variables[name] = UNSET
            shell.state.exported -= {name}
            shell.state.typed -= {name}
        else:
            shell.state.variables[name] = _without(shell, name, word.text.cut(match.start(2), match.end(2)))
    return SUCCESS


def _without(shell: Evaluator, name: str, index: Text) -> Value:
    """An array without one item; unknown where that leaves a gap."""
    before = shell.state.variables.get(name)
    if isinstance(before, dict):
        return {key: text for key, text in before.items() if key != index.value}
    at = integer(index.value or "")
    if not isinstance(before, list) or at not in (-1, len(before) - 1) or any(word.many for word in before):
        return unsure_items(name)
    return before[:-1]
