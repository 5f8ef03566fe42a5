"""Judge launches by rules: which rules certainly hold under every release that a launch may run on."""

from __future__ import annotations

from functools import lru_cache

from servelint.core.finding import Finding, Fix, Related
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Span
from servelint.engines.config import Config, Operand
from servelint.engines.config import configs as configs_of
from servelint.engines.registry import ENGINES
from servelint.engines.releases import known_releases, newest
from servelint.files.directives import name_gpus
from servelint.fixes import fix_for, fix_of
from servelint.judge import container
from servelint.judge.checks import run_check
from servelint.judge.parser import Violation, violations
from servelint.judge.parser.violation import NEW_IN_FORKS, OF_FORKS
from servelint.judge.releases import (
    Releases,
    may_be_a_fork,
    next_minor_release,
    possible_releases,
    release_name,
)
from servelint.rules import ranges
from servelint.rules.condition import evaluate, operands, shown, value_of
from servelint.rules.index import RuleIndex
from servelint.rules.load import every, rules_of
from servelint.rules.rule import ANY, PLACEHOLDER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TAKEN_AWAY = ("removed-option", "removed-env")


def judge(launch: Launch, settings: Settings, book: list[Rule] | None = None) -> list[Finding]:
    """Find what the rules report of one launch.

    Args:
        launch: the launch.
        settings: which rules run, with which severities and options.
        book: the rules to use instead of those that the settings select.

    Returns:
        Findings of every severity, in the order of the rules.
    """
    index = RuleIndex(book) if book is not None else _selected(launch.engine, settings)
    if not index.rules:
        return []
    if not launch.others:
        return _judged(launch, settings, index)
    from servelint.judge.alternatives import merged

    return merged(launch, lambda one: _judged(one, settings, index))


def _judged(launch: Launch, settings: Settings, index: RuleIndex) -> list[Finding]:
    """What the rules report of one launch as it is, whatever its alternatives are."""
    name_gpus(launch, settings)
    releases, configs = possible_releases(launch, settings)
    keys = tuple([config.key for config in configs])
    findings: list[Finding] = []
    for rule in index.candidates(keys, _there(launch, configs)):
        fields = _holds(rule, configs)
        if fields is not None:
            findings.append(_finding(rule, launch, configs[-1], releases, fields))
    findings += _of_parser(index, launch, configs, releases, findings)
    findings += _removed_later(index, launch, configs, releases, findings)
    return [*findings, *_of_container(index, launch, configs[-1], releases)]


@lru_cache(maxsize=256)
def _selected(engine: str, settings: Settings) -> RuleIndex:
    """An engine's rules that settings select, as they set them. Settings are compared as objects: they do not change."""
    book = [rule for rule in every(settings.rules) if rule.engine in (engine, ANY)] if settings.rules else rules_of(engine)
    return RuleIndex([rule.changed(settings.of_rule(rule.id)) for rule in book if settings.wants(rule.id, rule.profile)])


def _there(launch: Launch, configs: list[Config]) -> set[str]:
    """What a launch has, by the names of Rule.needs: options, variables, a known model, a known GPU."""
    found = {name.partition(".")[0] for config in configs for name in config.reading.arguments.settings}
    found |= {"env." + name for name in launch.env}
    if configs[-1].family is not None:
        found.add("model.")
    container = launch.container
    of_container = container is not None and (container.gpus or "gpu_product" in container.settings)
    if of_container or launch.gpu or launch.gpu_count or "CUDA_VISIBLE_DEVICES" in launch.env:
        found.add("gpu.")
    return found


def _of_parser(
    index: RuleIndex, launch: Launch, configs: list[Config], releases: Releases, others: list[Finding]
) -> list[Finding]:
    """Violations that every release of a launch shares, as findings of the rules in rules/catalog/.

    Args:
        index: the rules.
        launch: the launch.
        configs: the launch under each release.
        releases: the releases.
        others: findings of other rules, which take the place of a violation that says less.
    """
    each = [{(one.rule, one.span): one for one in violations(config)} for config in configs]
    shared = [one for key, one in each[-1].items() if all(key in more for more in each)]
    if may_be_a_fork(launch):
        unsure = OF_FORKS if launch.release.release is None else NEW_IN_FORKS
        shared = [one for one in shared if one.rule not in unsure and not one.new]
    if not releases.exact:
        shared = [one for one in shared if not one.new]
    if not releases.rolling:
        shared = [one for one in shared if one.rule != "option-came-and-went"]
    variables = {name for finding in others for name in operands(index.by_id[finding.rule].when) if name.startswith("env.")}
    return [
        _violated(index.parser[one.rule], one, configs[-1], releases)
        for one in shared
        if one.rule in index.parser
        and "env." + one.variable not in variables
        and not any(_covers(finding, one) for finding in others)
    ]


def _removed_later(
    index: RuleIndex, launch: Launch, configs: list[Config], releases: Releases, others: list[Finding]
) -> list[Finding]:
    """What a launch loses with a newer release: the newest if none is pinned, else the first of the next minor series.

    Such a finding is no claim about the release that the launch runs on.
    """
    rule = index.parser.get("removed-later")
    latest = newest(launch.engine)
    if rule is None or latest is None or releases.rolling or launch.fragment:
        return []
    if not releases.exact and may_be_a_fork(launch):
        return []
    after = next_minor_release(launch.engine, releases.known[-1]) if releases.exact else latest
    if after is None or (releases.exact and not _loses(configs[-1], after)):
        return []
    known = {config.release: config for config in configs}
    each = [violations(known.get(one) or configs_of(launch, [one])[0]) for one in dict.fromkeys((after, latest))]
    still = {(one.rule, one.span) for one in each[-1]}
    found = {finding.span for finding in others}
    gone = [one for one in each[0] if one.rule in _TAKEN_AWAY and not one.new and (one.rule, one.span) in still]
    if not releases.exact:
        gone += _back_at_last(launch, each[-1])
    # what repairs it under the newer release may not exist in this one
    return [_violated(rule, one.without_fix(), configs[-1], releases) for one in gone if one.span not in found]


def _loses(config: Config, after: str) -> bool:
    """Whether a later release may lack one of a launch's options or variables, judged by names alone."""
    catalog = config.catalog
    index = catalog.index(after) if catalog is not None else None
    if catalog is None or index is None:
        return True
    table = catalog.table(index)
    abbreviated = ENGINES[config.launch.engine].dialect.abbreviations  # a prefix of options is not a removed option
    for setting in config.reading.arguments.every:
        if table.find(setting.spelling) is None and not (abbreviated and table.starting(setting.spelling)):
            return True
    known = catalog.variables()
    return any(name in known and not any(run[0] <= index <= run[1] for run in known[name]) for name in config.launch.env)


def _back_at_last(launch: Launch, last: list[Violation]) -> list[Violation]:
    """What the newest release takes and the one before it refuses."""
    back = [one for one in last if one.rule == "option-came-and-went"]
    before = known_releases(launch.engine)[-2:-1] if back else []
    refused = {
        one.span for config in (configs_of(launch, before) if before else []) for one in violations(config) if one.refused
    }
    return [one for one in back if one.span in refused]


def _of_container(index: RuleIndex, launch: Launch, config: Config, releases: Releases) -> list[Finding]:
    """Violations around a launch, as findings of the rules in rules/container/."""
    if not index.container or launch.fragment:
        return []
    found = container.violations(config, {name: rule.options for name, rule in index.container.items()})
    return [_violated(index.container[one.rule], one, config, releases) for one in found if one.rule in index.container]


def _covers(finding: Finding, violation: Violation) -> bool:
    """Whether a finding at the same place says as much: only one with that impact covers a refused start."""
    if violation.span is None or not _inside(finding.span, violation.span) or finding.impact == "security":
        return False
    return not violation.refused or finding.impact == "crash-at-start"


def _violated(rule: Rule, violation: Violation, config: Config, releases: Releases) -> Finding:
    """A violation as a finding of its rule."""
    launch = config.launch
    span = violation.span if violation.span is not None else _verb(launch)
    related = list(violation.related)
    claim = launch.release.span
    if claim is not None and launch.release.release is not None:
        related.append(Related(claim, release_name(launch, releases)))
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        confidence=rule.confidence,
        impact=rule.impact,
        message=violation.message,
        advice=violation.advice,
        span=span,
        label=violation.label,
        related=[place for place in related if place.span != span],
        fix=fix_of(violation.change, config, safe=violation.safe, title=violation.title or violation.advice),
        evidence=rule.evidence,
        launch=launch,
        release=releases.known[-1] if releases.exact or releases.rolling else None,
        release_from=releases.how,
        affected=rule.versions,
    )


def _holds(rule: Rule, configs: list[Config]) -> dict[str, Any] | None:
    """The extra fields of a rule's message if the rule is certainly true on every release; None if it is not."""
    fields: dict[str, Any] = {}
    for config in configs:
        if evaluate(rule.when, config) is not True:
            return None
        if rule.unless is not None and evaluate(rule.unless, config, closed=True) is not False:
            return None
        found = _fields(rule, config)
        if found is None:
            return None
        fields = found
    return fields


def _fields(rule: Rule, config: Config) -> dict[str, Any] | None:
    """The values that a rule's texts print, and the text of its case; None if one is unknown, no case or the check not true."""
    fields = _values(rule, rule.shows, config)
    if fields is not None and rule.cases:
        text = next((text for one in rule.cases if (text := _case(rule, one, config)) is not None), None)
        fields = {**fields, "case": text} if text is not None else None
    if fields is not None and rule.check is not None:
        found = run_check(rule.check, config)
        return {**fields, **found} if found is not None else None
    return fields


def _values(rule: Rule, names: list[str], config: Config) -> dict[str, Any] | None:
    found = {name: value_of(rule.values[name], config) for name in names}
    return None if None in found.values() else found


def _case(rule: Rule, case: list[Any], config: Config) -> str | None:
    """The text of a case if it is certainly true and all that it prints is known."""
    when, text, names = case
    fields = _values(rule, names, config) if evaluate(when, config) is True else None
    if fields is None:
        return None
    return PLACEHOLDER.sub(lambda match: _shown(match.group(1), match.group(2) is not None, config, fields), text)


def _finding(rule: Rule, launch: Launch, config: Config, releases: Releases, fields: dict[str, Any]) -> Finding:
    places: list[tuple[str, Operand]] = [(name, config.operand(name)) for name in (*rule.at, *operands(rule.when))]
    standing = [(name, operand) for name, operand in places if operand.present is not False] or places
    primary = next(((name, span) for name, operand in standing if (span := operand.span) is not None), None)
    name, span = primary if primary is not None else ("", _verb(launch))
    related: list[Related] = []
    seen = {span}
    for other, operand in standing:
        place = operand.span
        if place is not None and place not in seen and not _inside(place, span):
            seen.add(place)
            related.append(Related(place, rule.labels.get(other, "with this")))
    # of two places, the inner one is more exact
    related = [place for place in related if not any(one is not place and _inside(one.span, place.span) for one in related)]
    site = config.operand(name).site if name else None
    if site is not None and not _inside(span, launch.site) and (site.source is not span.source or site.line != span.line):
        related.append(Related(site, "used here"))
    claim = launch.release.span
    if claim is not None and launch.release.release is not None:
        affected = f"{release_name(launch, releases)}; affected: {ranges.describe(rule.versions)}"
        related.append(Related(claim, affected))

    fields["release"] = release_name(config.launch, releases)

    def fill(text: str) -> str:
        return PLACEHOLDER.sub(lambda match: _shown(match.group(1), match.group(2) is not None, config, fields), text)

    fix: Fix | None = fix_for(rule.fix, config, rule.at, fill) if rule.fix is not None else None
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        confidence=rule.confidence,
        impact=rule.impact_on(config.key),
        message=fill(rule.message),
        advice=fill(rule.advice),
        span=span,
        label=rule.labels.get(name, ""),
        related=related,
        fix=fix,
        evidence=rule.evidence,
        launch=launch,
        release=releases.known[-1] if releases.exact or releases.rolling else None,
        release_from=releases.how,
        affected=rule.versions,
    )


def _inside(one: Span, other: Span) -> bool:
    return one.source is other.source and other.start <= one.start and one.end <= other.end


def _verb(launch: Launch) -> Span:
    """The span of the words that start the engine, or of the launch's first line if its image starts it."""
    sites = [word.site for word in launch.verb if word.site is not None and word.site.source is launch.source]
    if sites:
        return sites[0].to(max(sites, key=lambda site: site.end))
    site = launch.site
    end = site.source.text.find("\n", site.start, site.end)
    return site.sub(0, end - site.start) if end != -1 else site


def _shown(name: str, grouped: bool, config: Config, fields: dict[str, Any]) -> str:
    """What a placeholder of a rule's text stands for."""
    if name in fields:
        return shown(fields[name], grouped)
    operand = config.operand(name)
    return shown(operand.value, grouped) if grouped and operand.value is not None else operand.shown
