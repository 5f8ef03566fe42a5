"""A config: what a rule is told when it asks a launch for an operand."""

from __future__ import annotations

import gc

import pytest

from servelint.core.source import Span
from servelint.engines.config import ABSENT, UNWRITTEN, Config, Operand, Reading, Scalar, configs, given_object
from tests.launching import launch_in, launches_in, marked_launch
from tests.together import together


def config(text: str, release: str | None = None, filename: str = "run.sh") -> Config:
    return configs(launch_in(text, filename), [release] if release is not None else [])[0]


def told(text: str, operand: str) -> tuple[bool | None, Scalar | None]:
    """Whether the operand is present, and its value."""
    found = config(text).operand(operand)
    return found.present, found.value


def operand_and_marks(text: str, name: str, filename: str = "run.sh") -> tuple[Operand, list[Span]]:
    launch, marks = marked_launch(text, filename)
    return configs(launch, [])[0].operand(name), marks


class TestOptions:
    @together(
        "text, name, expected",
        [
            ("vllm serve m --port 8000", "port", (True, 8000)),
            ("vllm serve m --gpu-memory-utilization 0.9", "gpu-memory-utilization", (True, 0.9)),
            ("vllm serve m --gpu-memory-utilization 1", "gpu-memory-utilization", (True, 1.0)),
            ("vllm serve m --port 8e3", "port", (True, "8e3")),
            ("vllm serve m --max-model-len 32k", "max-model-len", (True, 32000)),
            ("vllm serve m --kv-cache-dtype fp8", "kv-cache-dtype", (True, "fp8")),
            ("vllm serve m --port $PORT", "port", (True, None)),
            ("vllm serve m --port", "port", (True, None)),
            ("vllm serve m --enforce-eager", "enforce-eager", (True, True)),
            ("vllm serve m --no-enforce-eager", "enforce-eager", (True, False)),
            ("vllm serve m", "port", (False, None)),
            ("vllm serve m $EXTRA_ARGS", "port", (None, None)),
            ('vllm serve m "$@"', "port", (None, None)),
            ("vllm serve m ${EAGER:+--enforce-eager}", "enforce-eager", (None, None)),
            ("vllm serve m ${EAGER:+--enforce-eager}", "port", (False, None)),
            ("vllm serve m --config server.yaml --port 1", "port", (True, 1)),
            ("vllm serve m --config server.yaml", "enforce-eager", (None, None)),
            ("vllm serve m --enforce", "enforce-eager", (True, True)),
        ],
    )
    def test_present_and_value(self, text: str, name: str, expected: tuple[bool | None, Scalar | None]) -> None:
        assert told(text, name) == expected

    @together(
        "text",
        [
            "vllm serve m --port ⟦8000⟧",
            "vllm serve m --port=⟦8000⟧",
            "vllm serve m --port '⟦8000⟧'",
            "PORT=⟦8000⟧\nvllm serve m --port $PORT",
            "vllm serve m --port ${PORT:-⟦8000⟧}",
            "vllm serve m --port ⟦$PORT⟧",
            "vllm serve m ⟦--port⟧",
            "vllm serve m ⟦--port⟧ ''",  # an empty value has no characters: the option stands for it
        ],
    )
    def test_the_place_to_point_at(self, text: str) -> None:
        operand, marks = operand_and_marks(text, "port")
        assert operand.span == marks[0]

    def test_what_is_shown(self) -> None:
        found = config("vllm serve m --port 8000 --seed $SEED --enforce-eager")
        assert [found.operand(name).shown for name in ("port", "seed", "enforce-eager", "dtype")] == [
            "8000",
            "${SEED}",
            "--enforce-eager",
            "",
        ]


class TestModel:
    @together(
        "text, expected",
        [
            ("vllm serve Qwen/Qwen3-8B", (True, "Qwen/Qwen3-8B")),
            ("vllm serve --model Qwen/Qwen3-8B", (True, "Qwen/Qwen3-8B")),
            ("vllm serve --port 1 Qwen/Qwen3-8B", (True, "Qwen/Qwen3-8B")),
            ("vllm serve $MODEL --port 1", (None, None)),
            ('vllm serve "$MODEL"', (True, None)),
            ("vllm serve --port 1", (False, None)),
            ("vllm serve $ARGS", (None, None)),
            ("sglang serve --model-path Qwen/Qwen3-8B", (True, "Qwen/Qwen3-8B")),
            ("sglang serve --model Qwen/Qwen3-8B", (True, "Qwen/Qwen3-8B")),
            ("llama-server -m /models/a.gguf", (True, "/models/a.gguf")),
        ],
    )
    def test_its_name(self, text: str, expected: tuple[bool | None, Scalar | None]) -> None:
        assert told(text, "model") == expected

    @pytest.mark.parametrize(
        ("model", "hybrid", "mixer"),
        [
            ("Qwen/Qwen3.6-27B", (True, True), (True, "gdn")),
            ("Qwen/Qwen3-8B", (True, False), (None, None)),
            ("house/some-model", (None, None), (None, None)),
            ('"$MODEL"', (None, None), (None, None)),
        ],
    )
    def test_facts_of_its_family(
        self, model: str, hybrid: tuple[bool | None, bool | None], mixer: tuple[bool | None, str | None]
    ) -> None:
        assert told(f"vllm serve {model}", "model.hybrid") == hybrid
        assert told(f"vllm serve {model}", "model.mixer") == mixer

    def test_its_place(self) -> None:
        operand, marks = operand_and_marks("MODEL=⟦Qwen/Qwen3.6-27B⟧\nvllm serve $MODEL", "model.hybrid")
        assert operand.span == marks[0]
        assert operand.shown == "true"

    @pytest.mark.parametrize(
        ("model", "name", "expected"),
        [
            ("Qwen/Qwen3.6-27B", "model.heads", (True, 24)),
            ("Qwen/Qwen3.6-27B", "model.context", (True, 262144)),
            ("Qwen/Qwen3.6-27B", "model.quantization", (True, "none")),
            ("Qwen/Qwen3.6-27B", "model.experts", (None, None)),
            ("house/model", "model.heads", (None, None)),
        ],
    )
    def test_its_numbers(self, model: str, name: str, expected: tuple[bool | None, Scalar | None]) -> None:
        assert told(f"vllm serve {model}", name) == expected

    @pytest.mark.parametrize(
        ("text", "since"),
        [
            ("vllm serve Qwen/Qwen3.6-27B", "0.17.0"),
            ("vllm serve /models/qwen3.6", "0.17.0"),
            ("vllm serve Qwen/Qwen3-8B", "0.8.4"),
            ("vllm serve meta-llama/Llama-3.1-8B", None),
            ("vllm serve house/model", None),
            ("python -m sglang.launch_server --model-path Qwen/Qwen3.6-27B", "0.5.9"),
        ],
    )
    def test_the_first_release_that_lists_it(self, text: str, since: str | None) -> None:
        assert config(text).since == since


class TestGpu:
    POD = """\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {nvidia.com/gpu.product: ⟦NVIDIA-H100-80GB-HBM3⟧}
  containers:
    - name: llm
      image: vllm/vllm-openai:v0.20.0
      args: [--model, m]
      resources: {limits: {nvidia.com/gpu: 2}}
"""

    def test_as_the_file_says_it(self) -> None:
        launch, marks = marked_launch(self.POD, "pod.yaml")
        launch.gpu, launch.gpu_count = "t4", 8
        found = configs(launch, [])[0]
        assert (found.operand("gpu.name").value, found.operand("gpu.capability").value) == ("h100-80gb", 9.0)
        assert found.operand("gpu.name").span == marks[0]
        assert found.operand("gpu.count").value == 2
        assert found.operand("gpu.no-such-fact").present is None

    @pytest.mark.parametrize(("product", "expected"), [("house-gpu", None), ("NVIDIA-L4", "l4")])
    def test_a_product(self, product: str, expected: str | None) -> None:
        launch = launch_in(self.POD.replace("⟦NVIDIA-H100-80GB-HBM3⟧", product), "pod.yaml")
        launch.gpu = "t4"
        assert configs(launch, [])[0].operand("gpu.name").value == expected

    def test_as_the_user_says_it(self) -> None:
        launch = launch_in("vllm serve m", "run.sh")
        assert configs(launch, [])[0].operand("gpu.vendor").present is None
        assert configs(launch, [])[0].operand("gpu.count").present is None
        launch.gpu, launch.gpu_count = "mi300x", 8
        found = configs(launch, [])[0]
        assert (found.operand("gpu.vendor").value, found.operand("gpu.count").value) == ("amd", 8)
        assert found.operand("gpu.capability").present is None

    @together(
        "visible, count, expected",
        [
            ("0,1", None, 2),
            ("0,1", 8, 2),
            ("0,1,2,3", 2, 2),
            ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", None, 1),
            ("$DEVICES", None, None),
            ("$DEVICES", 4, 4),
            ("all", None, None),
            ("", None, None),
        ],
    )
    def test_how_many_a_variable_leaves(self, visible: str, count: int | None, expected: int | None) -> None:
        launch = launch_in(f'export CUDA_VISIBLE_DEVICES="{visible}"\nvllm serve m', "run.sh")
        launch.gpu_count = count
        assert configs(launch, [])[0].operand("gpu.count").value == expected


class TestJson:
    SPEC = '{"method": "mtp", "num_speculative_tokens": 2, "deep": {"key": true}, "open": {"key": "\'$X\'"}, "none": null}'
    TEXT = f"vllm serve m --speculative-config '{SPEC}'"

    @together(
        "name, expected",
        [
            ("speculative-config.method", (True, "mtp")),
            ("speculative-config.num_speculative_tokens", (True, 2)),
            ("speculative-config.deep.key", (True, True)),
            ("speculative-config.deep", (True, '{"key": true}')),
            ("speculative-config.open", (True, None)),
            ("speculative-config.none", (False, None)),
            ("speculative-config.model", (False, None)),
            ("speculative-config.deep.other", (False, None)),
            ("speculative-config.method.x", (None, None)),
            ("compilation-config.mode", (False, None)),
        ],
    )
    def test_keys(self, name: str, expected: tuple[bool | None, Scalar | None]) -> None:
        assert told(self.TEXT, name) == expected

    @together(
        "value, expected",
        [
            ("'{\"method\": \"'$METHOD'\"}'", (True, None)),
            ('"{\\"method\\": $METHOD}"', (True, None)),
            ('"{\\"num\\": 1, $MORE}"', (None, None)),
            ('"$SPEC"', (None, None)),
            ("$(cat spec.json)", (None, None)),
            ("'{\"num\": 1'", (None, None)),
            ("'[1]'", (None, None)),
            ("", (None, None)),
        ],
    )
    def test_what_is_not_known_of_a_key(self, value: str, expected: tuple[bool | None, Scalar | None]) -> None:
        assert told(f"vllm serve m --speculative-config {value}", "speculative-config.method") == expected

    @pytest.mark.parametrize(
        "text",
        [
            'vllm serve m -sc \'{"method": "⟦mtp⟧"}\'',
            'vllm serve m -sc "{\\"method\\": \\"⟦mtp⟧\\"}"',
            'METHOD=⟦mtp⟧\nvllm serve m -sc "{\\"method\\": \\"$METHOD\\"}"',
            "vllm serve m --speculative-config.method ⟦mtp⟧",
            "vllm serve m -sc.method=⟦mtp⟧",
        ],
    )
    def test_the_place_of_a_key(self, text: str) -> None:
        operand, marks = operand_and_marks(text, "speculative-config.method")
        assert (operand.value, operand.span) == ("mtp", marks[0])

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("attention-config", (True, None)),
            ("attention-config.a", (True, None)),
            ("attention-config.a.b", (True, 3)),
            ("attention-config.a.c", (False, None)),
            ("attention-config.a.b.c", (None, None)),
            ("attention-config.x", (False, None)),
        ],
    )
    def test_keys_that_are_options(self, name: str, expected: tuple[bool | None, Scalar | None]) -> None:
        assert told("vllm serve m --attention-config.a.b 3", name) == expected

    def test_single_keys_replace_a_whole_object(self) -> None:
        text = 'vllm serve m -sc \'{"model": "x"}\' -sc.method mtp'
        assert told(text, "speculative-config.method") == (True, "mtp")
        assert told(text, "speculative-config.model") == (False, None)


class TestEnvironment:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("A=1 vllm serve m", (True, "1")),
            ("export A=\nvllm serve m", (True, "")),
            ("A=$B vllm serve m", (True, None)),
            ("vllm serve m", (False, None)),
            (". ./env\nvllm serve m", (None, None)),
            ("docker run -e A vllm/vllm-openai:v0.20.0 --model m", (None, None)),
            ("docker run $OPTIONS vllm/vllm-openai:v0.20.0 --model m", (None, None)),
        ],
    )
    def test_variables(self, text: str, expected: tuple[bool | None, Scalar | None]) -> None:
        assert told(text, "env.A") == expected

    def test_their_place(self) -> None:
        operand, marks = operand_and_marks("export A=⟦1⟧\nvllm serve m", "env.A")
        assert operand.span == marks[0]


class TestContainer:
    def test_settings(self) -> None:
        text = "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    ipc: ⟦host⟧\n"
        operand, marks = operand_and_marks(text, "container.ipc", "compose.yml")
        assert (operand.present, operand.value, operand.span) == (True, "host", marks[0])
        compose = config(text.replace("⟦", "").replace("⟧", ""), filename="compose.yml")
        assert compose.operand("container.image").value == "vllm/vllm-openai:v0.20.0"
        assert compose.operand("container.runtime") is ABSENT

    def test_without_a_container_nobody_knows(self) -> None:
        assert config("vllm serve m").operand("container.ipc") is UNWRITTEN


class TestEffective:
    def test_a_fact_that_the_engine_does_not_have(self) -> None:
        assert config("vllm serve m").operand("effective.nothing").present is None
        assert config("llama-server -m a.gguf").operand("effective.prefix-caching").present is None

    def test_a_fact_is_worked_out_once(self) -> None:
        found = config("vllm serve Qwen/Qwen3-8B", "0.20.0")
        assert found.operand("effective.prefix-caching") is found.operand("effective.prefix-caching")


@pytest.mark.parametrize(
    ("release", "bound", "expected"),
    [("0.20.0", "0.20.0", True), ("0.19.1", "0.20.0", False), ("0.20.0rc1", "0.20.0", False), (None, "0.20.0", None)],
)
def test_at_least(release: str | None, bound: str, expected: bool | None) -> None:
    assert config("vllm serve m", release).at_least(bound) is expected


class TestFragment:
    """A speculative config on its own: the rest of the launch is somewhere else."""

    TEXT = '{"method": "mtp", "num_speculative_tokens": 2}'

    def test_what_it_holds_is_known(self) -> None:
        assert config(self.TEXT, filename="spec.json").operand("speculative-config.method").value == "mtp"
        assert config(self.TEXT, filename="spec.json").operand("speculative-config.model").present is False

    @pytest.mark.parametrize("name", ["port", "model", "env.A", "container.ipc"])
    def test_the_rest_is_not(self, name: str) -> None:
        assert config(self.TEXT, filename="spec.json").operand(name) is UNWRITTEN


def test_is_freed_without_the_garbage_collector() -> None:
    """Editors and runs over many files make thousands: a cycle in each keeps them until a long collection."""
    gc.collect()
    gc.disable()
    try:
        made = configs(launch_in("vllm serve m --port 8000", "run.sh"), ["0.27.1", "0.28.0"])
        known = made[-1].operand("port").value, made[-1].reading.first is made[0].reading
        launch = id(made[0].launch)
        del made
        left = [one for one in gc.get_objects() if isinstance(one, Reading) and id(one.launch) == launch]
    finally:
        gc.enable()
    assert known == (8000, True)
    assert not left


BOTH = """--kv-transfer-config, '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'"""
KV = """--kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "%s"}'"""
GRAPH = """
    apiVersion: nvidia.com/v1alpha1
    kind: DynamoGraphDeployment
    metadata: {name: llm}
    spec:
      services:
        %sWorker:
          componentType: worker
          extraPodSpec:
            mainContainer:
              image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.0
              command: [python3, -m, dynamo.vllm]
              args: [--model, m, --block-size, "64", BOTH]
        %sWorker:
          componentType: worker
          extraPodSpec:
            mainContainer:
              image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.0
              command: [python3, -m, dynamo.vllm]
              args: [--model, m, BOTH]
    """
CHART = """
    prefill:
      containers:
        - image: vllm/vllm-openai:v0.33.0
          args: [--model, m, --block-size, "64", BOTH]
    decode:
      containers:
        - image: vllm/vllm-openai:v0.33.0
          args: [--model, m, BOTH]
    """
SET = """
    apiVersion: leaderworkerset.x-k8s.io/v1
    kind: LeaderWorkerSet
    metadata: {name: %s}
    spec:
      leaderWorkerTemplate:
        size: 1
        workerTemplate:
          spec:
            containers:
              - name: llm
                image: lmsysorg/sglang:v0.5.23
                command: [python3, -m, sglang.launch_server, --model-path, m, --disaggregation-mode, %s, --page-size, "64"]
    """


def prefill(text: str, operand: str, filename: str = "run.sh") -> tuple[bool | None, Scalar | None]:
    """An operand of the launch that prefills, as the last launch of a text that decodes has it."""
    last = [
        one
        for launch in launches_in(text.replace("BOTH", BOTH), filename)
        if (one := configs(launch, ["0.30.0"])[0]).role == "decode"
    ][-1]
    found = last.operand(f"prefill.{operand}")
    return found.present, found.value


class TestPrefill:
    @together(
        "words, expected",
        [
            (["m --block-size 64 P", "m D"], (True, 64)),
            (["m P", "m D"], (False, None)),
            (["m --block-size $SIZE P", "m D"], (True, None)),
            (["m --block-size 64 P", "m --block-size 64 P", "m D"], (True, 64)),
            (["m --block-size 64 P", "m --block-size 32 P", "m D"], (None, None)),  # which of them it is
            (["m --block-size 64 P", "n --block-size 32 P", "m D"], (True, 64)),
            (["m --block-size 64 P", "n D"], (True, 64)),
            (["m --block-size 64 P", "m D", "n D"], (None, None)),
            (["$MODEL --block-size 64 P", "$MODEL D"], (True, 64)),
            (["m --block-size 64", "m D"], (None, None)),
            (["m D"], (None, None)),
        ],
    )
    def test_of_a_script(self, words: list[str], expected: tuple[bool | None, Scalar | None]) -> None:
        lines = [
            "vllm serve " + one.replace(" P", " " + KV % "kv_producer").replace(" D", " " + KV % "kv_consumer") for one in words
        ]
        assert prefill(" &\n".join(lines), "block-size") == expected

    @pytest.mark.parametrize(
        ("text", "operand"),
        [
            (GRAPH % ("VllmPrefill", "VllmDecode"), "block-size"),
            (CHART, "block-size"),
            (SET % ("a", "prefill") + "---" + SET % ("b", "decode"), "page-size"),
        ],
        ids=["dynamo", "helm", "lws"],
    )
    def test_of_a_manifest(self, text: str, operand: str) -> None:
        assert prefill(text, operand, "values.yaml") == (True, 64)

    def test_of_a_branch(self) -> None:
        text = f"""
            if [ -n "$BIG" ]; then size=64; else size=32; fi
            vllm serve m --block-size $size {KV % "kv_producer"} &
            vllm serve m {KV % "kv_consumer"}
            """
        assert prefill(text, "block-size") == (None, None)

    def test_a_name_with_both_roles_says_neither(self) -> None:
        found = launches_in((GRAPH % ("Prefill", "PrefillDecode")).replace("BOTH", BOTH), "graph.yaml")
        assert [configs(one, [])[0].role for one in found] == ["prefill", ""]


@pytest.mark.parametrize(
    ("words", "methods"),
    [
        ('--speculative-config \'{"method": "mtp"}\'', []),
        ('--speculative-config \'{"method": "mtp"}\' --speculative-config \'{"method": "ngram"}\'', ["mtp"]),
        ('--speculative-config \'{"method": "mtp"}\' --speculative-config.method ngram', ["mtp"]),
        ("--speculative-config.method mtp --speculative-config.method ngram", []),
        ("--port 1 --port 2", []),
    ],
)
def test_an_object_that_a_later_one_replaces_is_read_where_it_stands(words: str, methods: list[str]) -> None:
    found = config(f"vllm serve m {words}", "0.33.0").replaced()
    assert [one.operand("speculative-config.method").value for one in found] == methods
    assert [one.release for one in found] == ["0.33.0"] * len(methods)


def test_a_replaced_object_has_no_keys_of_options_beside_it() -> None:
    words = '--speculative-config \'{"method": "mtp"}\' --speculative-config.model x/y --port 1'
    (found,) = config(f"vllm serve m {words}", "0.33.0").replaced()
    assert found.operand("speculative-config.model").present is False
    assert found.operand("port").value == 1


@together(
    "words, expected",
    [
        ("", None),
        ("--hf-overrides '{\"a\": 1}'", {"a": 1}),
        ("--hf-overrides '[1]'", None),
        ("--hf-overrides '{\"a\": '$X'}'", None),
        ("--hf-overrides.a 1 --compilation-config.mode 3 --hf-overrides.b x", {"a": 1, "b": "x"}),
        ("--hf-overrides.a.b 1 --hf-overrides.a.c true", {"a": {"b": 1, "c": True}}),
        ("--hf-overrides.a 1 --hf-overrides.a.c x", None),
        ("--hf-overrides.a $X --hf-overrides.b 1", None),
        ("--hf-overrides.a+ 1", None),
    ],
)
def test_an_object_by_its_text_or_by_its_keys(words: str, expected: object) -> None:
    assert given_object(config(f"vllm serve m {words}", "0.33.0"), "hf-overrides") == expected
