"""Models with layers of their own for drafts (multi-token prediction), and the release from which an engine uses them.

An engine may ignore such layers of a checkpoint: MiniMax-M2 has three that no release reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from servelint.core.text import Text
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.releases import known_releases, release_key
from servelint.models import architecture, identify
from servelint.models.folder import open_in, read

VLLM = {
    "BailingMoeV2_5ForCausalLM": "0.25.0", "BailingMoeV3ForCausalLM": "0.28.0", "DeepseekV3ForCausalLM": "0.7.3",
    "DeepseekV32ForCausalLM": "0.11.0", "DeepseekV4ForCausalLM": "0.20.0", "Ernie4_5_MoeForCausalLM": "0.10.2",
    "ExaoneMoEForCausalLM": "0.14.0", "Glm4MoeForCausalLM": "0.10.0", "Glm4MoeLiteForCausalLM": "0.15.0",
    "GlmMoeDsaForCausalLM": "0.16.0", "HYV3ForCausalLM": "0.20.0", "KimiK3ForConditionalGeneration": "0.27.0",
    "LongcatFlashForCausalLM": "0.11.0", "MiMoForCausalLM": "0.9.2", "MiMoV2FlashForCausalLM": "0.21.0",
    "MiniMaxM3SparseForConditionalGeneration": "0.24.0", "NemotronHForCausalLM": "0.17.0", "Qwen3NextForCausalLM": "0.10.2",
    "Qwen3_5ForConditionalGeneration": "0.17.0", "Qwen3_5MoeForConditionalGeneration": "0.17.0", "Step3p5ForCausalLM": "0.15.1",
    "Step3p7ForConditionalGeneration": "0.23.0",
}  # fmt: skip
"""Architecture -> first release: SpeculativeConfig.hf_config_override in vllm/config/speculative.py (config.py before 0.10),
run on each of these, release by release. The source of 0.15.0 and 0.15.1 was not at hand; names of methods show it for them
(glm4_moe_lite_mtp, step3p5_mtp)."""

SGLANG = {
    "BailingMoeForCausalLM": "0.5.3rc0", "BailingMoeV2ForCausalLM": "0.5.3rc0", "BailingMoeV2_5ForCausalLM": "0.5.9",
    "BailingMoeV3ForCausalLM": "0.5.19", "DeepseekV3ForCausalLM": "0.4.3.post1", "DeepseekV32ForCausalLM": "0.5.3rc2",
    "DeepseekV4ForCausalLM": "0.5.12", "Ernie4_5_MoeForCausalLM": "0.5.0rc0", "ExaoneMoEForCausalLM": "0.5.9",
    "Glm4MoeForCausalLM": "0.4.9.post5", "Glm4MoeLiteForCausalLM": "0.5.8", "GlmMoeDsaForCausalLM": "0.5.9",
    "HYV3ForCausalLM": "0.5.11", "LongcatFlashForCausalLM": "0.5.2rc0", "MiMoForCausalLM": "0.4.6.post5",
    "MiMoV2FlashForCausalLM": "0.5.7", "NemotronHForCausalLM": "0.5.8", "Qwen3NextForCausalLM": "0.5.2",
    "Qwen3_5ForConditionalGeneration": "0.5.9", "Qwen3_5MoeForConditionalGeneration": "0.5.9", "Step3p5ForCausalLM": "0.5.9",
    "Step3p7ForConditionalGeneration": "0.5.13",
}  # fmt: skip
"""Architecture -> first release: ModelConfig._config_draft_model in sglang/srt/configs/model_config.py (__init__ before 0.5.4),
read release by release. Up to 0.5.11 the config of DeepSeek V3.2 is read as DeepSeek V3's."""

_SINCE = {"vllm": VLLM, "sglang": SGLANG}
_COUNTED_BY_THE_ENGINE = ("MiMoV2FlashForCausalLM",)
"""Architectures whose config.json says nothing about the layers, because the engines know how many there are."""


@dataclass(frozen=True, slots=True)
class OwnDrafts:
    """What is known of a model's own layers for drafts.

    Attributes:
        architecture: the architecture, "" if it is not known.
        layers: whether the checkpoint has such layers, None if that is not known.
    """

    architecture: str
    layers: bool | None


def own_drafts(model: str, folder: str = ".") -> OwnDrafts:
    """The model's own layers for drafts, by its files or by its name. `folder` is where a path of the model starts."""
    opened = open_in(folder)
    family = read(Text.of(model), opened) or identify(Text.of(model))
    known = architecture.find(model, opened)
    name = (family.architecture if family is not None else None) or (known.architecture if known is not None else "")
    known_mtp = family.facts.get("mtp") if family is not None else None
    if isinstance(known_mtp, bool):
        return OwnDrafts(name, known_mtp)
    if known is None:
        return OwnDrafts(name, None)
    return OwnDrafts(name, known.mtp_layers > 0 or name in _COUNTED_BY_THE_ENGINE)


def refusal(engine: str, release: str, model: str, own: OwnDrafts) -> tuple[str, str] | None:
    """Why a release cannot draft with the model's own layers, and the source of that. None if it can or that is not known."""
    product = ENGINE_NAMES[engine]
    if own.layers is False:
        return f"{model} has no layer for multi-token prediction; name a draft that was made for it, or serve it without", ""
    if not own.architecture:
        return None
    since = _SINCE[engine].get(own.architecture)
    if since is None:
        return (
            f"no release of {product} that is known drafts with the layers of {own.architecture}; serve it without drafts",
            ENGINES[engine].drafts_source.format(known_releases(engine)[-1]),
        )
    key, first = release_key(release), release_key(since)
    if key is not None and first is not None and key < first:
        return (
            f"{product} {release} does not draft with the layers of {own.architecture}; use {product} {since} or later",
            ENGINES[engine].drafts_source.format(since),
        )
    return None
