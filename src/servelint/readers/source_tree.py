"""What the files around a launch say is installed for it.

Beside an engine's own source tree, in a clone or a fork of its repository, that is the tree, which may be at any commit: a
launch that names no release is not judged as one. Beside a project's requirements it is the release that they pin.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.launch import Launch, ReleaseClaim
from servelint.core.source import Source, Span
from servelint.core.text import HOLE, TracedText
from servelint.engines import images
from servelint.engines.registry import ENGINES
from servelint.readers import prepared
from servelint.readers.installs import repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.files.siblings import Neighbours

_ABOVE_AT_MOST = 6
"""Folders above a file in which a tree is looked for."""

_NAMED = {
    "pyproject.toml": r"(?m)^\[(?:project|tool\.poetry)\][^\n]*\n(?:(?!\[)[^\n]*\n)*?[ \t]*name[ \t]*=[ \t]*(['\"])({})\1",
    "setup.py": r"\bname[ \t]*=[ \t]*(['\"])({})\1",
}
_PAGES = (".md", ".mdx", ".markdown", ".rst", ".ipynb")
"""Files whose commands a reader types, in an environment of their own."""
_ELSEWHERE = (
    r"\b(?:ssh|scp|docker|podman|apptainer|singularity|enroot|kubectl|conda|mamba|micromamba|pipx|uvx|sky|modal)\b"
    r"|\bpip3?[ \t]+install\b|\buv[ \t]+(?:pip|add|tool)\b|\bmodule[ \t]+load\b|--container-image\b"
    r"|(?<![\w./}$~])[/~$][^\s\"';|&]{0,200}/bin/(?:activate|python3?|sglang|vllm)\b"
)
"""What shows that a script's commands run on another machine, in a container, or in an environment of their own."""
_OWN = ("version.py", "envs.py", "launch_server.py")
"""Modules at the top of the engines' packages, one of which each release has: a folder of the same name may be another's."""


def claim(launches: list[Launch], beside: Neighbours) -> None:
    """Note the tree in which the file of a launch lies, or what it requires, where the launch names no release and no image."""
    trees: dict[str, Span | None] = {}
    required: dict[str, ReleaseClaim] | None = None

    def text_of(path: str) -> TracedText | None:
        source = beside.read(path, named=False)
        return TracedText.at(source, 0, len(source.text)) if source is not None else None

    for launch in [other for one in launches for other in one.every]:
        release, image, engine = launch.release, launch.image, launch.engine
        package = ENGINES[engine].python_package
        if not package or release.release is not None or release.how not in (None, "pip") or release.rolling:
            continue
        if image is not None and HOLE not in image.flat and images.identify(image).engine is not None:
            continue
        if engine not in trees:
            trees[engine] = _tree(engine, package, beside)
        if trees[engine] is not None:
            launch.release = ReleaseClaim(None, "source", trees[engine])
        elif launch.container is None and release.how is None and _runs_in_project(launch):
            if required is None:
                required = prepared.of_project(text_of)
            pinned = required.get(engine)
            if pinned is not None and pinned.release is not None:
                launch.release = ReleaseClaim(pinned.release, pinned.how, pinned.span, build=pinned.build, assumed=True)


def _runs_in_project(launch: Launch) -> bool:
    """Whether a launch runs in the environment of the project in which its file lies, as far as the file shows."""
    return not launch.source.path.endswith(_PAGES) and not any(
        re.search(_ELSEWHERE, source.text) for source in {launch.source, launch.site.source}
    )


def _tree(engine: str, package: str, beside: Neighbours) -> Span | None:
    """Where the nearest tree of an engine's package says what it is."""
    folders = dict.fromkeys(["", "".join([f"{folder}/" for folder in _inside(engine)])])
    for above in ["../" * count for count in range(_ABOVE_AT_MOST + 1)]:
        for folder in folders:
            for name in _NAMED:
                opened = beside.read(f"{above}{folder}{name}", named=False)
                match = _pattern(engine, name).search(opened.text) if opened is not None else None
                if opened is not None and match is not None:
                    return Span(opened, *match.span(2))
            own = _package(beside, f"{above}{folder}{package}/")
            if own is not None:
                return Span(own, 0, 0)
    return None


@lru_cache(maxsize=32)
def _pattern(engine: str, name: str) -> re.Pattern[str]:
    return re.compile(_NAMED[name].format("|".join([re.escape(one) for one in ENGINES[engine].distributions])))


def _inside(engine: str) -> list[str]:
    """The folders around an engine's package in its repository."""
    return next((folders for one, _, _, folders in repositories() if one.id == engine), [])


def _package(beside: Neighbours, folder: str) -> Source | None:
    """A module that the engine's own package has, of a folder that is a package."""
    if beside.read(f"{folder}__init__.py", named=False) is None:
        return None
    return next((one for name in _OWN if (one := beside.read(folder + name, named=False)) is not None), None)
