"""What a release of SGLang accepts, read from small releases written here."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from servelint.harvest.sglang import snapshot
from servelint.harvest.sources import HarvestError, Tree

ACTIONS = """
import argparse, json, logging
logger = logging.getLogger(__name__)

class LoRAPathAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, [json.loads(value) for value in values])

def print_deprecated_warning(message: str):
    logger.warning(f"\\033[33m{message}\\033[0m")

class DeprecatedAction(argparse.Action):
    def __init__(self, option_strings, dest, error_message=None, nargs=0, **kwargs):
        self.error_message = error_message
        super().__init__(option_strings, dest, nargs=nargs, **kwargs)

    def __call__(self, parser, namespace, values, option_string=None):
        if self.error_message is not None:
            parser.error(self.error_message)
        print_deprecated_warning(f"The command line argument '{option_string}' is deprecated.")

class RefusedAction(argparse.Action):
    def __init__(self, option_strings, dest, nargs=0, **kwargs):
        super().__init__(option_strings, dest, nargs=nargs, **kwargs)

    def __call__(self, parser, namespace, values, option_string=None):
        raise ValueError(self.help)

class DeprecatedAliasStoreAction(argparse.Action):
    def __init__(self, option_strings, dest, new_flag=None, **kwargs):
        self.new_flag = new_flag
        super().__init__(option_strings, dest, **kwargs)

    def __call__(self, parser, namespace, values, option_string=None):
        replacement = f" Use '{self.new_flag}' instead." if self.new_flag else ""
        print_deprecated_warning(f"'{option_string}' is deprecated.{replacement}")
        setattr(namespace, self.dest, values)
"""

CALLS = (
    ACTIONS
    + """
import dataclasses
from typing import List, Optional
from sglang.srt.function_call.parsers import FunctionCallParser
from sglang.srt.utils import nullable_str

LOAD_FORMATS = ["auto", "dummy"]
BACKENDS = LOAD_FORMATS + ["flashinfer"]

@dataclasses.dataclass
class ServerArgs:
    model_path: str
    port: int = 30000
    urls: List[str] = dataclasses.field(default_factory=list)
    tool_call_parser: Optional[str] = None

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        parser.add_argument("--model-path", "--model", type=str, required=True)
        parser.add_argument("--port", type=int, default=ServerArgs.port)
        parser.add_argument("--trust-remote-code", action="store_true")
        parser.add_argument("--no-warmup", dest="warmup", action="store_false")
        parser.add_argument("--load-format", choices=LOAD_FORMATS, default="auto")
        parser.add_argument("--attention-backend", type=str, choices=BACKENDS)
        choices = list(FunctionCallParser.ToolCallParserEnum.keys())
        parser.add_argument("--tool-call-parser", type=str, choices=choices, default=ServerArgs.tool_call_parser)
        parser.add_argument("--quantization-param-path", type=nullable_str, default=None)
        parser.add_argument("--preferred-sampling-params", type=json.loads)
        parser.add_argument("--ratio", nargs="?", const=0.5, type=float)
        parser.add_argument("--lora-paths", type=str, nargs="*", default=None, action=LoRAPathAction)
        parser.add_argument("--bs", type=int, nargs="+")
        parser.add_argument("--tag", action="append")
        parser.add_argument("--strict", action=argparse.BooleanOptionalAction, default=True)
        parser.add_argument("--speculative-algorithm", type=str, choices=["EAGLE", "NEXTN"])
        parser.add_argument("--hidden", help=argparse.SUPPRESS)
        parser.add_argument("--enable-ep-moe", action=RefusedAction, help="NOTE: use --ep-size.")
        parser.add_argument("--gone", action=DeprecatedAction, error_message="--gone is gone")
        parser.add_argument("--round-robin", action=DeprecatedAction)
        parser.add_argument("--max-bs", type=int, dest="bs_decode", action=DeprecatedAliasStoreAction, new_flag="--bs-decode")
        parser.add_argument("--fusion", action="store_true", help="(Deprecated: use --backend) Fuse.")
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--one", action="store_true")
        group.add_argument("--two", action="store_true")
        for name in ("first", "second"):
            parser.add_argument(f"--{name}-stage", type=float)

    def check(self):
        if self.speculative_algorithm == "NEXTN":
            self.speculative_algorithm = "EAGLE"

def prepare_server_args(argv):
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    return ServerArgs.from_cli_args(parser.parse_args(argv))
"""
)

ENUM = """
from enum import IntEnum, auto

class SpeculativeAlgorithm(IntEnum):
    NONE = auto()
    EAGLE = auto()
"""

REGISTERED = """
class SpeculativeAlgorithm:
    @classmethod
    def register(cls, name):
        return name

SpeculativeAlgorithm.register("NONE")
register_algorithm("EAGLE", object)
"""

HOOK = """
def handle(speculative_algorithm):
    if speculative_algorithm == "NEXTN" or speculative_algorithm == "EAGLE":
        return "EAGLE"
"""

COMMON = {
    "sglang/__init__.py": "",
    "sglang/srt/utils.py": "def nullable_str(val):\n    return val or None\n",
    "sglang/srt/function_call/parsers.py": 'class FunctionCallParser:\n    ToolCallParserEnum = {"llama3": 1, "qwen25": 2}\n',
    "sglang/srt/speculative/spec_info.py": ENUM,
}


def harvested(files: dict[str, str], release: str = "0.5.9") -> dict[str, Any]:
    reported: list[str] = []
    found = snapshot(
        Tree("sglang", release, {**COMMON, **{path: dedent(text) for path, text in files.items()}}), reported.append
    )
    assert reported == []
    return found


@pytest.fixture(scope="module")
def by_calls() -> dict[str, Any]:
    return harvested({"sglang/srt/server_args.py": CALLS})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("help", {"names": ["-h", "--help"], "kind": "flag"}),
        ("model-path", {"names": ["--model-path", "--model"], "kind": "value", "required": True}),
        ("port", {"names": ["--port"], "kind": "value", "type": "int", "default": 30000}),
        ("trust-remote-code", {"names": ["--trust-remote-code"], "kind": "flag", "default": False}),
        ("no-warmup", {"names": ["--no-warmup"], "kind": "flag", "default": True, "sets": False, "dest": "warmup"}),
        ("load-format", {"names": ["--load-format"], "kind": "value", "choices": ["auto", "dummy"], "default": "auto"}),
        ("attention-backend", {"names": ["--attention-backend"], "kind": "value", "choices": ["auto", "dummy", "flashinfer"]}),
        ("tool-call-parser", {"names": ["--tool-call-parser"], "kind": "value", "choices": ["llama3", "qwen25"]}),
        ("quantization-param-path", {"names": ["--quantization-param-path"], "kind": "value", "type": "nullable_str"}),
        ("preferred-sampling-params", {"names": ["--preferred-sampling-params"], "kind": "value", "type": "json"}),
        ("ratio", {"names": ["--ratio"], "kind": "optional", "const": 0.5, "type": "float"}),
        ("lora-paths", {"names": ["--lora-paths"], "kind": "list", "nargs": "*", "type": "LoRAPathAction"}),
        ("bs", {"names": ["--bs"], "kind": "list", "nargs": "+", "type": "int"}),
        ("tag", {"names": ["--tag"], "kind": "append"}),
        ("strict", {"names": ["--strict"], "kind": "toggle", "negatives": ["--no-strict"], "default": True}),
        ("hidden", {"names": ["--hidden"], "kind": "value", "hidden": True}),
        ("enable-ep-moe", {"names": ["--enable-ep-moe"], "kind": "flag", "refuses": "NOTE: use --ep-size."}),
        ("gone", {"names": ["--gone"], "kind": "flag", "refuses": "--gone is gone"}),
        (
            "round-robin",
            {
                "names": ["--round-robin"],
                "kind": "flag",
                "deprecated": "The command line argument '--round-robin' is deprecated.",
            },
        ),
        (
            "max-bs",
            {
                "names": ["--max-bs"],
                "kind": "value",
                "type": "int",
                "dest": "bs_decode",
                "deprecated": "'--max-bs' is deprecated. Use '--bs-decode' instead.",
            },
        ),
        (
            "fusion",
            {"names": ["--fusion"], "kind": "flag", "default": False, "deprecated": "(Deprecated: use --backend) Fuse."},
        ),
        ("one", {"names": ["--one"], "kind": "flag", "default": False, "exclusive": "group-1"}),
        ("two", {"names": ["--two"], "kind": "flag", "default": False, "exclusive": "group-1"}),
        ("second-stage", {"names": ["--second-stage"], "kind": "value", "type": "float"}),
    ],
)
def test_a_call_declares_an_option(by_calls: dict[str, Any], name: str, expected: dict[str, Any]) -> None:
    assert by_calls["options"][name] == expected


def test_architectures_are_the_entry_classes_of_the_models() -> None:
    models = {
        "sglang/srt/server_args.py": CALLS,
        "sglang/srt/models/llama.py": "EntryClass = [\n    LlamaForCausalLM,  # and its kin\n    Phi3ForCausalLM,\n]\n",
        "sglang/srt/models/gpt_oss.py": "EntryClass = GptOssForCausalLM\n",
        "sglang/srt/models/registry.py": "def EntryClasses(): ...\n",
    }
    assert harvested(models)["names"]["architectures"] == {
        "GptOssForCausalLM": {},
        "LlamaForCausalLM": {},
        "Phi3ForCausalLM": {},
    }


def test_what_a_model_class_lacks() -> None:
    text = """
    class A(nn.Module):
        \"\"\"A model.\"\"\"
        bitsandbytes_stacked_params_mapping = {}
        def forward(self, positions, pp_proxy_tensors=None): ...
        @classmethod
        def get_model_config_for_expert_location(cls, config): ...
        def get_embed_and_head(self): ...
        def set_eagle3_layers_to_capture(self, layers=None): ...
        def set_dflash_layers_to_capture(self, layers): ...

    class B(A):
        def forward(self, positions): ...

    class C(nn.Module):
        forward = A.forward
        set_dspark_layers_to_capture = None

    class D(SomewhereElse): ...

    class E(nn.Module):
        def __getattr__(self, name): ...

    class F(nn.Module): ...

    @registered
    class G(nn.Module): ...

    class H(PreTrainedModel):
        def forward(self, positions, pp_proxy_tensors=None): ...
        def get_embed_and_head(self): ...

    EntryClass = [A, B, C, D, E, F, G, H]
    """
    models = {
        "sglang/srt/server_args.py": CALLS,
        "sglang/srt/models/a.py": dedent(text),
        "sglang/srt/models/f.py": "class F(nn.Module): ...\n",
    }
    assert harvested(models)["names"]["architectures"] == {
        "A": {},
        "B": {"lacks": ["pp"]},
        "C": {"lacks": ["bitsandbytes", "eagle3", "embed-and-head", "expert-location"]},
        "D": {},
        "E": {},
        "F": {},
        "G": {},
        "H": {"lacks": ["bitsandbytes", "dflash", "eagle3", "expert-location"]},
    }


def test_names_come_from_choices_and_algorithms(by_calls: dict[str, Any]) -> None:
    assert by_calls["names"] == {
        "tool-call-parsers": ["llama3", "qwen25"],
        "attention-backends": ["auto", "dummy", "flashinfer"],
        "speculative-methods": {"EAGLE": {}, "NEXTN": {"alias_of": "EAGLE"}},
    }


ARG_UTILS = """
from __future__ import annotations
import dataclasses
from typing import Annotated, Any, List, Literal, Optional, Union, get_args, get_origin, get_type_hints
A = Annotated
_MISSING = dataclasses.MISSING

@dataclasses.dataclass(frozen=True)
class Arg:
    help: str = ""
    choices: Optional[list] = None
    aliases: Optional[List[str]] = None
    cli_name: Optional[str] = None
    type_parser: Any = None
    nargs: Optional[str] = None
    action: Any = None
    no_cli: bool = False

def _unwrap(tp):
    if get_origin(tp) is Annotated:
        args = get_args(tp)
        for a in args[1:]:
            if isinstance(a, Arg):
                return args[0], a
            if isinstance(a, str):
                return args[0], Arg(help=a)
        return args[0], None
    return tp, None

def _unwrap_optional(tp):
    if get_origin(tp) is Union:
        non_none = [a for a in get_args(tp) if a is not type(None)]
        if len(non_none) == 1:
            return non_none[0]
    return tp

def _infer(tp):
    return tp if tp in (int, float) else str

def _field_default(field):
    if field.default is not _MISSING:
        return field.default
    if field.default_factory is not _MISSING:
        return field.default_factory()
    return _MISSING

def add_cli_args_from_dataclass(parser, cls, *, fields=None):
    hints = get_type_hints(cls, include_extras=True)
    for field in dataclasses.fields(cls):
        raw_type, arg = _unwrap(hints.get(field.name))
        if arg is None or arg.no_cli:
            continue
        cli_name = arg.cli_name or "--" + field.name.replace("_", "-")
        names = [cli_name] + (arg.aliases or [])
        default = _field_default(field)
        dest = {"dest": field.name} if field.name != cli_name.lstrip("-").replace("-", "_") else {}
        kwargs = dict(help=arg.help, **dest)
        if default is not _MISSING:
            kwargs["default"] = default
        else:
            kwargs["required"] = True
        if arg.action is not None:
            kwargs.pop("required", None)
            parser.add_argument(*names, action=arg.action, **kwargs)
            continue
        inner = _unwrap_optional(raw_type)
        if get_origin(inner) is Literal:
            parser.add_argument(*names, type=str, choices=list(get_args(inner)), **kwargs)
            continue
        if get_origin(inner) is list and arg.type_parser is None:
            parser.add_argument(*names, type=_infer(get_args(inner)[0]), nargs=arg.nargs or "+", **kwargs)
            continue
        if inner is bool:
            parser.add_argument(*names, action="store_true", **kwargs)
            continue
        if arg.choices:
            kwargs["choices"] = arg.choices
        parser.add_argument(*names, type=arg.type_parser or _infer(inner), **kwargs)
"""

FIELDS = """
    model_path: A[str, Arg(help="The model.", aliases=["--model"])]
    port: A[int, "The port."] = 30000
    tp_size: A[int, Arg(cli_name="--tensor-parallel-size", aliases=["--tp"])] = 1
    context_length: A[Optional[int], Arg(type_parser=human_readable_int)] = None
    enable_metrics: A[bool, "Metrics."] = False
    dtype: A[Literal["auto", "half"], "The type."] = "auto"
    quantization: A[Optional[str], Arg(choices=QUANTIZATION_CHOICES)] = None
    bs: A[Optional[List[int]], "Sizes."] = None
    strict: A[Optional[bool], Arg(action=argparse.BooleanOptionalAction)] = None
    inner: A[int, Arg(no_cli=True)] = 3
    unlisted: int = 4
"""

MANUAL = """
    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        backends = {"pytorch"}
        if envs.SGLANG_ORACLE.get():
            backends.add("oracle")
        parser.add_argument("--sampling-backend", choices=backends)
        parser.add_argument("--tool-call-parser", choices=["auto"] + _tool_call_parser_choices())
        parser.add_argument("--log-level", type=str, default="info")

def _tool_call_parser_choices():
    module = sys.modules.get("sglang.srt.function_call.parsers")
    if module is not None:
        return list(module.FunctionCallParser.ToolCallParserEnum)
    from sglang.srt.function_call.parsers import FunctionCallParser

    return list(FunctionCallParser.ToolCallParserEnum)

def prepare_server_args(argv):
    raw_args = parser.parse_args(argv)
    logging.basicConfig(level=getattr(logging, raw_args.log_level.upper()))
    return ServerArgs.from_cli_args(raw_args)
"""

HEAD = """
from __future__ import annotations
import argparse
import dataclasses
import sys
import msgspec
from typing import List, Literal, Optional
from sglang.srt.arg_groups.arg_utils import A, Arg, add_cli_args_from_dataclass
from sglang.srt.arg_groups.choices import QUANTIZATION_CHOICES
from sglang.srt.environ import envs
from sglang.srt.utils.common import human_readable_int
"""

ENVIRON = """
import os
import warnings
from sglang.srt.helpers import unknown_default

class EnvField:
    def __init__(self, default):
        self.default = default

    def __set_name__(self, owner, name):
        self.name = name

    def get(self):
        return self.default

class EnvBool(EnvField): ...
class EnvInt(EnvField): ...
class EnvIntWithAlias(EnvField): ...

class Envs:
    SGLANG_ORACLE = EnvBool(False)
    SGLANG_SIZE = EnvInt(3 * 1024)
    SGLANG_FOLDER = EnvInt(unknown_default)
    SGLANG_NEW = EnvIntWithAlias(7, deprecated_name="SGLANG_OLD")

envs = Envs()

class _DeprecatedEnv:
    def __init__(self, replacement=None, note=None):
        self.replacement = replacement
        self.note = note

    def apply(self, old_name):
        if old_name not in os.environ:
            return
        message = f"Environment variable {old_name} is deprecated."
        if self.replacement is not None:
            message += f" Please use {self.replacement} instead."
        warnings.warn(message)

_DEPRECATED_ENVS = {"SGLANG_GC_LOG": _DeprecatedEnv(replacement="SGLANG_LOG_GC"), "SGLANG_PLAIN": _DeprecatedEnv()}

def _handle_deprecated_envs():
    for old_name, deprecation in _DEPRECATED_ENVS.items():
        deprecation.apply(old_name)
    for key, value in list(os.environ.items()):
        if key.startswith("SGL_") and key not in _DEPRECATED_ENVS:
            new_key = key.replace("SGL_", "SGLANG_", 1)
            warnings.warn(f"Environment variable {key} is deprecated, please use {new_key}")

_handle_deprecated_envs()
"""

READERS = """
import os
from sglang.srt.utils.common import get_bool_env_var
NAME = "SGLANG_BY_CONSTANT"

def read():
    os.environ["SGLANG_WRITTEN"] = "1"
    os.environ.setdefault("SGLANG_SET_DEFAULT", "1")
    if os.getenv("SGLANG_ENABLE_SPEC_V2") is not None:
        logger.warning("SGLANG_ENABLE_SPEC_V2 has been removed: it does nothing.")
    return (
        os.environ.get("SGLANG_TEXT", "abc"),
        os.environ["SGLANG_INDEXED"],
        "SGL_THERE" in os.environ,
        get_bool_env_var("SGLANG_SWITCH"),
        get_bool_env_var("SGLANG_SWITCH_ON", "true"),
        os.environ.get(NAME),
        os.environ.get("SGLANG_lower"),
        print("SGLANG_PRINTED"),
    )
"""

LATER = {
    "sglang/srt/arg_groups/__init__.py": "",
    "sglang/srt/arg_groups/arg_utils.py": ARG_UTILS,
    "sglang/srt/arg_groups/choices.py": 'QUANTIZATION_CHOICES = ["awq", "fp8"]\n',
    "sglang/srt/environ.py": ENVIRON,
    "sglang/srt/utils/common.py": "def human_readable_int(value):\n    return int(value)\n",
    "sglang/srt/layers.py": READERS,
    "sglang/test/case.py": 'import os\nos.environ["SGLANG_FOR_TESTS"]\n',
}


ASSEMBLED = """
from sglang.srt.arg_groups.fields import Model
_INPUT_NAMESPACES = [Model]
ServerArgs = msgspec.defstruct("ServerArgs", [])
"""


def _one_class() -> dict[str, str]:
    """As from 0.5.14: annotated fields of ServerArgs."""
    return {**LATER, "sglang/srt/server_args.py": f"{HEAD}\n@dataclasses.dataclass\nclass ServerArgs:{FIELDS}{MANUAL}"}


def _collected() -> dict[str, str]:
    """As from 0.5.20: fields in records of their own, ServerArgs bound again to a record made of them."""
    urls = "    urls: A[List[str], 'Urls.'] = msgspec.field(default_factory=list)\n"
    return {
        **LATER,
        "sglang/srt/arg_groups/fields.py": f"{HEAD}\nclass Model(msgspec.Struct):{FIELDS}{urls}",
        "sglang/srt/server_args.py": f"{HEAD}\nclass ServerArgs:\n    pass\n{MANUAL}{ASSEMBLED}",
    }


@pytest.mark.parametrize("files", [_one_class(), _collected()], ids=["one class", "collected"])
def test_a_field_declares_an_option(files: dict[str, str]) -> None:
    options = harvested(files, "0.5.20")["options"]
    options.pop("urls", None)
    assert options == {
        "help": {"names": ["-h", "--help"], "kind": "flag"},
        "model-path": {"names": ["--model-path", "--model"], "kind": "value", "required": True},
        "port": {"names": ["--port"], "kind": "value", "type": "int", "default": 30000},
        "tensor-parallel-size": {
            "names": ["--tensor-parallel-size", "--tp"],
            "kind": "value",
            "type": "int",
            "default": 1,
            "dest": "tp_size",
        },
        "context-length": {"names": ["--context-length"], "kind": "value", "type": "human_readable_int"},
        "enable-metrics": {"names": ["--enable-metrics"], "kind": "flag", "default": False},
        "dtype": {"names": ["--dtype"], "kind": "value", "choices": ["auto", "half"], "default": "auto"},
        "quantization": {"names": ["--quantization"], "kind": "value", "choices": ["awq", "fp8"]},
        "bs": {"names": ["--bs"], "kind": "list", "nargs": "+", "type": "int"},
        "strict": {"names": ["--strict"], "kind": "toggle", "negatives": ["--no-strict"]},
        "sampling-backend": {"names": ["--sampling-backend"], "kind": "value", "choices": ["pytorch"]},
        "tool-call-parser": {"names": ["--tool-call-parser"], "kind": "value", "choices": ["auto", "llama3", "qwen25"]},
        "log-level": {"names": ["--log-level"], "kind": "value", "type": "logging_level", "default": "info"},
    }


def test_a_default_that_a_factory_makes_is_read() -> None:
    assert harvested(_collected(), "0.5.20")["options"]["urls"]["default"] == []


def test_the_environment_is_read_from_the_registry_and_from_the_source() -> None:
    assert harvested(_one_class(), "0.5.16")["env"] == {
        "SGLANG_BY_CONSTANT": {},
        "SGLANG_ENABLE_SPEC_V2": {"deprecated": "SGLANG_ENABLE_SPEC_V2 has been removed: it does nothing."},
        "SGLANG_FOLDER": {"type": "int"},
        "SGLANG_GC_LOG": {"deprecated": "Environment variable SGLANG_GC_LOG is deprecated. Please use SGLANG_LOG_GC instead."},
        "SGLANG_INDEXED": {},
        "SGLANG_NEW": {"type": "int", "default": 7},
        "SGLANG_OLD": {
            "type": "int",
            "default": 7,
            "deprecated": "Environment variable 'SGLANG_OLD' is deprecated; use 'SGLANG_NEW' instead.",
        },
        "SGLANG_ORACLE": {"type": "bool", "default": False},
        "SGLANG_PLAIN": {"deprecated": "Environment variable SGLANG_PLAIN is deprecated."},
        "SGLANG_SIZE": {"type": "int", "default": 3072},
        "SGLANG_SWITCH": {"type": "bool", "default": False},
        "SGLANG_SWITCH_ON": {"type": "bool", "default": True},
        "SGLANG_TEXT": {"default": "abc"},
        "SGL_*": {"deprecated": "Environment variable SGL_* is deprecated, please use SGLANG_*"},
        "SGL_THERE": {},
    }


def test_json_keys_are_read() -> None:
    graph = """
        import dataclasses
        from typing import List, Optional
        class Phase:
            DECODE = "decode"
        ALLOWED_BACKENDS_PER_PHASE = {Phase.DECODE: ("full", "disabled")}
        ALLOWED_KEYS_PER_PHASE = {Phase.DECODE: ("backend", "bs")}
        @dataclasses.dataclass
        class PhaseConfig:
            backend: str = "full"
            bs: Optional[List[int]] = None
    """
    events = """
        from typing import Literal, Optional
        from pydantic import BaseModel
        class KVEventsConfig(BaseModel):
            publisher: str = "null"
            bind: Optional[bool] = None
            format: Literal["default", "dynamo"] = "default"
    """
    server = """
        class ServerArgs:
            @staticmethod
            def add_cli_args(parser):
                parser.add_argument("--cuda-graph-config", type=str)
                parser.add_argument("--kv-events-config", type=str)
    """
    found = harvested(
        {
            "sglang/srt/server_args.py": server,
            "sglang/srt/model_executor/cuda_graph_config.py": graph,
            "sglang/srt/disaggregation/kv_events.py": events,
        }
    )
    assert found["options"]["kv-events-config"]["json"] == "kv-events-config"
    decode = {
        "type": "object",
        "extra": "reject",
        "keys": {"backend": {"type": "str", "choices": ["full", "disabled"]}, "bs": {"type": "list"}},
    }
    assert found["json"] == {
        "cuda-graph-config": {"extra": "reject", "keys": {"decode": decode}},
        "kv-events-config": {
            "extra": "ignore",
            "keys": {
                "publisher": {"type": "str", "default": "null"},
                "bind": {"type": "bool"},
                "format": {"type": "str", "choices": ["default", "dynamo"], "default": "default"},
            },
        },
    }


ALGORITHM = """
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--speculative-algorithm", type=str)
"""


@pytest.mark.parametrize(
    ("info", "hook", "expected"),
    [
        (REGISTERED, "", {"EAGLE": {}}),
        (ENUM, HOOK, {"EAGLE": {}, "NEXTN": {"alias_of": "EAGLE"}}),
    ],
)
def test_algorithms_without_choices(info: str, hook: str, expected: dict[str, Any]) -> None:
    files = {
        "sglang/srt/server_args.py": ALGORITHM,
        "sglang/srt/speculative/spec_info.py": info,
        "sglang/srt/arg_groups/speculative_hook.py": hook,
    }
    assert harvested(files)["names"]["speculative-methods"] == expected


def test_reserved_aliases_stand_for_what_from_string_gives() -> None:
    info = """
        from enum import Enum, auto
        from sglang.srt.speculative.spec_registry import _RESERVED_ALIASES
        class SpeculativeAlgorithm(Enum):
            EAGLE = auto()
            NONE = auto()
            @classmethod
            def from_string(cls, name):
                if name in _RESERVED_ALIASES:
                    return cls.EAGLE
    """
    files = {
        "sglang/srt/server_args.py": ALGORITHM,
        "sglang/srt/speculative/spec_info.py": info,
        "sglang/srt/speculative/spec_registry.py": '_RESERVED_ALIASES = frozenset({"NEXTN"})\n',
    }
    assert harvested(files)["names"]["speculative-methods"] == {"EAGLE": {}, "NEXTN": {"alias_of": "EAGLE"}}


def test_the_serve_command_says_what_it_reads_itself() -> None:
    files = {
        "sglang/srt/server_args.py": ALGORITHM,
        "sglang/cli/utils.py": """
            def get_model_path(argv):
                for arg in argv:
                    if arg in ("--model-path", "--model"):
                        return arg
        """,
        "sglang/cli/serve.py": """
            def _extract_model_type_override(argv):
                if argv[0] == "--model-type" and argv[1] not in ("auto", "llm"):
                    raise ValueError
            def _normalize_positional_model_path(argv):
                return argv
        """,
    }
    assert harvested(files)["names"]["serve"] == {
        "--model-path": {},
        "--model": {},
        "--model-type": {"choices": ["auto", "llm"]},
        "positional": {},
    }


def test_what_cannot_be_resolved_is_reported_and_left_out() -> None:
    server = """
        from somewhere import CHOICES, build, Kind
        class ServerArgs:
            @staticmethod
            def add_cli_args(parser):
                parser.add_argument("--backend", choices=CHOICES, type=build)
                parser.add_argument("--mode", action=Kind)
                if build():
                    parser.add_argument("--maybe", type=int)
                parser.add_argument("--port", type=int)
    """
    reported: list[str] = []
    tree = Tree("sglang", "0.5.9", {**COMMON, "sglang/srt/server_args.py": dedent(server)})
    options = snapshot(tree, reported.append)["options"]
    assert options["backend"] == {"names": ["--backend"], "kind": "value"}
    assert options["port"]["type"] == "int"
    said = "\n".join(reported)
    for part in ("--backend: choices that are not known", "--backend: a type", "--mode: an action", "--maybe: its declaration"):
        assert part in said


def test_a_release_without_server_args_is_told() -> None:
    with pytest.raises(HarvestError, match=r"sglang 0\.0\.1 has no"):
        snapshot(Tree("sglang", "0.0.1", {"sglang/__init__.py": ""}))


def test_capabilities_of_quantization_methods() -> None:
    files = {
        "sglang/srt/server_args.py": """
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--quantization", type=str, choices=["awq", "fp8", "gguf"])
""",
        "sglang/srt/layers/quantization/__init__.py": """
            from vllm.elsewhere import GGUFConfig
            from sglang.srt.layers.quantization.own import AWQConfig, AmdConfig, Fp8Config
            from sglang.srt.utils import is_cuda, is_hip
            BASE_QUANTIZATION_METHODS = {"fp8": Fp8Config, "mxfp8": Fp8Config}
            if is_cuda():
                BASE_QUANTIZATION_METHODS.update({"awq": AWQConfig})
            if is_hip():
                BASE_QUANTIZATION_METHODS.update({"awq": AmdConfig})
            QUANTIZATION_METHODS = {**BASE_QUANTIZATION_METHODS, "gguf": GGUFConfig, "unlisted": AWQConfig}
        """,
        "sglang/srt/layers/quantization/own.py": """
            class AWQConfig:
                @classmethod
                def get_min_capability(cls):
                    return 75
            class AmdConfig:
                @classmethod
                def get_min_capability(cls):
                    return 60
            class Fp8Config:
                def __init__(self, use_mxfp8=False):
                    self.use_mxfp8 = use_mxfp8
                def get_min_capability(self):
                    return 100 if self.use_mxfp8 else 80
        """,
        "sglang/srt/utils.py": "def is_cuda():\n    return probe()\ndef is_hip():\n    return probe()\n",
    }
    assert harvested(files)["names"]["quantization"] == {
        "awq": {"capability": 75},
        "fp8": {"capability": 80},
        "gguf": {},
        "mxfp8": {"capability": 100},
        "unlisted": {"capability": 75},
    }


def test_steps_of_adaptive_drafts() -> None:
    files = {
        "sglang/srt/server_args.py": ALGORITHM,
        "sglang/srt/speculative/adaptive_spec_params.py": """
            DEFAULT_ADAPTIVE_CONFIG = {"1": {"candidate_steps": [1, 3, 10]}, "8": {"candidate_steps": [0, 1]}}
        """,
    }
    assert harvested(files)["names"]["adaptive-steps"] == ["0", "1", "3", "10"]


def test_models_that_draft_with_their_own_layers() -> None:
    files = {
        "sglang/srt/server_args.py": ALGORITHM,
        "sglang/srt/configs/model_config.py": """
            FLASH = ("FlashModel", "ProModel")
            class ModelConfig:
                def _config_draft_model(self):
                    if is_draft_model and self.hf_config.architectures[0] in ["AModel", "BModel"]:
                        self.hf_config.architectures[0] = "AModelNextN"
                    if is_draft_model and self.hf_config.architectures[0] in FLASH:
                        self.hf_config.architectures[0] = "FlashMTP"
                    if is_draft_model and self.hf_config.architectures[0] == "CModel":
                        self.hf_config.architectures = ["CModelDSpark"]
                    if self.hf_config.architectures[0] == "DModel":
                        self.hf_config.architectures[0] = "DModelNextN"
        """,
    }
    assert harvested(files)["names"]["mtp-models"] == {"AModel": {}, "BModel": {}, "FlashModel": {}, "ProModel": {}}
