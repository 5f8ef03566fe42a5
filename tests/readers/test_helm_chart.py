"""Values of charts that nobody knows: an engine's image with words beside it, and what only looks like that."""

from __future__ import annotations

from pathlib import Path

import pytest

import servelint
from servelint.core.source import Source
from servelint.readers import helm
from servelint.syntax import yaml
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans
from tests.together import together

VALUES = "values.yaml"


def unknown_first(text: str) -> list[str]:
    """The words of the only launch of a text, which follow others that the chart passes."""
    launch = launch_in(text, VALUES)
    assert launch.argv[0].many
    assert launch.argv[0].value is None
    return argv(launch)[1:]


class TestWords:
    def test_more_arguments_beside_the_image(self) -> None:
        launch, marks = marked_launch(
            """
            replicaCount: 1
            image:
              repository: vllm/vllm-openai
              tag: ⟦v0.9.1⟧
            extraArgs:
              - ⟦--max-model-len⟧
              - "⟦4096⟧"
            env:
              - name: VLLM_USE_V1
                value: "1"
            resources:
              limits:
                nvidia.com/gpu: 2
            """,
            VALUES,
        )
        assert [word.shown for word in launch.argv] == ["", "--max-model-len", "4096"]
        assert spans(launch.argv)[1:] == marks[1:]
        assert release(launch) == ("0.9.1", "image")
        assert environment(launch) == {"VLLM_USE_V1": "1"}
        assert launch.open_env
        assert launch.container is not None
        assert (launch.container.gpus, launch.container.open) == (2, True)
        assert lines(launch) == (5, 7)

    def test_a_whole_command(self) -> None:
        launch = launch_in(
            """
            server:
              image: {repository: lmsysorg/sglang, tag: v0.5.9-cu126}
              command: [python3, -m, sglang.launch_server]
              args: [--model-path, a/b, --tp, "2"]
            """,
            VALUES,
        )
        assert argv(launch) == ["--model-path", "a/b", "--tp", "2"]
        assert (launch.engine, launch.name, release(launch)[0]) == ("sglang", "server", "0.5.9")

    def test_a_command_in_the_arguments(self) -> None:
        text = "a:\n  - name: x\n    image: registry.example/house:1\n    args: [llama-server, -m, /models/a.gguf]\n"
        launch = launch_in(text, VALUES)
        assert (launch.engine, argv(launch), launch.name) == ("llama.cpp", ["-m", "/models/a.gguf"], "a.x")

    def test_a_script(self) -> None:
        text = "image: vllm/vllm-openai:v0.9.1\ncommand: [/bin/sh, -c]\nargs:\n  - |\n    exec vllm serve $MODEL --dtype half\n"
        assert argv(launch_in(text, VALUES)) == ["${MODEL}", "--dtype", "half"]

    def test_a_deep_container(self) -> None:
        text = """
            workers:
              main:
                containers:
                  app:
                    image:
                      repository: ghcr.io/ggml-org/llama.cpp
                      tag: server-cuda-b8496@sha256:00
                    args: [-m, /models/a.gguf, --ctx-size, "8192"]
                    env: {LLAMA_ARG_PORT: 8080}
        """
        assert unknown_first(text) == ["-m", "/models/a.gguf", "--ctx-size", "8192"]
        launch = launch_in(text, VALUES)
        assert (launch.name, release(launch)[0]) == ("workers.main.containers.app", "b8496")
        assert environment(launch) == {"LLAMA_ARG_PORT": "8080"}

    @pytest.mark.parametrize(
        "text",
        [
            "image: {repository: vllm/vllm-openai, tag: v1, args: [--a, b]}\n",
            "image: {repository: vllm/vllm-openai, tag: v1}\nserver: {port: 1, args: [--a, b]}\n",
            "image: {repository: vllm/vllm-openai, tag: v1}\nvllm: {extraArgs: [--a, b]}\n",
            "image: vllm/vllm-openai:v1\nextraCmdArgs: [--a, b]\n",
            "image: vllm/vllm-openai:v1\nextraArgs: --a b\n",
            "image: {name: vllm/vllm-openai, tag: v1}\nargs: [--a]\nextraArgs: [b]\n",
        ],
    )
    def test_where_the_words_stand(self, text: str) -> None:
        assert unknown_first(text) == ["--a", "b"]

    def test_a_model_in_front(self) -> None:
        assert unknown_first("image: vllm/vllm-openai:v1\nargs: [a/b, --dtype, half]\n") == ["a/b", "--dtype", "half"]

    def test_parts_of_the_image(self) -> None:
        launch = launch_in(
            "image: {registry: docker.io, repository: vllm/vllm-openai, tag: '', digest: 'sha256:0'}\nargs: [--a]\n", VALUES
        )
        assert launch.image is not None
        assert launch.image.shown == "docker.io/vllm/vllm-openai@sha256:0"

    @pytest.mark.parametrize("image", ["{repository: vllm/vllm-openai}", "{repository: vllm/vllm-openai, tag: ''}"])
    def test_a_release_that_the_chart_knows(self, image: str) -> None:
        launch = launch_in(f"image: {image}\nargs: [--a]\n", VALUES)
        assert not launch.release.rolling
        assert release(launch)[0] is None


class TestNothing:
    @together(
        "text",
        [
            "image: {repository: vllm/vllm-openai, tag: v1}\n",
            "image: {repository: vllm/vllm-openai, tag: v1}\nargs: []\n",
            "image: {repository: vllm/vllm-openai, tag: v1}\nargs: [word, another]\n",
            "image: {repository: vllm/vllm-openai, tag: v1}\nports: [8000]\nmodel: {id: a/b}\n",
            "image: {repository: vllm/vllm-openai, tag: v1}\ncommand: [sleep, infinity]\n",
            "image: {repository: vllm/vllm-openai, tag: v1}\ncommand: [vllm, bench, serve]\nargs: [--model, a]\n",
            "image: {repository: lmcache/vllm-router, tag: v1}\nextraArgs: [--a, b]\n",
            "image: {repository: registry.example/house, tag: vllm}\nargs: [--a, b]\n",
            "enabled: false\nimage: {repository: vllm/vllm-openai, tag: v1}\nargs: [--a]\n",
            "a: {enabled: false, b: {image: {repository: vllm/vllm-openai, tag: v1}, args: [--a]}}\n",
            "image: {repository: vllm/vllm-openai, tag: v1}\nserver: {image: {repository: a/b}, args: [--a]}\n",
        ],
    )
    def test_what_starts_nothing(self, text: str) -> None:
        assert launches_in(text, VALUES) == []

    @pytest.mark.parametrize(
        "text",
        [
            "initContainers:\n  - {image: vllm/vllm-openai:v1, args: [--a]}\n",
            "objects:\n  - {apiVersion: v1, kind: Pod, image: vllm/vllm-openai:v1, args: [--a]}\n",
            "image: vllm/vllm-openai:v1\nscript: [vllm serve a]\n",
            "job:\n  image: {name: vllm/vllm-openai:v1}\n  commands: [vllm serve a]\n",
        ],
    )
    def test_what_is_another_reader_s(self, text: str) -> None:
        source = Source("values.yaml", text)
        assert not helm.is_mine(source, yaml.documents(source)[0][0])

    def test_aliases(self) -> None:
        bomb = "".join([f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)])
        text = f"a0: &a0 {{image: vllm/vllm-openai:v1, args: [--a]}}\n{bomb}"
        assert 0 < len(launches_in(text, VALUES)) < 100


_CHART = {
    "Chart.yaml": "apiVersion: v2\nname: mine\nversion: 0.1.0\n",
    "templates/deployment.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: x}
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
          args:
            - --model
            - {{ .Values.model }}
            - --load-format
            - auto
            {{- range .Values.extraArgs }}
            - {{ . | quote }}
            {{- end }}
""",
}
_HELD = "image: {repository: vllm/vllm-openai, tag: v0.20.0}\nmodel: Qwen/Qwen3-8B\nextraArgs: [--max-model-len, '4096']\n"


def test_words_that_a_template_adds_to_those_of_its_values(tmp_path: Path) -> None:
    for name, text in {**_CHART, "values.yaml": _HELD}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for paths in ([tmp_path / "values.yaml"], [tmp_path]):
        (found,) = servelint.check([str(path) for path in paths]).launches
        assert argv(found) == ["--model", "Qwen/Qwen3-8B", "--load-format", "auto", "--max-model-len", "4096"]


def test_values_whose_template_makes_another_launch(tmp_path: Path) -> None:
    other = _CHART["templates/deployment.yaml"].replace(".tag }}", ".tag }}-cu130")
    for name, text in {**_CHART, "values.yaml": _HELD, "templates/deployment.yaml": other}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (found,) = servelint.check([str(tmp_path / "values.yaml")]).launches
    assert argv(found)[-2:] == ["--max-model-len", "4096"]
