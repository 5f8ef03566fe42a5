"""Checks of a model under a release: whether it can be loaded, its names, and the parsers that fit its output.

The first releases have no fallback for an architecture that they do not list (vLLM to 0.7.1, SGLang to 0.4.6.post5). Later ones
run it with Transformers, which must know the model type: some release of it brought that, and only older ones may go with the
engine's.
"""

from __future__ import annotations

import re
from itertools import takewhile

from servelint import models
from servelint.core.data import load_data
from servelint.engines import ENGINES, images, stack
from servelint.engines.config import Config, given_object
from servelint.engines.vllm.facts import kv_connectors
from servelint.judge.checks import after, whole
from servelint.models import Family, is_known_parser, parsers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.engines.catalog import Catalog

_FALLBACKS = ("TransformersForCausalLM", "TransformersModel")
_TRANSFORMERS_CLASS = r"(?:For[A-Z]\w*|Model|Head|Encoder|Decoder|Classifier|Backbone)$"
_WITHOUT_CODE = ("qwen/qwen3", "google/", "meta-llama/", "openai/", "zai-org/glm-")
"""Repositories that bring no code: Transformers has it."""


def too_new(config: Config) -> dict[str, str] | None:
    """A release that cannot load the model: it does not list the architecture, and cannot fall back on Transformers."""
    missing = _not_listed(config)
    if missing is None or (_falls_back(config) and _readable(config) and _loads_weights(config)):
        return None
    return missing


def not_listed(config: Config) -> dict[str, str] | None:
    """A release that does not list the model's architecture, but may load it with its Transformers backend."""
    missing = _not_listed(config)
    if _without_code(config) and config.operand("skip-tokenizer-init").present is None:
        return None  # what is not known decides between the two
    return missing if missing is not None and too_new(config) is None else None


def never_listed(config: Config) -> dict[str, str] | None:
    """An architecture that no known release lists, under one that cannot fall back on Transformers."""
    family, catalog = config.family, config.catalog
    if family is None or family.inferred or family.architecture is None or catalog is None or config.index is None:
        return None
    if family.architecture in catalog.names("architectures") or _falls_back(config) or _rebuilt(config):
        return None
    return {"architecture": family.architecture}


def gguf_too_new(config: Config) -> dict[str, str] | None:
    """A build of llama.cpp that is older than the architecture of the model's GGUF file, by models/gguf.json."""
    family = config.family
    architecture = family.facts.get("architecture") if family is not None and not family.inferred else None
    if not isinstance(architecture, str) or _rebuilt(config):
        return None
    table = load_data("models/gguf.json")
    bounds = {name: table["architectures"][name] for name in table["classes"].get(architecture, ())}
    # a build between the two was not read
    if not bounds or any(config.at_least(f"b{int(last[1:]) + 1}") is not False for last, _ in bounds.values()):
        return None
    since = min(int(first[1:]) for _, first in bounds.values())
    return {"gguf": " or ".join(bounds), "since": f"b{since}"}


def no_longer_listed(config: Config) -> dict[str, str] | None:
    """A release that no longer lists the architecture. Heads for classification are made of other classes instead."""
    family, catalog, index = config.family, config.catalog, config.index
    architecture = family.architecture if family is not None and not family.inferred else None
    if catalog is None or index is None or architecture is None or architecture.endswith("ForSequenceClassification"):
        return None
    runs = catalog.names("architectures").get(architecture)
    if not runs or runs[-1][1] >= index or _rebuilt(config):
        return None
    return {"architecture": architecture, "last": catalog.releases[runs[-1][1]]}


def unreadable_config(config: Config) -> dict[str, str] | None:
    """A config.json that neither the engine nor Transformers beside it can read, of an architecture that the engine runs.

    The rule names architectures for which the engine has no class of its own. Those whose model type no release of Transformers
    has need the code of their repository.
    """
    family = config.family
    if family is None or _not_listed(config) is not None or config.index is None:
        return None
    if family.transformers is None:
        return {"needs": "its own code"}
    if _readable(config):
        return None
    return {"needs": f"Transformers {family.transformers} or its own code", "transformers": family.transformers}


_NO_LONGER_READ = {"granite-3.1-8b-instruct-quantized.w4a16": "0.22.0"}
"""Checkpoints whose config.json has a sparsity_config for all layers (vllm-project/vllm pull request 51189)."""


def dropped_format(config: Config) -> dict[str, str] | None:
    """What the quantization_config of a checkpoint says that the release no longer reads.

    Source: _parse_sparsity_config and _quantization_scheme_map_from_config in vllm/model_executor/layers/quantization/
    compressed_tensors/compressed_tensors.py, normalize_and_validate_gptq_desc_act in utils/gptq_utils.py beside it.
    """
    from servelint.models import folder

    name, opened = config.text("model"), folder.files_of(config.launch)
    if name is None:
        return None
    data = folder.json_object(opened(f"{name.rstrip('/')}/config.json")) if opened is not None else None
    given = (data or {}).get("quantization_config")
    if isinstance(given, dict):
        return _dropped(config, given)
    since = _NO_LONGER_READ.get(name.rstrip("/").rpartition("/")[2].lower())
    if data is not None or since is None or not config.at_least(since):
        return None
    return {"what": "a sparsity_config", "advice": f"use a vLLM release before {since}, or another checkpoint"}


def _dropped(config: Config, given: dict[str, Any]) -> dict[str, str] | None:
    method, sparsity = given.get("quant_method"), given.get("sparsity_config")
    if method == "compressed-tensors" and isinstance(sparsity, dict) and sparsity.get("targets") and config.at_least("0.22.0"):
        return {
            "what": "a sparsity_config",
            "advice": "delete sparsity_config if its format is dense, or use another checkpoint",
        }
    if not config.at_least("0.30.0"):
        return None
    what = None
    if method in ("gptq", "gptq_marlin") and given.get("desc_act") is True and given.get("group_size") not in (-1, None):
        what = "desc_act"
    groups = given.get("config_groups") if method == "compressed-tensors" else None
    for one in groups.values() if isinstance(groups, dict) else ():
        weights = one.get("weights") if isinstance(one, dict) else None
        order = weights.get("actorder") if isinstance(weights, dict) else None
        what = f"actorder {order}" if order in ("group", "dynamic") else what
    return {"what": what, "advice": "use a vLLM release before 0.30.0, or another checkpoint"} if what is not None else None


def unknown_architecture(config: Config) -> dict[str, str] | None:
    """What --hf-overrides asks for that is not a list of architectures, or one that no release lists.

    A name in the form of Transformers' classes is left alone. A single name was taken through 0.13.

    Source: ModelArchitectureConfig in vllm/config/model_arch.py (vllm-0.14.0 line 19), inspect_model_cls and
    _raise_for_unsupported in vllm/model_executor/models/registry.py (vllm-0.11.0 line 735, vllm-0.33.0 line 1221).
    """
    found = given_object(config, "hf-overrides")
    if found is None or "architectures" not in found:
        return None
    asked = found["architectures"]
    names = asked if isinstance(asked, list) else [asked] if isinstance(asked, str) and asked else []
    listed = isinstance(asked, list) or (bool(names) and config.at_least("0.14.0") is not True)
    if not listed or not names or not all(isinstance(one, str) for one in names):
        return {"reason": "reads a list of class names from architectures"} if config.at_least("0.11.0") is True else None
    if len(names) != 1 or config.catalog is None or names[0] in config.catalog.names("architectures"):
        return None
    if re.search(_TRANSFORMERS_CLASS, names[0]) or _rebuilt(config):
        return None
    return {"reason": f"has no architecture {names[0]}"}


def fp8_latent_cache(config: Config) -> dict[str, str] | None:
    """An FP8 KV cache, by the option or by the scales of a checkpoint that is known, which 0.14.0 takes for `auto`."""
    given = config.operand("kv-cache-dtype")
    if isinstance(given.value, str) and given.value.startswith("fp8"):
        return {"by": "--kv-cache-dtype asks for"}
    if (given.present is not False and given.value != "auto") or config.at_least("0.14.0") is not True:
        return None
    from servelint.models.catalog import config_of, lookup

    name = config.operand("model.repository").value
    found = lookup(name) if isinstance(name, str) and config_of(name) else None
    cached = found.quantization.kv_cache if found is not None else None
    return {"by": "the checkpoint's scales ask for"} if cached is not None and cached.startswith("fp8") else None


def latent_backend_counts(config: Config) -> dict[str, str] | None:
    """Whether the platform looks at the attention backend of a model with latent attention: XPU does from 0.32 on.

    With sparse attention XPU takes a backend of its own, whatever is asked for: get_attn_backend_cls in
    vllm/platforms/xpu.py (vllm-0.33.0).
    """
    if config.operand("gpu.vendor").value != "intel":
        return {}
    dense = config.operand("model.architecture").value in ("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM")
    return {} if dense and config.at_least("0.32.0") else None


def plain_weights(config: Config) -> dict[str, str] | None:
    """A checkpoint of a known size whose name says no quantization, and whose family ships none."""
    family = config.family
    return {} if family is not None and family.size is not None and family.facts.get("quantization", "none") == "none" else None


def _rebuilt(config: Config) -> bool:
    """Whether the engine is one that the builder of an image may have changed: not what the command itself installs in it."""
    image = config.launch.image
    return image is not None and config.launch.release.how != "pip" and images.identify(image).house


def _not_listed(config: Config) -> dict[str, str] | None:
    """The fields of a message if the release does not list the model's architecture; None if it does, or if it is unknown."""
    family, since, catalog = config.family, config.since, config.catalog
    if family is None or since is None or catalog is None or family.architecture is None or config.at_least(since) is not False:
        return None
    if _rebuilt(config):
        return None  # its builder may have added the model
    if config.index is None and config.around is not None and _lists(config.around[1], family.architecture):
        return None  # somewhere between two releases, the later of which has it
    return {"architecture": family.architecture, "since": since}


def _lists(config: Config, architecture: str) -> bool:
    found = config.named("architectures", architecture)
    return found is not None and found.here is True


def _falls_back(config: Config) -> bool:
    """Whether the release may run an architecture that it does not list with Transformers."""
    known = config.around[1] if config.index is None and config.around is not None else config
    return any(_lists(known, name) for name in _FALLBACKS)


def _loads_weights(config: Config) -> bool:
    """Whether the release may have the method that the checkpoint is quantized with."""
    known = config.named("quantization", str(config.operand("model.quant-method").value))
    return not ENGINES[config.launch.engine].quantization_listed or known is None or known.here is not False


def _without_code(config: Config) -> bool:
    """Whether the repository brings no code of its own."""
    repository = config.operand("model.repository").value
    return isinstance(repository, str) and repository.lower().startswith(_WITHOUT_CODE)


def _readable(config: Config) -> bool:
    """Whether Transformers beside the release may know the model type; true if another release of it may be installed."""
    family = config.family
    if family is None or family.transformers is None:
        return True
    if config.operand("skip-tokenizer-init").present is not False:
        return True  # without a tokenizer an older engine runs beside a later Transformers
    if not _without_code(config) and config.operand("trust-remote-code").present is not False:
        return True  # the repository may bring its own
    beside = config.text("stack.transformers")
    return beside is None or not stack.is_older(beside, family.transformers)


# -- names that vLLM's source lists, which the catalog holds


def mrope_draft(config: Config) -> dict[str, str] | None:
    """The draft model, where its positions have three axes."""
    from servelint.models import folder

    name = config.text("effective.draft-model")
    model = folder.model_of(config.launch, name)
    return {"draft": str(name)} if model is not None and model.mrope else None


def hidden_state_drafts(config: Config) -> dict[str, str] | None:
    """A model that the release cannot draft for on hidden states (EAGLE-3): its model type contains no name of the list.

    Source: SpeculativeConfig._verify_args in vllm/config/speculative.py (vllm/config.py, vllm/config/__init__.py before
    0.11.0), 0.8.5 to 0.21.0: the model type of the language model must contain one of the listed names. Later releases have no
    list.
    """
    model_type, listed = config.operand("model.text-type").value, config.names("hidden-state-targets")
    if not isinstance(model_type, str) or listed is None or any(name in model_type for name in listed):
        return None
    since = _first_with(config, model_type)
    return {"since": since} if since is not None else None


def _first_with(config: Config, model_type: str) -> str | None:
    """The first later release that takes a model type; one without a list takes every one."""
    catalog, index = config.catalog, config.index
    if catalog is None or index is None:
        return None
    lives = catalog.names("hidden-state-targets")
    for later in range(index + 1, len(catalog.releases)):
        listed = [name for name, runs in lives.items() if any(run[0] <= later <= run[1] for run in runs)]
        if not listed or any(name in model_type for name in listed):
            return catalog.releases[later]
    return None


def kv_connector(config: Config) -> dict[str, str] | None:
    """A KV connector of vLLM's own that the release does not have, or in another case. Another name may be a plugin's.

    Source: KVConnectorFactory in vllm/distributed/kv_transfer/kv_connector/factory.py.
    """
    name = str(config.operand("kv-transfer-config.kv_connector").value)
    for one in config.names("kv-connectors") or ():
        if one != name and one.lower() == name.lower():
            return {"since": f"as {one}", "advice": f"write {one}"}
    known = config.named("kv-connectors", name)
    if known is None or known.here is not False or config.catalog is None:
        return None
    since, newer = _connector_life(config.catalog, name)
    advice = f"{newer}, or another connector" if newer else "write NixlConnector or LMCacheConnectorV1"
    return {"since": since, "advice": advice}


def _connector_life(catalog: Catalog, name: str) -> tuple[str, str]:
    """From or until when vLLM has a KV connector, and advice to use a release that has it; "" where the newest has none."""
    releases, (first, last, _) = catalog.releases, catalog.names("kv-connectors")[name][-1]
    if last == len(releases) - 1:
        return f"from {releases[first]} on", f"use vLLM {releases[first]} or later"
    return f"until {releases[last + 1]}", ""


def connector_inside(config: Config) -> dict[str, str] | None:
    """A KV connector inside MultiConnector, of vLLM's own, that the release does not have.

    Source: KVConnectorFactory in vllm/distributed/kv_transfer/kv_connector/factory.py, which MultiConnector asks for each.
    """
    given = config.operand("kv-transfer-config.kv_connector_extra_config.connectors")
    names, index = kv_connectors(config) or [], config.index
    if config.catalog is None or index is None or "module_path" in str(given.value):
        return None
    lives = config.catalog.names("kv-connectors")
    for name in names:
        runs = lives.get(name)
        if runs and not any(first <= index <= last for first, last, _ in runs):
            since, newer = _connector_life(config.catalog, name)
            return {"connector": name, "since": since, "advice": newer or "write another connector"}
    return None


_KNOWS_STAGES = ("NixlConnector", "NixlPullConnector", "NixlPushConnector", "MultiConnector")
"""Connectors that take the addresses of several pipeline stages from 0.26.0 on."""


def connector_of_one_stage(config: Config) -> dict[str, str] | None:
    """A connector beside NIXL's in MultiConnector that refuses the addresses of several pipeline stages.

    Source: get_handshake_metadata and set_xfer_handshake_metadata_pp_aware of MultiConnector, which gives those of one to all,
    and of KVConnectorBase_V1 in vllm/distributed/kv_transfer/kv_connector/v1/base.py (0.23.0 to 0.33.0).
    """
    names = kv_connectors(config) or []
    known = config.catalog.names("kv-connectors") if config.catalog is not None else {}
    if not any(name.startswith("Nixl") for name in names) or not all(name in known for name in names):
        return None
    knowing = _KNOWS_STAGES if config.at_least("0.26.0") else ()
    other = next((name for name in names if name not in knowing), None)
    return {"connector": other} if other is not None else None


def connector_without_metrics(config: Config) -> dict[str, str] | None:
    """A connector in MultiConnector that counts its transfers and has no Prometheus metrics.

    Source: observe of MultiKVConnectorPromMetrics in kv_transfer/kv_connector/v1/multi_connector.py, and the classes
    with build_kv_connector_stats and without build_prom_metrics (vllm-0.21.0 to 0.32.0).
    """
    given = config.operand("kv-transfer-config.kv_connector_extra_config.connectors")
    names = kv_connectors(config) or []
    return (
        {"connector": "MooncakeConnector"} if "MooncakeConnector" in names and "module_path" not in str(given.value) else None
    )


_ORACLES = {"none": "unquantized", "fp8": "fp8", "nvfp4": "nvfp4", "mxfp4": "mxfp4", "awq": "int_wna16", "gptq": "int_wna16"}
"""The table of --moe-backend that holds for a format of experts: the module under fused_moe/oracle."""

_OWN_EXPERTS = ("DeepseekV4", "KimiK3", "KimiLinear", "MuseSpark", "Step5")
"""Architectures that choose kernels of experts in code of their own (vllm-0.33.0 vllm/models)."""


def expert_backend(config: Config) -> dict[str, str] | None:
    """A value of --moe-backend that the release's table for the format of the experts does not have.

    Source: map_fp8_backend and its like in vllm/model_executor/layers/fused_moe/oracle ("moe_backend=... is not supported").
    """
    backend, oracle = config.text("moe-backend"), _ORACLES.get(config.text("model.quantization") or "")
    index, architecture = config.index, config.text("model.architecture")
    if backend in (None, "auto") or oracle is None or config.catalog is None or index is None:
        return None
    if architecture is None or architecture.startswith(_OWN_EXPERTS):
        return None
    runs = config.catalog.names("expert-backends")
    taken = [name for name, all_ in runs.items() if any(a <= index <= b and oracle in body["experts"] for a, b, body in all_)]
    # the method fp8 leaves vLLM's own CUTLASS experts to compressed-tensors
    left = oracle == "fp8" and backend == "cutlass" and config.text("model.quant-method") == "fp8"
    return {"taken": ", ".join(taken)} if taken and (backend not in taken or left) else None


def offload_spec(config: Config) -> dict[str, str] | None:
    """A spec or a tier in the settings of OffloadingConnector that the release does not have.

    Source: OffloadingSpecFactory and SecondaryTierFactory (factory.py of vllm/v1/kv_offload and vllm/v1/kv_offload/tiering).
    """
    given = given_object(config, "kv-transfer-config") or {}
    extra = given.get("kv_connector_extra_config")
    if not isinstance(extra, dict):
        return None
    spec, known = extra.get("spec_name", "CPUOffloadingSpec"), config.names("offload-specs")
    if known is not None and "spec_module_path" not in extra and spec not in known:
        return {"what": f"spec {spec}", "known": ", ".join(known)}
    tiers, kinds = extra.get("secondary_tiers"), config.names("offload-tiers")
    if spec != "TieringOffloadingSpec" or kinds is None or not isinstance(tiers, list):
        return None
    for tier in tiers:
        kind = tier.get("type") if isinstance(tier, dict) and "module_path" not in tier else ""
        if kind != "" and kind not in kinds:
            what = f"secondary tier {kind}" if kind is not None else "secondary tier without a type"
            return {"what": what, "known": ", ".join(one for one in kinds if one != "example")}
    return None


def kv_heads(config: Config) -> dict[str, str] | None:
    """A tensor parallel size among which the key-value heads are neither shared evenly nor copied to the same number of GPUs.

    Source: LlamaAttention and similar classes assert it when the layers are built, as QKVParallelLinear does (vllm-0.33.0
    vllm/model_executor/models/llama.py, vllm/model_executor/layers/linear.py; sglang-0.5.23 srt/models/llama.py).
    """
    heads, size = whole(config, "model.kv-heads"), whole(config, ENGINES[config.launch.engine].tensor_parallel_operand)
    every = whole(config, "model.heads")
    if heads is None or size is None or every is None or size < 1 or config.operand("model.mla").value is not False:
        return None
    if every % size:
        return None  # another rule reports that
    if (heads % size if heads >= size else size % heads) == 0:
        return None
    fits = [
        one
        for one in range(1, min(size, every + 1))
        if every % one == 0 and (heads % one if heads >= one else one % heads) == 0
    ]
    return {"heads": str(heads), "largest": str(fits[-1])}


# -- names: those under which a model is served, and those of its files


_STEM = r"[a-z]+"
_MTP = r"(?i)(?:^|[-_.])mtp(?:[-_.]|$)"


def another_model(config: Config) -> dict[str, str] | None:
    """A model that is served under the name of another one: of another size, or of another make."""
    loaded, setting = config.family, config.setting("served-model-name")
    if loaded is None or loaded.inferred or not loaded.size or setting is None or setting.value is None:
        return None
    if any(word.many for word in after(config, setting)):
        return None  # it may be the loaded model's name
    served = [word.text for word in setting.values] or [setting.value]
    named = [models.identify(text) for text in served]
    if not all(one is not None and one.size and _differ(loaded, one) for one in named):
        return None
    return {"served": served[0].shown, "size": loaded.size}


def name_with_colon(config: Config) -> dict[str, str] | None:
    """A colon in the served name, which stands between a model and its adapter.

    Source: sglang-0.5.5.post1 srt/server_args.py, sglang-0.5.23 srt/arg_groups/validation_hook.py:213 (an address of an object
    store is let through in later releases).
    """
    name = config.operand("served-model-name").value
    if not isinstance(name, str) or ":" not in name or "://" in name:
        return None
    return {"plain": name.replace(":", "-")}


def repository_name(config: Config) -> dict[str, str] | None:
    """A name under a publisher of the hub that its client refuses as the name of a repository.

    Source: huggingface_hub 0.36 utils/_validators.py, validate_repo_id; sglang-0.5.23 takes what follows a colon for itself.
    """
    written = config.operand("model").value
    if not isinstance(written, str) or written.count("/") != 1:
        return None
    name = written
    if config.at_least("0.5.23") is not False:
        name = name.partition(":")[0]
    publisher, _, rest = name.partition("/")
    odd = re.search(r"[^\w.-]", rest)
    if odd is not None:
        fault = "has a space in it" if odd.group().isspace() else f'has "{odd.group()}" in it'
    elif (double := re.search(r"--|\.\.", name)) is not None:
        fault = f'has "{double.group()}" in it'
    elif rest.endswith(("-", ".", ".git")):
        fault = "ends with .git" if rest.endswith(".git") else f"ends with {rest[-1]}"
    else:
        return None
    from servelint.models.catalog import known_names

    publishers = {known.partition("/")[0].lower() for known in known_names() if "/" in known}
    return {"fault": fault} if publisher.lower() in publishers else None


def file_with_mtp(config: Config) -> dict[str, str] | None:
    """A GGUF file with MTP in its name, which therefore holds the tensors of the draft."""
    for name in ("model", "hf-repo"):
        value = config.operand(name).value
        if isinstance(value, str) and re.search(_MTP, value.rpartition("/")[2].partition(":")[0]):
            return {"file": value.rpartition("/")[2]}
    return None


def _differ(one: Family, other: Family) -> bool:
    """Whether two families are different models; a name may leave out the active parameters or the point release."""
    stems = [re.match(_STEM, family.name) for family in (one, other)]
    if stems[0] is None or stems[1] is None or stems[0].group() != stems[1].group():
        return True
    sizes = [family.size or "" for family in (one, other)]
    return sizes[0] != sizes[1] and not sizes[0].startswith(sizes[1] + "-") and not sizes[1].startswith(sizes[0] + "-")


# -- parsers that read another format than the one in which the model writes; source: models/parsers.json


def tool_calls(config: Config) -> dict[str, str] | None:
    """A tool-call parser for another format than that of the model's calls."""
    family = config.family
    return _misfit(config, "tool-call-parser", "tools", family.tools if family is not None else None)


def reasoning(config: Config) -> dict[str, str] | None:
    """A reasoning parser for other marks than those that the model writes around its reasoning."""
    family = config.family
    return _misfit(config, "reasoning-parser", "thinks", family.thinks if family is not None else None)


def _misfit(config: Config, option: str, kind: str, wanted: str | None) -> dict[str, str] | None:
    """The parser to write instead of one that reads another format; None if it fits, or if that is not known."""
    given = config.operand(option).value
    if wanted is None or not isinstance(given, str) or not is_known_parser(kind, given, config.launch.engine):
        return None
    fits = _fitting(config, option, kind, wanted)
    return {"fits": fits} if fits is not None and given not in parsers_of(kind, wanted, config.launch.engine) else None


def fitting_parser(config: Config, option: str) -> str | None:
    """The parser that --tool-call-parser or --reasoning-parser takes for the model; None if the model's format is not known."""
    kind = "tools" if option == "tool-call-parser" else "thinks"
    wanted = getattr(config.family, kind) if config.family is not None else None
    return _fitting(config, option, kind, wanted) if wanted is not None else None


def _fitting(config: Config, option: str, kind: str, wanted: str) -> str | None:
    """The first parser of a format that the release has; of reasoning parsers, many of which read the same, the model's own."""
    fitting = parsers_of(kind, wanted, config.launch.engine)
    here = [name for name in fitting if (found := config.named(option + "s", name)) is not None and found.here]
    if kind == "thinks" and config.family is not None:
        model = re.sub(r"\W", "", config.family.name)
        shared = {name: _shared(model, re.sub(r"[\W_]", "", name)) for name in here}
        here.sort(key=lambda name: -shared[name] if shared[name] > 2 else 0)
    return here[0] if here else None


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
