"""Where a command stands and what surrounds it."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

from servelint.core.launch import Container, OpenedFile, ReleaseClaim, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.launch import Hosting
    from servelint.syntax.shell.evaluate import Budget

EnvFile = Callable[[str], "dict[str, Variable] | None"]


class Place:
    """Where a command stands and what surrounds it.

    name:       "services.llm", or "" in a script
    env:        the variables that reach the command
    container:  the container that it runs in
    claims:     what the image, or an installer in front of the command, says of an engine's release
    env_file:   reads an env file that a command names; None if it cannot be read
    open_env:   more variables may be set than env has
    files:      opens a file by its path below the folder of the script; None where no script file stands
    open:       the file that a word of the command names, if it is known;  stdin: what the command reads, likewise
    ran:        the written scripts that were run;  budget: the steps that are left for scripts that a script runs
    anchor:     the command that stands for words which all stand elsewhere
    hosting:    tells how the container is run, where that takes longer than to see that it starts no engine
    """

    __slots__ = (
        "anchor", "budget", "claims", "container", "env", "env_file", "files", "hosting", "name", "open", "open_env", "ran",
        "site", "source", "stdin",
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
        open: Callable[[Text], OpenedFile | None] | None = None,
        stdin: Text | None = None,
    ) -> None:
        self.files = files
        self.open = open
        self.stdin = stdin
        self.anchor: Span | None = None
        self.hosting: Callable[[], Hosting | None] | None = None
        self.ran: list[Text] = []
        self.budget: Budget | None = None
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
    ) -> Place:
        """The same place for a command inside this one."""
        place = copy(self)
        place.site, place.env, place.hosting = site, env, None
        place.claims = self.claims if claims is None else claims
        place.open_env = self.open_env if open_env is None else open_env
        return place

    def note_hosting(self, *, direct: bool, starts: bool) -> None:
        """Note how the container is run. direct: its command is the engine's;  starts: it may start one"""
        container = self.container
        if container is None:
            return
        if self.hosting is not None and starts:
            container.hosting = self.hosting()
        if container.hosting is not None:
            container.hosting.direct = direct


def site_of(words: list[Word], place: Place) -> Span:
    """The command's characters; the place's own where its words do not stand one after the other in one file."""
    if place.site is not None:
        return place.site
    spans = [word.site for word in words if word.site is not None and word.site.source is place.source]
    if not spans:
        return place.anchor or Span(place.source, 0, 0)
    return spans[0].to(max(spans, key=_end))


def span_of(words: list[Word]) -> Span | None:
    spans = [word.site for word in words if word.site is not None]
    if not spans or any(span.source is not spans[0].source for span in spans):
        return None
    return min(spans, key=_start).to(max(spans, key=_end))


def _start(span: Span) -> int:
    return span.start


def _end(span: Span) -> int:
    return span.end
