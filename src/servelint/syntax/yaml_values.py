"""What YAML scalars mean to the program that reads the file.

`yes`, `0644`, `1_000` and `2001-01-01` are texts, numbers, truth values or dates, and programs differ in which:

    COMPOSE     Docker Compose: go.yaml.in/yaml v3, and v4 since compose-go 2.10
    KUBERNETES  kubectl and Helm: sigs.k8s.io/yaml, which is go.yaml.in/yaml v2
    PYYAML      engines that read a file with PyYAML (`vllm serve --config`): YAML 1.1
    CORE        the core schema of YAML 1.2: files of servelint's own

tests/syntax/test_yaml_values.py has a table of them all, with the source of each.
"""

from __future__ import annotations

import binascii
import json
import math
import re

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.syntax import yaml
from servelint.syntax.yaml import BOOL, FLOAT, INT, NULL, PLAIN, STRING, is_mapping, is_scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from servelint.syntax.yaml import Node

    Value: TypeAlias = bool | int | float | datetime.date | str | None

COMPOSE, KUBERNETES, PYYAML, CORE = "compose", "kubernetes", "pyyaml", "core"

_BINARY, _TIMESTAMP = "tag:yaml.org,2002:binary", "tag:yaml.org,2002:timestamp"
_KINDS = {NULL: type(None), BOOL: bool, INT: int, FLOAT: float}


def _words(true: str, false: str) -> dict[str, bool]:
    """A truth value for each word in small letters, with a capital and in capitals."""
    return {
        form: value
        for words, value in ((true, True), (false, False))
        for word in words.split()
        for form in (word, word.capitalize(), word.upper())
    }


_TRUTH = {
    COMPOSE: _words("true", "false"),
    KUBERNETES: _words("true yes on y", "false no off n"),
    PYYAML: _words("true yes on", "false no off"),
    CORE: _words("true", "false"),
}
_SPECIAL = {
    sign + word: value
    for words, value, signs in (
        (".inf .Inf .INF", math.inf, ("", "+")),
        (".inf .Inf .INF", -math.inf, ("-",)),
        (".nan .NaN .NAN", math.nan, ("",)),
    )
    for word in words.split()
    for sign in signs
}

# compiled where a file has such a scalar, which most have not
_GO_INT = r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))"
_PY_INT = (
    r"(?P<sign>[-+]?)(?:0b(?P<bin>[01_]+)|0x(?P<hex>[0-9a-fA-F_]+)|0(?P<oct>[0-7_]+)|(?P<dec>0|[1-9][0-9_]*)"
    r"|(?P<sixty>[1-9][0-9_]*(?::[0-5]?[0-9])+))"
)
_CORE_INT = r"0o(?P<oct>[0-7]+)|0x(?P<hex>[0-9a-fA-F]+)|(?P<sign>[-+]?)(?P<dec>[0-9]+)"
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_GO_POINT_FIRST = r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?"
_PY_FLOAT = (
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|(?P<sixty>[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)"
)
_DATE = (
    r"(?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})"
    r"(?:(?P<between>[Tt]|[ \t]+)(?P<time>[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})(?:\.(?P<fraction>[0-9]*))?"
    r"(?P<gap>[ \t]*)(?P<zone>Z|[-+][0-9]{1,2}(?::?[0-9]{2})?)?)?"
)
_GO_ZONE = r"Z|[-+][0-9]{2}:[0-9]{2}"
_INT64, _UINT64 = 1 << 63, 1 << 64
_DIGITS_OF_INT64 = 19
_JSON_NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?"
_NODES_AT_MOST = 2_000


def value(node: Node, reader: str) -> Value:
    """What a scalar is to a reader: COMPOSE, KUBERNETES, PYYAML or CORE. Raises ValueError for what it refuses."""
    text: str = node.value
    tag = yaml.tag(node)
    if tag == STRING:
        return text
    if tag == PLAIN:
        return plain(text, reader)
    if tag == _BINARY:
        return _binary(text)
    if tag != _TIMESTAMP and tag not in _KINDS:
        if reader == PYYAML:
            raise ValueError(f"{tag} is not a tag that PyYAML's safe loader knows")
        return text
    found = plain(text, reader)
    if tag == FLOAT and type(found) is int:
        return float(found)
    if tag == _TIMESTAMP and reader == KUBERNETES:
        return text
    if tag == _TIMESTAMP:
        import datetime

        kind: type = datetime.date
    else:
        kind = _KINDS[tag]
    if not isinstance(found, kind) or (tag == INT and isinstance(found, bool)):
        raise ValueError(f"{text!r} is not what its tag {tag} says")
    return found


def printed(value: Value, reader: str) -> str:
    """A value as the reader writes it where it needs a text: fmt.Sprint of Go, JSON for KUBERNETES, str of Python."""
    if isinstance(value, str):
        return value
    if reader == PYYAML:
        return str(value)
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: ""}[value]
    if isinstance(value, float):
        return _go_float(value, *((-6, 21) if reader == KUBERNETES else (-4, 6)))
    return str(value) if isinstance(value, int) else _go_time(value)


def shown(node: Node, reader: str) -> str:
    """A scalar as the text that the reader makes of it; as it is written where the reader refuses it."""
    try:
        return printed(value(node, reader), reader)
    except ValueError:
        return str(node.value)


def text(source: Source, node: Node, reader: str) -> TracedText:
    """The same, each character with its place; all of it has the place of the scalar where the reader writes it anew."""
    plain = shown(node, reader)
    return yaml.text(source, node) if plain == node.value else TracedText.of(plain, yaml.span(source, node))


def truth(node: Node, reader: str) -> bool | None:
    """The truth value of a scalar; None for anything that is not one to the reader."""
    try:
        found = value(node, reader) if is_scalar(node) else None
    except ValueError:
        return None
    return found if isinstance(found, bool) else None


class NotData(ValueError):
    """What in a document cannot be data.

    Attributes:
        node: What the message is about.
    """

    def __init__(self, message: str, node: Node) -> None:
        super().__init__(message)
        self.node = node


def load(source: Source) -> Any:
    """The one document of a text as plain data, None for an empty text. Raises ValueError with the place of what is wrong."""
    documents, problem = yaml.documents(source)
    if problem is None and len(documents) > 1:
        problem = Problem(source.path, "more than one document", *source.position(yaml.start(documents[1])))
    if problem is None:
        try:
            return data(documents[0]) if documents else None
        except NotData as error:
            problem = Problem(source.path, str(error), *source.position(yaml.start(error.node)))
    raise ValueError(f"{problem.path}:{problem.line}:{problem.column}: {problem.message}")


def data(node: Node, known: dict[int, Any] | None = None) -> Any:
    """A document of one of servelint's own files as plain data. Raises NotData.

    Args:
        node: The document.
        known: The objects made so far, by the ids of their nodes; an alias is the same object once more.
    """
    known = {} if known is None else known
    if id(node) in known:
        return known[id(node)]
    if is_scalar(node):
        try:
            return value(node, CORE)
        except ValueError as error:
            raise NotData(str(error), node) from error
    if is_mapping(node):
        complex_key = next((key for key, _ in node.value if not is_scalar(key)), None)
        if complex_key is not None:
            raise NotData("a key that is a collection", complex_key)
        if (repeated := yaml.repeated_key(node)) is not None:
            raise NotData(f"the key {repeated.value!r} is set twice", repeated)
        table: dict[Any, Any] = {}
        known[id(node)] = table
        for key, part in yaml.entries(node).values():
            table[data(key, known)] = data(part, known)
        return table
    listed: list[Any] = []
    known[id(node)] = listed
    listed += [data(item, known) for item in node.value]
    return listed


class JsonWriter:
    """Writes nodes as the JSON that a reader makes of them; keys and texts keep their places.

    Aliases may repeat nodes without end: a writer takes a limited number of them.
    """

    def __init__(self, source: Source, reader: str) -> None:
        self.source = source
        self.reader = reader
        self.left = _NODES_AT_MOST

    def text(self, node: Node) -> TracedText:
        """Raises ValueError for a scalar that the reader refuses, and for more than a person writes."""
        self.left -= 1
        if self.left < 0:
            raise ValueError("too many values")
        if is_scalar(node):
            return self.scalar(node)
        if is_mapping(node):
            return self.object(yaml.entries(node).values())
        items = [part for item in yaml.items(node) or () for part in (TracedText.of(", "), self.text(item))]
        return TracedText.join((TracedText.of("["), *items[1:], TracedText.of("]")))

    def object(self, pairs: Iterable[tuple[Node, Node]]) -> TracedText:
        """Write keys and values as one object."""
        parts: list[TracedText] = []
        for key, part in pairs:
            parts += [TracedText.of(", " if parts else "{"), self.quoted(key), TracedText.of(": "), self.text(part)]
        return TracedText.join((*parts, TracedText.of("}" if parts else "{}")))

    def scalar(self, node: Node) -> TracedText:
        found = value(node, self.reader)
        if isinstance(found, str):
            return self.quoted(node)
        text = yaml.text(self.source, node)
        if self.reader == KUBERNETES and isinstance(found, (int, float)) and re.fullmatch(_JSON_NUMBER, text.flat):
            return text
        plain = json.dumps(found, default=str)
        return text if text.flat == plain else TracedText.of(plain, yaml.span(self.source, node))

    def quoted(self, node: Node) -> TracedText:
        text = yaml.text(self.source, node)
        quoted = json.dumps(text.flat, ensure_ascii=False)
        if quoted[1:-1] != text.flat:
            return TracedText.of(quoted, yaml.span(self.source, node))
        return TracedText.join((TracedText.of('"'), text, TracedText.of('"')))


# -- plain scalars


def plain(text: str, reader: str) -> Value:
    """What a plain scalar without a tag is to a reader. PYYAML raises ValueError for an impossible date."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in _TRUTH[reader]:
        return _TRUTH[reader][text]
    if text[0] not in "+-.0123456789":
        return text
    if text in _SPECIAL:
        return _SPECIAL[text]
    if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) < _DIGITS_OF_INT64:
        return int(text)
    if reader == PYYAML:
        return _of_pyyaml(text)
    return _of_core(text) if reader == CORE else _of_go(text, reader)


def _of_go(text: str, reader: str) -> Value:
    """A text that begins as a number does, as go.yaml.in/yaml resolves it (resolve.go of v2.4.2, v3.0.4 and v4.0.0-rc.4)."""
    if text[0] != ".":
        if (moment := _moment(text, go=True)) is not None:
            return text if reader == KUBERNETES else moment
        text_of_number = text.replace("_", "")
        if (match := re.fullmatch(_GO_INT, text_of_number)) is not None:
            number = _whole(match)
            if -_INT64 <= number < _INT64 or (not match["sign"] and number < _UINT64):
                return number
    else:
        text_of_number = text.replace("_", "") if re.fullmatch(_GO_POINT_FIRST, text) else text  # strconv.ParseFloat
    return _float(text_of_number, text)


def _of_core(text: str) -> Value:
    match = re.fullmatch(_CORE_INT, text)
    return _whole(match) if match is not None else _float(text, text)


def _of_pyyaml(text: str) -> Value:
    """The same for PyYAML's safe loader (resolver.py and constructor.py of 6.0.3)."""
    match = re.fullmatch(_PY_INT, text)
    if match is not None:
        return _whole(match)
    match = re.fullmatch(_PY_FLOAT, text)
    if match is not None:
        plain = text.replace("_", "")
        return _of_sixties(plain) if match["sixty"] else _float(plain, text)
    moment = _moment(text, go=False)
    return text if moment is None else moment


def _whole(match: re.Match[str]) -> int:
    groups = match.groupdict()
    sign = -1 if groups.get("sign") == "-" else 1
    if groups.get("sixty"):
        return sign * int(_of_sixties(groups["sixty"].replace("_", "")))
    for name, base in _BASES.items():
        if (digits := groups.get(name)) is not None:
            return sign * int(digits.replace("_", "") or "0", base)
    raise ValueError(match.group())


def _of_sixties(text: str) -> float:
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    total = 0.0
    for part in digits.split(":"):
        total = total * 60 + float(part)
    return sign * total


def _float(text: str, written: str) -> float | str:
    """A number with a point or an exponent; the text as it is written if it is none, or one that is too large."""
    if re.fullmatch(_FLOAT, text) is None:
        return written
    number = float(text)
    return written if math.isinf(number) else number


def _moment(text: str, *, go: bool) -> datetime.date | None:
    """A date, or a date with a time; None for what the reader does not take for one."""
    match = re.fullmatch(_DATE, text) if text[4:5] == "-" and text[:4].isdigit() else None
    if match is None:
        return None
    import datetime

    year, month, day = (int(part) for part in match["date"].split("-"))
    if go and match["time"] and not _is_go_time(match):
        return None
    try:
        if match["time"] is None:
            if not go and len(match["date"]) != len("2001-01-01"):
                return None
            return datetime.date(year, month, day)
        hour, minute, second = (int(part) for part in match["time"].split(":"))
        fraction = int((match["fraction"] or "")[:6].ljust(6, "0"))
        return datetime.datetime(year, month, day, hour, minute, second, fraction, _zone(match["zone"]))
    except ValueError:
        if go:
            return None
        raise


def _is_go_time(match: re.Match[str]) -> bool:
    """Whether a time is written as allowedTimestampFormats of resolve.go has it."""
    if match["between"] == " ":
        return match["zone"] is None and not match["gap"]
    return match["between"] in ("T", "t") and not match["gap"] and bool(re.fullmatch(_GO_ZONE, match["zone"] or ""))


def _zone(written: str | None) -> datetime.timezone | None:
    import datetime

    if written is None:
        return None
    if written == "Z":
        return datetime.timezone.utc
    hours, _, minutes = written[1:].partition(":")
    offset = datetime.timedelta(hours=int(hours[:2]), minutes=int(minutes or hours[2:] or "0"))
    return datetime.timezone(-offset if written[0] == "-" else offset)


def _binary(text: str) -> str:
    import base64

    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from error


# -- how Go writes values


def _go_float(number: float, least: int, most: int) -> str:
    """A float64 in its shortest digits, with an exponent that is below `least`, or not below `most`.

    `%v` has (-4, 6) (strconv/ftoa.go), JSON has (-6, 21) (encoding/json/encode.go).
    """
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    for precision in range(17):
        written = f"{number:.{precision}e}"
        if float(written) == number:
            break
    mantissa, _, exponent = written.partition("e")
    power = int(exponent)
    if not least <= power < most:
        return f"{mantissa}e{power:+03d}"
    minus, digits = mantissa[: mantissa[0] == "-"], mantissa.lstrip("-").replace(".", "")
    if power < 0:
        return f"{minus}0.{'0' * (-power - 1)}{digits}"
    return f"{minus}{digits[: power + 1].ljust(power + 1, '0')}.{digits[power + 1 :]}".rstrip(".")


def _go_time(moment: datetime.date) -> str:
    """What String() of a time.Time gives."""
    import datetime

    if not isinstance(moment, datetime.datetime):
        return f"{moment.isoformat()} 00:00:00 +0000 UTC"
    offset = moment.strftime("%z") or "+0000"
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    return f"{moment:%Y-%m-%d %H:%M:%S}{fraction} {offset} {'UTC' if offset == '+0000' else offset}"
