"""What is captured and computed after the pools certainly does not fit into what the memory fraction leaves of a GPU."""

from __future__ import annotations

from servelint.engines import ENGINES
from servelint.engines.config import Config
from servelint.judge.checks import planned


def check(config: Config) -> dict[str, str] | None:
    found = planned.plan(config)
    if found is None or found.verdict != "oom-risk" or found.gpu_gib is None:
        return None
    outside = [part for part in found.parts if not part.inside]
    need = sum(part.gib.mid for part in outside)
    largest = max(outside, key=lambda part: part.gib.mid, default=None)
    engine = ENGINES[config.launch.engine]
    option = engine.memory_fraction_option
    given = config.operand(option).value
    for share in engine.memory_fractions:
        if isinstance(given, (int, float)) and float(share) >= given:
            continue
        other = planned.changed(config, (option, share))
        if other is not None and other.verdict == "fits" and other.kv_gib is not None:
            remedy = f"--{option} {share} leaves room, and {planned.gib(other.kv_gib.mid)} GiB for the KV cache"
            break
    else:
        remedy = f"lower --{option}, or capture fewer and smaller batches"
    name = largest.name if largest is not None else "cuda graphs"
    return {"where": planned.where(found), "need": planned.gib(need), "largest": name, "remedy": remedy}
