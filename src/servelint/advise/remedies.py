"""What to write for a finding on a command that is being made, so that it does not come again.

The rule book decides what is broken in which release; here stands only which of the ways out is taken. A rule that is not
here has no way out: the command is refused with what the rule says.
"""

from __future__ import annotations

import re

from servelint import hardware
from servelint.advise.options import Options
from servelint.core.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS = re.compile(r"--([a-z][a-z-]*) (\S+?)(?=[ ,;]|$)")
_MEASURES = (
    "max-model-len",
    "context-length",
    "gpu-memory-utilization",
    "mem-fraction-static",
    "max-num-batched-tokens",
    "max-num-seqs",
)
"""What a memory rule may advise that changes nothing of the answers but how long and how many they are."""


def mend(options: Options, finding: Finding) -> bool:
    """Write what a finding asks for; False where there is no way out, or where the caller has ruled it out."""
    way = _WAYS.get(finding.rule)
    return way is not None and way(options, finding)


def _extra_buffer(options: Options, _finding: Finding) -> bool:
    if "disable-radix-cache" in options.values:
        return False
    name = "mamba-radix-cache-strategy"
    return options.set(name if options.has(name) else "mamba-scheduler-strategy", "extra_buffer")


def _no_radix_cache(options: Options, _finding: Finding) -> bool:
    return options.prefixes is not True and options.set("disable-radix-cache")


def _spec_v2(options: Options, _finding: Finding) -> bool:
    if "SGLANG_ENABLE_SPEC_V2" in options.env:
        return False
    options.env["SGLANG_ENABLE_SPEC_V2"] = "1"
    return True


def _eagle(options: Options, _finding: Finding) -> bool:
    return options.set("speculative-algorithm", "EAGLE")


def _attention_backend(options: Options, _finding: Finding) -> bool:
    """fa3 where the card has it; triton runs on every one."""
    known = hardware.identify(options.gpu) if options.gpu is not None else None
    fast = known is not None and known.facts.get("flash-attention-3") is True
    return "attention-backend" not in options.values and options.set("attention-backend", "fa3" if fast else "triton")


def _no_prefix_caching(options: Options, _finding: Finding) -> bool:
    return options.prefixes is not True and options.set("no-enable-prefix-caching")


def _keep_block(options: Options, finding: Finding) -> bool:
    """Keep what the caller wants to keep, where the release can; otherwise no prefix is kept at all."""
    known = options.catalog()
    keys = known.keys("speculative-config", known.nearest(options.release))
    if options.prefixes is not True:
        return _no_prefix_caching(options, finding)
    if keys is None or keys.get("disable_eagle_block_drop") is None or "disable_eagle_block_drop" in options.speculation:
        return False
    options.speculation["disable_eagle_block_drop"] = True
    return True


def _as_advised(options: Options, finding: Finding) -> bool:
    """The options that the advice begins with: only sizes, and none that the caller has set."""
    told: list[tuple[str, str]] = []
    rest = finding.advice
    while (match := _WORDS.match(rest)) is not None:
        told.append((match[1], match[2]))
        rest = rest[match.end() :].lstrip()
    if not told or any(option not in _MEASURES or option in options.values for option, _ in told):
        return False
    for option, value in told:
        options.set(option, value)
    return True


def _setting(option: str, value: str) -> Callable[[Options, Finding], bool]:
    """Write an option that is not there yet."""

    def way(options: Options, _finding: Finding) -> bool:
        return option not in options.values and options.set(option, value)

    return way


_WAYS: dict[str, Callable[[Options, Finding], bool]] = {
    "sglang/context-above-kv-cache": _as_advised,
    "sglang/deepseek-v4-wants-eagle": _eagle,
    "sglang/glm4-moe-loses-overlap": _extra_buffer,
    "sglang/hybrid-spec-drops-radix-cache": _extra_buffer,
    "sglang/hybrid-spec-needs-extra-buffer": _extra_buffer,
    "sglang/llama4-needs-attention-backend": _attention_backend,
    "sglang/memory-after-pools": _as_advised,
    "sglang/memory-does-not-start": _as_advised,
    "sglang/nemotron-h-spec-drops-radix-cache": _no_radix_cache,
    "sglang/nemotron-h-spec-needs-extra-buffer": _extra_buffer,
    "sglang/nemotron-h-spec-needs-radix-off": _no_radix_cache,
    "sglang/spec-v2-not-set": _spec_v2,
    "vllm/cve-2026-22778": _setting("limit-mm-per-prompt", '{"video":0}'),
    "vllm/deepseek-v32-tokenizer-mode": _setting("tokenizer-mode", "deepseek_v32"),
    "vllm/dflash-takes-every-slot": _setting("max-num-seqs", "256"),
    "vllm/hybrid-mtp-drops-cached-block": _keep_block,
    "vllm/hybrid-mtp-prefix-caching": _no_prefix_caching,
    "vllm/max-model-len-above-kv-cache": _as_advised,
    "vllm/memory-does-not-start": _as_advised,
}
