"""Jupyter notebooks: shell lines (`!vllm serve ...`), shell cells (`%%bash`), cells that write a file (`%%writefile`), and the
fenced code of Markdown cells.

What a cell's Python starts is not worked out, beyond the plain values that its lines take over (`{model}`), the environment
that it sets, and the engines that it makes (`LLM(...)`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from servelint.core.launch import Launch, ReleaseClaim, Variable
from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.core.text import TracedText, unknown
from servelint.engines import entry
from servelint.files.siblings import Neighbours
from servelint.readers import embedded, installs, mentions_engine
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext
from servelint.readers.registry import Format
from servelint.syntax import json as json_nodes
from servelint.syntax.shell.words import split

FORMAT = Format(
    "notebook",
    110,
    title="Jupyter notebooks",
    about="`!` lines, `%%bash` and `%%writefile` cells, `%env`, values that Python sets, engines that it makes",
    files=("*.ipynb",),
    unnamed=r'\A\s*\{[\s\S]*"nbformat"',
)

_SOURCE = re.compile(r'"source"\s*:\s*(?=["\[])')
_SHELL_CELL = re.compile(r"\s*%%(?:bash|sh|shell|script[ \t]+(?:--\S+[ \t]+)*(?:ba|z)?sh)\b[^\n]*\n?")
_OTHER_CELL = re.compile(r"\s*%%(?!time\b|capture\b|timeit\b)")
_WRITTEN = re.compile(r"\s*%%(?:writefile|file)[ \t]+(?P<quote>[\"']?)(?P<name>[^\s\"'-][^\s\"']*)(?P=quote)[ \t]*\n")
"""A cell whose text becomes a file; with -a it is only a part of one."""
_LINE = re.compile(r"^[ \t]*(?P<kind>!!?|%(?:env|set_env)[ \t]+|%pip[ \t]+)(?P<rest>(?:\\\n|[^\n])*)", re.MULTILINE)
_VALUE = re.compile(
    r"^(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?P<quote>[\"'])(?P<value>[^\"'\\\n]*)(?P=quote)[ \t]*(?:#[^\n]*)?$"
    r"|^os\.environ\[[\"'](?P<variable>\w+)[\"']\][ \t]*=[ \t]*"
    r"(?:(?P<mark>[\"'])(?P<set>[^\"'\\\n]*)(?P=mark)|(?P<other>[^\n]+))",
    re.MULTILINE,
)
_ENV = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:[ \t]*=[ \t]*|[ \t]+)(?P<value>[^\n]*)")
_INSTALL = re.compile(r"^.*\binstall\b(?:\\\n|[^\n])*", re.MULTILINE)
_REFERENCE = re.compile(r"(?<![\w$\\{])\{(?P<braced>[A-Za-z_][\w.\[\]\"']*)\}|(?<![\\$])\$(?P<plain>[A-Za-z_]\w*)")


def read(source: Source, _neighbours: Neighbours) -> list[Launch] | Problem:
    """Read the launches of the shell lines and shell cells; a problem if a notebook with one is not JSON."""
    try:
        data = json.loads(source.text)
    except RecursionError:
        return []
    except json.JSONDecodeError as fault:
        if '"cells"' not in source.text or not entry.may_start(source.text):
            return []
        return Problem(source.path, "not valid JSON", fault.lineno, fault.colno)
    if not isinstance(data, dict):
        return []
    shell = _is_shell(data)
    cells = {code: number for code, number in _cells(data, "code").items() if shell or "!" in code or "%" in code}
    pages = {
        text: number for text, number in _cells(data, "markdown").items() if "```" in text and mentions_engine(text.encode())
    }
    notebook = _Notebook(source, shell)
    python = {} if shell else _cells_of_objects(data)
    if not cells and not pages and not python:
        return []
    run: list[TracedText] = []
    for text in _texts(source, {**pages, **cells, **python}):
        if text.flat in cells:
            notebook.cell(text, f"cells[{cells[text.flat]}]")
        elif text.flat in pages:
            notebook.page(text, f"cells[{pages[text.flat]}]")
        if text.flat in python:
            run.append(text)
    return notebook.found + notebook.objects(run)


_CELL = re.compile(r"^#[ \t]*(?:%%|In\[[ \d]*\]:|COMMAND -{5,}|<codecell>)[^\n]*\n", re.MULTILINE)
"""How an exported notebook begins a cell."""


def of_script(source: Source) -> tuple[list[Launch], dict[str, ReleaseClaim]]:
    """The launches of the shell lines and cells of a notebook that was exported as a Python script, and what they install."""
    notebook = _Notebook(source, False)
    places = [0, *[match.end() for match in _CELL.finditer(source.text)], len(source.text)]
    for start, end in pairwise(dict.fromkeys(places)):
        notebook.cell(TracedText.at(source, start, end), "")
    return notebook.found, notebook.claims


def _cells(data: Any, kind: str) -> dict[str, int]:
    """The texts of the cells of a kind, with their numbers."""
    cells = data.get("cells")
    found: dict[str, int] = {}
    for number, cell in enumerate(cells if isinstance(cells, list) else []):
        if isinstance(cell, dict) and cell.get("cell_type") == kind:
            lines = cell.get("source")
            lines = [lines] if isinstance(lines, str) else lines
            if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
                found.setdefault("".join(lines), number)
    return found


def _cells_of_objects(data: Any) -> dict[str, int]:
    """The cells of Python, with their numbers, if one of them may make an engine."""
    found = _cells(data, "code")
    makes = any(entry.class_call().search(text) is not None and not text.startswith("%%") for text in found)
    return {text: number for text, number in found.items() if not _OTHER_CELL.match(text)} if makes else {}


def _is_shell(data: Any) -> bool:
    """Whether the notebook's own language is the shell's."""
    kernel = data.get("metadata", {}).get("kernelspec", {}) if isinstance(data.get("metadata"), dict) else {}
    return isinstance(kernel, dict) and str(kernel.get("language", kernel.get("name", ""))).lower() in ("bash", "sh", "shell")


def _texts(source: Source, cells: dict[str, int]) -> Iterator[TracedText]:
    """The code cells with the place of each character. What else a notebook holds (its outputs) is not given places."""
    decoder = json.JSONDecoder()
    for match in _SOURCE.finditer(source.text):
        try:
            value, end = decoder.raw_decode(source.text, match.end())
        except (ValueError, RecursionError):
            continue
        flat = "".join(value) if isinstance(value, list) and all(isinstance(line, str) for line in value) else value
        if not isinstance(flat, str) or flat not in cells:
            continue
        node = json_nodes.parse(TracedText.at(source, match.end(), end))
        if isinstance(node, json_nodes.JsonNode):
            text = TracedText.join([item.content for item in node.items]) if node.kind == json_nodes.ARRAY else node.content
            if text.flat == flat:
                yield text


class _Notebook:
    """What its cells, run in order, have set so far: variables of Python and of the environment, installed engines."""

    def __init__(self, source: Source, shell: bool) -> None:
        self.source = source
        self.shell = shell
        self.values: dict[str, TracedText] = {}
        self.env: dict[str, Variable] = {}
        self.claims: dict[str, ReleaseClaim] = {}
        self.found: list[Launch] = []

    def cell(self, text: TracedText, name: str) -> None:
        if (head := _SHELL_CELL.match(text.flat)) is not None or self.shell:
            self.run(text.cut(head.end() if head is not None else 0), name)
            return
        if (written := _WRITTEN.match(text.flat)) is not None:
            self.found += embedded.of_written(written.group("name"), text.cut(written.end()), self.source)
        if _OTHER_CELL.match(text.flat):
            return
        lines = [(match.start(), match) for pattern in (_VALUE, _LINE) for match in pattern.finditer(text.flat)]
        for _, match in sorted(lines, key=lambda one: one[0]):
            if match.re is _VALUE:
                self.assign(text, match)
            elif match.group("kind").startswith("!"):
                self.run(self.filled(text.cut(*match.span("rest"))), name)
            elif match.group("kind").startswith("%pip"):
                self.run(TracedText.join((TracedText.of("pip "), text.cut(*match.span("rest")))), name)
            else:
                self.set(text.cut(*match.span("rest")))

    def page(self, text: TracedText, name: str) -> None:
        """What the fenced code of a Markdown cell shows."""
        from servelint.readers import markdown

        for launch in markdown.launches(text, self.source):
            launch.name = f"{name}.{launch.name}" if launch.name else name
            self.found.append(launch)

    def objects(self, cells: list[TracedText]) -> list[Launch]:
        """The engines that the cells make, run in order."""
        if not cells:
            return []
        from servelint.readers import python

        whole = TracedText.join([part for text in cells for part in (text, TracedText.of("\n"))])
        inner = Source(self.source.path, whole.flat)
        return embedded.moved(python.objects(inner, self.claims), inner, whole, self.source)

    def assign(self, text: TracedText, match: re.Match[str]) -> None:
        if match.group("name"):
            self.values[match.group("name")] = text.cut(*match.span("value"))
            return
        name, group = match.group("variable"), "set" if match.group("mark") else "other"
        value = text.cut(*match.span(group))
        if group == "other":
            value = TracedText((unknown(value.shown.strip(), value.span()),))
        self.env[name] = Variable(name, value, text.span(*match.span()))

    def set(self, text: TracedText) -> None:
        """`%env NAME=value`."""
        if (match := _ENV.match(text.flat)) is not None:
            value = self.filled(text.cut(*match.span("value")).strip())
            self.env[match.group("name")] = Variable(match.group("name"), value, text.span(*match.span()))

    def run(self, script: TracedText, name: str) -> None:
        for line in _INSTALL.finditer(script.flat):
            self.claims.update(installs.claims(split(script.cut(*line.span()))))
        if not mentions_engine(script.flat.encode("utf-8", "replace")):
            return
        context = CommandContext(self.source, name, None, dict(self.env), None, dict(self.claims))
        self.found += script_launches(script, context, None)

    def filled(self, text: TracedText) -> TracedText:
        """A line with the Python values that it takes over: `{model}`, and `$model` where Python knows it."""

        def value(match: re.Match[str]) -> TracedText | None:
            known = self.values.get(match.group("braced") or match.group("plain"))
            # a `$name` that Python does not know is the shell's
            return known if known is not None or match.group("plain") else text.unknown(match)

        return text.sub(_REFERENCE, value)
