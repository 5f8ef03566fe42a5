"""Findings as the text report prints them: the first bad example of rules of every kind.

python -m tests.report.golden      writes golden.txt anew; read the difference like a page of a manual
"""

from __future__ import annotations

from pathlib import Path

from servelint.core.settings import Settings
from servelint.judge.judging import judge
from servelint.readers import read
from servelint.report.formats.text import Painter, finding_text
from servelint.rule_examples import example_text, unmarked
from tests.book import as_written

FILE = Path(__file__).with_name("golden.txt")
RULES = (
    "catalog/abbreviated-option", "catalog/deprecated-option", "catalog/exclusive-options", "catalog/invalid-choice",
    "catalog/invalid-json-value", "catalog/invalid-value", "catalog/literal-quotes", "catalog/malformed-json",
    "catalog/misspelt-value", "catalog/missing-value", "catalog/option-not-yet", "catalog/option-of-other-engine",
    "catalog/removed-env", "catalog/removed-option", "catalog/repeated-option", "catalog/unexpected-argument",
    "catalog/unknown-env", "catalog/unknown-json-key", "catalog/unknown-option", "catalog/unreadable-env-value",
    "container/api-key-in-plain-text", "container/dropped-words", "container/gpu-request", "container/gpus-below-ranks",
    "container/no-gpu", "container/node-options-differ", "container/placeholder", "container/port-not-served",
    "container/small-shared-memory", "container/unpinned-image", "llamacpp/quantized-v-cache-without-flash-attention",
    "lmdeploy/heads-not-divided", "sglang/dflash-needs-draft", "sglang/base-gpu-id-negative", "sglang/memory-does-not-start",
    "tgi/total-above-batch-total", "trtllm/memory-fraction-lost", "vllm/cve-2025-48887", "vllm/heads-not-divisible",
    "vllm/hybrid-mtp-prefix-caching", "vllm/max-model-len-above-kv-cache",
)  # fmt: skip


def printed() -> str:
    """Return the first bad example of each rule in RULES as the text report prints it, a blank line between."""
    book = {rule["id"]: rule for rule in as_written()}
    shown: list[str] = []
    for name in RULES:
        example = book[name]["examples"]["bad"][0]
        source, _ = unmarked(*example_text(example))
        settings = Settings(profile="audit", gpu=example.get("gpu"), gpu_count=example.get("gpus"))
        launches = read(source).launches
        if "version" in example and launches:
            settings.engine_versions = {launches[0].engine: str(example["version"])}
        last = name.partition("/")[2]
        found = [one for launch in launches for one in judge(launch, settings) if one.rule.partition("/")[2] == last]
        shown.append(finding_text(found[0], Painter(False)))
    return "\n\n".join(shown) + "\n"


if __name__ == "__main__":
    FILE.write_text(printed(), encoding="utf-8")
