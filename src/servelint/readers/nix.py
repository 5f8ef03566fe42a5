"""Nix: the scripts and commands in texts of shells, packages and units, and containers with an image and a command.

An expression is known where it names what the file binds once to a text or a number; any other one is unknown.
"""

from __future__ import annotations

import re

from servelint.core.launch import Launch
from servelint.core.source import Source, Span
from servelint.core.text import TracedText, unknown
from servelint.engines import entry
from servelint.files.siblings import Neighbours
from servelint.readers import hcl
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext, named
from servelint.readers.registry import Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = Format(
    "nix",
    194,
    title="Nix",
    about="scripts of shells, packages and units, `oci-containers`, with the names that the file binds",
    files=("*.nix",),
    languages=("nix",),
)

_HOLE = r"\$\{(?:[^{}\"]|\"[^\"]*\"|\{[^{}]*\})*\}"
_TOKEN = re.compile(
    r"(?P<skip>\s+|\#[^\n]*|/\*.*?\*/)"
    rf"|''(?P<block>(?:'''|''\$|''\\.|{_HOLE}|'(?!')|[^'$]|\$(?!\{{))*)''"
    rf"|\"(?P<line>(?:\\.|{_HOLE}|[^\"\\$]|\$(?!\{{))*)\""
    r"|(?P<name>[A-Za-z_][\w'-]*(?:\.(?:[A-Za-z_][\w'-]*|\"[^\"\n]*\"))*)"
    r"|(?P<sign>==|[^\s])",
    re.DOTALL,
)
_BOUND = re.compile(
    r"(?<![\w.-])(?P<name>[A-Za-z_][\w-]*)\s*=(?!=)(?:\s*(?:\"(?P<text>[^\"\\$\n]*)\"|(?P<number>\d+(?:\.\d+)?))\s*;)?"
)
_INSIDE = {
    "block": re.compile(rf"(?P<hole>{_HOLE})|''\\(?P<char>.)|''(?P<dollar>\$)|'(?P<quotes>'')", re.DOTALL),
    "line": re.compile(rf"(?P<hole>{_HOLE})|\\(?P<char>.)", re.DOTALL),
}
"""What is not itself in a text, in two quotes (`''`) and in double quotes."""
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}
_NAMED = re.compile(r"\$\{\s*(?:(?:builtins\.)?toString\s+)?(?P<name>[A-Za-z_][\w-]*)\s*\}")
_SCRIPTS = frozenset(("ExecStart", "buildCommand", "command", "postStart", "preStart", "script", "shellHook", "text"))
"""Attributes whose text a shell or systemd runs."""
_WRITERS = frozenset(("writeShellScript", "writeShellScriptBin", "writeScript", "writeScriptBin", "writers.writeBash"))
_DEPTH = 200
_OPENING, _CLOSING = "{[(", "}])"


class _Frame:
    """What stands between two brackets."""

    def __init__(self, kind: str, start: int) -> None:
        self.kind, self.start = kind, start
        self.fields: dict[str, Any] = {}
        self.clear()

    def clear(self) -> None:
        """Begin the next binding."""
        self.name, self.key, self.values, self.writes = "", "", [], False  # type: ignore[var-annotated]


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a Nix file."""
    del neighbours
    bound: dict[str, list[TracedText | None]] = {}
    for match in _BOUND.finditer(source.text):
        group = "text" if match.group("text") is not None else "number"
        value = TracedText.at(source, *match.span(group)) if match.group(group) is not None else None
        bound.setdefault(match.group("name"), []).append(value)
    known = {name: values[0] for name, values in bound.items() if len(values) == 1 and values[0] is not None}
    found: list[Launch] = []
    frames = [_Frame("{", 0)]
    for match in _TOKEN.finditer(source.text):
        frame, kind, site = frames[-1], match.lastgroup, Span(source, *match.span())
        if kind in ("block", "line"):
            text = _text(TracedText.at(source, *match.span(kind)), kind, known)
            frame.values.append((text, site))
            path = ".".join([one.key for one in frames if one.key])
            if (path.rpartition(".")[2] in _SCRIPTS or frame.writes) and entry.mentions(text.flat):
                found += named(script_launches(text, CommandContext(source, path, open_env=True), None))
        elif kind == "name":
            frame.writes = frame.writes or match.group().rpartition("pkgs.")[2] in _WRITERS
            frame.name = match.group()
            if frame.key or frame.kind == "[":
                frame.values.append((TracedText((unknown(match.group(), site),)), site))
        elif kind == "sign" and match.group() in _OPENING:
            if len(frames) > _DEPTH:
                break
            frames.append(_Frame(match.group(), match.start()))
        elif kind == "sign" and match.group() in _CLOSING:
            inner = frames.pop() if len(frames) > 1 else frame
            if inner.kind == "{":
                found += hcl.container(source, inner.fields, ".".join([one.key for one in frames if one.key]))
            frames[-1].values.append(
                ({"{": inner.fields, "[": inner.values}.get(inner.kind), Span(source, inner.start, match.end()))
            )
        elif kind == "sign" and match.group() == "=":
            frame.key, frame.values = frame.name, []
        elif kind == "sign" and match.group() == ";":
            if frame.key and len(frame.values) == 1 and frame.values[0][0] is not None:
                frame.fields[frame.key] = frame.values[0]
            frame.clear()
    return found


def _text(text: TracedText, kind: str, known: dict[str, TracedText]) -> TracedText:
    """What a text says: its escapes resolved, its expressions filled in or unknown."""

    def value(match: re.Match[str]) -> TracedText:
        if match.group("hole") is None:
            control = _CONTROL.get(match.group("char") or "")
            return TracedText.of(control, text.span(*match.span())) if control else text.cut(*match.span(match.lastgroup or 0))
        named = _NAMED.fullmatch(match.group())
        given = known.get(named.group("name")) if named is not None else None
        return given.placed(text.span(*match.span())) if given is not None else text.unknown(match)

    return text.sub(_INSIDE[kind], value)
