"""Violations in environment variables: those that nothing in the release reads, and values that it cannot convert."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.launch import Launch, Variable
from servelint.core.secrets import masked_value
from servelint.core.text import TracedText
from servelint.engines import ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import Catalog
from servelint.engines.conversions import Refused, convert
from servelint.engines.registry import derived
from servelint.fixes.change import Change, name_span
from servelint.judge.parser.repairs import Replacement, in_place_of, setting_named
from servelint.judge.parser.values import takes
from servelint.judge.parser.view import ReleaseView, listed, similar
from servelint.judge.parser.violation import Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from servelint.engines.catalog import Option
    from servelint.judge.parser.view import Life


@derived
def _prefixes(engine: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The prefixes of an engine's own variables, and those of the other engines."""
    closed = [one for one in ENGINES.values() if one.variables_closed]
    record = ENGINES[engine]
    own = record.variables if record.variables_closed else record.closed_variables
    return own, tuple([prefix for one in closed if one.id != engine for prefix in one.variables])


def violations(view: ReleaseView) -> list[Violation]:
    """The violations in the variables of a launch: names that the release does not read, and values that it cannot read."""
    prefixes, others = _prefixes(view.engine)
    misspelt = _misspelt_prefixes(view, prefixes) if view.config.launch.container is not None else []
    env = [(name, variable) for name, variable in view.config.launch.env.items() if name.startswith((*prefixes, *others))]
    if not env:
        return misspelt + value_violations(view)
    # what a script exports may be for another engine that it starts
    for_others = [(one[0], one) for one in env if one[0].startswith(others) and view.config.launch.container is not None]
    own = [(one[0], one) for one in env if one[0].startswith(prefixes)]
    return misspelt + view.each(for_others, _foreign) + view.each(own, _variable) + value_violations(view)


_PREFIX_ALIKE = 0.85
_SHORTEST_PREFIX = 5
"""VLM_ is a name of its own, beside VLLM_"""


def _misspelt_prefixes(view: ReleaseView, prefixes: tuple[str, ...]) -> list[Violation]:
    """The variables of a container that have the name of one of the engine's but for a slip in its prefix: OLLAM_KEEP_ALIVE."""
    found: list[Violation] = []
    known = view.catalog.variables()
    for name, variable in view.config.launch.env.items():
        for prefix in prefixes:
            head = "_".join(name.split("_")[: prefix.count("_")]) + "_"
            meant = prefix + name[len(head) :]
            if (
                len(head) > _SHORTEST_PREFIX
                and head != prefix
                and view.has_now(known.get(meant))
                and similar(head, (prefix,), _PREFIX_ALIKE)
                and not _is_passed_on(view, variable)
            ):
                advice = f"delete it: {meant} is set already" if meant in view.config.launch.env else f"did you mean {meant}?"
                message = f"nothing in {view.release} reads {name}"
                found.append(Violation("unknown-env", name_span(variable), message, advice, "not read", variable=name))
    return found


def _is_mentioned(view: ReleaseView, name: str) -> bool:
    """Whether the release names a variable without reading it."""
    return view.has_now(view.catalog.names("mentioned-variables").get(name))


def _foreign(view: ReleaseView, named: tuple[str, Variable]) -> list[Violation]:
    """A variable that only another engine reads."""
    name, variable = named
    if name in view.catalog.variables() or _is_mentioned(view, name):
        return []
    other = next(one for one in ENGINES.values() if one.variables_closed and name.startswith(one.variables))
    catalog = catalogs.load(other.id)
    if catalog is None or name not in catalog.variables():
        return []
    if view.record.alone_since and not view.at_least(view.record.alone_since):
        return []
    return [
        Violation(
            "env-of-other-engine",
            name_span(variable),
            f"{name} is a variable of {other.name}; nothing in {view.release} reads it",
            "delete it",
            "not read",
            variable=name,
            change=Change(unset=name),
            title=f"delete {name}",
            safe=True,
        )
    ]


def _variable(view: ReleaseView, named: tuple[str, Variable]) -> list[Violation]:
    """A variable that the release does not read, or that it deprecates."""
    found = None if _is_mentioned(view, named[0]) else _unread(view, *named)
    return [found] if found is not None else []


def _is_own_image(view: ReleaseView) -> bool:
    """Whether the launch runs in the engine's own image, which has no package beside the engine."""
    container = view.config.launch.container
    own = view.record.images[0].repository
    return container is not None and container.image is not None and container.image.flat.startswith(own)


def _option_of(view: ReleaseView, name: str) -> tuple[str, Option] | None:
    """The option that a variable is named for: VLLM_HOST is meant as --host, and is not VLLM_HOST_IP written wrong."""
    record = view.record
    prefix = next((one for one in (*record.closed_variables, *record.variables) if name.startswith(one)), "")
    spelling = name[len(prefix) :].lower().replace("_", "-") if prefix else ""
    for dashes in ("--", "-") if record.option_variables else ("--",):
        option = view.find(dashes + spelling) if spelling.strip("-") else None
        if option is not None:
            return dashes + spelling, option
    return None


def _variable_of(view: ReleaseView, name: str, option: str) -> str | None:
    """The variable that sets an option, in place of another one: LLAMA_ARG_N_PARALLEL for LLAMA_ARG_PARALLEL."""
    if not view.record.option_variables:
        return None
    negates, known = view.record.negating_variables, view.catalog.variables()
    negated = bool(negates) and name.startswith(negates)
    for one in _variables_read(view.catalog, view.index):
        run = view.run_of(known[one])
        if run is not None and run[2].get("option") == option and (bool(negates) and one.startswith(negates)) is negated:
            return one
    return None


_STARTS = re.compile(r"[ \t]*ExecStart=[-@:+!|]*")
"""What stands in front of a program that a unit of systemd starts without a shell."""


def _runs_alone(launch: Launch) -> bool:
    """Whether nothing but the engine reads the variables: the image or a unit starts it, and no script."""
    site = launch.verb[0].site if launch.verb else None
    if site is None:
        return bool(launch.verb)
    begin = site.source.text.rfind("\n", 0, site.start) + 1
    return _STARTS.fullmatch(site.source.text, begin, site.start) is not None


def _says_removed(body: object) -> bool:
    """Whether a release reads a variable only to say that it has been removed."""
    notice = body.get("deprecated") if isinstance(body, dict) else None
    return isinstance(notice, str) and " has been removed" in notice


def _unread(view: ReleaseView, name: str, variable: Variable) -> Violation | None:
    place = name_span(variable)
    known = view.catalog.variables()
    runs = known.get(name)
    old, new = view.record.renamed_variables
    if old and name.startswith(old):
        renamed = known.get(old + "*")
        if runs is None and renamed is not None:
            return None  # read under the new name, and judged there by the engine itself
        if view.has_now(renamed) and view.has_now(known.get(new + name[len(old) :])):
            return None  # read under the new name, although the release has nothing of the old one itself
    if runs is None:
        named = _option_of(view, name)
        sets = _variable_of(view, name, named[1].name) if named is not None else None
        # what no variable of any release is like, no release's is
        close = sets or (similar(name, known) and similar(name, _variables_read(view.catalog, view.index)))
        if named is not None and view.record.option_variables:
            close = close or named[0]
        for_others = view.record.shared_variables and not _runs_alone(view.config.launch)
        if close is None and not _is_passed_on(view, variable) and _is_for_engine(view, name, variable, alone=not for_others):
            message = f"nothing in {view.release} reads {name}"
            delete = Change(unset=name)
            return Violation(
                *("unknown-env", place, message, "delete it", "not read"),
                variable=name,
                change=delete,
                title=f"delete {name}",
                new=True,
            )
        if close is None or for_others or _is_passed_on(view, variable):
            return None  # a script beside the engine may read it, or this one does
        if named is not None:
            if setting_named(view, named[0]) is not None:
                return None  # the command passes what the variable is named for
            if sets is None and not (close in known and _is_recent(view, named[0])):
                given = variable.value.value if variable.value is not None else None
                advice = f"write {named[0]} with its value" if named[1].takes_value else f"write {named[0]}"
                if not named[1].takes_value and view.record.flag_values.get(given or "") is False:
                    advice = "delete it"
                message = f"nothing in {view.release} reads {name}"
                return Violation("unknown-env", place, message, advice, "not read", variable=name)
        there = close in view.config.launch.env
        instead = in_place_of(view, name)
        advice = f"delete it: {close} is set already" if there else f"did you mean {close}?"
        return Violation(
            "unknown-env",
            place,
            f"nothing in {view.release} reads {name}",
            instead.text if instead is not None else advice,
            "not read",
            change=Change(unset=name) if there else Change(rename=(name, close)),
            title=f"delete {name}" if there else f"write {close}",
            variable=name,
        )
    runs_now = view.run_of(runs)
    if runs_now is not None:
        body = runs_now[2]
        notice = body.get("deprecated") if isinstance(body, dict) else None
        if not notice:
            return None
        instead = in_place_of(view, name)
        advice = " ".join(notice.split()) if isinstance(notice, str) else "look for its replacement"
        message = f"{name} is deprecated in {view.release}"
        return Violation("deprecated-env", place, message, instead.text if instead else advice, "deprecated", variable=name)
    if name.startswith(view.record.plugin_variables) and not _is_own_image(view):
        return None  # the package that reads it now may be installed
    life = view.life([run for run in runs if not _says_removed(run[2])])
    instead = in_place_of(view, name)
    text = instead.text if instead is not None else ""
    if instead is not None and instead.option is not None and not _takes(view, instead.option, variable.value):
        text = f"delete it: {instead.option} replaces it, and does not accept this value"
    elif instead is not None and instead.option is not None and variable.value is not None and variable.value.known:
        text = f"write {instead.option} {masked_value(instead.option, variable.value.flat)}"
    current = _renamed(view, name, runs, life) if instead is None else None
    if current is not None:
        there = current in view.config.launch.env
        text = f"delete it: {current} is set already" if there else f"write {current}"
    gone = life.before is not None and life.after is None and (instead is None or instead.delete) and current is None
    return Violation(
        "removed-env" if life.before is not None else "env-not-yet",
        place,
        f"nothing in {view.release} reads {name}: it {life.written(view.name)}",
        text if text and life.before is not None else f"delete it, or use {life.use(view.name)}",
        "not read",
        variable=name,
        change=Change(unset=name) if gone else _as_option(view, instead, variable),
        title=f"delete {name}" if gone or instead is None else text,
        safe=gone,
    )


def _is_recent(view: ReleaseView, spelling: str) -> bool:
    """Whether the launch may be of a release from before an option, which its file does not say."""
    return view.config.launch.release.release is None and view.catalog.spelled(spelling)[0][0] > 0


def _renamed(view: ReleaseView, name: str, runs: Sequence[Sequence[Any]], life: Life) -> str | None:
    """The variable that now sets the option which a removed one has set; None if none does, or an earlier one did as well."""
    body = next((run[2] for run in runs if run[1] == life.before), None)
    option = view.find("--" + body["option"]) if body is not None and "option" in body else None
    return _variable_of(view, name, option.name) if option is not None and life.after is None else None


def _is_passed_on(view: ReleaseView, variable: Variable) -> bool:
    """Whether the script that starts the engine puts the variable's value into its words."""
    span = variable.value.span() if variable.value is not None else None
    words = view.config.launch.argv if span is not None else []
    return any(span in (piece.span, piece.origin) for word in words for piece in word.text.pieces)


def _is_for_engine(view: ReleaseView, name: str, variable: Variable, *, alone: bool) -> bool:
    """Whether a variable that is like none of the engine's can be for nothing but the engine.

    alone: whether nothing but the engine runs where it is set.
    """
    launch, place = view.config.launch, name_span(variable)
    if place is None or place.source is not launch.source or launch.source.text.count(name) > 1:
        return False  # another program of the file may read it
    if name.startswith(view.record.closed_variables):
        return True
    shared = re.search(r":\s*\*\w", launch.source.text) is not None  # services may share it by an alias
    return view.record.shared_variables and alone and not shared and _is_own_image(view)


def _as_option(view: ReleaseView, instead: Replacement | None, variable: Variable) -> Change | None:
    """The option that takes a variable's place, with its value."""
    option, value = instead.option if instead is not None else None, variable.value
    if option is None or value is None or not value.known or setting_named(view, option) is not None:
        return None
    if not _takes(view, option, value):
        return Change(unset=variable.name)
    return Change(unset=variable.name, option=(option, value.flat))


def _takes(view: ReleaseView, spelling: str, value: TracedText | None) -> bool:
    """Whether the release may take a value of a variable for an option."""
    option = view.find(spelling)
    return option is None or value is None or not value.known or takes(view, option, value.flat)


@lru_cache(maxsize=256)
def _variables_read(catalog: Catalog, index: int) -> tuple[str, ...]:
    return tuple([one for one, runs in catalog.variables().items() if any(run[0] <= index <= run[1] for run in runs)])


# -- values


_INTEGER = r"\s*[-+]?\d+(?:_\d+)*\s*"
_WHOLE, _SWITCH, _TRUE = "a whole number", "1 or 0", "true or 1"
_GO_SWITCH = "true or false"
_GO_VALUES = {
    _GO_SWITCH: re.compile(r"1|t|T|TRUE|true|True|0|f|F|FALSE|false|False|"),
    "a whole number that is not negative": re.compile(r"(?a)\d*"),
    "a duration such as 10m or 24h": re.compile(r"(?a)|[-+]?(?:\d+|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|ms|s|m|h))+)"),
}
"""What Go's ParseBool, ParseUint and ParseDuration take, the last with a number of seconds beside it."""
_MEANT = {"true": "1", "yes": "1", "on": "1", "y": "1", "t": "1", "enable": "1", "enabled": "1"}
_MEANT |= {"false": "0", "no": "0", "off": "0", "n": "0", "f": "0", "disable": "0", "disabled": "0"}
_NOT_READ_AS_TRUE = frozenset(("on", "t", "enable", "enabled"))
"""Words for "true" that a reader of `true or 1` does not know; what it does not know is false, or the default."""


def value_violations(view: ReleaseView) -> list[Violation]:
    """The violations in the values of variables, for releases whose way of reading them the catalog has."""
    if view.record.option_variables:
        return _values_of_options(view)
    since = view.record.values_read_since
    if not since or not view.at_least(since):
        return []
    return view.each([(one[0], one) for one in view.config.launch.env.items()], _of_value)


def _of_value(view: ReleaseView, named: tuple[str, Variable]) -> list[Violation]:
    name, variable = named
    run, text = view.run_of(view.catalog.variables().get(name)), variable.value
    if run is None or text is None or not text.value or not isinstance(run[2], dict):
        return []
    found = _value(view, name, text, variable, run[2])
    return [found] if found is not None else []


def _value(view: ReleaseView, name: str, text: TracedText, variable: Variable, body: dict[str, Any]) -> Violation | None:
    """A value that raises an error when the engine reads it, or that it ignores for the default."""
    record = view.record
    if name in record.value_names:
        return _named(view, name, text, variable)
    wanted = record.value_kinds.get(body.get(record.value_kind, ""))
    if wanted is None or _reads(text.flat, wanted):
        return None
    meant = _MEANT.get(text.flat.strip().lower()) if wanted == _SWITCH else None
    if wanted == _GO_SWITCH:
        off = text.flat.strip("\"' ").lower() in ("off", "no", "n", "disable", "disabled")
        message = f"{name}={text.flat} is read as true by {view.release}: any other text counts as true"
        return Violation(
            "ignored-env-value",
            text.span() or variable.site,
            message,
            "write false" if off else "write true or false",
            "read as true",
            variable=name,
        )
    if record.values_refused:
        message = f"{name}={text.flat} is not read as {wanted}: {view.release} fails with ValueError after loading"
    else:
        message = f"{name}={text.flat} is not read as {wanted} by {view.release}, which ignores it"
    return Violation(
        "unreadable-env-value" if record.values_refused else "ignored-env-value",
        text.span() or variable.site,
        message,
        f"write {meant or wanted}",
        f"not {wanted}",
        variable=name,
    )


def _values_of_options(view: ReleaseView) -> list[Violation]:
    """The violations in variables that set options: the parser reads their values as those of the options."""
    arguments, known = view.config.reading.arguments, view.catalog.variables()
    found: list[Violation] = []
    for name, variable in view.config.launch.env.items():
        run = view.run_of(known.get(name))
        option = view.catalog.table(view.index).get(run[2]["option"]) if run is not None and "option" in run[2] else None
        text = variable.value
        if option is None or text is None or not text.known or not arguments.complete or option.name in arguments.settings:
            continue
        if not option.takes_value and view.record.numbers_converted:
            continue  # is_truthy in common/arg.cpp reads more words for a switch; builds before it ignore what they do not know
        choices = option.choices if option.takes_value else ["true", "false"]
        advice, label = "", ""
        if choices is not None and text.flat not in choices:
            lowered = text.flat.strip().lower()
            boolean = _MEANT.get(lowered, lowered) if "true" in choices else ""
            meant = {"1": "true", "0": "false"}.get(boolean) or similar(text.flat, choices)
            advice = f"did you mean {meant}?" if meant else f"choose from {listed(choices)}"
            label = "not a choice"
        elif choices is None:
            try:
                convert(view.engine, option.types, text.flat)
            except Refused as refused:
                advice, label = f"write {refused}", f"not {refused}"
        if advice:
            advice = advice if text.flat else "delete the variable, or give it a value: an empty one is read as well"
            message = f'"{text.flat}" is not a valid value for {name} in {view.release}'
            place = text.span() if text.flat else None
            found.append(Violation("refused-env-value", place or variable.site, message, advice, label, variable=name))
    return found


def _named(view: ReleaseView, name: str, text: TracedText, variable: Variable) -> Violation | None:
    """A value that must be a name of the release, and is not."""
    names = view.names(view.record.value_names[name])
    if not names or text.flat in names:
        return None
    close = similar(text.flat, names)
    message = f'"{text.flat}" is not a valid value for {name}: {view.release} fails with ValueError'
    advice = f"did you mean {close}?" if close else f"choose from {listed(names)}"
    return Violation("unreadable-env-value", text.span() or variable.site, message, advice, "no such name", variable=name)


def _reads(text: str, wanted: str) -> bool:
    if wanted == _TRUE:
        return text.strip().lower() not in _NOT_READ_AS_TRUE
    if wanted in _GO_VALUES:
        return _GO_VALUES[wanted].fullmatch(text.strip().strip("\"'")) is not None
    if wanted in (_WHOLE, _SWITCH):
        return re.fullmatch(_INTEGER, text) is not None
    try:
        float(text)
    except ValueError:
        return False
    return True
