"""Removing and adding entries: keys of mappings, members of JSON objects, variables."""

from __future__ import annotations

import json
import re

from servelint.core.finding import Edit
from servelint.core.source import Source, Span
from servelint.engines.config import Reading
from servelint.syntax.json import OBJECT, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEY = r":(?:\s+[&!]\S+)*(?:\s+#.*)?$"
_UNFINISHED = r"(?:&&|\|\||(?<!: )\|)$"
_OPENS = r"(?:\b(?:then|do|else)|[{(])$"
_CLOSES = r"\s*(?:fi|done|else|elif)\b|\s*[})]"
_FLAG = r"\s*(?:-\s+)?[\"']?(?:-e|--env)[\"']?,?"  # of a docker run whose words are a list
_SETTING = r"\s*(?:-\s+)?(\w+)(?::\s+|=)(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&|\[\]{}\"'#$]*)"
_HEADS = ("environment:", "env:")
_NEAR = 200  # characters before something that are looked at
_VALUE = r"(?:\"[^\"\n]*\"|'[^'\n]*'|(?:\$\{[^{}\n]*\}|[^\s,;&|\[\]{}\"'])*)"


def entry_removal(key: Span, value: Span | None) -> Edit | None:
    """The edit that removes a key of a YAML mapping with its value.

    Args:
        key: The key.
        value: The end of its value; None, or the key again, where no word stands for the value: `true` of a flag.
    """
    source = key.source
    end = max(key.end, value.end) if value is not None else key.end
    on = re.match(r"[\"']?[ \t]*:[ \t]+(?:true|True|TRUE)\b", source.text[end : end + _NEAR]) if end == key.end else None
    end += on.end() if on is not None else 0
    first, last = source.position(key.start)[0], source.position(max(end - 1, key.start))[0]
    lead = source.text[source.line_starts[first - 1] : key.start]
    rest = source.line_text(last)[end - source.line_starts[last - 1] :]
    if re.fullmatch(r"[ \t]*[\"']?", lead) and re.fullmatch(r"[\"']?[ \t]*(?:#.*)?", rest) and "{" not in lead:
        return _whole(source, first, last)
    quoted = r"[\"']?"
    near = max(0, key.start - _NEAR)
    before = re.search(r"(,\s*)[\"']?$", source.text[near : key.start])
    after = re.match(rf"{quoted}\s*(,\s*)?", source.text[end:])
    start = key.start - (1 if source.text[key.start - 1 : key.start] in ('"', "'") else 0)
    if after is not None and after[1]:
        return Edit(Span(source, start, end + after.end()), "")
    closing = re.match(quoted, source.text[end:])
    if before is not None and closing is not None:
        return Edit(Span(source, near + before.start(1), end + closing.end()), "")
    return None


def variable_removal(name: str, site: Span) -> Edit | None:
    """The edit that takes a variable's definition away, with its line where it has one to itself."""
    source = site.source
    if (whole_object := _object_of(name, site)) is not None:
        return _item_removal(whole_object)
    line = source.position(site.start)[0]
    start, text = source.line_starts[line - 1], source.line_text(line)
    plain = re.fullmatch(_SETTING, text)
    if plain is not None and plain[1] == name and not re.fullmatch(_FLAG, source.line_text(line - 1)):
        return _whole(source, line, line)
    listed = re.fullmatch(rf"(?P<indent>\s*)-\s+name:\s*[\"']?{name}[\"']?\s*(?:#.*)?", text)
    if listed is not None:
        value = re.fullmatch(r"(\s*)value:\s*[^|>&*!\s].*", source.line_text(line + 1))
        if value is None or len(value[1]) <= len(listed["indent"]) or _indent(source.line_text(line + 2)) >= len(value[1]):
            return None
        return _whole(source, line, line + 1)
    whole = re.fullmatch(
        rf"\s*(?:-\s+)?(?P<export>(?:export|set)\s+|ENV\s+|Environment=|\$env:)?(?:(?:-e|--env)[ =])?[\"']?{name}[\"']?"
        rf"\s*(?::?[:=]\s*{_VALUE}|\s+\S+)?[\"']?"
        r"(?P<more>\s+[\\^`])?(?P<comma>,)?(?:\s+#.*)?",
        text,
    )
    if whole is not None and re.fullmatch(_FLAG, source.line_text(line - 1)):
        return _whole(source, line - 1, line)
    if whole is not None and text.lstrip().startswith('"') and ":" in text:
        return _json_member(source, line, text, comma=bool(whole["comma"]))
    if whole is not None:
        return None if whole["export"] and whole["more"] else _whole(source, line, line)
    return _inline(name, source, start, text)


def _json_member(source: Source, line: int, text: str, *, comma: bool) -> Edit | None:
    """A member of a JSON object on a line of its own."""
    if comma:
        return Edit(Span(source, source.line_starts[line - 1], source.line_starts[line]), "")
    end = source.line_starts[line - 1] + len(text.rstrip())
    before = source.text[: source.line_starts[line - 1]].rstrip()
    if before.endswith((",", "{")):
        return Edit(Span(source, len(before) - before.endswith(","), end), "")
    return None


def _object_of(name: str, site: Span) -> Span | None:
    """The object that sets a variable, `{"name": ..., "value": ...}`."""
    text = site.source.text
    if site.text.startswith("{") and site.text.endswith("}"):
        return site
    if site.text.strip("\"'") != name:
        return None
    before = re.search(r"\{\s*[\"']?name[\"']?:\s*[\"']?$", text[max(0, site.start - _NEAR) : site.start])
    after = re.match(rf"[\"']?\s*,\s*[\"']?value[\"']?:\s*{_VALUE}\s*\}}", text[site.end :])
    if before is None or after is None:
        return None
    return Span(site.source, max(0, site.start - _NEAR) + before.start(), site.end + after.end())


def _item_removal(item: Span) -> Edit | None:
    """The edit that takes an object out of its list."""
    source, text = item.source, item.source.text
    line = source.position(item.start)[0]
    lead = text[source.line_starts[line - 1] : item.start]
    if re.fullmatch(r"\s*-\s+", lead):
        return _whole(source, line, source.position(item.end - 1)[0])
    if (after := re.match(r"\s*,\s*", text[item.end :])) is not None:
        return Edit(Span(source, item.start, item.end + after.end()), "")
    lead = text[max(0, item.start - _NEAR) : item.start].rstrip()
    before = item.start - min(item.start, _NEAR) + len(lead.removesuffix(",").rstrip()) if lead.endswith(",") else item.start
    return Edit(Span(source, before, item.end), "")


def _inline(name: str, source: Source, start: int, text: str) -> Edit | None:
    """A definition among others on a line."""
    for pattern in (
        rf"(?<=[\s(])(?:-e|--env)[ =][\"']?{name}={_VALUE}[\"']?[ \t]+",  # docker run -e
        rf"(?:(?<=^)|(?<=[\s;(\"'])){name}={_VALUE}[ \t]+(?=\S)(?![&|;>])",  # before a command, or in an export
        rf"(?<=[{{,\[\s])[\"']?{name}[\"']?:\s*{_VALUE}\s*,\s*",  # in a flow mapping
        rf",\s*[\"']?{name}[\"']?:\s*{_VALUE}(?=\s*\}})",
        rf"(?<=[\[\s])[\"'](?:-e|--env)[\"'],\s*[\"']{name}={_VALUE}[\"']\s*,\s*",  # likewise
        rf"(?<=[\[\s])[\"']?{name}={_VALUE}[\"']?\s*,\s*",  # in a flow list
        rf",\s*[\"']?{name}={_VALUE}[\"']?(?=\s*\])",
        rf"(?<=\w)[ \t]+{name}={_VALUE}$",  # the last one of an ENV or an export
    ):
        found = list(re.finditer(pattern, text))
        if len(found) == 1:
            return Edit(Span(source, start + found[0].start(), start + found[0].end()), "")
    return None


def _whole(source: Source, first: int, last: int) -> Edit | None:
    """The edit that takes whole lines out, if what is around stays whole."""
    above = _first_line(source, first, last)
    if above is None:
        return None
    if last == len(source.line_starts):
        end = len(source.text)
        return Edit(Span(source, _end_of_line(source, above - 1), end), "") if above > 1 else None
    return Edit(Span(source, source.line_starts[above - 1], source.line_starts[last]), "")


def _end_of_line(source: Source, line: int) -> int:
    return source.line_starts[line - 1] + len(source.line_text(line))


def _first_line(source: Source, line: int, last: int) -> int | None:
    """The first line to delete so that the rest stays valid: the given line, or the `environment:` that it would leave empty.

    None where a mapping, a block of a shell or a continued command would be incomplete without the lines.
    """
    text, before, after = source.line_text(line), _next(source, line, -1), _next(source, last, 1)
    end = source.line_text(last)
    if before.endswith(("\\", "^", "`")) and not end.endswith(("\\", "^", "`")):
        return None
    if re.search(_UNFINISHED, before) or (re.search(_OPENS, before) and re.match(_CLOSES, after)):
        return None
    if before.rstrip().endswith(",") and not end.rstrip().endswith(","):
        return None
    if _indent(after) > _indent(text) and not end.endswith(("\\", "^", "`")) and not re.search(_OPENS, before):
        return None  # its value goes on there
    siblings = [other for other in (before, after) if other and _indent(other) == _indent(text) and _item(other) == _item(text)]
    if siblings or not re.search(_KEY, before):
        return line
    return line - 1 if before.strip() in _HEADS and source.line_text(line - 1).rstrip() == before else None


def _next(source: Source, line: int, step: int) -> str:
    """The next line, up or down, that is neither blank nor a comment; "" at the end."""
    line += step
    while 1 <= line <= len(source.line_starts):
        if (text := source.line_text(line).rstrip()) and not text.lstrip().startswith("#"):
            return text
        line += step
    return ""


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _item(text: str) -> bool:
    return text.lstrip().startswith("- ")


PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-")
"""Characters that need no quoting anywhere."""
_QUOTES = ('\\\\\\"', '\\"', '"')


def node(reading: Reading, name: str) -> JsonNode | None:
    """The JSON value of an option or of a key of it: `speculative-config.model`."""
    head, _, path = name.partition(".")
    found = reading.parsed(head) if head not in reading.by_keys else None
    for key in path.split(".") if path else []:
        if found is None or found.kind != OBJECT or key not in found.members:
            return None
        found = found.members[key][1]
    return found


def member(reading: Reading, name: str) -> tuple[JsonNode, JsonNode] | None:
    """A key of a JSON option and its value."""
    above, _, key = name.rpartition(".")
    found = node(reading, above) if above and above != "effective" else None
    return found.members.get(key) if found is not None and found.kind == OBJECT else None


def removal(reading: Reading, option: str, path: str) -> Edit | None:
    """The edit that removes a key with its value and its comma."""
    above, _, key = path.rpartition(".")
    found = node(reading, f"{option}.{above}" if above else option)
    if found is None or found.open:
        return None
    if _is_made(found):
        content, value = found.members[key][0].content.span(), found.members[key][1].text.span()
        return entry_removal(content, value) if content is not None else None
    places: list[tuple[Span, Span]] = []
    for one, other in found.members.values():
        start, end = one.text.span(), other.text.span()
        if start is None or end is None:
            return None
        places.append((start, end))
    at = list(found.members).index(key)
    start, end = places[at]
    if at + 1 < len(places):
        return Edit(Span(start.source, start.start, places[at + 1][0].start), "")
    return Edit(Span(start.source, places[at - 1][1].end if at else start.start, end.end), "")


def addition(reading: Reading, option: str, key: str, text: str) -> Edit | None:
    """The edit that adds a key after the others, in their layout."""
    found = node(reading, option)
    if found is None or found.kind != OBJECT or found.open or not found.members or "." in key or _is_made(found):
        return None
    last_key, last = list(found.members.values())[-1]
    end, quote = last.text.span(), _quote_of(last_key)
    if end is None or quote is None or not PLAIN.issuperset(text):
        return None
    spaced = ": " in found.text.flat or ", " in found.text.flat
    written = text if is_literal(text) else quote + text + quote
    line = f"{quote}{key}{quote}{': ' if spaced else ':'}{written}"
    return Edit(Span(end.source, end.end, end.end), (", " if spaced else ",") + line)


def literal(text: str) -> Any:
    """The value of a text: what JSON makes of it, else the text."""
    return json.loads(text) if is_literal(text) else text


def is_literal(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_made(found: JsonNode) -> bool:
    """Whether an object comes from a mapping of another format, which has no braces in the file."""
    span = found.text.span(0, 1)
    return span is None or span.text != "{"


def _quote_of(key: JsonNode) -> str | None:
    """How the file writes the quotes of a key: escaped inside a string of another format."""
    span = key.text.span(0, 1)
    return span.text if span is not None and span.text in _QUOTES else None
