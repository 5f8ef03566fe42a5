"""Commands that do not become what their author meant."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from servelint import readers
from servelint.core.finding import Finding
from servelint.core.settings import DEFAULT, Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.judge.container.launching import texts
from servelint.lint import check_launches
from servelint.readers import read
from tests.together import together

RULES = frozenset(
    ("not-started", "dropped-words", "variable-not-expanded", "variable-of-host", "expanded-early", "script-not-run")
)


def findings(text: str, name: str) -> list[Finding]:
    source = Source(name, dedent(text).removeprefix("\n"))
    found = check_launches(source, read(source, Neighbours(None)).launches, Settings(profile="strict"))
    return [finding for finding in found if finding.rule.removeprefix("container/") in RULES]


def rules(text: str, name: str) -> list[str]:
    return [finding.rule.removeprefix("container/") for finding in findings(text, name)]


def compose(fields: str, image: str = "lmsysorg/sglang:v0.5.5") -> str:
    return f"services:\n  llm:\n    image: {image}\n    gpus: all\n" + "".join(
        [f"    {line}\n" for line in fields.splitlines()]
    )


def dockerfile(lines: str) -> str:
    return f"FROM lmsysorg/sglang:v0.5.5\n{lines}\n"


def pod(fields: str) -> str:
    head = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    image: lmsysorg/sglang:v0.5.5\n"
    )
    return head + "".join([f"    {line}\n" for line in fields.splitlines()])


SERVE = "python3 -m sglang.launch_server --model-path m"
LISTED = '"python3", "-m", "sglang.launch_server", "--model-path", "m"'


class TestNotStarted:
    @together(
        "text, name, place",
        [
            (compose(f'entrypoint: [bash, -c]\ncommand: "export A=1 && exec {SERVE}"'), "compose.yml", "export"),
            (compose(f"entrypoint: [/bin/sh, -c]\ncommand: {SERVE}"), "compose.yml", "python3"),
            (compose(f"entrypoint: bash -c\ncommand: >\n  cd /app && {SERVE}"), "compose.yml", "cd"),
            (compose(f"command: source /venv/bin/activate && {SERVE}"), "compose.yml", "source"),
            (compose(f"command: A=1 {SERVE}"), "compose.yml", "A=1"),
            (compose(f"command: ['{SERVE}']"), "compose.yml", f"'{SERVE}'"),
            (dockerfile(f'CMD ["export", "A=1", "&&", {LISTED}]'), "Dockerfile", '"export"'),
            (dockerfile(f'CMD ["{SERVE}"]'), "Dockerfile", f'"{SERVE}"'),
            (dockerfile(f'ENTRYPOINT ["sh", "-c", {LISTED}]'), "Dockerfile", '"python3"'),
            (dockerfile(f"CMD [{LISTED.replace(chr(34), chr(39))}]"), "Dockerfile", f"[{LISTED.replace(chr(34), chr(39))}]"),
            (pod(f"command: [cd, /app, '&&', {LISTED}]"), "pod.yaml", "cd"),
            (pod(f'command: ["{SERVE}"]'), "pod.yaml", f'"{SERVE}"'),
            (pod(f"command: [bash, -c]\nargs: [{LISTED}]"), "pod.yaml", '"python3"'),
            (f"[Service]\nExecStart=cd /app && {SERVE}\n", "llm.service", "cd"),
            (f"[program:llm]\ncommand=cd /app && {SERVE}\n", "supervisord.conf", "cd"),
            (f'docker run --entrypoint "{SERVE}" lmsysorg/sglang:v0.5.5\n', "run.sh", f'"{SERVE}"'),
            (f"docker run --entrypoint bash lmsysorg/sglang:v0.5.5 -c {SERVE}\n", "run.sh", "python3"),
            (f"bash -c {SERVE}\n", "run.sh", "python3"),
        ],
    )
    def test_what_is_run_instead_is_marked(self, text: str, name: str, place: str) -> None:
        (finding,) = findings(text, name)
        assert (finding.rule, finding.severity) == ("container/not-started", "error")
        assert finding.span.text == place
        assert "SGLang is not started" in finding.message

    def test_options_that_a_shell_is_given(self) -> None:
        (finding,) = findings("FROM vllm/vllm-openai:v0.20.0\nCMD --model m\n", "Dockerfile")
        assert (finding.rule, finding.severity, finding.span.text) == ("container/not-started", "error", "--model m")
        assert finding.message == (
            "CMD is not a list: the image's entrypoint is given /bin/sh -c '--model m', and vLLM is not started"
        )
        assert finding.advice == 'write a list: CMD ["--option", "value"]'

    @together(
        "text, name",
        [
            (compose(f'entrypoint: [bash, -c]\ncommand: ["export A=1 && exec {SERVE}"]'), "compose.yml"),
            (compose(f"command: bash -c 'cd /app && {SERVE}'"), "compose.yml"),
            (compose(f"command: cd /app && {SERVE}", "example.com/sglang:1"), "compose.yml"),
            (compose(f"entrypoint: [bash, -c]\ncommand: $SCRIPT {SERVE}"), "compose.yml"),
            (dockerfile(f"CMD cd /app && {SERVE}"), "Dockerfile"),
            (f'FROM python:3.12\nCMD ["cd", "/app", "&&", {LISTED}]\n', "Dockerfile"),
            (pod(f"command: [bash, -c, 'exec \"$@\"', bash]\nargs: [{LISTED}]"), "pod.yaml"),
            (pod(f"command: [sh, -c, ./run.sh $0 $1]\nargs: [{LISTED}]"), "pod.yaml"),
            (f"[Service]\nExecStart=/bin/sh -c 'cd /app && {SERVE}'\n", "llm.service"),
            (f"bash -c '{SERVE}' name\n", "run.sh"),
            (f'bash -c "$SCRIPT" {SERVE}\n', "run.sh"),
            ("bash -c ls python3 -m other\n", "run.sh"),
        ],
    )
    def test_what_starts_or_is_not_known(self, text: str, name: str) -> None:
        assert rules(text, name) == []


class TestOperators:
    @pytest.mark.parametrize("operator", ["&&", "|", ">", ";", "2>&1"])
    def test_one_finding_for_all_that_a_shell_would_take(self, operator: str) -> None:
        source = Source("Dockerfile", dockerfile(f'CMD [{LISTED}, "{operator}", "tee", "/log"]'))
        found = check_launches(source, read(source).launches, DEFAULT)
        (finding,) = [one for one in found if one.rule == "sglang/unexpected-argument"]
        assert finding.message.startswith(f"no shell reads this command: '{operator}'")

    def test_words_that_the_image_starts_with_hide_the_model_behind_them(self) -> None:
        source = Source("compose.yml", compose("command: vllm serve m --port 80", "vllm/vllm-openai:v0.19.1"))
        found = [one for one in check_launches(source, read(source).launches, DEFAULT) if "unexpected" in one.rule]
        assert [one.span.text for one in found] == ["vllm serve"]

    @pytest.mark.parametrize("rest", ["&& echo x", "> /log 2>&1", "2>&1 | tee /log", "; sleep 1", "&"])
    def test_what_compose_drops(self, rest: str) -> None:
        (finding,) = findings(compose(f"command: {SERVE} {rest}"), "compose.yml")
        assert (finding.rule, finding.span.text) == ("container/dropped-words", rest)
        source = Source("compose.yml", compose(f"command: {SERVE} {rest}"))
        assert [word.shown for word in read(source).launches[0].argv] == ["--model-path", "m"]

    def test_what_compose_keeps(self) -> None:
        assert rules(compose(f"command: {SERVE} --served-model-name 'a|b' --chat-template \"x>y\""), "compose.yml") == []


class TestVariables:
    @pytest.mark.parametrize(
        ("text", "name"),
        [
            (dockerfile('ENV MODEL=m\nCMD ["python3", "-m", "sglang.launch_server", "--model-path", "$MODEL"]'), "Dockerfile"),
            (dockerfile('ENV MODEL=m\nCMD ["python3", "-m", "sglang.launch_server", "--model-path=${MODEL}"]'), "Dockerfile"),
            (
                pod(
                    "command: [python3, -m, sglang.launch_server]\nargs: [--model-path, $MODEL]\nenv: [{name: MODEL, value: m}]"
                ),
                "pod.yaml",
            ),
            (
                compose("environment: {MODEL: m}\ncommand: python3 -m sglang.launch_server --model-path $$MODEL"),
                "compose.yml",
            ),
        ],
    )
    def test_one_that_nothing_replaces(self, text: str, name: str) -> None:
        (finding,) = findings(text, name)
        assert (finding.rule, finding.severity) == ("container/variable-not-expanded", "error")

    @together(
        "text, name",
        [
            (dockerfile("ENV MODEL=m\nCMD python3 -m sglang.launch_server --model-path $MODEL"), "Dockerfile"),
            (dockerfile('CMD ["python3", "-m", "sglang.launch_server", "--model-path", "$MODEL"]'), "Dockerfile"),
            (
                pod(
                    "command: [python3, -m, sglang.launch_server]\nargs: [--model-path, $(MODEL)]\n"
                    "env: [{name: MODEL, value: m}]"
                ),
                "pod.yaml",
            ),
            # filled in before Kubernetes sees it, as the variable beside it
            (
                pod(
                    "command: [python3, -m, sglang.launch_server]\nargs: [--model-path, $MODEL]\n"
                    "env: [{name: MODEL, value: m}, {name: B, value: $B}]"
                ),
                "pod.yaml",
            ),
            (
                compose("environment: {MODEL: $MODEL}\ncommand: python3 -m sglang.launch_server --model-path $MODEL"),
                "compose.yml",
            ),
            (compose("environment: {A: m}\ncommand: python3 -m sglang.launch_server --model-path $MODEL"), "compose.yml"),
            (compose("environment: {M: m}\ncommand: python3 -m sglang.launch_server --model-path ${M:-x}"), "compose.yml"),
            (
                compose("environment: {M: m}\ncommand: [sh, -c, 'python3 -m sglang.launch_server --model-path $$M']"),
                "compose.yml",
            ),
        ],
    )
    def test_one_that_may_be_replaced(self, text: str, name: str) -> None:
        assert rules(text, name) == []

    def test_one_that_compose_takes_from_its_host(self) -> None:
        text = compose("environment: [MODEL=m]\ncommand: python3 -m sglang.launch_server --model-path ${MODEL}")
        (finding,) = findings(text, "compose.yml")
        assert (finding.rule, finding.span.text) == ("container/variable-of-host", "${MODEL}")


class TestScripts:
    @pytest.mark.parametrize("line", ["M=m", "export M=m", "read -r M", "for M in a b; do :; done"])
    def test_a_variable_that_is_replaced_too_early(self, line: str) -> None:
        text = f"cat > serve.sh <<EOF\n{line}\nvllm serve $M\nEOF\nbash serve.sh\n"
        (finding,) = findings(text, "run.sh")
        assert (finding.rule, finding.span.text) == ("container/expanded-early", "$M")

    @pytest.mark.parametrize(
        "text",
        [
            "cat > serve.sh <<'EOF'\nM=m\nvllm serve $M\nEOF\nbash serve.sh\n",
            "M=m\ncat > serve.sh <<EOF\nvllm serve $M\nEOF\nbash serve.sh\n",
            "cat > serve.sh <<EOF\nvllm serve $M\nM=m\nEOF\nbash serve.sh\n",
            "cat > serve.sh <<EOF\nM=m\nvllm serve \\$M\nEOF\nbash serve.sh\n",
        ],
    )
    def test_one_that_is_replaced_in_time(self, text: str) -> None:
        assert rules(text, "run.sh") == []

    @pytest.mark.parametrize(
        "lines",
        [
            f'RUN echo \'{SERVE}\' > /start.sh\nCMD ["sleep", "infinity"]',
            f"RUN printf '%s\\n' '#!/bin/sh' '{SERVE}' > /start.sh",
            f'COPY <<EOF /start.sh\n{SERVE}\nEOF\nCMD ["sleep", "1"]',
        ],
    )
    def test_a_script_that_the_image_does_not_run(self, lines: str) -> None:
        found = findings(dockerfile(lines), "Dockerfile")
        assert [(one.rule, one.severity) for one in found] == [("container/script-not-run", "info")]

    def test_one_that_it_runs(self) -> None:
        assert rules(dockerfile(f'RUN echo \'{SERVE}\' > /start.sh\nCMD ["sh", "/start.sh"]'), "Dockerfile") == []


class TestSecretsOfValues:
    TOKEN = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"

    @pytest.mark.parametrize(
        "secret",
        [
            "hf_token: {}",
            "hfToken: {}",
            "huggingface: {{token: {}}}",
            "secrets: [{{huggingFaceToken: {}}}]",
            "model: {{auth: {{api_key: {}}}}}",
        ],
    )
    def test_a_token_under_a_key_of_the_chart(self, secret: str) -> None:
        text = f"image: {{repository: vllm/vllm-openai, tag: v0.19.1}}\nargs: [--model, m]\n{secret.format(self.TOKEN)}\n"
        source = Source("values.yaml", text)
        (finding,) = [
            one for one in check_launches(source, read(source).launches, DEFAULT) if one.rule.endswith("secret-in-plain-text")
        ]
        assert finding.span.text == self.TOKEN
        assert self.TOKEN not in finding.message

    @pytest.mark.parametrize(
        "value",
        ["''", "null", "<your-hf-token>", "{secretName: a, secretKey: b}", "{{ .Values.t }}", "abc", "HUGGINGFACE_TOKEN"],
    )
    def test_what_is_no_secret(self, value: str) -> None:
        text = f"image: {{repository: vllm/vllm-openai, tag: v0.19.1}}\nargs: [--model, m]\nhf_token: {value}\n"
        source = Source("values.yaml", text)
        found = check_launches(source, read(source).launches, DEFAULT)
        assert [one.rule for one in found if "secret" in one.rule] == []

    @pytest.mark.parametrize("value", ["HUGGINGFACE_TOKEN", "<your-token-goes-here>"])
    def test_a_name_in_place_of_the_token(self, value: str) -> None:
        entry = f"{{name: a, repository: vllm/vllm-openai, tag: v0.19.1, modelURL: m, hf_token: {value}}}"
        source = Source("values.yaml", f"servingEngineSpec: {{modelSpec: [{entry}]}}\n")
        found = check_launches(source, read(source).launches, DEFAULT)
        assert [one.rule for one in found if "secret" in one.rule] == []

    def test_the_production_stack_sets_a_variable(self) -> None:
        entry = f"{{name: a, repository: vllm/vllm-openai, tag: v0.19.1, modelURL: m, hf_token: {self.TOKEN}}}"
        (launch,) = read(Source("values.yaml", f"servingEngineSpec: {{modelSpec: [{entry}]}}\n")).launches
        assert launch.env["HF_TOKEN"].value is not None
        assert launch.env["HF_TOKEN"].value.value == self.TOKEN
        found = check_launches(launch.source, [launch], DEFAULT)
        assert len([one for one in found if one.rule.endswith("secret-in-plain-text")]) == 1


def test_a_variable_that_the_shell_of_a_container_replaces() -> None:
    text = pod("command: [bash, -c, 'export HF_TOKEN=${TOKEN}; python3 -m sglang.launch_server --model-path m']")
    source = Source("pod.yaml", text)
    found = check_launches(source, read(source).launches, DEFAULT)
    assert [one.rule for one in found if one.rule == "container/env-not-expanded"] == []


@pytest.mark.parametrize(("value", "found"), [("${TIMEZONE}", 0), ("$TIMEZONE", 1)])
def test_a_variable_that_flux_replaces(value: str, found: int) -> None:
    text = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  values:\n    controllers:\n"
        "      a:\n        containers:\n          app:\n            image: {repository: ollama/ollama, tag: 0.17.1}\n"
        f"            env: {{TZ: '{value}'}}\n"
    )
    source = Source("helmrelease.yaml", text)
    rules = [one.rule for one in check_launches(source, read(source).launches, DEFAULT)]
    assert rules.count("container/env-not-expanded") == found


@together(
    "name, field, found",
    [
        ("pod.yaml", "name: a", 1),
        ("pod.yaml", "image: x", 1),
        ("pod.in.me.yaml", "name: a", 1),
        ("pod.yaml.template", "name: a", 0),
        ("vllm.tmpl.yaml", "name: a", 0),
        ("vllm-k8s.yml.envsubst", "name: a", 0),
        ("pod.yaml", "namespace: ${NAMESPACE}", 0),
        ("pod.yaml", 'name: "vllm-${RELEASE}"', 0),
        ("pod.yaml", "name: $(NAME)", 1),
        ("pod.yaml", "annotations: {by: $NAME}", 1),
    ],
)
def test_a_manifest_that_another_tool_fills_in(name: str, field: str, found: int) -> None:
    head = f"apiVersion: v1\nkind: Pod\nmetadata:\n  {field}\nspec:\n  containers:\n  - image: lmsysorg/sglang:v0.5.5\n"
    text = head + f"    name: c\n    command: [{LISTED}]\n    env: [{{name: HF_TOKEN, value: '${{TOKEN}}'}}]\n"
    source = Source(name, text)
    rules = [one.rule for one in check_launches(source, read(source).launches, DEFAULT)]
    assert rules.count("container/env-not-expanded") == found


@pytest.mark.parametrize("tag", ["v0.23.0", "latest", "nightly"])
@pytest.mark.parametrize(
    ("words", "rest"),
    [
        ("vllm serve", "m --port 8000"),
        ("serve", "m --port 8000"),
        ("python3 -m vllm.entrypoints.openai.api_server", "--model m --port 8000"),
        ("python -m vllm.entrypoints.openai.api_server", "--model m"),
    ],
)
def test_words_that_the_image_starts_with_are_named_alone(tag: str, words: str, rest: str) -> None:
    source = Source("compose.yml", compose(f"command: {words} {rest}", f"vllm/vllm-openai:{tag}"))
    found = [one for one in check_launches(source, read(source).launches, DEFAULT) if one.impact == "crash-at-start"]
    assert [(one.rule, one.span.text) for one in found] == [("vllm/unexpected-argument", words)]
    assert found[0].advice == f"delete {words} from the command, or set the entrypoint"
    assert found[0].fix is not None


def test_an_entrypoint_of_its_own_is_given_no_words_twice() -> None:
    text = compose("entrypoint: []\n    command: vllm serve m --port 80", "vllm/vllm-openai:v0.19.1")
    source = Source("compose.yml", text)
    found = check_launches(source, read(source).launches, DEFAULT)
    assert not [one for one in found if one.rule == "vllm/unexpected-argument"]


class TestOnAPage:
    POD = pod("args: [--model-path=a/b]")
    FILLED = pod(f"command: [{LISTED}]\nenv: [{{name: HF_TOKEN, value: $TOKEN}}]")

    def findings(self, name: str, text: str) -> list[Finding]:
        source = Source(name, text)
        found = check_launches(source, read(source, Neighbours(None)).launches, Settings(profile="strict"))
        return [one for one in found if one.rule in ("container/env-not-expanded", "container/not-started")]

    def test_what_is_not_started_is_where_the_page_shows_it(self) -> None:
        found = self.findings("page.md", f"# How\n\n```yaml\n{self.POD}```\n")
        assert [(one.rule, one.span.source.path) for one in found] == [("container/not-started", "page.md")]
        assert found[0].span.text == "--model-path=a/b"

    @pytest.mark.parametrize(("name", "found"), [("pod.yaml", 1), ("page.md", 0)])
    def test_a_reader_fills_in_a_variable(self, name: str, found: int) -> None:
        text = self.FILLED if name.endswith(".yaml") else f"# How\n\n```yaml\n{self.FILLED}```\n"
        assert [one.rule for one in self.findings(name, text)] == ["container/env-not-expanded"] * found


def test_what_is_refused_beside_a_command_that_is_not_started() -> None:
    fields = 'command: ["python3 -m sglang.launch_server --model-path m"]\nnetwork_mode: host\nnetworks: [a]'
    source = Source("compose.yml", compose(fields))
    found = check_launches(source, read(source, Neighbours(None)).launches, Settings(profile="strict"))
    assert [one.rule for one in found] == ["container/not-started", "container/refused-service"]


def test_every_kind_of_mishap_has_texts() -> None:
    folder = Path(readers.__file__).parent
    code = "\n".join([path.read_text(encoding="utf-8") for path in folder.rglob("*.py")])
    made = set(re.findall(r'(?:[Mm]ishap|not_started)\(\s*(?:[a-z_.]+, )?"([a-z-]+)"', code))
    assert made <= texts().keys()
    ends = "(-quotes|-program|-pod|-boolean|-other)$"
    assert [
        kind for kind in texts() if not {f'"{kind}"', f'"{re.sub(ends, "", kind)}"'} & set(re.findall(r'"[a-z-]+"', code))
    ] == []


_EITHER = "{{% if pinned %}}\n{}\n{{% else %}}\n{}\n{{% endif %}}"
_DEVICE = "deploy:\n  resources:\n    reservations:\n      devices:\n        - driver: nvidia\n          capabilities: [gpu]\n"
_COUNT, _IDS = "          count: all", "          device_ids: ['{{ gpu }}']"


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        (_EITHER.format("network_mode: host", "networks: [a]"), False),
        ("network_mode: host\n{% if pinned %}\nnetworks: [a]\n{% endif %}", True),
        ("{% if one %}\nnetwork_mode: host\n{% endif %}\n{% if two %}\nnetworks: [a]\n{% endif %}", False),
        (_EITHER.format("container_name: llm", "scale: 2"), False),
        ("scale: 2\n{% if named %}\ncontainer_name: llm\n{% endif %}", True),
        (_EITHER.format("network_mode: 'service:a'", "ports: ['8000:8000']"), False),
        (_EITHER.format("ports: ['8000:8000']", "scale: 2"), False),
        (_DEVICE + _EITHER.format(_COUNT, _IDS), False),
        (_DEVICE + f"{{% if a %}}\n{_COUNT}\n{{% endif %}}\n{{% if b %}}\n{_IDS}\n{{% endif %}}", False),
        (_DEVICE + f"{_COUNT}\n{{% if b %}}\n{_IDS}\n{{% endif %}}", True),
        (_DEVICE + f"{_COUNT}\n{_IDS}", True),
    ],
)
def test_keys_of_parts_that_exclude_each_other_are_not_combined(fields: str, refused: bool) -> None:
    source = Source("docker-compose.yml.j2", compose("command: [--model, m]\n" + fields))
    found = check_launches(source, read(source, Neighbours(None)).launches, Settings(profile="strict"))
    assert bool([one for one in found if one.rule in ("container/refused-device", "container/refused-service")]) is refused
