"""Launches that run one engine together across several nodes: ranks, sizes, images and options that must fit each other."""

from __future__ import annotations

import re

from servelint.core.finding import Related
from servelint.core.launch import Launch, Nodes
from servelint.core.source import Span
from servelint.core.text import TracedText
from servelint.engines import ENGINES, images
from servelint.engines.config import Config, Operand
from servelint.engines.config import configs as configs_of
from servelint.fixes.change import written_at
from servelint.judge.checks import product, whole
from servelint.judge.parser.view import misspelt, similar
from servelint.judge.parser.violation import Violation

_RANKS = (("node-rank", "nnodes"), ("data-parallel-start-rank", "data-parallel-size-local"))
"""The rank of a node or of its first replica, and the option by which a launch is one of several nodes."""
_CLOSED = ("LeaderWorkerSet", "PyTorchJob")
"""Kinds whose pods are all of the nodes of a launch."""
_GATHERING = ("RayCluster", "RayService", "RayJob", "MPIJob")
"""Kinds whose pods give their GPUs to the launch of one of them."""
_ADDRESSES = ("dist-init-addr", "master-addr", "data-parallel-address")
_PORT = re.compile(r":(\d{1,5})$")
INJECTED = {
    "LeaderWorkerSet": ("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX"),
    "Job": ("JOB_COMPLETION_INDEX",),
    "JobSet": ("JOB_COMPLETION_INDEX",),
    "PyTorchJob": ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE"),
}
"""Kind -> the variables that its controller adds to each container."""
_PLAIN = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob")
"""Kinds to whose containers no controller adds variables of several nodes."""
_REFERENCE = re.compile(r"\$[({]?(\w+)[)}]?")


def violations(config: Config) -> list[Violation]:
    """The violations between the launches of several nodes, and in the variables that join them."""
    found = _variables(config)
    nodes = config.launch.nodes
    if nodes is None:
        return found
    peers = _peers(config, nodes)
    return [
        *found,
        *_size(config, nodes),
        *_ranks(config, nodes, peers),
        *_gpus(config, nodes),
        *_images(config, peers),
        *_options(config, peers),
    ]


def _peers(config: Config, nodes: Nodes) -> list[Config]:
    """The launches of the other nodes, read as the same release reads them.

    Launches that only stand in one file are nodes of one launch if they say so: as many as --nnodes, each with a rank.
    """
    own = config.launch
    place = _place(own, nodes)
    if place is None:
        return []
    releases = [config.release] if config.release is not None else []
    each = [
        config if number == place else configs_of(one, releases)[0]
        for number, (one, _) in enumerate(nodes.parts)
        if one.engine == own.engine
    ]
    if not nodes.kind:
        size = whole(config, "nnodes")
        each = [
            one for one in each if size is not None and whole(one, "nnodes") == size and _where(one) == _where(config) != ""
        ]
        if len(each) != size or any(not isinstance(one.operand("node-rank").value, int) for one in each):
            return []
    return [one for one in each if one is not config]


def _place(launch: Launch, nodes: Nodes) -> int | None:
    """The place of a launch, or of the launch that it is an alternative of, among those of the nodes."""
    return next(
        (
            number
            for number, (one, _) in enumerate(nodes.parts)
            if one is launch or (one.source is launch.source and one.line == launch.line and one.name == launch.name)
        ),
        None,
    )


def _where(config: Config) -> str:
    """The address at which the nodes of a launch meet, "" if it is not known."""
    given = [config.operand(name) for name in (*_ADDRESSES, "master-port", "model", "model-path")]
    known = [str(one.value) for one in given if one.value is not None]
    return " ".join(known) if any(config.operand(name).value is not None for name in _ADDRESSES) else ""


def _first(config: Config, peers: list[Config]) -> Config | None:
    """The launch to compare with: the leader's; None for the leader itself."""
    nodes = config.launch.nodes
    order = [one for one, _ in nodes.parts] if nodes is not None else []
    own = _place(config.launch, nodes) if nodes is not None else None
    before = [one for one in peers if own is not None and order.index(one.launch) < own]
    return min(before, key=lambda one: order.index(one.launch), default=None)


def _size(config: Config, nodes: Nodes) -> list[Violation]:
    """A number of nodes that is not the number of pods."""
    given = config.operand("nnodes")
    size = whole(config, "nnodes")
    if nodes.kind not in _CLOSED or nodes.size is None or size in (None, nodes.size) or given.span is None:
        return []
    message = f"--nnodes {size} in a {nodes.kind} of {nodes.size} pods: "
    message += "the nodes wait for more nodes and never start" if (size or 0) > nodes.size else "the other nodes cannot join"
    related = [Related(nodes.site, "this many pods")] if nodes.site is not None else []
    change = written_at(given.text.written if given.text is not None else None, str(nodes.size))
    title = advice = f"write --nnodes {nodes.size}"
    if nodes.kind == "LeaderWorkerSet":
        advice = "write --nnodes $(LWS_GROUP_SIZE), which is the size of the group"
    label = "not the number of pods"
    return [Violation("nodes-not-pods", given.span, message, advice, label, related=related, change=change, title=title)]


def _ranks(config: Config, nodes: Nodes, peers: list[Config]) -> list[Violation]:
    """The same rank on several nodes."""
    found: list[Violation] = []
    for name, switch in _RANKS:
        rank = config.operand(name)
        several = config.operand(switch)
        alone = several.present is False or (name == "node-rank" and whole(config, switch) == 1)
        if alone or not ENGINES[config.launch.engine].several_nodes:
            continue
        number = whole(config, name, 0)
        if number is None or (rank.text is not None and rank.text.assumed):
            continue  # such as a default that the controller's own variable replaces
        count = next((count for one, count in nodes.parts if one is config.launch), None)
        same = next((one for one in peers if one.operand(switch).present is not False and whole(one, name, 0) == number), None)
        span = rank.span or several.span
        written = f"--{name} {number}" if rank.present else f"--{name} is not given, which is 0,"
        advice = f"give each node a different --{name}, counted from 0"
        if nodes.kind == "srun":
            advice = f"write --{name} $SLURM_PROCID in a script that each task runs"
        if nodes.kind == "LeaderWorkerSet":
            advice = f"write --{name} $(LWS_WORKER_INDEX)" + ("" if name == "node-rank" else " times the replicas of a node")
        if nodes.kind and count is not None and count > 1:
            started = "tasks that srun starts" if nodes.kind == "srun" else "pods that this template starts"
            message = f"{written} on all {count} {started}: nodes with the same rank do not find each other"
            related = [Related(nodes.site, "this many pods")] if nodes.site is not None else []
            found.append(Violation("same-node-rank", span, message, advice, "the same on each", related=related))
        elif same is not None and same is _first(config, [same]):
            place = same.operand(name).span or same.operand(switch).span
            related = [Related(place, "the same rank")] if place is not None else []
            message = f"{written} as on another node of this launch: nodes with the same rank do not find each other"
            found.append(Violation("same-node-rank", span, message, advice, "given twice", related=related))
    return found


def _gpus(config: Config, nodes: Nodes) -> list[Violation]:
    """More ranks than all pods have GPUs, where they give them to one launch."""
    engine = ENGINES[config.launch.engine]
    gathered = nodes.kind in _GATHERING or config.operand("distributed-executor-backend").value == "ray"
    ranks = product(config, engine.rank_operands)
    if not nodes.kind or not gathered or nodes.gpus is None or ranks is None or ranks <= nodes.gpus:
        return []
    span = next((span for name in engine.rank_operands if (span := config.operand(name).span) is not None), None)
    message = f"{engine.name} needs {ranks} GPUs, but all pods of this {nodes.kind} together request {nodes.gpus}"
    related = [Related(nodes.site, "this many pods")] if nodes.site is not None else []
    advice = "lower the parallel sizes, or give it more pods or more GPUs in each"
    return [Violation("gpus-of-all-nodes", span, message, advice, "more than all nodes have", related=related)]


def _images(config: Config, peers: list[Config]) -> list[Violation]:
    """Nodes that run different releases of the engine."""
    first = _first(config, peers)
    own, other = config.launch.image, first.launch.image if first is not None else None
    if own is None or other is None or own.value is None or other.value is None or own.value == other.value:
        return []
    claims = [images.identify(image).claim.release for image in (own, other)]
    names = [image.value.partition("@")[0].rpartition(":")[0] for image in (own, other) if image.value is not None]
    # two tags of one repository differ where nothing is known of them; one release may be built twice
    differ = claims[0] != claims[1] if None not in claims else claims == [None, None] and names[0] == names[1]
    if not differ:
        return []
    span, place = own.span(), other.span()
    if span is None:
        return []
    name = ENGINES[config.launch.engine].name
    message = f"the nodes of this launch run different images of {name}: {own.value} on this node, {other.value} on node 0"
    related = [Related(place, "on node 0")] if place is not None else []
    return [
        Violation("node-images-differ", span, message, "run the same image on all nodes", "not that of node 0", related=related)
    ]


def _options(config: Config, peers: list[Config]) -> list[Violation]:
    """Options that all nodes must give alike."""
    first = _first(config, peers)
    if first is None:
        return []
    found: list[Violation] = []
    nodes = config.launch.nodes
    counted = nodes is not None and nodes.kind in _CLOSED and nodes.size is not None
    for name, default in ENGINES[config.launch.engine].node_options.items():
        if name == "nnodes" and counted:
            continue  # compared with the number of pods
        own, other = config.operand(name), first.operand(name)
        values = [_value(one, default) for one in (own, other)]
        if None in values or values[0] == values[1]:
            continue
        found.append(_differs(config, name, own, other, values))
    for name in _ADDRESSES:
        own, other = config.operand(name), first.operand(name)
        ports = [_PORT.search(one.text.flat) if one.text is not None else None for one in (own, other)]
        if None not in ports and ports[0][1] != ports[1][1]:  # type: ignore[index]
            found.append(_differs(config, name, own, other, [f"port {port[1]}" for port in ports if port is not None]))
    return found


def _value(operand: Operand, default: int | None) -> object:
    """The value of an option; None if it is not known, or a default that a variable may replace."""
    if operand.text is not None and operand.text.assumed:
        return None
    return default if operand.present is False else operand.value


def _differs(config: Config, name: str, own: Operand, other: Operand, values: list[object]) -> Violation:
    option = name.removeprefix("effective.")
    message = f"--{option} is {values[0]} on this node and {values[1]} on node 0: all nodes of a launch need the same"
    related = [Related(other.span, "on node 0")] if other.span is not None else []
    span = own.span or config.operand("nnodes").span
    return Violation(
        "node-options-differ", span, message, f"write the same --{option} on each node", "not as on node 0", related=related
    )


def _variables(config: Config) -> list[Violation]:
    """References to variables that nothing sets, spelled almost as one that the controller adds."""
    launch = config.launch
    kind = launch.name.partition("/")[0]
    if ".containers." not in launch.name and not launch.name.endswith(".container"):
        return []
    injected = INJECTED.get(kind, ())
    found: list[Violation] = []
    for text in _texts(launch):
        for piece in text.pieces:
            match = _REFERENCE.fullmatch(piece.shown or "") if piece.span is not None else None
            name = match[1] if match is not None else ""
            if not name or name in launch.env or name in injected or name != name.upper():
                continue
            close = misspelt(name, injected)
            if close is None and injected and name.startswith(injected[0].partition("_")[0] + "_"):
                close = similar(name, injected, 0.6)
            found += _not_set(config, name, close, piece.span, kind)
    return found


def _texts(launch: Launch) -> list[TracedText]:
    return [*[word.text for word in launch.argv], *[one.value for one in launch.env.values() if one.value is not None]]


def _not_set(config: Config, name: str, close: str | None, span: Span | None, kind: str) -> list[Violation]:
    if span is None:
        return []
    if close is not None:
        message = f"nothing sets {name}: the variable that a {kind} gives its containers is {close}"
        change = written_at(span, span.text.replace(name, close))
        return [
            Violation(
                "node-variable-not-set", span, message, f"write {close}", "not set", change=change, title=f"write {close}"
            )
        ]
    if kind not in _PLAIN or config.launch.open_env:
        return []
    owner = next((one for one, names in INJECTED.items() if one == "LeaderWorkerSet" and name in names), None)
    if owner is None:
        return []
    message = f"nothing sets {name}: only a {owner} gives it to its containers, and this is a {kind}"
    return [Violation("node-variable-not-set", span, message, f"set {name}, or make it a {owner}", "not set")]
