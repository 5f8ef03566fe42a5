"""Where the keys and values of TOML stand: held against a parser that tells no places."""

from __future__ import annotations

import sys
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.files.toml_document import Path, places
from tests.together import together

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def leaves(data: object, path: Path = ()) -> dict[Path, object]:
    """The values that are neither tables nor arrays of tables, by their paths; the elements of arrays too."""
    found: dict[Path, object] = {}
    if isinstance(data, dict):
        for key, value in data.items():
            found.update(leaves(value, (*path, key)))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            found.update(leaves(value, (*path, index)))
    else:
        found[path] = data
    return found


def tables(data: object, path: Path = ()) -> set[Path]:
    found: set[Path] = set()
    if isinstance(data, dict):
        for key, value in data.items():
            found |= {(*path, key)} | tables(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            found |= {(*path, index)} | tables(value, (*path, index))
    return found


def quoted(text: str) -> str:
    """The quoted key at the start of a text."""
    end = next(index for index, char in enumerate(text) if char == text[0] and index and not _escaped(text, index))
    return next(iter(tomllib.loads(f"{text[: end + 1]} = 1")))


def _escaped(text: str, index: int) -> bool:
    before = text[:index]
    return text[0] == '"' and (len(before) - len(before.rstrip("\\"))) % 2 == 1


def hold(text: str) -> None:
    """Every path of the data has a place, none has more, and what stands there is the key and the value."""
    data = tomllib.loads(text)
    found = places(text)
    assert set(found) == tables(data)
    for path, value in leaves(data).items():
        written = text[found[path].start : found[path].end]
        assert tomllib.loads(f"x = {written}")["x"] == value, (path, written)
    for path, place in found.items():
        if isinstance(path[-1], str):
            rest = text[place.key :]
            assert rest.startswith(path[-1]) if rest[0] not in "\"'" else quoted(rest) == path[-1]


@together(
    "text",
    [
        "",
        "# nothing\n\n",
        "a = 1",
        "a = 1 # one\r\nb = 2\r\n",
        "  a\t=\t1\n",
        'a.b.c = "x"\na.b.d = 2\n"a".e = 3\n',
        "'a b' . \"c.d\" = 1\n",
        '"\\u0061\\t\\"x" = 1\n',
        "[a]\nb = 1\n[a.c]\nd = 1\n",
        "[a . 'b.c' . \"d\"]\ne = 1\n",
        "[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3\n[[a.e]]\nf = 4\n[[a.e]]\nf = 5\n[[a]]\n[[a.e]]\nf = 6\n",
        "[a.b]\nx = 1\n[a]\ny = 2\n",
        "a = [1, 2,\n  # three\n  3,\n]\n",
        "a = [[1, 2], ['x', \"y\"], []]\n",
        "a = [{b = 1}, {b = 2, c.d = [3]}]\n",
        "a = {}\nb = {c = {d = {}}}\n",
        "a = { b.c = 1, 'd e' = [ { f = 2 } ] }\n",
        'a = """\nx = 1\n[b]\n"""\nc = 2\n',
        'a = """x""y"" z"""\nb = 1\n',
        'a = """"quoted""""\nb = 1\n',
        'a = """""x"""""\nb = 1\n',
        "a = '''it's\n'' here'''\nb = 1\n",
        "a = ''''x''''\nb = 1\n",
        'a = """\\\n   x \\""" y"""\nb = 1\n',
        "a = \"\"\nb = ''\nc = \"\"\"\"\"\"\nd = ''''''\n",
        'a = "x # no comment" # a comment\nb = "\\\\"\n',
        "a = 1979-05-27 07:32:00 # when\nb = 07:32:00.5\nc = 1979-05-27T00:32:00-07:00\n",
        "a = +1_000\nb = 0xdead_beef\nc = -inf\nd = 6.6e-3\ne = true\n",
        "a = [ 1979-05-27 07:32:00 , 2.5 ]\nb = {c = 1979-05-27 07:32:00 , d = 1}\n",
        "1 = 1\n2.3 = 3\n",
        "-_- = 1\ntrue = false\n",
        '"ключ" = "значение"\nb = "ß"\n',
        "[tool.servelint]\nselect = ['a']\n[[tool.servelint.per-path]]\npaths = ['x']\n[tool.servelint.rule.'v/x']\ny = 1\n",
    ],
)
def test_what_is_written_in_every_way(text: str) -> None:
    hold(text)


def test_a_table_in_parts_is_at_its_first() -> None:
    found = places("[a.b]\nx = 1\n[a]\ny = 2\n")
    assert (found[("a",)].key, found[("a", "b")].key, found[("a", "y")].key) == (1, 3, 16)


KEYS = st.text(st.sampled_from("ab-_1."), min_size=1, max_size=3) | st.text("é \"'\\#=[]\t", min_size=1, max_size=3)
TEXTS = st.text("ab \"'\\#=[]{},.\n\té\u2028", max_size=6)
SCALARS = st.integers(-(2**40), 2**40) | st.booleans() | TEXTS | st.floats(allow_nan=False)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


class Writer:
    """Writes data as TOML, in one of the many ways each time."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def one_of(self, *options: str) -> str:
        return self.draw(st.sampled_from(options))

    def key(self, name: str) -> str:
        ways = [self.basic(name)]
        if name and all(char in "ab-_1" for char in name):
            ways += [name, name]
        if not set(name) & set("'\n"):
            ways.append(f"'{name}'")
        return self.one_of(*ways)

    def basic(self, text: str) -> str:
        for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
            text = text.replace(plain, escaped)
        return f'"{text}"'

    def text(self, text: str) -> str:
        ways = [self.basic(text)]
        if not set(text) & set("'\n"):
            ways.append(f"'{text}'")
        if "''" not in text and not text.endswith("'"):
            ways.append(f"'''\n{text}'''")
        ways.append('"""\n' + self.basic(text)[1:-1].replace("\\n", "\n") + '"""')
        return self.one_of(*ways)

    def value(self, value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            between = self.one_of(", ", ",", " ,\n  # more, ]\n ")
            last = self.one_of("", ",\n") if value else ""
            return "[" + self.one_of("", " ", "\n") + between.join([self.value(one) for one in value]) + last + "]"
        if isinstance(value, dict):
            pairs = [f"{self.key(name)}{self.one_of('=', ' = ')}{self.value(one)}" for name, one in value.items()]
            return "{" + self.one_of("", " ") + ", ".join(pairs) + self.one_of("", " ") + "}"
        return repr(value)

    def table(self, data: dict[str, Any], header: list[str]) -> str:
        """Values first, then what has a header."""
        lines: list[str] = []
        below: list[str] = []
        for name, value in data.items():
            way = self.one_of("value", "header", "dotted")
            if isinstance(value, dict) and way == "header":
                path = [*header, name]
                dotted = self.one_of(".", " . ").join([self.key(part) for part in path])
                below.append(f"[{dotted}]\n{self.table(value, path)}")
            elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value) and way == "header":
                path = [*header, name]
                for one in value:
                    dotted = ".".join([self.key(part) for part in path])
                    below.append(f"[[{dotted}]]\n{self.table(one, path)}")
            elif isinstance(value, dict) and value and way == "dotted":
                lines += [f"{self.key(name)}.{self.key(inner)} = {self.value(one)}" for inner, one in value.items()]
            else:
                lines.append(f"{self.key(name)} = {self.value(value)}{self.one_of('', ' # said')}")
        return "\n".join([*lines, *below, ""])


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    data = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    return Writer(draw).table(data, []), data


@settings(deadline=None)
@given(documents())
def test_whatever_is_written(document: tuple[str, dict[str, Any]]) -> None:
    text, data = document
    assert tomllib.loads(text) == data
    hold(text)
