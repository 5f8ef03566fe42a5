"""YAML: compose, Helm values and templates, Kubernetes, tasks of other tools, files of options."""

from __future__ import annotations

from fuzz import grammar
from fuzz.case import Case
from fuzz.properties import of_a_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fuzz.chance import Chance

check = of_a_text

_WRAPPERS = (
    "compose-list", "compose-string", "compose-shell", "compose-flow", "compose-anchors", "compose-extends", "compose-config",
    "compose-build", "helm-chart-vllm", "helm-modelservice", "helm-template", "kubernetes-args", "kubernetes-shell", "skypilot",
    "github-actions", "recipe", "llama-swap",
)  # fmt: skip
_NAMES = (
    "compose.yml", "turboquant.yml", "stack.yml", "llama-cpp-mtp.yml", "silenced.yml", "deployment.yaml", "values.yaml",
    "templates/deployment.yaml", "tasks.yaml", "playbook.yml", "serve.sky.yaml", "workflow.yml", ".gitlab-ci.yml", "config.yaml",
    "recipe.yaml", "serve.yaml",
)  # fmt: skip


def make(chance: Chance) -> Case:
    return grammar.file(chance, _WRAPPERS, _NAMES)
