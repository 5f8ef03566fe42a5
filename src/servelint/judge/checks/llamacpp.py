"""Checks of llama.cpp: what a name of a model, a device or a template is, where llama-server wants another thing."""

from __future__ import annotations

import re

from servelint.engines.config import Config
from servelint.models.catalog import lookup

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
