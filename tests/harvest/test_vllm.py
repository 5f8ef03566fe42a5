"""Snapshots of vLLM releases, over small trees in the shape of its own."""

from __future__ import annotations

import textwrap
from typing import Any

from servelint.harvest.vllm import snapshot

SCRIPTS = """
    from vllm.entrypoints.openai.cli_args import make_arg_parser
    from vllm.utils import FlexibleArgumentParser
    def main():
        parser = FlexibleArgumentParser(description="vLLM CLI")
        subparsers = parser.add_subparsers(required=True)
        serve_parser = subparsers.add_parser("serve")
        serve_parser.add_argument("model_tag", type=str)
        serve_parser.add_argument("--config", type=str, default="", required=False)
        serve_parser = make_arg_parser(serve_parser)
        args = parser.parse_args()
"""

CLI_ARGS = """
    import argparse
    import json
    from vllm.entrypoints.openai.tool_parsers import ToolParserManager
    def nullable_str(val):
        if not val or val == "None":
            return None
        return val
    class LoRAParserAction(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            pass
    def make_arg_parser(parser):
        parser.add_argument("--host", type=nullable_str, default=None)
        parser.add_argument("--lora-modules", type=nullable_str, nargs="+", action=LoRAParserAction)
        parser.add_argument("--allowed-origins", type=json.loads, default=["*"])
        parser.add_argument("--tool-call-parser", choices=list(ToolParserManager.tool_parsers))
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--tensor-parallel-size", "-tp", type=int, default=1)
        group.add_argument("--tp", type=int, help=argparse.SUPPRESS)
        parser.add_argument("--disable-log-stats", action="store_true")
        parser.add_argument("--old", action="store_false", help="[DEPRECATED] does nothing")
        return parser
"""

MODERN = {
    "vllm/utils/argparse_utils.py": """
        from argparse import ArgumentParser, BooleanOptionalAction
        class EnableDisableAction(BooleanOptionalAction):
            _inverse_prefixes = {"--enable-": "--disable-", "--disable-": "--enable-"}
        class FlexibleArgumentParser(ArgumentParser):
            pass
        def human_readable_int(value):
            return int(value)
    """,
    "vllm/config/__init__.py": "from vllm.config.all import ModelConfig, SpeculativeConfig, CompilationConfig, VllmConfig",
    "vllm/config/utils.py": """
        from pydantic import ConfigDict
        from pydantic.dataclasses import dataclass
        def config(cls=None, *, config=None):
            merged = ConfigDict(extra="forbid")
            return dataclass(cls, config=merged)
    """,
    "vllm/config/speculative.py": """
        from typing import Literal
        MTPModelTypes = Literal["deepseek_mtp", "mtp"]
        SpeculativeMethod = Literal["ngram", MTPModelTypes]
        def check(self):
            self.method = "mtp"
    """,
    "vllm/config/all.py": """
        import enum
        from typing import Any, Literal, Optional
        import torch
        from pydantic import Field, field_validator
        from vllm.config.speculative import SpeculativeMethod
        from vllm.config.utils import config
        class Mode(enum.Enum):
            NONE = 0
            FULL = 1
        @config
        class ModelConfig:
            model: str = "a/b"
            max_model_len: int = Field(default=None, gt=0)
            dtype: Literal["auto", "half"] | torch.dtype = "auto"
            enable_x: bool = False
            \"\"\"Deprecated: use something else.\"\"\"
            sizes: list[int] | None = None
            hf_overrides: dict[str, Any] | None = None
        @config
        class SpeculativeConfig:
            method: SpeculativeMethod | None = None
            num_speculative_tokens: int = Field(default=None, gt=0)
        @config
        class CompilationConfig:
            mode: Mode | None = None
            @field_validator("mode", mode="before")
            @classmethod
            def read(cls, value):
                return Mode[value.upper()] if isinstance(value, str) else value
        @config
        class VllmConfig:
            speculative_config: Optional["SpeculativeConfig"] = None
            compilation_config: CompilationConfig = Field(default_factory=CompilationConfig)
    """,
    "vllm/engine/arg_utils.py": """
        import argparse
        import json
        from dataclasses import fields, is_dataclass, MISSING
        from types import UnionType
        from typing import Literal, Union, get_args, get_origin
        from pydantic import TypeAdapter
        from pydantic.fields import FieldInfo
        from vllm.config import CompilationConfig, ModelConfig, VllmConfig
        from vllm.utils.argparse_utils import human_readable_int
        def parse_type(return_type):
            def _parse_type(val):
                return return_type(val)
            return _parse_type
        def optional_type(return_type):
            def _optional_type(val):
                if val == "" or val == "None":
                    return None
                return parse_type(return_type)(val)
            return _optional_type
        def hints(hint):
            return set(get_args(hint)) if get_origin(hint) in {Union, UnionType} else {hint}
        def get_kwargs(cls):
            kwargs = {}
            for field in fields(cls):
                types = hints(field.type)
                default = field.default
                if isinstance(default, FieldInfo):
                    default = default.default if default.default_factory is None else default.default_factory()
                kwargs[field.name] = {"default": default, "help": cls.__doc__}
                dataclass_cls = next((one for one in types if is_dataclass(one)), None)
                literal = next((one for one in types if get_origin(one) is Literal), None)
                many = next((one for one in types if get_origin(one) is list), None)
                if dataclass_cls is not None:
                    def parse_dataclass(val, cls=dataclass_cls):
                        return TypeAdapter(cls).validate_json(val)
                    kwargs[field.name]["type"] = parse_dataclass
                elif bool in types:
                    kwargs[field.name]["action"] = argparse.BooleanOptionalAction
                elif literal is not None:
                    kwargs[field.name]["choices"] = sorted(get_args(literal))
                elif many is not None:
                    kwargs[field.name].update(type=get_args(many)[0], nargs="+")
                elif int in types:
                    kwargs[field.name]["type"] = human_readable_int if field.name == "max_model_len" else int
                elif any(get_origin(one) is dict for one in types):
                    kwargs[field.name]["type"] = parse_type(json.loads)
                else:
                    kwargs[field.name]["type"] = str
                if type(None) in types:
                    kwargs[field.name]["type"] = optional_type(kwargs[field.name]["type"])
            return kwargs
        class AsyncEngineArgs:
            @staticmethod
            def add_cli_args(parser):
                group = parser.add_argument_group(title="ModelConfig")
                for name, kwargs in get_kwargs(ModelConfig).items():
                    group.add_argument("--" + name.replace("_", "-"), **kwargs)
                kwargs = get_kwargs(VllmConfig)
                kwargs["speculative_config"]["type"] = optional_type(json.loads)
                group.add_argument("--speculative-config", "-sc", **kwargs["speculative_config"])
                group.add_argument("--compilation-config", "-cc", **kwargs["compilation_config"])
                group.add_argument("--backend", type=lambda s: s.lower(), deprecated=True)
                return parser
    """,
    "vllm/entrypoints/cli/serve.py": """
        from vllm.engine.arg_utils import AsyncEngineArgs
        def make_arg_parser(parser):
            parser.add_argument("model_tag", type=str, nargs="?")
            return AsyncEngineArgs.add_cli_args(parser)
        class ServeSubcommand:
            name = "serve"
            def subparser_init(self, subparsers):
                return make_arg_parser(subparsers.add_parser(self.name))
    """,
    "vllm/envs.py": """
        import os
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            VLLM_DEBUG: bool = False
            VLLM_PORT: int | None = None
        def env_with_choices(env_name, default, choices, case_sensitive=True):
            def _read():
                value = os.getenv(env_name)
                return default if value is None else value
            return _read
        environment_variables = {
            "VLLM_DEBUG": lambda: bool(int(os.getenv("VLLM_DEBUG", "0"))),
            "VLLM_PORT": lambda: int(os.environ["VLLM_PORT"]) if "VLLM_PORT" in os.environ else None,
            "VLLM_LEVEL": env_with_choices("VLLM_LEVEL", "low", ["low", "high"], case_sensitive=False),
        }
    """,
    "vllm/other.py": 'import os\nA = os.environ.get("VLLM_ELSEWHERE")\nos.environ["VLLM_WRITTEN"] = "1"\n',
    "vllm/reasoning/__init__.py": """
        class ReasoningParserManager:
            reasoning_parsers = {}
        _REASONING_PARSERS_TO_REGISTER = {"qwen3": ("file", "Class")}
    """,
}


class Files:
    """A tree held in memory."""

    engine = "vllm"
    release = "0.0.0"

    def __init__(self, files: dict[str, str]) -> None:
        self.files = {path: textwrap.dedent(text) for path, text in files.items()}

    def read(self, path: str) -> str | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> list[str]:
        return sorted(path for path in self.files if path.startswith(prefix))


def taken(files: dict[str, str]) -> dict[str, Any]:
    reports: list[str] = []
    found = snapshot(Files(files), reports.append)  # type: ignore[arg-type]
    assert reports == []
    return found


def test_old_release() -> None:
    found = taken(
        {
            "vllm/scripts.py": SCRIPTS,
            "vllm/entrypoints/openai/cli_args.py": CLI_ARGS,
            "vllm/entrypoints/openai/tool_parsers/__init__.py": """
                from .abstract_tool_parser import ToolParserManager
                from .some_tool_parser import A
            """,
            "vllm/entrypoints/openai/tool_parsers/abstract_tool_parser.py": "class ToolParserManager:\n    tool_parsers = {}\n",
            "vllm/entrypoints/openai/tool_parsers/some_tool_parser.py": """
                from .abstract_tool_parser import ToolParserManager
                @ToolParserManager.register_module("hermes")
                class A: ...
                @ToolParserManager.register_module(["one", "two"])
                class B: ...
            """,
            "vllm/model_executor/models/__init__.py": """
                _GENERATION_MODELS = {"LlamaForCausalLM": ("llama", "LlamaForCausalLM"), "AquilaModel": ("llama", "A")}
                _MODELS = {**_GENERATION_MODELS, "BertModel": ("bert", "BertEmbeddingModel")}
                _OTHERS = {"GoneForCausalLM": "0.5.0"}
            """,
        }
    )
    options = found["options"]
    assert found["positionals"] == [{"name": "model_tag", "kind": "value", "default": None, "entry": "serve"}]
    assert options["config"] == {"names": ["--config"], "kind": "value", "default": "", "entry": "serve"}
    assert options["host"] == {"names": ["--host"], "kind": "value", "type": "nullable_str", "default": None}
    assert options["lora-modules"]["nargs"] == "+"
    assert options["lora-modules"]["type"] == "LoRAParserAction"
    assert options["allowed-origins"] == {"names": ["--allowed-origins"], "kind": "value", "type": "json", "default": ["*"]}
    assert options["tool-call-parser"]["choices"] == ["hermes", "one", "two"]
    assert options["tensor-parallel-size"]["names"] == ["--tensor-parallel-size", "-tp"]
    assert options["tensor-parallel-size"]["exclusive"] == options["tp"]["exclusive"] == "group-1"
    assert options["tp"]["hidden"] is True
    assert options["disable-log-stats"] == {"names": ["--disable-log-stats"], "kind": "flag", "default": False}
    assert options["old"]["sets"] is False
    assert options["old"]["default"] is True
    assert options["old"]["deprecated"] == "[DEPRECATED] does nothing"
    assert found["names"]["tool-call-parsers"] == ["hermes", "one", "two"]
    assert found["names"]["architectures"] == {"AquilaModel": {}, "BertModel": {}, "LlamaForCausalLM": {}}


def test_what_model_classes_lack() -> None:
    found = taken(
        {
            "vllm/scripts.py": SCRIPTS,
            "vllm/entrypoints/openai/cli_args.py": CLI_ARGS,
            "vllm/entrypoints/openai/tool_parsers/__init__.py": "from .abstract_tool_parser import ToolParserManager\n",
            "vllm/entrypoints/openai/tool_parsers/abstract_tool_parser.py": """
                class ToolParserManager:
                    tool_parsers = {"hermes": 1}
            """,
            "vllm/model_executor/models/registry.py": """
                _VLLM_MODELS = {
                    "AForCausalLM": ("a", "A"), "BForCausalLM": ("b", "B"), "CForCausalLM": ("a", "C"),
                    "DForCausalLM": ("a", "Gone"),
                    "EForCausalLM": ("vllm.models.e", "E"), "FForCausalLM": ("a", "F"),
                }
            """,
            "vllm/model_executor/models/interfaces.py": """
                class SupportsLoRA: ...
                class SupportsPP: ...
            """,
            "vllm/model_executor/models/a.py": """
                from torch import nn
                from .interfaces import SupportsLoRA, SupportsPP
                from .elsewhere import Mixed
                class A(nn.Module, SupportsLoRA, SupportsPP):
                    packed_modules_mapping = {"qkv_proj": ["q_proj"]}
                class C(A): ...
                class F(nn.Module):
                    supports_lora: bool = True
                    packed_modules_mapping: dict
            """,
            "vllm/model_executor/models/b.py": """
                from torch import nn
                from .interfaces import SupportsPP
                class B(nn.Module, SupportsPP): ...
            """,
            "vllm/models/e/__init__.py": "from .inner import E\n",
            "vllm/models/e/inner.py": """
                from torch import nn
                class E(nn.Module):
                    def __init__(self):
                        self.packed_modules_mapping = {}
            """,
        }
    )
    assert found["names"]["architectures"] == {
        "AForCausalLM": {},
        "BForCausalLM": {"lacks": ["lora", "bitsandbytes"]},
        "CForCausalLM": {},
        "DForCausalLM": {},
        "EForCausalLM": {"lacks": ["lora", "pp", "bitsandbytes"]},
        "FForCausalLM": {"lacks": ["pp", "bitsandbytes"]},
    }


def test_options_made_from_config_classes() -> None:
    options = taken(MODERN)["options"]
    assert options["model"] == {"names": ["--model"], "kind": "value", "default": "a/b"}
    assert options["max-model-len"]["type"] == "human_readable_int"
    assert options["dtype"]["choices"] == ["auto", "half"]
    assert options["sizes"]["nargs"] == "+"
    assert options["sizes"]["type"] == ["none", "int"]
    assert options["hf-overrides"]["type"] == ["none", "json"]
    assert options["backend"] == {
        "names": ["--backend"],
        "kind": "value",
        "type": "lambda s: s.lower()",
        "default": None,
        "deprecated": True,
    }


def test_toggles_have_every_negative() -> None:
    option = taken(MODERN)["options"]["enable-x"]
    assert option["kind"] == "toggle"
    assert option["names"] == ["--enable-x"]
    assert option["negatives"] == ["--no-enable-x", "--disable-x"]


def test_json_options() -> None:
    found = taken(MODERN)
    assert found["options"]["speculative-config"]["json"] == "speculative-config"
    speculative = found["json"]["speculative-config"]
    assert (speculative["extra"], speculative["stage"]) == ("reject", "config")
    assert speculative["keys"]["method"] == {
        "type": ["str", "null"],
        "choices": ["ngram", "deepseek_mtp", "mtp", None],
        "default": None,
    }
    assert speculative["keys"]["num_speculative_tokens"] == {"type": "int", "gt": 0, "default": None}
    compilation = found["json"]["compilation-config"]
    assert compilation["stage"] == "parse"
    assert compilation["keys"]["mode"]["choices"] == ["NONE", "FULL", 0, 1, None]
    assert compilation["keys"]["mode"]["ignore_case"] is True


def test_environment() -> None:
    variables = taken(MODERN)["env"]
    assert variables["VLLM_DEBUG"] == {"default": False, "type": "bool", "converter": "bool(int)"}
    assert variables["VLLM_PORT"] == {"default": None, "type": "int", "converter": "int"}
    assert variables["VLLM_LEVEL"] == {"default": "low", "type": "str", "choices": ["low", "high"], "ignore_case": True}
    assert variables["VLLM_ELSEWHERE"] == {}
    assert "VLLM_WRITTEN" not in variables


def test_names() -> None:
    names = taken(MODERN)["names"]
    assert names["speculative-methods"] == {"ngram": {}, "deepseek_mtp": {"alias_of": "mtp"}, "mtp": {}}
    assert names["reasoning-parsers"] == ["qwen3"]


QUANTIZATION = """
    from typing import Literal
    QuantizationMethods = Literal["awq", "fp8", "mxfp8", "fp8_per_tensor", "odd"]
    DEPRECATED_QUANTIZATION_METHODS = ["awq"]
    def get_quantization_config(quantization):
        from vllm.config.quantization import _ONLINE_SHORTHANDS
        from .methods import AWQConfig, Fp8Config, OddConfig, OnlineConfig
        methods = {"awq": AWQConfig, "fp8": Fp8Config, "mxfp8": AWQConfig, "odd": OddConfig, "online": OnlineConfig}
        for name in _ONLINE_SHORTHANDS:
            methods.setdefault(name, OnlineConfig)
        return methods[quantization]
"""

METHODS = """
    class AWQConfig:
        @classmethod
        def get_min_capability(cls):
            return 75
    class Fp8Config:
        def __init__(self, scheme, mx=False):
            self.mx = mx
        def get_min_capability(self):
            return 100 if self.mx else 80
    class OddConfig:
        @classmethod
        def get_min_capability(cls):
            return -1
    class OnlineConfig:
        @classmethod
        def get_min_capability(cls):
            return 70
"""


def names_of(files: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = taken({**MODERN, **files})["names"]
    return found


def test_capabilities_of_quantization_methods() -> None:
    names = names_of(
        {
            "vllm/config/quantization.py": '_ONLINE_SHORTHANDS = {"mxfp8": "mx", "fp8_per_tensor": "t"}\n',
            "vllm/model_executor/layers/quantization/__init__.py": QUANTIZATION,
            "vllm/model_executor/layers/quantization/methods.py": METHODS,
        }
    )
    assert names["quantization"] == {
        "awq": {"capability": 75},
        "fp8": {"capability": 80},
        "mxfp8": {"capability": 75, "by-option": 70},
        "fp8_per_tensor": {"capability": 70},
        "odd": {},
    }
    assert names["deprecated-quantization"] == ["awq"]


def test_names_that_start_up_code_compares_others_with() -> None:
    names = names_of(
        {
            "vllm/distributed/kv_transfer/kv_connector/factory.py": """
                class KVConnectorFactory:
                    pass
                KVConnectorFactory.register_connector("One", "vllm.one", "One")
                KVConnectorFactory.register_connector("Two", "vllm.two", "Two")
            """,
            "vllm/config/speculative.py": """
                class SpeculativeConfig:
                    def _verify_args(self):
                        aux_hidden_states_supported = ["llama", "qwen"]
                    @staticmethod
                    def hf_config_override(hf_config):
                        if hf_config.model_type in ("a_type", "b_type"):
                            hf_config.model_type = "a_mtp"
                        if hf_config.architectures[0] == "CModel" and getattr(hf_config, "layers", 0):
                            hf_config.model_type = "c_mtp"
                        if hf_config.model_type == "a_mtp":
                            hf_config.model_type = "again_mtp"
                        if hf_config.model_type == "d_type":
                            hf_config.model_type = "e_type"
            """,
            "vllm/v1/kv_cache_interface.py": """
                import enum
                class KVCacheSpecKind(str, enum.Enum):
                    FULL = "full_attention"
                    MAMBA = "mamba"
            """,
            "vllm/config/quantization.py": """
                from vllm.quant import kFp8
                class Args:
                    pass
                QUANT_KEY_NAMES: dict[str, object] = {"fp8_static": kFp8}
                _ONLINE_SHORTHANDS: dict[str, Args] = {"fp8": Args(linear=1, moe=1), "int8": Args(moe=1)}
            """,
            "vllm/v1/metrics/buckets.py": 'BUCKET_FAMILY_KEYS = frozenset(("b", "a"))\n',
        }
    )
    assert names["kv-connectors"] == ["One", "Two"]
    assert names["hidden-state-targets"] == ["llama", "qwen"]
    assert names["mtp-models"] == {"CModel": {}, "a_type": {}, "b_type": {}}
    assert names["histogram-families"] == ["a", "b"]
    assert names["kv-cache-kinds"] == ["full_attention", "mamba"]
    assert names["quantization-keys"] == ["fp8_static"]
    assert names["online-quantization"] == {"fp8": {}, "int8": {"without-linear": True}}


def test_the_one_model_type_that_takes_drafts_on_hidden_states() -> None:
    config = """
        class SpeculativeConfig:
            def _verify_args(self):
                if self.method == "eagle3" and "llama" not in self.target_model_config.hf_text_config.model_type:
                    raise ValueError
    """
    assert names_of({"vllm/config/speculative.py": config})["hidden-state-targets"] == ["llama"]


def test_a_release_without_these_names_has_none() -> None:
    kinds = {"deprecated-quantization", "kv-connectors", "hidden-state-targets", "mtp-models", "histogram-families"}
    assert kinds.isdisjoint(taken(MODERN)["names"])


RANGED = {
    **MODERN,
    "vllm/config/ranged.py": """
        from pydantic import Field
        from pydantic.dataclasses import dataclass
        @dataclass
        class SchedulerConfig:
            max_num_seqs: int = Field(default=128, ge=1)
            watermark: float = Field(default=0.0, ge=0.0, lt=1.0)
            stream: int = 1
        @dataclass
        class LoRAConfig:
            max_loras: int = Field(default=1, ge=1)
    """,
    "vllm/engine/arg_utils.py": """
        from vllm.config.ranged import LoRAConfig, SchedulerConfig
        def get_kwargs(cls):
            return {name: {"type": float} for name in ("max_num_seqs", "watermark", "stream", "max_loras")}
        class EngineArgs:
            @staticmethod
            def add_cli_args(parser):
                scheduler_kwargs = get_kwargs(SchedulerConfig)
                lora_kwargs = get_kwargs(LoRAConfig)
                parser.add_argument("--max-num-seqs", **{**scheduler_kwargs["max_num_seqs"], "default": None})
                parser.add_argument("--low-water", **scheduler_kwargs["watermark"])
                parser.add_argument("--stream", **scheduler_kwargs["stream"])
                parser.add_argument("--max-loras", **lora_kwargs["max_loras"])
                parser.add_argument("--watermark", type=float)
                return parser
    """,
    "vllm/entrypoints/cli/serve.py": """
        from vllm.engine.arg_utils import EngineArgs
        def make_arg_parser(parser):
            return EngineArgs.add_cli_args(parser)
        class ServeSubcommand:
            name = "serve"
            def subparser_init(self, subparsers):
                return make_arg_parser(subparsers.add_parser(self.name))
    """,
}


def test_ranges_of_numeric_options() -> None:
    bounds = ("ge", "gt", "le", "lt", "config")
    options = taken(RANGED)["options"]
    assert {name: {bound: body[bound] for bound in bounds if bound in body} for name, body in options.items()} == {
        **{name: {} for name in options},
        "max-num-seqs": {"ge": 1},
        "low-water": {"ge": 0.0, "lt": 1.0},
        "watermark": {"ge": 0.0, "lt": 1.0},
        "max-loras": {"ge": 1, "config": "LoRAConfig"},
    }
