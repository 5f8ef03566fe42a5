"""What the environment and the command line say."""

from __future__ import annotations

import os

from servelint.settings import reading
from servelint.settings.keys import KEYS, variable
from servelint.settings.layers import excluded
from tests.together import together


def environment(**variables: str) -> tuple[dict[str, object], list[str]]:
    faults: list[str] = []
    layer = reading.from_env({f"SERVELINT_{name}": value for name, value in variables.items()}, faults)
    return {name: value.value for name, value in layer.values.items()}, faults


@together(
    "name, text, key, value",
    [
        ("SELECT", "vllm/*, sglang/*", "select", ("vllm/*", "sglang/*")),
        ("EXTEND_SELECT", "vllm/a", "extend-select", ("vllm/a",)),
        ("IGNORE", "container/*,", "ignore", ("container/*",)),
        ("PROFILE", "audit", "profile", "audit"),
        ("SEVERITY", " error ", "severity", "error"),
        ("FAIL_ON", "never", "fail-on", "never"),
        ("ENGINE_VERSIONS", "vllm=v0.20.0,sglang=0.5.9", "engine-versions", {"vllm": "0.20.0", "sglang": "0.5.9"}),
        ("GPU", "h100", "gpu", "h100"),
        ("GPU_COUNT", "8", "gpu-count", 8),
        ("RULES", f"policy{os.pathsep}more", "rules", ("policy", "more")),
        ("FORCE_EXCLUDE", "yes", "force-exclude", True),
        ("FORMAT", "github", "format", "github"),
    ],
)
def test_variables(name: str, text: str, key: str, value: object) -> None:
    assert environment(**{name: text}) == ({key: value}, [])


def test_a_comma_in_braces_is_part_of_a_pattern() -> None:
    layer = reading.from_env({"SERVELINT_EXCLUDE": "*.{yml,yaml},vendor"}, [])
    assert [glob.text for glob in excluded([layer])] == ["*.{yml,yaml}", "vendor"]


def test_the_variable_that_switches_files_off() -> None:
    faults: list[str] = []
    switched = [reading.is_isolated({"SERVELINT_ISOLATED": value}, faults) for value in ("1", "no", "", "perhaps")]
    assert (switched, faults) == (
        [True, False, False, False],
        ['SERVELINT_ISOLATED: "perhaps" is neither true nor false'],
    )


def test_what_is_empty_says_nothing() -> None:
    assert environment(PROFILE="", SELECT="  ") == ({}, [])


def test_what_a_file_extends_is_said_in_the_file() -> None:
    assert environment(EXTENDS="x.toml") == ({}, [])
    assert not KEYS["extends"].variable


@together(
    "name, text, said",
    [
        ("PROFILE", "strct", '"strct" is none of default, strict, audit (did you mean "strict"?)'),
        ("GPU", "potato", '"potato" is not a GPU that servelint knows; use one of '),
        ("GPU_COUNT", "-1", '"-1" is not a whole number from 1'),
        ("GPU_COUNT", "two", '"two" is not a whole number from 1'),
        ("FORCE_EXCLUDE", "maybe", '"maybe" is neither true nor false'),
        ("ENGINE_VERSIONS", "vllm", '"vllm" names no release; write ENGINE=RELEASE, such as vllm=0.19.1'),
        ("ENGINE_VERSIONS", "olama=1", '"olama" is not an engine; use one of vllm, '),
        ("EXCLUDE", "../x", "'../x' leads out of the folder that it is relative to"),
    ],
)
def test_what_makes_no_sense(name: str, text: str, said: str) -> None:
    (fault,) = environment(**{name: text})[1]
    assert fault.startswith(f"SERVELINT_{name}: {said}")


def test_variables_that_are_nearly_those_that_are_read() -> None:
    given = {
        "SERVELINT_PROFIL": "x",
        "SERVELINT_VERSION": "1",
        "SERVELINT_HOME": "y",
        "SERVELINT_PROFILE": "audit",
        "HOME": "z",
    }
    assert reading.unread_variables(given) == ['SERVELINT_PROFIL is not read (did you mean "SERVELINT_PROFILE"?)']
    assert reading.unread_variables({variable(name): "" for name in KEYS if name != "extends"}) == []


def test_options() -> None:
    faults: list[str] = []
    given = {
        "select": ["vllm/a,vllm/b", "sglang/*"],
        "ignore": [],
        "profile": None,
        "force-exclude": False,
        "rules": [f"a{os.pathsep}b", "c,d"],
        "engine-versions": ["vllm=0.20.0", "vllm=0.21.0"],
    }
    layer = reading.from_cli(given, faults)
    assert faults == []
    assert {name: value.value for name, value in layer.values.items()} == {
        "select": ("vllm/a", "vllm/b", "sglang/*"),
        "rules": (f"a{os.pathsep}b", "c,d"),
        "engine-versions": {"vllm": "0.21.0"},
    }
    assert str(layer.values["engine-versions"].origin) == "--engine-version"
