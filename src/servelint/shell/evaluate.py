"""Partial evaluation of a shell script over its syntax tree: which commands it runs, with which words and environment.

Nothing is executed. Where a condition cannot be decided, every branch is looked at for commands, and what the branches leave
different afterwards is unknown, shown as the branch leaves it that a run without arguments and without extra environment
takes. A default (`${V:-d}`) is taken, and branches that it rules out are still looked at.
"""

from __future__ import annotations

from collections.abc import Callable

from servelint.launch import ReleaseClaim, Word
from servelint.shell import arithmetic, assignments, builtins, expand, flow
from servelint.shell.state import EXIT, FAIL, RETURN, SUCCESS, UNSURE, State, Status, Value, join
from servelint.shell.syntax import Node, Script, name_of, parts
from servelint.source import Span
from servelint.text import EMPTY, Piece, Text, unknown

_STEPS_AT_MOST = 20_000
_CALLS_AT_MOST = 12
_AFTER_HEREDOC = frozenset(("command", "pipeline", "list", "redirected_statement", "compound_statement"))


class Invocation:
    """One command that the script runs: its words, the variables it exports to it, its place, and what was installed before.

    open_env: a script that was sourced before may export more
    likely:   a run without arguments and without extra environment comes here
    """

    __slots__ = ("env", "installed", "likely", "open_env", "site", "words")

    def __init__(
        self,
        words: list[Word],
        env: dict[str, Text],
        site: Span,
        installed: dict[str, ReleaseClaim],
        open_env: bool,
        likely: bool,
    ) -> None:
        self.words = words
        self.env = env
        self.site = site
        self.installed = installed
        self.open_env = open_env
        self.likely = likely


Found = Callable[[Invocation], "dict[str, ReleaseClaim] | None"]
"""Told of each command; may answer what the command installs, by engine."""


def evaluate(text: Text, found: Found, *, environment: dict[str, Text] | None = None, args: list[Word] | None = None) -> None:
    """Walk a script and report each command that it may run.

    environment: variables that are set before it starts. args: `$0` and what follows, None if nobody knows them.
    """
    shell = Evaluator(text, found, environment or {}, args)
    try:
        shell.visit(shell.script.root)
        shell.uncalled()
    except RecursionError:
        return  # nested beyond what a person writes; what was found before stands


class Evaluator:
    """One walk. Implements parameters.Scope for the expansions on its way."""

    def __init__(self, text: Text, found: Found, environment: dict[str, Text], args: list[Word] | None) -> None:
        self.script = Script(text)
        self.found = found
        self.state = State()
        self.state.variables.update(environment)
        self.state.exported = frozenset(environment)
        self.state.args = args[1:] if args is not None else None
        self.zero = args[0] if args else None
        self.steps = 0
        self.calls: list[str] = []
        self.called: set[str] = set()
        self.local_names: set[str] | None = None
        self.number_assumed = False
        self.on_path = True

    def uncalled(self) -> None:
        """Functions that nothing here calls may be called by whoever sources the file."""
        state = self.state
        self.on_path = False
        for name in list(state.functions):
            if name not in self.called:
                self.state = state.copy()
                self.state.control = None
                self.call(name, None)
        self.state = state

    # -- statements

    def visit(self, node: Node) -> Status:
        self.steps += 1
        if self.steps > _STEPS_AT_MOST:
            self.state.control = EXIT
        if self.state.control is not None:
            return UNSURE
        handler = _HANDLERS.get(node.type)
        return handler(self, node) if handler is not None else self.sequence(node)

    def sequence(self, node: Node) -> Status:
        return self.each(parts(node))

    def each(self, nodes: list[Node]) -> Status:
        status = SUCCESS
        for node in nodes:
            status = self.visit(node)
            if self.state.control is not None:
                break
        return status

    def branch(self, status: Status, yes: Callable[[], object], no: Callable[[], object]) -> None:
        """Run what a condition selects. Undecided: both, joined. Decided by a default: the other is looked at, and dropped.

        A branch that leaves the script is not followed when the other goes on.
        """
        if self.state.control is not None:
            return
        start = self.state
        if status.certain:
            self.state = start.copy()
            (yes if status.value else no)()
            if self.state.control == FAIL:
                # a script that gives up without arguments still starts an engine with them
                self.state = start
            return
        ends: list[State] = []
        on_path = self.on_path
        for way, likely in ((yes, status.likely), (no, not status.likely)):
            self.state = start.copy()
            self.on_path = on_path and likely
            way()
            ends.append(self.state)
        self.on_path = on_path
        taken, other = ends if status.likely else ends[::-1]
        if taken.ended and not other.ended:
            taken, other = other, taken
        # what a branch sets before it leaves a loop or a function is seen after it
        gone = other.control in (EXIT, FAIL) or (other.control == RETURN and not self.calls)
        decided = status.value is not None or gone
        self.state = taken if decided else join(taken, other)

    def call(self, name: str, args: list[Word] | None) -> Status:
        """Run a function's body with arguments; None if nobody knows them."""
        self.called.add(name)
        if len(self.calls) >= _CALLS_AT_MOST or self.calls.count(name) > 1:
            return UNSURE
        outer_script, outer_args, outer_locals = self.script, self.state.args, self.local_names
        before = dict(self.state.variables)
        self.script, body = self.state.functions[name]
        self.state.args = args
        names: set[str] = set()
        self.local_names = names
        self.calls.append(name)
        self.visit(body)
        self.calls.pop()
        self.script, self.state.args, self.local_names = outer_script, outer_args, outer_locals
        for local in names:
            if local in before:
                self.state.variables[local] = before[local]
            else:
                self.state.variables.pop(local, None)
        if self.state.control == RETURN:
            self.state.control = None
        return UNSURE

    # -- commands

    def set(self, name: str, value: Value) -> None:
        self.state.variables[name] = value
        if self.state.all_exported:
            self.state.exported |= {name}

    def redirected(self, node: Node) -> Status:
        body = node.child_by_field_name("body")
        extra: list[Node] = []
        here: Text | None = None
        after: list[Node] = []
        for redirect in node.children_by_field_name("redirect"):
            if redirect.type == "heredoc_redirect":
                here = self.heredoc(redirect)
                # what follows `<<EOF` on its line (`| vllm serve`, `&& ...`) hangs on the redirection
                extra += redirect.children_by_field_name("argument")
                after += [child for child in parts(redirect) if child.type in _AFTER_HEREDOC and child not in extra]
            elif redirect.type == "file_redirect":
                # the grammar hangs the words after a redirection on it; they belong to the command
                extra += redirect.children_by_field_name("destination")[1:]
        if body is None:
            return UNSURE
        status = self.command(body, extra, here) if body.type == "command" else self.visit(body)
        self.branch(UNSURE, lambda: self.each(after), _nothing)
        return status

    def heredoc(self, redirect: Node) -> Text | None:
        start = next((child for child in redirect.children if child.type == "heredoc_start"), None)
        body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
        if start is None or body is None:
            return None
        raw = self.script.cut(body)
        return raw if name_of(start)[:1] in ("'", '"', "\\") else expand.heredoc(raw, self)

    def command(self, node: Node, extra: list[Node] | None = None, here: Text | None = None) -> Status:
        inline: dict[str, Text] = {}
        ranges: list[tuple[int, int]] = []
        for child in parts(node):
            if child.type == "variable_assignment":
                name, value = assignments.assigned(self, child)
                inline[name] = value if isinstance(value, Text) else EMPTY
            elif child.type == "file_redirect":
                ranges += [(part.start_byte, part.end_byte) for part in child.children_by_field_name("destination")[1:]]
            elif child.type not in ("heredoc_redirect", "herestring_redirect"):
                if ranges and ranges[-1][1] == child.start_byte:
                    # the grammar cuts some words in two (`a:$B`); with nothing between them they are one
                    ranges[-1] = (ranges[-1][0], child.end_byte)
                else:
                    ranges.append((child.start_byte, child.end_byte))
        ranges += [(part.start_byte, part.end_byte) for part in extra or []]
        words = [word for start, end in ranges for word in expand.words(self.script.text.cut(start, end), self)]
        if not words:
            for name, text in inline.items():
                self.set(name, text)
            return SUCCESS
        site = self.script.text.extent(node.start_byte, max(node.end_byte, extra[-1].end_byte if extra else 0))
        return self.invoke(words, inline, site, here)

    def invoke(self, words: list[Word], inline: dict[str, Text], site: Span | None, here: Text | None) -> Status:
        name = words[0].value
        if name is not None:
            if name in self.state.functions:
                return self.call_with(name, words[1:], inline)
            done = builtins.run(self, name, words, inline, site, here)
            if done is not None:
                return done
        self.report(words, inline, site)
        return UNSURE

    def call_with(self, name: str, args: list[Word], inline: dict[str, Text]) -> Status:
        before = {key: self.state.variables.get(key) for key in inline}
        exported = self.state.exported
        self.state.variables.update(inline)
        self.state.exported |= frozenset(inline)
        status = self.call(name, args)
        self.state.exported = exported
        for key, value in before.items():
            if value is None:
                self.state.variables.pop(key, None)
            else:
                self.state.variables[key] = value
        return status

    def report(self, words: list[Word], inline: dict[str, Text], site: Span | None) -> None:
        if site is None:
            return
        env: dict[str, Text] = {}
        for name in self.state.exported:
            value = self.state.variables.get(name)
            if isinstance(value, Text):
                env[name] = value
        env.update(inline)
        self.state.installed |= (
            self.found(Invocation(words, env, site, self.state.installed, self.state.sourced, self.on_path)) or {}
        )

    # -- parameters.Scope

    def is_set(self, name: str) -> bool:
        return name in self.state.variables

    def variable(self, name: str) -> Text | None:
        if name == "0":
            return self.zero.text if self.zero is not None else None
        if name == "#":
            return self.argument_count()
        if name.isdigit():
            args = self.state.args
            if args is None or any(word.many for word in args[: int(name)]):
                return None
            return args[int(name) - 1].text if int(name) <= len(args) else EMPTY
        value = self.state.variables.get(name)
        if isinstance(value, list):
            return value[0].text if value else EMPTY
        return value if isinstance(value, Text) else None

    def argument_count(self) -> Text | None:
        args = self.state.args
        if args is None:
            # a script is started without arguments, unless someone knows better; a function is not
            return None if self.calls else Text((Piece("0", None, assumed=True),))
        return None if any(word.many for word in args) else Text.of(str(len(args)))

    def array(self, name: str) -> list[Word] | None:
        if name == "@":
            return self.state.args
        value = self.state.variables.get(name)
        if isinstance(value, Text):
            return [Word(value)]
        if isinstance(value, dict):
            return [Word(text) for text in value.values()]
        return value

    def item(self, name: str, index: str) -> Text | None:
        value = self.state.variables.get(name)
        key = self.expand(Text.of(index), True).value
        if key is None:
            return None
        if isinstance(value, dict):
            return value.get(key)
        if isinstance(value, list) and key.lstrip("-").isdigit() and not any(word.many for word in value):
            return value[int(key)].text if -len(value) <= int(key) < len(value) else EMPTY
        return value if isinstance(value, Text) and key == "0" else None

    def assign(self, name: str, value: Text) -> None:
        if name.isidentifier():
            self.set(name, value)

    def expand(self, raw: Text, quoted: bool) -> Text:
        return expand.inside_quotes(raw, self) if quoted else expand.value(raw, self)

    def substitute(self, command: Text, whole: Text) -> Text:
        return builtins.output(self, command, whole)

    def arithmetic(self, expression: Text, whole: Text) -> Text:
        self.number_assumed = False
        text = self.expand(expression, True)
        try:
            value = arithmetic.evaluate(text.flat, self.number)
        except (arithmetic.NotKnown, RecursionError):
            return Text((unknown(whole.shown, whole.span()),))
        return Text((Piece(str(value), whole.span(), assumed=self.number_assumed or text.assumed),))

    def number(self, name: str) -> str | None:
        known = self.variable(name)
        if known is None:
            return None
        self.number_assumed = self.number_assumed or known.assumed
        return known.value


def _nothing() -> None:
    return None


_HANDLERS: dict[str, Callable[[Evaluator, Node], Status]] = {
    "command": Evaluator.command,
    "redirected_statement": Evaluator.redirected,
    "variable_assignment": assignments.assignment,
    "declaration_command": assignments.declaration,
    "unset_command": assignments.unset,
    "function_definition": flow.function_definition,
    "if_statement": flow.if_statement,
    "case_statement": flow.case_statement,
    "for_statement": flow.for_statement,
    "while_statement": flow.loop,
    "c_style_for_statement": flow.loop,
    "list": flow.both_or_either,
    "pipeline": flow.pipeline,
    "subshell": flow.subshell,
    "negated_command": flow.negated,
    "test_command": flow.test,
}
