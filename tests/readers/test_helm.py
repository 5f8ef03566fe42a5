"""Helm values of known charts: the flags that the chart's template passes, each at the value that made it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from servelint.readers import helm, mentions_engine
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans

STACK = """
    servingEngineSpec:
      runtimeClassName: ""
      modelSpec:
        - name: small
          repository: vllm/vllm-openai
          tag: v0.19.0
          modelURL: example/small-8b
          replicaCount: 1
          requestGPU: {gpus}
          vllmConfig:
            {config}
          {more}
"""


def stack(config: str = "enablePrefixCaching: true", more: str = "", gpus: str = "1") -> str:
    """Values of the production stack with one model."""
    return STACK.format(config=config, more=more, gpus=gpus)


class TestProductionStack:
    def test_flags_in_the_order_of_the_template(self) -> None:
        launch, marks = marked_launch("""
            servingEngineSpec:
              modelSpec:
                - name: small
                  repository: vllm/vllm-openai
                  tag: v0.19.0
                  modelURL: "⟦example/small-8b⟧"
                  vllmConfig:
                    gpuMemoryUtilization: ⟦0.9⟧
                    tensorParallelSize: ⟦2⟧
                    dtype: ⟦bfloat16⟧
                    maxModelLen: ⟦4096⟧
                    ⟦enablePrefixCaching⟧: false
                    ⟦enableChunkedPrefill⟧: true
                    extraArgs:
                      - ⟦--kv-cache-dtype⟧
                      - "⟦fp8⟧"
        """)
        assert argv(launch) == [
            *["example/small-8b", "--host", "0.0.0.0", "--port", "8000"],
            *["--enable-chunked-prefill", "--no-enable-prefix-caching", "--max-model-len", "4096", "--dtype", "bfloat16"],
            *["--tensor-parallel-size", "2", "--gpu_memory_utilization", "0.9", "--kv-cache-dtype", "fp8"],
        ]
        made = spans(launch.argv)
        at = dict(zip(argv(launch), made, strict=True))
        assert [at["example/small-8b"], at["0.9"], at["2"], at["bfloat16"], at["4096"]] == marks[:5]
        assert [at["--no-enable-prefix-caching"], at["--enable-chunked-prefill"]] == marks[5:7]
        assert [at["--kv-cache-dtype"], at["fp8"]] == marks[7:]
        assert at["--max-model-len"] is not None
        assert at["--max-model-len"].text == "maxModelLen"
        assert at["--host"] is not None
        assert at["--host"].text == '"example/small-8b"'
        assert (launch.name, release(launch)) == ("servingEngineSpec.modelSpec.small", ("0.19.0", "image"))
        assert lines(launch) == (6, 16)
        assert launch.open_env

    def test_without_a_configuration_of_the_engine(self) -> None:
        text = stack().replace("vllmConfig:\n            enablePrefixCaching: true", "pvcStorage: 10Gi")
        assert argv(launch_in(text, "values.yaml")) == ["example/small-8b", "--host", "0.0.0.0", "--port", "8000"]

    def test_what_only_some_releases_of_the_chart_pass_is_unknown(self) -> None:
        launch = launch_in(stack("maxModelLen: 10"), "values.yaml")
        word = launch.argv[5]
        assert (word.shown, word.many, word.value) == ("--no-enable-prefix-caching", True, None)

    def test_the_port_is_the_chart_s(self) -> None:
        launch = launch_in(stack() + "      containerPort: 9000\n", "values.yaml")
        assert argv(launch)[3:5] == ["--port", "9000"]

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ("enableLoRA: true", ["--enable-lora"]),
            ("enableLoRA: false", []),
            (
                "enableTool: true\n          toolCallParser: hermes",
                ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"],
            ),
        ],
    )
    def test_switches(self, more: str, words: list[str]) -> None:
        assert argv(launch_in(stack(more=more), "values.yaml"))[5:] == [*words, "--enable-prefix-caching"]

    def test_the_connector_of_lmcache(self) -> None:
        lmcache = "lmcacheConfig:\n            enabled: true\n            cpuOffloadingBufferSize: '20'"
        launch = launch_in(stack("v1: 1", lmcache), "values.yaml")
        assert argv(launch)[-2:] == ["--kv-transfer-config", '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}']
        assert environment(launch) == {
            "LMCACHE_USE_EXPERIMENTAL": "True",
            "VLLM_RPC_TIMEOUT": "1000000",
            "LMCACHE_LOCAL_CPU": "True",
            "LMCACHE_MAX_LOCAL_CPU_SIZE": "20",
        }
        assert launch_in(stack("v0: 1", lmcache), "values.yaml").argv[-1].value is None

    def test_switched_off(self) -> None:
        lmcache = "lmcacheConfig:\n            enabled: false\n            cpuOffloadingBufferSize: 0"
        launch = launch_in(stack(more=lmcache), "values.yaml")
        assert "--kv-transfer-config" not in argv(launch)
        assert launch.env == {}

    def test_a_ray_cluster(self) -> None:
        ray = "raySpec:\n            enabled: true\n            headNode: {requestCPU: 1}"
        launch = launch_in(stack("pipelineParallelSize: 2\n            gpuMemoryUtilization: 0.8", ray), "values.yaml")
        assert argv(launch)[5:] == [
            *["--distributed-executor-backend", "ray", "--pipeline-parallel-size", "2"],
            *["--gpu-memory-utilization", "0.8"],
        ]
        launch = launch_in(stack("pipelineParallelSize: 2", "raySpec: {enabled: false}"), "values.yaml")
        assert "--pipeline-parallel-size" not in argv(launch)

    def test_variables(self) -> None:
        launch = launch_in(
            stack(more="env:\n            - {name: VLLM_USE_V1, value: '1'}\n            - {name: T, valueFrom: {x: 1}}"),
            "values.yaml",
        )
        assert environment(launch) == {"VLLM_USE_V1": "1", "T": "<valueFrom>"}

    @pytest.mark.parametrize(
        ("gpus", "more", "expected"),
        [
            ("2", "", (2, True)),
            ("0", "", (None, None)),
            ("1", "requestGPUType: nvidia.com/mig-4g.71gb", (1, True)),
            ("1", "requestGPUType: habana.ai/gaudi", (None, None)),
            ("1", "resources: {limits: {nvidia.com/gpu: 4}}", (4, True)),
        ],
    )
    def test_gpus(self, gpus: str, more: str, expected: tuple[int | None, bool | None]) -> None:
        container = launch_in(stack(more=more, gpus=gpus), "values.yaml").container
        assert container is not None
        assert (container.gpus, container.reserved) == expected

    def test_shared_memory(self) -> None:
        def of(config: str, more: str = "") -> str | None:
            container = launch_in(stack(config, more), "values.yaml").container
            found = container.settings.get("dev_shm") if container is not None else None
            return found.shown if found is not None else None

        assert of("tensorParallelSize: 2", "shmSize: 6Gi") == "6Gi"
        assert of("tensorParallelSize: 2") == "20Gi"
        assert of("dtype: auto", "shmSize: 6Gi") is None

    @pytest.mark.parametrize(
        "text",
        [
            stack(more="enabled: false"),
            stack() + "      enableEngine: false\n",
            stack().replace("modelURL: example/small-8b", "modelName: vllm"),
            "servingEngineSpec:\n  modelSpec: []\nrouterSpec:\n  image: {repository: vllm/vllm-openai}\n  extraArgs: [-a]\n",
        ],
    )
    def test_what_starts_nothing(self, text: str) -> None:
        assert launches_in(text, "values.yaml") == []

    def test_values_that_are_a_template(self) -> None:
        text = stack("maxModelLen: {{ .len }}\n            enableChunkedPrefill: {{ .chunked }}\n            v1: 1")
        launch = launch_in(text.replace("tag: v0.19.0", 'tag: "{{ .tag }}"'), "values.yaml.gotmpl")
        assert argv(launch)[5:] == ["--enable-chunked-prefill", "--no-enable-prefix-caching", "--max-model-len", "{{ .len }}"]
        assert [word.many for word in launch.argv[5:]] == [True, True, False, False]
        assert release(launch)[0] is None

    def test_many_models_by_aliases_are_read_some_times(self) -> None:
        text = "servingEngineSpec:\n  modelSpec:\n    - &a {name: vllm, modelURL: b}\n" + "    - *a\n" * 500
        assert 0 < len(launches_in(text, "values.yaml")) < 50


class TestModelservice:
    """llm-d's chart: a container with `modelCommand`."""

    def test_the_chart_s_command(self) -> None:
        launch, marks = marked_launch(
            """
            modelArtifacts:
              uri: "hf://⟦example/small-8b⟧"
              name: ⟦small⟧
            routing:
              proxy: {targetPort: ⟦9200⟧}
            decode:
              parallelism: {tensor: ⟦2⟧, data: 1}
              containers:
                - name: vllm
                  image: ghcr.io/llm-d/llm-d-cuda:v0.5.0
                  modelCommand: vllmServe
                  args: [⟦--enforce-eager⟧]
            """,
            "ms-values.yaml",
        )
        assert argv(launch) == [
            *["example/small-8b", "--port", "9200", "--tensor-parallel-size", "2"],
            *["--served-model-name", "small", "--enforce-eager"],
        ]
        assert [spans(launch.argv)[index] for index in (0, 6, 2, 4, 7)] == marks
        assert launch.name == "decode.containers.vllm"
        assert not launch.open_env

    @pytest.mark.parametrize(
        ("uri", "model"),
        [
            ("hf://{{ .Values.modelArtifacts.name }}", "example/small"),
            ('hf://"{{ .Values.modelArtifacts.name }}"', "example/small"),
            ("pvc://claim/path/to/model", "/model-cache/path/to/model"),
            ("pvc+hf://claim/hub/example/big", "example/big"),
            ("oci://registry/model", "oci://registry/model"),
        ],
    )
    def test_where_the_model_is(self, uri: str, model: str) -> None:
        launch = launch_in(self.values(uri, "modelCommand: vllmServe"), "values.yaml")
        assert argv(launch)[0] == model
        assert (launch.argv[0].value is None) is uri.startswith("oci")

    def values(self, uri: str, container: str, more: str = "") -> str:
        return (
            f"modelArtifacts:\n  uri: '{uri}'\n  name: example/small\nprefill:\n  containers:\n    - name: vllm\n"
            f"      image: vllm/vllm-openai:v0.19.0\n      {container}\n{more}"
        )

    def test_ports(self) -> None:
        assert argv(launch_in(self.values("hf://a/b", "modelCommand: vllmServe"), "values.yaml"))[1:3] == ["--port", "8000"]
        decode = self.values("hf://a/b", "modelCommand: vllmServe").replace("prefill:", "decode:")
        assert argv(launch_in(decode, "values.yaml"))[1:3] == ["--port", "8200"]
        off = decode + "routing:\n  servicePort: 8888\n  proxy: {enabled: false}\n"
        assert argv(launch_in(off, "values.yaml"))[1:3] == ["--port", "8888"]

    def test_the_image_s_own_command(self) -> None:
        launch = launch_in(self.values("hf://a/b", "modelCommand: imageDefault"), "values.yaml")
        assert argv(launch) == ["--model", "a/b", "--port", "8000", "--served-model-name", "example/small"]
        simulated = self.values("hf://a/b", "modelCommand: imageDefault").replace(
            "vllm/vllm-openai", "llm-d/llm-d-inference-sim"
        )
        assert launches_in(simulated, "values.yaml") == []

    def test_a_command_of_its_own(self) -> None:
        text = self.values("hf://a/b", "command: [sh, -c]\n      args: ['vllm serve $MODEL --dtype $(KIND)']")
        launch = launch_in(text + "      env: [{name: KIND, value: half}]\n", "values.yaml")
        assert argv(launch) == ["${MODEL}", "--dtype", "half"]

    def test_parallel_by_data(self) -> None:
        text = self.values("hf://a/b", "modelCommand: vllmServe", "  parallelism: {dataLocal: 4, tensor: 1}\n")
        assert argv(launch_in(text, "values.yaml"))[3:7] == ["--data-parallel-size", "4", "--data-parallel-size-local", "4"]
        text = self.values("hf://a/b", "modelCommand: vllmServe", "  parallelism: {data: 4, workers: 2}\n")
        words = launch_in(text, "values.yaml").argv[3:7]
        assert [(word.shown, word.many) for word in words[::2]] == [
            ("--data-parallel-size", True),
            ("--data-parallel-size-local", True),
        ]
        assert words[3].value is None

    def test_not_created(self) -> None:
        assert launches_in(self.values("hf://a/b", "modelCommand: vllmServe", "  create: false\n"), "values.yaml") == []


class TestChartOfVllm:
    def test_the_command_below_the_image(self) -> None:
        launch, marks = marked_launch(
            """
            image:
              repository: vllm/vllm-openai
              tag: v0.19.0
              command: [vllm, serve, ⟦/data/⟧, ⟦--dtype⟧, ⟦bfloat16⟧]
              env:
                - name: VLLM_LOGGING_LEVEL
                  value: DEBUG
            resources:
              limits: {nvidia.com/gpu: 1}
            """,
            "values.yaml",
        )
        assert argv(launch) == ["/data/", "--dtype", "bfloat16"]
        assert spans(launch.argv) == marks
        assert environment(launch) == {"VLLM_LOGGING_LEVEL": "DEBUG"}
        assert launch.container is not None
        assert launch.container.gpus == 1
        assert not launch.open_env

    def test_variables_from_elsewhere(self) -> None:
        text = "image: {repository: a/vllm, tag: '1', command: [vllm, serve, m]}\nsecrets: {token: x}\n"
        assert launch_in(text, "values.yaml").open_env

    def test_another_command(self) -> None:
        text = "image: {repository: vllm/vllm-openai, tag: v0.19.0, command: [vllm, bench, serve, --model, m]}\n"
        assert launches_in(text, "values.yaml") == []


class TestKubeai:
    CATALOG = """
        catalog:
          small-l4:
            enabled: {enabled}
            url: {url}
            engine: {engine}
            args:
              - --max-model-len=4096
            env:
              VLLM_USE_V1: "1"
            resourceProfile: nvidia-gpu-l4:2
    """

    def catalog(self, enabled: str = "true", url: str = "hf://example/small?pull=always", engine: str = "VLLM") -> str:
        return self.CATALOG.format(enabled=enabled, url=url, engine=engine)

    def test_an_entry(self) -> None:
        launch = launch_in(self.catalog(), "values.yaml")
        assert argv(launch) == ["--model=example/small", "--served-model-name=small-l4", "--max-model-len=4096"]
        assert environment(launch) == {"VLLM_USE_V1": "1"}
        assert launch.name == "catalog.small-l4"
        assert launch.container is not None
        assert (launch.container.gpus, launch.container.settings["gpu_product"].shown) == (2, "nvidia-gpu-l4")
        assert release(launch) == (None, None)

    @pytest.mark.parametrize("url", ["pvc://claim/path", "s3://bucket/model"])
    def test_a_model_from_elsewhere(self, url: str) -> None:
        launch = launch_in(self.catalog(url=url), "values.yaml")
        assert launch.argv[0].value is None
        assert launch.argv[0].text.flat.startswith("--model=")

    def test_what_starts_nothing(self) -> None:
        assert launches_in(self.catalog(enabled="false"), "values.yaml") == []
        assert launches_in(self.catalog(engine="OLlama") + "# vllm\n", "values.yaml") == []

    def test_all_of_them(self) -> None:
        assert len(launches_in("        all: {enabled: true}" + self.catalog(enabled="false"), "values.yaml")) == 1


class TestKserve:
    def test_the_runtime_s_arguments_come_first(self) -> None:
        launch = launch_in(
            """
            deploymentMode: RawDeployment
            image: {image: registry.example/vllm-cuda, tag: 3.3.0}
            servingRuntime:
              command: [python, -m, vllm.entrypoints.openai.api_server]
              args: [--port=8080, --model=/mnt/models]
              env: [{name: A, value: b}]
            model:
              mode: uri
              args: [--max-model-len=4096]
            """,
            "values.yaml",
        )
        assert argv(launch) == ["--port=8080", "--model=/mnt/models", "--max-model-len=4096"]
        assert environment(launch) == {"A": "b"}

    def test_a_runtime_that_the_chart_brings(self) -> None:
        launch = launch_in("deploymentMode: x\nmodel:\n  mode: uri\n  args: [--max-model-len=4096]  # vllm\n", "values.yaml")
        assert [(word.shown, word.many) for word in launch.argv] == [("", True), ("--max-model-len=4096", False)]
        assert launches_in("deploymentMode: x\nmodel: {mode: uri, args: []}  # vllm\nservingTopology: a\n", "values.yaml") == []


APPLICATION = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x}\n"


class TestWhereValuesStand:
    """In other charts' values, and in objects and files that hand them to Helm."""

    VALUES = "servingEngineSpec:\n  modelSpec:\n    - {name: a, repository: vllm/vllm-openai, tag: v0.19.0, modelURL: b/c}\n"

    def indented(self, by: int) -> str:
        return re.sub("^", " " * by, self.VALUES.rstrip(), flags=re.MULTILINE)

    def test_a_subchart(self) -> None:
        assert launch_in(f"vllm-stack:\n{self.indented(2)}\nother: {{a: 1}}\n", "values.yaml").name == (
            "vllm-stack.servingEngineSpec.modelSpec.a"
        )
        assert launches_in(f"vllm-stack:\n  enabled: false\n{self.indented(2)}\n", "values.yaml") == []

    @pytest.mark.parametrize(
        ("head", "by", "name"),
        [
            (
                "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\nspec:\n  values:\n",
                4,
                "HelmRelease/x",
            ),
            (
                APPLICATION + "spec:\n  source:\n    helm:\n      values: |\n",
                8,
                "Application/x",
            ),
            (
                APPLICATION + "spec:\n  sources:\n    - helm:\n        valuesObject:\n",
                10,
                "Application/x",
            ),
            (
                "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: x}\nspec:\n  valuesContent: |-\n",
                4,
                "HelmChart/x",
            ),
            ("helm:\n  chart: vllm-stack\n  values:\n", 4, ""),
            ("releases:\n  - name: x\n    values:\n      -\n", 8, ""),
            ("helmCharts:\n  - name: vllm-stack\n    valuesInline:\n", 6, ""),
        ],
    )
    def test_what_holds_them(self, head: str, by: int, name: str) -> None:
        launch = launch_in(head + self.indented(by) + "\n", "fleet.yaml")
        assert launch.name.startswith(name)
        assert launch.name.endswith("servingEngineSpec.modelSpec.a")
        span = spans(launch.argv)[0]
        assert span is not None
        assert span.text == "b/c"
        assert span.source is launch.source

    def test_an_application_without_values(self) -> None:
        text = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: vllm}\nspec:\n  source: {path: vllm}\n"
        assert launches_in(text, "app.yaml") == []


@pytest.mark.parametrize(
    "text", ["a: 1\nvllm: 2\n", "- vllm\n", "vllm\n", "image: vllm/vllm-openai:v1\nports: [1]\n", "catalog: [vllm]\n"]
)
def test_what_is_no_chart_s(text: str) -> None:
    assert launches_in(text, "values.yaml") == []


def test_values_that_name_no_engine() -> None:
    assert mentions_engine(b"servingEngineSpec:\n  modelSpec: []\n")


class TestCharts:
    """The charts' data keeps to its language."""

    WORDS = ("value", "option", "default", "patterns", "unknown", "above", "unless", "name", "many")

    @pytest.mark.parametrize("chart", helm.charts(), ids=lambda chart: chart["chart"])
    def test_chart(self, chart: dict[str, Any]) -> None:
        assert chart.keys() <= {
            *("chart", "source", "releases", "about", "marks", "entries", "has", "on", "off", "image", "anchor", "cases"),
            *("parts", "env", "closed", "resources", "settings", "templates", "defaults", "named"),
        }
        assert chart["source"].startswith("https://")
        assert chart["releases"]
        assert chart["marks"]
        for case in chart["cases"]:
            assert case.keys() <= {"if", "command", "args", "engine"}
            for item in [*case.get("command", []), *case.get("args", [])]:
                self.item(chart, item)
        assert all(case.get("if") for case in chart["cases"][:-1])
        for items in chart.get("parts", {}).values():
            for item in items:
                self.item(chart, item)
        for item in chart.get("env", []):
            self.variable(item)

    def item(self, chart: dict[str, Any], item: Any) -> None:
        if isinstance(item, str):
            return
        if "use" in item:
            assert item["use"] in chart["parts"]
        elif "if" in item:
            assert item.keys() <= {"if", "then", "else"}
            for inner in [*item["then"], *item.get("else", [])]:
                self.item(chart, inner)
        elif "switch" in item:
            assert item.keys() <= {"switch", "on", "off"}
        elif "list" in item or "perhaps" in item:
            assert item.keys() <= {"list", "perhaps", "split"}
        else:
            assert item.keys() <= set(self.WORDS)
            assert item.keys() & {"value", "unknown", "name"}
            assert all("unknown" in item or "default" in pattern or "match" in pattern for pattern in item.get("patterns", []))

    def variable(self, item: dict[str, Any]) -> None:
        if "if" in item:
            for inner in item["then"]:
                self.variable(inner)
        else:
            assert item.keys() in ({"variables"}, {"variable", "word"}, {"variable", "value"})


class TestPartsOfValues:
    """A file that holds the `modelSpec` of the production stack, or only its list."""

    SPEC = "{name: a, repository: vllm/vllm-openai, tag: v0.8.4, modelURL: m, vllmConfig: {maxModelLen: 8192}}"

    @pytest.mark.parametrize(
        "text", ["- SPEC\n", "modelSpec:\n- SPEC\n", "modelSpec: [SPEC]\nother: 1\n", "# specs of vllm\n---\n- SPEC\n"]
    )
    def test_a_part(self, text: str) -> None:
        launch = launch_in(text.replace("SPEC", self.SPEC), "model-specs.yaml")
        assert (launch.engine, launch.release.release) == ("vllm", "0.8.4")
        assert argv(launch)[:1] == ["m"]
        assert "8192" in argv(launch)

    @pytest.mark.parametrize(
        "text", ["- {name: a, repository: vllm/vllm-openai, tag: v0.8.4}\n", "- vllm\n", "modelSpec: vllm\n"]
    )
    def test_another_list(self, text: str) -> None:
        assert launches_in(text, "model-specs.yaml") == []


APP = """
controllers:
  main:
    containers:
      app:
        image: {repository: IMAGE, tag: TAG}
        REST
"""


class TestAppTemplate:
    """app-template, and a HelmRelease of it: the image may start the server without any word."""

    @pytest.mark.parametrize(
        ("image", "tag", "rest", "expected"),
        [
            ("docker.io/ollama/ollama", "0.17.1", "env: {OLLAMA_HOST: 0.0.0.0}", ("ollama", "0.17.1", [])),
            ("ollama/ollama", "0.31.2@sha256:00", "env: [{name: OLLAMA_HOST, value: a}]", ("ollama", "0.31.2", [])),
            ("ghcr.io/ggml-org/llama.cpp", "server-b8496", "env: {LLAMA_ARG_MODEL: /m.gguf}", ("llama.cpp", "b8496", [])),
            ("vllm/vllm-openai", "v0.9.1", "args: [--model, m]", ("vllm", "0.9.1", ["--model", "m"])),
            ("vllm/vllm-openai", "v0.9.1", "args: --model m", ("vllm", "0.9.1", ["--model", "m"])),
            ("vllm/vllm-openai", "v0.9.1", "command: [vllm, serve, m]", ("vllm", "0.9.1", ["m"])),
            (
                "vllm/vllm-openai",
                "v0.9.1",
                "command: [sh, -c]\n        args: |\n          export A=1\n          exec vllm serve m",
                ("vllm", "0.9.1", ["m"]),
            ),
        ],
    )
    @pytest.mark.parametrize("release_of", [False, True])
    def test_a_container(self, image: str, tag: str, rest: str, expected: tuple[str, str, list[str]], release_of: bool) -> None:
        text = APP.replace("IMAGE", image).replace("TAG", tag).replace("REST", rest)
        if release_of:
            head = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\nspec:\n  values:"
            text = head + text.replace("\n", "\n    ")
        launch = launch_in(text, "helmrelease.yaml" if release_of else "values.yaml")
        assert (launch.engine, launch.release.release, argv(launch)) == expected

    @pytest.mark.parametrize("rest", ["enabled: false", "command: [sleep, infinity]", "command: [ollama, list]"])
    def test_one_that_does_not_serve(self, rest: str) -> None:
        text = APP.replace("IMAGE", "ollama/ollama").replace("TAG", "0.17.1").replace("REST", rest)
        assert launches_in(text, "values.yaml") == []

    @pytest.mark.parametrize("image", ["nginx", "ghcr.io/open-webui/open-webui"])
    def test_an_image_of_no_engine(self, image: str) -> None:
        text = APP.replace("IMAGE", image).replace("TAG", "v1").replace("REST", "env: {OLLAMA_BASE_URL: http://ollama}")
        assert launches_in(text, "values.yaml") == []

    def test_a_controller_that_is_off(self) -> None:
        text = (
            APP.replace("IMAGE", "ollama/ollama")
            .replace("TAG", "1")
            .replace("    containers", "    enabled: false\n    containers")
        )
        assert launches_in(text.replace("REST", "env: {}"), "values.yaml") == []


class TestTrueCharts:
    VALUES = """
        image: {{repository: vllm/vllm-openai, tag: v0.9.0}}
        workload:
          main:
            podSpec:
              containers:
                main:
                  {words}
                  env: {{HF_HOME: /cache}}
        """

    def test_the_words_of_the_main_container(self) -> None:
        launch = launch_in(self.VALUES.format(words="args: [--model, m/m]"), "values.yaml")
        assert argv(launch) == ["--model", "m/m"]
        assert release(launch) == ("0.9.0", "image")
        assert environment(launch) == {"HF_HOME": "/cache"}

    def test_a_command_with_more_arguments(self) -> None:
        words = "command: [vllm, serve, m/m]\n                  extraArgs: [--port, '1']"
        assert argv(launch_in(self.VALUES.format(words=words), "values.yaml")) == ["m/m", "--port", "1"]

    def test_a_workload_that_is_off(self) -> None:
        text = self.VALUES.format(words="args: [--model, m/m]").replace(
            "main:\n            pod", "main:\n            enabled: false\n            pod"
        )
        assert launches_in(text, "values.yaml") == []
