"""The account of the evidence base, rules/coverage.yaml: what became of each fact, and that it is so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import servelint
from servelint import Settings
from servelint.engines import ENGINES
from servelint.rules.load import rules
from tests.syntax import yaml_texts
from tests.together import together

ROOT = Path(__file__).parent.parent.parent
ACCOUNT: dict[str, dict[str, dict[str, Any]]] = yaml_texts.load((ROOT / "rules" / "coverage.yaml").read_text(encoding="utf-8"))
FACTS = [(f"{part} {name}", account) for part, accounts in ACCOUNT.items() for name, account in accounts.items()]
COUNTS = {"vllm": 220, "sglang": 186, "others": 45}
"""How many facts the evidence base has of each part."""

IDS = {rule.id for rule in rules()}


def test_every_fact_of_the_evidence_base_is_accounted_for() -> None:
    assert {part: len(accounts) for part, accounts in ACCOUNT.items()} == COUNTS
    folder = Path(os.environ.get("SERVELINT_EVIDENCE", ROOT.parent / "shared" / "evidence"))
    for part in COUNTS:
        if (folder / f"{part}.yaml").exists():
            facts = yaml_texts.load((folder / f"{part}.yaml").read_text(encoding="utf-8"))
            assert sorted(ACCOUNT[part]) == sorted(fact["id"] for fact in facts)


@together("fact, account", FACTS)
def test_the_account_is_true(fact: str, account: dict[str, Any]) -> None:
    del fact
    (kind,) = set(account) & {"rule", "catalog", "memory", "not"}
    if kind in ("memory", "not"):
        assert len(account[kind]) > 20, "a reason is a sentence"
        assert set(account) == {kind}
    elif kind == "rule":
        named = account["rule"]
        assert set([named] if isinstance(named, str) else named) <= IDS
    else:
        engine = account.get("engine", "vllm")
        found = servelint.check_command(
            engine,
            [str(word) for word in account["argv"]],
            version=str(account["version"]),
            env={name: str(value) for name, value in account.get("env", {}).items()},
            settings=Settings(profile="audit"),
        )
        assert f"{ENGINES[engine].package}/{account['catalog']}" in [finding.rule for finding in found]
