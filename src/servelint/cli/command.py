"""What the commands are made of, on top of click: titled groups of options, help pages, suggestions, and one-line errors.

A command is a function that takes one object for each group of its options:

    class Fixing(Options, title="fixing"):
        fix: bool = flag("--fix", help="apply the safe fixes")

    @command("check", Inputs, Fixing, about="Lint files.", examples=["servelint check deploy/"])
    def run(inputs: Inputs, fixing: Fixing) -> int: ...
"""

from __future__ import annotations

import re
from importlib import import_module

import click
from click import UsageError
from click.core import ParameterSource

from servelint.core.numbers import is_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, NoReturn

    from click.shell_completion import CompletionItem

_NAMES_AT_MOST = 40
"""Columns: the help of an option whose names are longer stands on the next line."""

_NEAR = 0.7
"""How near a word must be to be suggested, from 0 to 1."""

_NUMBER = r"-(?:\d+|\d*\.\d+)"


def fail(message: str) -> NoReturn:
    """End the command with a usage error: one line on standard error, and exit status 2."""
    raise UsageError(message)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean X?` for the known word that is nearest, or nothing where none is near."""
    from difflib import get_close_matches

    names = {name.lower().lstrip("-"): name for name in known}
    near = get_close_matches(word.lower().lstrip("-"), names, n=1, cutoff=_NEAR)
    return f"; did you mean {names[near[0]]}?" if near else ""


def whole_number(text: str) -> int:
    """Read a whole number from 1. Raises ValueError.

    >>> whole_number("16")
    16
    """
    if not is_whole(text) or int(text) < 1:
        raise ValueError(f'"{text}" is not a whole number from 1')
    return int(text)


def address(text: str, example: str) -> tuple[str, int]:
    """Read HOST:PORT. Raises UsageError, with the example in it."""
    host, _, port = text.rpartition(":")
    if not host or not is_whole(port) or int(port) > 65535:
        fail(f'"{text}" is not an address; write HOST:PORT, such as {example}')
    return host.strip("[]"), int(port)


# -- options and arguments


class _Declared(click.Parameter):
    """An option or an argument, with what click does not know of it.

    Attributes:
        choices: the values that are valid; any where it is empty.
        needed: whether the command refuses to run without a value. Click would refuse its subcommands too.
    """

    choices: tuple[str, ...] = ()
    needed = False

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what the value may be."""
        from servelint.cli import completions

        return completions.of_parameter(context, self, incomplete)


class _Option(_Declared, click.Option):
    @property
    def shown(self) -> str:
        """The name that messages use."""
        return max(self.opts, key=len)

    @property
    def row(self) -> str:
        """The names and the metavar, as help pages show them."""
        names = ", ".join(sorted(self.opts, key=len))
        metavar = self.metavar or (f"{{{','.join(self.choices)}}}" if self.choices else self.name.upper())
        return names if self.is_flag else f"{names} {metavar}"


class _Argument(_Declared, click.Argument):
    @property
    def shown(self) -> str:
        """The metavar, which messages and help pages use."""
        return str(self.metavar)

    row = shown

    @property
    def piece(self) -> str:
        """The argument as the usage line shows it."""
        return (self.shown if self.needed else f"[{self.shown}]") + ("..." if self.nargs == -1 else "")


def option(
    *names: str,
    help: str,
    metavar: str | None = None,
    default: str | None = None,
    choices: tuple[str, ...] = (),
    read: Callable[[str], Any] | None = None,
    many: bool = False,
    needed: bool = False,
) -> Any:
    """Declare an option that takes a value, as an attribute of `Options`.

    Args:
        names: the spellings, such as `--output`.
        help: one line of the help page.
        metavar: how the help page shows the value; the choices, or the name, where it is None.
        default: what is read where the option is not given.
        choices: the values that are valid; any where it is empty.
        read: turns the text into a value. Raises ValueError, with a sentence, where it is not valid.
        many: whether the option may be given several times; the value is a tuple then.
        needed: whether the command refuses to run without it.
    """
    more: dict[str, Any] = {"multiple": True} if many else {"default": default}
    return _declared(_Option(names, metavar=metavar, callback=_checked(choices, read), **more), help, choices, needed)


def flag(*names: str, help: str, **more: Any) -> Any:
    """Declare an option without a value, as an attribute of `Options`. more: what click is given."""
    return _declared(_Option(names, is_flag=True, default=False, **more), help, (), False)


def argument(metavar: str, help: str, *, many: bool = False, needed: bool = False, choices: tuple[str, ...] = ()) -> Any:
    """Declare a positional argument, as an attribute of `Options`. The parameters are those of `option`."""
    checked = _checked(choices, None)
    made = _Argument([metavar], metavar=metavar, nargs=-1 if many else 1, required=False, callback=checked)
    return _declared(made, help, choices, needed)


def _declared(one: _Option | _Argument, help: str, choices: tuple[str, ...], needed: bool) -> _Option | _Argument:
    one.help, one.choices, one.needed = help, choices, needed
    return one


def _checked(choices: tuple[str, ...], read: Callable[[str], Any] | None) -> Callable[..., Any] | None:
    """Return a callback that checks a text, or several, against choices and reads it; None where there is nothing to do."""
    if not choices and read is None:
        return None

    def check(context: click.Context, one: _Option | _Argument, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple([check(context, one, text) for text in value])
        if value is not None and choices and value not in choices:
            allowed = f"(choose from {', '.join(choices)}){suggestion(value, choices)}"
            raise UsageError(f'"{value}" is not a valid value for {one.shown} {allowed}', context)
        try:
            return value if value is None or read is None else read(value)
        except ValueError as error:
            raise UsageError(f"{one.shown}: {error}", context) from None

    return check


class Options:
    """A titled group of options. A subclass declares them as attributes; an object of it holds the values of one run.

    Attributes:
        title: the heading of the group on help pages.
        declared: name of the attribute -> the option or argument.
    """

    title = ""
    declared: Mapping[str, _Option | _Argument] = {}

    def __init_subclass__(cls, title: str) -> None:
        cls.title = title
        own = {name: one for name, one in vars(cls).items() if isinstance(one, (_Option, _Argument))}
        for name, one in own.items():
            one.name = name
        cls.declared = {**cls.declared, **own}

    def __init__(self, values: Mapping[str, Any]) -> None:
        for name, one in self.declared.items():
            value = values.get(name)
            if one.needed and value in (None, ()):
                fail(f"missing {'option' if isinstance(one, _Option) else 'argument'}: {one.row}")
            setattr(self, name, value)


def _print_help(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from servelint.cli.output import write_stdout

        write_stdout(context.get_help())
        context.exit()


class _Help(Options, title="help"):
    help: bool = flag("-h", "--help", help="show this page", is_eager=True, expose_value=False, callback=_print_help)


# -- commands


def _rows(rows: Sequence[tuple[str, str]]) -> list[str]:
    width = max([len(name) for name, _ in rows if len(name) <= _NAMES_AT_MOST], default=0)
    lines: list[str] = []
    for name, text in rows:
        lines += [f"  {name:<{width}}  {text}"] if len(name) <= width else [f"  {name}", f"  {'':<{width}}  {text}"]
    return lines


class Command(click.Command):
    """A command, which refuses wrong words in one plain sentence. The attributes are the parameters of `command`."""

    allow_extra_args = True  # `parse_args` refuses them itself
    groups: tuple[type[Options], ...] = ()
    about = notes = ""
    examples: Sequence[str] = ()
    usage: Sequence[str] = ()

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse the words of the command. Raises UsageError, which says what is wrong."""
        try:
            if not context.resilient_parsing:
                self._refuse_options_as_values(context, args)
            rest = super().parse_args(context, args)
        except click.NoSuchOption as error:
            raise self.no_option(context, error.option_name) from None
        except click.BadOptionUsage as error:
            wrong = self._option(error.option_name)
            fault = "takes no value" if wrong is not None and wrong.is_flag else "needs a value"
            raise UsageError(f"{error.option_name} {fault}", context) from None
        if rest and not isinstance(self, click.Group) and not context.resilient_parsing:
            self.refuse_argument(context, rest[0])
        return rest

    def refuse_argument(self, context: click.Context, word: str) -> NoReturn:
        """Raise UsageError for an argument that the command has no use for."""
        raise UsageError(f"unexpected argument: {word}", context)

    def no_option(self, context: click.Context, name: str) -> UsageError:
        """Return the error for an option that the command does not have."""
        known = [spelling for one in self.params if isinstance(one, _Option) for spelling in one.opts]
        return UsageError(f"no such option: {name}{suggestion(name, known)}", context)

    def _option(self, name: str) -> _Option | None:
        return next((one for one in self.params if isinstance(one, _Option) and name in one.opts), None)

    def _refuse_options_as_values(self, context: click.Context, args: list[str]) -> None:
        """Refuse `--output --quiet`: the value was forgotten. One that does begin with a dash is written `--output=--quiet`."""
        words = iter(args)
        for word in words:
            if word == "--" or (not word.startswith("-") and not context.allow_interspersed_args):
                return
            found = self._option(word)
            value = "" if found is None or found.is_flag else next(words, "")
            if len(value) > 1 and value[0] == "-" and " " not in value and re.fullmatch(_NUMBER, value) is None:
                raise UsageError(f"{word} needs a value", context)

    def get_help(self, context: click.Context) -> str:
        """Return the help page."""
        parts = [*self.usage_lines(context.command_path), "", self.about, ""]
        if commands := self.summaries():
            parts += ["commands:", *_rows(commands), ""]
        for group in self.groups:
            parts += [f"{group.title}:", *_rows([(one.row, one.help or "") for one in group.declared.values()]), ""]
        if self.notes:
            parts += [self.notes, ""]
        if self.examples:
            parts += ["examples:", *[f"  {line}" for line in self.examples], ""]
        return "\n".join(parts)

    def usage_lines(self, path: str) -> list[str]:
        """Return the usage lines of the help page; path: the words that run the command."""
        if self.usage:
            return [f"{'      ' if at else 'usage:'} {line}" for at, line in enumerate(self.usage)]
        options = [one for one in self.params[:-1] if isinstance(one, _Option)]  # the last one is --help
        words = ["[options]"] if options else []
        words += [one.row for one in options if one.needed]
        words += [one.piece for one in self.params if isinstance(one, _Argument)]
        return [" ".join(["usage:", path, *words])]

    def summaries(self) -> list[tuple[str, str]]:
        """Return the name and the summary of each subcommand."""
        return []

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the subcommands and options that begin so."""
        from servelint.cli import completions

        return completions.of_command(context, self, incomplete)


class Group(Command, click.Group):
    """A command with subcommands, each imported when it is run or where it is there already.

    Attributes:
        subcommands: name -> (the command or the `module:attribute` that has it, its summary).
    """

    subcommands: Mapping[str, tuple[click.Command | str, str]] = {}

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Return a subcommand; None where there is none of that name."""
        found = self.subcommands.get(name, (None, ""))[0]
        if isinstance(found, str):
            module, _colon, attribute = found.partition(":")
            imported: click.Command = getattr(import_module(module), attribute)
            return imported
        return found

    def resolve_command(self, context: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name and the subcommand that the first word names, and the other words."""
        name, *rest = args
        found = self.get_command(context, name)
        if found is None and not context.resilient_parsing:
            hint = suggestion(name, self.subcommands) or f"; use one of {', '.join(self.subcommands)}"
            raise UsageError(f"{name!r} is not a command{hint}", context)
        return (name if found is not None else None), found, rest

    def summaries(self) -> list[tuple[str, str]]:
        """Return the name and the summary of each subcommand."""
        return [(name, summary) for name, (_, summary) in self.subcommands.items()]


def command(
    name: str,
    *groups: type[Options],
    about: str,
    examples: Sequence[str] = (),
    notes: str = "",
    usage: Sequence[str] = (),
    subcommands: Mapping[str, tuple[click.Command | str, str]] | None = None,
    kind: type[Command] = Command,
    **settings: Any,
) -> Callable[[Callable[..., int]], Command]:
    """Make a command of a function, which returns the exit status.

    Args:
        name: the word that runs it.
        groups: the groups of its options; the function takes an object of each.
        about: what it does, in a sentence.
        examples: command lines.
        notes: more text of the help page, such as the exit statuses.
        usage: the usage lines, where the groups do not say it all.
        subcommands: those of `Group`; the function runs where none is named.
        kind: the class of the command, where it reads its words in its own way.
        settings: those of click's context, such as `allow_interspersed_args`.
    """

    def made(function: Callable[..., int]) -> Command:
        def call(**values: Any) -> int | None:
            context = click.get_current_context()
            if context.invoked_subcommand is not None:
                if any(context.get_parameter_source(given) is ParameterSource.COMMANDLINE for given in values):
                    fail(f"unexpected argument: {context.invoked_subcommand}")
                return None
            return function(*[group(values) for group in groups])

        every: tuple[type[Options], ...] = (*groups, _Help)
        params = [one for group in every for one in group.declared.values()]
        more: dict[str, Any] = {"callback": call, "params": params, "context_settings": settings, "add_help_option": False}
        if subcommands is None:
            found = kind(name, **more)
        else:
            found = Group(name, invoke_without_command=True, **more)
            found.subcommands = subcommands
        found.groups, found.about, found.notes, found.examples, found.usage = every, about, notes, examples, usage
        return found

    return made


class _Topic(Options, title="arguments"):
    words: tuple[str, ...] = argument("COMMAND", "a command, and its subcommand", many=True)


@command("help", _Topic, about="Show the help of a command.", examples=["servelint help check", "servelint help rules test"])
def show_help(topic: _Topic) -> int:
    """Print the help page of the command that the words name."""
    from servelint.cli.output import write_stdout

    context = click.get_current_context().find_root()
    for word in topic.words:
        if not isinstance(context.command, Group):
            raise UsageError(f"{context.command_path} has no subcommands")
        name, found, _ = context.command.resolve_command(context, [word])
        if found is not None:
            context = click.Context(found, info_name=name, parent=context)
    write_stdout(context.get_help())
    return 0
