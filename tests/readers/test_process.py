"""A command that is about to run, read as launches."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.launch import Launch
from servelint.core.text import HOLE
from servelint.readers.process import read

JSON = '{"method": "ngram", "it\'s": 1}'


def launch(*argv: str, **env: str) -> Launch:
    (found,) = read(list(argv), env, {})[1]
    return found


def test_words_have_their_places_in_the_command_as_a_shell_would_take_it() -> None:
    found = launch("vllm", "serve", "a b", "-q", "x;y", "--speculative-config", JSON, "--uds", "")
    assert found.source.text == (
        "vllm serve 'a b' -q 'x;y' --speculative-config '{\"method\": \"ngram\", \"it'\"'\"'s\": 1}' --uds ''"
    )
    assert [word.value for word in found.argv] == ["a b", "-q", "x;y", "--speculative-config", JSON, "--uds", ""]
    model, _, name = found.argv[:3]
    assert model.site is not None
    assert model.site.text == "'a b'"
    span = name.text.span(2, 3)
    assert span is not None
    assert (span.text, span.source.text[: span.start][-3:]) == ("y", "'x;")


def test_a_long_command_has_an_option_a_line() -> None:
    found = launch("vllm", "serve", "m", "--max-model-len", "32768", "-tp", "2", "--served-model-name", "a" * 60, "--port", "1")
    assert found.source.text.splitlines() == [
        "vllm serve m \\",
        "  --max-model-len 32768 -tp 2 \\",
        f"  --served-model-name {'a' * 60} \\",
        "  --port 1",
    ]
    last = found.argv[-1].text.span()
    assert last is not None
    assert (last.line, last.text) == (4, "1")


@given(st.lists(st.text(st.characters(exclude_characters=HOLE)), max_size=8))
def test_any_words_are_kept_and_quoted(words: list[str]) -> None:
    found = launch("vllm", "serve", "m", *words)
    assert [word.value for word in found.argv[1:]] == words
    for word, argument in zip(found.argv[1:], words, strict=True):
        assert word.site is not None
        assert shlex.split(word.site.text) == [argument]


def test_variables_have_places_in_a_text_of_their_own() -> None:
    found = launch("vllm", "serve", "m", VLLM_PORT="tcp://10.0.0.1", LANG="C", **{"no name": "x"})
    assert list(found.env) == ["LANG", "VLLM_PORT"]
    value = found.env["VLLM_PORT"].value
    site = found.env["VLLM_PORT"].site
    assert value is not None
    assert site is not None
    span = value.span()
    assert span is not None
    assert (span.source.path, span.line, span.text, site.text) == (
        "environment",
        2,
        "tcp://10.0.0.1",
        "VLLM_PORT=tcp://10.0.0.1",
    )


def test_an_env_in_front_changes_them() -> None:
    found = launch("env", "-u", "A", "B=2", "vllm", "serve", "m", A="1", B="1", C="1")
    assert {name: one.value.shown for name, one in found.env.items() if one.value is not None} == {"B": "2", "C": "1"}


@pytest.mark.parametrize(
    ("argv", "here"),
    [
        (["vllm", "serve", "m"], True),
        (["numactl", "-N", "0", "env", "A=b", "vllm", "serve", "m"], True),
        (["env", "-C", "/tmp", "vllm", "serve", "m"], False),
        (["uv", "run", "vllm", "serve", "m"], False),
        (["nice", "conda", "run", "vllm", "serve", "m"], False),
        (["docker", "run", "vllm/vllm-openai:v0.20.0", "--model", "m"], False),
        (["ssh", "host", "vllm serve m"], False),
    ],
)
def test_files_are_looked_for_where_the_command_would(argv: list[str], here: bool) -> None:
    assert (launch(*argv).folder is not None) is here


RELEASE = "0.18.0"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A PATH in which there is a vLLM of a release."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyvenv.cfg").write_text("")
    (tmp_path / "lib" / "python3.12" / "site-packages" / f"vllm-{RELEASE}.dist-info").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    for name, text in (("python3", ""), ("vllm", f"#!{tmp_path}/bin/python3\n")):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return str(tmp_path / "bin")


@pytest.mark.parametrize(
    ("argv", "known"),
    [
        (["vllm", "serve", "m"], True),
        (["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "m"], True),
        (["tini", "-s", "--", "vllm", "serve", "m"], True),
        (["sh", "-c", "set -e; exec vllm serve m"], True),
        (["sh", "-c", "A=b vllm serve m"], True),
        (["sh", "-c", "export PATH=/other:$PATH; vllm serve m"], False),
        (["sh", "-c", ". /opt/venv/bin/activate && vllm serve m"], False),
        (["sh", "-c", "uv run vllm serve m"], False),
        (["env", "PATH=/other", "vllm", "serve", "m"], False),
        (["env", "-i", "vllm", "serve", "m"], False),
        (["uv", "run", "vllm", "serve", "m"], False),
        (["ssh", "host", "vllm", "serve", "m"], False),
        (["/other/vllm", "serve", "m"], False),
    ],
)
def test_the_release_is_the_one_that_the_command_would_find(argv: list[str], known: bool, path: str) -> None:
    release = launch(*argv, PATH=path, HOME="/nobody").release
    assert (release.release, release.how) == ((RELEASE, "pip") if known else (None, None))


def test_a_release_that_is_said_counts_more(path: str) -> None:
    (found,) = read(["vllm", "serve", "m"], {"PATH": path}, {"vllm": "0.20.0"})[1]
    assert found.release.release is None
    container = launch("docker", "run", "vllm/vllm-openai:v0.20.0", "--model", "m", PATH=path)
    assert container.release.release == "0.20.0"


def test_no_launch() -> None:
    assert read(["vllm", "--help"], {}, {})[1] == []
    assert read(["echo", "vllm serve m"], {}, {})[1] == []
