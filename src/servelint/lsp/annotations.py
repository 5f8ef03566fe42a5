"""What an editor shows around a text: a lens above each launch, notes within it, and the outline."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from servelint.core.finding import SEVERITIES
from servelint.core.launch import Launch, Word
from servelint.core.secrets import without
from servelint.core.source import Source, Span
from servelint.engines import ENGINES
from servelint.filters.masking import secrets_of
from servelint.judge.start import MEMORY_RULES
from servelint.lsp import cursor
from servelint.lsp.analysis import Analysis
from servelint.lsp.launch_view import LaunchView, briefly
from servelint.lsp.memory_hover import names_gpu, plan_of
from servelint.memory import computed_defaults
from servelint.memory.plan import MemoryPlan

# -- lenses


_VERDICTS = {"fits": "fits", "tight": "tight", "refused": "does not fit", "oom-risk": "may run out of memory"}
_PLAIN = ("gpu-memory-utilization", "kv-cache-dtype", "block-size", "page-size")
"""Options whose default is a literal in the release's source, with which the engine starts."""
_EFFECTIVE = {"enable-prefix-caching": "effective.prefix-caching", "async-scheduling": "effective.async-scheduling"}
"""Options whose default depends on others -> what the engine makes of them."""
_SHOWN_AT_MOST = 60


@dataclass(slots=True, eq=False)
class Lens:
    """A line above a launch. span: the launch's first line."""

    title: str
    span: Span


def lenses(analysis: Analysis) -> list[Lens]:
    """A lens for each launch in a text: its release, how many findings it has, whether it fits its GPU."""
    found: list[Lens] = []
    for launch in analysis.launches:
        if launch.site.source is not analysis.source or launch.site.start >= launch.site.end:
            continue
        counts = Counter(finding.severity for finding in analysis.findings if finding.launch is launch)
        parts = [briefly(launch, analysis.settings), _verdict(counts)]
        if not launch.fragment and names_gpu(launch, analysis.settings):
            plan = plan_of(LaunchView(launch, analysis.settings), analysis.settings)
            parts += [_memory(plan)] if plan is not None else []
        found.append(Lens(" \u00b7 ".join(parts), first_line(launch.site)))
    return found


def _verdict(counts: Counter[str]) -> str:
    parts = [f"{counts[one]} {_plural(one, counts[one])}" for one in reversed(SEVERITIES) if counts[one]]
    return ", ".join(parts) or "nothing found"


def _plural(severity: str, count: int) -> str:
    return severity if count == 1 or severity == "info" else severity + "s"


def _memory(plan: MemoryPlan) -> str:
    if plan.findings and not any(one.rule.partition("/")[2] in MEMORY_RULES for one in plan.findings):
        return "does not start"
    verdict = f"{_VERDICTS[plan.verdict]} on {plan.gpu}"
    if plan.verdict in ("fits", "tight") and plan.max_concurrency is not None and plan.max_model_len:
        return f"{verdict} ({plan.max_concurrency:.1f} requests of {plan.max_model_len:,} tokens)"
    return verdict


# -- notes


@dataclass(slots=True, eq=False)
class Hint:
    """A note at an offset of a text. tooltip: more of it;  kind: "release" or "defaults"."""

    offset: int
    text: str
    tooltip: str
    kind: str


def hints(analysis: Analysis, start: int = 0, end: int | None = None) -> list[Hint]:
    """Notes between two offsets of a text, in its order: the release of a launch where the text does not name it, and defaults.

    Only what is known for certain of one release is shown.
    """
    source = analysis.source
    last = len(source.text) if end is None else end
    found: list[Hint] = []
    for launch in analysis.launches:
        site = launch.site
        if site.source is not source or site.end < start or (site.start > last and launch.image is None):
            continue
        view = LaunchView(launch, analysis.settings)
        release = _release(view, source)
        defaults = _defaults(view, analysis, source)
        found += [one for one in (release, defaults) if one is not None and start <= one.offset <= last]
    return sorted(found, key=lambda one: one.offset)


def _release(view: LaunchView, source: Source) -> Hint | None:
    """The release, if the text does not name it."""
    releases, launch = view.releases, view.launch
    if not releases.known or (releases.exact and releases.how in ("image", "pip")):
        return None
    image = launch.image.extent() if launch.image is not None else None
    verb = [word.site for word in launch.verb if word.site is not None and word.site.source is source]
    offset = image.end if image is not None and image.source is source else verb[-1].end if verb else None
    if offset is None:
        return None
    if releases.unlisted is not None:
        return Hint(offset, f"{view.engine} {releases.unlisted.written}", releases.unlisted.assumption, "release")
    if releases.exact:
        return Hint(offset, f"{view.engine} {view.release}", "named by the settings", "release")
    if releases.rolling:
        return Hint(offset, f"{view.engine} {view.release}", "the newest release that is known: the tag moves", "release")
    first = releases.known[0]
    text = f"{view.engine} {first} to {view.release}" if first != view.release else f"{view.engine} {first}"
    return Hint(offset, text, "no release is pinned: all that accept these options", "release")


def _defaults(view: LaunchView, analysis: Analysis, source: Source) -> Hint | None:
    """What the engine starts with for options that are not written, on the launch's first line."""
    launch = view.launch
    if launch.fragment or not (view.releases.exact or view.releases.rolling) or not view.config.reading.arguments.complete:
        return None
    values = _values(view, analysis)
    if not values:
        return None
    shown = [f"{name} {str(value).lower() if isinstance(value, bool) else value}" for name, value in values.items()]
    offset = _end_of_first_line(launch.site, source)
    return Hint(offset, ", ".join(shown), f"defaults of {view.engine} {view.release} for this launch", "defaults")


def _values(view: LaunchView, analysis: Analysis) -> dict[str, str | float | bool]:
    config = view.config
    found: dict[str, str | float | bool] = {}
    computed = ENGINES[view.launch.engine].computed_defaults
    if computed and names_gpu(view.launch, analysis.settings) and plan_of(view, analysis.settings) is not None:
        found.update(computed_defaults(config))
    for name in _PLAIN:
        option = view.option("--" + name)
        if option is not None and option.default is not None and config.operand(name).present is False:
            found[name] = option.default
    for name, fact in _EFFECTIVE.items():
        value = config.operand(fact).value
        if config.operand(name).present is False and isinstance(value, bool):
            found[name] = value
    return found


def _end_of_first_line(site: Span, source: Source) -> int:
    line = source.position(site.start)[0]
    return source.line_starts[line - 1] + len(source.line_text(line))


# -- the outline


@dataclass(slots=True, eq=False)
class Symbol:
    """An entry of the outline.

    Attributes:
        name, detail: What the outline shows.
        kind: "launch", "option" or "variable".
        span: All of it;  selection: the part that names it.
    """

    name: str
    detail: str
    kind: str
    span: Span
    selection: Span
    children: list[Symbol] = field(default_factory=list)


def symbols(analysis: Analysis) -> list[Symbol]:
    """The launches in a text, in its order, with their options."""
    found: list[Symbol] = []
    for launch in analysis.launches:
        site = launch.site
        if site.source is not analysis.source or site.start >= site.end:
            continue
        one = Symbol(title(launch), briefly(launch, analysis.settings), "launch", site, first_line(site))
        one.children = sorted(_children(launch, analysis.source), key=lambda child: child.span.start)
        found.append(one)
    return sorted(found, key=lambda one: one.span.start)


def title(launch: Launch) -> str:
    """The name of a launch: its place in the file, else the words that start it."""
    if launch.name:
        return launch.name
    words = [word.shown for word in launch.verb]
    if words:
        words[0] = words[0].rpartition("/")[2]
    model = next((word for word in launch.argv[:1] if not word.text.flat.startswith("-") and not word.many), None)
    return " ".join([*words, *([model.shown] if model is not None else [])]) or launch.engine


def first_line(span: Span) -> Span:
    """The first line of a span, without white space at its end."""
    text = span.text.partition("\n")[0].rstrip()
    return Span(span.source, span.start, span.start + len(text)) if text else span


def _children(launch: Launch, source: Source) -> list[Symbol]:
    """The options within the launch's own characters, with masks for values that are secrets."""
    hidden = secrets_of([launch])
    found: list[Symbol] = []
    for setting in cursor.config_of(launch, None).reading.arguments.every:
        name = _place(setting.word, launch, source)
        if name is None:
            continue
        places = [place for word in setting.words if (place := _place(word, launch, source)) is not None]
        span = Span(source, min(place.start for place in places), max(place.end for place in places))
        shown = " ".join([word.shown for word in setting.values]) if setting.values else ""
        if setting.value is not None and setting.value_word is setting.word:
            shown = setting.value.shown
        shown = without(" ".join(shown.split()), hidden)
        detail = shown if len(shown) <= _SHOWN_AT_MOST else shown[: _SHOWN_AT_MOST - 1] + "\u2026"
        found.append(Symbol(setting.spelling, detail, "option", span, name))
    return found


def _place(word: Word, launch: Launch, source: Source) -> Span | None:
    site = word.site
    inside = site is not None and site.source is source and launch.site.start <= site.start and site.end <= launch.site.end
    return site if inside else None
