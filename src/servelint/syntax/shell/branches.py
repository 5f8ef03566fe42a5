"""Undecided conditions of a script, and runs that decide them one way or the other.

The walk over a script (evaluate) joins the branches of a condition that it cannot decide: what they leave different is unknown.
It notes on which conditions each command depends. Where an engine's words depend on some, the script is walked again with
these conditions decided, so that each alternative is one that can happen: what one condition says holds for the next.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.text import TracedText, unknown
from servelint.syntax.shell.arithmetic import integer
from servelint.syntax.shell.state import Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from servelint.core.source import Span
    from servelint.syntax.shell.evaluate import Evaluator
    from servelint.syntax.shell.state import Fact, Key, State

_PLAIN = re.compile(r"\"?\$(?:\{(\w+|[@#*])(?::?-)?\}|(\w+|[@#*]))\"?", re.ASCII)
_DEFAULT = re.compile(r"\"?\$\{(\w+):?-([^}]*)\}\"?", re.ASCII)
_NAMES = re.compile(r"\$\{?[!#]?(\w+|[@#*])|\b([A-Za-z_]\w*)", re.ASCII)
_OPPOSITE = {"=": "!=", "!=": "=", ">=": "<", "<=": ">", "is": "not"}
_ARGUMENTS = frozenset("@*#")
_COMBINED_AT_MOST = 3
"""Conditions that are decided in every combination; of more, each is decided the other way by itself."""


def names(test: str) -> list[str]:
    """The variables that the text of a test may name."""
    return list(dict.fromkeys([match.group(1) or match.group(2) for match in _NAMES.finditer(test)]))


_LEAVES = re.compile(r"(?m)^[ \t]*(?:exec[ \t]|exit\b)")
_HALF = re.compile(
    r"(?m)^[ \t]*(?:if|then|el\w+|fi|for|while|until|do|done|case|esac|function|[{()}])(?:[\s;]|$)"
    r"|<<|\\$|[{(]$|;;|['\"]$"
)
"""What may be a part of a statement, a heredoc or a quote that other lines end."""


class Printed:
    """What commands print, text by text.

    Where the branches of an undecided condition print lines of a file after which a script ends, the joined lines are not a
    script: marks divide them as a statement of the file would.

    Args:
        into_file: Whether the commands print into a file, which may be a script.
    """

    __slots__ = ("_marks", "into_file", "texts")

    def __init__(self, into_file: bool = False) -> None:
        self.into_file = into_file
        self.texts: list[TracedText] = []
        self._marks: set[int] = set()

    def divide(self, ends: list[int], test: TracedText) -> None:
        """Divide what the two branches of a condition have printed; only whole lines that leave the script are.

        Args:
            ends: How much was printed before them, after the one and after the other.
            test: The condition.
        """
        start, middle, end = ends
        before, *arms = [
            "".join([one.flat for one in self.texts[low:high] if id(one) not in self._marks])
            for low, high in ((0, start), (start, middle), (middle, end))
        ]
        whole = all(text == "" or text.endswith("\n") for text in (before, *arms)) and not before.endswith("\\\n")
        if not whole or any(_HALF.search(text) for text in arms) or not any(_LEAVES.search(text) for text in arms):
            return
        condition = TracedText((unknown(test.flat, test.span()),))
        begin = TracedText.join((TracedText.of('if [ -n "'), condition, TracedText.of('" ]; then\n:\n')))
        otherwise, finish = TracedText.of("else\n:\n"), TracedText.of("fi\n")
        self.texts.insert(end, finish)
        self.texts.insert(middle, otherwise)
        self.texts.insert(start, begin)
        self._marks |= {id(begin), id(otherwise), id(finish)}

    def text(self, script: bool = False) -> TracedText:
        """All of it. script: whether it is a shell script, which may have statements."""
        return TracedText.join([one for one in self.texts if script or id(one) not in self._marks])


class Decision:
    """An undecided condition.

    Attributes:
        main: The branch that a run without arguments and extra environment takes.
        assumed: Whether a default decides it.
        path: The conditions that must be decided so that the script gets to it, each with its outcome.
        optional: Whether all that it changes is that a secret is passed if one is given.
        fills: The empty variables that a loop over the script's arguments, which it decides, gives values.
    """

    __slots__ = ("assumed", "fills", "main", "optional", "path")

    def __init__(self, main: bool, assumed: bool, path: tuple[tuple[Key, bool], ...]) -> None:
        self.main = main
        self.assumed = assumed
        self.path = path
        self.optional = False
        self.fills: tuple[str, ...] = ()


class World:
    """One way to decide the conditions of a script.

    Attributes:
        forced: The conditions that are decided another way than in a plain run.
        matters: The conditions that make a difference.
        mains: Which branch a plain run takes, as the walk that joins branches has found it.
        trace: The conditions that were decided, in order, each with its outcome and its characters.
        covered: The branches that were run, also those that follow from other conditions.
        steps: How many steps the run may take.
    """

    __slots__ = ("_kept", "_names", "_stands_for", "covered", "facts", "forced", "mains", "matters", "steps", "trace")

    def __init__(self, forced: dict[Key, bool], mains: dict[Key, Decision], matters: set[Key]) -> None:
        self.forced = forced
        self.matters = matters
        self.mains = mains
        self.trace: dict[Key, tuple[bool, Span | None]] = {}
        self.covered: set[tuple[Key, bool]] = set()
        self.facts = Facts()
        self.steps = 0
        self._kept: list[object] = []
        self._names: dict[str, tuple[list[str], TracedText | None]] = {}
        self._stands_for: dict[int, object] = {}

    def choose(self, key: Key, status: Status, span: Span | None, shell: Evaluator) -> bool:
        """The outcome of an undecided condition. What it tests is no longer the default, if that makes another one."""
        main = self.mains.get(key)
        if main is None:  # in a branch that the first walk has never taken
            main = self.mains[key] = Decision(status.likely, status.value is not None, ())
            self.matters.add(key)
        chosen = self.forced.get(key, main.main)
        facts = status.yes if chosen else status.no
        for fact in facts if key in self.matters else ():  # what makes no difference must not decide what does
            self.facts.add(fact)
        if chosen != status.likely:
            for subject, relation, value in (*status.yes, *status.no):
                if status.value is None and relation in ("is", "not"):
                    continue  # `lsof -i :$PORT` says nothing of the value of PORT
                self._give(subject, value if relation == "=" and (subject, relation, value) in facts else None, shell.state)
        self.trace.setdefault(key, (chosen, span))
        self.covered.add((key, chosen))
        return chosen

    def _give(self, subject: str, value: str | None, state: State) -> None:
        """Set the variables that a test names to what it says of them, where only the environment or a default sets them."""
        names, right = self._names.get(subject, ([], None))
        for name in names:
            before = state.variables.get(name)
            if before is None or (isinstance(before, TracedText) and before.assumed):
                plain = value and right is not None and subject.startswith(("$" + name + "\0", "$" + name)) and len(names) == 1
                known = TracedText.of(value or "", right.span()) if plain and right is not None else None
                new = known or TracedText((unknown("${" + name + "}", None),))
                state.variables[name] = new
                self._kept.append(new)
                self._stands_for[id(new)] = self._stands_for.get(id(before), before)

    def subject(self, raw: str, shell: Evaluator, right: TracedText | None = None) -> str:
        """A name for the value of a raw text: two texts with the same name have the same value."""
        name, every, names = _named(raw)
        values: list[object] = []
        for used in every:
            value: object = shell.state.args if used.isdecimal() or used in _ARGUMENTS else shell.state.variables.get(used)
            value = self._stands_for.get(id(value), value)
            if value is not None:
                values.append(value)
        self._kept += values  # while they are kept, no other value has their id
        subject = "\0".join([name, *[str(id(value)) for value in values]])
        if right is not None or subject not in self._names:
            self._names[subject] = names, right
        return subject

    def test(self, status: Status, operator: str, raws: list[TracedText], shell: Evaluator, right: str | None) -> Status:
        """The status of a test, with what it says of its operand.

        Args:
            status: The status as far as the operands are known.
            operator: Such as `-z`, `=`, `-gt`.
            raws: The operands as written.
            shell: The evaluator.
            right: The right operand's value; None if it is not known, or is a pattern.
        """
        if status.certain:
            return status
        fact = self._fact(operator, raws, shell, right)
        if fact is None:
            text = " ".join([operator, *[raw.flat for raw in raws]])
            fact = (self.subject(text, shell), "is", "")
        return self.decided(Status(status.value, status.likely, status.assumed, (fact,), (_denied(fact),)))

    def decided(self, status: Status) -> Status:
        """A status, decided if what is known of other conditions decides it."""
        held = [self.facts.holds(fact) for fact in status.yes]
        if False in held or True in [self.facts.holds(_denied(fact)) for fact in status.yes]:
            return Status(False)
        if held and None not in held and not status.no:
            return Status(True)
        against = [self.facts.holds(fact) for fact in status.no]
        if False in against or (len(status.yes) == 1 and held == [True]):
            return Status(True)
        if against and len(status.no) == 1 and against == [True]:
            return Status(False)
        return status

    def _fact(self, operator: str, raws: list[TracedText], shell: Evaluator, right: str | None) -> Fact | None:
        if operator in ("-z", "-n"):
            subject = self.subject(raws[0].flat, shell)
            return subject, "=" if operator == "-z" else "!=", ""
        if right is None or len(raws) != 2:
            return None
        if operator in ("=", "==", "!="):
            default = _DEFAULT.fullmatch(raws[0].flat)
            if default is not None and default.group(2) != right and "$" not in default.group(2):
                subject = self.subject("$" + default.group(1), shell, raws[1])
                return subject, "!=" if operator == "!=" else "=", right
            return self.subject(raws[0].flat, shell, raws[1]), "!=" if operator == "!=" else "=", right
        number = integer(right)
        if number is None:
            return None
        subject = self.subject(raws[0].flat, shell)
        found = {
            "-eq": ("=", number), "-ne": ("!=", number), "-gt": (">=", number + 1), "-ge": (">=", number),
            "-lt": ("<=", number - 1), "-le": ("<=", number),
        }.get(operator)  # fmt: skip
        return (subject, found[0], str(found[1])) if found is not None else None

    def given(self, name: str, key: Key, span: Span | None, shell: Evaluator) -> bool | None:
        """Whether a variable that nothing sets has a value; None if it is not decided: it may have one."""
        subject = self.subject("$" + name, shell)
        status = self.decided(Status(None, False, yes=((subject, "!=", ""),), no=((subject, "=", ""),)))
        if not status.certain:
            return self.choose(key, status, span, shell) or None
        self.covered.add((key, bool(status.value)))
        return status.value

    def command(self, status: Status, text: str, shell: Evaluator) -> Status:
        """The status of a command that must be run to be known: the same command gives the same again."""
        fact = (self.subject(text, shell), "is", "")
        if status.certain:
            return status
        if (known := self.facts.holds(fact)) is not None:
            return Status(known)
        return Status(status.value, status.likely, status.assumed, (*status.yes, fact), (*status.no, _denied(fact)))


@lru_cache(maxsize=4096)
def _named(raw: str) -> tuple[str, list[str], list[str]]:
    """A name for a raw text, the parameters in it, and those of them that are variables, each once."""
    plain = _PLAIN.fullmatch(raw)
    name = "$" + (plain.group(1) or plain.group(2)) if plain is not None else raw.replace('"', "")
    used = [(match.group(1) or match.group(2), match.group(1)) for match in _NAMES.finditer(name)]
    return name, [one for one, _ in used], list(dict.fromkeys([one for one, braced in used if braced and one.isidentifier()]))


def _denied(fact: Fact) -> Fact:
    subject, relation, value = fact
    if relation == ">=":
        return subject, "<=", str(int(value) - 1)
    if relation == "<=":
        return subject, ">=", str(int(value) + 1)
    return subject, _OPPOSITE.get(relation, "is"), value


class Facts:
    """What the decided conditions of a run say of the values that they test."""

    __slots__ = ("_bounds", "_is", "_not", "_values")

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._not: dict[str, set[str]] = {}
        self._bounds: dict[str, tuple[int, int]] = {}
        self._is: dict[str, bool] = {}

    def add(self, fact: Fact) -> None:
        """Note a fact."""
        subject, relation, value = fact
        if relation == "=":
            self._values[subject] = value
        elif relation == "!=":
            self._not.setdefault(subject, set()).add(value)
        elif relation in (">=", "<="):
            low, high = self._bounds.get(subject, (-(1 << 63), 1 << 63))
            number = int(value)
            self._bounds[subject] = (max(low, number), high) if relation == ">=" else (low, min(high, number))
        else:
            self._is[subject] = relation == "is"

    def holds(self, fact: Fact) -> bool | None:
        """Whether a fact holds; None if that does not follow."""
        subject, relation, value = fact
        if relation in ("is", "not"):
            known = self._is.get(subject)
            return None if known is None else known == (relation == "is")
        if relation == "!=":
            found = self.holds((subject, "=", value))
            return None if found is None else not found
        given = self._values.get(subject)
        if relation == "=":
            if given is not None:
                return given == value
            if value in self._not.get(subject, ()):
                return False
            number = integer(value)
            low, high = self._bounds.get(subject, (0, 0))
            return False if subject in self._bounds and (number is None or not low <= number <= high) else None
        number = int(value)
        low, high = self._bounds.get(subject, (-(1 << 63), 1 << 63))
        if given is not None:
            low = high = integer(given) or 0
        if relation == ">=":
            return True if low >= number else False if high < number else None
        return True if high <= number else False if low > number else None


def explore(
    known: dict[Key, Decision],
    wanted: Iterable[Key],
    run: Callable[[World], bool],
    most: int,
    plain: bool,
    start: dict[Key, bool] | None = None,
) -> set[Key]:
    """Run a script with its undecided conditions decided in different ways: first as a plain run does, then each the other way.

    Args:
        known: The conditions that the first walk found.
        wanted: Those that matter.
        run: Runs the script in a world; False if it could not be run to its end.
        most: How many runs there may be.
        plain: Whether a plain run is made first; else the first walk was one.
        start: The conditions that the plain run decides another way, none by default.

    Returns:
        The conditions that may have an outcome which no run has had.
    """
    matters = set(wanted)
    for key in list(matters):
        matters |= {one for one, _ in known[key].path}
    queue: list[dict[Key, bool]] = []
    combined: list[dict[Key, bool]] = []  # of conditions that other runs have decided, one by one
    tried: set[frozenset[tuple[Key, bool]]] = {frozenset()}
    seen: set[Key] = set()
    covered: set[tuple[Key, bool]] = set()

    def follow(forced: dict[Key, bool], trace: dict[Key, bool]) -> None:
        for key, chosen in trace.items():
            more = {**forced, key: not chosen}
            mark = frozenset(more.items())
            if key in matters and key not in forced and mark not in tried:
                tried.add(mark)
                (combined if key in seen else queue).append(more)
        seen.update(trace)

    def missed() -> set[Key]:
        return {key for key in matters if (key, True) not in covered or (key, False) not in covered}

    runs = 0
    if plain:
        queue.append(start or {})
    else:
        trace = {key: one.main for key, one in known.items() if all(known[at].main == way for at, way in one.path)}
        covered.update(trace.items())
        follow({}, trace)
    while queue or combined:
        if not queue and len(seen & matters) > _COMBINED_AT_MOST and not missed():
            break
        forced = (queue or combined).pop(0)
        world = World(forced, known, matters)
        runs += 1
        if runs > most or not run(world):
            return missed()
        covered |= world.covered
        follow(forced, {key: chosen for key, (chosen, _) in world.trace.items()})
    return set()
