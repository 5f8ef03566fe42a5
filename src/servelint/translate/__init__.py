"""Translation of a launch to another engine: option by option, what carries over, what changes meaning and what does not.

`concepts.json` has a row for each concept that engines share, with each engine's spelling of it. The catalogs say which of
these a release has: a word that the target release lacks, or whose value it does not take, is not written but listed.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from servelint.core.data import load_data
from servelint.core.finding import Finding
from servelint.core.launch import Launch, ReleaseClaim, Variable, Word
from servelint.core.settings import Settings
from servelint.core.text import TracedText
from servelint.engines import catalog as catalogs
from servelint.engines import images
from servelint.engines.argv import Setting
from servelint.engines.catalog import TOGGLE, Catalog, Option
from servelint.engines.config import Config, configs
from servelint.engines.conversions import Refused, convert
from servelint.engines.registry import ENGINE_NAMES, ENGINES
from servelint.filters.masking import mask
from servelint.judge.judging import judge
from servelint.rules.load import rules_of
from servelint.syntax.json import OBJECT, JsonNode

SAME, CHANGED, ADDED, IMPLIED = "same", "changed", "added", "implied"
"""How a word carries over: it means the same, it means something else, the target needs it, the target does it anyway."""
LEFT_OUT, NO_COUNTERPART, UNMAPPED, DEFAULT = "left-out", "no-counterpart", "unmapped", "default"
"""What is not written: a value that cannot be carried, an option without counterpart, one that servelint has no row for; and a
default that differs."""
NOT_CARRIED = (LEFT_OUT, NO_COUNTERPART, UNMAPPED)

MODEL = "MODEL"
"""Stands for the model where the launch names none that the target can read."""

_SHARED = ("HF_", "HUGGING_FACE_", "HUGGINGFACE_", "CUDA_", "NVIDIA_", "NCCL_", "OMP_", "TORCH_", "PYTORCH_", "TRANSFORMERS_")
"""Prefixes of variables that belong to libraries which all engines use."""

_BOUNDS = {"ge": operator.ge, "gt": operator.gt, "le": operator.le, "lt": operator.lt}


@dataclass(frozen=True, slots=True)
class Line:
    """What happens to one option.

    Attributes:
        kind: one of the constants above.
        concept: the row of concepts.json; "" for none.
        source: the words of the launch; empty for what is added.
        target: the words of the translation; empty for what is not written.
        says: why, or what changes; "" if there is nothing to say.
    """

    kind: str
    concept: str
    source: list[Word]
    target: list[Word]
    says: str = ""


@dataclass(slots=True)
class Translation:
    """A launch as another engine would run it.

    Attributes:
        launch: the launch.
        source: the release of its engine that its words were read with.
        target: the translation, a launch of the other engine.
        release: the other engine's release.
        image: an image of that release; "" where its developers' tags do not follow from the release.
        lines: what happens to each option, in the order of the command.
        findings: what is known to break under the other engine.
    """

    launch: Launch
    source: str
    target: Launch
    release: str
    image: str
    lines: list[Line] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every option carries over and nothing is known to break."""
        return not self.findings and all(line.kind not in NOT_CARRIED for line in self.lines)


def translate(launch: Launch, engine: str, release: str, settings: Settings) -> Translation:
    """Translate a launch.

    Args:
        launch: a launch of any engine.
        engine: the engine to translate to, one of `targets()`.
        release: a release of it that its catalog has.
        settings: those of the launch's file; they name the release where the launch does not.

    Raises:
        ValueError: the engine cannot be translated to, or its catalog does not have the release.
    """
    catalog = catalogs.load(engine) if engine in targets() else None
    index = catalog.index(release) if catalog is not None else None
    if catalog is None or index is None:
        raise ValueError(f"no translation to {engine} {release}")
    known = catalogs.load(launch.engine)
    source = launch.release.release or settings.engine_versions.get(launch.engine) or (known.releases[-1] if known else "")
    (config,) = configs(launch, [source] if source else [])
    writer = _Writer(config, engine, catalog, index)
    writer.write()
    verb = [as_word(one) for one in ENGINES[engine].command]
    target = Launch(source=launch.source, engine=engine, argv=writer.argv, site=launch.site, verb=tuple(verb), name=launch.name)
    target.release = ReleaseClaim(catalog.releases[index], "settings")
    target.env, target.open_env = writer.env, launch.open_env
    target.gpu, target.gpu_count = launch.gpu, launch.gpu_count
    found = [finding for finding in judge(target, settings) if finding.severity == "error"]
    while writer.withdraw(found):
        target.argv = list(writer.argv)
        found = [finding for finding in judge(target, settings) if finding.severity == "error"]
    tag = ENGINES[engine].release_tag
    image = f"{ENGINES[engine].images[0].repository}:{tag.format(catalog.releases[index])}" if tag else ""
    return Translation(launch, source, target, catalog.releases[index], image, writer.lines, mask([launch, target], found))


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The table of concepts."""
    found: dict[str, Any] = load_data("translate/concepts.json")
    return found


def targets() -> list[str]:
    """The engines that launches can be translated to."""
    found: list[str] = table()["targets"]
    return found


def row_of(concept: str) -> dict[str, Any]:
    """A row of the table. Raises StopIteration if it has none of this name."""
    found: dict[str, Any] = next(row for row in table()["concepts"] if row["id"] == concept)
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _leaves(node: JsonNode, path: str) -> Iterator[tuple[str, JsonNode]]:
    """The values of an object that are not objects, each with its path: `kv_cache_config.dtype`."""
    for key, (_, value) in node.members.items():
        inner = f"{path}.{key}" if path else key
        if value.kind == OBJECT and value.members:
            yield from _leaves(value, inner)
        else:
            yield inner, value


class Side:
    """What one engine makes of a concept.

    Attributes:
        options: options that give a value, the ones to write first.
        on, off: flags that switch it on and off.
        words: other ways to switch it on: lists of `option=value` or `flag`.
        env: variables that set it.
        keys: keys of the engine's file that set it, without an option of their own.
        inverse: whether true switches it off, of such a key.
        values: the engine's value -> the common one; None if values are carried as they are.
        body: the side as the table has it.
    """

    def __init__(self, body: Any) -> None:
        if isinstance(body, list) and body and isinstance(body[0], dict):
            body = {"env": [one["env"] for one in body]}
        self.body: dict[str, Any] = body if isinstance(body, dict) else {"option": body}
        self.options: list[str] = _listed(self.body.get("option"))
        self.on: str = self.body.get("on", "")
        self.off: str = self.body.get("off", "")
        self.words: list[list[str]] = self.body.get("words", [])
        self.env: list[str] = _listed(self.body.get("env"))
        self.keys: list[str] = _listed(self.body.get("keys"))
        self.inverse: bool = self.body.get("inverse", False)
        self.values: dict[str, Any] | None = self.body.get("values")

    @property
    def names(self) -> list[str]:
        """All options of the side."""
        flags = [word.partition("=")[0] for words in self.words for word in words]
        return [*self.options, *[name for name in (self.on, self.off) if name], *flags]

    def says(self, name: str) -> str:
        """A text of the side: "means", "default", "none" or "implied"."""
        found: str = self.body.get(name, "")
        return found


class Given:
    """One option of a concept, as the launch sets it.

    Attributes:
        row: the concept.
        name: the option or the variable.
        words: the words that set it.
        value: its value for all engines; None if it is not known, or if there is no such value.
        texts: the texts of its value; empty for a flag.
        known: whether the value is known.
    """

    def __init__(self, row: dict[str, Any], name: str, words: list[Word], texts: list[TracedText], value: Any) -> None:
        self.row, self.name, self.words, self.texts, self.value = row, name, words, texts, value
        self.known = all(text.known for text in texts) and (bool(texts) or value is not None)


class _Writer:
    """Writes the words of the target, and a line for each option of the launch."""

    def __init__(self, config: Config, engine: str, catalog: Catalog, index: int) -> None:
        self.config = config
        self.launch = config.launch
        self.engine = engine
        self.catalog = catalog
        self.index = index
        self.table = catalog.table(index)
        self.lines: list[Line] = []
        self.argv: list[Word] = []
        self.env: dict[str, Variable] = {}
        self.given: list[Given] = []
        self.rows: dict[str, dict[str, Any]] = {}
        self.variables: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, str] = {}
        for row in table()["concepts"]:
            if self.launch.engine in row:
                side = Side(row[self.launch.engine])
                for name in side.names:
                    self.rows.setdefault(name, row)
                for name in side.env:
                    self.variables.setdefault(name, row)
                for path in side.keys:
                    self.rows.setdefault(path, row)
                    self.keys.setdefault(path, path)
                for name in side.names:
                    self.keys.setdefault(side.says("key") or name.replace("-", "_"), name)

    @property
    def names(self) -> tuple[str, str]:
        """What the makers call the two engines."""
        return ENGINE_NAMES[self.launch.engine], ENGINE_NAMES[self.engine]

    @property
    def shown(self) -> str:
        """The target with its release."""
        return f"{self.names[1]} {self.table.release}"

    # -- the launch

    def write(self) -> None:
        """Translate the launch, word by word."""
        from servelint.translate import concepts

        left = self._read()
        concepts.model(self)
        done: set[str] = set()
        for given in self.given:
            if code := given.row.get("code", ""):
                if given.row["id"] not in done:
                    concepts.CODE[code](self, [one for one in self.given if one.row is given.row])
                done.add(given.row["id"])
            else:
                self.carry(given)
        concepts.complete(self)
        for line in left:
            self.lines.append(line)
        self._defaults()

    def _read(self) -> list[Line]:
        """Find what the launch sets. Returns a line for each word that no row of the table is about."""
        arguments = self.config.reading.arguments
        left: list[Line] = []
        seen = {id(word) for word in arguments.positionals}
        for setting in arguments.every:
            seen.update(id(word) for word in setting.words)
            head = setting.name.partition(".")[0]
            last = arguments.settings.get(setting.name)
            row = self.rows.get(setting.name)
            if last is not setting and not (setting.option is not None and setting.option.kind == "append"):
                continue
            if setting.option is None:
                strange = self._not_theirs(f"{self.names[0]} {self.config.release or ''}")
                left.append(Line(UNMAPPED, "", setting.words, [], strange))
                continue
            if self._read_file(setting, left):
                continue
            if row is None:
                kind = UNMAPPED if head not in self.rows else LEFT_OUT
                left.append(Line(kind, "", setting.words, [], f"servelint knows no counterpart in {self.names[1]}"))
                continue
            side = Side(row[self.launch.engine])
            one = [setting.value] if setting.value is not None else []
            texts = [word.text for word in setting.values if word is not setting.word] or one  # --name=value is one word
            self.given.append(Given(row, setting.name, setting.words, texts, self._value(side, setting.name)))
        for option, name in self.config.by_variable.items():
            variable = self.launch.env[name]
            row = self.rows.get(option)
            words = [as_word(f"{name}={variable.value.shown if variable.value is not None else ''}")]
            if option in arguments.settings:
                spelling = arguments.settings[option].spelling
                left.append(Line(LEFT_OUT, row["id"] if row is not None else "", words, [], f"{spelling} is given as well"))
            elif row is None:
                left.append(Line(UNMAPPED, "", words, [], f"servelint knows no counterpart in {self.names[1]}"))
            elif variable.value is not None:
                side = Side(row[self.launch.engine])
                self.given.append(Given(row, option, words, [variable.value], self._value(side, option)))
        self._read_variables(left)
        files = ENGINES[self.launch.engine].object_files
        named = {id(after) for word, after in pairwise(self.launch.argv) if files is not None and word.value in files[0]}
        for word in self.launch.argv:
            if id(word) not in seen | named and (word.shown or not word.many):
                says = "its value is unknown" if not word.text.known else self._not_theirs(self.names[0])
                left.append(Line(UNMAPPED, "", [word], [], says))
        return left

    def _not_theirs(self, engine: str) -> str:
        """Why a word is none of the engine's: it may be for the program that starts the engine."""
        return f"it is for the program that starts {engine.strip()}" if self.launch.launcher else f"{engine} has no such option"

    def _read_file(self, setting: Setting, left: list[Line]) -> bool:
        """Read the keys of a file that the engine takes for an option. Returns whether there are any."""
        node = self.config.reading.parsed(setting.name) if ENGINES[self.launch.engine].object_files is not None else None
        if node is None or node.kind != OBJECT or setting.name not in self.rows:
            return False
        given = self.config.reading.arguments.settings
        for path, value in _leaves(node, ""):
            name = self.keys.get(path, "")
            words = [Word(TracedText.of(f"{path}: {value.text.shown}"))]
            row = self.rows.get(name)
            if row is None:
                left.append(Line(UNMAPPED, "", words, [], f"servelint knows no counterpart in {self.names[1]}"))
            elif name in given:
                left.append(Line(LEFT_OUT, row["id"], words, [], f"{given[name].spelling} is given as well"))
            else:
                side = Side(row[self.launch.engine])
                found = self.config.operand(f"{setting.name}.{path}").value
                switch = name in (side.on, side.off) or (name in side.keys and isinstance(found, bool))
                known: Any = None
                if not switch:
                    known = side.values.get(str(found)) if side.values is not None else found
                elif isinstance(found, bool):
                    known = found != (side.inverse if name in side.keys else name == side.off)
                self.given.append(Given(row, name, words, [] if switch else [value.text], known))
        return True

    def _read_variables(self, left: list[Line]) -> None:
        """Read the environment: variables with a row, those of the engine alone, and those that all engines share."""
        known = catalogs.load(self.launch.engine)
        own = ENGINES[self.launch.engine]
        theirs = self.catalog.variables()
        for name, variable in self.launch.env.items():
            if name in self.config.by_variable.values():
                continue
            words = [as_word(f"{name}={variable.value.shown if variable.value is not None else ''}")]
            if name in self.variables:
                row = self.variables[name]
                side = Side(row[self.launch.engine])
                text = variable.value
                value = side.values.get(text.value or "") if side.values is not None and text is not None else None
                if text is not None:
                    self.given.append(Given(row, name, words, [text], value if side.values is not None else text.value))
            elif (
                name in theirs
                or name.startswith(_SHARED)
                or not (name.startswith(own.variables or ("\0",)) or (known is not None and name in known.variables()))
            ):
                self.env[name] = variable
            else:
                left.append(Line(NO_COUNTERPART, "", words, [], f"{self.names[0]} alone reads this variable"))

    def _value(self, side: Side, name: str) -> Any:
        """The value of an option for all engines."""
        operand = self.config.operand(name)
        if name in (side.on, side.off):
            return operand.value == (name == side.on) if isinstance(operand.value, bool) else None
        if side.words:
            return True if operand.present else None
        if side.values is None:
            return operand.value
        written = str(operand.value).lower() if isinstance(operand.value, bool) else str(operand.value)
        return side.values.get(written) if operand.value is not None else None

    # -- one concept

    def carry(self, given: Given) -> None:
        """Write what a concept of the table becomes."""
        row = given.row
        target = Side(row[self.engine]) if self.engine in row else None
        source = Side(row[self.launch.engine])
        pair = f"{self.launch.engine}>{self.engine}"
        rule = row.get("pairs", {}).get(pair, source.body.get("carry", row.get("carry", SAME)))
        if target is None or target.says("none"):
            why = target.says("none") if target is not None else row.get("why", "")
            self.note(NO_COUNTERPART, given, why or f"{self.names[1]} has no counterpart")
        elif target.says("implied"):
            self.note(IMPLIED, given, target.says("implied"))
        elif rule == "never" and given.value is False and given.name in source.keys:
            self.note(IMPLIED, given, f"it is off in {self.names[1]} by default")
        elif rule == "never" or any(self.config.operand(name).present is not False for name in source.body.get("unless", ())):
            self.leave_out(given, target)
        elif target.env and not target.names:
            self.set_variable(target, given, CHANGED if rule == "changed" else SAME)
        else:
            words = self.words(target, given)
            if isinstance(words, str):
                self.note(LEFT_OUT if self.has(target) else NO_COUNTERPART, given, words)
            elif not words:
                self.note(IMPLIED, given, f"{self.names[1]} does so by default")
            else:
                self.add(CHANGED if rule == "changed" else SAME, given, words, self._meanings(source, target, words))

    def set_variable(self, target: Side, given: Given, kind: str) -> None:
        """Write a concept that the target takes from a variable alone."""
        name = target.env[0]
        if not any(first <= self.index <= last for first, last, *_ in self.catalog.variables().get(name, ())):
            return self.note(NO_COUNTERPART, given, f"{self.shown} does not read {name}")
        value = given.texts[0].value if given.texts else None
        if target.values is not None:
            value = next((one for one, common in target.values.items() if common == given.value), None)
        if value is None:
            unknown = not given.known
            return self.note(LEFT_OUT, given, f"{name} is the nearest" if unknown else f"{name} has no such value")
        self.env[name] = Variable(name, TracedText.of(value), None)
        words = [as_word(f"{name}={value}")]
        says = self._meanings(Side(given.row[self.launch.engine]), target, words)
        self.lines.append(Line(kind, given.row["id"], given.words, words, says))
        return None

    def leave_out(self, given: Given, target: Side) -> None:
        """Note that a concept has a counterpart, and that its value cannot be carried."""
        option = self.option(target.options or target.names)
        if option is None:
            return self.note(NO_COUNTERPART, given, self.lacks(target))
        means = self._meanings(Side(given.row[self.launch.engine]), target, [as_word(option.long_name)])
        nearest = f"{option.long_name} is the nearest"
        self.note(LEFT_OUT, given, "; ".join(text for text in (nearest, means, given.row.get("why", "")) if text))
        return None

    def _meanings(self, source: Side, target: Side, words: list[Word]) -> str:
        """What the two options count, where that differs."""
        ours, theirs = source.says("means"), target.says("means")
        if not theirs or ours == theirs:
            return ""
        return (f"{self.names[0]}: {ours}; " if ours else "") + f"{words[0].shown}: {theirs}"

    def note(self, kind: str, given: Given, says: str) -> None:
        """Add a line for an option that is not written."""
        self.lines.append(Line(kind, given.row["id"], given.words, [], says))

    def add(self, kind: str, given: Given | None, words: list[Word], says: str = "", concept: str = "") -> None:
        """Write words, and add their line."""
        row: dict[str, Any] = given.row if given is not None else {"id": concept}
        self.argv += words
        self.lines.append(Line(kind, row["id"], given.words if given is not None else [], words, says))
        flag = row.get("with", {}).get(self.engine)
        option = self.option([flag]) if flag else None
        if option is None or any(one.name == flag for one in self.given):
            return
        if option.long_name not in [word.shown for word in self.argv]:
            self.add(ADDED, None, [as_word(option.long_name)], f"{words[0].shown} needs it", row["id"])

    def withdraw(self, findings: list[Finding]) -> bool:
        """Take back the options whose removal alone mends what breaks. Returns whether there was one."""
        fixes = {rule.id: rule.fix for rule in rules_of(self.engine)}
        for finding in findings:
            fix = fixes.get(finding.rule) or {}
            spellings = {f"--{name}" for name in fix.get("delete", ()) if not {"set", "rename"} & fix.keys()}
            for at, line in enumerate(self.lines):
                if line.kind in (SAME, CHANGED) and line.target and line.target[0].shown in spellings:
                    gone = {id(word) for word in line.target}
                    self.argv = [word for word in self.argv if id(word) not in gone]
                    self.lines[at] = replace(line, kind=LEFT_OUT, target=[], says=finding.message)
                    return True
        return False

    # -- words of the target

    def option(self, names: list[str]) -> Option | None:
        """The first option of some that the target release has; one that is not deprecated, if there is one."""
        found = [option for name in names if (option := self.table.get(name)) is not None and not option.refuses]
        return next((option for option in found if not option.deprecated), found[0] if found else None)

    def has(self, side: Side) -> bool:
        """Whether the target release has any option of a side."""
        return self.option(side.names) is not None

    def lacks(self, side: Side) -> str:
        """The sentence for an option that the target release lacks."""
        names = side.names
        return f"{self.shown} has no --{names[0]}" if names else f"{self.names[1]} has no counterpart"

    def words(self, side: Side, given: Given) -> list[Word] | str:
        """The words that give the target the same value, or why there are none."""
        if isinstance(given.value, bool) and not (side.options and side.values is None):
            return self.switch(side, given)
        option = self.option(side.options)
        if option is None and given.value is None and self.has(side):
            return ("no option means this" if given.known else "its value is unknown") + _because(given.row)
        if option is None:
            return self.lacks(side)
        head = as_word(option.long_name)
        if side.values is not None or Side(given.row[self.launch.engine]).values is not None:
            if not given.known:
                return "its value is unknown"
            return self._mapped(side, given, option)
        texts = self._split(given)
        if len(texts) > 1 and option.kind not in ("list", "append"):
            if given.row.get("all"):
                return str(given.row["why"])
            rest = ", ".join(text.shown for text in texts[1:])
            self.note(LEFT_OUT, given, f"{option.long_name} takes one value; not written: {rest}")
            texts = texts[:1]
        if not texts:
            return "its value is unknown"
        if isinstance(given.value, int) and not texts[0].flat.isdigit():
            texts = [TracedText.of(str(given.value))]  # 32k, by the rules of its engine
        for text in texts:
            refused = self.refuses(option, text.flat) if text.known else ""
            if refused:
                return refused
        return [head, *[Word(text) for text in texts]]

    def _split(self, given: Given) -> list[TracedText]:
        separator = Side(given.row[self.launch.engine]).body.get("split")
        if separator and len(given.texts) == 1 and given.texts[0].known:
            return [TracedText.of(part.strip()) for part in given.texts[0].flat.split(separator) if part.strip()]
        return given.texts

    def _mapped(self, side: Side, given: Given, option: Option) -> list[Word] | str:
        """The words for a value with a common name."""
        values = side.values if side.values is not None else {}
        shown = given.texts[0].shown if given.texts else ""
        if given.value is None:
            return f"no value of {option.long_name} is known to mean {shown}" + _because(given.row)
        found = [name for name, common in values.items() if common == given.value and type(common) is type(given.value)]
        found.sort(key=lambda name: name != shown)  # the same word, where it means the same
        refused = [self.refuses(option, name) for name in found]
        for name, reason in zip(found, refused, strict=True):
            if not reason:
                return [as_word(option.long_name), as_word(name)]
        return refused[0] if refused else f"no value of {option.long_name} means {shown}" + _because(given.row)

    def switch(self, side: Side, given: Given) -> list[Word] | str:
        """The words that switch something on or off, or why there are none; no words if the target does so anyway."""
        if side.values is not None:
            return self._mapped(side, given, option) if (option := self.option(side.options)) else self.lacks(side)
        for words in side.words if given.value else []:
            parts = [word.partition("=") for word in words]
            options = [self.table.get(name) for name, _, _ in parts]
            if all(option is not None and not option.refuses for option in options):
                found: list[Word] = []
                for option, (_, _, value) in zip(options, parts, strict=True):
                    shown = [option.long_name if option is not None else "", *([value] if value else [])]
                    found += [as_word(text) for text in shown]
                return found
        on = self.option([side.on]) if side.on else None
        if on is not None and (given.value or on.kind == TOGGLE):
            return [as_word(on.long_name if given.value else next(one for one in on.negatives if one[:2] == "--"))]
        off = self.option([side.off]) if side.off else None
        if off is not None and not given.value:
            return [as_word(off.long_name)]
        if (given.value and side.off and not side.on) or (not given.value and (side.words or on is not None)):
            return []
        return self.lacks(side)

    def refuses(self, option: Option, text: str) -> str:
        """Why the target release refuses a value, as its parser or its list of names says; "" if it does not."""
        engine = ENGINES[self.engine]
        sentence = f"{self.shown} does not accept {text} for {option.long_name}"
        try:
            value = convert(self.engine, option.types, text)
        except Refused:
            return sentence
        if option.choices is not None and value not in option.choices:
            return sentence
        if isinstance(value, (int, float)) and any(not _BOUNDS[name](value, limit) for name, limit in option.bounds.items()):
            return sentence
        kind = engine.looked_up_options.get(option.name) or engine.value_kinds_of_options.get(option.name, ("", ""))[0]
        return sentence if kind and not self.named(kind, text) else ""

    def named(self, kind: str, name: str) -> bool:
        return any(first <= self.index <= last for first, last, _ in self.catalog.names(kind).get(name, ()))

    # -- what differs by default

    def _defaults(self) -> None:
        """Note defaults that differ where the launch leaves them to the engine."""
        given = {one.row["id"] for one in self.given}
        for row in table()["concepts"]:
            if self.engine not in row or self.launch.engine not in row or row["id"] in given:
                continue
            ours, theirs = (Side(row[engine]).says("default") for engine in (self.launch.engine, self.engine))
            if ours and theirs and ours != theirs:
                says = f"{row['id'].replace('-', ' ')}: {ours} in {self.names[0]}, {theirs} in {self.names[1]}"
                self.lines.append(Line(DEFAULT, row["id"], [], [], says))
        if clients := table()["clients"].get(self.launch.engine):
            self.lines.append(Line(DEFAULT, "clients", [], [], clients))


def _because(row: dict[str, Any]) -> str:
    return f"; {row['why']}" if row.get("why") else ""


def as_word(text: object) -> Word:
    """A word of the translation."""
    return Word(TracedText.of(str(text)))


def in_makers_image(launch: Launch) -> bool:
    """Whether a launch runs in an image of its engine's makers."""
    found = images.identify(launch.image) if launch.image is not None else None
    return found is not None and found.engine == launch.engine
