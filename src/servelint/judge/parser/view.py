"""A launch seen by one release: the release's names in messages, the life of options, and names that are spelled alike."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import Catalog, Keys
from servelint.engines.config import Config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from servelint.engines.catalog import Option
    from servelint.judge.parser.violation import Violation

    Part = TypeVar("Part")
    Shared = dict[tuple[object, object], list[tuple[int, int, list[Violation]]]]
    """Part of a launch -> its violations, with the first and the last position of the releases that they hold for."""


class ReleaseView:
    """A launch under a release that the catalog has.

    Each answer that depends on the release narrows `first` and `last`. A release between them that reads the arguments alike
    gets the same answers, so that it is not judged again.

    Attributes:
        config: the launch under that release.
        catalog: the engine's catalog.
        engine: the engine's id.
        record: the engine's record.
        name: the engine's name as people write it.
        release: the name with the release, "vLLM 0.27.1".
        first, last: positions in the catalog of the releases for which every answer so far is the same.
    """

    __slots__ = ("_index", "_shared", "catalog", "config", "engine", "first", "last", "name", "record", "release")

    def __init__(self, config: Config, catalog: Catalog, index: int, shared: Shared | None = None) -> None:
        self.config = config
        self.catalog = catalog
        self._index = index
        self._shared = shared
        self.engine = config.launch.engine
        self.record = ENGINES[self.engine]
        self.name = self.record.name
        self.release = f"{self.name} {config.shown}"
        self.first, self.last = 0, len(catalog.releases) - 1

    @property
    def index(self) -> int:
        """The release's position in the catalog, for an answer that another release may not share."""
        self.first = self.last = self._index
        return self._index

    def each(
        self, parts: Iterable[tuple[object, Part]], judge: Callable[[ReleaseView, Part], list[Violation]]
    ) -> list[Violation]:
        """The violations of parts of the launch: what `judge` finds, or found under another release with the same answers.

        Args:
            parts: each part, with a key that differs where releases differ in what they declare for it.
            judge: finds them.
        """
        shared, index = self._shared, self._index
        found: list[Violation] = []
        if shared is None:
            for _, part in parts:
                found += judge(self, part)
            return found
        first, last = self.first, self.last
        for key, part in parts:
            runs = shared.setdefault((judge, key), [])
            for run in reversed(runs):  # releases are judged one after the other: it is mostly the last
                if run[0] <= index <= run[1]:
                    break
            else:
                self.first, self.last = 0, len(self.catalog.releases) - 1
                ours = judge(self, part)
                run = self.first, self.last, ours
                runs.append(run)
            if run[0] > first:
                first = run[0]
            if run[1] < last:
                last = run[1]
            if run[2]:
                found += run[2]
        self.first, self.last = first, last
        return found

    def run_of(self, runs: Iterable[Sequence[Any]] | None) -> Sequence[Any] | None:
        """The last of some runs of releases, (first position, last position, ...), that has the release; None if none has."""
        found, index = None, self._index
        for run in runs or ():
            if index < run[0]:
                self.last = min(self.last, run[0] - 1)
            elif index > run[1]:
                if run[1] >= self.first:
                    self.first = run[1] + 1
            else:
                self.first, self.last = max(self.first, run[0]), min(self.last, run[1])
                found = run
        return found

    def has_now(self, runs: Iterable[Sequence[Any]] | None) -> bool:
        """Whether the release is within one of some runs of releases."""
        return self.run_of(runs) is not None

    def at_least(self, release: str) -> bool:
        """Whether the release is the given one or later."""
        return self.has_now([(self.catalog.since(release), len(self.catalog.releases) - 1)])

    def find(self, spelling: str) -> Option | None:
        """The option of a spelling (`--port`); None if the release has none."""
        run = self.run_of(self.catalog.lines_of(spelling))
        return self.catalog.option(run[2]) if run is not None else None

    def may_have(self, option: str) -> bool:
        """Whether an option without keys may be set."""
        if self.record.option_variables:
            self.first = self.last = self._index  # a variable may set it, in some releases
        return self.config.operand(option).present is not False

    def life(self, runs: Sequence[Sequence[Any]], among: Iterable[Sequence[Sequence[Any]]] = ()) -> Life:
        """In which other releases something exists. `among`: what is known of releases, () if all of them are."""
        self.run_of(runs)
        return Life(self.catalog, runs, self._index, among)

    def names(self, kind: str) -> list[str]:
        """The names of a kind that the release has in its catalog."""
        return [name for name, runs in self.catalog.names(kind).items() if self.has_now(runs)]

    def keys(self, name: str) -> Keys | None:
        """The keys of a JSON object; None if they are not known. `key` has the body of one."""
        self.run_of(self.catalog.runs_of_object(name))
        return self.catalog.keys(name, self._index)

    def key(self, keys: Keys, name: str) -> dict[str, Any] | None:
        """The body of a key as it is written; None if the release does not know the key."""
        self.run_of(keys.lives(name))
        return keys.get(name)

    def inner(self, name: str, body: dict[str, Any]) -> Keys | None:
        """The keys of an object inside another (`Catalog.inner`)."""
        return self.catalog.inner(name, body, self._index) if "keys" in body else self.keys(name)

    @property
    def checks_fields(self) -> bool:
        """Whether the release certainly checks the values of JSON options against their types."""
        since = self.record.fields_checked_since
        return bool(since) and self.at_least(since)


class Life:
    """In which releases something exists, seen from a release that lacks it.

    Attributes:
        before: position of the last earlier release that has it; None if there is none.
        after: position of the first later release that has it; None if there is none.
        gone: position of the first release after `before` that is known not to have it.
    """

    __slots__ = ("after", "before", "catalog", "gone")

    def __init__(
        self, catalog: Catalog, runs: Sequence[Sequence[Any]], index: int, among: Iterable[Sequence[Sequence[Any]]] = ()
    ) -> None:
        self.catalog = catalog
        ended = [run[1] for run in runs if run[1] < index]
        begins = [run[0] for run in runs if run[0] > index]
        self.before = max(ended) if ended else None
        self.after = min(begins) if begins else None
        self.gone = self.before + 1 if self.before is not None else index
        known = [run for some in among for run in some]
        if known and not any(run[0] <= self.gone <= run[1] for run in known):
            self.gone = min(run[0] for run in known if run[0] > self.gone)

    def written(self, engine: str) -> str:
        """The life in words: "exists from vLLM 0.10.2", "was removed in vLLM 0.18.0", or both."""
        releases = self.catalog.releases
        removed = f"was removed in {engine} {releases[self.gone]}" if self.before is not None else ""
        if self.after is None:
            return removed
        since = releases[self.after]
        return f"{removed} and is back from {since}" if removed else f"exists from {engine} {since}"

    def use(self, engine: str) -> str:
        """Which releases to use instead."""
        last = f"{engine} {self.catalog.releases[self.before]} or earlier" if self.before is not None else ""
        first = f"{engine} {self.catalog.releases[self.after]} or later" if self.after is not None else ""
        return " or ".join([part for part in (first, last) if part])


def similar(name: str, known: Iterable[str], cutoff: float = 0.84) -> str | None:
    """The known name that is spelled most alike, by difflib; None if none reaches the cutoff (0 to 1)."""
    return _similar(name, tuple(known), cutoff)


@lru_cache(maxsize=4096)
def _similar(name: str, known: tuple[str, ...], cutoff: float) -> str | None:
    # most releases know the same names, and an editor asks after each keystroke
    scores = _scores(_plain(name), cutoff)
    # no name is close enough whose length alone differs by more
    least, most = len(name) * cutoff / (2 - cutoff), len(name) * (2 - cutoff) / cutoff
    near = [one for one in known if least <= len(one) <= most]
    alike = [
        (score, plain, one)
        for one in near
        if (score := scores.of(plain := _plain(one)))
        and _same_words(_plain(name), plain, cutoff)
        and not _opposite(_plain(name), plain)
    ]
    return max(alike, key=lambda found: found[:2])[2] if alike else _by_words(name, known)


_OPPOSITES = [{"enable", "disable"}, {"enabled", "disabled"}, {"with", "without"}]


def _opposite(name: str, other: str) -> bool:
    """Whether a name says the contrary of another: `enable-overlap-scheduler` and `disable-overlap-scheduler`."""
    words = zip(name.strip("-").split("-"), other.strip("-").split("-"), strict=False)
    return any({mine, theirs} in _OPPOSITES for mine, theirs in words)


def _by_words(name: str, known: tuple[str, ...]) -> str | None:
    """The only option whose words those of a name abbreviate or spell out, or else the only one that ends in them."""
    if not name.startswith("--"):
        return None
    mine = _plain(name).strip("-").split("-")
    words = {one: _plain(one).strip("-").split("-") for one in known if one.startswith("--") and "-" in one[2:]}
    short = [
        one
        for one, theirs in words.items()
        if len(theirs) == len(mine) and all(map(_abbreviate, mine, theirs)) and set(mine) & set(theirs)
    ]
    found = short or [one for one, theirs in words.items() if len(mine) > 1 and theirs[-len(mine) :] == mine]
    return found[0] if len({_plain(one) for one in found}) == 1 else None


def _abbreviate(one: str, other: str) -> bool:
    """Whether two words are the same, or one abbreviates the other: `seqs` and `sequences`."""
    short, long = sorted((one, other), key=len)
    letters = iter(long)
    return one == other or (len(short) > 2 and short[0] == long[0] and all(letter in letters for letter in short))


@lru_cache(maxsize=65536)
def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _same_words(name: str, other: str, cutoff: float) -> bool:
    """Whether two names are alike in the words in which they differ: a long word in common makes no other word alike."""
    mine, theirs = name.strip("-").split("-"), other.strip("-").split("-")
    left = "".join([word for word in mine if word not in theirs])
    right = "".join([word for word in theirs if word not in mine])
    if not left or not right or left.startswith(right) or right.startswith(left):
        return True
    return _scores(left, cutoff * 0.75).of(right) > 0


_DIGITS = r"\d+"


def misspelt(value: str, known: Iterable[str]) -> str | None:
    """The known value of which another one is a misspelling: a letter or two differ, or stand in another order.

    A value that differs in a number may be a later version of it.
    """
    plain = _plain(value)
    most = 1 if len(plain) < 8 else 2
    found: list[tuple[int, str]] = []
    for one in known:
        other = _plain(one)
        if abs(len(other) - len(plain)) <= most and re.findall(_DIGITS, other) == re.findall(_DIGITS, plain):
            edits = _edits(plain, other, most)
            # of a short value two letters that are exchanged, no other letter
            if edits <= most and (len(plain) > 3 or sorted(plain) == sorted(other)):
                found.append((edits, one))
    return min(found)[1] if found and min(found)[0] else None


def _edits(one: str, other: str, most: int) -> int:
    """How many letters must be added, removed, replaced or exchanged with the next one to make one text of another."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, char in enumerate(one, start=1):
        last, row, older = row, [i], before
        for j, letter in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (char != letter))
            if i > 1 and j > 1 and char == other[j - 2] and one[i - 2] == letter:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        before = last
        if min(row) > most:
            return most + 1
    return row[-1]


class _Scores:
    """How much other names are like one name, by difflib (0 to 1); each is compared once."""

    __slots__ = ("_cutoff", "_known", "_matcher")

    def __init__(self, name: str, cutoff: float) -> None:
        from difflib import SequenceMatcher

        self._matcher = SequenceMatcher(b=name)
        self._cutoff = cutoff
        self._known: dict[str, float] = {}

    def of(self, other: str) -> float:
        """The ratio with another name; 0 below the cutoff."""
        found = self._known.get(other)
        if found is None:
            matcher, cutoff = self._matcher, self._cutoff
            matcher.set_seq1(other)
            near = matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff
            score = matcher.ratio() if near else 0.0
            found = self._known[other] = score if score >= cutoff else 0.0
        return found


@lru_cache(maxsize=512)
def _scores(name: str, cutoff: float) -> _Scores:
    return _Scores(name, cutoff)


def elsewhere(engine: str, spelling: str, value: str) -> bool:
    """Whether another engine takes a value for its option of the same spelling, or for the attention backend."""
    for other in ENGINE_NAMES:
        catalog = catalogs.load(other) if other != engine else None
        if catalog is None:
            continue
        choices = [choice for _, _, option in catalog.spelled(spelling) for choice in option.choices or ()]
        backends = catalog.names("attention-backends") if "attention" in spelling else []
        if value.lower() in [str(choice).lower() for choice in [*choices, *backends]]:
            return True
    return False


def listed(items: Iterable[object], most: int = 8) -> str:
    """A list in words: "a, b or c", or the first items of a long one, "a, b and 3 more"."""
    texts = [_shown(item) for item in items]
    if len(texts) > most + 1:  # "and 1 more" is as long as the last one
        return ", ".join(texts[:most]) + f" and {len(texts) - most} more"
    return " or ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def _shown(item: object) -> str:
    return str(item).lower() if isinstance(item, bool) else str(item)
