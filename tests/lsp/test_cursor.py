"""What stands at an offset: through every way of writing a launch down."""

from __future__ import annotations

import pytest

from servelint.api import find_launches
from servelint.core.launch import ReleaseClaim
from servelint.core.source import Source
from servelint.lsp import cursor
from servelint.lsp.cursor import Cursor
from tests.lsp.marked import chart, compose, marked, pod
from tests.together import together

QWEN = "vllm serve Qwen/Qwen3-8B "


def at(name: str, text: str) -> Cursor | None:
    found = marked(name, text)
    return cursor.at(found.analysis.source, found.analysis.launches, found.offset)


OPTIONS = [
    ("serve.sh", QWEN + "--kv-cache-‸dtype fp8\n", "--kv-cache-dtype"),
    ("serve.sh", QWEN + "--kv-cache-‸dtype=fp8\n", "--kv-cache-dtype"),
    ("serve.sh", QWEN + "\\\n  --kv-cache-‸dtype fp8 \\\n  --port 80\n", "--kv-cache-dtype"),
    ("serve.sh", f"ARGS=(--port 80 --kv-‸cache-dtype fp8)\n{QWEN}" + '"${ARGS[@]}"\n', "--kv-cache-dtype"),
    ("serve.sh", f"bash -c '{QWEN} --kv-‸cache-dtype fp8'\n", "--kv-cache-dtype"),
    ("compose.yml", compose(' ["--model", "x/y", "--kv-‸cache-dtype", "fp8"]'), "--kv-cache-dtype"),
    ("compose.yml", compose("\n      - --model=x/y\n      - --kv-‸cache-dtype\n      - fp8"), "--kv-cache-dtype"),
    ("compose.yml", compose(" >\n      --model x/y\n      --kv-‸cache-dtype fp8"), "--kv-cache-dtype"),
    ("compose.yml", compose(" --model x/y --kv-‸cache-dtype fp8"), "--kv-cache-dtype"),
    ("pod.yaml", pod('      args: ["--model", "x/y", "--kv-‸cache-dtype", "fp8"]'), "--kv-cache-dtype"),
    ("pod.yaml", pod("      args:\n        - --model=x/y\n        - '--kv-‸cache-dtype=fp8'"), "--kv-cache-dtype"),
    ("values.yaml", chart('        extraArgs: ["--kv-‸cache-dtype", "fp8"]'), "--kv-cache-dtype"),
    ("values.yaml", chart("        maxModel‸Len: 4096\n        dtype: bfloat16"), "maxModelLen"),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\nkv-‸cache-dtype: fp8\n", "kv-cache-dtype"),
    ("Dockerfile", 'FROM vllm/vllm-openai:v0.27.1\nCMD ["--model", "x/y", "--kv-‸cache-dtype", "fp8"]\n', "--kv-cache-dtype"),
    ("llm.service", f"[Service]\nExecStart=/usr/bin/{QWEN}--kv-‸cache-dtype fp8\n", "--kv-cache-dtype"),
    ("README.md", f"```bash\n{QWEN}--kv-‸cache-dtype fp8\n```\n", "--kv-cache-dtype"),
    ("Makefile", f"run:\n\t{QWEN}--kv-‸cache-dtype fp8\n", "--kv-cache-dtype"),
]


@together("name, text, written", list(OPTIONS))
def test_the_name_of_an_option(name: str, text: str, written: str) -> None:
    found = at(name, text)
    assert found is not None
    assert found.kind == cursor.OPTION
    assert found.name == ("max-model-len" if written == "maxModelLen" else "kv-cache-dtype")
    assert found.span.text == written


VALUES = [
    ("serve.sh", QWEN + "--kv-cache-dtype f‸p8\n"),
    ("serve.sh", QWEN + "--kv-cache-dtype=‸fp8\n"),
    ("serve.sh", QWEN + '--kv-cache-dtype "fp8‸"\n'),
    ("serve.sh", QWEN + "--kv-cache-dtype ${KV:-f‸p8}\n"),
    ("serve.sh", f"KV=f‸p8\n{QWEN} --kv-cache-dtype $KV\n"),
    ("compose.yml", compose(' ["--model", "x/y", "--kv-cache-dtype", "f‸p8"]')),
    ("compose.yml", compose(" >\n      --model x/y\n      --kv-cache-dtype 'f‸p8'")),
    ("pod.yaml", pod('      args: ["--model", "x/y", "--kv-cache-dtype=f‸p8"]')),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\nkv-cache-dtype: f‸p8\n"),
]


@together("name, text", list(VALUES))
def test_the_value_of_an_option(name: str, text: str) -> None:
    found = at(name, text)
    assert found is not None
    assert (found.kind, found.name, found.span.text) == (cursor.VALUE, "kv-cache-dtype", "fp8")


KEYS = [
    ("serve.sh", QWEN + '--speculative-config \'{"meth‸od": "mtp"}\'\n'),
    ("serve.sh", QWEN + '--speculative-config "{\\"meth‸od\\": \\"mtp\\"}"\n'),
    ("serve.sh", QWEN + "--speculative-config.meth‸od mtp\n"),
    ("compose.yml", compose(' ["--model", "x/y", "--speculative-config", "{\\"meth‸od\\": \\"mtp\\"}"]')),
    ("compose.yml", compose('\n      - --model=x/y\n      - --speculative-config\n      - \'{"meth‸od": "mtp"}\'')),
    ("compose.yml", compose(' >\n      --model x/y\n      --speculative-config \'{"meth‸od": "mtp"}\'')),
    ("compose.yml", compose(' |\n      --model x/y\n      --speculative-config=\'{"meth‸od": "mtp"}\'')),
    ("pod.yaml", pod('      args:\n        - --model=x/y\n        - --speculative-config={"meth‸od":"mtp"}')),
    ("config.yaml", "model: x/y\nmax-model-len: 4096\nspeculative-config:\n  meth‸od: mtp\n"),
    ("config.yaml", 'model: x/y\nmax-model-len: 4096\nspeculative-config: \'{"meth‸od": "mtp"}\'\n'),
    ("spec.json", '{"meth‸od": "mtp", "num_speculative_tokens": 2}\n'),
]


@together("name, text", list(KEYS))
def test_a_key_of_a_json_option(name: str, text: str) -> None:
    found = at(name, text)
    assert found is not None
    assert (found.kind, found.name, found.path) == (cursor.KEY, "speculative-config", ("method",))
    assert found.span.text == "method"


@together("name, text", [(name, text.replace("meth\u2038od", "method").replace("mtp", "m\u2038tp", 1)) for name, text in KEYS])
def test_the_value_of_a_key(name: str, text: str) -> None:
    found = at(name, text)
    assert found is not None
    assert (found.kind, found.path, found.span.text) == (cursor.FIELD, ("method",), "mtp")


def test_a_key_of_an_object_within_an_object() -> None:
    text = QWEN + """--compilation-config '{"pass_config": {"enable_f‸usion": true}}'\n"""
    found = at("serve.sh", text)
    assert found is not None
    assert (found.kind, found.path) == (cursor.KEY, ("pass_config", "enable_fusion"))


VARIABLES = [
    ("serve.sh", f"export VLLM_USE‸_V1=1\n{QWEN}\n"),
    ("serve.sh", f"VLLM_USE‸_V1=1 {QWEN}\n"),
    ("serve.sh", "docker run -e VLLM_USE‸_V1=1 vllm/vllm-openai:v0.10.0 --model x/y\n"),
    ("compose.yml", compose(" --model x/y", environment="      - VLLM_USE‸_V1=1")),
    ("compose.yml", compose(" --model x/y", environment='      - "VLLM_USE‸_V1=1"')),
    ("compose.yml", compose(" --model x/y", environment='      VLLM_USE‸_V1: "1"')),
    ("compose.yml", compose(" --model x/y", environment="      - VLLM_USE‸_V1")),
    ("pod.yaml", pod('      args: ["--model", "x/y"]\n      env:\n        - name: VLLM_USE‸_V1\n          value: "1"')),
    ("Dockerfile", 'FROM vllm/vllm-openai:v0.27.1\nENV VLLM_USE‸_V1=1\nCMD ["--model", "x/y"]\n'),
    ("llm.service", f"[Service]\nEnvironment=VLLM_USE‸_V1=1\nExecStart=/usr/bin/{QWEN}\n"),
]


@together("name, text", list(VARIABLES))
def test_the_name_of_a_variable(name: str, text: str) -> None:
    found = at(name, text)
    assert found is not None
    assert (found.kind, found.name, found.span.text) == (cursor.VARIABLE, "VLLM_USE_V1", "VLLM_USE_V1")


@pytest.mark.parametrize(
    ("name", "text"),
    [(name, text.replace("\u2038", "").replace("V1=1\n", "V1=1\u2038\n")) for name, text in VARIABLES if "V1=1\n" in text],
)
def test_the_value_of_a_variable(name: str, text: str) -> None:
    found = at(name, text)
    assert found is not None
    assert (found.kind, found.name, found.span.text) == (cursor.CONTENT, "VLLM_USE_V1", "1")


@pytest.mark.parametrize(
    ("name", "text", "kind", "written"),
    [
        ("compose.yml", compose(" --model x/y", image="vllm/vllm-‸openai:v0.27.1"), cursor.IMAGE, "vllm/vllm-openai"),
        ("compose.yml", compose(" --model x/y", image="vllm/vllm-openai:v0.2‸7.1"), cursor.TAG, "v0.27.1"),
        ("compose.yml", compose(" --model x/y", image="registry:5000/vllm/vllm-openai:v0.2‸7.1"), cursor.TAG, "v0.27.1"),
        ("values.yaml", chart("        maxModelLen: 4096").replace("v0.27", "v0.2‸7"), cursor.TAG, "v0.27.1"),
        ("Dockerfile", 'FROM vllm/vllm-openai:v0.2‸7.1\nCMD ["--model", "x/y"]\n', cursor.TAG, "v0.27.1"),
        ("serve.sh", "docker run vllm/vllm-openai:v0.2‸7.1 --model x/y\n", cursor.TAG, "v0.27.1"),
    ],
)
def test_an_image_and_its_tag(name: str, text: str, kind: str, written: str) -> None:
    found = at(name, text)
    assert found is not None
    assert (found.kind, found.span.text) == (kind, written)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("serve.sh", "vllm serve Qwen/‸Qwen3-8B --port 80\n"),
        ("serve.sh", "python -m sglang.launch_server --model-path Qwen/‸Qwen3-8B\n"),
        ("compose.yml", compose(" --model Qwen/‸Qwen3-8B")),
        ("values.yaml", chart("        maxModelLen: 4096").replace("Qwen/Q", "Qwen/‸Q")),
    ],
)
def test_the_model(name: str, text: str) -> None:
    found = at(name, text)
    assert found is not None
    assert (found.kind, found.span.text) == (cursor.MODEL, "Qwen/Qwen3-8B")


def test_a_word_that_is_quoted_in_parts_knows_where_each_part_is() -> None:
    found = at("serve.sh", QWEN + '--kv"-ca‸che"-dtype fp8\n')
    assert found is not None
    assert (found.kind, found.name, found.typed) == (cursor.OPTION, "kv-cache-dtype", "--kv-ca")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("compose.yml", compose(" --model x/y").replace("services", "serv‸ices")),
        ("serve.sh", f"echo star‸ting\n{QWEN}\n"),
        ("serve.sh", f"# --kv-cache-d‸type\n{QWEN}\n"),
    ],
)
def test_nothing_that_belongs_to_a_launch(name: str, text: str) -> None:
    assert at(name, text) is None


def test_between_two_words_that_touch_the_second_one_counts() -> None:
    found = at("serve.sh", QWEN + '--speculative-config \'{‸"method": "mtp"}\'\n')
    assert found is not None
    assert found.kind == cursor.KEY


@pytest.mark.parametrize("text", ["‸vllm serve x/y", "vllm se‸rve x/y", "vllm serve x/y  ‸ --port 80"])
def test_the_first_line_of_a_launch(text: str) -> None:
    found = marked("serve.sh", text + "\n")
    source, launches = found.analysis.source, found.analysis.launches
    assert cursor.start_of(source, launches, found.offset) is launches[0]
    assert cursor.at(source, launches, found.offset) is None


def test_the_end_of_a_verb_still_is_the_launch() -> None:
    found = marked("serve.sh", "python -m \\\n  sglang.launch_server‸ \\\n  --model-path x/y\n")
    assert cursor.start_of(found.analysis.source, found.analysis.launches, found.offset) is found.analysis.launches[0]


def test_an_image_without_a_tag_is_the_whole_name() -> None:
    found = at("compose.yml", compose(" --model x/y", image="vllm/vllm-‸openai"))
    assert found is not None
    assert (found.kind, found.span.text, found.typed) == (cursor.IMAGE, "vllm/vllm-openai", "vllm/vllm-")


def test_a_comment_to_servelint_is_that_of_the_line() -> None:
    source = Source("serve.sh", "# servelint: ignore[a/b]\nvllm serve m\n# servelint: gpu=h1\n")
    found = cursor.directive(source, len(source.text) - 1)
    assert found is not None
    assert found.group("text").strip() == "gpu=h1"
    assert cursor.directive(source, source.text.index("serve m")) is None


def test_a_release_of_the_settings_counts_before_what_a_project_requires() -> None:
    (launch,) = find_launches("vllm serve m\n", "run.sh")
    launch.release = ReleaseClaim("0.11.0", "pip", assumed=True)
    assert [cursor.config_of(launch, given).release for given in (None, "0.20.0")] == ["0.11.0", "0.20.0"]
    launch.release = ReleaseClaim("0.11.0", "pip")
    assert cursor.config_of(launch, "0.20.0").release == "0.11.0"
