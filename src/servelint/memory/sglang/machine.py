"""What a GPU has free when SGLang begins to load, and what it needs beside weights and pools.

SGLang does not profile: what follows is physics where the source tells it, and fitted where it does not. Every fitted constant
is named so, with the logs that it was fitted on; none of them decides the size of the pool but the first two.
"""

from __future__ import annotations

from servelint.memory.plan import GIB, Interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.hardware import Gpu
    from servelint.models.architecture import Architecture

DRIVER_GIB = 0.5
"""What nvidia-smi counts and CUDA cannot give: 79.65 to 79.18 on an H100, 31.84 to 31.36 on an RTX 5090, 44.99 to 44.53 on an
L40S.
AMD's driver reports what can be given."""

CONTEXT_GIB = Interval(0.5, 0.7, 0.9)
"""FITTED. The CUDA context, libraries and one process group, on `Load weight begin. avail mem` of single GPUs: H100 78.43 and
78.48, RTX 5090 30.68, L40S 44.02, B200 177.57, MI355X 287.26, A100-80GB 78.81."""

LINKED_GIB = Interval(0.3, 1.1, 2.6)
"""FITTED. Communicators of several GPUs with NVLink or Infinity Fabric: H100 77.33 to 77.75 with 8 GPUs, H200 137.29 and 137.9
with 8 and 138.09 with 16, B200 175.34 with 4."""

PCIE_GIB = Interval(0.0, 0.15, 0.6)
"""FITTED. The same without: RTX 4090 22.93 with 2 GPUs, RTX PRO 4500 30.83 with 4."""

AMD_GIB = Interval(2.0, 3.6, 4.8)
"""FITTED. The same with 8 GPUs of AMD: MI300X 188.32 free, MI355X 283.62."""

SHARED_GIB = Interval(7.7, 9.8, 12.2)
"""FITTED. What the host's system and other processes hold of memory that GPU and host share, on twelve boots of GB10 machines
of 121.69 GiB: 115.84, 114.02, 113.93, 112.26, 112.25, 112.24, 111.97, 111.47, 109.98, 109.83, 108.11 GiB free, and one of 16.66
beside another server, which no plan can know."""

_LINKED = ("h100", "h200", "h800", "h20", "b200", "b300", "gb200", "gb300", "a100", "a800", "gh200", "v100")


def total_gib(gpu: Gpu) -> float | None:
    """The memory of one GPU as nvidia-smi (or AMD's tool) prints it; None if it is not known."""
    found = gpu.facts.get("memory-gib")
    return float(found) if isinstance(found, (int, float)) else None


def usable_gib(gpu: Gpu) -> float | None:
    """What CUDA can give of it."""
    total = total_gib(gpu)
    if total is None or gpu.facts.get("unified") or gpu.facts.get("vendor") != "nvidia" or "slice" in gpu.facts:
        return total  # of a MIG slice what is told is what it can give
    return total - DRIVER_GIB


def free_gib(gpu: Gpu, gpus: int) -> Interval | None:
    """Free memory of one GPU of a launch on so many, before weights are loaded: pre_model_load_memory, the least of all
    ranks."""
    usable = usable_gib(gpu)
    if usable is None:
        return None
    if gpu.facts.get("unified"):
        return Interval.exact(usable) - SHARED_GIB
    spread = gpu.facts.get("spread-gib")
    free = Interval(usable, usable, usable + (spread if isinstance(spread, (int, float)) else 0.0)) - CONTEXT_GIB
    if gpus < 2:
        return free
    if gpu.facts.get("vendor") == "amd":
        return free - AMD_GIB
    name = str(gpu.facts.get("name", gpu.name))
    linked = any(name == one or name.startswith(one + "-") for one in _LINKED)
    return free - (LINKED_GIB if linked else PCIE_GIB)


def forward_bytes(model: Architecture, ranks: int) -> int:
    """Bytes that one token of a prefill holds while a layer runs, in 16 bits: six copies as wide as the model, and the gate, up
    and product of what is fed forward, of all experts that the token takes; of linear attention its projections."""
    wide = model.dense // ranks
    rows = 0
    if model.experts is not None:
        fed = model.experts.per_token * model.experts.intermediate + model.experts.shared
        wide = max(wide, fed // ranks)
        rows = 2 * model.experts.per_token * model.hidden
    for state in model.states:
        inner = state.value_heads * state.value_dim // ranks
        wide = max(wide, 2 * inner)
    return 12 * model.hidden + 6 * wide + rows


PREFILL_GRAPHS = Interval(1.4, 2.1, 2.7)
"""FITTED. What capturing the prefill takes, in times of what its largest chunk holds at once (forward_bytes): 2.84 GiB of
Qwen3-32B with 8,192 tokens (1.7), 1.12 of Gemma-4-26B-A4B with 4,096 (2.3), 3.85 of a Qwen3.5-9B with 8,192 (2.6)."""

ACTIVATIONS = Interval(0.6, 1.0, 1.5)
"""What a chunk holds where it is not captured, in the same unit."""

A_BATCH_MIB = Interval(0.3, 1.5, 3.0)
"""What a captured request of a batch takes; SGLang's own estimate is 2 MiB (srt/arg_groups/memory_hook.py). Logs have 0.04 and
0.13 GiB for batches up to 32, 0.13 up to 256, 0.73 up to 32 of a Nemotron-H."""


def prefill_gib(model: Architecture, ranks: int, tokens: int, captured: bool | None) -> Interval:
    """What prefilling takes; captured None: that is not known."""
    unit = tokens * forward_bytes(model, ranks) / GIB
    if captured is None:
        return Interval(ACTIVATIONS.low * unit, PREFILL_GRAPHS.mid * unit, PREFILL_GRAPHS.high * unit)
    return (PREFILL_GRAPHS if captured else ACTIVATIONS).scaled(unit)


def decode_gib(batch: int, width: int) -> Interval:
    """What capturing decode takes; width: tokens of a request that a step verifies."""
    return (A_BATCH_MIB.scaled(batch * max(1.0, width / 2) / 1024)) + Interval(0.0, 0.05, 0.4)


def logits_gib(model: Architecture, ranks: int, rows: int) -> Interval:
    """Logits of a batch in fp32 with the copies that sampling makes of them."""
    once = rows * model.vocab * 4 / GIB
    return Interval(once / ranks, 2 * once, 3 * once)
