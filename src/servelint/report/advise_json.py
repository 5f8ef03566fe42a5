"""The adviser's answer for programs."""

from __future__ import annotations

from servelint.advise.recommendation import Recommendation
from servelint.speculation.gains import Crossover, Gain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.speculation.gains import Measurement


def advice_data(found: Recommendation) -> dict[str, Any]:
    """All that the adviser says, as JSON has it."""
    load, command, memory = found.load, found.command, found.memory
    gain = found.expected_gain
    return {
        "engine": found.engine,
        "release": found.release,
        "model": found.model,
        "gpu": found.gpu,
        "load": {"concurrency": load.concurrency, "input": load.input, "output": load.output, "source": load.source},
        "objective": found.objective.value,
        "enable": found.enable,
        "method": found.method,
        "num_speculative_tokens": found.num_speculative_tokens,
        "profile": found.profile,
        "expected_gain": _gain(gain),
        "reasons": list(found.reasons),
        "step_ratio": found.step_ratio,
        "memory": None
        if memory is None
        else {
            "off": {"verdict": memory.off.verdict, "kv_tokens": memory.off.kv_tokens},
            "on": {"verdict": memory.on.verdict, "kv_tokens": memory.on.kv_tokens},
        },
        "broken": [{"message": note.text, "rule": note.rule, "evidence": list(note.evidence)} for note in found.broken],
        "command": None
        if command is None
        else {
            "command": command.command,
            "argv": list(command.argv),
            "env": command.env,
            "notes": [{"message": note.text, "rule": note.rule, "evidence": list(note.evidence)} for note in command.notes],
        },
        "crossover": crossover_data(found.crossover) if found.crossover is not None else None,
        "measurements": [_measurement(one) for one in gain.near] if gain is not None else [],
    }


def crossover_data(found: Crossover) -> dict[str, Any]:
    """A curve and where it is lost."""
    crossed = found.crossover_batch_size
    return {
        "spec_tokens": found.spec_tokens,
        "crossover_batch_size": list(crossed) if crossed is not None else None,
        "likely": found.likely,
        "dips": [list(dip) for dip in found.dips],
        "known_to": found.known_to,
        "points": [{"concurrency": batch, "gain": _gain(gain)} for batch, gain in found.points],
    }


def _gain(gain: Gain | None) -> dict[str, float] | None:
    return None if gain is None else {"low": round(gain.low, 4), "mid": round(gain.mid, 4), "high": round(gain.high, 4)}


def _measurement(one: Measurement) -> dict[str, Any]:
    case = one.case
    return {
        "engine": case.engine,
        "release": one.release,
        "model": case.model,
        "gpu": case.gpu,
        "method": one.method,
        "tokens": case.tokens,
        "concurrency": case.concurrency,
        "gain": round(one.gain, 4),
        "source": one.source,
    }
