"""Containers that a command runs (`docker run`), and what one starts with its image, entrypoint and command."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from servelint.core.launch import Container, Launch, OpenedFile, ReleaseClaim, Variable, Word
from servelint.core.numbers import is_whole
from servelint.core.text import HOLE, TracedText
from servelint.engines import entry, images
from servelint.engines.registry import ENGINES
from servelint.readers import commands
from servelint.readers.context import CommandContext, site_of, span_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.launch import Runtime

TOOLS = frozenset(("docker", "podman", "nerdctl", "apptainer", "singularity", "docker-compose", "podman-compose"))

_SWITCHES = frozenset((
    "--detach", "--disable-content-trust", "--env-host", "--help", "--http-proxy", "--init", "--interactive",
    "--no-healthcheck", "--no-hostname", "--no-hosts", "--oom-kill-disable", "--passwd", "--privileged", "--publish-all",
    "--quiet", "--read-only", "--read-only-tmpfs", "--replace", "--rm", "--rmi", "--rootfs", "--sig-proxy", "--tls-verify",
    "--tty", "--unsetenv-all", "--use-api-socket",
))  # fmt: skip
_SHORT_SWITCHES = frozenset("ditPq")
_SHORT_NAMES = {
    "e": "--env",
    "v": "--volume",
    "p": "--publish",
    "m": "--memory",
    "u": "--user",
    "w": "--workdir",
    "h": "--hostname",
}
_GLOBAL_WITH_VALUE = (
    "--context", "-c", "--host", "-H", "--config", "--log-level", "-l", "--namespace", "-n", "--env-file",
)  # fmt: skip
_APPTAINER_SWITCHES = frozenset((
    "--allow-setuid", "--cleanenv", "--compat", "--contain", "--containall", "--debug", "--fakeroot", "--ipc", "--keep-privs",
    "--net", "--no-eval", "--no-home", "--no-https", "--no-init", "--no-privs", "--no-umask", "--nv", "--nvccli", "--pid",
    "--quiet", "--rocm", "--silent", "--sharens", "--unsquash", "--userns", "--uts", "--verbose", "--vm", "--writable",
    "--writable-tmpfs",
))  # fmt: skip
_APPTAINER_SHORT_SWITCHES = frozenset("cCdefinpqsuvw")
_APPTAINER_NAMES = {"B": "--bind", "H": "--home", "o": "--overlay", "S": "--scratch", "W": "--workdir"}
_IMAGE_NAME = r"(?i)im(?:a)?ge?|container|repo"


class ContainerRun:
    """The words of `docker run`.

    Attributes:
        options: Long name and value of each option, in order.
        image: The image, None if there is none.
        command: The words after it.
        open: Whether a variable may hold more options.
    """

    __slots__ = ("command", "image", "open", "options")

    def __init__(self, options: list[tuple[str, Word | None]], image: Word | None, command: list[Word], open: bool) -> None:
        self.options = options
        self.image = image
        self.command = command
        self.open = open

    def values(self, *names: str) -> list[Word]:
        """The values of some options, in order."""
        return [value for name, value in self.options if name in names and value is not None]

    def last(self, name: str) -> TracedText | None:
        """The value of an option that counts, None if it is not given."""
        values = self.values(name)
        return values[-1].text if values else None


def verb_of(words: list[Word], at: int) -> tuple[str, int] | None:
    """Find what a container tool does, its global options stepped over.

    A service of a compose file (`docker compose run SERVICE ...`) counts as a running container: its image is not named.
    `docker create` prepares the container that `docker start` runs.

    Returns:
        ("run", "exec" or "apptainer", index after it), None for anything else.
    """
    tool = words[at].text.flat.rpartition("/")[2]
    compose = tool.endswith("-compose")
    at += 1
    while at < len(words):
        value = words[at].value
        if value == "create" and not compose:
            return "run", at + 1
        if value in ("run", "exec"):
            kind = "apptainer" if tool in ("apptainer", "singularity") else "exec" if compose else value
            return kind, at + 1
        if value in ("container", "instance", "compose"):
            compose = compose or value == "compose"
            at += 1
        elif value in _GLOBAL_WITH_VALUE or (compose and value in ("-f", "-p", "--file", "--profile", "--project-name")):
            at += 2
        elif value is not None and value.startswith("-"):
            at += 1
        else:
            return None
    return None


def parse(words: list[Word], kind: str = "run") -> ContainerRun:
    """Read the words after `run`, or after `exec`, where the container takes the place of the image.

    Args:
        words: The words.
        kind: "run", "exec" or "apptainer".
    """
    apptainer = kind == "apptainer"
    switches = _APPTAINER_SWITCHES if apptainer else _SWITCHES
    options: list[tuple[str, Word | None]] = []
    at = 0
    open_options = False
    while at < len(words):
        word = words[at]
        flat = word.text.flat
        if word.many and not _is_image(words, at):
            open_options = True
            at += 1
            continue
        if not flat.startswith("-") or flat == "-":
            return ContainerRun(options, word, words[at + 1 :], open_options)
        if flat == "--":
            image = words[at + 1] if at + 1 < len(words) else None
            return ContainerRun(options, image, words[at + 2 :], open_options)
        if flat.startswith("--"):
            name, sign, _ = flat.partition("=")
            if sign:
                options.append((name, word.after(len(name) + 1)))
                at += 1
            elif name in switches:
                options.append((name, None))
                at += 1
            else:
                options.append((name, words[at + 1] if at + 1 < len(words) else None))
                at += 2
        else:
            at = _short(words, at, options, apptainer)
    return ContainerRun(options, None, [], open_options)


def _short(words: list[Word], at: int, options: list[tuple[str, Word | None]], apptainer: bool) -> int:
    switches = _APPTAINER_SHORT_SWITCHES if apptainer else _SHORT_SWITCHES
    names = _APPTAINER_NAMES if apptainer else _SHORT_NAMES
    word = words[at]
    flat = word.text.flat
    for index in range(1, len(flat)):
        letter = flat[index]
        if letter in switches:
            options.append(("-" + letter, None))
            continue
        name = names.get(letter, "-" + letter)
        if index + 1 < len(flat):
            options.append((name, word.after(index + 1 + (flat[index + 1] == "="))))
            return at + 1
        options.append((name, words[at + 1] if at + 1 < len(words) else None))
        return at + 2
    return at + 1


def _is_image(words: list[Word], at: int) -> bool:
    """Whether an unquoted unknown word stands for the image rather than for options."""
    expression = words[at].text.pieces[0].expression or ""
    if re.search(_IMAGE_NAME, expression):
        return True
    rest = [word.text.flat for word in words[at + 1 :]]
    plain = [flat for flat in rest if not flat.startswith("-") and HOLE not in flat and ("/" in flat or ":" in flat)]
    return not plain and not any(
        re.search(_IMAGE_NAME, piece.expression or "") for word in words[at + 1 :] for piece in word.text.pieces
    )


_GIVING = frozenset(("--device", "--runtime", "--privileged", "--device-cgroup-rule", "--volumes-from", "--env-file", "--nv"))
_ASSIGNMENT = r"([A-Za-z_]\w*)="


def container(words: list[Word], context: CommandContext, depth: int) -> list[Launch] | None:
    """`docker run [options] IMAGE [command]` and `docker exec`; None if the words are neither."""
    ran = verb_of(words, 0)
    if ran is None:
        return None
    verb, at = ran
    run = parse(words[at:], verb)
    env, open_env = _container_env(run, context)
    if verb == "apptainer":
        env = {**context.env, **env}
    if verb == "exec":
        # the container's own environment is not shown here
        return commands.launches(
            run.command,
            CommandContext(context.source, context.name, context.site or span_of(words), env, open_env=True),
            depth + 1,
        )
    if run.image is None:
        return []
    settings = {
        key: value
        for key, value in (("ipc", run.last("--ipc")), ("shm_size", run.last("--shm-size")), ("runtime", run.last("--runtime")))
        if value is not None
    }
    if any(name == "--privileged" for name, _ in run.options):
        settings["privileged"] = TracedText.of("true")
    container = Container(run.image.text, settings, *_gpus(run, verb))
    image = images.identify(run.image.text)
    if image.engine is None and run.image.text.flat == HOLE:
        name = run.last("--name")
        image = images.of_names([run.image.text.pieces[0].expression or "", name.flat if name is not None else ""])
    site = context.site or span_of(words)
    inner = CommandContext(context.source, context.name, site, env, container, image.claims, context.env_file, open_env)
    inner.runtime = partial(_runtime, run, verb, context)
    inner.ran = context.ran
    explicit = run.values("--entrypoint")
    # `--entrypoint ""` clears the image's own
    entrypoint = [word for word in explicit[-1:] if word.text.flat] if explicit else None
    inner.open = _mounted(run, context)
    if verb == "apptainer" and words[at - 1].value == "exec":
        entrypoint = []
    return in_container(entrypoint, run.command, image, inner, depth + 1)


def _runtime(run: ContainerRun, verb: str, context: CommandContext) -> Runtime | None:
    """How the container is run; None where options may stand in a variable."""
    if run.open or verb != "run":
        return None
    from servelint.readers import runtime

    return runtime.of_run(run, context.source)


def _mounted(run: ContainerRun, context: CommandContext) -> Callable[[TracedText], OpenedFile | None] | None:
    """Opens the files of a container that are mounted from where the command runs (`-v ./serve.sh:/serve.sh`)."""
    outer = context.open
    if outer is None:
        return None
    mounts: list[tuple[str, TracedText]] = []
    for word in run.values("--volume", "--bind"):
        flat = word.text.flat
        inside = flat.split(":")
        if len(inside) in (2, 3) and inside[1].startswith("/"):
            mounts.append((inside[1].rstrip("/"), word.text.cut(0, len(inside[0]))))

    def opened(path: TracedText) -> OpenedFile | None:
        for inside, outside in mounts:
            if path.flat == inside or path.flat.startswith(inside + "/"):
                return outer(TracedText.join((outside, path.cut(len(inside)))))
        return None

    return opened


def _container_env(run: ContainerRun, context: CommandContext) -> tuple[dict[str, Variable], bool]:
    """The variables that the options set, and whether there may be more."""
    env: dict[str, Variable] = {}
    open_env = run.open
    for file in run.values("--env-file"):
        read = context.env_file(file.value) if context.env_file is not None and file.value is not None else None
        open_env = open_env or read is None
        env.update(read or {})
    for word in run.values("--env"):
        assignment = re.match(_ASSIGNMENT, word.text.flat)
        if assignment is not None:
            env[assignment.group(1)] = Variable(assignment.group(1), word.text.cut(assignment.end()), word.site)
        elif word.value is not None and word.value.isidentifier():
            outer = context.env.get(word.value)
            env[word.value] = Variable(word.value, outer.value if outer else None, word.site)
        else:
            open_env = True
    return env, open_env


def _gpus(run: ContainerRun, verb: str) -> tuple[int | None, bool | None]:
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


def _may_have_gpus(run: ContainerRun) -> bool:
    """Whether a container without `--gpus` may be given some: by devices, a runtime, or options that are not shown."""
    given = {name for name, _ in run.options}
    named = any(word.text.flat.startswith("NVIDIA_VISIBLE_DEVICES") for word in run.values("--env"))
    return run.open or named or not given.isdisjoint(_GIVING)


def in_container(
    entrypoint: list[Word] | None, command: list[Word], image: images.Image, context: CommandContext, depth: int = 0
) -> list[Launch]:
    """The launches of a container.

    Args:
        entrypoint: The words of its entrypoint, None for the image's own.
        command: The words after it.
        image: What is known of the image.
        context: What surrounds the command.
        depth: How many scripts and containers it is inside of.
    """
    if entrypoint is None and image.entrypoint and image.command:
        command = command or [Word(TracedText.of(word)) for word in image.command]
        entrypoint = [Word(TracedText.of(word)) for word in image.entrypoint]
    # an image that starts the engine itself takes `vllm serve` for arguments of it
    named = image.claim.release is not None or image.claim.rolling
    repeated = entrypoint is None and image.entrypoint and named and entry.find(command) is not None
    words = [*(entrypoint or []), *command]
    found = [] if repeated else commands.launches(words, context, depth)
    direct = not found or (len(found) == 1 and (found[0].verb[:1] == tuple(words[:1]) or _alone(words, found[0], context)))
    context.note_runtime(direct=direct, starts=bool(found) or image.engine is not None)
    if found or entrypoint is not None:
        return found or commands.without_shell(words, context, depth)
    if image.entrypoint == () and (meant := commands.without_shell(words, context, depth)):
        return meant
    if image.engine is None or not (_implied(image, command) or _configured(image, command, context)):
        return []
    if image.chosen_by:
        if command[0].value not in image.chosen_by:
            return []
        command = command[1:]
    # a house image that starts `vllm` or `sglang` itself is given the verb
    argv = command[1:] if command and command[0].value == "serve" and image.entrypoint is None else command
    launch = context.launch(image.engine, argv, site_of(command, context))
    launch.launcher = entry.launcher(image.engine, image.entrypoint or ())
    return [launch] if entry.serves(image.engine, launch.launcher, argv) else []


def _alone(words: list[Word], launch: Launch, context: CommandContext) -> bool:
    """Whether the script that a container runs starts an engine, and no other program that opens ports or takes GPUs."""
    shell = bool(words) and entry.program(words[0]) in commands.SHELLS
    return shell and launch.likely and not context.others and launch.open_env == context.open_env


def identified(name: TracedText | None) -> images.Image:
    """What the name of an image says; nothing where there is none."""
    return images.identify(name) if name is not None else images.Image(None, ReleaseClaim(), None)


def _configured(image: images.Image, command: list[Word], context: CommandContext) -> bool:
    """Whether an image of someone else is given its model by a variable that the engine's own program reads."""
    if command or image.entrypoint is not None or image.engine is None:
        return False
    return any(name in context.env for name in ENGINES[image.engine].model_variables)


def _implied(image: images.Image, command: list[Word]) -> bool:
    """Whether an image that is given just these words starts its engine with them."""
    if image.entrypoint:
        return not (command and entry.program(command[0]) in commands.SHELLS)
    if image.entrypoint is not None or not command:
        return False
    first = command[0].text.flat
    if first.endswith((".sh", ".bash", ".py")):
        return False  # a script with options of its own
    options = any(word.text.flat.startswith("--") for word in command[1:])
    return first.startswith("-") or (options and (first == "serve" or "/" in first or not command[0].text.known))
