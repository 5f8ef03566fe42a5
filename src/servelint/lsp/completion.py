"""What may be written at an offset: options of the release, their values, keys of JSON options, variables, tags of images."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from servelint import hardware
from servelint.core.source import Span
from servelint.core.text import HOLE, TracedText
from servelint.engines import ENGINE_NAMES, ENGINES, images
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import APPEND, LIST, OPTIONAL, Catalog, Keys, Option
from servelint.engines.releases import known_releases, release_key
from servelint.files.siblings import Neighbours
from servelint.fixes.words import as_written
from servelint.lsp import cursor
from servelint.lsp.analysis import Analysis
from servelint.lsp.incomplete_text import STAND_IN, Typed, typed_at
from servelint.lsp.launch_view import METHOD, LaunchView
from servelint.report import reference
from servelint.rules.load import every

_RULE = re.compile(r"ignore\[(?:[^\]]*[,\s])?(?P<name>[\w/.*-]*)$")
_GPU = re.compile(r"(?:.*[\s,])?gpu[ \t]*=[ \t]*(?P<name>[\w.-]*)$")
_FIRST = re.compile(r"(?P<name>[\w-]*)$")
_NAME = re.compile(r"[\w/.*-]*")
_FORMS = (
    ("ignore[", "silences a rule on this line, the next one or a whole launch"),
    ("gpu=", "the GPU that a launch runs on"),
    ("gpu-count=", "how many GPUs it has"),
)
_TYPED = re.compile(r"(?i)[-+]?[\d.]+(?:e[-+]?\d+)?|true|false|yes|no|on|off|null|none|y|n|~")
_MAPPED = re.compile(r"[\w.\"'-]+:[ \t]+$")
_FINAL = 3
_SIGNS = ("=", ":")
_CHOICES_AT_MOST = 16
_LATER, _LAST = "5", "9"


@dataclass(slots=True, eq=False)
class Item:
    """One completion. kind: "option", "value", "key", "variable" or "tag";  span: the characters that new_text replaces."""

    entry: Entry
    kind: str
    span: Span
    new_text: str

    @property
    def label(self) -> str:
        """What a list shows."""
        return self.entry.label


def complete(
    analysis: Analysis, offset: int, before: Analysis | None = None, neighbours: Neighbours | None = None
) -> list[Item]:
    """What may be written at an offset, for the release of the launch that it belongs to.

    `before` is the last analysis that had launches, and `neighbours` are the files beside the text's.
    """
    if (lead := cursor.directive(analysis.source, offset)) is not None:
        return _directives(analysis, offset, lead["text"])
    typed = typed_at(analysis, offset, before, neighbours)
    if typed is None or "\n" in typed.span.text:
        return []
    kind = typed.cursor.kind
    if HOLE in typed.typed or (typed.cursor.text is not None and not typed.cursor.text.known):
        return []  # a part of it is not known, and would be lost
    view = LaunchView(typed.bare, analysis.settings)
    if kind == cursor.TAG:
        return _tags(typed)
    if view.catalog is None:
        return []
    offered = {cursor.KEY: _keys, cursor.FIELD: _fields, cursor.VARIABLE: _variables, cursor.CONTENT: _contents}
    offered |= dict.fromkeys((cursor.OPTION, cursor.VALUE, cursor.MODEL), _words)
    return offered[kind](typed, view) if kind in offered else []


# -- words


def _words(typed: Typed, view: LaunchView) -> list[Item]:
    found = typed.cursor
    if found.kind == cursor.OPTION or typed.typed.startswith("-"):
        return _options(typed, view)
    word = found.word
    fresh = typed.typed == "" and word is not None and word.text.flat in ("", STAND_IN)
    if found.setting is None:
        return (_switched(typed, view) if view.launch.fragment else _options(typed, view)) if fresh else []
    values = _values(typed, view)
    option = found.setting.option
    if fresh and option is not None and found.setting.word is not word:
        further = option.kind == OPTIONAL or (option.kind == LIST and len(found.setting.values) > 1)
        values += _options(typed, view) if further else []
    return values


def _switched(typed: Typed, view: LaunchView) -> list[Item]:
    """What a switch is set to in a file of options."""
    argv = typed.cursor.launch.argv
    at = next((index for index, word in enumerate(argv) if word is typed.cursor.word), 0)
    option = view.option(argv[at - 1].text.flat.replace("_", "-")) if at else None
    if option is None or option.takes_value:
        return []
    entries = [_choice(one, number, f"value of {option.long_name}") for number, one in enumerate(("true", "false"))]
    return [Item(entry, "value", typed.span, entry.label) for entry in entries]


def _options(typed: Typed, view: LaunchView) -> list[Item]:
    """The options of the release that the launch does not have yet."""
    word = typed.cursor.word
    mapped = typed.config_key
    if word is not None and not mapped and not word.text.flat.startswith(STAND_IN):
        first = word.text.pieces[0] if word.text.pieces else None
        if first is not None and first.span is None and first.text == "--":
            mapped = True  # a key of a file of options
        elif first is not None and not first.verbatim:
            return []  # a key of a chart, which has names of its own
    given = {setting.name.partition(".")[0] for setting in view.config.reading.arguments.every}
    made = view.config.made  # a class of Python, with keyword arguments
    items: list[Item] = []
    for entry, option in options_of(view.launch.engine, view.index):
        if option.name in given and option.kind != APPEND:
            continue
        if made is not None:
            fields = [one[2:] for one in option.names if one.startswith("--") and one[2:] not in made.lacks]
            if entry.label == option.long_name and fields:
                items.append(Item(entry, "option", typed.span, fields[0].replace("-", "_") + _sign(typed, "=")))
        elif not mapped:
            items.append(Item(entry, "option", typed.span, typed.before + entry.label + typed.after))
        elif entry.label == option.long_name:
            items.append(Item(entry, "option", typed.span, entry.label.lstrip("-") + _sign(typed, ": ")))
    return items


def _values(typed: Typed, view: LaunchView) -> list[Item]:
    """The choices of an option."""
    setting = typed.cursor.setting
    option = view.option(setting.spelling.partition(".")[0]) if setting is not None else None
    if option is None or not option.takes_value:
        return []
    items: list[Item] = []
    for number, choice in enumerate(view.choices(option)):
        if (written := _written(choice, typed)) is not None:
            entry = _choice(choice, number, f"value of {option.long_name}", default=str(option.default) == choice)
            items.append(Item(entry, "value", typed.span, written))
    return items


def _choice(choice: str, number: int, detail: str, *, default: bool = False) -> Entry:
    return Entry(choice, detail + (" (default)" if default else ""), "", f"{number:03}", deprecated=False)


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


def _keys(typed: Typed, view: LaunchView) -> list[Item]:
    found = typed.cursor
    option = view.option(found.setting.spelling.partition(".")[0]) if found.setting is not None else None
    if option is None:
        return []
    above = found.path[:-1] if found.path else ()
    keys = view.keys(option, above)
    if keys is None:
        return []
    if found.spot is None:
        return [Item(entry, "key", typed.span, entry.label) for entry in fields_of(view.launch.engine, keys)]
    quote = _quote(typed)
    items: list[Item] = []
    for entry in fields_of(view.launch.engine, keys):
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


def _fields(typed: Typed, view: LaunchView) -> list[Item]:
    """The values of a key."""
    found = typed.cursor
    option = view.option(found.setting.spelling.partition(".")[0]) if found.setting is not None else None
    keys = view.keys(option, found.path[:-1]) if option is not None and found.path else None
    body = keys.get(found.path[-1]) if keys is not None else None
    if body is None:
        return []
    quote = _quote(typed) if found.spot is not None else ""
    methods = view.names("speculative-methods") if (found.name, found.path) == METHOD else {}
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
    if choices := body.get("choices"):
        return [one for one in choices if one is not None]
    kinds = body.get("type", "any")
    return [True, False] if "bool" in ([kinds] if isinstance(kinds, str) else kinds) else []


def _quote(typed: Typed) -> str:
    """How the quotes of a JSON value are written where it stands; "" where it is made of another format's mapping."""
    found = typed.cursor
    setting, word, inner = found.setting, found.word, found.spot
    text: TracedText | None = setting.value if setting is not None else None
    if text is None or inner is None:
        return '"'
    if inner.quoted:
        span = text.span(inner.start - 1, inner.start)
        return span.text if span is not None else ""
    if (first := text.flat.find('"')) != -1:
        span = text.span(first, first + 1)
        return span.text if span is not None else ""
    if text.flat and text.span(0, 1) is None:
        return ""
    site = word.site.text if word is not None and word.site is not None else ""
    return '\\"' if site.startswith('"') else '"'


def _closed(typed: Typed, quote: str) -> bool:
    return typed.span.source.text.startswith(quote, typed.span.end)


# -- what surrounds the command


def _variables(typed: Typed, view: LaunchView) -> list[Item]:
    sign = _assigned(typed)
    given = view.launch.env
    return [
        Item(entry, "variable", typed.span, typed.before + entry.label + sign)
        for entry in variables_of(view.launch.engine, view.index)
        if entry.label not in given
    ]


def _assigned(typed: Typed) -> str:
    """What follows a variable's name where it is set, quotes that the stand-in needed included."""
    lead = _lead(typed)
    rest = typed.span.source.text[typed.span.end : typed.span.end + 3]
    if rest.lstrip("\"' ")[:1] in _SIGNS or re.search(r"[\"']?name[\"']?:[ \t]*[\"']?$", lead):
        return typed.after.strip("=: ")
    quoted = lead[-1:] in ("'", '"')
    if (inside := max(lead.rfind("["), lead.rfind("{"))) != -1 and lead[inside] == "{":
        return typed.after or ("" if quoted else ": ")
    if typed.after.endswith(": "):
        return typed.after
    return "=" + typed.after.strip("=")


def _contents(typed: Typed, view: LaunchView) -> list[Item]:
    """The values of a variable."""
    runs = view.catalog.variables().get(typed.cursor.name, ()) if view.catalog is not None else ()
    body = next((run[2] for run in runs if run[0] <= view.index <= run[1]), None)
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
    known = images.identify(TracedText.of(repository + tag))
    if known.engine is None or known.house:
        return []
    named = known.claim.release
    pattern = tag.replace(named, "{}", 1) if named is not None else "v{}"
    items: list[Item] = []
    for number, release in enumerate(reversed(known_releases(known.engine))):
        key = release_key(release)
        other = pattern.replace("{}", release)
        if key is None or key[1] != _FINAL or images.identify(TracedText.of(repository + other)).claim.release != release:
            continue
        entry = Entry(other, f"{ENGINE_NAMES[known.engine]} {release}", "", f"{number:04}", deprecated=False)
        items.append(Item(entry, "tag", typed.span, other))
    return items


# -- what a release has


@dataclass(slots=True, eq=False)
class Entry:
    """One thing that may be written.

    Attributes:
        label: What a list shows;  detail: more of it, on one line.
        documentation: Markdown.
        sort: Orders the list.
        deprecated: Whether new files should not use it.
    """

    label: str
    detail: str
    documentation: str
    sort: str
    deprecated: bool


@lru_cache(maxsize=16)
def options_of(engine: str, index: int) -> list[tuple[Entry, Option]]:
    """The spellings of a release's options, those that are deprecated or refused last."""
    catalog = catalogs.load(engine)
    if catalog is None:
        return []
    found: list[tuple[Entry, Option]] = []
    for option in [one for one in catalog.table(index).options() if not one.refuses]:
        first, gone = option.long_name, bool(option.deprecated)
        for spelling in [*option.names, *option.negatives]:
            if spelling != first and not spelling.startswith("--"):
                continue
            order = (_LAST if gone else _LATER if spelling != first else "0") + spelling.lstrip("-")
            documentation = _documented(option, spelling, catalog)
            found.append((Entry(spelling, _short(option, spelling), documentation, order, deprecated=gone), option))
    return found


@lru_cache(maxsize=16)
def variables_of(engine: str, index: int) -> list[Entry]:
    """The environment variables that a release reads."""
    catalog = catalogs.load(engine)
    if catalog is None:
        return []
    found: list[Entry] = []
    for name, runs in catalog.variables().items():
        body = next((run[2] for run in runs if run[0] <= index <= run[1]), None)
        if body is None:
            continue
        gone = bool(body.get("deprecated"))
        order = (_LAST if gone else "0" if name.startswith(ENGINES[engine].variables) else _LATER) + name
        detail, lasting = reference.reads(body), _lasting([(run[0], run[1]) for run in runs], catalog)
        found.append(Entry(name, detail if detail != "read" else "", lasting, order, deprecated=gone))
    return found


def fields_of(engine: str, keys: Keys) -> list[Entry]:
    """The keys of an object of a JSON option."""
    catalog = catalogs.load(engine)
    return [
        Entry(
            one,
            reference.field(body, _CHOICES_AT_MOST),
            _lasting([(run[0], run[1]) for run in keys.runs.get(one, ())], catalog),
            (_LAST if body.get("deprecated") else "0") + one,
            deprecated=bool(body.get("deprecated")),
        )
        for one, body in sorted(keys.known.items())
    ]


def _lasting(runs: list[tuple[int, int]], catalog: Catalog | None) -> str:
    return reference.lasting(runs, catalog) if runs and catalog is not None else ""


def _short(option: Option, spelling: str) -> str:
    """What an option takes in a few words: its choices are offered once it is written."""
    if not option.takes_value:
        return "off" if spelling in option.negatives else "switch"
    return reference.takes(option, spelling, most=4).partition(", also ")[0]


def _documented(option: Option, spelling: str, catalog: Catalog) -> str:
    taken = reference.takes(option, spelling, most=_CHOICES_AT_MOST)
    what = reference.purpose_of(catalog, option, spelling)
    lines = [what, ""] if what is not None else []
    lines += [f"{taken[:1].upper()}{taken[1:]}.", "", _lasting([run[:2] for run in catalog.spelled(spelling)], catalog)]
    if option.deprecated:
        lines += ["", f"Deprecated: {' '.join(option.deprecated.split())}"]
    return "\n".join(lines)


# -- comments to servelint


def _directives(analysis: Analysis, offset: int, lead: str) -> list[Item]:
    """Rules behind `ignore[`, those that the text breaks first; GPUs behind `gpu=`; else the forms of a comment.

    lead: the text of the comment up to the offset
    """
    source = analysis.source
    for pattern, entries in ((_RULE, _rules), (_GPU, _gpus), (_FIRST, _forms)):
        if (found := pattern.match(lead)) is not None:
            rest = _NAME.match(source.text, offset)
            span = Span(source, offset - len(found["name"]), rest.end() if rest is not None else offset)
            return [Item(entry, "value", span, entry.label) for entry in entries(analysis)]
    return []


def _rules(analysis: Analysis) -> list[Entry]:
    broken = {finding.rule for finding in analysis.findings}
    return [
        Entry(rule.id, f"{rule.severity}: {rule.title}", "", ("0" if rule.id in broken else "5") + rule.id, deprecated=False)
        for rule in every(analysis.settings.rules)
    ]


def _gpus(_analysis: Analysis) -> list[Entry]:
    return [Entry(name, "", "", f"{number:03}", deprecated=False) for number, name in enumerate(hardware.names())]


def _forms(_analysis: Analysis) -> list[Entry]:
    return [Entry(form, detail, "", str(number), deprecated=False) for number, (form, detail) in enumerate(_FORMS)]
