"""Rules that a new release may end: their anchors (anchors.json), looked up in the release's source and its catalog.

An anchor of a rule is where the newest release that is known has the statements that its evidence cites. Only rules with an
open range have one: a rule that ends has ended.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from servelint.engines.releases import release_key
from servelint.harvest.anchors import (
    CHANGED,
    GONE,
    MOST,
    MOVED,
    RAW,
    SAME,
    Found,
    Source,
    Statement,
    citations,
    cited,
    look_up,
    lost,
    refusals,
    search,
    subject,
    unique,
)
from servelint.harvest.archives import HarvestError
from servelint.rules.compile import every_rule, file_of
from servelint.rules.load import rule_folder
from servelint.rules.ranges import compile_range, is_open, loaded

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "anchors.json")
_REFUSALS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "rules", "refusals.json")
_ORDER = (SAME, MOVED, CHANGED, GONE)

_NAME = re.compile(r"[A-Za-z_]\w*")
_TOKEN = re.compile(r"\w+|'[^']*'|\S")
_OFTEN = 3
"""In so many functions one name must replace another to count as a rename."""
_FEW = 2
"""The most names that are replaced in one condition."""

Rule = dict[str, Any]
Row = list[str]
Opener = Callable[[str], Source]


@dataclass(slots=True)
class Verdict:
    """What a release does to a rule.

    Attributes:
        rule: the rule's id.
        versions: its range.
        found: each of its statements in the release before, and what became of it.
        renames: the names that replace others in its conditions, where that is all that changes.
        changes: what the catalogs say of the options and values that it names, where that changes.
    """

    rule: str
    versions: str
    found: list[tuple[Statement, Found]] = field(default_factory=list)
    renames: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    @property
    def state(self) -> str:
        """The state of the statement that changes most; CHANGED if only its options change."""
        states = [one.state for _, one in self.found] + ([CHANGED] if self.changes else [])
        return max(states, key=_ORDER.index, default=SAME)

    @property
    def rings(self) -> bool:
        """Whether someone has to decide about the rule."""
        return self.state in (CHANGED, GONE)


def open_rules(engine: str) -> list[Rule]:
    """The rules of an engine whose range has no end."""
    found = [rule for rule in every_rule(rule_folder()) if rule["engine"] == engine and str(rule["versions"]).strip()]
    return [rule for rule in found if is_open(loaded(compile_range(str(rule["versions"]))))]


def known_refusals() -> dict[str, list[str]]:
    """What engines print, by rule."""
    with open(_REFUSALS, encoding="utf-8") as file:
        found: dict[str, list[str]] = json.load(file)["refusals"]
    return found


def anchored(rule: Rule, release: str, source: Opener, texts: list[str]) -> list[Statement]:
    """The statements of a release that decide what a rule says.

    Those that its evidence cites in this release; else those of the nearest release before it (or after it), followed to this
    one; else those that print its refusal.
    """
    wanted = release_key(release)
    cites = [(release_key(one.release), one) for one in citations(rule) if one.engine == rule["engine"]]
    earlier = sorted({key for key, _ in cites if key and wanted and key <= wanted}, reverse=True)
    later = sorted({key for key, _ in cites if key and wanted and key > wanted})
    for key in (*earlier, *later):
        found: list[Statement] = []
        for place in [one for other, one in cites if other == key]:
            try:
                there = source(place.release)
            except HarvestError:
                continue
            statements = cited(place, rule, there, texts)
            if key != wanted:
                followed = [look_up(one, source(release), subject(rule), there).statement for one in statements]
                statements = [one for one in followed if one is not None]
            found += statements
        if found:
            return unique(found)[: 2 * MOST]
    return unique([one for text in texts for one in search(text, source(release))])[:MOST]


def build(rules: list[Rule], release: str, source: Opener) -> dict[str, list[Row]]:
    """The anchors of rules in a release: path, function, kind and fingerprint of each."""
    known = known_refusals()
    rows = {rule["id"]: [_row(one) for one in anchored(rule, release, source, refusals(rule, known))] for rule in rules}
    return {rule: sorted(found) for rule, found in sorted(rows.items()) if found}


def _row(one: Statement) -> Row:
    return [one.path, one.function, one.kind, one.fingerprint]


def stored(path: str = FILE) -> dict[str, Any]:
    """The anchors that are stored, by engine: the release that they are of, and the rows of each rule."""
    with open(path, encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def write(known: dict[str, Any], path: str = FILE) -> None:
    """Write anchors, a line a rule, so that a diff shows which rules changed."""
    parts: list[str] = []
    for engine, one in sorted(known.items()):
        rows = ",\n".join(f"  {json.dumps(rule)}: {json.dumps(found)}" for rule, found in one["rules"].items())
        parts.append(f' {json.dumps(engine)}: {{"release": {json.dumps(one["release"])}, "rules": {{\n{rows}\n }}}}')
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(parts) + "\n}\n")


def compare(
    rules: list[Rule],
    anchors: dict[str, list[Row]],
    before: Source,
    after: Source,
    snapshots: tuple[dict[str, Any], dict[str, Any]] | None = None,
) -> list[Verdict]:
    """What a release does to each of some rules.

    anchors: those of the release before
    snapshots: what the catalogs say of both releases, where that is known
    """
    verdicts: list[Verdict] = []
    for rule in rules:
        of = subject(rule)
        verdict = Verdict(rule["id"], str(rule["versions"]))
        for path, function, kind, fingerprint in anchors.get(rule["id"], []):
            known = [one for one in before.module(path) if one.fingerprint == fingerprint and one.function == function]
            for one in [one for one in known if one.kind == kind][:1]:
                verdict.found.append((one, look_up(one, after, of, before)))
        if snapshots is not None:
            verdict.changes = lost(rule, *snapshots)
        verdicts.append(verdict)
    _settle(verdicts, before, after)
    return verdicts


def _settle(verdicts: list[Verdict], before: Source, after: Source) -> None:
    """Take for moved what a rename changes: in the conditions of several functions one name replaces another."""
    changed = [(one, at) for one in verdicts for at in range(len(one.found)) if one.found[at][1].state == CHANGED]
    often: dict[tuple[str, str], list[str]] = {}
    for path in sorted({one.found[at][0].path for one, at in changed}):
        functions = [_by_function(source.module(path)) for source in (before, after)]
        for name in sorted(functions[0].keys() & functions[1].keys()):
            for pair in _replaced(functions[0][name], functions[1][name])[0]:
                often.setdefault(pair, []).append(path)

    def everywhere(pair: tuple[str, str]) -> bool:
        paths = often.get(pair, [])
        left = len({*paths}) == 1 and any(pair[0] in one.words for one in after.module(paths[0]))
        return len(paths) >= _OFTEN and not left  # in one file only: another condition, if it still has the name

    for one, at in changed:
        old, found = one.found[at]
        if found.statement is None:
            continue
        pairs, only = _replaced({*old.restricted(RAW)}, {*found.statement.restricted(RAW)})
        if only and all(map(everywhere, pairs)):
            one.found[at] = old, Found(MOVED, found.statement)
            one.renames += [" -> ".join(pair) for pair in sorted(pairs)]


def _by_function(statements: list[Statement]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in statements:
        found.setdefault(one.function, set()).update(one.restricted(RAW))
    return found


def _replaced(old: set[str], new: set[str]) -> tuple[set[tuple[str, str]], bool]:
    """The names in some texts that others replace, and whether nothing else differs."""
    pairs: set[tuple[str, str]] = set()
    left = {text: _TOKEN.findall(text) for text in sorted(new - old)}
    only = True
    for text in sorted(old - new):
        words = _TOKEN.findall(text)
        best: tuple[str, set[tuple[str, str]]] | None = None
        for other, others in left.items():
            differing = {two for two in zip(words, others, strict=False) if two[0] != two[1]}
            names = len(words) == len(others) and all(_NAME.fullmatch(name) for two in differing for name in two)
            if names and (best is None or len(differing) < len(best[1])):
                best = other, differing
        if best is None or len(best[1]) > _FEW:
            only = False
            continue
        left.pop(best[0])
        pairs |= best[1]
    return pairs, only and not left and bool(pairs)


def capped(versions: str, release: str) -> str:
    """An open range that ends with a release."""
    return f"{versions},<={release}" if versions else f"<={release}"


def markdown(engine: str, base: str, release: str, verdicts: list[Verdict], *, texts: bool = True) -> str:
    """The alarm's table, and both texts of each statement that changed or is gone.

    texts: whether the statements are shown
    """
    count = {state: [one for one in verdicts if one.state == state and (one.found or one.changes)] for state in _ORDER}
    without = [one for one in verdicts if not one.found and not one.changes]
    lines = [
        f"### Rules: {engine} {base} -> {release}",
        "",
        f"{len(count[SAME])} unchanged and {len(count[MOVED])} moved: their ranges may grow.",
        f"{len(count[CHANGED])} changed, {len(count[GONE])} gone: decide about each.",
        f"{len(without)} have no anchor: read their evidence.",
        "",
    ]
    renames = Counter(text for one in verdicts for text in dict.fromkeys(one.renames))
    lines += [f"- renamed in the conditions of {count} rules: `{text}`" for text, count in sorted(renames.items())]
    lines += [""] * bool(renames)
    ringing = [one for one in verdicts if one.rings]
    if ringing:
        lines += ["| rule | state | where | range until someone decides |", "|---|---|---|---|"]
        lines += [
            f"| `{one.rule}` | {one.state} | {_where(one)} | `{capped(one.versions, base)}` |"
            for one in sorted(ringing, key=lambda one: (one.state != GONE, one.rule))
        ]
        lines.append("")
    for one in ringing if texts else []:
        shown = {
            (old.path, old.function, *_texts(old, found.statement))
            for old, found in one.found
            if found.state in (CHANGED, GONE)
        }
        if shown:
            lines += [f"<details><summary>{one.rule}</summary>", ""]
            for path, function, *diff in sorted(shown):
                lines += [f"`{path}`, `{function or 'module'}`", "", "```diff", *diff, "```", ""]
            lines += ["</details>", ""]
    return "\n".join(lines)


def _where(one: Verdict) -> str:
    places = [f"`{old.path}` {old.function}" for old, found in one.found if found.state in (CHANGED, GONE)]
    return "; ".join([*dict.fromkeys(places), *one.changes]).replace("|", "\\|")


def _texts(old: Statement, new: Statement | None) -> list[str]:
    before, after = old.text.split("\n"), new.text.split("\n") if new is not None else []
    lines = [line for line in difflib.ndiff([one.strip() for one in before], [one.strip() for one in after]) if line[0] != "?"]
    if all(line[0] == " " for line in lines):
        return [*lines, "! the conditions before it changed"]
    return lines[:40] + (["  ..."] if len(lines) > 40 else [])


def cap(verdicts: list[Verdict], base: str, folder: str | None = None) -> list[str]:
    """End the ranges of the rules that ring with the last release where they held.

    Returns:
        the rules whose files could not be changed.
    """
    left: list[str] = []
    for one in [one for one in verdicts if one.rings]:
        path = file_of(one.rule, folder or rule_folder()) or ""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        name = rf"(?:{re.escape(one.rule.rpartition('/')[2])}|{re.escape(one.rule)})"
        start = re.search(rf"^  {name}:\n", text, re.MULTILINE) if os.path.basename(path).startswith("_") else None
        at = start.end() if start is not None else 0
        pattern = re.compile(rf"""^(\s*versions: )["']?{re.escape(one.versions)}["']?$""", re.MULTILINE)
        ending = re.search(r"^  \S", text[at:], re.MULTILINE) if start is not None else None
        match = pattern.search(text, at, at + ending.start() if ending is not None else len(text))
        if match is None:
            left.append(one.rule)
            continue
        written = f'{text[: match.start()]}{match.group(1)}"{capped(one.versions, base)}"{text[match.end() :]}'
        with open(path, "w", encoding="utf-8") as file:
            file.write(written)
    return left
