"""What a release of LMDeploy accepts, read from small releases written here."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.harvest.lmdeploy import snapshot
from servelint.harvest.sources import HarvestError, Tree

CLI = """
from .utils import FlexibleArgumentParser

class CLI:
    parser = FlexibleArgumentParser(prog='lmdeploy')
    subparsers = parser.add_subparsers(title='Commands', dest='command')
"""

SERVE = """
from .cli import CLI
from .utils import ArgumentHelper, DefaultsAndTypesHelpFormatter

class SubCliServe:
    parser = CLI.subparsers.add_parser('serve', help='')
    subparsers = parser.add_subparsers(title='Commands')

    @staticmethod
    def add_parser_api_server():
        parser = SubCliServe.subparsers.add_parser('api_server',
                                                   formatter_class=DefaultsAndTypesHelpFormatter,
                                                   help=SubCliServe.api_server.__doc__)
        parser.set_defaults(run=SubCliServe.api_server)
        parser.add_argument('model_path', type=str, help='The model')
        parser.add_argument('--allow-origins', nargs='+', type=str, default=['*'])
        ArgumentHelper.log_level(parser)
        ArgumentHelper.device(parser)
        pt_group = parser.add_argument_group('PyTorch engine arguments')
        tp_act = ArgumentHelper.tp(pt_group)
        ArgumentHelper.quant_policy(pt_group)
        ArgumentHelper.eager_mode(pt_group)
        ArgumentHelper.async_(pt_group)
        ArgumentHelper.hf_overrides(pt_group)
        tb_group = parser.add_argument_group('TurboMind engine arguments')
        tb_group._group_actions.append(tp_act)
        either = parser.add_mutually_exclusive_group()
        ArgumentHelper.reasoning_parser(either)
        either.add_argument('--tool-call-parser', type=str, default=None)
        ArgumentHelper.add_spec_group(parser)

    @staticmethod
    def api_server(args):
        '''Serve LLMs.'''
"""

UTILS = """
import argparse
import json

class DefaultsAndTypesHelpFormatter(argparse.HelpFormatter):
    pass

class FlexibleArgumentParser(argparse.ArgumentParser):
    pass

class ArgumentHelper:
    @staticmethod
    def log_level(parser):
        import logging
        return parser.add_argument('--log-level', type=str, default='WARNING', choices=list(logging._nameToLevel.keys()))

    @staticmethod
    def device(parser, default: str = 'cuda', choices: list[str] = ['cuda', 'ascend']):
        return parser.add_argument('--device', type=str, default=default, choices=choices)

    @staticmethod
    def tp(parser):
        return parser.add_argument('--tp', type=int, default=1)

    @staticmethod
    def quant_policy(parser, default: int = 0):
        from lmdeploy.messages import QuantPolicy
        _aliases = {p.name.lower(): p.value for p in QuantPolicy}
        _aliases['fp8_e4m3'] = QuantPolicy.FP8.value

        def _parse(x):
            return _aliases.get(x.lower(), int(x))

        return parser.add_argument('--quant-policy', type=_parse, default=default)

    @staticmethod
    def eager_mode(parser):
        return parser.add_argument('--eager-mode', action='store_true', default=False)

    @staticmethod
    def async_(parser):
        return parser.add_argument('--async', type=int, default=1, choices=[0, 1], dest='async_')

    @staticmethod
    def hf_overrides(parser):
        return parser.add_argument('--hf-overrides', type=json.loads, default=None)

    @staticmethod
    def reasoning_parser(parser):
        from lmdeploy.serve.parsers import ReasoningParserManager
        return parser.add_argument('--reasoning-parser', type=str, help=f'One of {ReasoningParserManager.module_dict.keys()}')

    @staticmethod
    def add_spec_group(parser):
        group = parser.add_argument_group('Speculative decoding arguments')
        group.add_argument('--speculative-algorithm', type=str, default=None, choices=['eagle', 'deepseek_mtp'])
        return group
"""

FILES = {
    "lmdeploy/cli/cli.py": CLI,
    "lmdeploy/cli/serve.py": SERVE,
    "lmdeploy/cli/utils.py": UTILS,
    "lmdeploy/messages.py": "import enum\n\nclass QuantPolicy(enum.IntEnum):\n    NONE = 0\n    INT8 = 8\n    FP8 = 16\n",
    "lmdeploy/serve/parsers/__init__.py": """
ReasoningParserManager = Registry('reasoning')
LEGACY_REASONING_PARSER_NAMES = ('qwen-qwq',)

@ReasoningParserManager.register_module(name='default')
class ReasoningParser:
    pass
""",
    "lmdeploy/serve/parsers/tools.py": """
@ToolParserManager.register_module(['qwen', 'qwen3'])
class QwenParser:
    pass
""",
    "lmdeploy/turbomind/supported_models.py": """
SUPPORTED_ARCHS = dict(
    LlamaForCausalLM='llama',
    ChatGLMModel='glm4',
)

def is_supported(model_path):
    arch, cfg = get_model_arch(model_path)
    if arch in SUPPORTED_ARCHS:
        return cfg.num_layers == 40 if arch == 'ChatGLMModel' else True
    return False
""",
    "lmdeploy/pytorch/envs.py": """
import os
from os import getenv

fraction = float(os.environ.get('LMDEPLOY_FRACTION', '0.5'))
timeout = int(getenv('LMDEPLOY_TIMEOUT', 10))
check = env_to_bool('LMDEPLOY_CHECK', True)
mode = env_to_choice('LMDEPLOY_MODE', 'auto', ('auto', 'off'))
prefix = os.getenv('LMDEPLOY_PREFIX', None)
other = os.getenv('LMDEPLOY_TWICE', '1'), os.getenv('LMDEPLOY_TWICE', '2')
if 'LMDEPLOY_SET' in os.environ or os.environ['TM_LOG_LEVEL']:
    os.environ['LMDEPLOY_WRITTEN'] = '1'
home = os.getenv('HOME')
""",
}


def harvested(files: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    unresolved: list[str] = []
    return snapshot(Tree("lmdeploy", "0.18.0", files), unresolved.append), unresolved


def test_options_come_as_argparse_was_told() -> None:
    found, unresolved = harvested(FILES)
    assert unresolved == []
    assert found["options"] == {
        "help": {"names": ["-h", "--help"], "kind": "flag"},
        "allow-origins": {"names": ["--allow-origins"], "kind": "list", "nargs": "+", "default": ["*"]},
        "log-level": {
            "names": ["--log-level"],
            "kind": "value",
            "choices": ["CRITICAL", "FATAL", "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "NOTSET"],
            "default": "WARNING",
        },
        "device": {"names": ["--device"], "kind": "value", "choices": ["cuda", "ascend"], "default": "cuda"},
        "tp": {"names": ["--tp"], "kind": "value", "type": "int", "default": 1},
        "quant-policy": {"names": ["--quant-policy"], "kind": "value", "type": "quant_policy", "default": 0},
        "eager-mode": {"names": ["--eager-mode"], "kind": "flag", "default": False},
        "async": {"names": ["--async"], "kind": "value", "type": "int", "choices": [0, 1], "default": 1, "dest": "async_"},
        "hf-overrides": {"names": ["--hf-overrides"], "kind": "value", "type": "json"},
        "reasoning-parser": {"names": ["--reasoning-parser"], "kind": "value", "exclusive": "group-1"},
        "tool-call-parser": {"names": ["--tool-call-parser"], "kind": "value", "exclusive": "group-1"},
        "speculative-algorithm": {
            "names": ["--speculative-algorithm"],
            "kind": "value",
            "choices": ["eagle", "deepseek_mtp"],
        },
    }
    assert found["positionals"] == [{"name": "model_path", "kind": "value"}]


def test_names_of_parsers_that_a_function_lists() -> None:
    listed = "class ResponseParser:\n    def set_parsers(self):\n        legacy_reasoning_parser_names = ['deepseek-r1']\n"
    path = "lmdeploy/serve/parsers/__init__.py"
    found, _ = harvested({**FILES, path: FILES[path].replace("LEGACY_REASONING_PARSER_NAMES = ('qwen-qwq',)\n", "") + listed})
    assert found["names"]["reasoning-parsers"] == {"deepseek-r1": {}, "default": {}}


def test_names_that_the_release_knows() -> None:
    found, _ = harvested(FILES)
    assert found["names"] == {
        "speculative-methods": {"eagle": {}, "deepseek_mtp": {}},
        "tool-call-parsers": {"qwen": {}, "qwen3": {}},
        "reasoning-parsers": {"default": {}, "qwen-qwq": {}},
        "kv-cache-dtypes": {
            "none": {},
            "int8": {},
            "fp8": {},
            "fp8_e4m3": {"alias_of": "fp8"},
            "0": {"alias_of": "none"},
            "8": {"alias_of": "int8"},
            "16": {"alias_of": "fp8"},
        },
        "turbomind-architectures": {"ChatGLMModel": {"conditional": True}, "LlamaForCausalLM": {}},
    }


def test_numbers_alone_for_the_quant_policy_of_an_older_release() -> None:
    older = UTILS.replace("type=_parse, default=default", "type=int, default=0, choices=[0, 4, 8]")
    found, _ = harvested({**FILES, "lmdeploy/cli/utils.py": older})
    assert found["options"]["quant-policy"]["type"] == "int"
    assert found["names"]["kv-cache-dtypes"] == {"0": {}, "4": {}, "8": {}}


def test_variables_with_what_every_place_that_reads_them_says() -> None:
    found, _ = harvested(FILES)
    assert found["env"] == {
        "LMDEPLOY_CHECK": {"type": "bool", "default": True},
        "LMDEPLOY_FRACTION": {"type": "float", "default": 0.5},
        "LMDEPLOY_MODE": {"default": "auto", "choices": ["auto", "off"]},
        "LMDEPLOY_PREFIX": {},
        "LMDEPLOY_SET": {},
        "LMDEPLOY_TIMEOUT": {"type": "int", "default": 10},
        "LMDEPLOY_TWICE": {},
        "TM_LOG_LEVEL": {},
    }


def test_what_cannot_be_known_is_said_and_left_out() -> None:
    files = {**FILES, "lmdeploy/cli/utils.py": UTILS.replace("choices=choices", "choices=torch.devices()")}
    found, unresolved = harvested(files)
    assert found["options"]["device"] == {"names": ["--device"], "kind": "value", "default": "cuda"}
    assert len(unresolved) == 1
    assert unresolved[0].startswith("--device: choices")


@pytest.mark.parametrize("text", [None, "class SubCliServe:\n    pass\n", "SubCliServe = None\n"])
def test_a_release_without_the_command(text: str | None) -> None:
    files = {path: content for path, content in FILES.items() if path != "lmdeploy/cli/serve.py"}
    if text is not None:
        files["lmdeploy/cli/serve.py"] = text
    with pytest.raises(HarvestError, match=r"lmdeploy 0\.18\.0"):
        harvested(files)


def test_the_list_of_the_first_releases_also_names_what_is_not_supported() -> None:
    path = "lmdeploy/turbomind/supported_models.py"
    found, _ = harvested({**FILES, path: "_SUPPORTED_ARCHS = dict(LlamaForCausalLM=True, Qwen2ForCausalLM=False)\n"})
    assert found["names"]["turbomind-architectures"] == {"LlamaForCausalLM": {}}


def test_architectures_that_are_not_listed_are_reported() -> None:
    path = "lmdeploy/turbomind/supported_models.py"
    found, unresolved = harvested({**FILES, path: ""})
    assert found["names"]["turbomind-architectures"] == {}
    assert [one for one in unresolved if one.startswith(path)] == [f"{path}: SUPPORTED_ARCHS is not known"]
