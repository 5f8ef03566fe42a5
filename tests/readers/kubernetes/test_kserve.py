"""KServe's objects: runtimes, models that use them, and LLMInferenceService."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release

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
        "model", ["modelFormat: {name: sklearn}, storageUri: 's3://vllm'", "modelFormat: {name: huggingface}, args: [--vllm]"]
    )
    def test_another_runtime(self, model: str) -> None:
        assert launches_in(service(model), "service.yaml") == []

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
