"""Values of variables that somebody has still to fill in, or that nothing fills in."""

from __future__ import annotations

import re

from servelint.engines.config import Config
from servelint.judge.parser.complaint import Complaint

_TEMPLATE = r"\{\{\s*[A-Z][A-Z0-9_]*\s*\}\}|<[A-Z][A-Z0-9_ -]*>"
_PAGES = (".md", ".mdx", ".markdown", ".ipynb")
"""Files that somebody reads: there it is the reader who fills in."""
_REFERENCE = r"\$(?:\{(\w+)\}|(\w+))"


def complaints(config: Config) -> list[Complaint]:
    found: list[Complaint] = []
    page = config.launch.source.path.lower().endswith(_PAGES)
    for name, variable in config.launch.env.items():
        site = variable.value.span() if variable.value is not None else None
        if site is None or variable.value is None:
            continue
        shown = site.text
        if not page and shown[:1] in ("{", "<") and re.fullmatch(_TEMPLATE, shown):
            message = f"{name} is {shown}: a place to fill in, and nothing here fills it in"
            found.append(Complaint("placeholder", site, message, "write the value, or take it from a secret", "to fill in"))
            continue
        reference = re.fullmatch(_REFERENCE, shown) if shown[:1] == "$" else None
        if reference is not None and _of_kubernetes(config):
            variable_name = reference.group(1) or reference.group(2)
            message = f"Kubernetes passes {shown} on as it stands: it replaces only $({variable_name}), of variables set here"
            advice = f"take {name} from a secret (valueFrom.secretKeyRef), unless envsubst or the like fills this in before"
            found.append(Complaint("env-not-expanded", site, message, advice, "not replaced by Kubernetes"))
    return found


def _of_kubernetes(config: Config) -> bool:
    """Whether the launch stands in an object of Kubernetes, whose variables nobody else interpolates."""
    return ".containers." in config.launch.name or ".initContainers." in config.launch.name
