"""The variables of a script on its walk: what expansions and arithmetic ask for and change."""

from __future__ import annotations

from servelint.core.launch import Word
from servelint.core.text import Piece, Text, unknown
from servelint.syntax.shell import arithmetic, expand
from servelint.syntax.shell.files import HERE
from servelint.syntax.shell.state import UNSET, State, Status, Value, unsure_items

TYPE_CHECKING = False
LENGTH_AT_MOST = 20_000
_ITEMS_AT_MOST = 1_000


class Variables:
    """Implements parameters.Scope, all but what a command prints.

    state: what is set now. zero: `$0`, None if nobody knows it. calls: the functions that are being run
    """

    def __init__(self, state: State, args: list[Word] | None) -> None:
        self.state = state
        self.state.args = args[1:] if args is not None else None
        self.zero = args[0] if args else None
        self.calls: list[str] = []
        self.number_assumed = False

    def set(self, name: str, value: Value) -> None:
        state = self.state
        if isinstance(value, list):
            if len(value) > _ITEMS_AT_MOST or sum([len(word.text.flat) for word in value]) > LENGTH_AT_MOST:
                value = unsure_items(name)
        elif isinstance(value, Text) and (len(value.flat) > LENGTH_AT_MOST or name in state.typed):
            value = Text((unknown("${" + name + "}", value.span()),))
        state.variables[name] = value
        if state.all_exported:
            state.exported |= {name}

    def resolved(self, name: str) -> str:
        """The variable that a name reference stands for; other names stand for themselves."""
        return self.state.aliases.get(name, name) if self.state.aliases else name

    def is_set(self, name: str) -> bool | None:
        value = self.state.variables.get(self.resolved(name))
        return None if value is None else value is not UNSET

    def separators(self) -> str | None:
        value = self.state.variables.get("IFS")
        return value.value if isinstance(value, Text) and value is not UNSET else " \t\n"

    def variable(self, name: str) -> Text | None:
        if not self.state.aliases and name.isidentifier():
            value = self.state.variables.get(name)
            if isinstance(value, Text):
                return value
        if name.isdecimal():
            name = name.lstrip("0") or "0"  # `${01}` is `$1`
        if name == "0":
            source = self.state.variables.get("BASH_SOURCE")
            if isinstance(source, list) and source:
                return source[0].text
            return self.zero.text if self.zero is not None else None
        if name == "PWD" and name not in self.state.variables:
            folder = self.state.folder
            return folder.placed(None) if folder is not None and folder is not HERE else None
        if name == "#":
            return self.argument_count()
        if name.isdecimal():
            args, number = self.state.args, int(name[:9])
            if args is None:
                return None
            if any(word.many for word in args[:number]):
                return Text((unknown("${" + name + "}", None),))
            return args[number - 1].text if number <= len(args) else UNSET
        value = self.state.variables.get(self.resolved(name))
        return self.item(name, Text.of("0")) if isinstance(value, (list, dict)) else value

    def argument_count(self) -> Text | None:
        args = self.state.args
        if args is None:
            # a script is started without arguments, unless someone knows better; a function is not
            return None if self.calls else Text((Piece("0", None, assumed=True),))
        return None if any(word.many for word in args) else Text.of(str(len(args)))

    def array(self, name: str) -> list[Word] | None:
        if name == "@":
            return self.state.args
        value = self.state.variables.get(self.resolved(name))
        if isinstance(value, Text):
            return [] if value is UNSET else [Word(value)]
        if isinstance(value, dict):
            # the order of an associative array is that of a hash table
            return [Word(text) for text in value.values()] if len(value) < 2 else None
        return value

    def keys(self, name: str) -> list[Word] | None:
        value = self.state.variables.get(self.resolved(name))
        if isinstance(value, dict):
            return [Word(Text.of(key)) for key in value] if len(value) < 2 else None
        if not isinstance(value, list) or any(word.many for word in value):
            return None
        return [Word(Text.of(str(index))) for index in range(len(value))]

    def item(self, name: str, index: Text) -> Text | None:
        value = self.state.variables.get(self.resolved(name))
        if value is None:
            return None
        unsure = Text((unknown("${" + name + "[" + index.shown + "]}", None),))
        if isinstance(value, dict):
            key = self.expand(index, True).value
            return unsure if key is None else value.get(key, UNSET)
        at = self.index(index)
        if at is None or (isinstance(value, list) and any(word.many for word in value)):
            return unsure
        if isinstance(value, list):
            return value[at].text if -len(value) <= at < len(value) else UNSET
        return value if at in (0, -1) else UNSET

    def index(self, raw: Text) -> int | None:
        """The index of an array's item, an arithmetic expression."""
        value = self.arithmetic(raw, raw).value
        return int(value) if value is not None else None

    def assign(self, name: str, value: Text, index: str | None = None) -> None:
        name = self.resolved(name)
        if name.isidentifier():
            self.set(name, value if index is None else unsure_items(name))

    def expand(self, raw: Text, quoted: bool) -> Text:
        return expand.inside_quotes(raw, self) if quoted else expand.value(raw, self)

    if TYPE_CHECKING:

        def substitute(self, command: Text, whole: Text) -> Text:
            """What a command prints; the walk itself knows."""

    def pattern(self, raw: Text) -> list[tuple[Text, bool]]:
        return expand.pattern(raw, self)

    def arithmetic(self, expression: Text, whole: Text) -> Text:
        self.number_assumed = False
        text = self.expand(expression, True)
        try:
            value = arithmetic.evaluate(text.flat, self.number, self.store)
        except (arithmetic.NotKnown, RecursionError):
            for name in arithmetic.changed(text.flat):
                self.assign(name, Text((unknown("${" + name + "}", None),)))
            return Text((unknown(whole.shown, whole.span()),))
        return Text((Piece(str(value), whole.span(), assumed=self.number_assumed or text.assumed),))

    def arithmetic_status(self, expression: Text) -> Status:
        """The status of `(( expression ))`."""
        text = self.arithmetic(expression, expression)
        return Status(None, likely=False) if text.value is None else Status(text.value != "0", assumed=text.assumed)

    def number(self, name: str) -> str | None:
        known = self.variable(name)
        if known is None:
            return None
        self.number_assumed = self.number_assumed or known.assumed
        return known.value

    def store(self, name: str, value: str) -> None:
        text = Text.of(value)
        self.assign(name, text.softened() if self.number_assumed else text)
