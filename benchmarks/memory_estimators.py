"""servelint's memory plans beside other public estimators, on the same published starts.

    python benchmarks/memory_estimators.py ROWS.jsonl [--environments FOLDER] [--rows]

ROWS.jsonl holds a start a line: {"id", "engine", "version", "gpu", "gpu_count", "argv", "env", "complete", "measured":
{"weights_gib", "kv_gib", "kv_tokens", "max_concurrency", "outcome": ok|refused|oom}}; GiB are 2**30 bytes on one GPU; rows that
are not complete are left out. Each estimator has an environment of its own, FOLDER/NAME (default: ./venv); one that is
not there is left out:

    python -m venv venv/hf-mem && venv/hf-mem/bin/pip install hf-mem
    python -m venv venv/aiconfigurator && venv/aiconfigurator/bin/pip install aiconfigurator-core
    python -m venv venv/vramscout && venv/vramscout/bin/pip install vramscout
    python -m venv venv/llm-d-planner && venv/llm-d-planner/bin/pip install 'llm-d-planner[estimation]'

No network is used. What an estimator would have fetched of a model is handed to it (estimators/checkpoint.py says from where),
and what it cannot read of the engine's settings is told it as the engine takes them: the memory fraction, the batch, the
context, the dtype of the KV cache, of a GPU that it does not list the memory. A number that an estimator does not give is not
made up for it, but two are derived: hf-mem's weights and cache are divided by the ranks of tensor parallelism, and for
aiconfigurator a launch fits if the KV cache holds a request of the longest length (of SGLang, which starts with less: if there
is one). --rows prints each answer.
"""

from __future__ import annotations

import argparse
import glob
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import time
from typing import Any

from estimators import checkpoint

import servelint
from servelint.engines.config import configs
from servelint.memory.plan import GIB, MemoryPlan
from servelint.memory.vllm.layers import kv_dtype
from servelint.memory.vllm.settings import VllmSettings
from servelint.models import catalog

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {
    "hf-mem": "ask_hf_mem.py",
    "aiconfigurator": "ask_aiconfigurator.py",
    "vramscout": "ask_vramscout.py",
    "llm-d-planner": "ask_llm_d_planner.py",
}
LISTED = {
    "A100-80GB": "a100_sxm",
    "H100-80GB": "h100_sxm",
    "H200-141GB": "h200_sxm",
    "RTX PRO 6000 96GB": "rtx_pro_6000_server",
}
LIKE = {"A100-40GB": "a100_sxm", "H20": "h200_sxm", "RTX 5090": "rtx_pro_6000_server", "GB10": "rtx_pro_6000_server"}
"""GPUs that aiconfigurator lists, by their names in the rows, and of the others the one whose tables it is given, with the
memory that the GPU has; the RTX 3090 has nothing that is like it there."""


def written(argv: list[str], *names: str) -> str | None:
    """The value of an option as it stands in argv, None if it is not there."""
    return next((argv[index + 1] for index, word in enumerate(argv[:-1]) if word in names), None)


def question(row: dict[str, Any], plan: MemoryPlan, copies: str | None) -> dict[str, Any] | None:
    """What the other estimators are asked of a row; None where nobody knows the model."""
    model = catalog.lookup(plan.model) if plan.model is not None else None
    if model is None or plan.gpu_gib is None:
        return None
    argv, header = list(row["argv"]), checkpoint.header(model)
    config, name = checkpoint.config(model, copies)
    found: dict[str, Any] = {
        "model": plan.model,
        "engine": row["engine"],
        "config": config,
        "published": name,
        "header": header,
        "checkpoint": sum(_SIZES[one["dtype"]] * one["shape"][0] for one in header.values()),
        "parameters": checkpoint.parameters(model),
        "alike": len(set(model.mixers)) == 1,
        "states": bool(model.states),
        "latent": any(layer.mla is not None for layer in model.attention),
        "max_model_len": plan.max_model_len or model.context,
        "system": LISTED.get(row["gpu"]) or LIKE.get(row["gpu"]),
        "capacity": None if row["gpu"] in LISTED else int(plan.gpu_gib * GIB),
        "gib": plan.gpu_gib,
        "decode": int(written(argv, "--decode-context-parallel-size", "-dcp") or 1),
        "drafts": any(word.startswith("--spec") for word in argv),
        "expert_parallel": False,
        "nextn": 0,
    }
    if row["engine"] == "vllm":
        launch = servelint.find_launches(shlex.join(argv), filename="serve.sh")[0]
        launch.gpu, launch.gpu_count = row["gpu"], row["gpu_count"] or 1
        (read,) = configs(launch, [plan.release or ""])
        settings = VllmSettings(read, model)
        cached = kv_dtype(settings, model)
        found |= {"batched": settings.batched, "sequences": settings.sequences, "fraction": settings.fraction}
        found |= {"tensor": settings.tensor, "expert_parallel": settings.expert_parallel}
        found |= {"nextn": settings.drafts if settings.method == "mtp" else 0}
    else:
        cached = written(argv, "--kv-cache-dtype") or "auto"
        cached = "bfloat16" if cached == "auto" else cached
        found |= {"batched": int(written(argv, "--chunked-prefill-size") or 8192), "sequences": 256}
        found |= {"fraction": float(written(argv, "--mem-fraction-static") or 0.88)}
        found |= {"tensor": int(written(argv, "--tp", "--tp-size") or 1)}
    kind = cached[:3]
    found |= {"kv_dtype": "fp8" if kind == "fp8" else cached, "kv_element": "fp8" if kind == "fp8" else cached}
    return found | {"kv_short": {"fp8": "fp8", "bfl": "bf16", "fp4": "fp4"}.get(kind, cached)}


_SIZES = {"U8": 1, "F8_E4M3": 1, "BF16": 2, "F32": 4}


def answered(name: str, script: str, environments: str, questions: list[dict[str, Any] | None]) -> tuple[str, list[Any]] | None:
    """Its release and an answer for each question, None where it is not installed."""
    python = os.path.join(environments, name, "bin", "python")
    if not os.path.exists(python):
        print(f"{name} is left out: there is no {python}", file=sys.stderr)
        return None
    asked = [one for one in questions if one is not None]
    done = subprocess.run(
        [python, os.path.join(HERE, "estimators", script)], input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{name} has ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    found = json.loads(done.stdout)
    answers = iter(found["answers"])
    return found["version"], [next(answers) if one is not None else {"missing": "the model is not known"} for one in questions]


def ours(row: dict[str, Any]) -> tuple[MemoryPlan, dict[str, Any]]:
    """servelint's plan, and the same as an answer."""
    start = time.perf_counter()
    plan = servelint.plan_memory(
        row["engine"],
        list(row["argv"]),
        version=row["version"],
        env=row.get("env") or {},
        gpu=row["gpu"],
        gpu_count=row["gpu_count"] or 1,
    )
    taken = time.perf_counter() - start
    answer: dict[str, Any] = {"verdict": plan.verdict, "seconds": taken}
    if plan.weights_gib is not None:
        answer["weights"] = plan.weights_gib * GIB
    if plan.kv_gib is not None:
        answer["cache"] = plan.kv_gib.mid * GIB
        if plan.max_concurrency:
            answer |= {"concurrency": plan.max_concurrency, "request": plan.kv_gib.mid * GIB / plan.max_concurrency}
    return plan, answer


def lacks(name: str, row: dict[str, Any], asked: dict[str, Any]) -> str | None:
    """What a row needs that an estimator has no notion of."""
    if asked["drafts"]:
        return "drafts"  # aiconfigurator's own words: what they take is not modelled; the others have no such option
    if name == "hf-mem":
        unknown = {"tensor parallelism": asked["tensor"] > 1, "latent attention": asked["latent"], "states": asked["states"]}
        return next((notion for notion, needed in unknown.items() if needed), None)
    if asked["decode"] > 1 and name in ("aiconfigurator", "llm-d-planner"):
        return "decode context parallelism"
    if name == "llm-d-planner":
        unknown = {"SGLang": row["engine"] != "vllm", "states": asked["states"], "fp8 caches": asked["kv_short"] == "fp8"}
        return next((notion for notion, needed in unknown.items() if needed), None)
    return "the GPU" if name == "aiconfigurator" and row["gpu"] not in LISTED else None


def error(got: float | None, want: float | None, ranks: int = 1) -> float | None:
    return abs(got / ranks - want) / want if got is not None and want else None


LEAST_GIB = 0.5
"""Below it what a log says of the KV cache is rounded too much to divide by it."""


def errors(row: dict[str, Any], answer: dict[str, Any], asked: dict[str, Any] | None, name: str) -> dict[str, float | None]:
    """Relative errors against what was measured.

    A request is one of --max-model-len tokens: the KV cache by how many of them the log says that it holds. Where it says none,
    by the tokens that it says, if all layers are alike; of others "tokens" has meant several things from release to release.
    """
    measured = row["measured"]
    cache, concurrency = (measured.get("kv_gib") or 0) * GIB, measured.get("max_concurrency")
    if not concurrency and asked is not None and asked["alike"]:
        concurrency = (measured.get("kv_tokens") or 0) / asked["max_model_len"]
    ranks = asked["tensor"] if asked is not None and name == "hf-mem" else 1
    return {
        "weights": error(answer.get("weights"), (measured.get("weights_gib") or 0) * GIB, ranks),
        "request": error(answer.get("request"), cache / concurrency if cache > LEAST_GIB * GIB and concurrency else 0, ranks),
        "cache": error(answer.get("cache"), cache),
        "concurrency": error(answer.get("concurrency"), concurrency),
    }


def spread(found: list[float]) -> str:
    """Median and p90 in per cent, and of how many."""
    if not found:
        return "—"
    found = sorted(found)
    return f"{statistics.median(found) * 100:.1f} / {found[math.ceil(0.9 * len(found)) - 1] * 100:.0f} ({len(found)})"


def line(title: str, name: str, scored: list[tuple[dict[str, Any], dict[str, Any], dict[str, float | None]]]) -> str:
    of_key = {key: [one[key] for _, _, one in scored] for key in ("weights", "request", "cache", "concurrency")}
    columns = [spread([value for value in values if value is not None]) for values in of_key.values()]
    said = [(row, answer["verdict"]) for row, answer, _ in scored if answer.get("verdict") in ("fits", "refused", "oom-risk")]
    right = sum((verdict == "fits") == (row["measured"]["outcome"] == "ok") for row, verdict in said)
    false = sum(verdict == "fits" and row["measured"]["outcome"] != "ok" for row, verdict in said)
    gives = name != "hf-mem"
    columns.append(f"{right} of {len(said)}" if gives else "—")
    columns.append(str(false) if gives else "—")
    silent = sum("missing" in answer for _, answer, _ in scored)
    columns.append(str(len(scored) - len(said) if gives else silent))
    times = [answer["seconds"] * 1000 for _, answer, _ in scored if "seconds" in answer]
    columns.append(f"{statistics.median(times):.1f}" if times else "—")
    return f"| {title} | {len(scored)} | " + " | ".join(columns) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="ROWS.jsonl")
    parser.add_argument("--environments", default="venv", metavar="FOLDER")
    parser.add_argument("--rows", action="store_true", help="print each answer, too")
    given = parser.parse_args()
    try:
        with open(given.file, encoding="utf-8") as file:
            rows = [row for row in map(json.loads, file) if row.get("complete")]
    except (OSError, ValueError) as error:
        parser.error(f"{given.file} cannot be read as JSON, a row a line: {error}")
    copies = glob.glob(f"{given.environments}/aiconfigurator/lib/python*/site-packages/aiconfigurator_core/model_configs")
    if not rows:
        parser.error(f"{given.file} has no complete row")
    ours(
        rows[0]
    )  # what the first plan of a process loads is not a plan's time; the others are asked their first one twice, too
    plans = [ours(row) for row in rows]
    questions = [question(row, plan, copies[0] if copies else None) for row, (plan, _) in zip(rows, plans, strict=True)]
    results: dict[str, tuple[str, list[dict[str, Any]]]] = {"servelint": (servelint.__version__, [own for _, own in plans])}
    for name, script in PEERS.items():
        found = answered(name, script, given.environments, questions)
        if found is not None:
            results[name] = found
    columns = "rows | weights | cache of a request | KV cache | requests at once | verdicts right | false fits | no answer | ms"
    print(f"| median / p90 error in % (rows) | {columns} |\n|" + "---|" * 10)
    for name, (release, answers) in results.items():
        scored = [
            (row, answer, errors(row, answer, asked, name)) for row, answer, asked in zip(rows, answers, questions, strict=True)
        ]
        print(line(f"{name} {release}, all rows", name, scored))
        if name != "servelint":
            able = [
                one for one, row, asked in zip(scored, rows, questions, strict=True) if asked and not lacks(name, row, asked)
            ]
            able = [one for one in able if "missing" not in one[1]]
            print(line(f"{name} {release}, rows whose notions it has", name, able))
            mine = [at for at, one in enumerate(scored) if any(one is other for other in able)]
            plan_of = results["servelint"][1]
            same = [(rows[at], plan_of[at], errors(rows[at], plan_of[at], questions[at], "servelint")) for at in mine]
            print(line(f"servelint {servelint.__version__}, the same rows", "servelint", same))
    if given.rows:
        for index, row in enumerate(rows):
            print(f"\n{row['id']}: {row['measured']}")
            for name, (_, answers) in results.items():
                told = {
                    key: round(value / GIB, 2) if key in ("weights", "cache") else value
                    for key, value in answers[index].items()
                }
                asked = questions[index]
                absent = lacks(name, row, asked) if asked is not None and name != "servelint" else None
                print(f"    {name:<15} {absent or '':<28} {told}")


if __name__ == "__main__":
    main()
