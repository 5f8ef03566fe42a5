"""How far a launch was judged: its release and how it is known, the words without a value, the rules without an answer."""

from __future__ import annotations

from collections import Counter

from servelint.core.numbers import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from servelint.core.source import Span

HOW = ("image", "digest", "pip", "settings", "rolling", "unknown")
"""How a release is known: an image's tag, one with a digest beside it, an installed package, the settings; a tag that moves is
judged as the newest known release; unknown: every release that accepts the command."""

WORD, IMAGE, VARIABLE, ENVIRONMENT, FILE = "word", "image", "variable", "environment", "file"


class Unresolved:
    """A part of a launch whose value no file shows.

    Attributes:
        kind: WORD of the argv; IMAGE of the container; VARIABLE, a value of the environment; ENVIRONMENT, variables of a file
            or script that was not read; FILE, options in a file that was not read.
        text: As listings show it, without secrets.
        span: The characters; None where no file has them.
        why: A sentence.
        matters: Whether the judgement may depend on it; the value of a secret, or of a variable that the engine does not read,
            changes nothing.
    """

    __slots__ = ("kind", "matters", "span", "text", "why")

    def __init__(self, kind: str, text: str, span: Span | None, why: str, *, matters: bool = True) -> None:
        self.kind = kind
        self.text = text
        self.span = span
        self.why = why
        self.matters = matters

    def __repr__(self) -> str:
        return f"Unresolved({self.kind} {self.text!r})"


class Undecided:
    """A rule that may hold, and the facts that it lacks."""

    __slots__ = ("lacks", "rule")

    def __init__(self, rule: str, lacks: list[str]) -> None:
        self.rule = rule
        self.lacks = lacks

    def __repr__(self) -> str:
        return f"Undecided({self.rule}: {', '.join(self.lacks)})"


class Judged:
    """How far one launch was judged.

    Attributes:
        release: The release that it was judged as; None for every release that accepts the command.
        how: One of HOW.
        assumption: A sentence where the release that is named is not in the catalog: what it is judged by; "" elsewhere.
        known: Whether the release is one that servelint knows, or a build between two that it knows.
        checked: Whether servelint knows the options of the release.
        unresolved: In the order of the launch.
        undecided: In the order of the rules; None if they were not requested.
    """

    __slots__ = ("assumption", "checked", "how", "known", "release", "undecided", "unresolved")

    def __init__(
        self,
        release: str | None,
        how: str,
        unresolved: list[Unresolved],
        *,
        assumption: str = "",
        known: bool = True,
        checked: bool = True,
    ) -> None:
        self.known = known
        self.release = release
        self.how = how
        self.assumption = assumption
        self.checked = checked
        self.unresolved = unresolved
        self.undecided: list[Undecided] | None = None

    @property
    def pinned(self) -> bool:
        """Whether one known release is named."""
        return self.how not in ("rolling", "unknown") and self.known

    @property
    def words(self) -> list[Unresolved]:
        """The words of the argv that are not resolved."""
        return [one for one in self.unresolved if one.kind == WORD]

    @property
    def whole(self) -> bool:
        """Whether the release is named and known, the options are checked, and no part that matters is unresolved."""
        return self.pinned and self.checked and not any(one.matters for one in self.unresolved)

    @property
    def open(self) -> bool:
        """Whether something was not judged: not wholly, or a rule stays undecided."""
        return not self.whole or bool(self.unresolved) or bool(self.undecided)

    @property
    def standing(self) -> str:
        """How the release is known, as a summary counts it."""
        if not self.known:
            return f"at an unlisted version judged as {self.release}"
        if self.how == "rolling":
            return f"at a rolling tag judged as {self.release}"
        if self.how == "settings":
            return "at the version of the settings"
        return "at a pinned version" if self.pinned else "of unknown version"


def summary(found: Iterable[Judged], *, hint: bool = False) -> str:
    """Return "4 launches: 2 at a pinned version, 2 of unknown version; 3 words not resolved"; nothing for no launch.

    Args:
        found: The records of the launches.
        hint: Name the option that lists what was not judged.
    """
    every = list(found)
    if not every:
        return ""
    counts = Counter([one.standing for one in every])
    order = ("at a pinned", "at the version", "at a rolling", "at an unlisted", "of unknown")
    ways = sorted(counts, key=lambda way: ([way.startswith(start) for start in order].index(True), way))
    text = f"{counted(len(every), 'launch', 'launches')}: {', '.join([f'{counts[way]} {way}' for way in ways])}"
    kinds = Counter([one.kind for each in every for one in each.unresolved if one.matters])
    unread = kinds[ENVIRONMENT] + kinds[FILE]
    unchecked = sum(not one.checked for one in every)
    parts = [
        f"{counted(kinds[WORD], 'word', 'words')} not resolved" if kinds[WORD] else "",
        f"{counted(kinds[VARIABLE], 'variable', 'variables')} not resolved" if kinds[VARIABLE] else "",
        f"{counted(unread, 'file or script', 'files or scripts')} not read" if unread else "",
        f"{counted(unchecked, 'launch', 'launches')} without a catalog of options" if unchecked else "",
    ]
    parts = [part for part in parts if part]
    if parts:
        text += f"; {', '.join(parts)}"
    listed = bool(parts) or any(not one.pinned for one in every)
    return f"{text} (--verbose lists {'them' if parts else 'more'})" if hint and listed else text


def totals(found: Iterable[Judged]) -> dict[str, int]:
    """Return the numbers of a report: launches by how their release is known, and what was not judged."""
    every = list(found)
    counts = Counter([one.how if one.known else "unlisted" for one in every])
    numbers = {"launches": len(every), "whole": sum(one.whole for one in every)}
    numbers |= {how: counts[how] for how in (*HOW, "unlisted")}
    numbers["unresolved_words"] = sum(len(one.words) for one in every)
    numbers["unresolved"] = sum(len(one.unresolved) for one in every)
    numbers["undecided_rules"] = sum(len(one.undecided or ()) for one in every)
    return numbers
