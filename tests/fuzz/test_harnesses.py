"""The short run of fuzzing: each harness over choices that hypothesis makes. docs/fuzzing.md has the long one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.chance import Drawn, Seeded
from fuzz.counts import COUNTS
from fuzz.harnesses import NAMES, harness
from fuzz.harnesses.messages import close

SHORT = settings(
    deadline=None,
    max_examples=2 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
CHOICES = st.binary(min_size=64, max_size=384)


@pytest.fixture(scope="module", autouse=True)
def _servers_end() -> Iterator[None]:
    yield
    close()


@pytest.mark.parametrize("name", NAMES)
@SHORT
@given(choices=CHOICES)
def test_every_case_holds(name: str, choices: bytes) -> None:
    one = harness(name)
    one.check(one.make(Drawn(choices)))


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_the_same_case_each_time(name: str) -> None:
    one = harness(name)
    cases = [repr(one.make(Seeded(number))) for number in range(50)]
    assert cases == [repr(one.make(Seeded(number))) for number in range(50)]
    assert len(set(cases)) > 40


LOOKED_AT = {
    "yaml_files": ("with launches", "read twice", "bytes", "judged", "comments before", "comments behind", "unknowns"),
    "shell": ("with launches", "read twice", "bytes", "judged", "comments before", "comments behind", "unknowns"),
    "files": ("with launches", "read twice", "bytes", "judged", "comments before", "comments behind", "unknowns"),
    "argv": ("read twice", "unknowns", "violations"),
    "rules": ("tree", "condition", "range", "a-rule.yaml", "evaluated", "held of a launch", "ranges that are some"),
    "mending": ("with a fix", "mended"),
    "messages": ("session", "broken", "messages", "compared with a fresh look"),
}


@pytest.mark.parametrize("name", NAMES)
def test_each_property_is_looked_at(name: str) -> None:
    """A harness whose cases never come to a property would hold forever."""
    one = harness(name)
    COUNTS.clear()
    for number in range(400):
        one.check(one.make(Seeded((5 << 40) + number)))
        if all(COUNTS[what] for what in LOOKED_AT[name]):
            break
    assert [what for what in LOOKED_AT[name] if not COUNTS[what]] == []
