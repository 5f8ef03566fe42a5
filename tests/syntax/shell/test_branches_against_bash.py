"""Undecided conditions against bash: what bash passes under every outcome of them is what the reader says may be passed.

Each script tests variables that nothing sets. Bash runs it with every combination of their values. Each argv that it passes must
agree with the launch or with one of its alternatives, a word that all of these have must be in every argv, and none of them
may be an argv that bash never passes.
"""

from __future__ import annotations

import itertools
import random
import re
import shutil
import subprocess
from collections.abc import Callable

import pytest

from servelint.core.launch import Launch, Word
from servelint.core.text import TracedText, unknown
from tests.launching import launches_in
from tests.syntax.shell.test_against_bash import agrees
from tests.together import together

BASH = shutil.which("bash") or ""
VALUES = (None, "on", "off", "8")

pytestmark = pytest.mark.skipif(not BASH, reason="bash is not installed")

ANYTHING = TracedText((unknown("$X", None),))

Argvs = set[tuple[str, ...]]
Bash = Callable[[str], Argvs]

SCRIPTS = {
    "a string that grows": 'CMD="vllm serve m"; if [ -n "$A" ]; then CMD="$CMD --x"; fi; exec $CMD',
    "a string that is evaluated": 'CMD="vllm serve m"; [ "$A" = on ] && CMD+=" --x"; eval "$CMD --end"',
    "an array that grows": 'R=(--a 1); if [ -n "$A" ]; then R+=(--x "$A"); fi; vllm serve m "${R[@]}" --end',
    "an array that is the command": 'C=(vllm serve m); [[ -n "$A" ]] && C+=(--x); exec "${C[@]}"',
    "one of two": 'if [ "$A" = on ]; then R=(--a); else R=(--b); fi; vllm serve m "${R[@]}"',
    "elif": 'if [ "$A" = on ]; then T=1; elif [ "$A" = off ]; then T=2; elif [ "$B" = on ]; then T=3; else T=4; fi; vllm serve m --tp $T',
    "case": 'case "$A" in on) R="--on" ;; off|no) R="--off" ;; *) R="--other" ;; esac; vllm serve m $R',
    "case without a default": 'T=1; case $A in on) T=2 ;; off) T=3 ;; esac; vllm serve m --tp "$T"',
    "the same test twice": '[ "$A" = on ] && R="--a"; [ "$A" = on ] && S="--b"; vllm serve m ${R:-} ${S:-}',
    "a test and its opposite": 'R=; S=; [ -n "$A" ] && R=--a; [ -z "$A" ] && S=--b; vllm serve m $R $S',
    "two values of one variable": 'R=; [ "$A" = on ] && R="$R --a"; [ "$A" = off ] && R="$R --b"; vllm serve m $R',
    "a case after a test": 'R=; if [ "$A" = on ]; then R=--a; fi; case "$A" in on) R="$R --b" ;; *) R="$R --c" ;; esac; vllm serve m $R',
    "a value that decides a later test": 'if [ "$A" = on ]; then T=4; else T=1; fi; R=; [ "$T" -gt 2 ] && R=--big; vllm serve m --tp $T $R',
    "a value that is computed": 'if [ "$A" = on ]; then T=4; else T=1; fi; vllm serve m --tp $((T * 2))',
    "a default that a test contradicts": 'T="${A:-1}"; R=; [ "$T" = on ] && R=--x; vllm serve m --t "$T" $R',
    "a number": 'R=; if [ "${A:-1}" = 8 ]; then R=--many; fi; vllm serve m $R',
    "both of two": 'R=; if [ -n "$A" ] && [ "$B" = on ]; then R=--both; fi; vllm serve m $R',
    "both in double brackets": 'R=; if [[ -n "$A" && "$B" = on ]]; then R=--both; else R=--not; fi; vllm serve m $R',
    "either": 'R=; if [ "$A" = on ] || [ "$B" = on ]; then R=--either; fi; vllm serve m $R',
    "nested": 'R=; if [ "$A" = on ]; then R=--a; if [ "$B" = on ]; then R="$R --b"; fi; fi; vllm serve m $R',
    "not": 'R=; if ! [ "$A" = on ]; then R=--n; fi; if [ ! -z "$B" ]; then R="$R --b"; fi; vllm serve m $R',
    "an alternative of a variable": 'vllm serve m ${A:+--x} ${B:+--y "$B"} --end',
    "an alternative and a test of it": 'R=; [ -n "$A" ] && R=--set; vllm serve m ${A:+--x} $R',
    "a function that sets a global": 'R=(); add() { R+=("$@"); }; if [ "$A" = on ]; then add --x 1; fi; [ "$B" = on ] && add --y; vllm serve m "${R[@]}"',
    "a helper for optional values": 'R=(); opt() { if [ -n "$2" ]; then R+=("$1" "$2"); fi; }; opt --a "$A"; opt --b "$B"; vllm serve m "${R[@]}"',
    "a function that decides": 'on() { [ "$A" = on ]; }; R=; on && R=--x; if on; then R="$R --y"; fi; vllm serve m $R',
    "a function that returns early": 'R=--base; f() { [ "$A" = on ] || return 0; R="$R --x"; }; f; vllm serve m $R',
    "a local variable": 'f() { local R="--l"; [ "$A" = on ] && R="$R --x"; vllm serve m $R; }; R=--global; f',
    "an inner function that changes a local one": 'R=; f() { local R=--f; g; vllm serve m $R; }; g() { [ "$A" = on ] && R="$R --g"; }; f',
    "a substitution": 'R=$(if [ "$A" = on ]; then echo --x; else echo --y; fi); vllm serve m $R',
    "a substitution of a function": 'flags() { echo --a; if [ "$A" = on ]; then echo --b; fi; }; vllm serve m $(flags)',
    "a substitution of a list": 'vllm serve m $([ "$A" = on ] && echo --x || echo --y)',
    "printf -v": 'if [ "$A" = on ]; then printf -v R -- "--n %s" 2; else printf -v R %s --none; fi; vllm serve m $R',
    "printf in a substitution": 'J=$(case "$A" in on) printf "%s" 4 ;; *) printf "%s" 8 ;; esac); vllm serve m --n "$J"',
    "a function that also logs": 'log() { echo "log: $1" >&2; }; f() { log start; { echo more; } >&2; [ "$A" = on ] && echo --x; echo --y; }; vllm serve m $(f)',
    "a substitution with a pipe": 'f() { echo --a | cat; [ "$A" = on ] && printf "%s\\n" --x; echo --b >/dev/null; }; vllm serve m $(f)',
    "a launch in a substitution": 'start() { R=; [ "$A" = on ] && R=--x; vllm serve m $R; echo 1; }; PID=$(start); echo "$PID"',
    "lines of a function": 'f() { echo --a; [ "$A" = on ] && echo --x; echo 1; }; mapfile -t R < <(f); vllm serve m "${R[@]}"',
    "a command that a function prints": 'f() { local c=(vllm serve m); [ "$A" = on ] && c+=(--x); echo "${c[@]}"; }; C=$(f); bash -c "$C --end"',
    "positional parameters": 'set -- serve m; if [ "$A" = on ]; then set -- "$@" --x; fi; vllm "$@"',
    "JSON": 'N=1; [ "$A" = on ] && N=3; vllm serve m --c "{\\"n\\": $N}"',
    "a loop that may break": 'R=; for X in a b; do [ "$A" = on ] && break; R="$R --$X"; done; vllm serve m $R',
    "a loop that may go on": 'R=; for X in a b; do [ "$A" = on ] && continue; R="$R --$X"; done; vllm serve m $R',
    "a loop over arguments": 'R=(); for X in a b; do if [ "$A" = on ]; then R+=(--x "$X"); fi; done; vllm serve m "${R[@]}"',
    "launches in branches": 'R=--r; [ "$B" = on ] && R=--s; if [ "$A" = on ]; then exec vllm serve m $R --a; fi; exec vllm serve m $R --b',
    "equal in all arms of a case": "case $A in on) P=--a; L=8 ;; off) P=--b; L=8 ;; *) exit 1 ;; esac; vllm serve m $P --n $L",
    "a case that decides a later test": 'case $A in on) P=1 ;; off) Q=2 ;; *) exit 1 ;; esac; if [ "$A" = on ]; then vllm serve m --n "$P"; else vllm serve m --n "$Q"; fi',
    "a script that gives up": 'if [ -z "$A" ]; then echo usage; exit 1; fi; R=; [ "$B" = on ] && R=--x; vllm serve m $R',
    "a variable of the environment": 'if [ "$A" = on ]; then export VLLM_USE_V1=0; fi; vllm serve m',
    "a heredoc": 'if [ "$A" = on ]; then D=cuda; else D=cpu; fi; read -r R <<EOF\n--device $D\nEOF\nvllm serve m $R',
    "a sourced file": 'cat >env.sh <<"EOF"\nif [ "$A" = on ]; then R=--x; else R=--y; fi\nEOF\n. ./env.sh\nvllm serve m $R',
    "a shell in a shell": "bash -c 'R=; [ \"$A\" = on ] && R=--x; vllm serve m $R'",
    "a trailing default": 'R="${A:+--a}"; S="${B:-}"; if [ -n "$S" ]; then R="$R --b"; fi; vllm serve m $R',
}


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Bash:
    """Runs a script under every combination of values; gives what `vllm` was passed."""
    folder = tmp_path_factory.mktemp("bash")
    stub = folder / "vllm"
    stub.write_text(f"#!/bin/sh\nprintf '%s\\0' $# \"$@\" >>{folder / 'record'}\n")
    stub.chmod(0o755)

    def run(script: str) -> Argvs:
        names = sorted(set(re.findall(r"\$\{?([A-D])\b", script)))
        (folder / "run.sh").write_text(script)
        (folder / "record").write_bytes(b"")
        lines = []
        for values in itertools.product(VALUES, repeat=len(names)):
            given = [f"export {name}={value}" for name, value in zip(names, values, strict=True) if value is not None]
            lines.append(
                "( " + "; ".join([*given, "exec bash --norc ./run.sh" if "bash -c" in script else ". ./run.sh"]) + " )"
            )
        subprocess.run(
            [BASH, "--noprofile", "--norc", "-c", "\n".join(lines)],
            cwd=folder,
            env={"PATH": f"{folder}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        fields = (folder / "record").read_text().split("\0")[:-1]
        found: Argvs = set()
        at = 0
        while at < len(fields):
            end = at + 1 + int(fields[at])
            found.add(tuple(fields[at + 1 : end]))
            at = end
        return found

    return run


def known(launches: list[Launch]) -> list[list[Word]]:
    """The words of the launches and of their alternatives, with the verb. A default that may be overridden may be anything."""
    ways = [[*one.verb[1:], *one.argv] for launch in launches for one in launch.every]
    return [[Word(ANYTHING, many=word.many) if word.text.assumed else word for word in way] for way in ways]


def certain(launches: list[Launch]) -> set[str]:
    """The words that all launches and alternatives have."""
    every = [{word.value for word in words if word.value is not None} for words in known(launches)]
    return {word for word in set.intersection(*every) if word is not None}


def wrong(script: str, passed: Argvs, launches: list[Launch], *, each: bool) -> str | None:
    """What does not agree with bash; None if all does. each: whether every combination of conditions is an alternative."""
    ways = known(launches)
    words = [word for way in ways for word in way]
    for argv in passed:
        if each and not any(agrees(way, list(argv)) for way in ways):
            return f"bash passes {argv}, which is not among {ways}"
        for one in argv:
            if not any(agrees([word], [one]) for word in words):
                return f"bash passes {one!r} of {argv}, which is not among {ways}"
        if not certain(launches) <= set(argv):
            return f"{certain(launches)} are certain, and bash passes {argv}"
    for way in ways:
        if not any(agrees(way, list(argv)) for argv in passed):
            return f"{way} is said to be possible, and bash passes only {passed}"
    return None


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_what_bash_passes_is_said_and_nothing_else(script: str, bash: Bash) -> None:
    passed = bash(script)
    launches = launches_in(script, "run.sh")
    assert launches
    assert wrong(script, passed, launches, each=True) is None


class Writer:
    """Writes random scripts that build the words of one launch under conditions."""

    def __init__(self, seed: int, conditions: int) -> None:
        self.chance = random.Random(seed)
        self.left = conditions
        self.number = 0
        self.kind = self.chance.choice(("array", "string", "command", "arguments"))
        self.functions: list[str] = []

    def script(self) -> str:
        start = {
            "array": "R=(--base)",
            "string": "R=--base",
            "command": 'R="vllm serve m --base"',
            "arguments": "set -- --base",
        }
        end = {
            "array": 'vllm serve m "${R[@]}"', "string": "vllm serve m $R", "command": self.chance.choice(("$R", "exec $R", 'eval "$R"')),
            "arguments": 'vllm serve m "$@"',
        }  # fmt: skip
        body = self.block(0, 3)
        tail = self.chance.choice(("", " --end", " --tp $T", ' --t "${T}x"'))
        last = end[self.kind]
        if last == 'eval "$R"':
            last, tail = 'eval "$R --end"', ""
        return "\n".join([start[self.kind], "T=1", *self.functions, *body, last + tail])

    def block(self, depth: int, count: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.chance.randint(1, count)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        if self.left <= 0 or (depth and self.chance.random() < 0.4):
            return [self.change()]
        shape = self.chance.choice(("if", "else", "elif", "case", "and", "or", "function", "value"))
        if shape in ("and", "or"):
            test = self.test()
            return [f"{test} {'&&' if shape == 'and' else '||'} {self.change()}"]
        if shape == "function" and self.kind != "arguments":
            test = self.test()
            name = f"f{len(self.functions)}"
            self.functions.append(
                f"{name}() {{ if {test}; then {self.change()}; fi; {self.chance.choice((':', self.change()))}; }}"
            )
            return [name]
        if shape == "value":
            test = self.test()
            return [f"T=$(if {test}; then echo 2; else echo 4; fi)"]
        if shape == "case":
            self.left -= 2
            name = self.chance.choice("ABC")
            arms = ["on)", *self.block(depth + 1, 2), ";;", "off)", *self.block(depth + 1, 1), ";;"]
            if self.chance.random() < 0.5:
                arms.append(f"*) {self.change()} ;;")
            return [f'case "${name}" in', *arms, "esac"]
        lines = [f"if {self.test()}; then", *self.block(depth + 1, 2)]
        if shape == "elif":
            lines += [f"elif {self.test()}; then", *self.block(depth + 1, 1)]
        if shape != "if":
            lines += ["else", *self.block(depth + 1, 2)]
        return [*lines, "fi"]

    def test(self) -> str:
        self.left -= 1
        name = self.chance.choice("ABC")
        return self.chance.choice((
            f'[ -n "${name}" ]', f'[ -z "${{{name}:-}}" ]', f'[ "${name}" = on ]', f'[[ "${{{name}}}" == off ]]',
            f'[ "${{{name}:-off}}" = on ]', f'[ "${name}" != on ]', f'! [ -n "${name}" ]', '[ "$T" -gt 1 ]',
        ))  # fmt: skip

    def change(self) -> str:
        self.number += 1
        if self.chance.random() < 0.25:
            return f"T={self.chance.randint(1, 3)}"
        flag = f"--f{self.number}"
        return {
            "array": f"R+=({flag})", "string": f'R="$R {flag}"', "command": f'R+=" {flag}"', "arguments": f'set -- "$@" {flag}',
        }[self.kind]  # fmt: skip


@together("seed", range(40))
def test_random_scripts_with_few_conditions(seed: int, bash: Bash) -> None:
    script = Writer(seed, 2).script()
    passed = bash(script)
    assert passed, script
    problem = wrong(script, passed, launches_in(script, "run.sh"), each=True)
    assert problem is None, f"{script}\n{problem}"


@together("seed", range(1000, 1020))
def test_random_scripts_with_many_conditions(seed: int, bash: Bash) -> None:
    script = Writer(seed, 8).script()
    passed = bash(script)
    assert passed, script
    problem = wrong(script, passed, launches_in(script, "run.sh"), each=False)
    assert problem is None, f"{script}\n{problem}"
