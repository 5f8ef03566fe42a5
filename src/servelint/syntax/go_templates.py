"""Go templates of a Helm chart, filled with the chart's own values as far as these tell what they write.

What only an installation knows (`.Release.Name`, a helper of a library, `lookup`) stays in the text as it is written, an `if`
that depends on it with all its branches, so that the result is a template as well. Nothing is executed: the functions of Sprig
that charts use to write containers are a table here.
"""

from __future__ import annotations

import base64
import binascii
import json
import re

from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText
from servelint.syntax import templates, yaml, yaml_values
from servelint.syntax.yaml import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    Values: TypeAlias = dict[str, Any]

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`)|(?P<number>[-+]?\d+(?:\.\d+)?)(?![\w.])|(?P<variable>\$\w*)"
    r"|(?P<field>\.\w+)|(?P<sign>:=|=|\||\(|\)|,|\.)|(?P<name>[A-Za-z_]\w*))"
)
_KEYWORD = re.compile(r"(if|with|range|define|block|else|end|template|break|continue)\b\s*(.*)", re.DOTALL)
_ELSE = re.compile(r"(if|with)\b\s*(.*)", re.DOTALL)
_NAMED = re.compile(r"\"([^\"]+)\"\s*(.*)", re.DOTALL)
_ASSIGNED = re.compile(r"(\$\w+)\s*=(?!=)")
_LINE = re.compile(r"\A|(?<=\n)")
_SPECIAL = re.compile(r'["\\\n\t\r]')
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_SIMPLE = re.compile(r"[A-Za-z/][\w./@-]*")
_VERB = re.compile(r"%[-+# 0]*\d*(?:\.\d+)?([a-zA-Z%])")
_CHANGING = frozenset(("merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite", "set", "unset"))
"""Functions that change their first argument."""
_STEPS_AT_MOST = 20_000
_DEPTH_AT_MOST = 30
_CHARACTERS_AT_MOST = 400_000
_NODES_AT_MOST = 20_000


class Unknown(Exception):
    """What an action writes is unknown to servelint."""


class _GivesUp(Exception):
    """The whole template is left as it is."""


class Scalar:
    """A number, a truth value or null.

    Attributes:
        value: What it is.
        text: How it is written.
    """

    __slots__ = ("text", "value")

    def __init__(self, value: float | bool | None, text: TracedText | None = None) -> None:
        self.value = value
        if text is None:
            text = EMPTY if value is None else TracedText.of(json.dumps(value))
        self.text = text


def loaded(source: Source, node: Node) -> Any:
    """The data of a YAML node: dict, list, TracedText or Scalar. Raises Unknown for what Helm refuses or is very large."""
    left = [_NODES_AT_MOST]
    return _loaded(source, node, left, 0)


def _loaded(source: Source, node: Node, left: list[int], depth: int) -> Any:
    left[0] -= 1
    if left[0] < 0 or depth > _DEPTH_AT_MOST:
        raise Unknown
    if yaml.is_mapping(node):
        return {key: _loaded(source, value, left, depth + 1) for key, (_, value) in yaml.entries(node).items()}
    if not yaml.is_scalar(node):
        return [_loaded(source, item, left, depth + 1) for item in yaml.items(node) or []]
    text = yaml.text(source, node, verbatim=True)  # what is a template is for `tpl`
    if not text.known:
        return text.softened()
    try:
        value = yaml_values.value(node, yaml_values.KUBERNETES)
    except ValueError:
        raise Unknown from None
    if value is None:
        return Scalar(None)
    if isinstance(value, (bool, int, float)):
        return Scalar(value, text.softened() if text.flat else None)
    return text.as_default()


# -- the tree


class _Text:
    __slots__ = ("end", "start")
    left = right = False

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class _Action:
    """An action, or what starts, divides or ends a part. `left`, `right`: whether it takes the white space beside it."""

    __slots__ = ("end", "inside", "left", "right", "start")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.left = text.startswith("{{-", start) and text[start + 3 : start + 4].isspace()
        self.right = text.startswith("-}}", end - 3) and text[end - 4 : end - 3].isspace()
        self.inside = text[start + 2 + self.left : end - 2 - self.right].strip()


class _Part:
    """`if ... else ... end`, a `with`, a `range` or a `define`: what starts its arms, what they hold, and what ends it."""

    __slots__ = ("arms", "closing", "kind")

    def __init__(self, kind: str, opening: _Action) -> None:
        self.kind = kind
        self.arms: list[tuple[_Action, list[Any]]] = [(opening, [])]
        self.closing = opening

    @property
    def left(self) -> bool:
        return self.arms[0][0].left

    @property
    def right(self) -> bool:
        return self.closing.right


class Template:
    """The tree of one file.

    Attributes:
        source: The file.
        nodes: What it holds.
        helpers: Name -> what a `define` in it holds.
    """

    __slots__ = ("helpers", "nodes", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.nodes: list[Any] = []
        self.helpers: dict[str, tuple[Source, _Part]] = {}
        text = source.text
        opened: list[_Part] = []
        here = self.nodes
        done = 0
        for found in templates.scan(text):
            if not text.startswith("{{", found.start):
                continue
            if done < found.start:
                here.append(_Text(done, found.start))
            done = found.end
            action = _Action(text, found.start, found.end)
            keyword = _KEYWORD.fullmatch(action.inside)
            name = keyword.group(1) if keyword is not None else ""
            if name in ("if", "with", "range", "define", "block"):
                part = _Part(name, action)
                here.append(part)
                opened.append(part)
                here = part.arms[-1][1]
            elif name in ("else", "end"):
                if not opened:
                    raise Unknown
                part = opened[-1]
                if name == "else":
                    part.arms.append((action, []))
                    here = part.arms[-1][1]
                    continue
                part.closing = action
                opened.pop()
                here = opened[-1].arms[-1][1] if opened else self.nodes
                named = _NAMED.match(part.arms[0][0].inside.split(None, 1)[-1])
                if part.kind in ("define", "block") and named is not None:
                    self.helpers[named.group(1)] = source, part
            else:
                here.append(action)
        if opened:
            raise Unknown
        if done < len(text):
            here.append(_Text(done, len(text)))


# -- what it writes


class Renderer:
    """Fills the templates of one chart.

    Attributes:
        root: What `$` is.
        helpers: Name -> a `define` of one of the chart's files.
    """

    def __init__(self, values: Values, chart: Values, helpers: dict[str, tuple[Source, _Part]]) -> None:
        self.root: Values = {"Values": values, "Chart": chart}
        self.helpers = helpers
        self._steps = _STEPS_AT_MOST
        self._size = 0
        self._depth = 0
        self._doubtful = 0  # how many parts around what is read may not be there
        self._source: Source
        self._at = (0, 0)

    def render(self, template: Template) -> TracedText | None:
        """The text of a file with what is known in it; None if that cannot be known."""
        try:
            return self._body(template.source, template.nodes, self.root, [{"$": self.root}])
        except (_GivesUp, RecursionError):
            return None

    def _body(
        self, source: Source, nodes: list[Any], dot: Any, scope: list[Values], first: bool = False, last: bool = False
    ) -> TracedText:
        """What some nodes write. `first`, `last`: whether white space at the ends is taken away."""
        parts: list[TracedText] = []
        strips, literal = first, False
        for node in nodes:
            if isinstance(node, _Text):
                text = TracedText.at(source, node.start, node.end)
                parts.append(text.cut(len(text.flat) - len(text.flat.lstrip())) if strips else text)
                strips, literal = False, True
                continue
            self._step()
            made = self._part(source, node, dot, scope) if isinstance(node, _Part) else self._action(source, node, dot, scope)
            if made is not None and node.left and literal:
                parts[-1] = parts[-1].cut(0, len(parts[-1].flat.rstrip()))
            strips, literal = made is not None and node.right, False
            parts.append(made if made is not None else self._as_written(source, node, dot, scope))
        if last and literal:
            parts[-1] = parts[-1].cut(0, len(parts[-1].flat.rstrip()))
        written = TracedText.join(parts)
        self._size += len(written.flat)
        if self._size > _CHARACTERS_AT_MOST:
            raise _GivesUp
        return written

    def _step(self) -> None:
        self._steps -= 1
        if self._steps < 0:
            raise _GivesUp

    def _action(self, source: Source, action: _Action, dot: Any, scope: list[Values]) -> TracedText | None:
        """What an action writes, placed at it; None if that is not known."""
        if not action.inside or action.inside.startswith("/*"):
            return EMPTY
        if action.inside in ("break", "continue"):
            raise _GivesUp
        before, self._source, self._at = (getattr(self, "_source", source), self._at), source, (action.start, action.end)
        try:
            if action.inside.startswith("template "):
                named = _NAMED.match(action.inside.split(None, 1)[1])
                if named is None:
                    raise Unknown
                found = self._include(named.group(1), self._value(named.group(2), dot, scope) if named.group(2) else None)
            else:
                found = self._value(action.inside, dot, scope)
                found = EMPTY if found is _NOTHING else written(found)
        except Unknown:
            self._forget(action.inside, scope)
            return None
        finally:
            self._source, self._at = before
        span = Span(source, action.start, action.end)
        return TracedText(
            [
                piece if piece.span is not None and piece.span.source is source else piece.replaced(span)
                for piece in found.pieces
            ]
        )

    def _forget(self, inside: str, scope: list[Values]) -> None:
        """A variable is no longer known."""
        match = re.match(r"(\$\w+)\s*(:?=)", inside)
        if match is None:
            return
        if match.group(2) == ":=":
            scope[-1][match.group(1)] = _UNKNOWN
            return
        for one in reversed(scope):
            if match.group(1) in one:
                one[match.group(1)] = _UNKNOWN
                return

    def _as_written(self, source: Source, node: Any, dot: Any, scope: list[Values]) -> TracedText:
        """A node whose condition or value is not known: its actions stay, and what they hold is filled."""
        if isinstance(node, _Action):
            return TracedText.at(source, node.start, node.end)
        parts: list[TracedText] = []
        self._doubtful += 1
        try:
            for opening, body in node.arms:
                parts.append(TracedText.at(source, opening.start, opening.end))
                inner = _UNKNOWN if node.kind in ("range", "with") and opening is node.arms[0][0] else dot
                fresh = dict.fromkeys(re.findall(r"\$\w+", opening.inside.partition(":=")[0]), _UNKNOWN)
                parts.append(self._body(source, body, inner, [*scope, fresh if ":=" in opening.inside else {}]))
        finally:
            self._doubtful -= 1
        parts.append(TracedText.at(source, node.closing.start, node.closing.end))
        whole = source.text[node.arms[0][0].start : node.closing.end]
        for name in set(_ASSIGNED.findall(whole)):
            self._forget(name + " =", scope)
        return TracedText.join(parts)

    def _part(self, source: Source, part: _Part, dot: Any, scope: list[Values]) -> TracedText | None:
        """What a part writes; None if its condition is not known."""
        if part.kind == "define":
            return EMPTY
        if part.kind == "block":
            return None
        before, self._source = getattr(self, "_source", source), source
        try:
            if part.kind == "range":
                return self._range(source, part, dot, scope)
            ends = [*[opening for opening, _ in part.arms[1:]], part.closing]
            for (opening, body), end in zip(part.arms, ends, strict=True):
                self._at = opening.start, opening.end
                kind, of = part.kind, opening.inside.split(None, 1)[-1]
                inner = [*scope, {}]
                if opening is not part.arms[0][0]:
                    alone = _ELSE.fullmatch(of) if opening.inside != "else" else None
                    if alone is None:
                        return self._body(source, body, dot, inner, opening.right, end.left)
                    kind, of = alone.groups()
                value = self._value(of, dot, inner, binds=True)
                if truth(value):
                    return self._body(source, body, value if kind == "with" else dot, inner, opening.right, end.left)
            return EMPTY
        except Unknown:
            return None
        finally:
            self._source = before

    def _range(self, source: Source, part: _Part, dot: Any, scope: list[Values]) -> TracedText:
        opening, body = part.arms[0]
        self._at = opening.start, opening.end
        names, assigned, of = opening.inside.split(None, 1)[-1].rpartition(":=")
        value = self._value(of, dot, scope)
        end = part.arms[1][0] if len(part.arms) > 1 else part.closing
        entries: Iterator[tuple[Any, Any]]
        if isinstance(value, dict):
            entries = iter([(TracedText.of(key), value[key]) for key in sorted(value)])
        elif isinstance(value, list):
            entries = iter([(Scalar(index), item) for index, item in enumerate(value)])
        elif not truth(value):
            entries = iter(())
        else:
            raise Unknown
        variables = re.findall(r"\$\w+", names) if assigned else []
        made: list[TracedText] = []
        for key, item in entries:
            inner: Values = dict(zip(variables, [key, item] if len(variables) > 1 else [item], strict=False))
            made.append(self._body(source, body, item, [*scope, inner], opening.right, end.left))
        if not made and len(part.arms) > 1:
            other, body = part.arms[1]
            return self._body(source, body, dot, [*scope, {}], other.right, part.closing.left)
        return TracedText.join(made)

    def _include(self, name: str, dot: Any) -> TracedText:
        """What a helper writes. Raises Unknown where a part of it is not known."""
        helper = self.helpers.get(name)
        if helper is None or self._depth > _DEPTH_AT_MOST:
            raise Unknown
        source, part = helper
        opening, body = part.arms[0]
        self._depth += 1
        try:
            found = self._body(source, body, dot, [{"$": dot}], opening.right, part.closing.left)
        finally:
            self._depth -= 1
        if "{{" in found.flat:
            raise Unknown  # what is left in it may stand for lines of any depth
        return found

    # -- expressions

    def _value(self, text: str, dot: Any, scope: list[Values], binds: bool = False) -> Any:
        """The value of a pipeline, and of one that is given a name. `binds`: whether a named one has a value itself."""
        tokens = _tokens(text)
        if len(tokens) > 2 and tokens[0][0] == "variable" and tokens[1][1] in (":=", "="):
            name = tokens[0][1]
            value = _Expression(self, tokens[2:], dot, scope).whole()
            if tokens[1][1] == ":=":
                scope[-1][name] = value
            else:
                if self._doubtful:
                    raise Unknown
                owner = next((one for one in reversed(scope) if name in one), None)
                if owner is None:
                    raise Unknown
                owner[name] = value
            return value if binds else _NOTHING
        return _Expression(self, tokens, dot, scope).whole()

    def call(self, name: str, args: list[Any]) -> Any:
        """The value of a function."""
        self._step()
        own = bool(args) and isinstance(args[0], dict) and args[0] is not self.root["Values"]
        if name in _CHANGING and (self._doubtful or not own):
            raise _GivesUp
        if name == "include" and len(args) == 2:
            return self._include(plain_text(args[0]), args[1])
        if name == "tpl" and len(args) == 2:
            return self._of_text(args[0], args[1])
        function = FUNCTIONS.get(name)
        if function is None:
            raise Unknown
        try:
            return function(*args)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, ZeroDivisionError, binascii.Error):
            raise Unknown from None

    def _of_text(self, text: Any, dot: Any) -> Any:
        """What a text of the values writes that is a template itself."""
        if not isinstance(text, TracedText) or "{{" not in text.flat:
            return text
        self._depth += 1
        if self._depth > _DEPTH_AT_MOST:
            raise _GivesUp
        try:
            inner = Template(Source("", text.flat))
            found = self._body(inner.source, inner.nodes, dot, [{"$": dot}])
        finally:
            self._depth -= 1
        if "{{" in found.flat:
            raise Unknown
        span = text.span()
        return TracedText([piece.replaced(span, assumed=True) for piece in found.pieces])


_UNKNOWN = object()
_NOTHING = object()


def _tokens(text: str) -> list[tuple[str, str, bool]]:
    """(kind, characters, whether white space stands before it) of each token."""
    found: list[tuple[str, str, bool]] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise Unknown
        found.append((match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup) > at or at == 0))
        at = match.end()
    return found


class _Expression:
    """Evaluates the tokens of one pipeline."""

    def __init__(self, renderer: Renderer, tokens: list[tuple[str, str, bool]], dot: Any, scope: list[Values]) -> None:
        self.renderer = renderer
        self.tokens = tokens
        self.dot = dot
        self.scope = scope
        self.at = 0

    def whole(self) -> Any:
        value = self.pipeline()
        if self.at != len(self.tokens):
            raise Unknown
        return value

    def ahead(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def pipeline(self) -> Any:
        value = self.command()
        while self.ahead() == "|":
            self.at += 1
            value = self.command([value])
        return value

    def command(self, piped: list[Any] | None = None) -> Any:
        if self.at >= len(self.tokens):
            raise Unknown
        kind, text, _ = self.tokens[self.at]
        if kind != "name" or text in ("true", "false", "nil"):
            value = self.operand()
            if piped or (self.at < len(self.tokens) and self.ahead() not in ("|", ")", "")):
                raise Unknown
            return value
        self.at += 1
        args: list[Any] = []
        lazy = text in ("and", "or", "default", "coalesce", "ternary")
        while self.at < len(self.tokens) and self.ahead() not in ("|", ")", ","):
            end = self.behind()
            try:
                args.append(self.operand())
            except Unknown:
                if not lazy:
                    raise
                self.at = end
                args.append(_UNKNOWN)
        args += piped or []
        if any(arg is _UNKNOWN for arg in args) and not lazy:
            raise Unknown
        found = self.renderer.call(text, args)
        if found is _UNKNOWN:
            raise Unknown
        return found

    def behind(self) -> int:
        """Where the operand ends that starts here."""
        end, depth = self.at, 0
        while end < len(self.tokens):
            depth += {"(": 1, ")": -1}.get(self.tokens[end][1], 0)
            end += 1
            follows = end < len(self.tokens) and self.tokens[end][0] == "field" and not self.tokens[end][2]
            if depth == 0 and not follows:
                break
        return end

    def operand(self) -> Any:
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if kind == "text":
            value: Any = TracedText.of(_unquoted(text))
        elif kind == "number":
            value = Scalar(json.loads(text.lstrip("+")), TracedText.of(text))
        elif kind == "variable":
            value = next((one[text] for one in reversed(self.scope) if text in one), _UNKNOWN)
        elif kind == "field":
            value = self.field(self.dot, text)
        elif text == ".":
            value = self.dot
        elif text == "(":
            value = self.group()
        elif kind == "name":
            value = {"true": Scalar(True), "false": Scalar(False), "nil": None}.get(text, _UNKNOWN)
            if value is _UNKNOWN:
                value = self.renderer.call(text, [])
        else:
            raise Unknown
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "field" and not self.tokens[self.at][2]:
            value = self.field(value, self.tokens[self.at][1])
            self.at += 1
        if value is _UNKNOWN:
            raise Unknown
        return value

    def group(self) -> Any:
        """The value of what stands in brackets; the tokens behind it follow in any case."""
        depth, end = 1, self.at
        while end < len(self.tokens) and depth:
            depth += {"(": 1, ")": -1}.get(self.tokens[end][1], 0)
            end += 1
        if depth:
            raise Unknown
        inner = _Expression(self.renderer, self.tokens[self.at : end - 1], self.dot, self.scope)
        self.at = end
        return inner.whole()

    def field(self, value: Any, name: str) -> Any:
        if not isinstance(value, dict):
            raise Unknown
        return value[name[1:]] if name[1:] in value else self.missing(value)

    def missing(self, value: Values) -> Any:
        if value is self.renderer.root or value is self.renderer.root["Chart"]:
            raise Unknown
        return None


def _unquoted(text: str) -> str:
    if text[0] == "`":
        return text[1:-1]
    try:
        return str(json.loads(text))
    except ValueError:
        raise Unknown from None


# -- values


def truth(value: Any) -> bool:
    """What `if` makes of a value. Raises Unknown for one that is not known."""
    if value is None:
        return False
    if isinstance(value, Scalar):
        return bool(value.value)
    if isinstance(value, TracedText):
        if not value.known and not value.flat.strip("\ufdd0"):
            raise Unknown
        return bool(value.flat)
    if isinstance(value, (dict, list)):
        return bool(value)
    raise Unknown


def written(value: Any) -> TracedText:
    """A value as a template writes it. Raises Unknown for a mapping or a list."""
    if value is None:
        return EMPTY
    if isinstance(value, Scalar):
        return value.text
    if isinstance(value, TracedText):
        return value
    raise Unknown


def plain_text(value: Any) -> str:
    """The characters of a value. Raises Unknown for one that is not known."""
    text = written(value)
    if not text.known:
        raise Unknown
    return text.flat


def _number(value: Any) -> float:
    if isinstance(value, Scalar):
        return value.value or 0
    text = plain_text(value)
    return json.loads(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else 0


def _compared(value: Any) -> Any:
    if isinstance(value, Scalar):
        return value.value
    return None if value is None else plain_text(value)


def _equal(first: Any, *others: Any) -> Scalar:
    one = _compared(first)
    for other in map(_compared, others):
        if other is not None and one is not None and isinstance(one, str) is not isinstance(other, str):
            raise Unknown  # Go refuses to compare them
        if one == other and isinstance(one, bool) is isinstance(other, bool):
            return Scalar(True)
    return Scalar(False)


def _quoted(text: TracedText) -> TracedText:
    inside = text.sub(_SPECIAL, lambda match: TracedText.of(_ESCAPES.get(match.group(), "\\" + match.group())))
    return TracedText.join((TracedText.of('"'), inside, TracedText.of('"')))


def _scalar(value: Any, always: bool = False) -> TracedText:
    if isinstance(value, TracedText):
        flat = value.flat
        simple = not always and _SIMPLE.fullmatch(flat) and isinstance(yaml_values.plain(flat, yaml_values.KUBERNETES), str)
        return value if simple else _quoted(value)
    return TracedText.of("null") if value is None or value.value is None else value.text


def to_yaml(value: Any) -> TracedText:
    """A value as YAML, without a line end behind it."""
    return TracedText.join(_lines(value, 0)[1:]) if isinstance(value, (dict, list)) and value else _flow(value)


def _flow(value: Any) -> TracedText:
    if isinstance(value, dict):
        inside = [
            TracedText.join((_quoted(TracedText.of(key)), TracedText.of(": "), _flow(value[key]))) for key in sorted(value)
        ]
        return _between("{", inside, "}")
    if isinstance(value, list):
        return _between("[", [_flow(item) for item in value], "]")
    return _scalar(value, always=True)


def _between(start: str, parts: list[TracedText], end: str) -> TracedText:
    found = [TracedText.of(start)]
    for index, part in enumerate(parts):
        found += [TracedText.of(", ")] * bool(index) + [part]
    return TracedText.join([*found, TracedText.of(end)])


def _lines(value: Any, depth: int) -> list[TracedText]:
    """A collection as a block, each line with the line end in front of it."""
    indent = TracedText.of("\n" + "  " * depth)
    found: list[TracedText] = []
    if isinstance(value, dict):
        for key in sorted(value):
            head = [indent, _scalar(TracedText.of(key)), TracedText.of(":")]
            found += [*head, *_inner(value[key], depth if isinstance(value[key], list) else depth + 1)]
    else:
        for item in value:
            below = _lines(item, depth + 1) if isinstance(item, (dict, list)) and item else []
            # the first line of a mapping stands behind the dash
            found += [indent, TracedText.of("- "), *(below[1:] if below else [_scalar_or_flow(item)])]
    return found


def _inner(value: Any, depth: int) -> list[TracedText]:
    return _lines(value, depth) if isinstance(value, (dict, list)) and value else [TracedText.of(" "), _scalar_or_flow(value)]


def _scalar_or_flow(value: Any) -> TracedText:
    return _flow(value) if isinstance(value, (dict, list)) else _scalar(value)


# -- functions


def _indented(count: Any, text: Any, line: str = "") -> TracedText:
    blanks = TracedText.of(" " * int(_number(count)))
    return TracedText.join((TracedText.of(line), written(text).sub(_LINE, lambda _: blanks)))


def _printed(pattern: Any, *args: Any) -> TracedText:
    left = list(args)

    def fill(match: re.Match[str]) -> TracedText:
        verb = match.group(1)
        if verb == "%":
            return TracedText.of("%")
        value = left.pop(0)
        if match.group() not in ("%s", "%d", "%v", "%q", "%t"):
            raise Unknown
        return _quoted(written(value)) if verb == "q" else written(value)

    found = written(pattern).sub(_VERB, fill)
    if left:
        raise Unknown
    return found


def _joined(between: Any, items: Any) -> TracedText:
    parts: list[TracedText] = []
    for index, item in enumerate(items):
        parts += [written(between)] * bool(index) + [written(item)]
    return TracedText.join(parts) if parts else EMPTY


def _default(given: Any, value: Any = None) -> Any:
    if value is _UNKNOWN:
        raise Unknown
    return value if truth(value) else given


def _either(*args: Any) -> Any:
    for arg in args:
        if arg is _UNKNOWN:
            raise Unknown
        if truth(arg):
            return arg
    return args[-1] if args else None


def _all(*args: Any) -> Any:
    for arg in args:
        if arg is _UNKNOWN:
            if any(one is not _UNKNOWN and not truth(one) for one in args):
                return Scalar(False)
            raise Unknown
        if not truth(arg):
            return arg
    return args[-1]


def _choice(one: Any, other: Any, test: Any) -> Any:
    return _UNKNOWN if test is _UNKNOWN else one if truth(test) else other


def _required(_: Any, value: Any) -> Any:
    if not truth(value) and not isinstance(value, Scalar):
        raise Unknown  # Helm stops here
    return value


def _indexed(value: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(value, dict):
            value = value.get(plain_text(key))
        elif isinstance(value, list):
            value = value[int(_number(key))]
        else:
            raise Unknown
    return value


def _dug(*args: Any) -> Any:
    *keys, given, value = args
    for key in keys:
        if not isinstance(value, dict) or plain_text(key) not in value:
            return given
        value = value[plain_text(key)]
    return value


def _pairs(*args: Any) -> Values:
    return {plain_text(key): value for key, value in zip(args[::2], args[1::2], strict=True)}


def _set(target: Values, key: Any, value: Any) -> Values:
    target[plain_text(key)] = value
    return target


def _merged(overwrites: bool) -> Callable[..., Any]:
    def merge(target: Values, *others: Values) -> Values:
        for other in others:
            for key, value in (other or {}).items():
                if isinstance(value, dict) and isinstance(target.get(key), dict):
                    merge(target[key], value)
                elif key not in target or (overwrites and truth(value)) or (not overwrites and not truth(target[key])):
                    target[key] = value
        return target

    return merge


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


def _parsed(text: Any) -> Any:
    source = Source("", plain_text(text))
    documents, problem = yaml.documents(source)
    if problem is not None or len(documents) != 1:
        raise Unknown
    return loaded(source, documents[0])


def _kind(value: Any) -> str:
    if isinstance(value, Scalar):
        number = "float64" if isinstance(value.value, float) else "int"
        return "bool" if isinstance(value.value, bool) else "invalid" if value.value is None else number
    return (
        "map" if isinstance(value, dict) else "slice" if isinstance(value, list) else "invalid" if value is None else "string"
    )


def _is_kind(kind: Any, value: Any) -> Scalar:
    wanted, found = plain_text(kind), _kind(value)
    if wanted in ("int", "int64", "float64") and found in ("int", "float64"):
        raise Unknown  # Helm reads numbers of a values file as floats, or as integers in some releases
    return Scalar(wanted == found)


def _strip(text: Any) -> TracedText:
    return written(text).strip()


def _without_suffix(suffix: Any, text: Any) -> TracedText:
    found, end = written(text), plain_text(suffix)
    return found.cut(0, len(found.flat) - len(end)) if end and found.flat.endswith(end) else found


def _without_prefix(prefix: Any, text: Any) -> TracedText:
    found, start = written(text), plain_text(prefix)
    return found.cut(len(start)) if start and found.flat.startswith(start) else found


def _truncated(count: Any, text: Any) -> TracedText:
    most, found = int(_number(count)), written(text)
    return found.cut(0, most) if most >= 0 else found.cut(max(0, len(found.flat) + most))


def _mapped(change: Callable[[str], str]) -> Callable[[Any], TracedText]:
    def mapped(text: Any) -> TracedText:
        plain = plain_text(text)
        return written(text) if change(plain) == plain else TracedText.of(change(plain))

    return mapped


def _replaced(old: Any, new: Any, text: Any) -> TracedText:
    wanted = plain_text(old)
    return written(text).sub(re.compile(re.escape(wanted)), lambda _: written(new)) if wanted else written(text)


def _whole(value: Any) -> Scalar:
    number = int(_number(value))
    return Scalar(number, written(value) if plain_text(value) == str(number) else None)


def _counted(value: Any) -> Scalar:
    return Scalar(len(value) if isinstance(value, (dict, list)) else len(plain_text(value).encode()))


def _has(wanted: Any, items: Any) -> Scalar:
    return Scalar(any(_compared(item) == _compared(wanted) for item in items or []))


def _split(between: Any, text: Any) -> list[TracedText]:
    found, mark = written(text), plain_text(between)
    parts: list[TracedText] = []
    done = 0
    for match in re.finditer(re.escape(mark), found.flat):
        parts.append(found.cut(done, match.start()))
        done = match.end()
    return [*parts, found.cut(done) if done < len(found.flat) else EMPTY]


def _range_of(numbers: list[int]) -> list[Scalar]:
    if len(numbers) > _NODES_AT_MOST:
        raise Unknown
    return [Scalar(number) for number in numbers]


def _truths(test: Callable[[str, str], bool]) -> Callable[[Any, Any], Scalar]:
    return lambda one, other: Scalar(test(plain_text(one), plain_text(other)))


def _math(calculate: Callable[[float, float], float]) -> Callable[..., Scalar]:
    def result(*args: Any) -> Scalar:
        total = int(_number(args[0]))
        for arg in args[1:]:
            total = int(calculate(total, int(_number(arg))))
        return Scalar(total)

    return result


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": _math(lambda one, other: one + other),
    "add1": lambda value: Scalar(int(_number(value)) + 1),
    "and": _all,
    "append": lambda items, item: [*items, item],
    "b64dec": lambda text: TracedText.of(base64.b64decode(plain_text(text), validate=True).decode()),
    "coalesce": _either,
    "concat": lambda *lists: [item for one in lists for item in one],
    "contains": _truths(lambda part, text: part in text),
    "deepCopy": _copied,
    "default": _default,
    "dict": _pairs,
    "dig": _dug,
    "div": _math(lambda one, other: one // other),
    "empty": lambda value: Scalar(not truth(value)),
    "eq": _equal,
    "first": lambda items: items[0],
    "fromJson": _parsed,
    "fromJsonArray": _parsed,
    "fromYaml": _parsed,
    "ge": lambda one, other: Scalar(_number(one) >= _number(other)),
    "get": lambda values, key: values.get(plain_text(key), EMPTY),
    "gt": lambda one, other: Scalar(_number(one) > _number(other)),
    "has": _has,
    "hasKey": lambda values, key: Scalar(plain_text(key) in values.keys()),  # noqa: SIM118 - a list has none
    "hasPrefix": _truths(lambda part, text: text.startswith(part)),
    "hasSuffix": _truths(lambda part, text: text.endswith(part)),
    "indent": _indented,
    "index": _indexed,
    "int": _whole,
    "int64": _whole,
    "join": _joined,
    "keys": lambda *all_values: [TracedText.of(key) for values in all_values for key in sorted(values)],
    "kindIs": _is_kind,
    "last": lambda items: items[-1],
    "le": lambda one, other: Scalar(_number(one) <= _number(other)),
    "len": _counted,
    "list": lambda *items: list(items),
    "lower": _mapped(str.lower),
    "lt": lambda one, other: Scalar(_number(one) < _number(other)),
    "merge": _merged(False),
    "mergeOverwrite": _merged(True),
    "mod": _math(lambda one, other: one % other),
    "mul": _math(lambda one, other: one * other),
    "ne": lambda one, other: Scalar(not _equal(one, other).value),
    "nindent": lambda count, text: _indented(count, text, "\n"),
    "not": lambda value: Scalar(not truth(value)),
    "omit": lambda values, *keys: {key: one for key, one in values.items() if key not in map(plain_text, keys)},
    "or": _either,
    "pick": lambda values, *keys: {key: one for key, one in values.items() if key in list(map(plain_text, keys))},
    "printf": _printed,
    "quote": lambda *values: _joined(TracedText.of(" "), [_quoted(written(value)) for value in values]),
    "replace": _replaced,
    "required": _required,
    "rest": lambda items: items[1:],
    "set": _set,
    "sortAlpha": lambda items: sorted(items, key=plain_text),
    "splitList": _split,
    "squote": lambda value: TracedText.join((TracedText.of("'"), written(value), TracedText.of("'"))),
    "sub": _math(lambda one, other: one - other),
    "ternary": _choice,
    "toJson": _flow,
    "toRawJson": _flow,
    "toString": written,
    "toStrings": lambda items: [written(item) for item in items],
    "toYaml": to_yaml,
    "trim": _strip,
    "trimAll": lambda marks, text: (
        _strip(text) if not plain_text(marks).strip() else TracedText.of(plain_text(text).strip(plain_text(marks)))
    ),
    "trimPrefix": _without_prefix,
    "trimSuffix": _without_suffix,
    "trunc": _truncated,
    "tuple": lambda *items: list(items),
    "typeIs": _is_kind,
    "uniq": lambda items: [
        item for index, item in enumerate(items) if plain_text(item) not in [plain_text(one) for one in items[:index]]
    ],
    "until": lambda count: _range_of(list(range(int(_number(count))))),
    "upper": _mapped(str.upper),
}
"""The functions of Helm and Sprig. A wrong number of arguments, or one of another kind, makes the result unknown."""
