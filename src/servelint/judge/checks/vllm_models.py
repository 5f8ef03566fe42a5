"""Checks of what a vLLM release does with a model: by names that its source lists, which the catalog holds."""

from __future__ import annotations

from servelint.engines.config import Config


def hidden_state_drafts(config: Config) -> dict[str, str] | None:
    """A model that the release takes no drafts on hidden states (EAGLE-3) for: no name on its list is part of the model type.

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
    """A KV connector of vLLM's own that the release does not have. A name that no release has may be a plugin's.

    Source: KVConnectorFactory in vllm/distributed/kv_transfer/kv_connector/factory.py.
    """
    known = config.named("kv-connectors", str(config.operand("kv-transfer-config.kv_connector").value))
    if known is None or known.here is not False or config.catalog is None:
        return None
    runs = config.catalog.names("kv-connectors")[str(config.operand("kv-transfer-config.kv_connector").value)]
    releases, (first, last, _) = config.catalog.releases, runs[-1]
    if last == len(releases) - 1:
        return {"since": f"from {releases[first]} on", "advice": f"use vLLM {releases[first]} or later, or another connector"}
    return {"since": f"until {releases[last + 1]}", "advice": "write NixlConnector or LMCacheConnectorV1"}
