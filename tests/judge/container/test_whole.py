"""Every word of the findings about what surrounds a launch: in the examples of the rules in rules/container/, in more texts.

`python -m tests.judge.container.test_whole` writes them anew: read the diff.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.judge.judging import judge
from servelint.readers import read
from servelint.rule_examples import example_text, unmarked
from servelint.rules.load import rules
from servelint.rules.rule import ANY
from tests.book import each_rule
from tests.whole import compare, finding_lines, main

PATH, TEXTS = (Path(__file__).with_name(name) for name in ("whole.txt", "texts.txt"))


def _lines() -> Iterator[str]:
    around = {rule.id: rule for rule in rules() if rule.engine == ANY}
    for written in each_rule():
        rule = around.get(str(written["id"]))
        if rule is not None:
            yield f"=== {rule.id}"
            for example in [*written["examples"]["bad"], *written["examples"]["good"]]:
                settings = Settings(select=(rule.id,), profile="audit", gpu=example.get("gpu"), gpu_count=example.get("gpus"))
                for launch in read(unmarked(*example_text(example))[0]).launches:
                    for finding in judge(launch, settings, [rule]):
                        yield from finding_lines(finding)


def _around(name: str, text: str) -> Iterator[str]:
    around = [rule for rule in rules() if rule.engine == ANY]
    for launch in read(Source(name, text)).launches:
        for finding in judge(launch, Settings(profile="audit"), around):
            yield from finding_lines(finding)


def test_texts() -> None:
    compare(TEXTS, _around)


def test_findings() -> None:
    assert list(_lines()) == PATH.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    main([str(TEXTS)], _around)
    PATH.write_text("".join([line + "\n" for line in _lines()]), encoding="utf-8")
