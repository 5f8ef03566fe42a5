"""What the editor shows of a text beside findings: hovers, completions, notes, lenses, the outline."""

from __future__ import annotations

from lsprotocol import types
from pygls.capabilities import get_capability

from servelint.lsp import checking
from servelint.lsp.analysis import Analysis
from servelint.lsp.documents import Document
from servelint.report.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from servelint.lsp.completion import Item
    from servelint.lsp.server import Server
    from servelint.lsp.symbols import Symbol

_TRIGGERS = ["-", "=", " ", '"', "'", ":", ".", "_"]
_ITEM_KINDS = {
    "option": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "key": types.CompletionItemKind.Field,
    "variable": types.CompletionItemKind.Variable,
    "tag": types.CompletionItemKind.Constant,
}
_SYMBOL_KINDS = {
    "launch": types.SymbolKind.Module,
    "option": types.SymbolKind.Property,
    "variable": types.SymbolKind.Variable,
}


def register(server: Server) -> None:
    offered: list[Item] = []  # what was offered last: the documentation of one is sent when it is looked at

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        from servelint.lsp.hover import hover

        document = _document(server, params.text_document.uri)
        if document is None:
            return None
        analysis, offset = _standing(server, document, params.position)
        found = hover(analysis, offset) if offset is not None else None
        if found is None:
            return None
        place: tuple[int, int] | None = (found.span.start, found.span.end)
        if analysis is not document.analysis:
            place = document.standing.place(found.span.start, found.span.end)
        span = server.positions.range(document.source, *place) if place is not None else None
        formats = get_capability(server.client_capabilities, "text_document.hover.content_format")
        return types.Hover(_markup(formats, found.markdown), span)

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS, resolve_provider=True)
    )
    def completion(params: types.CompletionParams) -> types.CompletionList | None:
        from servelint.lsp.completion import complete

        document = _document(server, params.text_document.uri)
        if document is None:
            return None
        analysis = server.checking.analysis(document)
        offset = server.positions.offset(document.source, params.position)
        offered[:] = complete(analysis, offset, document.launched, server.checking.neighbours(document))
        spans = {(item.span.start, item.span.end): item.span for item in offered}  # nearly always one
        ranges = {place: server.positions.of_span(span) for place, span in spans.items()}
        items = [_item(item, ranges[item.span.start, item.span.end], number) for number, item in enumerate(offered)]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: types.CompletionItem) -> types.CompletionItem:
        number = item.data if isinstance(item.data, int) else -1
        if 0 <= number < len(offered) and offered[number].label == item.label and offered[number].documentation:
            formats = get_capability(
                server.client_capabilities, "text_document.completion.completion_item.documentation_format"
            )
            item.documentation = _markup(formats, offered[number].documentation)
        return item

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        from servelint.lsp.inlay import hints

        document = _document(server, params.text_document.uri)
        if document is None or not _wants(server, document, "inlay-hints"):
            return []
        analysis = server.checking.analysis(document)
        span = server.positions.span(document.source, params.range)
        return [
            types.InlayHint(
                server.positions.position(document.source, one.offset),
                clean(one.text),
                tooltip=clean(one.tooltip),
                padding_left=True,
            )
            for one in hints(analysis, span.start, span.end)
        ]

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def code_lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        from servelint.lsp.lens import lenses

        document = _document(server, params.text_document.uri)
        if document is None or not _wants(server, document, "code-lens"):
            return []
        found = lenses(server.checking.analysis(document))
        return [types.CodeLens(server.positions.of_span(one.span), types.Command(clean(one.title), "")) for one in found]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbols(
        params: types.DocumentSymbolParams,
    ) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
        from servelint.lsp.symbols import symbols

        document = _document(server, params.text_document.uri)
        if document is None:
            return []
        found = symbols(server.checking.analysis(document))
        if server.can("text_document.document_symbol.hierarchical_document_symbol_support"):
            return [_symbol(server, one) for one in found]
        return [
            types.SymbolInformation(
                types.Location(document.uri, server.positions.of_span(one.span)),
                clean(one.name),
                _SYMBOL_KINDS[one.kind],
                container_name=clean(around.name) if around is not None else None,
            )
            for around, one in [pair for top in found for pair in ((None, top), *[(top, child) for child in top.children])]
        ]


def _markup(formats: Sequence[types.MarkupKind] | None, text: str) -> types.MarkupContent | str:
    """Markdown; as plain text to a client that knows no other, and as it stands to one that says nothing of it."""
    if not formats:
        return text
    kind = types.MarkupKind.Markdown if types.MarkupKind.Markdown in formats else types.MarkupKind.PlainText
    return types.MarkupContent(kind, text)


def _document(server: Server, uri: str) -> Document | None:
    """An open text of which more than its findings is known."""
    document = server.documents.get(uri)
    return None if document is None or server.checking.is_large(document) else document


def _wants(server: Server, document: Document, switch: str) -> bool:
    return server.folders.of(document.path).options.switches[switch]


def _standing(server: Server, document: Document, position: types.Position) -> tuple[Analysis, int | None]:
    """What is known of a text, and an offset there: while it cannot be parsed, of what it was when it could be."""
    analysis = server.checking.analysis(document)
    offset = server.positions.offset(document.source, position)
    if document.sound is not None and document.sound is not analysis and checking.broken(analysis):
        return document.sound, document.standing.back(offset)
    return analysis, offset


def _item(item: Item, place: types.Range, number: int) -> types.CompletionItem:
    return types.CompletionItem(
        item.label,
        kind=_ITEM_KINDS[item.kind],
        detail=clean(item.detail) if item.detail else item.detail,
        sort_text=item.sort,
        filter_text=item.new_text,
        text_edit=types.TextEdit(place, item.new_text),
        tags=[types.CompletionItemTag.Deprecated] if item.deprecated else None,
        data=number,
    )


def _symbol(server: Server, one: Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        clean(one.name) or one.kind,
        _SYMBOL_KINDS[one.kind],
        server.positions.of_span(one.span),
        server.positions.of_span(one.selection),
        detail=clean(one.detail),
        children=[_symbol(server, child) for child in one.children] or None,
    )
