"""What an editor shows of what the pointer is on: what it is in the release of its launch, how long it has been, what is known
to go wrong with it. Markdown, a screenful at most; what nobody knows is not said.
"""

from __future__ import annotations

from servelint.core.source import Span
from servelint.core.text import HOLE
from servelint.engines.catalog import Option
from servelint.files.directives import SIGN
from servelint.judge.parser.wording import listed
from servelint.lsp import cursor
from servelint.lsp.analysis import Analysis
from servelint.lsp.cursor import Cursor
from servelint.lsp.facts import LOOKED_UP, METHOD, Here
from servelint.lsp.listing import long_name
from servelint.lsp.markup import code
from servelint.lsp.memory import memory_lines
from servelint.lsp.problems import problems, told
from servelint.report import life

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_CHOICES_AT_MOST = 24


class Hover:
    """markdown: what to show;  span: the characters that it is about"""

    __slots__ = ("markdown", "span")

    def __init__(self, markdown: str, span: Span) -> None:
        self.markdown = markdown
        self.span = span


def hover(analysis: Analysis, offset: int) -> Hover | None:
    """What is known of what stands at an offset; None where nothing is that a launch has."""
    source = analysis.source
    if SIGN in source.text:
        from servelint.lsp import remarks

        if remarks.is_remark(source, offset):
            return remarks.hover_remark(analysis, offset)
    found = cursor.at(source, analysis.launches, offset, analysis.settings.engine_versions)
    if found is not None:
        here = Here(found.launch, analysis.settings)
        lines = _TOLD[found.kind](found, here, analysis)
        if lines:
            return Hover("\n".join(lines), found.span)
    launch = cursor.start_of(source, analysis.launches, offset)
    line = source.position(offset)[0]
    start, text = source.line_starts[line - 1], source.line_text(line)
    span = Span(source, start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
    if launch is None or not span.start <= offset <= span.end:
        return None
    return Hover("\n".join(_launch(Here(launch, analysis.settings), analysis)), span)


# -- options


def _option(found: Cursor, here: Here, analysis: Analysis) -> list[str]:
    spelling, runs = _spelled(found, here)
    if here.catalog is None:
        return []
    if spelling is None:
        return _unknown(found, here, analysis)
    lines = [f"**{code(spelling)}** · {here.shown}", ""]
    option = _declared(found, here)
    if option is None:
        lines.append("No option of this release.")
    else:
        lines.append(_takes(option, here, spelling) + ".")
    lines += _lasting([(first, last) for first, last, _ in runs], here)
    if option is not None and option.deprecated:
        lines += ["", f"Deprecated: {' '.join(option.deprecated.split())}"]
    instead = life.instead(here.catalog, spelling.lstrip("-"), runs[-1][1]) if option is None else []
    lines += instead
    return [*lines, *problems(found, here, analysis, [found.name])]


def _unknown(found: Cursor, here: Here, analysis: Analysis) -> list[str]:
    """An option that no release has."""
    name = found.setting.spelling if found.setting is not None else found.name
    if here.catalog is None or not name.startswith("--") or HOLE in name:
        return []
    close = life.near(here.catalog, name)
    lines = [f"**{code(name)}** · {here.shown}", "", "No option of any release that servelint knows."]
    lines += ["", f"Is {code(close)} meant?"] if close is not None else []
    return [*lines, *problems(found, here, analysis, [])]


def _spelled(found: Cursor, here: Here) -> tuple[str | None, list[tuple[int, int, Option]]]:
    """The option as some release spells it, with its life."""
    setting = found.setting
    spellings = [setting.spelling.partition(".")[0]] if setting is not None else [found.name]
    if setting is not None and setting.option is not None:
        spellings += setting.option.names
    catalog = here.catalog
    for spelling in spellings:
        runs = catalog.spelled(spelling) if catalog is not None else []
        if runs:
            return spelling, runs
    return None, []


def _declared(found: Cursor, here: Here) -> Option | None:
    """The option in the release; where another one told the words apart, as this one declares it."""
    spelling, _ = _spelled(found, here)
    if spelling is None or here.catalog is None:
        return None
    return here.catalog.table(here.index).find(spelling)


def _takes(option: Option, here: Here, spelling: str) -> str:
    """What an option takes, and since when it has been so if the releases that the launch may run on differ."""
    said = life.takes(option, spelling, most=_CHOICES_AT_MOST)
    if option.choices is None and option.takes_value and not option.refuses and here.choices(option):
        said = said.replace("text", f"one of {listed(here.choices(option), _CHOICES_AT_MOST)}", 1)
    said = said[:1].upper() + said[1:]
    if here.catalog is None or not _differs(option, here, spelling):
        return said
    return f"{said} (in {here.catalog.releases[here.index]}; not the same in all of these releases)"


def _differs(option: Option, here: Here, spelling: str) -> bool:
    first, last = here.span
    runs = here.catalog.spelled(spelling) if here.catalog is not None else []
    return any(
        run[0] <= last and first <= run[1] and life.takes(run[2], spelling) != life.takes(option, spelling) for run in runs
    )


def _lasting(runs: list[tuple[int, int]], here: Here) -> list[str]:
    return ["", life.lasting(runs, here.catalog)] if here.catalog is not None and runs else []


# -- values


def _value(found: Cursor, here: Here, analysis: Analysis) -> list[str]:
    option = _declared(found, here)
    value = found.text.value if found.text is not None else None
    if option is None or here.catalog is None:
        return []
    if value is None or not value:
        return _option(found, here, analysis)
    spelling, _ = _spelled(found, here)
    lines = _chosen(f"{spelling}", value, here.choices(option), _value_runs(option, value, here), here)
    if not lines:
        return _option(found, here, analysis)
    return [*lines, *problems(found, here, analysis, [found.name], near=True)]


def _value_runs(option: Option, value: str, here: Here) -> list[tuple[int, int]]:
    """The releases that have a value of an option."""
    catalog = here.catalog
    if catalog is None:
        return []
    kind = LOOKED_UP.get(option.name)
    named = catalog.names(kind).get(value) if kind is not None else None
    if named:
        return [(run[0], run[1]) for run in named]
    return [(first, last) for first, last, one in catalog.spelled(option.names[0]) if value in _texts(one.choices)]


def _texts(choices: Sequence[Any] | None) -> list[str]:
    return [str(one) for one in choices or ()]


def _chosen(name: str, value: str, choices: list[str], runs: list[tuple[int, int]], here: Here) -> list[str]:
    """A value that is one of several names; nothing where the names are not known."""
    if not choices:
        return []
    lines = [f"**{code(value)}** of {code(name)} · {here.shown}", ""]
    taken = value in choices
    lines.append(
        "One of its values." if taken else f"No value of it in this release: one of {listed(choices, _CHOICES_AT_MOST)}."
    )
    return [*lines, *_lasting(runs, here)]


# -- keys of JSON options


def _key(found: Cursor, here: Here, analysis: Analysis) -> list[str]:
    option = _declared(found, here)
    name = ".".join(found.path)
    if option is None or not option.json or not name:
        return []
    keys = here.keys(option, found.path[:-1])
    runs = keys.runs.get(_written(found.path[-1], keys.dashes)) if keys is not None else None
    if keys is None:
        return []
    body = keys.get(found.path[-1])
    lines = [f"**{code(name)}** of {code(long_name(option))} · {here.shown}", ""]
    if body is None:
        what = "refuses the object for it" if keys.extra == "reject" else "ignores it"
        lines.append(f"No key of this release, which {what}.")
        if not runs:
            return [*lines, *problems(found, here, analysis, [f"{found.name}.{name}"])]
    else:
        said = life.field(body, _CHOICES_AT_MOST)
        lines.append(said[:1].upper() + said[1:] + ".")
    if len(found.path) == 1 or runs:
        lines += _lasting([(run[0], run[1]) for run in runs or ()], here)
    return [*lines, *problems(found, here, analysis, [f"{found.name}.{name}"])]


def _written(key: str, dashes: bool) -> str:
    return key.replace("-", "_") if dashes else key


def _field_value(found: Cursor, here: Here, analysis: Analysis) -> list[str]:
    option = _declared(found, here)
    value = found.text.value if found.text is not None else None
    keys = here.keys(option, found.path[:-1]) if option is not None and found.path else None
    body = keys.get(found.path[-1]) if keys is not None else None
    choices = [str(one) for one in (body or {}).get("choices") or () if one is not None]
    if not choices or not value or keys is None or option is None or here.catalog is None:
        return _key(found, here, analysis)
    runs = [
        (run[0], run[1])
        for run in keys.runs.get(_written(found.path[-1], keys.dashes), ())
        if value in _texts(run[2].get("choices"))
    ]
    method = (found.name, found.path) == METHOD
    named = here.catalog.names("speculative-methods").get(value) if method else None
    if named:
        runs = [(run[0], run[1]) for run in named]
    lines = _chosen(".".join(found.path), value, choices, runs, here)
    alias = here.names("speculative-methods").get(value, {}).get("alias_of") if method else None
    if alias:
        lines[2] = f"Another name of {code(alias)}, which the release makes of it."
    return [*lines, *problems(found, here, analysis, [f"{found.name}.{'.'.join(found.path)}"], near=True)]


# -- what surrounds the command


def _variable(found: Cursor, here: Here, analysis: Analysis) -> list[str]:
    runs = here.catalog.variables().get(found.name) if here.catalog is not None else None
    if not runs or here.catalog is None:
        return []
    now = next((body for first, last, body in runs if first <= here.index <= last), None)
    lines = [f"**{code(found.name)}** · {here.shown}", ""]
    if now is None:
        lines.append("Nothing reads it in this release.")
    else:
        said = life.reads(now)
        lines.append(said[:1].upper() + said[1:] + ".")
    lines += _lasting([(run[0], run[1]) for run in runs], here)
    lines += life.instead(here.catalog, found.name, runs[-1][1]) if now is None else []
    return [*lines, *problems(found, here, analysis, ["env." + found.name])]


def _image(found: Cursor, here: Here, analysis: Analysis) -> list[str]:
    claim = here.launch.release
    if claim.how != "image" and found.kind == cursor.TAG:
        lines = [
            f"**{code(found.name)}** · {here.engine}",
            "",
            "No release of the engine that servelint can tell from this tag.",
        ]
        return [*lines, *problems(found, here, analysis, [])]
    lines = [f"**{code(found.name)}** · {here.shown}"]
    catalog = here.catalog
    if catalog is not None and here.releases.exact and here.release is not None:
        latest = catalog.releases[-1]
        known = catalog.index(here.release)
        if known is None:
            lines += ["", f"The catalog has no {here.release}; it is judged by the releases around it."]
        elif known < len(catalog.releases) - 1:
            newer = len(catalog.releases) - 1 - known
            later = f"{newer} {'release' if newer == 1 else 'releases'} later"
            lines += ["", f"The newest {here.engine} that servelint knows is {latest}: {later}."]
        else:
            lines += ["", f"The newest {here.engine} that servelint knows."]
    return [*lines, *problems(found, here, analysis, [])]


def _model(found: Cursor, here: Here, analysis: Analysis) -> list[str]:
    config = here.config
    family, model = config.family, config.reading.model
    value = found.text.value if found.text is not None else None
    if value is None or model is None or model.value != value:
        return []
    lines = [f"**{code(value)}** · {here.shown}"]
    if family is not None and family.architecture is not None:
        known = [f"Architecture {family.architecture}"]
        known += [f"in {here.engine} since {config.since}"] if config.since is not None else []
        facts = family.facts
        known += [
            words
            for fact, words in (("moe", "mixture of experts"), ("hybrid", "hybrid attention"), ("multimodal", "multimodal"))
            if facts.get(fact) is True
        ]
        known += [f"a context of {facts['context']:,} tokens"] if isinstance(facts.get("context"), int) else []
        lines += ["", ", ".join(known) + "."]
    else:
        lines += ["", "Not a model that servelint knows by its name."]
    return [*lines, *memory_lines(here, analysis.settings), *problems(found, here, analysis, ["model"])]


def _launch(here: Here, analysis: Analysis) -> list[str]:
    launch = here.launch
    name = f" · {code(launch.name)}" if launch.name else ""
    lines = [f"**{here.shown}**{name}"]
    lines += memory_lines(here, analysis.settings)
    own = [one for one in analysis.findings if one.launch is launch]
    return [*lines, *told([], own, here)]


_TOLD = {
    cursor.OPTION: _option,
    cursor.VALUE: _value,
    cursor.KEY: _key,
    cursor.FIELD: _field_value,
    cursor.VARIABLE: _variable,
    cursor.CONTENT: _variable,
    cursor.IMAGE: _image,
    cursor.TAG: _image,
    cursor.MODEL: _model,
}
