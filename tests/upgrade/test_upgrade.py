"""Upgrades: what only one of two releases says of a launch, and which defaults change under it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.upgrade import Upgrade, upgrade
from tests.launching import launch_in


def between(text: str, source: str, target: str, filename: str = "run.sh", ignore: tuple[str, ...] = ()) -> Upgrade:
    return upgrade(launch_in(text, filename), source, target, Settings(ignore=ignore))


def rules(findings: list[Finding]) -> list[str]:
    return [finding.rule for finding in findings]


class TestFindings:
    def test_an_error_of_the_target_alone_breaks(self) -> None:
        found = between("vllm serve m --swap-space 4", "0.17.1", "0.18.0")
        assert (rules(found.breaks), found.warns, found.mended, found.stays) == (["vllm/removed-option"], [], [], [])
        assert (found.source, found.target, found.breaks[0].release) == ("0.17.1", "0.18.0", "0.18.0")

    def test_what_is_less_than_an_error_warns(self) -> None:
        found = between("sglang serve --model-path m --cuda-graph-max-bs 64", "0.5.12", "0.5.16")
        assert (found.breaks, rules(found.warns)) == ([], ["sglang/deprecated-option"])

    def test_what_only_the_present_release_says_is_mended(self) -> None:
        found = between("vllm serve m --async-scheduling", "0.8.5", "0.10.2")
        assert (found.breaks, rules(found.mended)) == ([], ["vllm/option-not-yet"])
        assert found.mended[0].release == "0.8.5"

    def test_what_both_say_stays(self) -> None:
        found = between("vllm serve m --no-such-option --swap-space 4", "0.17.1", "0.18.0")
        assert (rules(found.stays), rules(found.breaks)) == (["vllm/unknown-option"], ["vllm/removed-option"])

    def test_the_way_back_is_the_other_way_round(self) -> None:
        found = between("vllm serve m --swap-space 4", "0.18.0", "0.17.1")
        assert (found.breaks, rules(found.mended)) == ([], ["vllm/removed-option"])

    def test_the_same_release_changes_nothing(self) -> None:
        found = between("vllm serve m --swap-space 4", "0.18.0", "0.18.0")
        assert (found.breaks, found.warns, found.mended, found.defaults) == ([], [], [], [])
        assert rules(found.stays) == ["vllm/removed-option"]

    @pytest.mark.parametrize("text", ["vllm serve m $ARGS", 'vllm serve m "$@"', "vllm serve m --kv-cache-dtype $KV"])
    def test_what_is_not_known_breaks_nothing(self, text: str) -> None:
        found = between(text, "0.8.5", "0.27.1")
        assert (found.breaks, found.stays) == ([], [])

    def test_rules_that_are_not_asked_for_say_nothing(self) -> None:
        assert between("vllm serve m --swap-space 4", "0.17.1", "0.18.0", ignore=("vllm/removed-option",)).breaks == []

    def test_the_release_of_the_file_gives_way(self) -> None:
        text = """
            services:
              llm:
                image: vllm/vllm-openai:v0.17.1
                command: m --swap-space 4
        """
        launch = launch_in(text)
        found = upgrade(launch, "0.17.1", "0.18.0", Settings())
        assert rules(found.breaks) == ["vllm/removed-option"]
        assert launch.release.release == "0.17.1"

    def test_an_image_that_may_be_a_fork_may_keep_more(self) -> None:
        text = """
            services:
              llm:
                image: registry.example/house/vllm:prod
                command: vllm serve m --no-such-option
        """
        found = between(text, "0.17.1", "0.18.0", "compose.yml")
        assert (found.breaks, found.stays) == ([], [])


class TestDefaults:
    def changed(self, text: str, source: str = "0.8.5", target: str = "0.27.1") -> dict[str, tuple[object, object, str]]:
        found = between(text, source, target).defaults
        return {one.name: (one.before, one.after, one.since) for one in found}

    def test_of_options_that_the_launch_leaves_alone(self) -> None:
        found = self.changed("vllm serve m")
        assert found["--gpu-memory-utilization"] == (0.9, 0.92, "0.20.0")

    @pytest.mark.parametrize(
        "given",
        [
            "--gpu-memory-utilization 0.8",
            "--gpu_memory_utilization=0.8",
            "--gpu-memory-util 0.8",
            "--gpu-memory-utilization $X",
        ],
    )
    def test_not_of_those_that_it_sets(self, given: str) -> None:
        found = self.changed(f"vllm serve m {given}")
        assert "--gpu-memory-utilization" not in found
        assert found != {}

    def test_not_of_the_model_that_it_names(self) -> None:
        assert "--model" not in self.changed("vllm serve m")
        assert "--model" not in self.changed("vllm serve --model m")

    def test_they_differ(self) -> None:
        assert all(before != after for before, after, _ in self.changed("vllm serve m").values())

    def test_there_are_none_of_an_engine_without_a_catalog(self, without_catalog: Callable[[str], None]) -> None:
        assert between("text-generation-launcher --model-id m", "2.0.0", "3.0.0").defaults != []
        without_catalog("tgi")
        assert between("text-generation-launcher --model-id m", "2.0.0", "3.0.0").defaults == []
