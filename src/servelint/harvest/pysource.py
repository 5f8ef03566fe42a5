"""A release's Python source as modules whose names can be looked up and expressions evaluated. Nothing is imported.

    program = Program(tree)
    module = program.module("vllm.engine.arg_utils")
    module.resolve("EngineArgs")        # a Class or a Function of the module that defines it, or a value
    module.value(expression)            # plain Python values, UNKNOWN where the source alone does not decide
    program.fields(module.resolve("CacheConfig"))
    program.call(function, [parser])    # evaluates the function's body

Names that the tree does not hold are External("torch.float16"). `externals` maps such dotted names to values (Native for
functions) and takes precedence over the tree, so that `vllm.platforms.current_platform` can be given for another machine.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from servelint.harvest.evaluate import calls, classes, expressions, statements
from servelint.harvest.evaluate.builtin import STANDARD, Scope
from servelint.harvest.evaluate.values import UNBOUND, UNKNOWN, Class, External, Field, Member, Raised, Undecided
from servelint.harvest.sources import Tree

_STEPS = 2_000_000  # statements and expressions for one value asked for: far more than any start-up code needs


class Text(Protocol):
    """What is read: a Tree, or anything with its `read`."""

    def read(self, path: str) -> str | None:
        """The text of a file, None where there is none."""


class Program:
    """The modules of one release. `report` gets what had to be left undecided."""

    def __init__(
        self, tree: Text, externals: Mapping[str, Any] | None = None, report: Callable[[str], None] | None = None
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

    def value(self, dotted: str, name: str) -> Any:
        """What a module binds to a top-level name; None if the tree has no such module, or the module no such name."""
        module = self.module(dotted)
        return module.resolve(name) if module is not None and module.defines(name) else None

    def _load(self, dotted: str) -> Module | None:
        base = dotted.replace(".", "/")
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if (text := self.tree.read(path)) is not None:
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
        if (module := self.module(dotted)) is not None:
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
        if (dotted := f"{self.name}.{name}") in self.program.externals:
            return self.program.externals[dotted]
        if name not in self._values:
            self._values[name] = UNKNOWN  # where a name depends on itself
            self._values[name] = self._find(name)
        return self._values[name]

    def _find(self, name: str) -> Any:
        if nodes := self._bound.get(name):
            found = self.program.guarded(lambda: statements.top_level(self, name, nodes))
            if found is not UNBOUND:
                return found
        inner = self.program.module(f"{self.name}.{name}") if self.package == self.name else None
        if inner is not None:
            return inner
        if name != "__getattr__" and "__getattr__" in self._bound:
            return self.program.call(self.resolve("__getattr__"), [name])
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


# -- environment variables


_WRITERS = frozenset(("setenv", "putenv", "unsetenv", "delenv"))
_TYPES = {"bool": "bool", "int": "int", "float": "float", "list_int": "list", "choice": "str"}
"""`env_to_int` and the like: what the function's name says of the value"""


def variables_read(
    tree: Tree, package: str, prefixes: tuple[str, ...], report: Callable[[str], None] = lambda _: None
) -> dict[str, dict[str, Any]]:
    """Variable -> type, default and choices, each if all places that read it agree.

    package: the folder read, with a slash at its end. prefixes: what the engine's own variables start with.
    """
    seen: dict[str, list[dict[str, Any]]] = {}
    for path in tree.paths(package):
        text = tree.read(path) or ""
        if not any(prefix in text for prefix in prefixes):
            continue
        try:
            module = ast.parse(text)
        except (SyntaxError, ValueError) as error:
            report(f"{path}: {error}")
            continue
        for name, entry in _reads(module):
            if name.startswith(prefixes):
                seen.setdefault(name, []).append(entry)
    return {name: _agreed(entries) for name, entries in sorted(seen.items())}


def _agreed(entries: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in ("type", "default", "choices"):
        values = [entry[key] for entry in entries if key in entry]
        if values and all(value == values[0] and type(value) is type(values[0]) for value in values):
            found[key] = values[0]
    return found


def _reads(module: ast.Module) -> Iterator[tuple[str, dict[str, Any]]]:
    """(variable, what this place says of it): `getenv("X")`, `environ["X"]`, `"X" in environ`, `env_to_int("X")`, and so on."""
    named = namer(module.body, str.isidentifier)
    wrapped = _conversions(module)
    for node in ast.walk(module):
        name: str | None = None
        entry: dict[str, Any] = {}
        if isinstance(node, ast.Call) and node.args:
            function = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
            if "env" in function.lower() and function.rpartition(".")[2] not in _WRITERS:
                name = named(node.args[0])
                entry = _entry(function.rpartition(".")[2], node, wrapped.get(id(node)))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and "environ" in ast.unparse(node.value):
            name = named(node.slice)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            name = named(node.left) if "environ" in ast.unparse(node.comparators[0]) else None
        if name is not None:
            yield name, entry


def namer(nodes: Iterable[ast.AST], accepts: Callable[[str], object]) -> Callable[[ast.expr], str | None]:
    """What gives the name that an expression stands for: a text, or a variable that one of some statements sets to one."""
    constants = {
        node.targets[0].id: node.value.value
        for node in nodes
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }

    def named(node: ast.expr) -> str | None:
        value = node.value if isinstance(node, ast.Constant) else constants.get(node.id) if isinstance(node, ast.Name) else None
        return value if isinstance(value, str) and accepts(value) else None

    return named


def _conversions(module: ast.Module) -> dict[int, str]:
    """By id of a call, the `int` or `float` that its result goes straight into."""
    return {
        id(node.args[0]): node.func.id
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and len(node.args) == 1
        and isinstance(node.func, ast.Name)
        and node.func.id in ("int", "float")
    }


def _entry(reader: str, call: ast.Call, converted: str | None) -> dict[str, Any]:
    """Type, default and choices from a reading call; a default only as the type that the source uses it with."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    given = call.args[1] if len(call.args) > 1 else keywords.get("default")
    kind = next((word for part, word in _TYPES.items() if reader.endswith(f"to_{part}")), converted)
    entry: dict[str, Any] = {} if kind in (None, "str") else {"type": kind}
    try:
        default = None if given is None else ast.literal_eval(given)
    except ValueError:
        default = None
    if converted in ("int", "float") and isinstance(default, str):
        try:
            default = int(default) if converted == "int" else float(default)
        except ValueError:
            default = None
    if isinstance(default, (bool, int, float, str)):
        entry["default"] = default
    if reader.endswith("to_choice") and (len(call.args) > 2 or "choices" in keywords):
        try:
            choices = ast.literal_eval(call.args[2] if len(call.args) > 2 else keywords["choices"])
        except ValueError:
            choices = None
        if isinstance(choices, (list, tuple, set)):
            entry["choices"] = sorted(choices, key=str) if isinstance(choices, set) else list(choices)
    return entry
