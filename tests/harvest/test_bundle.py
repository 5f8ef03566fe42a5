"""Data bundles: what is refused and why, and that a good one changes what servelint says."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from servelint.core import data
from servelint.engines.catalog import newest_release
from servelint.harvest import bundle
from servelint.harvest.bundle import MANIFEST, SIGNATURE, Refused
from tests.running import Workspace
from tests.tools.loading import loaded

tool = loaded("bundle.py")
DATE = "2030-01-02T03:04:05Z"
LATER = "2030-01-03T00:00:00Z"
LINK, PIPE = 0o120777, 0o010644
GPUS = "hardware/gpus.json"


@cache
def data_files() -> dict[str, bytes]:
    """The files of a bundle of this checkout."""
    found: dict[str, bytes] = tool.files()
    return found


class Maker:
    """Makes bundles, signed with a key of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secret, public = tool.new_key()
        self.key = str(folder / "own.pub")
        Path(self.key).write_text(public)
        self.contents = dict(data_files())

    def signed(self, manifest: bytes, contents: dict[str, bytes] | None = None) -> dict[str, bytes]:
        signature = tool.signature(manifest, self.secret, "a comment").encode()
        return {MANIFEST: manifest, SIGNATURE: signature, **(self.contents if contents is None else contents)}

    def parts(self, date: str = DATE, **changed: Any) -> dict[str, bytes]:
        """The files of a bundle, with other values for some keys of its manifest."""
        manifest = json.loads(tool.manifest(self.contents, date)) | {key.replace("_", "-"): one for key, one in changed.items()}
        return self.signed(json.dumps(manifest).encode())

    def listing(self, change: Callable[[dict[str, Any]], object]) -> dict[str, bytes]:
        """The files of a bundle whose list of files is changed."""
        manifest = json.loads(tool.manifest(self.contents, DATE))
        change(manifest["files"])
        return self.signed(json.dumps(manifest).encode())

    def zip(self, parts: dict[str, bytes] | list[tuple[str, bytes]], mode: dict[str, int] | None = None) -> str:
        path = self.folder / "bundle.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, content in parts.items() if isinstance(parts, dict) else parts:
                entry = zipfile.ZipInfo(name)
                entry.filename = entry.orig_filename = name
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (mode or {}).get(name, 0o100644) << 16
                archive.writestr(entry, content)
        return str(path)

    def unpacked(self, parts: dict[str, bytes]) -> Path:
        folder = self.folder / "unpacked"
        for name, content in parts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return Maker(tmp_path)


def refusal(path: str | Path, key: str) -> str:
    """Why a bundle is refused. Nothing of it is left behind."""
    with pytest.raises(Refused) as found:
        bundle.install(str(path), key)
    folder = Path(data.bundle_folder())
    assert data.installed() == []
    assert not folder.exists() or not [one for one in folder.iterdir() if one.is_dir()]
    return str(found.value)


class TestSignature:
    def test_of_minisign_itself(self, tmp_path: Path) -> None:
        """Written by minisign 0.11 with `minisign -G -W` and `minisign -S -t "a trusted comment"`."""
        key = tmp_path / "t.pub"
        key.write_text(
            "untrusted comment: minisign public key E69E734047DD59C\nRWSc1X0ENOdpDoEKbs0KDRAfat1WctQHyGD3MVs5KSAY4SuljO/m7l6R\n"
        )
        signature = (
            "untrusted comment: signature from minisign secret key\n"
            "RUSc1X0ENOdpDgCb83Vunu0c/T0IGO+jI/hUDbV/ehepitAfc/39DfZFt4sud7TxzgQtPHdgKG1eWsgxHYBx33OOI4dWuABrTg0=\n"
            "trusted comment: a trusted comment\n"
            "XP6UA3eXSLRqnIyljKsXXMTwUwaRd1Fh7qZMsM2di3xz/+QPl3Bl+lAnPAMNXyVzeFEP7Td/GTI8asjgEI0LBw==\n"
        )
        bundle.check_signature(b"servelint\n", signature.encode(), str(key))
        for content, text in ((b"servelint", signature), (b"servelint\n", signature.replace("a trusted", "another"))):
            with pytest.raises(Refused, match="is not a signature of its"):
                bundle.check_signature(content, text.encode(), str(key))

    def test_the_key_of_the_package(self) -> None:
        assert tool.new_key()[1].splitlines()[1][:2] == Path(bundle.KEY).read_text().splitlines()[1][:2] == "RW"
        with pytest.raises(Refused, match="the key that is trusted is D5DEFF1F9B4B35BB"):
            bundle.check_signature(b"", tool.signature(b"", tool.new_key()[0], "").encode())

    def test_missing(self, maker: Maker) -> None:
        parts = maker.parts()
        del parts[SIGNATURE]
        assert refusal(maker.zip(parts), maker.key) == f"it has no {SIGNATURE}; only a signed bundle is installed"

    def test_of_another_manifest(self, maker: Maker) -> None:
        parts = maker.parts()
        parts[MANIFEST] = parts[MANIFEST].replace(b"2030-01-02", b"2031-01-02")
        assert refusal(maker.zip(parts), maker.key) == f"{SIGNATURE} is not a signature of its {MANIFEST}"

    @pytest.mark.parametrize(
        "text", [b"", b"\xff\xfe", b"a\nb\nc\nd\n", b"untrusted comment: x\nAAAA\ntrusted comment: y\nAAAA\n"]
    )
    def test_that_is_none(self, text: bytes, maker: Maker) -> None:
        assert (
            refusal(maker.zip(maker.parts() | {SIGNATURE: text}), maker.key) == f"{SIGNATURE} is not in the format of minisign"
        )

    def test_of_another_key(self, maker: Maker) -> None:
        assert "it is signed with the key " in refusal(maker.zip(maker.parts()), bundle.KEY)

    @pytest.mark.parametrize("text", [None, "", "untrusted comment: x\nnot base64\n"])
    def test_key_that_is_none(self, text: str | None, maker: Maker, tmp_path: Path) -> None:
        key = tmp_path / "key"
        if text is not None:
            key.write_text(text)
        wanted = "cannot be read: No such file" if text is None else "is not in the format of minisign"
        assert f"the key {key} {wanted}" in refusal(maker.zip(maker.parts()), str(key))

    def test_without_the_library(self, maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
        assert refusal(maker.zip(maker.parts()), maker.key).endswith('pip install "servelint[update]"')


class TestContent:
    def test_hash(self, maker: Maker) -> None:
        parts = maker.parts()
        parts[GPUS] = parts[GPUS].replace(b"80", b"81")
        assert refusal(maker.zip(parts), maker.key) == f"the hash of '{GPUS}' is not the one in its manifest"

    def test_more_bytes_than_listed(self, maker: Maker) -> None:
        parts = maker.parts()
        parts[GPUS] += b" " * (64 << 20)
        assert refusal(maker.zip(parts), maker.key).startswith(f"'{GPUS}' is larger than ")

    def test_too_large_a_file(self, maker: Maker) -> None:
        parts = maker.listing(lambda files: files[GPUS].update(bytes=bundle.FILE_AT_MOST + 1))
        assert f"{MANIFEST} does not fit its schema at $.files['{GPUS}'].bytes" in refusal(maker.zip(parts), maker.key)

    def test_too_much_in_all(self, maker: Maker) -> None:
        names = [f"models/m{number}.json" for number in range(9)]
        entry = {"bytes": bundle.FILE_AT_MOST, "sha256": "0" * 64}
        parts = maker.listing(lambda files: files.update(dict.fromkeys(names, entry)))
        assert refusal(maker.zip(parts), maker.key) == "its files have more than 64 MiB"

    def test_too_large_an_archive(self, maker: Maker) -> None:
        path = Path(maker.zip(maker.parts()))
        path.write_bytes(b"\0" * bundle.ARCHIVE_AT_MOST + path.read_bytes())
        assert refusal(path, maker.key) == "it is larger than 16 MiB"

    def test_too_large_a_manifest(self, maker: Maker) -> None:
        parts = maker.signed(b" " * (bundle.MANIFEST_AT_MOST + 1))
        assert refusal(maker.zip(parts), maker.key) == f"'{MANIFEST}' is larger than 2,097,152 bytes"

    def test_lacks_a_file(self, maker: Maker) -> None:
        parts = maker.parts()
        del parts[GPUS]
        assert refusal(maker.zip(parts), maker.key) == f"it lacks '{GPUS}', which its manifest lists"
        assert refusal(maker.zip(maker.listing(lambda files: files.pop(GPUS))), maker.key) == f"it lacks '{GPUS}'"

    def test_holds_more(self, maker: Maker) -> None:
        parts = maker.parts() | {"models/more.json": b"{}"}
        assert refusal(maker.zip(parts), maker.key) == "it holds 'models/more.json', which its manifest does not list"

    def test_no_rules(self, maker: Maker) -> None:
        maker.contents = {name: one for name, one in maker.contents.items() if not name.startswith(bundle.RULES)}
        assert refusal(maker.zip(maker.parts()), maker.key) == "it has no rules"

    def test_that_cannot_be_loaded(self, maker: Maker) -> None:
        name = "rules/book/vllm/_bounds.yaml"
        maker.contents[name] = b"columns: ["
        assert refusal(maker.zip(maker.parts()), maker.key).startswith(f"servelint 0.1.0 cannot load its data: {name}:1:11: ")

    @pytest.mark.parametrize(
        ("name", "content", "fault"),
        [
            ("engines/data/images.json", b"not json", "cannot be read (Expecting value: line 1 column 1 (char 0))"),
            ("engines/data/purposes/vllm.json", b"{}", "has no table where servelint 0.1.0 has one"),
            ("rules/refusals.json", b"[]", "has no table where servelint 0.1.0 has one"),
        ],
    )
    def test_table_that_is_none(self, name: str, content: bytes, fault: str, maker: Maker) -> None:
        maker.contents[name] = content
        assert refusal(maker.zip(maker.parts()), maker.key) == f"servelint 0.1.0 cannot load its data: {name} {fault}"

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("translate/concepts.json", b'{"targets": [], "concepts": [{}]}'),
            ("speculation/data/measurements.json", b'{"measurements": [{"engine": "vllm"}]}'),
            ("advise/data/profiles.json", b"{}"),
        ],
    )
    def test_tables_of_commands(self, name: str, content: bytes, maker: Maker) -> None:
        assert name in maker.contents
        maker.contents[name] = content
        assert refusal(maker.zip(maker.parts()), maker.key).startswith("servelint 0.1.0 cannot load its data: ")


class TestManifest:
    def test_format(self, maker: Maker) -> None:
        wanted = "its format is 2, and servelint 0.1.0 reads format 1"
        assert refusal(maker.zip(maker.parts(servelint_data=2)), maker.key) == wanted

    @pytest.mark.parametrize(
        ("key", "value"),
        [("date", "yesterday"), ("date", "2030-13-01T00:00:00Z"), ("code", "x"), ("files", {}), ("more", 1), ("files", [])],
    )
    def test_schema(self, key: str, value: Any, maker: Maker) -> None:
        assert f"{MANIFEST} does not fit its schema at $" in refusal(maker.zip(maker.parts(**{key: value})), maker.key)

    @pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b'{"a": 1, "a": 2}', b"\xff"])
    def test_not_json(self, text: bytes, maker: Maker) -> None:
        assert f"{MANIFEST} is not valid JSON: " in refusal(maker.zip(maker.signed(text)), maker.key)

    def test_newer_code(self, maker: Maker) -> None:
        assert refusal(maker.zip(maker.parts(code="0.10.0")), maker.key) == "it needs servelint 0.10.0, and this is 0.1.0"

    def test_older_than_the_package(self, maker: Maker) -> None:
        wanted = f"its data of 2020-01-01T00:00:00Z are older than those of servelint 0.1.0, {data.package_date()}"
        assert refusal(maker.zip(maker.parts("2020-01-01T00:00:00Z")), maker.key) == wanted

    @pytest.mark.parametrize("name", ["cli/main.py", "harvest/servelint.pub", "engines/data/A.json", "rules/x.yaml", "x.json"])
    def test_names_no_data(self, name: str, maker: Maker) -> None:
        parts = maker.listing(lambda files: files.update({name: files[GPUS]}))
        assert refusal(maker.zip({**parts, name: parts[GPUS]}), maker.key) == f"{name!r} is not a file of data"


NAMES = {
    "../models/x.json": "leads out of the bundle",
    "models/../../x.json": "leads out of the bundle",
    "..\\models\\x.json": "leads out of the bundle",
    "models//x.json": "is not a path of names with / between them",
    "models\\x.json": "is not a path of names with / between them",
    "models/x\0.json": "is not a path of names with / between them",
    "/models/x.json": "is an absolute path",
    "\\models\\x.json": "is an absolute path",
    "C:/models/x.json": "is an absolute path",
    GPUS: "twice",
    GPUS.upper(): "twice",
}


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
class TestNames:
    @pytest.mark.parametrize("name", NAMES)
    def test_in_an_archive(self, name: str, maker: Maker) -> None:
        assert NAMES[name] in refusal(maker.zip([*maker.parts().items(), (name, b"{}")]), maker.key)

    @pytest.mark.parametrize("name", [name for name in NAMES if name != GPUS])
    def test_in_a_manifest(self, name: str, maker: Maker) -> None:
        parts = maker.listing(lambda files: files.update({name: files[GPUS]}))
        assert NAMES[name] in refusal(maker.zip(parts), maker.key)

    @pytest.mark.parametrize("mode", [LINK, PIPE])
    def test_no_regular_file(self, mode: int, maker: Maker) -> None:
        assert refusal(maker.zip(maker.parts(), {GPUS: mode}), maker.key) == f"'{GPUS}' is a link or a special file"

    def test_in_a_folder(self, maker: Maker) -> None:
        folder = maker.unpacked(maker.parts())
        (folder / GPUS).rename(maker.folder / "gpus.json")
        (folder / GPUS).symlink_to(maker.folder / "gpus.json")
        assert refusal(folder, maker.key) == f"'{GPUS}' is a link or a special file"
        (folder / GPUS).unlink()
        os.mkfifo(folder / GPUS)
        assert refusal(folder, maker.key) == f"'{GPUS}' is a link or a special file"
        (folder / GPUS).unlink()
        (folder / "models").rename(maker.folder / "models")
        (folder / "models").symlink_to(maker.folder / "models")
        assert refusal(folder, maker.key) == "'models' is a link or a special file"


class TestArchive:
    @pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.999])
    def test_truncated(self, share: float, maker: Maker) -> None:
        path = Path(maker.zip(maker.parts()))
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])
        assert refusal(path, maker.key) == "the zip archive is truncated or damaged"

    def test_damaged(self, maker: Maker) -> None:
        path = Path(maker.zip(maker.parts()))
        whole = bytearray(path.read_bytes())
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            at = archive.getinfo(GPUS).header_offset
        whole[at + 200 : at + 300] = b"\0" * 100
        path.write_bytes(whole)
        found = refusal(path, maker.key)
        assert f"'{GPUS}' is damaged: " in found or found == f"the hash of '{GPUS}' is not the one in its manifest"

    @pytest.mark.parametrize("content", [b"", b"{}", b"\x1f\x8b\x08\x00" + b"\0" * 40])
    def test_none(self, content: bytes, maker: Maker) -> None:
        path = maker.folder / "bundle.zip"
        path.write_bytes(content)
        assert refusal(path, maker.key) == "it is not a zip archive"

    def test_encrypted(self, maker: Maker) -> None:
        path = Path(maker.zip(maker.parts()))
        whole = path.read_bytes()
        at = whole.index(b"PK\x01\x02") + 8
        path.write_bytes(whole[:at] + bytes([whole[at] | 1]) + whole[at + 1 :])
        assert refusal(path, maker.key).endswith("is encrypted")

    def test_no_manifest(self, maker: Maker) -> None:
        assert refusal(maker.zip(maker.contents), maker.key) == f"it has no {MANIFEST}"


class TestCommand:
    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (["--from", "nowhere.zip"], "servelint: nowhere.zip: No such file or directory\n"),
            (["--from", "own.pub"], "servelint: own.pub: refused: it is not a zip archive\n"),
            (["--from", "empty"], f"servelint: empty: refused: it has no {MANIFEST}\n"),
            (["--rollback"], "servelint: no data bundle is installed\n"),
            (["--rollback", "--show"], "servelint engines update: error: --from, --rollback and --show cannot be combined\n"),
            (["--key", "own.pub"], "servelint engines update: error: --key needs --from\n"),
        ],
    )
    def test_refused(self, args: list[str], said: str, maker: Maker, workspace: Workspace) -> None:
        (workspace.folder / "empty").mkdir()
        assert workspace.run("engines", "update", *args) == (2, "", said)

    def test_not_writable(self, maker: Maker, workspace: Workspace) -> None:
        workspace.file("home", "a file")
        ran = workspace.run("engines", "update", "--from", maker.zip(maker.parts()), "--key", maker.key)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.endswith(": Not a directory\n")

    def test_the_package(self, workspace: Workspace) -> None:
        ran = workspace.run("engines", "update")
        assert ran.out == workspace.run("engines", "update", "--show").out
        assert ran.out.startswith(f"data of {data.package_date()}, of servelint 0.1.0\n  vLLM up to {newest_release('vllm')}\n")

    def test_version(self, workspace: Workspace) -> None:
        assert workspace.run("--version") == (0, "servelint 0.1.0\n", "")
        shown = "servelint 0.1.0\n" + workspace.run("engines", "update", "--show").out
        for args in (["--version", "--verbose"], ["--verbose", "-V"]):
            assert workspace.run(*args) == (0, shown, "")


RULE = """\
id: vllm/made-up
title: "a rule of a bundle"
severity: warning
confidence: high
impact: crash-at-start
engine: vllm
versions: ">=0.6"
when: {port: 8123}
at: port
message: "--port {port} is made up"
advice: write --port 8000
why: It is made up.
evidence:
  - {source: vllm-0.33.0 vllm/envs.py, says: nothing}
examples:
  bad: [{version: 0.33.0, run: "vllm serve m --port ⟦8123⟧"}]
  good: [{version: 0.33.0, run: "vllm serve m --port 8000"}]
"""


def newer(contents: dict[str, bytes]) -> None:
    """Give data a release of vLLM with an option that the newest release before lacks, a GPU's name and a rule."""
    catalog = json.loads(contents["engines/data/vllm.json"])
    catalog["releases"].append("9.9.0")
    catalog["options"]["made-up-option"] = [
        {"releases": "9.9.0..", "kind": "value", "names": ["--made-up-option"], "type": "int"}
    ]
    contents["engines/data/vllm.json"] = json.dumps(catalog).encode()
    releases = json.loads(contents[data.RELEASES])
    releases["engines"]["vllm"].append("9.9.0")
    contents[data.RELEASES] = json.dumps(releases).encode()
    contents["rules/book/vllm/made-up.yaml"] = RULE.encode()


def test_a_good_one_changes_what_servelint_says_and_can_be_rolled_back(maker: Maker, tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if name != data.VARIABLE}
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "compose.yml").write_text(
        "services:\n  llm:\n    image: vllm/vllm-openai:v9.9.0\n    command: --model m --port 8123 --made-up-option 1\n"
    )

    def run(*args: str, status: int = 0, **more: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "servelint", *args],
            cwd=folder,
            env=environ | more,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == status, ran.stderr
        return ran.stdout

    def found(*args: str) -> tuple[set[str], dict[str, Any]]:
        report = json.loads(run("check", "--fail-on", "never", "--format", "json", *args, "compose.yml"))
        assert report["errors"] == []
        return {one["rule"] for one in report["findings"]}, report["data"]

    own = run("--version", "--verbose")
    before, used = found()
    assert "vllm/made-up" not in before
    assert (used["bundle"], used["date"]) == (None, data.package_date())
    assert found()[0] == before  # from the cache
    run("explain", "vllm/made-up", status=2)

    newer(maker.contents)
    path = maker.zip(maker.parts())
    assert "installed the data of 2030-01-02" in run("engines", "update", "--from", path, "--key", maker.key)
    for args in ([], ["--no-cache"]):  # a result of the old data is not used again
        rules, used = found(*args)
        assert "vllm/made-up" in rules
        assert used["newest"]["vllm"] == "9.9.0"
        assert (used["date"], len(used["bundle"])) == ("2030-01-02", 40)
        assert "unknown-option" not in str(rules)
    assert "a rule of a bundle" in run("explain", "vllm/made-up")
    assert "9.9.0" in run("explain", "vllm", "--made-up-option")
    assert "vLLM up to 9.9.0" in run("--version", "--verbose")
    assert "vllm/made-up" in run("rules")
    assert ": in use" in run("engines", "update", "--show")
    assert run("--version", "--verbose", _SERVELINT_BUNDLE="") == own  # as a process that was started before sees it

    installed = run("engines", "update", "--from", path, "--key", maker.key)
    assert installed.startswith("already installed: ")
    (bundled,) = [one for one in (tmp_path / "home/servelint/bundles").iterdir() if one.is_dir()]
    other = maker.folder / "older"
    other.mkdir()
    older = Maker(other)
    run("engines", "update", "--from", older.zip(older.parts("2030-01-01T00:00:00Z")), "--key", older.key, status=2)

    newest = older.zip(older.parts(LATER))
    run("engines", "update", "--from", newest, "--key", older.key)
    assert "vllm/made-up" not in found()[0]
    assert run("engines", "update", "--rollback") == f"returned to bundle {bundled.name}\n"
    assert "vllm/made-up" in found()[0]
    assert run("engines", "update", "--rollback") == "returned to the data of servelint itself\n"
    assert found()[0] == before
    run("engines", "update", "--rollback", status=2)
    run("explain", "vllm/made-up", status=2)
    assert run("--version", "--verbose") == own


def test_installed_data_that_are_broken(maker: Maker, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    current = Path(data.bundle_folder(), data.CURRENT)
    current.parent.mkdir(parents=True)
    monkeypatch.delenv(data.VARIABLE)
    for text in ("{", '{"bundles": ["../../etc"]}', json.dumps({"bundles": ["0" * 40]})):
        current.write_text(text)
        monkeypatch.delenv(data.VARIABLE, raising=False)
        data.active.cache_clear()
        ran = workspace.run("check", "--command", "vllm serve m")
        assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert ran.err.startswith("servelint: ")
        monkeypatch.delenv(data.VARIABLE, raising=False)
        assert workspace.run("engines", "update", "--rollback").out == "returned to the data of servelint itself\n"
        data.active.cache_clear()
    monkeypatch.delenv(data.VARIABLE, raising=False)
    assert workspace.run("check", "--command", "vllm serve m").status == 0
    data.active.cache_clear()


def test_a_file_that_breaks_after_the_installation(maker: Maker, tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if name != data.VARIABLE}

    def run(*args: str) -> tuple[int, str]:
        ran = subprocess.run(
            [sys.executable, "-m", "servelint", *args], env=environ, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return ran.returncode, ran.stderr

    assert run("engines", "update", "--from", maker.zip(maker.parts()), "--key", maker.key) == (0, "")
    (bundled,) = [one for one in Path(data.bundle_folder()).iterdir() if one.is_dir()]
    (bundled / data.RELEASES).write_text("broken")
    fault = "(Expecting value: line 1 column 1 (char 0)); run servelint engines update --rollback"
    for args in (["check", "--no-cache", "--command", "vllm serve m"], ["engines", "update", "--show"]):
        assert run(*args) == (2, f"servelint: {bundled / data.RELEASES} cannot be read {fault}\n")
    assert run("engines", "update", "--rollback") == (0, "")
    assert run("check", "--no-cache", "--command", "vllm serve m") == (0, "")


def test_a_bundle_that_this_servelint_cannot_use_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = {"date": DATE, "code": "0.1.0"}
    assert data.Bundle("0" * 40, "", manifest).fault == ""
    assert data.Bundle("0" * 40, "", manifest | {"code": "1.0.0"}).fault == "it needs servelint 1.0.0, and this is 0.1.0"
    assert "are older than those of servelint 0.1.0" in data.Bundle("0" * 40, "", manifest | {"date": "2020"}).fault


def test_what_is_made_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1900000000")
    paths = [str(tmp_path / name) for name in ("secret", "public", "one.zip", "two.zip")]
    assert tool.main(["key", *paths[:2]]) == 0
    assert os.stat(paths[0]).st_mode & 0o077 == 0
    assert tool.main(["make", paths[2], "--key", paths[0]]) == 0
    monkeypatch.setenv("SERVELINT_BUNDLE_KEY", Path(paths[0]).read_text())
    assert tool.main(["make", paths[3]]) == 0
    assert hashlib.sha256(Path(paths[2]).read_bytes()).digest() == hashlib.sha256(Path(paths[3]).read_bytes()).digest()
    found = bundle.verified(paths[2], paths[1])
    assert found.manifest["date"] == "2030-03-17T17:46:40Z"
    assert len(found.files) > 900
    monkeypatch.setenv("SERVELINT_BUNDLE_KEY", "")
    assert tool.main(["make", paths[3]]) == 2
    assert "not a secret key of minisign" in capsys.readouterr().err
