"""The releases that have each KV connector of vLLM's own.

Source: vllm/distributed/kv_transfer/kv_connector/factory.py of every release from 0.8.5 to 0.33.0. A name that none of them
has is not judged: a plugin may register it.
"""

from __future__ import annotations

from servelint.engines.config import Config

_CONNECTORS: dict[str, tuple[tuple[str, str | None], ...]] = {
    "PyNcclConnector": (("0.8.5", "0.10.1"),),
    "LMCacheConnector": (("0.8.5", "0.10.1"),),
    "MooncakeConnector": (("0.8.5", "0.10.1"), ("0.13.0", None)),
    "MooncakeStoreConnector": (("0.8.5", "0.10.1"), ("0.21.0", None)),
    "OffloadingConnector": (("0.11.0", None),),
    "LMCacheMPConnector": (("0.11.1", None),),
    "DecodeBenchConnector": (("0.11.1", None),),
    "ExampleConnector": (("0.13.0", None),),
    "MoRIIOConnector": (("0.14.0", None),),
    "ExampleHiddenStatesConnector": (("0.17.0", None),),
    "FlexKVConnectorV1": (("0.18.0", None),),
    "SimpleCPUOffloadConnector": (("0.19.0", None),),
    "HF3FSKVConnector": (("0.20.0", None),),
    "NixlPullConnector": (("0.24.0", None),),
    "NixlPushConnector": (("0.24.0", None),),
    "HiSparseConnector": (("0.30.0", None),),
}
"""name -> (the first release with it, the first without it again)"""


def check(config: Config) -> dict[str, str] | None:
    runs = _CONNECTORS.get(str(config.operand("kv-transfer-config.kv_connector").value))
    if runs is None or any(_within(config, since, until) is not False for since, until in runs):
        return None
    since, until = runs[-1]
    return {"since": f"from {since} on" if until is None else f"until {until}", "advice": _advice(since, until)}


def _within(config: Config, since: str, until: str | None) -> bool | None:
    started, ended = config.at_least(since), config.at_least(until) if until is not None else False
    if started is False or ended is True:
        return False
    return None if started is None or ended is None else True


def _advice(since: str, until: str | None) -> str:
    return f"use vLLM {since} or later, or another connector" if until is None else "write NixlConnector or LMCacheConnectorV1"
