"""Engines that Python code makes: classes whose keyword arguments are the options."""

# ruff: noqa: E501  # scripts in one line
from __future__ import annotations

import pytest

from servelint.engines.config import configs
from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release
from tests.readers.test_notebook import cell, notebook
from tests.together import together


@together(
    "call, engine, name, words",
    [
        ("from vllm import LLM\nLLM('m')", "vllm", "LLM", "--model m"),
        ("from vllm import LLM\nLLM(model='m', seed=1)", "vllm", "LLM", "--model m --seed 1"),
        ("import vllm\nvllm.LLM('m')", "vllm", "LLM", "--model m"),
        ("from vllm.entrypoints.llm import LLM as Model\nModel('m')", "vllm", "LLM", "--model m"),
        ("from vllm import EngineArgs\nEngineArgs(model='m')", "vllm", "EngineArgs", "--model m"),
        (
            "from vllm.engine.arg_utils import AsyncEngineArgs\nAsyncEngineArgs(model='m')",
            "vllm",
            "AsyncEngineArgs",
            "--model m",
        ),
        ("import sglang as sgl\nsgl.Engine(model_path='m', tp_size=2)", "sglang", "Engine", "--model_path m --tp_size 2"),
        ("from sglang import Engine\nEngine(model_path='m')", "sglang", "Engine", "--model_path m"),
        (
            "from sglang.srt.entrypoints.engine import Engine\nEngine(model_path='m')",
            "sglang",
            "Engine",
            "--model_path m",
        ),
        (
            "from sglang.srt.server_args import ServerArgs\nServerArgs(model_path='m', chunked_prefill_size=-1)",
            "sglang",
            "ServerArgs",
            "--model_path m --chunked_prefill_size -1",
        ),
    ],
)
def test_classes(call: str, engine: str, name: str, words: str) -> None:
    launch = launch_in(call + "\n", "serve.py")
    assert (launch.engine, launch.launcher, " ".join(argv(launch))) == (engine, name, words)


@together(
    "text",
    [
        "from llm import LLM\nLLM(model='m')  # vllm",
        "from crewai import LLM\nLLM(model='hosted_vllm/m')",
        "from nanovllm import LLM\nLLM('m')",
        "from tensorrt_llm import LLM\nLLM(model='m')  # vllm",
        "from vllm import LLM\nLLM(**settings)",
        "from vllm import LLM, EngineArgs\nfrom dataclasses import asdict\nLLM(**asdict(args))",
        "from vllm import LLM\nLLM(*args, **kwargs)",
        "from vllm import AsyncEngineArgs\nAsyncEngineArgs.from_cli_args(args)",
        "import sglang as sgl\nsgl.Engine(server_args=args)",
        '"""\nfrom vllm import LLM\nLLM("m")\n"""\nimport subprocess',
        "import sglang as sgl\nclass Engine: pass\nEngine(model_path='m')",
    ],
)
def test_other_calls(text: str) -> None:
    assert launches_in(text + "\n", "serve.py") == []


def test_a_test_shows_an_example() -> None:
    assert launches_in("from vllm import LLM\nLLM('m')\n", "test_llm.py") == []


HEAD = "import os, torch\nfrom vllm import LLM\n"


@together(
    "text, words",
    [
        ("LLM('m', enforce_eager=True, enable_prefix_caching=False)", "--model m --enforce_eager --no-enable_prefix_caching"),
        ("LLM('m', quantization=None)", "--model m"),
        ("TP = 2\nLLM('m', tensor_parallel_size=TP)", "--model m --tensor_parallel_size 2"),
        ("LLM('m', max_model_len=2 * 1024)", "--model m --max_model_len 2048"),
        ("LLM('m', dtype=torch.bfloat16)", "--model m --dtype bfloat16"),
        ("LLM('m', dtype=other.bfloat16)", "--model m --dtype {other.bfloat16}"),
        ("LLM('m', cudagraph_capture_sizes=[1, 2])", "--model m --cudagraph_capture_sizes 1 2"),
        ("k = {'seed': 1, 'enforce_eager': True}\nLLM('m', **k)", "--model m --seed 1 --enforce_eager"),
        ("k = dict(seed=1)\nk['max_num_seqs'] = 8\nLLM('m', **k)", "--model m --seed 1 --max_num_seqs 8"),
        ("k = dict(seed=1)\nk.update(max_num_seqs=8)\nLLM('m', **k)", "--model m --seed 1 --max_num_seqs 8"),
        ("k = dict(seed=1)\nk.update({'max_num_seqs': 8})\nLLM('m', **{**k, 'seed': 2})", "--model m --seed 2 --max_num_seqs 8"),
        ("def go(model, tp=1):\n    return LLM(model, tensor_parallel_size=tp)\ngo('m', tp=4)", "--model m --tensor_parallel_size 4"),
        ("N = 'm'\nLLM(f'org/{N}')", "--model org/m"),
        ("LLM('m', seed=get())", "--model m --seed {get()}"),
        (
            "LLM('m', speculative_config={'method': 'ngram', 'num_speculative_tokens': 4, 'x': True, 'y': [1, 'a']})",
            '--model m --speculative_config {"method": "ngram", "num_speculative_tokens": 4, "x": true, "y": [1, "a"]}',
        ),
        ("LLM('m', speculative_config={'method': 'ngram', **more})", "--model m --speculative_config {speculative_config}"),
        (
            "from vllm.config import KVTransferConfig\nLLM('m', kv_transfer_config=KVTransferConfig(kv_connector='A', kv_role='kv_both'))",
            '--model m --kv_transfer_config {"kv_connector": "A", "kv_role": "kv_both"}',
        ),
    ],
)  # fmt: skip
def test_values(text: str, words: str) -> None:
    assert " ".join(argv(launch_in(HEAD + text + "\n", "serve.py"))) == words


@together(
    "text, perhaps, complete",
    [
        ("k = dict(seed=1)\nif go:\n    k['quantization'] = 'awq'\nLLM('m', **k)", {"quantization"}, True),
        ("k = dict(seed=1)\nif go:\n    k.update(quantization='awq')\nLLM('m', **k)", {"quantization"}, True),
        ("k = dict(seed=1, quantization='awq')\nif go:\n    del k['quantization']\nLLM('m', **k)", {"quantization"}, True),
        ("k = dict(seed=1, quantization='awq')\nk.pop('quantization')\nLLM('m', **k)", {"quantization"}, True),
        ("def go(**more):\n    LLM('m', seed=1, **more)", set(), False),
        ("k = dict(seed=1)\nk.update(other)\nLLM('m', **k)", set(), False),
        ("k = {'seed': 1, **other}\nLLM('m', **k)", set(), False),
        ("k = {'seed': 1, name: 2}\nLLM('m', **k)", set(), False),
        ("LLM('m', 'tokenizer', seed=1)", set(), False),
        ("LLM('m', seed=1, enforce_eager=args.eager)", {"enforce-eager"}, True),
    ],
)
def test_arguments_that_may_be_there(text: str, perhaps: set[str], complete: bool) -> None:
    config = configs(launch_in(HEAD + text + "\n", "serve.py"), ["0.33.0"])[0]
    arguments = config.reading.arguments
    assert (arguments.possible & {"quantization", "enforce-eager"}, arguments.complete) == (perhaps, complete)
    assert config.operand("seed").value == 1
    assert config.operand("quantization").present is (False if complete and not perhaps & {"quantization"} else None)


@pytest.mark.parametrize(
    ("argument", "release", "value"),
    [
        ("enable_prefix_caching=False", "0.33.0", False),
        ("enable_prefix_caching=True", "0.6.0", True),
        ("enable_chunked_prefill=False", "0.8.3", False),
        ("max_num_seqs=8", "0.33.0", 8),
    ],
)
def test_operands(argument: str, release: str, value: object) -> None:
    config = configs(launch_in(f"{HEAD}LLM('m', {argument})\n", "serve.py"), [release])[0]
    assert config.operand(argument.partition("=")[0].replace("_", "-")).value == value


def test_false_for_a_flag_is_as_if_it_were_not_there() -> None:
    launch = launch_in("import sglang as sgl\nsgl.Engine(model_path='m', disable_cuda_graph=False)\n", "serve.py")
    assert configs(launch, ["0.5.23"])[0].operand("disable-cuda-graph").present is False


def test_places() -> None:
    text = "from vllm import LLM\nTP = ⟦3⟧\nLLM('⟦m⟧', ⟦tensor_parallel_size⟧=⟦TP⟧, ⟦enforce_eager=True⟧)\n"
    launch, (value, model, key, use, flag) = marked_launch(text, "serve.py")
    words = launch.argv
    assert [words[1].site, words[2].site, words[3].text.span(), words[3].site, words[4].site] == [model, key, value, use, flag]


def test_environment_and_release() -> None:
    text = (
        "import modal, os\nimage = modal.Image.debian_slim().pip_install('vllm==0.19.1')\napp = modal.App()\n"
        "os.environ['VLLM_LOGGING_LEVEL'] = 'DEBUG'\n"
        "@app.cls(image=image)\nclass A:\n    @modal.enter()\n    def start(self):\n        from vllm import LLM\n"
        "        self.llm = LLM('m', seed=1)\n"
    )
    launch = launch_in(text, "app.py")
    assert release(launch) == ("0.19.1", "pip")
    assert environment(launch) == {"VLLM_LOGGING_LEVEL": "DEBUG"}


@together(
    "text, name",
    [
        ("python - <<'EOF'\nfrom vllm import LLM\nLLM('m', seed=1)\nEOF\n", "run.sh"),
        ("python -c 'from vllm import LLM; LLM(\"m\", seed=1)'\n", "run.sh"),
        ("```python\nfrom vllm import LLM\nLLM('m', seed=1)\n```\n", "page.md"),
        (notebook(cell("from vllm import LLM"), cell("LLM('m', seed=1)")), "page.ipynb"),
        (notebook(cell("!pip install x", "from vllm import LLM"), cell("LLM('m', seed=1)")), "page.ipynb"),
    ],
)
def test_other_files_that_hold_python(text: str, name: str) -> None:
    launch = launch_in(text, name)
    assert (launch.launcher, argv(launch)) == ("LLM", ["--model", "m", "--seed", "1"])
    site = launch.argv[3].text.span()
    assert site is not None
    assert (site.source, site.text) == (launch.source, "1")


def test_release_that_a_notebook_installs() -> None:
    text = notebook(cell("!pip install vllm==0.19.1"), cell("from vllm import LLM", "LLM('m')"))
    assert release(launch_in(text, "page.ipynb")) == ("0.19.1", "pip")


def test_a_page_that_leaves_arguments_out() -> None:
    launch = launch_in("```python\nfrom vllm import LLM\nLLM('<model>', seed=1,  # ...\n)\n```\n", "page.md")
    config = configs(launch, ["0.33.0"])[0]
    assert (config.operand("quantization").present, config.operand("model").value) == (None, None)
