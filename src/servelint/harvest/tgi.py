"""TGI: what `text-generation-launcher` of a release accepts, as the clap structs of launcher/src/main.rs declare it.

Rust text is read as far as declarations need it: comments, attributes, enums and the fields of `struct Args`. Nothing is
compiled. Releases come from the tags of a clone of the repository.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from servelint.harvest.archives import HarvestError
from servelint.harvest.llamacpp import closing, literal, literals, split
from servelint.harvest.sources import Tree

_MAIN = "launcher/src/main.rs"
_GLOBALS = "server/text_generation_server/models/globals.py"
_RUST = ("launcher/src/", "router/src/", "backends/v2/src/", "backends/v3/src/")
_PYTHON = "server/text_generation_server/"
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_NUMBERS = {"usize": int, "u64": int, "u32": int, "u16": int, "f32": float}
_READ = r'\benv::var(?:_os)?\(\s*"([A-Z][A-Z0-9_]+)"'
_READ_BY_PYTHON = r"""\b(?:os\.)?(?:environ\.get\(|getenv\(|environ\[)\s*["']([A-Z][A-Z0-9_]+)["']"""
_OF_ALL = ("-h", "--help"), ("-V", "--version")
"""What clap declares itself."""


def snapshot(tree: Tree, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """What one release accepts. Raises HarvestError where the launcher declares no options that can be read."""
    text = _COMMENT.sub(lambda match: match.group(1) or " ", tree.read(_MAIN) or "")
    enums = dict(_enums(text))
    options: dict[str, dict[str, Any]] = {}
    env: dict[str, dict[str, Any]] = {name: {} for name in _variables_read(tree)}
    taken: set[str] = set()
    for attributes, field, kind in _fields(text):
        name = field.replace("_", "-")
        option = _option(name, attributes, kind, enums, report)
        option["names"] = [one for one in option["names"] if one not in taken]  # clap takes the first that has a spelling
        taken.update(option["names"])
        options[name] = option
        if "env" in attributes:
            env[literal(attributes["env"]) or field.upper()] = {"option": name}
    if not options:
        raise HarvestError(f"tgi {tree.release}: {_MAIN} declares no options that can be read")
    for names in _OF_ALL:
        options[names[1].lstrip("-")] = {"names": list(names), "kind": "flag"}
    attention = _attention(tree)
    return {
        "engine": "tgi",
        "release": tree.release,
        "options": options,
        "positionals": [],
        "json": {},
        "env": dict(sorted(env.items())),
        "names": {"attention": {name: {} for name in attention}} if attention else {},
    }


def _enums(text: str) -> Iterator[tuple[str, list[str]]]:
    """(name, values) of each enum that clap reads: a variant is spelled in kebab case unless an attribute names it."""
    for match in re.finditer(r"#\[derive\([^)]*\bValueEnum\b[^)]*\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub )?enum (\w+)\s*\{", text):
        values = []
        for variant in split(text[match.end() : closing(text, match.end() - 1)]):
            named = re.search(r"#\[(?:clap|value)\(name\s*=\s*\"([^\"]+)\"\)\]", variant)
            plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", variant.split()[-1]).lower()
            values.append(named.group(1) if named else plain)
        yield match.group(1), values


def _fields(text: str) -> Iterator[tuple[dict[str, str], str, str]]:
    """(attributes of clap, name, type) of each field of `struct Args`."""
    start = re.search(r"\bstruct Args\s*\{", text)
    for part in split(text[start.end() : closing(text, start.end() - 1)]) if start else ():
        field = re.search(r"(?:pub )?(\w+)\s*:\s*([\w<>]+)$", part)
        declared = re.search(r"#\[(?:clap|arg)\(", part)
        if field is None or declared is None:
            continue
        inside = part[declared.end() : closing(part, declared.end() - 1)]
        pairs = [one.partition("=") for one in split(inside)]
        yield {name.strip(): value.strip() for name, _, value in pairs}, field.group(1), field.group(2)


def _option(
    name: str, attributes: dict[str, str], kind: str, enums: dict[str, list[str]], report: Callable[[str], None]
) -> dict[str, Any]:
    short = ["-" + name[0]] if "short" in attributes else []
    option: dict[str, Any] = {"names": [*short, "--" + (literal(attributes.get("long", "")) or name)]}
    if kind == "bool":
        return {**option, "kind": "flag"}
    several = "Vec<" in kind
    held = re.sub(r"\b(?:Option|Vec)<|>", "", kind)
    option["kind"] = "append" if several else "value"
    if held == "bool":
        option["choices"] = ["true", "false"]
    elif held in enums:
        option["choices"] = enums[held]
    elif held in _NUMBERS:
        option["type"] = held + ("-list" if "value_delimiter" in attributes else "")
    elif held != "String":
        report(f"--{name}: a value of the type {kind} is not known")
    if (default := literal(attributes.get("default_value", ""))) is not None:
        option["default"] = _NUMBERS.get(held, str)(default)
    return option


def _variables_read(tree: Tree) -> set[str]:
    """The variables that the launcher, the router and the shards read."""
    found: set[str] = set()
    for path in tree.paths():
        if path.endswith(".rs") and path.startswith(_RUST):
            found.update(re.findall(_READ, tree.read(path) or ""))
        elif path.endswith(".py") and path.startswith(_PYTHON):
            found.update(re.findall(_READ_BY_PYTHON, tree.read(path) or ""))
    return found


def _attention(tree: Tree) -> list[str]:
    """The values of ATTENTION that the shards take."""
    listed = re.search(r"^\s*_expected = \{([^}]*)\}", tree.read(_GLOBALS) or "", re.MULTILINE)
    return sorted(literals(listed.group(1))) if listed else []
