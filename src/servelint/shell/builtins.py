"""Shell builtins that change what a script runs, and the few command substitutions whose output is plain."""

from __future__ import annotations

import fnmatch
import posixpath
import re

from servelint.launch import Word
from servelint.shell import expand
from servelint.shell.conditions import binary, unary
from servelint.shell.state import BREAK, CONTINUE, EXIT, FAIL, FAILURE, RETURN, SUCCESS, UNSURE, Status
from servelint.shell.syntax import Node, Script
from servelint.source import Span
from servelint.text import EMPTY, HOLE, Text, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.shell.evaluate import Evaluator

_SILENT = frozenset(
    [
        "alias",
        "cd",
        "disown",
        "echo",
        "hash",
        "let",
        "popd",
        "printf",
        "pushd",
        "pwd",
        "sleep",
        "shopt",
        "times",
        "trap",
        "type",
        "ulimit",
        "umask",
        "wait",
    ]
)
_CONTROL = {"exit": EXIT, "return": RETURN, "break": BREAK, "continue": CONTINUE}
_PLAIN_OUTPUT = re.compile(r"\s*(echo|printf|cat|basename|dirname)\b")
_FORMAT = re.compile(r"^%s(?:\\n)?$")


def run(
    shell: Evaluator, name: str, words: list[Word], inline: dict[str, Text], site: Span | None, here: Text | None
) -> Status | None:
    """Do what a builtin does to the state. None if the command is no builtin."""
    if name in (":", "true"):
        return SUCCESS
    if name == "false":
        return FAILURE
    if name in _CONTROL:
        status = words[1].value if len(words) > 1 else None
        failed = name == "exit" and status is not None and status.isdigit() and int(status) > 0
        shell.state.control = FAIL if failed else _CONTROL[name]
        return SUCCESS
    if name in _SILENT:
        return SUCCESS
    if name in ("test", "["):
        return _test(shell, words[1:] if name == "test" else words[1:-1])
    if name == "exec":
        return _exec(shell, words[1:], inline, site, here)
    if name in ("command", "builtin"):
        if len(words) < 2 or words[1].shown.startswith("-"):
            return UNSURE
        return shell.invoke(words[1:], inline, site, here)
    if name in ("source", "."):
        # what another file sets is not known here; a virtual environment's own script sets nothing that an engine reads
        if len(words) > 1 and not words[1].shown.endswith("/activate"):
            shell.state.sourced = True
        return UNSURE
    if name == "eval":
        return _eval(shell, words[1:])
    if name == "set":
        _set(shell, words[1:])
        return SUCCESS
    if name == "shift":
        _shift(shell, words[1:])
        return SUCCESS
    if name == "getopts":
        return Status(False, assumed=True)
    if name in ("read", "mapfile", "readarray"):
        _read(shell, name, words[1:], here)
        return UNSURE
    return None


def _exec(shell: Evaluator, words: list[Word], inline: dict[str, Text], site: Span | None, here: Text | None) -> Status:
    while words and words[0].shown in ("-c", "-l", "-a"):
        words = words[2 if words[0].shown == "-a" else 1 :]
    if not words or words[0].shown.startswith((">", "<")):
        return SUCCESS
    shell.invoke(words, inline, site, here)
    shell.state.control = EXIT
    return SUCCESS


def _eval(shell: Evaluator, words: list[Word]) -> Status:
    parts: list[Text] = []
    for word in words:
        parts += [word.text, Text.of(" ")]
    text = Text.join(parts)
    outer = shell.script
    shell.script = Script(text)
    shell.visit(shell.script.root)
    shell.script = outer
    return UNSURE


def _set(shell: Evaluator, words: list[Word]) -> None:
    for index, word in enumerate(words):
        shown = word.shown
        if shown == "--":
            shell.state.args = words[index + 1 :]
            return
        if shown in ("-a", "-o") and (shown == "-a" or [after.shown for after in words[index + 1 :]][:1] == ["allexport"]):
            shell.state.all_exported = True
        elif shown in ("+a", "+o"):
            shell.state.all_exported = False


def _shift(shell: Evaluator, words: list[Word]) -> None:
    count = words[0].value if words else "1"
    args = shell.state.args
    if args is None:
        return
    if count is None or not count.isdigit() or any(word.many for word in args[: int(count)]):
        shell.state.args = None
    else:
        shell.state.args = args[int(count) :]


def _read(shell: Evaluator, name: str, words: list[Word], here: Text | None) -> None:
    names = [word.shown for word in words if word.shown.isidentifier()]
    for index, variable in enumerate(names):
        if name == "read" and here is not None and len(names) == 1:
            shell.set(variable, here.strip())
        elif name == "read" or index == 0:
            shell.set(variable, Text((unknown("${" + variable + "}", None),)))


def _test(shell: Evaluator, words: list[Word]) -> Status:
    texts = [word.text for word in words]
    if len(texts) == 3 and texts[0].value == "!":
        return _test(shell, words[1:]).negated()
    if len(texts) == 2 and texts[0].value is not None:
        return unary(texts[0].value, texts[1], shell.is_set)
    if len(texts) == 3 and texts[1].value is not None:
        return binary(texts[1].value, texts[0], texts[2])
    if len(texts) == 1:
        return unary("-n", texts[0], shell.is_set)
    return Status(None, likely=False)


def matches(subject: Text, patterns: list[Text], shell: Evaluator) -> Status:
    """Whether a `case` subject matches one of an item's patterns."""
    statuses: list[Status] = []
    for raw in patterns:
        pattern = shell.expand(raw, False)
        if pattern.flat == "*":
            return SUCCESS
        holds = fnmatch.fnmatchcase(subject.flat.replace(HOLE, ""), pattern.flat)
        known = subject.known and pattern.known
        statuses.append(Status(holds if known else None, holds, subject.assumed or pattern.assumed))
    for status in statuses:
        if status.value:
            return status
    undecided = [status for status in statuses if status.value is None]
    if undecided:
        return Status(None, any(status.likely for status in undecided))
    return Status(False, assumed=any(status.assumed for status in statuses))


def output(shell: Evaluator, command: Text, whole: Text) -> Text:
    """What a command substitution prints, where that needs no running: echo, printf %s, cat of a heredoc, basename, dirname."""
    nothing = Text((unknown(whole.shown, whole.span()),))
    if _PLAIN_OUTPUT.match(command.flat) is None:
        return nothing
    script = Script(command)
    statements = [child for child in script.root.children if child.is_named]
    if len(statements) != 1 or script.root.has_error:
        return nothing
    outer, shell.script = shell.script, script
    try:
        found = _output(shell, statements[0])
    finally:
        shell.script = outer
    return nothing if found is None else found


def _output(shell: Evaluator, node: Node) -> Text | None:
    here: Text | None = None
    if node.type == "redirected_statement":
        redirects, body = node.children_by_field_name("redirect"), node.child_by_field_name("body")
        if body is None or len(redirects) != 1 or redirects[0].type != "heredoc_redirect":
            return None
        here, node = shell.heredoc(redirects[0]), body
    if node.type != "command":
        return None
    words = [word for child in node.children if child.is_named for word in expand.words(shell.script.cut(child), shell)]
    if any(word.many for word in words):
        return None
    name, args = words[0].value, [word.text for word in words[1:]]
    if name == "cat":
        return Text.join([here.cut(0, len(here.flat.rstrip("\n")))]) if here is not None and not args else None
    if here is not None:
        return None
    if name == "echo":
        while args and args[0].value in ("-n", "-e", "-E"):
            if args[0].value == "-e":
                return None
            args = args[1:]
        return _spaced(args)
    if name == "printf" and len(args) == 2 and _FORMAT.match(args[0].flat):
        return args[1]
    if name in ("basename", "dirname") and len(args) == 1:
        return _path_part(name, args[0])
    return None


def _spaced(texts: list[Text]) -> Text:
    parts: list[Text] = []
    for text in texts:
        parts += [text, Text.of(" ")]
    return Text.join(parts[:-1]) if parts else EMPTY


def _path_part(name: str, path: Text) -> Text | None:
    flat = path.flat.rstrip("/")
    slash = flat.rfind("/")
    if name == "dirname":
        return path.cut(0, slash) if slash > 0 and path.known else None
    base = path.cut(slash + 1, len(flat))
    return base if base.known and posixpath.basename(flat) else None
