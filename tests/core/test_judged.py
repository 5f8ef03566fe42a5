"""How far a launch was judged, launch by launch and in a summary."""

from __future__ import annotations

from servelint.core.judged import (
    ENVIRONMENT,
    FILE,
    IMAGE,
    VARIABLE,
    WORD,
    Judged,
    Undecided,
    Unresolved,
    summary,
    totals,
)
from tests.together import together


def lacking(kind: str, *, matters: bool = True) -> Unresolved:
    return Unresolved(kind, "$X", None, "it is set elsewhere", matters=matters)


def judged(how: str, *unresolved: Unresolved, known: bool = True, checked: bool = True) -> Judged:
    return Judged("0.20.0", how, list(unresolved), known=known, checked=checked)


@together(
    "one, pinned, whole, is_open, standing",
    [
        (judged("image"), True, True, False, "at a pinned version"),
        (judged("digest"), True, True, False, "at a pinned version"),
        (judged("pip"), True, True, False, "at a pinned version"),
        (judged("settings"), True, True, False, "at the version of the settings"),
        (judged("rolling"), False, False, True, "at a rolling tag judged as 0.20.0"),
        (judged("unknown"), False, False, True, "of unknown version"),
        (judged("image", known=False), False, False, True, "at an unlisted version judged as 0.20.0"),
        (judged("image", checked=False), True, False, True, "at a pinned version"),
        (judged("image", lacking(WORD)), True, False, True, "at a pinned version"),
        (judged("image", lacking(VARIABLE, matters=False)), True, True, True, "at a pinned version"),
    ],
)
def test_one_launch(one: Judged, pinned: bool, whole: bool, is_open: bool, standing: str) -> None:
    assert (one.pinned, one.whole, one.open, one.standing) == (pinned, whole, is_open, standing)


def test_a_launch_of_which_only_the_release_is_known() -> None:
    one = Judged("0.20.0", "image", [])
    assert (one.assumption, one.known, one.checked, one.undecided) == ("", True, True, None)


def test_a_rule_without_an_answer_leaves_a_launch_open() -> None:
    one = judged("image")
    one.undecided = []
    assert not one.open
    one.undecided = [Undecided("vllm/x", ["the model", "the GPU"])]
    assert (one.open, one.whole) == (True, True)
    assert repr(one.undecided) == "[Undecided(vllm/x: the model, the GPU)]"
    assert repr(lacking(WORD)) == "Unresolved(word '$X')"


@together(
    "found, text, hint",
    [
        ([], "", ""),
        ([judged("image")], "1 launch: 1 at a pinned version", ""),
        ([judged("settings")], "1 launch: 1 at the version of the settings", ""),
        ([judged("unknown")], "1 launch: 1 of unknown version", " (--verbose lists more)"),
        (
            [
                judged("unknown"),
                judged("image", known=False),
                judged("rolling"),
                judged("settings"),
                judged("pip"),
                judged("pip"),
            ],
            (
                "6 launches: 2 at a pinned version, 1 at the version of the settings, 1 at a rolling tag judged as 0.20.0, "
                "1 at an unlisted version judged as 0.20.0, 1 of unknown version"
            ),
            " (--verbose lists more)",
        ),
        (
            [judged("image", lacking(WORD), lacking(VARIABLE), lacking(FILE), lacking(ENVIRONMENT), checked=False)],
            (
                "1 launch: 1 at a pinned version; 1 word not resolved, 1 variable not resolved, 2 files or scripts not read, "
                "1 launch without a catalog of options"
            ),
            " (--verbose lists them)",
        ),
        (
            [judged("image", lacking(WORD), lacking(WORD)), judged("image", lacking(VARIABLE), lacking(VARIABLE))],
            "2 launches: 2 at a pinned version; 2 words not resolved, 2 variables not resolved",
            " (--verbose lists them)",
        ),
        (
            [judged("image", lacking(FILE))],
            "1 launch: 1 at a pinned version; 1 file or script not read",
            " (--verbose lists them)",
        ),
        ([judged("image", lacking(WORD, matters=False), lacking(IMAGE))], "1 launch: 1 at a pinned version", ""),
    ],
)
def test_a_summary(found: list[Judged], text: str, hint: str) -> None:
    assert summary(found) == text
    assert summary(found, hint=True) == text + hint


def test_the_numbers_of_a_report() -> None:
    one = judged("image", lacking(WORD), lacking(VARIABLE, matters=False))
    one.undecided = [Undecided("vllm/x", []), Undecided("vllm/y", [])]
    assert totals([one, judged("rolling"), judged("digest", known=False), judged("pip"), judged("unknown")]) == {
        "launches": 5,
        "whole": 1,
        "image": 1,
        "digest": 0,
        "pip": 1,
        "settings": 0,
        "rolling": 1,
        "unknown": 1,
        "unlisted": 1,
        "unresolved_words": 1,
        "unresolved": 2,
        "undecided_rules": 2,
    }
