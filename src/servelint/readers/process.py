"""A command that is about to run: its argv as given, which no shell reads again, and the whole environment that it gets."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping

from servelint.core.launch import Launch, OpenedFile, ReleaseClaim, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import Piece, TracedText
from servelint.engines import entry, installed
from servelint.files.siblings import Neighbours
from servelint.readers import commands, containers
from servelint.readers.commands import WRAPPERS, launches
from servelint.readers.context import CommandContext, env_file
from servelint.syntax.shell.words import split

_WIDTH = 100
_PLAIN = frozenset((
    "catchsegv", "chrt", "dumb-init", "env", "gosu", "ionice", "nice", "nohup", "numactl", "opentelemetry-instrument", "setsid",
    "stdbuf", "su-exec", "taskset", "time", "timeout", "tini",
))  # fmt: skip
"""Wrappers after which the command finds the same files and programs as before them."""
_OTHERS = (WRAPPERS | commands.TEXTS | commands.SHELLS | frozenset(containers.TOOLS)) - _PLAIN
_ELSEWHERE = r"-C|--chdir(?:=.*)?|-S|--split-string(?:=.*)?|-i|-|--ignore-environment|PATH=.*|PYTHON[A-Z]+=.*"
"""Options of `env` after which it does not."""
_FIRST = r"(?:\A|[\n;&|({'\"]|\b(?:exec|then|else|do|time|nohup)\s)\s*(?:\w+=[^\s;&|]*\s+)*\Z"
"""What stands before a command of a script that nothing wraps."""
_SOURCED = r"(?:\A|[\s;&|('\"])(?:\.|source|eval|conda|mamba|micromamba|module)\s"
"""Commands of a script that may replace the PATH that is known."""


def read(argv: list[str], environ: Mapping[str, str], releases: Mapping[str, str]) -> tuple[Source, list[Launch]]:
    """Find the launches of a command.

    Files are looked for as the command would: from the current folder, programs in PATH.

    Args:
        argv: The command.
        environ: Its environment.
        releases: Releases of engines that the user names. For other engines the installed one is looked for.

    Returns:
        The command as a text in which findings have their places, and the launches.
    """
    source, words = _words(argv)
    env = _variables(environ)
    neighbours = Neighbours(".")

    def opened(path: TracedText) -> OpenedFile | None:
        name = path.value
        if name is None or not name:
            return None
        # a program without a folder is one of PATH; any other file is one of the current folder
        found = (
            shutil.which(name, path=environ.get("PATH", os.defpath)) if name == argv[0] and not os.path.dirname(name) else name
        )
        beside = neighbours.read(found) if found is not None else None
        if beside is None or found is None:
            return None
        below = found if os.path.isabs(found) else f"./{found}"
        return OpenedFile(TracedText.at(beside, 0, len(beside.text)), below, True, neighbours.read)

    found = launches(words, CommandContext(source, env=env, env_file=env_file(neighbours), open=opened))
    for launch in found:
        if launch.container is not None:
            continue
        if _is_direct(launch, words):
            launch.folder = os.curdir
        elif not _is_first(launch):
            continue
        unknown = launch.release.release is None and launch.engine not in releases
        if unknown and launch.env.get("PATH") is env.get("PATH"):
            program = launch.verb[0].value
            release = installed.release(launch.engine, program, environ) if program is not None else None
            if release:
                launch.release = ReleaseClaim(release, "pip")
    return source, found


def _words(argv: list[str]) -> tuple[Source, list[Word]]:
    """The argv written as a shell would take it, an option a line where that is long, and its words with their places."""
    quoted = [shlex.quote(arg) for arg in argv]
    long = len(" ".join(quoted)) > _WIDTH
    parts: list[str] = []
    starts: list[int] = []
    at = 0
    for index, part in enumerate(quoted):
        before = "" if index == 0 else " \\\n  " if long and argv[index].startswith("--") else " "
        starts.append(at + len(before))
        parts += [before, part]
        at += len(before) + len(part)
    source = Source("command", "".join(parts))
    words: list[Word] = []
    for arg, part, start in zip(argv, quoted, starts, strict=True):
        site = Span(source, start, start + len(part))
        if part == arg:
            text = _given(TracedText.at(source, site.start, site.end))
        elif "'" not in arg:
            text = _given(TracedText.at(source, site.start + 1, site.end - 1))
        else:
            text = _given(TracedText.join([word.text for word in split(TracedText.at(source, site.start, site.end))]))
        words.append(Word(text, site))
    return source, words


def _variables(environ: Mapping[str, str]) -> dict[str, Variable]:
    """The environment as variables with places in a text that shows it, a line each."""
    names = sorted([name for name in environ if name.isidentifier()])
    source = Source("environment", "".join([f"{name}={environ[name]}\n" for name in names]))
    found: dict[str, Variable] = {}
    at = 0
    for name in names:
        end = at + len(name) + 1 + len(environ[name])
        found[name] = Variable(name, _given(TracedText.at(source, at + len(name) + 1, end)), Span(source, at, end))
        at = end + 1
    return found


def _given(text: TracedText) -> TracedText:
    """Text of a caller: a secret in it is in no file that servelint reads."""
    return TracedText([Piece(one.text, one.span, verbatim=one.verbatim, origin=one.span) for one in text.pieces])


def _is_direct(launch: Launch, words: list[Word]) -> bool:
    """Whether the engine is started by the command itself, at most behind wrappers that leave folder and PATH alone."""
    at = next((index for index, word in enumerate(words) if launch.verb and word is launch.verb[0]), None)
    if at is None or launch.open_env:
        return False
    before = words[:at]
    if not before:
        return True
    names = [entry.program(word) for word in before]
    return names[0] in _PLAIN and not any(
        name in _OTHERS or re.fullmatch(_ELSEWHERE, word.text.flat) for name, word in zip(names, before, strict=True)
    )


def _is_first(launch: Launch) -> bool:
    """Whether a script starts the engine with nothing before it that may lead to another one."""
    site = launch.verb[0].site if launch.verb else None
    if site is None or launch.open_env or launch.verb[0].text.written is None:
        return False
    before = site.source.text[: site.start]
    return re.search(_FIRST, before[-500:]) is not None and re.search(_SOURCED, before) is None
