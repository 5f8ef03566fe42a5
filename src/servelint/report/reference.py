"""Texts about a rule, from its file, and about an option or an environment variable, from the catalogs of an engine.

The history of an option is a list of runs: first release, last release (indexes into the catalog), and what it takes there.
"""

from __future__ import annotations

import textwrap
from itertools import pairwise

from servelint.core.own_rules import OWN
from servelint.engines import ENGINE_NAMES
from servelint.engines.catalog import LIST, OPTIONAL, Catalog, Option
from servelint.judge.parser.repairs import replacement
from servelint.judge.parser.view import listed, similar
from servelint.rules.load import rule_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.trust import RuleFolder

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "json": "JSON",
    "bool": "any text; every one but the empty one is true",
    "human_readable_int": "a whole number, also as 8k or 8K",
    "human_readable_int_or_auto": "a whole number, also as 8k or 8K, or auto",
}


def of_option(catalog: Catalog, name: str) -> str | None:
    """Describe an option in each release; None if no release has it.

    Args:
        catalog: the engine.
        name: the option, with or without dashes.
    """
    spelling = next(
        (one for one in (name, "--" + name.lstrip("-").replace("_", "-"), "--" + name) if catalog.spelled(one)), None
    )
    if spelling is None:
        return None
    runs = catalog.spelled(spelling)
    engine = ENGINE_NAMES[catalog.engine]
    lines = [f"{spelling} of {engine}: {when([(first, last) for first, last, _ in runs], catalog)}", ""]
    for first, last, option in _merged(runs):
        lines += _wrapped(f"{_range(first, last, catalog)}: {takes(option, spelling)}")
    lines += instead(catalog, spelling.lstrip("-"), runs[-1][1])
    return "\n".join([*lines, ""])


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
        parts.append(f"ends the start: {' '.join(option.refuses.split())}")
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
    default = body.get("default")
    if default is not None:
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
    own = OWN.get(name)
    if own is not None:
        return own.title, own.why
    data = written(name, folders)
    return (data["title"], data["why"]) if data is not None else (name, "")
