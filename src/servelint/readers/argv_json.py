"""JSON recipes: argument lists and command lines that start an engine (editor tasks, npm scripts, task definitions).

A command is an array of strings anywhere, or a string under a key that means a command. Beside it, `args`, `env` and `image`
say more of it. What was recorded of a run that is over (a benchmark's result) starts nothing.
"""

from __future__ import annotations

import json
import re
from typing import Any

from servelint.core.launch import Container, Launch, Variable, Word
from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import entry, images
from servelint.engines.registry import ENGINES, derived
from servelint.files.siblings import Neighbours
from servelint.readers.commands import launches, script_launches, with_options_below
from servelint.readers.containers import in_container
from servelint.readers.context import CommandContext
from servelint.readers.registry import JSON, Format
from servelint.syntax import json as json_nodes
from servelint.syntax.interpolation import interpolate, nothing
from servelint.syntax.json import ARRAY, NUMBER, OBJECT, STRING, JsonNode, without_comments
from servelint.syntax.shell.words import split

FORMAT = Format(
    "argv-json", 320, title="JSON recipes", about="argument lists and command lines: editor tasks, npm scripts", syntax=JSON
)

_CONTAINER = re.compile(r"\b(?:docker|podman|nerdctl|apptainer|singularity)\b")
_OTHERS = ("scripts", "module", "program")
_SIZE_AT_MOST = 1 << 20
_COMMANDS = re.compile(
    r"(?:.*[_-])?(?:cmd|command|commandline|command_line|exec|execstart|run|runcmd|start|serve|launch|script|startcmd|onstart)"
    r"|.*(?:Command|Cmd|CommandLine|Script)"
)
_NO_COMMANDS = frozenset(("keywords", "tags", "topics", "labels", "aliases", "categories", "classifiers", "ignoreCommand"))
_IMAGES = re.compile(r"(?:recipe_)?image(?:_?(?:[nN]ame|[uU]ri))?|(?:docker|container|runtime|serving)_?[iI]mage(?:_?[nN]ame)?")
_ENTRYPOINTS = ("entrypoint", "entryPoint", "dockerEntrypoint")
_ARGUMENTS = (
    "args", "arguments", "dockerArgs", "docker_args", "dockerStartCmd", "containerArgs", "container_args", "extra_args",
    "recipe_container_command_args",
)  # fmt: skip
_VARIABLES = (
    "env", "environment", "envs", "envVars", "env_vars", "environmentVariables", "environment_variables",
    "recipe_container_env",
)  # fmt: skip
_REFERENCE = re.compile(r"\$\((\w+)\)")
"""A variable as Kubernetes writes it into a container's arguments."""
_RECORDED = re.compile(
    r"exit_?code|return_?code|elapsed.*|duration(?:_?(?:s|ms|sec|seconds))?|wall_time.*|tokens_per_second|.*throughput.*"
    r"|.*_tok(?:ens)?_(?:s|per_s)|(?:start|finish|end|complet)ed_?at",
    re.IGNORECASE,
)
_RECORDS = re.compile(r"results?|history|runs|logs?|samples|transcripts?|messages|conversations?", re.IGNORECASE)
_HOLE = re.compile(r"\{\{|\{%|<%|(?m:^\s*[#%$@])")
_PLACEHOLDER = re.compile(r"\$\{\w+:(?![-+?=])[^{}]*\}|\{\{[^{}]*\}\}|(?<![\w$\{])\{[A-Za-z_][\w.]*\}")
"""`${workspaceFolder:x}`, `{{ model }}`, `{model}`: filled in by whatever reads the recipe."""


def read(source: Source, _neighbours: Neighbours) -> list[Launch] | Problem:
    """Read the launches of a JSON recipe; a problem if the text may start an engine and is not JSON."""
    if len(source.text) > _SIZE_AT_MOST or not entry.mentions(source.text):
        return []
    try:
        if not _may_start(json.loads(source.text)):
            return []  # ten times as fast as giving every node its place
    except (ValueError, RecursionError):
        pass  # it may have comments
    text = TracedText.at(source, 0, len(source.text))
    node = json_nodes.parse(text)
    if isinstance(node, json_nodes.JsonFault):
        fault = node
        node = json_nodes.parse(without_comments(text, lenient=True))
        if isinstance(node, json_nodes.JsonFault):
            return _problem(source, fault)
    return _Recipe(source).found(node)


@derived
def _image_of_engine() -> re.Pattern[str]:
    """A key of a container with an image of an engine's own."""
    names = {re.escape(one.repository) for engine in ENGINES.values() for one in engine.images if not one.registry}
    return re.compile(rf'"image"\s*:\s*"[^"\n]*(?:{"|".join(sorted(names))})')


def _problem(source: Source, fault: json_nodes.JsonFault) -> Problem | list[Launch]:
    """What is wrong with a text that is one JSON value by its start; nothing for a template, or a value a line."""
    other = fault.message == json_nodes.MORE or source.path.endswith(".json5")
    if (
        other
        or not source.text.lstrip().startswith(("{", "["))
        or not (entry.may_start(source.text) or _image_of_engine().search(source.text))
        or _HOLE.search(source.text)
    ):
        return []
    line, column = source.position(min(fault.offset, len(source.text)))
    return Problem(source.path, f"not valid JSON: {fault.message}", line, column)


def _may_start(data: Any) -> bool:
    """Whether some value may start an engine: a string under a key that means a command or an image, or an array of strings."""
    waiting = [(data, "")]
    while waiting:
        value, key = waiting.pop()
        if isinstance(value, dict):
            waiting += [(inner, key if _means(key) else name) for name, inner in value.items()]
        elif isinstance(value, list):
            line = " ".join([item for item in value if isinstance(item, str)])
            if _is_command(line) or (key in _ARGUMENTS and entry.mentions(line)):
                return True
            waiting += [(item, key) for item in value if not isinstance(item, str)]
        elif isinstance(value, str) and entry.mentions(value) and (key in _ARGUMENTS or _means(key)):
            return True
    return False


def _means(key: str) -> bool:
    """Whether a key is that of a command, of commands, or of an image."""
    return key in _OTHERS or _COMMANDS.fullmatch(key) is not None or _IMAGES.fullmatch(key) is not None


def _is_command(line: str) -> bool:
    """Whether a line may start an engine, itself or in a container."""
    return entry.may_start(line) or (_CONTAINER.search(line) is not None and entry.mentions(line))


class _Recipe:
    def __init__(self, source: Source) -> None:
        self.source = source

    def found(self, root: JsonNode) -> list[Launch]:
        launched: list[Launch] = []
        waiting: list[tuple[JsonNode, str, str]] = [(root, "", "")]
        while waiting:
            node, path, key = waiting.pop()
            if node.kind == OBJECT:
                if _is_record(node):
                    continue
                taken, here = self.object(node, path, key)
                launched += here
                inner = [
                    (value, f"{path}.{name}" if path else name, name)
                    for name, (_, value) in node.members.items()
                    if name not in taken and not (_RECORDS.fullmatch(name) and value.kind != STRING)
                ]
                waiting += reversed(inner)
            elif node.kind == ARRAY and node.items:
                if _is_argv(node):
                    launched += self.array(node, key, CommandContext(self.source, path, node.text.span()))
                else:
                    waiting += [(item, f"{path}[{index}]", key) for index, item in reversed(list(enumerate(node.items)))]
        return launched

    def array(self, node: JsonNode, key: str, context: CommandContext) -> list[Launch]:
        """An array of strings that is a command: by its key, or by words that no list of names has."""
        words = _words(node)
        telling = any(word.text.flat.startswith("-") or "/" in word.text.flat for word in words)
        return launches(words, context) if telling and key not in _NO_COMMANDS else []

    def object(self, node: JsonNode, path: str, key: str) -> tuple[set[str], list[Launch]]:
        """The launches of the commands among an object's members, and the names of those members."""
        members = {name: value for name, (_, value) in node.members.items()}
        env = _environment(members)
        image = next((members[name] for name in members if _IMAGES.fullmatch(name) and members[name].kind == STRING), None)
        command = next((name for name in members if name in ("command", "cmd", "program", "module")), None)
        args = next((name for name in _ARGUMENTS if name in members), None)
        context = CommandContext(self.source, path, None, env)
        taken: set[str] = set()
        found: list[Launch] = []
        if image is not None:
            taken, found = self.container(node, members, image, context)
        elif command is not None and args is not None and members[command].kind == STRING:
            words = _started(command, members[command], members[args])
            taken = {command, args} if words is not None else set()
            found = launches(words or [], context.with_(site=self.site(node, command, args), env=env))
        for name, value in members.items():
            if name in taken:
                continue
            # npm's `scripts`, devcontainer's `postStartCommand`: commands by name
            named = _COMMANDS.fullmatch(name) or _COMMANDS.fullmatch(key) or key == "scripts"
            inside = context.with_(site=self.site(node, name) if value.kind == ARRAY else None, env=env)
            inside.name = f"{path}.{name}" if path else name
            if value.kind == STRING and named:
                found += self.line(value, inside)
            elif _is_argv(value):
                taken.add(name)
                started = launches(_words(value), inside) if named else self.array(value, name, inside)
                found += started or (self.lines(value, inside) if named else [])
        return taken, found

    def container(
        self, node: JsonNode, members: dict[str, JsonNode], image: JsonNode, context: CommandContext
    ) -> tuple[set[str], list[Launch]]:
        """An image with what it is given (`command`, `args`) beside it."""
        context.container = Container(_known(image.content), open=True)
        identified = images.identify(_known(image.content))
        context.claims = identified.claims
        start = next((name for name in _ENTRYPOINTS if name in members), None)
        names = [name for name in ("command", "cmd", *_ARGUMENTS) if name in members and members[name].kind in (STRING, ARRAY)]
        entrypoint = _given(members[start]) if start is not None else None
        given = [_joined(name, members[name]) for name in names]
        command = [_replaced(word, context.env) for words in given for word in words or []]
        taken = {*names, *([start] if start is not None else [])}
        inside = context.with_(site=self.site(node, *sorted(taken)), env=context.env)
        found = in_container(entrypoint or None, command, identified, inside)
        if not found or any(not launch.verb and not _names_model(launch) for launch in found):
            return set(), []  # a part of what some tool puts together
        return taken, found

    def line(self, node: JsonNode, context: CommandContext) -> list[Launch]:
        text = with_options_below(_filled(node.content))
        return script_launches(text, context, None) if _is_command(text.flat) else []

    def lines(self, node: JsonNode, context: CommandContext) -> list[Launch]:
        text = TracedText.join([part for item in node.items for part in (_filled(item.content), TracedText.of("\n"))])
        context = context.with_(site=None, env=context.env)
        return script_launches(text, context, None) if _is_command(text.flat) else []

    def site(self, node: JsonNode, *names: str) -> Span | None:
        """From the first of some members to the end of the last."""
        spans = [span for name in names for part in node.members[name] if (span := part.text.span()) is not None]
        if not spans:
            return node.text.span()
        return Span(self.source, min(span.start for span in spans), max(span.end for span in spans))


def _is_record(node: JsonNode) -> bool:
    """Whether an object tells of a run that is over: what it did stands beside how it was started."""
    return any(_RECORDED.fullmatch(name) for name in node.members) or any(
        name in node.members and node.members[name][1].kind in (OBJECT, ARRAY) for name in ("result", "results")
    )


def _is_argv(node: JsonNode) -> bool:
    """Whether a node is an array of strings; a number among them is written as one."""
    return bool(node.items) and node.items[0].kind == STRING and all(item.kind in (STRING, NUMBER) for item in node.items)


def _words(node: JsonNode) -> list[Word]:
    return [Word(_known(item.content), item.text.span()) for item in node.items if item.kind in (STRING, NUMBER)]


def _given(node: JsonNode) -> list[Word] | None:
    """The words of an array, or of a string that is split as a shell would."""
    return _words(node) if node.kind == ARRAY else split(_known(node.content)) if node.kind == STRING else None


def _joined(name: str, node: JsonNode) -> list[Word] | None:
    """As `_given`; the one string of a `cmd` is a command line: Nosana joins the strings of its jobs."""
    if name == "cmd" and node.kind == ARRAY and len(node.items) == 1 and " " in node.items[0].content.flat:
        return _given(node.items[0])
    return _given(node)


def _replaced(word: Word, env: dict[str, Variable]) -> Word:
    """A word with the values of the variables that it names as Kubernetes does."""

    def value(match: re.Match[str]) -> TracedText | None:
        variable = env.get(match.group(1))
        return variable.value if variable is not None else None

    return Word(word.text.sub(_REFERENCE, value), word.site, word.many) if "$(" in word.text.flat else word


def _started(name: str, command: JsonNode, args: JsonNode) -> list[Word] | None:
    """The words of a command and its arguments, which may be quoted one by one (`{"value": ..., "quoting": ...}`)."""
    given = _given(args)
    if args.kind == ARRAY and any(item.kind == OBJECT for item in args.items):
        values = [item.members["value"][1] if item.kind == OBJECT and "value" in item.members else item for item in args.items]
        given = [Word(_known(item.content), item.text.span()) for item in values if item.kind == STRING]
    if given is None:
        return None
    text = _known(command.content)
    if name == "module":
        python = [Word(TracedText.of(word), command.text.span()) for word in ("python", "-m")]
        return [*python, Word(text, command.text.span()), *given]
    return [*(split(text) if " " in text.flat else [Word(text, command.text.span())]), *given]


def _filled(text: TracedText) -> TracedText:
    """A string with its placeholders unknown: what reads the recipe replaces them."""
    return text.sub(_PLACEHOLDER, text.unknown) if "{" in text.flat else text


def _known(text: TracedText) -> TracedText:
    """A string that no shell sees: what reads the recipe may replace variables as well."""
    return interpolate(_filled(text), nothing)


def _environment(members: dict[str, JsonNode]) -> dict[str, Variable]:
    """`env`: an object, `NAME=value` strings, or objects with a name and a value; an editor keeps it among `options`."""
    if (options := members.get("options")) is not None and options.kind == OBJECT:
        members = {**{name: value for name, (_, value) in options.members.items()}, **members}
    env: dict[str, Variable] = {}
    for name in _VARIABLES:
        node = members.get(name)
        if node is None:
            continue
        for key, (key_node, value) in node.members.items():
            env[key] = Variable(key, _value(value), key_node.text.span())
        for item in node.items:
            if item.kind == STRING and "=" in item.content.flat:
                key = item.content.flat.partition("=")[0]
                env[key] = Variable(key, _known(item.content.cut(len(key) + 1)), item.text.span())
            fields = {field.lower(): value for field, (_, value) in item.members.items()}
            named = fields.get("name") or fields.get("key")
            if named is not None and isinstance(named.value, str):
                value_node = fields.get("value")
                env[named.value] = Variable(named.value, _value(value_node) if value_node else None, item.text.span())
    return env


def _value(node: JsonNode) -> TracedText | None:
    if node.kind == STRING:
        return _known(node.content)
    return node.text if node.kind == NUMBER else None


def _names_model(launch: Launch) -> bool:
    first = launch.argv[0].text.flat if launch.argv else ""
    options = ("--model", "--model-path", "--model-id", "-m", "-hf", "--hf-repo")
    return bool(first and not first.startswith("-")) or any(word.text.flat.partition("=")[0] in options for word in launch.argv)
