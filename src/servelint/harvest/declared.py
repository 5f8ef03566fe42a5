"""What a release declares on its argparse parser: parsers that record declarations, and options made of them."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable
from typing import Any

from servelint.harvest.evaluate import calls
from servelint.harvest.evaluate.values import (
    MISSING,
    UNKNOWN,
    Class,
    External,
    Function,
    Instance,
    Native,
    Raised,
    Record,
    Undecided,
    plain,
)
from servelint.harvest.pysource import Program


@dataclasses.dataclass(slots=True)
class Declared:
    """One add_argument call: its names, its keyword arguments as values, and its mutually exclusive group."""

    names: list[str]
    kwargs: dict[str, Any]
    exclusive: str | None = None


@dataclasses.dataclass(slots=True)
class Parser:
    """What was declared on one parser, in order, and its subcommands' parsers.

    `required` names the mutually exclusive groups of which one option must be given.
    """

    declared: list[Declared] = dataclasses.field(default_factory=list)
    commands: dict[str, Parser] = dataclasses.field(default_factory=dict)
    defaults: dict[str, Any] = dataclasses.field(default_factory=dict)
    required: list[str] = dataclasses.field(default_factory=list)
    groups: int = 0

    def value(self, exclusive: str | None = None) -> Record:
        """The parser (or a group of it) as the evaluated source sees it."""
        record = Record("ArgumentParser", {"prog": "serve", "description": "", "epilog": "", "_action_groups": []})

        def add_argument(*names: Any, **kwargs: Any) -> Record:
            self.declared.append(Declared([name for name in names if isinstance(name, str)], dict(kwargs), exclusive))
            return Record("Action", {"dest": kwargs.get("dest")})

        def add_group(*_args: Any, **_kwargs: Any) -> Record:
            return self.value(exclusive)

        def add_exclusive(required: bool = False) -> Record:
            self.groups += 1
            name = f"group-{self.groups}"
            if required is True:
                self.required.append(name)
            return self.value(name)

        def add_parser(name: Any, **_kwargs: Any) -> Record:
            return self.commands.setdefault(str(name), Parser()).value()

        def add_subparsers(**_kwargs: Any) -> Record:
            return Record("Subparsers", {"add_parser": Native("add_parser", add_parser, raw=True)})

        def set_defaults(**kwargs: Any) -> None:
            self.defaults.update(kwargs)

        methods: dict[str, Callable[..., Any]] = {
            "add_argument": add_argument,
            "add_argument_group": add_group,
            "add_mutually_exclusive_group": add_exclusive,
            "add_subparsers": add_subparsers,
            "add_parser": add_parser,
            "set_defaults": set_defaults,
        }
        record.attributes.update({name: Native(name, method, raw=True) for name, method in methods.items()})
        return record


Converter = Callable[[Any], "str | list[str] | None"]
"""Names the function that converts a value: a type, a list of alternatives, None where it cannot be known."""

_FLAGS = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
_SUPPRESS = "==SUPPRESS=="
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


@dataclasses.dataclass(slots=True, eq=False)
class Reader:
    """Reads one parser's declarations.

    `inverse` gives the spellings that set a toggle to false apart from `--no-x`, `link` the "json" entry of an option's value.
    """

    program: Program
    converter: Converter
    inverse: Callable[[str], list[str]] = lambda _name: []
    link: Callable[[Declared], str | None] = lambda _declared: None

    def options(self, parser: Parser) -> dict[str, dict[str, Any]]:
        """Options by canonical name."""
        found = {}
        for declared in parser.declared:
            if declared.names and declared.names[0].startswith("-"):
                found[canonical(declared.names)] = self.option(declared)
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
            if (linked := self.link(declared)) is not None:
                option["json"] = linked
        default = kwargs.get("default", MISSING)
        if default is MISSING and option["kind"] == "flag" and action in ("store_true", "store_false"):
            default = action == "store_false"
        elif default is MISSING:
            default = UNKNOWN if action in ("help", "version") else None
        if (literal := plain(default)) is not UNKNOWN and literal != _SUPPRESS:
            option["default"] = literal
        if kwargs.get("required") is True:
            option["required"] = True
        help_text = kwargs.get("help")
        if help_text == _SUPPRESS:
            option["hidden"] = True
        noted = isinstance(help_text, str) and DEPRECATED.search(help_text) is not None
        if kwargs.get("deprecated") is True or noted:
            option["deprecated"] = " ".join(str(help_text).split()) if noted else True
        if declared.exclusive is not None:
            option["exclusive"] = declared.exclusive
        if (dest := kwargs.get("dest", MISSING)) is not MISSING and dest != _dest(declared.names):
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
        if action is not None and not action.name.startswith("Deprecated"):
            name = action.name if self.program.attribute(action, "__call__") is not UNKNOWN else name
        if name is None:
            self.program.report(f"{declared.names}: type {kwargs.get('type')!r} is not known")
        elif name != "str":
            option["type"] = name
        if (choices := kwargs.get("choices")) is not None:
            literal = plain(self.program.call(list, [choices]) if not isinstance(choices, (list, tuple)) else choices)
            if literal is UNKNOWN:
                self.program.report(f"{declared.names}: choices are not known")
            else:
                option["choices"] = literal


def canonical(names: list[str]) -> str:
    """An option's canonical name: its first long spelling without dashes, `_` as `-`."""
    return _dest(names).replace("_", "-")


def _dest(names: list[str]) -> str:
    """The name under which argparse stores a value, after the first long spelling."""
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


# -- a parser that records, and words each declaration itself


_DEPRECATED = re.compile(r"[\[(]?\s*deprecated\b", re.IGNORECASE)
_TAKES_ALL = "add"
"""Name of a native that the evaluator calls whatever its arguments are, so that no option is lost for an unknown default."""
_WARNS = ("print_deprecated_warning",)


class Recorder:
    """Stands for an argparse parser while a release's own code fills it."""

    def __init__(self, program: Program, report: Callable[[str], None]) -> None:
        self._program = program
        self._report = report
        self._groups = 0
        self._calls: list[tuple[tuple[Any, ...], str | None, dict[str, Any]]] = [(("-h", "--help"), None, {"action": "help"})]

    def parser(self, group: str | None = None) -> Record:
        """The object to hand to the code: a parser, or a group of one."""

        def add_argument(*names: Any, **kwargs: Any) -> None:
            self._calls.append((names, group, kwargs))

        def exclusive(**_: Any) -> Record:
            self._groups += 1
            return self.parser(f"group-{self._groups}")

        made = {
            "add_argument": Native(_TAKES_ALL, add_argument),
            "add_argument_group": Native("add_argument_group", lambda *_, **__: self.parser(group)),
            "add_mutually_exclusive_group": Native("add_mutually_exclusive_group", exclusive),
        }
        return Record("ArgumentParser", made)

    def options(self) -> dict[str, dict[str, Any]]:
        """The options by canonical name, in the order of declaration."""
        found: dict[str, dict[str, Any]] = {}
        for names, group, kwargs in self._calls:
            if not names or not all(isinstance(name, str) for name in names):
                self._report(f"an option whose names are not known: {names!r}")
                continue
            option = self._option([str(name) for name in names], kwargs)
            if group is not None:
                option["exclusive"] = group
            found[canonical(option["names"])] = option
        return found

    def _option(self, names: list[str], kwargs: dict[str, Any]) -> dict[str, Any]:
        option: dict[str, Any] = {"names": names}
        self._fill(option, names[0], kwargs)
        dest = kwargs.get("dest")
        if isinstance(dest, str) and dest != _dest(names):
            option["dest"] = dest
        if kwargs.get("required") is True:
            option["required"] = True
        if kwargs.get("help") == _SUPPRESS:
            option["hidden"] = True
        return option

    def _fill(self, option: dict[str, Any], name: str, kwargs: dict[str, Any]) -> None:
        action = kwargs.get("action", "store")
        settings = kwargs
        if isinstance(action, Class):
            settings = {**self._parameters(action), **kwargs}
            self._consequence(option, action, settings)
        elif action is UNKNOWN or (isinstance(action, External) and not action.name.endswith("BooleanOptionalAction")):
            self._report(f"{name}: an action that is not known: {action!r}")
        _shape(option, action, settings.get("nargs"), lambda what: self._report(f"{name}: {what}"))
        if option.get("kind") == "toggle":
            option["negatives"] = ["--no-" + spelling[2:] for spelling in option["names"] if spelling.startswith("--")]
        if action == "store_false":
            option["sets"] = False
        if option.get("kind") not in ("flag", "toggle"):
            self._values(option, name, action, settings)
        self._default(option, name, action, settings)
        help_text = settings.get("help")
        if (
            "deprecated" not in option
            and "refuses" not in option
            and isinstance(help_text, str)
            and _DEPRECATED.match(help_text)
        ):
            option["deprecated"] = help_text

    def _values(self, option: dict[str, Any], name: str, action: Any, settings: dict[str, Any]) -> None:
        converter = _type_name(settings.get("type"))
        if converter is None:
            self._report(f"{name}: a type that is not known: {settings.get('type')!r}")
        elif converter != "str":
            option["type"] = converter
        if isinstance(action, Class) and converter == "str" and self._converts(action):
            option["type"] = action.name
        if settings.get("choices") is not None:
            choices = plain(_listed(settings["choices"]))
            if isinstance(choices, list):
                option["choices"] = choices
            else:
                self._report(f"{name}: choices that are not known: {settings['choices']!r}")
        if option.get("kind") == "optional" and settings.get("const") is not None:
            const = plain(settings["const"])
            if const is UNKNOWN:
                self._report(f"{name}: a const that is not known: {settings['const']!r}")
            else:
                option["const"] = const

    def _default(self, option: dict[str, Any], name: str, action: Any, settings: dict[str, Any]) -> None:
        default = settings.get(
            "default", {"store_true": False, "store_false": True}.get(action) if isinstance(action, str) else None
        )
        if default is None or default == _SUPPRESS:
            return
        known = plain(default)
        if known is UNKNOWN:
            self._report(f"{name}: a default that is not known: {default!r}")
        else:
            option["default"] = known

    def _parameters(self, action: Class) -> dict[str, Any]:
        """The defaults of the parameters of an action's own `__init__`, which add_argument may leave out."""
        init = self._program.attribute(action, "__init__")
        if not isinstance(init, Function) or not hasattr(init.node, "args"):
            return {}
        spec = init.node.args
        positional = [*spec.posonlyargs, *spec.args]
        pairs = [
            *zip(reversed(positional), reversed(spec.defaults), strict=False),
            *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
        ]
        return {arg.arg: init.module.value(value) for arg, value in pairs if value is not None}

    def _converts(self, action: Class) -> bool:
        """Whether an action reads more out of its values than a text: `LoRAPathAction` takes JSON objects."""
        return any(getattr(node, "attr", "") == "loads" for node in ast.walk(action.node))

    def _consequence(self, option: dict[str, Any], action: Class, settings: dict[str, Any]) -> None:
        """Note what an engine's own action does when the option is used: warn (deprecated), or stop the start (refuses)."""
        call = self._program.attribute(action, "__call__")
        if not isinstance(call, Function):
            return
        warnings: list[str] = []
        ends: list[str] = []

        def stop(message: Any = "", *_: Any) -> None:
            ends.append(str(message))
            raise Raised("SystemExit", message)

        spelling = option["names"][0]
        held = {"option_strings": option["names"], "help": "", "nargs": None, "const": None, **settings}
        held.setdefault("dest", spelling.lstrip("-").replace("-", "_"))
        me = Record(action.name, held)
        parser = Record("ArgumentParser", {"error": Native("error", stop), "exit": Native("exit", stop)})
        warn = Native("warning", lambda message, *_: warnings.append(str(message)))
        names = {f"{action.module.name}.{name}": warn for name in _WARNS}
        before = {name: self._program.externals.get(name) for name in names}
        self._program.externals.update(names)
        try:
            bound = Function(call.node, call.module, call.scope, call.owner, me)
            calls.call(self._program, bound, [parser, Record("Namespace", {}), [], spelling], {})
        except Raised as error:
            ends.append(str(error.message))
        except (Undecided, RecursionError) as error:
            self._report(f"{spelling}: what {action.name} does is not known: {error}")
        finally:
            for name, value in before.items():
                self._program.externals.pop(name) if value is None else self._program.externals.update({name: value})
        if ends:
            option["refuses"] = ends[0]
        elif warnings:
            option["deprecated"] = warnings[0]


def _shape(option: dict[str, Any], action: Any, nargs: Any, report: Callable[[str], None]) -> None:
    """`kind`, and `nargs` for a list."""
    if isinstance(action, External):
        option["kind"] = "toggle"
    elif action in _FLAGS or nargs == 0:
        option["kind"] = "flag"
    elif nargs == "?":
        option["kind"] = "optional"
    elif nargs is not None:
        option["kind"] = "list"
        option["nargs"] = nargs
        if not isinstance(nargs, (str, int)):
            report(f"nargs that are not known: {nargs!r}")
            del option["nargs"]
    else:
        option["kind"] = "append" if action == "append" else "value"


def _type_name(converter: Any) -> str | None:
    """The catalog's name of an argparse `type=`; None where it is not known."""
    if converter is None:
        return "str"
    if isinstance(converter, type):
        return converter.__name__
    if isinstance(converter, Native) and converter.name == "json.loads":
        return "json"
    if isinstance(converter, Function) and isinstance(converter.node, ast.FunctionDef):
        return converter.name
    return None


def _listed(choices: Any) -> Any:
    return list(choices) if isinstance(choices, (dict, type({}.keys()), type({}.values()))) else choices
