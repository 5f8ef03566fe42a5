"""The memory bars of the HTML page, read by a strict parser."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from servelint import memory, parallel
from servelint.core.launch import Variable
from servelint.core.settings import Settings
from servelint.core.text import TracedText
from servelint.lint import check, check_in_parallel
from servelint.memory.plan import VERDICTS, MemoryPlan
from servelint.report.formats.html import cards
from servelint.report.formats.html import page as render
from servelint.report.formats.html.cards import MEMORY, shapes
from servelint.report.memory import Plans
from tests.findings import documented, finding, report
from tests.launching import marked
from tests.report.kinds import SECRET
from tests.report.page import Page, said
from tests.report.plans import plan
from tests.running import Workspace

SERVE = "vllm serve Qwen/Qwen3-8B --max-model-len 32768\n"
ON = ("--gpu", "h100", "--engine-version", "vllm=0.19.1", "--engine-version", "sglang=0.5.9")


def page(found: MemoryPlan | None) -> Page:
    return Page(render(report(documented()), plans=lambda _: found))


def checked(workspace: Workspace, text: str, *options: str) -> Page:
    workspace.file("run.sh", text)
    return Page(workspace.run("check", "run.sh", "--format", "html", *options).out)


def drawn(found: Page) -> list[tuple[str | None, str | None]]:
    """Where each part of the bar starts, and how wide it is."""
    return [(rect.get("x"), rect.get("width")) for rect in found.all("rect", found.one("svg.bar"))]


class TestTheBar:
    def test_parts_stand_side_by_side_with_the_engine_s_share_first(self) -> None:
        assert drawn(page(plan())) == [("0.00%", "30.00%"), ("30.00%", "60.00%"), ("90.00%", "1.00%")]

    def test_its_parts_are_told_apart_without_colours(self) -> None:
        found = page(plan(draft_weights=5.0, activations=5.0, states=5.0, cuda_graphs=5.0))
        fills = [rect.get("fill") or rect.get("class") for rect in found.all("rect", found.one("svg.bar"))]
        assert len(fills) == len(set(fills)) == 7
        patterns = {pattern.get("id") for pattern in found.all("pattern")}
        assert {fill[5:-1] for fill in fills if fill and fill.startswith("url(")} <= patterns
        assert found.said("text", found.one("svg.bar")) == ["weights", "kv cache"]  # where there is room

    def test_each_look_is_of_a_part_that_a_plan_has(self) -> None:
        folder = Path(memory.__file__).parent
        named = re.findall(r'Part\(\s*"([^"]+)"', "".join([one.read_text(encoding="utf-8") for one in folder.rglob("*.py")]))
        assert cards._LOOKS.keys() <= set(named)
        assert {pattern for _, pattern in cards._LOOKS.values()} == {"plain", *cards._SHAPES}

    def test_its_name_says_what_it_shows(self) -> None:
        bar = page(plan()).one("svg.bar")
        assert bar.get("role") == "img"
        assert bar.get("aria-label") == (
            "One h100 of 100.0 GiB: weights 30.0 GiB, kv cache 60.0 GiB, cuda context 1.0 GiB, free 9.0 GiB"
        )

    def test_more_than_there_is(self) -> None:
        found = page(plan("refused", weights=199.0))
        assert drawn(found) == [("0.00%", "99.50%"), ("99.50%", "0.50%")]
        assert [line.get("x1") for line in found.all("line.share")] == ["45.00%"]
        assert [line.get("x1") for line in found.all("line.end")] == ["50.00%"]
        assert (found.one("svg.bar").get("aria-label") or "").endswith("100.0 GiB more than there are")

    def test_the_line_of_the_engine_s_share(self) -> None:
        found = page(plan())
        assert [line.get("x1") for line in found.all("line.share")] == ["90.00%"]
        assert found.all("line.end") == []

    def test_the_policy_allows_it(self) -> None:
        assert [element for element in page(plan()).root.iter() if element.get("style")] == []


class TestWhatItSays:
    @pytest.mark.parametrize(
        ("verdict", "said_of_it"),
        [
            ("fits", "Memory: fits KV cache of 402,000 tokens, 12.3 requests of 32,768 tokens at once"),
            ("tight", "Memory: tight: it may not start KV cache of 402,000 tokens, 12.3 requests of 32,768 tokens at once"),
            ("refused", "Memory: does not start"),
        ],
    )
    def test_the_verdict_in_words(self, verdict: str, said_of_it: str) -> None:
        found = page(plan(verdict))
        assert said(found.all("p", found.one(".memory"))[0]) == said_of_it

    def test_one_that_may_end_later(self) -> None:
        found = page(plan("oom-risk"))
        assert found.said("span.badge", found.one(".memory")) == ["may run out of memory after its own check"]

    def test_every_verdict_that_is_shown_has_its_words(self) -> None:
        assert set(MEMORY) == set(VERDICTS) - {"unknown"}

    def test_what_would_start(self) -> None:
        refused = plan("refused")
        refused.largest_context = 8_000
        found = page(refused)
        told = "Memory: does not start the longest context that would start is about 8,000 tokens"
        assert said(found.all("p", found.one(".memory"))[0]) == told
        assert "102.0 GiB more than the GPU has" in " ".join(page(plan("refused", weights=201.0)).said("p"))

    def test_the_parts_behind_a_click(self) -> None:
        found = page(plan())
        table = found.one("table", found.one(".memory"))
        assert found.said("caption", table) == [
            "One h100 under vLLM 0.19.1: 100.00 GiB; the engine's share, the dashed line: 90.00 GiB"
        ]
        assert [found.said("td", row) for row in found.all("tr", table)[1:]] == [
            ["30.00 (29.50 to 31.00)", "the file of it"],
            ["60.00", "what is left"],
            ["1.00 (0.50 to 2.00)", "the file of it (outside the engine's share)"],
        ]
        assert [(row.get("scope"), said(row)) for row in found.all("th", table)[3:]] == [
            ("row", "weights"),
            ("row", "kv cache"),
            ("row", "cuda context"),
        ]
        assert found.one("details", found.one(".memory")).get("open") is None

    def test_what_the_engine_would_say_and_notes(self) -> None:
        refused = plan("refused")
        refused.refusal, refused.need_gib = "ValueError: <none>", 4.5
        refused.notes = ["no release is named"]
        found = page(refused)
        notes = found.said("p", found.one("details", found.one(".memory")))
        assert notes == [
            "It says: ValueError: <none>",
            "One request of 32,768 tokens needs 4.50 GiB of the KV cache.",
            "Note: no release is named",
        ]

    def test_no_secret_is_written(self) -> None:
        _, (span,) = marked("run.sh", "vllm serve ⟦m⟧\n")
        one = finding(span)
        assert one.launch is not None
        one.launch.env = {"HF_TOKEN": Variable("HF_TOKEN", TracedText.of(SECRET), None)}
        leaking = plan()
        leaking.parts[0].origin = f"https://user:{SECRET}@host/m"
        text = render(report(one), plans=lambda _: leaking)
        assert "https://user:sk-" in text
        assert SECRET not in text


class TestWhenItIsThere:
    def test_without_a_plan_there_is_nothing_of_it(self) -> None:
        text = render(report(documented()))
        assert 'class="memory' not in text
        assert "<pattern" not in text
        assert shapes() in render(report(documented()), plans=lambda _: plan())

    def test_where_a_gpu_is_named(self, workspace: Workspace) -> None:
        found = checked(workspace, SERVE + "sglang serve --model-path Qwen/Qwen3-8B\n", *ON)
        told = [one for one in found.said("p") if one.startswith("Memory:")]
        assert [one.partition(" of ")[0] for one in told] == ["Memory: fits KV cache"] * 2
        assert [(bar.get("aria-label") or "")[:10] for bar in found.all("svg.bar")] == ["One h100 o"] * 2

    def test_where_a_comment_names_it(self, workspace: Workspace) -> None:
        found = checked(workspace, SERVE.rstrip() + " # servelint: gpu=l40s\n" + SERVE, *ON[2:])
        (bar,) = found.all("svg.bar")
        assert (bar.get("aria-label") or "").startswith("One l40s of 44.")
        assert "l40s" in found.said("dd")

    @pytest.mark.parametrize(
        "text",
        [
            "vllm serve someone/never-heard-of",
            "vllm serve $MODEL",
            'vllm serve Qwen/Qwen3-8B "$@"',
            'sglang serve --model-path Qwen/Qwen3-8B "$@"',
            "vllm serve Qwen/Qwen3-8B --max-model-len $LENGTH",
            "llama-server -m model.gguf",
        ],
    )
    def test_not_where_something_is_not_known(self, text: str, workspace: Workspace) -> None:
        assert checked(workspace, text + "\n", *ON).all(".memory") == []

    def test_not_where_nobody_names_a_gpu(self, workspace: Workspace) -> None:
        assert checked(workspace, SERVE, "--engine-version", "vllm=0.19.1").all(".memory") == []

    def test_what_is_alike_is_planned_once(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(3):
            workspace.file(
                f"{number}.yml", f"services: {{llm: {{image: 'vllm/vllm-openai:v0.19.1', command: {SERVE[10:-1]}}}}}\n"
            )
        made: list[object] = []
        monkeypatch.setattr(memory, "plan_over", lambda found: made.append(found) or plan())  # type: ignore[func-returns-value]
        asked = Settings(gpu="h100")
        plans = Plans(asked)
        found = [plans(launch) for launch in check(["."], asked).launches]
        assert (len(found), len(made)) == (3, 1)
        assert found[0] is found[1] is found[2]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
    def test_the_page_is_the_same_from_several_processes(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parallel, "processes", lambda files: 2)
        for number in range(8):
            workspace.file(f"{number}.sh", f"vllm serve Qwen/Qwen3-8B --max-model-len {8192 + number} # servelint: gpu=h100\n")
        asked = Settings(engine_versions={"vllm": "0.19.1"})
        one, several = check(["."], asked), check_in_parallel(["."], asked, words=True)
        text = render(several, plans=Plans(asked))
        assert len(re.findall('class="bar"', text)) == 8
        assert text == render(one, plans=Plans(asked))

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
    def test_options_that_stand_in_a_file(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        """What --config names, and the config.json of a folder that is mounted, in one process as in several."""
        monkeypatch.setattr(parallel, "processes", lambda files: 2)
        for number in range(4):
            workspace.file(f"{number}.yaml", f"model: Qwen/Qwen3-8B\nmax-model-len: {8192 + number}\nkv-cache-dtype: fp8\n")
            workspace.file(f"{number}.sh", f"vllm serve --config ./{number}.yaml # servelint: gpu=h100\n")
        asked = Settings(engine_versions={"vllm": "0.19.1"})
        one, several = check(["."], asked), check_in_parallel(["."], asked, words=True)
        text = render(several, plans=Plans(asked))
        found = Page(text)
        assert len(found.all("svg.bar")) == 4
        assert "8,193 tokens" in text
        assert text.count("<code>Qwen/Qwen3-8B</code>") >= 4
        assert text == render(one, plans=Plans(asked))

    def test_a_file_that_is_not_here_leaves_all_unknown(self, workspace: Workspace) -> None:
        options = ("--gpu", "h100", "--engine-version", "vllm=0.19.1")
        assert checked(workspace, "vllm serve Qwen/Qwen3-8B --config ./gone.yaml\n", *options).all("svg.bar") == []

    def test_launches_that_differ_in_their_files_alone_are_planned_apart(self, workspace: Workspace) -> None:
        for number in (1, 2):
            workspace.file(f"{number}/serve.yaml", f"max-model-len: {4096 * number}\n")
            workspace.file(f"{number}/run.sh", "vllm serve Qwen/Qwen3-8B --config ./serve.yaml # servelint: gpu=h100\n")
        asked = Settings(engine_versions={"vllm": "0.19.1"})
        plans = Plans(asked)
        found = [plans(launch) for launch in check(["."], asked).launches]
        assert sorted(one.max_model_len for one in found if one is not None and one.max_model_len) == [4096, 8192]
