"""What a baseline knows: findings that stay, move, go, and come to the end of their time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from servelint.core.source import Source, Span
from servelint.filters.baseline import entry_of
from tests.findings import finding
from tests.running import Workspace

RUN = "vllm serve m --gpu-memory-utilization 1.5\n"
RANGE = "vllm/gpu-memory-utilization-out-of-range"
KNOWN = "servelint-baseline.json"


def accept(workspace: Workspace, *args: str) -> None:
    assert workspace.run("check", "--write-baseline", *args).status == 0


def entries() -> list[Any]:
    return list(json.loads(Path(KNOWN).read_text())["findings"])


def change(index: int, **values: object) -> None:
    data = json.loads(Path(KNOWN).read_text())
    data["findings"][index].update(values)
    Path(KNOWN).write_text(json.dumps(data))


def check(workspace: Workspace, *args: str) -> Any:
    return workspace.run("check", "--baseline", KNOWN, "--format", "json", *args).data


def said(workspace: Workspace, *args: str) -> list[tuple[str, str]]:
    return [(one["rule"].removeprefix("servelint/"), one["message"]) for one in check(workspace, *args)["findings"]]


def test_a_long_text_is_cut_and_told_by_its_digest() -> None:
    texts = [entry_of(finding(span=Span(Source("a.sh", "x" * 300), 0, length)), "").text for length in (200, 201)]
    assert texts[0] == "x" * 200
    assert texts[1] == "x" * 200 + " sha256:" + hashlib.sha256(b"x" * 201).hexdigest()[:16]


class TestKnown:
    def test_is_left_out_and_counted(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        accept(workspace)
        ran = workspace.run("check", "--baseline", KNOWN)
        assert ran.status == 0
        assert "; 1 known finding is left out (baseline)\n" in ran.out

    def test_a_second_one_alike_is_new(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        accept(workspace)
        workspace.file("run.sh", RUN + RUN)
        found = check(workspace)
        assert found["known"] == 1
        assert [one["start"]["line"] for one in found["findings"]] == [2]

    def test_counts_those_alike(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN * 3)
        accept(workspace)
        assert [one["count"] for one in entries()] == [3]
        workspace.file("run.sh", RUN)
        assert said(workspace) == [
            (
                "stale-baseline-entry",
                f'run.sh has 1 such findings of {RANGE}, not 3; write "count": 1, or update the baseline with --write-baseline',
            )
        ]

    def test_from_another_folder(self, workspace: Workspace, monkeypatch: Any) -> None:
        workspace.file("deploy/run.sh", RUN)
        accept(workspace)
        assert [one["path"] for one in entries()] == ["deploy/run.sh"]
        monkeypatch.chdir("deploy")
        for path in ("run.sh", "./run.sh", str(workspace.folder / "deploy" / "run.sh")):
            found = workspace.run("check", path, "--baseline", f"../{KNOWN}", "--format", "json").data
            assert (found["findings"], found["known"]) == ([], 1)

    def test_of_settings_in_the_current_folder(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        workspace.file("servelint.toml", 'baseline = "ci/known.json"')
        workspace.file("ci/x", "")
        assert workspace.run("check", "--write-baseline").err == "servelint: wrote ci/known.json: 1 known finding (1 new)\n"
        assert [one["path"] for one in json.loads(Path("ci/known.json").read_text())["findings"]] == ["../run.sh"]
        assert workspace.run("check").status == 0
        assert workspace.run("check", "--isolated").status == 1

    def test_a_secret_is_not_written(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m --api-key sk-0123456789abcdef --gpu-memory-utilization 1.5\n")
        accept(workspace, "--profile", "audit")
        assert "container/api-key-in-plain-text" in {one["rule"] for one in entries()}
        assert "0123456789abcdef" not in Path(KNOWN).read_text()
        assert check(workspace, "--profile", "audit")["findings"] == []

    def test_long_and_of_several_lines(self, workspace: Workspace) -> None:
        config = '{"method": "nothing",\r\n "model": "' + "x" * 300 + '", "num_speculative_tokens": 3}'
        workspace.file("run.sh", f"pip install vllm==0.27.1\nvllm serve m --speculative-config '{config}' --swap-space 1\n")
        accept(workspace)
        assert check(workspace)["findings"] == []


class TestMoved:
    def test_to_another_file(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        accept(workspace)
        Path("run.sh").rename("start.sh")
        assert said(workspace) == [
            ("moved-baseline-entry", "this known finding moved from run.sh to start.sh; write the baseline anew")
        ]

    def test_a_copy_has_not_moved(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        accept(workspace)
        workspace.file("copy.sh", RUN)
        assert [one["path"] for one in check(workspace)["findings"]] == ["copy.sh"]

    def test_mended_here_and_made_there_has_not_moved(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        accept(workspace)
        workspace.file("run.sh", "vllm serve m\n")
        workspace.file("other.sh", RUN)
        assert [one["rule"] for one in check(workspace)["findings"]] == [RANGE, "servelint/stale-baseline-entry"]

    def test_the_file_of_the_same_name_first(self, workspace: Workspace) -> None:
        workspace.file("a/run.sh", RUN)
        workspace.file("a/other.sh", RUN)
        accept(workspace)
        Path("a").rename("b")
        assert sorted(text.partition(";")[0] for _, text in said(workspace)) == [
            "this known finding moved from a/other.sh to b/other.sh",
            "this known finding moved from a/run.sh to b/run.sh",
        ]

    def test_a_file_that_is_not_looked_at_has_not_moved(self, workspace: Workspace) -> None:
        workspace.file("a/run.sh", RUN)
        accept(workspace)
        workspace.file("b/run.sh", RUN)
        assert [one["path"] for one in check(workspace, "b")["findings"]] == ["b/run.sh"]


class TestStale:
    def test_points_at_the_entry(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        accept(workspace)
        workspace.file("run.sh", "vllm serve m\n")
        (finding,) = check(workspace)["findings"]
        assert (finding["path"], finding["start"]["line"], finding["severity"]) == (KNOWN, 4, "warning")
        assert finding["message"].startswith(f"run.sh no longer has this finding of {RANGE}; delete the entry")

    def test_not_where_nobody_looked(self, workspace: Workspace) -> None:
        workspace.file("a/run.sh", RUN)
        workspace.file("b/run.sh", RUN)
        accept(workspace)
        workspace.file("a/run.sh", "vllm serve m\n")
        assert said(workspace, "b") == []
        assert said(workspace, "--ignore", RANGE) == []
        assert said(workspace, "--select", "sglang/*") == []
        assert [rule for rule, _ in said(workspace)] == ["stale-baseline-entry"]

    def test_not_where_the_file_cannot_be_read(self, workspace: Workspace) -> None:
        workspace.file("a.yml", 'services: {x: {image: "vllm/vllm-openai:v0.27.1", command: --swap-space 4}}\n')
        accept(workspace)
        workspace.file("a.yml", "services: {x: {image: vllm/vllm-openai:v0.27.1, command: [--swap-space 4}}\n")
        found = check(workspace)
        assert (found["findings"], len(found["errors"])) == ([], 1)

    def test_a_rule_that_there_is_not(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        accept(workspace)
        change(0, rule="vllm/of-old")
        assert [rule for rule, _ in said(workspace)] == [RANGE, "stale-baseline-entry"]

    def test_as_the_settings_have_it(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        accept(workspace)
        workspace.file("run.sh", "vllm serve m\n")
        workspace.file("servelint.toml", '[rule."servelint/stale-baseline-entry"]\nseverity = "error"')
        assert workspace.run("check", "--baseline", KNOWN).status == 1
        workspace.file("servelint.toml", 'ignore = ["servelint/stale-baseline-entry"]')
        assert workspace.run("check", "--baseline", KNOWN, "--fail-on", "info").status == 0


class TestExpiry:
    def test_counts_through_the_day(self, workspace: Workspace, monkeypatch: Any) -> None:
        from datetime import date

        from servelint.cli import check as command

        workspace.file("run.sh", RUN)
        accept(workspace)
        change(0, expires="2027-01-31", reason="until the new nodes are here")
        monkeypatch.setattr(command, "_today", lambda: date(2027, 1, 31))
        assert check(workspace)["findings"] == []
        monkeypatch.setattr(command, "_today", lambda: date(2027, 2, 1))
        (finding,) = check(workspace)["findings"]
        (related,) = finding["related"]
        assert (related["path"], related["message"]) == (KNOWN, "accepted until 2027-01-31: until the new nodes are here")
        assert workspace.run("check", "--baseline", KNOWN).status == 1

    def test_is_kept_when_the_baseline_is_written_anew(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        workspace.file("other.sh", RUN.replace("1.5", "1.6"))
        accept(workspace)
        change(1, expires="2020-01-31", reason="so")
        Path("other.sh").unlink()
        Path("run.sh").rename("moved.sh")
        ran = workspace.run("check", "--write-baseline")
        assert ran.err == f"servelint: wrote {KNOWN}: 1 known finding (1 gone, 1 moved)\n"
        assert [(one["path"], one["reason"], one["expires"]) for one in entries()] == [("moved.sh", "so", "2020-01-31")]


class TestWriting:
    def test_keeps_what_was_not_looked_at(self, workspace: Workspace) -> None:
        workspace.file("a/run.sh", RUN)
        workspace.file("b/run.sh", RUN)
        accept(workspace, "a")
        accept(workspace, "b")
        assert [one["path"] for one in entries()] == ["a/run.sh", "b/run.sh"]

    def test_is_the_same_the_second_time(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN * 2)
        accept(workspace)
        before = Path(KNOWN).read_text()
        accept(workspace)
        assert Path(KNOWN).read_text() == before

    def test_a_file_that_cannot_be_read_makes_the_status_2(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        workspace.file("bad.sh", b"vllm serve \xff")
        ran = workspace.run("check", "--write-baseline")
        assert ran.status == 2
        assert "bad.sh:1:12: not valid UTF-8" in ran.err
        assert [one["path"] for one in entries()] == ["run.sh"]

    def test_a_baseline_with_a_fault_is_not_overwritten(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        workspace.file(KNOWN, "{")
        assert workspace.run("check", "--write-baseline").status == 2
        assert Path(KNOWN).read_text() == "{"

    def test_a_fault_costs_no_finding(self, workspace: Workspace) -> None:
        workspace.file("run.sh", RUN)
        workspace.file(KNOWN, "{")
        ran = workspace.run("check", "--baseline", KNOWN, "--format", "json")
        assert ran.status == 2
        assert [one["rule"] for one in ran.data["findings"]] == [RANGE]
        assert [one["path"] for one in ran.data["errors"]] == [KNOWN]


class TestFixing:
    ALIAS = 'vllm serve Qwen/Qwen3.6-27B --speculative-config \'{"method": "qwen3_next_mtp", "num_speculative_tokens": 2}\'\n'

    def test_leaves_what_is_known(self, workspace: Workspace) -> None:
        workspace.file("old.sh", self.ALIAS)
        accept(workspace)
        workspace.file("new.sh", self.ALIAS)
        ran = workspace.run("check", "--baseline", KNOWN, "--fix")
        assert (ran.status, ran.err) == (0, "servelint: fixed 1 finding\n")
        assert Path("old.sh").read_text() == self.ALIAS
        assert "qwen3_next_mtp" not in Path("new.sh").read_text()

    def test_a_fault_of_the_baseline_is_told_once(self, workspace: Workspace) -> None:
        workspace.file("new.sh", self.ALIAS)
        workspace.file(KNOWN, "{")
        ran = workspace.run("check", "--baseline", KNOWN, "--fix", "--format", "json")
        assert ran.status == 2
        assert [one["path"] for one in ran.data["errors"]] == [KNOWN]
        assert "qwen3_next_mtp" not in Path("new.sh").read_text()


def test_code_of_several_lines_is_known_whatever_ends_them() -> None:
    texts = []
    for end in ("\n", "\r\n"):
        source = Source("run.sh", f"vllm serve{end}  m")
        texts.append(entry_of(finding(Span(source, 0, len(source.text))), ".").text)
    assert texts == ["vllm serve\n  m"] * 2
