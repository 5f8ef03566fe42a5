"""The formats that servelint reads: what each reader declares, and which reader takes a text.

A reader is a module of this package with a record (`Format`) and functions that the record names. Nothing lists the readers by
hand: tools/formats.py collects the records into formats.json, which holds what a check needs before it imports a reader, and
writes the pre-commit pattern, the selector of the editor's extension and the table of the README from them. To add a format,
write its module, run `python tools/formats.py`, then write its tests: a format that is not in formats.json is not seen.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from servelint.core.source import Source

TEXT, YAML, JSON = "text", "yaml", "json"
"""The syntaxes. A YAML or JSON text has no reader of its own: its content decides which format it is."""

FILES = {YAML: ("*.yaml", "*.yml"), JSON: ("*.json", "*.json5", "*.jsonc")}
"""Syntax -> names of the files that are parsed as it."""

TEMPLATE_SUFFIX = r"(?:\.(?:in|j2|jinja2?|tmpl|(?:tf)?tpl|gotmpl|template|example|sample|dist))?$"
"""What may follow a file's name: `compose.yml.j2` is read as `compose.yml`."""

_JSON_STARTS = ("{", "[", "/")
_ANY_CONTENT = (".conf", ".ini", ".txt", ".tpl", ".tftpl", ".tmpl", ".template")
"""Endings of names that say nothing of the content, like names without an ending: the shape of the text decides."""


class Format:
    """What a reader declares of its format.

    Attributes:
        name: Name of the format, unique.
        title: What people call it, for the table of the README.
        about: What the reader understands of it, for the same table: Markdown.
        order: Formats are tried from the lowest to the highest. No two have the same. It decides only where two formats of one
            syntax may take the same file.
        syntax: TEXT, YAML or JSON. A YAML format is offered each document of a file, a JSON format each text.
        files: Globs of the names of its files, without a folder and in any case. Braces give alternatives. Only for TEXT: the
            files of the other syntaxes are FILES.
        fallback: Globs of names that are its files if the text does not have the shape of another format.
        shape: Regular expression that finds it in a text whose name says nothing, "" for none.
        any_name: Whether the shape counts whatever a file's name ends in.
        unnamed: Regular expression of a text without any name (standard input) that may be of the format, "" for its shape.
        words: Words in lower case that make a file worth reading although it names no engine.
        needs: Regular expression that finds something in each file that is worth reading, "" where the name says enough.
            Only for TEXT.
        lists: Whether a YAML document of the format may be a list.
        bounded: Whether a YAML document is offered only if it is not a large table and aliases do not make it much larger.
        languages: Ids of the languages that VS Code gives to its files.
        is_mine: Function of the module, for a YAML format: `(source, document) -> bool`.
        read: Function of the module. For YAML `(source, documents, neighbours) -> list[Launch]`, for the others
            `(source, neighbours) -> list[Launch]`. One of JSON or of notebooks may give a `Problem` instead.
        module: Name of the module below this package. The index sets it.
        names: Regular expression of `files` for a name in lower case. The index sets it.
        otherwise: The same of `fallback`.
    """

    __slots__ = (
        "about", "any_name", "bounded", "fallback", "files", "is_mine", "languages", "lists", "module", "name", "names",
        "needs", "order", "otherwise", "read", "shape", "syntax", "title", "unnamed", "words",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        order: int = 0,
        *,
        title: str = "",
        about: str = "",
        syntax: str = TEXT,
        files: tuple[str, ...] = (),
        fallback: tuple[str, ...] = (),
        shape: str = "",
        any_name: bool = False,
        unnamed: str = "",
        words: Sequence[str] = (),
        needs: str = "",
        lists: bool = True,
        bounded: bool = False,
        languages: tuple[str, ...] = (),
        is_mine: str = "is_mine",
        read: str = "read",
        module: str = "",
        names: str = "",
        otherwise: str = "",
    ) -> None:
        self.name = name
        self.order = order
        self.title = title
        self.about = about
        self.syntax = syntax
        self.files = files
        self.fallback = fallback
        self.shape = shape
        self.any_name = any_name
        self.unnamed = unnamed
        self.words = words
        self.needs = needs
        self.lists = lists
        self.bounded = bounded
        self.languages = languages
        self.is_mine = is_mine
        self.read = read
        self.module = module
        self.names = names
        self.otherwise = otherwise

    def function(self, name: str) -> Any:
        """Import the module and give one of its functions."""
        return getattr(import_module(f"servelint.readers.{self.module}"), name)


with open(os.path.join(os.path.dirname(__file__), "formats.json"), encoding="utf-8") as _file:
    _index = json.load(_file)

FORMATS = [Format(**row) for row in _index["formats"]]
"""All formats, in the order in which they are tried."""
CANDIDATE: str = _index["candidate"]
"""Regular expression of the names of files that are looked at in a folder; a file that is named is always looked at."""
GLOBS: list[str] = _index["globs"]
"""The names of the files of all TEXT formats, without those of templates."""


_CALLERS = re.compile(
    r"\.(?:bash|sh|service|mk|just)$|(?:^|/)(?:(?:GNU)?makefile|\.?justfile|procfile|\.gitlab-ci\.ya?ml|\.github/workflows/[^/]+\.ya?ml)$",
    re.IGNORECASE,
)
"""Files that run scripts of their repository."""


def named(name: str) -> Format:
    """The format of a name."""
    return next(one for one in FORMATS if one.name == name)


def is_worth_reading(path: str, data: bytes) -> bool:
    """Whether a file that names an engine has what its format needs."""
    name = path.lower().rpartition("/")[2]
    return all(
        re.search(one.needs.encode(), data) is not None
        for one in FORMATS
        if one.needs and re.search(one.names, name) is not None
    )


SCRIPT_CALLED = r"(?m)^(?![ \t]*#)[^\n]*?(?<![\w.-])(?:\$\w+/)?((?:[\w.-]+/)*[\w.-]+\.sh)\b"
"""A script that a line of another one names, below the folder that a variable may hold."""


def calls_script(path: str, data: bytes) -> bool:
    """Whether a file runs a shell script, which may start an engine that the file itself does not mention."""
    return b".sh" in data and _CALLERS.search(path) is not None and re.search(SCRIPT_CALLED.encode(), data) is not None


def of_syntax(syntax: str) -> list[Format]:
    """The formats of a syntax, in the order in which they are tried."""
    return [one for one in FORMATS if one.syntax == syntax]


SERVICE = r"(?m)^([ \t]*)[\w{][^\n#:]*:[ \t]*\n([ \t]*\n)*\1[ \t]+image[ \t]*:[^\n]*\n(.*\n){0,80}?\1[ \t]+command[ \t]*:"
"""A service of a compose file: a name above an image and a command."""


def recognise(source: Source) -> str | None:
    """The name of the TEXT format that a text has, YAML, JSON, or None for a text that no reader takes.

    The name of the file decides where it says enough, else the shape of the text.
    """
    name = source.path.lower().rpartition("/")[2]
    if name.endswith((".yml", ".yaml")):
        return YAML
    text = source.text
    start = text.lstrip()[:1]
    plain = re.sub(f"(?<=.){TEMPLATE_SUFFIX}", "", name)
    for syntax, globs in FILES.items():
        if plain.endswith(tuple([glob[1:] for glob in globs])):
            return syntax if syntax == YAML or start in _JSON_STARTS else None
    for one in FORMATS:
        if one.names and re.search(one.names, plain):
            return one.name
    ending = "." in name.strip(".")
    if plain != name and "." not in plain and re.search(SERVICE, text):
        return YAML  # a service that a program puts into a compose file
    shaped = not ending or name.endswith(_ANY_CONTENT) or plain.endswith(_ANY_CONTENT)
    if shaped and text.startswith("#cloud-config"):
        return YAML
    for one in FORMATS:
        if one.syntax == TEXT and one.shape and (shaped or one.any_name) and re.search(one.shape, text):
            return one.name
    if not shaped:
        return None
    for one in FORMATS:
        if one.otherwise and ending and re.search(one.otherwise, name):
            return one.name
    if start == "{":
        return JSON
    return next((one.syntax for one in of_syntax(YAML) if one.shape and re.search(one.shape, text)), None)
