"""Launches of several nodes: what must fit between them, and what is not known to be one launch."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.judge.judging import judge
from tests.launching import launches_in

VLLM, SGLANG = "vllm/vllm-openai:v0.33.0", "lmsysorg/sglang:v0.5.23"
SERVE = "vllm serve Qwen/Qwen3-32B -tp 8 -pp 2"
NODES = "--nnodes $(LWS_GROUP_SIZE) --node-rank $(LWS_WORKER_INDEX)"
LEADER = f"{SERVE} {NODES} --master-addr $(LWS_LEADER_ADDRESS)"
RULES = {
    "nodes-not-pods",
    "same-node-rank",
    "gpus-of-all-nodes",
    "node-images-differ",
    "node-options-differ",
    "node-variable-not-set",
    "nodes-on-loopback",
    "world-size-above-nodes",
    "more-gpus-than-there-are",
}


def found(text: str, filename: str = "lws.yaml") -> set[tuple[str, str]]:
    """Rules of this kind, each with the launch that it is about: the last part of its name."""
    return {
        (finding.rule.partition("/")[2], launch.name.rpartition(".")[2])
        for launch in launches_in(text, filename)
        for finding in judge(launch, Settings())
        if finding.rule.partition("/")[2] in RULES
    }


def pod(name: str, words: str, image: str, gpus: int | str) -> str:
    command = f'["sh", "-c", "exec {words}"]' if "|" not in words else words.strip("|")
    return f"""spec:
  containers:
    - name: {name}
      image: {image}
      command: {command}
      resources: {{limits: {{nvidia.com/gpu: "{gpus}"}}}}
"""


def indented(text: str, by: int) -> str:
    return "".join([" " * by + line + "\n" for line in text.splitlines()])


def lws(leader: str, worker: str = "", size: int | str = 2, image: str = VLLM, other: str = "", gpus: int | str = 8) -> str:
    text = "kind: LeaderWorkerSet\napiVersion: leaderworkerset.x-k8s.io/v1\nmetadata: {name: llm}\n"
    text += f"spec:\n  leaderWorkerTemplate:\n    size: {size}\n"
    if worker:
        text += "    leaderTemplate:\n" + indented(pod("leader", leader, image, gpus), 6)
    return text + "    workerTemplate:\n" + indented(pod("worker", worker or leader, other or image, gpus), 6)


class TestLeaderWorkerSets:
    def test_an_undecided_condition_in_the_script_of_a_node(self) -> None:
        serve = "vllm serve Qwen/Qwen3-32B -tp 8 -pp 2 --nnodes 2 --master-addr $LWS_LEADER_ADDRESS --node-rank"
        script = f"""|[sh, -c, 'if [ "$DEBUG" = 1 ]; then X=--enforce-eager; fi; {serve} RANK $X']|"""
        text = lws(script.replace("RANK", "0"), script.replace("RANK", "1"), other=VLLM[:-1] + "1")
        assert ("node-images-differ", "worker") in found(text)
        assert found(lws(script.replace("RANK", "0"), script.replace("RANK", "1"))) == set()

    def test_nothing_is_wrong(self) -> None:
        assert found(lws(LEADER, f"{LEADER} --headless")) == set()
        assert found(lws(LEADER)) == set()

    @pytest.mark.parametrize(
        ("nodes", "wrong"), [("4", True), ("1", True), ("2", False), ("$(LWS_GROUP_SIZE)", False), ("$N", False)]
    )
    def test_size(self, nodes: str, wrong: bool) -> None:
        text = lws(LEADER.replace("$(LWS_GROUP_SIZE)", nodes), "sleep infinity", gpus="$GPUS")
        assert (("nodes-not-pods", "leader") in found(text)) is wrong

    def test_size_that_is_not_known(self) -> None:
        assert found(lws(LEADER.replace("$(LWS_GROUP_SIZE)", "4"), "sleep infinity", size="$SIZE")) == set()

    @pytest.mark.parametrize(
        ("leader", "worker", "size", "wrong"),
        [
            ("0", "0", 2, True),
            ("0", "1", 2, False),
            ("0", "1", 3, True),
            ("$(LWS_WORKER_INDEX)", "0", 3, True),
            ("0", "$(LWS_WORKER_INDEX)", 3, False),
            ("0", "$RANK", 3, False),
        ],
    )
    def test_ranks(self, leader: str, worker: str, size: int, wrong: bool) -> None:
        one, other = (LEADER.replace("-pp 2", "-pp 6").replace("$(LWS_WORKER_INDEX)", rank) for rank in (leader, worker))
        text = lws(one, f"{other} --headless", size, gpus=64)
        assert (("same-node-rank", "worker") in found(text)) is wrong

    def test_a_rank_that_is_not_given_is_0(self) -> None:
        worker = LEADER.replace("--node-rank $(LWS_WORKER_INDEX)", "")
        assert ("same-node-rank", "worker") in found(lws(LEADER, worker, size=3, gpus=64))
        assert ("same-node-rank", "worker") in found(lws(LEADER.replace("$(LWS_WORKER_INDEX)", "0"), worker))

    def test_one_template_for_all_with_one_rank(self) -> None:
        assert ("same-node-rank", "worker") in found(lws(LEADER.replace("$(LWS_WORKER_INDEX)", "0")))

    def test_replicas_that_start_at_the_same_rank(self) -> None:
        start = "vllm serve m -dp 16 --data-parallel-size-local 8 --data-parallel-address $(LWS_LEADER_ADDRESS)"
        assert ("same-node-rank", "worker") in found(lws(start, f"{start} --headless --data-parallel-start-rank 0"))
        assert found(lws(start, f"{start} --headless --data-parallel-start-rank 8")) == set()

    @pytest.mark.parametrize(
        ("worker", "wrong"),
        [
            ("-tp 4 -pp 4", True),
            ("-tp 8", True),
            ("-tp 8 -pp 2 --master-port 2222", True),
            ("-tp 8 -pp 2 --master-port 29501", False),
            ("-tp 8 -pp 2 --gpu-memory-utilization 0.8", False),
            ("-tp $TP -pp 2", False),
        ],
    )
    def test_options(self, worker: str, wrong: bool) -> None:
        text = lws(LEADER, f"{LEADER.replace('-tp 8 -pp 2', worker)} --headless")
        assert (("node-options-differ", "worker") in found(text)) is wrong

    @pytest.mark.parametrize(
        ("leader", "worker", "wrong"), [("20000", "20001", True), ("20000", "20000", False), ("20000", "$PORT", False)]
    )
    def test_ports_of_addresses(self, leader: str, worker: str, wrong: bool) -> None:
        start = f"python3 -m sglang.launch_server --model-path m --tp 16 {NODES} --dist-init-addr $(LWS_LEADER_ADDRESS):"
        assert (("node-options-differ", "worker") in found(lws(start + leader, start + worker, image=SGLANG))) is wrong

    def test_an_address_of_the_worker_itself(self) -> None:
        start = f"python3 -m sglang.launch_server --model-path m --tp 16 {NODES} --dist-init-addr "
        text = lws(f"{start}$(LWS_LEADER_ADDRESS):5000", f"{start}127.0.0.1:5000", image=SGLANG)
        assert ("nodes-on-loopback", "worker") in found(text)

    @pytest.mark.parametrize(
        ("image", "wrong"),
        [
            ("vllm/vllm-openai:v0.32.0", True),
            (VLLM, False),
            ("registry.example/vllm-openai:v0.33.0", False),
            ("vllm/vllm-openai:$TAG", False),
        ],
    )
    def test_images(self, image: str, wrong: bool) -> None:
        assert (("node-images-differ", "worker") in found(lws(LEADER, f"{LEADER} --headless", other=image))) is wrong

    @pytest.mark.parametrize(
        ("name", "wrong"),
        [
            ("LWS_LEADER_ADDRES", True),
            ("LWS_LEADER_ADDR", True),
            ("LWS_LEADERADDRESS", True),
            ("LWS_LEADER_ADDRESS", False),
            ("HEAD_ADDRESS", False),
        ],
    )
    @pytest.mark.parametrize("written", ["$({})", "${{{}}}", "${}"])
    def test_variables(self, name: str, wrong: bool, written: str) -> None:
        text = lws(LEADER.replace("$(LWS_LEADER_ADDRESS)", written.format(name)), "sleep infinity")
        assert (("node-variable-not-set", "leader") in found(text)) is wrong

    def test_variables_in_exec_form(self) -> None:
        words = LEADER.replace("$(LWS_WORKER_INDEX)", "$(LWS_WORKER_INDX)").split()
        text = lws("|[" + ", ".join([f'"{word}"' for word in words]) + "]|", "sleep infinity")
        assert ("node-variable-not-set", "leader") in found(text)

    def test_gpus_of_all_nodes(self) -> None:
        ray = "vllm serve Qwen/Qwen3-32B -tp 8 -pp {} --distributed-executor-backend ray"
        assert ("gpus-of-all-nodes", "leader") in found(lws(ray.format(3), "sleep infinity"))
        assert found(lws(ray.format(2), "sleep infinity")) == set()
        assert ("world-size-above-nodes", "leader") in found(lws(LEADER, "sleep infinity", gpus=4))
        sglang = f"python3 -m sglang.launch_server --model-path m --tp 16 {NODES} --dist-init-addr $(LWS_LEADER_ADDRESS):5000"
        assert ("more-gpus-than-there-are", "leader") in found(lws(sglang, "sleep infinity", image=SGLANG, gpus=4))


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Pod"])
def test_only_a_leader_worker_set_sets_its_variables(kind: str) -> None:
    fields = indented(pod("llm", LEADER.replace("$(LWS_GROUP_SIZE)", "2"), VLLM, 8), 0 if kind == "Pod" else 4)
    spec = fields if kind == "Pod" else f"spec:\n  selector: {{}}\n  template:\n{fields}"
    text = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: llm}}\n{spec}"
    assert ("node-variable-not-set", "llm") in found(text)
    assert (
        found(
            text.replace("name: llm\n", "name: llm\n", 1)
            .replace("$(LWS_LEADER_ADDRESS)", "$(HEAD)")
            .replace("$(LWS_WORKER_INDEX)", "0")
        )
        == set()
    )


@pytest.mark.parametrize(
    ("replicas", "rank", "wrong"), [(2, "0", True), (1, "0", False), (2, "${HOSTNAME##*-}", False), (2, "$RANK", False)]
)
def test_stateful_sets(replicas: int, rank: str, wrong: bool) -> None:
    words = f"{SERVE} --nnodes 2 --node-rank {rank} --master-addr llm-0.llm"
    fields = indented(pod("llm", words, VLLM, 8), 4)
    text = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: llm}\n"
    text += f"spec:\n  replicas: {replicas}\n  selector: {{}}\n  template:\n{fields}"
    assert (("same-node-rank", "llm") in found(text)) is wrong


class TestCompose:
    SERVICE = """
  {name}:
    image: lmsysorg/sglang:{tag}
    gpus: all
    ipc: host
    network_mode: host
    command: >-
      python -m sglang.launch_server --model-path {model} --tp {tp} --nnodes 2 --node-rank {rank} --dist-init-addr {address}
"""

    def services(self, **other: object) -> set[tuple[str, str]]:
        one = {"name": "a", "model": "Qwen/Qwen3-32B", "tp": 16, "rank": 0, "address": "10.0.0.1:5000", "tag": "v0.5.23"}
        text = "services:" + self.SERVICE.format(**one) + self.SERVICE.format(**{**one, "name": "b", "rank": 1, **other})
        return found(text, "compose.yml")

    def test_two_services_are_two_nodes(self) -> None:
        assert self.services() == set()
        assert self.services(rank=0) == {("same-node-rank", "b")}
        assert self.services(tp=8) == {("node-options-differ", "b")}
        assert self.services(tag="v0.5.22") == {("node-images-differ", "b")}
        assert self.services(tag="v0.5.23-cu130") == set()

    @pytest.mark.parametrize(
        "other", [{"address": "10.0.0.2:5000"}, {"model": "Qwen/Qwen3-8B"}, {"rank": "$RANK"}, {"address": "$HEAD:5000"}]
    )
    def test_what_may_be_another_launch(self, other: dict[str, object]) -> None:
        assert self.services(**{"tp": 8, "tag": "v0.5.22", **other}) == set()


RAY = """apiVersion: ray.io/v1
kind: RayService
metadata: {{name: llm}}
spec:
  serveConfigV2: |
    applications:
      - name: llm
        import_path: ray.serve.llm:build_openai_app
        args:
          llm_configs:
            - model_loading_config: {{model_id: q, model_source: Qwen/Qwen3-32B}}
              engine_kwargs: {{tensor_parallel_size: 8, pipeline_parallel_size: 2}}
  rayClusterConfig:
    headGroupSpec:
      template: {{spec: {{containers: [{{name: h, image: rayproject/ray-llm:2.46.0}}]}}}}
    workerGroupSpecs:
      - replicas: 1
        maxReplicas: {most}
        groupName: g
        template: {{spec: {{containers: [{{name: w, image: x, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}}}
"""
MPI = """apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: llm}}
spec:
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
            - name: llm
              image: nvcr.io/nvidia/tensorrt-llm/release:1.2.0
              command: [mpirun, -np, "16", trtllm-llmapi-launch, trtllm-serve, Qwen/Qwen3-32B, --tp_size, "16"]
    Worker:
      replicas: {most}
      template: {{spec: {{containers: [{{name: w, image: x, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}}}
"""


@pytest.mark.parametrize("text", [RAY, MPI])
@pytest.mark.parametrize(
    ("most", "gpus", "wrong"), [(1, 8, True), (2, 8, False), (2, 4, True), ("$N", 8, False), (1, "$GPUS", False)]
)
def test_pods_that_give_their_gpus_to_one_launch(text: str, most: object, gpus: object, wrong: bool) -> None:
    assert (("gpus-of-all-nodes", "llm") in found(text.format(most=most, gpus=gpus))) is wrong


@pytest.mark.parametrize(
    ("start", "rank", "wrong"),
    [
        ("srun -N 2", "0", True),
        ("srun --nodes=2 --ntasks-per-node=1", "0", True),
        ("srun -N2 -n2 --export=ALL", "0", True),
        ("srun -N 1 -n 1 -w node1", "0", False),
        ("srun -N 2", "$SLURM_PROCID", False),
        ("srun", "0", False),
        ("srun -N $NODES", "0", False),
    ],
)
def test_srun(start: str, rank: str, wrong: bool) -> None:
    words = f"{start} vllm serve m -tp 16 --nnodes 2 --node-rank {rank} --master-addr 10.0.0.1\n"
    assert ("same-node-rank" in {rule for rule, _ in found(words, "run.sh")}) is wrong
