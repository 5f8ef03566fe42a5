"""What speculation costs: longer steps, and memory that the KV cache had."""

from __future__ import annotations

from dataclasses import dataclass

from servelint.engines.registry import ENGINES
from servelint.speculation.names import BLOCK
from servelint.speculation.step import steps, traffic_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.advise.commands import ServeCommand
    from servelint.memory.plan import MemoryPlan
    from servelint.speculation.cases import Case

_GB = 1e9


@dataclass(frozen=True)
class Memory:
    """off, on: the plans of the launch without and with speculation."""

    off: MemoryPlan
    on: MemoryPlan

    @property
    def spoils(self) -> bool:
        """Whether the launch starts only without."""
        return self.on.verdict in ("refused", "oom-risk") and self.off.verdict in ("fits", "tight")

    def held(self, requests: int, tokens: int) -> tuple[int, int] | None:
        """How many of some requests, of so many tokens each, the KV cache holds without and with speculation."""
        if not self.off.kv_tokens or not self.on.kv_tokens:
            return None
        off, on = (min(plan // tokens, requests) for plan in (self.off.kv_tokens, self.on.kv_tokens))
        return off, on

    @property
    def sentence(self) -> str:
        """What it costs, in a sentence."""
        off, on = self.off, self.on
        if self.spoils:
            return f"with it the launch does not start: {on.refusal or on.verdict}"
        if not off.kv_tokens or not on.kv_tokens:
            return ""
        return (
            f"the KV cache holds {on.kv_tokens:,} tokens with it and {off.kv_tokens:,} without"
            f" ({on.kv_tokens / off.kv_tokens - 1:+.0%})"
        )


def memory(off: ServeCommand, on: ServeCommand, gpu: str | None, count: int) -> Memory | None:
    """What the memory plans of both launches say; None where no GPU is named, or nothing is known."""
    if gpu is None or not ENGINES[off.engine].plans_memory:
        return None
    from servelint.api import plan_memory

    plans = [plan_memory(one.engine, list(one.argv), one.release, one.env, gpu, count) for one in (off, on)]
    return Memory(*plans) if all(plan.verdict != "unknown" for plan in plans) else None


def step_ratio(case: Case) -> float | None:
    """How much longer a step takes that drafts and verifies; None if the model is not known."""
    if case.architecture is None:
        return None
    found = steps(case, case.architecture, *case.gpus)
    return found.after / found.before


def why(case: Case) -> list[str]:
    """What the arithmetic says of a step, in sentences; none if the model is not known."""
    if case.architecture is None:
        return []
    facts = traffic_of(case, case.architecture)
    tokens = case.concurrency * (1 + case.drafted)
    before, after = facts.read(case.concurrency) / _GB, facts.read(tokens) / _GB
    passes = 1 if case.method == BLOCK else case.drafted
    drafts = passes * facts.drafting(case.concurrency) / _GB
    told = [
        f"a step reads {before:.1f} GB of weights, one that verifies {after:.1f} GB, and drafting reads {drafts:.1f} GB more"
    ]
    if facts.experts:
        told.append(
            f"it is a mixture: {case.concurrency} {'token is' if case.concurrency == 1 else 'tokens are'} sent to"
            f" {facts.touched(case.concurrency):.0f} of {facts.experts} experts, {tokens} to {facts.touched(tokens):.0f},"
            " so that verifying costs most where few requests run, and little where all experts are read anyway"
        )
    return told
