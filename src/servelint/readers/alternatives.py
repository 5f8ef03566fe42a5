"""The launches of a script, each with the alternatives that undecided conditions of the script make of it."""

from __future__ import annotations

import re
from copy import copy

from servelint.core import bounds
from servelint.core.launch import Branch, Launch, Word
from servelint.core.run import Run, TooMuchWork, current
from servelint.core.text import HOLE, TracedText, unknown
from servelint.engines.registry import ENGINES
from servelint.syntax import placeholders
from servelint.syntax.shell.words import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.source import Span
    from servelint.syntax.shell.branches import Decision, World
    from servelint.syntax.shell.evaluate import Invocation
    from servelint.syntax.shell.state import Key

    Site = tuple[int, ...]
    Note = Callable[[Invocation, list[Launch]], None]

_DEVICES = re.compile(r"(?:CUDA|HIP|ROCR)_VISIBLE_DEVICES$")
_ENDS_AT_MOST = 20
"""Further runs in which a script that gives up in its plain run is to get to a launch."""
_MORE_ENDS_AT_MOST = 3
"""The same where the script has a launch on which no condition bears: 20 runs of a long library take seconds."""
_PIECES_AT_MOST = 60_000
"""Pieces of text that all runs over one script which look for alternatives may make."""


class Alternatives:
    """The launches of one script.

    Attributes:
        first: Those of the walk that joins branches, each with the place of its command.
        decisions: The conditions that this walk could not decide.
    """

    def __init__(self) -> None:
        self.first: list[tuple[Site, Launch]] = []
        self.decisions: dict[Key, Decision] = {}
        self._wanted: dict[Site, set[Key]] = {}
        self._paths: dict[Site, dict[Key, bool]] = {}
        self._runs: list[tuple[World, dict[Site, list[Launch]]]] = []

    def started(self, world: World | None) -> Note:
        """Give what notes the launches of the commands of one run, in order; the same launch at a place counts once."""
        seen: set[tuple[Site, Span, str, tuple[str, ...]]] = set()
        run: dict[Site, list[Launch]] = {}
        if world is not None:
            self._runs.append((world, run))

        def note(ran: Invocation, new: list[Launch]) -> None:
            site = _site(ran)
            if world is None and (keys := _keys(ran, new)):
                self._paths.setdefault(site, dict(ran.path))
                self._wanted.setdefault(site, set()).update(keys, [key for key, _ in ran.path])
            for launch in new:
                identity = (site[:2], launch.site, launch.engine, tuple([word.shown for word in launch.argv]))
                if identity in seen:
                    continue
                seen.add(identity)
                if world is None:
                    self.first.append((site, launch))
                else:
                    run.setdefault(site, []).append(launch)

        return note

    def concerns(self, ran: Invocation) -> bool:
        """Whether alternatives of a command are looked for."""
        return _site(ran) in self._wanted

    def explore(self, walk: Callable[[World], object], path: str) -> None:
        """Run the script with its undecided conditions decided one way and the other."""
        if not self._wanted:
            return
        wanted = {key for keys in self._wanted.values() for key in keys}
        wanted |= {key for one in list(wanted) for key, _ in self.decisions[one].path}
        launched = {site for site, _ in self.first}
        plain = not launched.issuperset(self._wanted) or not all(self.decisions[key].assumed for key in wanted)
        if not plain and all(self.decisions[key].optional for key in wanted):
            for _, launch in self.first:
                launch.later = lambda: self._explore(walk, path, wanted, plain)
        else:
            self._explore(walk, path, wanted, plain)

    def _explore(self, walk: Callable[[World], object], path: str, wanted: set[Key], plain: bool) -> None:
        from servelint.syntax.shell.branches import explore

        for _, launch in self.first:
            launch.later = None
        around = current()
        steps = around.steps if around is not None else bounds.STEPS_OF_WORLDS.most

        launched = {site for site, _ in self.first}

        def run(world: World) -> bool:
            nonlocal steps
            # the plain run finds launches that the first walk has missed: what other scripts have used does not cost them
            at_least = 0 if world.forced else bounds.STEPS_SOURCED.most
            world.steps = given = max(steps, at_least)
            walk(world)
            whole = world.steps > 0
            steps = max(0, steps - (given - world.steps))
            return whole

        missed = wanted
        most = min(bounds.WORLDS.most, max(1, around.walks) if around is not None else bounds.WORLDS_OF_FILE.most)
        try:
            with Run(path, _PIECES_AT_MOST):  # what these runs reach, the first walk has reported
                missed = explore(self.decisions, wanted, run, most, plain)
                if plain and not any(found for _, found in self._runs):
                    known = bool(self.first) and launched.isdisjoint(self._wanted)
                    start = self._without_its_end(run, _MORE_ENDS_AT_MOST if known else _ENDS_AT_MOST)
                    missed = explore(self.decisions, wanted, run, most, plain, start) if start else missed
        except TooMuchWork:
            self._runs.pop()
        if around is not None:
            around.walks -= len(self._runs)
            around.steps = steps
        missed = {key for key in missed if not self.decisions[key].assumed}
        for site, keys in self._wanted.items():
            self._settle(site, plain, not missed.isdisjoint(keys))

    def _without_its_end(self, run: Callable[[World], bool], most: int) -> dict[Key, bool]:
        """The decisions with which the plain run gets to a launch; empty if none are found in so many runs.

        A script that notes what is missing in one branch, and gives up for it in a later one, ends in a plain run.
        """
        from servelint.syntax.shell.branches import World

        trace = self._runs[0][0].trace if self._runs else {}
        forced: dict[Key, bool] = {}
        waiting = _other_ways(trace, forced)
        for _ in range(most):
            if not waiting:
                break
            world = World({**forced, **waiting.pop(0)}, self.decisions, set(trace))
            whole = run(world)
            if self._runs.pop()[1]:
                return world.forced
            if not whole:
                break
            if len(world.trace) > len(trace):  # it gets further: what else ends it there?
                forced, trace = world.forced, world.trace
                waiting = _other_ways(trace, forced)
        return {}

    def _settle(self, site: Site, plain: bool, missed: bool) -> None:
        """Replace by the launches of one command those of the first walk."""
        rows = [(world, run[site]) for world, run in self._runs if site in run]
        joined = [launch for at, launch in self.first if at == site]
        if plain and not rows:
            return
        main = rows[0][0].forced if plain else self._paths[site]
        found = rows.pop(0)[1] if plain else joined
        for world, others in rows:
            branches = self._branches(world, main)
            for index, other in enumerate(others):
                alike = [launch for launch in found if launch.engine == other.engine]
                if not alike:
                    other.likely = False
                    found.append(other)
                    continue
                target = alike[min(index, len(alike) - 1)]
                if any(_content(other) == _content(one) for one in target.every):
                    continue
                if len(target.others) >= bounds.ALTERNATIVES.most:
                    missed = missed or not plain
                    break
                placeholders.fill(other)
                other.branches = branches
                other.likely = target.likely
                target.others.append(other)
        for launch in found:
            if plain:
                launch.likely = any(one.likely for one in joined) if joined else launch.likely
            if missed:
                for one in launch.every:
                    one.argv = [*one.argv, Word(TracedText((unknown("...", None, ""),)), None, many=True)]
        if plain:
            at = next((index for index, (place, _) in enumerate(self.first) if place >= site), len(self.first))
            self.first = [one for one in self.first if one[0] != site]
            self.first[at:at] = [(site, launch) for launch in found]

    def _branches(self, world: World, main: dict[Key, bool]) -> tuple[Branch, ...]:
        """The conditions with another outcome in a run than in the plain one, or than in the first that gets to a launch."""
        keys = [key for key, way in world.forced.items() if key in world.trace and main.get(key) != way]
        keys += [key for key, way in main.items() if key in world.trace and world.trace[key][0] != way]
        ways = [(key, *world.trace[key]) for key in keys]
        return tuple([Branch(span, way, self.decisions[key].assumed) for key, way, span in ways if span is not None])

    def launches(self) -> list[Launch]:
        """The launches, the first of each place first."""
        return [launch for _, launch in self.first]


def _other_ways(trace: dict[Key, tuple[bool, Span | None]], forced: dict[Key, bool]) -> list[dict[Key, bool]]:
    """What to decide another way than a run did: all branches that it took, then each condition alone, the last first."""
    taken = {key: False for key, (way, _) in trace.items() if way and key not in forced}
    alone = [{key: not trace[key][0]} for key in reversed(trace) if key not in forced]
    return [taken, *alone] if len(taken) > 1 else alone


def _site(ran: Invocation) -> Site:
    """The place of a command, and the places of the calls of the functions around it."""
    return ran.place.start, ran.place.end, *ran.calls


def _keys(ran: Invocation, new: list[Launch]) -> set[Key]:
    """The undecided conditions that make a difference to what a command starts."""
    keys = set(ran.depends)
    if not new:
        return keys if any(not word.text.known for word in ran.words) else set()
    for name, more in ran.env_depends.items():
        if _DEVICES.match(name) or any(name.startswith(ENGINES[launch.engine].variables) for launch in new):
            keys |= more
    return keys


def attach(found: list[Launch], others: list[Launch], branch: Branch) -> None:
    """Add the launches of a run with one condition decided to those of the run that joins its branches."""
    for other in others:
        same = [one for one in found if one.engine == other.engine and one.name == other.name and one.site == other.site]
        other.branches = (branch,)
        if not same:
            other.likely = False
            found.append(other)
        elif len(same[0].others) < bounds.ALTERNATIVES.most and not any(
            _content(other) == _content(one) for one in same[0].every
        ):
            placeholders.fill(other)
            other.likely = same[0].likely
            same[0].others.append(other)


def of_conditions(launch: Launch) -> None:
    """Add the alternatives of a launch that have the options which a condition in the text may leave out.

    That is so of what a template writes (`{% if x %}--option {{ x }}{% endif %}`) and of `${X:+--option}`. A script whose own
    conditions make alternatives has none of these.
    """
    at = 0
    if launch.later is not None or launch.others:
        return
    while at < len(launch.argv) and len(launch.others) < bounds.ALTERNATIVES.most:
        start, first = at, _optional(launch.argv[at])
        at += 1
        if first is None or _OPTION.match(first.flat) is None:
            continue
        texts = [first]
        # the items of a list, each with its own mark: an option, and its values
        while at < len(launch.argv) and (more := _optional(launch.argv[at])) is not None and not more.flat.startswith("-"):
            texts.append(more)
            at += 1
        span = launch.argv[start].text.pieces[0].span
        if span is None:
            continue
        other = copy(launch)
        other.argv = [*launch.argv[:start], *[word for text in texts for word in split(text)], *launch.argv[at:]]
        assumed = not span.text.startswith(("-", "{"))  # a variable, or a program's own condition, which has a default
        other.others, other.branches = [], (Branch(span, True, assumed, chosen=True),)
        launch.others.append(other)


_OPTION = re.compile(rf"--?[A-Za-z][^\s{HOLE}=]*(?:[\s=]|$)")
"""An option whose name is known."""


def _optional(word: Word) -> TracedText | None:
    """The text of a word that stands there or not, where a condition in the text itself leaves it out."""
    piece = word.text.pieces[0] if word.many and len(word.text.pieces) == 1 else None
    if piece is None or piece.perhaps is None or piece.span is None or not piece.perhaps.pieces[:1]:
        return None
    if not piece.perhaps.pieces[0].verbatim:
        return None  # a word that this file does not hold, such as one of a chart
    inside = piece.perhaps.extent()
    if inside is None or inside.source is not piece.span.source:
        return None
    return piece.perhaps if piece.span.start <= inside.start and inside.end <= piece.span.end else None


def _content(launch: Launch) -> tuple[object, ...]:
    image = launch.image.shown if launch.image is not None else None
    env = {name: variable.value.shown for name, variable in launch.env.items() if variable.value is not None}
    return [(word.shown, word.many) for word in launch.argv], env, image, launch.release.release
