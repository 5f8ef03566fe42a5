"""Anchors of rules in the source of engines: the statements that a rule cites, as fingerprints that outlive a line number.

A rule's evidence names a release, a file and often a line. The anchor is the statement there with the conditions that lead to
it, normalised: where an attribute hangs, the text of messages, the order of `and` and `or`, comments and layout do not count.
The next release is searched for the same statement: first in the same function, then in the file, then in the whole package.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from servelint.harvest.sources import Tree

SAME, MOVED, CHANGED, GONE = "unchanged", "moved", "changed", "gone"
ALIKE = 0.55
"""Statements with fewer of their words in common are not taken for two forms of one."""
MOST = 4
"""The most statements that one citation stands for."""

_NEAR = 8
"""Lines between a condition and its statement, up to which a statement's text begins with the condition."""
_CITED = re.compile(r"([a-z]+)-(\d[\w.]*),? (?:\S+ (?:and|to) \S+ )?([\w./-]+\.py)(?::(\d+)(?:-(\d+))?)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LOG = re.compile(r"^(?:debug|info|warning|error|exception|critical|warn|log|print)(?:_once|_warning_once|_rank0)?$")
_FLIPPED = {"Eq": "NotEq", "In": "NotIn", "Is": "IsNot", "Lt": "GtE", "Gt": "LtE"}
_NOT = {**_FLIPPED, **{other: one for one, other in _FLIPPED.items()}}
_COLLECTIONS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


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
        kind: raise, log, assign, return, call, element.
        guards: the conditions around it, normalised, outermost first.
        outcome: what it does, normalised; empty for raise and log.
        words: the identifiers and words in it and in its conditions.
        prints: what a raise or log statement prints, with {} for values.
        text: the source, of the innermost condition on.
        heads: the lines of the statements around it.
        restricted: what it decides, of alternatives only those that name given words.
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
    restricted: Callable[[frozenset[str]], tuple[str, ...]] = field(compare=False, repr=False, default=lambda _: ())
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


@lru_cache(maxsize=1024)
def statements(path: str, text: str) -> list[Statement]:
    """The deciding statements of a module, in order; none where it is not valid Python."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return list(_Reader(path, text).block(module.body, "", (), ()))


def _hash(kind: str, outcome: str, guards: Iterable[str]) -> str:
    return hashlib.sha256("\n".join([kind, outcome, *sorted(set(guards))]).encode()).hexdigest()[:16]


class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.split("\n")
        self.locals: dict[str, list[str]] = {}

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
            outer, self.locals = self.locals, {} if isinstance(node, ast.ClassDef) else _locals(node)
            yield from self.block(node.body, name, (), ((first, node.body[0].lineno - 1),))
            self.locals = outer
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

            def restricted(of: frozenset[str]) -> tuple[str, ...]:
                kept = [value for value in local if ":=" in value or of & set(_WORD.findall(value))]
                done = _normal(part, of) if outcome and kind in ("assign", "return", "call") else outcome
                return (kind, done, *sorted({*[_normal(one, of) for one in parts], *kept}))

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


def _parts(guard: ast.expr) -> list[ast.expr]:
    """The conditions that must all hold for one to hold: nested ones and `and` are the same."""
    if isinstance(guard, ast.UnaryOp) and isinstance(guard.op, ast.Not):
        inner = guard.operand
        if isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.Or):
            return [part for one in inner.values for part in _parts(ast.UnaryOp(ast.Not(), one))]
    if isinstance(guard, ast.BoolOp) and isinstance(guard.op, ast.And):
        return [part for one in guard.values for part in _parts(one)]
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


def _normal(node: ast.AST | None, words: frozenset[str] | None = None) -> str:
    """An expression as text in which only what decides counts.

    words: what a rule names; alternatives and members of collections that name none of it are left out beside those that do
    """
    if node is None:
        return "None"
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
        return "{" + ", ".join(sorted({_normal(one, words) for one in _kept(node.elts, words)})) + "}"
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return "{" + ", ".join(sorted([f"{_normal(key, words)}: {_normal(one, words)}" for key, one in pairs])) + "}"
    if isinstance(node, ast.BoolOp):
        word = " and " if isinstance(node.op, ast.And) else " or "
        parts = node.values if isinstance(node.op, ast.And) else _kept(node.values, words)
        return _joined(word, {_normal(one, words) for one in parts})
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _negated(node.operand, words)
    if isinstance(node, ast.Compare):
        return _compared(node, words)
    if isinstance(node, ast.Call):
        return _call(node, words)
    if isinstance(node, ast.Subscript):
        return f"{_normal(node.value, words)}[{_normal(node.slice, words)}]"
    if isinstance(node, ast.BinOp):
        return f"({_normal(node.left, words)} {type(node.op).__name__} {_normal(node.right, words)})"
    if isinstance(node, ast.UnaryOp):
        return f"{type(node.op).__name__} {_normal(node.operand, words)}"
    if isinstance(node, ast.IfExp):
        return f"({_normal(node.body, words)} if {_normal(node.test, words)} else {_normal(node.orelse, words)})"
    if isinstance(node, ast.NamedExpr):
        return _normal(node.value, words)
    if isinstance(node, (ast.Starred, ast.Await)):
        return _normal(node.value, words)
    return " ".join([type(node).__name__, *[_normal(one, words) for one in ast.iter_child_nodes(node)]])


def _call(node: ast.Call, words: frozenset[str] | None) -> str:
    """A call: `getattr` is the attribute, and a conversion is what it converts."""
    name = _normal(node.func, words)
    if name == "getattr" and len(node.args) >= 2 and isinstance(node.args[1], ast.Constant):
        return str(node.args[1].value)
    if name in ("set", "frozenset", "list", "tuple", "sorted", "bool", "cast") and node.args and not node.keywords:
        return _normal(node.args[-1], words)
    arguments = [_normal(one, words) for one in node.args]
    arguments += sorted([f"{one.arg}={_normal(one.value, words)}" for one in node.keywords])
    return f"{name}({', '.join(arguments)})"


def _kept(nodes: list[ast.expr], words: frozenset[str] | None) -> list[ast.expr]:
    """The nodes that name one of the words; all of them where none does."""
    return [one for one in nodes if words and not words.isdisjoint(_words(one))] or nodes


def _joined(word: str, parts: set[str]) -> str:
    return f"({word.join(sorted(parts))})" if len(parts) > 1 else next(iter(parts))


def _negated(node: ast.expr, words: frozenset[str] | None = None) -> str:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _normal(node.operand, words)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(node, words, negated=True)
    if isinstance(node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        parts = node.values if isinstance(node.op, ast.Or) else _kept(node.values, words)
        return _joined(word, {_negated(one, words) for one in parts})
    return f"not {_normal(node, words)}"


def _compared(node: ast.Compare, words: frozenset[str] | None = None, *, negated: bool = False) -> str:
    operators = [type(one).__name__ for one in node.ops]
    if negated:
        operators = [_NOT[one] for one in operators]
    parts = [_normal(node.left, words)]
    for operator, one in zip(operators, node.comparators, strict=True):
        parts += [operator, _normal(one, words)]
    return " ".join(parts)


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
    "env", "model", "effective", "gpu", "container", "draft", "launch", "none", "true", "false", "auto", "versions",
    "when", "text", "engine", "value",
})  # fmt: skip


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
            self._modules[path] = statements(path, text) if text is not None else []
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
        named = [
            one for one in known if one.function and re.search(rf"\b{re.escape(one.function.split('.')[-1])}\b", citation.says)
        ]
        if named:
            return _best(named, words)
        declared = [one for one in known if one.kind == "assign" and one.outcome.partition(" ")[0].rstrip(":") in words]
        return _best([one for one in known if one.kind != "assign"], words, least=2) or _best(declared, words)
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
    elements = [one for one in found if one.kind == "element" and one.words & words]
    if elements:
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


def look_up(anchor: Statement, source: Source, words: frozenset[str] = frozenset(), before: Source | None = None) -> Found:
    """Find a statement in another release.

    words: what the rule names; what changes in the statement without naming it does not count where it names some of it
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
    best = _nearest(anchor, [one for one in here if one.kind == anchor.kind and one.function.rpartition(".")[2] == function])
    if best is not None and _likeness(anchor, best) >= ALIKE and best.restricted(words) == anchor.restricted(words):
        return Found(SAME, best)
    elsewhere = [one for path in _candidates(anchor, source) if path != anchor.path for one in source.module(path)]
    equal = [one for one in (*here, *elsewhere) if one.fingerprint == anchor.fingerprint and new(one)]
    if not _telling(anchor):
        equal = [one for one in equal if one.function == anchor.function]
    if equal:
        return Found(MOVED, _nearest(anchor, equal))
    best = _nearest(anchor, [one for one in (*here, *elsewhere) if one.kind == anchor.kind and new(one)])
    if best is None or _likeness(anchor, best) < ALIKE:
        return Found(GONE, None)
    return Found(MOVED if best.restricted(words) == anchor.restricted(words) else CHANGED, best)


def _telling(anchor: Statement) -> bool:
    """Whether a statement is rare enough to be known outside of its function."""
    return len(anchor.words) >= 4


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


def _nearest(anchor: Statement, found: list[Statement]) -> Statement | None:
    return max(found, key=lambda one: (_likeness(anchor, one), one.path == anchor.path), default=None)


# -- what catalogs say of a rule


def facts(rule: dict[str, Any], snapshot: dict[str, Any]) -> dict[str, Any]:
    """What a release's snapshot says of the options, keys, variables and values that a rule names."""
    found: dict[str, Any] = {}
    for name, values in sorted(_tested(rule).items()):
        head, _, key = name.partition(".")
        if head == "env" and key:
            found.update({key: True} if key in snapshot["env"] else {})
            continue
        option = snapshot["options"].get(head)
        if key and head in snapshot["json"]:
            inner, _, last = name.rpartition(".")
            keys = snapshot["json"].get(inner, snapshot["json"][head])["keys"]
            body = keys.get(last)
        elif not key and "/" not in name:
            body = option
        else:
            body = None
        if body is not None:
            found[name] = [one for one in values if one not in body["choices"]] if body.get("choices") else []
        for value in values:
            for kind, names in snapshot["names"].items():
                if kind in _KINDS and value in names:
                    found[f"{kind} {value}"] = names[value]
    return found


_KINDS = (
    "attention-backends", "quantization", "deprecated-quantization", "speculative-methods", "kv-connectors",
    "reasoning-parsers", "tool-call-parsers", "kv-cache-dtypes",
)  # fmt: skip


def _tested(rule: dict[str, Any]) -> dict[str, list[str]]:
    """The operands of a rule's conditions, each with the texts that it is compared with."""
    found: dict[str, list[str]] = {}

    def texts(part: Any) -> Iterator[str]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            for one in part:
                yield from texts(one)
        elif isinstance(part, dict):
            for key, one in part.items():
                if key not in ("versions", "operand"):
                    yield from texts(one)

    def walk(part: Any) -> None:
        if isinstance(part, list):
            for one in part:
                walk(one)
        if not isinstance(part, dict):
            return
        for key, one in part.items():
            if key in ("any", "all", "not", "none"):
                walk(one)
            elif key != "versions":
                found.setdefault(str(key), []).extend(texts(one))

    walk(rule.get("when"))
    for case in rule.get("cases", []):
        walk(case.get("when"))
    return found
