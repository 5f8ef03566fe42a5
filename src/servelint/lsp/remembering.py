"""What was found of the launches of a text before it was changed, for those that the change has left alone.

To judge a launch takes longer than to see that it is the one of before: the same words, variables and settings, each character
where the change has moved it.
"""

from __future__ import annotations

from copy import copy

from servelint.checks.model_too_new import names_transformers
from servelint.comments import name_gpus
from servelint.finding import Finding, Related
from servelint.judge import judge
from servelint.kept import Kept
from servelint.launch import Hosting, Launch, ReleaseClaim, Variable, Word
from servelint.lsp.shifting import Standing, differing, moved
from servelint.settings import Settings
from servelint.source import Source, Span
from servelint.text import Piece, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from servelint.shell.files import Opened


class Judged:
    """A launch as it was, and what was found.

    values: what it consists of but for places;  places: offsets of its text, of each place the start and the end
    asked:  the files that it was judged by, and those that were looked for
    """

    __slots__ = ("asked", "findings", "places", "values")

    def __init__(self, walk: Walk, asked: list[Text], findings: list[Finding]) -> None:
        self.values = walk.values
        self.places = walk.places
        self.asked = asked
        self.findings = findings


class Asking:
    """Opens files for a launch. asked: their paths"""

    __slots__ = ("_open", "asked")

    def __init__(self, open: Callable[[Text], Opened | None]) -> None:
        self._open = open
        self.asked: list[Text] = []

    def __call__(self, path: Text) -> Opened | None:
        if all(path.flat != one.flat for one in self.asked):
            self.asked.append(path)
        return self._open(path)


class Memory:
    """Judges the launches of one text after the other, each an edit of the one before."""

    __slots__ = ("_before", "_change", "_kept", "_known", "_new", "_settings", "_source")

    def __init__(self) -> None:
        self._source: Source | None = None
        self._settings: Settings | None = None
        self._known: dict[tuple[str, str], list[Judged]] = {}
        self._new: dict[tuple[str, str], list[Judged]] = {}
        self._before: Source | None = None
        self._change: Change | None = None
        self._kept = Kept()

    def forget(self) -> None:
        """Know nothing of before: something outside of the text has changed."""
        self._source = None

    def begin(self, source: Source, settings: Settings) -> None:
        """Turn to a text."""
        before, self._source = self._source, source
        same = before is not None and settings is self._settings
        same = same and before is not None and names_transformers(before.text) == names_transformers(source.text)
        self._settings = settings
        self._known, self._new = self._new if same else {}, {}
        self._before = before if same else None
        self._change = change = Change(before.text, source.text) if before is not None and same else None
        self._kept.turn(source, change.edit if change is not None else None)
        source.kept = self._kept

    def judge(self, launch: Launch, settings: Settings) -> list[Finding]:
        """As servelint.judge does."""
        name_gpus(launch, settings)
        if launch.source is not self._source:
            return judge(launch, settings)
        findings, asked = self._again(launch)
        if findings is None:
            findings, asked = _judged(launch, settings)
        if all(path.known for path in asked):  # the same path, wherever it stands
            entry = Judged(_walked(launch, asked), asked, [_copied(finding) for finding in findings])
            self._new.setdefault((launch.engine, launch.name), []).append(entry)
        return findings

    def _again(self, launch: Launch) -> tuple[list[Finding] | None, list[Text]]:
        """What was found of the launch before, if it and all that it was judged by is as it was; and the files of that."""
        change, before = self._change, self._before
        if change is None or before is None:
            return None, []
        for entry in self._known.get((launch.engine, launch.name), ()):
            walk = _walked(launch, entry.asked)
            if entry.values == walk.values and change.moves(entry.places, walk.places):
                found = moved(entry.findings, change.standing, before, launch.source)
                if len(found) == len(entry.findings):
                    for finding in found:
                        finding.launch = launch
                    return found, entry.asked
        return None, []


def _judged(launch: Launch, settings: Settings) -> tuple[list[Finding], list[Text]]:
    """The findings of a launch, and the files that were asked for."""
    opens = launch.open
    if opens is None:
        return judge(launch, settings), []
    launch.open = asking = Asking(opens)
    try:
        return judge(launch, settings), asking.asked
    finally:
        launch.open = opens


def _walked(launch: Launch, asked: list[Text]) -> Walk:
    walk = Walk(launch.source)
    walk.launch(launch)
    walk.files(launch, asked)
    return walk


class Change:
    """How a text became another one: a range was replaced.

    standing: of the text before;  lines: whether the number of lines before some of it has changed
    """

    __slots__ = ("_count", "_end", "_lines", "_start", "standing")

    def __init__(self, before: str, after: str) -> None:
        start, end, _ = differing(before, after)
        self._start, self._end = start, end
        self._count = len(after) - len(before) + end - start
        self._lines = "\n" in before[start:end] or "\n" in after[start : start + self._count]
        self._lines = self._lines or "\r" in before[start:end] or "\r" in after[start : start + self._count]
        self.standing = Standing(len(before))
        self.standing.edit(start, end, self._count)

    @property
    def edit(self) -> tuple[int, int, int]:
        """The range that was replaced, and by how many characters."""
        return self._start, self._end, self._count

    def moves(self, before: list[int], after: list[int]) -> bool:
        """Whether it moved places, pairs of offsets, to where they are, without touching one of them."""
        if len(before) != len(after):
            return False
        start, end, by = self._start, self._end, self._count - self._end + self._start
        if self._lines and before and min(before) < end and max(before) > start:
            return False  # what was on one line may be on two
        for index in range(0, len(before), 2):
            first, last = before[index], before[index + 1]
            if last < start:
                if after[index] != first or after[index + 1] != last:
                    return False
            elif first > end:
                if after[index] != first + by or after[index + 1] != last + by:
                    return False
            else:
                return False
        return True


class Walk:
    """Goes through a launch, and through the files that it is judged by."""

    __slots__ = ("_source", "places", "values")

    def __init__(self, source: Source) -> None:
        self._source = source
        self.values: list[object] = []
        self.places: list[int] = []

    def launch(self, launch: Launch) -> None:
        self.values += (launch.engine, launch.name, launch.open_env, launch.likely, launch.folder, launch.gpu)
        self.values += (launch.gpu_count, launch.fragment, len(launch.argv), len(launch.verb))
        owner = launch.owner
        self.values.append((owner.path, owner.text) if owner is not None and owner is not self._source else owner is None)
        self.span(launch.site)
        self.span(launch.gpu_site)
        self.span(launch.cut)
        self.words(launch.argv)
        self.words(launch.verb)
        for variable in launch.env.values():
            self.variable(variable)
        self.claim(launch.release)
        container = launch.container
        if container is not None:
            self.values += (container.gpus, container.reserved, container.open, *container.settings)
            self.text(container.image)
            self.texts(container.settings.values())
            if container.hosting is not None:
                self.hosting(container.hosting)

    def files(self, launch: Launch, paths: list[Text]) -> None:
        for path in paths:
            opened = launch.open(path) if launch.open is not None else None
            self.values += (path.flat, opened is None)
            if opened is not None:
                self.values += (opened.path, opened.own)
                self.text(opened.text)

    def words(self, words: Iterable[Word]) -> None:
        for word in words:
            self.values.append(word.many)
            self.span(word.site)
            self.text(word.text)

    def variable(self, variable: Variable) -> None:
        self.values.append(variable.name)
        self.span(variable.site)
        self.text(variable.value)

    def claim(self, claim: ReleaseClaim) -> None:
        self.values += (claim.release, claim.how, claim.rolling)
        self.span(claim.span)

    def hosting(self, hosting: Hosting) -> None:
        self.values += (hosting.private, hosting.declared, hosting.direct)
        for port in hosting.ports or ():
            self.values += (port.number, port.host, port.exposed)
            self.text(port.text)
        self.values.append(hosting.ports is None)
        self.texts(hosting.mounts or ())
        self.values.append(hosting.mounts is None)
        for probe in hosting.probes:
            self.values += (probe.kind, probe.patience, probe.port, probe.gates)
            self.text(probe.text)
            self.text(probe.site)
        self.text(hosting.network)
        self.text(hosting.restart)

    def texts(self, texts: Iterable[Text]) -> None:
        for text in texts:
            self.text(text)

    def text(self, text: Text | None) -> None:
        if text is None:
            self.values.append(None)
            return
        self.values.append(len(text.pieces))
        for piece in text.pieces:
            self.piece(piece)

    def piece(self, piece: Piece) -> None:
        self.values += (piece.text, piece.verbatim, piece.expression, piece.shown, piece.assumed)
        self.span(piece.span)
        self.span(piece.origin)
        if piece.perhaps is not None:
            self.text(piece.perhaps)

    def span(self, span: Span | None) -> None:
        if span is None:
            self.values.append(None)
        elif span.source is self._source:
            self.places += (span.start, span.end)
        else:  # a file of variables: all of it has to be as it was
            self.values += (span.source.path, span.source.text, span.start, span.end)


def _copied(finding: Finding) -> Finding:
    """A finding of which nothing is taken away later (servelint.masking), and which stays where it is."""
    one = copy(finding)
    one.span = finding.span.fixed
    one.related = [Related(place.span.fixed, place.message) for place in finding.related]
    one.fix = None
    return one
