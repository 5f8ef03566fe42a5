"""The files that a launch names: the options in the YAML file of `--config`, and files read before a launch leaves the process.

vLLM (FlexibleArgumentParser._pull_args_from_config) and SGLang (server_args_config_parser.py) read the file before they parse:
each key becomes an option in front of the command line's own, which therefore win; a positional model stays first. Only the
separate word `--config` is looked for.

A launch opens files by a function of its reader, which cannot be pickled. What a memory plan and a report's page need is
therefore read beforehand: the file of `--config`, and the configurations of its models.
"""

from __future__ import annotations

import os
from copy import copy
from itertools import pairwise

from servelint.core import safe_open
from servelint.core.launch import Launch, OpenedFile, Word
from servelint.core.source import Source, Span
from servelint.core.text import Piece, TracedText
from servelint.engines import catalog
from servelint.engines.config import Config, configs
from servelint.engines.registry import ENGINES
from servelint.models.folder import CONFIG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from servelint.engines.catalog import Catalog
    from servelint.syntax.yaml import Node, ScalarNode
    from servelint.syntax.yaml_values import Value


# -- the file of --config


_MAX_SIZE = 1 << 20
_NOT_LOADED = "it is not YAML that can be loaded"


class Missing(Exception):
    """Why the file cannot be read; the engine stops the start as well."""


def merged(launch: Launch) -> list[Word] | None:
    """The argv with the options of the file of `--config` in it; None if no file is named or known. Raises Missing."""
    argv, read = launch.argv, opener(launch)
    at = _named(argv)
    text = read(argv[at + 1].text) if at is not None else None
    if at is None or text is None:
        return None
    rest = [*argv[:at], *argv[at + 2 :]]
    first = rest[:1] if rest and not rest[0].text.flat.startswith("-") else []
    return [*first, *_options(text, launch.engine), *rest[len(first) :]]


def _named(argv: list[Word]) -> int | None:
    """Where `--config` stands in an argv, if the word behind it is a known name."""
    at = next((index for index, word in enumerate(argv) if word.value == "--config"), None)
    return at if at is not None and at + 1 < len(argv) and not argv[at + 1].many and argv[at + 1].text.known else None


def opener(launch: Launch) -> Callable[[TracedText], TracedText | None]:
    """What gives the text of a file that the launch names, None if it is not known. It may raise Missing."""

    def read(name: TracedText) -> TracedText | None:
        if launch.folder is not None:
            return open_in(launch.folder, name)
        opened = launch.open(name) if launch.open is not None else None
        return opened.text if opened is not None and opened.text.known else None

    return read


def keys_with(launch: Launch, kind: str) -> list[Word]:
    """The keys of the file that `--config` names whose value is `false`, or a `mapping` with keys, as options (`--key`)."""
    from servelint.syntax import yaml, yaml_values

    at = _named(launch.argv)
    try:
        text = opener(launch)(launch.argv[at + 1].text) if at is not None else None
        source = Source("", text.flat if text is not None else "")
        nodes, problem = yaml.documents(source)
        if text is None or problem is not None or len(nodes) != 1 or not yaml.is_mapping(nodes[0]):
            return []
        found: list[Word] = []
        for key, value in yaml.entries(nodes[0]).values():
            if kind == "false":
                wanted = yaml_values.truth(value, yaml_values.PYYAML) is False
            else:
                wanted = yaml.is_mapping(value) and bool(yaml.entries(value))
            if wanted:
                option = TracedText.join((TracedText.of("--"), yaml.text(source, key)))
                found.append(_moved(Word(option, yaml.span(source, key)), text))
        return found
    except Missing:
        return []


def open_in(folder: str, name: TracedText) -> TracedText:
    """The text of the file that a name stands for in a folder. Raises Missing."""
    path = os.path.join(folder, name.flat)
    if not name.flat.endswith((".yaml", ".yml")):
        raise Missing("it is not a .yaml or .yml file")
    try:
        source = Source(name.flat, safe_open.read(path, _MAX_SIZE)[:_MAX_SIZE].decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise Missing("it cannot be read") from error
    return TracedText.at(source, 0, len(source.text))


def with_objects(launch: Launch, spellings: tuple[str, ...], other_keys: str) -> list[Word]:
    """The argv with the mapping of a YAML file, as JSON, in place of the file's name. A file that cannot be read stays a name.

    Args:
        launch: the launch, which can open files.
        spellings: the options that name such a file, with their dashes.
        other_keys: a value of --backend with which the file has other keys, so that it stays a name.
    """
    argv = list(launch.argv)
    backends = [after for word, after in pairwise(argv) if word.text.flat == "--backend"]
    if any(not one.text.known or one.text.flat == other_keys for one in backends):
        return argv
    for at, word in enumerate(launch.argv):
        spelling, equals, _ = word.text.flat.partition("=")
        if spelling not in spellings:
            continue
        if equals:
            name = word.text.cut(len(spelling) + 1, len(word.text.flat))
            found = _object(launch, name, other_keys)
            if found is not None:
                argv[at] = Word(TracedText.join((word.text.cut(0, len(spelling) + 1), found)), word.site)
        elif at + 1 < len(argv) and not argv[at + 1].many:
            found = _object(launch, argv[at + 1].text, other_keys)
            if found is not None:
                argv[at + 1] = Word(found, argv[at + 1].site)
    return argv


def _object(launch: Launch, name: TracedText, other_keys: str) -> TracedText | None:
    """The mapping in a YAML file as JSON; None where the file or what it holds is not known."""
    from servelint.syntax import yaml

    if not name.known:
        return None
    try:
        if launch.folder is not None:
            text: TracedText | None = open_in(launch.folder, name)
        else:
            opened = launch.open(name) if launch.open is not None else None
            text = opened.text if opened is not None and opened.text.known else None
        if text is None or other_keys in text.flat:
            return None
        source = Source("", text.flat)
        nodes, problem = yaml.documents(source)
        if problem is not None or len(nodes) != 1 or not yaml.is_mapping(nodes[0]):
            return None
        return _moved(Word(object_of(source, yaml.entries(nodes[0]).values())), text).text
    except Missing:
        return None


def object_of(source: Source, pairs: Iterable[tuple[Node, Node]]) -> TracedText:
    """Keys and values of YAML as one JSON object, each character with its place. Raises Missing."""
    from servelint.syntax.yaml_values import PYYAML, JsonWriter

    try:
        return JsonWriter(source, PYYAML).object(pairs)
    except (RecursionError, ValueError) as error:
        raise Missing(_NOT_LOADED) from error


def _options(text: TracedText, engine: str) -> list[Word]:
    """The options of a file's text, which may stand in another file (a here-document)."""
    from servelint.syntax import yaml

    source = Source("", text.flat)
    nodes, problem = yaml.documents(source)
    if problem is not None:
        raise Missing(problem.message)
    empty = not nodes or (yaml.is_scalar(nodes[0]) and _loaded(nodes[0]) is None)
    if len(nodes) > 1:
        raise Missing("it has several YAML documents")
    if empty and ENGINES[engine].empty_config_file:
        return []
    if empty or not yaml.is_mapping(nodes[0]):
        raise Missing("it is empty" if empty else "it is not a mapping from options to values")
    return [_moved(word, text) for word in options(source, nodes[0], engine)]


def _moved(word: Word, text: TracedText) -> Word:
    """A word of the text alone as a word of the file that the text stands in."""
    pieces = [
        Piece(piece.text, _place(piece.span, text), verbatim=piece.verbatim and _place(piece.span, text) is not None)
        for piece in word.text.pieces
    ]
    return Word(TracedText(pieces), _place(word.site, text))


def _place(span: Span | None, text: TracedText) -> Span | None:
    return text.span(span.start, span.end) if span is not None else None


def options(source: Source, document: Node, engine: str) -> list[Word]:
    """The options of a YAML document as the words that the engine's parser makes of them. Raises Missing."""
    from servelint.syntax import yaml, yaml_values

    words: list[Word] = []
    known = catalog.load(engine) if ENGINES[engine].writes_booleans else None
    for key, value in yaml.entries(document).values():
        site = yaml.span(source, key)
        option = Word(TracedText.join((TracedText.of("--"), yaml.text(source, key))), site)
        kind = yaml_values.truth(value, yaml_values.PYYAML)
        if kind is not None and known is not None and not _is_switch(known, option.text.flat):
            words += [option, Word(TracedText.of("true" if kind else "false", yaml.span(source, value)))]
            continue
        if kind is False:
            continue
        if kind is True:
            words.append(option)
            continue
        items = yaml.items(value)
        texts = [_text(source, item) for item in items or ([value] if items is None else [])]
        if texts:
            words += [option, *[Word(text) for text in texts]]
    return words


def _is_switch(known: Catalog, option: str) -> bool:
    """Whether an option takes no value in some release."""
    return any(not one.takes_value for _, _, one in known.spelled(option.replace("_", "-")))


def _text(source: Source, node: Node) -> TracedText:
    """A scalar as Python's str() writes what PyYAML loads of it; a mapping as the JSON that the parser makes of it."""
    from servelint.syntax import yaml, yaml_values

    if yaml.is_mapping(node):
        return object_of(source, yaml.entries(node).values())
    text = yaml.text(source, node)
    value = _loaded(node) if yaml.is_scalar(node) else ""
    plain = yaml_values.printed(value, yaml_values.PYYAML)
    return text if isinstance(value, str) or plain == text.flat else TracedText.of(plain, yaml.span(source, node))


def _loaded(node: ScalarNode) -> Value:
    """What PyYAML's safe loader makes of a scalar. Raises Missing."""
    from servelint.syntax import yaml_values

    try:
        return yaml_values.value(node, yaml_values.PYYAML)
    except ValueError as error:
        raise Missing(_NOT_LOADED) from error


# -- files read beforehand


_DRAFTS = ("speculative-config.model", "spec-model", "speculative-draft-model-path")


class Carried:
    """Opens the files that were read.

    Attributes:
        texts: name of a file as the launch has it -> its text.
    """

    __slots__ = ("texts",)

    def __init__(self, texts: dict[str, TracedText]) -> None:
        self.texts = texts

    def __call__(self, name: TracedText) -> OpenedFile | None:
        """The file of a name; None if it was not read."""
        text = self.texts.get(name.flat)
        if text is None:
            return None
        return OpenedFile(text, name.flat, False, None)


def carry(given: Launch) -> Carried | None:
    """Read the files that a launch names, and return what opens them in another process; None if there are none."""
    if given.open is None or isinstance(given.open, Carried):
        return given.open
    found = Carried({})
    launch = copy(given)
    launch.open = _kept(given.open, found)
    release = given.release.release
    (config,) = configs(launch, [release] if release is not None else [])
    for model in _models(config):
        folder = model.rstrip("/")
        if launch.open(TracedText.of(f"{folder}/{CONFIG}")) is not None:
            from servelint.models.checkpoint import (  # where a model is here: a check needs them nowhere else
                INDEX,
                QUANTIZATION,
            )

            for name in (QUANTIZATION, INDEX):
                launch.open(TracedText.of(f"{folder}/{name}"))
    return found if found.texts else None


def _kept(opened: Callable[[TracedText], OpenedFile | None], found: Carried) -> Callable[[TracedText], OpenedFile | None]:
    def keep(name: TracedText) -> OpenedFile | None:
        one = opened(name)
        if one is not None:
            found.texts[name.flat] = one.text
        return one

    return keep


def _models(config: Config) -> list[str]:
    """The models that a launch names, with the options of its file."""
    model = config.reading.model
    named = [model.value if model is not None else None, *[config.operand(name).value for name in _DRAFTS]]
    return [one for one in named if isinstance(one, str) and one]
