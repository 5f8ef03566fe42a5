"""Anchors of rules in the source of engines: the statements that a rule cites, as fingerprints that outlive a line number.

A rule's evidence names a release, a file and often a line. The anchor is the statement there with the conditions that lead to
it, normalised: where an attribute hangs, the text of messages, the order of `and` and `or`, comments and layout do not count.
A call of a function that only returns an expression is that expression. The next release is searched for the same statement:
first in the same function, then in the file, then in the whole package.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from servelint.harvest.sources import Tree

SAME, MOVED, CHANGED, GONE = "unchanged", "moved", "changed", "gone"
ALIKE = 0.55
"""Statements with fewer of their words in common are not taken for two forms of one."""
_SEVERAL = 2
"""A statement that decides the same is known by so many names of the rule, where its text is another."""
MOST = 4
"""The most statements that one citation stands for."""

_NEAR = 8
"""Lines between a condition and its statement, up to which a statement's text begins with the condition."""
_CITED = re.compile(r"([a-z]+)-(\d[\w.]*),? (?:\S+ (?:and|to) \S+ )?([\w./-]+\.py)(?::(\d+)(?:-(\d+))?)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LOG = re.compile(r"^(?:debug|info|warning|error|exception|critical|warn|log|print)(?:_once|_warning_once|_rank0)?$")
_FLIPPED = {"Eq": "NotEq", "In": "NotIn", "Is": "IsNot", "Lt": "GtE", "Gt": "LtE"}
_NOT = {**_FLIPPED, **{other: one for one, other in _FLIPPED.items()}}
_DEEPEST = 3
"""So many functions within each other are taken for what they return."""

Expressions = Callable[[str], "tuple[list[str], ast.expr] | None"]
"""The parameters and the expression of a function that only returns one, by the name that a module has for it."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule is about, as source spells it.

    Attributes:
        words: the names of options, keys and variables, and the values that its conditions name.
        values: the values of options that it is limited to, by the option's name; None for an option that is not given.
        raw: whether a call of a function that only returns an expression keeps its name.
    """

    words: frozenset[str] = frozenset()
    values: Mapping[str, frozenset[str | None]] = field(default_factory=dict)
    raw: bool = False


ANY = Subject()
RAW = Subject(raw=True)
_ALWAYS, _NEVER = "always", "never"


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that a rule's evidence names: a file of a release, and lines of it (0 for the whole file)."""

    engine: str
    release: str
    path: str
    first: int
    last: int
    says: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What decides something, with the conditions that lead to it.

    Attributes:
        path: the file.
        function: the qualified name of the function or class.
        first: its first line.
        last: its last line.
        kind: raise, log, assign, return, call, element, decorators.
        guards: the conditions around it, normalised, outermost first.
        outcome: what it does, normalised; empty for raise and log.
        words: the identifiers and words in it and in its conditions.
        prints: what a raise or log statement prints, with {} for values.
        text: the source, of the innermost condition on.
        heads: the lines of the statements around it.
        restricted: what it decides for a subject: of alternatives only those that name it, and comparisons by its values.
        around: the conditions around the only call of its function.
        fingerprint: equal for statements that decide the same.
    """

    path: str
    function: str
    first: int
    last: int
    kind: str
    guards: tuple[str, ...]
    outcome: str
    words: frozenset[str]
    prints: str = ""
    text: str = field(compare=False, default="")
    heads: tuple[tuple[int, int], ...] = field(compare=False, default=())
    restricted: Callable[[Subject], tuple[str, ...]] = field(compare=False, repr=False, default=lambda _: ())
    around: tuple[ast.expr, ...] = field(compare=False, repr=False, default=())
    fingerprint: str = field(compare=False, default="")


def citations(rule: dict[str, Any]) -> list[Citation]:
    """The places in Python source that a rule's evidence names."""
    found: list[Citation] = []
    for entry in rule["evidence"]:
        match = _CITED.match(entry.get("source", ""))
        if match is None:
            continue
        engine, release, path, first, last = match.groups()
        path = path if path.startswith(f"{engine}/") else f"{engine}/{path}"
        found.append(
            Citation(engine, release, path, int(first or 0), int(last or first or 0), f"{entry['source']} {entry['says']}")
        )
    return found


# -- statements of a module


def statements(path: str, text: str, read: Callable[[str], str | None] = lambda _: None) -> list[Statement]:
    """The deciding statements of a module, in order; none where it is not valid Python.

    read: gives the text of another file of the release, in which functions may be that this one calls
    """
    module = _parsed(text)
    if module is None:
        return []
    _Inline(_functions(module, read)).visit(module)
    reader = _Reader(path, text)
    reader.called = _called(module)
    return list(reader.block(module.body, "", (), ()))


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _functions(module: ast.Module, read: Callable[[str], str | None]) -> Expressions:
    """The functions and own properties of a module, and those that it imports, which only return an expression."""
    own: dict[str, tuple[list[str], ast.expr]] = {}
    imported: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported.update({one.asname or one.name: node.module for one in node.names if one.asname in (None, one.name)})
        elif isinstance(node, ast.ClassDef):
            own.update({f"{node.name}.{name}": one for name, one in _returning(node.body).items()})
    own.update(_returning(module.body))

    @cache  # a module calls the same functions again and again, and each reading unpacks a file
    def found(name: str) -> tuple[list[str], ast.expr] | None:
        if name not in own and name in imported:
            path = imported[name].replace(".", "/")
            text = read(f"{path}.py") or read(f"{path}/__init__.py") or ""
            return _returned(text).get(name) if f"def {name}(" in text else None
        return own.get(name)

    return found


@lru_cache(maxsize=256)
def _returned(text: str) -> dict[str, tuple[list[str], ast.expr]]:
    module = _parsed(text)
    if module is None:
        return {}
    own = _returning(module.body)
    _Inline(own.get).visit(module)
    return own


def _returning(body: list[ast.stmt]) -> dict[str, tuple[list[str], ast.expr]]:
    found: dict[str, tuple[list[str], ast.expr]] = {}
    for node in body:
        if not isinstance(node, ast.FunctionDef) or node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
            continue
        if any(not isinstance(one, ast.Name) or one.id not in ("property", "staticmethod") for one in node.decorator_list):
            continue
        kept = [
            one
            for one in node.body
            if not isinstance(one, (ast.Import, ast.ImportFrom))
            and not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        ]
        value = kept[0].value if len(kept) == 1 and isinstance(kept[0], ast.Return) else None
        if isinstance(value, (ast.Attribute, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp)):
            found[node.name] = [one.arg for one in node.args.args], value
    return found


class _Inline(ast.NodeVisitor):
    """Notes at each call of a function that only returns an expression what it returns."""

    def __init__(self, functions: Expressions) -> None:
        self.functions = functions
        self.owner = ""
        self.depth = 0

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer, self.owner = self.owner, node.name
        self.generic_visit(node)
        self.owner = outer

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            self._note(node, f"{self.owner}.{node.attr}", [node.value], ["self"])

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and not node.keywords:
            self._note(node, node.func.id, node.args)

    def _note(self, node: ast.expr, name: str, given: list[ast.expr], names: list[str] | None = None) -> None:
        known = self.functions(name) if self.depth < _DEEPEST else None
        if known is None or len(known[0]) != len(given) or (names is not None and known[0] != names):
            return
        values = dict(zip(known[0], given, strict=True))

        class Put(ast.NodeTransformer):
            def visit_Name(self, one: ast.Name) -> ast.expr:
                return values.get(one.id, one)

        meant: ast.expr = Put().visit(copy.deepcopy(known[1]))
        self.depth += 1
        self.visit(meant)
        self.depth -= 1
        node.meant = meant  # type: ignore[attr-defined]


def _meant(node: ast.AST) -> ast.AST:
    """What a call of a function that only returns an expression stands for."""
    while (other := getattr(node, "meant", None)) is not None:
        node = other
    return node


def _hash(kind: str, outcome: str, guards: Iterable[str]) -> str:
    return hashlib.sha256("\n".join([kind, outcome, *sorted(set(guards))]).encode()).hexdigest()[:16]


class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.split("\n")
        self.locals: dict[str, list[str]] = {}
        self.called: dict[str, tuple[ast.expr, ...]] = {}
        self.around: tuple[ast.expr, ...] = ()

    def block(
        self, body: list[ast.stmt], function: str, guards: tuple[ast.expr, ...], heads: tuple[tuple[int, int], ...]
    ) -> Iterator[Statement]:
        for node in body:
            yield from self.one(node, function, guards, heads)
            if isinstance(node, ast.If) and not node.orelse and _leaves(node.body):
                guards = (*guards, ast.UnaryOp(ast.Not(), node.test))

    def one(
        self,
        node: ast.stmt,
        function: str,
        guards: tuple[ast.expr, ...],
        heads: tuple[tuple[int, int], ...],
        *,
        elif_: bool = False,
    ) -> Iterator[Statement]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{function}.{node.name}".lstrip(".")
            first = min([node.lineno, *[one.lineno for one in node.decorator_list]])
            if any(isinstance(one, ast.Call) for one in node.decorator_list):
                yield from self.decorated(node, name, first)
            outer, self.locals = self.locals, {} if isinstance(node, ast.ClassDef) else _locals(node)
            before, self.around = self.around, () if isinstance(node, ast.ClassDef) else self.called.get(node.name, ())
            yield from self.block(node.body, name, (), ((first, node.body[0].lineno - 1),))
            self.locals, self.around = outer, before
        elif isinstance(node, ast.If):
            head = (node.lineno, node.test.end_lineno or node.lineno)
            yield from self.block(node.body, function, (*guards, node.test), (*heads, head))
            chained = node.orelse and (elif_ or (len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)))
            other = guards if chained else (*guards, ast.UnaryOp(ast.Not(), node.test))
            for one in node.orelse:
                yield from self.one(one, function, other, (*heads, head), elif_=bool(chained) and len(node.orelse) == 1)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                shown = ast.Compare(node.subject, [ast.Eq()], [ast.Constant(ast.unparse(case.pattern))])
                head = (case.pattern.lineno, case.pattern.end_lineno or case.pattern.lineno)
                yield from self.block(case.body, function, (*guards, shown), (*heads, (node.lineno, node.lineno), head))
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)):
            head = (node.lineno, max(node.lineno, node.body[0].lineno - 1))
            for part in (
                node.body,
                *[one.body for one in getattr(node, "handlers", [])],
                *[getattr(node, name, []) for name in ("orelse", "finalbody")],
            ):
                yield from self.block(part, function, guards, (*heads, head))
        else:
            yield from self.simple(node, function, guards, heads)

    def decorated(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, name: str, first: int
    ) -> Iterator[Statement]:
        outcome = " ".join(sorted(_normal(one) for one in node.decorator_list))
        yield Statement(
            self.path,
            name,
            first,
            node.lineno,
            "decorators",
            (),
            outcome,
            frozenset(word for one in node.decorator_list for word in _words(one)) | {node.name},
            text="\n".join(self.lines[first - 1 : node.lineno]),
            restricted=lambda _: ("decorators", outcome),
            fingerprint=_hash("decorators", outcome, ()),
        )

    def simple(
        self, node: ast.stmt, function: str, guards: tuple[ast.expr, ...], heads: tuple[tuple[int, int], ...]
    ) -> Iterator[Statement]:
        own = self.locals

        def made(kind: str, outcome: str, part: ast.AST = node, around: tuple[ast.expr, ...] = guards) -> Statement:
            first, last = int(getattr(part, "lineno", node.lineno)), int(getattr(part, "end_lineno", 0) or node.lineno)
            top = heads[-1][0] if around and heads and kind != "element" and first - heads[-1][1] <= _NEAR else first
            parts = [one for guard in around for one in _parts(guard)]
            names = dict.fromkeys(name for one in parts for name in _plain_names(one))
            local = [value for name in names for value in own.get(name, [])]
            conditions = (*[_normal(one) for one in parts], *local)
            prints = _prints(node) if kind in ("raise", "log") else ""
            if prints and not conditions:
                outcome = " ".join(sorted(_said(prints)))  # what it prints is all that there is to know it by

            def restricted(of: Subject) -> tuple[str, ...]:
                kept = [value for value in local if ":=" in value or of.raw or of.words & set(_WORD.findall(value))]
                done = _normal(part, of) if outcome and kind in ("assign", "return", "call") else outcome
                stated = {_normal(one, of) for guard in around for one in _parts(guard, of)} - {_ALWAYS}
                return (kind, done, *sorted({*stated, *kept}))

            return Statement(
                self.path,
                function,
                first,
                last,
                kind,
                conditions,
                outcome,
                words=frozenset(word for one in (part, *around) for word in _words(one)),
                prints=prints,
                text="\n".join(self.lines[top - 1 : last]),
                heads=heads,
                restricted=restricted,
                around=self.around,
                fingerprint=_hash(kind, outcome, conditions),
            )

        if isinstance(node, ast.Raise):
            yield made("raise", "")
        elif isinstance(node, ast.Assert):
            yield made("raise", "", node, (*guards, ast.UnaryOp(ast.Not(), node.test)))
        elif isinstance(node, ast.Return):
            yield made("return", _normal(node.value))
            yield from self.elements("return", node.value, made)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            annotation = f": {_normal(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
            for target in targets:
                value = "many" if len(getattr(node.value, "elts", getattr(node.value, "keys", ()))) > 6 else _normal(node.value)
                yield made("assign", f"{_normal(target)}{annotation} = {value}")
                yield from self.elements(_normal(target), node.value, made)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = _normal(node.value.func)
            if _LOG.match(name):
                yield made("log", "")
                return
            yield made("call", _normal(node.value))
            for keyword in node.value.keywords:
                if keyword.arg:
                    yield made("assign", f"{keyword.arg} = {_normal(keyword.value)}", keyword)
                    yield from self.elements(keyword.arg, keyword.value, made)

    def elements(self, name: str, value: ast.expr | None, made: Any) -> Iterator[Statement]:
        if isinstance(value, ast.Call) and value.args:
            value = value.args[0]
        if isinstance(value, ast.Dict):
            pairs = [(key, one) for key, one in zip(value.keys, value.values, strict=True) if key is not None]
            for key, one in pairs:
                yield made(
                    "element",
                    f"{name} has {_normal(key)}: {_normal(one)}",
                    ast.Tuple([key, one], ast.Load(), lineno=key.lineno, end_lineno=one.end_lineno),
                )
        elif isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            for one in value.elts:
                yield made("element", f"{name} has {_normal(one)}", one)


def _prints(node: ast.stmt) -> str:
    """The text that a statement prints, with {} for values."""
    parts: list[str] = []

    class Texts(ast.NodeVisitor):
        def visit_Constant(self, one: ast.Constant) -> None:
            parts.extend([one.value] if isinstance(one.value, str) else [])

        def visit_FormattedValue(self, _: ast.FormattedValue) -> None:
            parts.append("{}")

    printed = node.msg if isinstance(node, ast.Assert) else node.exc if isinstance(node, ast.Raise) else node
    if printed is not None:
        Texts().visit(printed)
    return "".join(parts)


def _called(module: ast.Module) -> dict[str, tuple[ast.expr, ...]]:
    """The conditions around the call of each function that a module defines and calls in one place, as a statement."""
    found: dict[str, list[tuple[ast.expr, ...]]] = {}
    defined: dict[str, int] = {}

    def walk(body: list[ast.stmt], guards: tuple[ast.expr, ...]) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                defined[node.name] = defined.get(node.name, 0) + 1
                walk(node.body, ())
            elif isinstance(node, ast.If):
                walk(node.body, (*guards, node.test))
                walk(node.orelse, (*guards, ast.UnaryOp(ast.Not(), node.test)))
                if not node.orelse and _leaves(node.body):
                    guards = (*guards, ast.UnaryOp(ast.Not(), node.test))
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)):
                for part in ("body", "orelse", "finalbody"):
                    walk(getattr(node, part, []), guards)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                function = node.value.func
                own = isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "self"
                found.setdefault(getattr(function, "attr" if own else "id", ""), []).append(guards)

    walk(module.body, ())
    named = Counter(
        one.attr if isinstance(one, ast.Attribute) else one.id
        for one in ast.walk(module)
        if isinstance(one, (ast.Attribute, ast.Name)) and isinstance(one.ctx, ast.Load)
    )
    return {name: around[0] for name, around in found.items() if defined.get(name) == named[name] == len(around) == 1}


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a block only leaves the function or the round of a loop."""
    return len(body) == 1 and isinstance(body[0], (ast.Return, ast.Continue))


def _locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, list[str]]:
    """What a function assigns to its variables, and under which conditions it appends to them."""
    found: dict[str, list[str]] = {}

    def walk(body: list[ast.stmt], guards: tuple[ast.expr, ...]) -> None:
        for node in body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, []).append(f"{node.targets[0].id} := {_normal(node.value)}")
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
                holder = node.value.func.value
                if isinstance(holder, ast.Name) and node.value.func.attr in ("append", "add", "extend") and guards:
                    said = " and ".join(sorted(_normal(part) for one in guards for part in _parts(one)))
                    found.setdefault(holder.id, []).append(f"{holder.id} + {said}")
            elif isinstance(node, ast.If):
                walk(node.body, (*guards, node.test))
                walk(node.orelse, (*guards, ast.UnaryOp(ast.Not(), node.test)))
            elif isinstance(node, (ast.For, ast.With, ast.Try, ast.While)):
                walk(node.body, guards)

    walk(function.body, ())
    return {name: values for name, values in found.items() if len([one for one in values if ":=" in one]) <= 1}


def _plain_names(part: ast.expr) -> list[str]:
    """The variables that a condition tests themselves."""
    if isinstance(part, ast.UnaryOp):
        part = part.operand
    if isinstance(part, ast.Compare):
        part = part.left
    return [part.id] if isinstance(part, ast.Name) else []


def _parts(guard: ast.expr, of: Subject = ANY) -> list[ast.expr]:
    """The conditions that must all hold for one to hold: nested ones and `and` are the same."""
    node = guard if of.raw else _meant(guard)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = node.operand if of.raw else _meant(node.operand)
        if isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.Or):
            return [part for one in inner.values for part in _parts(ast.UnaryOp(ast.Not(), one), of)]
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for one in node.values for part in _parts(one, of)]
    return [guard]


def _words(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr
        elif isinstance(one, ast.keyword) and one.arg:
            yield one.arg
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield from _WORD.findall(one.value)
            if " " not in one.value:
                yield one.value


def _normal(node: ast.AST | None, of: Subject = ANY) -> str:
    """An expression as text in which only what decides counts.

    of: what a rule is about; alternatives and members of collections that do not name it are left out beside those that do
    """
    if node is None:
        return "None"
    if getattr(node, "meant", None) is not None:
        if of.raw:
            return node.attr if isinstance(node, ast.Attribute) else node.func.id  # type: ignore[attr-defined]
        return _normal(_meant(node), of)
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and " " in node.value.strip():
            return "text"
        return repr(node.value)
    if isinstance(node, ast.JoinedStr):
        return "text"
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return "{" + ", ".join(sorted({_normal(one, of) for one in _kept(node.elts, of)})) + "}"
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return "{" + ", ".join(sorted([f"{_normal(key, of)}: {_normal(one, of)}" for key, one in pairs])) + "}"
    if isinstance(node, ast.BoolOp):
        return _combined([_normal(one, of) for one in _alternatives(node, of)], both=isinstance(node.op, ast.And))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _negated(node.operand, of)
    if isinstance(node, ast.Compare):
        return _compared(node, of)
    if isinstance(node, ast.Call):
        return _call(node, of)
    if isinstance(node, ast.Subscript):
        return f"{_normal(node.value, of)}[{_normal(node.slice, of)}]"
    if isinstance(node, ast.BinOp):
        return f"({_normal(node.left, of)} {type(node.op).__name__} {_normal(node.right, of)})"
    if isinstance(node, ast.UnaryOp):
        return f"{type(node.op).__name__} {_normal(node.operand, of)}"
    if isinstance(node, ast.IfExp):
        return f"({_normal(node.body, of)} if {_normal(node.test, of)} else {_normal(node.orelse, of)})"
    if isinstance(node, (ast.NamedExpr, ast.Starred, ast.Await)):
        return _normal(node.value, of)
    return " ".join([type(node).__name__, *[_normal(one, of) for one in ast.iter_child_nodes(node)]])


def _call(node: ast.Call, of: Subject) -> str:
    """A call: `getattr` is the attribute, and a conversion is what it converts."""
    name = _normal(node.func, of)
    if name == "getattr" and len(node.args) >= 2 and isinstance(node.args[1], ast.Constant):
        return str(node.args[1].value)
    if name in ("set", "frozenset", "list", "tuple", "sorted", "bool", "cast") and node.args and not node.keywords:
        return _normal(node.args[-1], of)
    arguments = [_normal(one, of) for one in node.args]
    arguments += sorted([f"{one.arg}={_normal(one.value, of)}" for one in node.keywords])
    return f"{name}({', '.join(arguments)})"


def _alternatives(node: ast.BoolOp, of: Subject, *, negated: bool = False) -> list[ast.expr]:
    """The operands of `or`, negated of `and`, that name what a rule is about; all of them otherwise."""
    return node.values if isinstance(node.op, ast.And) is not negated else _kept(node.values, of)


def _kept(nodes: list[ast.expr], of: Subject) -> list[ast.expr]:
    """The nodes that name one of the words; all of them where none does."""
    return [one for one in nodes if of.words and not of.words.isdisjoint(_words(one))] or nodes


def _combined(parts: list[str], *, both: bool) -> str:
    """Join conditions by `and` or by `or`, where some always or never hold."""
    neutral, final = (_ALWAYS, _NEVER) if both else (_NEVER, _ALWAYS)
    kept = set(parts) - {neutral}
    if final in kept or not kept:
        return final if final in kept else neutral
    return f"({(' and ' if both else ' or ').join(sorted(kept))})" if len(kept) > 1 else next(iter(kept))


def _negated(node: ast.expr, of: Subject = ANY) -> str:
    meant = node if of.raw else _meant(node)
    if isinstance(meant, ast.UnaryOp) and isinstance(meant.op, ast.Not):
        return _normal(meant.operand, of)
    if isinstance(meant, ast.Compare) and len(meant.ops) == 1:
        return _compared(meant, of, negated=True)
    if isinstance(meant, ast.BoolOp):
        parts = [_negated(one, of) for one in _alternatives(meant, of, negated=True)]
        return _combined(parts, both=isinstance(meant.op, ast.Or))
    return f"not {_normal(meant, of)}"


def _compared(node: ast.Compare, of: Subject = ANY, *, negated: bool = False) -> str:
    operators = [type(one).__name__ for one in node.ops]
    if negated:
        operators = [_NOT[one] for one in operators]
    named = of.values.get(_normal(node.left, of)) if len(operators) == 1 else None
    against = _constants(node.comparators[0]) if named else None
    if named and against is not None and operators[0] in _MEMBER:
        holding = {one for one in named if (one in against) is _MEMBER[operators[0]]}
        if len(holding) in (0, len(named)):
            return _ALWAYS if holding else _NEVER
        return f"{_normal(node.left, of)} among {sorted(map(str, holding))}"
    parts = [_normal(node.left, of)]
    for operator, one in zip(operators, node.comparators, strict=True):
        parts += [operator, _normal(one, of)]
    return " ".join(parts)


_MEMBER = {"Eq": True, "In": True, "Is": True, "NotEq": False, "NotIn": False, "IsNot": False}


def _constants(node: ast.expr) -> set[Any] | None:
    """The constants that a value is compared with; None where they are not known."""
    nodes = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else [node]
    found = [one.value for one in nodes if isinstance(one, ast.Constant)]
    return set(found) if len(found) == len(nodes) and all(one is None or isinstance(one, str) for one in found) else None


# -- the statements that a citation means


def rule_words(rule: dict[str, Any]) -> frozenset[str]:
    """The names of options, keys and variables and the values that a rule's conditions name, as source spells them."""
    found: set[str] = set()

    def add(part: Any) -> None:
        if isinstance(part, dict):
            for key, one in part.items():
                found.update(re.split(r"[./]", str(key)))
                add(one)
        elif isinstance(part, list):
            for one in part:
                add(one)
        elif isinstance(part, str):
            found.update([part, *part.split(".")])

    for name in ("when", "cases", "at"):
        add(rule.get(name))
    spelled = {one.replace("-", "_") for one in found} | found
    return frozenset(one for one in spelled if len(one) > 2 and one not in _COMMON)


_COMMON = frozenset({
    "any", "all", "not", "set", "above", "below", "at-least", "at-most", "at_least", "at_most", "is-not", "is_not", "prefix",
    "env", "model", "effective", "gpu", "container", "draft", "stack", "launch", "none", "true", "false", "auto", "versions",
    "when", "text", "engine", "value",
})  # fmt: skip


def subject(rule: dict[str, Any]) -> Subject:
    """What a rule is about: the words of its conditions, and the options whose values it lists for every case."""
    found: dict[str, frozenset[str | None]] = {}
    for name, values in _limits(rule.get("when")).items():
        last = name.rpartition(".")[2].replace("-", "_")
        for spelled in _SPELLED.get(name, (last,)):
            found[spelled] = frozenset(values)
    return Subject(rule_words(rule), found)


_SPELLED = {"model.architecture": ("architecture", "architectures", "model_arch", "arch"), "model.type": ("model_type",)}


def _limits(when: Any) -> dict[str, set[str | None]]:
    """The operands that a condition limits to listed values, with these; None for one that must not be given."""
    found: dict[str, set[str | None]] = {}

    def narrow(name: str, values: set[str | None]) -> None:
        found[name] = found[name] & values if name in found else values

    for key, one in when.items() if isinstance(when, dict) else ():
        if key == "any":
            branches = [_limits(part) for part in one]
            for name in set.intersection(*map(set, branches)) if branches else ():
                narrow(name, set().union(*[branch[name] for branch in branches]))
        elif key == "all":
            for part in one:
                for name, values in _limits(part).items():
                    narrow(name, values)
        elif isinstance(one, str):
            narrow(_operand(key), {one})
        elif isinstance(one, dict) and isinstance(one.get("in"), list) and all(isinstance(part, str) for part in one["in"]):
            narrow(_operand(key), set(one["in"]))
        elif isinstance(one, dict) and one.get("set") is False:
            narrow(_operand(key), {None})
    return found


def _operand(key: str) -> str:
    return key.removeprefix("effective.")


class Source:
    """The statements of a release's files, each parsed once."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._modules: dict[str, list[Statement]] = {}
        self._texts: dict[str, str] | None = None

    def module(self, path: str) -> list[Statement]:
        """The statements of a file; none where the release does not have it."""
        if path not in self._modules:
            text = self.tree.read(path)
            self._modules[path] = statements(path, text, self.tree.read) if text is not None else []
        return self._modules[path]

    def having(self, words: Iterable[str]) -> list[str]:
        """The paths of the files whose text has all the words."""
        if self._texts is None:
            self._texts = {path: self.tree.read(path) or "" for path in self.tree.paths()}
        wanted = list(words)
        return [path for path, text in self._texts.items() if all(word in text for word in wanted)]


def cited(citation: Citation, rule: dict[str, Any], source: Source, texts: Iterable[str] = ()) -> list[Statement]:
    """The statements that a citation means: those of its lines, of these the ones that name what the rule is about.

    texts: what the engine prints where the rule's launch is refused; it finds the statement where the lines do not
    """
    known = source.module(citation.path)
    words = rule_words(rule) | {word for word in _WORD.findall(citation.says) if "_" in word}
    printing = [one for text in texts for one in printed(text, known)]
    if not citation.first:
        if printing:
            return unique(printing)[:MOST]
        functions = {word for word in _WORD.findall(citation.says) if "_" in word or word != word.lower()}
        if named := [one for one in known if one.function.rpartition(".")[2] in functions]:
            return _best(named, words)
        declared = [one for one in known if one.kind == "assign" and one.outcome.partition(" ")[0].rstrip(":") in words]
        messages = [one for one in known if one.kind in ("raise", "log")]
        return _best(messages, words, least=2) or _best(declared, words)
    first, last = citation.first, citation.last
    inside = [one for one in known if one.first <= last and one.last >= first]
    if not inside:
        inside = [one for one in known if any(head[0] <= last and head[1] >= first for head in one.heads)]
    if not inside:  # a comment or an empty line: what follows
        return [one for one in known if last < one.first <= last + 15 and one.kind != "element"][:MOST]
    members = [one for one in inside if one.kind == "element"]
    if first == last and members and any(one.kind == "assign" and one.first < first for one in inside):
        return unique(members)[:MOST]
    if printing and not any(one in inside for one in printing):
        return unique(printing)[:MOST]
    return _best(inside, words)


def refusals(rule: dict[str, Any], known: dict[str, list[str]]) -> list[str]:
    """What the engine prints where a rule's launch is refused: the lines that are known, and those that the rule quotes."""
    quoted = [
        text
        for part in (rule["why"], *[one["says"] for one in rule["evidence"]])
        for text in _QUOTED.findall(" ".join(part.split()))
    ]
    return [*known.get(rule["id"], []), *quoted]


_QUOTED = re.compile(r'"([^"]{16,})"')


def printed(text: str, known: Iterable[Statement]) -> list[Statement]:
    """The statements that print a text, in which {} stands for values."""
    words = _said(text) - {"value", "error"}
    if len(words) < 4:
        return []
    found: list[Statement] = []
    for one in known:
        own = _said(one.prints) if one.prints else frozenset()
        if len(words & own) >= max(0.75 * len(words), 0.5 * len(own)):
            found.append(one)
    return found


@lru_cache(maxsize=1 << 16)
def _said(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text) if len(word) > 2)


def search(text: str, source: Source) -> list[Statement]:
    """The statements of a release that print a text."""
    words = sorted({word for word in _WORD.findall(text) if len(word) > 3}, key=lambda word: (-len(word), word))[:3]
    paths = source.having(words) if len(words) == 3 else []
    return unique([one for path in paths[:20] for one in printed(text, source.module(path))]) if len(paths) <= 20 else []


def unique(found: Iterable[Statement]) -> list[Statement]:
    """The statements without those that decide the same at the same place."""
    return list({(one.path, one.function, one.fingerprint): one for one in found}.values())


def _best(found: list[Statement], words: frozenset[str], least: int = 0) -> list[Statement]:
    """The statements that name most of what a rule is about; refusals before the rest."""
    if elements := [one for one in found if one.kind == "element" and one.words & words]:
        owners = {(one.function, one.outcome.partition(" has ")[0]) for one in elements}
        found = [
            one
            for one in found
            if (one.kind == "element" and one in elements)
            or (
                one.kind != "element"
                and not any(one.function == function and one.outcome.startswith(name) for function, name in owners)
            )
        ]
    else:
        found = [one for one in found if one.kind != "element"] or found
    scored = [(len(one.words & words), one.kind in ("raise", "log"), -number, one) for number, one in enumerate(unique(found))]
    top = max([score for score, *_ in scored], default=0)
    if top < least:
        return []
    kept = [one for one in sorted(scored, key=lambda item: item[:3], reverse=True) if one[0] >= max(1, top - 1)]
    if any(one[1] for one in kept or scored):
        kept = [one for one in kept or scored if one[1] or one[3].kind == "element"]
    return [one[3] for one in kept[:MOST] or scored[: MOST // 2]]


# -- the same statement in another release


@dataclass(frozen=True, slots=True)
class Found:
    """What became of an anchor in another release: SAME, MOVED, CHANGED or GONE, and the statement there."""

    state: str
    statement: Statement | None


def _decided(one: Statement, of: Subject) -> set[tuple[str, ...]]:
    """What a statement decides for a subject, without and with the conditions around the only call of its function."""
    kind, outcome, *conditions = own = one.restricted(of)
    outer = {_normal(part, of) for guard in one.around for part in _parts(guard, of)} - {_ALWAYS}
    return {own, (kind, outcome, *sorted({*conditions, *outer}))}


def look_up(anchor: Statement, source: Source, of: Subject = ANY, before: Source | None = None) -> Found:
    """Find a statement in another release.

    of: what the rule is about; what changes in the statement without naming it does not count where it names some of it
    before: the release of the anchor; what was equal there already has not moved from the anchor's place
    """
    here = source.module(anchor.path)
    function = anchor.function.rpartition(".")[2]

    def new(one: Statement) -> bool:
        known = before.module(one.path) if before is not None else []
        return all(one.function != other.function or one.fingerprint != other.fingerprint for other in known)

    equal = [one for one in here if one.fingerprint == anchor.fingerprint]
    for one in equal:
        if one.function.rpartition(".")[2] == function:
            return Found(SAME, _nearest(anchor, [two for two in equal if two.function == one.function]))
    wanted, named = _decided(anchor, of), anchor.words & of.words

    def same(one: Statement) -> bool:
        return not wanted.isdisjoint(_decided(one, of))

    def alike(found: Iterable[Statement]) -> list[Statement]:
        scored = [(one, _likeness(anchor, one)) for one in found if one.kind == anchor.kind]
        near = [one for one, likeness in scored if likeness >= ALIKE]
        equal = [one for one in near if same(one)]
        if not equal and len(named) >= _SEVERAL:  # of another text, but with all that the rule names in it
            equal = [one for one, _ in scored if named <= one.words and same(one)]
            equal = equal if len(equal) == 1 else []
        return equal or near

    best = _nearest(anchor, alike(one for one in here if one.function.rpartition(".")[2] == function), of)
    if best is not None and same(best):
        return Found(SAME, best)
    elsewhere = [one for path in _candidates(anchor, source) if path != anchor.path for one in source.module(path)]
    equal = [one for one in (*here, *elsewhere) if one.fingerprint == anchor.fingerprint and new(one)]
    if len(anchor.words) < 4:  # too common to be known outside of its function
        equal = [one for one in equal if one.function == anchor.function]
    if equal:
        return Found(MOVED, _nearest(anchor, equal))
    best = _nearest(anchor, alike(one for one in (*here, *elsewhere) if new(one)), of)
    if best is None:
        return Found(GONE, None)
    return Found(MOVED if same(best) else CHANGED, best)


def _candidates(anchor: Statement, source: Source) -> list[str]:
    named = {word for word in anchor.words if len(word) >= 6 and word.isidentifier()}
    long = sorted(named, key=lambda word: (-len(word), word))[:3]
    if len(named) < 3 and anchor.function:
        long.append(anchor.function.rpartition(".")[2])
    found = source.having(long) if long else []
    return found if len(found) <= 12 else []


def _likeness(one: Statement, other: Statement) -> float:
    """How much two statements have in common: of their words, their function, and what they print."""
    shared = len(one.words & other.words) / max(1, len(one.words | other.words))
    shared += 0.1 if one.function.rpartition(".")[2] == other.function.rpartition(".")[2] else 0
    own, others = _said(one.prints), _said(other.prints)
    return shared - (0.2 if own and others and len(own & others) < 0.3 * len(own | others) else 0)


def _nearest(anchor: Statement, found: list[Statement], of: Subject = ANY) -> Statement | None:
    """The statement that has most in common with an anchor, what the rule names above all."""
    named = anchor.words & of.words

    def score(one: Statement) -> float:
        return _likeness(anchor, one) + (0.5 * len(named & one.words) / len(named) if named else 0)

    return max(found, key=lambda one: (score(one), one.path == anchor.path), default=None)


# -- what catalogs say of a rule


def lost(rule: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Of the options, keys, variables and values that a rule needs, those that one snapshot has and another lacks.

    An option in one of several alternatives is not needed, nor is one of several values.
    """
    return sorted(_lost(rule.get("when"), before, after))


def _lost(when: Any, before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for key, one in when.items() if isinstance(when, dict) else ():
        if key == "any":
            branches = [_lost(part, before, after) for part in one]
            found |= set().union(*branches) if branches and all(branches) else set()
        elif key == "all":
            found |= {text for part in one for text in _lost(part, before, after)}
        elif key not in ("not", "none", "versions"):
            found |= _gone(key, _values(one), before, after)
    return found


def _values(part: Any) -> list[str]:
    if isinstance(part, dict):
        part = [part[name] for name in ("in", "is", "has", "prefix") if name in part]
    if isinstance(part, list):
        return [text for one in part for text in _values(one)]
    return [part] if isinstance(part, str) else []


def _gone(name: str, values: list[str], before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    bodies = [_body(name, one) for one in (before, after)]
    if bodies[0] is not None and bodies[1] is None:
        return {f"{name}: known -> missing"}
    good = [
        [value for value in values if body is not None and (not body.get("choices") or value in body["choices"])]
        for body in bodies
    ]
    if good[0] and not good[1]:
        return {f"{name}: without {', '.join(good[0])}"}
    found: set[str] = set()
    for kind in _KINDS:
        old, new = ({value: known[value] for value in values if value in known} for known in _names(kind, before, after))
        if old and not new:
            found.add(f"{kind}: without {', '.join(old)}")
        found |= {
            f"{kind} {value}: {old[value]} -> {new[value]}" for value in old.keys() & new.keys() if old[value] != new[value]
        }
    return found


def _names(kind: str, *snapshots: dict[str, Any]) -> list[dict[str, Any]]:
    found = [one["names"].get(kind, {}) for one in snapshots]
    return [one if isinstance(one, dict) else dict.fromkeys(one) for one in found]


def _body(name: str, snapshot: dict[str, Any]) -> dict[str, Any] | None:
    """What a snapshot says of an option, a key or a variable."""
    head, _, key = name.partition(".")
    found: dict[str, Any] | None
    if head == "env":
        found = snapshot["env"].get(key)
        return {} if found is not None and not isinstance(found, dict) else found
    if not key:
        found = snapshot["options"].get(head)
    elif head in snapshot["json"]:
        inner, _, last = name.rpartition(".")
        found = snapshot["json"].get(inner, snapshot["json"][head])["keys"].get(last)
    else:
        found = None
    return found


_KINDS = (
    "attention-backends", "quantization", "deprecated-quantization", "speculative-methods", "kv-connectors",
    "reasoning-parsers", "tool-call-parsers", "kv-cache-dtypes",
)  # fmt: skip
