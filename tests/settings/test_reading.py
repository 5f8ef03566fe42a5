"""What may be written in a settings file, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.engines import ENGINE_NAMES
from servelint.files.toml_document import Document, parse
from servelint.settings.layers import Layer, excluded
from servelint.settings.reading import to_layer, unknown_rules
from tests.together import together

FOLDER = "/repo"
ENGINES = ", ".join(ENGINE_NAMES)
PER_PATH = 'write [[per-path]] with paths = ["..."] and ignore = ["..."]'


def read(text: str, name: str = "servelint.toml", folder: str = FOLDER) -> tuple[Layer, list[Problem]]:
    document = parse(Source(name, text))
    assert isinstance(document, Document)
    problems: list[Problem] = []
    return to_layer(document, f"{folder}/{name}", problems), problems


def said(text: str, name: str = "servelint.toml") -> list[str]:
    return [f"{problem.line}:{problem.column}: {problem.message}" for problem in read(text, name)[1]]


EVERYTHING = """\
extends = "../base.toml"
select = ["vllm/*"]
extend-select = ["sglang/*"]
ignore = ["container/no-gpu"]
profile = "audit"
severity = "warning"
fail-on = "never"
gpu = "h100-80gb"
gpu-count = 2
rules = []
exclude = ["vendor"]
extend-exclude = ["*.example.yml"]
force-exclude = true
format = "json"

[engine-versions]
vllm = "v0.20.0"
sglang = "0.5.9.post1"

[rule."vllm/some-rule"]
severity = "info"
tokens = 4

[[per-path]]
paths = ["deploy/**", "*.sh"]
profile = "strict"
engine-versions = {vllm = "0.27.1"}
rule."vllm/*".severity = "error"
"""


def test_everything() -> None:
    found, problems = read(EVERYTHING)
    assert problems == []
    assert {name: value.value for name, value in found.values.items() if not name.endswith("exclude")} == {
        "extends": "/base.toml",
        "select": ("vllm/*",),
        "extend-select": ("sglang/*",),
        "ignore": ("container/no-gpu",),
        "profile": "audit",
        "severity": "warning",
        "fail-on": "never",
        "gpu": "h100-80gb",
        "gpu-count": 2,
        "rules": (),
        "format": "json",
        "engine-versions": {"vllm": "0.20.0", "sglang": "0.5.9.post1"},
    }
    assert found.get("force-exclude") is True
    assert [glob.text for glob in excluded([found])] == ["vendor", "*.example.yml"]
    assert {name: value.value for name, value in found.rules["vllm/some-rule"][1].items()} == {"severity": "info", "tokens": 4}
    (table,) = found.per_path
    assert [glob.text for glob in table.paths] == ["deploy/**", "*.sh"]
    assert (table.get("profile"), table.get("engine-versions")) == ("strict", {"vllm": "0.27.1"})
    assert table.rules["vllm/*"][1]["severity"].value == "error"


def test_one_gpu_is_a_number_of_gpus() -> None:
    assert read("gpu-count = 1")[0].get("gpu-count") == 1


def test_places_of_values() -> None:
    found, _ = read(EVERYTHING)
    assert str(found.values["profile"].origin) == "servelint.toml:5:11"
    assert str(found.values["select"].part(0)) == "servelint.toml:2:11"
    assert str(found.values["engine-versions"].part("sglang")) == "servelint.toml:18:10"
    assert str(found.rules["vllm/some-rule"][0]) == "servelint.toml:20:7"
    assert str(found.rules["vllm/some-rule"][1]["tokens"].key) == "servelint.toml:22:1"
    assert str(found.per_path[0].origin) == "servelint.toml:24:3"


def test_the_table_of_a_project_file() -> None:
    text = "[project]\nname = 'x'\n[tool.servelint]\nprofile = 'strict'\nselct = 1\n[[tool.servelint.per-path]]\npaths = 'x'\n"
    assert read(text, "pyproject.toml")[0].get("profile") == "strict"
    assert said(text, "pyproject.toml") == [
        '5:1: unknown key "selct" (did you mean "select"?)',
        '7:9: paths is a list: write ["x"]',
    ]


@together(
    "text, expected",
    [
        ('selct = ["x"]', '1:1: unknown key "selct" (did you mean "select"?)'),
        ("xyzzy = 1", '1:1: unknown key "xyzzy"'),
        ("'rule ' = {}", '1:1: unknown key "rule " (did you mean "rule"?)'),
        ("extend-ignore = []", '1:1: unknown key "extend-ignore"; ignore adds to what is inherited'),
        ("engine-version = 'x'", '1:1: unknown key "engine-version"; write [engine-versions] with vllm = "0.19.1"'),
        ("per-file-ignores = 1", f'1:1: unknown key "per-file-ignores"; {PER_PATH}'),
        ("extends = ['a']", "1:11: extends is a text, not a list"),
        ('select = "vllm/*"', '1:10: select is a list: write ["vllm/*"]'),
        ("ignore = 1", "1:10: ignore is a list of texts, not a number"),
        ("ignore = ['a', 1]", "1:16: an element of ignore is a text, not a number"),
        ("profile = 'strct'", '1:11: "strct" is none of default, strict, audit (did you mean "strict"?)'),
        ("profile = true", "1:11: profile is one of default, strict, audit, not true or false"),
        ("severity = 'never'", '1:12: "never" is none of error, warning, info'),
        ("fail-on = 1979-05-27", "1:11: fail-on is one of error, warning, info, never, not a date or a time"),
        ("gpu = 'h1000'", '1:7: "h1000" is not a GPU that servelint knows; did you mean h100, p100, h800, h200?'),
        ("gpu = 1.5", "1:7: gpu is a text, not a number"),
        ("gpu-count = 0", "1:13: gpu-count is a whole number from 1, not 0"),
        ("gpu-count = true", "1:13: gpu-count is a whole number from 1, not true or false"),
        ("gpu-count = '2'", "1:13: gpu-count is a whole number from 1, not a text"),
        ("force-exclude = 1", "1:17: force-exclude is true or false, not a number"),
        ("exclude = ['../x']", "1:12: '../x' leads out of the folder that it is relative to"),
        ("rules = ['missing']", '1:10: "missing" is not a folder'),
        ("engine-versions = 'x'", '1:19: engine-versions is a table, not a text: write engine-versions = {vllm = "0.19.1"}'),
        ("[engine-versions]\nvlm = '1'", f'2:1: "vlm" is not an engine; use one of {ENGINES} (did you mean "vllm"?)'),
        ("[engine-versions]\nvllm = 0.19", '2:8: the release of vllm is a text, not a number: write vllm = "0.19"'),
        ("[engine-versions]\nvllm = 'latest'", '2:8: "latest" is not a release of vLLM; releases look like 0.19.1'),
        ("rule = 1", '1:8: rule is a table of tables, a number is not: write [rule."vllm/some-rule"]'),
        ("[rule]\n'vllm/x' = 'info'", '2:1: write [rule."vllm/x"] and what is set for it, such as severity = "warning"'),
        ("[rule.x]\nseverity = 'off'", '2:12: "off" is none of error, warning, info'),
        ("per-path = 1", '1:1: per-path is a list of tables: write [[per-path]] and paths = ["..."]'),
        ("[[per-path]]\nprofile = 'audit'", '1:3: per-path needs the paths that it is for: paths = ["deploy/**"]'),
        ("[[per-path]]\npaths = []", '1:3: per-path needs the paths that it is for: paths = ["deploy/**"]'),
        ("[[per-path]]\npaths = ['a']\nrules = []", "3:1: rules applies to the whole file: write it above the tables"),
        ("[[per-path]]\npaths = ['a']\nselct = []", '3:1: unknown key "selct" (did you mean "select"?)'),
        ("[[per-path]]\npaths = ['a', '..']", "2:15: '..' leads out of the folder that it is relative to"),
        ("[per-path]\npaths = ['a']", "1:2: per-path is a list of tables: write [[per-path]] with two brackets"),
    ],
)  # fmt: skip
def test_what_is_wrong(text: str, expected: str) -> None:
    assert said(text) == [expected]


def test_all_at_once_and_what_is_right_is_kept() -> None:
    found, problems = read("selct = []\nprofile = 'audit'\nseverity = 'x'\n[engine-versions]\nvllm = 1\nsglang = '0.5.9'\n")
    assert [(problem.line, problem.column) for problem in problems] == [(1, 1), (3, 12), (5, 8)]
    assert (found.get("profile"), found.get("severity"), found.get("engine-versions")) == ("audit", None, {"sglang": "0.5.9"})


def test_folders_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "team" / "policy").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    found, problems = read("rules = ['./policy', 'missing']", folder=str(tmp_path / "team"))
    assert found.get("rules") == (str(Path("team", "policy")), str(Path("team", "missing")))
    assert [problem.message for problem in problems] == ['"missing" is not a folder']


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ('"container/secret-in-plain-text"\nallow = ["EMPTY*"]', None),
        ('"container/secret-in-plain-text"\nallow = 1', "allow of container/secret-in-plain-text is a list of texts"),
        ('"container/secret-in-plain-text"\nalow = []', 'container/secret-in-plain-text has no option "alow"'),
        ('"container/*"\nallow = []', '"allow" is set for container/*, and an area has only '),
        ('"container/nothing"\nallow = []', 'no rule matches "container/nothing"'),
    ],
)
def test_options_of_rules(table: str, fault: str | None) -> None:
    name, _, rest = table.partition("\n")
    layer, problems = read(f"[rule.{name}]\n{rest}\n")
    assert problems == []
    said = [wrong for _, wrong in unknown_rules([layer], ())]
    assert [fault is not None and one.startswith(fault) for one in said] == ([] if fault is None else [True])
