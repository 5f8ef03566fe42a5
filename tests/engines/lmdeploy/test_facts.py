"""What LMDeploy makes of its settings."""

from __future__ import annotations

from servelint.engines.config import configs
from tests.launching import launch_in
from tests.together import together


@together(
    "words, release, backend",
    [
        ("Qwen/Qwen3-8B", "0.18.0", "turbomind"),
        ("Qwen/Qwen3-8B --backend turbomind", "0.18.0", "turbomind"),
        ("Qwen/Qwen3-8B --backend pytorch", "0.18.0", "pytorch"),
        ("Qwen/Qwen3-8B --backend $BACKEND", "0.18.0", None),
        ("Qwen/Qwen3-8B $MORE", "0.18.0", None),
        ("Qwen/Qwen3-8B --device ascend", "0.18.0", None),
        ("Qwen/Qwen3-8B", "0.6.0", "pytorch"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "0.13.0", "turbomind"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "0.18.0", "pytorch"),
        ("deepseek-ai/DeepSeek-V3.2 --backend turbomind", "0.18.0", "pytorch"),
        ("meta-llama/Llama-3.1-8B-Instruct", "0.10.0", "turbomind"),
        ("meta-llama/Llama-3.2-1B-Instruct", "0.10.0", None),  # heads of 64
        ("meta-llama/Llama-3.2-1B-Instruct", "0.18.0", "turbomind"),
        ("someone/Qwen3-8B-w8a8", "0.18.0", None),  # smooth_quant, which TurboMind lacks, or another format
        ("$MODEL", "0.18.0", None),
    ],
)
def test_the_backend_that_serves(words: str, release: str, backend: str | None) -> None:
    launch = launch_in(f"lmdeploy serve api_server {words}", "run.sh")
    assert configs(launch, [release])[0].operand("effective.backend").value == backend


def test_an_image_for_other_chips_may_lack_turbomind() -> None:
    launch = launch_in(
        """
        services:
          llm:
            image: registry.example/lmdeploy_dlinfer/ascend:latest
            command: lmdeploy serve api_server Qwen/Qwen3-8B
        """,
        "compose.yml",
    )
    assert configs(launch, ["0.18.0"])[0].operand("effective.backend").value is None
