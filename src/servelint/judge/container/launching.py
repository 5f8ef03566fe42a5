"""Commands that do not become what their author meant: no shell reads them, or not at the time that they are written for."""

from __future__ import annotations

import re

from servelint.core.launch import Launch
from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.config import Config
from servelint.judge.container import refused
from servelint.judge.parser.violation import Violation

_REFERENCE = r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))"
_SHORT = 60


def not_started(launch: Launch) -> list[Violation]:
    """The violation of a launch that nothing starts."""
    engine = ENGINE_NAMES[launch.engine]
    found: list[Violation] = []
    for mishap in launch.mishaps:
        shown = _short(mishap.shown)
        if mishap.kind == "shell-arguments":
            message = f"the shell runs only {shown!r}: the words after it become $0, $1 and so on, and {engine} is not started"
            advice = "write the whole script as one word: a list with one item"
            label = "all that is run"
        elif mishap.kind == "one-word":
            message = f"the whole command line {shown!r} is read as the name of a program: {engine} is not started"
            advice = 'write each word as a separate item, or run it through a shell: ["sh", "-c", "..."]'
            label = "one word"
        elif mishap.kind == "quoted-command":
            message = f"the whole command line {shown!r} is read as the name of a program: {engine} is not started"
            advice = 'remove the quotes around it, or keep its words in an array: CMD=(...), then "${CMD[@]}"'
            label = "one word"
        elif mishap.kind == "no-assignment":
            message = (
                f"{shown!r} is started as a program, because it is not an assignment at this place: {engine} is not started"
            )
            advice = f"write env {shown} there, or export the variable in a line before"
            label = "no program"
        elif mishap.kind == "not-json":
            quotes = "'" in shown and '"' not in shown
            needs = "a list needs double quotes" if quotes else "this list is not valid JSON"
            message = f"{needs}: Docker passes {shown!r} to a shell unchanged, and {engine} is not started"
            advice = "write double quotes" if quotes else "write one comma between two words, and none after the last one"
            advice = advice if "]" in mishap.shown else "close the list: ]"
            label = "not JSON"
        elif mishap.kind == "shell-form":
            message = f"CMD is not a list: the image's entrypoint is given /bin/sh -c {shown!r}, and {engine} is not started"
            advice = 'write a list: CMD ["--option", "value"]'
            if not mishap.shown.startswith("-"):
                advice = f"write ENTRYPOINT [] before it, or {advice.removeprefix('write ')} of the options alone"
            label = "not a list"
        elif mishap.kind == "block-closed":
            message = f"cmd.exe ends the block at this parenthesis: what follows in it always runs, and {engine} is not started"
            advice = "write ^) in a command of a block"
            label = "the end of the block"
        elif mishap.kind == "no-program":
            message = f"{shown!r} is started as a program, because the image has no entrypoint: {engine} is not started"
            advice = f"write {' '.join(ENGINES[launch.engine].command)} in front of it"
            label = "no program"
        elif mishap.kind == "replaced":
            message = f"{shown!r} is started as a program, because it replaces the image's entrypoint: {engine} is not started"
            advice = "write args instead of command" if ".containers." in launch.name else "write command instead of entrypoint"
            label = "no program"
        elif mishap.kind == "no-server":
            message = f"{shown} only sends requests to a server, and this container starts none: the command fails at once"
            address = ENGINES[launch.engine].address_variable
            advice = f"write {ENGINES[launch.engine].command[-1]}, or set {address} to the address of a running server"
            label = "needs a server"
        elif mishap.kind == "named-twice":
            message = f"the image's entrypoint takes {shown!r} for a command of its own, and {engine} is not started"
            advice = f"delete it: the entrypoint is {ENGINES[launch.engine].command[0]} already"
            label = "not a command of it"
        elif mishap.kind == "no-command":
            program = mishap.other.partition(" ")[0]
            message = f"{program} has no command {shown!r}, and {engine} is not started"
            advice = f"write {mishap.other}"
            label = "not a command of it"
        elif mishap.kind == "no-shell":
            message = f"{shown!r} is started as a program, because no shell reads this command: {engine} is not started"
            advice = 'run it through a shell: ["sh", "-c", "..."]'
            label = "no program"
        else:
            message = f"this command is written to a script that neither ENTRYPOINT nor CMD runs: the image starts no {engine}"
            found.append(Violation("script-not-run", mishap.span, message, "run the script in CMD or ENTRYPOINT", "not run"))
            continue
        found.append(Violation("not-started", mishap.span, message, advice, label))
    return found


def violations(config: Config) -> list[Violation]:
    """Words that do not reach the engine as they are written, and variables that nothing replaces."""
    found: list[Violation] = []
    engine = ENGINE_NAMES[config.launch.engine]
    for mishap in config.launch.mishaps:
        shown = _short(mishap.shown)
        if mishap.kind == "dropped":
            message = f"compose splits this command without a shell, and drops {shown!r}"
            advice = "delete it, or run the command through a shell: a list with sh, -c and the script"
            found.append(Violation("dropped-words", mishap.span, message, advice, f"never reaches {engine}"))
        elif mishap.kind == "behind-entrypoint":
            message = f"{shown!r} is an argument of the image's entrypoint, which is {engine} itself: no shell runs it"
            other = "write command instead of args" if ".containers." in config.launch.name else "set the entrypoint"
            advice = f"delete the shell and the program, or {other}"
            found.append(Violation("not-started", mishap.span, message, advice, "an argument"))
        elif mishap.kind == "not-a-string":
            kind = mishap.other or ("a boolean" if mishap.shown[:1].isalpha() else "a number")
            message = f"{shown} is {kind} in YAML, and Kubernetes takes only strings here: it refuses the object"
            advice = "write its words as separate items, in quotes" if mishap.other else f'write "{shown}"'
            found.append(Violation("not-a-string", mishap.span, message, advice, f"{kind}, not a string"))
        elif mishap.kind == "expanded-early":
            message = f"{shown} is replaced when the script is written, before the script sets it"
            advice = "quote the delimiter: <<'EOF'"
            found.append(Violation("expanded-early", mishap.span, message, advice, "replaced too early"))
        else:
            found += refused.violations(config, mishap)
    return [*found, *_not_expanded(config)]


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
