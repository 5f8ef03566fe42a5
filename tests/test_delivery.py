"""What reaches a person: the README's commands and frame, the examples, the hooks, what CI runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import servelint
from servelint.readers.registry import CANDIDATE
from servelint.rules.load import rules
from tests.syntax import yaml_texts
from tests.together import together

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
HOOKS = {hook["id"]: hook for hook in yaml_texts.load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}


def _servelint(*args: str) -> str:
    run = subprocess.run([sys.executable, "-m", "servelint", *args], cwd=ROOT, capture_output=True, text=True, check=False)
    return re.sub(r", \d+ ms\)", ")", run.stdout)


def _blocks(language: str = "") -> list[str]:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [block for name, block in blocks if name == language]


class TestReadme:
    def test_frame_is_what_the_command_prints(self) -> None:
        command, _, shown = next(block for block in _blocks() if block.startswith("$ servelint")).partition("\n")
        printed = _servelint(*command.removeprefix("$ servelint ").split())
        assert printed.startswith(shown)

    def test_ci_calls_its_two_commands(self) -> None:
        commands = re.findall(r"(?m)^(python -m pip [^`\n]*)", README)
        assert len(commands) == 2
        script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        assert all(command in script for command in commands)

    def test_it_stays_short(self) -> None:
        assert len(README.splitlines()) <= 150

    def test_rules_that_it_names_exist(self) -> None:
        known = {rule.id for rule in rules()} | {"servelint/unused-ignore"}
        named = set(re.findall(r"\b(?:vllm|sglang|llamacpp|servelint)/[a-z0-9]+(?:-[a-z0-9]+)+", README))
        images = {"vllm/vllm-openai"}
        assert named - images <= known


class TestExamples:
    def test_sound_launches_are_not_reported(self) -> None:
        report = servelint.check([str(ROOT / "examples" / "sound")])
        assert len(report.launches) == 4
        assert report.findings == []
        assert report.errors == []

    def test_broken_launches_are(self) -> None:
        report = servelint.check([str(ROOT / "examples" / "broken")])
        found = {Path(finding.span.source.path).name: set[str]() for finding in report.findings}
        for finding in report.findings:
            if finding.severity != "info":
                found[Path(finding.span.source.path).name].add(finding.rule)
        assert found == {
            "turboquant.yml": {"vllm/turboquant-with-spec-decode"},
            "llama-cpp-mtp.yml": {"llamacpp/mtp-too-old"},
            "speculative-config.json": {"vllm/spec-method-alias"},
            "prefix-caching-mtp.sh": {
                "vllm/hybrid-mtp-prefix-caching",
                "vllm/hybrid-mtp-drops-cached-block",
                "vllm/spec-method-alias",
            },
            "sglang-mtp.sh": {
                "sglang/hybrid-spec-needs-extra-buffer",
                "sglang/draft-tokens-overridden",
                "sglang/mem-fraction-skips-spec-reserve",
            },
        }


class TestHooks:
    def test_both_are_there(self) -> None:
        assert set(HOOKS) == {"servelint", "servelint-fix"}
        for hook in HOOKS.values():
            assert hook["types"] == ["text"]
            assert hook["require_serial"] is False
            assert hook["language"] == "python"

    @pytest.mark.parametrize("hook", sorted(HOOKS))
    @pytest.mark.parametrize(
        "path",
        [
            "docker-compose.yml",
            "compose.yaml",
            "deploy/compose.prod.YML",
            "scripts/serve.sh",
            "run.bash",
            "jobs/serve.sbatch",
            "speculative-config.json",
            "bin/serve",
            "Makefile",
            "docs/README.md",
            "docker/Dockerfile.cuda",
            "deploy/vllm.service",
            "deploy/user-data.tftpl",
            ".env",
        ],
    )
    def test_takes_files_that_launch(self, hook: str, path: str) -> None:
        assert re.search(HOOKS[hook]["files"], path)

    @pytest.mark.parametrize("hook", sorted(HOOKS))
    @pytest.mark.parametrize(
        "path",
        ["src/main.rs", "model.safetensors", "image.png", "a.sh.txt", "poetry.lock", "yml/notes.txt", "_helpers.tpl"],
    )
    def test_leaves_other_files(self, hook: str, path: str) -> None:
        assert not re.search(HOOKS[hook]["files"], path)

    @together("name", ["compose.yml", "x.json", "serve.sh", "serve", "notes.md", "a.py", ".env", "x.sbatch"])
    def test_agree_with_what_a_folder_is_searched_for(self, name: str) -> None:
        assert bool(re.search(HOOKS["servelint"]["files"], name)) == bool(re.search(CANDIDATE, name))
