"""Containers that a command runs (`docker run`), and what a container starts with its image, entrypoint and command."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from servelint.core.launch import Container, Launch, OpenedFile, Variable, Word
from servelint.core.numbers import is_whole
from servelint.core.text import Text
from servelint.engines import entry, images
from servelint.readers import container_run, runners
from servelint.readers.place import Place, site_of, span_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.launch import Hosting

_GIVING = frozenset(("--device", "--runtime", "--privileged", "--device-cgroup-rule", "--volumes-from", "--env-file", "--nv"))
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")


def container(words: list[Word], place: Place, depth: int) -> list[Launch] | None:
    """`docker run [options] IMAGE [command]` and `docker exec`; None if the words are neither."""
    from servelint.readers.commands import launches

    ran = container_run.verb(words, 0)
    if ran is None:
        return None
    verb, at = ran
    run = container_run.parse(words[at:], verb)
    env, open_env = _container_env(run, place)
    if verb == "apptainer":
        env = {**place.env, **env}
    if verb == "exec":
        # the container's own environment is not shown here
        return launches(
            run.command, Place(place.source, place.name, place.site or span_of(words), env, open_env=True), depth + 1
        )
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
    if any(name == "--privileged" for name, _ in run.options):
        settings["privileged"] = Text.of("true")
    container = Container(run.image.text, settings, *_gpus(run, verb))
    image = images.identify(run.image.text)
    site = place.site or span_of(words)
    inner = Place(place.source, place.name, site, env, container, image.claims, place.env_file, open_env)
    inner.hosting = partial(_hosting, run, verb, place)
    inner.ran = place.ran
    explicit = run.values("--entrypoint")
    # `--entrypoint ""` clears the image's own
    entrypoint = [word for word in explicit[-1:] if word.text.flat] if explicit else None
    inner.open = _mounted(run, place)
    if verb == "apptainer" and words[at - 1].value == "exec":
        entrypoint = []
    return in_container(entrypoint, run.command, image, inner, depth + 1)


def _hosting(run: container_run.ContainerRun, verb: str, place: Place) -> Hosting | None:
    """How the container is run; None where options may stand in a variable."""
    if run.open or verb != "run":
        return None
    from servelint.readers import container_hosting

    return container_hosting.of_run(run, place.source)


def _mounted(run: container_run.ContainerRun, place: Place) -> Callable[[Text], OpenedFile | None] | None:
    """Opens the files of a container that are mounted from where the command runs (`-v ./serve.sh:/serve.sh`)."""
    outer = place.open
    if outer is None:
        return None
    mounts: list[tuple[str, Text]] = []
    for word in run.values("--volume", "--bind"):
        flat = word.text.flat
        inside = flat.split(":")
        if len(inside) in (2, 3) and inside[1].startswith("/"):
            mounts.append((inside[1].rstrip("/"), word.text.cut(0, len(inside[0]))))

    def opened(path: Text) -> OpenedFile | None:
        for inside, outside in mounts:
            if path.flat == inside or path.flat.startswith(inside + "/"):
                return outer(Text.join((outside, path.cut(len(inside)))))
        return None

    return opened


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


def _gpus(run: container_run.ContainerRun, verb: str) -> tuple[int | None, bool | None]:
    given = run.last("--gpus")
    if given is None:
        devices = [word.text.flat.partition("=")[2] for word in run.values("--device") if "nvidia.com/gpu=" in word.text.flat]
        numbered = bool(devices) and all(is_whole(device) for device in devices)
        unsure = verb != "run" or _may_have_gpus(run)
        return (len(devices) if numbered else None), (True if devices else None if unsure else False)
    match = re.fullmatch(r"(?:\"?device=([\w,:.-]+)\"?|(\d{1,18}))", given.flat, re.ASCII)
    if match is None:
        return None, True
    return (int(match.group(2)) if match.group(2) else len(match.group(1).split(","))), True


def _may_have_gpus(run: container_run.ContainerRun) -> bool:
    """Whether a container without `--gpus` may be given some: by devices, a runtime, or options that are not shown."""
    given = {name for name, _ in run.options}
    named = any(word.text.flat.startswith("NVIDIA_VISIBLE_DEVICES") for word in run.values("--env"))
    return run.open or named or not given.isdisjoint(_GIVING)


def in_container(
    entrypoint: list[Word] | None, command: list[Word], image: images.Image, place: Place, depth: int = 0
) -> list[Launch]:
    """The launches of a container. entrypoint: None where the file leaves the image's own."""
    from servelint.readers.commands import launches

    # an image that starts the engine itself takes `vllm serve` for arguments of it
    repeated = entrypoint is None and image.entrypoint and image.claim.release is not None and entry.find(command) is not None
    words = [*(entrypoint or []), *command]
    found = [] if repeated else launches(words, place, depth)
    direct = not found or (len(found) == 1 and found[0].verb[:1] == tuple(words[:1]))
    place.note_hosting(direct=direct, starts=bool(found) or image.engine is not None)
    if found or entrypoint is not None:
        return found
    if image.engine is None or not _implied(image, command):
        return []
    # a house image that starts `vllm` or `sglang` itself is given the verb
    argv = command[1:] if command and command[0].value == "serve" and image.entrypoint is None else command
    launch = Launch(
        source=place.source,
        engine=image.engine,
        argv=argv,
        site=site_of(command, place),
        name=place.name,
        env=place.env,
        container=place.container,
        release=place.claims.get(image.engine),
        open_env=place.open_env,
    )
    launch.open = place.open
    return [launch]


def _implied(image: images.Image, command: list[Word]) -> bool:
    """Whether an image that is given just these words starts its engine with them."""
    if image.entrypoint:
        return not (command and entry.program(command[0]) in runners.SHELLS)
    if image.entrypoint is not None or not command:
        return False
    first = command[0].text.flat
    if first.endswith((".sh", ".bash", ".py")):
        return False  # a script with options of its own
    options = any(word.text.flat.startswith("--") for word in command[1:])
    return first.startswith("-") or (options and (first == "serve" or "/" in first or not command[0].text.known))
