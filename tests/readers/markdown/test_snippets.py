"""Commands as pages show them: placeholders, consoles, PowerShell."""

from __future__ import annotations

import pytest

from servelint.core.text import TracedText
from servelint.readers.markdown import snippets
from servelint.syntax.placeholders import in_page as replaced
from tests.launching import argv, environment, launch_in, marked_launch, spans
from tests.together import together


def unknowns(text: str, script: bool = True) -> list[str | None]:
    return [piece.expression for piece in replaced(TracedText.of(text), script=script).pieces if piece.expression]


@together(
    "text, expected",
    [
        ("vllm serve <model>", ["<model>"]),
        ("vllm serve <your model's-name>", []),
        ("vllm serve <path to the model> --port <port>", ["<path to the model>", "<port>"]),
        ("vllm serve </path/to/model>", ["</path/to/model>"]),
        ("vllm serve <--other-options>", ["<--other-options>"]),
        ("--model=<model>", ["<model>"]),
        ("vllm/vllm-openai:v<version>", ["<version>"]),
        ("HF_TOKEN=<your HF token>", ["<your HF token>"]),
        ("--served-model-name <\u6a21\u578b>", ["<\u6a21\u578b>"]),
        ("""'{"model": "<draft>"}'""", ["<draft>"]),
        ("--node-rank <0|1>", ["<0|1>"]),
        ("--node-rank {0|1}", ["{0|1}"]),
        ("--node-rank [0|1]", ["[0|1]"]),
        ("vllm serve m [first: --port 1 | second: --headless]", ["[first: --port 1 | second: --headless]"]),
        ("--port {port}", ["{port}"]),
        ("--port={port}", ["{port}"]),
        ("--port {{ port }}", ["{{ port }}"]),
        ("vllm serve m ...", ["..."]),
        ("vllm serve m \\\\\n  ...existing flags...", ["...existing flags..."]),
        ("vllm serve m ... other options ...", ["... other options ..."]),
        ("vllm serve m \\\n  # ... rest", ["# ... rest"]),
        ("vllm serve m \\\r\n\t# your other options\r\n", ["# your other options"]),
        ("vllm serve m \\\n  #...", ["#..."]),
        ("vllm serve m \\\n  other vLLM server arguments\n", ["other vLLM server arguments"]),
        ("vllm serve m \\\n  other --arguments", []),
        ("vllm serve m \\\n  # --port 1", []),
        ("vllm serve m # starts it ...", ["..."]),
        ("vllm serve m …same as above", ["…same as above"]),
        ("vllm serve m ...more... --seed 1", ["...more..."]),
        ("vllm serve m \u2026", ["\u2026"]),
        ("""'{"method": "mtp", ...}'""", ["..."]),
        ("vllm serve m [options]", ["[options]"]),
        ("vllm serve m [--port PORT]", ["[--port PORT]"]),
    ],
)
def test_placeholders(text: str, expected: list[str]) -> None:
    assert unknowns(text) == expected
    assert replaced(TracedText.of(text), script=True).shown == text


@together(
    "text",
    [
        "cat < input.txt > output.txt",
        "cat <input.txt >output.txt",
        "one <<EOF\nEOF",
        "one <<<word",
        "one 2>&1 </dev/null",
        "diff <(one) <(two)",
        "${MODEL} ${A[@]} $V",
        "cp {a,b} {1..3}",
        """'{"method": "mtp"}'""",
        "if [ -f a ]; then one; fi",
        "if [[ $A == b ]]; then one; fi",
        "pip install vllm[flashinfer]",
        "cd ../..; ls /a/... b...c",
        "awk '{print $1}'",
    ],
)
def test_what_a_shell_means(text: str) -> None:
    assert unknowns(text) == []


def test_in_a_value_brackets_are_a_list() -> None:
    assert unknowns("[options]", script=False) == []
    assert unknowns("<model>", script=False) == ["<model>"]


def typed(text: str, root: bool = False) -> str | None:
    found = snippets.commands(TracedText.of(text), root)
    return found.flat if found is not None else None


@together(
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


@together(
    "text, command",
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
    assert snippets.continued(TracedText.of(text)).flat == script


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
