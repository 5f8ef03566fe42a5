"""What a Dockerfile says of the image it makes: whose engine it holds and which release.

Only `FROM`, `ARG`, `ENTRYPOINT` and `RUN pip install` are looked at, for the services that are built from it.
"""

from __future__ import annotations

import re

from servelint.engines import images
from servelint.interpolate import interpolate
from servelint.launch import Launch, ReleaseClaim
from servelint.readers import installs
from servelint.readers.neighbours import Neighbours
from servelint.shell.words import split
from servelint.source import Source
from servelint.text import Text, unknown

_INSTRUCTION = re.compile(
    r"^[ \t]*(FROM|ARG|RUN|ENTRYPOINT)[ \t]+((?:\\[ \t]*\r?\n(?:[ \t]*#[^\n]*\n)*|[^\n])*)",
    re.MULTILINE | re.IGNORECASE,
)
_COMMENT = re.compile(r"(?<=\n)[ \t]*#[^\n]*\n")
_HEREDOC = re.compile(r"<<-?[ \t]*[\"']?(\w+)")
_COMMAND = re.compile(r"(?:\\[ \t]*\r?\n|[^;&|'\"\n]|'[^']*'|\"[^\"]*\")+")
_ENGINE = re.compile(r"(?<![\w/-])(vllm|sglang|lmdeploy)(?![\w-])", re.IGNORECASE)


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """The launch that a Dockerfile's last stage starts."""
    del source, neighbours
    return []


def base(text: Text, given: dict[str, Text | None] | None = None, target: str | None = None) -> images.Image:
    """The image of a Dockerfile's target, which is its last stage if None is named.

    given: the build arguments that are set from outside; None where that value is not known
    """
    args: dict[str, Text] = {}
    stages: dict[str, images.Image] = {}
    current = images.Image(None, ReleaseClaim(), None)
    stage = ""
    done = 0
    for match in _INSTRUCTION.finditer(text.flat):
        if match.start() < done:
            continue  # inside a here-document
        line = text.cut(*match.span(2))
        keyword = match.group(1).upper()
        if keyword == "ARG":
            name, value = _argument(line, args, given or {})
            if value is not None:
                args[name] = value
        elif keyword == "FROM":
            words = [word for word in split(interpolate(line, args.get)) if not word.text.flat.startswith("--")]
            if not words:
                continue
            named = (words[0].value or "").lower()
            current = stages[named] if named in stages else images.identify(words[0].text)
            stage = (words[2].value or "").lower() if len(words) > 2 else ""
        elif keyword == "ENTRYPOINT":
            current = images.Image(current.engine, current.claim, None)
        else:
            heredoc = _HEREDOC.search(line.flat)
            if heredoc is not None:
                end = re.compile(rf"^[ \t]*{heredoc.group(1)}[ \t]*\r?$", re.MULTILINE).search(text.flat, match.end())
                done = end.end() if end is not None else len(text)
                line = text.cut(match.start(2), done)
            for engine, claim in _installed(line).items():
                if current.engine in (None, engine):
                    current = images.Image(engine, claim, current.entrypoint)
        if stage:
            stages[stage] = current
    return current if target is None else stages.get(target.lower(), images.Image(None, ReleaseClaim(), None))


def _argument(line: Text, args: dict[str, Text], given: dict[str, Text | None]) -> tuple[str, Text | None]:
    """A build argument and its value; None if nothing gives it one."""
    words = split(interpolate(line, args.get))
    assignment = words[0].text if words else Text(())
    name, sign, _ = assignment.flat.partition("=")
    if name in given:
        return name, given[name] or Text((unknown("${" + name + "}", line.span()),))
    return name, assignment.cut(len(name) + 1).softened() if sign else None


def _installed(run: Text) -> dict[str, ReleaseClaim]:
    """What a RUN installs, by engine; of an engine that it names in a way that is not understood, no release is known."""
    parts: list[Text] = []
    done = 0
    for comment in _COMMENT.finditer(run.flat):
        parts.append(run.cut(done, comment.start()))
        done = comment.end()
    text = Text.join([*parts, run.cut(done)])
    found: dict[str, ReleaseClaim] = {}
    rest = ""
    for command in _COMMAND.finditer(text.flat):
        words = split(text.cut(*command.span()))
        found.update(installs.claims(words))
        if not installs.is_install(words):
            rest += command.group()
    if "install" in text.flat:
        for mention in _ENGINE.finditer(rest):
            found.setdefault(mention.group(1).lower(), ReleaseClaim(None, "pip"))
    return found
