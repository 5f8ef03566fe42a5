"""Write what follows from the records of formats and engines; with --check, say what is out of date and end with 1.

    python tools/formats.py [--check]

Made from the records (`servelint.readers.registry.Format`) in the modules of servelint.readers: the index that a check reads
instead of importing them, the names of files in .pre-commit-hooks.yaml, the languages and names in the extension for VS Code,
and the table between `<!-- formats -->` and `<!-- /formats -->` in the README and in docs. The schemas of rules, reports and
settings list the engines of servelint.engines.registry.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from importlib import import_module
from itertools import combinations
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from servelint.readers.registry import Format

ROOT = Path(__file__).resolve().parent.parent
READERS = ROOT / "src/servelint/readers"
SCHEMAS = ROOT / "schemas"
SCHEMASTORE = ROOT / "integrations" / "schemastore" / "servelint.json"
INDEX = READERS / "formats.json"
_ALL_NAMES = r"(?:^|/)[^./]+$|(?:^|/)[^./_][^./]*(?:\.template)?\.(?:(?:tf)?tpl|j2|jinja2?|tmpl|template)$"
"""Files without an ending in their names, or with that of a template alone: the shape of the text decides."""
_TEMPLATES = ("*.j2", "*.jinja", "*.jinja2", "*.tmpl", "*.tpl", "*.tftpl", "*.gotmpl")
_LANGUAGES = {"text": (), "yaml": ("yaml",), "json": ("json", "jsonc")}
_PLAIN = "plaintext"
"""The language that VS Code gives to a file that it does not know."""
_TABLE = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- /formats -->)", re.DOTALL)
_RUN_TIME = ("syntax", "shape", "any_name", "unnamed", "words", "needs", "lists", "bounded", "is_mine", "read")


def load() -> dict[str, list[Format]]:
    """Collect the records by the name of the module that holds them."""
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    from servelint.readers.registry import Format

    found: dict[str, list[Format]] = {}
    for module in sorted(one.name for one in walk_packages([str(READERS)], "servelint.readers.")):
        for value in vars(import_module(module)).values() if not module.endswith(".registry") else ():
            if isinstance(value, Format):
                value.module = module.removeprefix("servelint.readers.")
                found.setdefault(value.module, []).append(value)
    return found


def declared() -> list[Format]:
    """The records in the order in which they are tried. Raises ValueError where two have the same name or place."""
    formats = sorted([one for several in load().values() for one in several], key=lambda one: one.order)
    for key in ("name", "order"):
        for one, other in combinations(formats, 2):
            if getattr(one, key) == getattr(other, key):
                orders = ", ".join([str(two.order) for two in formats])
                raise ValueError(f"{one.module} and {other.module} have the same {key}: {getattr(one, key)} (orders: {orders})")
    return formats


# -- globs


def expression(globs: tuple[str, ...]) -> str:
    """A regular expression that finds the names of some globs at the end of a path; it ends before the end of the name."""
    endings = sorted({match.group(1).lower() for glob in globs if (match := re.fullmatch(r"\*\.(\w+)", glob))})
    others = [_translated(glob.lower()) for glob in globs if not re.fullmatch(r"\*\.\w+", glob)]
    return "|".join([*([rf"\.(?:{'|'.join(endings)})"] if endings else []), *others])


def _translated(glob: str) -> str:
    parts = ["" if glob.startswith("*") else "(?:^|/)"]
    depth = 0
    rest = glob.removeprefix("*")
    for part in re.findall(r"\[[^\]]*\]|.", rest):
        depth += (part == "{") - (part == "}")
        plain = "|" if part == "," and depth else part if part[0] == "[" else re.escape(part)
        parts.append({"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}.get(part, plain))
    return "".join(parts)


def expanded(glob: str) -> list[str]:
    """A glob without braces for each choice of their alternatives."""
    braces = re.search(r"\{([^{}]*)\}", glob)
    if braces is None:
        return [glob]
    choices = [glob[: braces.start()] + one + glob[braces.end() :] for one in braces.group(1).split(",")]
    return [one for choice in choices for one in expanded(choice)]


def globs(formats: list[Format]) -> list[str]:
    """The names of the files of all text formats, as editors take them."""
    names = {glob for one in formats for written in (*one.files, *one.fallback) for glob in expanded(written)}
    return sorted(names, key=lambda glob: (glob.lstrip("*.").lower(), glob))


def candidate(formats: list[Format]) -> str:
    """A regular expression that finds the paths that a check of a folder looks at."""
    from servelint.readers.registry import FILES, TEMPLATE_SUFFIX

    names = tuple([glob for one in formats for glob in (*one.files, *one.fallback)])
    every = (*[glob for of_syntax in FILES.values() for glob in of_syntax], *names)
    return f"(?i)(?:{expression(every)}){TEMPLATE_SUFFIX}|{_ALL_NAMES}"


# -- what is written


def index(formats: list[Format]) -> str:
    """What a check reads in place of the records."""
    from servelint.readers.registry import Format

    plain = Format("", 0)
    rows = []
    for one in formats:
        row = {"name": one.name, "module": one.module}
        row |= {name: value for name in _RUN_TIME if (value := getattr(one, name)) != getattr(plain, name)}
        row |= {name: f"(?:{expression(made)})$" for name, made in (("names", one.files), ("otherwise", one.fallback)) if made}
        rows.append(row)
    return json.dumps({"candidate": candidate(formats), "globs": globs(formats), "formats": rows}, indent=1) + "\n"


def languages(formats: list[Format]) -> list[str]:
    """The ids of the languages of VS Code whose texts are looked at."""
    of_formats = [name for one in formats for name in (*one.languages, *_LANGUAGES[one.syntax])]
    return sorted({*of_formats, _PLAIN})


def selector(text: str, formats: list[Format]) -> str:
    """editors/vscode/src/selector.ts."""
    listed = "".join(f"  {json.dumps(name)},\n" for name in languages(formats))
    text = re.sub(r"(?<=LANGUAGES = \[\n).*?(?=\];)", lambda _: listed, text, count=1, flags=re.DOTALL)
    names = ",".join([*globs(formats), *_TEMPLATES])
    return re.sub(r"(?m)^const NAMES = .*$", lambda _: f'const NAMES = "**/{{{names}}}";', text, count=1)


def manifest(text: str, formats: list[Format]) -> str:
    """editors/vscode/package.json."""
    listed = ",\n".join(f'    "onLanguage:{name}"' for name in languages(formats))
    return re.sub(r'(?<="activationEvents": \[\n).*?(?=\n  \])', lambda _: listed, text, count=1, flags=re.DOTALL)


def hooks(text: str, formats: list[Format]) -> str:
    """.pre-commit-hooks.yaml."""
    return re.sub(r"(?m)^  files: .*$", lambda _: f"  files: '{candidate(formats)}'", text)


def table(formats: list[Format]) -> str:
    """The formats for people."""
    rows = [f"| {one.title} | {one.about} |\n" for one in formats if one.title]
    return "".join(["\n| format | |\n|---|---|\n", *rows, "\n"])


def schemastore() -> str:
    """The schema of the settings as SchemaStore takes it: of draft 7, under an address of its own."""
    from tools.schemas import settings, text

    head = {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://json.schemastore.org/servelint.json"}
    data = {**settings(), **head, "description": "servelint.toml, and [tool.servelint] of pyproject.toml"}
    return text(data).replace('"$defs"', '"definitions"').replace("#/$defs/", "#/definitions/")


def engine_lists(text: str) -> str:
    """The text of a schema with the registry's engines in each list that starts with the first of them."""
    from servelint.engines.registry import ENGINES

    def replaced(match: re.Match[str]) -> str:
        indent = re.search(r"\n[ ]*", match.group())
        listed = json.dumps(list(ENGINES)) if indent is None else ("," + indent.group()).join(map(json.dumps, ENGINES))
        return listed if indent is None else f"[{indent.group()}{listed}{indent.group()[:-2]}]"

    return re.sub(rf'\[\s*"{re.escape(next(iter(ENGINES)))}"(?:\s*,\s*"[^"]*")*\s*\]', replaced, text)


def written() -> dict[Path, str]:
    """What each file has to hold."""
    formats = declared()
    from tools import schemas

    found = {INDEX: index(formats), SCHEMASTORE: schemastore()}
    for name, schema in (("settings", schemas.settings), ("admission-policy", schemas.policy)):
        found[SCHEMAS / f"{name}.schema.json"] = schemas.text(schema())
    for name in ("rule", "report", "catalog-rule"):
        path = SCHEMAS / f"{name}.schema.json"
        found[path] = engine_lists(path.read_text(encoding="utf-8"))
    for path, make in (
        (ROOT / ".pre-commit-hooks.yaml", hooks),
        (ROOT / "editors/vscode/src/selector.ts", selector),
        (ROOT / "editors/vscode/package.json", manifest),
    ):
        if path.exists():  # a source distribution has no extension
            found[path] = make(path.read_text(encoding="utf-8"), formats)
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        if _TABLE.search(text):
            found[path] = _TABLE.sub(lambda _: table(formats), text)
    return found


def main(argv: list[str] | None = None) -> int:
    """Write the files that are out of date, or list them.

    Returns:
        The exit status: 1 if --check finds one that is; records that contradict each other end with 2.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if a file is out of date")
    options = parser.parse_args(argv)
    try:
        texts = written()
    except ValueError as error:
        parser.error(str(error))
    stale = [path for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'out of date' if options.check else 'written'}")
        if not options.check:
            path.write_text(texts[path], encoding="utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
