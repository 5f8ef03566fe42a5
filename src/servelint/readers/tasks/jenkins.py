"""Jenkins pipelines: the `sh` steps of a Jenkinsfile, with the variables of its `environment` blocks."""

from __future__ import annotations

import re
from bisect import bisect_right

from servelint.core.launch import Launch, Variable
from servelint.core.source import Source
from servelint.core.text import EMPTY, TracedText
from servelint.files.siblings import Neighbours
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext
from servelint.readers.registry import Format

FORMAT = Format(
    "jenkins",
    193,
    title="Jenkinsfile",
    about="`sh` steps, `environment`",
    files=("Jenkinsfile", "Jenkinsfile.*", "*.Jenkinsfile", "*.jenkins"),
    unnamed=r"(?m)^[ \t]*pipeline[ \t]*\{",
    languages=("jenkinsfile",),
)

_STRING = r"(?P<quote>'''|\"\"\"|'|\")(?P<body>(?:\\.|(?!(?P=quote)).)*)(?P=quote)"
_NAMED = r"(?:\w+\s*:\s*(?:\w+|'[^'\n]*'|\"[^\"\n]*\")\s*,\s*)*(?:script\s*:\s*)?"
_PARTS = re.compile(rf"//[^\n]*|/\*.*?(?:\*/|\Z)|(?P<step>(?<![\w.])sh[ \t]*\(?\s*{_NAMED})?{_STRING}", re.DOTALL)
_ENVIRONMENT = re.compile(r"\benvironment\s*\{([^{}]*)\}")
_SET = re.compile(r"(?:^|(?<=[\n;]))\s*(?:def\s+|final\s+|String\s+)?(?P<name>[A-Za-z_]\w*)\s*=(?![=~])\s*(?P<value>[^\n;]*)")
_LITERAL = re.compile(r"(?P<quote>['\"])([^'\"$\\\n]*)(?P=quote)\s*(?://.*)?$")
_USED = re.compile(r"(?<!\\)\$(?:\{(?:env\.)?(\w+)\}|\{[^{}\n]*\}|(?:env\.)?([A-Za-z_]\w*))")
_ESCAPED = re.compile(r"\\(?:(\r?\n)|(.))")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the shell steps. An agent may set more variables than the file shows."""
    text = TracedText.at(source, 0, len(source.text))
    parts = list(_PARTS.finditer(text.flat))
    values = _values(text, parts)
    whole = _ENVIRONMENT.search(text.flat)  # one of a stage is not that of the others
    start, end = whole.span(1) if whole is not None and "stages" not in text.flat[: whole.start()] else (0, 0)
    env = {name: Variable(name, value, value.span()) for name, (value, at) in values.items() if start <= at < end}
    found: list[Launch] = []
    for match in parts:
        if match["step"] is None:
            continue
        body = text.cut(*match.span("body"))
        if match["quote"][0] == '"':
            body = body.sub(_USED, lambda used, body=body: _filled(used, body, values))  # type: ignore[misc]
        context = CommandContext(source, env=env, open_env=True, files=neighbours.read)
        found += script_launches(body.sub(_ESCAPED, _unescaped), context, None)
    return found


def _values(text: TracedText, parts: list[re.Match[str]]) -> dict[str, tuple[TracedText, int]]:
    """The variables that the file sets once, each with its place; one that is not a plain string is unknown."""
    found: dict[str, tuple[TracedText, int]] = {}
    starts = [part.start() for part in parts]
    for match in _SET.finditer(text.flat):
        before = bisect_right(starts, match.start("name")) - 1
        if before >= 0 and parts[before].end() > match.start("name"):
            continue  # in a string or a comment
        literal = _LITERAL.match(text.flat, *match.span("value"))
        value = text.cut(*literal.span(2)) if literal is not None and match["name"] not in found else text.unknown(match)
        found[match["name"]] = value, match.start()
    return found


def _filled(used: re.Match[str], body: TracedText, values: dict[str, tuple[TracedText, int]]) -> TracedText:
    value = values.get(used.group(1) or used.group(2) or "")
    known = value is not None and value[0].known
    return value[0] if value is not None and known else body.unknown(used)


def _unescaped(match: re.Match[str]) -> TracedText | None:
    if match.group(1):
        return EMPTY
    return TracedText.of(_ESCAPES.get(match.group(2), match.group(2)))
