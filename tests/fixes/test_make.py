"""Making fixes: the edits of a launch's file that a rule's fix stands for, and their titles."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from servelint.core.finding import Fix
from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.engines.argv import Setting
from servelint.engines.config import Config, configs
from servelint.fixes import fix_for
from servelint.fixes.change import Change
from servelint.fixes.make import of_change
from tests.launching import launch_in
from tests.together import together

SPEC = 'vllm serve m --speculative-config \'{"method": "mtp"}\''


def applied(fix: Fix, text: str, path: str) -> str:
    """The text after a fix. It has the launch that the fix expects."""
    for edit in sorted(fix.edits, key=lambda one: one.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert fix.effect is not None
    assert fix.effect.holds(launch_in(text, path))
    return text


def fixed(text: str, change: dict[str, Any], at: str = "port", path: str = "run.sh") -> tuple[str, str] | None:
    """The title of a fix, and the text after it; None if there is no fix. The text has the launch that the fix expects."""
    config = configs(launch_in(text, path), ["0.27.1"])[0]
    fix = fix_for({"safe": True, **change}, config, [at], str)
    if fix is None:
        return None
    text = applied(fix, text, path)
    other = text.replace("vllm serve", "vllm serve --headless").replace("model:", "headless: true\nmodel:")
    assert fix.effect is not None
    assert not fix.effect.holds(launch_in(other, path))
    return fix.title, text


@pytest.mark.parametrize(
    ("text", "change", "title", "after"),
    [
        ("vllm serve m --port 1", {"port": "8001"}, "write --port 8001", "vllm serve m --port 8001"),
        ("vllm serve m --port 1", {"seed": "1"}, "add --seed 1", "vllm serve m --port 1 --seed 1"),
        ("vllm serve m --port=1", {"seed": "3"}, "add --seed 3", "vllm serve m --port=1 --seed=3"),
        ("vllm serve m --port 1", {"enforce-eager": True}, "add --enforce-eager", "vllm serve m --port 1 --enforce-eager"),
        (
            "vllm serve m --enforce-eager",
            {"enforce-eager": False},
            "write --no-enforce-eager",
            "vllm serve m --no-enforce-eager",
        ),
        (
            "vllm serve m --port 1",
            {"port": "8001", "seed": "1"},
            "write --port 8001, add --seed 1",
            "vllm serve m --port 8001 --seed 1",
        ),
        (
            SPEC,
            {"speculative-config.num_speculative_tokens": "2"},
            'add "num_speculative_tokens": 2',
            SPEC.replace('"mtp"', '"mtp", "num_speculative_tokens": 2'),
        ),
        (SPEC, {"speculative-config.method": "12"}, 'write "method": "12"', SPEC.replace("mtp", "12")),
    ],
)
def test_set(text: str, change: dict[str, Any], title: str, after: str) -> None:
    assert fixed(text + "\n", {"set": change}) == (title, after + "\n")


def test_a_value_that_the_engine_reads_from_two_options() -> None:
    text = "python -m sglang.launch_server --model-path Qwen/Qwen3-Next-80B-A3B-Instruct --mamba-scheduler-strategy no_buffer\n"
    config = configs(launch_in(text, "run.sh"), ["0.5.9"])[0]
    change = {"safe": True, "set": {"effective.mamba-strategy": "extra_buffer"}}
    fix = fix_for(change, config, ["mamba-scheduler-strategy"], str)
    assert fix is not None
    assert fix.title == "write extra_buffer"
    assert [(text[edit.span.start : edit.span.end], edit.text) for edit in fix.edits] == [("no_buffer", "extra_buffer")]


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("vllm serve m --enforce-eager", {"enforce-eager": True}),
        ('vllm serve m --speculative-config \'{"method": ""}\'', {"speculative-config.method": "mtp"}),
        ("vllm serve m", {"env.A": "1"}),
        ("vllm serve m --port $PORT", {"port": "1"}),
        ("vllm serve m", {"no-such-option": "1"}),
    ],
)
def test_nothing_to_set_or_no_place_for_it(text: str, change: dict[str, Any]) -> None:
    assert fixed(text + "\n", {"set": change}) is None


@pytest.mark.parametrize(
    ("text", "names", "title", "after"),
    [
        ("vllm serve m --port 1 --seed 2", ["seed"], "delete --seed", "vllm serve m --port 1"),
        ("vllm serve m --port 1 --seed 2", ["seed", "port"], "delete --seed, delete --port", "vllm serve m"),
        ("vllm serve m --seed 1 --port 2 --seed 3", ["seed"], "delete --seed, delete --seed", "vllm serve m --port 2"),
        ("A=1 vllm serve m", ["env.A"], "delete A", "vllm serve m"),
    ],
)
def test_delete(text: str, names: list[str], title: str, after: str) -> None:
    assert fixed(text + "\n", {"delete": names}) == (title, after + "\n")


@pytest.mark.parametrize(
    ("at", "after"),
    [
        ("port", "vllm serve m --port 1 --max-num-seqs 8 --enable-prefix-caching --seed 2"),
        ("effective.prefix-caching", "vllm serve m --port 1 --enable-prefix-caching --max-num-seqs 8 --seed 2"),
        ("kv-cache-dtype", "vllm serve m --port 1 --enable-prefix-caching --seed 2 --max-num-seqs 8"),
    ],
)
def test_an_option_is_added_behind_the_one_that_the_rule_is_about(at: str, after: str) -> None:
    text = "vllm serve m --port 1 --enable-prefix-caching --seed 2\n"
    assert fixed(text, {"set": {"max-num-seqs": "8"}}, at) == ("add --max-num-seqs 8", after + "\n")


def test_delete_a_key_of_a_file_of_options() -> None:
    text = "model: m\nport: 1\nmax-model-len: 8192\ntensor-parallel-size: 2\nseed: 3\n"
    for name, line in (("seed", "seed: 3\n"), ("max-model-len", "max-model-len: 8192\n")):
        assert fixed(text, {"delete": [name]}, path="vllm.yaml") == (f"delete --{name}", text.replace(line, ""))


def test_nothing_to_delete() -> None:
    assert fixed("A=1 vllm serve m --port 1\n", {"delete": ["env.B"]}) is None


def test_add_an_option_where_no_release_is_known() -> None:
    config = configs(launch_in("vllm serve m --port 1\n", "run.sh"), [])[0]
    fix = fix_for({"safe": True, "set": {"seed": "1"}}, config, ["port"], str)
    assert fix is not None
    assert (fix.title, [edit.text for edit in fix.edits]) == ("add --seed 1", [" --seed 1"])


def test_a_note_goes_with_a_fix() -> None:
    config = configs(launch_in("vllm serve m --port 1\n", "run.sh"), ["0.27.1"])[0]
    for note in ("needs more memory", ""):
        fix = fix_for({"safe": False, "set": {"seed": "1"}, **({"note": note} if note else {})}, config, ["port"], str)
        assert fix is not None
        assert (fix.note, fix.safe) == (note, False)


def test_rename_a_variable() -> None:
    assert fixed("A=1 vllm serve m\n", {"rename": {"env.A": "B"}}) == ("write B for A", "B=1 vllm serve m\n")


OBJECT = 'vllm serve m --speculative-config \'{"method": "mtp", "num_speculative_tokens": 2}\''


@pytest.mark.parametrize(
    ("text", "name", "other", "title", "after"),
    [
        ("vllm serve m --port 1", "port", "--seed", "write --seed for --port", "vllm serve m --seed 1"),
        ("vllm serve m --port=1", "port", "--seed", "write --seed for --port", "vllm serve m --seed=1"),
        ("vllm serve m -tp 1", "tensor-parallel-size", "--seed", "write --seed for -tp", "vllm serve m --seed 1"),
        ("vllm serve m --port $PORT", "port", "--seed", "write --seed for --port", "vllm serve m --seed $PORT"),
        (OBJECT, "speculative-config.method", "way", "write way for method", OBJECT.replace("method", "way")),
    ],
)
def test_rename(text: str, name: str, other: str, title: str, after: str) -> None:
    assert fixed(text + "\n", {"rename": {name: other}}) == (title, after + "\n")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("vllm serve m --port 1", "seed"),
        ("vllm serve m --port 1", "speculative-config.method"),
        ("vllm serve m --speculative-config.method mtp", "speculative-config.method"),
        ("vllm serve m $ARGS", "port"),
        ("A=1 B=2 vllm serve m", "env.A"),
    ],
)
def test_nothing_to_rename_or_no_place_for_it(text: str, name: str) -> None:
    assert fixed(text + "\n", {"rename": {name: "B" if name == "env.A" else "--other"}}) is None


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("vllm serve --model m --port 1", "vllm serve m --port 1"),
        ("vllm serve --model=m --port 1", "vllm serve m --port 1"),
        ("vllm serve --port 1 --model m", "vllm serve m --port 1"),
        ("vllm serve --port 1 --model=m --seed 2", "vllm serve m --port 1 --seed 2"),
        ("vllm serve --port 1 --model $M --seed 2", "vllm serve $M --port 1 --seed 2"),
        ("vllm serve --port=1 --model=m", "vllm serve m --port=1"),
        ("vllm serve --model m", "vllm serve m"),
        ("vllm serve --model=a=b --port 1", "vllm serve a=b --port 1"),
    ],
)
def test_a_value_that_becomes_the_first_word(text: str, after: str) -> None:
    found = fixed(text + "\n", {"positional": "model"})
    assert found is not None
    assert found[0].endswith(" first, without --model")
    assert found[1] == after + "\n"


@pytest.mark.parametrize("text", ["vllm serve --port 1", "vllm serve --port 1 $ARGS"])
def test_no_value_to_move(text: str) -> None:
    assert fixed(text + "\n", {"positional": "model"}) is None


def test_several_values_are_not_moved() -> None:
    assert fixed("vllm serve --port 1 --served-model-name a b\n", {"positional": "served-model-name"}) is None


@pytest.mark.parametrize(
    ("change", "title", "after"),
    [
        ({"delete": ["speculative-config.num_speculative_tokens"]}, "delete num_speculative_tokens", {"method": "mtp"}),
        ({"delete": ["speculative-config.method"]}, "delete method", {"num_speculative_tokens": 2}),
        (
            {"set": {"speculative-config.num_speculative_tokens": "3"}},
            'write "num_speculative_tokens": 3',
            {"method": "mtp", "num_speculative_tokens": 3},
        ),
        (
            {"set": {"speculative-config.model": "x"}, "delete": ["speculative-config.method"]},
            'add "model": "x", delete method',
            {"num_speculative_tokens": 2, "model": "x"},
        ),
    ],
)
def test_keys_of_a_json_option(change: dict[str, Any], title: str, after: dict[str, Any]) -> None:
    found = fixed(OBJECT + "\n", change)
    assert found is not None
    assert found[0] == title
    assert json.loads(found[1].partition("'")[2].rpartition("'")[0]) == after


@pytest.mark.parametrize(
    "change",
    [
        {"delete": ["speculative-config.model"]},
        {"delete": ["effective.method"]},
        {"set": {"speculative-config.no_such_key": "2"}},
    ],
)
def test_no_key_to_change(change: dict[str, Any]) -> None:
    assert fixed(OBJECT + "\n", change) is None


def test_a_key_with_an_option_of_its_own() -> None:
    change = {"delete": ["kv-transfer-config.kv_connector"]}
    after = ("delete --kv-transfer-config.kv_connector", "vllm serve m\n")
    assert fixed("vllm serve m --kv-transfer-config.kv_connector X\n", change) == after


YAML = "model: m\nport: 1\nmax-model-len: 8192\ntensor-parallel-size: 2\n"
PASSES = 'vllm serve m --compilation-config=\'{"pass_config": {"fuse_norm_quant": true, "x": 1}, "mode": 1}\'\n'
EAGER = {"set": {"enforce-eager": True}}


@together(
    "text, change, title, after",
    [
        # options and flags
        ("vllm serve m --enforce-eager --port 1", {"set": {"enforce-eager": True, "port": "2"}}, "write --port 2",
         "vllm serve m --enforce-eager --port 2"),
        ("vllm serve m --no-enforce-eager", EAGER, "write --enforce-eager", "vllm serve m --enforce-eager"),
        ("vllm serve m --port 1", {"set": {"enforce-eager": False}}, "add --no-enforce-eager",
         "vllm serve m --port 1 --no-enforce-eager"),
        ("vllm serve m --port=1", EAGER, "add --enforce-eager", "vllm serve m --port=1 --enforce-eager"),
        ("vllm serve m=1", {"set": {"seed": "3"}}, "add --seed 3", "vllm serve m=1 --seed 3"),
        ('vllm serve m --port "1"', {"set": {"port": "2"}}, "write --port 2", 'vllm serve m --port "2"'),
        ("vllm serve m --port 1", {"set": {"seed": "1", "enforce-eager": True}}, "add --seed 1, add --enforce-eager",
         "vllm serve m --port 1 --seed 1 --enforce-eager"),
        ("vllm serve m --port 1 --seed 2", {"delete": ["seed", "env.B"]}, "delete --seed", "vllm serve m --port 1"),
        # variables
        ("A=1 vllm serve m", {"set": {"env.A": "2"}}, "write A=2", "A=2 vllm serve m"),
        ("A=1 B=2 vllm serve m", {"delete": ["env.A", "env.B"]}, "delete A, delete B", "vllm serve m"),
        ("export A=1\nvllm serve m", {"rename": {"env.A": "B"}}, "write B for A", "export B=1\nvllm serve m"),
        ("export A=1\nvllm serve m", {"delete": ["env.A"]}, "delete A", "vllm serve m"),
        # keys of JSON
        (OBJECT, {"set": {"speculative-config.method": "eagle"}}, 'write "method": "eagle"', OBJECT.replace("mtp", "eagle")),
        (PASSES, {"delete": ["compilation-config.pass_config.x"]}, "delete pass_config.x", PASSES.replace(', "x": 1', "")),
        (PASSES, {"set": {"compilation-config.pass_config.x": "2"}}, 'write "x": 2', PASSES.replace('"x": 1', '"x": 2')),
        (PASSES, {"set": {"compilation-config.backend": True}}, 'add "backend": true',
         PASSES.replace('"mode": 1', '"mode": 1, "backend": true')),
        (PASSES, {"rename": {"compilation-config.pass_config.x": "y"}}, "write y for x", PASSES.replace('"x"', '"y"')),
        # an array
        ('A=(--seed 1)\nvllm serve m "${A[@]}"', {"set": {"dtype": "half"}}, "add --dtype half",
         'A=(--seed 1 --dtype half)\nvllm serve m "${A[@]}"'),
        ('A=(--seed 1)\nvllm serve m "${A[@]}"', {"delete": ["seed"]}, "delete --seed", 'A=()\nvllm serve m "${A[@]}"'),
        # a file of options
        (YAML, {"set": {"port": "2"}}, "write --port 2", YAML.replace("port: 1", "port: 2")),
        (YAML, {"delete": ["port", "tensor-parallel-size"]}, "delete --port, delete --tensor-parallel-size",
         "model: m\nmax-model-len: 8192\n"),
        *[(YAML + "enforce-eager:" + value, {"delete": ["enforce-eager"]}, "delete --enforce-eager", YAML)
          for value in (" true", "  True # because", "", "  # because")],
        *[("model: m\nenforce-eager:" + value + YAML[8:], {"delete": ["enforce-eager"]}, "delete --enforce-eager", YAML)
          for value in ("", " true", " # because")],
    ],
)  # fmt: skip
def test_what_becomes_of_a_text(text: str, change: dict[str, Any], title: str, after: str) -> None:
    path = "vllm.yaml" if text.startswith("model: m\n") else "run.sh"
    assert fixed(text.rstrip("\n") + "\n", change, "seed", path) == (title, after.rstrip("\n") + "\n")


@together(
    "text, change",
    [
        ("vllm serve m --port 1", {"set": {"speculative-config.method": "mtp"}}),
        ("vllm serve m --enforce-eager", {"set": {"enforce-eager": "1"}}),
        ("vllm serve m --no-enforce-eager", {"set": {"enforce-eager": False}}),
        ("vllm serve m --port 1", {"set": {"port": "a b"}}),
        ("vllm serve m --port 1", {"set": {"port": ""}}),
        ("vllm serve m --port '1'2", {"set": {"port": "2"}}),
        ("vllm serve", {"set": {"seed": "1"}}),
        ("A= vllm serve m", {"set": {"env.A": "2"}}),
        (OBJECT, {"set": {"speculative-config.num_speculative_tokens": "auto"}}),
        (PASSES, {"set": {"compilation-config.backend": "a b"}}),
        (PASSES.replace("true", "$ON"), {"delete": ["compilation-config.mode"]}),
        ("A=1 vllm serve m", {"rename": {"env.B": "C"}}),
        ("vllm serve m --port 1", {"delete": ["env.B", "dtype"]}),
        ('A=(--model m)\nvllm serve --port 1 "${A[@]}"', {"positional": "model"}),
        (YAML, {"positional": "model"}),
        (YAML, {"positional": "port"}),
    ],
)
def test_a_fix_that_cannot_be_made(text: str, change: dict[str, Any]) -> None:
    assert fixed(text.rstrip("\n") + "\n", change, path="vllm.yaml" if text is YAML else "run.sh") is None


@together("change", [{"set": {"seed": "2"}}, EAGER, {"set": {"max-num-seqs": "2"}}], name=str)
def test_a_part_of_a_launch_gets_no_option(change: dict[str, Any]) -> None:
    launch = launch_in("vllm serve m --port 1\n", "run.sh")
    launch.fragment = True
    assert fix_for({"safe": True, **change}, configs(launch, ["0.27.1"])[0], ["port"], str) is None


def changed(text: str, change: Callable[[Config], Change], path: str = "run.sh") -> tuple[str, str] | None:
    """The title of the fix that makes a change, and the text after it; None if there is no fix."""
    config = configs(launch_in(text, path), ["0.27.1"])[0]
    fix = of_change(change(config), config, safe=False, title="a title")
    if fix is None:
        return None
    text = applied(fix, text, path)
    assert (fix.safe, fix.note) == (False, "")
    return fix.title, text


def option(config: Config, name: str) -> Setting:
    found = config.setting(name)
    assert found is not None
    return found


def written(word: Word) -> Span:
    span = word.text.span()
    assert span is not None
    return span


@together(
    "text, change, after",
    [
        ("vllm serve m --port 1 --seed 2", lambda one: Change(drop=[option(one, "port")]), "vllm serve m --seed 2"),
        ("vllm serve m --port 1 --seed 2", lambda one: Change(words=one.launch.argv[3:5]), "vllm serve m --port 1"),
        ("vllm serve m --port 1", lambda one: Change(replace=[(written(one.launch.argv[2]), "2")]), "vllm serve m --port 2"),
        (
            "vllm serve m --port 1 --seed 2",
            lambda one: Change(instead=(one.launch.argv[1:3], ["--host", "a", "b"])),
            "vllm serve m --host a b --seed 2",
        ),
        (OBJECT, lambda _: Change(key="speculative-config.method"), OBJECT.replace('"method": "mtp", ', "")),
        (OBJECT, lambda _: Change(key="speculative-config"), "vllm serve m"),
        (OBJECT, lambda _: Change(key="speculative-config.model"), None),
        ("vllm serve m --port 1", lambda _: Change(option=("--seed", "3")), "vllm serve m --port 1 --seed 3"),
        ("vllm serve m --port 1", lambda _: Change(option=("--no-such-option", "3")), None),
        ("A=1 B=2 vllm serve m", lambda _: Change(unset="B"), "A=1 vllm serve m"),
        ("A=1 B=2 vllm serve m", lambda _: Change(unset="C"), None),
        ("A=1 B=2 vllm serve m", lambda _: Change(rename=("B", "C")), "A=1 C=2 vllm serve m"),
        ("A=1 B=2 vllm serve m", lambda _: Change(rename=("A", "B")), None),
        ("vllm serve m", lambda _: Change(), None),
        (
            "vllm serve m --port 1\n  --seed 2",
            lambda one: Change(goes_on=Span(one.launch.source, 21, 21)),
            "vllm serve m --port 1 \\\n  --seed 2",
        ),
        (
            "vllm serve m --port 1 \\ \n  --seed 2",  # a backslash before a blank is a word
            lambda one: Change(goes_on=Span(one.launch.source, 21, 24)),
            "vllm serve m --port 1 \\\n  --seed 2",
        ),
        (
            "vllm serve m --port 1 \\ \n  --seed 2",
            lambda one: Change(goes_on=Span(one.launch.source, 22, 24)),
            "vllm serve m --port 1  \\\n  --seed 2",
        ),
        (
            "A=1 vllm serve m --port 1 --seed 2",
            lambda one: Change(drop=[option(one, "seed")], unset="A", option=("--host", "a")),
            "vllm serve m --port 1 --host a",
        ),
        (
            "A=1 vllm serve m --port 1 --seed 2",
            lambda one: Change(drop=[option(one, "port")], rename=("A", "B"), option=("--host", "a")),
            "B=1 vllm serve m --seed 2 --host a",
        ),
    ],
)
def test_what_a_change_makes_of_a_text(text: str, change: Callable[[Config], Change], after: str | None) -> None:
    assert changed(text + "\n", change) == (None if after is None else ("a title", after + "\n"))
