"""Go templates of a Helm chart, filled with the chart's own values as far as these tell what they write.

What only an installation knows (`.Release.Name`, a helper of a library, `lookup`) stays in the text as it is written, an `if`
that depends on it with all its branches, so that the result is a template as well. Nothing is executed: the functions of Sprig
that charts use are a table (servelint.syntax.go_functions).
"""

from __future__ import annotations

import binascii
import json
import re
from functools import partial

from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText
from servelint.syntax import templates
from servelint.syntax.go_functions import DEPTH_AT_MOST, FUNCTIONS, UNKNOWN, Scalar, Unknown, plain_text, truth, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from servelint.syntax.go_functions import Values

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`)|(?P<number>[-+]?\d+(?:\.\d+)?)(?![\w.])|(?P<variable>\$\w*)"
    r"|(?P<field>\.\w+)|(?P<sign>:=|=|\||\(|\)|,|\.)|(?P<name>[A-Za-z_]\w*))"
)
_KEYWORD = re.compile(r"(if|with|range|define|block|else|end|template|break|continue)\b\s*(.*)", re.DOTALL)
_ELSE = re.compile(r"(if|with)\b\s*(.*)", re.DOTALL)
_NAMED = re.compile(r"\"([^\"]+)\"\s*(.*)", re.DOTALL)
_IN_A_WORD = re.compile(r"(?m)--[\w-]+(?:=|[ \t]+)[\"']?\Z|[\w.]:\Z")
"""What stands in front of a value: an option, or the repository of an image. No chart wants it to be empty."""
_ITEM = re.compile(r"(?m)^[ \t]*-[ \t]+[\"']?\Z")
"""What stands in front of a whole item of a list, which no chart wants to be empty either."""
_MORE_WORDS = re.compile(r"(?i)args|arguments|flags|options|opts|extra")
"""The names of values that are whole options, of which there may be none."""
_ASSIGNED = re.compile(r"(\$\w+)\s*=(?!=)")
_CHANGING = frozenset(("merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite", "set", "unset"))
"""Functions that change their first argument."""
_STEPS_AT_MOST = 20_000
_CHARACTERS_AT_MOST = 400_000


def _is_left(condition: str, value: Any) -> bool:
    """Whether a condition only asks for a value that is empty, and not false."""
    empty = value.value is None if isinstance(value, Scalar) else not getattr(value, "flat", "-")
    return empty and re.fullmatch(r"\$?[.\w]+", condition) is not None


def _needs_text(text: str, action: _Action) -> bool:
    """Whether what an action writes is the value of an option, a part of an image, or an item of a list."""
    before = text[max(0, action.start - 200) : action.start]
    whole = re.compile(r"[\"']?[ \t]*(?:#[^\n]*)?(?:\n|\Z)").match(text, action.end) is not None
    return _IN_A_WORD.search(before) is not None or (whole and _ITEM.search(before) is not None)


class _GivesUp(Exception):
    """The whole template is left as it is."""


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


def _unwrapped(source: Source, nodes: list[Any]) -> list[Any]:
    """Nodes without the conditions around the rest of a file: `{{ if .Values.on }}` ... `{{ end }}`."""
    last = len(nodes)
    while last and isinstance(nodes[last - 1], _Text) and not source.text[nodes[last - 1].start : nodes[last - 1].end].strip():
        last -= 1
    part = nodes[last - 1] if last else None
    before = [source.text[node.start : node.end] for node in nodes[: last - 1] if isinstance(node, _Text)]
    others = any(re.sub(r"(?m)^[ \t]*#.*|---", "", text).strip() for text in before)
    if not isinstance(part, _Part) or part.kind != "if" or len(part.arms) > 1 or others:
        return nodes
    return [*nodes[: last - 1], *_unwrapped(source, part.arms[0][1])]


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
        self._off = False  # whether the values keep the whole file out
        self._source: Source
        self._at = (0, 0)

    def render(self, template: Template, *, shown: bool = False) -> TracedText | None:
        """The text of a file with what is known in it; None if that cannot be known.

        shown: whether to write what a condition around everything keeps out
        """
        nodes = _unwrapped(template.source, template.nodes) if shown else template.nodes
        self._off = nodes is not template.nodes
        try:
            return self._body(template.source, nodes, self.root, [{"$": self.root}])
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
                if not found.flat and not _MORE_WORDS.search(action.inside) and _needs_text(source.text, action):
                    raise Unknown  # the chart leaves it to the installation
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
            scope[-1][match.group(1)] = UNKNOWN
            return
        for one in reversed(scope):
            if match.group(1) in one:
                one[match.group(1)] = UNKNOWN
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
                inner = UNKNOWN if node.kind in ("range", "with") and opening is node.arms[0][0] else dot
                fresh = dict.fromkeys(re.findall(r"\$\w+", opening.inside.partition(":=")[0]), UNKNOWN)
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
                if self._off and kind == "if" and _is_left(of, value):
                    raise Unknown  # what switches the file on may give it
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
        if helper is None or self._depth > DEPTH_AT_MOST:
            raise Unknown
        source, part = helper
        opening, body = part.arms[0]
        self._depth += 1
        try:
            found = self._body(source, body, dot, [{"$": dot}], opening.right, part.closing.left)
        finally:
            self._depth -= 1
        if "{{" in found.flat:
            found = found.sub(_OF_ONE_LINE, partial(_one_unknown, found))
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
        function = FUNCTIONS.get(name) or FUNCTIONS.get(re.sub(r"^must([A-Z])", lambda match: match[1].lower(), name))
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
        if self._depth > DEPTH_AT_MOST:
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


_NOTHING = object()
_OF_ONE_LINE = re.compile(
    r"\{\{[ \t]+(?:(?P<first>s?quote|toJson)[ \t][^{}|\n]*"
    r"|[^-{}\n][^{}\n]*\|[ \t]*(?P<last>s?quote|toJson|int|int64|float64|len))[ \t]*\}\}"
)
"""An action that writes one value on one line, whatever it is given: the lines around it are known."""


def _one_unknown(text: TracedText, match: re.Match[str]) -> TracedText:
    """An unknown value in place of such an action."""
    value = text.unknown(match)
    mark = TracedText.of('"' if match["first"] == "quote" or match["last"] == "quote" else "'")
    return TracedText.join((mark, value, mark)) if "quote" in (match["first"] or match["last"]) else value


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
            if piped or self.ahead() not in ("|", ""):
                raise Unknown
            return value
        self.at += 1
        args: list[Any] = []
        lazy = text in ("and", "or", "default", "coalesce", "ternary")
        while self.ahead() not in ("|", ",", ""):
            end = self.behind()
            try:
                args.append(self.operand())
            except Unknown:
                if not lazy:
                    raise
                self.at = end
                args.append(UNKNOWN)
        args += piped or []
        if any(arg is UNKNOWN for arg in args) and not lazy:
            raise Unknown
        found = self.renderer.call(text, args)
        if found is UNKNOWN:
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
            number = text.lstrip("+")
            if re.match(r"-?0\d", number):
                raise Unknown  # octal
            value = Scalar(json.loads(number), TracedText.of(number))
        elif kind == "variable":
            value = next((one[text] for one in reversed(self.scope) if text in one), UNKNOWN)
        elif kind == "field":
            value = self.field(self.dot, text)
        elif text == ".":
            value = self.dot
        elif text == "(":
            value = self.group()
        elif kind == "name":
            value = {"true": Scalar(True), "false": Scalar(False), "nil": None}.get(text, UNKNOWN)
            if value is UNKNOWN:
                value = self.renderer.call(text, [])
        else:
            raise Unknown
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "field" and not self.tokens[self.at][2]:
            value = self.field(value, self.tokens[self.at][1])
            self.at += 1
        if value is UNKNOWN:
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
