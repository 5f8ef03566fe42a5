"""The few command substitutions whose output is plain: echo, printf, cat of a heredoc, basename, dirname."""

from __future__ import annotations

import re

from servelint.shell import commands, expand, lexer
from servelint.shell.arithmetic import integer
from servelint.shell.syntax import Node, Script
from servelint.text import EMPTY, Piece, Text, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.shell.evaluate import Evaluator

_PLAIN_OUTPUT = re.compile(r"\s*(echo|printf|cat|basename|dirname)\b")
_ECHO_OPTION = re.compile(r"-[neE]+")
_DIRECTIVE = re.compile(r"%(?:(%)|(s)|(-?0?\d{0,3})([di]))|\\([\\nt\"])")
_ESCAPES = {"\\": "\\", "n": "\n", "t": "\t", '"': '"'}


def output(shell: Evaluator, command: Text, whole: Text) -> Text:
    """What a command substitution prints, without the line ends after it; unknown where that needs running something."""
    nothing = Text((unknown(whole.shown, whole.span()),))
    if _PLAIN_OUTPUT.match(command.flat) is None:
        return nothing
    script = Script(command)
    statements = [child for child in script.root.children if child.is_named and child.type != "comment"]
    if len(statements) != 1 or script.root.has_error:
        return nothing
    outer = shell.script, shell.state
    shell.script, shell.state = script, shell.state.copy()
    found = _output(shell, statements[0])
    shell.script, shell.state = outer
    return nothing if found is None else found.cut(0, len(found.flat.rstrip("\n")))


def _output(shell: Evaluator, node: Node) -> Text | None:
    here: Text | None = None
    if node.type == "redirected_statement":
        redirects, body = node.children_by_field_name("redirect"), node.child_by_field_name("body")
        if body is None or len(redirects) != 1 or redirects[0].type != "heredoc_redirect":
            return None
        if any(child.type in ("pipeline", "command", "list", "&&", "||", "ERROR") for child in redirects[0].children):
            return None
        here, node = commands.heredoc(shell, redirects[0]), body
    if node.type != "command":
        return None
    found = lexer.command(shell.script.flat, node.start_byte)
    text = shell.script.text
    for start, end in found.strings:
        here = Text.join((expand.value(text.cut(start, end), shell), Text.of("\n")))
    words = [word for start, end in found.words for word in expand.words(text.cut(start, end), shell)]
    if any(word.many for word in words) or found.redirected or not words:
        return None
    name, args = words[0].value, [word.text for word in words[1:]]
    if name in shell.state.functions:
        return None
    if name == "cat":
        return here if not args else None
    if name == "echo":
        while args and _ECHO_OPTION.fullmatch(args[0].flat):
            if "e" in args[0].flat:
                return None
            args = args[1:]
        return spaced(args)
    if name == "printf":
        if len(args) > 2 and not all(arg.known for arg in args):
            return None  # an unknown argument may be several
        return formatted(args) if args and not args[0].flat.startswith("-") else None
    if name in ("basename", "dirname") and 1 <= len(args) <= 2 and not args[0].flat.startswith("-"):
        return _path_part(name, *args)
    return None


def spaced(texts: list[Text]) -> Text:
    """The texts with a space between them."""
    parts: list[Text] = []
    for text in texts:
        parts += [text, Text.of(" ")]
    return Text.join(parts[:-1]) if parts else EMPTY


def formatted(texts: list[Text]) -> Text | None:
    """What printf makes of a format and its arguments; None for a directive that is not read here."""
    form, args = texts[0], texts[1:]
    rest = _DIRECTIVE.sub("", form.flat)
    if "%" in rest or "\\" in rest or not form.known:
        return None
    parts: list[Text] = []
    while True:
        left = len(args)
        done = 0
        for match in _DIRECTIVE.finditer(form.flat):
            parts.append(form.cut(done, match.start()))
            done = match.end()
            if match.group(1) or match.group(5):
                parts.append(Text((Piece(match.group(1) or _ESCAPES[match.group(5)], form.span(match.start(), done)),)))
                continue
            arg, args = (args[0], args[1:]) if args else (EMPTY, [])
            if match.group(2):
                parts.append(arg)
                continue
            number = integer(arg.flat) if arg.flat[:1] != "0" or arg.flat == "0" else None
            if number is None:
                return None
            parts.append(Text((Piece(f"%{match.group(3)}d" % number, arg.span(), assumed=arg.assumed),)))
        parts.append(form.cut(done))
        if not args or len(args) == left:
            return Text.join(parts)


def _path_part(name: str, path: Text, suffix: Text = EMPTY) -> Text | None:
    flat = path.flat.rstrip("/")
    slash = flat.rfind("/")
    if name == "dirname":
        if suffix is not EMPTY or not path.known:
            return None
        if slash == -1 or not flat[:slash].strip("/"):
            return Text.of("/" if path.flat[:1] == "/" else ".", path.span())
        return path.cut(0, len(flat[:slash].rstrip("/")))
    base = path.cut(slash + 1, len(flat))
    if not base.known or not base.flat or not suffix.known:
        return None
    if suffix.flat and base.flat.endswith(suffix.flat) and base.flat != suffix.flat:
        return base.cut(0, len(base.flat) - len(suffix.flat))
    return base
