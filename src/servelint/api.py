"""The Python API: what `import servelint` offers."""

from __future__ import annotations

import shlex

from servelint.core.finding import Finding
from servelint.core.launch import Container, Launch, Variable, Word
from servelint.core.result import Report
from servelint.core.settings import DEFAULT, Settings
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import ENGINES, entry, images
from servelint.engines.releases import release_key, requested, unlisted_note
from servelint.lint import check, check_launches
from servelint.readers import read
from servelint.settings.files import SettingsFiles
from servelint.syntax.shell.words import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.memory.plan import MemoryPlan

__all__ = ["Finding", "Launch", "Report", "Settings", "SettingsFiles", "check", "check_command", "find_launches", "plan_memory"]


def find_launches(text: str, filename: str = "compose.yml") -> list[Launch]:
    """The launches of a text. The file name decides the format; no file is opened.

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
    """Judge one argv.

    Args:
        engine: The engine's id.
        argv: The words after the engine's verb.
        version: A release, also one that is newer than all that servelint knows; None for every release that accepts the
            command.
        env: The environment.
        settings: What to report.

    Raises:
        ValueError: servelint does not know the engine, or the version is not a release.

    >>> [f.rule for f in check_command("vllm", ["Qwen/Qwen3-8B", "--gpu-memory-utilization", "1.2"], version="0.33.0")]
    ['vllm/gpu-memory-utilization-out-of-range']
    """
    if engine not in ENGINES:
        raise ValueError(f"{engine!r} is not an engine; use one of {', '.join(ENGINES)}")
    launch = _launch(engine, argv, env)
    asked = settings or DEFAULT
    if version is not None:
        asked = asked.with_release(engine, requested(engine, version))
    return check_launches(launch.source, [launch], asked)


def plan_memory(
    engine: str,
    argv: list[str],
    version: str | None = None,
    env: dict[str, str] | None = None,
    gpu: str | None = None,
    gpu_count: int = 1,
) -> MemoryPlan:
    """Plan the memory of each GPU for a launch, and whether it starts, by the arithmetic of a release and by the rules.

    A launch that `check` refuses has the verdict "refused", and the findings that stop it.

    Args:
        engine: The engine's id.
        argv: The words after the engine's verb; a verb in front ("vllm", "serve") is left out.
        version: A release, or a version between two known ones ("0.19.1rc1.dev328+g18013df6a"). None, or a text that is not a
            release (an image's tag, a checkout's 0.1.dev1): every release that accepts the command; the size of the KV cache is
            then an interval over them, and single figures are the newest one's.
        env: The environment.
        gpu: A name such as "gb10" or "NVIDIA H100 80GB HBM3"; None, or a name that is not known: no verdict.
        gpu_count: How many of them.

    Raises:
        ValueError: servelint has no memory arithmetic for the engine, or its developers never published the release.

    >>> plan_memory("vllm", ["vllm", "serve", "./no-such-model"], version="0.19.1", gpu="h100").verdict
    'unknown'
    """
    from servelint import memory
    from servelint.judge.start import start_plan

    if engine not in memory.PLANNED:
        raise ValueError(f"no memory plan for {engine!r}; use one of {', '.join(memory.PLANNED)}")
    verb, words = _split_verb(engine, argv)
    launch = _launch(engine, words, env, verb)
    named = version.removeprefix("v") if version is not None else None
    if named and not _orders(named):
        image = TracedText.of(f"{ENGINES[engine].images[0].repository}:{named.split()[0]}")
        launch.container = Container(image, open=True) if images.identify(image).until else None
    known = {engine: requested(engine, named)} if named is not None and _orders(named) else {}
    found, _, note = start_plan(launch, Settings(gpu=gpu, gpu_count=gpu_count, engine_versions=known))
    if note is not None:
        found.notes.append(note if named is None else note.replace("no release is named", f"{named!r} is not a release", 1))
    found.notes += [note for one in known.values() if (note := unlisted_note(engine, one))]
    return found


def _orders(version: str) -> bool:
    """Whether a version says between which releases it stands; setuptools-scm calls a checkout without tags 0.1.dev1."""
    return release_key(version) is not None and not version.startswith("0.1.dev")


def _split_verb(engine: str, argv: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """The engine's verb and the words after it, where a command begins with a verb; else the engine's usual one."""
    found = entry.find([Word(TracedText.of(word)) for word in argv])
    if found is None or found.engine != engine:
        return ENGINES[engine].command, argv
    return tuple(argv[: found.end]), argv[found.end :]


def _launch(engine: str, argv: list[str], env: dict[str, str] | None, verb: tuple[str, ...] = ()) -> Launch:
    """One launch by its engine's verb (the usual one by default), with the current directory for files that it names."""
    verb = verb or ENGINES[engine].command
    text = " ".join([*verb, *[shlex.quote(word) for word in argv]])
    source = Source("<command>", text)
    words = split(TracedText.at(source, 0, len(text)))
    count = len(verb)
    launch = Launch(
        source=source,
        engine=engine,
        verb=tuple(words[:count]),
        argv=words[count:],
        site=Span(source, 0, len(text)),
        env={name: Variable(name, TracedText.of(value), None) for name, value in (env or {}).items()},
    )
    launch.folder = "."
    return launch
