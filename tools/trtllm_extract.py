"""The catalog of TensorRT-LLM, from what its harvester reads of a release.

    python tools/trtllm_extract.py SOURCE RELEASE   add the extract of a source folder, and write the catalog
    python tools/trtllm_extract.py                  write the catalog

The package index has no sources of TensorRT-LLM. What the harvester reads of them is therefore stored: click decorators, fields
of classes, members of enums, tables of classes and the variables that are read. Docstrings, descriptions and the bodies of
functions are left out. A release between two that are stored is judged by what both say.

| release | command line | keys of the YAML file |
|---|---|---|
| 0.18.2, 0.19.0, 0.20.0 | (1) | not judged: 0.20.0 allows keys that it does not know |
| 0.21.0, 1.0.0, 1.1.0, 1.2.0 | (1) | the page `_modules/tensorrt_llm/llmapi/llm_args.html` of the release's documentation (3) |
| 1.0.0rc6, 1.1.0rc5 | (1) of the release that follows | not stored: no candidate before 1.1.0 is judged |
| 1.3.0rc3 | the source whose version.py says 1.3.0rc3 | the same source |
| 1.3.0rc27, 1.3.0rc29 | (1) | those of the file itself: the page `llm-api/reference/TorchLlmArgs.html` of its documents (2) |
| 1.3.0rc14, 1.3.0rc22 | (1) | not stored |

(1) The command's page in the documentation of the release.
(2) Keys that 1.3.0rc3 has and the page lacks are taken to be allowed. Keys of objects in the file are those of llm_args.py of
    commit 0004396, which lies between the two: rc29 has keys that it lacks, and rc27 has none. Not all are stored, so a key
    that no release has is not judged (`'extra': 'unknown'`). Those of moe_config are the page of MoeConfig in rc27; its
    backends in rc29 are those that the page of MTPDecodingConfig lists. rc29 lacks what the commit lacks.
(3) Of 1.1.0 and 1.2.0, the classes of other files (LoraConfig, QuantConfig, of 1.2.0 also BuildConfig) are those of 1.3.0rc3.
    All but the keys of objects of the first and QuantConfig ignore keys that they do not know.

The pages of 0.21.0 and 1.0.0 name the commits that they were made from, 751d5f1 and ae8270b. The releases of these numbers of
triton-inference-server/tensorrtllm_backend (3815eb3, efb8a49) pin the same. Classes of 0.21.0 that ignore unknown keys are left
out where their types do not matter. A candidate may have keys that neither the release before nor the one after it has.
Later commits of the same submodule: 48b7b5d is 1.1.0, 80649a8 is 1.2.0rc8, ca88df0 is 1.2.1; earlier ones: 5aec7af is 0.18.2,
c6f7d42 is 0.19.0, 7965842 is 0.20.0. The files of these commits were not at hand.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from typing import Any

from servelint.harvest import store, trtllm
from servelint.harvest.command import DATA, patches
from servelint.harvest.sources import Tree, open_local

EXTRACTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "harvest", "trtllm.json")
_COMMAND_LINE = ("logger.py",)
# release -> the files that it takes from the extract of _SOURCE beside its own; () for all
RELEASES = {
    "0.18.2": _COMMAND_LINE,
    "0.19.0": _COMMAND_LINE,
    "0.20.0": _COMMAND_LINE,
    "0.21.0": _COMMAND_LINE,
    "1.0.0rc6": _COMMAND_LINE,
    "1.0.0": _COMMAND_LINE,
    "1.1.0rc5": _COMMAND_LINE,
    "1.1.0": (),
    "1.2.0": (),
    "1.3.0rc3": (),
    "1.3.0rc14": _COMMAND_LINE,
    "1.3.0rc22": _COMMAND_LINE,
    "1.3.0rc27": _COMMAND_LINE,
    "1.3.0rc29": _COMMAND_LINE,
}
_SOURCE = "1.3.0rc3"
"""The release whose source is stored whole"""

FILES = (
    "commands/serve.py",
    "llmapi/llm_args.py",
    "llmapi/reasoning_parser.py",
    "serve/tool_parser/tool_parser_factory.py",
    "logger.py",
    "lora_helper.py",
    "models/modeling_utils.py",
    "quantization/mode.py",
    "builder.py",
    "plugin/__init__.py",
    "serve/tool_parser/__init__.py",
    "plugin/plugin.py",
    "llmapi/kv_cache_type.py",
)
_FOLDER = "serve/tool_parser"
_PROSE = ("help", "description", "json_schema_extra", "status")
_CLASSES = (
    "Config",
    "Args",
    "Model",
    "Kind",
    "Mode",
    "Policy",
    "Type",
    "Format",
    "Algo",
    "Mirror",
    "Parser",
    "Factory",
    "Choice",
)


def reduced(text: str) -> str:
    """The declarations of a module."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [
                word for word in node.keywords if word.arg not in _PROSE or ast.unparse(word.value) == "'deprecated'"
            ]
    return ast.unparse(ast.Module([kept for node in tree.body if (kept := _kept(node)) is not None], [])) + "\n"


def _kept(node: ast.stmt) -> ast.stmt | None:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return (
            node
            if isinstance(node, ast.Import) or node.level or "tensorrt_llm" in (node.module or "") or _small(node)
            else None
        )
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return node
    if isinstance(node, ast.FunctionDef):
        commands = any("click" in ast.unparse(one) for one in node.decorator_list)
        if commands or "llm_args.pop" in ast.unparse(node):
            taken = [
                ast.Expr(one) for one in ast.walk(node) if isinstance(one, ast.Call) and "llm_args.pop" in ast.unparse(one.func)
            ]
            node.body, node.args = [*taken, ast.Pass()], ast.arguments([], [], None, [], [], ast.arg("options"), [])
            return node
        node.body = [
            one for one in node.body if isinstance(one, ast.Assign) and "field_mapping" in ast.unparse(one)
        ] or node.body
        return (
            node if node.name in ("Field", "update_llm_args_with_extra_dict") or "click.option(" in ast.unparse(node) else None
        )
    if isinstance(node, ast.ClassDef) and node.name.strip("_").endswith(_CLASSES):
        body = [kept for one in node.body if (kept := _member(one)) is not None]
        node.body = body or [ast.Pass()]
        return node
    return None


def _small(node: ast.ImportFrom) -> bool:
    return node.module in ("typing", "pydantic", "enum", "strenum", "dataclasses", "pathlib", "abc")


def _member(node: ast.stmt) -> ast.stmt | None:
    if isinstance(node, (ast.AnnAssign, ast.Assign, ast.ClassDef)):
        return node
    if isinstance(node, ast.FunctionDef):
        code = ast.unparse(node)
        tables = [one for one in node.body if isinstance(one, ast.Assign) and isinstance(one.value, ast.Dict)]
        if node.name == "from_dict" and tables:
            node.body = [*tables, *[one for one in node.body if isinstance(one, ast.Assign) and ".get(" in ast.unparse(one)]]
            return node
        if "__members__" in code or ".upper()]" in code:
            return node
        if any("validator" in ast.unparse(one) and "before" in ast.unparse(one) for one in node.decorator_list):
            node.body = [ast.Pass()]
            return node
    return None


def add(source: str, release: str) -> None:
    """Put the extract of a source folder into the file of extracts."""
    folder = os.path.join(source, "tensorrt_llm", _FOLDER)
    parsers = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    found: dict[str, str] = {}
    for name in (*FILES, *[f"{_FOLDER}/{one}" for one in parsers if one.endswith("parser.py")]):
        path = os.path.join(source, "tensorrt_llm", name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found["tensorrt_llm/" + name] = reduced(file.read())
    read = trtllm.snapshot(open_local("trtllm", source, release))["env"]
    calls = [
        f"os.environ.get({name!r}{', ' + repr(body['default']) if 'default' in body else ''})" for name, body in read.items()
    ]
    found["tensorrt_llm/__init__.py"] = "\n".join(["import os", "", *calls, ""])
    known = _extracts()
    known[release] = {path: text.split("\n") for path, text in sorted(found.items())}
    with open(EXTRACTS, "w", encoding="utf-8") as file:
        file.write(json.dumps(known, indent=0, ensure_ascii=False) + "\n")


def _extracts() -> dict[str, dict[str, list[str]]]:
    with open(EXTRACTS, encoding="utf-8") as file:
        found: dict[str, dict[str, list[str]]] = json.load(file)
    return found


def tree(release: str) -> dict[str, str]:
    """The files of a release. One without a file has that of _SOURCE, where RELEASES lets it."""
    extracts, taken = _extracts(), RELEASES[release]
    kept = {path: text for path, text in extracts[_SOURCE].items() if not taken or path.removeprefix("tensorrt_llm/") in taken}
    return {path: "\n".join(text) for path, text in {**kept, **extracts[release]}.items()}


def catalog() -> dict[str, Any]:
    """The catalog of all extracts."""
    snapshots = [trtllm.snapshot(Tree("trtllm", release, tree(release))) for release in RELEASES]
    return store.merge("trtllm", snapshots, patches("trtllm"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        add(*sys.argv[1:3])
    store.write(os.path.join(DATA, "trtllm.json"), catalog())
