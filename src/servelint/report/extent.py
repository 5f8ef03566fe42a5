"""How far a report judged, for the formats: a closing line, a list, data."""

from __future__ import annotations

import os
import re

from servelint.core import judged
from servelint.core.judged import Judged, Unresolved
from servelint.core.launch import Launch
from servelint.core.numbers import counted
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.source import Source
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.catalog import freshness
from servelint.report.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILES_AT_MOST = 8


def records(report: Report) -> list[tuple[Launch, Judged]]:
    """Return each launch of a report with its record."""
    return [(launch, launch.judged) for launch in report.launches if launch.judged is not None]


def closing(report: Report, *, hint: bool = False) -> str:
    """Return the closing line of a report; "" without launches. hint: whether to name the option that lists more."""
    text = judged.summary([record for _, record in records(report)], hint=hint)
    return f"{text}; {_images(report)}" if text and unjudged(report) else text


def unjudged(report: Report) -> list[Problem]:
    """Return the images whose containers are not judged."""
    return [problem for problem in report.notes if problem.note == "unjudged"]


def _images(report: Report) -> str:
    found = unjudged(report)
    return f"{counted(len(found), 'image is', 'images are')} not judged" if found else ""


def by_file(report: Report) -> list[tuple[str, str]]:
    """Return the closing line of each file with launches, and of each that mentions an engine and has none, with its path."""
    files: dict[str, list[Judged]] = {}
    for launch, record in records(report):
        files.setdefault(launch.source.path, []).append(record)
    lines = [(path, judged.summary(several)) for path, several in files.items()]
    lines += [(one.path, f"line {one.line}: {one.message}") for one in unjudged(report)]
    return lines + [(one.path, _no_launch_in(one)) for one in without_launch(report)]


def without_launch(report: Report) -> list[Source]:
    """Return the files that mention an engine, and in which no launch was found."""
    paths = {launch.source.path for launch in report.launches}
    paths |= {problem.path for problem in [*report.errors, *unjudged(report)]}
    return [source for source in report.sources if source.path not in paths]


_SOME = "an engine"
_QUOTES = "\"',"


def mentions(source: Source) -> str:
    """Return the names of the engines that a file mentions, "vLLM and SGLang"."""
    text = source.text.encode("utf-8", "replace").lower()
    found = [ENGINE_NAMES[one.id] for one in ENGINES.values() if any(word.lower() in text for word in one.words)]
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found) or _SOME


def not_judged(source: Source) -> str:
    """Return what a file starts that is not judged: "makes an engine of vLLM in Python (LLM, line 12)"; "" for nothing."""
    lowered = source.text.encode("utf-8", "replace").lower()
    for record in [one for one in ENGINES.values() if any(word in lowered for word in one.words)]:
        other = re.search(record.other_servers, source.text) if record.other_servers else None
        if other is not None:
            line, _ = source.position(other.start())
            return f"starts another server of {record.name} ({other.group().split()[-1].strip(_QUOTES)}, line {line})"
    if not source.path.endswith(".py"):
        return ""
    imported = {match.group(1) for match in re.finditer(r"(?m)^[ \t]*(?:from|import) (\w+)", source.text)}
    for record in ENGINES.values():
        packages = {record.id, record.python_package, "ray"}
        call = re.search(record.classes, source.text) if record.classes and imported & packages else None
        if call is not None:
            line, _ = source.position(call.start())
            return f"makes an engine of {record.name} in Python ({call.group()[:-1]}, line {line})"
    return ""


def _no_launch_in(source: Source) -> str:
    built = not_judged(source)
    return f"{built}, which is not judged" if built else f"mentions {mentions(source)}, but contains no launch"


def no_launch(report: Report) -> str:
    """Return "no launch found in 2 files; a.yml mentions vLLM"; "" where there is a launch or a file that was not read."""
    if report.launches or report.errors:
        return ""
    more = "; ".join([part for part in (_images(report), mentioning(report)) if part])
    if not report.files and report.sources:  # a command line, whose file has no name
        source = report.sources[0]
        more = f"it mentions {mentions(source)}" if mentions(source) != _SOME else ""
        return "no launch found in the command" + (f"; {more}" if more else "")
    return f"no launch found in {counted(report.files, 'file', 'files')}" + (f"; {more}" if more else "")


def _made_elsewhere(source: Source) -> str:
    """Return what a file of values lacks: the templates that make launches of them."""
    folder, name = os.path.split(source.path)
    if not name.startswith("values") or not name.endswith((".yaml", ".yml")):
        return ""
    beside = os.path.isdir(os.path.join(folder, "templates"))
    return "" if beside else ", as values of a chart whose templates are not beside it"


def _found_in(source: Source) -> str:
    built = not_judged(source)
    return f"{built}, which is not judged" if built else f"mentions {mentions(source)}{_made_elsewhere(source)}"


def mentioning(report: Report) -> str:
    """Return which files mention an engine without a launch: "a.yml mentions vLLM"; "" for none."""
    sources = without_launch(report)
    parts = [f"{source.path} {_found_in(source)}" for source in sources[:_FILES_AT_MOST]]
    more = len(sources) - len(parts)
    rest = [f"{counted(more, 'more file mentions', 'more files mention')} an engine"] if more else []
    return ", ".join([*parts, *rest])


def data_line() -> str:
    """Return which data judged: "data of 2026-11-21 (vLLM up to 0.33.0, SGLang up to 0.5.23, ...)", and their bundle."""
    fresh = freshness()
    known = ", ".join([f"{ENGINE_NAMES[engine]} up to {release}" for engine, release in fresh["newest"].items()])
    return f"data of {fresh['date']} ({known})" + (f", bundle {fresh['bundle']}" if fresh["bundle"] else "")


# -- as text


def lines(report: Report) -> list[str]:
    """Return what was not judged, a line each: launches, their words, their rules by the fact that they lack, and files."""
    found = [line for launch, record in records(report) for line in _lines(launch, record)]
    rest = without_launch(report)
    return found + [clean(f"{one.path}: {_no_launch_in(one)}") for one in rest]


def head(launch: Launch, record: Judged) -> str:
    """Return the line of a launch: where it is and how its release is known."""
    name = f" ({launch.name})" if launch.name else ""
    options = "" if record.checked else "; its options are not checked: servelint has no option catalog for it"
    way = record.assumption or record.standing
    return clean(f"{launch.source.path}:{launch.line}: {ENGINE_NAMES[launch.engine]}{name}: {way}{options}")


def _lines(launch: Launch, record: Judged) -> list[str]:
    rows = [clean(f"  {_where(one, launch)}{sentence(one)}") for one in record.unresolved]
    by_facts: dict[str, list[str]] = {}
    for one in record.undecided or ():
        by_facts.setdefault(", ".join(one.lacks), []).append(one.rule)
    for facts, rules in by_facts.items():
        count = "1 rule is" if len(rules) == 1 else f"{len(rules)} rules are"
        rows.append(clean(f"  {count} undecided without {facts}: {', '.join(rules)}"))
    return [head(launch, record), *rows] if rows or not record.whole else []


def _where(one: Unresolved, launch: Launch) -> str:
    if one.span is None:
        return ""
    line, column = one.span.source.position(one.span.start)
    path = "" if one.span.source is launch.source else f"{one.span.source.path}:"
    return f"{path}{line}:{column}: "


def sentence(one: Unresolved) -> str:
    """Return what is not resolved and why, as a sentence."""
    if one.kind in (judged.ENVIRONMENT, judged.FILE):
        return f"{one.text}: {one.why}" if one.text else one.why
    return f"{one.text} is not resolved: {one.why}" + ("" if one.matters else " (no rule depends on it)")


# -- as data


def data(record: Judged) -> dict[str, Any]:
    """Return a record as JSON data."""
    found: dict[str, Any] = {
        "release": {"version": record.release, "how": record.how, "assumption": record.assumption or None},
        "options_checked": record.checked,
        "whole": record.whole,
        "unresolved": [_unresolved(one) for one in record.unresolved],
    }
    if record.undecided is not None:
        found["undecided"] = [{"rule": one.rule, "lacks": one.lacks} for one in record.undecided]
    return found


def launch_data(launch: Launch, record: Judged) -> dict[str, Any]:
    """Return a record as JSON data, with the place of its launch."""
    place = {"path": launch.source.path, "line": launch.line, "end_line": launch.end_line}
    return {**place, "engine": launch.engine, "name": launch.name, **data(record)}


def _unresolved(one: Unresolved) -> dict[str, Any]:
    place: dict[str, Any] = {"path": None, "start": None, "end": None}
    if one.span is not None:
        source = one.span.source
        place["path"] = source.path
        for end, offset in (("start", one.span.start), ("end", one.span.end)):
            place[end] = dict(zip(("line", "column"), source.position(offset), strict=True))
    return {"kind": one.kind, "text": one.text, "why": one.why, "matters": one.matters, **place}
