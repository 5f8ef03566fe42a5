"""Advice of the built-in checks, on launches made from the catalogs: each removed name, each misspelt name and value.

What an advice names must exist in the release that was judged, and each way that it offers must be accepted by servelint.
Of many launches of one kind every twentieth is taken; SERVELINT_ALL_RELEASES takes all.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines import ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import Catalog, Option
from servelint.judge.parser.repairs import replacement
from servelint.readers import read
from tests.advice import follow, judged_at

pytestmark = pytest.mark.book

EVERY = 1 if "SERVELINT_ALL_RELEASES" in os.environ else 20
COMMANDS = {
    "vllm": "vllm serve Qwen/Qwen3-8B",
    "sglang": "python -m sglang.launch_server --model-path Qwen/Qwen3-8B",
    "llama.cpp": "llama-server -m model.gguf",
    "lmdeploy": "lmdeploy serve api_server Qwen/Qwen3-8B",
    "tgi": "text-generation-launcher --model-id Qwen/Qwen3-8B",
    "trtllm": "trtllm-serve Qwen/Qwen3-8B",
    "ollama": "ollama serve",
}
NEEDED = {"--num-redundant-experts": ["--enable-eplb", "--enable-expert-parallel"]}
"""Options without which an option is refused under each of its names."""
MODELS = {"--enable-flashmla": "deepseek-ai/DeepSeek-V3"}
"""Models of options that are for one kind of model."""
VALUES = {"attention-backend": "FLASH_ATTN", "lora-modules": "a=/models/a"}
"""Values of options whose choices are no list of the parser's."""
NAMES = (
    *("removed-option", "option-not-yet", "ambiguous-option", "taken-for-another", "unknown-option", "deprecated-option"),
    *(
        "refused-option",
        "option-of-other-engine",
        "option-came-and-went",
        "misspelt-value",
        "invalid-choice",
        "unknown-json-key",
    ),
    *("ignored-json-key", "removed-env", "env-not-yet", "unknown-env", "deprecated-env", "unreadable-env-value"),
    *("invalid-json-value", "tool-call-parser-unknown", "reasoning-parser-unknown", "abbreviated-option"),
)
"""Rules whose findings are followed here; others have examples of their own."""


def catalog_of(engine: str) -> Catalog:
    found = catalogs.load(engine)
    assert found is not None
    return found


def value_of(option: Option, catalog: Catalog) -> str | None:
    """A value that an option takes; None for a switch."""
    if not option.takes_value or option.kind == "optional":
        return None
    if option.name in VALUES and not option.choices:
        return VALUES[option.name]
    every = [option.choices, *(run[2].choices for run in catalog.spelled(option.names[0]))]
    choices = next((one for one in every if one), [])
    if choices:
        return str(next((one for one in choices if one), choices[0]))
    objects = ENGINES[catalog.engine].object_options
    if isinstance(option.default, (int, float, str)) and not isinstance(option.default, bool) and option.default != "":
        return str(option.default)
    if option.json or "json" in option.types or option.name in objects:
        return "{}"
    kinds = {"int": "1", "float": "0.5", "bool": "true", "cpu_range": "0-7", "kv_override": "a=int:1", "name_and_number": "a:1"}
    kinds |= {"logit_bias": "1+1", "addresses": "127.0.0.1", "tensor_overrides": "a=CPU", "numbers": "3,1"}
    return next((kinds[one] for one in option.types if one in kinds), "16")


def with_option(engine: str, spelling: str, option: Option) -> str:
    """A launch with an option under a name, and a value that it takes."""
    value = value_of(option, catalog_of(engine))
    times = option.nargs if isinstance(option.nargs, int) else 1
    words = [*NEEDED.get(spelling, ()), spelling, *([value] * times if value is not None else [])]
    command = COMMANDS[engine].replace("Qwen/Qwen3-8B", MODELS.get(spelling, "Qwen/Qwen3-8B"))
    return f"{command} {shlex.join(words)}"


def misspelt(name: str) -> str:
    """A name without the letter before its last but one, which makes no other word of a longer one."""
    return name[:-3] + name[-2:] if len(name) > 5 else name


def boundaries(catalog: Catalog, runs: list[Any]) -> list[int]:
    """The first release after each run of releases, and the last one before it."""
    positions = {position for first, last, *_ in runs for position in (first - 1, last + 1)}
    within = {position for first, last, *_ in runs for position in range(first, last + 1)}
    return sorted(one for one in positions - within if 0 <= one < len(catalog.releases))


def removed(engine: str) -> Iterator[tuple[str, str]]:
    """Launches with an option or a variable that a release lacks, and others have; those with a known replacement all."""
    catalog = catalog_of(engine)
    for number, spelling in enumerate(sorted(catalog.spellings())):
        runs = catalog.spelled(spelling)
        known = replacement(engine, spelling.lstrip("-")) is not None
        if not known and number % EVERY:
            continue
        for index in boundaries(catalog, runs):
            _, _, option = min(runs, key=lambda run: min(abs(run[0] - index), abs(run[1] - index)))
            yield catalog.releases[index], with_option(engine, spelling, option)
    for number, (name, lives) in enumerate(sorted(catalog.variables().items())):
        if replacement(engine, name) is not None or number % EVERY == 0:
            for index in boundaries(catalog, lives):
                names = catalog.names(ENGINES[engine].value_names.get(name, ""))
                value = next((one for one, runs in names.items() if any(run[0] <= index <= run[1] for run in runs)), "1")
                yield catalog.releases[index], f"export {name}={value}\n{COMMANDS[engine]}"


def deprecated(engine: str) -> Iterator[tuple[str, str]]:
    """Launches with an option or a variable that a release deprecates or refuses."""
    catalog = catalog_of(engine)
    for spelling in sorted(catalog.spellings()):
        for first, last, option in catalog.spelled(spelling):
            if option.deprecated or option.refuses:
                for index in {first, last}:
                    yield catalog.releases[index], with_option(engine, spelling, option)
    for name, lives in sorted(catalog.variables().items()):
        for first, last, body in lives:
            if isinstance(body, dict) and body.get("deprecated"):
                for index in {first, last}:
                    yield catalog.releases[index], f"export {name}=1\n{COMMANDS[engine]}"


def mistyped(engine: str) -> Iterator[tuple[str, str]]:
    """Launches with an option, a variable, a value or a key that differs by a letter from one of the release."""
    catalog = catalog_of(engine)
    last = len(catalog.releases) - 1
    for index in (last // 2, last):
        release, table = catalog.releases[index], catalog.table(index)
        for number, spelling in enumerate(sorted(table.spellings())):
            option = table.find(spelling)
            if option is None or number % EVERY or not spelling.startswith("--") or option.required:
                continue
            if isinstance(option.nargs, int):
                continue  # the second value of a name that is not known is an argument by itself
            yield release, with_option(engine, misspelt(spelling), option)
            for choice in option.choices or ():
                if isinstance(choice, str) and choice:
                    yield release, f"{COMMANDS[engine]} {spelling} {shlex.quote(misspelt(choice))}"
            keys = catalog.keys(option.json, index) if option.json else None
            for key, body in sorted(keys.known.items()) if keys is not None else ():
                yield release, f"{COMMANDS[engine]} {spelling} {shlex.quote(json.dumps({misspelt(key): _json_value(body)}))}"
        for kind, name in (("tool-call-parsers", "--tool-call-parser"), ("reasoning-parsers", "--reasoning-parser")):
            first = min([run[0] for run in catalog.spelled(name)], default=last)
            for parser in catalog.names(kind):
                for at in (first, index):
                    yield catalog.releases[at], f"{COMMANDS[engine]} {name} {shlex.quote(misspelt(parser))}"
        for number, (name, lives) in enumerate(sorted(catalog.variables().items())):
            for body in [run[2] for run in lives if run[0] <= index <= run[1]][: number % EVERY == 0]:
                option = table.find("--" + body["option"]) if "option" in body else None
                value = option.choices[0] if option is not None and option.choices else 1
                yield release, f"export {misspelt(name)}={value}\n{COMMANDS[engine]}"


def _json_value(body: dict[str, Any]) -> object:
    """A value that a key takes."""
    types = body.get("type", "any")
    least = max(1, int(body.get("ge", 1)), int(body.get("gt", 0)) + 1)
    values = {"int": least, "float": 0.5, "bool": True, "str": "x", "list": [], "object": {}, "any": 1}
    return next(iter(body.get("choices") or ()), values.get(types if isinstance(types, str) else types[0], 1))


def wrong(release: str, text: str) -> list[str]:
    """What is wrong with the advice of the findings of a launch at a release."""
    (launch,) = read(Source("run.sh", text + "\n")).launches
    before = judged_at(launch, Settings(), release)
    found: list[str] = []
    for finding in before:
        if finding.rule.partition("/")[2] in NAMES:
            found += [f"{finding.rule}: {one}" for one in follow(launch, Settings(), release, before, finding)[0]]
    return found


@pytest.mark.parametrize("kind", [removed, deprecated, mistyped], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("engine", COMMANDS)
def test_what_is_advised_is_accepted(engine: str, kind: Any) -> None:
    launches = list(dict.fromkeys(kind(engine)))
    assert launches or kind is deprecated
    found = {f"{release}: {text}": one for release, text in launches if (one := wrong(release, text))}
    assert found == {}
