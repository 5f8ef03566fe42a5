"""Launches as somebody might have written them: few words, any format."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fuzz import corpus, vocabulary
from fuzz.case import Case
from fuzz.mutate import mutated
from tests.wrappers import WRAPPERS
from tests.wrapping import CLOSE, OPEN, VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz.chance import Chance

_QUOTED = ("'{}'", '"{}"')


def example(chance: Chance, *, fixable: bool = False) -> tuple[str, dict[str, Any]]:
    """An engine, and an example as rules have them: a command, a release, variables.

    fixable: whether it is to be one of a rule that mends it
    """
    if fixable or chance.often(0.6):
        runs = corpus.runs()
        engine, found = runs[chance.below(corpus.fixable() if fixable else len(runs))]
        if "version" not in found and "image" not in found:
            found = {**found, "version": chance.pick(vocabulary.releases(engine))}
        return engine, found
    engine = chance.pick(("vllm", "vllm", "sglang", "sglang", "llama.cpp", "lmdeploy"))
    words = [chance.pick(VERBS[engine])]
    words += ["a/b"] if engine in ("vllm", "lmdeploy") else ["-m", "a"] if engine == "llama.cpp" else ["--model-path", "a/b"]
    for _ in range(chance.below(4)):
        words += option(chance, engine)
    made: dict[str, Any] = {"run": " ".join(words), "version": chance.pick(vocabulary.releases(engine))}
    if chance.often(0.3):
        made["env"] = {chance.pick(vocabulary.variables()[engine]): chance.pick(("0", "1", "x", ""))}
    return engine, made


def option(chance: Chance, engine: str) -> list[str]:
    """An option and perhaps its value, as words of a command line."""
    name = chance.pick(vocabulary.options()[engine])
    if chance.often(0.1):
        name = name.replace("-", "_").replace("__", "--", 1) if chance.often(0.5) else name[: 2 + chance.below(len(name))]
    if chance.often(0.35):
        return [name]
    value = chance.pick(vocabulary.VALUES)
    if chance.often(0.1):
        value = f"${vocabulary.UNKNOWN}"
    elif not value or any(char in value for char in " \"'{}[]"):
        value = chance.pick(_QUOTED).format(value) if '"' not in value else f"'{value}'"
    return [f"{name}={value}"] if chance.often(0.2) else [name, value]


def launch(chance: Chance, wrappers: Sequence[str], *, fixable: bool = False) -> tuple[str, str]:
    """(file name, text) of a file with one launch, in one of some formats (names of tests/wrappers)."""
    engine, made = example(chance, fixable=fixable)
    name, write = WRAPPERS[chance.pick(wrappers)]
    return name, write(engine, made).replace(OPEN, "").replace(CLOSE, "")


@lru_cache(maxsize=64)
def seeds(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """(file name, text) of the corpus: those of some names."""
    texts = corpus.texts()
    return [(name, text) for name in names for text in texts.get(name, ())]


def file(chance: Chance, wrappers: Sequence[str], names: tuple[str, ...]) -> Case:
    """A file as it was written once, or as the grammar makes it, changed or not."""
    whole = False
    if chance.often(0.45):
        name, text = chance.pick(seeds(names))
    else:
        name, text = launch(chance, wrappers)
        whole = True
    if not whole or chance.often(0.6):
        text = mutated(chance, text)
        whole = False
    return Case(name, text, chance.below(1 << 16), whole=whole)
