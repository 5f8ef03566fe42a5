"""Evaluation of source that is never imported."""

from __future__ import annotations

import ast
import textwrap

import pytest

from servelint.harvest.evaluate.values import MISSING, UNKNOWN, Class, External, Function, Native, plain
from servelint.harvest.pysource import Program
from tests.together import together


class Files:
    """A tree held in memory."""

    def __init__(self, **files: str) -> None:
        self.files = {f"{name}.py": textwrap.dedent(text) for name, text in files.items()}

    def read(self, path: str) -> str | None:
        return self.files.get(path)


def value(source: str, expression: str) -> object:
    module = Program(Files(m=source)).module("m")
    assert module is not None
    return module.value(ast.parse(expression, mode="eval").body)


@together(
    "source, expression, expected",
    [
        ("A = 1", "A + 1", 2),
        ("A = ['x'] + ['y']\nA += ['z']\nA.append('w')", "A", ["x", "y", "z", "w"]),
        ("T = {'a': 1}\nT['b'] = 2\nT.update(c=3)", "list(T.keys())", ["a", "b", "c"]),
        ("from typing import Literal, get_args\nL = Literal['a', Literal['b']]", "get_args(L)", ("a", "b")),
        ("import enum\nclass E(enum.Enum):\n    X = 'x'\n    Y = 'y'", "[e.value for e in E]", ["x", "y"]),
        ("import enum\nclass E(str, enum.Enum):\n    X = enum.auto()\n    Y = 'y'", "E.Y == 'y'", True),
        ("import os", "os.environ.get('X', 'off') == 'off'", True),
        ("import os", "'X' in os.environ", False),
        ("import os\nN = int(os.getenv('N', '4'))", "f'{N:03d}'", "004"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    A = 1\nelse:\n    A = 2", "A", 2),
        ("try:\n    A = {}['k']\nexcept KeyError:\n    A = 'missing'", "A", "missing"),
        ("def f(x, *, y=2):\n    for i in range(10):\n        if i == x:\n            return i * y", "f(3)", 6),
        ("def f():\n    yield 1\n    yield from [2, 3]", "list(f())", [1, 2, 3]),
        ("fs = []\nfor i in range(3):\n    fs.append(lambda x, i=i: x + i)", "[f(10) for f in fs]", [10, 11, 12]),
        ("class A:\n    n = 1\nclass B(A):\n    @classmethod\n    def get(cls):\n        return cls.n", "B.get()", 1),
        (
            "class A:\n    def f(self):\n        return [1]\nclass B(A):\n    def f(self):\n        return super().f() + [2]",
            "B().f()",
            [1, 2],
        ),
        ("A = [n for n in range(9) if n % 2]", "{n: str(n) for n in A if n > 3}", {5: "5", 7: "7"}),
        ("A, *B = [1, 2, 3]", "B", [2, 3]),
    ],
)
def test_known(source: str, expression: str, expected: object) -> None:
    assert value(source, expression) == expected


@pytest.mark.parametrize(
    ("source", "expression"),
    [
        ("import torch", "torch.cuda.is_available()"),
        ("import torch\ndef f():\n    if torch.cuda.is_available():\n        return 1\n    return 2", "f()"),
        ("A = B\nB = A", "A"),
        ("def f():\n    return f()", "f()"),
        ("def f():\n    while True:\n        pass", "f()"),
        ("A = 10 ** 10 ** 10", "A"),
        ("A = 'x' * 10 ** 12", "A"),
        ("import torch\nA = [1]\nA.extend(torch.f())", "A"),
        ("def f():\n    raise ValueError('no')", "f()"),
        ("A = __import__('os').system('true')", "A"),
        ("A = ().__class__.__base__.__subclasses__()", "A"),
    ],
)
def test_unknown(source: str, expression: str) -> None:
    assert value(source, expression) is UNKNOWN


def test_unknown_has_no_truth_value() -> None:
    with pytest.raises(TypeError):
        bool(UNKNOWN)


def test_an_unknown_condition_makes_what_it_binds_unknown_and_is_reported() -> None:
    reports: list[str] = []
    program = Program(Files(m="import torch\nA = 1\nif torch.f():\n    A = 2\nB = 3"), report=reports.append)
    module = program.module("m")
    assert module is not None
    assert module.resolve("A") is UNKNOWN
    assert module.resolve("B") == 3
    assert reports == ["m.py:3: `if torch.f()` is not known; left out"]


def test_names_are_followed_through_reexports() -> None:
    files = Files(m="")
    files.files = {
        "pkg/__init__.py": "from .inner import *\nfrom pkg.other import f as g",
        "pkg/inner.py": "A = 1\nimport torch\nD = torch.float16",
        "pkg/other.py": "def f(): return A\nfrom pkg import A",
    }
    program = Program(files)
    package = program.module("pkg")
    assert package is not None
    assert package.resolve("A") == 1
    assert package.resolve("D") == External("torch.float16")
    function = package.resolve("g")
    assert isinstance(function, Function)
    assert function.module.name == "pkg.other"
    assert program.call(function) == 1


def test_externals_stand_above_the_tree() -> None:
    files = Files(m="from n import f\nA = f('x')", n="def f(x):\n    return None")
    program = Program(files, externals={"n.f": Native("f", lambda text: text * 2)})
    module = program.module("m")
    assert module is not None
    assert module.resolve("A") == "xx"


def test_module_getattr_answers_for_names_that_are_only_declared() -> None:
    source = """
        import os
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            DEBUG: bool = True
        table = {"DEBUG": lambda: bool(int(os.getenv("DEBUG", "0")))}
        def __getattr__(name):
            if name in table:
                return table[name]()
            raise AttributeError(name)
    """
    module = Program(Files(m=source)).module("m")
    assert module is not None
    assert module.resolve("DEBUG") is False


def test_fields_of_a_dataclass() -> None:
    source = """
        from dataclasses import dataclass, field
        from pydantic import Field
        from typing import ClassVar
        @dataclass
        class Base:
            a: int
            kind: ClassVar[str] = "x"
            b: list = field(default_factory=lambda: [1])
        @dataclass
        class Config(Base):
            c: int = Field(default=3, ge=1)
            a: int = 7
            if True:
                d: str = "d"
    """
    program = Program(Files(m=source))
    module = program.module("m")
    assert module is not None
    cls = module.resolve("Config")
    assert isinstance(cls, Class)
    fields = program.fields(cls)
    assert [(field.name, field.default) for field in fields] == [("a", 7), ("b", [1]), ("c", 3), ("d", "d")]
    assert fields[2].info.attributes["ge"] == 1
    assert fields[3].factory is MISSING
    base = module.resolve("Base")
    assert program.fields(base)[0].default is MISSING


def test_plain() -> None:
    assert plain({"a": (1, None), "b": {"x"}}) == {"a": [1, None], "b": ["x"]}
    assert plain([External("torch.float16")]) is UNKNOWN
