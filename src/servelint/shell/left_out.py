"""Commands that are passed by: nobody reads what they print, and the walk is the same without them."""

from __future__ import annotations

import re

from servelint import limits
from servelint.shell.files import TOUCHING
from servelint.shell.idle import PRINTING, tame
from servelint.shell.simple import Assignment, Simple
from servelint.shell.state import SUCCESS, UNSURE, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.shell.syntax import Node, Script
    from servelint.shell.walk import Evaluator

STEPS = 4
"""To look at the words of a command that starts something takes as long as so many."""
VARIABLES_A_STEP = 50
"""So many exported variables take as long to hand to a command, and so many items of arrays to join after a branch."""
AFTER_HEREDOC = frozenset(("command", "pipeline", "list", "redirected_statement", "compound_statement"))
"""What follows `<<EOF` on its line hangs on the redirection."""
_LOCAL = "local"
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def passed_by(shell: Evaluator, found: Simple) -> Status | None:
    """The status of a command that can be left out; None if it has to be run."""
    name = found.shape.idle
    if name is None:
        return None
    status = _function(shell, name) if name in shell.state.functions else _program(shell, name)
    if status is not None and found.site is not None and found.site.source is shell.home:
        shell.anchor = found.site
    return status


def uncalled(shell: Evaluator, name: str) -> bool:
    """Whether a function can be left out that nothing calls."""
    return _function(shell, name) is not None


def _program(shell: Evaluator, name: str) -> Status | None:
    if name in PRINTING:
        return SUCCESS
    if name not in shell.unheard or name in TOUCHING:
        return None
    shell.worked(STEPS + len(shell.state.exported) // VARIABLES_A_STEP)
    return UNSURE


def _function(shell: Evaluator, name: str) -> Status | None:
    called: set[str] = set()
    status = _body(shell, name, (*shell.calls, name), called)
    if status is not None:
        shell.called |= called
        shell.last = status
    return status


def _body(shell: Evaluator, name: str, calls: tuple[str, ...], called: set[str]) -> Status | None:
    """The status of a function all of whose commands can be left out. calls: the functions that are being run, and it"""
    if len(calls) > limits.CALLS.most or calls.count(name) > 1:
        return None
    script, body = shell.state.functions[name]
    names = _names(script, body)
    if names is None:
        return None
    called.add(name)
    status: Status | None = SUCCESS
    for one in names:
        if one == _LOCAL:
            status = SUCCESS
        elif one in shell.state.functions:
            status = _body(shell, one, (*calls, one), called)
        else:
            status = _program(shell, one)
        if status is None:
            return None
    shell.worked(len(names))
    return status


def _names(script: Script, body: Node) -> list[str] | None:
    """The names of the commands of a function; None if one of them has to be run whatever it is."""
    if body.start_byte not in script.names:
        named = [None if node.background else _name(script, node) for node in body.parts]
        braces = body.type == "compound_statement" and body.children[0].type == "{"
        known = [name for name in named if name is not None]
        script.names[body.start_byte] = known if braces and known and len(known) == len(named) else None
    return script.names[body.start_byte]


def _name(script: Script, node: Node) -> str | None:
    if node.type == "declaration_command":
        return _LOCAL if _is_local(script.simple(node.start_byte)) else None
    if node.type == "redirected_statement":
        first = node.field("body")
        if first is None or first.type != "command" or not all(_harmless(script, one) for one in node.fields("redirect")):
            return None
    elif node.type != "command":
        return None
    return script.simple(node.start_byte).shape.idle


def _is_local(found: Simple) -> bool:
    """`local NAME NAME=VALUE`: undone when the function ends."""
    if not found.all_words or found.all_words[0].text.flat != _LOCAL:
        return False
    for declared in found.declared:
        if isinstance(declared, Assignment):
            if declared.index is not None or declared.array or not tame(declared.value.text.flat):
                return False
        elif _NAME.fullmatch(declared.text.flat) is None:
            return False
    return True


def _harmless(script: Script, redirect: Node) -> bool:
    """Whether a redirection sets nothing; what it writes the command's words tell."""
    if redirect.type != "heredoc_redirect":
        return True
    body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
    start = next((child for child in redirect.children if child.type == "heredoc_start"), None)
    if body is None or start is None or any(child.type in AFTER_HEREDOC or child.type == "||" for child in redirect.children):
        return False
    flat = script.flat[body.start_byte : body.end_byte]
    return start.text[:1] in ("'", '"', "\\") or not ("$" in flat or "`" in flat)
