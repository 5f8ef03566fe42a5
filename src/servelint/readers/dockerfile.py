"""What a Dockerfile says of the image it makes: whose engine it holds and which release.

Only `FROM`, `ARG` and `RUN pip install` are looked at, for the services that are built from it.
"""

from __future__ import annotations

import re

from servelint.engines import images
from servelint.interpolate import interpolate
from servelint.launch import ReleaseClaim
from servelint.readers import installs
from servelint.shell.words import split
from servelint.source import Source
from servelint.text import Text

_INSTRUCTION = re.compile(
    r"^[ \t]*(FROM|ARG|RUN|ENTRYPOINT)[ \t]+((?:[^\\\n]|\\[^\n]|\\[ \t]*\n(?:[ \t]*#[^\n]*\n)*)*)",
    re.MULTILINE | re.IGNORECASE,
)
_COMMAND = re.compile(r"(?:[^;&|'\"]|'[^']*'|\"[^\"]*\")+")


def base(source: Source) -> images.Image:
    """The image of the last stage."""
    args: dict[str, Text] = {}
    stages: dict[str, images.Image] = {}
    current = images.Image(None, ReleaseClaim(), None)
    stage = ""
    for match in _INSTRUCTION.finditer(source.text):
        text = Text.at(source, match.start(2), match.end(2))
        keyword = match.group(1).upper()
        if keyword == "ARG":
            name, sign, _ = text.flat.partition("=")
            if sign:
                args[name.strip()] = interpolate(text.cut(len(name) + 1).strip(), args.get).softened()
        elif keyword == "FROM":
            words = [word for word in split(interpolate(text, args.get)) if not word.text.flat.startswith("--")]
            if not words:
                continue
            named = words[0].value
            current = stages[named] if named in stages else images.identify(words[0].text)
            stage = words[2].value or "" if len(words) > 2 else ""
        elif keyword == "ENTRYPOINT":
            current = images.Image(current.engine, current.claim, None)
        else:
            for command in _COMMAND.finditer(text.flat):
                for engine, claim in installs.claims(split(text.cut(command.start(), command.end()))).items():
                    current = images.Image(engine, claim, current.entrypoint)
        if stage:
            stages[stage] = current
    return current
