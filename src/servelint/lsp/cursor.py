"""What stands at an offset of a text: which launch, and which word, key, variable or image of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from servelint.core.launch import Launch, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines.argv import Setting
from servelint.engines.config import Config, configs
from servelint.engines.registry import ENGINES
from servelint.files.directives import SIGN
from servelint.fixes.change import name_span

_DIRECTIVE = re.compile(r"#[ \t]*servelint:[ \t]*(?P<text>[^\n]*)$")

OPTION, VALUE, KEY, FIELD = "option", "value", "key", "field"
VARIABLE, CONTENT, IMAGE, TAG, MODEL = "variable", "content", "image", "tag", "model"
"""What may stand at an offset: an option's name, its value, a key of a JSON option and that key's value; an environment
variable's name and its value; an image's repository and its tag; the model."""

_MODELS = ("model", "model-path", "model-tag")
_WORD = re.compile(r'"(?:\\.|[^"\\])*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_NAME = re.compile(r"[\w./-]*")


@dataclass(slots=True, eq=False)
class Cursor:
    """What stands at an offset.

    Attributes:
        kind: One of the kinds above.
        config: The launch that it belongs to, under the release by which its words were read.
        span: Its characters.
        name: Of an option or a variable; of an unknown option as it is written.
        typed: Its characters up to the offset, without quotes.
        setting: Of an option, its value or a key of it;  word: the word that it stands in.
        spot: Of a JSON key or its value, where it stands in the JSON;  path: all keys down to it.
        variable: Of an environment variable or its value.
        text: The value, where it is one.
    """

    kind: str
    config: Config
    span: Span
    name: str = ""
    typed: str = ""
    setting: Setting | None = None
    word: Word | None = None
    spot: Spot | None = None
    path: tuple[str, ...] = ()
    variable: Variable | None = None
    text: TracedText | None = None

    @property
    def launch(self) -> Launch:
        """The launch that it belongs to."""
        return self.config.launch


def at(source: Source, launches: Iterable[Launch], offset: int, versions: Mapping[str, str] | None = None) -> Cursor | None:
    """What stands at an offset of a source; of a text that several launches share, as the first of them has it.

    versions: engine -> release by which words are read where a launch names none
    """
    given = versions or {}
    behind: Cursor | None = None  # what ends where the offset is, if nothing begins there
    for launch in launches:
        release = given.get(launch.engine)
        for found in _in_words(launch, source, offset, release):
            if offset < found.span.end:
                return found
            behind = behind or found
        other = _in_variables(launch, source, offset, release) or _in_image(launch, source, offset, release)
        if other is not None and _covers(other.span, source, offset):
            return other
    return behind


def start_of(source: Source, launches: Iterable[Launch], offset: int) -> Launch | None:
    """The launch whose first line an offset is on, or whose verb it stands in."""
    line = source.position(offset)[0]
    for launch in launches:
        site = launch.site
        if site.source is source and site.line == line:
            return launch
        for word in launch.verb:
            if word.site is not None and word.site.source is source and word.site.start <= offset <= word.site.end:
                return launch
    return None


def index_in(text: TracedText, source: Source, offset: int) -> int | None:
    """The position in TracedText.flat of what stands at an offset, or of its end; None if the text does not hold it."""
    for start, piece in zip(text.starts, text.pieces, strict=True):
        span = piece.span
        if span is None or span.source is not source or not span.start <= offset <= span.end:
            continue
        if piece.verbatim and piece.expression is None:
            return start + offset - span.start
        if offset < span.end:
            return start
        if start + len(piece.text) == len(text.flat):
            return len(text.flat)
    return None


def config_of(launch: Launch, release: str | None) -> Config:
    """The launch under the release that it names, else under `release`, which counts before what its project requires."""
    named = release if launch.release.assumed and release else launch.release.release or release
    return configs(launch, [named] if named is not None else [])[0]


# -- words


def _in_words(launch: Launch, source: Source, offset: int, release: str | None) -> list[Cursor]:
    """The words that an offset is in or at the end of: two, where they touch."""
    found: list[Cursor] = []
    for word in launch.argv:
        index = index_in(word.text, source, offset)
        if index is None and word.site is not None and word.site.source is source and not word.text.flat:
            index = 0 if word.site.start < offset < word.site.end else None
        if index is not None:
            one = of_word(config_of(launch, release), word, index, source, offset)
            found += [one] if one is not None and _covers(one.span, source, offset) else []
    return found


def _covers(span: Span, source: Source, offset: int) -> bool:
    return span.source is source and span.start <= offset <= span.end


def of_word(config: Config, word: Word, index: int, source: Source, offset: int) -> Cursor | None:
    """What a word of a launch is, at a position of its text, which is that of an offset."""
    flat = word.text.flat
    for setting in config.reading.arguments.every:
        if setting.word is word:
            value = setting.value if setting.value_word is word else None
            begins = len(flat) - len(value.flat) if value is not None else len(flat) + 1
            if value is not None and index >= begins:
                return _of_value(config, setting, word, value, index - begins, source, offset)
            return _of_option(config, setting, word, index)
        if word is setting.value_word or any(word is one for one in setting.values):
            return _of_value(config, setting, word, word.text, index, source, offset)
    span = word.text.extent() if flat else Span(source, offset, offset)
    if span is None:
        return None
    positional = config.reading.arguments.positionals
    first = bool(positional) and positional[0] is word and bool(ENGINES[config.launch.engine].dialect.positional)
    kind = OPTION if flat.startswith("-") else MODEL if first else VALUE
    found = Cursor(kind, config, span, "" if kind == VALUE else flat if kind == OPTION else "model", flat[:index])
    found.word = word
    found.text = word.text if kind != OPTION else None
    return found


def _of_option(config: Config, setting: Setting, word: Word, index: int) -> Cursor | None:
    head = word.text.flat.partition("=")[0]
    name, dot, path = head.partition(".") if "." in setting.name else (head, "", "")
    inside = bool(dot) and index > len(name)
    start, end = (len(name) + 1, len(head)) if inside else (0, len(name))
    span = word.text.extent(start, end) or word.text.extent() or word.site
    if span is None:
        return None
    found = Cursor(KEY if inside else OPTION, config, span, setting.name.partition(".")[0], word.text.flat[start:index])
    found.setting, found.word = setting, word
    found.path = tuple(path.rstrip("+").split(".")) if inside else ()
    return found


def _of_value(
    config: Config, setting: Setting, word: Word, value: TracedText, index: int, source: Source, offset: int
) -> Cursor | None:
    name, dot, path = setting.name.partition(".")
    place = value.extent() if value.flat else Span(source, offset, offset)
    if place is None:
        return None
    option = setting.option
    whole = Cursor(FIELD if dot else MODEL if name in _MODELS else VALUE, config, place, name, value.flat[:index])
    whole.setting, whole.word, whole.text = setting, word, value
    whole.path = tuple(path.rstrip("+").split(".")) if dot else ()
    if option is None or not (option.json or "json" in option.types) or not value.flat.lstrip().startswith("{"):
        return whole
    inside = spot(value.flat, index)
    if inside is None:
        return whole
    text = value.cut(inside.start, inside.end)
    span = text.extent() or Span(source, offset, offset)
    if not _covers(span, source, offset):
        return whole  # a part of it is not known
    typed = value.flat[inside.start : min(index, inside.end)] if index > inside.start else ""
    found = Cursor(KEY if inside.is_key else FIELD, config, span, name, typed)
    found.setting, found.word, found.text, found.spot = setting, word, text, inside
    found.path = (*whole.path, *inside.path, *([text.flat] if inside.is_key else []))
    return found


# -- what surrounds the command


def _in_variables(launch: Launch, source: Source, offset: int, release: str | None) -> Cursor | None:
    for variable in launch.env.values():
        name, value = name_span(variable), variable.value
        if name is not None and name.source is source and name.start <= offset <= name.end and name.text == variable.name:
            found = Cursor(VARIABLE, config_of(launch, release), name, variable.name, variable.name[: offset - name.start])
        elif value is not None and (index := index_in(value, source, offset)) is not None:
            span = value.extent() or Span(source, offset, offset)
            found = Cursor(CONTENT, config_of(launch, release), span, variable.name, value.flat[:index])
            found.text = value
        else:
            continue
        found.variable = variable
        return found
    return None


def _in_image(launch: Launch, source: Source, offset: int, release: str | None) -> Cursor | None:
    image = launch.image
    index = index_in(image, source, offset) if image is not None else None
    if image is None or index is None:
        return None
    start, end = tag_of(image)
    inside = start <= index <= end and end > 0
    first, last = (start, end) if inside else (0, start - 1 if end else len(image.flat))
    span = image.extent(first, last) or Span(source, offset, offset)
    found = Cursor(TAG if inside else IMAGE, config_of(launch, release), span, image.flat[first:last], image.flat[first:index])
    found.text = image
    return found


def tag_of(image: TracedText) -> tuple[int, int]:
    """Where the tag of an image's name starts and ends; (0, 0) if it has none."""
    flat = image.flat
    digest = flat.find("@")
    end = len(flat) if digest == -1 else digest
    colon = flat.rfind(":", flat.rfind("/", 0, end) + 1, end)
    return (colon + 1, end) if colon != -1 else (0, 0)


# -- comments to servelint


def directive(source: Source, offset: int) -> re.Match[str] | None:
    """The comment to servelint that an offset is in, up to the offset, as group `text`; None if it is in no such comment."""
    if SIGN not in source.text:
        return None
    start = source.line_starts[source.position(offset)[0] - 1]
    return _DIRECTIVE.search(source.text, start, offset)


# -- JSON


@dataclass(slots=True, eq=False)
class Spot:
    """What stands at an offset of a JSON text.

    Attributes:
        path: The keys above, the outermost first; of a value its own key is the last.
        is_key: Whether it is a key of an object, or would be one.
        start, end: The key or value without its quotes; equal where nothing is written yet.
        quoted: Whether a quote opens it;  closed: whether one closes it.
        keys: The other keys of the same object.
    """

    path: tuple[str, ...]
    is_key: bool
    start: int
    end: int
    quoted: bool = False
    closed: bool = False
    keys: set[str] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class _Level:
    """An object or an array that is open. value: a colon was seen, so that a value follows."""

    is_object: bool
    key: str | None = None
    value: bool = False
    keys: set[str] = field(default_factory=set)


def spot(text: str, at: int) -> Spot | None:
    """What stands at an offset of a text that starts an object; None outside of it, and for an item of an array."""
    levels: list[_Level] = []
    found: Spot | None = None
    own: _Level | None = None
    for match in _WORD.finditer(text):
        word, start, end = match.group(), match.start(), match.end()
        if found is None and start >= at and not (start == at and word[0] not in '"{}[],:'):
            if not levels:
                return None
            found, own = _fresh(levels, at), levels[-1]
        if found is None and levels and _holds(word, start, end, at):
            found, own = _of_word(levels, word, start, end, at), levels[-1]
            if levels[-1].is_object and not levels[-1].value:
                if not found.closed and found.quoted:
                    break
                levels[-1].key = None
                continue
        if word in "{[":
            levels.append(_Level(word == "{"))
        elif word in "}]":
            if not levels:
                return None
            if levels.pop() is own:
                break
            if not levels and found is None:
                return None
        elif word == ",":
            if levels:
                levels[-1].key, levels[-1].value = None, False
        elif word == ":":
            if levels:
                levels[-1].value = True
        elif levels and levels[-1].is_object and not levels[-1].value:
            levels[-1].key = word.strip('"')
            levels[-1].keys.add(levels[-1].key)
    if found is None:
        if not levels:
            return None
        found, own = _fresh(levels, at), levels[-1]
    if own is None or not own.is_object:
        return None
    found.keys = own.keys
    return found


def _holds(word: str, start: int, end: int, at: int) -> bool:
    if word[0] == '"':
        closed = len(word) > 1 and word.endswith('"')
        return start < at < end or (not closed and at == end)
    return word not in "{}[],:" and start <= at <= end


def _of_word(levels: list[_Level], word: str, start: int, end: int, at: int) -> Spot:
    level = levels[-1]
    quoted = word[0] == '"'
    closed = quoted and len(word) > 1 and word.endswith('"')
    first, last = start + quoted, end - closed
    is_key = level.is_object and not level.value
    if quoted and (not closed or "\n" in word or (is_key and _NAME.fullmatch(word, 1, len(word) - 1) is None)):
        closed = False  # it has swallowed what follows it
        name = _NAME.match(word, at - start)
        last = start + (name.end() if name is not None else at - start)
    found = Spot(_path(levels), is_key, first, last)
    found.quoted, found.closed = quoted, closed
    return found


def _fresh(levels: list[_Level], at: int) -> Spot:
    return Spot(_path(levels), levels[-1].is_object and not levels[-1].value, at, at)


def _path(levels: list[_Level]) -> tuple[str, ...]:
    """The keys above the innermost level, and its own key where a value follows."""
    keys = [level.key for level in levels if level.is_object and level.value and level.key is not None]
    return tuple(keys)
