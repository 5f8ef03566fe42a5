"""What a release declares on its argparse parser, as the options of a snapshot."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from servelint.harvest.evaluate.parser import Declared, Parser
from servelint.harvest.pysource import (
    MISSING,
    UNKNOWN,
    Class,
    External,
    Instance,
    Native,
    Program,
    Record,
    plain,
)

Converter = Callable[[Any], "str | list[str] | None"]
"""Names the function that converts a value: a type, a list of alternatives, None where it cannot be known."""

_FLAGS = {
    "store_true": True,
    "store_false": False,
    "store_const": None,
    "append_const": None,
    "count": None,
    "help": None,
    "version": None,
}
_CLASSES = {
    "_StoreAction": "store",
    "_StoreTrueAction": "store_true",
    "_StoreFalseAction": "store_false",
    "_StoreConstAction": "store_const",
    "_AppendAction": "append",
    "_HelpAction": "help",
    "_VersionAction": "version",
    "Action": "store",
    "BooleanOptionalAction": "toggle",
}
DEPRECATED = re.compile(r"\[deprecated\]|^\W*deprecated\b|\b(?:is|are|been|now) deprecated\b", re.IGNORECASE)


class Reader:
    """Reads one parser's declarations.

    `inverse` gives the spellings that set a toggle to false apart from `--no-x`, `link` the "json" entry of an option's value.
    """

    def __init__(
        self,
        program: Program,
        converter: Converter,
        inverse: Callable[[str], list[str]] = lambda _name: [],
        link: Callable[[Declared], str | None] = lambda _declared: None,
    ) -> None:
        self.program = program
        self.converter = converter
        self.inverse = inverse
        self.link = link

    def options(self, parser: Parser) -> dict[str, dict[str, Any]]:
        """canonical name -> option."""
        found = {}
        for declared in parser.declared:
            if declared.names and declared.names[0].startswith("-"):
                option = self.option(declared)
                found[canonical(declared.names)] = option
        return found

    def positionals(self, parser: Parser) -> list[dict[str, Any]]:
        """The positional arguments in order."""
        found = []
        for declared in parser.declared:
            if declared.names and not declared.names[0].startswith("-"):
                option = self.option(declared)
                del option["names"]
                option.pop("required", None)
                found.append({"name": declared.names[0], **option})
        return found

    def option(self, declared: Declared) -> dict[str, Any]:
        """One declaration as the snapshot writes it. What cannot be known is left out and reported."""
        kwargs = dict(declared.kwargs)
        action, own = self._action(declared, kwargs)
        option: dict[str, Any] = {"names": list(declared.names)}
        option.update(self._kind(declared, action, kwargs))
        if option["kind"] not in ("flag", "toggle"):
            self._values(declared, kwargs, option, own)
            linked = self.link(declared)
            if linked is not None:
                option["json"] = linked
        default = kwargs.get("default", MISSING)
        if default is MISSING and option["kind"] == "flag" and action in ("store_true", "store_false"):
            default = action == "store_false"
        elif default is MISSING:
            default = UNKNOWN if action in ("help", "version") else None
        literal = plain(default)
        if literal is not UNKNOWN and literal != "==SUPPRESS==":
            option["default"] = literal
        if kwargs.get("required") is True:
            option["required"] = True
        help_text = kwargs.get("help")
        if help_text == "==SUPPRESS==":
            option["hidden"] = True
        said = isinstance(help_text, str) and DEPRECATED.search(help_text) is not None
        if kwargs.get("deprecated") is True or said:
            option["deprecated"] = " ".join(str(help_text).split()) if said else True
        if declared.exclusive is not None:
            option["exclusive"] = declared.exclusive
        dest = kwargs.get("dest", MISSING)
        if dest is not MISSING and dest != _dest(declared.names):
            option["dest"] = plain(dest)
        return option

    def _action(self, declared: Declared, kwargs: dict[str, Any]) -> tuple[Any, Class | None]:
        """The action as argparse's short name, and its class where the tree has one; its __init__ may change kwargs."""
        action = kwargs.pop("action", "store")
        if isinstance(action, External):
            return _CLASSES.get(action.name.rpartition(".")[2], UNKNOWN), None
        if not isinstance(action, Class):
            return action, None
        if self.program.attribute(action, "__init__") is not UNKNOWN:
            arguments = {"option_strings": declared.names, "dest": _dest(declared.names), **kwargs}
            made = self.program.call(action, [], arguments)
            if isinstance(made, Instance):
                kwargs.update(
                    {name: value for name, value in made.attributes.items() if name in ("nargs", "const", "type", "default")}
                )
        for base in self.program.lineage(action):
            if isinstance(base, External) and base.name.rpartition(".")[2] in _CLASSES:
                return _CLASSES[base.name.rpartition(".")[2]], action
        return "store", action

    def _kind(self, declared: Declared, action: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        nargs = kwargs.get("nargs")
        if action == "toggle":
            negatives = [f"--no-{name[2:]}" for name in declared.names if name.startswith("--")]
            return {
                "kind": "toggle",
                "negatives": [*negatives, *(one for name in declared.names for one in self.inverse(name))],
            }
        if action in _FLAGS or (nargs == 0 and nargs is not False):
            return {"kind": "flag", **({"sets": False} if action == "store_false" else {})}
        if nargs == "?":
            const = plain(kwargs.get("const"))
            return {"kind": "optional", **({} if const is UNKNOWN else {"const": const})}
        if nargs in ("*", "+") or (isinstance(nargs, int) and not isinstance(nargs, bool)):
            return {"kind": "list", "nargs": nargs, **({"append": True} if action in ("append", "extend") else {})}
        if action in ("append", "extend"):
            return {"kind": "append"}
        if nargs is not None or action != "store":
            self.program.report(f"{declared.names}: action {action!r} with nargs {nargs!r} is not known")
        return {"kind": "value"}

    def _values(self, declared: Declared, kwargs: dict[str, Any], option: dict[str, Any], action: Class | None) -> None:
        name = self.converter(kwargs.get("type"))
        if action is not None and _has(self.program, action, "__call__") and not action.name.startswith("Deprecated"):
            name = action.name
        if name is None:
            self.program.report(f"{declared.names}: type {kwargs.get('type')!r} is not known")
        elif name != "str":
            option["type"] = name
        choices = kwargs.get("choices")
        if choices is not None:
            literal = plain(self.program.call(list, [choices]) if not isinstance(choices, (list, tuple)) else choices)
            if literal is UNKNOWN:
                self.program.report(f"{declared.names}: choices are not known")
            else:
                option["choices"] = literal


def _has(program: Program, cls: Class, name: str) -> bool:
    return program.attribute(cls, name) is not UNKNOWN


def canonical(names: list[str]) -> str:
    """An option's canonical name: its first long spelling without dashes, `_` as `-`."""
    first = next((name for name in names if name.startswith("--")), names[0])
    return first.lstrip("-").replace("_", "-")


def _dest(names: list[str]) -> str:
    first = next((name for name in names if name.startswith("--")), names[0])
    return first.lstrip("-").replace("-", "_")


def builtin_type(value: Any) -> str | None:
    """The name of a converter that is a builtin type, json.loads, or a class or native of its own; None for all else."""
    if value is None or value is str:
        return "str"
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, Native):
        return "json" if value.name == "json.loads" else value.name
    if isinstance(value, Class):
        return value.name
    if isinstance(value, Record) and value.kind == "partial":
        return builtin_type(value.attributes["func"])
    return value.name.rpartition(".")[2] if isinstance(value, External) else None
