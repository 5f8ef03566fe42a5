"""Checks of what vLLM makes of a model and its weights, on both sides of what they compare."""

from __future__ import annotations

import json

import pytest

from servelint.engines.config import Config, configs
from servelint.judge.checks import run_check
from tests.judging import fields
from tests.launching import launch_in
from tests.together import together


def config(words: str, release: str = "0.33.0") -> Config:
    return configs(launch_in(f"vllm serve {words}", "run.sh"), [release])[0]


def spec(**keys: object) -> str:
    return f"--speculative-config '{json.dumps({'num_speculative_tokens': 3, **keys})}'"


@pytest.mark.parametrize(
    ("model", "release", "last"),
    [
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "0.10.2", None),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "0.11.0", "0.10.2"),
        ("Qwen/Qwen-7B-Chat", "0.24.0", "0.23.0"),
        ("mixedbread-ai/mxbai-rerank-base-v2", "0.33.0", None),
        ("Qwen/Qwen3-8B", "0.33.0", None),
        ("$MODEL", "0.33.0", None),
    ],
)
def test_a_class_that_a_release_no_longer_lists(model: str, release: str, last: str | None) -> None:
    found = fields("vllm/model-no-longer-listed", config(model, release))
    assert (found or {}).get("last") == last


@together(
    "model, release, rule, since",
    [
        ("allenai/MolmoWeb-4B", "0.14.1", "model-too-new", "0.15.0"),  # no Transformers below 5 knows its type
        ("allenai/MolmoWeb-4B", "0.15.0", "model-too-new", None),
        ("allenai/MolmoWeb-4B --trust-remote-code", "0.14.1", "model-too-new", None),  # its repository may bring it
        ("allenai/MolmoWeb-4B --trust-remote-code", "0.14.1", "model-not-listed", "0.15.0"),
        ("mispeech/midashenglm-7b", "0.10.1.1", "model-too-new", None),  # no Transformers is known to have it
        ("mispeech/midashenglm-7b", "0.10.1.1", "model-not-listed", "0.10.2"),
        ("mispeech/midashenglm-7b", "0.10.2", "model-not-listed", None),
        ("Alibaba-NLP/Tongyi-DeepResearch-30B-A3B", "0.7.1", "model-too-new", "0.8.4"),
        ("Alibaba-NLP/Tongyi-DeepResearch-30B-A3B", "0.8.4", "model-too-new", None),
    ],
)
def test_a_release_before_the_class_of_a_checkpoint_that_no_family_claims(
    model: str, release: str, rule: str, since: str | None
) -> None:
    found = fields(f"vllm/{rule}", config(model, release))
    assert (found or {}).get("since") == since


class TestDeprecatedQuantization:
    @together(
        "method, release, holds",
        [
            ("fbgemm_fp8", "0.13.0", False),
            ("fbgemm_fp8", "0.14.0", True),
            ("fbgemm_fp8", "0.33.0", True),
            ("ptpc_fp8", "0.18.1", True),
            ("ptpc_fp8", "0.19.0", False),
            ("rtn", "0.14.1", True),
            ("rtn", "0.16.0", False),
            ("fp8", "0.33.0", False),
            ("$METHOD", "0.33.0", False),
        ],
    )
    def test_while_it_is_on_the_list(self, method: str, release: str, holds: bool) -> None:
        found = fields("vllm/quantization-deprecated", config(f"m --quantization {method}", release))
        assert found == ({} if holds else None)


class TestEagle3Target:
    @together(
        "model, method, release, since",
        [
            ("Qwen/Qwen3-8B", "eagle3", "0.10.0", "0.10.1"),
            ("Qwen/Qwen3-8B", "eagle3", "0.10.1", None),
            ("openai/gpt-oss-20b", "eagle3", "0.10.2", "0.11.0"),
            ("openai/gpt-oss-20b", "eagle3", "0.11.0", None),
            ("google/gemma-3-27b-it", "eagle3", "0.21.0", "0.22.0"),
            ("google/gemma-3-27b-it", "eagle3", "0.22.0", None),
            ("google/gemma-3-27b-it", "dflash", "0.19.1", None),
            ("google/gemma-3-27b-it", "dflash", "0.20.0", "0.22.0"),
            ("meta-llama/Llama-3.1-8B-Instruct", "eagle3", "0.10.0", None),
            ("deepseek-ai/DeepSeek-V3", "eagle3", "0.17.1", None),  # vllm/eagle3-deepseek-unsupported says it
            ("deepseek-ai/DeepSeek-V3", "eagle3", "0.18.0", None),
            ("house/some-model", "eagle3", "0.10.0", None),
            ("$MODEL", "eagle3", "0.10.0", None),
        ],
    )
    def test_by_the_list_of_the_release(self, model: str, method: str, release: str, since: str | None) -> None:
        found = fields("vllm/eagle3-target-unsupported", config(f"{model} {spec(method=method, model='x/y')}", release))
        assert found == ({"since": since} if since is not None else None)


class TestConfigCode:
    @together(
        "words, release, needs",
        [
            ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", "0.18.1", "Transformers 5.3.0 or its own code"),
            ("microsoft/Phi-4-multimodal-instruct", "0.33.0", "its own code"),
            ("Qwen/Qwen3-8B", "0.18.1", None),
            ("$MODEL", "0.18.1", None),
        ],
    )
    def test_what_nobody_can_read(self, words: str, release: str, needs: str | None) -> None:
        found = fields("vllm/config-needs-remote-code", config(words, release))
        assert (found["needs"] if found else None) == needs

    @together(
        "words, release, needs",
        [
            ("zai-org/GLM-5", "0.18.1", "5.2.0"),
            ("zai-org/GLM-4.7-Flash", "0.17.0", "5.0.0"),
            ("zai-org/GLM-5", "0.19.1", None),
            ("zai-org/GLM-5", "0.14.1", None),  # the release does not list the architecture: another rule's
            ("zai-org/GLM-5 --trust-remote-code", "0.18.1", None),
        ],
    )
    def test_what_an_older_transformers_cannot_read(self, words: str, release: str, needs: str | None) -> None:
        found = fields("vllm/config-needs-newer-transformers", config(words, release))
        assert (found["transformers"] if found else None) == needs


class TestModelTooNew:
    @pytest.mark.parametrize(
        ("words", "release", "holds"),
        [
            ("openai/gpt-oss-20b", "0.10.0", True),  # Transformers runs the model, but nothing its weights
            ("openai/gpt-oss-20b", "0.10.1", False),
            ("Qwen/Qwen3.6-27B", "0.10.2", True),
            ("Qwen/Qwen3.6-27B --skip-tokenizer-init", "0.10.2", False),
            ("$MODEL", "0.10.2", False),
        ],
    )
    def test_without_a_way_to_run_it(self, words: str, release: str, holds: bool) -> None:
        assert (run_check("models.too_new", config(words, release)) is not None) is holds


class TestMtpLayers:
    @pytest.mark.parametrize(
        ("model", "tokens", "holds"),
        [
            ("stepfun-ai/Step-3.5-Flash", 2, False),
            ("stepfun-ai/Step-3.5-Flash", 3, False),
            ("stepfun-ai/Step-3.5-Flash", 4, True),
            ("stepfun-ai/Step-3.5-Flash", 6, False),
            ("Qwen/Qwen3.6-27B", 5, False),
            ("$MODEL", 5, False),
        ],
    )
    def test_multiples(self, model: str, tokens: int, holds: bool) -> None:
        words = spec(method="mtp", num_speculative_tokens=tokens)
        found = fields("vllm/mtp-tokens-not-multiple", config(f"{model} {words}"))
        assert found == ({"layers": "3", "fitting": "3"} if holds else None)


class TestReasoningTokens:
    @together(
        "model, parser, release, holds",
        [
            ("meta-llama/Llama-3.1-8B-Instruct", "deepseek_r1", "0.33.0", True),
            ("meta-llama/Llama-3.1-8B-Instruct", "qwen3", "0.23.0", True),
            ("meta-llama/Llama-3.1-8B-Instruct", "qwen3", "0.24.0", False),
            ("meta-llama/Llama-3.1-8B-Instruct", "granite", "0.23.0", False),
            ("meta-llama/Llama-3.1-8B-Instruct", "$PARSER", "0.23.0", False),
            ("google/gemma-3-27b-it", "gemma4", "0.20.0", True),
            ("Qwen/Qwen3-8B", "deepseek_r1", "0.33.0", False),
            ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "deepseek_r1", "0.33.0", False),
            ("house/Llama-3.1-8B-Instruct-thinker", "deepseek_r1", "0.33.0", False),
            ("$MODEL", "deepseek_r1", "0.33.0", False),
        ],
    )
    def test_marks_without_tokens(self, model: str, parser: str, release: str, holds: bool) -> None:
        words = f"{model} --reasoning-parser {parser}"
        found = fields("vllm/reasoning-parser-without-tokens", config(words, release))
        assert found == ({} if holds else None)


class TestSlidingWindow:
    @together(
        "words, release, what",
        [
            ("google/gemma-3-27b-it", "0.33.0", "cuts"),
            ("google/gemma-3-27b-it", "0.11.2", None),
            ("google/gemma-3-27b-it --max-model-len 1025", "0.33.0", "refused"),
            ("google/gemma-3-27b-it --max-model-len 1024", "0.33.0", None),
            ("google/gemma-3-27b-it --max-model-len $LEN", "0.33.0", None),
            ("google/gemma-3-27b-it $MORE", "0.33.0", None),
            ("openai/gpt-oss-20b --max-model-len 8192", "0.28.0", None),
            ("openai/gpt-oss-20b --max-model-len 8192", "0.30.0", "refused"),
            ("Qwen/Qwen3-8B", "0.33.0", None),
        ],
    )
    def test_what_is_left_of_the_context(self, words: str, release: str, what: str | None) -> None:
        launch = config(f"{words} --disable-sliding-window", release)
        rules = {"cuts": "vllm/sliding-window-off-cuts-context", "refused": "vllm/sliding-window-off-refused"}
        assert [name for name, rule in rules.items() if fields(rule, launch) is not None] == ([what] if what else [])


@together(
    "quantization, release, what",
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True}, "0.30.0", "desc_act"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True}, "0.29.0", None),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1, "desc_act": True}, "0.33.0", None),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False}, "0.33.0", None),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"actorder": "group"}}}},
            "0.30.0",
            "actorder group",
        ),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"actorder": "static"}}}}, "0.30.0", None),
        (
            {"quant_method": "compressed-tensors", "sparsity_config": {"format": "dense", "targets": ["Linear"]}},
            "0.22.0",
            "a sparsity_config",
        ),
        ({"quant_method": "compressed-tensors", "sparsity_config": {"format": "dense", "targets": []}}, "0.22.0", None),
        ({"quant_method": "compressed-tensors", "sparsity_config": {"format": "dense", "targets": ["Linear"]}}, "0.21.0", None),
        ({}, "0.33.0", None),
    ],
)
def test_what_a_checkpoint_says_that_a_release_no_longer_reads(
    quantization: dict[str, object], release: str, what: str | None
) -> None:
    launch = launch_in("vllm serve acme/model", "run.sh")
    text = json.dumps({"architectures": ["LlamaForCausalLM"], "quantization_config": quantization})
    launch.models = {"acme/model/config.json": text}
    found = fields("vllm/checkpoint-format-dropped", configs(launch, [release])[0])
    assert (found or {}).get("what") == what
