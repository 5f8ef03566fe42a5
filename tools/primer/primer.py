"""What another servelint finds in public repositories: the difference of two revisions, for review before a change is merged.

    python tools/primer/primer.py main HEAD --clones ~/clones

Reads the repositories of repositories.tsv at their pinned commits from local clones, whose working trees do not matter, lints
them with both revisions (`servelint scan`), and prints the findings that come, go or change. Nothing is downloaded.

OLD and NEW are git revisions of this checkout, folders with another checkout, or interpreters that have servelint installed.
docs/primer.md has the details.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
FORMATS = ("text", "markdown")
LAYOUTS = (
    "{owner}/{name}",
    "{owner}/{name}.git",
    "{owner}__{name}",
    "{owner}+{name}",
    "{owner}-{name}",
    "{name}",
    "{name}.git",
)
"""Where the clone of owner/name is looked for."""
SHOWN = ("severity", "impact", "confidence", "message", "release", "release_from", "versions")
"""What a finding that is otherwise the same may say anew."""

Row: TypeAlias = dict[str, Any]


class PrimerError(Exception):
    """Why there is no difference to tell: one sentence."""


class Pinned(NamedTuple):
    """A repository: owner/name, the commit, and the paths that count."""

    name: str
    commit: str
    paths: tuple[str, ...]


class Difference(NamedTuple):
    """What the new revision says of one repository that the old one did not, and the other way round."""

    added: list[Row]
    removed: list[Row]
    changed: list[tuple[Row, Row]]
    same: int


def main(argv: list[str] | None = None) -> int:
    """0: no difference; 1: there is one; 2: wrong usage, or a repository or a revision that is not here."""
    usage = _parser()
    arguments = usage.parse_args(argv)
    try:
        pinned = listed(arguments.list)
        if arguments.only:
            pinned = [one for one in pinned if any(part in one.name for part in arguments.only)]
        found, missing = located(pinned, arguments.clones)
        if not found:
            raise PrimerError(f"none of the {len(pinned)} repositories of {arguments.list} is in {arguments.clones}")
        with tempfile.TemporaryDirectory(prefix="primer-") as scratch:
            old, new = [
                scanned(revision, found, os.path.join(scratch, side), arguments.options)
                for side, revision in (("old", arguments.old), ("new", arguments.new))
            ]
    except PrimerError as error:
        usage.error(str(error))
    differences = {
        one.name: compared(_counting(old, one), _counting(new, one)) for one in sorted(found, key=lambda one: one.name.lower())
    }
    commits = {one.name: one.commit for one in found}
    print((markdown if arguments.format == "markdown" else text)(differences, commits), end="")
    if arguments.format == "markdown":
        starts = [line for one in found for line in starting(one.name, _counting(old, one), _counting(new, one))]
        print("".join([f"{line}\n" for line in starts]), end="")
    for name in missing:
        print(f"primer: not here: {name}", file=sys.stderr)
    if missing and not arguments.skip_missing:
        return 2
    return int(any(one.added or one.removed or one.changed for one in differences.values()))


def listed(path: str) -> list[Pinned]:
    """The repositories of a list. Raises PrimerError."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file]
    except OSError as error:
        raise PrimerError(f"{path}: cannot be read: {error.strerror}") from None
    found: list[Pinned] = []
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 3 or parts[0].count("/") != 1 or len(parts[1]) not in (40, 64):
            raise PrimerError(f"{path}:{number}: write owner/name, a whole commit id and paths, with tabs between")
        found.append(Pinned(parts[0], parts[1], tuple(parts[2].split())))
    return found


def located(pinned: list[Pinned], clones: str) -> tuple[dict[Pinned, str], list[str]]:
    """Where each repository is cloned, and the names of those that are not, or that lack the commit."""
    found: dict[Pinned, str] = {}
    missing: list[str] = []
    for one in pinned:
        place = next((path for path in _places(one, clones) if _has(path, one.commit)), None)
        if place is None:
            missing.append(f"{one.name} at {one.commit[:12]}")
        else:
            found[one] = place
    return found, missing


def _places(one: Pinned, clones: str) -> Iterator[str]:
    owner, name = one.name.split("/")
    for layout in LAYOUTS:
        path = os.path.join(clones, layout.format(owner=owner, name=name))
        if os.path.isdir(path):
            yield from (path, os.path.join(path, "repo"))


def _has(path: str, commit: str) -> bool:
    """Whether a folder is a repository, bare or not, with a commit."""
    own = os.path.join(path, ".git")
    folder = own if os.path.exists(own) else path
    if not os.path.exists(folder):
        return False
    asked = ["git", f"--git-dir={folder}", "cat-file", "-e", f"{commit}^{{commit}}"]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    return subprocess.run(asked, capture_output=True, check=False, env=environment).returncode == 0


def scanned(revision: str, found: dict[Pinned, str], scratch: str, options: list[str]) -> list[Row]:
    """The rows of one revision of servelint. Raises PrimerError."""
    os.makedirs(scratch)
    interpreter, source = program(revision, scratch)
    sources, output = os.path.join(scratch, "sources.tsv"), os.path.join(scratch, "rows.jsonl")
    with open(sources, "w", encoding="utf-8") as file:
        file.writelines([f"{os.path.abspath(place)}@{one.commit}\t{one.name}\n" for one, place in found.items()])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SERVELINT_")}
    if source is not None:
        environment["PYTHONPATH"] = source
    command = [interpreter, "-m", "servelint", "scan", "--from", sources, "--isolated", "--no-cache", "--quiet"]
    ran = subprocess.run(
        [*command, "--output", output, *options], env=environment, capture_output=True, text=True, check=False, cwd=scratch
    )
    if not os.path.exists(output):
        told = (ran.stderr.strip().splitlines() or [f"status {ran.returncode}"])[-1]
        raise PrimerError(f"servelint at {revision} cannot scan: {told}")
    with open(output, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def program(revision: str, scratch: str) -> tuple[str, str | None]:
    """The interpreter, and what it takes servelint from, None for what is installed for it. Raises PrimerError."""
    if os.path.isdir(revision):
        source = os.path.join(os.path.abspath(revision), "src")
        if not os.path.isdir(os.path.join(source, "servelint")):
            raise PrimerError(f"{revision} is not a checkout of servelint")
        return sys.executable, source
    if os.path.isfile(revision) and os.access(revision, os.X_OK):
        return os.path.abspath(revision), None
    return sys.executable, os.path.join(_unpacked(revision, os.path.join(scratch, "checkout")), "src")


def _unpacked(revision: str, folder: str) -> str:
    """This checkout at a revision, in a folder of its own; the checkout itself is left alone."""
    archive = folder + ".tar"
    ran = subprocess.run(
        ["git", "-C", CHECKOUT, "archive", f"--output={archive}", "--end-of-options", revision, "src", "rules", "schemas"],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        told = (ran.stderr.strip().splitlines() or ["git failed"])[0]
        raise PrimerError(f"{revision!r} is neither a revision, a folder nor an interpreter: {told}")
    with tarfile.open(archive) as file:
        if hasattr(tarfile, "data_filter"):  # not in 3.10.0 to 3.10.11 and 3.11.0 to 3.11.3
            file.extraction_filter = tarfile.data_filter
        file.extractall(folder)
    return folder


def _counting(rows: list[Row], one: Pinned) -> list[Row]:
    """The rows of a repository, as far as its paths count."""
    return [row for row in rows if row["repository"] == one.name and _counts(row["path"], one.paths)]


def _counts(path: str, paths: tuple[str, ...]) -> bool:
    return any(one == "." or path == one or path.startswith(one.rstrip("/") + "/") for one in paths)


def compared(old: list[Row], new: list[Row]) -> Difference:
    """The difference of the rows of one repository.

    A finding of the same rule in the same launch of the same file is the same one: first where all of it is equal, then where
    it stands at the same place, then in their order. Of those left over, one has come or gone.
    """
    added: list[Row] = []
    removed: list[Row] = []
    changed: list[tuple[Row, Row]] = []
    same = 0
    groups: dict[object, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((old, new)):
        for row in rows:
            groups[_identity(row)][side].append(row)
    for before, after in groups.values():
        count = len(before)
        for alike in (_whole, _place):
            before, after, pairs = _paired(before, after, alike)
            changed += [pair for pair in pairs if alike is not _whole]
        pairs = list(zip(before, after, strict=False))
        changed += pairs
        removed += before[len(pairs) :]
        added += after[len(pairs) :]
        same += count
    same -= len(removed) + len(changed)
    return Difference(
        sorted(added, key=_order), sorted(removed, key=_order), sorted(changed, key=lambda pair: _order(pair[1])), same
    )


def starting(name: str, before: list[Row], after: list[Row]) -> list[str]:
    """The launches of a repository that would stop starting, and those that would start again: a line each."""
    old, new = (
        {(row["path"], str(row.get("launch"))): row["line"] for row in rows if str(row.get("impact")).startswith("crash-at")}
        for rows in (before, after)
    )
    stop = [f"- would not start: {name} {place[0]}:{new[place]}" for place in sorted(new.keys() - old.keys())]
    return stop + [f"- would start: {name} {place[0]}:{old[place]}" for place in sorted(old.keys() - new.keys())]


def _identity(row: Row) -> object:
    return row["path"], row.get("source"), row["rule"], row.get("launch"), row["kind"]


def _whole(row: Row) -> object:
    return (*_place(row), *[row.get(name) for name in SHOWN])


def _place(row: Row) -> tuple[object, ...]:
    return row["line"], row["column"], row.get("end_line"), row.get("end_column")


def _order(row: Row) -> tuple[object, ...]:
    return row["path"], row["line"], row["column"], row["rule"] or "", row["message"]


def _paired(before: list[Row], after: list[Row], alike: Any) -> tuple[list[Row], list[Row], list[tuple[Row, Row]]]:
    """Those that are alike on both sides, and the others."""
    waiting: dict[object, list[Row]] = defaultdict(list)
    for row in before:
        waiting[alike(row)].append(row)
    pairs: list[tuple[Row, Row]] = []
    left: list[Row] = []
    for row in after:
        rows = waiting[alike(row)]
        if rows:
            pairs.append((rows.pop(0), row))
        else:
            left.append(row)
    return [row for rows in waiting.values() for row in rows], left, pairs


def text(differences: dict[str, Difference], commits: dict[str, str]) -> str:
    """The difference for a terminal."""
    lines: list[str] = []
    for name, one in differences.items():
        told = _lines(one)
        if told:
            lines += [f"{name}@{commits[name][:12]}", *["  " + line for line in told], ""]
    return "\n".join([*lines, *_by_rule(differences), _summary(differences)]) + "\n"


def markdown(differences: dict[str, Difference], commits: dict[str, str]) -> str:
    """The difference for a comment on a change."""
    lines = [f"**servelint primer**: {_summary(differences)}", ""]
    counted = _by_rule(differences)
    if counted:
        lines += ["```", *counted, "```", ""]
    for name, one in differences.items():
        told = _lines(one)
        if told:
            lines += [
                f"<details><summary>{name}</summary>",
                "",
                *_links(name, commits[name], one),
                "",
                "```diff",
                *told,
                "```",
                "",
                "</details>",
                "",
            ]
    return "\n".join(lines)


def _lines(one: Difference) -> list[str]:
    lines = [f"- {_shown(row)}" for row in one.removed] + [f"+ {_shown(row)}" for row in one.added]
    for before, after in one.changed:
        lines.append(f"! {_shown(after)}")
        if _place(before) != _place(after):
            lines.append(f"    place: {before['line']}:{before['column']} -> {after['line']}:{after['column']}")
        lines += [
            f"    {name}: {before.get(name)} -> {after.get(name)}" for name in SHOWN if before.get(name) != after.get(name)
        ]
    return lines


def _shown(row: Row) -> str:
    what = f"{row['severity']}[{row['rule']}]" if row["rule"] else "error"
    return f"{row['path']}:{row['line']}:{row['column']}: {what} {row['message']}".replace("\n", " ")


def _links(name: str, commit: str, one: Difference) -> list[str]:
    rows = [*one.removed, *one.added, *[after for _, after in one.changed]]
    places = dict.fromkeys([(row["path"], row["line"]) for row in rows])
    return [f"- https://github.com/{name}/blob/{commit}/{path.replace(' ', '%20')}#L{line}" for path, line in places]


def _by_rule(differences: dict[str, Difference]) -> list[str]:
    added, removed, changed = Counter[str](), Counter[str](), Counter[str]()
    for one in differences.values():
        added.update([row["rule"] or "error" for row in one.added])
        removed.update([row["rule"] or "error" for row in one.removed])
        changed.update([row["rule"] or "error" for _, row in one.changed])
    rules = sorted({*added, *removed, *changed})
    return [f"{rule}: +{added[rule]} -{removed[rule]} !{changed[rule]}" for rule in rules]


def _summary(differences: dict[str, Difference]) -> str:
    every = differences.values()
    counts = {
        "added": sum(len(one.added) for one in every),
        "removed": sum(len(one.removed) for one in every),
        "changed": sum(len(one.changed) for one in every),
    }
    touched = sum(bool(one.added or one.removed or one.changed) for one in every)
    words = ", ".join([f"{count:,} {word}" for word, count in counts.items()])
    return f"{words}, {sum(one.same for one in every):,} the same; {touched} of {len(every)} repositories differ"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="primer", description="What another servelint finds in public repositories.")
    parser.add_argument("old", metavar="OLD", help="a git revision, a folder with a checkout, or an interpreter")
    parser.add_argument("new", metavar="NEW", help="likewise")
    parser.add_argument(
        "--clones", required=True, metavar="FOLDER", help="where the repositories are cloned: owner/name, name, ..."
    )
    parser.add_argument(
        "--list", default=os.path.join(HERE, "repositories.tsv"), metavar="FILE", help="(default: repositories.tsv)"
    )
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="repositories with this in their names")
    parser.add_argument("--format", choices=FORMATS, default="text", help="(default: text)")
    parser.add_argument(
        "--skip-missing", action="store_true", help="a repository that is not cloned does not change the exit status"
    )
    parser.add_argument(
        "--option",
        dest="options",
        action="append",
        default=[],
        metavar="OPTION",
        help="for both scans: --option=--profile=audit",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
