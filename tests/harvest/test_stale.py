"""Rules that a release may end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from servelint.harvest import stale
from servelint.harvest.anchors import CHANGED, GONE, MOVED, SAME, Source, citations
from servelint.harvest.sources import HarvestError, Tree, open_tree

PATH = "vllm/config/vllm.py"
CHECK = """
class Config:
    def verify(self):
        if self.pipeline_parallel_size > 1 and self.enable_eplb:
            raise ValueError("pipelines do not take eplb")
        if self.enable_dbo and self.enable_eplb:
            raise ValueError("micro-batches need another backend")
"""


def rule(name: str, line: int, option: str) -> dict[str, Any]:
    evidence = [{"source": f"vllm-0.33.0 {PATH}:{line}", "says": "the error"}]
    when = {option: True, "enable-eplb": True}
    return {"id": f"vllm/{name}", "engine": "vllm", "versions": ">=0.20", "when": when, "why": "", "evidence": evidence}


RULES = [rule("one", 5, "pipeline-parallel-size"), rule("two", 7, "enable-dbo"), rule("three", 99, "seed")]


def source(text: str, release: str = "0.33.0") -> Source:
    return Source(Tree("vllm", release, {PATH: text}))


def built() -> dict[str, list[stale.Row]]:
    return stale.build(RULES, "0.33.0", lambda _: source(CHECK))


def compared(text: str) -> list[stale.Verdict]:
    return stale.compare(RULES, built(), source(CHECK), source(text, "0.34.0"))


def test_anchors_of_rules() -> None:
    found = built()
    assert sorted(found) == ["vllm/one", "vllm/two"]
    ((path, function, kind, fingerprint),) = found["vllm/one"]
    assert (path, function, kind) == (PATH, "Config.verify", "raise")
    assert fingerprint != found["vllm/two"][0][3]


def test_an_anchor_of_another_release_is_followed() -> None:
    moved = "\n\n" + CHECK
    found = stale.build(RULES, "0.34.0", lambda release: source(CHECK if release == "0.33.0" else moved, release))
    assert found == built()


def test_a_release_that_changes_nothing() -> None:
    verdicts = compared("# other\n" + CHECK)
    assert [one.state for one in verdicts] == [SAME] * 3
    text = stale.markdown("vllm", "0.33.0", "0.34.0", verdicts)
    assert "2 unchanged and 0 moved: their ranges may grow." in text
    assert "1 have no anchor" in text
    assert "|" not in text


def test_a_release_that_ends_rules() -> None:
    other = CHECK.replace("size > 1 and", "size > 1 and not self.rust and").split("        if self.enable_dbo")[0]
    verdicts = compared(other)
    assert [one.state for one in verdicts] == [CHANGED, GONE, SAME]
    text = stale.markdown("vllm", "0.33.0", "0.34.0", verdicts)
    assert f"| `vllm/two` | gone | `{PATH}` Config.verify | `>=0.20,<=0.33.0` |" in text
    assert "- if self.pipeline_parallel_size > 1 and self.enable_eplb:" in text
    assert "+ if self.pipeline_parallel_size > 1 and not self.rust and self.enable_eplb:" in text
    assert "```" not in stale.markdown("vllm", "0.33.0", "0.34.0", verdicts, texts=False)


def test_a_name_that_changes_everywhere() -> None:
    check = 'def f{0}(cfg):\n    if cfg.enable_dp and cfg.size{0} > 1:\n        raise ValueError("no attention replicas{0}")\n'
    text = "".join([check.format(number) for number in range(3)])
    rules = [rule(f"r{number}", 3 * number + 3, f"size{number}") for number in range(3)]
    anchors = stale.build(rules, "0.33.0", lambda _: source(text))
    verdicts = stale.compare(rules, anchors, source(text), source(text.replace("enable_dp", "dp_enabled")))
    assert [one.state for one in verdicts] == [MOVED] * 3
    shown = stale.markdown("vllm", "0.33.0", "0.34.0", verdicts)
    assert "- renamed in the conditions of 3 rules: `enable_dp -> dp_enabled`" in shown
    once = text.replace("enable_dp", "dp_enabled", 1)
    assert [one.state for one in stale.compare(rules, anchors, source(text), source(once))] == [CHANGED, SAME, SAME]


def test_an_option_that_changes() -> None:
    old: dict[str, Any] = {"options": {"seed": {}}, "env": {}, "json": {}, "names": {}}
    verdicts = stale.compare(RULES, built(), source(CHECK), source(CHECK), (old, {**old, "options": {}}))
    assert [one.changes for one in verdicts] == [[], [], ["seed: known -> missing"]]
    assert [one.rings for one in verdicts] == [False, False, True]


def test_ranges_are_capped_in_their_files(tmp_path: Path) -> None:
    area = tmp_path / "vllm"
    area.mkdir()
    (area / "one.yaml").write_text('id: vllm/one\nversions: ">=0.20"\nwhen: {}\n')
    (area / "_bounds.yaml").write_text(
        'rows:\n  other:\n    versions: ">=0.20"\n  two:\n    title: a\n    versions: ">=0.20"\n  three:\n    title: b\n'
    )
    verdicts = compared("class Config:\n    pass\n")
    assert stale.cap(verdicts, "0.33.0", str(tmp_path)) == []
    assert (area / "one.yaml").read_text() == 'id: vllm/one\nversions: ">=0.20,<=0.33.0"\nwhen: {}\n'
    text = (area / "_bounds.yaml").read_text()
    assert text.count("<=0.33.0") == 1
    assert 'title: a\n    versions: ">=0.20,<=0.33.0"\n' in text


def test_a_range_that_a_row_shares_is_named(tmp_path: Path) -> None:
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "_bounds.yaml").write_text('each: {versions: ">=0.20"}\nrows:\n  one:\n    title: a\n')
    verdicts = [one for one in compared("") if one.rule == "vllm/one"]
    assert stale.cap(verdicts, "0.33.0", str(tmp_path)) == ["vllm/one"]


def test_stored_anchors_are_those_of_open_rules(tmp_path: Path) -> None:
    known = stale.stored()
    for engine in ("vllm", "sglang"):
        rules = {one["id"] for one in stale.open_rules(engine)}
        anchored = known[engine]["rules"].keys()
        assert anchored <= rules
        assert len(anchored) > 0.85 * len(rules)
    stale.write(known, str(tmp_path / "anchors.json"))
    assert (tmp_path / "anchors.json").read_text() == Path(stale.FILE).read_text()


@pytest.mark.book
@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_stored_anchors_are_rebuilt(engine: str) -> None:
    known = stale.stored()[engine]
    release = known["release"]
    try:
        newest = Source(open_tree(engine, release, unverified=True))
    except HarvestError as error:
        pytest.skip(f"{engine} {release} is neither on the package index nor in the cache: {error}")
    # what an older release decides is followed through dozens of them: `servelint engines anchors` rebuilds that
    cite = [one for one in stale.open_rules(engine) if any(place.release == release for place in citations(one))]
    cite = cite if "SERVELINT_ALL_RELEASES" in os.environ else cite[::8]
    found = stale.build(cite, release, only(newest, release))
    assert len(found) > 25
    assert found == {rule: known["rules"][rule] for rule in found}


def only(source: Source, release: str) -> stale.Opener:
    """Opens one release, and has no other."""

    def opener(asked: str) -> Source:
        if asked != release:
            raise HarvestError(f"{asked} is not opened")
        return source

    return opener


def test_two_names_that_change_everywhere() -> None:
    check = (
        "def f{0}(cfg):\n    if cfg.enable_dp and cfg.tp % cfg.dp_size != 0 and cfg.size{0} > 1:\n"
        '        raise ValueError("no attention replicas{0}")\n'
    )
    text = "".join([check.format(number) for number in range(3)])
    rules = [rule(f"r{number}", 3 * number + 3, f"size{number}") for number in range(3)]
    anchors = stale.build(rules, "0.33.0", lambda _: source(text))
    accessor = "def dp_enabled_of(c):\n    return c.attn_dp > 1 or c.joins\n\n\n"
    other = accessor + text.replace("cfg.enable_dp", "dp_enabled_of(cfg)").replace("dp_size", "attn_dp")
    verdicts = stale.compare(rules, anchors, source(text), source(other))
    assert [one.state for one in verdicts] == [MOVED] * 3
    shown = stale.markdown("vllm", "0.33.0", "0.34.0", verdicts)
    assert "- renamed in the conditions of 3 rules: `enable_dp -> dp_enabled_of`" in shown
    assert "- renamed in the conditions of 3 rules: `dp_size -> attn_dp`" in shown
    assert "3 moved" in shown
