"""The rules that somebody asks for, as a judge looks them up: by what a launch has, by id, by complaint."""

from __future__ import annotations

from servelint.engines.releases import ReleaseKey
from servelint.rules import ranges
from servelint.rules.rule import ANY, Rule

_COMMON = frozenset(("model.", "gpu."))
_COVERS_AT_MOST = 512
_SEEN_AT_MOST = 64


class Chosen:
    """rules: in the order of their ids;  by_id: id -> rule
    told:   complaint -> the rule of an engine's catalog that it belongs to;  around: the same of what surrounds a launch
    """

    __slots__ = ("_covers", "around", "by_id", "rules", "told")

    def __init__(self, rules: list[Rule]) -> None:
        self.rules = rules
        self.by_id = {rule.id: rule for rule in rules}
        self.told = {rule.complaint: rule for rule in rules if rule.complaint is not None and rule.engine != ANY}
        self.around = {rule.complaint: rule for rule in rules if rule.complaint is not None and rule.engine == ANY}
        self._covers: dict[tuple[ReleaseKey | None, ...], _Cover] = {}

    def candidates(self, keys: tuple[ReleaseKey | None, ...], there: set[str]) -> list[Rule]:
        """The rules with a condition whose range covers each of some releases, and that need nothing which is not there.

        there: the names that Rule.needs has, as far as a launch has them
        """
        cover = self._covers.get(keys)
        if cover is None:
            if len(self._covers) >= _COVERS_AT_MOST:
                self._covers.clear()
            cover = self._covers[keys] = _Cover(self.rules, keys)
        return cover.candidates(there)


class _Cover:
    """The rules for some releases, by one thing that each of them needs."""

    __slots__ = ("_named", "_seen", "always", "by_need", "rules")

    def __init__(self, rules: list[Rule], keys: tuple[ReleaseKey | None, ...]) -> None:
        self.rules = [
            rule for rule in rules if rule.complaint is None and all(ranges.contains(rule.bounds, key) for key in keys)
        ]
        self.always: list[int] = []
        self.by_need: dict[str, list[int]] = {}
        for number, rule in enumerate(self.rules):
            if not rule.needs:
                self.always.append(number)
                continue
            for name in min(rule.needs, key=lambda names: (not _COMMON.isdisjoint(names), len(names))):
                self.by_need.setdefault(name, []).append(number)
        self._named = frozenset([name for rule in self.rules for names in rule.needs for name in names])
        self._seen: dict[frozenset[str], list[Rule]] = {}

    def candidates(self, there: set[str]) -> list[Rule]:
        known = self._named.intersection(there)  # the rest is nothing that a rule needs: variables of the user's own
        found = self._seen.get(known)
        if found is None:
            if len(self._seen) >= _SEEN_AT_MOST:
                self._seen.clear()
            found = self._seen[known] = self._candidates(known)
        return found

    def _candidates(self, there: frozenset[str]) -> list[Rule]:
        numbers = set(self.always)
        for name in there:
            numbers.update(self.by_need.get(name, ()))
        found = [self.rules[number] for number in sorted(numbers)]
        return [rule for rule in found if not any(there.isdisjoint(names) for names in rule.needs)]
