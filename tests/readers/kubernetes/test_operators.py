"""Objects of operators: KubeAI, KServe, Ray, the vLLM production stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.engines.config import configs
from servelint.files.siblings import Neighbours
from servelint.readers import mentions_engine, read
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release
from tests.together import together


def model(spec: str) -> str:
    lines = [f"  {line}" for line in spec.strip().splitlines()]
    return "\n".join(["apiVersion: kubeai.org/v1", "kind: Model", "metadata: {name: chat}", "spec:", *lines, ""])


def launch_of(spec: str) -> Launch:
    return launch_in(model(spec), "model.yaml")


def test_flags_as_given_behind_the_operators_own() -> None:
    launch, marks = marked_launch(
        model(
            "engine: VLLM\nurl: hf://⟦Qwen/Qwen3-8B⟧\nargs:\n  - ⟦--max-model-len=4096⟧\n"
            "env: {VLLM_USE_V1: '1'}\nresourceProfile: nvidia-gpu-l4:2"
        ),
        "model.yaml",
    )
    assert argv(launch) == ["--model=Qwen/Qwen3-8B", "--served-model-name=chat", "--max-model-len=4096"]
    assert [launch.argv[0].text.span(8), launch.argv[2].text.span()] == marks
    assert environment(launch) == {"VLLM_USE_V1": "1"}
    assert launch.name == "Model/chat"
    assert release(launch) == (None, None)
    assert launch.container is not None
    assert (launch.container.gpus, launch.container.reserved) == (2, True)
    assert launch.container.settings["gpu_product"].value == "nvidia-gpu-l4"


def test_an_image_of_its_own() -> None:
    assert release(launch_of("engine: VLLM\nurl: hf://a/b\nimage: vllm/vllm-openai:v0.20.0")) == ("0.20.0", "image")


@pytest.mark.parametrize("source", ["url: s3://bucket/m", "url: pvc://claim/m", "url: hf://a/b\ncacheProfile: fast"])
def test_a_model_that_lies_in_the_cluster(source: str) -> None:
    launch = launch_of(f"engine: VLLM\n{source}")
    assert launch.argv[0].value is None


def test_a_profile_without_a_known_gpu() -> None:
    launch = launch_of("engine: VLLM\nurl: hf://a/b\nresourceProfile: cpu:4")
    assert launch.container is not None
    assert (launch.container.gpus, launch.container.reserved, launch.container.settings) == (None, None, {})


def test_ollama_with_the_variables_of_the_object() -> None:
    launch = launch_of("engine: OLlama\nurl: ollama://gemma3:12b\nenv: {OLLAMA_CONTEXT_LENGTH: '32768'}")
    assert (launch.engine, argv(launch), environment(launch)) == ("ollama", [], {"OLLAMA_CONTEXT_LENGTH": "32768"})


@pytest.mark.parametrize("spec", ["engine: Infinity\nurl: hf://vllm/x", "engine: VLLM", "url: hf://vllm/x"])
def test_what_is_no_launch(spec: str) -> None:
    assert launches_in(model(spec), "model.yaml") == []


def test_a_model_of_somebody_else() -> None:
    assert launches_in(model("engine: VLLM\nurl: hf://a/b").replace("kubeai.org", "example.org"), "model.yaml") == []


RUNTIME = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: fast}
spec:
  containers:
    - name: kserve-container
      image: vllm/vllm-openai:v0.20.0
      command: [python3, -m, vllm.entrypoints.openai.api_server]
      args: [--port=8080, --model=/mnt/models]
      env: [{name: HF_HOME, value: /tmp}]
"""


HUGGING_FACE = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: custom}
spec:
  containers:
    - {name: kserve-container, image: "kserve/huggingfaceserver:v0.15.2-gpu", args: [--model_name=x]}
"""


def service(model: str) -> str:
    return (
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: chat}\n"
        f"spec: {{predictor: {{model: {{{model}}}}}}}\n"
    )


class TestRuntime:
    def test_alone_it_takes_more_arguments(self) -> None:
        launch = launch_in(RUNTIME, "runtime.yaml")
        assert argv(launch) == ["--port=8080", "--model=/mnt/models", ""]
        assert launch.argv[-1].many
        assert launch.open_env

    def test_with_the_service_that_uses_it(self) -> None:
        launch, marks = marked_launch(
            RUNTIME
            + "---\n"
            + service(
                "runtime: fast, args: [⟦--max-model-len=4096⟧], env: [{name: A, value: $(HF_HOME)/a}],"
                " resources: {limits: {nvidia.com/gpu: 2}}"
            ),
            "all.yaml",
        )
        assert argv(launch) == ["--port=8080", "--model=/mnt/models", "--max-model-len=4096"]
        assert [launch.argv[2].site] == marks
        assert environment(launch) == {"HF_HOME": "/tmp", "A": "/tmp/a"}
        assert release(launch) == ("0.20.0", "image")
        assert launch.container is not None
        assert launch.container.gpus == 2
        assert launch.name == "InferenceService/chat.predictor.model"

    def test_a_service_of_another_runtime(self) -> None:
        found = launches_in(RUNTIME + "---\n" + service("runtime: other, args: [--a]"), "all.yaml")
        assert [launch.name for launch in found] == ["ServingRuntime/fast.containers.kserve-container"]


class TestStatedRelease:
    """Runtimes of Open Data Hub state the release of an image whose reference does not tell it."""

    @staticmethod
    def stated(image: str, said: str) -> str:
        annotations = f"{{name: fast, annotations: {{opendatahub.io/runtime-version: {said}}}}}"
        return RUNTIME.replace("vllm/vllm-openai:v0.20.0", image).replace("{name: fast}", annotations)

    @pytest.mark.parametrize(
        ("image", "said", "expected"),
        [
            ("registry.redhat.io/rhaiis/vllm-cuda-rhel9@sha256:00", "v0.11.2", "0.11.2"),
            ("registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.2.3", "'0.11.0'", "0.11.0"),
            ("quay.io/modh/vllm:rhoai-2.20-cuda", "v0.8.4", "0.8.4"),
            ("vllm/vllm-openai:v0.20.0", "v0.8.4", "0.20.0"),  # the tag is what runs
            ("vllm/vllm-openai:latest", "v0.8.4", None),  # it has moved since
            ("registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.2.4", "v3.2.4", None),  # the product's
            ("quay.io/modh/vllm:rhoai-2.25-cuda", "v0.10.1.1.6", None),  # a number of its own
            ("quay.io/modh/vllm:rhoai-2.25-cuda", "custom", None),
        ],
    )
    @pytest.mark.parametrize("used", ["", "---\n" + service("runtime: fast, modelFormat: {name: vLLM}")])
    def test_a_runtime(self, image: str, said: str, expected: str | None, used: str) -> None:
        launch = launch_in(self.stated(image, said) + used, "runtime.yaml")
        assert launch.release.release == expected

    def test_a_service_with_an_image_of_its_own(self) -> None:
        text = self.stated("quay.io/modh/vllm:a", "v0.8.4") + "---\n" + service("runtime: fast, image: quay.io/modh/vllm:b")
        assert launch_in(text, "all.yaml").release.release is None

    def test_a_runtime_of_another_file(self, tmp_path: Path) -> None:
        (tmp_path / "servingruntime.yaml").write_text(self.stated("quay.io/modh/vllm:a", "v0.8.4"))
        source = Source("service.yaml", service("runtime: fast, modelFormat: {name: vLLM}"))
        (launch,) = read(source, Neighbours(str(tmp_path))).launches
        assert launch.release.release == "0.8.4"


class TestModel:
    @pytest.mark.parametrize(
        ("model", "engine"),
        [
            ("modelFormat: {name: vLLM}, runtime: house", "vllm"),
            ("modelFormat: {name: huggingface}, runtime: kserve-vllm-cuda", "vllm"),
            ("modelFormat: {name: sglang}", "sglang"),
        ],
    )
    def test_a_runtime_that_stands_elsewhere(self, model: str, engine: str) -> None:
        launch = launch_in(service(f"{model}, args: [--max-model-len=4096]"), "service.yaml")
        assert launch.engine == engine
        assert argv(launch) == ["", "--max-model-len=4096"]
        assert launch.argv[0].many
        assert release(launch) == (None, None)

    @pytest.mark.parametrize(
        "model",
        [
            "modelFormat: {name: sklearn}, storageUri: 's3://vllm'",
            "modelFormat: {name: huggingface}, args: [--backend=huggingface]",
            "modelFormat: {name: huggingface}, args: [--backend, huggingface, --model_id, m/llama]",
            "modelFormat: {name: huggingface}, args: [--model_id=google-bert/bert-base-uncased]",
            "modelFormat: {name: huggingface}, args: [--model_id=m/x, --task=fill_mask]",
            "modelFormat: {name: huggingface}, args: [--model_id, google-t5/t5-small]",
        ],
    )
    def test_another_runtime(self, model: str) -> None:
        assert launches_in(service(model), "service.yaml") == []

    @pytest.mark.parametrize(
        "model",
        [
            "modelFormat: {name: huggingface}, args: [--model_name=a, --model_id=Qwen/Qwen3-8B]",
            "modelFormat: {name: huggingface}, args: [--backend=vllm, --max-model-len=4096]",
            "modelFormat: {name: huggingface}, storageUri: 'hf://Qwen/Qwen3-8B'",
            "modelFormat: {name: huggingface}, runtime: kserve-huggingfaceserver, args: [--task=text_generation]",
        ],
    )
    def test_the_runtime_of_hugging_face(self, model: str) -> None:
        launch = launch_in(service(model), "service.yaml")
        assert (launch.engine, launch.launcher) == ("vllm", "huggingfaceserver")

    def test_its_own_options_stand_beside_the_engines(self) -> None:
        words = "[--model_id=Qwen/Qwen3-8B, --task=text_generation, --max_length=77, --workers, '2', --tensor_input_names=a]"
        (launch,) = launches_in(service(f"modelFormat: {{name: huggingface}}, args: {words}"), "service.yaml")
        (config,) = configs(launch, ["0.19.1"])
        assert config.operand("model").value == "Qwen/Qwen3-8B"
        assert config.operand("max-model-len").value == 77
        assert config.operand("enforce-eager").present is None
        assert config.reading.arguments.faults == []

    @together(
        "model, word, ignored",
        [
            ("", "--gpu_memory_utilization=0.5", True),
            ("", "--max-model-length=5", True),
            ("", "--model-name=x", True),
            (", runtime: kserve-huggingfaceserver", "--served_model_name=x", True),
            ("", "--gpu-memory-utilization=0.5", False),
            ("", "--max_model_len=0", False),
            ("", "--max_mod=5", False),
            ("", "--max-num-seq=5", False),
            ("", "--event-loop=uvloop", False),
            (", runtime: our-own", "--gpu_memory_utilization=0.5", False),
        ],
    )
    def test_an_option_that_it_passes_over(self, model: str, word: str, ignored: bool) -> None:
        text = service(f"modelFormat: {{name: huggingface}}{model}, args: [--model_id=m/m, {word}]")
        (launch,) = launches_in(text, "service.yaml")
        (config,) = configs(launch, ["0.19.1"])
        assert [fault.kind for fault in config.reading.arguments.faults] == ["ignored-option"] * ignored
        assert (config.operand("gpu-memory-utilization").present is True) == (word[:6] == "--gpu-" or "our-own" in model)

    def test_a_runtime_in_a_file_beside_it(self, tmp_path: Path) -> None:
        (tmp_path / "custom.yaml").write_text(HUGGING_FACE, "utf-8")
        model = "modelFormat: {name: any}, runtime: custom, args: [--max-model-len=5], resources: {limits: {nvidia.com/gpu: 2}}"
        launch = launch_in(service(model), "service.yaml", tmp_path)
        assert argv(launch) == ["--model_name=x", "--max-model-len=5"]
        assert release(launch) == ("0.8.5", "image")
        assert launch.source.path == "service.yaml"
        assert launch.container is not None
        assert launch.container.gpus == 2

    def test_a_runtime_in_a_file_of_the_kustomization(self, tmp_path: Path) -> None:
        (tmp_path / "kustomization.yaml").write_text("resources: [service.yaml, mine.yaml]", "utf-8")
        (tmp_path / "mine.yaml").write_text(HUGGING_FACE, "utf-8")
        launch = launch_in(service("modelFormat: {name: any}, runtime: custom"), "service.yaml", tmp_path)
        assert argv(launch) == ["--model_name=x"]

    def test_a_runtime_alone_may_serve_without_the_engine(self) -> None:
        assert launches_in(HUGGING_FACE, "runtime.yaml") == []
        assert len(launches_in(HUGGING_FACE.replace("=x]", "=x, --backend=vllm]"), "runtime.yaml")) == 1

    def test_a_command_of_its_own(self) -> None:
        launch = launch_in(service("modelFormat: {name: any}, command: [vllm, serve], args: [m], image: house/llm"), "s.yaml")
        assert argv(launch) == ["m"]


LLM = """\
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {{name: chat}}
spec:
  model: {{uri: "hf://⟦Qwen/Qwen3-8B⟧", name: chat}}
  {more}
  router: {{scheduler: {{template: {{containers: [{{name: main, image: llm-d/router, args: [--vllm-port=1]}}]}}}}}}
"""


class TestLlm:
    def test_without_a_template_the_controllers_own_runs_the_engine(self) -> None:
        text = LLM.format(more="replicas: 2").replace("⟦", "").replace("⟧", "")
        launch = launch_in(text, "llm.yaml")
        assert (launch.engine, argv(launch)) == ("vllm", ["Qwen/Qwen3-8B", ""])
        assert launch.name == "LLMInferenceService/chat"
        assert launches_in(text.replace("replicas: 2", "baseRefs: [{name: other}]"), "llm.yaml") == []

    def test_what_the_controllers_template_is_given(self) -> None:
        launch, marks = marked_launch(
            LLM.format(
                more="template: {containers: [{name: main, env: [{name: VLLM_ADDITIONAL_ARGS, value: \"⟦--seed⟧ '⟦1⟧'\"}],"
                " args: [⟦--dtype=half⟧]}]}"
            ),
            "llm.yaml",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "", "--seed", "1", "--dtype=half"]
        assert [launch.argv[at].text.span() for at in (0, 2, 3, 4)] == marks
        assert launch.open_env

    def test_prefill_is_another_launch(self) -> None:
        text = LLM.format(
            more="template: {containers: [{name: main}]}\n  prefill: {template: {containers: [{name: main}, {name: x}]}}"
        )
        found = launches_in(text.replace("⟦", "").replace("⟧", ""), "llm.yaml")
        assert [launch.name for launch in found] == [
            "LLMInferenceService/chat.containers.main",
            "LLMInferenceService/chat.prefill.containers.main",
        ]

    def test_a_command_of_its_own(self) -> None:
        text = LLM.format(more="template: {containers: [{name: main, command: [vllm, serve, m]}]}")
        launch = launch_in(text.replace("⟦", "").replace("⟧", ""), "llm.yaml")
        assert argv(launch) == ["m", ""]

    @pytest.mark.parametrize(
        "more",
        [
            "baseRefs: [{name: house}]\n  template: {containers: [{name: main, args: [--a]}]} # vllm",
            "template: {containers: [{name: sidecar, args: [--vllm]}]}",
        ],
    )
    def test_what_may_be_another_engine(self, more: str) -> None:
        assert launches_in(LLM.format(more=more).replace("⟦", "").replace("⟧", ""), "llm.yaml") == []


CLUSTER = """\
  rayClusterConfig:
    headGroupSpec: {template: {spec: {containers: [{name: head, image: house/ray}]}}}
    workerGroupSpecs:
      - template:
          spec:
            containers:
              - name: worker
                image: vllm/vllm-openai:v0.20.0
                command: [ray, start]
                env: [{name: HF_HOME, value: /a}, {name: B, value: '1'}]
                resources: {limits: {nvidia.com/gpu: 4}}
"""


def ray_service(application: str, more: str = "") -> str:
    lines = [f"      {line}" for line in application.strip("\n").splitlines()]
    head = "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: llm}\nspec:\n  serveConfigV2: |\n    applications:\n"
    return head + "    - name: app\n" + "\n".join(lines) + "\n" + more


CONFIG = """\
import_path: ray.serve.llm:build_openai_app
args:
  llm_configs:
    - model_loading_config: {model_id: chat, model_source: ⟦Qwen/Qwen3-8B⟧}
      engine_kwargs:
        ⟦tensor_parallel_size⟧: ⟦4⟧
        enable_prefix_caching: ⟦true⟧
        enable_chunked_prefill: false
        quantization: null
        speculative_config: {method: ⟦mtp⟧, num_speculative_tokens: 2, ratio: .5, on: yes, none: null, of: [a, "b\\tc"]}
"""


def test_engine_kwargs_are_options() -> None:
    launch, marks = marked_launch(ray_service(CONFIG, CLUSTER), "service.yaml")
    assert argv(launch) == [
        "Qwen/Qwen3-8B",
        "--tensor-parallel-size",
        "4",
        "--enable-prefix-caching",
        "--no-enable-chunked-prefill",
        "--speculative-config",
        '{"method": "mtp", "num_speculative_tokens": 2, "ratio": 0.5, "on": true, "none": null, "of": ["a", "b\\tc"]}',
    ]
    words = launch.argv
    assert [words[0].text.span(), words[1].site, words[2].site, words[3].site] == marks[:4]
    at = words[6].text.flat.index("mtp")
    assert words[6].text.span(at, at + 3) == marks[4]
    assert launch.name == "RayService/llm.app"
    assert release(launch) == ("0.20.0", "image")
    assert launch.container is not None
    assert launch.container.gpus == 4
    assert lines(launch) == (11, 17)


def test_environment_of_worker_application_and_config() -> None:
    application = CONFIG + "runtime_env: {env_vars: {B: '2', C: c}}\n"
    text = application.replace("engine_kwargs", "runtime_env: {env_vars: {D: d}}\n      engine_kwargs")
    launch, _ = marked_launch(ray_service(text, CLUSTER), "service.yaml")
    assert environment(launch) == {"HF_HOME": "/a", "B": "2", "C": "c", "D": "d"}
    assert launch.open_env


def test_several_groups_of_workers_say_nothing_of_the_image() -> None:
    group = CLUSTER[CLUSTER.index("      - template") :]
    launch, _ = marked_launch(ray_service(CONFIG, CLUSTER + group), "service.yaml")
    assert release(launch) == (None, None)
    assert environment(launch) == {}


@pytest.mark.parametrize(
    "application",
    [
        "import_path: serve:app\nruntime_env: {env_vars: {MODEL: vllm}}",
        "args: {llm_configs: [{model_loading_config: {model_id: m}, llm_engine: SGLang}]} # vllm",
        "args: {llm_configs: [./vllm.yaml]}",
    ],
)
def test_applications_that_say_nothing_of_vllm(application: str) -> None:
    assert launches_in(ray_service(application), "service.yaml") == []


def test_only_a_model() -> None:
    launch = launch_in(ray_service("args: {llm_config: {model_loading_config: {model_id: m}}} # vllm"), "service.yaml")
    assert argv(launch) == ["m"]


def test_a_configuration_of_ray_serve_by_itself() -> None:
    config = "{llm_configs: [{model_loading_config: {model_id: m}}]}"
    text = f"applications:\n- import_path: ray.serve.llm:build_openai_app\n  args: {config}\n"
    assert argv(launch_in(text, "serve.yaml")) == ["m"]
    assert launches_in(text.replace("applications", "apps"), "serve.yaml") == []


@pytest.mark.parametrize(
    "text",
    [
        "model_loading_config: {model_id: m}\naccelerator_type: A10G\nengine_kwargs: {max_model_len: 5}\n",
        "llm_configs:\n- model_loading_config: {model_id: m}\n  accelerator_type: A10G\n  engine_kwargs: {max_model_len: 5}\n",
        "prefill_config: {model_loading_config: {model_id: m}, accelerator_type: A10G, engine_kwargs: {max_model_len: 5}}\n",
    ],
)
def test_a_config_of_ray_serve_llm_without_applications(text: str) -> None:
    launch = launch_in(text, "model.yaml")
    assert argv(launch) == ["m", "--max-model-len", "5"]
    assert launch.container is not None
    assert launch.container.settings["gpu_product"].value == "A10G"


class TestJob:
    def test_entry_point(self) -> None:
        launch = launch_in(
            "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: j}\nspec:\n  entrypoint: vllm serve m --port 80\n",
            "job.yaml",
        )
        assert argv(launch) == ["m", "--port", "80"]
        assert launch.name == "RayJob/j.entrypoint"

    def test_another_program(self) -> None:
        text = "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: j}\nspec:\n  entrypoint: python vllm_batch.py\n"
        assert launches_in(text, "job.yaml") == []


def test_containers_of_the_cluster() -> None:
    more = CLUSTER.replace("[ray, start]", "[bash, -c, 'ray start --head; vllm serve m']")
    launch = launch_in(ray_service("import_path: serve:app", more), "service.yaml")
    assert argv(launch) == ["m"]


VLLM_RUNTIME = """
    apiVersion: production-stack.vllm.ai/v1alpha1
    kind: VLLMRuntime
    metadata: {name: chat}
    spec:
      model:
        {modelURL: ⟦Qwen/Qwen3-8B⟧, enableLoRA: true, enableTool: false, toolCallParser: "", maxModelLen: ⟦4096⟧, dtype: half}
      vllmConfig:
        port: 8000
        enablePrefixCaching: ⟦true⟧
        tensorParallelSize: 0
        v1: true
        extraArgs: [⟦--seed⟧, '1']
        env: [{name: HF_HOME, value: /data}]
      deploymentConfig:
        resources: {gpu: "2"}
        image: {registry: docker.io, name: "vllm/vllm-openai:v0.20.0"}
"""


def test_fields_are_flags() -> None:
    launch, marks = marked_launch(VLLM_RUNTIME, "runtime.yaml")
    assert argv(launch) == [
        "Qwen/Qwen3-8B",
        "--port",
        "8000",
        "--enable-lora",
        "--no-enable-chunked-prefill",
        "--enable-prefix-caching",
        "--max-model-len",
        "4096",
        "--dtype",
        "half",
        "--seed",
        "1",
        "",
    ]
    words = launch.argv
    assert [words[0].site, words[7].site, words[5].site, words[10].site] == marks
    assert environment(launch) == {"VLLM_USE_V1": "1", "HF_HOME": "/data"}
    assert release(launch) == ("0.20.0", "image")
    assert launch.container is not None
    assert (launch.container.gpus, launch.container.reserved) == (2, True)
    assert launch.name == "VLLMRuntime/chat"


def test_without_a_model() -> None:
    assert launches_in(VLLM_RUNTIME.replace("⟦", "").replace("⟧", "").replace("modelURL", "name"), "runtime.yaml") == []


def test_a_kind_of_somebody_else() -> None:
    text = VLLM_RUNTIME.replace("⟦", "").replace("⟧", "").replace("production-stack.vllm.ai", "example.com")
    assert launches_in(text, "runtime.yaml") == []


def test_the_service_s_name_in_the_words_of_its_runtime() -> None:
    text = """
        apiVersion: serving.kserve.io/v1alpha1
        kind: ServingRuntime
        metadata: {name: vllm-runtime}
        spec:
          containers:
            - name: kserve-container
              image: vllm/vllm-openai:v0.9.0
              args: ["--model=/mnt/models", "--served-model-name={{.Name}}", "--port", "{{ .Name }}"]
        ---
        apiVersion: serving.kserve.io/v1beta1
        kind: InferenceService
        metadata: {name: chat}
        spec:
          predictor: {model: {modelFormat: {name: vLLM}, runtime: vllm-runtime}}
        """
    launch = launch_in(text, "service.yaml")
    assert argv(launch) == ["--model=/mnt/models", "--served-model-name=chat", "--port", "chat"]


def test_what_envsubst_fills_in_for_ray_serve() -> None:
    text = CONFIG.replace("⟦Qwen/Qwen3-8B⟧", '"${MODEL}"').replace("⟦4⟧", "${TP}").replace("⟦", "").replace("⟧", "")
    launch = launch_in(ray_service(text), "service.yaml")
    assert argv(launch)[0] == "${MODEL}"
    assert not launch.argv[0].text.known
    assert not launch.argv[2].text.known


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        ("pip: [vllm==0.11.0]", ("0.11.0", "pip")),
        ("pip: ['vllm[runai]==0.11.0', requests]", ("0.11.0", "pip")),
        ("pip: {packages: [vllm==0.11.0], pip_check: false}", ("0.11.0", "pip")),
        ("uv: [vllm==0.11.0]", ("0.11.0", "pip")),
        ("pip: [vllm]", (None, None)),
        ("pip: ./requirements.txt", (None, None)),
    ],
)
def test_what_the_environment_of_ray_serve_installs(installed: str, expected: tuple[str | None, str | None]) -> None:
    text = f"""
        applications:
        - name: a
          import_path: ray.serve.llm:build_openai_app
          runtime_env: {{{installed}}}
          args:
            llm_configs:
            - model_loading_config: {{model_id: q, model_source: Q/q}}
        """
    assert release(launch_in(text, "serve.yaml")) == expected


def test_a_runtime_in_a_template_of_openshift_is_given_more_by_its_services() -> None:
    text = """
        apiVersion: template.openshift.io/v1
        kind: Template
        metadata: {name: t}
        objects:
        - apiVersion: serving.kserve.io/v1alpha1
          kind: ServingRuntime
          metadata: {name: r}
          spec:
            containers:
            - name: kserve-container
              image: vllm/vllm-openai:v0.9.0
              command: [python, -m, vllm.entrypoints.openai.api_server]
              args: [--port=8080, --model=/mnt/models]
        """
    found = launch_in(text, "template.yaml")
    assert argv(found)[:2] == ["--port=8080", "--model=/mnt/models"]
    assert found.container is not None
    assert found.container.reserved is None


KAITO = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: params}
data:
  inference_config.yaml: |
    max_probe_steps: 6
    vllm:
      gpu-memory-utilization: 0.95
      swap-space: 4
      enable-chunked-prefill: true
      enable-prefix-caching: false
"""


def test_the_options_that_kaito_takes_from_a_config_map() -> None:
    launch = launch_in(KAITO, "params.yaml")
    assert (launch.engine, launch.name) == ("vllm", "ConfigMap/params.inference_config.yaml")
    assert argv(launch)[:5] == ["--gpu-memory-utilization", "0.95", "--swap-space", "4", "--enable-chunked-prefill"]
    assert launch.argv[-1].many
    span = launch.argv[3].text.span()
    assert span is not None
    assert span.source.text[span.start - 12 : span.end] == "swap-space: 4"
    assert configs(launch, ["0.12.0"])[0].operand("max-num-seqs").present is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("inference_config.yaml", "other.yaml"),
        ("kind: ConfigMap", "kind: Secret"),
        ("    vllm:", "    transformers:"),
        ("swap-space: 4", "{swap"),
    ],
)
def test_other_config_maps_are_not_kaitos(old: str, new: str) -> None:
    assert launches_in(KAITO.replace(old, new), "params.yaml") == []


def test_runtimes_of_one_name_in_several_namespaces() -> None:
    def objects(namespace: str, length: int) -> str:
        return f"""\
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {{name: vllm, namespace: {namespace}}}
spec:
  containers:
  - {{name: kserve-container, image: 'vllm/vllm-openai:v0.20.0', args: [--model, /mnt/models, --max-model-len, '{length}']}}
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {{name: m, namespace: {namespace}}}
spec:
  predictor:
    model: {{modelFormat: {{name: vLLM}}, runtime: vllm}}
"""

    found = launches_in(objects("a", 1024) + "---\n" + objects("b", 2048), "isvc.yaml")
    assert [argv(one)[-1] for one in found] == ["1024", "2048"]
    assert all((one.name or "").startswith("InferenceService/m") for one in found)


class TestARuntimeAndItsServiceApart:
    """A runtime and the InferenceService that uses it, in two files: one launch."""

    VLLM = HUGGING_FACE.replace("kserve/huggingfaceserver:v0.15.2-gpu", "vllm/vllm-openai:v0.9.1")
    SERVICE = service("modelFormat: {name: any}, runtime: custom, args: [--max-model-len=4096]")

    def names(self, folder: Path, *files: str) -> list[str]:
        found = [launch for file in files for launch in launches_in((folder / file).read_text("utf-8"), file, folder)]
        return [launch.name.partition("/")[0] for launch in found]

    @pytest.mark.parametrize(
        ("runtime", "used_by"),
        [
            ("servingruntime.yaml", "inferenceservice.yaml"),
            ("runtime.yaml", "isvc.yaml"),
            ("custom.yaml", "service.yaml"),
            ("vllm-runtime.yaml", "inference-service.yaml"),
        ],
    )
    def test_names_that_go_together(self, tmp_path: Path, runtime: str, used_by: str) -> None:
        (tmp_path / runtime).write_text(self.VLLM, "utf-8")
        (tmp_path / used_by).write_text(self.SERVICE, "utf-8")
        assert self.names(tmp_path, runtime, used_by) == ["InferenceService"]

    def test_files_of_a_kustomization(self, tmp_path: Path) -> None:
        (tmp_path / "kustomization.yaml").write_text("resources: [a.yaml, b.yaml]", "utf-8")
        (tmp_path / "a.yaml").write_text(self.VLLM, "utf-8")
        (tmp_path / "b.yaml").write_text(self.SERVICE, "utf-8")
        assert self.names(tmp_path, "a.yaml", "b.yaml") == ["InferenceService"]

    def test_templates_of_a_chart(self, tmp_path: Path) -> None:
        folder = tmp_path / "templates"
        folder.mkdir()
        (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n", "utf-8")
        (tmp_path / "values.yaml").write_text("runtime: custom\n", "utf-8")
        named = "'{{ .Values.runtime }}'"
        (folder / "servingruntime.yaml").write_text(
            self.VLLM.replace("metadata: {name: custom}", f"metadata:\n  name: {named}"), "utf-8"
        )
        (folder / "inferenceservice.yaml").write_text(
            "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: chat}\nspec:\n  predictor:\n"
            f"    model:\n      modelFormat: {{name: any}}\n      runtime: {named}\n"
            "      args: [--max-model-len=4096]\n",
            "utf-8",
        )
        found: list[str] = []
        for name in ("servingruntime.yaml", "inferenceservice.yaml"):
            source = Source(f"templates/{name}", (folder / name).read_text("utf-8"))
            launches = read(source, Neighbours(str(folder), "templates")).launches
            found += [launch.name.partition("/")[0] for launch in launches]
        assert found == ["InferenceService"]

    @pytest.mark.parametrize(
        ("runtime", "used_by", "changed"),
        [
            ("servingruntime.yaml", "inferenceservice.yaml", ("runtime: custom", "runtime: other")),
            ("mine.yaml", "inferenceservice.yaml", ("", "")),
            ("servingruntime.yaml", "theirs.yaml", ("", "")),
        ],
    )
    def test_a_runtime_that_no_service_is_read_with(
        self, tmp_path: Path, runtime: str, used_by: str, changed: tuple[str, str]
    ) -> None:
        (tmp_path / runtime).write_text(self.VLLM, "utf-8")
        (tmp_path / used_by).write_text(self.SERVICE.replace(*changed), "utf-8")
        assert "ClusterServingRuntime" in self.names(tmp_path, runtime, used_by)

    def test_a_service_that_names_no_engine_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "servingruntime.yaml").write_text(self.VLLM, "utf-8")
        (tmp_path / "inferenceservice.yaml").write_text(service("modelFormat: {name: any}, runtime: custom"), "utf-8")
        files = sorted(path.name for path in tmp_path.iterdir() if mentions_engine(path.read_bytes()))
        assert files == ["inferenceservice.yaml", "servingruntime.yaml"]
        assert len(self.names(tmp_path, *files)) == 1
