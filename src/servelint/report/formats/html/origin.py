"""Where and when a report was made: its paths, commit and date, and addresses that open a place in a file."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from urllib.parse import quote

from servelint.core.source import Span
from servelint.files.git import checked_out
from servelint.report.places import relative

_PATHS = 5
"""Paths that the head names."""


class Origin:
    """What the head of the page states, and how its places open.

    Attributes:
        rows: term and text of each fact: what was checked, its commit, when.
    """

    __slots__ = ("_root", "_web", "rows")

    def __init__(self, paths: list[str], environ: Mapping[str, str]) -> None:
        """Read the repository of the current folder, and what GitHub Actions or GitLab CI set.

        Args:
            paths: what was checked, as the command line names it.
            environ: the environment; SOURCE_DATE_EPOCH replaces the time of day.
        """
        top, head = checked_out()
        head = environ.get("GITHUB_SHA") or environ.get("CI_COMMIT_SHA") or head
        self._root = environ.get("GITHUB_WORKSPACE") or environ.get("CI_PROJECT_DIR") or top
        self._web = ""
        if environ.get("GITHUB_REPOSITORY") and environ.get("GITHUB_SERVER_URL"):
            self._web = f"{environ['GITHUB_SERVER_URL']}/{environ['GITHUB_REPOSITORY']}/blob/{head}/"
        elif environ.get("CI_PROJECT_URL"):
            self._web = f"{environ['CI_PROJECT_URL']}/-/blob/{head}/"
        if not head or not self._web.startswith(("https://", "http://")):
            self._web = ""
        epoch = environ.get("SOURCE_DATE_EPOCH", "")
        when = time.gmtime(int(epoch)) if epoch.isdecimal() else time.gmtime()
        more = [f"{len(paths) - _PATHS} more"] if len(paths) > _PATHS else []
        self.rows = [("Checked", ", ".join([*[relative(path) for path in paths[:_PATHS]], *more]))]
        self.rows += [("Commit", head[:12])] if head else []
        self.rows.append(("Date", time.strftime("%Y-%m-%d %H:%M UTC", when)))

    def opens(self, span: Span) -> str:
        """Return the address of a place: in the web for a file of the repository that CI names, else for VS Code."""
        line, column = span.source.position(span.start)
        full = os.path.abspath(span.source.path)
        if self._web:
            below = os.path.relpath(os.path.realpath(full), os.path.realpath(self._root))
            if below != os.pardir and not below.startswith(os.pardir + os.sep):
                return f"{self._web}{quote(below.replace(os.sep, '/'))}#L{line}"
        shown = full.replace(os.sep, "/")
        return f"vscode://file/{quote(shown.lstrip('/'), errors='surrogateescape')}:{line}:{column}"
