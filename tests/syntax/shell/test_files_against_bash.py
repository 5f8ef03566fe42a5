"""The shell reader against bash where other files, other shells and wrappers are on the way to the engine.

Each case is a folder with `run.sh`, run by bash with a stub named vllm that records what it is given; the wrappers are stubs
that run what they are asked to run. What the reader finds must be equal, or unknown.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.readers import read
from tests.syntax.shell.test_against_bash import UNSET, WATCHED, Ran, agrees, recorded

BASH = shutil.which("bash") or ""

pytestmark = [pytest.mark.book, pytest.mark.skipif(not BASH, reason="bash is not installed")]

Case = tuple[dict[str, str], str]
"""The files beside the script, and the script."""

RUNS = {
    "sudo": 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
    "numactl": 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
    "srun": 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
    "mpirun": 'shift 2; exec "$@"',
    "ssh": 'shift; if [ $# = 0 ]; then exec bash; fi; exec bash -c "$*"',
    "tmux": 'for last; do :; done; [ "$last" != C-m ] || { set -- "${@:1:$#-1}"; for last; do :; done; }; exec bash -c "$last"',
    "su": 'for last; do :; done; exec bash -c "$last"',
}
"""Wrappers, as far as they matter here."""

SPEC = '{"method": "mtp", "num_speculative_tokens": 1}'
LIBRARY = 'PORT=9\nexport VLLM_USE_V1=1\nstart() { vllm serve "$@" --port $PORT; }\nnever() { vllm serve never; }\n'
SERVE = '#!/bin/bash\nexec vllm serve "${MODEL:-m}" --seed 1 "$@"\n'
HERE = 'HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\n'

SOURCED: dict[str, Case] = {
    "a file beside it": ({"lib.sh": LIBRARY}, "source ./lib.sh\nstart m --a b"),
    "without a slash": ({"lib.sh": LIBRARY}, ". lib.sh\nstart m"),
    "by the script's own name": ({"lib.sh": LIBRARY}, 'source "$(dirname "$0")/lib.sh"\nstart m'),
    "by BASH_SOURCE": ({"lib.sh": LIBRARY}, HERE + 'source "$HERE/lib.sh"\nstart m'),
    "by BASH_SOURCE without an index": ({"lib.sh": LIBRARY}, 'source "$(dirname $BASH_SOURCE)/lib.sh"\nstart m'),
    "by cutting the script's name": ({"lib.sh": LIBRARY}, 'source "${BASH_SOURCE%/*}/lib.sh"\nstart m'),
    "by readlink": ({"lib.sh": LIBRARY}, 'source "$(dirname "$(readlink -f "$0")")/lib.sh"\nstart m'),
    "after cd": ({"d/lib.sh": LIBRARY}, 'cd "$(dirname "$0")/d"\nsource ./lib.sh\nstart m'),
    "after cd to where nobody knows": (
        {"lib.sh": LIBRARY},
        'mkdir -p "$TMPDIR/x"; cd "$TMPDIR/x"\nP=1\n. ./lib.sh || :\nvllm $PORT',
    ),
    "one that sources another": (
        {"d/lib.sh": '. "$(dirname "${BASH_SOURCE[0]}")/more.sh"\n', "d/more.sh": "X=x\n"},
        ". ./d/lib.sh\nvllm $X",
    ),
    "one that sources itself": ({"lib.sh": '[ -n "$L" ] && return; L=1; . ./lib.sh; X=1'}, "L=\n. ./lib.sh\nvllm $X"),
    "with arguments": ({"lib.sh": 'X=$1 Y="${@:2}"'}, ". ./lib.sh p q r\nvllm $X $Y $#"),
    "with those of the function": ({"lib.sh": "X=$1"}, "f() { . ./lib.sh; }\nf p\nvllm $X"),
    "one that returns": ({"lib.sh": "X=1\nreturn 0\nX=2\n"}, ". ./lib.sh\nvllm $X"),
    "one that exports all": ({"my.env": "A=1\nB='2 3'\n"}, "set -a\n. ./my.env\nset +a\nvllm"),
    "one that is not there": ({}, ". ./nothing.sh\nvllm ${X:-1}"),
    "only if it is there": ({"my.env": "A=2\n"}, "A=1\n[ -f my.env ] && . ./my.env\nexport A\nvllm"),
    "in a loop": ({"a.sh": "X=1", "b.sh": "Y=2"}, "for f in a b; do . ./$f.sh; done\nvllm $X $Y"),
    "a function that is defined anew": ({"lib.sh": LIBRARY}, ". ./lib.sh\nstart() { vllm mine; }\nstart m"),
    "an array": ({"lib.sh": "ARGS=(--a 'b c')\nARGS+=(--d)\n"}, '. ./lib.sh\nvllm "${ARGS[@]}"'),
}
WRITTEN: dict[str, Case] = {
    "JSON by a heredoc": ({}, f"cat > a.json <<'EOF'\n{SPEC}\nEOF\nvllm --c \"$(cat a.json)\""),
    "the redirection behind": ({}, f"cat <<'EOF' > a.json\n{SPEC}\nEOF\nvllm --c \"$(<a.json)\""),
    "with a variable in it": ({}, 'N=3\ncat > a.json <<EOF\n{"n": $N}\nEOF\nvllm --c "$(cat a.json)"'),
    "by echo": ({}, 'echo \'{"n": 1}\' > a.json\nvllm --c "$(cat a.json)"'),
    "by printf": ({}, 'printf \'{"n": %d}\' 4 > a.json\nvllm --c "$(cat a.json)"'),
    "by tee": ({}, 'tee a.json >/dev/null <<EOF\n{"n": 5}\nEOF\nvllm --c "$(cat a.json)"'),
    "in a temporary file": ({}, 'F=$(mktemp)\necho 1 > "$F"\nvllm "$(cat "$F")"'),
    "in two temporary files": ({}, "F=$(mktemp); G=$(mktemp)\necho 1 >$F; echo 2 >$G\nvllm $(cat $F) $(cat $G)"),
    "twice": ({}, "echo 1 > a\necho 2 > a\nvllm $(cat a)"),
    "in two parts": ({}, "echo 1 > a\necho 2 >> a\nvllm $(cat a)"),
    "behind what was there": ({"a": "0\n"}, "echo 1 >> a\nvllm $(cat a)"),
    "over what was there": ({"a": "0\n"}, "echo 1 > a\nvllm $(cat a)"),
    "in one branch": ({}, 'echo 1 > a\nif [ -n "$X" ]; then echo 2 > a; fi\nvllm $(cat a)'),
    "by somebody else": ({"a": "0\n"}, "seq 3 > a\nvllm $(cat a)"),
    "and edited": ({}, "echo 1 > a\nsed -i s/1/2/ a\nvllm $(cat a)"),
    "and copied": ({}, "echo 1 > a\ncp a b\nvllm $(cat b)"),
    "by a group": ({"a": "0\n"}, "{ echo 1; echo 2; } > a\nvllm $(cat a)"),
    "by a function": (
        {"a": "0\n"},
        "f() { echo $1; cat <<E\n$(echo 2)\nE\nG=$(echo 3); echo 4 >&2; }\nf 1 > a\nf 5 >> a\nvllm $(cat a)",
    ),
    "by a function that calls one": (
        {},
        'g() { echo "x $1"; }\nf() { g 1; echo "$(g 2)"; g 3 >/dev/null; }\nf >a 2>&1\nvllm $(cat a)',
    ),
    "by a function in front of a pipe": ({}, "f() { echo 1; local x=$(echo 2); echo 3; }\nf | tee a >/dev/null\nvllm $(cat a)"),
    "in a subshell": ({}, "(echo 1 > a)\nvllm $(cat a)"),
    "as a script": ({}, "cat > s.sh <<'EOF'\nvllm serve \"$1\"\nEOF\nbash s.sh m\nchmod +x s.sh"),
    "by a loop": ({}, 'for m in a b; do echo "vllm serve $m"; done > s.sh\nbash s.sh'),
    "by a loop with a heredoc": ({}, "for m in a; do cat <<EOF\nvllm serve $m\nEOF\ndone > s.sh\nbash s.sh"),
    "by a branch": ({}, "if [ -n x ]; then echo 'vllm serve a'; else echo 'vllm serve b'; fi > s.sh\nbash s.sh"),
    "by a case": ({}, "case y in x) echo 'vllm serve a' ;; *) echo 'vllm serve b' ;; esac > s.sh\nsh s.sh"),
    "as a script that fills in": ({}, "M=m\ncat > s.sh <<EOF\nvllm serve $M \\$1\nEOF\nbash ./s.sh x"),
    "as something to source": ({}, "echo X=1 > e\n. ./e\nvllm $X"),
    "JSON beside the script": ({"a.json": SPEC}, 'vllm --c "$(cat a.json)" "$(<./a.json)"'),
    "two files beside it": ({"a": "1\n", "b": "2\n"}, "vllm $(cat a b)"),
    "a file that is not there": ({}, 'vllm --c "$(cat nothing.json)"'),
}
CALLED: dict[str, Case] = {
    "a script with arguments": ({"serve.sh": SERVE}, 'bash serve.sh --a "b c"'),
    "by its own folder": ({"serve.sh": SERVE}, 'exec bash "$(dirname "$0")/serve.sh" --a'),
    "as a program": ({"serve.sh": SERVE}, "./serve.sh --a"),
    "with a variable in front": ({"serve.sh": SERVE}, "MODEL=x ./serve.sh --a"),
    "with an exported variable": ({"serve.sh": SERVE}, "export MODEL=y; ./serve.sh --a"),
    "a variable that is not exported": ({"serve.sh": SERVE}, "MODEL=y; ./serve.sh --a"),
    "one that calls another": ({"a.sh": 'bash ./serve.sh "$@" --b\n', "serve.sh": SERVE}, "bash ./a.sh --a"),
    "one in a folder": ({"d/serve.sh": '. "$(dirname "$0")/x.sh"; vllm $X $1', "d/x.sh": "X=1"}, "bash d/serve.sh a"),
    "through sudo": ({"serve.sh": SERVE}, "sudo ./serve.sh --a"),
    "in a loop over ports": ({"serve.sh": SERVE}, "for p in 1 2; do ./serve.sh --port $p; done"),
}
OTHERS: dict[str, Case] = {
    "bash -c": ({}, "bash -c 'vllm serve $0 $1' m n"),
    "bash -c with what the outer shell puts in": ({}, 'X="a b"; bash -c "vllm serve $X"'),
    "a shell reading a heredoc": ({}, "bash <<'EOF'\nX=1\nvllm $X\nEOF"),
    "a shell reading a heredoc with variables": ({}, "Y=2\nbash -s <<EOF\nvllm $Y\nEOF"),
    "a shell behind a pipe": ({}, "echo 'vllm a b' | bash"),
    "a shell behind a heredoc's pipe": ({}, "cat <<EOF | bash\nvllm c\nEOF"),
    "a here-string": ({}, "bash <<< 'vllm d'"),
    "eval": ({}, 'C="vllm serve --a \'b c\'"; eval "$C"; eval $C --d'),
    "a command in a variable": ({}, "C=\"vllm serve --a 'b c'\"; $C"),
    "exec of a command in a variable": ({}, 'C="vllm serve m"; C="$C --a"; exec $C'),
    "ssh": ({}, "ssh gpu1 'X=1; vllm serve $X'"),
    "ssh with words": ({}, "ssh gpu1 vllm serve m --a 'b c'"),
    "ssh with a heredoc": ({}, "ssh gpu1 <<'EOF'\nvllm serve m\nEOF"),
    "tmux": ({}, "tmux new-session -d 'vllm serve m --a'"),
    "tmux send-keys": ({}, "tmux send-keys -t x 'vllm serve m --b' C-m"),
    "su": ({}, "su user -c 'vllm serve m'"),
    "srun": ({}, "A=1; srun --gpus=1 vllm serve m"),
    "mpirun": ({}, "export A=1; mpirun -n 1 vllm serve m"),
    "nohup and friends": ({}, "nohup numactl -N vllm serve m >log 2>&1 &\nwait"),
    "env": ({}, "env A=1 B=2 vllm serve m; env -u A vllm n"),
    "sudo with env": ({}, "sudo -E env A=1 vllm serve m"),
    "timeout": ({}, "timeout 9 vllm serve m"),
    "xargs": ({}, "echo m | xargs vllm serve x"),
}
CUT: dict[str, Case] = {
    "a comment": ({}, "vllm serve m \\\n  # --a\n  --port 1"),
    "an empty line": ({}, "vllm serve m \\\n\n  --port 1"),
    "a blank behind the backslash": ({}, "vllm serve m \\ \n  --port 1"),
    "no backslash": ({}, "vllm serve m\n  --port 1 \\\n --seed 2"),
}
CASES = {
    f"{group}: {name}": case
    for group, cases in (("sourced", SOURCED), ("written", WRITTEN), ("called", CALLED), ("others", OTHERS), ("cut", CUT))
    for name, case in cases.items()
}


def run(folder: Path, work: Path) -> list[Ran]:
    record = folder / "record"
    programs = folder / "bin"
    programs.mkdir()
    watched = " ".join([f'"${{{name}-{UNSET}}}"' for name in WATCHED])
    texts = {**RUNS, "vllm": f"printf '%s\\0' $# vllm \"$@\" {watched} >>{record}"}
    for name, text in texts.items():
        (programs / name).write_text(f"#!/bin/bash\n{text}\n")
        (programs / name).chmod(0o755)
    record.write_bytes(b"")
    subprocess.run(
        [BASH, "--noprofile", "--norc", "./run.sh"],
        cwd=work,
        env={"PATH": f"{programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    return recorded(record.read_bytes().decode())


def found(work: Path) -> list[Launch]:
    """The launches of a plain run, each as often as it is run."""
    source = Source("run.sh", (work / "run.sh").read_text())
    return [launch for launch in read(source, Neighbours(str(work))).launches if launch.likely]


@pytest.mark.parametrize("name", CASES)
def test_launches_are_those_of_bash(name: str, tmp_path: Path) -> None:
    files, script = CASES[name]
    work = tmp_path / "work"
    # the verb is what makes a launch of a command: the cases leave it out for short
    for path, text in {**files, "run.sh": script}.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text.replace("vllm serve", "vllm").replace("vllm", "vllm serve"))
        (work / path).chmod(0o755)
    expected = run(tmp_path, work)
    assert expected, "a case runs something"
    launches = found(work)
    assert len(launches) == len(expected), (expected, launches)
    for (argv, env), launch in zip(expected, launches, strict=True):
        assert agrees(launch.argv, argv[2:]), (argv, launch.argv)
        for variable in WATCHED:
            given = launch.env.get(variable)
            if given is not None and (given.value is None or given.value.value is None):
                continue
            told = None if given is None or given.value is None else given.value.value
            assert told == env.get(variable) or (told is None and launch.open_env), (variable, env, launch.env)


@pytest.mark.parametrize("name", CUT)
def test_what_is_cut_off_is_told(name: str, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(CUT[name][1])
    (launch,) = found(tmp_path)
    assert launch.cut is not None
    assert launch.cut.text.startswith("--port 1")


def test_what_follows_a_whole_command_is_not_cut_off(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("vllm serve m \\\n  --port 1\n\n# --seed 1\necho -n done\nvllm serve m & \\\n--port")
    assert [launch.cut for launch in found(tmp_path)] == [None, None]


@pytest.mark.parametrize("rest", ["-v", "-v\n-q", "-v # why\n\n  --port", "-v)\n-q"])
def test_a_short_option_alone_on_its_line_is_cut_off(tmp_path: Path, rest: str) -> None:
    (tmp_path / "run.sh").write_text(f"vllm serve m\n{rest}\necho done\n")
    (launch,) = found(tmp_path)
    assert launch.cut is not None
    assert launch.cut.text == rest.partition(")")[0]


UNKNOWN_MAY_BE = {
    "sourced: after cd to where nobody knows",
    "sourced: only if it is there",
    "sourced: one that is not there",
    "written: a file that is not there",
    "written: behind what was there",
    "written: by a group",
    "written: by somebody else",
    "written: and edited",
    "written: in one branch",
    "others: xargs",
}


@pytest.mark.parametrize("name", sorted(set(CASES) - UNKNOWN_MAY_BE))
def test_nothing_is_unknown(name: str, tmp_path: Path) -> None:
    files, script = CASES[name]
    for path, text in {**files, "run.sh": script}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text.replace("vllm serve", "vllm").replace("vllm", "vllm serve"))
    shown = [word.shown for launch in found(tmp_path) for word in launch.argv if not word.text.known]
    assert shown == []
