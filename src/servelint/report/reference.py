"""Texts about a rule, from its file, and about an option or an environment variable, from the catalogs of an engine.

The history of an option is a list of runs: first release, last release (indexes into the catalog), and what it takes there.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from itertools import pairwise

from servelint.core.finding import SEVERITIES
from servelint.core.own_rules import OWN
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.catalog import LIST, OPTIONAL, Catalog, Option
from servelint.engines.purposes import purpose, purposes
from servelint.judge.parser.repairs import replacement
from servelint.judge.parser.view import listed, similar
from servelint.rules.condition import every_operand
from servelint.rules.load import rule_folder, rules_of
from servelint.rules.ranges import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.trust import RuleFolder
    from servelint.rules.rule import Rule

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "json": "JSON",
    "bool": "any text; every one but the empty one is true",
    "human_readable_int": "a whole number, also as 8k or 8K",
    "human_readable_int_or_auto": "a whole number, also as 8k or 8K, or auto",
}


class Ambiguous(ValueError):
    """A name is short for several options. The message lists them."""


def engine_named(name: str) -> str | None:
    """Return the id of the engine that a text names, however it is spelled: llamacpp, tensorrt-llm, vLLM, llama-server."""
    wanted = _letters(name)
    for engine in ENGINES.values():
        programs = [program for start in engine.starts for program in start.programs]
        if wanted and wanted in map(_letters, (engine.id, engine.name, engine.package, *engine.stems, *programs)):
            return engine.id
    return None


def _letters(text: str) -> str:
    return "".join([char for char in text.casefold() if char.isalnum()])


def of_name(catalog: Catalog, name: str) -> str | None:
    """Describe what a name stands for in each release: an option, a variable, or a key of a JSON option.

    Args:
        catalog: the engine.
        name: as people write it: with or without dashes, with underscores, shortened, with a value behind an equals sign.

    Returns:
        None if no release has it.

    Raises:
        Ambiguous: the name is short for several options.
    """
    bare = name.strip().partition("=")[0].removeprefix("$").strip("{}")
    exact = of_variable(catalog, bare) or of_option(catalog, bare, around=True)
    return exact or of_variable(catalog, bare.upper().replace("-", "_")) or of_key(catalog, bare) or _shortened(catalog, bare)


def of_option(catalog: Catalog, name: str, asked: str = "", *, around: bool = False) -> str | None:
    """Describe an option in each release; None if no release has it.

    Args:
        catalog: the engine.
        name: the option, with or without dashes.
        asked: what it was asked for by, if that is short for it.
        around: whether known problems, related options and the address of the documentation follow.
    """
    dashed = "--" + name.lstrip("-").replace("_", "-")
    spelling = next((one for one in (name, dashed, "--" + name, "--" + name.lstrip("-")) if catalog.spelled(one)), None)
    if spelling is None:
        return None
    runs = catalog.spelled(spelling)
    engine = ENGINE_NAMES[catalog.engine]
    lines = [f"{spelling} of {engine}: {when([(first, last) for first, last, _ in runs], catalog)}", ""]
    if asked:
        lines += [f"{asked} is short for it.", ""]
    if (what := purpose_of(catalog, runs[-1][2], spelling)) is not None:
        lines += [*textwrap.wrap(what, 100, break_on_hyphens=False), ""]
    for first, last, option in _merged(runs):
        lines += _wrapped(f"{_range(first, last, catalog)}: {takes(option, spelling)}")
    lines += instead(catalog, spelling.lstrip("-"), runs[-1][1])
    lines += _around(catalog, runs[-1][2]) if around else []
    return "\n".join([*lines, ""])


def without_catalog(engine: str, name: str) -> str | None:
    """Describe an option of an engine whose releases servelint does not list; None if no sentence about it is known."""
    names = {one.lstrip("-").replace("_", "-"): one for one in purposes(engine)}
    spelling = names.get(name.partition("=")[0].lstrip("-").replace("_", "-"))
    if spelling is None:
        return None
    what = purposes(engine)[spelling]
    return "\n".join(
        [
            *(f"{spelling} of {ENGINE_NAMES[engine]}", "", f"{what[0].upper()}{what[1:]}."),
            *(*_problems(_rules_on(engine, spelling.lstrip("-"))), *_documentation(engine), ""),
        ]
    )


_PROBLEMS = 6
_RELATED = 5


def _around(catalog: Catalog, option: Option) -> list[str]:
    """Return the known problems of an option, the options that rules name with it, and where its developers describe it."""
    found = _rules_on(catalog.engine, option.name)
    with_it = Counter(
        [name for rule in found for name in {*every_operand(rule.when), *rule.at} if catalog.spelled(f"--{name}")]
    )
    others = [f"--{name}" for name, _ in with_it.most_common(_RELATED + 1) if name != option.name][:_RELATED]
    related = ["", *textwrap.wrap(f"Related: {', '.join(others)}", 100, break_on_hyphens=False)] if others else []
    return [*_problems(found), *related, *_documentation(catalog.engine)]


def _rules_on(engine: str, name: str) -> list[Rule]:
    """Return the rules whose condition or place names an option, the worst first."""
    found = [rule for rule in rules_of(engine) if name in rule.at or name in every_operand(rule.when)]
    return sorted(found, key=lambda rule: (-SEVERITIES.index(rule.severity), rule.id))


def _problems(found: list[Rule]) -> list[str]:
    if not found:
        return []
    more = [f"  and {len(found) - _PROBLEMS} more: servelint rules"] if len(found) > _PROBLEMS else []
    lines = [f"{rule.id}: {rule.title} ({describe(rule.versions) or 'any version'})" for rule in found[:_PROBLEMS]]
    return ["", "Known problems:", *[part for line in lines for part in _wrapped(line)], *more]


def _documentation(engine: str) -> list[str]:
    record = ENGINES[engine]
    return ["", f"Documentation of {record.name}: {record.documentation}"] if record.documentation else []


def purpose_of(catalog: Catalog, option: Option, spelling: str) -> str | None:
    """Return what an option does by one of its spellings, as a sentence; None if no sentence is known."""
    others = () if spelling in option.negatives else [name for name in option.names if name not in option.negatives]
    what = purpose(catalog.engine, (spelling, *others))
    return f"{what[0].upper()}{what[1:]}." if what is not None else None


def _shortened(catalog: Catalog, name: str) -> str | None:
    """Describe the option that a name is a unique beginning of, in the newest release with such options."""
    if not ENGINES[catalog.engine].dialect.abbreviations:
        return None
    start = "--" + name.lstrip("-").replace("_", "-")
    if len(start) < 4 or start.upper() == name:
        return None
    found: dict[str, tuple[int, str]] = {}
    for spelling in catalog.starting(start):
        _, last, option = catalog.spelled(spelling)[-1]
        found[option.name] = min(found.get(option.name, (-last, spelling)), (-last, spelling))
    newest = min((last for last, _ in found.values()), default=0)
    spellings = sorted(spelling for last, spelling in found.values() if last == newest)
    if len(spellings) > 1:
        raise Ambiguous(f"{start} is short for several options: {listed(spellings, 12)}")
    return of_option(catalog, spellings[0], start, around=True) if spellings else None


def of_key(catalog: Catalog, name: str) -> str | None:
    """Describe a key of a JSON option in each release, as `speculative-config.method` or by its own name; None for no key."""
    option, _, path = name.lstrip("-").rpartition(".")
    keys = path.replace("-", "_")
    wanted = option.replace("_", "-")
    lines: list[str] = []
    for owner in catalog.json_names():
        if wanted and owner != wanted:
            continue
        known = catalog.keys(owner, len(catalog.releases) - 1)
        runs = known.runs.get(keys) if known is not None else None
        if not runs or not catalog.runs_of(owner):
            continue
        head = f"{keys} of --{owner} of {ENGINE_NAMES[catalog.engine]}"
        lines += [f"{head}: {when([(first, last) for first, last, _ in runs], catalog)}", ""]
        for first, last, body in runs:
            lines += _wrapped(f"{_range(first, last, catalog)}: {field(body)}")
        lines.append("")
    return "\n".join(lines) if lines else None


def of_variable(catalog: Catalog, name: str) -> str | None:
    """Describe an environment variable in each release; None if no release reads it."""
    runs = catalog.variables().get(name)
    if not runs:
        return None
    engine = ENGINE_NAMES[catalog.engine]
    lines = [f"{name} of {engine}: {when([(first, last) for first, last, _ in runs], catalog)}", ""]
    for first, last, body in runs:
        lines += _wrapped(f"{_range(first, last, catalog)}: {reads(body)}")
    return "\n".join([*lines, *instead(catalog, name, runs[-1][1]), ""])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def near(catalog: Catalog, name: str) -> str | None:
    """Return the option or variable most similar to a name that no release has; None if none is."""
    if name.isupper():
        return similar(name, catalog.variables())
    return similar("--" + name.lstrip("-"), catalog.spellings())


def _merged(runs: list[tuple[int, int, Option]]) -> list[tuple[int, int, Option]]:
    """Join runs that follow each other and have the same description."""
    found: list[tuple[int, int, Option]] = []
    for first, last, option in runs:
        if found and found[-1][1] + 1 == first and takes(found[-1][2], "") == takes(option, ""):
            found[-1] = (found[-1][0], last, option)
        else:
            found.append((first, last, option))
    return found


def _range(first: int, last: int, catalog: Catalog) -> str:
    if last == len(catalog.releases) - 1:
        return f"{catalog.releases[first]} and later"
    return catalog.releases[first] if first == last else f"{catalog.releases[first]} to {catalog.releases[last]}"


def when(runs: list[tuple[int, int]], catalog: Catalog) -> str:
    """Return the releases of runs, oldest first: "0.6.0 to 0.16.0; gone in 0.17.0"."""
    whole: list[tuple[int, int]] = []
    for first, last in runs:
        if whole and whole[-1][1] + 1 == first:
            whole[-1] = (whole[-1][0], last)
        else:
            whole.append((first, last))
    parts = [_range(first, last, catalog) for first, last in whole]
    end = whole[-1][1]
    gone = f"; gone in {catalog.releases[end + 1]}" if end + 1 < len(catalog.releases) else ""
    return " and ".join(parts) + gone


def takes(option: Option, spelling: str, most: int = 40) -> str:
    """Describe on one line what an option takes in a release.

    Args:
        option: the option there.
        spelling: the name by which it is asked for; its other names are listed. Empty: no names.
        most: choices that are listed at most.
    """
    parts: list[str] = []
    if option.refuses:
        parts.append(f"stops the start: {' '.join(option.refuses.split())}")
    elif not option.takes_value:
        parts.append("a switch" + (f", off with {listed(option.negatives)}" if option.negatives else ""))
    elif option.choices is not None:
        parts.append(f"one of {listed(option.choices, most)}")
    else:
        parts.append(" or ".join([_KINDS.get(kind, "a value") for kind in option.types if kind != "none"]) or "text")
    if option.kind == LIST:
        parts.append("several")
    elif option.kind == OPTIONAL:
        parts.append("may stand alone")
    if option.default is not None and option.takes_value:
        parts.append(f"default {_shown(option.default)}")
    if option.deprecated:
        parts.append("deprecated")
    others = [name for name in option.names if name != spelling]
    if spelling and others:
        parts.append(f"also {listed(others)}")
    return ", ".join(parts)


def reads(body: dict[str, Any]) -> str:
    """Describe on one line what a release reads from an environment variable, by its record in the catalog."""
    kind = str(body.get("type"))
    parts = ["true or false" if kind == "bool" else _KINDS.get(kind, "read")]
    if body.get("choices"):
        parts = [f"one of {listed(body['choices'])}"]
    if body.get("default") is not None:
        parts.append(f"default {_shown(body['default'])}")
    if body.get("deprecated"):
        parts.append("deprecated")
    return ", ".join(parts)


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return "an empty text" if default == "" else str(default)


_PLAIN = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text", "list": "a list"}
_PLAIN |= {"object": "an object"}
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def field(body: dict[str, Any], most: int = 40) -> str:
    """Describe on one line what a key of a JSON option takes, by its record in the catalog; at most `most` choices."""
    kinds = body.get("type", "any")
    names = [one for one in ([kinds] if isinstance(kinds, str) else kinds) if one != "null"]
    choices = [one for one in body.get("choices") or () if one is not None]
    taken = f"one of {listed(choices, most)}" if choices else " or ".join([_PLAIN.get(one, "a value") for one in names])
    parts = [taken or "a value", *[f"{words} {body[bound]}" for bound, words in _BOUNDS.items() if bound in body]]
    if (default := body.get("default")) is not None:
        parts.append(f"default {_shown(default)}")
    if body.get("deprecated"):
        parts.append("deprecated")
    return ", ".join(parts)


def lasting(runs: list[tuple[int, int]], catalog: Catalog) -> str:
    """Return a sentence about the releases of runs: "In vLLM 0.20.0 and later."."""
    name = ENGINE_NAMES[catalog.engine]
    whole = all(one[1] + 1 == other[0] for one, other in pairwise(runs))
    if whole and runs[0][0] == 0 and runs[-1][1] == len(catalog.releases) - 1:
        return f"In every {name} since {catalog.releases[0]}, the oldest that is known."
    return f"In {name} {when(runs, catalog)}."


def instead(catalog: Catalog, name: str, last: int) -> list[str]:
    """Return an empty line and what replaces an option or variable that ended with the release `last`; else nothing."""
    found = replacement(catalog.engine, name)
    if found is None or last + 1 >= len(catalog.releases):
        return []
    return ["", f"Instead: {found.text}"]


def written(name: str, folders: tuple[str | RuleFolder, ...]) -> dict[str, Any] | None:
    """Return a rule as its file has it; None if it has no file.

    Args:
        name: the id of the rule.
        folders: the folders of users' rules.
    """
    for path in folders:
        from servelint.rules import folder

        for data in folder.load(path).written:
            if data["id"] == name:
                return data
    from servelint.rules.compile import RuleError, find_rule

    try:
        return find_rule(name, rule_folder())
    except (OSError, ValueError, RuleError):
        return None


def title_and_why(name: str, folders: tuple[str | RuleFolder, ...]) -> tuple[str, str]:
    """Return the title of a rule and the reason for it; the id alone for a rule without a file."""
    if (own := OWN.get(name)) is not None:
        return own.title, own.why
    data = written(name, folders)
    return (data["title"], data["why"]) if data is not None else (name, "")
