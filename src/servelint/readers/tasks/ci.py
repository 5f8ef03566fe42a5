"""Pipelines: jobs of GitHub Actions and GitLab CI, the composite actions of the first, and the services beside a job."""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.launch import Container, Launch, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import images
from servelint.files.siblings import Neighbours
from servelint.readers.containers import identified, in_container
from servelint.readers.context import CommandContext
from servelint.readers.prepared import checked_out
from servelint.readers.registry import YAML, Format
from servelint.readers.tasks import (
    Claims,
    Environment,
    optional,
    run,
    scalars,
    script,
    tell_apart,
    variables,
    verbatim,
    with_expressions,
    words,
)
from servelint.syntax import yaml
from servelint.syntax.interpolation import interpolate
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node, section

GITHUB = Format(
    "github",
    30,
    title="GitHub Actions",
    about="`run` steps of workflows and of composite actions, services of jobs",
    syntax=YAML,
    bounded=True,
    is_mine="is_github",
    read="read_github",
)
GITLAB = Format(
    "gitlab",
    31,
    title="GitLab CI",
    about="scripts of jobs with what `default`, `extends` and `variables` give them, services",
    syntax=YAML,
    bounded=True,
    is_mine="is_gitlab",
    read="read_gitlab",
)

_SHELLS = ("bash", "sh")
_OF_ENV = re.compile(r"\$\{\{\s*env\.(?P<name>\w+)\s*\}\}")


def _with_env(written: TracedText, env: Environment, changed: str = "") -> TracedText:
    """A text with the workflow's own variables in place of `${{ env.NAME }}`.

    Args:
        written: The text.
        env: The variables.
        changed: The earlier scripts that set variables for later ones.
    """

    def value(match: re.Match[str]) -> TracedText:
        name = match.group("name")
        given = env[name].value if name in env and name not in changed else None
        place = written.span(*match.span())
        return given.placed(place) if given is not None and given.known else written.unknown(match)

    return written.sub(_OF_ENV, value) if "env." in written.flat else written


def _variables(source: Source, fields: Entries, outer: Environment) -> Environment:
    """The variables that a job or a step sets, which may be made of those around it."""
    found = variables(source, fields, "env")
    if "env" in fields:
        for name, (_, node) in yaml.entries(fields["env"][1]).items():
            written = verbatim(source, node) if yaml.scalar(node) is not None else None
            if written is not None and _OF_ENV.search(written.flat):
                found[name] = Variable(name, with_expressions(_with_env(written, outer)), found[name].site)
    return found


def is_github(_source: Source, document: Node) -> bool:
    """Whether a document is a workflow or a composite action."""
    fields = yaml.entries(document)
    if "steps" in section(fields, "runs"):
        return True
    jobs = [yaml.entries(job) for _, job in section(fields, "jobs").values()]
    return any("steps" in job and ("runs-on" in job or "on" in fields) for job in jobs)


Files = Callable[[str], "Source | None"]


def read_github(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    """Read the launches of workflows, whose steps begin in the root of the repository."""
    inside = (neighbours.folder or "").replace("\\", "/").endswith(".github/workflows")
    files = (lambda path: neighbours.read("../../" + path)) if inside else None
    found = [launch for document in documents for launch in _workflow(source, document, files)]
    tell_apart(found)
    return found


def _workflow(source: Source, document: Node, files: Files | None) -> list[Launch]:
    fields = yaml.entries(document)
    found: list[Launch] = []
    outer = variables(source, fields, "env")
    shell = _shell(source, fields)
    for name, (_, node) in section(fields, "jobs").items():
        job = yaml.entries(node)
        env = {**outer, **_variables(source, job, outer)}
        env.update(variables(source, section(job, "container"), "env"))
        image, container = _container(source, job)
        for service, (_, inner) in section(job, "services").items():
            found += _github_service(source, f"jobs.{name}.services.{service}", yaml.entries(inner))
        found += _steps(source, f"jobs.{name}", job, env, image, container, _shell(source, job) or shell, files)
    runs = section(fields, "runs")
    return found + _steps(source, "runs", runs, {}, identified(None), None, None, files)


def _known(env: Environment) -> frozenset[str]:
    """The variables whose values the file says: a script that reads one of them starts something of its own here."""
    return frozenset(name for name, one in env.items() if one.value is not None and one.value.known)


def _shell(source: Source, fields: Entries) -> str | None:
    """The shell that steps of a workflow or a job use if they name none."""
    given = optional(source, section(section(fields, "defaults"), "run"), "shell")
    return given.flat if given is not None else None


def _container(source: Source, job: Entries) -> tuple[images.Image, Container | None]:
    """The image in which a job's steps run; its entry point does not start."""
    if "container" not in job:
        return identified(None), None
    inner = yaml.entries(job["container"][1])
    named = optional(source, inner, "image") if inner else optional(source, job, "container")
    if named is None:
        return identified(None), None
    return images.identify(named), Container(named, open=True)


def _steps(
    source: Source,
    name: str,
    fields: Entries,
    env: Environment,
    image: images.Image,
    container: Container | None,
    shell: str | None,
    files: Files | None,
) -> list[Launch]:
    found: list[Launch] = []
    installed: Claims = {}
    folder = optional(source, section(section(fields, "defaults"), "run"), "working-directory")
    open_env = False
    changed = ""
    for index, node in enumerate((yaml.items(fields["steps"][1]) or []) if "steps" in fields else []):
        step = yaml.entries(node)
        installed.update(_checkout(source, step))
        body = _script(source, step)
        if body is None:
            continue
        given = optional(source, step if "run" in step else section(step, "with"), "shell")
        used = (given.flat if given is not None else shell) or "bash"
        if used.split(" ")[0] not in _SHELLS:
            continue
        inner = {**env, **_variables(source, step, env)}
        written = with_expressions(_with_env(verbatim(source, body), inner, changed))
        inside = optional(source, step, "working-directory") or folder
        if inside is not None:
            written = TracedText.join((TracedText.of("cd "), with_expressions(inside), TracedText.of("\n"), written))
        used_image, used_container = (image, container) if "run" in step else _container_of(source, step, image, container)
        context = CommandContext(
            source,
            f"{name}.steps[{index}]",
            None,
            inner,
            used_container,
            used_image.claims,
            open_env=open_env or "run" not in step,
        )
        context.files, context.given = files, _known(inner)
        found += run(written, context, installed if "run" in step else dict(installed))
        if "GITHUB_ENV" in written.flat:
            open_env = True
            changed += written.flat
    return found


_SCRIPTS = ("run", "command", "script", "inlineScript", "start", "cmd", "commands")
"""Inputs in which actions take a script: `command` of nick-fields/retry, `script` of appleboy/ssh-action and others."""


def _script(source: Source, step: Entries) -> Node | None:
    """The script of a step: its own, or the one that it gives an action to run."""
    if "run" in step:
        return step["run"][1] if yaml.scalar(step["run"][1]) is not None else None
    uses = optional(source, step, "uses")
    if uses is None or uses.flat.startswith("actions/"):  # actions/github-script runs JavaScript
        return None
    given = section(step, "with")
    return next((given[name][1] for name in _SCRIPTS if yaml.scalar(yaml.field(given, name)) is not None), None)


def _container_of(
    source: Source, step: Entries, image: images.Image, container: Container | None
) -> tuple[images.Image, Container | None]:
    """The image in which an action runs its script, where it takes one: addnab/docker-run-action."""
    named = optional(source, section(step, "with"), "image")
    return (images.identify(named), Container(named, open=True)) if named is not None else (image, container)


def _checkout(source: Source, step: Entries) -> Claims:
    """What `actions/checkout` fetches of an engine's repository, at a tag."""
    uses = optional(source, step, "uses")
    given = section(step, "with")
    repository = optional(source, given, "repository")
    if uses is None or repository is None or not uses.flat.startswith("actions/checkout@"):
        return {}
    ref, path = optional(source, given, "ref"), optional(source, given, "path")
    folder = path.flat.rstrip("/").rpartition("/")[2] if path is not None else "."
    return checked_out(repository.flat, Word(ref) if ref is not None else None, folder)


def _github_service(source: Source, name: str, fields: Entries) -> list[Launch]:
    """A container beside a job. Few releases of the runner take a command for it: mostly the image starts by itself."""
    named = optional(source, fields, "image")
    if named is None:
        return []
    command, entrypoint = optional(source, fields, "command"), optional(source, fields, "entrypoint")
    key, value = fields["command" if command is not None else "image"]
    site = Span(source, yaml.start(key), yaml.span(source, value).end)
    image = images.identify(named)
    env = variables(source, fields, "env")
    context = CommandContext(source, name, site, env, Container(named, open=True), image.claims, open_env="options" in fields)
    words = split(command) if command is not None else []
    return in_container(split(entrypoint) if entrypoint is not None else None, words, image, context)


_OF_JOBS = frozenset(("artifacts", "extends", "needs", "only", "rules", "stage", "tags"))
_NOT_JOBS = frozenset((
    "after_script", "before_script", "cache", "default", "image", "include", "services", "spec", "stages", "variables",
    "workflow",
))  # fmt: skip
_DEPTH = 8


def is_gitlab(source: Source, document: Node) -> bool:
    """Whether a document has jobs of GitLab CI."""
    fields = yaml.entries(document)
    named = source.path.endswith(("gitlab-ci.yml", "gitlab-ci.yaml"))
    jobs = [yaml.entries(node) for name, (_, node) in fields.items() if name not in _NOT_JOBS]
    jobs = [job for job in jobs if "script" in job]
    return bool(jobs) and (named or "stages" in fields or any(not _OF_JOBS.isdisjoint(job) for job in jobs))


def _pipeline(source: Source, document: Node, files: Files | None) -> list[Launch]:
    top = yaml.entries(document)
    found: list[Launch] = []
    extended = {name for _, node in top.values() for name in _extends(yaml.entries(node))}
    for name in top:
        if name in _NOT_JOBS or (name.startswith(".") and name in extended):
            continue  # a template is read in the jobs that take it over
        fields, env, complete = _job(source, top, name)
        if "script" in fields:
            found += _of_job(source, name, fields, env, files, open_env=not complete)
    return found


def _extends(fields: Entries) -> list[str]:
    return _names(fields["extends"][1]) if "extends" in fields else []


def _names(node: Node) -> list[str]:
    one = yaml.scalar(node)
    return [one] if one is not None else [str(item.value) for item in scalars(node)]


def _job(source: Source, top: Entries, name: str, depth: int = 0) -> tuple[Entries, Environment, bool]:
    """A job's fields and variables, those of what it extends under them; and whether all of these are in the file."""
    own = yaml.entries(top[name][1])
    fields: Entries = {}
    env: Environment = {}
    complete = "include" not in top or "extends" not in own
    if depth == 0:
        for outer in (top, section(top, "default")):
            fields.update({key: outer[key] for key in ("image", "before_script", "after_script", "services") if key in outer})
        env = variables(source, top, "variables")
    for base in _extends(own):
        if base not in top or depth > _DEPTH:
            complete = False
            continue
        inherited, more, known = _job(source, top, base, depth + 1)
        fields.update(inherited)
        env.update(more)
        complete = complete and known
    fields.update(own)
    env.update(variables(source, own, "variables"))
    return fields, env, complete


def _of_job(
    source: Source, name: str, fields: Entries, env: Environment, files: Files | None, *, open_env: bool
) -> list[Launch]:
    found: list[Launch] = []

    def lookup(variable: str) -> TracedText | None:
        return env[variable].value if variable in env else None

    for index, node in enumerate((yaml.items(fields["services"][1]) or []) if "services" in fields else []):
        found += _gitlab_service(source, f"{name}.services[{index}]", node, env)
    image, container = identified(None), None
    if "image" in fields:
        inner = section(fields, "image")
        named = optional(source, inner, "name") if inner else optional(source, fields, "image")
        if named is not None:
            named = interpolate(named, lookup)
            image, container = images.identify(named), Container(named, open=True)
    before = yaml.field(fields, "before_script")
    context = CommandContext(source, name, None, env, container, image.claims, open_env=open_env)
    context.files, context.given = files, _known(env)
    found += run(script(source, before, fields["script"][1]), context, {})
    if "after_script" in fields:
        found += run(script(source, fields["after_script"][1]), context, {})
    return found


def _gitlab_service(source: Source, name: str, node: Node, env: Environment) -> list[Launch]:
    fields = yaml.entries(node)
    named = optional(source, fields, "name")
    if named is None or ("command" not in fields and "entrypoint" not in fields):
        return []
    image = images.identify(named)
    given = [fields[key] for key in ("entrypoint", "command") if key in fields]
    site = Span(source, yaml.start(given[0][0]), yaml.span(source, given[-1][1]).end)
    own = variables(source, fields, "variables")
    context = CommandContext(source, name, site, {**env, **own}, Container(named, open=True), image.claims)
    parts = []
    for key in ("entrypoint", "command"):
        one = optional(source, fields, key)
        parts.append(split(one) if one is not None else words(source, fields[key][1]) if key in fields else None)
    return in_container(parts[0], parts[1] or [], image, context)


def read_gitlab(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the jobs, which begin in the root of the repository."""
    files = neighbours.read if source.path.rpartition("/")[2].startswith(".gitlab-ci.") else None
    found = [launch for document in documents for launch in _pipeline(source, document, files)]
    tell_apart(found)
    return found
