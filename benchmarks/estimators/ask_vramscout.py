"""Asks VRAMScout, in an environment that has it: questions on stdin, answers on stdout, both lists in JSON.

VRAMScout reads a model through huggingface_hub. Here the two functions that it calls of it answer with what the question
holds: config.json, the size of the safetensors file, and how many parameters it has.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from vramscout import model, modern_core, modern_v06, modern_v07

NOT_CACHE = ("Model weights / rank", "CUDA / runtime", "Prefill scratch", "Safety reserve")


class Hub:
    """What it needs of huggingface_hub, for one question."""

    def __init__(self, question: dict[str, Any], folder: str) -> None:
        self.question = question
        self.path = os.path.join(folder, "config.json")
        with open(self.path, "w") as file:
            json.dump(question["config"], file)

    def downloaded(self, repo_id: str, filename: str, **_: Any) -> str:
        if repo_id != self.question["model"] or filename != "config.json":
            raise FileNotFoundError(filename)
        return self.path

    def model_info(self, *_: Any, **__: Any) -> SimpleNamespace:
        file = SimpleNamespace(rfilename="model.safetensors", size=self.question["checkpoint"])
        return SimpleNamespace(siblings=[file], safetensors=SimpleNamespace(total=self.question["parameters"]))


def asked(question: dict[str, Any], folder: str) -> dict[str, Any]:
    if question["engine"] != "vllm":
        return {"missing": "it has no arithmetic of SGLang"}
    hub = Hub(question, folder)
    for module in (model, modern_core, modern_v06):
        module.HfApi = lambda: hub
        module.hf_hub_download = hub.downloaded
    try:
        start = time.perf_counter()
        plan = modern_v07.plan_modern(
            question["model"],
            context=question["max_model_len"],
            kv_dtype=question["kv_short"],
            tp=question["tensor"],
            dcp=question["decode"],
            vram_gib=question["gib"],
            prefill_chunk=question["batched"],
            engine="vllm",
            gpu_memory_utilization=question["fraction"],
        )
        taken = time.perf_counter() - start
    except Exception as error:  # an answer that it does not give is one of this benchmark's results
        return {"missing": f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"}
    cache = sum(gib for name, gib in plan.parts_gib.items() if name not in NOT_CACHE)
    return {
        "weights": plan.parts_gib["Model weights / rank"] * 2**30,
        "request": cache * 2**30,
        "verdict": "fits" if plan.fits else "refused",
        "seconds": taken,
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        questions = json.load(sys.stdin)
        for question in questions[:1]:
            asked(question, folder)  # what the first one loads is not a plan's time
        answers = [asked(question, folder) for question in questions]
    print(json.dumps({"version": version("vramscout"), "answers": answers}))


if __name__ == "__main__":
    main()
