"""The report for a person: the frames as they are printed."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.core.finding import Edit, Finding, Fix
from servelint.core.launch import ReleaseClaim
from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.filters.suppressions import Suppression
from servelint.report.formats import RenderOptions
from servelint.report.formats.text import Painter, finding_text, impacts, render, summary
from tests.findings import documented, finding, report, simple
from tests.launching import marked

EVERY = "this holds for every version that accepts this command"


def frame(found: Finding) -> str:
    return finding_text(found, Painter(False))


def rows(found: Finding, start: int) -> str:
    """The rows of a frame from one on."""
    return "\n".join(frame(found).splitlines()[start:])


def written(text: str) -> str:
    """A report as it is written out below, indented."""
    return dedent(text).strip("\n")


def test_a_finding() -> None:
    assert frame(documented()) == written("""
        error[vllm/turboquant-with-spec-decode]: turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops
         --> deploy/compose.yml:7:24
          |
        4 |     image: vllm/vllm-openai:v0.27.1
          |                              ------ vLLM 0.27.1; affected: 0.20 and later
        7 |       --kv-cache-dtype turboquant_k8v4
          |                        ^^^^^^^^^^^^^^^ this KV cache format
        8 |       --speculative-config '{"method":"mtp","num_speculative_tokens":2}'
          |                                        --- with this draft method
          |
          = help: write --kv-cache-dtype fp8 (--unsafe-fixes does it)
          = see: https://github.com/vllm-project/vllm/issues/53180 (reproduced on stock v0.27.1)
    """)


def test_the_whole_report() -> None:
    found = report(documented(), simple("vllm serve ⟦m⟧\n"), files=3)
    found.errors = [Problem("bad.yml", "not valid YAML: did not find expected key", 4, 7)]
    assert render(found, RenderOptions(38.4)).rstrip("\n") == written("""
        error[vllm/turboquant-with-spec-decode]: turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops
         --> deploy/compose.yml:7:24
          |
        4 |     image: vllm/vllm-openai:v0.27.1
          |                              ------ vLLM 0.27.1; affected: 0.20 and later
        7 |       --kv-cache-dtype turboquant_k8v4
          |                        ^^^^^^^^^^^^^^^ this KV cache format
        8 |       --speculative-config '{"method":"mtp","num_speculative_tokens":2}'
          |                                        --- with this draft method
          |
          = help: write --kv-cache-dtype fp8 (--unsafe-fixes does it)
          = see: https://github.com/vllm-project/vllm/issues/53180 (reproduced on stock v0.27.1)

        error[vllm/turboquant-with-spec-decode]: a message
         --> run.sh:1:12
          |
        1 | vllm serve m
          |            ^
          |

        error: bad.yml:4:7: not valid YAML: did not find expected key

        by impact: wrong-output 2
        found 2 errors in 1 launch (3 files, 38 ms); 1 file could not be read; 1 fixable with --unsafe-fixes
    """)


class TestPlaces:
    def test_several_on_one_line(self) -> None:
        _, (first, second, third) = marked("run.sh", "vllm serve ⟦m⟧ --port ⟦8000⟧ --seed ⟦1⟧\n")
        found = finding(second, (first, "the model"), (third, "a seed"), label="the port", launch=None, advice="", evidence=[])
        assert rows(found, 2) == written("""
              |
            1 | vllm serve m --port 8000 --seed 1
              |                     ^^^^ the port
              |            - the model
              |                                 - a seed
              |
        """)

    def test_the_gutter_is_as_wide_as_the_largest_line_number(self) -> None:
        _, (first, second) = marked("run.sh", "A=⟦1⟧\n" + "\n" * 120 + "vllm serve ⟦m⟧\n")
        found = finding(second, (first, "here"), launch=None, advice="", evidence=[])
        assert rows(found, 1) == written("""
               --> run.sh:122:12
                |
              1 | A=1
                |   - here
            122 | vllm serve m
                |            ^
                |
        """)

    def test_a_place_in_another_file(self) -> None:
        _, (tag,) = marked("compose.yml", "services:\n  llm:\n    image: lmsysorg/sglang:v⟦0.5.20⟧\n    env_file: llm.env\n")
        _, (value,) = marked("llm.env", "# variables\nSGLANG_ENABLE_SPEC_V2=⟦1⟧\n")
        found = finding(value, (tag, "SGLang 0.5.20"), label="has no effect", launch=None, advice="", evidence=[])
        assert rows(found, 1) == written("""
             --> llm.env:2:23
              |
            2 | SGLANG_ENABLE_SPEC_V2=1
              |                       ^ has no effect
              |
             ::: compose.yml:3:29
              |
            3 |     image: lmsysorg/sglang:v0.5.20
              |                             ------ SGLang 0.5.20
              |
        """)

    def test_a_span_of_several_lines_is_marked_on_its_first(self) -> None:
        found = simple('vllm serve m \\\n  --speculative-config \'⟦{\n    "method": "mtp"\n  }⟧\'\n')
        assert rows(found, 1) == written("""
             --> run.sh:2:25
              |
            2 |   --speculative-config '{
              |                         ^
              |
        """)

    def test_a_span_without_characters(self) -> None:
        source = Source("run.sh", "vllm serve m\n")
        for at in (0, 12, 13):
            lines = frame(finding(Span(source, at, at), launch=None, advice="", evidence=[])).splitlines()
            assert lines[4].rstrip().endswith("| " + " " * (at if at < 13 else 0) + "^")

    def test_crlf(self) -> None:
        _, (mark,) = marked("run.sh", "#!/bin/bash\r\nvllm serve ⟦m⟧\r\n")
        lines = frame(finding(mark, launch=None, advice="", evidence=[])).splitlines()
        assert lines[1:5] == [" --> run.sh:2:12", "  |", "2 | vllm serve m", "  |            ^"]


class TestWidth:
    def marked_line(self, found: Finding) -> tuple[str, str]:
        """The line of the file, and the characters of it that stand above the mark."""
        _, _, _, line, marks, *_ = frame(found).splitlines()
        start = marks.index("^")
        return line, line[start : start + marks.count("^")]

    def test_a_tab_is_one_column(self) -> None:
        assert frame(simple("\tvllm\tserve\t⟦m⟧ # 1\t2\n", label="this")).splitlines()[3:5] == [
            "1 |  vllm serve m # 1 2",
            "  |             ^ this",
        ]

    @pytest.mark.parametrize(
        ("before", "span", "columns", "width"),
        [
            ("\u4e2d\u6587 ", "m", 5, 1),  # each of two columns
            ("\U0001f600 ", "m", 3, 1),
            ("e\u0301 ", "m", 2, 1),  # an accent of its own character
            ("a\u20dd ", "m", 2, 1),  # a circle around a letter
            ("", "\u4e2d\u6587", 0, 4),
            ("\x07\x1b ", "m", 9, 1),  # shown as escapes
        ],
    )
    def test_marks_stand_under_their_characters(self, before: str, span: str, columns: int, width: int) -> None:
        line = frame(simple(f"{before}⟦{span}⟧ x\n")).splitlines()[4]
        assert line == "  | " + " " * columns + "^" * width

    def test_a_long_line_is_cut_around_the_span(self) -> None:
        found = simple("vllm serve m " + "--some-option value " * 20 + "--port ⟦8000⟧ " + "--other-option value " * 20 + "\n")
        assert frame(found).splitlines()[3:5] == [
            "1 | …option value --port 8000" + " --other-option value" * 4 + " --oth…",
            "  |                      ^^^^",
        ]

    def test_a_span_at_the_start_of_a_long_line(self) -> None:
        found = simple("vllm serve ⟦m⟧ " + "--some-option value " * 20 + "\n")
        line, shown = self.marked_line(found)
        assert (line[:16], len(line), line[-1], shown) == ("1 | vllm serve m", 120, "…", "m")

    def test_a_span_at_its_end(self) -> None:
        line, shown = self.marked_line(simple("vllm serve m " + "--some-option value " * 20 + "--port ⟦8000⟧\n"))
        assert (line[4], line[-4:], shown) == ("…", "8000", "8000")

    def test_a_span_that_is_longer_than_the_line_that_is_shown(self) -> None:
        line, shown = self.marked_line(simple("vllm serve m --chat-template '⟦" + "x" * 300 + "⟧'\n"))
        assert len(line) <= 4 + 117
        assert set(shown) <= {"x", "…"}

    def test_a_place_that_is_cut_off_is_not_marked(self) -> None:
        _, (first, second) = marked("run.sh", "vllm serve ⟦m⟧ " + "--some-option value " * 20 + "--port ⟦8000⟧\n")
        found = finding(second, (first, "the model"), launch=None, advice="", evidence=[])
        assert "the model" not in frame(found)

    def test_wide_characters_in_front_of_a_cut(self) -> None:
        line, marks = frame(simple("\u4e2d" * 200 + "⟦8000⟧" + "x" * 10 + "\n")).splitlines()[3:5]
        # 50 characters of two columns each
        assert line == "1 | …" + "\u4e2d" * 50 + "8000" + "x" * 10
        assert marks == "  | " + " " * 101 + "^^^^"


class TestForeignText:
    """Nothing in a file may steer the terminal."""

    ESCAPES = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x08\x7f \x9b1m \u202e\u2066 \u200b \u2028 \ufdd0"

    def test_in_the_lines_of_a_file(self) -> None:
        found = simple(f"vllm serve ⟦m⟧ # {self.ESCAPES}\n")
        assert frame(found).splitlines()[3] == (
            r"1 | vllm serve m # \x1b[31mred\x1b[0m \x1b]0;title\x07 \x08\x7f \x9b1m \u202e\u2066 \u200b \u2028 \ufdd0"
        )

    def test_everywhere_else(self) -> None:
        _, (mark, other) = marked(f"a{self.ESCAPES}.sh", f"vllm serve ⟦m⟧ ⟦{self.ESCAPES}⟧\n")
        found = finding(
            mark,
            (other, self.ESCAPES),
            message=self.ESCAPES,
            advice=self.ESCAPES,
            label=self.ESCAPES,
            evidence=[self.ESCAPES],
            launch=self.ESCAPES,
        )
        shown = report(found)
        shown.errors = [Problem(self.ESCAPES, self.ESCAPES)]
        text = render(shown)
        assert all(char.isprintable() for char in text.replace("\n", ""))

    def test_a_line_break_in_a_message_makes_no_line(self) -> None:
        assert r"a\nb" in frame(finding(simple("⟦m⟧\n").span, message="a\nb", launch=None)).splitlines()[0]


class TestNotes:
    """What stands under the frame."""

    def notes(self, found: Finding) -> list[str]:
        return [line.strip() for line in frame(found).splitlines() if line.startswith("  = ")]

    SPAN = Span(Source("run.sh", "vllm serve m\n"), 11, 12)

    def test_how_a_fix_is_applied(self) -> None:
        edits = [Edit(self.SPAN, "n")]
        for fix, said in (
            (None, "= help: write n"),
            (Fix("n", True, edits), "= help: write n (--fix does it)"),
            (Fix("n", False, edits), "= help: write n (--unsafe-fixes does it)"),
        ):
            assert self.notes(finding(self.SPAN, advice="write n", fix=fix))[0] == said

    @pytest.mark.parametrize(
        ("advice", "fix", "said"),
        [
            # the advice leaves a choice
            (
                "write n, or use a later release",
                Fix("write n", False, [Edit(SPAN, "n")]),
                ["= help: write n, or use a later release", "= fix: write n (--unsafe-fixes)"],
            ),
            # more comes with it
            (
                "write n",
                Fix("write n", False, [Edit(SPAN, "n")], note="another kernel runs"),
                ["= help: write n", "= fix: write n (--unsafe-fixes; another kernel runs)"],
            ),
        ],
    )
    def test_what_a_fix_does(self, advice: str, fix: Fix, said: list[str]) -> None:
        assert self.notes(finding(self.SPAN, advice=advice, fix=fix))[:2] == said

    @pytest.mark.parametrize(
        ("claim", "release", "release_from", "said"),
        [
            # it stands in the frame
            (ReleaseClaim("0.27.1", "image", SPAN), "0.27.1", "image", []),
            (ReleaseClaim("0.27.1", "image"), "0.27.1", "image", ["= note: judged as vLLM 0.27.1; affected: 0.20 and later"]),
            (ReleaseClaim(), "0.27.1", "settings", ["= note: judged as vLLM 0.27.1; affected: 0.20 and later"]),
            (ReleaseClaim(None, None, SPAN), "0.27.1", "settings", ["= note: judged as vLLM 0.27.1; affected: 0.20 and later"]),
            (
                ReleaseClaim(None, "image", SPAN, rolling=True),
                "0.27.1",
                "settings",
                ["= note: judged as vLLM 0.27.1; affected: 0.20 and later"],
            ),
            (
                ReleaseClaim(None, "image", SPAN, rolling=True),
                "0.33.0",
                "image",
                ["= note: judged as vLLM 0.33.0, the newest known version; affected: 0.20 and later"],
            ),
            (
                ReleaseClaim(),
                None,
                None,
                [f"= note: no vLLM version is pinned; {EVERY} (0.20 and later)"],
            ),
        ],
    )
    def test_the_release(self, claim: ReleaseClaim, release: str | None, release_from: str | None, said: list[str]) -> None:
        found = finding(self.SPAN, claim=claim, release=release, release_from=release_from, advice="", evidence=[])
        assert self.notes(found) == said

    def test_the_first_evidence(self) -> None:
        assert self.notes(finding(self.SPAN, advice="", evidence=["https://a.invalid (says)", "b"])) == [
            "= see: https://a.invalid (says)"
        ]


class TestSummary:
    def findings(self, *severities: str, fix: Fix | None = None) -> list[Finding]:
        span = Span(Source("run.sh", "m"), 0, 1)
        return [finding(span, severity=severity, fix=fix) for severity in severities]

    def test_counts(self) -> None:
        found = report(*self.findings("error", "warning", "warning", "info"), files=3)
        assert summary(found, 38.0) == "found 1 error, 2 warnings, 1 note in 4 launches (3 files, 38 ms)"
        assert summary(report(*self.findings("info", "info")), None) == "found 2 notes in 2 launches (1 file)"
        assert summary(report(), None) == "nothing found in 0 launches (1 file)"

    def test_what_was_left_out(self) -> None:
        found = report(files=2)
        found.known, found.unchanged = 1, 2
        left_out = "1 known finding is left out (baseline); 2 findings in unchanged code left out"
        assert summary(found, None) == f"nothing found in 0 launches (2 files); {left_out}"

    def test_impacts_the_worst_first(self) -> None:
        span = Span(Source("run.sh", "m"), 0, 1)
        kinds = ("deprecated", "wrong-output", "deprecated", "crash-at-start")
        found = report(*[finding(span, impact=impact) for impact in kinds])
        assert impacts(found) == "by impact: wrong-output 1, crash-at-start 1, deprecated 2\n"
        assert impacts(report()) == ""

    def test_quiet(self) -> None:
        assert render(report(), RenderOptions(quiet=True)) == ""
        assert render(report(documented()), RenderOptions(3.0, quiet=True)).endswith("(reproduced on stock v0.27.1)\n")

    def test_files_that_could_not_be_read(self) -> None:
        found = report(files=2)
        found.errors = [Problem("a", "b"), Problem("c", "d")]
        assert summary(found, None) == "nothing found in 0 launches (2 files); 2 files could not be read"

    def test_fixes(self) -> None:
        safe, unsafe = (Fix("x", kind, []) for kind in (True, False))
        start = "found {} in {} (1 file); "
        for fixes, said in (
            ([safe], start.format("1 error", "1 launch") + "1 fixable with --fix"),
            ([unsafe], start.format("1 error", "1 launch") + "1 fixable with --unsafe-fixes"),
            ([safe, safe, unsafe], start.format("3 errors", "3 launches") + "2 fixable with --fix, 1 with --unsafe-fixes"),
        ):
            assert summary(report(*[one for fix in fixes for one in self.findings("error", fix=fix)]), None) == said


def test_suppressions_and_what_they_hide() -> None:
    every = [
        Suppression("comment", "vllm/x", "a.sh", 2, 3, "as said", [documented()]),
        Suppression("baseline", "", "b.json", 1, 1, hidden=[]),
        Suppression("setting", "b", "--exclude", 0, 0, trusted=False),
    ]
    lines = render(report(), RenderOptions(suppressions=every)).splitlines()
    start = lines.index("2 suppressions are in force, 1 not trusted:")
    hidden = documented()
    assert lines[start + 1 : start + 5] == [
        "a.sh:2:3: comment: vllm/x (as said)",
        f"    deploy/compose.yml:7:24: error[{hidden.rule}] {hidden.statement}",
        "b.json:1:1: baseline: no rule; hides nothing",
        "--exclude: setting: b; not trusted, so it hides nothing",
    ]


class TestColour:
    def test_none_without_being_asked(self) -> None:
        assert "\x1b" not in render(report(documented()))

    def test_the_text_is_the_same(self) -> None:
        import re

        coloured = render(report(documented()), RenderOptions(color=True))
        assert "\x1b[1;31merror[vllm/turboquant-with-spec-decode]\x1b[0m" in coloured
        assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render(report(documented()))
