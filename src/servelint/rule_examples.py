"""A rule's own examples: the bad ones must be found at their marks, the good ones must not be found."""

from __future__ import annotations

import os
from typing import Any

from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.judge.judging import judge
from servelint.readers import read
from servelint.rules.rule import Rule

OPEN, CLOSE = "\u27e6", "\u27e7"
"""The marks around the expected place, `⟦ ⟧`."""


def faults(rule: Rule, written: dict[str, Any]) -> list[str]:
    """What is wrong with a rule's examples, a sentence each."""
    found: list[str] = []
    for kind in ("bad", "good"):
        for number, example in enumerate(written["examples"][kind], start=1):
            if (said := _fault(rule, example, expected=kind == "bad")) is not None:
                found.append(f"{kind} example {number}: {said}")
    return found


def _fault(rule: Rule, example: dict[str, Any], *, expected: bool) -> str | None:
    source, marked = unmarked(*example_text(example))
    launches = read(source).launches
    if len(launches) != 1:
        return f"it has {len(launches)} launches, and must have one"
    spans = _found(rule, launches[0], example)
    if not expected:
        return f"the rule finds {spans[0].text!r}" if spans else None
    if not spans:
        return "the rule does not find it"
    if marked is not None and spans[0] != marked:
        return f"the rule points at {spans[0].text!r}, the marks at {marked.text!r}"
    return None


def _found(rule: Rule, launch: Launch, example: dict[str, Any]) -> list[Span]:
    versions = {rule.engine: str(example["version"])} if "version" in example else {}
    settings = Settings(select=(rule.id,), engine_versions=versions, profile="audit")
    settings.gpu, settings.gpu_count = example.get("gpu"), example.get("gpus")
    return [finding.span for finding in judge(launch, settings, [rule])]


def example_text(example: dict[str, Any]) -> tuple[str, str]:
    """An example's file name and text."""
    if "text" in example:
        return os.path.basename(example["file"]), example["text"]
    exports = "".join([f'export {name}="{value}"\n' for name, value in example.get("env", {}).items()])
    return "example.sh", exports + example["run"] + "\n"


def unmarked(filename: str, text: str) -> tuple[Source, Span | None]:
    """The source without its marks, and the span that they enclosed."""
    start = text.find(OPEN)
    if start == -1:
        return Source(filename, text), None
    end = text.find(CLOSE) - 1
    source = Source(filename, text.replace(OPEN, "").replace(CLOSE, ""))
    return source, Span(source, start, max(start, end))
