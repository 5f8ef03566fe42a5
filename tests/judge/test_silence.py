"""No silence: every launch is wholly known, or its record says what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.judged import Judged
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.judge import extent
from servelint.judge.extent import judged
from servelint.lint import check
from tests.book import each_rule
from tests.judge.silence import gaps, gaps_of
from tests.launching import launches_in
from tests.wrapping import CLOSE, OPEN

ROOT = Path(__file__).parents[2]
OURS = [str(ROOT / name) for name in ("examples", "benchmarks/inputs", "tests/lsp/texts", "deploy", "README.md", "docs")]

SCRIPT = """
MODEL=${1:-Qwen/Qwen3-8B}
if [ -n "$QUANT" ]; then MORE="--quantization $QUANT"; fi
for PORT in 8000 8001; do
  VLLM_USE_V1=$V1 vllm serve "$MODEL" --port $PORT --tensor-parallel-size $(nproc) $MORE "$@" ${EAGER:+--enforce-eager} &
done
docker run -e HF_TOKEN -e VLLM_LOGGING_LEVEL vllm/vllm-openai:$TAG --model $OTHER --api-key $KEY
pip install "vllm>=0.11"
vllm serve m --max-model-len ${LENGTH?} --config $CONFIG
python3 -m sglang.launch_server --model-path "$WHICH" --mem-fraction-static `cat fraction`
"""
COMPOSE = """
services:
  a:
    image: "vllm/vllm-openai:${TAG}"
    command: "--model ${MODEL} --port ${PORT:-8000}"
    environment: [HF_TOKEN, "VLLM_USE_V1=${V1}"]
  b: {image: "vllm/vllm-openai:v0.99.1", command: [--model, m]}
  c: {image: "lmsysorg/sglang:v0.5.12-cu126", command: "python3 -m sglang.launch_server --model-path ${M}", env_file: nope.env}
  d: {image: "ghcr.io/ggml-org/llama.cpp:server-b9180", command: "-m ${GGUF}"}
  e: {image: "ghcr.io/huggingface/text-generation-inference:3.3.4", command: "--model-id ${ID}"}
"""


def runs() -> list[str]:
    """The commands of the examples of all rules."""
    rules = each_rule()
    texts = [one["run"] for rule in rules for kind in ("bad", "good") for one in rule["examples"][kind] if "run" in one]
    return [text.replace(OPEN, "").replace(CLOSE, "") for text in texts]


def judge_all(text: str, filename: str) -> list[Launch]:
    launches = launches_in(text, filename)
    for launch in launches:
        launch.judged = judged(launch, Settings())
    return launches


def test_the_files_of_this_repository() -> None:
    report = check(OURS)
    assert len(report.launches) > 25
    assert all(launch.judged is not None for launch in report.launches)
    assert gaps(report) == []


def test_the_examples_of_all_rules() -> None:
    texts = runs()
    assert len(texts) > 2500
    launches = [launch for text in texts for launch in judge_all(text, "run.sh")]
    assert len(launches) > 2000
    assert [gap for launch in launches for gap in gaps_of(launch)] == []


@pytest.mark.parametrize(("text", "filename", "count"), [(SCRIPT, "run.sh", 5), (COMPOSE, "compose.yml", 5)])
def test_what_is_hard(text: str, filename: str, count: int) -> None:
    launches = judge_all(text, filename)
    assert len(launches) >= count
    assert [gap for launch in launches for gap in gaps_of(launch)] == []
    assert not any(launch.judged.whole for launch in launches if launch.judged is not None)


@pytest.mark.parametrize(("text", "filename"), [(SCRIPT, "run.sh"), (COMPOSE, "compose.yml")])
@pytest.mark.parametrize("kept", [[], ["variable"], ["word"]])
def test_a_record_with_a_gap_is_found(kept: list[str], text: str, filename: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = extent._unresolved
    monkeypatch.setattr(extent, "_unresolved", lambda launch: [one for one in whole(launch) if one.kind in kept])
    assert [gap for launch in judge_all(text, filename) for gap in gaps_of(launch)]


def test_a_release_with_a_gap_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    (launch,) = judge_all("pip install vllm==0.99\nvllm serve m", "run.sh")
    launch.judged = Judged("0.33.0", "pip", [])
    assert gaps_of(launch) == ["the release 0.99"]
    monkeypatch.setattr(launch.release, "release", "0.33.0")
    launch.judged = Judged(None, "unknown", [])
    assert gaps_of(launch) == ["the release 0.33.0"]
