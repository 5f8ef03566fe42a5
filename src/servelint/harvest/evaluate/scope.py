"""Where names are looked up: locals, enclosing functions, the module, the builtins."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from servelint.harvest.evaluate.builtin import BUILTINS
from servelint.harvest.evaluate.values import UNKNOWN, Class

if TYPE_CHECKING:
    from servelint.harvest.pysource import Module


@dataclasses.dataclass(slots=True, eq=False)
class Scope:
    """The names of one function or class body. `owner`: the class whose method runs; `yields`: a generator's values."""

    module: Module
    names: dict[str, Any] = dataclasses.field(default_factory=dict)
    parent: Scope | None = None
    owner: Class | None = None
    yields: list[Any] | None = None
    is_class: bool = False

    def get(self, name: str) -> Any:
        """The value of a name, UNKNOWN where nothing binds it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.names and (first or not scope.is_class):
                return scope.names[name]
            scope, first = scope.parent, False
        if self.module.defines(name):
            return self.module.resolve(name)
        if name in BUILTINS:
            return BUILTINS[name]
        if name == "__name__":
            return self.module.name
        return self.module.resolve(name) if self.module.defines("*") else UNKNOWN

    def inner(self, owner: Class | None = None, is_class: bool = False) -> Scope:
        """A scope inside this one."""
        return Scope(self.module, {}, self, owner or self.owner, None, is_class)
