"""Translations: what carries over, what changes, what is listed; and the table of concepts against the catalogs."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.core.settings import Settings
from servelint.engines import catalog as catalogs
from servelint.engines.registry import ENGINES
from servelint.translate import Side, Translation, table, targets, translate
from servelint.translate.concepts import CODE
from tests.launching import launch_in
from tests.together import together

ROWS: list[dict[str, Any]] = table()["concepts"]
WITHOUT_SIDES = {"id", "code", "carry", "pairs", "why", "evidence", "with", "all"}


def moved(run: str, engine: str, release: str = "", **versions: str) -> Translation:
    catalog = catalogs.load(engine)
    assert catalog is not None
    launch = launch_in(run, "run.sh")
    named = {name.replace("_", "."): version for name, version in versions.items()}
    return translate(launch, engine, release or catalog.releases[-1], Settings(engine_versions=named))


def words(one: Translation) -> str:
    return " ".join(word.shown for word in one.target.argv)


def kinds(one: Translation) -> dict[str, str]:
    """The option or variable of the launch -> what became of it."""
    return {line.source[0].shown: line.kind for line in one.lines if line.source}


@pytest.mark.parametrize(
    ("run", "engine", "expected"),
    [
        (
            "text-generation-launcher --model-id a/b --num-shard 2 --max-total-tokens 8192 --quantize fp8 --port 80",
            "vllm",
            "a/b --tensor-parallel-size 2 --max-model-len 8192 --quantization fp8 --port 80",
        ),
        (
            "text-generation-launcher --model-id a/b --num-shard 2 --kv-cache-dtype fp8_e4m3fn --port 80",
            "sglang",
            "--model-path a/b --tp-size 2 --kv-cache-dtype fp8_e4m3 --port 80 --host 0.0.0.0",
        ),
        ("text-generation-launcher --model-id a/b", "vllm", "a/b --port 3000"),
        ("MODEL_ID=a/b NUM_SHARD=4 PORT=80 text-generation-launcher", "vllm", "a/b --tensor-parallel-size 4 --port 80"),
        (
            "CUDA_VISIBLE_DEVICES=0,1 text-generation-launcher --model-id a/b --port 8000",
            "vllm",
            "a/b --port 8000 --tensor-parallel-size 2",
        ),
        (
            "text-generation-launcher --model-id a/b --lora-adapters x/y,n=p/q --port 8000",
            "vllm",
            "a/b --lora-modules x/y=x/y n=p/q --enable-lora --port 8000",
        ),
        ("text-generation-launcher --model-id a/b --cuda-graphs 0 -p 8000", "vllm", "a/b --enforce-eager --port 8000"),
        ("vllm serve a/b --max-model-len 32k", "sglang", "--model-path a/b --context-length 32000 --host 0.0.0.0 --port 8000"),
        ("vllm serve a/b --host ::1 --port 30000 -tp $N", "sglang", "--model-path a/b --host ::1 --port 30000 --tp-size ${N}"),
        (
            "vllm serve a/b --host h --port 1 --tool-call-parser hermes --enable-auto-tool-choice",
            "sglang",
            "--model-path a/b --host h --port 1 --tool-call-parser hermes",
        ),
        (
            "vllm serve a/b --host h --port 1 --no-enable-prefix-caching --no-enable-chunked-prefill",
            "sglang",
            "--model-path a/b --host h --port 1 --disable-radix-cache --chunked-prefill-size -1",
        ),
        (
            "vllm serve a/b --host h --port 1 -tp 8 --enable-expert-parallel",
            "sglang",
            "--model-path a/b --host h --port 1 --tp-size 8 --ep-size 8",
        ),
        (
            """vllm serve a/b --host h --port 1 -sc '{"method": "eagle3", "model": "c/d", "num_speculative_tokens": 3}'""",
            "sglang",
            (
                "--model-path a/b --host h --port 1 --speculative-algorithm EAGLE3 --speculative-draft-model-path c/d"
                " --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
            ),
        ),
        (
            "vllm serve a/b --host h --port 1 --nnodes 2 --node-rank 1 --master-addr n0 --master-port 5000",
            "sglang",
            "--model-path a/b --host h --port 1 --nnodes 2 --node-rank 1 --dist-init-addr n0:5000",
        ),
        (
            "sglang serve --model-path a/b --port 8000 --tool-call-parser qwen25 --disable-radix-cache",
            "vllm",
            "a/b --port 8000 --tool-call-parser hermes --enable-auto-tool-choice --no-enable-prefix-caching",
        ),
        (
            "sglang serve --model-path a/b --port 8000 --chunked-prefill-size -1 --tp 4 --ep-size 4",
            "vllm",
            "a/b --port 8000 --no-enable-chunked-prefill --tensor-parallel-size 4 --enable-expert-parallel",
        ),
        (
            (
                "sglang serve --model-path a/b --port 1 --speculative-algorithm NEXTN --speculative-num-steps 2"
                " --speculative-eagle-topk 1 --speculative-num-draft-tokens 3"
            ),
            "vllm",
            """a/b --port 1 --speculative-config {"method": "mtp", "num_speculative_tokens": 2}""",
        ),
        (
            "sglang serve --model-path a/b --port 1 --dist-init-addr n0:20000 --nnodes 2 --node-rank 0",
            "vllm",
            "a/b --port 1 --master-addr n0 --master-port 20000 --nnodes 2 --node-rank 0",
        ),
        (
            "llama-server -m m.gguf -c 32768 -np 4 --port 8000",
            "vllm",
            "MODEL --max-model-len 8192 --max-num-seqs 4 --port 8000",
        ),
        (
            "lmdeploy serve api_server a/b --tp 2 --session-len 4096",
            "vllm",
            "a/b --tensor-parallel-size 2 --max-model-len 4096 --port 23333",
        ),
        (
            "trtllm-serve a/b --tp_size 2 --max_seq_len 4096",
            "sglang",
            "--model-path a/b --tp-size 2 --context-length 4096 --port 8000",
        ),
        (
            "LLAMA_ARG_CTX_SIZE=8192 LLAMA_ARG_N_PARALLEL=4 LLAMA_ARG_PORT=9000 llama-server -m m.gguf",
            "vllm",
            "MODEL --max-model-len 2048 --max-num-seqs 4 --port 9000",
        ),
        (
            (
                "pip install tensorrt_llm==1.3.0rc3\ncat > /tmp/c.yaml <<EOF\nmax_batch_size: 64\ntensor_parallel_size: 2\n"
                "trust_remote_code: true\nkv_cache_config:\n  dtype: fp8\nEOF\n"
                "trtllm-serve a/b --max_seq_len 8192 --config /tmp/c.yaml"
            ),
            "sglang",
            (
                "--model-path a/b --context-length 8192 --max-running-requests 64 --tp-size 2 --trust-remote-code "
                "--kv-cache-dtype fp8_e4m3 --port 8000"
            ),
        ),
        (
            "OLLAMA_HOST=0.0.0.0:80 OLLAMA_NUM_PARALLEL=4 ollama serve",
            "vllm",
            "MODEL --host 0.0.0.0 --port 80 --max-num-seqs 4",
        ),
    ],
)
def test_what_is_written(run: str, engine: str, expected: str) -> None:
    assert words(moved(run, engine)) == expected


@pytest.mark.parametrize(
    ("run", "engine", "option", "kind"),
    [
        ("vllm serve a/b --gpu-memory-utilization 0.8", "sglang", "--gpu-memory-utilization", "left-out"),
        ("vllm serve a/b --max-num-seqs 8", "sglang", "--max-num-seqs", "changed"),
        ("vllm serve a/b --max-model-len auto", "sglang", "--max-model-len", "left-out"),
        ("vllm serve a/b --kv-cache-dtype turboquant_4bit_nc", "sglang", "--kv-cache-dtype", "left-out"),
        ("vllm serve a/b --kv-cache-dtype $DTYPE", "sglang", "--kv-cache-dtype", "left-out"),
        ("vllm serve a/b --enable-prefix-caching", "sglang", "--enable-prefix-caching", "implied"),
        ("vllm serve a/b -dp 2", "sglang", "-dp", "changed"),
        ("vllm serve a/b -dp 2 -ep", "sglang", "-ep", "left-out"),
        ("vllm serve a/b --enable-sleep-mode", "sglang", "--enable-sleep-mode", "left-out"),
        ("vllm serve a/b --ubatch-size 2", "sglang", "--ubatch-size", "unmapped"),
        ("vllm serve a/b --no-such-option", "sglang", "--no-such-option", "unmapped"),
        ("vllm serve a/b $MORE", "sglang", "${MORE}", "unmapped"),
        ("VLLM_USE_V1=1 vllm serve a/b", "sglang", "VLLM_USE_V1=1", "no-counterpart"),
        ("sglang serve --model-path a/b --tp 4 --ep-size 2", "vllm", "--ep-size", "left-out"),
        ("sglang serve --model-path a/b --dp 2 --enable-dp-attention", "vllm", "--dp", "left-out"),
        ("sglang serve --model-path a/b --max-total-tokens 9", "vllm", "--max-total-tokens", "no-counterpart"),
        ("sglang serve --model-path a/b --quantization w8a8_int8", "vllm", "--quantization", "left-out"),
        ("text-generation-launcher --model-id a/b --cuda-memory-fraction 0.8", "vllm", "--cuda-memory-fraction", "changed"),
        ("text-generation-launcher --cuda-memory-fraction 0.8", "sglang", "--cuda-memory-fraction", "left-out"),
        ("text-generation-launcher --quantize eetq", "vllm", "--quantize", "left-out"),
        ("text-generation-launcher --speculate 3", "vllm", "--speculate", "left-out"),
        ("text-generation-launcher --max-best-of 3", "vllm", "--max-best-of", "no-counterpart"),
        ("text-generation-launcher --max-concurrent-requests 9", "vllm", "--max-concurrent-requests", "left-out"),
        ("text-generation-launcher --model-id a/b --cuda-graphs 1,2", "sglang", "--cuda-graphs", "left-out"),
        ("trtllm-serve a/b --kv_cache_dtype fp8", "vllm", "--kv_cache_dtype", "same"),
        ("trtllm-serve a/b --kv_cache_dtype nvfp4", "vllm", "--kv_cache_dtype", "left-out"),
        ("LLAMA_ARG_HOST=0.0.0.0 llama-server --host 127.0.0.1", "sglang", "LLAMA_ARG_HOST=0.0.0.0", "left-out"),
        ("llama-server -m a.gguf -c 4096 -np $N", "vllm", "-c", "left-out"),
        ("llama-server -m a.gguf -c 4096 $MORE", "vllm", "-c", "left-out"),
        ("llama-server -m a.gguf", "vllm", "-m", "left-out"),
        ("OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve", "vllm", "OLLAMA_KV_CACHE_TYPE=q8_0", "left-out"),
    ],
)
def test_what_becomes_of_an_option(run: str, engine: str, option: str, kind: str) -> None:
    one = moved(run, engine)
    assert kinds(one)[option] == kind
    assert one.complete == (kind in ("same", "changed", "implied"))


@pytest.mark.parametrize(
    ("run", "engine", "has", "lacks"),
    [
        ("vllm serve a/b --default-chat-template-kwargs '{}'", "sglang", "0.5.23", "0.5.5"),
        ("sglang serve --model-path a/b --max-queued-requests 9", "vllm", "0.33.0", "0.19.1"),
        ("text-generation-launcher --quantize bitsandbytes-nf4", "vllm", "0.19.1", "0.33.0"),
        ("vllm serve a/b --tool-call-parser glm47", "sglang", "0.5.23", "0.5.2"),
    ],
)
def test_a_release_that_lacks_the_word_or_the_value(run: str, engine: str, has: str, lacks: str) -> None:
    assert not {"left-out", "no-counterpart"} & {*list(kinds(moved(run, engine, has)).values())[-1:]}
    old = moved(run, engine, lacks)
    assert {"left-out", "no-counterpart"} & {*list(kinds(old).values())[-1:]}
    assert any(f"{ENGINES[engine].name} {lacks}" in line.says for line in old.lines)


def test_the_spelling_of_the_target_release() -> None:
    run = "vllm serve a/b --enforce-eager --host h --port 1"
    assert "--disable-cuda-graph" in words(moved(run, "sglang", "0.5.12"))
    assert "--cuda-graph-backend-decode disabled" in words(moved(run, "sglang", "0.5.23"))


def test_an_option_is_read_as_its_own_release_reads_it() -> None:
    one = moved("vllm serve a/b --enable-log-requests", "sglang", vllm="0.9.0")
    assert (one.source, kinds(one)["--enable-log-requests"]) == ("0.9.0", "unmapped")


def test_keys_are_all_carried_or_none() -> None:
    one = moved("vllm serve a/b --api-key key-one key-two", "sglang")
    assert "--api-key" not in words(one)
    assert kinds(one)["--api-key"] == "left-out"


def test_the_variables_that_both_read() -> None:
    one = moved("HF_TOKEN=x VLLM_LOGGING_LEVEL=DEBUG vllm serve a/b", "sglang")
    assert list(one.target.env) == ["HF_TOKEN"]


def test_the_translation_is_judged() -> None:
    one = moved("text-generation-launcher --model-id Qwen/Qwen3-8B --num-shard 5", "vllm")
    assert [finding.rule for finding in one.findings] == ["vllm/heads-not-divisible"]
    assert not one.complete


def test_defaults_that_differ() -> None:
    says = [line.says for line in moved("vllm serve a/b --port $P $MORE", "sglang").lines if line.kind == "default"]
    assert "host: vLLM listens on every interface; --host 0.0.0.0 does so" in says
    assert "metrics: on, at /metrics in vLLM, off; --enable-metrics switches it on in SGLang" in says
    assert not any(one.startswith("port") for one in says)


@pytest.mark.parametrize(
    ("run", "engine", "expected"),
    [
        ("llama-server -m a.gguf", "sglang", ""),
        ("docker run ghcr.io/ggml-org/llama.cpp:server -m a.gguf", "sglang", "llama.cpp listens on every interface"),
        ("llama-server -m a.gguf", "vllm", "interface: 127.0.0.1 in llama.cpp, every interface in vLLM"),
        ("docker run ghcr.io/ggml-org/llama.cpp:server -m a.gguf", "vllm", ""),
        ("trtllm-serve a/b", "vllm", "interface: 127.0.0.1 in TensorRT-LLM, every interface in vLLM"),
        ("sglang serve --model-path a/b --host 0.0.0.0", "vllm", ""),
    ],
)
def test_the_interface(run: str, engine: str, expected: str) -> None:
    says = [line.says for line in moved(run, engine).lines if "interface" in line.says]
    assert [one.partition(";")[0] for one in says] == ([expected] if expected else [])


def test_an_option_goes_before_its_variable() -> None:
    one = moved("LLAMA_ARG_HOST=0.0.0.0 llama-server -m a.gguf --host 127.0.0.1", "vllm")
    assert "--host 127.0.0.1" in words(one)
    assert "0.0.0.0" not in words(one)


def test_a_context_that_slots_do_not_divide() -> None:
    assert "--max-model-len 4096" in words(moved("llama-server -m a.gguf -c 4096", "vllm"))
    assert "--max-model-len 4096" in words(moved("llama-server -m a.gguf -c 4096", "vllm", llama_cpp="b4462"))


def test_an_image_of_the_release() -> None:
    assert moved("text-generation-launcher --model-id a/b", "vllm", "0.19.1").image == "vllm/vllm-openai:v0.19.1"


@pytest.mark.parametrize(("engine", "release"), [("tgi", "3.3.7"), ("vllm", "99.0"), ("none", "1")])
def test_what_cannot_be_translated_to(engine: str, release: str) -> None:
    with pytest.raises(ValueError, match="no translation to"):
        translate(launch_in("vllm serve a/b", "run.sh"), engine, release, Settings())


class TestTable:
    """The table names options, variables and values that the catalogs have."""

    def test_ids(self) -> None:
        ids = [row["id"] for row in ROWS]
        assert len(set(ids)) == len(ids)
        assert {row["code"] for row in ROWS if "code" in row} == {*CODE, "model"}

    @together("row", ROWS, name=lambda row: str(row["id"]))
    def test_a_row(self, row: dict[str, Any]) -> None:
        sides = {name: Side(row[name]) for name in row if name not in WITHOUT_SIDES}
        assert sides.keys() <= ENGINES.keys()
        assert row.get("carry", "same") in ("same", "changed", "never", "values")
        for engine, side in sides.items():
            catalog = catalogs.load(engine)
            assert catalog is not None
            assert side.names or side.env or side.keys or side.says("none") or side.says("implied"), engine
            for path in side.keys:
                assert _known_key(engine, path), (engine, path)
            for name in side.names:
                assert catalog.runs_of(name) or name == ENGINES[engine].dialect.positional, (engine, name)
            for name in side.env:
                assert name in catalog.variables(), (engine, name)
        if not sides.keys() & {*targets()} or row.get("carry") == "never":
            assert row.get("why"), "what has no counterpart says why"

    def test_evidence_is_of_releases_that_the_catalogs_have(self) -> None:
        named = [*table()["sources"].values(), *[one for row in ROWS for one in row.get("evidence", ())]]
        for one in named:
            engine, _, release = one.split()[0].rpartition("-")
            catalog = catalogs.load(engine)
            assert catalog is not None
            assert catalog.index(release) is not None, one

    @pytest.mark.parametrize("engine", targets())
    def test_values_are_those_of_the_newest_release_or_of_an_older_one(self, engine: str) -> None:
        catalog = catalogs.load(engine)
        assert catalog is not None
        for row in ROWS:
            side = Side(row[engine]) if engine in row else Side({})
            for name in side.options if side.values is not None else []:
                known: set[str] = set()
                for _, _, option in catalog.runs_of(name):
                    known |= {str(choice) for choice in option.choices or ()}
                kind = ENGINES[engine].looked_up_options.get(name) or ENGINES[engine].value_kinds_of_options.get(name, ("",))[0]
                known |= {*catalog.names(kind)} if kind else set()
                assert not known or {*(side.values or ())} <= known, (row["id"], {*(side.values or ())} - known)


@pytest.mark.parametrize(
    ("run", "name", "value"),
    [
        ("python -m sglang.launch_server --model-path a/b --log-level warning", "VLLM_LOGGING_LEVEL", "WARNING"),
        ("trtllm-serve a/b --log_level verbose", "VLLM_LOGGING_LEVEL", "DEBUG"),
        ("lmdeploy serve api_server a/b --log-level WARN", "VLLM_LOGGING_LEVEL", "WARNING"),
        ("text-generation-launcher --model-id a/b --usage-stats off", "VLLM_NO_USAGE_STATS", "1"),
    ],
)
def test_an_option_becomes_a_variable(run: str, name: str, value: str) -> None:
    one = moved(run, "vllm")
    text = one.target.env[name].value
    assert text is not None
    assert text.flat == value
    (line,) = [line for line in one.lines if line.target and line.target[0].shown == f"{name}={value}"]
    assert line.kind == "same"


def test_a_value_that_the_variable_lacks_is_left_out() -> None:
    one = moved("python -m sglang.launch_server --model-path a/b --log-level trace", "vllm")
    assert "VLLM_LOGGING_LEVEL" not in one.target.env
    assert kinds(one)["--log-level"] == "left-out"
    one = moved("python -m sglang.launch_server --model-path a/b --log-level $LEVEL", "vllm")
    assert kinds(one)["--log-level"] == "left-out"


def test_a_variable_becomes_an_option() -> None:
    assert "--log-level debug" in words(moved("VLLM_LOGGING_LEVEL=DEBUG vllm serve a/b", "sglang"))


def test_a_context_of_zero_is_that_of_the_model() -> None:
    one = moved("llama-server -m /m/Qwen3-8B-Q8_0.gguf -c 0 --port 8000", "vllm")
    assert kinds(one)["-c"] == "implied"
    assert "--max-model-len" not in words(one)
    assert any("the context of the model is the default" in line.says for line in one.lines)


def test_a_value_that_the_target_cannot_start_with_is_left_out() -> None:
    found = moved("text-generation-launcher --model-id Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4 --quantize gptq", "sglang", "0.5.23")
    assert "--quantization" not in [word.shown for word in found.target.argv]
    (line,) = [line for line in found.lines if line.concept == "quantization"]
    assert (line.kind, line.target) == ("left-out", [])
    assert line.says.startswith("SGLang 0.5.23 still lists gptq")
    assert found.findings == []
    before = moved("text-generation-launcher --model-id Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4 --quantize gptq", "sglang", "0.5.16")
    assert [word.shown for word in before.target.argv][2:4] == ["--quantization", "gptq"]


def _known_key(engine: str, path: str) -> bool:
    """Whether any release has a key of the file that an engine takes for an option."""
    catalog = catalogs.load(engine)
    assert catalog is not None
    outer, _, name = f"config.{path}".rpartition(".")
    held = [catalog.keys(outer, at) for at in range(len(catalog.releases))]
    return any(keys is not None and keys.lives(name) for keys in held)


_FILE = "cat > /tmp/c.yaml <<EOF\n{keys}\nEOF\ntrtllm-serve a/b --tp_size 2 --config /tmp/c.yaml\n"


@together(
    "keys, engine, written",
    [
        ("kv_cache_config:\n  enable_block_reuse: false", "vllm", "--no-enable-prefix-caching"),
        ("kv_cache_config:\n  enable_block_reuse: false", "sglang", "--disable-radix-cache"),
        ("kv_cache_config:\n  enable_block_reuse: true", "sglang", ""),
        ("kv_cache_config:\n  dtype: fp8", "sglang", "--kv-cache-dtype fp8_e4m3"),
        ("disable_overlap_scheduler: true", "sglang", "--disable-overlap-schedule"),
        ("disable_overlap_scheduler: true", "vllm", "--no-async-scheduling"),
        ("disable_overlap_scheduler: false", "sglang", ""),
        ("cuda_graph_config:\n  max_batch_size: 8", "sglang", "--cuda-graph-max-bs-decode 8"),
        ("cuda_graph_config:\n  max_batch_size: 8", "vllm", ""),  # vLLM counts tokens
        ("enable_attention_dp: true", "vllm", ""),
        ("moe_config:\n  backend: CUTLASS", "vllm", ""),
        (
            "speculative_config:\n  decoding_type: Eagle\n  max_draft_len: 3\n  speculative_model_dir: c/d",
            "vllm",
            '--speculative-config {"method": "eagle3", "model": "c/d", "num_speculative_tokens": 3}',
        ),
        ("speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 2", "sglang", "--speculative-algorithm NEXTN"),
        ("speculative_config:\n  decoding_type: NGram\n  max_draft_len: 0", "vllm", ""),
        ("speculative_config:\n  decoding_type: Medusa\n  max_draft_len: 3\n  speculative_model_dir: c/d", "vllm", ""),
        ("speculative_config:\n  decoding_type: Eagle\n  max_draft_len: $N\n  speculative_model_dir: c/d", "vllm", ""),
    ],
)
def test_keys_of_the_llm_api_that_no_option_sets(keys: str, engine: str, written: str) -> None:
    one = moved(_FILE.format(keys=keys), engine, trtllm="1.2.0")
    rest = words(one).partition("2")[2].strip()
    assert (written in rest) if written else rest.replace("--port 8000", "") == "", rest
    assert "unmapped" not in kinds(one).values()


@together(
    "name, says",
    [
        ("OLLAMA_ORIGINS=*", "SGLang allows every origin"),
        ("OLLAMA_FLASH_ATTENTION=1", "the attention kernels are those of the other engine"),
        ("OLLAMA_MAX_LOADED_MODELS=2", "a server has one model, for as long as it runs"),
    ],
)
def test_why_a_variable_of_ollama_has_no_counterpart(name: str, says: str) -> None:
    one = moved(f"{name} ollama serve", "sglang")
    assert [line.says for line in one.lines if line.source and line.source[0].shown.startswith(name.partition("=")[0])] == [
        says
    ]
