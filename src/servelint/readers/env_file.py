"""`.env` and `.conf` files that hold commands or arguments: `SERVE_CMD="vllm serve ..."`, `VLLM_ARGS="--model x ..."`.

A value that starts with an engine's command is a launch. One that starts with an option is a part of a launch, where its
variable's name or the options themselves tell the engine. All else in such files is text for a script.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from servelint.core.launch import Launch, ReleaseClaim, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import images
from servelint.engines.catalog import Catalog, Option
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours
from servelint.readers.commands import launches
from servelint.readers.context import CommandContext
from servelint.readers.registry import Format
from servelint.syntax import dotenv
from servelint.syntax.shell.words import split

FORMAT = Format(
    "env",
    210,
    title="`.env`, `.conf`, `.ini`",
    about="variables that hold a command or an engine's options",
    files=("*.env", "*.env.*"),
    unnamed=r"\A(?:[ \t]*(?:#[^\n]*|(?:export[ \t]+)?\w+=[^\n]*)?(?:\n|\Z))+\Z",
    fallback=("*.conf", "*.ini"),
    languages=("dotenv", "ini", "properties"),
)

_ARGUMENTS = re.compile(r"(?:^|_)(?:ARGS?|ARGUMENTS|OPTS|OPTIONS|FLAGS|PARAMS|PARAMETERS|ARGV)(?:_|$)")
_OTHERS = re.compile(r"(?:^|_)(?:BENCH\w*|CLIENT|TEST|EVAL|BUILD|COMPILE|CMAKE|DOCKER|PIP|ROUTER|PROXY)(?:_|$)")
_OPTION = re.compile(r"--([a-z][\w.-]*)")
_BARE_JSON = re.compile(r"(?:^|[\s=])[\[{]\S*\"")
_QUOTED = re.compile(r"'[^']*'")
_ARRAY = re.compile(r"^[ \t]*(?:(?:export|declare|readonly|typeset)(?:[ \t]+-\w+)*[ \t]+)?(?P<name>\w+)=\(", re.MULTILINE)


def read(source: Source, _neighbours: Neighbours) -> list[Launch]:
    """Read the launches, and parts of launches, that variables hold."""
    return _File(source, dotenv.parse(source)).launches()


class _File:
    def __init__(self, source: Source, values: dict[str, TracedText]) -> None:
        self.source = source
        self.values = values
        self.arrays = {match.group("name") for match in _ARRAY.finditer(source.text)}
        self.claims = self._claims()

    def launches(self) -> list[Launch]:
        found: list[Launch] = []
        for name, words in self.lists():
            found += self.started(name, words)
        parts = {launch.engine for launch in found if launch.fragment}
        # a command alone is the program of the arguments that stand in another variable
        return [launch for launch in found if launch.argv or launch.engine not in parts]

    def lists(self) -> list[tuple[str, list[Word]]]:
        """The variables that hold words, and their words."""
        found = [(name, _words(text)) for name, text in self.values.items() if name not in self.arrays and text.flat.strip()]
        if self.arrays:
            found += _arrays(self.source, self.arrays)
        return [(name, words) for name, words in found if words]

    def started(self, name: str, words: list[Word]) -> list[Launch]:
        site = self.site(words)
        if words[0].text.flat.startswith("-"):
            engine = _engine(name.upper(), words)
            if engine is None:
                return []
            claim = self.claims.get(engine)
            fragment = Launch(
                source=self.source, engine=engine, argv=words, site=site, name=name, release=claim, open_env=True, fragment=True
            )
            return [fragment]
        if len(words) < 2:
            return []
        place = CommandContext(self.source, name, site, self.env(name), None, dict(self.claims))
        return launches(words, place)

    def env(self, without: str) -> dict[str, Variable]:
        """The variables of the file: it is there to set them."""
        return {
            name: Variable(name, text, self.place(name, text))
            for name, text in self.values.items()
            if name != without and name not in self.arrays
        }

    def place(self, name: str, text: TracedText) -> Span | None:
        span = text.span()
        start = self.source.text.rfind(name, 0, span.start) if span is not None else -1
        return Span(self.source, start, span.end) if span is not None and start != -1 else span

    def site(self, words: list[Word]) -> Span:
        """The lines of a variable, from its name on."""
        spans = [word.site for word in words if word.site is not None]
        if not spans:
            return Span(self.source, 0, 0)
        start = self.source.text.rfind("\n", 0, spans[0].start) + 1
        return Span(self.source, start, max(span.end for span in spans))

    def _claims(self) -> dict[str, ReleaseClaim]:
        """What variables that name an image say of the engines' releases; nothing of one that two images have."""
        found: dict[str, ReleaseClaim] = {}
        for name, text in self.values.items():
            image = images.identify(text) if "IMAGE" in name.upper() and text.flat else None
            if image is not None and image.engine is not None:
                known = found.get(image.engine)
                found[image.engine] = ReleaseClaim() if known is not None else image.claim
        return found


def _engine(name: str, words: list[Word]) -> str | None:
    """The engine whose options a variable holds: as its name says, else as the options do."""
    if _OTHERS.search(name) or not _ARGUMENTS.search(name):
        return None
    engines = ENGINES.values()
    named = next((one.id for one in engines if any(f"_{word}_" in f"_{name}_" for word in one.argument_variables)), None)
    if named is not None:
        return named
    options = [match.group(1) for word in words if (match := _OPTION.match(word.text.flat)) is not None]
    return owner(options)


def _words(text: TracedText) -> list[Word]:
    """The words of a value: split at white space alone where JSON stands in it without quotes of its own."""
    if _BARE_JSON.search(_QUOTED.sub("", text.flat)) is None:
        return split(text)
    return [Word(part) for part in text.split()]


def _arrays(source: Source, names: set[str]) -> list[tuple[str, list[Word]]]:
    """The arrays of a file that shell scripts source."""
    from servelint.syntax.shell.evaluate import Evaluator

    shell = Evaluator(TracedText.at(source, 0, len(source.text)), lambda _: None, {}, [])
    try:
        shell.visit(shell.script.root)
    except RecursionError:
        return []
    found = [(name, shell.state.variables.get(name)) for name in sorted(names)]
    return [(name, value) for name, value in found if isinstance(value, list)]


_SEVERAL_WORDS = re.compile(r"[a-z0-9]+[-_][a-z0-9]+")
_SHORT = ("tp", "dp", "pp", "ep")
"""Abbreviations (`--tp` for `--tp-size`) that are written more often than what they stand for."""


def owner(names: Iterable[str], hint: str = "", takes: Callable[[str, list[Option]], bool] | None = None) -> str | None:
    """Find the engine that has all of some options and, unless a hint names it, is the only one to have one of them.

    Args:
        names: The options without their dashes.
        hint: The name of a file or variable.
        takes: Whether an option may have the value that it is given.
    """
    names = list(names)
    if not any(_SEVERAL_WORDS.match(name) for name in names):
        return None  # `model`, `port`, `task`: words that any file may have
    from servelint.engines import catalog as catalogs

    asked = [engine.id for engine in ENGINES.values() if engine.identified_by_options]
    known = {engine: catalog for engine in asked if (catalog := catalogs.load(engine)) is not None}
    for engine, catalog in known.items():
        found = {name: _known_options(catalog, engine, name) for name in names}
        if not all(options and (takes is None or takes(name, options)) for name, options in found.items()):
            continue
        others = [(other, known[other]) for other in known if other != engine]
        own = [name for name in names if not any(_known_options(one, other, name) for other, one in others)]
        if engine in hint.lower() or any(_SEVERAL_WORDS.match(name) for name in own):
            return engine
    return None


def _known_options(catalog: Catalog, engine: str, name: str) -> list[Option]:
    """The option of a name in each run of releases that has it."""
    option = name.partition(".")[0]
    spelling = "--" + (option.replace("_", "-") if ENGINES[engine].dialect.underscores else option)
    if option in _SHORT and not catalog.spelled(spelling):
        spelling += "-size"
    return [known for _, _, known in catalog.spelled(spelling)]
