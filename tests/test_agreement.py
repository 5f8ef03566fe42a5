"""One launch, one answer: check, memory, upgrade, the editor and the page agree, whatever launch, release and GPU."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import servelint
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.judge import start
from servelint.judge.checks import memory as checks
from servelint.judge.judging import judge
from servelint.readers.discover import files, read_file
from servelint.rule_examples import example_text, unmarked
from tests.agreement import disagreements, launches
from tests.book import each_rule
from tests.running import Workspace

ROOT = Path(__file__).parents[1]
GPUS = ("rtx-4090", "h100-80gb", "gb10")
NOWHERE = Neighbours(None)

VLLM = (
    ("Qwen/Qwen3-8B", "Qwen/Qwen3-32B", "Qwen/Qwen3.6-27B-FP8", "openai/gpt-oss-120b", "some/unknown-model"),
    ("", "--max-model-len 8192", "--max-model-len 81920", "--max-model-len 10000000", "--max-model-len $LENGTH"),
    ("", "--gpu-memory-utilization 0.3", "--gpu-memory-utilization 0.99", "--gpu-memory-utilization 1.5"),
    (
        "",
        "--kv-cache-dtype fp8",
        "--quantization awq_marlinn",
        "--num-gpu-blocks-override 90000",
        "--kv-cache-memory-bytes 90G",
    ),
    ("", "--tensor-parallel-size 2", "--enforce-eager", "$MORE", "--swap-space 4"),
    ("", """--speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'"""),
)
SGLANG = (
    ("Qwen/Qwen3-8B", "Qwen/Qwen3-32B", "Qwen/Qwen3.6-27B-FP8", "deepseek-ai/DeepSeek-R1", "$MODEL"),
    ("", "--context-length 8192", "--context-length 81920", "--context-length $LENGTH"),
    ("", "--mem-fraction-static 0.3", "--mem-fraction-static 0.97", "--mem-fraction-static 1.5"),
    ("", "--kv-cache-dtype fp8_e4m3", "--quantization fp7", "--cuda-graph-max-bs 2048"),
    ("", "--tp-size 2", "$MORE", "--no-such-option"),
    ("", "--speculative-algorithm NEXTN"),
)


def generated(seed: int, count: int) -> list[tuple[str, str | None]]:
    """Launches and the release that each runs on: some of all combinations of options."""
    chosen = random.Random(seed)
    every = [("vllm serve ", words) for words in itertools.product(*VLLM)]
    every += [("sglang serve --model-path ", words) for words in itertools.product(*SGLANG)]
    releases = {"vllm": ("0.10.2", "0.19.1", "0.28.0", "0.33.0", None), "sglang": ("0.4.9", "0.5.9", "0.5.15", "0.5.23", None)}
    return [
        (verb + " ".join(filter(None, words)), chosen.choice(releases[verb.split()[0]]))
        for verb, words in chosen.sample(every, count)
    ]


def asked(text: str, release: str | None, gpu: str, count: int | None = None) -> Settings:
    """Settings with a GPU, and a release for the engine of a launch."""
    engine = "vllm" if text.startswith("vllm") else "sglang"
    return Settings(gpu=gpu, gpu_count=count, engine_versions={engine: release} if release is not None else {})


def examples() -> Iterator[tuple[str, Source, Settings]]:
    """Some examples of the rule book: more of those that name a GPU, and the others on one."""
    number = 0
    for rule in each_rule():
        if rule["engine"] not in ("vllm", "sglang"):
            continue
        for example in (*rule["examples"]["bad"], *rule["examples"]["good"]):
            number += 1
            if number % (40 if "gpu" in example else 200) == 0:
                versions = {rule["engine"]: str(example["version"])} if "version" in example else {}
                gpu = example.get("gpu") or GPUS[number % len(GPUS)]
                settings = Settings(gpu=gpu, gpu_count=example.get("gpus"), engine_versions=versions)
                yield rule["id"], unmarked(*example_text(example))[0], settings


@pytest.mark.parametrize("gpu", GPUS)
def test_generated_launches(gpu: str) -> None:
    verdicts: Counter[str] = Counter()
    for text, release in generated(22, 24):
        settings = asked(text, release, gpu)
        for launch in launches(Source("run.sh", text + "\n"), settings, NOWHERE):
            assert disagreements(launch, settings) == [], (text, release)
            verdicts[start.start_plan(launch, settings)[0].verdict] += 1
    assert min(verdicts["refused"], verdicts["unknown"]) > 0


def test_examples_of_the_rule_book() -> None:
    count = 0
    for name, source, settings in examples():
        for launch in launches(source, settings, NOWHERE):
            assert disagreements(launch, settings) == [], (name, source.text)
            count += 1
    assert count > 25


def test_files_of_this_repository() -> None:
    count = 0
    for folder in ("examples", "tests"):
        for number, path in enumerate(files([str(ROOT / folder)], [])):
            source = read_file(path)
            if number % 4 or not isinstance(source, Source):
                continue
            settings = Settings(gpu=GPUS[number % len(GPUS)])
            for launch in launches(source, settings):
                assert disagreements(launch, settings) == [], (path, launch.line)
                count += 1
    assert count > 0


class TestThatItRings:
    """A face with a judgement of its own is noticed."""

    LONG = "vllm serve Qwen/Qwen3-8B --max-model-len 81920"

    def told(self, text: str, gpu: str = "h100-80gb") -> list[str]:
        settings = asked(text, "0.33.0", gpu)
        (launch,) = launches(Source("run.sh", text + "\n"), settings, NOWHERE)
        return disagreements(launch, settings)

    def test_memory_without_the_rules(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.told(self.LONG) == []
        monkeypatch.setattr(start, "judge_as_named", lambda launch, settings: [])
        assert any(one.startswith("memory: fits; check: ['vllm/model-len-above-model']") for one in self.told(self.LONG))

    def test_check_without_the_plan(self, monkeypatch: pytest.MonkeyPatch) -> None:
        text = "vllm serve Qwen/Qwen3-32B"
        assert self.told(text, "rtx-4090") == []
        monkeypatch.setattr(checks, "_verdict", lambda config, *verdicts: None)
        assert any("memory: refused; check: []" in one for one in self.told(text, "rtx-4090"))


class TestCommands:
    def test_a_context_beyond_the_model_is_refused_by_each(self, workspace: Workspace) -> None:
        where = ("--gpu", "h100-80gb", "--engine-version", "vllm=0.19.1")
        command = ("--command", TestThatItRings.LONG)
        checked = workspace.run("check", "--format", "json", *where, *command)
        planned = workspace.run("memory", "--format", "json", *where, *command)
        moved = workspace.run("upgrade", "--to", "vllm=0.19.1", "--format", "json", *where, *command)
        (plan,) = planned.data["plans"]
        assert [one["rule"] for one in checked.data["findings"] if one["severity"] == "error"] == ["vllm/model-len-above-model"]
        assert (plan["verdict"], [one["rule"] for one in plan["findings"]]) == ("refused", ["vllm/model-len-above-model"])
        assert moved.data["upgrades"][0]["memory"] == {"from": "refused", "to": "refused", "gpu": "h100-80gb"}
        assert (checked.status, planned.status) == (1, 1)
        assert "error[vllm/model-len-above-model]: " in workspace.run("memory", *where, *command).out

    @pytest.mark.parametrize("change", ["--what-if", "--solve"])
    def test_what_is_tried_is_judged_too(self, change: str, workspace: Workspace) -> None:
        more = () if change == "--what-if" else ("max-model-len",)
        command = ("--command", "vllm serve Qwen/Qwen3-8B --max-model-len 40960")
        ran = workspace.run("memory", "--gpu", "h100-80gb", "--engine-version", "vllm=0.33.0", change, *more, *command)
        if change == "--what-if":
            assert [line.split()[-1] for line in ran.out.splitlines() if "--max-model-len 81920" in line] == ["refused"]
        else:
            assert "  solved: --max-model-len 40960\n" in ran.out

    def test_a_gpu_that_the_launch_cannot_run_on_is_refused_in_the_table(self, workspace: Workspace) -> None:
        command = ("--command", "vllm serve Qwen/Qwen3-8B --max-model-len 81920")
        out = workspace.run("memory", "--engine-version", "vllm=0.33.0", *command).out
        assert {line.split()[-1] for line in out.splitlines() if " GiB  " in line} == {"refused"}

    def test_the_settings_that_upgrade_goes_by_are_those_of_check(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve Qwen/Qwen3-32B\n")
        workspace.file("servelint.toml", 'gpu = "rtx-4090"\n[engine-versions]\nvllm = "0.19.1"\n')
        ran = workspace.run("upgrade", "--to", "vllm=0.33.0", "--format", "json", "run.sh")
        (one,) = ran.data["upgrades"]
        assert [finding["rule"] for finding in one["stays"]] == ["vllm/memory-does-not-start"]
        assert one["memory"]["to"] == "refused"

    def test_a_rule_that_is_ignored_stops_no_start(self, workspace: Workspace) -> None:
        workspace.file("servelint.toml", 'ignore = ["vllm/model-len-above-model"]\ngpu = "h100-80gb"\n')
        workspace.file("run.sh", TestThatItRings.LONG + "\n")
        (plan,) = workspace.run("memory", "--format", "json", "--engine-version", "vllm=0.33.0", "run.sh").data["plans"]
        assert plan["verdict"] == "fits"


@pytest.mark.parametrize("words", ["$MORE", "${BIG:+--max-model-len 90000}"])
def test_words_that_are_not_resolved_refuse_nothing_for_certain(words: str) -> None:
    text = f"vllm serve Qwen/Qwen3-32B {words}"
    settings = asked(text, "0.33.0", "rtx-4090")
    (launch,) = launches(Source("run.sh", text + "\n"), settings, NOWHERE)
    assert start.start_plan(launch, settings)[0].verdict in ("unknown", "tight")
    assert disagreements(launch, settings) == []


def test_weights_beyond_the_gpu_are_an_error_without_a_release_too() -> None:
    text = "vllm serve Qwen/Qwen3-32B"
    settings = asked(text, None, "rtx-4090")
    (launch,) = launches(Source("run.sh", text + "\n"), settings, NOWHERE)
    (finding,) = [one for one in judge(launch, settings) if one.rule == "vllm/memory-does-not-start"]
    assert finding.severity == "error"
    assert "(planned for 0.1" in finding.message


def test_the_verb_of_a_planned_command_counts() -> None:
    """SGLang takes a positional model behind `sglang serve` from 0.5.16, and never behind its module."""
    words = ["Qwen/Qwen3-8B", "--context-length", "8192"]
    for verb, release, verdict in (
        (["sglang", "serve"], "0.5.23", "fits"),
        (["sglang", "serve"], "0.5.15", "refused"),
        (["python", "-m", "sglang.launch_server"], "0.5.23", "refused"),
    ):
        assert servelint.plan_memory("sglang", [*verb, *words], version=release, gpu="h100").verdict == verdict
