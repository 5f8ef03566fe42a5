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
