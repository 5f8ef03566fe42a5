"""However a repository is stored, it tells the same; and nothing outside it is read."""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.readers.discover import SKIPPED
from servelint.readers.registry import CANDIDATE
from servelint.scan import archives
from servelint.scan.job import FOLDER, GIT, TAR, ZIP, Unit
from servelint.scan.trees import DiskTree, blob_id, followed, inside, is_candidate
from tests.repository import Repository
from tests.scan.samples import COMMON, COMPOSE, FILES, RULE, SCRIPT, asked, places, rows, scanned, written
from tests.together import together


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, Unit]:
    """One repository in every way in which it may be stored."""
    folder = written(tmp_path / "work")
    (folder / "linked.yml").symlink_to("compose.yml")
    repository = Repository(folder)
    repository.commit("files")
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    for name, options in (("plain.tar", []), ("packed.tar.gz", ["--prefix=top-1/"]), ("packed.zip", ["--prefix=top-1/"])):
        repository.git("archive", "-o", str(tmp_path / name), *options, "HEAD")
    for kind, pack in (("bz2", "w:bz2"), ("xz", "w:xz")):
        with tarfile.open(tmp_path / f"packed.tar.{kind}", pack) as archive:  # type: ignore[call-overload]
            archive.add(folder, "work", filter=lambda info: None if ".git" in info.name else info)
    return {
        "folder": Unit("one", FOLDER, str(folder)),
        "git": Unit("one", GIT, str(folder / ".git"), "main"),
        "bare": Unit("one", GIT, str(tmp_path / "bare.git"), "HEAD"),
        **{
            name: Unit("one", ZIP if name.endswith("zip") else TAR, str(tmp_path / name))
            for name in ("plain.tar", "packed.tar.gz", "packed.tar.bz2", "packed.tar.xz", "packed.zip")
        },
    }


def test_every_way_tells_the_same(stored: dict[str, Unit]) -> None:
    told = {name: rows(scanned(unit).rows) for name, unit in stored.items()}
    expected = [{**row, "revision": None} for row in told["folder"]]
    assert [(row["path"], row["source"]) for row in expected] == [
        ("compose.yml", "compose.yml"),
        ("linked.yml", "linked.yml"),
        ("scripts/common.sh", "scripts/serve.sh"),
    ]
    for name, found in told.items():
        assert [{**row, "revision": None} for row in found] == expected, name
    commit = Repository.git(_of(stored["folder"]), "rev-parse", "HEAD").strip()
    for name in ("git", "bare", "plain.tar", "packed.tar.gz", "packed.zip"):
        assert {row["revision"] for row in told[name]} == {commit}


def _of(unit: Unit) -> Repository:
    known = object.__new__(Repository)
    known.folder = Path(unit.place)
    return known


def test_a_row_says_what_was_read(stored: dict[str, Unit]) -> None:
    row = rows(scanned(stored["git"]).rows)[0]
    assert (
        row["blob"] == blob_id(COMPOSE.encode()) == Repository.git(_of(stored["folder"]), "hash-object", "compose.yml").strip()
    )
    assert (row["repository"], row["engine"], row["release"], row["launch"]) == ("one", "vllm", "0.20.0", "services.llm")


def test_a_revision_is_read_from_the_store_not_from_the_folder(tmp_path: Path) -> None:
    repository = Repository(written(tmp_path / "work"))
    repository.commit("broken")
    (tmp_path / "work/compose.yml").write_text(COMPOSE.replace("1.5", "0.9"))
    repository.commit("mended")
    (tmp_path / "work/compose.yml").unlink()

    def at(revision: str) -> list[str]:
        unit = Unit("one", GIT, str(tmp_path / "work/.git"), revision)
        return [row["path"] for row in rows(scanned(unit).rows)]

    assert at("HEAD") == ["scripts/common.sh"]
    assert at("HEAD~1") == at("main^") == ["compose.yml", "scripts/common.sh"]


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("nowhere", "git knows no revision 'nowhere' here"),
        ("--help", "'--help' is not a revision"),
        ("HEAD\nHEAD", "'HEAD\\nHEAD' is not a revision"),
        ("HEAD:compose.yml", "git knows no revision 'HEAD:compose.yml' here"),
    ],
)
def test_a_revision_that_there_is_not(revision: str, message: str, stored: dict[str, Unit]) -> None:
    assert places(scanned(stored["git"]._replace(revision=revision))) == [("", 1, message)]


def test_a_store_that_is_none(tmp_path: Path) -> None:
    ((path, _, message),) = places(scanned(Unit("one", GIT, str(tmp_path), "HEAD")))
    assert path == ""
    assert message.startswith("git cannot read it: fatal: not a git repository")


def test_git_runs_nothing_that_a_repository_brings(tmp_path: Path) -> None:
    """A clone without its blobs names a remote, and a program that fetches from it."""
    repository = Repository(written(tmp_path / "work"))
    repository.commit("files")
    blob = repository.git("rev-parse", "HEAD:compose.yml").strip()
    (tmp_path / "work/.git/objects" / blob[:2] / blob[2:]).unlink()
    ran = tmp_path / "ran"
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::touch {ran}",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "core.fsmonitor": f"touch {ran}",
    }.items():
        repository.git("config", key, value)
    done = scanned(Unit("one", GIT, str(tmp_path / "work/.git"), "HEAD"))
    assert not ran.exists()
    assert places(done) == [
        ("compose.yml", 1, "cannot be read: git has no such object here"),
        ("scripts/common.sh", 1, RULE),
    ]


def test_links_lead_nowhere_outside(tmp_path: Path) -> None:
    (tmp_path / "outside.yml").write_text(COMPOSE)
    (tmp_path / "outside.sh").write_text(COMMON)
    folder = written(tmp_path / "work", {"serve.sh": SCRIPT, "deep/serve.sh": SCRIPT.replace("./common", "../../outside")})
    (folder / "linked.yml").symlink_to("../outside.yml")
    (folder / "absolute.yml").symlink_to(tmp_path / "outside.yml")
    (folder / "common.sh").symlink_to("../outside.sh")
    (folder / "circle.yml").symlink_to("circle.yml")
    repository = Repository(folder)
    repository.commit("links")
    repository.git("archive", "-o", str(tmp_path / "a.tar"), "HEAD")
    repository.git("archive", "-o", str(tmp_path / "a.zip"), "HEAD")
    for unit in (
        Unit("one", FOLDER, str(folder)),
        Unit("one", GIT, str(folder / ".git"), "HEAD"),
        Unit("one", TAR, str(tmp_path / "a.tar")),
        Unit("one", ZIP, str(tmp_path / "a.zip")),
    ):
        done = scanned(unit)
        assert places(done) == [], unit.kind
        assert done.counts.launches == 2


def _tar(path: Path, members: list[tuple[str, bytes | str]], kind: bytes = tarfile.REGTYPE) -> Unit:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = kind, content
                archive.addfile(info)
    return Unit("one", TAR, str(path))


def _zip(path: Path, members: list[tuple[str, bytes]]) -> Unit:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return Unit("one", ZIP, str(path))


@pytest.mark.parametrize("made", [_tar, _zip])
def test_members_that_lead_out_are_left_out(made: Callable[..., Unit], tmp_path: Path) -> None:
    names = ["../evil.yml", "/etc/evil.yml", "a/../../evil.yml", "sound/compose.yml"]
    done = scanned(made(tmp_path / "archive", [(name, COMPOSE.encode()) for name in names]))
    assert places(done) == [
        ("", 1, "3 members lead out of the archive and are left out: '../evil.yml'"),
        ("compose.yml", 4, RULE),
    ]
    assert not list(tmp_path.glob("**/evil.yml"))


def test_hard_links_count_inside_an_archive(tmp_path: Path) -> None:
    members: list[tuple[str, bytes | str]] = [
        ("a/compose.yml", COMPOSE.encode()),
        ("b/compose.yml", "a/compose.yml"),
        ("c/compose.yml", "../../etc/passwd"),
    ]
    done = scanned(_tar(tmp_path / "a.tar.gz", members, tarfile.LNKTYPE))
    assert [row["path"] for row in rows(done.rows)] == ["a/compose.yml", "b/compose.yml"]


def test_the_last_member_of_a_name_counts(tmp_path: Path) -> None:
    members: list[tuple[str, bytes | str]] = [
        ("a/compose.yml", COMPOSE.encode()),
        ("a/compose.yml", COMPOSE.replace("1.5", "0.9").encode()),
    ]
    assert places(scanned(_tar(tmp_path / "a.tar.gz", members))) == []


@pytest.mark.parametrize("made", [_tar, _zip])
def test_an_archive_that_unpacks_to_too_much(
    made: Callable[..., Unit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "UNPACKED_FREELY", 10_000)
    bomb = made(tmp_path / "archive", [("a/compose.yml", COMPOSE.encode()), ("b/bomb.yml", bytes(3_000_000))])
    assert ("", 1, "not read: it holds more than 200 times its own size") in places(scanned(bomb))


def test_a_header_that_would_fill_the_memory(tmp_path: Path) -> None:
    """The length of a pax header is what it says itself."""
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 1 << 40
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    ((_, _, message),) = places(scanned(Unit("one", TAR, str(tmp_path / "a.tar"))))
    assert message.startswith("not read: a header says that it is 1,099,511,627,")


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MEMBERS_AT_MOST", 2)
    for made, name in ((_tar, "a.tar.gz"), (_zip, "a.zip")):
        unit = made(tmp_path / name, [(f"{number}.yml", b"x") for number in range(3)])
        assert places(scanned(unit)) == [("", 1, "not read: it has more than 2 members")]


def test_what_is_no_file_has_no_stamp(tmp_path: Path) -> None:
    tree = DiskTree(str(tmp_path), None)
    assert [tree.stamp(path) for path in ("none.yml", ".", "../a.yml")] == [""] * 3


def test_what_is_closed_holds_no_file(tmp_path: Path) -> None:
    zipped = archives.ZipTree(_zip(tmp_path / "a.zip", [("a.yml", b"x")]).place, None)
    tarred = archives.TarTree(_tar(tmp_path / "a.tar.gz", [("a.yml", b"x")]).place, None)
    for tree in (zipped, tarred):
        tree.close()
    assert zipped._zip.fp is None
    assert tarred._file.closed
    assert tarred._spool is not None
    assert tarred._spool.closed


def test_what_is_encrypted_is_told(tmp_path: Path) -> None:
    unit = _zip(tmp_path / "a.zip", [("a/compose.yml", COMPOSE.encode()), ("b/compose.yml", COMPOSE.encode())])
    data = bytearray((tmp_path / "a.zip").read_bytes())
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<H", data, at + 8, 1)  # the flag that says so, of the first member
    (tmp_path / "a.zip").write_bytes(data)
    done = scanned(unit)
    assert [(row["path"], row["kind"]) for row in rows(done.rows)] == [("", "error"), ("compose.yml", "finding")]
    assert rows(done.rows)[0]["message"] == "1 member is encrypted and not read"


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tar.xz", "a.zip"])
def test_an_archive_that_is_none(name: str, tmp_path: Path) -> None:
    for data in (b"", b"hello, world\n" * 100, b"\x1f\x8b" + bytes(600), b"\xfd7zXZ" + bytes(600), b"PK\x03\x04" + bytes(600)):
        (tmp_path / name).write_bytes(data)
        ((path, _, message),) = places(scanned(Unit("one", ZIP if name.endswith("zip") else TAR, str(tmp_path / name))))
        assert path == ""
        assert message.startswith("cannot be read: "), message


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_an_archive_that_was_cut_off(share: float, tmp_path: Path) -> None:
    """A download that ended early is told, whatever could be read of it."""
    _tar(tmp_path / "a.tar.gz", [("a/compose.yml", COMPOSE.encode()), ("data.bin", os.urandom(30_000))])
    data = (tmp_path / "a.tar.gz").read_bytes()
    (tmp_path / "a.tar.gz").write_bytes(data[: int(len(data) * share)])
    done = scanned(Unit("one", TAR, str(tmp_path / "a.tar.gz")))
    assert done.counts.problems == 1


def test_archives_in_archives_are_not_opened(tmp_path: Path) -> None:
    _zip(tmp_path / "inner.zip", [("compose.yml", COMPOSE.encode())])
    done = scanned(_zip(tmp_path / "a.zip", [("inner.zip", (tmp_path / "inner.zip").read_bytes()), ("b.md", b"vllm")]))
    assert (places(done), done.counts.files) == ([], 1)


def test_a_large_file_is_told_where_it_mentions_an_engine(tmp_path: Path) -> None:
    large = "# " + "x" * (5 << 20)
    folder = written(tmp_path / "work", {"a.yml": large, "b.yml": large + "\n# vllm", "c.json": large + "vllm", "d.md": "vllm"})
    repository = Repository(folder)
    repository.commit("files")
    repository.git("archive", "-o", str(tmp_path / "a.tar"), "HEAD")
    repository.git("archive", "-o", str(tmp_path / "a.tar.gz"), "HEAD")
    repository.git("archive", "-o", str(tmp_path / "a.zip"), "HEAD")
    for unit in (
        Unit("one", FOLDER, str(folder)),
        Unit("one", GIT, str(folder / ".git"), "HEAD"),
        Unit("one", TAR, str(tmp_path / "a.tar")),
        Unit("one", TAR, str(tmp_path / "a.tar.gz")),
        Unit("one", ZIP, str(tmp_path / "a.zip")),
    ):
        done = scanned(unit)
        assert places(done) == [("b.yml", 1, "not read: 5.0 MiB, and servelint reads files of up to 4 MiB")], unit
        assert done.counts.files == 4


def test_what_is_left_out(tmp_path: Path) -> None:
    names = ["compose.yml", "node_modules/x/compose.yml", "vendor/compose.yml", "deep/vendor/compose.yml", "b.example.yml"]
    folder = written(tmp_path / "work", dict.fromkeys(names, COMPOSE))
    repository = Repository(folder)
    repository.commit("files")
    repository.git("archive", "-o", str(tmp_path / "a.zip"), "HEAD")
    asking = asked(exclude=("vendor", "*.example.yml"))
    for unit in (
        Unit("one", FOLDER, str(folder)),
        Unit("one", GIT, str(folder / ".git"), "HEAD"),
        Unit("one", ZIP, str(tmp_path / "a.zip")),
    ):
        assert [row["path"] for row in rows(scanned(unit, asking).rows)] == ["compose.yml"]
        assert scanned(unit).counts.files == 4
    assert "node_modules" in SKIPPED


def test_a_folder_that_cannot_be_read(tmp_path: Path) -> None:
    assert places(scanned(tmp_path / "nowhere")) == [("", 1, "cannot be read: No such file or directory")]
    folder = written(tmp_path / "work")
    (folder / "compose.yml").chmod(0)
    if os.access(folder / "compose.yml", os.R_OK):
        pytest.skip("this user may read everything")
    assert ("compose.yml", 1, "cannot be read: Permission denied") in places(scanned(folder))
    (folder / "compose.yml").chmod(stat.S_IRUSR | stat.S_IWUSR)


def test_images_that_are_not_judged(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(
        "services:\n  a:\n    image: nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.0\n"
        "  b:\n    image: vllm/vllm-openai:v0.33.0\n    command: --model m\n"
    )
    (tmp_path / "run.sh").write_text("docker run xprobe/xinference:v1.0 xinference-local\n")
    found = [row for row in rows(scanned(tmp_path).rows) if row["kind"] == "image"]
    assert [(row["path"], row["line"]) for row in found] == [("compose.yml", 3), ("run.sh", 1)]
    assert all("is not judged: " in str(row["message"]) for row in found)


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    folder = written(tmp_path / "work", {})
    folder.mkdir()
    with open(os.fsencode(folder) + b"/caf\xe9.yml", "wb") as file:
        file.write(COMPOSE.encode())
    repository = Repository(folder)
    repository.commit("files")
    for unit in (Unit("one", FOLDER, str(folder)), Unit("one", GIT, str(folder / ".git"), "HEAD")):
        assert b'"path":"caf\\udce9.yml"' in scanned(unit).rows


_ENDS = [f".{end}" for end in ("yml", "yaml", "j2", "env", "md", "json", "json5", "py", "in", "justfile")]
_PART = st.text("abYZ._-", max_size=3) | st.sampled_from([*_ENDS, "Dockerfile", "makefile", "Procfile"])


@given(st.builds("".join, st.lists(_PART, max_size=6)))
def test_a_name_is_looked_at_as_in_a_check(name: str) -> None:
    assert is_candidate(name) is (re.search(CANDIDATE, name) is not None)


@together(
    "path, found",
    [
        ("a/b", "a/b"),
        ("a/../b", "b"),
        ("./a//b", "a/b"),
        ("..", None),
        ("../a", None),
        ("a/../../b", None),
        ("/a", None),
        ("a\0b", None),
        ("..a/b", "..a/b"),
    ],
)
def test_a_path_stays_inside(path: str, found: str | None) -> None:
    assert inside(path) == found


def test_links_are_followed_inside() -> None:
    links = {"a": "b", "b": "deep/c", "deep/up": "../x", "out": "../y", "round": "round"}
    assert followed("a/file", links) == "deep/c/file"
    assert followed("deep/up", links) == "x"
    assert followed("plain", links) == "plain"
    assert followed("out/file", links) is None
    assert followed("round", links) is None


def test_the_samples_are_what_they_say() -> None:
    assert set(FILES) == {"compose.yml", "scripts/serve.sh", "scripts/common.sh", "src/main.rs"}


def test_a_launch_that_was_not_wholly_judged_has_a_row(tmp_path: Path) -> None:
    files = {
        "open.sh": 'vllm serve "$MODEL" $MORE\n',
        "whole.sh": "docker run vllm/vllm-openai:v0.33.0 --model m\n",
        "newer.sh": "pip install vllm==0.99\nvllm serve m --gpu-memory-utilization 1.5\n",
    }
    done = scanned(written(tmp_path / "work", files))
    found = {(row["kind"], row["path"]): row for row in rows(done.rows)}
    assert set(found) == {("launch", "open.sh"), ("launch", "newer.sh"), ("finding", "newer.sh")}
    row = found["launch", "open.sh"]
    assert (row["line"], row["engine"], row["judged"], row["unresolved"]) == (1, "vllm", "unknown", 2)
    assert row["message"].startswith("open.sh:1: vLLM: of unknown version; ${MODEL} is not resolved: MODEL has no value")
    assert found["finding", "newer.sh"]["assumption"].endswith("judged as 0.33.0")
    assert found["launch", "newer.sh"]["assumption"] == found["finding", "newer.sh"]["assumption"]
    assert (done.counts.launches, done.counts.problems, done.counts.warning) == (3, 0, 1)
