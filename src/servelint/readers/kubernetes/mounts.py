"""The files of a container that ConfigMaps of the same file hold."""

from __future__ import annotations

from servelint.core.launch import OpenedFile
from servelint.core.text import Text
from servelint.readers.kubernetes.objects import File, listed, section, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def opener(file: File, pod: Entries, fields: Entries) -> Callable[[Text], OpenedFile | None] | None:
    """Opens the mounted files by their path in the container; None if there are none."""
    if not file.config_maps or "volumeMounts" not in fields:
        return None
    places = [yaml.entries(item) for item in listed(fields, "volumeMounts")]

    def opened(path: Text) -> OpenedFile | None:
        for mount in places:
            found = _found(file, pod, mount, path.value or "")
            if found is not None:
                return OpenedFile(file.config_maps[found[0]][found[1]], path.flat, True, None)
        return None

    return opened


def _found(file: File, pod: Entries, mount: Entries, path: str) -> tuple[str, str] | None:
    """The ConfigMap and its key that a mount shows at a path."""
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
            label, key = string(config_map, "name") or "", _key(config_map, name)
            if key is not None and key in file.config_maps.get(label, ()):
                return label, key
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
