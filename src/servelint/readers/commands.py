"""From the words of a command to launches: entry points, and the wrappers, shells and containers before them."""

from __future__ import annotations

import re

from servelint.core import bounds
from servelint.core.launch import Launch, Variable, Word
from servelint.engines import entry
from servelint.readers import container_run, containers, runners, scripts
from servelint.readers.place import Place, site_of

WRAPPERS = frozenset((
    "aws-vault", "bash-preexec", "catchsegv", "chroot", "chrt", "conda", "ddtrace-run", "direnv", "distrobox", "doas",
    "doppler", "dumb-init", "enroot", "env", "exec", "flock", "gosu", "incus", "ionice", "kubectl", "ltrace", "lxc",
    "micromamba", "mpiexec", "mpirun", "ncu", "nice", "nohup", "nsys", "numactl", "op", "opentelemetry-instrument", "pdm",
    "pipx", "pixi", "poetry", "proxychains4", "ray", "runuser", "rye", "s6-setuidgid", "screen", "script", "servelint",
    "setsid", "srun", "stdbuf", "strace", "su-exec", "sudo", "systemd-cat", "systemd-run", "taskset", "time", "timeout", "tini",
    "toolbox", "unbuffer", "uv", "uvx", "xargs", "xvfb-run",
))  # fmt: skip
_OPENERS = frozenset(("aws-vault", "chroot", "direnv", "distrobox", "doppler", "incus", "kubectl", "lxc", "op", "toolbox"))
"""Wrappers that bring variables from a vault, a profile or a running container: more may be set than the file shows."""
_OTHERS = frozenset((
    "apt", "apt-get", "cat", "chmod", "chown", "cp", "curl", "dnf", "echo", "grep", "journalctl", "killall", "ln", "ls",
    "mkdir", "mv", "pgrep", "pidof", "pkill", "printf", "ps", "rm", "rsync", "scp", "sed", "systemctl", "tail", "tee", "wget",
    "which", "yum",
))  # fmt: skip
_QUIET = frozenset((
    "basename", "cmp", "comm", "cut", "date", "df", "diff", "dig", "dirname", "du", "egrep", "fgrep", "file", "free", "fuser",
    "getent", "head", "hostname", "id", "ip", "kill", "lsof", "lspci", "md5sum", "mktemp", "mountpoint", "nc", "netstat",
    "nproc", "nslookup", "nvidia-smi", "paste", "ping", "readlink", "realpath", "rev", "rmdir", "rocm-smi", "seq", "sha256sum",
    "sort", "ss", "stat", "sync", "tac", "touch", "tput", "tr", "uname", "uniq", "uptime", "wc", "whoami",
))  # fmt: skip
"""As much is true of these, whose names may be words of another command (`srun -J date vllm serve`)."""
_MANAGING = frozenset((
    "attach", "build", "compose", "cp", "images", "inspect", "kill", "logs", "network", "port", "ps", "pull", "push", "rename",
    "restart", "rm", "rmi", "start", "stats", "stop", "system", "tag", "top", "update", "volume", "wait",
))  # fmt: skip
"""What container tools do to a container or an image that they do not start."""
UNHEARD = (_OTHERS - {"apt", "apt-get", "dnf", "yum"}) | _QUIET
"""Programs that start no engine and install none, whatever their words are."""
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")


def launches(words: list[Word], place: Place, depth: int = 0) -> list[Launch]:
    """The launches that a command makes: none, one, or those of a script inside it."""
    if not words or bounds.SCRIPTS.passed(depth, words[0].text):
        return []
    found = entry.find(words)
    if found is not None:
        return [_launch(words, 0, found, place)]
    head = entry.program(words[0])
    if head in runners.SHELLS:
        return scripts.shell(words, place, depth)
    if head in container_run.TOOLS or (head is None and words[0].text.flat == words[0].text.pieces[0].text):
        ran = containers.container(words, place, depth)
        if ran is not None:
            return ran
    if head is not None and head in runners.TEXTS:
        ran = runners.texts(words, place, depth)
        if ran:
            return ran
    if head is None or head in WRAPPERS:
        return _wrapped(words, head, place, depth)
    return scripts.script_file(words[0], words[1:], place, depth) or _passed_on(words, place)


def _passed_on(words: list[Word], place: Place) -> list[Launch]:
    """The command that a script is told to run: `./wait.sh db:5432 -- vllm serve`. What the script sets is not known."""
    if not words[0].text.flat.endswith((".sh", ".bash", ".py")):
        return []
    for at in range(1, len(words) - 1):
        if words[at].value in ("exec", "--"):
            found = entry.find(words, at + 1)
            if found is not None:
                return [_launch(words, at + 1, found, place.with_(site=place.site, env=place.env, open_env=True))]
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
        if name in _OTHERS or (name in container_run.TOOLS and _manages(words, at)):
            return []  # `sudo systemctl restart llama-server`: the engine's name is another program's argument
        if name in WRAPPERS:
            wrapper = name
            open_env = open_env or name in _OPENERS
        if name in runners.SHELLS and (shell := scripts.shell(words[at:], inner, depth)):
            return shell
        if name in container_run.TOOLS:
            ran = containers.container(words[at:], inner, depth)
            if ran is not None:
                return ran
        if name is not None and name.endswith(".sh") and (ran := scripts.script_file(words[at], words[at + 1 :], inner, depth)):
            return ran
    return []


def _manages(words: list[Word], at: int) -> bool:
    """Whether the container tool at an index does something to a container other than starting it."""
    return at + 1 < len(words) and words[at + 1].value in _MANAGING


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
    launch = Launch(
        source=place.source,
        engine=found.engine,
        verb=tuple(words[start : found.end]),
        argv=words[found.end :],
        site=site_of(words[start:], place),
        name=place.name,
        env=place.env,
        container=place.container,
        release=place.claims.get(found.engine),
        open_env=place.open_env,
    )
    launch.open = place.open
    return launch
