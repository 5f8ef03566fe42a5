"""A launch's arguments as the parser of some releases reads them, with what stands in the files that it names."""

from __future__ import annotations

from servelint.core.launch import Launch, Word
from servelint.core.text import Text
from servelint.engines import config_file, entry, images
from servelint.engines.arguments import Arguments, Fault
from servelint.engines.argv import read
from servelint.engines.catalog import Catalog, Signatures, Table
from servelint.engines.registry import ENGINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint import models
    from servelint.syntax import json


class Reading:
    """A launch's arguments as the parser of some releases reads them: all those that read them alike share it.

    taken: values that all of them take, so that they need to be looked at once only: the settings' ids, and the words'
    """

    __slots__ = ("_family", "arguments", "by_keys", "json", "launch", "model", "taken")

    def __init__(self, launch: Launch, arguments: Arguments) -> None:
        self.launch = launch
        self.arguments = arguments
        self.by_keys = {name.partition(".")[0] for name in arguments.settings if "." in name}
        self.taken: set[tuple[int, int]] = set()
        self.json: dict[str, json.JsonNode | json.JsonFault | None] = {}
        self.model = self._model()
        self._family: list[models.Family | None] = []

    @property
    def family(self) -> models.Family | None:
        """What is known of the model: by its config.json, where that file is here, or by its name."""
        if not self._family:
            self._family = [_family(self.launch, self.model) if self.model is not None else None]
        return self._family[0]

    def _model(self) -> Text | None:
        settings = self.arguments.settings
        if ENGINES[self.launch.engine].dialect.positional and self.arguments.positionals:
            return self.arguments.positionals[0].text
        for name in ("model-path", "model"):
            if name in settings and settings[name].value is not None:
                return settings[name].value
        return None

    def json_of(self, name: str) -> json.JsonNode | json.JsonFault | None:
        """The JSON of an option's value, or why it is none; None if no value is given."""
        if name not in self.json:
            from servelint.syntax import json

            setting = self.arguments.settings.get(name)
            value = setting.value if setting is not None else None
            self.json[name] = json.parsed(value) if value is not None else None
        return self.json[name]

    def parsed(self, name: str) -> json.JsonNode | None:
        """The JSON of an option's value; None if it is not given, not known, or no JSON."""
        from servelint.syntax import json

        node = self.json_of(name)
        return node if isinstance(node, json.JsonNode) else None


def _family(launch: Launch, model: Text) -> models.Family | None:
    from servelint import models

    def opened(path: str) -> str | None:
        found = launch.open(Text.of(path)) if launch.open is not None else None
        return found.text.value if found is not None else None

    if launch.folder is not None or launch.open is not None:
        from servelint.models import local

        found = local.read(model, local.open_in(launch.folder) if launch.folder is not None else opened)
        if found is not None:
            return found
    return models.identify(model)


def _with_file(launch: Launch) -> tuple[list[Word], Fault | None]:
    """The argv with what the file of `--config` adds, where that file is here; why the file cannot be read, if it is not."""
    if not ENGINES[launch.engine].config_file or (launch.folder is None and launch.open is None):
        return launch.argv, None

    def read(name: Text) -> Text | None:
        if launch.folder is not None:
            return config_file.open_in(launch.folder, name)
        opened = launch.open(name) if launch.open is not None else None
        return opened.text if opened is not None and opened.text.known else None

    try:
        return config_file.merged(launch.argv, read) or launch.argv, None
    except config_file.Missing as missing:
        word = next(word for word in launch.argv if word.value == "--config")
        return launch.argv, Fault("config-file", word, "--config", [str(missing)])


class Readings:
    """A launch as the releases of a catalog read it: those whose parsers read it alike share a reading."""

    __slots__ = ("_argv", "_catalog", "_fault", "_known", "_launch", "_signatures")

    def __init__(self, launch: Launch, catalog: Catalog | None) -> None:
        self._launch = launch
        self._catalog = catalog
        self._argv, self._fault = _with_file(launch)
        self._signatures = Signatures(catalog, [word.text.flat for word in self._argv]) if catalog is not None else None
        self._known: dict[object, Reading] = {}

    def of(self, index: int | None) -> Reading:
        """How the release at a position of the catalog reads the launch; None for no release."""
        alike = self._signatures.of(index) if self._signatures is not None and index is not None else None
        found = self._known.get(alike)
        if found is None:
            found = self._known[alike] = self._read(self._catalog.table(index) if self._catalog and index is not None else None)
        return found

    def _read(self, table: Table | None) -> Reading:
        launch = self._launch
        entrypoint = images.identify(launch.image).entrypoint if launch.image is not None and not launch.verb else None
        arguments = read(
            self._argv,
            table,
            ENGINES[launch.engine].dialect,
            fragment=launch.fragment,
            takes_model=entry.takes_model(launch.engine, launch.verb, entrypoint),
        )
        if self._fault is not None:
            arguments.faults.insert(0, self._fault)
        return Reading(launch, arguments)
