"""The images that a kustomization beside a manifest runs instead of those that the manifest names."""

from __future__ import annotations

from servelint.core.source import Source
from servelint.core.text import Text
from servelint.files.siblings import Neighbours
from servelint.readers.kubernetes.objects import listed, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_LISTS = ("resources", "bases", "patches", "patchesStrategicMerge", "patchesJson6902", "components")


class Overrides:
    """The `images` of a kustomization: name -> fields."""

    __slots__ = ("by_name", "source")

    def __init__(self, source: Source, by_name: dict[str, Entries]) -> None:
        self.source = source
        self.by_name = by_name

    def applied(self, image: Text) -> Text:
        """The image that is run: `newName`, `newTag` and `digest` put in, said to stand where the manifest names it."""
        flat = image.flat
        digest_at = flat.find("@")
        end = len(flat) if digest_at == -1 else digest_at
        colon = flat.rfind(":", flat.rfind("/", 0, end) + 1, end)
        name = image.cut(0, end if colon == -1 else colon)
        fields = self.by_name.get(name.value or "")
        if fields is None:
            return image
        span = image.span()

        def given(key: str) -> Text | None:
            if string(fields, key) is None:
                return None
            return yaml.text(self.source, fields[key][1]).placed(span)

        tag, digest = given("newTag"), given("digest")
        parts = [given("newName") or name]
        if tag is None and digest is None:
            parts.append(image.cut(len(name)))
        if tag is not None:
            parts += [Text.of(":"), tag]
        if digest is not None:
            parts += [Text.of("@"), digest]
        return Text.join(parts)


def beside(source: Source, neighbours: Neighbours) -> Overrides | None:
    """What the kustomization in the same folder makes of this file's images; None if it does not name the file."""
    own = source.path.replace("\\", "/").rpartition("/")[2]
    if own in NAMES:
        return None
    for name in NAMES:
        other = neighbours.read(name)
        if other is None:
            continue
        documents, _ = yaml.documents(other)
        fields = yaml.entries(documents[0] if documents else None)
        return _of(other, fields) if own in _named(fields) else None
    return None


def own(source: Source, fields: Entries) -> Overrides | None:
    """What a kustomization makes of the images in the patches that it holds itself."""
    return _of(source, fields)


def _of(source: Source, fields: Entries) -> Overrides | None:
    images = [yaml.entries(item) for item in listed(fields, "images")]
    by_name = {name: image for image in images if (name := string(image, "name")) is not None}
    return Overrides(source, by_name) if by_name else None


def _named(fields: Entries) -> set[str]:
    """The files in the same folder that a kustomization puts together."""
    found: set[str] = set()
    for key in _LISTS:
        for item in listed(fields, key):
            path = yaml.scalar(item) or string(yaml.entries(item), "path")
            if path is not None:
                found.add(path.removeprefix("./"))
    return found
