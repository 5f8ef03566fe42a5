"""The GPUs that a container is given, and the network between several nodes of them."""

from __future__ import annotations

import re

from servelint.core.finding import Related
from servelint.core.launch import NO_GPUS, Container, Launch
from servelint.core.numbers import whole_number
from servelint.core.text import TracedText
from servelint.engines import ENGINES, images
from servelint.engines.config import Config
from servelint.engines.registry import derived
from servelint.fixes.change import Change
from servelint.judge.checks import product, whole
from servelint.judge.parser.violation import Violation

_WITHOUT = r"cpu|xeon|rocm|xpu|gaudi|hpu|tpu|neuron|ascend|npu|musa|openvino|metal|vulkan"
_WORD = r"(?<![a-z])(?:{})(?![a-z])"
"""In a path, where `input` and `baremetal` are other words."""
_WITH = r"(?i)cuda|nvidia|nvcr|-cu\d"
_VISIBLE = "CUDA_VISIBLE_DEVICES"


def violations(config: Config) -> list[Violation]:
    """The violations in the GPUs of a container, and in the network of a launch across several nodes."""
    container = config.launch.container
    if container is None:
        return [*_no_device(config), *_nodes(config)]
    return [
        *_no_device(config),
        *_none(config, container),
        *_visible(config, container),
        *_below(config, container),
        *_idle(config, container),
        *_requested(container),
        *_nodes(config),
    ]


def _none(config: Config, container: Container) -> list[Violation]:
    """A container that requests no GPU in any of the ways of its runtime."""
    launch, engine = config.launch, ENGINES[config.launch.engine]
    if container.reserved is not False or container.open:
        return []
    if launch.nodes is not None and launch.nodes.kind and launch.nodes.gpus:
        return []  # it starts its ranks in the pods that have them
    image = launch.image
    if image is None or image.value is None or _elsewhere(config):
        return []
    for_gpus = any(name in image.value.lower() for name in engine.gpu_images) or re.search(_WITH, image.value) is not None
    if not for_gpus and (images.identify(image).house or not engine.needs_gpu):
        return []  # it may be built for anything
    about = f"{launch.source.path}\n{_heading(launch)}"
    if re.search(_WITHOUT, image.value, re.IGNORECASE) or re.search(_WORD.format(_WITHOUT), about, re.IGNORECASE):
        return []
    named = config.operand("env.NVIDIA_VISIBLE_DEVICES")
    if named.value in NO_GPUS:
        message = f"NVIDIA_VISIBLE_DEVICES={named.value} gives this container no GPU: {engine.name} finds none"
        return [Violation("no-gpu", named.span, message, "write all, or the indexes of the GPUs", "without a GPU")]
    message = f"this container requests no GPU: {engine.name} finds none unless the host's default runtime adds them"
    if launch.name.startswith("services."):
        advice = "reserve them: deploy.resources.reservations.devices with driver nvidia and capabilities [gpu], or gpus: all"
    elif container.runtime is not None and not container.runtime.declared:
        advice = "add --gpus all"
    else:
        advice = "request them: resources.limits nvidia.com/gpu"
    return [Violation("no-gpu", None, message, advice, "without a GPU")]


def _heading(launch: Launch) -> str:
    """The heading of Markdown above a launch in a page, "" elsewhere: `## With a CPU only`."""
    source = launch.source
    above = re.findall(r"(?m)^#{1,6}[ \t]+([^\n]*)", source.text[: launch.site.start]) if source.is_page else []
    return above[-1] if above else ""


def _elsewhere(config: Config) -> bool:
    """Whether the engine may be set to run on other devices than NVIDIA's GPUs."""
    own = [(config.operand(name), value) for name, value in ENGINES[config.launch.engine].cpu_operands]
    if any(one.present is not False and (one.value is None or str(one.value) == value) for one, value in own):
        return True
    device = config.operand("device")
    if device.present is not False and device.value not in ("cuda", "auto"):
        return True
    return any(name.startswith(_device_variables()) for name in config.launch.env)


@derived
def _device_variables() -> tuple[str, ...]:
    return tuple([name for engine in ENGINES.values() for name in engine.device_variables])


_NO_DEVICE = r"(?i)all|any|auto|cuda(?::?\d+)?|gpu:?\d*|nvidia|true|\[.*"
"""What other variables and options take; NVIDIA_VISIBLE_DEVICES takes `all`."""


def _no_device(config: Config) -> list[Violation]:
    """A first device that CUDA does not know, where it is the end of the list."""
    visible = config.operand("env." + _VISIBLE)
    if not isinstance(visible.value, str) or visible.span is None or not re.fullmatch(_NO_DEVICE, visible.value.strip()):
        return []
    message = f"{_VISIBLE}={visible.value} names no GPU, and CUDA hides every GPU behind a name that it does not know"
    advice = f"delete {_VISIBLE}, without which every GPU is visible, or list indexes (0,1)"
    change, title = Change(unset=_VISIBLE), f"delete {_VISIBLE}"
    mild = not ENGINES[config.launch.engine].needs_gpu
    return [Violation("visible-devices", visible.span, message, advice, "not a device", change=change, title=title, mild=mild)]


def _visible(config: Config, container: Container) -> list[Violation]:
    """Indexes of GPUs that the container does not have: inside it they count from 0."""
    visible = config.operand("env." + _VISIBLE)
    held = container.visible_gpus
    if not isinstance(visible.value, str) or not held or not container.reserved:
        return []
    devices = [one.strip() for one in visible.value.split(",")]
    numbers = [whole_number(one) for one in devices]
    beyond = [one for one, number in zip(devices, numbers, strict=True) if number is not None and number >= held]
    if not beyond or None in numbers or visible.span is None:
        return []
    left = devices.index(beyond[0])
    sees = "sees none" if left == 0 else f"sees {left} of {len(devices)}"
    gives = "one GPU, which is 0 in it" if held == 1 else f"{held} GPUs, which are 0 to {held - 1} in it"
    message = f"{_VISIBLE}={visible.value} in a container with {gives}: the engine {sees}"
    advice = f"delete {_VISIBLE}: the container gets its own GPUs, numbered from 0"
    change, title = Change(unset=_VISIBLE), f"delete {_VISIBLE}"
    label = "of the host, not of the container"
    ranks = product(config, ENGINES[config.launch.engine].rank_operands)
    enough = left > 0 and (ranks is None or ranks <= left)
    return [Violation("visible-devices", visible.span, message, advice, label, change=change, title=title, mild=enough)]


def _below(config: Config, container: Container) -> list[Violation]:
    """Fewer GPUs than the launch has ranks, unless the engine has rules of its own about that."""
    engine = ENGINES[config.launch.engine]
    names = engine.rank_operands if not engine.own_gpu_rules else ()
    runtime = container.runtime
    ranks = ranks_here(config, names)
    first = next((given for name in names if (given := config.operand(name)).present and str(given.value) != "1"), None)
    if not container.visible_gpus or runtime is None or not runtime.direct or ranks is None or first is None:
        return []
    if ranks <= container.visible_gpus:
        return []
    message = f"{engine.name} needs {ranks} GPUs, but this container requests {container.gpus}"
    advice = f"request {ranks}, or lower the number of ranks"
    limit = container.settings.get("gpu_limit")
    site = limit.span() if limit is not None else None
    related = [Related(site, "the GPUs of the container")] if site is not None else []
    return [Violation("gpus-below-ranks", first.span, message, advice, "more than it requests", related=related)]


def _idle(config: Config, container: Container) -> list[Violation]:
    """GPUs that are reserved and not used."""
    needed = _needed(config)
    runtime = container.runtime
    if needed is None or container.gpus is None or container.gpus <= needed or runtime is None or not runtime.direct:
        return []
    name = ENGINES[config.launch.engine].name
    message = f"this container requests {container.gpus} GPUs, but {name} uses {needed}"
    advice = f"reserve {needed}, or set the tensor or data parallel size to use them all"
    limit = container.settings.get("gpu_limit")
    span = limit.span() if limit is not None else None
    return [Violation("idle-gpus", span, message, advice, "more than it uses")]


def _needed(config: Config) -> int | None:
    """The number of GPUs that a launch uses; None if it is unknown."""
    engine = ENGINES[config.launch.engine]
    if not engine.counts_gpus or any(config.operand(name).present is not False for name in engine.uncounted_operands):
        return None
    shared = config.operand(engine.shared_replicas_operand).value if engine.shared_replicas_operand else False
    if shared is None:
        return None
    return ranks_here(
        config, engine.rank_operands if shared else (*engine.rank_operands, *filter(None, (engine.replicas_operand,)))
    )


def ranks_here(config: Config, operands: tuple[str, ...]) -> int | None:
    """The ranks of one node: the product of sizes, shared evenly by the nodes; None if it is unknown or not even."""
    nodes, ranks = whole(config, "nnodes", 1), product(config, operands)
    return ranks // nodes if nodes and ranks is not None and nodes > 0 and ranks % nodes == 0 else None


def _requested(container: Container) -> list[Violation]:
    """Requests and limits of GPUs that the API server refuses."""
    request, limit = container.settings.get("gpu_request"), container.settings.get("gpu_limit")
    for text in (limit, request):
        span = text.span() if text is not None else None
        if text is not None and span is not None and _is_part(text):
            message = f"nvidia.com/gpu: {text.value} is refused by Kubernetes, which assigns whole GPUs only"
            return [Violation("gpu-request", span, message, "write a whole number", "a part of a GPU")]
    if request is None or request.value is None or request.value in ("", "0") or (span := request.span()) is None:
        return []
    if limit is None:
        if container.open:
            return []
        message = f"nvidia.com/gpu: {request.value} is requested without a limit, which Kubernetes requires for GPUs"
        return [Violation("gpu-request", span, message, "write nvidia.com/gpu under limits", "no limit")]
    site = limit.span()
    if limit.value is not None and limit.value != request.value and site is not None:
        message = (
            f"nvidia.com/gpu: {request.value} is requested with a limit of {limit.value}: Kubernetes requires both to be equal"
        )
        related = [Related(site, "the limit")]
        return [Violation("gpu-request", span, message, "write the limit alone", "not the limit", related=related)]
    return []


def _is_part(text: TracedText) -> bool:
    value = text.value or ""
    if re.fullmatch(r"\d*\.\d+", value):
        return float(value) != int(float(value))
    return value.endswith("m") and (whole_number(value[:-1]) or 0) % 1000 != 0


_INTERFACES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")
_ADDRESSES = ("master-addr", "dist-init-addr", "nccl-init-addr")
_LOOPBACK = ("127.", "localhost", "[::1]", "::1", "tcp://127.", "tcp://localhost")


def _nodes(config: Config) -> list[Violation]:
    """Loopback interfaces and addresses, over which the nodes of a launch cannot reach each other."""
    if not ENGINES[config.launch.engine].several_nodes or (whole(config, "nnodes", 1) or 1) < 2:
        return []
    nodes = config.operand("nnodes")
    related = [Related(nodes.span, "several nodes")] if nodes.span is not None else []
    found: list[Violation] = []
    for name in _INTERFACES:
        variable = config.operand("env." + name)
        if isinstance(variable.value, str) and variable.value.lstrip("=") == "lo":
            message = f"{name}={variable.value} binds this node to its loopback interface: the other nodes cannot reach it"
            advice = "name the interface that joins the nodes (ip route get ADDRESS prints it), or delete it"
            found.append(
                Violation("nodes-on-loopback", variable.span, message, advice, "of this machine alone", related=related)
            )
    container = config.launch.container
    pods = config.launch.nodes is not None and bool(config.launch.nodes.kind)
    alone = container is not None and container.runtime is not None and container.runtime.private and container.runtime.direct
    for name in _ADDRESSES:
        address = config.operand(name)
        if (alone or pods) and isinstance(address.value, str) and address.value.startswith(_LOOPBACK):
            message = f"--{name} {address.value} is this container itself: no other node can join"
            advice = "write an address of node 0 that the others reach, the same on every node"
            found.append(Violation("nodes-on-loopback", address.span, message, advice, "of this container", related=related))
    return found
