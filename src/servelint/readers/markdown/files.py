"""A file that a page shows in a block, read as that file, with every character placed in the page."""

from __future__ import annotations

import re
from importlib import import_module

from servelint.core.launch import Launch, Variable, Word
from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.core.text import Text, unknown
from servelint.files.siblings import Neighbours
from servelint.readers import moved
from servelint.readers.markdown import placeholders
from servelint.readers.markdown.languages import DOCKERFILE, JSON, UNIT, YAML
from servelint.readers.registry import of_syntax

_NAMES = {YAML: "page.yaml", JSON: "page.json", DOCKERFILE: "Dockerfile", UNIT: "page.service", "makefile": "Makefile"}
_LEFT_OUT = re.compile(r"#[ \t]*(?:\.{3}|\u2026)[^\n]*")
"""A comment that stands for lines that the page does not show."""
_PARTIAL = "engine-config"
"""The YAML format that is not looked for in a page: a block that shows an engine's options may show a part of them."""
_MEANT = (
    (re.compile(r"[ \t]*(?:---|[\w.\"'-]+:(?:[ \t]|\r?$)|- [\w\"'-]+:)", re.MULTILINE), YAML),
    (re.compile(r"[ \t]*(?:ARG[ \t][^\n]*\n[ \t]*)*FROM[ \t]+\S", re.IGNORECASE), DOCKERFILE),
    (re.compile(r"[ \t]*\[[A-Za-z][\w: -]*\][ \t]*\r?$", re.MULTILINE), UNIT),
)
"""How the first line starts that is neither empty nor a comment."""


def kind_of(flat: str) -> str | None:
    """What file a block without a language shows, if it shows one."""
    at = 0
    while at < len(flat):
        end = flat.find("\n", at) + 1 or len(flat)
        if flat[at:end].strip() and flat[at:end].lstrip()[0] not in "#;":
            return next((kind for pattern, kind in _MEANT if pattern.match(flat, at)), None)
        at = end
    return None


def read(kind: str, text: Text, source: Source) -> list[Launch]:
    """The launches of a file that a text holds."""
    if not text.known:
        return []
    shown = Source(_NAMES.get(kind, "page"), placeholders.disguised(text.flat))
    found = moved.launches(_read(kind, shown), shown, text, source)
    left_out = _LEFT_OUT.search(text.flat)
    for launch in found:
        launch.argv = [placeholders.filled(word) for word in launch.argv]
        if left_out is not None:
            comment = unknown(left_out.group(), text.span(*left_out.span()), shown="")
            launch.argv.append(Word(Text((comment,)), many=True))
            launch.open_env = True
        launch.env = {
            name: Variable(name, placeholders.replaced(variable.value), variable.site)
            if variable.value is not None
            else variable
            for name, variable in launch.env.items()
        }
    return found


def _read(kind: str, shown: Source) -> list[Launch]:
    nowhere = Neighbours(None)
    if kind == YAML:
        return _documents(shown, nowhere)
    if kind == JSON:
        given = [one.function(one.read)(shown, nowhere) for one in of_syntax(JSON)]
        return next((launches for launches in given if launches and not isinstance(launches, Problem)), [])
    if kind == UNIT:
        kind = "supervisor" if "[program:" in shown.text else "systemd"
    found: list[Launch] = import_module(f"servelint.readers.{kind}").read(shown, nowhere)
    # an image that is only built upon is no launch that the page shows
    return (
        [launch for launch in found if launch.verb or any(word.shown for word in launch.argv)] if kind == DOCKERFILE else found
    )


def _documents(shown: Source, nowhere: Neighbours) -> list[Launch]:
    from servelint.readers import read_documents
    from servelint.syntax import yaml

    documents, _ = yaml.documents(shown)
    formats = [one for one in of_syntax(YAML) if one.name != _PARTIAL]
    return [launch for document in documents for launch in read_documents(shown, [document], nowhere, formats)[0]]
