"""Assignments and declarations: scalars, arrays, associative arrays, `+=`, `export`, `local`, `unset`."""

from __future__ import annotations

import re

from servelint.launch import Word
from servelint.shell import expand, lexer
from servelint.shell.arithmetic import integer
from servelint.shell.state import SUCCESS, UNSET, Status, Value, unsure_items
from servelint.shell.syntax import Node
from servelint.text import EMPTY, Text, spend, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.shell.walk import Evaluator

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?(\+?=)", re.ASCII)
_NAME = re.compile(r"([A-Za-z_]\w*)(?:\[(.+)\])?", re.ASCII | re.DOTALL)
_LOCAL = ("local", "declare", "typeset")


def assignment(shell: Evaluator, node: Node) -> Status:
    flat = shell.script.flat
    target = ASSIGNMENT.match(flat, node.start_byte)
    if target is not None:
        end = lexer.word_end(flat, target.end())
        if end == target.end() and flat.startswith("(", end):
            end = min(lexer.matching(flat, end + 1, ")") + 1, len(flat))
        name, value = assigned(shell, shell.script.text.cut(node.start_byte, end))
        shell.set(name, value)
    return SUCCESS


def assigned(shell: Evaluator, raw: Text) -> tuple[str, Value]:
    """The name and the value of an assignment; `name[k]=v` gives the whole changed array."""
    target = ASSIGNMENT.match(raw.flat)
    if target is None:
        return "", EMPTY
    name, index, operator = shell.resolved(target.group(1)), target.group(2), target.group(3)
    value = raw.cut(target.end())
    before = shell.state.variables.get(name)
    if index is not None:
        return name, _item(shell, name, raw.cut(target.start(2), target.end(2)), value, operator == "+=")
    if value.flat[:1] == "(":
        return name, _array(shell, name, value, before if operator == "+=" else None, isinstance(before, dict))
    text = expand.value(value, shell)
    if operator == "=":
        before = EMPTY if isinstance(before, Text) or before is None else before
    if isinstance(before, dict) or (isinstance(before, list) and before and before[0].many):
        return name, unsure_items(name)
    if isinstance(before, list):
        # without an index, an array's first item is meant
        first = Text.join((before[0].text, text)) if before and operator == "+=" else text
        return name, [Word(first), *before[1:]]
    if isinstance(before, Text):
        return name, Text.join((before, text))
    return name, Text.join((Text((unknown("${" + name + "}", text.span(), shown=""),)), text))


def _item(shell: Evaluator, name: str, index: Text, raw: Text, append: bool) -> Value:
    """The array after `name[index]=raw`; unknown where it would have gaps."""
    before = shell.state.variables.get(name)
    old = (shell.item(name, index) or Text((unknown("${" + name + "}", None),))) if append else EMPTY
    text = Text.join((old, expand.value(raw, shell)))
    if isinstance(before, dict):
        key = shell.expand(index, True).value
        return unsure_items(name) if key is None else {**before, key: text}
    at = shell.index(index)
    items = before if isinstance(before, list) else [Word(before)] if isinstance(before, Text) and before is not UNSET else []
    if at is None or not 0 <= at <= len(items) or any(word.many for word in items):
        return unsure_items(name)
    return [*items[:at], Word(text), *items[at + 1 :]]


def _array(shell: Evaluator, name: str, raw: Text, before: Value | None, associative: bool) -> Value:
    """The array that `(...)` makes; before: what `+=` adds to."""
    items: list[Word] = list(before) if isinstance(before, list) else []
    if isinstance(before, Text) and before is not UNSET:
        items = [Word(before)]
    table: dict[str, Text] = dict(before) if isinstance(before, dict) else {}
    sure = True
    for start, end in lexer.items(raw.flat, 1, len(raw.flat) - raw.flat.endswith(")")):
        word = raw.cut(start, end)
        index, sign, _ = word.flat.partition("]=")
        if not (sign and index.startswith("[")):
            items += expand.words(word, shell)
            continue
        key, value = word.cut(1, len(index)), expand.value(word.cut(len(index) + 2), shell)
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
    flat, text = shell.script.flat, shell.script.text
    ranges = lexer.command(flat, node.start_byte).words
    keyword = flat[slice(*ranges[0])] if ranges else ""
    flags = ""
    for start, end in ranges[1:]:
        if ASSIGNMENT.match(flat, start, end):
            _declare(shell, keyword, flags, text.cut(start, end))
            continue
        for word in expand.words(text.cut(start, end), shell):
            if word.shown[:1] in ("-", "+"):
                flags += word.shown
            elif _NAME.match(word.text.flat):
                _declare(shell, keyword, flags, word.text, quoted=True)
    return SUCCESS


def _declare(shell: Evaluator, keyword: str, flags: str, raw: Text, quoted: bool = False) -> None:
    """One name of a declaration, with or without a value. quoted: the value is expanded already (`export "A=$B"`)."""
    target = ASSIGNMENT.match(raw.flat)
    name = target.group(1) if target is not None else raw.flat
    if not name.isidentifier() or "f" in flags or "p" in flags:
        return
    state = shell.state
    if shell.local_names is not None and keyword in _LOCAL and "g" not in flags:
        if name not in shell.local_names and target is None:
            state.variables[name] = UNSET
        shell.local_names.add(name)
        state.aliases = {alias: target for alias, target in state.aliases.items() if alias != name}
    if "n" in flags and keyword != "export":
        value = raw.cut(target.end()) if target is not None else EMPTY
        known = (value if quoted else expand.value(value, shell)).value
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
            shell.set(name, raw.cut(target.end()))
        else:
            shell.set(*assigned(shell, raw))
    if keyword == "export" and "n" in flags:
        state.exported -= {name}
    elif keyword == "export" or "x" in flags:
        spend(4 * len(state.exported))
        state.exported |= {name}
        state.doubtful -= {name}


def unset(shell: Evaluator, node: Node) -> Status:
    found = lexer.command(shell.script.flat, node.start_byte).words
    words = [word for start, end in found[1:] for word in expand.words(shell.script.text.cut(start, end), shell)]
    if any(word.shown.startswith("-") and "f" in word.shown for word in words):
        for word in words:
            shell.state.functions.pop(word.shown, None)
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
