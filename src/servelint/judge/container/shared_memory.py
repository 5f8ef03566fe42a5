"""The shared memory of a container, which the ranks of a launch over several GPUs use."""

from __future__ import annotations

import re

from servelint.core.finding import Related
from servelint.core.launch import Container
from servelint.core.source import Span
from servelint.core.text import Text
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.config import Config
from servelint.judge.checks.values import product
from servelint.judge.parser.complaint import Complaint

_SIZE = r"(?i)(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?"
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_RUNTIME = 64 * 2**20
"""What runtimes give a container that asks for nothing."""
_SHM = "/dev/shm"  # noqa: S108 - compared with


def complaints(config: Config) -> list[Complaint]:
    container = config.launch.container
    ranks = _ranks(config)
    if container is None or container.runtime is None or ranks is None or _enough(container):
        return []
    size = container.settings.get("shm_size")
    span = (size.span() if size is not None else None) or ranks[1]
    name = ENGINE_NAMES[config.launch.engine]
    message = f"{ranks[0]} ranks of {name} share /dev/shm, and this container has 64 MiB of it"
    if container.runtime.declared:
        advice = "mount an emptyDir with medium: Memory at /dev/shm"
    elif config.launch.name.startswith("services."):
        advice = "add ipc: host or shm_size: 16gb"
    else:
        advice = "add --ipc=host or --shm-size=16g"
    related = [Related(ranks[1], "several ranks")] if ranks[1] is not None and span != ranks[1] else []
    return [Complaint("small-shared-memory", span, message, advice, "of one container", related=related)]


def _ranks(config: Config) -> tuple[int, Span | None] | None:
    """How many ranks share tensors, and what says so; None for one, or if it is not known."""
    engine = ENGINES[config.launch.engine]
    count = product(config, engine.rank_operands) if engine.ranks_share_memory else None
    if count is None or count < 2 or config.operand("nnodes").present is not False:
        return None
    return count, next((span for name in engine.rank_operands if (span := config.operand(name).span) is not None), None)


def _enough(container: Container) -> bool:
    """Whether a container has more shared memory than runtimes give by themselves, or may have."""
    runtime = container.runtime
    if runtime is None or runtime.mounts is None or "ipc" in container.settings or "dev_shm" in container.settings:
        return True
    if any(not path.known or path.flat.rstrip("/") in (_SHM, "/dev") for path in runtime.mounts):
        return True
    size = container.settings.get("shm_size")
    if size is None:
        return False
    known = _bytes(size)
    return known is None or known > _RUNTIME


def _bytes(size: Text) -> float | None:
    match = re.fullmatch(_SIZE, size.value or "")
    return float(match.group(1)) * _UNITS[match.group(2).lower()] if match is not None else None
