"""`servelint check`: what it reads, what it prints, and its exit status."""

from __future__ import annotations

import os

import pytest

from servelint.core.settings import FORMATS
from servelint.readers.discover import ZERO_BYTES
from tests.running import Workspace

WRONG = "vllm serve m --gpu-memory-utilization 1.5\n"
RANGE = "vllm/gpu-memory-utilization-out-of-range"
ALIAS = 'vllm serve Qwen/Qwen3.6-27B --speculative-config \'{"method": "qwen3_next_mtp", "num_speculative_tokens": 2}\'\n'
TURBO = "pip install vllm==0.33.0\nvllm serve Qwen/Qwen3-8B --kv-cache-dtype turboquant_k8v4\n"
COMPOSE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    command: [--model, m, --gpu-memory-utilization, "1.5"]
    gpus: all
"""


def rules(workspace: Workspace, *args: str) -> list[str]:
    return [finding["rule"] for finding in workspace.run("check", "--format", "json", *args).data["findings"]]


class TestExitStatus:
    @pytest.mark.parametrize(
        ("content", "status"),
        [
            ("vllm serve m\n", 0),
            (WRONG, 1),
            (ALIAS, 0),
            (TURBO, 0),
            ("echo hello\n", 0),
            ("vllm serve \xff".encode("latin-1"), 2),
        ],
        ids=["nothing", "error", "warning", "info", "no launch", "unreadable"],
    )
    def test_by_what_was_found(self, content: str | bytes, status: int, workspace: Workspace) -> None:
        workspace.file("run.sh", content)
        assert workspace.run("check", "run.sh").status == status

    @pytest.mark.parametrize(
        ("content", "fail_on", "status"),
        [
            (WRONG, "error", 1), (WRONG, "warning", 1), (WRONG, "info", 1), (WRONG, "never", 0),
            (ALIAS, "error", 0), (ALIAS, "warning", 1), (ALIAS, "info", 1), (ALIAS, "never", 0),
            (TURBO, "error", 0), (TURBO, "warning", 0), (TURBO, "info", 1), (TURBO, "never", 0),
        ],
    )  # fmt: skip
    def test_fail_on(self, content: str, fail_on: str, status: int, workspace: Workspace) -> None:
        workspace.file("run.sh", content)
        assert workspace.run("check", "run.sh", "--fail-on", fail_on).status == status

    def test_a_file_that_cannot_be_read_weighs_more_than_a_finding(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        ran = workspace.run("check", "run.sh", "missing.sh", "--fail-on", "never")
        assert ran.status == 2
        assert RANGE in ran.out
        assert "error: missing.sh:1:1: cannot be read: No such file or directory" in ran.out

    def test_no_launch_is_said_on_standard_error(self, workspace: Workspace) -> None:
        workspace.file("a.sh", "echo\n")
        workspace.file("b.sh", "vllm --version\n")
        ran = workspace.run("check")
        assert ran.status == 0
        assert ran.err == "servelint: no launch found in 2 files; b.sh mentions vLLM\n"
        assert ran.out.startswith("nothing found in 0 launches (2 files, ")

    def test_a_command_without_a_launch(self, workspace: Workspace) -> None:
        for command, more in (("", ""), ("ls", ""), ("vllm bench", "; it mentions vLLM")):
            ran = workspace.run("check", "--command", command)
            assert (ran.status, ran.err) == (0, f"servelint: no launch found in the command{more}\n")

    @pytest.mark.parametrize("name", ["values.yaml", "values-prod.yaml", "values.gpu.yml"])
    def test_values_without_their_chart(self, name: str, workspace: Workspace) -> None:
        workspace.file(f"c/{name}", "image: {repository: vllm/vllm-openai}\nmaxModelLen: 1\n")
        said = f"c/{name} mentions vLLM, as values of a chart whose templates are not beside it\n"
        assert workspace.run("check").err == f"servelint: no launch found in 1 file; {said}"
        workspace.file("c/templates/service.yaml", "kind: Service\n")
        assert workspace.run("check", f"c/{name}").err.endswith(f"{name} mentions vLLM\n")

    @pytest.mark.parametrize("kind", ["concise", "gitlab", "rdjson"])
    def test_how_far_it_judged_where_the_format_has_no_place(self, kind: str, workspace: Workspace) -> None:
        workspace.file("a.sh", "vllm serve m\n")
        line = "1 launch: 1 of unknown version"
        ran = workspace.run("check", "--format", kind)
        assert (ran.err, line in ran.out) == (f"servelint: {line}\n", False)
        assert workspace.run("check", "--format", kind, "--quiet").err == ""


class TestPaths:
    def test_the_current_folder_by_default(self, workspace: Workspace) -> None:
        workspace.file("deploy/compose.yml", COMPOSE)
        (finding,) = workspace.run("check", "--format", "json").data["findings"]
        assert (finding["path"], finding["launch"]["name"]) == ("deploy/compose.yml", "services.llm")

    def test_files_and_folders(self, workspace: Workspace) -> None:
        workspace.file("a/run.sh", WRONG)
        workspace.file("b/run.sh", WRONG)
        workspace.file("c.sh", WRONG)
        found = workspace.run("check", "b", "c.sh", "--format", "json").data
        assert [finding["path"] for finding in found["findings"]] == ["b/run.sh", "c.sh"]
        assert found["files"] == 2

    def test_a_name_that_is_no_unicode(self, workspace: Workspace) -> None:
        path = os.fsencode(workspace.folder) + b"/\xff.sh"
        with open(path, "wb") as file:
            file.write(WRONG.encode())
        assert "\n --> \\xff.sh:1:39\n" in workspace.run("check").out
        assert workspace.run("check", "--format", "json").data["findings"][0]["path"] == r"\xff.sh"
        assert workspace.run("check", "--format", "json", "--output", "report.json").status == 1
        assert '"path": "\\\\xff.sh"' in (workspace.folder / "report.json").read_text()


class TestStandardInput:
    def test_goes_by_a_name(self, workspace: Workspace) -> None:
        ran = workspace.run("check", "-", "--stdin-filename", "deploy/run.sh", "--format", "json", stdin=WRONG.encode())
        assert ran.status == 1
        assert [finding["path"] for finding in ran.data["findings"]] == ["deploy/run.sh"]
        assert ran.data["files"] == 1

    def test_its_neighbours_are_those_of_the_name(self, workspace: Workspace) -> None:
        workspace.file("deploy/.env", "UTIL=1.5\n")
        text = COMPOSE.replace('"1.5"', "'${UTIL}'").encode()
        ran = workspace.run("check", "-", "--stdin-filename", "deploy/compose.yml", "--format", "json", stdin=text)
        assert [finding["rule"] for finding in ran.data["findings"]] == [RANGE]

    @pytest.mark.parametrize(
        ("text", "count"),
        [
            (COMPOSE, 1),
            ("#!/bin/bash\n" + WRONG, 1),
            ('{"method": "x", "num_speculative_tokens": 1}', 1),
            (WRONG, 1),
            ("vllm", 0),
        ],
    )
    def test_without_a_name_its_shape_tells_the_format(self, text: str, count: int, workspace: Workspace) -> None:
        assert workspace.run("check", "-", "--format", "json", stdin=text.encode()).data["launches"] == count

    @pytest.mark.parametrize(
        ("data", "problem"),
        [
            (b"vllm \xff", "-:1:6: not valid UTF-8: byte 0xff"),
            (b"\0vllm", f"-:1:1: {ZERO_BYTES}"),
            (b"vllm\n" + b"#" * (4 << 20), "-:1:1: not read: more than 4 MiB, and servelint reads files of up to 4 MiB"),
        ],
    )
    def test_bad_input(self, data: bytes, problem: str, workspace: Workspace) -> None:
        ran = workspace.run("check", "-", stdin=data)
        assert ran.status == 2
        assert f"error: {problem}\n" in ran.out

    @pytest.mark.parametrize("data", [b"", b"hello"])
    def test_nothing_to_say(self, data: bytes, workspace: Workspace) -> None:
        assert workspace.run("check", "-", stdin=data).status == 0

    def test_is_given_alone(self, workspace: Workspace) -> None:
        ran = workspace.run("check", "-", "run.sh")
        assert ran.status == 2
        assert "- means standard input and cannot be combined with other paths" in ran.err


def test_a_path_that_is_empty(workspace: Workspace) -> None:
    for paths in ([""], ["run.sh", ""]):
        ran = workspace.run("check", *paths)
        assert (ran.status, ran.out) == (2, "")
        assert "PATH is empty: a variable in it may have no value" in ran.err


class TestCommand:
    def test_one_command_line(self, workspace: Workspace) -> None:
        ran = workspace.run("check", "--command", WRONG.strip(), "--format", "json")
        (finding,) = ran.data["findings"]
        assert (ran.status, finding["path"], finding["start"]) == (1, "command.sh", {"line": 1, "column": 39})

    def test_as_a_shell_would_read_it(self, workspace: Workspace) -> None:
        workspace.file("llm.env", "SGLANG_ENABLE_SPEC_V2=1\n")
        command = "docker run --env-file llm.env lmsysorg/sglang:v0.5.20 sglang serve --model-path m"
        assert rules(workspace, "--command", command) == ["sglang/spec-v2-removed"]

    def test_takes_the_place_of_paths(self, workspace: Workspace) -> None:
        ran = workspace.run("check", "--command", "vllm serve m", "run.sh")
        assert ran.status == 2
        assert "--command cannot be combined with PATH" in ran.err


class TestFilters:
    TEXT = WRONG.strip() + " --kv-cache-dtype turboquant_k8v4\n" + ALIAS
    ALL = (RANGE, "vllm/turboquant-flash-attention-2", "vllm/spec-method-alias")

    @pytest.mark.parametrize(
        ("options", "found"),
        [
            ([], ALL),
            (["--select", RANGE], ALL[:1]),
            (["--select", f"{RANGE},vllm/spec-method-alias"], (ALL[0], ALL[2])),
            (["--select", RANGE, "--select", "vllm/spec-method-alias"], (ALL[0], ALL[2])),
            (["--select", "vllm/*"], ALL),
            (["--select", "vllm/turboquant-*"], ALL[1:2]),
            (["--select", "sglang/*"], ()),
            (["--ignore", "vllm/turboquant-*"], (ALL[0], ALL[2])),
            (["--ignore", "vllm"], ()),
            (["--select", "vllm/*", "--ignore", RANGE], ALL[1:]),
            (["--severity", "info"], ALL),
            (["--severity", "warning"], (ALL[0], ALL[2])),
            (["--severity", "error"], ALL[:1]),
        ],
    )
    def test_which_rules(self, options: list[str], found: tuple[str, ...], workspace: Workspace) -> None:
        workspace.file("run.sh", self.TEXT)
        assert sorted(rules(workspace, *options)) == sorted(found)

    @pytest.mark.parametrize("option", ["--select", "--ignore"])
    def test_a_pattern_that_no_rule_matches(self, option: str, workspace: Workspace) -> None:
        ran = workspace.run("check", option, "vllm/no-such-rule")
        assert ran.status == 2
        assert f'{option}: no rule matches "vllm/no-such-rule" (servelint rules lists them)' in ran.err


class TestEngineVersion:
    TEXT = "vllm serve Qwen/Qwen3.6-27B --kv-cache-dtype turboquant_k8v4\n"
    HYBRID = "vllm/turboquant-hybrid-unsupported"

    @pytest.mark.parametrize(("version", "found"), [("vllm=0.20.2", True), ("vllm=v0.20.2", True), ("vllm=0.21.0", False)])
    def test_where_the_file_does_not_say(self, version: str, found: bool, workspace: Workspace) -> None:
        workspace.file("run.sh", self.TEXT)
        assert (self.HYBRID in rules(workspace, "--engine-version", version)) is found

    def test_the_file_s_own_release_counts(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "pip install vllm==0.21.0\n" + self.TEXT)
        assert self.HYBRID not in rules(workspace, "--engine-version", "vllm=0.20.2")

    def test_of_each_engine_the_last(self, workspace: Workspace) -> None:
        workspace.file("run.sh", self.TEXT)
        versions = ["vllm=0.21.0", "sglang=0.5.9", "vllm=0.20.2"]
        assert self.HYBRID in rules(workspace, *[part for one in versions for part in ("--engine-version", one)])

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("nobody=1.0", '"nobody" is not an engine; use one of vllm, sglang, llama.cpp, trtllm, lmdeploy, tgi'),
            ("vllm=latest", '"latest" is not a release of vLLM; releases look like 0.19.1'),
            ("vllm", '"vllm" names no release; write ENGINE=RELEASE, such as vllm=0.19.1'),
        ],
    )
    def test_one_that_makes_no_sense(self, given: str, said: str, workspace: Workspace) -> None:
        ran = workspace.run("check", "--engine-version", given)
        assert ran.status == 2
        assert f"--engine-version: {said}" in ran.err


class TestGpu:
    TEXT = "vllm serve openai/gpt-oss-20b --tensor-parallel-size 2\n"
    TOO_OLD = "vllm/quantization-below-capability"

    @pytest.mark.parametrize(("given", "found"), [("t4", True), ("Tesla T4", True), ("h100", False)])
    def test_where_the_file_does_not_say(self, given: str, found: bool, workspace: Workspace) -> None:
        workspace.file("run.sh", self.TEXT)
        assert (self.TOO_OLD in rules(workspace, "--engine-version", "vllm=0.33.0", "--gpu", given)) is found

    @pytest.mark.parametrize(("count", "found"), [("1", True), ("2", False)])
    def test_how_many(self, count: str, found: bool, workspace: Workspace) -> None:
        workspace.file("run.sh", self.TEXT)
        said = rules(workspace, "--engine-version", "vllm=0.33.0", "--gpu-count", count)
        assert ("vllm/world-size-above-gpus" in said) is found

    @pytest.mark.parametrize(
        ("option", "given", "said"),
        [
            ("--gpu", "h1000", '--gpu: "h1000" is not a GPU that servelint knows; did you mean h100,'),
            ("--gpu", "potato", '--gpu: "potato" is not a GPU that servelint knows; use one of gb10,'),
            ("--gpu-count", "0", '--gpu-count: "0" is not a whole number from 1'),
            ("--gpu-count", "two", '--gpu-count: "two" is not a whole number from 1'),
        ],
    )
    def test_one_that_makes_no_sense(self, option: str, given: str, said: str, workspace: Workspace) -> None:
        ran = workspace.run("check", option, given)
        assert ran.status == 2
        assert said in ran.err


class TestFormats:
    def test_text(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        out = workspace.run("check", "--format", "text").out
        assert out.startswith(f"error[{RANGE}]: ")
        assert "\n1 | vllm serve m --gpu-memory-utilization 1.5\n  |                                       ^^^\n" in out
        *_, found, judged = out.splitlines()
        assert found.startswith("found 1 error in 1 launch (1 file, ")
        assert judged == "1 launch: 1 of unknown version (--verbose lists more)"

    def test_github(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        assert workspace.run("check", "--format", "github").out.startswith("::error file=run.sh,line=1,col=39,")

    @pytest.mark.parametrize("kind", FORMATS)
    def test_to_a_file(self, kind: str, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        ran = workspace.run("check", "--no-cache", "--format", kind, "--output", "report")
        stated = "servelint: 1 launch: 1 of unknown version\n" if kind in ("concise", "gitlab", "rdjson") else ""
        assert (ran.status, ran.out, ran.err) == (1, "", stated)
        assert RANGE in (workspace.folder / "report").read_text()
        assert sorted(os.listdir()) == ["report", "run.sh"]

    def test_a_file_is_never_coloured(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        workspace.file("run.sh", WRONG)
        workspace.run("check", "--output", "report")
        assert "\x1b[" not in (workspace.folder / "report").read_text()

    @pytest.mark.parametrize("path", ["missing/report", "."])
    def test_to_a_file_that_cannot_be_written(self, path: str, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m\n")
        ran = workspace.run("check", "--no-cache", "--output", path)
        assert ran.status == 2
        assert ran.err.startswith(f"servelint: {path}: cannot be written: ")
        assert os.listdir() == ["run.sh"]

    @pytest.mark.parametrize(
        ("terminal", "variables", "coloured"),
        [
            (True, {}, True),
            (False, {}, False),
            (True, {"NO_COLOR": "1"}, False),
            (True, {"NO_COLOR": ""}, True),
            (True, {"TERM": "dumb"}, False),
            (False, {"FORCE_COLOR": "1"}, True),
            (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
            (False, {"FORCE_COLOR": ""}, False),
            (True, {"FORCE_COLOR": "0"}, False),
            (True, {"FORCE_COLOR": "3", "NO_COLOR": "1"}, False),
        ],
    )
    def test_colour(
        self,
        terminal: bool,
        variables: dict[str, str],
        coloured: bool,
        workspace: Workspace,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
        workspace.file("run.sh", WRONG)
        assert ("\x1b[" in workspace.run("check").out) is coloured


class TestBadInput:
    """One bad file among good ones: it is reported, and they are linted."""

    @pytest.mark.parametrize(
        ("name", "content", "error"),
        [
            ("bad.yml", "services:\n  llm:\n    image: vllm/vllm-openai\n   command: [\n", "bad.yml:4:4: not valid YAML: "),
            ("bad.sh", b"vllm serve m # \xe9\n", "bad.sh:1:16: not valid UTF-8: byte 0xe9"),
            ("bad.json", '{"num_speculative_tokens": 2,}', "bad.json:1:29: not valid JSON: a comma with nothing after it"),
        ],
    )
    def test_is_one_error(self, name: str, content: str | bytes, error: str, workspace: Workspace) -> None:
        workspace.file(name, content)
        workspace.file("good.yml", COMPOSE)
        ran = workspace.run("check")
        assert ran.status == 2
        assert f"\nerror: {error}" in ran.out
        assert f"error[{RANGE}]" in ran.out
        assert "; 1 file could not be read" in ran.out

    def test_utf_16(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", ("\ufeff" + COMPOSE).encode("utf-16-le"))
        (finding,) = workspace.run("check", "--format", "json").data["findings"]
        assert finding["start"] == {"line": 4, "column": 54}

    def test_crlf(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", COMPOSE.replace("\n", "\r\n"))
        (finding,) = workspace.run("check", "--format", "json").data["findings"]
        assert (finding["start"], finding["end"]) == ({"line": 4, "column": 54}, {"line": 4, "column": 57})

    def test_a_launch_before_the_break_of_a_file(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", COMPOSE + "---\nservices: [\n")
        data = workspace.run("check", "--format", "json").data
        assert [finding["rule"] for finding in data["findings"]] == [RANGE]
        assert [error["path"] for error in data["errors"]] == ["compose.yml"]


class TestStatus:
    def test_exit_zero_is_about_findings_only(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        assert workspace.run("check", "--exit-zero").status == 0
        assert workspace.run("check", "--exit-zero", "--fail-on", "info").status == 0
        workspace.file("bad.sh", b"vllm serve \xff")
        assert workspace.run("check", "--exit-zero").status == 2

    def test_exit_zero_wins_over_the_settings(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", 'fail-on = "info"\n[[per-path]]\npaths = ["*.sh"]\nfail-on = "warning"')
        assert workspace.run("check", "--exit-zero").status == 0

    def test_an_error_of_our_own_in_a_file(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object) -> None:
            raise ZeroDivisionError("oops")

        workspace.file("run.sh", WRONG)
        monkeypatch.setattr("servelint.readers.read", broken)
        ran = workspace.run("check", "--exit-zero")
        assert ran.status == 3
        assert "run.sh:1:1: servelint failed on this file, which is a bug: ZeroDivisionError: oops" in ran.out

    def test_an_error_of_our_own_anywhere(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object, **__: object) -> None:
            raise ZeroDivisionError("oops")

        workspace.file("run.sh", WRONG)
        monkeypatch.setattr("servelint.cli.output.write_report", broken)
        ran = workspace.run("check")
        assert ran.status == 3
        said = "servelint: an error in servelint itself: ZeroDivisionError: oops; SERVELINT_TRACEBACK=1 shows where\n"
        assert ran.err == said
        monkeypatch.setenv("SERVELINT_TRACEBACK", "1")
        with pytest.raises(ZeroDivisionError):
            workspace.run("check")


class TestHowMuch:
    def test_quiet(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m\n")
        assert workspace.run("check", "--quiet") == (0, "", "")
        workspace.file("none/a.sh", "echo vllm\n")
        assert workspace.run("check", "none", "-q") == (0, "", "")
        workspace.file("run.sh", WRONG)
        ran = workspace.run("check", "-q")
        assert (ran.status, ran.err) == (1, "")
        assert ran.out.startswith(f"error[{RANGE}]: ")
        assert "found" not in ran.out

    def test_statistics(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG * 2)
        ran = workspace.run("check", "--statistics", "--output", "sarif=report.sarif")
        assert ran.status == 1
        assert ran.out.startswith(f"2  error  {RANGE}  crash-at-start\n\nby impact: crash-at-start 2\nfound 2 errors in ")
        assert RANGE in (workspace.folder / "report.sarif").read_text()
        assert workspace.run("check", "--statistics", "--format", "json").data["statistics"][0]["count"] == 2
        assert workspace.run("check", "--statistics", "--format", "sarif").status == 2

    def test_a_wrong_option_is_told_in_one_line(self, workspace: Workspace) -> None:
        ran = workspace.run("check", "--profil=strict")
        assert (ran.status, ran.err) == (2, "servelint check: error: no such option: --profil; did you mean --profile?\n")


def test_a_difference_is_printed_as_a_patch(workspace: Workspace) -> None:
    workspace.file("run.sh", "vllm serve m --gpu_memory_utilisation 0.9\n")
    ran = workspace.run("check", "run.sh", "--diff", "--unsafe-fixes", "--engine-version", "vllm=0.27.1")
    assert ran.out.splitlines()[-2:] == [
        "-vllm serve m --gpu_memory_utilisation 0.9",
        "+vllm serve m --gpu-memory-utilization 0.9",
    ]
    assert (workspace.folder / "run.sh").read_text() == "vllm serve m --gpu_memory_utilisation 0.9\n"
