"""The state of a script: its variables, arguments and functions, the files that it knows, and what joins after a branch."""

from __future__ import annotations

import os
import re

from servelint.core.launch import OpenedFile, ReleaseClaim, Word
from servelint.core.secrets import is_secret_name
from servelint.core.text import EMPTY, HOLE, Piece, TracedText, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.launch import Open
    from servelint.core.source import Span
    from servelint.syntax.shell.syntax import Node, Script

    Here = Callable[[TracedText], "OpenedFile | None"]
    Fact = tuple[str, str, str]
    Key = tuple[object, ...]

OWN = "\ufdd1$(dirname $0)"
"""The expression of a piece that stands for the folder of the script itself."""

HERE = TracedText((unknown("\ufdd1.", None, ""),))
"""The folder in which a script runs that is not a file, or that another one starts."""

_SHEBANG = re.compile(r"#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)")
_HERE = "<\ufdd1.>/"

CHANGING = frozenset(("sed", "yq", "perl", "mv", "rm", "truncate", "patch", "python", "python3", "install"))
"""Programs after which a file that they are given may hold something else."""

AS_ROOT = frozenset(("doas", "run0", "sudo"))
"""Programs that run another one as another user."""

TOUCHING = CHANGING | AS_ROOT | {"cp", "dd", "tee"}
"""All programs that are followed to the files that they are given."""


def is_shell(path: str, text: str) -> bool:
    """Whether a file is a shell script, by its name or by its first line."""
    return path.endswith((".sh", ".bash")) or _SHEBANG.match(text) is not None


def own(shown: str, span: Span | None) -> TracedText:
    """The folder of the script itself, spelled as the script writes it."""
    return TracedText((unknown(OWN, span, shown),))


def is_own(path: TracedText) -> bool:
    """Whether a path starts at the folder of the script itself."""
    return bool(path.pieces) and path.pieces[0].expression == OWN


def file_key(path: TracedText, folder: TracedText | None) -> str | None:
    """A name under which the same path is found again; None if it may be any file.

    Args:
        path: The path. Below the script's own folder its key is `./x`; otherwise it is the path as written, with the
            expressions of unknown parts.
        folder: Where relative paths start; None if that is not known.
    """
    if not path.flat:
        return None
    if is_own(path):
        return _below("".join([_name(piece) for piece in path.pieces[1:]]))
    name = "".join([_name(piece) for piece in path.pieces])
    if path.pieces[0].expression is not None or os.path.isabs(name) or name.startswith("~"):
        return name
    if folder is None:
        return None
    base = file_key(folder, None)
    return None if base is None else _below(f"/{base}/{name}") if base.startswith(".") else os.path.normpath(f"{base}/{name}")


def _below(rest: str) -> str:
    path = os.path.normpath("." + rest)
    return path if path.startswith(".") else "./" + path


def _name(piece: Piece) -> str:
    if piece.expression is None:
        return piece.text
    start = piece.span.start if piece.span is not None and not piece.expression.startswith("${") else ""
    return f"<{piece.expression}{start}>"


class Files:
    """The files that are known at one point of a script. written: key to content, None if that is not known.

    Args:
        open: Opens a file below the script's own folder.
        written: As above.
        here: Opens a file below the folder in which the script runs, where that is another one.
    """

    __slots__ = ("_here", "_open", "written")

    def __init__(
        self, open: Open | None, written: dict[str, TracedText | None] | None = None, here: Here | None = None
    ) -> None:
        self._open = open
        self._here = here
        self.written = written or {}

    def knows(self, name: str | None) -> bool:
        """Whether the script has written a file."""
        return name in self.written

    def opened(self, name: str | None) -> OpenedFile | None:
        """A file by its key; None if it is not known."""
        if name is None:
            return None
        if self.knows(name):
            text = self.written[name]
            return OpenedFile(text, name, True, self._open) if text is not None else None
        if name.startswith(_HERE):
            return self._here(TracedText.of("./" + name[len(_HERE) :])) if self._here is not None else None
        if name.startswith("/"):
            return self._here(TracedText.of(name)) if self._here is not None else None
        source = self._open(name) if self._open is not None and name.startswith(".") else None
        return OpenedFile(TracedText.at(source, 0, len(source.text)), name, False, self._open) if source is not None else None

    def read(self, name: str | None) -> TracedText | None:
        """The text of a file by its key; None if it is not known."""
        found = self.opened(name)
        return found.text if found is not None else None

    def after(self, name: str | None, text: TracedText | None, append: bool = False) -> Files:
        """The files after one was written; with no name, an unknown one was, and the known ones are kept."""
        if name is None:
            return self
        if append and text is not None:
            before = self.read(name) if self.knows(name) else None
            text = TracedText.join((before, text)) if before is not None else None
        return Files(self._open, {**self.written, name: text}, self._here)

    def joined(self, other: Files) -> Files:
        """The files that are known after either of two branches."""
        names = self.written.keys() | other.written.keys()
        same = {
            name: text
            for name in sorted(names)
            if (text := self.written.get(name)) is not None and _alike(text, other.written.get(name))
        }
        return Files(self._open, {name: same.get(name) for name in sorted(names)}, self._here)


def _alike(one: TracedText, other: TracedText | None) -> bool:
    return one is other or (other is not None and one.flat == other.flat and one.shown == other.shown)


Value = TracedText | list[Word] | dict[str, TracedText]
"""A scalar, an array, or an associative array."""

UNSET = TracedText(())
"""The value of a variable that surely has none: it reads as empty, and `${V-d}` takes the default."""

EXIT, FAIL, RETURN, BREAK, CONTINUE = "exit", "fail", "return", "break", "continue"
"""What keeps the rest of a script from running; FAIL is an exit with a status that is not 0."""


class Status:
    """Whether a command succeeds.

    Attributes:
        value: True, False, or None if that is unknown.
        likely: The branch to follow if it is: as if unset variables were empty and commands succeeded.
        assumed: Whether the value rests on a default that the environment may override.
        yes: What holds if it succeeds, as far as branches.Facts can use it.
        no: What holds if it fails.
    """

    __slots__ = ("assumed", "likely", "no", "value", "yes")

    def __init__(
        self,
        value: bool | None,
        likely: bool = True,
        assumed: bool = False,
        yes: tuple[Fact, ...] = (),
        no: tuple[Fact, ...] = (),
    ) -> None:
        self.value = value
        self.likely = likely if value is None else value
        self.assumed = assumed
        self.yes = yes
        self.no = no

    def negated(self) -> Status:
        """The status of `! command`."""
        return Status(None if self.value is None else not self.value, not self.likely, self.assumed, self.no, self.yes)

    @property
    def certain(self) -> bool:
        """Whether it is known and rests on no default."""
        return self.value is not None and not self.assumed


SUCCESS, FAILURE, UNSURE = Status(True), Status(False), Status(None)


class State:
    """Everything that an assignment, a branch or a call may change. Values are replaced, never changed in place.

    Attributes:
        variables: Name to value.
        exported: Names that commands get.
        doubtful: Names that are exported in one branch only.
        args: The arguments; None if they are not known.
        functions: Name to script and body.
        installed: What was installed, by engine.
        shares: Whether another state has the same dictionary of functions.
        control: What keeps the rest from running; None while it runs.
        levels: How many loops a BREAK or CONTINUE leaves.
        status: The status of a RETURN or EXIT.
        aliases: Name references (`declare -n`) and their variables.
        typed: Variables with an attribute that changes what is assigned (`declare -i`, `-l`, `-u`).
        all_exported: Whether `set -a` is on.
        nounset: Whether `set -u` is on.
        errexit: Whether `set -e` is on in every branch.
        sourced: Whether a sourced file that is not known may have set more.
        files: The files that are known.
        folder: Where relative paths start; None if that is not known.
        depends: Name to the undecided conditions that its value depends on; `@` stands for the arguments.
    """

    __slots__ = (
        "aliases", "all_exported", "args", "control", "depends", "doubtful", "errexit", "exported", "files", "folder",
        "functions", "installed", "levels", "nounset", "shares", "sourced", "status", "typed", "variables",
    )  # fmt: skip

    def __init__(self, other: State | None = None) -> None:
        """Make an empty state, or a copy of another one."""
        if other is not None:
            self._take(other)
            return
        self.variables: dict[str, Value] = {}
        self.exported: frozenset[str] = frozenset()
        self.doubtful: frozenset[str] = frozenset()
        self.args: list[Word] | None = None
        self.functions: dict[str, tuple[Script, Node]] = {}
        self.installed: dict[str, ReleaseClaim] = {}
        self.shares = False
        self.control: str | None = None
        self.levels = 0
        self.status = SUCCESS
        self.aliases: dict[str, str] = {}
        self.typed: frozenset[str] = frozenset()
        self.all_exported = self.nounset = self.errexit = False
        self.sourced = False
        self.files = Files(None)
        self.folder: TracedText | None = HERE
        self.depends: dict[str, frozenset[Key]] = {}

    def _take(self, other: State) -> None:
        self.variables = other.variables.copy()
        self.exported = other.exported
        self.doubtful = other.doubtful
        self.args = other.args
        self.functions = other.functions
        self.installed = other.installed
        self.control = other.control
        self.levels = other.levels
        self.status = other.status
        self.aliases = other.aliases
        self.typed = other.typed
        self.all_exported = other.all_exported
        self.nounset = other.nounset
        self.errexit = other.errexit
        self.sourced = other.sourced
        self.files = other.files
        self.folder = other.folder
        self.depends = other.depends.copy()
        self.shares = other.shares = True

    def copy(self) -> State:
        """A state that may change without this one."""
        return State(self)

    def own_functions(self) -> dict[str, tuple[Script, Node]]:
        """The functions, to be changed: copied if another state shares them."""
        if self.shares:
            self.functions, self.shares = self.functions.copy(), False
        return self.functions

    @property
    def size(self) -> int:
        """How much there is to join: variables, and items of arrays."""
        return len(self.variables) + sum([len(value) - 1 for value in self.variables.values() if type(value) is list])

    def given(self) -> list[tuple[str, Value]]:
        """The variables that a command gets, in order."""
        return [(name, value) for name, value in self.variables.items() if name in self.exported]

    @property
    def ended(self) -> bool:
        """Whether the script or the function ends."""
        return self.control in (EXIT, FAIL, RETURN)


def note(main: State, other: State, why: frozenset[Key]) -> bool:
    """Note what differs after two branches: it depends on their condition. Whether that is only an optional secret."""
    depends, theirs = main.depends, other.depends
    names = [
        name
        for name in changed(main.variables, other.variables)
        if not same(main.variables.get(name), other.variables.get(name))
    ]
    names += main.exported ^ other.exported
    if main.args is not other.args:
        names.append("@")
    if main.functions is not other.functions:
        names += [name + "()" for name in other.functions if other.functions[name] is not main.functions.get(name)]
    for name in names:
        depends[name] = depends.get(name, why) | theirs.get(name, why) | why
    for name, more in theirs.items():
        depends[name] = depends.get(name, more) | more
    return bool(names) and all(_adds_secret(main.variables.get(name), other.variables.get(name)) for name in names)


def _adds_secret(main: Value | None, other: Value | None) -> bool:
    """Whether the second of two arrays has the words of the first and then `--api-key $KEY` or the like."""
    if not isinstance(main, list) or not isinstance(other, list) or other[: len(main)] != main:
        return False
    added = other[len(main) :]
    return len(added) == 2 and is_secret_name((added[0].value or "").lstrip("-")) and added[1].text.flat == HOLE


def join(main: State, other: State) -> State:
    """The state after a branch that cannot be decided: what differs is unknown, shown as the main branch leaves it."""
    one, two = main.variables, other.variables
    for name in changed(one, two):
        ours, theirs = one.get(name), two.get(name)
        if not same(ours, theirs):
            one[name] = _unsure(name, ours, theirs)
    if main.exported is not other.exported or other.doubtful:
        main.doubtful |= other.doubtful | (main.exported ^ other.exported)
        main.exported |= other.exported
    main.typed |= other.typed
    if main.aliases is not other.aliases:
        main.aliases = {**other.aliases, **main.aliases}
    main.sourced = main.sourced or other.sourced
    main.errexit = main.errexit and other.errexit
    if main.files is not other.files:
        main.files = main.files.joined(other.files)
    if main.folder is not other.folder:
        main.folder = None
    if main.installed is not other.installed:
        main.installed = _installed(main.installed, other.installed)
    if main.args is not other.args:
        main.args = None
    if main.functions is not other.functions:
        functions = main.own_functions()
        for function, body in other.functions.items():
            functions.setdefault(function, body)
    return main


def changed(one: dict[str, Value], two: dict[str, Value]) -> list[str]:
    """The names whose values differ between two states."""
    if one == two:  # compares texts and words by identity, and takes no step of the interpreter for each
        return []
    return [
        *[name for name, value in one.items() if two.get(name) is not value],
        *[name for name in two if name not in one],
    ]


def _installed(ours: dict[str, ReleaseClaim], theirs: dict[str, ReleaseClaim]) -> dict[str, ReleaseClaim]:
    """What is installed after either of two branches: where they differ, some release."""
    same = {
        engine: claim
        for engine, claim in ours.items()
        if (other := theirs.get(engine)) is claim or (other is not None and claim.release and other.release == claim.release)
    }
    return {engine: same.get(engine) or ReleaseClaim(None, "pip") for engine in {**ours, **theirs}}


def same(ours: Value | None, theirs: Value | None) -> bool:
    """Whether two values are known to be equal, or are the same unknown."""
    return ours is theirs or (_content(ours) == _content(theirs) and ours is not UNSET and theirs is not UNSET)


def _content(value: Value | None) -> object:
    if isinstance(value, TracedText):
        return value.flat, value.shown
    if isinstance(value, list):
        return tuple((word.text.flat, word.shown) for word in value)
    if isinstance(value, dict):
        return tuple((key, text.flat, text.shown) for key, text in value.items())
    return None


def _unsure(name: str, ours: Value | None, theirs: Value | None) -> Value:
    perhaps = _either(ours, theirs)
    if isinstance(ours, list) or (ours is None and isinstance(theirs, list)):
        expression = "${" + name + "[@]}"
        if not isinstance(ours, list) or not ours:
            return unsure_items(name, perhaps)
        # the first word stands for all that the array may hold, the others add nothing to that
        options = [perhaps] + [EMPTY] * (len(ours) - 1)
        return [
            Word(TracedText((unknown(expression, word.text.span(), word.shown, option),)), word.site, many=True)
            for word, option in zip(ours, options, strict=True)
        ]
    if isinstance(ours, dict) or isinstance(theirs, dict):
        return unsure_items(name)
    text = ours if isinstance(ours, TracedText) else None
    shown = text.shown if text is not None else ("${" + name + "}" if ours is None else "")
    if ours is None or theirs is None:
        perhaps = None  # the environment may have set it before
    piece = unknown("${" + name + "}", text.span() if text else None, shown, perhaps)
    piece.filled = _is_filled(ours) and _is_filled(theirs)
    return TracedText((piece,))


def _is_filled(value: Value | None) -> bool:
    """Whether a text is sure not to be empty."""
    if not isinstance(value, TracedText):
        return False
    return any(piece.filled or (piece.expression is None and piece.text and not piece.assumed) for piece in value.pieces)


def unsure_items(name: str, perhaps: TracedText | None = None) -> list[Word]:
    """An unknown array of unknown size."""
    return [Word(TracedText((unknown("${" + name + "[@]}", None, shown="", perhaps=perhaps),)), None, many=True)]


def _either(ours: Value | None, theirs: Value | None) -> TracedText | None:
    """The words of both values, one after the other; None if one of them is not known to be text."""
    space = TracedText.of(" ")
    texts: list[TracedText] = []
    for value in (ours, theirs):
        if isinstance(value, TracedText):
            texts += [value, space]
        elif isinstance(value, list):
            if any(word.many for word in value):
                return None
            for word in value:
                texts += [word.text, space]
        else:
            return None
    return TracedText.join(texts)
