"""Package indexes (PEP 503 pages, PEP 691 JSON): where the index is, and which files it has of a project."""

from __future__ import annotations

import configparser
import json
import os
import re
import sys
import urllib.parse
from html.parser import HTMLParser

from servelint.engines.releases import release_key
from servelint.harvest.errors import HarvestError
from servelint.harvest.remote import get, shown

DEFAULT_INDEX = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


class IndexFile:
    """One file of a project: its name, where it is, what it holds."""

    __slots__ = ("filename", "kind", "release", "sha256", "tags", "url", "yanked")

    def __init__(self, project: str, filename: str, url: str, sha256: str | None, yanked: bool) -> None:
        self.filename = filename
        self.url = url
        self.sha256 = sha256
        self.yanked = yanked
        self.kind, self.release, self.tags = _parse(project, filename)


def _parse(project: str, filename: str) -> tuple[str, str, str]:
    """(wheel, sdist or other, release, wheel tags) from a file's name."""
    if filename.endswith(".whl"):
        parts = filename[:-4].split("-")
        if len(parts) in (5, 6) and _same(parts[0], project):
            return "wheel", parts[1].replace("_", "-").partition("+")[0], "-".join(parts[-3:])
    match = re.fullmatch(r"(?P<name>.+?)-(?P<release>\d[^-]*)\.(?:tar\.gz|tgz|zip)", filename)
    if match and _same(match.group("name"), project):
        return "sdist", match.group("release").partition("+")[0], ""
    return "other", "", ""


def _same(one: str, other: str) -> bool:
    return re.sub(r"[-_.]+", "-", one).lower() == re.sub(r"[-_.]+", "-", other).lower()


def index_address() -> str:
    """PIP_INDEX_URL, else `index-url` of pip's configuration, else the public index."""
    address = os.environ.get("PIP_INDEX_URL") or _configured() or DEFAULT_INDEX
    return address.split()[0].rstrip("/")


def _configured() -> str | None:
    """`index-url` of pip's configuration files, in pip's order: system, user, environment folder, PIP_CONFIG_FILE."""
    named = os.environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return None
    home = os.path.expanduser("~")
    paths = [
        os.path.join(folder, "pip", "pip.conf") for folder in os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(os.pathsep)
    ]
    paths.append("/etc/pip.conf")
    paths.append(os.path.join(home, ".pip", "pip.conf"))
    paths.append(os.path.join(home, "Library", "Application Support", "pip", "pip.conf"))
    paths.append(os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "pip", "pip.conf"))
    paths.append(os.path.join(os.environ.get("APPDATA", home), "pip", "pip.ini"))
    paths.append(os.path.join(sys.prefix, "pip.ini" if os.name == "nt" else "pip.conf"))
    paths.extend([named] if named else [])
    found: str | None = None
    for path in paths:
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
            found = parser.get("global", "index-url", fallback=found)
        except (configparser.Error, UnicodeDecodeError, OSError):
            continue  # pip itself would complain; another file may still say it
    return found or None


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []
        self.base: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links.append(dict(attrs))
        elif tag == "base" and self.base is None:
            self.base = dict(attrs).get("href")


def files(project: str) -> list[IndexFile]:
    """Every file that the index has of a project. Raises HarvestError when the index cannot be read."""
    name = re.sub(r"[-_.]+", "-", project).lower()
    address = f"{index_address()}/{name}/"
    body, content_type, final = get(address, _ACCEPT)
    text = body.decode("utf-8", "replace")
    found = _from_json(project, text, final) if "json" in content_type else _from_html(project, text, final)
    if not found:
        raise HarvestError(f"{shown(address)} lists no files of {project}")
    return [file for file in found if file.kind != "other" and release_key(file.release) is not None]


def _from_json(project: str, text: str, address: str) -> list[IndexFile]:
    try:
        entries = json.loads(text)["files"]
        return [
            IndexFile(
                project,
                str(entry["filename"]),
                urllib.parse.urljoin(address, str(entry["url"])),
                (entry.get("hashes") or {}).get("sha256"),
                bool(entry.get("yanked")),
            )
            for entry in entries
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HarvestError(f"{shown(address)} is not a package index page: {error}") from error


def _from_html(project: str, text: str, address: str) -> list[IndexFile]:
    parser = _Links()
    parser.feed(text)
    base = urllib.parse.urljoin(address, parser.base or "")
    found: list[IndexFile] = []
    for link in parser.links:
        href = link.get("href")
        if href:
            url, _, fragment = urllib.parse.urljoin(base, href).partition("#")
            filename = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
            sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
            found.append(IndexFile(project, filename, url, sha256, "data-yanked" in link))
    return found


def ranked(candidates: list[IndexFile]) -> list[IndexFile]:
    """The files of one release, the best source of its text first: pure wheel, source archive, Linux wheel, the rest."""

    def rank(file: IndexFile) -> tuple[bool, int, bool, str]:
        order = 0 if file.tags.endswith("none-any") else 1 if file.kind == "sdist" else 2 if "linux" in file.tags else 3
        return file.yanked, order, "x86_64" not in file.tags, file.filename

    return sorted(candidates, key=rank)
