"""Which reader a text goes to: told by its name where that says enough, else by its shape."""

from __future__ import annotations

import re

from servelint.source import Source

YAML, JSON = "yaml", "json"
"""Texts whose reader only their content tells; every other kind is the name of its reader."""

SERVICES = re.compile(r"^[ \t]*[\"']?services[\"']?[ \t]*:", re.MULTILINE)
"""What a compose file has, even one that cannot be parsed."""

_SUFFIX = r"(?:\.(?:in|j2|jinja2?|tmpl|tpl|gotmpl|template|example|sample|dist))?$"
_TEMPLATE = re.compile(rf"(?<=.){_SUFFIX}")

CANDIDATE = re.compile(
    r"(?i)\.(?:ya?ml|json[c5]?|ipynb|sh|bash|zsh|ksh|sbatch|slurm|md|mdx|markdown|service|container|mk|mak|just|justfile|bat|cmd"
    rf"|conf|ini){_SUFFIX}"
    r"|(?:^|[/._-])(?:docker|container)file(?:[._-][^/]*)?$|(?:^|/)(?:(?:gnu)?makefile|procfile)\.[^/]*$|(?:^|/)\.justfile$"
    r"|\.env(?:\.[^/]*)?$|(?:^|/)[^./]+$"
)
"""The names of files that are looked at in a folder; a file that is named is always looked at."""

_NAMES = (
    (re.compile(r"\.ya?ml$"), YAML),
    (re.compile(r"\.json[c5]?$"), JSON),
    (re.compile(r"\.ipynb$"), "notebook"),
    (re.compile(r"\.(?:sh|bash|zsh|ksh|sbatch|slurm)$"), "shell_script"),
    (re.compile(r"\.(?:md|mdx|markdown)$"), "markdown"),
    (re.compile(r"(?:^|[._-])(?:docker|container)file(?:[._-].*)?$"), "dockerfile"),
    (re.compile(r"\.(?:service|container)$"), "systemd"),
    (re.compile(r"^(?:gnu)?makefile(?:\..*)?$|\.(?:mk|mak)$"), "makefile"),
    (re.compile(r"^\.?justfile$|\.(?:just|justfile)$"), "justfile"),
    (re.compile(r"\.(?:bat|cmd)$"), "batch"),
    (re.compile(r"^procfile(?:\..*)?$"), "procfile"),
    (re.compile(r"^\.env(?:\..+)?$|\.env(?:\..+)?$"), "env_file"),
)
_SHEBANG = re.compile(r"#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)")
_SHAPES = (
    (re.compile(r"^[ \t]*\[program:", re.MULTILINE), "supervisor"),
    (re.compile(r"^[ \t]*(?:ExecStart|Exec)[ \t]*=", re.MULTILINE), "systemd"),
)
_ANY_SHAPES = (
    (SERVICES, YAML),
    (re.compile(r"^[\"']?(?:apiVersion|kind)[\"']?[ \t]*:", re.MULTILINE), YAML),
    (re.compile(r"\A(?:\s*#[^\n]*\n|\s+|ARG[ \t][^\n]*\n)*FROM[ \t]+\S", re.IGNORECASE), "dockerfile"),
)


def recognise(source: Source) -> str | None:
    """A reader's name, YAML, JSON, or None for a text that no reader takes."""
    text = source.text
    start = text.lstrip()[:1]
    name = source.path.lower().rpartition("/")[2]
    plain = _TEMPLATE.sub("", name)
    for pattern, kind in _NAMES:
        if pattern.search(plain):
            return None if kind == JSON and start not in ("{", "[", "/") else kind
    if start == "#" and _SHEBANG.match(text):
        return "shell_script"
    extension = "." in name.strip(".")
    if extension and not name.endswith((".conf", ".ini", ".txt", ".tpl", ".tmpl", ".template")):
        return None
    for pattern, kind in _SHAPES:
        if pattern.search(text):
            return kind
    if extension and name.endswith((".conf", ".ini")):
        return "env_file"
    if start == "{":
        return JSON
    return next((kind for pattern, kind in _ANY_SHAPES if pattern.search(text)), None)
