"""Definition files of Apptainer and Singularity: what the image that they build starts.

https://apptainer.org/docs/user/latest/definition_files.html
"""

from __future__ import annotations

import re

from servelint.core.launch import Container, Launch
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.engines import images
from servelint.files.siblings import Neighbours
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext
from servelint.readers.installs import installed
from servelint.readers.registry import Format

FORMAT = Format(
    "apptainer",
    165,
    title="Apptainer definition files",
    about="the scripts of `%runscript` and `%startscript` with `%environment` and what `%post` installs",
    files=("apptainer", "singularity", "singularity.*", "*.apptainer", "*.def", "*.singularity"),
    shape=r"(?im)\A(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*bootstrap[ \t]*:[ \t]*\w",
    needs=r"(?im)^[ \t]*bootstrap[ \t]*:",
)

_HEADER = re.compile(r"(?m)^[ \t]*(?P<key>[A-Za-z]+)[ \t]*:[ \t]*(?P<value>[^\n#]*[^\s#])")
_SECTION = re.compile(r"(?m)^%(?P<name>[a-z]+)\b[^\n]*(?:\n|\Z)")
_STARTS = ("runscript", "startscript", "apprun", "appstart")
"""The sections whose script the image runs."""
_REGISTRIES = ("docker", "oras", "docker-daemon")
"""The agents that take the image of a registry."""


def read(source: Source, _: Neighbours) -> list[Launch]:
    """Read the launches of the last image that a definition file builds."""
    text = source.text
    stages = [match.start() for match in _HEADER.finditer(text) if match["key"].lower() == "bootstrap"]
    if not stages:
        return []
    sections = list(_SECTION.finditer(text, stages[-1]))
    bodies: dict[str, list[TracedText]] = {}
    for at, match in enumerate(sections):
        end = sections[at + 1].start() if at + 1 < len(sections) else len(text)
        bodies.setdefault(match["name"], []).append(TracedText.at(source, match.end(), end))
    header = {
        match["key"].lower(): TracedText.at(source, *match.span("value"))
        for match in _HEADER.finditer(text, stages[-1], sections[0].start() if sections else len(text))
    }
    base = header.get("from") if header["bootstrap"].flat.strip().lower() in _REGISTRIES else None
    image = images.identify(base) if base is not None else None
    claims = {**(image.claims if image is not None else {})}
    for body in bodies.get("post", ()):
        built = installed(body, before=claims)
        base = None if built else base
        claims.update(built)
    found: list[Launch] = []
    for name in _STARTS:
        for body in bodies.get(name, ()):
            script = TracedText.join((*bodies.get("environment", ()), body))
            container = Container(base, open=True)
            context = CommandContext(source, f"%{name}", None, {}, container, dict(claims), open_env=True)
            found += script_launches(script, context, None)
    return found
