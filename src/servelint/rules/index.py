"""The selected rules, indexed for judging: by what a launch has, by id, by the kind of violation."""

from __future__ import annotations

from servelint.engines.releases import ReleaseKey
from servelint.rules import ranges
from servelint.rules.condition import leading_test, predicate
from servelint.rules.rule import ANY, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config
    from servelint.rules.condition import Predicate

_COMMON = frozenset(("model.", "gpu."))
_MAX_COVERS = 512
_MAX_SEEN = 64


class RuleIndex:
    """Rules by what selects them.

    Attributes:
        rules: in the order of their ids.
        by_id: id -> rule.
        parser: violation -> the rule of rules/catalog/ that it belongs to, for the engine of the rules.
        container: violation -> the rule of rules/container/ that it belongs to.
        keys: JSON option -> key, with underscores -> what rules need of it, as they name it (`speculative-config.method`).
    """

    __slots__ = ("_covers", "_named", "_needs", "by_id", "container", "keys", "parser", "rules")

    def __init__(self, rules: list[Rule]) -> None:
        self.rules = rules
        self.by_id = {rule.id: rule for rule in rules}
        self.parser = {rule.complaint: rule for rule in rules if rule.complaint is not None and rule.engine != ANY}
        self.container = {rule.complaint: rule for rule in rules if rule.complaint is not None and rule.engine == ANY}
        self.keys: dict[str, dict[str, set[str]]] = {}
        self._named = frozenset([name for rule in rules for names in rule.needs for name in names])
        for name in self._named:
            option, _, path = name.partition(".")
            if path and option != "env":
                key = path.partition(".")[0].replace("-", "_")
                self.keys.setdefault(option, {}).setdefault(key, set()).add(name)
        self._covers: dict[tuple[ReleaseKey | None, ...], _Cover] = {}
        self._needs = [(rule, _rarest(rule.needs)) for rule in rules if rule.complaint is None]

    def candidates(self, keys: tuple[ReleaseKey | None, ...], there: set[str]) -> list[Rule]:
        """The rules with a condition that may hold.

        Args:
            keys: of the releases that the launch may run on; the range of each rule covers them all.
            there: what the launch has, by the names of Rule.needs; no rule needs anything else.
        """
        return self._cover(keys).candidates(there)

    def that_may_hold(self, keys: tuple[ReleaseKey | None, ...], there: set[str], config: Config) -> list[Rule]:
        """As `candidates`, without those whose condition begins with a test that is not certainly true of a config."""
        return self._cover(keys).leading(there).of(config)

    def _cover(self, keys: tuple[ReleaseKey | None, ...]) -> _Cover:
        cover = self._covers.get(keys)
        if cover is None:
            if len(self._covers) >= _MAX_COVERS:
                self._covers.clear()
            cover = self._covers[keys] = _Cover(self._needs, self._named, keys)
        return cover


def _rarest(needs: list[list[str]]) -> list[str]:
    """Of several lists of names the one whose names fewest launches have."""
    if len(needs) < 2:
        return needs[0] if needs else []
    return min(needs, key=lambda names: (not _COMMON.isdisjoint(names), len(names)))


class _Cover:
    """The rules for some releases, by the rarest thing that each of them needs."""

    __slots__ = ("_named", "_seen", "always", "by_need", "rules")

    def __init__(self, needs: list[tuple[Rule, list[str]]], named: frozenset[str], keys: tuple[ReleaseKey | None, ...]) -> None:
        """Index rules for some releases.

        Args:
            needs: rules with a condition, each with the rarest names of which it needs one; none if it needs nothing.
            named: all names that any rule needs.
            keys: of the releases.
        """
        # a book has each range once for the rules with it
        bounds = {id(rule.bounds): rule.bounds for rule, _ in needs}
        within = {number: all(ranges.contains(one, key) for key in keys) for number, one in bounds.items()}
        self.rules: list[Rule] = []
        self.always: list[int] = []
        self.by_need: dict[str, list[int]] = {}
        for rule, rarest in needs:
            if not within[id(rule.bounds)]:
                continue
            if not rarest:
                self.always.append(len(self.rules))
            for name in rarest:
                self.by_need.setdefault(name, []).append(len(self.rules))
            self.rules.append(rule)
        self._named = named
        self._seen: dict[frozenset[str], _Leading] = {}

    def candidates(self, there: set[str]) -> list[Rule]:
        return self.leading(there).rules

    def leading(self, there: set[str]) -> _Leading:
        known = self._named.intersection(there)  # the rest is nothing that a rule needs: variables of the user's own
        found = self._seen.get(known)
        if found is None:
            if len(self._seen) >= _MAX_SEEN:
                self._seen.clear()
            found = self._seen[known] = _Leading(self._candidates(known))
        return found

    def _candidates(self, there: frozenset[str]) -> list[Rule]:
        numbers = set(self.always)
        for name in there:
            numbers.update(self.by_need.get(name, ()))
        found = [self.rules[number] for number in sorted(numbers)]
        return [rule for rule in found if not any(there.isdisjoint(names) for names in rule.needs)]


class _Leading:
    """Some rules, with the tests with which their conditions begin: what many rules ask is asked once.

    Attributes:
        rules: the rules.
    """

    __slots__ = ("_tests", "_without", "rules")

    def __init__(self, rules: list[Rule]) -> None:
        self.rules = rules
        self._tests: list[tuple[Predicate, list[int]]] | None = None
        self._without: list[int] = []

    def of(self, config: Config) -> list[Rule]:
        """The rules whose first test is true, and those whose condition begins with none."""
        if self._tests is None:
            tests: dict[str, tuple[Predicate, list[int]]] = {}
            for number, rule in enumerate(self.rules):
                test = leading_test(rule.when)
                if test is None:
                    self._without.append(number)
                else:
                    tests.setdefault(repr(test), (predicate(test), []))[1].append(number)
            self._tests = [*tests.values()]
        found = [*self._without]
        for holds, numbers in self._tests:
            if holds(config) is True:
                found += numbers
        return [self.rules[number] for number in sorted(found)]
