"""Pages: every block a script of its own, and what is prose."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, sites, spans
from tests.together import together


def bash(code: str, language: str = "bash") -> str:
    return f"Start it:\n\n```{language}\n{code}\n```\n"


class TestCommands:
    def test_words_and_places(self) -> None:
        launch, marks = marked_launch(
            bash("# two GPUs\nVLLM_USE_V1=1 vllm serve \u27e6Qwen/Qwen3-8B\u27e7 \\\n  \u27e6--port\u27e7 '\u27e68000\u27e7'"),
            "README.md",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks
        assert environment(launch) == {"VLLM_USE_V1": "1"}
        assert lines(launch) == (5, 6)
        assert launch.name == ""

    @pytest.mark.parametrize("prefix", ["   ", "> ", "\t", ">   "])
    def test_words_over_lines_with_a_prefix(self, prefix: str) -> None:
        page = (
            f'{prefix}```bash\n{prefix}vllm serve m \\\n{prefix}  --speculative-config \u27e6\'{{"method": "mtp",\n'
            f'{prefix}    "num_speculative_tokens": 2}}\'\u27e7\n{prefix}```\n'
        )
        launch, marks = marked_launch(page, "README.md")
        assert argv(launch)[1:] == ["--speculative-config", '{"method": "mtp",\n    "num_speculative_tokens": 2}']
        assert sites(launch.argv)[2] == marks[0]

    @together("language", ["", "bash", "sh", "shell", "zsh", "console", "terminal", "{code-block} bash"])
    def test_languages_of_commands(self, language: str) -> None:
        assert argv(launch_in(bash("vllm serve m", language), "README.md")) == ["m"]

    @pytest.mark.parametrize("language", ["python", "text", "output", "log", "http", "rust", "xml"])
    def test_languages_of_other_things(self, language: str) -> None:
        assert launches_in(bash("vllm serve m", language), "README.md") == []

    def test_several_in_a_block(self) -> None:
        found = launches_in(bash("vllm serve a\n\n# or\nvllm serve b -tp 2"), "README.md")
        assert [argv(launch) for launch in found] == [["a"], ["b", "-tp", "2"]]

    def test_containers(self) -> None:
        launch = launch_in(bash("docker run --gpus all -e A=1 vllm/vllm-openai:v0.20.0 --model m"), "README.md")
        assert (argv(launch), environment(launch), release(launch)) == (["--model", "m"], {"A": "1"}, ("0.20.0", "image"))

    def test_env_files_are_the_readers_own(self) -> None:
        assert launch_in(bash("docker run --env-file .env vllm/vllm-openai:v0.20.0 --model m"), "README.md").open_env

    def test_blocks_share_no_variables(self) -> None:
        page = bash("export MODEL=m\nexport VLLM_USE_V1=1") + bash("vllm serve $MODEL")
        launch = launch_in(page, "README.md")
        assert argv(launch) == ["${MODEL}"]
        assert environment(launch) == {}

    def test_variables_of_the_block_itself(self) -> None:
        launch = launch_in(bash("export MODEL=m\nvllm serve $MODEL"), "README.md")
        assert argv(launch) == ["m"]

    def test_an_install_in_the_block_names_the_release(self) -> None:
        assert release(launch_in(bash("pip install vllm==0.20.0\nvllm serve m"), "README.md")) == ("0.20.0", "pip")

    def test_one_in_a_block_before_does(self) -> None:
        pinned, serves = bash("pip install vllm==0.20.0"), bash("vllm serve m")
        console = bash("$ uv pip install 'vllm==0.20.0'\nCollecting vllm", "console")
        for page in (pinned + serves, console + "Then:\n" + serves, pinned + bash("pip install -U x") + serves):
            assert release(launch_in(page, "README.md")) == ("0.20.0", "pip")

    def test_one_that_does_not_count_for_another_block(self) -> None:
        pinned, serves = bash("pip install vllm==0.20.0"), bash("vllm serve m")
        assert release(launch_in(serves + pinned, "README.md")) == (None, None)
        assert release(launch_in(bash("pip install sglang==0.5.9") + serves, "README.md")) == (None, None)
        shown = bash("RUN pip install vllm==0.20.0", "dockerfile")
        assert release(launch_in(shown + serves, "README.md")) == (None, None)
        for other in ("vllm==0.19.0", "-U vllm"):
            assert release(launch_in(pinned + bash(f"pip install {other}") + serves, "README.md"))[0] is None
            assert release(launch_in(pinned + serves + bash(f"pip install {other}"), "README.md"))[0] is None
        image = bash("docker run vllm/vllm-openai:v0.19.0 --model m")
        assert release(launch_in(pinned + image, "README.md")) == ("0.19.0", "image")

    def test_exit_leaves_a_container_and_not_the_page(self) -> None:
        shown = "pkill ollama\nexit\nvllm serve m"
        assert argv(launch_in(bash(shown), "README.md")) == ["m"]
        assert launches_in(bash(f"#!/bin/bash\n{shown}"), "README.md") == []

    def test_powershell(self) -> None:
        launch = launch_in(
            bash("docker run --gpus all `\n  vllm/vllm-openai:v0.20.0 `\n  --model m", "powershell"), "README.md"
        )
        assert argv(launch) == ["--model", "m"]

    def test_pages_in_pages(self) -> None:
        assert argv(launch_in("````md\n" + bash("vllm serve m") + "````\n", "README.md")) == ["m"]


class TestConsoles:
    def test_output_is_no_command(self) -> None:
        page = "```console\n$ pip install vllm==0.20.0\nvllm serve is ready\n$ vllm serve m \\\n> --port 1\nvllm serve x\n```\n"
        launch = launch_in(page, "README.md")
        assert argv(launch) == ["m", "--port", "1"]
        assert release(launch) == ("0.20.0", "pip")

    @pytest.mark.parametrize("language", ["bash", "text", "", "shell-session"])
    def test_prompts_in_other_languages(self, language: str) -> None:
        assert argv(launch_in(bash("$ vllm serve m\nready", language), "README.md")) == ["m"]

    def test_indented(self) -> None:
        assert argv(launch_in("Start it:\n\n    $ vllm serve m\n    vllm serve x\n", "README.md")) == ["m"]

    def test_what_root_typed(self) -> None:
        assert argv(launch_in(bash("# vllm serve m\nready", "console"), "README.md")) == ["m"]

    @pytest.mark.parametrize("code", ["# vllm serve a\nvllm serve m", "# start it\nvllm serve m"])
    def test_or_what_is_a_comment(self, code: str) -> None:
        assert argv(launch_in(bash(code, "console"), "README.md")) == ["m"]

    def test_a_comment_in_a_script(self) -> None:
        assert launches_in(bash("# vllm serve m\nls"), "README.md") == []


class TestPlaceholders:
    def test_one_word(self) -> None:
        launch, marks = marked_launch(bash("vllm serve \u27e6<model>\u27e7 --port 8000"), "README.md")
        assert argv(launch) == ["<model>", "--port", "8000"]
        assert (launch.argv[0].value, launch.argv[0].many) == (None, False)
        assert spans(launch.argv[:1]) == marks

    @pytest.mark.parametrize("more", ["...", "\u2026", "<other options>", "[options]", "{extra_args}"])
    def test_any_number_of_words(self, more: str) -> None:
        launch = launch_in(bash(f"vllm serve m {more}"), "README.md")
        assert argv(launch) == ["m", more]
        assert launch.argv[1].many

    def test_dots_for_the_model(self) -> None:
        launch = launch_in(bash("vllm serve ... --tool-server demo"), "README.md")
        assert argv(launch) == ["...", "--tool-server", "demo"]
        assert launch.argv[0].many

    def test_in_quotes(self) -> None:
        launch = launch_in(bash('vllm serve m --port "<port>" --speculative-config \'{"model": "<draft>"}\''), "README.md")
        assert argv(launch) == ["m", "--port", "<port>", "--speculative-config", '{"model": "<draft>"}']
        assert [word.value is None for word in launch.argv] == [False, False, True, False, True]


class TestWhatIsNoLaunch:
    @together(
        "page",
        [
            "Run `vllm serve m` to start it.\n",
            "vllm serve m\n",
            "- vllm serve m\n",
            "| `vllm serve m` | starts it |\n",
            "# vllm serve m\n",
            "```vllm serve m```\n",
            "---\ncommand: |\n  ```bash\n  vllm serve m\n  ```\n---\n",
            "<!--\n```bash\nvllm serve m\n```\n-->\n",
            bash("vllm bench serve --model m"),
            bash("vllm chat --url http://localhost:8000/v1"),
            bash("pip install vllm"),
            bash("vllm serve --help"),
            bash("docker pull vllm/vllm-openai:v0.20.0"),
            bash("curl http://localhost:8000/v1/models # vllm serve m"),
            bash("echo vllm serve m"),
            bash("vllm serve m", "mermaid"),
        ],
    )
    def test_prose_and_other_commands(self, page: str) -> None:
        assert launches_in(page, "README.md") == []
