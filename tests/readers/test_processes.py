"""Procfiles, and programs of supervisord."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.readers import read
from servelint.readers.processes import split
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, sites, spans
from tests.together import together


def test_processes() -> None:
    launches = launches_in(
        """
        # the web server
        web: gunicorn app:app
        llm: CUDA_VISIBLE_DEVICES=0 vllm serve Qwen/Qwen3-8B --port 8000 2>&1 | tee llm.log
        draft-1:exec python -m sglang.launch_server --model-path m
        """,
        "Procfile",
    )
    assert [(launch.name, launch.engine, argv(launch), launch.line) for launch in launches] == [
        ("llm", "vllm", ["Qwen/Qwen3-8B", "--port", "8000"], 3),
        ("draft-1", "sglang", ["--model-path", "m"], 4),
    ]
    assert environment(launches[0]) == {"CUDA_VISIBLE_DEVICES": "0"}


def test_words_stand_at_their_places() -> None:
    launch, marks = marked_launch("llm: vllm serve '⟦m⟧' --port ${PORT:-⟦8000⟧}\r\nweb: x\r\n", "Procfile.dev")
    assert spans(launch.argv[::2]) == marks


@pytest.mark.parametrize(
    "text", ["vllm serve m\n", "llm vllm: vllm serve m\n", "web: x\n llm: vllm serve m\n", "llm: # vllm serve m\n"]
)
def test_what_starts_none(text: str) -> None:
    assert launches_in(text, "Procfile") == []


def test_variables_of_the_dotenv_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=9000\nVLLM_USE_V1=1\n")
    launch = launch_in("llm: vllm serve m --port $PORT --x $Y\n", "Procfile", tmp_path)
    assert argv(launch) == ["m", "--port", "9000", "--x", "${Y}"]
    assert environment(launch) == {"PORT": "9000", "VLLM_USE_V1": "1"}


def test_a_line_does_not_go_on() -> None:
    launch, marks = marked_launch("llm: vllm serve m \\\n  ⟦--port 8000 \\\n  --seed 1⟧\nweb: x\n", "Procfile")
    assert argv(launch) == ["m"]
    assert launch.cut == marks[0]
    assert lines(launch) == (1, 1)
    assert launch_in("llm: vllm serve m\nweb: x --port 1\n", "Procfile").cut is None


def test_what_is_installed_before() -> None:
    assert release(launch_in("llm: pip install vllm==0.19.1 && vllm serve m\n", "Procfile")) == ("0.19.1", "pip")


def test_a_process_that_starts_two() -> None:
    launches = launches_in("llm: vllm serve a & vllm serve b\n", "Procfile")
    assert [(launch.name, argv(launch)) for launch in launches] == [("", ["a"]), ("", ["b"])]


def program(text: str) -> Launch:
    return launch_in("[program:llm]\n" + text, "supervisord.conf")


class TestCommand:
    def test_over_several_lines(self) -> None:
        launch, marks = marked_launch(
            """
            [supervisord]
            nodaemon=true

            [program:llm]
            command=/opt/llm/bin/vllm serve ⟦Qwen/Qwen3-8B⟧
                ⟦--port⟧ ⟦8000⟧      ; where it listens
            ; a comment

                ⟦--served-model-name⟧ ⟦"my model"⟧
            autostart=true
            """,
            "supervisord.conf",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--served-model-name", "my model"]
        assert sites(launch.argv) == marks
        assert (launch.name, lines(launch)) == ("program:llm", (5, 9))

    @together(
        "written, words",
        [
            ('\'{"a": "b"}\'', ['{"a": "b"}']),
            ('"{\\"a\\": 1}"', ['{"a": 1}']),
            ('"a\\b"', ["a\\b"]),
            ("a\\ b", ["a b"]),
            ("a'b c'd", ["ab cd"]),
            ("50%%", ["50%"]),
            ("%(program_name)s", ["llm"]),
            ("a > b | c && d", ["a", ">", "b", "|", "c", "&&", "d"]),
            ("a;b", ["a;b"]),
            ("a ;b", ["a"]),
            ("a #b", ["a"]),
            ("'a ;b'", ["a"]),
            ("$V", ["$V"]),
            # a backslash continues no line: shlex keeps the line end
            ("a \\\n  --b", ["a", "\n--b"]),
        ],
    )
    def test_words(self, written: str, words: list[str]) -> None:
        launch = program(f"command=vllm serve m --x {written}\n")
        assert argv(launch) == ["m", "--x", *words]
        assert all(word.text.known for word in launch.argv)

    @pytest.mark.parametrize("written", ["%(ENV_MODEL)s", "%(here)s/m", "%(process_num)02d", "{{ model }}"])
    def test_what_only_supervisor_knows(self, written: str) -> None:
        launch = program(f"command=vllm serve {written}\n")
        assert argv(launch) == [written]
        assert not launch.argv[0].text.known
        assert launch.argv[0].many is (written[-2:] != "/m")

    def test_a_shell_inside(self) -> None:
        launch, marks = marked_launch(
            '[program:llm]\ncommand=bash -c "cd /srv && exec vllm serve ⟦m⟧ --port $PORT"\n', "supervisord.conf"
        )
        assert argv(launch) == ["m", "--port", "${PORT}"]
        assert spans(launch.argv[:1]) == marks

    @pytest.mark.parametrize(
        "text",
        [
            "[program:x]\ncommand=python bench.py --backend vllm\n",
            "[program:x]\nautostart=true\n; command=vllm serve m\n",
            "[eventlistener:x]\ncommand=vllm serve m\n[program:y]\ncommand=nginx\n",
            "[program:x]\ndirectory=/srv\n  command=vllm serve m\n",
        ],
    )
    def test_what_starts_none(self, text: str) -> None:
        assert launches_in(text, "supervisord.conf") == []


class TestEnvironment:
    def test_pairs(self) -> None:
        launch, marks = marked_launch(
            """
            [supervisord]
            environment=HF_HOME="⟦/cache⟧",A=0
            [program:llm]
            command=vllm serve m
            environment=VLLM_USE_V1="⟦1⟧",A='⟦x,y⟧',
              B=⟦z⟧,C="%(ENV_HOME)s/x%%"
            """,
            "supervisord.conf",
        )
        assert environment(launch) == {"HF_HOME": "/cache", "VLLM_USE_V1": "1", "A": "x,y", "B": "z", "C": "%(ENV_HOME)s/x%"}
        values = [launch.env[name].value for name in ("HF_HOME", "VLLM_USE_V1", "A", "B")]
        assert [value.span() for value in values if value] == marks

    def test_another_program_s_does_not_count(self) -> None:
        launch = launch_in(
            "[program:a]\ncommand=nginx\nenvironment=A=1\n[program:b]\ncommand=vllm serve m\n", "supervisord.conf"
        )
        assert environment(launch) == {}


def test_programs_are_told_apart() -> None:
    launches = launches_in(
        "[program:a]\ncommand=vllm serve a\n[program:b]\ncommand=bash -c 'vllm serve b & vllm serve c'\n", "supervisord.conf"
    )
    assert [(launch.name, argv(launch)) for launch in launches] == [("program:a", ["a"]), ("", ["b"]), ("", ["c"])]


@given(st.text("ab \t\n\\'\"", max_size=40))
def test_words_are_shlex_s(text: str) -> None:
    source = Source("x", text)
    words = split(TracedText.at(source, 0, len(text)))
    for word in words:
        assert word.site is None or 0 <= word.site.start <= word.site.end <= len(text)
    try:
        expected = shlex.split(text)
    except ValueError:
        return
    assert [word.value for word in words] == expected


@given(st.text("[program:x]\n =;#%()'\"\\ envirommd", max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    source = Source("supervisord.conf", "[program:vllm]\ncommand=vllm serve m " + text)
    for launch in read(source).launches:
        assert 0 <= launch.site.start <= launch.site.end <= len(source.text)
