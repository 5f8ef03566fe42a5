"""tools/verdicts: mutated launches, and the verdicts of an oracle compared with servelint's."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from servelint.models import catalog

TOOL = Path(__file__).parent.parent.parent / "tools/verdicts.py"


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verdicts", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["verdicts"] = module
    spec.loader.exec_module(module)
    return module


verdicts = _loaded()
STARTED = {
    "vllm": [
        verdicts.Seed(groups=[["Qwen/Qwen3-8B"], ["--max-num-seqs", "8"], ["--speculative-config", '{"method": "ngram"}']])
    ],
    "sglang": [verdicts.Seed(groups=[["--model-path", "Qwen/Qwen3-8B"], ["--tp", "2"], ["--attention-backend", "fa3"]])],
}


def case(number: int, *argv: str, **more: Any) -> dict[str, Any]:
    return {"id": str(number), "engine": "vllm", "release": "0.33.0", "argv": list(argv), "env": {}, **more}


def verdict(number: int, *, ok: bool = True, stage: str = "config", error: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": str(number), "ok": ok, "stage": stage, "error": error, **more}


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_same_seed_makes_the_same_cases(engine: str) -> None:
    release = {"vllm": "0.19.1", "sglang": "0.5.12"}[engine]
    made = [list(verdicts.cases(engine, release, 400, seed, STARTED[engine])) for seed in (3, 3, 4)]
    assert made[0] == made[1] != made[2]
    assert len({json.dumps([one["argv"], one["env"], one.get("files")]) for one in made[0]}) == 400
    kinds = {kind for one in (*made[0], *made[2]) for kind in one["kind"].split("+")}
    assert {"features", "length", "overrides", "drafts", "dotted", "config_file", "as_written"} <= kinds
    assert all(isinstance(word, str) for one in made[0] for word in one["argv"])
    assert STARTED["vllm"][0].groups[1] == ["--max-num-seqs", "8"]


def test_launches_to_start_from() -> None:
    found = verdicts.seeds("sglang")
    assert len(found) > 300
    assert any(["--disaggregation-mode", "decode"] in one.groups for one in found)


def test_groups() -> None:
    assert verdicts.grouped(["m", "-tp", "2", "--seed", "-1", "--eager"]) == [
        ["m"],
        ["-tp", "2"],
        ["--seed", "-1"],
        ["--eager"],
    ]


def test_models_are_known() -> None:
    names = [name for group in verdicts.MODELS.values() for name in group]
    assert [name for name in names if catalog.lookup(name) is None] == []


def test_values_of_elsewhere_and_nested_keys() -> None:
    made = [one for seed in (5, 6) for one in verdicts.cases("vllm", "0.19.1", 800, seed, STARTED["vllm"])]
    kinds = {kind for one in made for kind in one["kind"].split("+")}
    assert {"other_value", "json_type", "json_key"} <= kinds
    view = verdicts.View("vllm", "0.19.1", [])
    last = [one["argv"][-2:] for one in made if one["kind"] == "other_value"]
    assert all(word not in view.option(name).choices for name, word in last)
    assert {name for name, _ in last} & {"--kv-cache-dtype", "--load-format", "--model-impl", "--mm-encoder-attn-backend"}
    added = [word for one in made if one["kind"] == "appended" for word in one["argv"] if word.endswith("+")]
    assert added
    assert all("." in word for word in added)
    nested = {"hf-overrides.rope_scaling.factor", "hf-overrides.text_config.max_position_embeddings"}
    assert nested & {word[2:] for one in made for word in one["argv"]}


def test_comparison() -> None:
    long = ("Qwen/Qwen3-8B", "--max-model-len", "131072")
    pairs = [
        (case(1, "Qwen/Qwen3-8B"), verdict(1)),
        (case(2, *long), verdict(2, ok=False, error="greater than the derived max_model_len")),
        (case(3, *long), verdict(3)),
        (case(4, "Qwen/Qwen3-8B"), verdict(4, ok=False, error="some 17 reason")),
        (case(5, "Qwen/Qwen3-8B", "--no-such-option"), verdict(5, ok=False, stage="parse", error="unrecognized arguments")),
        (case(6, "Qwen/Qwen3-8B"), verdict(6, ok=False, stage="parse", error="error: odd")),
        (case(7, "Qwen/Qwen3-8B", "--no-such-option"), verdict(7)),
        (case(8, "Qwen/Qwen3-8B", "-tp", "8", "-pp", "3", "--distributed-executor-backend", "mp"), verdict(8)),
    ]
    tally = verdicts.compare(pairs, "h100-80gb", 8)
    assert (tally.parsed, tally.parse_same) == (7, 5)
    assert tally.apart == {"host": 1}
    assert (tally.refused, tally.told) == (2, 1)
    assert (tally.accepted, tally.falsely) == (3, 2)
    assert list(tally.missed) == ["some N reason"]
    assert list(tally.missed_parse) == ["error: odd"]
    assert set(tally.wrong) == {"vllm/model-len-above-model", "vllm/unknown-option"}
    text = verdicts.rendered(tally, 1)
    assert "refused past parser   1/2 = 50.00% get an error" in text
    assert "    1 vllm/model-len-above-model  [0.33.0]" in text


@pytest.mark.parametrize(
    ("reason", "row"),
    [
        ("harness", verdict(1, ok=False, error="x", harness_suspect=True)),
        ("harness", verdict(1, ok=False, stage="?", error="x")),
        ("host", verdict(1, ok=False, error="World size (16) is larger than the number of available GPUs (8)")),
        ("host", verdict(1, ok=False, stage="parse", error="Could not load logging config. File does not exist: /x.json")),
        (None, verdict(1, ok=False, stage="parse", error="argument --x: No such file or directory")),
        ("fixture", verdict(1, families={"some/unknown-model": "llama"})),
        ("help or version", verdict(1, error="exit 0 (help/version)")),
        ("fixture", verdict(1, ok=False, error="torch.bfloat16 is not supported for quantization method awq")),
        (None, verdict(1, families={"Qwen/Qwen3-8B": "qwen3-8b"})),
        (None, verdict(1, ok=False, stage="parse", error="x", families={"some/unknown-model": "llama"})),
    ],
)
def test_what_is_counted_apart(reason: str | None, row: dict[str, Any]) -> None:
    assert verdicts.apart(row) == reason


def test_files_of_a_case_are_read(tmp_path: Path) -> None:
    refused = case(1, "Qwen/Qwen3-8B", "--config", "serve.yaml", files={"serve.yaml": "no-such-option: 1\n"})
    assert [one.rule for one in verdicts.judged(refused, "h100-80gb", 8)] == ["vllm/unknown-option"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "seeds", lambda engine, _: STARTED[engine])
    oracle = tmp_path / "oracle.py"
    oracle.write_text(
        "import json, sys\n"
        "asked = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
        "rows = [json.loads(line) for line in open(asked['--batch'])]\n"
        "with open(asked['--out'], 'w') as out:\n"
        "    for row in rows:\n"
        "        out.write(json.dumps({'id': row['id'], 'ok': True, 'stage': 'config', 'error': None}) + '\\n')\n"
    )
    options = ["--engine", "vllm", "--releases", "0.33.0", "--count", "4", "--folder", str(tmp_path / "out")]
    status = verdicts.main(["run", "--oracle", str(oracle), *options, "--most-false", "1", "--least-parse", "0"])
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert status == 0
    assert written == ["vllm-0.33.0-1.cases.jsonl", "vllm-0.33.0-1.verdicts.jsonl"]
    first = capsys.readouterr().out
    assert "cases                 4 on 1 releases; not compared: " in first
    oracle.unlink()  # what is known is not asked again
    assert verdicts.main(["run", "--oracle", str(oracle), *options, "--most-false", "1", "--least-parse", "0"]) == 0
    assert capsys.readouterr().out == first
    assert verdicts.main(["compare", str(tmp_path / "out"), "--most-false", "1", "--least-parse", "0"]) == 0
    assert capsys.readouterr().out == first


def test_accepted_launches_are_most() -> None:
    made = list(verdicts.cases("vllm", "0.33.0", 300, 9, STARTED["vllm"]))
    kinds = [one["kind"] for one in made]
    assert sum(kind in ("tuned", "as_written") for kind in kinds) > len(kinds) * 0.4
    assert {len(one["argv"]) for one in made if one["kind"] == "tuned"} >= {5, 8}


def test_names_of_plugins_that_the_oracle_lacks() -> None:
    refusal = verdict(1, ok=False, error="\"Reasoning parser 'house' not found. Available parsers: qwen3\"")
    assert verdicts.apart(refusal, ["--reasoning-parser-plugin", "/opt/house.py"]) == "host"
    assert verdicts.apart(refusal, ["--reasoning-parser", "house"]) is None
    assert (
        verdicts.apart(verdict(1, ok=False, error="Unknown speculative algorithm name: OURS"), [], {"SGLANG_PLUGINS": "x"})
        == "host"
    )


def test_examples_of_rules_on_releases_that_they_are_not_for() -> None:
    made = list(verdicts.examples_anywhere("sglang", "0.5.2", "H100", 8))
    assert {(one["release"], one["gpu"], one["gpus"]) for one in made} == {("0.5.2", "H100", 8)}
    asked = [(tuple(one["argv"]), tuple(one["env"].items())) for one in made]
    assert len(asked) == len(set(asked)) > 1000
    assert any("sglang/staging-buffer-needs-mooncake bad" in one["id"] for one in made)  # from 0.5.10 on


def test_the_examples_of_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    made = list(verdicts.example_cases("vllm", "0.33.0", 1))
    rules = {one["id"].split()[0] for one in made}
    assert len(rules) > 100
    assert "vllm/model-len-above-model" in rules
    chosen = [one for one in made if one["id"].split()[0] in sorted(rules)[:3]]
    monkeypatch.setattr(verdicts, "example_cases", lambda *_: iter(chosen))
    oracle = tmp_path / "oracle.py"
    oracle.write_text(
        "import json, sys\n"
        "asked = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
        "with open(asked['--out'], 'w') as out:\n"
        "    for row in map(json.loads, open(asked['--batch'])):\n"
        f"        new = asked['--version'] == '0.34.0' and row['id'].startswith({sorted(rules)[0]!r})\n"
        "        ok = ' good ' in row['id'] or new\n"
        "        said = {'id': row['id'], 'ok': ok, 'stage': 'config', 'error': None if ok else 'no 5'}\n"
        "        out.write(json.dumps(said) + '\\n')\n"
    )
    options = ["--engine", "vllm", "--base", "0.33.0", "--release", "0.34.0", "--folder", str(tmp_path / "out"), "--each", "1"]
    assert verdicts.main(["examples", "--oracle", str(oracle), *options]) == 0
    text = capsys.readouterr().out
    assert "### Rules asked: vLLM 0.33.0 -> 0.34.0" in text
    assert "3 rules decided: 2 as before, 1 otherwise." in text
    assert f"| `{sorted(rules)[0]}` | bad 1 starts; before: no N |" in text


def test_what_an_oracle_does_not_see_decides_nothing() -> None:
    bad, good = (case(1, "m") | {"id": f"vllm/x {kind} 1"} for kind in ("bad", "good"))
    ok, refused = verdict(1), verdict(1, ok=False, error="a reason")

    def found(one: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[str]]:
        answer: dict[str, list[str]] = verdicts.confirmations([one], {one["id"]: before}, {one["id"]: after})
        return answer

    assert found(bad, ok, ok) == found(good, refused, ok) == {}
    assert found(bad, refused, refused) == found(good, ok, ok) == {"vllm/x": []}
    assert found(bad, refused, verdict(1, ok=False, error="another")) == {"vllm/x": ["bad 1 is refused: another"]}
    assert found(good, ok, refused) == {"vllm/x": ["good 1 is refused: a reason"]}
    listed = [verdict(1, ok=False, error=f"no parser x (chose from {{ {names} }})") for names in ("a,b", "a,b,c")]
    assert found(bad, *listed) == {"vllm/x": []}
    assert found(bad, refused, verdict(1, ok=False, error="x", harness_suspect=True)) == {}
