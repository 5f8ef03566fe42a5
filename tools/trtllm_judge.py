"""Compare servelint with the command line and the configuration classes of a release of TensorRT-LLM.

    python tools/trtllm_judge.py SOURCE --python PYTHON --release 1.3.0rc3 --cases 500
    python tools/trtllm_judge.py extract --release 1.2.0 --cases 500

SOURCE is a folder with the package `tensorrt_llm` of the release. PYTHON has pydantic, click and PyYAML; it runs the click
command and the pydantic classes of the source in a process of its own, with stubs in place of everything else (torch,
transformers, the native bindings, the modules of the package that need them). Nothing is served. Each case is a command line
with the YAML file of --extra_llm_api_options; cases are mutations of files that the release takes, equal for one --seed. The
fields and options that are put in are the release's own. Left out are cases in which only a file is missing, and the AutoDeploy
backend, whose classes are others. The source of a release is its tag in https://github.com/NVIDIA/TensorRT-LLM.

`extract` takes the declarations that tests/harvest/trtllm.json stores in place of the source: click and pydantic decide names,
types, choices, bounds and required keys of the whole file. Bodies of validators are not stored. A case that the classes accept,
and of which servelint only reports what such a body refuses, is counted apart.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from typing import Any

REAL = (
    "tensorrt_llm",
    "tensorrt_llm.commands",
    "tensorrt_llm.commands.serve",
    "tensorrt_llm.llmapi",
    "tensorrt_llm.llmapi.llm_args",
    "tensorrt_llm.llmapi.kv_cache_type",
    "tensorrt_llm.lora_helper",
    "tensorrt_llm.builder",
    "tensorrt_llm.plugin",
    "tensorrt_llm.plugin.plugin",
    "tensorrt_llm.mapping",
    "tensorrt_llm.llmapi.reasoning_parser",
)

WORKER = r"""
import ast, dataclasses, enum, importlib.abc, importlib.util, json, os, sys, tempfile, types, typing
source, real, extracted = sys.argv[1], set(json.loads(sys.argv[2])), len(sys.argv) > 3
real = {name for name in real if os.path.exists(os.path.join(source, *name.split("."))) or
        os.path.exists(os.path.join(source, *name.split(".")) + ".py")}
import click, pydantic, yaml
from pydantic_core import core_schema

class Meta(type):
    def __getattr__(cls, name):
        if name == "__members__":
            return {}
        if name.startswith("__") or name == "model_fields":
            raise AttributeError(name)
        return stub(name)
    def __iter__(cls):
        return iter(())
    def __or__(cls, other): return typing.Any
    def __ror__(cls, other): return typing.Any
    def __getitem__(cls, item): return cls
    def __lt__(cls, other): return False
    def __gt__(cls, other): return False
    def __bool__(cls): return True

def stub(name):
    def init(self, *args, **kwargs): pass
    def get(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return stub(attribute)
    def call(self, *args, **kwargs):
        return args[0] if args and isinstance(args[0], (type, types.FunctionType)) else stub("value")()
    body = {"__init__": init, "__getattr__": get, "__call__": call, "__lt__": lambda a, b: False, "__gt__": lambda a, b: False,
            "__le__": lambda a, b: False, "__ge__": lambda a, b: True, "__int__": lambda a: 8, "__iter__": lambda a: iter(()),
            "__get_pydantic_core_schema__": classmethod(lambda cls, *_: core_schema.any_schema())}
    return Meta(name, (), body)

import builtins
builtins.stub = stub

class Module(types.ModuleType):
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = SPECIAL.get(self.__name__, {}).get(name)
        value = stub(name) if value is None else value
        setattr(self, name, value)
        return value

class StrEnum(str, enum.Enum):  # of the package strenum, whose auto() is the name
    _generate_next_value_ = staticmethod(lambda name, *_: name)

def declared(path, *names):
    # the classes of a module that cannot be imported, without their functions
    with open(os.path.join(source, "tensorrt_llm", path)) as file:
        nodes = [node for node in ast.parse(file.read()).body if isinstance(node, ast.ClassDef) and node.name in names]
    for node in nodes:
        node.body = [one for one in node.body if not isinstance(one, ast.FunctionDef)]
    exec(compile(ast.Module(nodes, []), path, "exec"), CLASSES)

CLASSES = {**vars(enum), **vars(typing), "StrEnum": StrEnum, "BaseEnumMeta": enum.EnumMeta, "dataclasses": dataclasses}
declared("quantization/mode.py", "QuantAlgo")
declared("models/modeling_utils.py", "QuantConfig", "SpeculativeDecodingMode")
SEVERITIES = dict.fromkeys(("internal_error", "error", "warning", "info", "verbose", "debug", "trace"), [0])
PARSERS = dict.fromkeys(("qwen3", "qwen3_coder", "kimi_k2", "deepseek_v3", "deepseek_v31", "deepseek_v32"), object)
SPECIAL = {
    "strenum": {"StrEnum": StrEnum},
    "tensorrt_llm.models.modeling_utils": CLASSES,
    "tensorrt_llm.quantization.mode": CLASSES,
    "tensorrt_llm.logger": {"severity_map": SEVERITIES},
    "tensorrt_llm._utils": {"mpi_rank": lambda: 0, "mpi_disabled": lambda: False, "str_dtype_to_torch": lambda name: name},
    "torch.cuda": {"device_count": lambda: 8, "get_device_properties": lambda *_: types.SimpleNamespace(major=9)},
    "tensorrt_llm.serve.tool_parser": {"ToolParserFactory": types.SimpleNamespace(parsers=PARSERS)},
    "tensorrt_llm.llmapi.tokenizer": {"tokenizer_factory": lambda *_, **__: None},
    "tensorrt_llm.llmapi.utils": {"generate_api_docs_as_docstring": lambda *_, **__: "", "get_type_repr": str},
}

class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if name in real:
            file = os.path.join(source, *name.split("."))
            package = os.path.isdir(file)
            if name in ("tensorrt_llm", "tensorrt_llm.commands", "tensorrt_llm.llmapi"):
                return importlib.util.spec_from_loader(name, self, is_package=True)
            location = os.path.join(file, "__init__.py") if package else file + ".py"
            folders = [file] if package else None
            return importlib.util.spec_from_file_location(name, location, submodule_search_locations=folders)
        if top == "tensorrt_llm":
            return importlib.util.spec_from_loader(name, self, is_package=True)
        return None
    def create_module(self, spec):
        return Module(spec.name)
    def exec_module(self, module): pass

class Missing(Finder):
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self, is_package=True)

for name in ("torch", "torch.cuda", "transformers", "tensorrt", "numpy", "strenum", "onnx", "mpi4py", "ray", "uvicorn"):
    sys.modules[name] = Module(name)
sys.modules["torch"].cuda = sys.modules["torch.cuda"]
sys.meta_path.insert(0, Finder())
sys.meta_path.append(Missing())
import tensorrt_llm.llmapi.llm_args as arguments
import tensorrt_llm.builder as builder
llmapi = sys.modules["tensorrt_llm.llmapi"]
for name in ("CapacitySchedulerPolicy", "DynamicBatchConfig", "KvCacheConfig", "SchedulerConfig"):
    setattr(llmapi, name, getattr(arguments, name))
llmapi.BuildConfig = builder.BuildConfig
if extracted:
    llmapi.reasoning_parser = importlib.import_module("tensorrt_llm.llmapi.reasoning_parser")
import tensorrt_llm.commands.serve as serve
serve.update_llm_args_with_extra_dict = arguments.update_llm_args_with_extra_dict
serve.device_count = lambda: 8
serve.parse_metadata_server_config_file = lambda file: file

def launch(host, port, llm_args, *_, **__):
    backend = llm_args["backend"]
    llm_args = dict(llm_args)
    if backend == "pytorch":
        llm_args.pop("build_config", None)
        made = arguments.TorchLlmArgs(**llm_args)
    else:
        llm_args.pop("backend")
        made = arguments.TrtLlmArgs(**llm_args)
    if not extracted:
        made.parallel_config.to_mapping()

# -- in place of the bodies that an extract does not have
NAMES = {
    "tp_size": "tensor_parallel_size", "pp_size": "pipeline_parallel_size", "cp_size": "context_parallel_size",
    "ep_size": "moe_expert_parallel_size", "cluster_size": "moe_cluster_parallel_size",
}
CHOSEN_BY = {"speculative_config": "decoding_type", "sparse_attention_config": "algorithm"}

def tables():
    # the tables of the module: field -> its class, and of a class with from_dict: word -> class
    with open(arguments.__file__) as file:
        tree = ast.parse(file.read())
    made, chosen = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "from_dict"]
            for one in [part for method in methods for part in ast.walk(method)]:
                if isinstance(one, ast.Dict):
                    chosen[node.name] = {key.value: getattr(arguments, value.id) for key, value in zip(one.keys, one.values)}
        elif isinstance(node, ast.FunctionDef) and node.name == "update_llm_args_with_extra_dict":
            for one in ast.walk(node):
                if isinstance(one, ast.Dict):
                    made = {key.value: value.id for key, value in zip(one.keys, one.values)}
    return made, chosen

def serve_extract(model, **options):
    content = {}
    for name in ("extra_llm_api_options", "config"):
        if options.get(name):
            with open(options[name]) as file:
                content = yaml.safe_load(file) or {}
    for taken in ("disagg_cluster", "router"):
        content.pop(taken, None)
    backend = "tensorrt" if options["backend"] == "trt" else options["backend"]
    model_class = arguments.TorchLlmArgs if backend == "pytorch" else arguments.TrtLlmArgs
    llm_args = {NAMES.get(name, name): value for name, value in options.items() if value is not None}
    llm_args = {name: value for name, value in llm_args.items() if name in model_class.model_fields}
    made, chosen = tables()
    for field, name in made.items():
        if field in content and (field != "build_config" or "BuildConfig" in str(arguments.TrtLlmArgs.model_fields[field])):
            value = content[field]
            if name in chosen:
                value = dict(value.items())
                word = value.pop(CHOSEN_BY[field], None)
                content[field] = chosen[name][word.lower() if field.startswith("sparse") else word](**value)
            else:
                content[field] = getattr(arguments, name)(**value)
    if backend == "pytorch":
        content.pop("build_config", None)
    launch("", 0, {**llm_args, "model": model, "backend": backend, **content})

def values(annotation, found):
    # the literals of an annotation go into `found`; returns the classes of fields in it
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        found.extend([one.value if isinstance(one.value, (str, int)) else one.name for one in annotation])
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        return [annotation]
    if typing.get_origin(annotation) is typing.Literal:
        found.extend([one for one in typing.get_args(annotation) if isinstance(one, (str, int, type(None)))])
        return []
    return [model for one in typing.get_args(annotation) for model in values(one, found)]

def fields(model, path, into):
    for name, field in model.model_fields.items():
        key = field.alias if isinstance(field.alias, str) else name
        literals = []
        models = values(field.annotation, literals)
        into[".".join([*path, key])] = literals
        for inner in models if len(path) < 2 else ():
            fields(inner, [*path, key], into)
    return into

def options(command):
    return [
        [one.opts, [str(choice) for choice in getattr(one.type, "choices", ())], one.is_flag]
        for one in command.params if isinstance(one, click.Option)
    ]

SHAPE = {"fields": fields(arguments.TrtLlmArgs, [], fields(arguments.TorchLlmArgs, [], {}))}
SHAPE["options"] = options(serve.serve)
print("SHAPE" + json.dumps(SHAPE), flush=True)
serve.launch_server = launch
if extracted:
    serve.serve.callback = serve_extract
serve.launch_grpc_server = lambda host, port, llm_args: launch(host, port, llm_args)
for line in sys.stdin:
    case = json.loads(line)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(case["yaml"])
        file.flush()
        argv = [file.name if word == "FILE" else word for word in case["argv"]]
        try:
            serve.serve.main(argv, standalone_mode=False)
            answer = ""
        except BaseException as error:
            answer = f"{type(error).__name__}: {str(error)[:300]}"
    print("ANSWER" + json.dumps(answer), flush=True)
"""

FILES: list[dict[str, Any]] = [
    {"kv_cache_config": {"free_gpu_memory_fraction": 0.8, "enable_block_reuse": False, "dtype": "fp8"}},
    {"speculative_config": {"decoding_type": "MTP", "num_nextn_predict_layers": 3}, "enable_attention_dp": True},
    {"speculative_config": {"decoding_type": "Eagle", "max_draft_len": 3, "speculative_model_dir": "/models/draft"}},
    {"speculative_config": {"decoding_type": "Eagle3", "max_draft_len": 3, "speculative_model": "org/draft"}},
    {"speculative_config": {"decoding_type": "NGram", "max_draft_len": 4, "max_matching_ngram_size": 3, "is_keep_all": True}},
    {"speculative_config": {"decoding_type": "DraftTarget", "max_draft_len": 4, "speculative_model": "org/draft"}},
    {"speculative_config": {"decoding_type": "AUTO"}},
    {"cuda_graph_config": {"enable_padding": True, "max_batch_size": 64}, "disable_overlap_scheduler": True},
    {"cuda_graph_config": {"batch_sizes": [1, 2, 4]}, "stream_interval": 4},
    {"moe_config": {"backend": "CUTLASS", "max_num_tokens": 8192}, "moe_expert_parallel_size": 4, "tensor_parallel_size": 8},
    {"attention_dp_config": {"enable_balance": True, "timeout_iters": 50, "batching_wait_iters": 10}},
    {"batch_wait_timeout_ms": 5, "batch_wait_timeout_iters": 3, "batch_wait_max_tokens_ratio": 0.5},
    {"cache_transceiver_config": {"backend": "UCX", "max_tokens_in_buffer": 2048, "kv_transfer_timeout_ms": 500}},
    {"scheduler_config": {"capacity_scheduler_policy": "MAX_UTILIZATION", "context_chunking_policy": "EQUAL_PROGRESS"}},
    {"torch_compile_config": {"enable_fullgraph": True, "max_num_streams": 2}, "enable_chunked_prefill": True},
    {"lora_config": {"max_lora_rank": 16, "max_loras": 4}, "peft_cache_config": {"host_cache_size": 1073741824}},
    {"guided_decoding_backend": "xgrammar", "allreduce_strategy": "AUTO", "load_format": "dummy"},
    {"sparse_attention_config": {"algorithm": "rocket", "window_size": 32, "topk": 64}},
    {"orchestrator_type": "ray", "ray_placement_config": {"per_worker_gpu_share": 0.5}},
    {
        "speculative_config": {
            "decoding_type": "Lookahead",
            "max_window_size": 4,
            "max_ngram_size": 3,
            "max_verification_set_size": 4,
        }
    },
    {"layer_wise_benchmarks_config": {"calibration_mode": "COLLECT", "calibration_file_path": "/tmp/c.json"}},
    {"kv_connector_config": {"connector_module": "m", "connector_scheduler_class": "S", "connector_worker_class": "W"}},
    {
        "scheduler_config": {
            "dynamic_batch_config": {
                "enable_batch_size_tuning": True,
                "enable_max_num_tokens_tuning": False,
                "dynamic_batch_moving_average_window": 128,
            }
        }
    },
    {"env_overrides": {"A": 1}, "cp_config": {"cp_type": "ULYSSES"}, "model_kwargs": {"num_hidden_layers": 2}},
    {"nvfp4_gemm_config": {"allowed_backends": ["cutlass"]}, "print_iter_log": True},
    {
        "kv_cache_config": {
            "max_tokens": 65536,
            "max_attention_window": [4096, 8192],
            "host_cache_size": 0,
            "tokens_per_block": 32,
        }
    },
]
ARGVS: list[list[str]] = [
    ["--tp_size", "2", "--max_batch_size", "8"],
    ["--tensor_parallel_size", "4", "--port", "8001", "--host", "0.0.0.0"],
    ["--backend", "pytorch", "--max_num_tokens", "4096", "--trust_remote_code"],
    ["--ep_size", "4", "--tp_size", "4", "--kv_cache_free_gpu_memory_fraction", "0.85"],
    ["--reasoning_parser", "deepseek-r1", "--log_level", "info"],
    ["--tool_parser", "qwen3", "--max_seq_len", "32768", "--enable_chunked_prefill"],
]
WORDS = [
    "--max-batch-size",
    "--tp",
    "--gpu_memory_utilization",
    "--max_model_len",
    "--dtype",
    "--max_batch_sizes",
    "--speculative_config",
]
VALUES: list[Any] = [-1, 0, 1, 2, 1.5, 64, "x", "auto", True, None, [1], {"a": 1}, "8", "fp8", "CUTLAS", "mtp", "PYTORCH"]
KEYS = [
    "max_batchsize",
    "quantization",
    "enable_tqdm",
    "cuda_graph_config",
    "max_draft_len",
    "dtype",
    "kv_cache_dtype",
    "decoding_type",
    "Backend",
    "num_nextn_predict_layers",
    "speculative_model",
    "use_cuda_graph",
    "pytorch_backend_config",
    "stream_interval",
]


def cases(number: int, seed: int, shape: dict[str, Any]) -> list[dict[str, Any]]:
    """Mutated cases: one to two changes of a file or a command line that the release takes.

    Args:
        number: How many.
        seed: Equal seeds give equal cases.
        shape: The fields of the release's classes (a path with dots: literals of its type) and the options of its command
            (spellings, choices, whether it is a flag), as the release names them.
    """
    chance = random.Random(seed)
    options = {spelling for spellings, *_ in shape["options"] for spelling in spellings}
    files = [one for one in FILES if one.keys() <= shape["fields"].keys()]
    argvs = [one for one in ARGVS if {word for word in one if word.startswith("--")} <= options]
    found = []
    for _ in range(number):
        content, argv = copy.deepcopy(chance.choice(files)), [*chance.choice(argvs)]
        for _ in range(chance.choice((0, 1, 1, 1, 2))):
            if chance.random() < 0.3:
                _set_field(content, shape["fields"], chance)
            elif chance.random() < 0.2:
                _add_option(argv, shape["options"], chance)
            elif chance.random() < 0.7:
                _mutate(content, chance)
            else:
                _mutate_argv(argv, chance)
        found.append({"argv": ["org/model", *argv, "--extra_llm_api_options", "FILE"], "yaml": _yaml(content)})
    return found


def _mutate(content: dict[str, Any], chance: random.Random) -> None:
    inner = [value for value in content.values() if isinstance(value, dict) and value]
    where = chance.choice(inner) if inner and chance.random() < 0.7 else content
    if not where:
        where[chance.choice(KEYS)] = copy.deepcopy(chance.choice(VALUES))
        return
    key, how = chance.choice(sorted(where)), chance.random()
    if how < 0.2:
        at = chance.randrange(len(key))
        where[key[:at] + key[at + 1 :]] = where.pop(key)
    elif how < 0.35:
        del where[key]
    elif how < 0.75:
        where[key] = copy.deepcopy(chance.choice(VALUES))
    elif how < 0.9:
        where[chance.choice(KEYS)] = copy.deepcopy(chance.choice(VALUES))
    else:
        other = chance.choice(FILES)
        name = chance.choice(sorted(other))
        content[name] = copy.deepcopy(other[name])


def _set_field(content: dict[str, Any], fields: dict[str, list[Any]], chance: random.Random) -> None:
    path = chance.choice(sorted(fields))
    *parents, key = path.split(".")
    where = content
    for parent in parents:
        if not isinstance(where.get(parent), dict):
            where[parent] = {}
        where = where[parent]
    literals = fields[path]
    where[key] = chance.choice(literals) if literals and chance.random() < 0.5 else copy.deepcopy(chance.choice(VALUES))


def _add_option(argv: list[str], options: list[list[Any]], chance: random.Random) -> None:
    spellings, choices, flag = chance.choice(options)
    choices = [one for one in choices if one != "_autodeploy"]  # whose classes are others
    value = chance.choice(choices) if choices and chance.random() < 0.5 else chance.choice(("x", "0", "2", "8", "1.5", "true"))
    argv.extend([chance.choice(spellings), *([] if flag and chance.random() < 0.8 else [value])])


def _mutate_argv(argv: list[str], chance: random.Random) -> None:
    at, how = chance.randrange(len(argv)), chance.random()
    if how < 0.4:
        argv[at] = argv[at].replace("_", "-") if argv[at].startswith("--") else chance.choice(("x", "0", "8", "1.5", "true"))
    elif how < 0.7:
        argv[at:at] = [chance.choice(WORDS), "8"] if argv[at].startswith("--") else []
    else:
        del argv[at]


def _yaml(content: dict[str, Any]) -> str:
    return "".join([f"{key}: {json.dumps(value)}\n" for key, value in content.items()]) or "{}\n"


def refused(case: dict[str, Any], release: str) -> list[str]:
    """The errors that servelint reports for a case."""
    import shlex

    import servelint
    from servelint.core.settings import Settings
    from servelint.judge.judging import judge

    argv = shlex.join(["/tmp/c.yaml" if word == "FILE" else word for word in case["argv"]])
    text = f"pip install tensorrt_llm=={release}\ncat > /tmp/c.yaml <<'EOF'\n{case['yaml']}EOF\ntrtllm-serve {argv}\n"
    (launch,) = servelint.find_launches(text, "run.sh")
    found = judge(launch, Settings(profile="audit"))
    return [f"{one.rule}: {one.message}" for one in found if one.severity == "error" and one.rule.startswith("trtllm/")]


_MACHINE = re.compile(r"^\w+: Path '.*' does not exist|^FileNotFoundError")
"""Answers that only say that a file is not on this machine."""


_DECLARED = ("required-key-missing", "key-of-other-backend", "key-of-other-decoding-type")
"""Rules, beside those of the parser, about what the declarations decide."""


def of_bodies(found: list[str]) -> bool:
    """Whether findings are only about what bodies of validators refuse."""
    from servelint.judge.parser.violation import REFUSED

    return bool(found) and not any(one.partition(":")[0].removeprefix("trtllm/") in (*REFUSED, *_DECLARED) for one in found)


def write_extract(release: str, folder: str) -> None:
    """Write the stored declarations of a release as a source tree, in which validators before a field return its value."""
    from tools.trtllm_extract import tree

    for path, text in tree(release).items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        text = text.replace("    def coerce_env_overrides_to_str(cls, v):\n        pass", _STRINGS)
        text = re.sub(r"(    def \w+\(cls, (\w+)[^)]*\)(?: -> [^\n]*)?:\n        )pass", r"\1return \2", text)
        if path.endswith("commands/serve.py"):
            text = re.sub(r"class ChoiceWithAlias\(click.Choice\):\n    pass\n", "", text)
            text = text.replace("\n@click.command", f"\n{_ALIASES}\n@click.command", 1)
        if path.endswith("llm_args.py"):
            text = re.sub(r"@PybindMirror\S+\n", "", text).replace("\nclass ", f"\n{_NAMES}\nclass ", 1)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text + _REST)


_STRINGS = """    def coerce_env_overrides_to_str(cls, v):
        return None if v is None else {str(key): str(one) for key, one in v.items()}"""
_NAMES = """
from transformers import PreTrainedTokenizerBase
PybindMirrorEnumMeta = EnumMeta
"""
_REST = """
def __getattr__(name):
    import builtins
    if name.startswith("__"):
        raise AttributeError(name)
    return builtins.stub(name)
"""
_ALIASES = """
class ChoiceWithAlias(click.Choice):
    def __init__(self, choices, aliases):
        super().__init__([*choices, *aliases])
DefaultGroup = click.Group
"""


def main() -> int:
    """Print the agreement and each case in which the two differ."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--release", default="1.3.0rc3")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    extracted = given.source == "extract"
    if extracted:
        sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        given.source = tempfile.mkdtemp()
        write_extract(given.release, given.source)
    command = [given.python, "-W", "ignore", "-c", WORKER, given.source, json.dumps(REAL), *(["extract"] if extracted else [])]
    result = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    shapes = [json.loads(line[5:]) for line in result.stdout.splitlines() if line.startswith("SHAPE")]
    if not shapes:
        print(result.stderr[-3000:], file=sys.stderr)
        return 2
    asked = cases(given.cases, given.seed, shapes[0])
    text = "".join([json.dumps(case) + "\n" for case in asked])
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    answers = [json.loads(line[6:]) for line in result.stdout.splitlines() if line.startswith("ANSWER")]
    if len(answers) != len(asked):
        print(result.stderr[-3000:], file=sys.stderr)
        return 2
    differ = apart = 0
    kept = [pair for pair in zip(asked, answers, strict=True) if not _MACHINE.search(pair[1])]
    for case, answer in kept:
        found = refused(case, given.release)
        if extracted and not answer and of_bodies(found):
            apart += 1
        elif bool(answer) != bool(found):
            differ += 1
            print(json.dumps({**case, "release": answer or "accepts", "servelint": found}))
    taken, number = sum(not answer for _, answer in kept) - apart, len(kept) - apart
    print(f"{number} cases, {taken} accepted by the release; {number - differ} agree ({1 - differ / number:.1%})")
    if apart:
        print(f"{apart} more that only a body of a validator refuses: not decided")
    return 0


if __name__ == "__main__":
    sys.exit(main())
