"""How a checkpoint holds its weights: the formats in its config, which matrices they apply to, and the bytes of a matrix.

Keys as vllm-0.33.0 reads them: vllm/model_executor/layers/quantization/ fp8.py, awq.py, gptq.py, auto_round.py, modelopt.py,
mxfp4.py, bitsandbytes.py, compressed_tensors/compressed_tensors.py.

Lists of names name the same few matrices of each of a hundred layers. What they say of one layer is therefore kept apart from
what they say of all: layers with equal lists need no second look (`of_layer`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from servelint.models.architecture import Format, Quantization
from servelint.models.config_values import flag, integer, listed, number, table, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from servelint.models.matrices import Matrix

    Matches = Callable[[str], re.Match[str] | None]

_MODELOPT = {
    "FP8": Format("fp8", 8), "FP8_PER_CHANNEL_PER_TOKEN": Format("fp8", 8), "FP8_PB_WO": Format("fp8-block", 8, 128),
    "NVFP4": Format("nvfp4", 4, 16), "NVFP4_AWQ": Format("nvfp4", 4, 16), "NVFP4_SVD": Format("nvfp4", 4, 16),
    "W4A16_NVFP4": Format("nvfp4", 4, 16), "W4A8_NVFP4_FP8": Format("nvfp4", 4, 16), "MXFP8": Format("mxfp8", 8, 32),
    "MXFP4": Format("mxfp4", 4, 32), "W4A8_MXFP4_FP8": Format("mxfp4", 4, 32), "W4A16_AWQ": Format("int4", 4, 128),
    "W4A8_AWQ": Format("int4", 4, 128),
}  # fmt: skip
_IGNORED = ("ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers", "llm_int8_skip_modules")
_PLAIN = {
    "fbgemm_fp8": Format("fp8", 8), "ptpc_fp8": Format("fp8", 8), "mxfp4": Format("mxfp4", 4, 32),
    "gpt_oss_mxfp4": Format("mxfp4", 4, 32), "mxfp8": Format("mxfp8", 8, 32), "experts_int8": Format("int8", 8),
}  # fmt: skip
PLAIN = Format()
GGUF_BITS = {
    "IQ1_S": 2.0042, "IQ1_M": 2.1460, "IQ2_XXS": 2.3824, "IQ2_XS": 2.5882, "IQ2_S": 2.7403, "IQ2_M": 2.9294, "IQ3_XXS": 3.2548,
    "IQ3_XS": 3.4977, "IQ3_S": 3.6606, "IQ3_M": 3.7628, "IQ4_XS": 4.4597, "IQ4_NL": 4.6818, "Q2_K": 3.1593, "Q2_K_S": 2.9697,
    "Q3_K_S": 3.6429, "Q3_K_M": 3.9960, "Q3_K_L": 4.2979, "Q4_0": 4.6590, "Q4_1": 5.1070, "Q4_K_S": 4.6672, "Q4_K_M": 4.8944,
    "Q5_0": 5.5550, "Q5_1": 6.0027, "Q5_K_S": 5.5704, "Q5_K_M": 5.7036, "Q6_K": 6.5633, "Q8_0": 8.5008, "F16": 16.0005,
    "BF16": 16.0005,
}  # fmt: skip
"""Bits of a weight by file type, over all of a Llama-3.1-8B: llama.cpp tools/quantize/README.md."""
_LARGER = {"Q2_K": "Q2_K", "Q3_K": "Q3_K_M", "Q4_K": "Q4_K_M", "Q5_K": "Q5_K_M", "Q6_K": "Q6_K", "Q8_K": "Q8_0"}
"""File types of publishers, without their ending -> the file type of llama.cpp that they are made of."""


def gguf_bits(kind: str) -> float:
    """About how many bits a weight has in files of a type; 0 if that is not known.

    Those of Unsloth ("UD-") and those that keep the output in more bits ("_L", "_XL") differ from model to model.

    >>> gguf_bits("Q4_K_M"), gguf_bits("UD-Q4_K_XL"), gguf_bits("TQ9")
    (4.8944, 4.8944, 0.0)
    """
    bare = kind.removeprefix("UD-")
    return GGUF_BITS.get(bare) or GGUF_BITS.get(_LARGER.get(bare.removesuffix("_XL").removesuffix("_L"), ""), 0.0)


_PATTERN_AT_MOST = 2000
_REPEATS_AT_MOST = 4
_REPEATS = re.compile(r"[*+{]")
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)(?=\.|$)")
_OF_LAYER = re.compile(r"layers\.(\d+)(?=\.|$)")
_OF_LAYERS = re.compile(r"\(\?!\.\*mtp\)\.\*layers\\\.\((\d+(?:\|\d+)*)\)(?=\\\.|\.\*$)")
"""An expression for matrices of many layers, as tools/architectures.py packs lists of names. Where a point follows the
numbers they are whole ones; with .* they are beginnings."""
_LITERAL = re.compile(r"(?:[\w-]|\\\.)*")
_OF_ALL = re.compile(r"(?:[a-z_A-Z-]|\\\.|\.[*+]|[|()^$])*")
"""An expression that matches a name of one layer if it matches that of another: nothing in it stands for a digit, or for one
character."""
_OF_DRAFTS = re.compile(r"(?:\.\*)?mtp\\\.[^|]*$")
"""An expression for matrices of multi-token prediction alone, which none of the model's own layers has."""
_PREFIXES = ("model.language_model.", "language_model.model.", "language_model.", "model.")
_SAME = (
    (".attn.", ".self_attn."), ("ffn.", "mlp."), ("block_sparse_moe", "mlp"), ("feed_forward", "mlp"),
    ("shared_expert.", "shared_experts."), ("mixer.q_proj", "self_attn.q_proj"), ("mixer.k_proj", "self_attn.k_proj"),
    ("mixer.v_proj", "self_attn.v_proj"), ("mixer.o_proj", "self_attn.o_proj"), ("mixer.qkv_proj", "self_attn.*_proj"),
    ("mixer.experts", "mlp.experts"), ("mixer.shared_experts", "mlp.shared_experts"), ("mixer.gate", "mlp.gate"),
    ("mixer.fc", "mlp.fc"), ("mixer.up_proj", "mlp.up_proj"), ("mixer.down_proj", "mlp.down_proj"), ("router.gate", "gate"),
    (".w1", ".gate_proj"), (".w2", ".down_proj"), (".w3", ".up_proj"), ("index_q_proj", "indexer.wq_b"),
    ("index_k_proj", "indexer.wk"),
)  # fmt: skip
"""Names of the same matrices in checkpoints of other families."""
_ESCAPED = tuple([(re.escape(old), re.escape(new)) for old, new in _SAME])


def quantization_of(data: Mapping[str, Any], inner: Mapping[str, Any]) -> Quantization | None:
    """How the weights are held, by a config.json and its part for the language model, or by a hf_quant_config.json.

    Returns:
        None if the weights are quantized in a way that is not known.
    """
    given = next((one for one in (data.get("quantization_config"), inner.get("quantization_config")) if one), None)
    given = given or data.get("compression_config") or inner.get("compression_config")
    if given is None:
        return Quantization()
    if not isinstance(given, dict):
        return None
    if isinstance(given.get("quantization"), dict):
        given = {"quant_method": "modelopt", **given["quantization"]}  # hf_quant_config.json
    method = str(given.get("quant_method") or "")
    formats = _formats(method, given)
    if formats is None:
        return None
    # DeepSeek V4 and MiMo V2.6: FP8, and MXFP4 in the experts (sglang-0.5.23 srt/configs/model_config.py)
    four = inner.get("expert_dtype") == "fp4" or given.get("routed_experts_quant_method") == "mxfp4"
    if four and not formats[0].targets:
        formats = (Format("mxfp4", 4, 32, False, ("*.experts.*",)), *formats)
    if method in ("fp8", "deepseek_v4_fp8") and formats[0].targets:  # what the others' list leaves out stays FP8
        return Quantization(method, (*formats, Format("fp8-block", 8, 128)))
    ignored = [one for key in _IGNORED for one in listed(given, key) if isinstance(one, str)]
    dynamic = given.get("dynamic")
    if isinstance(dynamic, dict):
        ignored += ["re:" + one[2:] for one in dynamic if isinstance(one, str) and one.startswith("-:")]
    extra = given.get("extra_config")
    if isinstance(extra, dict):
        ignored += [name for name, one in extra.items() if isinstance(one, dict) and number(one, "bits") >= 16]
    cache = word(given, "kv_cache_quant_algo") or ("FP8" if number(table(given, "kv_cache_scheme"), "num_bits") == 8 else None)
    return Quantization(method, formats, tuple(dict.fromkeys(ignored)), "fp8" if cache == "FP8" else cache and cache.lower())


def _formats(method: str, given: Mapping[str, Any]) -> tuple[Format, ...] | None:
    if method in _PLAIN:
        return (_PLAIN[method],)
    if method in ("fp8", "deepseek_v4_fp8") and not isinstance(given.get("quantized_layers"), dict):
        block = listed(given, "weight_block_size")
        main = Format("fp8-block", 8, int(block[-1])) if len(block) == 2 and isinstance(block[-1], int) else Format("fp8", 8)
        return (main,)
    if method in ("awq", "gptq", "awq_marlin", "gptq_marlin", "auto-round", "auto_round", "intel/auto-round", "inc"):
        bits, group = number(given, "bits", "w_bit"), integer(given, "group_size", "q_group_size")
        if bits not in (2, 3, 4, 8):
            return None
        group = group if group is not None else 0 if given.get("group_size") == -1 else 128
        asymmetric = flag(given, "zero_point") or given.get("sym") is False
        awq = "awq" in method or "awq" in str(given.get("packing_format"))
        main = Format("int4" if bits == 4 else "int8" if bits == 8 else "int", bits, group, asymmetric or not awq)
        head = table(given, "extra_config").get("lm_head")  # AutoRound's; GPTQ has a flag (layers/quantization/auto_gptq.py)
        quantized = flag(given, "lm_head") or (isinstance(head, dict) and number(head, "bits") == bits)
        return (replace(main, targets=("lm_head",)), main) if quantized else (main,)
    if method == "bitsandbytes":
        return (Format("bnb4", 4, 64) if flag(given, "load_in_4bit") or flag(given, "_load_in_4bit") else Format("bnb8", 8),)
    if method.startswith("modelopt") or "quant_algo" in given or "quantized_layers" in given:
        return _modelopt(given)
    if method in ("compressed-tensors", "compressed_tensors"):
        return _compressed_tensors(given)
    return None


def _modelopt(given: Mapping[str, Any]) -> tuple[Format, ...] | None:
    algo = word(given, "quant_algo")
    if algo in _MODELOPT:
        main = _MODELOPT[algo]
        group = integer(given, "group_size")
        return (Format(main.scheme, main.bits, group or main.group),)
    by_scheme: dict[Format, list[str]] = {}
    for name, entry in table(given, "quantized_layers").items():
        found = _MODELOPT.get(str(table({"": entry}, "").get("quant_algo")))
        if found is None:
            return None
        by_scheme.setdefault(found, []).append(name)
    kinds = [Format(one.scheme, one.bits, one.group, False, tuple(names)) for one, names in by_scheme.items()]
    return tuple(sorted(kinds, key=lambda one: -one.bits)) or None  # what has few bits is most of the weights


def _compressed_tensors(given: Mapping[str, Any]) -> tuple[Format, ...] | None:
    """One format per group. The group whose target is a class (`Linear`) applies to what no other names, and comes last."""
    found: list[Format] = []
    for entry in table(given, "config_groups").values():
        weights = table(table({"": entry}, ""), "weights")
        bits, kind = number(weights, "num_bits"), word(weights, "type")
        group = integer(weights, "group_size") or 0
        format_ = word(table({"": entry}, ""), "format") or word(given, "format") or ""
        block = listed(weights, "block_structure")
        if kind == "float" and bits == 4:
            scheme = "mxfp4" if "mxfp4" in format_ or group == 32 else "nvfp4"
            group = group or (32 if scheme == "mxfp4" else 16)
        elif kind == "float" and bits == 8:
            scheme = "mxfp8" if group == 32 else "fp8-block" if len(block) == 2 else "fp8"
            group = int(block[-1]) if len(block) == 2 and isinstance(block[-1], int) else group
        elif kind == "int" and bits in (2, 3, 4, 8):
            scheme = "int8" if bits == 8 else "int4" if bits == 4 else "int"
        else:
            return None
        targets = tuple(one for one in listed(table({"": entry}, ""), "targets") if isinstance(one, str))
        everything = any(one[:1].isupper() for one in targets)
        found.append(Format(scheme, bits, group, weights.get("symmetric") is False, () if everything else targets))
    return tuple(sorted(found, key=lambda one: not one.targets)) or None


def tensors(kind: Format, rows: int, columns: int, element: int) -> list[int]:
    """Bytes of the tensors that hold one matrix: the weights first, then their scales and zero points.

    Shapes: vllm-0.33.0 vllm/model_executor/layers/quantization (create_weights of each method); bitsandbytes with the constants
    of each 64 weights in float32 (vllm-0.19.1 quantization/bitsandbytes.py).

    `element` is the number of bytes of an element that is not quantized.
    """
    size, group = rows * columns, kind.group or columns or 1
    groups = rows * -(-columns // group)
    if kind.scheme == "none":
        return [size * element]
    if kind.scheme == "fp8-block":
        block = kind.group or 128
        return [size, 4 * -(-rows // block) * -(-columns // block)]
    if kind.scheme in ("fp8", "bnb8"):
        return [size, 4 * rows]
    if kind.scheme == "int8":
        return [size, 2 * groups]
    if kind.scheme in ("int4", "int"):
        packed = -(-size * int(kind.bits) // 8)
        return [packed, 2 * groups, groups // 2] if kind.zeros else [packed, 2 * groups]
    if kind.scheme == "nvfp4":
        return [size // 2, rows * -(-columns // 16)]
    if kind.scheme == "mxfp4":
        return [size // 2, rows * -(-columns // 32)]
    if kind.scheme == "mxfp8":
        return [size, rows * -(-columns // 32)]
    if kind.scheme == "bnb4":
        return [size // 2, 4 * -(-size // 64)]
    return [int(size * kind.bits / 8)]


class Formats:
    """The formats of a checkpoint's matrices. Its lists are read once."""

    __slots__ = ("_ignored", "_main", "_several", "_whole")

    def __init__(self, quantization: Quantization) -> None:
        self._main = quantization.formats[-1]
        self._whole = quantization.scheme in ("none", "gguf")
        self._ignored = patterns(quantization.ignored)
        self._several = [(one, patterns(one.targets)) for one in quantization.formats if one.targets]

    def of(self, matrix: Matrix) -> Format:
        """The format of a matrix, "none" for what no quantization applies to and for what the checkpoint's list leaves out."""
        if self._whole:
            return self._main if matrix.columns > 1 and self._main.scheme == "gguf" else PLAIN
        if matrix.plain or (self._ignored is not None and self._ignored.names(matrix.name)):
            return PLAIN
        for one, targets in self._several:
            if targets is not None and targets.names(matrix.name):
                return one
        if self._main.targets or matrix.group == "lm_head":
            return PLAIN
        if matrix.group == "mtp" and self._main.bits < 8:
            return PLAIN  # tools for 4 bits leave it, and do not list what they do not know
        return self._main

    def of_layer(self, index: int, tails: tuple[str, ...]) -> object:
        """What the lists say of a layer. Two layers with equal results have their matrices in the same formats.

        `tails` are the names of the layer's matrices after its number, ".self_attn.q_proj".
        """
        if self._whole:
            return None
        lists = [self._ignored, *[targets for _, targets in self._several]]
        return tuple([one.of_layer(index, tails) for one in lists if one is not None])


def format_of(matrix: Matrix, quantization: Quantization) -> Format:
    """The format of one matrix."""
    return Formats(quantization).of(matrix)


class Patterns:
    """A list of names of matrices, read once: by layer where a name has the number of one, else for all layers."""

    __slots__ = ("_apart", "_begun", "_expressions", "_numbers", "_tied", "_whole")

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._tied: dict[str, list[tuple[str, str]]] = {}
        self._begun: tuple[str, ...] = ()
        self._expressions: list[tuple[Matches, str]] = []
        self._apart: list[tuple[Matches, str]] = []
        whole: set[str] = set()
        wild: list[str] = []
        apart: list[str] = []
        for pattern in patterns:
            if len(pattern) > _PATTERN_AT_MOST or len(_REPEATS.findall(pattern)) > _REPEATS_AT_MOST:
                continue  # no checkpoint needs it, and matching it could take forever
            if _REPEATED_GROUP.search(pattern):
                continue  # the same
            if pattern.startswith("re:"):
                self._expression(_translated(pattern[3:], _ESCAPED))
                continue
            text = _translated(_from_layers(pattern), _SAME)
            globs = "*" in text or "?" in text
            layer = _OF_LAYER.match(text)
            if layer is not None:
                self._tie(layer.group(1), "glob" if globs else "name", text[layer.end() :])
            elif globs:
                wild.append(text)
                if not text.startswith("mtp") and ("?" in text or any(one.isdigit() for one in text)):
                    apart.append(text)
            else:
                whole.add(text)
        self._whole = frozenset(whole)
        self._numbers = any(one[:1].isdigit() for one in whole)
        if wild:
            self._expressions.append((_glob(wild).search, ""))
        if apart:
            self._apart.append((_glob(apart).search, ""))

    def _tie(self, number: str, how: str, rest: str) -> None:
        self._tied.setdefault(number, []).append((how, rest))

    def _expression(self, text: str) -> None:
        layers = _OF_LAYERS.match(text)
        if layers is not None:
            numbers, rest = layers.group(1).split("|"), text[layers.end() :]
            if rest == ".*":
                self._begun += tuple(numbers)
                return
            how = "beginning" if _LITERAL.fullmatch(rest) else "expression"
            try:
                rest = rest.replace("\\", "") if how == "beginning" else re.compile(rest).pattern
            except re.error:
                return
            for number in numbers:
                self._tie(number, how, rest)
            return
        try:
            found = re.compile(text).match, "model."
        except re.error:
            return
        self._expressions.append(found)
        if _OF_ALL.fullmatch(text) is None and _OF_DRAFTS.match(text) is None:
            self._apart.append(found)

    def names(self, name: str) -> bool:
        """Whether the list names a matrix, or what contains it. The name begins with `layers`: "layers.3.self_attn.q_proj"."""
        return any(self._of(one) for one in _checkpoint_names(name))

    def _of(self, name: str) -> bool:
        if self._whole and not self._whole.isdisjoint(_runs(name)):
            return True
        layer = _LAYER.search(name) if self._tied or self._begun else None
        if layer is not None:
            number, tail, outside = layer.group(1), name[layer.end() :], "mtp" not in name
            if outside and self._begun and number.startswith(self._begun):
                return True
            tied = self._tied.get(number, ())
            if any(_follows(how, rest, tail) for how, rest in tied if outside or how in ("name", "glob")):
                return True
        return any(matches(before + name) is not None for matches, before in self._expressions)

    def of_layer(self, index: int, tails: Iterable[str]) -> object:
        """What the list says of one layer. Where that is equal, it names the same matrices of two layers.

        `tails` are the names of the layer's matrices after its number, ".self_attn.q_proj".
        """
        tied = (*self._tied.get(str(index), ()), bool(self._begun) and str(index).startswith(self._begun))
        if not self._apart and not self._numbers:
            return tied
        names = [f"layers.{index}{one}" for tail in tails for one in _checkpoint_names(tail)]
        found = [any(matches(before + name) is not None for matches, before in self._apart) for name in names]
        numbers = [not self._whole.isdisjoint(_runs(name)) for name in names] if self._numbers else []
        return tied, tuple(found), tuple(numbers)


@lru_cache(maxsize=64)
def patterns(listed: tuple[str, ...]) -> Patterns | None:
    """The list as `Patterns`, None for an empty list."""
    return Patterns(listed) if listed else None


def _from_layers(pattern: str) -> str:
    """A name from `layers` on, because what comes before it differs between releases of Transformers."""
    start = pattern.find("layers.")
    text = pattern[start:] if start >= 0 and not pattern.startswith("mtp") else pattern
    for before in _PREFIXES:
        text = text.removeprefix(before)
    return text


def _glob(texts: list[str]) -> re.Pattern[str]:
    """Names of whole parts with * for anything and ? for a character."""
    return re.compile(r"(?:^|\.)(?:" + "|".join(map(_globbed, texts)) + r")(?:\.|$)")


def _globbed(text: str) -> str:
    return re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")


def _follows(how: str, rest: str, tail: str) -> bool:
    """Whether a pattern of a layer names what stands after the layer's number."""
    if how == "name":
        return tail == rest or tail.startswith(rest + ".")
    if how == "beginning":
        return tail.startswith(rest)
    expression = _globbed(rest) + r"(?:\.|$)" if how == "glob" else rest
    return _compiled(expression).match(tail) is not None


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _runs(name: str) -> list[str]:
    """All runs of whole parts of a name."""
    parts = name.split(".")
    return [".".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)]


def _checkpoint_names(name: str) -> tuple[str, ...]:
    """The names that checkpoints give a matrix: routed experts each have a number, and up_proj alone where there is no gate."""
    if ".experts." not in name:
        return (name,)
    return (
        name,
        name.replace(".experts.gate_up_proj", ".experts.0.gate_proj").replace(".experts.down_proj", ".experts.0.down_proj"),
        name.replace(".experts.gate_up_proj", ".experts.0.up_proj"),
    )


def _translated(text: str, names: tuple[tuple[str, str], ...]) -> str:
    """A name or an expression with the names that matrices have in servelint."""
    for old, new in names:
        text = text.replace(old, new)
    return text
