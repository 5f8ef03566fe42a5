"""The texts that a user reads of what Python code judges: those of each bad example, beside their input in texts.txt.

`python -m tests.judge.test_texts > tests/judge/texts.txt` writes them anew: read the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.lint import check_launches
from servelint.readers import read
from tests.book import each_rule
from tests.wrappers import WRAPPERS
from tests.wrapping import unmarked

TEXTS = Path(__file__).with_name("texts.txt")


def shown(finding: Finding) -> Iterator[str]:
    """What a finding shows: its sentence, its labels and its fix."""
    yield " ".join(f"{finding.sentence}".split())
    for span, label in ((finding.span, finding.label), *[(one.span, one.message) for one in finding.related]):
        yield f"    {' '.join(span.text.split())!r}: {label}"
    if finding.fix is not None:
        safe = "" if finding.fix.safe else ", not safe"
        yield f"    fix: {finding.fix.title}{safe}{'; ' + finding.fix.note if finding.fix.note else ''}"
        for edit in sorted(finding.fix.edits, key=lambda one: one.span.start):
            yield f"    {' '.join(edit.span.text.split())!r} -> {' '.join(edit.text.split())!r}"


def texts(rule: dict[str, Any]) -> Iterator[str]:
    """The texts of a rule's bad examples. A command stands in a script."""
    name, wrap = WRAPPERS["shell"]
    for example in rule["examples"]["bad"]:
        written = (example["file"], example["text"]) if "text" in example else (name, wrap(rule["engine"], example))
        source, _ = unmarked(*written)
        settings = Settings(profile="audit", gpu=example.get("gpu"), gpu_count=example.get("gpus"))
        for finding in check_launches(source, read(source).launches, settings):
            if finding.rule == rule["id"]:
                yield from shown(finding)


def every() -> str:
    """The texts of all rules that Python code judges, each below the id of its rule."""
    found = [[str(rule["id"]), *texts(rule), ""] for rule in each_rule() if "complaint" in rule]
    return "\n".join([line for lines in found for line in lines])


def test_what_a_user_reads() -> None:
    written = TEXTS.read_text(encoding="utf-8")
    for block, expected in zip(every().split("\n\n"), written.split("\n\n"), strict=True):
        assert block.splitlines() == expected.splitlines()


if __name__ == "__main__":
    print(every(), end="")
