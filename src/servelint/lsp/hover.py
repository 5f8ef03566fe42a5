"""What an editor shows of what the pointer is on: what it is in the release of its launch, since when, and known problems.

Markdown, a screenful at most. What is not known is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from servelint import hardware
from servelint.core.finding import SEVERITIES, Finding
from servelint.core.own_rules import OWN
from servelint.core.source import Span
from servelint.core.text import HOLE
from servelint.core.trust import RuleFolder
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.catalog import Option
from servelint.files.directives import ignores
from servelint.judge.parser.view import listed
from servelint.lsp import cursor
from servelint.lsp.analysis import Analysis
from servelint.lsp.cursor import Cursor
from servelint.lsp.launch_view import LOOKED_UP, METHOD, LaunchView, rules_on
from servelint.lsp.memory_hover import memory_lines
from servelint.report import reference
from servelint.report.clean import code, link, plain
from servelint.report.places import address
from servelint.rules.pages import impacts
from servelint.rules.ranges import describe
from servelint.rules.rule import Rule

_CHOICES_AT_MOST = 24
_AT_MOST = 5
_GPU_NAMED = re.compile(r"gpu[ \t]*=[ \t]*(?P<name>[\w.-]+)")


@dataclass(slots=True, eq=False)
class Hover:
    """What to show, and the characters that it is about."""

    markdown: str
    span: Span


def hover(analysis: Analysis, offset: int) -> Hover | None:
    """What is known of what stands at an offset of a text; None if no launch stands there."""
    source = analysis.source
    if cursor.directive(source, offset) is not None:
        return _directive(analysis, offset)
    if (found := cursor.at(source, analysis.launches, offset, analysis.settings.engine_versions)) is not None:
        view = LaunchView(found.launch, analysis.settings)
        if lines := _LINES[found.kind](found, view, analysis):
            return Hover("\n".join(lines), found.span)
    launch = cursor.start_of(source, analysis.launches, offset)
    line = source.position(offset)[0]
    start, text = source.line_starts[line - 1], source.line_text(line)
    span = Span(source, start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
    if launch is None or not span.start <= offset <= span.end:
        return None
    return Hover("\n".join(_launch(LaunchView(launch, analysis.settings), analysis)), span)


# -- options


def _option(found: Cursor, view: LaunchView, analysis: Analysis) -> list[str]:
    spelling, runs = _spelled(found, view)
    if view.catalog is None:
        return []
    if spelling is None:
        return _unknown(found, view, analysis)
    lines = [f"**{code(spelling)}** · {view.shown}", ""]
    option = view.option(spelling)
    what = reference.purpose_of(view.catalog, runs[-1][2], spelling)
    lines += [plain(what), ""] if what is not None else []
    lines.append("This release has no such option." if option is None else _takes(option, view, spelling) + ".")
    lines += _lasting(runs, view)
    if option is None:
        lines += reference.instead(view.catalog, spelling.lstrip("-"), runs[-1][1])
    elif option.deprecated:
        lines += ["", f"Deprecated: {' '.join(option.deprecated.split())}"]
    if what is None and (page := ENGINES[view.launch.engine].documentation):
        lines += ["", link(f"documentation of {ENGINES[view.launch.engine].name}", page)]
    return [*lines, *_problems(found, view, analysis, [found.name])]


def _unknown(found: Cursor, view: LaunchView, analysis: Analysis) -> list[str]:
    """Lines for an option that no release has."""
    name = found.setting.spelling if found.setting is not None else found.name
    if view.catalog is None or not name.startswith("--") or HOLE in name:
        return []
    close = reference.near(view.catalog, name)
    lines = [f"**{code(name)}** · {view.shown}", "", "No known release has this option."]
    lines += ["", f"Did you mean {code(close)}?"] if close is not None else []
    return [*lines, *_problems(found, view, analysis, [])]


def _spelled(found: Cursor, view: LaunchView) -> tuple[str | None, list[tuple[int, int, Option]]]:
    """The option as some release spells it, with its reference."""
    setting = found.setting
    spellings = [setting.spelling.partition(".")[0]] if setting is not None else [found.name]
    if setting is not None and setting.option is not None:
        spellings += setting.option.names
    catalog = view.catalog
    for spelling in spellings:
        runs = catalog.spelled(spelling) if catalog is not None else []
        if runs:
            return spelling, runs
    return None, []


def _declared(found: Cursor, view: LaunchView) -> Option | None:
    spelling, _ = _spelled(found, view)
    return view.option(spelling) if spelling is not None else None


def _takes(option: Option, view: LaunchView, spelling: str) -> str:
    """What an option takes; a note if the releases that the launch may run on differ in it."""
    text = reference.takes(option, spelling, most=_CHOICES_AT_MOST)
    if option.choices is None and option.takes_value and not option.refuses and view.choices(option):
        kind = next((one for one in ("text", "a value") if text.startswith(one)), "")  # an empty text may be the default
        text = f"one of {listed(view.choices(option), _CHOICES_AT_MOST)}{text[len(kind) :]}" if kind else text
    text = text[:1].upper() + text[1:]
    if view.catalog is None or not _differs(option, view, spelling):
        return text
    return f"{text} (in {view.catalog.releases[view.index]}; not the same in all of these releases)"


def _differs(option: Option, view: LaunchView, spelling: str) -> bool:
    first, last = view.span
    runs = view.catalog.spelled(spelling) if view.catalog is not None else []
    return any(
        run[0] <= last and first <= run[1] and reference.takes(run[2], spelling) != reference.takes(option, spelling)
        for run in runs
    )


def _lasting(runs: Sequence[tuple[Any, ...]], view: LaunchView) -> list[str]:
    """A line on since when and until when there is something. A run begins with its first and last release."""
    return (
        ["", reference.lasting([(run[0], run[1]) for run in runs], view.catalog)] if view.catalog is not None and runs else []
    )


# -- values


def _value(found: Cursor, view: LaunchView, analysis: Analysis) -> list[str]:
    option = _declared(found, view)
    value = found.text.value if found.text is not None else None
    if option is None or view.catalog is None:
        return []
    if value is None or not value:
        return _option(found, view, analysis)
    spelling, _ = _spelled(found, view)
    lines = _chosen(f"{spelling}", value, view.choices(option), _value_runs(option, value, view), view)
    if not lines:
        return _option(found, view, analysis)
    return [*lines, *_problems(found, view, analysis, [found.name], near=True)]


def _value_runs(option: Option, value: str, view: LaunchView) -> Sequence[tuple[Any, ...]]:
    """The releases that have a value of an option."""
    catalog = view.catalog
    if catalog is None:
        return []
    kind = LOOKED_UP.get(option.name)
    named = catalog.names(kind).get(value) if kind is not None else None
    return named or [run for run in catalog.spelled(option.names[0]) if value in _texts(run[2].choices)]


def _texts(choices: Sequence[Any] | None) -> list[str]:
    return [str(one) for one in choices or ()]


def _chosen(name: str, value: str, choices: list[str], runs: Sequence[tuple[Any, ...]], view: LaunchView) -> list[str]:
    """Lines for a value that is one of several names; none if the names are not known."""
    if not choices:
        return []
    others = f"Not a value in this release; choose from {listed(choices, _CHOICES_AT_MOST)}."
    head = [f"**{code(value)}** of {code(name)} · {view.shown}", "", "One of its values." if value in choices else others]
    return [*head, *_lasting(runs, view)]


# -- keys of JSON options


def _key(found: Cursor, view: LaunchView, analysis: Analysis) -> list[str]:
    option = _declared(found, view)
    name = ".".join(found.path)
    if option is None or not option.json or not name:
        return []
    keys = view.keys(option, found.path[:-1])
    runs = keys.runs.get(_written(found.path[-1], keys.dashes)) if keys is not None else None
    if keys is None:
        return []
    body = keys.get(found.path[-1])
    lines = [f"**{code(name)}** of {code(option.long_name)} · {view.shown}", ""]
    if body is None:
        what = "ignores it" if keys.extra == "ignore" else "refuses the object for it"
        known = keys.extra != "open" or bool(runs)
        unknown = "It is not known whether this release has the key."
        lines.append(f"This release has no such key, and {what}." if known else unknown)
        if not runs:
            return [*lines, *_problems(found, view, analysis, [f"{found.name}.{name}"])]
    else:
        text = reference.field(body, _CHOICES_AT_MOST)
        lines.append(text[:1].upper() + text[1:] + ".")
    if len(found.path) == 1 or runs:
        lines += _lasting(runs or (), view)
    return [*lines, *_problems(found, view, analysis, [f"{found.name}.{name}"])]


def _written(key: str, dashes: bool) -> str:
    return key.replace("-", "_") if dashes else key


def _field_value(found: Cursor, view: LaunchView, analysis: Analysis) -> list[str]:
    option = _declared(found, view)
    value = found.text.value if found.text is not None else None
    keys = view.keys(option, found.path[:-1]) if option is not None and found.path else None
    body = keys.get(found.path[-1]) if keys is not None else None
    choices = [str(one) for one in (body or {}).get("choices") or () if one is not None]
    if not choices or not value or keys is None or option is None or view.catalog is None:
        return _key(found, view, analysis)
    runs = keys.runs.get(_written(found.path[-1], keys.dashes), ())
    runs = [run for run in runs if value in _texts(run[2].get("choices"))]
    method = (found.name, found.path) == METHOD
    named = view.catalog.names("speculative-methods").get(value) if method else None
    lines = _chosen(".".join(found.path), value, choices, named or runs, view)
    alias = view.names("speculative-methods").get(value, {}).get("alias_of") if method else None
    if alias:
        lines[2] = f"Another name of {code(alias)}, which the release makes of it."
    return [*lines, *_problems(found, view, analysis, [f"{found.name}.{'.'.join(found.path)}"], near=True)]


# -- what surrounds the command


def _variable(found: Cursor, view: LaunchView, analysis: Analysis) -> list[str]:
    runs = view.catalog.variables().get(found.name) if view.catalog is not None else None
    if not runs or view.catalog is None:
        return []
    now = next((body for first, last, body in runs if first <= view.index <= last), None)
    lines = [f"**{code(found.name)}** · {view.shown}", ""]
    if now is None:
        lines.append("Nothing reads it in this release.")
    else:
        text = reference.reads(now)
        lines.append(text[:1].upper() + text[1:] + ".")
    lines += _lasting(runs, view)
    lines += reference.instead(view.catalog, found.name, runs[-1][1]) if now is None else []
    return [*lines, *_problems(found, view, analysis, ["env." + found.name])]


def _image(found: Cursor, view: LaunchView, analysis: Analysis) -> list[str]:
    if view.launch.release.how != "image" and found.kind == cursor.TAG:
        unknown = "servelint cannot find a release of the engine in this tag."
        lines = [f"**{code(found.name)}** · {view.engine}", "", unknown]
        return [*lines, *_problems(found, view, analysis, [])]
    lines = [f"**{code(found.name)}** · {view.shown}"]
    if (catalog := view.catalog) is not None and view.releases.exact and view.release is not None:
        latest = catalog.releases[-1]
        known = catalog.index(view.release)
        if known is None:
            lines += ["", f"The catalog does not have {view.release}; it is judged by the nearest releases."]
        elif known < len(catalog.releases) - 1:
            newer = len(catalog.releases) - 1 - known
            later = f"{newer} {'release' if newer == 1 else 'releases'} later"
            lines += ["", f"The newest {view.engine} that servelint knows is {latest}: {later}."]
        else:
            lines += ["", f"The newest {view.engine} that servelint knows."]
    return [*lines, *_problems(found, view, analysis, [])]


def _model(found: Cursor, view: LaunchView, analysis: Analysis) -> list[str]:
    config = view.config
    family, model = config.family, config.reading.model
    value = found.text.value if found.text is not None else None
    if value is None or model is None or model.value != value:
        return []
    lines = [f"**{code(value)}** · {view.shown}"]
    if family is not None and family.architecture is not None:
        known = [f"Architecture {family.architecture}"]
        known += [f"in {view.engine} since {config.since}"] if config.since is not None else []
        facts = family.facts
        known += [
            words
            for fact, words in (("moe", "mixture of experts"), ("hybrid", "hybrid attention"), ("multimodal", "multimodal"))
            if facts.get(fact) is True
        ]
        known += [f"a context of {facts['context']:,} tokens"] if isinstance(facts.get("context"), int) else []
        lines += ["", ", ".join(known) + "."]
    else:
        lines += ["", "servelint does not know a model of this name."]
    lines += _attention(view)
    return [*lines, *memory_lines(view, analysis.settings), *_problems(found, view, analysis, ["model"])]


def _attention(view: LaunchView) -> list[str]:
    """The attention backend that the release chooses on the launch's GPU."""
    backend, gpu = view.config.operand("effective.attention-backend"), view.config.operand("gpu.name").value
    if backend.value is None or backend.text is not None or gpu is None:
        return []
    return ["", f"Attention backend on {gpu}: {code(str(backend.value))}, unless --attention-backend is given."]


def _launch(view: LaunchView, analysis: Analysis) -> list[str]:
    launch = view.launch
    name = f" · {code(launch.name)}" if launch.name else ""
    lines = [f"**{view.shown}**{name}", *_attention(view), *memory_lines(view, analysis.settings)]
    own = [one for one in analysis.findings if one.launch is launch]
    return [*lines, *_listed([], own, view)]


_LINES = {
    cursor.OPTION: _option, cursor.VALUE: _value, cursor.KEY: _key, cursor.FIELD: _field_value, cursor.VARIABLE: _variable,
    cursor.CONTENT: _variable, cursor.IMAGE: _image, cursor.TAG: _image, cursor.MODEL: _model,
}  # fmt: skip


# -- known problems


def _problems(found: Cursor, view: LaunchView, analysis: Analysis, names: list[str], *, near: bool = False) -> list[str]:
    """Findings about what stands at the cursor, then the rules about it, those first whose condition may hold.

    `names` are operands of rules about it. With `near` only rules whose condition may hold count.
    """
    rules = [rule for name in names for rule in rules_on(name, view, analysis.settings)]
    ids = {rule.id for rule in rules}
    firing = [one for one in analysis.findings if one.launch is view.launch and (one.rule in ids or _touches(one, found))]
    listed_already = {one.rule for one in firing}
    if near:
        rules = [rule for rule in rules if rule.holds(view.config) is not False]
    return _listed([rule for rule in rules if rule.id not in listed_already], firing, view)


def _touches(finding: Finding, found: Cursor) -> bool:
    """Whether a finding is about what stands at the cursor; for an option or its value, about either."""
    places = [found.span]
    if found.setting is not None and found.kind in (cursor.OPTION, cursor.VALUE):
        places += [word.site for word in found.setting.words if word.site is not None]
    one = finding.span
    return any(one.source is other.source and one.start < other.end and other.start < one.end for other in places)


def _listed(rules: list[Rule], firing: list[Finding], view: LaunchView) -> list[str]:
    """Findings and rules as a list in Markdown, the worst first."""
    firing = sorted(firing, key=lambda one: -SEVERITIES.index(one.severity))
    lines = [f"- **{one.severity}** here: {plain(one.sentence)}{_link(one.evidence)}" for one in firing]
    others = sorted(rules, key=lambda rule: (rule.holds(view.config) is False, -SEVERITIES.index(rule.severity), rule.id))
    lines += [
        f"- {rule.severity}: {plain(rule.title)} ({describe(rule.versions)}), {code(rule.id)}{_link(rule.evidence)}"
        for rule in others
    ]
    if not lines:
        return []
    more = len(lines) - _AT_MOST
    head = "Found here:" if not others else "Known problems:"
    return ["", head, "", *lines[:_AT_MOST], *([f"- and {more} more"] if more > 0 else [])]


def _link(evidence: list[str]) -> str:
    """A link to the first address of a rule's evidence."""
    cited = next((url for one in evidence if (url := address(one)) is not None), None)
    return f" ({link('source', cited)})" if cited is not None else ""


# -- comments to servelint


def _directive(analysis: Analysis, offset: int) -> Hover | None:
    """A rule that a comment ignores, or the GPU that it names."""
    source = analysis.source
    for comment in ignores(source):
        for name, span in comment.patterns:
            if span.start <= offset <= span.end:
                lines = _rule(name, analysis.settings.rules)
                return Hover("\n".join(lines), span) if lines else None
    line = source.position(offset)[0]
    start = source.line_starts[line - 1]
    for found in _GPU_NAMED.finditer(source.line_text(line)):
        span = Span(source, start + found.start("name"), start + found.end("name"))
        if span.start <= offset <= span.end:
            gpu = hardware.identify(found["name"])
            lines = _gpu(gpu) if gpu is not None else []
            return Hover("\n".join(lines), span) if lines else None
    return None


def _rule(name: str, folders: tuple[str | RuleFolder, ...]) -> list[str]:
    """A rule's page; nothing for an area, or for a name that no rule has."""
    if name in OWN:
        return [f"**{plain(OWN[name].title)}** \u00b7 {code(name)}", "", plain(OWN[name].why)]
    data = reference.written(name, folders)
    if data is None:
        return []
    engine = ENGINE_NAMES.get(data["engine"], "any engine,")
    lines = [f"**{plain(data['title'])}** \u00b7 {code(name)}", ""]
    lines += [f"{data['severity']}, {impacts(data)}, {engine} {describe(str(data['versions']))}"]
    lines += ["", plain(" ".join(data["why"].split()))]
    lines += ["", f"Instead: {plain(data['advice'])}"] if data["advice"] else []
    urls = [(one["url"], one["says"]) for one in data["evidence"] if "url" in one]
    return [*lines, *(["", *[f"- {link(text, url)}" for url, text in urls]] if urls else [])]


def _gpu(gpu: hardware.Gpu) -> list[str]:
    lines = [f"**{code(gpu.name)}**"]
    memory, capability = gpu.facts.get("memory-gib"), gpu.facts.get("capability")
    known = [f"{memory:g} GiB"] if isinstance(memory, (int, float)) else []
    known += [f"compute capability {capability}"] if capability is not None else []
    return [*lines, "", ", ".join(known)] if known else []
