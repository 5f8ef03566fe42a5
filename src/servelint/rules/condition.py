"""The closed condition language of rules, compiled and evaluated. Three-valued: a condition that is unknown is None.

As written in a rule's `when`:

    kv-cache-dtype: {prefix: turboquant_}         an operand and what it must satisfy
    speculative-eagle-topk: 1                     short for {is: 1}
    any: [ {...}, {...} ]                         also all, not
    versions: ">=0.26,<0.30"                      the release that the launch runs on
Several keys of one mapping must all hold.

    set: true|false     whether it is given at all         is, is-not: VALUE     in, not-in: [VALUES]
    prefix, contains: TEXT                                 above, below, at-least, at-most: NUMBER
    divisible-by, not-divisible-by: NUMBER
A value or number may be an amount (servelint.rules.amount): below: {operand: max-num-seqs}
The tested operand may be one of the rule's `values`, which are named amounts.
"""

from __future__ import annotations

from servelint.rules import amount as amounts
from servelint.rules import ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from servelint.engines.config import Config

Truth = bool | None
Compiled = list["Any"]
"""["and"|"or", [Compiled...]], ["not", Compiled], ["release", bounds], ["test", operand name or amount, operator, argument]"""

_NUMERIC = ("above", "below", "at-least", "at-most")
_DIVIDING = ("divisible-by", "not-divisible-by")
_TEXTS = ("prefix", "contains")
OPERATORS = ("set", "is", "is-not", "in", "not-in", *_TEXTS, *_NUMERIC, *_DIVIDING)
_OF_OPERANDS = ("set", *_TEXTS)
"""Operators that test an operand, not a computed value."""
_ABSENT_IS = {"is-not": True, "not-in": True}


def compile_condition(tree: object, values: dict[str, Any] | None = None) -> Compiled:
    """Compile a rule's `when` to nested lists.

    Args:
        tree: the condition as a rule has it.
        values: the rule's `values`, compiled: name -> amount.

    Raises:
        ValueError: it is no condition; the text says what is wrong.
    """
    values = values or {}
    if not isinstance(tree, dict) or not tree:
        raise ValueError("a condition is a mapping with at least one key")
    parts: list[Compiled] = []
    for key, value in tree.items():
        if key in ("any", "all"):
            if not isinstance(value, list) or not value:
                raise ValueError(f"{key} takes a list of conditions")
            parts.append(["or" if key == "any" else "and", [compile_condition(part, values) for part in value]])
        elif key == "not":
            parts.append(["not", compile_condition(value, values)])
        elif key == "versions":
            if not isinstance(value, str) or not value.strip():
                raise ValueError('versions takes a range such as ">=0.26,<0.30"')
            parts.append(["release", ranges.compile_range(value)])
        elif isinstance(value, dict):
            if not value:
                raise ValueError(f"{key} has no operator; use one of {', '.join(OPERATORS)}")
            parts += [_compile_test(key, operator, argument, values) for operator, argument in value.items()]
        elif isinstance(value, list) or value is None:
            raise ValueError(f"{key}: write {{in: [...]}} for a list of values")
        else:
            parts.append(_compile_test(key, "is", value, values))
    return parts[0] if len(parts) == 1 else ["and", parts]


def _compile_test(key: str, operator: str, argument: object, values: dict[str, Any]) -> Compiled:
    if operator not in OPERATORS:
        raise ValueError(f"{key}: {operator} is not an operator; use one of {', '.join(OPERATORS)}")
    if key in values and operator in _OF_OPERANDS:
        raise ValueError(f"{key}: a value of the rule cannot be tested with {operator}")
    try:
        return ["test", values.get(key, key), operator, _compile_argument(operator, argument, values)]
    except ValueError as error:
        raise ValueError(f"{key}: {operator}: {error}") from error


def _compile_argument(operator: str, argument: object, values: dict[str, Any]) -> Any:
    if operator == "set":
        if not isinstance(argument, bool):
            raise ValueError("write true or false")
        return argument
    if isinstance(argument, list):
        if operator not in ("in", "not-in"):
            raise ValueError("takes one value, not a list")
        return [amounts.compile_amount(one, values) for one in argument]
    if operator in ("in", "not-in") and not (isinstance(argument, dict) and argument.keys() & {"names", "option"}):
        raise ValueError("takes a list, {names: KIND} or {option: NAME}")
    if isinstance(argument, dict):
        if operator in _TEXTS and list(argument) != ["option"]:
            raise ValueError("takes a text or {option: NAME}")
        return amounts.compile_amount(argument, values)
    number = isinstance(argument, (int, float)) and not isinstance(argument, bool)
    if operator in (*_NUMERIC, *_DIVIDING) and not number:
        raise ValueError(f"{argument!r} is not a number; write {{operand: NAME}} for the value of an operand")
    if operator in _TEXTS and not isinstance(argument, str):
        raise ValueError(f"{argument!r} is not a text")
    return argument


def _tests(compiled: Compiled) -> Iterator[Compiled]:
    """The tests of a condition, in the order written."""
    if compiled[0] == "test":
        yield compiled
    elif compiled[0] == "not":
        yield from _tests(compiled[1])
    elif compiled[0] != "release":
        for part in compiled[1]:
            yield from _tests(part)


def _parts(test: Compiled) -> Iterator[dict[str, Any]]:
    """The parts of a test's amounts that name something."""
    for one in (test[1], *(test[3] if isinstance(test[3], list) else [test[3]])):
        yield from amounts.parts_of(one)


def operands(compiled: Compiled) -> list[str]:
    """The names of the operands that a condition tests, in the order written."""
    return list(dict.fromkeys([test[1] for test in _tests(compiled) if isinstance(test[1], str)]))


def every_operand(compiled: Compiled) -> list[str]:
    """The names of all operands that a condition asks for: those that it tests, and those that it compares them with."""
    names: list[str] = []
    for test in _tests(compiled):
        names += [test[1]] if isinstance(test[1], str) else []
        names += [part["operand"] for part in _parts(test) if "operand" in part]
    return list(dict.fromkeys(names))


def needs(compiled: Compiled) -> list[list[str]]:
    """What must be there for the condition to hold at all, which an index can ask for first: of each list at least one.

    An option's name, `env.NAME`, or `model.` and `gpu.` for what is known of the model and the GPU.
    """
    kind = compiled[0]
    if kind == "test":
        _, left, operator, argument = compiled
        if operator in _ABSENT_IS or (operator == "set" and not argument):
            found = [] if isinstance(left, str) else _needed(left)
        else:
            found = [*_needed({"operand": left} if isinstance(left, str) else left), *_needed(argument)]
        return sorted([need for number, need in enumerate(found) if need not in found[:number]])
    if kind == "and":
        found = []
        for part in compiled[1]:
            found += [one for one in needs(part) if one not in found]
        return sorted(found)
    if kind == "or":
        each = [needs(part) for part in compiled[1]]
        return [sorted({name for part in each for name in min(part, key=len)})] if all(each) else []
    return []


def _needed(amount: Any) -> list[list[str]]:
    """What must be there for an amount to be known."""
    if not isinstance(amount, dict) or "default" in amount or "option" in amount or "names" in amount:
        return []
    if "operand" not in amount:
        return [need for parts in amount.values() for part in parts for need in _needed(part)]
    name = amount["operand"]
    head, dot, _ = name.partition(".")
    if head in ("effective", "container", "draft") or name in ("model", "model.repository"):
        return []
    return [[head + "." if dot and head in ("model", "gpu") else name if dot and head == "env" else head]]


def named_parts(compiled: Compiled) -> list[dict[str, Any]]:
    """The parts of a condition's amounts that name an operand, an option of the rule or a kind of names."""
    return [part for test in _tests(compiled) for part in _parts(test)]


def filled(compiled: Compiled, options: dict[str, Any]) -> Compiled:
    """A condition with the values of its rule's options."""
    kind = compiled[0]
    if kind == "release":
        return compiled
    if kind == "test":
        _, left, operator, argument = compiled
        if isinstance(argument, list):
            argument = [amounts.filled(one, options) for one in argument]
        return [kind, amounts.filled(left, options), operator, amounts.filled(argument, options)]
    if kind == "not":
        return ["not", filled(compiled[1], options)]
    return [kind, [filled(part, options) for part in compiled[1]]]


def evaluate(compiled: Compiled, config: Config, closed: bool = False) -> Truth:
    """Whether a condition holds. closed: what is not written is absent, although an unknown word might add it."""
    kind = compiled[0]
    if kind == "test":
        return _test(compiled, config, closed)
    if kind == "not":
        inner = evaluate(compiled[1], config, closed)
        return None if inner is None else not inner
    if kind == "release":
        return None if config.key is None else ranges.contains(ranges.loaded(compiled[1]), config.key)
    decisive = kind == "or"
    result: Truth = not decisive
    for part in compiled[1]:
        truth = _test(part, config, closed) if part[0] == "test" else evaluate(part, config, closed)
        if truth is decisive:
            return decisive
        if truth is None:
            result = None
    return result


def _test(test: Compiled, config: Config, closed: bool) -> Truth:
    _, left, operator, argument = test
    if not isinstance(left, str):
        value = amounts.value_of(left, config)
        return None if value is None else _compared(value, operator, argument, config)
    operand = config.operand(left)
    present = operand.present
    if closed and present is None:
        from servelint.engines.config import UNWRITTEN

        present = False if operand is UNWRITTEN else None
    if operator == "set":
        return None if present is None else present is argument
    if present is False:
        return _ABSENT_IS.get(operator, False)
    if present is None or operand.value is None:
        return None
    return _compared(amounts.numeric(left, operand.value), operator, argument, config)


def _compared(value: Any, operator: str, argument: Any, config: Config) -> Truth:
    """Whether a known value satisfies a test."""
    if isinstance(argument, dict):
        argument = amounts.value_of(argument, config)
        if argument is None or (operator in _NUMERIC and (isinstance(value, str) or isinstance(argument, str))):
            return None  # a text that should be a number is what the engine's parser refuses
    if operator == "is":
        return same(value, argument)
    if operator == "is-not":
        return not same(value, argument)
    if operator in ("in", "not-in"):
        return _listed(value, operator == "in", argument, config)
    if operator == "prefix":
        return str(value).startswith(argument)
    if operator == "contains":
        return argument in str(value)
    if operator in _DIVIDING:
        return _divided(value, argument, operator == "divisible-by")
    try:
        number, bound = float(value), float(argument)
    except (ValueError, OverflowError):
        return None
    if operator == "above":
        return number > bound
    if operator == "below":
        return number < bound
    return number >= bound if operator == "at-least" else number <= bound


def _listed(value: Any, wanted: bool, ones: list[Any], config: Config) -> Truth:
    unknown = False
    for one in ones:
        known = amounts.value_of(one, config) if isinstance(one, dict) else one
        if known is None:
            unknown = True
        elif same(value, known):
            return wanted
    return None if unknown else not wanted


def _divided(value: Any, by: Any, wanted: bool) -> Truth:
    """Whether a whole number is a multiple of another one; unknown for what is none, and of a number that is not positive."""
    for one in (value, by):
        if isinstance(one, bool) or not isinstance(one, int):
            return None
    return None if by < 1 else (value % by == 0) is wanted


def same(value: object, wanted: object) -> bool:
    """Whether an operand's value is the one that a rule names: numbers as numbers, the rest as text."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return str(value).lower() == str(wanted).lower()
    if isinstance(wanted, (int, float)):
        try:
            return float(str(value)) == wanted
        except ValueError:
            return False
    return str(value) == str(wanted)
