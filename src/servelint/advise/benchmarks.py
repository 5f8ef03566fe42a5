"""Measurements with and without speculation from results that `vllm bench serve` has saved.

Its options --save-result and --append-result write them.
"""

from __future__ import annotations

import json
from typing import Any


class Unusable(ValueError):
    """A file gives no measurement. The message is one sentence."""


def results(text: str) -> list[dict[str, Any]]:
    """The results in a file: one object, a list of them, or one per line, as vllm-0.33.0 vllm/benchmarks/serve.py writes them.

    Raises:
        Unusable: the text is not JSON or holds no results.
    """
    try:
        data = json.loads(text)
    except ValueError:
        try:
            data = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise Unusable(f"not JSON: {error}") from None
    found = data if isinstance(data, list) else [data]
    for one in found:
        speed = one.get("output_throughput") if isinstance(one, dict) else None
        if not isinstance(speed, (int, float)) or not speed > 0 or not one.get("completed"):
            raise Unusable("no result of vllm bench serve: output_throughput and completed are not there, or 0")
    return found


def pairs(found: list[dict[str, Any]], engine: str, gpu: str, method: str, source: str) -> list[dict[str, object]]:
    """A measurement for each load with a result with and one without speculation, which spec_decode_* keys distinguish.

    Returns the fields of servelint.speculation.gains.Measurement. Raises Unusable if no two results belong together.
    """
    off = {_load(one): one for one in found if "spec_decode_acceptance_length" not in one}
    on = [one for one in found if "spec_decode_acceptance_length" in one]
    made: list[dict[str, object]] = []
    for one in on:
        load = _load(one)
        base = off.get(load)
        if base is None:
            continue
        model, concurrency, prompt, output = load
        accepted = one.get("spec_decode_per_position_acceptance_rates") or []
        made.append(
            {
                "engine": engine,
                "model": model,
                "gpu": gpu,
                "method": method,
                **({"tokens": len(accepted)} if accepted else {}),
                "concurrency": concurrency,
                "input": prompt,
                "output": output,
                "off": round(base["output_throughput"], 3),
                "on": round(one["output_throughput"], 3),
                "unit": "tok/s",
                "accepted": round(one["spec_decode_acceptance_length"], 4),
                "source": source,
            }
        )
    if not made:
        raise Unusable(
            f"{len(off)} without speculation and {len(on)} with it, and no two of the same model, concurrency and lengths"
        )
    return made


def _load(one: dict[str, Any]) -> tuple[str, int, int, int]:
    """Model, concurrency, and tokens of a prompt and an answer to two figures, because two runs never have quite the same."""
    completed = one["completed"]
    concurrency = one.get("max_concurrency") or one.get("max_concurrent_requests") or completed
    lengths = [_about(one.get(key, 0) / completed) for key in ("total_input_tokens", "total_output_tokens")]
    return str(one.get("model_id", "")), int(concurrency), lengths[0], lengths[1]


def _about(tokens: float) -> int:
    """A number rounded to two figures, at least 1.

    >>> _about(2047.6), _about(511.2), _about(7)
    (2000, 510, 7)
    """
    return max(int(float(f"{tokens:.2g}")), 1)
