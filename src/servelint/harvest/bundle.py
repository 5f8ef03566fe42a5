"""Data bundles: verified, installed for the user, and taken back. Nothing is fetched.

A bundle is a folder or a zip archive. `manifest.json` (schemas/bundle.schema.json) has its date, the oldest servelint that can
use it, and the bytes and SHA-256 of each file; `manifest.json.minisig` is its signature as minisign writes it. The other files
are data, by their names below the package. Only what a signed manifest lists is read, to the size that it states.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any, Protocol

from servelint.core import data, safe_open

MANIFEST, SIGNATURE = "manifest.json", "manifest.json.minisig"
FORMAT = 1
KEY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "servelint.pub")
"""The public key of servelint's own bundles."""
RULES = "rules/book/"
"""What the names of rule files in a bundle begin with."""

ARCHIVE_AT_MOST, FILE_AT_MOST, MANIFEST_AT_MOST, TOTAL_AT_MOST = 16 << 20, 8 << 20, 2 << 20, 64 << 20
"""Bytes."""
FILES_AT_MOST = 10_000
_KEY_AT_MOST = 4096
_KEPT = 3
"""Number of bundles to which a rollback can return."""

_FOLDERS = ("engines/data", "engines/data/purposes", "hardware", "models", "translate", "speculation/data", "advise/data")
_NAME = re.compile(
    rf"(?:{'|'.join(_FOLDERS)})/[a-z][a-z0-9_.-]*\.json|rules/refusals\.json"
    r"|rules/book/(?:[a-z]+/)?[a-z_][a-z0-9_.-]*\.yaml"
)
_TRY_OUT = "import sys; sys.path[:1] == [''] and sys.path.pop(0); from servelint.harvest.bundle import try_out; try_out()"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


class Refused(Exception):
    """A bundle is not installed. The message is one sentence."""


class Parts(Protocol):
    """The files of a bundle.

    Attributes:
        names: Their names, with `/`.
    """

    names: set[str]

    def read(self, name: str, most: int) -> bytes:
        """Return the content of a file. Raises Refused if it has more than `most` bytes, or is damaged."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A bundle whose signature, manifest and hashes are right."""

    id: str
    manifest: dict[str, Any]
    files: dict[str, bytes]


# -- reading


def _safe(name: str, known: set[str]) -> str:
    """Return a name of a bundle. Raises Refused if it leads out of the bundle, or comes twice."""
    if name.startswith(("/", "\\")) or re.match("[A-Za-z]:", name):
        raise Refused(f"{name!r} is an absolute path")
    if ".." in re.split(r"[/\\]", name):
        raise Refused(f"the path {name!r} leads out of the bundle")
    if "\\" in name or "\0" in name or not {".", ""}.isdisjoint(name.split("/")):
        raise Refused(f"{name!r} is not a path of names with / between them")
    if name.casefold() in known:
        raise Refused(f"it holds {name!r} twice")
    if len(known) >= FILES_AT_MOST:
        raise Refused(f"it holds more than {FILES_AT_MOST:,} files")
    known.add(name.casefold())
    return name


class _Zip:
    def __init__(self, path: str) -> None:
        content = safe_open.read(path, ARCHIVE_AT_MOST)
        if len(content) > ARCHIVE_AT_MOST:
            raise Refused(f"it is larger than {ARCHIVE_AT_MOST >> 20} MiB")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        except _BROKEN:
            begun = content.startswith(b"PK\x03\x04")
            raise Refused("the zip archive is truncated or damaged" if begun else "it is not a zip archive") from None
        known: set[str] = set()
        self.names: set[str] = set()
        for one in self._archive.infolist():
            folder = one.orig_filename.endswith("/")
            name = _safe(one.orig_filename.removesuffix("/") if folder else one.orig_filename, known)
            if stat.S_IFMT(one.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise Refused(f"{name!r} is a link or a special file")
            if one.flag_bits & 1:
                raise Refused(f"{name!r} is encrypted")
            self.names |= set() if folder else {name}

    def read(self, name: str, most: int) -> bytes:
        try:
            with self._archive.open(name) as file:
                found = file.read(most + 1)
        except _BROKEN as error:
            raise Refused(f"{name!r} is damaged: {error}") from None
        return _bounded(found, name, most)


class _Folder:
    def __init__(self, path: str) -> None:
        self._path = os.path.realpath(path)
        known: set[str] = set()
        self.names: set[str] = set()
        for base, folders, names in os.walk(self._path):
            for name in (*folders, *names):
                full = os.path.join(base, name)
                mode = os.lstat(full).st_mode
                shown = _safe(os.path.relpath(full, self._path).replace(os.sep, "/"), known)
                if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    raise Refused(f"{shown!r} is a link or a special file")
                self.names |= {shown} if stat.S_ISREG(mode) else set()

    def read(self, name: str, most: int) -> bytes:
        opened = safe_open.descriptor_below(self._path, name.replace("/", os.sep))
        return _bounded(safe_open.content(opened, most), name, most)


def _bounded(found: bytes, name: str, most: int) -> bytes:
    if len(found) > most:
        raise Refused(f"{name!r} is larger than {most:,} bytes")
    return found


def verified(path: str, key: str = KEY) -> Verified:
    """Read a bundle.

    Args:
        path: A folder or a zip archive.
        key: The file of the public key that must have signed it.

    Raises:
        Refused: It is not a bundle of that key that this servelint can use.
        OSError: It cannot be read.
    """
    parts: Parts = _Folder(path) if os.path.isdir(path) else _Zip(path)
    for needed in (MANIFEST, SIGNATURE):
        if needed not in parts.names:
            raise Refused(f"it has no {needed}" + ("; only a signed bundle is installed" if needed == SIGNATURE else ""))
    written = parts.read(MANIFEST, MANIFEST_AT_MOST)
    check_signature(written, parts.read(SIGNATURE, _KEY_AT_MOST), key)
    manifest = _manifest(written)
    listed: dict[str, dict[str, Any]] = manifest["files"]
    for name in sorted(parts.names - {MANIFEST, SIGNATURE} - listed.keys()):
        raise Refused(f"it holds {name!r}, which its manifest does not list")
    if sum(one["bytes"] for one in listed.values()) > TOTAL_AT_MOST:
        raise Refused(f"its files have more than {TOTAL_AT_MOST >> 20} MiB")
    files: dict[str, bytes] = {}
    for name, entry in listed.items():
        if name not in parts.names:
            raise Refused(f"it lacks {name!r}, which its manifest lists")
        files[name] = parts.read(name, min(entry["bytes"], FILE_AT_MOST))
        if hashlib.sha256(files[name]).hexdigest() != entry["sha256"]:
            raise Refused(f"the hash of {name!r} is not the one in its manifest")
    return Verified(hashlib.sha256(written).hexdigest()[:40], manifest, files)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _manifest(written: bytes) -> dict[str, Any]:
    """Read a manifest. Raises Refused."""
    from jsonschema import Draft202012Validator

    from servelint.rules.load import schema_folder

    try:
        found: Any = json.loads(written, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{MANIFEST} is not valid JSON: {error}") from None
    form = found.get("servelint-data") if isinstance(found, dict) else None
    if isinstance(form, int) and form != FORMAT:
        raise Refused(f"its format is {form}, and servelint {data.VERSION} reads format {FORMAT}")
    with open(os.path.join(schema_folder(), "bundle.schema.json"), encoding="utf-8") as file:
        fault = next(iter(Draft202012Validator(json.load(file)).iter_errors(found)), None)
    if fault is not None:
        raise Refused(f"{MANIFEST} does not fit its schema at {fault.json_path[:200]}: {fault.message[:200]}")
    if data.numbers(found["code"]) > data.numbers(data.VERSION):
        raise Refused(f"it needs servelint {found['code']}, and this is {data.VERSION}")
    known: set[str] = set()
    for name in found["files"]:
        if not _NAME.fullmatch(_safe(name, known)):
            raise Refused(f"{name!r} is not a file of data")
    for name in sorted(own_files() - found["files"].keys()):
        raise Refused(f"it lacks {name!r}")
    if not any(name.startswith(RULES) for name in found["files"]):
        raise Refused("it has no rules")
    return dict(found)


def own_files() -> set[str]:
    """Return the names of the package's own data, without the rules."""
    found = {"rules/refusals.json"}
    for folder in _FOLDERS:
        names = os.listdir(os.path.join(data.PACKAGE, *folder.split("/")))
        found |= {f"{folder}/{name}" for name in names if name.endswith(".json")}
    return found


# -- signatures, in the format of minisign


def _decoded(line: str, size: int, name: str) -> bytes:
    try:
        found = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != size:
        raise Refused(f"{name} is not in the format of minisign")
    return found


def _text(content: bytes) -> list[str]:
    return [*content.decode("utf-8", "replace").splitlines(), "", "", "", ""][:4]


def check_signature(content: bytes, signature: bytes, key: str = KEY) -> None:
    """Check that a key signed a content.

    Args:
        content: What is signed.
        signature: The file that minisign wrote beside it.
        key: The file of the public key.

    Raises:
        Refused: It did not, or that cannot be checked.
    """
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise Refused('a signature is checked with the package cryptography: pip install "servelint[update]"') from None
    try:
        public = _decoded(_text(safe_open.read(key, _KEY_AT_MOST))[1], 42, f"the key {key}")
    except OSError as error:
        raise Refused(f"the key {key} cannot be read: {error.strerror}") from None
    lines = _text(signature)
    own = _decoded(lines[1], 74, SIGNATURE)
    whole = _decoded(lines[3], 64, SIGNATURE)
    if own[:2] != b"ED" or public[:2] != b"Ed" or not lines[2].startswith("trusted comment: "):
        raise Refused(f"{SIGNATURE} is not an Ed25519 signature of a BLAKE2b digest, as minisign makes it")
    if own[2:10] != public[2:10]:
        raise Refused(f"it is signed with the key {_key_id(own)}, and the key that is trusted is {_key_id(public)}")
    trusted = Ed25519PublicKey.from_public_bytes(public[10:])
    try:
        trusted.verify(own[10:], hashlib.blake2b(content).digest())
        trusted.verify(whole, own[10:] + lines[2].removeprefix("trusted comment: ").encode())
    except InvalidSignature:
        raise Refused(f"{SIGNATURE} is not a signature of its {MANIFEST}") from None


def _key_id(key: bytes) -> str:
    return f"{int.from_bytes(key[2:10], 'little'):016X}"


# -- installing


def install(path: str, key: str = KEY) -> tuple[Verified, bool]:
    """Verify a bundle, and use it from the next start of servelint on.

    Returns:
        The bundle, and whether it was not installed before.

    Raises:
        Refused: It is not valid, or older than the data that are in use.
        OSError: It cannot be read, or the user's folder cannot be written.
    """
    found = verified(path, key)
    try:
        ids = data.installed()
        used = data.read(ids[0]) if ids else None
    except data.DataError:
        ids, used = [], None  # broken: replaced
    if ids and ids[0] == found.id:
        return found, False
    own, date = data.package_date(), str(found.manifest["date"])
    if date < own:
        raise Refused(f"its data of {date} are older than those of servelint {data.VERSION}, {own}")
    if used is not None and date < used.date:
        raise Refused(f"its data of {date} are older than the installed ones, {used.date}")
    folder = data.bundle_folder()
    staged = os.path.join(folder, f"{found.id}.{os.getpid()}")
    try:
        for name, content in found.files.items():
            _write(os.path.join(staged, *name.split("/")), content, synced=False)
        _write(os.path.join(staged, MANIFEST), json.dumps(found.manifest).encode(), synced=False)
        if hasattr(os, "sync"):
            os.sync()  # once for all of them: a loss of power must not leave half a file in what is named below
        _tried(os.path.basename(staged))
        final = os.path.join(folder, found.id)
        shutil.rmtree(final, ignore_errors=True)
        os.replace(staged, final)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    kept = [found.id, *[one for one in ids if one != found.id]][:_KEPT]
    _name_installed(kept)
    for entry in os.listdir(folder):
        if re.fullmatch("[0-9a-f]{40}", entry) and entry not in kept:
            shutil.rmtree(os.path.join(folder, entry), ignore_errors=True)
    return found, True


def rollback() -> str | None:
    """Leave the bundle that was installed last.

    Returns:
        The id of the one before it; None for the data of the package.

    Raises:
        Refused: No bundle is installed.
        OSError: The user's folder cannot be written.
    """
    try:
        ids = data.installed()
    except data.DataError:
        ids = [""]  # broken: back to the package's own
    if not ids:
        raise Refused("no data bundle is installed")
    _name_installed(ids[1:])
    return ids[1] if len(ids) > 1 else None


def _name_installed(ids: list[str]) -> None:
    _write(os.path.join(data.bundle_folder(), data.CURRENT), json.dumps({"bundles": ids}).encode())


def _write(path: str, content: bytes, *, synced: bool = True) -> None:
    """Write a file whole or not at all. synced: whether it is on the disk at the end."""
    temporary = f"{path}.{os.getpid()}.tmp"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(temporary, "wb") as file:
        file.write(content)
        if synced:
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, path)


def _tried(id: str) -> None:
    """Load the data of a bundle in a process of its own, which compiles them. Raises Refused if that fails."""
    ran = subprocess.run(  # noqa: S603 - this very program
        [sys.executable, "-c", _TRY_OUT],
        env={**os.environ, data.VARIABLE: id},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if ran.returncode:
        lines = ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"]
        fault = lines[-1].replace(os.path.join(data.bundle_folder(), id, ""), "")
        for more in ("servelint.core.data.DataError: ", "rules/book: ", "; run servelint engines update --rollback"):
            fault = fault.replace(more, "", 1)
        raise Refused(f"servelint {data.VERSION} cannot load its data: {fault[:300]}")


def try_out() -> None:
    """Load all data that this process uses.

    Raises:
        Exception: What is wrong with them. DataError if a table is not JSON, or holds nothing.
    """
    from servelint import hardware, models, translate
    from servelint.advise import recommendation
    from servelint.core.text import TracedText
    from servelint.engines import ENGINES, catalog, images, releases
    from servelint.models import catalog as checkpoints
    from servelint.rules import load
    from servelint.speculation import gains

    for name in sorted(own_files()):
        found, own = data.load_data(name), data.read_json(os.path.join(data.PACKAGE, *name.split("/")))
        if type(found) is not type(own) or (own and not found):
            raise data.DataError(f"{name} has no table where servelint {data.VERSION} has one")
    for engine in ENGINES:
        if (loaded := catalog.load(engine)) is not None:
            loaded.table(len(loaded.releases) - 1).options()
        releases.newest(engine)
    for rule in load.rules():
        str(rule.message)
    for name in checkpoints.known_names():
        checkpoints.lookup(name)
    images.identify(TracedText.of("vllm/vllm-openai:latest"))
    models.identify(TracedText.of("Qwen/Qwen3-8B"))
    hardware.identify("h100")
    for row in translate.table()["concepts"]:
        translate.row_of(row["id"])
    gains.published()
    recommendation.load_of(recommendation.UseCase.CHAT)
