"""What a release changes against another, as lines for people."""

from __future__ import annotations

from typing import Any

from servelint.harvest.store import difference

BEFORE: dict[str, Any] = {
    "engine": "vllm",
    "release": "0.18.0",
    "options": {"port": {"type": "int", "default": 8000}, "swap-space": {}, "seed": {"type": "int"}},
    "env": {"VLLM_USE_V1": {"default": True}, "VLLM_PORT": {}},
    "json": {"spec": {"extra": "reject", "keys": {"model": {}, "tree": {}}}, "old": {"extra": "reject", "keys": {"a": {}}}},
}
AFTER: dict[str, Any] = {
    "engine": "vllm",
    "release": "0.19.0",
    "options": {"port": {"type": "int", "default": 8080, "names": ["--port"]}, "offload": {}, "seed": {"type": "int"}},
    "env": {"VLLM_PORT": {}, "VLLM_NEW": {}},
    "json": {"spec": {"extra": "reject", "keys": {"model": {"type": "str"}}}, "new": {"extra": "ignore", "keys": {"b": {}}}},
}


def test_what_came_went_and_changed() -> None:
    assert difference(BEFORE, AFTER) == [
        "vllm 0.18.0 -> 0.19.0",
        "  + --offload",
        "  - --swap-space",
        "  ~ --port (default: 8000 -> 8080; names: None -> ['--port'])",
        "  + VLLM_NEW",
        "  - VLLM_USE_V1",
        "  + --new .b",
        "  - --old .a",
        "  - --spec .tree",
        "  ~ --spec .model (type: None -> 'str')",
    ]


def test_nothing_changes() -> None:
    assert difference(BEFORE, {**BEFORE, "release": "0.18.1"}) == ["vllm 0.18.0 -> 0.18.1"]


def test_parts_that_a_snapshot_lacks_are_empty() -> None:
    assert difference({"engine": "vllm", "release": "1"}, {"engine": "vllm", "release": "2", "options": {"a": {}}}) == [
        "vllm 1 -> 2",
        "  + --a",
    ]
