"""The files that a compose service sees in its container: bind mounts of what stands beside the compose file, and `configs`."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from servelint.core.launch import Launch, OpenedFile, Word
from servelint.core.source import Source
from servelint.core.text import HOLE, Text
from servelint.engines import entry
from servelint.readers import runners
from servelint.readers.commands import launches
from servelint.readers.compose_file import File, Service
from servelint.readers.place import Place
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

_WORKING = "${PWD}"


class Mounts:
    """path in the container -> the file and the path of what is mounted there; None for a volume, or for what is not here."""

    def __init__(self, service: Service, files: list[File]) -> None:
        self.files = files
        self.targets: dict[str, tuple[File, str] | None] = {}
        self.configs: dict[str, tuple[File, Node, str]] = {}
        folder = service.last("working_dir")
        self.folder = folder.value if folder is not None else None
        for file, _, node in service.layers("volumes"):
            for item in file.items(node):
                self._mount(file, item)
        for file, _, node in service.layers("configs"):
            for item in file.items(node):
                self._config(file, item)

    def _mount(self, file: File, item: Node) -> None:
        fields = yaml.entries(item)
        if fields:
            source, target = file.optional(fields, "source"), file.optional(fields, "target")
        else:
            text = file.text(item)
            parts = _parts(text)
            source, target = (parts[0], parts[1]) if len(parts) > 1 else (None, text)
        if target is None or not target.value or not target.flat.startswith("/"):
            return
        here = _here(source) if source is not None else None
        self.targets[posixpath.normpath(target.value)] = (file, here) if here is not None else None

    def _config(self, file: File, item: Node) -> None:
        fields = yaml.entries(item)
        name = file.optional(fields, "source") if fields else file.text(item)
        if name is None or not name.value:
            return
        given = file.optional(fields, "target")
        target = given.value if given is not None else "/" + name.value
        if target is not None:
            self.configs[posixpath.normpath(target)] = (file, item, name.value)

    def absolute(self, path: str) -> str | None:
        if not path.startswith("/"):
            if self.folder is None or not self.folder.startswith("/"):
                return None
            path = f"{self.folder}/{path}"
        return "/" + posixpath.normpath(path).lstrip("/")

    def open(self, path: Text) -> OpenedFile | None:
        """A file by the path that a command in the container gives."""
        value = self.absolute(path.value) if path.value else None
        if value is None:
            return None
        text = self._content(value)
        if text is None:
            source = self.source(value)
            text = Text.at(source, 0, len(source.text)) if source is not None else None
        if text is None:
            return None
        self.files[-1].spent[0] += len(text.flat) // 16
        return OpenedFile(text, value, True, self.source)

    def source(self, path: str) -> Source | None:
        """A file of its own that is mounted at a path."""
        value = self.absolute(path)
        if value is None:
            return None
        if value in self.configs:
            file, _, name = self.configs[value]
            return self._config_file(file, name)
        at = value
        while at != "/":
            if at in self.targets:
                mounted = self.targets[at]
                return mounted[0].read(mounted[1] + value[len(at) :]) if mounted is not None else None
            at = posixpath.dirname(at)
        return None

    def _content(self, path: str) -> Text | None:
        """The text of a config that the compose file itself holds."""
        if path not in self.configs:
            return None
        for file, fields in self._definitions(*self.configs[path][::2]):
            if "content" in fields:
                return file.optional(fields, "content")
        return None

    def _config_file(self, file: File, name: str) -> Source | None:
        for one, fields in self._definitions(file, name):
            path = one.optional(fields, "file")
            if path is not None:
                return one.read(path.value) if path.value else None
        return None

    def _definitions(self, file: File, name: str) -> list[tuple[File, yaml.Entries]]:
        """What the top level of the project's files says of a config, the last word first."""
        found: list[tuple[File, yaml.Entries]] = []
        for one in [*reversed(self.files), file]:
            for top in reversed(one.tops):
                if "configs" in top:
                    defined = yaml.entries(top["configs"][1]).get(name)
                    found += [(one, yaml.entries(defined[1]))] if defined is not None else []
        return found


def _parts(text: Text) -> list[Text]:
    """The parts of `source:target[:options]`."""
    parts: list[Text] = []
    at = 0
    while (colon := text.flat.find(":", at)) != -1:
        parts.append(text.cut(at, colon))
        at = colon + 1
    return [*parts, text.cut(at)]


def _here(source: Text) -> str | None:
    """A path beside the compose file; None for a volume, and for what stands elsewhere on the machine."""
    flat = source.flat
    if source.pieces and source.pieces[0].expression == _WORKING:
        # the folder from which compose is started: its own, or what is mounted would not be there
        flat = "." + flat[1:]
    return flat if HOLE not in flat and (flat in (".", "..") or flat.startswith(("./", "../"))) else None


def passed_on(words: list[Word], opened: Callable[[Text], OpenedFile | None], place: Place) -> list[Launch]:
    """The launch of a command that is given to a script which is not here: such a script ends in `exec "$@"`."""
    at = 1 if entry.program(words[0]) in runners.SHELLS else 0
    if len(words) < at + 3 or opened(words[at].text) is not None:
        return []
    if not (entry.program(words[at]) or "").endswith((".sh", "entrypoint")):
        return []
    at += 2 if words[at + 1].value == "--" else 1
    if entry.find(words, at) is None:
        return []
    return launches(words[at:], place.with_(site=place.site, env=place.env, open_env=True))
