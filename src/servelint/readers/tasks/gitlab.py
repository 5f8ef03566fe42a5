"""GitLab CI: the scripts of jobs, with what `default`, `extends` and the top of the file give them, and their services."""

from __future__ import annotations

from servelint.core.launch import Container, Launch, ReleaseClaim
from servelint.core.source import Source, Span
from servelint.core.text import Text
from servelint.engines import images
from servelint.readers.containers import in_container
from servelint.readers.place import Place
from servelint.readers.tasks.values import (
    Environment,
    environment,
    optional,
    run,
    scalars,
    script,
    section,
    words,
)
from servelint.syntax import yaml
from servelint.syntax.interpolation import interpolate
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node

_OF_JOBS = frozenset(("artifacts", "extends", "needs", "only", "rules", "stage", "tags"))
_NOT_JOBS = frozenset((
    "after_script", "before_script", "cache", "default", "image", "include", "services", "spec", "stages", "variables",
    "workflow",
))  # fmt: skip
_DEPTH = 8


def is_mine(source: Source, document: Node) -> bool:
    fields = yaml.entries(document)
    named = source.path.endswith(("gitlab-ci.yml", "gitlab-ci.yaml"))
    jobs = [yaml.entries(node) for name, (_, node) in fields.items() if name not in _NOT_JOBS]
    jobs = [job for job in jobs if "script" in job]
    return bool(jobs) and (named or "stages" in fields or any(not _OF_JOBS.isdisjoint(job) for job in jobs))


def launches(source: Source, document: Node) -> list[Launch]:
    top = yaml.entries(document)
    found: list[Launch] = []
    extended = {name for _, node in top.values() for name in _extends(yaml.entries(node))}
    for name in top:
        if name in _NOT_JOBS or (name.startswith(".") and name in extended):
            continue  # a template is read in the jobs that take it over
        fields, env, complete = _job(source, top, name)
        if "script" in fields:
            found += _of_job(source, name, fields, env, open_env=not complete)
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
        env = environment(source, top["variables"][1]) if "variables" in top else {}
    for base in _extends(own):
        if base not in top or depth > _DEPTH:
            complete = False
            continue
        inherited, variables, known = _job(source, top, base, depth + 1)
        fields.update(inherited)
        env.update(variables)
        complete = complete and known
    fields.update(own)
    env.update(environment(source, own["variables"][1]) if "variables" in own else {})
    return fields, env, complete


def _of_job(source: Source, name: str, fields: Entries, env: Environment, open_env: bool) -> list[Launch]:
    found: list[Launch] = []

    def lookup(variable: str) -> Text | None:
        return env[variable].value if variable in env else None

    for index, node in enumerate((yaml.items(fields["services"][1]) or []) if "services" in fields else []):
        found += _service(source, f"{name}.services[{index}]", node, env)
    image, container = images.Image(None, ReleaseClaim(), None), None
    if "image" in fields:
        inner = section(fields, "image")
        named = optional(source, inner, "name") if inner else optional(source, fields, "image")
        if named is not None:
            named = interpolate(named, lookup)
            image, container = images.identify(named), Container(named, open=True)
    before = fields["before_script"][1] if "before_script" in fields else None
    place = Place(source, name, None, env, container, image.claims, open_env=open_env)
    found += run(script(source, before, fields["script"][1]), place, {})
    if "after_script" in fields:
        found += run(script(source, fields["after_script"][1]), place, {})
    return found


def _service(source: Source, name: str, node: Node, env: Environment) -> list[Launch]:
    fields = yaml.entries(node)
    named = optional(source, fields, "name")
    if named is None or ("command" not in fields and "entrypoint" not in fields):
        return []
    image = images.identify(named)
    given = [fields[key] for key in ("entrypoint", "command") if key in fields]
    site = Span(source, yaml.start(given[0][0]), yaml.span(source, given[-1][1]).end)
    own = environment(source, fields["variables"][1]) if "variables" in fields else {}
    place = Place(source, name, site, {**env, **own}, Container(named, open=True), image.claims)
    parts = []
    for key in ("entrypoint", "command"):
        one = optional(source, fields, key)
        parts.append(split(one) if one is not None else words(source, fields[key][1]) if key in fields else None)
    return in_container(parts[0], parts[1] or [], image, place)
