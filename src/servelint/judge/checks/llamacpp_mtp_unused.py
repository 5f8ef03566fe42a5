"""A GGUF file that says MTP in its name, so that it holds the tensors of the draft."""

from __future__ import annotations

import re

from servelint.engines.config import Config

_MTP = re.compile(r"(?:^|[-_.])mtp(?:[-_.]|$)", re.IGNORECASE)


def check(config: Config) -> dict[str, str] | None:
    for name in ("model", "hf-repo"):
        value = config.operand(name).value
        if isinstance(value, str) and _MTP.search(value.rpartition("/")[2].partition(":")[0]):
            return {"file": value.rpartition("/")[2]}
    return None
