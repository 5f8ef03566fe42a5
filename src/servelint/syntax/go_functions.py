"""Values in Go templates, and the functions of Helm and Sprig that charts use to write containers.

A value is a dict, a list, a TracedText or a Scalar; None stands for a key that does not exist.
"""

from __future__ import annotations

import base64
import json
import operator
import re

from servelint.core.source import Source
from servelint.core.text import EMPTY, TracedText
from servelint.syntax import yaml, yaml_values
from servelint.syntax.yaml import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Values: TypeAlias = dict[str, Any]

_LINE = re.compile(r"\A|(?<=\n)")
_SPECIAL = re.compile(r'["\\\n\t\r]')
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_SIMPLE = re.compile(r"[A-Za-z/][\w./@-]*")
_VERB = re.compile(r"%[-+# 0]*\d*(?:\.\d+)?([a-zA-Z%])")
DEPTH_AT_MOST = 30
_NODES_AT_MOST = 20_000
UNKNOWN = object()
"""Stands for a value that is unknown where it may not be needed: in `and`, `or` and `ternary`."""


class Unknown(Exception):
    """What an action writes is unknown to servelint."""


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
    if left[0] < 0 or depth > DEPTH_AT_MOST:
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


# -- what they are


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
            TracedText.join((_quoted(TracedText.of(key)), TracedText.of(":"), _flow(value[key]))) for key in sorted(value)
        ]
        return _between("{", inside, "}")
    if isinstance(value, list):
        return _between("[", [_flow(item) for item in value], "]")
    return _scalar(value, always=True)


def _between(start: str, parts: list[TracedText], end: str) -> TracedText:
    found = [TracedText.of(start)]
    for index, part in enumerate(parts):
        found += [TracedText.of(",")] * bool(index) + [part]
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
    if value is UNKNOWN:
        raise Unknown
    return value if truth(value) else given


def _either(*args: Any) -> Any:
    for arg in args:
        if arg is UNKNOWN:
            raise Unknown
        if truth(arg):
            return arg
    return args[-1] if args else None


def _all(*args: Any) -> Any:
    for arg in args:
        if arg is UNKNOWN:
            if any(one is not UNKNOWN and not truth(one) for one in args):
                return Scalar(False)
            raise Unknown
        if not truth(arg):
            return arg
    return args[-1]


def _choice(one: Any, other: Any, test: Any) -> Any:
    return UNKNOWN if test is UNKNOWN else one if truth(test) else other


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


def _split_path(path: Any) -> tuple[TracedText, TracedText]:
    """The folder and the last part of a path, as path.Dir and path.Base of Go give them for a path without `.` and `..`."""
    text, flat = written(path), plain_text(path)
    if not flat.strip("/") or re.search(r"(?:^|/)\.{1,2}(?:/|$)|//", flat):
        raise Unknown
    end = len(flat.rstrip("/"))
    start = flat.rfind("/", 0, end) + 1
    folder = text.cut(0, max(start - 1, 1)) if start else TracedText.of(".")
    return (text.cut(0, end) if end < len(flat) else folder), text.cut(start, end)


def _wrapped(width: Any, text: Any) -> TracedText:
    """A text with line ends in place of blanks, so that its lines are no longer than a width where its words are not."""
    most, found = int(_number(width)), written(text)
    flat, done = found.flat, 0
    parts: list[TracedText] = []
    while len(flat) - done > most:
        blank = flat.rfind(" ", done, done + most + 1)
        blank = blank if blank != -1 else flat.find(" ", done + most)
        if blank == -1:
            break
        parts += [found.cut(done, blank), TracedText.of("\n")] if blank > done else []
        done = blank + 1
    return TracedText.join([*parts, found.cut(done)])


def _expression(text: Any) -> re.Pattern[str]:
    """A pattern of Go. Raises Unknown for one that Python reads otherwise."""
    pattern = plain_text(text)
    if re.search(r"\\[zQEpP]|\(\?|\[\[:", pattern):
        raise Unknown
    return re.compile(pattern)


def _divided(pattern: Any, text: Any, most: Any) -> list[TracedText]:
    """The parts of a text between what a pattern matches, not more of them than a number that is not negative."""
    found, limit = written(text), int(_number(most))
    if not found.known or limit == 0:
        raise Unknown
    parts: list[TracedText] = []
    done = 0
    for match in _expression(pattern).finditer(found.flat):
        if not match.group():
            raise Unknown
        if len(parts) == limit - 1:
            break
        parts.append(found.cut(done, match.start()))
        done = match.end()
    return [*parts, found.cut(done)]


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
    "add": _math(operator.add),
    "add1": lambda value: Scalar(int(_number(value)) + 1),
    "and": _all,
    "append": lambda items, item: [*items, item],
    "base": lambda path: _split_path(path)[1],
    "b64dec": lambda text: TracedText.of(base64.b64decode(plain_text(text), validate=True).decode()),
    "coalesce": _either,
    "compact": lambda items: [item for item in items if truth(item)],
    "concat": lambda *lists: [item for one in lists for item in one],
    "contains": _truths(lambda part, text: part in text),
    "deepCopy": _copied,
    "default": _default,
    "dict": _pairs,
    "dig": _dug,
    "dir": lambda path: _split_path(path)[0],
    "div": _math(operator.floordiv),
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
    "initial": lambda items: items[:-1],
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
    "max": _math(max),
    "mergeOverwrite": _merged(True),
    "min": _math(min),
    "mod": _math(operator.mod),
    "mul": _math(operator.mul),
    "ne": lambda one, other: Scalar(not _equal(one, other).value),
    "nindent": lambda count, text: _indented(count, text, "\n"),
    "nospace": lambda text: TracedText.of(re.sub(r"\s", "", plain_text(text))),
    "not": lambda value: Scalar(not truth(value)),
    "omit": lambda values, *keys: {key: one for key, one in values.items() if key not in map(plain_text, keys)},
    "or": _either,
    "pick": lambda values, *keys: {key: one for key, one in values.items() if key in list(map(plain_text, keys))},
    "printf": _printed,
    "prepend": lambda items, item: [item, *items],
    "quote": lambda *values: _joined(TracedText.of(" "), [_quoted(written(value)) for value in values]),
    "regexMatch": lambda pattern, text: Scalar(_expression(pattern).search(plain_text(text)) is not None),
    "regexSplit": _divided,
    "repeat": lambda count, text: TracedText.join([written(text)] * min(int(_number(count)), _NODES_AT_MOST)),
    "replace": _replaced,
    "required": _required,
    "rest": lambda items: items[1:],
    "reverse": lambda items: items[::-1],
    "set": _set,
    "sortAlpha": lambda items: sorted(items, key=plain_text),
    "splitList": _split,
    "squote": lambda value: TracedText.join((TracedText.of("'"), written(value), TracedText.of("'"))),
    "sub": _math(operator.sub),
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
    "untilStep": lambda first, end, step: _range_of(list(range(int(_number(first)), int(_number(end)), int(_number(step))))),
    "until": lambda count: _range_of(list(range(int(_number(count))))),
    "unset": lambda values, key: (values.pop(plain_text(key), None), values)[1],
    "upper": _mapped(str.upper),
    "values": lambda *all_values: [value for values in all_values for value in values.values()],
    "without": lambda items, *others: [item for item in items if not _has(item, others).value],
    "wrap": _wrapped,
}
"""The functions of Helm and Sprig; `mustHas` is `has`. What is given a wrong number or kind of arguments is unknown."""
