"""What readers of recipes share: files of commands that a shell runs after another program has filled in its own variables."""

from __future__ import annotations

from servelint.core.launch import Launch, ReleaseClaim, Variable
from servelint.core.source import Span
from servelint.core.text import Text
from servelint.files.siblings import Neighbours
from servelint.readers import installs
from servelint.readers.place import EnvFile
from servelint.syntax import dotenv


def env_file(neighbours: Neighbours) -> EnvFile:
    """Reads an env file beside the file."""

    def read(path: str) -> dict[str, Variable] | None:
        beside = neighbours.read(path)
        if beside is None:
            return None
        return {name: Variable(name, value, value.span()) for name, value in dotenv.parse(beside).items()}

    return read


def installed(script: Text, environment: dict[str, Text] | None = None) -> dict[str, ReleaseClaim]:
    """engine -> release for each engine that a script installs. environment: variables that are set before it starts"""
    if "install" not in script.flat and "add" not in script.flat:
        return {}
    from servelint.syntax.shell.evaluate import Invocation, evaluate

    found: dict[str, ReleaseClaim] = {}

    def on_command(ran: Invocation) -> dict[str, ReleaseClaim]:
        found.update(installs.claims(ran.words))
        return {}

    evaluate(script, on_command, environment=environment)
    return found


def inside(site: Span, line: Text) -> Span:
    """A launch's place within the line that makes it: the value of a variable stands elsewhere."""
    own = line.strip().extent()
    if own is None or (site.source is own.source and own.start <= site.start and site.end <= own.end):
        return site
    if site.source is own.source and own.start <= site.start < own.end:
        return Span(own.source, site.start, own.end)
    return own


def named(found: list[Launch]) -> list[Launch]:
    """The launches of one program or recipe; its name is left off where it stands for several commands."""
    if len({(launch.site.start, launch.site.end) for launch in found}) > 1:
        for launch in found:
            launch.name = ""
    return found
