"""Applying fixes to files, or showing them."""

from __future__ import annotations

import codecs
import difflib
import re

from servelint.autofix import mend
from servelint.cli import files
from servelint.cli.told import tell
from servelint.core.finding import Finding
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.secrets import masked_text
from servelint.core.source import Source
from servelint.files.project import folders
from servelint.lint import add_source, beside, settle
from servelint.report.clean import escapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from servelint.cli.gate import Gate
    from servelint.files.settings.files import SettingsFiles

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def fix(report: Report, asked: SettingsFiles, arguments: argparse.Namespace, gate: Gate | None) -> tuple[Report, int]:
    """Fix the findings of a report; gives the report of what is left, and how many findings were fixed.

    With --diff, prints the changes and leaves the files alone. gate: what the report has passed, which is not mended
    """
    left = Report()
    left.files, left.paths = report.files, report.paths
    left.errors = [problem for problem in report.errors if problem.path not in {source.path for source in report.sources}]
    fixed = 0
    named = folders(arguments.paths)
    for source in report.sources:
        settings = asked.of(source.path)
        only = [finding for finding in report.findings if _read_in(finding).path == source.path] if gate is not None else None
        new, gone = mend(source, settings, beside(source.path, settings, named), unsafe=arguments.unsafe_fixes, only=only)
        if new.text != source.text:
            if arguments.diff:
                files.write_out(_diff(source, new))
                new = source
            elif (problem := _write(new)) is not None:
                left.errors.append(problem)
                new = source
            else:
                fixed += len(gone)
        add_source(left, new, settings, beside(source.path, settings, named))
    settle(left)
    if gate is not None:
        gate.narrow(left)
    if fixed and not arguments.quiet:
        tell(f"servelint: fixed {fixed} {'finding' if fixed == 1 else 'findings'}")
    return left, fixed


def _read_in(finding: Finding) -> Source:
    """The file that a finding was found in: it may stand in another that this one names."""
    return finding.launch.source if finding.launch is not None else finding.span.source


def _diff(source: Source, new: Source) -> str:
    lines = difflib.unified_diff(
        _LINE.findall(source.text),
        _LINE.findall(new.text),
        f"a/{source.path}",
        f"b/{source.path}",
    )
    return "".join([_printed(line, source) for line in lines])


def _printed(line: str, source: Source) -> str:
    """A line of a diff. One with a secret or a control character is shown without it, and the diff does not apply any more:
    --fix writes the file itself."""
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    shown = "\t".join([escapes(part) for part in masked_text(body, source).split("\t")])
    return shown + (end if end.endswith("\n") else end.replace("\r", "\\r") + "\n\\ No newline at end of file\n")


def _is_big_endian(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == codecs.BOM_UTF16_BE
    except OSError:
        return False


def _write(source: Source) -> Problem | None:
    data = source.text.encode(source.encoding)
    if source.encoding == "utf-16" and _is_big_endian(source.path):
        data = codecs.BOM_UTF16_BE + source.text.encode("utf-16-be")
    problem = files.write(source.path, data)
    return Problem(source.path, problem) if problem is not None else None
