"""Makefile recipes: make's variables are filled in before a shell sees the line."""

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


def makefile(text: str, folder: Path | None = None) -> Launch:
    return launch_in(text, "Makefile", folder)


class TestRecipes:
    def test_lines_that_are_continued(self) -> None:
        launch, marks = marked_launch(
            """
            .PHONY: serve
            serve: ## start the model
            \t@echo starting
            \t@CUDA_VISIBLE_DEVICES=0 vllm serve ⟦Qwen/Qwen3-8B⟧ \\
            \t    ⟦--port⟧ ⟦8000⟧ \\
            \t  ⟦--served-model-name⟧ ⟦"my model"⟧

            stop:
            \tpkill -f "vllm serve"
            """,
            "Makefile",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--served-model-name", "my model"]
        assert sites(launch.argv) == marks
        assert environment(launch) == {"CUDA_VISIBLE_DEVICES": "0"}
        assert (launch.name, lines(launch)) == ("serve", (4, 6))

    @pytest.mark.parametrize("marks", ["@", "-", "+", "@-", "- @"])
    def test_marks_in_front_of_a_line(self, marks: str) -> None:
        assert argv(makefile(f"serve:\n\t{marks}vllm serve m\n")) == ["m"]

    @together(
        "text",
        [
            "serve: vllm serve m\n",
            "serve:\n    vllm serve m\n",
            "X = vllm serve m\n\tvllm serve m\n",
            "serve:\n\techo vllm serve m\n",
            "serve:\n\t# vllm serve m\n",
            "serve:\n#\tvllm serve m\n",
            "bench:\n\tvllm bench serve --model m\n",
            "ifeq (a,b)\nserve:\n\tvllm serve m\nendif\n",
            "serve:\n\t$(warning vllm serve m)\n",
        ],
    )
    def test_what_starts_none(self, text: str) -> None:
        assert launches_in(text, "Makefile") == []

    def test_a_command_behind_the_prerequisites(self) -> None:
        launch, marks = marked_launch("serve: model ; vllm serve ⟦m⟧\n", "Makefile")
        assert spans(launch.argv) == marks

    def test_each_line_is_a_shell_of_its_own(self) -> None:
        launch = makefile("serve:\n\texport A=1; PORT=1\n\tvllm serve m --port $$PORT\n")
        assert (argv(launch), environment(launch)) == (["m", "--port", "${PORT}"], {})

    def test_unless_all_is_one(self) -> None:
        launch = makefile(".ONESHELL:\nserve:\n\t@export A=1\n\tPORT=1\n\tvllm serve m --port $$PORT\n")
        assert (argv(launch), environment(launch)) == (["m", "--port", "1"], {"A": "1"})

    def test_another_recipe_prefix(self) -> None:
        assert argv(makefile(".RECIPEPREFIX = >\nserve:\n> vllm serve m \\\n>  --port 1\n")) == ["m", "--port", "1"]

    def test_lines_that_are_lost(self) -> None:
        launch, marks = marked_launch("serve:\n\tvllm serve m\n\t⟦--port 8000\n\t--seed 1⟧\n", "Makefile")
        assert launch.cut == marks[0]

    def test_an_ignored_error_is_none_of_them(self) -> None:
        assert makefile("serve:\n\tvllm serve m\n\t-docker rm llm\n").cut is None

    def test_several_launches_of_a_recipe(self) -> None:
        launches = launches_in("serve:\n\tvllm serve a &\n\tvllm serve b\n", "Makefile")
        assert [(launch.name, argv(launch)) for launch in launches] == [("", ["a"]), ("", ["b"])]

    def test_carriage_returns(self) -> None:
        assert argv(makefile("P = 1\r\nserve:\r\n\tvllm serve m \\\r\n\t --port $(P)\r\n")) == ["m", "--port", "1"]


class TestVariables:
    def test_values_stand_where_they_are_given(self) -> None:
        launch, marks = marked_launch(
            """
            MODEL ?= ⟦Qwen/Qwen3-8B⟧   # the target
            PORT := ⟦8000⟧
            ARGS = ⟦--port⟧ $(PORT) \\
                   ⟦--seed⟧ ${SEED}
            ARGS += ⟦--enforce-eager⟧
            serve:
            \tvllm serve $(MODEL) $(ARGS) $(MORE)
            """,
            "Makefile",
        )
        words = ["Qwen/Qwen3-8B", "--port", "8000", "--seed", "${SEED}", "--enforce-eager", "$(MORE)"]
        assert argv(launch) == words
        assert [span for index, span in enumerate(spans(launch.argv)) if index not in (4, 6)] == [
            marks[0], marks[2], marks[1], marks[3], marks[4],
        ]  # fmt: skip
        assert [word.text.assumed for word in launch.argv[:3]] == [True, False, False]
        assert [word.many for word in launch.argv] == [False, False, False, False, True, False, True]
        assert lines(launch) == (7, 7)

    @together(
        "assignments, value",
        [
            ("V = a", "a"),
            ("V=a", "a"),
            ("V := a\nW = b\nV := $(V)$(W)\nW = c", "ab"),
            ("W = b\nV = a$(W)\nW = c", "ac"),
            ("V ::= a", "a"),
            ("V = a\nV ?= b", "a"),
            ("V ?= a\nV = b", "b"),
            ("W = a\nV = $W", "a"),
            ("V = $$x", "$x"),
            ("N = W\nW = a\nV = $($(N))", "a"),
            ("override V = a", "a"),
            ("V = a \\# b", "a # b"),
            ("W = 1\nifdef W\nV = a\nelse\nV = b\nendif", "a"),
            ("W = 1\nifeq ($(W), 1)\nV = a\nelse ifeq ($(W),2)\nV = b\nelse\nV = c\nendif", "a"),
            ("W = 2\nifeq '$(W)' '1'\nV = a\nelse ifeq \"$(W)\" \"2\"\nV = b\nelse\nV = c\nendif", "b"),
            ("W = 3\nifeq ($(W),1)\nV = a\nelse ifeq ($(W),2)\nV = b\nelse\nV = c\nendif", "c"),
            ("W ?= 1\nifneq ($(W),1)\nV = a\nelse\nV = b\nendif", "b"),
            ("ifeq (a,a)\nifeq (a,b)\nV = a\nelse\nV = b\nendif\nelse\nV = c\nendif", "b"),
            ("W = 1\nV = $(if $(W),a,b)", "a"),
            ("W =\nV = $(if $(W),a,b)", "b"),
            ("W =\nV = $(or $(W),a)", "a"),
            ("V = $(strip   a )", "a"),
            ("f = $(1)-$(2)\nV = $(call f,a,b)", "a-b"),
            ("V = a$(info vllm)", "a"),
            ("define V\na\nendef", "a"),
        ],
    )
    def test_what_is_known(self, assignments: str, value: str) -> None:
        launch = makefile(f"{assignments}\nserve:\n\tvllm serve m --x '$(V)'\n")
        assert launch.argv[2].value == value

    @together(
        "assignments",
        [
            "",
            "V = $(shell nproc)",
            "V != nproc",
            "V = $(wildcard *.gguf)",
            "V = $(CURDIR)",
            "V = $(V)",
            "V = $(W)\nW = $(V)",
            "V = a\nifdef W\nV = b\nendif",
            "ifdef W\nV = a\nelse\nV = b\nendif",
            "ifeq ($(W),1)\nV = a\nendif",
            "V = $(W:a=b)",
            "V = $(if $(W),a,b)",
            "undefined = a\nV = $(call f,a)",
        ],
    )
    def test_what_is_not(self, assignments: str) -> None:
        launch = makefile(f"{assignments}\nserve:\n\tvllm serve m --x '$(V)'\n")
        assert not launch.argv[2].text.known

    def test_words_that_only_a_setting_gives(self) -> None:
        launch = makefile("ARGS = --port 1\nifdef EAGER\nARGS += --enforce-eager\nendif\nserve:\n\tvllm serve m $(ARGS)\n")
        assert argv(launch)[:3] == ["m", "--port", "1"]
        assert launch.argv[3].many
        perhaps = launch.argv[3].text.pieces[0].perhaps
        assert perhaps is not None
        assert perhaps.flat == "--enforce-eager"

    def test_an_option_that_only_a_setting_gives(self) -> None:
        launch = makefile("serve:\n\tvllm serve m $(if $(DEBUG),--log-level debug) --port 1\n")
        assert argv(launch) == ["m", "", "--port", "1"]
        assert launch.argv[1].many

    def test_of_one_target_only(self) -> None:
        launches = launches_in(
            "PORT = 1\nsmall: PORT = 2\nsmall: export A = 1\nsmall large:\n\tvllm serve $@ --port $(PORT)\n", "Makefile"
        )
        assert [(launch.name, argv(launch), environment(launch)) for launch in launches] == [
            ("small", ["small", "--port", "2"], {"A": "1"}),
            ("large", ["large", "--port", "1"], {}),
        ]

    def test_a_pattern_s_stem_is_not_known(self) -> None:
        launch = makefile("serve-%:\n\tvllm serve $* --served-model-name $@ --x $<\n")
        assert argv(launch) == ["$(*)", "--served-model-name", "$(@)", "--x", "$(<)"]

    def test_a_recipe_that_is_written_once(self) -> None:
        launches = launches_in(
            """
            define run
            \t@echo $(1)
            \tvllm serve $(1) --port $(2)
            endef
            small:
            \t$(call run,Qwen/Qwen3-8B,8000)
            large:
            \t$(call run,Qwen/Qwen3-32B,8001)
            """,
            "Makefile",
        )
        assert [(launch.name, argv(launch), launch.line) for launch in launches] == [
            ("small", ["Qwen/Qwen3-8B", "--port", "8000"], 6),
            ("large", ["Qwen/Qwen3-32B", "--port", "8001"], 8),
        ]


class TestEnvironment:
    def test_what_is_exported(self) -> None:
        launch, marks = marked_launch(
            "export A = ⟦1⟧\nB = ⟦2⟧\nC = 3\nexport B HF_TOKEN\nD = 4\nexport D\nunexport D\nserve:\n\tvllm serve m\n",
            "Makefile",
        )
        assert environment(launch) == {"A": "1", "B": "2", "HF_TOKEN": None}
        assert [variable.value.span() for variable in launch.env.values() if variable.value] == marks

    @pytest.mark.parametrize("all_of_them", ["export", ".EXPORT_ALL_VARIABLES:"])
    def test_all_of_them(self, all_of_them: str) -> None:
        assert environment(makefile(f"{all_of_them}\nA = 1\nserve:\n\tvllm serve m\n"))["A"] == "1"

    def test_a_file_that_is_included(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("PORT=9000\nA=1\n")
        launch = makefile("PORT = 8000\n-include .env\nexport\nserve:\n\tvllm serve m --port $(PORT)\n", tmp_path)
        assert argv(launch) == ["m", "--port", "9000"]
        assert environment(launch)["A"] == "1"
        assert not launch.open_env

    @pytest.mark.parametrize("text", ["include .env\nexport\n", "export $(shell cut -d= -f1 .env)\n"])
    def test_more_that_is_not_shown(self, text: str) -> None:
        assert makefile(f"{text}serve:\n\tvllm serve m\n").open_env


class TestRelease:
    def test_of_what_a_recipe_needs(self) -> None:
        text = "all: install\ninstall: venv\n\tpip install vllm==0.19.1\nserve: install\n\tvllm serve m\n"
        assert release(makefile(text)) == ("0.19.1", "pip")

    def test_not_of_another_recipe(self) -> None:
        assert release(makefile("install:\n\tpip install vllm==0.19.1\nserve:\n\tvllm serve m\n")) == (None, None)

    def test_of_an_image(self) -> None:
        launch, marks = marked_launch(
            "TAG ?= v⟦0.20.0⟧\nserve:\n\tdocker run --gpus all -e A=$(B) \\\n\t  vllm/vllm-openai:$(TAG) --model m\n",
            "Makefile",
        )
        assert release(launch) == ("0.20.0", "image")
        assert launch.release.span == marks[0]
        assert (environment(launch), lines(launch)) == ({"A": "$(B)"}, (3, 4))


@given(st.text("ab$(){}:=+?\n\t\\#, ifdefendifelsecall", max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    source = Source("Makefile", "A = $(b)\nvllm:\n\tvllm serve m $(A) " + text)
    for launch in read(source).launches:
        assert 0 <= launch.site.start <= launch.site.end <= len(source.text)


def branches(text: str) -> list[list[tuple[str, bool | None, list[str]]]]:
    """For each launch its engine, the outcome of the condition and the words, its own and those of its alternatives."""
    return [
        [
            (one.engine, one.branches[0].taken if one.branches else None, [word.shown for word in one.argv])
            for one in launch.every
        ]
        for launch in launches_in(text, "Makefile")
    ]


def test_each_side_of_a_condition() -> None:
    chosen = "ifeq ($(Q),fp8)\nEXTRA := --quantization fp8\nelse\nEXTRA := --seed 1\nendif\nserve:\n\tvllm serve m $(EXTRA)\n"
    (first,) = branches(chosen)
    assert first[1:] == [("vllm", True, ["m", "--quantization", "fp8"]), ("vllm", False, ["m", "--seed", "1"])]
    (default,) = branches("Q ?= no\n" + chosen)
    assert default == [("vllm", None, ["m", "--seed", "1"]), ("vllm", True, ["m", "--quantization", "fp8"])]
    added = "EXTRA := --seed 1\nifdef DEBUG\nEXTRA += --enforce-eager\nendif\nserve:\n\tvllm serve m $(EXTRA)\n"
    (longer,) = branches(added)
    assert ("vllm", True, ["m", "--seed", "1", "--enforce-eager"]) in longer
    engine = "ifdef SGL\nRUN = python -m sglang.launch_server --model-path\nelse\nRUN = vllm serve\nendif\nserve:\n\t$(RUN) m\n"
    assert sorted(one[0][:2] for one in branches(engine)) == [("sglang", True), ("vllm", False)]
    assert branches("Q = fp8\n" + chosen) == [[("vllm", None, ["m", "--quantization", "fp8"])]]


def test_a_rule_that_builds_the_program() -> None:
    built = "llama-server: $(OBJECTS)\n\t$(CXX) $(CXXFLAGS) $^ -o $@ $(LDFLAGS)\n"
    assert launches_in(built, "Makefile") == []
    assert argv(makefile("run:\n\t$(WITH) llama-server -m a.gguf\n")) == ["-m", "a.gguf"]
