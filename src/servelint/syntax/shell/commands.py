"""Commands: assignments and declarations (`export`, `local`, `unset`), redirections, pipes, and what commands print."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core import bounds
from servelint.core.launch import Word
from servelint.core.text import EMPTY, HOLE, Piece, TracedText, spend, unknown
from servelint.syntax.shell import branches, expand, filters
from servelint.syntax.shell.arithmetic import integer
from servelint.syntax.shell.expand import Raw
from servelint.syntax.shell.parameters import UNPRINTABLE
from servelint.syntax.shell.recipe import joined
from servelint.syntax.shell.state import HERE, SUCCESS, UNSET, UNSURE, Status, Value, is_own, is_shell, own, unsure_items
from servelint.syntax.shell.syntax import NOWHERE, Assignment, Node, Script, writes
from servelint.syntax.shell.syntax import assignment as read
from servelint.syntax.shell.words import nothing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.evaluate import Evaluator

_NAME = re.compile(r"([A-Za-z_]\w*)(?:\[(.+)\])?", re.ASCII | re.DOTALL)
_LOCAL = ("local", "declare", "typeset")


_COMMAND_INSIDE = re.compile(r"\$\((?!\()|`")


def assignment(shell: Evaluator, node: Node) -> Status:
    """`name=value` as a statement, whose status is that of a command that gives the value: `if pid=$(pidof vllm)`."""
    shell.reads = shell.floor
    made = shell.script.assignment(node)
    if made is None:
        return SUCCESS
    name, value = _assigned(shell, made)
    shell.set(name, value)
    given = made.array or (isinstance(value, TracedText) and value.known)
    return SUCCESS if given or _COMMAND_INSIDE.search(made.value.text.flat) is None else UNSURE


def _assigned(shell: Evaluator, made: Assignment) -> tuple[str, Value]:
    """The name and the value of an assignment; `name[k]=v` gives the whole changed array."""
    name = shell.resolved(made.name)
    before = shell.state.variables.get(name)
    if made.adds or made.index is not None:
        shell.read_of(name)
    if made.index is not None:
        return name, _item(shell, name, made.index, made.value, made.adds)
    if made.array:
        return name, _array(shell, name, made, before if made.adds else None, isinstance(before, dict))
    text = _single(made.value.value(shell), name)
    if not made.adds and (isinstance(before, TracedText) or before is None):
        return name, TracedText.join((text,))
    if isinstance(before, dict) or (isinstance(before, list) and before and before[0].many):
        return name, unsure_items(name)
    if isinstance(before, list):
        # a name without an index is an array's first item
        first = TracedText.join((before[0].text, text)) if before and made.adds else text
        return name, [Word(first), *before[1:]]
    if isinstance(before, TracedText):
        return name, TracedText.join((before, text))
    return name, TracedText.join((TracedText((unknown("${" + name + "}", text.span(), shown=""),)), text))


def _single(text: TracedText, name: str) -> TracedText:
    """A value that is made of arguments that are not known: one unknown text, where the arguments are any number of words."""
    if not text.pieces or any(piece.expression is None or piece.shown or piece.perhaps for piece in text.pieces):
        return text
    return TracedText((unknown("${" + name + "}", text.span()),))


def _item(shell: Evaluator, name: str, index: TracedText, raw: Raw, append: bool) -> Value:
    """The array after `name[index]=raw`; unknown where it would have gaps."""
    before = shell.state.variables.get(name)
    old = (shell.item(name, index) or TracedText((unknown("${" + name + "}", None),))) if append else EMPTY
    text = TracedText.join((old, raw.value(shell)))
    if isinstance(before, dict):
        key = shell.expand(index, True).value
        return unsure_items(name) if key is None else {**before, key: text}
    at = shell.index(index)
    items = (
        before if isinstance(before, list) else [Word(before)] if isinstance(before, TracedText) and before is not UNSET else []
    )
    if at is None or not 0 <= at <= len(items) or any(word.many for word in items):
        return unsure_items(name)
    return [*items[:at], Word(text), *items[at + 1 :]]


def _array(shell: Evaluator, name: str, made: Assignment, before: Value | None, associative: bool) -> Value:
    """The array that `(...)` makes; before: what `+=` adds to."""
    items: list[Word] = list(before) if isinstance(before, list) else []
    if isinstance(before, TracedText) and before is not UNSET:
        items = [Word(before)]
    table: dict[str, TracedText] = dict(before) if isinstance(before, dict) else {}
    sure = True
    for key, raw in made.items:
        if key is None:
            items += raw.words(shell)
            continue
        value = raw.value(shell)
        if associative:
            known = shell.expand(key, True).value
            sure = sure and known is not None
            table[known or ""] = value
            continue
        at = shell.index(key)
        sure = sure and at is not None and 0 <= at <= len(items) and not any(word.many for word in items)
        if sure and at is not None:
            items[at : at + 1] = [Word(value)]
    if not sure or (associative and items):
        return unsure_items(name)
    return table if associative else items


def declaration(shell: Evaluator, node: Node) -> Status:
    """`export`, `declare`, `typeset`, `local`, `readonly`."""
    shell.reads = shell.floor
    found = shell.script.simple(node.start_byte)
    keyword = found.all_words[0].text.flat if found.all_words else ""
    flags = ""
    for declared in found.declared:
        if isinstance(declared, Assignment):
            _declare(shell, keyword, flags, declared.name, declared)
            continue
        for word in declared.words(shell):
            if word.shown[:1] in ("-", "+"):
                flags += word.shown
            elif _NAME.match(word.text.flat):
                made = read(word.text)
                _declare(shell, keyword, flags, made.name if made is not None else word.text.flat, made, quoted=True)
    return SUCCESS


def _declare(shell: Evaluator, keyword: str, flags: str, name: str, target: Assignment | None, quoted: bool = False) -> None:
    """Declare one name. `quoted`: the value is expanded already (`export "A=$B"`)."""
    if not name.isidentifier() or "f" in flags or "p" in flags:
        return
    state = shell.state
    if shell.local_names is not None and keyword in _LOCAL and "g" not in flags:
        if name not in shell.local_names and target is None:
            state.variables[name] = UNSET
        shell.local_names.add(name)
        state.aliases = {alias: target for alias, target in state.aliases.items() if alias != name}
    if "n" in flags and keyword != "export":
        known: str | None = ""
        if target is not None:
            known = (target.value.text if quoted else target.value.value(shell)).value
        state.aliases = {**state.aliases, name: known or ""}
        return
    if "A" in flags and not isinstance(state.variables.get(name), dict):
        state.variables[name] = {}
    elif "a" in flags and not isinstance(state.variables.get(name), list):
        state.variables[name] = []
    if any(flag in flags for flag in "ilu") and keyword != "export":
        state.typed |= {name}
    if target is not None:
        if quoted:
            shell.set(name, target.value.text)
        else:
            shell.set(*_assigned(shell, target))
    if (keyword == "export" and "n" in flags) or "+x" in flags:
        state.exported -= {name}
    elif keyword == "export" or "x" in flags:
        spend(4 * len(state.exported))
        state.exported |= {name}
        state.doubtful -= {name}


def unset(shell: Evaluator, node: Node) -> Status:
    """`unset`."""
    words = [word for raw in shell.script.simple(node.start_byte).all_words[1:] for word in raw.words(shell)]
    if any(word.shown.startswith("-") and "f" in word.shown for word in words):
        for word in words:
            shell.state.own_functions().pop(word.shown, None)
        return SUCCESS
    for word in words:
        match = _NAME.fullmatch(word.text.flat)
        if match is None:
            continue
        name = shell.resolved(match.group(1))
        if match.group(2) is None:
            shell.state.variables[name] = UNSET
            shell.state.exported -= {name}
            shell.state.typed -= {name}
        else:
            shell.state.variables[name] = _without(shell, name, word.text.cut(match.start(2), match.end(2)))
    return SUCCESS


def _without(shell: Evaluator, name: str, index: TracedText) -> Value:
    """An array without one item; unknown where that leaves a gap."""
    before = shell.state.variables.get(name)
    if isinstance(before, dict):
        return {key: text for key, text in before.items() if key != index.value}
    at = integer(index.value or "")
    if not isinstance(before, list) or at not in (-1, len(before) - 1) or any(word.many for word in before):
        return unsure_items(name)
    return before[:-1]


_WORDS_A_STEP = 10
_AFTER_HEREDOC = frozenset(("command", "pipeline", "list", "redirected_statement", "compound_statement"))
"""Nodes of what follows `<<EOF` on its line; the grammar puts them below the redirection."""
_TABS = re.compile(r"^\t+", re.MULTILINE)
_PLAIN_OUTPUT = re.compile(
    r"\s*(?:(?:echo|printf|cat|basename|dirname|cd|pwd|readlink|realpath|jq|"
    + "|".join(sorted({*filters.PROGRAMS, "envsubst", "sed"}))
    + r")\b|<(?![<(]))"
)
_FIRST = re.compile(r"\s*([^\s;&|<>()]+)")
_OUTPUTS = frozenset((">", ">>", ">|", ">&", "&>", "&>>", "1>", "1>>", "1>|", "1>&"))
"""Redirections after which a command prints nothing that a substitution takes."""
_FOLLOWED = frozenset(("[", "[[", "if", "case", "test", "{"))
_ECHO_OPTION = re.compile(r"-[neE]+")
_ECHO_ESCAPE = re.compile(r"\\(033|.)", re.DOTALL)
_ECHOED = {"\\": "\\", "n": "\n", "t": "\t", "e": "\033", "0": "\033"}
_DIRECTIVE = re.compile(r"%(?:(%)|([sq])|(-?0?[0-9]{0,3})([di]))|\\([\\nt\"])")
_PLAIN = re.compile(rf"[\w@%+:,./{HOLE}-]+")
_SPECIAL = re.compile(r"""[ !"$&'()*,;<>?\[\\\]^`{|}]|(?<![^=:])~|^\#""")
_ESCAPES = {"\\": "\\", "n": "\n", "t": "\t", '"': '"'}
_LINE_END = TracedText.of("\n")


def redirected(shell: Evaluator, node: Node, here: TracedText | None = None) -> Status:
    """A command with redirections and heredocs, and what follows a heredoc on its line. `here`: what a pipe gives it."""
    body = node.field("body")
    after: list[Node] = []
    likely = True
    simple = body is None or body.type == "command"
    written: list[tuple[TracedText, bool]] = []
    for redirect in node.fields("redirect"):
        if redirect.type == "heredoc_redirect":
            here = _heredoc(shell, redirect)
            after += [child for child in redirect.parts if child.type in _AFTER_HEREDOC]
            likely = likely and all(child.type != "||" for child in redirect.children)
        elif redirect.type == "file_redirect" and not simple:
            target = redirect.field("destination")
            path = shell.script.cut(target) if target is not None else EMPTY
            if path.flat not in ("", NOWHERE) and redirect.children[0].type in (">", ">>", "&>", ">|"):
                written.append((expand.value(path, shell), redirect.children[0].type == ">>"))
    outer = shell.printed
    group = _is_group(body)
    if (outer is not None or (written and group)) and not simple and any(_takes_output(one) for one in node.fields("redirect")):
        shell.printed = branches.Printed(into_file=True)
    lines = shell.printed if written and group and shell.printed is not None and shell.printed.into_file else None
    status = command(shell, node, here) if body is None or body.type == "command" else shell.visit(body)
    _write(shell, written, lines)
    shell.printed = outer
    if after and after[0].type == "pipeline" and after[0].children[0].type in ("|", "|&"):
        pipe(shell, _printed_by(shell, node, here) if simple else None, after[0].parts)
    elif after:
        shell.branch(Status(None, likely), lambda: shell.each(after), lambda: None, node)
        return Status(None, status.likely)
    return status


def _write(shell: Evaluator, files: list[tuple[TracedText, bool]], lines: branches.Printed | None) -> None:
    """Write what a group or a function has printed to files, each with whether it adds to it; None if that is not known."""
    for path, adds in files:
        plain = lines.text() if lines is not None else None
        script = plain is not None and is_shell(path.flat, plain.flat)
        shell.write(path, lines.text(script=True) if lines is not None and script else plain, adds)


def pipe(shell: Evaluator, here: TracedText | None, nodes: list[Node]) -> Status:
    """Run piped commands, each in a state of its own. `here`: what the first one reads; None if that is not known."""
    status = UNSURE
    reads, outer_printed = shell.floor, shell.printed
    for node in [part for one in nodes for part in _piped(one)]:
        outer = shell.state
        group = _is_group(node) or _calls_function(shell, node)
        shell.printed = branches.Printed() if group or outer_printed is not None else None
        shell.steps += 2
        shell.state = outer.copy()
        printed = _printed_by(shell, node, here)
        if node.type == "command":
            status = command(shell, node, here)
        else:
            status = redirected(shell, node, here) if node.type == "redirected_statement" else shell.visit(node)
        if group and shell.printed is not None:
            printed = shell.printed.text()
        outer.files, outer.installed = shell.state.files, shell.state.installed
        shell.state = outer
        here = printed
        reads |= shell.reads
    shell.reads, shell.printed = reads, outer_printed
    if shell.printed is not None:
        shell.printed.texts.append(here if here is not None else TracedText((unknown("$(|)", None),)))
    return Status(None, likely=status.likely)


def _piped(node: Node) -> list[Node]:
    """The commands of a part of a pipeline.

    The grammar puts what follows a heredoc's first `|` into a pipeline of its own, whose redirections are its last command's.
    """
    body = node.field("body") if node.type == "redirected_statement" else node
    return body.parts if body is not None and body.type == "pipeline" else [node]


def _is_group(node: Node | None) -> bool:
    """Whether a node is a group of commands whose output is followed: a substitution inside of it would not be."""
    groups = ("case_statement", "compound_statement", "for_statement", "if_statement", "subshell", "while_statement")
    return node is not None and node.type in groups and "$(" not in node.text and "`" not in node.text


def _calls_function(shell: Evaluator, node: Node) -> bool:
    """Whether a node is a call of a function whose output is not redirected."""
    if node.type != "command":
        return False
    found = shell.script.simple(node.start_byte)
    words = found.all_words
    return bool(words) and not found.files and words[0].text.flat in shell.state.functions


def _takes_output(redirect: Node) -> bool:
    """Whether a redirection is one of the standard output."""
    parts = [child.text for child in redirect.children[:2]]
    return "".join(parts) in _OUTPUTS or parts[0] in _OUTPUTS


def _heredoc(shell: Evaluator, redirect: Node) -> TracedText | None:
    start = next((child for child in redirect.children if child.type == "heredoc_start"), None)
    body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
    if start is None or body is None:
        return None
    raw = shell.script.cut(body)
    if redirect.children[0].type == "<<-":
        raw = raw.sub(_TABS, lambda _: EMPTY)
    if start.text[:1] in ("'", '"', "\\"):
        return raw
    outer, shell.writes_text = shell.writes_text, True
    text = expand.heredoc(raw, shell)
    shell.writes_text = outer
    return text


def command(shell: Evaluator, node: Node, here: TracedText | None = None) -> Status:
    """A simple command. `here`: what it reads from its standard input, None if that is not known."""
    status, end = _simple(shell, node.start_byte, here)
    while end is not None and node.type == "command":
        # the grammar takes the line after several assignments (`A=1 B=2`) for their command
        following = next((child.start_byte for child in node.parts if child.start_byte > end), None)
        if following is None:
            break
        status, end = _simple(shell, following, here)
    return status


def _simple(shell: Evaluator, start: int, here: TracedText | None) -> tuple[Status, int | None]:
    """Run the simple command that starts at an offset; gives its status, and its end if it only assigns."""
    text, flat = shell.script.text, shell.script.flat
    shell.reads = shell.floor
    found = shell.script.simple(start)
    if found.shape.cut:
        bounds.WORDS.reached(text.extent(start, start + 1))
    values: dict[str, Value] = {}
    for assignment in found.assignments:
        name, value = _assigned(shell, assignment)
        values[name] = value
    for string in found.strings:
        here = TracedText.join((string.value(shell), TracedText.of("\n")))
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
            bounds.WORDS.reached(text.extent(start, found.ranges[index][1]))
            return UNSURE, None
    if words and found.shape.open:
        words.append(Word(TracedText((unknown("...", None, ""),)), None, many=True))  # behind a quote that is never closed
    shell.steps += len(words) // _WORDS_A_STEP
    program = words[0].value if words else None
    by_function: list[tuple[TracedText, bool]] = []
    if found.files and program not in shell.state.functions:
        here = shell.read(program, here)
    for operator, path in found.files:
        if operator == "<" and path.text.flat.startswith("<("):
            found_here = output(shell, path.text.cut(2, len(path.text.flat) - 1), path.text)
            here = TracedText.join((found_here, _LINE_END)) if found_here.known and found_here.flat else here
        elif writes(operator, path.text.flat) and program in shell.state.functions:
            by_function.append((path.value(shell), operator.endswith(">>")))
        elif writes(operator, path.text.flat):
            written = printed(shell, words, here) if words else TracedText(())
            shell.write(path.value(shell), written, operator.endswith(">>"))
    if here is None and program in MANIFESTS:
        here = _of_process(shell, words)
    if words:
        inline = {name: value for name, value in values.items() if isinstance(value, TracedText)}
        shell.lost = found.lost
        outer, lines = shell.printed, branches.Printed(into_file=bool(by_function))
        if by_function or (outer is not None and any(operator in _OUTPUTS for operator, _ in found.files)):
            shell.printed = lines
        status = shell.invoke(words, inline, found.site, here)
        shell.printed = outer
        _write(shell, by_function, lines)
        return status, None
    for name, value in values.items():
        shell.set(name, value)
    return (UNSURE, None) if found.words else (SUCCESS, found.end)


MANIFESTS = frozenset(("docker", "docker-compose", "helm", "k3s", "kubectl", "microk8s", "oc", "podman"))
"""Programs that take manifests from a file or from their input."""


def _of_process(shell: Evaluator, words: list[Word]) -> TracedText | None:
    """What a process substitution prints among the words of a command: `kubectl apply -f <(envsubst < pod.yaml)`."""
    for site in [word.site for word in words if word.text.flat.startswith("<(") and word.site is not None]:
        whole = TracedText.at(site.source, site.start, site.end)
        if whole.flat.startswith("<(") and whole.flat.endswith(")"):
            printed = output(shell, whole.cut(2, len(whole.flat) - 1), whole)
            if printed.flat and (printed.known or len(printed.pieces) > 1):
                return TracedText.join((printed, _LINE_END))
    return None


_STARTS = re.compile(
    r"(?:^|[;&|({'\"\n]|\b(?:then|do|else)\s)\s*"
    r"(?:(?:sudo|env|nohup|exec|command|time|timeout|if|!|\$\{?\w+\}?|\w+=\S*)\s+(?:(?:-\S+|\d+[smh]?)\s+)*)*(?:[^\s=]*/)?"
    r"(?:(?:docker|podman|nerdctl)\s+(?:-\S+\s+)*(?:\w+\s+)?(?:run|create)"
    r"|vastai\s+create|runpodctl\s+create|kubectl\s+run|oc\s+run|gcloud|az\s+container|koyeb|lep|ssh|sbatch|sky\s+launch)\s"
    r"|(?<![&<>|\\])&(?![&>\d])"
)
"""What outlives the substitution that starts it and prints an id: `ID=$(docker run -d ...)`, `PID=$(serve & echo $!)`."""
_SERVES = re.compile(r"\b(?:serve|server|launch\w*|api_server)\b|\bpython[\d.]*\s+-m\s")
"""What may start a server that the substitution waits for: `OUT=$(vllm serve m)`."""


class _Inside:
    """What the characters of a command substitution tell of it.

    Attributes:
        functions: The functions that it prints (`declare -f`).
        first: Its first word.
        plain: Whether it starts with a program whose output is followed.
        starts: Whether it may start what outlives it.
        serves: Whether it may start a server that it waits for.
    """

    __slots__ = ("first", "functions", "plain", "serves", "starts")

    def __init__(self, flat: str) -> None:
        functions, first = _FUNCTIONS.fullmatch(flat), _FIRST.match(flat)
        self.functions: list[str] = functions[1].split() if functions is not None else []
        self.first: str | None = first[1] if first is not None else None
        self.plain = _PLAIN_OUTPUT.match(flat) is not None
        self.starts = _STARTS.search(flat) is not None
        self.serves = _SERVES.search(flat) is not None


@lru_cache(maxsize=1024)
def _inside(flat: str) -> _Inside:
    return _Inside(flat)


def output(shell: Evaluator, command: TracedText, whole: TracedText) -> TracedText:
    """What a command substitution prints, without trailing line ends; unknown if the command would have to be run."""
    nothing = TracedText((unknown(whole.shown, whole.span()),))
    made = _inside(command.flat)
    if made.functions and all(name in shell.state.functions for name in made.functions):
        return _definitions(shell, made.functions)
    if made.first in _FOLLOWED or made.first in shell.state.functions:  # a test, an `if`, a `case`, a function of the script
        return _captured(shell, command) or nothing
    found = _plain(shell, command) if made.plain else None
    if found is None:
        if made.starts or (made.serves and not shell.writes_text):
            _captured(shell, command)
        return nothing
    found = found.cut(0, len(found.flat.rstrip("\n")))
    return own(whole.shown, whole.span()) if is_own(found) and len(found.pieces) == 1 else found


def _plain(shell: Evaluator, command: TracedText) -> TracedText | None:
    """What a substitution of one plain statement prints; None if that is not known."""
    script = Script(command)
    statements = [child for child in script.root.children if child.is_named and child.type != "comment"]
    if len(statements) != 1 or (script.root.has_error and command.flat.lstrip()[:1] != "<"):
        return None
    outer = shell.script, shell.state
    shell.script, shell.state = script, shell.state.copy()
    found = _output(shell, statements[0])
    shell.script, shell.state = outer
    return found


_FUNCTIONS = re.compile(r"\s*(?:declare|typeset)\s+-f\s+([\w:.-]+(?:\s+[\w:.-]+)*)\s*")


def _definitions(shell: Evaluator, names: list[str]) -> TracedText:
    """What `declare -f` prints: functions, for a shell that is started elsewhere."""
    parts: list[TracedText] = []
    for name in names:
        script, body = shell.state.functions[name]
        parts += (TracedText.of(name + " () "), script.cut(body), _LINE_END)
        shell.called.add(name)
        shell.bodies.pop(name, None)
    return TracedText.join(parts[:-1])


def _captured(shell: Evaluator, command: TracedText) -> TracedText | None:
    """What the statements of a substitution print; None if that depends on a condition that is not decided."""
    outer, reads, before = (shell.script, shell.state, shell.on_path), shell.reads, set(shell.decisions)
    around, shell.printed = shell.printed, branches.Printed()
    shell.script, shell.state = Script(command), shell.state.copy()
    shell.state.errexit = False  # bash does not hand it on
    shell.visit(shell.script.root)
    printed, shell.printed = shell.printed, around
    shell.script, shell.state, shell.on_path = outer
    undecided = frozenset(shell.decisions) - before
    shell.reads |= reads | undecided
    found = printed.text()
    return None if undecided else found.cut(0, len(found.flat.rstrip("\n")))


def _output(shell: Evaluator, node: Node) -> TracedText | None:
    if node.type == "list":
        return _folder(shell, node)
    here: TracedText | None = None
    if node.type == "pipeline":
        for part in node.parts:
            here = _printed_by(shell, part, here)
            if here is None:
                return None
        return here
    if node.type == "redirected_statement":
        redirects, body = node.fields("redirect"), node.field("body")
        if len(redirects) != 1:
            return None
        if redirects[0].type == "heredoc_redirect":
            if body is None or any(
                child.type in ("pipeline", "command", "list", "&&", "||", "ERROR") for child in redirects[0].children
            ):
                return None
            here = _heredoc(shell, redirects[0])
        node = body if body is not None else node
    if node.type not in ("command", "redirected_statement", "file_redirect"):
        return None
    found = shell.script.simple(node.start_byte)
    for string in found.strings:
        here = TracedText.join((string.value(shell), _LINE_END))
    read: TracedText | None = None
    for operator, path in found.files:
        if operator in ("2>", "2>>"):
            continue
        if operator != "<" or read is not None:
            return None
        read = shell.content(path.value(shell))
        if read is None:
            return None
    words = [word for raw in found.all_words for word in raw.words(shell)]
    if not words:
        return read  # `$(<file)`
    return printed(shell, words, here if read is None else read)


def _folder(shell: Evaluator, node: Node) -> TracedText | None:
    """`cd FOLDER && pwd`, where the folder is known relative to the script's own."""
    commands_ = [child for child in node.children if child.is_named]
    if len(commands_) != 2 or not any(child.type == "&&" for child in node.children):
        return None
    first, second = [[raw.value(shell) for raw in shell.script.simple(child.start_byte).all_words] for child in commands_]
    first = [text for text in first if text.flat not in ("--", "-P")]
    if len(first) != 2 or first[0].flat != "cd" or [text.flat for text in second][:1] != ["pwd"]:
        return None
    return first[1] if is_own(first[1]) else None


def _printed_by(shell: Evaluator, node: Node, here: TracedText | None) -> TracedText | None:
    """What a command prints, given what it reads; None if that is not known."""
    if node.type != "command" and (node.type != "redirected_statement" or here is None):
        return _output(shell, node) if node.type == "redirected_statement" else None
    found = shell.script.simple(node.start_byte)
    if any(operator[:1] != "2" for operator, _ in found.files):
        return None
    for string in found.strings:
        here = TracedText.join((string.value(shell), _LINE_END))
    words = [word for raw in found.all_words for word in raw.words(shell)]
    if words and words[0].value == "tee":
        return here
    return printed(shell, words, here) if words else None


def printed(shell: Evaluator, words: list[Word], here: TracedText | None) -> TracedText | None:
    """The output of a command that prints its arguments or its input; None for any other."""
    name, args = words[0].value, [word.text for word in words[1:]]
    if name is None or name in shell.state.functions or (name not in ("cat", "echo") and any(word.many for word in words)):
        return None
    if name == "cat":
        if not args or (len(args) == 1 and args[0].flat == "-"):
            return here
        texts = [shell.content(arg) for arg in args]
        return TracedText.join([text for text in texts if text is not None]) if None not in texts else None
    if name == "echo":
        end, escapes = _LINE_END, False
        while args and _ECHO_OPTION.fullmatch(args[0].flat):
            escapes = escapes or "e" in args[0].flat
            end = EMPTY if "n" in args[0].flat else end
            args = args[1:]
        text = joined(args, " ")
        if escapes and any(match[1][0] not in _ECHOED for match in _ECHO_ESCAPE.finditer(text.flat)):
            return None
        if escapes:
            text = text.sub(_ECHO_ESCAPE, lambda match: TracedText.of(_ECHOED[match[1][0]], text.span(*match.span())))
        return TracedText.join((text, end))
    if name == "printf":
        if len(args) > 2 and not all(arg.known for arg in args):
            return None  # an unknown argument may be several
        if args and args[0].flat == "--":
            return formatted(args[1:]) if len(args) > 1 else None
        return formatted(args) if args and not args[0].flat.startswith("-") else None
    if name in ("basename", "dirname"):
        args = [arg for arg in args if arg.flat != "--"]
        return _path_part(name, *args) if 1 <= len(args) <= 2 and not args[0].flat.startswith("-") else None
    if name in ("readlink", "realpath"):
        args = [arg for arg in args if not arg.flat.startswith("-")]
        return args[0] if len(args) == 1 and is_own(args[0]) else None
    if name == "pwd":
        return shell.state.folder if shell.state.folder is not HERE else None
    if name == "jq":
        # the same JSON, written on one line
        shown = [arg.flat for arg in args]
        return shell.content(args[-1]) if len(args) == 3 and shown[0] in ("-c", "-rc", "-cr") and shown[1] == "." else None
    if name == "sed" and here is None and len(args) > 1 and args[-1].flat[:1] != "-":
        here, args = shell.content(args[-1]), args[:-1]  # `sed 's/IMAGE/.../' pod.yaml`
    if name == "sed" and here is not None:
        return filters.edited(args, here)
    if name == "envsubst" and here is not None:
        return _substituted(shell, args, here)
    if name in filters.PROGRAMS and all(text.known for text in args):
        read = here is not None and here.known
        made = filters.output(name, [text.flat for text in args], here.flat if here is not None and read else None)
        whole = TracedText.join([*args, here] if here is not None and read else args)
        return TracedText((Piece(made, whole.span(), assumed=whole.assumed),)) if made is not None else None
    return None


_SUBSTITUTED = re.compile(r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})", re.ASCII)


def _substituted(shell: Evaluator, args: list[TracedText], here: TracedText) -> TracedText | None:
    """What `envsubst` makes of its input: `$NAME` and `${NAME}` become the values that the script exports, else unknown.

    args: none, or the format whose names are the only ones that it replaces
    """
    if len(args) > 1 or any(arg.flat.startswith("-") for arg in args):
        return None
    only = {one.group("plain") or one.group("braced") for one in _SUBSTITUTED.finditer(args[0].flat)} if args else None

    def value(match: re.Match[str]) -> TracedText | None:
        name = match.group("plain") or match.group("braced")
        if only is not None and name not in only:
            return None
        given = shell.variable(name) if name in shell.state.exported else None
        return TracedText((unknown("${" + name + "}", here.span(*match.span())),)) if given is None else given

    return here.sub(_SUBSTITUTED, value)


def formatted(texts: list[TracedText]) -> TracedText | None:
    """What printf makes of a format and its arguments; None for a directive that this module does not read."""
    form, args = texts[0], texts[1:]
    rest = _DIRECTIVE.sub("", form.flat)
    if "%" in rest or "\\" in rest or not form.known:
        return None
    parts: list[TracedText] = []
    while True:
        left = len(args)
        done = 0
        for match in _DIRECTIVE.finditer(form.flat):
            parts.append(form.cut(done, match.start()))
            done = match.end()
            if match.group(1) or match.group(5):
                parts.append(TracedText.of(match.group(1) or _ESCAPES[match.group(5)], form.span(match.start(), done)))
                continue
            arg, args = (args[0], args[1:]) if args else (EMPTY, [])
            if match.group(2):
                if match.group(2) == "q" and _PLAIN.fullmatch(arg.flat) is None:
                    if not arg.known or UNPRINTABLE.search(arg.flat) is not None:
                        return None  # bash writes $'...'
                    arg = _escaped(arg)
                parts.append(arg)
                continue
            number = integer(arg.flat) if arg.flat[:1] != "0" or arg.flat == "0" else None
            if number is None:
                return None
            parts.append(TracedText((Piece(f"%{match.group(3)}d" % number, arg.span(), assumed=arg.assumed),)))
        parts.append(form.cut(done))
        if not args or len(args) == left:
            return TracedText.join(parts)


def _escaped(arg: TracedText) -> TracedText:
    """What `printf %q` writes: a backslash before each character that a shell would read as more than itself."""
    if not arg.flat:
        return TracedText.of("''", arg.span())
    return arg.sub(_SPECIAL, lambda match: TracedText.join((TracedText.of("\\"), arg.cut(*match.span()))))


def _path_part(name: str, path: TracedText, suffix: TracedText = EMPTY) -> TracedText | None:
    flat = path.flat.rstrip("/")
    slash = flat.rfind("/")
    if name == "dirname":
        if suffix is not EMPTY or (not path.known and not is_own(path)):
            return None
        if is_own(path) and not flat[1:].replace("/..", ""):
            return TracedText.join((path, TracedText.of("/..")))
        if slash == -1 or not flat[:slash].strip("/"):
            return TracedText.of("/" if path.flat[:1] == "/" else ".", path.span())
        return path.cut(0, len(flat[:slash].rstrip("/")))
    base = path.cut(slash + 1, len(flat))
    if not base.known or not base.flat or not suffix.known:
        return None
    if base.flat.endswith(suffix.flat) and base.flat != suffix.flat:
        return base.cut(0, len(base.flat) - len(suffix.flat))
    return base
