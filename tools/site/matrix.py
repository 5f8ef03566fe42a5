"""The matrix: which speculative methods, KV cache formats, attention backends and features go together, by release.

Each pair is judged as a launch of its own. What a pair has and neither half has alone is what the cell shows.
"""

from __future__ import annotations

import html
import json
import shlex
from itertools import combinations

from bars import engine_name, releases_of, slug
from sample import Sample

from servelint import check_command

_RELEASES = 16
"""Newest releases of an engine that the matrix shows."""

FEATURES: dict[str, tuple[str, dict[str, dict[str, str]]]] = {
    "vllm": (
        "Qwen/Qwen3-8B",
        {
            "Speculative decoding": {
                "ngram": '--speculative-config \'{"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":4}\'',
                "EAGLE-3": '--speculative-config \'{"method":"eagle3","model":"org/draft","num_speculative_tokens":3}\'',
                "MTP": '--speculative-config \'{"method":"mtp","num_speculative_tokens":2}\'',
                "suffix": '--speculative-config \'{"method":"suffix","num_speculative_tokens":4}\'',
            },
            "KV cache": {
                "fp8": "--kv-cache-dtype fp8",
                "fp8_e5m2": "--kv-cache-dtype fp8_e5m2",
                "nvfp4": "--kv-cache-dtype nvfp4",
                "turboquant_k8v4": "--kv-cache-dtype turboquant_k8v4",
            },
            "Attention": {
                "FLASH_ATTN": "--attention-backend FLASH_ATTN",
                "FLASHINFER": "--attention-backend FLASHINFER",
                "TRITON_ATTN": "--attention-backend TRITON_ATTN",
                "FLEX_ATTENTION": "--attention-backend FLEX_ATTENTION",
            },
            "Feature": {
                "prefix caching": "--enable-prefix-caching",
                "pipeline parallel": "--pipeline-parallel-size 2",
                "data parallel": "--data-parallel-size 2",
                "LoRA": "--enable-lora",
                "async scheduling": "--async-scheduling",
                "context parallel": "--decode-context-parallel-size 2 --tensor-parallel-size 2",
            },
        },
    ),
    "sglang": (
        "--model-path Qwen/Qwen3-8B",
        {
            "Speculative decoding": {
                "NGRAM": "--speculative-algorithm NGRAM",
                "EAGLE3": "--speculative-algorithm EAGLE3 --speculative-draft-model-path org/draft --speculative-num-steps 3 "
                "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
                "NEXTN": "--speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 "
                "--speculative-num-draft-tokens 4",
                "STANDALONE": "--speculative-algorithm STANDALONE --speculative-draft-model-path org/draft "
                "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
            },
            "KV cache": {
                "fp8_e4m3": "--kv-cache-dtype fp8_e4m3",
                "fp8_e5m2": "--kv-cache-dtype fp8_e5m2",
                "fp4_e2m1": "--kv-cache-dtype fp4_e2m1",
            },
            "Attention": {
                "fa3": "--attention-backend fa3",
                "flashinfer": "--attention-backend flashinfer",
                "triton": "--attention-backend triton",
                "trtllm_mha": "--attention-backend trtllm_mha",
            },
            "Feature": {
                "no radix cache": "--disable-radix-cache",
                "DP attention": "--enable-dp-attention --dp-size 2 --tp-size 2",
                "pipeline parallel": "--pp-size 2",
                "LoRA": "--enable-lora",
                "hierarchical cache": "--enable-hierarchical-cache",
                "overlap off": "--disable-overlap-schedule",
                "deterministic": "--enable-deterministic-inference",
            },
        },
    ),
}
MODELS = {
    "MTP": "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "context parallel": "deepseek-ai/DeepSeek-V2-Lite",
    "NEXTN": "--model-path deepseek-ai/DeepSeek-V3.2-Exp",
}
"""The model of a launch with a method that only some models have."""
_RANK = {"error": 3, "warning": 2, "info": 1}


def _found(engine: str, release: str, words: str) -> dict[str, str]:
    """Rule -> severity for a launch."""
    found: dict[str, str] = {}
    for one in check_command(engine, shlex.split(words), version=release):
        if _RANK.get(one.severity, 0) > _RANK.get(found.get(one.rule, ""), 0):
            found[one.rule] = one.severity
    return found


def cells(engine: str, sample: Sample) -> dict[str, dict[str, list[list[str]]]]:
    """Release -> pair of features -> rules that only the pair has, with severities; "absent" where a half is not there.

    The newest release and those of the sample.
    """
    model, groups = FEATURES[engine]
    every = [(group, name, words) for group, some in groups.items() for name, words in some.items()]
    found: dict[str, dict[str, list[list[str]]]] = {}
    newest = releases_of(engine)[-_RELEASES:]
    for release in [one for one in newest if one == newest[-1] or sample.has(one)]:
        alone = {
            (used, name): _found(engine, release, f"{used} {words}")
            for used in (model, *[MODELS[name] for _, name, _ in every if name in MODELS])
            for _, name, words in every
        }
        row: dict[str, list[list[str]]] = {}
        for (group, left, one), (other_group, right, two) in combinations(every, 2):
            if group == other_group and group != "Feature":
                continue
            used = MODELS.get(left) or MODELS.get(right) or model
            absent = [name for name in (left, right) if "error" in alone[used, name].values()]
            if absent:
                row[f"{left}|{right}"] = [["absent", "absent"]]
                continue
            both = _found(engine, release, f"{used} {one} {two}")
            new = [
                [rule, severity] for rule, severity in both.items() if rule not in {**alone[used, left], **alone[used, right]}
            ]
            if new:
                row[f"{left}|{right}"] = sorted(new, key=lambda pair: (-_RANK.get(pair[1], 0), pair[0]))
        found[release] = row
    return found


_PAGE = """\
---
hide: [navigation, toc]
---

# What works together

A letter links to a rule that servelint reports for a launch with both features and for neither alone: E is an error, W a
warning, I a note. A dash means that the release lacks one of the two, or refuses it by itself. An empty cell means that no
problem is known. The launches serve a dense model on one node; MTP, NEXTN and context parallelism use a model that supports
them.

"""


def write(sample: Sample) -> None:
    """Write the page."""
    docs = sample.docs
    (docs / "matrix").mkdir()
    lines = [_PAGE]
    data = {}
    for engine, (_, groups) in FEATURES.items():
        data[slug(engine)] = {
            "name": engine_name(engine),
            "groups": {group: list(some) for group, some in groups.items()},
            "cells": cells(engine, sample),
        }
    lines.append('<form class="filters" id="matrix-form"><label>Engine <select name="engine">')
    lines += [f'<option value="{key}">{html.escape(one["name"])}</option>' for key, one in data.items()]
    lines.append(
        '</select></label> <label>Version <select name="release"></select></label></form><div id="matrix" class="matrix"></div>'
    )
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    lines.append(f'<script type="application/json" id="data-matrix">{text}</script>')
    (docs / "matrix" / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
