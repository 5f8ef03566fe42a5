"""What a release of TensorRT-LLM accepts, read from small releases written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from servelint.harvest import store
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


# -- the keys of the YAML file

UNKNOWN = "class LooseConfig(BaseModel):\n    model_config = {'extra': 'unknown'}"

ARGUMENTS = """
from enum import Enum
from typing import ClassVar, Dict, List, Literal, Optional, Union
from pydantic import AliasChoices, BaseModel
from pydantic import Field as PydanticField
from pydantic import field_validator

def Field(default=..., *, status=None, **kwargs):
    return PydanticField(default, **kwargs)

class StrictBaseModel(BaseModel):
    class Config:
        extra = "forbid"

class LooseConfig(BaseModel):
    rank: int = 8

class KvCacheConfig(StrictBaseModel):
    dtype: str = Field(default="auto", status="beta")
    window: Optional[List[int]] = None
    timeout: Optional[int] = Field(default=None, gt=0)

class DecodingBaseConfig(StrictBaseModel):
    max_draft_len: Optional[int] = None
    speculative_model: Optional[str] = Field(default=None, validation_alias=AliasChoices("speculative_model", "dir"))

    @classmethod
    def from_dict(cls, data):
        config_classes = {"MTP": MTPDecodingConfig, "Save": SaveDecodingConfig}
        decoding_type = data.get("decoding_type")

class MTPDecodingConfig(DecodingBaseConfig):
    layers: int = 1
    decoding_type: ClassVar[str] = "MTP"

class SaveDecodingConfig(DecodingBaseConfig):
    folder: str
    decoding_type: ClassVar[str] = "Save"

SpeculativeConfig = Optional[Union[MTPDecodingConfig, SaveDecodingConfig]]

class BaseLlmArgs(StrictBaseModel):
    model_config = {"extra": "forbid"}
    kv_cache_config: KvCacheConfig = Field(default_factory=KvCacheConfig)
    lora: Optional[LooseConfig] = None
    speculative_config: SpeculativeConfig = Field(default=None)
    choices: Optional[List[int]] = None

    @field_validator("choices", mode="before")
    def read(cls, v):
        return v

class TorchLlmArgs(BaseLlmArgs):
    stream_interval: int = 1

class TrtLlmArgs(BaseLlmArgs):
    fast_build: bool = False

def update_llm_args_with_extra_dict(llm_args):
    field_mapping = {"lora": LooseConfig}
"""


def keys_of(serve: str = SERVE) -> dict[str, Any]:
    files = {**FILES, "tensorrt_llm/commands/serve.py": serve, "tensorrt_llm/llmapi/llm_args.py": ARGUMENTS}
    return harvested(files)[0]


def test_keys_of_the_file() -> None:
    found = keys_of()
    assert found["options"]["config"]["json"] == "config"
    assert found["json"]["config"] == {
        "extra": "reject",
        "keys": {
            "kv_cache_config": {"json": "config.kv_cache_config", "type": "object", "text": False},
            "lora": {"json": "config.lora", "type": ["object"], "default": None, "text": False},
            "speculative_config": {
                "json": "config.speculative_config",
                "type": ["object", "null"],
                "default": None,
                "text": False,
            },
            "choices": {"items": {"type": "int"}, "type": ["list", "null"], "default": None},
            "stream_interval": {"type": "int", "default": 1, "backends": ["pytorch"]},
            "fast_build": {"type": "bool", "default": False, "backends": ["tensorrt"]},
        },
    }
    assert found["json"]["config.lora"]["extra"] == "ignore"
    assert found["json"]["config.kv_cache_config"] == {
        "extra": "reject",
        "keys": {
            "dtype": {"type": "str", "default": "auto"},
            "window": {"items": {"type": "int"}, "type": ["list", "null"], "default": None, "text": False},
            "timeout": {"type": ["int", "null"], "default": None, "gt": 0},
        },
    }


def test_an_object_of_several_classes_has_the_keys_of_all() -> None:
    found = keys_of()
    assert found["json"]["config.speculative_config"]["keys"] == {
        "max_draft_len": {"type": ["int", "null"], "default": None},
        "speculative_model": {"type": ["str", "null"], "aliases": ["dir"]},
        "layers": {"type": "int", "default": 1},
        "folder": {"type": "str"},
        "decoding_type": {"type": "str", "choices": ["MTP", "Save"], "required": True},
    }
    assert found["names"]["decoding-types"] == {
        "MTP": {"keys": ["layers", "max_draft_len", "speculative_model"]},
        "Save": {"keys": ["folder", "max_draft_len", "speculative_model"], "required": ["folder"]},
    }


def test_a_key_that_the_command_takes_out_is_of_every_backend() -> None:
    found = keys_of(
        SERVE + "\ndef launch(llm_args):\n    llm_args.pop('fast_build', None)\n    llm_args.pop('cluster', None)\n"
    )
    keys = found["json"]["config"]["keys"]
    assert "backends" not in keys["fast_build"]
    assert keys["cluster"] == {"type": "any"}


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ('"--tp_size", type=int', "tensor-parallel-size"),
        ('"--extra_llm_api_options", type=str', "config"),
        ('"--kv_cache_free_gpu_memory_fraction", type=float', "free-gpu-memory-fraction"),
    ],
)
def test_an_option_keeps_its_name_where_a_release_spells_it_otherwise(declared: str, name: str) -> None:
    files = {**FILES, "tensorrt_llm/commands/serve.py": SERVE.replace('"--retries", default=3', declared)}
    files["tensorrt_llm/commands/serve.py"] = files["tensorrt_llm/commands/serve.py"].replace(
        '@click.option("--free_gpu_memory_fraction", "--kv_cache_free_gpu_memory_fraction", type=float, default=0.9)\n', ""
    )
    found = harvested({path: text.replace('"--config", ', "") for path, text in files.items()})[0]
    assert name in found["options"]


# -- the extracts


def test_a_field_of_flags_takes_any_number() -> None:
    arguments = """
from enum import IntFlag, auto
from pydantic import BaseModel

class Mode(IntFlag):
    NONE = auto()
    EAGLE = auto()

class TorchLlmArgs(BaseModel):
    mode: Mode = Mode.NONE
"""
    keys = harvested({**FILES, "tensorrt_llm/llmapi/llm_args.py": arguments})[0]["json"]["config"]["keys"]
    assert (keys["mode"]["type"], "choices" in keys["mode"]) == ("int", False)


def test_the_catalog_is_what_the_extracts_say() -> None:
    from servelint.harvest.command import DATA
    from tools.trtllm_extract import catalog

    text = (Path(DATA) / "trtllm.json").read_text(encoding="utf-8")
    assert store.dump(catalog()) == text


def test_an_extract_says_what_its_source_says() -> None:
    from tools.trtllm_extract import reduced

    files = {**FILES, "tensorrt_llm/llmapi/llm_args.py": ARGUMENTS}
    reduced_files = {path: reduced(text) for path, text in files.items()}
    whole, small = harvested(files)[0], harvested(reduced_files)[0]
    for part in ("options", "positionals", "json", "names"):
        assert small[part] == whole[part]


def test_an_object_of_which_not_all_keys_are_stored() -> None:
    """An extract says so with a policy that pydantic does not have."""
    files = {**FILES, "tensorrt_llm/llmapi/llm_args.py": ARGUMENTS.replace("class LooseConfig(BaseModel):", UNKNOWN)}
    found, _ = harvested(files)
    assert {name: body["extra"] for name, body in found["json"].items()} == {
        "config": "reject",
        "config.kv_cache_config": "reject",
        "config.lora": "open",
        "config.speculative_config": "reject",
    }
