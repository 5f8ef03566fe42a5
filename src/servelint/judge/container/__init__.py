"""Violations in what surrounds a launch: the image, the container, its variables. They are the same for every release.

Each belongs to a rule of rules/container/, which has its severity and impact; messages and places are made here.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.container import gpus, image, launching, variables
from servelint.judge.parser.violation import Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.judge.parser.violation import Options

__all__ = ["not_started", "violations"]

not_started = launching.not_started


def _between_nodes(config: Config) -> list[Violation]:
    launch = config.launch
    if launch.nodes is None and "/" not in launch.name:
        return []
    from servelint.judge.container import nodes

    return nodes.violations(config)


def _between_servers(config: Config) -> list[Violation]:
    if not config.launch.meanwhile or config.launch.launcher:
        return []
    from servelint.judge.container import ports

    return ports.violations(config)


def violations(config: Config, options: Options) -> list[Violation]:
    """The violations around a launch.

    Args:
        config: the launch under any of its releases.
        options: the options of each violation's rule.
    """
    found = [
        *image.violations(config, options),
        *gpus.violations(config),
        *variables.violations(config, options),
        *launching.violations(config),
        *_between_nodes(config),
        *_between_servers(config),
    ]
    container = config.launch.container
    # another program around the engine listens where it likes
    if container is not None and container.runtime is not None and not config.launch.launcher:
        from servelint.judge.container import model_files, network, storage

        found += [*storage.violations(config, container), *model_files.violations(config, container.runtime)]
        found += network.violations(config, container.runtime, options)
    return found
