"""The JSON Schema of settings files, for editors. `python -m servelint.files.settings.schema FILE` writes it.

It says what single values are. Which rules and options there are is not in it: rules come with every release.
"""

from __future__ import annotations

import json
import sys

from servelint.engines import ENGINE_NAMES
from servelint.files.settings import keys
from servelint.files.settings.keys import KEYS, PATHS, PER_PATH, RULE, RULE_KEYS, Key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string", "minLength": 1}}
_SHAPES: dict[str, dict[str, Any]] = {
    keys.FILE: {"type": "string"},
    keys.FOLDERS: _TEXTS,
    keys.GLOBS: _TEXTS,
    keys.PATTERNS: _TEXTS,
    keys.RELEASES: {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            engine: {"type": "string", "description": f"a release of {name}"} for engine, name in ENGINE_NAMES.items()
        },
    },
    keys.GPU: {"type": "string"},
    keys.COUNT: {"type": "integer", "minimum": 1},
    keys.SWITCH: {"type": "boolean"},
    keys.PLACES: {"anyOf": [_TEXTS, {"const": True}, {"const": False}]},
}


def schema() -> dict[str, Any]:
    """The schema of a servelint.toml, and of [tool.servelint]."""
    per_path = {
        PATHS: {**_TEXTS, "minItems": 1, "description": "the paths that the table is for, as patterns"},
        **{key.name: _of(key) for key in KEYS.values() if key.per_path},
        RULE: {"$ref": "#/$defs/rules"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://servelint.invalid/schemas/settings.schema.json",
        "title": "Settings of servelint",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **{key.name: _of(key) for key in KEYS.values()},
            RULE: {"$ref": "#/$defs/rules"},
            PER_PATH: {
                "type": "array",
                "description": "settings for some paths; of tables that are for the same path the later wins",
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
    shape = {"enum": list(key.choices)} if key.kind == keys.CHOICE else _SHAPES[key.kind]
    found = {**shape, "description": key.says}
    if key.default is not None and key.kind in (keys.CHOICE, keys.SWITCH):
        found["default"] = key.default
    return found


def text() -> str:
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as file:
        file.write(text())
