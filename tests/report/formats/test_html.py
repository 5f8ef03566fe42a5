"""The HTML page, read by a strict parser. What a browser makes of it is in test_html_in_chromium."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote
from xml.etree.ElementTree import Element

import pytest

from servelint import __version__, parallel
from servelint.core.finding import IMPACTS, Edit, Fix
from servelint.core.launch import Launch
from servelint.core.problem import Problem
from servelint.core.secrets import Redactions
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.lint import check, check_in_parallel
from servelint.report.extent import data_line
from servelint.report.formats import html
from servelint.report.formats.html import render
from servelint.report.formats.html.cards import DOES
from servelint.report.formats.html.origin import Origin
from servelint.report.formats.json import render as render_json
from tests.findings import documented, finding, report
from tests.launching import marked
from tests.report.kinds import SECRET, mixed
from tests.report.page import Page, said
from tests.running import Workspace

RANGE = "vllm/gpu-memory-utilization-out-of-range"


def page(*findings: object) -> Page:
    return Page(render(report(*findings)))  # type: ignore[arg-type]


def facts(page: Page, card: Element) -> dict[str, str]:
    """What a launch card says."""
    return dict(zip(page.said("dt", card), page.said("dd", card), strict=True))


class TestAFinding:
    def test_what_it_says(self) -> None:
        found = page(documented())
        article = found.one("article.finding")
        assert found.said("h5", article) == [
            "error turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops"
        ]
        assert found.said("p.advice", article) == ["What to do: write --kv-cache-dtype fp8"]
        assert found.said("p.meta", article) == ["compose.yml:7:24 the launch answers wrongly vllm/turboquant-with-spec-decode"]
        assert [article.get(f"data-{name}") for name in ("severity", "impact", "engine")] == ["error", "wrong-output", "vllm"]

    def test_where_it_stands(self) -> None:
        found = page(documented())
        assert found.said("h3", found.one(".file")) == ["deploy/compose.yml 1 finding"]
        assert found.said("h4") == ["services.llm, line 7"]

    def test_a_link_to_it_holds(self) -> None:
        one = documented()
        found = page(one)
        article = found.one(f"#finding-{one.fingerprint}")
        assert [link.get("href") for link in found.all("a", article)][:2] == [
            f"#finding-{one.fingerprint}",
            "#rule-vllm/turboquant-with-spec-decode",
        ]

    def test_the_lines_that_it_points_at_and_no_other(self) -> None:
        frame = Page(render(report(documented()))).all(".frame")[0]
        lines = [element for element in frame.iter() if element.get("class") == "line"]
        assert [(line.get("data-line"), said(line)) for line in lines] == [
            ("4", "image: vllm/vllm-openai:v0.27.1"),
            ("7", "--kv-cache-dtype turboquant_k8v4"),
            ("8", """--speculative-config '{"method":"mtp","num_speculative_tokens":2}'"""),
        ]
        marks = [(element.get("class"), said(element)) for element in frame.iter("mark")]
        assert marks == [("also", "0.27.1"), (None, "turboquant_k8v4"), ("also", "mtp")]

    def test_its_fix(self) -> None:
        found = page(documented())
        assert "Fix: servelint check --unsafe-fixes does it: --kv-cache-dtype fp8" in found.said("p")
        assert found.said("del") == ["--kv-cache-dtype turboquant_k8v4"]
        assert found.said("ins") == ["--kv-cache-dtype fp8"]

    def test_who_says_so(self) -> None:
        found = page(documented())
        link = next(link for link in found.all("a") if "53180" in (link.get("href") or ""))
        assert link.get("href") == "https://github.com/vllm-project/vllm/issues/53180"
        assert link.get("rel") == "noreferrer"
        said_so = "Evidence: github.com/vllm-project/vllm/issues/53180 (reproduced on stock v0.27.1)"
        assert said_so in found.said("p", found.one("article.finding"))

    def test_evidence_that_is_no_address_is_no_link(self) -> None:
        span = documented().span
        found = page(finding(span, evidence=["javascript:alert(1) (see)", "vllm-0.33.0 a.py:2 (the check)"]))
        assert "Evidence: javascript:alert(1) (see), 1 more" in found.said("p")
        assert all((link.get("href") or "").startswith("#") for link in found.all("a") if link.get("href"))

    def test_its_rule_is_told_once(self) -> None:
        one = documented()
        found = page(one, finding(one.related[0].span))
        rule = found.one("#rule-vllm/turboquant-with-spec-decode")
        assert found.said("h3", rule) == ["TurboQuant KV cache with speculative decoding repeats tokens"]
        assert "Releases: vLLM 0.20 and later" in found.said("p", rule)
        assert "To silence it, on the line or above the launch: # servelint: ignore[vllm/turboquant-with-spec-decode] why" in (
            found.said("p", rule)
        )
        assert found.text.count("captured in full CUDA graphs") == 1

    def test_the_same_finding_twice_has_two_addresses(self) -> None:
        found = Page(render(mixed()))
        names = [element.get("id") for element in found.root.iter() if element.get("id")]
        assert len(names) == len(set(names))
        assert len(found.all("article.finding")) == 8


class TestFrames:
    def test_a_long_line_is_cut_around_what_it_points_at(self) -> None:
        _, (near, far) = marked("run.sh", f"vllm serve {'a' * 3000} ⟦--here⟧ {'b' * 3000} ⟦--there⟧\n")
        found = page(finding(near, (far, "far from it")))
        line = said(found.one("span.line"))
        assert re.fullmatch(r"…a{150,160} --here b{150,160}…", line)
        assert found.said("span.label") == ["--there far from it"]

    def test_several_lines(self) -> None:
        _, (span,) = marked("run.sh", "vllm serve '⟦{\n" + '  "a": 1,\n' * 20 + "}⟧'\n")
        found = page(finding(span))
        assert [line.get("data-line") for line in found.all("span.line")] == [str(number) for number in range(1, 9)]
        assert found.said("mark") == ["{", *['"a": 1,'] * 7]
        assert found.said("span.more") == ["and 14 more lines"]

    def test_behind_the_last_character(self) -> None:
        source, _ = marked("run.sh", "vllm serve\n")
        found = page(finding(Span(source, 10, 10)))
        line = found.one("span.line")
        assert "".join(line.itertext()) == "vllm serve "
        assert len(found.all("mark", line)) == 1

    def test_one_place_inside_another(self) -> None:
        _, (outer, inner) = marked("run.sh", "vllm serve ⟦--a ⟦b⟧ c⟧\n")
        found = page(finding(inner, (outer, "all of it")))
        marks = [(mark.get("class"), "".join(mark.itertext())) for mark in found.all("mark", found.one("span.line"))]
        assert marks == [("also", "--a "), (None, "b"), ("also", " c")]

    def test_another_file_is_named(self) -> None:
        _, (here,) = marked("run.sh", "vllm serve ⟦m⟧\n")
        _, (there,) = marked("./deploy/.env", "A=1\nM=⟦m⟧\n")
        assert page(finding(here, (there, "from here"))).said("figcaption") == ["deploy/.env:2:3"]


class TestFixes:
    def lines(self, text: str, *new: str) -> tuple[list[str], list[str]]:
        """What goes and what comes when the marked places of a text are replaced."""
        _, spans = marked("run.sh", text)
        edits = [Edit(span, with_) for span, with_ in zip(spans, new, strict=True)]
        found = page(finding(spans[0], fix=Fix("a fix", True, edits)))
        return tuple(["".join(element.itertext()) for element in found.all(name)] for name in ("del", "ins"))  # type: ignore[return-value]

    def test_a_line_that_goes(self) -> None:
        assert self.lines("vllm serve m \\\n⟦  --swap-space 4 \\\n⟧  --port 1\n", "") == (["  --swap-space 4 \\"], [])

    def test_a_line_that_comes(self) -> None:
        assert self.lines("a: 1⟦⟧\nb: 2", "\nc: 3") == ([], ["c: 3"])

    def test_places_far_apart(self) -> None:
        assert self.lines("⟦a⟧\nb\nc\nd\n⟦e⟧\n", "A", "E") == (["a", "e"], ["A", "E"])

    def test_places_in_one_line(self) -> None:
        assert self.lines("x ⟦a⟧ ⟦b⟧ y\n", "A", "B") == (["x a b y"], ["x A B y"])

    def test_many_lines(self) -> None:
        gone, come = self.lines("⟦" + "a\n" * 100 + "⟧b\n", "")
        assert (len(gone), come) == (24, [])


class TestLaunches:
    COMPOSE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    command: --model ${MODEL:-Qwen/Qwen3-8B} --gpu-memory-utilization 1.5
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 2, capabilities: [gpu]}]}}}
"""

    def test_a_card(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", self.COMPOSE)
        found = Page(workspace.run("check", "--format", "html", "--select", RANGE).out)
        card = found.one("article.launch")
        assert found.said("h4", card) == ["services.llm, line 4"]
        assert facts(found, card) == {
            "Engine": "vLLM",
            "Release": "0.20.0, named by the image",
            "Model": "Qwen/Qwen3-8B",
            "GPUs": "2",
            "Image": "vllm/vllm-openai:v0.20.0",
        }

    def test_what_options_say(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve --gpu-memory-utilization 1.5\n")
        options = ["--engine-version", "vllm=0.20.0", "--gpu", "h100", "--gpu-count", "4", "--select", RANGE]
        found = Page(workspace.run("check", "--format", "html", *options).out)
        assert facts(found, found.one("article.launch")) == {
            "Engine": "vLLM",
            "Release": "0.20.0, named by the settings",
            "Model": "not known",
            "GPUs": "4 \u00d7 h100",
        }

    @pytest.mark.parametrize(
        ("command", "model"),
        [
            ("llama-server -hf ggml-org/gemma-3 -ngl 99", "ggml-org/gemma-3"),
            ("text-generation-launcher --model-id org/m", "org/m"),
            ("python -m sglang.launch_server --model-path $MODEL", "${MODEL}"),
            ('vllm serve "$@"', "not known"),
        ],
    )
    def test_the_model_as_it_is_written(self, command: str, model: str, workspace: Workspace) -> None:
        workspace.file("run.sh", command + "\n")
        found = Page(workspace.run("check", "--format", "html", "--select", RANGE).out)
        assert facts(found, found.one("li.launch"))["Model"] == model

    def test_one_without_a_finding(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m\n")
        found = Page(workspace.run("check", "--format", "html", "--select", RANGE).out)
        card = found.one("li.launch")
        assert found.said("h3", card) == ["run.sh:1"]
        assert facts(found, card) == {"Engine": "vLLM", "Release": "not known", "Model": "m", "GPUs": "not known"}
        assert "Nothing found." in found.said("p")

    def test_those_that_a_script_starts_alike_are_one_card(self) -> None:
        source, (here,) = marked("run.sh", "for n in 1 2; do\n⟦  vllm serve m\n⟧done\n")
        alike = report()
        alike.launches = [Launch(source=source, engine="vllm", argv=[], site=here) for _ in range(2)]
        found = Page(render(alike))
        assert found.said("summary", found.one("#quiet")) == ["2 launches"]
        assert found.said("p.meta", found.one("li.launch")) == ["2 times"]

    def test_a_finding_in_another_file_than_its_launch(self) -> None:
        one, (m,) = marked("run.sh", "vllm serve ⟦m⟧\n")
        _, (there,) = marked("lib.sh", "x ⟦y⟧\n")
        launch = Launch(source=one, engine="vllm", argv=[], site=m)
        found = page(finding(there, launch=launch))
        assert found.said("h3", found.one(".file")) == ["lib.sh 1 finding"]
        assert "launched by run.sh:1" in found.said("p.meta")

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
    def test_the_page_is_the_same_from_several_processes(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parallel, "processes", lambda files: 2)
        workspace.file("vllm.yaml", "model: from-a-file\n")
        for number in range(8):
            workspace.file(
                f"{number}.sh", f"vllm serve --config vllm.yaml --port {number} --gpu-memory-utilization 1.{number}\n"
            )
        one, several = check(["."]), check_in_parallel(["."], Settings(), words=True)
        assert len(one.findings) >= 7
        assert render(several) == render(one)


class TestTheSummary:
    def test_its_counts_are_those_of_the_json_report(self, workspace: Workspace) -> None:
        examples = str(Path(__file__).parents[3] / "examples")
        data = json.loads(workspace.run("check", examples, "--format", "json").out)
        found = Page(workspace.run("check", examples, "--format", "html").out)
        articles = found.all("article.finding")
        for name in ("severity", "impact"):
            assert Counter(article.get(f"data-{name}") for article in articles) == Counter(
                one[name] for one in data["findings"]
            )
        assert Counter(found.said("h5")) == Counter(
            f"{one['severity'].replace('info', 'note')} {one['message'].partition('; ' + one['advice'])[0]}"
            for one in data["findings"]
        )
        (verdict,) = found.said(".verdict")
        assert verdict.endswith(f" in {data['launches']} launches ({data['files']} files)")
        quiet = sum(int(card.get("data-launches", "0")) for card in found.all("li.launch"))
        assert quiet + len(found.all("article.launch")) == data["launches"]

    def test_impacts_from_the_worst(self) -> None:
        found = page(documented(), finding(documented().span, launch=None, severity="warning"))
        first, second = found.all("table")
        assert [found.said(name, first) for name in ("caption", "th", "td")] == [
            ["What is found"],
            ["The launch", "Launches", "Errors", "Warnings", "Notes", "answers wrongly"],
            ["1", "1", "1", "0"],
        ]
        assert [found.said(name, second) for name in ("caption", "th", "td")] == [
            ["Engines"],
            ["Engine", "Launches", "With findings", "Errors", "Warnings", "Notes", "vLLM"],
            ["1", "1", "1", "0", "0"],
        ]

    def test_every_impact_has_its_words(self) -> None:
        assert set(DOES) == set(IMPACTS)

    @pytest.mark.parametrize(
        ("known", "unchanged", "said"),
        [
            (1, 0, "1 known finding (baseline) is left out"),
            (0, 2, "2 findings in unchanged code are left out"),
            (1200, 1, "1,200 known findings (baseline) and 1 finding in unchanged code are left out"),
        ],
    )
    def test_what_is_left_out(self, known: int, unchanged: int, said: str) -> None:
        narrowed = report(documented())
        narrowed.known, narrowed.unchanged = known, unchanged
        found = Page(render(narrowed))
        (text,) = found.said("p.meta", found.one("header"))
        assert text == f"{said}; a launch that has no other is listed as one without a finding."

    @pytest.mark.parametrize(
        ("files", "errors", "said"),
        [
            (1, [], "No launch found in 1 file"),
            (3, [Problem("a", "x"), Problem("a", "y")], "No launch found in 3 files; 1 file could not be read"),
        ],
    )
    def test_nothing(self, files: int, errors: list[Problem], said: str) -> None:
        empty = report(files=files)
        empty.errors = errors
        found = Page(render(empty))
        assert found.said(".verdict") == [said]
        assert not found.all("form")
        assert not found.all(".skip")

    def test_files_that_could_not_be_read_come_first(self) -> None:
        found = Page(render(mixed()))
        first = found.all("section")[0]
        assert found.said("h2", first) == ["1 file could not be read"]
        assert found.said("li", first) == [
            "a b:c.yml:4:7 not valid YAML: \\x1b 100%",
            "a b:c.yml:1:1 not valid YAML: \\x1b 100%",
        ]

    def test_with_many_findings_only_errors_are_open(self) -> None:
        _, spans = marked("run.sh", "⟦a⟧\n" * 50)
        found = page(*[finding(span, severity="warning" if at else "error", launch=None) for at, span in enumerate(spans)])
        opened = [found.one("details", one).get("open") is not None for one in found.all(".finding")]
        assert opened == [True, *[False] * 49]


HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)><!--&amp;\x1b[31m\u202eevil\u2066\x00\ud800"
"""What a file may say to get out of where it is shown."""


class TestHostileFiles:
    def page(self) -> Page:
        _, (span, other) = marked(f"a{HOSTILE}.sh", f"vllm serve ⟦{HOSTILE}⟧ ⟦b⟧\n")
        fix = Fix(HOSTILE, False, [Edit(other, HOSTILE)], note=HOSTILE)
        texts = {
            "message": HOSTILE,
            "advice": HOSTILE,
            "label": HOSTILE,
            "rule": "policy/\"'><img src=x>",
            "evidence": [HOSTILE],
        }
        one = finding(span, (other, HOSTILE), launch=HOSTILE, fix=fix, **texts)  # type: ignore[arg-type]
        link = finding(other, launch=None, evidence=[f"https://a.b/{HOSTILE.replace(' ', '')} ({HOSTILE})"])
        both = report(one, link)
        both.errors = [Problem(HOSTILE, HOSTILE)]
        return Page(render(both))

    def test_nothing_becomes_markup(self) -> None:
        found = self.page()
        assert len(found.all("script")) == len(found.all("style")) == 1
        assert not found.all("img")
        assert not [name for element in found.root.iter() for name in element.keys() if name.startswith("on")]  # noqa: SIM118
        assert "<img src=x onerror=alert(1)>" in found.said("h5")[0]

    def test_nothing_is_written_that_is_not_seen(self) -> None:
        text = self.page().text
        assert all(char.isprintable() or char == "\n" for char in text)
        text.encode()

    def test_links_lead_where_they_say(self) -> None:
        for link in self.page().all("a"):
            address = link.get("href")
            assert address is None or address.startswith(("#", "https://a.b/"))


class TestOnItsOwn:
    def test_it_loads_nothing(self) -> None:
        found = Page(render(mixed()))
        loaded = [element.get(name) for element in found.root.iter() for name in ("src", "srcset", "data") if element.get(name)]
        assert loaded == []
        assert [link.get("href") for link in found.all("link")] == ["data:,"]
        assert "url(" not in found.text
        assert "@import" not in found.text

    def test_its_policy_allows_its_own_style_and_script_only(self) -> None:
        found = Page(render(mixed()))
        policy = next(meta.get("content") or "" for meta in found.all("meta") if meta.get("http-equiv"))
        said = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert said["default-src"] == "'none'"
        for name in ("style", "script"):
            text = found.one(name).text or ""
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert said[f"{name}-src"] == f"'sha256-{digest}'"

    def test_it_says_who_made_it_and_not_when(self) -> None:
        found = Page(render(mixed()))
        assert found.said("footer") == [f"Made by servelint {__version__} with {data_line()}."]
        assert render(mixed()) == found.text

    def test_filters_are_hidden_until_the_script_runs(self) -> None:
        form = Page(render(mixed())).one("form")
        assert form.get("hidden") is not None

    def test_every_control_has_a_name(self) -> None:
        found = Page(render(mixed()))
        labelled = {label.get("for") for label in found.all("label")}
        inside = {id(control) for label in found.all("label") for control in label.iter("input")}
        assert all(id(control) in inside or control.get("id") in labelled for control in found.all("input"))
        assert all(said(button) for button in found.all("button"))


class TestWhereAndWhen:
    """The head of the page, and links that open a file."""

    ENVIRON: ClassVar[dict[str, str]] = {"SOURCE_DATE_EPOCH": "1700000000"}
    GITHUB: ClassVar[dict[str, str]] = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "acme/deploy",
        "GITHUB_SHA": "0123456789abcdef0123456789abcdef01234567",
    }

    def test_the_head(self) -> None:
        origin = Origin(["deploy"], {**self.ENVIRON, **self.GITHUB})
        found = Page(html.page(mixed(), origin=origin))
        rows = dict(zip(found.said("dt", found.one("header")), found.said("dd", found.one("header")), strict=True))
        assert rows["Checked"] == "deploy"
        assert rows["Commit"] == "0123456789ab"
        assert rows["Date"] == "2023-11-14 22:13 UTC"
        assert rows["servelint"] == __version__

    def test_a_place_opens_in_the_editor(self, workspace: Workspace) -> None:
        span = Span(Source("a b#.sh", "vllm serve m\n"), 11, 12)
        opened = Origin(["."], self.ENVIRON).opens(span)
        assert opened == f"vscode://file/{quote(os.path.abspath('a b#.sh').lstrip('/'))}:1:12"

    def test_a_place_opens_in_the_repository_that_ci_names(self, workspace: Workspace) -> None:
        span = Span(Source("a b.sh", "vllm serve m\n"), 11, 12)
        github = {**self.GITHUB, "GITHUB_WORKSPACE": os.getcwd()}
        assert Origin(["."], github).opens(span) == (
            "https://github.com/acme/deploy/blob/0123456789abcdef0123456789abcdef01234567/a%20b.sh#L1"
        )
        gitlab = {"CI_PROJECT_URL": "https://gitlab.com/acme/x", "CI_COMMIT_SHA": "abc", "CI_PROJECT_DIR": os.getcwd()}
        assert Origin(["."], gitlab).opens(span) == "https://gitlab.com/acme/x/-/blob/abc/a%20b.sh#L1"
        outside = Span(Source(os.path.join(os.path.dirname(os.getcwd()), "c.sh"), "x\n"), 0, 1)
        assert Origin(["."], github).opens(outside).startswith("vscode://file/")

    def test_errors_come_first(self) -> None:
        _, (first,) = marked("a.sh", "vllm serve ⟦a⟧\n")
        _, (second, third) = marked("b.sh", "vllm serve ⟦b⟧ ⟦c⟧\n")
        found = page(finding(first, severity="info"), finding(second, severity="warning"), finding(third, severity="error"))
        assert [one.get("data-path") for one in found.all(".file")] == ["b.sh", "a.sh"]
        assert [one.get("data-severity") for one in found.all(".finding")] == ["error", "warning", "info"]


def test_no_secret_is_written() -> None:
    assert SECRET not in render(mixed())


def test_a_secret_of_a_launch_without_findings(workspace: Workspace) -> None:
    """Its sources are masked for findings only."""
    workspace.file("run.sh", f"vllm serve https://user:{SECRET}@host/m --api-key {SECRET}\n")
    out = workspace.run("check", "--format", "html", "--select", RANGE).out
    assert "https://user:sk-***@host/m" in out
    assert SECRET not in out


def test_a_secret_in_a_line_that_a_fix_changes() -> None:
    source, (_, swap) = marked("run.sh", f"vllm serve m --api-key ⟦{SECRET}⟧ ⟦--swap-space 4⟧\n")
    source.redactions = Redactions((SECRET,))
    found = page(finding(swap, fix=Fix("delete it", True, [Edit(swap, "")])))
    assert SECRET not in found.text
    assert found.said("ins") == ["vllm serve m --api-key sk-***"]
    assert "sk-0" not in render_json(report(finding(swap)))
