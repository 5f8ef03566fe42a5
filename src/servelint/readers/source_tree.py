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
from servelint.files.siblings import Neighbours
from servelint.readers import prepared
from servelint.readers.installs import RELEASE, repositories

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
    served: list[Launch] | None = None

    def text_of(path: str) -> TracedText | None:
        source = beside.read(path, named=False)
        return TracedText.at(source, 0, len(source.text)) if source is not None else None

    for launch in [other for one in launches for other in one.every]:
        release, image, engine = launch.release, launch.image, launch.engine
        if release.release is not None or release.how not in (None, "pip") or release.rolling:
            continue
        if image is not None and HOLE not in image.flat and images.identify(image).engine is not None:
            continue
        package = ENGINES[engine].python_package
        if package and engine not in trees:
            trees[engine] = _tree(engine, package, beside)
        if trees.get(engine) is not None:
            launch.release = ReleaseClaim(None, "source", trees[engine])
        elif launch.container is None and release.how is None:
            served = _services(launch.source, beside) if served is None else served
            said = [one.release for one in served if one.engine == engine]
            said += _of_image(launch, beside) + _of_environment(launch, beside)
            if package and _runs_in_project(launch):
                required = prepared.of_project(text_of) if required is None else required
                said += [required[engine]] if engine in required else []
            first = said[0] if said else None
            # files that do not agree say nothing
            if first is not None and first.release is not None and {one.release for one in said} == {first.release}:
                launch.release = ReleaseClaim(first.release, first.how, first.span, build=first.build, assumed=True)


_SCRIPTS = (".sh", ".bash", ".py", ".slurm", ".sbatch")
_IMAGES = ("Dockerfile", "Containerfile", "docker/Dockerfile", "Dockerfile.{}", "docker/Dockerfile.{}", "{}.Dockerfile")
_FOLDERS = ("", "../", "../../")


_PROJECTS = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")


def _services(script: Source, beside: Neighbours) -> list[Launch]:
    """The launches of the compose files around a script whose services run it in their containers."""
    from servelint import readers

    name = script.path.rpartition("/")[2]
    if not name.endswith(_SCRIPTS):
        return []
    found: list[Launch] = []
    for folder, files in (("", beside), ("../", beside.below(".."))):
        for project in _PROJECTS:
            if (opened := beside.read(folder + project, named=False)) is not None and name in opened.text:
                launched = readers.read(opened, files).launches
                found += [one for one in launched if one.container is not None and _stands_in(one, name)]
    return found


def _stands_in(launch: Launch, name: str) -> bool:
    """Whether a file of this name has a word of a launch of another file."""
    spans = [span for word in launch.argv if (span := word.text.span()) is not None]
    return any(span.source is not launch.source and span.source.path.rpartition("/")[2] == name for span in spans)


def _of_image(launch: Launch, beside: Neighbours) -> list[ReleaseClaim]:
    """The release in each image that a Dockerfile around a script makes and copies it into."""
    from servelint.readers.dockerfile_stages import Stage, stages

    name = launch.source.path.rpartition("/")[2]
    if not name.endswith(_SCRIPTS):
        return []

    def brings(stage: Stage) -> bool:
        copied = [one.instruction.text.flat for one in stage.steps if one.instruction.keyword in ("COPY", "ADD")]
        started = [word.text.flat for command in (stage.entrypoint, stage.cmd) if command is not None for word in command.words]
        named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
        return any(named.search(one) for one in copied) or (bool(copied) and any(named.search(one) for one in started))

    found: list[ReleaseClaim] = []
    for folder in _FOLDERS:
        for path in dict.fromkeys(one.format(launch.engine) for one in _IMAGES):
            opened = beside.read(folder + path, named=False)
            if opened is None or name not in opened.text:
                continue
            made = [one for one in stages(TracedText.at(opened, 0, len(opened.text))) if brings(one)]
            found += [one.claims.get(launch.engine, ReleaseClaim()) for one in made]
    return found


_ENTERED = (
    r"(?m)(?P<path>[^\s\"';&|()=]+)/bin/(?:activate|python3?|{})(?![\w-])"
    r"|\b(?:conda|mamba|micromamba|source)[ \t]+activate[ \t]+[\"']?(?P<named>[^\s\"';&|]+)"
)
"""An environment that a script enters or takes a program from, with the programs of an engine."""
_SETUPS = tuple(
    f"{folder}{name}.sh"
    for folder in ("", "../", "scripts/", "../scripts/", "setup/")
    for name in (
        "setup",
        "install",
        "setup_env",
        "setup-env",
        "setup_venv",
        "create_env",
        "install_{}",
        "setup_{}",
        "bootstrap",
    )
)
"""Scripts that make the environments of others."""
_MAKES = r"(?m)^[^#\n]*(?:\bvenv\b|\bvirtualenv\b|\b(?:conda|mamba|micromamba)\b|activate|\w*(?:ENV|env)\w*=)[^\n]*"


def _of_environment(launch: Launch, beside: Neighbours) -> list[ReleaseClaim]:
    """The release in the virtual environment of a script, by each script beside it that makes this environment."""
    from servelint.readers import installs

    text, own = launch.source.text, launch.source.path.rpartition("/")[2]
    programs = "|".join([re.escape(one) for start in ENGINES[launch.engine].starts for one in start.programs]) or "python3"
    names = {_name(match["path"] or match["named"], text) for match in re.finditer(_ENTERED.format(programs), text)}
    name = names.pop() if len(names) == 1 else None
    if not own.endswith(_SCRIPTS) or name is None or not ENGINES[launch.engine].distributions:
        return []
    found: list[ReleaseClaim] = []
    for path in dict.fromkeys(one.format(launch.engine) for one in _SETUPS):
        opened = beside.read(path, named=False) if path != own else None
        if opened is None or "install" not in opened.text:
            continue
        lines = [line.replace("-m venv", "-m", 1) for line in re.findall(_MAKES, opened.text)]
        if not any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", line) for line in lines):
            continue
        folder = path.rpartition("/")[0]
        whole = TracedText.at(opened, 0, len(opened.text))
        made = installs.installed(whole, files=beside.below(folder).read if folder else beside.read)
        if launch.engine in made:
            claim = made[launch.engine]
            packages = "|".join([re.escape(one) for one in ENGINES[launch.engine].distributions])
            pins = {one["release"] for one in re.finditer(_PINNED.format(packages), opened.text)}
            found.append(claim if pins <= {claim.release} else ReleaseClaim())
    return found


_PINNED = rf"(?i)(?<![\w.-])(?:{{}})==(?P<release>{RELEASE})"


def _name(path: str, script: str) -> str | None:
    """The name of an environment by its path, or by the value that a script gives to the variable of its path."""
    last = path.rpartition("/")[2]
    if (variable := re.fullmatch(r"\$\{?(\w+)\}?", last)) is not None:
        values = re.findall(rf"(?m)^[ \t]*(?:export[ \t]+)?{variable[1]}=[\"']?([^\s\"';]+)", script)
        last = values[0].rstrip("}").rpartition("/")[2].rpartition(":-")[2] if len(values) == 1 else ""
    return last if re.fullmatch(r"[\w.-]+", last) else None


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
            if (own := _package(beside, f"{above}{folder}{package}/")) is not None:
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
