"""`servelint models`: the source of each fact, and models of your own."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from servelint import hardware
from servelint.models import FACTS, sources, table
from servelint.models.catalog import known_names
from servelint.models.folder import described_files
from tests.running import Workspace

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/models.schema.json").read_text())
CONFIG: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "num_hidden_layers": 36,
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
}
OTHER_KIND = "is of the architecture 'mamba2', whose header does not describe its layers"
COMPOSE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.27.1
    command: --model acme/My-8B --max-model-len 100000
"""


def gguf(kind: str, *, tensors: bool = True) -> bytes:
    """A GGUF file without weights."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    numbers = {"block_count": 36, "embedding_length": 4096, "feed_forward_length": 12288, "attention.head_count": 32}
    numbers |= {"attention.head_count_kv": 8, "attention.key_length": 128, "context_length": 40960}
    keys = [text("general.architecture") + struct.pack("<I", 8) + text(kind)]
    keys += [text(f"{kind}.{name}") + struct.pack("<II", 4, value) for name, value in numbers.items()]
    shapes = {"token_embd.weight": (4096, 151936), "output.weight": (4096, 151936)} if tensors else {}
    rows = [text(name) + struct.pack("<IQQIQ", 2, *shape, 12, 0) for name, shape in shapes.items()]
    return b"GGUF" + struct.pack("<IQQ", 3, len(rows), len(keys)) + b"".join(keys + rows)


def rules(workspace: Workspace) -> set[str]:
    ran = workspace.run("check", "--format", "json", "--fail-on", "never", "compose.yml")
    assert ran.data["errors"] == []
    return {one["rule"] for one in ran.data["findings"]}


class TestNoFactLacksASource:
    def test_of_models(self) -> None:
        every = known_names()
        assert len(every) > 600
        for name in every:
            rows = sources.of_name(name)
            assert rows, name
            for fact, value, source in rows:
                assert fact in FACTS or fact == "bytes"
                assert value is not None
                assert source.strip("; "), f"{fact} of {name} has no source"

    def test_of_families(self) -> None:
        for entry in table().data["families"]:
            starts = [entry["start"]] if isinstance(entry["start"], str) else entry["start"]
            for name in (
                f"{start}{size}" for start in starts for size in ("", *[f"-{size}" for size in entry.get("sizes", {})])
            ):
                assert all(source for _, _, source in sources.of_name(name)), name

    def test_of_gpus(self) -> None:
        names = hardware.names()
        slices = [
            f"{name} mig {one}" for name in ("h100", "a100 80gb", "h200", "b200") for one in ("1g.10gb", "1g.18gb", "7g.80gb")
        ]
        seen: set[str] = set()
        for name in [*names, *slices, "h100 pcie", "gh200 96gb"]:
            found = hardware.identify(name)
            if found is None:
                continue
            rows = hardware.sources(name)
            assert {fact: value for fact, value, _ in rows} == found.facts
            assert all(source for _, _, source in rows), name
            seen |= {fact for fact, _, _ in rows}
        assert seen == hardware.FACTS.keys() - {"count"}


class TestShow:
    def test_a_known_model(self, workspace: Workspace) -> None:
        ran = workspace.run("models", "show", "Qwen/Qwen3-8B-FP8")
        assert (ran.status, ran.err) == (0, "")
        rows = {line.split()[0]: line for line in ran.out.splitlines()}
        assert rows["layers"].split()[1] == "36"
        assert "aiconfigurator" in rows["layers"]
        assert rows["size"].endswith(" the name")
        assert rows["moe"].split()[1] == "false"

    def test_a_gpu(self, workspace: Workspace) -> None:
        ran = workspace.run("models", "show", "--gpu", "h100")
        assert ran.status == 0
        (memory,) = [line for line in ran.out.splitlines() if line.startswith("memory-gib")]
        assert "https://" in memory

    def test_a_folder(self, workspace: Workspace) -> None:
        workspace.file("m/config.json", json.dumps(CONFIG))
        for path in ("m", "m/config.json"):
            ran = workspace.run("models", "show", path)
            assert ran.status == 0
            assert ran.out.splitlines()[0].split()[:3] == ["architecture", "Qwen3ForCausalLM", "config.json"]

    @pytest.mark.parametrize(
        ("args", "said"),
        [
            ([], "servelint models: error: name a command: show or add\n"),
            (["show"], "servelint models show: error: name a model, or a GPU with --gpu\n"),
            (["show", "a", "--gpu", "b"], "servelint models show: error: name a model, or a GPU with --gpu\n"),
            (["show", "acme/unknown"], "servelint: nothing is known of acme/unknown\n"),
            (["show", "--gpu", "gpu9000"], "servelint: nothing is known of gpu9000\n"),
            (["add"], "servelint models add: error: missing argument: PATH\n"),
            (["add", "nowhere.gguf"], "servelint: nowhere.gguf: no such file\n"),
            (["add", "nowhere"], "servelint: there is no config.json of at most 1 MiB in nowhere\n"),
        ],
    )
    def test_wrong_usage(self, args: list[str], said: str, workspace: Workspace) -> None:
        assert workspace.run("models", *args) == (2, "", said)


class TestAdd:
    def add(self, workspace: Workspace, **more: object) -> dict[str, Any]:
        workspace.file("m/config.json", json.dumps(CONFIG | more))
        ran = workspace.run("models", "add", "m", "--name", "acme/My-8B")
        assert ran.status == 0
        found = json.loads((workspace.folder / "servelint-models.json").read_text())
        Draft202012Validator(SCHEMA).validate(found)
        entry: dict[str, Any] = found["models"]["acme/My-8B"]
        return entry

    def test_it_is_judged_as_a_known_one(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", COMPOSE)
        workspace.file("servelint.toml", "")
        assert "vllm/model-len-above-model" not in rules(workspace)
        self.add(workspace)
        workspace.file("servelint.toml", 'models = "servelint-models.json"\n')
        assert "vllm/model-len-above-model" in rules(workspace)
        assert "vllm/model-len-above-model" in rules(workspace)  # from the cache
        self.add(workspace, max_position_embeddings=200_000)
        assert "vllm/model-len-above-model" not in rules(workspace)

    def test_the_memory_plan_knows_it(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", COMPOSE)
        self.add(workspace)
        workspace.file("servelint.toml", 'models = "servelint-models.json"\ngpu = "h100-80gb"\n')
        ran = workspace.run("memory", "compose.yml")
        assert "acme/My-8B/config.json" in ran.out

    def test_alternatives_of_a_script(self, workspace: Workspace) -> None:
        self.add(workspace)
        workspace.file("servelint.toml", 'models = "servelint-models.json"\n')
        script = 'if [ -n "$BIG" ]; then L=100000; else L=4096; fi\nvllm serve acme/My-8B --max-model-len $L\n'
        workspace.file("run.sh", f"#!/bin/bash\npip install vllm==0.27.1\n{script}")
        ran = workspace.run("check", "--format", "json", "--fail-on", "never", "run.sh")
        (found,) = [one for one in ran.data["findings"] if one["rule"] == "vllm/model-len-above-model"]
        assert found["branches"]

    def test_each_part_has_a_source(self, workspace: Workspace) -> None:
        workspace.file("m/model.safetensors.index.json", json.dumps({"metadata": {"total_size": 123}}))
        workspace.file("m/hf_quant_config.json", json.dumps({"quantization": {"quant_algo": "FP8"}}))
        entry = self.add(workspace)
        assert entry["bytes"] == 123
        assert entry["sources"]["bytes"] == "model.safetensors.index.json"
        assert entry["sources"]["config"].count("sha256") == 2
        ran = workspace.run("models", "show", "acme/My-8B")
        assert ran.status == 0
        assert all(len(line.split()) >= 3 for line in ran.out.splitlines())
        assert ran.out.splitlines()[-1].split() == ["bytes", "123", "model.safetensors.index.json"]

    def test_it_keeps_the_others(self, workspace: Workspace) -> None:
        self.add(workspace)
        workspace.file("other/config.json", json.dumps(CONFIG))
        assert workspace.run("models", "add", "other/config.json").status == 0
        found = json.loads((workspace.folder / "servelint-models.json").read_text())
        assert list(found["models"]) == ["acme/My-8B", "other"]

    @pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"architectures": 3}', "[" * 100_000])
    def test_no_config(self, text: str, workspace: Workspace) -> None:
        workspace.file("config.json", text)
        ran = workspace.run("models", "add", "config.json", "--name", "m")
        assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert not (workspace.folder / "servelint-models.json").exists()


WRONG = {
    "{": "servelint-models.json:1:2: the models file cannot be read: Expecting property name enclosed in double quotes",
    '{\n "servelint-models": 1,\n "models": }': "servelint-models.json:3:12: the models file cannot be read: Expecting value",
    "{}": 'servelint-models.json:1:1: the models file cannot be read: a models file is an object with "servelint-models": 1',
    '{"servelint-models": 1, "models": {"a": {}}}': 'the model "a" needs "config", an object; "bytes" is a whole number',
    '{"servelint-models": 1, "models": {"a": {"config": {}, "bytes": -1}}}': 'the model "a" needs "config", an object',
    "[" * 100_000: "the models file cannot be read: it is nested too deep",
    "\udcff": "the models file cannot be read: it is not UTF-8",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_models_file_that_is_wrong(text: str, workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE)
    workspace.file("servelint.toml", 'models = "servelint-models.json"\n')
    workspace.file("servelint-models.json", text.encode("utf-8", "surrogateescape"))
    ran = workspace.run("check", "compose.yml")
    assert ran.status == 2
    assert WRONG[text] in ran.err + ran.out


def test_a_models_file_that_is_missing(workspace: Workspace) -> None:
    workspace.file("compose.yml", COMPOSE)
    workspace.file("servelint.toml", 'models = "nope.json"\n')
    ran = workspace.run("check", "compose.yml")
    assert ran.status == 2
    assert "nope.json:1:1: the models file cannot be read: No such file or directory" in ran.err + ran.out


def test_the_files_that_it_stands_for() -> None:
    text = json.dumps({"servelint-models": 1, "models": {"a/b": {"config": CONFIG, "bytes": 5}}})
    found = described_files(text)
    assert list(found) == ["a/b/config.json", "a/b/model.safetensors.index.json"]
    assert json.loads(found["a/b/config.json"]) == CONFIG


class TestAddGguf:
    def add(self, workspace: Workspace, content: bytes) -> tuple[int, str, str]:
        (workspace.folder / "own-Q4_K_M.gguf").write_bytes(content)
        ran = workspace.run("models", "add", "own-Q4_K_M.gguf")
        return ran.status, ran.out, ran.err

    def test_its_header_describes_it(self, workspace: Workspace) -> None:
        status, out, err = self.add(workspace, gguf("qwen3"))
        assert status == 0
        assert err.startswith("servelint: own-Q4_K_M is in servelint-models.json")
        found = json.loads((workspace.folder / "servelint-models.json").read_text())
        Draft202012Validator(SCHEMA).validate(found)
        entry = found["models"]["own-Q4_K_M"]
        described = {name: value for name, value in entry["config"].items() if name in CONFIG}
        assert described == CONFIG
        assert entry["config"]["quantization_config"] == {"quant_method": "gguf"}
        assert entry["bytes"] == 2 * 4096 * 151936 * 144 // 256
        assert set(entry["sources"].values()) == {"own-Q4_K_M.gguf (header)"}
        assert out.splitlines()[0].split()[:2] == ["architecture", "Qwen3ForCausalLM"]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "servelint: own-Q4_K_M.gguf: it ends within its header\n"),
            (b"GGML" + bytes(60), "servelint: own-Q4_K_M.gguf: it is not GGUF\n"),
            (gguf("qwen3")[:-30], "servelint: own-Q4_K_M.gguf: it ends within its header\n"),
            (
                gguf("mamba2"),
                f"servelint: own-Q4_K_M.gguf {OTHER_KIND}: add its config.json\n",
            ),
        ],
    )
    def test_what_cannot_be_read(self, content: bytes, said: str, workspace: Workspace) -> None:
        assert self.add(workspace, content) == (2, "", said)
        assert not (workspace.folder / "servelint-models.json").exists()
