"""Every other file: Dockerfiles, Makefiles, justfiles, batch files, units, programs, pages, notebooks, recipes, variables."""

from __future__ import annotations

from fuzz import grammar
from fuzz.case import Case
from fuzz.properties import of_a_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fuzz.chance import Chance

check = of_a_text

_WRAPPERS = (
    "json-argv", "json-script", "json-container", "batch", "dockerfile-exec", "dockerfile-shell", "dockerfile-script", "env-command",
    "kubernetes-json", "makefile", "justfile", "markdown-list", "markdown-console", "notebook", "procfile", "supervisor", "systemd",
    "quadlet",
)  # fmt: skip
_NAMES = (
    "Dockerfile", "Makefile", "justfile", "start.bat", "llm.service", "llm.container", "supervisord.conf", "Procfile", "README.md",
    "serve.ipynb", "recipe.json", "spec.json", "speculative-config.json", ".env",
)  # fmt: skip


def make(chance: Chance) -> Case:
    return grammar.file(chance, _WRAPPERS, _NAMES)
