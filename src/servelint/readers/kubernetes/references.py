"""`$(NAME)` in `command`, `args` and the values of `env`, as Kubernetes replaces it.

The grammar is that of k8s.io/kubernetes third_party/forked/golang/expansion: `$$` is a dollar, everything up to the next `)` is
the name, and what no variable is called stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.launch import Variable
from servelint.core.text import Piece, Text, unknown

Lookup = Callable[[str], "Variable | None"]

_LENGTH_AT_MOST = 50_000
_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_TEMPLATE = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_][^{}\n]*\})")
"""What a tool that fills in manifests (envsubst, Flux) replaces before Kubernetes sees it."""


def no_variable(name: str) -> Variable | None:
    """A lookup that knows none."""
    del name
    return None


def expand(text: Text, lookup: Lookup, *, script: bool = False) -> Text:
    """The text with its references replaced.

    A name that no variable has is unknown: a controller may add the variable. In a script it stays, as it is one that the shell
    would run; so do `$NAME` and `${NAME}`, which elsewhere are unknown.
    """
    flat = text.flat
    at = flat.find("$")
    if at == -1:
        return text
    last = flat.rfind(")")
    parts: list[Text] = []
    done = grown = 0
    while at != -1:
        end, value = at + 1, None
        following = flat[at + 1 : at + 2]
        if following == "$":
            end = at + 2
            value = Text((Piece("$", text.span(at, end)),))
        elif following == "(" and at < last:
            end = flat.index(")", at) + 1
            value = _value(text, at, end, lookup, script)
        elif not script and (template := _TEMPLATE.match(flat, at)) is not None:
            end = template.end()
            value = Text((unknown(template.group(), text.span(at, end)),))
        if value is not None:
            parts += [text.cut(done, at), value]
            done = end
            grown += len(value)
            if grown > _LENGTH_AT_MOST:
                return Text((unknown("$(...)", text.span()),))  # values of values that double each time
        at = flat.find("$", end)
    return Text.join([*parts, text.cut(done)])


def _value(text: Text, at: int, end: int, lookup: Lookup, script: bool) -> Text | None:
    """What stands for the reference between two offsets; None if it stays as it is."""
    name = text.flat[at + 2 : end - 1]
    variable = lookup(name)
    if variable is None and (script or _NAME.fullmatch(name) is None):
        return None
    if variable is None or variable.value is None:
        return Text((unknown(f"$({name})", text.span(at, end)),))
    # in a script the words must stand in order; elsewhere the value is what a reader would change
    return variable.value.placed(text.span(at, end)) if script else variable.value
