"""Where the released source comes from."""

from __future__ import annotations

import contextlib
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from servelint.harvest import archives, command
from servelint.harvest import index as indexes
from servelint.harvest.index import IndexFile, index_address
from servelint.harvest.sources import HarvestError, Tree, open_local, open_tree, published
from tests.harvest.archiving import Index, sdist, served, wheel

FILES = {
    "sglang/__init__.py": "",
    "sglang/srt/server_args.py": "PORT = 30000\n",
    "sglang/srt/environ.py": "# é\n",
    "sglang/srt/kernel.cu": "x",
    "other/__init__.py": "",
}
KEPT = ["sglang/__init__.py", "sglang/srt/environ.py", "sglang/srt/server_args.py"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_CERT", raising=False)
    monkeypatch.setattr(indexes, "PAUSE", 0.0)
    return str(tmp_path / "cache")


@pytest.fixture
def index(cache: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    files = {
        "sglang-0.5.9-py3-none-any.whl": wheel(FILES, release="0.5.9"),
        "sglang-0.5.9.tar.gz": b"not needed",
        "sglang-0.5.10rc0-py3-none-any.whl": b"",
        "sglang-0.5.10-py3-none-any.whl": b"",
        "sglang-0.5.10.post1-py3-none-any.whl": b"",
        "sglang-0.5.10.dev3-py3-none-any.whl": b"",
        "sglang-0.5.2-py3-none-any.whl": b"",
        "sglang-notes.txt": b"",
        "sglang-kernel-0.9.0-py3-none-any.whl": b"",
    }
    with served(Index(files)) as running:
        monkeypatch.setenv("PIP_INDEX_URL", running.address + "/")
        yield running


@pytest.mark.parametrize("as_json", [False, True])
def test_published_releases_come_in_their_order_without_yanked_ones(index: Index, as_json: bool) -> None:
    index.as_json = as_json
    index.yanked.add("sglang-0.5.2-py3-none-any.whl")
    assert published("sglang") == ["0.5.9", "0.5.10rc0", "0.5.10", "0.5.10.post1"]


def test_a_release_is_read_from_its_pure_wheel_and_kept(index: Index, cache: str) -> None:
    tree = open_tree("sglang", "0.5.9", cache)
    assert (tree.engine, tree.release, tree.paths()) == ("sglang", "0.5.9", KEPT)
    assert tree.read("sglang/srt/environ.py") == "# é\n"
    assert tree.read("sglang/srt/kernel.cu") is None
    assert tree.paths("sglang/srt/") == KEPT[1:]
    assert not any("tar.gz" in request for request in index.requests)
    assert os.listdir(cache) == ["sglang-0.5.9.zip"]
    index.failures = [500] * 99
    assert open_tree("sglang", "0.5.9", cache).paths() == KEPT  # offline


def test_the_same_files_are_packed_to_the_same_bytes() -> None:
    assert archives.pack({"b.py": b"1", "a.py": b"2"}) == archives.pack({"a.py": b"2", "b.py": b"1"})


def test_of_a_large_wheel_only_the_sources_are_read_where_that_is_asked_for(index: Index, cache: str) -> None:
    body = wheel({f"sglang/m{number}.py": f"X = {number}\n" for number in range(40)} | FILES, padding=3 * 2**20)
    stored = _stored(body)
    index.files["sglang-0.5.9-py3-none-any.whl"] = stored
    assert len(open_tree("sglang", "0.5.9", cache, unverified=True).paths()) == 43
    assert not Path(cache).exists()  # nobody has verified it
    asked = [request.partition(" ")[2] for request in index.requests if ".whl" in request]
    assert all(asked)
    assert sum(_length(one, len(stored)) for one in asked) < 2**20


def _stored(body: bytes) -> bytes:
    """The wheel with its members uncompressed, so that it is as large as what it holds."""
    import io

    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as target:
        for info in source.infolist():
            target.writestr(info.filename, source.read(info))
    return buffer.getvalue()


def _length(asked: str, size: int) -> int:
    start, _, end = asked.removeprefix("bytes=").partition("-")
    return int(end) - int(start) + 1 if start else min(int(end), size)


def test_a_server_without_ranges_is_read_whole(index: Index, cache: str) -> None:
    index.ranges = False
    assert open_tree("sglang", "0.5.9", cache, unverified=True).paths() == KEPT


@pytest.mark.parametrize("ranges", [False, True])
def test_a_file_that_is_not_what_the_index_says_is_refused(index: Index, cache: str, ranges: bool) -> None:
    index.ranges, index.wrong_hash = ranges, True
    with pytest.raises(HarvestError, match="sha256 differs"):
        open_tree("sglang", "0.5.9", cache)
    assert not Path(cache).exists()


@pytest.mark.parametrize("as_json", [False, True])
def test_a_file_of_which_the_index_has_no_hash_is_refused(index: Index, cache: str, as_json: bool) -> None:
    index.no_hash, index.as_json = True, as_json
    with pytest.raises(HarvestError, match=r"no sha256 of sglang-0\.5\.9-py3-none-any\.whl; --unverified accepts it anyway"):
        open_tree("sglang", "0.5.9", cache)
    assert open_tree("sglang", "0.5.9", cache, unverified=True).paths() == KEPT


_MARK = "import pathlib; pathlib.Path({path!r}).touch()\n"


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("form", ["wheel", "sdist", "folder"])
def test_nothing_of_what_is_read_is_run(engine: str, form: str, tmp_path: Path) -> None:
    """Every file that an import, a build or an installation would run leaves a mark: none is left."""
    mark = tmp_path / "mark"
    run = _MARK.format(path=str(mark))
    names = ("__init__.py", "engine/arg_utils.py", "envs.py", "srt/server_args.py", "srt/environ.py", "_version.py")
    files = {f"{engine}/{name}": run + "PORT = 1\n" for name in names}
    files |= dict.fromkeys(("setup.py", "conftest.py", "sitecustomize.py", "x.pth"), run)
    path = tmp_path / {"wheel": f"{engine}-0.9.1-py3-none-any.whl", "sdist": f"{engine}-0.9.1.tar.gz", "folder": "folder"}[form]
    if form == "folder":
        for name, text in {**files, "PKG-INFO": "Version: 0.9.1\n"}.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text)
    else:
        path.write_bytes((wheel if form == "wheel" else sdist)(files, name=engine, release="0.9.1"))
    before = set(sys.modules)
    tree = open_local(engine, str(path))
    assert len(tree.paths()) == len(names)
    with contextlib.suppress(HarvestError):  # these sources tell nothing of options
        command.read(tree)
    assert not mark.exists()
    assert not [name for name in set(sys.modules) - before if name.partition(".")[0] == engine]


def test_a_passing_fault_is_tried_again(index: Index, cache: str) -> None:
    index.failures = [503, 429, 502]
    assert open_tree("sglang", "0.5.9", cache).paths() == KEPT


def test_a_lasting_fault_is_told(index: Index, cache: str) -> None:
    index.failures = [500] * indexes.TRIES
    with pytest.raises(HarvestError, match="answered 500"):
        open_tree("sglang", "0.5.9", cache)


def test_an_index_that_is_not_there_is_told(cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://name:secret@127.0.0.1:1/simple")
    with pytest.raises(HarvestError, match=r"http://127\.0\.0\.1:1/simple/sglang/ cannot be reached"):
        published("sglang")


def test_a_release_that_the_index_does_not_have_is_told(index: Index, cache: str) -> None:
    with pytest.raises(HarvestError, match=r"has no sglang 0\.9\.9"):
        open_tree("sglang", "0.9.9", cache)


def test_an_archive_without_the_package_is_told(index: Index, cache: str) -> None:
    index.files = {"tensorrt_llm-1.2.0.tar.gz": sdist({"setup.py": "raise SystemExit"}, "tensorrt_llm", "1.2.0")}
    with pytest.raises(HarvestError, match="holds no tensorrt_llm package"):
        open_tree("trtllm", "1.2.0", cache)


@pytest.mark.parametrize("release", ["../0.5.9", "latest", "0.5.9/x", ""])
def test_what_is_no_release_is_refused(cache: str, release: str) -> None:
    with pytest.raises(HarvestError, match="is not a release"):
        open_tree("sglang", release, cache)


def test_an_engine_that_is_no_python_package_is_refused(cache: str) -> None:
    with pytest.raises(HarvestError, match=r"llama\.cpp"):
        open_tree("llama.cpp", "b9180", cache)


def test_a_source_archive_comes_before_a_wheel_with_kernels(cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"vllm/__init__.py": "", "vllm/envs.py": "A = 1\n", "tests/vllm/__init__.py": "", "setup.py": "raise SystemExit"}
    held = {
        "vllm-0.9.1-cp38-abi3-manylinux1_x86_64.whl": b"",
        "vllm-0.9.1.tar.gz": sdist(files, "vllm", "0.9.1"),
        "vllm-0.9.2-cp38-abi3-manylinux1_aarch64.whl": b"",
        "vllm-0.9.2-cp38-abi3-manylinux1_x86_64.whl": wheel(files, "vllm", "0.9.2"),
    }
    with served(Index(held)) as running:
        monkeypatch.setenv("PIP_INDEX_URL", running.address)
        assert open_tree("vllm", "0.9.1", cache).paths() == ["vllm/__init__.py", "vllm/envs.py"]
        assert open_tree("vllm", "0.9.2", cache).paths() == ["vllm/__init__.py", "vllm/envs.py"]
        assert not any("aarch64" in request for request in running.requests)


def test_a_cache_that_was_cut_off_is_read_again(index: Index, cache: str) -> None:
    Path(cache).mkdir()
    (Path(cache) / "sglang-0.5.9.zip").write_bytes(b"PK\3\4 cut")
    assert open_tree("sglang", "0.5.9", cache).paths() == KEPT


@pytest.mark.parametrize(("name", "body"), [("a.tar.gz", sdist(FILES)), ("a.whl", wheel(FILES)), ("a.zip", wheel(FILES))])
def test_a_local_archive_tells_its_release(tmp_path: Path, name: str, body: bytes) -> None:
    (tmp_path / name).write_bytes(body)
    tree = open_local("sglang", str(tmp_path / name))
    assert (tree.release, tree.paths()) == ("0.5.9", KEPT)


def test_a_named_release_wins(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(wheel(FILES))
    assert open_local("sglang", str(tmp_path / "a.whl"), "0.5.8").release == "0.5.8"


@pytest.mark.parametrize(
    "evil", ["../sglang/evil.py", "/sglang/evil.py", "sglang/../../evil.py", "sglang\\evil.py", "c:/sglang/evil.py"]
)
def test_a_member_that_leads_out_of_the_archive_is_left_out(tmp_path: Path, evil: str) -> None:
    (tmp_path / "a.whl").write_bytes(wheel({**FILES, evil: "bad"}))
    assert open_local("sglang", str(tmp_path / "a.whl")).paths() == KEPT
    (tmp_path / "a.tar.gz").write_bytes(sdist({**FILES, evil: "bad"}))
    assert open_local("sglang", str(tmp_path / "a.tar.gz")).paths() == KEPT


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "TOTAL_LIMIT", 1000)
    for name, body in (
        ("a.whl", wheel(FILES | {"sglang/big.py": "#" * 2000})),
        ("a.tar.gz", sdist(FILES | {"sglang/big.py": "#" * 2000})),
    ):
        (tmp_path / name).write_bytes(body)
        with pytest.raises(HarvestError, match="more than"):
            open_local("sglang", str(tmp_path / name))


def test_a_file_that_is_too_large_to_be_source_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MEMBER_LIMIT", 200)
    (tmp_path / "a.whl").write_bytes(wheel(FILES | {"sglang/big.py": "#" * 2000}))
    assert open_local("sglang", str(tmp_path / "a.whl")).paths() == KEPT


def test_a_broken_archive_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(sdist(FILES)[:-200])
    with pytest.raises(HarvestError, match=r"a\.tar\.gz cannot be read"):
        open_local("sglang", str(tmp_path / "a.tar.gz"))


def _lay(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def test_an_installed_package_tells_its_release(tmp_path: Path) -> None:
    _lay(tmp_path, {**FILES, "sglang-0.5.9.dist-info/METADATA": "Name: sglang\nVersion: 0.5.9+cu128\n"})
    tree = open_local("sglang", str(tmp_path))
    assert (tree.release, tree.paths()) == ("0.5.9", KEPT)
    assert open_local("sglang", str(tmp_path / "sglang")).paths() == KEPT


def test_a_checkout_tells_its_release(tmp_path: Path) -> None:
    _lay(tmp_path / "python", {**FILES, "sglang/version.py": '__version__ = "0.5.3"\n'})
    assert open_local("sglang", str(tmp_path)).release == "0.5.3"


def test_a_folder_that_tells_no_release_needs_one(tmp_path: Path) -> None:
    _lay(tmp_path, FILES)
    with pytest.raises(HarvestError, match="name it"):
        open_local("sglang", str(tmp_path))
    assert open_local("sglang", str(tmp_path), "0.5.9").read("sglang/srt/server_args.py") == "PORT = 30000\n"


def test_a_link_out_of_a_folder_is_left_out(tmp_path: Path) -> None:
    _lay(tmp_path, {**FILES, "secret.py": "KEY = 1\n"})
    (tmp_path / "sglang" / "link.py").symlink_to(tmp_path / "secret.py")
    assert open_local("sglang", str(tmp_path), "0.5.9").paths() == KEPT


def test_a_folder_without_the_package_is_told(tmp_path: Path) -> None:
    with pytest.raises(HarvestError, match="holds no sglang package"):
        open_local("sglang", str(tmp_path))


def test_a_tree_reads_text_and_bytes() -> None:
    tree = Tree("vllm", "0.9.1", {"vllm/b.py": b"\xef\xbb\xbfA = 1\r\n", "vllm/a.py": "A = 2\n"})
    assert (tree.read("vllm/b.py"), tree.read("vllm/a.py"), tree.read("vllm/c.py")) == ("A = 1\n", "A = 2\n", None)
    assert tree.paths("vllm/") == ["vllm/a.py", "vllm/b.py"]


@pytest.mark.parametrize(
    ("filename", "kind", "release"),
    [
        ("vllm-0.9.1+cu128-cp38-abi3-manylinux1_x86_64.whl", "wheel", "0.9.1"),
        ("tensorrt_llm-1.2.0rc6.post2.tar.gz", "sdist", "1.2.0rc6.post2"),
        ("tensorrt-llm-0.9.0.tar.gz", "sdist", "0.9.0"),
        ("vllm-0.9.1.exe", "other", ""),
    ],
)
def test_a_file_name_tells_kind_and_release(filename: str, kind: str, release: str) -> None:
    project = "vllm" if filename.startswith("vllm") else "tensorrt-llm"
    file = IndexFile(project, filename, "", None, False)
    assert (file.kind, file.release) == (kind, release)


def test_the_index_is_pips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: str) -> None:
    assert cache
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    assert index_address() == "https://pypi.org/simple"
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nindex-url = https://index.example/simple/\n", encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    assert index_address() == "https://index.example/simple"
    monkeypatch.setenv("PIP_INDEX_URL", "https://other.example/simple")
    assert index_address() == "https://other.example/simple"
