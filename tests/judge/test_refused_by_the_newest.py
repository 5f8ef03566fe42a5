"""Without a named release: what the newest one refuses and older ones take, and what none has, is a warning."""

from __future__ import annotations

import pytest

from servelint.report.formats.text import judged_by
from tests.reporting import findings_in


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("vllm serve a --model b", "vllm/removed-later"),
        ("vllm serve m --compilation-config 3", "vllm/removed-later"),
        ("vllm serve m --enable-chunked-prefill true", "vllm/removed-later"),
        ("python3 -m sglang.launch_server --model-path m --cuda-graph-max-bs 128", "sglang/removed-later"),
        ("llama-server -m m.gguf -fa", "llamacpp/removed-later"),
        ("llama-server -m m.gguf --flash-attn --port 80", "llamacpp/removed-later"),
        ("llama-server -m m.gguf --mlock", "llamacpp/removed-later"),
        ("vllm serve m --kv-cache-dtype fp16", "vllm/invalid-choice"),
        ("python3 -m vllm.entrypoints.api_server --model m --ray-address a:1", "vllm/unknown-option"),
    ],
)
def test_it_is_a_warning(line: str, rule: str) -> None:
    assert [(one.rule, one.severity) for one in findings_in(line + "\n") if one.launch is not None] == [(rule, "warning")]


@pytest.mark.parametrize("line", ["vllm serve m --swap-space 4", "llama-server -m m.gguf --draft-max 8"])
def test_what_only_newer_releases_refuse_says_which_release_was_judged(line: str) -> None:
    (found,) = [one for one in findings_in(line + "\n") if one.rule.endswith("/removed-later")]
    assert judged_by(found).startswith("judged as ")
    assert "the newest known version" in judged_by(found)


def test_one_refused_option_hides_no_other() -> None:
    line = "python3 -m sglang.launch_server --model-path m --draft-model-path d --num-speculative-tokens 4\n"
    assert [one.rule for one in findings_in(line)] == ["sglang/unknown-option", "sglang/option-of-other-engine"]


@pytest.mark.parametrize(
    "words", ["-fa on", "--fa", "--cache-type-k tq3_turbo", "-fa $MODE", "--option-of-a-fork 1", "--port 80 stray"]
)
def test_what_no_known_build_of_llama_cpp_takes_may_be_a_fork_s(words: str) -> None:
    assert findings_in(f"llama-server -m m.gguf {words}\n") == []
