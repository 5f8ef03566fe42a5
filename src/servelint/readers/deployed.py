"""What files say of one another: the release of the compose file or the Dockerfile that mounts or copies a file without one,
and the launches that take in what another file holds.
"""

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
        if launch.fragment and ENGINES[launch.engine].names_model(launch.name):
            claims = [one.release for one in servers if one.engine == launch.engine]
            if len({(claim.release, claim.build, claim.rolling) for claim in claims}) != 1 or not claims[0].release:
                continue
            launch.release = claims[0]
        kept.append(launch)
    return kept


def whole(found: list[Launch]) -> list[Launch]:
    """The launches of several files without the parts that stand in one of them: each counts once.

    Such a part is a variable of a `.env` file that a launch beside it reads, a file of options that it names, the model that a
    client asks a server for, or a list in a chart's values whose words a launch of the chart's templates has. What a container
    of another file runs counts there, and so does a Python program that another file starts.
    """
    parts = [one for one in found if one.fragment or _values_of(one) is not None]
    run = {
        _place(one)
        for one in found
        if one.source.path != one.site.source.path and (one.container is not None or one.site.source.path.endswith(".py"))
    }
    if run:  # another file runs the program: it is not started without it as well
        found = [
            one
            for one in found
            if one.container is not None or one.source.path != one.site.source.path or _place(one) not in run
        ]
    if not parts:
        return found
    folders: dict[tuple[str, str], list[Launch]] = {}
    for one in found:
        if not one.fragment:
            folders.setdefault((one.engine, _folder(one)), []).append(one)
    gone = {id(part) for part in parts if _is_part(part, folders)}
    return [one for one in found if id(one) not in gone]


def _place(launch: Launch) -> tuple[str, str, int]:
    return launch.engine, os.path.normpath(launch.site.source.path), launch.site.start


def _folder(launch: Launch) -> str:
    return os.path.dirname(os.path.normpath(launch.source.path).replace("\\", "/"))


def _values_of(launch: Launch) -> str | None:
    """The folder of the chart in whose own values a launch stands."""
    path = launch.source.path.replace("\\", "/")
    own = launch.owner is None and not launch.fragment and path.endswith(("/values.yaml", "/values.yml"))
    return _folder(launch) if own else None


def _is_part(part: Launch, folders: dict[tuple[str, str], list[Launch]]) -> bool:
    if part.fragment and ENGINES[part.engine].names_model(part.name):
        return True
    chart = _values_of(part)
    folder = f"{_folder(part)}/"
    words = {word.shown for word in part.argv if not word.many}
    for (engine, place), launches in folders.items():
        if engine != part.engine:
            continue
        rendered = chart is not None and f"{place}/".startswith(f"{chart}/templates/")
        beside = chart is None and (f"{place}/".startswith(folder) or folder.startswith(f"{place}/"))
        if rendered and words and any(words <= {word.shown for word in one.argv} for one in launches):
            return True
        if beside and any(_reads(one, part) for one in launches):
            return True
    return False


def _reads(launch: Launch, part: Launch) -> bool:
    """Whether a launch takes in the variable or the file that a fragment stands in."""
    if re.fullmatch(r"[A-Za-z_]\w*", part.name) is None:
        return False
    if re.search(rf"(?m)^[ \t]*(?:export[ \t]+)?{part.name}=", part.source.text) is not None:
        return re.search(rf"\$\{{?{part.name}\b", launch.source.text) is not None
    file = os.path.basename(part.source.path)
    return part.name == "config" and any(re.search(rf"(?:^|[/=]){re.escape(file)}$", one.shown) for one in launch.argv)
