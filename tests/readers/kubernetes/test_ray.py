"""Ray: `LLMConfig`s as the options that vLLM is given, and the commands of jobs."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release

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


def service(application: str, more: str = "") -> str:
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
    launch, marks = marked_launch(service(CONFIG, CLUSTER), "service.yaml")
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
    launch, _ = marked_launch(service(text, CLUSTER), "service.yaml")
    assert environment(launch) == {"HF_HOME": "/a", "B": "2", "C": "c", "D": "d"}
    assert launch.open_env


def test_several_groups_of_workers_say_nothing_of_the_image() -> None:
    group = CLUSTER[CLUSTER.index("      - template") :]
    launch, _ = marked_launch(service(CONFIG, CLUSTER + group), "service.yaml")
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
    assert launches_in(service(application), "service.yaml") == []


def test_only_a_model() -> None:
    launch = launch_in(service("args: {llm_config: {model_loading_config: {model_id: m}}} # vllm"), "service.yaml")
    assert argv(launch) == ["m"]


def test_a_configuration_of_ray_serve_by_itself() -> None:
    config = "{llm_configs: [{model_loading_config: {model_id: m}}]}"
    text = f"applications:\n- import_path: ray.serve.llm:build_openai_app\n  args: {config}\n"
    assert argv(launch_in(text, "serve.yaml")) == ["m"]
    assert launches_in(text.replace("applications", "apps"), "serve.yaml") == []


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
    launch = launch_in(service("import_path: serve:app", more), "service.yaml")
    assert argv(launch) == ["m"]
