"""Every word of the findings of rules with code, in the examples of each: those of vLLM in whole.txt.

`python -m tests.judge.checks.test_whole` writes it anew: read the diff.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.judge.judging import judge
from servelint.readers import read
from servelint.rule_examples import example_text, unmarked
from servelint.rules.load import rules
from servelint.rules.rule import Rule
from tests.book import each_rule
from tests.whole import finding_lines

PATHS = {True: Path(__file__).with_name("whole.txt"), False: Path(__file__).with_name("whole_others.txt")}


def _findings(rule: Rule, example: dict[str, Any]) -> list[Finding]:
    source, _ = unmarked(*example_text(example))
    versions = {rule.engine: str(example["version"])} if "version" in example else {}
    settings = Settings(select=(rule.id,), engine_versions=versions, profile="audit")
    settings.gpu, settings.gpu_count = example.get("gpu"), example.get("gpus")
    return [finding for launch in read(source).launches for finding in judge(launch, settings, [rule])]


def _lines(of_vllm: bool) -> Iterator[str]:
    coded = {rule.id: rule for rule in rules() if rule.check is not None}
    for written in each_rule():
        rule = coded.get(str(written["id"]))
        if rule is not None and (rule.engine == "vllm") is of_vllm:
            yield f"=== {rule.id}"
            for example in [*written["examples"]["bad"], *written["examples"]["good"]]:
                for finding in _findings(rule, example):
                    yield from finding_lines(finding)


@pytest.mark.parametrize("of_vllm", PATHS)
def test_findings(of_vllm: bool) -> None:
    assert list(_lines(of_vllm)) == PATHS[of_vllm].read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    for of_vllm, path in PATHS.items():
        path.write_text("".join([line + "\n" for line in _lines(of_vllm)]), encoding="utf-8")
