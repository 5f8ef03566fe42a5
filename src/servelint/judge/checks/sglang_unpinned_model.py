"""A model that is fetched from a hub by its name, so that its code may change between two starts."""

from __future__ import annotations

import re

from servelint.engines.config import Config

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def check(config: Config) -> dict[str, str] | None:
    model = config.reading.model
    value = model.value if model is not None else None
    return {"repository": value} if value is not None and _REPOSITORY.fullmatch(value) else None
