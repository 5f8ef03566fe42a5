"""requirements/: every release with the hashes of its files, and nothing else; in step with pyproject.toml."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "requirements").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OF_FILE = {"runtime": (), "admission": ("admission",), "test": ("test",), "dev": ("dev",)}
_LINE = re.compile(r"[a-z0-9][a-z0-9.-]*==\S+( ; [^\\]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?|# .*")


def locked(path: Path) -> dict[str, list[Requirement]]:
    """name -> the releases that a file names, each with its marker."""
    found: dict[str, list[Requirement]] = {}
    for line in path.read_text().splitlines():
        if line[0] not in "# ":
            one = Requirement(line.removesuffix("\\").strip())
            found.setdefault(canonicalize_name(one.name), []).append(one)
    return found


def wanted(extra: str = "") -> list[Requirement]:
    """What pyproject.toml asks for under an extra, with what that extra asks of servelint itself."""
    project = PROJECT["project"]
    texts = project["optional-dependencies"][extra] if extra else project["dependencies"]
    found: list[Requirement] = []
    for one in map(Requirement, texts):
        found += [inner for name in one.extras for inner in wanted(name)] if one.name == "servelint" else [one]
    return found


def test_the_files() -> None:
    assert {path.stem for path in FILES} == {*OF_FILE, "build", "release"}


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_line_is_a_release_or_a_hash(path: Path) -> None:
    """No address, no path, no option: where the files come from is the matter of whoever installs them."""
    lines = path.read_text().splitlines()
    assert [line for line in lines if not _LINE.fullmatch(line)] == []
    text = "\n".join(lines)
    blocks = re.split(r"(?m)^(?=[a-z0-9])", text)[1:]
    assert blocks
    assert all("--hash=sha256:" in block for block in blocks)


@pytest.mark.parametrize("name", OF_FILE)
def test_what_the_project_asks_for_is_there(name: str) -> None:
    """If not: .ci/lock writes them anew."""
    there = locked(ROOT / "requirements" / f"{name}.txt")
    for one in [*wanted(), *[inner for extra in OF_FILE[name] for inner in wanted(extra)]]:
        releases = [str(found.specifier).removeprefix("==") for found in there.get(canonicalize_name(one.name), [])]
        assert releases, f"{one} is not locked"
        assert all(one.specifier.contains(release, prereleases=True) for release in releases), (one, releases)


def test_what_builds_is_there() -> None:
    there = locked(ROOT / "requirements" / "build.txt")
    for one in map(Requirement, [*PROJECT["build-system"]["requires"], "build"]):
        (found,) = there[canonicalize_name(one.name)]
        assert one.specifier.contains(str(found.specifier).removeprefix("=="))
