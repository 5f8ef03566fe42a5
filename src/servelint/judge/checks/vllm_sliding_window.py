"""The context of a model with --disable-sliding-window: no longer than the window that is switched off.

Source: _get_and_verify_max_len in vllm/config/model.py, 0.12.0 to 0.33.0; until 0.28 it took a model with YaRN (gpt-oss) at
its full length. The windows are sliding_window in the config.json of each family.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole

_WINDOWS = {
    "gemma-2": ("2b 9b 27b", 4096, "0.12.0"),
    "gemma-3": ("4b 12b 27b", 1024, "0.12.0"),
    "gemma-3-text": ("1b 270m", 512, "0.12.0"),
    "gpt-oss": ("20b 120b", 128, "0.30.0"),
}
"""family -> its sizes, its window in tokens, and the first release that cuts the context to it"""


def check(config: Config) -> dict[str, str] | None:
    family = config.family
    sizes, window, since = _WINDOWS.get(family.name, ("", 0, "0.12.0")) if family is not None else ("", 0, "0.12.0")
    if family is None or family.size not in sizes.split() or not config.at_least(since):
        return None
    asked = config.operand("max-model-len")
    if asked.present is False:
        return {"window": f"{window:,}"}
    length = whole(config, "max-model-len")
    return {"window": f"{window:,}"} if length is not None and length > window else None
