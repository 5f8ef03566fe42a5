"""Examples as recipes of a Makefile and of a justfile."""

from __future__ import annotations

import re
from typing import Any

from tests.wrapping import IMAGED, PACKAGES, container, verb_of

_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


def _command(engine: str, example: dict[str, Any]) -> tuple[str, str, str]:
    """What starts the engine, what it is given, and what installs it before."""
    if "image" in example or ("version" in example and engine in IMAGED):
        return container(engine, example), "", ""
    verb = verb_of(example["run"], engine)
    install = f"pip install {PACKAGES[engine].format(example['version'])}" if "version" in example else ""
    return verb, example["run"].removeprefix(verb).strip(), install


def _exported(engine: str, example: dict[str, Any]) -> dict[str, str]:
    contained = "image" in example or ("version" in example and engine in IMAGED)
    return {} if contained else example.get("env", {})


def makefile(engine: str, example: dict[str, Any]) -> str:
    start, rest, install = _command(engine, example)
    rest = rest.replace("$", "$$").replace(" --", " \\\n\t--")
    start = start.replace("$", "$$").replace(" --", " \\\n\t  --")
    exports = "".join([f"export {name} = {_of_make(value)}\n" for name, value in _exported(engine, example).items()])
    return (
        f"{exports}ARGS = {rest}\n\n.PHONY: serve\ninstall:\n\t{install or 'true'}\n\n"
        f"serve: install ## start it\n\t@echo starting\n\t{start} $(ARGS)\n"
    )


def _of_make(value: str) -> str:
    return _VARIABLE.sub(lambda match: f"$({match.group(1)})", value)


def justfile(engine: str, example: dict[str, Any]) -> str:
    start, rest, install = _command(engine, example)
    rest = rest.replace("{{", "{{{{").replace(" --", " \\\n      --")
    start = start.replace("{{", "{{{{").replace(" --", " \\\n      --")
    exports = "".join([f"export {name} := {_of_just(value)}\n" for name, value in _exported(engine, example).items()])
    return f"{exports}\ninstall:\n  {install or 'true'}\n\nserve: install\n  @echo starting\n  {start} {rest}\n"


def _of_just(value: str) -> str:
    match = _VARIABLE.fullmatch(value)
    return f"env('{match.group(1)}')" if match is not None else f'"{value}"'


WRAPPERS = {
    "makefile": ("Makefile", makefile),
    "justfile": ("justfile", justfile),
}
