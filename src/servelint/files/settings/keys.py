"""What may be written in a settings file: the list by which files are validated, the schema is made and the docs are tested."""

from __future__ import annotations

from servelint.core.finding import SEVERITIES
from servelint.core.settings import FORMATS, PROFILES

FILE, FOLDERS, GLOBS, PATTERNS, CHOICE, RELEASES, GPU, COUNT, SWITCH, PLACES = (
    "file",
    "folders",
    "globs",
    "patterns",
    "choice",
    "releases",
    "gpu",
    "count",
    "switch",
    "places",
)
"""Kinds of values."""

RULE, PER_PATH, PATHS = "rule", "per-path", "paths"
"""The keys of tables: settings of rules, settings of paths, and the paths that these are for."""


class Key:
    """name, kind;  says: what it does, in a sentence;  default: what holds where nothing is said

    choices:  what a CHOICE may be;  per_path: whether it may stand in a table of PER_PATH
    variable: whether the environment may say it (SERVELINT_<NAME>)
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
        Key("extends", FILE, "another settings file, whose settings hold where this one says nothing", variable=False),
        Key("select", PATTERNS, "only these rules: ids, or areas such as vllm/*; starts anew", (), per_path=True),
        Key("extend-select", PATTERNS, "these rules too: ids, or areas such as vllm/*", (), per_path=True),
        Key("ignore", PATTERNS, "not these rules; adds to what is ignored already", (), per_path=True),
        Key("profile", CHOICE, "how much is told: strict adds best practice, audit everything", PROFILES[0],
            choices=PROFILES, per_path=True),
        Key("severity", CHOICE, "findings below it are left out", "info", choices=_LEVELS, per_path=True),
        Key("fail-on", CHOICE, "the least severity of findings that make the exit status 1", "error",
            choices=(*_LEVELS, "never"), per_path=True),
        Key("engine-versions", RELEASES, "the release of an engine where a file does not say", {}, per_path=True),
        Key("gpu", GPU, "the GPU where a file does not say", per_path=True),
        Key("gpu-count", COUNT, "how many GPUs a launch has where a file does not say", per_path=True),
        Key("rules", FOLDERS, "folders of rules of your own", ()),
        Key("exclude", GLOBS, "paths that are left out when a folder is searched", ()),
        Key("extend-exclude", GLOBS, "paths that are left out too", ()),
        Key("baseline", FILE, "the file of known findings, which are not told; read from the settings of the current folder"),
        Key("trusted-suppressions", CHOICE, "whose comments, settings and baselines count: those of the files, or those of the"
            " revision of --base; read from the settings of the current folder", "head", choices=("base", "head")),
        Key("read-outside", PLACES, "folders outside of the project whose files may be read where a file names them",
            (), variable=False),
        Key("force-exclude", SWITCH, "leave excluded files out also where they are named, as pre-commit does", False),
        Key("format", CHOICE, "how findings are printed; read from the settings of the current folder", "text",
            choices=FORMATS),
    )
}  # fmt: skip

RULE_KEYS = {"severity": Key("severity", CHOICE, "what a finding of the rule counts as", choices=_LEVELS)}
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
"""Keys that are called otherwise in other tools -> what is meant here."""


PREFIX = "SERVELINT_"


def variable(name: str) -> str:
    """The variable of the environment that says a key."""
    return PREFIX + name.replace("-", "_").upper()


def option(name: str) -> str:
    """The option of the command line that says a key."""
    return "--" + ("engine-version" if name == "engine-versions" else name)
