"""Quadlet's `.container` units: the `podman run` that podman's generator makes of one."""

from __future__ import annotations

from servelint.core.launch import Launch, Variable, Word
from servelint.core.text import Text, unknown
from servelint.readers.commands import launches
from servelint.readers.place import Place
from servelint.readers.systemd import Service, merged
from servelint.syntax import json, units
from servelint.syntax.units import Setting, parse

_OPTIONS = (
    ("AddDevice", "--device"),
    ("ShmSize", "--shm-size"),
    ("PublishPort", "--publish"),
    ("Volume", "--volume"),
    ("Mount", "--mount"),
    ("Tmpfs", "--tmpfs"),
    ("Network", "--network"),
    ("Pod", "--pod"),
    ("HealthCmd", "--health-cmd"),
    ("HealthInterval", "--health-interval"),
    ("HealthRetries", "--health-retries"),
    ("HealthStartPeriod", "--health-start-period"),
)
"""Settings of which the generator makes an option with the same value."""


def read(service: Service, settings: list[Setting]) -> list[Launch]:
    """The launches of the container. service: the unit's `[Service]`, whose variables systemd fills in."""
    last = {setting.key: setting for setting in settings if setting.value.flat}
    if "Image" not in last:
        return []
    entrypoint = _entrypoint(last.get("Entrypoint"))
    exec_words = _words(service, last["Exec"].value) if "Exec" in last else []
    command: list[Word] = [_made("podman"), _made("run")]
    for setting in _listed(settings, "EnvironmentFile"):
        command += [_made("--env-file"), Word(_base(setting.value))]
    for setting in _listed(settings, "Environment"):
        for variable in units.assignments(setting.value):
            command += [_made("--env"), _assignment(service, variable)]
    for key, option in _OPTIONS:
        for setting in _listed(settings, key):
            command += [_made(option), Word(setting.value)]
    for setting in _listed(settings, "PodmanArgs"):
        command += _words(service, setting.value)
    if entrypoint:
        command += [_made("--entrypoint"), entrypoint[0]]
    command += [Word(_image(service, last["Image"].value)), *entrypoint[1:], *exec_words]
    start = last.get("Exec") or last.get("Entrypoint") or last["Image"]
    place = Place(service.source, site=start.site, env=service.env, env_file=service.env_file, open_env=service.open_env)
    found = launches(command, place)
    for launch in found:
        launch.cut = start.cut
    return found


def _made(text: str) -> Word:
    return Word(Text.of(text))


def _listed(settings: list[Setting], key: str) -> list[Setting]:
    """The settings of a list; an empty one takes back those before it."""
    found: list[Setting] = []
    for setting in settings:
        if setting.key == key:
            found.append(setting)
            if not setting.value.flat:
                found.clear()
    return found


def _words(service: Service, value: Text) -> list[Word]:
    return units.expanded([units.specified(word) for word in units.split(value)], service.lookup)


def _assignment(service: Service, variable: Variable) -> Word:
    value = variable.value if variable.value is not None else Text(())
    return Word(Text.join((Text.of(variable.name + "="), units.substituted(value, service.lookup))), variable.site)


def _entrypoint(setting: Setting | None) -> list[Word]:
    """The words of `Entrypoint=`, which may be a JSON list."""
    if setting is None:
        return []
    if setting.value.flat[:1] == "[":
        node = json.parse(setting.value)
        if isinstance(node, json.JsonNode) and node.kind == json.ARRAY:
            return [Word(item.content, item.text.span()) for item in node.items]
    return [Word(setting.value)]


def _base(path: Text) -> Text:
    return path.cut(path.flat.rfind("/") + 1)


def _image(service: Service, image: Text) -> Text:
    """An image; that of another unit (`Image=llm.image`), if it lies beside this one."""
    if not image.flat.endswith((".image", ".build")):
        return units.substituted(units.specified(Word(image)).text, service.lookup)
    beside = service.neighbours.read(image.flat) if image.flat.endswith(".image") else None
    named = [setting for setting in merged(parse(beside), "Image") if setting.key == "Image"] if beside is not None else []
    if named:
        return named[-1].value
    return Text((unknown(image.flat, image.span()),))
