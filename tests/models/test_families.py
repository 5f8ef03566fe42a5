"""Models: what is known of one by its name alone, and the table that says so."""

from __future__ import annotations

import json
import re
from importlib import resources
from operator import itemgetter
from typing import Any

import pytest

from servelint import models
from servelint.core.text import TracedText, unknown
from servelint.engines import catalog as catalogs
from servelint.models import Fact, Family, identify, parsers_of
from servelint.models.catalog import config_of, known_names
from tests.together import together


def family(name: str) -> Family | None:
    return identify(TracedText.of(name))


@together(
    "model, name",
    [
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "qwen3-next"),
        ("/models/qwen3_next-80b", "qwen3-next"),
        ("Qwen/Qwen3-Coder-Next", "qwen3-coder-next"),
        ("Qwen/Qwen3.5-27B", "qwen3.5"),
        ("Qwen/Qwen3.6-35B-A3B-FP8", "qwen3.5-moe"),
        ("Qwen/Qwen3.8-27B", "qwen3.5"),
        ("/models/qwen3.6", "qwen3.5-any"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron-3-nano"),
        ("Qwen/Qwen3-30B-A3B", "qwen3-moe"),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3-coder"),
        ("Qwen/Qwen3-VL-30B-A3B-Thinking", "qwen3-vl-moe"),
        ("Qwen/Qwen3-8B", "qwen3"),
        ("Qwen/Qwen3-0.6B-FP8", "qwen3"),
        ("Qwen/Qwen2.5-Coder-7B-Instruct", "qwen2.5-coder"),
        ("meta-llama/Meta-Llama-3.1-8B", "llama-3.1"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.1"),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "llama-3.2-vision"),
        ("openai/gpt-oss-120b", "gpt-oss"),
        ("mistralai/Mixtral-8x7B-v0.1", "mixtral"),
        ("zai-org/GLM-4.6-FP8", "glm-4.5"),
        ("zai-org/GLM-4.5V", "glm-4.5v"),
        ("zai-org/GLM-4.7-Flash", "glm-4.7-flash"),
        ("moonshotai/Kimi-K2-Instruct", "kimi-k2"),
        ("deepseek-ai/DeepSeek-V3-0324", "deepseek-v3"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-v3"),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek-v3.2"),
        ("/data/Models/Qwen3-8B/", "qwen3"),
        ("unsloth/Qwen3-8B-GGUF:Q4_K_M", "qwen3"),
        ("/models/Qwen3.6-27B-UD-Q8_K_XL.gguf", "qwen3.5"),
        ("huihui-ai/Huihui-Qwen3.6-27B-abliterated", "qwen3.5"),
        ("~/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/b968826d9c46dd6066d109eabc6255188de91218", "qwen3"),
        ("house/Qwen3-8B-tuned-for-us", "qwen3"),
        ("/cache/Qwen/Qwen3-0___6B", "qwen3"),
        ("Qwen/Qwen2.5-Omni-7B", "qwen2.5-omni"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "deepseek-r1-distill-qwen"),
        ("XiaomiMiMo/MiMo-V2.5-Pro", "mimo-v2.5-pro"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "deepseek-r1-distill-llama"),
    ],
)
def test_a_family_is_known_by_the_last_part_of_the_name(model: str, name: str) -> None:
    found = family(model)
    assert found is not None
    assert found.name == name


@together(
    "model",
    [
        "",
        "/",
        "house/my-model",
        "Qwen/model",
        "qwen3-8b-parent/model",
        "house/like-Qwen3-8B",
        "house/Qwen3-8BX",
        "Qwen/Qwen3-VL-Reranker-8B",
        "Qwen/Qwen3-VL-Embedding-8B",
        "deepseek-ai/DeepSeek-R1-Distill-Mistral-7B",
        "house/Qwen3.5-35B-A3B-Claude-Reasoning-Distilled",
        "cerebras/Qwen3-Coder-REAP-25B-A3B",
        "Qwen/Qwen3.7-Max",
        "Qwen/Qwen3.8-Flash-Mini",
        "gradientai/Llama-3-8B-Instruct-262k",
        "house/Llama-3-8B-Vision",
        "house/Qwen3-8B-GLM-4.7-Distill",
        "zai-org/GLM-5.9",
        "house/phi-4-tuned",
    ],
)
def test_a_name_that_says_nothing(model: str) -> None:
    assert family(model) is None


@pytest.mark.parametrize(
    ("model", "architecture", "media"),
    [
        ("mistralai/Voxtral-Mini-3B-2507", "VoxtralForConditionalGeneration", True),
        ("RedHatAI/Voxtral-Mini-3B-2507-FP8-dynamic", "VoxtralForConditionalGeneration", True),
        ("/models/GLM-4_1V-9B-Thinking/", "Glm4vForConditionalGeneration", True),
        ("OpenGVLab/InternVL3-8B-hf", "InternVLForConditionalGeneration", True),
        ("mistralai/Mamba-Codestral-7B-v0.1", "Mamba2ForCausalLM", False),
        ("inceptionai/Jais-2-8B-Chat", "Jais2ForCausalLM", False),
        ("intfloat/e5-mistral-7b-instruct", "MistralModel", None),
    ],
)
def test_the_class_of_a_checkpoint_is_known_that_tests_of_an_engine_name(
    model: str, architecture: str, media: bool | None
) -> None:
    found = family(model)
    assert found is not None
    assert (found.architecture, found.fact("multimodal"), found.size) == (architecture, media, None)
    assert found.fact("quantization") == ("fp8" if "FP8" in model else None)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            "mistralai/Magistral-Small-2507",
            {
                "architecture": "MistralForCausalLM",
                "layers": 40,
                "kv-heads": 8,
                "moe": False,
                "hybrid": False,
                "multimodal": False,
            },
        ),
        ("house/Magistral-Small-2507-AWQ", {"architecture": "MistralForCausalLM", "quantization": "awq"}),
        ("moonshotai/Moonlight-16B-A3B-Instruct", {"mla": True, "moe": True, "experts": 64}),
        ("codellama/CodeLlama-70b-Instruct-hf", {"architecture": "LlamaForCausalLM", "type": "llama"}),
        ("AngelSlim/Qwen3-8B_eagle3", {"architecture": "LlamaForCausalLMEagle3", "layers": 1}),
    ],
)
def test_facts_of_a_published_config_that_no_family_claims(model: str, expected: dict[str, Fact]) -> None:
    found = family(model)
    assert found is not None
    assert {fact: found.fact(fact) for fact in expected} == expected
    assert found.source
    assert found.fact("context") is None  # another release may scale it


@pytest.mark.parametrize(
    ("model", "architecture"),
    [
        ("OpenGVLab/InternVL3-8B-hf", "InternVLForConditionalGeneration"),
        ("intfloat/e5-mistral-7b-instruct", "MistralModel"),
        ("inclusionAI/Ling-1T", None),
    ],
)
def test_a_class_is_not_taken_from_another_checkpoint(model: str, architecture: str | None) -> None:
    found = family(model)
    assert found is not None
    assert found.fact("architecture") == architecture
    assert found.fact("type") is None


@pytest.mark.parametrize(
    ("model", "architecture", "transformers"),
    [
        ("zai-org/GLM-OCR", "GlmOcrForConditionalGeneration", "5.1.0"),
        ("meituan-longcat/LongCat-Flash-Chat", "LongcatFlashForCausalLM", "4.57.0"),
        ("codellama/CodeLlama-70b-Instruct-hf", "LlamaForCausalLM", None),  # older than all that were read
        ("mispeech/midashenglm-7b", "MiDashengLMModel", None),  # in no Transformers
    ],
)
def test_the_first_transformers_that_knows_a_class(model: str, architecture: str, transformers: str | None) -> None:
    found = family(model)
    assert found is not None
    assert (found.architecture, found.transformers) == (architecture, transformers)


def test_the_first_transformers_of_a_class_is_that_of_its_families() -> None:
    table = json.loads((resources.files("servelint.models") / "transformers.json").read_text())["first"]
    first = {name: since for since, names in table.items() for name in names}
    both = [
        (entry["name"], entry["transformers"], first[entry["architecture"]])
        for entry in TestTable.DATA["families"]
        if "transformers" in entry and entry.get("architecture") in first
    ]
    assert len(both) > 40
    assert [one for one in both if one[1].split(".")[:2] != one[2].split(".")[:2]] == []


@pytest.mark.parametrize("model", ["Skywork/Skywork-Reward-V2-Qwen3-8B", "Skywork/Skywork-o1-Open-PRM-Qwen-2.5-1.5B"])
def test_a_model_that_scores_has_the_shapes_of_its_base_and_another_class(model: str) -> None:
    found = family(model)
    assert found is not None
    assert found.fact("architecture") is None
    assert found.fact("layers") is not None


@pytest.mark.parametrize("model", ["house/Magistral-Small-2507-Erotica", "house/Moonlight-16B-A3B-Pruned"])
def test_a_word_more_than_the_published_config(model: str) -> None:
    assert family(model) is None


@pytest.mark.parametrize("model", ["mistralai/Voxtral-Mini-3B-Instruct-Audio", "house/my-falcon-7b", "tiiuae/falcon"])
def test_a_word_more_makes_it_another_checkpoint(model: str) -> None:
    assert family(model) is None


def test_a_name_that_is_not_known_as_a_whole() -> None:
    hole = unknown("${SIZE}", None)
    assert identify(TracedText([*TracedText.of("Qwen/Qwen3-").pieces, hole])) is None
    assert identify(TracedText([hole, *TracedText.of("/Qwen3-8B").pieces])) is not None


@together(
    "model, facts",
    [
        (
            "Qwen/Qwen3.6-27B",
            {"architecture": "Qwen3_5ForConditionalGeneration", "hybrid": True, "mixer": "gdn", "mtp": True, "multimodal": True,
             "moe": False, "layers": 64, "heads": 24, "kv-heads": 4, "hidden-size": 5120, "context": 262144},
        ),
        ("Qwen/Qwen3.6-35B-A3B", {"architecture": "Qwen3_5MoeForConditionalGeneration", "moe": True, "experts": 256}),
        ("Qwen/Qwen3-8B", {"architecture": "Qwen3ForCausalLM", "hybrid": False, "mtp": False, "context": 40960}),
        ("Qwen/Qwen3-4B-Instruct-2507", {"context": 262144, "heads": 32}),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", {"architecture": "Qwen2ForCausalLM", "context": 131072, "hybrid": False}),
        ("unsloth/DeepSeek-R1-Distill-Llama-70B", {"architecture": "LlamaForCausalLM", "kv-heads": 8, "mla": False}),
        ("zai-org/GLM-4.5", {"context": 131072, "experts": 160}),
        ("zai-org/GLM-4.6", {"context": 202752}),
        ("moonshotai/Kimi-K2-Instruct", {"context": 131072, "mla": True, "heads": 64}),
        ("moonshotai/Kimi-K2-Thinking", {"context": 262144}),
        ("openai/gpt-oss-20b", {"sliding": True, "quantization": "mxfp4", "quant-method": "mxfp4"}),
        ("Qwen/Qwen3-8B-FP8", {"quantization": "fp8", "quant-method": "fp8", "heads": 32}),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", {"quantization": "gptq", "quant-method": "gptq", "context": 32768}),
        ("nvidia/Qwen3-235B-A22B-NVFP4", {"quantization": "nvfp4", "layers": 94}),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", {"quantization": "none", "mixer": "mamba2"}),
        ("meta-llama/Llama-3.3-70B-Instruct", {"quantization": "none"}),
        ("nvidia/Nemotron-H-8B-Base-8K", {"architecture": "NemotronHForCausalLM", "hybrid": True, "mixer": "mamba2"}),
        (
            "zai-org/GLM-5.3-Flash",
            {"layers": 45, "heads": 64, "experts": 288, "context": 1048576, "mixer": "kda", "mtp-layers": 1},
        ),
        (
            "Qwen/Qwen3.8-Flash-Next-FP8",
            {"layers": 48, "kv-heads": 2, "experts": 512, "context": 262144, "quantization": "fp8"},
        ),
        ("poolside/Laguna-XS-2.1", {"layers": 40, "heads": 48, "experts": 256, "moe": True, "window": 512}),
        ("ibm-granite/granite-4.1-30b", {"layers": 64, "hidden-size": 4096, "kv-heads": 8, "moe": False}),
        ("tiiuae/Falcon-H1-34B-Instruct", {"layers": 72, "heads": 20, "kv-heads": 4, "hybrid": True}),
        (
            "OpenGVLab/InternVL2_5-4B-MPO",
            {"type": "internvl_chat", "text-type": None, "layers": 36, "heads": 16, "kv-heads": 2},
        ),
        ("LiquidAI/LFM2-24B-A2B", {"layers": 40, "hidden-size": 2048, "experts": 64}),
    ],
)  # fmt: skip
def test_facts(model: str, facts: dict[str, Fact]) -> None:
    found = family(model)
    assert found is not None
    assert {key: found.facts.get(key) for key in facts} == facts


@pytest.mark.parametrize(
    ("model", "unknown_facts"),
    [
        ("house/Qwen3-8B-tuned-for-us", ["heads", "context", "layers", "quantization"]),
        ("house/Qwen3-8B", ["quantization", "quant-method"]),
        ("house/Qwen3-8B-AWQ", ["quant-method"]),
        ("Qwen/Qwen2.5-7B", ["context"]),
        ("Qwen/Qwen3-9B", ["heads"]),
        ("deepseek-ai/DeepSeek-V3", ["kv-heads"]),
        ("/models/qwen3.6", ["architecture", "moe", "heads"]),
    ],
)
def test_what_a_name_does_not_say(model: str, unknown_facts: list[str]) -> None:
    found = family(model)
    assert found is not None
    assert [fact for fact in unknown_facts if fact in found.facts] == []


def test_formats_are_those_of_models_that_nobody_trained_further() -> None:
    plain, tuned = family("Qwen/Qwen3-8B-AWQ"), family("house/Qwen3-8B-tuned")
    assert plain is not None
    assert tuned is not None
    assert (plain.tools, plain.thinks) == ("hermes", "think")
    assert (tuned.tools, tuned.thinks) == (None, None)


class TestTable:
    DATA: dict[str, Any] = json.loads((resources.files("servelint.models") / "families.json").read_text())

    @together("entry", DATA["families"], name=itemgetter("name"), at_once=1000)
    def test_every_family(self, entry: dict[str, Any]) -> None:
        assert entry["source"]
        starts = [entry["start"]] if isinstance(entry["start"], str) else entry["start"]
        assert all(start and start == start.lower() for start in starts)
        kinds = [word.removesuffix("?") for word in entry["is"].split()]
        assert set(kinds) <= set(self.DATA["kinds"])
        assert ("hybrid" in entry["is"].split()) == ("mixer" in entry)
        for numbers in entry.get("sizes", {}).values():
            assert len(numbers) <= len(self.DATA["columns"])
            assert (len(numbers) == len(self.DATA["columns"])) == ("moe" in entry["is"].split())

    @together("entry", DATA["families"], name=itemgetter("name"), at_once=1000)
    def test_every_architecture_is_one_that_an_engine_lists(self, entry: dict[str, Any]) -> None:
        named = entry.get("architecture", entry.get("like"))
        loaded = [catalogs.load(engine) for engine in ("vllm", "sglang")]
        assert named is None or any(named in catalog.names("architectures") for catalog in loaded if catalog is not None)

    @together("entry", DATA["families"], name=itemgetter("name"), at_once=1000)
    def test_every_format_is_one_that_a_parser_reads(self, entry: dict[str, Any]) -> None:
        for kind in ("tools", "thinks"):
            if kind in entry:
                assert parsers_of(kind, entry[kind], "vllm")

    def test_patterns_are_in_lower_case(self) -> None:
        # names are compared in lower case
        for pattern in [
            *self.DATA["not"],
            *self.DATA["words"],
            self.DATA["plain"],
            *[entry["match"] for entry in self.DATA["families"]],
        ]:
            assert pattern.replace("(?P<", "(?p<") == pattern.lower()
            re.compile(pattern)


class TestParsers:
    DATA: dict[str, Any] = json.loads((resources.files("servelint.models") / "parsers.json").read_text())

    @pytest.mark.parametrize("engine", ["vllm", "sglang"])
    @pytest.mark.parametrize(("kind", "names"), [("tools", "tool-call-parsers"), ("thinks", "reasoning-parsers")])
    def test_every_parser_is_one_of_its_engine(self, engine: str, kind: str, names: str) -> None:
        catalog = catalogs.load(engine)
        assert catalog is not None
        for entry in self.DATA[kind].values():
            assert entry["source"]
            assert set(entry[engine]) <= set(catalog.names(names))


def _of_families(key: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """The models of architectures.json that a family knows of a size, with their config.json."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for name in known_names():
        family, config = identify(TracedText.of(name)), config_of(name)
        if family is not None and config is not None and key in family.facts:
            found[name] = (str(family.facts[key]), config)
    return found


def test_vocabularies_are_those_of_the_configurations() -> None:
    known = _of_families("vocabulary")
    assert len(known) > 100
    for name, (entries, config) in known.items():
        inner = config.get("text_config") or config.get("llm_config") or config
        assert entries == str(inner.get("vocab_size", config.get("vocab_size"))), name


def test_windows_are_those_of_the_configurations() -> None:
    known = _of_families("window")
    assert known
    for name, (tokens, config) in known.items():
        assert tokens == str((config.get("text_config") or config).get("sliding_window")), name


def test_types_are_those_of_the_configurations() -> None:
    known = _of_families("type")
    assert len(known) > 200
    odd = {"deepseek_ref", "step3p7"}  # what a reference implementation and a repackaged checkpoint say
    for name, (kind, config) in known.items():
        family = identify(TracedText.of(name))
        if family is not None and config.get("architectures", [family.architecture]) == [family.architecture]:
            assert config["model_type"] in {kind, *odd}, name


@together(
    "name, fact, expected",
    [
        ("Qwen/Qwen2-VL-2B-Instruct", "heads", 12),
        ("OpenGVLab/InternVL3-8B", "heads", 28),
        ("OpenGVLab/InternVL3-8B", "kv-heads", 4),
        ("/models/InternVL3-8B", "heads", 28),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "vocabulary", 151936),
        ("Qwen/Qwen3-30B-A3B", "experts", 128),
        ("Qwen/Qwen3-8B", "experts", None),
        ("deepseek-ai/DeepSeek-V3", "kv-heads", None),  # latent attention has none
        ("house/model", "heads", None),
    ],
)
def test_numbers_of_a_published_config(name: str, fact: str, expected: int | None) -> None:
    assert models.described_number(name, fact) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("house/MODEL-FP8", "fp8"),
        ("/models/house-AWQ-4bit/", "awq"),
        ("house/model-GPTQ-Int4", "gptq"),
        ("house/model-fp8-tuned", None),
        ("house/fp8", None),
        ("house/model", None),
    ],
)
def test_the_end_of_an_unknown_name(name: str, expected: str | None) -> None:
    assert models.named_format(name) == expected


@together(
    "name, expected",
    [
        ("zai-org/GLM-4.5-Air-FP8", "compressed-tensors"),
        ("zai-org/GLM-5-FP8", "fp8"),
        ("house/GLM-4.5-Air-FP8", None),
        ("RedHatAI/Qwen3-8B-FP8-dynamic", "compressed-tensors"),
        ("RedHatAI/Qwen3-8B-FP8", None),
        ("cyankiwi/Qwen3-8B-AWQ-4bit", "compressed-tensors"),
        ("Qwen/Qwen3-8B-AWQ", "awq"),
        ("MiniMaxAI/MiniMax-M2.7", "fp8"),
        ("hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4", "awq"),
        ("TheBloke/Mistral-7B-Instruct-v0.2-GPTQ", "gptq"),
        ("unsloth/Qwen3-8B-bnb-4bit", "bitsandbytes"),
    ],
)
def test_the_method_of_a_publisher(name: str, expected: str | None) -> None:
    found = family(name)
    assert found is not None
    assert found.facts.get("quant-method") == expected


@together(
    "model, name, context",
    [
        ("BAAI/bge-m3", "bge-m3", 8194),
        ("BAAI/bge-large-en-v1.5", "bge", 512),
        ("BAAI/bge-reranker-v2-m3", "bge-reranker", 8194),
        ("Qwen/Qwen3-Embedding-0.6B", "qwen3-embedding", 32768),
        ("Qwen/Qwen3-Reranker-8B", "qwen3-reranker", 40960),
        ("intfloat/multilingual-e5-large-instruct", "e5", 514),
        ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", "nemotron-nano-v2", 131072),
        ("deepseek-ai/DeepSeek-V2-Lite-Chat", "deepseek-v2", 163840),
    ],
)
def test_models_that_embed_and_others_by_their_context(model: str, name: str, context: int) -> None:
    found = family(model)
    assert found is not None
    assert (found.name, found.fact("context"), found.fact("mtp")) == (name, context, False)


@pytest.mark.parametrize(
    ("path", "served", "expected"),
    [
        ("/data/Qwen3-8B/model", None, "qwen3"),
        ("/data/Qwen3-8B/snapshot-1/weights", None, "qwen3"),
        ("/models/target", "Qwen3-8B", "qwen3"),
        ("/models/target", "gpt-4", None),
        ("/models/own-tuned", "Qwen3-8B", None),
        ("target", "Qwen3-8B", None),
    ],
)
def test_a_folder_that_says_nothing_takes_the_name_of_what_is_around_it(
    path: str, served: str | None, expected: str | None
) -> None:
    found = models.inferred(TracedText.of(path), TracedText.of(served) if served is not None else None)
    assert (found.name if found is not None else None) == expected
    assert found is None or found.inferred


@together(
    "name, facts",
    [
        ("mistralai/Mistral-7B-Instruct-v0.3", {"quantization": "none"}),
        ("deepseek-ai/DeepSeek-V2-Lite", {"quantization": "none"}),
        ("moonshotai/Kimi-K2.5", {"quant-method": "compressed-tensors"}),
        ("moonshotai/Kimi-K2-Thinking", {}),
        ("RadixArk/Qwen3.8-27B-NVFP4", {}),
        ("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B", {}),
        ("tencent/Hy3", {}),
        ("house/model", {}),
    ],
)
def test_the_quantization_of_a_published_checkpoint(name: str, facts: dict[str, str]) -> None:
    assert models.published_quantization(name) == facts


@pytest.mark.parametrize(
    ("name", "family"),
    [("/m/Gemma3_27B_BF16.gguf", "gemma-3"), ("/m/gemma3_27b", "gemma-3"), ("/m/gemma3x27b", None), ("/m/v2", None)],
)
def test_a_name_with_other_separators(name: str, family: str | None) -> None:
    found = identify(TracedText.of(name))
    assert (found.name if found is not None else None) == family


@together(
    "stage",
    [
        *(
            "model",
            "models",
            "weights",
            "checkpoint",
            "checkpoints",
            "target",
            "base",
            "hf",
            "merged",
            "final",
            "latest",
            "data",
        ),
        *("mnt", "master", "original", "best", "last", "ckpt_7", "rev1", "step-10", "iteration3", "run2", "version_1", "iter9"),
    ],
)
def test_a_folder_with_a_name_that_says_nothing(stage: str) -> None:
    found = models.inferred(TracedText.of(f"/a/Qwen3-8B/{stage}"), None)
    assert found is not None
    assert (found.name, found.inferred) == ("qwen3", True)


@pytest.mark.parametrize("stage", ["checkpoint-500", "v1", "main", "global_step_200", "2025.01", "epoch-3"])
def test_a_folder_of_a_state_of_the_model(stage: str) -> None:
    found = models.inferred(TracedText.of(f"/models/Qwen3-8B/{stage}"), None)
    assert found is not None
    assert found.inferred
    assert found.name == "qwen3"


def test_a_folder_with_a_name_of_its_own_is_another_model() -> None:
    assert models.inferred(TracedText.of("/models/Qwen3-8B/mine"), None) is None
