"""Ollama's Modelfiles: the model that a new one is made from, its adapter, its draft, and the parameters that it runs with.

A file is a list of instructions, a line each; a value in three quotes goes on over lines, and one in quotes may.
`ollama create` reads it and refuses a parameter that it does not know (parser/parser.go, api/types.go). Nothing is
started: each instruction is a fragment of a launch. A compose file or a Dockerfile beside it that names the Modelfile says
which release creates the model.
"""

from __future__ import annotations

import re

from servelint.core.launch import Launch, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours
from servelint.readers.deployed import give_release
from servelint.readers.registry import Format

FORMAT = Format(
    "modelfile",
    139,
    title="Modelfile",
    about="what `ollama create` makes a model of: `FROM`, `PARAMETER`, `ADAPTER`, `DRAFT`",
    files=("Modelfile", "Modelfile.*", "Modelfile-*", "Modelfile_*", "*-Modelfile", "*_Modelfile", "*.modelfile"),
    shape=r"\A(?:[ \t]*(?:#[^\n]*)?\n)*FROM[ \t]+[^\s\"']+[ \t]*\n(?:[^\n]*\n)*?"
    r"PARAMETER[ \t]+(?:num_(?:ctx|predict|gpu)|temperature|top_[kp]|min_p|stop|seed|repeat_\w+)[ \t]",
    words=("parameter", "from hf.co/"),
)

MADE = "modelfile"
"""The name of the record in the engine's launchers."""

NAME, VALUE, INSTRUCTION = "PARAMETER", "PARAMETER_VALUE", "INSTRUCTION"
"""Variables of the fragment that hold a parameter's name, its value, and the name of an instruction that not every release has:
operands `env.PARAMETER`, `env.PARAMETER_VALUE` and `env.INSTRUCTION`."""

REFUSED, UNFINISHED, ONE_FILE = "REFUSED", "UNFINISHED", "ONE_FILE"
"""Variables of a fragment: the word of the first line that no release reads, the first word of a file without FROM, and the one
file of a checkpoint: operands `env.REFUSED`, `env.UNFINISHED` and `env.ONE_FILE`."""

_ENGINE = next(engine.id for engine in ENGINES.values() if MADE in engine.launchers)
_INSTRUCTION = re.compile(r"[ \t]*(?P<name>[A-Za-z]+)[ \t]+")
_WORD = re.compile(r"[ \t]*(?P<name>[^\s#]\S*)")
_FILLED_IN = re.compile(r"[{}$%<@]")
"""Characters of a file that a template engine or a shell fills in before Ollama reads it."""
_PARAMETER = re.compile(r"[ \t]*(?P<name>\w+)[ \t]+")
_ADDED = frozenset(("draft", "parser", "renderer", "requires"))
_KEPT = _ADDED | {"from", "adapter", "parameter"}
_KNOWN = _KEPT | {"license", "message", "system", "template"}
_ROLE = re.compile(r"(?:system|user|assistant)[ \t]+")
_FIRST = re.compile(r"\s*(?:#[^\n]*\n\s*)*(?P<name>[A-Za-z]+)[ \t]")
_QUOTES = '"""'


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """A fragment of a launch for each instruction that says what runs, and how."""
    text = source.text
    first = _FIRST.match(text)
    if first is None or first.group("name").lower() not in _KNOWN:
        return []  # modelfile.py, and whatever else has such a name
    found: list[Launch] = []
    refused: Launch | None = None
    at, whole = 0, True
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end == -1 else end
        word = _WORD.match(text, at, end)
        match = _INSTRUCTION.match(text, at, end)
        if word is not None and (match is None or match["name"].lower() not in _KNOWN):
            whole = whole and _FILLED_IN.search(text, at, end) is None
            refused = refused or _marked(source, REFUSED, word.span("name"))
        if match is None or word is None:
            at = end + 1
            continue
        name = match.group("name").lower()
        start = match.end()
        words = [Word(TracedText.at(source, *match.span("name")))]
        parameter = _PARAMETER.match(text, start, end) if name == "parameter" else None
        if parameter is not None:
            words = [Word(TracedText.at(source, *parameter.span("name")))]
            start = parameter.end()
        role = _ROLE.match(text, start, end) if name == "message" else None
        stop, low, high = _value(text, role.end() if role is not None else start, end)
        if name in _KEPT and low < high:
            value = Word(TracedText.at(source, low, high), Span(source, start, stop))
            found.append(_launch(source, name, [*words, value], Span(source, match.start("name"), stop)))
        at = text.find("\n", stop) + 1 or len(text)
    _join(found)
    made = [launch for launch in found if launch.name == "FROM"]
    parts = [launch for launch in found if launch.name in ("FROM", "ADAPTER")]
    if len(made) == 1:
        for launch in parts:
            if launch.argv[-1].text.flat.lower().endswith(".safetensors"):
                launch.env[ONE_FILE] = Variable(ONE_FILE, launch.argv[-1].text, launch.argv[-1].site)
    if refused is not None and whole and (made or any(NAME in launch.env for launch in found)):
        found.append(refused)
    elif not made and whole and found:
        found.append(_marked(source, UNFINISHED, first.span("name")))
    give_release(found, source, neighbours)
    return found


def _marked(source: Source, variable: str, at: tuple[int, int]) -> Launch:
    """A fragment that names a word of the file, and starts nothing."""
    text = TracedText.at(source, *at)
    launch = _launch(source, text.flat, [Word(text)], Span(source, *at))
    launch.env = {variable: Variable(variable, text, launch.site)}
    return launch


def _join(found: list[Launch]) -> None:
    """Give the launch of FROM the parameters that the model runs with: `PARAMETER num_ctx` among its variables."""
    made = next((launch for launch in found if launch.name == "FROM"), None)
    for launch in found:
        if made is not None and NAME in launch.env:
            made.env[launch.name] = Variable(launch.name, launch.env[VALUE].value, launch.env[VALUE].site)


def _value(text: str, start: int, end: int) -> tuple[int, int, int]:
    """Where the value that starts here ends, and where it starts and ends without its quotes.

    A value in quotes ends at the first end of a line before which the quotes close.
    """
    quotes = next((one for one in (_QUOTES, '"') if text.startswith(one, start)), "")
    low = start + len(quotes)
    stop = start + len(text[start:end].rstrip())
    while quotes and not (stop - len(quotes) >= low and text.endswith(quotes, start, stop)):
        if end == len(text):
            return len(text), low, len(text)
        end = text.find("\n", end + 1)
        end = len(text) if end == -1 else end
        stop = start + len(text[start:end].rstrip())
    return stop, low, stop - len(quotes)


def _launch(source: Source, name: str, words: list[Word], site: Span) -> Launch:
    shown = f"PARAMETER {words[0].text.flat}" if name == "parameter" else name.upper()
    found = Launch(source=source, engine=_ENGINE, argv=words, site=site, name=shown, fragment=True)
    found.launcher = MADE
    if name == "parameter":
        found.env = {key: Variable(key, word.text, word.site) for key, word in zip((NAME, VALUE), words, strict=True)}
    elif name in _ADDED:
        found.env = {INSTRUCTION: Variable(INSTRUCTION, words[0].text, words[0].site)}
    return found
