"""What is said of an engine that Python code makes: keyword arguments, TypeErrors, nothing of a server."""

from __future__ import annotations

import json

import pytest

from servelint.core.settings import Settings
from servelint.engines.catalog import load
from servelint.engines.config import configs
from servelint.engines.registry import ENGINES
from servelint.judge.judging import judge
from servelint.judge.keywords import reworded
from servelint.memory.vllm import computed_defaults
from tests.launching import launch_in
from tests.running import Workspace


def found(text: str, version: str, profile: str = "default") -> list[tuple[str, str, str]]:
    """Rule, characters and severity of each finding of a script's only launch."""
    launch = launch_in("import sglang as sgl\nfrom vllm import LLM, EngineArgs, AsyncEngineArgs\n" + text + "\n", "a.py")
    settings = Settings(engine_versions={launch.engine: version}, profile=profile)
    return [(one.rule.partition("/")[2], one.span.text, one.severity) for one in judge(launch, settings)]


@pytest.mark.parametrize(
    ("call", "release", "rule", "span"),
    [
        ("LLM('m', kv_cache_dtyp='fp8')", "0.33.0", "unknown-option", "kv_cache_dtyp"),
        ("LLM('m', kv_cache='fp8')", "0.33.0", "unknown-option", "kv_cache"),
        ("LLM('m', use_v2_block_manager=True)", "0.33.0", "removed-option", "use_v2_block_manager"),
        ("LLM('m', optimization_level=2)", "0.8.5", "option-not-yet", "optimization_level"),
        ("LLM('m', api_key='x')", "0.33.0", "unknown-option", "api_key"),
        ("LLM('m', tool_call_parser='hermes')", "0.33.0", "unknown-option", "tool_call_parser"),
        ("LLM('m', disable_log_requests=True)", "0.33.0", "unknown-option", "disable_log_requests"),
        ("LLM('m', swap_space=4)", "0.26.0", "removed-option", "swap_space"),
        ("EngineArgs('m', swap_space=4)", "0.18.0", "removed-option", "swap_space"),
        ("AsyncEngineArgs('m', disable_log_requests=True)", "0.10.2", "unknown-option", "disable_log_requests"),
        ("LLM('m', disable_prefix_caching=True)", "0.33.0", "unknown-option", "disable_prefix_caching"),
        ("LLM('m', speculative_config={'method': 'ngram', 'tokens': 3})", "0.33.0", "unknown-json-key", "tokens"),
        ("sgl.Engine(model_path='m', tensor_parallel_size=2)", "0.5.23", "unknown-option", "tensor_parallel_size"),
        ("sgl.Engine(model='m')", "0.5.23", "unknown-option", "model"),
        ("sgl.Engine(model_path='m', cuda_graph_max_bs=4)", "0.5.14", "unknown-option", "cuda_graph_max_bs"),
    ],
)
def test_arguments_that_a_class_refuses(call: str, release: str, rule: str, span: str) -> None:
    assert (rule, span, "error") in found(call, release)


@pytest.mark.parametrize(
    ("call", "release"),
    [
        ("LLM('m', swap_space=4)", "0.18.0"),  # taken out of the arguments with a warning
        ("LLM('m', swap_space=4)", "0.25.1"),
        ("LLM('m', swap_space=4)", "0.17.1"),
        ("LLM('m', chat_template='t.jinja')", "0.33.0"),
        ("LLM('m', model_weights='s3://b')", "0.33.0"),
        ("LLM('m', compilation_config=3)", "0.33.0"),
        ("LLM('m', compilation_config={'made_up': 3})", "0.33.0"),  # the class passes over it
        ("LLM('m', enable_chunked_prefill=True)", "0.33.0"),
        ("AsyncEngineArgs('m', disable_log_requests=True)", "0.10.0"),
        ("AsyncEngineArgs('m', enable_log_requests=False)", "0.33.0"),
        ("LLM('m', kv_cache_dtyp='fp8')", "0.8.4"),  # what such a release takes is not known
        ("sgl.Engine(model_path='m', host='0.0.0.0', port=1, api_key='k', tool_call_parser='qwen25')", "0.5.23"),
        ("sgl.Engine(model_path='m', cuda_graph_max_bs=4)", "0.5.13"),
        ("sgl.Engine(model_path='m', fp8_gemm_runner_backend='x')", "0.5.23"),
        ("LLM('m', served_model_name='other')", "0.33.0"),
        ("LLM('m', distributed_executor_backend='external_launcher')", "0.33.0"),  # of a program that torchrun starts
        ("sgl.Engine(model_path='m', enable_http_worker_reuseport=True)", "0.5.23"),
    ],
)
def test_arguments_that_a_class_takes(call: str, release: str) -> None:
    assert [one for one in found(call, release, "audit") if one[2] == "error"] == []


@pytest.mark.parametrize(
    ("made", "argument", "release"),
    [
        ("LLM", "swap_space=4", "0.26.0"),
        ("EngineArgs", "swap_space=4", "0.18.0"),
        ("AsyncEngineArgs", "disable_log_requests=True", "0.10.2"),
    ],
)
def test_the_release_that_removed_an_argument_is_that_of_the_class(made: str, argument: str, release: str) -> None:
    launch = launch_in(f"from vllm import AsyncEngineArgs, EngineArgs, LLM\n{made}('m', {argument})\n", "a.py")
    (finding,) = judge(launch, Settings(engine_versions={launch.engine: "0.32.0"}))
    name = argument.partition("=")[0]
    assert finding.message == f"{name} was removed in vLLM {release}; vLLM 0.32.0 refuses it"


def test_a_type_error_that_is_caught_is_no_error() -> None:
    call = "try:\n    LLM('m', made_up=1)\nexcept TypeError:\n    pass"
    assert found(call, "0.33.0") == []


LLM = "from vllm import LLM\nLLM('Qwen/Qwen3-8B', tensor_parallel_size=3, kv_cache_dtype='fp8', enable_lora=True)\n"


@pytest.mark.parametrize(
    ("call", "command", "release", "rule"),
    [
        (
            "LLM('m', prefix_caching_hash_algo='builtin')",
            "vllm serve m --prefix-caching-hash-algo builtin",
            "0.9.2",
            "prefix-hash-builtin",
        ),
        (
            "AsyncEngineArgs('m', data_parallel_size=2, data_parallel_hybrid_lb=True, data_parallel_external_lb=True)",
            "vllm serve m -dp 2 --data-parallel-hybrid-lb --data-parallel-external-lb",
            "0.14.1",
            "hybrid-and-external-balancing",
        ),
    ],
)
def test_rules_about_a_server_say_nothing_of_it(call: str, command: str, release: str, rule: str) -> None:
    settings = Settings(engine_versions={"vllm": release}, profile="strict")
    server = [one.rule for one in judge(launch_in(command, "a.sh"), settings)]
    assert f"vllm/{rule}" in server
    assert rule not in [name for name, _, _ in found(call, release, "strict")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write --seed", "write seed"),
        ("write --seed 1 or more", "write seed=1 or more"),
        ("--tensor-parallel-size 3 does not divide", "tensor_parallel_size=3 does not divide"),
        ("--kv-cache-dtype fp8 is not", 'kv_cache_dtype="fp8" is not'),
        ("--kv-cache-dtype needs more", "kv_cache_dtype needs more"),
        ("write --dtype bfloat16", 'write dtype="bfloat16"'),
        ("add --enable-lora", "add enable_lora=True"),
        ("--enable-lora needs it", "enable_lora needs it"),
        ("delete --no-enable-prefix-caching", "delete enable_prefix_caching=False"),
        ("write --max-model-len TOKENS", "write max_model_len=TOKENS"),
        ("""write --speculative-config '{"method": "ngram"}'""", 'write speculative_config={"method": "ngram"}'),
        ("--max-num-seqs, --max-model-len", "max_num_seqs, max_model_len"),
        ("with -tp 2 and a -- b", "with -tp 2 and a -- b"),
    ],
)
def test_options_as_keyword_arguments(text: str, expected: str) -> None:
    config = configs(launch_in(LLM, "a.py"), ["0.33.0"])[0]
    assert config.made is not None
    assert reworded(text, config, config.made) == expected


def test_the_name_that_a_class_has() -> None:
    config = configs(launch_in("import sglang\nsglang.Engine(model_path='m')\n", "a.py"), ["0.5.12"])[0]
    assert config.made is not None
    assert reworded("write --tensor-parallel-size 2", config, config.made) == "write tp_size=2"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LLM('m', swap_space=4)", "LLM('m')"),
        ("LLM('m', swap_space=4, seed=1)", "LLM('m', seed=1)"),
        ("LLM(\n    'm',\n    swap_space=4,\n)", "LLM(\n    'm',\n    )"),
        ("LLM(\n    'm',\n    swap_space=4,\n    seed=1,\n)", "LLM(\n    'm',\n    seed=1,\n)"),
        ("k = {'swap_space': 4, 'seed': 1}\nLLM('m', **k)", "k = {'seed': 1}\nLLM('m', **k)"),
        ("LLM('m', swap_space=4 if big else 8)", "LLM('m')"),
        ("LLM('m', swap_space=(\n    4))", None),
        ("k['swap_space'] = 4\nLLM('m', **k)", None),
        ("SIZE = 4\nLLM('m', swap_space=SIZE)", "SIZE = 4\nLLM('m')"),
    ],
)
def test_fixes_are_valid_python(before: str, after: str | None, workspace: Workspace) -> None:
    head = "from vllm import LLM\n" + ("k = {}\n" if before.startswith("k[") else "")
    path = workspace.file("a.py", f"{head}{before}\n")
    workspace.run("check", "a.py", "--engine-version", "vllm=0.33.0", "--fix")
    assert path.read_text() == f"{head}{before if after is None else after}\n"


def test_a_value_is_replaced_by_a_literal_of_its_kind(workspace: Workspace) -> None:
    path = workspace.file("a.py", "import sglang as sgl\nsgl.Engine(model_path='Qwen/Qwen3-8B', context_length=100000)\n")
    workspace.run("check", "a.py", "--engine-version", "sglang=0.5.23", "--unsafe-fixes")
    assert path.read_text() == "import sglang as sgl\nsgl.Engine(model_path='Qwen/Qwen3-8B', context_length=40960)\n"


def test_the_list_of_launches_tells_what_it_is(workspace: Workspace) -> None:
    workspace.file("a.py", "from vllm import LLM\nLLM('m', enforce_eager=True, swap_space=4)\n")
    assert workspace.run("launches", "a.py").out == (
        "a.py:2: vLLM release not known (LLM: an offline engine in Python, no server)\n"
        "  args  model=m\n        enforce_eager=True\n        swap_space=4\n"
    )
    assert json.loads(workspace.run("launches", "a.py", "--format", "json").out)["launches"][0]["object"] == "LLM"


@pytest.mark.parametrize(
    ("name", "release", "tokens", "requests"),
    [("LLM", "0.33.0", 16384, 1024), ("LLM", "0.8.5", 16384, 1024), ("EngineArgs", "0.33.0", 2048, 128)],
)
def test_default_batches(name: str, release: str, tokens: int, requests: int) -> None:
    """EngineArgs.get_batch_defaults and _set_default_max_num_seqs_and_batched_tokens_args by UsageContext."""
    launch = launch_in(f"from vllm import {name}\n{name}('Qwen/Qwen3-8B')\n", "a.py")
    launch.gpu = "h100-80gb"
    found = computed_defaults(configs(launch, [release])[0])
    assert found == {"max-num-batched-tokens": tokens, "max-num-seqs": requests}


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_names_in_the_records_are_known(engine: str) -> None:
    record, catalog = ENGINES[engine], load(engine)
    assert catalog is not None
    assert [name for name in sorted(record.server_options) if not catalog.spelled("--" + name)] == []
    for launcher in [one for one in record.launchers.values() if one.calls]:
        named = {*launcher.lacks, *launcher.refuses_since, *launcher.takes_until}
        assert [name for name in sorted(named) if not catalog.spelled("--" + name)] == []
        assert sorted(named & launcher.own) == []
