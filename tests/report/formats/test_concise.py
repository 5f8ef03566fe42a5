"""One line a finding."""

from __future__ import annotations

from servelint.report.formats.concise import render
from tests.findings import documented, report
from tests.report.kinds import SECRET, mixed


def test_a_finding() -> None:
    assert render(report(documented())) == (
        "deploy/compose.yml:7:24: error[vllm/turboquant-with-spec-decode] turboquant_k8v4 KV cache with speculative decoding "
        "(mtp) falls into token loops; write --kv-cache-dtype fp8\n"
    )


def test_one_line_each() -> None:
    lines = render(mixed()).splitlines()
    assert len(lines) == 10
    assert lines[-2] == "a b:c.yml:4:7: error not valid YAML: \\x1b 100%"
    assert all(line.isprintable() for line in lines)


def test_nothing() -> None:
    assert render(report()) == ""


def test_no_secret_is_written() -> None:
    assert SECRET not in render(mixed())
