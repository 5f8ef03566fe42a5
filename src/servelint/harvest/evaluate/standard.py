"""The standard library, pydantic and the like as far as start-up code uses them: dotted name -> value."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from servelint.harvest.evaluate.builtin import duplicate, shallow
from servelint.harvest.evaluate.values import MISSING, UNKNOWN, External, Generic, Native, Record


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
    found = re.match(pattern, text)
    return None if found is None else UNKNOWN


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
