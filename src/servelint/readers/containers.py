"""Containers that a command runs (`docker run`), and what one starts with its image, entrypoint and command."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from servelint.core.launch import NO_GPUS, Container, Launch, Mishap, OpenedFile, ReleaseClaim, Runtime, Variable, Word
from servelint.core.numbers import is_whole
from servelint.core.run import current
from servelint.core.text import HOLE, TracedText, unknown
from servelint.engines import entry, images
from servelint.engines.catalog import load
from servelint.engines.products import product
from servelint.engines.registry import ENGINES, Wrapper
from servelint.readers import commands
from servelint.readers.context import CommandContext, site_of, span_of
from servelint.syntax.shell.words import split

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
_MODEL = r"-m$|-hf|--model|--hf-repo"
"""How an option begins that names a model."""
_IMAGE = r"(?i)im(?:a)?ge?"
_IMAGE_NAME = rf"{_IMAGE}|container|repo"


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


def verb_of(words: list[Word]) -> tuple[str, int] | None:
    """Find what a container tool does, its global options stepped over.

    A service of a compose file (`docker compose run SERVICE ...`) counts as a running container: its image is not named.
    `docker create` prepares the container that `docker start` runs.

    Returns:
        ("run", "exec" or "apptainer", index after it), None for anything else.
    """
    tool = words[0].text.flat.rpartition("/")[2]
    compose = tool.endswith("-compose")
    at = 1
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
    """Read the words after `run`, or after `exec`, where the container replaces the image.

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
        if word.many and not (_is_container(words, at) if kind == "exec" else _is_image(words, at)):
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


def _is_container(words: list[Word], at: int) -> bool:
    """Whether an unquoted unknown word stands for the container: a program that starts an engine, or a shell, follows."""
    name = entry.program(words[at + 1]) if at + 1 < len(words) else None
    return (name is not None and (name in commands.SHELLS or entry.is_program(name))) or _is_image(words, at)


def _is_image(words: list[Word], at: int) -> bool:
    """Whether an unquoted unknown word stands for the image rather than for options."""
    expression = words[at].text.pieces[0].expression or ""
    if re.search(_IMAGE_NAME, expression):
        after = words[at + 1].text.pieces if at + 1 < len(words) else ()
        # `$CONTAINER_OPTIONS "$IMAGE"`
        named = len(after) == 1 and re.search(_IMAGE, after[0].expression or "") is not None
        return not named or re.search(_IMAGE, expression) is not None
    rest = [word.text.flat for word in words[at + 1 :]]
    plain = [flat for flat in rest if not flat.startswith("-") and HOLE not in flat and ("/" in flat or ":" in flat)]
    return not plain and not any(
        re.search(_IMAGE_NAME, piece.expression or "") for word in words[at + 1 :] for piece in word.text.pieces
    )


_CLOUDS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], str], ...] = (
    ("runpodctl create pod", ("--imageName",), (), ("--args",), ""),
    ("runpodctl create pods", ("--imageName",), (), ("--args",), ""),
    ("vastai create instance", ("--image",), ("--onstart-cmd",), ("--args",), "rest"),
    ("kubectl run", ("--image",), ("--command",), (), "--"),
    ("oc run", ("--image",), ("--command",), (), "--"),
    ("gcloud run deploy", ("--image",), ("--command",), ("--args",), ","),
    ("gcloud run jobs create", ("--image",), ("--command",), ("--args",), ","),
    ("gcloud ai models upload", ("--container-image-uri",), ("--container-command",), ("--container-args",), ","),
    (
        "gcloud compute instances create-with-container",
        *(("--container-image",), ("--container-command",), ("--container-arg",), "each"),
    ),
    ("az container create", ("--image",), ("--command-line",), (), ""),
    ("az containerapp create", ("--image",), ("--command",), ("--args",), "rest"),
    ("koyeb service create", ("--docker",), ("--docker-command",), ("--docker-args",), "each"),
    ("koyeb services create", ("--docker",), ("--docker-command",), ("--docker-args",), "each"),
    ("koyeb app init", ("--docker",), ("--docker-command",), ("--docker-args",), "each"),
    ("koyeb apps init", ("--docker",), ("--docker-command",), ("--docker-args",), "each"),
    ("lep deployment create", ("--container-image",), ("--container-command",), (), ""),
    ("lep job create", ("--container-image",), ("--command",), (), ""),
    ("lep endpoint create", ("--container-image",), ("--container-command",), (), ""),
)  # fmt: skip
"""Commands that start a container elsewhere: their words, the options of the image, of the command and of its arguments.

The last is how several words are given: in one text that is split (""), with commas, in options that are repeated ("each"), in
all the words that follow ("rest"), or behind `--`.
"""


CLOUDS = frozenset(name.split()[0] for name, *_ in _CLOUDS)
"""Their programs."""


def cloud_container(words: list[Word], context: CommandContext, depth: int) -> list[Launch] | None:
    """The launches of a command that starts a container elsewhere (`kubectl run`); None for another one."""
    plain = [entry.program(words[0]) or "", *[word.value or "" for word in words[1:]]]
    for name, images_, commands_, args_, how in _CLOUDS:
        head = name.split()
        start = 1
        for verb in head[1:]:
            start = next((at + 1 for at in range(start, min(start + 3, len(plain))) if plain[at] == verb), 0) if start else 0
        if plain[0] != head[0] or (not start and len(head) > 1):
            continue
        given = _options(words[start:], (*images_, *commands_, *args_), how)
        image = given.get(images_[0], [])
        if not image:
            return None
        command = [word for option in commands_ for word in given.get(option, [])]
        args = [word for option in (*args_, "--") for word in given.get(option, [])]
        if how == "--":
            command, args = (args, []) if commands_[0] in given else ([], args)
        elif how == ",":
            command, args = _at_commas(command), _at_commas(args)
        elif how in ("", "rest"):
            command = [part for word in command for part in split(word.text)]
            args = [part for word in args for part in split(word.text)] if how == "" else args
        pod = _pod(words[start:]) if name in ("kubectl run", "oc run") else None
        if pod is not None:
            return commands.of_file("pod.json", pod, context) if entry.mentions(pod.flat) else []
        identified_ = images.identify(image[-1].text)
        inner = CommandContext(
            context.source, context.name, context.site or span_of(words), {}, Container(image[-1].text, {}, open=True),
            identified_.claims, open_env=True,
        )  # fmt: skip
        if commands_ == ("--onstart-cmd",):
            return (
                commands.script_launches(given["--onstart-cmd"][0].text, inner, None, depth + 1)
                if command
                else in_container(None, args, identified_, inner, depth + 1)
            )
        return in_container(command or None, args, identified_, inner, depth + 1)
    return None


_OVERRIDES = "--overrides"
_KIND = TracedText.of('{"apiVersion": "v1", "kind": "Pod", ')


def _pod(words: list[Word]) -> TracedText | None:
    """The object that `kubectl run --overrides JSON` makes; None without containers in it, which replace the command's own."""
    text = None
    for at, word in enumerate(words):
        flat = word.text.flat
        if flat == "--":
            break
        if flat == _OVERRIDES and at + 1 < len(words):
            text = words[at + 1].text
        elif flat.startswith(_OVERRIDES + "="):
            text = word.text.cut(len(_OVERRIDES) + 1, len(flat))
    if text is None or re.search(r'"containers"\s*:', text.flat) is None:
        return None
    opened = re.match(r"\s*\{", text.flat)
    if opened is None or re.search(r'"kind"\s*:', text.flat) is not None:
        return text
    return TracedText.join((_KIND, text.cut(opened.end(), len(text.flat))))


def _passed_in(env: dict[str, Variable]) -> dict[str, Variable]:
    """The variables that Apptainer sets in a container: `APPTAINERENV_X` sets X there."""
    found: dict[str, Variable] = {}
    for name, variable in env.items():
        if (inner := re.sub("^(?:SINGULARITY|APPTAINER)ENV_", "", name)) != name:
            found[inner] = Variable(inner, variable.value, variable.site)
    return found


def _options(words: list[Word], names: tuple[str, ...], how: str) -> dict[str, list[Word]]:
    """The values of some options, and what stands behind `--`."""
    found: dict[str, list[Word]] = {}
    at = 0
    while at < len(words):
        flat = words[at].text.flat
        name, sign, _ = flat.partition("=")
        if flat == "--":
            found["--"] = words[at + 1 :]
            break
        if name in names and how == "--" and name == "--command":
            found[name] = []
        elif name in names and sign:
            found.setdefault(name, []).append(words[at].after(len(name) + 1))
        elif name in names and how == "rest" and name == names[-1]:
            found[name] = words[at + 1 :]
            break
        elif name in names and at + 1 < len(words):
            found.setdefault(name, []).append(words[at + 1])
            at += 1
        at += 1
    return found


def _at_commas(words: list[Word]) -> list[Word]:
    """The parts of words that gcloud splits at commas, or at what `^x^` in front names."""
    found: list[Word] = []
    for word in words:
        text = word.text
        other = re.match(r"\^(.+?)\^", text.flat)
        between = other.group(1) if other is not None else ","
        text = text.cut(other.end()) if other is not None else text
        at = 0
        for part in text.flat.split(between):
            found.append(Word(text.cut(at, at + len(part)), word.site))
            at += len(part) + len(between)
    return found


_GIVING = frozenset(("--device", "--runtime", "--privileged", "--device-cgroup-rule", "--volumes-from", "--env-file", "--nv"))
_ASSIGNMENT = r"([A-Za-z_]\w*)="
_ADDRESS = r"[a-z][a-z0-9]*://"


def container(words: list[Word], context: CommandContext, depth: int) -> list[Launch] | None:
    """`docker run [options] IMAGE [command]` and `docker exec`; None if the words are neither."""
    from servelint.readers import prepared

    ran = verb_of(words)
    if ran is None:
        return None
    verb, at = ran
    run = parse(words[at:], verb)
    env, open_env = _container_env(run, context)
    if verb == "apptainer":
        env = {**context.env, **_passed_in(context.env), **env}
    if verb == "exec":
        # the container's own environment is not shown here
        return commands.launches(
            run.command,
            CommandContext(
                context.source, context.name, context.site or span_of(words), env, open_env=True, stdin=context.stdin
            ),
            depth + 1,
        )
    if run.image is None:
        return []
    settings = {
        key: value
        for key in ("ipc", "shm_size", "runtime", "user")
        if (value := run.last("--" + key.replace("_", "-"))) is not None
    }
    if any(name == "--privileged" for name, _ in run.options):
        settings["privileged"] = TracedText.of("true")
    container = Container(run.image.text, settings, *_gpus(run, verb))
    image = images.identify(run.image.text)
    name = run.last("--name")
    own_build = run.image.text.flat.startswith("localhost/") and any(re.match(_MODEL, word.text.flat) for word in run.command)
    if image.engine is None and (run.image.text.flat == HOLE or own_build):
        image = images.of_names([run.image.text.pieces[0].expression or "", name.flat if name is not None else ""])
    site = context.site or span_of(words)
    claims = prepared.of_image(run.image.text, context.claims, image, context.open)
    inner = CommandContext(context.source, context.name, site, env, container, claims, context.env_file, open_env)
    inner.runtime = partial(_runtime, run, verb, context, docker=words[0].text.flat.rpartition("/")[2] == "docker")
    inner.ran = context.ran
    explicit = run.values("--entrypoint")
    # `--entrypoint ""` clears the image's own
    entrypoint = [word for word in explicit[-1:] if word.text.flat] if explicit else None
    inner.open = _mounted(run, context)
    if verb == "apptainer" and words[at - 1].value == "exec":
        entrypoint = []
    named = verb == "apptainer" and words[at - 2].value == "instance"
    return in_container(entrypoint, run.command[named:], image, inner, depth + 1)


def _runtime(run: ContainerRun, verb: str, context: CommandContext, *, docker: bool) -> Runtime | None:
    """How the container is run; None where options may stand in a variable."""
    if run.open or verb != "run":
        return None
    from servelint.readers import runtime

    return runtime.of_run(run, context.source, docker=docker)


def _mounted(run: ContainerRun, context: CommandContext) -> Callable[[TracedText], OpenedFile | None] | None:
    """Opens the files of a container that are mounted from where the command runs (`-v ./serve.sh:/serve.sh`)."""
    from servelint.readers import runtime

    outer = context.open
    if outer is None:
        return None
    mounts: list[tuple[str, TracedText]] = []
    for word in run.values("--volume", "--bind"):
        given = runtime.parts(word.text)
        if len(given) in (2, 3) and given[1].flat.startswith("/"):
            mounts.append((given[1].flat.rstrip("/"), given[0]))

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
        if (assignment := re.match(_ASSIGNMENT, word.text.flat)) is not None:
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
    named = [word.text.flat for word in run.values("--env") if word.text.flat.startswith("NVIDIA_VISIBLE_DEVICES")]
    if named and named[-1].partition("=")[2] in NO_GPUS:
        return run.open or not given.isdisjoint(_GIVING - {"--runtime"})
    return run.open or bool(named) or not given.isdisjoint(_GIVING)


def in_container(
    entrypoint: list[Word] | None, command: list[Word], image: images.Image, context: CommandContext, depth: int = 0
) -> list[Launch]:
    """The launches of a container. One without any, whose image serves models, is noted for the report.

    Args:
        entrypoint: The words of its entrypoint, None for the image's own.
        command: The words after it.
        image: What is known of the image.
        context: What surrounds the command.
        depth: How many scripts and containers it is inside of.
    """
    found = _of_client(entrypoint, command, image, context, depth) or _in_container(entrypoint, command, image, context, depth)
    run = current()
    named = context.container.image if context.container is not None else None
    if run is not None and named is not None and not found:
        why = _unjudged(named, image, [*(entrypoint or []), *command], context.name or "")
        if why:
            run.unjudged.append((named, f"{named.shown} is not judged: {why}"))
    return found


_NO_ENGINE = (
    r"(?:^|[-_/])(?:web-?ui|ui|dash(?:board)?|docs?|app|frontend|chat|monitor|metrics|agent|playground|test|cli)(?:$|[-_.:])"
)
"""Words in the names of images that have the name of an engine in theirs and hold what uses one."""


def _unjudged(named: TracedText, image: images.Image, words: list[Word], container: str) -> str:
    """Why a container without a launch may serve a model all the same, as a sentence; "" if nothing says that it does."""
    if (held := product(named.flat)) is not None:
        return f"{held.name} {held.why}"
    if any(word.text.flat.strip(HOLE + " ") for word in words) or not image.house or image.entrypoint is not None:
        return ""
    names = [named.flat.partition("@")[0].rpartition("/")[2].partition(":")[0]]
    if named.flat.startswith(HOLE) and names == [HOLE]:  # `${IMAGE}:${TAG}`: what a variable or the container is called
        names = [re.sub(r"\W", "", named.pieces[0].expression or "").lower(), container.rpartition(".")[2]]
    engine = next((found for name in names if not re.search(_NO_ENGINE, name) and (found := images.of_house_name(name))), None)
    if engine is None:
        return ""
    where = f"is {words[0].text.shown}, which has no value" if words and words[0].text.shown else "is in the image"
    return f"its name says {ENGINES[engine].name}, and the command that starts it {where}"


def _in_container(
    entrypoint: list[Word] | None, command: list[Word], image: images.Image, context: CommandContext, depth: int
) -> list[Launch]:
    if entrypoint is None and image.entrypoint and image.command:
        if all(word.many and not word.text.shown for word in command):  # what another file may add
            command = [*[Word(TracedText.of(word)) for word in image.command], *command]
        entrypoint = [Word(TracedText.of(word)) for word in image.entrypoint]
    if entrypoint is None and not command and image.wrapper is not None and not image.wrapper.program:
        return set_by_variables(image, image.wrapper, context)
    if entrypoint is None and image.wrapper is not None:
        command = _wrapped(image.wrapper, command, context)
    # an image that starts the engine itself takes `vllm serve` for arguments of it
    named = image.claim.release is not None or image.claim.rolling
    repeated = entrypoint is None and image.entrypoint and named and entry.find(command) is not None
    words = [*(entrypoint or []), *command]
    found = [] if repeated else commands.launches(words, context, depth)
    behind = entrypoint is None and named and not image.house and _starts_engine(image) and _is_shell(command)
    if found and behind and (first := command[0].site) is not None:
        found[0].mishaps.append(Mishap("behind-entrypoint", first, command[0].text.shown))
    direct = not found or (len(found) == 1 and (found[0].verb[:1] == tuple(words[:1]) or _alone(words, found[0], context)))
    script = bool(found) and found[0].verb[:1] not in ((), tuple(words[:1]))
    context.note_runtime(direct=direct, starts=bool(found) or image.engine is not None, script=script)
    if found or entrypoint is not None:
        found = found or commands.without_shell(words, context, depth) or by_a_script(entrypoint or [], command, image, context)
        return found or _without_program(words, image, context, "replaced")
    if image.entrypoint == ():
        return commands.without_shell(words, context, depth) or _without_program(command, image, context)
    if image.engine is None or not (_implied(image, command) or _configured(image, command, context)):
        return []
    own = {word for start in ENGINES[image.engine].starts for word in (*start.programs, *start.verbs)}
    behind_own = next((at for at, word in enumerate(command) if (entry.program(word) or word.value) not in own), len(command))
    if entry.only_asks(command[behind_own:]):
        return []
    if image.chosen_by:
        if command[0].value not in image.chosen_by:
            return []
        command = command[1:]
    # a house image that starts `vllm` or `sglang` itself is given the verb
    argv = command[1:] if command and command[0].value == "serve" and image.entrypoint is None else command
    launch = context.launch(image.engine, argv, site_of(command, context))
    started = entry.launcher(image.engine, image.entrypoint or ())
    launch.launcher = entry.reader(image.engine, started, argv, original=not image.house)
    return [launch] if entry.serves(image.engine, launch.launcher, argv) else []


_SCRIPT = r"(?:.*/)?(?:[\w.-]+\.(?:sh|bash)|(?:docker-)?entrypoint)"


def by_a_script(entrypoint: list[Word], command: list[Word], image: images.Image, context: CommandContext) -> list[Launch]:
    """The launch of an engine's image whose entry point is a script that is not here, by options that the engine has."""
    path = entrypoint[-1].text if entrypoint and image.engine is not None else None
    if path is None or image.engine is None or re.fullmatch(_SCRIPT, path.value or "") is None:
        return []
    if (
        not command
        or not command[0].text.flat.startswith("--")
        or (context.open is not None and context.open(path) is not None)
    ):
        return []
    catalog = load(image.engine)
    given = [word.text.flat.partition("=")[0].replace("_", "-") for word in command if word.text.flat.startswith("--")]
    own = len(given) > 1 or given[0] == f"--{ENGINES[image.engine].model_option}"
    if catalog is None or not own or not all(catalog.spelled(name) or catalog.starting(name) for name in given):
        return []
    rest = Word(TracedText((unknown(path.flat, None, ""),)), many=True)  # what the script adds
    return [context.launch(image.engine, [rest, *command], site_of(command, context))]


def _wrapped(wrapper: Wrapper, command: list[Word], context: CommandContext) -> list[Word]:
    """The engine's arguments of a container whose program takes them from variables as well, those of the command last.

    The program adds arguments that no file shows, which all others replace.
    """
    own = command[1:] if command and entry.program(command[0]) == wrapper.program else command
    own = own[1:] if own and re.match(_ADDRESS, own[0].text.flat) else own  # the model
    given = context.env.get(wrapper.variable)
    passed = [
        *_of_variables(wrapper, context),
        *(split(given.value) if given is not None and given.value is not None else []),
    ]
    if not [*passed, *own] or not all(words[0].text.flat.startswith("-") for words in (passed, own) if words):
        return command
    if wrapper.prefix and not passed:
        return command
    return [*passed, *own, Word(TracedText((unknown(wrapper.program, None, ""),)), many=True)]


def set_by_variables(image: images.Image, wrapper: Wrapper, context: CommandContext) -> list[Launch]:
    """The launch whose options variables of a container set; none where a variable chooses another program, or may."""
    for name, other in wrapper.unless.items():
        text = _text(context.env[name]) if name in context.env else None
        if text is not None and (not text.known or re.search(other, text.flat)):
            return []
    words = _of_variables(wrapper, context)
    if image.engine is None or not words:
        return []
    context.note_runtime(direct=True, starts=True)
    rest = Word(TracedText((unknown(image.engine, None, ""),)), many=True)  # what the program sets where nothing else does
    return [context.launch(image.engine, [rest, *words], site_of(words, context))]


def _text(variable: Variable) -> TracedText:
    return variable.value if variable.value is not None else TracedText((unknown(variable.name, None, ""),))


def _of_variables(wrapper: Wrapper, context: CommandContext) -> list[Word]:
    """The options that variables set."""
    words: list[Word] = []
    for name, variable in context.env.items():
        text = _text(variable)
        option, switch = wrapper.options.get(name), text.flat.lower()
        if wrapper.prefix and name.startswith(wrapper.prefix) and name not in wrapper.unless:
            option, switch = name[len(wrapper.prefix) :].lower().replace("_", "-"), switch or "true"
        if option is None or switch in ("false", "max", ""):  # max: as many as there are GPUs
            continue
        words.append(Word(TracedText.of("--" + option), variable.site))
        if switch != "true":
            words.append(Word(text, variable.site))
    return words


def _without_program(
    command: list[Word], image: images.Image, context: CommandContext, kind: str = "no-program"
) -> list[Launch]:
    """The launch that a container without its image's entrypoint would make, if its command named the program."""
    span = command[0].site if command else None
    if image.engine is None or span is None or not re.match(r"--[a-z]", command[0].text.flat):
        return []
    return _refused(Mishap(kind, span, command[0].text.shown), image.engine, command, context)


def _of_client(
    entrypoint: list[Word] | None, command: list[Word], image: images.Image, context: CommandContext, depth: int
) -> list[Launch]:
    """The launch that is meant by a command which the engine's program refuses.

    That is one of its client (`ollama run`) where no server can answer it, or the program's own name behind the entrypoint.
    """
    words = [*([Word(TracedText.of(one)) for one in image.entrypoint or ()] if entrypoint is None else entrypoint), *command]
    program = entry.program(words[0]) if len(words) > 1 else None
    record = next((one for one in ENGINES.values() if one.client_commands and one.command[0] == program), None)
    span = words[1].site if record is not None else None
    if record is None or span is None:
        return []
    if entrypoint is None and entry.program(words[1]) == program:
        if image.house:  # who built it may have left the entrypoint empty
            return commands.launches(command, context, depth)
        return _refused(Mishap("named-twice", span, words[1].text.shown), record.id, words[1:], context)
    if words[1].value not in record.client_commands or context.open_env or record.address_variable in context.env:
        return []
    context.note_runtime(direct=True, starts=True)
    container = context.container
    if container is None or container.open or container.runtime is None or not container.runtime.private:
        return []  # a server may listen in another container
    return _refused(Mishap("no-server", span, f"{program} {words[1].text.flat}"), record.id, words[1:], context)


def _refused(mishap: Mishap, engine: str, command: list[Word], context: CommandContext) -> list[Launch]:
    launch = context.launch(engine, command, site_of(command, context))
    launch.mishaps = [mishap]
    launch.fragment, launch.started = True, False
    return [launch]


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


_SIMULATED = r"--(?:enable-kvcache|fake-metrics|inter-token-latency|time-to-first-token|zmq-endpoint)(?:=|$)"
"""Options of a simulator that no engine has (https://github.com/llm-d/llm-d-inference-sim)."""


def _starts_engine(image: images.Image) -> bool:
    """Whether an image's entrypoint is its engine's own program, which takes all words for arguments."""
    return entry.is_program(image.entrypoint[0]) if image.entrypoint else False


def _is_shell(command: list[Word]) -> bool:
    """Whether a command is a shell with a script behind -c."""
    return (
        len(command) > 2
        and entry.program(command[0]) in commands.SHELLS
        and any(re.fullmatch("-[a-z]*c", word.text.flat) for word in command[1:3])
    )


_LOOK = r"(?:/\S*/)?python[\d.]* (?:-c|-V|--version|\S+\.py)(?: |\Z)"
"""A program of a user's own in an image of an engine."""


def _implied(image: images.Image, command: list[Word]) -> bool:
    """Whether an image that is given just these words starts its engine with them."""
    if image.entrypoint:
        program = entry.program(command[0]) if command else None
        looks = re.match(_LOOK, " ".join([word.text.flat for word in command[:2]])) is not None
        return _starts_engine(image) and not looks and program not in commands.SHELLS | commands.UNHEARD
    if image.entrypoint is not None or not command:
        return False
    first = command[0].text.flat
    if first.endswith((".sh", ".bash", ".py")):
        return False  # a script with options of its own
    if image.house and any(re.match(_SIMULATED, word.text.flat) for word in command):
        return False
    if re.fullmatch(r"(?!serve$)[a-z][\w.-]*", command[0].text.shown) is not None:
        return False  # another program, or nothing: a condition decides whether the word is there
    options = any(word.text.flat.startswith("--") for word in command[1:])
    return first.startswith("-") or (options and (first == "serve" or "/" in first or not command[0].text.known))
