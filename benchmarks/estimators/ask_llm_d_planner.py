"""Asks llm-d-planner, in an environment that has it: questions on stdin, answers on stdout, both lists in JSON.

Its capacity planner is what llm-d-benchmark validates deployments with (llmdbenchmark/utilities/capacity_validator.py): a
deployment fails where the memory for the KV cache is below that of one request. It reads config.json through transformers, here
from a folder, and the headers of a checkpoint through huggingface_hub: here they are the question's.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from importlib.metadata import version
from typing import Any

from planner import capacity_planner

GIB = 2**30


def counted(header: dict[str, Any]) -> dict[str, int]:
    """Elements by their type, as huggingface_hub counts them of the headers."""
    counts: Counter[str] = Counter()
    for tensor in header.values():
        counts[tensor["dtype"]] += tensor["shape"][0]
    return dict(counts)


def asked(question: dict[str, Any], folder: str) -> dict[str, Any]:
    if question["engine"] != "vllm":
        return {"missing": "it has no arithmetic of SGLang"}
    model = os.path.join(folder, question["model"].replace("/", "--"))
    os.makedirs(model, exist_ok=True)
    with open(os.path.join(model, "config.json"), "w") as file:
        json.dump(question["config"], file)
    capacity_planner.model_params_by_dtype = lambda *_: counted(question["header"])
    at = {"gpu_util": question["fraction"], "tp": question["tensor"], "max_model_len": question["max_model_len"]}
    try:
        read = capacity_planner.get_model_config_from_hf(model)
        start = time.perf_counter()
        weights = capacity_planner.per_gpu_model_memory_required(model, read, question["tensor"])
        cache = capacity_planner.allocatable_kv_cache_memory(model, read, question["gib"], **at)
        request = capacity_planner.kv_cache_req(model, read, question["max_model_len"])
        taken = time.perf_counter() - start
    except Exception as error:  # an answer that it does not give is one of this benchmark's results
        return {"missing": f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"}
    ranks = question["tensor"]
    answer = {"weights": weights * GIB, "cache": cache / ranks * GIB, "request": request / ranks * GIB, "seconds": taken}
    return answer | {"concurrency": cache / request, "verdict": "fits" if cache >= request else "refused"}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        questions = json.load(sys.stdin)
        for question in questions[:1]:
            asked(question, folder)  # what the first one loads is not a plan's time
        answers = [asked(question, folder) for question in questions]
    print(json.dumps({"version": version("llm-d-planner"), "answers": answers}))


if __name__ == "__main__":
    main()
