"""The catalog: what each release of an engine accepts on its command line and reads from its environment.

People review data/<engine>.json. In it, `releases` of a body is a text such as "0.6.0..0.16.0, 0.33.0..". An open end reaches
to the newest release in the catalog, so that adding a release changes only what the release changes.

A check maps a compiled form (`core.data.Lines`): a header, then one line for each part or body. A line is decoded when it is
first used, so that a check of one launch decodes the few options that it uses. The line of an option is its offset.

A run is a range of releases that share a body: (first, last, body), as inclusive positions in `Catalog.releases`.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left

from servelint.core.data import Lines, LinesWriter, active, compiled_path, date, mapped
from servelint.engines.registry import ENGINES, derived
from servelint.engines.releases import newest, release_key, sort_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from mmap import mmap
    from typing import Any


# -- files


SUFFIX = ".catalog"


def compiled_text(engine: str, folder: str) -> bytes | mmap | None:
    """The text of an engine's compiled catalog, compiled anew if the reviewed file is newer; None if there is none."""
    path, reviewed = os.path.join(compiled_path(folder), engine + SUFFIX), os.path.join(folder, engine + ".json")
    try:
        if os.stat(path).st_mtime_ns >= os.stat(reviewed).st_mtime_ns and (there := mapped(path)) is not None:
            return there
    except FileNotFoundError:
        if not os.path.exists(reviewed):
            return mapped(path) if os.path.exists(path) else None
    text = compile_catalog(json.loads(_read(reviewed)))
    try:
        _write(path, text)
    except OSError:
        return text  # a folder that may only be read
    return text


def has_catalog(engine: str, folder: str) -> bool:
    """Whether a folder has a catalog of an engine."""
    return any(os.path.exists(os.path.join(folder, engine + suffix)) for suffix in (".json", SUFFIX))


def compile_file(path: str) -> str:
    """Write the compiled form of a catalog file beside it, and return its path."""
    target = path.removesuffix(".json") + SUFFIX
    _write(target, compile_catalog(json.loads(_read(path))))
    return target


def compile_all(folder: str, engines: list[str]) -> list[str]:
    """Compile the catalogs of some engines in a folder, and return the paths that were written."""
    paths = [os.path.join(folder, engine + ".json") for engine in engines]
    return [compile_file(path) for path in paths if os.path.exists(path)]


def compile_catalog(data: dict[str, Any]) -> bytes:
    """Compile a catalog. Raises KeyError if a body names a release that the catalog does not list."""
    position = {release: index for index, release in enumerate(data["releases"])}

    def runs(bodies: list[dict[str, Any]]) -> list[list[Any]]:
        found: list[list[Any]] = []
        for body in bodies:
            rest = {key: value for key, value in body.items() if key != "releases"}
            found += [[first, last, rest] for first, last in parse_runs(body["releases"], position)]
        return sorted(found, key=lambda run: run[:2])

    def table(part: dict[str, Any]) -> dict[str, list[list[Any]]]:
        return {name: runs(bodies) for name, bodies in part.items()}

    lines = LinesWriter()
    add = lines.add
    spellings: dict[str, list[tuple[int, int, int]]] = {}
    required: list[tuple[int, int, int]] = []
    for name, bodies in data["options"].items():
        for body in bodies:
            line = add([name, {key: value for key, value in body.items() if key != "releases"}])
            here = [(first, last, line) for first, last in parse_runs(body["releases"], position)]
            if body.get("required"):
                required += here
            for spelling in [*body.get("names", ["--" + name]), *body.get("negatives", [])]:
                spellings.setdefault(spelling, []).extend(here)
    parts = {
        "required": required,
        "spellings": add(list(spellings)),
        # as text, for a check asks for the runs of few
        "runs": add([" ".join([str(one) for run in sorted(runs) for one in run]) for runs in spellings.values()]),
        "positionals": add(runs(data["positionals"])),
        "env": lines.add_table(table(data["env"])),
        "json": {name: add({"extra": runs(part["extra"]), "keys": table(part["keys"])}) for name, part in data["json"].items()},
        "names": {kind: lines.add_table(table(part)) for kind, part in data["names"].items()},
    }
    return lines.text({"engine": data["engine"], "releases": data["releases"], "parts": parts})


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write(path: str, text: bytes) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
    with open(temporary, "wb") as file:
        file.write(text)
    os.replace(temporary, path)


def format_runs(indexes: list[int], releases: list[str]) -> str:
    """Write sorted positions in a list of releases as runs.

    >>> format_runs([0, 1, 3], ["0.1", "0.2", "0.3", "0.4"])
    '0.1..0.2, 0.4..'
    """
    parts: list[str] = []
    at = 0
    while at < len(indexes):
        end = at
        while end + 1 < len(indexes) and indexes[end + 1] == indexes[end] + 1:
            end += 1
        first, last = indexes[at], indexes[end]
        if last == len(releases) - 1:
            parts.append(releases[first] + "..")
        else:
            parts.append(releases[first] if first == last else f"{releases[first]}..{releases[last]}")
        at = end + 1
    return ", ".join(parts)


def parse_runs(text: str, position: dict[str, int]) -> list[tuple[int, int]]:
    """Read runs as inclusive positions (first, last). Raises KeyError for a release that has no position.

    >>> parse_runs("0.1..0.2, 0.4..", {"0.1": 0, "0.2": 1, "0.3": 2, "0.4": 3})
    [(0, 1), (3, 3)]
    """
    runs: list[tuple[int, int]] = []
    for part in text.split(", "):
        first, dots, last = part.partition("..")
        start = position[first]
        runs.append((start, position[last] if last else len(position) - 1 if dots else start))
    return runs


# -- what a check asks


FLAG, TOGGLE, VALUE, OPTIONAL, LIST, APPEND = "flag", "toggle", "value", "optional", "list", "append"

_WORDS_AT_MOST = 4_096
"""Number of words whose meaning in each release is cached. An editor brings a new one at every keystroke."""


class Option:
    """One option of one release, as its parser declares it.

    Attributes:
        name: the canonical name: the first long spelling without its dashes.
        names: the spellings that set it.
        negatives: the spellings that set a toggle to false.
        kind: FLAG and TOGGLE (which has negatives) take no value, VALUE one, OPTIONAL one or none, LIST several, APPEND one
            each time that it is given.
        nargs: of a LIST: "*", "+" or a number.
        types: names of the conversions that are tried, in order; empty for text.
        choices: the values that are accepted; None for any.
        default: the default; None also if the source has no literal.
        const: the value of an OPTIONAL that is given without one.
        sets: what a flag sets: True or False.
        deprecated: what the release prints when it is used, "" if it is not deprecated.
        refuses: the error with which the release stops the start when it is used, "" if it does not.
        required: whether the parser refuses an argv without it.
        exclusive: name of a group of options only one of which may be given, "" for none.
        dest: its name in the engine's source.
        json: the catalog's name of the object that its value is, "" if it is not an object.
        bounds: limits of a number by its config class: ge, gt, le, lt.
        config: that class, where it is not always made.
        shape: what the parser asks of the option: two with the same shape take the same words.
    """

    __slots__ = (
        "bounds", "choices", "config", "const", "default", "deprecated", "dest", "exclusive", "json", "kind", "name", "names",
        "nargs", "negatives", "refuses", "required", "sets", "shape", "types",
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
        self.shape = (name, self.kind, self.nargs, self.exclusive, bool(self.json), self.sets, *self.negatives)

    @property
    def takes_value(self) -> bool:
        """Whether the option takes a value, or may take one."""
        return self.kind not in (FLAG, TOGGLE)

    @property
    def long_name(self) -> str:
        """The first spelling with two dashes, else the first one."""
        return next((name for name in self.names if name.startswith("--")), self.names[0])

    def polarity(self, spelling: str) -> bool | None:
        """What a spelling of a flag or toggle sets; None for an option that takes a value."""
        if self.takes_value:
            return None
        return self.sets if spelling not in self.negatives else not self.sets


class Catalog:
    """What all releases of one engine accept.

    Attributes:
        engine: the engine's id.
        releases: the releases, oldest first.
        position: release -> its position in them.
    """

    __slots__ = (
        "_bodies",
        "_gaps",
        "_heads",
        "_keys",
        "_lines",
        "_ordered",
        "_parts",
        "_positionals",
        "_runs",
        "_since",
        "_spellings",
        "_tables",
        "_values",
        "engine",
        "position",
        "releases",
    )

    def __init__(self, text: bytes | mmap) -> None:
        self._lines = Lines(text)
        header = self._lines.header
        self.engine: str = header["engine"]
        self.releases: list[str] = header["releases"]
        self.position = {release: index for index, release in enumerate(self.releases)}
        self._parts: dict[str, Any] = header["parts"]
        spelled, runs = self._lines.load(self._parts["spellings"]), self._lines.load(self._parts["runs"])
        self._spellings: dict[str, str] = dict(zip(spelled, runs, strict=True))
        self._runs: dict[str, list[tuple[int, int, int]]] = {}
        self._ordered: list[str] = []
        self._tables: dict[int, Table] = {}
        self._bodies: dict[int, Option] = {}
        self._values: dict[int, Any] = {}
        self._keys: dict[tuple[str, int], Keys | None] = {}
        self._positionals: list[Any] | None = None
        self._gaps: dict[str, list[tuple[int, int]]] = {}
        self._heads: dict[str, list[object]] = {}
        self._since: dict[str, int] = {}

    def index(self, release: str) -> int | None:
        """The position of a release, however it is spelled; None if the catalog does not have it."""
        found = self.position.get(release)
        if found is not None:
            return found
        key = release_key(release)
        return next((index for index, known in enumerate(self.releases) if release_key(known) == key), None)

    def nearest(self, release: str | None) -> int:
        """The position of the newest release that is not newer than the given one; of the last if that is not known."""
        key = release_key(release) if release is not None else None
        if key is None:
            return len(self.releases) - 1
        older = [index for index, known in enumerate(self.releases) if (release_key(known) or key) <= key]
        return older[-1] if older else 0

    def since(self, release: str) -> int:
        """The position of the first release that is the given one or later; the number of releases if there is none."""
        if release not in self._since:
            bound = release_key(release)
            keys = [release_key(known) for known in self.releases]
            self._since[release] = sum(key is not None and bound is not None and key < bound for key in keys)
        return self._since[release]

    def around(self, release: str) -> tuple[int, int] | None:
        """The positions of the releases before and after one that the catalog lacks; None if it is at either end."""
        key = release_key(release)
        keys = [release_key(known) for known in self.releases]
        older = [index for index, known in enumerate(keys) if key is not None and known is not None and known < key]
        return (older[-1], older[-1] + 1) if older and older[-1] + 1 < len(keys) else None

    def table(self, index: int) -> Table:
        """The options of the release at a position."""
        if index not in self._tables:
            self._tables[index] = Table(self, index)
        return self._tables[index]

    def spelled(self, spelling: str) -> list[tuple[int, int, Option]]:
        """The runs of releases that declare a spelling, each with its option, oldest first."""
        return [(first, last, self.option(line)) for first, last, line in self.lines_of(spelling)]

    def lines_of(self, spelling: str) -> list[tuple[int, int, int]]:
        """The runs of releases that declare a spelling, each with the line of its option, oldest first."""
        found = self._runs.get(spelling)
        if found is None:
            if spelling not in self._spellings:
                return []
            numbers = iter([int(one) for one in self._spellings[spelling].split()])
            found = self._runs[spelling] = list(zip(numbers, numbers, numbers, strict=True))
        return found

    def runs_of(self, name: str) -> list[tuple[int, int, Option]]:
        """The runs of releases that declare an option by its name, with dashes or with underscores."""
        return self.spelled("--" + name) or self.spelled("--" + name.replace("-", "_"))

    def gaps(self, spelling: str) -> list[tuple[int, int]]:
        """Positions (gone, back) for each gap in which releases lacked a spelling that older and newer ones have."""
        if spelling not in self._gaps:
            runs = self.lines_of(spelling)
            lasts = [last for _, last, _ in runs]
            starts = [first for first, _, _ in runs[1:] if first - 1 not in lasts]
            self._gaps[spelling] = [(max([last for last in lasts if last < back]) + 1, back) for back in starts]
        return self._gaps[spelling]

    def head(self, head: str, word: str) -> list[object]:
        """What a word means in each release; equal for two releases if both take it for the same option.

        Args:
            head: the part of the word that names an option or a prefix of one, with dashes for underscores.
            word: the same as it is written.

        Returns:
            For each release the line of the option that the word names, or else the lines of those that it may abbreviate.
        """
        key = head + " " + word
        if key not in self._heads:
            if len(self._heads) > _WORDS_AT_MOST:
                self._heads.clear()
            short: list[tuple[int, ...]] = [()] * len(self.releases)
            for one in self.starting(head):
                for first, last, line in self.lines_of(one):
                    for index in range(first, last + 1):
                        short[index] += (line,)
            lines: list[object] = [*short]
            for one in (word, head):
                for first, last, line in self.lines_of(one):
                    lines[first : last + 1] = [line] * (last + 1 - first)
            self._heads[key] = lines
        return self._heads[key]

    def spellings(self) -> Iterable[str]:
        """The spellings of all releases."""
        return self._spellings

    def starting(self, prefix: str) -> list[str]:
        """The spellings of any release that start with a prefix, sorted."""
        if not self._ordered:
            self._ordered = sorted(self._spellings)
        low = bisect_left(self._ordered, prefix)
        return self._ordered[low : bisect_left(self._ordered, prefix + "\U0010ffff", low)]

    def option(self, line: int) -> Option:
        """The option whose body is on a line of the compiled catalog."""
        if line not in self._bodies:
            name, body = self._lines.load(line)
            self._bodies[line] = Option(name, body)
        return self._bodies[line]

    def required_lines(self, index: int) -> list[int]:
        """The lines of the options that the release at a position requires."""
        return sorted([line for first, last, line in self._parts["required"] if first <= index <= last])

    def variables(self) -> Mapping[str, Any]:
        """Environment variable -> runs of the releases that read it."""
        return self._table(self._parts["env"])

    def positionals(self, index: int) -> list[dict[str, Any]]:
        """The positional arguments of a release, in order."""
        run = self.positionals_line(index)
        return self._positionals[run][2]["list"] if self._positionals is not None and run != -1 else []

    def positionals_line(self, index: int) -> int:
        """A number for the list of positional arguments that a release has; -1 if it has none."""
        if self._positionals is None:
            self._positionals = self._lines.load(self._parts["positionals"])
        return next((number for number, (first, last, _) in enumerate(self._positionals) if first <= index <= last), -1)

    def json_names(self) -> list[str]:
        """The names of the JSON objects whose keys are known: of options, and of objects inside them."""
        return list(self._parts["json"])

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

    def runs_of_object(self, name: str) -> list[Any]:
        """The runs of releases that know the keys of a JSON object."""
        line = self._parts["json"].get(name)
        found: list[Any] = self._decoded(line)["extra"] if line is not None else []
        return found

    def inner(self, name: str, body: dict[str, Any], index: int) -> Keys | None:
        """The keys of an object inside another, which the catalog has under a name of its own, or in the outer object.

        Args:
            name: its own name: `compilation-config.pass_config`.
            body: what the outer object has of the key.
            index: the position of the release.
        """
        if "keys" in body:
            last = len(self.releases) - 1
            return Keys(body["extra"], {key: [[0, last, one]] for key, one in body["keys"].items()}, index)
        return self.keys(name, index)

    def names(self, kind: str) -> Mapping[str, list[Any]]:
        """Name -> runs of the releases that know it, for a kind of names such as "speculative-methods"."""
        line = self._parts["names"].get(kind)
        return self._table(line) if line is not None else {}

    def _table(self, line: int) -> Mapping[str, Any]:
        if line not in self._values:
            self._values[line] = self._lines.table(line)
        found: Mapping[str, Any] = self._values[line]
        return found

    def _decoded(self, line: int) -> Any:
        if line not in self._values:
            self._values[line] = self._lines.load(line)
        return self._values[line]


class Keys:
    """The keys of a JSON object in one release.

    Attributes:
        extra: what the release does with a key that it does not know: "ignore" or "reject"; "open" if only some keys are known.
        known: key -> its body in this release.
        runs: key -> runs of the releases that know it.
        dashes: whether a dash in a key counts as an underscore.
    """

    __slots__ = ("_aliases", "dashes", "extra", "known", "runs")

    def __init__(self, extra: str, runs: dict[str, list[Any]], index: int, *, dashes: bool = False) -> None:
        self.extra = extra
        self.dashes = dashes
        self.runs = runs
        self.known: dict[str, dict[str, Any]] = {}
        self._aliases: dict[str, list[Any]] = {}
        for key, bodies in runs.items():
            for run in bodies:
                first, last, body = run
                now = first <= index <= last
                if now:
                    self.known[key] = body
                for alias in body.get("aliases", ()):
                    self._aliases.setdefault(alias, []).append(run)
                    if now:
                        self.known[alias] = body

    def get(self, key: str) -> dict[str, Any] | None:
        """The body of a key as it is written; None if the release does not know the key."""
        return self.known.get(key.replace("-", "_") if self.dashes else key)

    def lives(self, key: str) -> list[Any]:
        """The runs of releases in which a key as it is written, or one that it is an alias of, has a body."""
        name = key.replace("-", "_") if self.dashes else key
        return [*self.runs.get(name, ()), *self._aliases.get(name, ())]


class Table:
    """The options of one release.

    Attributes:
        catalog: the catalog of the engine.
        index: the position of the release in it.
    """

    __slots__ = ("_lines", "_required", "_spellings", "catalog", "index")

    def __init__(self, catalog: Catalog, index: int) -> None:
        self.catalog = catalog
        self.index = index
        self._lines: dict[str, int | None] = {}
        self._spellings: tuple[str, ...] | None = None
        self._required: list[Option] | None = None

    @property
    def release(self) -> str:
        """The release."""
        return self.catalog.releases[self.index]

    def line(self, spelling: str) -> int | None:
        """The line of the option of a spelling; None if the release has none."""
        if spelling not in self._lines:
            if len(self._lines) > _WORDS_AT_MOST:
                self._lines.clear()
            here = [line for first, last, line in self.catalog.lines_of(spelling) if first <= self.index <= last]
            self._lines[spelling] = here[-1] if here else None
        return self._lines[spelling]

    def find(self, spelling: str) -> Option | None:
        """The option of a spelling (`--port`); None if the release has none."""
        line = self.line(spelling)
        return self.catalog.option(line) if line is not None else None

    def starting(self, prefix: str) -> list[str]:
        """The spellings that start with a prefix, sorted."""
        return [spelling for spelling in self.catalog.starting(prefix) if self.line(spelling) is not None]

    def get(self, name: str) -> Option | None:
        """An option by its canonical name."""
        found = self.find("--" + name)
        if found is not None and found.name == name:
            return found
        return next((option for option in self.options() if option.name == name), None)

    def required(self) -> list[Option]:
        """The options without which the parser refuses."""
        if self._required is None:
            self._required = [self.catalog.option(line) for line in self.catalog.required_lines(self.index)]
        return self._required

    def options(self) -> list[Option]:
        """All options of the release, by name."""
        lines = {self.line(spelling) for spelling in self.spellings()}
        return sorted([self.catalog.option(line) for line in lines if line is not None], key=lambda option: option.name)

    def spellings(self) -> tuple[str, ...]:
        """The spellings of all options of the release."""
        if self._spellings is None:
            self._spellings = tuple([one for one in self.catalog.spellings() if self.line(one) is not None])
        return self._spellings


@derived
def load(engine: str) -> Catalog | None:
    """The catalog of an engine, by its id; None if there is none."""
    text = compiled_text(engine, ENGINES[engine].data) if engine in ENGINES else None
    return Catalog(text) if text is not None else None


@derived
def newest_release(engine: str) -> str | None:
    """The newest release of an engine that is known, listed or in the catalog; None for an engine of which none is."""
    text = compiled_text(engine, ENGINES[engine].data)
    known = [one for one in (newest(engine), *(Lines(text).header["releases"][-1:] if text is not None else ())) if one]
    return max(known, key=sort_key, default=None)


def freshness() -> dict[str, Any]:
    """The day of the data in use, the id of their bundle (None for the package), and the newest release of each engine."""
    known = {engine: newest_release(engine) for engine in ENGINES}
    bundle = active()
    return {
        "date": date(),
        "bundle": bundle.id if bundle is not None else None,
        "newest": {engine: release for engine, release in known.items() if release is not None},
    }


def _options_of(word: str) -> list[str]:
    """The options that a parser may take a word for: itself, `-q` of `-q8`, and each that `-O3` of vLLM may set."""
    head = word.partition("=")[0]
    found = [head]
    if not head.startswith("--"):
        found.append(head[:2])
    if head.startswith("-O"):
        found += ["--optimization-level", "--compilation-config"]
    return found


class Signatures:
    """Finds the releases whose parsers read the same words alike, so that the words are parsed once for all of them."""

    __slots__ = ("_catalog", "_heads")

    def __init__(self, catalog: Catalog, words: list[str]) -> None:
        self._catalog = catalog
        options = [part for word in words if word[:1] == "-" and len(word) > 1 for part in _options_of(word)]
        self._heads = [catalog.head(option.partition(".")[0].replace("_", "-"), option) for option in options]

    def of(self, index: int) -> tuple[object, ...]:
        """A value that is equal for two releases, by their positions, only if all that they have of the words is the same."""
        return (*self._around(index), *[head[index] for head in self._heads])

    def shape(self, index: int) -> tuple[object, ...]:
        """A value that is equal for two releases only if their parsers read the words alike, whatever values they accept."""
        known = [head[index] for head in self._heads]
        return (*self._around(index), *[self._catalog.option(one).shape if isinstance(one, int) else one for one in known])

    def _around(self, index: int) -> tuple[object, tuple[int, ...]]:
        """The positional arguments and the required options of a release."""
        return self._catalog.positionals_line(index), tuple(self._catalog.required_lines(index))
