"""Many short cases in one test: a test of its own costs more than such a case, in collecting and in handing over.

All cases of a test are tried, and those that fail are named with what each says. `pytest -k NAME` finds the test with a case.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

Test = Callable[..., None]
_LONG = 60


def shortened(case: Any) -> str:
    """A case as its name: the text that it is, or what is written for it, and not more than a line's worth."""
    text = case if isinstance(case, str) else re.sub(r" at 0x[0-9a-f]+>", ">", repr(case))
    return text if len(text) <= _LONG else text[:_LONG] + "\u2026"


class Shelf(list[tuple[str, dict[str, Any]]]):
    """Cases of one test: the name and the arguments of each."""

    def __repr__(self) -> str:
        return f"{len(self)} cases"


def together(
    argument: str, cases: Sequence[Any], *, name: Callable[[Any], str] = shortened, at_once: int = 40
) -> Callable[[Test], Test]:
    """Make tests of `at_once` cases out of a test of one, which gets its case as the argument of that name.

    Several names with commas between them are several arguments, as in `pytest.mark.parametrize`.

    Its fixtures are the same for all cases of a test: it leaves behind nothing that another case could meet.

    Args:
        argument: of the test, the one that is a case, or the names of all that are.
        cases: what it is tried with.
        name: of a case, to find it and to say which has failed.
        at_once: how many cases make a test.
    """
    arguments = argument.replace(",", " ").split()
    named = [(name(case), dict(zip(arguments, case if len(arguments) > 1 else [case], strict=True))) for case in cases]
    shelves = [Shelf(named[start : start + at_once]) for start in range(0, len(named), at_once)]

    def decorate(test: Test) -> Test:
        def each(*own: Any, shelf: Shelf, **given: Any) -> None:
            failed = [said for name, case in shelf if (said := _tried(name, partial(test, *own, **given, **case)))]
            if failed:
                pytest.fail("\n".join([*failed, f"{len(failed)} of {len(shelf)} cases fail"]), pytrace=False)

        signature = inspect.signature(test)
        kept = [one for one in signature.parameters.values() if one.name not in arguments]
        shelf = inspect.Parameter("shelf", inspect.Parameter.KEYWORD_ONLY)
        each.__signature__ = signature.replace(parameters=[*kept, shelf])  # type: ignore[attr-defined]
        each.__name__, each.__qualname__, each.__module__ = test.__name__, test.__qualname__, test.__module__
        each.__doc__ = test.__doc__
        each.__dict__.update(test.__dict__)
        ids = [f"{one[0][0]}..{one[-1][0]}" if len(one) > 1 else one[0][0] for one in shelves]
        tests: Test = pytest.mark.parametrize("shelf", shelves, ids=ids)(each)
        return tests

    return decorate


def _tried(name: str, case: Callable[[], None]) -> str:
    """What a case says that fails; "" for one that holds."""
    try:
        case()
    except (Exception, pytest.fail.Exception) as error:
        return f"{name}: " + "".join(traceback.format_exception(error))
    return ""
