"""`docker run` and its kin (podman, nerdctl, apptainer): options, image, command."""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.text import HOLE, Text

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
_IMAGE_NAME = re.compile(r"im(?:a)?ge?|container|repo", re.IGNORECASE)


class ContainerRun:
    """What `docker run` was asked: options by long name in order, the image, and the words after it.

    open: more options may stand in a variable
    """

    __slots__ = ("command", "image", "open", "options")

    def __init__(self, options: list[tuple[str, Word | None]], image: Word | None, command: list[Word], open: bool) -> None:
        self.options = options
        self.image = image
        self.command = command
        self.open = open

    def values(self, *names: str) -> list[Word]:
        return [value for name, value in self.options if name in names and value is not None]

    def last(self, name: str) -> Text | None:
        values = self.values(name)
        return values[-1].text if values else None


def verb(words: list[Word], at: int) -> tuple[str, int] | None:
    """("run", "exec" or "apptainer", index after it) of a container tool at an index, its global options stepped over.

    A service of a compose file (`docker compose run SERVICE ...`) is like a running container: what it holds is not said here.
    """
    tool = words[at].text.flat.rpartition("/")[2]
    compose = tool.endswith("-compose")
    at += 1
    while at < len(words):
        value = words[at].value
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
    """Read the words after `run` (or `exec`, where the container takes the image's place). kind: as verb() tells it"""
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
    if _IMAGE_NAME.search(expression):
        return True
    rest = [word.text.flat for word in words[at + 1 :]]
    plain = [flat for flat in rest if not flat.startswith("-") and HOLE not in flat and ("/" in flat or ":" in flat)]
    return not plain and not any(
        _IMAGE_NAME.search(piece.expression or "") for word in words[at + 1 :] for piece in word.text.pieces
    )
