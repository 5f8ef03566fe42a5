"""What settings say of rules."""

from __future__ import annotations

import pytest

from servelint.core.settings import FORMATS, PROFILES, Selection, Settings

RULE, OTHER = "vllm/some-rule", "sglang/some-rule"


def on(*selections: Selection, rule: str = RULE, profile: str = "default", asked: str = "default") -> bool:
    return Settings(selections=selections, profile=asked).wants(rule, profile)


@pytest.mark.parametrize("pattern", [RULE, "vllm/*", "vllm", "vllm/", "vllm/some-*", "*"])
def test_patterns(pattern: str) -> None:
    assert on(Selection((pattern,)))
    assert not on(Selection(ignore=(pattern,)))
    assert on(Selection(ignore=(pattern,)), rule="vllmx/some-rule") is (pattern != "*")


def test_nothing_selected_is_nothing() -> None:
    assert not on(Selection(()))
    assert on(Selection(), rule=RULE)


class TestLayers:
    def test_ignores_add_up(self) -> None:
        layers = (Selection(ignore=(RULE,)), Selection(ignore=(OTHER,)))
        assert not on(*layers)
        assert not on(*layers, rule=OTHER)

    def test_a_later_selection_starts_anew(self) -> None:
        assert on(Selection(ignore=(RULE,)), Selection(("vllm/*",)))
        assert not on(Selection(("vllm/*",)), Selection(("sglang/*",)))

    def test_more_can_be_selected(self) -> None:
        assert on(Selection(("sglang/*",)), Selection(extend_select=(RULE,)))
        assert on(Selection(("sglang/*",)), Selection(extend_select=(RULE,)), rule=OTHER)
        assert on(Selection(ignore=("vllm/*",)), Selection(extend_select=(RULE,)))

    def test_in_one_layer_ignore_is_the_last_word(self) -> None:
        assert not on(Selection((RULE,), (RULE,), (RULE,)))


class TestProfiles:
    def test_an_id_needs_none_and_an_area_does(self) -> None:
        assert on(Selection((RULE,)), profile="audit")
        assert on(Selection(extend_select=(RULE,)), profile="audit")
        assert not on(Selection(("vllm/*",)), profile="audit")
        assert not on(Selection(extend_select=("vllm/*",)), profile="audit")
        assert on(Selection(("vllm/*",)), profile="audit", asked="audit")
        assert not on(Selection(("vllm/*",)), profile="audit", asked="strict")


class TestOfRules:
    def test_an_id_says_more_than_an_area(self) -> None:
        settings = Settings(rule_settings={RULE: {"severity": "error"}, "vllm/*": {"severity": "info", "x": 1}, "*": {"y": 2}})
        assert settings.of_rule(RULE) == {"severity": "error", "x": 1, "y": 2}
        assert settings.of_rule("vllm/other") == {"severity": "info", "x": 1, "y": 2}
        assert settings.of_rule(OTHER) == {"y": 2}

    def test_nothing_is_said(self) -> None:
        assert Settings().of_rule(RULE) == {}


def test_with_a_release_nothing_else_changes() -> None:
    settings = Settings(("vllm/*",), ("*",), "error", {"sglang": "0.5.9"}, "audit", ("policy",), "h100", 2, "never", {"*": {}})
    changed = settings.with_release("vllm", "0.20.0")
    assert changed.engine_versions == {"sglang": "0.5.9", "vllm": "0.20.0"}
    for name in set(Settings.__slots__) - {"engine_versions"}:
        assert getattr(changed, name) == getattr(settings, name)


def test_they_hold_for_every_file() -> None:
    settings = Settings()
    assert settings.of("a/b.yml") is settings


def test_what_a_user_can_choose_from() -> None:
    assert FORMATS[:3] == ("text", "concise", "json")
    assert list(FORMATS[3:]) == sorted(set(FORMATS[3:]) - {"text", "concise", "json"})
    assert {"sarif", "github", "gitlab", "html", "junit"} <= set(FORMATS)
    assert PROFILES == ("default", "strict", "audit")
