"""Notes within a text: the release that a launch is judged by where the text does not name it, and what the engine takes for
settings that are not written. Only what is known for certain of one release.
"""

from __future__ import annotations

from servelint.core.source import Source, Span
from servelint.engines import ENGINES
from servelint.lsp.analysis import Analysis
from servelint.lsp.facts import Here
from servelint.lsp.memory import named, names_gpu, plan_here
from servelint.memory import computed_defaults

_PLAIN = ("gpu-memory-utilization", "kv-cache-dtype", "block-size", "page-size")
"""Options whose default is what the engine starts with, where the release's source has a literal."""
_EFFECTIVE = {"enable-prefix-caching": "effective.prefix-caching", "async-scheduling": "effective.async-scheduling"}
"""Options whose default depends on others -> what the engine makes of them."""


class Hint:
    """text: what is shown at an offset, after what stands there;  tooltip: more of it;  kind: "release" or "defaults" """

    __slots__ = ("kind", "offset", "text", "tooltip")

    def __init__(self, offset: int, text: str, tooltip: str, kind: str) -> None:
        self.offset = offset
        self.text = text
        self.tooltip = tooltip
        self.kind = kind

    def __repr__(self) -> str:
        return f"Hint({self.offset} {self.text!r})"


def hints(analysis: Analysis, start: int = 0, end: int | None = None) -> list[Hint]:
    """The notes whose place is between two offsets of the text, in its order."""
    source = analysis.source
    last = len(source.text) if end is None else end
    found: list[Hint] = []
    for launch in analysis.launches:
        site = launch.site
        if site.source is not source or site.end < start or (site.start > last and launch.image is None):
            continue
        here = Here(launch, analysis.settings)
        release = _release(here, source)
        defaults = _defaults(here, analysis, source)
        found += [one for one in (release, defaults) if one is not None and start <= one.offset <= last]
    return sorted(found, key=lambda one: one.offset)


def _release(here: Here, source: Source) -> Hint | None:
    """The release, where the text itself does not name it."""
    releases, launch = here.releases, here.launch
    if not releases.known or (releases.exact and releases.how in ("image", "pip")):
        return None
    image = launch.image.extent() if launch.image is not None else None
    verb = [word.site for word in launch.verb if word.site is not None and word.site.source is source]
    offset = image.end if image is not None and image.source is source else verb[-1].end if verb else None
    if offset is None:
        return None
    if releases.exact:
        return Hint(offset, f"{here.engine} {here.release}", "named by the settings", "release")
    if releases.rolling:
        return Hint(offset, f"{here.engine} {here.release}", "the newest release that is known: the tag moves", "release")
    first = releases.known[0]
    text = f"{here.engine} {first} to {here.release}" if first != here.release else f"{here.engine} {first}"
    return Hint(offset, text, "no release is named: those that take these options", "release")


def _defaults(here: Here, analysis: Analysis, source: Source) -> Hint | None:
    """What the engine starts with where nothing is written, on the launch's first line."""
    launch = here.launch
    if launch.fragment or not (here.releases.exact or here.releases.rolling) or not here.config.reading.arguments.complete:
        return None
    values = _values(here, analysis)
    if not values:
        return None
    shown = [f"{name} {str(value).lower() if isinstance(value, bool) else value}" for name, value in values.items()]
    offset = _end_of_first_line(launch.site, source)
    return Hint(offset, ", ".join(shown), f"defaults of {here.engine} {here.release} for this launch", "defaults")


def _values(here: Here, analysis: Analysis) -> dict[str, str | float | bool]:
    config = here.config
    found: dict[str, str | float | bool] = {}
    computed = ENGINES[here.launch.engine].computed_defaults
    if computed and names_gpu(here.launch, analysis.settings) and plan_here(here, analysis.settings) is not None:
        found.update(computed_defaults(named(here, analysis.settings)))
    for name in _PLAIN:
        option = here.catalog.table(here.index).find("--" + name) if here.catalog is not None else None
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
