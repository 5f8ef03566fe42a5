"""The JSON Schemas of settings files and of policies, for editors, made of the tables by which servelint reads these files.

tools/formats.py writes them into schemas/.
"""

from __future__ import annotations

import json
from typing import Any

from servelint.admission.policy import EXEMPT, NAME, SCOPE, TERMS
from servelint.engines import ENGINE_NAMES
from servelint.settings.keys import (
    CHOICE,
    COUNT,
    FILE,
    FOLDERS,
    GLOBS,
    GPU,
    KEYS,
    PATHS,
    PATTERNS,
    PER_PATH,
    PLACES,
    RELEASES,
    RULE,
    RULE_KEYS,
    SWITCH,
    Key,
)  # fmt: skip

_TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string", "minLength": 1}}
_RELEASES = {engine: {"type": "string", "description": f"a release of {name}"} for engine, name in ENGINE_NAMES.items()}
_SHAPES: dict[str, dict[str, Any]] = {
    **{kind: {"type": "string"} for kind in (FILE, GPU)},
    **dict.fromkeys((FOLDERS, GLOBS, PATTERNS), _TEXTS),
    RELEASES: {"type": "object", "additionalProperties": False, "properties": _RELEASES},
    COUNT: {"type": "integer", "minimum": 1},
    SWITCH: {"type": "boolean"},
    PLACES: {"anyOf": [_TEXTS, {"const": True}, {"const": False}]},
}


def settings() -> dict[str, Any]:
    """The schema of a servelint.toml, and of [tool.servelint]."""
    per_path = {
        PATHS: {**_TEXTS, "minItems": 1, "description": "the paths that the table is for, as patterns"},
        **{key.name: _of(key) for key in KEYS.values() if key.per_path},
        RULE: {"$ref": "#/$defs/rules"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://raw.githubusercontent.com/servelint/servelint/main/schemas/settings.schema.json",
        "title": "Settings of servelint",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **{key.name: _of(key) for key in KEYS.values()},
            RULE: {"$ref": "#/$defs/rules"},
            PER_PATH: {
                "type": "array",
                "description": "settings for some paths; if two tables match a path, the later one wins",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": [PATHS],
                    "properties": per_path,
                },
            },
        },
        "$defs": {
            "rules": {
                "type": "object",
                "description": "settings of rules: the id of a rule, or an area such as container/*",
                "additionalProperties": {
                    "type": "object",
                    "properties": {key.name: _of(key) for key in RULE_KEYS.values()},
                    "additionalProperties": {
                        "description": "an option of the rule (servelint explain RULE lists them)",
                        "anyOf": [{"type": ["number", "string", "boolean"]}, _TEXTS],
                    },
                },
            }
        },
    }


def _of(key: Key) -> dict[str, Any]:
    shape = {"enum": list(key.choices)} if key.kind == CHOICE else _SHAPES[key.kind]
    found = {**shape, "description": key.says}
    if key.default is not None and key.kind in (CHOICE, SWITCH):
        found["default"] = key.default
    return found


def policy() -> dict[str, Any]:
    """The schema of a policy of `servelint admission`."""
    terms = {name: {"enum": list(choices), "description": says} for name, (choices, _, says) in TERMS.items()}
    texts = {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}
    named = {**texts, "items": {"type": "string", "pattern": f"^{NAME}$"}}
    labels = {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}
    shapes: dict[str, dict[str, Any]] = {"namespaces": texts, "labels": labels, "paths": named}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://raw.githubusercontent.com/servelint/servelint/main/schemas/admission-policy.schema.json",
        "title": "Policy of servelint admission",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **{name: {**terms[name], "default": default} for name, (_, default, _) in TERMS.items()},
            "exempt": {
                "type": "object",
                "description": "objects that are not judged",
                "additionalProperties": False,
                "properties": {name: {**texts, "description": says} for name, says in EXEMPT.items()},
            },
            "overrides": {
                "type": "array",
                "minItems": 1,
                "description": "other values for some objects; if two overrides match, the later one wins",
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


def text(schema: dict[str, Any]) -> str:
    """A schema as the text of a file."""
    return json.dumps(schema, indent=2) + "\n"
