"""Bounds of what is said: an API server cuts the rest off."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.admission.answer import audit, denial, warnings
from servelint.admission.findings import Found

_TEXTS = st.builds(
    lambda text, times: text * times, st.text("ab \n\x1b\u202e\u00e9\U0001f600", max_size=12), st.integers(0, 50)
)
_FOUND = st.builds(Found, st.just("vllm/a-rule"), st.sampled_from(["error", "warning"]), _TEXTS, _TEXTS, _TEXTS, st.just("1"))


@settings(deadline=None)
@given(st.lists(_FOUND, min_size=1, max_size=60))
def test_what_is_said_fits_and_none_is_lost_in_silence(findings: list[Found]) -> None:
    told = warnings(findings)
    assert sum(map(len, told)) <= 4096
    assert all(len(line) <= 256 and line.isprintable() for line in told)
    assert len(told) == len(findings) or told[-1] == f"servelint: and {len(findings) - len(told) + 1} more"
    lines = denial(findings, "Pod prod/llm").split("\n")
    assert sum(map(len, lines)) <= 4096
    assert all(line.isprintable() for line in lines)
    assert len(lines) == len(findings) + 1 or lines[-1] == f"and {len(findings) - len(lines) + 2} more"


def test_what_a_line_has() -> None:
    one = Found(
        "vllm/x", "error", "spec.containers[0].args[1]", "--x is gone; delete it", "vLLM 0.19.1, affected: 0.18 and later", "1"
    )
    line = "spec.containers[0].args[1]: --x is gone; delete it (vLLM 0.19.1, affected: 0.18 and later)"
    assert warnings([one]) == [f"vllm/x: {line}"]
    assert denial([one, one], "Pod a").split("\n") == [
        "servelint denies Pod a for 2 findings:",
        *[f"error[vllm/x] {line}"] * 2,
    ]
    assert audit([one, one]) == "error vllm/x"
