"""The ranges of vLLM's numeric options, release by release.

Source: the constraints of the fields in vllm/config/*.py (`Field(ge=..., gt=..., le=..., lt=...)`), which pydantic enforces
from 0.11.1 on; that each is refused below its bound and taken at it was seen in 0.11.2, 0.16.0, 0.20.0 and 0.33.0, and around
the release that brought it. Options whose range a rule of its own tells (--gpu-memory-utilization, --max-model-len, --port) are
not here.
"""

from __future__ import annotations

from servelint.engines.config import ABSENT, Config, Operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Scalar


class Range:
    """From when on a number must be at least `low` (above it if `open_low`) and at most `high` (below it if `open_high`).

    needs:  what must hold for the release to look at the number at all: an operand's name and its value
    """

    __slots__ = ("high", "low", "needs", "open_high", "open_low", "since")

    def __init__(
        self,
        since: str,
        low: float,
        high: float | None = None,
        *,
        above: bool = False,
        below: bool = False,
        needs: tuple[str, Scalar] | None = None,
    ) -> None:
        self.since, self.low, self.high = since, low, high
        self.open_low, self.open_high = above, below
        self.needs = needs

    def takes(self, number: float) -> bool:
        if number < self.low or (self.open_low and number == self.low):
            return False
        return self.high is None or number < self.high or (number == self.high and not self.open_high)

    @property
    def described(self) -> str:
        """ "a number from 1 to 65535", "a number above 0 and below 1"."""
        if self.high is not None and not self.open_low and not self.open_high:
            return f"a number from {self.low:g} to {self.high:g}"
        text = f"a number above {self.low:g}" if self.open_low else f"a number of at least {self.low:g}"
        return text if self.high is None else f"{text} and {'below' if self.open_high else 'at most'} {self.high:g}"


_LORA: tuple[str, Scalar] = ("enable-lora", True)
_MEDIA: tuple[str, Scalar] = ("model.multimodal", True)

RANGES: dict[str, tuple[Range, ...]] = {
    "block-size": (Range("0.23.0", 0, above=True),),
    "cpu-offload-gb": (Range("0.11.1", 0),),
    "data-parallel-rank": (Range("0.23.0", 0),),
    "data-parallel-rpc-port": (Range("0.28.0", 1, 65535),),
    "data-parallel-size": (Range("0.23.0", 1),),
    "data-parallel-size-local": (Range("0.23.0", 0),),
    "dbo-decode-token-threshold": (Range("0.23.0", 0),),
    "dbo-prefill-token-threshold": (Range("0.23.0", 0),),
    "decode-context-parallel-size": (Range("0.23.0", 1),),
    "dp-sync-interval": (Range("0.30.0", 1),),
    "elastic-ep-max-dp-size": (Range("0.30.0", 1),),
    "kv-cache-metrics-sample": (Range("0.12.0", 0, 1, above=True),),
    "long-prefill-token-threshold": (Range("0.25.0", 0),),
    "mamba-block-size": (Range("0.11.1", 0, above=True),),
    "max-logprobs": (Range("0.25.0", -1),),
    "max-lora-cls-labels": (Range("0.31.0", 1, needs=_LORA),),
    "max-loras": (Range("0.11.1", 1, needs=_LORA),),
    "max-num-active-seqs": (Range("0.31.0", 1),),
    "max-num-batched-tokens": (Range("0.11.1", 1),),
    "max-num-queued-reqs": (Range("0.29.0", 0),),
    "max-num-queued-tokens": (Range("0.29.0", 0),),
    "max-num-scheduled-tokens": (Range("0.23.0", 0), Range("0.32.0", 1)),
    "max-num-seqs": (Range("0.11.1", 1),),
    "max-parallel-loading-workers": (Range("0.23.0", 1),),
    "mm-encoder-fp8-scale-save-margin": (Range("0.21.0", 0, above=True, needs=_MEDIA),),
    "mm-ipc-gpu-memory-gb": (Range("0.25.0", 0, needs=_MEDIA),),
    "mm-processor-cache-gb": (Range("0.11.1", 0, needs=_MEDIA),),
    "mm-shm-cache-max-object-size-mb": (Range("0.11.1", 0, needs=_MEDIA),),
    "nnodes": (Range("0.23.0", 1),),
    "node-rank": (Range("0.23.0", 0),),
    "num-lookahead-slots": (Range("0.11.1", 0),),
    "offload-group-size": (Range("0.17.0", 0),),
    "offload-num-in-group": (Range("0.17.0", 1),),
    "offload-prefetch-step": (Range("0.17.0", 0),),
    "pipeline-parallel-size": (Range("0.19.0", 1),),
    "prefill-context-parallel-size": (Range("0.19.0", 1),),
    "prefill-schedule-interval": (Range("0.24.0", 1),),
    "prefix-cache-retention-interval": (Range("0.29.0", 0),),
    "prefix-match-unit": (Range("0.26.0", 0, above=True),),
    "replayssm-buffer-len": (Range("0.27.0", 0, above=True),),
    "safetensors-prefetch-block-size": (Range("0.21.0", 1),),
    "safetensors-prefetch-num-threads": (Range("0.21.0", 1),),
    "shutdown-timeout": (Range("0.18.0", 0),),
    "sse-keep-alive-interval": (Range("0.29.0", 0),),
    "stream-interval": (Range("0.11.1", 1),),
    "swap-space": (Range("0.11.1", 0),),
    "tensor-parallel-size": (Range("0.19.0", 1),),
    "ubatch-size": (Range("0.23.0", 0),),
    "video-pruning-rate": (Range("0.11.1", 0, 1, below=True, needs=_MEDIA),),
    "watermark": (Range("0.24.0", 0, 1, below=True),),
}
"""option -> its ranges, oldest first"""


def broken(config: Config) -> tuple[str, Range] | None:
    """The first option, in the order of the launch, whose number the release certainly refuses, and what it takes."""
    for name in config.reading.arguments.settings:
        for one in reversed(RANGES.get(name, ())):
            started = config.at_least(one.since)
            if started is None:
                break
            if not started:
                continue
            number = config.operand(name).value
            if not isinstance(number, (int, float)) or isinstance(number, bool):
                break
            if not one.takes(number) and _looked_at(config, one):
                return name, one
            break
    return None


def _looked_at(config: Config, one: Range) -> bool:
    if one.needs is None:
        return True
    name, value = one.needs
    return config.operand(name).value == value


def number_out_of_range(config: Config) -> Operand:
    """The number of an option that the release refuses, where it stands."""
    found = broken(config)
    return config.operand(found[0]) if found is not None else ABSENT
