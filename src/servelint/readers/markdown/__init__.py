"""Commands in Markdown: fenced code, indented code and consoles, each block a script of its own.

Prose and inline code are not read. A Python script, a compose file, a Kubernetes object, a Dockerfile or a unit in a block is
read as the file that it shows. Of a block that is marked as text or as something that it is not, lines that plainly start an
engine are read. What the page means to be filled in (`<model>`, `...`) is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from servelint.core import bounds
from servelint.core.launch import Launch, ReleaseClaim, Variable, Word
from servelint.core.problem import Problem
from servelint.core.run import current
from servelint.core.source import Source
from servelint.core.text import EMPTY, TracedText, unknown
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours
from servelint.readers import embedded, installs, prepared
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext
from servelint.readers.markdown import snippets
from servelint.readers.markdown.blocks import (
    BATCH,
    CONSOLE,
    DOCKERFILE,
    KINDS,
    LAUNCHD,
    MARKDOWN,
    OUTPUT,
    PLAIN,
    POWERSHELL,
    PYTHON,
    SHELL,
    UNIT,
    Block,
    blocks,
    lines_of,
)
from servelint.readers.registry import JSON, YAML, Format, named, of_syntax
from servelint.readers.scripts import of_statements
from servelint.syntax import placeholders

FORMAT = Format(
    "markdown",
    130,
    title="Markdown",
    about="fenced and indented code, consoles, PowerShell, files and Python that a block shows, commands in blocks of text",
    files=("*.markdown", "*.md", "*.mdx"),
    unnamed=r"(?m)^[ \t]*(?:```|~~~)",
    languages=("markdown",),
)

_DEPTH = 3
"""How deep Markdown in Markdown is read."""


def read(source: Source, _neighbours: Neighbours) -> list[Launch]:
    """The launches of a page. The files beside it are not those that its examples speak of."""
    return launches(TracedText.at(source, 0, len(source.text)), source)


def launches(text: TracedText, source: Source, depth: int = 0) -> list[Launch]:
    """The launches in a text that is Markdown: a page, or a string that another file holds."""
    return of_blocks(blocks(text), source, depth)


def of_blocks(shown: Iterable[Block], source: Source, depth: int = 0) -> list[Launch]:
    """The launches in the blocks of a page.

    A release that a block installs holds for the blocks behind it, where the page names no other one.
    """
    found: list[Launch] = []
    bare: list[tuple[Launch, int]] = []
    installed: list[dict[str, ReleaseClaim]] = []
    for block in shown:
        if not _mentions_engine(block.text.flat):
            continue
        if not bounds.SNIPPET.passed(len(block.text), block.text):
            new = _launches(block, source, depth)
            bare += [(one, len(installed)) for main in new for one in (main, *main.alternatives)]
            found += _named_apart(new, found)
            installed.append(_installed(block))
    claims = prepared.for_later(installed)
    for launch, before in bare:
        known = launch.container is not None or launch.release.how is not None or launch.release.release is not None
        if not known and any(launch.engine in one for one in installed[:before]):
            launch.release = claims[launch.engine]
    return found


def _installed(block: Block) -> dict[str, ReleaseClaim]:
    """What the commands of a block install, which a reader has when a later block is typed."""
    if KINDS.get(block.language, SHELL if not block.language else None) not in (SHELL, CONSOLE, PLAIN, OUTPUT):
        return {}
    if "install" not in block.text.flat or kind_of(block.text.flat) is not None:
        return {}
    typed = snippets.commands(block.text)
    return {name: claim for name, claim in installs.installed(typed or block.text).items() if name in ENGINES}


def _mentions_engine(flat: str) -> bool:
    from servelint.readers import mentions_engine

    return mentions_engine(flat.encode("utf-8", "replace"))


def _named_apart(launches: list[Launch], before: list[Launch]) -> list[Launch]:
    """Two blocks that show a service of the same name show two services."""
    names = {launch.name for launch in before if launch.name}
    for launch in launches:
        if launch.name in names:
            launch.name = f"{launch.name} (line {launch.line})"
    return launches


def _launches(block: Block, source: Source, depth: int) -> list[Launch]:
    kind = KINDS.get(block.language, SHELL if not block.language else None)
    if kind in (BATCH, POWERSHELL) and _POSIX.search(block.text.flat) and not _WINDOWS.search(block.text.flat):
        kind = SHELL
    if kind == MARKDOWN:
        return launches(block.text, source, depth + 1) if depth < _DEPTH else []
    if kind in (SHELL, CONSOLE, PLAIN, OUTPUT, POWERSHELL):
        shown = kind_of(block.text.flat) if not block.language or kind in (PLAIN, OUTPUT) else None
        of_file = _shown_file(shown, block.text, source) if shown is not None else []
        # `Command:` above one looks like YAML
        return of_file if of_file or (shown is not None and kind != PLAIN) else _commands(block, kind, source)
    found = _shown_file(kind, block.text, source) if kind is not None else []
    if found:
        return found
    meant = snippets.unmarked(block.text, mixed=False)  # commands that are marked as another language
    return _run(meant, source) if meant is not None else []


def _commands(block: Block, kind: str, source: Source) -> list[Launch]:
    typed = snippets.commands(block.text)
    if typed is None and not block.language and snippets.is_figure(snippets.without_prose(block.text)):
        kind = PLAIN
    if typed is None and kind == OUTPUT:
        return []
    if typed is None and kind == PLAIN:
        typed = snippets.unmarked(block.text, mixed=True)
        if typed is None:
            return []
    text = typed if typed is not None else snippets.continued(block.text)
    if not block.language or kind in (PLAIN, OUTPUT):
        text = snippets.without_prose(text)
    if kind == POWERSHELL:
        return _counted(of_statements(placeholders.in_page(text, script=True), source, None))
    found = _run(text, source)
    if not found and typed is None and (kind == CONSOLE or block.indented):
        # `# vllm serve` is a comment, or what root typed
        typed = snippets.commands(block.text, root=True)
        return _run(typed, source) if typed is not None else []
    return found


_POSIX, _WINDOWS = re.compile(r"[ \t]\\\r?\n"), re.compile(r"[`^][ \t]*\r?\n")
"""How a line goes on in a shell, and in the shells of Windows, whose names pages also give to commands of Linux."""
_LEAVES = re.compile(r"^exit[ \t]*(?=\r?$|#)", re.MULTILINE)
"""What a reader types to leave a container, behind which the page goes on."""


_ALTERNATIVE = re.compile(r"\n[ \t]*\r?\n(?:[ \t>]*#[^\n]*\n)+[ \t>]*\Z")
"""A blank line and a comment: an option behind them is one that a reader may add, no line that was cut off."""


def _run(script: TracedText, source: Source) -> list[Launch]:
    if not script.flat.startswith("#!"):
        script = script.sub(_LEAVES, lambda _: EMPTY)
    found = _counted(script_launches(placeholders.in_page(script, script=True), CommandContext(source), None))
    for launch in [one for main in found for one in (main, *main.alternatives)]:
        if launch.cut is not None and _ALTERNATIVE.search(source.text, 0, launch.cut.start) is not None:
            launch.cut = None
    return found


def _counted(found: list[Launch]) -> list[Launch]:
    for launch in [one for main in found for one in (main, *main.alternatives)]:
        launch.argv = [placeholders.counted(word) for word in launch.argv]
    return found


_NAMES = {
    YAML: "page.yaml",
    JSON: "page.json",
    DOCKERFILE: "Dockerfile",
    UNIT: "page.service",
    LAUNCHD: "page.plist",
    "makefile": "Makefile",
}
_MACROS = "macros:"
_BRACED = re.compile(r"(?<![${])(?:(?<=[\w/>.-])\{(?P<name>[A-Z][A-Z0-9_]*)\}|\{(?P<first>[A-Z][A-Z0-9_]*)\}(?=[\w/.<{-]))")
"""A placeholder that is a part of a value, which YAML would take for a mapping: `projects/{PROJECT}/{ZONE}`."""
_LEFT_OUT = re.compile(r"#[ \t]*(?:\.{3}|\u2026)[^\n]*")
"""A comment that stands for lines that the page does not show."""
_PARTIAL = "engine-config"
"""The YAML format that is not looked for in a page: a block that shows an engine's options may show a part of them."""
_MEANT = (
    (re.compile(r"[ \t]*(?:---|[\w.\"'-]+:(?:[ \t]|\r?$)|- [\w\"'-]+:)", re.MULTILINE), YAML),
    (re.compile(r"[ \t]*(?:ARG[ \t][^\n]*\n[ \t]*)*FROM[ \t]+\S", re.IGNORECASE), DOCKERFILE),
    (re.compile(r"[ \t]*\[[A-Za-z][\w: -]*\][ \t]*\r?$", re.MULTILINE), UNIT),
    (re.compile(r"[ \t]*<(?:\?xml|!DOCTYPE[ \t]+plist|plist)\b"), LAUNCHD),
)
"""How the first line starts that is neither empty nor a comment."""


def kind_of(flat: str) -> str | None:
    """What file a block without a language shows, if it shows one."""
    for start, end in lines_of(flat):
        if flat[start:end].strip() and flat[start:end].lstrip()[0] not in "#;":
            return next((kind for pattern, kind in _MEANT if pattern.match(flat, start)), None)
    return None


def _shown_file(kind: str, text: TracedText, source: Source) -> list[Launch]:
    """The launches of a file that a text holds."""
    if not text.known:
        return []
    flat = placeholders.disguised(text.flat) if kind != LAUNCHD else text.flat
    flat = _BRACED.sub(lambda match: f"_{match['name'] or match['first']}_", flat) if kind == YAML else flat
    shown = Source(_NAMES.get(kind, "page"), flat)
    found = embedded.moved(_file_launches(kind, shown), shown, text, source)
    _place_limits(shown, text, source)
    for launch in found if _MACROS not in text.flat else ():
        launch.mishaps = [one for one in launch.mishaps if one.kind != "swap-macro"]  # the page may show a part of the file
    left_out = _LEFT_OUT.search(text.flat)
    for launch in [one for main in found for one in (main, *main.alternatives)]:
        launch.argv = [placeholders.filled(word) for word in launch.argv]
        if left_out is not None:
            comment = unknown(left_out.group(), text.span(*left_out.span()), shown="")
            launch.argv.append(Word(TracedText((comment,)), many=True))
            launch.open_env = True
        launch.env = {
            name: Variable(name, placeholders.in_page(variable.value), variable.site)
            if variable.value is not None
            else variable
            for name, variable in launch.env.items()
        }
    return found


def _place_limits(shown: Source, text: TracedText, source: Source) -> None:
    """Give the limits that a file reached the places that its characters have in the page."""
    run = current()
    for problem in run.problems if run is not None else ():
        if problem.path == shown.path:
            at = shown.line_starts[problem.line - 1] + problem.column - 1
            span = text.span(at, at + 1)
            problem.path = source.path
            problem.line, problem.column = source.position(span.start) if span is not None else (1, 1)


def _file_launches(kind: str, shown: Source) -> list[Launch]:
    nowhere = Neighbours(None)
    if kind == PYTHON:
        from servelint.readers import python

        return python.snippet(shown)
    if kind == YAML:
        return _documents(shown, nowhere)
    if kind == JSON:
        given = [one.function(one.read)(shown, nowhere) for one in of_syntax(JSON)]
        return next((launches for launches in given if launches and not isinstance(launches, Problem)), [])
    if kind == UNIT:
        kind = "supervisor" if "[program:" in shown.text else "systemd"
    one = named(kind)
    found: list[Launch] = one.function(one.read)(shown, nowhere)
    # an image that is only built upon is not a launch that the page shows
    return (
        [launch for launch in found if launch.verb or any(word.shown for word in launch.argv)] if kind == DOCKERFILE else found
    )


def _documents(shown: Source, nowhere: Neighbours) -> list[Launch]:
    from servelint.readers import read_documents
    from servelint.syntax import yaml

    documents, problem = yaml.documents(shown)
    run = current()
    if problem is not None and problem.limit and run is not None:
        run.report(problem)
    formats = [one for one in of_syntax(YAML) if one.name != _PARTIAL]
    return [launch for document in documents for launch in read_documents(shown, [document], nowhere, formats)[0]]
