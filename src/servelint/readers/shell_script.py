"""Shell scripts: every engine that a script starts, itself or in a container."""

from __future__ import annotations

import re

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.files.siblings import Neighbours
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext, env_file
from servelint.readers.registry import Format

FORMAT = Format(
    "shell",
    120,
    title="shell",
    about="evaluated without running it: variables, arrays, functions, loops, branches, `source`, files that the script "
    "writes, scripts that it calls, `docker run`, `ssh`, `tmux`, `srun`, `bash -c` and what else stands before an engine",
    files=("*.bash", "*.ksh", "*.sbatch", "*.sh", "*.slurm", "*.zsh"),
    shape=r"\A#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)",
    any_name=True,
    languages=("shellscript",),
)

_TEMPLATE = re.compile(r"\.(?:j2|jinja2?|tmpl|tpl|gotmpl|template)$", re.IGNORECASE)
_VALUES = re.compile(r"\{\{-?\s*\$?\.Values\.")
_BLOCK = re.compile(r"^[ \t]*\{%-?\s*(?:if|for|set)\b[^\n]*%\}", re.MULTILINE)


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a script. One that is a template is read with its holes as unknowns."""
    text = Text.at(source, 0, len(source.text))
    if _TEMPLATE.search(source.path) or _has_actions(source.text):
        from servelint.syntax import templates

        text = templates.filled(text, script=True)
    return script_launches(text, CommandContext(source, env_file=env_file(neighbours), files=neighbours.read), None)


def _has_actions(text: str) -> bool:
    """Whether a text has what no shell script has, whatever it is called: an action of a chart's or a playbook's template."""
    return (".Values." in text and _VALUES.search(text) is not None) or ("{%" in text and _BLOCK.search(text) is not None)
