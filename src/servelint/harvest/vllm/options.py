"""vLLM's option values: names for the functions that convert them, and the keys of JSON values by their config classes.

An entry: `extra` says what happens to a key that the class does not have; `stage` is "parse" where the parser itself makes the
class, "config" where that comes later; `suffixes` says that bare numbers such as 80g are expanded before; `dashes` that `-` in
a key is read as `_`. A key: `type` with "null" among its alternatives where None is taken, "object", "list" (of `items`) or
"any"; `choices` where nothing else is taken (`ignore_case` where an enum is looked up in capitals); `ge`, `gt`, `le`, `lt`;
`json` names the entry of a nested config class.
"""

from __future__ import annotations

import ast
import itertools
from collections import defaultdict
from typing import Any

from servelint.harvest.declared import DEPRECATED, Declared, builtin_type, canonical
from servelint.harvest.evaluate.values import (
    MISSING,
    UNKNOWN,
    Class,
    External,
    Field,
    Function,
    Generic,
    Instance,
    Native,
    Record,
    plain,
)
from servelint.harvest.pysource import Program

# -- converters


Type = str | list[str]


def converter(value: Any) -> Type | None:
    """The name of a `type=` function.

    "none" stands for the words `None` and ``, which optional_type turns into None before it tries what it wraps.
    "json" is json.loads, or a config class made from a JSON object. "json_or_kvs" also takes `key=1,other=2`.
    A classmethod is `Class.method`, a lambda its own text.
    """
    if not isinstance(value, Function):
        return builtin_type(value)
    if value.name == "_optional_type":
        inner = _parsed(value)
        if inner is None:
            return None
        return ["none", *(inner if isinstance(inner, list) else [inner])]
    if value.name == "_parse_type":
        return _parsed(value)
    if value.name == "parse_dataclass":
        own = own_reader(value)
        return "json" if own is None or "in [" not in ast.unparse(own.node) else converter(own)
    if isinstance(value.node, ast.Lambda):
        inner_function = closed(value, "f")
        if isinstance(inner_function, Class):
            return "json"
        return converter(inner_function) if isinstance(inner_function, Function) else ast.unparse(value.node)
    if value.owner is not None:
        return f"{value.owner.name}.{value.name}"
    return value.name


def own_reader(function: Function) -> Function | None:
    """The `from_cli` of a config class, where this release's parse_dataclass asks for it and the class has one."""
    cls = closed(function, "cls")
    if "from_cli" not in ast.unparse(function.node) or not isinstance(cls, Class):
        return None
    found = cls.module.program.attribute(cls, "from_cli") if cls.module.program.has(cls, "from_cli") else None
    return found if isinstance(found, Function) else None


def _parsed(function: Function) -> Type | None:
    """What parse_type wraps; "json_or_kvs" for json.loads where this release's then falls back on comma separated pairs."""
    wrapped = closed(function, "return_type")
    place = function
    if function.name == "_optional_type" and function.module.defines("parse_type"):
        place = function.module.resolve("parse_type")
    if isinstance(wrapped, Native) and wrapped.name == "json.loads" and "nullable_kvs" in ast.unparse(place.node):
        return "json_or_kvs"
    return converter(wrapped)


def config_class(value: Any) -> Class | None:
    """The config class that a converter makes from a JSON object, None where it makes none."""
    if not isinstance(value, Function):
        return None
    if value.name in ("_optional_type", "_parse_type"):
        return config_class(closed(value, "return_type"))
    if value.name == "parse_dataclass":
        found = closed(value, "cls")
        return found if isinstance(found, Class) else None
    if isinstance(value.node, ast.Lambda):
        found = closed(value, "f")
        return found if isinstance(found, Class) else config_class(found)
    return value.owner if value.name in ("from_cli", "from_json") else None


def closed(function: Function, name: str) -> Any:
    """What a function finds under a name of its own defaults or of the functions around it."""
    if name in function.defaults:
        return function.defaults[name]
    scope = function.scope
    while scope is not None:
        if name in scope.names:
            return scope.names[name]
        scope = scope.parent
    return UNKNOWN


# -- JSON options


_BOUNDS = ("ge", "gt", "le", "lt")
_OBJECTS = ("Mapping", "MutableMapping", "Dict")
_LISTS = ("Sequence", "Iterable", "Collection", "Set", "AbstractSet")
_SET_BY_ENGINE = ("target_model_config", "target_parallel_config", "draft_model_config", "draft_parallel_config")
_PLAIN = {str: "str", int: "int", float: "float", bool: "bool", type(None): "null", dict: "object", list: "list"}


class JsonOptions:
    """Collects the entries of one release while its options are read."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.entries: dict[str, dict[str, Any]] = {}

    def link(self, declared: Declared) -> str | None:
        """The key of the entry that describes an option's value; None where it is not an object of known keys."""
        kind = declared.kwargs.get("type")
        cls = config_class(kind)
        name = canonical(declared.names)
        if cls is None:
            cls = self._later(name)
            return None if cls is None else self.entry(name, cls, "config", "constructor")
        how = "constructor" if "(**" in _body(kind) else "adapter"
        key = self.entry(name, cls, "parse", how)
        if _expands(kind):
            self.entries[key]["suffixes"] = True
        return key

    def _later(self, name: str) -> Class | None:
        """The config class of an option that the parser leaves as JSON: what VllmConfig's field of that name holds."""
        module = self.program.module("vllm.config")
        holder = module.resolve("VllmConfig") if module is not None else None
        if not name.endswith("-config") or not isinstance(holder, Class):
            return None
        for field in self.program.fields(holder):
            if field.name == name.replace("-", "_"):
                return next((one for one in self._classes(self._annotation(field))), None)
        return None

    def _classes(self, annotation: Any) -> list[Class]:
        return [one for one in alternatives(annotation) if isinstance(one, Class) and self.program.fields(one)]

    def _annotation(self, field: Field) -> Any:
        """A field's type; a class named in quotes is looked up where the field stands."""
        found = self.program.annotation(field)
        if isinstance(found, Generic):
            args = tuple(
                field.module.resolve(arg.name.rpartition(".")[2])
                if isinstance(arg, External) and arg.name.startswith("typing.ForwardRef.")
                else arg
                for arg in found.args
            )
            return found if UNKNOWN in args else Generic(found.origin, args)
        return found

    def entry(self, name: str, cls: Class, stage: str, how: str) -> str:
        """Describes a class under a name, with the classes nested in it; returns the name."""
        if name in self.entries:
            return name
        entry: dict[str, Any] = {"extra": self.policy(cls, how, name), "stage": stage, "keys": {}}
        self.entries[name] = entry
        if name == "speculative-config" and self._takes_dashes():
            entry["dashes"] = True
        texts = docs(self.program, cls)
        for field in self.program.fields(cls):
            info = field.info.attributes if isinstance(field.info, Record) else {}
            if info.get("init") is False or field.name.startswith("_"):
                continue
            key = self._key(name, cls, field, stage, how)
            if DEPRECATED.search(texts[field.name]):
                key["deprecated"] = " ".join(texts[field.name].split())
            entry["keys"][field.name] = key
        return name

    def _takes_dashes(self) -> bool:
        module = self.program.module("vllm.engine.arg_utils")
        engine = module.resolve("EngineArgs") if module is not None else None
        method = self.program.attribute(engine, "create_speculative_config") if isinstance(engine, Class) else None
        return isinstance(method, Function) and "k.replace('-', '_')" in ast.unparse(method.node)

    def _key(self, name: str, cls: Class, field: Field, stage: str, how: str) -> dict[str, Any]:
        annotation = self._annotation(field)
        if field.name.endswith(_SET_BY_ENGINE):
            return {"type": "object"}
        key: dict[str, Any]
        if _unchecked(annotation):
            key = {"type": "any"}
        else:
            key = self.value(annotation, f"{name}.{field.name}", stage, how)
            for node in self._validators(cls, field.name, "wrap"):
                if "if value is None:" in ast.unparse(node):
                    _take_null(key)
            if key["type"] != "object":  # the values of a dictionary are not choices of the field
                for node in self._validators(cls, field.name, "before"):
                    key.update(self._members(cls, node))
        info = field.info.attributes if isinstance(field.info, Record) else {}
        for bound in _BOUNDS:
            if isinstance(info.get(bound), (int, float)):
                key[bound] = info[bound]
        aliases = [info.get("alias"), info.get("validation_alias")]
        if known := [alias for alias in dict.fromkeys(aliases) if isinstance(alias, str)]:
            key["aliases"] = known
        if field.default is MISSING and field.factory is MISSING:
            key["required"] = True
        if (literal := plain(field.default)) is not UNKNOWN and not isinstance(field.default, Instance):
            key["default"] = literal
        return key

    def value(self, annotation: Any, name: str, stage: str, how: str) -> dict[str, Any]:
        """The type of a JSON value, from an annotation."""
        found: dict[str, Any] = {}
        types: list[str] = []
        choices: list[Any] = []
        open_ended = False
        for one in alternatives(annotation):
            if isinstance(one, Generic) and _named(one.origin, "Literal"):
                choices += one.args
                types += [_PLAIN.get(type(arg), "any") for arg in one.args]
                continue
            if isinstance(one, Class) and any(_last(base) == "IntFlag" for base in self.program.lineage(one)):
                types.append("int")  # pydantic takes any number: its bits are combined
                open_ended = True
                continue
            if isinstance(one, Class) and self.program.members(one):
                values = [member.value for member in self.program.members(one)]
                choices += [value for value in values if isinstance(value, (str, int))]
                types += [_PLAIN.get(type(value), "any") for value in values]
                continue
            if isinstance(one, Class) and self.program.fields(one):
                found["json"] = self.entry(name, one, stage, how)
                types.append("object")
            elif isinstance(one, Generic) and (one.origin in (list, set, tuple, frozenset) or _last(one.origin) in _LISTS):
                types.append("list")
                if one.args:
                    found["items"] = self.value(one.args[0], f"{name}.items", stage, how)
            elif isinstance(one, Generic):
                types.append("object" if one.origin is dict or _last(one.origin) in _OBJECTS else "any")
            elif _last(one) == "Path":
                types.append("str")
            elif isinstance(one, type):
                types.append(_PLAIN.get(one, "list" if one in (set, tuple, frozenset) else "any"))
            else:
                types.append("any")
            open_ended = open_ended or types[-1] != "null"
        names = list(dict.fromkeys(types)) or ["any"]
        names = ["any"] if "any" in names else names
        found["type"] = names[0] if len(names) == 1 else names
        if choices and not open_ended:
            found["choices"] = [*choices, *([None] if "null" in names else [])]
        return found

    def _validators(self, cls: Class, name: str, mode: str) -> list[ast.FunctionDef]:
        """The methods that validate a field in a given mode."""
        bodies = [base.node.body for base in self.program.lineage(cls) if isinstance(base, Class)]
        return [node for body in bodies for node in body if isinstance(node, ast.FunctionDef) and _validates(node, name, mode)]

    def _members(self, cls: Class, node: ast.FunctionDef) -> dict[str, Any]:
        """The words that a validator looks up in an enum, whatever their case."""
        if ".upper()]" not in ast.unparse(node) and "__members__" not in ast.unparse(node):
            return {}
        words: list[Any] = []
        for child in ast.walk(node):
            holder = child.value if isinstance(child, (ast.Subscript, ast.Attribute)) else None
            if isinstance(holder, ast.Name):
                enum = cls.module.value(holder)
                members = self.program.members(enum) if isinstance(enum, Class) else []
                words += [member.name for member in members]
                words += [member.value for member in members if isinstance(member.value, int)]
            if isinstance(child, ast.Compare) and ".lower()" in ast.unparse(child.left):
                words += [one.value for one in child.comparators if isinstance(one, ast.Constant)]
        known = list(dict.fromkeys(words))
        return {"type": "any", "choices": [*known, None], "ignore_case": True} if known else {}

    def policy(self, cls: Class, how: str, name: str) -> str:
        """What happens to an unknown key: "ignore" or "reject".

        A plain dataclass rejects it where it is called with the keys as arguments; inside a pydantic class it does as that one.
        """
        outer = self.entries.get(name.rpartition(".")[0].removesuffix(".items"))
        result = outer["extra"] if outer is not None else ("reject" if how == "constructor" else "ignore")
        if any(isinstance(base, External) and base.name.endswith("BaseModel") for base in self.program.lineage(cls)):
            config = self.program.attribute(cls, "model_config") if "model_config" in ast.unparse(cls.node) else None
            return _policy(config.get("extra") if isinstance(config, dict) else None)
        for node in cls.node.decorator_list:
            function = node.func if isinstance(node, ast.Call) else node
            value = cls.module.value(function)
            given = next((word.value for word in getattr(node, "keywords", []) if word.arg == "config"), None)
            options = cls.module.value(given) if given is not None else {}
            extra = options.get("extra") if isinstance(options, dict) else None
            if isinstance(value, External) and value.name == "pydantic.dataclasses.dataclass":
                return _policy(extra)
            if isinstance(value, Function) and "extra='forbid'" in ast.unparse(value.node):
                return _policy(extra or "forbid")
        return result


def _policy(extra: Any) -> str:
    return "reject" if extra == "forbid" else "ignore"


def _unchecked(annotation: Any) -> bool:
    """Whether a type is `SkipValidation[...]`."""
    annotated = isinstance(annotation, Generic) and _named(annotation.origin, "Annotated")
    return annotated and _last(annotation.args[-1]) == "SkipValidation"


def _take_null(key: dict[str, Any]) -> None:
    types = key["type"] if isinstance(key["type"], list) else [key["type"]]
    if not {"null", "any"} & set(types):
        key["type"] = [*types, "null"]
    if "choices" in key and None not in key["choices"]:
        key["choices"].append(None)


def _validates(node: ast.FunctionDef, name: str, mode: str) -> bool:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("field_validator"):
            names = [arg.value for arg in decorator.args if isinstance(arg, ast.Constant)]
            modes = [word.value for word in decorator.keywords if word.arg == "mode"]
            if name in names and any(isinstance(one, ast.Constant) and one.value == mode for one in modes):
                return True
    return False


def alternatives(annotation: Any) -> list[Any]:
    """The members of a union, through Annotated; the annotation itself where it is none."""
    if isinstance(annotation, Generic) and _named(annotation.origin, "Union"):
        return [one for arg in annotation.args for one in alternatives(arg)]
    if isinstance(annotation, Generic) and _named(annotation.origin, "Annotated"):
        return alternatives(annotation.args[0])
    return [annotation]


def _named(value: Any, name: str) -> bool:
    return isinstance(value, External) and value.name == f"typing.{name}"


def _last(value: Any) -> str:
    return value.name.rpartition(".")[2] if isinstance(value, External) else ""


def _body(value: Any) -> str:
    """The text of the function that makes a config class, inside optional_type, parse_type and `lambda x, f=...: f(x)`."""
    while isinstance(value, Function) and value.name in ("_optional_type", "_parse_type"):
        value = closed(value, "return_type")
    inner = closed(value, "f") if isinstance(value, Function) and isinstance(value.node, ast.Lambda) else None
    if isinstance(inner, Function):
        return _body(inner)
    return ast.unparse(value.node) if isinstance(value, Function) else ""


def _expands(value: Any) -> bool:
    while isinstance(value, Function) and value.name in ("_optional_type", "_parse_type"):
        value = closed(value, "return_type")
    return isinstance(value, Function) and "_expand_json_human_readable_numbers" in ast.unparse(value.node)


def docs(program: Program, cls: Any) -> dict[str, str]:
    """The text under each field of a class, by the field's name."""
    found: dict[str, str] = defaultdict(str)
    for base in reversed(program.lineage(cls)) if isinstance(cls, Class) else []:
        if not isinstance(base, Class):
            continue
        for field, text in itertools.pairwise(base.node.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
                value = text.value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    found[field.target.id] = value.value
    return found
