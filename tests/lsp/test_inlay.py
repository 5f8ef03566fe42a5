"""Notes within a text: the release where it is not named, and the defaults that count."""

from __future__ import annotations

from servelint.core.settings import Settings
from servelint.lsp.annotations import Hint, hints
from tests.lsp.marked import analysed, compose

QWEN = "vllm serve Qwen/Qwen3-8B"


def noted(name: str, text: str, settings: Settings | None = None, kind: str = "release") -> list[Hint]:
    return [hint for hint in hints(analysed(name, text, settings)) if hint.kind == kind]


def defaults(text: str, settings: Settings | None = None) -> dict[str, str]:
    (hint,) = noted("compose.yml", text, settings, "defaults")
    pairs = [one.rpartition(" ") for one in hint.text.split(", ")]
    return {name: value for name, _, value in pairs}


class TestRelease:
    def test_of_the_settings(self) -> None:
        text = f"{QWEN} --port 80\n"
        (hint,) = noted("serve.sh", text, Settings(engine_versions={"vllm": "0.27.1"}))
        assert (hint.text, hint.tooltip) == ("vLLM 0.27.1", "named by the settings")
        assert text[: hint.offset] == "vllm serve"

    def test_of_the_settings_that_is_not_known(self) -> None:
        (hint,) = noted("serve.sh", f"{QWEN} --port 80\n", Settings(engine_versions={"vllm": "0.99"}))
        assert (hint.text, hint.tooltip) == ("vLLM 0.99", "judged as 0.33.0")

    def test_of_a_tag_that_moves(self) -> None:
        text = compose(" --model x/y", image="vllm/vllm-openai:latest")
        (hint,) = noted("compose.yml", text)
        assert hint.tooltip == "the newest release that is known: the tag moves"
        assert text[: hint.offset].endswith("vllm/vllm-openai:latest")

    def test_where_nothing_is_said_those_that_might_run_it(self) -> None:
        (hint,) = noted("serve.sh", QWEN + "\n")
        assert hint.text.startswith("vLLM 0.8.4 to ")

    def test_that_the_text_names_is_not_said_again(self) -> None:
        assert noted("compose.yml", compose(" --model x/y")) == []
        assert noted("serve.sh", f"pip install vllm==0.27.1\n{QWEN}\n") == []


class TestDefaults:
    def test_of_the_release(self) -> None:
        found = defaults(compose(" --model Qwen/Qwen3-8B"))
        assert found == {
            "gpu-memory-utilization": "0.92",
            "kv-cache-dtype": "auto",
            "enable-prefix-caching": "true",
            "async-scheduling": "true",
        }

    def test_of_another_release(self) -> None:
        assert defaults(compose(" --model Qwen/Qwen3-8B", image="vllm/vllm-openai:v0.19.1"))["gpu-memory-utilization"] == "0.9"

    def test_that_depend_on_the_model(self) -> None:
        text = compose(" --model Qwen/Qwen3.6-27B")
        assert defaults(text)["enable-prefix-caching"] == "false"
        assert defaults(text.replace("0.27.1", "0.28.0"))["enable-prefix-caching"] == "true"

    def test_that_depend_on_the_gpu(self) -> None:
        text = compose(" --model Qwen/Qwen3-8B --max-model-len 8192")
        large, small = (defaults(text, Settings(gpu=gpu)) for gpu in ("h100-80gb", "rtx-4090"))
        assert (large["max-num-seqs"], large["max-num-batched-tokens"]) == ("1024", "8192")
        assert (small["max-num-seqs"], small["max-num-batched-tokens"]) == ("256", "2048")

    def test_what_is_written_is_not_said_again(self) -> None:
        text = compose(" --model Qwen/Qwen3-8B --gpu-memory-utilization 0.8 --no-enable-prefix-caching")
        assert set(defaults(text)) == {"kv-cache-dtype", "async-scheduling"}

    def test_none_where_an_unknown_word_may_set_them(self) -> None:
        assert noted("compose.yml", compose(" --model Qwen/Qwen3-8B $EXTRA"), kind="defaults") == []

    def test_none_where_no_release_is_named(self) -> None:
        assert noted("serve.sh", QWEN + "\n", kind="defaults") == []

    def test_they_stand_at_the_end_of_the_launch_s_first_line(self) -> None:
        text = compose("\n      - --model=Qwen/Qwen3-8B")
        (hint,) = noted("compose.yml", text, kind="defaults")
        assert text[: hint.offset].endswith("    command:")


def test_only_those_between_two_offsets() -> None:
    analysis = analysed("compose.yml", compose(" --model Qwen/Qwen3-8B", image="vllm/vllm-openai:latest"))
    release, values = hints(analysis)
    assert [hint.kind for hint in hints(analysis, 0, release.offset)] == ["release"]
    assert [hint.kind for hint in hints(analysis, release.offset + 1, values.offset)] == ["defaults"]
