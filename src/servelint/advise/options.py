"""The words of a launch while it is made: what is written, and in which order."""

from __future__ import annotations

import json

from servelint.engines import ENGINES, catalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.catalog import Catalog


class Options:
    """What a launch is to say.

    values:      option -> its value, None for a flag; in the order in which they are written
    speculation: the keys of the JSON option of speculative decoding, if the engine has one; none without drafts
    env:         the environment variables that it needs
    gpu:         what it runs on, as the caller names it
    more:        words that the caller adds as they are, the last ones
    prefixes:    what the caller says of prefix caching: True, it is to stay; False, it is off; None: as it may be
    """

    __slots__ = ("engine", "env", "gpu", "model", "more", "prefixes", "release", "speculation", "values")

    def __init__(
        self, engine: str, model: str, release: str, gpu: str | None, prefixes: bool | None, more: tuple[str, ...]
    ) -> None:
        self.engine = engine
        self.model = model
        self.release = release
        self.gpu = gpu
        self.prefixes = prefixes
        self.more = more
        self.values: dict[str, str | None] = {}
        self.speculation: dict[str, object] = {}
        self.env: dict[str, str] = {}

    def set(self, option: str, value: object = None) -> bool:
        """Write an option; whether anything is different now."""
        text = None if value is None else str(value)
        if option in self.values and self.values[option] == text:
            return False
        self.values[option] = text
        return True

    def argv(self) -> list[str]:
        """The words after the engine's verb."""
        engine = ENGINES[self.engine]
        words = [self.model] if engine.dialect.positional else ["--" + engine.model_option, self.model]
        for option, value in self.values.items():
            words += ["--" + option] if value is None else ["--" + option, value]
        if self.speculation:
            words += ["--" + engine.speculation_json, json.dumps(self.speculation, separators=(",", ":"))]
        return [*words, *self.more]

    def said(self) -> list[str]:
        """Variables, options with their values and keys of the speculative config, one a text."""
        options = ["--" + option if value is None else f"--{option} {value}" for option, value in self.values.items()]
        keys = [json.dumps({key: value}, separators=(",", ":"))[1:-1] for key, value in self.speculation.items()]
        return [*(f"{name}={value}" for name, value in self.env.items()), *options, *keys]

    def catalog(self) -> Catalog:
        found = catalog.load(self.engine)
        if found is None:
            raise ValueError(f"the options of {self.engine!r} are not known")
        return found

    def has(self, option: str) -> bool:
        """Whether the release declares an option."""
        known = self.catalog()
        return known.table(known.nearest(self.release)).find("--" + option) is not None

    def knows(self, kind: str, name: str) -> bool:
        """Whether the release has a name of a kind ("speculative-methods")."""
        known = self.catalog()
        index = known.nearest(self.release)
        return any(first <= index <= last for first, last, _ in known.names(kind).get(name, ()))
