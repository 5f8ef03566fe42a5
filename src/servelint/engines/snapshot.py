"""The texts of the files that a launch names, read before the launch goes to another process or into a report.

A launch opens files by a function that belongs to its reader and cannot be pickled. What a memory plan and a report's page need
is therefore read beforehand: the file of `--config`, and the configurations of its models.
"""

from __future__ import annotations

from copy import copy

from servelint.core.launch import Launch, OpenedFile
from servelint.core.text import Text
from servelint.engines.config import Config, configs
from servelint.models.folder import CONFIG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DRAFTS = ("speculative-config.model", "spec-model", "speculative-draft-model-path")


class Carried:
    """Opens the files that were read.

    Attributes:
        texts: name of a file as the launch has it -> its text.
    """

    __slots__ = ("texts",)

    def __init__(self, texts: dict[str, Text]) -> None:
        self.texts = texts

    def __call__(self, name: Text) -> OpenedFile | None:
        """The file of a name; None if it was not read."""
        text = self.texts.get(name.flat)
        if text is None:
            return None
        return OpenedFile(text, name.flat, False, None)


def carry(given: Launch) -> Carried | None:
    """Read the files that a launch names, and return what opens them in another process; None if there are none."""
    if given.open is None or isinstance(given.open, Carried):
        return given.open
    found = Carried({})
    launch = copy(given)
    launch.open = _kept(given.open, found)
    release = given.release.release
    (config,) = configs(launch, [release] if release is not None else [])
    for model in _models(config):
        folder = model.rstrip("/")
        if launch.open(Text.of(f"{folder}/{CONFIG}")) is not None:
            from servelint.models.checkpoint import (  # where a model is here: a check needs them nowhere else
                INDEX,
                QUANTIZATION,
            )

            for name in (QUANTIZATION, INDEX):
                launch.open(Text.of(f"{folder}/{name}"))
    return found if found.texts else None


def _kept(opened: Callable[[Text], OpenedFile | None], found: Carried) -> Callable[[Text], OpenedFile | None]:
    def keep(name: Text) -> OpenedFile | None:
        one = opened(name)
        if one is not None:
            found.texts[name.flat] = one.text
        return one

    return keep


def _models(config: Config) -> list[str]:
    """The models that a launch names, with the options of its file."""
    model = config.reading.model
    named = [model.value if model is not None else None, *[config.operand(name).value for name in _DRAFTS]]
    return [one for one in named if isinstance(one, str) and one]
