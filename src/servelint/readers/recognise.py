"""Which reader a text goes to: told by its name where that says enough, else by its shape."""

from __future__ import annotations

import re

from servelint.core.source import Source

YAML, JSON = "yaml", "json"
"""Texts whose reader only their content tells; every other kind is the name of its reader."""

SERVICES = re.compile(r"(?m)^[ \t]*[\"']?services[\"']?[ \t]*:")
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

# patterns that are compiled when a file needs them: a check of one YAML file needs none
_NAMES = (
    (r"\.ya?ml$", YAML),
    (r"\.json[c5]?$", JSON),
    (r"\.ipynb$", "notebook"),
    (r"\.(?:sh|bash|zsh|ksh|sbatch|slurm)$", "shell_script"),
    (r"\.(?:md|mdx|markdown)$", "markdown"),
    (r"(?:^|[._-])(?:docker|container)file(?:[._-].*)?$", "dockerfile"),
    (r"\.(?:service|container)$", "systemd"),
    (r"^(?:gnu)?makefile(?:\..*)?$|\.(?:mk|mak)$", "makefile"),
    (r"^\.?justfile$|\.(?:just|justfile)$", "justfile"),
    (r"\.(?:bat|cmd)$", "batch"),
    (r"^procfile(?:\..*)?$", "procfile"),
    (r"^\.env(?:\..+)?$|\.env(?:\..+)?$", "env_file"),
)
_SHEBANG = r"#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)"
_SHAPES = (
    (r"(?m)^[ \t]*\[program:", "supervisor"),
    (r"(?m)^[ \t]*(?:ExecStart|Exec)[ \t]*=", "systemd"),
)
_ANY_SHAPES = (
    (SERVICES.pattern, YAML),
    (r"(?m)^[\"']?(?:apiVersion|kind)[\"']?[ \t]*:", YAML),
    (r"(?i)\A(?:\s|#[^\n]*\n|ARG[ \t][^\n]*\n)*FROM[ \t]+\S", "dockerfile"),
)


def recognise(source: Source) -> str | None:
    """A reader's name, YAML, JSON, or None for a text that no reader takes."""
    text = source.text
    start = text.lstrip()[:1]
    name = source.path.lower().rpartition("/")[2]
    if name.endswith((".yml", ".yaml")):
        return YAML
    plain = _TEMPLATE.sub("", name)
    for pattern, kind in _NAMES:
        if re.search(pattern, plain):
            return None if kind == JSON and start not in ("{", "[", "/") else kind
    if start == "#" and re.match(_SHEBANG, text):
        return "shell_script"
    extension = "." in name.strip(".")
    if extension and not name.endswith((".conf", ".ini", ".txt", ".tpl", ".tmpl", ".template")):
        return None
    for pattern, kind in _SHAPES:
        if re.search(pattern, text):
            return kind
    if extension and name.endswith((".conf", ".ini")):
        return "env_file"
    if start == "{":
        return JSON
    return next((kind for pattern, kind in _ANY_SHAPES if re.search(pattern, text)), None)
