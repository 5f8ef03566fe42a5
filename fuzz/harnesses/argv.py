"""The argument dialects: a command line as each release of each engine reads it, by the catalog."""

from __future__ import annotations

from fuzz import grammar, vocabulary
from fuzz.case import Case, insist
from fuzz.counts import COUNTS
from servelint.core.launch import Launch, Word
from servelint.core.source import Source, Span
from servelint.core.text import HOLE, Piece, TracedText, unknown
from servelint.engines import catalog as catalogs
from servelint.engines.argv import Arguments, read
from servelint.engines.catalog import Catalog
from servelint.engines.config import configs
from servelint.engines.registry import ENGINES
from servelint.judge.parser import violations
from servelint.syntax.shell.words import split
from tests.wrapping import VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fuzz.chance import Chance

_ENGINES = ("vllm", "sglang", "llama.cpp", "lmdeploy")
_SHORT = (
    "-m",
    "-tp",
    "-O3",
    "-O.mode=3",
    "-q",
    "--",
    "-",
    "-1",
    "-.5",
    "-a.b",
    "--a.b+",
    "---",
    "-p8000",
    "serve",
    "x",
    "$U",
    '"$U"',
    "a$U",
    "--$U",
    "--port=$U",
)


def make(chance: Chance) -> Case:
    """A command line without its verb; the name tells the engine and the release."""
    engine = chance.pick(_ENGINES)
    release = chance.pick(vocabulary.releases(engine))
    words: list[str] = []
    for _ in range(1 + chance.below(5)):
        words += [chance.pick(_SHORT)] if chance.often(0.3) else grammar.option(chance, engine)
    text = " ".join(words)
    if chance.often(0.3):
        at = chance.below(len(text) + 1)
        text = text[:at] + chance.pick(vocabulary.MARKS) + text[at + chance.below(3) :]
    return Case(f"{engine} {release}", text, chance.below(1 << 16))


def check(case: Case) -> None:
    engine, _, release = case.name.partition(" ")
    catalog = catalogs.load(engine)
    if catalog is None:
        raise ValueError(f"{engine} has no catalog")
    index = catalog.nearest(release)
    launch = _launch(engine, case.text)
    found = _read(launch, catalog, index)
    _places(found, launch)
    turn = case.turn % 8
    if turn == 0:
        COUNTS["read twice"] += 1
        insist(_told(found) == _told(_read(_launch(engine, case.text), catalog, index)), "reading twice is equal", case.text)
    elif turn < 5:
        _unknown(case, launch, found, catalog, index)
    elif turn == 5:
        COUNTS["violations"] += 1
        for config in configs(launch, [release]):
            for one in violations(config):
                insist(bool(one.message), "a violation has a message", one.rule)
                _inside(one.span, launch)


def _launch(engine: str, text: str) -> Launch:
    verb = VERBS[engine][0]
    source = Source("<command>", f"{verb} {text}")
    whole = Span(source, 0, len(source.text))
    words = [_expanded(word) for word in split(TracedText.at(source, 0, len(source.text)))]
    count = len(verb.split())
    return Launch(source=source, engine=engine, verb=tuple(words[:count]), argv=words[count:], site=whole)


def _expanded(word: Word) -> Word:
    """The word with an unknown for each `$U`; without quotes it may be several words."""
    flat = word.text.flat
    if "$U" not in flat:
        return word
    pieces: list[Piece] = []
    start = 0
    while (at := flat.find("$U", start)) != -1:
        pieces += [*word.text.cut(start, at).pieces, unknown("$U", word.text.span(at, at + 2))]
        start = at + 2
    text = TracedText([*pieces, *word.text.cut(start).pieces])
    quoted = word.site is not None and word.site.text[:1] in ("'", '"')
    return Word(text, word.site, many=not quoted and flat == "$U")


def _read(launch: Launch, catalog: Catalog, index: int) -> Arguments:
    return read(launch.argv, catalog.table(index), ENGINES[launch.engine].dialect)


def _inside(span: Span | None, launch: Launch) -> None:
    if span is not None:
        insist(0 <= span.start <= span.end <= len(launch.source.text), "spans inside the text", span.start, span.end)


def _places(found: Arguments, launch: Launch) -> None:
    """Each word belongs to one setting at most, or is an argument; faults stand where words do."""
    for fault in found.faults:
        _inside(fault.span, launch)
    seen: set[int] = set()
    for word in [one for setting in found.every for one in setting.words] + found.positionals:
        insist(any(word is one for one in launch.argv), "a setting is made of the launch's words", word)
        insist(id(word) not in seen, "a word is read once", word)
        seen.add(id(word))
    for name, setting in found.settings.items():
        insist(setting.name == name and any(setting is one for one in found.every), "a setting goes by its name", name)


def _told(found: Arguments) -> object:
    settings = [(one.name, one.spelling, one.on, one.value.flat if one.value is not None else None) for one in found.every]
    positionals = [word.text.flat for word in found.positionals]
    return settings, positionals, [repr(fault) for fault in found.faults], found.complete, sorted(found.possible)


def _unknown(case: Case, launch: Launch, found: Arguments, catalog: Catalog, index: int) -> None:
    """A word that is replaced by what nobody knows: what the parser took before it takes then."""
    if not launch.argv or any(fault.fatal for fault in found.faults):
        return
    at = case.turn // 8 % len(launch.argv)
    flat = launch.argv[at].text.flat
    later = [word for word in found.positionals if any(word is one for one in launch.argv[at + 1 :])]
    own = next((setting for setting in found.every if any(word is launch.argv[at] for word in setting.words)), None)
    dashes = [word for word in own.words[1:] if word.text.flat.startswith("-")] if own is not None else []
    # two dashes are no value; an unknown where the model may stand is taken for it, not for a switch before it; and nobody
    # keeps an option in a variable whose value is to be what looks like the next option
    if flat == "--" or HOLE in flat or dashes or (flat.startswith("-") and later):
        return
    COUNTS["unknowns"] += 1
    piece = unknown("$U", launch.argv[at].site)
    argv = list(launch.argv)
    # `"$MODEL" $ARGS`: several words behind one that may be the model are no value of it
    behind = at > 0 and argv[at - 1].text.flat.startswith(HOLE)
    argv[at] = Word(TracedText([piece]), launch.argv[at].site, many=bool(case.turn & 8) and not behind)
    again = read(argv, catalog.table(index), ENGINES[launch.engine].dialect)
    added = [fault for fault in again.faults if fault.fatal]
    insist(not added, "an unknown adds no error", added, [word.shown for word in argv])
