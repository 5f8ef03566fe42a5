"""`serving.properties` of DJL Serving: `option.max_model_len=8192` is what OPTION_MAX_MODEL_LEN=8192 is for an LMI image.

Only a file that names the engine's rolling batch is read: the image that opens it decides otherwise.
"""

from __future__ import annotations

import re

from servelint.core.launch import Launch, ReleaseClaim, Variable
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.engines.images import Image
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours
from servelint.readers.containers import set_by_variables
from servelint.readers.context import CommandContext
from servelint.readers.registry import Format

FORMAT = Format(
    "serving-properties",
    206,
    title="DJL Serving properties",
    about="`serving.properties` of an LMI image",
    files=("serving.properties",),
    words=("option.",),
)

_PROPERTY = re.compile(r"[ \t]*(?P<key>[a-zA-Z_.]+)[ \t]*[=:][ \t]*(?P<value>[^\r\n]*[^\s])?[ \t]*")
_ENGINE = "OPTION_ROLLING_BATCH"


def read(source: Source, _neighbours: Neighbours) -> list[Launch]:
    """A fragment of the launch that LMI makes of the properties."""
    env: dict[str, Variable] = {}
    for line, start in enumerate(source.line_starts, start=1):
        found = _PROPERTY.fullmatch(source.line_text(line))
        if found is not None and found["value"] is not None and "{{" not in found["value"]:
            value = TracedText.at(source, start + found.start("value"), start + found.end("value"))
            name = found["key"].replace(".", "_").upper()
            env[name] = Variable(name, value, value.span())
    named = env[_ENGINE].value if _ENGINE in env else None
    engine = ENGINES.get(named.flat) if named is not None else None
    wrapper = (
        next((one.wrapper for one in engine.images if one.wrapper and _ENGINE in one.wrapper.unless), None) if engine else None
    )
    if engine is None or wrapper is None:
        return []
    launches = set_by_variables(Image(engine.id, ReleaseClaim(), ()), wrapper, CommandContext(source, env=env, open_env=True))
    for launch in launches:
        launch.fragment, launch.env = True, {}
    return launches
