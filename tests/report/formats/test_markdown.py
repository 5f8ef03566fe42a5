"""A table of findings, of which nothing is markup by accident."""

from __future__ import annotations

import re

from servelint.report.formats.markdown import render
from tests.findings import documented, report, simple
from tests.report.kinds import SECRET, mixed


def test_a_finding() -> None:
    head, line, row = render(report(documented())).splitlines()[-3:]
    assert (head, line) == ("| | where | what | instead |", "|---|---|---|---|")
    assert [cell.strip() for cell in row.split("|")[1:-1]] == [
        "error",
        "<code>deploy/compose.yml&#58;7&#58;24</code>",
        (
            r"turboquant\_k8v4 KV cache with speculative decoding \(mtp\) falls into token loops "
            "(<code>vllm/turboquant-with-spec-decode</code>)"
        ),
        "write --kv-cache-dtype fp8",
    ]


def test_nothing() -> None:
    assert render(report()) == "### servelint\n\nnothing found in 0 launches \\(1 file\\)\n"


def test_each_has_a_row_of_four_cells() -> None:
    rows = [line for line in render(mixed()).splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 10
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


def test_nothing_is_markup() -> None:
    one = simple("⟦m⟧", "a|b*c*<i>`.sh")
    one.message, one.advice = "<img src=x onerror=y> [a](b) `c` **d** @somebody", "a | b\nc"
    row = render(report(one)).splitlines()[-1]
    assert "<code>a&#124;b&#42;c&#42;&lt;i&gt;&#96;.sh&#58;1&#58;1</code>" in row
    assert r"&lt;img src=x onerror=y&gt; \[a\]\(b\) \`c\` \*\*d\*\* \@somebody" in row
    assert row.endswith(r"| a \| b\\nc |")


def test_no_secret_is_written() -> None:
    assert SECRET not in render(mixed())
