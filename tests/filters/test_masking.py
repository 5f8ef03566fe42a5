"""A secret is not printed whole, whichever rule shows its line."""

from __future__ import annotations

import pytest

from servelint.core.result import Report
from servelint.core.secrets import masked_value
from servelint.core.settings import Settings
from servelint.filters.masking import mask, secrets_of, words
from servelint.lint import check_launches
from servelint.report.formats.json import render as render_json
from servelint.report.formats.text import render
from tests.launching import launch_in, reading
from tests.together import together

KEY, TOKEN = "sk-house-4711-blue", "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"


def report(text: str, filename: str) -> Report:
    found, _ = reading(text, filename)
    told = Report()
    told.launches = found.launches
    source = found.launches[0].source
    told.findings = check_launches(source, found.launches, Settings(profile="audit"))
    return told


@pytest.mark.parametrize(
    ("filename", "text"),
    [
        ("run.sh", f"HF_TOKEN={TOKEN} vllm serve Qwen/Qwen3-8B --swap-space 4 --api-key {KEY}\n"),
        (
            "run.sh",
            f"docker run --gpus all -e HF_TOKEN={TOKEN} vllm/vllm-openai:v0.33.0 --model m --swap-space 4 --api-key={KEY}\n",
        ),
        (
            "compose.yml",
            f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.33.0
                command: --model m --no-such-option {KEY} --api-key {KEY}  # {TOKEN}
                environment: [HF_TOKEN={TOKEN}]
            """,
        ),
    ],
)
def test_in_lines_and_messages(filename: str, text: str) -> None:
    told = report(text, filename)
    assert {finding.rule for finding in told.findings} >= {"container/api-key-in-plain-text", "container/secret-in-plain-text"}
    for rendered in (render(told), render_json(told)):
        assert KEY not in rendered
        assert TOKEN not in rendered


def test_the_columns_stay() -> None:
    told = report(f"vllm serve m --api-key {KEY} --swap-space 4 --no-such-option\n", "run.sh")
    lines = render(told).splitlines()
    shown = next(line for line in lines if line[:1].isdecimal() and "sk-***" in line)
    marks = lines[lines.index(shown) + 1]
    assert len(shown) > len(marks.rstrip()) or "^" in marks
    assert "--api-key sk-*** --swap-space" in shown


@pytest.mark.parametrize("key", ["EMPTY", "not-needed", "your-api-key-here", "aaaaaaaaaa"])
def test_what_is_no_secret_is_shown(key: str) -> None:
    told = report(f"pip install vllm==0.33.0\nvllm serve m --api-key {key} --no-such-option\n", "run.sh")
    assert key in render(told)


@pytest.mark.parametrize("value", ["${HF_TOKEN}", "$HF_TOKEN", "${hf_token}"])
def test_a_reference_to_a_variable_is_no_secret(value: str) -> None:
    assert masked_value("HF_TOKEN", value) == value


@pytest.mark.parametrize("value", ["${HF_TOKEN:-correct horse}", "$ecret-and-long", "a${HF_TOKEN}b12345", "$HF_TOKEN-12345678"])
def test_what_stands_beside_a_reference_may_be_one(value: str) -> None:
    assert masked_value("HF_TOKEN", value) == "***"


class TestWhatASecretIs:
    """A secret is one by its name and its form, not because its characters stand elsewhere."""

    @pytest.mark.parametrize(
        "script",
        [
            "vllm serve m/m --max-num-batched-token=32768 --max-model-len 32768\n",
            "vllm serve m/m --num-speculative-token 16384 --port 16384\n",
            "python -m sglang.launch_server --model-path m/m --max-total-token 1000000 --max-prefill-token 65536k\n",
            "MAX_NUM_BATCHED_TOKEN=262144 vllm serve m/m --max-num-batched-tokens $MAX_NUM_BATCHED_TOKEN\n",
            "vllm serve m/m --tokeniser some/tokenizer --eos-token '<|im_end|>' --long-prefill-token true\n",
            "TOKEN=131072 vllm serve m/m --max-model-len 131072\n",
        ],
    )
    def test_numbers_and_tokens_of_a_model_are_none(self, script: str) -> None:
        launch = launch_in(script, "run.sh")
        assert secrets_of([launch]) == ()
        assert "***" not in " ".join(words(launch.argv))

    @pytest.mark.parametrize(
        "key", ["sk-abcdefghij0123456789", "hf_abcdefghijklmnopqrstuvwxyz012345", "hunter2hunter", "correct-horse"]
    )
    def test_a_key_is_one_wherever_it_stands(self, key: str) -> None:
        launch = launch_in(f"vllm serve m/m --api-key {key} --port 80\n", "run.sh")
        assert secrets_of([launch]) == (key,)
        assert key not in words(launch.argv)

    def test_a_short_one_is_hidden_in_its_place_only(self) -> None:
        keys = ("c0-pe", "c0-per")
        assert [secrets_of([launch_in(f"vllm serve m/m --api-key {key}\n", "run.sh")]) for key in keys] == [(), ("c0-per",)]

    @together(
        "written, hidden",
        [
            ("'a1'\"b2\"'c3'", ["a1'\"b2\"'c3"]),
            ("'a1'\"b2\" --port 80", ["a1'\"b2"]),
            ("a1\\\nb2", ["a1\\\nb2"]),
            ("a1$X'b2'", ["a1", "b2"]),
        ],
    )
    def test_pieces_of_one_value_are_hidden_together(self, written: str, hidden: list[str]) -> None:
        launch = launch_in(f"X=y1\nvllm serve m/m --api-key {written}\n", "run.sh")
        mask([launch], [])
        source = launch.source
        assert [source.text[start:end] for start, end in source.redactions.places] == hidden

    @pytest.mark.parametrize("key", ["llamas", "12345678", "Qwenthree"])
    def test_a_word_or_a_number_is_hidden_in_its_place_only(self, key: str) -> None:
        launch = launch_in(f"vllm serve m/m --api-key {key} --served-model-name {key}\n", "run.sh")
        assert secrets_of([launch]) == ()
        assert words(launch.argv) == ["m/m", "--api-key", "***", "--served-model-name", key]
