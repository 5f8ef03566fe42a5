"""A line above each launch."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.lsp.annotations import lenses
from tests.lsp.marked import analysed, compose

GPU = "\n    gpus: all\n    ipc: host"
CLEAN = compose(" --model Qwen/Qwen3-8B --max-model-len 8192" + GPU)


def titles(text: str, settings: Settings | None = None) -> list[str]:
    return [lens.title for lens in lenses(analysed("compose.yml", text, settings))]


def test_a_launch_in_which_nothing_was_found() -> None:
    (title,) = titles(CLEAN)
    assert title == "vLLM 0.27.1 \u00b7 nothing found"


def test_what_was_found_the_worst_first() -> None:
    text = compose(" --model Qwen/Qwen3-8B --swap-space 4 --no-such-option" + GPU, environment="      - VLLM_USE_V1=1")
    (title,) = titles(text)
    assert title == "vLLM 0.27.1 \u00b7 2 errors, 1 warning"


def test_what_is_not_asked_for_is_not_counted() -> None:
    text = compose(" --model Qwen/Qwen3-8B --swap-space 4" + GPU)
    assert titles(text, Settings(ignore=("vllm/*",))) == ["vLLM 0.27.1 \u00b7 nothing found"]


def test_whether_it_fits_the_gpu_that_is_named() -> None:
    (title,) = titles(CLEAN, Settings(gpu="h100-80gb"))
    assert title.startswith("vLLM 0.27.1 \u00b7 nothing found \u00b7 fits on h100-80gb (")
    assert title.endswith(" requests of 8,192 tokens)")


def test_that_it_does_not() -> None:
    (title,) = titles(CLEAN.replace("Qwen3-8B", "Qwen3-32B"), Settings(gpu="rtx-4090"))
    assert title.endswith("does not fit on rtx-4090")


def test_without_a_release_it_fits_only_where_every_release_says_so() -> None:
    text = CLEAN.replace("Qwen/Qwen3-8B --max-model-len 8192", "Qwen/Qwen3-32B --max-model-len 24000")
    (newest,) = titles(text, Settings(gpu="h100-80gb"))
    (any_release,) = titles(text.replace("v0.27.1", "${TAG}"), Settings(gpu="h100-80gb"))
    assert "fits on h100-80gb" in newest
    assert "tight on h100-80gb" in any_release


def test_a_model_that_nobody_knows_has_no_verdict() -> None:
    (title,) = titles(CLEAN.replace("Qwen/Qwen3-8B", "${MODEL}"), Settings(gpu="rtx-4090"))
    assert "rtx-4090" not in title


@pytest.mark.parametrize(
    ("image", "settings", "release"),
    [
        ("vllm/vllm-openai:${TAG}", None, "vLLM"),
        ("vllm/vllm-openai:${TAG}", Settings(engine_versions={"vllm": "0.27.1"}), "vLLM 0.27.1 (by the settings)"),
    ],
)
def test_the_release_where_the_image_does_not_name_it(image: str, settings: Settings | None, release: str) -> None:
    (title,) = titles(CLEAN.replace("vllm/vllm-openai:v0.27.1", image), settings)
    assert title.split(" \u00b7 ")[0] == release


def test_it_stands_on_the_first_line_of_the_launch() -> None:
    (lens,) = lenses(analysed("compose.yml", CLEAN))
    assert lens.span.text == "command: --model Qwen/Qwen3-8B --max-model-len 8192"
