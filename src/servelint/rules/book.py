"""The compiled rule book as a file: what decides whether a rule is looked at stands together, the rest of each rule by itself.

The first line gives for each engine the line of its heads; a head has the line of its rule's body. A check reads the heads of
its engines, and the bodies of the few rules that come into question.
"""

from __future__ import annotations

import json
import os

from servelint.rules.rule import HEAD, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def write(rules: list[dict[str, Any]], path: str, read_at: int) -> None:
    """Write compiled rules (servelint.rules.compile) to a file, which is either the old one or whole at any time.

    read_at: when the reading of the rules began, in nanoseconds; the file bears that time, so that what changed since is newer
    """
    engines = sorted({rule["engine"] for rule in rules})
    heads: dict[str, list[dict[str, Any]]] = {engine: [] for engine in engines}
    bodies: list[dict[str, Any]] = []
    for rule in rules:
        line = 1 + len(engines) + len(bodies)
        heads[rule["engine"]].append({**{key: rule[key] for key in HEAD if key in rule}, "body": line})
        bodies.append({key: value for key, value in rule.items() if key not in HEAD})
    lines = [{engine: 1 + number for number, engine in enumerate(engines)}, *heads.values(), *bodies]
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.writelines([json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines])
    os.utime(temporary, ns=(read_at, read_at))
    os.replace(temporary, path)


class Book:
    """A book's text. Rules come in the order of their ids."""

    __slots__ = ("_engines", "_lines")

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._engines: dict[str, int] = json.loads(self._lines[0])

    def rules(self, *engines: str) -> list[Rule]:
        """The rules of some engines; of all if none is named."""
        return [Rule(head, self._lines[head["body"]]) for head in self.heads(*engines)]

    def heads(self, *engines: str) -> list[dict[str, Any]]:
        """What the rules have of rule.HEAD, each with the line of its body."""
        found: list[dict[str, Any]] = []
        for engine in engines or self._engines:
            if engine in self._engines:
                found += json.loads(self._lines[self._engines[engine]])
        return sorted(found, key=lambda head: str(head["id"]))
