"""Words and values that Kubernetes reads as numbers or booleans, and options in the place of the entrypoint."""

from __future__ import annotations

import pytest

from tests.reporting import findings_in
from tests.together import together

IMAGE = "vllm/vllm-openai:v0.33.0"


def _found(container: str, kind: str = "Pod", rule: str = "not-a-string") -> list[str]:
    head = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: llm}}\nspec:\n"
    text = f"{head}  containers: [{{name: c, image: '{IMAGE}', {container}}}]\n"
    return [one.span.text for one in findings_in(text, "pod.yaml") if one.rule == f"container/{rule}" and one.span is not None]


@together("value", ["8000", "0", "0.9", "true", "yes", "off", "1e3", "0x10", ".5"])
def test_no_string(value: str) -> None:
    assert _found(f"args: [--model, a/b, --port, {value}]") == [value]
    assert _found(f"args: [--model, a/b], env: [{{name: X, value: {value}}}]") == [value]


@together("value", ["'8000'", '"true"', "--port=8000", "!!str 8000", "0.0.0.0", "8k", "1_a", "$(PORT)", "auto"])
def test_a_string(value: str) -> None:
    assert _found(f"args: [--model, a/b, --port, {value}], env: [{{name: X, value: {value}}}]") == []


def test_no_value_is_the_empty_one() -> None:
    assert _found("args: [--model, a/b], env: [{name: X, value: }]") == []


def test_kinds_whose_objects_other_programs_read() -> None:
    assert _found("args: [--model, a/b, --port, 8000]", kind="Custom") == []


def test_a_template() -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: llm}}\nspec:\n  containers:\n    - name: c\n      image: {IMAGE}\n"
    text += "      args:\n        - --port\n        - {{ .Values.port }}\n        - --model\n        - a/b\n"
    assert [one.rule for one in findings_in(text, "templates/pod.yaml") if one.rule == "container/not-a-string"] == []


class TestEntrypoint:
    @pytest.mark.parametrize("words", ["[--model, a/b]", "[--port, '8000', --model, a/b]"])
    def test_options_replace_it(self, words: str) -> None:
        assert _found(f"command: {words}", rule="not-started") == ["--model" if "--port" not in words else "--port"]

    @pytest.mark.parametrize(
        "fields", ["args: [--model, a/b]", "command: [vllm, serve, a/b]", "command: [./start, --model, a/b]"]
    )
    def test_they_do_not(self, fields: str) -> None:
        assert _found(fields, rule="not-started") == []

    def test_compose(self) -> None:
        text = f"services:\n  llm:\n    image: {IMAGE}\n    entrypoint: [--model, a/b]\n"
        found = [one for one in findings_in(text, "compose.yml") if one.rule == "container/not-started"]
        assert [one.message for one in found] == [
            "'--model' is started as a program, because it replaces the image's entrypoint: vLLM is not started"
        ]
