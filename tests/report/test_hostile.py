"""Any text in any place of a report: what reads each format still does, and nothing in it steers a terminal or a CI."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from html5lib import HTMLParser
from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.core.finding import Finding
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.settings import FORMATS
from servelint.core.source import Source, Span
from servelint.report import statistics
from servelint.report.advice import gain_svg
from servelint.report.clean import clean, clean_lines, encoded
from servelint.report.formats import find, github, html, markdown, sarif
from servelint.report.formats.text import Painter, finding_text
from tests.findings import finding, report
from tests.launching import marked
from tests.report.kinds import mixed
from tests.together import together

WORST = [
    "\x1b[2J\x1b]8;;http://x\x07",
    "\x9b31m",
    "\u202egnp.exe\u2066",
    "a\u200bb\u00ad\ufeff",
    "\x00\x08\x7f",
    "\ufffe\uffff\ufdd0\U0001ffff",
    "\ud800 \udcff",
    "a\u2028b\u2029c\u0085d\u000be",
    "::set-output name=x::y",
    "\r\n::stop-commands::x",
    "##[add-mask]x ##vso[task.complete]y",
    "<script>alert(1)</script>",
    "]]></failure><x a='\"'>&amp;",
    "![x](http://x) [y](javascript:z) <img src=x onerror=1> `|` @team #1",
    "%0A%25::x,y:z",
    '"}],"x":[{"',
    "\u3164\u115f\u034f",
    "\U000e0041\U000e0042",
]
TEXTS = st.one_of(
    st.sampled_from(WORST),
    st.text(max_size=40),
    st.lists(st.sampled_from(WORST), min_size=2, max_size=3).map("".join),
    st.text(alphabet=st.characters(min_codepoint=0, max_codepoint=0x10FFFF, exclude_categories=()), max_size=12),
)
RENDERED: dict[str, Callable[[Report], str]] = {
    **{name: find(name).render for name in FORMATS},
    "statistics": lambda found: statistics.render(found, False, None),
    "statistics as json": lambda found: statistics.render(found, True, None),
}


def everywhere(said: str, path: str | None = None) -> Report:
    """A report that has a text in every place where there is one; path: that of the file, where it is another one"""
    body = said.replace("\u27e6", "").replace("\u27e7", "")
    source = Source(path or f"a{body}.sh", f"vllm serve {body} x\n")
    _, places = marked("b.sh", "vllm ⟦serve⟧ ⟦m⟧\n")
    mark, other = (Span(source, place.start, place.end) for place in places)
    found = finding(
        mark, (other, body), message=body, advice=body, label=body, evidence=[body], launch=body, rule=f"vllm/{body}"
    )
    told = report(found)
    told.errors = [Problem(source.path, body), Problem(path or body, f"{body}\n{body}")]
    return told


def printable(rendered: str) -> bool:
    """Whether nothing in a text steers a terminal, and no line or part of it is a command to a CI."""
    lines = rendered.split("\n")
    plain = all(char.isprintable() for line in lines for char in line)
    return plain and not any(
        re.search(r"##[A-Za-z]*\[", line) or re.match(r"\s*::(?!error |warning |notice )[A-Za-z]", line) for line in lines
    )


@together("name, said", [*product(RENDERED, WORST)])
def test_the_worst(name: str, said: str) -> None:
    well_formed(name, RENDERED[name](everywhere(said)))


@pytest.mark.parametrize("name", RENDERED)
@settings(max_examples=25)
@given(said=TEXTS)
def test_any_text(name: str, said: str) -> None:
    well_formed(name, RENDERED[name](everywhere(said)))


def well_formed(name: str, rendered: str) -> None:
    """What reads the format takes it, it can be written as UTF-8, and it may be printed."""
    rendered.encode()
    if name == "junit":
        ElementTree.fromstring(rendered)
        return
    if name == "html":
        document = HTMLParser(strict=False, namespaceHTMLElements=False).parse(rendered)
        assert [one.text for one in document.iter("script")] == [html_script()]
        assert not [
            one
            for one in document.iter()
            if isinstance(one.tag, str) and one.tag in ("img", "iframe", "object", "embed", "base")
        ]
        for one in document.iter("a"):
            assert one.get("href") is None or re.match(r"#|https?://", one.get("href", ""))
        assert not [key for one in document.iter() for key in one.attrib if key.startswith("on")]
        return
    if name in ("gitlab", "json", "rdjson", "sarif", "statistics as json"):
        json.dumps(json.loads(rendered), ensure_ascii=False).encode()
    assert printable(rendered)


def html_script() -> str:
    (script,) = re.findall(r"<script>(.*?)</script>", html.render(Report()), re.DOTALL)
    return str(script)


@given(TEXTS)
def test_sarif_follows_its_schema(said: str) -> None:
    log = json.loads(sarif.render(everywhere(said)))
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9_.~!$&'()*+,;=:@/%-]*", place)
    assert result["message"]["text"].isprintable()


@given(TEXTS)
def test_a_command_of_github_stays_one(said: str) -> None:
    commands = github.render(everywhere(said)).split("\n")
    assert len(commands) == 4
    assert all(line.startswith("::error file=") for line in commands[:3])


@given(TEXTS)
def test_markdown_has_one_row_each_and_no_markup(said: str) -> None:
    rows = markdown.render(everywhere(said)).split("\n")[6:]
    assert len(rows) == 4
    for row in rows[:3]:
        assert len(re.findall(r"(?<!\\)\|", row)) == 5
        bare = re.sub(r"\\.|</?code>|&\w+;|&#\d+;", "", row)
        assert not re.search(r"[<>`\[\]!*~@]", bare)


@given(TEXTS)
def test_what_is_clean_stays_as_it_is(said: str) -> None:
    assert clean(clean(said)) == clean(said)
    assert printable(clean(said))
    assert clean_lines(said).count("\n") == said.count("\n")


@given(st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6))
def test_data_for_programs(data: Any) -> None:
    rendered = encoded(data)
    json.loads(rendered)
    rendered.encode()
    assert printable(rendered)


def test_a_text_without_anything_odd_comes_back(tmp_path: object) -> None:
    data = {"path": "caf\u00e9/\u4e2d\u6587.yml", "message": 'tab\t "quoted" \\ \U0001f600'}
    assert json.loads(encoded(data)) == data


@together("name", list(RENDERED))
def test_no_format_has_a_secret(name: str) -> None:
    """Neither one that a source knows nor one that only looks like it, in whatever text."""
    secrets = ["hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"]
    found = everywhere(" ".join([*secrets, "https://me:hunter2secret@host/"]), "run.sh")
    rendered = RENDERED[name](found)
    for secret in [*secrets, "hunter2secret"]:
        assert secret not in rendered


@together("name", list(RENDERED))
def test_the_length_of_a_secret_does_not_show(name: str) -> None:
    def of(secret: str) -> str:
        _, (mark,) = marked("run.sh", f"vllm serve m --api-key {secret} ⟦--swap-space⟧ 4\n")
        found = finding(mark, message=f"{secret} is there", evidence=[])
        return shape(RENDERED[name](report(found)))

    def shape(rendered: str) -> str:
        # columns are true: somebody has to find the place in the file
        numbers = r'"(?:column|startColumn|endColumn)": ?\d+|(?:col|endColumn)=\d+|\d+(?::|&#58;)\d+'
        return re.sub(numbers, "N", rendered)

    assert of("hf_" + "aBcDeFgH12" * 2) == of("hf_" + "aBcDeFgH12" * 9)


def test_the_picture_of_the_adviser() -> None:
    from servelint.advise.recommendation import Objective, UseCase, recommend

    found = recommend(UseCase("chat"), Objective("latency"), "h100", "Qwen/Qwen3-8B", "vllm")
    assert found.crossover is not None
    for said in WORST:
        drawn = gain_svg(found.crossover, said)
        root = ElementTree.fromstring(drawn)
        assert not [one for one in root.iter() if one.tag.rpartition("}")[2] in ("script", "foreignObject", "a", "image")]
        drawn.encode()


def test_mixed_findings_stay_what_they_are() -> None:
    for name, render in RENDERED.items():
        well_formed(name, render(mixed()))


def test_marks_stand_under_what_they_mark_behind_a_mask_and_escapes() -> None:
    _, (mark,) = marked("run.sh", "\x1bvllm serve m --api-key hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345 ⟦--swap-space⟧ 4\n")
    one: Finding = finding(mark, launch=None, evidence=[], advice="")
    line, marks = finding_text(one, Painter(False)).splitlines()[3:5]
    assert line == r"1 | \x1bvllm serve m --api-key hf_*** --swap-space 4"
    assert line[marks.index("^") : marks.rindex("^") + 1] == "--swap-space"
