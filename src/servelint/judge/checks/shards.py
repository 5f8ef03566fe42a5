"""Checks of what each GPU holds of quantized weights: tensor parallelism must cut them where their scales allow it.

A scale of block-quantized FP8 stands for 128 rows by 128 columns, one of AWQ for 128 rows. The engines refuse a shard that ends
within a block when they build the layer. Which checkpoints have blocks is known of those whose config.json is known, and of
those that a publisher makes in one way. A folder's name alone is a hint.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.engines import ENGINES
from servelint.engines.config import Config
from servelint.judge.checks import product, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_PUBLISHED = re.compile(r"qwen/qwen3[^/]*-fp8|stepfun-ai/step-3\.5-flash-fp8|redhatai/[^/]*-fp8-block")
"""Names under which a publisher has FP8 in blocks alone."""
_PUBLISHERS = ("qwen", "deepseek-ai", "minimaxai", "stepfun-ai")
_GROUPED = {
    "qwen2-vl-72b-instruct-awq": "qwen",
    "qwen2.5-vl-72b-instruct-awq": "qwen",
    "qwen2.5-vl-72b-instruct-pointer-awq": "pointerhq",
    "internvl3-78b-awq": "opengvlab",
}
"""AWQ checkpoints that keep an inner size which few sizes divide -> the publisher.

Sources: QwenLM/Qwen3-VL#230, QwenLM/Qwen3-VL#831, sgl-project/sglang#3571, vllm-project/vllm#21695.

Qwen2.5-72B-Instruct-AWQ and its GPTQ do not: their inner size is padded.
"""
_SAME_SHAPE = {"pointerhq": "qwen"}
"""A publisher of quantized weights -> whose model has the shape."""
_UNPADDED = re.compile(r"qwen2\.5-(?:0\.5|1\.5|3|7|14|32)b-instruct-awq|qwen3-(?:4|8|14|32)b-awq|qwq-32b-awq")
"""AWQ checkpoints of Qwen that are not padded."""
_REPLACED = ("qwen2-vl-72b-instruct-awq", "qwen2.5-vl-72b-instruct-awq")
"""Those that their publisher has replaced with padded ones: the name alone does not say which one it is."""
_IN_CHANNELS = ("zai-org/glm-4.", "redhatai/")
"""Publishers of FP8 with a scale for each channel."""
_GROUPS_OF_128 = ("redhatai/", "neuralmagic/")
"""Publishers of compressed-tensors in 4 bits with the usual groups."""
_LINEAR_IN_GROUPS = re.compile(r"qwen/|(?:redhatai|neuralmagic)/(?:qwen|phi-4|deepseek-r1-distill-qwen)")
"""Beginnings of repositories of models whose groups are those. Others may have groups of 64, or leave layers out."""
_WHOLE_INPUTS = {"dense mlp": "inner size", "attention": "attention's width", "linear attention": "linear attention's width"}
"""Groups of matrices whose inputs tensor parallelism cuts, whatever the release -> what they are called."""
_METHODS = {"fp8": "fp8", "deepseek_v4_fp8": "fp8", "compressed-tensors": "compressed-tensors"}
"""Methods that hold FP8 in blocks -> the value of --quantization that asks for no other one."""
_COMPRESSED_SINCE = {"vllm": "0.11.0", "sglang": "0.5.7"}
"""The first release of each engine that checks blocks in compressed-tensors/schemes/compressed_tensors_w8a8_fp8.py."""
_WITH_EXPERTS = ("moe-a2a-backend", "enable-ep-moe", "enable-deepep-moe", "moe-dp-size", "moe-data-parallel-size")


def blocks(config: Config) -> dict[str, str] | None:
    """A shard of block-quantized FP8 that ends within a block, of a checkpoint that is known.

    Source: validate_fp8_block_shape in vllm/model_executor/layers/quantization/utils/fp8_utils.py and create_weights of
    Fp8MoEMethod in fp8.py (vllm-0.6.6 to 0.33.0); create_weights in srt/layers/quantization/fp8.py (sglang-0.4.3.post4 to
    0.5.23).
    """
    model = _stored(config) or _of_hub(config)
    return _across(config, model) if model is not None else None


def blocks_by_name(config: Config) -> dict[str, str] | None:
    """As `blocks`, of a folder that has the name of such a checkpoint."""
    model = _of_folder(config) if _stored(config) is None else None
    return _across(config, model) if model is not None else None


def in_blocks(config: Config) -> dict[str, str] | None:
    """A checkpoint in FP8 blocks, by its config.json or its name."""
    model = _stored(config) or _of_hub(config) or _of_folder(config)
    if model is None or all(one.scheme != "fp8-block" for one in model.quantization.formats):
        return None
    if not _takes_blocks(config, model):
        return None
    given = config.operand("quantization").value
    return {} if given is None or given == _METHODS.get(model.quantization.method, "fp8") else None


def compressed_blocks(config: Config) -> dict[str, str] | None:
    """FP8 blocks in compressed-tensors, by the checkpoint's config.json or its repository.

    Source: _is_fp8_w8a8 in srt/layers/quantization/compressed_tensors/compressed_tensors.py (sglang-0.4.4.post2 to 0.5.6) knows
    scales of tensors and of channels alone.
    """
    model = _stored(config) or _of_hub(config)
    if model is None or model.quantization.method != "compressed-tensors":
        return None
    if all(one.scheme != "fp8-block" for one in model.quantization.formats):
        return None
    return {} if _keeps_compressed(config) else None


def compressed_blocks_by_name(config: Config) -> dict[str, str] | None:
    """As `compressed_blocks`, by the name that llm-compressor gives, of a folder or of another publisher."""
    if _stored(config) is not None or compressed_blocks(config) is not None:
        return None
    name = config.text("model")
    named = name is not None and re.search(r"-fp8[-_]block$", name.rstrip("/"), re.IGNORECASE) is not None
    return {} if named and _keeps_compressed(config) else None


def _keeps_compressed(config: Config) -> bool:
    given = config.operand("quantization")
    return given.present is False or given.value == "compressed-tensors"


def fp8_in_triton(config: Config) -> dict[str, str] | None:
    """FP8 weights for which vLLM has Triton's kernels alone before 0.9: blocks, and experts.

    Source: Fp8LinearMethod and Fp8MoEMethod in vllm/model_executor/layers/quantization/fp8.py (vllm-0.6.6 to 0.8.5).
    """
    if in_blocks(config) is not None:
        return {"part": "FP8 weights in blocks"}
    method = config.operand("quantization")
    kind = method.value if method.present else config.operand("model.quantization").value
    return {"part": "FP8 experts"} if kind == "fp8" and config.operand("model.moe").value is True else None


def state_heads(config: Config) -> dict[str, str] | None:
    """A tensor parallel size that does not divide the groups or the heads of Mamba-2 layers of a known model.

    Source: MambaMixer2.__init__ in vllm/model_executor/layers/mamba/mamba_mixer2.py (vllm-0.9.2 to 0.33.0), and in
    srt/layers/attention/mamba/mamba.py (sglang-0.5.4 to 0.5.23).
    """
    model, size = _known(config), whole(config, ENGINES[config.launch.engine].tensor_parallel_operand)
    if model is None or size is None or size < 2:
        return None
    for layers in model.states:
        if layers.kind != "mamba2":
            continue
        if layers.value_heads % size:
            return {"part": "heads", "count": str(layers.value_heads)}
        if layers.key_heads > 1 and layers.key_heads % size:
            return {"part": "groups", "count": str(layers.key_heads)}
    return None


def quantized_state_group(config: Config) -> dict[str, str] | None:
    """Mamba-2 layers with one group, quantized and cut by tensor parallelism.

    Source: MambaMixer2.__init__ in srt/layers/attention/mamba/mamba.py (sglang-0.5.4 to 0.5.23).
    """
    model, method = _known(config), config.operand("quantization")
    if model is None or not any(layers.kind == "mamba2" and layers.key_heads == 1 for layers in model.states):
        return None
    if method.present is not False:
        return {"method": str(method.value)} if method.value is not None else None
    stored = model.quantization.method
    return {"method": stored} if stored and stored != "none" else None


def groups(config: Config) -> dict[str, str] | None:
    """A shard of AWQ weights that ends within a group, of a checkpoint that is known.

    Source: create_weights of AWQLinearMethod in vllm/model_executor/layers/quantization/awq.py (vllm-0.6.1 to 0.23.0), of
    BaseAWQLinearMethod in auto_awq.py (vllm-0.33.0), of AWQLinearMethod in srt/layers/quantization/awq.py (sglang-0.4.4.post4
    to 0.5.23). AWQ's Marlin gives such layers to it.
    """
    return _across_groups(config, by_name=False)


def groups_by_name(config: Config) -> dict[str, str] | None:
    """As `groups`, of a folder that has the name of such a checkpoint."""
    return _across_groups(config, by_name=True)


def _across_groups(config: Config, *, by_name: bool) -> dict[str, str] | None:
    from servelint.models.architecture import find
    from servelint.models.catalog import last_part

    name, size = config.text("model"), whole(config, ENGINES[config.launch.engine].tensor_parallel_operand)
    last = last_part(name) if name is not None else ""
    publisher = _GROUPED.get(last) or ("qwen" if _UNPADDED.fullmatch(last) else None)
    if name is None or publisher is None or size is None or _stored(config) is not None:
        return None
    published = name.lower() == f"{publisher}/{last}"
    other = by_name and not published and config.text("model.repository") is not None
    if by_name is (published and last not in _REPLACED) or other:
        return None
    model = find(f"{_SAME_SHAPE.get(publisher, publisher)}/{last.replace('-pointer', '')}")
    if model is None or config.operand("quantization").value not in (None, "awq", "awq_marlin"):
        return None
    sizes = {"inner size": model.dense}
    if config.launch.engine == "sglang" and config.operand("effective.dp-attention").value is False:
        sizes["attention's width"] = model.heads * model.attention[0].value_dim
    parts = {label: (inner, 1) for label, inner in sizes.items()}
    found = (_said(model, label, inner, size, 128, parts) for label, inner in sizes.items())
    return next((one for one in found if one is not None), None)


def experts_in_int4(config: Config) -> dict[str, str] | None:
    """Experts of GPTQ or AWQ whose shard is cut so that a CUDA kernel of vLLM gives up.

    Marlin takes a shard of whole groups; the others get the kernel moe_wna16, which works on 128 inputs at once.

    Source: check_moe_marlin_supports_layer in marlin_utils.py and get_moe_wna16_block_config in fused_moe.py (vllm-0.8.2 to
    0.12.0); 0.13.0 chooses other numbers of inputs.
    """
    from servelint.models.catalog import lookup

    name, given = config.text("model"), config.operand("quantization")
    model = _stored(config) or (lookup(name) if name is not None else None)
    repository = config.text("model.repository")
    if model is None or model.experts is None or (repository is not None and not repository.lower().startswith("qwen/")):
        return None
    kinds = {(one.bits, one.group) for one in model.quantization.formats}
    marlin = ("gptq", "gptq_marlin", "awq", "awq_marlin", "moe_wna16")
    taken = given.present is False or given.value in marlin
    if model.quantization.method not in marlin or kinds != {(4, 128)} or not taken:
        return None
    size, replicas = whole(config, "tensor-parallel-size"), product(config, ("data-parallel-size",))
    if size is None or replicas is None or config.operand("enable-expert-parallel").present is not False:
        return None
    if config.operand("gpu.vendor").value not in (None, "nvidia"):
        return None
    shards, inner = size * replicas, model.experts.intermediate
    if inner % (shards * 32):
        return None
    return _said(model, "size of an expert", inner, shards, 128, {"experts": (inner, replicas)})


def experts_in_groups(config: Config) -> dict[str, str] | None:
    """Experts of compressed-tensors in 4 bits whose shard is not a whole number of groups.

    Source: create_weights of CompressedTensorsWNA16MoEMethod in compressed_tensors_moe_wna16.py (vllm-0.24.0 to 0.33.0).
    """
    from servelint.models.catalog import lookup

    repository = (config.text("model.repository") or "").lower()
    model = _stored(config) or (lookup(repository) if repository.startswith(_GROUPS_OF_128) else None)
    if model is None or model.experts is None or model.quantization.method != "compressed-tensors":
        return None
    kinds = {(one.scheme, one.bits, one.group) for one in model.quantization.formats}
    if len(kinds) != 1:
        return None
    ((scheme, bits, group),) = kinds
    if scheme != "int4" or bits != 4 or not group or group < 2:
        return None
    return _cut_experts(config, model, group)


def linear_groups(config: Config) -> dict[str, str] | None:
    """A shard of compressed-tensors' or GPTQ's linear weights that ends within a group.

    Source: create_weights in compressed_tensors_wNa16.py of compressed_tensors/schemes (vllm-0.6.6 to 0.33.0, by
    verify_group_size_divides_partition from 0.25.0 on), and in gptq.py (vllm-0.6.6 to 0.21.0).
    """
    from servelint.models.catalog import lookup
    from servelint.models.matrices import matrices
    from servelint.models.quantization import Formats

    repository, size = (config.text("model.repository") or "").lower(), whole(config, "tensor-parallel-size")
    model = _stored(config) or (lookup(repository) if _LINEAR_IN_GROUPS.match(repository) else None)
    if model is None or size is None or not _by_groups(config, model, repository):
        return None
    formats = Formats(model.quantization)
    for one in matrices(model):
        held = formats.of(one)
        if one.split != "columns" or one.group not in _WHOLE_INPUTS or held.scheme not in ("int4", "int8") or held.group < 2:
            continue
        if one.columns % held.group:  # left in 16 bits, or in other groups than its name says
            continue
        found = _said(model, _WHOLE_INPUTS[one.group], one.columns, size, held.group, {"": (one.columns, 1)})
        if found is not None:
            return found
    return None


def _by_groups(config: Config, model: Architecture, repository: str) -> bool:
    """Whether the release checks the groups of a checkpoint that certainly has them."""
    method, given = model.quantization.method, config.operand("quantization")
    if method == "compressed-tensors":
        if config.operand("gpu.vendor").value == "amd" and not config.at_least("0.30.0"):
            return False  # Conch takes scales that each rank has whole, as those of an activation order have
        return given.present is False or given.value == method
    if method != "gptq" or config.at_least("0.22.0") is not False or "-72b-" in repository:
        return False
    plain = config.operand("gpu.vendor").value == "amd" or config.operand("gpu.capability").value == 7
    return given.value == "gptq" or (plain and given.present is False)


def experts_in_nvfp4(config: Config) -> dict[str, str] | None:
    """Experts of an NVFP4 checkpoint whose shard is not a whole number of groups of 16.

    Source: create_weights of ModelOptNvFp4FusedMoE in modelopt.py (vllm-0.14.0 to 0.33.0); it rounds the number of scales down.
    """
    from servelint.models.catalog import lookup

    name = config.text("model.repository")
    model = _stored(config) or (lookup(name) if name is not None and name.lower().startswith("nvidia/") else None)
    if model is None or model.experts is None or model.quantization.method != "modelopt":
        return None
    kinds = {(one.scheme, one.group) for one in model.quantization.formats if not one.targets or "expert" in str(one.targets)}
    return _cut_experts(config, model, 16) if ("nvfp4", 16) in kinds else None


def experts_in_nvfp4_by_marlin(config: Config) -> dict[str, str] | None:
    """Experts of an NVFP4 checkpoint, given to Marlin, whose shard is not a whole number of its tiles of 64 columns.

    Marlin is the only kernel before compute capability 9.0, and elsewhere what --moe-backend asks for.

    Source: prepare_nvfp4_moe_layer_for_marlin in marlin_utils_fp4.py (vllm-0.14.0 to 0.25.1); 0.26.0 pads.
    """
    from servelint.models.catalog import lookup

    name, asked = config.text("model"), config.text("moe-backend") == "marlin"
    capability, repository = config.operand("gpu.capability").value, config.text("model.repository") or ""
    old = isinstance(capability, int | float) and capability < 9 and repository.lower().startswith("nvidia/")
    model = _stored(config) or (lookup(name) if name is not None and (asked or old) else None)
    if model is None or not (asked or (isinstance(capability, int | float) and capability < 9)):
        return None
    kinds = {(one.scheme, one.group) for one in model.quantization.formats if not one.targets or "expert" in str(one.targets)}
    whole_groups = _cut_experts(config, model, 16) is None  # else vllm/nvfp4-experts-cut reports it
    return _cut_experts(config, model, 64) if ("nvfp4", 16) in kinds and whole_groups else None


def experts_in_nvfp4_by_cutlass(config: Config) -> dict[str, str] | None:
    """Gated experts of an NVFP4 checkpoint whose shard is not a whole number of 64 columns, where no kernel takes it.

    CUTLASS pads the scales of gate and up together to rows of 128, and not their weights. It is what --moe-backend asks for,
    and the default from compute capability 12.0 on. Before 0.26.0 the kernels of all other GPUs refuse such a shard too.

    Source: prepare_nvfp4_moe_layer_for_fi_or_cutlass in flashinfer_fp4_moe.py (vllm-0.17.1 to 0.33.0).
    """
    from servelint.models.catalog import lookup

    name, backend, capability = config.text("model"), config.operand("moe-backend"), config.operand("gpu.capability").value
    if backend.present is not False:
        if backend.value not in ("cutlass", "flashinfer_cutlass"):
            return None
    elif config.at_least("0.26.0") is False:
        if config.operand("gpu.vendor").value not in (None, "nvidia") or (
            isinstance(capability, int | float) and capability < 9
        ):
            return None  # vllm/nvfp4-experts-off-tiles reports the latter
    elif not isinstance(capability, int | float) or not 12 <= capability < 13:
        return None
    model = _stored(config) or (lookup(name) if name is not None else None)
    if model is None or model.experts is None or not model.experts.gated:
        return None
    kinds = {(one.scheme, one.group) for one in model.quantization.formats if not one.targets or "expert" in str(one.targets)}
    whole_groups = _cut_experts(config, model, 16) is None  # else vllm/nvfp4-experts-cut reports it
    return _cut_experts(config, model, 64) if ("nvfp4", 16) in kinds and whole_groups else None


def experts_in_fp8(config: Config) -> dict[str, str] | None:
    """Experts in FP8, in the checkpoint or while loading, whose shard is not a whole number of Marlin's tiles of 64 columns.

    Blocks of 128 are `blocks`.

    Source: prepare_fp8_moe_layer_for_marlin in marlin_utils_fp8.py (vllm-0.10.2 to 0.24.0); 0.25.0 pads.
    """
    from servelint.models.catalog import lookup

    name, given = config.text("model"), config.operand("quantization")
    model = _stored(config) or (lookup(name) if name is not None else None)
    if model is None:
        return None
    schemes = {one.scheme for one in model.quantization.formats}
    online = given.value == "fp8" and schemes == {"none"}
    return _cut_experts(config, model, 64) if online or (given.present is False and schemes == {"fp8"}) else None


def experts_in_16_bits(config: Config) -> dict[str, str] | None:
    """Unquantized experts with gates whose shard is not a whole number of the blocks of FlashInfer's TRTLLM kernel, of 128.

    Source: convert_to_unquantized_kernel_format in fused_moe/oracle/unquantized.py (vllm-0.20.0 to 0.28.0); 0.29.0 pads.
    """
    model = _known(config)
    if model is None or model.experts is None or not model.experts.gated or config.operand("quantization").present is not False:
        return None
    plain = all(one.scheme == "none" for one in model.quantization.formats)
    return _cut_experts(config, model, 128) if plain else None


def experts_for_aiter(config: Config) -> dict[str, str] | None:
    """Unquantized experts whose shard is not a whole number of the smallest tiles of AITER's kernel, of 64.

    Source: _aiter_ck_moe_supported in srt/layers/quantization/unquant.py (sglang-0.5.14 line 400), which asks for 128; 0.5.10
    to 0.5.13 run Triton on the weights that are shuffled for AITER.
    """
    model, size, ranks = _known(config), whole(config, "effective.tp-size"), whole(config, "effective.ep-size")
    if model is None or model.experts is None or size is None or ranks != 1:
        return None
    plain = config.operand("quantization").present is False and all(one.scheme == "none" for one in model.quantization.formats)
    inner = model.experts.intermediate
    return _said(model, "size of an expert", inner, size, 64, {"experts": (inner, 1)}) if plain else None


def _cut_experts(config: Config, model: Architecture, group: int) -> dict[str, str] | None:
    size, replicas = whole(config, "tensor-parallel-size"), product(config, ("data-parallel-size",))
    if (
        model.experts is None
        or size is None
        or replicas is None
        or config.operand("enable-expert-parallel").present is not False
    ):
        return None
    inner = model.experts.intermediate
    return _said(model, "size of an expert", inner, size * replicas, group, {"experts": (inner, replicas)})


def tiles(config: Config) -> dict[str, str] | None:
    """FP8 with a scale for each channel, on a GPU without FP8, whose shard is not a whole number of Marlin's tiles of 64.

    The shard is the columns of gate and up, which take halves of a tile, and the rows of the projection down, which do not.

    Sources: prepare_fp8_layer_for_marlin in vllm/model_executor/layers/quantization/utils/marlin_utils_fp8.py, where 0.24.0
    pads, and marlin_padded_nk in marlin_utils.py (vllm-0.24.0 line 220), which says what Marlin takes.
    """
    from servelint.models.catalog import lookup

    name = config.text("model.repository")
    if name is None or not name.lower().startswith(_IN_CHANNELS):
        return None
    model, size = lookup(name), whole(config, "tensor-parallel-size")
    if (
        model is None
        or model.quantization.scheme != "fp8"
        or size is None
        or config.operand("quantization").present is not False
    ):
        return None
    experts = model.experts
    sizes = {"inner size": model.dense, "size of the shared experts": experts.shared if experts is not None else 0}
    parts = {label: (inner, 1) for label, inner in sizes.items() if inner}
    found = (_said(model, label, inner, size, 64, parts) for label, (inner, _) in parts.items())
    return next((one for one in found if one is not None), None)


# -- which model


def _stored(config: Config) -> Architecture | None:
    """The model by the config.json in its folder."""
    from servelint.models import checkpoint, folder

    name, launch = config.text("model"), config.launch
    opened = folder.files_of(launch)
    return checkpoint.read(name, opened) if name is not None and opened is not None else None


def _known(config: Config) -> Architecture | None:
    """The model by its config.json, or by its repository."""
    from servelint.models.architecture import find

    name = config.text("model.repository")
    return _stored(config) or (find(name) if name is not None else None)


def _of_hub(config: Config) -> Architecture | None:
    """The model by its repository, or by that of a mirror, whose name says no format of its own."""
    from servelint.models import named_format

    name = config.text("model.repository")
    if name is None:
        return None
    return _in_blocks(name.lower()) or (_of_a_publisher(name) if named_format(name) is None else None)


def _of_folder(config: Config) -> Architecture | None:
    name = config.text("model")
    return _of_a_publisher(name) if name is not None and config.text("model.repository") is None else None


def _of_a_publisher(name: str) -> Architecture | None:
    from servelint.models.catalog import last_part

    found = (_in_blocks(f"{publisher}/{last_part(name)}") for publisher in _PUBLISHERS)
    return next((one for one in found if one is not None), None)


@lru_cache(maxsize=64)
def _in_blocks(name: str) -> Architecture | None:
    """The model of a repository that certainly holds FP8 in blocks."""
    from servelint.models.architecture import find
    from servelint.models.catalog import config_of

    if _PUBLISHED.fullmatch(name) is None and not (config_of(name) or {}).get("quantization_config"):
        return None
    return find(name)


# -- how it is cut


def _across(config: Config, model: Architecture) -> dict[str, str] | None:
    """The part of a model whose shards are not whole blocks; None if each is one, or if how it is cut is not known."""
    kinds = [one for one in model.quantization.formats if one.scheme == "fp8-block"]
    given, method = config.operand("quantization"), model.quantization.method
    if method not in _METHODS or not kinds or not _takes_blocks(config, model):
        return None
    if given.present is not False and given.value != _METHODS[method]:
        return None
    size = whole(config, ENGINES[config.launch.engine].tensor_parallel_operand)
    if size is None or size < 2:
        return None
    experts = model.experts
    sizes = {"dense mlp": model.dense}
    if experts is not None:
        sizes.update({"experts": experts.intermediate, "shared experts": experts.shared})
    cut = (_in_vllm if config.launch.engine == "vllm" else _in_sglang)(config, model, size)
    parts = {group: (inner, cut[group] // size or 1) for group, inner in sizes.items() if inner and cut.get(group)}
    block = kinds[-1].group
    for group, (inner, _) in parts.items():
        if not _fits(inner, cut[group], block) and inner % cut[group] == 0 and _holds(model, group):
            label = {"dense mlp": "inner size", "experts": "size of an expert"}.get(group, "size of the shared experts")
            found = _said(model, label, inner, cut[group], block, parts)
            whole_experts = "--enable-expert-parallel"
            alone = all(_fits(one, cut[other], block) for other, (one, _) in parts.items() if other != "experts")
            if found is not None and group == "experts" and alone and config.launch.engine == "vllm" and _has(config):
                found["advice"] += f", or add {whole_experts}, which leaves experts whole"
            return found
    return None


def _takes_blocks(config: Config, model: Architecture) -> bool:
    """Whether the release reads blocks in the format of the checkpoint, rather than failing for another reason."""
    if model.quantization.method != "compressed-tensors":
        return True
    return config.at_least(_COMPRESSED_SINCE[config.launch.engine]) is True


def _has(config: Config) -> bool:
    catalog = config.catalog
    if catalog is None or config.index is None:
        return False
    return catalog.table(config.index).find("--enable-expert-parallel") is not None


def _in_vllm(config: Config, model: Architecture, size: int) -> dict[str, int]:
    """Into how many shards vLLM cuts each part. Experts that expert parallelism shares out are whole.

    From 0.29.0 on scales of experts are refined to smaller blocks (fused_moe/oracle/fp8.py), and shared ones may be computed
    with them. DeepSeek V4's shared experts are padded from 0.24.0 on (vllm/models/deepseek_v4/nvidia/model.py).
    """
    replicas = product(config, ("data-parallel-size", "prefill-context-parallel-size"))
    found = {"dense mlp": size}
    if config.at_least("0.29.0") is not False:
        return found
    if replicas is not None and config.operand("enable-expert-parallel").present is False:
        found["experts"] = size * replicas
    if replicas == 1 and (model.model_type != "deepseek_v4" or config.at_least("0.24.0") is False):
        found["shared experts"] = size
    return found


def _in_sglang(config: Config, model: Architecture, size: int) -> dict[str, int]:
    """Into how many shards SGLang cuts each part.

    FlashInfer's TensorRT-LLM kernels, which are chosen on Blackwell, have the experts' shards padded (sglang-0.5.10
    srt/layers/moe/fused_moe_triton/layer.py). Shared experts may be computed with the others, but not Step 3.5's. AITER's
    kernels pad as well.
    """
    vendor, capability = config.operand("gpu.vendor").value, config.operand("gpu.capability").value
    if config.operand("env.SGLANG_USE_AITER").present is not False or vendor not in (None, "nvidia"):
        return {}
    ranks, found = whole(config, "effective.ep-size"), {}
    older = isinstance(capability, int | float) and capability < 10 and config.operand("moe-runner-backend").present is False
    unpadded = older or config.at_least("0.5.7") is False
    plain = all(config.operand(name).present is False for name in _WITH_EXPERTS)
    if plain and unpadded and ranks is not None and ranks > 0:
        found["experts"] = max(size // ranks, 1)
    if config.operand("effective.dp-attention").value is False and config.operand("moe-dense-tp-size").present is False:
        found["dense mlp"] = size
        apart = model.model_type.startswith("step3") or (unpadded and model.model_type != "deepseek_v4")
        if plain and ranks == 1 and apart:
            found["shared experts"] = size
    return found


def _fits(inner: int, shards: int, block: int) -> bool:
    return inner % (shards * block) == 0


def _holds(model: Architecture, group: str) -> bool:
    """Whether matrices of a group are in blocks: those that the checkpoint's lists leave out are not."""
    from servelint.models.matrices import matrices
    from servelint.models.quantization import Formats

    formats = Formats(model.quantization)
    return any(one.group == group and one.split and formats.of(one).scheme == "fp8-block" for one in matrices(model))


def _said(
    model: Architecture, label: str, inner: int, shards: int, block: int, parts: dict[str, tuple[int, int]]
) -> dict[str, str] | None:
    """The fields of a message about a size that is cut into shards; None if each is a whole number of blocks."""
    if inner % shards or _fits(inner, shards, block):
        return None
    smaller = [
        one
        for one in range(1, shards)
        if (not model.heads or model.heads % one == 0) and all(_fits(each, one * more, block) for each, more in parts.values())
    ]
    return {
        "part": f"{label} of {inner}",
        "shard": str(inner // shards),
        "shards": str(shards),
        "block": str(block),
        "advice": f"a tensor parallel size of {smaller[-1]}" if smaller else "another checkpoint",
    }
