"""Judge launches by rules: which rules certainly hold under every release that a launch may run on."""

from __future__ import annotations

import re
from copy import copy
from functools import lru_cache
from itertools import pairwise

from servelint.core import own_rules
from servelint.core.finding import Finding, Fix, Related
from servelint.core.launch import Launch, Word
from servelint.core.numbers import singular
from servelint.core.own_rules import OWN, UNKNOWN_RELEASE
from servelint.core.settings import PROFILES, Settings
from servelint.core.source import Span
from servelint.engines.argv import head_of
from servelint.engines.config import Config, Operand
from servelint.engines.config import configs as configs_of
from servelint.engines.registry import ENGINE_NAMES, ENGINES
from servelint.engines.releases import NEVER, OLDER, known_releases, newest, release_key
from servelint.files.directives import name_gpus
from servelint.fixes import fix_for, fix_of
from servelint.judge import container
from servelint.judge.checks import OF_THE_PLAN, run_check
from servelint.judge.parser import Violation, note_misspelt, verdicts, violations
from servelint.judge.parser.view import listed
from servelint.judge.parser.violation import NEW_IN_FORKS, OF_BUILDS, OF_FORKS, REFUSED, UNLESS_NEWER, VALUES_OF_FORKS
from servelint.judge.releases import (
    Releases,
    Unlisted,
    is_changed_build,
    may_be_a_fork,
    may_be_between,
    next_minor_release,
    of_source,
    possible_releases,
    read_of,
    release_name,
    spanned,
)
from servelint.rules import ranges
from servelint.rules.condition import operands, shown
from servelint.rules.index import RuleIndex
from servelint.rules.load import every, rules_of
from servelint.rules.rule import ANY, PLACEHOLDER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.engines.catalog import Catalog

_under: dict[Launch, tuple[tuple[object, ...], Settings, list[Config]]] = {}
_MAX_UNDER = 32
"""Launches whose configs are kept: a launch is judged, then its alternatives, then it is asked for what stays undecided."""


def configs_judged(launch: Launch, settings: Settings) -> list[Config]:
    """A launch under each release that it may run on, as it was just judged."""
    read, judged_by, configs = _under.get(launch, ((), None, []))
    return configs if judged_by is settings and read == read_of(launch) else possible_releases(launch, settings)[1]


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
    name_gpus(launch, settings)
    return judge_as_named(launch, settings, book)


def judge_as_named(launch: Launch, settings: Settings, book: list[Rule] | None = None) -> list[Finding]:
    """As `judge`, on the GPUs that the launch has already, whatever its comments and the settings name."""
    index = RuleIndex(book) if book is not None else _selected(launch.engine, settings)
    if not index.rules:
        return []
    advised: list[tuple[list[Finding], Config]] = []

    def judged(one: Launch) -> list[Finding]:
        return _judged(one, settings, index, book is None, advised)

    if launch.others:
        from servelint.judge.alternatives import merged

        findings = merged(launch, judged)
    else:
        findings = judged(launch)
    reported = set(map(id, findings))
    for found, config in advised:
        _note_refusals(found, reported, index, config)
    if launch.launcher and findings and ENGINES[launch.engine].launchers[launch.launcher].calls:
        from servelint.judge.keywords import reword

        reword(findings, configs_judged(launch, settings)[-1])
    return findings


def _judged(
    launch: Launch, settings: Settings, index: RuleIndex, every_rule: bool, advised: list[tuple[list[Finding], Config]]
) -> list[Finding]:
    """What the rules report of one launch as it is, whatever its alternatives are.

    Args:
        launch: the launch.
        settings: the settings.
        index: the rules.
        every_rule: whether no rules were chosen.
        advised: takes the findings whose advice may name another release, with the launch under its own.
    """
    releases, configs = possible_releases(launch, settings)
    if not launch.started:
        never = container.not_started(launch)
        return [
            _violated(index.container[one.rule], one, configs[-1], releases) for one in never if one.rule in index.container
        ]
    for config in configs:
        note_misspelt(config)
    if len(_under) >= _MAX_UNDER:
        _under.clear()
    _under[launch] = read_of(launch), settings, configs
    keys = tuple([config.key for config in configs])
    if releases.unlisted is not None:
        keys = (*keys, release_key(releases.unlisted.written))
    findings: list[Finding] = []
    there = _there(launch, configs, index)
    as_one: Config | None = None
    if "gpu." in there and (len(configs) > 1 or configs[-1].release is None):
        from servelint.judge.checks.memory import planned_as_one

        as_one = planned_as_one(launch)
    for rule in index.that_may_hold(keys, there, configs[0]):
        if (as_one is not None and rule.check in OF_THE_PLAN) or _of_a_server(rule, configs[0]):
            continue
        fields = _holds(rule, configs)
        if fields is not None:
            findings.append(_finding(rule, launch, configs[-1], releases, fields))
    if as_one is not None:
        findings += _of_plan(index, launch, as_one, releases, there)
    findings = _breaks_alone(findings)
    _name_the_parser(findings, configs)
    findings += _of_replaced(index, launch, configs, releases, {one.rule for one in findings})
    findings += _of_parser(index, launch, configs, releases, findings)
    if releases.exact:
        advised.append(([*findings], configs[-1]))
    findings += _removed_later(index, launch, configs, releases, findings)
    if releases.unlisted is not None:
        findings = _assumed(findings, launch, releases.unlisted)
        # a program's name says only how old it is at least
        said = launch.release.how is not None or launch.release.release is None
        if every_rule and said and not launch.fragment and settings.wants(UNKNOWN_RELEASE):
            findings.append(_of_release(launch, releases.unlisted, settings))
    if of_source(launch) and not releases.exact:
        if launch.release.how == "source":  # a fork's tree may load what no release does
            findings = [one for one in findings if one.impact != "crash-at-load" or one.confidence != "medium"]
        for finding in findings:
            name = finding.rule.partition("/")[2]
            if finding.severity == "error" and (name not in index.parser or name in VALUES_OF_FORKS):
                finding.severity = "warning"
    if launch.release.build or (releases.exact and is_changed_build(releases.known[-1])):
        for finding in findings:
            if finding.severity == "error" and finding.rule.partition("/")[2] in VALUES_OF_FORKS:
                finding.severity = "warning"
    return [*findings, *_of_container(index, launch, configs[-1], releases)]


_RELEASE = r"\b(?:use|or) (?:[A-Za-z.]+ )?(b?\d[\w.]*) or (?:later|earlier)\b(?! with)"
"""An advice to run another release, without a change beside it."""


def _note_refusals(findings: list[Finding], reported: set[int], index: RuleIndex, config: Config) -> None:
    """Add to an advice that names another release what of the launch that release refuses. reported: ids of those to change."""
    refused: dict[str, list[str]] = {}
    for finding in findings:
        if id(finding) not in reported:
            continue
        named = " or later" in finding.advice or " or earlier" in finding.advice
        for release in re.findall(_RELEASE, finding.advice) if named else ():
            if config.catalog is None or config.catalog.index(release) is None:
                continue
            if release not in refused:
                refused[release] = _refused_words(index, config, config.under(release), {one.rule for one in findings})
            if refused[release]:
                words = listed(refused[release], 3)
                finding.advice += f"; {ENGINES[config.launch.engine].name} {release} refuses {words} as written here"


def _refused_words(index: RuleIndex, config: Config, there: Config, had_rules: set[str]) -> list[str]:
    """The words of a launch that another release refuses. had_rules: of the findings under its own release."""
    refused, had_refused = verdicts([there, config])
    had = {one.span for one in had_refused if one.refused}
    launch = config.launch
    # the image of another release may start another command, which takes its model otherwise
    other = () if launch.verb else ("missing-argument", "unexpected-argument")
    spans = [one.span for one in refused if one.refused and not one.new and one.span not in had and one.rule not in other]
    for rule in index.that_may_hold((there.key,), _there(launch, [there], index), there):
        crashes = rule.impact_on(there.key) in ("crash-at-start", "crash-at-load") and rule.severity == "error"
        if crashes and rule.id not in had_rules and rule.check not in OF_THE_PLAN and _holds(rule, [there]) is not None:
            places = [there.operand(name) for name in (*rule.at, *operands(rule.when))]
            spans.append(next((span for one in places if one.present and (span := one.span) is not None), None))
    return list(dict.fromkeys([_named(span, launch) for span in spans if span is not None]))


def _named(span: Span, launch: Launch) -> str:
    """The characters of a word, with the option or the variable in front of them if they are its value."""
    for before, word in pairwise(launch.argv):
        option = before.value or ""
        if word.text.span() == span and option.startswith("-") and not word.text.flat.startswith("-"):
            return f"{option} {span.text}"
        whole, joined = word.text.span(), word.text.flat
        if whole is not None and _inside(span, whole) and joined.startswith("-") and joined.endswith(f"={span.text}"):
            return whole.text
    of_variables = [one for one in launch.env.values() if one.value is not None and one.value.span() == span]
    return f"{of_variables[0].name}={span.text}" if of_variables else span.text


_MAY_COME = frozenset((
    "unknown-option", "invalid-choice", "invalid-value", "unknown-json-key", "invalid-json-value", "unexpected-argument",
    "missing-argument", "exclusive-options", "option-of-other-engine",
))  # fmt: skip
"""Violations that a release after all known ones may take for right."""


def _assumed(findings: list[Finding], launch: Launch, unlisted: Unlisted) -> list[Finding]:
    """Mark findings of a launch whose release is not known.

    At the end of the catalog there is one neighbour only: an error of it is a warning, unless no later release can mend it.
    """
    note = f"{unlisted.fact(launch.engine)}: {unlisted.assumption}"
    if unlisted.placed.kind == OLDER:
        bounded = launch.release.release is not None and launch.release.how is None
        names = _OF_NO_RELEASE | _NOT_YET if bounded else _OF_NO_RELEASE
        findings = [finding for finding in findings if not _may_be_of_old(finding, names)]
    for finding in findings:
        finding.assumption = note
        if unlisted.ends and finding.severity == "error":
            area, _, name = finding.rule.partition("/")
            sure = unlisted.placed.kind != OLDER and name in REFUSED and name not in _MAY_COME
            finding.severity = "error" if sure and area == launch.engine.replace(".", "") else "warning"
    return findings


_OF_NO_RELEASE = frozenset(("unknown-option", "unknown-json-key", "unknown-env"))
"""What no known release has."""
_NOT_YET = frozenset(("option-not-yet", "env-not-yet"))
"""What only later releases have, where nothing names the release and only the program's old name bounds it: options went and
came again, as --mmproj of llama.cpp did."""


def _may_be_of_old(finding: Finding, names: frozenset[str]) -> bool:
    """Whether a release before all known ones may have had a name: no known name is spelled much like it."""
    if finding.rule.rpartition("/")[2] not in names:
        return False
    edits = finding.fix.edits if finding.fix is not None else []  # to the name that was meant
    return all(edit.text.replace("_", "-") == edit.span.text.replace("_", "-") for edit in edits)


def _of_release(launch: Launch, unlisted: Unlisted, settings: Settings) -> Finding:
    """The finding on a release that servelint does not know."""
    kind, near = unlisted.placed.kind, unlisted.placed.near
    span = launch.release.span if unlisted.how != "settings" else None
    message = f"{unlisted.fact(launch.engine)}; it is {unlisted.assumption}"
    advice = f"did you mean {near[0]}?" if kind == NEVER else ""
    found = own_rules.finding(UNKNOWN_RELEASE, span or _verb(launch), message, advice, settings)
    found.launch, found.label, found.confidence = launch, "not known", "medium"
    found.release, found.release_from = near[0], unlisted.how
    if kind != NEVER and found.severity == OWN[UNKNOWN_RELEASE].severity:
        found.severity = "info"
    return found


def rules_for(launch: Launch, settings: Settings, configs: list[Config]) -> list[Rule]:
    """The selected rules whose condition may hold for a launch: the options and variables that each needs are written.

    What is not known of the model and the GPU counts as there.
    """
    index = _selected(launch.engine, settings)
    there = _there(launch, configs, index) | {"model.", "gpu."}
    found = index.candidates((), there)
    return [rule for rule in found if any(ranges.contains(rule.bounds, config.key) for config in configs)]


def _selected(engine: str, settings: Settings) -> RuleIndex:
    """An engine's rules that settings select, as they set them; indexed once for all settings that only name a profile."""
    own = settings.rules or settings.rule_settings or settings.selections
    return _indexed(engine, settings if own else _OF_PROFILE[settings.profile])


_OF_PROFILE = {profile: Settings(profile=profile) for profile in PROFILES}


@lru_cache(maxsize=256)
def _indexed(engine: str, settings: Settings) -> RuleIndex:
    """The index of an engine's rules. Settings are compared as objects, which do not change."""
    book = [rule for rule in every(settings.rules) if rule.engine in (engine, ANY)] if settings.rules else rules_of(engine)
    return RuleIndex([rule.changed(settings.of_rule(rule.id)) for rule in book if settings.wants(rule.id, rule.profile)])


_ASK_FOR_THE_MODEL = {"tensor-parallel-size", "tp", "tp-size", "num-shard", "speculative-config", "kv-cache-dtype"}
"""Options beside which a condition is set on models that no family claims: their published sizes, the end of their names."""


def _there(launch: Launch, configs: list[Config], index: RuleIndex) -> set[str]:
    """What a launch has, by the names of Rule.needs: options, keys, variables, a known model, a known GPU."""
    readings = list({id(config.reading.first): config.reading for config in configs}.values())
    found = {name.partition(".")[0] for reading in readings for name in reading.arguments.settings}
    if ENGINES[launch.engine].option_variables:
        found |= {name for config in configs for name in config.by_variable}
    for option in found & index.keys.keys():
        for keys in [reading.keys(option) for reading in readings]:
            found.update(*[names for key, names in index.keys[option].items() if keys is None or key in keys])
    found |= {"env." + name for name in launch.env}
    if configs[-1].family is not None or (configs[-1].reading.model is not None and found & _ASK_FOR_THE_MODEL):
        found.add("model.")
    container = launch.container
    of_container = container is not None and (container.gpus or "gpu_product" in container.settings)
    if of_container or launch.gpu or launch.gpu_count or "CUDA_VISIBLE_DEVICES" in launch.env:
        found.add("gpu.")
    return found


def _of_a_server(rule: Rule, config: Config) -> bool:
    """Whether a rule is about a server, and the launch is an engine that Python code makes."""
    made = config.made
    if made is None:
        return False
    unused = made.lacks | ENGINES[config.launch.engine].server_options
    return rule.about == "server" or not unused.isdisjoint(operands(rule.when))


def _of_plan(index: RuleIndex, launch: Launch, planned: Config, releases: Releases, there: set[str]) -> list[Finding]:
    """What the memory plan over all releases that may start a launch says: not each release has known arithmetic."""
    rules = [rule for rule in index.that_may_hold((planned.key,), there, planned) if rule.check in OF_THE_PLAN]
    found = [(rule, _holds(rule, [planned])) for rule in rules]
    return [_finding(rule, launch, planned, releases, fields) for rule, fields in found if fields is not None]


def _of_replaced(index: RuleIndex, launch: Launch, configs: list[Config], releases: Releases, found: set[str]) -> list[Finding]:
    """What the rules of one JSON object say of those that a later object replaces, without the rules in `found`."""
    named = [name for name in ENGINES[launch.engine].object_rules if name in index.by_id and name not in found]
    each = [config.replaced() for config in configs] if named else []
    findings: dict[str, Finding] = {}
    for alike in zip(*each, strict=False):
        for rule in [index.by_id[name] for name in named]:
            inside = rule.id not in findings and all(ranges.contains(rule.bounds, config.key) for config in alike)
            fields = _holds(rule, [*alike]) if inside else None
            if fields is not None:
                findings[rule.id] = _finding(rule, launch, alike[-1], releases, fields)
    return list(findings.values())


def _declared_name(word: Word) -> str:
    """The name of an option as launchers declare theirs."""
    return word.text.flat.partition("=")[0].lstrip("-").replace("_", "-")


def _of_parser(
    index: RuleIndex, launch: Launch, configs: list[Config], releases: Releases, others: list[Finding]
) -> list[Finding]:
    """Violations that every release of a launch shares, as findings of the rules in rules/catalog/.

    Args:
        index: the rules.
        launch: the launch.
        configs: the launch under each release.
        releases: the releases.
        others: findings of other rules, which replace a violation that says less.
    """
    last = {(one.rule, one.span): one for one in violations(configs[-1])}
    each = [{(one.rule, one.span) for one in found} for found in (verdicts(configs[:-1]) if last else ())]
    shared = [one for key, one in last.items() if all(key in more for more in each)]
    fork = may_be_a_fork(launch) and not (of_source(launch) and releases.exact)  # of which settings name the release
    if fork or (releases.unlisted is not None and releases.unlisted.fork):
        unsure = OF_FORKS if launch.release.release is None else NEW_IN_FORKS
        left_out = [one.span for one in shared if one.refused and (one.rule in unsure or one.new)]
        launch.unsure = [span for span in left_out if span is not None]
        shared = [one for one in shared if one.rule not in unsure and not one.new]
    elif may_be_between(launch) and releases.how is None:
        left_out = [one.span for one in shared if one.refused and one.rule in OF_BUILDS and not _is_misspelt(one)]
        launch.unsure = [span for span in left_out if span is not None]
        shared = [one.as_warning() if one.rule in OF_BUILDS else one for one in shared if one.span not in launch.unsure]
    if launch.launcher:  # a program that has options of its own, of which not all are known
        every = [{one.word: one for one in config.reading.arguments.every} for config in configs]
        theirs = ENGINES[launch.engine].launchers[launch.launcher]
        strange = [word for word in every[-1] if all(word in more and more[word].option is None for more in every)]
        strange = [word for word in strange if _declared_name(word) not in {*theirs.own, *theirs.same}]
        reported = {one.span for one in shared}
        launch.unsure += [span for word in strange if (span := head_of(word)) is not None and span not in reported]
    if releases.rolling or (releases.unlisted is not None and not releases.exact):
        said = releases.rolling and _follows_releases(launch)
        shared = [one.unless_newer() if one.new else one for one in shared if not one.new or (said and one.refused)]
    elif not releases.exact:
        shared = [one.unless_newer() if one.new else one for one in shared]
    if not releases.exact:
        shared = _of_one_build(shared, launch)
    if not releases.rolling:
        shared = [one for one in shared if one.rule != "option-came-and-went"]
    shared = _each_once(shared, others, configs[-1])
    variables = {name for finding in others for name in operands(index.by_id[finding.rule].when) if name.startswith("env.")}
    found = [
        _violated(index.parser[one.rule], one, configs[-1], releases)
        for one in shared
        if one.rule in index.parser
        and "env." + one.variable not in variables
        and not any(_covers(finding, one) for finding in others)
    ]
    if found and releases.known and not releases.exact and not releases.rolling and releases.unlisted is None:
        _name_span(found, launch, configs[-1], releases)
    return found


_OF_A_BUILD = 3
"""How many options that no release has are taken for those of one build: so many mistakes are less likely."""


def _of_one_build(found: list[Violation], launch: Launch) -> list[Violation]:
    """The violations with one for all options that no known release has, where there are several: a build may have them."""
    several = [one for one in found if one.rule == "unknown-option" and one.new and one.span is not None]
    if len(several) < _OF_A_BUILD:
        return found
    first, *rest = several
    whole = copy(first)
    whole.related = [*first.related, *[Related(one.span, "nor this one") for one in rest if one.span is not None]]
    whole.message = f"{first.message}, as for {len(rest)} more options of this launch"
    own = f"{launch.engine}=RELEASE+own"
    whole.advice = f"correct the names, or delete them; for a build of your own that has them, give --engine-version {own}"
    return [whole if one is first else one for one in found if one is first or one not in rest]


def _follows_releases(launch: Launch) -> bool:
    """Whether a launch runs on the newest published release, not on the newest build of a development branch."""
    claim = launch.release
    tag = claim.span.text if claim.span is not None and claim.how == "image" else ""
    return not ENGINES[launch.engine].numbered_builds and (not tag or tag.startswith("latest"))


_LIFE = r" (?:was removed in|exists from) "
"""Messages that name the release beside another one."""


def _name_span(found: list[Finding], launch: Launch, judged: Config, releases: Releases) -> None:
    """Name the releases that an unpinned launch may run on, not the last of them, which is the one that it was judged as."""
    engine = ENGINE_NAMES[launch.engine]
    name, affected = spanned(launch, releases)
    judged_as = re.escape(f"{engine} {judged.shown}") + r"(?!\.?\w)"
    latest = _newest_tabled(launch.engine, judged.catalog)  # lacks what no known release has
    lasting = f"{engine} {latest or judged.shown}"
    for finding in found:
        if finding.message.endswith(UNLESS_NEWER):
            finding.message = re.sub(judged_as, lasting, finding.message)
            continue
        if re.search(_LIFE, finding.message) is None:
            finding.message = re.sub(judged_as, name, finding.message)
        finding.affected = finding.affected or affected


def _newest_tabled(engine: str, catalog: Catalog | None) -> str | None:
    """The newest release of an engine of which there is a table, published or a build; None if there is none."""
    if catalog is None:
        return newest(engine)
    return next((one for one in reversed(known_releases(engine)) if catalog.index(one) is not None), catalog.releases[-1])


def _is_misspelt(violation: Violation) -> bool:
    """Whether a word that no known build takes is a long option with a wrong letter or one dash, and not of another build."""
    changes = violation.change.replace if violation.change is not None else []
    key = violation.rule == "unknown-option"  # which a file may have without its dashes
    return any(
        abs(len(text) - len(span.text)) <= 2
        if span.text.startswith("--") or (key and text[:1] not in ("", "-"))
        else text == f"-{span.text}" and "-" in span.text[1:]
        for span, text in changes or ()
    )


def _each_once(shared: list[Violation], others: list[Finding], config: Config) -> list[Violation]:
    """The violations without misspelt values of which another one, or a finding, says that they are refused.

    Such a finding takes over what is meant instead.
    """
    found: list[Violation] = []
    for one in shared:
        if one.rule != "misspelt-value":
            found.append(one)
            continue
        refused = [finding for finding in others if finding.span == one.span and finding.rule.endswith("-unknown")]
        for finding in refused:
            finding.advice = one.advice
            finding.fix = finding.fix or fix_of(one.change, config, safe=False, title=one.title)
        if not refused and not any(other.span == one.span and other.refused for other in shared):
            found.append(one)
    return found


def _breaks_alone(findings: list[Finding]) -> list[Finding]:
    """The findings without those of a parser for another model, where the same parser breaks on this model's tokenizer.

    The error takes over the parser that fits.
    """
    kept: list[Finding] = []
    broken = [one for one in findings if one.rule.endswith("-parser-without-tokens")]
    for one in findings:
        errors = [error for error in broken if error.span == one.span and one.rule.endswith("-parser-of-another-model")]
        for error in errors:
            error.advice, error.fix = one.advice, error.fix or one.fix
        kept += [] if errors else [one]
    return kept


def _name_the_parser(findings: list[Finding], configs: list[Config]) -> None:
    """Name the parser that reads what the model writes, where the release has none by the name that is given."""
    for finding in findings:
        option = finding.rule.partition("/")[2].removesuffix("-unknown")
        if option in ("tool-call-parser", "reasoning-parser") and finding.rule.endswith("-unknown"):
            from servelint.judge.checks.models import fitting_parser

            fits = {fitting_parser(config, option) for config in configs}
            if len(fits) == 1 and None not in fits:
                finding.advice = f"write {fits.pop()}, the parser for this model"


def _removed_later(
    index: RuleIndex, launch: Launch, configs: list[Config], releases: Releases, others: list[Finding]
) -> list[Finding]:
    """What a launch loses with a newer release: the newest if none is pinned, else the first of the next minor series.

    Such a finding is not a claim about the release that the launch runs on.
    """
    rule = index.parser.get("removed-later")
    catalog = configs[-1].catalog
    latest = _newest_tabled(launch.engine, catalog)
    if rule is None or latest is None or releases.rolling or launch.fragment or releases.unlisted is not None:
        return []
    if not releases.exact and (may_be_a_fork(launch) or (launch.unsure and may_be_between(launch))):
        return []
    after = next_minor_release(launch.engine, releases.known[-1]) if releases.exact else latest
    if after is None or (releases.exact and not _loses(configs[-1], after)):
        return []
    known = {config.release: config for config in configs}
    each = [violations(known.get(one) or configs[-1].under(one)) for one in dict.fromkeys((after, latest))]
    last = each[-1]
    still = {(one.rule, one.span) for one in last}
    found = {finding.span for finding in others if finding.severity != "info"}
    # a rule may point at the value of a variable that is named here
    named = {name for name, one in launch.env.items() if one.value is not None and one.value.span() in found}
    gone = [one for one in each[0] if one.rule in _TAKEN_AWAY and not one.new and (one.rule, one.span) in still]
    if not releases.exact:
        # what any of the releases takes that may run it, the newest does not
        gone += [one for one in last if latest not in known and one.refused and one.rule not in _TAKEN_AWAY]
        gone += _back_at_last(launch, last)
    if not newest(launch.engine):  # not every build is known: what none takes may be another program's
        gone = [one for one in gone if not one.new and _taken_before(one, launch, catalog)]
    # what repairs it under the newer release may not exist in this one
    gone = [one for one in gone if one.span not in found and not _is_of(one, named)]
    losses = [_violated(rule, one.without_fix(), configs[-1], releases) for one in gone]
    for loss in losses:
        loss.release = loss.release or latest
    return losses


def _is_of(violation: Violation, names: set[str]) -> bool:
    """Whether a violation points at the name of one of some variables."""
    return violation.span is not None and violation.span.text.partition("=")[0] in names


def _taken_before(violation: Violation, launch: Launch, catalog: Catalog | None) -> bool:
    """Whether an earlier release takes what the newest refuses."""
    for release in catalog.releases[-2::-1] if catalog is not None else ():
        if (violation.rule, violation.span) not in {
            (one.rule, one.span) for one in violations(configs_of(launch, [release])[0])
        }:
            return True
    return False


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
    if not index.container or launch.fragment or config.made is not None:
        return []
    found = container.violations(config, {name: rule.options for name, rule in index.container.items()})
    return [_violated(index.container[one.rule], one, config, releases) for one in found if one.rule in index.container]


def _covers(finding: Finding, violation: Violation) -> bool:
    """Whether a finding at the same place says as much: only one with that impact covers a refused start.

    No finding about a model says that the server does not read it.
    """
    if violation.span is None or not _inside(finding.span, violation.span) or finding.impact == "security":
        return False
    if violation.rule == "ignored-model":
        return False
    return not violation.refused or finding.impact == "crash-at-start"


def _violated(rule: Rule, violation: Violation, config: Config, releases: Releases) -> Finding:
    launch = config.launch
    span = violation.span if violation.span is not None else _verb(launch)
    related = list(violation.related)
    claim = launch.release.span
    if claim is not None and launch.release.release is not None:
        related.append(Related(claim, release_name(launch, releases)))
    return Finding(
        rule=rule.id,
        severity="warning" if violation.mild and rule.severity == "error" else rule.severity,
        confidence=rule.confidence,
        impact=rule.impact,
        message=singular(violation.message),
        advice=singular(violation.advice),
        span=span,
        label=violation.label,
        related=[place for place in related if place.span != span],
        fix=fix_of(violation.change, config, safe=violation.safe, title=violation.title or violation.advice),
        evidence=rule.evidence,
        launch=launch,
        release=releases.known[-1] if releases.exact or releases.rolling or releases.unlisted is not None else None,
        release_from=releases.how,
        affected=rule.versions,
    )


def _holds(rule: Rule, configs: list[Config]) -> dict[str, Any] | None:
    """The extra fields of a rule's message if the rule is certainly true on every release; None if it is not."""
    fields: dict[str, Any] = {}
    for config in configs:
        if rule.holds(config) is not True:
            return None
        if rule.exempts is not None and rule.exempts(config) is not False:
            return None
        found = _fields(rule, config)
        if found is None:
            return None
        fields = found
    return fields


def _fields(rule: Rule, config: Config) -> dict[str, Any] | None:
    """The values that a rule's texts print, and the text of its case; None if one is unknown, no case or the check not true."""
    fields = rule.printed(rule.shows, config)
    if fields is not None and rule.cases:
        case = rule.case_of(config)
        kept = {"release": "{release}"}  # it is named where all releases are known
        fields = {**fields, "case": _filled(case[0], config, {**case[1], **kept})} if case is not None else None
    if fields is not None and rule.check is not None:
        found = run_check(rule.check, config)
        return {**fields, **found} if found is not None else None
    return fields


def _asks_for_the_model(rule: Rule) -> bool:
    """Whether a rule may hold because of what the model is."""
    return rule.check is not None or any(name.startswith(("model.", "draft.", "effective.")) for name in operands(rule.when))


_BUGS = ("wrong-output", "crash-at-runtime")
"""Impacts of what the engine does wrong, which another release may do right, not of what it refuses to do."""


def _finding(rule: Rule, launch: Launch, config: Config, releases: Releases, fields: dict[str, Any]) -> Finding:
    fields["release"] = release_name(config.launch, releases)
    if "case" in fields:
        fields["case"] = fields["case"].replace("{release}", fields["release"])

    def fill(text: str) -> str:
        return _filled(text, config, fields)

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
            related.append(Related(place, fill(rule.labels.get(other, "with this"))))
    # of two places, the inner one is more exact
    related = [place for place in related if not any(one is not place and _inside(one.span, place.span) for one in related)]
    site = config.operand(name).site if name else None
    if site is not None and not _inside(span, launch.site) and (site.source is not span.source or site.line != span.line):
        related.append(Related(site, "used here"))
    claim = launch.release.span
    if claim is not None and launch.release.release is not None:
        affected = f"{release_name(launch, releases)}; affected: {ranges.describe(rule.versions)}"
        related.append(Related(claim, affected))

    fix: Fix | None = fix_for(rule.fix, config, rule.at, fill) if rule.fix is not None else None
    may_be_mended = not releases.exact and rule.impact in _BUGS and ranges.is_open(rule.bounds)
    guessed = config.family is not None and config.family.inferred and _asks_for_the_model(rule)
    mild = guessed or (may_be_mended and rule.severity == rule.written["severity"] == "error")
    return Finding(
        rule=rule.id,
        severity="warning" if mild and rule.severity == "error" else rule.severity,
        confidence=rule.confidence,
        impact=rule.impact_on(config.key),
        message=singular(fill(rule.message)) + ("; the model is inferred from its path or served name" if guessed else ""),
        advice=singular(fill(rule.advice)),
        span=span,
        label=fill(rule.labels.get(name, "")),
        related=related,
        fix=fix,
        evidence=rule.evidence,
        launch=launch,
        release=releases.known[-1] if releases.exact or releases.rolling or releases.unlisted is not None else None,
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


def _filled(text: str, config: Config, fields: dict[str, Any]) -> str:
    """A rule's text with what its placeholders stand for."""
    return PLACEHOLDER.sub(lambda match: _shown(match.group(1), match.group(2) is not None, config, fields), text)


def _shown(name: str, grouped: bool, config: Config, fields: dict[str, Any]) -> str:
    """What a placeholder of a rule's text stands for."""
    if name in fields:
        return shown(fields[name], grouped)
    operand = config.operand(name)
    return shown(operand.value, grouped) if grouped and operand.value is not None else operand.shown
