"""What the words of a launch are where branches of the script set them, and which launches there are."""

from __future__ import annotations

from tests.launching import launches_in
from tests.together import together

CASES = {
    "equal in all arms": (
        'case $M in a) P=/a; L=4096 ;; b) P=/b; L=4096 ;; *) exit 1 ;; esac; vllm serve m --max-model-len "$L"',
        ["m --max-model-len 4096"],
    ),
    "equal in all arms, inside a function": (
        'die() { exit 2; }; f() { case "$1" in x|y) L=8 ;; z) L=8 ;; *) die ;; esac; vllm serve m --n $L; }; f "$@"',
        ["m --n 8"],
    ),
    "equal in all arms of an if": (
        'if [ "$M" = a ]; then L=8; elif [ "$M" = b ]; then L=8; else echo no; exit 1; fi; vllm serve m --n $L',
        ["m --n 8"],
    ),
    "an earlier case decides": (
        (
            "case $R in head) A=3;; worker) S=4;; *) exit 1;; esac; "
            'if [ "$R" = head ]; then vllm serve m --n $A; else vllm serve m --n $S; fi'
        ),
        ["m --n 3", "m --n 4"],
    ),
    "an earlier case decides a later one": (
        (
            'case "$R" in a) A=3;; b) S=4;; *) echo usage; exit 1;; esac\n'
            'case "$R" in a) vllm serve m --n $A ;; b) vllm serve m --s $S ;; esac'
        ),
        ["m --n 3", "m --s 4"],
    ),
    "an earlier if decides": (
        (
            'if [ "$R" = a ]; then A=3; elif [ "$R" = b ]; then S=4; else exit 1; fi\n'
            'if [ "$R" = a ]; then vllm serve m --n $A; else vllm serve m --s $S; fi'
        ),
        ["m --n 3", "m --s 4"],
    ),
    "a branch that contradicts a default": (
        'T=${T:-1}; if [ "$T" -eq 1 ]; then vllm serve a --n "$T"; else vllm serve b --n "$T"; fi',
        ["a --n 1", "b --n ${T}"],
    ),
    "an and-list that contradicts a default": (
        'export T="${T:=off}"; [[ $T != off ]] && vllm serve a --n "$T"; vllm serve b --n $T',
        ["a --n ${T}", "b --n off"],
    ),
    "arithmetic that contradicts a default": (
        "N=${1:-2}; if (( N > 4 )); then vllm serve a --n $N; else vllm serve b --n $N; fi",
        ["a --n ${N}", "b --n 2"],
    ),
    "an arm of a case that contradicts a default": (
        'T=${T:-x}; case "$T" in y|z) vllm serve a --n $T ;; x) vllm serve b --n $T ;; esac',
        ["a --n ${T}", "b --n x"],
    ),
    "a command that takes a default and says nothing of it": (
        'P=${P:-8000}; if [ -e x ]; then G=$T; fi; if lsof -i ":$P"; then exit 1; fi; vllm serve m --port $P --tp $G',
        ["m --port 8000 --tp ${G}"],
    ),
    "callers after the function that they call": (
        'run() { local M="$1"; shift; vllm serve "$M" "$@"; }; a() { run "$1" --a 1; }; b() { run "$1" --b 2; }',
        ["${1} --a 1", "${1} --b 2"],
    ),
    "callers before the function that they call": (
        'a() { run x --a 1; }; run() { vllm serve "$@"; }; b() { if true; then run y --b 2; fi; }',
        ["x --a 1", "y --b 2"],
    ),
    "a function that calls itself": (
        'again() { vllm serve "$1"; sleep 1; again "$1"; }',
        ["${1}"],
    ),
    "equal calls": (
        'f() { vllm serve m --n "$1"; }; f a; f b; f a; f a',
        ["m --n a", "m --n b"],
    ),
    "empty values that an argument loop fills": (
        (
            'M=; Q=; while [ $# -gt 0 ]; do case "$1" in -m) M="$2"; shift;; -q) Q=$2; shift;; *) exit 1;; esac; shift; done; '
            'vllm serve "$M" --n "$Q"'
        ),
        ["${M} --n ${Q}"],
    ),
    "empty values that getopts fills": (
        'M=; while getopts "m:" o; do case $o in m) M=$OPTARG;; esac; done; vllm serve "$M"',
        ["${M}"],
    ),
    "empty values that a loop over the arguments fills": (
        (
            'M=""; E=""; next=false; for a in "$@"; do if $next; then M="$a"; next=false; elif [ "$a" = --m ]; then next=true; '
            'else E="$E $a"; fi; done; vllm serve "$M" --end'
        ),
        ["${M} --end"],
    ),
    "a value that no argument fills": (
        'M=""; N=1; while [ $# -gt 0 ]; do case "$1" in -n) N="$2"; shift 2;; esac; done; vllm serve m --a "$M" --n $N',
        ["m --a  --n 1"],
    ),
    "a loop that is over no arguments": (
        'M=""; for x in a b; do M="$M$x"; done; vllm serve "$M"',
        ["ab"],
    ),
    "arguments in one value": ("N=$@; vllm serve m --n $N --end", ["m --n ${N} --end"]),
    "joined arguments in one value": ('N="$*"; vllm serve m --n $N --end', ["m --n ${N} --end"]),
    "arguments in a local value": ('f() { local N=${@:2}; vllm serve "$1" --n "$N" --end; }; f m "$@"', ["m --n ${N} --end"]),
    "known arguments in one value": ('f() { local N="$*"; vllm serve m --n $N; }; f 1 2', ["m --n 1 2"]),
    "a branch for an empty value that is never empty": (
        'if [ -n "$D" ]; then C="a"; else C="b"; fi; if [ -n "$C" ]; then vllm serve m --n x; else vllm serve m; fi',
        ["m --n x"],
    ),
    "an opposite test of a value that is never empty": (
        'case $D in on) C="a$D" ;; *) C=${D}c ;; esac; if [ -z "$C" ]; then vllm serve m; else vllm serve m --n x; fi',
        ["m --n x"],
    ),
    "a comparison of a value that is never empty": (
        'C=a; [ -n "$D" ] && C=b; if [[ $C == "" ]]; then vllm serve m; fi; [ "$C" != "" ] && vllm serve m --n x',
        ["m --n x"],
    ),
    "a bare test of a value that is never empty": (
        'C=a; if [ -n "$D" ]; then C=b; fi; if [ "$C" ]; then vllm serve m --n x; else vllm serve m; fi',
        ["m --n x"],
    ),
    "a value that may be empty": (
        'if [ -n "$D" ]; then C="a"; else C="$E"; fi; if [ -n "$C" ]; then vllm serve m --n x; else vllm serve m; fi',
        ["m --n x", "m"],
    ),
    "a value that is required before": (': "${M:?give a model}"; vllm serve ${M:+--n $M}', ["--n ${M}"]),
    "a value that is required in a word": ('echo "model: ${M:?}"; vllm serve m ${M:+--n "$M"}', ["m --n ${M}"]),
    "a value that may be empty where it is required": (': "${M?}"; vllm serve m ${M:+--n "$M"}', ["m "]),
    "a value that set -u requires": ('set -eu; echo "model: $M"; vllm serve ${M:+--n $M}', ["--n ${M}"]),
    "a value that nounset requires": ('set -o nounset; echo "${M}"; vllm serve ${M:+--n $M}', ["--n ${M}"]),
    "a value that set -u has not required": ('set -u; [ -n "${M:-}" ]; set +u; echo $M; vllm serve ${M:+--n $M}', [""]),
}


@together("name", list(CASES))
def test_words(name: str) -> None:
    script, expected = CASES[name]
    assert [" ".join([word.shown for word in launch.argv]) for launch in launches_in(script, "run.sh")] == expected
