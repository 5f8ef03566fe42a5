"""Partial evaluation of a shell script: which commands it runs, with which words and environment.

Nothing is executed. Where a condition cannot be decided, every branch is searched for commands; variables that the branches
leave different are unknown afterwards, shown as in the branch of a run without arguments and extra environment. A default
(`${V:-d}`) is taken, and the branches that it rules out are searched as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from servelint.core import bounds
from servelint.core.launch import OpenedFile, ReleaseClaim, Word
from servelint.core.source import Source, Span
from servelint.core.text import Piece, TracedText, spend, unknown
from servelint.syntax.shell import arithmetic, branches, builtins, commands, expand, flow
from servelint.syntax.shell.state import (
    AS_ROOT,
    BREAK,
    CHANGING,
    CONTINUE,
    EXIT,
    FAIL,
    HERE,
    RETURN,
    SUCCESS,
    TOUCHING,
    UNSET,
    UNSURE,
    Files,
    State,
    Status,
    Value,
    changed,
    file_key,
    is_shell,
    join,
    note,
    own,
    unsure_items,
)
from servelint.syntax.shell.syntax import Node, Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import TypeVar

    from servelint.syntax.shell.state import Key

    T = TypeVar("T")

_CHARACTERS_A_STEP = 300
"""A script of so many characters takes as long to parse as a step does."""
_STEPS_A_COMMAND = 4
"""To look at the words of a command that starts something takes as long as so many."""
_VARIABLES_A_STEP = 50
"""So many exported variables take as long to hand to a command, and so many items of arrays to join after a branch."""
_READERS = frozenset((
    "bash", "cat", "dash", "dd", "docker", "envsubst", "kubectl", "ksh", "oc", "podman", "sed", "sh",
    "ssh", "sudo", "tee", "zsh",
))  # fmt: skip
"""Programs of which the first one in a function reads what the function is given."""
_INPUT = ("/dev/stdin", "-", "/proc/self/fd/0", "/dev/fd/0")
"""Names of the standard input."""
_CHECKED = frozenset(("command", "subshell", "test_command"))
_LENGTH_AT_MOST = 20_000
_ITEMS_AT_MOST = 1_000
_SLASH = TracedText.of("/")
_WORD = re.compile(r"[^\s;&|<>()`$\"']+")
_NAME = TracedText((unknown("$(basename $0)", None),))
_HANDLERS: dict[str, Callable[[Evaluator, Node], Status]] = {
    "command": commands.command,
    "redirected_statement": commands.redirected,
    "compound_statement": flow.compound,
    "variable_assignment": commands.assignment,
    "declaration_command": commands.declaration,
    "unset_command": commands.unset,
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


class Invocation:
    """One command that the script runs.

    Attributes:
        words: Its words.
        env: The variables that the script exports to it.
        site: Its characters.
        place: Those of the `eval` that runs it, else the same.
        installed: What was installed before it, by engine.
        open_env: Whether a script that was sourced before may export more.
        likely: Whether a run without arguments and extra environment gets there.
        lost: What looks like its rest, behind a missing continuation.
        sourced: Whether another file runs it while it is sourced: it is reported where that file is read.
        stdin: What it reads from its standard input; None if that is not known.
        files: The files that are known then.
        folder: Where relative paths start; None if that is not known.
        depends: The undecided conditions that its words depend on.
        env_depends: Those that its variables depend on, by name.
        path: The undecided conditions that decide whether the script gets there, each with its outcome.
        calls: Where the functions around it are called.
        background: Whether the script goes on while it runs.
    """

    __slots__ = (
        "background", "calls", "depends", "env", "env_depends", "files", "folder", "installed", "likely", "lost",
        "open_env", "path", "place", "site", "sourced", "stdin", "words",
    )  # fmt: skip

    def __init__(
        self, words: list[Word], env: dict[str, TracedText], site: Span, shell: Evaluator, stdin: TracedText | None
    ) -> None:
        state = shell.state
        self.words = words
        self.background = shell.in_background > 0
        self.env = env
        self.site = site
        self.place = shell.evaluated or site
        self.calls = tuple(shell.sites)
        self.installed = state.installed
        self.open_env = state.sourced
        self.likely = shell.on_path
        self.lost = shell.lost
        self.sourced = bool(shell.files)
        self.stdin = stdin
        self.files = state.files
        self.folder = state.folder
        self.depends = shell.reads
        self.env_depends = {name: keys for name, keys in state.depends.items() if name in env} if state.depends else {}
        self.path = tuple(shell.path)

    def open(self, path: TracedText) -> OpenedFile | None:
        """The file at a path that it names; None if its content is not known."""
        return self.files.opened(file_key(path, self.folder))


class Left:
    """Where a plain run leaves a function, a sourced file or a loop, of which the walk goes on for other values.

    Attributes:
        state: What is set then; its control says what is left.
        reads: The conditions that decide it.
        path: Those of the branches around it, each with its outcome.
        decided: Whether a default decides it.
    """

    __slots__ = ("decided", "path", "reads", "state")

    def __init__(self, state: State, reads: frozenset[Key], path: tuple[tuple[Key, bool], ...], decided: bool) -> None:
        self.state = state
        self.reads = reads
        self.path = path
        self.decided = decided


Found = Callable[[Invocation], "dict[str, ReleaseClaim] | None"]
"""Is called for each command; may return what the command installs, by engine."""


Wrote = Callable[[TracedText, TracedText, "TracedText | None"], None]
"""Is called with a file's path, its text, and what the text was before something was added; None where it is new."""


class Budget:
    """How many steps are left for all scripts that one script runs."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = bounds.STEPS_OF_OTHERS.most


def evaluate(
    text: TracedText,
    found: Found,
    *,
    environment: dict[str, TracedText] | None = None,
    args: list[Word] | None = None,
    files: Callable[[str], Source | None] | None = None,
    here: Callable[[TracedText], OpenedFile | None] | None = None,
    budget: Budget | None = None,
    unheard: frozenset[str] = frozenset(),
    decisions: dict[Key, branches.Decision] | None = None,
    world: branches.World | None = None,
    wrote: Wrote | None = None,
    called: set[str] | None = None,
    parsed: dict[Hashable, Script] | None = None,
    stdin: TracedText | None = None,
) -> list[TracedText]:
    """Walk a script and report each command that it may run.

    Args:
        text: The script.
        found: Called for each command.
        environment: Variables that are set before it starts.
        args: `$0` and its arguments; None if they are not known.
        files: Opens a file by its path below the folder of the script; None for a script that is not a file.
        here: Opens a file by its path below the folder that the script runs in, where another command starts it.
        budget: Steps left, for a script that another one runs.
        unheard: Programs that `found` is not called for.
        decisions: Takes the conditions that cannot be decided.
        world: Decides them; without it, branches are joined.
        called: Takes the names of the functions that the walk calls. Those in it are not followed by themselves.
        wrote: Called for each file that it writes and that is not a shell script.
        parsed: Keeps the trees of the text and of the files that it sources, and the words read from them, from one walk to the
            next.
        stdin: What the script reads from its standard input; None if that is not known.

    Returns:
        The shell scripts that it writes into files.
    """
    if budget is not None:
        budget.left -= len(text.flat) // _CHARACTERS_A_STEP
        if budget.left <= 0:
            bounds.STEPS_OF_OTHERS.reached(text.extent())
            return []
    try:
        shell = Evaluator(text, found, environment or {}, args, files, here, world, parsed)
    except RecursionError:
        bounds.NESTED.reached(text)
        return []
    shell.unheard = unheard
    shell.wrote = wrote
    shell.input = stdin
    shell.decisions = decisions if decisions is not None else {}
    if world is not None:
        shell.steps_at_most, shell.bound = world.steps, bounds.STEPS_OF_WORLDS
    if budget is not None:
        shell.steps_at_most = min(shell.steps_at_most, budget.left)
        shell.bound = bounds.STEPS_OF_OTHERS
    try:
        shell.visit(shell.script.root)
        builtins.run_traps(shell)
        if called is not None:
            shell.called |= called  # a function whose call a branch leaves out is not one that the file only offers
            called |= shell.called
        shell.uncalled()
    except RecursionError:
        bounds.NESTED.reached(shell.anchor or text.extent())  # what was found before stands
    if world is not None:
        world.steps -= shell.steps
    if budget is not None:
        budget.left -= shell.steps
    return shell.scripts


_IS_THERE = re.compile(
    r"\b(?:command -[vV]|which|type -[pP]|hash|pip\d? (?:show|list|freeze)|(?:conda|mamba) (?:env list|info|list))\b"
    r"|\bimport \w|(?:\[|\btest\b)\s+(?:!\s+)?-[defx]\b"
)
"""Tests whether a program, a package or an environment is there."""
_ABSENT = re.compile(r"(?<!\$)!(?!=)|(?<=\s)-z\b")


class Evaluator:
    """One walk over a script: its state, and what the expansions on its way may ask.

    Attributes:
        state: What is set now.
        zero: `$0`; None if it is not known.
        calls: The functions that are running.
        sites: Where they are called.
        decisions: The conditions that could not be decided.
        world: Decides them; None to join branches.
        path: Those that the current branches are of, each with its outcome.
        reads: Those that the values depend on which the current command has read.
        floor: Those that the text of an `eval` depends on, while it is run.
        held: Those that decide whether the rest of the function or loop is run.
        printed: What the commands of a substitution print, while it is evaluated.
        evaluated: The `eval` whose text is run.
        traps: Signal -> the command that is run then.
        input: What the script, or the functions that are running, read from their standard input; None if that is not known.
        in_background: How many statements around the current one the script does not wait for.
        writes_text: Whether a heredoc is expanded, in which backquotes are more often Markdown than commands.
        trials: How many conditions around the current statement take its failure, which ends no script then.
        ignores_case: Whether `shopt -s nocasematch` is set: texts that differ may be equal.
        parsed: The scripts that were read before, by file.
        arguments: Function -> what it was last called with.
        bodies: Function -> its definitions by place, without those that were run.
        again: The functions that are defined in several places.
    """

    def __init__(
        self,
        text: TracedText,
        found: Found,
        environment: dict[str, TracedText],
        args: list[Word] | None,
        files: Callable[[str], Source | None] | None = None,
        here: Callable[[TracedText], OpenedFile | None] | None = None,
        world: branches.World | None = None,
        parsed: dict[Hashable, Script] | None = None,
    ) -> None:
        self.parsed = parsed if parsed is not None else {}
        self.script = self.tree(text)
        self.found = found
        self.state = State()
        self.state.args = args[1:] if args is not None else None
        self.zero = args[0] if args else None
        self.calls: list[str] = []
        self.number_assumed = False
        self.state.files = Files(files, here=here)
        # a script that a person starts runs where it stands; one that another script starts, where that one does
        self.state.folder = own("${PWD}", None) if files is not None and args is None else HERE
        if files is not None:
            self.state.variables["BASH_SOURCE"] = [Word(TracedText.join((own("$(dirname $0)", None), _SLASH, _NAME)))]
        extent = text.extent()
        self.home = extent.source if extent is not None else None
        self.anchor = extent
        self.files: list[str] = []
        self.lost: Span | None = None
        self.scripts: list[TracedText] = []
        self.steps_at_most = bounds.STEPS.most
        self.bound = bounds.STEPS
        self.unheard: frozenset[str] = frozenset()
        self.wrote: Wrote | None = None
        self.state.variables.update(environment)
        self.state.exported = frozenset(environment)
        self.steps = 0
        self.called: set[str] = set()
        self.arguments: dict[str, list[Word] | None] = {}
        self.bodies: dict[str, dict[tuple[Span | None, int], tuple[Script, Node]]] = {}
        self.again: set[str] = set()
        self.local_names: set[str] | None = None
        self.on_path = True
        self.in_background = 0
        self.loops = 0
        self.last = SUCCESS
        self.left_early = self.by_default = False
        self.left: list[Left] = []
        self.sites: list[int] = []
        self.decisions: dict[Key, branches.Decision] = {}
        self.world = world
        self.path: list[tuple[Key, bool]] = []
        self.reads: frozenset[Key] = frozenset()
        self.held = self.floor = self.reads
        self.printed: branches.Printed | None = None
        self.evaluated: Span | None = None
        self.traps: dict[str, Word] = {}
        self.input: TracedText | None = None
        self.writes_text = False
        self.trials = 0
        self.ignores_case = False

    def tree(self, text: TracedText, file: str = "") -> Script:
        """The tree of a script, which other walks may have read: of itself, or of a file that it sources."""
        span = text.span() if file and len(text.pieces) == 1 else None
        if file and span is None:
            return Script(text)  # which the script writes, with values that another walk may not have
        key = (file, text.flat, id(span.source), span.start, span.end) if span is not None else file
        if key not in self.parsed:
            self.parsed[key] = Script(text)
        return self.parsed[key]

    def uncalled(self) -> None:
        """Follow the functions that the script does not call: a script that sources the file may call them.

        Those that another one may call come last, if that one has not called them: it gives them their arguments.
        """
        state = self.state
        self.on_path = False
        own = {name: body.text for name, (script, body) in state.functions.items() if not script.elsewhere}
        left = [name for name in own if name not in self.called]
        used = {name: set(_WORD.findall(own[name])) - {name} for name in left}
        inner = set().union(*used.values())
        for name in sorted(left, key=inner.__contains__):
            if name not in self.called:
                self.state = state.copy()
                self.state.control = None
                self.call(name, None)
        again = [name for name in self.bodies if name in self.again and name in self.called] if self.world is None else []
        for name in again:  # that a branch defines otherwise
            for script, body in list(self.bodies[name].values()):
                if not script.elsewhere:
                    self.state = state.copy()
                    self.state.control = None
                    self.state.own_functions()[name] = script, body
                    self.call(name, self.arguments.get(name))
        self.state = state

    # -- statements

    def visit(self, node: Node) -> Status:
        """Run a statement."""
        self.steps += 1
        if self.steps > self.steps_at_most:
            self.bound.reached(
                self.anchor if self.script.elsewhere else self.script.text.extent(node.start_byte, node.end_byte)
            )
            self.state.control = EXIT
        if self.state.control is not None:
            return UNSURE
        handler = _HANDLERS.get(node.type)
        if handler is None:
            return self.sequence(node)
        status = handler(self, node)
        if status.value is False and self.state.errexit and status.certain and not self.trials and self._alone(node):
            self._fail(status)
        return status

    def _fail(self, status: Status) -> None:
        """End the script at a statement that fails, as `set -e` does."""
        self.state.control, self.state.status = self.state.control or FAIL, status

    @staticmethod
    def _alone(node: Node) -> bool:
        """Whether `set -e` looks at the status of a statement itself, not at that of a command in it."""
        if node.type == "redirected_statement":
            body = node.field("body")
            return body is None or Evaluator._alone(body)
        return node.type in _CHECKED or (node.type == "compound_statement" and node.children[0].type == "((")

    def tried(self, run: Callable[[], Status]) -> Status:
        """Run what may fail under `set -e`: a condition, what stands before `&&` and `||`, what `!` negates."""
        self.trials += 1
        status = run()
        self.trials -= 1
        return status

    def sequence(self, node: Node) -> Status:
        """Run the statements inside a node."""
        return self.each(node.parts)

    def each(self, nodes: list[Node]) -> Status:
        """Run statements one after the other; the status is the last one's."""
        status = SUCCESS
        for node in nodes:
            if node.background:
                self.in_background += 1
                flow.apart(self, partial(self.visit, node))
                self.in_background -= 1
                status = SUCCESS
            else:
                status = self.visit(node)
            self.last = status
            if self.state.control is not None:
                break
        return status

    def branch(
        self,
        status: Status,
        yes: Callable[[], object],
        no: Callable[[], object],
        node: Node,
        test: tuple[int, int] | None = None,
        subject: TracedText | None = None,
    ) -> None:
        """Run the branch that a condition selects.

        If the condition is unknown, both run and are joined. If a default decides it, the other branch runs too, and its state
        is dropped. A branch that leaves the script does not count when the other one goes on. In a world, which decides it, one
        branch runs.

        Args:
            status: The status of the condition.
            yes: Runs the branch of success.
            no: Runs the other branch.
            node: The statement.
            test: The offsets of the condition; None for the whole statement.
            subject: What it tests, as written, where that stands elsewhere.
        """
        if self.state.control is not None:
            return
        start = self.state
        world = self.world
        certain = status.certain
        if world is not None:
            key = self._key(node)
            if not status.certain:
                written = self.script.text.cut(*(test or (node.start_byte, node.end_byte))).strip()
                status = self._chosen(world, status, key, written, node)
            world.covered.add((key, bool(status.value)))
        if status.certain:
            self.state = start.copy()
            (yes if status.value else no)()
            if certain and self.state.control == FAIL and (world is None or not world.trace):
                # a script that gives up without arguments still starts an engine with them
                self.state = start
            return
        ends: list[State] = []
        left: Left | None = None
        defaults: list[dict[str, Value]] = []
        on_path = self.on_path
        key = self._key(node)
        reads = self.reads | {key}
        written = self.script.text.cut(*(test or (node.start_byte, node.end_byte)))
        tested = subject if subject is not None else written if test is not None else None
        decision = branches.Decision(status.likely, status.value is not None, tuple(self.path))
        self.decisions[key] = decision
        printed = self.printed if self.printed is not None and self.printed.into_file else None
        lines = [len(printed.texts)] if printed is not None else []
        goes_on = on_path
        for way, outcome in ((yes, True), (no, False)):
            self.state = start.copy()
            self.on_path = on_path and outcome == status.likely
            self.path.append((key, outcome))
            denied = self._deny(tested) if decision.assumed and outcome != status.likely and tested is not None else {}
            way()
            goes_on = goes_on and (self.on_path or outcome != status.likely)
            variables = self.state.variables
            defaults.append({name: default for name, (default, new) in denied.items() if variables.get(name) is new})
            self.path.pop()
            ends.append(self.state)
            lines += [len(printed.texts)] if printed is not None else []
        self.on_path = goes_on
        condition = written.flat
        if printed is not None:
            printed.divide(lines, written.strip())
        if _IS_THERE.search(condition) is not None:
            # what installs a program where it is missing says which release is there
            fails = len(_ABSENT.findall(condition)) + any(child.type == "||" for child in node.children)
            missing, there = ends if fails % 2 else ends[::-1]
            there.installed = {**missing.installed, **there.installed}
        taken, other = ends if status.likely else ends[::-1]
        gives_up = taken.control in (EXIT, FAIL) and other.control is None  # only another value than the default gets on
        for end, restored in zip(ends, defaults, strict=True) if not gives_up else ():
            end.variables.update(restored)
        if taken.control is not None and other.control is None:
            taken, other = other, taken
            inside = other.control == RETURN and (self.calls or self.files)
            if inside or (other.control in (BREAK, CONTINUE) and other.levels <= 1):
                left = Left(other, reads, tuple(self.path), status.value is not None)
                self.left.append(left)
                self.on_path = False
            else:
                decision.main = not decision.main
        if other.control == RETURN:
            self.left_early = self.left_early or status.value is None
            self.by_default = True
        # what a branch sets before it leaves a loop or a function is seen after it
        gone = other.control in (EXIT, FAIL) or (other.control == RETURN and not self.calls and left is None)
        decided = status.value is not None or gone or left is not None
        if not gone:
            if taken.control != other.control:
                self.held |= reads
            decision.optional = note(taken, other, reads) and decided
        if not decided:
            self.steps += taken.size // _VARIABLES_A_STEP
        self.state = taken if decided else join(taken, other)
        if decided and not gone:
            self._soften(taken, other)
        self.reads = reads

    def leaving(self, run: Callable[[], T], controls: tuple[str, ...]) -> T:
        """Run a function, a file, a loop or one round of it, which a plain run may leave early.

        What it leaves it with is joined to what the rest makes of other values: the script continues with that.

        Args:
            run: Runs it.
            controls: What leaves it.
        """
        outer, self.left = self.left, []
        around, on_path = len(self.path), self.on_path
        done = run()
        ends = [one for one in self.left if one.state.control in controls]
        outer += [one for one in self.left if one.state.control not in controls]
        if len(ends) == len(self.left):
            self.on_path = on_path
        self.left = outer
        for one in reversed(ends):
            one.state.control = RETURN if RETURN in controls else None
            inner = one.path[around:]
            plain = all(self.decisions[key].main == way for key, way in inner)
            decided = one.decided and all(self.decisions[key].assumed for key, _ in inner)
            taken, other = (one.state, self.state) if plain else (self.state, one.state)
            if self.state.control in (EXIT, FAIL):
                self.state = one.state  # the script goes on only from there
                continue
            note(taken, other, one.reads)
            if decided:
                self._soften(taken, other)
            self.state = taken if decided else join(taken, other)
        return done

    @staticmethod
    def _soften(taken: State, other: State) -> None:
        """Mark what a branch would change that only a default leaves out: a later test of it rests on the default as well."""
        for name in changed(taken.variables, other.variables):
            value = taken.variables.get(name)
            if isinstance(value, TracedText) and value.flat and value.known:
                taken.variables[name] = value.softened()

    def fill(self, loop: Node, filled: set[str]) -> None:
        """Set the empty variables that a loop over the arguments fills to unknown ones: they are empty only without arguments.

        Args:
            loop: The loop.
            filled: Those that one round has set; in a world, one round sets only some.
        """
        known = self.world.mains if self.world is not None else self.decisions
        decision = known.get(self._key(loop))
        if decision is None:
            return
        if self.world is None:
            decision.fills = tuple(sorted(filled))
        for name in decision.fills:
            if self.world is None or name not in filled:
                array = isinstance(self.state.variables.get(name), list)
                text = TracedText((unknown("${" + name + "}", None),))
                self.state.variables[name] = unsure_items(name) if array else text

    def _deny(self, tested: TracedText) -> dict[str, tuple[Value, Value]]:
        """Set the tested variables that have a default to unknown ones, where the script gets only without the default.

        Returns:
            Name to the default and to the unknown value.
        """
        denied: dict[str, tuple[Value, Value]] = {}
        for name in branches.names(tested.flat):
            default = self.state.variables.get(name)
            if isinstance(default, TracedText) and default.assumed:
                denied[name] = default, TracedText((unknown("${" + name + "}", None),))
                self.state.variables[name] = denied[name][1]
        return denied

    def _key(self, node: Node) -> Key:
        """A name for a statement: with the calls that lead to it, each of which may decide it another way."""
        text = self.script.text
        span = text.extent(node.start_byte, node.start_byte + 1)
        where = (span.source.path, span.start) if span is not None else (text.flat, node.start_byte)
        return *where, node.start_byte, *self.sites

    def _chosen(self, world: branches.World, status: Status, key: Key, test: TracedText, node: Node) -> Status:
        """What a world makes of an undecided condition."""
        status = world.decided(status)
        if not status.certain and node.type != "case_item":  # whose text is only the pattern
            status = world.command(status, test.flat, self)
        return status if status.certain else Status(world.choose(key, status, test.extent(), self))

    def call(self, name: str, args: list[Word] | None) -> Status:
        """Run a function with arguments; None if they are not known."""
        self.called.add(name)
        if len(self.calls) >= bounds.CALLS.most:
            bounds.CALLS.reached(self.anchor)
            return UNSURE
        if name in self.calls and (name != self.calls[-1] or self.calls.count(name) > 1):
            return UNSURE  # functions that call each other in a circle: what is behind it has been seen
        outer = self.script, self.state.args, self.local_names, self.loops, self.left_early, self.by_default, self.held
        depends = self.state.depends.copy()
        self.read_of(name + "()")
        if self.reads:
            self.state.depends["@"] = self.reads
        else:
            self.state.depends.pop("@", None)
        before, aliases, exported = dict(self.state.variables), self.state.aliases, self.state.exported
        self.script, body = self.state.functions[name]
        self.arguments[name] = args
        self.bodies.get(name, {}).pop((self.script.extent, body.start_byte), None)
        self.state.args = args
        names: set[str] = set()
        self.local_names, self.loops, self.left_early, self.by_default = names, 0, False, False
        self.calls.append(name)
        status = self.leaving(lambda: self.visit(body), (RETURN,))
        self.calls.pop()
        state = self.state
        if state.control == RETURN:
            state.control = None
            status = state.status
        if self.left_early:
            status = Status(None, status.likely)
            if state.control in (EXIT, FAIL):
                state.control = None  # `if ready; then return; fi; exit 1`: the script goes on where the function returned
        elif self.by_default:
            status = Status(status.value, status.likely, assumed=True)
        self.reads |= self.held  # the status depends on what has left the function early
        self.script, state.args, self.local_names, self.loops, self.left_early, self.by_default, self.held = outer
        for restored in ("@", *names):
            if restored in depends:
                state.depends[restored] = depends[restored]
            else:
                state.depends.pop(restored, None)
        state.aliases = aliases
        for local in names:
            if local not in exported:
                state.exported -= {local}
            if local in before:
                state.variables[local] = before[local]
            else:
                state.variables.pop(local, None)
        return status

    def run_file(self, key: str, text: TracedText, args: list[Word] | None) -> Status:
        """Run the commands of a file in this shell, as `source` does. `args`: its arguments; None for the script's own."""
        if key in self.files:
            return UNSURE
        if len(self.files) >= bounds.CALLS.most:
            bounds.CALLS.reached(self.anchor)
            self.state.sourced = True
            return UNSURE
        state, outer = self.state, (self.script, self.state.args, self.steps_at_most, self.state.variables.get("BASH_SOURCE"))
        bound = self.bound
        self.steps += len(text.flat) // _CHARACTERS_A_STEP
        self.script = self.tree(text, key)
        self.script.elsewhere = True
        if key.startswith("."):
            folder = own("$(dirname $0)", None)
            state.variables["BASH_SOURCE"] = [
                Word(TracedText.join((folder, TracedText.of(key[1:] if key[1] == "/" else "/" + key))))
            ]
        if args is not None:
            state.args = args
        if self.steps + bounds.STEPS_SOURCED.most < self.steps_at_most:
            self.steps_at_most, self.bound = self.steps + bounds.STEPS_SOURCED.most, bounds.STEPS_SOURCED
        self.files.append(key)
        status = self.leaving(lambda: self.visit(self.script.root), (RETURN,))
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

    def key(self, path: TracedText) -> str | None:
        """The name under which a path is found again; None if it may be any file."""
        return file_key(path, self.state.folder)

    def content(self, path: TracedText) -> TracedText | None:
        """The text of a file; if it is from another source, its place is where the end of its path is written."""
        text = self.state.files.read(self.key(path))
        extent = text.extent() if text is not None else None
        if text is None or extent is None or extent.source is self.home:
            return text
        return text.placed(next((piece.span for piece in reversed(path.pieces) if piece.span is not None), None))

    def write(self, path: TracedText, text: TracedText | None, append: bool = False) -> None:
        """Note what a command writes to a file; None if that is not known."""
        before = self.state.files.read(self.key(path)) if append and self.state.files.knows(self.key(path)) else None
        files = self.state.files = self.state.files.after(self.key(path), text, append)
        whole = files.read(self.key(path)) if before is not None else text
        if whole is None or len(whole.flat) > _LENGTH_AT_MOST:
            if whole is not None:
                self.state.files = files.after(self.key(path), None)
            return
        if is_shell(path.flat, whole.flat):
            self.scripts = [one for one in self.scripts if one is not before]
            if len(self.scripts) < bounds.WRITTEN.most:
                self.scripts.append(whole)
            else:
                bounds.WRITTEN.reached(path)
        elif self.wrote is not None:
            self.wrote(path, whole, before)

    # -- commands

    def invoke(
        self,
        words: list[Word],
        inline: dict[str, TracedText],
        site: Span | None,
        here: TracedText | None,
        functions: bool = True,
    ) -> Status:
        """Run a command: a function, a builtin, or a program, which is reported.

        Args:
            words: Its words.
            inline: The assignments in front of it.
            site: Its characters.
            here: What it reads from its standard input; None if that is not known.
            functions: Whether functions are looked up (not after `command`, `builtin` and `exec`).
        """
        name = words[0].value
        if site is not None and site.source is self.home:
            self.anchor = site
        if name is not None and (name not in self.state.functions or not functions):
            here = self.read(name, here)
        self.touch(words, here)
        if name is not None:
            if functions and name in self.state.functions:
                self.lost = None
                self.sites.append(site.start if site is not None else 0)
                around = self.input
                self.input = around if here is None else here
                status = self.call_with(inline, partial(self.call, name, words[1:]))
                if here is not None:
                    self.input = around
                self.sites.pop()
                return status
            if (done := builtins.run(self, name, words, inline, site, here)) is not None:
                return done
        if self.printed is not None:
            printed = commands.printed(self, words, here)
            # what a program prints, if anything, ends with a line end
            other = TracedText((unknown("$(" + words[0].shown + ")", site, ""), Piece("\n", None)))
            self.printed.texts.append(printed if printed is not None else other)
        self.report(words, inline, site, here)
        return UNSURE

    def read(self, name: str | None, here: TracedText | None) -> TracedText | None:
        """What a program reads from its standard input: what stands there, else what the script or the function is given."""
        if here is None and self.input is not None and name in _READERS:
            here, self.input = self.input, None
        return here

    def touch(self, words: list[Word], here: TracedText | None) -> None:
        """Note what a program does to known files."""
        known = bool(words[0].value)
        if known and words[0].text.flat not in TOUCHING:
            return
        shown = [word.shown for word in words]
        if not known or shown[0] in AS_ROOT:
            # `$SUDO tee FILE`: an unknown word in front of `tee` is what starts it as another user
            program = next((at for at, one in enumerate(shown) if at and not one.startswith("-")), len(shown))
            if "tee" in shown and all(one.startswith("-") for one in shown[1 : shown.index("tee") : 2]):
                program = shown.index("tee")  # `sudo -u llm tee FILE`
            words, shown = words[program:], shown[program:]
            if not known and shown[:1] != ["tee"]:
                return
        if shown[:1] == ["tee"]:
            append = "-a" in shown or "--append" in shown
            for word in words[1:]:
                if not word.shown.startswith("-"):
                    self.write(word.text, here, append)
        elif shown[:1] == ["dd"] and here is not None:
            for word in words[1:]:
                if word.text.flat.startswith("of="):
                    self.write(word.text.cut(3), here)
        elif shown and shown[0] in ("cp", "install") and here is not None and shown[-2] in _INPUT:
            self.write(words[-1].text, here)
        elif shown[:1] == ["cp"] and len(words) == 3 and self.state.files.knows(self.key(words[1].text)):
            self.write(words[2].text, self.state.files.read(self.key(words[1].text)))
        elif shown and shown[0] in CHANGING:
            # a module that is started as a program reads the file that an option names
            module = shown[0].startswith("python") and "-m" in shown
            for before, word in pairwise(words):
                if self.state.files.knows(self.key(word.text)) and not (module and before.shown.startswith("--")):
                    self.write(word.text, None)

    def call_with(self, inline: dict[str, TracedText], run: Callable[[], Status]) -> Status:
        """Run a function or `eval` with the assignments in front of it, which end with it."""
        if not inline:
            return run()
        before = {key: self.state.variables.get(key) for key in inline}
        exported = self.state.exported
        self.state.variables.update(inline)
        self.state.exported |= frozenset(inline)
        status = run()
        self.state.exported -= frozenset(inline) - exported
        for key, value in before.items():
            if value is None:
                self.state.variables.pop(key, None)
            else:
                self.state.variables[key] = value
        return status

    def report(
        self, words: list[Word], inline: dict[str, TracedText], site: Span | None, here: TracedText | None = None
    ) -> None:
        """Report a program with the environment that it gets."""
        site = site or self.evaluated
        if site is None:
            return
        if site.source is not self.home and self.anchor is not None:
            site = self.anchor  # a command of a sourced file is run from here
        if words[0].value in self.unheard:
            self.steps += _STEPS_A_COMMAND + len(self.state.exported) // _VARIABLES_A_STEP
            return
        env: dict[str, TracedText] = {}
        for name, value in self.state.given():
            if name in self.state.doubtful:
                shown = value.shown if isinstance(value, TracedText) else None
                env[name] = TracedText((unknown("${" + name + "}", None, shown),))
            elif isinstance(value, TracedText) and value is not UNSET:
                env[name] = value
        env.update(inline)
        spend(20 * len(env))
        self.steps += _STEPS_A_COMMAND + len(env) // _VARIABLES_A_STEP
        if installed := self.found(Invocation(words, env, site, self, here)):
            self.state.installed = {**self.state.installed, **installed}

    # -- variables, as expansions and arithmetic ask for them

    def substitute(self, command: TracedText, whole: TracedText) -> TracedText:
        """The value of `$(command)`."""
        return commands.output(self, command, whole)

    def set(self, name: str, value: Value) -> None:
        """Set a variable; a value that is too long is unknown."""
        state = self.state
        if isinstance(value, list):
            if len(value) > _ITEMS_AT_MOST or sum([len(word.text.flat) for word in value]) > _LENGTH_AT_MOST:
                value = unsure_items(name)
        elif isinstance(value, TracedText) and (len(value.flat) > _LENGTH_AT_MOST or name in state.typed):
            value = TracedText((unknown("${" + name + "}", value.span()),))
        state.variables[name] = value
        if why := self.reads | self.held:
            state.depends[name] = why
        elif state.depends:
            state.depends.pop(name, None)
        if state.all_exported:
            state.exported |= {name}

    def resolved(self, name: str) -> str:
        """The variable that a name reference stands for; any other name itself."""
        return self.state.aliases.get(name, name) if self.state.aliases else name

    def read_of(self, name: str) -> None:
        """Note that a variable is read."""
        if (depends := self.state.depends) and name in depends:
            self.reads |= depends[name]

    def is_set(self, name: str) -> bool | None:
        """Whether a variable is set; None if the environment may set it."""
        self.read_of(self.resolved(name))
        value = self.state.variables.get(self.resolved(name))
        return None if value is None else value is not UNSET

    def required(self, name: str, value: TracedText) -> TracedText:
        """The unknown value of a plain `$name` that nothing sets: under `set -u` the script goes on only if it is set."""
        if self.state.nounset:
            self.assign(name, value.placed(None))  # where it is used next is another place
        return value

    def separators(self) -> str | None:
        """The value of IFS; None if it is not known."""
        value = self.state.variables.get("IFS")
        return value.value if isinstance(value, TracedText) and value is not UNSET else " \t\n"

    def variable(self, name: str) -> TracedText | None:
        """The value of a variable or of a special parameter; None if the environment may set it."""
        if self.state.depends:
            self.read_of("@" if name.isdecimal() or name == "#" else self.resolved(name))
        if not self.state.aliases and name.isidentifier():
            value = self.state.variables.get(name)
            if isinstance(value, TracedText):
                return value
        if name.isdecimal():
            name = name.lstrip("0") or "0"  # `${01}` is `$1`
        if name == "0":
            source = self.state.variables.get("BASH_SOURCE")
            if isinstance(source, list) and source:
                return source[0].text
            return self.zero.text if self.zero is not None else None
        if name == "PWD" and name not in self.state.variables:
            folder = self.state.folder
            return folder.placed(None) if folder is not None and folder is not HERE else None
        if name == "#":
            return self.argument_count()
        if name.isdecimal():
            args, number = self.state.args, int(name[:9])
            if args is None:
                return None
            if any(word.many for word in args[:number]):
                return TracedText((unknown("${" + name + "}", None),))
            return args[number - 1].text if number <= len(args) else UNSET
        value = self.state.variables.get(self.resolved(name))
        return self.item(name, TracedText.of("0")) if isinstance(value, (list, dict)) else value

    def argument_count(self) -> TracedText | None:
        """`$#`."""
        args = self.state.args
        if args is None:
            # a script is started without arguments, unless someone knows better; a function is not
            return None if self.calls else TracedText((Piece("0", None, assumed=True),))
        return None if any(word.many for word in args) else TracedText.of(str(len(args)))

    def array(self, name: str) -> list[Word] | None:
        """The items of an array, or the arguments for `@`; None if they are not known."""
        self.read_of(self.resolved(name))
        if name == "@":
            return self.state.args
        value = self.state.variables.get(self.resolved(name))
        if isinstance(value, TracedText):
            return [] if value is UNSET else [Word(value)]
        if isinstance(value, dict):
            # the order of an associative array is that of a hash table
            return [Word(text) for text in value.values()] if len(value) < 2 else None
        return value

    def keys(self, name: str) -> list[Word] | None:
        """The keys of an array; None if they are not known."""
        self.read_of(self.resolved(name))
        value = self.state.variables.get(self.resolved(name))
        if isinstance(value, dict):
            return [Word(TracedText.of(key)) for key in value] if len(value) < 2 else None
        if not isinstance(value, list) or any(word.many for word in value):
            return None
        return [Word(TracedText.of(str(index))) for index in range(len(value))]

    def item(self, name: str, index: TracedText) -> TracedText | None:
        """An item of an array."""
        self.read_of(self.resolved(name))
        value = self.state.variables.get(self.resolved(name))
        if value is None:
            return None
        unsure = TracedText((unknown("${" + name + "[" + index.shown + "]}", None),))
        if isinstance(value, dict):
            key = self.expand(index, True).value
            return unsure if key is None else value.get(key, UNSET)
        at = self.index(index)
        if at is None or (isinstance(value, list) and any(word.many for word in value)):
            return unsure
        if isinstance(value, list):
            return value[at].text if -len(value) <= at < len(value) else UNSET
        return value if at in (0, -1) else UNSET

    def index(self, raw: TracedText) -> int | None:
        """The index of an array's item, an arithmetic expression."""
        value = self.arithmetic(raw, raw).value
        return int(value) if value is not None else None

    def assign(self, name: str, value: TracedText, index: str | None = None) -> None:
        """Set a variable while a word is expanded (`${V:=d}`, arithmetic)."""
        name = self.resolved(name)
        if name.isidentifier():
            self.set(name, value if index is None else unsure_items(name))

    def expand(self, raw: TracedText, quoted: bool) -> TracedText:
        """The value of a raw text, as if inside double quotes or as an assignment's value."""
        return expand.inside_quotes(raw, self) if quoted else expand.value(raw, self)

    def pattern(self, raw: TracedText) -> list[tuple[TracedText, bool]]:
        """The parts of a raw text that is used as a pattern, each with whether it is quoted."""
        return expand.pattern(raw, self)

    def arithmetic(self, expression: TracedText, whole: TracedText) -> TracedText:
        """The value of `$(( expression ))`; unknown assigned variables are unknown afterwards."""
        self.number_assumed = False
        text = self.expand(expression, True)
        try:
            value = arithmetic.evaluate(text.flat, self.number, self.store)
        except (arithmetic.NotKnown, RecursionError):
            for name in arithmetic.changed(text.flat):
                self.assign(name, TracedText((unknown("${" + name + "}", None),)))
            return TracedText((unknown(whole.shown, whole.span()),))
        return TracedText((Piece(str(value), whole.span(), assumed=self.number_assumed or text.assumed),))

    def arithmetic_status(self, expression: TracedText) -> Status:
        """The status of `(( expression ))`."""
        text = self.arithmetic(expression, expression)
        if text.value is not None:
            return Status(text.value != "0", assumed=text.assumed)
        try:  # a name that nothing sets is 0
            value = arithmetic.evaluate(
                self.expand(expression, True).flat, lambda name: self.number(name) if self.variable(name) is not None else "0"
            )
        except (arithmetic.NotKnown, RecursionError):
            value = 0
        return Status(None, likely=value != 0)

    def tested(self, status: Status, operator: str, raws: list[TracedText], right: str | None) -> Status:
        """The status of a test, with what it says of its operands, which a world remembers."""
        if self.ignores_case and status.value is (operator == "!=") and operator in ("=", "==", "!="):
            status = Status(None, status.likely)
        return self.world.test(status, operator, raws, self, right) if self.world is not None else status

    def given(self, name: str, whole: TracedText) -> bool | None:
        """Whether a variable that only the environment may set has a value, as `${V:+x}` asks; None if that is not known."""
        span = whole.extent()
        key: Key = (span.source.path, span.start, *self.sites) if span is not None else (whole.flat, *self.sites)
        if self.world is not None:
            return self.world.given(name, key, span, self)
        self.decisions[key] = branches.Decision(False, True, tuple(self.path))
        self.reads |= {key}
        return None

    def number(self, name: str) -> str | None:
        """The value of a variable in an arithmetic expression."""
        known = self.variable(name)
        if known is None:
            return None
        self.number_assumed = self.number_assumed or known.assumed
        return known.value

    def store(self, name: str, value: str) -> None:
        """Set a variable by an arithmetic expression."""
        text = TracedText.of(value)
        self.assign(name, text.softened() if self.number_assumed else text)
