"""What single values mean, wherever they are written: a release, a GPU, a count. Each raises ValueError with what is wrong."""

from __future__ import annotations

from servelint.engines import ENGINE_NAMES
from servelint.engines.releases import release_key


def engine(name: str) -> str:
    """An engine's id."""
    if name not in ENGINE_NAMES:
        hint = suggestion(name, list(ENGINE_NAMES))
        raise ValueError(f'"{name}" is not an engine; use one of {", ".join(ENGINE_NAMES)}{hint}')
    return name


def release(name: str, written: str) -> str:
    """A release of an engine, without the v of its tag."""
    found = written.removeprefix("v")
    if release_key(found) is None:
        raise ValueError(f'"{written}" is not a release of {ENGINE_NAMES[name]}; releases look like 0.19.1')
    return found


def gpu(name: str) -> str:
    """The name of a GPU that servelint knows."""
    from servelint import hardware

    if hardware.identify(name) is None:
        near = hardware.near(name)
        told = f"did you mean {', '.join(near)}?" if near else f"use one of {', '.join(hardware.names())}"
        raise ValueError(f'"{name}" is not a GPU that servelint knows; {told}')
    return name


def choice(written: str, choices: tuple[str, ...]) -> str:
    """One of some words."""
    if written not in choices:
        raise ValueError(f'"{written}" is none of {", ".join(choices)}{suggestion(written, choices)}')
    return written


def suggestion(written: str, known: tuple[str, ...] | list[str], cutoff: float = 0.6) -> str:
    """' (did you mean "x"?)', or nothing where nothing is near. cutoff: from 0 to 1, how near it must be"""
    import difflib

    near = difflib.get_close_matches(written, known, n=1, cutoff=cutoff)
    return f' (did you mean "{near[0]}"?)' if near else ""
