"""YAML as positioned nodes: parsing by libyaml, offsets by our own hand.

The nodes are PyYAML's. libyaml gives each node's first and last offset; what stands between them (quotes, escapes, folded
lines, block indentation) is aligned here with the value, so that every character of a scalar keeps its place.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator

import yaml

from servelint.core import bounds
from servelint.core.launch import Word
from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.core.text import HOLE, Piece, Text, spend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Node = yaml.nodes.Node
Entries = dict[str, tuple[Node, Node]]

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAGS = {
    yaml.ScalarNode: "tag:yaml.org,2002:str",
    yaml.SequenceNode: "tag:yaml.org,2002:seq",
    yaml.MappingNode: "tag:yaml.org,2002:map",
}


class Loader(_Base):  # type: ignore[misc]
    """PyYAML's without resolvers of paths, of which it has none: to ask for them at every node takes a fifth of the time."""

    # functions that do nothing with their arguments, and that C calls without a frame of Python
    descend_resolver = operator.is_
    ascend_resolver = tuple

    def resolve(self, kind: type[Node], value: str | None, implicit: Any) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            tag: str = super().resolve(kind, value, implicit)
            return tag
        return _TAGS[kind]


_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_SIGNS = ("&", "!")
"""What an anchor and a tag begin with."""
_QUOTED = r"\bs?quote\s*-?\}\}\Z"
_DOUBLED_QUOTE = re.compile("''")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\r?\n|.)", re.DOTALL)
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029", "\n": "", "\r": "",
}  # fmt: skip
_WHITE = (" ", "\t", "\n")
_BYTE_ORDER_MARK = "\ufeff"
_CHARACTERS_AN_ENTRY = 20
"""What it takes to look at one more entry of a mapping: aliases may have a large one looked at again and again."""
_GAP, _PERHAPS = "!servelint/gap", "!servelint/perhaps"
"""The tags that servelint.syntax.template_nodes gives to what a template writes or may leave out."""


def documents(
    source: Source, text: str | None = None, nodes_at_most: bounds.Bound = bounds.YAML_NODES
) -> tuple[list[Node], Problem | None]:
    """The documents of a YAML text, and what stopped the parser, if anything did; earlier documents are kept.

    text: what is read in the place of the source's, if that has blanks where something does not matter

    A text that only its template makes valid YAML (`{{ }}`) is read with holes: see servelint.syntax.templates.
    """
    nodes, problem = _composed(source, source.text if text is None else text, nodes_at_most)
    if text is not None and text is not source.text:
        return nodes, problem
    if "{{" in source.text or "{%" in source.text:
        return _of_template(source, nodes, problem)
    return nodes, problem


def _of_template(source: Source, nodes: list[Node], problem: Problem | None) -> tuple[list[Node], Problem | None]:
    from servelint.syntax import template_mask, template_nodes

    source.mask = template_mask.Mask()
    if problem is None and template_nodes.written_out(nodes, source.text):
        return nodes, None
    mask = template_mask.mask(source.text)
    masked, left = _composed(source, mask.text or "")
    if left is not None and (problem is None or len(masked) < len(nodes)):
        return nodes, problem
    source.mask = mask
    template_nodes.settle(masked, mask, source)
    return masked, left


def _composed(source: Source, text: str, nodes_at_most: bounds.Bound = bounds.YAML_NODES) -> tuple[list[Node], Problem | None]:
    """The documents of a text that has the offsets of a source."""
    nodes: list[Node] = []
    if text.startswith(_BYTE_ORDER_MARK):
        text = "\n" + text[1:]  # libyaml passes it by and counts the characters behind it only
    try:
        refused = _too_much(text, nodes_at_most)
        if refused is not None:
            bound, at = refused
            return nodes, Problem(source.path, bound.message, *source.position(min(at, len(source.text))))
        loader = Loader(text)
        try:
            while loader.check_node():
                node = loader.get_node()
                if node is not None:
                    nodes.append(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = source.position(min(mark.index, len(source.text))) if mark is not None else (1, 1)
        return nodes, Problem(source.path, f"not valid YAML: {error.problem or error.context}", line, column)
    except yaml.reader.ReaderError as error:
        line, column = source.position(min(error.position, len(source.text)))
        return nodes, Problem(source.path, f"not valid YAML: {error.reason}", line, column)
    except RecursionError:
        return nodes, Problem(source.path, bounds.YAML_DEPTH.message)
    except UnicodeEncodeError as error:
        line, column = source.position(error.start)
        return nodes, Problem(source.path, "not valid YAML: a lone surrogate", line, column)
    return nodes, None


def _too_much(text: str, nodes_at_most: bounds.Bound) -> tuple[bounds.Bound, int] | None:
    """The bound that a text passes, and where: to compose its nodes might overflow the stack of libyaml's composer, which ends
    the process, or take all memory."""
    depth_at_most, most = bounds.YAML_DEPTH.most, nodes_at_most.most
    openings = sum([text.count(opening) for opening in ("[", "{", "- ", "? ")])
    # what starts a node: a line, a comma, a colon or an opening
    if openings <= depth_at_most and openings + sum([text.count(sign) for sign in "\n,:"]) <= most:
        return None
    loader = Loader(text)
    depth = nodes = 0
    try:
        while loader.check_event():
            event = loader.get_event()
            if isinstance(event, yaml.NodeEvent):
                nodes += 1
                if nodes > most:
                    return nodes_at_most, _index(event)
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > depth_at_most:
                    return bounds.YAML_DEPTH, _index(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError:
        return None  # the composer stops there as well
    finally:
        loader.dispose()
    return None


def _index(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark is not None else 0


def entries(node: Node | None) -> Entries:
    """key -> (key node, value node) of a mapping, merge keys (`<<`) applied as YAML orders them; {} for anything else."""
    found: Entries = {}
    if not isinstance(node, yaml.MappingNode):
        return found
    spend(_CHARACTERS_AN_ENTRY * len(node.value))
    merged: list[Node] = []
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value == "<<" and not key.style:
                merged.append(value)
            elif key.tag != _GAP:
                found[key.value] = (key, value)
    if merged:
        seen = {id(node)}
        for value in merged:
            _merge(value, found, seen, node.start_mark)
    return found


def _merge(node: Node, found: Entries, seen: set[int], asked: yaml.Mark) -> None:
    """Add what a merge key brings; what is there already wins. `seen` keeps an alias bomb from being unrolled.

    asked: where the mapping stands that has the key
    """
    waiting = [node]
    while waiting:
        if len(seen) > bounds.YAML_MERGES.most:
            bounds.YAML_MERGES.reached(None, at=(asked.line + 1, asked.column + 1))
            break
        node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting = [*node.value, *waiting]
        elif isinstance(node, yaml.MappingNode):
            deeper: list[Node] = []
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if key.value == "<<" and not key.style:
                    deeper.append(value)
                else:
                    found.setdefault(key.value, (key, value))
            waiting = [*deeper, *waiting]


def items(node: Node | None) -> list[Node] | None:
    """The items of a sequence, None for anything else."""
    if not isinstance(node, yaml.SequenceNode):
        return None
    spend(_CHARACTERS_AN_ENTRY * len(node.value))
    return list(node.value)


def is_mapping(node: Node | None) -> bool:
    return isinstance(node, yaml.MappingNode)


def scalar(node: Node | None) -> str | None:
    """The value of a scalar as text; None for a collection and for an empty or null scalar."""
    if not isinstance(node, yaml.ScalarNode) or (not node.style and is_null(node)):
        return None
    value: str = node.value
    return value


def is_null(node: Node | None) -> bool:
    return (
        isinstance(node, yaml.ScalarNode)
        and not node.style
        and (node.tag == "tag:yaml.org,2002:null" or node.value in ("", "~", "null"))
    )


def span(source: Source, node: Node) -> Span:
    """The characters of a node, without anchor and tag, and without what trails a block collection."""
    start, end = node.start_mark.index, node.end_mark.index
    text = source.text if source.mask is None or source.mask.text is None else source.mask.text
    if text[start : start + 1] in _SIGNS:
        match = _PROPERTIES.match(text, start, end)
        start = match.end() if match else start
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    return Span(source, start, end if end > start else start)


def text(source: Source, node: Node) -> Text:
    """The value of a scalar, each character with its place; what a template writes is unknown."""
    if source.mask is None or not isinstance(node, yaml.ScalarNode):
        return _traced(source, node)
    from servelint.syntax import template_nodes, templates

    block = template_nodes.block(source, node, source.mask) if node.style in ("|", ">") and source.mask.rows else None
    found = block or templates.filled(_traced(source, node), source.mask.lookup, script=node.style == "|")
    return templates.unsure(found) if node.tag == _PERHAPS else found


def listed(source: Source, node: Node | None) -> list[Word] | None:
    """The words of a sequence, or of a value that a template writes; None for anything else.

    What a template writes as lines of its own is any number of words; so is a word that it may leave out.
    """
    if isinstance(node, yaml.SequenceNode):
        return [word(source, item, node) for item in node.value if isinstance(item, yaml.ScalarNode)]
    if isinstance(node, yaml.ScalarNode) and source.mask is not None and (found := text(source, node)).flat == HOLE:
        return [Word(found, span(source, node), many=True)]
    return None


def word(source: Source, item: Node, around: Node) -> Word:
    """An item of a list of words."""
    found = text(source, item)
    many = item.tag in (_GAP, _PERHAPS)
    if source.mask is not None and found.flat == HOLE and isinstance(around, yaml.SequenceNode) and around.flow_style:
        # in brackets an action may write the commas as well
        many = many or (source.text[item.start_mark.index] not in "'\"" and re.search(_QUOTED, found.shown) is None)
    return Word(found, span(source, item), many)


def gaps(node: Node | None) -> bool:
    """Whether a template writes entries of a collection that nobody shows, or the whole of it."""
    if isinstance(node, yaml.MappingNode):
        return any(key.tag == _GAP for key, _ in node.value)
    if isinstance(node, yaml.SequenceNode):
        return any(item.tag == _GAP for item in node.value)
    return isinstance(node, yaml.ScalarNode) and (node.tag == _GAP or node.value.startswith(("{{", "{%")))


def _traced(source: Source, node: Node) -> Text:
    if not isinstance(node, yaml.ScalarNode):
        return Text(())
    value: str = node.value
    start, end = node.start_mark.index, node.end_mark.index
    raw = source.text
    if raw[start : start + 1] in _SIGNS:
        match = _PROPERTIES.match(raw, start, end)
        start = match.end() if match else start
    style = node.style
    if style in ("'", '"'):
        start, end = start + 1, end - 1
    if style not in ("|", ">") and raw.startswith(value, start):
        return Text.at(source, start, start + len(value)) if value else Text(())
    if style == '"' and value and value[0] not in _WHITE and value[-1] not in _WHITE and raw.find("\n", start, end) == -1:
        # on one line there is nothing to align
        runs = list(_split(raw, _ESCAPE, start, end))
        if "".join([run for run, _, _ in runs]) == value:
            return Text([Piece(run, Span(source, at, stop), verbatim=len(run) == stop - at) for run, at, stop in runs])
    pieces = list(_aligned(source, value, _tokens(raw, style, start, end), start, end))
    if "".join([piece.text for piece in pieces]) == value:
        return Text(pieces)
    return Text.of(value, Span(source, start, end))


def _tokens(raw: str, style: str | None, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """(text, start, end) for each run of a raw scalar that stands in its value; between them is only white space."""
    at = start
    if style in ("|", ">"):
        at = raw.find("\n", start, end) + 1 or end
    while at < end:
        stop = raw.find("\n", at, end)
        next_line = end if stop == -1 else stop + 1
        stop = end if stop == -1 else stop
        if raw[stop - 1 : stop] == "\r":
            stop -= 1
        while at < stop and raw[at] in " \t":
            at += 1
        if at < stop:
            if style == "'":
                yield from _split(raw, _DOUBLED_QUOTE, at, stop)
            elif style == '"':
                yield from _split(raw, _ESCAPE, at, next_line if raw[stop - 1] == "\\" else stop)
            elif not style:
                yield raw[at:stop].rstrip(" \t"), at, stop
            else:
                yield raw[at:stop], at, stop
        at = next_line


def _split(raw: str, escape: re.Pattern[str], start: int, end: int) -> Iterator[tuple[str, int, int]]:
    at = start
    for match in escape.finditer(raw, start, end):
        if match.start() > at:
            yield raw[at : match.start()], at, match.start()
        yield _unescaped(match.group()), match.start(), match.end()
        at = match.end()
    rest = raw[at:end].rstrip(" \t\r\n")
    if rest:
        yield rest, at, at + len(rest)


def _unescaped(escape: str) -> str:
    if escape == "''":
        return "'"
    if escape[1] in "xuU" and len(escape) > 2:
        code = int(escape[2:], 16)
        return chr(code) if code < 0x110000 else escape
    return _ESCAPES.get(escape[1], escape[1])


def _aligned(source: Source, value: str, tokens: Iterator[tuple[str, int, int]], start: int, end: int) -> Iterator[Piece]:
    done, last = 0, start
    for token, at, stop in tokens:
        found = done
        while not value.startswith(token, found):
            if value[found : found + 1] not in _WHITE:
                return
            found += 1
        if found > done:
            yield Piece(value[done:found], Span(source, last, at))
        yield Piece(token, Span(source, at, stop), verbatim=len(token) == stop - at)
        done, last = found + len(token), stop
    if done < len(value):
        yield Piece(value[done:], Span(source, last, end))
