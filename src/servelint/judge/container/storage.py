"""What a runtime gives a container: shared memory for several ranks, a restart policy."""

from __future__ import annotations

import re

from servelint.core.finding import Related
from servelint.core.launch import Container, Runtime
from servelint.core.source import Span
from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.config import Config
from servelint.judge.container.gpus import ranks_here
from servelint.judge.parser.violation import Violation

_SIZE = r"(?i)(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?"
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_RUNTIME = 64 * 2**20
"""The bytes of shared memory that runtimes give a container by default."""
_SHM = "/dev/shm"  # noqa: S108 - compared with


def violations(config: Config, container: Container) -> list[Violation]:
    """The violations in the shared memory and the restart policy of a container."""
    runtime = container.runtime
    if runtime is None:
        return []
    return [*_shared_memory(config, container, runtime), *_restarts(runtime)]


def _shared_memory(config: Config, container: Container, runtime: Runtime) -> list[Violation]:
    ranks = _ranks(config)
    if container.image is not None and "tpu" in container.image.flat:
        return []  # one process may drive all the chips of a host
    if ranks is None or _enough(container, runtime):
        return []
    size = container.settings.get("shm_size")
    span = (size.span() if size is not None else None) or ranks[1]
    name = ENGINE_NAMES[config.launch.engine]
    message = f"{ranks[0]} ranks of {name} share /dev/shm, which has 64 MiB in this container"
    if runtime.declared:
        advice = "mount an emptyDir with medium: Memory at /dev/shm"
    elif config.launch.name.startswith("services."):
        advice = "add ipc: host or shm_size: 16gb"
    else:
        advice = "add --ipc=host or --shm-size=16g"
    related = [Related(ranks[1], "several ranks")] if ranks[1] is not None and span != ranks[1] else []
    return [Violation("small-shared-memory", span, message, advice, "ranks in one container", related=related)]


def _ranks(config: Config) -> tuple[int, Span | None] | None:
    """The number of ranks that share tensors, and its span; None for a single one, or if the number is unknown."""
    engine = ENGINES[config.launch.engine]
    if not engine.ranks_share_memory:
        return None
    operands, several = engine.rank_operands, config.operand("nnodes").present is not False
    if several and engine.replicas_operand and not engine.shared_replicas_operand:
        operands = (*operands, engine.replicas_operand)  # nodes share all of them
    count = ranks_here(config, operands)
    if count is None or count < 2:
        return None
    return count, next((span for name in engine.rank_operands if (span := config.operand(name).span) is not None), None)


def _enough(container: Container, runtime: Runtime) -> bool:
    """Whether a container has more shared memory than runtimes give by default, or may have."""
    if runtime.mounts is None or "ipc" in container.settings or "dev_shm" in container.settings:
        return True
    if any(not path.known or path.flat.rstrip("/") in (_SHM, "/dev") for path in runtime.mounts):
        return True
    size = container.settings.get("shm_size")
    if size is None:
        return False
    known = _bytes(size)
    return known is None or known > _RUNTIME


def _bytes(size: TracedText) -> float | None:
    match = re.fullmatch(_SIZE, size.value or "")
    return float(match.group(1)) * _UNITS[match.group(2).lower()] if match is not None else None


_FOR_EVER = ("always", "unless-stopped")


def _restarts(runtime: Runtime) -> list[Violation]:
    if runtime.restart is None or runtime.restart.value not in _FOR_EVER or runtime.restart.span() is None:
        return []
    how = runtime.restart.value
    message = f"restart: {how} restarts a server that cannot start, after minutes of loading each time"
    advice = "limit the restarts: restart: on-failure:3"
    return [Violation("restarts-for-ever", runtime.restart.span(), message, advice, "has no limit")]
