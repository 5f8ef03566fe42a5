"""An argparse parser that records what is declared on it, to be handed to a release's `add_cli_args` and its like."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from servelint.harvest.evaluate.values import Native, Record


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
