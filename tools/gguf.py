"""Writes models/gguf.json: from which build of llama.cpp on a GGUF file of each architecture loads.

usage: python tools/gguf.py FOLDER

FOLDER has a folder for each build that was read, named by it (`b6122`): files of its source tree under their own paths
(src/llama-arch.cpp or src/llama.cpp, gguf-py/gguf/constants.py, convert_hf_to_gguf.py, conversion/*.py), or the shared library
libllama.so of a package for that build.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

from servelint.harvest.llamacpp import clean, initializer

OUTPUT = Path(__file__).parents[1] / "src/servelint/models/gguf.json"
ABOUT = (
    "Architectures of GGUF files that came after the first build read: [the last build read that does not have it, the first"
    " that does], by LLM_ARCH_NAMES in src/llama-arch.cpp. classes: architectures in config.json, and all that the conversion"
    " of llama.cpp made of them."
)


def in_source(build: Path) -> list[str]:
    """The names that a source tree's loader looks an architecture up in, [] where the build is not a source tree."""
    for path in ("src/llama-arch.cpp", "src/llama.cpp"):
        file = build / path
        body = initializer(clean(file.read_text(encoding="utf-8")), "LLM_ARCH_NAMES") if file.is_file() else None
        if body is not None:
            return re.findall(r"\{\s*LLM_ARCH_\w+\s*,\s*\"([^\"]+)\"", body)
    return []


def absent(build: Path, names: set[str]) -> set[str]:
    """Those of the names that no string of a shared library is or ends with. One that has a string may mean a tokenizer."""
    data = (build / "libllama.so").read_bytes()
    return {name for name in names if name.encode() + b"\0" not in data}


def converted(build: Path) -> dict[str, set[str]]:
    """The architecture in config.json -> the names that the conversion of a source tree may give its GGUF file."""
    constants, scripts = build / "gguf-py/gguf/constants.py", [build / "convert_hf_to_gguf.py", *build.glob("conversion/*.py")]
    if not constants.is_file():
        return {}
    table = re.search(r"MODEL_ARCH_NAMES[^=]*= \{(.*?)\n\}", constants.read_text(encoding="utf-8"), re.DOTALL)
    names = dict(re.findall(r"MODEL_ARCH\.(\w+)\s*:\s*\"([^\"]+)\"", table.group(1) if table else ""))
    made = [one for file in scripts if file.is_file() for one in ast.parse(file.read_text(encoding="utf-8")).body]
    classes = {one.name: one for one in made if isinstance(one, ast.ClassDef)}
    found: dict[str, set[str]] = {}

    def gives(name: str) -> set[str]:
        one = classes.get(name)
        if one is None:
            return set()
        own = {names.get(arch, arch) for arch in re.findall(r"model_arch\b[^=\n]*= *gguf\.MODEL_ARCH\.(\w+)", ast.unparse(one))}
        return own or {arch for base in one.bases for arch in gives(ast.unparse(base).rpartition(".")[2])}

    for one in classes.values():
        for call in one.decorator_list:
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".register"):
                for said in (arg.value for arg in call.args if isinstance(arg, ast.Constant)):
                    found.setdefault(said, set()).update(gives(one.name) - {"mmproj", "clip"})
    return found


def main(folder: Path) -> None:
    """Read all builds and write the table."""
    builds = sorted((int(one.name[1:]), one) for one in folder.glob("b*") if one.is_dir())
    lists = {build: set(in_source(path)) for build, path in builds}
    every = set[str]().union(*lists.values())
    lacks = {build: every - lists[build] if lists[build] else absent(path, every) for build, path in builds}
    bounds: dict[str, list[str]] = {}
    for name in sorted(lacks[builds[0][0]]):
        since = min(build for build, _ in builds if name in lists[build])
        bounds[name] = [f"b{max(build for build, _ in builds if build < since and name in lacks[build])}", f"b{since}"]
    classes: dict[str, set[str]] = {}
    for _, path in builds:
        for architecture, names in converted(path).items():
            classes.setdefault(architecture, set()).update(names)
    late = {one: sorted(names) for one, names in sorted(classes.items()) if names and names <= set(bounds)}
    lines = [f' "about": {json.dumps(ABOUT)}', f' "builds": {json.dumps(" ".join(path.name for _, path in builds))}']
    for key, rows in (("architectures", bounds), ("classes", late)):
        body = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
        lines.append(f' "{key}": {{\n{body}\n }}')
    OUTPUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
