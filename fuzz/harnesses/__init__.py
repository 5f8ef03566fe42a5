"""The harnesses: each makes cases out of choices, and checks what must hold of one."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from fuzz.case import Case
    from fuzz.chance import Chance

    class Harness(Protocol):
        """A module of this package."""

        def make(self, chance: Chance) -> Case:
            """A case out of choices."""

        def check(self, case: Case) -> None:
            """Raise what breaks a property of a case, or any other error, which breaks the first of them: no traceback."""


NAMES = ("yaml_files", "shell", "files", "argv", "rules", "mending", "messages")


def harness(name: str) -> Harness:
    found: Harness = import_module(f"fuzz.harnesses.{name}")  # type: ignore[assignment]
    return found
