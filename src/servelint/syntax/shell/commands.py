"""Simple commands: their words, inline environment and redirections; what a function call and a heredoc make of them."""

from __future__ import annotations

import re

from servelint.core import bounds
from servelint.core.launch import Word
from servelint.core.text import EMPTY, Text
from servelint.syntax.shell import expand, idle, left_out, outputs, pure
from servelint.syntax.shell.assignments import assigned
from servelint.syntax.shell.state import SUCCESS, UNSURE, Status, Value
from servelint.syntax.shell.tree import Node
from servelint.syntax.shell.words import nothing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.walk import Evaluator

_WORDS_A_STEP = 10
_TABS = re.compile(r"^\t+", re.MULTILINE)


def redirected(shell: Evaluator, node: Node) -> Status:
    body = node.field("body")
    here: Text | None = None
    after: list[Node] = []
    likely = True
    simple = body is None or body.type == "command"
    for redirect in node.fields("redirect"):
        if redirect.type == "heredoc_redirect":
            here = heredoc(shell, redirect)
            after += [child for child in redirect.parts if child.type in pure.AFTER_HEREDOC]
            likely = likely and all(child.type != "||" for child in redirect.children)
        elif redirect.type == "file_redirect" and not simple:
            target = redirect.field("destination")
            path = shell.script.cut(target) if target is not None else EMPTY
            if path.flat not in ("", idle.NOWHERE) and redirect.children[0].type in (">", ">>", "&>", ">|"):
                shell.write(expand.value(path, shell), None)
    status = command(shell, node, here) if body is None or body.type == "command" else shell.visit(body)
    if after and after[0].type == "pipeline" and after[0].children[0].type in ("|", "|&"):
        pipe(shell, outputs.printed_by(shell, node, here) if simple else None, after[0].parts)
    elif after:
        shell.branch(Status(None, likely), lambda: shell.each(after), lambda: None)
    return status


def pipe(shell: Evaluator, here: Text | None, nodes: list[Node]) -> Status:
    """Commands of which the first reads what one before them prints; None if that is not known. Each has a state of its own."""
    status = UNSURE
    for node in nodes:
        outer = shell.state
        shell.worked(2)
        shell.state = outer.copy()
        printed = outputs.printed_by(shell, node, here)
        status = command(shell, node, here) if node.type == "command" else shell.visit(node)
        outer.files = shell.state.files
        shell.state = outer
        here = printed
    return Status(None, likely=status.likely)


def heredoc(shell: Evaluator, redirect: Node) -> Text | None:
    start = next((child for child in redirect.children if child.type == "heredoc_start"), None)
    body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
    if start is None or body is None:
        return None
    raw = shell.script.cut(body)
    if redirect.children[0].type == "<<-":
        raw = _without_tabs(raw)
    return raw if start.text[:1] in ("'", '"', "\\") else expand.heredoc(raw, shell)


def _without_tabs(raw: Text) -> Text:
    kept: list[Text] = []
    done = 0
    for match in _TABS.finditer(raw.flat):
        kept.append(raw.cut(done, match.start()))
        done = match.end()
    return Text.join([*kept, raw.cut(done)])


def command(shell: Evaluator, node: Node, here: Text | None = None) -> Status:
    status, end = _simple(shell, node.start_byte, here)
    while end is not None and node.type == "command":
        # the grammar takes the line after several assignments (`A=1 B=2`) for their command
        following = next((child.start_byte for child in node.parts if child.start_byte > end), None)
        if following is None:
            break
        status, end = _simple(shell, following, here)
    return status


def _simple(shell: Evaluator, start: int, here: Text | None) -> tuple[Status, int | None]:
    """Run the simple command that starts at an offset; gives its status, and its end if it only assigns."""
    ground, flat = shell.script.ground, shell.script.flat
    found = shell.script.simple(start)
    shape = found.shape
    if shape.idle is not None:
        status = left_out.command(shell, found)
        if status is not None:
            return status, None
    if shape.cut:
        bounds.WORDS.reached(ground.extent(start, start + 1))
    values: dict[str, Value] = {}
    for assignment in found.assignments:
        name, value = assigned(shell, assignment)
        values[name] = value
    for string in found.strings:
        here = Text.join((string.value(shell), Text.of("\n")))
    words: list[Word] = []
    empty = shell.script.gaps
    last = start
    for index, word in enumerate(found.words):
        if empty:
            # in a text that is evaluated (`eval "$CMD"`) what was empty there has left only blanks
            low, high = found.ranges[index]
            words += [nothing() for at in empty if words and flat[at - 1 : at].isspace() and at < low and at > last]
            last = high
        words += word.words(shell)
        if len(words) > bounds.WORDS.most:
            bounds.WORDS.reached(ground.extent(start, found.ranges[index][1]))
            return UNSURE, None
    shell.worked(len(words) // _WORDS_A_STEP)
    for operator, path in found.files:
        if idle.writes(operator, path.text.flat):
            written = outputs.printed(shell, words, here) if words else Text(())
            shell.write(path.value(shell), written, operator.endswith(">>"))
    if words:
        inline = {name: value for name, value in values.items() if isinstance(value, Text)}
        shell.lost = found.lost
        return shell.invoke(words, inline, found.site, here), None
    for name, value in values.items():
        shell.set(name, value)
    return (UNSURE, None) if found.words else (SUCCESS, found.end)
