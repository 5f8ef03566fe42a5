"""The Python API: what `import servelint` offers."""

from __future__ import annotations

import shlex

from servelint.engines.releases import release_key
from servelint.finding import Finding
from servelint.launch import Launch, Variable
from servelint.linter import Report, check, check_launches
from servelint.readers import read
from servelint.settings import DEFAULT, Settings
from servelint.settings_files.files import SettingsFiles
from servelint.shell.words import split
from servelint.source import Source, Span
from servelint.text import Text

__all__ = ["Finding", "Launch", "Report", "Settings", "SettingsFiles", "check", "check_command", "find_launches"]

_VERBS = {
    "vllm": "vllm serve",
    "sglang": "python -m sglang.launch_server",
    "llama.cpp": "llama-server",
    "trtllm": "trtllm-serve serve",
    "lmdeploy": "lmdeploy serve api_server",
    "tgi": "text-generation-launcher",
}


def find_launches(text: str, filename: str = "compose.yml") -> list[Launch]:
    """The launches of a text. filename tells its format; no file is opened.

    >>> [launch.engine for launch in find_launches("vllm serve Qwen/Qwen3-8B", "run.sh")]
    ['vllm']
    """
    return read(Source(filename, text)).launches


def check_command(
    engine: str,
    argv: list[str],
    version: str | None = None,
    env: dict[str, str] | None = None,
    settings: Settings | None = None,
) -> list[Finding]:
    """Judge one argv (the words after the engine's verb) as the named release would; version None: as any that can start it.

    Raises ValueError for an engine that servelint does not know, and for a version that is no release.

    >>> [f.rule for f in check_command("vllm", ["Qwen/Qwen3-8B", "--gpu-memory-utilization", "1.2"], version="0.33.0")]
    ['vllm/gpu-memory-utilization-out-of-range']
    """
    if engine not in _VERBS:
        raise ValueError(f"{engine!r} is not an engine; use one of {', '.join(_VERBS)}")
    if version is not None and release_key(version) is None:
        raise ValueError(f"{version!r} is not a release; write 0.19.1")
    verb = _VERBS[engine]
    text = " ".join([verb, *[shlex.quote(word) for word in argv]])
    source = Source("<command>", text)
    words = split(Text.at(source, 0, len(text)))
    count = len(verb.split())
    launch = Launch(
        source=source,
        engine=engine,
        verb=tuple(words[:count]),
        argv=words[count:],
        site=Span(source, 0, len(text)),
        env={name: Variable(name, Text.of(value), None) for name, value in (env or {}).items()},
    )
    launch.folder = "."
    asked = settings or DEFAULT
    if version is not None:
        asked = asked.with_release(engine, version.removeprefix("v"))
    return check_launches(source, [launch], asked)
