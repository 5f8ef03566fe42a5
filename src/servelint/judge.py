"""Judging launches by rules: which releases a launch may run on, and which rules are certainly true of it."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from servelint.checks import run_check
from servelint.engines import ENGINE_NAMES, entry
from servelint.engines.config import Config, Operand, Reading
from servelint.engines.releases import known_releases, newest, release_key
from servelint.finding import Finding, Fix, Related
from servelint.fixes import fix_for
from servelint.launch import Launch
from servelint.rules import ranges
from servelint.rules.condition import evaluate, operands
from servelint.rules.load import rules_of
from servelint.rules.rule import Rule
from servelint.settings import Settings
from servelint.source import Span

_PLACEHOLDER = re.compile(r"\{([\w.-]+)\}")


class Releases:
    """The releases that a launch may run on.

    known:  oldest first; empty if nothing is known of the engine's releases
    exact:  it is one, which is named;  rolling: it is the newest at the time
    how:    what says so: "image", "pip" or "settings"; None if nothing does
    """

    __slots__ = ("exact", "how", "known", "rolling")

    def __init__(self, known: list[str], *, exact: bool, rolling: bool, how: str | None) -> None:
        self.known = known
        self.exact = exact
        self.rolling = rolling
        self.how = how


def judge(launch: Launch, settings: Settings) -> list[Finding]:
    """The findings of one launch, of every severity, in the order of the rules."""
    rules = [rule for rule in rules_of(launch.engine) if settings.wants(rule.id)]
    if not rules:
        return []
    reading = Reading(launch)
    releases = possible_releases(launch, reading, settings)
    configs = [Config(reading, release) for release in releases.known] or [Config(reading, None)]
    written = {name.partition(".")[0] for name in reading.arguments.settings}
    findings: list[Finding] = []
    for rule in rules:
        if not written.issuperset(rule.needs) and "model" not in rule.needs:
            continue
        if not all(ranges.contains(rule.bounds, config.key) for config in configs):
            continue
        fields = _holds(rule, configs)
        if fields is not None:
            findings.append(_finding(rule, launch, configs[-1], releases, fields))
    return findings


def possible_releases(launch: Launch, reading: Reading, settings: Settings) -> Releases:
    """The named release, or the newest for a rolling image, or all that know what the launch asks for."""
    claim = launch.release
    if claim.release is not None and release_key(claim.release) is not None:
        return Releases([claim.release], exact=True, rolling=False, how=claim.how)
    given = settings.engine_versions.get(launch.engine)
    if given is not None:
        return Releases([given], exact=True, rolling=False, how="settings")
    latest = newest(launch.engine)
    if claim.rolling and latest is not None:
        return Releases([latest], exact=False, rolling=True, how=claim.how)
    floor = release_key(_floor(reading, launch))
    known = [release for release in known_releases(launch.engine) if floor is None or (release_key(release) or floor) >= floor]
    return Releases(known, exact=False, rolling=False, how=None)


def _floor(reading: Reading, launch: Launch) -> str:
    """The first release that knows everything that the launch certainly asks for: what is older does not start at all."""
    config = Config(reading, None)
    bounds: list[str] = ["0", entry.since(launch.engine, launch.verb)]
    for setting in reading.arguments.settings.values():
        option = reading.options.get(setting.name)
        if option is None:
            continue
        if option.since is not None:
            bounds.append(option.since)
        value = setting.value.value if setting.value is not None else None
        bounds += [since for pattern, since in option.values_since.items() if value is not None and fnmatchcase(value, pattern)]
    method = config.operand("speculative-config.method").value if launch.engine == "vllm" else None
    known = reading.options.speculative_methods.get(method) if isinstance(method, str) else None
    if known is not None:
        bounds.append(known["since"])
    family = config.family
    if family is not None and launch.engine in family.since:
        bounds.append(family.since[launch.engine])
    return max(bounds, key=lambda release: release_key(release) or ((0,), 0, 0, 0, 0, 0))


def _holds(rule: Rule, configs: list[Config]) -> dict[str, str] | None:
    """The extra fields of a rule's message if the rule is certainly true on every release; None if it is not."""
    fields: dict[str, str] = {}
    for config in configs:
        if evaluate(rule.when, config) is not True:
            return None
        if rule.unless is not None and evaluate(rule.unless, config, closed=True) is not False:
            return None
        if rule.check is not None:
            found = run_check(rule.check, config)
            if found is None:
                return None
            fields = found
    return fields


def _finding(rule: Rule, launch: Launch, config: Config, releases: Releases, fields: dict[str, str]) -> Finding:
    places: list[tuple[str, Operand]] = [(name, config.operand(name)) for name in (*rule.at, *operands(rule.when))]
    primary = next(((name, span) for name, operand in places if (span := operand.span) is not None), None)
    name, span = primary if primary is not None else ("", _verb(launch))
    related: list[Related] = []
    seen = {span}
    for other, operand in places:
        place = operand.span
        if place is not None and place not in seen and not _inside(place, span):
            seen.add(place)
            related.append(Related(place, rule.labels.get(other, "with this")))
    # a place inside another says it more exactly
    related = [place for place in related if not any(one is not place and _inside(one.span, place.span) for one in related)]
    site = config.operand(name).site if name else None
    if site is not None and not _inside(span, launch.site) and (site.source is not span.source or site.line != span.line):
        related.append(Related(site, "used here"))
    claim = launch.release.span
    if claim is not None and launch.release.release is not None:
        affected = f"{release_name(launch, releases)}; affected: {ranges.describe(rule.versions)}"
        related.append(Related(claim, affected))

    def fill(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: _field(match.group(1), config, releases, fields), text)

    fix: Fix | None = fix_for(rule.fix, config, fill) if rule.fix is not None else None
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        confidence=rule.confidence,
        impact=rule.impact,
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
    """The words that start the engine, or the first line of the launch where the image starts it."""
    sites = [word.site for word in launch.verb if word.site is not None and word.site.source is launch.source]
    if sites:
        return Span(launch.source, sites[0].start, max(site.end for site in sites))
    start = launch.site.start
    end = launch.source.text.find("\n", start, launch.site.end)
    return Span(launch.source, start, end if end != -1 else launch.site.end)


def _field(name: str, config: Config, releases: Releases, fields: dict[str, str]) -> str:
    if name in fields:
        return fields[name]
    if name == "release":
        return release_name(config.launch, releases)
    return config.operand(name).shown


def release_name(launch: Launch, releases: Releases) -> str:
    """ "vLLM 0.27.1"; what is known otherwise."""
    engine = ENGINE_NAMES[launch.engine]
    if releases.exact:
        return f"{engine} {releases.known[-1]}"
    if releases.rolling:
        return f"{engine} {releases.known[-1]}, the newest that servelint knows"
    return f"every {engine} release that takes these options"
