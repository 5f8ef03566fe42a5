"""What the commands of a script that is edited have started: the same words at the same place start it again.

All that a launch consists of is moved with the parts of the script that it was read from (servelint.kept).
"""

from __future__ import annotations

from copy import copy

from servelint.core import bounds
from servelint.core.source import Source, Span, same_place
from servelint.core.text import METER, Text
from servelint.kept import Kept, Part
from servelint.launch_walk import LaunchWalk
from servelint.syntax.shell.calls import alike, same_claims

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.launch import Launch, Variable
    from servelint.core.source import Segment
    from servelint.readers.place import EnvFile, Place
    from servelint.syntax.shell.files import Opened
    from servelint.syntax.shell.invocation import Invocation


class Opening:
    """Opens the files of a command: those that the script itself knows, else those where the script runs.

    asked: the paths that it was asked for;  found: whether one of them was there
    seen:  the command was looked at: who asks now is not the command
    """

    __slots__ = ("_place", "_ran", "asked", "found", "seen")

    def __init__(self, ran: Invocation, place: Place) -> None:
        self.asked: list[Text] = []
        self.found = self.seen = False
        self.turn(ran, place)

    def turn(self, ran: Invocation, place: Place) -> None:
        """Turn to the same command of the next text."""
        self._ran = ran.open
        self._place = place.open

    def __call__(self, path: Text) -> Opened | None:
        opened = self.look(path)
        if not self.seen:
            self.asked.append(path)
            self.found = self.found or opened is not None
        return opened

    def look(self, path: Text) -> Opened | None:
        opened = self._ran(path)
        return opened if opened is not None or self._place is None else self._place(path)


class Command:
    """A command, and what it has started.

    steps, pieces: what it took to see that
    line_edits: how many edits had changed the number of lines when its places were held against these
    """

    __slots__ = ("_parts", "launches", "line_edits", "opening", "pieces", "ran", "steps")

    def __init__(
        self, ran: Invocation, opening: Opening, launches: list[Launch], steps: int, pieces: float, line_edits: int
    ) -> None:
        self.ran = ran
        self.opening = opening
        self.launches = launches
        self.steps = steps
        self.pieces = pieces
        self.line_edits = line_edits
        self._parts: dict[Source | Segment, tuple[int, int]] | None = None

    def repeats(self, ran: Invocation) -> bool:
        """Whether another one is known to be the same, at the same place of the same parts."""
        mine = self.ran
        if ran.stdin is not None:
            return False
        if mine.likely is not ran.likely or mine.open_env is not ran.open_env or not same_place(mine.lost, ran.lost):
            return False
        return alike(mine.words, ran.words) and alike(mine.env, ran.env) and same_claims(mine.installed, ran.installed)

    def stands(self, source: Source, kept: Kept) -> bool:
        """Whether all that it has started was moved to a text, and no edit has put two places of it on other lines."""
        if self._parts is None:
            walk = _Parts(source)
            for launch in self.launches:
                walk.launch(launch)
            self._parts = walk.parts
        low, high = len(source.text), 0
        for part, (first, last) in self._parts.items():
            if isinstance(part, Source):
                if part.kept is not None:
                    return False  # a place of the text as it was, which nothing has moved
            elif part.source is not source:
                return False
            else:
                low, high = min(low, part.base + first), max(high, part.base + last)
        if kept.breaks(low, high, self.line_edits):
            return False
        self.line_edits = kept.line_edits
        return True


class _Parts(LaunchWalk):
    """parts: those that a launch stands in, each with the first and the last offset of it"""

    __slots__ = ("parts",)

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.parts: dict[Source | Segment, tuple[int, int]] = {}

    def span(self, span: Span | None) -> None:
        if span is not None:
            for part, low, high in span.parts:
                first, last = self.parts.get(part, (low, high))
                self.parts[part] = min(low, first), max(high, last)


class Again:
    """The commands of one script that is edited."""

    __slots__ = ("_kept", "_source")

    def __init__(self, kept: Kept, source: Source) -> None:
        self._kept = kept
        self._source = source

    def known(self, ran: Invocation, place: Place) -> list[Launch] | None:
        """The launches of a command that was there before; None if it has to be looked at. place: of the command"""
        part = ran.site.of
        if not isinstance(part, Part):
            return None
        low, high = ran.site.low, ran.site.high
        for command in part.commands(low, high):
            if not command.repeats(ran) or METER.left <= command.pieces:
                continue
            budget = place.budget
            if budget is not None and budget.left <= command.steps:
                continue
            command.opening.turn(ran, place)
            if any(command.opening.look(path) is not None for path in command.opening.asked):
                continue
            if not command.stands(self._source, self._kept):
                continue
            if budget is not None:
                budget.left -= command.steps
            METER.left -= command.pieces
            part.add_command(low, high, command)
            return [self._moved(launch) for launch in command.launches]
        return None

    def _moved(self, launch: Launch) -> Launch:
        new = copy(launch)
        new.source = self._source
        return new

    def note(self, looked: Look, launches: list[Launch]) -> None:
        """Note what a command has started."""
        site = looked.ran.site
        command = looked.command(launches, self._kept.line_edits) if isinstance(site.of, Part) else None
        if command is not None and isinstance(site.of, Part):
            site.of.add_command(site.low, site.high, command)


class Look:
    """A command that is looked at. place: where it stands;  ran: it;  opening: opens its files"""

    __slots__ = ("_before", "_budget", "_env_file", "_left", "_said", "_scripts", "_steps", "opening", "ran")

    def __init__(self, ran: Invocation, place: Place) -> None:
        self.ran = ran
        self._budget = place.budget  # and not the place, which is given what opens files here
        self._env_file = place.env_file
        self._said = bounds.said()
        self._scripts, self._before = place.ran, len(place.ran)
        self._steps = place.budget.left if place.budget is not None else 0
        self._left = METER.left
        self.opening = Opening(ran, place)

    @property
    def env_file(self) -> EnvFile | None:
        """Reads an env file for it: what hangs on one is not noted."""
        return self._read if self._env_file is not None else None

    def _read(self, path: str) -> dict[str, Variable] | None:
        self.opening.found = True
        return self._env_file(path) if self._env_file is not None else None

    def command(self, launches: list[Launch], line_edits: int) -> Command | None:
        """The command with what it has started; None where that hangs on more than is noted."""
        budget, opening = self._budget, self.opening
        opening.seen = True
        if opening.found or not all(path.known for path in opening.asked):
            return None
        if self.ran.stdin is not None or bounds.said() != self._said or len(self._scripts) != self._before:
            return None
        for launch in launches:
            launch.moves = True
        pieces = self._left - METER.left if METER.left < self._left else 0
        steps = self._steps - budget.left if budget is not None else 0
        return Command(self.ran, opening, [copy(launch) for launch in launches], steps, pieces, line_edits)
