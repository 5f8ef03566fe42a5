"""Models with layers of their own for drafts (multi-token prediction), and the release from which an engine uses them.

An engine may ignore such layers of a checkpoint: MiniMax-M2 has three that no release reads. The catalog has
the architectures and model types that each release drafts for (`mtp-models`).
"""

from __future__ import annotations

from dataclasses import dataclass

from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES, ENGINES, catalog
from servelint.engines.releases import known_releases, release_key
from servelint.models import architecture, identify, types_of
from servelint.models.folder import open_in, read

_COUNTED_BY_THE_ENGINE = ("MiMoV2FlashForCausalLM",)
"""Architectures whose config.json says nothing about the layers, because the engines know how many there are."""


@dataclass(frozen=True, slots=True)
class OwnDrafts:
    """What is known of a model's own layers for drafts.

    Attributes:
        architecture: the architecture, "" if it is not known.
        layers: whether the checkpoint has such layers, None if that is not known.
        types: the model types that it may have.
    """

    architecture: str
    layers: bool | None
    types: frozenset[str] = frozenset()


def own_drafts(model: str) -> OwnDrafts:
    """The model's own layers for drafts, by its files (a path starts in the current folder) or by its name."""
    opened = open_in(".")
    family = read(TracedText.of(model), opened) or identify(TracedText.of(model))
    known = architecture.find(model, opened)
    name = (family.architecture if family is not None else None) or (known.architecture if known is not None else "")
    types = types_of(name) | ({known.model_type} if known is not None else set())
    mtp = family.facts.get("mtp") if family is not None else None
    if not isinstance(mtp, bool):
        mtp = known.mtp_layers > 0 or name in _COUNTED_BY_THE_ENGINE if known is not None else None
    return OwnDrafts(name, mtp, frozenset(types))


def first_release(engine: str, own: OwnDrafts) -> str | None:
    """The first release that has the model and drafts with its own layers; None if no release does."""
    known = catalog.load(engine)
    if known is None:
        return None
    drafting = known.names("mtp-models")
    begins = [run[0] for name in (own.architecture, *own.types) for run in drafting.get(name, ())]
    listed = known.names("architectures").get(own.architecture)
    return known.releases[max(min(begins), listed[0][0] if listed else 0)] if begins else None


def refusal(engine: str, release: str, model: str, own: OwnDrafts) -> tuple[str, str] | None:
    """Why a release cannot draft with the model's own layers, and the source of that. None if it can or that is not known."""
    product = ENGINE_NAMES[engine]
    if own.layers is False:
        return f"{model} has no layer for multi-token prediction; name a draft that was made for it, or serve it without", ""
    known = catalog.load(engine)
    if not own.architecture or known is None or not known.names("mtp-models"):
        return None
    since = first_release(engine, own)
    if since is None:
        return (
            f"no release of {product} that is known drafts with the layers of {own.architecture}; serve it without drafts",
            ENGINES[engine].drafts_source.format(known_releases(engine)[-1]),
        )
    key, first = release_key(release), release_key(since)
    if key is not None and first is not None and key < first:
        return (
            f"{product} {release} does not draft with the layers of {own.architecture}; use {product} {since} or later",
            ENGINES[engine].drafts_source.format(since),
        )
    return None
