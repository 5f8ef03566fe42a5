"""Checks of the parameters of Ollama's Modelfiles, against what a release knows: FormatParams in api/types.go."""

from __future__ import annotations

import re

from servelint.engines.config import Config
from servelint.judge.parser.view import misspelt

_KIND = "modelfile-parameters"
_FORMS = {
    "int": (r"[-+]?[0-9]+", "a whole number"),
    "float": (r"(?i)[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|[-+]?inf(?:inity)?|nan", "a number"),
    "bool": (r"1|t|T|TRUE|true|True|0|f|F|FALSE|false|False", "true or false"),
}


def _parameter(config: Config) -> tuple[str, str] | None:
    """The name and the value of a PARAMETER; None for another instruction, and for one that a template fills in."""
    name, value = (config.operand("env." + one) for one in ("PARAMETER", "PARAMETER_VALUE"))
    if config.launch.launcher != "modelfile" or name.text is None or value.text is None:
        return None
    if not (name.text.known and value.text.known):
        return None
    return name.text.flat, value.text.flat


def unknown(config: Config) -> dict[str, str] | None:
    """A parameter that no release knows, and what to write instead."""
    given, known = _parameter(config), config.names(_KIND)
    if given is None or known is None or given[0] in (config.names(_KIND, ever=True) or ()):
        return None
    close = misspelt(given[0], known)
    return {
        "name": given[0],
        "instead": f"did you mean {close}?" if close else "delete it; docs/modelfile.mdx lists the parameters",
    }


def refused_value(config: Config) -> dict[str, str] | None:
    """A value that cannot be read as the type of its parameter."""
    given = _parameter(config)
    named = config.named(_KIND, given[0]) if given is not None else None
    if given is None or named is None or not named.here:
        return None
    form = _FORMS.get(named.body.get("type", ""))
    if form is None or re.fullmatch(form[0], given[1]) is not None:
        return None
    return {"name": given[0], "value": given[1], "wanted": form[1]}


def given_model(config: Config) -> dict[str, str] | None:
    """Hold for a model that a Modelfile names."""
    return {} if config.launch.launcher == "modelfile" else None
