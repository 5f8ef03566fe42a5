"""PowerShell in pages, in the words of a POSIX shell."""

from __future__ import annotations

import pytest

from servelint.core.text import Text
from servelint.readers.markdown.snippets import as_shell
from tests.launching import argv, environment, launch_in, marked_launch, spans


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("one `\n  --a `  \n  --b\n", "one \\\n  --a \\\n  --b\n"),
        ("& one --a\n", "one --a\n"),
        (".\\bin\\one.exe -m C:\\a\\b.gguf\n", "./bin/one.exe -m C:\\\\a\\\\b.gguf\n"),
        ("& '.\\bin\\one.exe' 'C:\\a'\n", "'./bin/one.exe' 'C:\\a'\n"),
        ('$env:A = "b"\n', 'export A="b"\n'),
        ('$Model = "b"\none $Model $env:A ${env:B}\n', 'Model="b"\none $Model ${A} ${B}\n'),
        ('one "a`"b"\n', 'one "a\\"b"\n'),
        ("$x = Join-Path a b\n", "x=Join-Path a b\n"),
        ("one 2>&1\n", "one 2>&1\n"),
    ],
)
def test_what_a_shell_reads(text: str, script: str) -> None:
    assert as_shell(Text.of(text)).flat == script


def test_words_keep_their_places() -> None:
    lines = ['$env:A = "b"', "& .\\bin\\llama-server.exe `", "  -m \u27e6'C:\\a.gguf'\u27e7 `", "  \u27e6-c\u27e7 4096"]
    launch, marks = marked_launch("\n".join(["```powershell", *lines, "```"]), "README.md")
    assert argv(launch) == ["-m", "C:\\a.gguf", "-c", "4096"]
    assert [launch.argv[1].site, spans(launch.argv)[2]] == marks
    assert environment(launch) == {"A": "b"}


def test_a_path_that_is_a_variable_is_unknown() -> None:
    launch = launch_in(
        "```pwsh\ndocker run `\n  -v ${env:HOME}:/m `\n  vllm/vllm-openai:v0.20.0 `\n  --model $Model\n```\n", "README.md"
    )
    assert argv(launch) == ["--model", "${Model}"]
