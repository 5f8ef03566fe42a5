"""Checks of option values with parts, and of values that depend on each other: what is wrong, and what nobody can tell."""

from __future__ import annotations

import json
import shlex
from types import SimpleNamespace
from typing import Any

import pytest

from servelint.engines.config import configs
from servelint.judge.checks import options, trtllm
from tests.launching import launch_in
from tests.together import together

SERVE = {
    "vllm": "vllm serve meta-llama/Llama-3.1-8B-Instruct",
    "sglang": "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct",
    "llama.cpp": "llama-server -m m.gguf",
    "lmdeploy": "lmdeploy serve api_server internlm/internlm2-chat-7b",
}
RELEASE = {"vllm": "0.33.0", "sglang": "0.5.23", "llama.cpp": "b11434", "lmdeploy": "0.18.0"}


def asked(check: str, words: str, engine: str = "vllm", release: str = "", env: str = "") -> dict[str, str] | None:
    (config,) = configs(launch_in(f"{env} {SERVE[engine]} {words}\n", "run.sh"), [release or RELEASE[engine]])
    found: dict[str, str] | None = getattr(options, check)(config)
    return found


def given(option: str, value: object) -> str:
    return f"--{option} {shlex.quote(json.dumps(value))}"


def reason(text: str) -> dict[str, str]:
    return {"reason": text}


SIZES = "--cudagraph-capture-sizes"
LARGEST = "--max-cudagraph-capture-size"


@together(
    "words, expected",
    [
        ("", None),
        (f"{SIZES} 1 2 4", None),
        (f"{SIZES} 1 2 4 {LARGEST} 4", None),
        (f"{SIZES} 1 4 2 {LARGEST} 8", reason("go up to 4, and max_cudagraph_capture_size is 8")),
        (f"{SIZES} 1 2 512 {LARGEST} 8", reason("go up to 512, and max_cudagraph_capture_size is 8")),
        (f"{SIZES} 1 2 513 {LARGEST} 8", None),
        (f"{SIZES} 1 $N {LARGEST} 8", None),
        (f"{SIZES} 1 x {LARGEST} 8", None),
        (f"{LARGEST} 0", reason("have 0 as the largest")),
        (f"{LARGEST} 1", None),
        (f"{SIZES} 1 2 {LARGEST} $N", None),
        (given("compilation-config", {"cudagraph_capture_sizes": []}), reason("are an empty list")),
        (
            given("compilation-config", {"cudagraph_capture_sizes": [1, 2], "max_cudagraph_capture_size": 4}),
            reason("go up to 2, and max_cudagraph_capture_size is 4"),
        ),
        (given("compilation-config", {"cudagraph_capture_sizes": [1, "2"], "max_cudagraph_capture_size": 4}), None),
        (given("compilation-config", {"cudagraph_capture_sizes": 4, "max_cudagraph_capture_size": 2}), None),
        (given("compilation-config", {"max_cudagraph_capture_size": 0}) + f" {LARGEST} 2", None),  # the option counts
        (f"{SIZES} 1 4 {LARGEST} 8 --enforce-eager", None),
        (f"{SIZES} 1 4 {LARGEST} 8 $MORE", None),
        (f"{SIZES} 1 4 {LARGEST} 8 --compilation-config.mode 0", None),
        (f"{SIZES} 1 4 {LARGEST} 8 --compilation-config.cudagraph_mode NONE", None),
        (f"{SIZES} 1 4 {LARGEST} 8 -O0", None),
        (f"{SIZES} 1 4 {LARGEST} 8 --all2all-backend deepep_high_throughput", None),
        (f"{SIZES} 1 4 {LARGEST} 8 --max-num-batched-tokens 2", None),
        (f"{SIZES} 1 4 {LARGEST} 8 --kv-transfer-config.kv_connector NixlConnector", None),
    ],
)
def test_capture_sizes(words: str, expected: dict[str, str] | None) -> None:
    assert asked("capture_sizes", words) == expected


def ops(*names: object) -> str:
    return given("compilation-config", {"custom_ops": names})


@together(
    "check, words, release, expected",
    [
        ("custom_op", ops("all", "+rms_norm", "-silu"), "", None),
        ("custom_op", ops("none"), "", None),
        ("custom_op", ops("+a", "rms_norm", "silu"), "", {"op": "rms_norm"}),
        ("custom_op", ops("+"), "", {"op": "+"}),
        ("custom_op", ops("+a", 1), "", None),
        ("custom_op", given("compilation-config", {"custom_ops": "rms_norm"}), "", None),
        ("custom_op", "--compilation-config.custom_ops+ +a,b", "", {"op": "b"}),
        ("custom_op", "--compilation-config.custom_ops+ $OPS", "", None),
        ("custom_op", "", "", None),
        ("custom_ops", ops("all", "none"), "0.11.0", reason("has both all and none")),
        ("custom_ops", ops("all", "+a"), "", None),
        ("custom_ops", ops("+b", "+a", "-b", "-a"), "", reason("switches a on and off")),
        ("custom_ops", ops("+a", "-a"), "0.27.0", reason("switches a on and off")),
        ("custom_ops", ops("+a", "-a"), "0.26.0", None),
        ("custom_ops", ops("+a", "-b"), "", None),
        ("bare_level", "--compilation-config 3", "", {"level": "3"}),
        ("bare_level", "-O3", "", None),
        ("bare_level", "", "", None),
        ("bare_level", "--compilation-config $LEVEL", "", None),
    ],
)
def test_custom_operations(check: str, words: str, release: str, expected: dict[str, str] | None) -> None:
    assert asked(check, words, release=release) == expected


@together(
    "value, expected",
    [
        ({"low": "low", "max": "high"}, None),
        ({}, None),
        ({"none": True, "minimal": None}, None),
        ([], reason("is a list, not an object")),
        ("low", None),
        ({"low": "x", "lowest": "y"}, reason("names lowest, which is not an effort")),
        ({"medium": 1}, reason("gives medium a value that is not a string")),
        ({"xhigh": {}}, reason("gives xhigh a value that is not a string")),
        ({"high": []}, reason("gives high a value that is not a string")),
    ],
)
def test_reasoning_efforts(value: object, expected: dict[str, str] | None) -> None:
    assert asked("reasoning_efforts", given("reasoning-effort-map", value)) == expected
    assert asked("reasoning_efforts", "--reasoning-effort-map $MAP") is None
    assert asked("reasoning_efforts", "") is None


def test_histogram_buckets() -> None:
    (config,) = configs(launch_in(f"{SERVE['vllm']}\n", "run.sh"), ["0.33.0"])
    names = config.names("histogram-families")
    assert names
    family = sorted(names)[0]
    for value, expected in (
        ({family: [0.1, 1, 2.5]}, None),
        ({family: [1]}, None),
        ({family: [1, "2"]}, None),
        ([1], None),
        ({"family-of-nobody": [1]}, "family-of-nobody is not a family of histograms"),
        ({family: 1}, f"{family} has no list of bounds"),
        ({family: []}, f"{family} has no bucket"),
        ({family: [0, 1]}, f"{family} has a bound that is not above 0"),
        ({family: [-1]}, f"{family} has a bound that is not above 0"),
        ({family: [1, 1]}, f"{family} has bounds that are not in rising order"),
        ({family: [1, 3, 2]}, f"{family} has bounds that are not in rising order"),
        ({family: [2, "x", 1]}, None),
    ):
        found = asked("histogram_buckets", given("custom-histogram-buckets", value))
        assert found == (reason(expected) if expected is not None else None), value
    assert asked("histogram_buckets", f"--custom-histogram-buckets '{{\"{family}\": '$B'}}'") is None
    endless = asked("histogram_buckets", f"--custom-histogram-buckets '{{\"{family}\": [1, 1e999]}}'")
    assert endless == reason(f"{family} has a bound that is not above 0")


VISIBLE = "CUDA_VISIBLE_DEVICES"


@together(
    "ids, env, expected",
    [
        ("0,1", "", None),
        ("0,1,0", "", "0,1,0 names a GPU twice"),
        ("'0, 1'", "", None),
        ("0,GPU-1", "", "0,GPU-1 mixes numbers with UUIDs"),
        ("GPU-1,GPU-2", f"{VISIBLE}=0", None),
        ("0,1", f"{VISIBLE}=4,5", None),
        ("0,2", f"{VISIBLE}=4,5", f"2 is not an index among the 2 GPUs of {VISIBLE} (4,5)"),
        ("1", f"{VISIBLE}=4", f"1 is not an index among the 1 GPUs of {VISIBLE} (4)"),
        ("1", f"{VISIBLE}=", None),
        ("1", f"{VISIBLE}=$X", None),
        ("$X", "", None),
    ],
)
def test_device_ids(ids: str, env: str, expected: str | None) -> None:
    assert asked("device_ids", f"--device-ids {ids}", env=env) == (reason(expected) if expected is not None else None)


@pytest.mark.parametrize(
    ("cpus", "expected"),
    [
        ("0-3 4,6-7", None),
        ("5-5", None),
        ("$X 0-3", None),
        ("0-3 a", {"cpus": "a", "reason": "numbers and ranges, separated by commas"}),
        ("0-", {"cpus": "0-", "reason": "numbers and ranges, separated by commas"}),
        ("0,4-2", {"cpus": "0,4-2", "reason": "a range goes up"}),
    ],
)
def test_numa_cpus(cpus: str, expected: dict[str, str] | None) -> None:
    assert asked("numa_cpus", f"--numa-bind-cpus {cpus}") == expected
    assert asked("numa_cpus", "") is None


@together(
    "check, words, release, expected",
    [
        ("expert_replicas", "--tp 8 --moe-dp-size 3", "", {"misfit": "does not divide the tensor parallel size 8"}),
        ("expert_replicas", "--tp 8 --moe-dp-size 2", "", None),
        ("expert_replicas", "--tp 8 --moe-dp-size 1 --ep 3", "", None),
        ("expert_replicas", "--tp 8 --moe-dp-size $N", "", None),
        ("expert_replicas", "--tp $N --moe-dp-size 3", "", None),
        ("expert_replicas", "--tp 8 --moe-dp-size 2 --pp-size 2", "", {"misfit": "cannot be combined with 2 pipeline stages"}),
        (
            "expert_replicas", "--tp 8 --moe-dp-size 2 --ep 2", "",
            {"misfit": "times the expert parallel size 2 must equal the tensor parallel size 8"},
        ),
        ("expert_replicas", "--tp 8 --moe-dp-size 2 --ep 4", "", None),
        ("expert_replicas", "--tp 8 --moe-dp-size 2 --ep 1", "", None),
        ("expert_replicas", "--tp 8 --moe-dp-size 2 --ep 2 --moe-a2a-backend deepep", "", None),
        ("expert_context", "--tp 8 --moe-dp-size 2 --attn-cp-size 4", "", {"width": "4"}),
        ("expert_context", "--tp 8 --moe-dp-size 4 --attn-cp-size 4", "", None),
        ("expert_context", "--tp 8 --moe-dp-size 1 --attn-cp-size 4", "", None),
        ("expert_context", "--tp 8 --moe-dp-size $N --attn-cp-size 4", "", None),
        ("expert_context", "--tp 8 --moe-dp-size 2 --attn-cp-size 4 --enable-prefill-cp", "", None),
        ("expert_context", "--tp 8 --moe-dp-size 3 --attn-cp-size 4", "", None),  # expert_replicas says it
        ("other_modality", given("limit-mm-data-per-request", {"image": 1, "video": 2, "audio": 3}), "", None),
        ("other_modality", given("limit-mm-data-per-request", {"image": 1, "text": 2, "x": 1}), "", {"key": "text"}),
        ("other_modality", given("limit-mm-data-per-request", [1]), "", None),
        ("other_modality", "", "", None),
    ],
)  # fmt: skip
def test_sglang(check: str, words: str, release: str, expected: dict[str, str] | None) -> None:
    assert asked(check, words, "sglang", release) == expected


@together(
    "value, release, expected",
    [
        ({}, "", None),
        ({"rope_theta": 1}, "", None),
        ([], "", None),
        (None, "", None),
        ([1], "", "is a list, not an object"),
        (1, "", "is not an object"),
        (False, "", "is not an object"),
        ("x", "", "is not an object"),
        ({"text_config": 1}, "", "gives text_config a value that is not an object"),
        ({"text_config": {"num_attention_heads": 4}}, "", None),
        ({"text_config": {"x": 4}}, "", "gives a config without text_config one that lacks num_attention_heads"),
        ({"max_position_embeddings": 4}, "", None),
        ({"max_position_embeddings": [4]}, "", "gives max_position_embeddings a value that is not a number"),
        ({"max_position_embeddings": {}}, "", "gives max_position_embeddings a value that is not a number"),
        ({"max_position_embeddings": "4"}, "0.5.12", "gives max_position_embeddings a value that is not a whole number"),
        ({"hidden_size": 1.5}, "0.5.12", "gives hidden_size a value that is not a whole number"),
        ({"vocab_size": None}, "0.5.23", "gives vocab_size a value that is not a whole number"),
        ({"vocab_size": 4, "rope_theta": "1e6"}, "0.5.23", None),
        ({"max_position_embeddings": "4"}, "0.5.11", None),
        ({"rope_scaling": {"factor": 2}}, "0.5.9", None),
        ({"rope_scaling": "yarn"}, "0.5.9", "gives rope_scaling a value that is not an object"),
        ({"rope_scaling": 2}, "0.5.9", "gives rope_scaling a value that is not an object"),
        ({"rope_scaling": "yarn"}, "0.5.10", "gives rope_scaling a value that is not an object"),
        ({"rope_parameters": 1.5}, "0.5.10", "gives rope_parameters a value that is not an object"),
        ({"rope_parameters": 1.5}, "0.5.9", None),
        ({"rope_scaling": None}, "0.5.9", None),
    ],
)
def test_the_shape_of_an_override(value: object, release: str, expected: str | None) -> None:
    found = asked("override_shape", given("json-model-override-args", value), "sglang", release)
    assert found == (reason(expected) if expected is not None else None)
    assert asked("override_shape", "--json-model-override-args $ARGS", "sglang") is None


@together(
    "value, name, key",
    [
        ({}, None, None),
        ([], None, None),
        ({"linear": "fp8_per_tensor"}, None, None),
        ({"linear": "int2"}, "int2", "linear"),
        ({"moe": "int2"}, "int2", "moe"),
        ({"linear": {"weight": "int2"}}, "int2", "linear.weight"),
        ({"moe": {"activation": "int2", "other": "int3"}}, "int2", "moe.activation"),
        ({"linear": {"other": "int2"}}, None, None),
        ({"targets": {"re:.*": "int2"}}, "int2", "targets[re:.*]"),
        ({"targets": {"re:.*": "fp8_per_tensor"}}, None, None),
        ({"targets": {"x": ""}}, "an empty text", "targets[x]"),
        ({"targets": {"x": 1}}, "1", "targets[x]"),
    ],
)
def test_a_name_of_online_quantization(value: object, name: str | None, key: str | None) -> None:
    found = asked("online_name", given("quantization-config", value))
    assert (found and found["name"], found and found["key"]) == (name, key)
    assert found is None or "fp8_per_tensor" in found["names"]
    assert asked("online_name", "--quantization-config $CONFIG") is None
    assert asked("online_name", given("quantization-config", value), release="0.10.0") is None


@pytest.mark.parametrize(
    ("value", "name", "what"),
    [
        ({"backend_per_kind": {}}, None, None),
        ({"backend": "x"}, None, None),
        ([], None, None),
        ({"backend_per_kind": {"kind-of-nobody": "FLASH_ATTN"}}, "kind-of-nobody", "a kind of KV cache groups"),
    ],
)
def test_a_backend_for_each_kind(value: object, name: str | None, what: str | None) -> None:
    found = asked("backend_per_kind", given("attention-config", value))
    assert (found and found["name"], found and found["what"]) == (name, what)


def test_the_backend_of_a_kind_that_the_release_has() -> None:
    (config,) = configs(launch_in(f"{SERVE['vllm']}\n", "run.sh"), ["0.33.0"])
    kinds, backends = config.names("kv-cache-kinds"), config.names("attention-backends")
    assert kinds
    assert backends
    kind, backend = sorted(kinds)[0], sorted(backends)[0]
    for value in (backend, backend.lower(), None):
        assert asked("backend_per_kind", given("attention-config", {"backend_per_kind": {kind: value}})) is None
    found = asked("backend_per_kind", given("attention-config", {"backend_per_kind": {kind: "house"}}))
    assert found is not None
    assert (found["name"], found["what"]) == ("house", "an attention backend")
    assert backend in found["names"] or "more" in found["names"] or "others" in found["names"]


VISION = "Qwen/Qwen2.5-VL-7B-Instruct"


@together(
    "value, expected",
    [
        ({"image": 2, "video": {"count": 1}, "audio": " 3 "}, None),
        ({"image": 2.0}, None),
        ({"image": 2.5}, {"key": "image", "value": "2.5"}),
        ({"image": "x"}, {"key": "image", "value": "x"}),
        ({"image": ""}, {"key": "image", "value": "an empty text"}),
        ({"video": [1]}, {"key": "video", "value": "[1]"}),
        ({"video": -1}, None),
        ({}, None),
    ],
)
def test_a_limit_of_media(value: object, expected: dict[str, str] | None) -> None:
    assert asked("media_limit", given("limit-mm-per-prompt", value)) == expected


def test_a_negative_limit_of_media_for_a_model_that_takes_some() -> None:
    for release, expected in (("0.11.0", None), ("0.11.1", {"key": "image", "value": "-1"})):
        text = f"vllm serve {VISION} " + given("limit-mm-per-prompt", {"image": -1})
        (config,) = configs(launch_in(text + "\n", "run.sh"), [release])
        assert options.media_limit(config) == expected
        (config,) = configs(launch_in(text.replace("-1", "0") + "\n", "run.sh"), [release])
        assert options.media_limit(config) is None


@together(
    "check, words, expected",
    [
        ("spec_types", "", None),
        ("spec_types", "--spec-type none,house", None),
        ("spec_types", "--spec-type house", {"part": "house"}),
        ("spec_types", "--spec-type ngram-simple,house", {"part": "house"}),
        ("spec_types", "--spec-type mtp", None),
        ("spec_types", "--spec-type ngram-simpel", None),  # a typing mistake is another rule
        ("spec_types", "--spec-type $TYPE", None),
        ("digits_read", "-c 16k", {"read": "16", "text": "16k", "option": "--ctx-size"}),
        ("digits_read", "-c 16384", None),
        ("digits_read", "-c 4.5", {"read": "4", "text": "4.5", "option": "--ctx-size"}),
        ("digits_read", "-c k16", None),
        ("digits_read", "-c '16 k'", None),
        ("digits_read", "-c $N", None),
        ("digits_read", "", None),
    ],
)
def test_llamacpp(check: str, words: str, expected: dict[str, str] | None) -> None:
    assert asked(check, words, "llama.cpp") == expected


@together(
    "check, words, expected",
    [
        ("lmdeploy_capture_sizes", "", None),
        ("lmdeploy_capture_sizes", "--cudagraph-capture-batch-sizes 1 2", None),
        ("lmdeploy_capture_sizes", "--cudagraph-capture-batch-sizes 2 0", reason("are positive numbers")),
        ("lmdeploy_capture_sizes", "--cudagraph-capture-batch-sizes 2 x", None),
        ("lmdeploy_capture_sizes", '--cudagraph-capture-batch-sizes 2 "$N" 0', None),
        ("lmdeploy_capture_sizes", "--cudagraph-capture-batch-sizes 8 4 --max-batch-size 4", None),
        (
            "lmdeploy_capture_sizes", "--cudagraph-capture-batch-sizes 8 5 --max-batch-size 4",
            reason("begin at 5, and --max-batch-size is 4"),
        ),
        ("lmdeploy_adapters", "", None),
        ("lmdeploy_adapters", "--adapters a", None),
        ("lmdeploy_adapters", "--adapters x=a y=b", None),
        ("lmdeploy_adapters", "--adapters x=a b", reason("b has no name, and there are 2 adapters")),
        ("lmdeploy_adapters", "--adapters x=a y=b x=c", reason("has two adapters of the name x")),
        ("lmdeploy_adapters", "--adapters x=a $B", None),
    ],
)  # fmt: skip
def test_lmdeploy(check: str, words: str, expected: dict[str, str] | None) -> None:
    assert asked(check, words, "lmdeploy") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [({"manager_config": {"a": 1}}, {}), ({"manager_config": {}}, None), ({"other": {"a": 1}}, None), ({}, None)],
)
def test_settings_of_a_manager(value: object, expected: dict[str, str] | None) -> None:
    assert asked("manager_settings", given("ec-manager-config", value)) == expected
    assert asked("manager_settings", "") is None


@together(
    "words, expected",
    [
        ("--data-parallel-rpc-port 65535", None),
        ("--data-parallel-rpc-port 65536", {"option": "--data-parallel-rpc-port", "wanted": "a number from 1 to 65535"}),
        ("--kv-cache-metrics-sample 1", None),
        ("--kv-cache-metrics-sample 0", {"option": "--kv-cache-metrics-sample", "wanted": "a number above 0 and at most 1"}),
        ("--watermark 0", None),
        ("--watermark 1", {"option": "--watermark", "wanted": "a number of at least 0 and below 1"}),
        ("--max-loras 0", None),  # without --enable-lora nothing reads it
        ("--enable-lora --max-loras 0", {"option": "--max-loras", "wanted": "a number of at least 1"}),
        ("--max-num-seqs 0", {"option": "--max-num-seqs", "wanted": "a number of at least 1"}),
        ("--max-num-seqs $N", None),
    ],
)
def test_a_number_beyond_its_range(words: str, expected: dict[str, str] | None) -> None:
    assert asked("number_range", words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--gc-threshold 700 10 10", None),
        ("--gc-threshold 700 10 10 5", {"count": "4"}),
        ("--gc-threshold 700 10 10 5 5", {"count": "5"}),
        ("", None),
    ],
)
def test_numbers_for_the_collector(words: str, expected: dict[str, str] | None) -> None:
    assert asked("gc_thresholds", words, "sglang") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"prefetch_threshold": 256}, None),
        ({"prefetch_threshold": "256"}, {"key": "prefetch_threshold", "text": "256"}),
        (
            {"prefetch_timeout_base": 1.5, "prefetch_timeout_per_ki_token": "1"},
            {"key": "prefetch_timeout_per_ki_token", "text": "1"},
        ),
        ({"master_server_address": "mooncake:50051"}, None),
        (["256"], None),
    ],
)
def test_a_text_for_a_number_of_prefetching(value: object, expected: dict[str, str] | None) -> None:
    assert asked("prefetch_numbers", given("hicache-storage-backend-extra-config", value), "sglang") == expected


@together(
    "value, expected",
    [
        ({"decode": {"backend": "full", "max_bs": 64, "bs": [1, 2]}}, None),
        ({"decode": {"backend": None}}, "null for the backend of decode"),
        ({"prefill": {"backend": None}}, "null for the backend of prefill"),
        ({"prefill": {"max_bs": "64"}}, 'the text "64" for the max_bs of prefill'),
        ({"decode": {"bs": [1, "2"]}}, 'the text "2" among the bs of decode'),
        ({"decode": {"bs": "1"}}, 'the text "1" for the bs of decode'),
        ({"prefill": {"bs": [1, "2"]}}, None),
        ({"decode": 1}, None),
        ({"decode": None}, None),
        ([], None),
    ],
)
def test_values_of_a_graph_config(value: object, expected: str | None) -> None:
    found = asked("graph_values", given("cuda-graph-config", value), "sglang")
    assert found == (None if expected is None else {"fault": expected})


@together(
    "rule, fault",
    [
        ("default", None),
        ("default 1", "has values after default"),
        ("linear 1", 'begins with "linear", not with tse, default or custom'),
        ("tse 1000 2 8", None),
        ("tse 0.5 1.5 1", None),
        ("tse 1000 2", "has 2 values after tse, which takes 3"),
        ("tse 1000 x 8", "has a value that is not a number"),
        ("tse 1000 2 8.5", "has 8.5 as the number of buckets"),
        *[(f"tse {one}", "needs a middle above 0, a base above 1 and a count above 0") for one in ("0 2 8", "9 1 8", "9 2 0")],
        ("custom 2 0 1", None),
        ("custom", "has no values after custom"),
        ("custom 1 2 1.0", "names a value twice"),
        ("custom 1 -1", "has a negative value"),
    ],
)
def test_buckets_of_token_counts(rule: str, fault: str | None) -> None:
    for kind in ("prompt", "generation"):
        found = asked(f"{kind}_buckets", f"--{kind}-tokens-buckets {rule}", "sglang")
        assert found == ({"fault": fault} if fault else None)


STREAMED = " --load-format runai_streamer"
THREADS = {"enable_multithread_load": True}


@together(
    "value, words, release, fault",
    [
        ({"enable_multithread_load": "yes"}, "", "0.24.0", '"yes" as enable_multithread_load, which is not true or false'),
        ({"enable_multithread_load": 1}, "", "0.33.0", "1 as enable_multithread_load, which is not true or false"),
        ({"enable_multithread_load": "yes"}, "", "0.23.0", None),
        ({"distributed": "no"}, STREAMED, "0.24.0", '"no" as distributed, which is not true or false'),
        ({"num_threads": "4"}, "", "0.24.0", '"4" as num_threads, which is not a number'),
        ({"num_threads": 4}, "", "0.33.0", None),
        ({"concurrency": "4"}, STREAMED, "0.24.0", None),
        ({"concurrency": "4"}, STREAMED, "0.25.0", '"4" as concurrency, which is not a number'),
        ({"memory_limit": "4"}, STREAMED, "0.33.0", '"4" as memory_limit, which is not a number'),
        (THREADS, "", "0.33.0", None),
        (THREADS, " --safetensors-load-strategy lazy", "0.33.0", None),
        (
            THREADS,
            " --safetensors-load-strategy eager",
            "0.33.0",
            "enable_multithread_load, which does not work with --safetensors-load-strategy eager",
        ),
        ({"enable_multithread_load": False}, " --safetensors-load-strategy eager", "0.33.0", None),
        ({"num_threads": 4}, " --safetensors-load-strategy eager", "0.33.0", None),
    ],
)
def test_values_of_the_loader(value: object, words: str, release: str, fault: str | None) -> None:
    found = asked("vllm_loader_config", given("model-loader-extra-config", value) + words, release=release)
    assert found == ({"fault": f"has {fault}"} if fault else None)


@together(
    "ranges, expected",
    [
        ([], None),
        ("1", None),
        ([[1, 4, 3]], None),
        ([[1, 1, 0]], None),
        ([[1, 4, True]], None),
        ([[5, 8, 2], [1, 4, 3]], None),
        ([[1, 4]], "[1, 4] is not a first batch size, a last one, and a number of draft tokens"),
        (["abc"], "abc is not a first batch size, a last one, and a number of draft tokens"),
        *[
            ([row], f"{row} has a batch size below 1, a falling range or fewer than 0 tokens")
            for row in ([0, 4, 3], [2, 1, 3], [1, 4, -1])
        ],
        ([[2, 4, 3]], "the first range begins at 2, not at 1"),
        ([[4, 8, 2], [1, 4, 3]], "[1, 4, 3] and [4, 8, 2] overlap"),
    ],
)
def test_ranges_of_batch_sizes(ranges: object, expected: str | None) -> None:
    words = given("speculative-config", {"num_speculative_tokens_per_batch_size": ranges})
    assert asked("draft_schedule", words) == (reason(expected) if expected else None)


def test_what_holds_under_the_releases_around_an_unknown_one() -> None:
    check: Any = trtllm._shared(lambda config: config.found)  # type: ignore[attr-defined]
    one, same, other = (SimpleNamespace(around=None, found={"key": value}) for value in "aab")
    assert check(one) == {"key": "a"}
    assert check(SimpleNamespace(around=(one, same))) == {"key": "a"}
    assert check(SimpleNamespace(around=(one, other))) is None
