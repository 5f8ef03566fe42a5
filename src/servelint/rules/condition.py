"""The closed condition language of rules, compiled and evaluated. Three-valued: a condition that is unknown is None.

As written in a rule's `when`:

    kv-cache-dtype: {prefix: turboquant_}         an operand and what it must satisfy
    speculative-eagle-topk: 1                     short for {is: 1}
    any: [ {...}, {...} ]                         also all, not
    versions: ">=0.26,<0.30"                      the release that the launch runs on
Several keys of one mapping must all hold.

    set: true|false     whether it is given at all         is, is-not: VALUE     in, not-in: [VALUES]
    prefix, contains: TEXT                                 above, below, at-least, at-most: NUMBER
    divisible-by, not-divisible-by: NUMBER             range: ">=5,<6"    of a release, or of all in its bounds
A value or number may be an amount (below): below: {operand: max-num-seqs}
The tested operand may be one of the rule's `values`, which are named

Amounts: what a rule computes from operands and numbers, to compare an operand with it or to print it.

As written in a rule:

    8192                                        a number
    {operand: max-num-seqs}                     the value of an operand
    {operand: port, default: 8000}              with the engine's default, where the operand is certainly not given
    {option: tokens}                            an option of the rule, which settings change
    {sum: [A, B, ...]}  {product: [A, B, ...]}  {smallest: [A, B, ...]}     of whole numbers, as all arithmetic
    {difference: [A, B]}
    {quotient: [A, B]}  {remainder: [A, B]}     rounded down; B is above 0
    {largest-divisor: [A, B]}                   the largest divisor of A that is at most B
    {names: KIND}                               the names of a kind that the release has in its catalog
    {names: KIND, release: any}                 the same of all releases together

In the lists of the arithmetic a text is the name of an operand, or of one of the rule's `values`.
An amount is unknown (None) if one of its operands is unknown, or absent without a default: the engine then takes a default of
its own, which the rule does not know.
"""

from __future__ import annotations

import math
import operator

from servelint.core.numbers import is_whole
from servelint.rules import ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from servelint.engines.config import Config, Operand

    Predicate = Callable[[Config], "Truth"]
    Amount = Callable[[Config], Any]
    Comparison = Callable[[Any, Config], "Truth"]


Truth = bool | None
Compiled = list["Any"]
"""["and"|"or", [Compiled...]], ["not", Compiled], ["release", bounds], ["test", operand name or amount, operator, argument]"""

_NUMERIC = {"above": operator.gt, "below": operator.lt, "at-least": operator.ge, "at-most": operator.le}
_DIVIDING = ("divisible-by", "not-divisible-by")
_TEXTS = ("prefix", "contains")
OPERATORS = ("set", "is", "is-not", "in", "not-in", "range", *_TEXTS, *_NUMERIC, *_DIVIDING)
_OF_OPERANDS = ("set", "range", *_TEXTS)
"""Operators that test an operand, not a computed value."""
_ABSENT_IS = {"is-not": True, "not-in": True}


def compile_condition(tree: object, values: dict[str, Any] | None = None) -> Compiled:
    """Compile a rule's `when` to nested lists.

    Args:
        tree: the condition as a rule has it.
        values: the rule's `values`, compiled: name -> amount.

    Raises:
        ValueError: it is not a condition; the text is the reason.
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
            parts += [_compile_test(key, test, argument, values) for test, argument in value.items()]
        elif isinstance(value, list) or value is None:
            raise ValueError(f"{key}: write {{in: [...]}} for a list of values")
        else:
            parts.append(_compile_test(key, "is", value, values))
    return parts[0] if len(parts) == 1 else ["and", sorted(parts, key=_cost)]


def _cost(part: Compiled) -> int:
    """The rank at which a part of a conjunction is tested: facts of the model, whose files may have to be read, come last."""
    kind, inner = part[0], part[1]
    if kind in ("and", "or"):
        return max(map(_cost, inner))
    if kind == "not":
        return _cost(inner)
    return 0 if kind == "release" else 1 if isinstance(inner, str) and not inner.startswith("model.") else 2


def _compile_test(key: str, test: str, argument: object, values: dict[str, Any]) -> Compiled:
    if test not in OPERATORS:
        raise ValueError(f"{key}: {test} is not an operator; use one of {', '.join(OPERATORS)}")
    if key in values and test in _OF_OPERANDS:
        raise ValueError(f"{key}: a value of the rule cannot be tested with {test}")
    try:
        return ["test", values.get(key, key), test, _compile_argument(test, argument, values)]
    except ValueError as error:
        raise ValueError(f"{key}: {test}: {error}") from error


def _compile_argument(test: str, argument: object, values: dict[str, Any]) -> Any:
    if test == "set":
        if not isinstance(argument, bool):
            raise ValueError("write true or false")
        return argument
    if test == "range":
        if not isinstance(argument, str) or not argument.strip():
            raise ValueError('takes a range such as ">=5,<6"')
        return ranges.compile_range(argument)
    if isinstance(argument, list):
        if test not in ("in", "not-in"):
            raise ValueError("takes one value, not a list")
        return [compile_amount(one, values) for one in argument]
    if test in ("in", "not-in") and not (isinstance(argument, dict) and argument.keys() & {"names", "option"}):
        raise ValueError("takes a list, {names: KIND} or {option: NAME}")
    if isinstance(argument, dict):
        if test in _TEXTS and list(argument) != ["option"]:
            raise ValueError("takes a text or {option: NAME}")
        return compile_amount(argument, values)
    number = isinstance(argument, (int, float)) and not isinstance(argument, bool)
    if test in (*_NUMERIC, *_DIVIDING) and not number:
        raise ValueError(f"{argument!r} is not a number; write {{operand: NAME}} for the value of an operand")
    if test in _TEXTS and not isinstance(argument, str):
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
        yield from parts_of(one)


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
    """What a launch must have for a condition to hold at all, for an index: of each list at least one.

    These are options' names, `option.key`, `env.NAME`, or `model.` and `gpu.` for anything known of the model and the GPU.
    """
    kind = compiled[0]
    found: list[list[str]] = []
    if kind == "test":
        _, left, test, argument = compiled
        if test in _ABSENT_IS or (test == "set" and not argument):
            found = [] if isinstance(left, str) else _needed(left)
        else:
            found = [*_needed({"operand": left} if isinstance(left, str) else left), *_needed(argument)]
    elif kind == "and":
        found = [need for part in compiled[1] for need in needs(part)]
    elif kind == "or":
        each = [needs(part) for part in compiled[1]]
        found = [sorted({name for part in each for name in min(part, key=len)})] if all(each) else []
    return sorted([need for number, need in enumerate(found) if need not in found[:number]])


def _needed(amount: Any) -> list[list[str]]:
    """What a launch must have for an amount to be known."""
    if not isinstance(amount, dict) or "default" in amount or "option" in amount or "names" in amount:
        return []
    if "operand" not in amount:
        return [need for parts in amount.values() for part in parts for need in _needed(part)]
    name = amount["operand"]
    head, dot, _ = name.partition(".")
    if head in ("effective", "container", "draft", "launcher", "prefill", "stack") or name in ("model", "model.repository"):
        return []
    return [[head + "." if dot and head in ("model", "gpu") else name]]


def named_parts(compiled: Compiled) -> list[dict[str, Any]]:
    """The parts of a condition's amounts that name an operand, an option of the rule or a kind of names."""
    return [part for test in _tests(compiled) for part in _parts(test)]


def filled(compiled: Compiled, options: dict[str, Any]) -> Compiled:
    """A condition with the values of its rule's options."""
    kind = compiled[0]
    if kind == "release":
        return compiled
    if kind == "test":
        _, left, test, argument = compiled
        if isinstance(argument, list):
            argument = [filled_amount(one, options) for one in argument]
        return [kind, filled_amount(left, options), test, filled_amount(argument, options)]
    if kind == "not":
        return ["not", filled(compiled[1], options)]
    return [kind, [filled(part, options) for part in compiled[1]]]


def leading_test(compiled: Compiled) -> Compiled | None:
    """The test with which a condition begins, without which it cannot be true; None if there is none."""
    while compiled[0] == "and":
        compiled = compiled[1][0]
    return compiled if compiled[0] in ("test", "release") else None


def evaluate(compiled: Compiled, config: Config, closed: bool = False) -> Truth:
    """Whether a condition holds for a launch under one release; None if that is unknown.

    Args:
        compiled: the condition.
        config: the launch under a release.
        closed: whether an option counts as absent although a word that is not known might add it.
    """
    return predicate(compiled, closed)(config)


def predicate(compiled: Compiled, closed: bool = False) -> Predicate:
    """A condition as a function, for one that is evaluated again and again. `closed` as in `evaluate`."""
    kind = compiled[0]
    if kind == "test":
        return _test(compiled, closed)
    if kind == "not":
        return _not(predicate(compiled[1], closed))
    if kind == "release":
        bounds = ranges.loaded(compiled[1])
        return lambda config: None if config.key is None else ranges.contains(bounds, config.key)
    return _joined([predicate(part, closed) for part in compiled[1]], decisive=kind == "or")


def _not(part: Predicate) -> Predicate:
    def negated(config: Config) -> Truth:
        inner = part(config)
        return None if inner is None else not inner

    return negated


def _joined(parts: list[Predicate], *, decisive: bool) -> Predicate:
    def joined(config: Config) -> Truth:
        result: Truth = not decisive
        for part in parts:
            truth = part(config)
            if truth is decisive:
                return decisive
            if truth is None:
                result = None
        return result

    return joined


def _test(compiled: Compiled, closed: bool) -> Predicate:
    _, left, test, argument = compiled
    if not isinstance(left, str):
        return _test_of_amount(amount_of(left), _comparison(test, argument))
    if test == "set":
        return _test_of_presence(left, argument, closed)
    compared = _comparison(test, argument)
    absent = _ABSENT_IS.get(test, False)
    converts = _is_written(left) if test in _NUMERIC else left.startswith("env.")

    def tested(config: Config) -> Truth:
        operand = config.operand(left)
        present = operand.present
        if present:
            value = operand.value
            if value is None:
                return None
            if converts and isinstance(value, str) and is_whole(value):
                value = int(value)
            return compared(value, config)
        return absent if present is False or (closed and _is_unwritten(operand)) else None

    return tested


def _test_of_amount(amount: Amount, compared: Comparison) -> Predicate:
    def tested(config: Config) -> Truth:
        value = amount(config)
        return None if value is None else compared(value, config)

    return tested


def _test_of_presence(name: str, wanted: bool, closed: bool) -> Predicate:
    def tested(config: Config) -> Truth:
        operand = config.operand(name)
        present = operand.present
        if present is None:
            return not wanted if closed and _is_unwritten(operand) else None
        return present is wanted

    return tested


def _is_unwritten(operand: Operand) -> bool:
    from servelint.engines.config import UNWRITTEN

    return operand is UNWRITTEN


def lacking(compiled: Compiled, config: Config, *, closed: bool = False) -> list[str]:
    """The names of the operands that leave a condition unknown; "release" for the release. None where it is known."""
    if evaluate(compiled, config, closed) is not None:
        return []
    kind = compiled[0]
    if kind == "release":
        return ["release"]
    if kind != "test":
        parts = [compiled[1]] if kind == "not" else compiled[1]
        return [name for part in parts for name in lacking(part, config, closed=closed)]
    _, left, _, argument = compiled
    amounts = [{"operand": left} if isinstance(left, str) else left, *(argument if isinstance(argument, list) else [argument])]
    return [name for amount in amounts for name in lacking_value(amount, config)]


def lacking_value(amount: Any, config: Config) -> list[str]:
    """The names of the operands that leave an amount unknown."""
    named = {part["operand"]: config.operand(part["operand"]) for part in parts_of(amount) if "operand" in part}
    return [name for name, one in named.items() if one.present is None or (one.present and one.value is None)]


def _comparison(test: str, argument: Any) -> Comparison:
    """Whether a known value satisfies a test, as a function of the value and the config."""
    if isinstance(argument, dict):
        return _comparison_with_amount(test, amount_of(argument))
    if test == "range":
        bounds = ranges.loaded(argument)
        return lambda value, _: ranges.within(bounds, str(value))
    if test in _NUMERIC:
        return _ordered(_NUMERIC[test], argument)
    if test in ("in", "not-in"):
        return _listed(argument, wanted=test == "in")
    if test in _DIVIDING:
        wanted = test == "divisible-by"
        return lambda value, _: _divided(value, argument, wanted)
    if test == "prefix":
        return lambda value, _: str(value).startswith(argument)
    if test == "contains":
        return lambda value, _: argument in str(value)
    equal, wanted = _equal_to(argument), test == "is"
    return lambda value, _: equal(value) is wanted


def _comparison_with_amount(test: str, amount: Amount) -> Comparison:
    def compared(value: Any, config: Config) -> Truth:
        argument = amount(config)
        if argument is None or (test in _NUMERIC and (isinstance(value, str) or isinstance(argument, str))):
            return None  # a text that should be a number is what the engine's parser refuses
        return _comparison(test, argument)(value, config)

    return compared


def _ordered(order: Callable[[float, float], bool], argument: Any) -> Comparison:
    def compared(value: Any, _config: Config) -> Truth:
        try:
            return order(float(value), float(argument))
        except (ValueError, OverflowError):
            return None

    return compared


def _listed(ones: list[Any], *, wanted: bool) -> Comparison:
    if all(type(one) is str for one in ones):
        known, folded = frozenset(ones), frozenset([one.lower() for one in ones])
        return lambda value, _: (str(value).lower() in folded if isinstance(value, bool) else str(value) in known) is wanted
    amounts = [amount_of(one) for one in ones]

    def compared(value: Any, config: Config) -> Truth:
        unknown = False
        for amount in amounts:
            one = amount(config)
            if one is None:
                unknown = True
            elif same(value, one):
                return wanted
        return None if unknown else not wanted

    return compared


def _divided(value: Any, by: Any, wanted: bool) -> Truth:
    """Whether a whole number is a multiple of another one; unknown for other values, and of a number below 1."""
    for one in (value, by):
        if isinstance(one, bool) or not isinstance(one, int):
            return None
    return None if by < 1 else (value % by == 0) is wanted


def _equal_to(wanted: object) -> Callable[[object], bool]:
    """Whether an operand has the value that a rule names: numbers are compared as numbers, the rest as text."""
    text = str(wanted)
    folded = text.lower()
    if isinstance(wanted, bool):
        return lambda value: str(value).lower() == folded
    if not isinstance(wanted, (int, float)):
        return lambda value: str(value).lower() == folded if isinstance(value, bool) else str(value) == text

    def equal(value: object) -> bool:
        try:
            return float(str(value)) == wanted  # no number is written True or False
        except ValueError:
            return False

    return equal


def same(value: object, wanted: object) -> bool:
    """Whether an operand has the value that a rule names."""
    return _equal_to(wanted)(value)


# -- amounts


_MANY: dict[str, Callable[[list[int]], int]] = {"sum": sum, "product": math.prod, "smallest": min}
_PAIRS = ("difference", "quotient", "remainder", "largest-divisor")
_MAX_SEARCHED = 1 << 20
FORMS = ("operand", "option", "names", *_MANY, *_PAIRS)


def compile_amount(written: object, values: dict[str, Any]) -> Any:
    """An amount with the names of values replaced by what they stand for.

    Args:
        written: the amount as a rule has it.
        values: name -> compiled amount, of the values that the rule defines before this one.

    Raises:
        ValueError: it is not an amount; the text is the reason.
    """
    if isinstance(written, (bool, int, float, str)):
        return written
    if not isinstance(written, dict) or not written:
        raise ValueError(f"{written!r} is not an amount; write a number or {{operand: NAME}}")
    form = next(iter(written))
    if form not in FORMS:
        raise ValueError(f"{form} is not an amount; use one of {', '.join(FORMS)}")
    extra = {"operand": ("default",), "names": ("release",)}.get(form, ())
    for key in written:
        if key != form and key not in extra:
            raise ValueError(f"{form} does not take {key}" + (f", only {extra[0]}" if extra else ""))
    argument = written[form]
    if form in ("operand", "option", "names"):
        if not isinstance(argument, str) or not argument:
            raise ValueError(f"{form} takes a name")
        if form == "names" and written.get("release", "any") != "any":
            raise ValueError("names takes release: any, or no release at all")
        if form == "operand" and argument in values:
            if "default" in written:
                raise ValueError(f"{argument} is a value of the rule and takes no default")
            return values[argument]
        if "default" in written:
            return {"operand": argument, "default": compile_amount(written["default"], values)}
        return dict(written)
    if not isinstance(argument, list) or (len(argument) != 2 if form in _PAIRS else len(argument) < 2):
        raise ValueError(f"{form} takes a list of {'two' if form in _PAIRS else 'two or more'} amounts")
    return {form: [_compile_listed(part, values) for part in argument]}


def _compile_listed(part: object, values: dict[str, Any]) -> Any:
    """An amount in a list, where a text is the name of an operand."""
    compiled = compile_amount({"operand": part} if isinstance(part, str) else part, values)
    if isinstance(compiled, bool) or (isinstance(compiled, dict) and "names" in compiled):
        raise ValueError(f"{part!r} is not a number")
    return compiled


def amount_of(amount: Any) -> Amount:
    """An amount as a function of the config: a number, a text, true or false, a list of names; None if it is unknown."""
    if not isinstance(amount, dict):
        return lambda _: amount
    if "operand" in amount:
        return _amount_of_operand(amount["operand"], amount_of(amount.get("default")))
    if "names" in amount:
        kind, ever = amount["names"], "release" in amount
        return lambda config: config.names(kind, ever=ever)
    ((form, parts),) = amount.items()
    amounts = [amount_of(part) for part in parts]

    def computed(config: Config) -> int | None:
        numbers: list[int] = []
        for part in amounts:
            number = part(config)
            if isinstance(number, bool) or not isinstance(number, int):
                return None
            numbers.append(number)
        return _computed(form, numbers)

    return computed


def _amount_of_operand(name: str, default: Amount) -> Amount:
    converts = _is_written(name)

    def amount(config: Config) -> Any:
        operand = config.operand(name)
        if operand.present is False:
            return default(config)
        value = operand.value if operand.present else None
        return int(value) if converts and isinstance(value, str) and is_whole(value) else value

    return amount


def _is_written(name: str) -> bool:
    """Whether an operand is what a launch writes: an engine that declares no types has the number of an option as a text."""
    return not name.removeprefix("prefill.").startswith(("model.", "draft.", "gpu.", "container.", "effective.", "stack."))


def _computed(form: str, numbers: list[int]) -> int | None:
    if form in _MANY:
        return _MANY[form](numbers)
    one, other = numbers
    if form == "difference":
        return one - other
    if other < 1:
        return None
    if form == "largest-divisor":
        searched = range(min(one, other), 0, -1) if 0 < one <= _MAX_SEARCHED else ()
        return next((divisor for divisor in searched if one % divisor == 0), None)
    return one // other if form == "quotient" else one % other


def shown(value: Any, grouped: bool = False) -> str:
    """A value as a message prints it. `grouped`: with a comma between thousands."""
    if isinstance(value, list):
        *most, last = [str(one) for one in value]
        return f"{', '.join(most)} or {last}" if most else last
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,}" if grouped and isinstance(value, (int, float)) else str(value)


def parts_of(amount: Any) -> Iterator[dict[str, Any]]:
    """The parts of an amount that name something: an operand, an option or a kind of names."""
    if not isinstance(amount, dict):
        return
    if "operand" in amount or "option" in amount or "names" in amount:
        yield amount
        yield from parts_of(amount.get("default"))
        return
    for parts in amount.values():
        for part in parts:
            yield from parts_of(part)


def filled_amount(amount: Any, options: dict[str, Any]) -> Any:
    """An amount with the values of its rule's options."""
    if not isinstance(amount, dict):
        return amount
    if "option" in amount:
        return options[amount["option"]]
    if "operand" in amount:
        return {**amount, "default": filled_amount(amount["default"], options)} if "default" in amount else amount
    if "names" in amount:
        return amount
    ((form, parts),) = amount.items()
    return {form: [filled_amount(part, options) for part in parts]}
