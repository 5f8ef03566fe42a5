"""Rules on llama.cpp and LMDeploy, on both sides of what they compare."""

from __future__ import annotations

import pytest

from servelint.engines.config import Config, configs
from tests.judging import fields
from tests.launching import launch_in


def config(command: str, release: str) -> Config:
    return configs(launch_in(command, "run.sh"), [release])[0]


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("-m /models/Qwen3.6-27B-MTP.gguf", "Qwen3.6-27B-MTP.gguf"),
        ("-hf unsloth/Qwen3.6-27B-MTP-GGUF:Q4_K_M", "Qwen3.6-27B-MTP-GGUF:Q4_K_M"),
        ("-m /mtp/Qwen3.6-27B.gguf", None),
        ("-m /models/smtp.gguf", None),
        ("-m $MODEL", None),
    ],
)
def test_a_file_with_the_tensors_of_a_draft(words: str, file: str | None) -> None:
    found = fields("llamacpp/mtp-unused", config(f"llama-server {words}", "b9553"))
    assert found == ({"file": file} if file else None)


@pytest.mark.parametrize(
    ("words", "block"),
    [
        ("--prefix-cache-decode-state-interval 100", "64"),
        ("--prefix-cache-decode-state-interval 128", None),
        ("--prefix-cache-decode-state-interval 0", None),
        ("--prefix-cache-decode-state-interval 64 --cache-block-seq-len 128", "128"),
        ("--prefix-cache-decode-state-interval 100 --cache-block-seq-len $SIZE", None),
    ],
)
def test_the_interval_of_decoding_states(words: str, block: str | None) -> None:
    launch = config(f"lmdeploy serve api_server Qwen/Qwen3.6-27B --backend pytorch {words}", "0.16.0")
    assert fields("lmdeploy/decode-state-interval", launch) == ({"block": block} if block else None)
