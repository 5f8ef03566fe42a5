"""The adviser's answer as a person reads it: on or off, why, a picture of the gain over requests, the command."""

from __future__ import annotations

from servelint.advise.recommendation import Recommendation
from servelint.engines import ENGINE_NAMES
from servelint.report.clean import clean
from servelint.speculation.gains import Crossover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.speculation.gains import Measurement

_WIDTH = 48


def advice_text(found: Recommendation) -> str:
    """Several lines, each with its end."""
    name = ENGINE_NAMES.get(found.engine, found.engine)
    where = f" on {found.gpu}" if found.gpu else ""
    lines = [f"{clean(found.model)}, {name} {found.release}{clean(where)}"]
    load = found.load
    lines.append(f"  load: {load.says}: {load.concurrency} at a time, {load.input:,} tokens in, {load.output:,} out")
    lines.append(f"  speculate: {'yes' if found.enable else 'no'}{_how(found)}")
    lines += [f"  {'why' if index == 0 else '   '}: {clean(text)}" for index, text in enumerate(found.reasons)]
    if found.step_ratio is not None and found.expected_gain is not None:
        lines.append(f"  tail: a token whose drafts are all refused takes {found.step_ratio:.2f} times as long as without them")
    if found.memory is not None and found.memory.sentence:
        lines.append(f"  memory: {clean(found.memory.sentence)}")
    if found.crossover is not None:
        lines += ["", *crossover_lines(found.crossover)]
    near = found.expected_gain.near if found.expected_gain is not None else []
    if near:
        lines += ["", "  measured nearby:"]
        lines += [f"    {_measured(one)}" for one in near]
    if found.command is not None:
        lines += ["", f"  {clean(found.command.command)}"]
        lines += [f"    {clean(note.text)}" for note in found.command.notes]
    return "".join([line.rstrip() + "\n" for line in lines])


def _how(found: Recommendation) -> str:
    if not found.enable:
        return ""
    tokens = found.num_speculative_tokens
    return f", {found.method}, {tokens} {'token' if tokens == 1 else 'tokens'} ({found.profile})"


def _measured(one: Measurement) -> str:
    case = one.case
    where = f"{clean(case.model or 'a model')}, {clean(case.gpu or 'a GPU')}"
    return f"{one.gain:.2f} with {case.drafted} tokens, {case.concurrency} at a time: {where} ({clean(one.source)})"


def crossover_lines(found: Crossover) -> list[str]:
    """The gain over requests: a line each, from the low to the high end of what is likely, the middle marked, a bar at 1."""
    told = [(batch, gain) for batch, gain in found.points if gain is not None]
    if not told:
        return []
    most = max([gain.high for _, gain in told] + [1.2])
    least = min([gain.low for _, gain in told] + [0.9])

    def cell(value: float) -> int:
        return round((value - least) / (most - least) * (_WIDTH - 1))

    lines = [
        f"  gain of {found.spec_tokens} drafted {'token' if found.spec_tokens == 1 else 'tokens'} over requests at a time:"
    ]
    for batch, gain in told:
        cells = [" "] * _WIDTH
        cells[cell(1)] = "|"
        for index in range(cell(gain.low), cell(gain.high) + 1):
            cells[index] = "─" if cells[index] == " " else "┼"
        cells[cell(gain.mid)] = "●"
        lines.append(f"  {batch:>5}  {''.join(cells)}  {gain.mid:.2f} ({gain.low:.2f} to {gain.high:.2f})")
    lines.append(f"  {_crossing(found)}")
    return lines


def _crossing(found: Crossover) -> str:
    crossed = found.crossover_batch_size
    if crossed is None:
        return f"nothing tells that it is lost with up to {found.known_to} requests; beyond them nobody can tell"
    may, sure = crossed
    surely = f", and surely is from {sure}" if sure is not None else ""
    likely = f", is likely lost from {found.likely}" if found.likely is not None else ""
    dips = "".join(f"; it dips between {first} and {last}" for first, last in found.dips if first != last)
    return f"the gain may be lost from {may} requests on{likely}{surely}{dips}"
