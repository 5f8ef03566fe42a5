"""`servelint advise`: whether to speculate, and measurements of one's own."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import Any

import pytest

from tests.memory.planning import SMALL
from tests.running import Workspace

ASKED = ("--model", "Qwen/Qwen3.6-27B-FP8", "--gpu", "h100", "--use-case", "single-user")


def test_text(workspace: Workspace) -> None:
    ran = workspace.run("advise", *ASKED, "--release", "0.33.0")
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[:3] == [
        "Qwen/Qwen3.6-27B-FP8, vLLM 0.33.0 on h100",
        "  load: one request at a time: 1 at a time, 512 tokens in, 512 out",
        "  speculate: yes, mtp, 3 tokens (low-latency)",
    ]
    assert any(
        re.match(r"  why: 3 draft tokens give \d\.\d\d times the tokens a second with 1 request at a time, ", line)
        for line in lines
    )
    assert any(re.fullmatch(r" {6}1  .*●.*  \d\.\d\d \(\d\.\d\d to \d\.\d\d\)", line) for line in lines)
    assert any(line.startswith("  vllm serve Qwen/Qwen3.6-27B-FP8 ") for line in lines)


@pytest.mark.parametrize(
    ("engine", "name"), [("trtllm", "TensorRT-LLM"), ("lmdeploy", "LMDeploy"), ("ollama", "Ollama"), ("tgi", "TGI")]
)
def test_an_engine_that_is_not_measured(workspace: Workspace, engine: str, name: str) -> None:
    ran = workspace.run("advise", *ASKED, "--engine", engine)
    says = f"servelint knows no measurements of speculative decoding in {name}: advice is for vllm, sglang, llama.cpp"
    assert (ran.status, ran.err) == (2, f"servelint advise: error: --engine: {says}\n")


def test_json(workspace: Workspace) -> None:
    data = workspace.run("advise", *ASKED, "--format", "json", "--acceptance", "0.8").data
    assert (data["enable"], data["method"], data["num_speculative_tokens"], data["profile"]) == (True, "mtp", 3, "low-latency")
    assert data["expected_gain"]["low"] < data["expected_gain"]["mid"] < data["expected_gain"]["high"]
    assert data["load"]["concurrency"] == 1
    assert data["command"]["argv"][0] == "Qwen/Qwen3.6-27B-FP8"
    assert [point["concurrency"] for point in data["crossover"]["points"]][:3] == [1, 2, 3]
    assert data["memory"]["on"]["kv_tokens"] < data["memory"]["off"]["kv_tokens"]


def test_a_picture(workspace: Workspace) -> None:
    ran = workspace.run("advise", *ASKED, "--format", "svg", "--output", "gain.svg")
    assert (ran.status, ran.out) == (0, "")
    root = Xml.fromstring(Path("gain.svg").read_text(encoding="utf-8"))
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert names.count("polygon") == names.count("polyline") == 1
    (title,) = root.findall("{http://www.w3.org/2000/svg}title")
    assert title.text == "Qwen/Qwen3.6-27B-FP8, h100: 3 draft tokens"


def test_a_name_cannot_leave_the_picture(workspace: Workspace) -> None:
    workspace.file("<script>/config.json", json.dumps(SMALL))
    ran = workspace.run("advise", "--model", "<script>", "--gpu", "h100", "--tokens", "1", "--format", "svg")
    assert ran.status == 0
    assert "<script" not in ran.out
    Xml.fromstring(ran.out)


def test_nothing_to_draw(workspace: Workspace) -> None:
    ran = workspace.run("advise", "--model", "nobody/nothing", "--format", "svg")
    assert (ran.status, ran.err) == (
        2,
        "servelint advise: error: nobody/nothing is not a known model: there is no curve to draw\n",
    )


def result(speed: float, accepted: list[float] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "model_id": "Qwen/Qwen3-8B",
        "max_concurrency": 8,
        "completed": 10,
        "total_input_tokens": 5120,
        "total_output_tokens": 5120,
        "output_throughput": speed,
    }
    if accepted is not None:
        found["spec_decode_acceptance_length"] = 1 + sum(accepted)
        found["spec_decode_per_position_acceptance_rates"] = accepted
    return found


def test_measurements_of_ones_own(workspace: Workspace) -> None:
    workspace.file("off.json", json.dumps(result(1000)))
    workspace.file("on.json", json.dumps(result(640, [0.5] * 15)))
    ran = workspace.run(
        "advise", "calibrate", "off.json", "on.json", "--gpu", "b200", "--method", "dflash", "--output", "mine.json"
    )
    assert (ran.status, ran.err) == (0, "servelint: Qwen/Qwen3-8B, 8 at a time: 0.640 times the tokens\n")
    load = (
        "--use-case",
        "single-user",
        "--model",
        "Qwen/Qwen3-8B",
        "--gpu",
        "b200",
        "--method",
        "dflash",
        "--draft",
        "z-lab/Qwen3-8B-DFlash-b16",
    )
    more = ("--tokens", "15", "--concurrency", "8", "--acceptance", "0.5", "--format", "json")
    assert workspace.run("advise", *load, *more).data["expected_gain"]["low"] > 1
    data = workspace.run("advise", *load, *more, "--measurements", "mine.json").data
    assert data["expected_gain"]["low"] < 0.64 < data["expected_gain"]["high"]
    assert data["measurements"][0]["source"] == "your own"
    assert not data["enable"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--gpu", "h100"), "missing option: --model MODEL"),
        ((*ASKED, "--gpu", "nonesuch"), "'nonesuch' is not a known GPU"),
        ((*ASKED, "--acceptance", "72"), '--acceptance: "72" is not a number from 0 to 1'),
        ((*ASKED, "--concurrency", "0"), '--concurrency: "0" is not a whole number from 1'),
        ((*ASKED, "--release", "0.331"), '"0.331" is not a release of vLLM; did you mean 0.33.0?'),
        ((*ASKED, "--release", "latest"), '"latest" is not a release'),
        ((*ASKED, "--measurements", "none.json"), "none.json: cannot be read: No such file or directory"),
        ((*ASKED, "--measurements", "list.json"), "list.json: there is no list of measurements"),
        ((*ASKED, "--measurements", "wrong.json"), "wrong.json: off: 0 is not a number above 0"),
        (("calibrate", "wrong.json", "--gpu", "h100"), "wrong.json: no result of vllm bench serve"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], message: str, workspace: Workspace) -> None:
    workspace.file("list.json", "[]")
    workspace.file("wrong.json", '{"measurements": [{"method": "mtp", "off": 0, "on": 1}]}')
    ran = workspace.run("advise", *args)
    assert ran.status == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
