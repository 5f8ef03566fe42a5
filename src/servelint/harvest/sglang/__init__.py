"""SGLang: what `python -m sglang.launch_server` of a release accepts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from servelint.harvest.pysource import Program
from servelint.harvest.sglang.names import environment, names
from servelint.harvest.sglang.options import json_options, options
from servelint.harvest.sources import Tree


def snapshot(tree: Tree, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """The release's options, environment variables and names. `report` gets what could not be resolved."""
    program = Program(tree, report=report)
    found = options(tree, program, report)
    models = architectures(tree)
    return {
        "engine": "sglang",
        "release": tree.release,
        "options": found,
        "positionals": [],
        "json": json_options(program, found),
        "env": environment(tree, program, report),
        "names": {**names(program, found), **({"architectures": models} if models else {})},
    }


_FOLDER = "sglang/srt/models/"
_ENTRY = re.compile(r"^EntryClass\b[^=\n]*=\s*(\[[^\]]*\]|\w+)", re.MULTILINE)
_OUTSIDE = frozenset(("nn.Module", "torch.nn.Module", "Module", "ABC", "object", "Protocol", "PreTrainedModel"))
_METHODS = {
    "dflash": ("set_dflash_layers_to_capture", "set_dspark_layers_to_capture"),
    "eagle3": ("set_eagle3_layers_to_capture",),
    "embed-and-head": ("get_embed_and_head", "get_embed_and_head_for_draft"),
    "bitsandbytes": ("bitsandbytes_stacked_params_mapping",),
    "expert-location": ("get_model_config_for_expert_location",),
}


def architectures(tree: Tree) -> dict[str, dict[str, list[str]]]:
    """The architectures of the release's model classes, in order.

    `lacks` has what the class does not have: "pp" (its forward takes no pp_proxy_tensors), "dflash", "eagle3" and
    "embed-and-head" (the methods of a target of drafts), "bitsandbytes" and "expert-location" (of the expert balancer). It is
    left out where the bases of the class are not all known.
    """
    entries: set[str] = set()
    classes: dict[str, list[ast.ClassDef]] = {}
    for path in tree.paths(_FOLDER):
        text = tree.read(path) or ""
        for match in _ENTRY.finditer(text):
            entries |= {node.id for node in ast.walk(ast.parse(match.group(1))) if isinstance(node, ast.Name)}
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(node)
    return {name: _lacks(name, classes) for name in sorted(entries)}


def _lacks(name: str, classes: dict[str, list[ast.ClassDef]]) -> dict[str, list[str]]:
    """What a model class and its bases do not have."""
    lineage = _lineage(name, classes)
    if lineage is None:
        return {}
    methods: dict[str, ast.stmt] = {}
    for cls in lineage:
        if cls.decorator_list:
            return {}
        for node in cls.body:
            if isinstance(node, ast.FunctionDef):
                methods.setdefault(node.name, node)
            elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                found = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
                methods.update((one.id, node) for one in found if isinstance(one, ast.Name) and one.id not in methods)
    if "__getattr__" in methods:
        return {}
    forward = methods.get("forward")
    lacks = [what for what, several in _METHODS.items() if not any(one in methods for one in several)]
    if isinstance(forward, ast.FunctionDef):
        arguments = forward.args.posonlyargs + forward.args.args + forward.args.kwonlyargs
        if all(one.arg != "pp_proxy_tensors" for one in arguments):
            lacks.append("pp")
    return {"lacks": sorted(lacks)} if lacks else {}


def _lineage(name: str, classes: dict[str, list[ast.ClassDef]]) -> list[ast.ClassDef] | None:
    """A class and its bases, the nearest first; None if one of them is not known or stands twice."""
    found: list[ast.ClassDef] = []
    waiting = [name]
    while waiting:
        one = classes.get(waiting.pop(0), [])
        if len(one) != 1 or len(found) > len(classes):
            return None
        found.append(one[0])
        bases = [ast.unparse(base) for base in one[0].bases]
        waiting += [base for base in bases if base not in _OUTSIDE]
    return found
