"""Scripts of functions that set, read and pass on all kinds of things, and somebody who edits them."""

from __future__ import annotations

import random

_NAMES = ("start", "prepare", "log", "settings", "args", "die")
_VARIABLES = ("MODEL", "PORT", "EXTRA", "LEN", "x", "IFS", "FILE")
_VALUES = (
    "Qwen/Qwen3-8B", "8000", '"$MODEL"', "${PORT:-8001}", "$1", '"$@"', "--enforce-eager", "${x}", "''", "$(cat run.env)", "4",
    "a,b", "$(dirname $0)", "${EXTRA[@]}", "$((LEN * 2))", "$(basename $FILE)", "${!x}", "${MODEL//\\//-}", "run.env",
)  # fmt: skip
_TESTS = ("[[ -n $x ]]", "[ -f $FILE ]", '[[ $1 == "a" ]]', "(( LEN > 2 ))", "true", "[[ ${PORT:-} = 8000 ]]", "running", "$x")
_LAUNCHES = (
    'vllm serve "$MODEL" --port $PORT --swap-space 4',
    "vllm serve Qwen/Qwen3-8B $EXTRA",
    'docker run --gpus all -e A=$x vllm/vllm-openai:v0.27.1 --model "$MODEL" "${EXTRA[@]}" --max-model-len $LEN',
    "python3 -m sglang.launch_server --model-path $1 --tp-size ${LEN} --enable-foo",
    'MODEL=x vllm serve "$MODEL" &',
    'bash -c "vllm serve $MODEL"',
    'exec vllm serve "$@"',
)
_LINES = (
    "{var}={value}", "{var}={value}", "export {var}={value}", "local {var}={value}", "{var}+={value}", "EXTRA+=({value})",
    "EXTRA=({value} {value})", "unset {var}", "{name} {value}", "{name} {value}", "{name}", "echo {value} > run.env",
    "echo 'MODEL={value}' >> run.sh", "source ./run.sh", ". run.env", "cd {value}", "shift", "return", "return 1", "exit 1",
    "set -a", "read -r {var} <<< {value}", "printf -v {var} %s {value}", 'eval "{var}={value}"', "{test} && {name} {value}",
    "{test} || die {value}", "pip install vllm==0.9.1", "declare -n ref={var}", "trap {name} EXIT", "{launch}", "{launch}",
    "{launch}", "rm -f run.env", "set -- {value} {value}", "{name} | tee log", "( {name} )", "{name} &",
    "{var}=$({name})", "# a remark", "cp run.env other.env", "", "sleep 1", "tee run.env <<< {value}",
    "mapfile -t EXTRA < run.env",
)  # fmt: skip
_TYPED = ("x", " ", '"', "'", "\n", "$x", "}", "#", "--seed 1", "PORT=1\n", "\\", "; exit\n", "start\n", "(", "fi\n", "\t", "é")


def _line(chance: random.Random) -> str:
    return chance.choice(_LINES).format(
        var=chance.choice(_VARIABLES),
        value=chance.choice(_VALUES),
        name=chance.choice(_NAMES),
        test=chance.choice(_TESTS),
        launch=chance.choice(_LAUNCHES),
    )


def _block(chance: random.Random, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(chance.randint(1, 5)):
        kind = chance.random()
        if depth and kind < 0.2:
            lines += [f"if {chance.choice(_TESTS)}; then", *_block(chance, depth - 1), "fi"]
        elif depth and kind < 0.27:
            lines += [f"for x in {chance.choice(_VALUES)} b; do", *_block(chance, depth - 1), "done"]
        elif depth and kind < 0.32:
            lines += ["case $1 in", "  a)", *_block(chance, depth - 1), "  ;;", "  *) log b ;;", "esac"]
        elif depth and kind < 0.35:
            lines += [f"while {chance.choice(_TESTS)}; do", *_block(chance, depth - 1), "done"]
        elif kind < 0.38:
            lines += ["cat > run.sh <<EOF", _line(chance), _line(chance), "EOF"]
        else:
            lines.append(_line(chance))
    return lines


def script(chance: random.Random) -> str:
    """A script in which much hangs on each other."""
    lines = ["#!/bin/bash"]
    for _ in range(chance.randint(2, 6)):
        if chance.random() < 0.7:
            lines += [f"{chance.choice(_NAMES)}() {{", *_block(chance, 2), "}"]
        else:
            lines += _block(chance, 1)
    return "\n".join([*lines, chance.choice(_NAMES) + ' "$@"', *_block(chance, 1)]) + "\n"


def edited(text: str, chance: random.Random) -> str:
    """The text after one edit: something typed, taken out, a line more, one less, or two in each other's place."""
    kind = chance.random()
    at = chance.randrange(len(text) + 1)
    lines = text.split("\n")
    row = chance.randrange(len(lines))
    if kind < 0.35:
        return text[:at] + chance.choice(_TYPED) + text[at:]
    if kind < 0.55:
        return text[:at] + text[at + chance.choice((1, 1, 1, 5, 40)) :]
    if kind < 0.75:
        return "\n".join([*lines[:row], _line(chance), *lines[row:]])
    if kind < 0.85:
        return "\n".join([*lines[:row], *lines[row + 1 :]])
    other = chance.randrange(len(lines))
    lines[row], lines[other] = lines[other], lines[row]
    return "\n".join(lines)
