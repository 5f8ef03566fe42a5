"""Everything that a result depends on is among the questions that are stored with it.

What reading and judging a file look at is traced, and what asking the stored questions again looks at. A new access to a file,
to the environment or to the clock that the second does not make would be a cache that gives stale answers.
"""

from __future__ import annotations

import builtins
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fuzz.histories import FAMILIES, SETTINGS
from servelint.core.result import Report
from servelint.core.settings import DEFAULT
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lint import add_source, beside
from servelint.readers.discover import read_file

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").rglob("*") if path.is_file())
LOOKS = ("stat", "lstat", "open", "readlink", "listdir", "scandir", "access")
OWN = tuple({os.path.realpath(one) for one in (sys.prefix, sys.base_prefix, ROOT / "src", ROOT / "rules")})
"""The program itself: its digest is in the name of each entry."""


class _Variables(dict[str, str]):
    """An environment that notes what is asked of it."""

    def __init__(self, values: Mapping[str, str], seen: set[str]) -> None:
        super().__init__(values)
        self.seen = seen

    def get(self, name: str, default: Any = None) -> Any:
        self.seen.add(f"${name}")
        return super().get(name, default)

    def __getitem__(self, name: str) -> str:
        self.seen.add(f"${name}")
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.seen.add(f"${name}")
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self.seen.add("$*")
        return super().__iter__()


@contextmanager
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Note the paths, variables and clocks that a block looks at, without the program's own files."""
    seen: set[str] = set()

    def noting(does: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **more: Any) -> Any:
            path = args[0] if args else more.get("path", ".")
            if isinstance(path, (str, os.PathLike)):
                full = os.path.normpath(os.path.join(os.getcwd() if more.get("dir_fd") is None else "below", path))
                if not full.startswith(OWN):
                    seen.add(full)
            return does(*args, **more)

        return noted

    def clock(name: str) -> Callable[[], float]:
        def read() -> float:
            seen.add(name)
            return 0

        return read

    with monkeypatch.context() as patch:
        for name in LOOKS:
            patch.setattr(os, name, noting(getattr(os, name)))
        patch.setattr(builtins, "open", noting(builtins.open))
        variables: MutableMapping[str, str] = _Variables(os.environ, seen)
        patch.setattr(os, "environ", variables)
        for name in ("time", "time_ns"):
            patch.setattr(time, name, clock(name))
        yield seen


def unrecorded(path: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What linting a file looks at, and asking its questions again does not."""
    source = read_file(path)
    if not isinstance(source, Source):
        return set()
    add_source(Report(), source, DEFAULT, beside(path), undecided=True)  # what is loaded once is loaded
    around = beside(path)
    with traced(monkeypatch) as lint:
        add_source(Report(), source, DEFAULT, around, undecided=True)
    with traced(monkeypatch) as again:
        fresh = beside(path)
        for question in around.answers:
            fresh.answer(question)
    return lint - again


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("variant", range(3))
def test_of_the_histories(family: str, variant: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    for name, texts in {**FAMILIES[family], **SETTINGS}.items():
        path = project / name.replace("~", "home")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[variant % len(texts)])
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(project / "home"))
    for name in FAMILIES[family]:
        assert unrecorded(name, monkeypatch) == set(), name


def test_of_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert {path: found for path in EXAMPLES if (found := unrecorded(path, monkeypatch))} == {}


def looks_elsewhere() -> None:
    os.path.exists("elsewhere.env")


def reads_elsewhere() -> None:
    with open(os.devnull, encoding="utf-8"):
        pass


@pytest.mark.parametrize(
    ("looks", "found"),
    [
        (looks_elsewhere, "elsewhere.env"),
        (reads_elsewhere, os.devnull),
        (lambda: os.environ.get("VLLM_X"), "$VLLM_X"),
        (lambda: time.time_ns(), "time_ns"),
        (lambda: time.time(), "time"),
    ],
)
def test_what_is_not_recorded_is_found_out(
    looks: Callable[[], object], found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from servelint import readers

    read = readers.read

    def also(source: Source, neighbours: Neighbours) -> readers.Reading:
        looks()
        return read(source, neighbours)

    monkeypatch.setattr(readers, "read", also)
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text("vllm serve m\n")
    assert {os.path.basename(one) if found == "elsewhere.env" else one for one in unrecorded("run.sh", monkeypatch)} == {found}
