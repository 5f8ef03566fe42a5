"""YAML as nodes with positions: the only module that knows the YAML library.

ruamel.yaml composes the nodes: its C part (libyaml) where there is one, its Python part elsewhere. Both give each node's first
and last offset; what stands between them (quotes, escapes, folded lines, block indentation) is aligned here with the value, so
that every character of a scalar keeps its place.

A plain scalar without a tag has the tag PLAIN: what it means (`yes`, `0644`, `1_000`) depends on the program that reads the
file, see servelint.syntax.yaml_values.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from itertools import combinations, islice
from weakref import WeakKeyDictionary

from ruamel.yaml.composer import ComposerError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)
from ruamel.yaml.nodes import CollectionNode as CollectionNode
from ruamel.yaml.nodes import MappingNode as MappingNode
from ruamel.yaml.nodes import Node as Node
from ruamel.yaml.nodes import ScalarNode as ScalarNode
from ruamel.yaml.nodes import SequenceNode as SequenceNode
from ruamel.yaml.reader import Reader, ReaderError
from ruamel.yaml.tag import Tag

from servelint.core import bounds
from servelint.core.launch import Word
from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.core.text import HOLE, Piece, TracedText, spend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

    from servelint.syntax.template_yaml import Mask

try:
    from _ruamel_yaml import CParser  # type: ignore[import-not-found]
except ImportError:
    CParser = None

Entries = dict[str, tuple[Node, Node]]

_CORE = "tag:yaml.org,2002:"
PLAIN, STRING, SEQUENCE, MAPPING = "?", _CORE + "str", _CORE + "seq", _CORE + "map"
NULL, BOOL, INT, FLOAT = _CORE + "null", _CORE + "bool", _CORE + "int", _CORE + "float"
GAP = "!servelint/gap"
"""The tag of a scalar that stands for lines that a template writes: an item of a list, a key, or a value."""
PERHAPS = "!servelint/perhaps"
"""The tag of a scalar that a template may leave out."""
_TAGS = {tag: Tag(suffix=tag) for tag in (PLAIN, STRING, SEQUENCE, MAPPING, GAP, PERHAPS)}
_PLAIN, _STRING, _SEQUENCE, _MAPPING, _GAP, _PERHAPS = _TAGS.values()
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
"""The words for null of YAML 1.1 and 1.2, and of every reader."""
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_SIGNS = ("&", "!")
"""What an anchor and a tag begin with."""
_INSIDE_PLAIN = r"(?m:^%.*)|(?<![^\s,\[\]{}])!\S*|(?<=[^\s,\[\]{}\"'])(?:\?|:(?=[^\s,\[\]{}?]))"
"""A colon or a question mark that may stand in a plain scalar; directives and tags, which keep theirs."""
_ENDS_PLAIN = frozenset(("", " ", "\t", "\r", "\n", ",", "?", "[", "]", "{", "}"))
"""What a colon before it ends a plain scalar between brackets, or is refused there by every libyaml."""
_BEFORE_PLAIN = frozenset(("", "[", "{", ",", ":"))
"""Behind these, white space aside, no plain scalar has begun."""
_BETWEEN_BRACKETS = ("while scanning a plain", "while parsing a flow")
"""How the context of an error between brackets begins."""
_READINGS_AT_MOST = 8
_QUOTED = r"\bs?quote\s*-?\}\}\Z"
_DOUBLED_QUOTE = "''"
_ESCAPE = r"(?s)\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\r?\n|.)"
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029", "\n": "", "\r": "",
}  # fmt: skip
_WHITE = (" ", "\t", "\n")
_BYTE_ORDER_MARK = "\ufeff"
_MASKS: WeakKeyDictionary[Source, Mask] = WeakKeyDictionary()
_CHARACTERS_AN_ENTRY = 20
"""What it takes to look at one more entry of a mapping: aliases may have a large one looked at again and again."""


def documents(
    source: Source, text: str | None = None, nodes_at_most: bounds.Bound = bounds.YAML_NODES, lines: str = ""
) -> tuple[list[Node], Problem | None]:
    """Parse a YAML text.

    A text that only its template makes valid YAML (`{{ }}`) is parsed with holes: see servelint.syntax.template_yaml.

    Args:
        source: The file.
        text: A text of the same length to parse instead: blanks stand for what does not matter.
        nodes_at_most: The limit of nodes.
        lines: Pattern of placeholders that stand for whole lines, "" for none.

    Returns:
        The documents, and what stopped the parser, if anything did; earlier documents are kept.
    """
    plain = source.text if text is None else text
    nodes, problem = _composed(source, plain, nodes_at_most)
    if lines or ((text is None or plain.lstrip()[:1] != "{") and ("{{" in plain or "{%" in plain)):
        return _of_template(source, plain, nodes, problem, lines)
    return nodes, problem


def mask_of(source: Source) -> Mask | None:
    """What a template hides in a text that `documents` has read; None for a text without a template."""
    return _MASKS.get(source)


def together(source: Source, *nodes: Node) -> bool:
    """Whether some output of a template has all of some nodes: parts of an `if` and of its `else` are never both there."""
    mask = _MASKS.get(source)
    if mask is None or mask.text is None:
        return True
    places = [start(node) for node in nodes]
    return all(mask.within(one, other) or mask.within(other, one) for one, other in combinations(places, 2))


def _of_template(
    source: Source, text: str, nodes: list[Node], problem: Problem | None, lines: str = ""
) -> tuple[list[Node], Problem | None]:
    from servelint.syntax import template_yaml

    _MASKS[source] = template_yaml.Mask()
    if problem is None and template_yaml.written_out(nodes, text):
        return nodes, None
    mask = template_yaml.masked(text, lines)
    masked, left = _composed(source, mask.text or "")
    if left is not None and (problem is None or len(masked) < len(nodes)):
        return nodes, problem
    _MASKS[source] = mask
    template_yaml.settle(masked, mask, source)
    return masked, left


def _composed(source: Source, text: str, nodes_at_most: bounds.Bound = bounds.YAML_NODES) -> tuple[list[Node], Problem | None]:
    """The documents of a text that has the offsets of a source."""
    if text.startswith(_BYTE_ORDER_MARK):
        # libyaml passes it by and counts the characters behind it only
        marks = len(text) - len(text.lstrip(_BYTE_ORDER_MARK))
        text = "\n" * marks + text[marks:]
    nodes: list[Node] = []
    try:
        try:
            problem = _extend(nodes, source, text, nodes_at_most)
        except MarkedYAMLError:
            nodes.clear()
            problem = _extend_shielded(nodes, source, text, nodes_at_most)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = source.position(min(mark.index, len(source.text))) if mark is not None else (1, 1)
        return nodes, Problem(source.path, f"not valid YAML: {error.problem or error.context}", line, column)
    except ReaderError as error:
        line, column = source.position(min(error.position, len(source.text)))
        return nodes, Problem(source.path, f"not valid YAML: {error.reason}", line, column)
    except UnicodeEncodeError as error:
        line, column = source.position(error.start)
        return nodes, Problem(source.path, "not valid YAML: a lone surrogate", line, column)
    return nodes, problem


def _extend(nodes: list[Node], source: Source, text: str, nodes_at_most: bounds.Bound) -> Problem | None:
    """Add the documents of a text, also those before an error. Returns the limit that stopped it; raises YAMLError."""
    if (refused := _too_much(text, nodes_at_most)) is not None:
        bound, at = refused
        return Problem(source.path, bound.message, *source.position(min(at, len(source.text))), limit=True)
    nodes.extend(_nodes(text))
    return None


def _extend_shielded(nodes: list[Node], source: Source, text: str, nodes_at_most: bounds.Bound) -> Problem | None:
    """Like _extend, for a text that libyaml may refuse although it is valid.

    ruamel.yaml.clib is built on libyaml 0.1.7, which takes no `:` and no `?` inside a plain scalar between brackets
    (`[http://a]`); later versions do, and so do the readers in Go. Other characters stand in for these while it reads.
    """
    free = list(islice((char for char in map(chr, range(0xE000, 0xF900)) if char not in text), 2))
    shields = dict(zip(":?", free, strict=False))
    shielded = re.sub(_INSIDE_PLAIN, lambda match: shields.get(match.group(), match.group()), text)
    for left in reversed(range(_READINGS_AT_MOST)):
        nodes.clear()
        try:
            return _extend(nodes, source, shielded, nodes_at_most)
        except MarkedYAMLError as error:
            at = error.problem_mark.index if error.problem_mark is not None else 0
            between = (error.context or "").startswith(_BETWEEN_BRACKETS)
            if not left or not between or shielded[at : at + 1] not in shields or not _may_be_plain(shielded, at, text):
                raise
            shielded = f"{shielded[:at]}{shields[shielded[at]]}{shielded[at + 1 :]}"
        finally:
            _unshield(nodes, {ord(shield): sign for sign, shield in shields.items()})
    return None


def _may_be_plain(shielded: str, at: int, text: str) -> bool:
    """Whether a colon or a question mark that was refused may stand inside a plain scalar."""
    if shielded[:at].rstrip()[-1:] in _BEFORE_PLAIN:
        return False
    return shielded[at] == "?" or text[at + 1 : at + 2] not in _ENDS_PLAIN


def _unshield(nodes: list[Node], shields: dict[int, str]) -> None:
    """Put the characters back that others stood in for."""
    for node in collections([new_sequence(nodes, 0, 0)]):
        for part in [part for pair in node.value for part in pair] if is_mapping(node) else node.value:
            if isinstance(part, ScalarNode):
                part.value = part.value.translate(shields)


class _Composer(CParser or object):  # type: ignore[misc]
    """The C composer. It has no resolvers of paths, and does not ask for them, which would take a fifth of the time."""

    # functions that do nothing with their arguments, and that C calls without a frame of Python
    descend_resolver = operator.is_
    ascend_resolver = tuple

    def resolve(self, kind: type[Node], _value: str | None, implicit: Any) -> Tag:
        return _resolved(kind, implicit)


def _resolved(kind: type[Node], implicit: Any) -> Tag:
    """The tag of a node that has none in the text. `implicit`, of a scalar: (whether it is plain, whether it is quoted)."""
    if kind is ScalarNode:
        return _PLAIN if implicit[0] else _STRING
    return _SEQUENCE if kind is SequenceNode else _MAPPING


def _nodes(text: str) -> Iterator[Node]:
    """The documents of a text. Raises YAMLError."""
    if CParser is None:
        yield from _of_events(text)
        return
    composer = _Composer(text)
    done = 0
    try:
        while composer.check_node():
            if (node := composer.get_node()) is not None:
                yield node
            done += 1
    except ComposerError:
        # an anchor that is set again: the C composer refuses it, YAML and every other reader do not
        yield from islice(_of_events(text), done, None)
    finally:
        composer.dispose()


def _events(text: str) -> Iterator[Event]:
    """The parser's events of a text. Raises YAMLError."""
    if CParser is None:
        from ruamel.yaml import YAML

        parser = YAML(typ="safe", pure=True)
        parser.version = (1, 1)  # as libyaml reads
        parser.Reader = _Reader
        yield from parser.parse(text)
        return
    composer = _Composer(text)
    try:
        while composer.check_event():
            yield composer.get_event()
    finally:
        composer.dispose()


class _Reader(Reader):
    """The reader of ruamel.yaml, with the line breaks of YAML 1.1, which are libyaml's as well."""

    forward = Reader.forward_1_1


def _of_events(text: str) -> Iterator[Node]:
    """Like _nodes, composed in Python and without recursion."""
    anchors: dict[str, Node] = {}
    unfinished: list[tuple[CollectionNode, list[Node]]] = []
    for event in _events(text):
        if isinstance(event, CollectionEndEvent):
            collection, parts = unfinished.pop()
            collection.end_mark = event.end_mark
            collection.value = list(zip(parts[::2], parts[1::2], strict=True)) if is_mapping(collection) else parts
            if not unfinished:
                yield collection
            continue
        if isinstance(event, DocumentStartEvent):
            anchors = {}
        if not isinstance(event, NodeEvent):
            continue
        found = _of_event(event, anchors)
        if unfinished:
            unfinished[-1][1].append(found)
        if isinstance(event, CollectionStartEvent):
            unfinished.append((found, []))
        elif not unfinished:
            yield found


def _of_event(event: NodeEvent, anchors: dict[str, Node]) -> Any:
    """The node that an event starts. `anchors`: those of the document so far; the node's own is added."""
    if isinstance(event, AliasEvent):
        if event.anchor not in anchors:
            raise ComposerError(None, None, "found undefined alias", event.start_mark)
        return anchors[event.anchor]
    found: Node
    if isinstance(event, ScalarEvent):
        found = ScalarNode(_tag(event, ScalarNode), event.value, event.start_mark, event.end_mark, event.style)
    else:
        kind = MappingNode if isinstance(event, MappingStartEvent) else SequenceNode
        found = kind(_tag(event, kind), [], event.start_mark, None, event.flow_style)  # type: ignore[attr-defined]
    if event.anchor is not None:
        anchors[event.anchor] = found
    return found


def _tag(event: Any, kind: type[Node]) -> Tag | str:
    return _resolved(kind, event.implicit) if event.tag in (None, "!") else event.ctag


def _too_much(text: str, nodes_at_most: bounds.Bound) -> tuple[bounds.Bound, int] | None:
    """The limit that a text passes, and where.

    To compose its nodes might overflow the stack of the C composer, which ends the process, or take all memory.
    """
    depth_at_most, most = bounds.YAML_DEPTH.most, nodes_at_most.most
    openings = sum([text.count(opening) for opening in ("[", "{", "- ", "? ")])
    # what starts a node: a line, a comma, a colon or an opening
    if openings <= depth_at_most and openings + sum([text.count(sign) for sign in "\n,:"]) <= most:
        return None
    depth = nodes = 0
    try:
        for event in _events(text):
            if isinstance(event, NodeEvent):
                nodes += 1
                if nodes > most:
                    return nodes_at_most, _index(event)
            if isinstance(event, CollectionStartEvent):
                depth += 1
                if depth > depth_at_most:
                    return bounds.YAML_DEPTH, _index(event)
            elif isinstance(event, CollectionEndEvent):
                depth -= 1
    except YAMLError:
        return None  # the composer stops there as well
    return None


def _index(event: Event) -> int:
    return event.start_mark.index if event.start_mark is not None else 0


# -- what a node is


def is_mapping(node: Node | None) -> TypeGuard[MappingNode]:
    """Whether a node is a mapping."""
    return isinstance(node, MappingNode)


def is_sequence(node: Node | None) -> TypeGuard[SequenceNode]:
    """Whether a node is a sequence."""
    return isinstance(node, SequenceNode)


def is_collection(node: Node | None) -> TypeGuard[CollectionNode]:
    """Whether a node is a mapping or a sequence."""
    return isinstance(node, CollectionNode)


def is_scalar(node: Node | None) -> TypeGuard[ScalarNode]:
    """Whether a node is a scalar, null included."""
    return isinstance(node, ScalarNode)


def is_null(node: Node | None) -> bool:
    """Whether a node is null, written or left empty."""
    if not isinstance(node, ScalarNode):
        return False
    return node.value in _NULLS if node.ctag is _PLAIN else tag(node) == NULL


def _is_merge(key: ScalarNode) -> bool:
    return key.value == "<<" and (key.ctag is _PLAIN or tag(key) == _CORE + "merge")


def tag(node: Node) -> str:
    """The tag of a node: PLAIN for a plain scalar that has none in the text, STRING for a quoted one."""
    given = node.ctag
    # what libyaml gives is decoded, and ruamel.yaml would decode it again
    return given.suffix or "" if given.handle is None else str(given)


def mark(node: ScalarNode, tag: str) -> None:
    """Give a scalar one of the tags GAP and PERHAPS."""
    node.ctag = _TAGS[tag]


def start(node: Node) -> int:
    """The offset of a node's first character, anchor and tag included."""
    index: int = node.start_mark.index
    return index


def end(node: Node) -> int:
    """The offset behind a node's last character; white space and comments may trail a block collection."""
    index: int = node.end_mark.index
    return index


def column(node: Node) -> int:
    """The column of a node's first character, from 0."""
    column: int = node.start_mark.column
    return column


# -- nodes that no text has


class _Mark:
    """The offset where a node starts or ends."""

    __slots__ = ("column", "index", "line")

    def __init__(self, index: int, line: int = 0, column: int = 0) -> None:
        self.index = index
        self.line = line
        self.column = column


def new_scalar(value: str, start: int, end: int, tag: str = PLAIN) -> ScalarNode:
    """A plain scalar between two offsets."""
    return ScalarNode(_TAGS.get(tag, tag), value, _Mark(start), _Mark(end), None)


def new_sequence(items: list[Node], start: int, end: int) -> SequenceNode:
    """A sequence in brackets between two offsets."""
    return SequenceNode(_SEQUENCE, items, _Mark(start), _Mark(end), flow_style=True)


def new_mapping(pairs: list[tuple[Node, Node]], start: int, end: int) -> MappingNode:
    """A mapping in braces between two offsets."""
    return MappingNode(_MAPPING, pairs, _Mark(start), _Mark(end), flow_style=True)


def move(node: Node, by: int) -> None:
    """Put a node, without those in it, further on in the text."""
    node.start_mark, node.end_mark = _Mark(start(node) + by), _Mark(end(node) + by)


# -- what stands in a node


def entries(node: Node | None) -> Entries:
    """The entries of a mapping: key to (key node, value node), with merge keys (`<<`) applied as YAML orders them; else {}."""
    found: Entries = {}
    if not isinstance(node, MappingNode):
        return found
    spend(_CHARACTERS_AN_ENTRY * len(node.value))
    merged: list[Node] = []
    for key, value in node.value:
        if isinstance(key, ScalarNode):
            if key.value == "<<" and _is_merge(key):
                merged.append(value)
            elif key.ctag is not _GAP:
                found[key.value] = (key, value)
    if merged:
        seen = {id(node)}
        for value in merged:
            _merge(value, found, seen, node.start_mark)
    return found


def field(fields: Entries, key: str) -> Node | None:
    """The value of a key; None where it is missing."""
    return fields[key][1] if key in fields else None


def section(fields: Entries, *path: str) -> Entries:
    """The entries of a mapping some keys down; {} if there is none."""
    for key in path:
        fields = entries(field(fields, key))
    return fields


def _merge(node: Node, found: Entries, seen: set[int], place: Any) -> None:
    """Add the entries of a merge key to `found`; those already there win. `seen` stops alias bombs.

    Args:
        node: The merge key's value.
        found: Gets the entries.
        seen: The ids of the nodes that were merged.
        place: The mark of the mapping that has the key.
    """
    waiting = [node]
    while waiting:
        if len(seen) > bounds.YAML_MERGES.most:
            bounds.YAML_MERGES.reached(None, at=(place.line + 1, place.column + 1))
            break
        node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            waiting = [*node.value, *waiting]
        elif isinstance(node, MappingNode):
            deeper: list[Node] = []
            for key, value in node.value:
                if not isinstance(key, ScalarNode):
                    continue
                if _is_merge(key):
                    deeper.append(value)
                else:
                    found.setdefault(key.value, (key, value))
            waiting = [*deeper, *waiting]


def collections(documents: list[Node]) -> Iterator[CollectionNode]:
    """The collections of some documents, each once, the outer ones first."""
    seen: set[int] = set()
    waiting = list(documents)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, CollectionNode) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        waiting += [part for pair in node.value for part in pair] if is_mapping(node) else node.value


def merge_in_order(documents: list[Node], source: Source) -> None:
    """Make entries() read merge keys as go.yaml.in/yaml v2 does: what a merge key brings replaces the keys before it.

    Everywhere else a key of the mapping itself wins wherever it stands. The nodes are changed in place.
    """
    if "<<" not in source.text:
        return
    for node in filter(is_mapping, collections(documents)):
        kept: list[tuple[Node, Node]] = []
        merges: list[tuple[Node, Node]] = []
        for key, value in node.value:
            if isinstance(key, ScalarNode) and _is_merge(key):
                brought = entries(MappingNode(_MAPPING, [(key, value)], node.start_mark, node.end_mark))
                kept = [pair for pair in kept if not isinstance(pair[0], ScalarNode) or pair[0].value not in brought]
                merges.insert(0, (key, value))
            else:
                kept.append((key, value))
        if merges:
            node.value = [*kept, *merges]


def repeated_key(node: Node) -> ScalarNode | None:
    """The first key of a mapping that an earlier entry of it has as well."""
    if not isinstance(node, MappingNode):
        return None
    keys = [key for key, _ in node.value if isinstance(key, ScalarNode) and key.ctag is not _GAP]
    values = [key.value for key in keys]
    if len(set(values)) == len(values):
        return None
    return next(key for index, key in enumerate(keys) if key.value in values[:index])


def items(node: Node | None) -> list[Node] | None:
    """The items of a sequence, None for anything else."""
    if not isinstance(node, SequenceNode):
        return None
    spend(_CHARACTERS_AN_ENTRY * len(node.value))
    return list(node.value)


def scalar(node: Node | None) -> str | None:
    """The value of a scalar as text; None for a collection and for an empty or null scalar."""
    if not isinstance(node, ScalarNode) or is_null(node):
        return None
    value: str = node.value
    return value


def span(source: Source, node: Node) -> Span:
    """The characters of a node, without anchor and tag, and without what trails a block collection."""
    start, end = node.start_mark.index, node.end_mark.index
    mask = mask_of(source)
    text = source.text if mask is None or mask.text is None else mask.text
    if text[start : start + 1] in _SIGNS:
        match = _PROPERTIES.match(text, start, end)
        start = match.end() if match else start
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    return Span(source, start, end if end > start else start)


def text(source: Source, node: Node, *, verbatim: bool = False) -> TracedText:
    """The value of a scalar, each character with its place; what a template writes is unknown.

    Args:
        source: The file.
        node: The scalar.
        verbatim: Whether braces belong to the program that reads the file, unless only a template makes the file valid YAML.
    """
    mask = mask_of(source)
    if mask is None or not isinstance(node, ScalarNode) or (verbatim and mask.text is None):
        return _traced(source, node)
    from servelint.syntax import template_yaml, templates

    block = template_yaml.block(source, node, mask) if node.style in ("|", ">") and mask.rows else None
    found = block or templates.filled(_traced(source, node), mask.lookup, script=node.style == "|", truth=mask.truth)
    return templates.unsure(found) if node.ctag is _PERHAPS else found


def listed(source: Source, node: Node | None) -> list[Word] | None:
    """The words of a sequence, or of a value that a template writes; None for anything else.

    Lines that a template writes stand for any number of words; so does an optional word.
    """
    if isinstance(node, SequenceNode):
        return [word(source, item, node) for item in written_items(source, node) if isinstance(item, ScalarNode)]
    if isinstance(node, ScalarNode) and mask_of(source) is not None and (found := text(source, node)).flat == HOLE:
        return [Word(found, span(source, node), many=True)]
    return None


def written_items(source: Source, node: SequenceNode) -> list[Node]:
    """The items of a sequence without those that a template writes for each part of an empty value."""
    mask = mask_of(source)
    if mask is None or mask.truth is None:
        return list(node.value)
    return [item for item in node.value if not mask.empty(start(item))]


def word(source: Source, item: Node, around: Node) -> Word:
    """An item of a list of words."""
    found = text(source, item)
    many = item.ctag is _GAP or item.ctag is _PERHAPS
    if found.flat == HOLE and mask_of(source) is not None and isinstance(around, SequenceNode) and around.flow_style:
        # in brackets an action may write the commas as well
        many = many or (source.text[item.start_mark.index] not in "'\"" and re.search(_QUOTED, found.shown) is None)
    return Word(found, span(source, item), many)


def gaps(node: Node | None) -> bool:
    """Whether a template writes entries of a collection, or the whole of it."""
    if isinstance(node, MappingNode):
        return any(key.ctag is _GAP for key, _ in node.value)
    if isinstance(node, SequenceNode):
        return any(item.ctag is _GAP for item in node.value)
    return isinstance(node, ScalarNode) and (node.ctag is _GAP or node.value.startswith(("{{", "{%")))


def _traced(source: Source, node: Node) -> TracedText:
    if not isinstance(node, ScalarNode):
        return TracedText(())
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
        return TracedText.at(source, start, start + len(value)) if value else TracedText(())
    if style == '"' and value and raw.find("\n", start, end) == -1:
        # on one line there is nothing to align
        runs = list(_split(raw, _ESCAPE, start, end))
        if "".join([run for run, _, _ in runs]) == value:
            return TracedText([Piece(run, Span(source, at, stop), verbatim=len(run) == stop - at) for run, at, stop in runs])
    pieces = list(_aligned(source, value, _tokens(raw, style, start, end), start, end))
    if "".join([piece.text for piece in pieces]) == value:
        return TracedText(pieces)
    return TracedText.of(value, Span(source, start, end))


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


def _split(raw: str, escape: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    at = start
    for match in re.compile(escape).finditer(raw, start, end):
        if match.start() > at:
            yield raw[at : match.start()], at, match.start()
        yield _unescaped(match.group()), match.start(), match.end()
        at = match.end()
    if rest := raw[at:end].rstrip(" \t\r\n"):
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
