"""VLLMRuntime: fields as the flags that the operator of the vLLM production stack makes of them."""

from __future__ import annotations

from tests.launching import argv, environment, launches_in, marked_launch, release

RUNTIME = """
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
    launch, marks = marked_launch(RUNTIME, "runtime.yaml")
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
    assert launches_in(RUNTIME.replace("⟦", "").replace("⟧", "").replace("modelURL", "name"), "runtime.yaml") == []


def test_a_kind_of_somebody_else() -> None:
    text = RUNTIME.replace("⟦", "").replace("⟧", "").replace("production-stack.vllm.ai", "example.com")
    assert launches_in(text, "runtime.yaml") == []
