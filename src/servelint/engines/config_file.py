"""`--config FILE`: options that stand in a YAML file, put where the engine's own parser puts them.

vLLM (FlexibleArgumentParser._pull_args_from_config) and SGLang (server_args_config_parser.py) read the file before they parse:
each key becomes an option in front of the command line's own, which therefore win; a positional model stays first. Only the
separate word `--config` is looked for.
"""

from __future__ import annotations

import os

from servelint.launch import Word
from servelint.source import Source
from servelint.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from yaml.nodes import Node

ENGINES = ("vllm", "sglang")
_SIZE_AT_MOST = 1 << 20


class Missing(Exception):
    """Why the file cannot be read; the engine ends the start as well."""


def merged(argv: list[Word], folder: str) -> list[Word] | None:
    """The argv with the file's options in it; None if no file is named, or if its name is not known. Raises Missing."""
    at = next((index for index, word in enumerate(argv) if word.value == "--config"), None)
    if at is None or at + 1 >= len(argv) or (name := argv[at + 1].value) is None or argv[at + 1].many:
        return None
    rest = [*argv[:at], *argv[at + 2 :]]
    options = _options(_read(name, folder))
    first = rest[:1] if rest and not rest[0].text.flat.startswith("-") else []
    return [*first, *options, *rest[len(first) :]]


def _read(name: str, folder: str) -> Source:
    path = os.path.join(folder, name)
    if not name.endswith((".yaml", ".yml")):
        raise Missing("it is no .yaml or .yml file")
    try:
        with open(path, "rb") as file:
            return Source(name, file.read(_SIZE_AT_MOST).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise Missing("it cannot be read") from error


def _options(source: Source) -> list[Word]:
    from servelint import yaml_nodes

    nodes, problem = yaml_nodes.documents(source)
    if problem is not None:
        raise Missing(problem.message)
    words: list[Word] = []
    for name, (key, value) in yaml_nodes.entries(nodes[0] if nodes else None).items():
        site = yaml_nodes.span(source, key)
        option = Word(Text.of("--" + name, site), site)
        kind = _bool(value)
        if kind is False:
            continue
        if kind is True:
            words.append(option)
            continue
        items = yaml_nodes.items(value)
        texts = [yaml_nodes.text(source, item) for item in items] if items is not None else [_text(source, value)]
        if texts:
            words += [option, *[Word(text) for text in texts]]
    return words


def _bool(node: Node) -> bool | None:
    from servelint import yaml_nodes

    plain = yaml_nodes.scalar(node) if node.tag == "tag:yaml.org,2002:bool" else None
    return None if plain is None else plain.lower() in ("true", "yes", "on")


def _text(source: Source, node: Node) -> Text:
    """A scalar's text; a mapping as the JSON that the parser makes of it."""
    import json

    import yaml

    from servelint import yaml_nodes

    if yaml_nodes.is_mapping(node):
        try:
            data = yaml.constructor.SafeConstructor().construct_document(node)
        except yaml.YAMLError as error:
            raise Missing("it is no YAML that can be loaded") from error
        return Text.of(json.dumps(data, default=str), yaml_nodes.span(source, node))
    text = yaml_nodes.text(source, node)
    return Text.of("None", yaml_nodes.span(source, node)) if yaml_nodes.is_null(node) else text
