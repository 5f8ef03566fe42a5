"""Classes of the tree: attributes, base classes, dataclass fields, enum members, instances, and tests of a value's class."""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING, Any

from servelint.harvest.evaluate import calls, expressions, statements
from servelint.harvest.evaluate.builtin import Scope, is_typing
from servelint.harvest.evaluate.values import (
    MISSING,
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
)

if TYPE_CHECKING:
    from servelint.harvest.pysource import Program


_METHODS = (str, bytes, list, tuple, dict, set, frozenset, int, float)
_ENUMS = ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag")


def lineage(program: Program, cls: Class) -> list[Any]:
    """A class and its base classes, nearest first, those outside the tree as External or builtin types."""
    if "__mro__" not in cls.attributes:
        cls.attributes["__mro__"] = [cls]  # where a class is its own base
        found: list[Any] = [cls]
        scope = cls.scope or Scope(cls.module)
        for node in cls.node.bases:
            base = expressions.evaluate(scope, node)
            base = base.origin if isinstance(base, Generic) else base
            found += [one for one in (lineage(program, base) if isinstance(base, Class) else [base]) if one not in found]
        cls.attributes["__mro__"] = found
    return list(cls.attributes["__mro__"])


def bound(cls: Class) -> dict[str, list[ast.stmt]]:
    """The statements of a class's body that bind each name."""
    if cls.bound is None:
        cls.bound = statements.bindings(cls.node.body)
    return cls.bound


def own(cls: Class, name: str) -> Any:
    """What a class's own body binds to a name, MISSING where it binds nothing."""
    if name not in cls.attributes:
        cls.attributes[name] = MISSING
        nodes = bound(cls).get(name)
        if nodes and not all(isinstance(node, ast.AnnAssign) and node.value is None for node in nodes):
            cls.attributes[name] = UNKNOWN
            scope = body(cls)
            for node in nodes:
                statements.execute(scope, node)
            cls.attributes[name] = scope.names.get(name, UNKNOWN)
    return cls.attributes[name]


class _Body(dict[str, Any]):
    """A class body's names, evaluated when they are asked for."""

    def __init__(self, cls: Class) -> None:
        super().__init__()
        self.cls = cls
        self.bound = bound(cls)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (name in self.bound and own(self.cls, str(name)) is not MISSING)

    def __missing__(self, name: str) -> Any:
        return own(self.cls, name)


def body(cls: Class) -> Scope:
    """The scope in which a class's body runs."""
    return Scope(cls.module, _Body(cls), cls.scope, cls, None, True)


def is_enum(program: Program, cls: Class) -> bool:
    """Whether a class is an enum."""
    return any(isinstance(base, External) and base.name.rpartition(".")[2] in _ENUMS for base in lineage(program, cls))


def members(program: Program, cls: Class) -> list[Member]:
    """The members of an enum, in order; nothing for another class."""
    if not is_enum(program, cls):
        return []
    found: list[Member] = []
    for name, nodes in bound(cls).items():
        if name.startswith("_") or not any(isinstance(node, (ast.Assign, ast.AnnAssign)) for node in nodes):
            continue
        value = own(cls, name)
        if isinstance(value, Record) and value.kind == "auto":
            value = name.lower() if any(is_named(base, "StrEnum") for base in lineage(program, cls)) else len(found) + 1
        if value is not MISSING and not isinstance(value, Function):
            found.append(Member(cls, name, tuple(value) if isinstance(value, list) else value))
    return found


def is_named(value: Any, name: str) -> bool:
    """Whether a value is an External whose last part is `name`."""
    return isinstance(value, External) and value.name.rpartition(".")[2] == name


def attribute(program: Program, value: Any, name: str) -> Any:
    """The value of `value.name`; UNKNOWN where it cannot be known.

    Raises:
        Raised: with AttributeError, where a known object has no such attribute.
    """
    from servelint.harvest.pysource import Module

    if value is UNKNOWN:
        return UNKNOWN
    if isinstance(value, Module):
        found = value.resolve(name)
        if found is UNKNOWN and not any(map(value.defines, (name, "*", "__getattr__"))):
            raise Raised("AttributeError", name)
        return found
    if isinstance(value, External):
        if name in ("__module__", "__name__", "__qualname__"):
            return value.name.rpartition(".")[0 if name == "__module__" else 2]
        return program.lookup(f"{value.name}.{name}")
    if isinstance(value, Class):
        return _of_class(program, value, name, MISSING)
    if isinstance(value, Member):
        return _of_member(program, value, name)
    if isinstance(value, (Instance, Record)):
        return _of_object(program, value, name)
    return _of_plain(value, name)


def _of_member(program: Program, value: Member, name: str) -> Any:
    if name in ("value", "_value_"):
        return value.value
    if name in ("name", "_name_"):
        return value.name
    if isinstance(value.value, str) and hasattr(str, name):
        return Native(name, getattr(value.value, name))
    return _of_class(program, value.owner, name, value)


def _of_object(program: Program, value: Instance | Record, name: str) -> Any:
    if name in value.attributes:
        return value.attributes[name]
    if isinstance(value, Instance):
        return value.owner if name == "__class__" else _of_class(program, value.owner, name, value)
    return program.lookup("os.environ.get") if value.kind == "environ" and name == "get" else UNKNOWN


def _of_plain(value: Any, name: str) -> Any:
    """The attribute of a builtin type, a function or a plain value."""
    if name == "__module__":
        return "typing" if isinstance(value, Generic) and isinstance(value.origin, External) else "builtins"
    if name == "__name__":
        return value.__name__ if isinstance(value, type) else (value.name if isinstance(value, Function) else UNKNOWN)
    if name.startswith("_"):
        return UNKNOWN
    if isinstance(value, _METHODS):
        if not hasattr(value, name):
            raise Raised("AttributeError", name)
        found = getattr(value, name)
        return Native(name, found) if callable(found) else found
    return Native(name, getattr(value, name)) if isinstance(value, type) and hasattr(value, name) else UNKNOWN


def _of_class(program: Program, cls: Class, name: str, self_: Any) -> Any:
    if name in ("__name__", "__qualname__"):
        return cls.name
    if name == "__module__":
        return cls.module.name
    if name == "__doc__":
        return ast.get_docstring(cls.node)
    if name == "__members__":
        return {member.name: member for member in members(program, cls)}
    for member in members(program, cls) if self_ is MISSING else []:
        if member.name == name:
            return member
    outside = False
    for base in lineage(program, cls):
        if not isinstance(base, Class):
            outside = outside or base is not object
            continue
        found = own(base, name)
        if found is MISSING:
            continue
        if isinstance(found, Record) and found.kind == "Field":
            if found.attributes["default"] is not MISSING:
                return found.attributes["default"]
            raise Raised("AttributeError", name)
        return _bound(program, found, cls, self_)
    if outside:
        return UNKNOWN
    raise Raised("AttributeError", name)


def _bound(program: Program, found: Any, cls: Class, self_: Any) -> Any:
    """A function found in a class as a method of the class or of the instance."""
    if not isinstance(found, Function) or isinstance(found.node, ast.Lambda):
        return found
    kinds = {name.rpartition(".")[2] for name in map(ast.unparse, found.node.decorator_list)}
    if "staticmethod" in kinds:
        return found
    target = cls if "classmethod" in kinds else self_
    if target is MISSING:
        return found
    method = dataclasses.replace(found, self_=target)
    if kinds & {"property", "cached_property"}:
        return calls.call(program, method, [], {})
    return method


def set_attribute(value: Any, name: str, new: Any) -> None:
    """`value.name = new`, for the objects that the evaluator holds."""
    if isinstance(value, (Instance, Record, Class)):
        value.attributes[name] = new


def superclass(scope: Scope) -> Any:
    """`super()` inside a method: a record whose attributes are those of the next class."""
    program = scope.module.program
    self_ = next(iter(scope.names.values()), UNKNOWN)
    cls = self_.owner if isinstance(self_, (Instance, Member)) else self_
    if not isinstance(cls, Class) or scope.owner is None:
        return UNKNOWN
    order = lineage(program, cls)
    after = order[order.index(scope.owner) + 1 :] if scope.owner in order else []
    found: dict[str, Any] = {}
    if isinstance(self_, Instance) and any(isinstance(base, External) for base in after):
        found["__init__"] = Native("__init__", lambda *_args, **kwargs: self_.attributes.update(kwargs), raw=True)
    for base in reversed(after):
        if isinstance(base, Class):
            for name in bound(base):
                if (value := own(base, name)) is not MISSING:
                    found[name] = _bound(program, value, cls, self_ if isinstance(self_, (Instance, Member)) else MISSING)
    return Record("super", found)


def is_dataclass(program: Program, cls: Class) -> bool:
    """Whether a class or one of its bases is made a dataclass by a decorator."""
    return any(_decorated(base) for base in lineage(program, cls) if isinstance(base, Class))


def _decorated(cls: Class) -> bool:
    for node in cls.node.decorator_list:
        name = ast.unparse(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]
        if name in ("dataclass", "config"):
            return True
    return False


def _is_model(program: Program, cls: Class) -> bool:
    return any(is_named(base, "BaseModel") or is_named(base, "Struct") for base in lineage(program, cls))


def fields(program: Program, cls: Class) -> list[Field]:
    """The fields of a dataclass (or pydantic model): those of the bases first, a redeclared one in its first place."""
    if "__fields__" in cls.attributes:
        return list(cls.attributes["__fields__"])
    found: dict[str, Field] = {}
    model = _is_model(program, cls)
    for base in reversed(lineage(program, cls)):
        if not isinstance(base, Class) or not (model or _decorated(base)):
            continue
        for node in statements.flat(base.module, base.node.body):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                field = _field(program, base, node, node.target.id)
                if field is not None:
                    found[field.name] = field
    cls.attributes["__fields__"] = list(found.values())
    return list(found.values())


def _field(program: Program, cls: Class, node: ast.AnnAssign, name: str) -> Field | None:
    text = ast.unparse(node.annotation)
    if text.startswith(("ClassVar", "typing.ClassVar", "InitVar", "dataclasses.InitVar", "KW_ONLY", "dataclasses.KW_ONLY")):
        return None
    if name == "model_config" and _is_model(program, cls):
        return None
    if node.value is None:
        return Field(name, node.annotation, MISSING, cls.module, owner=cls)
    value = expressions.evaluate(body(cls), node.value)
    if not isinstance(value, Record) or value.kind not in ("Field", "FieldInfo"):
        return Field(name, node.annotation, value, cls.module, owner=cls)
    factory = value.attributes["default_factory"]
    factory = MISSING if factory is None else factory
    default = value.attributes["default"]
    if factory is not MISSING:
        default = program.call(factory)
    return Field(name, node.annotation, default, cls.module, factory, value, cls)


def annotation(program: Program, field: Field) -> Any:
    """A field's annotation as a value; text in quotes is read as the type that it names."""
    program.step()
    scope = Scope(field.module) if field.owner is None else body(field.owner)
    value = expressions.evaluate(scope, field.annotation)
    if isinstance(value, str):
        try:
            value = expressions.evaluate(scope, ast.parse(value, mode="eval").body)
        except SyntaxError:
            return UNKNOWN
    return type(None) if value is None else value


def field_records(program: Program, cls: Class) -> list[Record]:
    """What dataclasses.fields gives."""
    found = []
    for one in fields(program, cls):
        info = one.info
        plain = not isinstance(info, Record) or info.kind == "FieldInfo"
        default = one.default if info is MISSING else (info if plain else info.attributes["default"])
        factory = MISSING if plain else info.attributes["default_factory"]
        init = True if info is MISSING else info.attributes.get("init") is not False
        kind = annotation(program, one)
        if kind is UNKNOWN:
            program.report(f"{cls.name}.{one.name}: annotation {ast.unparse(one.annotation)} is not known")
        default = Record("Value", {}) if default is UNKNOWN else default  # there is one, whatever it is
        found.append(
            Record("Field", {"name": one.name, "type": kind, "default": default, "default_factory": factory, "init": init})
        )
    return found


def instantiate(program: Program, cls: Class, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """`Class(...)`: a member of an enum, an instance with its fields, UNKNOWN where base classes outside decide."""
    if is_enum(program, cls):
        for member in members(program, cls):
            if args and (member.value == args[0] or member == args[0]):
                return member
        raise Raised("ValueError", args)
    instance = Instance(cls, {})
    if is_dataclass(program, cls) or _is_model(program, cls):
        declared = fields(program, cls)
        values = dict(zip([one.name for one in declared], args, strict=False))
        for one in declared:
            instance.attributes[one.name] = kwargs.get(one.name, values.get(one.name, one.default))
        return instance
    for base in lineage(program, cls):
        if isinstance(base, Class):
            start = own(base, "__init__")
            if isinstance(start, Function):
                calls.call(program, _bound(program, start, cls, instance), args, kwargs)
                return instance
        elif base is not object:
            if base in (dict, list, set) and not args and not kwargs:
                return base()
            return UNKNOWN if base is UNKNOWN or not args else Record(cls.name, {"args": args})
    return instance


# -- isinstance and issubclass, where not all values are known


def is_instance(program: Program, value: Any, kinds: Any) -> Any:
    """isinstance(), as far as it is known."""
    if value is UNKNOWN or isinstance(value, External):
        return True if kinds is type and isinstance(value, External) else UNKNOWN
    results = [_is_one(program, value, kind) for kind in (kinds if isinstance(kinds, tuple) else _alternatives(kinds))]
    return True if True in results else (UNKNOWN if any(result is UNKNOWN for result in results) else False)


def _alternatives(kinds: Any) -> tuple[Any, ...]:
    return kinds.args if isinstance(kinds, Generic) and is_typing(kinds.origin, "Union") else (kinds,)


def _is_one(program: Program, value: Any, kind: Any) -> Any:
    if kind is UNKNOWN:
        return UNKNOWN
    if isinstance(kind, External):
        if isinstance(value, Record):
            return kind.name.rpartition(".")[2] == value.kind
        if isinstance(value, (Instance, Member)):
            return kind in lineage(program, value.owner)
        if kind.name.rpartition(".")[2] in ("Mapping", "MutableMapping", "Sequence", "Iterable", "Callable"):
            return UNKNOWN
        return False
    if isinstance(kind, Class):
        return isinstance(value, (Instance, Member)) and kind in lineage(program, value.owner)
    if kind is type:
        return isinstance(value, (type, Class))
    if isinstance(kind, type):
        inner = value.value if isinstance(value, Member) and kind in lineage(program, value.owner) else value
        return isinstance(inner, kind)
    return UNKNOWN


def is_subclass(program: Program, value: Any, kinds: Any) -> Any:
    """issubclass(), as far as it is known."""
    if isinstance(value, Class):
        order = lineage(program, value)
        options = kinds if isinstance(kinds, tuple) else (kinds,)
        known = any(option in order for option in options)
        return True if known else (UNKNOWN if any(base is UNKNOWN for base in order) else False)
    if isinstance(value, type) and isinstance(kinds, type):
        return issubclass(value, kinds)
    return False if isinstance(value, (type, External)) else UNKNOWN
