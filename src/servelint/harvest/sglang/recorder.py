"""What `parser.add_argument(...)` calls declare, in the catalog's words."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from servelint.harvest.evaluate import calls
from servelint.harvest.pysource import (
    UNKNOWN,
    Class,
    External,
    Function,
    Native,
    Program,
    Raised,
    Record,
    Undecided,
    plain,
)

_SUPPRESS = "==SUPPRESS=="
_FLAGS = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
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
        """Canonical name -> the option, in the order of declaration."""
        found: dict[str, dict[str, Any]] = {}
        for names, group, kwargs in self._calls:
            if not names or not all(isinstance(name, str) for name in names):
                self._report(f"an option whose names are not known: {names!r}")
                continue
            option = self._option([str(name) for name in names], kwargs)
            if group is not None:
                option["exclusive"] = group
            found[_longest(option["names"]).lstrip("-").replace("_", "-")] = option
        return found

    def _option(self, names: list[str], kwargs: dict[str, Any]) -> dict[str, Any]:
        option: dict[str, Any] = {"names": names}
        first = _longest(names)
        self._fill(option, first, kwargs)
        dest = kwargs.get("dest")
        if isinstance(dest, str) and dest != first.lstrip("-").replace("-", "_"):
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
        """The defaults of the parameters of an action's own `__init__`: what add_argument need not say."""
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
        loads = (node for node in _walk(action) if getattr(node, "attr", "") == "loads")
        return next(loads, None) is not None

    def _consequence(self, option: dict[str, Any], action: Class, settings: dict[str, Any]) -> None:
        """What an engine's own action does when the option is used: warn (deprecated), or end the start (refuses)."""
        call = self._program.attribute(action, "__call__")
        if not isinstance(call, Function):
            return
        said: list[str] = []
        ends: list[str] = []

        def stop(message: Any = "", *_: Any) -> None:
            ends.append(str(message))
            raise Raised("SystemExit", message)

        spelling = option["names"][0]
        held = {"option_strings": option["names"], "help": "", "nargs": None, "const": None, **settings}
        held.setdefault("dest", spelling.lstrip("-").replace("-", "_"))
        me = Record(action.name, held)
        parser = Record("ArgumentParser", {"error": Native("error", stop), "exit": Native("exit", stop)})
        warn = Native("warning", lambda message, *_: said.append(str(message)))
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
        elif said:
            option["deprecated"] = said[0]


def _longest(names: list[str]) -> str:
    """The spelling after which argparse names the value: the first long one."""
    return next((name for name in names if name.startswith("--")), names[0])


def _walk(action: Class) -> Iterator[ast.AST]:
    return ast.walk(action.node)


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
