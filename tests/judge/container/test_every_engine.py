"""Rules that hold for any engine, tried on each: what the record of an engine lacks would switch a rule off in silence."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from servelint.core.settings import Settings
from servelint.engines import ENGINES
from servelint.judge.judging import judge
from tests.launching import launches_in


@dataclass(frozen=True)
class Server:
    """An engine as files start it."""

    image: str
    command: str
    two: str
    host: str = "--host"
    port: str = "--port"
    listens: int = 8000
    key: str = "--api-key"
    moving: str = "latest"


SERVERS = {
    "vllm": Server("vllm/vllm-openai:v0.33.0", "vllm serve Qwen/Qwen3-8B", "-tp 2"),
    "sglang": Server(
        "lmsysorg/sglang:v0.5.23", "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B", "--tp 2", listens=30000
    ),
    "llama.cpp": Server("ghcr.io/ggml-org/llama.cpp:server-cuda-b9180", "llama-server -m /models/m.gguf", "", listens=8080),
    "trtllm": Server("nvcr.io/nvidia/tensorrt-llm/release:1.2.0", "trtllm-serve Qwen/Qwen3-8B", "--tp_size 2", key=""),
    "lmdeploy": Server(
        "openmmlab/lmdeploy:v0.12.0",
        "lmdeploy serve api_server Qwen/Qwen3-8B",
        "--tp 2",
        host="--server-name",
        port="--server-port",
        listens=23333,
        key="--api-keys",
    ),
    "tgi": Server(
        "ghcr.io/huggingface/text-generation-inference:3.3.4",
        "text-generation-launcher --model-id Qwen/Qwen3-8B",
        "--num-shard 2",
        host="--hostname",
        listens=80,
    ),
}
EACH = pytest.mark.parametrize("engine", list(SERVERS))
EVERYTHING = Settings(profile="audit")


def found(text: str, filename: str = "compose.yml") -> set[str]:
    launch = launches_in(text, filename)[0]
    return {finding.rule.partition("/")[2] for finding in judge(launch, EVERYTHING)}


def compose(server: Server, words: str = "", fields: str = "gpus: all") -> set[str]:
    lines = [f"image: {server.image}", "entrypoint: []", f"command: {server.command} {words}", *fields.splitlines()]
    return found("services:\n  llm:\n" + "".join([f"    {line}\n" for line in lines]))


def pod(server: Server, words: str, fields: str) -> set[str]:
    command = ", ".join([f'"{word}"' for word in f"{server.command} {words}".split()])
    lines = [f"image: {server.image}", f"command: [{command}]", *fields.splitlines()]
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: llm}\nspec:\n  containers:\n    - name: s\n"
    return found(text + "".join([f"      {line}\n" for line in lines]), "pod.yaml")


def test_every_engine_is_here() -> None:
    assert set(SERVERS) == set(ENGINES) - {"ollama"}  # which takes no options: test_address.py


@EACH
def test_no_gpu(engine: str) -> None:
    server = SERVERS[engine]
    assert "no-gpu" in compose(server, fields="ipc: host")
    assert "no-gpu" not in compose(server)


@pytest.mark.parametrize("words", ["-ngl 0", "--device none", "-ngl $LAYERS"])
def test_llama_cpp_that_uses_none_needs_none(words: str) -> None:
    assert "no-gpu" not in compose(SERVERS["llama.cpp"], words, "ipc: host")


def test_an_image_for_processors_needs_none() -> None:
    one = Server("ghcr.io/ggml-org/llama.cpp:server-b9180", "llama-server -m /models/m.gguf", "")
    assert "no-gpu" not in compose(one, fields="ipc: host")


@EACH
def test_shared_memory(engine: str) -> None:
    server = SERVERS[engine]
    assert ("small-shared-memory" in compose(server, server.two)) is (engine != "llama.cpp")
    assert "small-shared-memory" not in compose(server, server.two, "gpus: all\nshm_size: 16gb")
    assert "small-shared-memory" not in compose(server)


@EACH
def test_more_ranks_than_gpus(engine: str) -> None:
    server = SERVERS[engine]
    of_engine = {"gpus-below-ranks", "world-size-above-gpus", "more-gpus-than-there-are"}
    one = "ipc: host\ndeploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}"
    assert bool(of_engine & compose(server, server.two, one)) is (engine != "llama.cpp")
    assert not of_engine & compose(server, server.two, one.replace("count: 1", "count: 2"))


@EACH
def test_idle_gpus(engine: str) -> None:
    server = SERVERS[engine]
    four = "ipc: host\ndeploy: {resources: {reservations: {devices: [{driver: nvidia, count: 4, capabilities: [gpu]}]}}}"
    # text-generation-launcher takes all that it sees, and so does llama-server
    assert ("idle-gpus" in compose(server, server.two, four)) is (engine not in ("llama.cpp", "tgi"))


@EACH
def test_loopback(engine: str) -> None:
    server = SERVERS[engine]
    ports = f"gpus: all\nports: ['{server.listens}:{server.listens}']"
    assert "listens-on-loopback" in compose(server, f"{server.host} 127.0.0.1", ports)
    assert "listens-on-loopback" not in compose(server, f"{server.host} 0.0.0.0", ports)
    assert ("listens-on-loopback" in compose(server, "", ports)) is (engine in ("sglang", "trtllm"))


@EACH
def test_published_ports(engine: str) -> None:
    server = SERVERS[engine]
    assert "port-not-served" in compose(server, "", "gpus: all\nports: ['7777:7777']")
    assert "port-not-served" not in compose(server, "", f"gpus: all\nports: ['7777:{server.listens}']")
    assert "port-not-served" not in compose(server, f"{server.port} 7777", "gpus: all\nports: ['7777:7777']")


@EACH
def test_probes(engine: str) -> None:
    server = SERVERS[engine]
    probe = "resources: {limits: {nvidia.com/gpu: 1}}\nreadinessProbe: {httpGet: {path: /health, port: 7777}}"
    own = probe.replace("7777", str(server.listens))
    assert "probe-port" in pod(server, f"{server.host} 0.0.0.0", probe)
    assert "probe-port" not in pod(server, f"{server.host} 0.0.0.0", own)
    assert "listens-on-loopback" in pod(server, f"{server.host} 127.0.0.1", own)
    live = "livenessProbe: {initialDelaySeconds: 5, periodSeconds: 5, failureThreshold: 3, httpGet: {path: /health, port: 1}}"
    assert ("probe-before-load" in pod(server, "", live)) is (engine != "llama.cpp")


@EACH
def test_a_server_without_a_key(engine: str) -> None:
    server = SERVERS[engine]
    ports = f"gpus: all\nports: ['{server.listens}:{server.listens}']"
    host = f"{server.host} 0.0.0.0"
    # llama.cpp and LMDeploy have rules of their own
    assert {"open-port-without-key", "open-without-api-keys", "open-without-key"} & compose(
        server, host, ports
    ) or engine == "llama.cpp"
    if server.key:
        assert "open-port-without-key" not in compose(server, f"{host} {server.key} $KEY", ports)


@EACH
def test_no_cache(engine: str) -> None:
    server = SERVERS[engine]
    assert ("no-model-cache" in compose(server)) is (engine != "llama.cpp")
    assert "no-model-cache" not in compose(server, "", "gpus: all\nvolumes: ['./models:/data']")


@EACH
def test_image_restarts_devices_secrets_and_placeholders(engine: str) -> None:
    server = SERVERS[engine]
    fields = "gpus: all\nrestart: always\nenvironment: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyzabcdefgh, MODEL: '{{ MODEL }}'}"
    assert {"restarts-for-ever", "secret-in-plain-text", "placeholder"} <= compose(server, "", fields)
    name = server.image.rpartition(":")[0]
    moving = Server(f"{name}:{'server-cuda' if engine == 'llama.cpp' else 'latest'}", server.command, "")
    assert "unpinned-image" in compose(moving)
    one = "environment: {CUDA_VISIBLE_DEVICES: '3'}\n"
    one += "deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}"
    assert "visible-devices" in compose(server, "", one)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm", "lmdeploy", "tgi"])
def test_heads(engine: str) -> None:
    server = SERVERS[engine]
    command = server.command.replace("Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B-Instruct")
    of_engine = {"heads-not-divisible", "attention-heads-not-divided", "heads-not-divided"}
    one = Server(server.image, command, "")
    assert of_engine & compose(one, server.two.replace("2", "3"))
    assert not of_engine & compose(one, server.two.replace("2", "4"))
