"""The life of an option or a variable, on a catalog made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.engines.catalog import Catalog, Option, compile_catalog, load
from servelint.report.reference import field, lasting, near, of_name, of_option, of_variable, takes, without_catalog
from tests.together import together

DATA: dict[str, Any] = {
    "engine": "vllm",
    "releases": ["0.6.0", "0.7.0", "0.8.0", "0.9.0"],
    "options": {
        "port": [{"releases": "0.6.0..", "type": "int", "default": 8000, "names": ["--port", "-p"]}],
        "swap-space": [
            {"releases": "0.6.0", "type": "float", "default": 4},
            {"releases": "0.7.0", "type": "float", "default": 4, "dest": "another"},
        ],
        "mode": [
            {"releases": "0.6.0", "choices": ["a", "b"]},
            {"releases": "0.8.0..", "choices": ["a", "b", "c"], "deprecated": True},
        ],
    },
    "positionals": [{"releases": "0.6.0..", "list": []}],
    "json": {},
    "env": {
        "VLLM_X": [
            {"releases": "0.6.0", "type": "bool", "default": False},
            {"releases": "0.7.0", "choices": ["1", "2"], "default": ""},
        ],
        "VLLM_Y": [{"releases": "0.8.0..", "type": "int", "deprecated": "no more"}],
    },
    "names": {},
}
CATALOG = Catalog(compile_catalog(DATA))


def test_a_beginning_of_a_name() -> None:
    page = of_name(CATALOG, "swap-s")
    assert page is not None
    assert page.splitlines()[2] == "--swap-s is short for it."
    assert [of_name(CATALOG, name) for name in ("--s", "S", "nothing")] == [None] * 3


class TestOption:
    @pytest.mark.parametrize("name", ["--port", "port"])
    def test_of_every_release(self, name: str) -> None:
        assert of_option(CATALOG, name) == (
            "--port of vLLM: 0.6.0 and later\n\nPort of the HTTP server.\n\n"
            "  0.6.0 and later: a whole number, default 8000, also -p\n"
        )

    def test_by_an_alias(self) -> None:
        page = of_option(CATALOG, "-p")
        assert page is not None
        assert page.startswith("-p of vLLM: ")
        assert "also --port" in page

    @pytest.mark.parametrize("name", ["--swap-space", "swap-space", "swap_space", "--swap_space"])
    def test_that_is_gone(self, name: str) -> None:
        page = of_option(CATALOG, name)
        assert page is not None
        head, _, purpose, _, body, _, instead = page.splitlines()
        assert head == "--swap-space of vLLM: 0.6.0 to 0.7.0; gone in 0.8.0"
        assert purpose == "GiB of main memory for each GPU that preempted requests move to."
        assert body == "  0.6.0 to 0.7.0: a number, default 4"  # bodies that read alike are one
        assert instead.startswith("Instead: ")

    def test_that_was_away(self) -> None:
        assert of_option(CATALOG, "mode") == (
            "--mode of vLLM: 0.6.0 and 0.8.0 and later\n\n"
            "  0.6.0: one of a or b\n"
            "  0.8.0 and later: one of a, b or c, deprecated\n"
        )

    @pytest.mark.parametrize("name", ["nothing", "--", "", "VLLM_X"])
    def test_that_no_release_has(self, name: str) -> None:
        assert of_option(CATALOG, name) is None


class TestTakes:
    @together(
        "body, text",
        [
            ({}, "text"),
            ({"type": ["int", "float"]}, "a whole number or a number"),
            ({"type": "json", "default": ""}, "JSON, default an empty text"),
            ({"kind": "flag"}, "a switch"),
            ({"kind": "flag", "default": False}, "a switch"),
            ({"kind": "toggle", "negatives": ["--no-x"]}, "a switch, off with --no-x"),
            ({"kind": "list", "nargs": "+", "type": "int"}, "a whole number, several"),
            ({"kind": "optional"}, "text, may stand alone"),
            ({"choices": ["a", "b"], "default": "a"}, "one of a or b, default a"),
            ({"deprecated": "soon"}, "text, deprecated"),
            ({"kind": "flag", "refuses": "use\n  --y"}, "stops the start: use --y"),
            ({"type": "human_readable_int"}, "a whole number, also as 8k or 8K"),
        ],
    )
    def test_on_one_line(self, body: dict[str, Any], text: str) -> None:
        assert takes(Option("x", body), "") == text

    @pytest.mark.parametrize(("type_", "kind"), [("int", "a whole number"), ("str", "text")])
    def test_what_may_be_none_is_told_by_what_else_it_may_be(self, type_: str, kind: str) -> None:
        told = takes(Option("x", {"type": ["none", type_]}), "")
        assert kind in told
        assert "a value" not in told

    def test_names_are_told_beside_a_spelling(self) -> None:
        option = Option("x", {"names": ["--x", "-x", "--ex"]})
        assert takes(option, "--x") == "text, also -x or --ex"
        assert takes(option, "") == "text"


class TestVariable:
    def test_that_is_gone(self) -> None:
        assert of_variable(CATALOG, "VLLM_X") == (
            "VLLM_X of vLLM: 0.6.0 to 0.7.0; gone in 0.8.0\n\n"
            "  0.6.0: true or false, default false\n"
            "  0.7.0: one of 1 or 2, default an empty text\n"
        )

    def test_that_is_read(self) -> None:
        assert of_variable(CATALOG, "VLLM_Y") == (
            "VLLM_Y of vLLM: 0.8.0 and later\n\n  0.8.0 and later: a whole number, deprecated\n"
        )

    def test_that_no_release_reads(self) -> None:
        assert of_variable(CATALOG, "--port") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("--swap-spac", "--swap-space"),
        ("swapspace", "--swap-space"),
        ("VLLM_XX", "VLLM_X"),
        ("VLLM_SOMETHING_ELSE", None),
        ("zzz", None),
    ],
)
def test_what_may_have_been_meant(name: str, expected: str | None) -> None:
    assert near(CATALOG, name) == expected


class TestField:
    """A key of a JSON option."""

    @together(
        "body, told",
        [
            ({"type": "int", "default": 2, "gt": 0}, "a whole number, more than 0, default 2"),
            ({"type": ["str", "null"], "default": None}, "a text"),
            ({"type": ["int", "str"]}, "a whole number or a text"),
            ({"type": "bool", "default": False}, "true or false, default false"),
            ({"choices": ["a", "b", None], "type": "str", "deprecated": True}, "one of a or b, deprecated"),
            ({"type": "object", "default": ""}, "an object, default an empty text"),
            ({"type": "any"}, "a value"),
            ({}, "a value"),
        ],
    )
    def test_what_it_takes(self, body: dict[str, Any], told: str) -> None:
        assert field(body) == told

    def test_of_many_choices_the_first_ones(self) -> None:
        assert field({"choices": ["a", "b", "c", "d"]}, 2) == "one of a, b and 2 more"


class TestLasting:
    @pytest.mark.parametrize(
        ("runs", "told"),
        [
            ([(0, 3)], "In every vLLM since 0.6.0, the oldest that is known."),
            ([(0, 1), (2, 3)], "In every vLLM since 0.6.0, the oldest that is known."),
            ([(1, 3)], "In vLLM 0.7.0 and later."),
            ([(0, 0), (2, 3)], "In vLLM 0.6.0 and 0.8.0 and later."),
            ([(0, 1)], "In vLLM 0.6.0 to 0.7.0; gone in 0.8.0."),
        ],
    )
    def test_in_which_releases_something_is(self, runs: list[tuple[int, int]], told: str) -> None:
        assert lasting(runs, CATALOG) == told


class TestAroundAnOption:
    """What is printed below the history."""

    def test_known_problems_related_options_and_documentation(self) -> None:
        catalog = load("vllm")
        assert catalog is not None
        text = of_name(catalog, "--tensor-parallel-size") or ""
        assert "\nKnown problems:\n  vllm/" in text
        assert "\nRelated: --" in text
        assert text.endswith("\nDocumentation of vLLM: https://docs.vllm.ai/en/latest/cli/serve/\n")

    def test_of_an_engine_without_a_catalog(self) -> None:
        text = without_catalog("tgi", "max_total_tokens=4096") or ""
        assert text.startswith("--max-total-tokens of TGI\n\nLongest request in tokens")
        assert "tgi/input-not-below-total" in text
        assert without_catalog("tgi", "--no-such-option") is None
