"""What evaluated source consists of: plain Python values, and the classes of this module for all else."""

from __future__ import annotations

import ast
import dataclasses
import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from servelint.harvest.evaluate.builtin import Scope
    from servelint.harvest.pysource import Module


class _Unknown:
    """A value that cannot be known from the source alone. Has no truth value: test with `is UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("UNKNOWN has no truth value")


class _Missing:
    """The absence of a default."""

    def __repr__(self) -> str:
        return "MISSING"


UNKNOWN = _Unknown()
MISSING = _Missing()
UNBOUND = _Missing()  # the absence of a binding: a name may stand for MISSING


@dataclasses.dataclass(frozen=True, slots=True)
class External:
    """A name of a module that the tree does not hold: `torch.float16`. Equal to itself; else nothing is known of it."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Generic:
    """A subscripted type: origin `list`, `Literal`, `Union` (as External("typing.Literal") and so on), args as written."""

    origin: Any
    args: tuple[Any, ...]


@dataclasses.dataclass(slots=True, eq=False)
class Function:
    """A function of the tree, with the scope that it closes over; `self_` is what a method is bound to."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: Module
    scope: Scope | None = None
    owner: Class | None = None
    self_: Any = MISSING
    bound: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    defaults: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its definition."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    def __repr__(self) -> str:
        return f"<function {self.name}>"


@dataclasses.dataclass(slots=True)
class Native:
    """A function that the evaluator answers itself. `raw`: it takes its arguments as they are, UNKNOWN among them."""

    name: str
    call: Callable[..., Any]
    raw: bool = False


@dataclasses.dataclass(slots=True, eq=False)
class Class:
    """A class that the evaluated source defines."""

    node: ast.ClassDef
    module: Module
    scope: Scope | None = None
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    bound: dict[str, list[ast.stmt]] | None = None

    @property
    def name(self) -> str:
        """The name of its definition."""
        return self.node.name

    def __repr__(self) -> str:
        return f"<class {self.module.name}.{self.name}>"


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """A member of an enum of the tree."""

    owner: Class
    name: str
    value: Any


@dataclasses.dataclass(slots=True, eq=False)
class Instance:
    """An object of a class of the tree."""

    owner: Class
    attributes: dict[str, Any]


@dataclasses.dataclass(slots=True, eq=False)
class Record:
    """An object that the evaluator makes up: attributes by name. `kind` names its class: `FieldInfo`, `Field`, `partial`."""

    kind: str
    attributes: dict[str, Any]


@dataclasses.dataclass(slots=True)
class Field:
    """A field of a dataclass. `default` is MISSING where the field has none, UNKNOWN where it cannot be known.

    `factory` is the default_factory as a value (MISSING where there is none): `default` is then what calling it gives.
    `info` is the `field(...)` or pydantic `Field(...)` call's record, MISSING where a plain value was assigned.
    """

    name: str
    annotation: ast.expr
    default: Any
    module: Module
    factory: Any = MISSING
    info: Any = MISSING
    owner: Class | None = None


class Raised(Exception):
    """An exception that the evaluated source raises; `kind` is the name of its class."""

    def __init__(self, kind: str, message: object = "") -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class Undecided(Exception):
    """Evaluation cannot go on: control flow depends on what is not known, or a limit was reached."""


def plain(value: object) -> Any:
    """The JSON-able form of a value (enum members by value, tuples and sets as lists), UNKNOWN where there is none."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, Member):
        return plain(value.value)
    if isinstance(value, (list, tuple)):
        items = [plain(item) for item in value]
        return UNKNOWN if any(item is UNKNOWN for item in items) else items
    if isinstance(value, (set, frozenset)):
        items = [plain(item) for item in value]
        return UNKNOWN if any(item is UNKNOWN for item in items) else sorted(items, key=str)
    if isinstance(value, dict):
        pairs = {plain(key): plain(item) for key, item in value.items() if isinstance(key, (str, int, Member))}
        bad = len(pairs) != len(value) or any(item is UNKNOWN for item in pairs.values())
        return UNKNOWN if bad else pairs
    return UNKNOWN
