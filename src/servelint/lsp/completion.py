"""What may be written at an offset: options of the release, their values, keys of JSON options, variables, tags of images."""

from __future__ import annotations

import re

from servelint.core.source import Span
from servelint.core.text import HOLE, Text
from servelint.engines import ENGINE_NAMES, images
from servelint.engines.catalog import APPEND, LIST, OPTIONAL, Option
from servelint.engines.releases import known_releases, release_key
from servelint.files.directives import SIGN
from servelint.files.siblings import Neighbours
from servelint.fixes.words import as_written
from servelint.lsp import cursor
from servelint.lsp.analysis import Analysis
from servelint.lsp.facts import METHOD, Here
from servelint.lsp.listing import Entry, fields_of, long_name, options_of, variables_of
from servelint.lsp.unfinished import STAND_IN, Typed, typed_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TYPED = re.compile(r"(?i)[-+]?[\d.]+(?:e[-+]?\d+)?|true|false|yes|no|on|off|null|none|y|n|~")
_MAPPED = re.compile(r"[\w.\"'-]+:[ \t]+$")
_FINAL = 3
_SIGNS = ("=", ":")


class Item:
    """One completion.

    label:  what a list shows;  kind: "option", "value", "key", "variable" or "tag"
    detail: on one line;  documentation: Markdown
    span:   the characters that new_text takes the place of
    sort:   orders the items;  deprecated: better not written any more
    """

    __slots__ = ("deprecated", "detail", "documentation", "kind", "label", "new_text", "sort", "span")

    def __init__(self, entry: Entry, kind: str, span: Span, new_text: str) -> None:
        self.label = entry.label
        self.kind = kind
        self.detail = entry.detail
        self.documentation = entry.documentation
        self.span = span
        self.new_text = new_text
        self.sort = entry.sort
        self.deprecated = entry.deprecated

    def __repr__(self) -> str:
        return f"Item({self.kind} {self.new_text!r})"


def complete(
    analysis: Analysis, offset: int, before: Analysis | None = None, neighbours: Neighbours | None = None
) -> list[Item]:
    """What may be written at an offset, for the release of the launch that it belongs to.

    before:     the last analysis that had launches;  neighbours: the files beside the text's
    """
    if SIGN in analysis.source.text:
        from servelint.lsp import remarks

        if remarks.is_remark(analysis.source, offset):
            return remarks.complete_remark(analysis, offset)
    typed = typed_at(analysis, offset, before, neighbours)
    if typed is None or "\n" in typed.span.text:
        return []
    kind = typed.cursor.kind
    if HOLE in typed.typed or (typed.cursor.text is not None and not typed.cursor.text.known):
        return []  # a part of it is not known, and would be lost
    here = Here(typed.bare, analysis.settings)
    if kind == cursor.TAG:
        return _tags(typed)
    if here.catalog is None:
        return []
    if kind == cursor.KEY:
        return _keys(typed, here)
    if kind == cursor.FIELD:
        return _fields(typed, here)
    if kind == cursor.VARIABLE:
        return _variables(typed, here)
    if kind == cursor.CONTENT:
        return _contents(typed, here)
    if kind in (cursor.OPTION, cursor.VALUE, cursor.MODEL):
        return _words(typed, here)
    return []


# -- words


def _words(typed: Typed, here: Here) -> list[Item]:
    found = typed.cursor
    if found.kind == cursor.OPTION or typed.typed.startswith("-"):
        return _options(typed, here)
    word = found.word
    fresh = typed.typed == "" and word is not None and word.text.flat in ("", STAND_IN)
    if found.setting is None:
        return (_switched(typed, here) if here.launch.fragment else _options(typed, here)) if fresh else []
    values = _values(typed, here)
    option = found.setting.option
    if fresh and option is not None and found.setting.word is not word:
        further = option.kind == OPTIONAL or (option.kind == LIST and len(found.setting.values) > 1)
        values += _options(typed, here) if further else []
    return values


def _switched(typed: Typed, here: Here) -> list[Item]:
    """What a switch is set to in a file of options."""
    argv = typed.cursor.launch.argv
    at = next((index for index, word in enumerate(argv) if word is typed.cursor.word), 0)
    option = _declared(argv[at - 1].text.flat.replace("_", "-"), here) if at else None
    if option is None or option.takes_value:
        return []
    entries = [_choice(one, number, f"value of {long_name(option)}") for number, one in enumerate(("true", "false"))]
    return [Item(entry, "value", typed.span, entry.label) for entry in entries]


def _options(typed: Typed, here: Here) -> list[Item]:
    """The options of the release that the launch does not have yet."""
    word = typed.cursor.word
    mapped = typed.config_key
    if word is not None and not mapped and not word.text.flat.startswith(STAND_IN):
        first = word.text.pieces[0] if word.text.pieces else None
        if first is not None and first.span is None and first.text == "--":
            mapped = True  # a key of a file of options
        elif first is not None and not first.verbatim:
            return []  # a key of a chart, which has names of its own
    given = {setting.name.partition(".")[0] for setting in here.config.reading.arguments.every}
    items: list[Item] = []
    for entry, option in options_of(here.launch.engine, here.index):
        if option.name in given and option.kind != APPEND:
            continue
        if not mapped:
            items.append(Item(entry, "option", typed.span, typed.before + entry.label + typed.after))
        elif entry.label == long_name(option):
            items.append(Item(entry, "option", typed.span, entry.label.lstrip("-") + _sign(typed, ": ")))
    return items


def _values(typed: Typed, here: Here) -> list[Item]:
    """The choices of an option."""
    setting = typed.cursor.setting
    option = _declared(setting.spelling, here) if setting is not None else None
    if option is None or not option.takes_value:
        return []
    items: list[Item] = []
    for number, choice in enumerate(here.choices(option)):
        written = _written(choice, typed)
        if written is not None:
            entry = _choice(choice, number, f"value of {long_name(option)}", default=str(option.default) == choice)
            items.append(Item(entry, "value", typed.span, written))
    return items


def _declared(spelling: str, here: Here) -> Option | None:
    catalog = here.catalog
    return catalog.table(here.index).find(spelling.partition(".")[0]) if catalog is not None else None


def _choice(choice: str, number: int, detail: str, *, default: bool = False, documentation: str = "") -> Entry:
    return Entry(choice, detail + (" (default)" if default else ""), documentation, f"{number:03}", deprecated=False)


def _written(text: str, typed: Typed) -> str | None:
    """A word as it is written at its place; None where it would need more care."""
    if typed.before:
        return typed.before + text + typed.after
    source, start = typed.span.source, typed.span.start
    if source.text[max(0, start - 1) : start] in ("'", '"'):
        return text
    word = typed.cursor.word
    if word is not None and typed.cursor.setting is not None and word is typed.cursor.setting.word:
        return text  # behind an equals sign
    line = source.text[source.line_starts[source.position(start)[0] - 1] : start]
    if _MAPPED.search(line) and _TYPED.fullmatch(text):
        return f'"{text}"'
    return as_written(text, "", typed.span)


# -- JSON options


def _keys(typed: Typed, here: Here) -> list[Item]:
    found = typed.cursor
    option = _declared(found.setting.spelling, here) if found.setting is not None else None
    if option is None:
        return []
    above = found.path[:-1] if found.path else ()
    keys = here.keys(option, above)
    if keys is None:
        return []
    if found.spot is None:
        return [
            Item(entry, "key", typed.span, entry.label)
            for entry in fields_of(here.launch.engine, here.index, option.json, above, keys)
        ]
    quote = _quote(typed)
    items: list[Item] = []
    for entry in fields_of(here.launch.engine, here.index, option.json, above, keys):
        if entry.label in found.spot.keys:
            continue
        if quote == "":
            written = entry.label + _sign(typed, ": ")
        elif found.spot.quoted:
            written = entry.label + ("" if _closed(typed, quote) else f"{quote}: ")
        else:
            written = f"{quote}{entry.label}{quote}: "
        items.append(Item(entry, "key", typed.span, written))
    return items


def _fields(typed: Typed, here: Here) -> list[Item]:
    """The values of a key."""
    found = typed.cursor
    option = _declared(found.setting.spelling, here) if found.setting is not None else None
    keys = here.keys(option, found.path[:-1]) if option is not None and found.path else None
    body = keys.get(found.path[-1]) if keys is not None else None
    if body is None:
        return []
    quote = _quote(typed) if found.spot is not None else ""
    methods = here.names("speculative-methods") if (found.name, found.path) == METHOD else {}
    items: list[Item] = []
    for number, choice in enumerate(_field_choices(body)):
        shown = str(choice).lower() if isinstance(choice, bool) else str(choice)
        alias = methods.get(shown, {}).get("alias_of")
        entry = _choice(shown, number, f"another name of {alias}" if alias else f"value of {'.'.join(found.path)}")
        if alias:
            entry.sort, entry.deprecated = "9" + entry.sort, True
        if found.spot is None:
            written = _written(shown, typed)
        elif not isinstance(choice, str) or quote == "":
            written = shown if not (found.spot.quoted and quote) else None
        elif found.spot.quoted:
            written = shown + ("" if _closed(typed, quote) else quote)
        else:
            written = quote + shown + quote
        if written is not None:
            items.append(Item(entry, "value", typed.span, written))
    return items


def _field_choices(body: dict[str, Any]) -> list[Any]:
    choices = body.get("choices")
    if choices:
        return [one for one in choices if one is not None]
    kinds = body.get("type", "any")
    return [True, False] if "bool" in ([kinds] if isinstance(kinds, str) else kinds) else []


def _quote(typed: Typed) -> str:
    """How the quotes of a JSON value are written where it stands; "" where it is made of another format's mapping."""
    found = typed.cursor
    setting, word, inner = found.setting, found.word, found.spot
    text: Text | None = setting.value if setting is not None else None
    if text is None or inner is None:
        return '"'
    if inner.quoted:
        span = text.span(inner.start - 1, inner.start)
        return span.text if span is not None else ""
    first = text.flat.find('"')
    if first != -1:
        span = text.span(first, first + 1)
        return span.text if span is not None else ""
    if text.flat and text.span(0, 1) is None:
        return ""
    site = word.site.text if word is not None and word.site is not None else ""
    return '\\"' if site.startswith('"') else '"'


def _closed(typed: Typed, quote: str) -> bool:
    return typed.span.source.text.startswith(quote, typed.span.end)


# -- what surrounds the command


def _variables(typed: Typed, here: Here) -> list[Item]:
    sign = _assigned(typed)
    given = here.launch.env
    return [
        Item(entry, "variable", typed.span, typed.before + entry.label + sign)
        for entry in variables_of(here.launch.engine, here.index)
        if entry.label not in given
    ]


def _assigned(typed: Typed) -> str:
    """What follows a variable's name where it is set, quotes that the stand-in needed included."""
    lead = _lead(typed)
    rest = typed.span.source.text[typed.span.end : typed.span.end + 3]
    if rest.lstrip("\"' ")[:1] in _SIGNS or re.search(r"[\"']?name[\"']?:[ \t]*[\"']?$", lead):
        return typed.after.strip("=: ")
    quoted = lead[-1:] in ("'", '"')
    inside = max(lead.rfind("["), lead.rfind("{"))
    if inside != -1 and lead[inside] == "{":
        return typed.after or ("" if quoted else ": ")
    if typed.after.endswith(": "):
        return typed.after
    return "=" + typed.after.strip("=")


def _contents(typed: Typed, here: Here) -> list[Item]:
    """The values of a variable."""
    runs = here.catalog.variables().get(typed.cursor.name, ()) if here.catalog is not None else ()
    body = next((run[2] for run in runs if run[0] <= here.index <= run[1]), None)
    if body is None:
        return []
    choices = [str(one) for one in body.get("choices") or () if one is not None]
    if not choices and body.get("type") == "bool":
        choices = ["1", "0"]
    items: list[Item] = []
    for number, choice in enumerate(choices):
        written = choice if typed.span.source.text[typed.span.start - 1 : typed.span.start] == "=" else _written(choice, typed)
        if written is not None:
            items.append(Item(_choice(choice, number, f"value of {typed.cursor.name}"), "value", typed.span, written))
    return items


def _sign(typed: Typed, sign: str) -> str:
    """What follows a name, unless it is there."""
    rest = typed.span.source.text[typed.span.end : typed.span.end + 2]
    return "" if rest.lstrip("\"' ")[:1] in _SIGNS else sign


def _lead(typed: Typed) -> str:
    source, start = typed.span.source, typed.span.start
    return source.text[source.line_starts[source.position(start)[0] - 1] : start]


def _tags(typed: Typed) -> list[Item]:
    """Tags of an image of the engine's makers, the newest release first."""
    image = typed.cursor.text
    if image is None or STAND_IN in image.flat.rpartition(":")[0] or not image.known:
        return []
    start, end = cursor.tag_of(image)
    repository, tag = image.flat[:start], image.flat[start:end].replace(STAND_IN, "")
    known = images.identify(Text.of(repository + tag))
    if known.engine is None or known.house:
        return []
    named = known.claim.release
    pattern = tag.replace(named, "{}", 1) if named is not None else "v{}"
    items: list[Item] = []
    for number, release in enumerate(reversed(known_releases(known.engine))):
        key = release_key(release)
        other = pattern.replace("{}", release)
        if key is None or key[1] != _FINAL or images.identify(Text.of(repository + other)).claim.release != release:
            continue
        entry = Entry(other, f"{ENGINE_NAMES[known.engine]} {release}", "", f"{number:04}", deprecated=False)
        items.append(Item(entry, "tag", typed.span, other))
    return items
