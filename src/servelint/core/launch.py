"""What readers find: a launch, its words, its environment and its container.

Plain slotted classes, not dataclasses: to import dataclasses takes a third of the start-up of a whole check.
"""

from __future__ import annotations

from servelint.core.source import Source, Span
from servelint.core.text import HOLE, TracedText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.judged import Judged

    Open = Callable[[str], "Source | None"]


class Word:
    """One element of an argv.

    Attributes:
        text: Its value without quotes, with the place of each character.
        site: The word as the command writes it, with quotes.
        many: Whether it is an unquoted expansion that may yield no word, one, or several. One without text is an empty default,
            which yields no word unless the environment gives it a value.
    """

    __slots__ = ("many", "site", "text")

    def __init__(self, text: TracedText, site: Span | None = None, many: bool = False) -> None:
        self.text = text
        self.site = site if site is not None else text.span()
        self.many = many

    def __repr__(self) -> str:
        return f"Word({self.text.shown!r}{', many' if self.many else ''})"

    @property
    def shown(self) -> str:
        """The word as listings print it."""
        return self.text.shown

    @property
    def value(self) -> str | None:
        """Its value; None if a part of it is unknown."""
        flat = self.text.flat
        return None if HOLE in flat else flat

    def after(self, start: int) -> Word:
        """The word without its first characters."""
        return Word(self.text.cut(start), self.site)


class Variable:
    """An environment variable of a launch. A value of None: it is passed through from an environment that no file shows."""

    __slots__ = ("name", "site", "value")

    def __init__(self, name: str, value: TracedText | None, site: Span | None) -> None:
        self.name = name
        self.value = value
        self.site = site

    def __repr__(self) -> str:
        return f"Variable({self.name}={self.value.shown if self.value else None!r})"


PATCHED = "+patched"
"""The build of a release that a file patches, behind the release."""


class ReleaseClaim:
    """What a file says of an engine's release.

    Attributes:
        release: Such as "0.27.1"; None if the file does not say it.
        how: "image", "pip" or "settings"; "source" where a source tree lies around the file; None without a claim.
        span: Where the claim stands.
        rolling: Whether it is the newest release at the time of the pull (`latest`, `nightly`).
        build: What the tag or the version has behind the release, where no published build of it has that: a fork's name.
        assumed: Whether only the project's requirements say it, so that settings which name a release count before it.
    """

    __slots__ = ("assumed", "build", "how", "release", "rolling", "span")

    def __init__(
        self,
        release: str | None = None,
        how: str | None = None,
        span: Span | None = None,
        rolling: bool = False,
        build: str = "",
        assumed: bool = False,
    ) -> None:
        self.assumed = assumed
        self.release = release
        self.how = how
        self.span = span
        self.rolling = rolling
        self.build = build

    def __repr__(self) -> str:
        return f"ReleaseClaim({self.release!r}, {self.how!r}, rolling={self.rolling})"


class Port:
    """A port of a container that is published on its host, or that a pod declares.

    Attributes:
        text: As written.
        number: The port in the container; None if it is not known.
        host: The port on the host; None if it is not known or the runtime chooses it.
        exposed: Whether every interface of the host has it; None if that is not known.
    """

    __slots__ = ("exposed", "host", "number", "text")

    def __init__(self, text: TracedText, number: int | None, host: int | None = None, exposed: bool | None = None) -> None:
        self.text = text
        self.number = number
        self.host = host
        self.exposed = exposed

    def __repr__(self) -> str:
        return f"Port({self.number}, host={self.host}, exposed={self.exposed})"


class Probe:
    """A health check: how a runtime asks whether a container works.

    Attributes:
        kind: "healthcheck", "startupProbe", "livenessProbe" or "readinessProbe".
        text: What sets its patience; else its name.
        patience: Seconds from the start until the runtime gives up on a container that does not answer; None if not known.
        port: The container's port that it asks.
        site: Where that port is written.
        gates: Whether another service starts only after it succeeds.
        outside: Whether the address of the container is asked, not its loopback interface.
        path: The path that it asks, where an answer of 404 fails it.
        program: The program in the container that asks, where the check fails without it.
        scheme: The scheme as written; None for HTTP, or if none is asked by.
        keyed: Whether it may send a key.
    """

    __slots__ = ("gates", "keyed", "kind", "outside", "path", "patience", "port", "program", "scheme", "site", "text")

    def __init__(
        self,
        kind: str,
        text: TracedText,
        patience: float | None = None,
        port: int | None = None,
        site: TracedText | None = None,
        gates: bool = False,
        outside: bool = False,
        path: TracedText | None = None,
        program: TracedText | None = None,
        scheme: TracedText | None = None,
        keyed: bool = True,
    ) -> None:
        self.keyed = keyed
        self.scheme = scheme
        self.outside = outside
        self.path = path
        self.program = program
        self.kind = kind
        self.text = text
        self.patience = patience
        self.port = port
        self.site = site
        self.gates = gates

    def __repr__(self) -> str:
        return f"Probe({self.kind}, patience={self.patience}, port={self.port}, gates={self.gates})"


class Runtime:
    """How a container is run: its ports, mounts, network, health checks and restarts.

    Attributes:
        ports: Published or declared ports; None if they are not all known.
        mounts: Paths in the container that are mounted; None if they are not all known.
        probes: The health checks that are known.
        network: The network as written.
        private: Whether no other container shares its loopback interface; None if that is not known.
        restart: The restart policy as written.
        declared: Whether the ports are only declared (a pod), not published on a host.
        direct: Whether the container's program is the engine, not a script that may start other programs as well.
        checked: Whether Docker runs the health check of the image, which nothing replaces or switches off.
        script: Whether a script in the container starts the engine, which may make or download files before.
        called: The ports in the addresses by which other containers of its network call it.
        services: What sends it requests from outside: the ports that each Service of Kubernetes asks.
    """

    __slots__ = (
        "called", "checked", "declared", "direct", "mounts", "network", "ports", "private", "probes", "restart", "script",
        "services",
    )  # fmt: skip

    def __init__(
        self,
        *,
        ports: list[Port] | None = None,
        mounts: list[TracedText] | None = None,
        probes: list[Probe] | None = None,
        network: TracedText | None = None,
        private: bool | None = None,
        restart: TracedText | None = None,
        declared: bool = False,
        direct: bool = False,
        called: list[TracedText] | None = None,
        checked: bool = False,
    ) -> None:
        self.checked = checked
        self.called = called or []
        self.ports = ports
        self.mounts = mounts
        self.probes = probes or []
        self.network = network
        self.private = private
        self.restart = restart
        self.declared = declared
        self.direct = direct
        self.script = False
        self.services: list[list[Probe]] = []


NO_GPUS = ("none", "void")
"""Values of NVIDIA_VISIBLE_DEVICES with which NVIDIA's runtime gives a container no GPU; an empty one does so too."""


class Container:
    """The container that a launch runs in.

    Attributes:
        image: The image as written.
        settings: ipc, shm_size, runtime, privileged and user as written; gpu_request and gpu_limit of a pod's container.
            `build` is the image that a build takes the engine from, no text if that is not known.
        gpus: How many GPUs are reserved; None for all of them, or if that is not known.
        reserved: Whether any GPU is reserved; None if that is not known.
        open: Whether more settings may be given where it is run (an image that a Dockerfile builds).
        runtime: How it is run; None if that is not all known.
    """

    __slots__ = ("gpus", "image", "open", "reserved", "runtime", "settings")

    def __init__(
        self,
        image: TracedText | None = None,
        settings: dict[str, TracedText] | None = None,
        gpus: int | None = None,
        reserved: bool | None = None,
        open: bool = False,
        runtime: Runtime | None = None,
    ) -> None:
        self.open = open
        self.image = image
        self.settings = settings or {}
        self.gpus = gpus
        self.reserved = reserved
        self.runtime = runtime

    @property
    def visible_gpus(self) -> int | None:
        """How many GPUs its processes see; None if not known. A privileged container sees every device of its host."""
        privileged = self.settings.get("privileged")
        return self.gpus if privileged is None or privileged.value == "false" else None


class Nodes:
    """The pods or services that run one engine together, or that may: the nodes of a launch.

    Attributes:
        kind: What starts them: "LeaderWorkerSet", "StatefulSet"; "" where it is only known that they stand in one file.
        size: How many there are; None if that is not known.
        site: Where the size is written.
        gpus: The GPUs of all of them; None if that is not known.
        parts: Each launch with the number of nodes that run it (None if not known), the leader's first.
    """

    __slots__ = ("gpus", "kind", "parts", "site", "size")

    def __init__(
        self,
        kind: str,
        parts: list[tuple[Launch, int | None]],
        size: int | None = None,
        site: Span | None = None,
        gpus: int | None = None,
    ) -> None:
        self.kind = kind
        self.size = size
        self.site = site
        self.gpus = gpus
        self.parts = parts


def join(launches: list[Launch]) -> None:
    """Tell launches that stand in one file, and that no object starts together, of each other."""
    apart = [
        one for one in launches if one.nodes is None and one.likely and any("nnodes" in word.text.flat for word in one.argv)
    ]
    if len(apart) > 1:
        nodes = Nodes("", [(launch, 1) for launch in apart])
        for launch in apart:
            launch.nodes = nodes


_OF_ROLES = ("disaggregation", "kv-transfer-config", "kv_transfer_config", "kv_connector", "server_role")
"""Words of the options that give a launch one of the roles: to prefill or to decode."""
_ROLES = ("prefill", "decode")


def pair(launches: list[Launch]) -> None:
    """Tell launches of one file that have a role, to prefill or to decode, of each other."""
    apart = [
        one
        for one in launches
        if any(part in one.name.lower() for part in _ROLES)
        or any(part in word.text.flat for word in one.argv for part in _OF_ROLES)
    ]
    for launch in apart:
        launch.beside = tuple([one for one in apart if one is not launch and one.engine == launch.engine])


class OpenedFile:
    """A file that a launch or a script names.

    Attributes:
        text: Its content.
        path: Where it is, below the folder that `files` opens files of.
        own: Whether the launch's own file provides it: a script wrote it, a Dockerfile copied it, a manifest mounts it.
        files: Opens the files beside it; None where they are not known.
    """

    __slots__ = ("files", "own", "path", "text")

    def __init__(self, text: TracedText, path: str, own: bool, files: Open | None) -> None:
        self.text = text
        self.path = path
        self.own = own
        self.files = files


class Mishap:
    """Something that happens to a command and that its author did not mean.

    Attributes:
        kind: "shell-arguments": a shell runs its first argument alone, and the engine is started in the others.
            "no-shell": words that only a shell understands are started as a program.
            "no-program": options of the engine are started as a program, as the image does not start the engine itself.
            "replaced": the same, as they stand where the entrypoint is replaced.
            "not-a-string": a number or a boolean stands where Kubernetes takes only strings.
            "no-capabilities", "count-and-ids": a reserved device that compose refuses.
            "no-server": a client of the engine is started where no server can answer it.
            "behind-entrypoint": a shell is given to an entrypoint that is the engine's program.
            "named-twice": the entrypoint is given its own name for a command.
            "no-command": the engine's program has no command of this name.
            "one-word": a whole command line is taken for the name of a program.
            "quoted-command": the same in a script, where quotes keep it together.
            "no-assignment": a variable is assigned where a shell or a program takes no assignment.
            "block-closed": a parenthesis in a command of a batch file ends the block around it, and the script with it.
            "not-json": a list of words is not JSON, and is given to a shell as it stands.
            "shell-form": options of the engine are not a list, and are given to its entrypoint as a script of a shell.
        "dropped": the end of a command string never reaches the container.
            "expanded-early": a variable in a script is replaced when the script is written.
            "not-run": a script is written that nothing runs.
            Other kinds are in judge/container/mishaps.json: what Kubernetes or compose refuses around the command.
        span: The characters.
        shown: What is run, dropped or replaced.
        other: What it does not agree with, or what is right.
    """

    __slots__ = ("kind", "other", "shown", "span")

    def __init__(self, kind: str, span: Span, shown: str, other: str = "") -> None:
        self.kind = kind
        self.other = other
        self.span = span
        self.shown = shown

    def __repr__(self) -> str:
        return f"Mishap({self.kind!r}, {self.shown!r})"


class Branch:
    """An undecided condition of a script, and its outcome.

    Attributes:
        span: Its characters.
        taken: Whether it holds.
        assumed: Whether a default decides it in a plain run.
        chosen: Whether it stands in the command itself, around the options that it adds (`${X:+--option}`): who sets it has
            chosen these.
    """

    __slots__ = ("assumed", "chosen", "span", "taken")

    def __init__(self, span: Span, taken: bool, assumed: bool = False, *, chosen: bool = False) -> None:
        self.span = span
        self.taken = taken
        self.assumed = assumed
        self.chosen = chosen

    def __repr__(self) -> str:
        return f"Branch({self.span.text!r}, {self.taken})"


class _Cached:
    """What the key of a weak dictionary can be; the fields of a launch are those of its own class."""

    __slots__ = ("__weakref__",)


class Launch(_Cached):
    """One start of one engine.

    Attributes:
        source: The file.
        engine: The engine's id.
        argv: The words after the engine's verb, a positional model first.
        verb: The words that start the engine (`vllm serve`); empty when the image's entry point does.
        env: The environment that the file sets.
        name: Where in the file, such as "services.llm".
        site: The characters of the launch, for its first and last line.
        release: What the file says of the engine's release.
        container: The container; None if the launch runs in none that the file shows.
        open_env: Whether a sourced script, or a file that could not be read, may set more variables.
        likely: Whether a plain run of its script gets there; False in a branch that only other settings take.
        folder: Where the files that it names are; None if not on this machine (in a container, elsewhere).
        gpu, gpu_count: The GPUs, where a comment or the settings name them and the file does not.
        gpu_site: The comment that names the GPU.
        open: Opens a file that one of its words names (`--config FILE`).
        models: Path -> text of the files that the settings describe models with, as `acme/M-8B/config.json`.
        unsure: What its release's parser would refuse, and a build of another publisher may take.
        fragment: Whether it is a part of a launch (a speculative-config file), not a start of its own.
        judged: How far it was judged; None before it is.
        owner: The file whose launch it is, where another file that changes it was read (the base of a compose override).
        launcher: The name of the engine's record of the program that starts it, with options of its own beside the engine's; ""
            for the engine's own server.
        secrets: Keys and values beside the launch that are secrets by the key's name: `hf_token` in the values of a chart.
        mishaps: What its author did not mean: words that do not reach the engine as they are written.
        started: Whether anything starts it. One that nothing starts is a fragment, and has a mishap that says why.
        elsewhere: Paths of Helm values that the chart's own file does not hold -> who gives them, as a sentence.
        cut: Words that look like the command's but never reach the engine: the line before them is not continued.
        nodes: What runs it together with other launches; None if nothing does.
        beside: The other launches of its file that may prefill for it or decode after it.
        meanwhile: The launches before it that run while it does and may take its port: in its pod, of its compose project, in
            the background of its script.
        others: The alternatives that are known.
        later: Finds the alternatives when they are asked for; None if they are known.
        branches: Those outcomes, of an alternative.
    """

    __slots__ = (
        "argv", "beside", "branches", "container", "cut", "elsewhere", "engine", "env", "folder", "fragment", "gpu",
        "gpu_count", "gpu_site", "judged", "later", "launcher", "likely", "meanwhile", "mishaps", "models", "name", "nodes",
        "open", "open_env", "others", "owner", "release", "secrets", "site", "source", "started", "unsure", "verb",
    )  # fmt: skip

    def __init__(
        self,
        *,
        source: Source,
        engine: str,
        argv: list[Word],
        site: Span,
        verb: tuple[Word, ...] = (),
        env: dict[str, Variable] | None = None,
        name: str = "",
        release: ReleaseClaim | None = None,
        container: Container | None = None,
        open_env: bool = False,
        fragment: bool = False,
    ) -> None:
        self.source = source
        self.engine = engine
        self.argv = argv
        self.verb = verb
        self.env = env or {}
        self.name = name
        self.site = site
        self.release = release or ReleaseClaim()
        self.container = container
        self.open_env = open_env
        self.likely = True
        self.folder: str | None = None
        self.gpu: str | None = None
        self.gpu_count: int | None = None
        self.gpu_site: Span | None = None
        self.open: Callable[[TracedText], OpenedFile | None] | None = None
        self.models: dict[str, str] = {}
        self.owner: Source | None = None
        self.fragment = fragment
        self.judged: Judged | None = None
        self.launcher = ""
        self.mishaps: list[Mishap] = []
        self.started = True
        self.secrets: tuple[tuple[str, TracedText], ...] = ()
        self.elsewhere: dict[str, str] = {}
        self.unsure: list[Span] = []
        self.cut: Span | None = None
        self.nodes: Nodes | None = None
        self.beside: tuple[Launch, ...] = ()
        self.meanwhile: tuple[Launch, ...] = ()
        self.others: list[Launch] = []
        self.later: Callable[[], None] | None = None
        self.branches: tuple[Branch, ...] = ()

    def __repr__(self) -> str:
        return f"Launch({self.engine} {[word.shown for word in self.argv]})"

    @property
    def alternatives(self) -> list[Launch]:
        """The launch as it is where undecided conditions of its script have another outcome."""
        later, self.later = self.later, None
        if later is not None:
            later()
            for one in self.others:
                one.models = self.models
        return self.others

    @property
    def every(self) -> list[Launch]:
        """The launch and its alternatives, as far as they are known."""
        return [self, *self.others]

    @property
    def line(self) -> int:
        """The first line."""
        return self.site.line

    @property
    def end_line(self) -> int:
        """The last line."""
        return self.site.end_line

    @property
    def image(self) -> TracedText | None:
        """The image of its container."""
        return self.container.image if self.container else None


def difference(launch: Launch, other: Launch) -> tuple[list[int], list[Word]]:
    """The indexes of the words that an alternative of a launch lacks, and the words that it adds."""
    from difflib import SequenceMatcher

    ours, theirs = ([(word.shown, word.many) for word in one.argv] for one in (launch, other))
    gone: list[int] = []
    added: list[Word] = []
    for tag, low, high, start, end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            gone += range(low, high)
            added += other.argv[start:end]
    return gone, added
