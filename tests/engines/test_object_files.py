"""The YAML file of `trtllm-serve --config`: its mapping is the option's value, with the places of its characters."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.judge.judging import judge
from tests.launching import launch_in

SCRIPT = """\
pip install tensorrt_llm=={release}
cat > /tmp/c.yaml <<'EOF'
{content}EOF
trtllm-serve Qwen/Qwen3-8B {options}
"""
FILE = "--extra_llm_api_options /tmp/c.yaml"
WRONG = "kv_cache_config:\n  free_gpu_memory_fracton: 0.8\n"


def found(content: str, options: str = FILE, release: str = "1.3.0rc3") -> list[tuple[str, str]]:
    launch = launch_in(SCRIPT.format(release=release, content=content, options=options), "run.sh")
    return [(one.rule, one.span.text) for one in judge(launch, Settings()) if one.rule.startswith("trtllm/")]


@pytest.mark.parametrize(
    ("content", "findings"),
    [
        (WRONG, [("trtllm/unknown-json-key", "free_gpu_memory_fracton")]),
        ("max_batchsize: 8\n", [("trtllm/unknown-json-key", "max_batchsize")]),
        ("moe_config:\n  backend: CUTLAS\n", [("trtllm/invalid-json-value", "CUTLAS")]),
        ("cuda_graph_config: all\n", [("trtllm/invalid-json-value", "all")]),
        ("nvfp4_gemm_config:\n  allowed_backends: [1]\n", [("trtllm/invalid-json-value", "1")]),
        ("nvfp4_gemm_config:\n  allowed_backends: [cutlass]\n", []),
        ("speculative_config: null\n", [("trtllm/invalid-json-value", "null")]),
        ("lora_config:\n  max_rank: 8\n", [("trtllm/ignored-json-key", "max_rank")]),
        ("kv_cache_config:\n  dtype: fp8\n", []),
        ("{}\n", []),
    ],
)
def test_its_keys_are_judged_at_their_places(content: str, findings: list[tuple[str, str]]) -> None:
    assert found(content) == findings


@pytest.mark.parametrize("options", [FILE, "--extra_llm_api_options=/tmp/c.yaml", "--config /tmp/c.yaml"])
def test_the_ways_to_name_it(options: str) -> None:
    assert found(WRONG, options) == [("trtllm/unknown-json-key", "free_gpu_memory_fracton")]


@pytest.mark.parametrize(
    ("release", "known"),
    [("1.3.0rc3", True), ("1.2.0rc5", True), ("1.1.0", True), ("1.0.0", False), ("1.0.0rc5", False), ("1.4.0rc0", False)],
)
def test_a_release_whose_keys_are_not_known_is_not_judged(release: str, known: bool) -> None:
    assert bool(found(WRONG, release=release)) is known


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (WRONG, f"--backend _autodeploy {FILE}"),
        (WRONG, f"--backend $BACKEND {FILE}"),
        (WRONG + "backend: _autodeploy\n", FILE),
        (WRONG, "--extra_llm_api_options /tmp/$NAME.yaml"),
        (WRONG, "--extra_llm_api_options /elsewhere/c.yaml"),
        ("- a list\n", FILE),
        ("a: [\n", FILE),
    ],
)
def test_a_file_that_is_not_known_stays_a_name(content: str, options: str) -> None:
    assert found(content, options) == []
