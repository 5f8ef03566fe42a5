"""Checks of what a container is given, for rules about one engine's images."""

from __future__ import annotations

import re

from servelint.engines import ENGINES, images
from servelint.engines.config import Config

_WORDS = r"\s*(?:- )?(?:command|args):\s*\[?\s*[\"']?(?:(?:[\w./-]*/)?%s[\"']?,?\s*[\"']?)?"
"""What stands before the verb where a container starts the program itself, without a shell."""


def outside(config: Config) -> dict[str, str] | None:
    """Hold for a launch on the host itself, not in a container nor in the script that one starts with."""
    name = config.launch.source.path.rpartition("/")[2].lower()
    return {} if config.launch.container is None and "entrypoint" not in name else None


def by_image(config: Config) -> dict[str, str] | None:
    """Hold where the image or the unit of the engine's makers starts it, so that no script reads the variables first."""
    verb = config.launch.verb
    return {} if (verb[0].site is None if verb else config.launch.container is not None) else None


def own_variables(config: Config) -> dict[str, str] | None:
    """Hold where no script reads the engine's variables before it: also in a unit, and where its own command line sets them."""
    launch = config.launch
    site = launch.verb[0].site if launch.verb else None
    if site is None:
        return by_image(config)
    ahead = launch.source.text[launch.source.text.rfind("\n", 0, site.start) + 1 : site.start]
    program = re.escape(ENGINES[launch.engine].command[0])
    if re.match(r"ExecStart=\S*$", ahead) or (launch.container is not None and re.fullmatch(_WORDS % program, ahead)):
        return {}
    prefix = launch.engine.upper() + "_"
    own = [one.site for name, one in launch.env.items() if name.startswith(prefix)]
    first = min((one.start if one is not None else -1 for one in own), default=-1)
    alone = site.start - len(ahead) <= first and re.fullmatch(r"(?:[A-Z_]+=\S*\s+)*", ahead.lstrip())
    return {} if alone else None


def given_no_gpu(config: Config) -> dict[str, str] | None:
    """Hold where a container requests no GPU or device in any of the ways of its runtime."""
    container = config.launch.container
    return {} if container is not None and container.reserved is False and not container.open else None


def checked_by_image(config: Config) -> dict[str, str] | None:
    """Hold where Docker runs the health check of an image of the makers, in a container that starts the server."""
    container = config.launch.container
    runtime = container.runtime if container is not None else None
    if container is None or container.image is None or container.open or "build" in container.settings or runtime is None:
        return None
    image = images.identify(container.image)
    return {} if runtime.checked and runtime.direct and image.entrypoint and not image.house else None
