"""What a launch of SGLang says of the program, the device and the old variables."""

from __future__ import annotations

import pytest

from tests.engines.test_sglang import fact


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("sglang serve --model-path a/b", "serve"),
        ("python -m sglang.launch_server --model-path a/b", "launch_server"),
        ("python3 /opt/sglang/launch_server.py --model-path a/b", "launch_server"),
    ],
)
def test_command(script: str, expected: str) -> None:
    assert fact("command", script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("export SGL_DG_CACHE_DIR=/cache\nsglang serve --model-path a/b", "SGL_DG_CACHE_DIR"),
        ("export SGLANG_DG_CACHE_DIR=/cache\nsglang serve --model-path a/b", "absent"),
        (". ./env.sh\nsglang serve --model-path a/b", "unknown"),
    ],
)
def test_old_variable(script: str, expected: object) -> None:
    assert fact("old-variable", script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("sglang serve --model-path a/b", False),
        ("sglang serve --model-path a/b --device cuda", False),
        ("sglang serve --model-path a/b --device cpu", True),
        ("sglang serve --model-path a/b --attention-backend ascend", True),
        ("sglang serve --model-path a/b --device $DEVICE", "unknown"),
        ("docker run lmsysorg/sglang:v0.5.12-xeon sglang serve --model-path a/b", True),
        ("docker run --gpus all lmsysorg/sglang:v0.5.12-cu126 sglang serve --model-path a/b", False),
    ],
)
def test_says_other_device(script: str, expected: object) -> None:
    assert fact("says-other-device", script) == expected
