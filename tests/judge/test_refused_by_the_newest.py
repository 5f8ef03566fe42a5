"""Without a named release: what the newest one refuses and older ones take, and what none has, is a warning."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.judge.extent import judged
from servelint.judge.judging import judge
from servelint.report.formats.text import judged_by
from tests.launching import launch_in
from tests.reporting import findings_in
from tests.together import together


@together(
    "line, rule",
    [
        ("vllm serve a --model b", "vllm/removed-later"),
        ("vllm serve m --compilation-config 3", "vllm/removed-later"),
        ("vllm serve m --disable-frontend-multiprocessing", "vllm/removed-later"),
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
    "words",
    ["-fa on", "--cache-type-k tq3_turbo", "-fa $MODE", "--option-of-a-fork 1", "--port 80 stray", "-crs 1", "-fa --of-a-fork"],
)
def test_what_no_known_build_of_llama_cpp_takes_may_be_a_fork_s(words: str) -> None:
    assert findings_in(f"llama-server -m m.gguf {words}\n") == []


@pytest.mark.parametrize("option", ["--use-padding-aware-scheduling", "--max_num_prefill_seqs 16", "--max-num-prefill-seqs=16"])
def test_an_option_that_only_a_fork_had(option: str) -> None:
    assert findings_in(f"vllm serve m {option} --of-the-fork 1\n") == []
    assert findings_in(f"vllm serve m {option} --max-model-len x\n") != []


@pytest.mark.parametrize(
    "image",
    ["ghcr.io/ikawrakow/ik-llama-cpp@sha256:" + "5f" * 32, "ghcr.io/x/beellama-cpp:v0.3.0-efe856397", "llama.cpp:local"],
)
@pytest.mark.parametrize("words", ["--spec-type mtp:n_max=4", "-m m.gguf 256", "--no-mmap", "-sm row"])
def test_an_image_that_others_built_may_hold_a_fork(image: str, words: str) -> None:
    text = f"services:\n  llm:\n    image: {image}\n    command: llama-server -m m.gguf {words}\n"
    assert [one for one in findings_in(text, "compose.yml") if one.severity == "error"] == []


@pytest.mark.parametrize(
    ("words", "unsure"),
    [
        ("--option-of-a-fork 1", "--option-of-a-fork"),
        ("--port 80 stray", "stray"),
        ("--cache-type-k-last q8_0", "--cache-type-k-last"),
        ("--no-flash-attn", "--no-flash-attn"),
    ],
)
def test_the_report_says_that_it_was_not_judged(words: str, unsure: str) -> None:
    launch = launch_in(f"llama-server -m m.gguf {words}\n", "run.sh")
    judge(launch, Settings())
    assert [one.text for one in judged(launch, Settings()).unresolved] == [unsure]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--ctx-sise 4096", [("warning", "llamacpp/unknown-option", "did you mean --ctx-size?")]),
        ("--n-gpu-layer 3", [("warning", "llamacpp/unknown-option", "did you mean --n-gpu-layers?")]),
        ("--fa", [("warning", "llamacpp/unknown-option", "did you mean -fa?")]),
        ("--ctx-size many", [("error", "llamacpp/invalid-value", "write a whole number")]),
        ("--parallel 2 --parallel 4", [("warning", "llamacpp/repeated-option", "delete one of them")]),
    ],
)
def test_what_every_known_build_of_llama_cpp_refuses(words: str, said: list[tuple[str, str, str]]) -> None:
    found = findings_in(f"llama-server -m m.gguf {words}\n")
    assert [(one.severity, one.rule, one.advice) for one in found] == said


def test_a_rolling_image_of_llama_cpp_is_the_newest_known_build() -> None:
    (found,) = findings_in("docker run --gpus all ghcr.io/ggml-org/llama.cpp:server-cuda -m m.gguf --mlock\n")
    assert (found.rule, found.severity, found.release) == ("llamacpp/removed-option", "error", "b11434")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("if a; then I=mine:1; else I=vllm/vllm-openai:v0.15.0; fi\ndocker run --gpus all $I vllm serve m\n", "vLLM 0.15.0"),
        ("docker run --gpus all vllm/vllm-openai:latest vllm serve m\n", "judged as vLLM 0.33.0, the newest known version"),
    ],
)
def test_the_release_of_a_branch_is_not_called_the_newest(text: str, said: str) -> None:
    (found,) = [one for one in findings_in(text) if one.rule == "vllm/unexpected-argument"]
    assert judged_by(found) == said


@together(
    "words, said",
    [
        ("--max_num_tokens many", [("error", "trtllm/invalid-value")]),
        ("--tp_size 2 --nonexistent 3", [("warning", "trtllm/unknown-option")]),
        ("--host", [("error", "trtllm/missing-value")]),
        ("--max_num_tokens 4096 --tp_size 2", []),
    ],
)
def test_published_releases_without_a_table_take_nothing_back(words: str, said: list[tuple[str, str]]) -> None:
    """Of TensorRT-LLM more releases are published than the catalog has, older and newer ones."""
    found = findings_in(f"trtllm-serve m {words}\n")
    assert [(one.severity, one.rule) for one in found] == said
    assert not [one for one in found if "1.4.0" in one.message]


def test_a_key_of_an_older_release_of_tensorrt_llm_is_gone_later() -> None:
    text = "cat > c.yaml <<EOF\nuse_cuda_graph: true\nEOF\ntrtllm-serve m --extra_llm_api_options c.yaml\n"
    (found,) = findings_in(text)
    assert (found.severity, found.rule, found.span and found.span.text) == ("warning", "trtllm/removed-later", "use_cuda_graph")
    assert "removed in TensorRT-LLM 1.0.0; TensorRT-LLM 1.3.0rc29 refuses it" in found.message


def test_a_patched_release_may_have_options_of_its_own() -> None:
    words = "vllm serve m --turbo-mode --swap-space 4\n"
    found = [one.rule for one in findings_in("pip install vllm==0.18.1\npatch -p1 < a.patch\n" + words)]
    assert "vllm/removed-option" in found
    assert "vllm/unknown-option" not in found
    (said,) = [
        one
        for one in findings_in("pip install vllm==0.18.1\npatch -p1 < a.patch\n" + words)
        if not one.rule.startswith("vllm/")
    ]
    assert said.message == "vLLM 0.18.1 is patched here and not the published build; it is judged as 0.18.1"
    assert "vllm/unknown-option" in [one.rule for one in findings_in("pip install vllm==0.18.1\n" + words)]


def test_a_patched_release_may_take_values_of_its_own() -> None:
    words = "vllm serve m --kv-cache-dtype turboquant_k8v4\n"
    install = "pip install vllm==0.18.1\n"
    for patch, severity in (("", "error"), ("patch -p1 < a.patch\n", "warning")):
        found = findings_in(install + patch + words)
        assert [one.severity for one in found if one.rule == "vllm/invalid-choice"] == [severity]


def test_a_variable_that_a_rule_names_is_named_once() -> None:
    found = findings_in(
        "export SGLANG_ENABLE_SPEC_V2=1\npython -m sglang.launch_server --model-path m --reasoning-parser ling3\n"
    )
    assert [one.rule for one in found if "SPEC_V2" in one.message] == ["sglang/spec-v2-removed"]


@pytest.mark.parametrize(("count", "reported"), [(2, 2), (3, 1), (6, 1)])
def test_several_options_that_no_release_has_are_one_finding(count: int, reported: int) -> None:
    """They are of a build with options of its own more likely than mistakes."""
    words = " ".join([f"--tiered-moe-{name} 1" for name in "abcdef"[:count]])
    found = [one for one in findings_in(f"vllm serve m {words}\n", "run.sh") if one.rule == "vllm/unknown-option"]
    assert [one.severity for one in found] == ["warning"] * reported
    assert len(found[0].related) == (count - 1 if reported == 1 else 0)
    pinned = f"pip install vllm==0.33.0\nvllm serve m {words}\n"
    assert len([one for one in findings_in(pinned, "run.sh") if one.rule == "vllm/unknown-option"]) == count
    own = f"pip install vllm==0.33.0+own\nvllm serve m {words}\n"
    assert [one for one in findings_in(own, "run.sh") if one.rule == "vllm/unknown-option"] == []
