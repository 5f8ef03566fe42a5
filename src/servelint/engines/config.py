"""A config: one launch as one release of its engine reads it, asked for operands by name.

Operand names: an option's canonical name (`kv-cache-dtype`), a key of a JSON option (`speculative-config.method`), `env.NAME`,
`model.<fact>`, `effective.<fact>` (what the engine makes of the settings), `container.<setting>`.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from servelint import models
from servelint.engines import options as option_table
from servelint.engines.options import Arguments, Options, Setting
from servelint.engines.releases import release_key
from servelint.launch import Launch
from servelint.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint import json_nodes
    from servelint.source import Span

Scalar = str | int | float | bool

_NUMBERS = ("int", "float")


class Operand:
    """The value of something a rule asks for.

    present:  True, False, or None if it cannot be told
    value:    the value; None if it is absent, unknown, or no scalar
    text:     the characters that give it;  site: the word or line that sets it (also for a flag without a value)
    """

    __slots__ = ("present", "site", "text", "value")

    def __init__(
        self, present: bool | None, value: Scalar | None = None, text: Text | None = None, site: Span | None = None
    ) -> None:
        self.present = present
        self.value = value
        self.text = text
        self.site = site

    @property
    def span(self) -> Span | None:
        """The characters to point at: the value where it stands, else the word that sets it."""
        found = self.text.span() if self.text is not None and self.text.flat else None
        return found if found is not None else self.site

    @property
    def shown(self) -> str:
        if self.text is not None and self.text.shown:
            return self.text.shown
        return "" if self.value is None else str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


ABSENT = Operand(False)
UNKNOWN = Operand(None)
UNWRITTEN = Operand(None)
"""Not written, but an unknown word of the launch may add it."""


class Reading:
    """What is the same for every release: the launch's arguments, read once."""

    __slots__ = ("arguments", "by_keys", "json", "launch", "model", "options")

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.options: Options = option_table.load(launch.engine)
        self.arguments: Arguments = option_table.read(launch.argv, self.options)
        self.arguments.complete = self.arguments.complete and not launch.fragment
        self.by_keys = {name.partition(".")[0] for name in self.arguments.settings if "." in name}
        self.json: dict[str, json_nodes.JsonNode | None] = {}
        self.model = self._model()

    def _model(self) -> Text | None:
        settings = self.arguments.settings
        if self.options.positional == "model" and self.arguments.positionals:
            return self.arguments.positionals[0].text
        for name in ("model-path", "model"):
            if name in settings and settings[name].value is not None:
                return settings[name].value
        return None

    def parsed(self, name: str) -> json_nodes.JsonNode | None:
        """The JSON of an option's value; None if it is not given, not known, or no JSON."""
        if name not in self.json:
            from servelint import json_nodes

            setting = self.arguments.settings.get(name)
            self.json[name] = None
            if setting is not None and setting.value is not None:
                node = json_nodes.parse(setting.value)
                self.json[name] = node if isinstance(node, json_nodes.JsonNode) else None
        return self.json[name]


class Config:
    """A launch under one release; release None where the engine publishes none that servelint follows."""

    __slots__ = ("_facts", "key", "launch", "reading", "release")

    def __init__(self, reading: Reading, release: str | None) -> None:
        self.reading = reading
        self.launch = reading.launch
        self.release = release
        self.key = release_key(release) if release is not None else None
        self._facts: dict[str, Operand] = {}

    def at_least(self, release: str) -> bool | None:
        """Whether the release is the given one or later; None if it is not known."""
        bound = release_key(release)
        return None if self.key is None or bound is None else self.key >= bound

    @property
    def family(self) -> models.Family | None:
        return models.identify(self.reading.model) if self.reading.model is not None else None

    def setting(self, name: str) -> Setting | None:
        return self._settings.get(name)

    def unwritten(self, option: str) -> Operand:
        """An option that is not written: certainly absent only where no unknown word may add it."""
        arguments = self.reading.arguments
        return ABSENT if arguments.complete and option not in arguments.possible else UNWRITTEN

    def operand(self, name: str) -> Operand:
        head, dot, rest = name.partition(".")
        if dot and head == "env":
            return self._env(rest)
        if dot and head == "model":
            return self._model(rest)
        if dot and head == "effective":
            if name not in self._facts:
                fact = _facts(self.launch.engine).get(rest)
                self._facts[name] = fact(self) if fact is not None else UNKNOWN
            return self._facts[name]
        if dot and head == "container":
            return self._container(rest)
        if name == "model":
            model = self.reading.model
            return self.unwritten(name) if model is None else Operand(True, model.value, model)
        setting = self.setting(name)
        if setting is not None:
            return self._of(setting)
        if head in self.reading.by_keys:
            return self._by_keys(name, head)
        return self._key(head, rest) if dot else self.unwritten(name)

    @property
    def _settings(self) -> dict[str, Setting]:
        return self.reading.arguments.settings

    def _by_keys(self, name: str, option: str) -> Operand:
        """A JSON option, or a key of it, that single keys set (`--option.key value`)."""
        below = next((one for key, one in self._settings.items() if key.startswith(name + ".")), None)
        if below is not None:
            return Operand(True, None, below.word.text, below.word.site)
        # beside a whole object, or below a key that is given, it depends on the release what counts
        other = self.setting(option) or next((one for key, one in self._settings.items() if name.startswith(key + ".")), None)
        return self.unwritten(option) if other is None else Operand(None, site=other.word.site)

    def _of(self, setting: Setting) -> Operand:
        site = setting.word.site
        if setting.on is not None and setting.value is None:
            return Operand(True, setting.on, setting.word.text, site)
        if setting.value is None:
            return Operand(True, None, setting.word.text, site)
        option = self.reading.options.get(setting.name)
        return Operand(True, _typed(setting.value, option.type if option else None), setting.value, site)

    def _key(self, option: str, path: str) -> Operand:
        setting = self.setting(option)
        if setting is None:
            return self.unwritten(option)
        node = self.reading.parsed(option)
        site = setting.value_word.site if setting.value_word is not None else setting.word.site
        from servelint import json_nodes

        for key in path.split("."):
            if node is None or node.kind != json_nodes.OBJECT:
                return Operand(None, site=site)
            member = node.members.get(key)
            if member is None:
                return Operand(None if node.open else False, site=site)
            node = member[1]
        if node is None:
            return Operand(None, site=site)
        if node.kind == json_nodes.WORD and node.value is None:
            return Operand(False, site=site)
        return Operand(True, node.value, node.content if node.kind == json_nodes.STRING else node.text, site)

    def _env(self, name: str) -> Operand:
        variable = self.launch.env.get(name)
        if variable is None:
            return UNWRITTEN if self.launch.open_env or self.launch.fragment else ABSENT
        if variable.value is None:
            return Operand(None, site=variable.site)
        return Operand(True, variable.value.value, variable.value, variable.site)

    def _model(self, fact: str) -> Operand:
        family = self.family
        model = self.reading.model
        if family is None or fact not in family.facts:
            return UNKNOWN
        return Operand(True, family.facts[fact], model)

    def _container(self, name: str) -> Operand:
        container = self.launch.container
        if container is None:
            return UNWRITTEN
        text = container.image if name == "image" else container.settings.get(name)
        if text is None:
            return UNWRITTEN if name == "image" else ABSENT
        return Operand(True, text.value, text)


def _typed(text: Text, kind: str | None) -> Scalar | None:
    value = text.value
    if value is None or kind not in _NUMBERS:
        return value
    try:
        return int(value) if kind == "int" else float(value)
    except ValueError:
        try:
            return float(value)
        except ValueError:
            return value


@lru_cache(maxsize=8)
def _facts(engine: str) -> dict[str, Callable[[Config], Operand]]:
    if engine not in ("vllm", "sglang"):
        return {}
    facts: dict[str, Callable[[Config], Operand]] = import_module("servelint.engines." + engine).FACTS
    return facts
