"""Findings of a launch whose script has undecided conditions: which hold whatever they are, and which need a branch."""

from __future__ import annotations

import re
from copy import copy

from servelint.core.finding import Finding, Related
from servelint.core.launch import Branch, Launch, Word, difference
from servelint.core.text import TracedText, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.source import Span


def merged(launch: Launch, judge: Callable[[Launch], list[Finding]]) -> list[Finding]:
    """The findings of a launch and of its alternatives, each once.

    A finding that only some of them have needs a branch. It is reported if it points at what that branch adds: that something
    is missing in one branch is not a claim about a script that adds it in another. Where the script's defaults do not take the
    branch it is a warning at most. Only errors are reported of options that someone chooses by a condition around them.
    """
    launches = [launch, *launch.alternatives]
    rows = [{_key(finding): finding for finding in judge(one)} for one in launches]
    # what every alternative has, wherever the words are that it points at instead of what is missing
    shared = {_said(one) for one in rows[0].values() if one.span.text not in one.message and one.fix is None}
    for row in rows[1:]:
        shared &= {_said(one) for one in row.values()}
    certain: set[object] | None = None
    findings: dict[object, Finding] = {}
    for number, row in enumerate(rows):
        for key, finding in row.items():
            lacking = [one for one, found in zip(launches, rows, strict=True) if key not in found]
            if key in findings:
                continue
            if number and (_said(finding) in shared or any(_same_but_release(finding, one) for one in findings.values())):
                continue
            if number and finding.severity != "error" and all(one.chosen for one in launches[number].branches):
                continue
            finding.launch = launch
            if number == 0 and (
                _said(finding) in shared or all(any(branch.assumed for branch in one.branches) for one in lacking)
            ):
                findings[key] = finding  # a plain run has it
                continue
            if number:
                branches = launches[number].branches
                added = _places(launches[number]) - _places(launch)
            else:
                against = next((one for one in lacking if len(one.branches) == 1), lacking[0])
                branches = tuple([Branch(one.span, not one.taken, one.assumed) for one in against.branches])
                added = _places(launch) - _places(against)
            touches = any(_touches(finding, place) for place in added)
            if touches or (number and _image(launches[number]) != _image(launch)):
                if number and key not in {_key(found) for found in judge(_with_others(launches[number], launch))}:
                    continue  # another branch of the script may add what is missing
                if not touches or _spoils(finding, launches[number], lacking):
                    finding.fix = None  # the release, or the words, of the other branch may need what it changes
                if number and finding.severity == "error" and any(one.assumed for one in branches):
                    finding.severity = "warning"  # a default decides against the branch: a plain run starts
                findings[key] = _under(finding, branches)
            elif number == 0:
                if certain is None:
                    certain = {_key(one) for one in judge(_open(launch))}
                if key in certain:
                    findings[key] = finding
    return list(findings.values())


def _key(finding: Finding) -> object:
    return finding.rule, finding.span, finding.message


def _same_but_release(finding: Finding, other: Finding) -> bool:
    """Whether two findings ask for the same change of the same characters, each under its own release."""
    asked = [(one.rule, one.span, one.advice) for one in (finding, other)]
    return asked[0] == asked[1] and _UNNUMBERED.sub("", finding.message) == _UNNUMBERED.sub("", other.message)


_UNNUMBERED = re.compile(r"\b(?:b\d{3,6}|\d+\.\d[\w.]*)\b")


def _said(finding: Finding) -> tuple[str, str]:
    return finding.rule, finding.message


def _places(launch: Launch) -> set[Span]:
    """The characters of the words and variables of a launch."""
    texts = [word.text for word in launch.argv] + [one.value for one in launch.env.values() if one.value is not None]
    # what may be left out belongs to the alternative that has it
    return {piece.span for text in texts for piece in text.pieces if piece.span is not None and piece.perhaps is None}


def _image(launch: Launch) -> str:
    """The image of a launch, which may be of another release in another branch."""
    return launch.image.shown if launch.image is not None else ""


def _touches(finding: Finding, place: Span) -> bool:
    spans = (finding.span, *[one.span for one in finding.related])
    return any(_overlap(span, place) for span in spans)


def _spoils(finding: Finding, launch: Launch, others: list[Launch]) -> bool:
    """Whether a fix changes a word that stands for another one elsewhere: `$A`, which each branch sets."""
    own = {(word.site, word.text.flat) for word in launch.argv}
    sites = [
        word.site for one in others for word in one.argv if word.site is not None and (word.site, word.text.flat) not in own
    ]
    edits = finding.fix.edits if finding.fix is not None else []
    return any(_overlap(edit.span, site) for edit in edits for site in sites)


def _overlap(one: Span, other: Span) -> bool:
    return one.source is other.source and one.start < other.end and other.start < one.end


def _under(finding: Finding, branches: tuple[Branch, ...]) -> Finding:
    """The finding with the branches that it needs."""
    finding.branches = branches
    for one in branches:
        finding.related.append(Related(one.span, "if this holds" if one.taken else "if this does not hold"))
    return finding


def _open(launch: Launch) -> Launch:
    """The launch with an unknown instead of each word that only some alternatives have."""
    new = copy(launch)
    removed: set[int] = set()
    added: list[Word] = []
    for other in launch.alternatives:
        gone, more = difference(launch, other)
        removed |= set(gone)
        added += more
        for name in new.env.keys() | other.env.keys():
            mine, theirs = launch.env.get(name), other.env.get(name)
            if mine is None or theirs is None or mine.value is not theirs.value:
                new.env = {one: variable for one, variable in new.env.items() if one != name}
                new.open_env = True
    new.argv = [_perhaps(word) if index in removed else word for index, word in enumerate(launch.argv)]
    new.argv += [_perhaps(word) for word in added]
    return new


def _with_others(one: Launch, launch: Launch) -> Launch:
    """An alternative with an unknown for each word that an independent branch adds."""
    own = {branch.span for branch in one.branches}
    others = [other for other in launch.alternatives if own.isdisjoint([branch.span for branch in other.branches])]
    added = [launch_word for other in others for launch_word in difference(one, other)[1]]
    if not added:
        return one
    new = copy(one)
    new.argv = [*one.argv, *[_perhaps(word) for word in added]]
    return new


def _perhaps(word: Word) -> Word:
    return Word(TracedText((unknown(word.shown, word.text.span(), perhaps=word.text),)), word.site, many=True)
