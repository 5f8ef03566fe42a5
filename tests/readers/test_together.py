"""Pairs that cannot be combined, in parts of a template of which one alone is written."""

from __future__ import annotations

import pytest

from tests.launching import launches_in

COMPOSE = """
services:
  vllm:
    image: vllm/vllm-openai:v0.19.0
    command: [--model, m]
{}
"""
DEVICE = """
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              capabilities: [gpu]
{}
"""
EITHER = "{{% if {condition} %}}\n{one}\n{{% else %}}\n{other}\n{{% endif %}}"
COUNT, IDS = "              count: all", "              device_ids: ['0']"


def kinds(text: str, name: str) -> list[str]:
    return [mishap.kind for launch in launches_in(text, name) for mishap in launch.mishaps]


def compose(one: str, other: str, *, apart: bool) -> list[str]:
    inside = EITHER.format(condition="a == 'b'", one=one, other=other) if apart else f"{one}\n{other}"
    around = DEVICE if one == COUNT else "{}"
    return kinds(COMPOSE.format(around.format(inside)), "compose.yml.j2" if apart else "compose.yml")


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (COUNT, IDS, "count-and-ids"),
        ("    network_mode: host", "    networks: [inner]\nnetworks: {inner: {}}", "network-twice"),
        ("    network_mode: service:vpn", "    ports: ['1:2']", "ports-of-other"),
        ("    container_name: one", "    scale: 2", "one-name"),
    ],
)
def test_compose(one: str, other: str, kind: str) -> None:
    assert kind in compose(one, other, apart=False)
    if "networks:" not in other:  # a key of the whole file cannot follow within the `else`
        assert kind not in compose(one, other, apart=True)


def test_two_parts_with_conditions_of_their_own() -> None:
    parts = "".join(f"{{% if {name} %}}\n{key}\n{{% endif %}}\n" for name, key in (("a", COUNT), ("b", IDS)))
    assert "count-and-ids" not in kinds(COMPOSE.format(DEVICE.format(parts)), "compose.yml.j2")


def test_both_in_one_part() -> None:
    parts = f"{{% if a %}}\n{COUNT}\n{IDS}\n{{% endif %}}"
    assert "count-and-ids" in kinds(COMPOSE.format(DEVICE.format(parts)), "compose.yml.j2")


SWAP = """
models:
  one:
    cmd: llama-server --port ${PORT} -m a.gguf
    aliases:
      - x
  two:
    cmd: llama-server --port ${PORT} -m b.gguf
    aliases:
      - y
groups:
  first:
    members:
{first}
  second:
    members:
{second}
"""


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("- one", "- one", ["swap-member"]),
        ("- one", "- two", []),
        (
            '{% for m in models if m.small %}\n      - "{{ m.name }}"\n{% endfor %}',
            '{% for m in models if not m.small %}\n      - "{{ m.name }}"\n{% endfor %}',
            [],
        ),
        ('- "{{ first }}"', '- "{{ first }}"', []),
        ("- one", "- two\n{% if a %}\n      - one\n{% endif %}", []),
        ("- ${one}", "- ${one}", []),
    ],
)
def test_members_of_groups_of_llama_swap(first: str, second: str, found: list[str]) -> None:
    text = SWAP.replace("{first}", "      " + first).replace("{second}", "      " + second)
    assert kinds(text, "llama-swap.yaml.j2") == found


@pytest.mark.parametrize(
    ("one", "two", "found"), [("x", "x", ["swap-alias"]), ("x", "z", []), ('"{{ alias }}"', '"{{ alias }}"', [])]
)
def test_aliases_of_llama_swap(one: str, two: str, found: list[str]) -> None:
    text = SWAP.replace("- x", f"- {one}").replace("- y", f"- {two}")
    text = text.replace("{first}", "      - one").replace("{second}", "      - two")
    assert kinds(text, "llama-swap.yaml.j2") == found
