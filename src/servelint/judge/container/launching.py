"""Commands that do not become what their author meant, and what Kubernetes, compose or Docker refuses around an engine.

mishaps.json has the rule and the texts of each kind of mishap, or of its variants.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from servelint.core.data import read_json
from servelint.core.launch import Launch, Mishap
from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES, ENGINES, images
from servelint.engines.config import Config
from servelint.judge.parser.violation import Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REFERENCE = r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))"
_SHORT = 60


@lru_cache(maxsize=1)
def texts() -> dict[str, dict[str, Any]]:
    """The rule, message, advice and label of each kind of mishap, with fields in braces.

    `runs` is set for a kind with which the engine runs, otherwise than the file says: it is a warning at most.
    """
    found: dict[str, dict[str, Any]] = read_json(os.path.join(os.path.dirname(__file__), "mishaps.json"))
    return found


def not_started(launch: Launch) -> list[Violation]:
    """The violation of a launch that nothing starts."""
    return [found for mishap in launch.mishaps for found in _violations(launch, mishap)]


def violations(config: Config) -> list[Violation]:
    """What happens to the launch, and variables that nothing replaces."""
    return [*not_started(config.launch), *_not_expanded(config)]


def _violations(launch: Launch, mishap: Mishap) -> list[Violation]:
    """The violation of a mishap, by the texts of its kind."""
    if not _counts(launch, mishap):
        return []
    engine = ENGINES[launch.engine]
    fields = {
        "shown": mishap.shown,
        "short": _short(mishap.shown),
        "other": mishap.other,
        "word": mishap.other.partition(" ")[0],
        "engine": engine.name,
        "command": " ".join(engine.command),
        "program": engine.command[0],
        "verb": engine.command[-1],
        "address": engine.address_variable,
        **dict(zip(("first", "second", "third"), (*mishap.other.split("\n"), "", ""), strict=False)),
    }
    text = texts()[mishap.kind + _variant(launch, mishap)]
    message, advice, label = [text[part].format(**fields) for part in ("message", "advice", "label")]
    if mishap.kind == "not-json" and "]" not in mishap.shown:
        advice = "close the list: ]"
    return [Violation(text["rule"], mishap.span, message, advice, label, mild=text.get("runs", False))]


def _variant(launch: Launch, mishap: Mishap) -> str:
    """The end of the key of a mishap's texts, for kinds with several."""
    shown = mishap.shown
    match mishap.kind:
        case "not-json":
            return "-quotes" if "'" in shown and '"' not in shown else ""
        case "shell-form":
            return "" if shown.startswith("-") else "-program"
        case "replaced" | "behind-entrypoint":
            return "-pod" if ".containers." in launch.name or launch.name.startswith("deployment.") else ""
        case "not-a-string":
            return "-other" if mishap.other else "-boolean" if shown[:1].isalpha() else ""
    return ""


def _counts(launch: Launch, mishap: Mishap) -> bool:
    """Whether nothing around the launch speaks against a mishap."""
    if mishap.kind == "no-check":
        return _without_check(launch)
    if mishap.kind == "undefined":  # node-variable-not-set is about those that a controller adds
        from servelint.judge.container.nodes import INJECTED

        return not any(mishap.other in names for names in INJECTED.values())
    if mishap.kind == "service-variable":
        links = ENGINES[launch.engine].link_variables
        return mishap.other in links and mishap.other not in launch.env and not launch.open_env
    return True


def _without_check(launch: Launch) -> bool:
    """Whether the container runs an image of the engine's developers, which has no health check."""
    container = launch.container
    image = container.image if container is not None and "build" not in container.settings else None
    return image is not None and ENGINES[launch.engine].checks_no_health and not images.identify(image).house


def _not_expanded(config: Config) -> list[Violation]:
    """References to variables of the container, in words that no shell reads."""
    launch = config.launch
    texts = [variable.value for variable in launch.env.values()]
    if launch.container is not None:
        texts.append(launch.container.image)
    if launch.container is None or any(text is not None and "$" in text.shown for text in texts):
        return []  # envsubst or the like fills in this file before it is used
    found: list[Violation] = []
    seen: set[str] = set()
    for word in launch.argv:
        for text, name in _references(word.text):
            variable = launch.env.get(name)
            span = text.span()
            if variable is None or variable.value is None or not variable.value.known or span is None or name in seen:
                continue
            seen.add(name)
            found.append(_literal(config, text, name) if text.known or not _in_compose(launch) else _of_host(text, name))
    return found


def _references(text: TracedText) -> list[tuple[TracedText, str]]:
    """The plain references in a word, as known characters or as unknown pieces, with the variables' names."""
    found: list[tuple[TracedText, str]] = []
    if text.known and "$" not in text.flat:
        return found
    for start, piece in zip(text.starts, text.pieces, strict=True):
        if piece.expression is not None:
            match = re.fullmatch(_REFERENCE, piece.expression)
            if match is not None and piece.span is not None and re.fullmatch(_REFERENCE, piece.span.text):
                found.append((text.cut(start, start + len(piece.text)), match.group(1) or match.group(2)))
    known = [(text.cut(*match.span()), match.group(1) or match.group(2)) for match in re.finditer(_REFERENCE, text.flat)]
    return [*found, *known]


def _literal(config: Config, text: TracedText, name: str) -> Violation:
    engine = ENGINE_NAMES[config.launch.engine]
    written = text.shown
    message = f"no shell reads this command: {engine} gets the characters {written}, not the value of {name}"
    advice = "write the value, or run the command through a shell"
    if ".containers." in config.launch.name or ".initContainers." in config.launch.name:
        advice = f"write $({name}), which Kubernetes replaces"
    return Violation("variable-not-expanded", text.span(), message, advice, "these characters")


def _of_host(text: TracedText, name: str) -> Violation:
    message = (
        f"compose takes {name} from its own environment or from .env, not from `environment` of the service, which sets it"
    )
    advice = f"set {name} in .env, or write $${name} in a command that a shell reads"
    return Violation("variable-of-host", text.span(), message, advice, "empty unless it is set where compose runs")


def _in_compose(launch: Launch) -> bool:
    return launch.name.startswith("services.")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 3] + "..."
