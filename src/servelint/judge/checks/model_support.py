"""Checks of whether a release can load a model: its architecture, its configuration, its weights.

The first releases have no fallback for an architecture that they do not list (vLLM to 0.7.1, SGLang to 0.4.6.post5). Later ones
run it with Transformers, which must know the model type: some release of it brought that, and only older ones may go with the
engine's.
"""

from __future__ import annotations

import re

from servelint.engines import ENGINES, images
from servelint.engines.config import Config

_FALLBACKS = ("TransformersForCausalLM", "TransformersModel")
_OTHER_TRANSFORMERS = re.compile(r"install\b.*\btransformers\b", re.IGNORECASE | re.DOTALL)


def too_new(config: Config) -> dict[str, str] | None:
    """A release that cannot load the model: it does not list the architecture, and cannot fall back on Transformers."""
    missing = _not_listed(config)
    if missing is None or (_falls_back(config) and _readable(config) and _loads_weights(config)):
        return None
    return missing


def not_listed(config: Config) -> dict[str, str] | None:
    """A release that does not list the model's architecture, and may yet load it with its Transformers backend."""
    missing = _not_listed(config)
    return missing if missing is not None and too_new(config) is None else None


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


def plain_weights(config: Config) -> dict[str, str] | None:
    """A checkpoint of a known size whose name says no quantization, and whose family ships none."""
    family = config.family
    return {} if family is not None and family.size is not None and family.facts.get("quantization", "none") == "none" else None


def _not_listed(config: Config) -> dict[str, str] | None:
    """What a message says if the release does not list the model's architecture; None if it does, or if it is not known."""
    family, since, catalog = config.family, config.since, config.catalog
    if family is None or since is None or catalog is None or family.architecture is None or config.at_least(since) is not False:
        return None
    image = config.launch.image
    if image is not None and images.identify(image).house:
        return None  # whoever built it may have added the model
    if config.index is None and config.around is not None and _lists(config.around[1], family.architecture):
        return None  # somewhere between two releases, the later of which has it
    return {"architecture": family.architecture, "since": since}


def _lists(config: Config, architecture: str) -> bool:
    found = config.named("architectures", architecture)
    return found is not None and found.here is True


def _falls_back(config: Config) -> bool:
    """Whether the release may run what it does not list with Transformers."""
    known = config.around[1] if config.index is None and config.around is not None else config
    return any(_lists(known, name) for name in _FALLBACKS)


def _loads_weights(config: Config) -> bool:
    """Whether the release may have the method that the checkpoint is quantized with."""
    known = config.named("quantization", str(config.operand("model.quant-method").value))
    return not ENGINES[config.launch.engine].quantization_listed or known is None or known.here is not False


def names_transformers(text: str) -> bool:
    """Whether a file installs Transformers, of whatever release."""
    return "transformers" in text.lower() and _OTHER_TRANSFORMERS.search(text) is not None


def _readable(config: Config) -> bool:
    """Whether Transformers beside the release may know the model type; also where something else may stand there."""
    family, key = config.family, config.key
    if family is None or family.transformers is None or key is None or names_transformers(config.launch.source.text):
        return True
    if any(config.operand(name).present is not False for name in ("trust-remote-code", "skip-tokenizer-init")):
        return True  # the repository may bring its own; without a tokenizer an older engine runs beside a later Transformers
    from servelint.engines.transformers import knows, newest_transformers

    newest = newest_transformers(config.launch.engine, key, image=config.launch.release.how == "image")
    return newest is None or knows(newest, family.transformers)
