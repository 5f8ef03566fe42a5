"""Secrets in plain text. Their values are never shown.

The patterns are compiled when something needs them: together they would cost a check some milliseconds.
"""

from __future__ import annotations

import re

from servelint.core.secrets import is_placeholder, mask_of
from servelint.core.text import Text
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import Config
from servelint.engines.registry import ENGINES, derived
from servelint.judge.container.allowed import allowed
from servelint.judge.parser.complaint import Complaint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.judge.container.allowed import Options

OPTIONS = ("api-key", "api-keys", "admin-api-key")
ENDS = ("TOKEN", "SECRET", "PASSWORD", "API_KEY", "ACCESS_KEY", "_AUTH")
"""Options whose value is a secret; how the names of variables end that hold one."""
_TOKENS = r"hf_[A-Za-z0-9]{24,}|sk-[A-Za-z0-9_-]{24,}|nvapi-[A-Za-z0-9_-]{24,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[A-Z0-9]{16}"
_BEGINNINGS = ("hf_", "sk-", "nvapi-", "gh", "AKIA")
_NOTHING = r"(?i)(?:empty|none|null|false|no-?key.*)?"


def complaints(config: Config, options: Options) -> list[Complaint]:
    return [*_server_keys(config, options), *_tokens(config, options)]


@derived
def _key_variables() -> tuple[str, ...]:
    """Variables that hold a key of some engine's server."""
    return tuple([name for engine in ENGINES.values() for name in engine.api_key_variables])


def _server_keys(config: Config, options: Options) -> list[Complaint]:
    """Keys that the server lets in: whoever reads the file may call it."""
    found: list[Complaint] = []
    texts = [(setting.spelling, setting.value) for setting in config.reading.arguments.every if setting.name in OPTIONS]
    texts += [(name, config.launch.env[name].value) for name in _key_variables() if name in config.launch.env]
    for name, text in texts:
        if text is None or not _written(text) or re.fullmatch(_NOTHING, text.flat):
            continue
        if allowed(options, "api-key-in-plain-text", text.flat):
            continue
        how = "as its default" if text.assumed else "in plain text"
        engine = ENGINE_NAMES[config.launch.engine]
        message = f"{name} has {mask_of(text.flat)} {how}: whoever reads this file may call the {engine} server"
        advice = "take it from a secret store, or from a variable without a default (${API_KEY:?}), and change the key"
        found.append(Complaint("api-key-in-plain-text", text.span(), message, advice, "a key of the server"))
    return found


def _tokens(config: Config, options: Options) -> list[Complaint]:
    """Tokens for other services."""
    found: list[Complaint] = []
    for name, variable in config.launch.env.items():
        text = variable.value
        if text is None or len(text.flat) < 12 or name in _key_variables():
            continue
        if not name.endswith(ENDS) and not (text.flat.startswith(_BEGINNINGS) and re.fullmatch(_TOKENS, text.flat)):
            continue
        if not _written(text):
            continue
        if is_placeholder(text.flat):
            continue
        if allowed(options, "secret-in-plain-text", text.flat):
            continue
        message = f"{name} has {mask_of(text.flat)} in plain text: whoever reads this file has the secret"
        advice = "take it from a secret store or from the environment, and revoke this one"
        found.append(Complaint("secret-in-plain-text", text.span(), message, advice, "a secret", variable=name))
    return found


def _written(text: Text) -> bool:
    """Whether a value is known, and stands in the file itself rather than in a `.env` beside it."""
    return text.value is not None and bool(text.flat) and text.origin is None and text.span() is not None
