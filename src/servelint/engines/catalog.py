"""The catalog: what each release of an engine accepts on its command line and reads from its environment.

Loaded from a compiled form of data/<engine>.json (see catalog_file): one line a body, decoded when it is asked for, so that a
check of one launch decodes the few options that it uses.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from functools import lru_cache

from servelint.engines.releases import release_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FLAG, TOGGLE, VALUE, OPTIONAL, LIST, APPEND = "flag", "toggle", "value", "optional", "list", "append"

_HERE = os.path.dirname(os.path.abspath(__file__))


_HEADS_AT_MOST = 4_096
"""Words of which it is remembered what they are in each release: an editor meets one at every keystroke."""


class Option:
    """One option of one release, as its parser declares it.

    name:        canonical: the first long spelling without its dashes
    names:       the spellings that set it;  negatives: those that set a toggle to false
    kind:        FLAG takes no value, nor does TOGGLE, which has negatives; VALUE takes one, OPTIONAL one or none, LIST several,
                 APPEND one each time
    nargs:       of a LIST: "*", "+" or a number
    types:       names of the conversions that are tried, in order; empty for text
    choices:     the values that are taken; None for any
    default:     None also where the source has no literal
    sets:        what a flag sets: True or False
    deprecated:  what the release says when it is used, "" if it is not deprecated;  refuses: it ends the start with this text
    json:        the name of the object that its value is, "" if it is none
    bounds:      of a number that the config class limits: ge, gt, le, lt;  config: that class, where it is not always made
    """

    __slots__ = (
        "bounds", "choices", "config", "const", "default", "deprecated", "dest", "exclusive", "json", "kind", "name", "names",
        "nargs", "negatives", "refuses", "required", "sets", "types",
    )  # fmt: skip

    def __init__(self, name: str, body: dict[str, Any]) -> None:
        self.name = name
        self.names: list[str] = body.get("names", ["--" + name])
        self.negatives: list[str] = body.get("negatives", [])
        self.kind: str = body.get("kind", VALUE)
        self.nargs: str | int | None = body.get("nargs")
        types = body.get("type", [])
        self.types: list[str] = [types] if isinstance(types, str) else types
        self.choices: list[Any] | None = body.get("choices")
        self.default = body.get("default")
        self.const = body.get("const")
        self.sets: bool = body.get("sets", True)
        deprecated = body.get("deprecated", "")
        self.deprecated: str = "it is deprecated" if deprecated is True else deprecated
        self.refuses: str = body.get("refuses", "")
        self.required: bool = body.get("required", False)
        self.exclusive: str = body.get("exclusive", "")
        self.dest: str = body.get("dest", name)
        self.json: str = body.get("json", "")
        self.bounds: dict[str, float] = {bound: body[bound] for bound in ("ge", "gt", "le", "lt") if bound in body}
        self.config: str = body.get("config", "")

    @property
    def takes_value(self) -> bool:
        return self.kind not in (FLAG, TOGGLE)

    def polarity(self, spelling: str) -> bool | None:
        """What a spelling of a flag or toggle sets; None for an option that takes a value."""
        if self.takes_value:
            return None
        return self.sets if spelling not in self.negatives else not self.sets


class Catalog:
    """All releases of one engine; the releases oldest first."""

    __slots__ = (
        "_bodies",
        "_env",
        "_gaps",
        "_heads",
        "_keys",
        "_lines",
        "_ordered",
        "_parts",
        "_positionals",
        "_spellings",
        "_tables",
        "_values",
        "engine",
        "position",
        "releases",
    )

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        header = json.loads(self._lines[0])
        self.engine: str = header["engine"]
        self.releases: list[str] = header["releases"]
        self.position = {release: index for index, release in enumerate(self.releases)}
        self._parts: dict[str, Any] = header["parts"]
        self._spellings: dict[str, list[list[int]]] = json.loads(self._lines[self._parts["spellings"]])
        self._tables: dict[int, Table] = {}
        self._bodies: dict[int, Option] = {}
        self._ordered: list[str] = []
        self._values: dict[int, Any] = {}
        self._keys: dict[tuple[str, int], Keys | None] = {}
        self._env: dict[str, Any] | None = None
        self._positionals: list[Any] | None = None
        self._gaps: dict[str, list[tuple[int, int]]] = {}
        self._heads: dict[str, list[object]] = {}

    def index(self, release: str) -> int | None:
        """The position of a release; None if the catalog does not have it."""
        found = self.position.get(release)
        if found is not None:
            return found
        key = release_key(release)
        return next((index for index, known in enumerate(self.releases) if release_key(known) == key), None)

    def nearest(self, release: str | None) -> int:
        """The position of the newest release that is not newer than the given one: of the last where that is not known."""
        key = release_key(release) if release is not None else None
        if key is None:
            return len(self.releases) - 1
        older = [index for index, known in enumerate(self.releases) if (release_key(known) or key) <= key]
        return older[-1] if older else 0

    def around(self, release: str) -> tuple[int, int] | None:
        """The positions of the releases before and after one that the catalog does not have; None at its ends."""
        key = release_key(release)
        keys = [release_key(known) for known in self.releases]
        older = [index for index, known in enumerate(keys) if key is not None and known is not None and known < key]
        return (older[-1], older[-1] + 1) if older and older[-1] + 1 < len(keys) else None

    def table(self, index: int) -> Table:
        if index not in self._tables:
            self._tables[index] = Table(self, index)
        return self._tables[index]

    def spelled(self, spelling: str) -> list[tuple[int, int, Option]]:
        """(first, last, option) for each run of releases in which a spelling is declared, oldest first."""
        return [(first, last, self.option(line)) for first, last, line in self._spellings.get(spelling, ())]

    def gaps(self, spelling: str) -> list[tuple[int, int]]:
        """(gone, back) for each time that a spelling went and came again, oldest first: what is between lacks it."""
        if spelling not in self._gaps:
            runs = self._spellings.get(spelling, ())
            lasts = [last for _, last, _ in runs]
            starts = [first for first, _, _ in runs[1:] if first - 1 not in lasts]
            self._gaps[spelling] = [(max([last for last in lasts if last < back]) + 1, back) for back in starts]
        return self._gaps[spelling]

    def head(self, head: str, word: str) -> list[object]:
        """By release: the line of the option that a word is, by its head or as it is written, else the lines of those that it
        may be short for. Equal for two releases if both take it for the same."""
        key = head + " " + word
        if key not in self._heads:
            if len(self._heads) > _HEADS_AT_MOST:
                self._heads.clear()
            short: list[tuple[int, ...]] = [()] * len(self.releases)
            for one in self.starting(head):
                for first, last, line in self._spellings[one]:
                    for index in range(first, last + 1):
                        short[index] += (line,)
            lines: list[object] = [*short]
            for one in (word, head):
                for first, last, line in self._spellings.get(one, ()):
                    lines[first : last + 1] = [line] * (last + 1 - first)
            self._heads[key] = lines
        return self._heads[key]

    def spellings(self) -> dict[str, list[list[int]]]:
        """spelling -> [first, last, line of its option] for each run of releases."""
        return self._spellings

    def starting(self, prefix: str) -> list[str]:
        """The spellings of any release that start so, in order."""
        if not self._ordered:
            self._ordered = sorted(self._spellings)
        low = bisect_left(self._ordered, prefix)
        return self._ordered[low : bisect_left(self._ordered, prefix + "\U0010ffff", low)]

    def option(self, line: int) -> Option:
        if line not in self._bodies:
            name, body = json.loads(self._lines[line])
            self._bodies[line] = Option(name, body)
        return self._bodies[line]

    def required_lines(self) -> set[int]:
        """The lines of options that some release requires."""
        return set(self._parts["required"])

    def variables(self) -> dict[str, Any]:
        """name -> [first, last, body] for each run of releases that reads an environment variable."""
        if self._env is None:
            self._env = json.loads(self._lines[self._parts["env"]])
        return self._env

    def positionals(self, index: int) -> list[dict[str, Any]]:
        """The positional arguments of a release, in order."""
        run = self.positionals_line(index)
        return self._positionals[run][2]["list"] if self._positionals is not None and run != -1 else []

    def positionals_line(self, index: int) -> int:
        """Which of the lists of positional arguments a release has; -1 if none."""
        if self._positionals is None:
            self._positionals = json.loads(self._lines[self._parts["positionals"]])
        return next((number for number, (first, last, _) in enumerate(self._positionals) if first <= index <= last), -1)

    def keys(self, name: str, index: int) -> Keys | None:
        """The keys of a JSON object in one release; None if they are not known."""
        line = self._parts["json"].get(name)
        if line is None:
            return None
        if (name, index) in self._keys:
            return self._keys[name, index]
        part = self._decoded(line)
        extra = next((body for first, last, body in part["extra"] if first <= index <= last), None)
        found = Keys(extra["value"], part["keys"], index, dashes="dashes" in extra) if extra is not None else None
        self._keys[name, index] = found
        return found

    def inner(self, name: str, body: dict[str, Any], index: int) -> Keys | None:
        """The keys of an object inside another: under its own name (`compilation-config.pass_config`), or in the outer one.

        body: what the outer one has of the key
        """
        if "keys" in body:
            return Keys(body["extra"], {key: [[index, index, one]] for key, one in body["keys"].items()}, index)
        return self.keys(name, index)

    def names(self, kind: str) -> dict[str, list[Any]]:
        """name -> [first, last, body] for each run of releases: "speculative-methods", "tool-call-parsers", ..."""
        line = self._parts["names"].get(kind)
        found: dict[str, list[Any]] = self._decoded(line) if line is not None else {}
        return found

    def _decoded(self, line: int) -> Any:
        if line not in self._values:
            self._values[line] = json.loads(self._lines[line])
        return self._values[line]


class Keys:
    """The keys of a JSON object in one release.

    extra:  what the release does with a key that it does not know: "ignore" or "reject"
    known:  key -> its body;  runs: key -> [first, last, body] for each run of releases
    dashes: whether a dash in a key is an underscore
    """

    __slots__ = ("dashes", "extra", "known", "runs")

    def __init__(self, extra: str, runs: dict[str, list[Any]], index: int, *, dashes: bool = False) -> None:
        self.extra = extra
        self.dashes = dashes
        self.runs = runs
        self.known: dict[str, dict[str, Any]] = {}
        for key, bodies in runs.items():
            for first, last, body in bodies:
                if first <= index <= last:
                    self.known[key] = body
                    for alias in body.get("aliases", ()):
                        self.known[alias] = body

    def get(self, key: str) -> dict[str, Any] | None:
        """What the release knows of a key as it is written; None if it does not know it."""
        return self.known.get(key.replace("-", "_") if self.dashes else key)


class Table:
    """The options of one release by spelling."""

    __slots__ = ("_every", "_required", "catalog", "index", "lines")

    def __init__(self, catalog: Catalog, index: int) -> None:
        self.catalog = catalog
        self.index = index
        self.lines: dict[str, int] = {}
        self._required: list[Option] | None = None
        for spelling, runs in catalog.spellings().items():
            for first, last, line in runs:
                if first <= index <= last:
                    self.lines[spelling] = line
        self._every = frozenset(self.lines.values())

    @property
    def release(self) -> str:
        return self.catalog.releases[self.index]

    def has(self, line: int) -> bool:
        """Whether the release has the option of a line."""
        return line in self._every

    def find(self, spelling: str) -> Option | None:
        line = self.lines.get(spelling)
        return self.catalog.option(line) if line is not None else None

    def starting(self, prefix: str) -> list[str]:
        """The spellings that start so, in the order of their names."""
        return [spelling for spelling in self.catalog.starting(prefix) if spelling in self.lines]

    def get(self, name: str) -> Option | None:
        """An option by its canonical name."""
        found = self.find("--" + name)
        if found is not None and found.name == name:
            return found
        return next((option for line in self._every if (option := self.catalog.option(line)).name == name), None)

    def required(self) -> list[Option]:
        """The options without which the parser refuses."""
        if self._required is None:
            lines = self.catalog.required_lines()
            self._required = [self.catalog.option(line) for line in sorted(lines & self._every)]
        return self._required

    def options(self) -> list[Option]:
        """All options of the release, by name."""
        return sorted([self.catalog.option(line) for line in self._every], key=lambda option: option.name)


@lru_cache(maxsize=8)
def load(engine: str) -> Catalog | None:
    """An engine's catalog; None for an engine that has none."""
    from servelint.engines import catalog_file

    text = catalog_file.compiled(engine, os.path.join(_HERE, "data"))
    return Catalog(text) if text is not None else None


class Signatures:
    """What tells the releases of a catalog apart that read the same words."""

    __slots__ = ("_catalog", "_heads", "_required")

    def __init__(self, catalog: Catalog, words: list[str]) -> None:
        self._catalog = catalog
        options = [word.partition("=")[0] for word in words if word[:1] == "-" and len(word) > 1]
        self._heads = [catalog.head(option.partition(".")[0].replace("_", "-"), option) for option in options]
        self._required = sorted(catalog.required_lines())

    def of(self, index: int) -> tuple[object, ...]:
        """Equal for two releases only if their parsers read the words alike."""
        known = [head[index] for head in self._heads]
        required = [line for line in self._required if self._catalog.table(index).has(line)] if self._required else []
        return (self._catalog.positionals_line(index), *known, *required)
