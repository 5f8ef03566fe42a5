"""Dockerfiles as launches: what the image starts that a file makes, with the variables and the release that it brings."""

from __future__ import annotations

import re

from servelint.core.launch import Container, Launch, OpenedFile, Word
from servelint.core.source import Source, Span
from servelint.core.text import Text, unknown
from servelint.engines import entry
from servelint.files.siblings import Neighbours
from servelint.readers.commands import launches
from servelint.readers.containers import in_container
from servelint.readers.dockerfile_stages import Command, Stage, base, stage, stages
from servelint.readers.place import Place

__all__ = ["base", "launches_of", "read", "stage"]

_INITS = frozenset(("tini", "dumb-init", "catatonit", "docker-init"))
_PROGRAM = re.compile(
    r"python[\d.]*|.*\.(?:py|sh|bash)|uvicorn|gunicorn|fastapi|supervisord|nginx|node|npm|ray|jupyter(?:-lab)?|sleep|tail"
)
"""What a command starts rather than gives to an engine, whatever entry point its author took the base image to have."""


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """The launches of the images that a Dockerfile makes: of its last stage, and of other targets that start something else."""
    return launches_of(Text.at(source, 0, len(source.text)), source, neighbours)


def launches_of(text: Text, source: Source, neighbours: Neighbours) -> list[Launch]:
    """The launches of a text that is a Dockerfile: a whole source, or a part of it."""
    found = stages(text)
    used = {one.parent.number for one in found if one.parent is not None} | {number for one in found for number in one.copies}
    started: list[Launch] = []
    seen: set[tuple[int, int]] = set()
    for one in reversed(found):
        if one is not found[-1] and one.number in used:
            continue
        site = _site(one)
        if site is not None and (site.start, site.end) not in seen:
            seen.add((site.start, site.end))
            started[:0] = _started(one, site, found, source, neighbours, "" if one is found[-1] else one.name)
    return started


def _site(one: Stage) -> Span | None:
    """From the instruction that names the program to the end of what is started; None where the file starts nothing."""
    commands = [command for command in (one.entrypoint, one.cmd) if command is not None and command.words]
    given = [command.site for command in commands if command.site is not None]
    if not given or any(command.cut for command in commands):
        return None
    return Span(given[0].source, given[0].start, max(site.end for site in given))


def _started(
    one: Stage, site: Span, all_stages: list[Stage], source: Source, neighbours: Neighbours, name: str
) -> list[Launch]:
    entrypoint, cmd = one.entrypoint, one.cmd
    command = cmd.words if cmd is not None else []
    if entrypoint is not None and entrypoint.exec and entrypoint.words and not command:
        command = [_arguments(entrypoint)]

    def opened(path: Text) -> OpenedFile | None:
        from servelint.readers import dockerfile_files

        return dockerfile_files.opened(one, all_stages, path, neighbours)

    # an engine that is installed here is nobody's build of it: the image below says nothing of it
    installed = one.origin.engine is None and one.image.engine is not None
    container = Container(None if installed else one.reference, open=True)
    place = Place(source, name, site, dict(one.env), container, dict(one.claims), open=opened)
    if entrypoint is None:
        program = entry.program(command[0]) if command else None
        if program is not None and _PROGRAM.fullmatch(program):
            return launches(command, place)
        return in_container(None, command, one.origin, place)
    words = _unwrapped([*entrypoint.words, *command])
    found = in_container(words, [], one.origin, place)
    if not found and cmd is not None and _passes_on(entrypoint):
        found = launches(command, place)
    return found


def _arguments(entrypoint: Command) -> Word:
    """What the image is given when it is run: an entry point without a command waits for it."""
    return Word(Text((unknown('"$@"', entrypoint.site, shown=""),)), entrypoint.site, many=True)


def _unwrapped(words: list[Word]) -> list[Word]:
    """The words behind an init process: `tini -g -- /start.sh`."""
    at = 0
    while at < len(words) and entry.program(words[at]) in _INITS:
        at += 1
        while at < len(words) and words[at].text.flat.startswith("-"):
            at += 1
    return words[at:] if 0 < at < len(words) else words


def _passes_on(entrypoint: Command) -> bool:
    """Whether an entry point is a script of its own that most likely ends in `exec "$@"`."""
    words = _unwrapped(entrypoint.words)
    return entrypoint.exec and len(words) == 1 and (entry.program(words[0]) or "").endswith((".sh", "entrypoint"))
