"""A launch's arguments as the parsers of releases read them, with the options of the file that `--config` names."""

from __future__ import annotations

from servelint.core.launch import Launch, Word
from servelint.core.text import Text
from servelint.engines import entry, images
from servelint.engines.argv import Arguments, Fault, read
from servelint.engines.catalog import Catalog, Signatures, Table
from servelint.engines.registry import ENGINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint import models
    from servelint.syntax import json


class Reading:
    """A launch's arguments as one or more releases read them: all releases that read them alike share it.

    Attributes:
        launch: the launch.
        arguments: its arguments, with those of the file that `--config` names.
        by_keys: JSON options that the launch sets by single keys (`--option.key value`).
        taken: ids of (setting, word) whose value all of these releases accept, so that it is checked once only.
        json: option -> its value as JSON, or why it is not valid JSON.
        model: the model as the launch names it; None if it does not.
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
        """What is known of the model, by its config.json if that file can be read, or else by its name."""
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
        """An option's value as JSON, or why it is not valid JSON; None if no value is given."""
        if name not in self.json:
            from servelint.syntax import json

            setting = self.arguments.settings.get(name)
            value = setting.value if setting is not None else None
            self.json[name] = json.parsed(value) if value is not None else None
        return self.json[name]

    def parsed(self, name: str) -> json.JsonNode | None:
        """An option's value as JSON; None if it is not given, not known or not valid."""
        from servelint.syntax import json

        node = self.json_of(name)
        return node if isinstance(node, json.JsonNode) else None


def _family(launch: Launch, model: Text) -> models.Family | None:
    from servelint import models

    if launch.folder is not None or launch.open is not None:
        from servelint.models import folder

        opened = folder.files_of(launch)
        found = folder.read(model, opened) if opened is not None else None
        if found is not None:
            return found
    return models.identify(model)


def _with_file(launch: Launch) -> tuple[list[Word], Fault | None]:
    """The argv with the options of the file that `--config` names, and what keeps the file from being read.

    Where no file can be opened at all, the argv is returned as it is.
    """
    if not ENGINES[launch.engine].config_file or (launch.folder is None and launch.open is None):
        return launch.argv, None
    named = next((word for word in launch.argv if word.value == "--config"), None)
    if named is None:
        return launch.argv, None
    from servelint.engines import config_file

    def read(name: Text) -> Text | None:
        if launch.folder is not None:
            return config_file.open_in(launch.folder, name)
        opened = launch.open(name) if launch.open is not None else None
        return opened.text if opened is not None and opened.text.known else None

    try:
        return config_file.merged(launch.argv, read) or launch.argv, None
    except config_file.Missing as missing:
        return launch.argv, Fault("config-file", named, "--config", [str(missing)])


class Readings:
    """A launch as the releases of a catalog read it; releases whose parsers read it alike share a Reading."""

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
