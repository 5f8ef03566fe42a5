"""What a launch needs of its surroundings: the image, the container, its variables. The same for every release.

Each complaint belongs to a rule of rules/container/, which has its severity and impact; here are the words and the places.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.container import gpus, image, nodes, secrets, variables
from servelint.judge.parser.complaint import Complaint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.judge.container.allowed import Options

__all__ = ["complaints"]


def complaints(config: Config, options: Options) -> list[Complaint]:
    """What is wrong around a launch. config: the launch under any of its releases;  options: those of each complaint's rule"""
    found = [
        *image.complaints(config, options),
        *gpus.complaints(config),
        *nodes.complaints(config),
        *secrets.complaints(config, options),
        *variables.complaints(config),
    ]
    container = config.launch.container
    if container is not None and container.runtime is not None:
        from servelint.judge.container import ports, probes, shared_memory, upkeep

        found += shared_memory.complaints(config)
        found += ports.complaints(config)
        found += probes.complaints(config, options)
        found += upkeep.complaints(config)
    return found
