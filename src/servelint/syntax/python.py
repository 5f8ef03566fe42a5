"""Python scripts: the calls that a script makes, with the values of their arguments, found without running it.

A script is walked from top to bottom: assignments, lists that grow, f-strings, functions of its own with the values that they
are given, defaults of parameters and of `os.environ.get`. A condition that is not known is walked on both sides: a list that
grows there holds words that are not known, and a list that it chooses is each of them.
"""

from __future__ import annotations

import ast
import operator
import os
import re
import warnings

from servelint.core.launch import Word
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, HOLE, Number, TracedText, unknown
from servelint.syntax.shell.recipe import joined
from servelint.syntax.shell.words import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

_DEPTH = 6
"""Calls of functions of the script inside each other that are followed."""
_STEPS = 20_000
"""Statements and expressions that are looked at."""
_MODULES = 2
"""Modules that import each other which are followed."""
_ITEMS = 16
"""Items of a list that a loop is walked for, alternatives of a list, and modules beside the script."""
_TRIES = 128
"""Paths at which modules are looked for: most that a script imports are installed ones."""


MORE = "$more_arguments "


class Listed:
    """A list or tuple of texts.

    Attributes:
        words: Its items; an unknown number of unknown ones is a word with `many`.
        depth: How many undecided conditions it was made inside of.
    """

    __slots__ = ("depth", "words")

    def __init__(self, words: list[Word], depth: int) -> None:
        self.words = words
        self.depth = depth


class Possible(Word):
    """Items that a list may have, as a condition that is not known adds them.

    Attributes:
        items: The items.
    """

    __slots__ = ("items",)

    def __init__(self, items: list[Word], expression: str, site: Span) -> None:
        words = [item.text for item in items]
        plain = words and all(
            _PLAIN_WORD.fullmatch(text.flat) and not item.many for text, item in zip(words, items, strict=True)
        )
        perhaps = joined(words, " ") if plain else None
        super().__init__(TracedText((unknown(expression, site, perhaps=perhaps),)), site, many=True)
        self.items = items


_PLAIN_WORD = re.compile(rf"[\w@%+=:,./{HOLE}-]+")


class Mapping:
    """A dictionary with names as keys.

    Attributes:
        values: What it holds.
        environment: Whether it is the environment of the process, or began as a copy of it.
        keys: Where its names are written, as far as they are.
        depth: How many undecided conditions it was made inside of.
        perhaps: Names that it may have or not, as an undecided condition sets or takes them; MORE among them if others may be.
    """

    __slots__ = ("depth", "environment", "keys", "perhaps", "values")

    def __init__(
        self,
        values: dict[str, Value],
        *,
        environment: bool = False,
        keys: dict[str, Span] | None = None,
        depth: int = 0,
        perhaps: set[str] | None = None,
    ) -> None:
        self.values = values
        self.environment = environment
        self.keys = keys or {}
        self.depth = depth
        self.perhaps = perhaps or set()


class OneOf:
    """One of several lists, or of several texts that may be commands: a condition that is not known chooses it."""

    __slots__ = ("choices",)

    def __init__(self, choices: list[Listed | TracedText]) -> None:
        self.choices = choices


class Function:
    """A function of the script.

    Attributes:
        node: What defines it.
        owner: The class that it is a method of, "" for none.
        scope: The names around it.
        home: The script that defines it.
        decorators: Those of its class and its own.
    """

    __slots__ = ("decorators", "home", "node", "owner", "scope")

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        owner: str,
        scope: Scope,
        home: _Walk,
        decorators: list[ast.expr],
    ) -> None:
        self.node = node
        self.owner = owner
        self.scope = scope
        self.home = home
        self.decorators = decorators


if TYPE_CHECKING:
    Value: TypeAlias = "TracedText | Listed | Mapping | OneOf | Function | bool | None"
    Scope: TypeAlias = "dict[str, Value]"


class Call:
    """A call that the script makes.

    Attributes:
        name: The function as it is written, with the module's own name for an alias: "subprocess.run", "self.start".
        args: The positional arguments. A starred list is one argument for each of its words.
        keywords: The named arguments.
        env: The variables of the process's environment that the script has set.
        site: The characters of the call.
        chain: Where the functions around it are called, from the outermost.
        image: What the decorators of the outermost of these, or of its class, name as its `image`.
        place: Gives the characters of a named argument's name and value, and whether the value is written as `None`; None for
            what the file does not write.
        perhaps: Named arguments that it may have or not; MORE among them if others may be.
        caught: Whether a TypeError of the call is caught.
    """

    __slots__ = ("args", "caught", "chain", "env", "image", "keywords", "name", "perhaps", "place", "site")

    def __init__(
        self,
        name: str,
        args: list[Value],
        keywords: dict[str, Value],
        env: Mapping,
        site: Span,
        chain: tuple[int, ...],
        image: Value = None,
        place: Callable[[str], tuple[Span | None, Span | None, bool]] | None = None,
        perhaps: frozenset[str] = frozenset(),
        caught: bool = False,
    ) -> None:
        self.place = place or _nowhere
        self.perhaps = perhaps
        self.caught = caught
        self.name = name
        self.args = args
        self.keywords = keywords
        self.env = env
        self.site = site
        self.chain = chain
        self.image = image


_MAGIC = re.compile(r"(?m)^([ \t]*)(?:!!?|%{1,2}(?=[A-Za-z]))((?:\\\n|[^\n])*)")
_NEWER = re.compile(
    r"(?:^|;)\s*type\s+\w+\s*(?:\[|=)|^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[|\b[tT][rR]?[\"']"
    r"|^\s*except\*?\s+[\w.]+\s*,[^()]*:\s*(?:#.*)?$|\b(?:f|fr|rf)[\"'].*\{.*[\"']"
)
"""What later releases of Python than the oldest that runs this read: a `type` statement, type parameters, t-strings, `except`
with several names, and quotes inside the braces of f-strings."""


class Fault:
    """Why a text is not read as Python.

    Attributes:
        message: What the parser says.
        line, column: Where, 1-based.
        newer: Whether a later release of Python than the one that runs may read it.
    """

    __slots__ = ("column", "line", "message", "newer")

    def __init__(self, error: SyntaxError, text: str) -> None:
        self.message = error.msg
        self.line, self.column = max(error.lineno or 1, 1), max(error.offset or 1, 1)
        lines = text.split("\n")
        here = lines[self.line - 1] if self.line <= len(lines) else ""
        self.newer = _NEWER.search(here) is not None or "f-string" in error.msg


def calls(
    source: Source,
    on_call: Callable[[Call], None],
    read: Callable[[str], Source | None] | None = None,
    environment: dict[str, TracedText] | None = None,
) -> tuple[bool, Fault | None]:
    """Walk a script and hand each of its calls over.

    Args:
        source: The script.
        on_call: Takes the calls.
        read: Reads the modules beside the script, by their paths. Values and functions of these are known where they are
            imported; of their calls, those of the functions that the script calls are handed over.
        environment: The variables that what starts the script gives it.

    Returns:
        Whether it has lines of a notebook (`!command`, `%magic`), which are left out; and why it was not read.
    """
    fault = None
    for text in (source.text, _MAGIC.sub(_left_out, source.text)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
            _Walk(source, on_call, read, given=environment).module(tree)
        except SyntaxError as error:
            # the message about a text without its magic lines is about the text itself
            fault = Fault(error, text)
            continue
        except (ValueError, RecursionError, MemoryError):
            return False, fault
        return text is not source.text, None
    return _MAGIC.search(source.text) is not None, fault


def _left_out(match: re.Match[str]) -> str:
    """A statement as long as a line of a notebook, with its indentation."""
    return match.group(1) + "0" + re.sub(r"[^\n]", " ", match.group()[len(match.group(1)) + 1 :]).replace(" \n", "\\\n")


_NEWLINE = re.compile(r"\r\n|\r|\n")
_STRING = re.compile(r"(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|'''|\"|')")
_BETWEEN = re.compile(r"(?:[\s()\\]|#[^\n]*)*")
_ESCAPE = re.compile(r"\\(?:\n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|[\s\S])")
_FIELD = re.compile(r"\{(\w*)\}")
_PERCENT = re.compile(r"%%|%(?:\((\w+)\))?[sdi]")
_WORK = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_NAMESPACES = frozenset(("args", "arguments", "cli_args", "config", "ns", "opt", "options", "opts", "parsed"))
_SAME = frozenset((
    "Path", "dedent", "encode", "float", "fspath", "int", "join", "lstrip", "pathlib.Path", "quote", "rstrip", "shlex.quote",
    "str", "strip", "textwrap.dedent",
))  # fmt: skip


def _lines_of(word: Word) -> list[Word]:
    """The lines that an item of a list stands for: itself, or those that a condition adds which is not known."""
    if not isinstance(word, Possible):
        return [word]
    return [Word(one.text.softened(), one.site, one.many) for item in word.items for one in _lines_of(item)]


def _together(between: TracedText, words: list[Word]) -> TracedText:
    """What `between.join(words)` gives. Of lines of a script, those that a branch adds are looked at as well."""
    lines = [one for word in words for one in _lines_of(word)] if "\n" in between.flat else words
    parts = [part for word in lines for part in (between, word.text)]
    return TracedText.join(parts[1:]) if parts else EMPTY


_CONFIGURED = re.compile(r"vllm\.config\.(?:\w+\.)*\w+Config$")
"""Classes of vLLM whose instances stand for their fields, as a dictionary does."""
_MAKES = re.compile(
    r"_*(?:(?:build|make|get|create|construct|generate|prepare|compose|assemble|to|as)_(?:\w+_)?)?(?:cmd|command|argv|args|cli)"
)
"""Methods that give the words of a command."""


class _Walk:
    def __init__(
        self,
        source: Source,
        on_call: Callable[[Call], None],
        read: Callable[[str], Source | None] | None = None,
        deep: int = 0,
        given: dict[str, TracedText] | None = None,
    ) -> None:
        self.source = source
        self.given = given or {}
        self.on_call = on_call
        self.read = read
        self.deep = deep
        self.beside: dict[str, _Walk | None] = {}
        self.named_modules: dict[str, _Walk] = {}
        self.image: Value = None
        self.decorators: list[ast.expr] = []
        self.globals: Scope = {}
        self.env = Mapping({}, environment=True)
        self.modules: dict[str, str] = {}
        self.methods: dict[str, dict[str, Function]] = {}
        self.attributes: dict[str, Scope] = {}
        self.options: Scope = {}
        self.keyed: dict[str, list[Listed | TracedText]] = {}
        self.reached: set[int] = set()
        self.walked: set[int] = set()  # the functions that are being walked
        self.chain: tuple[int, ...] = ()
        self.maybe = self.entered = 0
        self.caught = 0
        self.returned: list[Value] = []
        self.left = _STEPS
        self.owner = ""
        self.starts = [0, *[match.end() for match in _NEWLINE.finditer(source.text)]]

    def module(self, tree: ast.Module) -> None:
        self.block(tree.body, self.globals)
        # what no call names comes first: it may hand over what the others are given
        called = {self.dotted(one.func).rpartition(".")[2] for one in ast.walk(tree) if isinstance(one, ast.Call)}
        functions = [one for one in self.globals.values() if isinstance(one, Function) and one.home is self]
        functions += [one for methods in self.methods.values() for one in methods.values()]
        names = {id(one): getattr(one.node, "name", "") for one in functions}
        for one in sorted(functions, key=lambda one: names[id(one)] != "__init__" and 1 + (names[id(one)] in called)):
            if id(one.node) not in self.reached:
                given = self.invoke(one, [], {}, None)
                if isinstance(given, (TracedText, OneOf, Listed)):
                    at = self.offset(one.node.lineno, one.node.col_offset)
                    self.on_call(Call("return", [given], {}, self.env, Span(self.source, at, at), ()))

    # places

    def offset(self, line: int, column: int) -> int:
        """The offset of a place as the parser counts it: in bytes of UTF-8. Places inside f-strings may be wrong."""
        start = self.starts[min(max(line, 1), len(self.starts)) - 1]
        written = self.source.text[start : start + max(column, 0)]
        if not written.isascii():
            written = written.encode("utf-8", "replace")[:column].decode("utf-8", "ignore")
        return start + len(written)

    def span(self, node: ast.expr) -> Span:
        start = self.offset(node.lineno, node.col_offset)
        return Span(self.source, start, max(start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)))

    def named_at(self, node: ast.keyword) -> Span:
        """The characters of an argument's name."""
        start = self.offset(node.lineno, node.col_offset)
        return Span(self.source, start, start + len(node.arg or ""))

    def unknown(self, node: ast.expr) -> TracedText:
        span = self.span(node)
        shown = span.text if len(span.text) <= 60 and "\n" not in span.text else "..."
        return TracedText((unknown(f"{{{shown}}}", span),))

    # statements

    def block(self, body: Iterable[ast.stmt], scope: Scope) -> Value | _Ended:
        """Walk statements; what a `return` gives, or that the block goes on."""
        for statement in body:
            self.left -= 1
            if self.left < 0:
                return _GOES_ON
            if isinstance(statement, (ast.Continue, ast.Break)):
                return _NEXT if isinstance(statement, ast.Continue) else _LEAVES
            if (ended := self.statement(statement, scope)) is not _GOES_ON:
                return ended
        return _GOES_ON

    def statement(self, node: ast.stmt, scope: Scope) -> Value | _Ended:
        if isinstance(node, ast.Expr):
            self.value(node.value, scope)
        elif isinstance(node, ast.Assign):
            value = self.value(node.value, scope)
            for target in node.targets:
                self.assign(target, value, scope)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.assign(node.target, self.value(node.value, scope), scope)
        elif isinstance(node, (ast.AugAssign, ast.Delete)):
            self.alter(node, scope)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope[node.name] = Function(node, self.owner, scope, self, [*self.decorators, *node.decorator_list])
        elif isinstance(node, ast.ClassDef):
            self.define(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imports(node, scope)
        elif isinstance(node, ast.Return):
            return self.leave(node, scope)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                given = self.value(item.context_expr, scope)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, given, scope)
            return self.block(node.body, scope)
        elif isinstance(node, ast.Try):
            caught = any(_catches_type_error(handler.type) for handler in node.handlers)
            self.caught += caught
            ended = self.block([*node.body, *node.orelse], scope)
            self.caught -= caught
            for handler in node.handlers:
                self.perhaps([handler.body], scope)
            self.block(node.finalbody, scope)
            return ended
        elif isinstance(node, ast.If):
            return self.branch(node, scope)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.loop(node, scope)
        elif isinstance(node, ast.While):
            self.value(node.test, scope)
            self.block(node.body, scope) if _is(node.test, True) else self.perhaps([node.body], scope)
        elif isinstance(node, ast.Match):
            self.perhaps([case.body for case in node.cases], scope)
        return _GOES_ON

    def leave(self, node: ast.Return, scope: Scope) -> Value | _Ended:
        given = self.value(node.value, scope) if node.value is not None else None
        if self.maybe == self.entered:
            return given
        if given is not None:
            self.returned.append(given)
        return _GOES_ON

    def imports(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        within = "../" * (node.level - 1) if isinstance(node, ast.ImportFrom) else ""
        of = within + (node.module or "").replace(".", "/") if isinstance(node, ast.ImportFrom) else ""
        for one in node.names:
            if isinstance(node, ast.Import):
                if one.asname:
                    self.modules[one.asname] = one.name
                self.other(one.name.replace(".", "/"), one.asname or one.name)
                continue
            name = one.asname or one.name
            if node.module:
                self.modules[name] = f"{node.module}.{one.name}"
            module = self.other(of, None) if node.module else self.other(of + one.name, name)
            if module is not None and one.name == "*":
                scope.update({key: value for key, value in module.globals.items() if not key.startswith("_")})
            elif module is not None and one.name in module.globals:
                scope[name] = module.globals[one.name]
                self.modules.pop(name, None)
            elif node.module:
                self.other(f"{of}/{one.name}", name)

    def places(self, path: str) -> list[str]:
        """Where a module may stand: beside the script, in the package that the script is part of, one folder up."""
        top, _, rest = path.partition("/")
        if not rest or top == "..":
            return [path]
        folders = os.path.dirname(self.source.path).split("/")[::-1]
        own = ["../" * (folders.index(top)) + rest] if top in folders else []
        return [path, *own, "../" + path]

    def other(self, path: str, name: str | None) -> _Walk | None:
        """The module at a path beside the script, walked without its functions; it is known by a name from then on."""
        if self.read is None or self.deep >= _MODULES or len(self.beside) >= _TRIES:
            return None
        if path not in self.beside:
            self.beside[path] = None
            if sum(one is not None for one in self.beside.values()) >= _ITEMS:
                return None
            found = None
            for place in self.places(path):
                found = self.read(place + ".py")
                if found is not None:
                    break
            if found is not None and found.path != self.source.path:
                within = os.path.dirname(place)
                read = self.read
                walk = _Walk(found, _ignored, lambda more: read(os.path.join(within, more)), self.deep + 1)
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        tree = ast.parse(found.text)
                    walk.block(tree.body, walk.globals)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return None
                self.beside[path] = walk
        walked = self.beside[path]
        if walked is not None and name is not None:
            self.named_modules[name] = walked
        return walked

    def define(self, node: ast.ClassDef) -> None:
        attributes = self.attributes.setdefault(node.name, {})
        methods: Scope = {}
        before, self.owner = self.owner, node.name
        around, self.decorators = self.decorators, node.decorator_list
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.statement(statement, methods)
            else:
                self.statement(statement, attributes)
        self.owner, self.decorators = before, around
        self.methods[node.name] = {name: one for name, one in methods.items() if isinstance(one, Function)}
        for name, value in attributes.items():
            # what makes an instance may set another value
            attributes[name] = value.softened() if isinstance(value, TracedText) else value

    def branch(self, node: ast.If, scope: Scope) -> Value | _Ended:
        if (decided := self.test(node.test, scope)) is not None:
            return self.block(node.body if decided else node.orelse, scope)
        self.perhaps([node.body, node.orelse], scope)
        return _GOES_ON

    def perhaps(self, bodies: list[list[ast.stmt]], scope: Scope) -> None:
        """Walk blocks one of which may run, and join what they leave behind."""
        before = dict(scope)
        after: list[Scope] = []
        self.maybe += 1
        for body in bodies:
            inner = dict(before)
            self.block(body, inner)
            after.append(inner)
        self.maybe -= 1
        if len(after) == 1:
            after.append(before)
        for name in dict.fromkeys(name for one in after for name in one):
            scope[name] = _joined([one[name] for one in after if name in one], self.maybe)

    def loop(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        over = self.value(node.iter, scope)
        if isinstance(over, Mapping) and isinstance(node.target, ast.Tuple) and len(over.values) <= _ITEMS:
            for key, value in list(over.values.items()):
                for target, given in zip(node.target.elts, (TracedText.of(key, self.span(node.iter)), value), strict=False):
                    self.assign(target, given, scope)
                if value is None:
                    self.perhaps([node.body], scope)
                elif self.block(node.body, scope) is _LEAVES:
                    break
            return
        items = over.words[:_ITEMS] if isinstance(over, Listed) else []
        if items and isinstance(node.target, ast.Name) and not any(word.many for word in items):
            for word in items:
                scope[node.target.id] = word.text
                if self.block(node.body, scope) is _LEAVES:
                    break
            return
        for name in ast.walk(node.target):
            if isinstance(name, ast.Name):
                scope[name.id] = self.unknown(name)
        self.perhaps([node.body], scope)

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = value
            for name in [name for name in scope if name.startswith(target.id + ".")]:
                del scope[name]
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            if target.value.id == "self":
                self.attributes.setdefault(self.owner, {})[target.attr] = value
            else:
                scope[f"{target.value.id}.{target.attr}"] = value
        elif isinstance(target, ast.Subscript):
            new = self.words(value, target) if isinstance(target.slice, ast.Slice) else [self.word(value, target)]
            if self.replaced(target, new, scope):
                return
            held = self.value(target.value, scope)
            key = self.value(target.slice, scope)
            if isinstance(held, Mapping) and isinstance(key, TracedText) and key.value is not None:
                known = self.maybe == 0 or not held.environment
                held.values[key.value] = value if known else self.unknown(target)
                held.keys[key.value] = self.span(target.slice)
                self.sometimes(held, key.value)
                if self.maybe > self.entered and not held.environment:
                    held.values[MORE] = None
        elif isinstance(target, (ast.Tuple, ast.List)):
            words = value.words if isinstance(value, Listed) and len(value.words) == len(target.elts) else None
            for index, one in enumerate(target.elts):
                known = words is not None and not any(word.many for word in words)
                self.assign(one, words[index].text if words is not None and known else self.unknown(one), scope)

    def alter(self, node: ast.AugAssign | ast.Delete, scope: Scope) -> None:
        if isinstance(node, ast.Delete):
            for one in node.targets:
                if isinstance(one, ast.Subscript):
                    held, key = self.value(one.value, scope), self.value(one.slice, scope)
                    if isinstance(held, Mapping) and not held.environment:
                        held.perhaps.add((key.value if isinstance(key, TracedText) else None) or MORE)
                    self.replaced(one, None, scope)
            return
        value = self.value(node.value, scope)
        target = self.value(node.target, scope)
        texts = isinstance(target, (TracedText, OneOf)) and isinstance(value, (TracedText, OneOf))
        if all(isinstance(one, Listed) for one in choices_of(target)):
            self.extend(target, value, node.value)
        elif isinstance(target, Number) or isinstance(value, Number):
            self.assign(node.target, self.reckoned(node.op, target, value, node.value), scope)
        elif isinstance(node.op, ast.Add) and texts:
            self.assign(node.target, self.added(target, value, node.target, node.value), scope)
        else:
            self.assign(node.target, self.unknown(node.value), scope)

    def sometimes(self, held: Mapping, name: str) -> None:
        """Note that a name is set in a dictionary, which it may lack if an undecided condition sets it."""
        if self.maybe > held.depth:
            held.perhaps.add(name)
        else:
            held.perhaps.discard(name)

    def extend(self, target: Value, value: Value, node: ast.expr, *, at: int | None = None, one: bool = False) -> None:
        """Add a value to a list: its items, or itself as one."""
        added = [self.word(value, node)] if one else self.words(value, node)
        for listed in choices_of(target):
            if not isinstance(listed, Listed):
                continue
            new = added if self.maybe <= listed.depth else [self.possible(added, node)]
            listed.words[at if at is not None else len(listed.words) : at if at is not None else len(listed.words)] = new

    def place(self, held: Listed, node: ast.expr | None, scope: Scope) -> int | None:
        """The index of an item of a list, counted from its start."""
        key = self.value(node, scope) if node is not None else None
        index = int(key.flat) if isinstance(key, Number) and re.fullmatch(r"-?\d{1,4}", key.flat) else _number(node)
        size = len(held.words)
        if index is None or (not -size <= index <= size and any(word.many for word in held.words)):
            return None
        index = max(-size, min(index, size))
        many = any(word.many for word in (held.words[index:] if index < 0 else held.words[:index]))
        return None if many else index + size if index < 0 else index

    def replaced(self, target: ast.Subscript, new: list[Word] | None, scope: Scope) -> bool:
        """Whether a subscript is one of a list, whose words change: an item or a part is set, or deleted without words."""
        held = self.value(target.value, scope)
        lists = [one for one in choices_of(held) if isinstance(one, Listed)]
        for one in lists:
            if isinstance(target.slice, ast.Slice):
                low = self.place(one, target.slice.lower, scope) if target.slice.lower is not None else 0
                high = self.place(one, target.slice.upper, scope) if target.slice.upper is not None else len(one.words)
                high = len(one.words) if high is None and target.slice.step is None and low is not None else high
            else:
                low = self.place(one, target.slice, scope)
                high = low + 1 if low is not None else None
            self.change(one, low, high, new or [], target)
        return bool(lists)

    def change(self, held: Listed, low: int | None, high: int | None, new: list[Word], node: ast.expr) -> None:
        """Put words for others; where that may not happen, or not there, what stands there is not known."""
        if low is None or high is None:
            low = next((at for at, word in enumerate(held.words) if word.text.flat.startswith("--")), len(held.words))
            high, new = len(held.words), [self.more(node)]
        elif self.maybe > held.depth:
            single = len(new) == high - low == 1
            before = held.words[low].text if low < len(held.words) else EMPTY
            text = self.longer(before, new[0].text, node) if single else None
            new = [Word(text, self.span(node))] if text is not None else [self.more(node)]
        held.words[low:high] = new

    def longer(self, before: TracedText, after: TracedText, node: ast.expr) -> TracedText:
        """An item that an undecided condition replaces: the text with perhaps more behind it, if the new one only adds."""
        grown = after.flat.startswith(before.flat) and before.flat.strip() != ""
        joined = _joined([before, after], self.maybe) if grown else None
        return joined if isinstance(joined, TracedText) else self.unknown(node)

    # expressions

    def more(self, node: ast.expr) -> Word:
        """Words of which neither the number nor the values are known."""
        return Word(self.unknown(node), self.span(node), many=True)

    def possible(self, added: list[Word], node: ast.expr) -> Word:
        """Words that a condition adds which is not known."""
        return Possible(added, self.unknown(node).shown, self.span(node))

    def word(self, value: Value, node: ast.expr) -> Word:
        if isinstance(value, TracedText):
            return Word(value if value.pieces else EMPTY, self.span(node))
        return Word(self.unknown(node), self.span(node))

    def words(self, value: Value, node: ast.expr) -> list[Word]:
        """The items of a value, which may be a list."""
        return list(value.words) if isinstance(value, Listed) else [self.more(node)]

    def test(self, node: ast.expr, scope: Scope) -> bool | None:
        """Whether a condition holds; None if that is not known."""
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "__name__":
            return True
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.test(node.operand, scope)
            return None if inner is None else not inner
        if isinstance(node, ast.Call) and self.dotted(node.func) == "isinstance" and self.dotted(node.args[-1]) == "bool":
            held = self.value(node.args[0], scope)
            return isinstance(held, bool) if isinstance(held, bool) or (isinstance(held, TracedText) and held.known) else None
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)) and _is(node.comparators[0], None):
            held = self.value(node.left, scope)
            return isinstance(node.ops[0], ast.IsNot) if isinstance(held, bool) or _plain(held) else None
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)) and len(node.ops) == 1:
            listed, item = self.value(node.comparators[0], scope), self.value(node.left, scope)
            if not isinstance(listed, Listed) or not _plain(item):
                return None
            held = _place(listed, item) is not None
            if not held and not all(word.text.known and not word.many for word in listed.words):
                return None
            return held is isinstance(node.ops[0], ast.In)
        value = self.value(node, scope)
        return value if isinstance(value, bool) else None

    def value(self, node: ast.expr, scope: Scope) -> Value:
        self.left -= 1
        if self.left < 0:
            return self.unknown(node)
        if isinstance(node, ast.Constant):
            return self.constant(node)
        if isinstance(node, ast.JoinedStr):
            return self.literal(node, scope)
        if isinstance(node, ast.Name):
            return self.named(node, scope)
        if isinstance(node, ast.Attribute):
            return self.attribute(node, scope)
        if isinstance(node, (ast.List, ast.Tuple)):
            return self.listed(node, scope)
        if isinstance(node, ast.Dict):
            return self.mapping(node, scope)
        if isinstance(node, ast.BinOp):
            return self.binary(node, scope)
        if isinstance(node, ast.BoolOp):
            return self.either(node, scope)
        if isinstance(node, ast.IfExp):
            if (decided := self.test(node.test, scope)) is not None:
                return self.value(node.body if decided else node.orelse, scope)
            return _joined([self.value(node.body, scope), self.value(node.orelse, scope)], self.maybe, self.unknown(node))
        if isinstance(node, ast.Call):
            return self.call(node, scope)
        if isinstance(node, ast.Await):
            return self.value(node.value, scope)
        if isinstance(node, ast.NamedExpr):
            given = self.value(node.value, scope)
            self.assign(node.target, given, scope)
            return given
        if isinstance(node, ast.Lambda):
            return Function(node, self.owner, scope, self, [])
        if isinstance(node, ast.Subscript):
            return self.subscript(node, scope)
        if isinstance(node, ast.UnaryOp) and (number := _number(node)) is not None:
            span = self.span(node)
            return Number.at(self.source, span.start, span.end) if span.text == str(number) else Number.of(str(number), span)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return self.each(node, scope)
        return self.unknown(node)

    def each(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope) -> Listed:
        """What is made of each item of a list: `" ".join(shlex.quote(word) for word in command)`."""
        first = node.generators[0]
        over = self.value(first.iter, scope)
        if len(node.generators) > 1 or not isinstance(first.target, ast.Name) or not isinstance(over, Listed):
            return Listed([self.more(node)], self.maybe)
        words: list[Word] = []
        for word in over.words:
            inner = {**scope, first.target.id: word.text}
            kept = [False if word.many else self.compared(one, inner) for one in first.ifs]
            if word.many or None in kept:
                words.append(word if word.many and not kept else self.more(node))
            elif all(kept):
                words.append(self.word(self.value(node.elt, inner), node.elt))
        return Listed(words, over.depth)

    def compared(self, node: ast.expr, scope: Scope) -> bool | None:
        """Whether a text that is known is another one, or begins with it."""
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and len(node.ops) == 1:
            left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
            if not isinstance(left, TracedText) or not isinstance(right, TracedText) or not (_plain(left) and _plain(right)):
                return None
            return (left.flat == right.flat) is isinstance(node.ops[0], ast.Eq)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith" and node.args:
            left, right = self.value(node.func.value, scope), self.value(node.args[0], scope)
            known = isinstance(left, TracedText) and isinstance(right, TracedText) and _plain(left) and _plain(right)
            return left.flat.startswith(right.flat) if known else None  # type: ignore[union-attr]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.compared(node.operand, scope)
            return None if inner is None else not inner
        return self.test(node, scope)

    def listed(self, node: ast.List | ast.Tuple, scope: Scope) -> Value:
        rows: list[list[Word]] = [[]]
        for one in node.elts:
            starred = isinstance(one, ast.Starred)
            given = choices_of(self.value(one.value if isinstance(one, ast.Starred) else one, scope))
            if len(rows) * len(given) > _ITEMS:
                given = [None]
            items = [self.words(value, one) if starred else [self.word(value, one)] for value in given]
            rows = [[*row, *words] for row in rows for words in items]
        return _one_of([Listed(row, self.maybe) for row in rows])

    def subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        held, key = self.value(node.value, scope), self.value(node.slice, scope)
        if lists := [one for one in choices_of(held) if isinstance(one, Listed)]:
            return _joined([self.item(one, node, scope) for one in lists], self.maybe, self.unknown(node))
        if isinstance(held, TracedText) and held.known and isinstance(node.slice, ast.Slice) and node.slice.step is None:
            bounds = [_number(one) for one in (node.slice.lower, node.slice.upper)]
            if (bounds[0] is not None or node.slice.lower is None) and (bounds[1] is not None or node.slice.upper is None):
                low, high, _ = slice(*bounds).indices(len(held.flat))
                return held.cut(low, max(low, high))
        return self.held(held, key, self.unknown(node))

    def held(self, held: Value, key: Value, other: Value) -> Value:
        """What a dictionary has under a key: one of its commands if the key is not known.

        A dictionary that is not known, an item of a list or what a function is given, may be any that the script writes.
        """
        name = key.value if isinstance(key, TracedText) else None
        if isinstance(held, Mapping):
            if held is self.env and name in self.given and name not in self.env.values:
                return self.given[name]
            if name is not None or held.environment:
                return held.values.get(name, other) if name is not None and not held.environment else other
            commands = [one for one in held.values.values() if isinstance(one, (Listed, TracedText)) and _is_command(one)]
            return _one_of(commands) if len(commands) == len(held.values) <= _ITEMS and commands else other
        kept = self.keyed.get(name, []) if name is not None and isinstance(held, TracedText) else []
        return _one_of(kept) if 0 < len(kept) <= _ITEMS else other

    def variable(self, name: Value) -> Value:
        """What is known of a variable of the environment: the script sets it, or what starts the script does."""
        key = (name.value if isinstance(name, TracedText) else None) or ""
        return self.env.values.get(key, self.given.get(key))

    def item(self, held: Listed, node: ast.Subscript, scope: Scope) -> Value:
        """An item or a part of a list: `command[0]`, `command[1:]`, `command[:-2]`."""
        if not isinstance(node.slice, ast.Slice):
            index = self.place(held, node.slice, scope)
            known = index is not None and index < len(held.words) and not held.words[index].many
            return held.words[index].text if known and index is not None else self.unknown(node)
        low = self.place(held, node.slice.lower, scope) if node.slice.lower is not None else 0
        high = self.place(held, node.slice.upper, scope) if node.slice.upper is not None else len(held.words)
        if low is None or high is None or node.slice.step is not None:
            return self.unknown(node)
        return Listed(held.words[low:high], self.maybe)

    def constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, str):
            return self.literal(node, {})
        if isinstance(node.value, bool) or node.value is None:
            return node.value
        if isinstance(node.value, (int, float)):
            span = self.span(node)
            text = str(node.value)
            return Number.at(self.source, span.start, span.end) if span.text == text else Number.of(text, span)
        return self.unknown(node)

    def named(self, node: ast.Name, scope: Scope) -> Value:
        for one in (scope, self.globals):
            if node.id in one:
                return one[node.id]
        return self.unknown(node)

    def attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        if isinstance(node.value, ast.Name) and (set_here := f"{node.value.id}.{node.attr}") in scope:
            return scope[set_here]
        name = self.dotted(node)
        if name == "sys.executable":
            return TracedText.of("python3", self.span(node))
        if name == "os.environ":
            return self.env
        if isinstance(node.value, ast.Name):
            if node.value.id in ("self", "cls"):
                return self.attributes.get(self.owner, {}).get(node.attr, self.unknown(node))
            if node.value.id in self.named_modules and node.value.id not in scope:
                return self.named_modules[node.value.id].globals.get(node.attr, self.unknown(node))
            if node.value.id in self.attributes:
                return self.attributes[node.value.id].get(node.attr, self.unknown(node))
            if node.value.id in _NAMESPACES and node.attr in self.options:
                return self.options[node.attr]
        return self.unknown(node)

    def mapping(self, node: ast.Dict, scope: Scope) -> Mapping:
        found = Mapping({}, depth=self.maybe)
        for key, value in zip(node.keys, node.values, strict=True):
            given = self.value(value, scope)
            if key is None:
                if isinstance(given, Mapping):
                    found.values.update(given.values)
                    found.keys.update(given.keys)
                    found.perhaps |= given.perhaps
                    found.environment = found.environment or given.environment
                else:
                    found.perhaps.add(MORE)
                continue
            name = self.value(key, scope)
            if not isinstance(name, TracedText) or name.value is None:
                found.perhaps.add(MORE)
            else:
                found.values[name.value] = given
                found.keys[name.value] = self.span(key)
                found.perhaps.discard(name.value)
                if isinstance(given, TracedText) and _is_command(given):
                    self.keyed.setdefault(name.value, []).append(given)
        return found

    def binary(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(node.op, ast.Mod) and isinstance(left, TracedText) and not isinstance(left, Number):
            return self.filled(left, right, node.right)
        if isinstance(left, Number) or isinstance(right, Number):
            return self.reckoned(node.op, left, right, node)
        if isinstance(node.op, ast.Add) and (given := self.added(left, right, node.left, node.right)) is not None:
            return given
        if isinstance(node.op, ast.Div) and isinstance(left, TracedText) and isinstance(right, TracedText):
            return TracedText.join((left, TracedText.of("/"), right))
        return self.unknown(node)

    def reckoned(self, by: ast.operator, left: Value, right: Value, node: ast.expr) -> TracedText:
        """What whole numbers give that are known."""
        work = _WORK.get(type(by))
        numbers = [int(one.flat) for one in (left, right) if isinstance(one, Number) and re.fullmatch(r"-?\d{1,12}", one.flat)]
        if work is None or len(numbers) < 2 or (numbers[1] == 0 and not isinstance(by, (ast.Add, ast.Sub, ast.Mult))):
            return self.unknown(node)
        given = Number.of(str(work(*numbers)), self.span(node))
        assumed = any(piece.assumed for one in (left, right) if isinstance(one, TracedText) for piece in one.pieces)
        return given.softened() if assumed else given

    def filled(self, text: TracedText, value: Value, node: ast.expr) -> TracedText:
        """A text with `%s` and `%d` replaced, by the items of a tuple or by one value."""
        waiting = iter([word.text for word in value.words] if isinstance(value, Listed) else [value])

        def field(match: re.Match[str]) -> TracedText:
            if match.group() == "%%":
                return TracedText.of("%", text.extent(*match.span()))
            given = value.values.get(match.group(1)) if isinstance(value, Mapping) else next(waiting, None)
            return given if isinstance(given, TracedText) else self.unknown(node)

        if isinstance(value, Listed) and any(word.many for word in value.words):
            return self.unknown(node)
        return text.sub(_PERCENT, field)

    def added(self, left: Value, right: Value, before: ast.expr, after: ast.expr) -> Value:
        """The sum of two texts or lists, of which there may be several; None for other values."""
        found: list[Listed | TracedText] = []
        for one in choices_of(left):
            for other in choices_of(right):
                if isinstance(one, TracedText) and isinstance(other, TracedText):
                    found.append(TracedText.join((one, other)))
                elif isinstance(one, Listed) or isinstance(other, Listed):
                    found.append(Listed([*self.words(one, before), *self.words(other, after)], self.maybe))
        return _one_of(found)

    def either(self, node: ast.BoolOp, scope: Scope) -> Value:
        values = [self.value(one, scope) for one in node.values]
        if isinstance(node.op, ast.Or):
            if isinstance(values[0], TracedText) and values[0].value:
                return values[0]
            if isinstance(values[-1], TracedText) and values[-1].known:
                return values[-1].softened()
        return self.unknown(node)

    def dotted(self, node: ast.expr) -> str:
        """The name of a function as it is written; an alias of a module by the module's own name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            parts.append(self.modules.get(node.id, node.id))
        elif parts:
            parts.append("")
        return ".".join(reversed(parts))

    def call(self, node: ast.Call, scope: Scope) -> Value:
        name = self.dotted(node.func)
        held = self.value(node.func.value, scope) if isinstance(node.func, ast.Attribute) else None
        args: list[Value] = []
        for one in node.args:
            if isinstance(one, ast.Starred):
                starred = self.value(one.value, scope)
                if isinstance(starred, OneOf) and len(node.args) == 1:
                    args.append(starred)
                    continue
                args += [word.text if not word.many else Listed([word], self.maybe) for word in self.words(starred, one)]
            else:
                args.append(self.value(one, scope))
        keywords = {one.arg: self.value(one.value, scope) for one in node.keywords if one.arg}
        keys: dict[str, Span] = {}
        perhaps: set[str] = set()
        for spread in [self.value(more.value, scope) for more in node.keywords if more.arg is None]:
            keywords = {**keywords, **(spread.values if isinstance(spread, Mapping) else {MORE: None})}
            if isinstance(spread, Mapping):
                keys.update(spread.keys)
                perhaps |= spread.perhaps
            else:
                perhaps.add(MORE)

        def place(name: str) -> tuple[Span | None, Span | None, bool]:
            for one in node.keywords:
                if one.arg == name:
                    return self.named_at(one), self.span(one.value), _is(one.value, None)
            return keys.get(name), None, False

        for given in (*args, *keywords.values()):
            if isinstance(given, Function) and id(given.node) not in self.reached:
                self.invoke(given, [], {}, None)
        if (own := self.own(node, name, scope)) is not None:
            unsure = {one: self.unknown(node) for one in perhaps if one in keywords and one != MORE}
            return self.invoke(own, args, {**keywords, **unsure, **({MORE: None} if perhaps else {})}, node)
        if self.method(node, held, args, scope):
            return None
        made = Call(name, args, keywords, self.env, self.span(node), self.chain, self.image, place, frozenset(perhaps))
        made.caught = self.caught > 0
        self.on_call(made)
        if _CONFIGURED.match(name) is not None and not args:
            written = [one.arg for one in node.keywords if one.arg]
            where = {**keys, **{one: key for one in written if (key := place(one)[0]) is not None}}
            return Mapping(keywords, keys=where, depth=self.maybe, perhaps=perhaps)
        return self.built(node, name, held, args, keywords, scope)

    def own(self, node: ast.Call, name: str, scope: Scope) -> Function | None:
        """The function of the script that a call names."""
        if isinstance(node.func, ast.Name):
            found = scope.get(node.func.id, self.globals.get(node.func.id))
            return found if isinstance(found, Function) else None
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            module = self.named_modules.get(node.func.value.id)
            found = module.globals.get(node.func.attr) if module is not None else None
            if isinstance(found, Function):
                return found
        if name.startswith("self.") and name.count(".") == 1:
            return self.methods.get(self.owner, {}).get(name[5:])
        owners = [methods[last] for methods in self.methods.values() if (last := name.rpartition(".")[2]) in methods]
        return owners[0] if len(owners) == 1 and _MAKES.fullmatch(last) is not None else None

    def method(self, node: ast.Call, held: Value, args: list[Value], scope: Scope) -> bool:
        """Whether a call is a method of a list or a dictionary that changes it."""
        attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if isinstance(held, (Listed, OneOf)) and attribute in ("append", "extend") and args:
            self.extend(held, args[-1], node.args[-1], one=attribute == "append")
            return True
        if isinstance(held, (Listed, OneOf)) and attribute in ("insert", "remove", "clear"):
            for one in choices_of(held):
                if not isinstance(one, Listed):
                    continue
                if attribute == "clear":
                    self.change(one, 0, len(one.words), [], node)
                elif attribute == "insert" and len(args) > 1:
                    low = self.place(one, node.args[0], scope)
                    self.change(one, low, low, [self.word(args[1], node.args[1])], node)
                elif attribute == "remove" and args:
                    low = _place(one, args[0])
                    self.change(one, low, low + 1 if low is not None else None, [], node)
            return True
        if isinstance(held, Mapping) and attribute in ("pop", "popitem", "clear") and not held.environment:
            held.values[MORE] = None
            gone = args[0].value if args and isinstance(args[0], TracedText) and attribute == "pop" else None
            held.perhaps |= {gone} if gone is not None else set(held.values)
        if isinstance(held, Mapping) and attribute in ("update", "setdefault"):
            new = args[0].values if args and isinstance(args[0], Mapping) else {}
            if attribute == "setdefault" and len(args) > 1 and isinstance(args[0], TracedText) and args[0].value:
                given = args[1]
                new = {args[0].value: given.softened() if isinstance(given, TracedText) else given}
            named = {one.arg: self.value(one.value, scope) for one in node.keywords if one.arg and attribute == "update"}
            if (args and not new) or any(one.arg is None for one in node.keywords):
                held.perhaps.add(MORE)
            spread = args[0] if args and isinstance(args[0], Mapping) else None
            for name, value in {**new, **named}.items():
                if attribute == "setdefault" and name in held.values:
                    if name in held.perhaps:
                        held.values[name] = self.unknown(node)
                    continue
                held.values[name] = value if self.maybe == 0 else self.unknown(node)
                if spread is not None and name in spread.keys:
                    held.keys[name] = spread.keys[name]
                self.sometimes(held, name)
                held.perhaps |= {name} & spread.perhaps if spread is not None else set()
            return True
        return False

    def built(
        self, node: ast.Call, name: str, held: Value, args: list[Value], keywords: dict[str, Value], scope: Scope
    ) -> Value:
        """What a call of the library gives, as far as it is known."""
        if isinstance(held, OneOf):
            return _joined([self.built(node, name, one, args, keywords, scope) for one in held.choices], self.maybe)
        if args and isinstance(args[0], OneOf):
            return _joined(
                [self.built(node, name, held, [one, *args[1:]], keywords, scope) for one in args[0].choices], self.maybe
            )
        last = name.rpartition(".")[2]
        if last == "get" and args and isinstance(held, (Mapping, TracedText)) and held is not self.env:
            return self.held(held, args[0], _default(args[1:]) or self.unknown(node))
        if name in ("os.environ.get", "os.getenv") and args:
            default = args[1] if len(args) > 1 else keywords.get("default")
            known = self.variable(args[0])
            if isinstance(known, TracedText):
                return known
            return default.softened() if isinstance(default, TracedText) and default.known else self.unknown(node)
        if last == "add_argument" and args and isinstance(args[0], TracedText):
            default = keywords.get("default")
            written = [one.flat for one in args if isinstance(one, TracedText)]
            option = next((one for one in written if one.startswith("--")), written[0])
            option = given.flat if isinstance(given := keywords.get("dest"), TracedText) else option
            if isinstance(default, TracedText):
                self.options[option.lstrip("-").replace("-", "_")] = default.softened()
            return None
        if last == "items" and isinstance(held, Mapping) and not held.environment and MORE not in held.values:
            return held
        if last == "replace" and isinstance(held, TracedText) and held.known and len(args) == 2 and all(map(_plain, args)):
            old, new = [one.flat for one in args if isinstance(one, TracedText)]
            return TracedText.of(held.flat.replace(old, new), held.span())
        if name in ("range", "len") and args:
            return self.counted(name, args, node)
        if last == "pop" and isinstance(held, Listed) and held.words:
            at = node.args[0] if node.args else None
            low = self.place(held, at, scope) if at is not None else len(held.words) - 1 if not held.words[-1].many else None
            given = held.words[low].text if low is not None and low < len(held.words) else self.unknown(node)
            self.change(held, low, low + 1 if low is not None else None, [], node)
            return given
        if last == "index" and isinstance(held, Listed) and len(args) == 1 and (place := _place(held, args[0])) is not None:
            return Number.of(str(place), self.span(node))
        if last in ("which", "copy", "deepcopy", "list", "tuple", "dict"):
            return self.copied(node, last, held, args, keywords)
        if last == "join" and isinstance(held, TracedText) and args and isinstance(args[0], Listed):
            return _together(held, args[0].words)
        if name == "shlex.join" and args:
            return args[0]
        if name == "os.path.join" and args and all(isinstance(one, TracedText) for one in args):
            parts = [part for one in args for part in (TracedText.of("/"), one) if isinstance(part, TracedText)]
            return TracedText.join(parts[1:])
        if name == "shlex.split" or (last == "split" and not args and isinstance(held, TracedText)):
            text = args[0] if args else held
            return Listed(split(text), self.maybe) if isinstance(text, TracedText) else self.unknown(node)
        if last == "format" and isinstance(held, TracedText):
            return self.formatted(held, args, keywords)
        same = args[0] if args else held
        whole = last in ("abspath", "expanduser", "expandvars", "resolve")
        if isinstance(same, TracedText) and (last in _SAME or name in _SAME or (whole and same.flat.startswith("/"))):
            return Number(same.pieces) if name in ("int", "float") else _as_text(same)
        return self.unknown(node)

    def counted(self, name: str, args: list[Value], node: ast.Call) -> Value:
        """The numbers of a range, and the length of a list."""
        if name == "len":
            words = args[0].words if isinstance(args[0], Listed) else []
            return (
                Number.of(str(len(words)), self.span(node))
                if words and not any(one.many for one in words)
                else self.unknown(node)
            )
        ends = [int(one.flat) for one in args if isinstance(one, Number) and one.flat.isdigit() and len(one.flat) < 9]
        count = range(*ends) if len(ends) == len(args) and len(args) < 3 else range(0)
        if not 0 < len(count) <= _ITEMS:
            return self.unknown(node)
        span = self.span(node)
        return Listed([Word(Number.of(str(one), span), span) for one in count], self.maybe)

    def copied(self, node: ast.Call, last: str, held: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
        of = args[0] if args else held
        if isinstance(of, Listed):
            return Listed(list(of.words), self.maybe)
        if isinstance(of, Mapping) or last == "dict":
            inner = of if isinstance(of, Mapping) else Mapping({})
            keys = {one.arg: self.named_at(one) for one in node.keywords if one.arg}
            perhaps = inner.perhaps | ({MORE} if of is not None and inner is not of else set()) | ({MORE} & keywords.keys())
            return Mapping(
                {**inner.values, **keywords},
                environment=inner.environment,
                keys={**inner.keys, **keys},
                depth=self.maybe,
                perhaps=perhaps - keys.keys(),
            )
        return of if last == "which" and isinstance(of, TracedText) else self.unknown(node)

    def formatted(self, text: TracedText, args: list[Value], keywords: dict[str, Value]) -> TracedText:
        waiting = iter(args)

        def field(match: re.Match[str]) -> TracedText:
            name = match.group(1)
            if name.isdigit():
                given = args[int(name)] if int(name) < len(args) else None
            else:
                given = keywords.get(name) if name else next(waiting, None)
            return given if isinstance(given, TracedText) else text.unknown(match)

        return text.sub(_FIELD, field)

    def invoke(self, function: Function, args: list[Value], keywords: dict[str, Value], site: ast.Call | None) -> Value:
        """Walk a function of the script with the values that it is given; without a call, with its defaults."""
        node = function.node
        if function.home is not self:
            return self.invoke_beside(function, args, keywords, site)
        self.reached.add(id(node))
        if len(self.chain) >= _DEPTH or id(node) in self.walked:
            return None  # what a function that calls itself gives stays open: its calls multiply
        inner: Scope = dict(function.scope) if function.scope is not self.globals else {}
        parameters = [*node.args.posonlyargs, *node.args.args]
        if parameters and parameters[0].arg in ("self", "cls") and function.owner:
            parameters = parameters[1:]
        defaults = dict(zip([one.arg for one in reversed(parameters)], reversed(node.args.defaults), strict=False))
        defaults.update(
            {one.arg: default for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if default}
        )
        for index, one in enumerate([*parameters, *node.args.kwonlyargs]):
            if one.arg in keywords:
                inner[one.arg] = keywords[one.arg]
            elif index < len(args) and index < len(parameters):
                inner[one.arg] = args[index]
            else:
                default = self.value(defaults[one.arg], self.globals) if one.arg in defaults else None
                if site is None:  # not what a caller gives
                    default = default.softened() if isinstance(default, TracedText) else None
                    inner[one.arg] = default if default is not None else self.parameter(one)
                else:
                    inner[one.arg] = default if one.arg in defaults else self.parameter(one)
        for more in (node.args.vararg, node.args.kwarg):
            if more is not None:
                inner[more.arg] = self.parameter(more)
        if node.args.vararg is not None and site is not None and all(isinstance(one, TracedText) for one in args):
            rest = [Word(one) for one in args[len(parameters) :] if isinstance(one, TracedText)]
            inner[node.args.vararg.arg] = Listed(rest, self.maybe)
        if node.args.kwarg is not None and site is not None and MORE not in keywords:
            taken = [one.arg for one in (*parameters, *node.args.kwonlyargs)]
            inner[node.args.kwarg.arg] = Mapping({name: one for name, one in keywords.items() if name not in taken})
        outside = self.chain, self.maybe, self.owner, self.entered, self.returned
        self.walked.add(id(node))
        self.chain = (*self.chain, site.lineno * 1000 + site.col_offset if site is not None else 0)
        self.owner = function.owner
        if site is None:
            self.maybe = 0
            self.image = self.decorated(function)
        self.entered, self.returned = self.maybe, []
        if isinstance(node, ast.Lambda):
            given: Value | _Ended = self.value(node.body, inner)
        else:
            given = self.block(node.body, inner)
        possible = [*self.returned, *([given] if given is not None and not isinstance(given, _Ended) else [])]
        self.chain, self.maybe, self.owner, self.entered, self.returned = outside
        self.walked.discard(id(node))
        return _joined(possible, self.maybe) if possible else None

    def invoke_beside(self, function: Function, args: list[Value], keywords: dict[str, Value], site: ast.Call | None) -> Value:
        """Walk a function of a module beside the script, whose calls are then the script's."""
        home = function.home
        before = home.on_call, home.chain, home.maybe, home.image, home.left
        home.on_call, home.chain, home.maybe, home.image, home.left = (
            self.on_call,
            self.chain,
            self.maybe,
            self.image,
            self.left,
        )
        given = home.invoke(function, args, keywords, site) if site is not None else None
        self.left = home.left
        home.on_call, home.chain, home.maybe, home.image, home.left = before
        return given

    def decorated(self, function: Function) -> Value:
        """The `image` that a decorator of a function or of its class names."""
        for one in function.decorators:
            for given in one.keywords if isinstance(one, ast.Call) else ():
                if given.arg == "image":
                    return self.value(given.value, self.globals)
        return None

    def parameter(self, node: ast.arg) -> TracedText:
        start = self.offset(node.lineno, node.col_offset)
        return TracedText((unknown(f"{{{node.arg}}}", Span(self.source, start, start + len(node.arg))),))

    # string literals

    def literal(self, node: ast.Constant | ast.JoinedStr, scope: Scope) -> Value:
        """The text of a string literal, of several that follow each other, and of f-strings, with its places.

        A field that is one of several commands makes the text one of several.
        """
        span = self.span(node)
        fields = iter(
            [one for one in node.values if isinstance(one, ast.FormattedValue)] if isinstance(node, ast.JoinedStr) else []
        )
        parts: list[Value] = []
        at = span.start
        while at < span.end:
            between = _BETWEEN.match(self.source.text, at, span.end)
            at = between.end() if between is not None else at
            opened = _STRING.match(self.source.text, at, span.end)
            if opened is None:
                break
            at = self.string(opened, span.end, fields, scope, parts)
        if any(isinstance(one, OneOf) for one in parts):
            whole: Value = EMPTY
            for one in parts:
                whole = self.added(whole, one, node, node)
            return whole
        text = _as_text(TracedText.join([one for one in parts if isinstance(one, TracedText)]))
        if isinstance(node, ast.Constant) and text.flat != node.value:
            return TracedText.of(str(node.value), span)
        return text

    def string(
        self, opened: re.Match[str], end: int, fields: Iterable[ast.FormattedValue], scope: Scope, parts: list[Value]
    ) -> int:
        """Read one literal up to its closing quote; where it ends."""
        text, quote, prefix = self.source.text, opened.group("quote"), opened.group("prefix").lower()
        waiting = iter(fields)
        at = done = opened.end()

        def keep(to: int) -> None:
            if to > done:
                parts.append(TracedText.at(self.source, done, to))

        while at < end and not text.startswith(quote, at):
            if text[at] == "\\" and "r" not in prefix:
                escape = _ESCAPE.match(text, at)
                stop = escape.end() if escape is not None else at + 1
                keep(at)
                parts.append(TracedText.of(_unescaped(text[at:stop]), Span(self.source, at, stop)))
                at = done = stop
            elif "f" in prefix and text[at] in "{}":
                keep(at)
                if text.startswith(text[at] * 2, at):
                    parts.append(TracedText.at(self.source, at, at + 1))
                    at = done = at + 2
                    continue
                field = next(waiting, None)
                stop = self.after_field(at, end)
                given = self.value(field.value, scope) if field is not None and field.format_spec is None else None
                texts = isinstance(given, OneOf) and all(isinstance(one, TracedText) for one in given.choices)
                if texts or (isinstance(given, TracedText) and (given.known or len(given.pieces) > 1)):
                    parts.append(given)
                else:
                    parts.append(TracedText((unknown(text[at:stop], Span(self.source, at, stop)),)))
                at = done = stop
            else:
                at += 1
        keep(at)
        return at + len(quote)

    def after_field(self, at: int, end: int) -> int:
        """Behind the brace that closes a field of an f-string."""
        text, depth = self.source.text, 0
        quoted = ""
        for index in range(at, end):
            sign = text[index]
            if quoted:
                quoted = "" if sign == quoted else quoted
            elif sign in "'\"" and depth:
                quoted = sign
            elif sign in "{[(":
                depth += 1
            elif sign in "}])":
                depth -= 1
                if depth == 0:
                    return index + 1
        return end


def _nowhere(_name: str) -> tuple[Span | None, Span | None, bool]:
    """The place of an argument that the file does not write."""
    return None, None, False


def _ignored(call: Call) -> None:
    """Take a call that a module makes when it is imported."""


class _Ended:
    """Says that a block of statements goes on behind its end."""

    __slots__ = ()


_GOES_ON = _Ended()
_NEXT = _Ended()
"""A round of a loop ends: `continue`."""
_LEAVES = _Ended()
"""A loop ends: `break`."""


def _catches_type_error(node: ast.expr | None) -> bool:
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(isinstance(one, ast.Name) and one.id == "TypeError" for one in names)


def _unescaped(text: str) -> str:
    """What an escape sequence stands for; one that is not known stands for itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(ast.literal_eval(f'"""{text}"""'))
        except (SyntaxError, ValueError):
            return text


def _plain(value: Value) -> bool:
    """Whether a value is a text that is known, and no default."""
    return isinstance(value, TracedText) and value.known and not value.assumed


def _as_text(text: TracedText) -> TracedText:
    return TracedText(text.pieces) if isinstance(text, Number) else text


def _place(held: Listed, item: Value) -> int | None:
    """The index of the first word that is a text; None if another one before it may be, or none is."""
    for at, word in enumerate(held.words):
        if not word.text.known or word.many or not _plain(item):
            return None
        if isinstance(item, TracedText) and word.text.flat == item.flat:
            return at
    return None


def _number(node: ast.expr | None) -> int | None:
    """A whole number as it is written, `-2` among them; None for what else stands there."""
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    inner = node.operand if isinstance(node, ast.UnaryOp) and sign < 0 else node
    whole = isinstance(inner, ast.Constant) and type(inner.value) is int
    return sign * inner.value if whole and isinstance(inner, ast.Constant) and isinstance(inner.value, int) else None


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value


_COMMAND = re.compile(r"\s*[^\s-]\S*\s+\S")
"""A text of several words whose first is not an option: what may be a command."""


def _is_command(value: Listed | TracedText) -> bool:
    if isinstance(value, TracedText):
        return _COMMAND.match(value.flat) is not None
    return bool(value.words) and not value.words[0].text.flat.startswith("-")


def choices_of(value: Value) -> list[Value]:
    """What a value may be."""
    return [*value.choices] if isinstance(value, OneOf) else [value]


def _default(given: list[Value]) -> TracedText | None:
    """The text that a lookup gives where the key is missing: what is assumed of a dictionary that is not known.

    An empty text or a list would say that no more words follow, which another dictionary may add.
    """
    default = given[0] if given else None
    return default.softened() if isinstance(default, TracedText) and default.known and default.flat else None


def _one_of(choices: list[Listed | TracedText]) -> Value:
    """One of several values; None if there are none."""
    return OneOf(choices[:_ITEMS]) if len(choices) > 1 else choices[0] if choices else None


def _grown(values: tuple[Value, ...]) -> bool:
    """Whether values are one list, or texts of which each begins with the shortest."""
    if texts := [one.flat for one in values if isinstance(one, TracedText)]:
        return len(texts) == len(values) and all(one.startswith(min(texts, key=len)) for one in texts)
    return all(one is values[0] for one in values)


def _joined(values: list[Value], depth: int, other: TracedText | None = None) -> Value:
    """What a name stands for behind an undecided condition."""
    first = values[0]
    if all(one is first for one in values[1:]):
        if isinstance(first, Listed):
            first.depth = min(first.depth, depth)
        return first
    rows = list(zip(*[choices_of(one) for one in values], strict=False))
    if all(isinstance(one, OneOf) and len(one.choices) == len(rows) for one in values) and all(map(_grown, rows)):
        grown = [_joined(list(row), depth) for row in rows]
        return _one_of([one for one in grown if isinstance(one, (Listed, TracedText))])
    choices = [choice for one in values for choice in choices_of(one)]
    commands = [one for one in choices if isinstance(one, Listed) or (isinstance(one, TracedText) and _is_command(one))]
    for one in commands:
        if isinstance(one, Listed):
            one.depth = depth
    if len(commands) >= len(values) and any(isinstance(one, (Listed, OneOf)) for one in values):
        return _one_of(commands)
    texts = [one for one in values if isinstance(one, TracedText)]
    if len(texts) == len(values):
        if all(one.flat == texts[0].flat and one.known for one in texts):
            return texts[0]
        last = texts[-1]
        low, high = min(one.flat for one in texts), max(one.flat for one in texts)
        start = next((at for at, pair in enumerate(zip(low, high, strict=False)) if pair[0] != pair[1]), len(low))
        rest = max(texts, key=len).cut(start)
        apart = " " not in last.flat[:start] or (start < len(low) and len(commands) == len(values))
        if apart and any(isinstance(one, TracedText) for one in commands):
            return _one_of([one for one in choices if isinstance(one, TracedText)])
        if " " not in last.flat[:start]:
            return other or TracedText((unknown(last.shown, last.span()),))
        # a command that is longer on one side: what a shell would make of a variable that is not known
        more = " " * rest.flat[:1].isspace() + MORE
        return TracedText.join((texts[0].cut(0, start), TracedText.of(more, rest.span() or last.span())))
    mappings = [one for one in values if isinstance(one, Mapping) and not one.environment]
    if len(mappings) == len(values):
        same = {name: one for name, one in mappings[0].values.items() if all(one is more.values.get(name) for more in mappings)}
        return Mapping({**same, MORE: None}, keys={**mappings[0].keys}, depth=depth, perhaps={MORE})
    if any(isinstance(one, (Function, Mapping)) for one in values):
        return next(one for one in values if isinstance(one, (Function, Mapping)))
    span = next((one.span() for one in texts), None)
    return other or TracedText((unknown("...", span),))
