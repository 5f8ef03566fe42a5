"""What a reader finds: a launch, its words, its environment and its container.

Plain slotted classes, not dataclasses: importing dataclasses costs a third of the whole start-up of a check.
"""

from __future__ import annotations

from servelint.core.source import Source, Span
from servelint.core.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Open = Callable[[str], "Source | None"]


class Word:
    """One element of an argv.

    text:  its value, quotes removed, with the place of each character
    site:  the word as it stands in the command, quotes included
    many:  an unquoted expansion of unknown value, which may yield no word, one, or several; one without text is a default that
           is empty, which yields none unless the environment gives it
    """

    __slots__ = ("many", "site", "text")

    def __init__(self, text: Text, site: Span | None = None, many: bool = False) -> None:
        self.text = text
        self.site = site if site is not None else text.span()
        self.many = many

    def __repr__(self) -> str:
        return f"Word({self.text.shown!r}{', many' if self.many else ''})"

    @property
    def shown(self) -> str:
        return self.text.shown

    @property
    def value(self) -> str | None:
        return self.text.value

    def after(self, start: int) -> Word:
        """The word without its first characters."""
        return Word(self.text.cut(start), self.site)


class Variable:
    """An environment variable of a launch. value None: passed through from an environment that no file shows."""

    __slots__ = ("name", "site", "value")

    def __init__(self, name: str, value: Text | None, site: Span | None) -> None:
        self.name = name
        self.value = value
        self.site = site

    def __repr__(self) -> str:
        return f"Variable({self.name}={self.value.shown if self.value else None!r})"


class ReleaseClaim:
    """What a file says of an engine's release.

    release: "0.27.1", or None if it is not said
    rolling: the newest release at the time of the pull (`latest`, `nightly`)
    how:     "image", "pip" or "settings"; None if nothing was said
    """

    __slots__ = ("how", "release", "rolling", "span")

    def __init__(
        self, release: str | None = None, how: str | None = None, span: Span | None = None, rolling: bool = False
    ) -> None:
        self.release = release
        self.how = how
        self.span = span
        self.rolling = rolling

    def __repr__(self) -> str:
        return f"ReleaseClaim({self.release!r}, {self.how!r}, rolling={self.rolling})"


class Port:
    """A port of a container that is published on its host, or that a pod declares.

    number:  in the container; None if it is not known;  host: on the host, None likewise or if the runtime takes one
    exposed: whether every interface of the host has it
    """

    __slots__ = ("exposed", "host", "number", "text")

    def __init__(self, text: Text, number: int | None, host: int | None = None, exposed: bool | None = None) -> None:
        self.text = text
        self.number = number
        self.host = host
        self.exposed = exposed

    def __repr__(self) -> str:
        return f"Port({self.number}, host={self.host}, exposed={self.exposed})"


class Probe:
    """How a runtime asks whether what a container runs is well.

    kind:     "healthcheck", "startupProbe", "livenessProbe" or "readinessProbe"
    patience: seconds from the start until it has given up on what does not answer; None if that is not known
    port:     the port of this container that it asks;  site: where that stands
    gates:  another service starts only when it is content;  text: what it says of its patience, else its name
    """

    __slots__ = ("gates", "kind", "patience", "port", "site", "text")

    def __init__(
        self,
        kind: str,
        text: Text,
        patience: float | None = None,
        port: int | None = None,
        site: Text | None = None,
        gates: bool = False,
    ) -> None:
        self.kind = kind
        self.text = text
        self.patience = patience
        self.port = port
        self.site = site
        self.gates = gates

    def __repr__(self) -> str:
        return f"Probe({self.kind}, patience={self.patience}, port={self.port}, gates={self.gates})"


class Hosting:
    """How a container is run: what its runtime publishes of it, mounts into it and asks of it.

    ports, mounts: None if they are not all known; mounts are the paths in the container
    probes:   those that are known
    network:  the network as written, where it is given
    private:  nobody else shares its loopback interface; None if that is not known
    restart:  what is done when it ends, as written
    declared: the ports are only declared (a pod), not published on a host
    direct:   the container's program is the engine, not a script that may start others as well
    """

    __slots__ = ("declared", "direct", "mounts", "network", "ports", "private", "probes", "restart")

    def __init__(
        self,
        *,
        ports: list[Port] | None = None,
        mounts: list[Text] | None = None,
        probes: list[Probe] | None = None,
        network: Text | None = None,
        private: bool | None = None,
        restart: Text | None = None,
        declared: bool = False,
        direct: bool = False,
    ) -> None:
        self.ports = ports
        self.mounts = mounts
        self.probes = probes or []
        self.network = network
        self.private = private
        self.restart = restart
        self.declared = declared
        self.direct = direct


class Container:
    """The container that a launch runs in.

    settings: ipc, shm_size, runtime, privileged as written, where given; gpu_request and gpu_limit of a pod's container
    gpus:     how many GPUs are reserved; None if all, or if it is not known
    reserved: whether any GPU is reserved; None if it is not known
    open:     more settings may be given where it is run (an image that a Dockerfile makes)
    hosting:  how it is run; None if that is not all known
    """

    __slots__ = ("gpus", "hosting", "image", "open", "reserved", "settings")

    def __init__(
        self,
        image: Text | None = None,
        settings: dict[str, Text] | None = None,
        gpus: int | None = None,
        reserved: bool | None = None,
        open: bool = False,
        hosting: Hosting | None = None,
    ) -> None:
        self.open = open
        self.image = image
        self.settings = settings or {}
        self.gpus = gpus
        self.reserved = reserved
        self.hosting = hosting

    @property
    def visible_gpus(self) -> int | None:
        """How many GPUs its processes see; None if that is not known: a privileged container has every device of its host."""
        privileged = self.settings.get("privileged")
        return self.gpus if privileged is None or privileged.value == "false" else None


class OpenedFile:
    """A file that a launch or a script names.

    Attributes:
        text: Its content.
        path: Where it is, below the folder that `files` opens files of.
        own: Whether the launch's own file provides it: a script wrote it, a Dockerfile copied it, a manifest mounts it.
        files: Opens the files beside it; None where they are not known.
    """

    __slots__ = ("files", "own", "path", "text")

    def __init__(self, text: Text, path: str, own: bool, files: Open | None) -> None:
        self.text = text
        self.path = path
        self.own = own
        self.files = files


class Launch:
    """One start of one engine.

    engine:    engine id: vllm, sglang, llama.cpp, trtllm, lmdeploy, tgi
    argv:      the words after the engine's verb, a positional model first
    verb:      the words that start it (`vllm serve`); empty when the image's own entry point does
    name:      where in the file: "services.llm"
    site:      the characters that make the launch, for its first and last line
    open_env:  whether a file that could not be read, or a sourced script, may set more variables than env has
    likely:    a plain run of its script comes to it; False in a branch that only other settings take
    folder:    where the files that it names are looked for; None if they are not here (in a container, on another machine)
    gpu, gpu_count: the GPUs that it runs on, where a comment or the user says it and the file's own settings do not
    gpu_site:  the comment that names its GPU, if one does
    open:      the file that a word of it names, where that is known (`--config FILE`)
    fragment:  a part of a launch (a speculative-config file), not a start on its own
    owner:     the file whose launch it is, where another that changes it was read (the base of a compose override)
    cut:       words that look like the command's and never reach the engine: the line before them does not go on
    """

    __slots__ = (
        "argv", "container", "cut", "engine", "env", "folder", "fragment", "gpu", "gpu_count", "gpu_site", "likely", "name",
        "open", "open_env", "owner", "release", "site", "source", "verb",
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
        self.open: Callable[[Text], OpenedFile | None] | None = None
        self.owner: Source | None = None
        self.fragment = fragment
        self.cut: Span | None = None

    def __repr__(self) -> str:
        return f"Launch({self.engine} {[word.shown for word in self.argv]})"

    @property
    def line(self) -> int:
        return self.site.line

    @property
    def end_line(self) -> int:
        return self.site.end_line

    @property
    def image(self) -> Text | None:
        return self.container.image if self.container else None
