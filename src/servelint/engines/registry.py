"""The engines: the class of their records, the records themselves, and a cache for what is made from all of them.

A record (`Engine`) holds what tells one engine from the others. The rest of servelint asks the record; no other module names an
engine, except those that belong to one engine alone. Records are plain data: all of them are loaded at start-up, so that they
compile and import nothing. Code that belongs to an engine stands in modules beside its record, which are imported when they are
first asked for (`Engine.part`).

To add an engine, write its record in a module of this package and name the module in `_MODULES`. Its catalog, if it has one, is
`data/<id>.json`.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

_MODULES = ("vllm", "sglang", "llamacpp", "trtllm", "lmdeploy", "tgi")
"""Modules of servelint.engines with a record, in the order in which engines are listed and tried."""


class Start:
    """A way to start an engine's server.

    Attributes:
        programs: file names of programs: `vllm`.
        modules: Python modules, as `python -m` takes them.
        scripts: ends of the paths of Python scripts, as `python` takes them.
        verbs: words that must follow, in this order: `serve`.
        optional_verb: a word that may follow and changes nothing, "" for none.
        other_verbs: words that may follow and start something else than the server.
        since: the first release whose programs have these verbs.
        takes_model: whether the server uses a positional model.
    """

    __slots__ = ("modules", "optional_verb", "other_verbs", "programs", "scripts", "since", "takes_model", "verbs")

    def __init__(
        self,
        *verbs: str,
        programs: tuple[str, ...] = (),
        modules: tuple[str, ...] = (),
        scripts: tuple[str, ...] = (),
        optional_verb: str = "",
        other_verbs: tuple[str, ...] = (),
        since: str = "0",
        takes_model: bool = True,
    ) -> None:
        self.verbs = verbs
        self.programs = programs
        self.modules = modules
        self.scripts = scripts
        self.optional_verb = optional_verb
        self.other_verbs = other_verbs
        self.since = since
        self.takes_model = takes_model


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
        source: address of the page or file that shows how the images are made and tagged.
        suffixes: endings with which the repository's name belongs to the family as well.
        entrypoint: what the images start, that of the oldest releases first; () where it is not known.
        tags: pattern of the tags that name a release of the engine (group `release`), "" for the usual one.
        own_tags: whether a tag names a release of the image instead, of which the engine's release does not follow.
        rolling: pattern of the tags that are moved to newer images, "" for the usual one.
        only: pattern of the tags of images that start the server, "" for all.
        without: pattern of the tags of images that do not hold the server, "" for none.
        releases: for own tags: tag -> (the engine's release, address of the page that names it).
    """

    __slots__ = ("entrypoint", "only", "own_tags", "releases", "repository", "rolling", "source", "suffixes", "tags", "without")

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
        releases: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self.repository = repository
        self.source = source
        self.suffixes = suffixes
        self.entrypoint = entrypoint
        self.tags = tags
        self.own_tags = own_tags
        self.rolling = rolling
        self.only = only
        self.without = without
        self.releases = releases or {}


class Dialect:
    """What an engine's parser of arguments does differently from plain argparse.

    Attributes:
        positional: canonical name of the option that a first positional argument stands for, "" if there is none.
        model_first: whether the command takes the model out of the words before the parser sees them.
        underscores: whether `--a_b` is `--a-b`.
        json_paths: whether `--a.b v` sets a key of a JSON option.
        abbreviations: whether a unique prefix stands for an option.
        equals: whether `--a=b` sets an option.
        next_word: whether an option's value is the next word, whatever it looks like.
    """

    __slots__ = ("abbreviations", "equals", "json_paths", "model_first", "next_word", "positional", "underscores")

    def __init__(
        self,
        positional: str = "",
        *,
        model_first: bool = False,
        underscores: bool = False,
        json_paths: bool = False,
        abbreviations: bool = True,
        equals: bool = True,
        next_word: bool = False,
    ) -> None:
        self.positional = positional
        self.model_first = model_first
        self.underscores = underscores
        self.json_paths = json_paths
        self.abbreviations = abbreviations
        self.equals = equals
        self.next_word = next_word


class Engine:
    """The record of an engine. Each engine is one instance of a subclass, whose attributes say what differs from these."""

    id: str
    """As settings, rules and reports write it: "llama.cpp"."""
    name: str
    """As its makers write it: "vLLM"."""
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
    """Folder of the catalog `<id>.json`."""
    parts: tuple[str, ...] = ()
    """Modules beside the record: "facts" (FACTS: the operands `effective.<name>`), "conversions" (CONVERSIONS: conversions of
    values that are its own, by the names that its source gives them)."""

    # what starts the server

    command: tuple[str, ...]
    """The usual words that start it."""
    starts: tuple[Start, ...]
    """All ways to start it."""
    distributions: tuple[str, ...] = ()
    """Its names on the Python package index, the first as the index writes it."""
    numbered_builds: bool = False
    """Whether its releases are builds that are counted (b9180)."""
    python_package: str = ""
    """The folder of its Python package."""

    # images

    images: tuple[ImageFamily, ...] = ()
    image_names: str = ""
    """Pattern of the words by which an image of someone else (a house image) says that it holds the engine."""
    not_image_names: str = ""
    """Pattern of names that are not images of a server, although they have such a word."""
    house_tags: str = ""
    """Pattern of the names of house images whose tag is the engine's release, if there is such a release."""
    release_tag: str = ""
    """How the tag of a release is written in the makers' own images ("v{}"), "" if it depends on more."""
    gpu_images: tuple[str, ...] = ()
    """Words in the names of house images that are built for NVIDIA's GPUs."""

    # how files name it

    words: tuple[bytes, ...] = ()
    """Words, in lower case, that make a file worth reading: one that has none of any engine launches nothing."""
    stems: tuple[str, ...] = ()
    """Words, in lower case, at least one of which a text has that speaks of the engine."""
    keys: tuple[str, ...] = ()
    """How the keys of YAML files call it: `vllm`, as in `vllmArgs`."""
    platforms: Mapping[str, str] = {}
    """Platform that starts engines -> what it calls this one, in lower case."""
    identified_by_options: bool = False
    """Whether a list of options that names no engine belongs to this one if the options do."""

    # how the parser reads arguments

    dialect: Dialect = Dialect()
    config_file: bool = False
    """Whether `--config FILE` names a YAML file of options."""
    quantization_listed: bool = False
    """Whether it loads a quantized checkpoint only by a method that the catalog has (names of the kind "quantization")."""
    moved_values: Mapping[str, tuple[str, str]] = {}
    """Option -> (JSON option, key) that its value becomes."""
    looked_up: Mapping[str, str] = {}
    """Option -> the catalog's kind of names among which its value is looked up after parsing."""
    objects: tuple[str, ...] = ()
    """Options whose value must be a JSON object, although the parser takes any text."""
    fields_checked_since: str = ""
    """First release that checks the keys and values of JSON options against their types, "" for none."""
    template_option: str = ""
    """Option whose value is a template or the path of one, which is refused if it looks like a path and there is no file."""

    # environment variables

    variables: tuple[str, ...] = ()
    """What the names of its own variables begin with."""
    variables_closed: bool = False
    """Whether the engine alone reads such names, so that one which no release reads is a mistake."""
    renamed_variables: tuple[str, str] = ("", "")
    """Old and new prefix of variables, if the engine reads those with the old prefix under the new one."""
    alone_since: str = ""
    """First release that reads no variables of other engines, "" if none does."""
    device_variables: tuple[str, ...] = ()
    """What the names of variables begin with that choose another device than NVIDIA's GPUs."""
    argument_variables: tuple[str, ...] = ()
    """Words in the names of variables that hold its arguments: `VLLM`, as in `VLLM_ARGS`."""
    values_read_since: str = ""
    """First release whose reading of values is known, "" for none."""
    value_kinds: Mapping[str, str] = {}
    """What the catalog's body of a variable has under `value_kind` -> what must be written."""
    value_kind: str = "type"
    value_names: Mapping[str, str] = {}
    """Variable -> the catalog's kind of names one of which it must hold."""
    values_refused: bool = False
    """Whether the server ends at a value that cannot be read; otherwise it goes on with the default."""

    # the server

    port: int = 0
    """The port without an option, 0 if it is not known."""
    port_option: str = "port"
    host_option: str = "host"
    port_variables: tuple[str, ...] = ()
    host_variables: tuple[str, ...] = ()
    loopback: bool = False
    """Whether it listens on the loopback interface unless an option says otherwise."""
    answers_on_port: bool = True
    """Whether checks of its health are answered on the same port as requests."""
    keys_asked: tuple[str, ...] = ()
    """Operands that have the server ask its clients for a key; () if it is not known."""
    open_settings: tuple[str, ...] = ()
    """Operands of whose openness to the network a rule of the engine's own speaks."""
    key_variables: tuple[str, ...] = ()
    """Variables that hold the key which clients must give."""
    several_nodes: bool = False
    """Whether `--nnodes` starts it on several nodes."""
    compiles: bool = False
    """Whether it compiles kernels and captures graphs before it answers, which takes minutes."""
    model_cache: str = ""
    """Folder of a container in which it keeps models that it downloads, "" if it is not known."""
    needs_gpu: bool = False
    """Whether its makers' own images need an NVIDIA GPU."""
    rank_operands: tuple[str, ...] = ()
    """Operands whose product is the number of GPUs of one copy of the model."""
    copies_operand: str = ""
    """How many copies of the model it loads, "" if that is not known."""
    copies_share_operand: str = ""
    """Whether the copies share the GPUs of one, "" if they never do."""
    uncounted: tuple[str, ...] = ()
    """Operands with which the launch uses other GPUs than these sizes say."""
    own_gpu_rules: bool = False
    """Whether rules of the engine's own compare its ranks with the GPUs that there are."""
    ranks_share_memory: bool = False
    """Whether its ranks exchange tensors in /dev/shm."""

    # names of options that mean the same in several engines

    model_option: str = ""
    """Option that names the model, "" if only a positional argument does."""
    served_name_option: str = ""
    """Option that names the model for clients, "" if it is not known."""
    tensor_parallel_option: str = ""
    tensor_parallel_operand: str = ""
    """The tensor parallel size under any of its names."""
    context_option: str = ""
    requests_option: str = ""
    memory_fraction_option: str = ""
    memory_fractions: tuple[str, ...] = ()
    """Fractions that are tried instead of one with which a launch runs out of memory, the largest first."""
    memory_reserves: tuple[tuple[str, str], ...] = ()
    """(option, value) that make it reserve less memory beside the KV cache, the least drastic first."""
    needs_one_request: bool = False
    """Whether it ends the start if the KV cache holds less than one request of the longest length."""
    kv_dtype_option: str = ""
    kv_dtype_fp8: str = ""
    """The value of the KV cache's type that means FP8."""
    prefix_caching_on: str = ""
    """Option that has prefixes cached, "" if nothing but the default does."""
    prefix_caching_off: str = ""
    speculation_options: tuple[str, ...] = ()
    """What the names of the options of speculative decoding begin with."""
    speculation_json: str = ""
    """JSON option that holds all of them, "" if there is none."""
    drafting_operand: str = ""
    """The method of speculative decoding."""
    drafted_operand: str = ""
    """How many tokens are drafted at once."""
    drafts_source: str = ""
    """Where a release names the models that draft with layers of their own; {} is the release."""

    # what else servelint can do with it

    plans_memory: bool = False
    """Whether servelint.memory has its arithmetic."""
    computed_defaults: tuple[str, ...] = ()
    """Options whose default it computes from the GPU and the model, as servelint.memory does."""
    advised: bool = False
    """Whether servelint.advise can write commands for it."""
    harvested: bool = True
    """Whether servelint.harvest can read its source."""
    harvested_since: str = ""
    """First release that the catalog covers, where the package index has all of them; "" for all that it has."""
    samples: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()
    """(image, command, arguments) of containers. A long-lived process judges them first, to load what the engine needs."""

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


def derived(make: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of the records: its results are kept until a record is registered."""
    cached = lru_cache(maxsize=1024)(make)
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


for _module in _MODULES:
    register(import_module("servelint.engines." + _module).ENGINE)
