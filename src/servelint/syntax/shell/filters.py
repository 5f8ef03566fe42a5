"""What the programs that scripts compute with print: `seq`, and `tr`, `cut`, `wc`, `awk` of a known input, `sed` of any."""

from __future__ import annotations

import re
import string

from servelint.core.text import EMPTY, HOLE, TracedText
from servelint.syntax.shell.arithmetic import integer

PROGRAMS = frozenset(("awk", "cut", "head", "seq", "tail", "tr", "wc", "xargs"))
_ITEMS_AT_MOST = 1000
_CLASSES = {"[:upper:]": string.ascii_uppercase, "[:lower:]": string.ascii_lowercase, "\\n": "\n", "\\t": "\t"}
_SET = re.compile(r"\[:[a-z]+:\]|\\.|(?P<low>[0-9A-Za-z])-(?P<high>[0-9A-Za-z])|[^\\]", re.DOTALL)
_FIELDS = re.compile(r"([1-9]\d{0,3})(?:(-)(\d{0,4}))?")
_PRINT = re.compile(r"\s*\{\s*print\s+(NF|\$NF|\$[1-9]\d{0,3})\s*;?\s*\}\s*")
_EDITS_AT_MOST = 50
_EDITED = 20_000
_TRIES_AT_MOST = 1_000_000


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


# -- sed

_SPECIAL = re.compile(r"\\(?P<escaped>.)|(?P<set>\[\^?\]?[^\]\\]*\])|(?P<sign>[][.*^$+?(){}|])|(?P<plain>[^\\])", re.DOTALL)
_SWAPPED = frozenset("+?(){}|")
"""Signs that `sed` reads with a backslash only, and `sed -E` without one."""
_REFERENCE = re.compile(r"\\(?P<number>[0-9])|\\(?P<char>.)|(?P<all>&)", re.DOTALL)
_LINE_ENDS = {"n": "\n", "t": "\t"}


def edited(args: list[TracedText], text: TracedText) -> TracedText | None:
    """What `sed` makes of its input by `s/.../.../` and `/.../d`, with the place of each character; None for other programs.

    Args:
        args: Its arguments.
        text: Its standard input.
    """
    programs: list[TracedText] = []
    extended, todo = False, args[::-1]
    while todo:
        arg = todo.pop()
        if arg.flat in ("-E", "-r", "--regexp-extended"):
            extended = True
        elif arg.flat in ("-e", "--expression") and todo:
            programs.append(todo.pop())
        elif arg.flat[:1] == "-" or (programs and arg.flat != "-"):
            return None
        else:
            programs.append(arg)
    lines = text.flat.split("\n")
    # one line with an unknown part is a value: what was edited is not what its expression stands for
    if len(text.flat) > _EDITED or (not text.known and len(lines) <= 1 + (lines[-1] == "")):
        return None
    for program in programs:
        made = _edited(program, text, extended)
        if made is None:
            return None
        text = made
    return text if programs else None


def _edited(program: TracedText, text: TracedText, extended: bool) -> TracedText | None:
    """A text after one program of `sed`."""
    flat, at = program.flat, 0
    for _ in range(_EDITS_AT_MOST):
        while at < len(flat) and flat[at] in "; \t\n":
            at += 1
        if at >= len(flat):
            return text
        if flat[at] == "s" and at + 1 < len(flat) and not flat[at + 1].isalnum():
            sign = flat[at + 1]
            pattern_end = _part_end(flat, at + 2, sign)
            end = _part_end(flat, pattern_end + 1, sign)
            flags = re.compile(r"[gI]*(?=\s*(?:[;\n]|$))").match(flat, end + 1)
            pattern = _expression(flat[at + 2 : pattern_end], sign, extended, flags is not None and "I" in flags.group())
            if pattern is None or flags is None or _takes_long(pattern, text):
                return None
            text = _replaced(text, pattern, program.cut(pattern_end + 1, end), "g" in flags.group())
            at = flags.end()
        elif flat[at] == "/":
            end = _part_end(flat, at + 1, "/")
            pattern = _expression(flat[at + 1 : end], "/", extended, False)
            if pattern is None or _takes_long(pattern, text) or re.compile(r"d\s*(?:[;\n]|$)").match(flat, end + 1) is None:
                return None
            kept = [line for line in _lines(text) if pattern.search(line.flat.rstrip("\n")) is None]
            text, at = TracedText.join(kept), end + 2
        else:
            return None
    return None


def _part_end(flat: str, at: int, sign: str) -> int:
    """Where a part of a command of `sed` ends, at its sign or at the end of the text."""
    while at < len(flat) and flat[at] != sign:
        at += 2 if flat[at] == "\\" else 1
    return min(at, len(flat))


def _expression(written: str, sign: str, extended: bool, ignores_case: bool) -> re.Pattern[str] | None:
    """An expression of `sed` as Python writes it; None for one that may differ, or is partly unknown."""
    parts: list[str] = []
    done = 0
    for match in _SPECIAL.finditer(written):
        if match.start() != done:
            return None
        done = match.end()
        escaped, plain = match.group("escaped"), match.group("sign") or match.group("plain")
        if escaped is not None and (escaped.isalnum() or escaped in "<>"):
            if escaped not in _LINE_ENDS:
                return None
            parts.append(_LINE_ENDS[escaped])
        elif escaped is not None:
            parts.append(escaped if escaped in _SWAPPED and not extended and escaped != sign else re.escape(escaped))
        elif match.group("set") is not None:
            if ":" in match.group("set"):
                return None
            parts.append(match.group("set"))
        elif plain in _SWAPPED and not extended:
            parts.append(re.escape(plain))
        else:
            parts.append(plain if match.group("sign") else re.escape(plain))
    if done != len(written) or not written or HOLE in written or re.search(r"\)[*+{]|[*+?}]{2}", "".join(parts)):
        return None
    try:
        return re.compile("".join(parts), re.IGNORECASE if ignores_case else 0)
    except re.error:
        return None


def _takes_long(pattern: re.Pattern[str], text: TracedText) -> bool:
    """Whether an expression may have to be tried very often in a line of a text."""
    longest = max([len(line) for line in text.flat.split("\n")])
    return float(max(longest, 2)) ** len(re.findall(r"[*+?{]", pattern.pattern)) > _TRIES_AT_MOST


def _lines(text: TracedText) -> list[TracedText]:
    """The lines of a text, each with its end."""
    ends = [match.end() for match in re.finditer(r"\n|(?<=[^\n])\Z", text.flat)]
    return [text.cut(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def _replaced(text: TracedText, pattern: re.Pattern[str], by: TracedText, every: bool) -> TracedText:
    """A text with what an expression matches in its lines replaced: all of a line's matches, or its first."""
    found: list[TracedText] = []
    for line in _lines(text):
        body = line.cut(0, len(line.flat.rstrip("\n")))
        done = 0
        for match in pattern.finditer(body.flat):

            def value(one: re.Match[str], match: re.Match[str] = match, body: TracedText = body) -> TracedText:
                number = 0 if one.group("all") else int(one.group("number") or -1)
                if number < 0:
                    char = one.group("char")
                    return TracedText.of(_LINE_ENDS.get(char, char), by.span(*one.span()))
                known = number <= (match.re.groups or 0) and match.group(number) is not None
                return body.cut(*match.span(number)) if known else EMPTY

            found += [body.cut(done, match.start()), by.sub(_REFERENCE, value)]
            done = match.end()
            if not every:
                break
        found += [body.cut(done), line.cut(len(body.flat))]
    return TracedText.join(found)
