"""Asks aiconfigurator-core, in an environment that has it: questions on stdin, answers on stdout, both lists in JSON.

Its native estimate only, in the two steps of `estimate_kv_cache`, so that the model can be asked for the cache of one request,
too: what that falls back to for a model that it does not know leaves the memory fraction out.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from importlib.metadata import version
from typing import Any

from aiconfigurator_core.sdk.memory import KVCacheEstimator


def asked(question: dict[str, Any], folder: str) -> dict[str, Any]:
    model = question["published"]
    if model is None:
        model = os.path.join(folder, question["model"].replace("/", "--"))
        os.makedirs(model, exist_ok=True)
        with open(os.path.join(model, "config.json"), "w") as file:
            json.dump(question["config"], file)
    sharded = "moe_ep_size" if question["expert_parallel"] else "moe_tp_size"
    answer: dict[str, Any] = {}
    try:
        start = time.perf_counter()
        native = KVCacheEstimator.from_request(
            model,
            question["system"],
            question["engine"],
            "current",
            max_num_tokens=question["batched"],
            max_batch_size=question["sequences"],
            tp_size=question["tensor"],
            kvcache_quant_mode=question["kv_element"],
            nextn=question["nextn"],
            **{sharded: question["tensor"]},
        )
        one = native.breakdown["tokens_from_kv_bytes"].__self__.get_kvcache_bytes_per_sequence(question["max_model_len"])
        answer = {"weights": native.breakdown["weights_bytes"], "request": one, "verdict": "refused"}
        answer["seconds"] = time.perf_counter() - start
        found = native.estimate(
            is_of_free=False,
            fraction=question["fraction"],
            gpu_memory_capacity_bytes_override=question["capacity"],
        )
        cache = found["total_kv_size_bytes"]
        answer |= {"cache": cache, "concurrency": cache / one, "seconds": time.perf_counter() - start}
        answer["verdict"] = "fits" if question["engine"] == "sglang" or cache >= one else "refused"
    except Exception as error:  # an answer that it does not give is one of this benchmark's results
        text = str(error).splitlines()[0]
        if not text.startswith("no KV budget"):
            return {"missing": f"{type(error).__name__}: {text[:160]}"}
    return answer


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        questions = json.load(sys.stdin)
        for question in questions[:1]:
            asked(question, folder)  # what the first one loads is not a plan's time
        answers = [asked(question, folder) for question in questions]
    print(json.dumps({"version": version("aiconfigurator-core"), "answers": answers}))


if __name__ == "__main__":
    main()
