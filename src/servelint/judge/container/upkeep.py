"""What a container keeps between two starts, and how often it is started."""

from __future__ import annotations

import re

from servelint.core.launch import Runtime
from servelint.engines import ENGINES, images
from servelint.engines.config import Config
from servelint.judge.parser.complaint import Complaint

_HUB = r"[A-Za-z0-9][\w.-]*/[\w.-]+"
_NO_MODELS = r"/(?:dev|etc|tmp|run|var/run|var/log|sys|proc)(?:/.*)?|.*\.[A-Za-z]\w{0,5}"
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
_FOR_EVER = ("always", "unless-stopped")


def complaints(config: Config) -> list[Complaint]:
    container = config.launch.container
    runtime = container.runtime if container is not None else None
    return [*_cache(config, runtime), *_restarts(runtime)] if runtime is not None else []


def _cache(config: Config, runtime: Runtime) -> list[Complaint]:
    """A model of the hub in a container that keeps nothing."""
    launch = config.launch
    model = config.operand("model")
    model = model if model.present is not False else config.operand("model-path")
    cache = ENGINES[launch.engine].model_cache
    if not cache or runtime.mounts is None or not isinstance(model.value, str):
        return []
    if not re.fullmatch(_HUB, model.value) or launch.image is None or images.identify(launch.image).house:
        return []
    if any(path.value is None or not re.fullmatch(_NO_MODELS, path.value) for path in runtime.mounts):
        return []
    if any(name in launch.env for name in _OFFLINE) or config.operand("download-dir").present is not False:
        return []
    message = f"nothing here keeps {model.value}: every new container downloads it again"
    advice = f"mount a volume at {cache}"
    return [Complaint("no-model-cache", model.span, message, advice, "downloaded at every start")]


def _restarts(runtime: Runtime) -> list[Complaint]:
    if runtime.restart is None or runtime.restart.value not in _FOR_EVER or runtime.restart.span() is None:
        return []
    how = runtime.restart.value
    message = f"restart: {how} starts a server that cannot start again and again, minutes of loading each time"
    advice = "say how often: restart: on-failure:3"
    return [Complaint("restarts-for-ever", runtime.restart.span(), message, advice, "without an end")]
