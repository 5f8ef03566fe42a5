"""What a model type's code does that its config.json does not say: Transformers 5.23.0 models/*/modeling_*.py, and for model
types that are not there vllm-0.33.0 vllm/model_executor/models/*.py.

Words: qkv-bias (its projections of queries, keys and values always have one), out-bias, mlp-bias; qkv-if and both-if: they have
one if attention_bias says so, in the projections alone or in that of the output, too; qk-norm, plain (no gate in the
feed-forward part), mrope, norms=N a layer, tied (unless the config says otherwise), encoder (no cache), positions (learned).
"""

from __future__ import annotations

TYPES: dict[str, str] = {
    "afmoe": "qk-norm norms=4 gate",
    "apertus": "both-if qk-norm plain",
    "arcee": "both-if plain",
    "bailing_hybrid": "qk-norm",
    "bailing_moe": "fused-bias",
    "bailing_moe_v2": "fused-bias qk-norm",
    "bamba": "both-if",
    "bert": "qkv-bias out-bias mlp-bias plain encoder positions",
    "chatglm": "fused-bias",
    "cohere": "both-if norms=1 tied",
    "cohere2": "both-if norms=1 tied",
    "deepseek_v2": "both-if",
    "deepseek_v3": "both-if",
    "deepseek_v32": "both-if",
    "deepseek_v4": "sinks",
    "dots1": "both-if qk-norm",
    "ernie4_5": "use-bias",
    "ernie4_5_moe": "use-bias",
    "ernie4_5_vl_moe": "use-bias",
    "exaone": "",
    "exaone4": "qk-norm",
    "exaone_moe": "qk-norm",
    "falcon": "plain tied norms=1",
    "falcon_h1": "both-if",
    "gemma": "both-if tied",
    "gemma2": "both-if tied norms=4",
    "gemma3": "both-if tied norms=4 qk-norm",
    "gemma3_text": "both-if tied norms=4 qk-norm",
    "gemma3n": "both-if tied norms=4 qk-norm",
    "gemma3n_text": "both-if tied norms=4 qk-norm",
    "gemma4": "both-if tied norms=4 qk-norm",
    "gemma4_text": "both-if tied norms=4 qk-norm",
    "gemma4_unified": "both-if tied norms=4 qk-norm",
    "gemma4_unified_text": "both-if tied norms=4 qk-norm",
    "glm": "qkv-if",
    "glm4": "qkv-if norms=4",
    "glm4_moe": "qkv-if use-qk-norm",
    "glm4_moe_lite": "both-if",
    "glm4v_moe_text": "qkv-if mrope",
    "glm4v_text": "qkv-bias norms=4 mrope",
    "glm_moe_dsa": "both-if",
    "gpt2": "qkv-bias out-bias mlp-bias plain tied positions",
    "gpt_bigcode": "qkv-bias out-bias mlp-bias plain tied positions",
    "gpt_neox": "qkv-bias out-bias mlp-bias plain",
    "gpt_oss": "both-if sinks",
    "granite": "both-if",
    "granitemoe": "both-if",
    "granitemoehybrid": "both-if",
    "granitemoeshared": "both-if",
    "hy_v3": "qk-norm",
    "hunyuan_v1_dense": "both-if qk-norm",
    "hunyuan_v1_moe": "both-if qk-norm",
    "internlm2": "bias",
    "internlm3": "qkv-key",
    "jamba": "",
    "kimi_k2": "both-if",
    "kimi_linear": "both-if",
    "lfm2": "qk-norm tied",
    "lfm2_moe": "qk-norm tied",
    "llama": "both-if",
    "llama4": "both-if",
    "llama4_text": "both-if",
    "longcat_flash": "both-if",
    "mellum": "qk-norm",
    "mimo": "qkv-if",
    "mimo_v2": "qkv-if",
    "mimo_v2_flash": "qkv-if",
    "minicpm": "both-if",
    "minimax": "",
    "minimax_m1": "",
    "minimax_m2": "qk-norm-wide",
    "deepseek_ref": "sinks",
    "minimax_m3": "qk-norm",
    "minimax_m3_vl": "qk-norm",
    "minimax_text_01": "",
    "ministral": "",
    "ministral3": "",
    "mistral": "",
    "mistral3": "",
    "mistral4": "both-if",
    "mixtral": "",
    "modernbert": "encoder",
    "nemotron": "both-if plain",
    "nemotron-nas": "both-if",
    "nemotron_h": "both-if plain norms=1",
    "new": "qkv-bias out-bias mlp-bias encoder",
    "olmo": "both-if norms=0",
    "olmo2": "both-if qk-norm-wide",
    "olmo3": "both-if qk-norm-wide",
    "olmoe": "both-if qk-norm-wide",
    "opt": "qkv-bias out-bias mlp-bias plain tied positions",
    "orion": "both-if",
    "phi": "qkv-bias out-bias mlp-bias plain norms=1",
    "phi3": "",
    "phi4mm": "",
    "phimoe": "both-if",
    "qwen2": "qkv-bias",
    "qwen2_5_vl": "qkv-bias mrope",
    "qwen2_5_vl_text": "qkv-bias mrope",
    "qwen2_moe": "qkv-bias",
    "qwen2_vl": "qkv-bias mrope",
    "qwen2_vl_text": "qkv-bias mrope",
    "qwen3": "both-if qk-norm",
    "qwen3_5": "both-if qk-norm mrope",
    "qwen3_5_moe": "both-if qk-norm mrope",
    "qwen3_5_moe_text": "both-if qk-norm mrope",
    "qwen3_5_text": "both-if qk-norm mrope",
    "qwen3_moe": "both-if qk-norm",
    "qwen3_next": "both-if qk-norm gate",
    "qwen3_vl": "both-if qk-norm mrope",
    "qwen3_vl_moe": "both-if qk-norm mrope",
    "qwen3_vl_moe_text": "both-if qk-norm mrope",
    "qwen3_vl_text": "both-if qk-norm mrope",
    "qwen3_omni_moe_text": "both-if qk-norm mrope",
    "roberta": "qkv-bias out-bias mlp-bias plain encoder positions",
    "seed_oss": "qkv-if",
    "smollm3": "both-if",
    "solar_open": "both-if",
    "stablelm": "qkv-use",
    "starcoder2": "use-bias-all plain tied",
    "step3p5": "qk-norm",
    "step3p7": "qk-norm",
    "xlm-roberta": "qkv-bias out-bias mlp-bias plain encoder positions",
}


class Traits:
    """The words of a model type.

    >>> Traits("qwen2").has("qkv-bias"), Traits("gemma2").norms, Traits("unheard-of").known
    (True, 4, False)
    """

    __slots__ = ("known", "norms", "words")

    def __init__(self, model_type: str) -> None:
        found = TYPES.get(model_type)
        self.known = found is not None
        self.words = frozenset((found or "").split())
        self.norms = next((int(word[6:]) for word in self.words if word.startswith("norms=")), 2)

    def has(self, word: str) -> bool:
        """Whether a word is among them."""
        return word in self.words
