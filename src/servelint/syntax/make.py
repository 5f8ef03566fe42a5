"""Makefiles: variables, conditions, rules and recipe lines, evaluated as far as they are known without running make."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, HOLE, TracedText, unknown

_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*#")


class _Lines:
    """The lines of a source, one after the other."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.starts = source.line_starts
        self.at = 0

    @property
    def more(self) -> bool:
        return self.at < len(self.starts)

    def bounds(self, index: int) -> tuple[int, int]:
        """Where a line starts, and where it ends without its line end."""
        low = self.starts[index]
        return low, low + len(self.source.line_text(index + 1))

    def peek(self) -> str:
        low, high = self.bounds(self.at)
        return self.source.text[low:high]

    def logical(self) -> TracedText:
        """The next line in make's own language, without its comment, joined with the lines that continue it."""
        text = self.source.text
        parts: list[TracedText] = []
        while self.more:
            low, high = self.bounds(self.at)
            self.at += 1
            if parts:
                while low < high and text[low] in " \t":
                    low += 1
            if not _continues(text[low:high]):
                parts.append(_at(self.source, low, high))
                break
            stop = low + len(text[low : high - 1].rstrip(" \t"))
            parts += [_at(self.source, low, stop), TracedText.of(" ", Span(self.source, high - 1, high))]
        whole = TracedText.join(parts)
        comment = _COMMENT.search(whole.flat)
        return _unescaped(whole.cut(0, comment.end() - 1) if comment is not None else whole)

    def recipe(self, prefix: str) -> TracedText:
        """The next line of a recipe as the shell gets it: continued lines stay as they are, without their prefix."""
        text = self.source.text
        parts: list[TracedText] = []
        while self.more:
            low, high = self.bounds(self.at)
            self.at += 1
            if low < high and text[low] == prefix:
                low += 1
            parts.append(_at(self.source, low, high))
            if not _continues(text[low:high]) or not self.more:
                break
            parts.append(TracedText.of("\n", Span(self.source, high, self.starts[self.at])))
        return TracedText.join(parts)

    def body(self) -> TracedText:
        """The lines of a `define` up to its `endef`."""
        start = end = self.starts[self.at] if self.more else len(self.source.text)
        depth = 1
        while self.more:
            words = self.peek().split()
            _, high = self.bounds(self.at)
            self.at += 1
            if words[:1] == ["define"]:
                depth += 1
            elif words[:1] == ["endef"]:
                depth -= 1
                if depth == 0:
                    break
            end = high
        return _at(self.source, start, max(start, end))


def _unescaped(text: TracedText) -> TracedText:
    """A line without the backslashes that keep a `#` from starting a comment."""
    return text.sub(re.compile(r"\\#"), lambda match: text.cut(match.start() + 1, match.end()))


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _at(source: Source, start: int, end: int) -> TracedText:
    if end == len(source.text) and _continues(source.text[start:end]):
        end -= 1  # GNU make drops a backslash that ends the file
    return TracedText.at(source, start, end) if end > start else EMPTY


_DEPTH = 24
_STEPS_AT_MOST = 2_000
_STEPS_IN_ALL = 500_000
_LENGTH_AT_MOST = 100_000
_FUNCTION = re.compile(r"(call|error|eval|if|info|or|strip|warning)[ \t]+")
_SILENT = frozenset(("error", "eval", "info", "warning"))


@dataclass(slots=True, eq=False)
class Variable:
    """A variable. simple: its value is expanded already (`:=`); otherwise it is expanded where it is used."""

    value: TracedText
    simple: bool


class Scope:
    """The variables that an expansion sees."""

    def __init__(self, variables: dict[str, Variable]) -> None:
        self.variables = variables
        self.steps = self.in_all = 0
        self.resolving: set[str] = set()

    def with_(self, more: dict[str, Variable]) -> Scope:
        """The same scope with more variables, which hide others of the same name."""
        inner = Scope({**self.variables, **more})
        inner.steps, inner.in_all, inner.resolving = self.steps, self.in_all, self.resolving
        return inner

    def expand(self, text: TracedText, depth: int = 0) -> TracedText:
        """A text with its references replaced."""
        flat = text.flat
        at = flat.find("$")
        if at == -1:
            return text
        if depth == 0:
            self.steps = 0
        parts: list[TracedText] = []
        done = 0
        length = 0
        while at != -1 and at + 1 < len(flat):
            end, value = self.reference(text, at, depth)
            length += len(value.flat)
            if length > _LENGTH_AT_MOST:
                value = _unsure(text.cut(at, end))
            parts += [text.cut(done, at), value]
            done = end
            at = flat.find("$", done)
        return TracedText.join([*parts, text.cut(done)])

    def reference(self, text: TracedText, at: int, depth: int) -> tuple[int, TracedText]:
        """The reference at an offset: where it ends, and its value."""
        flat = text.flat
        following = flat[at + 1]
        if following == "$":
            return at + 2, TracedText.of("$", text.span(at, at + 2))
        if following not in "({":
            return at + 2, self.named(text.cut(at + 1, at + 2), text.cut(at, at + 2), depth)
        close = _closing(flat, at + 2, following)
        whole, inner = text.cut(at, min(close + 1, len(flat))), text.cut(at + 2, close)
        self.steps += 1
        self.in_all += 1
        if depth > _DEPTH or self.steps > _STEPS_AT_MOST or self.in_all > _STEPS_IN_ALL:
            return close + 1, _unsure(whole)
        if (function := _FUNCTION.match(inner.flat)) is not None:
            return close + 1, self.function(function.group(1), inner.cut(function.end()), whole, depth + 1)
        return close + 1, self.named(inner, whole, depth + 1)

    def named(self, name: TracedText, whole: TracedText, depth: int) -> TracedText:
        """The value of the variable of a name; the name and the value may hold references."""
        known = (self.expand(name, depth + 1).value or "").strip()
        variable = self.variables.get(known)
        if variable is None or known in self.resolving:
            return _unsure(whole)
        if variable.simple:
            return variable.value
        self.resolving.add(known)
        value = self.expand(variable.value, depth + 1)
        self.resolving.discard(known)
        return value

    def function(self, name: str, rest: TracedText, whole: TracedText, depth: int) -> TracedText:
        """The value of a call of one of the functions that need neither make nor the machine."""
        if name in _SILENT:
            return EMPTY
        if name == "strip":
            return _stripped(self.expand(rest, depth))
        if name == "if":
            return self.choice(arguments(rest), whole, depth)
        if name == "or":
            for part in arguments(rest):
                value = self.expand(part.strip(), depth)
                if not value.known:
                    return _unsure(whole)
                if value.flat:
                    return value
            return EMPTY
        given = [self.expand(part if index else part.strip(), depth) for index, part in enumerate(arguments(rest))]
        body = self.variables.get(given[0].value or "")
        if body is None:
            return _unsure(whole)
        own = {str(index): Variable(value, simple=True) for index, value in enumerate(given)}
        own.update({str(index): Variable(EMPTY, simple=True) for index in range(len(given), 10)})
        inner = self.with_(own)
        value = inner.expand(body.value, depth)
        self.steps, self.in_all = inner.steps, inner.in_all
        return value

    def choice(self, parts: list[TracedText], whole: TracedText, depth: int) -> TracedText:
        """`$(if condition,then,else)`."""
        condition = self.expand(parts[0].strip(), depth)
        then = self.expand(parts[1], depth) if len(parts) > 1 else EMPTY
        otherwise = self.expand(parts[2], depth) if len(parts) > 2 else EMPTY
        if not condition.flat and not condition.assumed:
            return otherwise
        if not condition.flat:
            # the condition is an empty default
            return otherwise.as_default()
        if condition.flat.strip(HOLE):
            return then
        if otherwise.flat:
            return _unsure(whole)
        return TracedText((unknown(whole.shown, whole.extent(), shown="", perhaps=then),))


def _stripped(text: TracedText) -> TracedText:
    """The words of a text with one space between them."""
    parts: list[TracedText] = []
    for word in text.split():
        parts += [word, TracedText.of(" ")]
    return TracedText.join(parts[:-1])


def _unsure(whole: TracedText) -> TracedText:
    return TracedText((unknown(whole.shown, whole.extent()),))


def _closing(flat: str, at: int, opening: str) -> int:
    """The offset of the bracket that closes a reference whose content starts at an offset, or the end of the text."""
    end = ")" if opening == "(" else "}"
    depth = 0
    while at < len(flat):
        if flat[at] == opening:
            depth += 1
        elif flat[at] == end:
            if depth == 0:
                return at
            depth -= 1
        at += 1
    return len(flat)


def arguments(text: TracedText) -> list[TracedText]:
    """The arguments of a function, which commas outside of brackets separate."""
    flat = text.flat
    found: list[TracedText] = []
    depth = start = 0
    for at, char in enumerate(flat):
        if char in "({":
            depth += 1
        elif char in ")}":
            depth -= 1
        elif char == "," and depth == 0:
            found.append(text.cut(start, at))
            start = at + 1
    return [*found, text.cut(start)]


_ASSIGNMENT = re.compile(r"[ \t]*([^\s:#=!?+$]+)[ \t]*(:{0,3}=|\?=|\+=|!=)[ \t]*")
_MODIFIERS = re.compile(r"[ \t]*(override|export|private|unexport)[ \t]+(?![:+?!]?=)")
_CONDITION = re.compile(r"[ \t]*(ifeq|ifneq|ifdef|ifndef|else|endif)\b[ \t]*")
_DEFINE = re.compile(r"[ \t]*define[ \t]+([^\s:=?+!]+)[ \t]*(:{0,3}=|\?=|\+=|!=)?[ \t]*$")
_INCLUDE = re.compile(r"[ \t]*(?:-include|sinclude|include)[ \t]+")
_EXPORT = re.compile(r"[ \t]*(un)?export\b[ \t]*(.*)$")
_OPERANDS = re.compile(r"([\"'])(.*?)\1[ \t]+([\"'])(.*?)\3[ \t]*$")
_NESTED_AT_MOST = 3
_PIECES_AT_MOST = 4_000

YES, TAKEN, LIKELY, UNLIKELY, DROPPED, NO = range(6)
"""How far what stands in a condition counts: surely; as long as no default is overridden; if it is decided so somewhere else,
which is likely or not; only if a default is overridden; not at all."""
_OTHER = {YES: NO, TAKEN: DROPPED, LIKELY: UNLIKELY, UNLIKELY: LIKELY, DROPPED: TAKEN, NO: YES}


@dataclass(slots=True, eq=False)
class Rule:
    """A rule.

    Attributes:
        targets: As written.
        prerequisites: Names.
        recipe: Its lines as the makefile writes them.
    """

    targets: list[TracedText]
    prerequisites: list[str]
    recipe: list[TracedText] = field(default_factory=list)


class Makefile:
    """What a makefile sets.

    Attributes:
        variables: The variables of all targets.
        own: Target to the variables of that target only.
        own_exported: Target to the names of those that are exported.
        exported: Names of exported variables.
        all_exported: Whether every variable is exported.
        one_shell: Whether one shell runs all lines of a recipe.
        unsure: Whether an included file could not be read.
        rules: The rules.
        undecided: The conditions that the command line or the environment may decide another way, by their places, and
            whether a default of the makefile decides each.
        forced: Those that are decided by the caller.
    """

    def __init__(self, forced: dict[Span, bool] | None = None) -> None:
        self.variables: dict[str, Variable] = {}
        self.own: dict[str, dict[str, Variable]] = {}
        self.own_exported: dict[str, set[str]] = {}
        self.exported: set[str] = set()
        self.all_exported = False
        self.one_shell = False
        self.unsure = False
        self.rules: list[Rule] = []
        self.undecided: dict[Span, bool] = {}
        self.forced = forced or {}
        self.scope = Scope(self.variables)


OpenFile = Callable[[str], "Source | None"]


def read(source: Source, open_file: OpenFile, forced: dict[Span, bool] | None = None) -> Makefile:
    """Read a makefile and the files that it includes.

    Args:
        source: The makefile.
        open_file: Opens an included file; None if it is not there.
        forced: Whether conditions hold, by their places.
    """
    makefile = Makefile(forced)
    _Reader(makefile, source, open_file, 0).read()
    return makefile


@dataclass(slots=True, eq=False)
class _Condition:
    """A condition.

    Attributes:
        counts: How far the current branch counts.
        last: How far it would without the conditions around, for its `else`.
        outer: How far what stands around counts.
    """

    counts: int
    last: int
    outer: int


class _Reader:
    def __init__(self, makefile: Makefile, source: Source, open_file: OpenFile, depth: int) -> None:
        self.makefile = makefile
        self.source = source
        self.lines = _Lines(source)
        self.open_file = open_file
        self.depth = depth
        self.conditions: list[_Condition] = []
        self.rule: Rule | None = None
        self.prefix = "\t"

    @property
    def counts(self) -> int:
        return self.conditions[-1].counts if self.conditions else YES

    def expand(self, text: TracedText) -> TracedText:
        return self.makefile.scope.expand(text)

    def read(self) -> None:
        while self.lines.more:
            line = self.lines.peek()
            if self.rule is not None and line[:1] == self.prefix:
                recipe = self.lines.recipe(self.prefix)
                if self.counts != NO:
                    self.rule.recipe.append(recipe)
                continue
            if not line.strip():
                self.lines.at += 1
                continue
            text = self.lines.logical()
            if not text.flat.strip():
                continue
            if (condition := _CONDITION.match(text.flat)) is not None:
                self.condition(condition.group(1), text.cut(condition.end()).strip())
            elif (define := _DEFINE.match(text.flat)) is not None:
                self.assign(define.group(1), define.group(2) or "=", self.lines.body())
            elif self.counts != NO:
                self.statement(text)

    # -- conditions

    def condition(self, word: str, rest: TracedText) -> None:
        if word == "endif":
            if self.conditions:
                self.conditions.pop()
            return
        if word == "else":
            if not self.conditions:
                return
            self.conditions[-1] = self.otherwise(self.conditions[-1], rest)
            return
        outer = self.counts
        counts = self.decided(word, rest)
        self.conditions.append(_Condition(max(outer, counts), counts, outer))

    def otherwise(self, before: _Condition, rest: TracedText) -> _Condition:
        """The branch of an `else`, or of an `else ifeq (...)`."""
        counts = _OTHER[before.last]
        chained = _CONDITION.match(rest.flat)
        if chained is None or chained.group(1) in ("else", "endif"):
            return _Condition(max(before.outer, counts), counts, before.outer)
        own = self.decided(chained.group(1), rest.cut(chained.end()).strip())
        # the branch that most surely counts decides what is left for those after it
        return _Condition(max(before.outer, counts, own), min(before.last, max(counts, own)), before.outer)

    def decided(self, word: str, rest: TracedText) -> int:
        if word in ("ifdef", "ifndef"):
            variable = self.makefile.variables.get(self.expand(rest).value or "")
            value = variable.value if variable is not None else None
            found = UNLIKELY if value is None else _found(bool(value.flat), value.flat.strip(HOLE) == value.flat, value.assumed)
        else:
            left, right = self.operands(rest)
            same = left.flat.replace(HOLE, "") == right.flat.replace(HOLE, "")
            found = _found(same, left.known and right.known, left.assumed or right.assumed)
        written = rest.span()
        if found not in (YES, NO) and written is not None and written.source is self.source:
            condition = Span(self.source, self.source.text.rfind(word, 0, written.start), written.end)
            self.makefile.undecided[condition] = found in (TAKEN, DROPPED)
            if condition in self.makefile.forced:
                return YES if self.makefile.forced[condition] else NO
        return _OTHER[found] if word in ("ifndef", "ifneq") else found

    def operands(self, rest: TracedText) -> tuple[TracedText, TracedText]:
        """The two sides of `ifeq (a,b)` or `ifeq "a" "b"`."""
        flat = rest.flat
        if (quoted := _OPERANDS.match(flat)) is not None:
            return self.expand(rest.cut(*quoted.span(2))), self.expand(rest.cut(*quoted.span(4)))
        inner = rest.cut(1, len(flat.rstrip()) - 1)
        sides = arguments(inner)
        right = sides[1] if len(sides) > 1 else EMPTY
        return self.expand(sides[0].strip()), self.expand(right.strip())

    # -- statements

    def statement(self, text: TracedText) -> None:
        exported, rest = _modified(text)
        if (assignment := _ASSIGNMENT.match(rest.flat)) is not None:
            self.rule = None
            name = assignment.group(1)
            self.assign(name, assignment.group(2), rest.cut(assignment.end()))
            if exported:
                self.makefile.exported.add(name)
            if name == ".RECIPEPREFIX":
                self.prefix = rest.flat[assignment.end() : assignment.end() + 1] or "\t"
            return
        if (export := _EXPORT.match(text.flat)) is not None:
            self.export(export.group(1) is None, self.expand(text.cut(*export.span(2))))
            return
        if (include := _INCLUDE.match(text.flat)) is not None:
            self.include(self.expand(text.cut(include.end())))
            return
        self.start_rule(text)

    def assign(self, name: str, operator: str, raw: TracedText) -> None:
        if self.counts in (NO, DROPPED):
            return
        if (new := self.given(name, self.makefile.variables.get(name), operator, raw)) is not None:
            self.makefile.variables[name] = new

    def given(self, name: str, before: Variable | None, operator: str, raw: TracedText) -> Variable | None:
        """The variable after an assignment in the current condition; None if it does not change."""
        doubtful = self.counts in (LIKELY, UNLIKELY)
        if doubtful and operator == "+=" and before is not None:
            more = self.expand(raw)
            shown = more.shown if self.counts == LIKELY else ""
            return _assigned(
                self.makefile.scope,
                before,
                "+=",
                TracedText((unknown(f"$({name})", more.extent(), shown=shown, perhaps=more),)),
            )
        new = _assigned(self.makefile.scope, before, operator, raw)
        if new is None or not doubtful:
            return new
        value = new.value if self.counts == LIKELY else before.value if before is not None else EMPTY
        return Variable(TracedText((unknown(f"$({name})", value.extent(), shown=value.shown),)), simple=True)

    def export(self, on: bool, names: TracedText) -> None:
        words = names.flat.split()
        self.makefile.unsure = self.makefile.unsure or not names.known
        if not words:
            self.makefile.all_exported = on
        elif on:
            self.makefile.exported.update(words)
        else:
            self.makefile.exported.difference_update(words)

    def include(self, names: TracedText) -> None:
        for name in names.flat.split():
            beside = self.open_file(name) if HOLE not in name and self.depth < _NESTED_AT_MOST else None
            if beside is None:
                self.makefile.unsure = True
                continue
            inner = _Reader(self.makefile, beside, self.open_file, self.depth + 1)
            inner.conditions = [_Condition(self.counts, self.counts, self.counts)]
            inner.read()

    def start_rule(self, text: TracedText) -> None:
        """`targets: prerequisites`, `targets: ; command`, or a variable of the targets only."""
        self.rule = None
        colon = _outside(text.flat, ":")
        if colon == -1:
            return
        targets = self.expand(text.cut(0, colon)).split()
        rest = text.cut(colon + 1 + text.flat.startswith("::", colon))
        if self.own_variable(targets, rest):
            return
        semicolon = _outside(rest.flat, ";")
        names = self.expand(rest if semicolon == -1 else rest.cut(0, semicolon)).flat
        # the last part of a static pattern rule (`a.o b.o: %.o: %.c`) holds its prerequisites
        prerequisites = names.rpartition(":")[2].replace("|", " ").split()
        special = {target.flat for target in targets}
        self.makefile.one_shell = self.makefile.one_shell or ".ONESHELL" in special
        self.makefile.all_exported = self.makefile.all_exported or ".EXPORT_ALL_VARIABLES" in special
        self.rule = Rule(targets, prerequisites)
        if semicolon != -1:
            self.rule.recipe.append(rest.cut(semicolon + 1))
        self.makefile.rules.append(self.rule)

    def own_variable(self, targets: list[TracedText], rest: TracedText) -> bool:
        exported, rest = _modified(rest)
        assignment = _ASSIGNMENT.match(rest.flat)
        if assignment is None:
            return False
        name = assignment.group(1)
        for target in targets:
            own = self.makefile.own.setdefault(target.flat, {})
            before = own.get(name) or self.makefile.variables.get(name)
            new = self.given(name, before, assignment.group(2), rest.cut(assignment.end()))
            if new is not None and self.counts != DROPPED:
                own[name] = new
            if exported:
                self.makefile.own_exported.setdefault(target.flat, set()).add(name)
        return True


def _modified(text: TracedText) -> tuple[bool, TracedText]:
    """Whether `export` is among the modifiers in front of an assignment, and what follows them."""
    exported = False
    while (modifier := _MODIFIERS.match(text.flat)) is not None:
        exported = exported or modifier.group(1) == "export"
        text = text.cut(modifier.end())
    return exported, text


def _assigned(scope: Scope, before: Variable | None, operator: str, raw: TracedText) -> Variable | None:
    """The variable after an assignment; None if `?=` leaves it as it is."""
    if operator == "?=":
        # the environment may have set it
        return Variable(raw.as_default(), simple=False) if before is None else None
    if operator == "!=":
        return Variable(TracedText((unknown("$(shell " + raw.shown + ")", raw.extent()),)), simple=True)
    if operator == "+=" and before is not None:
        if len(before.value.pieces) > _PIECES_AT_MOST:
            return Variable(TracedText((unknown("$(...)", None),)), simple=True)
        new = scope.expand(raw) if before.simple else raw
        parts = (before.value, TracedText.of(" "), new) if before.value.flat and new.flat else (before.value, new)
        return Variable(TracedText.join(parts), before.simple)
    return Variable(raw, simple=False) if operator in ("=", "+=") else Variable(scope.expand(raw), simple=True)


def _found(holds: bool, known: bool, assumed: bool) -> int:
    if not known:
        return LIKELY if holds else UNLIKELY
    if assumed:
        return TAKEN if holds else DROPPED
    return YES if holds else NO


def _outside(flat: str, char: str) -> int:
    """Where a character first stands outside of references, or -1."""
    at = 0
    while at < len(flat):
        if flat[at] == "$" and flat[at + 1 : at + 2] in ("(", "{"):
            at = _closing(flat, at + 2, flat[at + 1]) + 1
        elif flat[at] == char:
            return at
        else:
            at += 1
    return -1
