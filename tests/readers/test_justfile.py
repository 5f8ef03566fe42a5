"""justfile recipes: just's variables are filled in before a shell sees the line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, sites, spans
from tests.together import together


def justfile(text: str, folder: Path | None = None) -> Launch:
    return launch_in(text, "justfile", folder)


class TestRecipes:
    def test_lines_that_are_continued(self) -> None:
        launch, marks = marked_launch(
            """
            default:
              just --list

            # start the model
            [group('llm')]
            @serve:
              echo starting
              -CUDA_VISIBLE_DEVICES=0 vllm serve ⟦Qwen/Qwen3-8B⟧ \\
                ⟦--port⟧ ⟦8000⟧ \\
                ⟦--served-model-name⟧ ⟦"my model"⟧

            stop:
              pkill -f "vllm serve"
            """,
            "justfile",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--served-model-name", "my model"]
        assert sites(launch.argv) == marks
        assert environment(launch) == {"CUDA_VISIBLE_DEVICES": "0"}
        assert (launch.name, lines(launch)) == ("serve", (8, 10))

    @pytest.mark.parametrize("filename", ["Justfile", ".justfile", "llm.just"])
    def test_names_of_justfiles(self, filename: str) -> None:
        assert argv(launch_in("serve:\n  vllm serve {{'m'}}\n", filename)) == ["m"]

    @pytest.mark.parametrize(
        "text",
        [
            "vllm serve m\n",
            "serve:\n  echo vllm serve m\n",
            "serve:\n  # vllm serve m\n",
            "bench:\n  vllm bench serve --model m\n",
            "serve:\n  #!/usr/bin/env python3\n  vllm serve m\n",
            'set shell := ["nu", "-c"]\nserve:\n  vllm serve m\n',
            'cmd := "vllm serve m"\n',
        ],
    )
    def test_what_starts_none(self, text: str) -> None:
        assert launches_in(text, "justfile") == []

    def test_a_script(self) -> None:
        launch, marks = marked_launch(
            """
            port := "⟦8000⟧"
            serve:
                #!/usr/bin/env bash
                set -euo pipefail
                ARGS=(--port {{port}})
                if [ -n "$EAGER" ]; then
                    ARGS+=(--enforce-eager)
                fi
                vllm serve ⟦m⟧ "${ARGS[@]}"
            """,
            "justfile",
        )
        assert argv(launch) == ["m", "--port", "8000"]
        assert spans(launch.argv)[::2] == marks[::-1]
        assert launch.line == 9

    def test_a_script_of_another_shell(self) -> None:
        text = 'set shell := ["nu", "-c"]\nserve:\n  #!/bin/sh\n  vllm serve m\n'
        assert argv(justfile(text)) == ["m"]

    def test_each_line_is_a_shell_of_its_own(self) -> None:
        assert argv(justfile("serve:\n  PORT=1\n  vllm serve m --port $PORT\n")) == ["m", "--port", "${PORT}"]

    def test_lines_that_are_lost(self) -> None:
        launch, marks = marked_launch("serve:\n  vllm serve m\n  ⟦--port 8000\n  --seed 1⟧\n", "justfile")
        assert launch.cut == marks[0]
        assert justfile("serve:\n  vllm serve m\n  -docker rm llm\n").cut is None


class TestValues:
    @together(
        "assignments, value",
        [
            ("v := 'a'", "a"),
            ('v := "a\\tb"', "a\tb"),
            ("v := 'a\\tb'", "a\\tb"),
            ("v := '''a'b'''", "a'b"),
            ("v := w\nw := 'a'", "a"),
            ("v := 'a' + \"b\" + w\nw := 'c'", "abc"),
            ("v := 'a' / 'b'", "a/b"),
            ("v := ('a' + 'b')", "ab"),
            ("v := if 'a' == 'a' { 'b' } else { 'c' }", "b"),
            ("v := if 'a' != 'a' { 'b' } else if 'a' == 'b' { 'c' } else { 'd' }", "d"),
            ("v := env_var_or_default('V', 'a')", "a"),
            ("v := env('V', 'a')", "a"),
            ("export v := 'a'", "a"),
            ("v := 'a' # b", "a"),
            ("v := ''", ""),
        ],
    )
    def test_what_is_known(self, assignments: str, value: str) -> None:
        assert justfile(f'{assignments}\nserve:\n  vllm serve m --x "{{{{v}}}}"\n').argv[2].value == value

    @together(
        "assignments",
        [
            "v := `nproc`",
            "v := env('V')",
            "v := env_var('V')",
            "v := justfile_directory()",
            "v := if env('V') == 'a' { 'b' } else { 'c' }",
            "v := 'a' + `b`",
            "v := v",
            "v := w\nw := v",
            "v := x'$HOME'",
            "v := 'a",
            "",
        ],
    )
    def test_what_is_not(self, assignments: str) -> None:
        assert not justfile(f'{assignments}\nserve:\n  vllm serve m --x "{{{{v}}}}"\n').argv[2].text.known

    def test_values_stand_where_they_are_given(self) -> None:
        launch, marks = marked_launch(
            "model := '⟦m⟧'\nport := env('PORT', '⟦8000⟧')\nserve:\n  vllm serve {{model}} --port {{ port }} {{'⟦--x⟧'}}\n",
            "justfile",
        )
        assert spans([launch.argv[0], launch.argv[2], launch.argv[3]]) == marks
        assert [word.text.assumed for word in launch.argv] == [False, False, True, False]
        assert lines(launch) == (4, 4)

    def test_parameters(self) -> None:
        launch = justfile(
            "m := 'm'\nserve model=m port='8000' size *args:\n  vllm serve {{model}} --port {{port}} -x {{size}} {{args}}\n"
        )
        assert argv(launch) == ["m", "--port", "8000", "-x", "{{size}}"]
        assert [word.text.assumed for word in launch.argv] == [True, False, True, False, False]

    def test_arguments_that_must_be_given(self) -> None:
        launch = justfile("serve +args:\n  vllm serve m {{args}}\n")
        assert launch.argv[1].many

    def test_one_that_is_never_closed(self) -> None:
        launch = justfile("serve:\n  vllm serve {{ m\n")
        assert [word.text.known for word in launch.argv] == [False]

    def test_two_braces(self) -> None:
        launch = justfile('serve:\n  vllm serve m --x \'{{{{"a":{"b":1}}\'\n')
        assert launch.argv[2].value == '{{"a":{"b":1}}'

    def test_a_string_over_several_lines_is_no_recipe(self) -> None:
        assert launches_in("v := '''\nserve:\n  vllm serve m\n'''\n", "justfile") == []


class TestEnvironment:
    def test_what_is_exported(self) -> None:
        text = "export A := '1'\nB := '2'\nserve $C='3' d='4':\n  D=5 vllm serve m --port $C\n"
        launch = justfile(text)
        assert environment(launch) == {"A": "1", "C": "3", "D": "5"}
        assert argv(launch) == ["m", "--port", "3"]
        assert environment(justfile("set export\n" + text)) == {"A": "1", "B": "2", "C": "3", "d": "4", "D": "5"}

    @pytest.mark.parametrize(
        ("setting", "name"),
        [
            ("set dotenv-load", ".env"),
            ("set dotenv-load := true", ".env"),
            ("set dotenv-required", ".env"),
            ("set dotenv-filename := 'llm.env'", "llm.env"),
            ('set dotenv-path := "llm.env"', "llm.env"),
        ],
    )
    def test_the_dotenv_file(self, setting: str, name: str, tmp_path: Path) -> None:
        (tmp_path / name).write_text("PORT=9000\n")
        text = "\nserve:\n  vllm serve m --port $PORT --x {{env('PORT')}}\n"
        launch = justfile(setting + text, tmp_path)
        assert (argv(launch), environment(launch)) == (["m", "--port", "9000", "--x", "9000"], {"PORT": "9000"})
        assert not launch.open_env
        assert environment(justfile("set dotenv-load := false" + text, tmp_path)) == {}

    def test_one_that_is_not_here(self, tmp_path: Path) -> None:
        assert justfile("set dotenv-load\nserve:\n  vllm serve m\n", tmp_path).open_env


class TestRelease:
    def test_of_what_a_recipe_needs(self) -> None:
        text = "venv:\n  uv pip install vllm==0.19.1\nsetup: venv\n  true\nserve: (setup)\n  vllm serve m\n"
        assert release(justfile(text)) == ("0.19.1", "pip")

    def test_not_of_another_recipe(self) -> None:
        assert release(justfile("setup:\n  pip install vllm==0.19.1\nserve:\n  vllm serve m\n")) == (None, None)

    def test_of_an_image(self) -> None:
        launch, marks = marked_launch(
            "tag := 'v⟦0.20.0⟧'\nserve gpu='0':\n  docker run --gpus device={{gpu}} vllm/vllm-openai:{{tag}} --model m\n",
            "justfile",
        )
        assert release(launch) == ("0.20.0", "image")
        assert launch.release.span == marks[0]
        assert launch.container is not None
        assert launch.container.gpus == 1


@given(st.text("ab{}:='\"`+/()\n \\#@[] ifelsenvset", max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    source = Source("justfile", "a := 'b'\nvllm:\n  vllm serve {{a}} " + text)
    for launch in read(source).launches:
        assert 0 <= launch.site.start <= launch.site.end <= len(source.text)


class TestRecipesThatRunACommand:
    def test_what_stands_in_front_of_the_arguments(self) -> None:
        launch = justfile(
            """
            in-uv +args:
              #!/usr/bin/env bash
              set -e
              LEVEL=1 uvx --with 'vllm==0.8.4' \\
                {{args}}

            serve model:
              HF_HOME=/x just in-uv vllm serve {{model}} --port 1
            """
        )
        assert argv(launch) == ["{{model}}", "--port", "1"]
        assert release(launch) == ("0.8.4", "pip")
        assert environment(launch) == {"HF_HOME": "/x", "LEVEL": "1"}

    @pytest.mark.parametrize(
        "recipe", ["log +args:\n  echo {{args}}\n", "log +args:\n  wait.sh {{args}} --now\n", "log a b:\n  run {{a}} {{b}}\n"]
    )
    def test_a_recipe_that_starts_nothing(self, recipe: str) -> None:
        assert launches_in(recipe + "\nserve:\n  just log vllm serve m --port 1\n", "justfile") == []
