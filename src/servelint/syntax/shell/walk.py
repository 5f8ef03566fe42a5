"""The walk over the syntax tree of a shell script that tells which commands it runs, with which words and environment.

Nothing is executed. Where a condition cannot be decided, every branch is looked at for commands, and what the branches leave
different afterwards is unknown, shown as the branch leaves it that a run without arguments and without extra environment
takes. A default (`${V:-d}`) is taken, and branches that it rules out are still looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from servelint.core import bounds
from servelint.core.launch import Word
from servelint.core.source import Source, Span
from servelint.core.text import Text, spend, unknown
from servelint.syntax.shell import assignments, builtins, commands, flow, left_out, outputs
from servelint.syntax.shell.calls import Calls
from servelint.syntax.shell.files import CHANGING, HERE, TOUCHING, Files, Opened, file_key, is_shell, own
from servelint.syntax.shell.ground import kept_of
from servelint.syntax.shell.invocation import Found, Invocation
from servelint.syntax.shell.left_out import STEPS, VARIABLES_A_STEP
from servelint.syntax.shell.scope import LENGTH_AT_MOST, Variables
from servelint.syntax.shell.state import EXIT, FAIL, RETURN, SUCCESS, UNSET, UNSURE, State, Status, join
from servelint.syntax.shell.syntax import Script
from servelint.syntax.shell.tree import Node

CHARACTERS_A_STEP = 300
"""A script of so many characters takes as long to parse as a step does."""
_ASKING = frozenset(("list", "compound_statement", "subshell"))
_SLASH = Text.of("/")
_NAME = Text((unknown("$(basename $0)", None),))


class Evaluator(Variables):
    """One walk, and what the expansions on its way ask for."""

    def __init__(
        self,
        text: Text,
        found: Found,
        environment: dict[str, Text],
        args: list[Word] | None,
        files: Callable[[str], Source | None] | None = None,
        here: Callable[[Text], Opened | None] | None = None,
    ) -> None:
        self.script = Script(text)
        self.found = found
        super().__init__(State(), args)
        self.state.files = Files(files, here=here)
        # a script that a person starts runs where it stands; one that another script starts, where that one does
        self.state.folder = own("${PWD}", None) if files is not None and args is None else HERE
        if files is not None:
            self.state.variables["BASH_SOURCE"] = [Word(Text.join((own("$(dirname $0)", None), _SLASH, _NAME)))]
        extent = text.extent()
        self.home = extent.source if extent is not None else None
        self.anchor = extent
        self.files: list[str] = []
        self.lost: Span | None = None
        self.scripts: list[Text] = []
        self.steps_at_most = bounds.STEPS.most
        self.bound = bounds.STEPS
        self.unheard: frozenset[str] = frozenset()
        self.state.variables.update(environment)
        self.state.exported = frozenset(environment)
        self.steps = 0
        self.called: set[str] = set()
        self.local_names: set[str] | None = None
        self.on_path = True
        self.loops = 0
        self.last = SUCCESS
        self.left_early = False
        self._calls = Calls(self.state) if kept_of(text) is not None else None

    def uncalled(self) -> None:
        """Functions that nothing here calls may be called by whoever sources the file."""
        state = self.state
        self.on_path = False
        for name, (script, _) in list(state.functions.items()):
            if name not in self.called and not script.elsewhere and not left_out.uncalled(self, name):
                self.state = state.copy()
                self.state.control = None
                self.call(name, None)
        self.state = state

    # -- statements

    def visit(self, node: Node) -> Status:
        self.steps += 1
        if self.steps > self.steps_at_most:
            self.bound.reached(
                self.anchor if self.script.elsewhere else self.script.ground.extent(node.start_byte, node.end_byte)
            )
            self.state.control = EXIT
        if self.state.control is not None:
            return UNSURE
        handler = _HANDLERS.get(node.type)
        return handler(self, node) if handler is not None else self.sequence(node)

    def worked(self, steps: int) -> None:
        """Count work that takes as long as so many steps."""
        self.steps += steps

    def sequence(self, node: Node) -> Status:
        return self.each(node.parts)

    def each(self, nodes: list[Node], wanted: bool = True) -> Status:
        """wanted: somebody asks for the status of the last of them"""
        status = SUCCESS
        for index, node in enumerate(nodes):
            free = node.type == "command" and not node.background and not self.asked(nodes, index, wanted)
            left = left_out.call(self, node) if free else None
            if left is not None:
                status = left
            elif node.background:
                # in the background: a shell of its own
                status = flow.apart(self, partial(self.visit, node))
                status = SUCCESS
            else:
                status = self.visit(node)
            self.last = status
            if self.state.control is not None:
                break
        return status

    def asked(self, nodes: list[Node], index: int, wanted: bool) -> bool:
        """Whether what follows a statement asks for its status: `exit`, `return`, or what may start with them."""
        if index + 1 == len(nodes):
            return wanted
        after = nodes[index + 1]
        return after.type in _ASKING or self.script.flat.startswith(("exit", "return"), after.start_byte)

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
        if taken.control is not None and other.control is None:
            taken, other = other, taken
        self.left_early = self.left_early or (other.control == RETURN and status.value is None)
        # what a branch sets before it leaves a loop or a function is seen after it
        gone = other.control in (EXIT, FAIL) or (other.control == RETURN and not self.calls)
        decided = status.value is not None or gone
        if not decided:
            self.worked(taken.size // VARIABLES_A_STEP)
        self.state = taken if decided else join(taken, other)

    def call(self, name: str, args: list[Word] | None) -> Status:
        """Run a function's body with arguments; None if nobody knows them."""
        self.called.add(name)
        if len(self.calls) >= bounds.CALLS.most:
            bounds.CALLS.reached(self.anchor)
            return UNSURE
        if self.calls.count(name) > 1:
            return UNSURE
        return self.walk_through(name, args) if self._calls is None else self._calls.call(self, name, args)

    def walk_through(self, name: str, args: list[Word] | None) -> Status:
        """Run a function's body, which may be run."""
        outer = self.script, self.state.args, self.local_names, self.loops, self.left_early
        before, aliases, exported = dict(self.state.variables), self.state.aliases, self.state.exported
        self.script, body = self.state.functions[name]
        self.state.args = args
        names: set[str] = set()
        self.local_names, self.loops, self.left_early = names, 0, False
        self.calls.append(name)
        status = self.visit(body)
        self.calls.pop()
        state = self.state
        if state.control == RETURN:
            state.control = None
            status = state.status
        if self.left_early:
            status = Status(None, status.likely)
        self.script, state.args, self.local_names, self.loops, self.left_early = outer
        state.aliases = aliases
        for local in names:
            if local not in exported:
                state.exported -= {local}
            if local in before:
                state.variables[local] = before[local]
            else:
                state.variables.pop(local, None)
        return status

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Nobody is told of the commands that are run meanwhile."""
        outer = self._calls.muted if self._calls is not None else False
        if self._calls is not None:
            self._calls.muted = True
        yield
        if self._calls is not None:
            self._calls.muted = outer

    def run_file(self, key: str, text: Text, args: list[Word] | None) -> Status:
        """Run the commands of a file here, as `source` does; args: its arguments, None for the script's own."""
        if key in self.files:
            return UNSURE
        if len(self.files) >= bounds.CALLS.most:
            bounds.CALLS.reached(self.anchor)
            self.state.sourced = True
            return UNSURE
        state, outer = self.state, (self.script, self.state.args, self.steps_at_most, self.state.variables.get("BASH_SOURCE"))
        bound = self.bound
        self.worked(len(text.flat) // CHARACTERS_A_STEP)
        self.script = Script(text)
        self.script.elsewhere = True
        if key.startswith("."):
            folder = own("$(dirname $0)", None)
            state.variables["BASH_SOURCE"] = [Word(Text.join((folder, Text.of(key[1:] if key[1] == "/" else "/" + key))))]
        if args is not None:
            state.args = args
        if self.steps + bounds.STEPS_SOURCED.most < self.steps_at_most:
            self.steps_at_most, self.bound = self.steps + bounds.STEPS_SOURCED.most, bounds.STEPS_SOURCED
        self.files.append(key)
        status = self.visit(self.script.root)
        self.files.pop()
        state, most = self.state, self.steps_at_most
        self.script, state.args, self.steps_at_most, source = outer
        self.bound = bound
        if source is not None:
            state.variables["BASH_SOURCE"] = source
        if state.control == RETURN:
            state.control, status = None, state.status
        elif self.steps > most and self.steps < self.steps_at_most:
            state.control, state.sourced = None, True  # too long to follow: it may set more
        return status

    # -- files

    def key(self, path: Text) -> str | None:
        return file_key(path, self.state.folder)

    def content(self, path: Text) -> Text | None:
        """The text of a file, said to stand where its path is written if it is another file's."""
        text = self.state.files.read(self.key(path))
        extent = text.extent() if text is not None else None
        return text.placed(path.span()) if text is not None and extent is not None and extent.source is not self.home else text

    def write(self, path: Text, text: Text | None, append: bool = False) -> None:
        """Remember what a command writes to a file; text None: it is not known."""
        if text is not None and len(text.flat) > LENGTH_AT_MOST:
            text = None
        if text is not None and not append and is_shell(path.flat, text.flat):
            if len(self.scripts) < bounds.WRITTEN.most:
                self.scripts.append(text)
            else:
                bounds.WRITTEN.reached(path)
        self.state.files = self.state.files.after(self.key(path), text, append)

    # -- commands

    def invoke(
        self, words: list[Word], inline: dict[str, Text], site: Span | None, here: Text | None, functions: bool = True
    ) -> Status:
        name = words[0].value
        if site is not None and site.source is self.home:
            self.anchor = site
        self.touch(words, here)
        if name is not None:
            if functions and name in self.state.functions:
                self.lost = None
                return self.call_with(name, words[1:], inline)
            done = builtins.run(self, name, words, inline, site, here)
            if done is not None:
                return done
        self.report(words, inline, site, here)
        return UNSURE

    def touch(self, words: list[Word], here: Text | None) -> None:
        """What a command does to files that are known."""
        if words[0].text.flat not in TOUCHING:
            return
        shown = [word.shown for word in words]
        if shown[0] == "sudo":
            words, shown = words[1:], shown[1:]
        if shown[:1] == ["tee"]:
            append = "-a" in shown or "--append" in shown
            for word in words[1:]:
                if not word.shown.startswith("-"):
                    self.write(word.text, here, append)
        elif shown[:1] == ["cp"] and len(words) == 3 and self.state.files.knows(self.key(words[1].text)):
            self.write(words[2].text, self.state.files.read(self.key(words[1].text)))
        elif shown and shown[0] in CHANGING:
            for word in words[1:]:
                if self.state.files.knows(self.key(word.text)):
                    self.write(word.text, None)

    def call_with(self, name: str, args: list[Word], inline: dict[str, Text]) -> Status:
        before = {key: self.state.variables.get(key) for key in inline}
        exported = self.state.exported
        self.state.variables.update(inline)
        self.state.exported |= frozenset(inline)
        status = self.call(name, args)
        self.state.exported -= frozenset(inline) - exported
        for key, value in before.items():
            if value is None:
                self.state.variables.pop(key, None)
            else:
                self.state.variables[key] = value
        return status

    def report(self, words: list[Word], inline: dict[str, Text], site: Span | None, here: Text | None = None) -> None:
        if site is None:
            return
        if site.source is not self.home and self.anchor is not None:
            site = self.anchor  # a command of a sourced file is run from here
        if words[0].value in self.unheard:
            self.worked(STEPS + len(self.state.exported) // VARIABLES_A_STEP)
            return
        env: dict[str, Text] = {}
        for name, value in self.state.given():
            if name in self.state.doubtful:
                shown = value.shown if isinstance(value, Text) else None
                env[name] = Text((unknown("${" + name + "}", None, shown),))
            elif isinstance(value, Text) and value is not UNSET:
                env[name] = value
        env.update(inline)
        spend(20 * len(env))
        self.worked(STEPS + len(env) // VARIABLES_A_STEP)
        state = self.state
        ran = Invocation(words, env, site, state.installed, state.sourced, self.on_path, here, state.files, state.folder)
        ran.lost, ran.sourced = self.lost, bool(self.files)
        installed = self.found(ran)
        if installed:
            state.installed = {**state.installed, **installed}

    def substitute(self, command: Text, whole: Text) -> Text:
        return outputs.output(self, command, whole)


_HANDLERS: dict[str, Callable[[Evaluator, Node], Status]] = {
    "command": commands.command,
    "redirected_statement": commands.redirected,
    "compound_statement": flow.compound,
    "variable_assignment": assignments.assignment,
    "declaration_command": assignments.declaration,
    "unset_command": assignments.unset,
    "function_definition": flow.function_definition,
    "if_statement": flow.if_statement,
    "case_statement": flow.case_statement,
    "for_statement": flow.for_statement,
    "while_statement": flow.loop,
    "c_style_for_statement": flow.counting_loop,
    "list": flow.both_or_either,
    "pipeline": flow.pipeline,
    "subshell": flow.subshell,
    "negated_command": flow.negated,
    "test_command": flow.test,
}
