"""Entries are the user's own, whoever else writes to the folder, and their bytes are bounded."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from servelint.cache.store import TAG, Store, Unusable, user_key

KEY = b"k" * 32
NAME = "0" * 40
OTHER = "0" + "1" * 39


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "cache"), KEY)


def test_an_entry(store: Store) -> None:
    assert store.read(NAME) is None
    assert not Path(store.folder).exists(), "a check that keeps nothing makes no folder"
    store.write(NAME, b"first")
    store.write(NAME, b"second")
    assert store.read(NAME) == b"second"
    assert Store(store.folder, KEY).read(NAME) == b"second"
    assert sorted(os.listdir(store.folder)) == [".gitignore", "0", TAG]
    assert Path(store.folder, ".gitignore").read_text() == "*\n"
    assert os.listdir(Path(store.folder, "0")) == [NAME]


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 20, b"\xff" * 5000])
def test_what_is_no_entry(data: bytes, store: Store) -> None:
    store.write(NAME, b"good")
    Path(store.folder, "0", NAME).write_bytes(data)
    assert store.read(NAME) is None


def test_an_entry_of_another_key_or_name(store: Store) -> None:
    store.write(NAME, b"good")
    assert Store(store.folder, b"j" * 32).read(NAME) is None
    os.rename(Path(store.folder, "0", NAME), Path(store.folder, "0", OTHER))
    assert store.read(OTHER) is None


def test_one_changed_byte(store: Store) -> None:
    store.write(NAME, b"good")
    path = Path(store.folder, "0", NAME)
    data = bytearray(path.read_bytes())
    for at in range(len(data)):
        data[at] ^= 1
        path.write_bytes(data)
        assert store.read(NAME) is None
        data[at] ^= 1


class TestLinks:
    def test_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "cache").symlink_to("real")
        with pytest.raises(Unusable, match="it is a link"):
            Store(str(tmp_path / "cache"), KEY)

    def test_a_part_of_it(self, store: Store, tmp_path: Path) -> None:
        store.write("1" * 40, b"makes the folder")
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / NAME).write_bytes(b"theirs")
        Path(store.folder, "0").symlink_to(outside)
        fresh = Store(store.folder, KEY, at_most=16)
        fresh.write(NAME, b"x")
        fresh.prune(every=True)
        fresh.clean()
        assert fresh.read(NAME) is None
        assert {path.name: path.read_bytes() for path in outside.iterdir()} == {NAME: b"theirs"}

    def test_an_entry(self, store: Store, tmp_path: Path) -> None:
        store.write(NAME, b"good")
        path = Path(store.folder, "0", NAME)
        path.rename(tmp_path / "moved")
        path.symlink_to(tmp_path / "moved")
        assert store.read(NAME) is None
        store.write(NAME, b"new")
        assert store.read(NAME) == b"new"
        assert (tmp_path / "moved").read_bytes().endswith(b"good")


class TestOfOthers:
    def test_a_folder_that_others_may_write_to(self, store: Store) -> None:
        store.write(NAME, b"good")
        os.chmod(store.folder, 0o777)
        with pytest.raises(Unusable, match="another user made it, or may write to it"):
            Store(store.folder, KEY)

    def test_a_folder_of_something_else(self, tmp_path: Path) -> None:
        (tmp_path / "cache").mkdir(mode=0o700)
        (tmp_path / "cache" / "letter.txt").write_text("dear")
        with pytest.raises(Unusable, match="it is not a cache of servelint"):
            Store(str(tmp_path / "cache"), KEY)
        assert os.listdir(tmp_path / "cache") == ["letter.txt"]

    def test_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "cache").write_text("x")
        with pytest.raises(Unusable, match="it is not a folder"):
            Store(str(tmp_path / "cache"), KEY)

    def test_an_empty_folder_becomes_one(self, tmp_path: Path) -> None:
        (tmp_path / "cache").mkdir(mode=0o700)
        made = Store(str(tmp_path / "cache"), KEY)
        made.write(NAME, b"good")
        assert Store(made.folder, KEY).read(NAME) == b"good"

    def test_a_place_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        made = Store(str(tmp_path / "file" / "cache"), KEY)
        made.write(NAME, b"good")
        made.prune()
        assert (made.read(NAME), made.size(), made.clean()) == (None, (0, 0), 0)

    def test_what_is_not_ours_stays(self, store: Store) -> None:
        store.write(NAME, b"good")
        letter = Path(store.folder, "0", "letter.txt")
        letter.write_text("dear")
        assert store.clean() == 1
        assert letter.read_text() == "dear"


def test_clean(store: Store) -> None:
    store.write(NAME, b"good")
    store.write("f" * 40, b"good")
    assert store.size() == (2, 2 * 24)
    assert store.clean() == 2
    assert not Path(store.folder).exists()


def test_the_bytes_are_bounded_and_the_oldest_go(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "cache"), KEY, at_most=16 * 1000)
    names = [f"0{number:039x}" for number in range(50)]
    for age, name in enumerate(names):
        store.write(name, b"x" * 80)
        os.utime(Path(store.folder, "0", name), (time.time() - 10_000 + age,) * 2)
        assert store.read(names[0])  # a use
    store.prune(every=True)
    assert store.size() == (10, 1000)
    assert {name for name in names if store.read(name)} == {names[0], *names[41:]}
    store.write(OTHER, b"x" * 1000)
    assert store.read(OTHER) is None, "it is larger than the share of its part"


def test_a_temporary_file_that_was_left(store: Store) -> None:
    store.write(NAME, b"good")
    old, new = Path(store.folder, "0", "1-1.tmp"), Path(store.folder, "0", "2-2.tmp")
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    store.prune(every=True)
    assert (old.exists(), new.exists(), store.read(NAME)) == (False, True, b"good")


def test_a_temporary_file_is_left_after_an_hour(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(NAME, b"good")
    path = Path(store.folder, "0", "1-1.tmp")
    path.write_bytes(b"half")
    os.utime(path, (50_000, 50_000))
    for now, left in ((53_599.5, True), (53_601, False)):
        monkeypatch.setattr("servelint.cache.store.time.time", lambda now=now: now)
        store.prune(every=True)
        assert path.exists() is left


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_several_processes(tmp_path: Path) -> None:
    folder = str(tmp_path / "cache")
    names = [f"{number % 3}{number:039x}" for number in range(30)]
    children = []
    for child in range(4):
        pid = os.fork()
        if pid == 0:
            store = Store(folder, KEY, at_most=16 * 100_000)
            for count in range(20):
                for name in names:
                    store.write(name, f"{name} {child} {count}".encode() * 50)
                    found = store.read(name)
                    if found is not None and not found.startswith(name.encode()):
                        os._exit(1)
                store.prune()
            os._exit(0)
        children.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
    store = Store(folder, KEY)
    assert all((store.read(name) or b"").startswith(name.encode()) for name in names)
    assert store.size()[0] == 30


class TestKey:
    def test_it_is_made_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
        first = user_key()
        assert first is not None
        assert len(first) == 32
        assert user_key() == first
        assert (tmp_path / "user" / "servelint" / "cache.key").stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("text", [b"", b"short", b"x" * 33])
    def test_what_is_no_key(self, text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        (tmp_path / "servelint").mkdir()
        path = tmp_path / "servelint" / "cache.key"
        path.write_bytes(text)
        path.chmod(0o600)
        assert user_key() is None

    def test_one_that_others_may_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert user_key() is not None
        (tmp_path / "servelint" / "cache.key").chmod(0o644)
        assert user_key() is None

    def test_no_place_for_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").write_text("x")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        assert user_key() is None
