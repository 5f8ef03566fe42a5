"""The objects of a file: names, ConfigMaps and Secrets that others refer to, and the images of a kustomization beside it."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any

from servelint.core import bounds
from servelint.core.data import read_json
from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText
from servelint.files.siblings import Neighbours
from servelint.syntax import yaml, yaml_values
from servelint.syntax.yaml import Entries, Node, section

PATCHES = ("patches", "patchesJson6902", "patchesStrategicMerge")
"""The keys of a kustomization that hold patches."""

HIDDEN = "{{"

_VISITS_AT_MOST = 200_000
_TIMES_AT_MOST = 16
_DEPTH = 8
_SCALAR_AT_MOST = 1 << 20


@lru_cache(maxsize=1)
def option_tables() -> dict[str, Any]:
    """What the controllers of platforms pass on as options: platform -> a table of keys of its objects and options.

    LLMKube: https://github.com/defilantech/LLMKube internal/controller, runtime_llamacpp_args.go and its likes. The part of the
    object is "" for `spec` itself.
    """
    found: dict[str, Any] = read_json(os.path.join(os.path.dirname(__file__), "platforms.json"))
    return found


class Object:
    """One object of a file.

    Attributes:
        kind: "Deployment".
        name: Its name, "" without one.
        namespace: Its namespace, None without one.
    """

    __slots__ = ("fields", "kind", "name", "namespace", "node")

    def __init__(self, node: Node, fields: Entries) -> None:
        self.node = node
        self.fields = fields
        self.kind = string(fields, "kind") or ""
        metadata = section(fields, "metadata")
        self.name = string(metadata, "name") or string(metadata, "generateName") or ""
        self.namespace = string(metadata, "namespace")

    @property
    def label(self) -> str:
        """The name of the object in the names of its launches: "Deployment/llm"; * for what is not known of it."""
        return f"{self.kind}/{self.name.replace(HOLE, '*')}" if self.name else self.kind


class File:
    """One file with its objects.

    What several namespaces have under one name is left out of the attributes that find objects by name.

    Attributes:
        objects: All objects.
        named: (kind, name) -> object.
        used: The names of the runtimes that InferenceServices name.
        config_maps: Name -> key -> value.
        secrets: The same of Secrets, as far as the file shows them.
        scripts: The ConfigMaps, each with its values.
        left: How many more nodes are visited. Aliases may make an endless graph.
        neighbours: The files beside it; None where they do not matter.
    """

    __slots__ = (
        "_beside", "config_maps", "left", "named", "neighbours", "objects", "read", "scripts", "secrets", "source", "used",
    )  # fmt: skip

    def __init__(self, source: Source, documents: list[Node], neighbours: Neighbours | None = None) -> None:
        self.source = source
        self.neighbours = neighbours
        self.objects = objects(documents)
        own = _of_one_namespace(self.objects)
        self.named = {(one.kind, one.name): one for one in reversed(own) if one.name}
        services = [section(one.fields, "spec", "predictor", "model") for one in self.objects if one.kind == "InferenceService"]
        self.used = {string(model, "runtime") for model in services}
        self.left = _VISITS_AT_MOST
        self.read: dict[int, int] = {}
        self.scripts = [(one, self._data(one, "data")) for one in self.objects if one.kind == "ConfigMap"]
        meant = {id(one) for one in own}
        self.config_maps = {one.name: data for one, data in self.scripts if id(one) in meant}
        self._beside: dict[str, dict[str, TracedText]] | None = None
        self.secrets = {one.name: self._data(one, "stringData") for one in own if one.kind == "Secret"}

    def config_map(self, name: str) -> dict[str, TracedText] | None:
        """The data of a ConfigMap of this file, or that a kustomization, a chart or a folder puts beside it; None without."""
        if name in self.config_maps:
            return self.config_maps[name]
        beside = self.neighbours
        if beside is None:
            return None
        if self._beside is None:
            self._beside = generated(beside)
            for path in dict.fromkeys([*kustomized(beside), *_CONFIG_MAPS]):
                self._beside = {**self._config_maps_of(path), **self._beside}
        if name not in self._beside and _NAME.fullmatch(name):
            self._look_for(name, beside)
        return self._beside.get(name)

    def _look_for(self, name: str, beside: Neighbours) -> None:
        """Look for a ConfigMap in files called after it, in its folder, and in the one above with its folders of settings."""
        found: dict[str, dict[str, TracedText]] = self._beside if self._beside is not None else {}
        self._beside = found
        for form in _NAMED_CONFIG_MAPS:
            found.update({key: data for key, data in self._config_maps_of(form.format(name)).items() if key not in found})
        folders = ["./", "../", *[f"{one}/" for one in beside.names("../", _SETTINGS)]]
        for paths in (beside.names(folder, r"[^.].*\.ya?ml") for folder in folders):
            if name in found:
                return
            maps = [data[name] for path in paths[:_FILES_AT_MOST] if name in (data := self._config_maps_of(path))]
            if len({tuple([(key, text.flat) for key, text in one.items()]) for one in maps}) == 1:
                found[name] = maps[0]
        for up in ("../", "../../", "../../../"):
            if name not in found and beside.names(up, "[Kk]ustomization.*"):
                above = beside.below(up)
                found.update({key: data for key, data in generated(above).items() if key not in found})
                for path in kustomized(above):
                    found.update({key: data for key, data in self._config_maps_of(up + path).items() if key not in found})

    def is_whole(self) -> bool:
        """Whether no kustomization changes its names, labels or lists: none stands beside it or above, or holds it."""
        places = [f"{above}{name}" for above in ("", "../") for name in KUSTOMIZATIONS]
        beside = self.neighbours
        return beside is not None and all(beside.read(place) is None for place in places)

    def _config_maps_of(self, path: str) -> dict[str, dict[str, TracedText]]:
        """The ConfigMaps of a file beside this one."""
        beside = self.neighbours
        other = beside.read(path) if beside is not None and path not in KUSTOMIZATIONS else None
        if other is None or beside is None or "ConfigMap" not in other.text:
            return {}
        return File(*in_chart(other, beside)).config_maps

    def once_more(self, container: Node) -> bool:
        """Whether a container is to be read; one that aliases repeat is read some times."""
        times = self.read[id(container)] = self.read.get(id(container), 0) + 1
        if bounds.KUBERNETES_CONTAINERS.passed(len(self.read), yaml.span(self.source, container)):
            return False
        return times <= _TIMES_AT_MOST

    def _data(self, one: Object, field: str) -> dict[str, TracedText]:
        return {
            key: yaml.text(self.source, value)
            for key, (_, value) in section(one.fields, field).items()
            if (plain := yaml.scalar(value)) is not None and len(plain) <= _SCALAR_AT_MOST
        }


_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,100}")
_CONFIG_MAPS = (
    "configmap.yaml", "configmap.yml", "config-map.yaml", "configmaps.yaml", "cm.yaml", "config.yaml", "scripts.yaml",
    "configmap-scripts.yaml", "scripts-configmap.yaml", "vllm-configmap.yaml", "llama-configmap.yaml", "sglang-configmap.yaml",
)  # fmt: skip
"""Where a chart or a folder of manifests keeps its ConfigMap, beside the objects that use it."""
_SETTINGS = r"(?i)(?:\d+-)?(?:config|configs|config-?maps?|cm|env|settings|common|base)"
"""A folder beside that of the workloads in which manifests keep their ConfigMaps."""
_FILES_AT_MOST = 40
_NAMED_CONFIG_MAPS = ("{}.yaml", "{}.yml", "{}-configmap.yaml", "configmap-{}.yaml", "{}-cm.yaml", "cm-{}.yaml")


def generated(neighbours: Neighbours) -> dict[str, dict[str, TracedText]]:
    """The ConfigMaps that the kustomization in the same folder makes: name -> key -> value."""
    found: dict[str, dict[str, TracedText]] = {}
    for name in KUSTOMIZATIONS:
        other = neighbours.read(name)
        documents = yaml.documents(other)[0] if other is not None else []
        if other is None or not documents:
            continue
        for item in listed(yaml.entries(documents[0]), "configMapGenerator"):
            found.setdefault(string(yaml.entries(item), "name") or "", {}).update(generator(other, item, neighbours))
    return found


def generator(source: Source, item: Node, neighbours: Neighbours) -> dict[str, TracedText]:
    """The data of one item of `configMapGenerator`: its literals, and the files beside it that it names."""
    from servelint.syntax import dotenv

    fields = yaml.entries(item)
    data: dict[str, TracedText] = {}
    for one in listed(fields, "literals"):
        text = yaml.text(source, one) if yaml.is_scalar(one) else TracedText(())
        if (sign := text.flat.find("=")) > 0:
            data[text.flat[:sign]] = text.cut(sign + 1)
    for one in listed(fields, "files"):
        key, sign_, path = (yaml.scalar(one) or "").rpartition("=")
        held = neighbours.read(path) if path else None
        if held is not None:
            data[key if sign_ else path.rpartition("/")[2]] = TracedText.at(held, 0, len(held.text))
    names = [yaml.scalar(one) or "" for one in listed(fields, "envs")] + [string(fields, "env") or ""]
    for path in filter(None, names):
        held = neighbours.read(path)
        if held is not None:
            data.update(dotenv.parse(held))
    return data


def in_chart(source: Source, neighbours: Neighbours) -> tuple[Source, list[Node]]:
    """A file beside another one and its documents; a template of a chart is filled with the chart's own values."""
    if HIDDEN in source.text:
        from servelint.readers import helm

        texts = helm.filled(source, neighbours)
        source = Source(source.path, texts[0][1].flat) if len(texts) == 1 else source
    return source, yaml.documents(source)[0]


def _of_one_namespace(objects: list[Object]) -> list[Object]:
    """Those whose kind and name no other namespace of the file has as well."""
    spaces: dict[tuple[str, str], set[str | None]] = {}
    for one in objects:
        spaces.setdefault((one.kind, one.name), set()).add(one.namespace)
    return [one for one in objects if len(spaces[one.kind, one.name]) == 1]


def objects(documents: list[Node]) -> list[Object]:
    """The objects of some documents, those in a `List` and in a `Template` of OpenShift one by one."""
    found: list[Object] = []
    waiting = [(document, 0) for document in reversed(documents)]
    visits = 0
    most = bounds.KUBERNETES_OBJECTS.most
    while waiting:
        node, depth = waiting.pop()
        visits += 1
        if bounds.KUBERNETES_OBJECTS.passed(visits, None):
            break
        fields = yaml.entries(node)
        kind = string(fields, "kind") or ""
        key = "objects" if kind == "Template" else "items"
        listed = yaml.items(yaml.field(fields, key))
        if listed is not None and kind.endswith(("List", "Template")) and depth < _DEPTH:
            waiting += [(item, depth + 1) for item in reversed(listed[: most + 1 - visits])]
        elif fields:
            found.append(Object(node, fields))
    return found


def entries(node: Node) -> Entries:
    """The entries of a mapping, with the key HIDDEN where a template writes more of them than the file shows."""
    fields = yaml.entries(node)
    if fields and yaml.gaps(node):
        key = next(iter(fields.values()))[0]
        return {**fields, HIDDEN: (key, key)}
    return fields


def hidden(fields: Entries, *keys: str) -> bool:
    """Whether a template writes more into a mapping, or into the value of one of some keys, than the file shows."""
    return HIDDEN in fields or any(yaml.gaps(fields[key][1]) for key in keys if key in fields)


def string(fields: Entries, key: str) -> str | None:
    """The value of a key as Kubernetes reads it, as a text; None where it is missing, null or no scalar."""
    node = yaml.field(fields, key)
    if not yaml.is_scalar(node) or yaml.is_null(node):
        return None
    return yaml_values.shown(node, yaml_values.KUBERNETES)


def listed(fields: Entries, key: str) -> list[Node]:
    """The items of a key that holds a list; none for anything else."""
    return (yaml.items(fields[key][1]) or []) if key in fields else []


def joined_lists(first: Node, second: Node) -> Node:
    """A list with the items of two."""
    items = [*(yaml.items(first) or []), *(yaml.items(second) or [])]
    return yaml.new_sequence(items, yaml.start(first), yaml.end(first))


def is_kustomization(fields: Entries) -> bool:
    """Whether an object is a kustomization."""
    version = string(fields, "apiVersion") or ""
    return version.startswith("kustomize.config.k8s.io/") or (
        not version and any(key in fields for key in (*PATCHES, "replacements"))
    )


def is_json_patch(document: Node) -> bool:
    """Whether a document is a list of JSON 6902 operations."""
    items = yaml.items(document)
    return bool(items) and all({"op", "path"} <= yaml.entries(item).keys() for item in items or [])


def is_serve_config(fields: Entries) -> bool:
    """Whether a document is what Ray's `serve deploy` takes (applications with import paths), or a config of Ray Serve LLM."""
    if any("import_path" in yaml.entries(item) for item in listed(fields, "applications")):
        return True
    configs = [section(yaml.entries(item)) for item in listed(fields, "llm_configs")]
    configs += [section(fields, key) for key in ("llm_config", "prefill_config", "decode_config")]
    return any("model_loading_config" in one for one in (fields, *configs))


KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_LISTS = ("resources", "bases", "patches", "patchesStrategicMerge", "patchesJson6902", "components")


class Overrides:
    """The `images` of a kustomization: name -> fields; and those of its base, which come before."""

    __slots__ = ("base", "by_name", "source")

    def __init__(self, source: Source, by_name: dict[str, Entries], base: Overrides | None = None) -> None:
        self.source = source
        self.by_name = by_name
        self.base = base

    def applied(self, image: TracedText) -> TracedText:
        """The image that is run: `newName`, `newTag` and `digest` put in, said to stand where the manifest names it."""
        image = self.base.applied(image) if self.base is not None else image
        flat = image.flat
        digest_at = flat.find("@")
        end = len(flat) if digest_at == -1 else digest_at
        colon = flat.rfind(":", flat.rfind("/", 0, end) + 1, end)
        name = image.cut(0, end if colon == -1 else colon)
        fields = self.by_name.get(name.value or "")
        if fields is None:
            return image
        span = image.span()

        def given(key: str) -> TracedText | None:
            if string(fields, key) is None:
                return None
            return yaml.text(self.source, fields[key][1]).placed(span)

        tag, digest = given("newTag"), given("digest")
        parts = [given("newName") or name]
        if tag is None and digest is None:
            parts.append(image.cut(len(name)))
        if tag is not None:
            parts += [TracedText.of(":"), tag]
        if digest is not None:
            parts += [TracedText.of("@"), digest]
        return TracedText.join(parts)


def kustomized(neighbours: Neighbours) -> list[str]:
    """The files that the kustomization in the same folder puts together."""
    for name in KUSTOMIZATIONS:
        if (other := neighbours.read(name)) is not None:
            documents, _ = yaml.documents(other)
            return sorted(path for path in _files_of(yaml.entries(documents[0] if documents else None)) if "{" not in path)[:50]
    return []


def images_beside(source: Source, neighbours: Neighbours) -> Overrides | None:
    """What the kustomization in the same folder makes of this file's images; None if it does not name the file."""
    own_name = source.path.replace("\\", "/").rpartition("/")[2]
    if own_name in KUSTOMIZATIONS:
        return None
    for name in KUSTOMIZATIONS:
        other = neighbours.read(name)
        if other is None:
            continue
        documents, _ = yaml.documents(other)
        fields = yaml.entries(documents[0] if documents else None)
        return own_images(other, fields) if own_name in _files_of(fields) else None
    return None


def own_images(source: Source, fields: Entries) -> Overrides | None:
    """What a kustomization makes of the images that it names; None if it names none."""
    images = [yaml.entries(item) for item in listed(fields, "images")]
    by_name = {name: image for image in images if (name := string(image, "name")) is not None}
    return Overrides(source, by_name) if by_name else None


def _files_of(fields: Entries) -> set[str]:
    """The files in the same folder that a kustomization puts together."""
    found: set[str] = set()
    for key in _LISTS:
        for item in listed(fields, key):
            path = yaml.scalar(item) or string(yaml.entries(item), "path")
            if path is not None:
                found.add(path.removeprefix("./"))
    return found
