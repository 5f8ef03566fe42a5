"""How well the alarm of stale rules works: run it over releases whose ends are known.

    python tools/anchors.py backwards vllm --since 0.20.0
    python tools/anchors.py rehearse --cut vllm=0.31.0 --cut sglang=0.5.20 --folder out

`backwards` follows the anchors of every rule from the release that its evidence cites, both ways, and compares where they
change with the bounds of the rule. `rehearse` cuts catalogs and rules at a release, and harvests the releases after it one by
one. docs/releases.md has the figures. Releases are read from the cache of the harvest, else from the package index.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations
from typing import Any

from packaging.version import Version

from servelint.engines.releases import release_key, sort_key
from servelint.harvest import stale, store
from servelint.harvest.anchors import (
    CHANGED,
    GONE,
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
from servelint.harvest.command import DATA, new
from servelint.harvest.mentions import KIND
from servelint.harvest.sources import open_tree
from servelint.rules.compile import every_rule
from servelint.rules.load import rule_folder
from servelint.rules.ranges import compile_range, contains, loaded

Rule = dict[str, Any]
Anchor = tuple[str, Statement]
"""A rule's id and one of its statements."""


def main() -> int:
    """Run a measurement, and print its figures."""
    parser = argparse.ArgumentParser(prog="anchors", description="How well the alarm of stale rules works.")
    commands = parser.add_subparsers(dest="command", required=True)
    backwards = commands.add_parser("backwards", help="compare where anchors change with the bounds of rules")
    backwards.add_argument("engine")
    backwards.add_argument("--since", required=True, metavar="RELEASE")
    backwards.add_argument("--rows", action="store_true", help="print each bound that is missed and each false alarm")
    rehearsal = commands.add_parser("rehearse", help="harvest known releases as if they were new")
    rehearsal.add_argument("--cut", action="append", required=True, metavar="ENGINE=RELEASE")
    rehearsal.add_argument("--folder", required=True)
    given = parser.parse_args()
    if given.command == "backwards":
        return measure(given.engine, given.since, rows=given.rows)
    return rehearse(dict(one.split("=", 1) for one in given.cut), given.folder)


def catalog_of(engine: str, folder: str = DATA) -> dict[str, Any]:
    with open(os.path.join(folder, engine + ".json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def rules_of(engine: str) -> list[Rule]:
    """The rules of an engine that state a range."""
    return [rule for rule in every_rule(rule_folder()) if rule["engine"] == engine and str(rule["versions"]).strip()]


def inside(versions: str, releases: list[str]) -> list[bool]:
    bounds = loaded(compile_range(versions))
    return [contains(bounds, release_key(one)) for one in releases]


# -- backwards


def measure(engine: str, since: str, *, rows: bool) -> int:
    """Print hits and false alarms over the final releases since one."""
    known = catalog_of(engine)
    every = [one for one in known["releases"] if not Version(one).is_prerelease]
    releases = [one for one in every if sort_key(one) >= sort_key(since)]
    rules = rules_of(engine)
    rung = followed(rules, every, releases[0])
    snapshots = [store.snapshot_of(known, one) for one in releases]
    count: Counter[str] = Counter()
    for rule in rules:
        within = inside(str(rule["versions"]), releases)
        for at in range(1, len(releases)):
            states = sorted(rung[rule["id"]].get(releases[at], set()))
            states += ["options"] * any(lost(rule, *both) for both in permutations(snapshots[at - 1 : at + 1]))
            if within[at] != within[at - 1]:
                kind = "upper" if within[at - 1] else "lower"
                count[kind] += 1
                count[f"{kind} found"] += bool(states)
                if rows:
                    print(f"{'hit ' if states else 'miss'} {kind} {rule['id']} {releases[at]} {' '.join(states)}")
            elif within[at]:
                count["steps"] += 1
                count["false"] += bool(states)
                if rows and states:
                    print(f"false alarm {rule['id']} {releases[at]} {' '.join(states)}")
    bounds, found = count["upper"] + count["lower"], count["upper found"] + count["lower found"]
    print(f"{engine} {releases[-1]} to {releases[0]}: {len(rules)} rules")
    print(
        f"bounds {bounds}: found {found} ({found / max(1, bounds):.1%}): lower {count['lower found']} of {count['lower']},",
        end=" ",
    )
    print(f"upper {count['upper found']} of {count['upper']}")
    print(f"false alarms {count['false']} of {count['steps']} rules and steps ({count['false'] / max(1, count['steps']):.1%})")
    return 0


def followed(rules: list[Rule], releases: list[str], since: str) -> dict[str, dict[str, set[str]]]:
    """In which releases the statements of each rule change: rule -> the later release of a step -> states."""
    rung: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    words = {rule["id"]: subject(rule) for rule in rules}
    engine = rules[0]["engine"]
    opened = lru_cache(maxsize=3)(lambda release: Source(open_tree(engine, release)))
    refused = stale.known_refusals()
    first = releases.index(since)
    starts: dict[str, list[tuple[Rule, Any]]] = defaultdict(list)
    for rule in rules:
        cites = [one for one in citations(rule) if one.engine == engine and one.release in releases]
        within = [one for one, good in zip(releases, inside(str(rule["versions"]), releases), strict=True) if good]
        for one in cites:
            if any(sort_key(release) >= sort_key(since) for release in within):
                starts[one.release].append((rule, one))
        if within and not any(sort_key(one.release) >= sort_key(since) for one in cites):
            starts[within[-1]].append((rule, None))

    def begun(release: str) -> Iterator[Anchor]:
        for rule, place in starts.get(release, []):
            texts = refusals(rule, refused)
            if place is not None:
                found = cited(place, rule, opened(release), texts)
            else:
                found = unique([one for text in texts for one in search(text, opened(release))])[:4]
            yield from [(rule["id"], one) for one in found]

    def step(live: list[Anchor], old: str, other: str, later: str | None) -> list[Anchor]:
        kept: list[Anchor] = []
        for rule, one in live:
            found = look_up(one, opened(other), words[rule], opened(old))
            if found.state in (CHANGED, GONE) and later is not None:
                rung[rule][later].add(found.state)
            if found.statement is not None:
                kept.append((rule, found.statement))
        return kept

    live: list[Anchor] = []
    for at in range(len(releases) - 1, first, -1):
        live = step([*live, *begun(releases[at])], releases[at], releases[at - 1], releases[at])
    live = []
    for at in range(len(releases) - 1):
        live = [*live, *begun(releases[at])]
        if live:
            live = step(live, releases[at], releases[at + 1], releases[at + 1] if at >= first else None)
    return rung


# -- the rehearsal


def cut_rules(engine: str, release: str) -> list[Rule]:
    """The rules that hold in a release, without the ends that came after it: open ranges as they were then."""
    found: list[Rule] = []
    for rule in rules_of(engine):
        kept: list[str] = []
        for part in str(rule["versions"]).split(","):
            match = re.fullmatch(r"\s*([<>=!]+)\s*(\S+)\s*", part)
            if match is not None and (sort_key(match.group(2)) <= sort_key(release) or match.group(1) in (">", ">=")):
                kept.append(part.strip())
        versions = ",".join(kept)
        if inside(versions, [release])[0] and not re.search(r"<|==", versions):
            found.append({**rule, "versions": versions})
    return found


def rehearse(cuts: dict[str, str], folder: str) -> int:
    """Harvest the releases after a cut, write the notes of each, and print what the alarm found and missed."""
    for engine, cut in cuts.items():
        work = os.path.join(folder, engine)
        os.makedirs(work, exist_ok=True)
        today = catalog_of(engine)
        then = [one for one in today["releases"] if sort_key(one) <= sort_key(cut)]
        after = [one for one in today["releases"] if sort_key(one) > sort_key(cut)]
        shutil.copy(os.path.join(DATA, engine + ".json"), os.path.join(work, "today.json"))
        store.write(
            os.path.join(work, engine + ".json"), store.merge(engine, [store.snapshot_of(today, one) for one in then], [])
        )
        opened = lru_cache(maxsize=40)(lambda release, engine=engine: Source(open_tree(engine, release)))
        anchors = os.path.join(work, "anchors.json")
        stale.write({engine: {"release": cut, "rules": stale.build(cut_rules(engine, cut), cut, opened)}}, anchors)
        expected, rung, known, base = set(), set(), {rule["id"] for rule in cut_rules(engine, cut)}, cut
        ranges = {rule["id"]: str(rule["versions"]) for rule in rules_of(engine)}
        for release in after:
            listed = os.path.join(work, "available.json")
            with open(listed, "w", encoding="utf-8") as file:
                json.dump({engine: [release]}, file)
            output = os.path.join(work, release + ".md")
            text = new(engine, available=listed, output=output, folder=work, anchors=anchors, texts=True, rules=cut_rules)
            ringing = set(re.findall(r"^\| `([^`]+)` \| (?:changed|gone) ", text, re.MULTILINE))
            ended = {one for one in known if inside(ranges[one], [base, release]) == [True, False]}
            print(f"{engine} {base} -> {release}: {len(ringing)} of {len(cut_rules(engine, base))} open rules ring;", end=" ")
            print(f"{len(ended & ringing)} of {len(ended)} that end do; {len(text.split())} words")
            for one in sorted(ended | ringing):
                print(f"  {'hit' if one in ended & ringing else 'miss' if one in ended else 'false alarm'} {one} {ranges[one]}")
            expected |= ended
            rung |= ringing
            base = release
        found = catalog_of(engine, work)
        for one in (found, today):
            one["names"].pop(KIND, None)  # tools/mentions.py adds those of native code
        same = {part: found[part] == today[part] for part in ("options", "env", "json", "names", "positionals")}
        false = rung - expected
        print(f"{engine}: equal with today's catalog: {same}")
        print(f"{engine}: ends found {len(expected & rung)} of {len(expected)}; false alarms {len(false)} of", end=" ")
        print(f"{len(known - expected)} rules that do not end ({len(false) / max(1, len(known - expected)):.1%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
