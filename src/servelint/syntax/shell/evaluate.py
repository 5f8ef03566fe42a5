"""Partial evaluation of a shell script: which commands it runs, with which words and environment."""

from __future__ import annotations

from collections.abc import Callable

from servelint.core import bounds
from servelint.core.launch import Word
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.syntax.shell.files import Opened
from servelint.syntax.shell.invocation import Found
from servelint.syntax.shell.walk import CHARACTERS_A_STEP, Evaluator


class Budget:
    """How many steps are left for the scripts that a script runs, all together: one may call a long one a hundred times."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = bounds.STEPS_OF_OTHERS.most


def evaluate(
    text: Text,
    found: Found,
    *,
    environment: dict[str, Text] | None = None,
    args: list[Word] | None = None,
    files: Callable[[str], Source | None] | None = None,
    here: Callable[[Text], Opened | None] | None = None,
    budget: Budget | None = None,
    unheard: frozenset[str] = frozenset(),
) -> list[Text]:
    """Walk a script and report each command that it may run; gives the scripts that it writes into files.

    environment: variables that are set before it starts. args: `$0` and what follows, None if nobody knows them.
    files: opens a file by its path below the folder that the script stands in; None for a script that is no file
    here: opens a file by its path below the folder that the script runs in, where another command starts it
    budget: of a script that another one runs
    unheard: programs that `found` need not be told of
    """
    if budget is not None:
        budget.left -= len(text.flat) // CHARACTERS_A_STEP
        if budget.left <= 0:
            bounds.STEPS_OF_OTHERS.reached(text.extent())
            return []
    try:
        shell = Evaluator(text, found, environment or {}, args, files, here)
    except RecursionError:
        bounds.NESTED.reached(text)
        return []
    shell.unheard = unheard
    if budget is not None:
        shell.steps_at_most = min(shell.steps_at_most, budget.left)
        shell.bound = bounds.STEPS_OF_OTHERS
    try:
        shell.visit(shell.script.root)
        shell.uncalled()
    except RecursionError:
        bounds.NESTED.reached(shell.anchor or text.extent())  # what was found before stands
    if budget is not None:
        budget.left -= shell.steps
    return shell.scripts
