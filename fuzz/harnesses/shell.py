"""Shell scripts: their syntax, and the evaluator that follows them without running anything."""

from __future__ import annotations

from fuzz import grammar, vocabulary
from fuzz.case import Case
from fuzz.mutate import mutated
from fuzz.properties import of_a_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fuzz.chance import Chance

check = of_a_text

_WRAPPERS = ("shell",)
_NAMES = ("run.sh", "serve.sh", "prefix-caching-mtp.sh", "sglang-mtp.sh")
_VARIABLES = ("V", "W", "ARGS", "1", "@")
_WORDS = (
    "a", "'b c'", '"$V"', "$V", "${V:-d}", '"${ARGS[@]}"', "${V+x}", "${V%%/*}", "$((V + 1))", "$(echo a)", "`echo $V`", "{a,b}", "*.sh",
    "~", '"$@"', "$1", "${1:-m}", "$'x\\n'", "a\\ b", '"${#ARGS[@]}"', "${!W}", "${V@Q}", "--a=$V", "${V:?no}", "$UNKNOWN", "${V^}", "''",
)  # fmt: skip
_TESTS = ("[ -n \"$V\" ]", "[[ $V == a* ]]", "true", "false", "test -f x", "[[ -z ${W:-} && $V =~ ^a ]]", "(( V > 1 ))", "command -v vllm")


def make(chance: Chance) -> Case:
    if chance.often(0.5):
        return grammar.file(chance, _WRAPPERS, _NAMES)
    text = "".join([_statement(chance, 2) + "\n" for _ in range(1 + chance.below(3))])
    if "vllm" not in text:
        text += _command(chance) + "\n"
    whole = chance.often(0.5)
    return Case("run.sh", text if whole else mutated(chance, text), chance.below(1 << 16), whole=whole)


def _statement(chance: Chance, depth: int) -> str:
    kind = chance.below(18 if depth else 7)
    if kind < 3:
        return _command(chance)
    if kind < 5:
        return _assignment(chance)
    if kind == 5:
        return chance.pick(("shift", "set -e", "set -- a b", "cd x", ". ./env.sh", "exit 1", "unset V", "trap 'vllm serve z' EXIT", "wait", "return"))
    if kind == 6:
        return f"read {chance.pick(_VARIABLES[:3])} <<< {_word(chance)}"
    inner = _statement(chance, depth - 1)
    if kind == 7:
        return f"if {chance.pick(_TESTS)}; then\n{inner}\nelse\n{_statement(chance, depth - 1)}\nfi"
    if kind == 8:
        return f"for V in {_word(chance)} {_word(chance)}; do\n{inner}\ndone"
    if kind == 9:
        return f"while {chance.pick(_TESTS)}; do\n{inner}\n{chance.pick(('break', 'continue', 'shift'))}\ndone"
    if kind == 10:
        return f"case {_word(chance)} in\na|b*) {inner} ;;\n*) {_statement(chance, depth - 1)} ;;\nesac"
    if kind == 11:
        return f"f() {{\n{inner}\n}}\nf {_word(chance)}"
    if kind == 12:
        return f"({inner})"
    if kind == 13:
        return f"{inner} {chance.pick(('&&', '||', '|', '&'))} {_command(chance)}"
    if kind == 14:
        return f"cat > x.sh <<{chance.pick(('EOF', chr(39) + 'EOF' + chr(39)))}\n{inner}\nEOF\nbash x.sh {_word(chance)}"
    if kind == 15:
        return f"bash -c '{inner}'" if "'" not in inner else f"{{ {inner}; }}"
    if kind == 16:
        return f'eval "{inner}"' if '"' not in inner else f"{inner} > log 2>&1"
    return f"for ((i = 0; i < 2; i++)); do\n{inner}\ndone"


def _word(chance: Chance) -> str:
    return chance.pick(_WORDS)


def _assignment(chance: Chance) -> str:
    name = chance.pick(_VARIABLES[:3])
    kind = chance.below(6)
    if kind == 0:
        return f"{name}=({_word(chance)} {_word(chance)})"
    if kind == 1:
        return f"{name}+=({' '.join(grammar.option(chance, 'vllm'))})"
    if kind == 2:
        return f"export {name}={_word(chance)}"
    if kind == 3:
        return f"declare -a {name}"
    return f"{name}={_word(chance)}"


def _command(chance: Chance) -> str:
    words = [chance.pick(("vllm serve", "exec vllm serve", "python -m sglang.launch_server", "docker run vllm/vllm-openai:v0.27.1", "V=1 vllm serve"))]
    words += [_word(chance) for _ in range(chance.below(3))]
    if chance.often(0.5):
        words += grammar.option(chance, "vllm")
    if chance.often(0.1):
        words.append(f'"${vocabulary.UNKNOWN}"')
    return " ".join(words)
