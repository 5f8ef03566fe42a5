"""The JSON Schema of policy files, for editors. `python -m servelint.admission.schema FILE` writes it."""

from __future__ import annotations

import json
import sys

from servelint.admission.policy_keys import EXEMPT, NAME, SCOPE, TERMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def schema() -> dict[str, Any]:
    """The schema of a policy file."""
    terms = {name: {"enum": list(choices), "description": says} for name, (choices, _, says) in TERMS.items()}
    texts = {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}
    named = {**texts, "items": {"type": "string", "pattern": f"^{NAME}$"}}
    labels = {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}
    shapes: dict[str, dict[str, Any]] = {"namespaces": texts, "labels": labels, "paths": named}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://servelint.invalid/schemas/admission-policy.schema.json",
        "title": "Policy of servelint admission",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **{name: {**terms[name], "default": default} for name, (_, default, _) in TERMS.items()},
            "exempt": {
                "type": "object",
                "description": "whose objects are not judged",
                "additionalProperties": False,
                "properties": {name: {**texts, "description": says} for name, says in EXEMPT.items()},
            },
            "overrides": {
                "type": "array",
                "minItems": 1,
                "description": "other terms for some objects; of overrides that are for the same object the later wins",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {**{name: {**shapes[name], "description": says} for name, says in SCOPE.items()}, **terms},
                    "allOf": [
                        {"anyOf": [{"required": [name]} for name in SCOPE]},
                        {"anyOf": [{"required": [name]} for name in TERMS]},
                    ],
                },
            },
        },
    }


def text() -> str:
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as file:
        file.write(text())
