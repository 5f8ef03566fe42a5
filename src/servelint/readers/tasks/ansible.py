"""Ansible: commands and containers of the tasks in playbooks and roles. Variables (`{{ model }}`) come from anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from servelint.core import bounds
from servelint.core.launch import Container, Launch, Word
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText, unknown
from servelint.engines import entry, images
from servelint.readers.commands import launches as launches_of
from servelint.readers.containers import in_container
from servelint.readers.context import CommandContext
from servelint.readers.installs import claims
from servelint.readers.prepared import for_later
from servelint.readers.registry import YAML, Format
from servelint.readers.tasks import (
    Claims,
    Environment,
    each,
    optional,
    run,
    scalars,
    variables,
    verbatim,
    with_expressions,
    words,
)
from servelint.readers.tasks.roles import BLOCKS
from servelint.syntax import templates, yaml
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node, section

FORMAT = Format(
    "ansible",
    36,
    title="Ansible",
    about="commands and containers of tasks in playbooks and roles, units and scripts that tasks write, and releases that "
    "they install",
    syntax=YAML,
    bounded=True,
)

_SHELLS = ("shell", "raw")
_WRITERS = ("copy", "blockinfile", "lineinfile", "ini_file")
_CONTAINERS = ("docker_container", "podman_container")
_SETTINGS = {"ipc_mode": "ipc", "ipc": "ipc", "shm_size": "shm_size", "runtime": "runtime"}
_DEPTH = 12
_SUM_AT_MOST = 10_000
_SUM = re.compile(r"\s*\{\{-?(?P<sum>\s*[\[(].*?)-?\}\}\s*", re.DOTALL)
_TOKENS = re.compile(r"'[^']*'|\"[^\"]*\"|\bif\b|[-+,()\[\]{}]")
_QUOTED = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"")
_BRACKET = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^'\"\[\]])*")
"""What has no square bracket outside of its quotes."""


def is_mine(_source: Source, document: Node) -> bool:
    """Whether a document is a playbook or a list of tasks with a module that runs something."""
    items = yaml.items(document)
    if not items:
        return False
    plays = [yaml.entries(item) for item in items[:200]]
    return any(
        ("hosts" in play and not set(BLOCKS).isdisjoint(play))
        or "block" in play
        or _module(play) is not None
        or any(not {"dest", "path"}.isdisjoint(section(play, key)) for key in play if key.rpartition(".")[2] in _WRITERS)
        for play in plays
    )


def _playbook(source: Source, document: Node) -> list[Launch]:
    found: list[Launch] = []
    installed: list[tuple[str, Claims]] = []
    for count, (task, env) in enumerate(_tasks(source, document, {}, 0)):
        if bounds.TASKS.passed(count + 1, yaml.span(source, next(iter(task.values()))[0]) if task else None):
            break
        installed += _installed(source, task)
        found += _written(source, task)
        module = _module(task)
        if module is None:
            continue
        own = {**env, **variables(source, task, "environment")}
        named = optional(source, task, "name")
        name = named.shown if named is not None else ""
        kind = module.rpartition(".")[2]
        if kind in _CONTAINERS:
            found += _container(source, name, section(task, module))
        else:
            found += _command(source, name, task, module, kind, own)
    for launch in found if installed else []:
        if launch.container is None and launch.release.how is None:
            program = launch.verb[0].text.shown if launch.verb else ""
            own_folder = program.rpartition("/bin/")[0]
            claims = for_later([claims for folder, claims in installed if folder == own_folder])
            launch.release = claims.get(launch.engine, launch.release)
    return found


def _installed(source: Source, task: Entries) -> list[tuple[str, Claims]]:
    """The environments that a task installs packages into, "" for the usual one, and the engines among these."""
    key = next((key for key in task if key.rpartition(".")[2] == "pip"), None)
    if key is not None:
        fields = section(task, key)
        folder = optional(source, fields, "virtualenv")
        pip = optional(source, fields, "executable")
        own = folder.shown if folder is not None else pip.shown.rpartition("/bin/")[0] if pip is not None else ""
        listed = yaml.field(fields, "name")
        if listed is None:
            return []
        named = [listed] if yaml.scalar(listed) is not None else scalars(listed)
        version = optional(source, fields, "version")
        packages = [verbatim(source, one) for one in named]
        if version is not None and len(packages) == 1:
            packages = [TracedText.join((packages[0], TracedText.of("=="), version))]
        return [(own, claims([*[Word(TracedText.of(one)) for one in ("pip", "install")], *[Word(one) for one in packages]]))]
    module = _module(task)
    kind = module.rpartition(".")[2] if module is not None else ""
    if module is None or kind in _CONTAINERS:
        return []
    node = section(task, module).get("cmd", task[module])[1]
    if yaml.scalar(node) is None or "install" not in (yaml.scalar(node) or ""):
        return []
    found: list[tuple[str, Claims]] = []
    text = _filled(source, node)
    for line in re.finditer(r"(?:[^\n\\]|\\\n?)+", text.flat):
        given = split(text.cut(*line.span()))
        if given and (made := claims(given)):
            found.append((given[0].text.shown.rpartition("/bin/")[0], made))
    return found


def _written(source: Source, task: Entries) -> list[Launch]:
    """The launches of a file that a task writes out (`copy` with `content`), by what its name and its shape say it is."""
    for key in task:
        if key.rpartition(".")[2] in ("lineinfile", "ini_file"):
            return _line(source, section(task, key))
        if key.rpartition(".")[2] not in _WRITERS:
            continue
        fields = section(task, key)
        path = optional(source, fields, "dest", "path")
        held = next((fields[name][1] for name in ("content", "block") if name in fields), None)
        if path is None or held is None or yaml.scalar(held) is None:
            continue
        content = verbatim(source, held)
        if content.known and entry.mentions(content.flat):
            from servelint.readers import embedded, read

            # Ansible fills in the blocks of a text, as it does in a template
            filled = "{%" in content.flat and not path.shown.endswith(".j2")
            inner = Source(path.shown + ".j2" * filled, content.flat)
            return embedded.moved(read(inner).launches, inner, content, source)
    return []


def _line(source: Source, fields: Entries) -> list[Launch]:
    """The launches of a line that a task puts into a unit: `line: ExecStart=...`, or `value` of the option ExecStart."""
    from servelint.readers import embedded, read

    held = next((fields[name][1] for name in ("line", "value") if name in fields), None)
    if held is None or yaml.scalar(held) is None or not entry.mentions(yaml.scalar(held) or ""):
        return []
    line = verbatim(source, held)
    if "line" in fields:
        exec_start = re.match(r"[ \t]*ExecStart=", line.flat)
        line = line.cut(exec_start.end()) if exec_start is not None else EMPTY
    elif yaml.scalar(yaml.field(fields, "option")) != "ExecStart":
        return []
    if not line.known or not line.flat:
        return []
    unit = TracedText.join((TracedText.of("[Service]\nExecStart="), line))
    inner = Source("override.conf.j2", unit.flat)
    return embedded.moved(read(inner).launches, inner, unit, source)


def _module(task: Entries) -> str | None:
    """The key of a task that runs a command or a container."""
    kinds = (*_SHELLS, "command", *_CONTAINERS)
    return next((key for key in task if key.rpartition(".")[2] in kinds and (key in kinds or key.count(".") == 2)), None)


def _tasks(source: Source, node: Node, env: Environment, depth: int) -> Iterator[tuple[Entries, Environment]]:
    for item in yaml.items(node) or []:
        fields = yaml.entries(item)
        inner = [fields[key][1] for key in BLOCKS if key in fields]
        if not inner:
            yield fields, env
        elif depth < _DEPTH:
            own = {**env, **variables(source, fields, "environment")}
            for block in inner:
                yield from _tasks(source, block, own, depth + 1)


def _command(source: Source, name: str, task: Entries, module: str, kind: str, env: Environment) -> list[Launch]:
    key, value = task[module]
    context = CommandContext(source, name, None, env)
    given = section(task, module) or section(task, "args")
    if "argv" in given:
        context.site = Span(source, yaml.start(key), yaml.span(source, given["argv"][1]).end)
        return launches_of(words(source, given["argv"][1]), context)
    node = value if yaml.scalar(value) is not None else yaml.field(given, "cmd")
    if node is None:
        return []
    written = _filled(source, node)
    if kind in _SHELLS:
        return run(written, context, {})
    # no shell: what it would expand stays as it is written
    context.site = Span(source, yaml.start(key), yaml.span(source, node).end)
    return launches_of(split(written), context)


def _container(source: Source, name: str, fields: Entries) -> list[Launch]:
    named = optional(source, fields, "image")
    if named is None:
        return []
    given = [fields[key] for key in ("entrypoint", "command", "cmd") if key in fields] or [fields["image"]]
    site = Span(source, yaml.start(given[-1][0]), yaml.span(source, given[-1][1]).end)
    settings = {}
    for key, setting in _SETTINGS.items():
        if (value := optional(source, fields, key)) is not None:
            settings[setting] = value
    env = variables(source, fields, "env")
    image = images.identify(named)
    context = CommandContext(source, name, site, env, Container(named, settings), image.claims, open_env="env_file" in fields)
    entrypoint = _words(source, fields, "entrypoint")
    command = _words(source, fields, "command") or _words(source, fields, "cmd") or []
    return in_container(entrypoint, command, image, context)


def _summed(written: TracedText) -> list[Word] | None:
    """The words of an expression that adds lists: `{{ ['--model', model] + extra_args }}`; None for any other text."""
    whole = _SUM.fullmatch(written.flat)
    if whole is None or len(written.flat) > _SUM_AT_MOST or len(_parted(written.cut(*whole.span("sum")), "if")) > 1:
        return None
    found: list[Word] = []
    for part in _parted(written.cut(*whole.span("sum")), "+"):
        end = len(part.flat) - 1
        if part.flat[:1] != "[" or part.flat[end:] != "]" or _BRACKET.fullmatch(part.flat, 1, end) is None:
            found.append(Word(TracedText((unknown(part.flat, part.span()),)), many=True))
            continue
        for item in _parted(part.cut(1, end), ","):
            quoted = _QUOTED.fullmatch(item.flat)
            text = item.cut(1, len(item.flat) - 1) if quoted is not None else TracedText((unknown(item.flat, item.span()),))
            found.append(Word(text, item.span()))
    return found


def _filled(source: Source, node: Node) -> TracedText:
    """The text of a value, in which Ansible fills in expressions and blocks."""
    written = verbatim(source, node)
    return with_expressions(templates.filled(written, script=True) if "{%" in written.flat else written)


def _words(source: Source, fields: Entries, key: str) -> list[Word] | None:
    if yaml.scalar(yaml.field(fields, key)) is not None:
        return _summed(verbatim(source, fields[key][1])) or split(_filled(source, fields[key][1]))
    return words(source, fields[key][1]) if key in fields and yaml.items(fields[key][1]) is not None else None


def _parted(text: TracedText, separator: str) -> list[TracedText]:
    """The parts of an expression between the separators that stand in no brackets and no quotes."""
    found: list[TracedText] = []
    start = depth = 0
    for match in _TOKENS.finditer(text.flat):
        sign = match.group()
        depth += (sign in "([{") - (sign in ")]}") if len(sign) == 1 else 0
        if sign == separator and depth == 0:
            found.append(text.cut(start, match.start()).strip())
            start = match.end()
    return [one for one in (*found, text.cut(start).strip()) if one.flat]


read = each(_playbook)
