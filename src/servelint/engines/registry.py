"""The engines: the class of their records, the records themselves, and a cache for what is made from all of them.

A record (`Engine`) holds what tells one engine from the others. The rest of servelint asks the record; no other module names an
engine, except those that belong to one engine alone. Records are plain data: all of them are loaded at start-up, so that they
compile and import nothing. Code that belongs to an engine stands in modules beside its record, which are imported when they are
first asked for (`Engine.part`).

To add an engine, write its record in a module of this package and name the module in `_MODULES`. Its catalog, if it has one, is
`data/<id>.json`. `python tools/formats.py` writes the schemas; tests list the engines too (CONTRIBUTING.md, "Add an engine").
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from servelint.core.data import data_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

_MODULES = ("vllm", "sglang", "llamacpp", "trtllm", "lmdeploy", "tgi", "ollama")
"""Modules of servelint.engines with a record, in the order in which engines are listed and tried."""


TRITON = (
    r"\btritonserver(?=[\s\"',\\]+--?(?:model|backend|log|grpc|http|exit|disable|strict)[\w-]*[\s=\"',])"
    r"|[\w./-]*\blaunch_triton_server\.py"
)
"""Pattern of what starts Triton, whose model repository says which engine runs a model, with which settings."""


class Launcher:
    """A program that starts an engine and reads the engine's options beside options of its own.

    Attributes:
        source: where its options stand.
        own: its own options, without dashes in front and with dashes inside.
        switches: those of them that take no value.
        lists: those of them that take several values.
        same: its own option -> the engine's option that it sets.
        chooses: its own option that names the engine, and the values with which it starts this one; "" for no such option.
        others: pattern of `option=value` with which it serves a model without the engine, where that option is not given.
        marks: options of its own, or values of options (`name=value`), one of which makes the engine's program hand over to it.
        lacks: options of the engine's server that it refuses.
        fork: whether only images of other publishers hold it.
        verb: the last word of the commands that hand over; "" for all commands.
        ignores: whether it passes over what it does not know (argparse's `parse_known_args`), with which no underscore stands
            for a dash: its own options are given as they are declared.
        strict: whether it has the engine's parser refuse what is neither its own nor an option of the engine's release.
        plain: whether an option of the engine that is not given has the engine's own default, but for those of `sets`.
        sets: options of the engine that it may set itself.
        declared: its own options as they are given here.
        required: those of them without which it does not start.
        foreign: whether it is another server, most of whose options are not known.
        calls: pattern of the call of Python that it is, by its whole name: a class whose keyword arguments are the engine's
            options, with underscores for dashes; "" for a program. The record has the last part of that name.
        positional: the options that its positional arguments set.
        about: what such an object is, in a few words.
        known_since: the first release of which it is known that such a class refuses all but the options and those of `own`.
        refuses_since: option of the engine's server -> the first known release in which such a class refuses it.
        takes_until: option -> the first known release in which such a class refuses it, if the server has removed it before.
        values: an option of its own, or one of the engine that it reads first -> the values that any release of it takes.
    """

    __slots__ = (
        "about",
        "calls",
        "chooses",
        "declared",
        "foreign",
        "fork",
        "ignores",
        "known_since",
        "lacks",
        "lists",
        "marks",
        "others",
        "own",
        "plain",
        "positional",
        "refuses_since",
        "required",
        "same",
        "sets",
        "source",
        "strict",
        "switches",
        "takes_until",
        "values",
        "verb",
    )

    def __init__(
        self,
        source: str,
        *,
        own: tuple[str, ...] = (),
        switches: tuple[str, ...] = (),
        lists: tuple[str, ...] = (),
        same: Mapping[str, str] | None = None,
        chooses: tuple[str, tuple[str, ...]] = ("", ()),
        others: str = "",
        marks: tuple[str, ...] = (),
        lacks: tuple[str, ...] = (),
        fork: bool = False,
        verb: str = "",
        ignores: bool = False,
        strict: bool = False,
        plain: bool = False,
        sets: tuple[str, ...] = (),
        required: tuple[str, ...] = (),
        foreign: bool = False,
        calls: str = "",
        positional: tuple[str, ...] = (),
        about: str = "",
        known_since: str = "",
        refuses_since: Mapping[str, str] | None = None,
        takes_until: Mapping[str, str] | None = None,
        values: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.refuses_since = refuses_since or {}
        self.takes_until = takes_until or {}
        self.calls = calls
        self.positional = positional
        self.about = about
        self.known_since = known_since
        self.foreign = foreign
        self.values = values or {}
        self.strict = strict
        self.plain = plain
        self.sets = frozenset(sets)
        self.marks = frozenset(marks)
        self.required = required
        self.lacks = frozenset(lacks)
        self.fork = fork
        self.verb = verb
        self.ignores = ignores
        self.chooses = chooses
        self.others = others
        self.source = source
        self.declared = (*own, *switches, *lists, *(same or ()))
        self.own = frozenset([name.replace("_", "-") for name in (*own, *switches, *lists)])
        self.lists = frozenset(lists)
        self.switches = frozenset([name.replace("_", "-") for name in switches])
        self.same = {name.replace("_", "-"): engines for name, engines in (same or {}).items()}


class Start:
    """A way to start an engine's server.

    Attributes:
        programs: file names of programs: `vllm`.
        modules: Python modules, as `python -m` takes them.
        scripts: ends of the paths of Python scripts, as `python` takes them.
        paths: Regular expression of a program's whole path, for a name that others have as well; "" for none.
        verbs: words that must follow, in this order: `serve`.
        optional_verb: a word that may follow and changes nothing, "" for none.
        other_verbs: words that may follow and start something else than the server.
        by_file: those of other_verbs that start servers whose options stand in a file.
        since: the first release whose programs have these verbs.
        until: the last release whose program has this name, "" where the newest have it.
        takes_model: whether the server uses a positional model.
        launcher: the name of the record in Engine.launchers of what is started; "" for the engine's own server.
        model_first: the first release that takes a model as the first word after the verb, "" where the parser decides.
        marks: groups of options; a program whose name is not known and that is given one of each is this one.
    """

    __slots__ = (
        "by_file", "launcher", "marks", "model_first", "modules", "optional_verb", "other_verbs", "paths", "programs",
        "scripts", "since", "takes_model", "until", "verbs",
    )  # fmt: skip

    def __init__(
        self,
        *verbs: str,
        programs: tuple[str, ...] = (),
        modules: tuple[str, ...] = (),
        scripts: tuple[str, ...] = (),
        paths: str = "",
        until: str = "",
        optional_verb: str = "",
        other_verbs: tuple[str, ...] = (),
        by_file: tuple[str, ...] = (),
        since: str = "0",
        takes_model: bool = True,
        launcher: str = "",
        model_first: str = "",
        marks: tuple[frozenset[str], ...] = (),
    ) -> None:
        self.launcher = launcher
        self.marks = marks
        self.verbs = verbs
        self.programs = programs
        self.modules = modules
        self.scripts = scripts
        self.paths = paths
        self.until = until
        self.optional_verb = optional_verb
        self.other_verbs = other_verbs
        self.by_file = by_file
        self.since = since
        self.takes_model = takes_model
        self.model_first = model_first


class Wrapper:
    """What the program of an image that someone else built makes the engine's arguments from, beside its command.

    Attributes:
        source: where that stands.
        program: the first word of a command that starts the server; the engine's arguments may stand behind it or alone.
        variable: the variable that holds arguments, as a shell writes them. Those of the command replace them.
        options: variable -> the option that it sets to its value.
        prefix: how the names of variables begin that each set the option which the rest of their name spells; "" for none.
        unless: variable -> pattern of its values with which the image starts another program.
    """

    __slots__ = ("options", "prefix", "program", "source", "unless", "variable")

    def __init__(
        self,
        source: str,
        *,
        program: str = "",
        variable: str = "",
        options: Mapping[str, str] | None = None,
        prefix: str = "",
        unless: Mapping[str, str] | None = None,
    ) -> None:
        self.source = source
        self.program = program
        self.prefix = prefix
        self.variable = variable
        self.options = options or {}
        self.unless = unless or {}


class EntryPoint:
    """The words that an image starts by itself.

    Attributes:
        words: the program with its verbs; () if the image starts whatever its command says.
        since: the first release of the engine for which they hold, "" for no bound.
        until: the last one, "" for no bound.
    """

    __slots__ = ("since", "until", "words")

    def __init__(self, *words: str, since: str = "", until: str = "") -> None:
        self.words = words
        self.since = since
        self.until = until


class ImageFamily:
    """The container images of one repository.

    Attributes:
        repository: the last components of the repository's name; what stands in front, such as a mirror, does not matter.
        registry: pattern of what stands in front of the repository, for one whose name others have as well; "" for anything.
        source: address of the page or file that shows how the images are made and tagged.
        suffixes: endings with which the repository's name belongs to the family as well.
        entrypoint: what the images start, that of the oldest releases first; () where it is not known.
        tags: pattern of the tags that name a release of the engine (group `release`), "" for the usual one.
        own_tags: whether others than the engine's makers build the images: their tags name releases of the image, from which
            the engine's release follows only as data/images.json and `tags` say.
        rolling: pattern of the tags that are moved to newer images, "" for the usual one.
        only: pattern of the tags of images that start the server, "" for all.
        without: pattern of the tags of images that do not hold the server, "" for none.
        builds: pattern of how what stands behind the release in a published tag starts, "" for the usual one.
        command: the words that the entrypoint is given where a container has none; () if it needs none.
        branches: pattern of the tags of images that were built from a branch -> the last release that they can be.
        minor_tags: whether a tag such as 3.3 is moved to each newer release of 3.3.
        programs: pattern of tags -> what such images start instead.
        wrapper: what else gives its program the engine's arguments; None if nothing does.
    """

    __slots__ = (
        "branches", "builds", "command", "entrypoint", "minor_tags", "only", "own_tags", "programs", "registry", "repository",
        "rolling", "source", "suffixes", "tags", "without", "wrapper",
    )  # fmt: skip

    def __init__(
        self,
        repository: str,
        source: str,
        *,
        suffixes: tuple[str, ...] = (),
        entrypoint: tuple[EntryPoint, ...] = (EntryPoint(),),
        tags: str = "",
        own_tags: bool = False,
        rolling: str = "",
        only: str = "",
        without: str = "",
        registry: str = "",
        builds: str = "",
        command: tuple[str, ...] = (),
        branches: Mapping[str, str] | None = None,
        minor_tags: bool = False,
        programs: Mapping[str, EntryPoint] | None = None,
        wrapper: Wrapper | None = None,
    ) -> None:
        self.programs = programs or {}
        self.wrapper = wrapper
        self.minor_tags = minor_tags
        self.command = command
        self.branches = branches or {}
        self.registry = registry
        self.repository = repository
        self.builds = builds
        self.source = source
        self.suffixes = suffixes
        self.entrypoint = entrypoint
        self.tags = tags
        self.own_tags = own_tags
        self.rolling = rolling
        self.only = only
        self.without = without


class Dialect:
    """What an engine's parser of arguments does differently from plain argparse.

    Attributes:
        positional: canonical name of the option that a first positional argument stands for, "" if there is none.
        model_first: whether the command takes the model out of the words before the parser sees them.
        underscores: whether `--a_b` is `--a-b`.
        json_paths: how a word begins that sets a key of a JSON option (`--a.b v`), "" if there is none: "--", or "-" in vLLM.
        abbreviations: whether a unique prefix stands for an option.
        equals: whether `--a=b` sets an option.
        next_word: whether an option's value is the next word, whatever it looks like.
        attached: whether `-p80` is `-p 80`; argparse, which has abbreviations, takes it as well.
        once: whether an option that is given twice is refused, and a word with a dash in front is never a value.
        last: whether only the last value of an option that is given twice is converted.
        level_paths: whether `-O.a v` sets a key of vLLM's compilation config, as `--compilation-config.a v` does.
        since: the first release whose parser is this one, "" for every release.
        where: a regular expression of how a word begins without which this parser and all before it read alike.
        before: the dialect of older releases.
    """

    __slots__ = (
        "abbreviations", "attached", "before", "equals", "json_paths", "last", "level_paths", "model_first", "next_word",
        "once", "positional", "since", "underscores", "where",
    )  # fmt: skip

    def __init__(
        self,
        positional: str = "",
        *,
        model_first: bool = False,
        underscores: bool = False,
        json_paths: str = "",
        abbreviations: bool = True,
        equals: bool = True,
        next_word: bool = False,
        attached: bool = False,
        once: bool = False,
        last: bool = False,
        level_paths: bool = False,
        since: str = "",
        where: str = "",
        before: Dialect | None = None,
    ) -> None:
        self.since = since
        self.where = where
        self.level_paths = level_paths
        self.before = before or self
        self.attached = attached
        self.once = once
        self.last = last
        self.positional = positional
        self.model_first = model_first
        self.underscores = underscores
        self.json_paths = json_paths
        self.abbreviations = abbreviations
        self.equals = equals
        self.next_word = next_word


KEYWORDS = Dialect(underscores=True, abbreviations=False, equals=False)
"""The keyword arguments of a class, written as `--name value`; `--no-name` is one that is False."""


class Engine:
    """The record of an engine. Each engine is an instance of a subclass, whose attributes say what differs from these defaults.

    An operand is a name that `servelint.engines.config.Config.operand` takes. An option is named without its dashes.
    """

    id: str
    """The id that settings, rules and reports use: "llama.cpp"."""
    name: str
    """The name that its developers use: "vLLM"."""
    parts: tuple[str, ...] = ()
    """Modules beside the record: "facts" has FACTS, the operands `effective.<name>`, and may have CONVERSIONS, which convert
    values as no other engine does, by the names of the engine's source."""

    # -- releases

    data = data_path("engines/data")
    """Folder of the catalog, `<id>.json`."""
    source_url: str = ""
    """Address of a file at a release's tag, with `{release}` and `{path}`."""
    former_owners: tuple[str, ...] = ()
    """Owners that its repository had before."""
    options_of_forks: frozenset[str] = frozenset()
    """Options that only a fork of it has had, by which a command is known to be the fork's."""
    choices_of_plugins: frozenset[tuple[str, str]] = frozenset()
    """Option and value of the choices that a plugin of a platform adds."""
    documentation: str = ""
    """Address of the page of its developers that describes its options."""
    distributions: tuple[str, ...] = ()
    """Its names on the Python package index, the index's own spelling first."""
    wheels: tuple[str, ...] = ()
    """Names of its wheels that are only built from its source: no index has them."""
    python_package: str = ""
    """Folder of its Python package, "" if it has none."""
    numbered_builds: bool = False
    """Whether its releases are numbered builds (b9180)."""
    tags_patch_at_branch: bool = False
    """Whether its main branch gets the candidate of a patch as a tag when the branch of a minor release begins.

    So 0.19.1rc1.dev328 is 328 commits after the branch of 0.19.0 on the way to 0.20.0, and later than 0.19.1, which is of
    the branch.
    """
    harvested: bool = True
    """Whether servelint.harvest can read its source."""
    harvested_since: str = ""
    """The first release that the catalog covers; "" for every release on the package index."""
    unpinned_since: str = ""
    """The first release that a launch which names none is judged as; older ones of the catalog only where they are named."""
    source_tag: str = ""
    """Format of the git tag of a release ("v{}") for an engine that is harvested from a clone of its repository."""

    # -- what starts the server

    command: tuple[str, ...]
    """The usual command, as words."""
    starts: tuple[Start, ...]
    """All ways to start it."""
    routers: tuple[str, ...] = ()
    """Commands that pass requests on to servers that others start: a program with its verbs, or `-m MODULE`."""
    client_commands: tuple[str, ...] = ()
    """Commands of the same program that send requests to a server, and start none."""
    model_commands: tuple[str, ...] = ()
    """Those of them whose first word is the model that a server loads: `ollama pull MODEL`."""
    installer_release: str = ""
    """The variable from which its installer takes the release."""
    unit: str = ""
    """The systemd unit that its installer writes, to which drop-ins add variables; "" for none."""
    launchers: Mapping[str, Launcher] = {}
    """Name -> program that starts it with options of its own beside the engine's, or class of Python that makes it."""

    server_options: frozenset[str] = frozenset()
    """Options of its HTTP server that an engine which Python code makes takes as well, and does not use."""

    # -- images

    images: tuple[ImageFamily, ...] = ()
    """The repositories of its developers, and of others whose images are known."""
    image_names: str = ""
    """Pattern of the words by which the name of any other image (a house image) says that it holds the engine."""
    not_image_names: str = ""
    """Pattern of image names that have such a word and hold no server."""
    choosing_images: tuple[str, tuple[str, ...]] = ("", ())
    """Pattern of the tags of images whose first word chooses one of several programs, and the words that choose the server."""
    model_variables: tuple[str, ...] = ()
    """Variables that give its program the model, so that an image with one of them needs no words."""
    house_tags: str = ""
    """Pattern of the names of house images whose tags are releases of the engine."""
    release_tag: str = ""
    """Format of the tag of a release in its developers' repositories ("v{}"), "" if the release alone does not make the tag."""
    gpu_images: tuple[str, ...] = ()
    """Words in the names and tags of images that are built for NVIDIA GPUs."""

    # -- how files name it

    words: tuple[bytes, ...] = ()
    """Words, in lower case, that make a file worth parsing. A file with no word of any engine launches nothing."""
    stems: tuple[str, ...] = ()
    """Words, in lower case, one of which is in every text that names the engine in any way."""
    yaml_keys: tuple[str, ...] = ()
    """Its names in the keys of YAML files: `vllm`, as in `vllmArgs`."""
    platforms: Mapping[str, str] = {}
    """Platform that starts engines -> the platform's name for this one, in lower case."""
    identified_by_options: bool = False
    """Whether a list of options that names no engine is this one's if only this one has them."""

    # -- how its parser reads arguments

    dialect: Dialect = Dialect()
    """What its parser does differently from argparse."""
    config_file: bool = False
    """Whether `--config FILE` names a YAML file of options."""
    empty_config_file: bool = False
    """Whether that file may be empty."""
    writes_booleans: bool = False
    """Whether a boolean of that file becomes a value, "true" or "false", for an option that takes one."""
    object_files: tuple[tuple[str, ...], str] | None = None
    """Spellings of options that name a YAML file, whose mapping is the option's value as if it were JSON, and the value of
    `--backend` with which such a file has keys that are not known."""
    moved_values: Mapping[str, tuple[str, str]] = {}
    """Option -> (JSON option, key): where the option's value goes."""
    looked_up_options: Mapping[str, str] = {}
    """Option -> the catalog's kind of names that its value must be one of, although the parser accepts any text."""
    value_kinds_of_options: Mapping[str, tuple[str, str]] = {}
    """Option, or key of a JSON option -> (the catalog's kind of names of its values, option that brings more of them)."""
    keys_of_plugins: Mapping[str, tuple[str, tuple[str, ...]]] = {}
    """JSON option -> (key, its values that only a plugin brings, and with them keys of its own)."""
    object_options: tuple[str, ...] = ()
    """Options whose value must be a JSON object, although the parser accepts any text."""
    filled_options: tuple[str, ...] = ()
    """Options whose value must be neither empty nor `None`, although the parser accepts any text."""
    strict_lists: tuple[str, ...] = ()
    """JSON options whose lists take no text for a list, in any release that checks their fields."""
    object_members: Mapping[str, str] = {}
    """Options among these whose members must all be of one kind: a kind of servelint.syntax.json."""
    late_objects: tuple[str, ...] = ()
    """JSON options whose fields are checked after the parser, so that a value that another one replaces does not matter."""
    object_rules: tuple[str, ...] = ()
    """Rules about a JSON object of an option that its parser checks, also in one that a later one replaces."""
    overwritten: tuple[str, ...] = ()
    """Options whose last value alone counts where one is given twice; () if that holds for all others but lists."""
    overwritten_before: Mapping[str, str] = {}
    """Options among these -> the release from which that is not certain."""
    fields_checked_since: str = ""
    """The first release that checks the values of JSON options against their types, "" if none does."""
    empty_lists_before: str = ""
    """The first release that refuses an empty list for an object where earlier ones among those take it, "" if none does."""
    template_option: str = ""
    """Option whose value is a template or a path; a path without a file is refused. "" if there is none."""
    quantization_listed: bool = False
    """Whether a quantized checkpoint needs a method that the catalog lists (names of the kind "quantization")."""

    classes: str = ""
    """Pattern of the calls with which a Python program makes an engine of its own, "" for none that is known."""

    other_servers: str = ""
    """Pattern of what starts a server of another project around the engine, whose options are not judged; "" for none. A file
    that does not name the engine does not start it."""

    # -- environment variables

    variables: tuple[str, ...] = ()
    """Prefixes of its own variables."""
    variables_closed: bool = False
    """Whether only this engine reads variables with these prefixes, so that an unknown one is a mistake."""
    closed_variables: tuple[str, ...] = ()
    """The prefixes of variables that only this engine reads, where that does not hold for all of `variables`."""
    shared_variables: bool = False
    """Whether clients and scripts beside it use names with these prefixes: an unknown one is a mistake only where the image or
    the unit of its developers starts it."""
    plugin_variables: tuple[str, ...] = ()
    """Prefixes of variables that a package beside the engine reads since the engine does not."""
    renamed_variables: tuple[str, str] = ("", "")
    """(old prefix, new prefix): variables with the old prefix are read under the new one."""
    alone_since: str = ""
    """The first release that does not read variables of other engines, "" if no release does."""
    option_variables: bool = False
    """Whether variables of the catalog set options that are not given (`option` in the body of the variable)."""
    flag_values: Mapping[str, bool] = {"true": True, "false": False}
    """What the value of a variable makes of a flag."""
    negating_variables: str = ""
    """Prefix of variables that switch a flag off, whatever their value."""
    numbers_converted: bool = False
    """Whether the parser ends at a variable of an option whose text is not the number that the option takes."""
    argument_variables: tuple[str, ...] = ()
    """Words in the names of variables that hold its arguments: `VLLM`, as in `VLLM_ARGS`."""
    device_variables: tuple[str, ...] = ()
    """Prefixes of variables that select another device than an NVIDIA GPU."""
    shares_port: tuple[str, str] = ("", "")
    """The first and the last known release whose server binds a port on which another process listens (SO_REUSEPORT)."""
    values_read_since: str = ""
    """The first release of which it is known how values are read, "" if it is not known."""
    value_kind: str = "type"
    """The key in the catalog's body of a variable that says how its value is read."""
    value_kinds: Mapping[str, str] = {}
    """What the body has under that key -> what the value must be, in a message's words."""
    value_names: Mapping[str, str] = {}
    """Variable -> the catalog's kind of names that its value must be one of."""
    values_refused: bool = False
    """Whether a value that cannot be read ends the server; otherwise the default is used instead."""

    # -- the server in its container

    port: int = 0
    """The default port, 0 if it is not known."""
    image_port: int = 0
    """The default port in its developers' images, 0 for the same."""
    absent_clients: tuple[str, ...] = ()
    """Programs with which health checks ask a server and that its developers' images do not have."""
    tls_operands: tuple[str, ...] | None = None
    """Operands that make the server speak HTTPS; None if it is not known."""
    key_paths: str = ""
    """Pattern of paths that every release answers with 401 where it has a key and the request has none."""
    link_variables: tuple[str, ...] = ()
    """Variables that must be a number, and that Kubernetes sets to an address for a Service of the same name."""
    checks_no_health: bool = False
    """Whether its developers' images have no HEALTHCHECK."""
    no_paths: str = ""
    """Pattern of paths that health checks of other servers ask and that no release answers."""
    port_option: str = "port"
    """Option that sets the port."""
    port_variables: tuple[str, ...] = ()
    """Variables that set the port."""
    address_variable: str = ""
    """Variable that holds the interface and the port, with a scheme in front of them or without: `http://0.0.0.0:11434`."""
    nixos_service: str = ""
    """Module of NixOS that starts the server: `llama-cpp` of `services.llama-cpp`, "" for none."""
    nixos_options: Mapping[str, str] = {}
    """Option of that module -> the engine's option, or its variable, as the module writes it."""
    loopback: bool = False
    """Whether the server listens on the loopback interface by default."""
    open_images: bool = False
    """Whether it listens on every interface in its developers' images all the same."""
    host_option: str = "host"
    """Option that sets the interface."""
    host_variables: tuple[str, ...] = ()
    """Variables that set the interface."""
    open_host_operands: tuple[str, ...] = ()
    """Operands for which a rule of the engine's own reports a server that everyone can reach."""
    api_key_operands: tuple[str, ...] = ()
    """Operands that make the server ask for a key; () if they are not known."""
    api_key_variables: tuple[str, ...] = ()
    """Variables that hold the server's key."""
    asks_for_no_key: bool = False
    """Whether it cannot ask for a key."""
    starts_slowly: bool = False
    """Whether it compiles kernels and captures graphs before it answers, which takes minutes."""
    pulls_models: bool = False
    """Whether it starts without a model and downloads those that clients ask for."""
    model_cache: str = ""
    """Folder in which the container keeps downloaded models, "" if it is not known."""
    several_nodes: bool = False
    """Whether `--nnodes` spreads it across several nodes."""
    node_options: Mapping[str, int | None] = {}
    """Operands that must be the same on all nodes of a launch -> what they are where they are not given, None if not known."""
    roles: tuple[str, Mapping[str, str]] = ("", {})
    """The operand that says whether a launch prefills or decodes; each value of it -> "prefill", "decode" or "by name"."""
    needs_gpu: bool = False
    """Whether its developers' images need an NVIDIA GPU; otherwise those do whose names have a word of `gpu_images`."""
    cpu_operands: tuple[tuple[str, str], ...] = ()
    """(operand, value) that keep it from using a GPU."""
    rank_operands: tuple[str, ...] = ()
    """Sizes whose product is the number of GPUs of one replica."""
    replicas_operand: str = ""
    """The number of replicas, "" if it is not known."""
    shared_replicas_operand: str = ""
    """Whether all replicas share the GPUs of one, "" if they never do."""
    counts_gpus: bool = False
    """Whether it uses as many GPUs as these sizes say, not all that there are."""
    uncounted_operands: tuple[str, ...] = ()
    """Operands with which the number of GPUs does not follow from these sizes."""
    own_gpu_rules: bool = False
    """Whether rules of the engine's own compare its ranks with the GPUs that there are."""
    ranks_share_memory: bool = False
    """Whether its ranks exchange tensors through /dev/shm."""

    # -- options that mean the same in several engines; "" for one that the engine lacks or that is not known

    unset_by: tuple[frozenset[str], tuple[str, ...]] = (frozenset(), ())
    """Types of its options for which some values mean that the option is not given, and these values."""
    lowered: tuple[str, ...] = ()
    """Options whose value it reads in lower case."""
    model_option: str = ""
    """Option that names the model."""
    repository_options: Mapping[str, str] = {}
    """Option that takes a GGUF file -> the option that takes a repository with one. The engine reads no other format."""
    served_name_option: str = ""
    """Option that sets the model's name for clients."""
    tensor_parallel_option: str = ""
    """Option that sets the tensor parallel size."""
    tensor_parallel_operand: str = ""
    """The tensor parallel size, whichever option sets it."""
    data_parallel_option: str = ""
    """Option that sets the number of replicas, where each takes as many GPUs as tensor parallelism says."""
    context_option: str = ""
    """Option that sets the context length, in tokens."""
    requests_option: str = ""
    """Option that sets the number of requests that run at the same time."""
    prefix_caching_on: str = ""
    """Option that switches prefix caching on."""
    prefix_caching_off: str = ""
    """Option that switches prefix caching off."""
    kv_dtype_option: str = ""
    """Option that sets the data type of the KV cache."""
    kv_dtype_fp8: str = ""
    """Its value for FP8."""
    memory_fraction_option: str = ""
    """Option that sets the share of a GPU's memory that the engine uses."""
    memory_fractions: tuple[str, ...] = ()
    """Values of it to try if a launch runs out of memory, the largest first."""
    memory_reserves: tuple[tuple[str, str], ...] = ()
    """(option, value) with which it reserves less memory beside the KV cache, the mildest first."""
    memory_experts: tuple[str, tuple[int, ...]] = ("", ())
    """(option, values) with which it keeps fewer experts in the GPU's memory, the largest first; ("", ()) if it has none."""
    needs_one_request: bool = False
    """Whether it does not start if the KV cache holds less than one request of the full context length."""
    speculation_options: tuple[str, ...] = ()
    """Prefixes of the options of speculative decoding."""
    speculation_json: str = ""
    """JSON option that holds all of them."""
    speculation_method_operand: str = ""
    """The method of speculative decoding."""
    drafted_tokens_operand: str = ""
    """The number of tokens that are drafted in each step."""
    drafting: Mapping[str, tuple[tuple[str, str], ...]] = {}
    """Method of servelint.advise -> the options that ask for it, with their values: {draft}, {tokens}, and {verified}, which is
    one more. For an engine without speculation_json."""
    drafts_source: str = ""
    """Format of the file of a release that names the models which draft with layers of their own."""

    # -- what servelint does with it

    plans_memory: bool = False
    """Whether servelint.memory has its arithmetic."""
    planned_fragments: tuple[str, ...] = ()
    """Names of fragments of launches that say which model runs, and with what, so that they are planned as launches are."""
    computed_defaults: tuple[str, ...] = ()
    """Options whose default depends on the GPU and the model, and is computed by servelint.memory."""
    advised: bool = False
    """Whether servelint.advise writes commands for it."""
    host_seconds: tuple[float, float] = (0.0, 0.0)
    """What the host adds to a decoding step that a user waits for, without and with draft tokens."""
    draft_has_embeddings: bool = False
    """Whether the draft that a model carries loads an embedding and a head of its own."""
    group_seconds: float = 0.0
    """What the host adds to a decoding step for each group of layers that has blocks of the KV cache of its own."""
    graphed_drafts_since: str = ""
    """The first release that runs drafts in CUDA graphs, "" if all do."""
    padded_drafts_since: str = ""
    """The first release whose drafts take all tokens of a step, so that none waits for those that are accepted, "" if none."""
    uncompiled_drafts: tuple[str, ...] = ()
    """Types of models (model_type) whose own draft layers run outside of CUDA graphs, because they are not compiled."""
    uncompiled_drafts_until: str = ""
    """The first release that captures those too."""
    cut_drafts: tuple[tuple[int, str, str], ...] = ()
    """(major compute capability, first release, release after the last) with which drafts on an FP8 or FP4 KV cache run outside
    of full CUDA graphs."""
    unsplit_drafts: tuple[int, ...] = ()
    """Major compute capabilities whose attention to several tokens of a request is not split along the context."""
    overlaps_since: str = ""
    """The first release that prepares a step while the one before is computed, but not with drafts of a lookup, "" if none."""
    samples: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()
    """(image, command, arguments) of containers. A long-lived process judges them first, which loads what the engine needs."""

    def names_model(self, command: str) -> bool:
        """Whether a command of the program names the model that a server loads. A number may tell it from others: `pull #2`."""
        return command.partition(" ")[0] in self.model_commands

    @property
    def package(self) -> str:
        """The id as part of a Python name: its module's name here, in servelint.memory and in servelint.harvest."""
        return self.id.replace(".", "")

    def part(self, name: str) -> Any:
        """Import a module beside the record.

        Args:
            name: one of the names that `parts` may have.

        Returns:
            The module; None if the engine has none of this name.
        """
        return import_module(f"servelint.engines.{self.package}.{name}") if name in self.parts else None


ENGINES: dict[str, Engine] = {}
"""id -> record, in the order in which engines are listed and tried."""
ENGINE_NAMES: dict[str, str] = {}
"""id -> name."""
_caches: list[Callable[[], None]] = []


def derived(make: Callable[P, R], kept: int = 1024) -> Callable[P, R]:
    """Decorate a function of the records: its results, as many as `kept`, are kept until a record is registered."""
    cached = lru_cache(maxsize=kept)(make)
    _caches.append(cached.cache_clear)
    return cached  # type: ignore[return-value]


def register(engine: Engine) -> None:
    """Add a record, or replace that of the same id."""
    ENGINES[engine.id] = engine
    ENGINE_NAMES[engine.id] = engine.name
    for clear in _caches:
        clear()


def called(platform: str, name: str) -> Engine | None:
    """The engine that a platform calls by a name, in any case; None for one that servelint does not know.

    >>> found = called("kubeai", "VLLM")
    >>> found.id if found else None
    'vllm'
    """
    return next((engine for engine in ENGINES.values() if engine.platforms.get(platform) == name.lower()), None)


def started_by(platform: str) -> Engine:
    """The engine that a platform starts where its files name none."""
    return next(engine for engine in ENGINES.values() if platform in engine.platforms)


def built_by(platform: str, text: str) -> Engine:
    """The engine whose builder or server a file of a platform names; the one that the platform starts where it names none.

    >>> built_by("ray", "app = build_sglang_openai_app(args)").id, built_by("ray", "app = build_openai_app(args)").id
    ('sglang', 'vllm')
    """
    lowered = text.lower()
    named = [
        engine
        for engine in ENGINES.values()
        if (name := engine.platforms.get(platform)) and (f"build_{name}_" in lowered or f"{name}server" in lowered)
    ]
    return named[0] if len(named) == 1 else started_by(platform)


for _module in _MODULES:
    register(import_module("servelint.engines." + _module).ENGINE)
