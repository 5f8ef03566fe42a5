"""The Python API."""

from __future__ import annotations

from pathlib import Path

import pytest

import servelint
from servelint import Settings, check, check_command, find_launches
from tests.launching import argv, release
from tests.running import Workspace

RANGE = "vllm/gpu-memory-utilization-out-of-range"


class TestFindLaunches:
    def test_in_a_compose_file(self) -> None:
        (launch,) = find_launches("services: {llm: {image: 'vllm/vllm-openai:v0.20.0', command: [--model, m]}}")
        assert (launch.engine, launch.name, argv(launch), release(launch)) == (
            "vllm",
            "services.llm",
            ["--model", "m"],
            ("0.20.0", "image"),
        )

    def test_the_name_tells_the_format(self) -> None:
        assert [launch.engine for launch in find_launches("vllm serve m", "run.sh")] == ["vllm"]
        assert find_launches("vllm serve m") == []

    def test_no_file_is_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / ".env").write_text("MODEL=Qwen/Qwen3-8B\n")
        (launch,) = find_launches("services: {llm: {image: 'vllm/vllm-openai:v0.20.0', command: ['${MODEL}']}}")
        assert argv(launch) == ["${MODEL}"]

    @pytest.mark.parametrize("text", ["", "services: [", "\0", "\ufdd0", "a: b\n" * 100])
    def test_a_text_without_launches(self, text: str) -> None:
        assert find_launches(text) == []


class TestCheck:
    def test_paths(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m --gpu-memory-utilization 1.5\n")
        report = check(["run.sh", "missing.sh"])
        assert [finding.rule for finding in report.findings] == [RANGE]
        assert [problem.path for problem in report.errors] == ["missing.sh"]

    def test_settings(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m --gpu-memory-utilization 1.5\n")
        assert check(["."], Settings(ignore=("vllm/*",))).findings == []


class TestCheckCommand:
    def rules(
        self,
        *words: str,
        engine: str = "vllm",
        version: str | None = None,
        env: dict[str, str] | None = None,
        settings: Settings | None = None,
    ) -> list[str]:
        return [finding.rule for finding in check_command(engine, list(words), version, env, settings)]

    def test_as_the_named_release_would(self) -> None:
        words = ("Qwen/Qwen3.6-27B", "--kv-cache-dtype", "turboquant_k8v4")
        assert "vllm/turboquant-hybrid-unsupported" in self.rules(*words, version="0.20.2")
        assert "vllm/turboquant-hybrid-unsupported" not in self.rules(*words, version="0.21.0")
        assert "vllm/turboquant-hybrid-unsupported" in self.rules(*words, version="v0.20.2")

    def test_as_any_release_that_can_start_it(self) -> None:
        assert self.rules("m", "--gpu-memory-utilization", "1.5") == [RANGE]
        assert "vllm/gpu-memory-utilization-whole-gpu" not in self.rules("m", "--gpu-memory-utilization", "1")

    @pytest.mark.parametrize(
        ("engine", "words", "rule"),
        [
            ("sglang", ["--model-path", "m", "--mem-fraction-static", "85"], "sglang/mem-fraction-out-of-range"),
            ("llama.cpp", ["-m", "a.gguf", "--spec-type", "mtp"], "llamacpp/mtp-renamed"),
        ],
    )
    def test_other_engines(self, engine: str, words: list[str], rule: str) -> None:
        version = {"sglang": "0.5.9", "llama.cpp": "b9180"}[engine]
        assert self.rules(*words, engine=engine, version=version) == [rule]

    @pytest.mark.parametrize("engine", ["trtllm", "lmdeploy"])
    def test_engines_without_rules(self, engine: str) -> None:
        assert self.rules("m", engine=engine) == []

    def test_words_are_taken_as_they_are(self) -> None:
        (finding,) = check_command("vllm", ["it's a $MODEL; x", "--gpu-memory-utilization", "1.5"])
        assert finding.launch is not None
        assert argv(finding.launch) == ["it's a $MODEL; x", "--gpu-memory-utilization", "1.5"]
        assert finding.span.text == "1.5"

    def test_environment(self) -> None:
        assert self.rules("--model-path", "m", engine="sglang", version="0.5.20", env={"SGLANG_ENABLE_SPEC_V2": "1"}) == [
            "sglang/spec-v2-removed"
        ]

    def test_settings(self) -> None:
        words = ("m", "--gpu-memory-utilization", "1.5")
        assert self.rules(*words, settings=Settings(ignore=(RANGE,))) == []
        assert self.rules(*words, version="0.20.0", settings=Settings(engine_versions={"vllm": "0.5.0"})) == [RANGE]

    def test_an_engine_that_nobody_knows(self) -> None:
        with pytest.raises(ValueError, match="'nobody' is not an engine; use one of vllm, sglang"):
            check_command("nobody", [])

    @pytest.mark.parametrize("version", ["latest", "", "0.20.x"])
    def test_a_version_that_is_no_release(self, version: str) -> None:
        with pytest.raises(ValueError, match="is not a release"):
            check_command("vllm", ["m"], version=version)


def test_the_package_offers_just_these() -> None:
    functions = ["check", "check_command", "find_launches", "plan_memory"]
    assert servelint.__all__ == ["Finding", "Launch", "Report", "Settings", "SettingsFiles", *functions]
    for name in servelint.__all__:
        assert getattr(servelint, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        servelint.nothing  # noqa: B018


@pytest.mark.parametrize("version", ["0.331", "33.0"])
def test_a_mistyped_release_is_refused_by_all(version: str) -> None:
    """One message, whatever is asked."""
    refusal = f'"{version}" is not a release of vLLM; did you mean'
    with pytest.raises(ValueError, match=refusal):
        servelint.check_command("vllm", ["m"], version=version)
    with pytest.raises(ValueError, match=refusal):
        servelint.plan_memory("vllm", ["m"], version=version)


def test_a_plan_for_a_newer_release_says_so() -> None:
    plan = servelint.plan_memory("vllm", ["Qwen/Qwen3-8B"], version="0.99", gpu="h100")
    assert plan.notes[-1] == "vLLM 0.99 is newer than every release that servelint knows; it is judged as 0.33.0"


def test_a_tag_of_a_branch_bounds_the_plan() -> None:
    argv = ["sglang", "serve", "deepseek-ai/DeepSeek-V4-Pro", "--tp", "8"]
    plans = [
        servelint.plan_memory("sglang", argv, version=tag, gpu="h200", gpu_count=8)
        for tag in ("deepseek-v4-hopper", "deepseek-v4-blackwell image", "some-tag")
    ]
    assert [plan.releases[-1] for plan in plans] == ["0.5.16", "0.5.16", "0.5.23"]
