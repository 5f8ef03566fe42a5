"""The closed condition language of rules, compiled and evaluated. Three-valued: a condition that cannot be told is None.

As written in a rule's `when`:

    kv-cache-dtype: {prefix: turboquant_}         an operand and what it must satisfy
    speculative-eagle-topk: 1                     short for {is: 1}
    any: [ {...}, {...} ]                         also all, not
Several keys of one mapping must all hold.

    set: true|false     whether it is given at all         is, is-not: VALUE     in, not-in: [VALUES]
    prefix: TEXT        above, below, at-least, at-most: NUMBER
The argument of a test may be an option of the rule, which settings change: above: {option: tokens}
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.engines.config import Config, Operand

Truth = bool | None
Compiled = list["Any"]
"""["and"|"or", [Compiled...]], ["not", Compiled], or ["test", operand name, operator, argument]"""

OPERATORS = ("set", "is", "is-not", "in", "not-in", "prefix", "above", "below", "at-least", "at-most")
_ABSENT_IS = {"is-not": True, "not-in": True}


def compile_condition(tree: object) -> Compiled:
    """A rule's `when` as nested lists. Raises ValueError with what is wrong."""
    if not isinstance(tree, dict) or not tree:
        raise ValueError("a condition is a mapping with at least one key")
    parts: list[Compiled] = []
    for key, value in tree.items():
        if key in ("any", "all"):
            if not isinstance(value, list) or not value:
                raise ValueError(f"{key} takes a list of conditions")
            parts.append(["or" if key == "any" else "and", [compile_condition(part) for part in value]])
        elif key == "not":
            parts.append(["not", compile_condition(value)])
        elif isinstance(value, dict):
            if not value:
                raise ValueError(f"{key} says nothing")
            for operator, argument in value.items():
                if operator not in OPERATORS:
                    raise ValueError(f"{key}: {operator} is not an operator; use one of {', '.join(OPERATORS)}")
                if isinstance(argument, dict) and list(argument) != ["option"]:
                    raise ValueError(f"{key}: write {operator}: {{option: NAME}} for an option of the rule")
                parts.append(["test", key, operator, argument])
        elif isinstance(value, list) or value is None:
            raise ValueError(f"{key}: write {{in: [...]}} for a list of values")
        else:
            parts.append(["test", key, "is", value])
    return parts[0] if len(parts) == 1 else ["and", parts]


def operands(compiled: Compiled) -> list[str]:
    """The operand names of a condition, in the order written."""
    if compiled[0] == "test":
        return [compiled[1]]
    if compiled[0] == "not":
        return operands(compiled[1])
    names: list[str] = []
    for part in compiled[1]:
        names += [name for name in operands(part) if name not in names]
    return names


def needs(compiled: Compiled) -> list[list[str]]:
    """What must be there for the condition to hold at all, which an index can ask for first: of each list at least one.

    An option's name, `env.NAME`, or `model.` and `gpu.` for what is known of the model and the GPU.
    """
    if compiled[0] == "test":
        _, name, operator, argument = compiled
        head, dot, _ = name.partition(".")
        if operator in _ABSENT_IS or (operator == "set" and not argument) or head in ("effective", "container"):
            return []
        if dot and head in ("model", "gpu"):
            return [[head + "."]]
        return [] if name == "model" else [[name if dot and head == "env" else head]]
    if compiled[0] == "and":
        found: list[list[str]] = []
        for part in compiled[1]:
            found += [one for one in needs(part) if one not in found]
        return sorted(found)
    if compiled[0] == "or":
        each = [needs(part) for part in compiled[1]]
        return [sorted({name for part in each for name in min(part, key=len)})] if all(each) else []
    return []


def option_names(compiled: Compiled) -> list[str]:
    """The options of the rule that a condition's tests take their arguments from."""
    if compiled[0] == "test":
        return [compiled[3]["option"]] if isinstance(compiled[3], dict) else []
    parts = [compiled[1]] if compiled[0] == "not" else compiled[1]
    return [name for part in parts for name in option_names(part)]


def filled(compiled: Compiled, options: dict[str, Any]) -> Compiled:
    """A condition with the values of its rule's options."""
    kind = compiled[0]
    if kind == "test":
        argument = compiled[3]
        return [*compiled[:3], options[argument["option"]]] if isinstance(argument, dict) else compiled
    if kind == "not":
        return ["not", filled(compiled[1], options)]
    return [kind, [filled(part, options) for part in compiled[1]]]


def evaluate(compiled: Compiled, config: Config, closed: bool = False) -> Truth:
    """Whether a condition holds. closed: what is not written is absent, although an unknown word might add it."""
    kind = compiled[0]
    if kind == "test":
        return _test(config.operand(compiled[1]), compiled[2], compiled[3], closed)
    if kind == "not":
        inner = evaluate(compiled[1], config, closed)
        return None if inner is None else not inner
    decisive = kind == "or"
    result: Truth = not decisive
    for part in compiled[1]:
        if part[0] == "test":
            truth = _test(config.operand(part[1]), part[2], part[3], closed)
        else:
            truth = evaluate(part, config, closed)
        if truth is decisive:
            return decisive
        if truth is None:
            result = None
    return result


def _test(operand: Operand, operator: str, argument: Any, closed: bool) -> Truth:
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
    value = operand.value
    if operator == "is":
        return same(value, argument)
    if operator == "is-not":
        return not same(value, argument)
    if operator in ("in", "not-in"):
        return any(same(value, one) for one in argument) is (operator == "in")
    if operator == "prefix":
        return str(value).startswith(argument)
    try:
        number, bound = float(value), float(argument)
    except (ValueError, OverflowError):
        return None
    if operator == "above":
        return number > bound
    if operator == "below":
        return number < bound
    return number >= bound if operator == "at-least" else number <= bound


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
