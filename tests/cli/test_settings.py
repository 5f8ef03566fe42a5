"""Settings files, as a person meets them: `servelint check` and the other commands in a folder that has some."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from servelint import SettingsFiles, check
from servelint.cli import options
from tests.running import Workspace

WRONG = "vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 1.5\n"
RANGE = "vllm/gpu-memory-utilization-out-of-range"
TURBO = "vllm serve Qwen/Qwen3.6-27B --kv-cache-dtype turboquant_k8v4\n"
HYBRID = "vllm/turboquant-hybrid-unsupported"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("SERVELINT_"):
            monkeypatch.delenv(name)


def found(workspace: Workspace, *args: str, stdin: bytes = b"") -> list[tuple[str, str]]:
    data = workspace.run("check", "--format", "json", *args, stdin=stdin).data
    assert data["errors"] == []
    return [(finding["path"], finding["rule"]) for finding in data["findings"]]


class TestCheck:
    def test_rules_that_are_switched_off(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        assert found(workspace) == [("run.sh", RANGE)]
        workspace.file("servelint.toml", 'ignore = ["vllm/*"]')
        assert found(workspace) == []
        assert found(workspace, "--isolated") == [("run.sh", RANGE)]
        assert found(workspace, "--extend-select", RANGE) == [("run.sh", RANGE)]
        assert found(workspace, "--select", "vllm") == [("run.sh", RANGE)]

    def test_each_file_has_the_nearest(self, workspace: Workspace) -> None:
        for name in ("a/run.sh", "b/run.sh", "b/c/run.sh"):
            workspace.file(name, WRONG)
        workspace.file("b/pyproject.toml", '[tool.servelint]\nignore = ["vllm/*"]')
        assert found(workspace) == [(str(Path("a", "run.sh")), RANGE)]
        assert found(workspace, "b/c/run.sh", "b/run.sh") == []

    def test_release_and_gpu_where_a_file_does_not_say(self, workspace: Workspace) -> None:
        workspace.file("old/run.sh", TURBO)
        workspace.file("new/run.sh", TURBO)
        workspace.file(
            "servelint.toml",
            '[engine-versions]\nvllm = "0.21.0"\n[[per-path]]\npaths = ["old"]\nengine-versions = {vllm = "0.20.2"}\n',
        )
        assert [path for path, rule in found(workspace) if rule == HYBRID] == [str(Path("old", "run.sh"))]
        launches = workspace.run("launches", "--format", "json").data["launches"]
        assert {Path(one["path"]).parent.name: one["version"] for one in launches} == {"old": "0.20.2", "new": "0.21.0"}
        assert all(one["version_from"] == "settings" for one in launches)

    def test_the_severity_of_a_rule_is_what_is_shown_filtered_and_stopped_at(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", f'[rule."{RANGE}"]\nseverity = "info"\n')
        ran = workspace.run("check")
        assert ran.status == 0
        assert ran.out.startswith(f"info[{RANGE}]: ")
        assert workspace.run("check", "--fail-on", "info").status == 1
        assert found(workspace, "--severity", "warning") == []
        (row,) = workspace.run("rules", "--select", RANGE).out.splitlines()
        assert row.split()[1] == "info"

    def test_severity_and_fail_on_by_path(self, workspace: Workspace) -> None:
        workspace.file("dev/run.sh", WRONG)
        workspace.file("prod/run.sh", WRONG)
        workspace.file("servelint.toml", '[[per-path]]\npaths = ["dev"]\nfail-on = "never"\n')
        assert (workspace.run("check", "dev").status, workspace.run("check", "prod").status) == (0, 1)
        assert workspace.run("check").status == 1
        assert workspace.run("check", "--fail-on", "error", "dev").status == 1

    def test_options_of_rules(self, workspace: Workspace) -> None:
        rule = "vllm/gpu-memory-utilization-no-headroom"
        workspace.file("run.sh", "pip install vllm==0.18.1\nvllm serve Qwen/Qwen3-8B --gpu-memory-utilization 0.96\n")
        assert ("run.sh", rule) not in found(workspace)
        workspace.file("servelint.toml", f'[rule."{rule}"]\nfraction = 0.95\n')
        assert ("run.sh", rule) in found(workspace)

    @pytest.mark.parametrize(
        ("rule", "allowed", "text"),
        [
            ("container/unpinned-image", "registry.example.com/*", "docker run --gpus all {} --model m\n"),
            ("container/secret-in-plain-text", "hf_house*", "export HF_TOKEN={}\nvllm serve m\n"),
            ("container/api-key-in-plain-text", "house-*", "vllm serve m --api-key {}\n"),
        ],
    )
    def test_what_is_allowed(self, rule: str, allowed: str, text: str, workspace: Workspace) -> None:
        value = {
            "container/unpinned-image": "registry.example.com/vllm/vllm-openai:latest",
            "container/secret-in-plain-text": "hf_houseBcDeFgHiJkLmNoPqRsTuVwXyZ012345",
            "container/api-key-in-plain-text": "house-4711-blue",
        }[rule]
        workspace.file("run.sh", text.format(value))
        strict = 'profile = "strict"\n'
        workspace.file("servelint.toml", strict)
        assert rule in [one for _, one in found(workspace)]
        workspace.file("servelint.toml", f'{strict}[rule."{rule}"]\nallow = ["{allowed}"]\n')
        assert rule not in [one for _, one in found(workspace)]

    def test_rules_of_one_s_own(self, workspace: Workspace) -> None:
        from tests.rules.test_folder import RULE

        workspace.file("team/policy/policy/no-remote-code.yaml", RULE)
        workspace.file("team/servelint.toml", 'rules = ["./policy"]\n[rule."policy/no-remote-code"]\nseverity = "warning"\n')
        workspace.file("team/run.sh", "vllm serve Qwen/Qwen3-8B --trust-remote-code\n")
        workspace.file("run.sh", "vllm serve Qwen/Qwen3-8B --trust-remote-code\n")
        said = workspace.run("check", "--format", "json", "--select", "policy/*").data["findings"]
        assert [(Path(one["path"]).parent.name, one["severity"]) for one in said] == [("team", "warning")]

    def test_rules_of_one_s_own_are_explained(self, workspace: Workspace) -> None:
        from tests.rules.test_folder import RULE

        workspace.file("policy/policy/no-remote-code.yaml", RULE)
        assert workspace.run("explain", "policy/no-remote-code").status == 2
        workspace.file("servelint.toml", 'rules = ["policy"]')
        assert workspace.run("explain", "policy/no-remote-code").out.startswith("policy/no-remote-code: ")

    def test_an_explanation_names_the_options(self, workspace: Workspace) -> None:
        lines = workspace.run("explain", "vllm/mtp-many-tokens").out.splitlines()
        at = lines.index('Options, in a settings file under [rule."vllm/mtp-many-tokens"]:')
        assert lines[at + 1] == "  tokens = 3  draft tokens up to which nothing is said"

    def test_comments_go_on_working(self, workspace: Workspace) -> None:
        workspace.file("run.sh", f"{WRONG[:-1]} # servelint: ignore[{RANGE}]\n")
        assert found(workspace) == []
        workspace.file("servelint.toml", f'ignore = ["{RANGE}"]')
        assert found(workspace) == []
        workspace.file("run.sh", f"vllm serve m # servelint: ignore[{RANGE}]\n")
        workspace.file("servelint.toml", '[rule."servelint/unused-ignore"]\nseverity = "error"')
        assert workspace.run("check").status == 1
        workspace.file("servelint.toml", 'ignore = ["servelint/unused-ignore"]')
        assert found(workspace) == []

    def test_fixes_have_the_settings_of_their_file(self, workspace: Workspace) -> None:
        text = (
            'vllm serve Qwen/Qwen3.6-27B --speculative-config \'{"method": "qwen3_next_mtp", "num_speculative_tokens": 2}\'\n'
        )
        kept, mended = workspace.file("a/run.sh", text), workspace.file("b/run.sh", text)
        workspace.file("a/servelint.toml", 'ignore = ["vllm/spec-method-alias"]')
        workspace.run("check", "--fix")
        assert kept.read_text() == text
        assert '"mtp"' in mended.read_text()


class TestWhatIsLeftOut:
    def test_in_folders_that_are_searched(self, workspace: Workspace) -> None:
        for name in ("run.sh", "vendor/run.sh", "a/vendor/run.sh", "a/run.sh"):
            workspace.file(name, WRONG)
        workspace.file("servelint.toml", 'exclude = ["vendor"]')
        assert [path for path, _ in found(workspace)] == ["run.sh", str(Path("a", "run.sh"))]
        assert [path for path, _ in found(workspace, "--exclude", "a")] == ["run.sh", str(Path("vendor", "run.sh"))]
        assert [path for path, _ in found(workspace, "--extend-exclude", "a")] == ["run.sh"]
        assert len(found(workspace, "vendor")) == 1
        assert len(found(workspace, "--isolated")) == 4

    def test_files_that_are_named(self, workspace: Workspace) -> None:
        workspace.file("vendor/run.sh", WRONG)
        workspace.file("servelint.toml", 'exclude = ["vendor"]')
        assert len(found(workspace, "vendor/run.sh")) == 1
        assert found(workspace, "--force-exclude", "vendor/run.sh") == []

    def test_standard_input(self, workspace: Workspace) -> None:
        workspace.file("servelint.toml", 'exclude = ["vendor"]\nforce-exclude = true\nignore = ["container/*"]')
        named = ("-", "--stdin-filename")
        assert found(workspace, *named, "vendor/run.sh", stdin=WRONG.encode()) == []
        assert len(found(workspace, *named, "run.sh", stdin=WRONG.encode())) == 1


class TestStandardInputAndCommands:
    def test_the_name_of_standard_input_tells_where_it_stands(self, workspace: Workspace) -> None:
        workspace.file("a/servelint.toml", 'ignore = ["vllm/*"]')
        assert found(workspace, "-", "--stdin-filename", "a/run.sh", stdin=WRONG.encode()) == []
        assert len(found(workspace, "-", "--stdin-filename", "b/run.sh", stdin=WRONG.encode())) == 1

    def test_a_command_has_those_of_the_current_folder(self, workspace: Workspace) -> None:
        workspace.file("servelint.toml", f'[rule."{RANGE}"]\nseverity = "warning"')
        assert workspace.run("check", "--command", WRONG).status == 0
        assert workspace.run("check", "--isolated", "--command", WRONG).status == 1


class TestWrongFiles:
    WRONG = 'profile = "strct"\nselct = []\n'
    SAID = (
        'servelint.toml:1:11: "strct" is none of default, strict, audit (did you mean "strict"?)',
        'servelint.toml:2:1: unknown key "selct" (did you mean "select"?)',
    )

    @pytest.mark.parametrize(
        "args",
        [
            "check",
            "check run.sh",
            "check --command vllm",
            "check -",
            "check --show-settings",
            "launches",
            "rules",
            "upgrade --to vllm=0.33.0",
        ],
    )
    def test_stop_the_run(self, args: str, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", self.WRONG)
        ran = workspace.run(*args.split())
        assert (ran.status, ran.out, tuple(ran.err.splitlines())) == (2, "", self.SAID)

    def test_below_one_that_is_right(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("a/b/servelint.toml", "x")
        workspace.file("a/b/run.sh", "vllm serve m\n")
        ran = workspace.run("check")
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith(f"{Path('a', 'b', 'servelint.toml')}:1:2: not valid TOML: ")

    def test_are_errors_of_the_report_for_programs(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", self.WRONG)
        ran = workspace.run("check", "--format", "json")
        assert ran.status == 2
        assert ran.data["findings"] == []
        assert [(error["path"], error["line"], error["column"]) for error in ran.data["errors"]] == [
            ("servelint.toml", 1, 11),
            ("servelint.toml", 2, 1),
        ]
        assert workspace.run("check", "--format", "github").out.startswith("::error file=servelint.toml,line=1,col=11,")
        workspace.run("check", "--format", "json", "--output", "report.json")
        assert len(json.loads((workspace.folder / "report.json").read_text())["errors"]) == 2

    def test_are_not_read_where_none_is_wanted(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", self.WRONG)
        assert workspace.run("check", "--isolated").status == 1

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
    def test_one_that_may_not_be_read(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", "").chmod(0)
        ran = workspace.run("check")
        assert (ran.status, ran.err) == (2, "servelint.toml:1:1: cannot be read: Permission denied\n")

    def test_one_that_is_named_and_not_there(self, workspace: Workspace) -> None:
        ran = workspace.run("check", "--settings", "missing.toml")
        assert (ran.status, ran.err) == (2, "missing.toml:1:1: cannot be read: No such file or directory\n")
        assert workspace.run("check", "--settings", "x.toml", "--isolated").status == 2


class TestEnvironment:
    def test_is_stronger_than_files_and_weaker_than_options(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", 'fail-on = "never"')
        monkeypatch.setenv("SERVELINT_FAIL_ON", "error")
        assert workspace.run("check").status == 1
        assert workspace.run("check", "--fail-on", "never").status == 0

    def test_format(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", 'format = "json"')
        assert workspace.run("check").data["files"] == 1
        monkeypatch.setenv("SERVELINT_FORMAT", "github")
        assert workspace.run("check").out.startswith("::error ")
        assert workspace.run("check", "--format", "text").out.startswith("error[")

    def test_which_file(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", "selct = []")
        workspace.file("ci.toml", 'ignore = ["vllm"]')
        monkeypatch.setenv("SERVELINT_SETTINGS", "ci.toml")
        assert workspace.run("check").status == 0
        monkeypatch.delenv("SERVELINT_SETTINGS")
        monkeypatch.setenv("SERVELINT_ISOLATED", "1")
        assert workspace.run("check").status == 1

    def test_what_makes_no_sense(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SERVELINT_PROFILE", "strct")
        monkeypatch.setenv("SERVELINT_ISOLATED", "perhaps")
        ran = workspace.run("check")
        assert ran.status == 2
        assert 'SERVELINT_PROFILE: "strct" is none of default, strict, audit (did you mean "strict"?)\n' in ran.err
        assert 'SERVELINT_ISOLATED: "perhaps" is neither true nor false\n' in ran.err

    def test_what_is_nearly_read(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        workspace.file("run.sh", WRONG)
        monkeypatch.setenv("SERVELINT_PROFIL", "strict")
        monkeypatch.setenv("SERVELINT_VERSION", "0.1.0")
        ran = workspace.run("check")
        assert (ran.status, ran.err) == (1, 'servelint: SERVELINT_PROFIL is not read (did you mean "SERVELINT_PROFILE"?)\n')


class TestShowSettings:
    def test_text(self, workspace: Workspace) -> None:
        workspace.file("base.toml", 'ignore = ["container/*"]')
        workspace.file("a/servelint.toml", 'extends = "../base.toml"\nprofile = "audit"\n[rule."vllm/*"]\nseverity = "info"\n')
        ran = workspace.run("check", "--show-settings", "a/run.sh", "--fail-on", "never")
        lines = [line.split() for line in ran.out.splitlines()]
        assert ran.status == 0
        toml = str(Path("a", "servelint.toml"))
        assert ran.out.splitlines()[0] == f"a/run.sh: {toml}, which extends base.toml"
        assert ["ignore", "container/*", "base.toml:1:11"] in lines
        assert ["profile", "audit", f"{toml}:2:11"] in lines
        assert ["fail-on", "never", "--fail-on"] in lines
        assert ["severity", "info", "default"] in lines
        assert ["rule.vllm/*", "severity", "info", f"{toml}:4:12"] in lines

    def test_json(self, workspace: Workspace) -> None:
        workspace.file("servelint.toml", 'ignore = ["container/*"]\n[engine-versions]\nvllm = "0.27.1"\n')
        first, second = workspace.run("check", "--show-settings", "x.sh", ".", "--format", "json").data["paths"]
        assert (first["path"], second["path"], first["files"]) == ("x.sh", ".", ["servelint.toml"])
        assert first["settings"]["engine-versions"] == {
            "vllm": {"value": "0.27.1", "from": {"kind": "file", "name": "servelint.toml", "line": 3, "column": 8}}
        }
        assert first["settings"]["profile"] == {"value": "default", "from": None}
        assert first["settings"]["format"]["from"] == {"kind": "command line", "name": "--format"}

    def test_of_a_folder_without_a_file(self, workspace: Workspace) -> None:
        assert workspace.run("check", "--show-settings").out.startswith(".: no settings file\n")


class TestPython:
    def test_no_file_is_read_unless_it_is_asked_for(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", 'ignore = ["vllm"]')
        assert len(check(["run.sh"]).findings) == 1
        assert check(["run.sh"], SettingsFiles()).findings == []

    def test_what_is_wrong_is_an_error_of_the_report(self, workspace: Workspace) -> None:
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", "selct = []")
        report = check(["."], SettingsFiles())
        assert (report.files, report.findings) == (0, [])
        assert [repr(error) for error in report.errors] == ['servelint.toml:1:1: unknown key "selct" (did you mean "select"?)']


def test_many_files_over_processes(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        workspace.file(f"team{number % 5}/run{number}.sh", WRONG)
    workspace.file("team1/servelint.toml", 'ignore = ["vllm"]')
    workspace.file("team2/servelint.toml", f'[rule."{RANGE}"]\nseverity = "info"')
    monkeypatch.setattr("servelint.parallel.processes", lambda _: 2)
    said = workspace.run("check", "--format", "json").data["findings"]
    teams = {name: {one["severity"] for one in said if one["path"].startswith(name)} for name in ("team0", "team1", "team2")}
    assert teams == {"team0": {"error"}, "team1": set(), "team2": {"info"}}
    assert len(said) == 4 * 4


def test_every_option_of_a_key_is_read() -> None:
    from servelint.settings.keys import KEYS

    assert {"engine-versions" if name == "engine-version" else name for name in options.KEYS} == set(KEYS) - {
        "extends",
        "models",
        "read-outside",
    }
