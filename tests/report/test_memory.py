"""Memory plans as a person reads them, and as data for programs."""

from __future__ import annotations

import pytest

from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.memory.plan import Interval, MemoryPlan, Part
from servelint.memory.variants import WhatIf
from servelint.report.memory import Plans, content, interval_text, plan_data, plan_text, table_text, what_if_data, with_hint
from tests.launching import launch_in
from tests.report.plans import plan


def finding() -> Finding:
    return Finding(
        rule="vllm/too-large", severity="error", confidence="high", impact="crash-at-load", message="it is large",
        advice="shrink it", span=Span(Source("a.sh", "x"), 0, 1),
    )  # fmt: skip


def test_a_plan_for_a_person() -> None:
    made = plan()
    made.need_gib, made.notes, made.missing = 4.5, ["a note"], ["--x"]
    made.sequences, made.state_pool = 1024, Interval(90.0, 100.0, 120.0)
    made.findings.append(finding())
    made.refusal = "no available memory"
    assert plan_text(made).splitlines() == [
        "  fits: org/model, vLLM 0.19.1 on h100",
        f"  [{'█' * 18}▓{'▒' * 36}{'·' * 5}] 100.00 GiB",
        "  █ weights                 30.00 (29.50 to 31.00) GiB  the file of it",
        "  ▓ cuda context               1.00 (0.50 to 2.00) GiB  the file of it (outside the engine's share)",
        "  ▒ kv cache                                 60.00 GiB  what is left",
        "  one request of 32,768 tokens needs 4.50 GiB of the KV cache",
        "  KV cache: 402,000 tokens as the engine prints it, 12.27 such requests at once",
        "  states: a pool for 100 (90 to 120) sequences, and 1,024 are allowed at once",
        "  it says: no available memory",
        "  error[vllm/too-large]: it is large; shrink it",
        "  not known: --x",
        "  note: a note",
    ]


@pytest.mark.parametrize(
    ("verdict", "largest", "shown"),
    [("fits", 1000, False), ("short", 1000, True), ("short", 32_768, False), ("short", 0, False)],
)
def test_the_longest_context_that_would_start(verdict: str, largest: int, shown: bool) -> None:
    made = plan(verdict)
    made.largest_context = largest
    assert ("  the longest context that would start: about 1,000 tokens" in plan_text(made).splitlines()) is shown


def test_a_plan_of_which_little_is_known() -> None:
    bare = MemoryPlan("vllm", None, None, None, 1)
    bare.verdict = "unknown"
    assert plan_text(bare) == "  unknown: a model that is not known, vLLM"
    several = MemoryPlan("sglang", "0.5.0", "m", "l40s", 4)
    several.verdict = "fits"
    assert plan_text(several) == "  fits: m, SGLang 0.5.0 on 4 x l40s"
    pool = plan()
    pool.sequences, pool.state_pool = 8, Interval.exact(16)
    assert "  states: a pool for 16 sequences, and 8 are allowed at once" in plan_text(pool)


def test_a_bar_shows_every_part_and_is_no_longer_than_the_gpu() -> None:
    made = plan(small=0.01)
    made.parts.append(Part("nothing", Interval.exact(0), "none"))
    bar = plan_text(made).splitlines()[1]
    assert bar.count("▒") == 1  # a part of a hundredth of a GiB
    assert bar.count("▚") == 0
    made.parts = [Part(str(number), Interval.exact(20), "x") for number in range(9)]
    bar, *rows = plan_text(made).splitlines()[1:11]
    assert len(bar) == len("  [] 100.00 GiB") + 60
    assert [row[2] for row in rows] == [*"█▓▒░▚▞◆◇█"]


def test_an_interval() -> None:
    assert interval_text(Interval.exact(5)) == "5.00"
    assert interval_text(Interval(4.111, 5.984, 6.649)) == "5.98 (4.11 to 6.65)"


def test_a_table_of_what_ifs() -> None:
    other = plan("short")
    other.kv_gib = other.kv_tokens = other.max_concurrency = None
    assert table_text(plan(), [WhatIf("--tensor-parallel-size 2", other)]).splitlines() == [
        "  what if                   KV GiB   tokens  requests  verdict",
        "  as it is                   60.00  402,000     12.27  fits",
        "  --tensor-parallel-size 2       -        -         -  short",
    ]


def test_plans_as_data() -> None:
    made = plan()
    made.releases, made.need_gib, made.largest_context, made.weights_gib = ["0.19.0", "0.19.1"], 4.5, 9000, 30.0
    made.sequences, made.state_pool, made.refusal = 8, Interval(1.0, 2.0, 3.0), "no"
    made.notes, made.missing = ["a note"], ["--x"]
    made.findings.append(finding())
    exact = {"low": 60.0, "mid": 60.0, "high": 60.0}
    cache = {"kv_gib": exact, "kv_tokens": 402_000, "max_concurrency": 12.268}
    assert plan_data(made) == {
        "engine": "vllm", "version": "0.19.1", "versions": ["0.19.0", "0.19.1"], "model": "org/model", "gpu": "h100",
        "gpu_count": 1, "gpu_gib": 100.0, "budget_gib": 90.0, "weights_gib": 30.0, **cache, "sequences": 8,
        "state_pool": {"low": 1.0, "mid": 2.0, "high": 3.0}, "max_model_len": 32_768, "need_gib": 4.5, "largest_context": 9000,
        "verdict": "fits", "refusal": "no", "notes": ["a note"], "missing": ["--x"],
        "parts": [
            {"name": "weights", "gib": {"low": 29.5, "mid": 30.0, "high": 31.0}, "origin": "the file of it", "inside": True},
            {"name": "cuda context", "gib": {"low": 0.5, "mid": 1.0, "high": 2.0}, "origin": "the file of it", "inside": False},
            {"name": "kv cache", "gib": exact, "origin": "what is left", "inside": True},
        ],
        "findings": [
            {"rule": "vllm/too-large", "severity": "error", "message": "it is large", "advice": "shrink it"},
        ],
    }  # fmt: skip
    assert what_if_data(WhatIf("-tp 2", made)) == {"change": "-tp 2", **cache, "verdict": "fits"}
    made.kv_gib = None
    assert what_if_data(WhatIf("-tp 2", made))["kv_gib"] is None


class Everywhere:
    """The same settings for every path."""

    def of(self, path: str) -> Settings:
        del path
        return Settings(engine_versions={"vllm": "0.19.1"})


GPU = "vllm serve Qwen/Qwen3-8B  # servelint: gpu={}\n"


def test_only_a_launch_whose_gpu_and_model_are_known_has_a_plan() -> None:
    plans = Plans(Everywhere())  # type: ignore[arg-type]
    found = plans(launch_in(GPU.format("h100"), "a.sh"))
    assert found is not None
    assert (found.gpu, found.model, found.release) == ("h100", "Qwen/Qwen3-8B", "0.19.1")
    assert plans(launch_in("\n\n" + GPU.format("h100"), "b.sh")) is found  # an equal launch is planned once
    for text in (
        "vllm serve Qwen/Qwen3-8B\n",
        GPU.format("h100").replace("Qwen/Qwen3-8B", "house/none"),
        GPU.format("h100").replace("8B ", "8B --kv-cache-dtype $D --max-model-len $N"),
        "lmdeploy serve api_server Qwen/Qwen3-8B  # servelint: gpu=h100\n",
    ):
        assert plans(launch_in(text, "a.sh")) is None, text


def test_what_a_plan_depends_on() -> None:
    def of(text: str, release: str | None = None) -> object:
        return content(launch_in(text, "a.sh"), release)

    same = of("A=1 vllm serve m --port $P\n")
    assert same == of("\nA='1' vllm serve m   --port $P\n")
    for other in ("A=2 vllm serve m --port $P\n", "vllm serve m --port $P\n", "A=1 vllm serve m --port 1\n"):
        assert same != of(other)
    assert same != of("A=1 vllm serve m --port $P\n", "0.19.1")


def test_the_option_that_names_a_release() -> None:
    assert with_hint("a note", launch_in("vllm serve m\n", "a.sh")) == "a note; say --engine-version vllm=..."
    rolling = launch_in("services: {a: {image: 'vllm/vllm-openai:latest', command: [--model, m]}}\n")
    assert with_hint("a note", rolling) == "a note"
