"""A Dockerfile's instructions and stages: whose engine an image holds, which release, what it starts and with which variables.

Instructions are read as BuildKit's parser reads them (frontend/dockerfile/parser and frontend/dockerfile/shell).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from servelint.core.launch import ReleaseClaim, Variable, Word
from servelint.core.source import Span
from servelint.core.text import EMPTY, Piece, TracedText, unknown
from servelint.engines import images
from servelint.readers import installs

Lookup = Callable[[str], "TracedText | None"]

_KEYWORDS = frozenset((
    "ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER", "ONBUILD", "RUN",
    "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR",
))  # fmt: skip
_WITH_HEREDOC = frozenset(("ADD", "COPY", "RUN"))
_DIRECTIVE = re.compile(r"#[ \t]*([A-Za-z][A-Za-z0-9]*)[ \t]*=[ \t]*(.+?)[ \t]*$")
_COMMENT_LINE = re.compile(r"[ \t]*#")
_KEYWORD = re.compile(r"[ \t]*(\S+)[ \t]*")
_TEMPLATE = re.compile(r"[ \t]*(?:\{[{%#]|%%|@@)")
_HEREDOC = re.compile(r"(?<![^\s])\d*<<(-?)[ \t]*(?:\"([\w.-]+)\"|'([\w.-]+)'|([\w.-]+))(?![^\s;&|)>])")
_NAME = re.compile(r"[A-Za-z_]\w*|\d+", re.ASCII)
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*|\d+)", re.ASCII)
_OPERATOR = re.compile(r":?[-+?]")
_DEPTH = 16


class Heredoc:
    """A here-document.

    Attributes:
        name: The word that ends it.
        text: Its lines.
        expands: Whether variables in it are expanded (`<<EOF`, not `<<"EOF"`).
    """

    __slots__ = ("expands", "name", "text")

    def __init__(self, name: str, text: TracedText, expands: bool) -> None:
        self.name = name
        self.text = text
        self.expands = expands


class Instruction:
    """One instruction.

    Attributes:
        keyword: In capitals.
        text: What follows it, without continuations and the comments between them.
        site: From the keyword to the end of its last line.
        heredocs: Its here-documents.
        raw: The text with its here-documents, as the shell of a RUN gets it.
        escape: The escape character of the file: a backslash or a backtick.
        cut: Whether the next line is not an instruction: a continuation is missing, and the file cannot be built.
    """

    __slots__ = ("cut", "escape", "heredocs", "keyword", "raw", "site", "text")

    def __init__(
        self, keyword: str, text: TracedText, site: Span | None, heredocs: list[Heredoc], raw: TracedText, escape: str
    ) -> None:
        self.cut = False
        self.escape = escape
        self.keyword = keyword
        self.text = text
        self.site = site
        self.heredocs = heredocs
        self.raw = raw


def instructions(text: TracedText) -> list[Instruction]:
    """Split a Dockerfile into instructions. A line that is not an instruction marks the instruction before it as cut short."""
    return _Lines(text).read()


class _Lines:
    def __init__(self, text: TracedText) -> None:
        self.text = text
        self.flat = text.flat
        self.at = 0
        self.escape = "\\"

    def line(self) -> tuple[int, int] | None:
        """The next line's start and end, its line end left out."""
        if self.at >= len(self.flat):
            return None
        start = self.at
        end = self.flat.find("\n", start)
        end = len(self.flat) if end == -1 else end
        self.at = end + 1
        return start, end - (self.flat[end - 1 : end] == "\r" and end > start)

    def read(self) -> list[Instruction]:
        self.directives()
        continued = re.compile(rf"(?:[^{re.escape(self.escape)}]|^)({re.escape(self.escape)})[ \t]*$")
        found: list[Instruction] = []
        while (line := self.line()) is not None:
            start, end = line
            if not self.flat[start:end].strip() or _COMMENT_LINE.match(self.flat, start, end):
                continue
            if _TEMPLATE.match(self.flat, start, end):
                continue
            parts: list[TracedText] = []
            last = end
            while (more := continued.search(self.flat[start:end])) is not None:
                parts.append(self.text.cut(start, start + more.start(1)))
                if (following := self.following()) is None:
                    break
                start, end = following
                last = end
            else:
                parts.append(self.text.cut(start, end))
            if (instruction := self.instruction(TracedText.join(parts), line[0], last)) is not None:
                found.append(instruction)
            elif found:
                found[-1].cut = True
        return found

    def directives(self) -> None:
        while (line := self.line()) is not None:
            match = _DIRECTIVE.match(self.flat[line[0] : line[1]].lstrip())
            if match is None:
                self.at = line[0]
                return
            if match.group(1).lower() == "escape" and match.group(2) in ("\\", "`"):
                self.escape = match.group(2)

    def following(self) -> tuple[int, int] | None:
        """The line that a continuation continues with: comments and blank lines are passed over."""
        while (line := self.line()) is not None:
            if self.flat[line[0] : line[1]].strip() and not _COMMENT_LINE.match(self.flat, *line):
                return line
        return None

    def instruction(self, joined: TracedText, start: int, end: int) -> Instruction | None:
        match = _KEYWORD.match(joined.flat)
        keyword = match.group(1).upper() if match is not None else ""
        if match is None or keyword not in _KEYWORDS:
            return None
        rest = joined.cut(match.end()).strip()
        start += len(self.flat[start:end]) - len(self.flat[start:end].lstrip())
        site = self.text.extent(start, end)
        heredocs: list[Heredoc] = []
        body = self.at
        if keyword in _WITH_HEREDOC and "<<" in rest.flat:
            heredocs = self.heredocs(rest)
        raw = TracedText.join((rest, TracedText.of("\n"), self.text.cut(body, self.at))) if heredocs else rest
        return Instruction(keyword, rest, site, heredocs, raw, self.escape)

    def heredocs(self, rest: TracedText) -> list[Heredoc]:
        found: list[Heredoc] = []
        for match in _HEREDOC.finditer(rest.flat):
            name = match.group(2) or match.group(3) or match.group(4)
            tabs = "\t*" if match.group(1) else ""
            close = re.compile(rf"^{tabs}{re.escape(name)}\r?$", re.MULTILINE).search(self.flat, self.at)
            if close is None:
                continue
            text = self.text.cut(self.at, close.start())
            if tabs:
                text = text.sub(re.compile(r"^\t+", re.MULTILINE), lambda _: EMPTY)
            found.append(Heredoc(name, text, expands=match.group(4) is not None))
            self.at = min(close.end() + 1, len(self.flat))
        return found


# -- words


def words(text: TracedText, escape: str = "\\") -> list[TracedText]:
    """The words of an instruction, at white space outside of quotes; quotes and variables are left as they are."""
    flat = text.flat
    found: list[TracedText] = []
    at = 0
    start: int | None = None
    quote = ""
    while at < len(flat):
        char = flat[at]
        if quote:
            at += char == escape and quote == '"'
            quote = "" if char == quote else quote
        elif char.isspace():
            if start is not None:
                found.append(text.cut(start, at))
            start = None
            at += 1
            continue
        elif char in "'\"":
            quote = char
        elif char == escape:
            at += 1
        start = at if start is None else start
        at += 1
    if start is not None:
        found.append(text.cut(start, at))
    return found


def expand(text: TracedText, lookup: Lookup, escape: str = "\\", depth: int = 0) -> TracedText:
    """A word's value: quotes and escapes removed, variables replaced. One that the lookup does not know is unknown."""
    flat = text.flat
    parts: list[TracedText] = []
    at = done = 0
    quoted = False
    while at < len(flat):
        char = flat[at]
        if char == "'" and not quoted:
            close = flat.find("'", at + 1)
            close = len(flat) if close == -1 else close
            parts += [text.cut(done, at), text.cut(at + 1, close)]
            at = done = close + 1
        elif char == '"':
            parts.append(text.cut(done, at))
            quoted = not quoted
            at = done = at + 1
        elif char == escape:
            if quoted and flat[at + 1 : at + 2] not in ('"', "$", escape):
                at += 2
                continue
            parts += [text.cut(done, at), text.cut(at + 1, at + 2)]
            at = done = at + 2
        elif char == "$":
            end, value = _reference(text, at, lookup, escape, depth)
            if end > at:
                parts += [text.cut(done, at), value]
                done = end
            at = max(end, at + 1)
        else:
            at += 1
    return TracedText.join([*parts, text.cut(done)])


def replace(text: TracedText, lookup: Lookup) -> TracedText:
    """The text with the variables that the lookup knows; quotes, escapes and other variables stay as they are written."""
    flat = text.flat
    parts: list[TracedText] = []
    done = 0
    at = flat.find("$")
    while at != -1:
        end, value = _reference(text, at, lookup, "\\", 0)
        if end > at and value.known and not flat.startswith("\\", at - 1):
            parts += [text.cut(done, at), value]
            done = end
        at = flat.find("$", max(end, at + 1))
    return TracedText.join([*parts, text.cut(done)])


def _reference(text: TracedText, at: int, lookup: Lookup, escape: str, depth: int) -> tuple[int, TracedText]:
    """The end and the value of the reference at an offset; (at, EMPTY) if there is none."""
    flat = text.flat
    if (plain := _NAME.match(flat, at + 1)) is not None:
        known = lookup(plain.group())
        return plain.end(), _unknown(text.cut(at, plain.end()), plain.group()) if known is None else known
    braced = _REFERENCE.match(flat, at)
    close = _closing(flat, braced.end()) if braced is not None and depth < _DEPTH else -1
    if braced is None or close == -1:
        return at, EMPTY
    whole, name = text.cut(at, close + 1), braced.group(1)
    known = lookup(name)
    if flat[braced.end()] == "}":
        return close + 1, _unknown(whole, name) if known is None else known
    operator = _OPERATOR.match(flat, braced.end())
    if operator is None:
        return close + 1, _unknown(whole, name)
    operand = text.cut(operator.end(), close)
    given = known is not None and not (operator.group()[0] == ":" and known.value == "")
    if operator.group()[-1] == "+":
        if known is None:
            other = expand(operand, lookup, escape, depth + 1)
            return close + 1, TracedText((unknown(whole.shown, whole.span(), shown="", perhaps=other),))
        return close + 1, expand(operand, lookup, escape, depth + 1) if given else EMPTY
    if known is not None and given:
        return close + 1, known
    if operator.group()[-1] == "?":
        return close + 1, _unknown(whole, name)
    default = expand(operand, lookup, escape, depth + 1).softened()
    return close + 1, default if default.pieces else TracedText((Piece("", whole.span(), assumed=True),))


def _unknown(whole: TracedText, name: str) -> TracedText:
    return TracedText((unknown("${" + name + "}", whole.span()),))


def _closing(flat: str, at: int) -> int:
    """The offset of the brace that closes a `${` whose name ends at an offset, or -1."""
    depth = 1
    while at < len(flat):
        if flat[at] == "{" and flat[at - 1] == "$":
            depth += 1
        elif flat[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1


Given = dict[str, "TracedText | None"]

_OPTION = re.compile(r"--([a-z]+)(?:=|$)")
_ASSIGNMENT = re.compile(r"[^=\s]+=")
_SHELL = ("/bin/sh", "-c")


class Command:
    """An ENTRYPOINT or CMD as words.

    Attributes:
        words: The words, with those of the shell in front.
        site: The instruction.
        exec: Whether it is a JSON array, not a text for the shell.
        cut: Whether a missing continuation keeps the rest of it from the image.
    """

    __slots__ = ("cut", "exec", "site", "words")

    def __init__(self, words: list[Word], site: Span | None, exec: bool, cut: bool) -> None:
        self.cut = cut
        self.words = words
        self.site = site
        self.exec = exec


class Step:
    """A COPY, ADD or RUN of a stage, which may bring a file into the image.

    Attributes:
        instruction: The instruction.
        folder: The working folder. Unless it is absolute it starts at the base image's, which is unknown.
        values: The variables at that point.
    """

    __slots__ = ("folder", "instruction", "values")

    def __init__(self, instruction: Instruction, folder: str, values: dict[str, TracedText]) -> None:
        self.instruction = instruction
        self.folder = folder
        self.values = values


class Stage:
    """One stage, as an image that it would make.

    Attributes:
        number: Its index among the stages.
        name: In lower case, "" if it has none.
        parent: The stage of this file that it is made from.
        reference: The image that its first ancestor is made from.
        origin: What the name of that image says.
        image: The engine, its release, and the program that the image starts if the file names none.
        claims: Engine -> release, as the image or an installer says it.
        env: The variables that it sets. All may be overridden where it is run.
        entrypoint: Of this file, None for the image's own.
        cmd: Likewise.
        shell: The words in front of a command that is a text.
        folder: The working folder.
        args: The build arguments.
        steps: What may bring files into the image, in order.
        copies: Numbers of the stages that it takes files from.
        cloned: Engine -> release of its own repository that is checked out here, or in a stage that files come from.
    """

    __slots__ = (
        "args", "claims", "cloned", "cmd", "cmd_set", "copies", "entrypoint", "env", "folder", "image", "name", "number",
        "origin", "parent", "reference", "shell", "steps",
    )  # fmt: skip

    def __init__(self, number: int, name: str, reference: TracedText, parent: Stage | None) -> None:
        self.number = number
        self.name = name
        self.parent = parent
        self.reference: TracedText = parent.reference if parent is not None else reference
        self.origin: images.Image = parent.origin if parent is not None else images.identify(reference)
        self.image: images.Image = parent.image if parent is not None else self.origin
        self.claims: dict[str, ReleaseClaim] = dict(parent.claims if parent is not None else self.image.claims)
        self.env: dict[str, Variable] = dict(parent.env) if parent is not None else {}
        self.entrypoint: Command | None = parent.entrypoint if parent is not None else None
        self.cmd: Command | None = parent.cmd if parent is not None else None
        self.cmd_set = False
        self.shell: list[Word] = parent.shell if parent is not None else [Word(TracedText.of(word)) for word in _SHELL]
        self.folder: str = parent.folder if parent is not None else ""
        self.args: dict[str, TracedText] = {}
        self.steps: list[Step] = []
        self.copies: set[int] = set()
        self.cloned: dict[str, ReleaseClaim] = dict(parent.cloned) if parent is not None else {}

    def value(self, name: str) -> TracedText | None:
        """The value of a variable while the image is built, None if it is not known."""
        variable = self.env.get(name)
        return variable.value if variable is not None else self.args.get(name)


def _keep(args: dict[str, TracedText], name: str, value: TracedText | None) -> None:
    """Note the value of a build argument. An empty one (`ARG M=`) is there for `--build-arg` to fill: it is not known."""
    if value is not None and value.flat:
        args[name] = value
    elif value is not None:
        args.pop(name, None)


def chosen(found: list[Stage], target: str | None) -> Stage | None:
    """The stage of a name or a number, else the last; None if there is none."""
    if target is not None:
        wanted = target.lower()
        named = [one for one in found if one.name == wanted]
        found = named or [one for one in found if str(one.number) == wanted]
    return found[-1] if found else None


def earlier(found: list[Stage], name: str | None) -> Stage | None:
    """The stage of some that `--from` names, by name or number."""
    return next((one for one in found if name and name.lower() in (one.name, str(one.number))), None)


def stages(text: TracedText, given: Given | None = None, contexts: dict[str, TracedText] | None = None) -> list[Stage]:
    """Read all stages, in order.

    Args:
        text: The Dockerfile.
        given: The build arguments that are set from outside; None for an unknown value.
        contexts: Images that a build gives names to, which FROM may use (`--build-context`).
    """
    return _Build(given or {}, contexts or {}).run(instructions(text))


class _Build:
    """One pass over the instructions."""

    def __init__(self, given: Given, contexts: dict[str, TracedText]) -> None:
        self.given = given
        self.contexts = contexts
        self.globals: dict[str, TracedText] = {}
        self.stages: list[Stage] = []

    def run(self, found: list[Instruction]) -> list[Stage]:
        handlers = {
            "ARG": self.arg, "ENV": self.env, "RUN": self.install, "COPY": self.copy, "ADD": self.copy, "SHELL": self.shell,
            "WORKDIR": self.workdir, "ENTRYPOINT": self.entrypoint, "CMD": self.cmd,
        }  # fmt: skip
        for instruction in found:
            if instruction.keyword == "FROM":
                self.begin(instruction)
            elif instruction.keyword == "ARG" and not self.stages:
                for name, value in self.arguments(instruction, self.globals.get):
                    _keep(self.globals, name, value)
            elif self.stages and instruction.keyword in handlers:
                handlers[instruction.keyword](self.stages[-1], instruction)
        return self.stages

    def begin(self, instruction: Instruction) -> None:
        found = [expand(word, self.globals.get, instruction.escape) for word in words(instruction.text, instruction.escape)]
        found = [word for word in found if not word.flat.startswith("--")]
        if not found:
            return
        named = (found[0].value or "").lower()
        parent = next((one for one in reversed(self.stages) if one.name and one.name == named), None)
        name = found[2].value or "" if len(found) > 2 and found[1].flat.lower() == "as" else ""
        self.stages.append(Stage(len(self.stages), name.lower(), self.contexts.get(named, found[0]), parent))

    def arguments(self, instruction: Instruction, lookup: Lookup) -> list[tuple[str, TracedText | None]]:
        """Build arguments and their values; None if nothing gives one."""
        found: list[tuple[str, TracedText | None]] = []
        for word in words(instruction.text, instruction.escape):
            name, sign, _ = word.flat.partition("=")
            if name in self.given:
                value = self.given[name]
                found.append((name, value or TracedText((unknown("${" + name + "}", word.span()),))))
            else:
                default = expand(word.cut(len(name) + 1), lookup, instruction.escape).softened() if sign else None
                found.append((name, default))
        return found

    def arg(self, stage: Stage, instruction: Instruction) -> None:
        for name, value in self.arguments(instruction, stage.value):
            _keep(stage.args, name, self.globals.get(name) if value is None else value)

    def env(self, stage: Stage, instruction: Instruction) -> None:
        found = words(instruction.text, instruction.escape)
        if found and _ASSIGNMENT.match(found[0].flat) is None:
            # `ENV NAME several words`
            name = found[0].flat
            rest = instruction.text.cut(len(name)).strip()
            stage.env[name] = Variable(name, expand(rest, stage.value, instruction.escape).softened(), instruction.site)
            return
        added: dict[str, Variable] = {}
        for word in found:
            name, sign, _ = word.flat.partition("=")
            if sign:
                value = expand(word.cut(len(name) + 1), stage.value, instruction.escape)
                added[name] = Variable(name, value.softened(), word.span())
        stage.env.update(added)

    def install(self, stage: Stage, instruction: Instruction) -> None:
        stage.steps.append(self.step(stage, instruction))
        text = instruction.raw
        text = replace(text, stage.value) if "$" in text.flat else text
        stage.cloned.update(installs.checked_out(text, stage.cloned))
        patched = installs.patches(text)
        if patched:
            stage.cloned = {engine: installs.changed(claim) for engine, claim in stage.cloned.items()}
        found = installs.of_layer(text)
        for engine, source in stage.cloned.items():
            own = found.get(engine)
            known = stage.claims.get(engine)
            unknown = own is None and (known is None or known.release is None) and installs.builds(text)
            if (source.release is not None or source.build) and (unknown or (own is not None and own.release is None)):
                found[engine] = source
        for engine, claim in found.items():
            stage.claims[engine] = claim
            if stage.image.engine in (None, engine):
                stage.image = stage.image.holding(engine, claim)
        if patched:
            built = stage.claims.items()
            stage.claims = {engine: claim if claim.build else installs.changed(claim) for engine, claim in built}

    def step(self, stage: Stage, instruction: Instruction) -> Step:
        values = {name: variable.value for name, variable in stage.env.items() if variable.value is not None}
        return Step(instruction, stage.folder, {**stage.args, **values})

    def copy(self, stage: Stage, instruction: Instruction) -> None:
        stage.steps.append(self.step(stage, instruction))
        origin = option(instruction, "from")
        name = expand(origin, self.globals.get, instruction.escape).value if origin is not None else None
        if (found := earlier(self.stages[:-1], name)) is not None:
            stage.copies.add(found.number)
            stage.cloned = {**found.cloned, **stage.cloned}
            built = {engine: claim for engine, claim in found.claims.items() if found.cloned.get(engine) is claim}
            stage.claims = {**built, **stage.claims}

    def shell(self, stage: Stage, instruction: Instruction) -> None:
        if found := array(instruction.text):
            stage.shell = found

    def workdir(self, stage: Stage, instruction: Instruction) -> None:
        path = expand(instruction.text, stage.value, instruction.escape).shown
        stage.folder = posixpath.normpath(posixpath.join(stage.folder, path)) if path else stage.folder

    def entrypoint(self, stage: Stage, instruction: Instruction) -> None:
        stage.entrypoint = self.command(stage, instruction)
        if not stage.cmd_set:
            stage.cmd = None  # an inherited command was meant for the inherited entry point
        stage.image = images.Image(stage.image.engine, stage.image.claim, None, house=stage.image.house)

    def cmd(self, stage: Stage, instruction: Instruction) -> None:
        stage.cmd = self.command(stage, instruction)
        stage.cmd_set = True

    def command(self, stage: Stage, instruction: Instruction) -> Command:
        if (found := array(instruction.text)) is not None:
            return Command(found, instruction.site, True, instruction.cut)
        return Command([*stage.shell, Word(instruction.text)], instruction.site, False, instruction.cut)


def array(text: TracedText) -> list[Word] | None:
    """The words of an instruction that is a JSON array; None for anything else."""
    if not text.flat.startswith("["):
        return None
    from servelint.syntax import json

    node = json.parse(text)
    if isinstance(node, json.JsonFault) or any(item.kind != json.STRING for item in node.items):
        return None  # the shell is given the brackets
    return [Word(item.content if item.content.flat else EMPTY, item.text.span()) for item in node.items]


def option(instruction: Instruction, name: str) -> TracedText | None:
    """The value of an option of an instruction (`--from=build`)."""
    for word in words(instruction.text, instruction.escape):
        match = _OPTION.match(word.flat)
        if match is None:
            return None
        if match.group(1) == name:
            return word.cut(match.end())
    return None
