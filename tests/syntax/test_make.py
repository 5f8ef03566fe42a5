"""make's expansions, for any text; and against make itself, where it is at hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText
from servelint.syntax.make import Makefile, Scope, Variable, arguments, read
from tests.together import together

TEXTS = st.lists(
    st.sampled_from(["a", " ", "$", "(", ")", "{", "}", "$(A)", "$(B)", "${A}", "$$", ",", "$(if ", "$(call A,", "\n"])
)


def text_of(text: str) -> TracedText:
    return TracedText.at(Source("Makefile", text), 0, len(text)) if text else TracedText(())


def nothing(path: str) -> Source | None:
    del path
    return None


@given(TEXTS, TEXTS, TEXTS)
def test_any_text_is_expanded(text: list[str], first: list[str], second: list[str]) -> None:
    scope = Scope({"A": Variable(text_of("".join(first)), simple=False), "B": Variable(text_of("".join(second)), simple=True)})
    found = scope.expand(text_of("".join(text)))
    assert all(piece.text != HOLE or piece.expression is not None for piece in found.pieces)
    assert len(found.flat) <= 200_000


@given(st.text("ab,(){} ", max_size=30))
def test_arguments_are_what_commas_separate(text: str) -> None:
    assert ",".join([part.flat for part in arguments(text_of(text))]) == text


def test_what_grows_without_end_is_cut_off() -> None:
    text = "A = $(B)$(B)\nB = $(C)$(C)\nC = $(D)$(D)\n" + "D = " + "x" * 40_000
    makefile = read(Source("Makefile", text), nothing)
    assert not makefile.scope.expand(text_of("$(A)")).known


CASES = (
    "A = a\nB = $(A) b\nA += c\n",
    "A := a\nB := $(A) b\nA := c\n",
    "A = a\nA ?= b\nB ?= c\n",
    "A = a # comment\nB = a \\# b\n",
    "A = a \\\n   b \\\n\tc\nB =\n",
    "A = $(strip  a  b )\nB = $(or ,$(A),c)\n",
    "A = 1\nB = $(if $(A),yes,no)$(if ,yes,no)\n",
    "f = <$(1)|$(2)|$(3)>\nA = $(call f,a, b)\nB = $(call f,$(A))\n",
    "define A\nx $(B)\nendef\nB = b\n",
    "N = A\nA = a\nB = $($(N))$(${N})$N\n",
    "A = a\nifeq ($(A),a)\nB = 1\nelse\nB = 2\nendif\n",
    "A =\nifdef A\nB = 1\nelse ifeq ($(A), )\nB = 2\nelse\nB = 3\nendif\n",
    "A = b\nifneq '$(A)' 'a'\nB = 1\nifeq \"$(A)\" \"b\"\nB += 2\nendif\nendif\n",
    "A = a$$b\nB = $$(A)$$$$\n",
    "export A = a\noverride B = b\n",
    "A=a\nB:=b$(A)\n",
    "A = a\nA +=\nB = $(A)|\nB += x\n",
    "override export A = a\nB = $(A)\n",
    "A = $(if ,a)|$(or ,)|\nB = ${or (a),b}\n",
    "A ?= a\nB = $(if $(A),yes,no)\nA = b\n",
    "f = $(0)$(1)$(2)\nA = $(call  f ,a, b)\nB = $(call f)\n",
    "A = 1\nifneq ($(A) , 1)\nB = 2\nelse\nB = 3\nendif\n",
    "A = a\\\\\nB = b\\\n  c # d \\\n e\n",
)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("text", CASES)
def test_as_make_does(text: str, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(text + "all:\n\t$(info [$(A)])\n\t$(info [$(B)])\n\t@true\n")
    ran = subprocess.run(
        ["make", "-s", "-C", str(tmp_path)], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"}
    )
    makefile: Makefile = read(Source("Makefile", text), nothing)
    assert [f"[{makefile.scope.expand(text_of(name)).value}]" for name in ("$(A)", "$(B)")] == ran.stdout.splitlines()


def test_what_follows_a_condition_counts() -> None:
    makefile = read(Source("Makefile", "A = a\nifeq ($(A),b)\nB = 1\nendif\nC = 2\nifdef A\nD = 3\nendif\nE = 4\n"), nothing)
    assert [makefile.scope.expand(text_of(f"$({name})")).value for name in "ABCDE"] == ["a", None, "2", "3", "4"]


def makefile(text: str, files: dict[str, str] | None = None) -> Makefile:
    def beside(path: str) -> Source | None:
        return Source(path, files[path]) if files is not None and path in files else None

    return read(Source("Makefile", text), beside)


def value_of(text: str, name: str = "V", files: dict[str, str] | None = None) -> str:
    """A variable after a makefile: unknowns as they are shown, a default with a ? behind it."""
    found = makefile(text, files).scope.expand(text_of(f"$({name})"))
    return found.shown + "?" * found.assumed


@together(
    "text, value",
    [
        ("V = $(strip  a   b )", "a b"),
        ("V = $(or ,  ,b,c)", "b"),
        ("V = $(or $(W),b)", "$(or $(W),b)"),
        ("V = $(or ,)", ""),
        ("V = $(if a,b,c)", "b"),
        ("V = $(if ,b,c)", "c"),
        ("V = $(if  ,b,c)", "c"),
        ("V = $(if ,b)", ""),
        ("V = $(if a)", ""),
        ("V = $(if $(W)x,b,c)", "b"),
        ("V = $(if $(W),b,c)", "$(if $(W),b,c)"),
        ("V = $(if $(W),b)", ""),
        ("W ?=\nV = $(if $(W),b,c)", "c?"),
        ("W ?= 1\nV = $(if $(W),b,c)", "b"),
        ("f = $(0)$(1)$(2)$(9)|\nV = $(call  f ,a, b)", "fa b|"),
        ("f = $(1)\nV = $(call f)", ""),
        ("V = $(call f,a)", "$(call f,a)"),
        ("V = $(info a)$(warning b)$(eval W = 1)$(error c)x", "x"),
        ("V = $(shell nproc)/$(words a b)", "$(shell nproc)/$(words a b)"),
        ("V = $(iffy)$(if)", "$(iffy)$(if)"),
        ("V = ${W}$(W)$W", "${W}$(W)$W"),
        ("W = a$$b\nV = $(W)$$", "a$b$"),
        ("V = $", "$"),
        ("V = $(W", "$(W"),
        ("V = ${f (}) x", "${f (}) x"),
        ("W = (a)\nV = $(or $(W),b)", "(a)"),
        ("V != nproc", "$(shell nproc)"),
        ("V = a\nV ?= b", "a"),
        ("V ?= b", "b?"),
        ("V += b", "b"),
        ("V = a\nV += $(W)\nW = c", "a c"),
        ("V := a\nV += $(W)\nW = c", "a $(W)"),
        ("V =\nV += b", "b"),
        ("V = a\nV +=", "a"),
        ("override export V = a", "a"),
        ("private V = a", "a"),
        ("export = a\nV = $(export)", "a"),
        ("define V =\na\n  b\nendef", "a\n  b"),
        ("define V\ndefine W\nx\nendef\nendef", "define W\nx\nendef"),
        ("define V +=\na\nendef", "a"),
        ("define V\na", "a\n"),
        ("V = a \\\n\n", "a "),
        ("V = a\\\\\n", "a\\\\"),
        ("V = a # b", "a "),
        ("V = a\\#b # c", "a#b "),
        # conditions
        ("ifdef W\nV = a\nelse\nV = b\nendif", "b"),
        ("W =\nifdef W\nV = a\nelse\nV = b\nendif", "b"),
        ("W = 1\nifndef W\nV = a\nelse\nV = b\nendif", "b"),
        ("W ?= 1\nifdef W\nV = a\nelse\nV = b\nendif", "a"),
        ("V = a\nifdef W\nV += b\nendif", "a "),
        ("V = a\nifndef W\nV += b\nendif", "a b"),
        ("V = a\nifdef W\nV = b\nendif", "a"),
        ("V = a\nifndef W\nV = b\nendif", "b"),
        ("ifeq \"a\" 'a'\nV = 1\nelse\nV = 2\nendif", "1"),
        ("ifeq (a ,a)\nV = 1\nelse\nV = 2\nendif", "1"),
        ("ifneq ( a,b )\nV = 1\nelse\nV = 2\nendif", "1"),
        ("ifeq (a)\nV = 1\nelse\nV = 2\nendif", "2"),
        ("ifeq (a,b)\nV = 1\nelse ifneq (a,b)\nV = 2\nelse\nV = 3\nendif", "2"),
        ("ifeq (a,b)\nifeq (a,a)\nV = 1\nendif\nelse\nV = 2\nendif", "2"),
        ("V = 0\nelse\nendif\nV = 1", "1"),
        ("ifeq (a,b)\ndefine V\nx\nendef\nendif\nV ?= y", "y?"),
        # rules between
        ("V = a\nx:\n\tV = b\nV += c", "a c"),
        ("x: V = b\nV = a", "a"),
        (".RECIPEPREFIX = >\nx:\n> V = b\nV = a", "a"),
        # other files
        ("include a.mk\nV = $(W)", "1"),
        ("-include a.mk b.mk\nV = $(W)$(X)", "12"),
        ("sinclude none.mk\nV = x", "x"),
        ("N = a\ninclude $(N).mk\nV = $(W)", "1"),
        ("ifdef Z\ninclude a.mk\nendif\nV = $(W)x", "x"),
    ],
)
def test_the_value_of_a_variable(text: str, value: str) -> None:
    files = {"a.mk": "W = 1\n", "b.mk": "X = 2\n"}
    assert value_of(text + "\n", files=files) == value


@together(
    "text, rules",
    [
        ("a:\n\tone\n\ttwo\n", [("a", [], ["one", "two"])]),
        ("a b: c d\n\tone\n", [("a b", ["c", "d"], ["one"])]),
        ("a:: c | d ; one\n\ttwo\n", [("a", ["c", "d"], [" one", "two"])]),
        ("a.o: %.o: %.c x\n", [("a.o", ["%.c", "x"], [])]),
        ("T = a\n$(T): $(T).c\n", [("a", ["a.c"], [])]),
        ("a:\n\tone \\\n\t  two \\\n\tthree\n\tfour\n", [("a", [], ["one \\\n  two \\\nthree", "four"])]),
        ("a:\n\tone \\", [("a", [], ["one "])]),  # GNU make 4.3 hands the shell "one "
        ("a:\n\n# said\n\tone\n", [("a", [], ["one"])]),
        ("a:\nV = 1\n\tone\n", [("a", [], [])]),
        ("a: V = 1\n\tone\n", []),
        ("a: $(X:;=;) ; one\n", [("a", ["$(X:;=;)"], [" one"])]),
        ("ifeq (a,b)\na:\n\tone\nelse\nb:\n\ttwo\nendif\n", [("b", [], ["two"])]),
        ("a:\nifeq (a,b)\n\tone\nelse\n\ttwo\nendif\n", [("a", [], ["two"])]),
        (".RECIPEPREFIX = >\na:\n>one\n\ttwo\n", [("a", [], ["one"])]),
        (".RECIPEPREFIX = >\n.RECIPEPREFIX =\na:\n\tone\n", [("a", [], ["one"])]),
        ("no rule\n\tone\n", []),
    ],
)
def test_the_rules(text: str, rules: list[tuple[str, list[str], list[str]]]) -> None:
    found = [
        (" ".join([target.flat for target in rule.targets]), rule.prerequisites, [line.flat for line in rule.recipe])
        for rule in makefile(text).rules
    ]
    expected = [(targets, [one.replace("$(X:;=;)", HOLE) for one in needs], recipe) for targets, needs, recipe in rules]
    assert found == expected


@together(
    "text, exported, every, one_shell, unsure",
    [
        ("export A = 1\nexport B C\nunexport C\n", ["A", "B"], False, False, False),
        ("export\n", [], True, False, False),
        ("export\nunexport\n", [], False, False, False),
        (".EXPORT_ALL_VARIABLES:\n", [], True, False, False),
        (".ONESHELL:\na:\n", [], False, True, False),
        ("a: .ONESHELL\n", [], False, False, False),
        ("override export A = 1\nunexport B = 2\n", ["A"], False, False, False),
        ("export $(X)\n", [HOLE], False, False, True),
        ("include none.mk\n", [], False, False, True),
        ("include $(X)\n", [], False, False, True),
        ("include Makefile\n", [], False, False, True),  # itself, without end
    ],
)
def test_what_a_makefile_exports_and_includes(
    text: str, exported: list[str], every: bool, one_shell: bool, unsure: bool
) -> None:
    found = makefile(text, {"Makefile": text})
    assert sorted(found.exported) == exported
    assert (found.all_exported, found.one_shell, found.unsure) == (every, one_shell, unsure)


def test_the_variables_of_a_target() -> None:
    found = makefile("A = 0\na b: export A = 1\na: A += 2\na: B ?= 3\nA = 9\n")
    shown = {target: {name: one.value.shown for name, one in own.items()} for target, own in found.own.items()}
    assert shown == {"a": {"A": "1 2", "B": "3"}, "b": {"A": "1"}}
    assert found.own_exported == {"a": {"A"}, "b": {"A"}}
