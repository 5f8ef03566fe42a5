"""What the evaluation of a script does not run changes nothing: what follows has the same words and the same files."""

from __future__ import annotations

import pytest

from servelint.core.launch import Word
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.syntax.shell.branches import World
from servelint.syntax.shell.evaluate import Invocation, evaluate

UNHEARD = frozenset(("cp", "curl", "kill", "mkdir", "rm", "tail", "tee"))


def followed(script: str) -> list[str]:
    """The words of each `vllm` that a script runs."""
    found: list[str] = []

    def note(words: list[Word]) -> None:
        if words[0].text.flat == "vllm":
            found.append(" ".join([word.shown for word in words]))

    source = Source("run.sh", script)
    evaluate(TracedText.at(source, 0, len(script)), lambda ran: note(ran.words), unheard=UNHEARD)
    return found


CHANGING = {
    "a default that is set": 'echo "${V:=a}"',
    "arithmetic that counts": 'V=1; echo "$((V++))"',
    "a variable that is printed into": "printf -v V %s a",
    "a function that sets": "f() { echo; V=a; }; f",
    "a function that sets what another one declares": "g() { V=a; }; f() { local W; g; }; f",
    "a loop over a variable that is not the function's": "f() { for V in a b; do echo $V; done; }; f",
    "a condition that sets": 'if [ -n "${V:=a}" ]; then echo; fi',
    "a condition with arithmetic that sets": "if (( V = 1 )); then echo; fi",
    "a loop that reads": "while read -r V; do echo $V; done < list",
    "a case that sets": "case a in a) V=a ;; esac",
    "a function with the name of a builtin": "echo() { V=a; }; echo",
    "what a list does": "if curl x; then curl y && V=a; fi",
    "a function with the name of a program": "docker() { V=a; }; f() { docker stop x; }; f",
    "what another verb of a program does": 'f() { docker run "${V:=a}"; }; f',
}


@pytest.mark.parametrize("script", CHANGING.values(), ids=CHANGING)
def test_what_sets_a_variable_is_run(script: str) -> None:
    assert followed(f"unset V; {script}\nvllm +$V") != ["vllm +"]


def test_a_loop_over_what_is_not_known_changes_what_its_second_round_changes() -> None:
    known: list[bool] = []
    script = 'V=; W=; for I in $LIST; do if [ -n "$W" ]; then V=a; fi; W=b; done\nvllm "+$V"'
    source = Source("run.sh", script)
    evaluate(TracedText.at(source, 0, len(script)), lambda ran: known.append(ran.words[1].text.known))
    assert known == [False]


WRITING = {
    "a redirection": "echo 'vllm a' > x.sh",
    "a copy": "echo 'vllm a' > y.sh; cp y.sh x.sh",
    "a function": "f() { echo 'vllm a' > x.sh; }; f",
    "a statement": "if curl x; then echo 'vllm a' > x.sh; fi",
    "what is read from": "f() { echo 'vllm a' | tee x.sh; }; f",
}


@pytest.mark.parametrize("script", WRITING.values(), ids=WRITING)
def test_what_writes_a_file_is_run(script: str) -> None:
    source = Source("run.sh", script)
    assert [one.flat for one in evaluate(TracedText.at(source, 0, len(script)), lambda _: None, unheard=UNHEARD)][-1:] == [
        "vllm a\n"
    ]


LEAVING = {
    "exit": "if true; then exit; fi",
    "a function that exits": "die() { echo; exit 1; }; die",
    "break": "for i in 1; do if true; then break; fi; vllm never; done; exit",
    "a function that returns": "f() { return; vllm never; }; f; exit",
    "a function that leaves where it is certain": "leave() { echo; exit 0; }; false || leave",
}


@pytest.mark.parametrize("script", LEAVING.values(), ids=LEAVING)
def test_what_leaves_is_run(script: str) -> None:
    assert followed(f"{script}\nvllm after") == []


@pytest.mark.parametrize(
    "names", [("EXIT", "0"), ("INT", "SIGINT"), ("sigterm", "15"), ("2", "Int"), ("HUP", "1"), ("3", "SIGQUIT")]
)
def test_a_trap_is_taken_back_by_any_name_of_its_signal(names: tuple[str, str]) -> None:
    assert followed(f"trap 'vllm a' {names[0]}") == ["vllm a"]
    for one, other in (names, names[::-1]):
        assert followed(f"trap 'vllm a' {one}; trap - {other}") == []
        assert followed(f"trap 'vllm a' {one} USR1; trap - {other}") == ["vllm a"]


def test_the_status_of_a_function_is_that_of_its_last_command() -> None:
    assert followed("f() { curl x; echo; }; f || vllm no; f && vllm yes") == ["vllm yes"]
    assert followed("f() { return 1; }; f && vllm no; f || vllm yes") == ["vllm yes"]


def test_what_only_prints_changes_nothing() -> None:
    script = 'log() { local at=$1; printf "%s %s" "$(date)" "$*" >&2; }\nlog a "$X"\nmkdir -p "$X" > /dev/null\nvllm serve m\n'
    assert followed(script) == ["vllm serve m"]


def test_waiting_changes_nothing() -> None:
    wait = (
        "wait_for() {\n"
        "  local port=$1 i\n"
        "  for i in 1 2 3; do\n"
        '    if curl -sf "http://localhost:$port/health"; then return 0; fi\n'
        "    sleep 5\n"
        "  done\n"
        "  return 1\n"
        "}\n"
        "wait_for 8000\n"
        "until curl -s localhost; do sleep 1; done\n"
    )
    assert followed(wait + "vllm serve m\n") == ["vllm serve m"]


def test_stopping_changes_nothing() -> None:
    stop = (
        "stop() {\n"
        "  local name=$1\n"
        '  docker stop -t 30 "$name" > /dev/null\n'
        '  if [[ -e $name.pid ]]; then kill "$(cat "$name.pid")" || true; rm -f "$name.pid"; fi\n'
        "}\n"
        "stop chat\n"
    )
    assert followed(stop + "vllm serve m\n") == ["vllm serve m"]


def test_a_file_that_was_written_is_gone_when_it_is_removed() -> None:
    script = "echo 'V=a' > x.sh\nf() { rm x.sh; }\nf\n. ./x.sh\nvllm +$V\n"
    assert followed(script.replace("f\n.", ".")) == ["vllm +a"]
    assert followed(script) == ["vllm +${V}"]


def test_a_function_that_may_leave_with_a_message() -> None:
    die = 'die() {\n  echo "$*" >&2\n  exit 1\n}\ncurl x || die "no x"\n'
    assert followed(die + "vllm serve m\n") == ["vllm serve m"]
    assert followed(die + "true || vllm never\ncurl x && die\nvllm serve m\n") == ["vllm serve m"]


def test_looking_for_programs_changes_nothing() -> None:
    need = (
        'die() {\n  echo "$*" >&2\n  exit 1\n}\n'
        'need() {\n  local tool\n  for tool in "$@"; do\n    command -v "$tool" > /dev/null || die "no $tool"\n  done\n}\n'
        "need curl jq\n"
    )
    assert followed(need + "vllm serve m\n") == ["vllm serve m"]


LEFT = {
    "where it is certain that a command fails": ("f() { false || leave; }", []),
    "where a command is a function": ("curl() { return 1; }; f() { curl || leave; }", []),
    "where it is not known whether one fails": ("f() { curl || leave; }", ["vllm after"]),
    "where both are known to go on": ("f() { echo || leave; }", ["vllm after"]),
    "in a function that leaves": ("f() { curl || true; leave; }", []),
}


@pytest.mark.parametrize(("script", "after"), LEFT.values(), ids=LEFT)
def test_what_may_leave_in_a_function(script: str, after: list[str]) -> None:
    assert followed(f"leave() {{ echo; exit 0; }}; {script}; f\nvllm after\n") == after


def test_functions_that_call_each_other() -> None:
    depth = "".join([f"f{at}() {{\n{f'f{at + 1}' + chr(10)}{f'f{at + 1}' + chr(10)}}}\n" for at in range(200)])
    assert followed(f"{depth}f200() {{ echo; }}\nf195\nvllm serve m\n") == ["vllm serve m"]


def test_a_function_that_calls_itself_is_run() -> None:
    assert followed("f() { echo; f; }\nf\nvllm serve m\n") == ["vllm serve m"]


def test_a_function_that_stays_as_it_is_has_its_places() -> None:
    """What is kept of a command from one text to the next has no places."""
    for lines in range(5):
        script = "\n" * lines + "start() {\n  vllm serve m --port $1\n}\nstart 8000\n"
        source = Source("run.sh", script)
        ran: list[Invocation] = []
        evaluate(TracedText.at(source, 0, len(script)), ran.append)
        assert [(one.site.line, one.site.text) for one in ran] == [(lines + 2, "vllm serve m --port $1")]


def test_a_file_may_be_sourced_again() -> None:
    script = '. "$(dirname "$0")/a.sh" 1\n. "$(dirname "$0")/a.sh" 2\nvllm serve m --port 3\n'
    source = Source("run.sh", script)
    ran: list[str] = []
    evaluate(
        TracedText.at(source, 0, len(script)),
        lambda one: ran.append(" ".join([word.shown for word in one.words])),
        files=lambda path: Source(path, "vllm serve m --port $1\n"),
    )
    assert ran == ["vllm serve m --port 1", "vllm serve m --port 2", "vllm serve m --port 3"]


def test_a_run_takes_its_steps_from_those_of_its_world() -> None:
    script = "for i in 1 2 3; do echo $i; done\n"
    world = World({}, {}, set())
    world.steps = 1000
    evaluate(TracedText.at(Source("run.sh", script), 0, len(script)), lambda _: None, world=world)
    assert 0 < world.steps < 1000 - 3


@pytest.mark.parametrize("braces", ["{" * 2_000 + ",", "{a,b}" * 20, "{1..99999}"])
def test_words_with_too_many_braces_are_not_known(braces: str) -> None:
    source = Source("run.sh", f"vllm {braces} c")
    found: list[list[str | None]] = []
    evaluate(TracedText.at(source, 0, len(source.text)), lambda ran: found.append([word.value for word in ran.words]))
    assert found == [["vllm", None, "c"]]
