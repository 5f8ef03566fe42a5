"""Data bundles for `servelint engines update --from` (docs/updates.md).

    python tools/bundle.py key SECRET PUBLIC      make a key pair
    python tools/bundle.py make OUT [--key FILE]  write OUT (a zip archive) from this checkout, signed

The secret key is one of minisign without a password (`minisign -G -W`): the file of --key, or the text of SERVELINT_BUNDLE_KEY.
The date is that of the last commit, or SOURCE_DATE_EPOCH, so that a bundle can be made again byte by byte.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from servelint import __version__
from servelint.harvest import bundle

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "servelint"
CODE = "0.1.0"
"""The oldest servelint that can use the data of this checkout: raise it with what older code cannot read."""
_UNENCRYPTED = b"Ed\0\0B2" + bytes(48)
"""Algorithm of the key, no key derivation, checksum by BLAKE2b; salt and limits of the derivation are empty."""


def new_key() -> tuple[str, str]:
    """Make a key pair, as minisign writes one: the secret key without a password, and the public key."""
    made = Ed25519PrivateKey.generate()
    public = made.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    own = os.urandom(8)
    pair = own + made.private_bytes_raw() + public
    check = hashlib.blake2b(b"Ed" + pair, digest_size=32).digest()
    secret = base64.b64encode(_UNENCRYPTED + pair + check).decode()
    shown = f"{int.from_bytes(own, 'little'):016X}"
    return (
        f"untrusted comment: secret key {shown} of servelint's data\n{secret}\n",
        f"untrusted comment: public key {shown} of servelint's data\n{base64.b64encode(b'Ed' + own + public).decode()}\n",
    )


def signature(content: bytes, secret: str, comment: str) -> str:
    """Sign a content with a secret key, as minisign does. Raises ValueError for a key that is not such a key."""
    lines = secret.strip().splitlines()
    raw = base64.b64decode(lines[-1]) if lines else b""
    if len(raw) != 158 or raw[:4] != _UNENCRYPTED[:4]:
        raise ValueError("the key is not a secret key of minisign without a password")
    own, key = raw[54:62], Ed25519PrivateKey.from_private_bytes(raw[62:94])
    signed = key.sign(hashlib.blake2b(content).digest())
    whole = base64.b64encode(key.sign(signed + comment.encode())).decode()
    head = base64.b64encode(b"ED" + own + signed).decode()
    return f"untrusted comment: servelint data\n{head}\ntrusted comment: {comment}\n{whole}\n"


def files() -> dict[str, bytes]:
    """Return the data of this checkout, by their names in a bundle."""
    found = {name: (PACKAGE / name).read_bytes() for name in bundle.own_files()}
    for path in (ROOT / "rules").rglob("*.yaml"):
        found[bundle.RULES + path.relative_to(ROOT / "rules").as_posix()] = path.read_bytes()
    return dict(sorted(found.items()))


def manifest(contents: dict[str, bytes], date: str, code: str = CODE) -> bytes:
    """Return the manifest of some files."""
    listed = {name: {"bytes": len(one), "sha256": hashlib.sha256(one).hexdigest()} for name, one in contents.items()}
    made = {"servelint-data": bundle.FORMAT, "date": date, "code": code, "files": listed}
    return (json.dumps(made, indent=1) + "\n").encode()


def write(path: Path, contents: dict[str, bytes], secret: str, date: str) -> None:
    """Write a signed bundle; its bytes depend on what it is given alone."""
    written = manifest(contents, date)
    signed = signature(written, secret, f"servelint data of {date}, made with servelint {__version__}")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {bundle.MANIFEST: written, bundle.SIGNATURE: signed.encode(), **contents}.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, content)


def _date() -> str:
    seconds = (
        os.environ.get("SOURCE_DATE_EPOCH")
        or subprocess.run(
            ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], check=True, capture_output=True, text=True
        ).stdout
    )
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))


def main(argv: list[str]) -> int:
    """Run the tool."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    key = commands.add_parser("key")
    key.add_argument("secret", type=Path)
    key.add_argument("public", type=Path)
    make = commands.add_parser("make")
    make.add_argument("output", type=Path)
    make.add_argument("--key", type=Path)
    asked = parser.parse_args(argv)
    if asked.command == "key":
        secret, public = new_key()
        with open(asked.secret, "x", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(secret)
        asked.public.write_text(public)
        return 0
    secret = asked.key.read_text() if asked.key is not None else os.environ.get("SERVELINT_BUNDLE_KEY", "")
    try:
        write(asked.output, files(), secret, _date())
    except ValueError as error:
        print(f"tools/bundle.py: {error}", file=sys.stderr)
        return 2
    print(f"{asked.output}: {asked.output.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
