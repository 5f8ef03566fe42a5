"""Which release reads a file that names none: that of the compose file or the Dockerfile that mounts or copies it."""

from __future__ import annotations

import os
import re

from servelint.core.launch import Launch, ReleaseClaim
from servelint.core.source import Source
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours

_FILES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "Dockerfile")


def give_release(found: list[Launch], source: Source, neighbours: Neighbours) -> None:
    """Give launches of one engine the only release that starts in a file beside a source, or above, which names the source.

    They keep theirs if no such file starts the engine, or if several releases start there.
    """
    claim = _release_of(source, neighbours, found[0].engine) if found else None
    if claim is not None:
        for launch in found:
            launch.release = claim


def _release_of(source: Source, neighbours: Neighbours, engine: str) -> ReleaseClaim | None:
    from servelint import readers

    name = os.path.basename(source.path)
    inside = os.path.basename(os.path.abspath(neighbours.folder)) if neighbours.folder is not None else ""
    for files, path in ((neighbours, name), (neighbours.below(".."), f"{inside}/{name}")):
        for one in _FILES:
            found = files.read(one)
            if found is None or re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w.-])", found.text) is None:
                continue
            claims = [launch.release for launch in readers.read(found, files).launches if launch.engine == engine]
            if claims:
                same = all((claim.release, claim.build) == (claims[0].release, claims[0].build) for claim in claims)
                return claims[0] if same else None
    return None


def beside_server(found: list[Launch]) -> list[Launch]:
    """Give models that clients ask for the only release whose server the file starts; leave out those of other servers."""
    servers = [launch for launch in found if not launch.fragment]
    kept: list[Launch] = []
    for launch in found:
        if launch.fragment and launch.name in ENGINES[launch.engine].model_commands:
            claims = [one.release for one in servers if one.engine == launch.engine]
            if len({(claim.release, claim.build, claim.rolling) for claim in claims}) != 1 or not claims[0].release:
                continue
            launch.release = claims[0]
        kept.append(launch)
    return kept
