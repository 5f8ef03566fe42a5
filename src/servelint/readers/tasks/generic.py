"""Any other YAML: commands under keys that mean one, where one starts an engine; Markdown in a scalar is read as Markdown.

The environment and the image around a command are those of the mappings that it stands in.
"""

from __future__ import annotations

import re

from servelint.core import bounds
from servelint.core.launch import Container, Launch, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import entry, images
from servelint.engines.registry import ENGINES, derived
from servelint.readers.commands import SHELLS, with_options_below
from servelint.readers.commands import launches as launches_of
from servelint.readers.containers import in_container
from servelint.readers.context import CommandContext
from servelint.readers.registry import YAML, Format
from servelint.readers.tasks import (
    Claims,
    Environment,
    each,
    environment,
    optional,
    run,
    scalars,
    script,
    text,
    verbatim,
    words,
)
from servelint.syntax import yaml
from servelint.syntax.placeholders import substituted
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node, section

FORMAT = Format(
    "yaml",
    60,
    title="other YAML",
    about="commands under keys that mean one, containers, Markdown in a text",
    syntax=YAML,
    bounded=True,
)

_COMMAND = (
    r"(?:(?:before|container|custom|default|docker|engine|exec|inference|init|launch|main|model|onstart|override|pre|run|serve|server|serving|shell|"
    r"start|startup|worker|{})_?)*"
    r"(?:bash|cmds?|commands?|entrypoint|exec|init|install|launch|onstart|run|runcmd|script|serve|setup|shell|start|startup|"
    r"panes|steps|user_?data)|fn::(?:base64|sub)"
)
"""The name of a key that holds a command; {} stands for the names of the engines."""
_ENVIRONMENT = re.compile(r"(?:\w+_)?(?:env|envs|environment|env_vars|environment_variables|variables)")
_IMAGES = ("image", "docker_image", "container_image", "image_uri", "imageUri", "base_image", "container")
_REPOSITORIES = ("image_repo", "image_repository", "image_name")
_BUILDER = re.compile(
    r"^(?:gcr\.io|[a-z0-9-]+-docker\.pkg\.dev|google)/(?:\S*/)?(?:cloud-builders/|google\.com/cloudsdktool/|cloud-sdk)"
)
"""Images of Cloud Build that run what their arguments say."""
_FIRST = ("setup", "install", "before_script", "init")
_NOT_INSIDE = re.compile(r"(?:expect|assert|prompt|message|changelog|description|nav$|docs?$|readme)", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ITEMS_AT_MOST = 1_000
_DEPTH = 60


@derived
def _command() -> re.Pattern[str]:
    return re.compile(_COMMAND.format("|".join([name.lower() for engine in ENGINES.values() for name in engine.yaml_keys])))


class _Scope:
    """What surrounds a command: variables, the image, what was installed, and the way to it."""

    __slots__ = ("claims", "env", "image", "path")

    def __init__(self, env: Environment, image: TracedText | None, claims: Claims, path: tuple[str, ...]) -> None:
        self.env = env
        self.image = image
        self.claims = claims
        self.path = path


def is_mine(source: Source, document: Node) -> bool:
    """Whether a command of a document starts an engine."""
    return bool(_launches(source, document))


def _launches(source: Source, document: Node) -> list[Launch]:
    fields = yaml.entries(document)
    if {"suite", "tests"} <= set(fields) or "openapi" in fields or _is_rule(fields):
        return []  # what a test expects, what an interface describes, the examples of a rule
    return _Walk(source).visit(document, _Scope({}, None, {}, ()), 0)


def _is_rule(fields: Entries) -> bool:
    """Whether a document is a rule file, or a table of rules: what it shows is wrong on purpose, and is not started."""
    if {"columns", "each", "rows"} <= set(fields):
        return True
    examples = section(fields, "examples")
    return bool(examples) and set(examples) <= {"bad", "good"}


class _Walk:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.visits = 0

    def visit(self, node: Node, scope: _Scope, depth: int) -> list[Launch]:
        self.visits += 1
        if bounds.NODES_SEARCHED.passed(self.visits, yaml.span(self.source, node)) or depth > _DEPTH:
            return []
        if yaml.is_mapping(node):
            return self.mapping(yaml.entries(node), scope, depth)
        found: list[Launch] = []
        for index, item in enumerate(yaml.items(node) or []):
            if yaml.is_mapping(item) or yaml.items(item) is not None:
                path = (*scope.path[:-1], f"{scope.path[-1]}[{index}]") if scope.path else (f"[{index}]",)
                # one step after the other on one machine: what one installs the next has
                found += self.visit(item, _Scope(scope.env, scope.image, scope.claims, path), depth + 1)
            elif yaml.scalar(item) is not None:
                found += self.markdown(item)
        return found

    def mapping(self, fields: Entries, scope: _Scope, depth: int) -> list[Launch]:
        if "Image" in fields:  # as CloudFormation writes a container
            fields = {_CAMEL.sub("_", name).lower().replace("entry_point", "entrypoint"): pair for name, pair in fields.items()}
        scope = _Scope(self.environment(fields, scope.env), self.image(fields) or scope.image, scope.claims, scope.path)
        container = self.container(fields, scope)
        if container is None:
            container = self.step(fields, scope)
        found = [*(container or []), *self.file(fields)]
        for name in sorted(fields, key=lambda name: name not in _FIRST):
            value = fields[name][1]
            key = _CAMEL.sub("_", name).lower().replace("-", "_")
            if _NOT_INSIDE.match(key):
                continue
            if _command().fullmatch(key) and (yaml.scalar(value) is not None or scalars(value)):
                found += [] if container is not None else self.command(name, fields[name], scope)
            if yaml.scalar(value) is not None:
                found += self.markdown(value)
            else:
                inner = _Scope(scope.env, scope.image, dict(scope.claims), (*scope.path, name))
                found += self.visit(value, inner, depth + 1)
        return found

    def file(self, fields: Entries) -> list[Launch]:
        """The launches of a file that is written out (`path` and `content`), by what its name and its shape say it is."""
        path, content = optional(self.source, fields, "path", "dest"), optional(self.source, fields, "content")
        if path is None or content is None or not content.known or not entry.mentions(content.flat):
            return []
        from servelint.readers import embedded, read

        held = Source(path.shown, content.flat)
        return embedded.moved(read(held).launches, held, content, self.source)

    def environment(self, fields: Entries, outer: Environment) -> Environment:
        for name, (_, value) in fields.items():
            if _ENVIRONMENT.fullmatch(name) and yaml.scalar(value) is None:
                own = environment(self.source, value)
                for one in own.values():
                    one.value = substituted(one.value) if one.value is not None else None
                outer = {**outer, **own}
        return outer

    def image(self, fields: Entries) -> TracedText | None:
        """The image that a mapping names: `image: x`, `base_image: {image: x}`, `image: {repository: x, tag: y}`."""
        for name in _IMAGES:
            inner = section(fields, name)
            if "repository" in inner:
                repository, tag = optional(self.source, inner, "repository"), optional(self.source, inner, "tag")
                if repository is not None:
                    return repository if tag is None or not tag.flat else TracedText.join((repository, TracedText.of(":"), tag))
            named = optional(self.source, inner, "image", "name") if inner else optional(self.source, fields, name)
            if named is not None:
                return named
        return self.parted(fields)

    def parted(self, fields: Entries) -> TracedText | None:
        """The image whose repository and tag stand under keys of their own: `image_repo: x`, `imageTag: y`."""
        parts = {_CAMEL.sub("_", name).lower(): name for name in fields if "image" in name.lower()}
        named = [parts[one] for one in _REPOSITORIES if one in parts]
        repository = optional(self.source, fields, *named) if named else None
        tag = optional(self.source, fields, parts["image_tag"]) if "image_tag" in parts else None
        if repository is None or tag is None or not tag.flat:
            return repository
        return TracedText.join((repository, TracedText.of(":"), tag))

    # -- commands

    def markdown(self, node: Node) -> list[Launch]:
        value = yaml.scalar(node) or ""
        if "\n" not in value or not _FENCE.search(value) or not entry.mentions(value):
            return []
        from servelint.readers import markdown

        return markdown.launches(verbatim(self.source, node), self.source)

    def context(self, name: str, scope: _Scope, site: Span | None) -> CommandContext:
        claims = images.identify(scope.image).claims if scope.image is not None else {}
        container = Container(scope.image, open=True) if scope.image is not None else None
        return CommandContext(self.source, name, site, scope.env, container, claims)

    def command(self, name: str, field: tuple[Node, Node], scope: _Scope) -> list[Launch]:
        """The launches of a command: a script, a list of its lines, or a list of words."""
        key, value = field
        path = ".".join(scope.path) or name
        listed = words(self.source, value) if yaml.scalar(value) is None else None
        written = script(self.source, value)
        written = with_options_below(written)
        if not entry.mentions(written.flat) and not (scope.image is not None and "install" in written.flat):
            return []
        if any(yaml.items(item) is not None for item in yaml.items(value) or []):
            return self.lines(yaml.items(value) or [], path, scope)
        if listed is not None and _is_argv(listed):
            site = Span(self.source, yaml.start(key), yaml.span(self.source, value).end)
            return launches_of(listed, self.context(path, scope, site))
        if _FENCE.search(written.flat):
            return []  # Markdown
        return run(written, self.context(path, scope, None), scope.claims)

    def lines(self, items: list[Node], path: str, scope: _Scope) -> list[Launch]:
        """Commands of which some are scripts and some lists of words (cloud-init's `runcmd`)."""
        found: list[Launch] = []
        for item in items[:_ITEMS_AT_MOST]:
            if yaml.items(item) is None:
                found += run(script(self.source, item), self.context(path, scope, None), scope.claims)
            else:
                found += launches_of(words(self.source, item), self.context(path, scope, yaml.span(self.source, item)))
        return found

    def step(self, fields: Entries, scope: _Scope) -> list[Launch] | None:
        """The launches of a step of Cloud Build, whose image names a program; None for anything else."""
        named, given = optional(self.source, fields, "name"), optional(self.source, fields, "entrypoint")
        builder = named is not None and _BUILDER.search(named.flat) is not None
        if named is None or not builder or "args" not in fields:
            return None
        program = given if given is not None else named.cut(named.flat.rfind("/") + 1)
        key, value = fields["args"]
        site = Span(self.source, yaml.start(key), yaml.span(self.source, value).end)
        command = [Word(program), *self.words(value)]
        return launches_of(command, self.context(".".join(scope.path), scope, site))

    def container(self, fields: Entries, scope: _Scope) -> list[Launch] | None:
        """The launches of a mapping that is a container: its image, and words for it. None if it is not one."""
        named = optional(self.source, fields, "image", "docker_image", "container_image", "image_uri", "imageUri")
        named = named if named is not None else self.parted(fields)
        if named is None:
            return None
        keys = [name for name in ("entrypoint", "command", "args", "cmd") if name in fields]
        if not any(self.is_words(fields[name][1]) for name in keys):
            return None  # without words for it, or with a script
        parts = {name: self.words(fields[name][1]) for name in keys}
        nodes = [fields[name] for name in keys]
        entrypoint = parts.get("entrypoint")
        command = parts.get("command", parts.get("cmd"))
        if "args" in parts:
            # as Kubernetes has it
            entrypoint, command = (entrypoint if entrypoint is not None else command), parts["args"]
        ends = [yaml.span(self.source, value).end for _, value in nodes]
        site = Span(self.source, yaml.start(nodes[0][0]), max(ends))
        context = self.context(".".join(scope.path) or "command", scope, site)
        return in_container(entrypoint, command or [], images.identify(named), context)

    def words(self, node: Node) -> list[Word]:
        return split(text(self.source, node)) if yaml.scalar(node) is not None else words(self.source, node)

    def is_words(self, node: Node) -> bool:
        """Whether a node holds the words of a command, or options, rather than a script or a list of its lines."""
        if yaml.scalar(node) is not None:
            return text(self.source, node).flat.lstrip().startswith("-")
        listed = words(self.source, node)
        return bool(listed) and (_is_argv(listed) or listed[0].text.flat.startswith("-"))


def _is_argv(listed: list[Word]) -> bool:
    """Whether a list holds the words of one command rather than commands."""
    return len(listed) > 1 and (
        entry.find(listed) is not None
        or entry.program(listed[0]) in SHELLS
        or not any(" " in word.text.flat for word in listed)
    )


read = each(_launches)
