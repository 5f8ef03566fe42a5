"""Which rule explains an error: the rules that are nearest to the text of a log.

A rule has the texts of the refusals that engines print for it (`rules/refusals.json`) and the words of its own page. The search
compares each line of a log with them. A word weighs more if few rules have it, and so do two words in the order of the
refusal. The site has the same search in `tools/site/assets/site.js`; a test compares their answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from servelint.core.data import load_data
from servelint.rules.compile import every_rule
from servelint.rules.load import rule_folder

_WORD = re.compile(r"[a-z][a-z0-9]*")
_QUOTED = re.compile(r'"([^"]{16,})"')
WEIGHTS: dict[str, Any] = {
    "least": 9.0,
    "page": 0.35,
    "other": 0.5,
    "together": 2,
    "engines": {
        "vllm": ("vllm",),
        "sglang": ("sglang", "sgl", "launch server"),
        "llamacpp": ("llama server", "llama cpp", "ggml"),
        "lmdeploy": ("lmdeploy",),
        "trtllm": ("trtllm", "tensorrt llm"),
        "tgi": ("text generation",),
    },
}
"""What the search weighs, here and on the site.

least: the score that a rule needs to be named. page: the weight of a word of a rule's page against one of its refusals.
other: the weight of a rule of another engine than the text names. together: the number of lines that are read as one.
engines: words that name an engine in a log; among rules with equal scores the engine listed first comes first.
"""
_LINES_AT_MOST = 20_000
_CHARACTERS_AT_MOST = 2_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule as the search knows it.

    Attributes:
        rule: the rule's id.
        title: the rule's title.
        engine: the id of the rule's engine, or "any".
        refusals: what the engine prints: lines with `{}` instead of a value.
        words: the words of the rule's page, each once.
    """

    rule: str
    title: str
    engine: str
    refusals: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that a text may come from.

    Attributes:
        entry: the rule.
        score: how near it is; comparable within one search.
        line: the line of the text that is nearest to it, from 1.
    """

    entry: Entry
    score: float
    line: int


def entries() -> list[Entry]:
    """Return every rule of the rule book."""
    known: dict[str, list[str]] = load_data("rules/refusals.json")["refusals"]
    return [_entry(data, known.get(data["id"], ())) for data in every_rule(rule_folder())]


def _entry(data: dict[str, Any], refusals: Iterable[str]) -> Entry:
    says = [entry["says"] for entry in data["evidence"]]
    quoted = [text for part in (data["why"], *says) for text in _QUOTED.findall(" ".join(part.split()))]
    page = " ".join([data["title"], str(data["message"]), data["why"], *says])
    words = tuple(sorted(set(_WORD.findall(page.lower()))))
    return Entry(data["id"], data["title"], data["engine"], (*refusals, *quoted), words)


def features(text: str) -> set[str]:
    """Return the words of a text, and each two that stand side by side.

    >>> sorted(features("tp_size (3) must"))
    ['must', 'size', 'size must', 'tp', 'tp size']
    """
    words = _WORD.findall(text.lower())
    return {*words, *[f"{one} {other}" for one, other in pairwise(words)]}


class Index:
    """The rules, by the words of their refusals and pages.

    Args:
        rules: the rules to search.
    """

    def __init__(self, rules: list[Entry]) -> None:
        self._rules = rules
        texts = [(at, features(text)) for at, one in enumerate(rules) for text in one.refusals]
        count: dict[str, int] = {}
        for one in rules:
            own = {feature for text in one.refusals for feature in features(text)}
            for feature in own | set(one.words):
                count[feature] = count.get(feature, 0) + 1
        self._weight = {feature: math.log((len(rules) + 1) / number) for feature, number in count.items()}
        self._rule_of = [at for at, _ in texts]
        self._whole = [sum(self._weight[one] for one in found) for _, found in texts]
        self._refusals_with = _inverted([found for _, found in texts])
        self._pages_with = _inverted([set(one.words) for one in rules])

    def search(self, text: str) -> list[Match]:
        """Return the rules that a text may come from, the nearest first.

        Args:
            text: a line of a log, a traceback or a whole log. Of a very long one the end counts.
        """
        best: dict[int, tuple[float, int]] = {}
        lines = text.split("\n")
        skipped = max(0, len(lines) - _LINES_AT_MOST)
        lines = [line[:_CHARACTERS_AT_MOST] for line in lines[skipped:]]
        engines = self._engines(text)
        for at in range(len(lines)):
            if not lines[at].strip():
                continue
            for rule, score in self._scores(features(" ".join(lines[at : at + WEIGHTS["together"]]))).items():
                if score > best.get(rule, (0.0, 0))[0]:
                    best[rule] = (score, at + 1)
        found: list[Match] = []
        for rule, (score, line) in best.items():
            entry = self._rules[rule]
            other = engines and entry.engine != "any" and entry.engine not in engines
            score *= WEIGHTS["other"] if other else 1
            if score >= WEIGHTS["least"]:
                near = range(line - 1, min(line - 1 + WEIGHTS["together"], len(lines)))
                line = 1 + max(near, key=lambda at: self._scores(features(lines[at])).get(rule, 0.0))
                found.append(Match(entry, score, line + skipped))
        order = list(WEIGHTS["engines"])
        place = {name: order.index(name) if name in order else len(order) for name in [one.entry.engine for one in found]}
        return sorted(found, key=lambda one: (-round(one.score, 6), place[one.entry.engine], one.entry.rule))

    @staticmethod
    def _engines(text: str) -> set[str]:
        words = " ".join(_WORD.findall(text.lower()))
        return {engine for engine, names in WEIGHTS["engines"].items() if any(f" {name} " in f" {words} " for name in names)}

    def _scores(self, wanted: set[str]) -> dict[int, float]:
        """Position of a rule -> its score for one line."""
        hits: dict[int, float] = {}
        pages: dict[int, float] = {}
        for feature in wanted:
            weight = self._weight.get(feature, 0.0)
            for refusal in self._refusals_with.get(feature, ()):
                hits[refusal] = hits.get(refusal, 0.0) + weight
            for rule in self._pages_with.get(feature, ()):
                pages[rule] = pages.get(rule, 0.0) + weight
        found = {rule: WEIGHTS["page"] * hit for rule, hit in pages.items()}
        best: dict[int, float] = {}
        for refusal, hit in hits.items():
            rule = self._rule_of[refusal]
            best[rule] = max(best.get(rule, 0.0), hit * hit / self._whole[refusal])
        for rule, score in best.items():
            found[rule] = found.get(rule, 0.0) + score
        return found


def _inverted(sets: list[set[str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, features_ in enumerate(sets):
        for feature in features_:
            found.setdefault(feature, []).append(at)
    return found
