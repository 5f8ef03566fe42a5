"""What may be written at an offset of a text, finished or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines.releases import known_releases
from servelint.files.siblings import Neighbours
from servelint.lsp import cursor
from servelint.lsp.completion import Item, complete
from servelint.readers import read
from tests.lsp.marked import Marked, analysed, chart, compose, marked, pod
from tests.together import together

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples").glob("*/*"))
QWEN = "vllm serve Qwen/Qwen3-8B "


def offered(name: str, text: str, settings: Settings | None = None) -> dict[str, Item]:
    """The completions at the mark by their labels."""
    found = marked(name, text, settings)
    return {item.label: item for item in complete(found.analysis, found.offset)}


def written(name: str, text: str, label: str) -> str:
    """The line with the mark, once a completion is taken."""
    found = marked(name, text)
    item = next(item for item in complete(found.analysis, found.offset) if item.label == label)
    whole = applied(found, item)
    start = whole.rfind("\n", 0, item.span.start) + 1
    return whole[start:].partition("\n")[0].strip()


def applied(found: Marked, item: Item) -> str:
    return found.text[: item.span.start] + item.new_text + found.text[item.span.end :]


def launches(name: str, text: str) -> list[Launch]:
    return read(Source(name, text), Neighbours(None)).launches


OPTIONS = [
    ("serve.sh", QWEN + "--kv-ca‸\n", QWEN + "--kv-cache-dtype"),
    ("serve.sh", QWEN + "‸\n", QWEN + "--kv-cache-dtype"),
    ("serve.sh", QWEN + "--kv‸-cache\n", QWEN + "--kv-cache-dtype"),
    ("serve.sh", QWEN + "--kv-ca‸=fp8\n", QWEN + "--kv-cache-dtype=fp8"),
    ("serve.sh", QWEN + "\\\n  --port 80 \\\n  --‸\n", "--kv-cache-dtype"),
    ("serve.sh", QWEN + "\\\n  ‸ \\\n  --port 80\n", "--kv-cache-dtype \\"),
    ("serve.sh", f"ARGS=(--port 80 --kv‸)\n{QWEN}" + '"${ARGS[@]}"\n', "ARGS=(--port 80 --kv-cache-dtype)"),
    ("serve.sh", QWEN + '"--kv‸"\n', QWEN + '"--kv-cache-dtype"'),
    ("serve.sh", QWEN + '"--kv‸\n', QWEN + '"--kv-cache-dtype'),
    ("compose.yml", compose("\n      - --model=x/y\n      - --‸"), "- --kv-cache-dtype"),
    ("compose.yml", compose("\n      - --model=x/y\n      - ‸"), "- --kv-cache-dtype"),
    ("compose.yml", compose("\n      - --model=x/y\n      - ‸\n      - --port=80"), "- --kv-cache-dtype"),
    ("compose.yml", compose("\n      - --model=x/y\n      - '--kv‸'"), "- '--kv-cache-dtype'"),
    ("compose.yml", compose(' ["--model", "x/y", "--kv‸"]'), 'command: ["--model", "x/y", "--kv-cache-dtype"]'),
    ("compose.yml", compose(' ["--model", "x/y", ‸]'), 'command: ["--model", "x/y", "--kv-cache-dtype"]'),
    ("compose.yml", compose(' ["--model", "x/y", "‸"]'), 'command: ["--model", "x/y", "--kv-cache-dtype"]'),
    ("compose.yml", compose(' ["--model", "x/y", "--kv‸'), 'command: ["--model", "x/y", "--kv-cache-dtype'),
    ("compose.yml", compose(" >\n      --model x/y\n      --kv‸"), "--kv-cache-dtype"),
    ("compose.yml", compose(" >\n      --model x/y ‸\n      --port 80"), "--model x/y --kv-cache-dtype"),
    ("pod.yaml", pod('      args: ["--model", "x/y", "--kv‸"]'), 'args: ["--model", "x/y", "--kv-cache-dtype"]'),
    ("values.yaml", chart('        extraArgs: ["--kv‸"]'), 'extraArgs: ["--kv-cache-dtype"]'),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\nkv-ca‸\n", "kv-cache-dtype:"),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\n‸\n", "kv-cache-dtype:"),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\nkv-ca‸: fp8\n", "kv-cache-dtype: fp8"),
    (
        "Dockerfile",
        'FROM vllm/vllm-openai:v0.27.1\nCMD ["--model", "x/y", ‸]\n',
        'CMD ["--model", "x/y", "--kv-cache-dtype"]',
    ),
    ("llm.service", f"[Service]\nExecStart=/usr/bin/{QWEN}--kv‸\n", f"ExecStart=/usr/bin/{QWEN}--kv-cache-dtype"),
    ("README.md", f"```bash\n{QWEN}--kv‸\n```\n", f"{QWEN}--kv-cache-dtype"),
]


def test_keyword_arguments_of_an_engine_that_python_makes() -> None:
    text = "import sglang as sgl\nsgl.Engine(model_path='m', mem_frac‸=0.8)\n"
    line = "sgl.Engine(model_path='m', {}=0.8)"
    assert written("a.py", text, "--kv-cache-dtype") == line.format("kv_cache_dtype")
    assert written("a.py", text, "--tp-size") == line.format("tp_size")
    vllm = "from vllm import LLM\nLLM('m', tensor_par‸=2)\n"
    assert written("a.py", vllm, "--tensor-parallel-size") == "LLM('m', tensor_parallel_size=2)"
    assert not {"--api-key", "--port"} & offered("a.py", vllm).keys()


class TestOptions:
    @together("name, text, line", list(OPTIONS))
    def test_are_offered_wherever_a_word_may_stand(self, name: str, text: str, line: str) -> None:
        assert written(name, text, "--kv-cache-dtype") == line

    def test_are_those_of_the_release(self) -> None:
        text = compose("\n      - --model=x/y\n      - --‸", image="vllm/vllm-openai:v0.17.1")
        assert "--swap-space" in offered("compose.yml", text)
        assert "--swap-space" not in offered("compose.yml", text.replace("0.17.1", "0.18.0"))

    def test_are_those_of_the_release_that_settings_name(self) -> None:
        settings = Settings(engine_versions={"vllm": "0.17.1"})
        assert "--swap-space" in offered("serve.sh", QWEN + "--‸\n", settings)
        assert "--swap-space" not in offered("serve.sh", QWEN + "--‸\n")

    def test_are_not_those_that_the_launch_has(self) -> None:
        found = offered("serve.sh", QWEN + "--port 80 --enable-prefix-caching --‸\n")
        assert "--port" not in found
        assert "--no-enable-prefix-caching" not in found
        assert "--host" in found

    def test_the_one_that_is_written_is_offered_again(self) -> None:
        assert "--port" in offered("serve.sh", QWEN + "--por‸t 80\n")

    def test_say_what_they_take_and_since_when(self) -> None:
        item = offered("compose.yml", compose("\n      - --model=x/y\n      - --‸"))["--max-num-seqs"]
        assert item.entry.detail.startswith("a whole number")
        assert "In every vLLM since 0.6.0, the oldest that is known." in item.entry.documentation

    def test_that_are_deprecated_come_last(self) -> None:
        found = offered("compose.yml", compose("\n      - --model=x/y\n      - --‸", image="vllm/vllm-openai:v0.10.0"))
        old = [item for item in found.values() if item.entry.deprecated]
        new = [item for item in found.values() if not item.entry.deprecated]
        assert old
        assert min(item.entry.sort for item in old) > max(item.entry.sort for item in new)

    def test_of_other_engines(self) -> None:
        assert "--mem-fraction-static" in offered("serve.sh", "python -m sglang.launch_server --model-path x/y --‸\n")
        assert "--ctx-size" in offered("serve.sh", "llama-server -m x.gguf --‸\n")

    def test_follow_a_value_that_may_be_left_out_or_repeated(self) -> None:
        assert "--port" in offered("serve.sh", QWEN + "--served-model-name chat ‸\n")
        assert "--port" not in offered("serve.sh", QWEN + "--served-model-name ‸\n")


VALUES = [
    ("serve.sh", QWEN + "--kv-cache-dtype ‸\n", QWEN + "--kv-cache-dtype fp8"),
    ("serve.sh", QWEN + "--kv-cache-dtype f‸\n", QWEN + "--kv-cache-dtype fp8"),
    ("serve.sh", QWEN + "--kv-cache-dtype=‸\n", QWEN + "--kv-cache-dtype=fp8"),
    ("serve.sh", QWEN + "--kv-cache-dtype ‸ --port 80\n", QWEN + "--kv-cache-dtype fp8 --port 80"),
    ("serve.sh", QWEN + "--kv-cache-dtype '‸'\n", QWEN + "--kv-cache-dtype 'fp8'"),
    ("serve.sh", QWEN + "--kv-cache-dtype ${KV:-‸auto}\n", QWEN + "--kv-cache-dtype ${KV:-fp8}"),
    ("serve.sh", QWEN + "\\\n  --kv-cache-dtype ‸ \\\n  --port 80\n", "--kv-cache-dtype fp8 \\"),
    ("compose.yml", compose("\n      - --kv-cache-dtype\n      - ‸"), "- fp8"),
    ("compose.yml", compose("\n      - --kv-cache-dtype=‸"), "- --kv-cache-dtype=fp8"),
    ("compose.yml", compose(' ["--kv-cache-dtype", ‸]'), 'command: ["--kv-cache-dtype", "fp8"]'),
    ("compose.yml", compose(' ["--kv-cache-dtype", "‸"]'), 'command: ["--kv-cache-dtype", "fp8"]'),
    ("compose.yml", compose(" >\n      --kv-cache-dtype ‸\n      --port 80"), "--kv-cache-dtype fp8"),
    ("pod.yaml", pod('      args: ["--kv-cache-dtype=‸"]'), 'args: ["--kv-cache-dtype=fp8"]'),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\nkv-cache-dtype: ‸\n", "kv-cache-dtype: fp8"),
]


class TestValues:
    @together("name, text, line", list(VALUES))
    def test_are_offered_behind_their_option(self, name: str, text: str, line: str) -> None:
        assert written(name, text, "fp8") == line

    def test_of_a_chart(self) -> None:
        text = chart("        maxModelLen: 4096\n        dtype: ‸")
        assert written("values.yaml", text, "bfloat16") == "dtype: bfloat16"

    def test_of_a_switch_in_a_file_of_options(self) -> None:
        text = "model: x/y\nmax-model-len: 4096\nenable-prefix-caching: ‸\n"
        assert list(offered("config.yaml", text)) == ["true", "false"]

    def test_are_those_of_the_release(self) -> None:
        text = compose("\n      - --kv-cache-dtype\n      - ‸", image="vllm/vllm-openai:v0.19.1")
        assert "turboquant_k8v4" not in offered("compose.yml", text)
        assert "turboquant_k8v4" in offered("compose.yml", text.replace("0.19.1", "0.20.0"))

    def test_of_a_name_that_is_looked_up(self) -> None:
        assert "hermes" in offered("compose.yml", compose("\n      - --tool-call-parser\n      - ‸"))

    def test_the_default_is_marked(self) -> None:
        item = offered("compose.yml", compose("\n      - --kv-cache-dtype\n      - ‸"))["auto"]
        assert item.entry.detail == "value of --kv-cache-dtype (default)"

    def test_of_an_option_that_takes_any_there_are_none(self) -> None:
        assert offered("serve.sh", QWEN + "--max-model-len ‸\n") == {}

    @pytest.mark.parametrize("value", ["$KV‸", "${KV‸}", "$(cat kv)‸"])
    def test_what_is_not_known_is_left_alone(self, value: str) -> None:
        assert offered("serve.sh", f"{QWEN}--kv-cache-dtype {value}\n") == {}


KEYS = [
    ("serve.sh", QWEN + "--speculative-config '{\"met‸\"}'\n", "'{\"method\"}'"),
    ("serve.sh", QWEN + "--speculative-config '{\"met‸\": 1}'\n", "'{\"method\": 1}'"),
    ("serve.sh", QWEN + "--speculative-config '{\"met‸'\n", "'{\"method\": '"),
    ("serve.sh", QWEN + "--speculative-config '{\"met‸\n", '\'{"method":'),
    ("serve.sh", QWEN + "--speculative-config '{\"met‸ \\\n  --port 80\n", '\'{"method":  \\'),
    ("serve.sh", QWEN + "--speculative-config '{‸}'\n", "'{\"method\": }'"),
    ("serve.sh", QWEN + '--speculative-config "{‸}"\n', '"{\\"method\\": }"'),
    ("serve.sh", QWEN + '--speculative-config "{\\"a\\": 1, ‸}"\n', '"{\\"a\\": 1, \\"method\\": }"'),
    ("serve.sh", QWEN + "--speculative-config.met‸ mtp\n", QWEN + "--speculative-config.method mtp"),
    ("compose.yml", compose("\n      - --speculative-config\n      - '{\"met‸"), '- \'{"method":'),
    ("compose.yml", compose(' ["--speculative-config", "{‸}"]'), 'command: ["--speculative-config", "{\\"method\\": }"]'),
    ("compose.yml", compose(" >\n      --speculative-config '{\"met‸\"}'"), "--speculative-config '{\"method\"}'"),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\nspeculative-config:\n  met‸\n", "method:"),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\nspeculative-config:\n  num_speculative_tokens: 2\n  met‸\n", "method:"),
    ("spec.json", '{"num_speculative_tokens": 2, "met‸"}\n', '{"num_speculative_tokens": 2, "method"}'),
    ("spec.json", '{"num_speculative_tokens": 2, ‸}\n', '{"num_speculative_tokens": 2, "method": }'),
]

METHODS = [
    ("serve.sh", QWEN + '--speculative-config \'{"method": "‸"}\'\n', '\'{"method": "mtp"}\''),
    ("serve.sh", QWEN + "--speculative-config '{\"method\": ‸}'\n", '\'{"method": "mtp"}\''),
    ("serve.sh", QWEN + '--speculative-config "{\\"method\\": ‸}"\n', '"{\\"method\\": \\"mtp\\"}"'),
    ("serve.sh", QWEN + '--speculative-config \'{"method": "m‸\n', '\'{"method": "mtp"'),
    ("serve.sh", QWEN + "--speculative-config.method ‸\n", "--speculative-config.method mtp"),
    ("compose.yml", compose(' ["--speculative-config", "{\\"method\\": \\"‸\\"}"]'), '"{\\"method\\": \\"mtp\\"}"]'),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\nspeculative-config:\n  method: ‸\n", "method: mtp"),
    ("spec.json", '{"method": "‸", "num_speculative_tokens": 2}\n', '{"method": "mtp", "num_speculative_tokens": 2}'),
]


class TestJson:
    @together("name, text, end", list(KEYS))
    def test_keys(self, name: str, text: str, end: str) -> None:
        assert written(name, text, "method").endswith(end)

    @together("name, text, end", list(METHODS))
    def test_values_of_a_key(self, name: str, text: str, end: str) -> None:
        assert written(name, text, "mtp").endswith(end)

    def test_keys_that_are_there_are_not_offered_again(self) -> None:
        found = offered("serve.sh", QWEN + '--speculative-config \'{"method": "mtp", ‸}\'\n')
        assert "method" not in found
        assert "num_speculative_tokens" in found

    def test_a_method_that_is_another_name_comes_last(self) -> None:
        found = offered("serve.sh", QWEN + '--speculative-config \'{"method": "‸"}\'\n')
        assert found["qwen3_next_mtp"].entry.deprecated
        assert found["qwen3_next_mtp"].entry.detail == "another name of mtp"
        assert found["qwen3_next_mtp"].entry.sort > found["mtp"].entry.sort

    def test_methods_are_those_of_the_release(self) -> None:
        text = compose('\n      - --speculative-config\n      - \'{"method": "‸"}\'', image="vllm/vllm-openai:v0.19.1")
        assert "dflash" not in offered("compose.yml", text)
        assert "dflash" in offered("compose.yml", text.replace("0.19.1", "0.20.0"))

    def test_a_switch_is_true_or_false(self) -> None:
        text = QWEN + "--speculative-config '{\"disable_padded_drafter_batch\": ‸}'\n"
        assert set(offered("serve.sh", text)) == {"true", "false"}

    def test_keys_of_an_object_within_an_object(self) -> None:
        text = compose('\n      - --compilation-config\n      - \'{"pass_config": {"‸"}}\'')
        assert "fuse_norm_quant" in offered("compose.yml", text)
        assert "cudagraph_mode" not in offered("compose.yml", text)


VARIABLES = [
    ("serve.sh", f"export VLLM_LOG‸\n{QWEN}\n", "export VLLM_LOGGING_LEVEL="),
    ("serve.sh", f"VLLM_LOG‸ {QWEN}\n", f"VLLM_LOGGING_LEVEL= {QWEN}".strip()),
    ("serve.sh", f"export VLLM_LOG‸=DEBUG\n{QWEN}\n", "export VLLM_LOGGING_LEVEL=DEBUG"),
    (
        "serve.sh",
        "docker run -e VLLM_LOG‸ vllm/vllm-openai:v0.27.1 --model x/y\n",
        "docker run -e VLLM_LOGGING_LEVEL= vllm/vllm-openai:v0.27.1 --model x/y",
    ),
    ("compose.yml", compose(" --model x/y", environment="      - VLLM_LOG‸"), "- VLLM_LOGGING_LEVEL="),
    ("compose.yml", compose(" --model x/y", environment="      - A=1\n      - ‸"), "- VLLM_LOGGING_LEVEL="),
    ("compose.yml", compose(" --model x/y", environment='      - "VLLM_LOG‸"'), '- "VLLM_LOGGING_LEVEL="'),
    ("compose.yml", compose(" --model x/y", environment="      A: 1\n      VLLM_LOG‸"), "VLLM_LOGGING_LEVEL:"),
    ("compose.yml", compose(" --model x/y", environment="      A: 1\n      VLLM_LOG‸: DEBUG"), "VLLM_LOGGING_LEVEL: DEBUG"),
    ("pod.yaml", pod('      args: ["--model", "x/y"]\n      env:\n        - name: VLLM_LOG‸'), "- name: VLLM_LOGGING_LEVEL"),
    ("Dockerfile", 'FROM vllm/vllm-openai:v0.27.1\nENV VLLM_LOG‸\nCMD ["--model", "x/y"]\n', "ENV VLLM_LOGGING_LEVEL="),
]


class TestVariables:
    @together("name, text, line", list(VARIABLES))
    def test_are_offered_where_they_are_set(self, name: str, text: str, line: str) -> None:
        assert written(name, text, "VLLM_LOGGING_LEVEL") == line

    def test_are_those_that_the_release_reads(self) -> None:
        text = compose(" --model x/y", environment="      - VLLM_‸", image="vllm/vllm-openai:v0.11.0")
        assert "VLLM_USE_V1" in offered("compose.yml", text)
        assert "VLLM_USE_V1" not in offered("compose.yml", text.replace("0.11.0", "0.12.0"))

    def test_are_not_those_that_are_set(self) -> None:
        text = compose(" --model x/y", environment="      - VLLM_LOGGING_LEVEL=INFO\n      - VLLM_‸")
        assert "VLLM_LOGGING_LEVEL" not in offered("compose.yml", text)

    def test_the_engine_s_own_come_first(self) -> None:
        found = offered("compose.yml", compose(" --model x/y", environment="      - ‸"))
        assert found["VLLM_LOGGING_LEVEL"].entry.sort < found["CUDA_HOME"].entry.sort

    @pytest.mark.parametrize(
        ("environment", "line"),
        [
            ("      - VLLM_ALLOW_LONG_MAX_MODEL_LEN=‸", "- VLLM_ALLOW_LONG_MAX_MODEL_LEN=1"),
            ("      VLLM_ALLOW_LONG_MAX_MODEL_LEN: ‸", 'VLLM_ALLOW_LONG_MAX_MODEL_LEN: "1"'),
            ('      VLLM_ALLOW_LONG_MAX_MODEL_LEN: "‸"', 'VLLM_ALLOW_LONG_MAX_MODEL_LEN: "1"'),
        ],
    )
    def test_the_values_of_a_switch(self, environment: str, line: str) -> None:
        assert written("compose.yml", compose(" --model x/y", environment=environment), "1") == line


class TestTags:
    @pytest.mark.parametrize("tag", ["‸", "v‸", "v0.2‸", "v0.2‸7.1"])
    def test_are_those_of_releases_that_are_known_the_newest_first(self, tag: str) -> None:
        items = list(offered("compose.yml", compose(" --model x/y", image=f"vllm/vllm-openai:{tag}")).values())
        assert items[0].new_text == f"v{known_releases('vllm')[-1]}"
        assert [item.entry.sort for item in items] == sorted(item.entry.sort for item in items)
        assert "v0.19.1" in [item.new_text for item in items]

    def test_keep_what_stands_around_the_release(self) -> None:
        command = " python -m sglang.launch_server --model-path x/y"
        items = offered("compose.yml", compose(command, image="lmsysorg/sglang:v0.5.1‸0-cu126"))
        assert "v0.5.9-cu126" in items
        assert all(label.endswith("-cu126") for label in items)

    def test_are_not_made_of_builds_that_may_have_no_image(self) -> None:
        assert offered("compose.yml", compose(" -m x.gguf", image="ghcr.io/ggml-org/llama.cpp:server-cuda-b91‸00")) == {}

    def test_of_an_image_that_somebody_else_builds_there_are_none(self) -> None:
        assert offered("compose.yml", compose(" vllm serve x/y", image="acme/vllm-fork:v0.2‸")) == {}


class TestNothing:
    @together(
        "name, text",
        [
            ("compose.yml", compose(" --model x/y") + "    ports:\n      - ‸\n"),
            ("compose.yml", compose(" --model x/y") + "‸\n"),
            ("serve.sh", f"echo ‸\n{QWEN}\n"),
            ("serve.sh", f"# ‸\n{QWEN}\n"),
            ("serve.sh", "‸\n"),
            ("serve.sh", "vllm serve ‸Qwen/Qwen3-8B\n"),
            ("serve.sh", "MODEL=‸${MODEL:-Qwen/Qwen3-8B}\nvllm serve $MODEL\n"),
            ("compose.yml", "services:\n  db:\n    image: postgres:‸\n"),
        ],
    )
    def test_where_no_launch_is_written(self, name: str, text: str) -> None:
        assert offered(name, text) == {}


class TestWhileTheTextIsBroken:
    GOOD = compose("\n      - --model=x/y\n      - --port=80")
    NOW = compose("\n      - --model=x/y\n    : {\n      - --port=80\n      - --kv‸")

    def test_the_last_text_that_could_be_read_helps(self) -> None:
        found = marked("compose.yml", self.NOW)
        assert found.analysis.launches == []
        before = analysed("compose.yml", self.GOOD)
        labels = [item.label for item in complete(found.analysis, found.offset, before)]
        assert "--kv-cache-dtype" in labels

    def test_without_one_nothing_is_offered(self) -> None:
        found = marked("compose.yml", self.NOW)
        assert complete(found.analysis, found.offset) == []


PLACES = [
    ("serve.sh", QWEN + "‸\n", cursor.OPTION),
    ("compose.yml", compose("\n      - --model=x/y\n      - ‸"), cursor.OPTION),
    ("compose.yml", compose(' ["--model", "x/y", ‸]'), cursor.OPTION),
    ("compose.yml", compose(" >\n      --model x/y ‸"), cursor.OPTION),
    ("pod.yaml", pod('      args: ["--model", "x/y", "‸"]'), cursor.OPTION),
    ("compose.yml", compose(" --model x/y", environment="      - ‸"), cursor.VARIABLE),
    ("compose.yml", compose(" --model x/y", environment="      A: 1\n      ‸"), cursor.VARIABLE),
    ("serve.sh", f"export ‸\n{QWEN}\n", cursor.VARIABLE),
]


class TestEveryItem:
    @pytest.mark.parametrize(("name", "text", "kind"), PLACES)
    def test_once_it_is_taken_the_launch_has_it(self, name: str, text: str, kind: str) -> None:
        found = marked(name, text)
        items = complete(found.analysis, found.offset)
        assert len(items) > 50
        for item in items:
            (launch,) = launches(name, applied(found, item))
            names = list(launch.env) if kind == cursor.VARIABLE else [word.text.flat for word in launch.argv]
            assert item.label in names

    @together("name, text, line", list(VALUES))
    def test_every_value_is_the_value_then(self, name: str, text: str, line: str) -> None:
        del line
        found = marked(name, text)
        for item in complete(found.analysis, found.offset):
            (launch,) = launches(name, applied(found, item))
            setting = cursor.config_of(launch, None).reading.arguments.settings["kv-cache-dtype"]
            assert setting.value is not None
            assert setting.value.flat == item.label

    @pytest.mark.parametrize(("name", "text", "end"), METHODS[:3] + METHODS[4:])
    def test_every_method_is_the_method_then(self, name: str, text: str, end: str) -> None:
        del end
        found = marked(name, text)
        for item in complete(found.analysis, found.offset):
            (launch,) = launches(name, applied(found, item))
            assert cursor.config_of(launch, None).operand("speculative-config.method").value == item.label

    def test_every_tag_names_its_release(self) -> None:
        found = marked("compose.yml", compose(" --model x/y", image="vllm/vllm-openai:‸"))
        for item in complete(found.analysis, found.offset):
            (launch,) = launches("compose.yml", applied(found, item))
            assert f"v{launch.release.release}" == item.label


@pytest.mark.book
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_place_of_every_example_has_an_answer_that_is_about_it(path: Path) -> None:
    analysis = analysed(path.name, path.read_text(encoding="utf-8"))
    text = analysis.source.text
    some = False
    for offset in range(0, len(text) + 1, 2):
        for item in complete(analysis, offset):
            some = True
            assert item.span.source is analysis.source
            assert 0 <= item.span.start <= offset <= item.span.end <= len(text)
            assert "\n" not in item.span.text
    assert some
