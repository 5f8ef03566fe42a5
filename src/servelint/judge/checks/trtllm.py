"""Checks of the YAML file that `trtllm-serve --config` reads: keys of another backend or decoding type, and missing ones.

Source: update_llm_args_with_extra_dict in tensorrt_llm/llmapi/llm_args.py (1.3.0rc3), which makes the classes of the mapping.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import wraps

from servelint.engines import launch_files
from servelint.engines.config import Config
from servelint.engines.registry import ENGINES
from servelint.syntax.json import ARRAY, OBJECT, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.engines.catalog import Keys

    Fields = dict[str, str] | None

_CONFIG = "config"
_SPECULATIVE = "speculative_config"
_TYPE = "decoding_type"
_GRAPHS = "cuda_graph_config"


def _shared(check: Callable[[Config], Fields]) -> Callable[[Config], Fields]:
    """A check that, for a release between two of the catalog, finds what holds under both."""

    @wraps(check)
    def shared(config: Config) -> Fields:
        if config.around is None:
            return check(config)
        before, after = (check(one) for one in config.around)
        return before if before == after else None

    return shared


def _keys(config: Config, name: str) -> Keys | None:
    return config.catalog.keys(name, config.index) if config.catalog is not None and config.index is not None else None


def _file(config: Config) -> JsonNode | None:
    node = config.reading.parsed(_CONFIG)
    return node if node is not None and node.kind == OBJECT else None


@_shared
def key_of_other_type(config: Config) -> Fields:
    """A key of speculative_config that the class of its decoding type does not have, though that of another one has it."""
    file, keys = _file(config), _keys(config, f"{_CONFIG}.{_SPECULATIVE}")
    node = file.members[_SPECULATIVE][1] if file is not None and _SPECULATIVE in file.members else None
    chosen = config.operand(f"{_CONFIG}.{_SPECULATIVE}.{_TYPE}").value
    known = config.named("decoding-types", chosen) if isinstance(chosen, str) else None
    if node is None or node.kind != OBJECT or keys is None or known is None or not known.here:
        return None
    own = {_TYPE, *known.body["keys"]}
    for key in node.members:
        body = keys.get(key)
        if body is not None and key not in own and all(keys.get(one) is not body for one in own):
            return {"key": key, "type": str(chosen)}
    return None


@_shared
def key_of_other_backend(config: Config) -> Fields:
    """A key that the arguments of the backend do not have, though those of another backend have it."""
    file, keys = _file(config), _keys(config, _CONFIG)
    options = config.operand("backend"), config.operand(f"{_CONFIG}.backend")
    if file is None or keys is None or any(one.present is None or (one.present and one.value is None) for one in options):
        return None
    given = options[1].value or options[0].value or "pytorch"
    backend = {"trt": "tensorrt"}.get(str(given), str(given))
    for key in file.members:
        body = keys.get(key)
        of = body.get("backends", ()) if body is not None else ()
        if of and backend in ("pytorch", "tensorrt") and backend not in of:
            return {"key": key, "backend": backend, "other": str(of[0])}
    return None


@_shared
def missing_key(config: Config) -> Fields:
    """A key without a default that an object of the file does not have."""
    file = _file(config)
    for name, node in _objects(config, file, _CONFIG) if file is not None else ():
        keys = _keys(config, name)
        needed = [key for key, body in keys.known.items() if body.get("required")] if keys is not None else []
        if name == f"{_CONFIG}.{_SPECULATIVE}":
            known = config.named("decoding-types", str(config.operand(f"{name}.{_TYPE}").value))
            needed += known.body.get("required", []) if known is not None and known.here else []
        missing = [key for key in needed if key not in node.members]
        if missing and not node.open:
            return {"key": missing[0], "object": name.partition(".")[2]}
    return None


def _objects(config: Config, node: JsonNode, name: str) -> Iterator[tuple[str, JsonNode]]:
    """The objects in the file that the catalog knows, with their names in it."""
    for key, (_, value) in node.members.items():
        below = f"{name}.{key}"
        if value.kind == OBJECT and _keys(config, below) is not None:
            yield below, value
            yield from _objects(config, value, below)


_ONE_BY_DEFAULT = ("tensor_parallel_size", "pipeline_parallel_size", "context_parallel_size")
_NONE_BY_DEFAULT = ("moe_expert_parallel_size", "moe_tensor_parallel_size", "moe_cluster_parallel_size")


def autodeploy_sizes(config: Config) -> dict[str, str] | None:
    """A parallel size in the file of the AutoDeploy backend, whose other keys are not known.

    Source: ensure_no_custom_parallel_config in tensorrt_llm/_torch/auto_deploy/llm_args.py.
    """
    files = ENGINES[config.launch.engine].object_files
    given = config.launch.argv
    words = launch_files.with_objects(config.launch, files[0], "\0") if files is not None else given
    objects = [read.text for word, read in zip(given, words, strict=True) if read is not word]  # `{...}` or `--config={...}`
    keys = json.loads(objects[0].flat[objects[0].flat.index("{") :]) if len(objects) == 1 and objects[0].known else {}
    if "_autodeploy" not in (keys.get("backend"), config.text("backend")):
        return None
    for key in (*_NONE_BY_DEFAULT, *_ONE_BY_DEFAULT):
        value = keys.get(key)
        if type(value) is int and (key in _NONE_BY_DEFAULT or value != 1):
            return {"key": key, "value": str(value)}
    return None


def _whole(node: JsonNode | None) -> int | None:
    """A whole number of the file, none for anything else."""
    value = node.value if node is not None else None
    return value if type(value) is int else None


def _below(config: Config, *names: str) -> JsonNode | None:
    """A value in an object of the file, for the PyTorch backend."""
    node = _file(config)
    options = config.operand("backend"), config.operand(f"{_CONFIG}.backend")
    if any(one.present is None or (one.present and one.value != "pytorch") for one in options):
        return None
    for name in names:
        node = node.members[name][1] if node is not None and node.kind == OBJECT and name in node.members else None
    return node


def graph_sizes(config: Config) -> dict[str, str] | None:
    """The largest of the sizes of batches in cuda_graph_config, where max_batch_size beside it says another.

    Source: validate_cuda_graph_config in tensorrt_llm/llmapi/llm_args.py; those made from max_batch_size end at that number.
    """
    sizes, most = _below(config, _GRAPHS, "batch_sizes"), _whole(_below(config, _GRAPHS, "max_batch_size"))
    known = [size for size in map(_whole, sizes.items) if size is not None] if sizes is not None and not sizes.open else []
    if sizes is None or not known or len(known) != len(sizes.items) or not most or max(known) == most:
        return None
    return {"largest": str(max(known)), "most": str(most)}


def draft_schedule(config: Config) -> dict[str, str] | None:
    """A schedule of draft lengths that does not start with max_draft_len for a batch of one.

    Source: validate_draft_len_schedule_and_sort in tensorrt_llm/llmapi/llm_args.py (1.3.0rc3).
    """
    schedule, most = _below(config, _SPECULATIVE, "draft_len_schedule"), _whole(_below(config, _SPECULATIVE, "max_draft_len"))
    if schedule is None or schedule.kind != OBJECT or schedule.open or not schedule.members:
        return None
    lengths = {key: _whole(value) for key, (_, value) in schedule.members.items()}
    if "1" not in lengths:
        return {"problem": "does not have a batch of 1"} if all(key.isdecimal() for key in lengths) else None
    if most is None:
        return None
    over = [
        (key, length)
        for key, length in lengths.items()
        if length is not None and (length > most or (key == "1" and length < most))
    ]
    return {"problem": f"gives {over[0][0]}: {over[0][1]} beside max_draft_len {most}"} if over else None


def sizes_of_nothing(config: Config) -> dict[str, str] | None:
    """A number below 1 in a list whose numbers have to be positive, or an empty list of windows.

    Source: validate_max_attention_window and validate_capture_num_tokens in tensorrt_llm/llmapi/llm_args.py (1.3.0rc3).
    """
    for above, key in (("kv_cache_config", "max_attention_window"), ("torch_compile_config", "capture_num_tokens")):
        node = _below(config, above, key)
        if node is None or node.kind != ARRAY:
            continue
        wrong = [size for size in map(_whole, node.items) if size is not None and size <= 0]
        if wrong:
            return {"key": f"{above}.{key}", "problem": f"has {wrong[0]}"}
        if above == "kv_cache_config" and not node.items and not node.open:
            return {"key": f"{above}.{key}", "problem": "is empty"}
    return None


# -- the worker of Dynamo


def dynamo_refuses(config: Config) -> dict[str, str] | None:
    """An option that Dynamo's worker does not have: none of its own has an underscore or a dot in its name.

    Source: components/src/dynamo/trtllm/args.py and dynamic_flags.py of 2026, utils/trtllm_utils.py of 2025.
    """
    if config.launch.launcher != "dynamo":
        return None
    for word in config.launch.argv:
        name = word.text.flat.partition("=")[0]
        if word.text.known and name.startswith("--") and ("_" in name or "." in name) and not name.startswith("--trtllm."):
            plain = "--" + name[2:].replace("_", "-")
            has = "." not in name and (config.setting(plain[2:]) is not None or plain[2:] in _OF_DYNAMO)
            key = f"set the key in the file of --extra-engine-args, or as --trtllm.{name[2:]} with a Dynamo from March 2026 on"
            return {"option": name, "instead": f"write the name with dashes, {plain[2:]}" if has else key}
    return None


_OF_DYNAMO = frozenset(
    (
        *("tensor-parallel-size", "pipeline-parallel-size", "expert-parallel-size", "model-path", "served-model-name"),
        *("max-batch-size", "max-num-tokens", "max-seq-len", "max-beam-width", "free-gpu-memory-fraction", "gpus-per-node"),
        *("kv-block-size", "extra-engine-args", "disaggregation-mode", "publish-events-and-metrics"),
    )
)
