"""The changes of files as a patch that `git apply` takes.

A line is printed as it is or not at all: a mask in a line would make a patch that does not apply. So a hunk whose context
holds a secret, or what could steer a terminal, ends before it. A hunk that would change such a line is left out and counted.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from servelint.core.secrets import masked_text
from servelint.core.source import Source
from servelint.files.project import repository

_CONTEXT = 3
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_COMMAND = re.compile(r"\s*::|.*##\[")
_NO_NEWLINE = "\n\\ No newline at end of file\n"
_PLAIN = re.compile(r'[^\x00-\x1f\x7f"\\]*')


@dataclass(slots=True)
class Patch:
    """A patch.

    Attributes:
        text: the patch; empty without changes.
        root: the folder that its paths are relative to, "" for the current one.
        left_out: what is not in it, a sentence each.
    """

    text: str = ""
    root: str = ""
    left_out: list[str] = field(default_factory=list)


def make(changed: list[tuple[Source, Source]]) -> Patch:
    """Return a patch of files as they are and as they would be.

    Paths are relative to the current folder if all files stand in it, else to the repository that holds them.
    """
    found = Patch()
    full = {old.path: os.path.abspath(old.path) for old, _ in changed}
    here = os.getcwd()
    root = here
    if any(os.path.commonpath([path, here]) != here for path in full.values()):
        root = _root(list(full.values()))
        found.root = root
    for old, new in changed:
        if old.encoding == "utf-16":
            found.left_out.append(f"{old.path}: a patch of a file in UTF-16 does not apply")
            continue
        hunks, dropped = _hunks(old, new)
        if dropped:
            places = ", ".join([str(line) for line in dropped])
            found.left_out.append(f"{old.path}: changes at line {places} are beside a secret or a control character")
        if hunks:
            name = os.path.relpath(full[old.path], root).replace(os.sep, "/")
            found.text += f"--- {_quoted('a/' + name)}\n+++ {_quoted('b/' + name)}\n" + "".join(hunks)
    return found


def _root(paths: list[str]) -> str:
    """The nearest folder that holds all paths and is a repository's; the nearest that holds them if there is none."""
    nearest = os.path.commonpath([os.path.dirname(path) for path in paths])
    return repository(nearest) or nearest


def _quoted(name: str) -> str:
    """A name as git writes it in a header: in quotes where it has quotes, backslashes or control characters."""
    if _PLAIN.fullmatch(name):
        return name + ("\t" if " " in name else "")
    data = os.fsencode(name)
    return '"' + "".join([chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in data]) + '"'


def _hunks(old: Source, new: Source) -> tuple[list[str], list[int]]:
    """The hunks of a file, and the lines at which a change is left out."""
    before, after = _lines(old), _lines(new)
    unsafe = {line for line in {*before, *after} if _is_unsafe(line, old)}
    hunks: list[str] = []
    dropped: list[int] = []
    shift = 0
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT):
        for start, rows in _parts(group, before, after, unsafe):
            changes = [row for row in rows if row[0] != " "]
            end = start + sum(row[0] != "+" for row in rows)
            # without a line behind its changes, git takes a hunk only at the end of the file
            if any(row[1:] in unsafe for row in changes) or (rows[-1][0] != " " and end < len(before)):
                dropped.append(start + next(index for index, row in enumerate(rows) if row[0] != " ") + 1)
                continue
            taken, given = end - start, sum(row[0] != "-" for row in rows)
            hunks.append(f"@@ -{_range(start, taken)} +{_range(start + shift, given)} @@\n")
            hunks += [row if row.endswith("\n") else row + _NO_NEWLINE for row in rows]
            shift += given - taken
    return hunks, dropped


def _parts(
    group: list[tuple[str, int, int, int, int]], before: list[str], after: list[str], unsafe: set[str]
) -> list[tuple[int, list[str]]]:
    """The parts of a group of changes between unsafe lines of context: the number of lines before each, and its lines."""
    parts: list[tuple[int, list[str]]] = []
    rows: list[str] = []
    start = group[0][1]
    for tag, first, last, other, end in group:
        if tag != "equal":
            rows += ["-" + line for line in before[first:last]] + ["+" + line for line in after[other:end]]
            continue
        for index in range(first, last):
            if before[index] not in unsafe:
                rows.append(" " + before[index])
                continue
            parts.append((start, rows))
            start, rows = index + 1, []
    parts.append((start, rows))
    return [(start, rows) for start, rows in parts if any(row[0] != " " for row in rows)]


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}" if count != 1 else str(start + 1)


def _lines(source: Source) -> list[str]:
    mark = "\ufeff" if source.encoding == "utf-8-sig" else ""
    return _LINE.findall(mark + source.text)


def _is_unsafe(line: str, source: Source) -> bool:
    """Whether a line holds a secret, or what a terminal or the log of a CI would obey."""
    text = line.rstrip("\n").removesuffix("\r").removeprefix("\ufeff").replace("\t", " ")
    return not text.isprintable() or _COMMAND.match(text) is not None or masked_text(text, source) != text
