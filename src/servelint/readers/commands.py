"""From the words of a command to launches: wrappers, shells inside, containers, entry points, images that start an engine."""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.engines import entry, images
from servelint.launch import Container, Launch, ReleaseClaim, Variable, Word
from servelint.readers import container_run
from servelint.source import Source, Span
from servelint.text import Text

_WRAPPERS = frozenset((
    "aws-vault", "bash-preexec", "catchsegv", "chrt", "conda", "ddtrace-run", "direnv", "distrobox", "doas", "doppler",
    "dumb-init", "env", "exec", "gosu", "ionice", "kubectl", "ltrace", "micromamba", "mpiexec", "mpirun", "ncu", "nice",
    "nohup", "nsys", "numactl", "op", "opentelemetry-instrument", "pdm", "pipx", "pixi", "poetry", "proxychains4", "ray",
    "rye", "s6-setuidgid", "screen", "script", "setsid", "srun", "stdbuf", "strace", "su-exec", "sudo", "systemd-cat",
    "systemd-run", "taskset", "time", "timeout", "tini", "unbuffer", "uv", "uvx", "xvfb-run",
))  # fmt: skip
_OPENERS = frozenset(("aws-vault", "direnv", "distrobox", "doppler", "kubectl", "op"))
"""Wrappers that bring variables from a vault, a profile or a running container: more may be set than the file shows."""
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ash", "ksh"))
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
_DEPTH = 6


EnvFile = Callable[[str], "dict[str, Variable] | None"]


class Place:
    """Where a command stands and what surrounds it.

    name:       "services.llm", or "" in a script
    env:        the variables that reach the command
    container:  the container that it runs in
    claims:     what the image, or an installer in front of the command, says of an engine's release
    env_file:   reads an env file that a command names; None if it cannot be read
    open_env:   more variables may be set than env has
    """

    __slots__ = ("claims", "container", "env", "env_file", "name", "open_env", "site", "source")

    def __init__(
        self,
        source: Source,
        name: str = "",
        site: Span | None = None,
        env: dict[str, Variable] | None = None,
        container: Container | None = None,
        claims: dict[str, ReleaseClaim] | None = None,
        env_file: EnvFile | None = None,
        open_env: bool = False,
    ) -> None:
        self.source = source
        self.name = name
        self.site = site
        self.env = env or {}
        self.container = container
        self.claims = claims or {}
        self.env_file = env_file
        self.open_env = open_env

    def with_(
        self,
        *,
        site: Span | None,
        env: dict[str, Variable],
        claims: dict[str, ReleaseClaim] | None = None,
        open_env: bool | None = None,
    ) -> Place:
        """The same place for a command inside this one."""
        return Place(
            self.source,
            self.name,
            site,
            env,
            self.container,
            self.claims if claims is None else claims,
            self.env_file,
            self.open_env if open_env is None else open_env,
        )


def launches(words: list[Word], place: Place, depth: int = 0) -> list[Launch]:
    """The launches that a command makes: none, one, or those of a script inside it."""
    if not words or depth > _DEPTH:
        return []
    found = entry.find(words)
    if found is not None:
        return [_launch(words, 0, found, place)]
    head = entry.program(words[0])
    if head in _SHELLS:
        return _shell(words, place, depth)
    if head in container_run.TOOLS or (head is None and words[0].text.flat == words[0].text.pieces[0].text):
        ran = _container(words, place, depth)
        if ran is not None:
            return ran
    if head is None or head in _WRAPPERS:
        return _wrapped(words, head, place, depth)
    return []


def _wrapped(words: list[Word], head: str | None, place: Place, depth: int) -> list[Launch]:
    """Look behind a wrapper (`sudo -E env A=b numactl -N 0 vllm serve`) for the command that it runs."""
    from servelint.readers import installs

    env = dict(place.env)
    claims = dict(place.claims)
    open_env = place.open_env or head in _OPENERS
    wrapper = head
    for at in range(1, len(words)):
        flat = words[at].text.flat
        assignment = _ASSIGNMENT.match(flat)
        pinned = installs.requirement(words[at])
        if pinned is not None and pinned[1].how == "pip":
            claims[pinned[0]] = pinned[1]
        elif assignment and head is not None:
            env[assignment.group(1)] = Variable(assignment.group(1), words[at].text.cut(assignment.end()), words[at].site)
        elif wrapper == "env":
            _unset(words, at, env)
        open_env = open_env or flat.startswith("--env-file")
        inner = place.with_(site=place.site, env=env, claims=claims, open_env=open_env)
        found = entry.find(words, at)
        if found is not None:
            return [_launch(words, at, found, inner)]
        name = entry.program(words[at])
        if name in _WRAPPERS:
            wrapper = name
            open_env = open_env or name in _OPENERS
        if name in _SHELLS and (shell := _shell(words[at:], inner, depth)):
            return shell
        if name in container_run.TOOLS:
            ran = _container(words[at:], inner, depth)
            if ran is not None:
                return ran
    return []


def _unset(words: list[Word], at: int, env: dict[str, Variable]) -> None:
    """What an option of `env` takes away: `-u NAME`, `--unset=NAME`, `-i`."""
    flat = words[at].text.flat
    if flat in ("-", "-i", "--ignore-environment"):
        env.clear()
    elif flat in ("-u", "--unset") and at + 1 < len(words):
        env.pop(words[at + 1].text.flat, None)
    elif flat.startswith("--unset="):
        env.pop(flat.partition("=")[2], None)


def _launch(words: list[Word], start: int, found: entry.Entry, place: Place) -> Launch:
    return Launch(
        source=place.source,
        engine=found.engine,
        verb=tuple(words[start : found.end]),
        argv=words[found.end :],
        site=_site(words[start:], place),
        name=place.name,
        env=place.env,
        container=place.container,
        release=place.claims.get(found.engine),
        open_env=place.open_env,
    )


def _site(words: list[Word], place: Place) -> Span:
    """The command's characters; the place's own where its words do not stand one after the other in one file."""
    if place.site is not None:
        return place.site
    spans = [word.site for word in words if word.site is not None and word.site.source is place.source]
    if not spans:
        return Span(place.source, 0, 0)
    return Span(place.source, spans[0].start, max(span.end for span in spans))


# -- scripts inside a command


def _shell(words: list[Word], place: Place, depth: int) -> list[Launch]:
    """`bash -c SCRIPT NAME ARGS...`; a shell that runs a file yields nothing."""
    at = 1
    script: Word | None = None
    while at < len(words):
        flat = words[at].text.flat
        if flat in ("-o", "+o", "--rcfile", "--init-file"):
            at += 2
        elif re.fullmatch(r"[-+][A-Za-z]+", flat):
            if "c" in flat and flat[0] == "-":
                if flat.endswith("o"):
                    at += 1  # `-euo pipefail -c` written as one: the option's name comes first
                while at + 1 < len(words) and re.fullmatch(r"[-+][A-Za-z]+", words[at + 1].text.flat):
                    at += 1
                script = words[at + 1] if at + 1 < len(words) else None
                break
            at += 2 if flat.endswith("o") else 1
        elif flat.startswith("--"):
            at += 1
        else:
            break
    if script is None:
        return []
    return script_launches(script.text, place, words[at + 2 :], depth + 1)


def script_launches(text: Text, place: Place, args: list[Word] | None, depth: int = 0) -> list[Launch]:
    """The launches of a shell script, the first of each place first. args: `$0` and what follows; None if not known."""
    from servelint.readers import installs
    from servelint.shell.evaluate import Invocation, evaluate

    found: list[Launch] = []
    seen: set[tuple[int, int, str, tuple[str, ...]]] = set()
    environment = {name: variable.value for name, variable in place.env.items() if variable.value is not None}

    def on_command(ran: Invocation) -> dict[str, ReleaseClaim]:
        installed = installs.claims(ran.words)
        if installed:
            return installed
        env = dict(place.env)
        # in the order of the script: what is exported is a set, whose order is another in each process
        for name, value in sorted(ran.env.items(), key=lambda item: (_start(item[1]), item[0])):
            if name not in env or env[name].value is not value:
                env[name] = Variable(name, value, value.span() or ran.site)
        # what was installed here counts here, not in a container that is started from here
        found_here = {**place.claims, **ran.installed}
        here = place.with_(site=None, env=env, claims=found_here, open_env=place.open_env or ran.open_env)
        for launch in launches(ran.words, here, depth):
            launch.likely = ran.likely
            key = (ran.site.start, ran.site.end, launch.engine, tuple([word.shown for word in launch.argv]))
            if key not in seen:
                seen.add(key)
                found.append(launch)
        return {}

    evaluate(text, on_command, environment=environment, args=args)
    return found


def _start(text: Text) -> int:
    span = text.span()
    return span.start if span is not None else -1


# -- containers


def _container(words: list[Word], place: Place, depth: int) -> list[Launch] | None:
    """`docker run [options] IMAGE [command]` and `docker exec`; None if the words are neither."""
    ran = container_run.verb(words, 0)
    if ran is None:
        return None
    verb, at = ran
    run = container_run.parse(words[at:])
    env, open_env = _container_env(run, place)
    if verb == "exec":
        # the container's own environment is not shown here
        return launches(run.command, Place(place.source, place.name, place.site or _span(words), env, open_env=True), depth + 1)
    if run.image is None:
        return []
    settings = {
        key: value
        for key, value in (
            ("ipc", run.last("--ipc")),
            ("shm_size", run.last("--shm-size")),
            ("runtime", run.last("--runtime")),
        )
        if value is not None
    }
    container = Container(run.image.text, settings, *_gpus(run))
    image = images.identify(run.image.text)
    site = place.site or _span(words)
    inner = Place(place.source, place.name, site, env, container, image.claims, place.env_file, open_env)
    explicit = run.values("--entrypoint")
    # `--entrypoint ""` clears the image's own
    entrypoint = [word for word in explicit[-1:] if word.text.flat] if explicit else None
    return in_container(entrypoint, run.command, image, inner, depth + 1)


def _span(words: list[Word]) -> Span | None:
    spans = [word.site for word in words if word.site is not None]
    if not spans or any(span.source is not spans[0].source for span in spans):
        return None
    return Span(spans[0].source, min(span.start for span in spans), max(span.end for span in spans))


def _container_env(run: container_run.ContainerRun, place: Place) -> tuple[dict[str, Variable], bool]:
    """The variables that the options set, and whether there may be more."""
    env: dict[str, Variable] = {}
    open_env = run.open
    for file in run.values("--env-file"):
        read = place.env_file(file.value) if place.env_file is not None and file.value is not None else None
        open_env = open_env or read is None
        env.update(read or {})
    for word in run.values("--env"):
        assignment = _ASSIGNMENT.match(word.text.flat)
        if assignment is not None:
            env[assignment.group(1)] = Variable(assignment.group(1), word.text.cut(assignment.end()), word.site)
        elif word.value is not None and word.value.isidentifier():
            outer = place.env.get(word.value)
            env[word.value] = Variable(word.value, outer.value if outer else None, word.site)
        else:
            open_env = True
    return env, open_env


def _gpus(run: container_run.ContainerRun) -> tuple[int | None, bool | None]:
    given = run.last("--gpus")
    if given is None:
        return None, None
    match = re.fullmatch(r"(?:\"?device=([\w,:.-]+)\"?|(\d+))", given.flat)
    if match is None:
        return None, True
    return (int(match.group(2)) if match.group(2) else len(match.group(1).split(","))), True


def in_container(
    entrypoint: list[Word] | None, command: list[Word], image: images.Image, place: Place, depth: int = 0
) -> list[Launch]:
    """The launches of a container. entrypoint: None where the file leaves the image's own."""
    # an image that starts the engine itself takes `vllm serve` for arguments of it
    repeated = entrypoint is None and image.entrypoint and image.claim.release is not None and entry.find(command) is not None
    found = [] if repeated else launches([*(entrypoint or []), *command], place, depth)
    if found or entrypoint is not None:
        return found
    if image.engine is None or not _implied(image, command):
        return []
    # a house image that starts `vllm` or `sglang` itself is given the verb
    argv = command[1:] if command and command[0].value == "serve" and image.entrypoint is None else command
    return [
        Launch(
            source=place.source,
            engine=image.engine,
            argv=argv,
            site=_site(command, place),
            name=place.name,
            env=place.env,
            container=place.container,
            release=place.claims.get(image.engine),
            open_env=place.open_env,
        )
    ]


def _implied(image: images.Image, command: list[Word]) -> bool:
    """Whether an image that is given just these words starts its engine with them."""
    if image.entrypoint:
        return not (command and entry.program(command[0]) in _SHELLS)
    if image.entrypoint is not None or not command:
        return False
    first = command[0].text.flat
    options = any(word.text.flat.startswith("--") for word in command[1:])
    return first.startswith("-") or (options and (first == "serve" or "/" in first or not command[0].text.known))
