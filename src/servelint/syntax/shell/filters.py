"""What the programs that scripts compute with print: `seq`, and `tr`, `cut`, `wc`, `awk`, `sed` of a known input."""

from __future__ import annotations

import re
import string

from servelint.syntax.shell.arithmetic import integer

PROGRAMS = frozenset(("awk", "cut", "head", "sed", "seq", "tail", "tr", "wc", "xargs"))
_ITEMS_AT_MOST = 1000
_CLASSES = {"[:upper:]": string.ascii_uppercase, "[:lower:]": string.ascii_lowercase, "\\n": "\n", "\\t": "\t"}
_SET = re.compile(r"\[:[a-z]+:\]|\\.|(?P<low>[0-9A-Za-z])-(?P<high>[0-9A-Za-z])|[^\\]", re.DOTALL)
_FIELDS = re.compile(r"([1-9]\d{0,3})(?:(-)(\d{0,4}))?")
_PRINT = re.compile(r"\s*\{\s*print\s+(NF|\$NF|\$[1-9]\d{0,3})\s*;?\s*\}\s*")
_REPLACE = re.compile(r"s([/|#,:])([\w,:;/@ |#-]+)\1([\w,:;/@ .|#-]*)\1(g?)")


def output(name: str, args: list[str], text: str | None) -> str | None:
    """What a program prints of what it reads; None if that is not known.

    Args:
        name: One of PROGRAMS.
        args: Its arguments.
        text: Its standard input; None if that is not known.
    """
    if name == "seq":
        return _numbers(args)
    if text is None:
        return None
    lines = text.removesuffix("\n").split("\n") if text else []
    made: list[str] | None = None
    if name == "wc" and args in (["-l"], ["-w"]):
        made = [str(text.count("\n") if args == ["-l"] else len(text.split()))]
    elif name == "xargs" and not args and not re.search(r"[\"'\\]", text):
        made = [" ".join(text.split())]
    elif name == "tr":
        return _translated(args, text)
    elif name in ("head", "tail"):
        given, rest = _options(args, "n")
        count = integer(given.get("n") or "".join(rest).removeprefix("-"))
        if count and len(rest) + len(given) == 1:
            made = lines[:count] if name == "head" else lines[-count:]
    elif name == "cut":
        made = _cut(args, lines)
    elif name == "awk":
        made = _printed(args, lines)
    elif name == "sed" and len(args) == 1:
        match = _REPLACE.fullmatch(args[0])
        if match is not None and match.group(1) not in match.group(2) + match.group(3):
            made = [line.replace(match.group(2), match.group(3), -1 if match.group(4) else 1) for line in lines]
    return "".join([line + "\n" for line in made]) if made is not None else None


def _options(args: list[str], letters: str) -> tuple[dict[str, str], list[str]]:
    """The values of options with a value, and the other arguments."""
    given: dict[str, str] = {}
    rest: list[str] = []
    todo = args[::-1]
    while todo:
        arg = todo.pop()
        if arg[:1] == "-" and arg[1:2] and arg[1] in letters:
            given[arg[1]] = arg[2:] or (todo.pop() if todo else "")
        else:
            rest.append(arg)
    return given, rest


def _numbers(args: list[str]) -> str | None:
    """`seq`."""
    given, rest = _options(args, "s")
    numbers = [number for arg in rest if (number := integer(arg)) is not None]
    if not 1 <= len(numbers) <= 3 or len(numbers) != len(rest):
        return None
    first, step = numbers[0] if len(numbers) > 1 else 1, numbers[1] if len(numbers) > 2 else 1
    found = range(first, numbers[-1] + (1 if step > 0 else -1), step) if step else ()
    if not found or len(found) > _ITEMS_AT_MOST:
        return None if step == 0 or found else ""
    return given.get("s", "\n").join([str(number) for number in found]) + "\n"


def _characters(written: str) -> str | None:
    """The characters of a set of `tr`."""
    found: list[str] = []
    for match in _SET.finditer(written):
        low, high = match.group("low"), match.group("high")
        one = _CLASSES.get(match.group(), match.group())
        if low is None and len(one) != 1 and match.group() not in _CLASSES:
            return None
        found.append("".join([chr(code) for code in range(ord(low), ord(high) + 1)]) if low is not None else one)
    return "".join(found)


def _translated(args: list[str], text: str) -> str | None:
    """`tr`."""
    deletes = args[:1] == ["-d"]
    sets = [_characters(arg) for arg in args[deletes:]]
    if len(sets) != 2 - deletes or not all(sets) or (not deletes and args[0][:1] == "-"):
        return None
    before, after = sets[0] or "", (sets[-1] or "") if not deletes else ""
    table = {ord(char): after[min(at, len(after) - 1)] if after else None for at, char in reversed(list(enumerate(before)))}
    return text.translate(table)


def _cut(args: list[str], lines: list[str]) -> list[str] | None:
    """`cut -d X -f N`."""
    given, rest = _options(args, "df")
    wanted = _FIELDS.fullmatch(given.get("f", ""))
    between = given.get("d", "\t")
    if rest or wanted is None or len(between) != 1:
        return None
    first = int(wanted.group(1))
    last = first if not wanted.group(2) else int(wanted.group(3)) if wanted.group(3) else None
    return [between.join(line.split(between)[first - 1 : last]) if between in line else line for line in lines]


def _printed(args: list[str], lines: list[str]) -> list[str] | None:
    """`awk` with a program that prints a field or their number."""
    given, rest = _options(args, "F")
    program = _PRINT.fullmatch(rest[0]) if len(rest) == 1 else None
    between = given.get("F")
    if program is None or (between is not None and (len(between) != 1 or between in " t\\")):
        return None
    wanted = program.group(1)
    found: list[str] = []
    for line in lines:
        fields = (line.split(between) if line else []) if between is not None else line.split()
        at = len(fields) if wanted == "$NF" else integer(wanted[1:])
        found.append(str(len(fields)) if at is None else "".join(fields[at - 1 : at]) if at else line)
    return found
