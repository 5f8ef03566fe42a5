"""What is known where a launch stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.engines.registry import Engine
from servelint.engines.releases import known_releases
from servelint.lsp.launch_view import LaunchView, briefly, key_of, releases_of, rules_on
from tests.lsp.marked import analysed, compose

NONE = Settings()
PINNED = Settings(engine_versions={"vllm": "0.19.1"})


def launch(text: str, name: str = "serve.sh") -> Launch:
    (only,) = analysed(name, text).launches
    return only


class TestReleases:
    def test_that_the_image_names(self) -> None:
        here = LaunchView(launch(compose(" --model x/y"), "compose.yml"), PINNED)
        assert (here.release, here.shown) == ("0.27.1", "vLLM 0.27.1 (by the image)")

    def test_that_the_settings_name(self) -> None:
        here = LaunchView(launch("vllm serve x/y\n"), PINNED)
        assert (here.release, here.shown) == ("0.19.1", "vLLM 0.19.1 (by the settings)")
        assert here.span == (here.index, here.index)

    def test_that_might_run_it_where_none_is_named(self) -> None:
        here = LaunchView(launch("vllm serve x/y --swap-space 4\n"), NONE)
        assert here.release == "0.17.1"
        assert here.shown.endswith(" to 0.17.1")
        assert here.catalog is not None
        assert here.catalog.releases[here.span[0]] == here.releases.known[0]

    def test_of_an_engine_whose_releases_nobody_knows(self, bare: Engine) -> None:
        assert known_releases(bare.id) == []
        here = LaunchView(launch("bare-server --model-id x/y\n"), NONE)
        assert (here.release, here.shown) == (None, "Bare Engine")

    @pytest.mark.parametrize(
        ("text", "settings", "told"),
        [
            ("vllm serve x/y\n", NONE, "vLLM"),
            ("vllm serve x/y\n", PINNED, "vLLM 0.19.1 (by the settings)"),
            ("pip install vllm==0.27.1\nvllm serve x/y\n", PINNED, "vLLM 0.27.1"),
            (
                "docker run vllm/vllm-openai:latest --model x/y\n",
                NONE,
                f"vLLM {known_releases('vllm')[-1]}, the newest that is known",
            ),
        ],
    )
    def test_in_a_word_or_two(self, text: str, settings: Settings, told: str) -> None:
        assert briefly(launch(text), settings) == told


class TestRemembering:
    TEXT = "vllm serve x/y --port 80\n"

    def test_what_is_known_of_a_launch_is_known_of_one_that_is_alike(self) -> None:
        first, second = (releases_of(launch(self.TEXT), NONE) for _ in range(2))
        assert first is second

    def test_not_of_another_one(self) -> None:
        assert key_of(launch(self.TEXT), None) != key_of(launch(self.TEXT.replace("80", "81")), None)

    def test_nor_where_a_file_may_have_changed(self) -> None:
        text = "vllm serve x/y --config options.yaml\n"
        one, other = launch(text), launch(text)
        assert key_of(one, None) == key_of(one, None)
        assert key_of(one, None) != key_of(other, None)


class TestRules:
    def test_those_whose_condition_names_an_option_for_the_release(self) -> None:
        here = LaunchView(launch(compose(" --model x/y"), "compose.yml"), NONE)
        names = {rule.id for rule in rules_on("kv-cache-dtype", here, NONE)}
        assert "vllm/turboquant-with-spec-decode" in names

    def test_none_for_a_release_that_it_does_not_hold_for(self) -> None:
        here = LaunchView(launch(compose(" --model x/y", image="vllm/vllm-openai:v0.19.1"), "compose.yml"), NONE)
        assert "vllm/turboquant-with-spec-decode" not in {rule.id for rule in rules_on("kv-cache-dtype", here, NONE)}

    def test_those_that_name_what_the_engine_makes_of_it(self) -> None:
        here = LaunchView(launch(compose(" --model x/y"), "compose.yml"), NONE)
        by_method = {rule.id for rule in rules_on("speculative-config.method", here, NONE)}
        assert any("mtp" in name for name in by_method)

    def test_those_of_a_folder_of_one_s_own(self, tmp_path: Path) -> None:
        (tmp_path / "acme").mkdir()
        (tmp_path / "acme" / "port.yaml").write_text(RULE, encoding="utf-8")
        settings = Settings(rules=(str(tmp_path),))
        here = LaunchView(launch(compose(" --model x/y"), "compose.yml"), settings)
        assert "acme/port" in {rule.id for rule in rules_on("port", here, settings)}
        assert "acme/port" not in {rule.id for rule in rules_on("port", here, NONE)}


RULE = """\
id: acme/port
title: The port of the company
severity: warning
confidence: high
impact: best-practice
engine: vllm
versions: ">=0.6"
when:
  port: {is-not: 8000}
at: port
message: "--port {port} is not the company's"
why: |
  The load balancer in front of the servers looks for every one of them at port 8000, and for none elsewhere.
advice: write --port 8000
evidence:
  - {url: "https://example.com/ports", says: the ports of the company}
examples:
  bad:
    - {version: 0.27.1, run: "vllm serve x --port \\u27e681\\u27e7"}
  good:
    - {version: 0.27.1, run: "vllm serve x --port 8000"}
"""
