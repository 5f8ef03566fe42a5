"""A config: one launch as one release of its engine reads it, with operands by name.

Operand names: an option's canonical name (`kv-cache-dtype`), a key of a JSON option (`speculative-config.method`), `env.NAME`,
`model.<fact>`, `draft.<fact>` (of the draft model), `gpu.<fact>`, `effective.<fact>` (what the engine makes of the settings),
`container.<setting>`, `stack.<fact>` (what runs beside the engine), `prefill.<operand>` (of the launch that prefills for this
one), `launcher.<option>` (of the program that starts the engine). servelint.engines.operands lists them.

This is what rules, checks, memory plans and the editor ask about a launch. From a launch to an answer:

    configs(launch, ["0.19.1", "0.20.0"])      a launch, once for each release that it may run on
        -> Config                              one of them; parsed once for all releases that parse it alike
    config.operand("kv-cache-dtype")           a question by name
        -> Operand                             whether it is present, its value, and the characters that give it

Everything may be unknown: a word that a variable fills in, a release that is not named, a file that is not there. `present` is
then None, never False, and a rule that needs the answer does not report anything.
"""

from __future__ import annotations

import re
from copy import copy
from functools import lru_cache

from servelint.core.launch import Launch, Word
from servelint.core.numbers import is_whole
from servelint.core.text import TracedText
from servelint.engines import catalog as catalogs
from servelint.engines import entry, images
from servelint.engines.argv import Arguments, Fault, Setting, read
from servelint.engines.catalog import Catalog, Signatures, Table
from servelint.engines.conversions import Refused, convert
from servelint.engines.registry import ENGINES, KEYWORDS
from servelint.engines.releases import release_key, sort_key
from servelint.syntax import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from servelint import models
    from servelint.core.source import Span
    from servelint.engines.registry import Dialect, Launcher


# -- arguments


class Reading:
    """A launch's arguments as one or more releases read them: all releases that read them alike share it.

    Attributes:
        launch: the launch.
        arguments: its arguments, with those of the file that `--config` names.
        by_keys: JSON options that the launch sets by single keys (`--option.key value`).
        json: option -> its value as JSON, or why it is not valid JSON.
        model: the model as the launch names it; None if it does not.
    """

    __slots__ = ("_family", "_first", "arguments", "by_keys", "json", "launch", "model")

    def __init__(self, launch: Launch, arguments: Arguments) -> None:
        self.launch = launch
        self.arguments = arguments
        self.by_keys = {name.partition(".")[0] for name in arguments.settings if "." in name}
        self.json: dict[str, json.JsonNode | json.JsonFault | None] = {}
        self.model = self._model()
        self._first: Reading | None = None  # not itself: only the garbage collector frees what holds itself
        self._family: list[tuple[models.Family | None, bool]] = []

    def rebound(self, table: Table) -> Reading | None:
        """The same reading with the options of another release; None if its parser does not read the words alike."""
        arguments = self.arguments.rebound(table)
        if arguments is None:
            return None
        new = Reading.__new__(Reading)
        for name in ("launch", "by_keys", "json", "model", "_family"):  # what does not depend on the options
            setattr(new, name, getattr(self, name))
        new.arguments, new._first = arguments, self.first
        return new

    @property
    def first(self) -> Reading:
        """The reading that it is made from where only what options accept differs; itself elsewhere."""
        return self if self._first is None else self._first

    @property
    def family(self) -> models.Family | None:
        """Facts about the model, by its config.json if that file can be read, or else by its name."""
        return self._known_family()[0]

    @property
    def opened(self) -> bool:
        """Whether the family is that of a config.json that was read."""
        return self._known_family()[1]

    def _known_family(self) -> tuple[models.Family | None, bool]:
        if not self._family:
            found = _family_in_folder(self.launch, self.model) if self.model is not None else None
            served = self.arguments.settings.get("served-model-name")
            name = served.value if served is not None and served.value is not None and served.value.known else None
            known = found if found is not None or self.model is None else _identified(self.model, name)
            self._family.append((known, found is not None))
        return self._family[0]

    def _model(self) -> TracedText | None:
        settings, engine = self.arguments.settings, ENGINES[self.launch.engine]
        launch = self.launch
        if launch.fragment and (launch.name in engine.planned_fragments or engine.names_model(launch.name)):
            return self.launch.argv[-1].text
        ignored = self.arguments.takes_model is False and engine.model_option in settings
        if engine.dialect.positional and self.arguments.positionals and not ignored:
            return self.arguments.positionals[0].text
        for name in ("model-path", "model", engine.model_option, engine.repository_options.get(engine.model_option)):
            if name in settings and settings[name].value is not None:
                return settings[name].value
        if self.arguments.complete:
            for name in engine.model_variables:
                if name in self.launch.env:
                    return self.launch.env[name].value
        return None

    def json_of(self, name: str) -> json.JsonNode | json.JsonFault | None:
        """An option's value as JSON, or why it is not valid JSON; None if no value is given.

        Of an option that single keys set, it is the object that they make, which replaces one that is given beside them.
        """
        if name not in self.json and name in self.by_keys:
            keys = [one for path, one in self.arguments.settings.items() if path.startswith(name + ".")]
            self.json[name] = object_of_keys(keys)
        elif name not in self.json:
            setting = self.arguments.settings.get(name)
            value = setting.value if setting is not None else None
            self.json[name] = json.parsed(value) if value is not None else None
        return self.json[name]

    def keys(self, option: str) -> frozenset[str] | None:
        """The keys of a JSON option, with underscores for dashes; None if it may have any."""
        node = self.parsed(option) if option not in self.by_keys else None
        if node is None or node.kind != json.OBJECT or node.open:
            return None
        return frozenset([written.replace("-", "_") for written in node.members])

    def parsed(self, name: str) -> json.JsonNode | None:
        """An option's value as JSON; None if it is not given, not known or not valid."""
        node = self.json_of(name)
        return node if isinstance(node, json.JsonNode) else None


def object_of_keys(settings: list[Setting]) -> json.JsonNode:
    """The JSON object that single keys make (`--option.key value`); `--option.key+ item` adds to a list that is not known."""
    whole = json.JsonNode(json.OBJECT, settings[0].word.text)
    whole.open = True
    for setting in settings:
        word, inner = setting.word.text, whole
        path = setting.spelling.partition(".")[2].rstrip("+")
        at = word.flat.find(".") + 1
        for key in path.split("."):
            written = word.cut(at, at + len(key))
            at += len(key) + 1
            holder, name = inner, json.JsonNode(json.STRING, written, key)
            inner = holder.members[key][1] if key in holder.members else json.JsonNode(json.OBJECT, word)
            holder.members[key] = name, inner
        holder.members[key] = name, _keyed_value(setting)
    return whole


def _keyed_value(setting: Setting) -> json.JsonNode:
    """The value of a single key: JSON, or else a text."""
    text = setting.value
    if text is None or not text.known or setting.spelling.endswith("+"):
        return json.JsonNode(json.UNKNOWN, text if text is not None else setting.word.text)
    node = json.parse(text)
    if isinstance(node, json.JsonNode):
        return node
    return json.JsonNode(json.STRING, text if text.flat else setting.word.text, text.flat, text)


def _family_in_folder(launch: Launch, model: TracedText) -> models.Family | None:
    if launch.folder is None and launch.open is None and not launch.models:
        return None
    from servelint.models import folder

    opened = folder.files_of(launch)
    return folder.read(model, opened) if opened is not None else None


def _identified(model: TracedText, served: TracedText | None) -> models.Family | None:
    from servelint import models

    found = models.identify(model)
    return found if found is not None else models.inferred(model, served)


def with_file(launch: Launch) -> tuple[list[Word], Fault | None]:
    """The argv with the options of the file that `--config` names, and what keeps the file from being read.

    Where no file can be opened at all, the argv is returned as it is.
    """
    if launch.folder is None and launch.open is None:
        return launch.argv, None
    files = ENGINES[launch.engine].object_files
    if files is not None:
        from servelint.engines import launch_files

        return launch_files.with_objects(launch, *files), None
    if not ENGINES[launch.engine].config_file:
        return launch.argv, None
    every = [word for word in launch.argv if word.value == "--config"]
    if not every:
        return launch.argv, None
    named = every[-1]
    if len(every) > 1:
        return launch.argv, Fault("config-file", named, "--config", ["more than one is named"])
    from servelint.engines import launch_files

    try:
        found = launch_files.merged(launch)
        return launch.argv if found is None else found, None
    except launch_files.Missing as missing:
        return launch.argv, Fault("config-file", named, "--config", [str(missing)])


class Readings:
    """A launch as the releases of a catalog read it; releases whose parsers read it alike share a Reading."""

    __slots__ = (
        "_alike", "_argv", "_bounds", "_catalog", "_changes", "_dialect", "_fault", "_known", "_launch", "_model_first",
        "_signatures",
    )  # fmt: skip

    def __init__(self, launch: Launch, catalog: Catalog | None) -> None:
        self._launch = launch
        self._catalog = catalog
        self._argv, self._fault = with_file(launch)
        words = [word.text.flat for word in self._argv]
        launcher = ENGINES[launch.engine].launchers.get(launch.launcher)
        if launcher is not None:  # the engine's options that its own ones set
            plain = [word.partition("=")[0].lstrip("-").replace("_", "-") for word in words if word.startswith("-")]
            words += ["--" + launcher.same[one] for one in plain if one in launcher.same]
            words += ["--" + one[3:] for one in plain if launcher.calls and one.startswith("no-")]
        self._signatures = Signatures(catalog, words) if catalog is not None else None
        self._known: dict[object, Reading] = {}
        self._alike: dict[object, Reading] = {}
        known_first = bool(self._argv) and self._argv[0].text.known and not self._argv[0].text.flat.startswith("-")
        self._model_first = entry.model_first(launch.engine, launch.verb) if known_first else ""
        of_object = launcher is not None and bool(launcher.calls)
        dialect = self._dialect = KEYWORDS if of_object else ENGINES[launch.engine].dialect
        # the releases from which a class refuses other words
        known = {launcher.known_since, *launcher.refuses_since.values(), *launcher.takes_until.values()} if launcher else set()
        self._bounds = sorted({sort_key(one) for one in known if one})
        self._changes = bool(dialect.since) and any(re.match(dialect.where, word.text.flat) for word in self._argv)

    def of(self, index: int | None) -> Reading:
        """How the release at a position of the catalog reads the launch; None for no release."""
        alike: object = self._signatures.of(index) if self._signatures is not None and index is not None else None
        first, dialect = bool(self._model_first), self._dialect
        passed = 0
        if self._bounds and self._catalog is not None and index is not None:
            passed = sum(sort_key(self._catalog.releases[index]) >= one for one in self._bounds)
            alike = alike, passed
        if (first or self._changes) and self._catalog is not None and index is not None:
            release = sort_key(self._catalog.releases[index])
            first = first and release >= sort_key(self._model_first)
            while self._changes and dialect.since and release < sort_key(dialect.since):
                dialect = dialect.before
            alike = alike, first, dialect
        found = self._known.get(alike)
        if found is None:
            table = self._catalog.table(index) if self._catalog and index is not None else None
            shape = (
                (self._signatures.shape(index), first, dialect, passed)
                if self._signatures is not None and index is not None
                else None
            )
            like = self._alike.get(shape)
            found = like.rebound(table) if like is not None and table is not None else None
            if found is None:
                found = self._alike[shape] = self._read(table, dialect, model_first=first)
            self._known[alike] = found
        return found

    def _read(self, table: Table | None, dialect: Dialect, *, model_first: bool) -> Reading:
        launch = self._launch
        argv = self._argv
        if model_first:
            argv = [Word(TracedText.of("--" + ENGINES[launch.engine].model_option), None), *argv]
        entrypoint = images.identify(launch.image).entrypoint if launch.image is not None and not launch.verb else None
        arguments = read(
            argv,
            table,
            dialect,
            fragment=launch.fragment,
            takes_model=entry.takes_model(launch.engine, launch.verb, entrypoint),
            launcher=ENGINES[launch.engine].launchers.get(launch.launcher),
        )
        if self._fault is not None:
            arguments.faults.insert(0, self._fault)
        return Reading(launch, arguments)


# -- operands


Scalar = str | int | float | bool


class Operand:
    """The answer to a question about a launch.

    Attributes:
        present: whether the launch has it: True, False, or None if that is not known.
        value: the value as the release converts it: a number, a bool or a text; a flag's value is what it sets. None if it is
            absent or not known, and for lists, objects and numbers too large to compute with.
        text: the characters that give the value, None if there are none: for defaults and for facts that are computed.
        site: the word or line that sets it, which a flag has as well; None for what the launch does not say.
    """

    __slots__ = ("present", "site", "text", "value")

    def __init__(
        self, present: bool | None, value: Scalar | None = None, text: TracedText | None = None, site: Span | None = None
    ) -> None:
        self.present = present
        self.value = value
        self.text = text
        self.site = site

    @property
    def span(self) -> Span | None:
        """The characters that a finding points at: the value, or else the word that sets it; None if there are none."""
        found = self.text.span() if self.text is not None and self.text.flat else None
        return found if found is not None else self.site

    @property
    def shown(self) -> str:
        """The value as messages print it: as it is written if it is, "" if there is none."""
        if self.text is not None and self.text.shown:
            return self.text.shown
        return "" if self.value is None else str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


_BEYOND = 2**63
_REPOSITORY = r"[A-Za-z0-9][\w.-]*/[\w.-]+"
_EDITABLE = re.compile(r"(?:/|\.{1,2}/|~)(?!.*(?:models--|\.gguf\Z))")
"""A path of a folder that someone may have changed, which neither the cache of the hub nor a GGUF file is."""

CONTAINER = {
    "image": ("text", "the image of the container"),
    "ipc": ("text", "the IPC namespace: host, private, ..."),
    "shm_size": ("text", "the size of /dev/shm as written"),
    "runtime": ("text", "the container runtime: nvidia, ..."),
    "privileged": ("text", "whether the container has all devices of its host, as written"),
    "user": (
        "text",
        "the user of its processes as `docker run` or a compose file has it: a name or a number, a group behind it",
    ),
    "gpu_product": ("text", "the GPU that a node selector or a setting of the cluster requests"),
    "gpu_request": ("text", "the GPUs that a pod's container requests"),
    "gpu_limit": ("text", "the GPUs that a pod's container is limited to"),
}
"""operand `container.<name>` -> its type and its meaning"""

ABSENT = Operand(False)
"""Certainly not there."""
UNKNOWN = Operand(None)
"""Not known."""
UNWRITTEN = Operand(None)
"""Not written, but an unknown word of the launch may add it. Compare it by identity."""


class Named:
    """A name that the catalog has of some release: a speculative method, a parser, a quantization method.

    Attributes:
        body: what the catalog has of it: of this release, or of the last that has it.
        here: whether this release has it; None if the catalog does not have the release.
    """

    __slots__ = ("body", "here")

    def __init__(self, body: dict[str, Any], here: bool | None) -> None:
        self.body = body
        self.here = here


def configs(launch: Launch, releases: list[str]) -> list[Config]:
    """A launch under each of some releases.

    Args:
        launch: the launch.
        releases: any releases of its engine, also some that the catalog does not have; empty if none is known.

    Returns:
        A config for each release, in their order; a single one without a release if there are none.
    """
    catalog = catalogs.load(launch.engine)
    readings = Readings(launch, catalog)
    asked: list[str | None] = [*releases] or [None]
    return [_config(release, catalog, readings) for release in asked]


def _config(release: str | None, catalog: Catalog | None, readings: Readings) -> Config:
    exact = catalog.index(release) if catalog is not None and release is not None else None
    index = exact if exact is not None or catalog is None else catalog.nearest(release)
    config = Config(readings.of(index), release, catalog, exact)
    config._readings = readings
    around = catalog.around(release) if catalog is not None and exact is None and release is not None else None
    if around is not None and catalog is not None:
        known = [Config(readings.of(one), catalog.releases[one], catalog, one) for one in around]
        config.around = (known[0], known[1])
        for one in known:
            one.shown = release
    return config


BY_NAME = "by name"
"""The role of a launch that its words leave open: that in its name."""


class Config:
    """A launch under one release of its engine.

    Attributes:
        launch: the launch.
        release: the release; None if it is not known.
        shown: the release as messages print it.
        key: the key that orders the release; None if it is not known.
        catalog: the engine's catalog; None if it has none.
        index: the position of the release in the catalog; None if the catalog does not have it.
        around: for a release between two of the catalog, the launch under the one before and the one after it.
        reading: the arguments as the release parses them; if the catalog does not have it, as the release before it does.
    """

    __slots__ = (
        "__weakref__", "_operands", "_readings", "_variables",
        "around", "catalog", "index", "key", "launch", "reading", "release", "shown",
    )  # fmt: skip

    def __init__(self, reading: Reading, release: str | None, catalog: Catalog | None, index: int | None) -> None:
        self.reading = reading
        self.launch = reading.launch
        self.release = release
        self.catalog = catalog
        self.index = index
        self.around: tuple[Config, Config] | None = None
        self.shown = release
        self.key = release_key(release) if release is not None else None
        self._operands: dict[str, Operand] = {}
        self._variables: dict[str, str] | None = None
        self._readings: Readings | None = None

    def under(self, release: str) -> Config:
        """The launch under another release, with the same reading where both parse it alike."""
        return _config(release, self.catalog, self._readings or Readings(self.launch, self.catalog))

    def at_least(self, release: str) -> bool | None:
        """Whether the release is the given one or later; None if it is not known."""
        bound = release_key(release)
        return None if self.key is None or bound is None else self.key >= bound

    def named(self, kind: str, name: str) -> Named | None:
        """What the catalog knows of a name; None if no release has it.

        Args:
            kind: a kind of names in the catalog: "speculative-methods".
            name: the name as the engine's source has it: "eagle3".
        """
        runs = self.catalog.names(kind).get(name) if self.catalog is not None else None
        if not runs:
            return None
        run = next((run for run in runs if self.index is not None and run[0] <= self.index <= run[1]), None)
        return Named((run or runs[-1])[2], None if self.index is None else run is not None)

    def names(self, kind: str, *, ever: bool = False) -> list[str] | None:
        """The names of a kind that the catalog has of the release, or of any release (`ever`); None if it has none."""
        lives = self.catalog.names(kind) if self.catalog is not None else {}
        if not ever and self.index is None:
            return None
        index = self.index or 0
        return [name for name, runs in lives.items() if ever or any(run[0] <= index <= run[1] for run in runs)] or None

    @property
    def family(self) -> models.Family | None:
        """Facts about the model; None if nothing is."""
        return self.reading.family

    @property
    def since(self) -> str | None:
        """The first release that lists the model's architecture; None if it is not known, or older than the catalog."""
        architecture = self.family.architecture if self.family is not None and not self.family.inferred else None
        runs = self.catalog.names("architectures").get(architecture) if self.catalog is not None and architecture else None
        return self.catalog.releases[runs[0][0]] if self.catalog is not None and runs and runs[0][0] else None

    def setting(self, name: str) -> Setting | None:
        """An option as the launch sets it, by its canonical name; None if it does not, or if that is not known."""
        return self.reading.arguments.settings.get(name)

    def replaced(self) -> list[Config]:
        """The launch with each JSON object of an option that a later one replaces, where that one stands."""
        arguments, found = self.reading.arguments, []
        for setting in arguments.every:
            counts = arguments.settings.get(setting.name) is setting and setting.name not in self.reading.by_keys
            if setting.option is not None and setting.option.json and "." not in setting.name and not counts:
                changed, below = copy(arguments), setting.name + "."
                others = {name: one for name, one in arguments.settings.items() if not name.startswith(below)}
                changed.settings = others | {setting.name: setting}
                found.append(Config(Reading(self.launch, changed), self.release, self.catalog, self.index))
        return found

    def unwritten(self, option: str) -> Operand:
        """The operand of an option that is not written: ABSENT only if no unknown word of the launch may be the option."""
        arguments = self.reading.arguments
        return ABSENT if arguments.complete and option not in arguments.possible else UNWRITTEN

    @property
    def made(self) -> Launcher | None:
        """The class of Python whose keyword arguments the launch is; None for a command."""
        launcher = ENGINES[self.launch.engine].launchers.get(self.launch.launcher)
        return launcher if launcher is not None and launcher.calls else None

    def operand(self, name: str) -> Operand:
        """The answer to a question about the launch under this release.

        Args:
            name: one of the names that the module's docstring lists.

        Returns:
            ABSENT for an option or variable that is certainly not set; UNWRITTEN for one that an unknown word or a file may
            set; UNKNOWN for a fact that is not known. The same object at each call.
        """
        found = self._operands.get(name)
        if found is None:
            found = self._operands[name] = self._operand(name)
        return found

    def text(self, name: str) -> str | None:
        """The value of an operand that is a text; None for every other."""
        value = self.operand(name).value
        return value if isinstance(value, str) else None

    def _operand(self, name: str) -> Operand:
        answer, head, rest = _asked_for(name)
        if answer is not None:
            return answer(self, rest)
        if name == "model":
            model = self.reading.model
            given = self._settings.get(name)
            if model is None or (not model.flat and given is not None):
                return self.unwritten(name) if given is None else self._of(given)
            return Operand(True, model.value, model)
        setting = self.reading.arguments.settings.get(name)
        if setting is not None:
            return self._of(setting)
        if head in self.reading.by_keys:
            return self._by_keys(name, head)
        return self._key(head, rest) if rest else self._by_variable(name)

    def _by_variable(self, option: str) -> Operand:
        """An option that is not written, by the variable that sets it: `MODEL_ID` of TGI."""
        unwritten = self.unwritten(option)
        if not ENGINES[self.launch.engine].option_variables:
            return unwritten
        name = self.by_variable.get(option)
        if name is None:
            return UNWRITTEN if self.launch.open_env or self.launch.fragment else unwritten
        variable = self._env(name)
        if variable.text is None or unwritten is UNWRITTEN:
            return Operand(None, site=variable.site)
        declared = self.catalog.table(self.index).get(option) if self.catalog is not None and self.index is not None else None
        if declared is not None and not declared.takes_value:
            record = ENGINES[self.launch.engine]
            off = bool(record.negating_variables) and name.startswith(record.negating_variables)
            on = False if off else record.flag_values.get(variable.text.value or "")
            return Operand(None if on is None else True, on, variable.text, variable.site)
        value = _typed(self.launch.engine, variable.text, declared.types if declared is not None else [])
        return Operand(True, value, variable.text, variable.site)

    @property
    def by_variable(self) -> dict[str, str]:
        """Option -> the variable of the launch that sets it in this release, unless a word does."""
        if self._variables is None:
            index = self.index if self.index is not None or self.catalog is None else self.catalog.nearest(self.release)
            known = self.catalog.variables() if self.catalog and ENGINES[self.launch.engine].option_variables else {}
            self._variables = {
                body["option"]: name
                for name in self.launch.env
                for first, last, body in known.get(name, ())
                if index is not None and first <= index <= last and "option" in body
            }
        return self._variables

    @property
    def _settings(self) -> dict[str, Setting]:
        return self.reading.arguments.settings

    def _by_keys(self, name: str, option: str) -> Operand:
        """A JSON option, or a key of it, that single keys set (`--option.key value`).

        An object that is given beside them is replaced by theirs: FlexibleArgumentParser.parse_args appends it to the words.
        """
        dashed = [
            (key, one) for key, one in self._settings.items() if key.startswith(option + ".") and "-" in key[len(option) :]
        ]
        for key, one in dashed:
            if option + key[len(option) :].replace("-", "_") == name and self._dashes(one):
                return self._of(one)
        below = next((one for key, one in self._settings.items() if key.startswith(name + ".")), None)
        if below is not None:
            return Operand(True, None, below.word.text, below.word.site)
        # below a key that is given, it depends on its value
        other = next((one for key, one in self._settings.items() if name.startswith(key + ".") and key != option), None)
        return self.unwritten(option) if other is None else Operand(None, site=other.word.site)

    def _of(self, setting: Setting) -> Operand:
        site = setting.word.site
        if setting.on is not None and setting.value is None:
            return Operand(True, setting.on, setting.word.text, site)
        if setting.value is None:
            return Operand(True, None, setting.word.text, site)
        engine, types = ENGINES[self.launch.engine], setting.option.types if setting.option else []
        unset_types, unset_values = engine.unset_by
        if setting.value.value in unset_values and not unset_types.isdisjoint(types):
            return ABSENT
        if self.catalog is None and is_whole(setting.value.value or ""):
            return Operand(True, int(setting.value.flat), setting.value, site)  # of an engine whose types are not known
        if not setting.value.flat:
            site = setting.word.text.span() or site  # an empty value has no characters to point at
        value = _typed(engine.id, self._referred(setting.value) or setting.value, types)
        value = value.lower() if isinstance(value, str) and setting.name in engine.lowered else value
        return Operand(True, value, setting.value, site)

    def _referred(self, text: TracedText) -> TracedText | None:
        """The value of `$(NAME)`, where a controller adds a variable whose value the file shows."""
        match = re.fullmatch(r"\$\((\w+)\)", text.shown) if text.value is None else None
        variable = self.launch.env.get(match[1]) if match is not None else None
        return variable.value if variable is not None and variable.value is not None and variable.value.known else None

    def _key(self, option: str, path: str) -> Operand:
        setting = self.setting(option)
        if setting is None:
            return self.unwritten(option)
        node = self.reading.parsed(option)
        site = setting.value_word.site if setting.value_word is not None else setting.word.site
        dashes = self._dashes(setting)
        for key in path.split("."):
            if node is None or node.kind != json.OBJECT:
                return Operand(None, site=site)
            member = node.members.get(key)
            if member is None and dashes:
                member = next((one for written, one in node.members.items() if written.replace("-", "_") == key), None)
            if member is None:
                return Operand(None if node.open else False, site=site)
            node = member[1]
        if node is None:
            return Operand(None, site=site)
        if node.kind == json.WORD and node.value is None:
            return Operand(False, site=site)
        if node.kind in (json.OBJECT, json.ARRAY):
            return Operand(True, node.text.flat if node.text.known else None, node.text, site)
        value = node.value if node.value is None or _measured(node.value) else node.text.flat
        return Operand(True, value, node.content if node.kind == json.STRING else node.text, site)

    def _dashes(self, setting: Setting) -> bool:
        """Whether a dash in a key of a JSON option counts as an underscore."""
        named = setting.option.json if setting.option is not None and self.index is not None else ""
        keys = self.catalog.keys(named, self.index) if named and self.catalog is not None and self.index is not None else None
        return keys is not None and keys.dashes

    def _effective(self, name: str) -> Operand:
        fact = facts_of(self.launch.engine).get(name)
        return fact.compute(self) if fact is not None else UNKNOWN

    def _env(self, name: str) -> Operand:
        variable = self.launch.env.get(name)
        if variable is None:
            return UNWRITTEN if self.launch.open_env or self.launch.fragment else ABSENT
        if variable.value is None:
            return Operand(None, site=variable.site)
        return Operand(True, variable.value.value, variable.value, variable.site)

    def _model(self, fact: str) -> Operand:
        if fact == "repository":
            return self._repository()
        model, family = self.reading.model, self.family
        if model is None:
            return UNKNOWN
        if fact == "context" and model.value is not None and not self.reading.opened and _EDITABLE.match(model.value):
            return UNKNOWN  # the cards of Qwen2.5 and Qwen3 say to extend it in config.json
        value = family.fact(fact) if family is not None else None
        if value is None and model.value:
            from servelint import models

            if fact in models.NUMBERS and not self.reading.opened:
                value = models.described_number(model.value, fact)
            elif fact in ("quantization", "quant-method"):
                value = models.named_format(model.value) if family is None and fact == "quantization" else None
                said = family is not None and family.fact("quantization") is not None
                if value is None and not said and not self.reading.opened:
                    value = models.published_quantization(model.value).get(fact)
        return UNKNOWN if value is None else Operand(True, value, site=model.span())

    def _repository(self) -> Operand:
        """The model where it is named as a repository of a hub."""
        model = self.reading.model
        if model is None or model.value is None:
            return UNKNOWN
        return Operand(True, model.value, model) if re.fullmatch(_REPOSITORY, model.value) else ABSENT

    def _draft(self, fact: str) -> Operand:
        draft = self.operand("effective.draft-model")
        if draft.present is not True or draft.text is None or not draft.text.known:
            return ABSENT if draft.present is False else UNKNOWN
        from servelint import models

        family = models.identify(draft.text)
        value = family.fact(fact) if family is not None else None
        if value is None and fact in models.NUMBERS:
            value = models.described_number(draft.text.flat, fact)
        return UNKNOWN if value is None else Operand(True, value, site=draft.span)

    def _gpu(self, fact: str) -> Operand:
        if fact == "count":
            return self._gpu_count()
        name, site = self._named_gpu()
        if name is None:
            return UNKNOWN
        from servelint import hardware

        gpu = hardware.identify(name)
        if gpu is None or fact not in gpu.facts:
            return UNKNOWN
        return Operand(True, gpu.facts[fact], site=site)

    @property
    def gpu_name(self) -> str | None:
        """The GPU as the file or the user names it; None if neither does."""
        return self._named_gpu()[0]

    def _named_gpu(self) -> tuple[str | None, Span | None]:
        """The GPU and the place that names it: the file's own settings, or a comment where it says more."""
        launch = self.launch
        product = launch.container.settings.get("gpu_product") if launch.container is not None else None
        if product is None or (launch.gpu_site is not None and self._says_more(launch.gpu, product.value)):
            return launch.gpu, launch.gpu_site
        return product.value, product.span()

    @staticmethod
    def _says_more(comment: str | None, product: str | None) -> bool:
        from servelint import hardware

        return comment is not None and (product is None or hardware.counts(comment, product))

    def _gpu_count(self) -> Operand:
        """How many GPUs the engine sees at most: its container's, or --gpu-count; CUDA_VISIBLE_DEVICES may hide some."""
        container = self.launch.container
        known = [container.visible_gpus if container is not None and container.visible_gpus else self.launch.gpu_count]
        visible = self._env("CUDA_VISIBLE_DEVICES")
        site: Span | None = None
        if isinstance(visible.value, str):
            devices = [one.strip() for one in visible.value.split(",")]
            if all(is_whole(one) or one.startswith(("GPU-", "MIG-")) for one in devices):
                known.append(len(devices))
                site = visible.span
        counts = [count for count in known if count is not None]
        if not counts:
            return UNKNOWN
        return Operand(True, min(counts), site=site if known[-1] == min(counts) else None)

    @property
    def role(self) -> str:
        """What the launch does of a request: "prefill", "decode", "" for both or where it is not known."""
        name, roles = ENGINES[self.launch.engine].roles
        given = self.operand(name).value if name else None
        role = roles.get(given, "") if isinstance(given, str) else ""
        if role != BY_NAME:
            return role
        named = [one for one in ("prefill", "decode") if one in self.launch.name.lower()]
        return named[0] if len(named) == 1 else ""

    @property
    def prefills(self) -> list[Config]:
        """The launches of the file that may prefill for this one, as the same release reads them.

        Those with the same model; all of them where no launch of the file that decodes has the model of one that prefills.
        """
        if not self.launch.beside or self.role != "decode":
            return []
        releases = [self.release] if self.release is not None else []
        every = [configs(one, releases)[0] for main in self.launch.beside for one in (main, *main.alternatives)]
        sides = {side: [one for one in every if one.role == side] for side in ("prefill", "decode")}
        models = {one.model_text for one in sides["prefill"]}
        same = [one for one in sides["prefill"] if one.model_text == self.model_text]
        apart = not any(one.model_text in models for one in sides["decode"])
        return same or (sides["prefill"] if apart and len(models) == 1 else [])

    @property
    def model_text(self) -> str | None:
        """The model as it is written, with what is not known of it."""
        model = self.reading.model
        return model.shown if model is not None else None

    def _of_launcher(self, name: str) -> Operand:
        given = self.reading.arguments.of_launcher.get(name)
        if given is None:
            return UNWRITTEN if self.launch.launcher else ABSENT
        return self._of(given)

    def _of_prefill(self, name: str) -> Operand:
        """An operand of the launches that prefill for this one; UNKNOWN where they differ, or where there is none."""
        found = [one.operand(name) for one in self.prefills]
        first = found[0] if found else UNKNOWN
        alike = all((one.present, one.value) == (first.present, first.value) for one in found)
        return first if alike else UNKNOWN

    def _stack(self, name: str) -> Operand:
        from servelint.engines import stack

        gpu = (self.operand("gpu.capability").value, self.operand("gpu.name").value) if name == "gpu-kernels" else (None, None)
        value = stack.ask(self.launch, self.key, name, gpu)
        return UNKNOWN if value is None else Operand(True, value)

    def _container(self, name: str) -> Operand:
        container = self.launch.container
        if container is None:
            return UNWRITTEN
        text = container.image if name == "image" else container.settings.get(name)
        if text is None:
            return UNWRITTEN if name == "image" or container.open else ABSENT
        return Operand(True, text.value, text)


_KINDS: dict[str, Callable[[Config, str], Operand]] = {
    "env": Config._env,
    "model": Config._model,
    "draft": Config._draft,
    "gpu": Config._gpu,
    "effective": Config._effective,
    "container": Config._container,
    "stack": Config._stack,
    "prefill": Config._of_prefill,
    "launcher": Config._of_launcher,
}
"""The first part of an operand's name -> what answers for the rest of it."""


@lru_cache(maxsize=4096)
def _asked_for(name: str) -> tuple[Callable[[Config, str], Operand] | None, str, str]:
    """What answers for an operand, None for options, and the two parts of its name."""
    head, dot, rest = name.partition(".")
    return _KINDS.get(head) if dot else None, head, rest


def _typed(engine: str, text: TracedText, types: list[str]) -> Scalar | None:
    """The value as the release converts it; the text where it does not."""
    value = text.value
    if value is None:
        return None
    try:
        converted = convert(engine, types, value)
    except Refused:
        converted = value
    if isinstance(converted, int) and not _measured(converted):
        return None  # nothing can compute with it
    if isinstance(converted, str) and value.lstrip().startswith('"'):
        return value  # a string of JSON keeps its quotes, which tell it from an object
    return converted if isinstance(converted, (str, int, float)) and _measured(converted) else value


def _measured(value: str | float) -> bool:
    """Whether a number can be counted with: infinity and numbers of a hundred digits cannot, and stay text."""
    return isinstance(value, str) or not (value >= _BEYOND or value <= -_BEYOND)


class Fact:
    """What an engine makes of its settings: an operand `effective.<name>`.

    Attributes:
        compute: gives the operand for a config.
        type: bool, number or text.
        meaning: one line.
    """

    __slots__ = ("compute", "meaning", "type")

    def __init__(self, compute: Callable[[Config], Operand], type: str, meaning: str) -> None:
        self.compute = compute
        self.type = type
        self.meaning = meaning


@lru_cache(maxsize=8)
def facts_of(engine: str) -> dict[str, Fact]:
    """The facts of an engine by their names: operands `effective.<name>`."""
    module = ENGINES[engine].part("facts")
    return module.FACTS if module is not None else {}


def quantization_method(config: Config) -> Operand:
    """The quantization method: the option's, or that of the checkpoint.

    A checkpoint of NVIDIA's ModelOpt has one name for all its formats, and engines choose the class by the format
    (override_quantization_method in vllm/model_executor/layers/quantization/modelopt.py, and in
    sglang-0.5.16 srt/layers/quantization/modelopt_quant.py).
    """
    given = config.operand("quantization")
    method = config.operand("model.quant-method") if given.present is False else given
    if method.present and method.value == "modelopt" and config.operand("model.quantization").value == "nvfp4":
        fp4 = config.named("quantization", "modelopt_fp4")
        if fp4 is not None and fp4.here:
            return Operand(True, "modelopt_fp4", site=method.span)
    return method


def least_capability(config: Config) -> Operand:
    """The compute capability that the quantization method asks for, as the catalog has it of the release.

    Source: get_min_capability of each method's config class (vllm/model_executor/layers/quantization,
    sglang/srt/layers/quantization); compared in VllmConfig._get_quantization_config (vllm-0.33.0 vllm/config/vllm.py:930) and
    in sglang-0.5.23 srt/model_loader/loader.py:259.
    """
    method = quantization_method(config)
    known = config.named("quantization", str(method.value)) if method.present and method.value is not None else None
    if known is None or not known.here or "capability" not in known.body:
        return UNKNOWN
    by_option = config.operand("quantization").present is True
    least = known.body.get("by-option", known.body["capability"]) if by_option else known.body["capability"]
    return Operand(True, least / 10, site=method.span)


def given_object(config: Config, option: str) -> dict[str, object] | None:
    """The object that an option gives, by JSON or by single keys; None if there is none, or a part of it is not known."""
    from json import loads

    reading = config.reading
    if option not in reading.by_keys:
        node = reading.parsed(option)
        return loads(node.text.flat) if node is not None and node.kind == json.OBJECT and node.text.known else None
    found: dict[str, object] = {}
    for name, setting in reading.arguments.settings.items():
        if not name.startswith(option + "."):
            continue
        if setting.value is None or not setting.value.known or setting.spelling.endswith("+"):
            return None
        inner = found
        *path, last = name.split(".")[1:]
        for key in path:
            below = inner.setdefault(key, {})
            if not isinstance(below, dict):
                return None
            inner = below
        try:
            inner[last] = loads(setting.value.flat)
        except ValueError:
            inner[last] = setting.value.flat
    return found


_OF_THE_CONTEXT = frozenset(("rope_scaling", "rope_parameters", "max_position_embeddings", "rope_theta"))


def lacks(what: str, class_of: Callable[[Config], object] | None = None) -> Callable[[Config], Operand]:
    """Whether the class of the model does not have something in the release.

    Args:
        what: what it has to declare, as the catalog names it.
        class_of: the class that the release takes; the model's own if it is None.
    """

    def lacking(config: Config) -> Operand:
        architecture = class_of(config) if class_of is not None else config.operand("model.architecture").value
        known = config.named("architectures", architecture) if isinstance(architecture, str) else None
        if known is None or known.here is not True:
            return Operand(None)
        return Operand(True, what in known.body.get("lacks", ()))

    return lacking


def overridden_model(config: Config, option: str) -> Operand:
    """Whether an option that overrides the checkpoint's config may change more than the context; also if it is not known."""
    given = config.operand(option)
    if given.present is False:
        return Operand(True, False)
    found = given_object(config, option)
    inner = found.get("text_config", {}) if found is not None else None
    plain = found is not None and isinstance(inner, dict) and (found.keys() | inner.keys()) <= _OF_THE_CONTEXT | {"text_config"}
    return Operand(True, not plain, given.text, given.site)
