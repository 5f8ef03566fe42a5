"""Recipes that are templates of a command: `command` names settings in braces, `defaults` gives them.

The braces are those of Python's `format`: a brace that is meant is written twice. A default is what a run takes that is told
nothing else.
"""

from __future__ import annotations

import re

from servelint.core.launch import Container, Launch
from servelint.core.source import Source
from servelint.core.text import Piece, Text, unknown
from servelint.engines import images
from servelint.readers.place import Place
from servelint.readers.tasks.values import environment, optional, run, section, verbatim
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

_BRACES = re.compile(r"\{\{|\}\}|\{(?P<name>[A-Za-z_][\w.]*)\}")


def is_mine(source: Source, document: Node) -> bool:
    del source
    fields = yaml.entries(document)
    return (
        "command" in fields
        and yaml.scalar(fields["command"][1]) is not None
        and "defaults" in fields
        and (yaml.is_mapping(fields["defaults"][1]) or yaml.is_null(fields["defaults"][1]))
        and ("recipe_version" in fields or "container" in fields or "model" in fields)
    )


def launches(source: Source, document: Node) -> list[Launch]:
    fields = yaml.entries(document)
    given = {
        name: verbatim(source, value)
        for name, (_, value) in section(fields, "defaults").items()
        if yaml.scalar(value) is not None
    }
    model = optional(source, fields, "model")
    if model is not None:
        given.setdefault("model", model)
    named = optional(source, fields, "container", "image")
    image = images.identify(named) if named is not None else None
    env = environment(source, fields["env"][1]) if "env" in fields else {}
    container = Container(named, open=True) if named is not None else None
    place = Place(source, "command", None, env, container, image.claims if image is not None else {})
    return run(_formatted(verbatim(source, fields["command"][1]), given), place, {})


def _formatted(template: Text, given: dict[str, Text]) -> Text:
    parts: list[Text] = []
    done = 0
    for match in _BRACES.finditer(template.flat):
        span = template.span(*match.span())
        if match["name"] is None:
            value = Text((Piece(match.group()[0], span),))
        else:
            known = given.get(match["name"])
            value = known.placed(span, assumed=True) if known is not None else Text((unknown(match.group(), span),))
        parts += [template.cut(done, match.start()), value]
        done = match.end()
    return Text.join([*parts, template.cut(done)])
