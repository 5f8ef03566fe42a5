"""What may be written in a settings file, and what single values mean wherever they are written.

Files are validated by this list, tools/formats.py makes the JSON Schema of it, and the docs are compared with it. Which rules
there are, and which options these have, is not in it: they come with every release.
"""

from __future__ import annotations

from servelint.core.finding import SEVERITIES
from servelint.core.settings import FORMATS, PROFILES
from servelint.engines import ENGINE_NAMES

FILE, FOLDERS, GLOBS, PATTERNS, CHOICE = "file", "folders", "globs", "patterns", "choice"
RELEASES, GPU, COUNT, SWITCH, PLACES = "releases", "gpu", "count", "switch", "places"
"""Kinds of values."""

RULE, PER_PATH, PATHS = "rule", "per-path", "paths"
"""The keys of tables: settings of rules, settings of paths, and the paths that these are for."""


class Key:
    """A key of a settings file.

    Attributes:
        name: The key.
        kind: One of the kinds of values above.
        says: What it does, in a sentence.
        default: What holds where nothing sets it.
        choices: The values of a CHOICE.
        per_path: Whether a table of PER_PATH may have it.
        variable: Whether a variable of the environment may set it (SERVELINT_<NAME>).
    """

    __slots__ = ("choices", "default", "kind", "name", "per_path", "says", "variable")

    def __init__(
        self,
        name: str,
        kind: str,
        says: str,
        default: object = None,
        *,
        choices: tuple[str, ...] = (),
        per_path: bool = False,
        variable: bool = True,
    ) -> None:
        self.name = name
        self.kind = kind
        self.says = says
        self.default = default
        self.choices = choices
        self.per_path = per_path
        self.variable = variable


_LEVELS = tuple(reversed(SEVERITIES))

KEYS = {
    key.name: key
    for key in (
        Key("extends", FILE, "another settings file, for keys that this one does not set", variable=False),
        Key("select", PATTERNS, "run only these rules: ids, or areas such as vllm/*; replaces weaker lists", (), per_path=True),
        Key("extend-select", PATTERNS, "run these rules too: ids, or areas such as vllm/*", (), per_path=True),
        Key("ignore", PATTERNS, "do not run these rules; adds to the rules that are already ignored", (), per_path=True),
        Key("profile", CHOICE, "how much is reported: strict adds best practice, audit everything", PROFILES[0],
            choices=PROFILES, per_path=True),
        Key("severity", CHOICE, "hide findings below this severity", "info", choices=_LEVELS, per_path=True),
        Key("fail-on", CHOICE, "the lowest severity that makes the exit status 1", "error",
            choices=(*_LEVELS, "never"), per_path=True),
        Key("engine-versions", RELEASES, "the release of an engine if a file sets none", {}, per_path=True),
        Key("gpu", GPU, "the GPU if a file names none", per_path=True),
        Key("gpu-count", COUNT, "the number of GPUs of a launch if a file sets none", per_path=True),
        Key("models", FILE, "a file with facts of your own models (servelint models add)", variable=False),
        Key("rules", FOLDERS, "folders with your own rules", ()),
        Key("exclude", GLOBS, "paths to skip when a folder is searched", ()),
        Key("extend-exclude", GLOBS, "more paths to skip", ()),
        Key("baseline", FILE, "the file of known findings, which are hidden; only settings of the current folder count"),
        Key("trusted-suppressions", CHOICE, "whether comments, settings and baselines of the files count, or those of the"
            " revision of --base; only settings of the current folder count", "head", choices=("base", "head")),
        Key("read-outside", PLACES, "folders outside the project that may be read if a file names a file in them",
            (), variable=False),
        Key("force-exclude", SWITCH, "skip excluded files even if they are named, for pre-commit", False),
        Key("format", CHOICE, "the format of the report; only settings of the current folder count", "text",
            choices=FORMATS),
    )
}  # fmt: skip

RULE_KEYS = {"severity": Key("severity", CHOICE, "the severity of the rule's findings", choices=_LEVELS)}
"""What may be set for a rule beside the options that the rule itself has."""

MEANT = {
    "extend-ignore": "ignore adds to what is inherited",
    "per-file-ignores": 'write [[per-path]] with paths = ["..."] and ignore = ["..."]',
    "overrides": 'write [[per-path]] with paths = ["..."]',
    "output-format": 'write format = "..."',
    "engine-version": 'write [engine-versions] with vllm = "0.19.1"',
    "target-version": 'write [engine-versions] with vllm = "0.19.1"',
    "rule-settings": 'write [rule."vllm/some-rule"]',
}
"""Names that other tools give to a key -> what to write here."""

PREFIX = "SERVELINT_"


def variable(name: str) -> str:
    """The variable of the environment that sets a key."""
    return PREFIX + name.replace("-", "_").upper()


def option(name: str) -> str:
    """The option of the command line that sets a key."""
    return "--" + ("engine-version" if name == "engine-versions" else name)


# -- single values: each function raises ValueError with what is wrong


def engine(name: str) -> str:
    """An engine's id."""
    if name not in ENGINE_NAMES:
        hint = suggestion(name, list(ENGINE_NAMES))
        raise ValueError(f'"{name}" is not an engine; use one of {", ".join(ENGINE_NAMES)}{hint}')
    return name


def gpu(name: str) -> str:
    """The name of a GPU that servelint knows."""
    from servelint import hardware

    if hardware.identify(name) is None:
        near = hardware.near(name)
        hint = f"did you mean {', '.join(near)}?" if near else f"use one of {', '.join(hardware.names())}"
        raise ValueError(f'"{name}" is not a GPU that servelint knows; {hint}')
    return name


def choice(written: str, choices: tuple[str, ...]) -> str:
    """One of some words."""
    if written not in choices:
        raise ValueError(f'"{written}" is none of {", ".join(choices)}{suggestion(written, choices)}')
    return written


def suggestion(written: str, known: tuple[str, ...] | list[str], cutoff: float = 0.6) -> str:
    """' (did you mean "x"?)', or nothing where nothing is near. cutoff: from 0 to 1, how near it must be."""
    import difflib

    near = difflib.get_close_matches(written, known, n=1, cutoff=cutoff)
    return f' (did you mean "{near[0]}"?)' if near else ""
