"""Writing: reports, files, standard output and standard error, colour, and the progress bar."""

from __future__ import annotations

import os
import sys
import time

from servelint.core.settings import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TextIO

    from servelint.core.problem import Problem
    from servelint.core.result import Report
    from servelint.report.formats import RenderOptions

AUTO, ALWAYS, NEVER = "auto", "always", "never"
COLORS = (AUTO, ALWAYS, NEVER)
"""Values of `--color`."""


def print_stderr(text: object) -> None:
    """Print a text on standard error, with escapes for what could steer a terminal or the log of a CI."""
    from servelint.report.clean import clean_lines

    print(clean_lines(str(text)), file=sys.stderr)


def print_problems(problems: Iterable[Problem]) -> None:
    """Print problems on standard error, one a line."""
    from servelint.report.formats.text import Painter, problem_text

    for problem in problems:
        print_stderr(problem_text(problem, Painter(False)))


def plural(number: int, word: str) -> str:
    """Return a word in the singular or the plural.

    >>> plural(1, "finding"), plural(2, "finding"), plural(2, "launch"), plural(2, "repository"), plural(2, "info")
    ('finding', 'findings', 'launches', 'repositories', 'info')
    """
    if number == 1 or word == "info":
        return word
    return word[:-1] + "ies" if word.endswith("y") else word + ("es" if word.endswith("ch") else "s")


_PLAIN = str.maketrans("█▓▒░▚▞◆◇·…", "#=+-x/*o.~")
"""The marks of a report for a terminal that has no UTF-8: as wide, so that what stands below them still does."""


def _plain(text: str) -> str:
    """A text with marks that the encoding of standard output has."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return text.translate(_PLAIN)
    return text


def write_stdout(text: str) -> None:
    """Write to standard output, all of it: a pipe that another program left non-blocking would take only what fits."""
    text = text if text.isascii() else _plain(text)
    try:
        descriptor = sys.stdout.fileno()
        blocking = os.get_blocking(descriptor)
    except (AttributeError, OSError):  # not on this system, or not a file
        blocking = True
    if blocking:
        sys.stdout.write(text)
        return
    os.set_blocking(descriptor, True)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    finally:
        os.set_blocking(descriptor, False)


def write_stdout_bytes(data: bytes) -> None:
    """Write bytes to standard output as they are, whatever its encoding and line ends are."""
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # replaced by a stream of text
        write_stdout(data.decode("utf-8", "replace"))
        return
    sys.stdout.flush()
    binary.write(data)
    binary.flush()


def write_json(data: Any, indent: int = 1, **more: Any) -> None:
    """Write data to standard output as JSON, with parameters of `servelint.report.clean.encoded`."""
    from servelint.report.clean import encoded

    write_stdout(encoded(data, indent=indent, **more) + "\n")


def write_file(path: str, data: bytes) -> str | None:
    """Replace a file in one step and keep its mode; a pipe or a terminal is written to.

    Returns:
        What went wrong, None where nothing did.
    """
    real = os.path.realpath(path)
    temporary = f"{real}.{os.getpid()}.tmp"
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
            return None
        with open(temporary, "wb") as file:
            file.write(data)
        if os.path.exists(real):
            os.chmod(temporary, os.stat(real).st_mode & 0o7777)
        os.replace(temporary, real)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        return f"cannot be written: {error.strerror}"
    return None


def write_text(text: str, path: str | None) -> str | None:
    """Write a text to a file, to standard output where path is None. Returns what went wrong, None where nothing did."""
    if path is None:
        write_stdout(text)
        return None
    return write_file(path, text.encode("utf-8", "backslashreplace"))


def use_color(stream: TextIO, choice: str = AUTO) -> bool:
    """Return whether output to a stream is coloured.

    With `--color auto`, NO_COLOR (https://no-color.org) wins over FORCE_COLOR, either counts where it is not empty, and
    FORCE_COLOR=0 means no; without them, a terminal is coloured.
    """
    if choice != AUTO:
        return choice == ALWAYS
    if os.environ.get("NO_COLOR"):
        return False
    if forced := os.environ.get("FORCE_COLOR"):
        return forced.lower() not in ("0", "false")
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def destinations(given: Sequence[str]) -> tuple[str | None, list[tuple[str, str | None]]]:
    """Read the values of `--output`.

    Returns:
        The file of the report, None for standard output; and (format, file) of each report that is written besides.

    Raises:
        ValueError: with a sentence, where the values make no sense.
    """
    files: list[str] = []
    others: list[tuple[str, str | None]] = []
    for text in given:
        kind, sign, path = text.partition("=")
        if not (sign and kind in FORMATS):
            path = text
            files.append(text)
        elif path:
            others.append((kind, path))
        if not path:
            raise ValueError("--output needs the name of a file")
    if len(files) > 1:
        raise ValueError("--output FILE is given once; name the format of the others, as in --output sarif=report.sarif")
    paths = [os.path.realpath(path) for path in [*files, *[path for _, path in others if path]]]
    if len(set(paths)) < len(paths):
        raise ValueError("two reports would go to the same file")
    return (files[0] if files else None), others


def write_report(
    report: Report, kind: str, path: str | None, style: RenderOptions, color: str = AUTO, *, statistics: bool = False
) -> bool:
    """Write a report in a format to a file, to standard output where path is None.

    Args:
        report: what is written.
        kind: the format.
        path: the file.
        style: how it is rendered; its colour is set here.
        color: the value of `--color`.
        statistics: count the findings of each rule instead of printing them.

    Returns:
        Whether that worked.
    """
    style.color = path is None and use_color(sys.stdout, color)
    if statistics:
        from servelint.report import statistics as counts

        text = counts.render(report, kind == "json", style.milliseconds, quiet=style.quiet)
    else:
        from servelint.report import formats

        text = formats.find(kind).render(report, style)
    problem = write_text(text, path)
    if problem is not None:
        print_stderr(f"servelint: {path}: {problem}")
    return problem is None


_BAR_AFTER = 2.0
"""Seconds: a run that ends before draws no bar."""
_BAR_EVERY = 0.1
_BAR_WIDTH = 30


def bar_wanted(quiet: bool) -> bool:
    """Return whether standard error is a terminal that can show a progress bar."""
    return not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Progress:
    """A progress bar on standard error, drawn only while a run takes long. what: what is counted, in the plural."""

    __slots__ = ("_begun", "_done", "_drawn", "_last", "_what")

    def __init__(self, what: str = "files") -> None:
        self._what = what
        self._begun = self._last = time.monotonic()
        self._done = 0
        self._drawn = False

    def clear(self) -> None:
        """Wipe the bar away."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def step(self, total: int, count: int = 1) -> None:
        """Count some more of the total as done, and draw the bar where it is time to."""
        self._done = min(self._done + count, total)
        now = time.monotonic()
        if now - self._begun < _BAR_AFTER or now - self._last < _BAR_EVERY:
            return
        self._last, self._drawn = now, True
        filled = _BAR_WIDTH * self._done // max(total, 1)
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {self._done:,} of {total:,} {self._what}\x1b[K")
        sys.stderr.flush()
