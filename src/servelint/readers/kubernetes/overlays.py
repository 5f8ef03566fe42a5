"""Kustomizations over files beside them: what their patches, images and generators make of the objects.

The files are put one after the other into one text, so that nodes of several files can stand in one tree; the launches are then
moved back to the characters that they come from. What a plugin or a remote base adds is not known.
"""

from __future__ import annotations

import re
from functools import partial

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.files.siblings import Neighbours
from servelint.readers import embedded
from servelint.readers.kubernetes.objects import (
    KUSTOMIZATIONS,
    PATCHES,
    File,
    Object,
    Overrides,
    generator,
    listed,
    objects,
    string,
)
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, Node, section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Read = Callable[[File, Object, Overrides | None], list[Launch]]

_FILES_AT_MOST, _DEPTH = 60, 8
_PATTERN, _STARS = re.compile(r"(?:[\w.|^$-]\*?){1,80}"), 2
"""The names that the target of a patch may have: kustomize takes them for regular expressions."""
_HEAD = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*---[ \t]*(?:#[^\n]*)?\r?\n")
"""What stands in front of the first document of a file: behind a separator it would be a document of its own."""
_SEPARATOR = TracedText.of("\n---\n")
_KEYS = {
    "containers": ("name",), "initContainers": ("name",), "env": ("name",), "volumes": ("name",),
    "ports": ("containerPort", "port"), "volumeMounts": ("mountPath",), "imagePullSecrets": ("name",),
}  # fmt: skip
"""Lists that a strategic merge patch merges by a key of their items."""


class _Layer:
    """One kustomization with its place in the joined text.

    Attributes:
        fields: Its entries, in its own text.
        index: The number of its document in the joined text.
        bases: The kustomizations that it names.
        resources: The numbers of the documents of the files that it names.
        patches: Where a patch stands in its own text -> the numbers of the patch's documents.
    """

    __slots__ = ("bases", "beside", "fields", "index", "patches", "resources", "source")

    def __init__(self, source: Source, fields: Entries, beside: Neighbours) -> None:
        self.source = source
        self.fields = fields
        self.beside = beside
        self.index = -1
        self.bases: list[_Layer] = []
        self.resources: list[int] = []
        self.patches: dict[int, list[int]] = {}


class _Joined:
    """The texts of a kustomization and of what it stands on, one after the other."""

    def __init__(self) -> None:
        self.parts: list[TracedText] = []
        self.count = 0
        self.files = 0

    def add(self, text: TracedText) -> list[int]:
        """Add the documents of a text. Returns their numbers; none for one that cannot be read."""
        head = _HEAD.match(text.flat)
        text = text.cut(head.end()) if head is not None else text
        documents, problem = yaml.documents(Source("", text.flat))
        if problem is not None or not documents or "{{" in text.flat:
            return []
        numbers = list(range(self.count, self.count + len(documents)))
        self.parts += [_SEPARATOR, text]
        self.count += len(documents)
        return numbers

    def layer(self, source: Source, beside: Neighbours, depth: int) -> _Layer | None:
        """Add a kustomization and what it names; None for one that cannot be read."""
        documents, problem = yaml.documents(source)
        self.files += 1
        if problem is not None or len(documents) != 1 or depth > _DEPTH or self.files > _FILES_AT_MOST:
            return None
        fields = yaml.entries(documents[0])
        layer = _Layer(source, fields, beside)
        for key in ("resources", "bases", "components"):
            for item in listed(fields, key):
                self._resource(layer, yaml.scalar(item) or "", depth)
        for key in PATCHES:
            for item in listed(fields, key):
                self._patch(layer, source, item)
        numbers = self.add(TracedText.at(source, 0, len(source.text)))
        layer.index = numbers[0] if numbers else -1
        return layer if numbers else None

    def _resource(self, layer: _Layer, path: str, depth: int) -> None:
        if not path or "://" in path or path.startswith("github.com"):
            return
        if path.endswith((".yaml", ".yml", ".json")):
            if (held := layer.beside.read(path)) is not None:
                self.files += 1
                layer.resources += self.add(TracedText.at(held, 0, len(held.text)))
            return
        for name in KUSTOMIZATIONS:
            below = layer.beside.read(f"{path.rstrip('/')}/{name}")
            base = self.layer(below, layer.beside.below(path), depth + 1) if below is not None else None
            if base is not None:
                layer.bases.append(base)
                return

    def _patch(self, layer: _Layer, source: Source, item: Node) -> None:
        """Add what a patch says: a file, or a text in the kustomization."""
        fields = yaml.entries(item)
        path = string(fields, "path") or yaml.scalar(item) or ""
        text = yaml.text(source, fields["patch"][1]) if "patch" in fields else None
        if text is None and "\n" in path:
            text = yaml.text(source, item)
        elif text is None:
            held = layer.beside.read(path)
            text = TracedText.at(held, 0, len(held.text)) if held is not None else None
        if text is not None:
            layer.patches[yaml.start(item)] = self.add(text)


def launches(source: Source, fields: Entries, neighbours: Neighbours, read: Read) -> list[Launch]:
    """The launches that a kustomization makes out of its base, where they are others than the base's.

    Args:
        source: The kustomization.
        fields: Its entries.
        neighbours: The files beside it.
        read: Reads the launches of one object.
    """
    joined = _Joined()
    layer = joined.layer(source, neighbours, 0)
    if layer is None or joined.count < 2 or _told_by_resources(fields):
        return []
    text = TracedText.join(joined.parts)
    inner = Source(source.path, text.flat)
    plain, problem = yaml.documents(inner)
    made, _ = yaml.documents(inner)
    if problem is not None or len(plain) != joined.count or len(made) != joined.count:
        return []
    before = _read(inner, _Kustomized(inner, plain, patched=False), layer, read)
    after = _read(inner, _Kustomized(inner, made, patched=True), layer, read)
    known = {_shown(launch) for launch in before}
    found = embedded.moved([launch for launch in after if _shown(launch) not in known], inner, text, source)
    keys = [
        fields[key]
        for key in (*PATCHES, "replacements", "vars", "images", "configMapGenerator", "resources", "bases")
        if key in fields
    ]
    for launch in found:
        from servelint.readers.kubernetes import pods

        launch.site = pods.extent(source, keys[:1])
        launch.open_env = True
    return found


def _told_by_resources(fields: Entries) -> bool:
    """Whether the files beside a kustomization show all that it makes of them: they are read with its images and ConfigMaps."""
    paths = [yaml.scalar(item) or "/" for key in ("resources", "bases", "components") for item in listed(fields, key)]
    changes = any(key in fields for key in (*PATCHES, "replacements", "vars"))
    return not changes and all("/" not in path.removeprefix("./") and path.endswith((".yaml", ".yml")) for path in paths)


def _shown(launch: Launch) -> tuple[object, ...]:
    image = launch.image
    env = tuple(sorted((name, one.value.shown if one.value is not None else None) for name, one in launch.env.items()))
    return launch.engine, image.shown if image is not None else None, tuple(word.shown for word in launch.argv), env


def _read(inner: Source, kustomized: _Kustomized, layer: _Layer, read: Read) -> list[Launch]:
    documents, images = kustomized.of(layer)
    file = File(inner, documents)
    for name, data in kustomized.generated.items():
        file.config_maps[name] = {**file.config_maps.get(name, {}), **data}
    return [launch for one in file.objects for launch in read(file, one, images)]


class _Kustomized:
    """Applies kustomizations to the documents of the joined text."""

    def __init__(self, source: Source, documents: list[Node], *, patched: bool) -> None:
        self.source = source
        self.documents = documents
        self.patched = patched
        self.generated: dict[str, dict[str, TracedText]] = {}

    def of(self, layer: _Layer, *, top: bool = True) -> tuple[list[Node], Overrides | None]:
        """The objects that a kustomization makes, and what happens to their images."""
        found: list[Node] = []
        images: Overrides | None = None
        for base in layer.bases:
            inner, theirs = self.of(base, top=False)
            found += inner
            images = images or theirs
        found += [one.node for number in layer.resources for one in objects([self.documents[number]])]
        if top and not self.patched:
            return found, images
        fields = yaml.entries(self.documents[layer.index])
        for item in [item for key in PATCHES for item in listed(layer.fields, key)]:
            for number in layer.patches.get(yaml.start(item), ()):
                found = self.applied(found, self.documents[number], section(yaml.entries(item), "target"))
        for item in listed(layer.fields, "configMapGenerator"):
            name = string(yaml.entries(item), "name") or ""
            self.generated[name] = {**self.generated.get(name, {}), **generator(layer.source, item, layer.beside)}
        for item in listed(fields, "replacements"):
            found = self.replaced(found, yaml.entries(item))
        for item in listed(fields, "vars"):
            found = self.filled(found, yaml.entries(item))
        own = {called: image for image in map(yaml.entries, listed(fields, "images")) if (called := string(image, "name"))}
        return found, Overrides(self.source, own, images) if own else images

    def applied(self, found: list[Node], patch: Node, target: Entries) -> list[Node]:
        """The objects after a patch."""
        if (operations := yaml.items(patch)) is not None:
            return [self.operated(node, operations) if _targeted(node, target) else node for node in found]
        whom = target or {}
        own = yaml.entries(patch)
        return [
            _merged(node, patch, "") if (_targeted(node, whom) if whom else _same(yaml.entries(node), own)) else node
            for node in found
        ]

    def replaced(self, found: list[Node], replacement: Entries) -> list[Node]:
        """The objects after one of `replacements`: a field of one object is copied to fields of others."""
        source = section(replacement, "source")
        value = self.field(found, source, string(source, "fieldPath") or "metadata.name", section(source, "options"))
        if value is None:
            return found
        for item in listed(replacement, "targets"):
            target = yaml.entries(item)
            select = section(target, "select")
            reject = [yaml.entries(one) for one in listed(target, "reject")]
            options = section(target, "options")
            if not select:
                continue
            for path in [yaml.scalar(one) or "" for one in listed(target, "fieldPaths")] or ["metadata.name"]:
                steps = _steps(path)
                found = [
                    _at(node, steps, partial(self.part, value, options))
                    if _targeted(node, select) and not any(_targeted(node, one) for one in reject)
                    else node
                    for node in found
                ]
        return found

    def field(self, found: list[Node], source: Entries, path: str, options: Entries) -> Node | None:
        """The scalar that a source names, or the part of it between delimiters."""
        held: list[Node] = []

        def take(node: Node) -> Node:
            held.append(node)
            return node

        for node in found:
            if _targeted(node, source):
                _at(node, _steps(path), take)
        _, _, key = path.partition("data.")
        made = self.generated.get(string(source, "name") or "", {}).get(key) if string(source, "kind") == "ConfigMap" else None
        if not held and made is not None and made.value is not None and "fieldPath" in source:
            at = source["fieldPath"][1]
            held.append(yaml.new_scalar(made.value, yaml.start(at), yaml.end(at)))
        if len(held) != 1 or not yaml.is_scalar(held[0]):
            return None
        delimiter, text = string(options, "delimiter"), yaml.scalar(held[0]) or ""
        if not delimiter:
            return held[0]
        parts, index = text.split(delimiter), string(options, "index") or "0"
        known = index.isdecimal() and int(index) < len(parts)
        return yaml.new_scalar(parts[int(index)], yaml.start(held[0]), yaml.end(held[0])) if known else None

    def part(self, value: Node, options: Entries, old: Node) -> Node:
        """A field with a new value, or with one in place of the part between delimiters."""
        delimiter, index = string(options, "delimiter"), string(options, "index") or "0"
        if not delimiter:
            return value
        parts = (yaml.scalar(old) or "").split(delimiter)
        if not index.isdecimal() or int(index) >= len(parts):
            return old
        parts[int(index)] = yaml.scalar(value) or ""
        return yaml.new_scalar(delimiter.join(parts), yaml.start(value), yaml.end(value))

    def filled(self, found: list[Node], variable: Entries) -> list[Node]:
        """The objects with the value of one of `vars` in place of `$(NAME)`."""
        reference = f"$({string(variable, 'name')})"
        path = string(section(variable, "fieldref"), "fieldpath") or "metadata.name"
        value = self.field(found, section(variable, "objref"), path, {})
        if value is None:
            return found

        def fill(node: Node) -> Node:
            text = yaml.scalar(node) if yaml.is_scalar(node) else None
            if text is not None and reference in text:
                new = text.replace(reference, yaml.scalar(value) or "")
                return yaml.new_scalar(new, yaml.start(value), yaml.end(value))
            if (items := yaml.items(node)) is not None:
                return yaml.new_sequence([fill(item) for item in items], yaml.start(node), yaml.end(node))
            if yaml.is_mapping(node):
                return _mapping(node, [(key, fill(held)) for key, held in yaml.entries(node).values()])
            return node

        return [fill(node) if reference in self.source.text[yaml.start(node) : yaml.end(node)] else node for node in found]

    def operated(self, node: Node, operations: list[Node]) -> Node:
        """An object after the operations of a JSON 6902 patch."""
        for item in operations:
            fields = yaml.entries(item)
            path = (string(fields, "path") or "").split("/")[1:]
            value = yaml.field(fields, "value")
            steps = [step.replace("~1", "/").replace("~0", "~") for step in path]
            node = _put(node, steps, string(fields, "op") or "", value)
        return node


_STEP = re.compile(r"\[([^\]=]+)=([^\]]*)\]|((?:\\.|[^.\[\\])+)")
_DEEP = 32


def _steps(path: str) -> list[str | tuple[str, str]]:
    """The steps of a `fieldPath`: a key, a number, `*`, or the key and value of the items of a list that are meant."""
    found: list[str | tuple[str, str]] = []
    for match in _STEP.finditer(path):
        key, value, plain = match.groups()
        found.append((key, value) if plain is None else plain.replace("\\.", "."))
    return found[:_DEEP]


def _at(node: Node, steps: list[str | tuple[str, str]], make: Callable[[Node], Node]) -> Node:
    """A node with what is made of the nodes at a path; as it is where there is no such place."""
    if not steps:
        return make(node)
    step, rest = steps[0], steps[1:]
    if (items := yaml.items(node)) is not None:
        if isinstance(step, tuple):
            chosen = [string(yaml.entries(item), step[0]) == step[1] for item in items]
        else:
            chosen = [step in ("*", str(index)) for index in range(len(items))]
        changed = [_at(item, rest, make) if mine else item for item, mine in zip(items, chosen, strict=True)]
        return yaml.new_sequence(changed, yaml.start(node), yaml.end(node))
    if not yaml.is_mapping(node):
        return node
    fields = yaml.entries(node).items()
    return _mapping(node, [(key, _at(held, rest, make) if step in (name, "*") else held) for name, (key, held) in fields])


def _same(one: Entries, other: Entries) -> bool:
    names = [string(section(fields, "metadata"), "name") for fields in (one, other)]
    return string(one, "kind") == string(other, "kind") and names[0] == names[1]


def _targeted(node: Node, target: Entries) -> bool:
    """Whether the target of a patch selects an object."""
    fields = yaml.entries(node)
    for key, value in (("kind", string(fields, "kind")), ("name", string(section(fields, "metadata"), "name"))):
        wanted = string(target, key)
        if wanted is None:
            continue
        # a file's own pattern: one that may take long selects nothing
        if not _PATTERN.fullmatch(wanted) or wanted.count("*") > _STARS or re.fullmatch(wanted, value or "") is None:
            return False
    return bool(target) and not {"labelSelector", "annotationSelector"} & target.keys()


def _mapping(like: Node, pairs: list[tuple[Node, Node]]) -> Node:
    return yaml.new_mapping(pairs, yaml.start(like), yaml.end(like))


def _merged(base: Node, patch: Node, key: str) -> Node:
    """A node after a strategic merge patch. key: the key that holds it."""
    if yaml.is_mapping(base) and yaml.is_mapping(patch):
        theirs = yaml.entries(patch)
        if string(theirs, "$patch") == "replace":
            return patch
        pairs: list[tuple[Node, Node]] = []
        for name, (own_key, value) in yaml.entries(base).items():
            if name not in theirs:
                pairs.append((own_key, value))
            elif not yaml.is_null(theirs[name][1]) and string(yaml.entries(theirs[name][1]), "$patch") != "delete":
                pairs.append((theirs[name][0], _merged(value, theirs[name][1], name)))
        known = yaml.entries(base)
        pairs += [pair for name, pair in theirs.items() if name not in known and not name.startswith("$")]
        return _mapping(base, pairs)
    own, other = yaml.items(base), yaml.items(patch)
    if own is None or other is None or key not in _KEYS:
        return patch
    left = list(other)
    items: list[Node] = []
    for item in own:
        match = next((one for one in left if _alike(item, one, _KEYS[key])), None)
        if match is None:
            items.append(item)
            continue
        left.remove(match)
        if string(yaml.entries(match), "$patch") != "delete":
            items.append(_item(item, match, key))
    return yaml.new_sequence([*items, *left], yaml.start(base), yaml.end(base))


def _item(base: Node, patch: Node, key: str) -> Node:
    """An item of a list after a patch: a variable's new value replaces where the old one came from."""
    theirs = yaml.entries(patch)
    merged = _merged(base, patch, "")
    if key == "env" and not {"value", "valueFrom"}.isdisjoint(theirs):
        pairs = [pair for name, pair in yaml.entries(merged).items() if name in theirs or name not in ("value", "valueFrom")]
        return _mapping(base, pairs)
    return merged


def _alike(one: Node, other: Node, keys: tuple[str, ...]) -> bool:
    values = [
        next((value for key in keys if (value := string(yaml.entries(node), key)) is not None), None) for node in (one, other)
    ]
    return values[0] is not None and values[0] == values[1]


def _put(node: Node, steps: list[str], operation: str, value: Node | None) -> Node:
    """A node after one operation at a path; as it is where there is no such place."""
    if not steps:
        return value if value is not None and operation != "test" else node
    step, rest = steps[0], steps[1:]
    if (items := yaml.items(node)) is not None:
        at = len(items) if step == "-" else int(step) if step.isdecimal() else -1
        if at < 0 or at > len(items):
            return node
        if rest:
            changed = [_put(item, rest, operation, value) if index == at else item for index, item in enumerate(items)]
        elif operation == "add" and value is not None:
            changed = [*items[:at], value, *items[at:]]
        else:
            behind = (
                [value] if operation == "replace" and value is not None else [] if operation == "remove" else items[at : at + 1]
            )
            changed = [*items[:at], *behind, *items[at + 1 :]]
        return yaml.new_sequence(changed, yaml.start(node), yaml.end(node))
    if not yaml.is_mapping(node):
        return node
    fields = yaml.entries(node)
    pairs = [pair for name, pair in fields.items() if name != step]
    if rest and step in fields:
        pairs = [(key, _put(held, rest, operation, value) if name == step else held) for name, (key, held) in fields.items()]
    elif not rest and operation in ("add", "replace") and value is not None:
        key = fields[step][0] if step in fields else yaml.new_scalar(step, yaml.start(value), yaml.start(value))
        pairs.append((key, value))
    elif operation != "remove" or rest:
        return node
    return _mapping(node, pairs)
