"""Whether a launch should speculate, how, and why: the gain, its cost, what is broken on the release, and the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any

from servelint.advise import commands
from servelint.advise.commands import Note, ServeCommand
from servelint.core.data import load_data
from servelint.engines.registry import ENGINES
from servelint.memory.plan import MemoryPlan
from servelint.speculation.cases import ADVISED, BLOCK, EAGLE, MTP, Case, accepted_of, method_of
from servelint.speculation.gains import Calibration, Crossover, Gain, curve, gain_of
from servelint.speculation.roofline import steps, traffic_of

_GB = 1e9
_PAYS = 1.05
"""A smaller gain is not worth another moving part: two runs of one benchmark differ by as much."""
_SURE = 0.75
"""The least probability of a gain. What is less certain stays off until it is measured."""
_CANDIDATES = {MTP: (1, 2, 3), EAGLE: (1, 2, 3, 4, 5), BLOCK: (3, 7, 15)}
_ALMOST = 0.985
"""Fewer draft tokens that come this near to the best gain are better: they cost less memory and less of the tail."""


class UseCase(Enum):
    """Who is served."""

    SINGLE_USER = "single-user"
    CHAT = "chat"
    MULTI_USER = "multi-user"
    LONG_CONTEXT = "long-context"
    BATCH = "batch"


class Objective(Enum):
    """What counts: the time of one answer, or the tokens of all together."""

    MINIMIZE_LATENCY = "latency"
    MAXIMIZE_THROUGHPUT = "throughput"


@dataclass(slots=True)
class Load:
    """The load that stands for a use case.

    Attributes:
        concurrency: requests at a time.
        input: tokens of a prompt.
        output: tokens of an answer.
        says: what it is, for a reader.
        source: who measured it.
    """

    concurrency: int
    input: int
    output: int
    says: str
    source: str


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    data: dict[str, Any] = load_data("advise/data/profiles.json")
    return data


def load_of(use_case: UseCase) -> Load:
    """The load that stands for a use case.

    >>> load_of(UseCase.MULTI_USER).concurrency
    16
    """
    return Load(**_data()["use_cases"][use_case.value])


def profile_of(tokens: int) -> str:
    """The tuning profile for a number of draft tokens.

    >>> [profile_of(tokens) for tokens in (0, 1, 2, 3, 5)]
    ['off', 'balanced', 'balanced', 'low-latency', 'low-latency']
    """
    return "off" if tokens == 0 else "balanced" if tokens < _data()["profiles"]["low-latency"]["steps"] else "low-latency"


@dataclass(frozen=True)
class MemoryCost:
    """The memory plans of a launch without (`off`) and with (`on`) speculation."""

    off: MemoryPlan
    on: MemoryPlan

    @property
    def spoils(self) -> bool:
        """Whether the launch starts only without speculation."""
        return self.on.verdict in ("refused", "oom-risk") and self.off.verdict in ("fits", "tight")

    def held(self, requests: int, tokens: int) -> tuple[int, int] | None:
        """How many of some requests, each of some tokens, the KV cache holds without and with speculation, None if unknown."""
        if not self.off.kv_tokens or not self.on.kv_tokens:
            return None
        off, on = (min(plan // tokens, requests) for plan in (self.off.kv_tokens, self.on.kv_tokens))
        return off, on

    @property
    def sentence(self) -> str:
        """The cost in a sentence."""
        off, on = self.off, self.on
        if self.spoils:
            return f"the launch does not start with it: {on.refusal or on.verdict}"
        if not off.kv_tokens or not on.kv_tokens:
            return ""
        return (
            f"the KV cache holds {on.kv_tokens:,} tokens with it and {off.kv_tokens:,} without"
            f" ({on.kv_tokens / off.kv_tokens - 1:+.0%})"
        )


def memory_cost(off: ServeCommand, on: ServeCommand, gpu: str | None, count: int) -> MemoryCost | None:
    """The memory plans of the launches without and with speculation, None without a GPU or where one of them is unknown."""
    if gpu is None or not ENGINES[off.engine].plans_memory:
        return None
    from servelint.api import plan_memory

    plans = [plan_memory(one.engine, list(one.argv), one.release, one.env, gpu, count) for one in (off, on)]
    return MemoryCost(*plans) if all(plan.verdict != "unknown" for plan in plans) else None


def step_ratio(case: Case) -> float | None:
    """How many times longer a step takes that drafts and verifies, None if the model is not known."""
    if case.architecture is None:
        return None
    found = steps(case, case.architecture, *case.gpus)
    return found.after / found.before


def _step_reasons(case: Case) -> list[str]:
    """What the arithmetic says about a step, in sentences, none if the model is not known."""
    if case.architecture is None:
        return []
    facts = traffic_of(case, case.architecture)
    verified = 1 + case.drafted
    tokens = case.concurrency * verified
    before, after = facts.read(case.concurrency) / _GB, facts.read(case.concurrency, verified) / _GB
    passes = 1 if case.method == BLOCK else case.drafted
    drafts = passes * facts.drafting(case.concurrency) / _GB
    reasons = [
        f"a step reads {before:.1f} GB of weights, one that verifies {after:.1f} GB, and drafting reads {drafts:.1f} GB more"
    ]
    if facts.experts:
        reasons.append(
            f"it is a mixture: {case.concurrency} {'token is' if case.concurrency == 1 else 'tokens are'} sent to"
            f" {facts.touched(case.concurrency):.0f} of {facts.experts} experts, {tokens} to"
            f" {facts.touched(case.concurrency, verified):.0f},"
            " so verifying costs most with few requests, and little if all experts are read anyway"
        )
    return reasons


@dataclass(frozen=True)
class Recommendation:
    """What to do with a launch.

    Attributes:
        engine: "vllm", "sglang" or "llama.cpp".
        release: the release.
        model: the model's name or path.
        gpu: the GPU, with a number if there are several.
        load: the load.
        objective: what counts.
        enable: whether to speculate.
        verdict: "yes", "no", or "unknown" where neither arithmetic nor a measurement tells.
        method: the kind of drafting ("mtp", "eagle"), None without.
        num_speculative_tokens: tokens to draft per step, 0 without.
        expected_gain: throughput with speculation over throughput without at that load, None if it is not known.
        reasons: why, in sentences.
        step_ratio: how many times longer a step takes, and thus a token whose drafts are all refused. None if it is not known.
        memory: what it costs of the KV cache, None if no plan says.
        command: the launch to start, None if there is none, for the reasons in `broken`.
        broken: why the release cannot speculate.
        crossover: the gain over the number of requests, for the recommended (or best) number of tokens.
    """

    engine: str
    release: str
    model: str
    gpu: str | None
    load: Load
    objective: Objective
    enable: bool
    verdict: str
    method: str | None
    num_speculative_tokens: int
    expected_gain: Gain | None
    reasons: tuple[str, ...]
    step_ratio: float | None
    memory: MemoryCost | None
    command: ServeCommand | None
    broken: tuple[Note, ...]
    crossover: Crossover | None

    @property
    def reason(self) -> str:
        """All reasons in one text."""
        return "; ".join(self.reasons)

    @property
    def profile(self) -> str:
        """The tuning profile: "low-latency", "balanced" or "off"."""
        return profile_of(self.num_speculative_tokens)


def recommend(
    use_case: UseCase = UseCase.CHAT,
    objective: Objective = Objective.MINIMIZE_LATENCY,
    gpu_id: str | None = None,
    model: str = "Qwen/Qwen3.6-35B-A3B-FP8",
    engine: str = ADVISED[0],
    *,
    gpu_count: int = 1,
    release: str | None = None,
    concurrency: int | None = None,
    acceptance: Mapping[str, Any] | float | None = None,
    method: str | None = None,
    draft: str | None = None,
    tokens: int | None = None,
    max_model_len: int | None = None,
    max_num_seqs: int | None = None,
    measured: Calibration | None = None,
) -> Recommendation:
    """Decide whether to speculate, how, and why.

    Args:
        use_case: who is served.
        objective: what counts. For throughput, speculation is also off where it leaves room for too few of the requests.
        gpu_id: the GPU's name.
        model: the model's name or path.
        engine: "vllm", "sglang" or "llama.cpp".
        gpu_count: how many GPUs: all in tensor parallelism, or with some of the layers each (llama.cpp).
        release: the release, the newest known one by default.
        concurrency: requests at a time, in place of the use case's.
        acceptance: the measured acceptance, as for servelint.advise.gain.
        method: a method in place of the model's own layers.
        draft: the draft model of that method.
        tokens: tokens to draft per step, the best number by default.
        max_model_len: the longest request in tokens.
        max_num_seqs: the largest number of requests at once.
        measured: the measurements to correct by, the published ones by default.

    Raises:
        ValueError: an engine, a GPU, a release or a method is not known.
    """
    load = load_of(use_case)
    load.concurrency = concurrency or load.concurrency
    kind = method_of(method) if method is not None else MTP
    if kind is None or kind not in _CANDIDATES:
        raise ValueError(f"{method!r} is not a method that a command can be written for; use mtp, eagle3 or dflash")
    gpu = gpu_id if gpu_count == 1 or gpu_id is None else f"{gpu_count}x {gpu_id}"
    # GPUs that have some of the layers each work one after the other
    together = gpu if engine not in ENGINES or ENGINES[engine].tensor_parallel_option else gpu_id
    made_for = commands.release_of(engine, release)
    case = Case(engine, kind, model, together, tokens, load.concurrency, load.input, load.output, None, ".", release=made_for)
    counts = (tokens,) if tokens is not None else _CANDIDATES[kind]
    cases = [replace(case, tokens=count, accepted=accepted_of(acceptance, count)) for count in counts]
    gains = {one.drafted: found for one in cases if (found := gain_of(one, measured)) is not None}
    best = _best(gains)
    chosen = next((one for one in cases if one.drafted == best), cases[0])
    given = {"gpu": gpu_id, "gpu_count": gpu_count, "max_model_len": max_model_len, "max_num_seqs": max_num_seqs}
    off, refused = _command(engine, model, None, release, 0, None, given)
    on, broken = _command(engine, model, method or "mtp", release, chosen.drafted, draft, given)
    gain = gains.get(best) if best is not None else None
    enable = off is not None and on is not None and gain is not None and gain.mid >= _PAYS and gain.chance >= _SURE
    if chosen.architecture is None:
        enable, gain = False, None
    against = _blocked(off, on, broken, refused)
    memory = memory_cost(off, on, gpu_id, gpu_count) if on is not None and off is not None else None
    if memory is not None and memory.spoils:
        enable = False
        against.append(memory.sentence)
    notes: list[str] = []
    held = memory.held(load.concurrency, load.input + load.output) if memory is not None else None
    if held is not None and held[1] < held[0]:
        notes.append(f"with it the KV cache holds {held[1]} of the {load.concurrency} requests at once, without it {held[0]}")
        if enable and gain is not None and objective is Objective.MAXIMIZE_THROUGHPUT and gain.mid * held[1] / held[0] < _PAYS:
            enable = False
            against += ["waiting requests cost more throughput than drafting gains", *notes]
            notes = []
    known = chosen.architecture is not None and gain is not None
    reasons = [*against, *_of_gain(chosen, gain, load, possible=not against), *notes, *_step_reasons(chosen)]
    return Recommendation(
        engine=engine,
        release=made.release if (made := on or off) is not None else made_for,
        model=model,
        gpu=gpu,
        load=load,
        objective=objective,
        enable=enable,
        verdict="yes" if enable else "no" if against or known else "unknown",
        method=kind if enable else None,
        num_speculative_tokens=chosen.drafted if enable else 0,
        expected_gain=gain,
        reasons=tuple(reasons),
        step_ratio=step_ratio(chosen),
        memory=memory,
        command=on if enable else off,
        broken=tuple(broken),
        crossover=curve(chosen, measured) if chosen.architecture is not None else None,
    )


def _best(gains: dict[int, Gain]) -> int | None:
    """The fewest tokens that come near to the largest gain."""
    if not gains:
        return None
    most = max(gain.mid for gain in gains.values())
    return min(tokens for tokens, gain in gains.items() if gain.mid >= _ALMOST * most)


def _command(
    engine: str, model: str, method: str | None, release: str | None, tokens: int, draft: str | None, given: dict[str, Any]
) -> tuple[ServeCommand | None, tuple[Note, ...]]:
    try:
        made = commands.serve_command(
            engine, model, method, release=release, num_speculative_tokens=max(tokens, 1), draft=draft, **given
        )
    except commands.Refused as refused:
        return None, refused.reasons
    return made, ()


def _blocked(
    off: ServeCommand | None, on: ServeCommand | None, broken: tuple[Note, ...], refused: tuple[Note, ...]
) -> list[str]:
    """Why the launch cannot speculate, in sentences; none if it can."""
    if off is not None:
        return [note.text for note in broken] if on is None else []
    always = [note.text for note in refused]
    more = [note.text for note in broken if note.text not in always]
    return ["the launch does not start without drafts either", *always, *more]


def _of_gain(case: Case, gain: Gain | None, load: Load, *, possible: bool) -> list[str]:
    """What drafting gains, in sentences that lead to the verdict. possible: whether nothing else speaks against it."""
    many = f"{load.concurrency} {'request' if load.concurrency == 1 else 'requests'} at a time"
    if case.architecture is None or gain is None:
        drafted = f"{case.drafted} draft {'token gains' if case.drafted == 1 else 'tokens gain'}"
        why = f"neither the calculation nor a measurement shows what {drafted} with {many}"
        if case.architecture is None:
            why = f"servelint does not know {case.model}, and has no config.json of it: what a step reads is unknown"
        return [why, "measure it on and off (vllm bench serve) and add the result: servelint advise calibrate"]
    range_ = f"{gain.mid:.2f} times the tokens a second with {many}, {gain.low:.2f} to {gain.high:.2f}"
    drafted = f"{case.drafted} draft {'token' if case.drafted == 1 else 'tokens'}"
    if not possible:
        return [f"otherwise {drafted} would give {range_}"]
    verdict = f"{drafted} {'gives' if case.drafted == 1 else 'give'} {range_}"
    if gain.high < 1:
        return [f"it loses: {verdict}"]
    if gain.mid < _PAYS:
        return [f"the gain is too small to measure: {verdict}"]
    if gain.chance < _SURE:
        return [f"a loss is as likely as a gain: {verdict}", "leave it off until you have measured it with your own prompts"]
    if gain.low < 1:
        return [verdict, "it may lose: measure it with your own prompts, separately with thinking on and off"]
    return [verdict]
