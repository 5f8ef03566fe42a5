"""How a container is run: what compose files, `docker run` and pods say of ports, mounts, checks and networks."""

from __future__ import annotations

import pytest

from servelint.core.launch import Port, Runtime
from servelint.core.text import TracedText, unknown
from servelint.readers import runtime
from tests.launching import launch_in, launches_in, marked_launch
from tests.together import together


def compose(fields: str, others: str = "") -> Runtime:
    lines = [f"    {line}" for line in fields.strip().splitlines()]
    text = (
        "services:\n  llm:\n    image: vllm/vllm-openai:v0.33.0\n    command: [--model, m]\n" + "\n".join(lines) + "\n" + others
    )
    return of_launch(text, "compose.yml")


def run(options: str, after: str = "") -> Runtime:
    return of_launch(f"docker run {options} vllm/vllm-openai:v0.33.0 --model m\n{after}", "run.sh")


def pod(container: str = "", spec: str = "", kind: str = "Pod") -> Runtime:
    lines = ["apiVersion: v1", f"kind: {kind}", "metadata: {name: llm}", "spec:"]
    lines += [f"  {line}" for line in spec.splitlines()]
    lines += ["  containers:", "    - name: s", "      image: vllm/vllm-openai:v0.33.0"]
    lines += [f"      {line}" for line in container.splitlines()]
    return of_launch("\n".join(lines) + "\n", "pod.yaml")


def of_launch(text: str, filename: str) -> Runtime:
    container = launches_in(text, filename)[0].container
    assert container is not None
    assert container.runtime is not None
    return container.runtime


def ports(found: Runtime) -> list[tuple[int | None, int | None, bool | None]]:
    return [told(port) for port in found.ports or []]


def told(port: Port) -> tuple[int | None, int | None, bool | None]:
    return port.number, port.host, port.exposed


class TestPublished:
    @together(
        "text, expected",
        [
            ("8000:8001", [(8001, 8000, True)]),
            ("8000", [(8000, None, True)]),
            ("0.0.0.0:8000:8001", [(8001, 8000, True)]),
            ("127.0.0.1:8000:8001", [(8001, 8000, False)]),
            ("[::1]:8000:8001", [(8001, 8000, False)]),
            ("[::]:8000:8001", [(8001, 8000, True)]),
            ("8000:8001/tcp", [(8001, 8000, True)]),
            ("8000:8001/udp", []),
            ("9000-9001:7000-7001", [(7000, 9000, True), (7001, 9001, True)]),
            ("a:b", [(None, None, None)]),
            ("9000-1:7000-1", [(None, None, None)]),
        ],
    )
    def test_text(self, text: str, expected: list[tuple[int | None, int | None, bool | None]]) -> None:
        assert [told(port) for port in runtime.published(TracedText.of(text))] == expected

    def test_unknown_parts(self) -> None:
        hole = TracedText((unknown("V", None),))
        assert [told(one) for one in runtime.published(TracedText.join((hole, TracedText.of(":8000"))))] == [(8000, None, True)]
        assert [told(one) for one in runtime.published(TracedText.join((hole, TracedText.of(":80:8000"))))] == [
            (8000, 80, None)
        ]
        assert [told(one) for one in runtime.published(TracedText.join((TracedText.of("80:"), hole)))] == [(None, None, None)]

    @pytest.mark.parametrize(
        ("text", "seconds"), [("30s", 30), ("1m30s", 90), ("2h", 7200), ("500ms", 0.5), ("0", 0), ("30", None), ("soon", None)]
    )
    def test_duration(self, text: str, seconds: float | None) -> None:
        assert runtime.duration(TracedText.of(text), 7) == seconds

    def test_duration_that_is_not_given_or_not_known(self) -> None:
        assert runtime.duration(None, 7) == 7
        assert runtime.duration(TracedText((unknown("V", None),)), 7) is None

    @pytest.mark.parametrize(
        ("command", "port"),
        [
            ("curl -f http://localhost:8000/health || exit 1", 8000),
            ("wget -qO- 127.0.0.1:8080/health", 8080),
            ("python3 -c \"import urllib.request as r; r.urlopen('http://localhost:30000/health')\"", 30000),
            ("curl http://other:8000/health", None),
            ("curl http://localhost:8000/a && curl http://localhost:9000/b", None),
            ("curl http://localhost/health", None),
            ("test -f /ready # localhost:8000", None),
        ],
    )
    def test_port_that_a_check_asks(self, command: str, port: int | None) -> None:
        assert runtime.asked([TracedText.of(command)])[0] == port

    @together(
        "command, path",
        [
            ("curl -f http://localhost:8000/health || exit 1", "/health"),
            ("curl --silent --fail 'http://localhost:8000/v1/models'", "/v1/models"),
            ('curl -sSf "http://127.0.0.1:8000/healthz"', "/healthz"),
            ("wget -q --spider http://localhost:8000/ready", "/ready"),
            ("curl http://localhost:8000/healthz", None),  # 404 is an answer
            ("curl -s http://localhost:8000/a | grep -f x", None),
            ("curl -f http://localhost:8000", None),
            ("curl -f http://localhost:8000/a?b=c", None),
        ],
    )
    def test_path_that_a_check_asks(self, command: str, path: str | None) -> None:
        found = runtime.asked([TracedText.of(command)])[2]
        assert (found.flat if found is not None else None) == path


class TestCompose:
    def test_ports(self) -> None:
        found = compose(
            'ports: ["8000:8001", "127.0.0.1:9000:9001", {target: 3, published: "4", host_ip: 127.0.0.1}, {target: 5}]'
        )
        assert ports(found) == [(8001, 8000, True), (9001, 9000, False), (3, 4, False), (5, None, True)]

    def test_values_stand_where_they_are_written(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.33.0
                command: [--model, m]
                ports: ["⟦8000:8001⟧"]
                healthcheck: {test: "curl http://localhost:⟦8001⟧/health", start_period: ⟦10s⟧}
                volumes: [cache:⟦/root/.cache⟧:ro]
                restart: ⟦always⟧
        """)
        found = launch.container.runtime if launch.container is not None else None
        assert found is not None
        assert found.ports is not None
        assert found.mounts is not None
        probe = found.probes[0]
        assert probe.site is not None
        assert found.restart is not None
        texts = [found.ports[0].text, probe.site, probe.text, found.mounts[0], found.restart]
        assert [text.span() for text in texts] == marks

    def test_mounts(self) -> None:
        volumes = r"[data:/a, /b, ./c:/c:ro, {type: bind, source: d, target: /d}, 'C:\e:/e']"
        found = compose(f"volumes: {volumes}\ntmpfs: [/run, '/tmp:size=1g']")
        assert [mount.shown for mount in found.mounts or []] == ["/a", "/b", "/c", "/d", "/e", "/run", "/tmp"]

    def test_mounts_of_other_services_are_not_known(self) -> None:
        assert compose("volumes_from: [other]").mounts is None

    @pytest.mark.parametrize(
        ("fields", "private"),
        [
            ("", True),
            ("network_mode: bridge", True),
            ("network_mode: host", False),
            ("network_mode: service:vpn", False),
            ("network_mode: ${NET}", None),
        ],
    )
    def test_network(self, fields: str, private: bool | None) -> None:
        assert compose(fields).private is private

    def test_network_that_another_service_joins(self) -> None:
        assert compose("", "  proxy: {image: nginx, network_mode: 'service:llm'}\n").private is False

    @pytest.mark.parametrize(
        ("check", "patience"),
        [
            ("{test: curl localhost}", 90),
            ("{test: curl localhost, start_period: 5m}", 390),
            ("{test: [CMD, curl, localhost], interval: 10s, retries: 2}", 20),
            ("{test: curl localhost, retries: '${N}'}", None),
            ("{test: [CMD-SHELL, 'pgrep -f vllm || exit 1']}", None),
            ("{test: [CMD, test, -f, /tmp/alive]}", None),
            ("{test: [CMD, python3, -c, 'import socket; socket.create_connection((\"\", 8000))']}", 90),
        ],
    )
    def test_health_check(self, check: str, patience: float | None) -> None:
        assert [probe.patience for probe in compose(f"healthcheck: {check}").probes] == [patience]

    @pytest.mark.parametrize(
        "check", ["{disable: true}", "{test: [NONE]}", "{interval: 1s}", "{test: curl localhost, disable: true}"]
    )
    def test_no_health_check_of_its_own(self, check: str) -> None:
        assert compose(f"healthcheck: {check}").probes == []

    @pytest.mark.parametrize(
        ("extra", "checked"),
        [
            ("ports: ['1:1']", True),
            ("healthcheck: {interval: 1s}", True),
            ("healthcheck: {test: curl localhost}", False),
            ("healthcheck: {disable: true}", False),
        ],
    )
    def test_whether_the_image_checks_itself(self, extra: str, checked: bool) -> None:
        assert compose(extra).checked is checked

    def test_a_service_that_waits(self) -> None:
        check = "healthcheck: {test: curl localhost}"
        waits = "  web:\n    image: web\n    depends_on:\n      llm: {condition: %s}\n"
        assert compose(check, waits % "service_healthy").probes[0].gates
        assert not compose(check, waits % "service_started").probes[0].gates
        assert not compose(check, "  web: {image: web, depends_on: [llm]}\n").probes[0].gates

    def test_nothing_is_known_where_another_file_says_more(self) -> None:
        extends = "extends: {file: base.yml, service: llm}"
        text = f"services:\n  llm:\n    {extends}\n    image: vllm/vllm-openai:v0.33.0\n    command: [--model, m]\n"
        container = launch_in(text).container
        assert container is not None
        assert container.runtime is None

    @pytest.mark.parametrize(
        ("command", "direct"),
        [
            ("[--model, m]", True),
            ("vllm serve m", True),
            ("bash -c 'vllm serve m'", True),
            ("bash -c 'nginx; vllm serve m'", False),
        ],
    )
    def test_whether_the_command_is_the_engine(self, command: str, direct: bool) -> None:
        entrypoint = "" if command.startswith("[") else "    entrypoint: []\n"
        text = f"services:\n  llm:\n    image: vllm/vllm-openai:v0.33.0\n{entrypoint}    command: {command}\n"
        assert of_launch(text, "compose.yml").direct is direct


class TestDockerRun:
    def test_everything(self) -> None:
        found = run(
            "-d -p 8000:8001 --publish=127.0.0.1:9:90 -v ~/.cache:/root/.cache --mount type=bind,src=/a,dst=/b,ro "
            "--tmpfs /t:size=1g --restart always --network host --health-cmd 'curl localhost:8001/health' --health-interval 5s"
        )
        assert ports(found) == [(8001, 8000, True), (90, 9, False)]
        assert [mount.shown for mount in found.mounts or []] == ["/root/.cache", "/t", "/b"]
        assert [(probe.patience, probe.port) for probe in found.probes] == [(15, 8001)]
        assert found.restart is not None
        assert found.restart.shown == "always"
        assert found.private is False
        assert found.direct

    @pytest.mark.parametrize(
        ("options", "private"),
        [
            ("", True),
            ("--network llm", True),
            ("--net=host", False),
            ("--network container:vpn", False),
            ("--network $NET", None),
        ],
    )
    def test_network(self, options: str, private: bool | None) -> None:
        assert run(options).private is private

    def test_network_that_another_container_joins(self) -> None:
        assert run("--name llm", "docker run --network container:llm nginx").private is False

    @pytest.mark.parametrize("command", ["docker run $OPTIONS", 'docker run "${OPTIONS[@]}"', "apptainer run"])
    def test_nothing_is_known(self, command: str) -> None:
        launch = launch_in(f"{command} vllm/vllm-openai:v0.33.0 vllm serve m\n", "run.sh")
        assert launch.container is None or launch.container.runtime is None

    @pytest.mark.parametrize("options", ["--no-healthcheck --health-cmd 'curl localhost'", "--health-cmd none"])
    def test_no_health_check(self, options: str) -> None:
        assert run(options).probes == []

    @pytest.mark.parametrize(
        ("command", "checked"),
        [
            ("docker run", True),
            ("docker run --no-healthcheck", False),
            ("docker run --health-cmd 'curl localhost:9000/health'", False),
            ("podman run", False),
        ],
    )
    def test_whether_the_image_checks_itself(self, command: str, checked: bool) -> None:
        assert of_launch(f"{command} ghcr.io/ggml-org/llama.cpp:server -m m.gguf\n", "run.sh").checked is checked


class TestPods:
    def test_ports_and_mounts(self) -> None:
        found = pod(
            "ports: [{containerPort: 8000, name: http}, {containerPort: 9, protocol: UDP}]\n"
            "volumeMounts: [{name: a, mountPath: /root/.cache}]"
        )
        assert ports(found) == [(8000, None, None)]
        assert [mount.shown for mount in found.mounts or []] == ["/root/.cache"]
        assert found.declared
        assert found.private

    @together(
        "probes, expected",
        [
            ("livenessProbe: {httpGet: {port: 8000}}", [("livenessProbe", 30, 8000)]),
            ("livenessProbe: {httpGet: {port: http}, initialDelaySeconds: 60}", [("livenessProbe", 90, 8001)]),
            ("readinessProbe: {httpGet: {port: 8000}}", [("readinessProbe", None, 8000)]),
            (
                "startupProbe: {tcpSocket: {port: 8000}, failureThreshold: 60}\nlivenessProbe: {httpGet: {port: 8000}}",
                [("startupProbe", 600, 8000), ("livenessProbe", None, 8000)],
            ),
            ("livenessProbe: {httpGet: {port: 8000, host: other}}", [("livenessProbe", 30, None)]),
            ("livenessProbe: {exec: {command: [curl, 'localhost:8000/health']}}", [("livenessProbe", 30, 8000)]),
            (
                "livenessProbe: {exec: {command: [/bin/sh, -c, 'pgrep -f sglang.launch_server >/dev/null']}}",
                [("livenessProbe", None, None)],
            ),
            (
                "livenessProbe: {exec: {command: [/bin/sh, -c, 'wget -q localhost/health || exit 1']}}",
                [("livenessProbe", 30, None)],
            ),
            ("startupProbe: {exec: {command: [cat, /tmp/started]}}", [("startupProbe", None, None)]),
            ("livenessProbe: {httpGet: {port: 8000}, periodSeconds: '{{ .Values.p }}'}", [("livenessProbe", None, 8000)]),
        ],
    )
    def test_probes(self, probes: str, expected: list[tuple[str, float | None, int | None]]) -> None:
        found = pod(f"ports: [{{containerPort: 8001, name: http}}]\n{probes}")
        assert [(probe.kind, probe.patience, probe.port) for probe in found.probes] == expected

    def test_a_pod_with_another_container_or_the_network_of_its_node(self) -> None:
        assert pod(spec="hostNetwork: true").private is False
        assert pod("ports: []\n", spec="initContainers: [{name: p, image: p, restartPolicy: Always}]").private is False
        assert pod(spec="initContainers: [{name: p, image: p}]").private is True

    def test_objects_of_operators_are_run_in_ways_of_their_own(self) -> None:
        text = """
            apiVersion: serving.kserve.io/v1beta1
            kind: InferenceService
            metadata: {name: llm}
            spec:
              predictor:
                containers:
                  - {name: c, image: "vllm/vllm-openai:v0.33.0", args: [--model, m]}
        """
        container = launch_in(text, "isvc.yaml").container
        assert container is not None
        assert container.runtime is None


class TestPrivileged:
    """A privileged container sees every GPU of its host, however many it reserves."""

    @pytest.mark.parametrize(("value", "visible"), [("true", None), ("false", 1), ("${P}", None)])
    def test_compose(self, value: str, visible: int | None) -> None:
        gpus = "deploy: {resources: {reservations: {devices: [{count: 1, capabilities: [gpu]}]}}}"
        text = f"services: {{llm: {{image: 'vllm/vllm-openai:v0.33.0', command: [--model, m], privileged: {value}, {gpus}}}}}\n"
        container = launch_in(text.replace("${P}", '"${P}"')).container
        assert container is not None
        assert (container.gpus, container.visible_gpus) == (1, visible)

    @pytest.mark.parametrize(("option", "visible"), [("--privileged", None), ("", 2)])
    def test_docker_run(self, option: str, visible: int | None) -> None:
        container = launch_in(f"docker run --gpus 2 {option} vllm/vllm-openai:v0.33.0 --model m\n", "run.sh").container
        assert container is not None
        assert (container.gpus, container.visible_gpus) == (2, visible)

    @pytest.mark.parametrize(
        ("context", "visible"), [("{privileged: true}", None), ("{privileged: false}", 1), ("{runAsUser: 0}", 1)]
    )
    def test_pods(self, context: str, visible: int | None) -> None:
        text = f"""
            apiVersion: v1
            kind: Pod
            metadata: {{name: llm}}
            spec:
              containers:
                - name: s
                  image: vllm/vllm-openai:v0.33.0
                  args: [--model, m]
                  securityContext: {context}
                  resources: {{limits: {{nvidia.com/gpu: 1}}}}
        """
        container = launch_in(text, "pod.yaml").container
        assert container is not None
        assert (container.gpus, container.visible_gpus) == (1, visible)
