"""Containers at any depth of an object and in the patches of a kustomization, with what surrounds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from servelint.core.launch import Container, Launch, Mishap, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText, unknown
from servelint.engines import entry
from servelint.engines.catalog import load
from servelint.engines.images import of_house_name, of_names
from servelint.engines.products import product
from servelint.readers import embedded, together
from servelint.readers.commands import SHELLS, script_launches
from servelint.readers.containers import identified, in_container
from servelint.readers.context import CommandContext
from servelint.readers.kubernetes import environment, nodes, refused, runtime, services
from servelint.readers.kubernetes.environment import expand, no_variable
from servelint.readers.kubernetes.objects import (
    PATCHES,
    File,
    Object,
    Overrides,
    entries,
    hidden,
    listed,
    objects,
    own_images,
    string,
)
from servelint.syntax import yaml, yaml_values
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node, section

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_LISTS = ("containers", "initContainers")
_SINGLE = ("container", "mainContainer", "runner")
_ROUTERS = (".router", ".routerConfig")
"""Where OME has runners that only hand requests on."""
_NOT_INSIDE = frozenset(("metadata", "status", "openAPIV3Schema"))
UNNAMED = frozenset(("spec", "template", "leaderWorkerTemplate", "items", "extraPodSpec"))
_SELECTING = frozenset(("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"))
"""Kinds that the cluster refuses without a selector: one that has none may be a patch."""
_DEVICES = r"\b(?:cdi\.k8s\.(?:io|container[\w.-]*)/?|io\.kubernetes\.cri-o\.Devices|run\.oci\.handler)"
"""Annotations with which a container runtime adds devices that no resource names."""
_PATCHES = ("patch", "overlay", "kustom", "component")
"""Words in the paths of patches."""
_TAKES_MORE = frozenset(("ServingRuntime", "ClusterServingRuntime", "LLMInferenceServiceConfig"))
"""Kinds whose containers are given more arguments and variables by the objects that use them."""
_OPTION = re.compile(r"[-+][A-Za-z]+|--")
_DEPTH = 64


class Pod:
    """A mapping with containers.

    Attributes:
        path: "Deployment/llm", "LeaderWorkerSet/llm.leaderTemplate".
        complete: Whether no other file adds to the object, as far as its shape says.
        more: Whether the object that uses it adds arguments and variables.
        images: What a kustomization makes of its images.
        injected: Variables that a controller adds, for the scripts in it.
        devices: Whether an annotation gives it devices, as CDI and CRI-O read them.
        owner: The object that it stands in; None for a patch.
        judged: Whether a container of it has what is refused in the pod.
    """

    __slots__ = ("complete", "devices", "fields", "file", "images", "injected", "judged", "more", "owner", "path")

    def __init__(self, file: File, fields: Entries, path: str, images: Overrides | None = None) -> None:
        self.file = file
        self.fields = fields
        self.path = path
        self.complete = True
        self.more = False
        self.images = images
        self.injected: dict[str, Variable] = {}
        self.devices = False
        self.owner: Object | None = None
        self.judged = False

    def containers(self) -> Iterator[tuple[str, Entries]]:
        """(name as launches show it, fields) of each container."""
        for key in _LISTS:
            listed = yaml.items(yaml.field(self.fields, key))
            for index, item in enumerate(listed or []):
                if (fields := entries(item)) and self.file.once_more(item):
                    name = f"{self.path}.{key}.{string(fields, 'name') or index}"
                    yield from [(name, one) for one in _alternatives(self.file.source, item, fields)]
        for key in _SINGLE if not self.path.endswith(_ROUTERS) else ():
            if yaml.is_mapping(yaml.field(self.fields, key)) and self.file.once_more(self.fields[key][1]):
                yield f"{self.path}.{key}", entries(self.fields[key][1])


def _alternatives(source: Source, item: Node, fields: Entries) -> list[Entries]:
    """The entries of a container, once for each command that a template may give it."""
    mask = yaml.mask_of(source)
    if mask is None or mask.text is None:
        return [fields]
    from servelint.syntax import template_yaml

    return template_yaml.alternatives(item, fields, mask)


def of_object(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launches of every container of an object."""
    found: list[Launch] = []
    parts: list[tuple[Pod, list[Launch]]] = []
    for pod in pods(file, one, images):
        own: list[Launch] = []
        containers: dict[str, list[Launch]] = {}
        for name, fields in pod.containers():
            started = of_container(pod, name, fields)
            containers.setdefault(name, []).extend(started)
            own += started
        # one container after the other is none of them; what a script starts may be one after the other as well
        side_by_side = [each for name, each in containers.items() if name.startswith(f"{pod.path}.containers.")]
        together.join([each[0] for each in side_by_side if len(each) == 1])
        parts.append((pod, own))
        found += own
    if found:
        nodes.join(file, one, parts)
    return [*found, *_annotated(file, one, images)]


def _annotated(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launches of a pod, or of a patch for one, that an annotation holds as YAML for a controller."""
    found: list[Launch] = []
    for above in (("metadata",), ("spec", "template", "metadata")):
        for _, value in section(one.fields, *above, "annotations").values():
            text = yaml.scalar(value) or ""
            if "containers:" in text and "apiVersion" not in text and entry.mentions(text):
                found += embedded.of_yaml(file.source, value, partial(_patches, f"{one.label}.annotations", images))
    return found


def pods(file: File, one: Object, images: Overrides | None = None) -> Iterator[Pod]:
    """The mappings of an object that hold containers, however deep."""
    complete = one.kind not in _SELECTING or _is_whole(file, one)
    injected = _injected(file, one)
    text = file.source.text[yaml.start(one.node) : yaml.end(one.node)]
    devices = "annotations" in text and re.search(_DEVICES, text) is not None
    for fields, path in walk(file, one.node, one.label):
        pod = Pod(file, fields, path, images)
        pod.complete = complete
        pod.more = one.kind in _TAKES_MORE
        pod.injected = injected
        pod.devices = devices
        pod.owner = one
        yield pod


def _is_whole(file: File, one: Object) -> bool:
    """Whether an object of a kind that needs a selector is more than a patch: it has a selector, or the labels for one."""
    spec = section(one.fields, "spec")
    if "selector" in spec:
        return True
    name = file.source.path.replace("\\", "/").lower()
    return "labels" in section(spec, "template", "metadata") and not any(word in name for word in _PATCHES)


def walk(file: File, node: Node, path: str) -> Iterator[tuple[Entries, str]]:
    """(entries, path) of each mapping that holds containers."""
    waiting: list[tuple[Node, str, int]] = [(node, path, 0)]
    while waiting and file.left > 0:
        node, path, depth = waiting.pop()
        if (items := yaml.items(node)) is not None:
            inside = [(item, _below(path, item, index), depth + 1) for index, item in enumerate(items[: file.left])]
        else:
            fields = entries(node)
            if _holds_containers(fields):
                yield fields, path
            inside = [
                (value, path if key in UNNAMED else f"{path}.{key}" if path else key, depth + 1)
                for key, (_, value) in fields.items()
                if key not in _NOT_INSIDE and key not in _LISTS and not isinstance(value.value, str)
            ]
        file.left -= 1 + len(inside)
        if depth < _DEPTH:
            waiting += reversed(inside)


def _holds_containers(fields: Entries) -> bool:
    if any(key in fields and yaml.items(fields[key][1]) is not None for key in _LISTS):
        return True
    return any({"image", "command", "args"} & section(fields, key).keys() for key in _SINGLE)


def _below(path: str, item: Node, index: int) -> str:
    name = string(yaml.entries(item), "name") or str(index)
    return f"{path}.{name}" if path else name


def _injected(file: File, one: Object) -> dict[str, Variable]:
    """What the controller of a LeaderWorkerSet adds, as far as the object says it."""
    size = section(one.fields, "spec", "leaderWorkerTemplate").get("size")
    if one.kind != "LeaderWorkerSet" or size is None or yaml.scalar(size[1]) is None:
        return {}
    value = expand(yaml.text(file.source, size[1]), no_variable).softened()
    return {"LWS_GROUP_SIZE": Variable("LWS_GROUP_SIZE", value, yaml.span(file.source, size[1]))}


_BY_RANK = re.compile(r"(?:\[|\bcase\b|\btest\b|(?:if|^)\s*\(\()[^\n$]*\$?\{?LWS_WORKER_INDEX")
"""A condition of a script that the pods of one group take in different ways."""


_OF_RAY = re.compile(r"\b(?:headGroupSpec|workerGroupSpecs)\b")
"""Parts of a Ray cluster: KubeRay starts Ray in a container without a command, whatever its image would start."""

# -- containers


def of_container(pod: Pod, name: str, fields: Entries) -> list[Launch]:
    """The launches of one container."""
    image_text = image_of(pod, fields)
    if image_text is None and "command" not in fields and "args" not in fields:
        return []
    if "command" not in fields and "args" not in fields and _OF_RAY.search(name) is not None:
        return []
    given = environment.of_container(pod.file, fields)
    command, args = words(pod.file.source, fields, given)
    image = identified(image_text)
    injected = pod.injected
    by_rank = bool(injected) and any(_BY_RANK.search(word.text.flat) for word in [*(command or []), *(args or [])])
    if by_rank:
        index = TracedText((unknown("${LWS_WORKER_INDEX}", None),))
        injected = {**injected, "LWS_WORKER_INDEX": Variable("LWS_WORKER_INDEX", index, None)}
    patch = image_text is None or hidden(fields)
    complete = pod.complete and not patch and not pod.more
    context = CommandContext(
        pod.file.source,
        name,
        extent(pod.file.source, [fields[key] for key in ("command", "args") if key in fields] or [fields["image"]]),
        {**injected, **given.variables},
        container_of(pod, fields, image_text, complete),
        image.claims,
        open_env=given.open or not complete,
        open=environment.opener(pod.file, pod.fields, fields),
    )
    rest = args or []
    if pod.more or (patch and args is None):
        rest = [*rest, unseen()]
    found = in_container(command, rest, image, context)
    if not found and image_text is None and command is None:
        found = _script(pod.file.source, fields, given, context)
        if not found and not pod.complete:
            found = _named(pod, name, string(fields, "name") or "", fields) or _named(pod, name, _called(pod), fields)
    elif not found and command is None and image_text is not None and image.engine is None and product(image_text.flat) is None:
        called = image_text.flat.partition("@")[0].rpartition("/")[2].partition(":")[0]
        found = _named(pod, name, f"{_called(pod)}-{called}", fields, image_text)
    if found and pod.path.partition("/")[0] in runtime.KINDS:
        found[0].mishaps = [*found[0].mishaps, *_not_strings(pod.file.source, fields), *_refused(pod, fields, given, complete)]
    for launch in found:
        environment.show_injected(launch, given)
        launch.likely = launch.likely or by_rank  # some of a group's pods take each branch
    return found


def _refused(pod: Pod, fields: Entries, given: environment.Environment, complete: bool) -> list[Mishap]:
    """What the API server refuses around a container, once for what belongs to its whole pod."""
    mask = yaml.mask_of(pod.file.source)
    if not complete or hidden(pod.fields) or (mask is not None and mask.text is not None):
        return []  # a template writes only one of its branches
    found = refused.of_container(pod.file.source, fields)
    if (owner := pod.owner) is not None:
        found += refused.missing_keys(pod.file, fields)
        if owner.kind in refused.SIMPLE:
            found += refused.undefined(pod.file.source, fields, given)
        if not pod.judged:
            found += [*refused.of_pod(pod.file, owner, pod.fields), *services.mishaps(pod.file, owner, pod.fields)]
            pod.judged = True
    return found


def _not_strings(source: Source, fields: Entries) -> list[Mishap]:
    """Words of the command and values of variables that are numbers or booleans, where Kubernetes takes only strings."""
    nodes = [item for key in ("command", "args") if key in fields for item in yaml.items(fields[key][1]) or []]
    nodes += [one["value"][1] for one in map(entries, listed(fields, "env")) if "value" in one]
    found: list[Mishap] = []
    for node in nodes:
        if yaml.is_scalar(node) and yaml.tag(node) == yaml.PLAIN and yaml.text(source, node).known:
            known = yaml_values.plain(node.value, yaml_values.KUBERNETES)
            if isinstance(known, (bool, int, float)):
                found.append(Mishap("not-a-string", yaml.span(source, node), node.value))
    return found


def container_of(pod: Pod, fields: Entries, image: TracedText | None, complete: bool) -> Container:
    """What a launch runs in.

    Args:
        pod: The pod.
        fields: The container.
        image: Its image.
        complete: Whether no other file adds to it.
    """
    more = not complete or hidden(fields, "volumeMounts") or hidden(pod.fields, "volumes", "nodeSelector", "affinity")
    how = runtime.of_container(pod.file.source, pod.path, pod.fields, fields) if complete else None
    if how is not None and pod.owner is not None:
        how.services = services.asking(pod.file, pod.owner, pod.fields)
    return Container(
        image, settings(pod, fields), *runtime.gpus(fields, pod.fields, complete and not pod.devices), open=more, runtime=how
    )


def _script(source: Source, fields: Entries, given: environment.Environment, context: CommandContext) -> list[Launch]:
    """The launches of a patch's only argument, where the command is not shown and must be a shell: it has white space."""
    args = _listed(source, fields, "args") or []
    if len(args) != 1 or args[0].many or not any(map(str.isspace, args[0].text.flat.strip())):
        return []
    return script_launches(expand(args[0].text, given.variables.get, script=True), context, None)


def words(source: Source, fields: Entries, given: environment.Environment) -> tuple[list[Word] | None, list[Word] | None]:
    """The words of `command` and of `args`; None where they are not given, so that the image's own hold."""
    command, args = (_listed(source, fields, key) for key in ("command", "args"))
    every = [*(command or []), *(args or [])]
    scripts = _scripts(every)
    expanded = [
        Word(expand(word.text, given.variables.get, script=index in scripts), word.site, word.many)
        for index, word in enumerate(every)
    ]
    count = len(command or [])
    return (expanded[:count] if command is not None else None), (expanded[count:] if args is not None else None)


def _listed(source: Source, fields: Entries, key: str) -> list[Word] | None:
    if key not in fields or yaml.is_null(fields[key][1]):
        return None
    node = fields[key][1]
    items, found = yaml.written_items(source, node) if yaml.is_sequence(node) else None, yaml.listed(source, node)
    if yaml.is_sequence(node) and not node.value:
        return None  # as if it were not given
    if items is None:
        # Kubernetes refuses a string; some operators split it
        return split(yaml.text(source, node)) if found is None else found
    scalars = iter(found or [])
    return [_collection(source, item) if yaml.is_collection(item) else next(scalars) for item in items]


def _collection(source: Source, item: Node) -> Word:
    """What stands where a word should: `- --flag: value`."""
    site = yaml.span(source, item)
    return Word(TracedText((unknown(site.text, site),)), site, many=True)


def _scripts(words: list[Word]) -> set[int]:
    """The indexes of words that a shell reads as a script: `bash -euo pipefail -c SCRIPT`."""
    found: set[int] = set()
    for index, word in enumerate(words):
        if entry.program(word) not in SHELLS:
            continue
        at, given = index + 1, False
        while at < len(words) and _OPTION.fullmatch(words[at].text.flat):
            flat = words[at].text.flat
            given = given or (flat[0] == "-" and "c" in flat)
            at += 2 if flat.endswith("o") else 1
        if given:
            found.add(at)
    return found


def unseen() -> Word:
    """Words that another file may add."""
    return Word(TracedText((unknown("...", None, shown=""),)), None, many=True)


def image_of(pod: Pod, fields: Entries) -> TracedText | None:
    """The image that a container runs, as a kustomization beside the file may replace it; None for a patch."""
    if "image" not in fields or yaml.scalar(fields["image"][1]) is None:
        return None
    text = expand(yaml.text(pod.file.source, fields["image"][1]), no_variable)
    return pod.images.applied(text) if pod.images is not None else text


def extent(source: Source, nodes: list[tuple[Node, Node]]) -> Span:
    """From the first of some keys to the end of their values; the value of an alias stands elsewhere, often before its key."""
    start = min(yaml.start(key) for key, _ in nodes)
    ends = [max(yaml.end(key), yaml.span(source, value).end) for key, value in nodes]
    return Span(source, start, max(ends))


def settings(pod: Pod, fields: Entries) -> dict[str, TracedText]:
    """The settings of a container, by the names that checks use."""
    source = pod.file.source
    found = {
        "gpu_product": runtime.product(source, pod.fields, fields),
        "dev_shm": runtime.shared_memory(source, fields, pod.fields),
        "ipc": runtime.ipc(source, pod.fields),
        "privileged": runtime.privileged(source, fields),
        "gpu_request": runtime.resource(source, fields, "requests"),
        "gpu_limit": runtime.resource(source, fields, "limits"),
    }
    return {name: text for name, text in found.items() if text is not None}


_CONTAINER = re.compile(r"(?P<place>/\S*/(?:containers|initContainers)/(?:\d+|-))(?:/(?P<field>.+))?")
_MANY_OPTIONS = 3
_OPERATIONS = ("add", "replace", "test")


def kustomization(file: File, one: Object, _images: Overrides | None) -> list[Launch]:
    """The launches of the patches that a kustomization holds itself."""
    own = own_images(file.source, one.fields)
    found: list[Launch] = []
    for key in PATCHES:
        for item in listed(one.fields, key):
            fields = yaml.entries(item)
            text = fields["patch"][1] if "patch" in fields else item
            target = section(fields, "target")
            label = "/".join([part for part in (string(target, "kind"), string(target, "name")) if part]) or one.label
            found += embedded.of_yaml(file.source, text, partial(_patches, label, own))
    return found


def _patches(label: str, images: Overrides | None, source: Source, documents: list[Node]) -> list[Launch]:
    file = File(source, documents)
    return [launch for document in documents for launch in of_patch(file, document, label, images)]


def of_patch(file: File, document: Node, label: str, images: Overrides | None) -> list[Launch]:
    """The launches of one patch.

    Args:
        file: The file.
        document: The patch.
        label: What it is for, if it does not say so itself.
        images: What the kustomization makes of its images.
    """
    if (operations := yaml.items(document)) is not None:
        return of_operations(file, operations, label, images)
    found: list[Launch] = []
    for one in objects([document]):
        for fields, path in walk(file, one.node, one.label or label):
            found += _of_pod(file, fields, path, images)
    return found


def of_operations(file: File, operations: list[Node], label: str, images: Overrides | None = None) -> list[Launch]:
    """The launches of a JSON 6902 patch: what it says of one container is taken together."""
    containers: dict[str, Entries] = {}
    found: list[Launch] = []
    for item in operations:
        fields = yaml.entries(item)
        path = string(fields, "path")
        if string(fields, "op") not in _OPERATIONS or path is None or "value" not in fields:
            continue
        key, value = fields["value"]
        target = _CONTAINER.fullmatch(path)
        if target is None:
            for inside, below in walk(file, value, label + path.replace("/", ".")):
                found += _of_pod(file, inside, below, images)
            continue
        known = containers.setdefault(target.group("place"), {})
        field = target.group("field")
        if field is None:
            known.update(yaml.entries(value))
        elif field == "args/0":
            known["args"] = (key, yaml.new_sequence([value], yaml.start(value), yaml.end(value)))
        elif "/" not in field:
            known[field] = (key, value)
    for path, fields in containers.items():
        pod = Pod(file, {}, label, images)
        pod.complete = False
        parts = [part for part in path.strip("/").split("/") if part not in UNNAMED]
        name = ".".join([label, *parts])
        found += of_container(pod, name, fields) or _named(pod, name, label.partition("/")[2], fields)
    return found


def _called(pod: Pod) -> str:
    """The name of the object that a pod is of."""
    return pod.path.partition(".")[0].rpartition("/")[2]


def _named(pod: Pod, name: str, target: str, fields: Entries, image: TracedText | None = None) -> list[Launch]:
    """The launch of arguments for an object or a container that is called after an engine.

    Args:
        pod: The pod.
        name: What the launch is called.
        target: What the object or the container is called, and its image if that says no engine.
        fields: The container, or what a patch says of it.
        image: The image; None if it stands elsewhere.
    """
    engine = (of_names([target]).engine if image is None else None) or of_house_name(target)
    given = environment.of_container(pod.file, fields)
    _, args = words(pod.file.source, fields, given)
    options = {word.text.flat.partition("=")[0] for word in args or [] if word.text.flat.startswith("--")}
    if engine is None or "command" in fields or len(options) < _MANY_OPTIONS or "--model" not in options:
        return []
    catalog = load(engine) if target != string(fields, "name") else None
    if catalog is not None and not all(catalog.spelled(option) or catalog.starting(option) for option in options):
        return []
    context = CommandContext(
        pod.file.source, name, None, given.variables, container_of(pod, fields, image, complete=False), open_env=True
    )
    return [context.launch(engine, [*(args or []), unseen()], extent(pod.file.source, [fields["args"]]))]


def _of_pod(file: File, fields: Entries, path: str, images: Overrides | None) -> list[Launch]:
    pod = Pod(file, fields, path, images)
    pod.complete = False
    return [launch for name, container in pod.containers() for launch in of_container(pod, name, container)]
