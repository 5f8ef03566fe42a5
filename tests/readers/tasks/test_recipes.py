"""Recipes: templates of a command, and the settings that fill them."""

from __future__ import annotations

from textwrap import dedent

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release, spans


def launch(text: str) -> Launch:
    return launch_in(dedent(text), "recipe.yaml")


def test_settings_and_braces() -> None:
    found, marks = marked_launch(
        """
        recipe_version: "1"
        model: Qwen/Qwen3-8B
        container: vllm/vllm-openai:v0.20.0
        defaults:
          port: 8000
          max_model_len: 32768
        env:
          VLLM_USE_V1: 1
        command: |
          vllm serve {model} \\
            --port \u27e6{port}\u27e7 --max-model-len={max_model_len} \\
            --speculative-config '\u27e6{{"method":"mtp","num_speculative_tokens":2}}\u27e7' \\
            -tp {tensor_parallel}
        """,
        "recipe.yaml",
    )
    assert argv(found) == [
        "Qwen/Qwen3-8B", "--port", "8000", "--max-model-len=32768", "--speculative-config",
        '{"method":"mtp","num_speculative_tokens":2}', "-tp", "{tensor_parallel}",
    ]  # fmt: skip
    assert [spans(found.argv)[2], spans(found.argv)[5]] == marks
    assert found.argv[2].text.assumed
    assert found.argv[7].value is None
    assert environment(found) == {"VLLM_USE_V1": "1"}
    assert release(found) == ("0.20.0", "image")


def test_a_template_without_settings_is_read_as_it_stands() -> None:
    found = launch('name: a\ncommand: |\n  vllm serve m --port {port} --speculative-config \'{"method": "mtp"}\'\n')
    assert argv(found) == ["m", "--port", "{port}", "--speculative-config", '{"method": "mtp"}']
    assert found.argv[2].value is None
    assert found.argv[4].value == '{"method": "mtp"}'


def test_a_recipe_of_something_else() -> None:
    assert launches_in("recipe_version: 1\nmodel: vllm\ndefaults: {a: 1}\ncommand: python train.py {a}\n", "recipe.yaml") == []
