"""llama-swap, and recipes with defaults."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from servelint.core import bounds
from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, reading, release, sites, spans


def swap_launch(text: str) -> Launch:
    return launch_in(dedent(text), "config.yaml")


def test_lines_are_one_command() -> None:
    found, marks = marked_launch(
        """
        models:
          "qwen 3":
            cmd: |
              # the server
              llama-server --port ${PORT}
                \u27e6-m\u27e7 \u27e6"/models/a b.gguf"\u27e7 \\
              # context
              \u27e6-c\u27e7 \u27e68192\u27e7
            env:
              - CUDA_VISIBLE_DEVICES=0,1
            ttl: 60
        """,
        "config.yaml",
    )
    assert argv(found) == ["--port", "${PORT}", "-m", "/models/a b.gguf", "-c", "8192"]
    assert sites(found.argv)[2:] == marks
    assert environment(found) == {"CUDA_VISIBLE_DEVICES": "0,1"}
    assert (found.name, lines(found)) == ("models.qwen 3", (3, 8))


def test_macros() -> None:
    found = swap_launch("""
        macros:
          server: llama-server --port ${PORT} ${common}
          common: -fa on -c ${size}
          size: 4096
        models:
          a:
            macros: {size: 8192}
            cmd: ${server} -m /models/${MODEL_ID}.gguf --threads ${env.THREADS}
    """)
    assert argv(found) == [
        "--port", "${PORT}", "-fa", "on", "-c", "8192", "-m", "/models/${MODEL_ID}.gguf", "--threads", "${env.THREADS}",
    ]  # fmt: skip


def test_a_macro_of_itself() -> None:
    found, _ = reading("macros: {a: '${a} ${a}'}\nmodels:\n  m: {cmd: 'llama-server ${a}'}\n", "config.yaml")
    assert found.launches == []
    assert [one.message for one in found.problems] == [bounds.WORDS.message]


def test_no_shell_reads_it() -> None:
    found = swap_launch("models:\n  m:\n    cmd: llama-server -m $HOME/a.gguf --alias '$A'\n")
    assert argv(found) == ["-m", "$HOME/a.gguf", "--alias", "$A"]
    assert found.argv[1].value == "$HOME/a.gguf"


def test_containers() -> None:
    found = swap_launch("""
        models:
          m:
            cmdStop: docker stop llm
            cmd: docker run --name llm -e A=1 -p ${PORT}:8000 vllm/vllm-openai:v0.20.0 --model m
    """)
    assert (argv(found), environment(found), release(found)) == (["--model", "m"], {"A": "1"}, ("0.20.0", "image"))


@pytest.mark.parametrize(
    "text",
    [
        "models:\n  m: {cmd: python serve_whisper.py, description: llama-server}\n",
        "models:\n  m: {cmdStop: pkill llama-server}\n",
        "models:\n  - name: llama-server\n    cmd: [vllm, serve]\n",
    ],
)
def test_what_is_none(text: str) -> None:
    assert [found.name for found in launches_in(text, "config.yaml") if found.name.startswith("models.m")] == []


def test_spans_of_a_macro() -> None:
    found, marks = marked_launch(
        "macros:\n  size: \u27e68192\u27e7\nmodels:\n  m:\n    cmd: llama-server -c ${size}\n", "config.yaml"
    )
    assert spans(found.argv[1:]) == marks


def recipe_launch(text: str) -> Launch:
    return launch_in(dedent(text), "recipe.yaml")


def test_settings_and_braces() -> None:
    found, marks = marked_launch(
        """
        recipe_version: "1"
        model: Qwen/Qwen3-8B
        container: vllm/vllm-openai:v0.20.0
        defaults:
          port: 8000
          max_model_len: 32768
        env:
          VLLM_USE_V1: 1
        command: |
          vllm serve {model} \\
            --port \u27e6{port}\u27e7 --max-model-len={max_model_len} \\
            --speculative-config '\u27e6{{"method":"mtp","num_speculative_tokens":2}}\u27e7' \\
            -tp {tensor_parallel}
        """,
        "recipe.yaml",
    )
    assert argv(found) == [
        "Qwen/Qwen3-8B", "--port", "8000", "--max-model-len=32768", "--speculative-config",
        '{"method":"mtp","num_speculative_tokens":2}', "-tp", "{tensor_parallel}",
    ]  # fmt: skip
    assert [spans(found.argv)[2], spans(found.argv)[5]] == marks
    assert found.argv[2].text.assumed
    assert found.argv[7].value is None
    assert environment(found) == {"VLLM_USE_V1": "1"}
    assert release(found) == ("0.20.0", "image")


def test_a_template_without_settings_is_read_as_it_stands() -> None:
    found = recipe_launch('name: a\ncommand: |\n  vllm serve m --port {port} --speculative-config \'{"method": "mtp"}\'\n')
    assert argv(found) == ["m", "--port", "{port}", "--speculative-config", '{"method": "mtp"}']
    assert found.argv[2].value is None
    assert found.argv[4].value == '{"method": "mtp"}'


def test_a_recipe_of_something_else() -> None:
    assert launches_in("recipe_version: 1\nmodel: vllm\ndefaults: {a: 1}\ncommand: python train.py {a}\n", "recipe.yaml") == []


@pytest.mark.parametrize(
    "command",
    [
        r'"C:\Program Files\llama\llama-server.exe" -m "C:\models\a b.gguf" --port ${PORT}',
        r"C:\llama\llama-server.exe -m 'C:\models\a b.gguf' --port ${PORT}".replace("'", '"'),
        r'.\bin\llama-server.exe -m "C:\models\a b.gguf" --port ${PORT}',
    ],
)
def test_a_program_of_windows(command: str) -> None:
    found = swap_launch(f"models:\n  m:\n    cmd: >\n      {command}\n")
    assert argv(found) == ["-m", r"C:\models\a b.gguf", "--port", "${PORT}"]


@pytest.mark.parametrize(
    ("name", "macros", "missing"),
    [
        ("page.md", "", 0),
        ("page.rst", "", 0),
        ("page.md", "macros: {other: vllm}\n", 1),
        ("page.md", "macros: {vllm: vllm}\n", 0),
        ("config.yaml", "", 1),
    ],
)
def test_a_page_may_leave_the_macros_out(name: str, macros: str, missing: int) -> None:
    text = f"{macros}models:\n  m:\n    cmd: ${{vllm}} serve Qwen/Qwen3-8B --port ${{PORT}}\n"
    shown = {"page.md": f"```yaml\n{text}```\n", "page.rst": ".. code-block:: yaml\n\n" + indent(text, "   ")}.get(name, text)
    found = [one for launch in launches_in(shown, name) for one in launch.mishaps if one.kind == "swap-macro"]
    assert len(found) == missing


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("healtCheckTimeout: 3", "healthCheckTimeout"),
        ("start-port: 3", "startPort"),
        ("stratPort: 3", "startPort"),
        ("logLevels: debug", "logLevel"),
        ("logLewel: debug", "logLevel"),
        ("uis: {}", None),
        ("shared: {}", None),
        ("groups: {g: {swapp: true, members: [m]}}", None),
        ("groups: {g: {persistant: true, members: [m]}}", "persistent"),
        ("routing: {router: {use: group, setting: {}}}", "settings"),
        ("peers: {p: {proxy: http://a, api_key: k}}", "apiKey"),
        ("peers: {p: {proxy: http://a, apiKey: k}}", None),
    ],
)
def test_a_key_that_is_like_one_of_llama_swap(text: str, meant: str | None) -> None:
    found = swap_launch(f"{text}\nmodels:\n  m:\n    cmd: llama-server --port ${{PORT}}\n").mishaps
    assert [one.other for one in found if one.kind == "swap-spelling"] == [meant] * (meant is not None)


SCRIPT = 'exec llama-server -m "$MODEL" --port "$1" -c 8192\n'


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("bash ./serve.sh 5800", "-m a.gguf --port 5800 -c 8192"),
        ("./serve.sh 5800", "-m a.gguf --port 5800 -c 8192"),
        ("sh /opt/llm/serve.sh 5800", "-m a.gguf --port 5800 -c 8192"),
        ("/opt/llm/other.sh 5800", ""),
    ],
)
def test_a_model_that_a_script_starts(command: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "serve.sh").write_text(SCRIPT)
    text = f"""
    models:
      one:
        cmd: {command}
        env: [MODEL=a.gguf]
      two:
        cmd: llama-server -m b.gguf --port 5801
    """
    found, _ = reading(text, "config.yaml", tmp_path)
    assert [" ".join(argv(one)) for one in found.launches if one.name == "models.one"] == [words] * bool(words)
    notes = [] if words else ["models.one is not judged: /opt/llm/other.sh, which starts it, is not read"]
    assert [(one.message, one.note) for one in found.problems] == [(one, "always") for one in notes]


def test_a_script_that_reads_nothing_of_its_model_is_judged_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "serve.sh").write_text("exec llama-server -m a.gguf\n")
    found, _ = reading("models:\n  one:\n    cmd: bash serve.sh\n", "config.yaml", tmp_path)
    assert (found.launches, found.problems) == ([], [])
