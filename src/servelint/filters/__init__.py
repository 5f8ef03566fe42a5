"""Filters of findings: what a check leaves out, and why.

This module holds the filter of every check, the comments in the files: `# servelint: ignore[vllm/some-rule] why` on the line of
a finding, above it, or above its launch. It also reports comments that have no effect.
"""

from __future__ import annotations

from servelint.core import own_rules
from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.own_rules import GPU_COMMENT, OWN, UNUSED_IGNORE
from servelint.core.result import Ignore, Silenced
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.core.trust import Trust
from servelint.files.directives import GpuComment, gpu_comments, ignores, speaking_for
from servelint.rules.load import every


def suppress(
    source: Source, findings: list[Finding], settings: Settings, silenced: list[Silenced] | None = None
) -> list[Finding]:
    """Return the findings that no comment silences, and a finding for each ignore that silences nothing.

    Args:
        source: the file whose launches have the findings.
        findings: its findings.
        settings: which rules are selected: an ignore of another rule is not reported.
        silenced: receives each finding that a comment covers, with the comment.
    """
    elsewhere = {id(finding.span.source): finding.span.source for finding in findings if finding.span.source is not source}
    for other in elsewhere.values():
        # whether such a comment silences anything is reported with its own file
        theirs = ignores(other)
        findings = [one for one in findings if not _silences(theirs, one, settings.trust, silenced)]
    comments = ignores(source)
    if not comments:
        return findings
    kept = [finding for finding in findings if not _silences(comments, finding, settings.trust, silenced)]
    if settings.wants(UNUSED_IGNORE) and not source.is_page:
        profiles = {**dict.fromkeys(OWN, "default"), **{rule.id: rule.profile for rule in every(settings.rules)}}
        kept += [unused for comment in comments for unused in _unused(comment, settings, profiles)]
    return kept


def _silences(comments: list[Ignore], finding: Finding, trust: Trust, silenced: list[Silenced] | None) -> bool:
    """Return whether a comment silences a finding. All of them are applied: one that repeats another is not unused."""
    found = False
    for comment in comments:
        if comment.speaks_for(finding):
            trusted = trust.believes(comment.span, comment.lines, finding)
            found = found or trusted
            if silenced is not None:
                silenced.append(Silenced(finding, comment, trusted))
    return found


def _unused(comment: Ignore, settings: Settings, profiles: dict[str, str]) -> list[Finding]:
    if not comment.patterns:
        return [
            own_rules.finding(
                UNUSED_IGNORE,
                comment.span,
                "the ignore comment names no rule",
                "write the rule's id in brackets: ignore[vllm/some-rule] why",
                settings,
            )
        ]
    found: list[Finding] = []
    for pattern, span in comment.patterns:
        if pattern in comment.used or "{" in pattern or "$" in pattern:  # a program fills the id in
            continue
        area = pattern.endswith("/*") and any(rule.startswith(pattern[:-1]) for rule in profiles)
        if pattern not in profiles and not area:
            found.append(
                own_rules.finding(
                    UNUSED_IGNORE, span, f"there is no rule {pattern}", "correct the id (servelint rules lists them)", settings
                )
            )
        elif area or settings.wants(pattern, profiles.get(pattern, "default")):
            found.append(
                own_rules.finding(
                    UNUSED_IGNORE, span, f"the ignore comment for {pattern} silences nothing", "delete it", settings
                )
            )
    return found


def gpu_comment_findings(source: Source, launches: list[Launch], settings: Settings) -> list[Finding]:
    """Return a finding for each error in the GPU comments of a file, and for each GPU comment without effect."""
    comments = gpu_comments(source)
    if not comments or source.is_page or not settings.wants(GPU_COMMENT):
        return []
    whole = [launch for launch in launches if launch.source is source and not launch.fragment]
    covered: dict[int, list[Launch]] = {}
    for launch in whole:
        for comment in speaking_for(launch):
            covered.setdefault(id(comment), []).append(launch)
    found: list[tuple[Span, str, str]] = []
    for comment in comments:
        found += comment.wrong
        if comment.gpu is None and comment.count is None:
            continue
        theirs = covered.get(id(comment), [])
        if not theirs:
            found.append((comment.span, "the comment names GPUs for no launch", _where(comment, whole)))
        elif comment.gpu is not None and (named := {_other(comment, launch) for launch in theirs}) and None not in named:
            others = " and ".join(sorted(filter(None, named)))
            found.append(
                (comment.span, f"the launch runs on {others}, not on {comment.gpu}", "delete the comment, or correct it")
            )
    return [own_rules.finding(GPU_COMMENT, span, message, advice, settings) for span, message, advice in found]


def _where(comment: GpuComment, launches: list[Launch]) -> str:
    """Return where the comment has an effect: above the launch that follows, else above the last one."""
    if not launches:
        return "delete it"
    lines = sorted({launch.line for launch in launches})
    after = next((line for line in lines if line > comment.lines[0]), lines[-1])
    return f"write it above the launch, which starts in line {after}"


def _other(comment: GpuComment, launch: Launch) -> str | None:
    """Return the GPU by which the file or a later comment overrules a comment for a launch; None if nothing does."""
    from servelint import hardware

    container = launch.container
    product = container.settings.get("gpu_product") if container is not None else None
    if product is not None and product.value is not None and not hardware.counts(comment.gpu or "", product.value):
        mine, named = hardware.identify(comment.gpu or ""), hardware.identify(product.value)
        same = mine is not None and named is not None and mine.facts == named.facts
        return None if same else product.value
    later = [one for one in speaking_for(launch) if one.gpu is not None][-1:]
    return later[0].gpu if later and later[0] is not comment and later[0].gpu != comment.gpu else None
