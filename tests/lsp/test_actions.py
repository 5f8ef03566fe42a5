"""What can be done about a finding, by reading the text that it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.lint import beside
from servelint.lsp.edits import Action, Desk, all_safe, between, of_findings
from tests.lsp.editing import originals

AUDIT = Settings(profile="audit")


def desk(name: str, text: str, settings: Settings | None = None) -> Desk:
    return Desk(Source(name, text), settings or Settings(), beside(name))


def actions(found: Desk, rule: str) -> list[Action]:
    finding = next(one for one in found.report.findings if one.rule == rule)
    return [one for _, one in of_findings(found, [finding]) if one is not None]


def edited(text: str, action: Action) -> str:
    for start, end, new in sorted(action.edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def rules(name: str, text: str, settings: Settings | None = None) -> list[str]:
    return [one.rule for one in desk(name, text, settings).report.findings]


OLD = "services:\n  llm:\n    image: vllm/vllm-openai:v0.18.0\n    command: [--model, Qwen/Qwen3-8B, --swap-space, '4']\n"


class TestFixes:
    def test_a_safe_one_is_preferred(self) -> None:
        found = desk("compose.yml", OLD)
        (fix, *_) = actions(found, "vllm/removed-option")
        assert (fix.title, fix.preferred) == ("Delete --swap-space", True)
        assert edited(OLD, fix) == OLD.replace(", --swap-space, '4'", "")

    def test_one_that_changes_the_launch_says_so(self) -> None:
        text = originals()["compose.yml"]
        (fix, *_) = actions(desk("compose.yml", text), "vllm/turboquant-with-spec-decode")
        assert fix.title == "Write --kv-cache-dtype fp8 (unsafe: changes accuracy and memory)"
        assert not fix.preferred

    def test_they_come_first_the_worst_finding_before_the_others(self) -> None:
        text = originals()["compose.yml"]
        found = desk("compose.yml", text)
        told = [(finding.severity, one.title.split()[0]) for finding, one in of_findings(found, found.report.findings) if one]
        kinds = ["Use" if word == "Use" else "Ignore" if word == "Ignore" else "fix" for _, word in told]
        assert kinds == sorted(kinds, key=["fix", "Use", "Ignore"].index)
        assert {"fix", "Ignore"} <= set(kinds)
        for kind in ("fix", "Ignore"):
            severities = [severity for (severity, _), one in zip(told, kinds, strict=True) if one == kind]
            assert severities == sorted(severities, key=["error", "warning", "info"].index)

    def test_all_at_once(self) -> None:
        text = originals()["compose.yml"]
        action = all_safe(desk("compose.yml", text))
        assert action is not None
        assert action.title == "Apply all 4 safe fixes"
        after = edited(text, action)
        assert "--swap-space" not in after
        assert all_safe(desk("compose.yml", after)) is None

    def test_there_may_be_none(self) -> None:
        assert all_safe(desk("run.sh", "vllm serve Qwen/Qwen3-8B\n")) is None


class TestReleases:
    TEXT = """\
services:
  llm:
    image: vllm/vllm-openai:v0.27.1
    command: --model Qwen/Qwen3-8B --disable-log-requests
"""

    def test_the_nearest_newer_one_that_takes_the_launch(self) -> None:
        found = actions(desk("compose.yml", self.TEXT), "vllm/removed-option")
        (move,) = [one for one in found if "release" in one.title]
        assert move.title == "Use the image of release 0.33.0"
        after = edited(self.TEXT, move)
        assert after == self.TEXT.replace("v0.27.1", "v0.33.0")
        assert "vllm/removed-option" not in rules("compose.yml", after)

    @pytest.mark.parametrize(
        "text",
        [
            TEXT.replace("v0.27.1", "v0.27.1-cu130"),  # nobody knows whether that variant is there
            TEXT.replace("v0.27.1", "${TAG}"),
            TEXT.replace("--disable-log-requests", "--no-such-option"),  # no release has it
        ],
    )
    def test_none_where_another_would_not_help_or_may_not_be(self, text: str) -> None:
        found = desk("compose.yml", text)
        titles = [one.title for _, one in of_findings(found, found.report.findings) if one is not None]
        assert not any("release" in title for title in titles)

    def test_none_that_brings_something_else(self) -> None:
        text = self.TEXT.replace("--disable-log-requests", "--disable-log-requests --guided-decoding-backend xgrammar")
        for one in actions(desk("compose.yml", text), "vllm/removed-option"):
            if "release" in one.title:
                assert len(rules("compose.yml", edited(text, one))) < len(rules("compose.yml", text))


IGNORED = "vllm/gpu-memory-utilization-out-of-range"
WRONG = "--gpu-memory-utilization 1.5"


class TestIgnoring:
    @pytest.mark.parametrize(
        ("name", "text", "line"),
        [
            ("run.sh", f"set -e\nvllm serve Qwen/Qwen3-8B {WRONG}\n", 2),
            ("run.sh", f"set -e\nvllm serve Qwen/Qwen3-8B \\\n  --port 8000 \\\n  {WRONG}\n", 2),
            ("compose.yml", f"services:\n  a:\n    image: vllm/vllm-openai:v0.27.1\n    command: --model m {WRONG}\n", 4),
            (
                "compose.yml",
                f"services:\n  a:\n    image: vllm/vllm-openai:v0.27.1\n    command: >-\n      --model m\n      {WRONG}\n",
                4,
            ),
            (
                "compose.yml",
                "services:\n  a:\n    image: vllm/vllm-openai:v0.27.1\n    command:\n      - --gpu-memory-utilization=1.5\n",
                5,
            ),
            ("Dockerfile", 'FROM vllm/vllm-openai:v0.27.1\nCMD ["--model", "m", \\\n  "--gpu-memory-utilization=1.5"]\n', 3),
            ("README.md", f"# Start\n\n```sh\nvllm serve Qwen/Qwen3-8B {WRONG}\n```\n", 4),
            ("llm.service", f"[Service]\nExecStart=/usr/bin/vllm serve Qwen/Qwen3-8B {WRONG}\n", 2),
        ],
    )
    def test_where_the_format_takes_it(self, name: str, text: str, line: int) -> None:
        action = actions(desk(name, text), IGNORED)[-1]
        assert action.title == f"Ignore {IGNORED} here, with a reason"
        after = edited(text, action)
        assert f"# servelint: ignore[{IGNORED}] why" in after.splitlines()[line - 1]
        assert sorted(rules(name, after)) == sorted(one for one in rules(name, text) if one != IGNORED)

    def test_a_comment_that_is_there_takes_one_more(self) -> None:
        text = f"# servelint: ignore[vllm/removed-option] it is patched\nvllm serve Qwen/Qwen3-8B --swap-spac 4 {WRONG}\n"
        action = actions(desk("run.sh", text), IGNORED)[-1]
        assert f"ignore[vllm/removed-option, {IGNORED}] it is patched" in edited(text, action)

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("drafting.json", originals()["drafting.json"]),
            ("run.bat", f"vllm serve Qwen/Qwen3-8B {WRONG}\n"),
        ],
    )
    def test_not_where_it_takes_none(self, name: str, text: str) -> None:
        found = desk(name, text)
        assert found.report.findings
        for _, one in of_findings(found, found.report.findings):
            assert one is None or "Ignore" not in one.title or rules(name, edited(text, one)) != rules(name, text)

    def test_lines_end_as_the_others_do(self) -> None:
        text = f"set -e\r\nvllm serve Qwen/Qwen3-8B {WRONG}\r\n"
        assert edited(text, actions(desk("run.sh", text), IGNORED)[-1]).count("\r\n") == 3


def test_the_lines_that_differ() -> None:
    before, after = "a\nb\nc\nd\n", "a\nB\nc\nd\ne\n"
    assert between(before, after) == [(2, 4, "B\n"), (8, 8, "e\n")]


def test_a_text_of_no_file_has_actions_too(tmp_path: Path) -> None:
    found = desk("untitled.sh", f"vllm serve Qwen/Qwen3-8B {WRONG}\n", AUDIT)
    assert [one.title for one in actions(found, IGNORED)] == [f"Ignore {IGNORED} here, with a reason"]
