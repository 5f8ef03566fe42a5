"""Consoles: what was typed, and what was printed."""

from __future__ import annotations

import pytest

from servelint.core.text import Text
from servelint.readers.markdown import snippets


def typed(text: str, root: bool = False) -> str | None:
    found = snippets.commands(Text.of(text), root)
    return found.flat if found is not None else None


@pytest.mark.parametrize(
    "prompt",
    [
        "$ ",
        "  $ ",
        "(venv) $ ",
        "user@host:~$ ",
        "user@host:~/some/where$ ",
        "[user@host dir]$ ",
        "(venv) user@host:~$ ",
        "~/src $ ",
        "root@host:/# ",
        "root@0123abcd:/app# ",
        "PS C:\\Users\\me> ",
        "C:\\models> ",
        "\u276f ",
    ],
)
def test_prompts(prompt: str) -> None:
    assert typed(f"{prompt}one --a\nprinted\n{prompt}two\n") == "one --a\ntwo\n"


@pytest.mark.parametrize(
    "text", ["one --a\ntwo\n", "# comment\none\n", "$HOME/one\n", "$(one)\n", "price: 3 $ each\n", "> one\n", ""]
)
def test_no_prompts(text: str) -> None:
    assert typed(text) is None


def test_a_number_sign_is_a_prompt_only_if_that_is_asked() -> None:
    assert typed("# one\nprinted\n# two\n") is None
    assert typed("# one\nprinted\n# two\n", root=True) == "one\ntwo\n"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("$ one \\\n  --a\nprinted\n", "one \\\n  --a\n"),
        ("$ one \\\n> --a\nprinted\n", "one \\\n--a\n"),
        ("$ one '{\n> \"a\": 1\n> }'\nprinted\n", "one '{\n\"a\": 1\n}'\n"),
        ("$ one '{\n \"a\": 1\n}' \\\n  --b\nprinted\n", "one '{\n \"a\": 1\n}' \\\n  --b\n"),
        ("$ cat <<EOF > a\nline\nEOF\nprinted\n", "cat <<EOF > a\nline\nEOF\n"),
        ("$ one # it's here\nprinted\n", "one # it's here\n"),
        ("$ echo it's\nprinted\n$ two\n", "echo it's\ntwo\n"),
        ("$ one \\\n  --a 'b\nprinted\n", "one \\\n  --a 'b\n"),
    ],
)
def test_commands_that_go_on(text: str, command: str) -> None:
    assert typed(text) == command


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("one \\\n> --a \\\n> --b\n", "one \\\n--a \\\n--b\n"),
        ("one \\\n  > log.txt\n", "one \\\n  > log.txt\n"),
        ("one\n> --a\n", "one\n> --a\n"),
    ],
)
def test_marks_of_continued_lines(text: str, script: str) -> None:
    assert snippets.continued(Text.of(text)).flat == script
