"""What vLLM's start-up code is told about its surroundings: Linux, CUDA, no plugin, an empty environment."""

from __future__ import annotations

import ast
import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from servelint.harvest.evaluate.parser import Parser
from servelint.harvest.pysource import Class, Instance, Native, Program, Record, Text

_PARSERS = ("vllm.utils", "vllm.utils.argparse_utils")
_DOCS = ("vllm.config", "vllm.config.utils")
_LAZY = ("vllm.utils", "vllm.utils.import_utils")


def load(tree: Text, report: Callable[[str], None] | None = None) -> tuple[Program, Parser]:
    """A release's program, and the parser that its own `FlexibleArgumentParser()` gives."""
    root = Parser()
    externals: dict[str, Any] = {
        "sys.argv": ["vllm", "serve", "--help=all"],  # what each field's docstring says becomes the option's help
        "vllm.plugins.load_general_plugins": Native("load_general_plugins", lambda: None),
        "vllm.envs.is_set": Native("is_set", lambda _name: False),
    }
    program = Program(tree, externals, report)
    for module in _PARSERS:
        program.externals[f"{module}.FlexibleArgumentParser"] = Native("parser", lambda **_kwargs: root.value(), raw=True)
    for module in _DOCS:
        program.externals[f"{module}.get_attr_docs"] = Native("get_attr_docs", lambda cls: docs(program, cls), raw=True)
    for module in _LAZY:
        program.externals[f"{module}.LazyLoader"] = Native(
            "LazyLoader", lambda _name, _scope, module: program.lookup(module), raw=True
        )
    program.externals["vllm.platforms.current_platform"] = _platform(program)
    return program, root


def _platform(program: Program) -> Any:
    """The CUDA platform of the release, with what it would ask a driver for answered here."""
    attributes: dict[str, Any] = {"pre_register_and_update": Native("pre_register_and_update", lambda *_args: None, raw=True)}
    attributes["device_type"] = attributes["device_name"] = "cuda"
    for name in ("cuda", "cuda_alike"):
        attributes[f"is_{name}"] = Native(f"is_{name}", lambda: True)
    for name in ("rocm", "cpu", "tpu", "xpu", "hpu", "neuron", "openvino", "out_of_tree", "unspecified"):
        attributes[f"is_{name}"] = Native(f"is_{name}", lambda: False)
    module = program.module("vllm.platforms.cuda")
    cls = module.resolve("NvmlCudaPlatform") if module is not None and module.defines("NvmlCudaPlatform") else None
    return Instance(cls, attributes) if isinstance(cls, Class) else Record("Platform", attributes)


def docs(program: Program, cls: Any) -> dict[str, str]:
    """field name -> the text written under it."""
    found: dict[str, str] = defaultdict(str)
    for base in reversed(program.lineage(cls)) if isinstance(cls, Class) else []:
        if not isinstance(base, Class):
            continue
        body = base.node.body
        for field, text in itertools.pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
                value = text.value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    found[field.target.id] = value.value
    return found
