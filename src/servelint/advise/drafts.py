"""Which models draft with layers of their own (multi-token prediction), and from which release of an engine.

A checkpoint may bring such layers and an engine leave them aside: MiniMax-M2 has three that no release reads. The catalog has
the architectures and model types that each release drafts for (`mtp-models`).
"""

from __future__ import annotations

from servelint.core.text import Text
from servelint.engines import ENGINE_NAMES, catalog
from servelint.engines.releases import known_releases, release_key
from servelint.models import architecture, identify, local, types_of

_SOURCES = {
    "vllm": "vllm-{} vllm/config/speculative.py",
    "sglang": "sglang-{} srt/configs/model_config.py",
}
_COUNTED_BY_THE_ENGINE = ("MiMoV2FlashForCausalLM",)
"""Its config.json says nothing of the layers; the engines know how many it has."""


class OwnDrafts:
    """What is known of a model's own layers for drafts.

    architecture: "" if it is not known
    layers:       whether the checkpoint has such layers; None if that is not known
    types:        the model types that it may have
    """

    __slots__ = ("architecture", "layers", "types")

    def __init__(self, architecture: str, layers: bool | None, types: frozenset[str] = frozenset()) -> None:
        self.architecture = architecture
        self.layers = layers
        self.types = types


def own_drafts(model: str, folder: str = ".") -> OwnDrafts:
    """By the files of a folder that is here, or by the name. folder: where a path of `model` starts from."""
    opened = local.open_in(folder)
    family = local.read(Text.of(model), opened) or identify(Text.of(model))
    known = architecture.find(model, opened)
    name = (family.architecture if family is not None else None) or (known.architecture if known is not None else "")
    types = types_of(name) | ({known.model_type} if known is not None else set())
    mtp = family.facts.get("mtp") if family is not None else None
    if not isinstance(mtp, bool):
        mtp = known.mtp_layers > 0 or name in _COUNTED_BY_THE_ENGINE if known is not None else None
    return OwnDrafts(name, mtp, frozenset(types))


def first_release(engine: str, own: OwnDrafts) -> str | None:
    """The first release that drafts with a model's own layers, and has the model; None if no release does."""
    known = catalog.load(engine)
    if known is None:
        return None
    drafting = known.names("mtp-models")
    begins = [run[0] for name in (own.architecture, *own.types) for run in drafting.get(name, ())]
    listed = known.names("architectures").get(own.architecture)
    return known.releases[max(min(begins), listed[0][0] if listed else 0)] if begins else None


def refusal(engine: str, release: str, model: str, own: OwnDrafts) -> tuple[str, str] | None:
    """Why a release cannot draft with the model's own layers, and the source of that; None if it can, or if nobody knows."""
    product = ENGINE_NAMES[engine]
    if own.layers is False:
        return f"{model} has no layer for multi-token prediction; name a draft that was made for it, or serve it without", ""
    if not own.architecture:
        return None
    since = first_release(engine, own)
    if since is None:
        return (
            f"no release of {product} that is known drafts with the layers of {own.architecture}; serve it without drafts",
            _SOURCES[engine].format(known_releases(engine)[-1]),
        )
    key, first = release_key(release), release_key(since)
    if key is not None and first is not None and key < first:
        return (
            f"{product} {release} does not draft with the layers of {own.architecture}; use {product} {since} or later",
            _SOURCES[engine].format(since),
        )
    return None
