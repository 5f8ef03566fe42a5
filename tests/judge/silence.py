"""Whether a report says all that it did not judge, worked out from words, variables and texts alone.

`python -m tests.judge.silence PATH...` prints each launch of some files whose record leaves something out, and the numbers.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

from servelint.core.launch import Launch, Variable, Word
from servelint.core.result import Report
from servelint.lint import check

RELEASES = json.loads((Path(__file__).parents[2] / "src/servelint/engines/data/releases.json").read_text())["engines"]
BUILDS = json.loads((Path(__file__).parents[2] / "src/servelint/engines/data/llama.cpp.json").read_text())["releases"]

_REFERENCE = re.compile(r"(?<![\\$\w])\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)\b)")
_UNKNOWN = "\ufdd0"


def gaps(report: Report) -> list[str]:
    """What the records of a report leave out: a word, a variable, a reference in a command, or a release."""
    return [f"{launch.source.path}:{launch.line}: {gap}" for launch in report.launches for gap in gaps_of(launch)]


def gaps_of(launch: Launch) -> list[str]:
    """What the record of a launch leaves out."""
    return [*_words(launch), *_image(launch), *_variables(launch), *_references(launch), *_release(launch)]


def _told(launch: Launch, kind: str) -> Counter[str]:
    assert launch.judged is not None
    return Counter([one.text for one in launch.judged.unresolved if one.kind == kind])


def _pieces(word: Word | Variable) -> str:
    """A word as its file writes it, by its pieces; an unknown one by its expression."""
    text = word.text if isinstance(word, Word) else word.value
    return "".join([piece.text if piece.text != _UNKNOWN else piece.expression or "" for piece in text.pieces]) if text else ""


def _words(launch: Launch) -> list[str]:
    """Words without a value that the record does not have, each as often as it is written."""
    missing = Counter([_pieces(word) for word in launch.argv if any(piece.text == _UNKNOWN for piece in word.text.pieces)])
    missing -= _told(launch, "word")
    masked = sum(text.endswith("***") or "***" in text for text in _told(launch, "word").elements())
    return [f"the word {text}" for text in list(missing.elements())[masked:]]


def _image(launch: Launch) -> list[str]:
    unknown = launch.image is not None and any(piece.text == _UNKNOWN for piece in launch.image.pieces)
    return ["the image"] if unknown and not _told(launch, "image") else []


def _variables(launch: Launch) -> list[str]:
    names = {text.partition("=")[0] for text in _told(launch, "variable")}
    values = {name: one.value.pieces if one.value is not None else None for name, one in launch.env.items()}
    unknown = [name for name, pieces in values.items() if pieces is None or any(piece.text == _UNKNOWN for piece in pieces)]
    return [f"the variable {name}" for name in unknown if name not in names]


def _references(launch: Launch) -> list[str]:
    """Variables that the words of a script's command name, and that the file gives no value anywhere."""
    starts = [word.site.start for word in launch.argv if word.site is not None and word.site.source is launch.source]
    if not launch.source.path.endswith(".sh") or launch.site.source is not launch.source or not starts:
        return []
    written = launch.source.text[max(min(starts), launch.site.start) : launch.site.end]
    text = re.sub(r"'[^'\n]*'", "''", re.sub(r"(?m)(?:^|\s)#.*$", "", written))
    told = " ".join([one.text + one.why for one in launch.judged.unresolved]) if launch.judged is not None else ""
    names = [one or other for one, other in _REFERENCE.findall(text)]
    given = r"(?m)(?:^|[\s;(\"]){}\+?=|\b(?:read|for|local|declare|export|mapfile|readarray|printf)\b[^\n]*\b{}\b"
    unset = [name for name in names if not re.search(given.format(name, name), launch.source.text)]
    return [f"the reference ${name}" for name in dict.fromkeys(unset) if not re.search(rf"\b{name}\b", told)]


def _release(launch: Launch) -> list[str]:
    """A release that is neither known nor said to be assumed or unknown."""
    record = launch.judged
    assert record is not None
    known = RELEASES.get(launch.engine) or (BUILDS if launch.engine == "llama.cpp" else [])
    named = launch.release.release
    if record.how in ("unknown", "rolling"):
        return [f"the release {named}"] if named in known else []
    if not known:
        return [] if not record.checked else ["an engine without a catalog"]
    bare = (named or record.release or "").removeprefix("v").partition("+")[0]
    if bare in known or record.assumption:
        return []
    return [f"the release {bare}"]


if __name__ == "__main__":
    found = check(sys.argv[1:])
    every = gaps(found)
    records = [launch.judged for launch in found.launches if launch.judged is not None]
    print(*every, sep="\n")
    whole = sum(one.whole for one in records)
    print(f"{len(found.launches)} launches, {len(records)} records, {whole} whole, {len(every)} gaps")
