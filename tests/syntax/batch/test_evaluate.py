"""Batch files: what their commands start, for each way in which cmd.exe changes a line before it runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.readers import read
from servelint.syntax.batch.evaluate import Command, evaluate
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, sites, spans
from tests.together import together


def batch(text: str, folder: Path | None = None) -> Launch:
    return launch_in(text, "start.bat", folder)


class TestLines:
    def test_a_caret_continues_a_line(self) -> None:
        launch, marks = marked_launch(
            r"""
            @echo off
            setlocal
            rem starts the server
            :: on port 8080
            cd /d C:\tools\llama.cpp
            ⟦llama-server.exe⟧ ^
              ⟦-m⟧ ⟦"D:\my models\a.gguf"⟧ ^
              ⟦--port⟧ ⟦8080⟧

            echo Server exited with code %ERRORLEVEL%.
            pause
            """,
            "start.bat",
        )
        assert (launch.engine, argv(launch)) == ("llama.cpp", ["-m", r"D:\my models\a.gguf", "--port", "8080"])
        assert sites([*launch.verb, *launch.argv]) == marks
        assert lines(launch) == (6, 8)
        assert launch.cut is None

    def test_carriage_returns(self) -> None:
        assert argv(batch("llama-server ^\r\n  -m a ^\r\n  --port 1\r\npause\r\n")) == ["-m", "a", "--port", "1"]

    def test_a_blank_behind_the_caret_ends_the_command(self) -> None:
        launch, marks = marked_launch("llama-server -m a ^ \r\n  ⟦--port 1 ^\r\n  --seed 2⟧\r\npause\r\n", "start.bat")
        assert argv(launch) == ["-m", "a"]
        assert launch.cut == marks[0]

    def test_a_missing_caret_too(self) -> None:
        launch, marks = marked_launch("llama-server -m a\n\n  ⟦--port 1⟧\npause\n", "start.cmd")
        assert launch.cut == marks[0]

    def test_a_comment_is_a_part_of_the_line_that_it_continues(self) -> None:
        assert argv(batch("llama-server -m a ^\n rem --port 1\n")) == ["-m", "a", "rem", "--port", "1"]

    @together(
        "text",
        [
            "echo llama-server -m a\n",
            "rem llama-server -m a\n",
            ":: llama-server -m a\n",
            ":llama-server -m a\n",
            "title llama-server -m a\n",
            "set CMD=llama-server -m a\n",
            "where llama-server -m\n",
            "if not exist llama-server.exe echo llama-server -m a\n",
            "for /f %%F in ('where llama-server') do set X=%%F\n",
            "taskkill /im llama-server.exe\n",
            "python bench.py --backend vllm\n",
            "llama-server.exe --version\n",
        ],
    )
    def test_what_starts_none(self, text: str) -> None:
        assert launches_in(text, "start.bat") == []

    @together(
        "program",
        [
            "llama-server",
            "llama-server.exe",
            r".\llama-server.exe",
            r'"C:\Program Files\llama\llama-server.exe"',
            r"%LLAMA_DIR%\bin\llama-server.exe",
            '"%~dp0llama-server.exe"',
            "build/bin/llama-server",
            "@llama-server",
            "call llama-server",
            "start llama-server",
            'start "LLM server" /b /wait llama-server.exe',
            r'start "" /d "C:\llama" /min llama-server.exe',
            "cmd /c llama-server",
            "cmd.exe /s /k llama-server",
        ],
    )
    def test_programs(self, program: str) -> None:
        assert argv(batch(f"{program} -m a\n")) == ["-m", "a"]

    @together(
        "command",
        [
            "llama-server -m a > log.txt 2>&1",
            "llama-server -m a >> log.txt",
            'llama-server 2>"my log.txt" -m a',
            "llama-server -m a & echo done",
            "echo x && llama-server -m a",
            "llama-server -m a || exit /b 1",
            "llama-server -m a | tee log.txt",
            "(llama-server -m a)",
            "( echo x\n llama-server -m a\n) > log.txt",
            'start "" cmd /k "llama-server -m a"',
            'cmd /c "cd /d C:\\llama && llama-server -m a"',
        ],
    )
    def test_what_belongs_to_nobody(self, command: str) -> None:
        assert argv(batch(command + "\n")) == ["-m", "a"]


class TestBatchWords:
    @together(
        "written, words",
        [
            ('"a b"', ["a b"]),
            ('a" "b', ["a b"]),
            ('"{""a"":1}"', ['{"a":1}']),
            ('"{\\"a\\":1}"', ['{"a":1}']),
            ('{\\"a\\":1}', ['{"a":1}']),
            ('"a\\\\"', ["a\\"]),
            ('"a\\\\\\"b"', ['a\\"b']),
            ("C:\\a\\b", ["C:\\a\\b"]),
            ('""', [""]),
            ("'a b'", ["'a", "b'"]),
            ("a^&b", ["a&b"]),
            ('"a^&b|c>d"', ["a^&b|c>d"]),
            ("^^a", ["^a"]),
            ("50%%", ["50%"]),
            ("$V ${V}", ["$V", "${V}"]),
            ("a\tb", ["a", "b"]),
        ],
    )
    def test_quotes_and_carets(self, written: str, words: list[str]) -> None:
        launch = batch(f"llama-server -m a --x {written}\n")
        assert argv(launch) == ["-m", "a", "--x", *words]
        assert all(word.text.known and not word.many for word in launch.argv)

    @together(
        "written, shown, many",
        [
            ("%V%", "%V%", True),
            ('"%V%"', "%V%", False),
            ("%V%/a", "%V%/a", False),
            ("%1", "%1", True),
            ("%*", "%*", True),
            ("%~dp0a.gguf", "%~dp0a.gguf", False),
            ('"%~f1"', "%~f1", False),
            ("%V:a=b%", "%V:a=b%", True),
        ],
    )
    def test_what_nobody_knows(self, written: str, shown: str, many: bool) -> None:
        word = batch(f"llama-server -m {written}\n").argv[1]
        assert (word.shown, word.many, word.text.known) == (shown, many, False)


class TestBatchVariables:
    def test_values_stand_where_they_are_given(self) -> None:
        launch, marks = marked_launch(
            """
            set "MODEL=⟦C:\\models\\a.gguf⟧"
            set PORT=⟦8080⟧
            set ARGS=⟦--flash-attn⟧ ⟦on⟧
            llama-server -m "%MODEL%" --port %port% %ARGS% --alias a-%PORT%
            """,
            "start.bat",
        )
        assert argv(launch) == ["-m", "C:\\models\\a.gguf", "--port", "8080", "--flash-attn", "on", "--alias", "a-8080"]
        assert [spans(launch.argv)[index] for index in (1, 3, 4, 5)] == marks
        assert [site.text for site in sites(launch.argv) if site] == [
            "-m", '"%MODEL%"', "--port", "%port%", "%ARGS%", "%ARGS%", "--alias", "a-%PORT%",
        ]  # fmt: skip
        assert lines(launch) == (4, 4)

    @together(
        "assignments, value",
        [
            ("set V=a", "a"),
            ("set v=a", "a"),
            ('set "V=a" & rem b', "a"),
            ('set "V=a b"', "a b"),
            ("set V=a\nset V=%V%b", "ab"),
            ("set /a V=4*2048", "8192"),
            ("set /a V=1\nset /a V+=2", "3"),
            ("set V=abcdef\nset V=%V:~1,3%", "bcd"),
            ("set V=abcdef\nset V=%V:~-2%", "ef"),
            ("set V=abcdef\nset V=%V:~0,-2%", "abcd"),
            ("set V=abcabc\nset V=%V:B=x%", "axcaxc"),
            ("set V=abc\nset V=%V:b=%", "ac"),
            ('set V=a\nif "%V%"=="a" set V=b', "b"),
            ('set V=a\nif /i "%V%"=="A" (set V=b) else (set V=c)', "b"),
            ('set V=a\nif not "%V%"=="a" (\n set V=b\n) else (\n set V=c\n)', "c"),
            ('set V=a\nif "%V%"=="x" (set V=b) else if "%V%"=="a" (set V=c) else set V=d', "c"),
            ("set N=8\nset V=a\nif %N% gtr 4 set V=b", "b"),
            ("set N=8\nif %N% LEQ 4 (set V=a) else (set V=b)", "b"),
            ("set V=a\nif defined V set V=b", "b"),
            ("set V=\nif defined V (set V=b) else set V=c", "c"),
            ("set V=a\nsetlocal\nset V=b\nendlocal", "a"),
            ("set V=a\nsetlocal enabledelayedexpansion\n(\nset V=b\nset W=!V!\n)\nset V=%W%", "b"),
            ("set V=a\n(\nset V=b\nset W=%V%\n)\nset V=%W%", "a"),
            ("for %%F in (a) do set V=b", "b"),
            ("set V=a\ngoto next\nset V=b\n:next", "a"),
            ("call :init\ngoto main\n:init\nset V=a\nexit /b\n:main", "a"),
            ("set V=a\nif errorlevel 1 (\n set V=b\n exit /b 1\n)", "a"),
            ("set V=a\nif not exist x (\n set V=b\n goto :eof\n)", "a"),
        ],
    )
    def test_what_is_known(self, assignments: str, value: str) -> None:
        launch = batch(f'{assignments}\nllama-server -m a --x "%V%"\n')
        assert launch.argv[3].value == value
        assert not launch.argv[3].text.assumed

    @pytest.mark.parametrize(
        ("assignments", "value"),
        [
            ("if not defined V set V=a", "a"),
            ('if "%V%"=="" set V=a', "a"),
            ('if [%V%]==[] (\n  set "V=a"\n)', "a"),
            ("if not defined V (if not defined W (set V=a) else (set V=a))", "a"),
            ('set "V=%~1"\nif "%V%"=="" set "V=a"', "a"),
            ('if "%~1"=="" (set V=a) else (set V=%~1)', "a"),
            ('if not defined W set W=1\nif "%W%"=="1" (set V=a) else (set V=b)', "a"),
        ],
    )
    def test_what_is_a_default(self, assignments: str, value: str) -> None:
        word = batch(f'{assignments}\nllama-server -m a --x "%V%"\n').argv[3]
        assert word.value == value
        assert word.text.assumed or "else (set V=" in assignments

    @together(
        "assignments, shown",
        [
            ("", "%V%"),
            ("set V=%W%", "%W%"),
            ("set /p V=which?", "%V%"),
            ("set /a V=W+1", "%V%"),
            ("set V=a\nif exist x set V=b", "b"),
            ("set V=a\nif not exist x set V=b", "a"),
            ("set V=a\nif errorlevel 1 set V=b", "a"),
            ("set V=a\nif %ERRORLEVEL% neq 0 set V=b", "a"),
            ('set V=a\nif "%W%"=="1" set V=b', "a"),
            ("set V=a\nif defined W (set V=b) else (set V=c)", "c"),
            ("set V=a\nping localhost || set V=b", "a"),
            ("set V=a\nfor /f %%F in (x.txt) do set V=%%F", "%%F"),
            ("for %%F in (*.gguf) do set V=%%F", "%%F"),
            ("set V=a\nif defined W goto next\nset V=b\n:next", "a"),
            ("set V=!V!", "!V!"),
            ("set V=abc\nset V=%V:*b=x%", "%V:*b=x%"),
        ],
    )
    def test_what_is_not_known(self, assignments: str, shown: str) -> None:
        word = batch(f'{assignments}\nllama-server -m a --x "%V%"\n').argv[3]
        assert word.shown == shown
        assert word.text.known is (shown == "!V!")

    def test_an_option_that_only_a_setting_gives(self) -> None:
        launch = batch('set "FA="\nif "%FAST%"=="1" set "FA=--flash-attn on"\nllama-server -m a %FA%\n')
        assert launch.argv[2].many
        perhaps = launch.argv[2].text.pieces[0].perhaps
        assert perhaps is not None
        assert perhaps.flat == "--flash-attn on"

    def test_a_program_that_is_looked_for(self) -> None:
        launch = batch(r"""
            set "SERVER="
            if defined LLAMA_DIR if exist "%LLAMA_DIR%\llama-server.exe" set "SERVER=%LLAMA_DIR%\llama-server.exe"
            if not defined SERVER for /f "delims=" %%F in ('where llama-server 2^>nul') do set "SERVER=%%F"
            if not defined SERVER exit /b 1
            "%SERVER%" -m a
        """)
        assert argv(launch) == ["-m", "a"]

    def test_a_part_that_nothing_here_comes_to(self) -> None:
        launches = launches_in("llama-server -m a\nexit /b\n:big\nllama-server -m b\n", "start.bat")
        assert [(argv(launch), launch.likely) for launch in launches] == [(["-m", "a"], True), (["-m", "b"], False)]

    def test_a_menu(self) -> None:
        launches = launches_in(
            """
            set /p CHOICE=which?
            if "%CHOICE%"=="1" goto small
            if "%CHOICE%"=="2" goto large
            exit /b
            :small
            set MODEL=a.gguf
            goto run
            :large
            set MODEL=b.gguf
            :run
            llama-server -m %MODEL%
            """,
            "start.bat",
        )
        assert len(launches) == 1
        assert not launches[0].argv[1].text.known

    def test_both_branches_are_looked_at(self) -> None:
        launches = launches_in("if exist b.gguf (llama-server -m b.gguf) else (llama-server -m a.gguf)\n", "start.bat")
        assert [(argv(launch)[1], launch.likely) for launch in launches] == [("b.gguf", True), ("a.gguf", False)]

    def test_a_file_that_is_called(self, tmp_path: Path) -> None:
        (tmp_path / "settings.bat").write_text("set PORT=9000\nllama-server -m other\n")
        launch = batch('set PORT=1\ncall "%~dp0settings.bat"\nllama-server -m a --port %PORT%\n', tmp_path)
        assert argv(launch) == ["-m", "a", "--port", "9000"]
        assert not launch.open_env

    def test_one_that_is_not_here(self, tmp_path: Path) -> None:
        assert batch("call settings.bat\nllama-server -m a\n", tmp_path).open_env
        assert not batch("call .venv\\Scripts\\activate.bat\nllama-server -m a\n", tmp_path).open_env


class TestBatchEnvironment:
    def test_every_variable_is_exported(self) -> None:
        launch, marks = marked_launch(
            'set "CUDA_VISIBLE_DEVICES=⟦0⟧"\nset A=1\nset A=\nset LLAMA_ARG_PORT=⟦80⟧\nllama-server -m a\n', "start.bat"
        )
        assert environment(launch) == {"CUDA_VISIBLE_DEVICES": "0", "LLAMA_ARG_PORT": "80"}
        assert [variable.value.span() for variable in launch.env.values() if variable.value] == marks

    def test_but_not_to_a_container(self) -> None:
        launch, marks = marked_launch(
            """
            set IMAGE=vllm/vllm-openai:v⟦0.20.0⟧
            set A=1
            docker volume create models >nul
            docker run --rm -v "%~dp0models:/m" alpine sh -c "ls /m"
            docker run --rm --gpus all -e B=2 -e A ^
              -v "%CD%:/models" "%IMAGE%" ^
              --model /models/m
            """,
            "start.bat",
        )
        assert environment(launch) == {"B": "2", "A": "1"}
        assert (argv(launch), release(launch), launch.release.span) == (["--model", "/models/m"], ("0.20.0", "image"), marks[0])
        assert lines(launch) == (5, 7)


def test_what_is_installed_before() -> None:
    text = "python -m pip install vllm==0.19.1\npython -m vllm.entrypoints.openai.api_server --model m\n"
    assert release(batch(text)) == ("0.19.1", "pip")


def test_a_shell_inside() -> None:
    launch, marks = marked_launch('set PORT=⟦8000⟧\nwsl -d Ubuntu bash -lc "vllm serve ⟦m⟧ --port %PORT%"\n', "start.bat")
    assert argv(launch) == ["m", "--port", "8000"]
    assert spans(launch.argv)[::2] == marks[::-1]


@given(st.text('ab%!^"\\()&|<> \n=:~,ifelsegoto', max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    source = Source("start.bat", "set a=b\nllama-server -m %a% " + text)
    for launch in read(source).launches:
        assert 0 <= launch.site.start <= launch.site.end <= len(source.text)


def ran(text: str, files: dict[str, str] | None = None) -> list[str]:
    """The commands of a batch file: those off the path of a plain run with a ~ in front, those with a default with a ?."""
    found: list[str] = []

    def note(command: Command) -> None:
        line = " ".join(word.shown for word in command.words)
        soft = any(word.text.assumed for word in command.words)
        found.append("~" * (not command.likely) + line + "?" * soft)

    def called(path: str) -> TracedText | None:
        return TracedText.of(files[path]) if files is not None and path in files else None

    open_env = evaluate(TracedText.at(Source("a.bat", text), 0, len(text)), note, called)
    return [*found, *(["open"] if open_env else [])]


@together(
    "test, expected",
    [
        ("1 equ 1", ["yes"]),
        ("1 equ 01", ["yes"]),
        ("1 == 01", ["no"]),
        ("1 equ 2", ["no"]),
        ("1 neq 1", ["no"]),
        ("1 neq 2", ["yes"]),
        ("1 lss 1", ["no"]),
        ("1 lss 2", ["yes"]),
        ("1 leq 1", ["yes"]),
        ("2 leq 1", ["no"]),
        ("1 gtr 1", ["no"]),
        ("2 gtr 1", ["yes"]),
        ("1 geq 1", ["yes"]),
        ("1 geq 2", ["no"]),
        ("-1 lss +1", ["yes"]),
        ("a equ a", ["yes"]),
        ("a equ b", ["no"]),
        ("a neq b", ["yes"]),
        ("a neq a", ["no"]),
        ("a lss b", ["~yes", "no"]),
        ("not 1 equ 1", ["no"]),
        ("not 1 equ 2", ["yes"]),
        ("a==A", ["no"]),
        ("/i a==A", ["yes"]),
        ("/i not a==A", ["no"]),
        ("exist x.txt", ["yes", "~no"]),
        ("not exist x.txt", ["~yes", "no"]),
        ("errorlevel 1", ["~yes", "no"]),
        ("errorlevel 0", ["yes", "~no"]),
        ("not errorlevel 1", ["yes", "~no"]),
        ("%errorlevel% equ 0", ["yes", "~no"]),
        ("%ERRORLEVEL% neq 0", ["~yes", "no"]),
        ("!errorlevel! equ 0", ["no"]),
        ("defined V", ["~yes", "no"]),
        ("not defined V", ["yes", "~no"]),
        ('"%V%"==""', ["yes", "~no"]),
        ("[%V%]==[]", ["yes", "~no"]),
        ('"%V%"=="x"', ["~yes", "no"]),
        ('"%V%"=="%W%"', ["yes", "~no"]),
        ('"%1"==""', ["yes", "~no"]),
        ('"%~1"=="a"', ["~yes", "no"]),
        ('not "%1"==""', ["~yes", "no"]),
    ],
)
def test_which_branch_a_condition_takes(test: str, expected: list[str]) -> None:
    assert ran(f"if {test} (yes) else (no)\n") == expected


@together(
    "text, expected",
    [
        # what a variable is known to be
        ("set V=a\nif defined V (yes) else (no)", ["yes"]),
        ("set V=\nif defined V (yes) else (no)", ["no"]),
        ("set V=%W%\nif defined V (yes) else (no)", ["~yes", "no"]),
        ("set /p V=\nif defined v (yes) else (no)", ["~yes", "no"]),
        ("for /f %%F in (x) do set V=%%F\nif defined V (yes) else (no)", ["~yes", "no"]),
        ('if not defined V set V=a\nif "%V%"=="a" (yes) else (no)', ["yes", "~no"]),
        ('if not defined V set V=a\nif not "%V%"=="a" (yes) else (no)', ["~yes", "no"]),
        ("if not defined V set V=a\nrun %V%", ["run a?"]),
        ("if defined V set V=a\nrun %V%", ["run %V%"]),
        ("if defined V (set V=b) else set V=a\nrun %V%", ["run a"]),
        ('if "%V%"=="" set V=a\nrun %V%', ["run a?"]),
        ('if "%W%"=="" set V=a\nrun %V%', ["run a"]),
        # joined after both branches
        ("if exist x (set V=a) else set V=a\nrun %V%", ["run a"]),
        ("set V=a\nif exist x set W=1\nrun %V% %W%", ["run a 1"]),
        ("if exist x exit /b\nrun", ["run"]),
        ("if not exist x (exit /b) else run", ["run"]),
        ("if exist x (exit /b) else exit /b\nrun", []),
        ("if exist x goto b\nrun a\n:b\nrun b", ["run a", "run b"]),
        # programs by their path
        ('if exist a\\x.exe (set "P=a\\x.exe") else set "P=b\\x.exe"\nrun %P%', ["run a\\x.exe"]),
        ('if exist a\\x.exe (set "P=a\\x.exe") else set "P=b\\x.exe"\n%P% go', ["x go"]),
        ('if exist a\\x.exe (set "P=a\\x.exe") else set "P=b\\y.exe"\n%P% go', ["a\\x.exe go"]),
        ("for /f %%F in ('where run') do %%F go", ["run go"]),
        ("for /f %%F in ('where $PATH:run.exe 2^>nul') do %%F go", ["run go"]),
        # loops
        ("for %%F in (a b) do run %%F", ["run %%F"]),
        ("for %%F in (*.gguf) do run\nrun 2", ["run", "run 2"]),
        ("for /l %%I in (1,1,3) do set V=1\nrun %V%", ["run 1"]),
        ("set V=0\nfor %%F in (a) do set V=1\nrun %V%", ["run 1"]),
        ("set V=0\nfor %%F in () do set V=1\nrun %V%", ["run 1"]),
        # operators
        ("a & b && c", ["a", "b", "c"]),
        ("a || b", ["a", "~b"]),
        ("a || set V=1\nrun %V%", ["a", "run %V%"]),
        # set
        ("set V = a\nrun %V% %V %", ["run %V% a"]),
        ('set "V=a" tail\nrun %V%', ["run a"]),
        ('set "V=a\nrun %V%', ["run a"]),
        ("set V\nrun %V%", ["run %V%"]),
        ("set =a\nrun", ["run"]),
        ("set /a V=(1+2)*3, W=V%%4\nrun %V% %W%", ["run 9 1"]),
        ('set /A "V=7"\nset /a V-=2\nrun %V%', ["run 5"]),
        ("set V=2\nset /a V*=3\nset /a V/=2\nrun %V%", ["run 3"]),
        ("set /a V=X\nset /a 5\nrun %V%", ["run %V%"]),
        # setlocal
        ("set V=a\nsetlocal\nset V=b\nrun %V%\nendlocal\nrun %V%", ["run b", "run a"]),
        ("endlocal\nset V=a\nrun %V%", ["run a"]),
        ("setlocal EnableDelayedExpansion\nset V=a\nrun !V!\nendlocal\nrun !V!", ["run a", "run !V!"]),
        ("setlocal enabledelayedexpansion\nsetlocal\nset V=a\nrun !V!", ["run a"]),
        ("setlocal enabledelayedexpansion\nsetlocal disabledelayedexpansion\nset V=a\nrun !V!", ["run !V!"]),
        # goto and call
        ("goto b\nrun a\n:b\nrun b", ["run b"]),
        ("goto :B\nrun a\n:b\nrun b", ["run b"]),
        ("goto none\nrun a", []),
        ("goto :eof\n:b\nrun b", ["~run b"]),
        ("goto %1\nexit /b\n:a\nrun a\nexit /b\n:b\nrun b", ["run a", "run b"]),
        ("call :b\nrun a\nexit /b\n:b\nset V=1\nrun %V%", ["run 1", "run a"]),
        ("call :b\nrun %V%\nexit /b\n:b\nif exist x (\nset V=1\nexit /b\n)\nset V=2", ["run 1"]),
        ("call :none\nrun a", ["run a"]),
        ("call :\nrun a", ["run a"]),
        ("call :a\nexit /b\n:a\nrun a\ncall :a\nrun b", ["run a", "run b"]),
        ("call :a\nrun %V%\nexit /b\n:a\nsetlocal\nset V=1\nexit /b", ["run 1"]),
        ("exit /b\n:a\nrun a\ngoto :eof\n:b\nrun b", ["~run a", "~run b"]),
        ("set V=1\ncall run %V%", ["run 1"]),
        ("call\nrun", ["run"]),
        # start and cmd
        ('start "title" /b /d "C:\\a b" run a', ["run a"]),
        ("start /node 1 /affinity 0xff /high run a", ["run a"]),
        ('start "title', []),
        ("start", []),
        ("cmd /s /v:on /c run a", ["run a"]),
        ('cmd /k "run a & run b"', ["run a", "run b"]),
        ("cmd /c", []),
        ("cmd /q", []),
        ('cmd.exe /c "set V=1&run %V%"', ["run %V%"]),
        # what is no program
        ("echo run\nrem run\n@cd /d x\ntitle=run", ["title=run"]),
        ("cd/d x\nechoes run", ["echoes run"]),
    ],
)
def test_what_a_batch_file_runs(text: str, expected: list[str]) -> None:
    assert ran(text + "\n") == expected


@together(
    "text, files, expected",
    [
        ("call a.bat\nrun %V%", {"a.bat": "set V=1\nrun b\n"}, ["run 1"]),
        ("call a.cmd\nrun %V%", {"a.cmd": "if exist x (\nset V=1\nexit /b\n)\nset V=2\n"}, ["run 1"]),
        ("call a.bat\nrun %V%", {"a.bat": "call b.bat\n", "b.bat": "set V=1\n"}, ["run 1"]),
        ("call a.bat\nrun", {"a.bat": "call b.bat\n"}, ["run", "open"]),
        ("call a.bat\nrun", {}, ["run", "open"]),
        ("call setvars\nrun", {}, ["run", "open"]),
        ("call my-env.x\nrun", {}, ["my-env.x", "run"]),
        ("call conda.bat activate x\ncall .venv\\Scripts\\activate.bat\nrun", {}, ["run"]),
        ("call reactivate.bat\nrun", {}, ["run", "open"]),
        ("call a.bat\nrun %V%", {"a.bat": "goto x\n:x\nset V=1\n"}, ["run 1"]),
        ("set V=0\ncall a.bat\nrun %V%", {"a.bat": "goto none\n"}, ["run 0"]),
    ],
)
def test_what_a_called_file_sets(text: str, files: dict[str, str], expected: list[str]) -> None:
    assert ran(text + "\n", files) == expected


def test_files_and_labels_that_call_each_other_end() -> None:
    assert ran("call a.bat\nrun\n", {"a.bat": "call a.bat\n"}) == ["run", "open"]
    assert ran("set V=" + "x" * 20_001 + "\nrun %V%\n") == ["run %V%"]
    assert ran("set V=" + "x" * 20_000 + "\nrun %V%\n") == ["run " + "x" * 20_000]
