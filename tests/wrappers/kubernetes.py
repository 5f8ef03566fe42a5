"""Examples as containers of Kubernetes objects."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.wrapping import image_of, single_quoted, verb_of, words

_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")


def referred(text: str) -> str:
    """Variables as Kubernetes writes them: `$(MODEL)`."""
    return _VARIABLE.sub(lambda match: f"$({match.group(1) or match.group(2)})", text)


def environment(example: dict[str, Any], indent: str) -> str:
    if "env" not in example:
        return ""
    pairs = [(name, referred(value)) for name, value in example["env"].items()]
    variables = [f'{indent}  - name: {name}\n{indent}    value: "{value}"\n' for name, value in pairs]
    return f"{indent}env:\n" + "".join(variables)


def deployment(container: str) -> str:
    return (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: llm\nspec:\n  selector: {matchLabels: {app: llm}}\n"
        "  template:\n    metadata: {labels: {app: llm}}\n    spec:\n      containers:\n"
        f"        - name: server\n{container}"
        "          resources: {limits: {nvidia.com/gpu: 1}}\n"
    )


def kubernetes_args(engine: str, example: dict[str, Any]) -> str:
    image, starts = image_of(engine, example)
    verb, rest = verb_of(example["run"], engine), ""
    argv = words(referred(example["run"].removeprefix(verb)))
    command = "" if starts else f"          command: [{', '.join(words(verb))}]\n"
    if argv:
        rest = "          args:\n" + "".join([f"            - {single_quoted(word)}\n" for word in argv])
    return deployment(f"          image: {image}\n{environment(example, '          ')}{command}{rest}")


def kubernetes_shell(engine: str, example: dict[str, Any]) -> str:
    image, _ = image_of(engine, example)
    lines = example["run"].replace(" --", " \\\n                --")
    return deployment(
        f"          image: {image}\n{environment(example, '          ')}          command: [/bin/bash, -c]\n"
        f"          args:\n            - |\n              set -e\n              exec {lines}\n"
    )


def kubernetes_json(engine: str, example: dict[str, Any]) -> str:
    image, starts = image_of(engine, example)
    verb = verb_of(example["run"], engine)
    argv = words(referred(example["run"].removeprefix(verb)))
    env = [{"name": name, "value": referred(value)} for name, value in example.get("env", {}).items()]
    container = {"name": "server", "image": image, "args": argv, "env": env}
    if not starts:
        container["command"] = words(verb)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "llm"}, "spec": {"containers": [container]}}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod]}, indent=2, ensure_ascii=False)


WRAPPERS = {
    "kubernetes-args": ("deployment.yaml", kubernetes_args),
    "kubernetes-shell": ("deployment.yaml", kubernetes_shell),
    "kubernetes-json": ("pod.json", kubernetes_json),
}
