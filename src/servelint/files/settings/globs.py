"""Patterns of paths, as in `.gitignore`: `deploy/**`, `*.example.yml`, `vendor`.

`*` and `?` stop at a slash, `**` does not, `[abc]` and `{yml,yaml}` are choices. A pattern with a slash in it starts at the
folder that it is relative to, one without stands for a name at any depth below. A folder is matched with all that is in it.
"""

from __future__ import annotations

import os
import re

_WINDOWS = os.name == "nt"
_FLAGS = re.IGNORECASE if _WINDOWS else 0
_TOKEN = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[(!?)([^\]]+)\]|\{([^{}]*)\}|\\(.)|.", re.DOTALL)


class GlobError(ValueError):
    """What is wrong with a pattern."""


class Glob:
    """text: as written;  folder: what it is relative to, an absolute path"""

    __slots__ = ("_pattern", "folder", "text")

    def __init__(self, text: str, folder: str) -> None:
        """Raises GlobError."""
        self.text = text
        self.folder = folder
        try:
            self._pattern = re.compile(_regex(text), _FLAGS)
        except re.error as error:
            raise GlobError(f"{text!r} is no pattern of paths: {error}") from error

    def matches(self, path: str, otherwise: str) -> bool:
        """Whether it matches an absolute path itself. otherwise: the folder that counts where the path is not below its own"""
        relative = _relative(path, self.folder, otherwise)
        return relative is not None and self._pattern.fullmatch(relative) is not None

    def covers(self, path: str, otherwise: str) -> bool:
        """Whether it matches the path or a folder that the path is in."""
        relative = _relative(path, self.folder, otherwise)
        while relative:
            if self._pattern.fullmatch(relative):
                return True
            relative = relative.rpartition("/")[0]
        return False


def _relative(path: str, folder: str, otherwise: str) -> str | None:
    for base in (folder, otherwise):
        start = base if base.endswith(os.sep) else base + os.sep
        if path.startswith(start) or (_WINDOWS and path.lower().startswith(start.lower())):
            found = path[len(start) :]
            return found.replace(os.sep, "/") if _WINDOWS else found
    return None


def _regex(text: str) -> str:
    body = text.replace("\\", "/") if _WINDOWS else text
    body = body.removeprefix("./")
    if not body.strip("/"):
        raise GlobError(f"{text!r} matches nothing: `*` is everything")
    if body == ".." or body.startswith("../"):
        raise GlobError(f"{text!r} leads out of the folder that it is relative to")
    anchored = "/" in body.rstrip("/")
    body = body.strip("/")
    return ("" if anchored else "(?:.*/)?") + _translated(body)


def _translated(body: str) -> str:
    parts: list[str] = []
    for token in _TOKEN.finditer(body):
        found = token.group()
        if found == "**/":
            parts.append("(?:.*/)?")
        elif found == "/**":
            parts.append("/.+")
        elif found == "**":
            parts.append(".*")
        elif found == "*":
            parts.append("[^/]*")
        elif found == "?":
            parts.append("[^/]")
        elif token[2] is not None:
            inside = token[2].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
            parts.append(f"[{'^/' if token[1] else ''}{inside}]")
        elif token[3] is not None:
            parts.append("(?:" + "|".join([_translated(one) for one in token[3].split(",")]) + ")")
        else:
            parts.append(re.escape(token[4] or found))
    return "".join(parts)
