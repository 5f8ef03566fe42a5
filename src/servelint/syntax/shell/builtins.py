"""Shell builtins that change what a script runs."""

from __future__ import annotations

from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import EMPTY, HOLE, Text, unknown
from servelint.syntax.shell import commands, conditions, parameters
from servelint.syntax.shell.arithmetic import integer
from servelint.syntax.shell.recipe import fields_of
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
    unsure_items,
)
from servelint.syntax.shell.syntax import Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.evaluate import Evaluator

_CONTROL = {"exit": EXIT, "return": RETURN}
_LOOP = {"break": BREAK, "continue": CONTINUE}
SILENT = frozenset((
    ":", "alias", "disown", "echo", "hash", "pwd", "shopt", "sleep", "times", "trap", "true", "type", "ulimit", "umask", "wait",
))  # fmt: skip
"""Builtins that set nothing that an engine sees, and succeed."""
_EVALUATED_AT_MOST = 20_000
_WHITE = " \t\n"


def run(
    shell: Evaluator, name: str, words: list[Word], inline: dict[str, Text], site: Span | None, here: Text | None
) -> Status | None:
    """Do what a builtin does to the state. None if the command is no builtin."""
    if name == "false":
        return FAILURE
    if name in _CONTROL:
        return _leave(shell, name, words[1:])
    if name in _LOOP:
        if shell.loops:
            count = integer(words[1].value or "") if len(words) > 1 else 1
            shell.state.control, shell.state.levels = _LOOP[name], min(max(count or 1, 1), shell.loops)
        return SUCCESS
    if name in SILENT:
        return SUCCESS
    if name in ("test", "["):
        return conditions.single([word.text for word in (words[1:] if name == "test" else words[1:-1])], shell)
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
    if name in ("cd", "pushd", "popd"):
        _cd(shell, name, words[1:])
        return SUCCESS
    if name in ("source", "."):
        return _source(shell, words[1:])
    if name == "eval":
        return _eval(shell, words[1:])
    if name == "set":
        _set(shell, words[1:])
        return SUCCESS
    if name == "shift":
        return _shift(shell, words[1:])
    if name == "let":
        status = UNSURE
        for word in words[1:]:
            status = shell.arithmetic_status(word.text)
        return status
    if name == "getopts":
        return _getopts(shell, words[1:])
    if name == "printf":
        if len(words) > 3 and words[1].value == "-v":
            target, text = words[2].text, commands.formatted([word.text for word in words[3:]])
            many = any(word.many for word in words)
            shell.assign(target.flat, Text((unknown("${" + target.shown + "}", None),)) if text is None or many else text)
        return SUCCESS
    if name in ("read", "mapfile", "readarray"):
        _read(shell, name, words[1:], inline, here)
        return UNSURE
    return None


def _leave(shell: Evaluator, name: str, words: list[Word]) -> Status:
    """`exit` and `return`."""
    number = integer(words[0].value or "") if words else None
    shell.state.status = (shell.last if not words else UNSURE) if number is None else SUCCESS if number == 0 else FAILURE
    shell.state.control = FAIL if name == "exit" and number else _CONTROL[name]
    return shell.state.status


def _exec(shell: Evaluator, words: list[Word], inline: dict[str, Text], site: Span | None, here: Text | None) -> Status:
    while words and words[0].shown in ("-c", "-l", "-a"):
        words = words[2 if words[0].shown == "-a" else 1 :]
    if not words:
        return SUCCESS
    shell.invoke(words, inline, site, here, functions=False)
    shell.state.control = EXIT
    return SUCCESS


def _cd(shell: Evaluator, name: str, words: list[Word]) -> None:
    """Where relative paths start afterwards."""
    words = [word for word in words if word.shown not in ("--", "-P", "-L", "-q")]
    state = shell.state
    if name == "popd" or len(words) != 1 or words[0].many or words[0].shown in ("-", ""):
        state.folder = None
        return
    path = words[0].text
    if path.pieces[0].expression is not None or path.flat.startswith(("/", "~")):
        state.folder = path
    elif path.known and state.folder is not None:
        state.folder = Text.join((state.folder, Text.of("/"), path))
    else:
        state.folder = None


def _source(shell: Evaluator, words: list[Word]) -> Status:
    """`source FILE [ARGS]`: a file beside the script, or one that the script has written, is evaluated."""
    if not words:
        return UNSURE
    key = shell.key(words[0].text)
    text = shell.state.files.read(key)
    if text is not None and key is not None and text.known:
        return shell.run_file(key, text, words[1:] if len(words) > 1 else None)
    # what another file sets is not known here; a virtual environment's own script sets nothing that an engine reads
    if not words[0].shown.endswith("/activate"):
        shell.state.sourced = True
    return UNSURE


def _eval(shell: Evaluator, words: list[Word]) -> Status:
    parts: list[Text] = []
    for word in words:
        parts += [word.text, Text.of(" ")]
    text = Text.join(parts)
    if len(text.flat) > _EVALUATED_AT_MOST:
        return UNSURE
    outer = shell.script
    shell.script = Script(text)
    status = shell.visit(shell.script.root)
    shell.script = outer
    return status


def _set(shell: Evaluator, words: list[Word]) -> None:
    at = 0
    while at < len(words):
        shown = words[at].shown
        if shown in ("--", "-") or shown[:1] not in ("-", "+"):
            at += shown in ("--", "-")
            break
        on = shown[0] == "-"
        if "a" in shown[1:]:
            shell.state.all_exported = on
        at += 1
        if shown.endswith("o") and at < len(words):
            if words[at].shown == "allexport":
                shell.state.all_exported = on
            at += 1
    else:
        return
    shell.state.args = words[at:]


def _shift(shell: Evaluator, words: list[Word]) -> Status:
    count = integer(words[0].value or "") if words else 1
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
    """No option is found without arguments; which ones are found with them is not worked out."""
    args = shell.state.args
    if args is None and not shell.calls:
        return Status(False, assumed=True)
    if args == []:
        return FAILURE
    for name in ("OPTARG", "OPTIND", *[word.shown for word in words[1:2]]):
        shell.assign(name, Text((unknown("${" + name + "}", None),)))
    return Status(None, likely=False)


def matches(subject: Text, items: list[Text], shell: Evaluator) -> Status:
    """Whether a `case` subject matches one of an item's patterns."""
    statuses: list[Status] = []
    for raw in items:
        parts = shell.pattern(raw)
        pattern = parameters.read_pattern([(text.flat.replace(HOLE, ""), quoted) for text, quoted in parts])
        if pattern == [None]:
            return SUCCESS
        holds = pattern is not None and parameters.matches(pattern, subject.flat.replace(HOLE, ""))
        known = subject.known and pattern is not None and all(text.known for text, _ in parts)
        assumed = subject.assumed or any(text.assumed for text, _ in parts)
        statuses.append(Status(holds if known else None, holds, assumed))
    for status in statuses:
        if status.value:
            return status
    undecided = [status for status in statuses if status.value is None]
    if undecided:
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


def _read(shell: Evaluator, name: str, words: list[Word], inline: dict[str, Text], here: Text | None) -> None:
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
        shell.assign(variable, Text((unknown("${" + variable + "}", None),)) if texts is None else texts[index])


def _input_line(options: _Options, here: Text | None) -> Text | None:
    """What is read of the input; None if that is not known."""
    if here is None or not here.known or set(options.given) - set("adrs"):
        return None
    delimiter = options.given.get("d", "\n")
    end = here.flat.find(delimiter) if delimiter else -1
    line = here if delimiter is None or end == -1 else here.cut(0, end)
    return None if delimiter is None or ("\\" in line.flat and "r" not in options.given) else line


def _split_line(line: Text, separators: str, count: int) -> list[Text] | None:
    """The line's fields for a number of names: the last one takes what is left."""
    white = "".join([char for char in separators if char in _WHITE])
    flat = line.flat
    line = line.cut(len(flat) - len(flat.lstrip(white)), len(flat.rstrip(white))) if white else line
    if white != separators and any(char in line.flat for char in separators):
        return None
    texts: list[Text] = []
    while len(texts) < count - 1:
        flat = line.flat
        end = next((at for at, char in enumerate(flat) if char in white), len(flat))
        texts.append(line.cut(0, end))
        line = line.cut(end)
        line = line.cut(len(line.flat) - len(line.flat.lstrip(white))) if white else line
    return [*texts, line]


def _lines(shell: Evaluator, options: _Options, here: Text | None) -> None:
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
