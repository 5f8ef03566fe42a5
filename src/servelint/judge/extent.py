"""How far a launch is judged: its release, the words and variables without a value, the rules that stay undecided."""

from __future__ import annotations

import re

from servelint.core.judged import ENVIRONMENT, FILE, IMAGE, VARIABLE, WORD, Judged, Undecided, Unresolved
from servelint.core.launch import Launch, Variable, Word
from servelint.core.secrets import is_secret_name
from servelint.core.settings import Settings
from servelint.core.text import HOLE, TracedText
from servelint.engines import ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.config import Config, facts_of, with_file
from servelint.engines.releases import KNOWN, newest, place, release_key
from servelint.files.directives import name_gpus
from servelint.judge.releases import of_source, unlisted
from servelint.rules import ranges
from servelint.rules.condition import lacking, lacking_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.source import Span
    from servelint.rules.rule import Rule

_CUDA = ("CUDA_VISIBLE_DEVICES",)
"""Variables that decide what an engine sees, of no engine's own."""


def judged(launch: Launch, settings: Settings) -> Judged:
    """How far a launch is judged, without the rules that stay undecided: those cost as much as judging it (`undecided`)."""
    release, how = _release(launch, settings)
    found = Judged(release, how, _unresolved(launch), checked=_has_options(launch.engine, release))
    other = _of_another_server(launch)
    if other is not None:
        found.checked = False
        why = "it belongs to a server whose options servelint does not know"
        found.unresolved.append(Unresolved(WORD, other.text.shown, other.site, why))
    strange = unlisted(launch, settings)
    tree = launch.release.span
    if of_source(launch) and release is None and tree is not None:
        name = ENGINES[launch.engine].name
        of = f"{name} may run from the source tree of {tree.source.path}, at any commit"
        found.assumption = f"{of}: what depends on the release is a warning at most"
    if strange is not None:
        found.release, found.known = strange.placed.near[0], False
        found.assumption = f"{strange.fact(launch.engine)}: {strange.assumption}"
    elif release is not None and (placed := place(launch.engine, release)) is not None and len(placed.near) == 2:
        found.assumption = (
            f"{ENGINES[launch.engine].name} {release} is judged by {' and '.join(placed.near)}, as far as they agree"
        )
    return found


def _of_another_server(launch: Launch) -> Word | None:
    """The option with which the engine's program hands over to another server, if that server's options are not known."""
    record = ENGINES[launch.engine].launchers.get(launch.launcher)
    marks = {mark.partition("=")[0] for mark in record.marks} if record is not None and record.foreign else frozenset()
    return next((word for word in launch.argv if word.text.flat.partition("=")[0].lstrip("-").replace("_", "-") in marks), None)


def _has_options(engine: str, release: str | None) -> bool:
    """Whether the options of a release are known: it is in the engine's catalog, or between two that are, or is not known."""
    catalog = catalogs.load(engine) if ENGINES[engine].harvested else None
    if catalog is None or release is None or (placed := place(engine, release)) is None or placed.kind != KNOWN:
        return catalog is not None
    return catalog.index(release) is not None or catalog.around(release) is not None


def _release(launch: Launch, settings: Settings) -> tuple[str | None, str]:
    """The release that a launch names, or that is assumed for it, and how it is known."""
    claim = launch.release
    named = claim.release if claim.release is not None and release_key(claim.release) is not None else None
    if named is not None:
        digest = claim.how == "image" and launch.image is not None and "@" in launch.image.flat
        return named, "digest" if digest else claim.how or "unknown"
    given = settings.engine_versions.get(launch.engine)
    if given is not None:
        return given, "settings"
    latest = newest(launch.engine) if claim.rolling else None
    return (latest, "rolling") if latest is not None else (None, "unknown")


def _unresolved(launch: Launch) -> list[Unresolved]:
    found = [
        _word(word, matters=not (_is_secret(word) or (at and _is_secret(launch.argv[at - 1]))))
        for at, word in enumerate(launch.argv)
        if HOLE in word.text.flat
    ]
    image = launch.image
    if image is not None and HOLE in image.flat:
        found.append(_part(IMAGE, image, image.span()))
    variables = [one for one in launch.env.values() if one.value is None or HOLE in one.value.flat]
    found += [_variable(one, launch) for one in variables]
    record = ENGINES[launch.engine]
    named = next((word for word in launch.argv if word.text.flat.startswith("--config")), None) if record.config_file else None
    if named is not None:
        found += _file(named, launch)
    found += _objects(launch)
    if launch.open_env:
        why = "variables may be set in a file or a script that was not read"
        found.append(Unresolved(ENVIRONMENT, "", launch.site, why))
    builder = "a source tree" if of_source(launch) else "a build of another publisher"
    why = f"the engine's own releases refuse it, and {builder} may not"
    if launch.launcher:
        why = "it is neither an option of the engine nor one that servelint knows of the program that starts it"
    found += [Unresolved(WORD, span.text, span, why) for span in dict.fromkeys(launch.unsure)]
    for one in found if launch.elsewhere else ():
        of = re.search(r"\.Values\.([\w.-]+)|\bindex \.Values \"([\w-]+)", one.text)
        path = (of.group(1) or of.group(2)) if of is not None else ""
        one.why = launch.elsewhere.get(path) or launch.elsewhere.get(path.partition(".")[0]) or one.why
    return found


def _is_secret(word: Word) -> bool:
    name = word.text.flat.partition("=")[0]
    return name.startswith("--") and is_secret_name(name[2:].replace("-", "_"))


def _word(word: Word, *, matters: bool = True) -> Unresolved:
    return _part(WORD, word.text, word.site, matters=matters)


def _part(kind: str, text: TracedText, site: Span | None, *, matters: bool = True) -> Unresolved:
    """The first unknown of a text as what keeps all of it from being known."""
    piece = next((piece for piece in text.pieces if piece.expression is not None), None)
    if piece is None:  # the file holds the character that stands for an unknown
        return Unresolved(kind, text.shown, site, reason(""), matters=matters)
    span = piece.span if piece.span is not None and piece.origin is None else site or piece.span
    if piece.perhaps is not None and piece.perhaps.shown:
        why = f"it is {piece.perhaps.shown}, or nothing"
    else:
        why = reason(piece.expression or "")
    shown = "".join([one.text if one.expression is None else one.shown or one.expression for one in text.pieces])
    return Unresolved(kind, shown, span, why, matters=matters)


def _variable(variable: Variable, launch: Launch) -> Unresolved:
    name, value = variable.name, variable.value
    piece = next((piece for piece in value.pieces if piece.expression is not None), None) if value is not None else None
    why = reason(piece.expression or "") if piece is not None else "the file passes it on without a value"
    matters = not is_secret_name(name) and (name in _CUDA or _reads(launch.engine, name))
    shown = f"{name}={value.shown}" if value is not None else name
    return Unresolved(VARIABLE, shown, variable.site or (value.span() if value is not None else None), why, matters=matters)


def _reads(engine: str, name: str) -> bool:
    """Whether some release of an engine reads a variable."""
    catalog = catalogs.load(engine)
    return catalog is not None and name in catalog.variables()


def _file(named: Word, launch: Launch) -> list[Unresolved]:
    """The file of `--config`, where its options are not known; the words in it that are not."""
    words, fault = with_file(launch)
    if fault is not None or "=" in named.text.flat:
        return []  # which is a finding: a file that cannot be read, or one that the engine does not read
    if words is launch.argv:
        return [Unresolved(FILE, named.shown, named.site, _UNREAD)]
    own = {id(word) for word in launch.argv}
    return [_word(word) for word in words if id(word) not in own and HOLE in word.text.flat]


def _objects(launch: Launch) -> list[Unresolved]:
    """The files of options whose value is a YAML file, as far as they were not read."""
    files = ENGINES[launch.engine].object_files
    if files is None or any(word.text.flat == files[1] for word in launch.argv):
        return []
    read, _ = with_file(launch)
    found = []
    for at, word in enumerate(launch.argv):
        spelling, equals, _ = word.text.flat.partition("=")
        at += 0 if equals else 1
        if spelling in files[0] and at < len(launch.argv) and read[at] is launch.argv[at] and HOLE not in read[at].text.flat:
            found.append(Unresolved(FILE, word.text.shown, word.site, _UNREAD))
    return found


_UNREAD = "the file that it names was not read and may set any option"
_REASONS = (
    (r"\$\{?[@*1-9]", "the arguments of the script are unknown"),
    (r"\$\(\(|\$\[", "the result is not known"),
    (r"[$<>]\(|`", "the output of a command is not known"),
    (r"\{\{|\{%|<%|\$\{\{|\$\[\[|@@?\w|%\w+%|__\w", "a template fills it in"),
    (r"<[^>]*>|\[[^\]]*\]|\.\.\.|\u2026", "it is a placeholder"),
)
_NAME = r"\$(?:env:|\{|\()?[#!]?([A-Za-z_][\w.]*)"


def reason(expression: str) -> str:
    """Why an expression has no value, as a sentence."""
    found = next((why for pattern, why in _REASONS if re.match(pattern, expression)), None)
    name = re.match(_NAME, expression)
    return found or (f"{name.group(1)} has no value in this file" if name is not None else "its value is not known")


# -- rules


_RELEASES_TRIED = 12


def undecided(launch: Launch, settings: Settings) -> list[Undecided]:
    """The rules that may hold for a launch and that a missing fact leaves open.

    Rules count only where the launch has what they are about: an option or a variable that they need is written. Of many
    releases that are possible some are tried.
    """
    from servelint.judge.judging import configs_judged, rules_for

    name_gpus(launch, settings)
    configs = configs_judged(launch, settings)
    found: list[Undecided] = []
    step = len(configs) // _RELEASES_TRIED + 1
    configs = [*configs[:-1:step], configs[-1]]
    for rule in rules_for(launch, settings, configs):
        names = _lacks(rule, configs)
        names = [name for name in names if not name.startswith("effective.")] or names  # those are computed from others
        lacks = list(dict.fromkeys([_fact(name, configs[-1]) for name in names]))
        if lacks:
            found.append(Undecided(rule.id, lacks))
    return found


def _lacks(rule: Rule, configs: list[Config]) -> list[str]:
    """The operands that leave a rule open; none if it certainly holds, or certainly does not."""
    truths: list[bool | None] = []
    names: list[str] = []
    for config in configs:
        if not ranges.contains(rule.bounds, config.key):
            truths.append(False)
            continue
        truth = rule.holds(config)
        exempt = rule.exempts(config) if rule.exempts is not None else False
        if truth is not False and exempt is not True:
            names += lacking(rule.when, config)
            names += lacking(rule.unless, config, closed=True) if rule.unless is not None else []
            if truth and exempt is False:
                names += [name for shown in rule.shows for name in lacking_value(rule.values[shown], config)]
                names += ["model.size"] if (rule.check or "").startswith("memory.") and config.family is None else []
        truths.append(False if truth is False or exempt is True else None if truth is None or exempt is None else True)
        if None in truths or len(set(truths)) == 2:
            break
    return [*names, "release"] if False in truths and len(set(truths)) == 2 else names


_FACTS = {
    "release": "the release",
    "model": "the facts of the model",
    "draft": "the facts of the draft model",
    "gpu": "the GPU",
    "container": "how the container is run",
    "stack": "what is installed beside the engine",
}


def _fact(name: str, config: Config) -> str:
    """What an operand without a value is, in words."""
    head, _, rest = name.partition(".")
    if head == "env":
        return f"the variable {rest}"
    if name == "gpu.count":
        return "how many GPUs there are"
    if name == "model":
        return "the model"
    if head == "effective":
        fact = facts_of(config.launch.engine)[rest]
        return f"whether {fact.meaning.removeprefix('whether ')}" if fact.type == "bool" else fact.meaning
    if head in _FACTS:
        return _FACTS[head]
    if rest and config.setting(head) is not None:
        return f"the value of --{head}"
    operand = config.operand(name)
    return f"the value of --{name}" if operand.present else f"whether --{name} is given"
