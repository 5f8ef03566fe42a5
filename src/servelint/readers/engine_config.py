"""Files that hold an engine's options: what `vllm serve --config FILE` and `sglang serve --config FILE` take.

Such a file names no engine. Its keys decide: all must be options of the engine, one of them of no other engine.
What else configures a program around an engine (a benchmark's harness) has keys of its own beside them.
"""

from __future__ import annotations

import re

from servelint.core.launch import Launch, Word
from servelint.core.source import Source, Span
from servelint.engines.catalog import Option
from servelint.files.siblings import Neighbours
from servelint.readers.env_file import owner
from servelint.readers.registry import YAML, Format
from servelint.syntax import yaml
from servelint.syntax.interpolation import interpolate, nothing
from servelint.syntax.yaml import Node

FORMAT = Format("engine-config", 50, title="options of an engine", about="what `--config FILE` takes", syntax=YAML)

_KEY = re.compile(r"[a-z][a-z0-9]*(?:[-_.][a-z0-9_]+)*")
_KEYS_AT_MOST = 200


def is_mine(source: Source, document: Node) -> bool:
    """Whether a YAML document holds options of an engine, and nothing else."""
    return _engine(source, document) is not None


def read(source: Source, documents: list[Node], _neighbours: Neighbours) -> list[Launch]:
    """Fragments of launches: a file of options starts nothing, the command that names it does."""
    from servelint.engines import launch_files

    found: list[Launch] = []
    for document in documents:
        engine = _engine(source, document)
        if engine is None:
            continue
        try:
            # a variable is filled in before the engine reads the file, or else the file is of no use
            words = launch_files.options(source, document, engine)
            argv = [Word(interpolate(word.text, nothing), word.site) for word in words]
        except launch_files.Missing:
            continue
        keys = [key for key, _ in yaml.entries(document).values()]
        start = min(yaml.start(key) for key in keys)
        site = Span(source, start, max(start, yaml.span(source, document).end))
        found.append(Launch(source=source, engine=engine, argv=argv, site=site, name="config", fragment=True))
    return found


def _engine(source: Source, document: Node) -> str | None:
    """The engine whose options a document holds."""
    fields = yaml.entries(document)
    if not 2 <= len(fields) <= _KEYS_AT_MOST or not all(_KEY.fullmatch(name) for name in fields):
        return None
    values = {name: value for name, (_, value) in fields.items()}
    return owner(values, source.path.rpartition("/")[2], lambda name, options: _takes(options, values[name]))


def _takes(options: list[Option], value: Node) -> bool:
    """Whether one of the options may have a value of such a shape."""
    from servelint.engines.catalog import APPEND, LIST

    if yaml.is_mapping(value):
        return any(option.json or "json" in option.types for option in options)
    if yaml.items(value) is not None:
        return any(option.kind in (LIST, APPEND) for option in options)
    return True
