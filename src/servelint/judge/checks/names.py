"""Checks of names: those under which a model is served, and those of its files."""

from __future__ import annotations

import re

from servelint import models
from servelint.core.launch import Word
from servelint.engines.argv import Setting
from servelint.engines.config import Config
from servelint.models import Family

_STEM = r"[a-z]+"
_MTP = r"(?i)(?:^|[-_.])mtp(?:[-_.]|$)"


def another_model(config: Config) -> dict[str, str] | None:
    """A model that is served under the name of another one: of another size, or of another make."""
    loaded, setting = config.family, config.setting("served-model-name")
    if loaded is None or not loaded.size or setting is None or setting.value is None:
        return None
    if any(word.many for word in _after(config, setting)):
        return None  # it may be the loaded model's name
    served = [word.text for word in setting.values] or [setting.value]
    named = [models.identify(text) for text in served]
    if not all(one is not None and one.size and _differ(loaded, one) for one in named):
        return None
    return {"served": served[0].shown, "size": loaded.size}


def colon(config: Config) -> dict[str, str] | None:
    """A colon in the served name, which stands between a model and its adapter.

    Source: sglang-0.5.5.post1 srt/server_args.py, sglang-0.5.23 srt/arg_groups/validation_hook.py:213 (an address of an object
    store is let through in later releases).
    """
    name = config.operand("served-model-name").value
    if not isinstance(name, str) or ":" not in name or "://" in name:
        return None
    return {"plain": name.replace(":", "-")}


def file_with_mtp(config: Config) -> dict[str, str] | None:
    """A GGUF file that says MTP in its name, so that it holds the tensors of the draft."""
    for name in ("model", "hf-repo"):
        value = config.operand(name).value
        if isinstance(value, str) and re.search(_MTP, value.rpartition("/")[2].partition(":")[0]):
            return {"file": value.rpartition("/")[2]}
    return None


def _after(config: Config, setting: Setting) -> list[Word]:
    """The word that follows the names, if there is one."""
    words = config.launch.argv
    last = setting.values[-1] if setting.values else setting.value_word
    return next((words[at + 1 : at + 2] for at, word in enumerate(words) if word is last), [])


def _differ(one: Family, other: Family) -> bool:
    """Names that leave out how many parameters are active, or the point release, are the same model's."""
    stems = [re.match(_STEM, family.name) for family in (one, other)]
    if stems[0] is None or stems[1] is None or stems[0].group() != stems[1].group():
        return True
    sizes = [family.size or "" for family in (one, other)]
    return sizes[0] != sizes[1] and not sizes[0].startswith(sizes[1] + "-") and not sizes[1].startswith(sizes[0] + "-")
