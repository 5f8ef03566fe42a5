"""How long a memory plan takes once everything is loaded, in milliseconds.

    python benchmarks/memory_plan.py [RUNS]

A dense model, a hybrid one and one with latent attention, under an old and the newest release. Told apart are the first plan of
a process, which loads the tables of models, GPUs and options, and the first of a launch, which weighs its model.
"""

from __future__ import annotations

import statistics
import sys
import time

import servelint

LAUNCHES = [
    ("vllm", ["Qwen/Qwen3-8B"]),
    ("vllm", ["openai/gpt-oss-120b", "--tensor-parallel-size", "2"]),
    ("vllm", ["nvidia/Qwen3.6-35B-A3B-NVFP4", "--speculative-config", '{"method": "mtp", "num_speculative_tokens": 2}']),
    ("vllm", ["zai-org/GLM-5.1", "--tensor-parallel-size", "8", "--kv-cache-dtype", "fp8"]),
    ("sglang", ["--model-path", "Qwen/Qwen3-8B"]),
]
RELEASES = {"vllm": ("0.19.1", "0.33.0"), "sglang": ("0.5.10", "0.5.23")}


def milliseconds(engine: str, argv: list[str], release: str) -> float:
    start = time.perf_counter()
    servelint.plan_memory(engine, argv, version=release, gpu="h100", gpu_count=8)
    return (time.perf_counter() - start) * 1000


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    engine, argv = LAUNCHES[0]
    print(f"first plan of the process: {milliseconds(engine, argv, RELEASES[engine][0]):.0f} ms")
    for engine, argv in LAUNCHES:
        for release in RELEASES[engine]:
            first = milliseconds(engine, argv, release)
            times = sorted(milliseconds(engine, argv, release) for _ in range(runs))
            name = f"{engine} {release} {next(word for word in argv if '/' in word)}"
            median = statistics.median(times)
            print(f"{name:<48} median {median:6.2f} ms   min {times[0]:6.2f}   max {times[-1]:6.2f}   first {first:6.2f}")


if __name__ == "__main__":
    main()
