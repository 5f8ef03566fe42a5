"""What an editor's settings say (its initialization options, or its section `servelint`)."""

from __future__ import annotations

import os
import re

from servelint.settings import keys, reading
from servelint.settings.layers import EDITOR, Layer, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SECTION = "servelint"
SAID = ("select", "extend-select", "ignore", "profile", "severity", "engine-versions", "gpu", "gpu-count", "rules", "exclude")
"""The keys of settings files that an editor may say too: what it says holds above them."""

SWITCHES = {
    "isolated": False,  # read no settings file
    "inlay-hints": True,
    "code-lens": True,
    "diagnostics": True,
}
_MEANT = {"engine-version": "engine-versions"}
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])|_")


class Options:
    """layer: what holds above the settings files;  file: one in the place of those above each path

    switches: SWITCHES as they are set;  faults: what nobody understands, each a sentence
    """

    __slots__ = ("_said", "faults", "file", "layer", "switches")

    def __init__(self, folder: str) -> None:
        self.layer = Layer(Origin(EDITOR, "the editor's settings"), folder)
        self.file: str | None = None
        self.switches = dict(SWITCHES)
        self.faults: list[str] = []
        self._said: list[str] = []

    def say(self, key: str, given: Any, origin: Origin) -> None:
        """Take a key of the settings."""
        texts = [str(one) for one in given] if isinstance(given, list) else [str(given)]
        before = len(self.faults)
        reading.add_texts(self.layer, key, texts, origin, self.faults)
        if len(self.faults) == before:
            self._said += [f"{keys.option(key)}={text}" for text in texts]

    def words(self) -> list[str]:
        """The same as words of a command line."""
        file = [f"--settings={self.file}"] if self.file is not None and not self.switches["isolated"] else []
        return [*(["--isolated"] if self.switches["isolated"] else file), *self._said]


def read(data: Any, folder: str) -> Options:
    """An editor's settings as it sends them, keys in whatever spelling: `gpuCount`, `gpu-count`, `gpu_count`.

    folder: what relative paths start from
    """
    options = Options(folder)
    if isinstance(data, dict) and set(data) == {SECTION}:
        data = data[SECTION]
    if data is None:
        return options
    if not isinstance(data, dict):
        options.faults.append(f"the editor's settings are no object but a {type(data).__name__}")
        return options
    for name, value in _flat(data).items():
        _take(options, name, value)
    return options


def _take(options: Options, name: str, value: Any) -> None:
    key = _CAPITAL.sub(lambda match: "-" + (match.group(1) or "").lower(), name)
    key = _MEANT.get(key, key)
    origin = Origin(EDITOR, f"{SECTION}.{name}")
    if value is None or value in ("", [], {}):
        return
    if key in SWITCHES:
        if isinstance(value, bool):
            options.switches[key] = value
        else:
            options.faults.append(f"{origin}: {value!r} is neither true nor false")
    elif key == "settings":
        options.file = os.path.join(options.layer.folder, os.path.expanduser(str(value)))
    elif key in SAID:
        if isinstance(value, dict):
            value = [f"{engine}={release}" for engine, release in value.items()]
        options.say(key, value, origin)


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    """The settings with those of `inlayHints: {"enable": true}` by their first name alone."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict) and set(value) <= {"enable", "enabled"} and value:
            value = next(iter(value.values()))
        found[name] = value
    return found
