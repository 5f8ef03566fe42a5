"""An option's or a variable's life: in which releases it is, and what it takes in each."""

from __future__ import annotations

import textwrap

from servelint.acceptance.replacements import replacement
from servelint.acceptance.wording import listed, similar
from servelint.engines import ENGINE_NAMES
from servelint.engines.catalog import LIST, OPTIONAL, Catalog, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    """The life of an option by one of its spellings (with or without dashes); None if no release has it."""
    spelling = next(
        (one for one in (name, "--" + name.lstrip("-").replace("_", "-"), "--" + name) if catalog.spelled(one)), None
    )
    if spelling is None:
        return None
    runs = catalog.spelled(spelling)
    engine = ENGINE_NAMES[catalog.engine]
    lines = [f"{spelling} of {engine}: {_when([(first, last) for first, last, _ in runs], catalog)}", ""]
    for first, last, option in _merged(runs):
        lines += textwrap.wrap(
            f"{_range(first, last, catalog)}: {takes(option, spelling)}",
            100,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    lines += _instead(catalog, spelling.lstrip("-"), runs[-1][1])
    return "\n".join([*lines, ""])


def of_variable(catalog: Catalog, name: str) -> str | None:
    """The life of an environment variable; None if no release reads it."""
    runs = catalog.variables().get(name)
    if not runs:
        return None
    engine = ENGINE_NAMES[catalog.engine]
    lines = [f"{name} of {engine}: {_when([(first, last) for first, last, _ in runs], catalog)}", ""]
    for first, last, body in runs:
        lines += textwrap.wrap(
            f"{_range(first, last, catalog)}: {_reads(body)}",
            100,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    return "\n".join([*lines, *_instead(catalog, name, runs[-1][1]), ""])


def near(catalog: Catalog, name: str) -> str | None:
    """What somebody may have meant who asks for a name that no release has."""
    if name.isupper():
        return similar(name, catalog.variables())
    return similar("--" + name.lstrip("-"), catalog.spellings())


def _merged(runs: list[tuple[int, int, Option]]) -> list[tuple[int, int, Option]]:
    """Runs that follow each other and read alike, as one."""
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


def _when(runs: list[tuple[int, int]], catalog: Catalog) -> str:
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


def takes(option: Option, spelling: str) -> str:
    """What an option takes in a release, on one line; names: those beside the spelling are told, if there is one."""
    parts: list[str] = []
    if option.refuses:
        parts.append(f"ends the start: {' '.join(option.refuses.split())}")
    elif not option.takes_value:
        parts.append("a switch" + (f", off with {listed(option.negatives)}" if option.negatives else ""))
    elif option.choices is not None:
        parts.append(f"one of {listed(option.choices, 40)}")
    else:
        parts.append(" or ".join([_KINDS.get(kind, "a value") for kind in option.types if kind != "none"]) or "text")
    if option.kind == LIST:
        parts.append("several")
    elif option.kind == OPTIONAL:
        parts.append("may stand alone")
    if option.default is not None and option.takes_value:
        parts.append(f"default {option.default if option.default != '' else 'an empty text'}")
    if option.deprecated:
        parts.append("deprecated")
    others = [name for name in option.names if name != spelling]
    if spelling and others:
        parts.append(f"also {listed(others)}")
    return ", ".join(parts)


def _reads(body: dict[str, Any]) -> str:
    kind = str(body.get("type"))
    parts = ["true or false" if kind == "bool" else _KINDS.get(kind, "read")]
    if body.get("choices"):
        parts = [f"one of {listed(body['choices'])}"]
    if body.get("default") is not None:
        parts.append(f"default {body['default'] if body['default'] != '' else 'an empty text'}")
    if body.get("deprecated"):
        parts.append("deprecated")
    return ", ".join(parts)


def _instead(catalog: Catalog, name: str, last: int) -> list[str]:
    instead = replacement(catalog.engine, name)
    if instead is None or last + 1 >= len(catalog.releases):
        return []
    return ["", f"Instead: {instead.text}"]
