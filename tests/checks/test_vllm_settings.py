"""Checks that hold settings of a vLLM launch against each other: at their limits, and where one of them is not known."""

from __future__ import annotations

import pytest

import servelint
from servelint.engines.config import Config, configs
from servelint.judge.checks import run_check

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"  # 131072 tokens
DEEPSEEK = "deepseek-ai/DeepSeek-V3"  # multi-head latent attention
MTP = "--speculative-config.method mtp --speculative-config.num_speculative_tokens"


def config(command: str, env: str = "", release: str = "0.33.0") -> Config:
    launches = servelint.find_launches(f"{env} vllm serve {command}\n", filename="run.sh")
    return configs(launches[0], [release])[0]


@pytest.mark.parametrize(
    ("check", "holds", "does_not"),
    [
        ("vllm_active_requests", "m --max-num-seqs 8 --max-num-active-seqs 9", "m --max-num-seqs 8 --max-num-active-seqs 8"),
        ("vllm_elastic_size", "m -dp 4 --elastic-ep-max-dp-size 3", "m -dp 4 --elastic-ep-max-dp-size 4"),
        ("vllm_replica_ranks", "m -dp 2 --data-parallel-rank 2", "m -dp 2 --data-parallel-rank 1"),
        ("vllm_replica_ranks", "m -dp 2 --data-parallel-size-local 3", "m -dp 2 --data-parallel-size-local 2"),
        (
            "vllm_replica_ranks",
            "m -dp 4 --data-parallel-size-local 2 --data-parallel-start-rank 4",
            "m -dp 4 --data-parallel-start-rank 4",
        ),
        ("vllm_microbatches", "m --enable-dbo --dbo-decode-token-threshold 1", "m --enable-dbo --dbo-decode-token-threshold 2"),
        ("vllm_microbatches", "m --ubatch-size 33", "m --ubatch-size 32"),
        (
            "vllm_long_prefill",
            f"{LLAMA} --long-prefill-token-threshold 131073",
            f"{LLAMA} --long-prefill-token-threshold 131072",
        ),
        (
            "vllm_long_prefill",
            f"{LLAMA} --max-model-len 4k --long-prefill-token-threshold 4001",
            "openai/whisper-large-v3 --max-model-len 448 --long-prefill-token-threshold 4001",
        ),
        (
            "vllm_unchunked_batch",
            f"{LLAMA} --max-num-batched-tokens 131071",
            f"{LLAMA} --max-num-batched-tokens 8192 --hf-overrides x",
        ),
        ("vllm_draft_lookahead", f"m --max-num-batched-tokens 5 {MTP} 5", f"m --max-num-batched-tokens 6 {MTP} 5"),
        ("vllm_offload_groups", "m --offload-group-size 2 --offload-num-in-group 3", "m --offload-group-size 1"),
        ("vllm_offload_groups", "m --offload-backend prefetch", "m --offload-backend prefetch --offload-group-size 4"),
        ("vllm_offload_groups", "m --offload-group-size 4 --offload-prefetch-step 0", "m --offload-group-size 4"),
        ("vllm_numa_cpus", "m --numa-bind-cpus 0-3 4..7", "m --numa-bind-cpus 0-3 4,6-7"),
        ("vllm_numa_cpus", "m --numa-bind-cpus 3-0", "m --numa-bind-cpus 3-3"),
        ("vllm_device_ids", "m --device-ids 1,1", "m --device-ids 1,0"),
        ("vllm_device_ids", "m --device-ids 0,GPU-5a", "m --device-ids GPU-5a,GPU-5b"),
        ("vllm_grpc_port", "m --grpc-port 8000", "m --grpc-port 8000 --port 8001"),
        ("vllm_reasoning_efforts", """m --reasoning-effort-map '{"huge":"x"}'""", """m --reasoning-effort-map '{"max":"x"}'"""),
        ("vllm_reasoning_efforts", """m --reasoning-effort-map '["low"]'""", """m --reasoning-effort-map '{}'"""),
        ("vllm_multi_port", "m -dp 4", "m -dp 4 --data-parallel-size-local 2"),
        ("vllm_multi_port", "m -dp 4 --data-parallel-size-local 3", "m -dp 4 --data-parallel-size-local 4"),
        (
            "vllm_multi_port",
            "m -dp 4 --data-parallel-size-local 2 --data-parallel-start-rank 3",
            "m -dp 4 --data-parallel-size-local 2 --data-parallel-start-rank 2",
        ),
        ("vllm_multi_port", "m -dp 4 --data-parallel-size-local 2 -asc 2", "m -dp 4 --data-parallel-size-local 2 -asc 1"),
        ("vllm_executor_class", "m --distributed-executor-backend mpi", "m --distributed-executor-backend mine.Mpi"),
        ("vllm_custom_op", """m -cc '{"custom_ops":["all","rms_norm"]}'""", """m -cc '{"custom_ops":["all","-rms_norm"]}'"""),
        ("vllm_custom_ops", """m -cc '{"custom_ops":["all","none"]}'""", """m -cc '{"custom_ops":["all"]}'"""),
        ("vllm_custom_ops", """m -cc '{"custom_ops":["+a","-a"]}'""", """m -cc '{"custom_ops":["+a","-b"]}'"""),
        (
            "vllm_capture_sizes",
            "m --cudagraph-capture-sizes 1 2 --max-cudagraph-capture-size 4",
            "m --cudagraph-capture-sizes 1 2 --max-cudagraph-capture-size 2",
        ),
        ("vllm_capture_sizes", """m -cc '{"cudagraph_capture_sizes":[]}'""", """m -cc '{"cudagraph_capture_sizes":[1]}'"""),
        ("vllm_capture_sizes", "m --max-cudagraph-capture-size 0", "m --max-cudagraph-capture-size 0 --enforce-eager"),
        ("vllm_nixl_context", f"{DEEPSEEK} -tp 8 -dcp 4", f"{DEEPSEEK} -tp 8 -dcp 8"),
        ("vllm_nixl_context", f"{LLAMA} -tp 8 -dcp 8", f"{DEEPSEEK} -tp 8 -dcp 2 --prefill-context-parallel-size 2"),
        (
            "vllm_histogram_buckets",
            """m --custom-histogram-buckets '{"request_latency":[1,1]}'""",
            """m --custom-histogram-buckets '{"request_latency":[1,2]}'""",
        ),
        (
            "vllm_histogram_buckets",
            """m --custom-histogram-buckets '{"request_latency":[]}'""",
            """m --custom-histogram-buckets '{"request_tokens":[0.5]}'""",
        ),
        (
            "vllm_context_parallel",
            f"{DEEPSEEK} -tp 2 --prefill-context-parallel-size 2 -dcp 3",
            f"{DEEPSEEK} -tp 2 --prefill-context-parallel-size 2 -dcp 4",
        ),
        ("vllm_number_range", "m --max-num-seqs 0", "m --max-num-seqs 1"),
        ("vllm_number_range", "m --watermark 1", "m --watermark 0.99"),
        ("vllm_number_range", "m --enable-lora --max-loras 0", "m --max-loras 0"),
        ("vllm_sampling_shards", "m -tp 2 --return-sampling-mask", "m -tp 2"),
        (
            "vllm_multi_port",
            "m -dp 2 --data-parallel-size-local 2 --data-parallel-supervisor-port 8001",
            "m -dp 2 --data-parallel-size-local 2 --data-parallel-supervisor-port 8002",
        ),
    ],
)
def test_at_the_limit(check: str, holds: str, does_not: str) -> None:
    assert run_check(check, config(holds)) is not None
    assert run_check(check, config(does_not)) is None


@pytest.mark.parametrize(
    ("check", "command"),
    [
        ("vllm_active_requests", "m --max-num-seqs $N --max-num-active-seqs 9"),
        ("vllm_elastic_size", "m -dp $DP --elastic-ep-max-dp-size 3"),
        ("vllm_replica_ranks", "m --data-parallel-rank 2 $MORE"),
        ("vllm_microbatches", "m --ubatch-size 99 $MORE"),
        ("vllm_long_prefill", "$MODEL --long-prefill-token-threshold 9999999"),
        ("vllm_unchunked_batch", f"{LLAMA} --max-num-batched-tokens 8192 $MORE"),
        ("vllm_draft_lookahead", f"m --max-num-batched-tokens 5 {MTP} $K"),
        ("vllm_offload_groups", "m --offload-backend prefetch $MORE"),
        ("vllm_numa_cpus", "m --numa-bind-cpus $CPUS"),
        ("vllm_device_ids", "m --device-ids $GPUS"),
        ("vllm_grpc_port", "m --grpc-port 8000 $MORE"),
        ("vllm_reasoning_efforts", 'm --reasoning-effort-map "$MAP"'),
        ("vllm_multi_port", "m -dp 4 $MORE"),
        ("vllm_executor_class", "m --distributed-executor-backend $EXEC"),
        ("vllm_custom_ops", 'm -cc "$CC"'),
        ("vllm_custom_op", 'm -cc "$CC"'),
        ("vllm_capture_sizes", "m --cudagraph-capture-sizes $SIZES --max-cudagraph-capture-size 4"),
        ("vllm_capture_sizes", "m --max-cudagraph-capture-size 0 $MORE"),
        ("vllm_nixl_context", f"{LLAMA} -tp $TP -dcp 2"),
        ("vllm_histogram_buckets", 'm --custom-histogram-buckets "$BUCKETS"'),
        ("vllm_number_range", "m --max-num-seqs $N"),
        ("vllm_offload_backend", "m --cpu-offload-gb 4 --offload-group-size 4 --offload-backend $WHICH"),
    ],
)
def test_unknown_is_not_a_misfit(check: str, command: str) -> None:
    assert run_check(check, config(command)) is None


def test_long_partial_prefills_are_some_of_all() -> None:
    one, two = "m --max-long-partial-prefills 2", "m --max-long-partial-prefills 2 --max-num-partial-prefills 2"
    assert run_check("vllm_partial_prefills", config(one, release="0.11.0")) == {"several": "1"}
    assert run_check("vllm_partial_prefills", config(two, release="0.11.0")) is None
    assert run_check("vllm_partial_prefills", config(one + " $MORE", release="0.11.0")) is None


def test_places_among_the_gpus_that_are_seen() -> None:
    two = "CUDA_VISIBLE_DEVICES=4,5"
    assert run_check("vllm_device_ids", config("m --device-ids 0,1", two)) is None
    assert run_check("vllm_device_ids", config("m --device-ids 4", two)) == {
        "reason": "4 is no place among the 2 GPUs of CUDA_VISIBLE_DEVICES (4,5)"
    }


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
    assert run_check("vllm_kv_connectors", config(command, release=without)) is not None
    assert run_check("vllm_kv_connectors", config(command, release=since)) is None


def test_a_connector_that_no_release_has_may_be_a_plugin() -> None:
    assert run_check("vllm_kv_connectors", config("m --kv-transfer-config.kv_connector HouseConnector")) is None


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
    expected = {"variable": variable} if variable is not None else None
    assert run_check("vllm_unknown_variable", config("m", env, release)) == expected


def test_which_weights_stay_offloaded() -> None:
    both = "m --cpu-offload-gb 4 --offload-group-size 4"
    assert run_check("vllm_offload_backend", config(both)) == {"kept": "--offload-group-size"}
    assert run_check("vllm_offload_backend", config(both + " --offload-backend uva")) == {"kept": "--cpu-offload-gb"}


def test_numbers_whose_bound_came_later() -> None:
    assert run_check("vllm_number_range", config("m --data-parallel-size-local -1", release="0.22.1")) is None
    assert run_check("vllm_number_range", config("m --data-parallel-size-local -1", release="0.23.0")) == {
        "option": "--data-parallel-size-local",
        "wanted": "a number of at least 0",
    }
    assert run_check("vllm_number_range", config("m --max-num-scheduled-tokens 0", release="0.31.0")) is None
    assert run_check("vllm_number_range", config("m --max-num-scheduled-tokens 0", release="0.32.0")) is not None


def test_both_forms_of_an_operation_from_the_release_that_refuses_them() -> None:
    both = """m -cc '{"custom_ops":["+a","-a"]}'"""
    assert run_check("vllm_custom_ops", config(both, release="0.26.0")) is None
    assert run_check("vllm_custom_ops", config(both, release="0.27.0")) == {"reason": "switches a on and off"}
