"""Files that hold the command of a model as a template: llama-swap, and recipes with `defaults`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from servelint.core.launch import Container, Launch, Mishap, OpenedFile, Variable, Word
from servelint.core.problem import Problem
from servelint.core.run import current
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText
from servelint.engines import images
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours
from servelint.readers.commands import launches as launches_of
from servelint.readers.context import CommandContext
from servelint.readers.registry import YAML, Format
from servelint.readers.tasks import each, optional, run, variables, verbatim
from servelint.syntax import yaml
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node, section

LLAMA_SWAP = Format(
    "llama-swap",
    34,
    title="llama-swap",
    about="the `cmd` of each model, with macros",
    syntax=YAML,
    bounded=True,
    words=("llama-swap",),
    is_mine="is_llama_swap",
    read="read_llama_swap",
)
RECIPE = Format(
    "recipe",
    35,
    title="model recipes",
    about="a `command` whose braces `defaults` fills in",
    syntax=YAML,
    bounded=True,
    is_mine="is_recipe",
    read="read_recipe",
)

_MACRO = re.compile(r"\$\{(?P<name>[\w.-]+)\}")
_LEFT_OUT = re.compile(r"^[ \t]*#[^\n]*\n?|\\(?=[ \t]*(?:\n|\Z))", re.MULTILINE)
"""Comment lines, and backslashes at line ends."""
_WINDOWS = re.compile(r"""\s*["']?(?:[A-Za-z]:|\.{0,2})\\(?!\s)""")
"""A command that names its program as Windows does: `C:\\llama\\llama-server.exe`, `.\\llama-server.exe`."""
_DEPTH = 10
_LENGTH_AT_MOST = 20_000
_ENGINE = next(engine.id for engine in ENGINES.values() if "llama" in engine.stems)
_GIVEN = re.compile(r"(?:env\..*|[A-Z0-9_]+)")
"""Macros that llama-swap sets, variables, and names that envsubst or Flux may fill in before."""
_KEYS: dict[str, tuple[str, ...]] = {
    "": (
        *("apiKeys", "captureBuffer", "globalTTL", "groups", "healthCheckTimeout", "hooks", "includeAliasesInList", "logLevel"),
        *("logRequests", "logTimeFormat", "logToStdout", "macros", "matrix", "metricsMaxInMemory", "models", "peers"),
        *("performance", "profiles", "routing", "selectors", "sendLoadingState", "startPort", "store", "ui", "unloadTimeout"),
        "upstream",
    ),
    "models.*": (
        *("cmd", "cmdStop", "proxy", "aliases", "env", "checkEndpoint", "ttl", "unloadTimeout", "unlisted", "useModelName"),
        *("name", "description", "concurrencyLimit", "filters", "macros", "metadata", "sendLoadingState", "timeouts", "compat"),
        *("capabilities", "healthCheckTimeout"),
    ),
    "models.*.filters": ("stripParams", "strip_params", "setParams", "setParamsByID"),
    "models.*.timeouts": ("connect", "keepalive", "responseHeader", "tlsHandshake", "expectContinue", "idleConn"),
    "models.*.capabilities": ("in", "out", "tools", "reranker", "context"),
    "groups.*": ("swap", "exclusive", "persistent", "members"),
    "matrix": ("vars", "evict_costs", "sets"),
    "hooks": ("on_startup",),
    "hooks.on_startup": ("preload",),
    "peers.*": ("proxy", "apiKey", "models", "filters", "timeouts"),
    "routing": ("scheduler", "router"),
    "routing.router": ("use", "settings"),
    "routing.router.settings": ("groups", "matrix"),
    "routing.router.settings.groups.*": ("swap", "exclusive", "persistent", "members"),
    "routing.scheduler": ("use", "settings"),
    "selectors.*": ("strategy", "targets", "settings", "name", "description", "unlisted", "metadata"),
    "profiles.*": ("description", "pins"),
}
"""Place in the file -> its keys, in internal/config of v250. Older releases have one other key, cmd_stop (v84, v85)."""
_KEYS_OF_GROUP = _KEYS["groups.*"]
_ONLY_OF_MODEL = frozenset(
    ("ttl", "cmd", "cmdStop", "proxy", "aliases", "env", "checkEndpoint", "useModelName", "concurrencyLimit")
)
"""Keys of a model that mean nothing at the top of the file, unless they hold an anchor."""
_WITH_MACROS = ("cmdStop", "proxy", "checkEndpoint")
"""Keys of a model beside cmd whose macros are filled in."""
_FILLED = re.compile(r"\{\{|\{%|<%")
"""What another program fills in before llama-swap reads the file."""


def is_llama_swap(_source: Source, document: Node) -> bool:
    """Whether a document lists models with a `cmd` each."""
    models = [yaml.entries(node) for _, node in section(yaml.entries(document), "models").values()]
    return bool(models) and all("cmd" in model for model in models if model) and any(models)


def read_llama_swap(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the models of llama-swap."""
    return each(lambda source, document: _models(source, document, neighbours))(source, documents, neighbours)


def _models(source: Source, document: Node, neighbours: Neighbours) -> list[Launch]:
    fields = yaml.entries(document)
    found: list[Launch] = []
    outer = _macros(source, fields)
    for name, (_, node) in section(fields, "models").items():
        model = yaml.entries(node)
        if "cmd" not in model or yaml.scalar(model["cmd"][1]) is None:
            continue
        key, value = model["cmd"]
        macros = {**outer, **_macros(source, model)}
        missing: list[Mishap] = []
        command = _replaced(_one_line(verbatim(source, value)), macros, missing)
        site = Span(source, yaml.start(key), yaml.span(source, value).end)
        env = {
            variable.name: Variable(variable.name, _replaced(variable.value, macros, []), variable.site)
            for variable in variables(source, model, "env").values()
            if variable.value is not None
        }
        context = CommandContext(source, f"models.{name}", site, env)
        context.open, context.given = partial(_script, neighbours), frozenset(env)
        line = _one_line(command)
        words = _windows_words(line) if _WINDOWS.match(line.flat) else split(line)
        started = launches_of(words, context)
        if missing and not started:
            started = [context.launch(_ENGINE, words, site)]
        if not started:
            _note_script(source, name, words, neighbours)
        for _, text in [model[one] for one in _WITH_MACROS if yaml.scalar(yaml.field(model, one)) is not None]:
            _replaced(verbatim(source, text), macros, missing)
        for launch in started:
            launch.mishaps = [*launch.mishaps, *missing] if "$${" not in source.text else launch.mishaps
        found += started
    if found:
        found[0].mishaps = [*found[0].mishaps, *_ignored(source, fields), *_refused(source, fields)]
    return found


def _script(neighbours: Neighbours, path: TracedText) -> OpenedFile | None:
    """A script that a model's command runs, if it lies beside the file: by its path from there, or by its name."""
    flat = path.flat
    name = flat.rpartition("/")[2]
    if not path.known or not name.endswith(_SCRIPTS):
        return None
    for one in (flat, name, f"scripts/{name}") if not flat.startswith(("/", "~")) else (name, f"scripts/{name}"):
        if (found := neighbours.read(one)) is not None:
            return OpenedFile(TracedText.at(found, 0, len(found.text)), one, False, neighbours.read)
    return None


_SCRIPTS = (".sh", ".bash")


def _note_script(source: Source, model: str, words: list[Word], neighbours: Neighbours) -> None:
    """Note a model whose command runs a script that is not there."""
    script = next((word for word in words[:3] if word.text.flat.endswith(_SCRIPTS)), None)
    around = current()
    if script is None or script.site is None or around is None or _script(neighbours, script.text) is not None:
        return
    line, column = source.position(script.site.start)
    message = f"models.{model} is not judged: {script.shown}, which starts it, is not read"
    around.report(Problem(source.path, message, line, column, note="always"))


def _unknown(source: Source, fields: Entries) -> Iterator[Mishap]:
    """Keys that llama-swap does not have: those of a model, and elsewhere those that are like one of its keys."""
    for place, keys in _KEYS.items():
        for entries in _placed(fields, place):
            for name, (key, value) in entries.items():
                if name in keys or not yaml.text(source, key).known:
                    continue
                meant = _meant(name, keys)
                span = yaml.span(source, key)
                if place == "models.*":
                    yield Mishap("swap-model-spelling" if meant else "swap-model-key", span, name, meant)
                elif meant:
                    yield Mishap("swap-spelling", span, name, meant)
                elif not place and name in _ONLY_OF_MODEL and "&" not in source.text[span.end : yaml.span(source, value).start]:
                    yield Mishap("swap-top", span, name)


def _placed(fields: Entries, place: str) -> list[Entries]:
    """The mappings at a place; `*` stands for each key."""
    found = [fields]
    for part in place.split(".") if place else ():
        nodes = [one[name] for one in found for name in (one if part == "*" else (part,)) if name in one]
        found = [yaml.entries(value) for _, value in nodes]
    return found


def _meant(name: str, keys: tuple[str, ...]) -> str:
    """The key that a name is like: the same letters, or but for one of at least six; "" for none."""
    plain = _letters(name)
    same = next((one for one in keys if _letters(one) == plain), "")
    return same or next((one for one in keys if len(plain) > _SHORT_KEY and _one_letter_off(plain, _letters(one))), "")


_SHORT_KEY = 5


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _one_letter_off(name: str, other: str) -> bool:
    """Whether one letter is missing, added or another one, or two stand in the wrong order."""
    if abs(len(name) - len(other)) > 1 or name == other:
        return False
    head = next((at for at, (one, two) in enumerate(zip(name, other, strict=False)) if one != two), min(len(name), len(other)))
    rest, theirs = name[head:], other[head:]
    swapped = rest[1:2] + rest[:1] + rest[2:]
    return theirs in (rest[1:], swapped) or rest == theirs[1:] or (bool(rest) and rest[1:] == theirs[1:])


def _refused(source: Source, fields: Entries) -> Iterator[Mishap]:
    """What llama-swap does not start with."""
    models = section(fields, "models")
    outer = section(fields, "macros")
    for entries in (fields, *[yaml.entries(node) for _, node in models.values()]):
        for name, (key, _) in section(entries, "macros").items():
            if name == "PORT":  # from the first release with macros on (v123); PID and MODEL_ID only later
                yield Mishap("swap-reserved", yaml.span(source, key), name)
    aliases: dict[str, str] = {}
    placed: dict[str, Node] = {}
    for name, (_, node) in models.items():
        model = yaml.entries(node)
        if "cmd" in model and _portless(model, {**outer, **section(model, "macros")}):
            yield Mishap("swap-port", yaml.span(source, model["cmd"][0]), name)
        for item in (yaml.items(model["aliases"][1]) or []) if "aliases" in model else []:
            alias = yaml.scalar(item) or ""
            if not yaml.text(source, item).known:
                continue
            if alias in aliases and yaml.together(source, placed[alias], item):
                yield Mishap("swap-alias", yaml.span(source, item), alias, aliases[alias])
            aliases.setdefault(alias, name)
            placed.setdefault(alias, item)
    if "matrix" not in fields:
        yield from _twice(source, section(fields, "groups"))
    router = section(fields, "routing", "router")
    if section(fields, "groups") and "matrix" in fields and yaml.together(source, fields["groups"][0], fields["matrix"][0]):
        yield Mishap("swap-both", yaml.span(source, fields["matrix"][0]), "matrix", "groups")
    for name in ("groups", "matrix"):
        if router and section(fields, name):
            yield Mishap("swap-both", yaml.span(source, fields[name][0]), name, "routing.router")


def _twice(source: Source, groups: Entries) -> Iterator[Mishap]:
    """Models that are a member of two groups."""
    member: dict[str, str] = {}
    placed: dict[str, Node] = {}
    for group, (_, node) in groups.items():
        fields = yaml.entries(node)
        for item in (yaml.items(fields["members"][1]) or []) if "members" in fields else []:
            name = yaml.scalar(item) or ""
            if "$" in name or not yaml.text(source, item).known:
                continue
            if name in member and yaml.together(source, placed[name], item):
                yield Mishap("swap-member", yaml.span(source, item), name, member[name])
            member.setdefault(name, group)
            placed.setdefault(name, item)


def _portless(model: Entries, macros: Entries) -> bool:
    """Whether the address of a model has the port that llama-swap chooses, and its command has not."""
    proxy = yaml.scalar(yaml.field(model, "proxy"))
    command = yaml.scalar(model["cmd"][1])
    if command is None or ("proxy" in model and not yaml.is_null(model["proxy"][1]) and "${PORT}" not in (proxy or "")):
        return False
    return _has_port(command, macros) is False


def _has_port(text: str, macros: Entries, depth: int = 0) -> bool | None:
    """Whether a command has ${PORT}, also in its macros; None if that is not known."""
    if "${PORT}" in text:
        return True
    if depth > _DEPTH or _FILLED.search(text):
        return None
    known: bool | None = False
    for name in {match["name"] for match in _MACRO.finditer(text)} - {"PID", "MODEL_ID"}:
        value = yaml.scalar(yaml.field(macros, name))
        inner = _has_port(value, macros, depth + 1) if value is not None else None
        if inner:
            return True
        known = None if inner is None else known
    return known


def _ignored(source: Source, fields: Entries) -> Iterator[Mishap]:
    """Keys that llama-swap does not have, and models to load at start that it does not know: it passes over both."""
    if "listen" in fields:
        yield Mishap("swap-listen", yaml.span(source, fields["listen"][0]), "listen")
    models = section(fields, "models")
    yield from _unknown(source, fields)
    several = [section(fields, "groups")]
    several.append(section(fields, "routing", "router", "settings", "groups"))
    groups = {name: yaml.entries(node) for one in several for name, (_, node) in one.items()}
    for group in groups.values():
        for name, (key, _) in group.items():
            if name not in _KEYS_OF_GROUP and "<<" not in group and not _meant(name, _KEYS_OF_GROUP):
                yield Mishap("swap-group-key", yaml.span(source, key), name)
    known = set(models)
    for _, node in models.values():
        model = yaml.entries(node)
        for item in (yaml.items(model["aliases"][1]) or []) if "aliases" in model else []:
            known.add(yaml.scalar(item) or "")
        known.update(section(model, "filters", "setParamsByID"))
    preload = section(fields, "hooks", "on_startup").get("preload")
    for item in (yaml.items(preload[1]) or []) if preload is not None else []:
        name = (yaml.scalar(item) or "").strip()
        if name and "$" not in name and name not in known and "<<" not in fields:
            kind = "swap-preload-group" if name in groups else "swap-preload"
            yield Mishap(kind, yaml.span(source, item), name)


def _windows_words(text: TracedText) -> list[Word]:
    """The words of a command on Windows, where a backslash is part of a path."""
    from servelint.syntax.batch import words

    return words.split(words.Filled(text, []))


def _macros(source: Source, fields: Entries) -> dict[str, TracedText | None]:
    """The macros of a mapping; None is one whose value is not a text."""
    return {
        name: verbatim(source, value) if yaml.scalar(value) is not None else None
        for name, (_, value) in section(fields, "macros").items()
    }


def _one_line(text: TracedText) -> TracedText:
    """A command without its comment lines and without the backslashes at line ends."""
    return text.sub(_LEFT_OUT, lambda _: EMPTY)


def _replaced(text: TracedText, macros: dict[str, TracedText | None], missing: list[Mishap], depth: int = 0) -> TracedText:
    length = 0

    def value(match: re.Match[str]) -> TracedText:
        nonlocal length
        known = macros.get(match["name"]) if depth < _DEPTH and length < _LENGTH_AT_MOST else None
        span = text.span(*match.span())
        if match["name"] not in macros and span is not None and not _GIVEN.fullmatch(match["name"]):
            missing.append(Mishap("swap-macro", span, match.group()))
        made = text.unknown(match) if known is None else _replaced(known, macros, missing, depth + 1)
        length += len(made)
        return made

    return text.sub(_MACRO, value)


def swapped(command: TracedText, macros: dict[str, TracedText | None]) -> list[Word]:
    """The words of a model's `cmd`, as llama-swap splits it when its macros are filled in."""
    return split(_one_line(_replaced(_one_line(command), macros, [])))


_BRACES = re.compile(r"\{\{|\}\}|\{(?P<name>[A-Za-z_][\w.]*)\}")


def is_recipe(_source: Source, document: Node) -> bool:
    """Whether a document has a `command` and `defaults` for it."""
    fields = yaml.entries(document)
    return (
        "command" in fields
        and yaml.scalar(fields["command"][1]) is not None
        and "defaults" in fields
        and (yaml.is_mapping(fields["defaults"][1]) or yaml.is_null(fields["defaults"][1]))
        and ("recipe_version" in fields or "container" in fields or "model" in fields)
    )


def _recipe(source: Source, document: Node) -> list[Launch]:
    fields = yaml.entries(document)
    given = {
        name: verbatim(source, value)
        for name, (_, value) in section(fields, "defaults").items()
        if yaml.scalar(value) is not None
    }
    if (model := optional(source, fields, "model")) is not None:
        given.setdefault("model", model)
    named = optional(source, fields, "container", "image")
    image = images.identify(named) if named is not None else None
    env = variables(source, fields, "env")
    container = Container(named, open=True) if named is not None else None
    context = CommandContext(source, "command", None, env, container, image.claims if image is not None else {})
    return run(_formatted(verbatim(source, fields["command"][1]), given), context, {})


def _formatted(template: TracedText, given: dict[str, TracedText]) -> TracedText:

    def value(match: re.Match[str]) -> TracedText:
        span = template.span(*match.span())
        if match["name"] is None:
            return TracedText.of(match.group()[0], span)
        known = given.get(match["name"])
        return known.placed(span, assumed=True) if known is not None else template.unknown(match)

    return template.sub(_BRACES, value)


read_recipe = each(_recipe)
