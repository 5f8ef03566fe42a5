"""Add the variables that the native code of releases names to a catalog: `python tools/mentions.py ENGINE RELEASE...`.

`servelint engines harvest` reads Python files only. This reads the C++, CUDA and Rust files of a source archive, or of a wheel
where there is none, and takes the names in quotes. Nothing is run.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator

from servelint.engines.catalog import compile_file
from servelint.harvest import index, store
from servelint.harvest.archives import MEMBER_LIMIT
from servelint.harvest.command import DATA, patches
from servelint.harvest.mentions import KIND, in_native_code

NATIVE = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".rs")


def members(path: str) -> Iterator[bytes]:
    """The native files of an archive."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as wheel:
            yield from (wheel.read(one) for one in wheel.infolist() if _wanted(one.filename, one.file_size))
        return
    with tarfile.open(path) as archive:
        for one in archive:
            file = archive.extractfile(one) if one.isreg() and _wanted(one.name, one.size) else None
            if file is not None:
                yield file.read()


def _wanted(name: str, size: int) -> bool:
    return name.endswith(NATIVE) and size <= MEMBER_LIMIT


def named(engine: str, release: str) -> set[str]:
    """The variables that the native files of a release name."""
    files = [file for file in index.ranked(index.files(engine)) if file.release == release]
    file = next((one for one in files if one.kind == "sdist"), files[0])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, os.path.basename(file.filename))
        with open(path, "w+b") as copy:
            index.download(file.url, copy, file.sha256, lambda _: None)
        return {name for data in members(path) for name in in_native_code(data.decode("utf-8", "replace"))}


def main(engine: str, releases: list[str]) -> None:
    """Merge the names of some releases into the catalog of an engine."""
    path = os.path.join(DATA, engine + ".json")
    with open(path, encoding="utf-8") as file:
        catalog = json.load(file)
    snapshots = [store.snapshot_of(catalog, release) for release in catalog["releases"]]
    for snapshot in snapshots:
        if snapshot["release"] in releases:
            names = named(engine, snapshot["release"]) - set(snapshot["env"])
            snapshot["names"][KIND] = {**snapshot["names"].get(KIND, {}), **{name: {} for name in sorted(names)}}
    store.write(path, store.merge(engine, snapshots, patches(engine)))
    compile_file(path)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
