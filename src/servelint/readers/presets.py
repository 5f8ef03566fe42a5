"""Files of `llama-server --models-preset`: a section a model, a key an option or a variable of the build that runs it.

Source: common/preset.cpp of llama.cpp (b11434). A key is an option without its dashes, any of its spellings, or its variable;
one that the build does not have stops the router. `[*]` holds what all models share; a key of a section is stronger. Options
that take no value are on or off. What the router sets itself (address, key, name) is left out.
"""

from __future__ import annotations

from servelint.core.launch import Launch, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import catalog as catalogs
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours
from servelint.readers.deployed import give_release
from servelint.readers.registry import Format
from servelint.syntax import ini

FORMAT = Format(
    "models-preset",
    152,
    title="Presets of llama-server",
    about="the models of a file for `--models-preset`",
    shape=r"(?m)^\[[^\]\n]+\][^\n]*\n(?:(?:[^\[\n][^\n]*)?\n)*?"
    r"[ \t]*(?:LLAMA_ARG_\w+|n-gpu-layers|ngl|ctx-size|hf-repo|cache-type-[kv]|load-on-startup|spec-type|n-cpu-moe"
    r"|min-p|repeat-penalty|mmproj|flash-attn|u?batch-size|embeddings?|reranking)[ \t]*=",
    words=(
        *("n-gpu-layers", "ctx-size", "hf-repo", "llama_arg_", "load-on-startup", "cache-type-v", "spec-type", "n-cpu-moe"),
        *("min-p", "repeat-penalty", "mmproj", "flash-attn", "batch-size", "embedding", "reranking"),
    ),
    languages=("ini",),
)

_ENGINE = next(engine.id for engine in ENGINES.values() if "llama" in engine.stems)
_SHARED = "*"
_OWN = frozenset(("version", "load-on-startup", "stop-timeout", "dedup-cache-models"))
_ROUTERS = frozenset(("host", "port", "api-key", "api-key-file", "alias", "a", "ssl-key-file", "ssl-cert-file"))
_ON = ("on", "enabled", "true", "1")  # common_arg_utils::is_truthy


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """A launch for each model."""
    sections: dict[str, dict[str, tuple[TracedText, TracedText]]] = {}
    sites: dict[str, Span] = {}
    for name, site, key, value in ini.lines(source):
        if key is None or value is None:
            sections[name] = {}
        else:
            sections.setdefault(name, {})[key.flat] = (key, value)
        sites[name] = Span(source, sites[name].start, site.end) if name in sites else site
    found = launches(source, sections, sites)
    give_release(found, source, neighbours)
    return found


def launches(
    source: Source, sections: dict[str, dict[str, tuple[TracedText, TracedText]]], sites: dict[str, Span]
) -> list[Launch]:
    """A launch for each section.

    Args:
        source: The file.
        sections: Section -> key -> the key and its value as written.
        sites: Section -> its characters.
    """
    shared = sections.pop(_SHARED, {})
    found = [
        _launch(source, name, {**shared, **own}, sites[name]) for name, own in sections.items() if name and (own or shared)
    ]
    if shared and not any(sections):  # the models are those of the cache or of --models-dir
        found.append(_launch(source, _SHARED, shared, sites[_SHARED]))
    return found


def _launch(source: Source, name: str, keys: dict[str, tuple[TracedText, TracedText]], site: Span) -> Launch:
    env: dict[str, Variable] = {}
    argv: list[Word] = []
    for key, (written, value) in keys.items():
        if key in _OWN or key in _ROUTERS:
            continue
        if key.isupper():
            env[key] = Variable(key, value, written.span())
        else:
            argv += _words(key, written, value)
    return Launch(source=source, engine=_ENGINE, argv=argv, site=site, env=env, name=name)


def _words(key: str, written: TracedText, value: TracedText) -> list[Word]:
    """The words that the router starts the model with."""
    catalog = catalogs.load(_ENGINE)
    short, long = f"-{key}", f"--{key}"
    runs = catalog.lines_of(short) if catalog is not None else []
    dashes = "-" if runs or "_" in key else "--"  # a key is looked up as it stands, where `--top_p` is --top-p
    runs = runs or (catalog.lines_of(long) if catalog is not None else [])
    name = Word(TracedText.join([TracedText.of(dashes), written]), written.span())
    kinds = {catalog.option(line).kind for _, _, line in runs} if catalog is not None else set()
    if kinds and kinds <= {"flag", "toggle"}:
        flat = value.flat.lower()
        return [name] if flat in _ON else []
    return [name, Word(value, value.span() if value.pieces else written.span())]
