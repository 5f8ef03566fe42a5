"""A variable of vLLM's that the release does not list, where that is to be fatal.

Source: Platform.validate_environ in vllm-0.33.0 vllm/platforms/interface.py:1457; the same in 0.17.0. The list is that of
vllm/envs.py, which the catalog holds.
"""

from __future__ import annotations

from servelint.engines.config import Config


def check(config: Config) -> dict[str, str] | None:
    if config.catalog is None or config.index is None:
        return None
    known = config.catalog.variables()
    for name in config.launch.env:
        runs = known.get(name, ()) if name.startswith("VLLM_") else None
        if runs is not None and not any(run[0] <= config.index <= run[1] for run in runs):
            return {"variable": name}
    return None
