"""What reaches a container: the variables of `envFrom` and `env`, `$(NAME)` in its words, and the files that ConfigMaps hold.

`$(NAME)` has the grammar of k8s.io/kubernetes third_party/forked/golang/expansion: `$$` is a dollar, everything up to the next
`)` is the name, and what no variable is called stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.launch import Launch, OpenedFile, Variable
from servelint.core.text import Piece, TracedText, unknown
from servelint.readers.kubernetes.objects import File, hidden, listed, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, section

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
    for field, known in (("configMapRef", file.config_map), ("secretRef", file.secrets.get)):
        if field not in source:
            continue
        called = string(section(source, field), "name") or ""
        data = known(called)
        # an overlay may add keys to what another file holds
        environment.open = environment.open or called not in file.config_maps or field == "secretRef"
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
    value: TracedText | None = TracedText(())
    if "valueFrom" in fields:
        value = _referred(file, section(fields, "valueFrom"))
    elif "value" in fields and not yaml.is_null(fields["value"][1]):
        value = expand(yaml.text(file.source, fields["value"][1]), environment.variables.get)
    environment.variables.pop(name, None)
    environment.variables[name] = Variable(name, value, site)


def _referred(file: File, source: Entries) -> TracedText | None:
    """The value of a `valueFrom`, where the ConfigMap or Secret stands in this file."""
    for field, known in (("configMapKeyRef", file.config_map), ("secretKeyRef", file.secrets.get)):
        if reference := section(source, field):
            return (known(string(reference, "name") or "") or {}).get(string(reference, "key") or "")
    return None


def show_injected(launch: Launch, environment: Environment) -> None:
    """Give the variables whose value only the cluster knows a text that says so, once no script reads it."""
    for name, variable in launch.env.items():
        if variable.value is None and environment.variables.get(name) is variable:
            piece = unknown(_INJECTED, None, shown=_INJECTED)
            launch.env[name] = Variable(name, TracedText((piece,)), variable.site)


Lookup = Callable[[str], "Variable | None"]

_LENGTH_AT_MOST = 50_000
_TEMPLATE = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_][^{}\n]*\})")
"""What a tool that fills in manifests (envsubst, Flux) replaces before Kubernetes sees it."""


def no_variable(_name: str) -> Variable | None:
    """A lookup that knows none."""
    return None


def expand(text: TracedText, lookup: Lookup, *, script: bool = False) -> TracedText:
    """The text with its references replaced.

    A name that no variable has is unknown: a controller may add the variable. In a script it stays, as it is one that the shell
    would run; so do `$NAME` and `${NAME}`, which elsewhere are unknown.
    """
    flat = text.flat
    at = flat.find("$")
    if at == -1:
        return text
    last = flat.rfind(")")
    parts: list[TracedText] = []
    done = grown = 0
    while at != -1:
        end, value = at + 1, None
        following = flat[at + 1 : at + 2]
        if following == "$":
            end = at + 2
            value = TracedText((Piece("$", text.span(at, end)),))
        elif following == "(" and at < last:
            end = flat.index(")", at) + 1
            value = _value(text, at, end, lookup, script)
        elif not script and (template := _TEMPLATE.match(flat, at)) is not None:
            end = template.end()
            value = TracedText((unknown(template.group(), text.span(at, end)),))
        if value is not None:
            parts += [text.cut(done, at), value]
            done = end
            grown += len(value)
            if grown > _LENGTH_AT_MOST:
                return TracedText((unknown("$(...)", text.span()),))  # values of values that double each time
        at = flat.find("$", end)
    return TracedText.join([*parts, text.cut(done)])


def _value(text: TracedText, at: int, end: int, lookup: Lookup, script: bool) -> TracedText | None:
    """What stands for the reference between two offsets; None if it stays as it is."""
    name = text.flat[at + 2 : end - 1]
    variable = lookup(name)
    if variable is None and (script or _NAME.fullmatch(name) is None):
        return None
    if variable is None or variable.value is None:
        return TracedText((unknown(f"$({name})", text.span(at, end)),))
    # in a script the words must stand in order; elsewhere the value is what a reader would change
    return variable.value.placed(text.span(at, end)) if script else variable.value


def opener(file: File, pod: Entries, fields: Entries) -> Callable[[TracedText], OpenedFile | None] | None:
    """Opens the mounted files by their path in the container; None if there are none."""
    if "volumeMounts" not in fields or not _shows_config_map(pod):
        return None
    places = [yaml.entries(item) for item in listed(fields, "volumeMounts")]

    def opened(path: TracedText) -> OpenedFile | None:
        for mount in places:
            if (found := _mounted(file, pod, mount, path.value or "")) is not None:
                return OpenedFile(found, path.flat, True, None)
        return None

    return opened


def _shows_config_map(pod: Entries) -> bool:
    """Whether a volume of a pod holds a ConfigMap."""
    volumes = [yaml.entries(item) for item in listed(pod, "volumes")]
    return any("configMap" in volume or "projected" in volume for volume in volumes)


def _mounted(file: File, pod: Entries, mount: Entries, path: str) -> TracedText | None:
    """The file of a ConfigMap that a mount shows at a path."""
    folder, below = (string(mount, "mountPath") or "").rstrip("/"), string(mount, "subPath")
    if not folder or not (path == folder if below is not None else path.startswith(folder + "/")):
        return None
    name = below if below is not None else path[len(folder) + 1 :]
    for item in listed(pod, "volumes"):
        volume = yaml.entries(item)
        if string(volume, "name") != string(mount, "name"):
            continue
        sources = [volume, *[yaml.entries(one) for one in listed(section(volume, "projected"), "sources")]]
        for source in sources:
            config_map = section(source, "configMap")
            key = _key(config_map, name)
            held = (file.config_map(string(config_map, "name") or "") or {}).get(key or "") if config_map else None
            if held is not None:
                return held
    return None


def _key(config_map: Entries, path: str) -> str | None:
    """The key of a ConfigMap that a volume shows at a path below it."""
    if "items" not in config_map:
        return path
    for item in listed(config_map, "items"):
        fields = yaml.entries(item)
        if string(fields, "path") == path:
            return string(fields, "key")
    return None
