"""A report that was stored is the same bytes in every format, and the store has no text and no secret of the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from servelint.cache import opened, record
from servelint.core.finding import Edit, Fix
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.settings import DEFAULT, FORMATS
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lint import add_source, check_in_parallel
from servelint.report import formats
from servelint.settings.files import SettingsFiles

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
SECRET = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"


def linted(source: Source) -> tuple[Report, Neighbours]:
    report, beside = Report(), Neighbours(None)
    report.files, report.paths = 1, [source.path]
    add_source(report, source, DEFAULT, beside, undecided=True)
    return report, beside


def test_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    cache = opened(str(tmp_path / "cache"))
    assert cache is not None
    cold, warm = [check_in_parallel(["."], SettingsFiles(), undecided=True, cache=cache) for _ in range(2)]
    plain = check_in_parallel(["."], SettingsFiles(), undecided=True)
    assert cache.hits == len(plain.sources)
    assert len(plain.findings) > 10
    options = formats.RenderOptions(verbose=True)
    for kind in FORMATS:
        if kind != "html":  # it shows the words, which are not stored
            assert formats.find(kind).render(warm, options) == formats.find(kind).render(plain, options), kind
            assert formats.find(kind).render(cold, options) == formats.find(kind).render(plain, options), kind


def test_a_secret_is_not_stored() -> None:
    script = f"export HF_TOKEN={SECRET}\nvllm serve m --swap-space 4 --api-key $HF_TOKEN --hf-token {SECRET}\n"
    source = Source("run.sh", script)
    report, _ = linted(source)
    assert report.findings
    text = record.encode(report, source, [])
    assert SECRET not in text
    assert "vllm serve" not in text
    again = record.decode(text, source, lambda number: source)
    again.files, again.paths = report.files, report.paths
    assert formats.find("json").render(again) == formats.find("json").render(report)


def test_a_fix_that_writes_a_secret_is_not_stored() -> None:
    source = Source("run.sh", f"vllm serve m --swap-space 4 --api-key {SECRET}\n")
    report, _ = linted(source)
    finding = report.findings[0]
    source.redactions.values = (SECRET,)
    finding.fix = Fix("write the key", True, [Edit(finding.span, f"--api-key {SECRET}")])
    with pytest.raises(record.Unstorable):
        record.encode(report, source, [])


@pytest.mark.parametrize(
    "problem",
    [
        Problem("a.sh", "servelint failed on this file", own=True),
        Problem("a.sh", record._UNREPEATABLE[0], limit=True),
        Problem("a.sh", record._UNREPEATABLE[1], limit=True),
    ],
)
def test_what_may_be_otherwise_next_time_is_not_stored(problem: Problem) -> None:
    report = Report()
    report.errors.append(problem)
    with pytest.raises(record.Unstorable):
        record.encode(report, Source("a.sh", ""), [])


def test_a_span_in_another_text_is_not_stored() -> None:
    source = Source("run.sh", "vllm serve m --swap-space 4\n")
    report, _ = linted(source)
    with pytest.raises(record.Unstorable):
        record.encode(report, Source("run.sh", "vllm serve m\n"), [])


@pytest.mark.parametrize("spoilt", ["", "{", "[]", "null", '{"sources": [[7, false]]}', "\ud800"])
def test_a_sealed_entry_of_another_shape_is_a_miss(spoilt: str, tmp_path: Path) -> None:
    cache = opened(str(tmp_path / "cache"))
    assert cache is not None
    source = Source("run.sh", "vllm serve m\n")
    name = cache.name(source, DEFAULT, False)
    assert name is not None
    for data in (f"[]\n{spoilt}", spoilt, f"{json.dumps([[['x'], 'y', 'z']])}\n{{}}"):
        cache.store.write(name, data.encode("utf-8", "surrogatepass"))
        assert cache.find(name, source, DEFAULT, Neighbours(None)) is None


def test_where_secrets_stand_is_stored() -> None:
    script = f"export HF_TOKEN={SECRET}\nvllm serve m --swap-space 4 --hf-token $HF_TOKEN\n"
    source, fresh = Source("run.sh", script), Source("run.sh", script)
    report, _ = linted(source)
    record.decode(record.encode(report, source, []), fresh, lambda number: fresh)
    assert SECRET in source.redactions.values
    assert sorted(fresh.redactions.values) == sorted(source.redactions.values)
