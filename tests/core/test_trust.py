"""What is read and believed: within folders, of a revision, or as it is."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from servelint.core.source import Source, Span
from servelint.core.trust import EVERYTHING, RuleFolder, Trust, folder_path

COMMENT: Any = Span(Source("a.sh", "# x\n"), 0, 3)
FINDING: Any = SimpleNamespace()


class Revision:
    """A revision with one file, `old/a.sh`, that has a comment but not the finding's lines."""

    name = "main"

    def __init__(self, top: Path) -> None:
        self.top = top

    def covers(self, path: str) -> bool:
        return path.startswith(str(self.top))

    def read(self, path: str) -> bytes | None:
        return b"0123456789" if self.is_file(path) else None

    def is_file(self, path: str) -> bool:
        return path == str(self.top / "old" / "a.sh")

    def is_folder(self, path: str) -> bool:
        return path == str(self.top / "old")

    def below(self, folder: str) -> list[str]:
        return [os.path.join(folder, "a.sh")]

    def has_comment(self, comment: Span, lines: tuple[int, ...]) -> bool:
        return comment is COMMENT and lines == (1,)

    def had(self, comment: Span, lines: tuple[int, ...], finding: object) -> bool:
        return finding is FINDING and self.has_comment(comment, lines)


def test_comments() -> None:
    base = Revision(Path("/x"))
    assert EVERYTHING.believes_comment(COMMENT, (2,))
    assert EVERYTHING.believes(COMMENT, (2,), FINDING)
    for trust, lines, comment, finding in (
        (Trust(inline=False), (1,), False, False),
        (Trust(inline=False, base=base), (1,), False, False),
        (Trust(base=base), (1,), True, True),
        (Trust(base=base), (2,), False, False),
    ):
        assert trust.believes_comment(COMMENT, lines) is comment
        assert trust.believes(COMMENT, lines, FINDING) is finding
    assert not Trust(base=base).believes(COMMENT, (1,), SimpleNamespace())  # type: ignore[arg-type]


def test_a_revision_takes_the_place_of_the_files(tmp_path: Path) -> None:
    top, beside = tmp_path / "top", tmp_path / "beside"
    for folder in (top / "new", beside):
        folder.mkdir(parents=True)
        (folder / "b.sh").write_text("abcdef")
    trust = Trust(base=Revision(top))
    old, new, other = str(top / "old" / "a.sh"), str(top / "new" / "b.sh"), str(beside / "b.sh")
    assert (trust.read(old, 4), trust.read(old, 20)) == (b"01234", b"0123456789")
    with pytest.raises(FileNotFoundError, match=r"it is not in main$") as caught:
        trust.read(new, 4)
    assert caught.value.errno == 2
    assert trust.read(other, 20) == b"abcdef"
    assert [trust.is_file(path) for path in (old, new, other)] == [True, False, True]
    assert [trust.is_folder(os.path.dirname(path)) for path in (old, new, other)] == [True, False, True]
    assert trust.below(str(top / "old")) == [old]
    assert trust.below(str(beside)) == [other]


def test_folders_outside_of_which_nothing_is_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "in-side"
    for folder in (inside / "deep", outside):
        folder.mkdir(parents=True)
        (folder / "a.sh").write_text("abcdef")
    (inside / "link.sh").symlink_to(outside / "a.sh")
    trust = Trust(within=(str(inside),))
    assert trust.read(str(inside / "deep" / "a.sh"), 10) == b"abcdef"
    assert trust.holds(str(inside))
    assert trust.is_folder(str(inside / "deep"))
    for path in (outside / "a.sh", inside / "link.sh", inside / ".." / "in-side" / "a.sh"):
        assert not trust.holds(str(path))
        assert not trust.is_file(str(path))
        with pytest.raises(PermissionError, match=r"it is outside the folders that may be read$") as caught:
            trust.read(str(path), 10)
        assert caught.value.errno == 13
    assert not trust.is_folder(str(outside))
    assert not trust.holds("a\0b")
    assert Trust().holds("/anything")


def test_the_files_below_a_folder(tmp_path: Path) -> None:
    for name in ("b/z.yaml", "b/a/y.yaml", "a.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert EVERYTHING.below(str(tmp_path)) == [str(tmp_path / name) for name in ("a.yaml", "b/a/y.yaml", "b/z.yaml")]
    assert (folder_path("rules"), folder_path(RuleFolder("rules", EVERYTHING))) == ("rules", "rules")
