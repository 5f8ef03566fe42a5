"""Objects of platforms that put a container together from several objects."""

from __future__ import annotations

import pytest

from servelint.engines.config import configs
from servelint.engines.registry import ENGINES
from tests.launching import argv, environment, launch_in, launches_in, release

GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: g}
spec:
  services:
    Frontend:
      extraPodSpec: {mainContainer: {image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.1"}}
    Worker:
      envs: [{name: VLLM_LOGGING_LEVEL, value: DEBUG}]
      resources: {limits: {gpu: "2"}}
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/RUNTIME:0.8.1
          command: [python3, -m, MODULE]
          args: ARGS
"""


def graph(runtime: str, module: str, args: str) -> str:
    return GRAPH.replace("RUNTIME", runtime).replace("MODULE", module).replace("ARGS", args)


class TestDynamo:
    @pytest.mark.parametrize(
        ("runtime", "module", "engine", "found"),
        [
            ("vllm-runtime", "dynamo.vllm", "vllm", "0.12.0"),
            ("sglang-runtime", "dynamo.sglang", "sglang", "0.5.6.post2"),
            ("sglang-runtime", "dynamo.sglang.decode_worker", "sglang", "0.5.6.post2"),
            ("tensorrtllm-runtime", "dynamo.trtllm", "trtllm", "1.2.0rc6.post1"),
        ],
    )
    def test_a_worker(self, runtime: str, module: str, engine: str, found: str) -> None:
        launch = launch_in(graph(runtime, module, "[--model-path, m]"), "graph.yaml")
        assert (launch.engine, launch.launcher, release(launch)) == (engine, "dynamo", (found, "image"))
        assert launch.name == "DynamoGraphDeployment/g.services.Worker.mainContainer"
        assert environment(launch) == {"VLLM_LOGGING_LEVEL": "DEBUG"}
        assert launch.container is not None
        assert (launch.container.gpus, launch.container.reserved) == (2, True)

    def test_options_of_its_own_and_those_of_no_one(self) -> None:
        words = "[--model, Qwen/Qwen3-8B, --is-decode-worker, --connector, nixl, --new-thing, x, --max-model-len, '5']"
        (config,) = configs(launch_in(graph("vllm-runtime", "dynamo.vllm", words), "graph.yaml"), ["0.12.0"])
        assert config.operand("model").value == "Qwen/Qwen3-8B"
        assert config.operand("max-model-len").value == 5
        assert config.operand("served-model-name").present is None
        assert config.reading.arguments.faults == []

    def test_a_value_that_is_missing(self) -> None:
        words = "[--model, Qwen/Qwen3-8B, --max-model-len]"
        (config,) = configs(launch_in(graph("vllm-runtime", "dynamo.vllm", words), "graph.yaml"), ["0.12.0"])
        assert [fault.kind for fault in config.reading.arguments.faults] == ["missing-value"]

    def test_components_with_pod_templates(self) -> None:
        container = (
            "{name: main, image: 'nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.0.0', command: [python3, -m, dynamo.sglang]}"
        )
        text = (
            "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nmetadata: {name: g}\n"
            f"spec: {{components: [{{name: decode, podTemplate: {{spec: {{containers: [{container}]}}}}}}]}}\n"
        )
        launch = launch_in(text, "graph.yaml")
        assert (launch.engine, release(launch)) == ("sglang", ("0.5.9", "image"))

    @pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
    def test_no_option_is_its_own_and_another(self, engine: str) -> None:
        for launcher in ENGINES[engine].launchers.values():
            assert launcher.source.startswith("https://")
            assert not launcher.own & launcher.same.keys()


RUNTIME = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {name: vllm}
spec:
  command: [python3, -m, vllm.entrypoints.openai.api_server]
  image: vllm/vllm-openai
  version: v0.7.3
  envs: [{name: HF_HOME, value: /tmp}]
  recommendedConfigs:
    - name: default
      args: [--model, "{{ .ModelPath }}", --port, "8080"]
    - name: speculative-decoding
      args: [--model, "{{ .ModelPath }}", --num_speculative_tokens, "5"]
"""
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: opt}
spec: {source: {modelHub: {modelID: facebook/opt-125m}}}
---
"""


def playground(spec: str) -> str:
    return f"{MODEL}apiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\nmetadata: {{name: p}}\nspec: {{{spec}}}\n"


class TestLlmaz:
    def test_each_configuration_of_a_runtime(self) -> None:
        found = launches_in(RUNTIME, "runtime.yaml")
        assert [launch.name for launch in found] == ["BackendRuntime/vllm.default", "BackendRuntime/vllm.speculative-decoding"]
        assert argv(found[0])[:4] == ["--model", "{{ .ModelPath }}", "--port", "8080"]
        assert [release(launch) for launch in found] == [("0.7.3", "image")] * 2
        assert environment(found[0]) == {"HF_HOME": "/tmp"}
        assert not found[0].argv[1].text.known

    @pytest.mark.parametrize(
        ("spec", "engine", "words"),
        [
            ("modelClaim: {modelName: opt}", "vllm", ["--model", "facebook/opt-125m", ""]),
            ("modelClaims: {models: [{name: opt, role: main}]}", "vllm", ["--model", "facebook/opt-125m", ""]),
            (
                "modelClaim: {modelName: opt}, backendRuntimeConfig: {backendName: sglang, args: [--tp, '2']}",
                "sglang",
                ["--model-path", "facebook/opt-125m", "", "--tp", "2"],
            ),
            ("modelClaim: {modelName: opt}, backendRuntimeConfig: {backendName: llamacpp}", "llama.cpp", [""]),
            ("modelClaim: {modelName: other}", "vllm", [""]),
        ],
    )
    def test_a_playground(self, spec: str, engine: str, words: list[str]) -> None:
        launch = launch_in(playground(spec), "playground.yaml")
        assert (launch.engine, argv(launch)) == (engine, words)

    def test_the_release_that_a_playground_asks_for(self) -> None:
        spec = "modelClaim: {modelName: opt}, backendRuntimeConfig: {version: v0.8.5}"
        assert release(launch_in(playground(spec), "playground.yaml")) == ("0.8.5", "image")

    @pytest.mark.parametrize(
        "spec", ["modelClaim: {modelName: opt}, backendRuntimeConfig: {backendName: ollama}", "replicas: 1"]
    )
    def test_what_starts_no_known_engine(self, spec: str) -> None:
        assert launches_in(playground(spec), "playground.yaml") == []


def test_a_model_service_of_llm_d() -> None:
    decode = "containers: [{name: vllm, args: [--max-model-len, '5']}, {name: proxy, args: [--port, '1']}]"
    prefill = "containers: [{name: vllm, image: 'ghcr.io/llm-d/llm-d:v0.2.0', args: [--model, m]}]"
    found = launches_in(
        "apiVersion: llm-d.ai/v1alpha1\nkind: ModelService\nmetadata: {name: m}\n"
        f"spec: {{baseConfigMapRef: {{name: b}}, decode: {{{decode}}}, prefill: {{{prefill}}}}}\n",
        "service.yaml",
    )
    assert [launch.name for launch in found] == [
        "ModelService/m.decode.containers.vllm",
        "ModelService/m.prefill.containers.vllm",
    ]
    assert argv(found[0]) == ["", "--max-model-len", "5"]
    assert argv(found[1]) == ["--model", "m", ""]


def test_a_model_claim_of_aibrix() -> None:
    launch = launch_in(
        "apiVersion: model.aibrix.ai/v1alpha1\nkind: ModelClaim\nmetadata: {name: q}\n"
        "spec: {engine: vllm, artifactURL: 'huggingface://Qwen/Qwen3-8B', engineConfig: {args: {--max-model-len: '5'}}}\n",
        "claim.yaml",
    )
    assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--max-model-len", "5", ""]


RUNNER = """\
apiVersion: ome.io/v1beta1
kind: KIND
metadata: {name: r}
spec:
  PART:
    runner:
      image: lmsysorg/sglang:v0.5.5
      command: [python3, -m, sglang.launch_server, --model-path, $(MODEL_PATH)]
"""


class TestOme:
    @pytest.mark.parametrize("kind", ["ClusterServingRuntime", "ServingRuntime", "InferenceService"])
    @pytest.mark.parametrize("part", ["engineConfig", "decoderConfig", "engine"])
    def test_a_runner_runs_the_engine(self, kind: str, part: str) -> None:
        launch = launch_in(RUNNER.replace("KIND", kind).replace("PART", part), "r.yaml")
        assert (launch.engine, release(launch)) == ("sglang", ("0.5.5", "image"))
        assert argv(launch)[:2] == ["--model-path", "$(MODEL_PATH)"]

    def test_leaders_and_workers_do(self) -> None:
        text = RUNNER.replace("KIND", "ServingRuntime").replace("  PART:\n", "  engineConfig:\n   leader:\n")
        assert launch_in(text, "r.yaml").engine == "sglang"

    @pytest.mark.parametrize("part", ["routerConfig", "router"])
    def test_a_router_does_not(self, part: str) -> None:
        assert launches_in(RUNNER.replace("KIND", "ServingRuntime").replace("PART", part), "r.yaml") == []


BOOSTER = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {name: b}
spec:
  backend:
    type: TYPE
    modelURI: hf://org/m
    env: [{name: HF_HUB_OFFLINE, value: "1"}]
    workers:
      - type: server
        image: vllm/vllm-openai:v0.11.0
        config: {max-model-len: 2048, enforce-eager: "", served-model-name: s}
"""


class TestKthena:
    def test_the_options_of_a_worker(self) -> None:
        launch = launch_in(BOOSTER.replace("TYPE", "vLLM"), "b.yaml")
        assert (launch.engine, release(launch)) == ("vllm", ("0.11.0", "image"))
        words = [word for word in argv(launch) if word]
        assert words[:2] == ["--model", "org/m"]
        assert words[-5:] == ["--max-model-len", "2048", "--enforce-eager", "--served-model-name", "s"]
        assert environment(launch)["HF_HUB_OFFLINE"] == "1"

    def test_workers_of_a_divided_engine(self) -> None:
        text = BOOSTER.replace("TYPE", "vLLMDisaggregated") + "      - type: decode\n        config: {max-num-seqs: 4}\n"
        assert [launch.engine for launch in launches_in(text, "b.yaml")] == ["vllm", "vllm"]

    def test_several_backends(self) -> None:
        text = BOOSTER.replace("TYPE", "SGLang").replace("  backend:\n    type", "  backends:\n  - type")
        assert [launch.engine for launch in launches_in(text, "b.yaml")] == ["sglang"]

    def test_another_type_is_no_engine_known_here(self) -> None:
        assert launches_in(BOOSTER.replace("TYPE", "MindIE"), "b.yaml") == []


SERVICE = """\
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: s}
spec:
  modelRef: m
"""


class TestLLMKube:
    def test_llama_cpp_without_a_runtime(self) -> None:
        text = SERVICE + (
            "  image: ghcr.io/ggml-org/llama.cpp:server-cuda-b5000\n  contextSize: 4096\n"
            "  jinja: true\n  flashAttention: true\n"
            "  noWarmup: false\n  extraArgs: [--alias, a]\n"
        )
        launch = launch_in(text, "service.yaml")
        assert launch.engine == "llama.cpp"
        assert argv(launch)[1:] == ["--ctx-size", "4096", "--flash-attn", "on", "--jinja", "--alias", "a"]
        assert release(launch) == ("b5000", "image")

    def test_vllm(self) -> None:
        text = SERVICE + "  runtime: vllm\n  vllmConfig: {maxModelLen: 8192, enablePrefixCaching: true}\n"
        launch = launch_in(text, "service.yaml")
        assert launch.engine == "vllm"
        assert argv(launch)[1:] == ["--max-model-len", "8192", "--enable-prefix-caching"]

    def test_sglang(self) -> None:
        launch = launch_in(SERVICE + "  runtime: sglang\n  sglangConfig: {tensorParallelSize: 2}\n", "service.yaml")
        assert (launch.engine, argv(launch)[1:]) == ("sglang", ["--tp", "2"])

    @pytest.mark.parametrize(
        ("runtime", "given", "words"),
        [
            (
                "sglang",
                "{contextLength: 8192, memFractionStatic: 0.8}",
                ["--context-length", "8192", "--mem-fraction-static", "0.8"],
            ),
            ("sglang", "{enablePrefixCaching: true}", ["--enable-prefix-caching"]),
            ("sglang", "{trustRemoteCode: false, dataParallelSize: 2}", ["--dp", "2"]),
            ("tgi", "{quantize: awq, maxTotalTokens: 4096}", ["--quantize", "awq", "--max-total-tokens", "4096"]),
            (
                "vllm",
                "{kvCacheDtype: fp8, kvCacheCustomDtype: turbo2}",
                ["--kv-cache-dtype", "fp8", "--kv-cache-dtype", "turbo2"],
            ),
        ],
    )
    def test_options_of_a_runtime(self, runtime: str, given: str, words: list[str]) -> None:
        launch = launch_in(SERVICE + f"  runtime: {runtime}\n  {runtime}Config: {given}\n", "service.yaml")
        assert (launch.engine, argv(launch)[1:]) == (runtime, words)

    @pytest.mark.parametrize("command", ["[llama-server]", "[/app/llama-server]", "[./build/bin/llama-server]"])
    def test_a_program_of_its_own_takes_the_same_options(self, command: str) -> None:
        text = SERVICE + f"  image: a/toolbox:rocm\n  command: {command}\n  contextSize: 4096\n  extraArgs: [--rerank]\n"
        launch = launch_in(text, "service.yaml")
        assert (launch.engine, argv(launch)[1:]) == ("llama.cpp", ["--ctx-size", "4096", "--rerank"])

    def test_a_container_of_its_own(self) -> None:
        text = SERVICE + "  runtime: generic\n  image: a/b\n  command: [vllm, serve]\n  args: [m, --port, '8000']\n"
        assert argv(launch_in(text, "service.yaml")) == ["m", "--port", "8000"]

    def test_a_runtime_that_is_not_known(self) -> None:
        assert launches_in(SERVICE + "  runtime: personaplex\n", "service.yaml") == []

    def test_envs_of_a_whole_graph_reach_its_services(self) -> None:
        text = GRAPH.replace("spec:\n", "spec:\n  envs: [{name: GLOO_SOCKET_IFNAME, value: eth0}]\n", 1)
        text = text.replace("RUNTIME", "vllm-runtime").replace("MODULE", "dynamo.vllm").replace("ARGS", "[--model, m]")
        found = environment(launch_in(text, "graph.yaml"))
        assert found["GLOO_SOCKET_IFNAME"] == "eth0"
        assert found["VLLM_LOGGING_LEVEL"] == "DEBUG"


class TestAnOperatorThatIsNotKnown:
    """An object that names an engine and its options is a launch, whatever its operator is called."""

    @staticmethod
    def object_of(spec: str, kind: str = "Service") -> str:
        return f"apiVersion: example.org/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"

    @pytest.mark.parametrize(
        ("spec", "engine", "words"),
        [
            (
                "engine: {name: vllm, args: [--max-model-len=8192, --enforce-eager]}",
                "vllm",
                ["--max-model-len=8192", "--enforce-eager"],
            ),
            (
                "engine: {type: vllm, args: {max-model-len: '8192', enforce-eager: 'true'}}",
                "vllm",
                ["--max-model-len", "8192", "--enforce-eager"],
            ),
            ("runtime: {name: SGLang, extraArgs: [--tp, '2']}", "sglang", ["--tp", "2"]),
            ("backend: {kind: llamacpp, engineArgs: [-c, '8']}", "llama.cpp", ["-c", "8"]),
        ],
    )
    def test_options(self, spec: str, engine: str, words: list[str]) -> None:
        launch = launch_in(self.object_of(spec), "a.yaml")
        assert (launch.engine, argv(launch)[1:]) == (engine, words)
        assert launch.argv[0].many
        assert launch.open_env

    @pytest.mark.parametrize("kind", ["ModelDeployment", "LLMInferenceService"])
    def test_a_model_without_options(self, kind: str) -> None:
        text = self.object_of("model: {id: Qwen/Qwen3-0.6B}, engine: {type: vllm}, image: 'vllm/vllm-openai:v0.9.1'", kind)
        assert release(launch_in(text, "a.yaml")) == ("0.9.1", "image")

    @pytest.mark.parametrize(
        "spec",
        [
            "engine: {name: vllm}",
            "engine: {name: vllm, args: []}",
            "engine: {type: vllm, args: {}}",
            "engine: {name: vllm, args: [bench, serve]}",
            "engine: {name: triton, args: [--max-model-len=8]}",
            "engine: vllm",
            "provider: {name: vllm, args: [--max-model-len=8]}",
        ],
    )
    def test_what_is_none(self, spec: str) -> None:
        assert launches_in(self.object_of(spec), "a.yaml") == []


@pytest.mark.parametrize("arguments", ["{}", "[]"])
def test_an_engine_without_arguments(arguments: str) -> None:
    spec = f"spec:\n  model: {{id: m}}\n  engine:\n    type: vllm\n    args: {arguments}\n"
    text = "apiVersion: a.example/v1\nkind: ModelDeployment\nmetadata: {name: a}\n" + spec
    assert len(launches_in(text, "model.yaml")) == 1
