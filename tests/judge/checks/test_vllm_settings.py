"""Rules that hold settings of a vLLM launch against each other: at their limits, and where one of them is not known."""

from __future__ import annotations

import shlex

import pytest

import servelint
from servelint.engines.config import Config, configs
from tests.judging import fields, holds
from tests.together import together

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"  # 131072 tokens
DEEPSEEK = "deepseek-ai/DeepSeek-V3"  # multi-head latent attention
MTP = "--speculative-config.method mtp --speculative-config.num_speculative_tokens"


def config(command: str, env: str = "", release: str = "0.33.0") -> Config:
    launches = servelint.find_launches(f"{env} vllm serve {command}\n", filename="run.sh")
    return configs(launches[0], [release])[0]


WITH = {
    "vllm/elastic-ep-max-dp-size": "--enable-elastic-ep",
    "vllm/unchunked-prefill-too-small": "--no-enable-chunked-prefill",
    "vllm/multi-port-lb-misfit": "--data-parallel-multi-port-external-lb",
    "vllm/nixl-with-context-parallel": "--kv-transfer-config.kv_connector NixlConnector",
    "vllm/batch-sharded-sampling-misfit": "--enable-batch-sharded-sampling",
}
"""Words without which a rule does not ask the question."""


def asked(rule: str, command: str) -> Config:
    env = "VLLM_USE_RUST_FRONTEND=1" if rule == "vllm/grpc-port-is-http-port" else ""
    return config(f"{command} {WITH.get(rule, '')}", env)


@together(
    "rule, bad, good",
    [
        (
            "vllm/active-requests-above-requests",
            "m --max-num-seqs 8 --max-num-active-seqs 9",
            "m --max-num-seqs 8 --max-num-active-seqs 8",
        ),
        ("vllm/elastic-ep-max-dp-size", "m -dp 4 --elastic-ep-max-dp-size 3", "m -dp 4 --elastic-ep-max-dp-size 4"),
        ("vllm/data-parallel-rank-out-of-range", "m -dp 2 --data-parallel-rank 2", "m -dp 2 --data-parallel-rank 1"),
        (
            "vllm/data-parallel-rank-out-of-range",
            "m -dp 2 --data-parallel-size-local 3",
            "m -dp 2 --data-parallel-size-local 2",
        ),
        (
            "vllm/data-parallel-rank-out-of-range",
            "m -dp 4 --data-parallel-size-local 2 --data-parallel-start-rank 4",
            "m -dp 4 --data-parallel-start-rank 4",
        ),
        (
            "vllm/dbo-token-threshold",
            "m --enable-dbo --dbo-decode-token-threshold 1",
            "m --enable-dbo --dbo-decode-token-threshold 2",
        ),
        ("vllm/dbo-token-threshold", "m --ubatch-size 33", "m --ubatch-size 32"),
        (
            "vllm/long-prefill-above-context",
            f"{LLAMA} --long-prefill-token-threshold 131073",
            f"{LLAMA} --long-prefill-token-threshold 131072",
        ),
        (
            "vllm/long-prefill-above-context",
            f"{LLAMA} --max-model-len 4k --long-prefill-token-threshold 4001",
            "openai/whisper-large-v3 --max-model-len 448 --long-prefill-token-threshold 4001",
        ),
        (
            "vllm/unchunked-prefill-too-small",
            f"{LLAMA} --max-num-batched-tokens 131071",
            f"{LLAMA} --max-num-batched-tokens 8192 --hf-overrides x",
        ),
        ("vllm/draft-tokens-above-batch", f"m --max-num-batched-tokens 5 {MTP} 5", f"m --max-num-batched-tokens 6 {MTP} 5"),
        ("vllm/offload-group", "m --offload-group-size 2 --offload-num-in-group 3", "m --offload-group-size 1"),
        ("vllm/offload-group", "m --offload-backend prefetch", "m --offload-backend prefetch --offload-group-size 4"),
        ("vllm/offload-group", "m --offload-group-size 4 --offload-prefetch-step 0", "m --offload-group-size 4"),
        ("vllm/numa-cpus-malformed", "m --numa-bind-cpus 0-3 4..7", "m --numa-bind-cpus 0-3 4,6-7"),
        ("vllm/numa-cpus-malformed", "m --numa-bind-cpus 3-0", "m --numa-bind-cpus 3-3"),
        ("vllm/device-ids", "m --device-ids 1,1", "m --device-ids 1,0"),
        ("vllm/device-ids", "m --device-ids 0,GPU-5a", "m --device-ids GPU-5a,GPU-5b"),
        ("vllm/grpc-port-is-http-port", "m --grpc-port 8000", "m --grpc-port 8000 --port 8001"),
        ("vllm/reasoning-efforts", """m --reasoning-effort-map '{"huge":"x"}'""", """m --reasoning-effort-map '{"max":"x"}'"""),
        ("vllm/reasoning-efforts", """m --reasoning-effort-map '["low"]'""", """m --reasoning-effort-map '{}'"""),
        ("vllm/multi-port-lb-misfit", "m -dp 4", "m -dp 4 --data-parallel-size-local 2"),
        ("vllm/multi-port-lb-misfit", "m -dp 4 --data-parallel-size-local 3", "m -dp 4 --data-parallel-size-local 4"),
        (
            "vllm/multi-port-lb-misfit",
            "m -dp 4 --data-parallel-size-local 2 --data-parallel-start-rank 3",
            "m -dp 4 --data-parallel-size-local 2 --data-parallel-start-rank 2",
        ),
        (
            "vllm/multi-port-lb-misfit",
            "m -dp 4 --data-parallel-size-local 2 -asc 2",
            "m -dp 4 --data-parallel-size-local 2 -asc 1",
        ),
        ("vllm/executor-is-no-class", "m --distributed-executor-backend mpi", "m --distributed-executor-backend mine.Mpi"),
        (
            "vllm/custom-ops-syntax",
            """m -cc '{"custom_ops":["all","rms_norm"]}'""",
            """m -cc '{"custom_ops":["all","-rms_norm"]}'""",
        ),
        ("vllm/custom-ops-contradict", """m -cc '{"custom_ops":["all","none"]}'""", """m -cc '{"custom_ops":["all"]}'"""),
        ("vllm/custom-ops-contradict", """m -cc '{"custom_ops":["+a","-a"]}'""", """m -cc '{"custom_ops":["+a","-b"]}'"""),
        (
            "vllm/capture-sizes-misfit",
            "m --cudagraph-capture-sizes 1 2 --max-cudagraph-capture-size 4",
            "m --cudagraph-capture-sizes 1 2 --max-cudagraph-capture-size 2",
        ),
        (
            "vllm/capture-sizes-misfit",
            """m -cc '{"cudagraph_capture_sizes":[]}'""",
            """m -cc '{"cudagraph_capture_sizes":[1]}'""",
        ),
        ("vllm/capture-sizes-misfit", "m --max-cudagraph-capture-size 0", "m --max-cudagraph-capture-size 0 --enforce-eager"),
        ("vllm/nixl-with-context-parallel", f"{DEEPSEEK} -tp 8 -dcp 4", f"{DEEPSEEK} -tp 8 -dcp 8"),
        (
            "vllm/nixl-with-context-parallel",
            f"{LLAMA} -tp 8 -dcp 8",
            f"{DEEPSEEK} -tp 8 -dcp 2 --prefill-context-parallel-size 2",
        ),
        (
            "vllm/histogram-buckets",
            """m --custom-histogram-buckets '{"request_latency":[1,1]}'""",
            """m --custom-histogram-buckets '{"request_latency":[1,2]}'""",
        ),
        (
            "vllm/histogram-buckets",
            """m --custom-histogram-buckets '{"request_latency":[]}'""",
            """m --custom-histogram-buckets '{"request_tokens":[0.5]}'""",
        ),
        (
            "vllm/context-parallel-misfit",
            f"{DEEPSEEK} -tp 2 --prefill-context-parallel-size 2 -dcp 3",
            f"{DEEPSEEK} -tp 2 --prefill-context-parallel-size 2 -dcp 4",
        ),
        ("vllm/number-out-of-range", "m --max-num-seqs 0", "m --max-num-seqs 1"),
        ("vllm/number-out-of-range", "m --watermark 1", "m --watermark 0.99"),
        ("vllm/number-out-of-range", "m --enable-lora --max-loras 0", "m --max-loras 0"),
        ("vllm/batch-sharded-sampling-misfit", "m -tp 2 --return-sampling-mask", "m -tp 2"),
        (
            "vllm/multi-port-lb-misfit",
            "m -dp 2 --data-parallel-size-local 2 --data-parallel-supervisor-port 8001",
            "m -dp 2 --data-parallel-size-local 2 --data-parallel-supervisor-port 8002",
        ),
    ],
)
def test_at_the_limit(rule: str, bad: str, good: str) -> None:
    assert holds(rule, asked(rule, bad))
    assert not holds(rule, asked(rule, good))


@together(
    "rule, command",
    [
        ("vllm/active-requests-above-requests", "m --max-num-seqs $N --max-num-active-seqs 9"),
        ("vllm/elastic-ep-max-dp-size", "m -dp $DP --elastic-ep-max-dp-size 3"),
        ("vllm/data-parallel-rank-out-of-range", "m --data-parallel-rank 2 $MORE"),
        ("vllm/dbo-token-threshold", "m --ubatch-size 99 $MORE"),
        ("vllm/long-prefill-above-context", "$MODEL --long-prefill-token-threshold 9999999"),
        ("vllm/unchunked-prefill-too-small", f"{LLAMA} --max-num-batched-tokens 8192 $MORE"),
        ("vllm/draft-tokens-above-batch", f"m --max-num-batched-tokens 5 {MTP} $K"),
        ("vllm/offload-group", "m --offload-backend prefetch $MORE"),
        ("vllm/numa-cpus-malformed", "m --numa-bind-cpus $CPUS"),
        ("vllm/device-ids", "m --device-ids $GPUS"),
        ("vllm/grpc-port-is-http-port", "m --grpc-port 8000 $MORE"),
        ("vllm/reasoning-efforts", 'm --reasoning-effort-map "$MAP"'),
        ("vllm/multi-port-lb-misfit", "m -dp 4 $MORE"),
        ("vllm/executor-is-no-class", "m --distributed-executor-backend $EXEC"),
        ("vllm/custom-ops-contradict", 'm -cc "$CC"'),
        ("vllm/custom-ops-syntax", 'm -cc "$CC"'),
        ("vllm/capture-sizes-misfit", "m --cudagraph-capture-sizes $SIZES --max-cudagraph-capture-size 4"),
        ("vllm/capture-sizes-misfit", "m --max-cudagraph-capture-size 0 $MORE"),
        ("vllm/nixl-with-context-parallel", f"{LLAMA} -tp $TP -dcp 2"),
        ("vllm/histogram-buckets", 'm --custom-histogram-buckets "$BUCKETS"'),
        ("vllm/number-out-of-range", "m --max-num-seqs $N"),
        ("vllm/offload-backends-both", "m --cpu-offload-gb 4 --offload-group-size 4 --offload-backend $WHICH"),
    ],
)
def test_unknown_is_not_a_misfit(rule: str, command: str) -> None:
    assert not holds(rule, asked(rule, command))


def test_long_partial_prefills_are_some_of_all() -> None:
    one, two = "m --max-long-partial-prefills 2", "m --max-long-partial-prefills 2 --max-num-partial-prefills 2"
    assert fields("vllm/long-partial-prefills", config(one, release="0.11.0")) == {"several": "1"}
    assert fields("vllm/long-partial-prefills", config(two, release="0.11.0")) is None
    assert fields("vllm/long-partial-prefills", config(one + " $MORE", release="0.11.0")) is None


def test_places_among_the_gpus_that_are_seen() -> None:
    two = "CUDA_VISIBLE_DEVICES=4,5"
    assert fields("vllm/device-ids", config("m --device-ids 0,1", two)) is None
    assert fields("vllm/device-ids", config("m --device-ids 4", two)) == {
        "reason": "4 is not an index among the 2 GPUs of CUDA_VISIBLE_DEVICES (4,5)"
    }


def connected(config: Config) -> dict[str, str] | None:
    """What is found by the rule of the release's range."""
    late, early = (fields(f"vllm/kv-connector-{name}", config) for name in ("unknown", "found-late"))
    return late if late is not None else early


@pytest.mark.parametrize(
    ("connector", "without", "since"),
    [
        ("MooncakeConnector", "0.12.0", "0.13.0"),
        ("MooncakeConnector", "0.11.2", "0.9.2"),
        ("NixlPullConnector", "0.23.0", "0.24.0"),
        ("HiSparseConnector", "0.29.0", "0.30.0"),
    ],
)
def test_connectors_by_release(connector: str, without: str, since: str) -> None:
    command = f"m --kv-transfer-config.kv_connector {connector}"
    assert connected(config(command, release=without)) is not None
    assert connected(config(command, release=since)) is None


def test_a_connector_that_no_release_has_may_be_a_plugin() -> None:
    assert connected(config("m --kv-transfer-config.kv_connector HouseConnector")) is None


@pytest.mark.parametrize(
    ("env", "release", "variable"),
    [
        ("VLLM_NO_SUCH_THING=1", "0.33.0", "VLLM_NO_SUCH_THING"),
        ("VLLM_USE_V1=1", "0.33.0", "VLLM_USE_V1"),
        ("VLLM_LOGGING_LEVEL=INFO", "0.33.0", None),
        ("NO_SUCH_THING=1", "0.33.0", None),
    ],
)
def test_variables_that_a_release_does_not_list(env: str, release: str, variable: str | None) -> None:
    found = holds("vllm/unknown-variable-refused", config("m --fail-on-environ-validation", env, release))
    assert found is (variable is not None)
    assert config("m", env, release).operand("effective.unknown-variable").value == variable


def test_which_weights_stay_offloaded() -> None:
    both = "m --cpu-offload-gb 4 --offload-group-size 4"
    assert fields("vllm/offload-backends-both", config(both)) == {"case": "--offload-group-size"}
    assert fields("vllm/offload-backends-both", config(both + " --offload-backend uva")) == {"case": "--cpu-offload-gb"}


def test_numbers_whose_bound_came_later() -> None:
    assert fields("vllm/number-out-of-range", config("m --data-parallel-size-local -1", release="0.22.1")) is None
    assert fields("vllm/number-out-of-range", config("m --data-parallel-size-local -1", release="0.23.0")) == {
        "option": "--data-parallel-size-local",
        "wanted": "a number of at least 0",
    }
    assert fields("vllm/number-out-of-range", config("m --max-num-scheduled-tokens 0", release="0.31.0")) is None
    assert fields("vllm/number-out-of-range", config("m --max-num-scheduled-tokens 0", release="0.32.0")) is not None


REPLACED = """m --kv-transfer-config '{"kv_connector":"NixlConnector"}' --kv-transfer-config """


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (REPLACED + """'{"kv_connector":"NixlConnector","kv_role":"kv_both"}'""", ["vllm/kv-connector-without-role"]),
        ("""m --profiler-config '{"profiler":"torch"}' --profiler-config.profiler cuda""", ["vllm/profiler-directory"]),
        ("""m --pooler-config '{"logit_sigma":0}' --pooler-config.use_activation true""", ["vllm/logit-sigma-zero"]),
        ("""m -cc '{"custom_ops":["all","none"]}' -cc '{"mode":0}'""", ["vllm/custom-ops-contradict"]),
        (REPLACED.replace("}'", ',"kv_role":"kv_both"}\'') + """'{"kv_connector":"NixlConnector","kv_role":"kv_both"}'""", []),
    ],
)
def test_an_object_that_a_later_one_replaces_is_judged_as_well(text: str, rules: list[str]) -> None:
    found = servelint.check_command("vllm", shlex.split(text), version="0.33.0")
    assert [one.rule for one in found if one.severity == "error"] == rules


def test_both_forms_of_an_operation_from_the_release_that_refuses_them() -> None:
    both = """m -cc '{"custom_ops":["+a","-a"]}'"""
    assert fields("vllm/custom-ops-contradict", config(both, release="0.26.0")) is None
    assert fields("vllm/custom-ops-contradict", config(both, release="0.27.0")) == {"reason": "switches a on and off"}


@together(
    "words, release, fault",
    [
        ('{"num_threads": 8, "enable_weights_track": true}', "0.21.0", None),
        ('{"enable_weights_track": true}', "0.20.2", "enable_weights_track"),
        ('{"enable_multithread_load": 1}', "0.24.0", "not true or false"),
        ('{"enable_multithread_load": true} --safetensors-load-strategy eager', "0.24.0", "eager"),
        ('{"enable_multithread_load": true} --safetensors-load-strategy eager', "0.23.0", None),
        ('{"enable_multithread_load": true} --safetensors-load-strategy lazy', "0.33.0", None),
        ('{"num_threads": "8"}', "0.24.0", "not a number"),
        ('{"concurrency": "8"} --load-format runai_streamer', "0.25.0", "not a number"),
        ('{"concurrency": "8"} --load-format runai_streamer', "0.24.0", None),
        ('{"streams": 8} --load-format runai_streamer', "0.23.0", None),
        ('{"pattern": "m-{rank}-{part}"} --load-format sharded_state', "0.33.0", None),
        ('{"streams": 8} --load-format tensorizer', "0.33.0", None),
        ("{} --load-format dummy", "0.33.0", None),
    ],
)
def test_the_loader_of_a_format_takes_its_own_keys(words: str, release: str, fault: str | None) -> None:
    given, _, more = words.partition(" --")
    found = fields(
        "vllm/loader-config-misfit",
        config(f"x/y {f'--{more}' if more else ''} --model-loader-extra-config '{given}'", release=release),
    )
    assert found is None if fault is None else found is not None and fault in found["fault"]
