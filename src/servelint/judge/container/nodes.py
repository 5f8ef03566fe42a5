"""What a launch over several nodes needs of their network."""

from __future__ import annotations

from servelint.core.finding import Related
from servelint.engines import ENGINES
from servelint.engines.config import Config
from servelint.judge.checks.values import whole
from servelint.judge.parser.complaint import Complaint

_INTERFACES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")
_ADDRESSES = ("master-addr", "dist-init-addr", "nccl-init-addr")
_LOOPBACK = ("127.", "localhost", "[::1]", "::1", "tcp://127.", "tcp://localhost")


def complaints(config: Config) -> list[Complaint]:
    if not ENGINES[config.launch.engine].several_nodes or (whole(config, "nnodes", 1) or 1) < 2:
        return []
    nodes = config.operand("nnodes")
    related = [Related(nodes.span, "several nodes")] if nodes.span is not None else []
    found: list[Complaint] = []
    for name in _INTERFACES:
        variable = config.operand("env." + name)
        if isinstance(variable.value, str) and variable.value.lstrip("=") == "lo":
            message = f"{name}={variable.value} binds this node to its loopback interface: the other nodes cannot reach it"
            advice = "name the interface that joins the nodes (ip route get ADDRESS says which), or delete it"
            found.append(
                Complaint("nodes-on-loopback", variable.span, message, advice, "of this machine alone", related=related)
            )
    container = config.launch.container
    alone = container is not None and container.runtime is not None and container.runtime.private and container.runtime.direct
    for name in _ADDRESSES:
        address = config.operand(name)
        if alone and isinstance(address.value, str) and address.value.startswith(_LOOPBACK):
            message = f"--{name} {address.value} is this container itself: no other node can join"
            advice = "write an address of node 0 that the others reach, the same on every node"
            found.append(Complaint("nodes-on-loopback", address.span, message, advice, "of this container", related=related))
    return found
