"""Files of llama-server --models-preset."""

from __future__ import annotations

from pathlib import Path

import pytest

import servelint
from servelint.core.settings import Settings
from servelint.judge.judging import judge
from tests.launching import launch_in, launches_in
from tests.together import together

PRESETS = """
; the router's models
version = 1
[*]
n-gpu-layers = all
ctx-size = 8192
host = 0.0.0.0
[small]
model = /models/a.gguf ; a comment
c = 4096
jinja = true
kv-unified = false
load-on-startup = true
LLAMA_ARG_CACHE_RAM = 0
[ggml-org/big-GGUF:Q8_0]
[embed]
hf-repo = acme/e-GGUF
no-mmap = on
"""


def words(text: str) -> dict[str, list[str]]:
    return {one.name: [word.text.flat for word in one.argv] for one in launches_in(text, "models.ini")}


def test_each_section_is_a_launch_with_what_all_share() -> None:
    assert words(PRESETS) == {
        "small": ["--n-gpu-layers", "all", "--ctx-size", "8192", "--model", "/models/a.gguf", "-c", "4096", "--jinja"],
        "ggml-org/big-GGUF:Q8_0": ["--n-gpu-layers", "all", "--ctx-size", "8192"],
        "embed": ["--n-gpu-layers", "all", "--ctx-size", "8192", "--hf-repo", "acme/e-GGUF", "--no-mmap"],
    }
    launch = launches_in(PRESETS, "models.ini")[0]
    assert {name: one.value.flat for name, one in launch.env.items() if one.value} == {"LLAMA_ARG_CACHE_RAM": "0"}
    assert launch.engine == "llama.cpp"


def test_what_all_share_is_a_launch_where_the_models_stand_elsewhere() -> None:
    assert words("version = 1\n[*]\nctx-size = 8192 ; of each\n") == {"*": ["--ctx-size", "8192"]}
    assert "*" not in words(PRESETS)


@pytest.mark.parametrize(
    "text",
    ["[tool]\nsize = 3\n", "ctx-size = 8192\n", "[program:x]\ncommand=llama-server -m a.gguf\n", "[a]\nmodel = a.gguf\n", ""],
)
def test_other_files_have_no_models(text: str) -> None:
    assert not any(one.name == "a" for one in launches_in(text, "models.ini"))


def test_a_misspelt_key_is_mended_without_dashes() -> None:
    launch = launch_in("[a]\nmodel = /m/a.gguf\nngl = 99\nctx-sise = 8\n", "models.ini")
    (found,) = [one for one in judge(launch, Settings()) if one.rule == "llamacpp/unknown-option"]
    assert found.advice == "did you mean --ctx-size?"
    assert found.fix is not None
    assert [edit.text for edit in found.fix.edits] == ["ctx-size"]


@together(
    "line, found",
    [
        ("top_p = 0.9", [("llamacpp/unknown-option", "top_p", None)]),
        ("top-p = 0.9", []),
        ("no-mmap = true", [("llamacpp/removed-option", "no-mmap", None)]),
        ("no-mmap = $ON", []),
        ("parallel = 0", [("llamacpp/parallel-zero", "0", None)]),
        ("cache-type-k = q9_0", [("llamacpp/invalid-choice", "q9_0", None)]),
        ("flash-attn = on", []),
    ],
)
def test_keys_are_judged_and_only_values_are_mended(line: str, found: list[tuple[str, str, None]]) -> None:
    launch = launch_in(f"[a]\nmodel = /m/a.gguf\nngl = 99\n{line}\n", "models.ini")
    findings = judge(launch, Settings(engine_versions={"llama.cpp": "b11434"}))
    shown = [(one.rule, one.span.text, one.fix if one.span.text in line.partition(" =")[0] else None) for one in findings]
    assert [one for one in shown if one[0] != "llamacpp/deprecated-option"] == found


def test_the_release_is_that_of_the_compose_file_that_mounts_it(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(
        "services:\n  llm:\n    image: ghcr.io/ggml-org/llama.cpp:server-b9200\n    command: --models-preset /c.ini\n"
        "    volumes: ['./models.ini:/c.ini']\n"
    )
    presets = tmp_path / "models.ini"
    presets.write_text("[a]\nmodel = a.gguf\nn-gpu-layers = many\n")
    (found,) = servelint.check([str(presets)]).findings
    assert (found.rule, found.release, found.span.text) == ("llamacpp/invalid-value", "b9200", "many")


def test_a_preset_of_sampling_keys_is_recognised() -> None:
    (launch,) = launches_in("[a]\nmodel = unsloth/a-GGUF:Q8_0\ntemp = 0.6\nmin-p = 0.0\n", "config.ini")
    assert [word.value for word in launch.argv][:2] == ["--model", "unsloth/a-GGUF:Q8_0"]
