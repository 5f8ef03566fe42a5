"""A release's Python source as modules whose names can be looked up and expressions evaluated. Nothing is imported.

    program = Program(tree)
    module = program.module("vllm.engine.arg_utils")
    module.resolve("EngineArgs")        # a Class or a Function of the module that defines it, or a value
    module.value(expression)            # plain Python values, UNKNOWN where the source alone does not say
    program.fields(module.resolve("CacheConfig"))
    program.call(function, [parser])    # evaluates the function's body

Names that the tree does not hold are External("torch.float16"). `externals` maps such dotted names to values (Native for
functions) and stands above the tree too, so that `vllm.platforms.current_platform` can be answered for a machine that is not
there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from servelint.harvest.evaluate import calls, classes, expressions, statements
from servelint.harvest.evaluate.scope import Scope
from servelint.harvest.evaluate.standard import STANDARD
from servelint.harvest.evaluate.values import (
    MISSING,
    UNBOUND,
    UNKNOWN,
    Class,
    External,
    Field,
    Function,
    Generic,
    Instance,
    Member,
    Native,
    Raised,
    Record,
    Undecided,
    plain,
)

__all__ = [
    "MISSING",
    "UNKNOWN",
    "Class",
    "External",
    "Field",
    "Function",
    "Generic",
    "Instance",
    "Member",
    "Module",
    "Native",
    "Program",
    "Raised",
    "Record",
    "Undecided",
    "plain",
]

_STEPS = 2_000_000  # statements and expressions for one value asked for: far more than any start-up code needs


class Text(Protocol):
    """What is read: a Tree, or anything with its `read`."""

    def read(self, path: str) -> str | None:
        """The text of a file, None where there is none."""


class Program:
    """The modules of one release. `report` is told what had to be left undecided."""

    def __init__(
        self,
        tree: Text,
        externals: Mapping[str, Any] | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.tree = tree
        self.externals = {**STANDARD, **(externals or {})}
        self.report = report or (lambda _: None)
        self.steps = 0
        self.depth = 0
        self._modules: dict[str, Module | None] = {}

    def module(self, dotted: str) -> Module | None:
        """The module of that name; None where the tree has none or where it is not valid Python."""
        if dotted not in self._modules:
            self._modules[dotted] = self._load(dotted)
        return self._modules[dotted]

    def _load(self, dotted: str) -> Module | None:
        base = dotted.replace(".", "/")
        for path in (f"{base}.py", f"{base}/__init__.py"):
            text = self.tree.read(path)
            if text is not None:
                try:
                    return Module(self, dotted, path, ast.parse(text))
                except (SyntaxError, ValueError) as error:
                    self.report(f"{path}: {error}")
                    return None
        return None

    def lookup(self, dotted: str) -> Any:
        """What a dotted name stands for: `vllm.config.CacheConfig`, a module, an External where the tree does not hold it."""
        if dotted in self.externals:
            return self.externals[dotted]
        module = self.module(dotted)
        if module is not None:
            return module
        parent, _, name = dotted.rpartition(".")
        holder = self.module(parent) if parent else None
        if holder is not None:
            return holder.resolve(name)
        return External(dotted)

    def fields(self, cls: Class) -> list[Field]:
        """The fields of a dataclass or pydantic model, those of its base classes first, in the order of declaration."""
        return classes.fields(self, cls)

    def members(self, cls: Class) -> list[Member]:
        """The members of an enum, in order."""
        return classes.members(self, cls)

    def lineage(self, cls: Class) -> list[Any]:
        """A class and its base classes, nearest first, those outside the tree as External or builtin types."""
        return classes.lineage(self, cls)

    def annotation(self, field: Field) -> Any:
        """A field's annotation as a value: a builtin type, Generic, Class, External; UNKNOWN where it cannot be known."""
        return self.guarded(lambda: classes.annotation(self, field))

    def attribute(self, value: Any, name: str) -> Any:
        """`value.name`; UNKNOWN where it cannot be known."""
        return self.guarded(lambda: classes.attribute(self, value, name))

    def has(self, value: Any, name: str) -> bool:
        """Whether a value is known to have an attribute."""
        try:
            return classes.attribute(self, value, name) is not UNKNOWN
        except (Raised, Undecided):
            return False

    def call(self, function: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        """What a call gives; UNKNOWN where that cannot be known or the call raises."""
        return self.guarded(lambda: calls.call(self, function, list(args), dict(kwargs or {})))

    def guarded(self, work: Callable[[], Any]) -> Any:
        """The result of an evaluation, UNKNOWN where it fails. The limit on steps counts from the outermost one."""
        if self.depth == 0:
            self.steps = 0
        self.depth += 1
        try:
            return work()
        except Raised as error:
            self.report(f"raises {error}")
        except Undecided as error:
            self.report(str(error))
        except RecursionError:
            self.report("nested too deeply")
        finally:
            self.depth -= 1
        return UNKNOWN

    def step(self) -> None:
        """Counts one piece of work. Raises Undecided past the limit."""
        self.steps += 1
        if self.steps > _STEPS:
            raise Undecided("too much work")


class Module:
    """One file. Top-level names are evaluated when they are asked for, with the statements that bind or change them."""

    def __init__(self, program: Program, name: str, path: str, tree: ast.Module) -> None:
        self.program = program
        self.name = name
        self.path = path
        self.tree = tree
        self.package = name if path.endswith("/__init__.py") else name.rpartition(".")[0]
        self._bound = statements.bindings(tree.body)
        self._values: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<module {self.name}>"

    @property
    def names(self) -> list[str]:
        """Every name that the module's top level binds, in order."""
        return list(self._bound)

    def defines(self, name: str) -> bool:
        """Whether the top level binds this name (by an import, too)."""
        return name in self._bound

    def resolve(self, name: str) -> Any:
        """What a top-level name stands for, through re-exports: Class, Function, Module, a plain value, External, UNKNOWN."""
        dotted = f"{self.name}.{name}"
        if dotted in self.program.externals:
            return self.program.externals[dotted]
        if name not in self._values:
            self._values[name] = UNKNOWN  # where a name depends on itself
            self._values[name] = self._find(name)
        return self._values[name]

    def _find(self, name: str) -> Any:
        nodes = self._bound.get(name)
        if nodes:
            found = self.program.guarded(lambda: statements.top_level(self, name, nodes))
            if found is not UNBOUND:
                return found
        inner = self.program.module(f"{self.name}.{name}") if self.package == self.name else None
        if inner is not None:
            return inner
        if name != "__getattr__" and "__getattr__" in self._bound:
            getter = self.resolve("__getattr__")
            return self.program.call(getter, [name])
        for star in self._bound.get("*", []):
            if isinstance(star, ast.ImportFrom):
                found = self.program.module(self.absolute(star))
                if found is not None and found.defines(name):
                    return found.resolve(name)
        return UNKNOWN

    def absolute(self, node: ast.ImportFrom) -> str:
        """The dotted name of the module that a `from ... import` names."""
        if not node.level:
            return node.module or ""
        parts = self.package.split(".")
        parts = parts[: len(parts) - node.level + 1]
        return ".".join([*parts, node.module] if node.module else parts)

    def value(self, expr: ast.expr, local: Mapping[str, Any] | None = None) -> Any:
        """The value of an expression of this module, UNKNOWN where it cannot be known."""
        scope = Scope(self, dict(local or {}))
        return self.program.guarded(lambda: expressions.evaluate(scope, expr))
