"""Values of variables and options: placeholders that nothing fills in, and secrets in plain text, which are never shown."""

from __future__ import annotations

import re

from servelint.core.secrets import is_placeholder, is_plain, is_secret_name, mask_of
from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import Config
from servelint.engines.registry import ENGINES, derived
from servelint.judge.parser.violation import Violation, allowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.judge.parser.violation import Options


_TEMPLATE = r"\{\{\s*[A-Z][A-Z0-9_]*\s*\}\}|<[A-Z][A-Z0-9_ -]*>"
_REFERENCE = r"\$(?:\{(\w+)\}|(\w+))"
_TEMPLATE_NAME = r"(?i).*[._-](?:template|tpl|tmpl|gotmpl|tftpl|j2|jinja2?|envsubst|in)(?:\.ya?ml|\.json)?"
_FILLED = r"(?m)^[ \t]*(?:- )?(?:app|claimName|image|name|namespace|nodePort|replicas|storage):[ \t]*[\"']?[^\s#]*\$\{?\w"
"""A name, an image or a number that only another tool can have filled in: Kubernetes refuses the reference there."""


def violations(config: Config, options: Options) -> list[Violation]:
    """The violations in the values of variables and options. `options` are those of each violation's rule."""
    return [*_server_keys(config, options), *_tokens(config, options), *_unfilled(config)]


def _unfilled(config: Config) -> list[Violation]:
    found: list[Violation] = []
    page = config.launch.source.is_page  # there the reader fills in the placeholders
    for name, variable in config.launch.env.items():
        site = variable.value.span() if variable.value is not None else None
        if site is None or variable.value is None:
            continue
        shown = site.text
        if not page and shown[:1] in ("{", "<") and re.fullmatch(_TEMPLATE, shown):
            message = f"{name} is {shown}, a placeholder that nothing in this file fills in"
            found.append(Violation("placeholder", site, message, "write the value, or take it from a secret", "to fill in"))
            continue
        reference = re.fullmatch(_REFERENCE, shown) if shown[:1] == "$" else None
        by_shell = variable.site is not None and variable.site == site  # `export MODEL=${MODEL_ID}`: the shell replaces it
        by_flux = shown.startswith("${") and config.launch.name.startswith("HelmRelease/")  # postBuild.substitute
        if (
            reference is not None
            and not page
            and not by_shell
            and not by_flux
            and _in_kubernetes(config)
            and not _is_filled(config)
        ):
            variable_name = reference.group(1) or reference.group(2)
            message = f"Kubernetes passes {shown} on unchanged: it replaces only $({variable_name})"
            advice = f"take {name} from a secret (valueFrom.secretKeyRef), unless envsubst or a similar tool fills it in"
            found.append(Violation("env-not-expanded", site, message, advice, "not replaced by Kubernetes"))
    return found


def _is_filled(config: Config) -> bool:
    """Whether another tool fills in the references of the file before Kubernetes reads it."""
    source = config.launch.source
    return re.fullmatch(_TEMPLATE_NAME, source.path) is not None or re.search(_FILLED, source.text) is not None


def _in_kubernetes(config: Config) -> bool:
    """Whether the launch is in a Kubernetes object, where only Kubernetes expands variables."""
    return ".containers." in config.launch.name or ".initContainers." in config.launch.name


# -- secrets; their patterns are compiled on first use, which saves a check some milliseconds


OPTIONS = ("api-key", "api-keys", "admin-api-key")
ENDS = ("TOKEN", "SECRET", "PASSWORD", "API_KEY", "ACCESS_KEY", "_AUTH")
"""Options whose value is a secret; how the names of variables end that hold one."""
_TOKENS = r"hf_[A-Za-z0-9]{24,}|sk-[A-Za-z0-9_-]{24,}|nvapi-[A-Za-z0-9_-]{24,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[A-Z0-9]{16}"
_BEGINNINGS = ("hf_", "sk-", "nvapi-", "gh", "AKIA")
_SHORTEST = 12
_NAME = r"[A-Z]+(?:_[A-Z0-9]+)+"
_NOTHING = r"(?i)(?:empty|none|null|false|dummy|(?:sk-)?no-?key.*|token-abc123|sk-1234)?"
"""Keys that say that there is none, and those that the engines' documentation and clients show."""


@derived
def _key_variables() -> tuple[str, ...]:
    """Variables that hold a key of any engine's server."""
    return tuple([name for engine in ENGINES.values() for name in engine.api_key_variables])


def _server_keys(config: Config, options: Options) -> list[Violation]:
    """Keys of the server in plain text."""
    found: dict[object, Violation] = {}
    texts = [(setting.spelling, setting.value) for setting in config.reading.arguments.every if setting.name in OPTIONS]
    texts += [(name, config.launch.env[name].value) for name in _key_variables() if name in config.launch.env]
    for name, text in texts:
        if text is None or not _written(text) or re.fullmatch(_NOTHING, text.flat):
            continue
        if allowed(options, "api-key-in-plain-text", text.flat):
            continue
        how = "as its default" if text.assumed else "in plain text"
        engine = ENGINE_NAMES[config.launch.engine]
        message = f"{name} has {mask_of(text.flat)} {how}: every reader of this file can call the {engine} server"
        advice = "take it from a secret store, or from a variable without a default (${API_KEY:?}), and change the key"
        violation = Violation("api-key-in-plain-text", text.span(), message, advice, "a key of the server")
        found.setdefault(text.span() or name, violation)  # an option may take the variable's value
    return list(found.values())


def _tokens(config: Config, options: Options) -> list[Violation]:
    """Tokens of other services in plain text."""
    found: list[Violation] = []
    for name, variable in config.launch.env.items():
        text = variable.value
        if text is None or len(text.flat) < _SHORTEST or name in _key_variables():
            continue
        if re.fullmatch(_NAME, text.flat):
            continue  # HUGGINGFACE_TOKEN: the name of what is to be filled in
        named = name.endswith(ENDS) and is_secret_name(name) and not is_plain(name, text.flat)
        if not named and not (text.flat.startswith(_BEGINNINGS) and re.fullmatch(_TOKENS, text.flat)):
            continue
        if not _written(text) or is_placeholder(text.flat) or allowed(options, "secret-in-plain-text", text.flat):
            continue
        message = f"{name} has {mask_of(text.flat)} in plain text: every reader of this file has the secret"
        advice = "take it from a secret store or from the environment, and revoke this one"
        found.append(Violation("secret-in-plain-text", text.span(), message, advice, "a secret", variable=name))
    for name, text in config.launch.secrets:
        plain = text.flat.startswith(_BEGINNINGS) and re.fullmatch(_TOKENS, text.flat) and _written(text)
        if plain and not is_placeholder(text.flat) and not allowed(options, "secret-in-plain-text", text.flat):
            if any(one.span == text.span() for one in found):
                continue  # the chart makes a variable of it
            message = f"{name} has {mask_of(text.flat)} in plain text: every reader of this file has the secret"
            advice = "name a secret of the cluster instead, and revoke this one"
            found.append(Violation("secret-in-plain-text", text.span(), message, advice, "a secret"))
    return found


def _written(text: TracedText) -> bool:
    """Whether a value is known and written in the file itself, not in a `.env` beside it."""
    return text.value is not None and bool(text.flat) and text.origin is None and text.span() is not None
