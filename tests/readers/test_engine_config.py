"""Files of options: what `--config FILE` takes, told from other files by their keys."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.files.siblings import Neighbours
from servelint.lint import check_launches
from servelint.readers import read
from tests.book import each_rule
from tests.launching import argv, launch_in, launches_in, lines, marked_launch, spans
from tests.together import together
from tests.wrapping import CLOSE, OPEN, single_quoted, unmarked, verb_of

VLLM = "model: Qwen/Qwen3-8B\nmax-model-len: 8k\n"


def test_options_and_their_places() -> None:
    launch, marks = marked_launch(
        """
        # options for vllm serve
        ⟦model⟧: ⟦Qwen/Qwen3-8B⟧
        ⟦max_model_len⟧: ⟦8192⟧
        ⟦enable-prefix-caching⟧: true
        enforce-eager: false
        ⟦served-model-name⟧:
          - ⟦one⟧
          - "⟦two⟧"
        ⟦kv-cache-dtype⟧: '⟦fp8⟧'
        """,
        "serve.yaml",
    )
    assert argv(launch) == [
        *("--model", "Qwen/Qwen3-8B", "--max_model_len", "8192", "--enable-prefix-caching"),
        *("--served-model-name", "one", "two", "--kv-cache-dtype", "fp8"),
    ]
    assert spans(launch.argv) == marks
    assert (launch.engine, launch.name, launch.fragment) == ("vllm", "config", True)
    assert lines(launch) == (2, 9)


def test_a_nested_value_is_json() -> None:
    launch, marks = marked_launch(
        """
        model: m
        max-model-len: 8192
        speculative-config:
          ⟦method⟧: ⟦mtp⟧
          num_speculative_tokens: 2
          draft: [1, true, null, "a\\"b"]
        """,
        "serve.yaml",
    )
    value = launch.argv[-1]
    assert value.value == '{"method": "mtp", "num_speculative_tokens": 2, "draft": [1, true, null, "a\\"b"]}'
    assert [value.text.cut(2, 8).span(), value.text.cut(12, 15).span()] == marks


def test_a_variable_is_not_known() -> None:
    launch = launch_in("model: m\nmax-model-len: ${LENGTH}\nport: $PORT\n", "a.yaml")
    assert [word.value for word in launch.argv] == ["--model", "m", "--max-model-len", None, "--port", None]


def test_a_dotted_key() -> None:
    assert argv(launch_in(VLLM + "speculative-config.method: mtp\n", "a.yaml"))[-2:] == ["--speculative-config.method", "mtp"]


@pytest.mark.parametrize(
    ("text", "name", "engine"),
    [
        (VLLM, "options.yaml", "vllm"),
        ("model-path: m\nmem-fraction-static: 0.8\n", "options.yml", "sglang"),
        ("model: m\ntensor-parallel-size: 2\nport: 1\n# vllm\n", "vllm.yaml", "vllm"),
        ("host: h\ntensor-parallel-size: 2\nport: 1\n# sglang\n", "sglang-prod.yaml", "sglang"),
    ],
)
def test_the_engine(text: str, name: str, engine: str) -> None:
    assert launch_in(text, name).engine == engine


@together(
    "text",
    [
        "model: m\nport: 8000\nhost: h\n# vllm or another\n",  # nothing that is one engine's
        "max-model-len: 8192\n",  # one key
        VLLM + "engine: vllm\n",
        VLLM + "base_url: http://localhost:8000/v1\ntemperature: 0\n",
        VLLM + "prompts: [a, b]\n",
        VLLM + "x-common: 1\n",
        "name: m\nengine_args:\n  model: m\n  max-model-len: 8192\n",
        "model: {name: m}\nmax-model-len: 8192\n",  # no option takes such a value
        "model: [a, b]\nmax-model-len: 8192\n",
        "model: m\ntask: generate\nseed: 1\n# vllm\n",  # words that any file may have
        "model_path: m\nmem_fraction_static: 0.8\n# mem-fraction-static\n",  # SGLang takes a key as it is written
        "- model: m\n  max-model-len: 8192\n",
        "max-model-len: 8192\n? [a]\n: b\n",
        "{max-model-len: 1, <<: {gpu-memory-utilization: 0.5, nope: 1}}\n",
    ],
)
def test_what_is_no_file_of_options(text: str) -> None:
    assert launches_in(text, "config.yaml") == []


@pytest.mark.parametrize(
    "text",
    [
        "model: m\nmax-model-len: &a\n  - *a\n",
        "hf-overrides: &a {b: *a}\nmax-model-len: 1\n",
        "hf-overrides: 2001-01-01\nmax-model-len: 0x10\n",
        "hf-overrides: {a: 2001-01-01, 1: 2, [3]: 4, b: !x y}\nmax-model-len: !!int x\n",
        "max-model-len: ~\nmodel: ''\n",
    ],
)
def test_odd_values(text: str) -> None:
    assert len(launches_in(text, "config.yaml")) <= 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "pip install vllm==0.27.1\nvllm serve --config {}\n"),
        (
            "compose.yml",
            "services: {{a: {{image: 'vllm/vllm-openai:v0.27.1', gpus: all, command: --config /o.y, volumes: ['{}:/o.y']}}}}",
        ),
        ("Dockerfile", 'FROM vllm/vllm-openai:v0.27.1\nCOPY {} /o.yaml\nCMD ["--config", "/o.yaml"]\n'),
        (
            "here.sh",
            "pip install vllm==0.27.1\ncat > o.yaml <<E\nmodel: m\nswap-space: 4\nE\nvllm serve --config o.yaml # {}\n",
        ),
    ],
)
def test_a_command_that_names_a_file_is_judged_with_it(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "options.yaml").write_text("model: m\nmax-model-len: 1\nswap-space: 4\n")

    def rules(path: str) -> list[tuple[str, str]]:
        source = Source(name, text.format(path))
        launches = read(source, Neighbours(str(tmp_path))).launches
        return [(one.rule, one.span.text) for one in check_launches(source, launches, Settings())]

    assert rules("./options.yaml") == [("vllm/removed-option", "swap-space")]
    if name != "here.sh":
        assert rules("./others.yaml") == []  # it may be anywhere


def _as_file(engine: str, example: dict[str, Any]) -> str | None:
    """A rule's example as a file of options; None if such a file cannot say it."""
    command = example["run"].replace(f"{OPEN}--", f"--{OPEN}")
    words = shlex.split(command.removeprefix(verb_of(command, engine)))
    lines: list[str] = []
    if words and not words[0].startswith("-"):
        lines.append(f"model: {single_quoted(words.pop(0))}")
    while words:
        name, sign, value = words.pop(0).partition("=")
        if not re.fullmatch(rf"--{OPEN}?[a-z][\w.-]*{CLOSE}?", name):
            return None
        values = [value] if sign else []
        while words and not words[0].startswith("-"):
            values.append(words.pop(0))
        shown = "true" if not values else single_quoted(values[0])
        lines.append(f"{name[2:]}: {shown if len(values) < 2 else '[' + ', '.join(map(single_quoted, values)) + ']'}")
    names = [line.partition(":")[0] for line in lines]
    return "\n".join(lines) + "\n" if len(set(names)) == len(names) > 1 else None


def _examples(kind: str) -> list[tuple[dict[str, Any], dict[str, Any], str]]:
    rules = each_rule()[len(kind) % 2 :: 2]  # of every second rule, others for each kind
    return [
        (rule, example, text)
        for rule in rules
        if rule["engine"] in ("vllm", "sglang") and "complaint" not in rule
        for example in rule["examples"][kind]
        if "run" in example and "version" in example and not example.keys() & {"env", "image"}
        if (text := _as_file(rule["engine"], example)) is not None
    ]


def _found(rule: dict[str, Any], example: dict[str, Any], text: str) -> list[Span]:
    """Where the rule's findings start in a file that holds an example."""
    source, _ = unmarked(f"{rule['engine']}.yaml", text + f"# {rule['engine']}\n")
    versions = {rule["engine"]: str(example["version"])}
    settings = Settings(engine_versions=versions, profile="audit", gpu=example.get("gpu"), gpu_count=example.get("gpus"))
    return [one.span for one in check_launches(source, read(source).launches, settings) if one.rule == rule["id"]]


@pytest.mark.book
def test_bad_examples_are_found_at_their_marks_or_not_at_all() -> None:
    found = [(_found(rule, example, text), rule["id"], text) for rule, example, text in _examples("bad")]
    # what a file leaves out may stand beside it: a rule that asks for that is silent
    wrong = [one for one in found if [span.start for span in one[0]] not in ([], [one[2].find(OPEN)])]
    assert wrong == []
    assert sum(bool(spans) for spans, _, _ in found) > len(found) / 3


@pytest.mark.book
def test_good_examples_are_not_found() -> None:
    assert [(rule["id"], text) for rule, example, text in _examples("good") if _found(rule, example, text)] == []
