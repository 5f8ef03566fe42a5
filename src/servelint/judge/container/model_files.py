"""Where the model of a container comes from: a volume, or the hub with a token, and what keeps it."""

from __future__ import annotations

import re

from servelint.core.launch import Launch, Runtime
from servelint.core.text import TracedText
from servelint.engines import ENGINES, images
from servelint.engines.config import Config, Operand
from servelint.judge.parser.violation import Violation

_HUB = r"[A-Za-z0-9][\w.-]*/[\w.-]+"
_NO_MODELS = r"/(?:dev|etc|tmp|run|var/run|var/log|sys|proc)(?:/.*)?|.*[^/]\.[A-Za-z]\w{0,5}"
_CACHES = ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_TRUE = ("1", "ON", "YES", "TRUE")
"""What huggingface_hub reads as true in a variable, in capitals."""
_TOKENS = (
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HUGGINGFACE_HUB_TOKEN",
    "HUGGINGFACEHUB_API_TOKEN",
    "HF_API_TOKEN",
    "HF_TOKEN_PATH",
)
_OTHER_HUBS = (
    "HF_ENDPOINT",
    "VLLM_USE_MODELSCOPE",
    "SGLANG_USE_MODELSCOPE",
    "LMDEPLOY_USE_MODELSCOPE",
    "LMDEPLOY_USE_OPENMIND_HUB",
)
_GATED = r"meta-llama/.+|google/(?:gemma-(?:1\.1-)?[27]b|gemma-[23]-|gemma-3n-|codegemma-|embeddinggemma-).*"
"""Publishers' repositories that the hub gives only to accounts with access."""
_IN_IMAGES = (
    "/vllm-workspace",
    "/sgl-workspace",
    "/workspace",
    "/app",
    "/opt",
    "/usr",
    "/tmp",  # noqa: S108 - compared with
    "/dev",
    "/proc",
    "/runpod-volume",
)
"""Where images have files of their own, or hosts mount what no file shows."""
_FILES = ("model", "model-path", "tokenizer", "tokenizer-path", "chat-template", "mmproj", "model-draft")


def violations(config: Config, runtime: Runtime) -> list[Violation]:
    """The violations in the files of the model, in a container of an official image whose mounts are all known."""
    image = config.launch.image
    if image is None or images.identify(image).house or runtime.mounts is None:
        return []
    if any(path.value is None for path in runtime.mounts):
        return []
    return [*_not_mounted(config, runtime, runtime.mounts), *_from_hub(config, runtime, runtime.mounts)]


def _not_mounted(config: Config, runtime: Runtime, mounts: list[TracedText]) -> list[Violation]:
    """A path of a file or a folder that nothing brings into the container."""
    launch = config.launch
    if not _is_plain(launch, runtime):
        return []
    for name in dict.fromkeys((*_FILES, ENGINES[launch.engine].model_option)):
        given = config.operand(name) if name else Operand(False)
        path = str(given.value or "").rstrip("/")
        if (
            not re.fullmatch(r"/[\w./+@-]+", path)
            or path.startswith(tuple(f"{one}/" for one in _IN_IMAGES))
            or path in _IN_IMAGES
        ):
            continue
        inside = [one.flat.rstrip("/") for one in mounts]
        if any(path == one or path.startswith(one + "/") or one.startswith(path + "/") for one in inside):
            continue
        folder = path.rpartition("/")[0] or path
        message = f"nothing is mounted at {path}: the image of {ENGINES[launch.engine].name} does not have it"
        known = f"; mounted are {', '.join(inside[:3])}" if inside else ""
        advice = f"mount the folder that has it at {folder}, or write where it is mounted{known}"
        return [Violation("model-not-mounted", given.span, message, advice, "not in the container")]
    return []


def _is_plain(launch: Launch, runtime: Runtime) -> bool:
    """Whether the container runs the engine alone, and the file shows all that it is given."""
    complete = launch.container is not None and not launch.container.open
    return complete and launch.likely and runtime.direct and not runtime.script


def _from_hub(config: Config, runtime: Runtime, mounts: list[TracedText]) -> list[Violation]:
    """A model of the hub, in a container without a volume that may have it."""
    launch, engine = config.launch, ENGINES[config.launch.engine]
    model = config.operand("model")
    for name in ("model-path", engine.model_option):
        model = model if model.present is not False or not name else config.operand(name)
    pulls = engine.pulls_models  # and is started without a model
    if not engine.model_cache or not (pulls or (isinstance(model.value, str) and re.fullmatch(_HUB, model.value))):
        return []
    if any(not re.fullmatch(_NO_MODELS, path.flat) for path in mounts) or config.operand("download-dir").present is not False:
        return []
    if any(name in launch.env for name in _CACHES):
        return []
    known = not launch.open_env and not pulls and _is_plain(launch, runtime)
    offline = next((name for name in _OFFLINE if name in launch.env), None)
    if offline is not None:
        value = launch.env[offline].value
        if offline != _OFFLINE[0] or not known or value is None or value.flat.upper() not in _TRUE:
            return []
        message = (
            f"{offline}={value.flat} forbids the download of {model.value}, and no volume has it: the server does not start"
        )
        advice = f"delete {offline}, or mount a volume with the model at {engine.model_cache}"
        return [Violation("offline-without-model", model.span, message, advice, "not in the container")]
    if known and re.fullmatch(_GATED, str(model.value)) and not _may_have_token(config):
        message = f"{model.value} is a gated repository, and this container has no token: the hub refuses the download"
        return [
            Violation(
                "gated-without-token", model.span, message, "set HF_TOKEN=TOKEN: that of an account with access to it", "gated"
            )
        ]
    what, again = ("the models that it pulls", "them") if pulls else (model.value, "it")
    message = f"no volume keeps {what}: every new container downloads {again} again"
    span = (launch.image.span() if pulls and launch.image is not None else None) or model.span
    advice = f"mount a volume at {engine.model_cache}"
    return [Violation("no-model-cache", span, message, advice, "downloaded at every start")]


def _may_have_token(config: Config) -> bool:
    names = (*_TOKENS, *_OTHER_HUBS)
    options = ("hf-token", "load-format", "revision")
    return any(name in config.launch.env for name in names) or any(
        config.operand(name).present is not False for name in options
    )
