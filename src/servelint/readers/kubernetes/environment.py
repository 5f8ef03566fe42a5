"""The variables of a container: `envFrom`, then `env`, which wins, as the kubelet merges them."""

from __future__ import annotations

import re

from servelint.core.launch import Launch, Variable
from servelint.core.text import Text, unknown
from servelint.readers.kubernetes.objects import File, hidden, listed, section, string
from servelint.readers.kubernetes.references import expand
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries

_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_INJECTED = "<valueFrom>"


class Environment:
    """What reaches a container.

    variables: name -> variable, in the order in which they are set; one from a Secret or a field of the pod has no value
    open:      more variables may be set than the file shows
    """

    __slots__ = ("open", "variables")

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.open = False


def of_container(file: File, fields: Entries) -> Environment:
    """The environment that a container's `envFrom` and `env` give it."""
    environment = Environment()
    environment.open = hidden(fields, "env", "envFrom")
    for item in listed(fields, "envFrom"):
        _from(file, yaml.entries(item), environment)
    for name, (key, value) in section(fields, "env").items():
        # what some operators take: a mapping
        if yaml.items(value) is None and not yaml.is_mapping(value):
            text = expand(yaml.text(file.source, value), environment.variables.get)
            environment.variables[name] = Variable(name, text, yaml.span(file.source, key))
    for item in listed(fields, "env"):
        _one(file, yaml.entries(item), environment)
    return environment


def _from(file: File, source: Entries, environment: Environment) -> None:
    """One item of `envFrom`: the ConfigMap's or Secret's data where it stands in this file."""
    prefix = string(source, "prefix") or ""
    for field, known in (("configMapRef", file.config_maps), ("secretRef", file.secrets)):
        if field not in source:
            continue
        data = known.get(string(section(source, field), "name") or "")
        environment.open = environment.open or data is None or known is file.secrets
        for key, value in (data or {}).items():
            name = prefix + key
            if _NAME.fullmatch(name):
                environment.variables[name] = Variable(name, value, value.span())


def _one(file: File, fields: Entries, environment: Environment) -> None:
    name = string(fields, "name")
    if name is None:
        environment.open = True  # a template, or a patch's directive
        return
    site = yaml.span(file.source, fields["name"][1])
    value: Text | None = Text(())
    if "valueFrom" in fields:
        value = _referred(file, section(fields, "valueFrom"))
    elif "value" in fields and not yaml.is_null(fields["value"][1]):
        value = expand(yaml.text(file.source, fields["value"][1]), environment.variables.get)
    environment.variables.pop(name, None)
    environment.variables[name] = Variable(name, value, site)


def _referred(file: File, source: Entries) -> Text | None:
    """The value of a `valueFrom`, where the ConfigMap or Secret stands in this file."""
    for field, known in (("configMapKeyRef", file.config_maps), ("secretKeyRef", file.secrets)):
        reference = section(source, field)
        if reference:
            return known.get(string(reference, "name") or "", {}).get(string(reference, "key") or "")
    return None


def show_injected(launch: Launch, environment: Environment) -> None:
    """Give the variables whose value only the cluster knows a text that says so, now that no script reads it any more."""
    for name, variable in launch.env.items():
        if variable.value is None and environment.variables.get(name) is variable:
            piece = unknown(_INJECTED, None, shown=_INJECTED)
            launch.env[name] = Variable(name, Text((piece,)), variable.site)
