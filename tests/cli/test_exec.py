"""`servelint exec`: what it starts and what it does not, in real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from servelint.cli.exec import run_process
from tests.running import Workspace

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a process replaces another")

STUB = """\
#!{python}
import json, os, signal, sys
told = {{"argv": sys.argv, "pid": os.getpid(), "folder": os.getcwd(), "stdin": sys.stdin.read(), "X": os.environ.get("X")}}
print(json.dumps(told))
sys.exit(7)
"""
SOUND = ["vllm", "serve", "Qwen/Qwen3-8B", "--port", "8001"]
BROKEN = ["vllm", "serve", "Qwen/Qwen3-8B", "--gpu-memory-utilization", "1.2"]
WARNED = ["--engine-version", "vllm=0.33.0", "--", "env", "VLLM_USE_V1=1", "vllm", "serve", "Qwen/Qwen3-8B"]
NOT_STARTED = "servelint: the command is not started (1 finding that stop it)\n"


class Machine:
    """A folder with a stub of an engine in PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.env = {**os.environ, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "PYTHONUSERBASE": str(folder / "user")}
        self.program("vllm", STUB.format(python=sys.executable))

    def program(self, name: str, text: str, mode: int = 0o755) -> Path:
        path = self.bin / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def start(self, *args: str, stdin: int | None = subprocess.PIPE) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "servelint", "exec", *args]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.folder, env=self.env, stdin=stdin, stdout=pipe, stderr=pipe, text=True)

    def run(self, *args: str, stdin: str = "") -> tuple[int, str, str]:
        """The exit status, and what was printed."""
        process = self.start(*args)
        out, err = process.communicate(stdin)
        return process.returncode, out, err


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class TestWhatIsStarted:
    def test_is_the_command_itself_with_its_words_its_input_its_folder_and_its_status(self, machine: Machine) -> None:
        odd = ["", "a b", "$HOME", "*", "'", '"', "--", "a\nb", "ü", "-"]
        machine.env["X"] = "a\tb=c"
        process = machine.start("--fail-on", "never", "--quiet", "--", *SOUND, *odd)
        out, err = process.communicate("what is read")
        told = json.loads(out)
        assert (process.returncode, err) == (7, "")
        assert told["argv"] == [str(machine.bin / "vllm"), *SOUND[1:], *odd]
        assert told["pid"] == process.pid
        assert (told["stdin"], told["folder"], told["X"]) == ("what is read", str(machine.folder), "a\tb=c")

    @pytest.mark.parametrize("locale", [{}, {"LC_CTYPE": "C"}, {"LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "C"}])
    def test_has_the_environment_that_servelint_was_given(self, locale: dict[str, str], machine: Machine) -> None:
        """Python sets LC_CTYPE where it starts in the C locale."""
        machine.env = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": machine.env["PATH"], "EMPTY": "", "not-a-name": "x\ny"}
        machine.env |= locale
        _, out, _ = machine.run("--quiet", "--", "env", "-0")
        shown = dict(line.split("=", 1) for line in out.split("\0") if line)
        assert shown == machine.env

    def test_has_words_and_variables_that_are_no_text(self, machine: Machine) -> None:
        machine.env["X"] = os.fsdecode(b"\xff")
        script = 'printf %s "$X$1" | od -An -tx1'
        assert machine.run("--quiet", "--", "sh", "-c", script, "sh", os.fsdecode(b"\xfe\x80"))[1].split() == ["ff", "fe", "80"]

    def test_has_its_own_name_as_its_first_word(self, machine: Machine) -> None:
        assert machine.run("--quiet", "--", "sh", "-c", 'echo "$0"') == (0, "sh\n", "")

    def test_gets_signals(self, machine: Machine) -> None:
        text = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(41))\n"
        machine.program("vllm", f"#!{sys.executable}\n{text}print('ready', flush=True)\nsignal.pause()\n")
        process = machine.start("--", *SOUND)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 41
        process.communicate()

    def test_ends_by_signals_as_it_would_alone(self, machine: Machine) -> None:
        assert machine.run("--quiet", "--", "sh", "-c", "kill -TERM $$")[0] == -signal.SIGTERM
        # Python ignores SIGPIPE, and what a process ignores is ignored by what takes its place
        assert machine.run("--quiet", "--", "sh", "-c", "kill -PIPE $$; echo alive") == (-signal.SIGPIPE, "", "")

    def test_may_be_a_script_without_an_interpreter_line(self, machine: Machine) -> None:
        machine.program("vllm", 'echo "$0 $2"; exit 3\n')
        assert machine.run("--", *SOUND) == (3, f"{machine.bin}/vllm Qwen/Qwen3-8B\n", "")

    def test_is_started_where_standard_error_is_closed(self, machine: Machine) -> None:
        ran = f"exec 2>&-; {sys.executable} -m servelint exec {' '.join(WARNED)}"
        run = subprocess.run(["sh", "-c", ran], cwd=machine.folder, env=machine.env, input="", text=True, capture_output=True)
        assert run.returncode == 7

    def test_as_a_process_of_its_own(self, machine: Machine, capfd: pytest.CaptureFixture[str]) -> None:
        """What is done where a process cannot replace another."""
        assert run_process(["sh", "-c", "echo here; exit 9"]) == 9
        assert capfd.readouterr().out == "here\n"


class TestWhatIsNotStarted:
    def test_is_a_command_with_findings(self, machine: Machine) -> None:
        status, out, err = machine.run("--", *BROKEN)
        assert (status, out) == (1, "")
        assert err.startswith("error[vllm/gpu-memory-utilization-out-of-range]: --gpu-memory-utilization 1.2 is out of range")
        assert " --> command:1:51\n" in err
        assert err.endswith("\n\n" + NOT_STARTED)

    @pytest.mark.parametrize("fail_on", ["never", "warning"])
    def test_what_counts_is_said(self, fail_on: str, machine: Machine) -> None:
        status, out, err = machine.run("--fail-on", fail_on, *WARNED)
        assert ("vllm/removed-env" in err, status, bool(out)) == (
            True,
            *((7, True) if fail_on == "never" else (1, False)),
        )

    def test_in_the_settings_as_well(self, machine: Machine) -> None:
        (machine.folder / "servelint.toml").write_text('ignore = ["vllm/gpu-memory-utilization-out-of-range"]\n')
        assert machine.run("--", *BROKEN)[0] == 7
        assert machine.run("--isolated", "--", *BROKEN)[0] == 1
        (machine.folder / "servelint.toml").write_text("fail-on = 1\n")
        status, out, err = machine.run("--", *SOUND)
        assert (status, out) == (2, "")
        assert err.startswith("servelint.toml:1:11: fail-on ")

    def test_quiet_says_only_what_stops(self, machine: Machine) -> None:
        assert machine.run("--quiet", *WARNED)[2] == ""
        assert machine.run("--quiet", "--", "true") == (0, "", "")
        assert "error[vllm/gpu-memory-utilization-out-of-range]" in machine.run("--quiet", "--", *BROKEN)[2]

    def test_a_dry_run_starts_nothing(self, machine: Machine) -> None:
        assert machine.run("--dry-run", "--", *SOUND) == (0, "", "")
        assert machine.run("--dry-run", "--", *BROKEN)[0] == 1

    def test_nothing_of_the_command_is_run_before(self, machine: Machine) -> None:
        for name in ("numactl", "vllm"):
            machine.program(name, "#!/bin/sh\ntouch run\n")
        assert machine.run("--", "numactl", "-N", "0", "sh", "-c", f"touch run; {' '.join(BROKEN)} $(touch run)")[0] == 1
        assert not (machine.folder / "run").exists()

    def test_a_command_that_is_not_found(self, machine: Machine) -> None:
        assert machine.run("--quiet", "--", "no-such-program") == (
            127,
            "",
            "servelint: no-such-program: command not found\n",
        )
        assert machine.run("--quiet", "--", "./no-such-program")[0] == 127

    def test_a_command_that_cannot_be_executed(self, machine: Machine) -> None:
        machine.program("plain", "text", 0o644)
        machine.program("lost", "#!/no/such/interpreter\n")
        for name, what in (("plain", "Permission denied"), ("lost", "the interpreter in its first line does not exist")):
            assert machine.run("--quiet", "--", name) == (126, "", f"servelint: {name}: {what}\n")
        assert machine.run("--quiet", "--", str(machine.bin))[0] == 126


class TestWhatIsUnderstood:
    @pytest.mark.parametrize(
        "command",
        [
            ["env", "A=b", *BROKEN],
            ["numactl", "-N", "0", *BROKEN],
            ["sh", "-c", " ".join(BROKEN)],
            ["sh", "-c", 'exec vllm serve "$@"', "sh", *BROKEN[2:]],
            ["sh", "-c", 'vllm serve m --gpu-memory-utilization "$FRACTION"'],
            ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "m", *BROKEN[3:]],
            ["./start.sh", *BROKEN[2:]],
            ["start", *BROKEN[2:]],
            ["llama-server", "-m", "m.gguf", "--ctx-sze", "4096"],
        ],
    )
    def test_wrappers_shells_modules_scripts_and_other_engines(self, command: list[str], machine: Machine) -> None:
        script = '#!/bin/sh\nset -e\nexec vllm serve "$@"\n'
        machine.program("start", script)
        (machine.folder / "start.sh").write_text(script)
        machine.env["FRACTION"] = "1.2"
        status, out, err = machine.run("--engine-version", "llama.cpp=b9553", "--", *command)
        assert (status, out) == (1, "")
        assert err.endswith(NOT_STARTED)

    def test_a_script_that_starts_it_without_being_given_words(self, machine: Machine) -> None:
        (machine.folder / "start.sh").write_text(f"#!/bin/sh\n{' '.join(BROKEN)}\n")
        status, _, err = machine.run("--", "sh", "start.sh")
        assert status == 1
        assert " --> start.sh:2:51\n" in err

    def test_words_are_not_read_again(self, machine: Machine) -> None:
        """`$(...)` and `;` in a word are just these characters."""
        assert (
            machine.run("--", "vllm", "serve", "$(x)", "--served-model-name", "a; vllm serve b --gpu-memory-utilization 2")[0]
            == 7
        )

    def test_files_that_it_names(self, machine: Machine) -> None:
        (machine.folder / "config.yaml").write_text("gpu-memory-utilization: 1.2\n")
        status, _, err = machine.run("--", "vllm", "serve", "Qwen/Qwen3-8B", "--config", "config.yaml")
        assert status == 1
        assert " --> config.yaml:1:25\n" in err

    def test_the_environment_is_the_one_of_the_launch(self, machine: Machine) -> None:
        machine.env["VLLM_USE_V1"] = "1"
        given = ["--fail-on", "warning", "--engine-version", "vllm=0.33.0", "--", *SOUND]
        status, _, err = machine.run(*given)
        assert status == 1
        assert "--> environment:" in err
        assert "VLLM_USE_V1=1" in err
        assert machine.run(*given[: -len(SOUND)], "env", "-u", "VLLM_USE_V1", *SOUND)[0] == 7

    def test_a_secret_that_it_is_given_stands_in_no_file(self, machine: Machine) -> None:
        key = "sk-" + "ab12" * 8
        machine.env |= {"VLLM_API_KEY": key, "HF_TOKEN": "hf_" + "ab12" * 8}
        assert machine.run("--fail-on", "info", "--engine-version", "vllm=0.20.0", "--", *SOUND, "--api-key", key)[::2] == (
            7,
            "",
        )
        err = machine.run("--", *BROKEN, "--api-key", key)[2]
        assert "--api-key sk-" in err
        assert key not in err

    def test_what_launches_nothing_is_started_and_said(self, machine: Machine) -> None:
        assert machine.run("--", "sh", "-c", "exit 5") == (
            5,
            "",
            "servelint: no launch of an engine in this command; it is not judged\n",
        )

    def test_the_release_that_is_installed(self, machine: Machine) -> None:
        packages = machine.folder / "lib" / "python3.12" / "site-packages"
        (packages / "vllm-0.18.0.dist-info").mkdir(parents=True)
        (machine.folder / "pyvenv.cfg").write_text("")
        os.symlink("/bin/sh", machine.bin / "python3")
        machine.program("vllm", f"#!{machine.bin}/python3\nexit 7\n")
        swap = ["vllm", "serve", "Qwen/Qwen3-8B", "--swap-space", "4"]
        for command in (swap, ["nice", *swap], ["sh", "-c", f"exec {' '.join(swap)}"]):
            status, _, err = machine.run("--", *command)
            assert status == 1
            assert "error[vllm/removed-option]: --swap-space was removed in vLLM 0.18.0" in err
        assert machine.run("--engine-version", "vllm=0.17.1", "--", *swap)[0] == 7


class TestWrongUse:
    @pytest.mark.parametrize("args", [[], ["--"], ["vllm", "serve", "m"], ["--dry-run"]])
    def test_a_command_stands_after_two_dashes(self, args: list[str], workspace: Workspace) -> None:
        ran = workspace.run("exec", *args)
        assert (ran.status, ran.out) == (2, "")
        assert "write the command after --, as in servelint exec -- vllm serve MODEL" in ran.err

    def test_a_rule_that_there_is_not(self, machine: Machine) -> None:
        status, out, err = machine.run("--select", "vllm/no-such-rule", "--", *SOUND)
        assert (status, out) == (2, "")
        assert "vllm/no-such-rule" in err


class TestABug:
    """A linter that fails has not judged: the command is not started, unless that is wanted."""

    @pytest.fixture
    def broken(self, machine: Machine) -> Machine:
        (machine.folder / "sitecustomize.py").write_text(
            "import servelint.judge.judging\ndef judge(*_): raise KeyError('x')\nservelint.judge.judging.judge = judge\n"
        )
        machine.env["PYTHONPATH"] = os.pathsep.join([str(machine.folder), *sys.path])
        return machine

    def test_has_a_status_of_its_own(self, broken: Machine) -> None:
        said = "an error in servelint itself: KeyError: 'x'; the command is not started; --fail-open starts it anyway"
        assert broken.run("--", *SOUND) == (125, "", f"servelint: {said}\n")
        assert broken.run("--dry-run", "--", *SOUND)[0] == 125
        broken.env["SERVELINT_TRACEBACK"] = "1"
        assert "in _lint\n" in broken.run("--", *SOUND)[2]

    def test_does_not_count_where_that_is_wanted(self, broken: Machine) -> None:
        status, out, err = broken.run("--fail-open", "--", *SOUND)
        assert (status, bool(out)) == (7, True)
        assert err == "servelint: an error in servelint itself: KeyError: 'x'; the command is started anyway\n"
