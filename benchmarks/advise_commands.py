"""Every command that the adviser gives, for all checkpoints, releases and methods: is it clean, and does the engine take it?

    python benchmarks/advise_commands.py make FOLDER       write FOLDER/cases/ENGINE-RELEASE.jsonl and FOLDER/configs
    python benchmarks/advise_commands.py compare FOLDER    hold FOLDER/answers/ENGINE-RELEASE.jsonl against them

`make` asks for a command for each model with layers or drafts of its own in each release, and for one of each architecture
without drafts, counts what it gets and what is refused, and judges each command once more as `servelint check` does. Of those
that differ in nothing but the size of the model one is written as a case: {"id", "argv", "env"}, argv being what follows `vllm
serve` or `python -m sglang.launch_server`. FOLDER/configs/NAME.json is the config.json that is known of each model.

Whoever can run the engines' own start-up (argument parsing and configuration) answers in a line a case: {"id", "ok", "error"},
with "harness_suspect" where it says more of the machinery than of the engine, and "stage": "config" where the arguments were
parsed all the same. `compare` lists what is not taken.
"""

from __future__ import annotations

import collections
import json
import os
import re
import sys
from typing import Any

from servelint.advise.commands import Refused, ServeCommand, serve_command
from servelint.api import check_command
from servelint.core.settings import Settings
from servelint.engines.releases import known_releases
from servelint.models import catalog
from servelint.speculation.drafts import own_drafts

FIRST = {"vllm": "0.11.2", "sglang": "0.5.2"}
DRAFTS = {
    "AngelSlim/Qwen3-32B_eagle3": "Qwen/Qwen3-32B",
    "AngelSlim/Qwen3-4B_eagle3": "Qwen/Qwen3-4B",
    "AngelSlim/Qwen3-8B_eagle3": "Qwen/Qwen3-8B",
    "AngelSlim/Qwen3-a3B_eagle3": "Qwen/Qwen3-30B-A3B",
    "RedHatAI/Qwen3-32B-speculator.eagle3": "Qwen/Qwen3-32B",
    "RedHatAI/Qwen3-8B-speculator.eagle3": "Qwen/Qwen3-8B",
    "Tengyunw/qwen3_30b_moe_eagle3": "Qwen/Qwen3-30B-A3B",
    "Tengyunw/qwen3_8b_eagle3": "Qwen/Qwen3-8B",
    "lmsys/EAGLE3-gpt-oss-120b-bf16": "openai/gpt-oss-120b",
    "lmsys/Qwen3-235B-A22B-EAGLE3": "Qwen/Qwen3-235B-A22B",
    "lmsys/sglang-EAGLE3-LLaMA3.1-Instruct-8B": "meta-llama/Llama-3.1-8B-Instruct",
    "lmsys/sglang-EAGLE3-Llama-4-Scout-17B-16E-Instruct-v1": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B": "meta-llama/Llama-3.1-8B-Instruct",
    "yuhuili/EAGLE3-LLaMA3.3-Instruct-70B": "meta-llama/Llama-3.3-70B-Instruct",
    "z-lab/Qwen3-4B-DFlash-b16": "Qwen/Qwen3-4B",
    "z-lab/Qwen3-8B-DFlash": "Qwen/Qwen3-8B",
    "z-lab/Qwen3-8B-DFlash-b16": "Qwen/Qwen3-8B",
    "z-lab/Qwen3.5-35B-A3B-DFlash": "Qwen/Qwen3.5-35B-A3B",
    "z-lab/Qwen3.5-4B-DFlash": "Qwen/Qwen3.5-4B",
    "z-lab/Qwen3.6-27B-DFlash": "Qwen/Qwen3.6-27B",
    "zhuyksir/EAGLE3-gpt-oss-20b-bf16": "openai/gpt-oss-20b",
}
"""Drafts that are known by name, and the model that each was made for."""

Asked = tuple[str, str | None, int, str | None]
"""Model, method, drafted tokens, draft."""


def asked() -> list[Asked]:
    """All models that can draft, with few and with more tokens, and one of each architecture without drafts."""
    found: list[Asked] = []
    seen: set[str] = set()
    for name in catalog.known_names():
        known = catalog.lookup(name)
        if known is None or known.draft is not None:
            continue
        own = own_drafts(name)
        if own.layers:
            found += [(name, "mtp", 1, None), (name, "mtp", 3, None)]
        kind = own.architecture or known.model_type
        if kind not in seen:
            seen.add(kind)
            found.append((name, None, 0, None))
    for draft, target in DRAFTS.items():
        known = catalog.lookup(draft)
        if known is None or known.draft is None or catalog.lookup(target) is None:
            sys.exit(f"{draft} or {target} is not known any more")
        found.append((target, known.draft.kind, 3 if known.draft.kind == "eagle3" else 15, draft))
    return found


def command(engine: str, release: str, one: Asked) -> tuple[ServeCommand | Refused, int]:
    """On as many of 4, 2 and 1 GPUs as the model's heads can be divided among."""
    model, method, tokens, draft = one
    found: ServeCommand | Refused | None = None
    for count in (4, 2, 1):
        try:
            made = serve_command(
                engine,
                model,
                method,
                release=release,
                num_speculative_tokens=max(tokens, 1),
                draft=draft,
                gpu_count=count,
                trust_remote_code=True,
            )
        except Refused as refused:
            found = found or refused
            continue
        return made, count
    return found or sys.exit(f"nothing was asked for {model}"), 4


def why(refused: Refused) -> str:
    """A refusal without the names in it."""
    note = refused.reasons[0]
    return note.rule or re.sub(r"^\w+ [\d.]+\w* does not|layers of \w+|[^ ]+/[^ ]+", "...", note.text).partition(";")[0]


def kind(made: ServeCommand) -> tuple[object, ...]:
    """Equal for commands whose models differ in size alone."""
    known = catalog.lookup(made.model)
    kinds = (known.model_type, known.quantization.method) if known is not None else ()
    words = tuple(word for word in made.argv if word != made.model)
    own = own_drafts(made.model)
    return own.architecture, kinds, words, tuple(made.env)


def make(folder: str) -> None:
    counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
    reasons: collections.Counter[tuple[str, str, str]] = collections.Counter()
    changes: collections.Counter[tuple[str, str]] = collections.Counter()
    wanted = asked()
    models: set[str] = set()
    os.makedirs(os.path.join(folder, "cases"), exist_ok=True)
    for engine, first in FIRST.items():
        releases = known_releases(engine)
        for release in releases[releases.index(first) :]:
            cases: dict[tuple[object, ...], tuple[ServeCommand, Asked, int]] = {}
            for one in wanted:
                method = one[1] or "none"
                made, count = command(engine, release, one)
                if isinstance(made, Refused):
                    counts[engine, method, "refused"] += 1
                    reasons[engine, method, why(made)] += 1
                    continue
                counts[engine, method, "made"] += 1
                changes.update((engine, note.rule) for note in made.notes)
                if not check_command(engine, list(made.argv), release, made.env, Settings(gpu_count=count)):
                    counts[engine, method, "clean"] += 1
                found = cases.get(kind(made))
                cases[kind(made)] = (found[0], found[1], found[2] + 1) if found is not None else (made, one, 1)
            with open(os.path.join(folder, "cases", f"{engine}-{release}.jsonl"), "w") as file:
                for made, one, stands_for in cases.values():
                    name = " ".join(str(part) for part in one if part)
                    case = {"id": name, "engine": engine, "argv": made.argv, "env": made.env, "stands_for": stands_for}
                    file.write(json.dumps(case) + "\n")
                    models |= {made.model, *([one[3]] if one[3] else [])}
    configs(folder, models)
    for title, table in (("commands", counts), ("refused, by the first reason", reasons), ("changed, by rule", changes)):
        print(title)
        for key, number in sorted(table.items()):
            print(f"{number:8}  {'  '.join(key)}")


def configs(folder: str, models: set[str]) -> None:
    os.makedirs(os.path.join(folder, "configs"), exist_ok=True)
    for name in sorted(models):
        config = catalog.config_of(name) or {}
        config.setdefault("architectures", [own_drafts(name).architecture])
        with open(os.path.join(folder, "configs", name.replace("/", "--") + ".json"), "w") as file:
            json.dump(config, file)


def compare(folder: str) -> None:
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    refused: dict[tuple[str, str], list[str]] = collections.defaultdict(list)
    for file_name in sorted(os.listdir(os.path.join(folder, "cases"))):
        engine, _, release = file_name.removesuffix(".jsonl").partition("-")
        cases = {case["id"]: case for case in _lines(os.path.join(folder, "cases", file_name))}
        path = os.path.join(folder, "answers", file_name)
        if not os.path.exists(path):
            counts[engine, "no answers for this release"] += sum(case["stands_for"] for case in cases.values())
            continue
        for answer in _lines(path):
            case = cases[answer["id"]]
            told = "taken" if answer["ok"] else "refused"
            if answer.get("harness_suspect"):
                told = "parsed, not judged beyond" if answer.get("stage") == "config" else "not judged"
            counts[engine, told] += case["stands_for"]
            if told != "taken":
                error = re.sub(r"\s+", " ", answer["error"] or "")[:160]
                refused[engine, f"{told}: {error}"].append(f"{release} {answer['id']}")
    for key, number in sorted(counts.items()):
        print(f"{number:8}  {'  '.join(key)}")
    for (engine, error), names in sorted(refused.items()):
        print(f"\n{engine}: {error}\n    {len(names)}: {', '.join(names[:6])}")


def _lines(path: str) -> list[dict[str, Any]]:
    with open(path) as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("make", "compare"):
        sys.exit(__doc__)
    {"make": make, "compare": compare}[sys.argv[1]](sys.argv[2])
