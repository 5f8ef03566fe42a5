"""What a finding of each kind reads like, kept as a person reads it."""

from __future__ import annotations

import re

import pytest

from tests.report.golden import FILE, printed

FINDINGS = FILE.read_text(encoding="utf-8").rstrip("\n").split("\n\n")


@pytest.mark.book
def test_findings_read_as_they_are_kept() -> None:
    assert printed() == FILE.read_text(encoding="utf-8")


def test_there_are_forty_of_all_kinds() -> None:
    assert len(FINDINGS) >= 40
    areas = {re.match(r"\w+\[([a-z]+)/", one)[1] for one in FINDINGS}  # type: ignore[index]
    assert areas >= {"vllm", "sglang", "llamacpp", "lmdeploy", "tgi", "container"}


@pytest.mark.parametrize("text", FINDINGS, ids=[one.partition("]")[0] for one in FINDINGS])
def test_each_has_a_statement_help_and_a_place_to_read_on(text: str) -> None:
    head = text.partition("\n")[0]
    assert not head.endswith(".")
    assert "= help: " in text
    assert re.search(r"= see: (?:https://\S+|servelint explain \S+)", text)
    assert not re.search(r"(?<![.\d-])\b1 (?:GPUs|ranks|tokens|nodes|requests|releases|replicas|slots|words)\b", head)
