"""All that a launch consists of, to tell whether it is the same one after an edit."""

from __future__ import annotations

from servelint.core.launch import Hosting, Launch, ReleaseClaim, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import Piece, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class LaunchWalk:
    """Goes through a launch.

    values: what it consists of but for places;  places: offsets in its source, of each place the start and the end
    """

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
