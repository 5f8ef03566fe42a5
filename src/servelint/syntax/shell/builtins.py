"""Shell builtins that change what a script runs: `cd`, `set`, `shift`, `source`, `eval`, `read`, `exit` and others."""

from __future__ import annotations

import re
from functools import partial, reduce

from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import EMPTY, HOLE, TracedText, unknown
from servelint.syntax.shell import commands, conditions, parameters
from servelint.syntax.shell.arithmetic import integer
from servelint.syntax.shell.recipe import delimiter, fields_of
from servelint.syntax.shell.state import (
    BREAK,
    CONTINUE,
    EXIT,
    FAIL,
    FAILURE,
    RETURN,
    SUCCESS,
    UNSURE,
    Status,
    is_own,
    unsure_items,
)
from servelint.syntax.shell.syntax import Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.syntax.shell.evaluate import Evaluator

SILENT = frozenset((
    ":", "alias", "disown", "echo", "hash", "pwd", "sleep", "times", "true", "type", "ulimit", "umask", "wait",
))  # fmt: skip
"""Builtins that set nothing that an engine sees, and succeed."""
_EVALUATED_AT_MOST = 20_000
_WHITE = " \t\n"


def run(
    shell: Evaluator, name: str, words: list[Word], inline: dict[str, TracedText], site: Span | None, here: TracedText | None
) -> Status | None:
    """Apply a builtin to the state; None if the command is not a builtin."""
    if name in SILENT:
        if shell.printed is not None and name in ("echo", "pwd"):
            text = commands.printed(shell, words, here)
            shell.printed.texts.append(text if text is not None else TracedText((unknown("$(" + name + ")", site),)))
        return SUCCESS
    if (handler := _HANDLERS.get(name)) is not None:
        return shell.call_with(inline, partial(handler, shell, words)) if inline and name == "eval" else handler(shell, words)
    if name == "exec":
        return _exec(shell, words[1:], inline, site, here)
    if name in ("command", "builtin"):
        if len(words) < 2 or words[1].shown.startswith("-"):
            return UNSURE
        return shell.invoke(words[1:], inline, site, here, functions=False)
    if name == "time" and len(words) > 1:
        # a keyword of bash, a command elsewhere
        rest = words[2:] if words[1].shown == "-p" and len(words) > 2 else words[1:]
        return shell.invoke(rest, inline, site, here)
    if name in ("read", "mapfile", "readarray"):
        _read(shell, name, words[1:], inline, here)
        return UNSURE
    return None


def _leave(shell: Evaluator, words: list[Word]) -> Status:
    """`exit` and `return`."""
    name = words[0].value
    number = integer(words[1].value or "") if words[1:] else None
    shell.state.status = (shell.last if not words[1:] else UNSURE) if number is None else FAILURE if number else SUCCESS
    shell.state.control = RETURN if name == "return" else FAIL if number else EXIT
    return shell.state.status


def _leave_loop(shell: Evaluator, words: list[Word]) -> Status:
    """`break` and `continue`."""
    if shell.loops:
        count = integer(words[1].value or "") if len(words) > 1 else 1
        shell.state.control = BREAK if words[0].value == "break" else CONTINUE
        shell.state.levels = min(max(count or 1, 1), shell.loops)
    return SUCCESS


def _test(shell: Evaluator, words: list[Word]) -> Status:
    return conditions.single(words[1:] if words[0].value == "test" else words[1:-1], shell)


def _let(shell: Evaluator, words: list[Word]) -> Status:
    status = UNSURE
    for word in words[1:]:
        status = shell.arithmetic_status(word.text)
    return status


_END = re.compile(r"(?:[^%\\A-Za-z]|\\n)*$")
"""What a format of `printf` ends with, behind its last directive."""


def _printf(shell: Evaluator, words: list[Word]) -> Status:
    if len(words) > 3 and words[1].value == "-v":
        given = words[4:] if words[3].value == "--" else words[3:]
        target, text = words[2].text, commands.formatted([word.text for word in given]) if given else None
        many = any(word.many for word in words)
        shell.assign(target.flat, TracedText((unknown("${" + target.shown + "}", None),)) if text is None or many else text)
    elif shell.printed is not None:
        text = commands.printed(shell, words, None)
        if text is None:
            end = _END.search(words[1].text.flat) if len(words) > 1 else None
            after = end.group().replace("\\n", "\n") if end is not None else ""
            text = TracedText.join((TracedText((unknown("$(printf)", words[0].site),)), TracedText.of(after)))
        shell.printed.texts.append(text)
    return SUCCESS


_CONTAINERS = frozenset(("docker", "nerdctl", "podman"))


def _exec(
    shell: Evaluator, words: list[Word], inline: dict[str, TracedText], site: Span | None, here: TracedText | None
) -> Status:
    while words and re.fullmatch("-[cl]*[acl]", words[0].shown):
        words = words[2 if words[0].shown.endswith("a") else 1 :]
    if not words:
        return SUCCESS
    broken = shell.lost is not None and words[0].shown in _CONTAINERS
    shell.invoke(words, inline, site, here, functions=False)
    if not broken:  # a `docker run` that ends before its image: what was meant as its rest looks like commands that follow
        shell.state.control = EXIT
    return SUCCESS


def _cd(shell: Evaluator, words: list[Word]) -> Status:
    """Note where relative paths start after `cd`, `pushd` or `popd`."""
    name, *words = [word for word in words if word.shown not in ("--", "-P", "-L", "-q")]
    state = shell.state
    apart = len(words) != 1 or (words[0].many and not is_own(words[0].text))
    if name.value == "popd" or apart or words[0].shown in ("-", ""):
        state.folder = None
        return SUCCESS
    path = words[0].text
    if path.pieces[0].expression is not None or path.flat.startswith(("/", "~")):
        state.folder = path
    elif path.known and state.folder is not None:
        state.folder = TracedText.join((state.folder, TracedText.of("/"), path))
    else:
        state.folder = None
    return SUCCESS


def _source(shell: Evaluator, words: list[Word]) -> Status:
    """`source FILE [ARGS]`: a file beside the script, or one that the script has written, is evaluated."""
    if len(words) < 2:
        return UNSURE
    key = shell.key(words[1].text)
    if (text := shell.state.files.read(key)) is not None and key is not None and text.known:
        return shell.run_file(key, text, words[2:] or None)
    # what another file sets is unknown to servelint; a virtual environment's own script sets nothing that an engine reads
    if not words[1].shown.endswith("/activate"):
        shell.state.sourced = True
    return UNSURE


def _eval(shell: Evaluator, words: list[Word]) -> Status:
    text = TracedText.join([part for word in words[1:] for part in (word.text, TracedText.of(" "))])
    if len(text.flat) > _EVALUATED_AT_MOST:
        return UNSURE
    outer, place, floor = shell.script, shell.evaluated, shell.floor
    shell.script, shell.evaluated, shell.floor = Script(text), place or words[0].site, shell.reads
    status = shell.visit(shell.script.root)
    shell.script, shell.evaluated, shell.floor = outer, place, floor
    return status


_SIGNALS = {"0": "EXIT", "1": "HUP", "2": "INT", "3": "QUIT", "15": "TERM"}


def _signal(word: Word) -> str:
    """The name of a signal without SIG, also of one that is given by its number."""
    name = word.shown.upper().removeprefix("SIG")
    return _SIGNALS.get(name, name)


def _trap(shell: Evaluator, words: list[Word]) -> Status:
    """`trap COMMAND SIGNAL...`: the command is run when the script ends, `-` takes it back."""
    given = words[2:] if words[1:] and words[1].value == "--" else words[1:]
    if len(given) > 1 and not given[0].shown.startswith("-") and given[0].shown:
        shell.traps.update({_signal(signal): given[0] for signal in given[1:]})
    elif len(given) > 1:
        for signal in given[1:]:
            shell.traps.pop(_signal(signal), None)
    return SUCCESS


def _shopt(shell: Evaluator, words: list[Word]) -> Status:
    if any(word.value == "nocasematch" for word in words):
        shell.ignores_case = any(word.value == "-s" for word in words)
    return SUCCESS


def run_traps(shell: Evaluator) -> None:
    """Run each command of a trap that is still set once, with what is set at the end of the script."""
    for command in {id(word): word for word in shell.traps.values()}.values():
        shell.state.control = None
        _eval(shell, [command, command])


def _set(shell: Evaluator, words: list[Word]) -> Status:
    at = 1
    while at < len(words):
        shown = words[at].shown
        if shown in ("--", "-") or shown[:1] not in ("-", "+"):
            at += shown in ("--", "-")
            break
        on = shown[0] == "-"
        if "a" in shown[1:]:
            shell.state.all_exported = on
        if "u" in shown[1:]:
            shell.state.nounset = on
        if "e" in shown[1:]:
            shell.state.errexit = on
        at += 1
        if shown.endswith("o") and at < len(words):
            if words[at].shown == "allexport":
                shell.state.all_exported = on
            elif words[at].shown == "nounset":
                shell.state.nounset = on
            elif words[at].shown == "errexit":
                shell.state.errexit = on
            at += 1
    else:
        return SUCCESS
    if words[at:] or words[at - 1].shown == "--":
        shell.state.args = words[at:]
    return SUCCESS


def _shift(shell: Evaluator, words: list[Word]) -> Status:
    count = integer(words[1].value or "") if words[1:] else 1
    args = shell.state.args
    if args is None:
        return UNSURE
    if count is None or count < 0 or any(word.many for word in args[:count]):
        shell.state.args = None
        return UNSURE
    if count > len(args):
        if any(word.many for word in args):
            shell.state.args = None
            return UNSURE
        return FAILURE
    shell.state.args = args[count:]
    return SUCCESS


def _getopts(shell: Evaluator, words: list[Word]) -> Status:
    """`getopts`: without arguments it finds no option; with arguments, the options that it finds are unknown."""
    args = shell.state.args
    if args == []:
        return FAILURE
    for name in ("OPTARG", "OPTIND", *[word.shown for word in words[2:3]]):
        shell.assign(name, TracedText((unknown("${" + name + "}", None),)))
    return Status(False, assumed=True) if args is None and not shell.calls else Status(None, likely=False)


_HANDLERS: dict[str, Callable[[Evaluator, list[Word]], Status]] = {
    "false": lambda _shell, _words: FAILURE,
    "exit": _leave,
    "return": _leave,
    "break": _leave_loop,
    "continue": _leave_loop,
    "test": _test,
    "[": _test,
    "cd": _cd,
    "pushd": _cd,
    "popd": _cd,
    "source": _source,
    ".": _source,
    "eval": _eval,
    "shopt": _shopt,
    "trap": _trap,
    "set": _set,
    "shift": _shift,
    "let": _let,
    "getopts": _getopts,
    "printf": _printf,
}


def matches(subject: TracedText, items: list[TracedText], shell: Evaluator, written: TracedText) -> Status:
    """Whether a `case` subject, which is written so, matches one of an item's patterns."""
    statuses: list[Status] = []
    for raw in items:
        parts = shell.pattern(raw)
        pattern = parameters.read_pattern([(text.flat.replace(HOLE, ""), quoted) for text, quoted in parts])
        if pattern == [None]:
            return SUCCESS
        holds = pattern is not None and parameters.matches(pattern, subject.flat.replace(HOLE, ""))
        read = pattern is not None and all(text.known for text, _ in parts)
        if pattern is not None and read and not subject.known and parameters.surely_matches(pattern, subject.flat):
            holds = True
            known = True
        else:
            known = subject.known and read
        known = known and (holds or not shell.ignores_case)
        assumed = subject.assumed or any(text.assumed for text, _ in parts)
        status = Status(holds if known else None, holds, assumed)
        if shell.world is not None:
            literal = parameters.literal(pattern) if pattern is not None else None
            status = shell.world.test(status, "=" if literal is not None else "case", [written, raw], shell, literal)
        statuses.append(status)
    if shell.world is not None and statuses:
        return reduce(conditions.either, statuses)
    for status in statuses:
        if status.value:
            return status
    if undecided := [status for status in statuses if status.value is None]:
        return Status(None, any(status.likely for status in undecided))
    return Status(False, assumed=any(status.assumed for status in statuses))


# -- `read` and `mapfile`: what they store of a heredoc or a here-string; unknown for any other input


class _Options:
    """The options of `read` and the names after them."""

    def __init__(self, words: list[Word], with_value: str) -> None:
        self.given: dict[str, str | None] = {}
        at = 0
        while at < len(words) and words[at].shown.startswith("-") and len(words[at].shown) > 1:
            letters = words[at].shown[1:]
            at += 1
            for index, letter in enumerate(letters):
                if letter in with_value:
                    rest = letters[index + 1 :]
                    self.given[letter] = rest or (words[at].value if at < len(words) else None)
                    at += 0 if rest else 1
                    break
                self.given[letter] = ""
        self.names = [word.shown for word in words[at:] if word.shown.isidentifier()]


def _read(shell: Evaluator, name: str, words: list[Word], inline: dict[str, TracedText], here: TracedText | None) -> None:
    if name != "read":
        _lines(shell, _Options(words, "dnOsuCc"), here)
        return
    options = _Options(words, "adinNptu")
    array = options.given.get("a")
    separators = inline["IFS"].value if "IFS" in inline else shell.separators()
    line = _input_line(options, here) if separators is not None else None
    if array:
        fields = fields_of(line, separators) if line is not None else unsure_items(array)
        shell.set(shell.resolved(array), fields)
        return
    names = options.names or ["REPLY"]
    texts = _split_line(line, separators or "", len(names)) if line is not None else None
    for index, variable in enumerate(names):
        shell.assign(variable, TracedText((unknown("${" + variable + "}", None),)) if texts is None else texts[index])


def _input_line(options: _Options, here: TracedText | None) -> TracedText | None:
    """The line that `read` takes from its input; None if that is not known."""
    if here is None or not here.known or set(options.given) - set("adrs"):
        return None
    delimiter = options.given.get("d", "\n")
    end = here.flat.find(delimiter) if delimiter else -1
    line = here if delimiter is None or end == -1 else here.cut(0, end)
    return None if delimiter is None or ("\\" in line.flat and "r" not in options.given) else line


def _split_line(line: TracedText, separators: str, count: int) -> list[TracedText]:
    """The line's fields for a number of names: the last one takes what is left."""
    white = "".join([char for char in separators if char in _WHITE])
    flat = line.flat
    line = line.cut(len(flat) - len(flat.lstrip(white)), len(flat.rstrip(white))) if white else line
    between = delimiter(separators) if separators else None
    texts: list[TracedText] = []
    while len(texts) < count - 1:
        match = between.search(line.flat) if between is not None else None
        end, start = match.span() if match is not None else (len(line.flat), len(line.flat))
        texts.append(line.cut(0, end))
        line = line.cut(start)
    match = between.search(line.flat) if between is not None else None
    if match is not None and match.end() == len(line.flat):
        line = line.cut(0, match.start())  # a separator that ends the last field
    return [*texts, line]


def _lines(shell: Evaluator, options: _Options, here: TracedText | None) -> None:
    name = shell.resolved(options.names[0] if options.names else "MAPFILE")
    if here is None or not here.known or set(options.given) != {"t"}:
        shell.set(name, unsure_items(name))
        return
    found: list[Word] = []
    at = 0
    while at < len(here.flat):
        end = here.flat.find("\n", at)
        end = len(here.flat) if end == -1 else end
        found.append(Word(here.cut(at, end) if end > at else EMPTY))
        at = end + 1
    shell.set(name, found)
