"""Examples as the values of charts, and as a chart's template."""

from __future__ import annotations

import re
from typing import Any

from tests.wrapping import image_of, single_quoted, verb_of, words

_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")


def items(argv: list[str], indent: str) -> str:
    return "".join([f"{indent}- {single_quoted(word)}\n" for word in argv])


def environment(example: dict[str, Any], indent: str) -> str:
    if "env" not in example:
        return ""
    variables = [f'{indent}- name: {name}\n{indent}  value: "{value}"\n' for name, value in example["env"].items()]
    return f"{indent}env:\n" + "".join(variables)


def image(engine: str, example: dict[str, Any], indent: str) -> str:
    repository, _, tag = image_of(engine, example)[0].rpartition(":")
    return f"{indent}image:\n{indent}  repository: {repository}\n{indent}  tag: {tag}\n"


def chart_of_vllm(engine: str, example: dict[str, Any]) -> str:
    """The whole command below the image."""
    return (
        f"{image(engine, example, '')}  command:\n{items(words(example['run']), '    ')}{environment(example, '  ')}"
        "containerPort: 8000\n"
    )


def modelservice(engine: str, example: dict[str, Any]) -> str:
    """A container of llm-d's chart with a command of its own, a script."""
    lines = example["run"].replace(" --", " \\\n            --")
    return (
        "modelArtifacts:\n  uri: hf://example/model\n  name: example/model\nrouting:\n  servicePort: 8000\n"
        f"decode:\n  create: true\n  containers:\n    - name: server\n      image: {image_of(engine, example)[0]}\n"
        f"{environment(example, '      ')}      modelCommand: custom\n      command: [/bin/bash, -c]\n"
        f"      args:\n        - |\n          set -e\n          exec {lines}\nprefill:\n  create: false\n"
    )


def template(engine: str, example: dict[str, Any]) -> str:
    """A chart's template, whose variables are values that nobody shows."""
    verb = verb_of(example["run"], engine)
    argv = words(example["run"].removeprefix(verb))
    filled = {**example, "env": {name: reference(value) for name, value in example.get("env", {}).items()}}
    args = f"          args:\n{items([reference(word) for word in argv], '            ')}" if argv else ""
    return (
        "{{- if .Values.enabled }}\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n"
        '  labels:\n    {{- include "chart.labels" . | nindent 4 }}\nspec:\n  selector: {matchLabels: {app: llm}}\n'
        "  template:\n    spec:\n      {{- with .Values.nodeSelector }}\n      nodeSelector:\n"
        "        {{- toYaml . | nindent 8 }}\n      {{- end }}\n      containers:\n        - name: server\n"
        f"          image: {image_of(engine, example)[0]}\n{environment(filled, '          ') if 'env' in example else ''}"
        f"          command: [{', '.join(words(verb))}]\n{args}"
        "          resources:\n            {{- toYaml .Values.resources | nindent 12 }}\n{{- end }}\n"
    )


def reference(text: str) -> str:
    """Variables as a chart's template writes them: `{{ .Values.MODEL }}`."""
    return _VARIABLE.sub(lambda match: f"{{{{ .Values.{match.group(1) or match.group(2)} }}}}", text)


WRAPPERS = {
    "helm-chart-vllm": ("values.yaml", chart_of_vllm),
    "helm-modelservice": ("ms-values.yaml", modelservice),
    "helm-template": ("templates/deployment.yaml", template),
}
