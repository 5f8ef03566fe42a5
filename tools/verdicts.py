"""The engines as judge: mutate real launches, ask the engines' own start-up code, and compare its verdicts with servelint's.

    python tools/verdicts.py run --oracle ~/oracle/oracle.py --engine vllm --releases 0.19.1,0.33.0 --folder out

`write` makes the cases, `compare` reads the oracle's results, `run` does both with the oracle between them. The same seed
makes the same cases from the same checkout. `examples` asks about the examples of rules, on a release and on the one before.
docs/verdicts.md says what the oracle is and what the figures mean.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import servelint
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines import ENGINES, catalog
from servelint.engines.catalog import Catalog, Option, Table
from servelint.engines.releases import release_key
from servelint.readers import read
from servelint.readers.discover import files, read_file
from servelint.rule_examples import example_text, unmarked
from servelint.rules.compile import expand, read_rules, rule_files
from servelint.rules.load import rules
from servelint.rules.ranges import compile_range, contains, loaded

ROOT = Path(__file__).resolve().parent.parent
GPUS = {
    "H100": "h100-80gb",
    "H200": "h200",
    "B200": "b200",
    "A100": "a100-80gb",
    "L4": "l4",
    "4090": "rtx-4090",
    "5090": "rtx-5090",
    "T4": "t4",
}
"""The oracle's name of a GPU -> servelint's."""
MODELS: dict[str, tuple[str, ...]] = {
    "dense": (
        "Qwen/Qwen3-8B", "Qwen/Qwen3-0.6B", "Qwen/Qwen3-32B", "Qwen/Qwen3-14B", "Qwen/Qwen3-4B-Instruct-2507",
        "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Llama-3.2-1B-Instruct",
        "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", "mistralai/Mistral-7B-Instruct-v0.3", "microsoft/phi-4",
        "Qwen/Qwen2.5-72B-Instruct", "meta-llama/Llama-2-7b-chat-hf", "facebook/opt-125m",
        "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B",
    ),
    "quantized": (
        "Qwen/Qwen3-32B-FP8", "Qwen/Qwen3-8B-FP8", "Qwen/Qwen3-8B-AWQ", "Qwen/Qwen3-32B-AWQ", "Qwen/Qwen2.5-7B-Instruct-AWQ",
        "Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "RedHatAI/Llama-3.3-70B-Instruct-quantized.w4a16",
        "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic", "nvidia/Llama-3.3-70B-Instruct-FP4",
        "hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4",
    ),
    "moe": (
        "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-30B-A3B-FP8", "Qwen/Qwen3-235B-A22B-Instruct-2507", "openai/gpt-oss-20b",
        "openai/gpt-oss-120b", "zai-org/GLM-4.6", "mistralai/Mixtral-8x7B-Instruct-v0.1", "Qwen/Qwen3-30B-A3B-GPTQ-Int4",
        "Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8", "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8",
    ),
    "mla": (
        "deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-V3-0324", "deepseek-ai/DeepSeek-V3.2", "deepseek-ai/DeepSeek-V2-Lite",
        "moonshotai/Kimi-K2-Instruct",
    ),
    "hybrid": (
        "Qwen/Qwen3-Next-80B-A3B-Instruct", "Qwen/Qwen3-Next-80B-A3B-Instruct-FP8", "Qwen/Qwen3.6-27B", "Qwen/Qwen3.6-27B-FP8",
        "Qwen/Qwen3.6-35B-A3B", "nvidia/NVIDIA-Nemotron-Nano-9B-v2",
    ),
    "multimodal": (
        "Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen3-VL-8B-Instruct", "Qwen/Qwen3-VL-8B-Instruct-FP8", "google/gemma-3-27b-it",
    ),
    "embedding": (
        "BAAI/bge-m3", "BAAI/bge-large-en-v1.5", "Qwen/Qwen3-Embedding-8B", "Qwen/Qwen3-Embedding-0.6B",
        "BAAI/bge-reranker-v2-m3",
    ),
    "sliding": ("google/gemma-2-9b-it",),
}  # fmt: skip
"""Checkpoints whose geometry is the same in the oracle's fixtures and in servelint, by kind."""
DRAFTS = (
    "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",
    "yuhuili/EAGLE-LLaMA3.1-Instruct-8B",
    "AngelSlim/Qwen3-8B_eagle3",
    "z-lab/Qwen3-8B-DFlash-b16",
)
NAMED = frozenset(name for names in MODELS.values() for name in names).union(DRAFTS)
HOST = (
    r"larger than the number of available GPUs|number of (?:available )?GPUs|only \d+ GPUs? available|not enough GPUs"
    r"|looks like a file path, but it failed to be opened|No such file or directory|does not exist|FileNotFound"
    r"|is not a (?:local folder|directory)|Failed to (?:open|find|import)|not installed|pip install"
    r"|requires? the .* package|[Cc]ould not import|ray\b.*not|InfiniBand|ibv_|/sys/|/dev/|[Nn]etwork"
    r"|[Cc]onnect(?:ion)?\b.*(?:refused|fail)|Name or service not known|Address already in use|getaddrinfo"
    r"|Repo id must be in the form|SSL \w+ file not found|vllm-rs binary was not found|params\.json|chat template .*not"
    r"|tokenizer.*not found|Can't load|FP8 scale file not found"
)
"""Messages whose reason is the machine, its packages or its files."""

HOST_FILES = r"appears path-like, but doesn't exist|Could not load logging config\. File does not exist"
"""What a parser says of a file that the machine of an oracle lacks."""

PLUGINS = r"--(?:reasoning|tool)-parser-plugin"
OF_PLUGINS = r"[Pp]arser '?\w+'? not found|invalid (?:tool call|reasoning) parser|Unknown speculative algorithm name"
"""Options that bring names in a file that the machine of an oracle lacks, and what the engine says of such a name."""

BY_GPUS = frozenset(("vllm/world-size-above-gpus",))
"""Rules that count GPUs, of which an oracle may find as few without looking at them before its workers start."""

BY_SERVER = frozenset(("vllm/fault-tolerance-one-api-server",))
"""Rules about numbers that the command of the server sets in the configuration, which an oracle makes without it."""

OTHER_DTYPE = r"torch\.bfloat16 is not supported for quantization method (?:awq|gptq)\b"
"""What an oracle says of a checkpoint whose configuration it has in bfloat16: published ones of AWQ and GPTQ are in float16."""

AT_IMPORT = frozenset(("CUDA_VISIBLE_DEVICES", "VLLM_LOGGING_LEVEL", "VLLM_ALLOW_RUNTIME_LORA_UPDATING"))
"""Variables that are read when the engine is imported, before an oracle sets those of a case."""

Case: TypeAlias = dict[str, Any]
Groups: TypeAlias = list[list[str]]


@dataclass(frozen=True, kw_only=True)
class Seed:
    """A launch as somebody wrote it: options in groups, an option with its values each."""

    groups: Groups
    env: dict[str, str] = field(default_factory=dict)


# -- launches to start from


def grouped(argv: Iterable[str]) -> Groups:
    """Split an argv into groups: an option with its values, or leading words.

    >>> grouped(["m", "-tp", "2", "--seed", "-1", "--enforce-eager"])
    [['m'], ['-tp', '2'], ['--seed', '-1'], ['--enforce-eager']]
    """
    groups: Groups = []
    for word in argv:
        if re.match(r"--?[A-Za-z]", word) or not groups:
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups


def seeds(engine: str, folders: Iterable[str] = ()) -> list[Seed]:
    """The launches of an engine in the rule book's examples, the recorded verdicts and reports, `examples/`, and folders."""
    found: dict[str, Seed] = {}

    def add(argv: list[str], env: dict[str, str]) -> None:
        verb = ENGINES[engine].command
        env = {name: value for name, value in env.items() if name not in AT_IMPORT}
        words = argv[len(verb) :] if tuple(argv[: len(verb)]) == verb else argv
        found.setdefault(json.dumps([words, env]), Seed(groups=grouped(words), env=env))

    def add_text(source: Source) -> None:
        for launch in read(source).launches:
            words = _plain(launch)
            if launch.engine == engine and words is not None:
                add(*words)

    book = str(ROOT / "rules")
    for path in rule_files(book):
        for rule in (rule for data in read_rules(path, book) for rule in expand(data)):
            for example in rule["examples"]["good"]:
                add_text(unmarked(*example_text(example))[0])
    for name in (f"tests/rules/verdicts/{engine}.jsonl", "tests/reports/reports.jsonl"):
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.get("engine", engine) == engine and isinstance(row.get("argv"), list):
                add(row["argv"], row.get("env") or {})
    for path in files([str(ROOT / "examples"), *folders], []):
        source = read_file(path)
        if isinstance(source, Source):
            add_text(source)
    return [one for _, one in sorted(found.items())]


def _plain(launch: Launch) -> tuple[list[str], dict[str, str]] | None:
    """The argv of a launch and the variables of its engine; None where words have no value."""
    words = [word.text for word in launch.argv]
    if not words or any(one.many for one in launch.argv) or not all(text.known for text in words):
        return None
    names = {name: one.value.flat for name, one in launch.env.items() if one.value is not None and one.value.known}
    return [text.flat for text in words], {k: v for k, v in names.items() if k.startswith(("VLLM_", "SGLANG_"))}


# -- one launch of one release


class View:
    """What the mutations of a release can ask for.

    Attributes:
        table: The options of the release.
        seeds: Launches to start from.
        seen: Canonical name of an option -> groups in which seeds give it.
    """

    def __init__(self, engine: str, release: str, started: list[Seed]) -> None:
        loaded = catalog.load(engine)
        index = loaded.index(release) if loaded is not None else None
        if loaded is None or index is None:
            raise SystemExit(f"the catalog has no {engine} {release}")
        self.engine, self.release, self.seeds = engine, release, started
        self.catalog: Catalog = loaded
        self.index: int = index
        self.table: Table = loaded.table(index)
        self.model = "--model" if engine == "vllm" else "--model-path"
        self.length = "--max-model-len" if engine == "vllm" else "--context-length"
        self.options = [one for one in self.table.options() if one.name not in _LEFT_ALONE]
        self.removed = sorted(name for name in loaded.spellings() if self.table.line(name) is None and name.startswith("--"))
        other = catalog.load("sglang" if engine == "vllm" else "vllm")
        self.foreign = sorted(
            name for name in (other.spellings() if other else {}) if name.startswith("--") and self.table.line(name) is None
        )
        self.elsewhere: dict[str, list[Option]] = defaultdict(list)
        for name in other.spellings() if other is not None else ():
            self.elsewhere[name] += [option for _, _, option in other.spelled(name)] if other is not None else []
        self.seen: dict[str, Groups] = defaultdict(list)
        for seed in started:
            for group in seed.groups:
                option = self.option(group[0])
                if option is not None and group not in self.seen[option.name]:
                    self.seen[option.name].append(group)

    def option(self, word: str) -> Option | None:
        """The option that a word sets in this release."""
        name = word.partition("=")[0]
        head, dot, _ = name.partition(".")
        spelling = head.replace("_", "-") if self.engine == "vllm" else head
        return self.table.find(spelling) if not dot or self.engine == "vllm" else None

    def name(self, word: str) -> str:
        """The canonical name of the option that a word sets, "" for none."""
        option = self.option(word)
        return option.name if option is not None else ""

    def fitting(self, groups: Groups) -> Groups:
        """The groups whose option this release has, with the model in front."""
        return [group for group in groups if not group[0].startswith("-") or self.option(group[0]) is not None]


_LEFT_ALONE = {"help", "version", "config", "model", "model-path", "chat-template", "model-tag"}


def valid(rng: random.Random, view: View, option: Option) -> list[str] | None:
    """An option with a value that its declaration allows; None where no value is known."""
    spelling = rng.choice(option.names)
    if not option.takes_value:
        return [rng.choice([*option.names, *option.negatives])]
    known = [group for group in view.seen.get(option.name, []) if not view.option(group[0]) or "." not in group[0]]
    if option.choices:
        return [spelling, str(rng.choice(option.choices))]
    if option.json and rng.random() < 0.7:
        return [spelling, json.dumps(_object(rng, view, option.json, rng.randint(1, 2)))]
    if known and rng.random() < 0.7:
        return rng.choice(known)
    kinds = set(option.types)
    if kinds & {"int", "human_readable_int", "human_readable_int_or_auto", "nullable_int", "parse_int"}:
        return [spelling, str(rng.choice((1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096, 8192, 16384)))]
    if "float" in kinds:
        return [spelling, str(rng.choice((0.1, 0.5, 0.8, 0.9, 1.0, 2.0)))]
    if isinstance(option.default, (str, int, float)) and not isinstance(option.default, bool) and option.default != "":
        return [spelling, str(option.default)]
    return rng.choice(known) if known else None


def _object(rng: random.Random, view: View, name: str, count: int) -> dict[str, Any]:
    """Some keys of a JSON option with values that its class declares."""
    keys = view.catalog.keys(name, view.index)
    chosen = rng.sample(sorted(keys.known), min(count, len(keys.known))) if keys is not None else []
    return {key: _field(rng, keys.known[key]) for key in chosen} if keys is not None else {}


def _field(rng: random.Random, body: dict[str, Any]) -> Any:
    if body.get("choices"):
        return rng.choice(body["choices"])
    kinds = body.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    values: dict[str, tuple[Any, ...]] = {
        "int": (1, 2, 4, 16, 1024), "float": (0.5, 1.0), "bool": (True, False), "str": ("x", "auto"), "null": (None,),
        "list": ([], [1, 2]), "dict": ({},),
    }  # fmt: skip
    known = [kind for kind in kinds if kind in values]
    return rng.choice(values[rng.choice(known)]) if known else body.get("default")


# -- mutations: each changes the groups of a case, and returns False where it does not apply


@dataclass(slots=True)
class Making:
    """A case in the making: its options in groups, and the rest of it."""

    rng: random.Random
    view: View
    groups: Groups
    case: Case

    def without(self, *names: str) -> Groups:
        """The groups that set none of these options."""
        return [one for one in self.groups if self.view.name(one[0]) not in names]


Mutation: TypeAlias = Callable[[Making], bool]


def _valued(m: Making, *, json_too: bool = False) -> list[str] | None:
    """A group with one value, of an option of this release."""
    fits = [
        one
        for one in m.groups
        if len(one) == 2
        and (option := m.view.option(one[0]))
        and option.takes_value
        and (json_too or not one[1].startswith("{"))
    ]
    return m.rng.choice(fits) if fits else None


def _json_group(m: Making) -> tuple[list[str], dict[str, Any]] | None:
    """A group whose value is a JSON object, added if there is none."""
    fits = [(one, data) for one in m.groups if (data := _parsed(one)) is not None]
    if fits:
        return m.rng.choice(fits)
    options = [one for one in m.view.options if one.json or "json" in "".join(one.types)]
    if not options:
        return None
    option = m.rng.choice(options)
    known = [data for group in m.view.seen.get(option.name, []) if (data := _parsed(group)) is not None]
    chosen = dict(m.rng.choice(known)) if known else _object(m.rng, m.view, option.json, 2)
    group = [option.names[0], json.dumps(chosen)]
    m.groups.append(group)
    return group, chosen


def _parsed(group: list[str]) -> dict[str, Any] | None:
    """The JSON object that a group's value is."""
    with contextlib.suppress(ValueError):
        if len(group) == 2 and isinstance(data := json.loads(group[1]), dict):
            return data
    return None


def typo(m: Making) -> bool:
    """A letter of a value is doubled, dropped or swapped."""
    group = _valued(m)
    if group is None or not re.search(r"[A-Za-z]{2}", group[1]) or group[1].startswith("/"):
        return False
    text, at = group[1], m.rng.randrange(len(group[1]) - 1)
    group[1] = m.rng.choice(
        (text[:at] + text[at + 1 :], text[:at] + text[at] + text[at:], text[:at] + text[at + 1] + text[at] + text[at + 2 :])
    )
    return True


def case_of_value(m: Making) -> bool:
    """A value in another case, or with the other separator."""
    group = _valued(m)
    if group is None or not re.search("[A-Za-z]", group[1]) or "/" in group[1]:
        return False
    changes: tuple[Callable[[str], str], ...] = (
        str.upper,
        str.lower,
        str.title,
        lambda s: s.replace("-", "_"),
        lambda s: s.replace("_", "-"),
    )
    group[1] = m.rng.choice(changes)(group[1])
    return True


def unit(m: Making) -> bool:
    """A number with a unit, a separator or an exponent."""
    group = _valued(m)
    if group is None or not re.fullmatch(r"-?\d+(?:\.\d+)?", group[1]):
        return False
    group[1] = m.rng.choice(
        ("{}k", "{}K", "{}GB", "{}%", "{}.0", "{}e3", "{}_000", "{},000", " {}", "{}m", "{}G", "0x{}", "{}k5")
    ).format(group[1])
    return True


def number(m: Making) -> bool:
    """Zero, a negative, a large or a fractional number, or no number."""
    group = _valued(m)
    if group is None or not re.fullmatch(r"-?\d+(?:\.\d+)?", group[1]):
        numbers = [one for one in m.view.options if one.takes_value and {"int", "float"} & set(one.types) and not one.choices]
        if not numbers:
            return False
        group = [m.rng.choice(numbers).names[0], ""]
        m.groups.append(group)
    group[1] = m.rng.choice(
        ("0", "0", "-1", "-1", "-2", "1", "2", "3", "5", "0.5", "1.5", "1e9", "1000000", "nan", "inf", "None", "auto", "true")
    )
    return True


def _inner(m: Making, data: dict[str, Any]) -> dict[str, Any]:
    """An object inside a JSON option, or the option's own."""
    nested = [value for value in data.values() if isinstance(value, dict) and value]
    return _inner(m, m.rng.choice(nested)) if nested and m.rng.random() < 0.6 else data


def json_type(m: Making) -> bool:
    """A value inside a JSON option with another type."""
    found = _json_group(m)
    if found is None or not found[1]:
        return False
    group, data = found
    inner = _inner(m, data)
    key = m.rng.choice(sorted(inner))
    old = inner[key]
    inner[key] = m.rng.choice((str(old), [old], {"value": old}, None, True, False, 0, -1, 1.5, "", "auto", {}, [], "3"))
    group[1] = json.dumps(data)
    return True


def json_key(m: Making) -> bool:
    """A key of a JSON option misspelt, with dashes, in camel case, unknown, of an option, or nested."""
    found = _json_group(m)
    if found is None:
        return False
    group, whole = found
    data = _inner(m, whole)
    key = m.rng.choice(sorted(data)) if data else "enabled"
    value = data.pop(key, True)
    option = m.view.option(group[0])
    fresh = _object(m.rng, m.view, option.json, 1) if option is not None and option.json else {}
    way = m.rng.randrange(7)
    if way < 5:
        data[(key.replace("_", "-"), key.replace("_", ""), key + "s", key.upper(), "x_" + key)[way]] = value
    elif way == 5:
        data |= {key: value, **fresh}
    else:
        data[key] = {key: value}
    group[1] = json.dumps(whole)
    return True


def json_text(m: Making) -> bool:
    """JSON that is not well formed, or no object."""
    found = _json_group(m)
    if found is None:
        return False
    group, _ = found
    text = group[1]
    group[1] = m.rng.choice(
        (
            text.replace('"', "'"),
            text[:-1],
            text.replace("}", ",}"),
            text.replace('"', ""),
            f"[{text}]",
            f'"{text[1:-1]}"',
            "{}",
            "null",
            "[]",
            "true",
            "3",
            text + "}",
            text.replace("true", "True"),
        )
    )
    return True


def dotted(m: Making) -> bool:
    """Keys of a JSON option as dotted options, instead of JSON or beside it."""
    found = _json_group(m)
    if found is None or not found[1]:
        return False
    group, data = found
    key = m.rng.choice(sorted(data))
    value = data[key]
    if isinstance(value, dict) and value:
        inner = m.rng.choice(sorted(value))
        key, value = f"{key}.{inner}", value[inner]
    written = m.rng.choice((key, key, key.replace("_", "-")))
    if m.rng.random() < 0.25:
        value = m.rng.choice((1, 0, "auto", True, False, 2))
    m.groups.append([f"{group[0]}.{written}", value if isinstance(value, str) else json.dumps(value)])
    if m.rng.random() < 0.6:
        m.groups.remove(group)
    return True


def appended(m: Making) -> bool:
    """Values added to a list: `--option.key+ value` of vLLM, more words after an option, or commas between them."""
    lists = [
        (option, key)
        for option in m.view.options
        if option.json and (keys := m.view.catalog.keys(option.json, m.view.index)) is not None
        for key, body in sorted(keys.known.items())
        if "list" in body.get("type", ())
    ]
    if lists and m.view.engine == "vllm" and m.rng.random() < 0.6:
        option, key = m.rng.choice(lists)
        given = [(_parsed(group) or {}).get(key) for group in m.view.seen.get(option.name, [])]
        known = [value for value in given if isinstance(value, list)]
        words = [str(one) for one in m.rng.choice(known)] if known and m.rng.random() < 0.7 else ["1", "2"]
        name = f"{option.names[0]}.{m.rng.choice((key, key.replace('_', '-')))}+"
        m.groups += [[name, word] for word in words] if m.rng.random() < 0.5 else [[name, ",".join(words)]]
        return True
    group = _valued(m)
    if group is None:
        return False
    more = m.rng.choice((group[1], "1", "extra"))
    group[1:] = m.rng.choice(([group[1], more], [f"{group[1]},{more}"], [f"{group[1]} {more}"]))
    return True


def dashes(m: Making) -> bool:
    """An option with underscores, one dash, in upper case, shortened, misspelt, or with `=`."""
    fits = [one for one in m.groups if one[0].startswith("--") and len(one[0]) > 5]
    if not fits:
        return False
    group = m.rng.choice(fits)
    name = group[0]
    group[0] = m.rng.choice(
        (
            name[:2] + name[2:].replace("-", "_"),
            name[1:],
            name[:-1],
            name[:-3],
            name + "s",
            name.upper(),
            name.replace("-", "", 3),
            name[:2] + name[3:],
        )
    )
    if m.rng.random() < 0.3 and len(group) == 2:
        group[:] = [f"{name}={group[1]}"]
    return True


def duplicate(m: Making) -> bool:
    """An option twice, with the same or with another value."""
    fits = [one for one in m.groups if m.view.option(one[0])]
    if not fits:
        return False
    group = m.rng.choice(fits)
    option = m.view.option(group[0])
    other = valid(m.rng, m.view, option) if option is not None and m.rng.random() < 0.7 and "." not in group[0] else None
    m.groups.append(other or list(group))
    return True


def config_file(m: Making) -> bool:
    """Options in a --config file: well formed, empty, a list, of other kinds, or with keys that the release lacks."""
    moved = [one for one in m.groups if one[0].startswith("--") and len(one) <= 2 and "." not in one[0]]
    m.rng.shuffle(moved)
    moved = moved[: m.rng.randint(0, 3)]
    for one in moved:
        m.groups.remove(one)
    text = "".join([f"{one[0][2:]}: {_scalar(one[1]) if len(one) == 2 else 'true'}\n" for one in moved])
    way = m.rng.randrange(12)
    if way >= 6:
        text = ("", "# nothing\n", "- tp: 2\n- seed: 1\n", "just text\n", text + "no-such-key: 1\n", text + "key: [unclosed\n")[
            way - 6
        ]
    elif way == 4:
        text = text.replace("-", "_")
    elif way == 5:
        text += m.rng.choice(
            (
                "seed: null\n",
                "seed:\n",
                "trust-remote-code: false\n",
                "trust-remote-code: 'true'\n",
                "seed: [1, 2]\n",
                "served-model-name: [a, b]\n",
                "tensor-parallel-size: 2\n",
                "max-model-len: 4k\n",
            )
        )
    elif way == 3:
        text += m.rng.choice(
            (
                "${X:-}\n",
                "seed: ${SEED:-}\n",
                "served-model-name: ''\n",
                "compilation-config: {mode: 0}\n",
                "seed: 1\nseed: 2\n",
                "speculative-config:\n  method: ngram\n  num_speculative_tokens: 2\n",
                "---\nseed: 1\n---\nseed: 2\n",
                "seed: &s 1\nmax-num-seqs: *s\n",
                f"{m.view.model[2:]}: Qwen/Qwen3-8B\n",
            )
        )
    name = m.rng.choice(("serve.yaml", "serve.yaml", "serve.yml", "serve.yaml", "serve.json", "serve.txt"))
    m.case["files"] = {name: text} if m.rng.random() < 0.95 else {}
    written = [["--config", name], [f"--config={name}"], ["--config", name], ["--config", name]]
    for _ in range(2 if m.rng.random() < 0.1 else 1):
        m.groups.insert(m.rng.randint(1, len(m.groups)) if m.groups else 0, m.rng.choice(written))
    return True


def _scalar(text: str) -> str:
    return text if re.fullmatch(r"[\w./]+", text) else json.dumps(text)


def other_release(m: Making) -> bool:
    """An option that only other releases have."""
    if not m.view.removed:
        return False
    name = m.rng.choice(m.view.removed)
    option = m.view.catalog.spelled(name)[0][2]
    value = [str(m.rng.choice(option.choices))] if option.choices else [str(option.default or 1)]
    m.groups.append([name, *(value if option.takes_value else [])])
    return True


def other_engine(m: Making) -> bool:
    """An option of the other engine."""
    m.groups.append([m.rng.choice(m.view.foreign), *m.rng.choice(([], ["1"], ["auto"]))])
    return True


def other_value(m: Making) -> bool:
    """A value that an option has only in other releases, or in the other engine."""
    fits = []
    for option in m.view.options:
        others = [one for _, _, one in m.view.catalog.spelled(option.names[0])] + m.view.elsewhere.get(option.names[0], [])
        words = {str(word) for one in others for word in one.choices or ()} - {str(word) for word in option.choices or ()}
        if option.choices and words:
            fits.append((option, sorted(words)))
    if not fits:
        return False
    option, choices = m.rng.choice(fits)
    m.groups[:] = m.without(option.name)
    m.groups.append([option.names[0], m.rng.choice(choices)])
    return True


def added(m: Making) -> bool:
    """One to three more options with values that their declaration allows."""
    for _ in range(m.rng.choice((1, 1, 2, 3))):
        group = valid(m.rng, m.view, m.rng.choice(m.view.options))
        if group is not None:
            m.groups.append(list(group))
    return True


def crossed(m: Making) -> bool:
    """One to three options of other seeds: pairs and triples of features."""
    for _ in range(m.rng.choice((1, 2, 2, 3))):
        seed = m.rng.choice(m.view.seeds)
        fits = [one for one in seed.groups if m.view.name(one[0]) not in (_LEFT_ALONE | {""})]
        if fits:
            m.groups.append(list(m.rng.choice(fits)))
            if m.rng.random() < 0.3:
                m.case["env"] |= seed.env
    return True


def empty(m: Making) -> bool:
    """An empty value, as `"${X:-}"` leaves it, or a missing one, as `${X:-}` does."""
    group = _valued(m, json_too=True)
    if group is None:
        return False
    way = m.rng.random()
    if way < 0.4:
        group[1] = ""
    elif way < 0.6:
        group[:] = [group[0] + "="]
    elif way < 0.8:
        group[:] = [group[0]]
    else:
        m.groups.insert(m.rng.randrange(len(m.groups) + 1), [""])
    return True


def overrides(m: Making) -> bool:
    """A context that is extended through the model's config, in one of its spellings."""
    factor = m.rng.choice((2, 4, 4.0, 8))
    base = m.rng.choice((32768, 40960, 131072, 262144))
    scaling = {
        m.rng.choice(("rope_type", "rope_type", "type")): m.rng.choice(("yarn", "yarn", "linear", "dynamic")),
        "factor": factor,
        "original_max_position_embeddings": base,
    }
    if m.rng.random() < 0.15:
        del scaling["original_max_position_embeddings"]
    inner = m.rng.choice(
        (
            {"rope_scaling": scaling},
            {"rope_parameters": scaling | {"rope_theta": 1000000}},
            {"max_position_embeddings": base * 4},
            {"rope_parameters": scaling},
            {"rope_scaling": scaling, "max_position_embeddings": base * 4},
        )
    )
    data = inner if m.rng.random() < 0.7 else {"text_config": inner}
    text = json.dumps(data)
    if m.view.engine == "sglang":
        m.groups.append(["--json-model-override-args", text])
    else:
        way = m.rng.random()
        if way < 0.7:
            m.groups.append(["--hf-overrides", text])
        elif way < 0.8:
            m.groups.append(["--rope-scaling", json.dumps(scaling)])
            if m.rng.random() < 0.4:
                m.groups.append(["--rope-theta", "1000000"])
        elif way < 0.9:
            inside = m.rng.choice(("", "text_config.")) + m.rng.choice(("rope_scaling", "rope_parameters"))
            m.groups += [[f"--hf-overrides.{inside}.{key}", str(value)] for key, value in scaling.items()]
        else:
            inside = m.rng.choice(("", "", "text_config."))
            m.groups.append([f"--hf-overrides.{inside}max_position_embeddings", str(base * 4)])
    m.groups[:] = m.without(m.view.length[2:])
    if m.rng.random() < 0.85:
        m.groups.append([m.view.length, str(m.rng.choice((32768, 65536, 131072, 163840, 262144, 327680, 524288, 1010000)))])
    return True


def length(m: Making) -> bool:
    """A context length around what models of all kinds have."""
    m.groups[:] = m.without(m.view.length[2:])
    m.groups.append(
        [
            m.view.length,
            m.rng.choice(
                (
                    "128",
                    "512",
                    "513",
                    "514",
                    "1024",
                    "4096",
                    "8192",
                    "8194",
                    "16384",
                    "32768",
                    "40960",
                    "40961",
                    "131072",
                    "131073",
                    "163840",
                    "262144",
                    "262145",
                    "1048576",
                    "-1",
                    "0",
                    "auto",
                    "32k",
                    "32K",
                    "1M",
                    "2.5k",
                    "10_000",
                )
            ),
        ]
    )
    if m.rng.random() < 0.15:
        name = "VLLM_ALLOW_LONG_MAX_MODEL_LEN" if m.view.engine == "vllm" else "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"
        m.case["env"][name] = m.rng.choice(("1", "0", "true", "false"))
    return True


def _features(view: View, *, usual: bool) -> list[Groups]:
    """The rows of the table that a release has options for: usual ones, which go with most models, or the others."""
    rows = (ROOT / "tools/verdicts_features.tsv").read_text(encoding="utf-8").splitlines()
    wanted = [row.split("\t") for row in rows if row.startswith(view.engine + "\t") and row.endswith("\tusual") == usual]
    groups = [grouped(re.split(r" (?![^{]*\})", words)) for _, words, *_ in wanted]
    return [group for group in groups if view.fitting(group) == group]


def tuned(m: Making) -> bool:
    """A model with two to seven options that go with most models, in place of the options of the seed."""
    m.groups[:] = [one for one in m.groups if not one[0].startswith("-") or one[0] in ("--model", "--model-path")]
    m.case["env"] = {}
    usual = _features(m.view, usual=True)
    for _ in range(m.rng.randint(2, 7)):
        row = m.rng.choice(usual) if m.rng.random() < 0.8 else [valid(m.rng, m.view, m.rng.choice(m.view.options)) or []]
        added_names = {m.view.name(one[0]) for one in row if one}
        m.groups[:] = [*m.without(*added_names), *(list(one) for one in row if one)]
    return True


def features(m: Making) -> bool:
    """One to three features that interact with each other and with the model."""
    fits = _features(m.view, usual=False)
    for chosen in m.rng.sample(fits, m.rng.choice((1, 1, 2, 3))):
        m.groups[:] = m.without(*{m.view.name(one[0]) for one in chosen if m.view.option(one[0])})
        m.groups.extend(list(one) for one in chosen)
    return True


def drafts(m: Making) -> bool:
    """Speculative decoding, right or wrong for the model."""
    count = m.rng.choice((1, 2, 3, 4, 5, 8, 0))
    if m.view.engine == "vllm":
        method = m.rng.choice(
            (
                "mtp",
                "mtp",
                "ngram",
                "ngram",
                "eagle3",
                "eagle",
                "suffix",
                "medusa",
                "draft_model",
                "deepseek_mtp",
                "qwen3_next_mtp",
                "dflash",
                "ngram_gpu",
            )
        )
        data: dict[str, Any] = {"method": method, "num_speculative_tokens": count}
        if method.startswith("ngram") and m.rng.random() < 0.7:
            data |= {"prompt_lookup_max": m.rng.choice((2, 4, 5)), "prompt_lookup_min": m.rng.choice((1, 2, 6))}
        if method in ("eagle", "eagle3", "draft_model", "dflash") or m.rng.random() < 0.1:
            data["model"] = m.rng.choice((*DRAFTS, "Qwen/Qwen3-0.6B"))
        for key in m.rng.sample(sorted(data), m.rng.choice((0, 0, 0, 1))):
            del data[key]
        m.groups[:] = [one for one in m.groups if not one[0].startswith(("--speculative", "-sc"))]
        m.groups.append(["--speculative-config", json.dumps(data)])
        return True
    m.groups[:] = [one for one in m.groups if not one[0].startswith("--spec")]
    name = m.rng.choice(("EAGLE", "EAGLE3", "NEXTN", "NGRAM", "STANDALONE", "DFLASH", "eagle"))
    m.groups.append(["--speculative-algorithm", name])
    for option, value in (
        ("num-steps", count),
        ("eagle-topk", m.rng.choice((1, 1, 2, 4))),
        ("num-draft-tokens", m.rng.choice((2, 4, 6, 8, 16))),
    ):
        if m.rng.random() < 0.6:
            m.groups.append([f"--speculative-{option}", str(value)])
    if m.rng.random() < (0.8 if name in ("EAGLE3", "STANDALONE", "DFLASH") else 0.2):
        m.groups.append(["--speculative-draft-model-path", m.rng.choice((*DRAFTS, "Qwen/Qwen3-0.6B"))])
    return True


MUTATIONS: tuple[tuple[Mutation | None, int], ...] = (
    (None, 60), (tuned, 120), (added, 16), (crossed, 14), (features, 20), (length, 6), (overrides, 5), (drafts, 5), (typo, 2),
    (case_of_value, 2), (unit, 2), (number, 3), (json_type, 3), (json_key, 3), (json_text, 1), (dotted, 5), (appended, 2),
    (dashes, 2), (duplicate, 5), (config_file, 4), (other_release, 1), (other_engine, 1), (other_value, 2), (empty, 2),
)  # fmt: skip
"""The mutations with their weights; None leaves a launch as it is."""


def cases(engine: str, release: str, count: int, seed: int, started: list[Seed]) -> Iterator[Case]:
    """Cases of one release. The same arguments give the same cases."""
    rng = random.Random(f"{engine} {release} {seed}")
    view = View(engine, release, started)
    kinds, weights = zip(*MUTATIONS, strict=True)
    made: set[str] = set()
    while len(made) < count:
        seed_launch = rng.choice(started)
        case: Case = {"env": dict(seed_launch.env) if rng.random() < 0.5 else {}}
        groups = [list(one) for one in seed_launch.groups]
        if rng.random() < 0.95:
            groups = view.fitting(groups)
        if rng.random() < 0.5:
            groups = [one for one in groups if rng.random() < 0.7]
        _with_model(rng, view, groups)
        if rng.random() < 0.3:
            groups = groups[: rng.randint(2, 5)]
        making = Making(rng, view, groups, case)
        tried = rng.choices(kinds, weights, k=rng.choice((1, 1, 1, 1, 1, 1, 1, 2, 3)))
        tried.sort(key=lambda one: one is not tuned)
        kind = "+".join([one.__name__ for one in tried if one is not None and one(making)]) or "as_written"
        case |= {"engine": engine, "release": release, "kind": kind, "argv": [word for one in groups for word in one]}
        text = json.dumps([case["argv"], case["env"], case.get("files")])
        if text not in made and not any("\0" in word for word in case["argv"]):
            made.add(text)
            yield {"id": f"{engine}-{release}-{seed}-{len(made)}", **case}


def _with_model(rng: random.Random, view: View, groups: Groups) -> None:
    """Give a launch a model, mostly one whose facts are those of the oracle's fixture."""
    first = groups[0] if groups and not groups[0][0].startswith("-") else None
    given = next((one for one in groups if one[0].partition("=")[0] in ("--model", "--model-path")), None)
    named = first[0] if first else given[1] if given and len(given) == 2 else ""
    if named in NAMED and rng.random() < 0.8:
        return
    model = rng.choice(MODELS[rng.choice(list(MODELS))])
    if first is not None:
        groups.remove(first)
    groups[:] = [one for one in groups if one is not given]
    if view.engine == "vllm":
        groups.insert(0, [model])
    elif rng.random() < 0.99:
        groups.insert(0, ["--model-path", model])


# -- servelint's verdict, and the two compared


@dataclass(slots=True)
class Tally:
    """Agreement over some cases.

    Attributes:
        apart: Reason -> number of cases that are not compared.
        missed: The engine's message, shortened -> cases that servelint accepts.
        wrong: Rule -> accepted cases in which it is an error of the start.
        later: Rule -> accepted cases in which it is an error of a later stage, which the oracle does not reach.
    """

    cases: int = 0
    releases: set[str] = field(default_factory=set)
    apart: Counter[str] = field(default_factory=Counter)
    parse_same: int = 0
    parsed: int = 0
    refused: int = 0
    told: int = 0
    accepted: int = 0
    falsely: int = 0
    missed: dict[str, list[Case]] = field(default_factory=lambda: defaultdict(list))
    missed_parse: dict[str, list[Case]] = field(default_factory=lambda: defaultdict(list))
    wrong: dict[str, list[Case]] = field(default_factory=lambda: defaultdict(list))
    later: dict[str, list[Case]] = field(default_factory=lambda: defaultdict(list))


def judged(case: Case, gpu: str, gpus: int) -> list[servelint.Finding]:
    """servelint's errors for a case."""
    settings = Settings(gpu=gpu, gpu_count=gpus)
    back = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (case.get("files") or {}).items():
            Path(folder, os.path.basename(name)).write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            found = servelint.check_command(
                case["engine"], case["argv"], version=case["release"], env=case.get("env") or {}, settings=settings
            )
        finally:
            os.chdir(back)
    return [one for one in found if one.severity == "error"]


def apart(
    verdict: Case,
    argv: Collection[str] = (),
    env: Collection[str] = (),
    host: re.Pattern[str] = re.compile(HOST),
) -> str | None:
    """Why a verdict says nothing about the launch alone; None if it does."""
    if verdict.get("harness_suspect") or verdict.get("stage") == "?":
        return "harness"
    if verdict.get("error") == "exit 0 (help/version)":
        return "help or version"
    if not verdict["ok"] and verdict["stage"] != "parse" and host.search(verdict["error"]):
        return "host"
    if not verdict["ok"] and re.search(HOST_FILES, verdict["error"]):
        return "host"
    plugins = any(re.match(PLUGINS, word) for word in argv) or "SGLANG_PLUGINS" in env
    if not verdict["ok"] and plugins and re.search(OF_PLUGINS, verdict["error"]):
        return "host"
    if set(verdict.get("families") or {}) - NAMED and verdict["stage"] != "parse":
        return "fixture"
    if not verdict["ok"] and re.search(OTHER_DTYPE, verdict["error"]) and "--dtype" not in argv:
        return "fixture"
    return None


def compare(pairs: Iterable[tuple[Case, Case]], gpu: str, gpus: int, tally: Tally | None = None) -> Tally:
    """Compare the verdicts of an oracle with servelint's."""
    tally = tally or Tally()
    parser = frozenset(rule.id for rule in rules() if rule.complaint is not None)
    for case, verdict in pairs:
        tally.cases += 1
        tally.releases.add(case["release"])
        reason = (
            "environment" if AT_IMPORT & set(case.get("env") or {}) else apart(verdict, case["argv"], case.get("env") or {})
        )
        if reason is not None:
            tally.apart[reason] += 1
            continue
        errors = judged(case, gpu, gpus)
        if verdict["ok"] and any(one.rule in BY_GPUS for one in errors):
            tally.apart["host"] += 1
            continue
        if verdict["ok"] and any(one.rule in BY_SERVER for one in errors):
            tally.apart["harness"] += 1
            continue
        row = case | {
            "error": verdict.get("error"),
            "found": sorted({one.rule for one in errors}),
            "messages": [one.message for one in errors],
        }
        start = [one for one in errors if one.impact == "crash-at-start"]
        at_parse = not verdict["ok"] and verdict["stage"] == "parse"
        tally.parsed += 1
        by_parser = any(one.rule in parser for one in start)
        tally.parse_same += bool(errors) if at_parse else not (verdict["ok"] and by_parser)
        if at_parse and not errors:
            tally.missed_parse[shortened(verdict["error"])].append(row)
        elif not verdict["ok"] and not at_parse:
            tally.refused += 1
            tally.told += bool(errors)
            if not errors:
                tally.missed[shortened(verdict["error"])].append(row)
        elif verdict["ok"]:
            tally.accepted += 1
            tally.falsely += bool(start)
            for one in errors:
                (tally.wrong if one.impact == "crash-at-start" else tally.later)[one.rule].append(row)
    return tally


def shortened(message: str) -> str:
    """A message without what differs between launches of one class."""
    text = re.sub(
        r"^\d+ validation errors? for (\w+)\n.*?(?:Value error, |Assertion failed, |\n)", r"\1: ", message, flags=re.S
    )
    text = re.sub(r"\[type=.*", "", text, flags=re.S)
    text = re.sub(r"'[^']{0,80}'|\"[^\"]{0,80}\"", "'…'", text)
    return re.sub(r"\s+", " ", re.sub(r"-?\d+(?:\.\d+)?", "N", text))[:150].strip()


def rendered(tally: Tally, examples: int = 2) -> str:
    """The report: figures, then the classes with examples."""

    def share(part: int, whole: int) -> str:
        return f"{part}/{whole} = {part / whole:.2%}" if whole else "none"

    lines = [
        (
            f"cases                 {tally.cases} on {len(tally.releases)} releases; "
            f"not compared: {sum(tally.apart.values())} {dict(tally.apart)}"
        ),
        f"accepted by the engine {share(tally.accepted, tally.parsed)} of those compared",
        f"parse stage           {share(tally.parse_same, tally.parsed)} agree",
        f"refused past parser   {share(tally.told, tally.refused)} get an error",
        f"accepted              {share(tally.falsely, tally.accepted)} get an error of the start",
    ]
    for title, classes in (
        ("errors on accepted launches", tally.wrong),
        ("errors of later stages on accepted launches", tally.later),
        ("missed by the parser", tally.missed_parse),
        ("missed past the parser", tally.missed),
    ):
        lines.append(f"\n== {title}: {sum(map(len, classes.values()))}")
        for name, rows in sorted(classes.items(), key=lambda item: -len(item[1])):
            releases = sorted({row["release"] for row in rows})
            lines.append(f"{len(rows):5} {name}  [{', '.join(releases)}]")
            for row in rows[:examples]:
                shown = " ".join(f"{k}={v}" for k, v in (row.get("env") or {}).items())
                lines.append(
                    f"        {row['release']} {shown} {json.dumps(row['argv'], ensure_ascii=False)} {row.get('files') or ''}"
                )
    return "\n".join(lines)


# -- the command


def _rows(path: str) -> list[Case]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]


def _named(files: Iterable[str]) -> Iterator[str]:
    """Files of cases and verdicts by turns; those of a folder in the order of their names."""
    for name in files:
        if not os.path.isdir(name):
            yield name
            continue
        for path in sorted(Path(name).glob("*.cases.jsonl")):
            results = path.with_name(path.name.replace(".cases.", ".verdicts."))
            if results.exists():
                yield from (str(path), str(results))


def _pairs(written: str, results: str) -> list[tuple[Case, Case]]:
    found = {row["id"]: row for row in _rows(results)}
    return [(case, found[case["id"]]) for case in _rows(written) if case["id"] in found]


def _write(path: str, rows: Iterable[Case]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _run(options: argparse.Namespace) -> Tally:
    """Write, ask the oracle and compare, release by release."""
    tally, started = Tally(), seeds(options.engine, options.seeds)
    os.makedirs(options.folder, exist_ok=True)
    for release in options.releases.split(","):
        last = "examples" if options.of == "examples" else options.seed
        stem = os.path.join(options.folder, f"{options.engine}-{release}-{last}")
        if options.of == "examples":
            made = list(examples_anywhere(options.engine, release, options.gpu, options.gpus))
        else:
            made = list(cases(options.engine, release, options.count, options.seed, started))
        known = os.path.exists(stem + ".verdicts.jsonl") and _rows(stem + ".cases.jsonl") == made
        if known:
            compare(_pairs(stem + ".cases.jsonl", stem + ".verdicts.jsonl"), GPUS[options.gpu], options.gpus, tally)
            continue
        _write(stem + ".cases.jsonl", made)
        _ask(options, release, stem, options.gpu, options.gpus)
        compare(_pairs(stem + ".cases.jsonl", stem + ".verdicts.jsonl"), GPUS[options.gpu], options.gpus, tally)
    return tally


def _ask(options: argparse.Namespace, release: str, stem: str, gpu: str, gpus: int) -> None:
    """Ask the oracle about a file of cases."""
    asked = {"--engine": options.engine, "--version": release, "--batch": stem + ".cases.jsonl"}
    asked |= {"--out": stem + ".verdicts.jsonl", "--gpu": gpu, "--gpus": str(gpus), "--timeout": "60"}
    words = [word for pair in {**asked, "--jobs": str(options.jobs)}.items() for word in pair]
    subprocess.run([sys.executable, options.oracle, *words], check=True)


# -- the examples of rules


def example_cases(engine: str, base: str, each: int = 99) -> Iterator[Case]:
    """The examples of the rules for refusals that hold in a release and that servelint judges so there.

    each: how many good and how many bad ones of a rule
    """
    taken: Counter[tuple[str, str]] = Counter()
    for rule, kind, case in _examples_of_rules(engine, base):
        if (rule["severity"], rule["impact"]) != ("error", "crash-at-start") or taken[rule["id"], kind] >= each:
            continue
        if not contains(loaded(compile_range(str(rule["versions"]))), release_key(base)):
            continue
        found = {one.rule for one in judged(case, GPUS[case["gpu"]], case["gpus"])}
        if (rule["id"] in found) if kind == "bad" else not found:
            taken[rule["id"], kind] += 1
            yield case


def examples_anywhere(engine: str, release: str, gpu: str, gpus: int) -> Iterator[Case]:
    """The examples of all rules for one machine, each once, on a release that they need not be for: both sides of bounds."""
    had: set[str] = set()
    for _, _, case in _examples_of_rules(engine, release):
        key = json.dumps([case["argv"], case["env"]])
        if (case["gpu"], case["gpus"]) == (gpu, gpus) and key not in had:
            had.add(key)
            yield case


def _examples_of_rules(engine: str, release: str) -> Iterator[tuple[dict[str, Any], str, Case]]:
    """Each rule with "bad" or "good" and an example of it as a case, if its launch and its machine can be asked about."""
    book = str(ROOT / "rules")
    machines = {known: name for name, known in GPUS.items()}
    for rule in (one for path in rule_files(book) for data in read_rules(path, book) for one in expand(data)):
        if rule["engine"] != engine:
            continue
        for kind in ("bad", "good"):
            for number, example in enumerate(rule["examples"][kind], start=1):
                launches = read(unmarked(*example_text(example))[0]).launches
                words = _plain(launches[0]) if len(launches) == 1 and launches[0].engine == engine else None
                gpu, gpus = str(example.get("gpu", "h100-80gb")), int(example.get("gpus", 8))
                gpu = {"h100": "h100-80gb", "a100": "a100-80gb"}.get(gpu, gpu)
                if words is None or gpu not in machines:
                    continue
                case: Case = {"id": f"{rule['id']} {kind} {number}", "engine": engine, "release": release, "argv": words[0]}
                yield rule, kind, case | {"env": words[1], "gpu": machines[gpu], "gpus": gpus}


def confirmations(cases: list[Case], before: dict[str, Case], after: dict[str, Case]) -> dict[str, list[str]]:
    """Of each rule that the oracle can decide, what it decides otherwise on the later release.

    before, after: the verdicts of both releases, by the ids of the cases
    """
    found: dict[str, list[str]] = {}
    for case in cases:
        one, other = before.get(case["id"]), after.get(case["id"])
        rule, kind, number = case["id"].rsplit(" ", 2)
        if one is None or other is None or any(apart(verdict, case["argv"], case["env"]) for verdict in (one, other)):
            continue
        if one["ok"] is (kind == "bad"):
            continue  # the oracle does not see what the rule is about
        said = found.setdefault(rule, [])
        if other["ok"] and not one["ok"]:
            said.append(f"{kind} {number} starts; before: {shortened(one['error'])}")
        elif not other["ok"] and (one["ok"] or _reason(one) != _reason(other)):
            said.append(f"{kind} {number} is refused: {shortened(other['error'])}")
    return found


def _reason(verdict: Case) -> str:
    """Why the oracle refuses a launch, without the values that it could have had: each release has other ones."""
    return re.split(r"(?i)[(. ]*(?:available|valid values|chose|choose from)\b", shortened(verdict["error"]))[0]


def confirmed_table(engine: str, base: str, release: str, found: dict[str, list[str]]) -> str:
    """The rules that the engine decided, as Markdown: first those that it decides otherwise."""
    other = {rule: said for rule, said in sorted(found.items()) if said}
    same = [f"`{rule}`" for rule in sorted(found.keys() - other.keys())]
    lines = [f"### Rules asked: {ENGINES[engine].name} {base} -> {release}", ""]
    lines += [f"{len(found)} rules decided: {len(same)} as before, {len(other)} otherwise.", ""]
    if other:
        lines += ["| rule | what the engine says |", "|---|---|"]
        lines += [f"| `{rule}` | {'; '.join(said).replace('|', chr(92) + '|')} |" for rule, said in other.items()]
        lines.append("")
    return "\n".join([*lines, "<details><summary>as before</summary>", "", ", ".join(same), "", "</details>", ""])


def _examples(options: argparse.Namespace) -> str:
    """Ask the oracle about the examples on both releases."""
    os.makedirs(options.folder, exist_ok=True)
    made = list(example_cases(options.engine, options.base, options.each))
    verdicts: dict[str, dict[str, Case]] = {options.base: {}, options.release: {}}
    for gpu, gpus in sorted({(case["gpu"], case["gpus"]) for case in made}):
        chosen = [case for case in made if (case["gpu"], case["gpus"]) == (gpu, gpus)]
        for release, known in verdicts.items():
            stem = os.path.join(options.folder, f"{options.engine}-{release}-{gpu}-{gpus}")
            _write(stem + ".cases.jsonl", [case | {"release": release} for case in chosen])
            _ask(options, release, stem, gpu, gpus)
            known.update({row["id"]: row for row in _rows(stem + ".verdicts.jsonl")})
    found = confirmations(made, verdicts[options.base], verdicts[options.release])
    return confirmed_table(options.engine, options.base, options.release, found)


def main(argv: list[str] | None = None) -> int:
    """0: the figures reach the limits; 1: they do not; 2: wrong usage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    write, weigh, run, asking = (verbs.add_parser(name) for name in ("write", "compare", "run", "examples"))
    asking.add_argument("--engine", choices=("vllm", "sglang"), required=True)
    asking.add_argument("--base", required=True, help="the release before, whose verdicts are compared")
    asking.add_argument("--release", required=True)
    asking.add_argument("--each", type=int, default=99, help="good and bad examples of each rule that are asked")
    for one in (write, run):
        one.add_argument("--engine", choices=("vllm", "sglang"), required=True)
        one.add_argument("--count", type=int, default=1000, help="cases for each release")
        one.add_argument("--seed", type=int, default=1)
        one.add_argument(
            "--seeds", action="append", default=[], metavar="FOLDER", help="files with more launches to start from"
        )
    write.add_argument("--release", required=True)
    write.add_argument("--out", required=True)
    weigh.add_argument("files", nargs="+", metavar="CASES VERDICTS | FOLDER")
    run.add_argument("--releases", required=True, help="with commas between")
    run.add_argument(
        "--of", choices=("mutations", "examples"), default="mutations", help="what is asked: `examples` of all rules"
    )
    for one in (run, asking):
        one.add_argument("--oracle", required=True, help="path of oracle.py")
        one.add_argument("--folder", required=True, help="where cases and verdicts are written")
        one.add_argument("--jobs", type=int, default=2)
    for one in (weigh, run):
        one.add_argument("--gpu", choices=sorted(GPUS), default="H100")
        one.add_argument("--gpus", type=int, default=8)
        one.add_argument("--examples", type=int, default=2, help="launches that are shown for each class")
        one.add_argument("--least-told", type=float, default=0.97)
        one.add_argument("--most-false", type=float, default=0.002)
        one.add_argument("--least-parse", type=float, default=0.997)
    options = parser.parse_args(argv)
    if options.verb == "write":
        started = seeds(options.engine, options.seeds)
        _write(options.out, cases(options.engine, options.release, options.count, options.seed, started))
        return 0
    if options.verb == "examples":
        print(_examples(options))
        return 0
    if options.verb == "run":
        tally = _run(options)
    else:
        files = list(_named(options.files))
        if len(files) % 2:
            parser.error("name a file of verdicts after each file of cases")
        tally = Tally()
        for written, results in zip(files[::2], files[1::2], strict=True):
            compare(_pairs(written, results), GPUS[options.gpu], options.gpus, tally)
    print(rendered(tally, options.examples))
    good = (
        tally.told >= options.least_told * tally.refused
        and tally.falsely <= options.most_false * tally.accepted
        and tally.parse_same >= options.least_parse * tally.parsed
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
