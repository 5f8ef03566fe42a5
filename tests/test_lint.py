"""The way of files through a check: one that cannot be read costs the others nothing."""

from __future__ import annotations

import os
from textwrap import dedent

import pytest

from servelint import lint
from servelint.core.launch import Launch
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lint import add_source, beside, check, check_launches
from servelint.readers import Reading, read
from tests.launching import launch_in, shown
from tests.running import Workspace

WRONG = "vllm serve m --gpu-memory-utilization 1.5\n"
RANGE = "vllm/gpu-memory-utilization-out-of-range"


def findings(report: Report) -> list[tuple[str, str, int]]:
    return [(finding.rule, finding.span.source.path, finding.span.line) for finding in report.findings]


class TestReport:
    def test_what_was_looked_at_and_what_was_found(self, workspace: Workspace) -> None:
        workspace.file("b.sh", WRONG)
        workspace.file("a.sh", "echo\nvllm serve m\n" + WRONG)
        workspace.file("none.sh", "echo hello\n")
        workspace.file("main.rs", "import vllm\n")
        report = check(["."])
        assert report.files == 3
        assert [source.path for source in report.sources] == ["a.sh", "b.sh"]
        assert [(launch.source.path, launch.line) for launch in report.launches] == [("a.sh", 2), ("a.sh", 3), ("b.sh", 1)]
        assert findings(report) == [(RANGE, "a.sh", 3), (RANGE, "b.sh", 1)]
        assert report.errors == []

    def test_of_nothing(self, workspace: Workspace) -> None:
        report = check(["."])
        assert (report.files, report.findings, report.launches, report.errors) == (0, [], [], [])

    def test_findings_of_a_file_in_the_order_of_their_places(self, workspace: Workspace) -> None:
        workspace.file(
            "run.sh",
            "pip install sglang==0.5.20\n"
            "export SGLANG_ENABLE_SPEC_V2=1\n"
            "sglang serve --model-path m --mem-fraction-static 85\n" + WRONG,
        )
        assert findings(check(["run.sh"])) == [
            ("sglang/spec-v2-removed", "run.sh", 2),
            ("sglang/mem-fraction-out-of-range", "run.sh", 3),
            (RANGE, "run.sh", 4),
        ]

    def test_findings_in_another_file_come_last(self, workspace: Workspace) -> None:
        workspace.file("llm.env", "SGLANG_ENABLE_SPEC_V2=1\n")
        workspace.file(
            "compose.yml",
            "services:\n  a:\n    image: lmsysorg/sglang:v0.5.20\n    env_file: llm.env\n"
            "    command: sglang serve --model-path m --mem-fraction-static 85\n    gpus: all\n",
        )
        assert findings(check(["compose.yml"])) == [
            ("sglang/mem-fraction-out-of-range", "compose.yml", 5),
            ("sglang/spec-v2-removed", "llm.env", 1),
        ]

    @pytest.mark.parametrize(("severity", "count"), [("info", 2), ("warning", 1), ("error", 1)])
    def test_severity(self, severity: str, count: int, workspace: Workspace) -> None:
        workspace.file("run.sh", "pip install vllm==0.28.0\n" + WRONG.rstrip() + " --kv-cache-dtype turboquant_k8v4\n")
        report = check(["run.sh"], Settings(severity=severity))
        assert len(report.findings) == count


class TestOneFinding:
    def test_of_a_command_that_runs_twice(self) -> None:
        text = "serve() {\n  " + WRONG + "}\nserve a\nserve b\n"
        source = Source("run.sh", text)
        reading = read(source)
        assert len(reading.launches) >= 1
        assert len(check_launches(source, reading.launches, Settings())) == 1

    def test_of_a_command_that_two_services_share(self, workspace: Workspace) -> None:
        workspace.file(
            "compose.yml",
            "x-c: &c [--model, m, --gpu-memory-utilization, '1.5']\n"
            "services:\n"
            "  a: {image: 'vllm/vllm-openai:v0.20.0', command: *c, gpus: all}\n"
            "  b: {image: 'vllm/vllm-openai:v0.20.0', command: *c, gpus: all}\n",
        )
        report = check(["compose.yml"])
        assert (len(report.launches), len(report.findings)) == (2, 1)


class TestBadFiles:
    """Each of them is one error, or none of our business; the good file beside is linted."""

    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("bad.yml", b"services:\n  llm: [\n# vllm\n", "bad.yml:4:1: not valid YAML: did not find expected node content"),
            (
                "bad.yml",
                b"services:\n  llm: vllm: m\n",
                "bad.yml:2:12: not valid YAML: mapping values are not allowed in this context",
            ),
            ("bad.yml", b"services: {a: \t\x01 vllm}\n", "bad.yml:1:16: not valid YAML: control characters are not allowed"),
            (
                "bad.yml",
                b'on: push\njobs:\n  a: {env: {A: "${{ secrets.A }}", B: ${{ vllm }}}\n b: 1\n',
                "bad.yml:4:2: not valid YAML: did not find expected ',' or '}'",
            ),
            (
                "bad.yml",
                b'- shell: "vllm serve {{ model }}"\n when: x\n',
                "bad.yml:2:2: not valid YAML: did not find expected '-' indicator",
            ),
            ("bad.yml", b"vllm: *nowhere\n", "bad.yml:1:7: not valid YAML: found undefined alias"),
            ("bad.json", b'{"num_speculative_tokens": }', "bad.json:1:28: not valid JSON: not a JSON value"),
            ("bad.sh", b"vllm serve \xff\n", "bad.sh:1:12: not valid UTF-8: byte 0xff"),
        ],
    )
    def test_errors(self, name: str, content: bytes, problem: str, workspace: Workspace) -> None:
        workspace.file(name, content)
        workspace.file("good.sh", WRONG)
        report = check(["."])
        assert [shown(error) for error in report.errors] == [problem]
        assert findings(report) == [(RANGE, "good.sh", 1)]
        assert report.files == 2

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("empty.yml", b""),
            ("blank.yml", b"\n \n"),
            ("comment.yml", b"# vllm\n"),
            ("list.yml", b"- vllm\n"),
            ("empty.sh", b""),
            ("empty.json", b"{} vllm"),
            ("text.json", b"vllm"),
        ],
    )
    def test_nothing_to_say(self, name: str, content: bytes, workspace: Workspace) -> None:
        workspace.file(name, content)
        workspace.file("zgood.sh", WRONG)
        report = check(["."])
        assert report.errors == []
        assert findings(report) == [(RANGE, "zgood.sh", 1)]

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("binary.sh", b"#!/bin/sh\nvllm serve m\n\0\0\0", "not read: it contains zero bytes"),
            (
                "wide.yml",
                "image: vllm/vllm-openai\n".encode("utf-16-le"),
                "not read: it contains zero bytes",
            ),
        ],
    )
    def test_bytes_that_are_no_text_are_a_note_in_a_folder(
        self, name: str, content: bytes, message: str, workspace: Workspace
    ) -> None:
        workspace.file(name, content)
        workspace.file("zgood.sh", WRONG)
        report = check(["."])
        assert report.errors == []
        assert [(one.path, one.message.partition(",")[0]) for one in report.notes] == [(name, message)]
        report = check([name, "zgood.sh"])
        assert [(one.path, one.message.partition(",")[0]) for one in report.errors] == [(name, message)]
        assert findings(report) == [(RANGE, "zgood.sh", 1)]

    def test_a_task_definition_that_is_not_json(self, workspace: Workspace) -> None:
        text = '{"containerDefinitions": [{"image": "vllm/vllm-openai:v0.33.0", "command": ["--model", "m",}]}'
        workspace.file("task.json", text)
        workspace.file("results.json", '{"engine": "vllm/vllm-openai:v0.33.0", "tokens": [1,}')
        report = check(["."])
        assert [(one.path, one.line, one.message.partition(":")[0]) for one in report.errors] == [
            ("task.json", 1, "not valid JSON")
        ]

    def test_launches_before_a_break_are_judged(self, workspace: Workspace) -> None:
        service = (
            "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    command: --model m --gpu-memory-utilization 1.5\n"
            "    gpus: all\n"
        )
        workspace.file("compose.yml", service + "---\na: [\n")
        report = check(["."])
        assert findings(report) == [(RANGE, "compose.yml", 4)]
        assert [(error.line, error.message.partition(":")[0]) for error in report.errors] == [(8, "not valid YAML")]

    def test_missing_ones_and_pipes(self, workspace: Workspace) -> None:
        workspace.file("good.sh", WRONG)
        os.mkfifo("pipe.sh")
        report = check(["missing.yml", "pipe.sh", "good.sh"])
        assert [shown(error) for error in report.errors] == [
            "missing.yml:1:1: cannot be read: No such file or directory",
            "pipe.sh:1:1: not a regular file; what a pipe or a device gives is read from standard input, as -",
        ]
        assert findings(report) == [(RANGE, "good.sh", 1)]

    def test_a_bug_of_our_own(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        workspace.file("a.sh", "vllm serve m\n")
        workspace.file("b.sh", WRONG)

        def broken(source: Source, neighbours: Neighbours) -> Reading:
            if source.path == "a.sh":
                raise RuntimeError("what now")
            return read(source, neighbours)

        monkeypatch.setattr("servelint.readers.read", broken)
        report = check(["."])
        assert [shown(error) for error in report.errors] == [
            "a.sh:1:1: servelint failed on this file, which is a bug: RuntimeError: what now"
        ]
        assert findings(report) == [(RANGE, "b.sh", 1)]


def test_crlf_does_not_move_lines(workspace: Workspace) -> None:
    lines = ["services:", "  llm:", "    image: vllm/vllm-openai:v0.20.0", "    command: >-", "      --model m"]
    lines += ["      --gpu-memory-utilization 1.5", "    gpus: all", ""]
    workspace.file("lf.yml", "\n".join(lines))
    workspace.file("crlf.yml", "\r\n".join(lines))
    assert findings(check(["."])) == [(RANGE, "crlf.yml", 6), (RANGE, "lf.yml", 6)]


class TestNeighbours:
    def test_stand_beside_the_file(self, workspace: Workspace) -> None:
        workspace.file("deploy/.env", "UTIL=1.5\n")
        workspace.file(".env", "UTIL=0.5\n")
        workspace.file(
            "deploy/compose.yml",
            "services:\n  a:\n    image: vllm/vllm-openai:v0.20.0\n    command: --model m --gpu-memory-utilization ${UTIL}\n"
            "    gpus: all\n",
        )
        assert findings(check(["."])) == [(RANGE, "deploy/compose.yml", 4)]

    @pytest.mark.parametrize(
        ("path", "folder", "shown"), [("run.sh", ".", ""), ("a/run.sh", "a", "a"), ("/a/run.sh", "/a", "/a")]
    )
    def test_of_a_path(self, path: str, folder: str, shown: str) -> None:
        neighbours = beside(path)
        assert (neighbours.folder, neighbours.shown) == (folder, shown)


def test_a_source_is_added_to_a_report() -> None:
    report = Report()
    add_source(report, Source("run.sh", WRONG), Settings(), Neighbours(None))
    launches: list[Launch] = report.launches
    assert [launch.engine for launch in launches] == ["vllm"]
    assert findings(report) == [(RANGE, "run.sh", 1)]


def test_launches_are_checked_without_a_file() -> None:
    launch = launch_in(WRONG, "run.sh")
    assert [finding.rule for finding in check_launches(launch.source, [launch], Settings())] == [RANGE]
    assert check_launches(launch.source, [launch], Settings(ignore=(RANGE,))) == []


class TestFilesThatBelongTogether:
    BASE = """
        services:
          llm:
            image: vllm/vllm-openai:v0.20.0
            command: [--model, m, --gpu-memory-utilization, "1.5"]
          other:
            image: vllm/vllm-openai:v0.20.0
            command: [--model, m]
        """
    SERVICE = "image: vllm/vllm-openai:v0.20.0, volumes: ['./start.sh:/start.sh'], entrypoint: [bash, /start.sh]"

    def check(self, paths: list[str]) -> Report:
        return check(paths, Settings(select=(RANGE,)))

    def test_a_service_of_two_files_counts_once(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", dedent(self.BASE))
        workspace.file("compose.override.yml", "services: {llm: {environment: {MORE: '1'}}, more: {command: vllm serve m}}\n")
        for paths in (["."], ["compose.yml", "compose.override.yml"], ["compose.override.yml", "./compose.yml"]):
            report = self.check(paths)
            assert sorted((os.path.normpath(one.source.path), one.name) for one in report.launches) == [
                ("compose.override.yml", "services.more"),
                ("compose.yml", "services.llm"),
                ("compose.yml", "services.other"),
            ]
            assert [os.path.normpath(path) for _, path, _ in findings(report)] == ["compose.yml"]
            # the file in which it stands is the one that is fixed
            assert report.findings[0].launch in report.launches
        (only,) = self.check(["compose.override.yml"]).findings
        assert (only.rule, only.span.source.path) == (RANGE, "compose.yml")

    def test_what_an_override_mends_is_no_finding(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", dedent(self.BASE))
        workspace.file("compose.override.yml", "services: {llm: {command: [--model, m]}} # vllm\n")
        assert self.check(["."]).findings == []
        assert self.check(["compose.yml"]).findings == []

    def test_what_an_override_breaks_is_told_of_the_override(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", dedent(self.BASE).replace("1.5", "0.5"))
        workspace.file(
            "compose.override.yml", "services:\n  llm:\n    command: --model m --gpu-memory-utilization 1.5 # vllm\n"
        )
        for paths in (["."], ["compose.yml"], ["compose.override.yml"]):
            assert findings(self.check(paths)) == [(RANGE, "compose.override.yml", 3)]

    def test_a_script_that_a_service_runs_counts_once(self, workspace: Workspace) -> None:
        workspace.file("start.sh", WRONG)
        workspace.file("compose.yml", f"services: {{llm: {{{self.SERVICE}}}}}\n")
        report = self.check(["."])
        assert findings(report) == [(RANGE, "start.sh", 1)]
        assert report.findings[0].launch in [launch for launch in report.launches if launch.source.path == "start.sh"]

    def test_a_variable_that_two_releases_lose_counts_once(self, workspace: Workspace) -> None:
        service = "image: 'vllm/vllm-openai:v{}', environment: *env, command: --model Qwen/Qwen3-8B"
        rows = [f"  v{number}: {{{service.format(one)}}}" for number, one in enumerate(("0.12.0", "0.11.0"))]
        workspace.file("compose.yml", "x-env: &env {VLLM_USE_V1: '1'}\nservices:\n" + "\n".join(rows) + "\n")
        lost = Settings(select=("vllm/removed-env", "vllm/removed-later"))
        assert findings(check(["compose.yml"], lost)) == [("vllm/removed-env", "compose.yml", 1)]

    def test_two_services_that_run_the_same_script_count_once(self, workspace: Workspace) -> None:
        workspace.file("start.sh", WRONG)
        for name in ("a.yml", "b.yml"):
            workspace.file(name, f"services: {{llm: {{{self.SERVICE}}}}}\n")
        assert findings(self.check(["a.yml", "b.yml"])) == [(RANGE, "start.sh", 1)]

    def test_a_comment_in_the_file_where_it_stands_silences_it(self, workspace: Workspace) -> None:
        workspace.file("start.sh", WRONG.rstrip() + f" # servelint: ignore[{RANGE}] why\n")
        workspace.file("compose.yml", f"services: {{llm: {{{self.SERVICE}}}}}\n")
        assert self.check(["compose.yml"]).findings == []
        assert self.check(["."]).findings == []

    def test_a_comment_in_the_file_that_was_read_silences_it(self, workspace: Workspace) -> None:
        workspace.file("start.sh", WRONG)
        service = f"    # servelint: ignore[{RANGE}] why\n    entrypoint: [bash, /start.sh]\n"
        workspace.file("compose.yml", f"services:\n  llm:\n    volumes: ['./start.sh:/start.sh']\n{service}")
        assert self.check(["compose.yml"]).findings == []
        assert findings(self.check(["."])) == [(RANGE, "start.sh", 1)]

    def test_only_the_file_that_was_read_is_fixed(self, workspace: Workspace) -> None:
        base = """
            services:
              base:
                image: lmsysorg/sglang:v0.5.20
                environment:
                  SGLANG_ENABLE_SPEC_V2: "1"
                  MORE: "1"
                command: python3 -m sglang.launch_server --model-path m
            """
        workspace.file("base.yml", dedent(base))
        workspace.file("compose.yml", "services: {llm: {extends: {file: base.yml, service: base}}} # sglang\n")
        rule = "sglang/spec-v2-removed"
        for path, fixed in (("base.yml", True), ("compose.yml", False)):
            (finding,) = check([path], Settings(select=(rule,))).findings
            assert (finding.span.source.path, finding.fix is not None) == ("base.yml", fixed)
        (finding,) = check(["compose.yml", "base.yml"], Settings(select=(rule,))).findings
        assert finding.fix is not None


def test_in_steps_the_report_is_the_same(workspace: Workspace) -> None:
    for name in ("a.sh", "b.sh"):
        workspace.file(name, WRONG)
    workspace.file("bad.yml", "vllm: [\n")
    report = Report()
    assert len(list(lint.check_in_steps(["."], Settings(), report))) == 3
    whole = check(["."])
    assert findings(report) == findings(whole)
    assert [repr(one) for one in report.errors] == [repr(one) for one in whole.errors]


IMAGE = "image: vllm/vllm-openai:v0.11.0"
COMPOSE = f"services: {{v: {{{IMAGE}, command: '${{VLLM_OPTS}}'}}}}\n"
CHART = {
    "c/Chart.yaml": "apiVersion: v2\nname: x\nversion: 0.1.0\n",
    "c/values.yaml": f"{IMAGE}\nvllm:\n  args: [--model, m, --seed, '1']\n",
    "c/templates/a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n    - name: vllm\n"
    "      image: {{ .Values.image }}\n      args:\n        {{- toYaml .Values.vllm.args | nindent 8 }}\n",
}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({".env": "A_ARGS=--seed 1\n", "s.sh": "vllm serve m $VLLM_ARGS\n", "v.env": "VLLM_ARGS=--seed 1\n"}, ["s.sh"]),
        (
            {"d/.env.example": "A_OPTS=\nVLLM_OPTS=--seed 1\n", "d/compose.yml": COMPOSE},
            ["d/compose.yml"],
        ),
        ({"d/.env": "VLLM_ARGS=--seed 1\n", "d/bin/s.sh": 'vllm serve m "${VLLM_ARGS}"\n'}, ["d/bin/s.sh"]),
        ({"d/.env": "VLLM_ARGS=--seed 1\n", "e/s.sh": 'vllm serve m "${VLLM_ARGS}"\n'}, ["d/.env", "e/s.sh"]),
        ({"v.env": "VLLM_ARGS=--seed 1\n", "s.sh": "vllm serve m $VLLM_ARGS_2\n"}, ["s.sh", "v.env"]),
        ({"v.env": "VLLM_ARGS=--seed 1\n", "s.sh": "python -m sglang.launch_server $VLLM_ARGS\n"}, ["s.sh", "v.env"]),
        ({"s.sh": "docker run ollama/ollama:0.9.0\ndocker exec ollama ollama pull gemma3\n"}, ["s.sh"]),
        (CHART, ["c/templates/a.yaml"]),
        ({**CHART, "c/values.yaml": f"{IMAGE}\nvllm:\n  args: [--seed, '1']\nb:\n  {IMAGE}\n  args: [--model, n]\n"},
         ["c/templates/a.yaml", "c/values.yaml"]),
    ],
)  # fmt: skip
def test_a_part_of_a_launch_in_another_file_is_none_of_its_own(
    files: dict[str, str], expected: list[str], workspace: Workspace
) -> None:
    for path, text in files.items():
        workspace.file(path, text)
    found = check(["."]).launches
    assert sorted(os.path.normpath(one.source.path) for one in found) == expected


def test_a_program_that_a_container_runs_counts_there(workspace: Workspace) -> None:
    program = 'import os, subprocess\nsubprocess.run(["vllm", "serve", os.environ["MODEL"]])\n'
    workspace.file("serve.py", program)
    workspace.file("other.py", program)
    workspace.file(
        "Dockerfile", 'FROM python:3.12\nRUN pip install vllm==0.11.0\nCOPY serve.py /serve.py\nCMD ["python", "/serve.py"]\n'
    )
    found = check(["."]).launches
    assert [(os.path.normpath(one.site.source.path), one.release.release) for one in found] == [
        ("serve.py", "0.11.0"),
        ("other.py", None),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.service", "[Unit]\nDescription=vLLM\n[Service]\nEnvironment=MODEL=m\nExecStart=/usr/bin/python3 /opt/a/serve.py\n"),
        ("run.sh", "MODEL=m python serve.py # vllm\n"),
    ],
)
def test_a_program_that_another_file_starts_counts_there(name: str, text: str, workspace: Workspace) -> None:
    workspace.file("serve.py", 'import os, subprocess\nsubprocess.run(["vllm", "serve", os.environ["MODEL"]])\n')
    workspace.file(name, text)
    (launch,) = check(["."]).launches
    assert os.path.normpath(launch.source.path) == name
    assert [word.value for word in launch.argv] == ["m"]
