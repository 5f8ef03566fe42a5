"""What a launch needs of its surroundings: the image, the container, its variables. The same for every release.

Each complaint belongs to a rule of rules/container/, which has its severity and impact; here are the words and the places.
"""

from __future__ import annotations

from servelint.acceptance.complaint import Complaint
from servelint.engines.config import Config
from servelint.surroundings import gpus, image, secrets, variables

__all__ = ["complaints"]


def complaints(config: Config) -> list[Complaint]:
    """What is wrong around a launch. config: the launch under any of its releases"""
    return [
        *image.complaints(config),
        *gpus.complaints(config),
        *secrets.complaints(config),
        *variables.complaints(config),
    ]
