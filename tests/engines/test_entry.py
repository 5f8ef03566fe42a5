"""Entry points: the words that start an engine's server."""

from __future__ import annotations

import pytest

from servelint.core.launch import Word
from servelint.core.text import TracedText, unknown
from servelint.engines import entry
from servelint.engines.entry import find, program, reader, since
from tests.together import together


def words(text: str) -> list[Word]:
    """Words by white space; one that starts with `$` or `{` is unknown."""
    return [
        Word(TracedText((unknown(part, None),)) if part.startswith(("$", "{")) else TracedText.of(part))
        for part in text.split()
    ]


def found(text: str, at: int = 0) -> tuple[str, int] | None:
    entry = find(words(text), at)
    return None if entry is None else (entry.engine, entry.end)


@together(
    "text, expected",
    [
        ("vllm serve m", ("vllm", 2)),
        ("/usr/local/bin/vllm serve", ("vllm", 2)),
        ("vllm@0.19.1 serve m", ("vllm", 2)),
        ("python -m vllm.entrypoints.openai.api_server --model m", ("vllm", 3)),
        ("python3.12 -m vllm.entrypoints.api_server", ("vllm", 3)),
        ("python -m vllm.entrypoints.grpc_server --model m", ("vllm", 3)),
        ("python -m vllm.entrypoints.launchers.grpc_server --model m", ("vllm", 3)),
        ("/opt/venv/bin/python3 -u -OO -X dev -W error -m vllm.entrypoints.openai.api_server", ("vllm", 9)),
        ("python -m vllm.entrypoints.cli.main serve m", ("vllm", 4)),
        ("python -m vllm serve m", ("vllm", 4)),
        ("python vllm/entrypoints/openai/api_server.py --model m", ("vllm", 2)),
        ("python -m ipex_llm.vllm.xpu.entrypoints.openai.api_server --model m", ("vllm", 3)),
        ("python -m fastchat.serve.vllm_worker --model-path m", ("vllm", 3)),
        ("trl vllm-serve --model m", ("vllm", 2)),
        ("python -u /src/vllm/entrypoints/openai/api_server.py", ("vllm", 3)),
        ("$PYTHON -m sglang.launch_server", ("sglang", 3)),
        ("sglang serve --model-path m", ("sglang", 2)),
        ("python -m sglang.launch_server --model-path m", ("sglang", 3)),
        ("python -m sglang.cli.main serve", ("sglang", 4)),
        ("python /sgl/sglang/launch_server.py", ("sglang", 2)),
        ("llama-server -m a.gguf", ("llama.cpp", 1)),
        ("build/bin/llama-server.exe", ("llama.cpp", 1)),
        ("llama serve -m a.gguf", ("llama.cpp", 2)),
        ("trtllm-serve m", ("trtllm", 1)),
        ("trtllm-serve serve m", ("trtllm", 2)),
        ("python -m tensorrt_llm.commands.serve serve m", ("trtllm", 4)),
        ("lmdeploy serve api_server m", ("lmdeploy", 3)),
        ("python -m lmdeploy serve api_server m", ("lmdeploy", 5)),
        ("text-generation-launcher", ("tgi", 1)),
        ("ollama serve", ("ollama", 2)),
        ("ollama start", ("ollama", 2)),
        ("vllm serve m --help", ("vllm", 2)),
    ],
)
def test_starts_a_server(text: str, expected: tuple[str, int]) -> None:
    assert found(text) == expected


@together(
    "text",
    [
        "",
        "vllm",
        "vllm bench serve",
        "vllm chat m",
        "trl sft --model m",
        "vllm $VERB m",
        "$VLLM serve m",
        "vllm serve --help",
        "vllm serve --help=listgroup",
        "llama-server --version",
        "llama-server --list-devices",
        "llama-cli -m a.gguf",
        "sglang generate",
        "python",
        "python -m",
        "python -m vllm",
        "python -m vllm.benchmarks.serve",
        "python -m $MODULE --model m",
        "python $FLAGS -m vllm.entrypoints.openai.api_server",
        "python -c vllm/entrypoints/openai/api_server.py",
        "python serve.py",
        "python api_server.py",
        "$PYTHON vllm/entrypoints/openai/api_server.py",
        "pythonista -m sglang.launch_server",
        "lmdeploy serve gradio m",
        "lmdeploy chat m",
        "trtllm-serve disaggregated -c c.yml",
        "trtllm-serve disaggregated_mpi_worker",
        "trtllm-bench m",
        "text-generation-server serve m",
    ],
)
def test_starts_none(text: str) -> None:
    assert found(text) is None


def test_a_command_that_the_program_does_not_have() -> None:
    for text, at in (
        ("vllm server m --port 1", 1),
        ("/opt/venv/bin/vllm sreve m --port 1", 1),
        ("sglang server --model-path m", 1),
        ("ollama server --verbose", 1),
        ("lmdeploy serv api_server m --tp 2", 1),
        ("lmdeploy api_server m --tp 2", 1),
        ("lmdeploy serve m/x --tp 2", 2),
    ):
        wrong = entry.misnamed(words(text))
        assert (wrong or (0,))[0] == at, text
    for text in (
        "vllm serve m --port 1",
        "vllm server m",
        "vllm server --help",
        "vllm bench serve --model m",
        "vllm run-batch -i a --model m",
        "vllm $VERB m --port 1",
        "lmdeploy serve proxy --server-port 1",
        "lmdeploy lite auto_awq m/x --work-dir w",
        "lmdeploy serve $WHAT --tp 2",
        "ollama run m --verbose",
        "trtllm-serve m --port 1",
        "llama-server serve --port 1",
        "server m --port 1",
    ):
        assert entry.misnamed(words(text)) is None, text


def test_at_another_word() -> None:
    assert found("sudo -E vllm serve m", 2) == ("vllm", 4)
    assert found("sudo -E vllm serve m", 9) is None


@pytest.mark.parametrize(
    ("word", "name"),
    [("/usr/bin/python3", "python3"), ("vllm", "vllm"), ("./a/b", "b"), ("vllm@0.19.1", "vllm"), ("$X", None), ("", "")],
)
def test_program(word: str, name: str | None) -> None:
    assert program(words(word)[0] if word else Word(TracedText.of(""))) == name


def test_a_program_in_an_unknown_folder() -> None:
    assert program(Word(TracedText([unknown("${HOME}", None), TracedText.of("/bin/vllm").pieces[0]]))) == "vllm"


@pytest.mark.parametrize(
    ("text", "release"),
    [("sglang serve", "0.5.5"), ("python -m sglang.launch_server", "0"), ("vllm serve", "0"), ("llama-server", "0")],
)
def test_the_first_release_that_a_verb_starts(text: str, release: str) -> None:
    engine = found(text)
    assert engine is not None
    assert since(engine[0], tuple(words(text))) == release


@together(
    "text, expected",
    [
        ("/opt/llama.cpp/build/bin/server -m a.gguf", ("llama.cpp", 1)),
        ("./llama.cpp/server -m a.gguf", ("llama.cpp", 1)),
        ("~/src/go-llama.cpp/llama.cpp/server --port 1", ("llama.cpp", 1)),
        ("C:/llama-cpp/bin/Release/server.exe -m a", ("llama.cpp", 1)),
        ("/opt/app/server -m a.gguf", None),
        ("/opt/llama-server-cuda12 -m a", ("llama.cpp", 1)),
        ("llama-server-vulkan -m a", ("llama.cpp", 1)),
        ("build/bin/llama-server-ec9e0301 -m a", ("llama.cpp", 1)),
        ("/mnt/bin/llama-server-be0e35 -m a", ("llama.cpp", 1)),
        ("llama-server-facade -m a", None),
        ("llama-server-wrapper -m a", None),
        ("llama-server-manager start", None),
        ("./server -m a.gguf", None),
        ("/opt/llama.cpp/examples/other/server.py", None),
    ],
)
def test_other_names_of_llama_cpp_s_server(text: str, expected: tuple[str, int] | None) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "asked", ["$(command -v vllm || true)", "$(which vllm 2>/dev/null || echo '')", "`which vllm 2>/dev/null`"]
)
def test_a_program_that_a_substitution_looks_for(asked: str) -> None:
    assert find([Word(TracedText((unknown(asked, None),))), *words("serve m")]) is not None


@together(
    "engine, text, expected",
    [
        ("vllm", "m --omni --usp 8", "omni"),
        ("vllm", "m --omnivore", ""),
        ("tgi", "--model-name=/mnt/models/", "tgis"),
        ("tgi", "--model-id m --port 8080", ""),
        ("tgi", "--grpc-port 8033", "tgis"),
        ("tgi", "--output-special-tokens", "tgis"),
        ("tgi", "--model-id m --grpc-port", ""),
        ("tgi", "--grpc-port 8033 --max-total-tokens=4096", ""),
        ("sglang", "--model-path m --dit-cpu-offload", "multimodal_gen"),
        ("sglang", "--model-path m --num-gpus=2", "multimodal_gen"),
        ("sglang", "--model-path m --disagg-role server --decoder-urls u", "multimodal_gen"),
        ("sglang", "--model-path m --attention-backend torch_sdpa", "multimodal_gen"),
        ("sglang", "--model-path m --attention_backend=sage_attn", "multimodal_gen"),
        ("sglang", "--model-path m --attention-backend triton", ""),
        ("sglang", "--model-path torch_sdpa --attention-backend", ""),
        ("sglang", "--model-path m --tp 2", ""),
    ],
)
def test_the_program_that_an_option_chooses(engine: str, text: str, expected: str) -> None:
    assert reader(engine, "", words(text)) == expected
    assert reader(engine, "dynamo", words(text)) == "dynamo"


@together(
    "text, serves, surely",
    [
        ("--model_name=m", True, False),
        ("--model_name=m --max-model-len 4", True, True),
        ("--max-model-len 4", True, True),
        ("", True, False),
        ("--backend vllm", True, True),
        ("--backend=huggingface", False, False),
        ("--backend vllm --backend huggingface", False, False),
        ("--task=text_embedding --max-model-len 4", False, False),
        ("--task=text_generation", True, False),
    ],
)
def test_whether_a_server_of_several_engines_starts_this_one(text: str, serves: bool, surely: bool) -> None:
    assert entry.serves("vllm", "huggingfaceserver", words(text)) is serves
    assert entry.serves("vllm", "huggingfaceserver", words(text), sure=True) is surely
    assert entry.serves("vllm", "", words(text)) is True


def test_an_image_of_the_makers_holds_no_fork() -> None:
    assert reader("tgi", "", words("--grpc-port 8033"), original=True) == ""
    assert reader("vllm", "", words("m --omni --usp 8"), original=True) == "omni"


@pytest.mark.parametrize(
    ("verb", "expected"), [("serve", "multimodal_gen"), ("", "multimodal_gen"), ("sglang.launch_server", "")]
)
def test_only_sglang_serve_hands_over_to_the_diffusion_server(verb: str, expected: str) -> None:
    assert reader("sglang", "", words("--model-path m --num-gpus 2"), verb) == expected


@together(
    "text, expected",
    [
        ("$LLAMA_SERVER -m a.gguf", ("llama.cpp", 1)),
        ("$llamaServerPath -m a.gguf", ("llama.cpp", 1)),
        ("$llama_server -m a.gguf", ("llama.cpp", 1)),
        ("$OllamaExe serve", ("ollama", 2)),
        ("$ollama_bin serve", ("ollama", 2)),
        ("$ollama serve", None),
        ("$ollamaClient serve", None),
        ("$llamaServerDir -m a.gguf", None),
        ("${LLAMA_SERVER_BIN:-x} -m a.gguf", ("llama.cpp", 1)),
        ("$VLLM_BIN serve m", ("vllm", 2)),
        ("$MY_VLLM_CMD serve m", ("vllm", 2)),
        ("$(find.-name.llama-server) -m a.gguf", None),
        ("$LLAMA_SERVER stop", None),
        ("$LLAMA_SERVER_LOG -m a.gguf", None),
        ("$VLLM_BIN bench m", None),
        ("$SERVER_BIN -m a.gguf", None),
        ("$OLLAMA_INSTALL_PATH serve", ("ollama", 2)),
        ("{llama_server_path} -m a.gguf", ("llama.cpp", 1)),
        ("{str(self.llama_server_bin)} -m a.gguf", ("llama.cpp", 1)),
        ('{config["llama-server-executable"]} -m a.gguf', ("llama.cpp", 1)),
        ('{os.environ.get("LLAMA_SERVER")} -m a.gguf', ("llama.cpp", 1)),
        ("{self.vllm_bin} serve m", ("vllm", 2)),
        ("{self.llama_server_args} -m a.gguf", None),
        ("{self.vllm_bin} bench m", None),
        ("{self.vllm} serve m", None),
    ],
)
def test_a_variable_that_is_called_after_a_program(text: str, expected: tuple[str, int] | None) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("expression", "rest", "expected"),
    [
        ("{{ ollama_install_path }}", "serve", "ollama"),
        ("{{- .Values.vllmBinary | quote }}", "serve m", "vllm"),
        ("{{ llama_server }}", "-m a.gguf", "llama.cpp"),
        ("{{ vllm_bin }}", "bench m", None),
        ("{{ vllm_args }}", "serve m", None),
        ("{{ path }}", "serve m", None),
    ],
)
def test_an_expression_of_a_template_that_is_called_after_a_program(expression: str, rest: str, expected: str | None) -> None:
    found = find([Word(TracedText((unknown(expression, None),))), *words(rest)])
    assert (found.engine if found is not None else None) == expected


def test_a_program_that_find_looks_for() -> None:
    asked = TracedText((unknown('$(find "$ROOT" -name "llama-server" -type f | head -1)', None),))
    assert find([Word(asked), *words("-m a.gguf")]) is not None


def test_an_empty_word_is_no_verb_that_may_be_left_out() -> None:
    for command in ("vllm serve", "sglang serve", "trtllm-serve"):
        start = words(command)
        entry = find([*start, Word(TracedText(())), *words("--port 80")])
        assert entry is not None
        assert entry.end == len(start)
