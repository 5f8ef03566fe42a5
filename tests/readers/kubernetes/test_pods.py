"""Containers of Kubernetes objects: what `command` and `args` start, and where each word of it stands."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from servelint.core.launch import Launch
from servelint.readers import mentions_engine
from tests.launching import (
    argv,
    environment,
    launch_in,
    launches_in,
    lines,
    marked_launch,
    reading,
    release,
    sites,
    spans,
)
from tests.together import together

FILE = "deploy.yaml"


def pod(container: str) -> str:
    """A pod with one container, whose fields are given without indentation."""
    first, *rest = container.strip("\n").splitlines()
    item = "\n".join([f"    - {first}", *[f"      {line}" for line in rest]])
    return f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: llm\nspec:\n  containers:\n{item}\n"


class TestWords:
    def test_image_that_starts_the_engine_with_args(self) -> None:
        launch, marks = marked_launch(
            """
            apiVersion: apps/v1
            kind: Deployment
            metadata:
              name: llm
            spec:
              selector: {}
              template:
                spec:
                  containers:
                    - name: server
                      image: vllm/vllm-openai:v0.20.0
                      args:
                        - ⟦--model⟧
                        - "⟦Qwen/Qwen3-8B⟧"   # the target
                        - ⟦--port=8000⟧
            """,
            FILE,
        )
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port=8000"]
        assert spans(launch.argv) == marks
        assert launch.verb == ()
        assert release(launch) == ("0.20.0", "image")
        assert launch.name == "Deployment/llm.containers.server"
        assert lines(launch) == (12, 15)

    def test_command_and_args_are_joined(self) -> None:
        launch, marks = marked_launch(
            pod("name: server\nimage: house/llm\ncommand: [⟦python3⟧, ⟦-m⟧, ⟦sglang.launch_server⟧]\nargs: [⟦--tp⟧, ⟦2⟧]"), FILE
        )
        assert launch.engine == "sglang"
        assert sites(launch.verb) + sites(launch.argv) == marks
        assert argv(launch) == ["--tp", "2"]
        assert lines(launch) == (9, 10)

    def test_args_may_stand_before_the_command(self) -> None:
        launch = launch_in(pod("name: server\nargs:\n  - m\ncommand:\n  - vllm\n  - serve"), FILE)
        assert argv(launch) == ["m"]
        assert lines(launch) == (8, 12)

    def test_the_engine_may_be_split_between_both(self) -> None:
        assert argv(launch_in(pod("image: house/llm\ncommand: [vllm]\nargs: [serve, m]"), FILE)) == ["m"]

    def test_no_args_start_the_image_as_it_is(self) -> None:
        launch = launch_in(pod("name: server\nimage: vllm/vllm-openai:v0.20.0"), FILE)
        assert argv(launch) == []
        assert lines(launch) == (8, 8)

    @pytest.mark.parametrize("args", ["args:", "args: null", "args: []"])
    def test_empty_args(self, args: str) -> None:
        assert argv(launch_in(pod(f"name: server\nimage: vllm/vllm-openai:v0.20.0\n{args}"), FILE)) == []

    @pytest.mark.parametrize(
        "container",
        [
            "image: vllm/vllm-openai:v0.20.0\ncommand: [vllm, bench, serve]\nargs: [--model, m]",
            "image: vllm/vllm-openai:v0.20.0\ncommand: [sleep, infinity]",
            "image: vllm/vllm-openai:v0.20.0\ncommand: [vllm, launch, render]\nargs: [m]",
            "image: registry.example/vllm-router:v1.0.0\nargs: [--port=8000, --vllm-port=8200]",
            "image: curlimages/curl\nargs: [http://vllm:8000/v1/models]",
            "image: prom/prometheus\nenv: [{name: TARGET, value: vllm serve m}]",
        ],
    )
    def test_containers_that_start_none(self, container: str) -> None:
        assert launches_in(pod(container), FILE) == []

    def test_numbers_and_switches_are_words_too(self) -> None:
        launch = launch_in(pod("image: vllm/vllm-openai:v0.20.0\nargs: [m, --port, 8000, --flag, true]"), FILE)
        assert argv(launch) == ["m", "--port", "8000", "--flag", "true"]

    def test_an_item_that_is_a_mapping_is_not_known(self) -> None:
        launch = launch_in(pod("image: vllm/vllm-openai:v0.20.0\nargs:\n  - m\n  - --port: 8000"), FILE)
        assert [word.value for word in launch.argv] == ["m", None]
        assert launch.argv[1].many

    def test_a_string_instead_of_a_list_is_split(self) -> None:
        launch, marks = marked_launch(pod("image: house/llm\ncommand: vllm serve ⟦m⟧ ⟦'--served-model-name=a b'⟧"), FILE)
        assert argv(launch) == ["m", "--served-model-name=a b"]
        assert sites(launch.argv) == marks

    def test_a_block_scalar_as_one_argument(self) -> None:
        launch = launch_in(
            pod('image: vllm/vllm-openai:v0.20.0\nargs:\n  - m\n  - --kv-transfer-config\n  - |\n    {"a": 1}'), FILE
        )
        assert argv(launch)[2] == '{"a": 1}\n'


class TestScripts:
    def test_shell_with_the_script_in_args(self) -> None:
        launch, marks = marked_launch(
            """
            apiVersion: v1
            kind: Pod
            metadata: {name: llm}
            spec:
              containers:
                - name: server
                  image: vllm/vllm-openai:v0.20.0
                  command: [/bin/bash, -c]
                  args:
                    - |
                      # $(hostname) is the shell's
                      exec vllm serve \\
                        ⟦m⟧ \\
                        --tensor-parallel-size ⟦$TP⟧ \\
                        --host ⟦$(hostname -i)⟧
                  env:
                    - {name: TP, value: "2"}
            """,
            FILE,
        )
        assert argv(launch) == ["m", "--tensor-parallel-size", "2", "--host", "$(hostname -i)"]
        assert [launch.argv[at].site for at in (0, 2, 4)] == marks
        assert [word.value for word in launch.argv][-1] is None
        assert lines(launch) == (12, 15)

    @pytest.mark.parametrize("command", ["[sh, -c]", "[/bin/bash, -lc, --]", "[bash, -euo, pipefail, -c]", "[bash, -c, --]"])
    def test_options_of_the_shell(self, command: str) -> None:
        launch = launch_in(pod(f"image: house/llm\ncommand: {command}\nargs: ['sleep 1; vllm serve $(cat name)']"), FILE)
        assert argv(launch) == ["$(cat name)"]

    def test_double_quoted_over_two_lines(self) -> None:
        launch = launch_in(
            pod('image: house/llm\ncommand:\n  - sh\n  - -c\n  - "ray start --head;\n     vllm serve m --port 80"'), FILE
        )
        assert argv(launch) == ["m", "--port", "80"]
        assert lines(launch) == (12, 12)

    def test_two_servers_of_one_script_have_names_of_their_own(self) -> None:
        found = launches_in(pod("name: s\nimage: house/llm\ncommand: [sh, -c, 'vllm serve a & vllm serve b; wait']"), FILE)
        assert [(launch.name, argv(launch)) for launch in found] == [
            ("Pod/llm.containers.s", ["a"]),
            ("Pod/llm.containers.s#2", ["b"]),
        ]

    def test_branches_of_one_script_share_a_name(self) -> None:
        script = 'if [ -n "$X" ]; then vllm serve a; else vllm serve b; fi'
        found = launches_in(pod(f"name: s\nimage: house/llm\ncommand:\n  - sh\n  - -c\n  - |\n    {script}"), FILE)
        assert {launch.name for launch in found} == {"Pod/llm.containers.s"}
        assert {argv(launch)[0] for launch in found} == {"a", "b"}


class TestPatches:
    """A patch says nothing of the image, and not all of the environment."""

    PATCH = """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: decode}
        spec:
          template:
            spec:
              containers:
                - name: modelserver
    """

    def patch(self, fields: str) -> str:
        return self.PATCH.rstrip() + "\n" + indent(fields, " " * 18)

    def test_without_an_image(self) -> None:
        launch = launch_in(self.patch("command: [vllm, serve]\nargs: [m, --port=8000]"), FILE)
        assert argv(launch) == ["m", "--port=8000"]
        assert release(launch) == (None, None)
        assert launch.image is None
        assert launch.open_env
        assert launch.container is not None
        assert launch.container.reserved is None

    def test_args_that_stand_elsewhere_are_unknown(self) -> None:
        launch = launch_in(self.patch("command: [vllm, serve]"), FILE)
        assert [word.many for word in launch.argv] == [True]

    def test_args_whose_program_stands_elsewhere_start_nothing(self) -> None:
        assert launches_in(self.patch("args: [--model-path=m, --enable-metrics] # sglang"), FILE) == []

    def test_a_script_whose_shell_stands_elsewhere(self) -> None:
        launch = launch_in(self.patch("args:\n  - |\n    exec vllm serve m \\\n      --port 8000"), FILE)
        assert argv(launch) == ["m", "--port", "8000"]

    def test_prose_whose_program_stands_elsewhere(self) -> None:
        assert launches_in(self.patch("args: ['see how vllm serve works']"), FILE) == []

    def test_an_image_and_no_selector_is_a_patch_as_well(self) -> None:
        launch = launch_in(self.patch("image: vllm/vllm-openai:v0.20.0\nargs: [m]"), FILE)
        assert release(launch) == ("0.20.0", "image")
        assert launch.open_env

    def test_arguments_for_an_object_that_is_called_after_an_engine(self) -> None:
        text = """
            apiVersion: kustomize.config.k8s.io/v1beta1
            kind: Kustomization
            patches:
              - target: {kind: Deployment, name: vllm-decode}
                patch: |-
                  - {op: add, path: /spec/template/spec/containers/0/args, value: [--model, m, --port=80, --max-model-len=8]}
        """
        launch = launch_in(text, "kustomization.yaml")
        assert launch.engine == "vllm"
        assert launch.open_env
        assert launch.container is not None
        assert (launch.container.open, launch.container.runtime) == (True, None)


KINDS = {
    "StatefulSet": "spec: {selector: {}, template: {spec: {containers: [C]}}}",
    "Job": "spec: {template: {spec: {containers: [C]}}}",
    "CronJob": "spec: {jobTemplate: {spec: {template: {spec: {containers: [C]}}}}}",
    "Template": "objects: [{kind: Pod, spec: {containers: [C]}}]",
    "Workflow": "spec: {templates: [{name: serve, container: C}]}",
    "StormService": "spec: {template: {spec: {roles: [{name: prefill, template: {spec: {containers: [C]}}}]}}}",
    "MPIJob": "spec: {mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [C]}}}}}",
    "InferenceService": "spec: {predictor: {containers: [C]}}",
    "Anything": "spec: {initContainers: [C]}",
}


class TestDepth:
    CONTAINER = "{name: s, image: 'vllm/vllm-openai:v0.20.0', args: [m]}"

    @together("kind", list(KINDS))
    def test_containers_at_any_depth(self, kind: str) -> None:
        text = KINDS[kind].replace("C]", self.CONTAINER + "]").replace("container: C", f"container: {self.CONTAINER}")
        launch = launch_in(f"apiVersion: any/v1\nkind: {kind}\nmetadata: {{name: x}}\n{text}\n", FILE)
        assert argv(launch) == ["m"]
        assert launch.name.startswith(
            "Pod." if kind == "Template" else f"{kind}/x."
        )  # a template's objects are read one by one

    @pytest.mark.parametrize(
        ("module", "found"), [("vllm.entrypoints.openai.api_server", 1), ("dynamo.vllm", 1), ("dynamo.frontend", 0)]
    )
    def test_main_container_of_a_graph(self, module: str, found: int) -> None:
        container = f"{{image: house/llm, command: [python3, -m, {module}], args: [--model, m]}}"
        text = f"spec: {{services: {{Worker: {{extraPodSpec: {{mainContainer: {container}}}}}}}}}"
        launches = launches_in(f"apiVersion: nvidia.com/v1\nkind: DynamoGraphDeployment\nmetadata: {{name: g}}\n{text}\n", FILE)
        assert [launch.name for launch in launches] == ["DynamoGraphDeployment/g.services.Worker.mainContainer"] * found

    def test_every_template_of_a_leader_worker_set(self) -> None:
        found = launches_in(
            """
            apiVersion: leaderworkerset.x-k8s.io/v1
            kind: LeaderWorkerSet
            metadata: {name: llm}
            spec:
              leaderWorkerTemplate:
                size: 2
                leaderTemplate: {spec: {containers: [{name: a, command: [sglang, serve], args: [m]}]}}
                workerTemplate: {spec: {containers: [{name: b, command: [sglang, serve], args: [m]}, {command: [ray, start]}]}}
            """,
            FILE,
        )
        assert [launch.name for launch in found] == [
            "LeaderWorkerSet/llm.leaderTemplate.containers.a",
            "LeaderWorkerSet/llm.workerTemplate.containers.b",
        ]

    def test_the_size_of_a_group_reaches_its_scripts(self) -> None:
        launch = launch_in(
            """
            apiVersion: leaderworkerset.x-k8s.io/v1
            kind: LeaderWorkerSet
            metadata: {name: llm}
            spec:
              leaderWorkerTemplate:
                size: 4
                workerTemplate:
                  spec:
                    containers:
                      - name: vllm
                        image: house/llm
                        command: [bash, -c]
                        args: ['vllm serve m --data-parallel-size $((LWS_GROUP_SIZE * 8)) --rank $LWS_WORKER_INDEX']
            """,
            FILE,
        )
        assert argv(launch) == ["m", "--data-parallel-size", "32", "--rank", "${LWS_WORKER_INDEX}"]
        assert launch.argv[2].text.assumed

    def test_a_schema_that_speaks_of_containers_holds_none(self) -> None:
        text = f"apiVersion: v1\nkind: CustomResourceDefinition\nspec: {{example: {{containers: [{self.CONTAINER}]}}}}\n"
        assert launches_in(text, FILE) == []

    def test_what_the_cluster_last_applied_is_not_read_twice(self) -> None:
        launch = launch_in(
            """
            apiVersion: v1
            kind: Pod
            metadata:
              name: llm
              annotations:
                example.com/was: {containers: [{image: 'vllm/vllm-openai:v0.9.0'}]}
            spec:
              containers: [{name: s, image: 'vllm/vllm-openai:v0.20.0', args: [m]}]
            status:
              containers: [{image: 'vllm/vllm-openai:v0.20.0'}]
            """,
            FILE,
        )
        assert release(launch) == ("0.20.0", "image")


class TestDocuments:
    def named(self, text: str, filename: str = FILE) -> list[str]:
        return [launch.name for launch in launches_in(text, filename)]

    def test_several_documents(self) -> None:
        text = pod("name: s\nimage: vllm/vllm-openai:v0.20.0")
        other = text.replace("name: llm", "name: other")
        assert self.named(f"{text}---\nkind: Service\napiVersion: v1\n---\n{other}") == [
            "Pod/llm.containers.s",
            "Pod/other.containers.s",
        ]

    def test_list(self) -> None:
        items = indent(pod("name: s\nimage: vllm/vllm-openai:v0.20.0"), "    ").replace("    ", "  - ", 1)
        assert self.named(f"apiVersion: v1\nkind: List\nitems:\n{items}") == ["Pod/llm.containers.s"]

    def test_json(self) -> None:
        text = """
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "llm"},
             "spec": {"containers": [{"name": "s", "image": "vllm/vllm-openai:v0.20.0",
               "args": ["--model", "⟦m⟧", "--hf-overrides", "⟦{\\"a\\": 1}⟧"]}]}}
        """
        launch, marks = marked_launch(text, "pod.json")
        assert argv(launch)[3] == '{"a": 1}'
        assert [launch.argv[at].text.span() for at in (1, 3)] == marks

    def test_alike_containers_are_numbered(self) -> None:
        text = pod("name: s\nimage: vllm/vllm-openai:v0.20.0")
        assert self.named(f"{text}---\n{text}") == ["Pod/llm.containers.s", "Pod/llm.containers.s#2"]

    def test_without_a_name(self) -> None:
        assert self.named(pod("image: vllm/vllm-openai:v0.20.0").replace("  name: llm\n", "  {}\n")) == ["Pod.containers.0"]

    def test_no_object_is_left_to_other_readers(self) -> None:
        assert launches_in("kind: Pod\nspec: {containers: [{image: 'vllm/vllm-openai'}]}\n", FILE) == []

    def test_documents_before_a_mistake_are_kept(self) -> None:
        found, _ = reading(pod("name: s\nimage: vllm/vllm-openai:v0.20.0") + "---\na: b: c\n", FILE)
        assert len(found.launches) == 1
        assert len(found.problems) == 1


class TestAliases:
    def test_an_anchor_is_read_where_it_is_used(self) -> None:
        found = launches_in(
            """
            apiVersion: any/v1
            kind: Pair
            spec:
              prefill: &pod {containers: [{name: s, image: 'vllm/vllm-openai:v0.20.0', args: [m]}]}
              decode: *pod
            """,
            FILE,
        )
        assert [launch.name for launch in found] == ["Pair.prefill.containers.s", "Pair.decode.containers.s"]

    def test_merge_keys(self) -> None:
        launch = launch_in(
            """
            apiVersion: any/v1
            kind: Pair
            base: &base {image: 'vllm/vllm-openai:v0.20.0'}
            spec:
              containers: [{<<: *base, name: s, args: [m]}]
            """,
            FILE,
        )
        assert release(launch) == ("0.20.0", "image")

    @pytest.mark.parametrize(
        "text",
        [
            "apiVersion: v1\nkind: Pod\nspec: &s\n  containers: [{image: vllm/vllm-openai, x: *s}]\n  more: *s\n",
            "apiVersion: v1\nkind: List\nitems: &l [{kind: List, items: *l}, {kind: PodList, items: *l}] # vllm\n",
            "apiVersion: v1\nkind: Pod\na: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nspec: [*b, *b, *b] # vllm\n",
        ],
    )
    def test_a_graph_without_end_is_left(self, text: str) -> None:
        assert len(launches_in(text, FILE)) <= 16


class TestImage:
    def image(self, text: str) -> Launch:
        return launch_in(pod(f"image: {text}\ncommand: [vllm, serve, m]"), FILE)

    def test_a_placeholder_is_not_known(self) -> None:
        launch = self.image("$VLLM_IMAGE")
        assert launch.image is not None
        assert launch.image.value is None
        assert launch.image.shown == "$VLLM_IMAGE"

    def test_a_tag_that_is_filled_in_names_no_release(self) -> None:
        assert release(self.image("vllm/vllm-openai:${TAG}")) == (None, None)

    def test_an_image_whose_worker_is_another_program(self) -> None:
        assert launches_in(pod("image: house/llamacpp-worker:latest\nargs: [--host, 0.0.0.0, --mem, '4192']"), FILE) == []
        assert launch_in(pod("image: house/llamacpp:latest\nargs: [--host, 0.0.0.0]"), FILE).engine == "llama.cpp"


class TestTemplates:
    """What a chart's template writes is not known."""

    def launch(self, fields: str) -> Launch:
        return launch_in(pod(f"name: s\nimage: vllm/vllm-openai:v0.20.0\n{fields}"), FILE)

    def test_words(self) -> None:
        launch = self.launch(
            "args:\n  - m\n  - {{ .Values.port | quote }}\n  {{- range .Values.args }}\n  - {{ . }}\n  {{- end }}"
        )
        assert argv(launch)[:2] == ["m", "{{ .Values.port | quote }}"]
        assert [word.value for word in launch.argv][:2] == ["m", None]
        assert launch.argv[-1].many

    def test_variables_that_are_written_elsewhere(self) -> None:
        launch = self.launch("args: [m]\nenv:\n  - {name: A, value: x}\n  {{- toYaml .Values.env | nindent 8 }}")
        assert environment(launch) == {"A": "x"}
        assert launch.open_env

    def test_fields_that_are_written_elsewhere(self) -> None:
        launch = self.launch("{{- with .Values.more }}\n{{- toYaml . | nindent 6 }}\n{{- end }}")
        assert [word.many for word in launch.argv] == [True]
        assert launch.open_env

    def test_resources_that_are_written_elsewhere(self) -> None:
        launch = self.launch("args: [m]\nresources:\n  {{- toYaml .Values.resources | nindent 8 }}")
        assert launch.container is not None
        assert (launch.container.gpus, launch.container.reserved) == (None, None)
        assert not launch.open_env


def test_environment_reaches_the_launch() -> None:
    launch = launch_in(pod("image: vllm/vllm-openai:v0.20.0\nenv:\n  - {name: HF_HOME, value: /cache}"), FILE)
    assert environment(launch) == {"HF_HOME": "/cache"}
    assert not launch.open_env


def test_a_script_of_the_image_in_front_of_a_shell() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n    - name: a\n      image: house/llm:1\n"
        "      command: [/opt/entrypoint.sh, bash, -c]\n      args: ['pip list && vllm serve m --port 80']\n"
    )
    assert argv(launch_in(text, FILE)) == ["m", "--port", "80"]


def test_an_empty_command_is_none() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n    - name: a\n"
        "      image: vllm/vllm-openai:v0.19.0\n      command: []\n      args: [--model, m]\n"
    )
    assert argv(launch_in(text, FILE)) == ["--model", "m"]


def test_a_variable_that_names_the_image_s_engine() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n    - name: a\n"
        "      image: ${VLLM_IMAGE}\n      args: [--model, m]\n"
    )
    assert argv(launch_in(text, FILE)) == ["--model", "m"]
    assert launches_in(text.replace("VLLM_IMAGE", "VLLM_ROUTER_IMAGE"), FILE) == []


ANNOTATED = """
    apiVersion: apps/v1
    kind: ReplicaSet
    metadata: {{name: requester}}
    spec:
      template:
        metadata:
          annotations:
            example.org/server-patch: |
              spec:
                containers:
                - name: inference-server
                  image: vllm/vllm-openai:v0.10.0
                  command: {}
        spec:
          containers:
          - {{name: inference-server, image: "example.org/requester:1"}}
    """


def test_a_patch_in_an_annotation() -> None:
    found = launch_in(ANNOTATED.format("[vllm, serve, m, --port=80]"), FILE)
    assert (argv(found), release(found)) == (["m", "--port=80"], ("0.10.0", "image"))
    assert found.open_env


LAST_APPLIED = '{"apiVersion": "v1", "spec": {"containers": [{"command": ["vllm", "serve", "m"]}]}}'


@pytest.mark.parametrize(
    "annotation",
    [
        'description: "run vllm serve m in one of the containers: see the guide"',
        f"kubectl.kubernetes.io/last-applied-configuration: '{LAST_APPLIED}'",
    ],
)
def test_annotations_that_start_nothing(annotation: str) -> None:
    metadata = f"metadata:\n  name: a\n  annotations:\n    {annotation}\n"
    text = f"apiVersion: v1\nkind: Pod\n{metadata}spec:\n  containers: [{{name: a, image: nginx}}]\n"
    assert launches_in(text, FILE) == []


@pytest.mark.parametrize("labels", ["{a: ${NAME}, b: null}", "{a: ${NAME}}", "[${NAME}, b]", "{a: x}"])
def test_a_patch_in_an_annotation_that_envsubst_fills_in(labels: str) -> None:
    text = (
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a}\nspec:\n  template:\n    metadata:\n      annotations:\n"
        f"        dual-pod.llm-d.ai/server-patch: |\n          metadata:\n            labels: {labels}\n          spec:\n"
        "            containers:\n            - name: server\n              image: vllm/vllm-openai:v0.26.0\n"
        "              command: [vllm, serve]\n              args:\n              - --model=${REGISTRY}/${NAME}\n"
        "              - --max-model-len=8\n    spec:\n      containers:\n        - {name: server, image: a/requester}\n"
    )
    launch = launch_in(text, "server-request.yaml")
    assert (launch.engine, launch.release.release) == ("vllm", "0.26.0")
    assert argv(launch)[-2:] == ["--model=${REGISTRY}/${NAME}", "--max-model-len=8"]


@pytest.mark.parametrize("line", ["${ARGS}", "{ARGS}", "      <args>", "@ARGS@", "        %ARGS%"])
def test_lines_that_a_program_fills_in(line: str) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: vllm/vllm-openai:v0.19.1\n"
        f'    command:\n    - vllm\n    - serve\n    args:\n    - --port\n    - "8000"\n{line}\n  tolerations:\n{line}\n'
    )
    launch = launch_in(text, "a.yaml.tpl")
    assert [word.shown for word in launch.argv] == ["--port", "8000", line.strip()]
    assert launch.argv[2].many
    assert not launch.argv[2].text.known


class TestUserData:
    """What a machine runs at its first boot."""

    def test_a_script(self) -> None:
        text = """
            apiVersion: aws.example.io/v1
            kind: XInstance
            metadata: {name: box}
            spec:
              userData: |
                #!/bin/bash
                systemctl enable --now docker
                docker run -d --gpus all vllm/vllm-openai:v0.20.0 --model m --max-model-len 8192
        """
        launch = launch_in(text, FILE)
        assert (launch.name, launch.engine, launch.release.release) == ("XInstance/box.userData", "vllm", "0.20.0")
        assert argv(launch) == ["--model", "m", "--max-model-len", "8192"]

    def test_a_script_under_another_name(self) -> None:
        text = """
            apiVersion: aws.example.io/v1
            kind: XMachine
            metadata: {name: box}
            spec:
              boot:
                - script: |
                    #!/bin/bash
                    vllm serve m --port 81
        """
        launch = launch_in(text, FILE)
        assert (launch.name, argv(launch)) == ("XMachine/box.script", ["m", "--port", "81"])
        assert launches_in(text.replace("#!/bin/bash", "# an example"), FILE) == []

    def test_a_format_of_crossplane(self) -> None:
        text = """
            apiVersion: apiextensions.crossplane.io/v1
            kind: Composition
            metadata: {name: box}
            spec:
              resources:
                - patches:
                    - type: CombineFromComposite
                      combine:
                        variables: [{fromFieldPath: spec.model}, {fromFieldPath: spec.port}]
                        strategy: string
                        string:
                          fmt: |
                            #!/bin/bash
                            vllm serve %s --port %d --revision 100%%
        """
        assert argv(launch_in(text, FILE)) == ["%s", "--port", "%d", "--revision", "100%%"]
        assert [word.text.known for word in launch_in(text, FILE).argv] == [False, True, False, True, True]

    def test_a_configuration_of_cloud_init(self) -> None:
        text = """
            apiVersion: kubevirt.io/v1
            kind: VirtualMachine
            metadata: {name: llm}
            spec:
              template:
                spec:
                  volumes:
                  - name: init
                    cloudInitNoCloud:
                      userData: |
                        #cloud-config
                        runcmd:
                        - docker run --gpus all vllm/vllm-openai:v0.20.0 --model m
        """
        launch = launch_in(text, FILE)
        assert (launch.name, launch.release.release) == ("VirtualMachine/llm.userData", "0.20.0")
        assert argv(launch) == ["--model", "m"]

    @pytest.mark.parametrize(
        "data",
        [
            "#!/bin/bash\n    docker pull vllm/vllm-openai:v0.20.0",
            "#!/bin/bash\n    echo vllm serve m",
            "a note: vllm serve m",
        ],
    )
    def test_one_that_starts_nothing(self, data: str) -> None:
        text = f"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec:\n  userData: |\n    {data}\n"
        assert launches_in(text, FILE) == []

    def test_one_that_aliases_itself(self) -> None:
        text = "apiVersion: a.example.io/v1\nkind: X\nspec: &a\n  again: *a\n  userData: |\n    #!/bin/sh\n    vllm serve m\n"
        assert [argv(one) for one in reading(text, FILE)[0].launches] == [["m"]]


def test_a_program_in_a_config_map_that_no_container_runs() -> None:
    text = """
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: programs}
        data:
          serve.py: |
            import subprocess
            subprocess.run(["vllm", "serve", "m", "--max-model-len", "4096"])
          client.py: |
            from vllm import SamplingParams
    """
    launch = launch_in(text, FILE)
    assert (launch.name, argv(launch)) == ("ConfigMap/programs.serve.py", ["m", "--max-model-len", "4096"])


def test_a_container_called_after_an_engine() -> None:
    text = """apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec: {template: {spec: {containers: [{name: server, image: IMAGE, args: [ARGS]}]}}}
"""
    words = "--model=m/n, --max-model-len=8, --download-dir=/d"
    cases = [
        ("vllm", "team/services:llm_1.20", words, "vllm"),
        ("vllm", "team/services:llm_1.20", f"{words}, --not-of-the-engine=1", None),
        ("vllm", "team/services:llm_1.20", "--model=m/n", None),
        ("vllm", "team/llm-d-inference-sim:v1", words, None),
        ("chat", "team/services:llm_1.20", words, None),
    ]
    for name, image, args, engine in cases:
        found = launches_in(text.replace("NAME", name).replace("IMAGE", image).replace("ARGS", args), FILE)
        assert [(one.engine, release(one)[0]) for one in found] == ([(engine, None)] if engine else [])


def test_a_patch_of_an_object_called_after_an_engine() -> None:
    text = """apiVersion: apps/v1
kind: Deployment
metadata: {name: guide-vllm-decode}
spec: {template: {spec: {containers: [{name: modelserver, args: [--model=m/n, --max-model-len=8, --tensor-parallel-size=2]}]}}}
"""
    assert [one.engine for one in launches_in(text, FILE)] == ["vllm"]


def test_a_runtime_of_an_image_that_needs_no_words() -> None:
    text = """apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: ollama}
spec: {containers: [{name: kserve-container, image: "team/ollama-ubi9:0.2.8"}]}
"""
    assert [(one.engine, release(one)[0]) for one in launches_in(text, FILE)] == [("ollama", "0.2.8")]


SUPERVISOR = """apiVersion: v1
kind: ConfigMap
metadata: {name: files}
data:
  supervisord.conf: |
    [program:llm]
    command=vllm serve m/n --seed 1
    environment=HF_HOME="/models"
"""


def test_supervisord_whose_file_a_config_map_or_its_script_holds() -> None:
    """The container's image says the release."""
    mounted = (
        SUPERVISOR
        + "---\n"
        + pod(
            """
name: llm
image: vllm/vllm-openai:v0.12.0
command: [supervisord, -n, -c, /etc/s/supervisord.conf]
volumeMounts: [{name: files, mountPath: /etc/s}]
"""
        )
        + "  volumes: [{name: files, configMap: {name: files}}]\n"
    )
    written = pod(
        """
name: llm
image: vllm/vllm-openai:v0.12.0
command: [bash, -c]
args:
  - |
    cat > /etc/supervisord.conf <<EOF
    [program:llm]
    command=vllm serve m/n --seed 1
    EOF
    exec supervisord
"""
    )
    for text in (mounted, written):
        found = launch_in(text, FILE)
        assert (argv(found), release(found)[0]) == (["m/n", "--seed", "1"], "0.12.0")
        assert found.name == "Pod/llm.containers.llm.program:llm"
    alone = launch_in(SUPERVISOR, FILE)
    assert (alone.name, environment(alone)["HF_HOME"]) == ("ConfigMap/files.supervisord.conf", "/models")


LLAMA_SWAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: swap}
data:
  config.yaml: |
    models:
      small:
        cmd: "/app/llama-server \\
          -m /models/a.gguf --port ${PORT}"
"""


def test_llama_swap_whose_file_a_config_map_holds(tmp_path: Path) -> None:
    """The container's image says the release; without the container the file is read all the same."""
    container = """
name: llm
image: ghcr.io/mostlygeek/llama-swap:v158-cuda-b6445
command: [/app/llama-swap]
args: [GIVEN]
volumeMounts: [{name: c, mountPath: /app/config.yaml, subPath: config.yaml}]
"""
    words = ["-m", "/models/a.gguf", "--port", "${PORT}"]
    for given in ("--config, /app/config.yaml", "--config=/app/config.yaml", "-watch-config"):
        mounted = pod(container.replace("GIVEN", given)) + "  volumes: [{name: c, configMap: {name: swap}}]\n"
        found = launch_in(LLAMA_SWAP + "---\n" + mounted, FILE)
        assert (argv(found), release(found)[0], found.name) == (words, "b6445", "Pod/llm.containers.llm.models.small")
        (tmp_path / "configmap.yaml").write_text(LLAMA_SWAP)
        assert mentions_engine(mounted.encode())
        assert [release(one)[0] for one in launches_in(mounted, "deployment.yaml", tmp_path)] == ["b6445"]
    alone = launch_in(LLAMA_SWAP, FILE)
    assert (alone.name, argv(alone), release(alone)[0]) == ("ConfigMap/swap.config.yaml", words, None)
    (tmp_path / "deployment.yaml").write_text(mounted)
    assert release(launch_in(LLAMA_SWAP, FILE, tmp_path))[0] == "b6445"
    assert launches_in(LLAMA_SWAP.replace("models:", "model:"), FILE) == []


def test_kuberay_starts_ray_in_a_container_without_a_command() -> None:
    text = """
        apiVersion: ray.io/v1
        kind: RayCluster
        metadata: {name: r}
        spec:
          headGroupSpec:
            template:
              spec:
                containers:
                  - {name: head, image: "vllm/vllm-openai:v0.11.0", command: [vllm, serve, a/b]}
          workerGroupSpecs:
            - groupName: w
              template:
                spec:
                  containers: [{name: worker, image: "vllm/vllm-openai:v0.11.0"}]
    """
    assert argv(launch_in(text, "ray.yaml")) == ["a/b"]
