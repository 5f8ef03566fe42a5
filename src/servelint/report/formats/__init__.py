"""The formats of a report (`servelint check --format`), one module each, found by its name.

A module NAME.py, or a package, in this folder is the format NAME. It has

- `AUDIENCE` and `SUMMARY`: who reads the format, and what it holds, for the table of docs/formats.md,
- `render(report, options=DEFAULTS)`: the text of a report, with its line end: `report.findings` (servelint.core.finding), then
  `report.errors`, the files that could not be read (servelint.core.problem),
- `HAS_EXTENT = False` if it has no place for how far the report judged; the command line then prints that on standard error.

Every text of the report, also a rule's id, goes through `servelint.report.clean.clean`, which masks secrets and escapes what
steers a terminal or a CI log. A path for another program goes through `servelint.report.places.relative`. Columns are those of
`Source.position`, in characters from 1; `places.position` counts other units.

No code lists the formats: `servelint.core.settings.FORMATS` is read from this folder. The schema of the settings,
docs/formats.md and docs/usage.md list them (CONTRIBUTING.md, "A report format").
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from servelint.core.result import Report
    from servelint.filters.suppressions import Suppression
    from servelint.settings.files import SettingsFiles

    class Format(Protocol):
        """A module of this package."""

        AUDIENCE: str
        SUMMARY: str

        def render(self, report: Report, options: RenderOptions = ...) -> str:
            """Return the text of a report."""


class RenderOptions:
    """What a format may use beside the report; each uses what it has a place for.

    Attributes:
        milliseconds: how long the check took; None leaves it out.
        quiet: leave out everything but findings and errors.
        color: colour the text, as terminals show it.
        suppressions: the suppressions in force, where they are listed.
        settings: the settings of the run, which name folders of rules, engine versions and GPUs; None for the defaults.
        verbose: list what was not judged.
        paths: what was checked, for a format that states where and when; None leaves both out.
    """

    __slots__ = ("color", "milliseconds", "paths", "quiet", "settings", "suppressions", "verbose")

    def __init__(
        self,
        milliseconds: float | None = None,
        *,
        quiet: bool = False,
        color: bool = False,
        suppressions: list[Suppression] | None = None,
        settings: SettingsFiles | None = None,
        verbose: bool = False,
        paths: list[str] | None = None,
    ) -> None:
        self.milliseconds = milliseconds
        self.quiet = quiet
        self.color = color
        self.suppressions = suppressions
        self.settings = settings
        self.verbose = verbose
        self.paths = paths


DEFAULTS = RenderOptions()


def find(name: str) -> Format:
    """Import the module of a format, one of servelint.core.settings.FORMATS."""
    found: Format = import_module(f"{__name__}.{name}")
    return found


def table() -> str:
    """Return the table of formats in docs/formats.md."""
    from servelint.core.settings import FORMATS

    rows = [f"| `{name}` | {found.AUDIENCE} | {found.SUMMARY} |\n" for name in FORMATS for found in (find(name),)]
    return "".join(["| format | for | |\n|---|---|---|\n", *rows])
