"""Amounts: what a rule computes from operands and numbers, to compare an operand with it or to print it.

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

from servelint.core.numbers import is_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from servelint.engines.config import Config

Amount = "int | float | str | bool | dict[str, Any]"
"""An amount as a compiled rule has it: as it was written, with texts in lists and names of `values` replaced."""

_MANY = ("sum", "product", "smallest")
_TWO = ("difference", "quotient", "remainder", "largest-divisor")
_SEARCHED_AT_MOST = 1 << 20
FORMS = ("operand", "option", "names", *_MANY, *_TWO)


def compile_amount(written: object, values: dict[str, Any]) -> Any:
    """An amount with the names of values replaced by what they stand for.

    Args:
        written: the amount as a rule has it.
        values: name -> compiled amount, of the values that the rule defines before this one.

    Raises:
        ValueError: it is no amount; the text says why.
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
    if not isinstance(argument, list) or (len(argument) != 2 if form in _TWO else len(argument) < 2):
        raise ValueError(f"{form} takes a list of {'two' if form in _TWO else 'two or more'} amounts")
    return {form: [_listed(part, values) for part in argument]}


def _listed(part: object, values: dict[str, Any]) -> Any:
    """An amount in a list, where a text is the name of an operand."""
    compiled = compile_amount({"operand": part} if isinstance(part, str) else part, values)
    if isinstance(compiled, bool) or (isinstance(compiled, dict) and "names" in compiled):
        raise ValueError(f"{part!r} is not a number")
    return compiled


def value_of(amount: Any, config: Config) -> Any:
    """The value of an amount for a config: a number, a text, true or false, a list of names; None if it is unknown."""
    if not isinstance(amount, dict):
        return amount
    if "operand" in amount:
        operand = config.operand(amount["operand"])
        if operand.present is False:
            return value_of(amount["default"], config) if "default" in amount else None
        return numeric(amount["operand"], operand.value) if operand.present else None
    if "names" in amount:
        return config.names(amount["names"], ever="release" in amount)
    ((form, parts),) = amount.items()
    numbers: list[int] = []
    for part in parts:
        number = value_of(part, config)
        if isinstance(number, bool) or not isinstance(number, int):
            return None
        numbers.append(number)
    return _computed(form, numbers)


def numeric(name: str, value: Any) -> Any:
    """An operand's value, of a variable as the whole number that its text is, where it is one."""
    return int(value) if name.startswith("env.") and isinstance(value, str) and is_whole(value) else value


def _computed(form: str, numbers: list[int]) -> int | None:
    if form == "sum":
        return sum(numbers)
    if form == "product":
        return math.prod(numbers)
    if form == "smallest":
        return min(numbers)
    one, other = numbers
    if form == "difference":
        return one - other
    if other < 1:
        return None
    if form == "quotient":
        return one // other
    if form == "remainder":
        return one % other
    if not 0 < one <= _SEARCHED_AT_MOST:
        return None
    return next(divisor for divisor in range(min(one, other), 0, -1) if one % divisor == 0)


def shown(value: Any, grouped: bool = False) -> str:
    """A value as a message prints it. grouped: with a comma between thousands"""
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


def filled(amount: Any, options: dict[str, Any]) -> Any:
    """An amount with the values of its rule's options."""
    if not isinstance(amount, dict):
        return amount
    if "option" in amount:
        return options[amount["option"]]
    if "operand" in amount:
        return {**amount, "default": filled(amount["default"], options)} if "default" in amount else amount
    if "names" in amount:
        return amount
    ((form, parts),) = amount.items()
    return {form: [filled(part, options) for part in parts]}
