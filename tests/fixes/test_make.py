"""Making fixes: the edits of a launch's file that a rule's fix stands for, and their titles."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.engines.config import configs
from servelint.fixes import fix_for
from tests.launching import launch_in

SPEC = 'vllm serve m --speculative-config \'{"method": "mtp"}\''


def fixed(text: str, change: dict[str, Any], at: str = "port") -> tuple[str, str] | None:
    """The title of a fix, and the text after it; None if there is no fix."""
    config = configs(launch_in(text, "run.sh"), ["0.27.1"])[0]
    fix = fix_for({"safe": True, **change}, config, [at], str)
    if fix is None:
        return None
    for edit in sorted(fix.edits, key=lambda one: one.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
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
    ],
)
def test_set(text: str, change: dict[str, Any], title: str, after: str) -> None:
    assert fixed(text + "\n", {"set": change}) == (title, after + "\n")


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


def test_nothing_to_delete() -> None:
    assert fixed("A=1 vllm serve m --port 1\n", {"delete": ["env.B"]}) is None


def test_rename_a_variable() -> None:
    assert fixed("A=1 vllm serve m\n", {"rename": {"env.A": "B"}}) == ("write B for A", "B=1 vllm serve m\n")
