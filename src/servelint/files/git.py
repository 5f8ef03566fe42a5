"""git: what has changed since a revision, and a revision as a trusted base. git runs nothing that a repository brings."""

from __future__ import annotations

import os
import re
import subprocess

from servelint.core.finding import Finding
from servelint.core.source import Source, Span
from servelint.files.siblings import decode_text

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_LARGEST_REFS = 16 << 20
"""Bytes of a file of references that is read."""
_QUOTED = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_SAFE = (
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
    "-c", "core.quotePath=true", "-c", "diff.renameLimit=20000", "-c", "diff.suppressBlankEmpty=false",
)  # fmt: skip
"""What the configuration of a repository could have git run, or have it print otherwise."""


class GitError(Exception):
    """Why git failed, in one sentence."""


class FileChange:
    """How a file that is there now has changed.

    Attributes:
        old: Its path at the revision; None for a new file.
        added: (first, last) 1-based lines that are new or changed.
        removed: The lines after which others were removed; 0 at the top.
    """

    __slots__ = ("added", "old", "removed")

    def __init__(self, old: str | None) -> None:
        self.old = old
        self.added: list[tuple[int, int]] = []
        self.removed: list[int] = []

    def touches(self, first: int, last: int) -> bool:
        """Whether any of some lines is new, or a line between them was removed."""
        if self.old is None:
            return True
        written = any(start <= last and first <= end for start, end in self.added)
        return written or any(first <= line < last for line in self.removed)


class Changes:
    """How a working tree differs from a revision: committed, staged, unstaged and untracked changes.

    Attributes:
        files: Path from the top of the repository, with slashes, to the change.
        gone: Paths that are no longer there.
    """

    __slots__ = ("_base", "_blobs", "_top", "files", "gone")

    def __init__(self, top: str, base: str | None) -> None:
        self._top = os.path.realpath(top)
        self._base = base
        self._blobs: dict[str, bytes | None] = {}
        self.files: dict[str, FileChange] = {}
        self.gone: set[str] = set()

    def place(self, path: str) -> str | None:
        """A path as git writes it, None for one outside the repository."""
        below = os.path.relpath(os.path.realpath(path), self._top)
        return None if below == os.pardir or below.startswith(os.pardir + os.sep) else below.replace(os.sep, "/")

    def of(self, path: str) -> FileChange | None:
        """What has changed in a file; None if nothing has."""
        place = self.place(path)
        return self.files.get(place) if place is not None else None

    def is_changed(self, path: str) -> bool:
        """Whether a file was changed, made, or taken away."""
        place = self.place(path)
        return place is not None and (place in self.files or place in self.gone)

    def before(self, place: str) -> bytes | None:
        """What a file held at the revision; None if it was not there."""
        if place not in self._blobs:
            self._blobs[place] = None
            if self._base is not None:
                ran = _git(self._top, "cat-file", "blob", f"{self._base}:{place}")
                self._blobs[place] = ran.stdout if ran.returncode == 0 else None
        return self._blobs[place]

    def full(self, place: str) -> str:
        """The path of a file of the repository."""
        return os.path.join(self._top, place)


def since(revision: str, folder: str = ".") -> Changes:
    """What has changed since the last commit that HEAD and a revision have in common. Raises GitError."""
    top = _line_of(folder, "rev-parse", "--show-toplevel", why="this folder is not in a git repository")
    head = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if head.returncode != 0 and revision == "HEAD":
        return _untracked(Changes(top, None), tracked=True)  # before the first commit all is new
    commit = _commit(revision, folder)
    why = f"HEAD and {revision!r} have no merge base; a shallow clone lacks it (fetch-depth: 0 fetches all)"
    return against(top, _line_of(folder, "merge-base", commit, "HEAD", why=why))


def against(top: str, base: str) -> Changes:
    """What has changed in the working tree since a commit. Raises GitError."""
    found = Changes(top, base)
    # attributes as the commit has them: a change must not hide itself by what it says of its own files
    safe = {"GIT_ATTR_SOURCE": base}
    filters = _no_filters(top)
    given = ["--no-ext-diff", "--no-textconv", "--ignore-submodules", "--no-relative"]
    lines = _output(
        top, *filters, "diff", *given, "--no-color", "--unified=0", "--find-renames", "--src-prefix=a/", "--dst-prefix=b/",
        "--inter-hunk-context=0", "--no-indent-heuristic", "--diff-algorithm=myers", base, "--", environment=safe,
    )  # fmt: skip
    _parse(lines, found)
    names = _output(
        top, *filters, "diff", *given, "--no-renames", "--name-only", "--diff-filter=d", "-z", base, "--", environment=safe
    )
    for name in names.split(b"\0"):
        if name and os.fsdecode(name) not in found.files:
            found.files[os.fsdecode(name)] = FileChange(None)  # binary, or marked as such: its changed lines are not known
    return _untracked(found)


def checked_out(folder: str = ".") -> tuple[str, str]:
    """The top of the repository around a folder and its current commit, read from its files: git is not run.

    Returns:
        ("", "") outside of a repository; a commit of "" if there is none or it is stored in another way.
    """
    top = os.path.abspath(folder)
    while not os.path.lexists(os.path.join(top, ".git")):
        top, below = os.path.dirname(top), top
        if top == below:
            return "", ""
    own = os.path.join(top, ".git")
    if os.path.isfile(own):  # a work tree or a submodule: its own folder is elsewhere
        own = os.path.join(top, _first_line(own).removeprefix("gitdir: "))
    name = _first_line(os.path.join(own, "HEAD"))
    if name.startswith("ref: refs/") and ".." not in name:
        name = name.removeprefix("ref: ")
        shared = os.path.join(own, _first_line(os.path.join(own, "commondir")))
        packed = [line[: -len(name) - 1] for line in _lines(os.path.join(shared, "packed-refs")) if line.endswith(f" {name}")]
        name = _first_line(os.path.join(shared, name)) or "".join(packed[:1])
    return top, name if re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", name) else ""


def _first_line(path: str) -> str:
    return next(iter(_lines(path)), "")


def _lines(path: str) -> list[str]:
    """The lines of a file of git's; none where it cannot be read, or is not one."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST_REFS:
            return []
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except (OSError, ValueError):
        return []


def commit(revision: str, folder: str = ".") -> tuple[str, str]:
    """The top of the repository of a folder, and the name of a revision's commit. Raises GitError."""
    top = _line_of(folder, "rev-parse", "--show-toplevel", why="this folder is not in a git repository")
    return top, _commit(revision, folder)


def _commit(revision: str, folder: str) -> str:
    why = f"git knows no revision {revision!r}; a shallow clone has only the last ones (fetch-depth: 0 fetches all)"
    if revision.startswith("-"):
        raise GitError(why)
    return _line_of(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", why=why)


def tree(top: str, commit: str) -> dict[str, tuple[str, str]]:
    """The files of a commit: path from the top to mode and object name. Raises GitError."""
    found: dict[str, tuple[str, str]] = {}
    for line in _output(top, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
        head, _, path = line.partition(b"\t")
        if path:
            mode, _, name = head.decode("ascii").split(" ")
            found[os.fsdecode(path)] = (mode, name)
    return found


def tags(folder: str) -> list[str]:
    """The tags of the repository of a folder. Raises GitError."""
    return _output(folder, "tag", "--list").decode("utf-8", "replace").split()


def blob(top: str, name: str) -> bytes:
    """What an object holds. Raises GitError."""
    return _output(top, "cat-file", "blob", name)


def _no_filters(top: str) -> list[str]:
    """Options that switch off the programs which files would be sent through before they are compared."""
    ran = _git(top, "config", "--name-only", "-z", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$")
    names = [os.fsdecode(name) for name in ran.stdout.split(b"\0") if name]
    return [word for name in names for word in ("-c", f"{name}={'false' if name.endswith('.required') else ''}")]


def _untracked(found: Changes, *, tracked: bool = False) -> Changes:
    top = found.full("")
    names = _output(top, "ls-files", "-z", "--others", "--exclude-standard", *(["--cached"] if tracked else []))
    for name in names.split(b"\0"):
        if name:
            found.files[os.fsdecode(name)] = FileChange(None)
    return found


def _parse(diff: bytes, into: Changes) -> None:
    """Read what `git diff --unified=0` prints: of each file the names, and the head of each hunk."""
    change: FileChange | None = None
    old: str | None = None
    left = 0  # lines of the hunk that are to come: they may look like anything
    for line in diff.split(b"\n"):
        if left and line[:1] in (b"-", b"+"):
            left -= 1
        elif line.startswith(b"--- "):
            old = _name(line[4:])
        elif line.startswith((b"rename from ", b"copy from ")):
            old = _unquoted(line.split(b" from ", 1)[1])
        elif line.startswith((b"rename to ", b"copy to ")):
            change = into.files.setdefault(_unquoted(line.split(b" to ", 1)[1]), FileChange(old))
            if line.startswith(b"rename") and old is not None:
                into.gone.add(old)
        elif line.startswith(b"+++ "):
            if (name := _name(line[4:])) is not None:
                change = into.files.setdefault(name, FileChange(old))
            elif old is not None:
                change = None
                into.gone.add(old)
        elif line.startswith(b"@@ "):
            left = _hunk(line, change)


def _hunk(line: bytes, change: FileChange | None) -> int:
    """Note what the head of a hunk says; gives how many lines of it follow."""
    match = _HUNK.match(line.decode("ascii", "replace"))
    if match is None:
        return 0
    taken, first, count = (int(text) if text is not None else 1 for text in match.group(2, 3, 4))
    if change is not None and count:
        change.added.append((first, first + count - 1))
    if change is not None and taken > count:
        change.removed.append(first + max(count - 1, 0))
    return taken + count


def _name(text: bytes) -> str | None:
    """The path in a line such as `+++ b/path`; None for /dev/null."""
    text = text.rstrip(b"\t")
    return None if text == b"/dev/null" else _unquoted(text)[2:]


def _unquoted(text: bytes) -> str:
    """A path as git quotes one that has a special character."""
    if text[:1] != b'"':
        return os.fsdecode(text)

    def plain(match: re.Match[bytes]) -> bytes:
        code = match.group(1).decode("ascii")
        return bytes([int(code, 8) if len(code) == 3 else _ESCAPES[code]])

    return os.fsdecode(_QUOTED.sub(plain, text[1:-1]))


def _line_of(folder: str, *args: str, why: str) -> str:
    """What git prints on one line. Raises GitError with a reason if it fails."""
    ran = _git(folder, *args)
    text = ran.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")
    if ran.returncode == 0 and text:
        return text
    # git's own message counts where the trouble is another than the expected one
    own = ran.stderr.decode("utf-8", "replace").strip().splitlines()
    strange = own and not any(word in own[0] for word in ("not a git repository", "Needed a single revision", "Not a valid"))
    raise GitError(own[0] if strange else why)


def _output(folder: str, *args: str, environment: dict[str, str] | None = None) -> bytes:
    """What git prints. Raises GitError if it fails."""
    ran = _git(folder, *args, environment=environment)
    if ran.returncode != 0:
        lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitError(lines[0] if lines else f"git ended with status {ran.returncode}")
    return ran.stdout


def _git(folder: str, *args: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        **(environment or {}),
    }
    try:
        return subprocess.run(  # noqa: S603 - the words are ours
            ["git", "-C", folder or ".", *_SAFE, *args],  # noqa: S607 - the user's git
            capture_output=True,
            env=environment,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None


_LINK, _FILES = "120000", ("100644", "100755", "120000")
_LINKS_AT_MOST = 8


class Base:
    """A revision whose settings, rules, baselines and comments are trusted. name: as the user writes it."""

    __slots__ = ("_blobs", "_changes", "_commit", "_entries", "_folders", "_lines", "_top", "name")

    def __init__(self, name: str, top: str, commit: str, entries: dict[str, tuple[str, str]]) -> None:
        self.name = name
        self._commit = commit
        self._changes: Changes | None = None
        self._top = os.path.realpath(top)
        self._entries = entries
        self._blobs: dict[str, bytes] = {}
        self._folders = {""}
        self._lines: dict[str, list[str]] = {}
        for path in entries:
            while path:
                path = path.rpartition("/")[0]
                self._folders.add(path)

    def covers(self, path: str) -> bool:
        """Whether a path is in the repository; files elsewhere are read as they are."""
        return self._place(path) is not None

    def read(self, path: str) -> bytes | None:
        """What a file held; None if it was not there."""
        place = self._resolved(self._place(path))
        if place is None:
            return None
        _, name = self._entries[place]
        if name not in self._blobs:
            self._blobs[name] = blob(self._top, name)
        return self._blobs[name]

    def is_file(self, path: str) -> bool:
        """Whether there was a file at a path."""
        return self._resolved(self._place(path)) is not None

    def is_folder(self, path: str) -> bool:
        """Whether there was a folder at a path."""
        return self._place(path) in self._folders

    def below(self, folder: str) -> list[str]:
        """The files at any depth of a folder, sorted."""
        place = self._place(folder)
        head = f"{place}/" if place else ""
        names = [one[len(head) :] for one, (mode, _) in self._entries.items() if one.startswith(head) and mode != _LINK]
        return sorted([os.path.join(folder, *name.split("/")) for name in names])

    @property
    def changes(self) -> Changes:
        """What differs from the revision. Raises GitError."""
        if self._changes is None:
            self._changes = against(self._top, self._commit)
        return self._changes

    def has_comment(self, comment: Span, lines: tuple[int, ...]) -> bool:
        """Whether the revision has a comment and the lines that it applies to, where they are now."""
        first, last = min(comment.line, *lines), max(comment.end_line, *lines)
        return self._is_old(comment.source, first, min(last, len(comment.source.line_starts)))

    def had(self, comment: Span, lines: tuple[int, ...], finding: Finding) -> bool:
        """Whether the revision has a comment, the lines that it applies to and those of a finding, where they are now.

        A new or moved comment does not count, and an old one does not suppress anything new: neither on another line of its
        launch nor at a related place.
        """
        if not self.has_comment(comment, lines):
            return False
        spans = [finding.span, *[related.span for related in finding.related]]
        return all(self._is_old(span.source, span.line, span.end_line) for span in spans)

    def _is_old(self, source: Source, first: int, last: int) -> bool:
        """Whether lines of a file are as the revision has them."""
        path = source.path
        place = self._place(path)
        if place is None:
            return True  # no file of the repository
        for one in {place, self.changes.place(path) or place}:  # a link is a file of its own
            change = self.changes.files.get(one)
            if change is None and one not in self._entries:
                return False  # git does not follow it
            if change is not None and change.touches(first, last):
                return False
            old = change.old if change is not None else one
            if old is None or not self._has_lines(old, [source.line_text(line) for line in range(first, last + 1)]):
                return False
        return True

    def _has_lines(self, place: str, lines: list[str]) -> bool:
        """Whether a file had some lines one after the other, whatever git makes of the file by its attributes."""
        if place not in self._lines:
            data = self.read(os.path.join(self._top, *place.split("/")))
            found = decode_text(place, data) if data is not None else None
            self._lines[place] = (
                [found.line_text(number) for number in range(1, len(found.line_starts) + 1)]
                if isinstance(found, Source)
                else []
            )
        there = self._lines[place]
        return any(there[at : at + len(lines)] == lines for at in range(len(there) - len(lines) + 1))

    def _place(self, path: str) -> str | None:
        """A path as git writes it, None for one outside the repository. Links below the top are under test: not followed."""
        path = os.path.abspath(path)
        here, rest = path, ""
        below = os.path.relpath(path, self._top)
        if below != os.pardir and not below.startswith(os.pardir + os.sep):
            return "" if below == os.curdir else below.replace(os.sep, "/")
        while os.path.dirname(here) != here:
            if os.path.realpath(here) == self._top:
                return rest.replace(os.sep, "/")
            here, name = os.path.split(here)
            rest = os.path.join(name, rest) if rest else name
        return None

    def _resolved(self, place: str | None) -> str | None:
        """The file that a path is, links within the revision followed; None if there is none."""
        for _ in range(_LINKS_AT_MOST):
            if place is None or place not in self._entries:
                return None
            mode, name = self._entries[place]
            if mode != _LINK:
                return place if mode in _FILES else None
            target = os.fsdecode(blob(self._top, name))
            if target.startswith("/"):
                return None
            place = os.path.normpath(os.path.join(os.path.dirname(place), target)).replace(os.sep, "/")
        return None


def of(revision: str) -> Base:
    """The trusted base at a revision. Raises GitError."""
    top, name = commit(revision)
    return Base(revision, top, name, tree(top, name))
