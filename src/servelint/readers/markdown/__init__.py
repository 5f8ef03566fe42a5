"""Commands in Markdown: fenced code, indented code and consoles, each block a script of its own.

Prose, inline code and Python are not read. A compose file, a Kubernetes object, a Dockerfile or a unit in a block is read as
the file that it shows. What the page means to be filled in (`<model>`, `...`) is unknown.
"""

from __future__ import annotations

from servelint.core import bounds
from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.files.siblings import Neighbours
from servelint.readers.markdown import files, placeholders, powershell, prompts
from servelint.readers.markdown.blocks import Block, blocks
from servelint.readers.markdown.languages import CONSOLE, KINDS, MARKDOWN, PLAIN, POWERSHELL, SHELL
from servelint.readers.place import Place
from servelint.readers.registry import Format
from servelint.readers.scripts import script_launches

FORMAT = Format(
    "markdown",
    130,
    title="Markdown",
    about="fenced and indented code, consoles, PowerShell, files that a block shows",
    files=("*.markdown", "*.md", "*.mdx"),
    languages=("markdown",),
)

_DEPTH = 3
"""Characters of a block. Nobody types more."""


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """The launches of a page. The files beside it are not those that its examples speak of."""
    del neighbours
    return launches(Text.at(source, 0, len(source.text)), source)


def launches(text: Text, source: Source, depth: int = 0) -> list[Launch]:
    """The launches in a text that is Markdown: a page, or a string that another file holds."""
    found: list[Launch] = []
    for block in blocks(text):
        if not _mentions_engine(block.text.flat):
            continue
        if not bounds.SNIPPET.passed(len(block.text), block.text):
            found += _named_apart(_launches(block, source, depth), found)
    return found


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
    if kind is None:
        return []
    if kind == MARKDOWN:
        return launches(block.text, source, depth + 1) if depth < _DEPTH else []
    if kind in (SHELL, CONSOLE, PLAIN, POWERSHELL):
        shown = files.kind_of(block.text.flat) if not block.language or kind == PLAIN else None
        return files.read(shown, block.text, source) if shown is not None else _commands(block, kind, source)
    return files.read(kind, block.text, source)


def _commands(block: Block, kind: str, source: Source) -> list[Launch]:
    typed = prompts.commands(block.text)
    if typed is None and kind == PLAIN:
        return []  # output
    text = typed if typed is not None else prompts.continued(block.text)
    found = _run(powershell.as_shell(text) if kind == POWERSHELL else text, source)
    if not found and typed is None and (kind == CONSOLE or block.indented):
        # `# vllm serve` is a comment, or what root typed
        typed = prompts.commands(block.text, root=True)
        return _run(typed, source) if typed is not None else []
    return found


def _run(script: Text, source: Source) -> list[Launch]:
    found = script_launches(placeholders.replaced(script, script=True), Place(source), None)
    for launch in found:
        launch.argv = [placeholders.counted(word) for word in launch.argv]
    return found
