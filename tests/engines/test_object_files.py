"""The YAML file of `trtllm-serve --config`: its mapping is the option's value, with the places of its characters."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.judge.judging import judge
from tests.launching import launch_in
from tests.together import together

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


@together(
    "content, findings",
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
        ("speculative_config:\n  decoding_type: Eagle\n  max_draft_len: 3\n  speculative_model_dir: /a\n", []),
        (
            "speculative_config:\n  decoding_type: MTP\n  speculative_model_dir: a\n  speculative_model: b\n",
            [("trtllm/unknown-json-key", "speculative_model_dir")],
        ),
        ("{}\n", []),
    ],
)
def test_its_keys_are_judged_at_their_places(content: str, findings: list[tuple[str, str]]) -> None:
    assert found(content) == findings


@pytest.mark.parametrize("options", [FILE, "--extra_llm_api_options=/tmp/c.yaml", "--config /tmp/c.yaml"])
def test_the_ways_to_name_it(options: str) -> None:
    assert found(WRONG, options) == [("trtllm/unknown-json-key", "free_gpu_memory_fracton")]


@together(
    "release, known",
    [
        ("1.3.0rc3", True), ("1.2.0rc5", True), ("1.1.0", True), ("1.1.0rc5", True), ("1.1.0rc2", True), ("1.0.0", True),
        ("1.0.0rc5", False), ("1.4.0rc0", False), ("0.20.0", False), ("0.21.0rc2", False),
    ],
)  # fmt: skip
def test_a_release_whose_keys_are_not_known_is_judged_between_two_that_are(release: str, known: bool) -> None:
    assert bool(found(WRONG, release=release)) is known


@together(
    "content, releases",
    [
        ("max_batchsize: 8\n", ("0.21.0", "1.0.0rc3", "1.0.0", "1.1.0rc2", "1.1.0rc5", "1.1.0")),
        ("use_cuda_graph: true\n", ("1.0.0", "1.1.0rc2", "1.1.0rc5", "1.1.0")),
        ("cuda_graph_config: {}\n", ("0.21.0",)),
        ("pytorch_backend_config: {print_iter_log: true}\n", ("0.21.0", "1.0.0", "1.1.0")),
        ("use_torch_sampler: true\n", ("0.21.0", "1.0.0", "1.1.0")),  # some candidates between have it
        ("moe_config: {backend: TRITON}\n", ("0.21.0", "1.0.0")),
        ("kv_cache_config: {copy_on_partial: true}\n", ("1.0.0", "1.1.0")),  # 0.21.0 ignores keys in objects
        ("speculative_config: {decoding_type: AUTO}\n", ("0.21.0",)),
        ("speculative_config: {decoding_type: Eagle3}\n", ("0.21.0", "1.0.0")),
        ("attention_dp_config: null\n", ("0.21.0", "1.0.0", "1.1.0")),
        ("moe_config: {backend: WIDEEP}\n", ("0.21.0",)),
    ],
)
def test_the_keys_of_0_21_and_1_0(content: str, releases: tuple[str, ...]) -> None:
    every = ("0.20.0", "0.21.0", "1.0.0rc3", "1.0.0", "1.1.0rc2", "1.1.0rc5", "1.1.0")
    rules = ("trtllm/unknown-json-key", "trtllm/invalid-json-value")
    assert tuple(one for one in every if any(rule in rules for rule, _ in found(content, release=one))) == releases


@pytest.mark.parametrize(
    ("release", "content", "message"),
    [
        ("1.2.0", "moe_backend: CUTLASS\n", "moe_backend of --extra_llm_api_options was removed in TensorRT-LLM 1.0.0;"),
        ("0.21.0", "moe_config: {}\n", "moe_config of --extra_llm_api_options exists from TensorRT-LLM 1.0.0;"),
        ("1.0.0", "moe_bakend: CUTLASS\n", "TensorRT-LLM 1.0.0 has no key moe_bakend in"),
    ],
)
def test_a_release_of_which_no_keys_are_known_removes_none(release: str, content: str, message: str) -> None:
    launch = launch_in(SCRIPT.format(release=release, content=content, options=FILE), "run.sh")
    findings = [one for one in judge(launch, Settings()) if one.rule == "trtllm/unknown-json-key"]
    assert [one.message[: len(message)] for one in findings] == [message]


def test_a_key_that_moved_has_its_new_place_in_the_advice() -> None:
    launch = launch_in(SCRIPT.format(release="1.0.0", content="kv_cache_dtype: fp8\n", options=FILE), "run.sh")
    assert [one.advice for one in judge(launch, Settings()) if one.rule == "trtllm/unknown-json-key"] == [
        "write dtype in kv_cache_config"
    ]


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


@pytest.mark.parametrize(
    ("release", "content", "findings"),
    [
        ("1.3.0rc27", "max_batchsize: 8\n", [("trtllm/unknown-json-key", "max_batchsize")]),
        ("1.3.0rc27", "kv_cache_dtype: fp8\n", [("trtllm/unknown-json-key", "kv_cache_dtype")]),
        ("1.3.0rc27", "num_serve_frontends: 65\n", [("trtllm/invalid-json-value", "65")]),
        ("1.3.0rc27", "num_serve_frontends: 64\nsampler_type: auto\n", []),
        ("1.3.0rc27", WRONG, []),  # not all keys of objects are known
        ("1.3.0rc27", "moe_config:\n  backend: WIDEEP\n", [("trtllm/invalid-json-value", "WIDEEP")]),
        ("1.3.0rc27", "moe_config:\n  backend: CUTEDSL_FC12\n", [("trtllm/invalid-json-value", "CUTEDSL_FC12")]),
        ("1.3.0rc29", "moe_config:\n  backend: CUTEDSL_FC12\n  new_key: 1\n", []),
        ("1.3.0rc28", "moe_config:\n  backend: CUTEDSL_FC12\n", []),
        ("1.3.0rc27", "moe_config:\n  new_key: 1\n", [("trtllm/unknown-json-key", "new_key")]),
        ("1.3.0rc29", "kv_cache_config:\n  free_gpu_memory_fraction: 1.5\n", [("trtllm/kv-memory-fraction-above-one", "1.5")]),
        ("1.3.0rc29", "kv_cache_config:\n  onboard_blocks: true\n", [("trtllm/unknown-json-key", "onboard_blocks")]),
        ("1.3.0rc27", "kv_cache_config:\n  onboard_blocks: true\n", []),
        ("1.3.0rc29", "speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3\n", []),
        ("1.3.0rc29", "speculative_config:\n  decoding_type: MTP\n  moe_backend: AUTO\n  max_draft_len: 3\n", []),
        ("1.3.0rc29", "speculative_config:\n  decoding_type: SA\n  max_draft_len: -1\n", [("trtllm/invalid-json-value", "-1")]),
        ("1.3.0rc26", "max_batchsize: 8\n", [("trtllm/unknown-json-key", "max_batchsize")]),
        ("1.3.0rc27", "enable_tokenization_cache: true\n", [("trtllm/unknown-json-key", "enable_tokenization_cache")]),
        ("1.3.0rc28", "enable_tokenization_cache: true\n", []),  # between the two
        ("1.3.0rc28", "max_batchsize: 8\n", [("trtllm/unknown-json-key", "max_batchsize")]),
        ("1.3.0rc29", "enable_tokenization_cache: true\nenable_return_routed_experts: true\n", []),
        ("1.3.0rc29", "max_batchsize: 8\n", [("trtllm/unknown-json-key", "max_batchsize")]),
        ("1.4.0rc1", "max_batchsize: 8\n", [("trtllm/unknown-json-key", "max_batchsize")]),  # judged as the newest known
    ],
)
def test_the_keys_of_the_file_itself_after_1_3_0rc3(release: str, content: str, findings: list[tuple[str, str]]) -> None:
    assert found(content, release=release) == findings


@together(
    "release, options, rules",
    [
        ("1.3.0rc14", "--extra_visual_gen_options v.yaml --backend trt", ["trtllm/tensorrt-backend-goes"]),
        ("1.3.0rc22", "--extra_visual_gen_options v.yaml", ["trtllm/removed-option"]),
        ("1.3.0rc22", "--visual_gen_args v.yaml --backend _autodeploy", []),
        ("1.3.0rc22", "--backend tensorrt", ["trtllm/invalid-choice"]),
        ("1.3.0rc29", "--backend _autodeploy", ["trtllm/deprecated-option", "trtllm/invalid-choice"]),
        ("1.3.0rc20", "--extra_visual_gen_options v.yaml --visual_gen_args v.yaml --backend tensorrt", []),  # between two
        ("1.3.0rc20", "--reasoning_parser kimi_k3", ["trtllm/invalid-choice"]),
        ("1.3.0rc29", "--reasoning_parser kimi_k3 --no-telemetry --hf_revision main --kv_cache_dtype fp8", []),
        ("1.4.0rc1", "--no-such-option", []),
    ],
)
def test_the_command_line_after_1_3_0rc3(release: str, options: str, rules: list[str]) -> None:
    assert [rule for rule, _ in found("", options, release)] == rules
