"""`servelint engines stack`: what a release of vLLM or SGLang runs beside, read from its published files into stack.json.

Of each release: the requirements in the metadata of its wheel, and of vLLM the CUDA and the compute capabilities that
docker/Dockerfile and .buildkite/release-pipeline.yaml of its source archive build for. The index says when a release of
Transformers came, and so which one an image holds. What was read is kept in the cache, so that the next call needs no network.
"""

from __future__ import annotations

import datetime
import io
import json
import os
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from servelint.core.data import read_json
from servelint.engines import ENGINES
from servelint.engines.releases import known_releases, release_key
from servelint.engines.stack import PACKAGES
from servelint.harvest import archives, index
from servelint.harvest.archives import HarvestError
from servelint.harvest.sources import cache_folder

Dates = dict[str, datetime.datetime]
"""Release -> when it was uploaded."""
FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "engines", "data", "stack.json")
DOCKERFILE, PIPELINE, CMAKE, METADATA = "docker/Dockerfile", ".buildkite/release-pipeline.yaml", "CMakeLists.txt", "METADATA"
_WANTED = {DOCKERFILE: DOCKERFILE, "Dockerfile": DOCKERFILE, PIPELINE: PIPELINE, CMAKE: CMAKE}
_SPELLED = {"flashinfer-python": "flashinfer", "sglang-kernel": "sgl-kernel"}
"""Names of packages on the index -> that of the operand."""
_ON_INDEX = {name: spelled for spelled, name in _SPELLED.items()}
_EXTRAS = {"vllm": [""], "sglang": ["", "srt", "runtime-common"]}
"""The extras that the project's own installation asks for."""
_BEFORE, _AFTER = datetime.timedelta(days=2), datetime.timedelta(days=5)
"""An image is built in the days around the upload of its wheel."""
_EARLIEST_PYTHON = "3.10"
"""What pip installs for it, it installs as new or newer for every later one."""


def write(path: str = FILE) -> None:
    """Read every release that servelint knows, and write the table. Raises HarvestError."""
    built = text(table(read_json(path)))
    with open(path, "w", encoding="utf-8") as file:
        file.write(built)


def text(built: dict[str, Any]) -> str:
    """The table as its file has it: a line for each list."""
    whole = json.dumps(built, indent=1, ensure_ascii=False)
    return re.sub(r"\[\s+(\"[^\n]*?),\s+(\"[^\n]*?\")\s+\]", r"[\1, \2]", whole) + "\n"


def table(known: dict[str, Any]) -> dict[str, Any]:
    """The table of all releases. What people write of their own in it, `about` and `by hand`, is kept. Raises HarvestError."""
    built: dict[str, Any] = {"about": known["about"], "by hand": known["by hand"]}
    pinned: set[str] = set()
    for engine in _EXTRAS:
        rows = rows_of(engine, known_releases(engine))
        names = list(dict.fromkeys([name for one in rows.values() for name in one]))
        built[engine] = {name: _runs({release: one.get(name, "") for release, one in rows.items()}) for name in sorted(names)}
        pinned |= {value.removeprefix("==") for _, value in built[engine].get("torch", ()) if value.startswith("==")}
    built["cuda of torch"] = {one: cuda for one in sorted(pinned, key=Version) if (cuda := _cuda_of_torch(one))}
    built["newest"] = {name: found for name in PACKAGES if (found := _newest(_uploads(_ON_INDEX.get(name, name), python=True)))}
    return built


def rows_of(engine: str, releases: Iterable[str]) -> dict[str, dict[str, str]]:
    """What is read of each release that is on the index. Raises HarvestError."""
    uploads, dates = _uploads(ENGINES[engine].distributions[0], python=False), _uploads("transformers", python=False)
    return {release: _row(engine, release, uploads, dates) for release in releases if release in uploads}


def _row(engine: str, release: str, uploads: Dates, dates: Dates) -> dict[str, str]:
    """What is read of one release: names of the table -> texts."""
    files = opened(engine, release)
    found = requirements(files.get(METADATA, ""), engine)
    day = uploads[release]
    if (asked := found.get("transformers")) is not None and not asked.startswith("=="):
        low, high = (_newest(dates, asked, day + by) for by in (-_BEFORE, _AFTER))
        low = low or _newest(dates, asked, day)  # the release asks for one that had just come
        if low is not None and high is not None:
            found["transformers of the image"] = low if low == high else f"{low} to {high}"
    return {**found, **image(files)}


def requirements(metadata: str, engine: str) -> dict[str, str]:
    """The packages of `PACKAGES` that the metadata of a wheel require, with their bounds."""
    found: dict[str, str] = {}
    environment = {"platform_system": "Linux", "sys_platform": "linux", "platform_machine": "x86_64", "python_version": "3.12"}
    for line in re.findall(r"^Requires-Dist:[ \t]*(.+)$", metadata.partition("\n\n")[0], re.MULTILINE):
        try:
            one = Requirement(line)
        except InvalidRequirement:
            continue
        spelled = canonicalize_name(one.name)
        name = _SPELLED.get(spelled, str(spelled))
        asked = one.marker is None or any(one.marker.evaluate({**environment, "extra": extra}) for extra in _EXTRAS[engine])
        if name in PACKAGES and asked:
            found.setdefault(name, ",".join(sorted(map(str, one.specifier))))
    return found


def image(files: dict[str, str]) -> dict[str, str]:
    """The CUDA of the plain image, and the capabilities that it and the wheels are built for; empty without the files."""
    dockerfile, pipeline = files.get(DOCKERFILE, ""), files.get(PIPELINE, "")
    found: dict[str, str] = {}
    cuda = re.search(r"^ARG CUDA_VERSION=(\d+\.\d+)", dockerfile, re.MULTILINE)
    listed = re.search(r"^ARG torch_cuda_arch_list='([^']+)'", dockerfile, re.MULTILINE)
    named = dict(re.findall(r"^\s+(CUDA_ARCH_\w+):\s*\"([^\"]+)\"", pipeline, re.MULTILINE))
    if cuda is not None:
        found["cuda of the image"] = cuda[1]
    whole = named.get("CUDA_ARCH_X86") or (listed[1] if listed is not None else "")
    if not whole and (supported := re.search(r"CUDA_SUPPORTED_ARCHS \"([\d.;]+)\"", files.get(CMAKE, ""))) is not None:
        whole = supported[1].replace(";", " ")
    if whole:
        found["capabilities"] = whole.replace("+PTX", "")
    arm = named.get("CUDA_ARCH_AARCH64") or _of_arm(pipeline)
    if arm:
        found["capabilities of ARM"] = arm.replace("+PTX", "")
    return found


def _of_arm(pipeline: str) -> str:
    """The list with which the first wheel for ARM is built."""
    at = re.search(r"(?:arm64|aarch64)", pipeline)
    listed = re.search(r"torch_cuda_arch_list='([^']+)'", pipeline[at.start() :]) if at is not None else None
    return listed[1] if listed is not None else ""


def opened(engine: str, release: str) -> dict[str, str]:
    """The files of a release that are read, by their names; from the cache if they were read before."""
    kept = os.path.join(cache_folder(), f"{engine}-{release}.stack.zip")
    try:
        with open(kept, "rb") as earlier:
            files = dict(archives.PackedFiles(earlier.read()))
    except (OSError, zipfile.BadZipFile):
        sys.stderr.write(f"{engine} {release}: reading\n")
        files = _read(ENGINES[engine].distributions[0], release, whole=engine == "vllm")
        os.makedirs(cache_folder(), exist_ok=True)
        with open(kept, "wb") as file:
            file.write(archives.pack(files))
    return {name: content.decode("utf-8", "replace") for name, content in files.items()}


def _read(project: str, release: str, *, whole: bool) -> dict[str, bytes]:
    """The metadata of a wheel, and of the source archive (`whole`) what builds the images."""
    mine = [file for file in _files(project) if release_key(file.release) == release_key(release)]
    wheels = [file for file in index.ranked(mine) if file.kind == "wheel" and re.search(r"linux|-any$", file.tags)]
    found: dict[str, bytes] = {}
    for wheel in sorted(wheels, key=lambda one: "aarch64" in one.tags)[:1]:
        with index.RemoteFile(wheel.url) as remote, zipfile.ZipFile(remote) as archive:
            name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
            found[METADATA] = archive.read(name)
    sdist = next((file for file in mine if file.kind == "sdist"), None)
    if whole and sdist is not None:
        buffer = io.BytesIO()
        index.download(sdist.url, buffer, sdist.sha256, lambda _: None)
        with tarfile.open(fileobj=buffer, mode="r:gz") as archive:
            for member in archive:
                name = member.name.partition("/")[2]
                reader = archive.extractfile(member) if name in _WANTED and member.isreg() else None
                if reader is not None:
                    found[_WANTED[name]] = reader.read(archives.MEMBER_LIMIT)
    if not found:
        raise HarvestError(f"{index.index_address()} has no {project} {release}")
    return found


@lru_cache(maxsize=4)
def _files(project: str) -> list[index.IndexFile]:
    return index.files(project)


@lru_cache(maxsize=8)
def _uploads(project: str, *, python: bool) -> Dates:
    """Release -> when it was uploaded. `python`: only those for the earliest Python that is asked for."""
    first: Dates = {}
    for file in _files(project):
        if not file.uploaded or (python and (file.yanked or not SpecifierSet(file.python).contains(_EARLIEST_PYTHON))):
            continue
        came = datetime.datetime.fromisoformat(file.uploaded[:19])
        first[file.release] = min(first.get(file.release, came), came)
    return first


def _newest(dates: Dates, asked: str = "", day: datetime.datetime | None = None) -> str | None:
    """The newest final release that bounds take, of a day or at all."""
    bounds = SpecifierSet(asked)
    taken = [one for one, came in dates.items() if (day is None or came <= day) and bounds.contains(one, prereleases=False)]
    return max(taken, key=Version, default=None)


def _cuda_of_torch(release: str) -> str:
    """The CUDA that PyTorch's wheel on the index is built for, by the libraries that its metadata require."""
    metadata = opened_torch(release)
    toolkit = re.search(
        r"^Requires-Dist: (?:cuda-toolkit|nvidia-cuda-runtime)[^\s=]*\s*\(?==(\d+\.\d+)", metadata, re.MULTILINE
    )
    return toolkit[1] if toolkit is not None else ""


def opened_torch(release: str) -> str:
    """The metadata of PyTorch's wheel for Linux."""
    kept = os.path.join(cache_folder(), f"torch-{release}.stack.zip")
    try:
        with open(kept, "rb") as earlier:
            return archives.PackedFiles(earlier.read())[METADATA].decode()
    except (OSError, zipfile.BadZipFile):
        files = _read("torch", release, whole=False)
        with open(kept, "wb") as file:
            file.write(archives.pack(files))
        return files[METADATA].decode()


def _runs(values: dict[str, str]) -> list[list[str]]:
    """The values of consecutive releases, each with the first release that has it; "" where there is none."""
    found: list[list[str]] = []
    for release, value in values.items():
        if len(found) > 1 and found[-2][1] == value and not found[-1][1]:
            found.pop()  # a release without a source archive stands between two that agree
        if not found or found[-1][1] != value:
            found.append([release, value])
    return found
