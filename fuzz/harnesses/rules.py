"""The rule language: conditions, ranges of releases, and whole rule files as users write them."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator

from fuzz import vocabulary
from fuzz.case import Case, insist
from fuzz.chance import Seeded
from fuzz.counts import COUNTS
from fuzz.mutate import mutated
from fuzz.properties import SETTINGS, beside
from servelint.core.source import Source
from servelint.engines.config import Config, Operand, configs
from servelint.engines.releases import release_key
from servelint.files.directives import name_gpus
from servelint.judge import judging
from servelint.readers import read
from servelint.rules import folder, ranges
from servelint.rules.compile import compile_rule
from servelint.rules.condition import (
    OPERATORS,
    Compiled,
    Truth,
    compile_condition,
    evaluate,
    every_operand,
    filled,
    named_parts,
    needs,
)
from servelint.rules.index import RuleIndex
from servelint.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fuzz.chance import Chance

_OPERANDS = (
    "a",
    "b",
    "speculative-config.method",
    "env.VLLM_USE_V1",
    "model",
    "model.context",
    "gpu.memory",
    "effective.x",
    "container.ipc",
)
_SCALARS: tuple[Any, ...] = (0, 1, 2.5, -1, True, False, "", "a", "fp8", "1", "true", "x y", 10**30, 10**400)
_VALUES: tuple[Any, ...] = (*_SCALARS, "nan", "1e400", "turboquant_k8v4")

_RULE = """id: vllm/a-rule
title: a title of some length
severity: error
confidence: high
impact: crash-at-start
engine: vllm
versions: "{versions}"
when: {when}
unless: {unless}
at: max-model-len
message: "what is wrong with {{max-model-len}} under {{release}}"
advice: write something else
why: |
  A paragraph of at least sixty characters, which tells why it is wrong to write this.
evidence:
  - {{url: "https://example.org", says: so}}
examples:
  bad: [{{version: 0.27.1, run: "vllm serve a/b --max-model-len 1"}}]
  good: [{{run: "vllm serve a/b"}}]
"""
_OF_VLLM = (
    "max-model-len",
    "kv-cache-dtype",
    "speculative-config.method",
    "env.VLLM_USE_V1",
    "model",
    "model.context",
    "no-such",
)


_JSON = (
    "",
    """--speculative-config '{"method": "true"}'""",
    """--speculative-config '{"method": 1, "model": "a"}'""",
    """--speculative-config '{"model": "a"}'""",
    """--speculative-config '{"method": null}'""",
    "--speculative-config '{}'",
    "--speculative-config null",
    "--speculative-config a",
    """--speculative-config '{"method": '""",
    """--speculative-config "{\\"method\\": \\"$U\\"}" """,
    """--speculative-config "{\\"model\\": \\"a\\", $U}" """,
    '--speculative-config "$U"',
    "--speculative-config.method a",
    "--speculative-config.model a",
    "$U",
)
_BEFORE = ("", "VLLM_USE_V1=1 ", "VLLM_USE_V1=$U ")
_MODELS = ("a", "Qwen/Qwen3-8B", "$U")
_BEHIND = ("", "  # servelint: gpu=h100-80gb")
_LAUNCHES = [
    f"{before}vllm serve {model} {words}{behind}\n"
    for words in _JSON
    for before in _BEFORE
    for model in _MODELS
    for behind in _BEHIND
]
"""Launches which have what conditions on `_OPERANDS` need, lack it, or may have it."""


def make(chance: Chance) -> Case:
    kind = chance.below(16)
    turn = chance.below(1 << 16)
    if kind == 15:
        when, unless = _tree(chance, 2, _OF_VLLM), _tree(chance, 1, _OF_VLLM)
        text = _RULE.format(versions=_range(chance), when=json.dumps(when), unless=json.dumps(unless))
        return Case("a-rule.yaml", mutated(chance, text) if chance.often(0.7) else text, turn)
    if kind > 11:
        text = _range(chance)
        return Case("range", mutated(chance, text) if chance.often(0.5) else text, turn)
    text = json.dumps(_tree(chance, 3, _OPERANDS))
    return Case("tree", mutated(chance, text), turn) if kind > 7 else Case("condition", text, turn)


def _range(chance: Chance) -> str:
    bounds = [
        chance.pick((">=", "<", "<=", ">", "==", "!=", ">= ")) + chance.pick(vocabulary.releases("vllm"))
        for _ in range(chance.below(3))
    ]
    return ",".join(bounds)


def _tree(chance: Chance, depth: int, names: tuple[str, ...]) -> dict[str, Any]:
    """A condition that the schema takes."""
    found: dict[str, Any] = {}
    for _ in range(1 + chance.below(2)):
        kind = chance.below(9) if depth else 7
        if kind < 2:
            found[("any", "all")[kind]] = [_tree(chance, depth - 1, names) for _ in range(1 + chance.below(3))]
        elif kind == 2:
            found["not"] = _tree(chance, depth - 1, names)
        elif kind == 3:
            found[chance.pick(names)] = chance.pick(_SCALARS)
        elif kind == 8:
            found["versions"] = _range(chance) or ">=0.6"
        else:
            found[chance.pick(names)] = {operator: _argument(chance, operator, names) for operator in [chance.pick(OPERATORS)]}
    return found


def _argument(chance: Chance, operator: str, names: tuple[str, ...]) -> Any:
    if operator == "set":
        return chance.often(0.5)
    if operator == "range":
        return _range(chance).strip() or ">=5,<6"
    if operator in ("in", "not-in"):
        if chance.often(0.1):
            return {"names": "some-kind", **({"release": "any"} if chance.often(0.5) else {})}
        return [_amount(chance, names) if chance.often(0.2) else chance.pick(_SCALARS) for _ in range(1 + chance.below(3))]
    if operator in ("prefix", "contains"):
        return chance.pick(("", "a", "turbo", "f"))
    if chance.often(0.4):
        return _amount(chance, names)
    if operator in ("is", "is-not"):
        return chance.pick(_SCALARS)
    return chance.pick((0, 1, 2.5, -3, 1e300, 10**400))


def _amount(chance: Chance, names: tuple[str, ...], depth: int = 2) -> dict[str, Any]:
    """An amount that the schema takes."""
    kind = chance.below(4) if depth else 0
    if kind < 2:
        operand: dict[str, Any] = {"operand": chance.pick(names)}
        return {**operand, "default": chance.pick((0, 8, "a", True))} if kind == 1 else operand
    form = chance.pick(("sum", "product", "smallest", "difference", "quotient", "remainder", "largest-divisor"))
    return {form: [_term(chance, names, depth) for _ in range(2)]}


def _term(chance: Chance, names: tuple[str, ...], depth: int) -> Any:
    kind = chance.below(3)
    if kind == 0:
        return chance.pick((0, 1, 7, -3, 2.5, 10**30))
    return chance.pick(names) if kind == 1 else _amount(chance, names, depth - 1)


def check(case: Case) -> None:
    COUNTS[case.name] += 1
    if case.name == "range":
        _check_range(case.text)
    elif case.name.endswith(".yaml"):
        _check_file(case)
    else:
        _check_tree(case)


def _check_range(text: str) -> None:
    try:
        bounds = ranges.loaded(json.loads(json.dumps(ranges.compile_range(text))))
    except ValueError:
        return
    COUNTS["ranges that are some"] += 1
    held = [release for release in vocabulary.releases("vllm") if ranges.contains(bounds, release_key(release))]
    parts = [part for part in text.split(",") if part.strip()]
    each = [ranges.loaded(ranges.compile_range(part)) for part in parts]
    one_by_one = [name for name in vocabulary.releases("vllm") if all(ranges.contains(one, release_key(name)) for one in each)]
    insist(held == one_by_one, "a range holds what each of its bounds holds", text, held, one_by_one)
    insist(bool(ranges.describe(text)), "a range can be said", text)


@lru_cache(maxsize=1)
def _schema() -> Any:
    whole = folder._validator().schema
    return Draft202012Validator({"$defs": whole["$defs"], "$ref": "#/$defs/condition"})


def _check_tree(case: Case) -> None:
    try:
        tree = json.loads(case.text)
    except (ValueError, RecursionError):
        return
    try:
        compiled = compile_condition(tree)
    except ValueError as error:
        insist(bool(str(error)), "what is wrong with a condition is said", case.text)
        known = "is not a release bound" in str(error) or not _schema().is_valid(tree)  # a pattern does not know releases
        insist(case.name == "tree" and known, "what the schema takes can be compiled", case.text)
        return
    if case.name == "tree" and not _schema().is_valid(tree):
        return
    COUNTS["evaluated"] += 1
    options = {part["option"]: 1 for part in named_parts(compiled) if "option" in part}
    if options:
        return  # of any kind: what settings may set is held against the default's
    _check_index(case, compiled)
    config = _Config(case.turn)
    truth = _truth(compiled, config)
    insist(_truth(["not", compiled], config) is (None if truth is None else not truth), "not turns truth around", case.text)
    insist(_truth(json.loads(json.dumps(compiled)), config) is truth, "a compiled condition goes through JSON", case.text)
    insist(_truth(filled(compiled, {}), config) is truth, "a condition without options is filled as it is", case.text)
    if truth is None:
        return
    names = every_operand(compiled)
    if not names:
        return
    if truth:
        there = config.there(names)
        for wanted in needs(compiled):
            insist(not there.isdisjoint(wanted), "a condition that holds has what it needs", case.text, wanted, sorted(there))
    # what is certain of an unknown is certain whatever it is
    name = names[case.turn // 16 % len(names)]
    other = config.other(name, case.turn)
    unknown = config.other(name, None)
    said = _truth(compiled, unknown)
    insist(said in (None, truth), "an unknown adds no certainty", case.text, name)
    insist(
        said is None or _truth(compiled, other) is said, "what is certain of an unknown holds for each value", case.text, name
    )


def _check_index(case: Case, compiled: Compiled) -> None:
    """The judge looks for a rule at each launch for which its condition holds."""
    text = _LAUNCHES[case.turn % len(_LAUNCHES)]
    config = _launched(text)
    if evaluate(compiled, config) is not True:
        return
    COUNTS["held of a launch"] += 1
    rule = Rule({"id": "vllm/a-rule", "engine": "vllm", "bounds": ranges.compile_range(""), "needs": needs(compiled)})
    index = RuleIndex([rule])
    there = judging._there(config.launch, [config], index)
    insist(index.candidates((config.key,), there) == [rule], "the index has what holds", case.text, text, sorted(there))


@lru_cache(maxsize=len(_LAUNCHES))
def _launched(text: str) -> Config:
    (launch,) = read(Source("run.sh", text), beside()).launches
    name_gpus(launch, SETTINGS)
    (config,) = configs(launch, ["0.27.1"])
    return config


def _truth(compiled: Compiled, config: _Config) -> Truth:
    asked: Any = config
    return evaluate(compiled, asked)


class _Config:
    """Operands by chance. replaced: the name of one that is another, and its operand"""

    def __init__(self, seed: int, replaced: tuple[str, Operand] | None = None) -> None:
        self.seed = seed
        self.replaced = replaced
        self.key = release_key("0.27.1") if seed % 3 else None
        self.known: dict[str, Operand] = {}

    def operand(self, name: str) -> Operand:
        if self.replaced is not None and name == self.replaced[0]:
            return self.replaced[1]
        if name not in self.known:
            self.known[name] = _operand(Seeded(self.seed * 31 + sum(map(ord, name))))
        return self.known[name]

    def other(self, name: str, seed: int | None) -> _Config:
        return _Config(self.seed, (name, Operand(None) if seed is None else _operand(Seeded(seed + 7))))

    def names(self, kind: str, *, ever: bool = False) -> list[str] | None:
        return ["a", "fp8"] if ever or (self.seed + len(kind)) % 2 else None

    def there(self, names: list[str]) -> set[str]:
        """What a launch with these operands has, by the names of needs(); _check_index asks the judge what a real one has."""
        present = [name for name in names if self.operand(name).present is not False]
        return {*present, *[name.partition(".")[0] + "." for name in present]}


def _operand(chance: Chance) -> Operand:
    kind = chance.below(8)
    if kind == 0:
        return Operand(None)
    if kind < 3:
        return Operand(False)
    return Operand(True, None if kind == 3 else chance.pick(_VALUES))


def _check_file(case: Case) -> None:
    source = Source(case.name, case.text)
    found = folder._rule(source, "vllm/a-rule")
    if isinstance(found, dict):
        COUNTS["rules that are some"] += 1
        rule = Rule(compile_rule(found))
        insist(rule.id == "vllm/a-rule" and bool(rule.message), "a rule that is taken is whole", rule.id)
        return
    insist(bool(found), "a rule that is not taken has a reason", case.text)
    for problem in found:
        insist(1 <= problem.line <= len(source.line_starts), "a problem is in the text", problem)
        insist(bool(problem.message), "a problem says what it is", problem)
