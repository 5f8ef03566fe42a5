"""From the words of a command to launches: entry points, and the wrappers, shells and remote programs before them."""

from __future__ import annotations

import re
from itertools import pairwise

from servelint.core import bounds
from servelint.core.launch import Container, Launch, Mishap, Nodes, ReleaseClaim, Variable, Word
from servelint.core.source import Span
from servelint.core.text import HOLE, TracedText, unknown
from servelint.engines import ENGINES, entry
from servelint.readers import containers, together
from servelint.readers.context import CommandContext, site_of, span_of
from servelint.readers.registry import SCRIPT_CALLED
from servelint.syntax.placeholders import in_command
from servelint.syntax.shell.words import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from servelint.syntax.shell.evaluate import Invocation
    from servelint.syntax.shell.syntax import Script

WRAPPERS = frozenset((
    "accelerate", "aws-vault", "bash-preexec", "bwrap", "cgexec", "daemonize", "devbox", "dotenv", "dotenvx", "foreman",
    "honcho", "oc", "qrsh", "salloc", "catchsegv", "catatonit", "chpst", "chroot", "chrt", "compute-sanitizer",
    "conda", "coverage", "cpulimit", "cuda-gdb", "ddtrace-run", "debugpy", "deepspeed", "direnv", "distrobox", "doas",
    "docker-entrypoint.sh", "doppler", "dumb-init", "enroot", "env", "envdir", "eatmydata", "exec", "firejail", "flock",
    "flux", "gdb", "gosu", "hatch", "heaptrack", "hivemind", "incus", "infisical", "ionice", "ipexrun", "jemalloc.sh",
    "jsrun", "kernprof", "kubectl", "ltrace", "lxc", "mamba", "memray", "micromamba", "mpiexec", "mpiexec.hydra", "mpirun",
    "ncu", "newrelic-admin", "nice", "nix", "nix-shell", "nohup", "nsys", "numactl", "nvidia_entrypoint.sh", "numawrap",
    "nvprof", "omnitrace-run", "op", "opentelemetry-instrument", "orterun", "pdm", "perf", "pipenv", "pipx", "pixi", "pm2",
    "poetry", "prlimit", "prterun", "prun", "proxychains4", "py-spy", "pyenv", "pyinstrument", "ray", "rocprof",
    "rocprof-sys-run", "rocprofv2", "rocprofv3", "rocgdb", "runuser", "rye", "s6-setuidgid", "scalene", "screen", "script",
    "sentry-cli", "servelint", "setarch", "setpriv", "setsid", "setuidgid", "sops", "srun", "start-stop-daemon", "stdbuf",
    "strace", "su-exec", "sudo", "systemd-cat", "systemd-inhibit", "systemd-run", "taskset", "time", "timeout", "tini",
    "toolbox", "torchrun", "trtllm-llmapi-launch", "tsocks", "unbuffer", "unshare", "uv", "uvx", "valgrind", "vglrun",
    "viztracer", "xargs", "xpu-smi", "xvfb-run",
))  # fmt: skip
_RUNNERS = frozenset((
    "accelerate", "coverage", "debugpy", "deepspeed", "ipexrun", "kernprof", "memray", "pyinstrument", "scalene", "torchrun",
    "uv", "viztracer",
))  # fmt: skip
"""Wrappers that run a Python module or script: `torchrun --nproc-per-node 2 -m module`."""
_OPENERS = frozenset((
    "aws-vault", "chroot", "direnv", "distrobox", "docker-entrypoint.sh", "doppler", "dotenv", "dotenvx", "envdir", "devbox",
    "incus", "infisical",
    "kubectl", "lxc", "nix", "oc", "nix-shell", "nvidia_entrypoint.sh", "op", "pixi", "sops", "toolbox",
))  # fmt: skip
"""Wrappers that bring variables from a vault, a profile or a running container: more may be set than the file shows."""
_APART = frozenset(("start-stop-daemon",))
"""Wrappers whose own options may stand between a program and its arguments, which follow `--`."""
_OTHERS = frozenset((
    "apt", "apt-get", "cat", "chmod", "chown", "cp", "curl", "dnf", "echo", "grep", "journalctl", "killall", "ln", "ls",
    "mkdir", "mv", "pgrep", "pidof", "pkill", "printf", "ps", "rm", "rsync", "scp", "sed", "systemctl", "tail", "tee", "wget",
    "which", "yum",
))  # fmt: skip
_BUILDERS = frozenset(("cmake", "make", "meson", "ninja"))
"""Programs whose words may be an engine's name as a target."""
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
UNHEARD = (_OTHERS - {"apt", "apt-get", "curl", "dnf", "wget", "yum"}) | _QUIET
"""Programs that start no engine and install none, whatever their words are."""
_LISTENS_NOWHERE = frozenset((
    "[", "apt", "apt-get", "cd", "cmake", "curl", "dnf", "export", "git", "gzip", "hf", "huggingface-cli", "mamba", "pip",
    "pip3", "set", "sleep", "test",
    "ulimit", "uv", "wait", "wget", "yum",
))  # fmt: skip
"""Programs that a script may run before an engine, and that open no port and take no GPU."""
_STARTING_NONE = UNHEARD | _OTHERS
"""Programs that run no command which they are given."""
_SUBMITTERS = frozenset(("msub", "oarsub", "qsub", "sbatch"))
"""Programs that hand a script, or a command, to a scheduler of jobs."""
_ASSIGNMENT = r"([A-Za-z_]\w*)="


_OPTION_BELOW = r"(?:[ \t]+#[^\n]*)?\n(?:[ \t]*(?=--?[A-Za-z])|[ \t]+(?=[\[{'\"]))"


def with_options_below(text: TracedText) -> TracedText:
    """A command whose next lines are options, on one line and without comments: what reads it may split it so.

    No shell would take these lines. One that continues its lines is left as it is.
    """
    return text if "\\\n" in text.flat else text.sub(re.compile(_OPTION_BELOW), lambda _: TracedText.of(" "))


def launches(words: list[Word], context: CommandContext, depth: int = 0) -> list[Launch]:
    """The launches that a command makes: none, one, or those of a script inside it."""
    if not words or bounds.SCRIPTS.passed(depth, words[0].text):
        return []
    if words[0].value in _NO_ASSIGNMENTS and len(words) > 1 and re.match(_ASSIGNMENT, words[1].text.flat) is not None:
        return without_expansion(words, context, depth)
    if (found := entry.find(words)) is not None:
        started = entry.serves(found.engine, found.launcher, words[found.end :])
        return [_launch(words, 0, found, context)] if started else []
    head = entry.program(words[0])
    if head is not None and entry.is_program(head) and (meant := _other_command(head, words, context, depth)):
        return meant
    if head in SHELLS:
        return shell_launches(words, context, depth)
    if head in containers.TOOLS or (head is None and words[0].text.flat == words[0].text.pieces[0].text):
        ran = containers.container(words, context, depth)
        if ran is not None:
            return ran
    if head in containers.CLOUDS:
        ran = containers.cloud_container(words, context, depth)
        if ran is not None:
            return ran
    if head == "pm2":
        return _of_pm2(words, context, depth) if len(words) > 1 and words[1].value == "start" else []
    if head is not None and head in TEXTS:
        ran = text_launches(words, context, depth)
        if ran or head in _SESSIONS:
            return ran
    if head in _SUBMITTERS:
        return _submitted(words, context, depth)
    if head is not None and head.lower().removesuffix(".exe") in _WINDOWS_SHELLS:
        return _windows_shell(words, context, depth)
    if head in _CONFIGURED:
        return _configured(words, context, *_CONFIGURED[head])
    if head == "find":
        return _for_each_file(words, context, depth)
    if head == "crontab" and context.stdin is not None:
        return scheduled(context.stdin, context, depth)
    if head is not None and head.startswith("python") and (ran := _python(words, context)):
        return ran
    if head is None or head in WRAPPERS or _runs_module(words, 0):
        return _wrapped(words, head, context, depth)
    return script_file(words[0], words[1:], context, depth) or _passed_on(words, context, depth)


_SPEAKING = (
    "abort", "alert", "annotate", "assert", "banner", "bench", "check", "cowsay", "debug", "describe", "die", "doc", "echo",
    "err", "expect", "explain", "fail", "fatal", "figlet", "find", "has", "have", "header", "heading", "help", "highlight",
    "info", "is-", "is_", "kill", "log", "man", "message", "msg", "need", "note", "notice", "notify", "pgrep", "pkill", "print",
    "prompt", "puts", "require", "say", "section", "show", "skip", "spd-say", "step", "stop", "success", "title", "trace",
    "usage", "verbose", "wait_", "wall", "warn", "write",
)  # fmt: skip
_SPEAKING_ENDS = ("log", "msg", "echo", "print", "kill", "_exists", "_found", "_missing", "_running")
_NO_STARTERS = frozenset((
    "ack", "ag", "amake", "ansible", "apropos", "aspell", "awk", "brew", "bundle", "cargo", "choco", "cmake", "conda",
    "crontab", "emerge", "expr", "gawk", "gem", "gh", "git", "go", "helm", "hf", "hub", "huggingface-cli", "initctl",
    "java", "jq", "just", "launchctl", "make", "mamba", "mawk", "meson", "ninja", "node", "npm", "npx", "open", "pacman",
    "perl", "php", "rg", "ruby", "sbatch", "service", "snap", "supervisorctl", "task", "terraform", "test", "tldr",
    "type", "vi", "vim", "whatis", "where", "whereami", "whereis", "xdg-open", "yarn", "yq", "zypper",
))  # fmt: skip


def starts_nothing(name: str) -> bool:
    """Whether a program or function, by its name, prints, looks for or stops what its words name."""
    lower = name.lower()
    if lower.startswith(_SPEAKING) or lower.endswith(_SPEAKING_ENDS):
        return True
    base = lower.rpartition("/")[2] if lower.startswith(("/", "./")) and lower.count("/") > 1 else lower
    pip = base.startswith("pip") and not base[3:].strip("0123456789.")
    return base in _NO_STARTERS or pip or (base != "" and not base.strip("["))


_OF_A_PROGRAM = r"--?(?:[\w-]*-)?(?:bin|binary|exe|executable|path|program|server)"
"""An option that says where a program is, which runs the engine with words of its own: `agent --llama-server PATH --port 1`."""


def _passed_on(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """The command that a program which is not known is given to run: `./wait.sh db:5432 -- vllm serve`, `with-env vllm serve`.

    What the program sets is not known. Its command starts after its options, or after `--` or `exec`.
    """
    name = entry.program(words[0]) or ""
    script = name.endswith((".sh", ".bash", ".py"))
    if (
        not re.match(r"[\w./~]", name)
        or name.startswith("python")
        or name in _STARTING_NONE
        or re.match(_ASSIGNMENT, words[0].text.flat) is not None  # where a shell would take it, it has taken it
        or starts_nothing(name.removesuffix(".sh"))
    ):
        return []
    # what a script does with its words is read there
    direct = not name.endswith(".py") and (context.open is None or context.open(words[0].text) is None)
    for at in range(1, len(words) - 1):
        separated = words[at - 1].value in ("exec", "--") and (script or at > 1)
        named = words[at].text.flat.startswith("-") or re.fullmatch(_OF_A_PROGRAM, words[at - 1].text.flat) is not None
        if (direct or separated) and not named:
            found = entry.find(words, at)
            if found is not None and (separated or found.end - at > 1 or re.match(r"--?\w", words[found.end].text.flat)):
                return [_launch(words, at, found, context.with_(site=context.site, env=context.env, open_env=True))]
        if entry.program(words[at]) in SHELLS and re.fullmatch(r"-[a-z]*c", words[at + 1].value or ""):
            return shell_launches(words[at:], context.with_(site=context.site, env=context.env, open_env=True), depth + 1)
        flat, before = words[at].text.flat, words[at - 1].text.flat
        value = at > 1 and re.match(r"--?[A-Za-z][\w-]*$", before) is not None
        direct = direct and (flat.startswith("-") or flat.isdigit() or value or re.match(_ASSIGNMENT, flat) is not None)
    return []


def _runs_module(words: list[Word], at: int) -> bool:
    """Whether the word at an index is a Python interpreter whose module runs another module or script."""
    if not (entry.program(words[at]) or "").startswith("python"):
        return False
    named = next((index for index in range(at + 1, len(words) - 1) if words[index].value == "-m"), None)
    return named is not None and words[named + 1].value in entry.RUNNERS


def _wrapped(words: list[Word], head: str | None, context: CommandContext, depth: int) -> list[Launch]:
    """Look behind a wrapper (`sudo -E env A=b numactl -N 0 vllm serve`) for the command that it runs."""
    from servelint.readers import installs
    from servelint.readers.prepared import of_image

    env = dict(context.env)
    claims = dict(context.claims)
    open_env = context.open_env or head in _OPENERS
    wrapper = head
    runs_python = head in _RUNNERS or _runs_module(words, 0)
    container = context.container
    for at in range(1, len(words)):
        flat = words[at].text.flat
        if wrapper == "env" and words[at - 1].value in ("-S", "--split-string"):
            inner = context.with_(site=context.site, env=env, claims=claims, open_env=open_env)
            return launches([words[0], *split(words[at].text), *words[at + 1 :]], inner, depth + 1)
        assignment = re.match(_ASSIGNMENT, flat)
        claims.update(installs.brought(words[at]))
        if (pinned := installs.requirement(words[at])) is not None and pinned[1].how == "pip":
            claims[pinned[0]] = pinned[1]
        elif assignment and head is not None:
            env[assignment.group(1)] = Variable(assignment.group(1), words[at].text.cut(assignment.end()), words[at].site)
        elif wrapper == "env":
            _unset(words, at, env)
        open_env = open_env or flat.startswith("--env-file")
        if wrapper == "srun" and (image := _image_of_step(words, at)) is not None:
            container = Container(image, open=True)
            claims.update(of_image(image, claims, containers.identified(image), context.open))
        if wrapper == "enroot" and words[at - 1].value == "start":
            claims.update(of_image(words[at].text, claims, containers.identified(None), context.open))
        inner = context.with_(site=context.site, env=env, claims=claims, open_env=open_env)
        inner.container = container
        found = entry.find(words, at) or (entry.of_python(words, at) if runs_python else None)
        if found is None and head in _APART and "--" in (rest := [word.value for word in words[at + 1 :]]):
            without = [*words[: at + 1], *words[at + 2 + rest.index("--") :]]
            found = entry.find(without, at)
            words = without if found is not None else words
        if found is not None:
            launch = _launch(words, at, found, inner)
            if wrapper == "srun":
                launch.nodes = Nodes("srun", [(launch, _tasks(words[:at]))])
            return [launch]
        name = entry.program(words[at])
        if name in _OTHERS or name in _BUILDERS or (name in containers.TOOLS and _manages(words, at)):
            return []  # `sudo systemctl restart llama-server`: the engine's name is another program's argument
        if name in WRAPPERS:
            wrapper = name
            open_env = open_env or name in _OPENERS
        runs_python = runs_python or name in _RUNNERS or _runs_module(words, at)
        if name in SHELLS and (shell := shell_launches(words[at:], inner, depth)):
            return shell
        if name in _SESSIONS or name == "pm2":  # behind sudo
            return launches(words[at:], inner, depth + 1)
        if name in TEXTS and (given := text_launches(words[at:], inner, depth)):
            return given
        if name in containers.TOOLS:
            ran = containers.container(words[at:], inner, depth)
            if ran is not None:
                return ran
        if name is not None and name.startswith("python") and (started := _python(words[at:], inner)):
            return started
        if name is not None and name.endswith(".sh") and (ran := script_file(words[at], words[at + 1 :], inner, depth)):
            return ran
    return []


_VALUE_OF_PM2 = (
    r"-n|--name|--namespace|--cwd|-i|--instances|--interpreter|--interpreter-args|--node-args|-l|--log|-o|--output|-e|--error"
    r"|-p|--pid|-u|--user|--uid|--gid|-k|--kill-timeout|-c|--cron|--cron-restart|--max-memory-restart|--restart-delay|--max-restarts"
    r"|--exp-backoff-restart-delay|--env|--only|--filter_env|--log-date-format|--log-type|--min-uptime|--listen-timeout"
)
"""Options of `pm2 start` before a value."""


def _of_pm2(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """The launches of `pm2 start PROGRAM [options] -- ARGUMENTS`, whose program may be a whole command in one word."""
    at = 2
    while at < len(words) and words[at].text.flat.startswith("-"):
        at += 2 if re.fullmatch(_VALUE_OF_PM2, words[at].text.flat) is not None else 1
    rest = words[at + 1 :]
    if at >= len(words) or words[at].value == "--":
        return []
    if re.search(r"\s", words[at].text.flat):
        inner = context.with_(site=None, env=context.env, open_env=True)
        return script_launches(words[at].text, inner, None, depth + 1)
    end = next((index for index, word in enumerate(rest) if word.value == "--"), None)
    if end is None:
        own = next((index for index, word in enumerate(rest) if re.fullmatch(_VALUE_OF_PM2, word.text.flat)), len(rest))
        return launches([words[at], *rest[:own]], context, depth + 1)
    return launches([words[at], *rest[end + 1 :]], context, depth + 1)


_WINDOWS_SHELLS = frozenset(("cmd", "powershell", "pwsh"))


def _windows_shell(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """The launches of the command that a shell of Windows is given: `cmd /c TEXT`, `powershell -Command TEXT`."""
    from servelint.syntax import statements

    flags = ("-c", "-command", "/c", "/k")
    at = next((at for at, word in enumerate(words) if word.text.flat.lower() in flags), len(words))
    rest = words[at + 1 :]
    if len(rest) != 1:
        return launches(rest, context, depth + 1)
    inner = [one.words for one in statements.commands(rest[0].text, fish=False)]
    return [launch for command in inner for launch in launches(command, context, depth + 1)]


def _for_each_file(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """The launches of the commands that `find` runs: `find . -name x -exec vllm serve {} \\;`."""
    found: list[Launch] = []
    starts = [at for at, word in enumerate(words) if word.value in ("-exec", "-execdir", "-ok", "-okdir")]
    for start in starts:
        end = next((at for at in range(start + 1, len(words)) if words[at].value in (";", "+")), len(words))
        file = re.compile(r"\{\}")
        run = [Word(one.text.sub(file, one.text.unknown), one.site, one.many) for one in words[start + 1 : end]]
        found += launches(run, context, depth + 1) if run else []
    return found


_JOB = r"(?m)^[ \t]*(?:@\w+|(?:[\d*/,A-Za-z-]+[ \t]+){4}[\d*/,A-Za-z-]+)[ \t]+(\S[^\n]*)"
"""A line of a crontab."""


def scheduled(table: TracedText, context: CommandContext, depth: int) -> list[Launch]:
    """The launches of the commands of a crontab, which runs them without the variables of here."""
    inner = _no_file(context.with_(site=None, env={}, open_env=True))
    return [
        launch
        for line in re.finditer(_JOB, table.flat)
        for launch in script_launches(table.cut(*line.span(1)), inner, None, depth + 1)
    ]


def _python(words: list[Word], context: CommandContext) -> list[Launch]:
    """The launches of a Python program that a command line holds or names: `python -c TEXT`, `python - <<EOF`."""
    at = next((at for at, word in enumerate(words) if at and not re.match(r"-[^cm-]", word.text.flat)), len(words))
    named = words[at].value if at < len(words) else "-"
    text = words[at + 1].text if named == "-c" and at + 1 < len(words) else context.stdin if named == "-" else None
    if text is None and named is not None and named.endswith(".py") and context.open is not None:
        opened = context.open(words[at].text)  # a file that a ConfigMap or this script holds, or one beside it
        asks = opened is not None and (opened.own or _asks(opened.text, context.given))
        text = opened.text if opened is not None and asks else None
        if text is not None:
            context.ran.append(text)
    return of_file("-.py", text, context) if text is not None and entry.mentions(text.flat) else []


_CONFIGURED = {
    "supervisord": (
        "supervisord.conf",
        ("-c", "--configuration"),
        ("/etc/supervisord.conf", "/etc/supervisor/supervisord.conf"),
    ),
    "llama-swap": ("llama-swap.yaml", ("--config", "-config"), ("/app/config.yaml", "config.yaml")),
}
"""What starts the programs of a file: a name for the file, the options that name it, and where it is without one."""


def _configured(
    words: list[Word], context: CommandContext, name: str, options: tuple[str, ...], usual: tuple[str, ...]
) -> list[Launch]:
    """The launches of a file that a ConfigMap or this script holds: `supervisord -n -c FILE`, `llama-swap --config FILE`."""
    named = next((two.text for one, two in pairwise(words) if one.value in options), None)
    joined = next((word for word in words if word.text.flat.startswith(tuple([f"{option}=" for option in options]))), None)
    if joined is not None:
        named = joined.text.cut(joined.text.flat.index("=") + 1, len(joined.text.flat))
    for path in [named] if named is not None else [TracedText.of(path) for path in usual]:
        opened = context.open(path) if context.open is not None else None
        if opened is not None and opened.own and entry.mentions(opened.text.flat):
            context.ran.append(opened.text)
            return of_file(name, opened.text, context)
    return []


def of_file(name: str, text: TracedText, context: CommandContext) -> list[Launch]:
    """The launches of a file that a command runs, with the variables, the container and the releases of that command."""
    from servelint.readers import embedded

    environment = {key: one.value for key, one in context.env.items() if one.value is not None}
    found = embedded.of_written(name, text, context.source, environment)
    for launch in found:
        launch.env = {**context.env, **launch.env}
        launch.open_env = launch.open_env or context.open_env
        if launch.container is None and launch.release.how is None:
            launch.release = context.claims.get(launch.engine, launch.release)
        launch.container = launch.container or context.container
        launch.name = ".".join([one for one in (context.name, launch.name) if one])
    return found


def _asks(program: TracedText, names: frozenset[str]) -> bool:
    """Whether a Python program reads one of some variables. What it starts without them is found where it is read."""
    return any(re.search(rf"(?:getenv|environ)\b[^\n]{{0,9}}['\"]{name}['\"]", program.flat) is not None for name in names)


def _submitted(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """The command that a scheduler of jobs is given, as a text or as a script with its arguments."""
    env, given = dict(context.env), set(context.given)
    if any(one.value == "-b" and two.value in ("y", "yes") for one, two in pairwise(words)):
        return _wrapped(words, words[0].text.flat, context, depth)
    for at in range(1, len(words)):
        flat = words[at].text.flat
        if words[at - 1].value == "--wrap" or flat.startswith("--wrap="):
            text = words[at].text.cut(len("--wrap=") if flat.startswith("--wrap=") else 0)
            return script_launches(text, _no_file(context.with_(site=context.site, env=env)), None, depth + 1)
        if flat.startswith("--export=") or words[at - 1].value in ("-v", "--export"):
            for assigned in re.finditer(r"(?:^|[=,])([A-Za-z_]\w*)=([^,]*)", flat):
                given.add(assigned.group(1))
                env[assigned.group(1)] = Variable(assigned.group(1), words[at].text.cut(*assigned.span(2)), words[at].site)
        elif not flat.startswith("-"):
            inner = context.with_(site=context.site, env=env)
            inner.given = frozenset(given)
            if ran := script_file(words[at], words[at + 1 :], inner, depth):
                return ran
    if context.stdin is not None:
        return script_launches(context.stdin, _no_file(context.with_(site=context.site, env=env)), None, depth + 1)
    return []


def _image_of_step(words: list[Word], at: int) -> TracedText | None:
    """The image that `srun` starts a step in, as Pyxis reads it: `--container-image=[docker://][registry#]name:tag`."""
    name = "--container-image"
    flat = words[at].text.flat
    if flat.startswith(name + "="):
        return words[at].text.cut(len(name) + 1)
    return words[at + 1].text if flat == name and at + 1 < len(words) else None


def _tasks(words: list[Word]) -> int | None:
    """How many times `srun` starts a command: its tasks, else one on each node; None if the options do not say it."""
    flat = " ".join([word.value if word.value is not None else HOLE for word in words])
    given = [
        re.search(rf"\s(?:{short} ?|{long}[= ])(\d{{1,5}})(?=\s|$)", flat)
        for short, long in (("-n", "--ntasks"), ("-N", "--nodes"))
    ]
    known = [match for match in given if match is not None]
    return int(known[0][1]) if known else None


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


def _other_command(program: str, words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """What a command of an engine's program means that starts no server."""
    return _model_of_client(program, words, context) or _misnamed(words, context, depth)


def _model_of_client(program: str, words: list[Word], context: CommandContext) -> list[Launch]:
    """A fragment for the model that a client has the server load: `ollama pull MODEL`. `deployed.beside_server` keeps it."""
    engine = next((one for one in ENGINES.values() if one.model_commands and one.command[0] == program), None)
    if engine is None or len(words) < 3 or words[1].value not in engine.model_commands or words[2].value is None:
        return []
    if words[2].value.startswith("-") or words[2].many:
        return []
    launch = context.launch(engine.id, words[1:3], site_of(words, context))
    launch.name, launch.fragment, launch.launcher = words[1].value, True, next(iter(engine.launchers))
    launch.env, launch.container = {}, None
    return [launch]


def _launch(words: list[Word], start: int, found: entry.Entry, context: CommandContext) -> Launch:
    end = found.end
    while end > start + 1 and words[end - 1].many and not words[end - 1].text.flat:
        end -= 1  # an empty default behind the verb stands for an argument
    launch = context.launch(found.engine, words[end:], site_of(words[start:], context), tuple(words[start:end]))
    launch.launcher = entry.reader(found.engine, found.launcher, launch.argv, words[found.end - 1].text.flat)
    if found.old and launch.release.release is None:
        launch.release = ReleaseClaim(found.old, None, words[found.end - 1].text.span())
    return launch


def shell_launches(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """`bash -c SCRIPT NAME ARGS...`, `bash FILE ARGS...`, or a script on its standard input."""
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
                while at + 1 < len(words) and re.fullmatch(r"[-+][A-Za-z]+|--", words[at + 1].text.flat):
                    at += 1
                script = words[at + 1] if at + 1 < len(words) else None
                break
            at += 2 if flat.endswith("o") else 1
        elif flat.startswith("--"):
            at += 1
        else:
            break
    if script is not None:
        found = script_launches(script.text, _no_file(context), words[at + 2 :], depth + 1, stdin=context.stdin)
        if found or script.value is None or "$" in script.text.flat or at + 3 > len(words):
            return found
        return not_started("shell-arguments", script, words[at + 1 :], context, depth)
    if at < len(words):
        return script_file(words[at], words[at + 1 :], context, depth)
    return script_launches(context.stdin, _no_file(context), words[:1], depth + 1) if context.stdin is not None else []


_NO_ASSIGNMENTS = frozenset(("exec", "nohup", "setsid"))
"""What takes a program after it, and not an assignment."""
_SHELL_ONLY = frozenset((
    ".", "alias", "cd", "eval", "exec", "export", "pushd", "set", "shopt", "source", "trap", "ulimit", "umask", "unset",
))  # fmt: skip
"""What only a shell can do: no program of this name does it."""


def without_shell(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """The launches that a command would make in a shell, where none reads it and its first word is not a program."""
    first = words[0].value if words else None
    if first is None or not entry.mentions(" ".join([word.text.flat for word in words])):
        return []
    if re.search(r"\s", first.strip()) and not first.startswith(("/", "-")):
        return not_started("one-word", words[0], words, context, depth)
    if len(words) > 1 and (first in _SHELL_ONLY or re.match(_ASSIGNMENT, first)):
        return not_started("no-shell", words[0], words, context, depth)
    return []


def without_expansion(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """The launches that the author of a script means, whose shell takes a whole command line or an assignment for a program.

    Quotes keep a command line together (`"$CMD"`), and what an expansion yields is not an assignment (`C="A=1 vllm"; $C`).
    """
    at = 1 if words[0].value in _NO_ASSIGNMENTS and len(words) > 1 else 0
    first = words[at].value
    if first is None or len(first) > 4096:
        return []
    if re.match(_ASSIGNMENT, first) is not None:
        rest = [word for word in words[at:] if re.match(_ASSIGNMENT, word.text.flat) is None]
        known = rest and entry.find(rest) is not None
        return not_started("no-assignment", words[at], words[at:], context, depth) if known else []
    written = words[at].site
    # a text in quotes that stands alone in a code block of a document may be anything
    if re.search(r"\s", first.strip()) is None or written is None or not (at or "$" in written.text):
        return []
    inner = [word for word in split(words[at].text) if re.match(_ASSIGNMENT, word.text.flat) is None]
    return (
        not_started("quoted-command", words[at], words[at:], context, depth) if inner and entry.find(inner) is not None else []
    )


def _misnamed(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """The launch that is meant by a command that the engine's program does not have."""
    wrong = entry.misnamed(words)
    if wrong is None:
        return []
    at, verbs = wrong
    # a word that stands where a verb is left out is the model, or the next verb
    rest = words[at + 1 :] if words[at].value not in verbs and "/" not in words[at].text.flat else words[at:]
    rest = rest[1:] if rest and rest[0].value in verbs else rest
    found = not_started(
        "no-command", words[at], [words[0], *[Word(TracedText.of(verb)) for verb in verbs], *rest], context, depth
    )
    for launch in found:
        for mishap in launch.mishaps:
            mishap.other = " ".join([entry.program(words[0]) or "", *verbs])
    return found


def without_shell_text(text: TracedText, words: list[Word], context: CommandContext) -> list[Launch]:
    """The same for a text that no shell reads, and its words."""
    first = words[0].value if words else None
    if first is None or not (first in _SHELL_ONLY or re.match(_ASSIGNMENT, first)) or not entry.mentions(text.flat):
        return []
    return not_started("no-shell", words[0], text, context, 0)


def not_started(kind: str, at: Word, meant: list[Word] | TracedText, context: CommandContext, depth: int) -> list[Launch]:
    """The launches that a shell would make of some words or of a text, which nothing starts.

    Args:
        kind: Why not, as in `Mishap`.
        at: The word that is run instead.
        meant: What its author meant.
        context: What surrounds the command.
        depth: How many scripts and containers it is inside of.
    """
    from servelint.syntax.shell.recipe import joined

    text = meant if isinstance(meant, TracedText) else joined([word.text for word in meant], " ")
    span = at.site or context.site
    found = script_launches(text, _no_file(context), None, depth + 1)[:1] if span is not None else []
    for launch in found:
        if span is not None:
            launch.mishaps = [Mishap(kind, span, at.text.shown)]
        launch.fragment, launch.started = True, False
    return found


def script_file(path: Word, args: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """A shell script that a command runs: one written here, or one beside the file that is given arguments or variables.

    What a script beside the file starts without them is found where that script is read.
    """
    opened = context.open(path.text) if context.open is not None else None
    if opened is None:
        return []
    from servelint.syntax.shell.state import is_shell

    if not is_shell(path.text.flat, opened.text.flat):
        return []
    if not opened.own and all(word.many for word in args) and not _reads(opened.text, context.given):
        return []
    extent = opened.text.extent()
    file = extent.source.path if extent is not None and not opened.own else ""
    if file and (file in context.inside[:-1] or context.inside[-2:] == (file, file)):
        return []  # scripts that run each other in a circle: what is behind it has been seen
    folder = opened.path.rpartition("/")[0]
    opener = opened.files
    below = (lambda name: opener(f"{folder}/{name}")) if opener is not None else None
    # a script that is written here stands here
    here = opened.own and extent is not None and extent.source is context.source
    site = None if here else context.site or _within_command(span_of([path, *args]), context.anchor)
    context.ran.append(opened.text)
    inner = context.with_(site=site, env=context.env)
    inner.files, inner.stdin = below, None
    inner.inside = (*(context.inside or (context.source.path,)), file)
    found = script_launches(opened.text, inner, [path, *args], depth + 1, site)
    early = expanded_early(opened.text) if opened.own and found else []
    for launch in found:
        launch.mishaps = [*launch.mishaps, *early]
    return found


def _within_command(site: Span | None, command: Span | None) -> Span | None:
    """The place of some words, or the command's if a word is written elsewhere."""
    if site is None or command is None or site.source is not command.source:
        return site
    return site if command.start <= site.start and site.end <= command.end else command


def _reads(script: TracedText, names: frozenset[str]) -> bool:
    """Whether a script reads one of some variables, or calls another script that may."""
    if names and re.search(SCRIPT_CALLED, script.flat) is not None:
        return True
    return any(re.search(rf"\$\{{?{name}\b", script.flat) is not None for name in names)


_SET_HERE = (
    r"(?m)^[ \t]*(?:(?:export|declare|local|readonly)[ \t]+(?:-\w+[ \t]+)*)?{}="
    r"|\bread[ \t]+(?:-\w+[ \t]+)*{}\b|\bfor[ \t]+{}[ \t]+in\b"
)
_VARIABLE = r"\$\{?(\w+)\}?"


def expanded_early(text: TracedText) -> list[Mishap]:
    """Variables of a script that is written by another one, which replaces them although the script sets them itself.

    That is what an unquoted delimiter does: `cat > run.sh <<EOF`.
    """
    found: list[Mishap] = []
    for start, piece in zip(text.starts, text.pieces, strict=True):
        name = re.fullmatch(_VARIABLE, piece.expression or "")
        if name is None or piece.span is None or name.group(1).isdigit():
            continue
        if re.search(_SET_HERE.format(*[re.escape(name.group(1))] * 3), text.flat[:start]):
            found.append(Mishap("expanded-early", piece.span, piece.span.text))
    return found[:3]


def _no_file(context: CommandContext) -> CommandContext:
    """A place for a script that is not a file."""
    inner = context.with_(site=context.site, env=context.env)
    inner.files = None
    return inner


def _context_of(ran: Invocation, around: CommandContext, site: Span | None) -> CommandContext:
    """The context of a command that a script runs: with what the script has exported and installed before."""
    from servelint.readers import prepared

    env = dict(around.env)
    # in the order of the script: what is exported is a set, whose order is another in each process
    for name, value in sorted(ran.env.items(), key=lambda item: (_written_at(item[1]), item[0])):
        if name not in env or env[name].value is not value:
            env[name] = Variable(name, value, value.span() or ran.site)
    # what was installed here counts here, not in a container that is started from here
    found_here = {**around.claims, **prepared.by_runner(ran), **ran.installed}
    here = around.with_(site=site, env=env, claims=found_here, open_env=around.open_env or ran.open_env)
    here.anchor = ran.site if ran.site.source is around.source else around.anchor
    here.stdin = ran.stdin
    in_front = re.match(_IN_FRONT, ran.site.text)
    set_here = {name for name, value in ran.env.items() if around.env.get(name) is not env[name] and name != "PATH"}
    here.given = around.given.union(set_here, re.findall(_ASSIGNMENT, in_front.group()) if in_front is not None else ())
    return here


def script_launches(
    text: TracedText,
    context: CommandContext,
    args: list[Word] | None,
    depth: int = 0,
    site: Span | None = None,
    stdin: TracedText | None = None,
) -> list[Launch]:
    """The launches of a shell script, the first of each place first.

    Args:
        text: The script.
        context: What surrounds it.
        args: `$0` and what follows; None if not known.
        depth: How many scripts it is inside of.
        site: What stands for the commands of a script in another file.
        stdin: What the script reads from its standard input; None if that is not known.
    """
    from servelint.readers.alternatives import Alternatives
    from servelint.syntax.shell.branches import World
    from servelint.syntax.shell.evaluate import Budget, evaluate

    text = in_command(text)
    outside = context.open
    environment = {name: variable.value for name, variable in context.env.items() if variable.value is not None}
    found = Alternatives()
    called: set[str] = set()
    parsed: dict[Hashable, Script] = {}
    texts: dict[tuple[Span | None, str], tuple[str, TracedText]] = {}
    ready: list[dict[str, ReleaseClaim]] = []
    running: list[tuple[Launch, Invocation]] = []

    def wrote(path: TracedText, text: TracedText, before: TracedText | None) -> None:
        from servelint.readers import embedded

        if before is not None:
            texts.pop((before.extent(), path.flat), None)
        if not entry.mentions(text.flat) or not embedded.may_hold(path.flat.rpartition("/")[2], text.flat):
            return
        if len(texts) < bounds.WRITTEN.most:
            texts.setdefault((text.extent(), path.flat), (path.flat.rpartition("/")[2], text))
        else:
            bounds.WRITTEN.reached(path)

    def started(ran: Invocation, around: CommandContext, waiting: list[tuple[list[Word], Span]]) -> list[Launch]:
        here = _context_of(ran, around, site)
        here.open = lambda path: ran.open(path) or (outside(path) if outside is not None else None)
        new = launches(ran.words, here, depth)
        cut = ran.lost
        if not new and (before := _without_image(waiting, ran)) is not None:
            if len(before) > len(ran.words):
                cut = ran.site if ran.lost is None else ran.site.to(ran.lost)
                new = launches(before, here, depth)
            waiting[:] = [(before, ran.site)] if not new else []
        if not new:
            new = without_expansion(ran.words, here, depth)
        if not new and around is context and (entry.program(ran.words[0]) or "") not in _LISTENS_NOWHERE:
            context.others.append(entry.program(ran.words[0]))
        for launch in new:
            launch.likely = ran.likely and launch.likely
            launch.cut = launch.cut or cut
        if len(new) == 1 and around is context:
            together.add(running, new[0], ran)
        return new

    def walk(around: CommandContext, world: World | None, steps: Budget | None) -> list[TracedText]:
        from servelint.readers import prepared

        seen = found.started(world)
        waiting: list[tuple[list[Word], Span]] = []

        def on_command(ran: Invocation) -> dict[str, ReleaseClaim]:
            if world is None and ran.stdin is not None and _takes_manifest(ran.words):
                texts.setdefault((ran.stdin.extent(), "-"), ("-.yaml", ran.stdin))
            if len(found.first) > bounds.LAUNCHES.most:
                return {}  # the reading says so
            installed = prepared.by_command(ran, around.claims)
            if installed and world is None:
                ready.append(installed)
            if installed or ran.sourced or (world is not None and not found.concerns(ran)):
                return installed
            if (new := started(ran, around, waiting)) or not _never_starts(ran.words):
                seen(ran, new)
            return {}

        return evaluate(
            text,
            on_command,
            environment=environment,
            args=args,
            files=around.files,
            here=outside,
            budget=steps,
            unheard=UNHEARD,
            decisions=found.decisions if world is None else None,
            world=world,
            wrote=wrote if world is None else None,
            called=called,
            parsed=parsed,
            stdin=stdin,
        )

    budget, context.budget = context.budget, context.budget or Budget()
    scripts = walk(context, None, budget)
    if context.explores:
        around = context.with_(site=context.site, env=context.env)
        around.explores, around.budget = False, Budget()
        found.explore(lambda world: walk(around, world, None), context.source.path)
    unread = [
        script for script in scripts
        if not any(script is one for one in context.ran) and not bounds.SCRIPTS.passed(depth + 1, script)
    ]  # fmt: skip
    ran = [one.extent() for one in context.ran]
    files = [one for one in texts.values() if one[1].extent() not in ran]
    return _once(found.launches()) + (_written(files, unread, ready, context, depth) if files or unread else [])


_HANDED = r"\"?\$(?:[@*]|\{[@*]\})\"?"
"""The whole of a command that a function is given."""


def _once(found: list[Launch]) -> list[Launch]:
    """Launches without those of a command that a function runs again: `run() { "$@" || "$@"; }`."""
    seen: dict[object, int] = {}
    kept: list[Launch] = []
    for launch in found:
        site = launch.site
        if re.fullmatch(_HANDED, site.text) is not None:
            words = (*launch.verb, *launch.argv)
            key = (site.source.path, launch.engine, tuple([(word.text.span(), word.text.flat) for word in words]))
            if seen.setdefault(key, site.start) != site.start:
                continue
        kept.append(launch)
    return kept


def _written(
    files: list[tuple[str, TracedText]],
    scripts: list[TracedText],
    ready: list[dict[str, ReleaseClaim]],
    context: CommandContext,
    depth: int,
) -> list[Launch]:
    """The launches of the files that a script writes: units, manifests, and scripts that nothing here runs.

    ready: what the script installs, which may be before or after it writes them
    """
    from servelint.readers import embedded, prepared

    claims = prepared.for_later(ready)
    found: list[Launch] = []
    for name, text in files:
        for launch in embedded.of_written(name, text, context.source):
            if launch.container is None and launch.release.how is None:
                launch.release = claims.get(launch.engine, launch.release)
            found.append(launch)
    for script in scripts:
        # nothing here runs it: what does may set anything
        inside = CommandContext(context.source, context.name, claims=claims, open_env=True)
        written = script_launches(script, inside, None, depth + 1)
        early = expanded_early(script) if written else []
        for launch in written:
            launch.mishaps = [*launch.mishaps, *early]
        found += written
    return found


def _never_starts(words: list[Word]) -> bool:
    """Whether a command that starts no engine starts none with other values of what is not known in it.

    That is so of Python with a script or a module that is known, and of a tool whose words are all known or values of options.
    """
    name = entry.program(words[0])
    if name is None or entry.runs_another_script(words):
        return name is not None
    if name in _LISTENS_NOWHERE or name in _OTHERS:
        return True
    if name.endswith(".sh") or any(
        name in those for those in (WRAPPERS, TEXTS, SHELLS, _SUBMITTERS, containers.TOOLS, containers.CLOUDS)
    ):
        return False
    if any(word.many for word in words) or entry.mentions(" ".join([word.text.flat for word in words])):
        return False
    holes = [at for at, word in enumerate(words) if not word.text.known and re.search(_FILE, word.text.flat) is None]
    options = [words[at - 1].value or "" for at in holes]
    return all(one.startswith("-") and re.search(_GIVES_A_COMMAND, one) is None for one in options)


_FILE = r"/[\w.-]+\.\w+$"
"""A path whose file is known: `$DIR/score.json`."""
_GIVES_A_COMMAND = r"^-\w$|cmd|command|exec|run|script"
"""Options of a program that is not known which may be given a command."""


def _takes_manifest(words: list[Word]) -> bool:
    """Whether a command starts what its standard input says: `kubectl apply -f -`, `docker compose -f - up`."""
    from servelint.syntax.shell.commands import MANIFESTS

    shown = [word.text.flat for word in words]
    program = shown[0].rpartition("/")[2].partition(".")[0]
    given = any(one in ("-", "-f-") or one.startswith("<(") for one in shown)
    return program in MANIFESTS and given and {"delete", "down"}.isdisjoint(shown)


_IN_FRONT = r"(?:[A-Za-z_]\w*=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'])*(?:[ \t]|\\\n)+)+"
"""Assignments in front of a command, which only it gets."""
_BETWEEN = r"(?:\s|\\|#[^\n]*(?:\n|$))*"


def _without_image(waiting: list[tuple[list[Word], Span]], ran: Invocation) -> list[Word] | None:
    """The words of a `docker run` that ends before its image, with those of the commands that follow and look like its rest.

    A comment, a blank line or a blank behind the backslash ends it: the shell then takes the image for a program.

    Args:
        waiting: Such words of the commands before, and where the last of them stands; at most one item.
        ran: The command.

    Returns:
        None for a command outside of one.
    """
    words = [word for word in ran.words if not word.text.flat.isspace() or word.many]
    if waiting:
        before, site = waiting.pop()
        gap = site.source.text[site.end : ran.site.start] if ran.site.source is site.source else "-"
        head = words[0].text if words else None
        goes_on = head is not None and re.fullmatch(_BETWEEN, gap) is not None and not head.flat.startswith((".", "/"))
        if head is not None and goes_on and (head.flat.startswith("-") or containers.identified(head).engine is not None):
            return [*before, *words]
    tool = entry.program(words[0]) if words else None
    verb = containers.verb_of(words) if tool in containers.TOOLS else None
    if verb is None or verb[0] != "run":
        return None
    run = containers.parse(words[verb[1] :])
    return words if run.image is None and not run.open else None


def _written_at(text: TracedText) -> int:
    span = text.span()
    return span.start if span is not None else -1


SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ash", "ksh"))
_READS_INPUT = (
    rf"(?s)\A(?:(?:[\w./-]*/)?(?:env|sudo|exec|nohup)(?:\s+-\S+(?:\s+\w+)?)*\s|[A-Za-z_]\w*=\S*|{HOLE}|\s)*"
    rf"(?:[\w./-]*/)?(?:{'|'.join(sorted(SHELLS))})(?:\s+-(?!c\b)[a-z]*)*(?:\s+-[a-z]*s(?:\s.*)?|\s+-)?\s*\Z"
)
"""A command that hands its standard input to a shell: `bash`, `A=1 bash -s -- x`, `sudo sh -`."""
_SSH_WITH_VALUE = "BbcDEeFIiJLlmOopQRSWw"
_REMOTE = frozenset(("ssh", "autossh", "pdsh", "clush", "parallel-ssh", "pssh", "gcloud", "az", "at", "batch"))
_HERE = frozenset((
    "bsub", "byobu", "concurrently", "condor_run", "fish", "flock", "gnome-terminal", "jbsub", "konsole", "newgrp", "nix-shell",
    "nlprun", "oarsub", "parallel", "pm2", "screen", "script", "sg", "sky", "sops", "tmux", "watch", "xargs", "xterm",
))  # fmt: skip
"""Programs that run a command in the current folder."""
TEXTS = _REMOTE | _HERE | frozenset(("runuser", "sshpass", "su", "wsl", "wsl.exe"))
"""Programs whose words may hold a whole command."""
_TMUX_NAMES = r"-[A-Za-z]*[cefFLnsStxy]|--[\w-]*name"
_NAMES = {
    "byobu": _TMUX_NAMES,
    "gnome-terminal": r"-t|--title|--role|--profile|--working-directory",
    "screen": r"-[A-Za-z]*[cdDprRsStTx]",
    "tmux": _TMUX_NAMES,
    "xterm": r"-T|-title|-n|-name|-class",
}
"""Options of these programs before a name, which may be an engine's: `tmux new-session -s llama-server`."""
_SESSIONS = frozenset(("byobu", "screen", "tmux"))
_NO_COMMAND = re.compile(
    r"(?:attach|capture|detach|has|join|kill|list|link|move|rename|select|set|show|swap|switch|wait)(?:-[a-z-]+)?|ls|a"
)
"""Commands of tmux that start no program."""


def _starts_no_program(words: list[Word]) -> bool:
    """Whether tmux only looks for a session, names it or ends it."""
    commands, value = [], False
    for word in words[1:]:
        if not value and not word.text.flat.startswith("-"):
            commands.append(word.text.flat)
            break
        value = re.fullmatch(_TMUX_NAMES, word.text.flat) is not None
    return bool(commands) and _NO_COMMAND.fullmatch(commands[0]) is not None and all(one.text.flat != ";" for one in words)


def text_launches(words: list[Word], context: CommandContext, depth: int) -> list[Launch]:
    """The launches of the commands that such a program is given, as one text or as its last words."""
    from servelint.syntax.shell.recipe import joined

    name = words[0].text.flat.rpartition("/")[2]
    env = {} if name in _REMOTE else context.env
    inner = context.with_(site=None, env=env, open_env=True)
    if name not in _HERE:
        inner.open = inner.files = None
    if name == "sshpass":
        at = next((at for at, word in enumerate(words) if word.value in ("ssh", "scp")), None)
        return text_launches(words[at:], context, depth) if at is not None and words[at].value == "ssh" else []
    if name in ("ssh", "autossh"):
        command = joined([word.text for word in _after_host(words)], " ")
        if words[1:] and words[1].text.flat == HOLE and re.search(_READS_INPUT, command.flat) is None:
            behind = joined([word.text for word in _after_host(words[1:])], " ")  # `ssh $OPTIONS HOST bash -s`
            command = behind if behind.flat and re.search(_READS_INPUT, behind.flat) is not None else command
        if command.flat and re.search(_READS_INPUT, command.flat) is None:
            return script_launches(command, inner, None, depth + 1, stdin=context.stdin)
        return script_launches(context.stdin, inner, None, depth + 1) if context.stdin is not None else []
    if name in _SESSIONS and _starts_no_program(words):
        return []
    found: list[Launch] = []
    words, more = _completed(words, name) if name in ("parallel", "xargs") else (words, [])
    for at in range(1, len(words)):
        word = words[at]
        if name in _NAMES and at > 1 and re.fullmatch(_NAMES[name], words[at - 1].text.flat) is not None:
            continue
        if re.search(r"\s", word.text.flat):
            option = re.match(r"--[\w-]+=", word.text.flat)
            text = word.text.cut(option.end() if option is not None else 0)
            found += script_launches(text, inner, None, depth + 1, stdin=context.stdin)
        elif not word.text.flat.startswith("-") and (at > 1 or name in ("parallel", "screen", "watch", "xargs")):
            rest = launches([*words[at:], *more], inner, depth + 1)
            if rest:
                return [*found, *rest]
    if not found and context.stdin is not None and name in ("at", "batch", "newgrp", "wsl", "su"):
        return script_launches(context.stdin, inner, None, depth + 1)
    return found


_SOURCE = r":{3,4}\+?"
_READ = r"\{(?:\d+)?(?:\.|//?|/\.|#|%)?\}|\{=.*?=\}"
"""What `parallel` replaces."""


def _completed(words: list[Word], name: str) -> tuple[list[Word], list[Word]]:
    """The words of `parallel` and `xargs`, unknown where something that they read stands, and what they add to a command."""
    pattern = re.compile(_READ if name == "parallel" else r"(?!)")
    end = len(words)
    for at, word in enumerate(words):
        flag = re.fullmatch(r"-(?:[a-zA-Z0-9]*[IiJ]|-replace=?)(.*)", word.text.flat) if name == "xargs" else None
        if flag is not None:
            apart = word.text.flat[-1] in "IJ" and at + 1 < end
            pattern = re.compile(re.escape((words[at + 1].text.flat if apart else flag[1]) or "{}"))
            break
        if name == "parallel" and re.fullmatch(_SOURCE, word.text.flat):
            end = at
            break
    texts = [word.text.sub(pattern, word.text.unknown) for word in words[:end]]
    found = [Word(text, word.site, word.many) for word, text in zip(words, texts, strict=False)]
    same = all(text is word.text for word, text in zip(words, texts, strict=False))
    return found, [Word(TracedText((unknown("...", None, ""),)), None, many=True)] if same else []


def _after_host(words: list[Word]) -> list[Word]:
    """The command of `ssh [options] HOST COMMAND...`, which the other side's shell reads as one text."""
    at = 1
    while at < len(words) and words[at].text.flat.startswith("-"):
        flat = words[at].text.flat
        at += 2 if flat[-1] in _SSH_WITH_VALUE and len(flat) == 2 else 1
    rest = words[at + 1 :]
    return rest[1:] if rest and rest[0].value == "--" else rest
