"""VLLMRuntime of the vLLM production stack's operator: `vllm serve` with the flags that its controller makes of the fields.

The order and the spellings are those of operator/internal/controller/vllmruntime_controller.go.
"""

from __future__ import annotations

from servelint.core.launch import Container, Launch, Variable, Word
from servelint.core.numbers import whole_number
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.engines import images
from servelint.engines.registry import started_by
from servelint.readers.kubernetes import environment, flags, hardware, pods
from servelint.readers.kubernetes.kustomize_images import Overrides
from servelint.readers.kubernetes.objects import File, Object, listed, section, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries

_FLAGS = (
    ("vllmConfig", "port", "--port"),
    ("model", "enableLoRA", "--enable-lora"),
    ("model", "enableTool", "--enable-auto-tool-choice"),
    ("model", "toolCallParser", "--tool-call-parser"),
    ("vllmConfig", "enableChunkedPrefill", "--enable-chunked-prefill"),
    ("vllmConfig", "enablePrefixCaching", "--enable-prefix-caching"),
    ("model", "maxModelLen", "--max-model-len"),
    ("model", "dtype", "--dtype"),
    ("vllmConfig", "tensorParallelSize", "--tensor-parallel-size"),
    ("model", "maxNumSeqs", "--max-num-seqs"),
    ("vllmConfig", "gpuMemoryUtilization", "--gpu_memory_utilization"),
    ("vllmConfig", "maxLoras", "--max_loras"),
)
_BOTH_WAYS = frozenset(("enableChunkedPrefill", "enablePrefixCaching"))
"""Switches that the controller passes on as `--no-...` where they are off, and where they are not given."""


def of_object(file: File, one: Object, overrides: Overrides | None) -> list[Launch]:
    """The launch of one VLLMRuntime. Its image is no field that a kustomization replaces."""
    del overrides
    spec = section(one.fields, "spec")
    config, model = section(spec, "vllmConfig"), section(spec, "model")
    engine = started_by("production-stack").id
    if string(model, "modelURL") is None:
        return []
    given = environment.of_container(file, config)
    image = _image(file.source, section(spec, "deploymentConfig", "image"))
    launch = Launch(
        source=file.source,
        engine=engine,
        argv=_words(file, spec),
        site=pods.extent(file.source, [spec[key] for key in ("model", "vllmConfig") if key in spec]),
        env={**_switches(file.source, config), **given.variables},
        name=one.label,
        release=images.identify(image).claims.get(engine) if image is not None else None,
        container=Container(image, {}, *_gpus(section(spec, "deploymentConfig", "resources")), open=True),
        open_env=True,
    )
    environment.show_injected(launch, given)
    return [launch]


def _words(file: File, spec: Entries) -> list[Word]:
    source = file.source
    node = spec["model"][1]
    url = section(spec, "model")["modelURL"][1]
    words = [Word(yaml.text(source, url), yaml.span(source, url))]
    for part, key, flag in _FLAGS:
        fields = section(spec, part)
        off = string(fields, key) in (None, "", "0")
        if key in _BOTH_WAYS and off:
            site = yaml.span(source, spec.get(part, (node, node))[0])
            words.append(Word(Text.of(flag.replace("--", "--no-")), site))
        elif not off and (key in _BOTH_WAYS or string(fields, key) != "false"):
            words += flags.of_setting(source, flag.removeprefix("--"), *fields[key])
    for item in listed(section(spec, "vllmConfig"), "extraArgs"):
        words.append(Word(yaml.text(source, item), yaml.span(source, item)))
    words.append(pods.unseen())  # a connector for LMCache, a chat template
    return words


def _image(source: Source, fields: Entries) -> Text | None:
    if string(fields, "name") is None:
        return None
    name = yaml.text(source, fields["name"][1])
    if not string(fields, "registry"):
        return name
    return Text.join((yaml.text(source, fields["registry"][1]), Text.of("/"), name))


def _switches(source: Source, config: Entries) -> dict[str, Variable]:
    """VLLM_USE_V1, as `v1` has it."""
    if "v1" not in config:
        return {}
    site = yaml.span(source, config["v1"][1])
    value = Text.of("1" if string(config, "v1") == "true" else "0")
    return {"VLLM_USE_V1": Variable("VLLM_USE_V1", value, site)}


def _gpus(resources: Entries) -> tuple[int | None, bool | None]:
    count = whole_number(string(resources, "gpu") or "")
    if not count or not hardware.is_gpu(string(resources, "gpuType") or "nvidia.com/gpu"):
        return None, None
    return count, True
