"""What surrounds a command: where it stands, the variables, the container and the files that it can reach."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile

from servelint.core.launch import Container, Launch, OpenedFile, ReleaseClaim, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.files.siblings import Neighbours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.launch import Runtime
    from servelint.syntax.shell.evaluate import Budget

EnvFile = Callable[[str], "dict[str, Variable] | None"]


class CommandContext:
    """Where a command stands and what surrounds it.

    Attributes:
        source: The file.
        name: "services.llm", or "" in a script.
        site: The characters of the command where its words do not show them.
        env: The variables that reach the command.
        container: The container that it runs in.
        claims: Engine -> release, as the image or an installer in front of the command says it.
        env_file: Reads an env file that a command names; None if it cannot be read.
        open_env: Whether more variables may be set than env has.
        files: Opens a file by its path below the folder of the script; None outside of script files.
        open: Opens the file that a word of the command names, if it is known.
        stdin: What the command reads.
        given: Names of the variables that the command sets for itself, in front of its program, or that its script exports.
        ran: The scripts of this file that were run.
        others: The programs that scripts run beside the engines.
        budget: The steps that are left for scripts that a script runs.
        anchor: The command that stands for words which are all written elsewhere.
        explores: Whether the alternatives of a launch are looked for where a script has undecided conditions.
        inside: The paths of the script files that run each other around the command, the outermost first.
        runtime: Gives how the container is run. It takes longer than to see that it starts no engine.
    """

    __slots__ = (
        "anchor", "budget", "claims", "container", "env", "env_file", "explores", "files", "given", "inside", "name", "open",
        "open_env", "others", "ran", "runtime", "site", "source", "stdin",
    )  # fmt: skip

    def __init__(
        self,
        source: Source,
        name: str = "",
        site: Span | None = None,
        env: dict[str, Variable] | None = None,
        container: Container | None = None,
        claims: dict[str, ReleaseClaim] | None = None,
        env_file: EnvFile | None = None,
        open_env: bool = False,
        files: Callable[[str], Source | None] | None = None,
        open: Callable[[TracedText], OpenedFile | None] | None = None,
        stdin: TracedText | None = None,
    ) -> None:
        self.files = files
        self.open = open
        self.stdin = stdin
        self.given: frozenset[str] = frozenset()
        self.anchor: Span | None = None
        self.runtime: Callable[[], Runtime | None] | None = None
        self.inside: tuple[str, ...] = ()
        self.ran: list[TracedText] = []
        self.others: list[str | None] = []
        self.budget: Budget | None = None
        self.explores = True
        self.source = source
        self.name = name
        self.site = site
        self.env = env or {}
        self.container = container
        self.claims = claims or {}
        self.env_file = env_file
        self.open_env = open_env

    def with_(
        self,
        *,
        site: Span | None,
        env: dict[str, Variable],
        claims: dict[str, ReleaseClaim] | None = None,
        open_env: bool | None = None,
    ) -> CommandContext:
        """The same context for a command inside this one."""
        context = CommandContext(self.source, self.name, site, env, self.container, self.claims if claims is None else claims)
        context.env_file = self.env_file
        context.open_env = self.open_env if open_env is None else open_env
        context.files, context.open, context.stdin = self.files, self.open, self.stdin
        context.given, context.anchor, context.inside = self.given, self.anchor, self.inside
        context.ran, context.others, context.budget, context.explores = self.ran, self.others, self.budget, self.explores
        return context

    def launch(self, engine: str, argv: list[Word], site: Span, verb: tuple[Word, ...] = ()) -> Launch:
        """A launch of an engine in this context.

        Args:
            engine: Id of the engine.
            argv: The words after the program and its verb.
            site: The characters of the launch.
            verb: The program and its verb, () where the image starts it.
        """
        launch = Launch(
            source=self.source,
            engine=engine,
            verb=verb,
            argv=argv,
            site=site,
            name=self.name,
            env=self.env,
            container=self.container,
            release=self.claims.get(engine),
            open_env=self.open_env,
        )
        launch.open = self.open
        return launch

    def note_runtime(self, *, direct: bool, starts: bool, script: bool = False) -> None:
        """Note how the container is run.

        Args:
            direct: Whether its command is the engine's.
            starts: Whether it may start an engine.
            script: Whether a script in it starts the engine.
        """
        container = self.container
        if container is None:
            return
        if self.runtime is not None and starts:
            container.runtime = self.runtime()
        if container.runtime is not None:
            container.runtime.direct, container.runtime.script = direct, script


def site_of(words: list[Word], context: CommandContext) -> Span:
    """The characters of a command; those of the context if its words do not follow each other in one file."""
    if context.site is not None:
        return context.site
    spans = [word.site for word in words if word.site is not None and word.site.source is context.source]
    if not spans:
        return context.anchor or Span(context.source, 0, 0)
    first, last = spans[0], words[0].text.pieces[-1].span if words[0].text.pieces else None
    if last is not None and last.source is first.source and "\n" in first.text and "\n" not in words[0].text.flat:
        first = last  # it begins with the value of a variable, which is set elsewhere
    return first.to(max(spans, key=_end))


def span_of(words: list[Word]) -> Span | None:
    """From the first to the last of some words, None if they stand in several files."""
    spans = [word.site for word in words if word.site is not None]
    if not spans or any(span.source is not spans[0].source for span in spans):
        return None
    return min(spans, key=_start).to(max(spans, key=_end))


def _start(span: Span) -> int:
    return span.start


def _end(span: Span) -> int:
    return span.end


def env_file(neighbours: Neighbours) -> EnvFile:
    """Reads an env file beside the file."""

    def read(path: str) -> dict[str, Variable] | None:
        from servelint.syntax import dotenv

        beside = neighbours.read(path)
        if beside is None:
            return None
        return {name: Variable(name, value, value.span()) for name, value in dotenv.parse(beside).items()}

    return read


def cut_off(lines: list[TracedText]) -> Span | None:
    """The first of the lines behind a command, as far as they start with an option: they are commands of their own."""
    lost = [line.strip().extent() for line in takewhile(lambda line: re.match(r"\s*--[a-z]", line.flat), lines)]
    if not lost or lost[0] is None or lost[-1] is None:
        return None
    return Span(lost[0].source, lost[0].start, lost[-1].end)


def identity(launch: Launch) -> tuple[int, int, str, tuple[str, ...]]:
    """What two launches have in common that one place makes with the same words."""
    return launch.site.start, launch.site.end, launch.engine, tuple([word.shown for word in launch.argv])


def inside(site: Span, line: TracedText) -> Span:
    """A launch's place within the line that makes it: the value of a variable stands elsewhere."""
    own = line.strip().extent()
    if own is None or (site.source is own.source and own.start <= site.start and site.end <= own.end):
        return site
    if site.source is own.source and own.start <= site.start < own.end:
        return Span(own.source, site.start, own.end)
    return own


def named(found: list[Launch]) -> list[Launch]:
    """Leave off the name of a program or recipe that stands for several commands."""
    if len({(launch.site.start, launch.site.end) for launch in found}) > 1:
        for launch in found:
            launch.name = ""
    return found
