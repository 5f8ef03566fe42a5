"""Checks of llama.cpp: what a name of a model, a device or a template is, where llama-server wants another thing."""

from __future__ import annotations

import re

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.engines.config import Config
from servelint.models.catalog import lookup
from servelint.syntax import ini

_PUBLISHERS = "Qwen|meta-llama|google|mistralai|deepseek-ai|openai|microsoft|unsloth|bartowski|ggml-org|TheBloke|zai-org"
_MODEL_FILES = (
    (r"\w[\w+.-]*://.*", "is an address, and --model takes the path of a file"),
    (r".*\.(?i:safetensors|pth?|onnx)", "is not a GGUF file"),
    (r"(?:.*[/\\._-])?(?i:mmproj)[._-].*\.gguf", "is a projector, which --mmproj takes"),
    (r".*-(?!00001)\d{5}-of-\d{5}\.gguf", "is not the first part of the model: name the one with 00001-of"),
    (r"(?:.*/)?[\w.-]+/[\w.-]+[-_](?i:gguf)(?::[\w.-]+)?", "names a repository or its folder, and no file"),
    (rf"(?:{_PUBLISHERS})/(?![^/]*\.(?i:gguf)$)[\w.-]+(?::[\w.-]+)?", "names a repository, which --hf-repo takes"),
)
_WITHOUT_GGUF = r"(?:Qwen|meta-llama|deepseek-ai|openai|zai-org|moonshotai|MiniMaxAI|mistralai)/(?!.*(?i:gguf)).*"
"""Publishers whose repositories have no GGUF files, except those with GGUF in their names."""

_DEVICES = ("device", "spec-draft-device", "device-draft", "mmproj-device")
_NO_DEVICE = r"\d+|(?i:all|auto|cpu|cuda|gpu|hip|metal|nvidia|rocm|vulkan)|(?i:cuda|gpu|hip|rocm|vulkan):\d+|(?i:gpu|hip)\d+"
_BACKENDS = {"cuda": "CUDA", "rocm": "ROCm", "vulkan": "Vulkan", "intel": "SYCL", "musa": "MUSA"}
_IMAGE = re.compile(r"ghcr\.io/gg(?:ml-org|erganov)/llama\.cpp:(?:full|light|server)(?:-(?!b\d)([a-z]+)\w*)?(?:-b\d+)?(?:@.*)?")


def model_file(config: Config) -> dict[str, str] | None:
    """What stands at --model instead of a GGUF file.

    Source: llama_model_loader in llama.cpp b9093 and b11434 src/llama-model-loader.cpp; clip_ctx in tools/mtmd.
    """
    name = config.text("model")
    found = [reason for form, reason in _MODEL_FILES if name is not None and re.fullmatch(form, name)]
    return {"reason": found[0]} if found else None


def hf_repository(config: Config) -> dict[str, str] | None:
    """What is wrong with --hf-repo: no USER/MODEL, or a repository without GGUF files.

    Source: common_download_split_repo_tag and common_download_get_hf_plan in llama.cpp b11434 common/download.cpp.
    """
    name = config.text("hf-repo")
    if not name:
        return None
    if name.partition(":")[0].count("/") != 1:
        return {"reason": "is not of the form USER/MODEL or USER/MODEL:QUANT"}
    return {"reason": "is a repository without GGUF files"} if re.fullmatch(_WITHOUT_GGUF, name) else None


def device_names(config: Config) -> dict[str, str] | None:
    """A device that no backend has, of those that --device and its relatives name.

    Source: parse_device_list in llama.cpp b9093 and b11434 common/arg.cpp.
    """
    image = _IMAGE.fullmatch(config.text("container.image") or "")
    own = _BACKENDS.get(image.group(1) or "") if image is not None else None
    count = config.operand("gpu.count").value
    for option in _DEVICES:
        for name in (config.text(option) or "").split(","):
            backend = next((one for one in _BACKENDS.values() if re.fullmatch(rf"(?i){one}\d+", name)), None)
            if re.fullmatch(_NO_DEVICE, name):
                reason = "devices are named as --list-devices does, such as CUDA0 or Vulkan0"
            elif backend is not None and own is not None and backend != own:
                reason = f"this image has only {own} devices"
            elif backend is not None and isinstance(count, int) and int(name[len(backend) :]) >= count > 0:
                reason = f"there are {count} GPU(s), and they are counted from 0"
            else:
                continue
            return {"option": "--" + option, "name": name, "reason": reason}
    return None


def cpu_image(config: Config) -> dict[str, str] | None:
    """The published image that has no GPU backend."""
    name = config.text("container.image") or ""
    image = _IMAGE.fullmatch(name)
    return {"image": name} if image is not None and not image.group(1) else None


def template_name(config: Config) -> dict[str, str] | None:
    """A name or a path at --chat-template, which takes the text of a template where Jinja is on.

    Source: common_chat_templates_init in llama.cpp b9093 and b11434 common/chat.cpp: only chatml is a name.
    """
    name = config.text("chat-template")
    return {"name": name} if name and name != "chatml" and re.fullmatch(r"[\w./\\:-]+", name) else None


def other_vocabulary(config: Config) -> dict[str, str] | None:
    """The sizes of the vocabularies of the model and its draft, where they differ by more than 128.

    Source: common_speculative_are_compatible in llama.cpp b9246 and b11434 common/speculative.cpp.
    """
    names = [config.text("hf-repo") or config.text("model"), config.text("spec-draft-hf") or config.text("spec-draft-model")]
    found = [lookup(name) if name else None for name in names]
    if found[0] is None or found[1] is None or abs(found[0].vocab - found[1].vocab) <= 128:
        return None
    return {"own": str(found[0].vocab), "other": str(found[1].vocab), "draft": str(names[1])}


def heads_across_blocks(config: Config) -> dict[str, str] | None:
    """The size of the heads of a model that the blocks of 32 values of a quantized cache do not divide.

    Source: llama_init_from_model in llama.cpp b9093 and b11434 src/llama-context.cpp. Latent attention keeps other heads.
    """
    model = config.text("hf-repo") or config.text("model")
    found = lookup(model) if model else None
    for layers in found.attention if found is not None else ():
        sizes = {"cache-type-k": layers.head_dim, "cache-type-v": layers.value_dim}
        for option, size in sizes.items() if layers.mla is None else ():
            if size % 32 and config.text(option) not in (None, "f32", "f16", "bf16"):
                return {"option": f"--{option}", "type": str(config.text(option)), "size": str(size)}
    return None


# -- the file of --models-preset


_ON = ("on", "enabled", "true", "1")
_MODEL_KEYS = re.compile(
    r"m|model|mu|model-url|hf|hfr|hf-repo|dr|docker-repo|LLAMA_ARG_(?:MODEL|MODEL_URL|HF_REPO|DOCKER_REPO)|.*-default"
)
_REWRITTEN = re.compile(r"(?P<repository>.+:)(?P<tag>[^:]*[-.](?P<last>\w+))", re.ASCII)
_QUANTIZATIONS = re.compile(r"(?:i?q\d\w*|t?q\d\w*|bf16|fp?(?:8|16|32)|mxfp4\w*|nvfp4\w*|nl|x{0,2}[sml])", re.IGNORECASE)


def _sections(config: Config) -> dict[str, dict[str, str]] | None:
    """The sections of the file that --models-preset names, with those of `[*]` in each; None if the file is not known."""
    name, opener = config.text("models-preset"), config.launch.open
    opened = opener(TracedText.of(name)) if name and opener is not None else None
    if opened is None or not opened.text.known:
        return None
    found: dict[str, dict[str, str]] = {}
    for section, _, key, value in ini.lines(Source("", opened.text.flat)):
        if key is not None and value is not None:
            found.setdefault(section, {})[key.flat] = value.flat
        else:
            found[section] = {}
    shared = found.pop("*", {})
    found.pop("", None)
    return {section: {**shared, **keys} for section, keys in found.items() if section != "default"}


def section_without_model(config: Config) -> dict[str, str] | None:
    """A section that names no model, where none of the cache or of a folder can have its name.

    Source: server_models::load_models in llama.cpp b9093 and b11434 tools/server/server-models.cpp.
    """
    if config.operand("models-dir").present is not False:
        return None
    for section, keys in (_sections(config) or {}).items():
        if "/" not in section and not any(_MODEL_KEYS.fullmatch(key) for key in keys):
            return {"section": section}
    return None


def loaded_on_startup(config: Config) -> dict[str, str] | None:
    """The number of models that a preset loads on startup, if it is above what --models-max allows (0 allows none there).

    Source: server_models::load_models in llama.cpp b9093 and b11434 tools/server/server-models.cpp.
    """
    most, sections = config.operand("models-max"), _sections(config)
    limit = most.value if most.present else 4 if most.present is False else None  # common/common.h: models_max
    if sections is None or not isinstance(limit, (int, str)) or not re.fullmatch(r"\d+", str(limit)):
        return None
    count = sum(keys.get("load-on-startup", "").lower() in _ON for keys in sections.values())
    return {"count": str(count), "limit": str(limit)} if count > int(limit) else None


def rewritten_section(config: Config) -> dict[str, str] | None:
    """The name that a section of a preset gets, of whose tag only what stands behind a dash or a dot remains.

    Source: canonical_tag in llama.cpp b9843 and b11434 common/preset.cpp.
    """
    name = config.launch.name
    match = _REWRITTEN.fullmatch(name)
    if match is None or _QUANTIZATIONS.fullmatch(match.group("last")) or f"[{name}]" not in config.launch.source.text:
        return None
    return {"section": name, "renamed": match.group("repository") + match.group("last").upper()}
