"""launchd jobs of macOS: property lists in XML whose `ProgramArguments` start an engine."""

from __future__ import annotations

import html
import re

from servelint.core.launch import Launch, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText, unknown
from servelint.files.siblings import Neighbours
from servelint.readers.commands import launches
from servelint.readers.context import CommandContext
from servelint.readers.registry import Format

FORMAT = Format(
    "launchd",
    162,
    title="launchd",
    about="the jobs of macOS in property lists",
    files=("*.plist",),
    shape=r"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<!DOCTYPE\s+plist[^>]*>\s*)?<plist[\s>]",
    needs=r"<key>\s*Program(?:Arguments)?\s*</key>",
)

_TOKEN = re.compile(
    r"<!--.*?-->|<(?P<end>/)?(?P<open>array|dict)\s*>|<(?P<empty>string|array|dict|true|false)\s*/>"
    r"|<(?P<name>key|string|integer|real|date|data)\s*>(?P<text>.*?)</(?P=name)\s*>",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9A-Fa-f]+|\w+);")
_FILLED_IN = re.compile(r"\$\{\w+\}|\$[A-Za-z_]\w*|__[A-Z][A-Z0-9_]*__|@[A-Z][A-Z0-9_]*@")
"""What a script puts a value for before it installs the file: launchd itself expands nothing."""
_DEPTH = 20


class _Node:
    """A value of a property list. text: of a string; items: of an array; members: of a dictionary."""

    __slots__ = ("end", "items", "members", "start", "text")

    def __init__(self, start: int, end: int, text: TracedText | None = None) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.items: list[_Node] = []
        self.members: dict[str, _Node] = {}


def read(source: Source, _neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the jobs in a property list. launchd gives a job no variables of a shell, and expands none."""
    found: list[Launch] = []
    waiting = [_tree(source)]
    while waiting:
        node = waiting.pop()
        found += _job(source, node)
        waiting += reversed([*node.items, *node.members.values()])
    return found


def _job(source: Source, job: _Node) -> list[Launch]:
    """The launches of a dictionary that is a job: `Program` is what is run, and the first argument then only its name."""
    arguments, program = job.members.get("ProgramArguments"), job.members.get("Program")
    given = arguments.items if arguments is not None else []
    words = [*([program] if program is not None else given[:1]), *given[1:]]
    texts = [one.text for one in words if one.text is not None]
    if not texts or len(texts) < len(words):
        return []
    site = Span(source, min(one.start for one in words), max(one.end for one in words))
    variables = job.members.get("EnvironmentVariables")
    env = {
        name: Variable(name, one.text, Span(source, one.start, one.end))
        for name, one in (variables.members if variables is not None else {}).items()
        if one.text is not None
    }
    label = job.members.get("Label")
    name = label.text.flat if label is not None and label.text is not None and label.text.known else ""
    return launches([Word(text, text.span()) for text in texts], CommandContext(source, name, site, env))


def _tree(source: Source) -> _Node:
    """The values of a property list below one node; what is not well-formed is passed over."""
    root = _Node(0, len(source.text))
    nested = [root]
    key: str | None = None
    for match in _TOKEN.finditer(source.text):
        if match["end"]:
            nested[-1].end = match.end()
            nested = nested[:-1] or [root]
            continue
        if match["name"] == "key":
            key = html.unescape(match["text"]).strip()
            continue
        if match["open"] is None and match["empty"] is None and match["name"] is None:
            continue  # a comment
        node = _Node(match.start(), match.end())
        if match["name"] is not None:
            node.text = _text(source, match.start("text"), match.end("text"))
        elif match["empty"] == "string":
            node.text = EMPTY
        around = nested[-1]
        if key is not None:
            around.members.setdefault(key, node)
        else:
            around.items.append(node)
        key = None
        if match["open"] is not None and len(nested) < _DEPTH:
            nested.append(node)
    return root


def _text(source: Source, start: int, end: int) -> TracedText:
    """A string's characters, with what its entities stand for, and unknown values where something is to be filled in."""
    text = TracedText.at(source, start, end)
    if "&" in text.flat:
        whole = text
        text = text.sub(_ENTITY, lambda match: TracedText.of(html.unescape(match.group()), whole.span(*match.span())))
    holder = text
    return text.sub(_FILLED_IN, lambda match: TracedText((unknown(match.group(), holder.span(*match.span())),)))
