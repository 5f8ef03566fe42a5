"""What vLLM makes of its settings, on each side of the releases where that changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from servelint.engines.config import configs
from tests.launching import launch_in
from tests.together import together

PLAIN = "Qwen/Qwen3-8B"
HYBRID = "Qwen/Qwen3.6-27B"
MAMBA = "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"
OTHER_HYBRID = "LiquidAI/LFM2-1.2B"
UNKNOWN = "house/some-model"


def fact(name: str, words: str, release: str | None) -> object:
    """The value of a fact; "absent" or "unknown" where it has none."""
    operand = configs(launch_in(f"vllm serve {words}", "run.sh"), [release] if release is not None else [])[0].operand(
        f"effective.{name}"
    )
    if operand.present is False:
        return "absent"
    return "unknown" if operand.value is None else operand.value


def spec(method: str) -> str:
    return f'{PLAIN} --speculative-config \'{{"method": "{method}", "num_speculative_tokens": 2}}\''


class TestSpeculativeMethod:
    @together(
        "words, expected",
        [
            (PLAIN, "absent"),
            (f"{PLAIN} $ARGS", "unknown"),
            (spec("mtp"), "mtp"),
            (spec("qwen3_next_mtp"), "mtp"),
            (spec("deepseek_mtp"), "mtp"),
            (spec("eagle3"), "eagle3"),
            (spec("method_of_tomorrow"), "method_of_tomorrow"),
            (f"{PLAIN} --speculative-config '{{\"method\": \"'$M'\"}}'", "unknown"),
            (f"{PLAIN} --speculative-config $SPEC", "unknown"),
            # without a method vLLM takes n-grams by the model's name, and guesses the rest
            (f'{PLAIN} --speculative-config \'{{"model": "ngram"}}\'', "ngram"),
            (f'{PLAIN} --speculative-config \'{{"model": "[ngram]"}}\'', "ngram"),
            (f'{PLAIN} --speculative-config \'{{"model": "x/y"}}\'', "unknown"),
            (f"{PLAIN} --speculative-config '{{}}'", "unknown"),
            (f"{PLAIN} --speculative-config.method mimo_mtp", "mtp"),
            # or from a draft whose family is known
            (f'{PLAIN} --speculative-config \'{{"model": "Qwen/Qwen3-0.6B"}}\'', "draft_model"),
            (f'{PLAIN} --speculative-config \'{{"model": "deepseek-ai/DeepSeek-V3"}}\'', "mtp"),
            (f'{PLAIN} --speculative-config \'{{"model": "AngelSlim/Qwen3-8B_eagle3"}}\'', "eagle3"),
            (f'{PLAIN} --speculative-config \'{{"model": "yuhuili/EAGLE-LLaMA3-Instruct-8B"}}\'', "eagle"),
            (f'{PLAIN} --speculative-config \'{{"model": "z-lab/Qwen3-8B-DFlash-b16"}}\'', "dflash"),
            # which may also be called what it is not
            (spec("draft_model"), "draft_model"),
            (f'{PLAIN} --speculative-config \'{{"method": "draft_model", "model": "x/eagle3-head"}}\'', "eagle3"),
            (f'{PLAIN} --speculative-config \'{{"method": "draft_model", "model": "\'$M\'"}}\'', "unknown"),
            # options of their own, from 0.22.0
            (f"{PLAIN} --spec-method qwen3_next_mtp --spec-tokens 2", "mtp"),
            (f"{PLAIN} --spec-method $METHOD --spec-tokens 2", "unknown"),
            (f"{PLAIN} --spec-model Qwen/Qwen3-0.6B --spec-tokens 2", "draft_model"),
        ],
    )
    def test_under_its_present_name(self, words: str, expected: str) -> None:
        assert fact("speculative-method", words, "0.28.0") == expected

    def test_a_name_that_came_later_tells_nothing(self) -> None:
        draft = f'{PLAIN} --speculative-config \'{{"model": "x/dspark-draft"}}\''
        assert fact("speculative-method", draft, "0.24.0") == "unknown"
        assert fact("speculative-method", draft, "0.25.0") == "dspark"


class TestSpeculation:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (PLAIN, "absent"),
            (spec("mtp"), True),
            (f"{PLAIN} --spec-method ngram --spec-tokens 3", True),
            (f"{PLAIN} --speculative-config.method ngram", True),
            (f"{PLAIN} --speculative-config $SPEC", "unknown"),
            (f"{PLAIN} --speculative-config null", "unknown"),
            (f"{PLAIN} $ARGS", "unknown"),
        ],
    )
    def test_is_on(self, words: str, expected: object) -> None:
        assert fact("speculation", words, "0.28.0") == expected


class TestSpeculativeTokens:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (PLAIN, "absent"),
            (spec("mtp"), 2),
            (f"{PLAIN} --spec-method ngram --spec-tokens 3", 3),
            (f"{PLAIN} --spec-method ngram --spec-tokens $K", "unknown"),
            (f'{PLAIN} --speculative-config \'{{"method": "ngram"}}\'', "absent"),
        ],
    )
    def test_as_written(self, words: str, expected: object) -> None:
        assert fact("speculative-tokens", words, "0.28.0") == expected


class TestRegistered:
    @together(
        "name, words, release, expected",
        [
            ("tool-call-parser-known", "--tool-call-parser qwen3_coder", "0.9.2", False),
            ("tool-call-parser-known", "--tool-call-parser qwen3_coder", "0.10.0", True),
            ("tool-call-parser-known", "--tool-call-parser house", "0.33.0", False),
            ("tool-call-parser-known", "--tool-call-parser house --tool-parser-plugin house.py", "0.33.0", "unknown"),
            ("tool-call-parser-known", "--tool-call-parser house $ARGS", "0.33.0", "unknown"),
            ("tool-call-parser-known", "--tool-call-parser $PARSER", "0.33.0", "unknown"),
            ("tool-call-parser-known", "--tool-call-parser hermes", None, "unknown"),
            ("tool-call-parser-known", "", "0.33.0", "absent"),
            ("reasoning-parser-known", "--reasoning-parser glm47", "0.23.0", False),
            ("reasoning-parser-known", "--reasoning-parser glm47", "0.24.0", True),
            ("reasoning-parser-known", "--reasoning-parser house --reasoning-parser-plugin house.py", "0.33.0", "unknown"),
            ("quantization-known", "--quantization hqq", "0.14.1", True),
            ("quantization-known", "--quantization hqq", "0.16.0", False),
            ("quantization-known", "-q fp8", "0.33.0", True),
        ],
    )
    def test_by_release(self, name: str, words: str, release: str | None, expected: object) -> None:
        assert fact(name, f"{PLAIN} {words}", release) == expected


class TestSpeculativeAlias:
    @together(
        "method, release, expected",
        [
            ("qwen3_next_mtp", "0.10.2", "absent"),  # a method of its own
            ("qwen3_next_mtp", "0.11.0rc1", "unknown"),
            ("qwen3_next_mtp", "0.11.0", "mtp"),
            ("qwen3_5_mtp", "0.16.0", "absent"),  # not known yet
            ("qwen3_5_mtp", "0.17.0", "mtp"),
            ("qwen3_5_mtp", None, "unknown"),
            ("mtp", "0.28.0", "absent"),
            ("method_of_tomorrow", "0.28.0", "absent"),
        ],
    )
    def test_a_deprecated_name(self, method: str, release: str | None, expected: str) -> None:
        assert fact("speculative-alias", spec(method), release) == expected

    def test_without_a_method(self) -> None:
        assert fact("speculative-alias", PLAIN, "0.28.0") == "absent"
        assert fact("speculative-alias", f"{PLAIN} $ARGS", "0.28.0") == "unknown"


class TestSpeculativeMethodKnown:
    @together(
        "method, release, expected",
        [
            ("mtp", "0.10.2", False),
            ("mtp", "0.11.0", True),
            ("eagle3", "0.9.0.1", False),
            ("eagle3", "0.9.1", True),
            ("qwen3_5_mtp", "0.16.0", False),
            ("qwen3_5_mtp", "0.17.0", True),
            ("medusa", "0.32.0", True),
            ("medusa", "0.32", True),
            ("medusa", "v0.32.0", True),
            ("medusa", "0.33.0", False),
            ("medusa", None, "unknown"),
            ("method_of_tomorrow", "0.28.0", False),
            ("$M", "0.28.0", "unknown"),
        ],
    )
    def test_by_release(self, method: str, release: str | None, expected: object) -> None:
        assert fact("speculative-method-known", spec(method).replace("$M", "'$M'"), release) == expected


class TestPrefixCaching:
    @together(
        "words, release, expected",
        [
            # on by default on the V1 engine, which is the only one from 0.11.0
            (PLAIN, "0.10.2", "unknown"),
            (PLAIN, "0.11.0", True),
            (PLAIN, None, "unknown"),
            (f"{PLAIN} --enable-prefix-caching", "0.10.2", True),
            (f"{PLAIN} --no-enable-prefix-caching", "0.28.0", False),
            (f"{PLAIN} --enable-prefix-caching", None, True),
            # hybrid models: overridden to off, then off by default, then on
            (HYBRID, "0.14.1", False),
            (f"{HYBRID} --enable-prefix-caching", "0.14.1", False),
            (f"{HYBRID} --enable-prefix-caching", "0.15.0", True),
            (f"{HYBRID} --enable-prefix-caching", "0.10.1", "unknown"),
            (f"{MAMBA} --enable-prefix-caching", "0.11.0", False),
            (f"{MAMBA} --enable-prefix-caching", "0.11.1", True),
            (MAMBA, "0.11.1", False),
            (f"{OTHER_HYBRID} --enable-prefix-caching", "0.11.0", False),
            (f"{OTHER_HYBRID} --enable-prefix-caching", "0.14.1", "unknown"),
            (f"{OTHER_HYBRID} --enable-prefix-caching", "0.15.0", True),
            (HYBRID, "0.16.0", False),
            (HYBRID, "0.27.1", False),
            (HYBRID, "0.28.0rc1", False),
            (HYBRID, "0.28.0", True),
            (HYBRID, None, "unknown"),
            (f"{HYBRID} --no-enable-prefix-caching", "0.28.0", False),
            (f"{HYBRID} --no-enable-prefix-caching", None, False),
            # a model that nobody knows may be either
            (UNKNOWN, "0.28.0", "unknown"),
            (f"{UNKNOWN} --enable-prefix-caching", "0.28.0", True),
            # and so may what is not written
            (f"{PLAIN} $ARGS", "0.28.0", "unknown"),
            (f"{PLAIN} ${{X:+--no-enable-prefix-caching}}", "0.28.0", "unknown"),
            (f"{PLAIN} --enable-prefix", "0.28.0", True),
        ],
    )
    def test_by_model_and_release(self, words: str, release: str | None, expected: object) -> None:
        assert fact("prefix-caching", words, release) == expected


class TestAsyncScheduling:
    @together(
        "words, release, expected",
        [
            (spec("mtp"), "0.13.0", False),
            (spec("mtp"), "0.14.0", True),
            (spec("eagle3"), "0.14.0", True),
            (spec("qwen3_next_mtp"), "0.14.0", True),
            (spec("ngram"), "0.14.0", False),
            (spec("ngram"), "0.32.0", False),
            (spec("ngram"), "0.33.0", "unknown"),
            (spec("draft_model"), "0.28.0", "unknown"),
            (PLAIN, "0.13.0", False),
            (PLAIN, "0.14.0", True),
            (PLAIN, "0.33.0", True),
            (PLAIN + " --data-parallel-backend ray", "0.33.0", "unknown"),
            (PLAIN + " --runner pooling", "0.19.1", True),
            (PLAIN + " --runner pooling", "0.20.0", "unknown"),
            (PLAIN + " --convert embed", "0.20.0", "unknown"),
            ("Qwen/Qwen3-Embedding-0.6B", "0.20.0", "unknown"),
            ("BAAI/bge-m3", "0.20.0", "unknown"),
            (UNKNOWN, "0.14.0", True),
            (UNKNOWN, "0.20.0", "unknown"),
            (UNKNOWN + " --runner generate", "0.20.0", True),
            (PLAIN + " $ARGS", "0.20.0", "unknown"),
            (f"{HYBRID} --enable-prefix-caching", "0.16.0", "unknown"),
            (HYBRID, "0.16.0", True),
            (f"{HYBRID} --enable-prefix-caching", "0.18.0", True),
            (f"{PLAIN} --mamba-cache-mode all", "0.16.0", "unknown"),
            (f"{PLAIN} --mamba-cache-mode all", "0.18.0", True),
            (PLAIN + """ --hf-overrides '{"architectures": ["Qwen3ForSequenceClassification"]}'""", "0.30.0", "unknown"),
            (spec("eagle3") + " --convert embed", "0.30.0", "unknown"),
            (spec("mtp"), None, "unknown"),
            (spec("mtp") + " --async-scheduling", "0.13.0", True),
            (spec("mtp") + " --no-async-scheduling", "0.28.0", False),
            (spec("mtp") + " $ARGS", "0.28.0", "unknown"),
            (spec("mtp").replace("2}", '2, "disable_padded_drafter_batch": true}'), "0.28.0", "unknown"),
            (spec("mtp") + " --pipeline-parallel-size 1", "0.28.0", True),
            (spec("mtp") + " --pipeline-parallel-size 2", "0.28.0", "unknown"),
            (spec("mtp") + " --pipeline-parallel-size $PP", "0.28.0", "unknown"),
            (spec("mtp") + " --distributed-executor-backend mp", "0.28.0", True),
            (spec("mtp") + " --distributed-executor-backend ray", "0.28.0", "unknown"),
        ],
    )
    def test_by_method_and_release(self, words: str, release: str | None, expected: object) -> None:
        assert fact("async-scheduling", words, release) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("vllm serve m", "word"),
        ("vllm serve --model m", "option"),
        ("vllm serve --port 80 --model=m", "option"),
        ("vllm serve --config serve.yaml", "file"),
        ("vllm serve --config serve.yaml --model m", "option"),
    ],
)
def test_how_the_model_is_named(command: str, expected: str, tmp_path: Path) -> None:
    """The engine warns of --model on the command line, and not of `model` in the file that --config names."""
    (tmp_path / "serve.yaml").write_text("model: Qwen/Qwen3-8B\n")
    config = configs(launch_in(command, "run.sh", tmp_path), ["0.33.0"])[0]
    assert config.operand("effective.model-argument").value == expected


@together(
    "name, words, release, expected",
    [
        ("lacks-lora", "Qwen/Qwen3-30B-A3B", "0.9.2", True),
        ("lacks-lora", "Qwen/Qwen3-30B-A3B", "0.10.0", False),
        ("lacks-lora", UNKNOWN, "0.9.2", "unknown"),
        ("lacks-lora", "Qwen/Qwen3-30B-A3B", "0.8.3", "unknown"),  # a class of later releases
        ("lacks-lora", "Qwen/Qwen3-30B-A3B", None, "unknown"),
        ("lacks-pp", "meta-llama/Llama-3.1-8B-Instruct", "0.6.0", False),
        ("lacks-bitsandbytes", "Qwen/Qwen2.5-7B-Instruct", "0.6.3.post1", True),
        ("lacks-bitsandbytes", "Qwen/Qwen2.5-7B-Instruct", "0.8.5", False),
    ],
)
def test_what_the_class_of_the_model_lacks(name: str, words: str, release: str | None, expected: object) -> None:
    assert fact(name, words, release) == expected


SMALL_31 = "mistralai/Mistral-Small-3.1-24B-Instruct-2503"
PIXTRAL, MISTRAL3 = "PixtralForConditionalGeneration", "Mistral3ForConditionalGeneration"


@together(
    "words, release, expected",
    [
        (SMALL_31, "0.12.0", PIXTRAL),
        (SMALL_31, "0.11.2", MISTRAL3),
        (f"{SMALL_31} --config-format mistral", "0.11.2", PIXTRAL),
        (f"{SMALL_31} --config-format hf", "0.33.0", MISTRAL3),
        (f"{SMALL_31} --config-format $FORMAT", "0.33.0", "unknown"),
        (SMALL_31, None, "unknown"),
        ("Qwen/Qwen3-8B --config-format mistral", "0.33.0", "Qwen3ForCausalLM"),
    ],
)
def test_the_class_that_the_release_takes_for_the_model(words: str, release: str | None, expected: object) -> None:
    assert fact("model-class", words, release) == expected


def connector(transfer: str) -> str:
    return f"{PLAIN} --kv-transfer-config '{transfer}'"


def multi(inner: str) -> str:
    return connector(
        '{"kv_connector":"MultiConnector","kv_role":"kv_both","kv_connector_extra_config":{"connectors":' + inner + "}}"
    )


@together(
    "words, expected",
    [
        (connector('{"kv_connector":"NixlConnector","kv_role":"kv_both"}'), "NixlConnector"),
        (multi('[{"kv_connector":"NixlConnector"},{"kv_connector":"X"}]'), "NixlConnector, X"),
        (multi('[{"kv_connector":"NixlConnector"},{}]'), "unknown"),
        (multi('["NixlConnector"]'), "unknown"),
        (connector('{"kv_connector":"MultiConnector","kv_role":"kv_both"}'), "unknown"),
        (f"{PLAIN} --kv-transfer-config $KV", "unknown"),
    ],
)
def test_the_connectors_inside_another(words: str, expected: object) -> None:
    assert fact("kv-connectors", words, "0.33.0") == expected


LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


@together(
    "words, release, gpu, expected",
    [
        (LLAMA, "0.33.0", "h100", "FLASH_ATTN"),
        (LLAMA, "0.33.0", "l4", "FLASH_ATTN"),
        (LLAMA, "0.33.0", "a100-80gb", "FLASH_ATTN"),
        (LLAMA, "0.33.0", "rtx-5090", "FLASH_ATTN"),
        (LLAMA, "0.33.0", "b200", "FLASHINFER"),
        (LLAMA, "0.23.0", "t4", "FLASHINFER"),
        (LLAMA, "0.24.0", "t4", "TRITON_ATTN"),
        (LLAMA, "0.33.0", "v100", "unknown"),
        (LLAMA, "0.33.0", "mi300x", "unknown"),
        (LLAMA, "0.33.0", None, "unknown"),
        (LLAMA, "0.11.0", "h100", "unknown"),
        (LLAMA, "0.11.1", "h100", "FLASH_ATTN"),
        (LLAMA, None, "h100", "unknown"),
        ("facebook/opt-125m", "0.33.0", "b200", "FLASHINFER"),  # heads of 64
        ("Qwen/Qwen3-4B", "0.33.0", "b200", "FLASHINFER"),  # 2560 / 32 are 80, and its heads have 128 all the same
        (HYBRID, "0.33.0", "h100", "unknown"),
        (UNKNOWN, "0.33.0", "h100", "unknown"),
        (f"{LLAMA} --dtype bfloat16", "0.33.0", "h100", "FLASH_ATTN"),
        (f"{LLAMA} --dtype auto", "0.33.0", "h100", "FLASH_ATTN"),
        (f"{LLAMA} --dtype half", "0.33.0", "h100", "FLASH_ATTN"),
        (f"{LLAMA} --dtype float16", "0.33.0", "h100", "FLASH_ATTN"),
        (f"{LLAMA} --dtype float32", "0.33.0", "h100", "unknown"),
        (f"{LLAMA} --dtype $DTYPE", "0.33.0", "h100", "unknown"),
        (f"{LLAMA} --kv-cache-dtype fp8", "0.33.0", "h100", "unknown"),
        (f"{LLAMA} --block-size 32", "0.33.0", "h100", "unknown"),
        (f"{LLAMA} --runner pooling", "0.33.0", "h100", "unknown"),
        (f"{LLAMA} --spec-method ngram --spec-tokens 2", "0.33.0", "h100", "unknown"),
        (f"{LLAMA} --hf-overrides.num_attention_heads 8", "0.33.0", "h100", "unknown"),
        (f"{LLAMA} $MORE", "0.33.0", "h100", "unknown"),
        (f"{LLAMA} --attention-backend TRITON_ATTN", "0.33.0", None, "TRITON_ATTN"),
        (f"{LLAMA} --attention-backend auto", "0.33.0", "h100", "unknown"),
        (f"{LLAMA} --attention-backend $B", "0.33.0", "h100", "unknown"),
    ],
)
def test_the_attention_backend(words: str, release: str | None, gpu: str | None, expected: str) -> None:
    launch = launch_in(f"vllm serve {words}", "run.sh")
    launch.gpu = gpu
    operand = configs(launch, [release] if release is not None else [])[0].operand("effective.attention-backend")
    assert (operand.value if operand.value is not None else "unknown") == expected


@pytest.mark.parametrize(
    ("heads", "hidden", "expected"),
    [
        (32, 2048, "FLASHINFER"),
        (32, 4096, "FLASHINFER"),
        (16, 4096, "FLASHINFER"),
        (32, 3072, "unknown"),
        (32, 2080, "unknown"),
    ],
)
def test_the_dimensions_of_heads_that_flashinfer_takes(heads: int, hidden: int, expected: str, tmp_path: Path) -> None:
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden, "num_attention_heads": heads,
        "num_key_value_heads": 8, "num_hidden_layers": 2, "intermediate_size": 512, "vocab_size": 1000,
        "torch_dtype": "float16", "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128},
    }  # fmt: skip
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text(json.dumps(config))
    launch = launch_in("vllm serve ./m", "run.sh", tmp_path)
    launch.gpu = "b200"
    operand = configs(launch, ["0.33.0"])[0].operand("effective.attention-backend")
    assert (operand.value if operand.value is not None else "unknown") == expected
