"""What the launcher of a server for each replica asks of a node.

Source: validate_multi_port_external_lb_args in vllm-0.33.0 vllm/entrypoints/launchers/dp_supervisor.py:52-118; the same in
0.22.0 except for TLS (0.23.0).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    for option in ("grpc", "uds"):
        given = config.operand(option)
        if given.present is True and given.value is not False:
            return {"reason": f"does not go with --{option}"}
    servers = whole(config, "api-server-count")
    if servers is not None and servers != 1:
        return {"reason": f"takes one API server for each replica, not --api-server-count {servers}"}
    replicas, local = whole(config, "data-parallel-size"), config.operand("data-parallel-size-local")
    if local.present is False:
        return {"reason": "needs --data-parallel-size-local, the replicas of this node"}
    size = whole(config, "data-parallel-size-local")
    if replicas is None or size is None:
        return None
    if size < 2:
        return {"reason": f"needs at least two replicas on a node, not --data-parallel-size-local {size}"}
    if replicas % size:
        return {"reason": f"needs a --data-parallel-size that --data-parallel-size-local divides, not {replicas} and {size}"}
    supervisor, port = whole(config, "data-parallel-supervisor-port"), whole(config, "port", 8000)
    if supervisor is not None and port is not None and port <= supervisor < port + size:
        return {
            "reason": f"has its servers on the ports {port} to {port + size - 1}, of which {supervisor} is the supervisor's"
        }
    first = whole(config, "data-parallel-start-rank")
    if first is not None and first + size > replicas:
        return {"reason": f"has no {size} replicas from --data-parallel-start-rank {first} on"}
    return None
