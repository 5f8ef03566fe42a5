"""Ports that two servers ask for at the same time."""

from __future__ import annotations

import pytest

from tests.reporting import findings_in
from tests.together import together

VLLM, SGLANG = "vllm/vllm-openai:v0.33.0", "lmsysorg/sglang:v0.5.23"


def _found(text: str, name: str = "run.sh") -> list[tuple[str, str]]:
    return [(one.rule.partition("/")[2], one.severity) for one in findings_in(text, name) if "port-" in one.rule]


TAKEN = [("port-taken", "error")]


def _pod(*containers: str, kind: str = "containers") -> str:
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: two}\nspec:\n"
    first, second = (f"    - {{name: c{number}, image: '{VLLM}', args: {args}}}\n" for number, args in enumerate(containers))
    return (
        f"{head}  {kind}:\n{first}  containers:\n{second}" if kind != "containers" else f"{head}  containers:\n{first}{second}"
    )


class TestPods:
    def test_the_default_twice(self) -> None:
        assert _found(_pod("[--model, a/b]", "[--model, c/d]"), "pod.yaml") == TAKEN

    def test_the_default_of_one_given_to_the_other(self) -> None:
        assert _found(_pod("[--model, a/b, --port, '8001']", "[--model, c/d, --port=8001]"), "pod.yaml") == TAKEN

    @pytest.mark.parametrize(
        "other", ["[--model, c/d, --port, '8001']", "[--model, c/d, --port, $(PORT)]", "[--model, c/d, --uds, /x]"]
    )
    def test_another_port_or_one_that_is_not_known(self, other: str) -> None:
        assert _found(_pod("[--model, a/b]", other), "pod.yaml") == []

    def test_a_container_that_ends_before_the_other_starts(self) -> None:
        assert _found(_pod("[--model, a/b]", "[--model, c/d]", kind="initContainers"), "pod.yaml") == []

    def test_pods_of_their_own(self) -> None:
        text = "---\n".join(
            f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers: "
            f"[{{name: c, image: '{VLLM}', args: [--model, a/{name}]}}]\n"
            for name in ("one", "two")
        )
        assert _found(text, "pod.yaml") == []


class TestStartedAgain:
    SERVER = "vllm serve a/b --port 8100"

    def test_two_at_once(self) -> None:
        assert _found(f"{self.SERVER} &\n{self.SERVER} --seed 1 &\nwait\n") == TAKEN

    @pytest.mark.parametrize(
        "again",
        [
            'if ! lsof -ti:8100; then\n  bash -c "{}"\nfi',
            "bash -c 'if ! lsof -ti:8100; then {}; fi'",
            "nohup bash -c \"while true; do if ! curl -sf localhost:8100; then setsid bash -c '{}' & fi; sleep 5; done\" &",
            "curl -sf localhost:8100/health || sh -c '{} &'",
        ],
    )
    def test_one_that_is_started_again_where_it_has_ended(self, again: str) -> None:
        assert _found(f"{self.SERVER} &\n{again.format(self.SERVER)}\n") == []


def _compose(one: str, two: str) -> str:
    services = f"  one:\n    image: {VLLM}\n    command: --model a/b\n{one}  two:\n    image: {SGLANG}\n{two}"
    return (
        "services:\n" + services + "    command: python3 -m sglang.launch_server --model-path c/d --port 8000 --host 0.0.0.0\n"
    )


HOST, PROFILE = "    network_mode: host\n", "    profiles: [big]\n"
PORTS = "    ports: ['127.0.0.1:{}:8000']\n"


class TestCompose:
    """Services may be meant to run one at a time, so none of it is an error."""

    @pytest.mark.parametrize(("one", "two"), [(HOST, HOST), (PORTS.format(80), PORTS.format(80)), (PORTS.format(8000), HOST)])
    def test_the_same_port_of_the_host(self, one: str, two: str) -> None:
        assert ("port-taken", "warning") in _found(_compose(one, two), "compose.yml")

    @together(
        "one, two",
        [
            (HOST, ""),
            (HOST + PROFILE, HOST),
            (HOST, HOST + PROFILE),
            (HOST, HOST + "    deploy: {replicas: 0}\n"),
            (PORTS.format(80), PORTS.format(81)),
            (PORTS.format("${PORT}"), PORTS.format("${PORT}")),
            (PORTS.format(8000), HOST + "    scale: 0\n"),
            ("    ports: ['127.0.0.1:80:8000']\n", "    ports: ['127.0.0.2:80:8000']\n"),
        ],
    )
    def test_other_ports_or_services_that_may_not_run(self, one: str, two: str) -> None:
        assert "port-taken" not in [rule for rule, _ in _found(_compose(one, two), "compose.yml")]


A, B = "vllm serve a/b", "vllm serve c/d"
PINNED = "pip install vllm=={}\n"


class TestScripts:
    @together(
        "text",
        [
            f"{A} &\n{B} &\nwait\n",
            f"{A} &\n{B}\n",
            f"CUDA_VISIBLE_DEVICES=0 nohup {A} > a.log 2>&1 &\nsleep 60\nCUDA_VISIBLE_DEVICES=1 nohup {B} > b.log 2>&1 &\n",
            f"{A} --port 9000 &\nuntil curl -s localhost:9000/health; do sleep 5; done\n{B} --port=9000 &\n",
            f"docker run -d -p 9000:8000 {VLLM} --model a/b\ndocker run -d -p 9000:8000 {VLLM} --model c/d\n",
            f"docker run -d --network host {VLLM} --model a/b\n{B}\n",
            f"docker run --gpus all --ipc host --network host --rm -itd {VLLM} --model a/b\n{B}\n",
            f"if true; then {A} & fi\n{B} &\n",
        ],
    )
    def test_a_server_that_still_runs(self, text: str) -> None:
        assert TAKEN[0] in _found(PINNED.format("0.33.0") + text)

    @together(
        "text",
        [
            f"{A}\n{B}\n",
            f"{A} -dp 2\n{B} -d 2\n",
            f"{A} &\nfirst=$!\nkill $first\n{B} &\n",
            f"{A} &\nstop_servers\n{B} &\n",
            f"{A} &\nwait\n{B} &\n",
            f"timeout 60 {A} &\nsleep 70\n{B} &\n",
            f"ssh one {A} &\nssh two {B} &\n",
            f"srun -w one {A} &\nsrun -w two {B} &\n",
            f"{A} &\n# on the second node\n{B} &\n",
            f'if [ -n "$BIG" ]; then {A} & else {B} & fi\n',
            f'if [ -n "$BIG" ]; then {A} & fi\n{B} &\n',
            f"start() {{ {A} & }}\nother() {{ {B} & }}\n$1\n",
            f"{A} --host 127.0.0.2 &\n{B} --host 127.0.0.3 &\n",
            f"docker run --rm -p 9000:8000 {VLLM} --model a/b\ndocker run -d -p 9000:8000 {VLLM} --model c/d\n",
            f"docker run -d {VLLM} --model a/b\ndocker run -d {VLLM} --model c/d\n",
        ],
    )
    def test_one_that_does_not_or_may_not(self, text: str) -> None:
        assert [rule for rule, _ in _found(PINNED.format("0.33.0") + text) if rule.startswith("port-")] == []

    @pytest.mark.parametrize(
        ("release", "rule"),
        [("0.7.2", "port-taken"), ("0.7.3", "port-shared"), ("0.24.0", "port-shared"), ("0.25.0", "port-taken")],
    )
    def test_releases_that_share_a_port(self, release: str, rule: str) -> None:
        assert _found(PINNED.format(release) + f"{A} &\n{B} &\n") == [(rule, "error")]

    @pytest.mark.parametrize(("build", "rule"), [("b8390", "port-shared"), ("b9093", "port-taken")])
    def test_builds_that_share_a_port(self, build: str, rule: str) -> None:
        image = f"ghcr.io/ggml-org/llama.cpp:server-cuda-{build} -hf"
        run = f"docker run -d --gpus all --network host {image}"
        assert (rule, "error") in _found(f"{run} a/b-GGUF --port 9000\n{run} c/d-GGUF --port 9000\n")

    def test_replicas_of_one_model_share_it(self) -> None:
        assert _found(PINNED.format("0.20.2") + f"{A} &\n{A} &\n") == []
