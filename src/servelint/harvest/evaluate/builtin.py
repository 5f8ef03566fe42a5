"""Names that evaluated source can use: the builtins, the standard library, and the scopes in which they are looked up."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import itertools
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from servelint.harvest.evaluate.values import (
    MISSING,
    UNKNOWN,
    Class,
    External,
    Generic,
    Instance,
    Member,
    Native,
    Raised,
    Record,
)

if TYPE_CHECKING:
    from servelint.harvest.pysource import Module


TYPES = (bool, int, float, str, bytes, list, tuple, dict, set, frozenset, complex, object, type)
_LARGEST = 1_000_000


def sequence(value: Any) -> list[Any]:
    """The elements that iterating over a known value gives. Raises LookupError where it is not known to be iterable."""
    if isinstance(value, (list, tuple, dict, str, range)):
        return list(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, (type({}.keys()), type({}.values()), type({}.items()))):
        return list(value)
    raise LookupError(value)


def duplicate(value: Any) -> Any:
    """copy.deepcopy, with functions, classes and records of the tree shared."""
    if isinstance(value, dict):
        return {key: duplicate(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)(duplicate(item) for item in value)
    return value


def _iterable(function: Callable[..., Any]) -> Callable[..., Any]:
    def work(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (LookupError, TypeError, ValueError):
            return UNKNOWN

    return work


def _known(items: list[Any]) -> bool:
    return not any(item is UNKNOWN or isinstance(item, External) for item in items)


def _sorted(items: Any, key: Any = None, reverse: bool = False) -> Any:
    values = sequence(items)
    return sorted(values, key=key, reverse=reverse) if _known(values) else UNKNOWN


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    def work(*args: Any, **kwargs: Any) -> Any:
        values = sequence(args[0]) if len(args) == 1 else list(args)
        return function(values, **kwargs) if _known(values) else UNKNOWN

    return work


def _any(items: Any) -> Any:
    values = [item if item is UNKNOWN else bool(item) for item in sequence(items)]
    return True if any(v is True for v in values) else (UNKNOWN if UNKNOWN in values else False)


def _all(items: Any) -> Any:
    values = [item if item is UNKNOWN else bool(item) for item in sequence(items)]
    return False if any(v is False for v in values) else (UNKNOWN if UNKNOWN in values else True)


def _range(*args: int) -> Any:
    found = range(*args)
    return found if len(found) < _LARGEST else UNKNOWN


def _next(items: Any, *default: Any) -> Any:
    if values := sequence(items):
        return values[0]
    if default:
        return default[0]
    raise Raised("StopIteration")


def _type(value: Any) -> Any:
    if isinstance(value, (Member, Instance)):
        return value.owner
    if isinstance(value, Record):
        return External(value.kind)
    if value is None or type(value) in TYPES:
        return type(value)
    return UNKNOWN


def convert(kind: type, *args: Any, **kwargs: Any) -> Any:
    """`int("3")`, `list(x)`, `dict(a=1)`: a call of a builtin type. Raises Raised for what Python refuses."""
    if any(arg is UNKNOWN or isinstance(arg, (External, Record)) for arg in args):
        return UNKNOWN
    try:
        if kind in (list, tuple, set, frozenset):
            return kind(sequence(args[0])) if args else kind()
        if kind is dict:
            return dict(*args, **kwargs)
        if kind in (int, float, str, bool, bytes, complex):
            if args and isinstance(args[0], Member):
                args = (args[0].value, *args[1:])
            if args and kind is str and not isinstance(args[0], (str, int, float, type(None), list, dict, tuple)):
                return UNKNOWN
            return kind(*args, **kwargs)
        if kind is type and len(args) == 1:
            return _type(args[0])
    except LookupError:
        return UNKNOWN
    except (TypeError, ValueError) as error:
        raise Raised(type(error).__name__, error) from error
    return UNKNOWN


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": _iterable(lambda value: len(value) if isinstance(value, (str, bytes)) else len(sequence(value))),
    "sorted": _iterable(_sorted),
    "reversed": _iterable(lambda items: sequence(items)[::-1]),
    "enumerate": _iterable(lambda items, start=0: list(enumerate(sequence(items), start))),
    "zip": _iterable(lambda *items, **_strict: list(zip(*map(sequence, items), strict=False))),
    "map": _iterable(lambda function, *items: [function(*pair) for pair in zip(*map(sequence, items), strict=False)]),
    "filter": _iterable(lambda function, items: [item for item in sequence(items) if (function(item) if function else item)]),
    "iter": _iterable(sequence),
    "next": _next,
    "any": _iterable(_any),
    "all": _iterable(_all),
    "min": _iterable(_extreme(min)),
    "max": _iterable(_extreme(max)),
    "sum": _iterable(lambda items, start=0: sum(sequence(items), start)),
    "range": _iterable(_range),
    "abs": _iterable(abs),
    "round": _iterable(round),
    "repr": _iterable(lambda value: repr(value) if isinstance(value, (str, int, float, type(None))) else UNKNOWN),
    "print": lambda *_args, **_kwargs: None,
    "callable": lambda value: UNKNOWN if isinstance(value, External) else not isinstance(value, (str, int, float, list, dict)),
    "globals": dict,
    "locals": dict,
    "divmod": _iterable(divmod),
    "ord": _iterable(ord),
    "chr": _iterable(chr),
}

BUILTINS: dict[str, Any] = {kind.__name__: kind for kind in TYPES}
BUILTINS.update({name: Native(name, function) for name, function in _FUNCTIONS.items()})
BUILTINS.update({"None": None, "True": True, "False": False, "Ellipsis": ..., "NotImplemented": UNKNOWN})
EXCEPTIONS = {
    name: External(f"builtins.{name}")
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
BUILTINS.update(EXCEPTIONS)
for _name in (
    "isinstance",
    "issubclass",
    "getattr",
    "hasattr",
    "setattr",
    "super",
    "staticmethod",
    "classmethod",
    "property",
    "vars",
):
    BUILTINS[_name] = External(f"builtins.{_name}")  # answered where calls are evaluated


def shallow(value: Any) -> Any:
    """copy.copy of a container, and anything else as it is."""
    return copy.copy(value) if isinstance(value, (dict, list, set)) else value


def generic(origin: Any, args: tuple[Any, ...]) -> Any:
    """A subscripted type as Python normalises it: Optional and nested unions flat, nested Literals flat, List as list."""
    args = tuple(tuple(arg) if isinstance(arg, list) else arg for arg in args)
    name = origin.name.rpartition(".")[2] if isinstance(origin, External) else ""
    if name == "Optional":
        return union((*args, type(None)))
    if name == "Union":
        return union(args)
    if name == "SkipValidation":
        return Generic(External("typing.Annotated"), (*args, origin))
    if name == "Literal":
        flat: list[Any] = []
        for arg in args:
            flat += arg.args if isinstance(arg, Generic) and is_typing(arg.origin, "Literal") else [arg]
        seen = {(type(item), item): item for item in flat if item is not UNKNOWN}
        return UNKNOWN if UNKNOWN in flat else Generic(External("typing.Literal"), tuple(seen.values()))
    collection = {"List": list, "Dict": dict, "Tuple": tuple, "Set": set, "FrozenSet": frozenset, "Type": type}.get(name)
    return Generic(collection or origin, args)


def is_typing(value: Any, name: str) -> bool:
    """Whether a value is a special form of `typing` (or of typing_extensions)."""
    return isinstance(value, External) and value.name in (f"typing.{name}", f"typing_extensions.{name}")


def _forward(part: Any) -> Any:
    """A type named in quotes inside another: what `typing` makes a ForwardRef."""
    return External(f"typing.ForwardRef.{part}") if isinstance(part, str) else part


def union(args: tuple[Any, ...]) -> Any:
    """`Union[args]`: flat, without repeats; the one member where there is only one."""
    flat: list[Any] = []
    for arg in args:
        parts = arg.args if isinstance(arg, Generic) and is_typing(arg.origin, "Union") else (arg,)
        parts = tuple(type(None) if part is None else _forward(part) for part in parts)
        flat += [part for part in parts if part not in flat]
    if any(part is UNKNOWN for part in flat):
        return UNKNOWN
    return flat[0] if len(flat) == 1 else Generic(External("typing.Union"), tuple(flat))


# -- the standard library


def _origin(value: Any) -> Any:
    if isinstance(value, Generic):
        return value.origin
    return UNKNOWN if value is UNKNOWN else None


def _args(value: Any) -> Any:
    if isinstance(value, Generic):
        return value.args
    return UNKNOWN if value is UNKNOWN or isinstance(value, External) else ()


def _field(**kwargs: Any) -> Record:
    found = {"default": MISSING, "default_factory": MISSING, "init": True, "metadata": {}}
    return Record("Field", {**found, **kwargs})


def _field_info(default: Any = MISSING, **kwargs: Any) -> Record:
    if default is ...:
        default = MISSING
    return Record("FieldInfo", {"default": default, "default_factory": None, "init": None, **kwargs})


def _environment(_name: Any, default: Any = None) -> Any:
    return default


def _sub(pattern: str, replacement: Any, text: str, count: int = 0) -> Any:
    return re.sub(pattern, replacement, text, count=count)


def _match(pattern: str, text: str) -> Any:
    return None if re.match(pattern, text) is None else UNKNOWN


_NATIVES: dict[str, Any] = {
    "typing.get_args": _args,
    "typing.get_origin": _origin,
    "typing.cast": lambda _kind, value: value,
    "typing.TypeVar": lambda name, *_args, **_kwargs: External(f"typing.Any.{name}"),
    "typing.NewType": lambda _name, kind: kind,
    "dataclasses.field": _field,
    "pydantic.Field": _field_info,
    "pydantic.fields.Field": _field_info,
    "pydantic.ConfigDict": dict,
    "copy.deepcopy": duplicate,
    "copy.copy": shallow,
    "os.getenv": _environment,
    "os.environ.get": _environment,
    "os.path.expanduser": lambda path: path,
    "os.path.join": lambda *parts: "/".join(parts),
    "json.loads": json.loads,
    "json.dumps": json.dumps,
    "re.sub": _sub,
    "re.match": _match,
    "regex.sub": _sub,
    "regex.match": _match,
    "warnings.warn": lambda *_args, **_kwargs: None,
    "functools.wraps": lambda _function: Native("identity", lambda value: value),
    "enum.auto": lambda: Record("auto", {}),
    "collections.OrderedDict": lambda *args: dict(*args),
    "textwrap.dedent": lambda text: text,
    "itertools.permutations": lambda items, r=None: [list(one) for one in itertools.permutations(list(items), r)],
    "itertools.combinations": lambda items, r: [list(one) for one in itertools.combinations(list(items), r)],
    "itertools.chain": lambda *items: [one for part in items for one in part],
    "itertools.chain.from_iterable": lambda items: [one for part in items for one in part],
    "types.MappingProxyType": lambda value: value,
}

_VALUES: dict[str, Any] = {
    "typing.TYPE_CHECKING": False,
    "typing.List": External("typing.List"),
    "types.UnionType": External("typing.Union"),
    "types.NoneType": type(None),
    "types.EllipsisType": type(...),
    "dataclasses.MISSING": MISSING,
    "sys.argv": ["vllm", "serve"],
    "sys.version_info": (3, 12, 0),
    "sys.platform": "linux",
    "sys.modules": Record("modules", {}),
    "os.environ": Record("environ", {}),
    "os.name": "posix",
    "math.inf": float("inf"),
    "ssl.CERT_NONE": 0,
    "ssl.CERT_OPTIONAL": 1,
    "ssl.CERT_REQUIRED": 2,
    "argparse.SUPPRESS": "==SUPPRESS==",
    "sys.maxsize": 2**63 - 1,
}

STANDARD: dict[str, Any] = dict(_VALUES)
STANDARD.update({name: Native(name, function) for name, function in _NATIVES.items()})
for _name in ("get_args", "get_origin", "cast", "TypeVar", "TYPE_CHECKING"):
    STANDARD[f"typing_extensions.{_name}"] = STANDARD[f"typing.{_name}"]
for _name in ("Literal", "Union", "Optional", "Annotated", "Any", "ClassVar", "Final", "TypedDict", "NotRequired", "Required"):
    STANDARD[f"typing_extensions.{_name}"] = External(f"typing.{_name}")


# -- scopes


@dataclasses.dataclass(slots=True, eq=False)
class Scope:
    """The names of one function or class body. `owner`: the class whose method runs; `yields`: a generator's values."""

    module: Module
    names: dict[str, Any] = dataclasses.field(default_factory=dict)
    parent: Scope | None = None
    owner: Class | None = None
    yields: list[Any] | None = None
    is_class: bool = False

    def get(self, name: str) -> Any:
        """The value of a name, UNKNOWN where nothing binds it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.names and (first or not scope.is_class):
                return scope.names[name]
            scope, first = scope.parent, False
        if self.module.defines(name):
            return self.module.resolve(name)
        if name in BUILTINS:
            return BUILTINS[name]
        if name == "__name__":
            return self.module.name
        return self.module.resolve(name) if self.module.defines("*") else UNKNOWN

    def inner(self, owner: Class | None = None, is_class: bool = False) -> Scope:
        """A scope inside this one."""
        return Scope(self.module, {}, self, owner or self.owner, None, is_class)
