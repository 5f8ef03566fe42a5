"""What stands below a marked value: why it does not fit."""

from __future__ import annotations

import pytest

from tests.judge.parser import found, kinds, only


@pytest.mark.parametrize(
    ("text", "release", "marked", "label"),
    [
        ("m --kv-cache-dtype int3", "0.27.1", "int3", "not a choice"),
        ("m --kv-cache-dtype turboquant_k8v4", "0.19.1", "turboquant_k8v4", "not a choice of this release"),
        ("m --hf-overrides '[1]'", "0.27.1", "[1]", "not an object"),
        ("m --media-io-kwargs '{\"a\": 1}'", "0.27.1", "1", "not an object"),
        ('m --compilation-config \'{"custom_ops": ["all", 1]}\'', "0.27.1", "1", "not a text"),
        ("m --served-model-name", "0.27.1", "--served-model-name", "without a value"),
        ("m --speculative-config '{'", "0.27.1", "{", "a key in double quotes is expected"),
    ],
)
def test_the_mark_of_a_value(text: str, release: str, marked: str, label: str) -> None:
    finding = only("vllm", text, release)
    assert (finding.span.text, finding.label) == (marked, label)


@pytest.mark.parametrize(
    "text",
    [
        'm --compilation-config \'{"custom_ops": ["all"]}\'',
        "m --compilation-config '{\"cudagraph_capture_sizes\": [1, 2]}'",
    ],
)
def test_a_list_of_what_the_field_takes(text: str) -> None:
    assert found("vllm", text, "0.27.1") == []


@pytest.mark.parametrize(
    ("text", "kind", "later"),
    [
        ("m --kv-cache-dtype brandnew", "invalid-choice", []),
        ('m --structured-outputs-config \'{"backend": "brandnew"}\'', "invalid-json-value", []),
        ('m --structured-outputs-config \'{"backend": "xgramar"}\'', "invalid-json-value", ["invalid-json-value"]),
    ],
)
def test_a_release_after_all_that_are_known_may_have_a_value_that_none_has(text: str, kind: str, later: list[str]) -> None:
    assert kinds("vllm", text, "0.33.0") == [kind]
    assert kinds("vllm", text, "0.99.0") == later
