"""GitHub Actions: the `run` steps of jobs and of composite actions, and the services beside a job."""

from __future__ import annotations

from servelint.core.launch import Container, Launch, ReleaseClaim
from servelint.core.source import Source, Span
from servelint.engines import images
from servelint.readers.containers import in_container
from servelint.readers.place import Place
from servelint.readers.tasks.values import Claims, Environment, environment, optional, run, section, text
from servelint.syntax import yaml
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node

_SHELLS = ("bash", "sh")
_NO_IMAGE = images.Image(None, ReleaseClaim(), None)


def is_mine(source: Source, document: Node) -> bool:
    del source
    fields = yaml.entries(document)
    if "steps" in section(fields, "runs"):
        return True
    jobs = [yaml.entries(job) for _, job in section(fields, "jobs").values()]
    return any("steps" in job and ("runs-on" in job or "on" in fields) for job in jobs)


def launches(source: Source, document: Node) -> list[Launch]:
    fields = yaml.entries(document)
    found: list[Launch] = []
    outer = environment(source, fields["env"][1]) if "env" in fields else {}
    shell = _shell(source, fields)
    for name, (_, node) in section(fields, "jobs").items():
        job = yaml.entries(node)
        env = {**outer, **(environment(source, job["env"][1]) if "env" in job else {})}
        inside = section(job, "container")
        env.update(environment(source, inside["env"][1]) if "env" in inside else {})
        image, container = _container(source, job)
        for service, (_, inner) in section(job, "services").items():
            found += _service(source, f"jobs.{name}.services.{service}", yaml.entries(inner))
        found += _steps(source, f"jobs.{name}", job, env, image, container, _shell(source, job) or shell)
    runs = section(fields, "runs")
    return found + _steps(source, "runs", runs, {}, _NO_IMAGE, None, None)


def _shell(source: Source, fields: Entries) -> str | None:
    """The shell that steps of a workflow or a job use if they name none."""
    given = optional(source, section(section(fields, "defaults"), "run"), "shell")
    return given.flat if given is not None else None


def _container(source: Source, job: Entries) -> tuple[images.Image, Container | None]:
    """The image in which a job's steps run; its entry point does not start."""
    if "container" not in job:
        return _NO_IMAGE, None
    inner = yaml.entries(job["container"][1])
    named = optional(source, inner, "image") if inner else optional(source, job, "container")
    if named is None:
        return _NO_IMAGE, None
    return images.identify(named), Container(named, open=True)


def _steps(
    source: Source,
    name: str,
    fields: Entries,
    env: Environment,
    image: images.Image,
    container: Container | None,
    shell: str | None,
) -> list[Launch]:
    found: list[Launch] = []
    installed: Claims = {}
    open_env = False
    for index, node in enumerate((yaml.items(fields["steps"][1]) or []) if "steps" in fields else []):
        step = yaml.entries(node)
        if "run" not in step or yaml.scalar(step["run"][1]) is None:
            continue
        given = optional(source, step, "shell")
        used = (given.flat if given is not None else shell) or "bash"
        if used.split(" ")[0] not in _SHELLS:
            continue
        inner = {**env, **(environment(source, step["env"][1]) if "env" in step else {})}
        written = text(source, step["run"][1])
        place = Place(source, f"{name}.steps[{index}]", None, inner, container, image.claims, open_env=open_env)
        found += run(written, place, installed)
        open_env = open_env or "GITHUB_ENV" in written.flat
    return found


def _service(source: Source, name: str, fields: Entries) -> list[Launch]:
    """A container beside a job. Few releases of the runner take a command for it: mostly the image starts by itself."""
    named = optional(source, fields, "image")
    if named is None:
        return []
    command, entrypoint = optional(source, fields, "command"), optional(source, fields, "entrypoint")
    key, value = fields["command" if command is not None else "image"]
    site = Span(source, yaml.start(key), yaml.span(source, value).end)
    image = images.identify(named)
    env = environment(source, fields["env"][1]) if "env" in fields else {}
    place = Place(source, name, site, env, Container(named, open=True), image.claims, open_env="options" in fields)
    words = split(command) if command is not None else []
    return in_container(split(entrypoint) if entrypoint is not None else None, words, image, place)
