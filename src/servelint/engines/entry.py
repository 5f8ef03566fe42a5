"""The programs that start an engine's server, found in the words of a command."""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.text import HOLE

_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?(?:\.exe)?$")
_PYTHON_FLAGS_WITH_VALUE = ("-W", "-X")
_MODULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "vllm.entrypoints.openai.api_server": ("vllm", ()),
    "vllm.entrypoints.api_server": ("vllm", ()),
    "vllm.entrypoints.cli.main": ("vllm", ("serve",)),
    "vllm": ("vllm", ("serve",)),
    "sglang.launch_server": ("sglang", ()),
    "sglang.cli.main": ("sglang", ("serve",)),
    "lmdeploy": ("lmdeploy", ("serve", "api_server")),
    "tensorrt_llm.commands.serve": ("trtllm", ()),
}
_PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "vllm": ("vllm", ("serve",)),
    "sglang": ("sglang", ("serve",)),
    "llama-server": ("llama.cpp", ()),
    "llama-server.exe": ("llama.cpp", ()),
    "trtllm-serve": ("trtllm", ()),
    "lmdeploy": ("lmdeploy", ("serve", "api_server")),
    "text-generation-launcher": ("tgi", ()),
}
_SCRIPTS = (
    ("vllm/entrypoints/openai/api_server.py", "vllm"),
    ("sglang/launch_server.py", "sglang"),
)
_TRTLLM_OTHER_VERBS = frozenset(("disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve", "embeddings"))
_HELP = frozenset(("--help", "-h", "--version", "-v"))


_SINCE = {("sglang", "serve"): "0.5.5"}


class Entry:
    """An engine's entry point in a command: the engine and the index of the first word after it."""

    __slots__ = ("end", "engine")

    def __init__(self, engine: str, end: int) -> None:
        self.engine = engine
        self.end = end


def program(word: Word) -> str | None:
    """The file name of the program that a word names; None if that part of the word is not known."""
    base = word.text.flat.rpartition("/")[2]
    return None if HOLE in base else base.partition("@")[0]  # uvx takes a release with it: vllm@0.19.1


def find(words: list[Word], at: int = 0) -> Entry | None:
    """The entry point that starts with the word at an index, if one does."""
    if at >= len(words):
        return None
    name = program(words[at])
    found = _python(words, at, name) if name is None or _PYTHON.match(name) else _verbs(_PROGRAMS.get(name), words, at + 1)
    if found is None:
        return None
    rest = [word.value for word in words[found.end : found.end + 2]]
    if found.engine == "trtllm" and rest[:1] == ["serve"]:
        found.end += 1
    elif found.engine == "trtllm" and rest[:1] and rest[0] in _TRTLLM_OTHER_VERBS:
        return None
    if len(words) == found.end + 1 and (rest[0] in _HELP or (rest[0] or "").startswith("--help=")):
        return None
    return found


def _verbs(program: tuple[str, tuple[str, ...]] | None, words: list[Word], at: int) -> Entry | None:
    if program is None:
        return None
    engine, verbs = program
    if [word.value for word in words[at : at + len(verbs)]] != list(verbs):
        return None
    return Entry(engine, at + len(verbs))


def _python(words: list[Word], at: int, name: str | None) -> Entry | None:
    """`python [flags] -m module` or `python path/to/script.py`; the interpreter itself may be a variable."""
    at += 1
    while at < len(words):
        value = words[at].value
        if value is None:
            return None
        if value == "-m":
            module = words[at + 1].value if at + 1 < len(words) else None
            return _verbs(_MODULES.get(module or ""), words, at + 2)
        if value in _PYTHON_FLAGS_WITH_VALUE:
            at += 2
        elif re.fullmatch(r"-[A-Za-z]+", value) and value != "-c":
            at += 1
        else:
            break
    if name is None or at >= len(words):
        return None
    script = words[at].text.flat
    engine = next((engine for path, engine in _SCRIPTS if script == path or script.endswith("/" + path)), None)
    return Entry(engine, at + 1) if engine is not None else None


def takes_model(engine: str, verb: tuple[Word, ...], entrypoint: tuple[str, ...] | None) -> bool | None:
    """Whether a launch's verb takes a positional model; None if nobody knows.

    `vllm serve MODEL` does; `python -m vllm.entrypoints.openai.api_server` does not look at one.
    verb: empty where an image starts the engine;  entrypoint: of that image
    """
    words = [program(word) or "" for word in verb] or list(entrypoint or ())
    if engine != "vllm" or not words:
        return None if engine == "vllm" else True
    return words[-1] == "serve"


def since(engine: str, verb: tuple[Word, ...]) -> str:
    """The first release that a launch's verb starts; "0" where every release knows it."""
    words = [program(word) for word in verb]
    return _SINCE.get((engine, words[1] or ""), "0") if len(words) == 2 else "0"
