"""Which words and commands can be left out: to expand them sets nothing and decides nothing.

What prints or waits is most of many scripts (`log "GPU $gpu has $used MiB in use"`), and nobody asks for its words.
"""

from __future__ import annotations

import re

from servelint.syntax.shell import parts, recipe

SILENT = frozenset((
    ":", "alias", "disown", "echo", "hash", "pwd", "shopt", "sleep", "times", "trap", "true", "type", "ulimit", "umask", "wait",
))  # fmt: skip
"""Builtins that set nothing here, and succeed."""
PRINTING = SILENT | {"printf"}
NOWHERE = "/dev/null"
_MANAGERS = frozenset(("docker", "nerdctl", "podman"))
"""Programs that do what their first word says, which is a part of their name here: `docker stop`."""

_NAME = re.compile(r"[\w.:+-]+", re.ASCII)
_FORMAT = re.compile(r"['\"]?[^$`'\"\\{~-]|['\"]\\")
_BRACES = re.compile(r"(?<!\$)\{")
_SUM = re.compile(r"(?!.*(?:\+\+|--))[\w\s+*/%()-]*", re.DOTALL)
_BOUNDS = re.compile(r"(?!.*--)[0-9\s:-]*", re.DOTALL)
_DEFAULTS = (":-", "-", ":+", "+")
_SETS = (":=", "=")
_WRITES = frozenset((">", ">>", ">|", "1>", "1>>", "&>", "&>>"))


def writes(operator: str, path: str) -> bool:
    """Whether a redirection writes a file that may be read again."""
    return operator in _WRITES and path != NOWHERE


def name(words: list[str]) -> str | None:
    """The name of a command, where it is written out and to expand its words changes nothing.

    >>> name(["echo", '"$A"']), name(["docker", "stop", "-t", "30", "$NAME"]), name(["$A"])
    ('echo', 'docker stop', None)
    """
    if _NAME.fullmatch(words[0]) is None or not all(map(tame, words)):
        return None
    if words[0] == "printf" and len(words) > 1 and _FORMAT.match(words[1]) is None:
        return None  # it may set a variable
    if words[0] in _MANAGERS and len(words) > 1 and _NAME.fullmatch(words[1]) is not None:
        return f"{words[0]} {words[1]}"
    return words[0]


def tame(flat: str) -> bool:
    """Whether to expand a raw word changes nothing."""
    if "$" not in flat and "`" not in flat:
        return True
    if _BRACES.search(flat) is not None and ("," in flat or ".." in flat):
        return False
    return _tame(recipe.read(flat))


def _tame(read: recipe.Recipe) -> bool:
    return read.fixed or all(part.fixed or _tame_part(part) for part in read.parts)


def _tame_part(part: parts.Part) -> bool:
    if isinstance(part, recipe.Parameter):
        return _tame_parameter(part)
    if isinstance(part, parts.Arithmetic):
        return _SUM.fullmatch(part.inside) is not None
    return isinstance(part, parts.Substitution)


def _tame_parameter(part: recipe.Parameter) -> bool:
    inner = part.inner
    if inner.plain:
        return True
    if inner.prefix == "!" or not (not inner.index or inner.index in ("@", "*") or inner.index.isdecimal()):
        return False
    operand = inner.flat[inner.operand :]
    if inner.operator in _DEFAULTS:
        return _tame(recipe.read(operand, recipe.IN_QUOTES if part.quoted else recipe.WORD)) and _tame(
            recipe.read(operand, recipe.IN_QUOTES)
        )
    if inner.operator == ":":
        return _BOUNDS.fullmatch(operand) is not None
    return inner.operator not in _SETS and "$" not in operand and "`" not in operand
