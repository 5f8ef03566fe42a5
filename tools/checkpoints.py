"""Writes models/classes.json: checkpoints that vLLM's own tests and documentation name for each model class.

usage: python tools/checkpoints.py OUTPUT.json SDIST...

SDIST is the unpacked source archive of a release of vLLM, the oldest first; a later one wins.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

_LISTS = r"_(TEXT_GENERATION|EMBEDDING|REWARD|TOKEN_CLASSIFICATION|SEQUENCE_CLASSIFICATION|MULTIMODAL)_EXAMPLE_MODELS"
_ELSEWHERE = re.compile(r"tiny|random|dummy|placeholder", re.IGNORECASE)


def examples(path: Path) -> dict[str, set[tuple[str, bool]]]:
    """Each checkpoint of tests/models/registry.py -> the classes that load it as it is, and whether they take media."""
    found: dict[str, set[tuple[str, bool]]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(target, ast.Name) or not re.fullmatch(_LISTS, target.id):
            continue
        table = node.value if isinstance(node, ast.Assign) else None
        for key, call in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
            if not isinstance(key, ast.Constant) or not isinstance(call, ast.Call):
                continue
            words = {word.arg: word.value for word in call.keywords}
            extras = call.args[1] if len(call.args) > 1 else words.get("extras")
            named = [*call.args[:1], *(extras.values if isinstance(extras, ast.Dict) else ())]
            if "architectures" in ast.dump(words.get("hf_overrides", ast.Constant(None))):
                continue
            for name in named:
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    found.setdefault(name.value, set()).add((str(key.value), "MULTIMODAL" in target.id))
    return found


def documented(path: Path) -> dict[str, set[str]]:
    """Each checkpoint of docs/models/supported_models.md -> the classes in whose rows it stands."""
    found: dict[str, set[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        classes = re.findall(r"`(\w+)`", line.split("|")[1]) if line.startswith("| `") else []
        for name in re.findall(r"`([\w.-]+/[\w.-]+)`", line) if len(classes) == 1 else ():
            found.setdefault(name, set()).add(classes[0])
    return found


def main(output: str, *sdists: str) -> None:
    """Write the table. A checkpoint of several classes is left out."""
    names: dict[str, str] = {}
    media: dict[str, bool] = {}
    for sdist in map(Path, sdists):
        found = examples(sdist / "tests/models/registry.py")
        for one in found.values():
            media.update(one)
        for name, classes in documented(sdist / "docs/models/supported_models.md").items():
            if name not in found and len(classes) == 1 and classes <= media.keys():
                names[name] = classes.copy().pop()
        for name, pairs in found.items():
            names.pop(name, None)
            if len(pairs) == 1 and "/" in name and not _ELSEWHERE.search(name):
                names[name] = min(pairs)[0]
    table: dict[str, list[str]] = {}
    for name in sorted(names, key=str.lower):
        table.setdefault(names[name], []).append(name)
    releases = ", ".join(Path(one).name for one in sdists)
    about = (
        "Model class -> checkpoints; written by tools/checkpoints.py from tests/models/registry.py and "
        f"docs/models/supported_models.md of vLLM {releases}."
    )
    rows = [f" {json.dumps(name)}: {json.dumps(table[name])}" for name in sorted(table)]
    kinds = json.dumps(sorted(name for name in table if media[name]))
    text = f'{{"about": {json.dumps(about)},\n"multimodal": {kinds},\n"classes": {{\n' + ",\n".join(rows) + "\n}}\n"
    Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
