"""Whether a launch should speculate, how, and why: the gain, what it costs, what is broken on the release, and the command."""

from __future__ import annotations

from dataclasses import dataclass, replace

from servelint.advise import commands, costs
from servelint.advise.profiles import Load, Objective, UseCase, load_of, profile_of
from servelint.speculation.cases import ADVISED, Case, accepted_of
from servelint.speculation.curves import Crossover, curve
from servelint.speculation.gains import Gain, of_case
from servelint.speculation.names import BLOCK, EAGLE, MTP, method_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from servelint.advise.commands import Note, ServeCommand
    from servelint.advise.costs import Memory
    from servelint.speculation.calibration import Calibration

_PAYS = 1.05
"""A gain below this is not worth another moving part: two runs of one benchmark differ by as much."""
_SURE = 0.75
"""How likely it must be that it gains: what may as well lose is left off until somebody has measured it."""
_CANDIDATES = {MTP: (1, 2, 3), EAGLE: (1, 2, 3, 4, 5), BLOCK: (3, 7, 15)}
_ALMOST = 0.985
"""Fewer drafted tokens that come so near to the best gain are better: they cost less memory and less of the tail."""


@dataclass(frozen=True)
class Recommendation:
    """What to do with a launch.

    enable:        whether to speculate
    method:        by which kind of drafting ("mtp", "eagle"); None without
    num_speculative_tokens: tokens to draft each step; 0 without
    expected_gain: throughput with speculation over throughput without at that load; None where nobody can tell
    reason:        why, in sentences;  reasons: each of them
    profile:       "low-latency", "balanced" or "off"
    step_ratio:    how much longer a step takes: a token whose drafts are all refused takes as long; None if it is not known
    memory:        what it costs of the KV cache; None where no plan tells
    command:       the launch to start; None where no command is right, for what `broken` says
    broken:        why the release cannot speculate here
    crossover:     the gain over the number of requests, for the tokens that are recommended (or would be best)
    """

    engine: str
    release: str
    model: str
    gpu: str | None
    load: Load
    objective: Objective
    enable: bool
    method: str | None
    num_speculative_tokens: int
    expected_gain: Gain | None
    reasons: tuple[str, ...]
    step_ratio: float | None
    memory: Memory | None
    command: ServeCommand | None
    broken: tuple[Note, ...]
    crossover: Crossover | None

    @property
    def reason(self) -> str:
        return "; ".join(self.reasons)

    @property
    def profile(self) -> str:
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
    """Whether to speculate, how, and why.

    objective:   for throughput, speculation is off as well where it leaves room for too few of the requests
    engine:      one of ADVISED;  release: None for the newest that is known
    concurrency: requests at a time, in place of the use case's
    acceptance:  as for servelint.advise.gain, where it was measured
    method, draft: another method than the model's own layers, and its draft model;  tokens: how many to draft, None: the best
    Raises ValueError for an engine, a GPU, a release or a method that is not known.
    """
    load = load_of(use_case)
    load.concurrency = concurrency or load.concurrency
    kind = method_of(method) if method is not None else MTP
    if kind is None or kind not in _CANDIDATES:
        raise ValueError(f"{method!r} is no method that a command can be written for; use mtp, eagle3 or dflash")
    gpu = gpu_id if gpu_count == 1 or gpu_id is None else f"{gpu_count}x {gpu_id}"
    case = Case(engine, kind, model, gpu, tokens, load.concurrency, load.input, load.output, None, ".")
    counts = (tokens,) if tokens is not None else _CANDIDATES[kind]
    cases = [replace(case, tokens=count, accepted=accepted_of(acceptance, count)) for count in counts]
    gains = {one.drafted: found for one in cases if (found := of_case(one, measured)) is not None}
    best = _best(gains)
    chosen = next((one for one in cases if one.drafted == best), cases[0])
    asked = {"gpu": gpu_id, "gpu_count": gpu_count, "max_model_len": max_model_len, "max_num_seqs": max_num_seqs}
    off, _ = _command(engine, model, None, release, 0, None, asked)
    on, broken = _command(engine, model, method or "mtp", release, chosen.drafted, draft, asked)
    told = on or off
    gain = gains.get(best) if best is not None else None
    enable = on is not None and gain is not None and gain.mid >= _PAYS and gain.chance >= _SURE
    if chosen.architecture is None:
        enable, gain = False, None
    reasons = [*_of_gain(chosen, gain, load), *costs.why(chosen), *[note.text for note in broken]]
    memory = costs.memory(off, on, gpu_id, gpu_count) if on is not None and off is not None else None
    if enable and memory is not None and memory.spoils:
        enable = False
        reasons.append(memory.sentence)
    held = memory.held(load.concurrency, load.input + load.output) if memory is not None else None
    if held is not None and held[1] < held[0]:
        reasons.append(f"with it the KV cache holds {held[1]} of the {load.concurrency} requests at once, without it {held[0]}")
        if enable and gain is not None and objective is Objective.MAXIMIZE_THROUGHPUT and gain.mid * held[1] / held[0] < _PAYS:
            enable = False
            reasons.append("the requests that wait cost more throughput than drafting gains")
    return Recommendation(
        engine=engine,
        release=told.release if told is not None else release or "",
        model=model,
        gpu=gpu,
        load=load,
        objective=objective,
        enable=enable,
        method=kind if enable else None,
        num_speculative_tokens=chosen.drafted if enable else 0,
        expected_gain=gain,
        reasons=tuple(reasons),
        step_ratio=costs.step_ratio(chosen),
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
    engine: str, model: str, method: str | None, release: str | None, tokens: int, draft: str | None, asked: dict[str, Any]
) -> tuple[ServeCommand | None, tuple[Note, ...]]:
    try:
        made = commands.serve_command(
            engine, model, method, release=release, num_speculative_tokens=max(tokens, 1), draft=draft, **asked
        )
    except commands.Refused as refused:
        return None, refused.reasons
    return made, ()


def _of_gain(case: Case, gain: Gain | None, load: Load) -> list[str]:
    many = f"{load.concurrency} {'request' if load.concurrency == 1 else 'requests'} at a time"
    if case.architecture is None:
        known = f"{case.model} is not known here, nor a config.json of that name: nobody can tell what a step of it reads"
        return [known, "measure it on and off (vllm bench serve) and add the result: servelint advise calibrate"]
    if gain is None:
        told = f"neither arithmetic nor measurements tell what {case.drafted} drafted tokens gain with {many}"
        return [told, "measure it on and off (vllm bench serve) and add the result: servelint advise calibrate"]
    found = f"{case.drafted} drafted {'token gives' if case.drafted == 1 else 'tokens give'} {gain.mid:.2f} times the tokens"
    told = f"{found} a second with {many}, {gain.low:.2f} to {gain.high:.2f}"
    if gain.high < 1:
        return [f"{told}: it loses"]
    if gain.mid < _PAYS:
        return [f"{told}: nothing that a measurement would show"]
    if gain.chance < _SURE:
        return [told, "it may as well lose: leave it off until you have measured it on your own prompts"]
    if gain.low < 1:
        return [told, "it may lose: measure it on your own prompts, thinking on and off apart"]
    return [told]
