"""Changes of a text, such as hands, editors and programs make them, and some that nobody makes."""

from __future__ import annotations

import re

from fuzz import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.chance import Chance

LONGEST = 600
"""Characters of a changed text."""

_WORD = re.compile(r"[\w./-]+|[^\w\s]")


def mutated(chance: Chance, text: str) -> str:
    """The text after none to four changes."""
    for _ in range(chance.below(5)):
        text = chance.pick(_CHANGES)(chance, text)
    return text[:LONGEST]


def _insert(chance: Chance, text: str) -> str:
    at = chance.below(len(text) + 1)
    return text[:at] + chance.pick(vocabulary.tokens()) + text[at:]


def _delete(chance: Chance, text: str) -> str:
    at = chance.below(len(text) + 1)
    return text[:at] + text[at + 1 + chance.below(8) :]


def _word(chance: Chance, text: str) -> str:
    """Another token in the place of a word."""
    at = chance.below(len(text) + 1)
    found = _WORD.search(text, at)
    if found is None:
        return text
    return text[: found.start()] + chance.pick(vocabulary.tokens()).rstrip(" ") + text[found.end() :]


def _wrap(chance: Chance, text: str) -> str:
    """Quotes or brackets around a word."""
    at = chance.below(len(text) + 1)
    found = _WORD.search(text, at)
    if found is None:
        return text
    left, right = chance.pick(
        (("'", "'"), ('"', '"'), ("`", "`"), ("$(", ")"), ("${", "}"), ("{", "}"), ("[", "]"), ("(", ")"))
    )
    return text[: found.start()] + left + found.group() + right + text[found.end() :]


def _line(chance: Chance, text: str) -> str:
    """A line twice, elsewhere, deeper, or gone."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = chance.below(len(lines))
    kind = chance.below(5)
    line = lines[at]
    if kind == 0:
        lines.insert(chance.below(len(lines) + 1), line)
    elif kind == 1:
        lines.insert(chance.below(len(lines)), lines.pop(at))
    elif kind == 2:
        lines[at] = chance.pick((" ", "  ", "\t", "    ")) + line
    elif kind == 3:
        lines[at] = line.lstrip(" \t")
    else:
        del lines[at]
    return "".join(lines)


def _repeat(chance: Chance, text: str) -> str:
    """A part of the text once more, somewhere."""
    start = chance.below(len(text) + 1)
    part = text[start : start + 1 + chance.below(40)]
    at = chance.below(len(text) + 1)
    return text[:at] + part + text[at:]


def _cut(chance: Chance, text: str) -> str:
    return text[: chance.below(len(text) + 1)]


def _ends(chance: Chance, text: str) -> str:
    return text.replace("\n", chance.pick(("\r\n", "\r", "\n\n", " \n", "\\\n")))


def _mark(chance: Chance, text: str) -> str:
    return chance.pick(("\ufeff", "\ufeff\n", " ", "\n", "#!/bin/sh\n", "---\n", "%YAML 1.2\n---\n")) + text


def _number(chance: Chance, text: str) -> str:
    """Another number in the place of one."""
    at = chance.below(len(text) + 1)
    found = re.compile(r"\d+").search(text, at)
    if found is None:
        return text
    number = chance.pick(("0", "1", "-1", "99999999", "9" * 21, "9" * 400, "0.5", "1e9", "00", "\u0662", "\u00b2"))
    return text[: found.start()] + number + text[found.end() :]


_CHANGES: tuple[Callable[[Chance, str], str], ...] = (
    _insert, _insert, _insert, _delete, _delete, _word, _word, _wrap, _line, _line, _repeat, _cut, _number, _ends, _mark,
)  # fmt: skip
