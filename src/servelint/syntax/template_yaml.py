"""YAML that only its template makes valid, read from a copy without the template's actions.

The copy (a mask) has the same length and the same line breaks: an action within a line is a run of one character there, and a
line of nothing but actions is blank. What the parsed nodes then lack is put back into them: the text of the actions, a mark on
what may be left out, and an entry where the template writes lines of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

from servelint.core.source import Source, Span
from servelint.core.text import Piece, TracedText
from servelint.syntax import yaml
from servelint.syntax.templates import BARE_ELSE, CLOSE, ELSE, OPEN, REPEATS, VALUE, Action, alone, filled, scan, unfolded
from servelint.syntax.yaml import (
    GAP,
    PERHAPS,
    CollectionNode,
    Entries,
    MappingNode,
    Node,
    ScalarNode,
    is_collection,
    is_mapping,
    is_scalar,
    is_sequence,
)

_INDENT = re.compile(r"\b(n?)indent\s+(\d+)")
_RUN = tuple([chr(0xE000 + number) for number in range(64)])
_INDENTED = re.compile(r"^( *)([^\s].*)$", re.MULTILINE)
_NEAR = 4_000
_RUNS = re.compile("([\ue000-\ue03f])\\1*")
"""What stands for an action in the copy."""
_BRACES = re.compile(r"(?:[&!]\S*\s+)*\{\{")
_COMMENT = re.compile(r"#[^\n]*")
_STARTING = ("command", "args")
"""Keys that say what a container starts."""
_ENTRY = frozenset(("name", "value", "valueFrom"))
_NEAR_GAP = 10_000
_NODES_AT_MOST = 1_000_000


class Gap:
    """A place where a template writes lines that the file does not show.

    Attributes:
        start, end: The action.
        column: The column where its lines start, as far as the action says it.
    """

    __slots__ = ("column", "end", "start")

    def __init__(self, start: int, end: int, column: int) -> None:
        self.start = start
        self.end = end
        self.column = column


class Mask:
    """How a YAML text with a template in it was parsed.

    Attributes:
        text: The copy that was parsed; None if the text is YAML as it stands.
        holes: The actions that the copy shows as runs of a character, in order.
        gaps: Lines that the template writes.
        rows: The lines that are blank in the copy, as (start, end).
        lookup: Gives the value of an expression, or None; None where no values are known.
        truth: Tells whether the condition of an action holds, or None; None where no values are known.
    """

    __slots__ = ("_branches", "_chains", "_groups", "_parents", "_starts", "gaps", "holes", "lookup", "rows", "text", "truth")

    def __init__(self) -> None:
        self.text: str | None = None
        self.holes: list[tuple[int, int]] = []
        self.gaps: list[Gap] = []
        self.rows: list[tuple[int, int]] = []
        self.lookup: Callable[[str], TracedText | None] | None = None
        self.truth: Callable[[str], bool | None] | None = None
        self._chains: list[tuple[str, ...]] = [()]
        self._groups: list[int] = [-1]
        self._starts: list[int] = []
        self._branches: list[int] = []
        self._parents: list[int] = [-1]

    def branch(self, at: int) -> int:
        """The innermost optional part around an offset; 0 outside of all."""
        index = bisect_right(self._starts, at) - 1
        return self._branches[index] if index >= 0 else 0

    def within(self, at: int, outer: int) -> bool:
        """Whether an offset is in the output whenever another one is: no optional part holds only the first."""
        wanted, branch = self.branch(at), self.branch(outer)
        while branch != -1:
            if branch == wanted:
                return True
            branch = self._parents[branch]
        return False

    def around(self, branch: int) -> Iterator[int]:
        """An optional part and those around it, the whole text (0) left out."""
        while branch > 0:
            yield branch
            branch = self._parents[branch]

    def taken(self, branch: int) -> bool | None:
        """Whether an optional part is in the output; None if the values do not tell."""
        answers = [self._holds(self._chains[one]) for one in self.around(branch)]
        return False if False in answers else None if None in answers else True

    def _holds(self, chain: tuple[str, ...]) -> bool | None:
        """Whether the last of an `if` and its `else` is the one that holds."""
        if self.truth is None:
            return None
        answers = [self.truth(action) for action in chain]
        if True in answers[:-1] or answers[-1] is False:
            return False
        return None if None in answers else True

    def empty(self, at: int) -> bool:
        """Whether an offset stands in a part that repeats a value, or writes one, and this value is empty."""
        return any(
            REPEATS.match(self._chains[one][0]) is not None and self.taken(one) is False for one in self.around(self.branch(at))
        )

    def follows_from(self, branch: int, other: int) -> bool:
        """Whether one part is another one, or around it."""
        return branch == 0 or branch in self.around(other)

    def excludes(self, branch: int, other: int) -> bool:
        """Whether two parts are never both in the output: they, or those around them, are parts of one `if`."""
        return any(
            one != two and self._groups[one] == self._groups[two] for one in self.around(branch) for two in self.around(other)
        )

    def has_else(self, branch: int) -> bool:
        """Whether one of the parts that exclude this one has no condition of its own."""
        rivals = [chain for chain, group in zip(self._chains, self._groups, strict=True) if group == self._groups[branch]]
        return any(len(chain) > 1 and BARE_ELSE.fullmatch(chain[-1]) is not None for chain in rivals)

    def enter(self, at: int, parent: int, chain: tuple[str, ...], group: int) -> int:
        """Start an optional part inside another one; its number.

        Args:
            at: Where it starts.
            parent: The part around it.
            chain: Its `if` and each `else` up to its own.
            group: Where the `if` stands.
        """
        self._parents.append(parent)
        self._chains.append(chain)
        self._groups.append(group)
        self.switch(at, len(self._parents) - 1)
        return len(self._parents) - 1

    def switch(self, at: int, branch: int) -> None:
        """Go on in an optional part from an offset."""
        self._starts.append(at)
        self._branches.append(branch)


def masked(text: str, lines: str = "") -> Mask:
    """The mask of a text: the copy that a YAML parser reads, and what it hides.

    lines: pattern of what stands in a line of its own for lines that a program fills in, such as `${ARGS}`; "" for nothing
    """
    found = Mask()
    actions = scan(text)
    if lines:
        actions += [Action(match.start(1), match.end(1), VALUE) for match in re.finditer(lines, text)]
        actions.sort(key=lambda action: action.start)
    rows = alone(text, actions)
    pairs = _pairs(text, actions, rows)
    free: list[Action] = []
    parts: list[str] = []
    done = 0
    for action in actions:
        if action.start < done:
            continue  # inside of a pair
        start, end = action.start, pairs.get(action.start, action.end)
        paired = end != action.end
        row = rows.get(start) or (_line_around(text, start, end) if paired else None)
        if row is None and action.kind == VALUE and _begins(text, action):
            row = (text.rfind("\n", 0, start) + 1, end)
        parts.append(text[done:start])
        if row is not None:
            parts.append(_blank(text[start:end]))
            if not found.rows or found.rows[-1] != row:
                found.rows.append(row)
            if paired or action.kind == VALUE:
                whole = text[start : start + 2] not in ("{{", "{%", "${{") and not paired
                column = _above(text, row[0]) if whole else _column(text[start:end], start - row[0])
                found.gaps.append(Gap(start, end, column))
        elif paired or action.kind == VALUE:
            if paired and _are_items(text, action, end):
                parts.append(_blank(text[start:end]))
                found.gaps.append(Gap(start, end, start))
            else:
                parts.append(_run(text[start:end], len(found.holes)))
                found.holes.append((start, end))
        else:
            parts.append(_blank(text[start:end]))
        if not paired:
            free.append(action)
        done = end
    parts.append(text[done:])
    found.text = _HEADED.sub(_as_content, "".join(parts)) if found.rows else "".join(parts)
    _branches(found, free, text)
    return found


_HEADED = re.compile(
    r"(?m)^(?P<head>[^\n#]*[:\-?][ \t]+(?:[&!]\S+[ \t]+)*[|>][-+]?[ \t]*(?:#[^\n]*)?\r?\n)"
    r"(?P<rows>(?:[ \t]*\r?\n)+)(?=( +)\S)"
)
"""The head of a block scalar, with blank lines behind it and the indentation of the first line that is not blank."""


def _as_content(match: re.Match[str]) -> str:
    """Make content of blank lines in front of a block scalar's first line: YAML refuses those that are longer than its indent.

    What they are is taken from the text itself (`block`).
    """
    indent = len(match.group(3))

    def filled_up(row: str) -> str:
        body = row.rstrip("\r\n")
        return row if len(body) <= indent else " " * indent + "#" * (len(body) - indent) + row[len(body) :]

    return match.group("head") + "".join([filled_up(row) for row in match.group("rows").splitlines(keepends=True)])


def _pairs(text: str, actions: list[Action], rows: dict[int, tuple[int, int]]) -> dict[int, int]:
    """The end of each `{{ if }}...{{ end }}` that stands in one line, by its start."""
    found: dict[int, int] = {}
    opened: list[Action] = []
    for action in actions:
        if action.kind == OPEN:
            opened.append(action)
        elif action.kind == CLOSE and opened:
            opening = opened.pop()
            if rows.get(opening.start) == rows.get(action.start) and text.find("\n", opening.start, action.start) == -1:
                found[opening.start] = action.end
    return found


def _line_around(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The line around a span that stands alone in it."""
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    while end < len(text) and text[end] in " \t\r":
        end += 1
    if (start > 0 and text[start - 1] != "\n") or (end < len(text) and text[end] != "\n"):
        return None
    return start, min(end + 1, len(text))


def _begins(text: str, action: Action) -> bool:
    """Whether an action is the first part of a key's value and other lines follow: `env: {{- toYaml .a | nindent 2 }}`."""
    if "nindent" not in text[action.start : action.end] or text[action.end : action.end + 1] not in ("\n", "\r"):
        return False
    start = text.rfind("\n", 0, action.start) + 1
    line = text[start : action.start].rstrip()
    if not line.endswith(":"):
        return False
    indent = len(line) - len(line.lstrip(" -"))
    for match in _INDENTED.finditer(text, action.end, action.end + _NEAR):
        if not match.group(2).startswith(("#", "{{", "{%")):
            # a list may stand as deep as its key
            return len(match.group(1)) + match.group(2).startswith("- ") > indent
    return False


def _are_items(text: str, action: Action, end: int) -> bool:
    """Whether an `{{ if }}...{{ end }}` writes items of a list in brackets, with the comma before or behind them."""
    line = text[text.rfind("\n", 0, action.start) + 1 : action.start]
    inside = text[action.end : text.rfind("{", action.end, end) - 1].strip()
    return line.count("[") > line.count("]") and (inside.startswith(",") or inside.endswith(","))


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def _run(text: str, number: int) -> str:
    """What stands for an action in the copy."""
    line, broken, rest = text.partition("\n")
    return _RUN[number % len(_RUN)] * len(line) + broken + _blank(rest)


def _column(text: str, column: int) -> int:
    match = _INDENT.search(text)
    if match is None:
        return column
    return int(match.group(2)) + (0 if match.group(1) else column)


def _above(text: str, start: int) -> int:
    """The column of what goes on below a line: of its item or key, and deeper where the key has no value yet."""
    line = text[:start].rstrip().rpartition("\n")[2]
    indent = len(line) - len(line.lstrip())
    return indent + 2 if line.endswith(":") else indent


def _branches(found: Mask, actions: list[Action], text: str) -> None:
    opened: list[tuple[int, Action, list[str]]] = []
    current = 0
    closes = sum([action.kind == CLOSE for action in actions])
    if sum([action.kind == OPEN for action in actions]) > closes:
        return  # an unclosed part tells nothing
    for action in actions:
        if action.kind == OPEN:
            opened.append((current, action, [text[action.start : action.end]]))
            current = current if action.sure else found.enter(action.end, current, tuple(opened[-1][2]), action.start)
        elif action.kind == ELSE and opened and not opened[-1][1].sure:
            outer, opening, chain = opened[-1]
            chain.append(text[action.start : action.end])
            current = found.enter(action.end, outer, tuple(chain), opening.start)
        elif action.kind == CLOSE and opened:
            current = opened.pop()[0]
            found.switch(action.start, current)


# -- the nodes


def written_out(documents: list[Node], text: str) -> bool:
    """Whether `{{` in a text that is YAML as it stands only makes mappings in mappings, so that there is no template."""
    if not _may_start(text):
        return True
    waiting, seen = list(documents), set(map(id, documents))
    while waiting:
        node = waiting.pop()
        if is_mapping(node):
            if node.flow_style and _BRACES.match(text, yaml.start(node)):
                return False
            inner = [part for pair in node.value for part in pair]
        elif is_sequence(node):
            inner = node.value
        else:
            continue
        for part in inner:
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)
    return True


def _may_start(text: str) -> bool:
    """Whether braces stand where a node may start."""
    at = text.find("{{")
    while at != -1:
        before = text[max(0, at - 200) : at].rstrip(" \t")
        if not before or before[-1] in "-:?,[{\r\n" or before.split()[-1][:1] in ("&", "!"):
            return True
        at = text.find("{{", at + 2)
    return False


def settle(documents: list[Node], mask: Mask, source: Source) -> None:
    """Put back into the nodes what the mask hides, in place."""
    settler = _Settler(mask, source)
    for document in documents:
        settler.walk(document)
    settler.place()


class _Settler:
    def __init__(self, mask: Mask, source: Source) -> None:
        self.mask = mask
        self.source = source
        self.masked = mask.text or ""
        self.starts = [start for start, _ in mask.holes]
        self.collections: list[CollectionNode] = []
        self.empty: dict[int, tuple[MappingNode, int]] = {}  # where the colon of a key without a value stands
        self.seen: set[int] = set()

    def walk(self, document: Node) -> None:
        start = yaml.start(document)
        keys = document.value if is_mapping(document) else []
        # a first key that may be left out, where others are not
        mixed = any(not self.mask.within(start, yaml.start(key)) for key, _ in keys)
        waiting = [(document, -1 if mixed else start)]
        while waiting and len(self.seen) < _NODES_AT_MOST:
            node, anchor = waiting.pop()
            if id(node) in self.seen:
                continue
            self.seen.add(id(node))
            if is_scalar(node):
                self.restore(node)
                continue
            if is_collection(node):
                self.collections.append(node)
            if is_mapping(node):
                commands = optional_commands(node, self.mask)
                for index, (key, value) in enumerate(node.value):
                    if not self.mask.within(yaml.start(key), anchor) and not self.chosen(key, commands):
                        self.loosen(value)
                    if is_scalar(value) and not value.value and not value.style:
                        self.empty[self.masked.find(":", yaml.end(key))] = node, index
                    waiting += [(key, yaml.start(key)), (value, yaml.start(key))]
            elif is_sequence(node):
                for item in node.value:
                    if not self.mask.within(yaml.start(item), anchor):
                        self.loosen_item(item)
                    waiting.append((item, yaml.start(item)))

    # -- what may be left out

    def chosen(self, key: Node, commands: list[Node]) -> bool:
        """Whether a key goes with a command that may be left out: a launch of its own (`alternatives`)."""
        branch = self.mask.branch(yaml.start(key))
        starting = is_scalar(key) and key.value in _STARTING
        return starting and any(self.mask.follows_from(self.mask.branch(yaml.start(one)), branch) for one in commands)

    def loosen(self, value: Node) -> None:
        """Mark the value of a key that may be left out."""
        if is_scalar(value):
            self.mark(value)
        elif is_sequence(value):
            for item in value.value:
                self.loosen_item(item)

    def loosen_item(self, item: Node) -> None:
        """Mark an item that may be left out: a word of a list, the value of a variable."""
        if is_scalar(item):
            self.mark(item)
        elif is_mapping(item):
            fields = {key.value: value for key, value in item.value if is_scalar(key)}
            if "name" in fields and _ENTRY.issuperset(fields) and is_scalar(fields.get("value")):
                self.mark(fields["value"])

    def mark(self, scalar: ScalarNode) -> None:
        if scalar.value or scalar.style:
            yaml.mark(scalar, PERHAPS)

    # -- what an action hides

    def restore(self, scalar: ScalarNode) -> None:
        """The text of the actions in a scalar, in place of the runs that stand for them."""
        runs = list(_RUNS.finditer(scalar.value))
        first = bisect_left(self.starts, yaml.start(scalar))
        holes = self.mask.holes[first : bisect_left(self.starts, yaml.end(scalar))]
        if not runs or len(runs) != len(holes):
            return
        parts: list[str] = []
        done = 0
        for run, (start, end) in zip(runs, holes, strict=True):
            parts += [scalar.value[done : run.start()], self.source.text[start:end]]
            done = run.end()
        scalar.value = "".join([*parts, scalar.value[done:]])

    def place(self) -> None:
        """Give each gap to the collection in which it stands."""
        self.collections.sort(key=lambda node: (yaml.start(node), -yaml.end(node)))
        around: list[CollectionNode] = []
        at = 0
        for gap in self.mask.gaps:
            while at < len(self.collections) and yaml.start(self.collections[at]) <= gap.start:
                node = self.collections[at]
                while around and yaml.end(around[-1]) < yaml.end(node):
                    around.pop()
                around.append(node)
                at += 1
            while around and yaml.end(around[-1]) < gap.start:
                around.pop()
            if not self.as_value(gap):
                self.into(gap, self.following(gap, at) or around)

    def following(self, gap: Gap, at: int) -> list[CollectionNode]:
        """The collection that starts after a gap which is the first part of a key's value."""
        near = self.masked[max(0, gap.start - _NEAR_GAP) : gap.start].rstrip()
        if at == len(self.collections) or not near.endswith(":"):
            return []
        node = self.collections[at]
        start = yaml.start(node)
        between = self.masked[gap.end : start] if start - gap.end < _NEAR_GAP else "far"
        return [node] if not _COMMENT.sub("", between).strip() else []

    def as_value(self, gap: Gap) -> bool:
        """Make a gap the value of the key in front of it, if that has none."""
        near = self.masked[max(0, gap.start - _NEAR_GAP) : gap.start].rstrip()
        node, index = self.empty.get(max(0, gap.start - _NEAR_GAP) + len(near) - 1, (None, 0))
        if node is None or not near.endswith(":"):
            return False
        key, value = node.value[index]
        if yaml.tag(value) == GAP or gap.column < yaml.column(key):
            return False
        node.value[index] = (key, self.scalar(gap))
        return True

    def into(self, gap: Gap, around: list[CollectionNode]) -> None:
        """Put a gap into the innermost collection around it whose entries stand where its lines do."""
        column = gap.column
        owner = next((node for node in reversed(around) if node.flow_style or yaml.column(node) == column), None)
        if owner is None:
            owner = next((node for node in reversed(around) if yaml.column(node) <= column or len(around) == 1), None)
        if is_sequence(owner):
            index = bisect_left([yaml.start(item) for item in owner.value], gap.start)
            owner.value.insert(index, self.scalar(gap))
        elif is_mapping(owner):
            owner.value.append((self.scalar(gap), self.scalar(gap)))

    def scalar(self, gap: Gap) -> ScalarNode:
        return yaml.new_scalar(self.source.text[gap.start : gap.end], gap.start, gap.end, GAP)


def optional_commands(node: MappingNode, mask: Mask) -> list[Node]:
    """The keys `command` of a container that may be left out."""
    if all(not is_scalar(key) or key.value != "image" for key, _ in node.value):
        return []
    keys = [key for key, _ in node.value if is_scalar(key) and key.value == "command"]
    return [key for key in keys if not mask.within(yaml.start(key), yaml.start(node))]


def alternatives(node: Node, plain: Entries, mask: Mask) -> list[Entries]:
    """The entries of a container for each of the commands that it may have, and without one where it may have none."""
    commands = optional_commands(node, mask) if is_mapping(node) else []
    if not commands or not is_mapping(node):
        return [plain]
    branches = [mask.branch(yaml.start(key)) for key in commands]
    arms: list[int] = [branch for branch in branches if mask.taken(branch) is not False]
    if all(mask.taken(branch) is not True for branch in arms) and not any(map(mask.has_else, branches)):
        arms.append(0)
    found: list[Entries] = []
    for arm in arms:
        fields = {name: pair for name, pair in plain.items() if name not in _STARTING}
        for key, value in node.value:
            if is_scalar(key) and key.value in _STARTING and _goes_with(mask, mask.branch(yaml.start(key)), arm, branches):
                fields[key.value] = key, value
        if arm or "args" in fields or "args" not in plain:
            found.append(fields)
    return found


def _goes_with(mask: Mask, branch: int, arm: int, commands: list[int]) -> bool:
    """Whether a part is there with the command of an arm: it is the arm's, around it, or no command's."""
    return mask.follows_from(branch, arm) or not any(
        mask.follows_from(command, branch) or mask.excludes(command, branch) for command in commands
    )


# -- block scalars


def block(source: Source, node: ScalarNode, mask: Mask) -> TracedText | None:
    """The value of a block scalar with lines in it that are only actions; None if it has none."""
    start, end = yaml.start(node), yaml.end(node)
    start = source.text.find("\n", start, end) + 1 or end
    if (first := bisect_right(mask.rows, (start, start))) >= len(mask.rows) or mask.rows[first][0] >= end:
        return None
    masked = mask.text or ""
    indent = _indent(masked, start, end)
    last = start + len(masked[start:end].rstrip())
    end = _last(source.text, start, last, end, indent)
    text = filled(TracedText(_lines(source, start, end, indent)), mask.lookup, script=node.style == "|", truth=mask.truth)
    text = text if node.style == "|" else unfolded(text)
    return text if node.value.endswith("\n") else text.cut(0, len(text.flat.rstrip(" \n")))


def _indent(masked: str, start: int, end: int) -> int:
    for line in masked[start:end].split("\n"):
        if line.strip():
            return len(line) - len(line.lstrip(" "))
    return 0


def _last(raw: str, start: int, last: int, end: int, indent: int) -> int:
    """Where the scalar ends: of the actions after its last line, those that belong to it follow."""
    depth = 0
    done = last
    for action in scan(raw[start:end]):
        at = start + action.start
        column = at - (raw.rfind("\n", 0, at) + 1)
        if at > last and (action.kind in (OPEN, VALUE) and depth == 0 and column < indent):
            break
        if at > last and action.kind in (CLOSE, ELSE) and depth == 0:
            break
        depth += {OPEN: 1, CLOSE: -1}.get(action.kind, 0)
        done = max(done, start + action.end)
    stop = raw.find("\n", done, end)
    return end if stop == -1 else stop + 1


def _lines(source: Source, start: int, end: int, indent: int) -> list[Piece]:
    """The lines between two offsets without their indentation."""
    pieces: list[Piece] = []
    raw = source.text
    at = start
    while at < end:
        stop = raw.find("\n", at, end)
        stop, after = (end, end) if stop == -1 else (stop, stop + 1)
        first = at
        while first < stop and first - at < indent and raw[first] == " ":
            first += 1
        last = stop - 1 if raw[stop - 1 : stop] == "\r" and stop > first else stop
        if last > first:
            pieces.append(Piece(raw[first:last], Span(source, first, last), verbatim=True))
        if after > stop:
            pieces.append(Piece("\n", Span(source, stop, after)))
        at = after
    return pieces
