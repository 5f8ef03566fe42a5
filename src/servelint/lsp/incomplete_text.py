"""What is being typed at an offset of a text that is not finished.

Where nothing stands at the offset yet, or no launch can be read of the text as it is, a stand-in is written there, with what
would close the quotes and brackets in front of it, and the text is read again. So each format's own reader finds what it is.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

from servelint.core.launch import Launch
from servelint.core.source import Source, Span
from servelint.files.siblings import Neighbours
from servelint.lsp import cursor
from servelint.lsp.analysis import Analysis
from servelint.lsp.cursor import Cursor
from servelint.readers import mentions_engine, read

STAND_IN = "zqx"
"""A word that no option, variable or key has."""

_NAME = re.compile(r"[ \t]*(?:-[ \t]+)?[\w.-]*$")
"""A line of YAML up to the cursor that ends in the name of a key."""
_ASSIGNED = re.compile(r"(?:^|.*[\s;&|(])[A-Z_][A-Z0-9_]*$|[ \t]*(?:export|ENV)[ \t]+$")
"""A line of a script up to the cursor that ends where the name of a variable is assigned."""
_BEGUN = re.compile(r"(?:^|.*(?:[\s=:,(]|(?<!\[)\[))(?:[\"']?-[^\s\"']*)?[\"']?$")
"""A line up to the cursor at which a word begins, or an option is written."""
_ITEM = re.compile(r"(?:\[|[\"'][ \t]*,)[ \t]*$")
"""A line up to the cursor that ends where an item of a list in brackets begins."""
_KEY = re.compile(r"[\w.-]*$")
_SETS = re.compile(r"(?:(?:export|ENV|Environment=)[ \t]*)?[A-Z][A-Z0-9_]*|(?:export|ENV)[ \t]+|Environment=")
"""A line without its indentation, up to the cursor, that sets a variable."""
_NEAR = 30
"""Lines of YAML in each direction that belong to the paragraph of a line."""
_ALIKE = 3
"""Characters behind its indentation by which a line is taken for the same one."""


@dataclass(slots=True, eq=False)
class Typed:
    """What is being typed.

    Attributes:
        cursor: What it is; its launch has the stand-in where that was needed.
        span: The characters of the text that a completion replaces.
        typed: Those up to the offset, as the engine would read them.
        before, after: What has to be written around it: the quotes of a list of strings, the sign after a name.
        config_key: Whether it is a key of a file of options.
    """

    cursor: Cursor
    span: Span
    typed: str
    before: str = ""
    after: str = ""
    config_key: bool = False

    @property
    def bare(self) -> Launch:
        """The launch without the word, with its option if it is a value, or without the variable."""
        found, launch = self.cursor, copy(self.cursor.launch)
        if found.variable is not None:
            launch.env = {name: one for name, one in launch.env.items() if one is not found.variable}
            return launch
        gone = [found.word, *(found.setting.words if found.setting is not None else ())]
        launch.argv = [word for word in launch.argv if not any(word is one for one in gone)]
        return launch


def typed_at(
    analysis: Analysis, offset: int, before: Analysis | None = None, neighbours: Neighbours | None = None
) -> Typed | None:
    """What is being typed at an offset; None where nothing is that belongs to a launch.

    Args:
        analysis: Of the text.
        offset: Where the cursor is.
        before: The last analysis of the text that had launches, for files that name no engine while they are typed.
        neighbours: The files beside this one.
    """
    source = analysis.source
    versions = analysis.settings.engine_versions
    found = cursor.at(source, analysis.launches, offset, versions)
    if found is not None and found.span.start <= offset <= found.span.end and not _is_scalar(found):
        return Typed(found, found.span, found.typed)
    shown = _in_json(source, offset)
    if shown is not None or not _is_near(analysis, offset):
        return shown
    beside = neighbours if neighbours is not None else Neighbours(None)
    shown = _config_key(source, offset, beside) or _with_stand_in(source, offset, beside, versions)
    if shown is not None or before is None or before is analysis:
        return shown
    return _in_last_good(before.source, source, offset, beside, versions)


def _is_near(analysis: Analysis, offset: int) -> bool:
    """Whether something of a launch may be written at an offset at all: reading the text again costs milliseconds.

    It may be in the paragraph of a part of a launch or of a word that names an engine, and where a variable is set.
    """
    source = analysis.source
    line = source.position(offset)[0]
    lead = source.text[source.line_starts[line - 1] : offset].lstrip()
    rest = source.line_text(line)[offset - source.line_starts[line - 1] :]
    if lead.startswith(("#", "//")) or (not lead and rest.strip(" \t\\")):
        return False  # a comment, or the indentation of what stands there
    if _SETS.fullmatch(lead):
        return bool(analysis.launches) or mentions_engine(source.text.encode("utf-8", "replace"))
    if not _is_yaml(source) and _is_settled(lead, rest):
        return False
    first, last = (_paragraph(source, line, step) for step in (-1, 1))
    start, end = source.line_starts[first - 1], source.line_starts[last] if last < len(source.line_starts) else len(source.text)
    return any(
        span.source is source and span.start <= end and start <= span.end
        for launch in analysis.launches
        for span in _places(launch)
    ) or mentions_engine(source.text[start:end].encode("utf-8", "replace"))


def _is_settled(lead: str, rest: str) -> bool:
    """Whether an offset of a line is within a word that stands there already, so that a launch would have it."""
    if quote := _open_quote(lead):
        return quote in rest and not lead.endswith(quote)
    return not _BEGUN.match(lead) and not _ASSIGNED.match(lead)


def _paragraph(source: Source, line: int, step: int) -> int:
    """The last line before a blank one in a direction; elsewhere than in YAML only the next one."""
    for _ in range(_NEAR if _is_yaml(source) else 1):
        if not 1 <= line + step <= len(source.line_starts) or not source.line_text(line + step).strip():
            break
        line += step
    return line


def _places(launch: Launch) -> list[Span]:
    """What a launch is made of, variables that hold its words included."""
    found = [launch.site]
    for word in launch.argv:
        found += [piece.span for piece in word.text.pieces if piece.span is not None]
    found += [one.site for one in launch.env.values() if one.site is not None]
    image = launch.image
    return found + ([piece.span for piece in image.pieces if piece.span is not None] if image is not None else [])


def _with_stand_in(source: Source, offset: int, neighbours: Neighbours, versions: dict[str, str]) -> Typed | None:
    """What is typed, read with a stand-in at the offset."""
    for left, right, sign in _stand_ins(source, offset):
        inserted = left + STAND_IN + right
        text = source.text[:offset] + inserted + source.text[offset:]
        other = Source(source.path, text, source.encoding)
        found = cursor.at(other, read(other, neighbours).launches, offset + len(left) + 1, versions)
        if found is None or STAND_IN not in found.span.text or "\n" in found.span.text or _is_scalar(found):
            continue
        start = min(found.span.start, offset)
        end = max(found.span.end - len(inserted), offset)
        quotes = left if right.startswith(left) else ""
        return Typed(found, Span(source, start, end), found.typed[:-1], left, quotes + sign)
    return None


def _in_last_good(good: Source, source: Source, offset: int, neighbours: Neighbours, versions: dict[str, str]) -> Typed | None:
    """What is typed, read in the last text that could be read (`good`), with the line of the offset put where it belongs."""
    number, column = source.position(offset)
    line = source.line_text(number)
    old, new = _lines(good), _lines(source)
    after = len(new) - number
    if old[: number - 1] == new[: number - 1]:
        index = number - 1
    elif after == 0 or old[-after:] == new[number:]:
        index = max(len(old) - after - 1, 0)
    else:
        return None
    there = old[index].rstrip("\r\n") if index < len(old) else ""
    lead = len(line) - len(line.lstrip())
    same = there[: lead + _ALIKE] == line[: lead + _ALIKE] or not there.strip()
    at = index if same else index + (old[: number - 1] != new[: number - 1])
    other = Source(source.path, "".join([*old[:at], line + "\n", *old[at + same :]]), source.encoding)
    start = sum([len(one) for one in old[:at]])
    found = _with_stand_in(other, start + column - 1, neighbours, versions)
    if found is None or found.span.start < start:
        return None
    moved = offset - (start + column - 1)
    found.span = Span(source, found.span.start + moved, found.span.end + moved)
    return found


def _lines(source: Source) -> list[str]:
    """The lines of a text with their ends, as editors count them."""
    starts = [*source.line_starts, len(source.text)]
    return [source.text[start:end] for start, end in pairwise(starts)]


def _in_json(source: Source, offset: int) -> Typed | None:
    """A key or a value of a speculative config in a file of its own, which is not valid JSON while it is written."""
    if not source.path.lower().endswith((".json", ".jsonc", ".json5")):
        return None
    from servelint.readers import spec_config

    launch = spec_config.unfinished(source)
    found = cursor.at(source, [launch], offset) if launch is not None else None
    return Typed(found, found.span, found.typed) if found is not None and found.spot is not None else None


def _is_scalar(found: Cursor) -> bool:
    """Whether it is a single word where an object is to be: the first key of a mapping, perhaps."""
    option = found.setting.option if found.setting is not None else None
    text = found.text.flat if found.text is not None else ""
    return found.kind == cursor.VALUE and option is not None and bool(option.json) and not text.lstrip().startswith("{")


def _stand_ins(source: Source, offset: int) -> list[tuple[str, str, str]]:
    """What to write before and after the stand-in, and which sign of a name's value that includes; the likeliest first."""
    line = source.position(offset)[0]
    start = source.line_starts[line - 1]
    lead = source.text[start:offset]
    rest = source.line_text(line)[offset - start :]
    quote = _open_quote(lead)
    bracket = "]" if lead.count("[") > lead.count("]") and "]" not in rest else ""
    found: list[tuple[str, str, str]] = []
    if quote and quote not in rest:
        found.append(("", quote + bracket, ""))
    elif not quote and _ITEM.search(lead):
        found.append(('"', '"' + bracket, ""))
    found.append(("", "", ""))
    if not quote and _is_yaml(source):
        if not rest.strip() and _NAME.match(lead) and lead[:1] in (" ", "\t"):
            found.append(("", ": x", ": "))
    elif not quote and rest[:1] in ("", " ") and _ASSIGNED.match(lead):
        found.append(("", "=x", "="))
    return found


def _is_yaml(source: Source) -> bool:
    return source.path.lower().endswith((".yaml", ".yml"))


def _open_quote(lead: str) -> str:
    """The quote that is open at the end of a line's part; "" if none is."""
    quote = ""
    at = 0
    while at < len(lead):
        char = lead[at]
        if quote == '"' and char == "\\":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char == '"' or (char == "'" and not lead[at - 1 : at].isalnum()):
            quote = char
        at += 1
    return quote


def _config_key(source: Source, offset: int, neighbours: Neighbours) -> Typed | None:
    """A key of a file of options, read without its line: a key that is not finished keeps the file from being recognised."""
    if not _is_yaml(source):
        return None
    line = source.position(offset)[0]
    start = source.line_starts[line - 1]
    text = source.line_text(line)
    lead = text[: offset - start]
    name = re.match(r"[\w.-]*", text)
    end = start + (name.end() if name is not None else 0)
    rest = text[end - start :].strip()
    if not _KEY.fullmatch(lead) or end < offset or not (rest == "" or rest.startswith(":")):
        return None
    other = Source(source.path, source.text[:start] + source.text[start + len(text) :], source.encoding)
    launches = [one for one in read(other, neighbours).launches if one.fragment and one.name == "config"]
    if not launches:
        return None
    found = Cursor(cursor.OPTION, cursor.config_of(launches[0], None), Span(source, start, end), text[: end - start], lead)
    return Typed(found, found.span, "--" + lead, "", "" if rest else ": ", config_key=True)
