"""Checks of a context that a launch extends through the checkpoint's config: --hf-overrides, --json-model-override-args.

vLLM derives the length in `_get_and_verify_max_len` of vllm/config/model.py. It sets overrides that are objects after the
config is read, so that their older spellings are not translated. Through 0.19.0 it runs with Transformers 4 and reads
`rope_parameters` alone. SGLang derives the length in `get_context_length` of srt/utils/hf_transformers/common.py.

A limit is the largest that may follow: a length above it is refused whatever the checkpoint's own scaling is.
"""

from __future__ import annotations

import json

from servelint.engines.config import Config, given_object
from servelint.judge.checks import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OTHER_LENGTHS = frozenset((
    "model_type", "n_positions", "max_seq_len", "seq_length", "model_max_length", "max_target_positions", "max_sequence_length",
    "max_seq_length", "seq_len", "original_max_position_embeddings", "sliding_window", "rope_type", "auto_map",
    "llm_config", "language_config", "thinker_config", "value",
))  # fmt: skip
"""Keys that may change the length in other ways than those read here."""
_FLAT_BEFORE = ("qwen2_vl", "qwen2_5_vl")
"""Model types whose config has no inner text_config before Transformers 5."""


_YARN = ("gpt_oss", "deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2")
"""Model types whose checkpoints have YaRN, which counts alone through vLLM 0.29."""


_WITHOUT_FACTOR = (
    "qwen2", "qwen2_moe", "qwen2_5_vl", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_5", "qwen3_5_moe", "qwen3_vl",
    "qwen3_vl_moe", "deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe", "gpt_oss", "mistral", "mixtral",
)  # fmt: skip
"""Model types whose checkpoints have no factor that SGLang multiplies with: a max_position_embeddings below theirs counts."""


def vllm(config: Config) -> dict[str, str] | None:
    """A length above what vLLM derives from the overridden config."""
    found = _overridden(config, "hf-overrides", "0.19.1")
    length = whole(config, "max-model-len")
    if found is None or length is None:
        return None
    inner, base = found
    nested = config.operand("model.multimodal").value is not False
    # some configs inside others take rope_scaling for rope_parameters with Transformers 4 as well
    rope = _rope(inner, old="" if nested else "rope_parameters", new=config.at_least("0.19.1"))
    given = inner.get("max_position_embeddings", base)
    kind = rope.get("rope_type", "default") if rope is not None else None
    limit = float(max(base, given))
    if rope is None and not config.at_least("0.30") and config.operand("model.type").value in _YARN:
        limit = float(base)
    if rope is not None and kind == "yarn" and not config.at_least("0.30"):
        original = rope.get("original_max_position_embeddings", float("inf"))
        scaled = original * _factor(rope) if _number(original) else float("inf")
        limit = max(limit, scaled) if nested else scaled
    elif rope is not None and kind != "yarn":
        limit = given * _factor(rope)
    return _above(length, limit, base)


def vllm_type(config: Config) -> dict[str, str] | None:
    """A length in --hf-overrides that is a text, a list or an object, where the release reads the model's own."""
    given = given_object(config, "hf-overrides")
    multimodal = config.operand("model.multimodal").value
    if given is None or multimodal is None or (multimodal and config.operand("model.type").value in _FLAT_BEFORE):
        return None
    inner = given.get("text_config") if multimodal else given
    value = inner.get("max_position_embeddings") if isinstance(inner, dict) else None
    return {"value": json.dumps(value)} if isinstance(value, str | list | dict) else None


def vllm_rope(config: Config) -> dict[str, str] | None:
    """A rope dictionary without a key that vLLM reads."""
    found = _overridden(config, "hf-overrides", "0.19.1")
    both = not config.at_least("0.12")  # "type" is translated after the override
    old = "rope_scaling" if both else "rope_parameters"
    rope = _rope(found[0], old=old, new=config.at_least("0.19.1")) if found is not None else None
    if found is None or not rope:
        return None
    flat = config.operand("model.multimodal").value is False
    if both and "type" in rope:
        rope = {"rope_type": rope["type"], **rope}
    if "rope_type" not in rope:
        return {"key": "rope_type", "why": '"type" is the older spelling, which this release does not read'} if flat else None
    if rope["rope_type"] == "yarn" and "original_max_position_embeddings" not in rope and not config.at_least("0.30"):
        return {"key": "original_max_position_embeddings", "why": "YaRN multiplies it by the factor"}
    return None


def sglang(config: Config) -> dict[str, str] | None:
    """A length above what SGLang derives from the overridden config."""
    found = _overridden(config, "json-model-override-args", "0.5.10", flat=True)
    length = whole(config, "context-length")
    if found is None or length is None:
        return None
    inner, base = found
    rope = _rope(inner, old="rope_scaling", new=config.at_least("0.5.10"))
    given = inner.get("max_position_embeddings", base)
    if rope is not None and "original_max_position_embeddings" not in rope and rope.get("rope_type") != "llama3":
        return _above(length, given * _factor(rope), base)
    scaling = inner.get("rope_scaling")
    if given is base and isinstance(scaling, dict) and "original_max_position_embeddings" in scaling:
        return None  # sglang/yarn-does-not-raise-the-limit
    alone = rope is not None or config.operand("model.type").value in _WITHOUT_FACTOR
    return _above(length, given if alone else max(base, given), base)


def _above(length: int, limit: float, base: int) -> dict[str, str] | None:
    if length <= limit:
        return None
    unchanged = "which the override does not change" if limit == base else f"{int(limit)} with the override"
    return {"limit": str(int(limit)), "base": str(base), "unchanged": unchanged}


def _overridden(config: Config, option: str, nested_since: str, *, flat: bool = False) -> tuple[dict[str, Any], int] | None:
    """The overrides of the language model's config, and the checkpoint's own length; None if one is not known.

    nested_since: the first release whose Transformers gives every multimodal model an inner config
    flat: whether the engine reads the keys of a multimodal model without an inner config
    """
    given: dict[str, Any] | None = given_object(config, option)
    base = whole(config, "model.context")
    multimodal = config.operand("model.multimodal")
    if given is None or not base or multimodal.present is not True or not given.keys().isdisjoint(_OTHER_LENGTHS):
        return None
    nested = multimodal.value is not False
    if nested and config.operand("model.type").value in _FLAT_BEFORE and not config.at_least(nested_since):
        if not flat or config.at_least(nested_since) is None or "text_config" in given:
            return None
    elif nested:
        given = given.get("text_config", {}) if isinstance(given.get("text_config", {}), dict) else None
    elif "text_config" in given:
        return None  # refused whatever the length is
    if given is None or not given.keys().isdisjoint(_OTHER_LENGTHS) or not _number(given.get("max_position_embeddings", base)):
        return None
    return given, base


def _rope(inner: dict[str, Any], *, old: str, new: bool | None) -> dict[str, Any] | None:
    """The rope dictionary that counts; None if none does.

    old: the name that counts with Transformers 4, "" for both
    new: whether Transformers 5 is there, which takes both names for one
    """
    named = [name for name in ("rope_scaling", "rope_parameters") if name in inner and (new or old in ("", name))]
    found = inner[named[-1]] if named else None
    return found if isinstance(found, dict) else None


def _factor(rope: dict[str, Any]) -> float:
    factor = rope.get("factor", 1)
    return factor if _number(factor) else float("inf")


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
