"""What a release of TensorRT-LLM accepts, read from small releases written here."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.harvest.sources import HarvestError, Tree
from servelint.harvest.trtllm import snapshot

SERVE = """
import os
import click
from tensorrt_llm.llmapi.reasoning_parser import ReasoningParserFactory
from tensorrt_llm.logger import severity_map
from .common import common_options
from ._serve_stability import stability_option

class ChoiceWithAlias(click.Choice):
    pass

@click.command("serve")
@click.argument("model", type=str)
@click.option("--tokenizer", type=str, default=None)
@click.option("--port", type=int, default=8000)
@click.option("--backend", type=ChoiceWithAlias(["pytorch", "tensorrt"], {"trt": "tensorrt"}), default="pytorch")
@click.option("--log_level", type=click.Choice(severity_map.keys(), case_sensitive=False), default="info")
@click.option("--reasoning_parser", type=click.Choice(ReasoningParserFactory.parsers.keys()), default=None)
@click.option("--free_gpu_memory_fraction", "--kv_cache_free_gpu_memory_fraction", type=float, default=0.9)
@click.option("--config", "--extra_llm_api_options", "extra_llm_api_options", type=str, default=None)
@click.option("--custom_module_dirs", type=click.Path(exists=True), multiple=True)
@click.option("--trust_remote_code", is_flag=True, default=False)
@click.option("--telemetry/--no-telemetry", default=True)
@click.option("--span", nargs=2, type=int)
@click.option("--retries", default=3)
@click.option("--max_batch_size", type=int, default=BuildConfig.model_fields["max_batch_size"].default)
@stability_option("--old", status="deprecated", help="gone soon", hidden=True)
@common_options
def serve(model, **kwargs):
    os.getenv("TRTLLM_SERVER_DISABLE_GC", "0")

@click.command("disaggregated")
@click.option("-c", "--config_file", type=str)
def disaggregated(config_file):
    pass
"""

FILES = {
    "tensorrt_llm/__init__.py": "",
    "tensorrt_llm/commands/serve.py": SERVE,
    "tensorrt_llm/commands/common.py": """
import click

def common_options(f):
    f = click.option("--revision", type=str, required=True)(f)
    return f
""",
    "tensorrt_llm/logger.py": "severity_map = {'error': [1], 'info': [2]}\n",
    "tensorrt_llm/llmapi/reasoning_parser.py": "class ReasoningParserFactory:\n    parsers = {'qwen3': object}\n",
}


def harvested(files: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    unresolved: list[str] = []
    return snapshot(Tree("trtllm", "1.3.0rc3", files), unresolved.append), unresolved


def test_options_come_as_click_was_told() -> None:
    found, unresolved = harvested(FILES)
    assert found["options"] == {
        "tokenizer": {"names": ["--tokenizer"], "kind": "value"},
        "port": {"names": ["--port"], "kind": "value", "type": "int", "default": 8000},
        "backend": {"names": ["--backend"], "kind": "value", "choices": ["pytorch", "tensorrt", "trt"], "default": "pytorch"},
        "log-level": {
            "names": ["--log_level"],
            "kind": "value",
            "type": "casefold",
            "choices": ["error", "info"],
            "default": "info",
        },
        "reasoning-parser": {"names": ["--reasoning_parser"], "kind": "value", "choices": ["qwen3"]},
        "free-gpu-memory-fraction": {
            "names": ["--free_gpu_memory_fraction", "--kv_cache_free_gpu_memory_fraction"],
            "kind": "value",
            "type": "float",
            "default": 0.9,
        },
        "config": {"names": ["--config", "--extra_llm_api_options"], "kind": "value", "dest": "extra_llm_api_options"},
        "custom-module-dirs": {"names": ["--custom_module_dirs"], "kind": "append", "type": "click.Path"},
        "trust-remote-code": {"names": ["--trust_remote_code"], "kind": "flag", "default": False},
        "telemetry": {"names": ["--telemetry"], "kind": "toggle", "negatives": ["--no-telemetry"], "default": True},
        "span": {"names": ["--span"], "kind": "list", "nargs": 2, "type": "int"},
        "retries": {"names": ["--retries"], "kind": "value", "type": "int", "default": 3},
        "max-batch-size": {"names": ["--max_batch_size"], "kind": "value", "type": "int"},
        "old": {"names": ["--old"], "kind": "value", "hidden": True, "deprecated": True},
        "revision": {"names": ["--revision"], "kind": "value", "required": True},
        "help": {"names": ["--help"], "kind": "flag"},
    }
    assert found["positionals"] == [{"name": "model", "kind": "value"}]
    assert unresolved == ["--max_batch_size: a default that is not known"]


def test_names_and_variables() -> None:
    found, _ = harvested(FILES)
    assert found["names"] == {
        "backends": {"pytorch": {}, "tensorrt": {}, "trt": {}},
        "reasoning-parsers": {"qwen3": {}},
    }
    assert found["env"] == {"TRTLLM_SERVER_DISABLE_GC": {"default": "0"}}


@pytest.mark.parametrize(
    ("declared", "positional"),
    [
        ('"model", type=str, required=False', {"name": "model", "kind": "optional"}),
        ('"models", nargs=-1', {"name": "models", "kind": "list", "nargs": "*"}),
    ],
)
def test_positionals(declared: str, positional: dict[str, Any]) -> None:
    text = SERVE.replace('"model", type=str', declared)
    assert harvested({**FILES, "tensorrt_llm/commands/serve.py": text})[0]["positionals"] == [positional]


def test_choices_that_cannot_be_known_are_left_out() -> None:
    text = SERVE.replace("severity_map.keys()", "torch.levels()")
    found, unresolved = harvested({**FILES, "tensorrt_llm/commands/serve.py": text})
    assert "choices" not in found["options"]["log-level"]
    assert unresolved[0].startswith("--log_level: choices that are not known")


@pytest.mark.parametrize("text", [None, "import click\n", "def serve(model):\n    pass\n"])
def test_a_release_without_the_command(text: str | None) -> None:
    files = {path: content for path, content in FILES.items() if "serve" not in path}
    if text is not None:
        files["tensorrt_llm/commands/serve.py"] = text
    with pytest.raises(HarvestError, match=r"trtllm 1\.3\.0rc3"):
        harvested(files)
