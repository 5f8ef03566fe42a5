"""The batch sizes for which CUDA graphs are captured.

Source: VllmConfig._set_cudagraph_sizes in vllm-0.33.0 vllm/config/vllm.py:2551-2625; the same in 0.11.1. Sizes above
--max-num-batched-tokens are dropped before the largest is compared, so that only sizes up to 512 are looked at here. Without
CUDA graphs nothing is checked.
"""

from __future__ import annotations

from servelint.core.numbers import is_whole
from servelint.engines.config import Config
from servelint.judge.checks.values import whole
from servelint.syntax.json import ARRAY, NUMBER, OBJECT

_CERTAIN = 512
_OFF = (
    "enforce-eager",
    "compilation-config.cudagraph_mode",
    "compilation-config.mode",
    "optimization-level",
    "all2all-backend",
)


def check(config: Config) -> dict[str, str] | None:
    if any(config.operand(name).present is not False and config.operand(name).value is not False for name in _OFF):
        return None
    if any(config.operand(name).present is not False for name in ("max-num-batched-tokens", "kv-transfer-config")):
        return None
    sizes, largest = _sizes(config), _largest(config)
    if largest is not None and largest < 1:
        return {"reason": f"have {largest} as the largest"}
    if sizes is None:
        return None
    if not sizes:
        return {"reason": "are an empty list"}
    if largest is None or largest == max(sizes) or max(sizes) > _CERTAIN:
        return None
    return {"reason": f"are given up to {max(sizes)}, and max_cudagraph_capture_size is {largest}"}


def _largest(config: Config) -> int | None:
    own = whole(config, "max-cudagraph-capture-size")
    return own if own is not None else whole(config, "compilation-config.max_cudagraph_capture_size")


def _sizes(config: Config) -> list[int] | None:
    """All sizes; None if they are not given, or not all of them are known."""
    setting = config.setting("cudagraph-capture-sizes")
    if setting is not None:
        words = [word.text.flat for word in setting.values if word.text.known and not word.many]
        return [int(word) for word in words] if len(words) == len(setting.values) and all(map(is_whole, words)) else None
    node = config.reading.parsed("compilation-config")
    member = node.members.get("cudagraph_capture_sizes") if node is not None and node.kind == OBJECT else None
    if member is None or member[1].kind != ARRAY or member[1].open:
        return None
    values = [int(item.value) for item in member[1].items if item.kind == NUMBER and isinstance(item.value, int)]
    return values if len(values) == len(member[1].items) else None
