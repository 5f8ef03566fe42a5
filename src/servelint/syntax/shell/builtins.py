"""Shell builtins that change what a script runs."""

from __future__ import annotations

from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import HOLE, Text, unknown
from servelint.syntax.shell import conditions, outputs, patterns, reading
from servelint.syntax.shell.arithmetic import integer
from servelint.syntax.shell.idle import SILENT
from servelint.syntax.shell.state import BREAK, CONTINUE, EXIT, FAIL, FAILURE, RETURN, SUCCESS, UNSURE, Status
from servelint.syntax.shell.syntax import Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.walk import Evaluator

_CONTROL = {"exit": EXIT, "return": RETURN}
_LOOP = {"break": BREAK, "continue": CONTINUE}
_EVALUATED_AT_MOST = 20_000


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
        return conditions.single(words[1:] if name == "test" else words[1:-1], shell)
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
            target, text = words[2].text, outputs.formatted([word.text for word in words[3:]])
            many = any(word.many for word in words)
            shell.assign(target.flat, Text((unknown("${" + target.shown + "}", None),)) if text is None or many else text)
        return SUCCESS
    if name in ("read", "mapfile", "readarray"):
        reading.read(shell, name, words[1:], inline, here)
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
        pattern = patterns.read([(text.flat.replace(HOLE, ""), quoted) for text, quoted in parts])
        if pattern == [None]:
            return SUCCESS
        holds = pattern is not None and patterns.matches(pattern, subject.flat.replace(HOLE, ""))
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
