"""What an advice names, and what happens to a launch that follows it: advice texts as tests read them.

An advice offers ways, and each must do by itself: `write --dtype half, or delete --quantization`. A way is a verb with what it
writes or deletes, or a release to use. Brackets and what follows a semicolon explain; a release in brackets restricts what
stands before it. What is not exact ("a smaller model") is not followed, but all options and variables in it are looked up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

from servelint.core.finding import Finding
from servelint.core.launch import Launch, OpenedFile, ReleaseClaim, Variable, Word
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.argv import Setting
from servelint.engines.catalog import Catalog, Option
from servelint.engines.config import Config, configs
from servelint.engines.releases import known_releases, release_key
from servelint.fixes import apply
from servelint.fixes.change import name_span
from servelint.judge.checks import OF_THE_PLAN
from servelint.judge.judging import judge
from servelint.judge.parser import violations
from servelint.judge.parser.violation import REFUSED
from servelint.judge.releases import possible_releases
from servelint.readers import read
from servelint.rules.load import rules
from servelint.syntax.json import OBJECT

RELEASE = r"b\d{3,}|\d+\.\d+(?:\.\d+)*(?:\.post\d+|rc\d+)?"
OPTION = r"(?<![\w'-])--?[A-Za-z][\w-]*(?:\.\w[\w-]*)*"
VARIABLE = r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"
VALUE = r"""'[^']*'|"[^"]*"|\{[a-z][\w.-]*\}|[\w./:+@-]*\w"""
"""A value, or the place of one in the advice of a rule: `{largest}`."""

_ASKED = ("did you mean", "choose from")
_GOING = ("delete", "unset", "drop", "leave", "instead of", "without")
_VERBS = ("write", "use", "add", "set", "take", "name", "keep", "raise", "lower", "give", *_GOING[:4], *_ASKED)
_VERB = "|".join(_VERBS)
_WORDS = """a again alone also and any anything as at before both but by each equal every explicitly for from how if in instead
    is it less lists more no not of on or out so such than that the them then there these this times to together too up where
    which while with yourself"""
_NOT_VALUES = frozenset((*_WORDS.split(), *_VERBS))
_COUNTED = re.compile(r"one|two|three|both|all|none|either")
_NAMED = rf"(?:{OPTION}|{VARIABLE}|[a-z]+(?:_[a-z]+)+)(?:=\w+)?"
_REASON = re.compile(
    r"[:,]| (?:in)?to (?:the speculative config|the override|--hf-overrides)$"
    r"| (?:where|if|on|unless|for|which|as|so|before|to say|by|too|here|alone|of the release|in its place|instead)\b"
)
_STEP = re.compile(
    rf"(?P<option>{OPTION})|(?P<variable>{VARIABLE})=(?P<given>\{{[a-z][\w.-]*\}}|[\w.]+(?:[:/]\w[\w.]*)*)"
    r'|"(?P<key>\w+)": ?(?P<body>"[^"]*"|[\w.]+)|(?P<line>[a-z]+(?:_\w+)+): (?P<scalar>\{[a-z][\w.-]*\}|[\w.]+)'
)
_SINCE = re.compile(
    rf"(?:from|since) (?:\w+(?:\.\w+)? )?({RELEASE})|\b({RELEASE}) (?:or|and) later|^on ({RELEASE})|\bbuild ({RELEASE})"
)
_BEFORE = re.compile(rf"before (?:\w+ )?({RELEASE})|({RELEASE}) or earlier")
_RELEASES_ONLY = "use a release"
"""The verb after a way that is not exact: another way may still be a release."""
_OF_CONTAINERS = frozenset(("--gpus", "--device", "--ipc", "--shm-size", "-c"))
"""Options of a container tool or a shell, which an advice may name beside those of the engine."""
_RENAMES = frozenset(
    (
        *("removed-option", "deprecated-option", "ambiguous-option", "taken-for-another", "unknown-option", "refused-option"),
        *("option-of-other-engine", "abbreviated-option", "removed-later", "option-came-and-went"),
    )
)
"""Rules about the name of an option: the option that they advise takes its place."""


class Mention(NamedTuple):
    """An option or a variable that an advice says to write.

    Attributes:
        name: as it is written, with its dashes.
        values: the values that it may have; empty if the advice leaves the value open.
        since, before: releases that the advice restricts it to; "" for none.
    """

    name: str
    values: tuple[str, ...]
    since: str
    before: str


class Step(NamedTuple):
    """One thing to do.

    Attributes:
        going: whether something is taken out, else it is written.
        name: an option with its dashes, a variable, a key in quotes, a key of YAML with its colon, or "" for what the finding
            points at.
        value: the value to write; None for none.
    """

    going: bool
    name: str
    value: str | None = None


class Way(NamedTuple):
    """One of the ways that an advice offers.

    Attributes:
        steps: what is changed.
        verb: the verb of the advice.
        release: the release to run, "" for the same.
        since: the first release that can go this way, "" if it is not restricted.
    """

    steps: tuple[Step, ...]
    verb: str
    release: str = ""
    since: str = ""


# -- reading


def mentions(advice: str) -> Iterator[Mention]:
    """The options and variables that an advice says to write, not those that it says to delete."""
    going = False
    for part in _parts(advice):
        since, before = (next(filter(None, one.groups()), "") if one is not None else "" for one in _limits(part))
        for clause in re.split(rf"(?<![\w-])(?=(?:{_VERB}|instead of|without)\b)", part):
            verb = re.match(rf"({_VERB}|instead of|without)\b", clause)
            going = verb[1] in _GOING if verb is not None else going
            for found in re.finditer(rf"(?P<option>{OPTION})|(?P<variable>{VARIABLE})(?:=(?P<value>[\w.]+))?", clause):
                if found["option"] and not going:
                    yield Mention(found["option"], tuple(_values(clause[found.end() :])), since, before)
                elif not going:
                    yield Mention(found["variable"], (found["value"],) if found["value"] else (), since, before)


def _parts(advice: str) -> list[str]:
    """The parts of an advice within which a release restricts what is named."""
    text = re.sub(r"'\{.*?\}'", lambda found: found[0].replace(",", "\x00").replace(";", "\x01"), advice)
    text = re.sub(
        rf"((?:{OPTION}|{VARIABLE})(?: \w+)?) \((?:accepted )?(?:from )?({RELEASE})(?: and later)?[^()]*\)", r"\1 from \2", text
    )
    text = re.sub(r"\bpython -m \S+", "", re.sub(r", (where|which) ", r" \1 ", text))
    parts = re.split(r"[;()]|,(?! (?:or )?[\w.+-]+(?:,| or )\b)|\.\s", text)
    said = [part for part in parts if part.strip() and " refuses " not in part]
    return [part.replace("\x00", ",").replace("\x01", ";").strip() for part in said]


def _limits(part: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    return _SINCE.search(part), _BEFORE.search(part)


def _values(rest: str) -> Iterator[str]:
    """The values that follow the name of an option: ` fa3, flashinfer or triton`."""
    at = re.match(rf"(?:=| )({VALUE})(?!\w)", rest)
    while at is not None and at[1] not in _NOT_VALUES and not re.match("--?[A-Za-z]", at[1]):
        yield at[1].strip("'\"")
        rest = rest[at.end() :]
        at = re.match(rf"(?:, or | or |, )({VALUE})(?!\w)(?! [a-z-])", rest)


def ways(advice: str) -> list[Way]:
    """The ways that an advice offers, as far as they are exact."""
    text = re.sub(
        rf" \((?:accepted |[\w.]+ )?from ({RELEASE})\)| \((?:[\w.]+ )?({RELEASE}) (?:and|or) later\)", "\x05\\1\\2", advice
    )
    text = re.sub(r"\s*\([^()]*\)", "", text)
    text = re.sub(r" or (?:more|less|larger|smaller)\b", "", text)
    text = re.sub(rf"^(--[\w-]+ {_NUMBER}) (?:leaves|frees) .*", r"write \1", text)
    return [way for part in text.split("; ") for way in _sentence(part)]


def _sentence(sentence: str) -> Iterator[Way]:
    held = re.sub(rf"({RELEASE}) or (later|earlier)", r"\1 \2", sentence).rstrip("?").replace(", and ", " and ")
    held = re.sub(
        r"""'\{.*?\}'|"[^"]*": ?(?:"[^"]*"|[\w.]+)""", lambda one: one[0].replace(" or ", "\x02").replace(", ", "\x03"), held
    )
    verb, option = "", ""
    for part in re.split(r",? or |, ", held):
        part = part.replace("\x02", " or ").replace("\x03", ", ")
        start = re.match(rf"({_VERB})\b ?", part)
        if start is not None:
            verb, part, option = start[1], part[start.end() :], ""
        elif option and re.fullmatch(VALUE, part) and part not in _NOT_VALUES and not part.startswith("-"):
            part = f"{option} {part}"
        elif not re.fullmatch(rf'(?:{OPTION}).*|(?:{VALUE})|(?:[\w.]+ )?(?:{RELEASE}) (?:later|earlier).*|"\w+":.*', part):
            continue
        since = re.search(f"\x05({RELEASE})", part)
        way = _way(verb, re.sub(f"\x05(?:{RELEASE})", "", part)) if verb else None
        if way is None:
            # what follows belongs to it, but for a release
            verb = "" if verb not in ("use", _RELEASES_ONLY) else _RELEASES_ONLY
            continue
        option = way.steps[-1].name if way.steps and way.steps[-1].value is not None else ""
        yield way._replace(since=since[1]) if since is not None else way


def _way(verb: str, part: str) -> Way | None:
    """The way that a verb and its object are; None where the object is not exact."""
    release = re.match(rf"(?:[\w.]+ )?({RELEASE}) (?:later|earlier)", part)
    if verb == _RELEASES_ONLY and release is None:
        return None
    if release is not None:
        more = part[release.end() :]
        beside = _way("add", more.removeprefix(" with ")) if more.startswith(" with -") else None
        return Way(beside.steps if beside is not None else (), verb, release[1]) if not more or beside is not None else None
    if verb in _GOING:
        return _gone(verb, part)
    if re.match(r"one of (?:the two|them)$|the value that you want in one place$", part) and verb in ("keep", "give", "write"):
        return Way((Step(True, ""),), verb)
    if verb in ("keep", "give", "raise", "lower"):
        return None
    bound = _bound(part) if verb in ("write", "use", "set") else None
    if bound is not None:
        return Way((Step(False, "", bound),), verb)
    steps: list[Step] = []
    rest: str = part
    while (one := _STEP.match(rest)) is not None:
        rest = rest[one.end() :]
        if one["option"]:
            value = next(_values(rest), None)
            if value is not None and "..." in value:
                return None
            rest = re.sub(rf"^(?:=| )(?:{VALUE})", "", rest) if value is not None else rest
            steps.append(Step(False, one["option"], value))
        elif one["variable"]:
            steps.append(Step(False, one["variable"], one["given"]))
        elif one["key"]:
            steps.append(Step(False, f'"{one["key"]}"', one["body"]))
        else:
            steps.append(Step(False, f"{one['line']}:", one["scalar"]))
        joined = re.match(r' (?:and |with )?(?=[-"A-Z]|[a-z]+_\w+: )', rest)
        if joined is None:
            break
        rest = rest[joined.end() :]
    if steps:
        also = re.match(r" and delete it\b", rest)
        if also is not None:
            steps, rest = [Step(True, ""), *steps], rest[also.end() :]
        return Way(tuple(steps), verb) if _is_said(rest) else None
    bare = re.match(rf"({VALUE})(?!\w)", part) if verb in ("write", "use", *_ASKED) and part[:1] not in '["' else None
    if bare is None or bare[1] in _NOT_VALUES or _COUNTED.fullmatch(bare[1]) or not _is_said(part[bare.end() :]):
        return None
    if bare[1].isalpha() and bare[1].islower() and (verb == "use" or part[bare.end() :]):
        return None
    return Way((Step(False, "", bare[1].strip("'")),), verb)


_AMOUNT = r"(?:an? )?(?:whole )?(?:number|share|length|port|size|value|multiple|divisor|fraction of the GPU's memory|duration)"
_NUMBER = r"\d+(?:\.\d+)?"
_BOUNDS = (
    rf"(?:{_AMOUNT} )?(?:from )?({_NUMBER}) to {_NUMBER}",
    rf"(?:{_AMOUNT} )?(?:of )?at (?:least|most) ({_NUMBER})",
    rf"{_AMOUNT} (?:above \d+ and )?up to ({_NUMBER})",
    rf"{_AMOUNT} from ({_NUMBER}) up",
    rf"(?:a|the) (?:multiple|divisor) of ({_NUMBER})",
    rf"{_AMOUNT} such as ({_NUMBER}\w*)",
    rf"a tensor parallel size of ({_NUMBER})",
)


def _bound(part: str) -> str | None:
    """A value within the bounds that an advice names, as near to them as it can be."""
    for pattern in _BOUNDS:
        found = re.match(rf"{pattern}(?!\w)", part)
        if found is not None and _is_said(part[found.end() :]):
            return found[1]
    return "1" if part == "a whole number" else None


def _gone(verb: str, part: str) -> Way | None:
    part = part.removesuffix(" out") if verb == "leave" else part
    if re.match(
        r"(?:it|the option|the variable|the attention backend|them|one of (?:them|the two))"
        r"(?:$|,|:| (?:before|outside|unless|until|with|where|when|to|from|if)\b)",
        part,
    ):
        return Way((Step(True, ""),), verb) if " and " not in part else None
    names = re.match(rf"{_NAMED}(?: and {_NAMED})*", part)
    if names is None or not _is_said(part[names.end() :]):
        return None
    return Way(tuple(Step(True, name.partition("=")[0]) for name in names[0].split(" and ")), verb)


def _is_said(rest: str) -> bool:
    """Whether what follows an object only says why, when or where."""
    return not rest.strip() or _REASON.match(rest) is not None


# -- what it names


def wrong_names(advice: str, config: Config) -> list[str]:
    """The options, variables and values that an advice names and the release of a launch lacks, in words."""
    catalog, found = config.catalog, []
    if catalog is None or config.index is None:
        return []
    for one in mentions(advice):
        index = _index(one, catalog, config.index)
        wrong = _wrong(one, catalog, index, config) if index is not None else None
        found += [f"{catalog.releases[index or 0]}: {wrong}"] if wrong is not None else []
    return found


def _index(one: Mention, catalog: Catalog, index: int) -> int | None:
    """The release at which a mention must hold: that of the launch, or the first one that it is restricted to."""
    keys = [release_key(release) for release in catalog.releases]
    since, before = (release_key(name) if name else None for name in (one.since, one.before))
    fitting = [
        number
        for number, key in enumerate(keys)
        if key is not None and (since is None or key >= since) and (before is None or key < before)
    ]
    return index if index in fitting else fitting[0] if fitting else None


def _wrong(one: Mention, catalog: Catalog, index: int, config: Config) -> str | None:
    if not one.name.startswith("-"):
        if not one.name.startswith(ENGINES[catalog.engine].variables or ("-",)):
            return None
        lives = [*catalog.variables().get(one.name, ()), *catalog.names("mentioned-variables").get(one.name, ())]
        return None if any(run[0] <= index <= run[1] for run in lives) else f"nothing reads {one.name}"
    whole = catalog.table(index).find(one.name) is not None  # --fim-qwen-1.5b-default
    head, dot, path = (one.name, "", "") if whole else one.name.partition(".")
    head = head.replace("_", "-") if ENGINES[catalog.engine].dialect.underscores else head
    head = "-O" if re.fullmatch(r"-O\d", head) else head
    option = catalog.table(index).find(head)
    if option is None:
        launcher = ENGINES[catalog.engine].launchers.get(config.launch.launcher)
        of_launcher = launcher is not None and head.removeprefix("--") in launcher.own
        return None if of_launcher or head in _OF_CONTAINERS else f"there is no {head}"
    if dot:
        keys = catalog.keys(option.json, index) if option.json else None
        return f"{head} has no key {path}" if keys is not None and keys.get(path.partition(".")[0]) is None else None
    numbers = bool(option.types) and set(option.types) <= {"int", "float", "none"}
    for value in one.values:
        if "..." in value:
            continue  # left open
        if value.isalpha() and (numbers or not option.takes_value) and value not in ("true", "false", "on", "off", "auto"):
            continue  # the sentence goes on
        wrong = _refusal(config, catalog.releases[index], head, value)
        if wrong:
            return f"{head} does not take {value}: {wrong}"
    return None


def _refusal(config: Config, release: str, option: str, value: str) -> str:
    """What the parser of a release says of an option with a value."""
    bare = copy(config.launch)
    bare.argv, bare.env, bare.release = [_word(option), _word(value)], {}, ReleaseClaim()
    (there,) = configs(bare, [release])
    return "; ".join(one.message for one in violations(there) if one.refused and one.rule != "missing-argument")


# -- what happens to a launch


def copied(launch: Launch) -> Launch:
    """A launch to be changed, in its place among the nodes that run together."""
    new = copy(launch)
    new.argv, new.env = [*launch.argv], dict(launch.env)
    new.others, new.later = [], None
    if launch.nodes is not None:
        new.nodes = copy(launch.nodes)
        new.nodes.parts = [(new if one is launch else one, count) for one, count in launch.nodes.parts]
    return new


def followed(launch: Launch, config: Config, finding: Finding, way: Way) -> Launch | None:
    """The launch as a way leaves it; None where the launch does not show what to change."""
    if any(step.name in _OF_CONTAINERS for step in way.steps):
        return None
    new = copied(launch)
    for step in way.steps:
        done = _going(new, config, finding, step) if step.going else _written(new, config, finding, step, way.verb)
        if not done:
            return None
    return new if _content(new) != _content(launch) else None


def _content(launch: Launch) -> tuple[list[str], dict[str, str], object]:
    env = {name: one.value.shown if one.value is not None else "" for name, one in launch.env.items()}
    return [word.shown for word in launch.argv], env, launch.open


def _word(text: str) -> Word:
    return Word(TracedText.of(text))


def _inside(one: Span | None, other: Span | None) -> bool:
    if one is None or other is None or one.source is not other.source:
        return False
    return other.start <= one.start and one.end <= other.end


def _touches(one: Span | None, other: Span | None) -> bool:
    return _inside(one, other) or _inside(other, one)


def _setting_at(config: Config, finding: Finding) -> Setting | None:
    """The option that a finding points at."""
    for setting in config.reading.arguments.every:
        if any(_touches(finding.span, span) for word in setting.words for span in (word.text.span(), word.site)):
            return setting
    return None


def _variable_at(launch: Launch, finding: Finding) -> str | None:
    """The variable that a finding points at."""
    for name, variable in launch.env.items():
        spans = (name_span(variable), variable.site, variable.value.span() if variable.value is not None else None)
        if any(_touches(finding.span, span) for span in spans):
            return name
    return None


def _key_at(config: Config, finding: Finding) -> tuple[Setting, list[str]] | None:
    """The JSON option and the path of the key that a finding points at."""
    for setting in config.reading.arguments.every:
        node = config.reading.parsed(setting.name) if setting.value is not None and setting.value.flat.startswith("{") else None
        path: list[str] = []
        while node is not None and node.kind == OBJECT:
            inner = next(
                (
                    (key, value)
                    for key, (written, value) in node.members.items()
                    if _touches(finding.span, written.text.span()) or _touches(finding.span, value.text.span())
                ),
                None,
            )
            if inner is None:
                break
            path.append(inner[0])
            node = inner[1]
        if path:
            return setting, path
    return None


def _option(config: Config, spelling: str) -> Option | None:
    return (
        config.catalog.table(config.index).find(spelling) if config.catalog is not None and config.index is not None else None
    )


def _is(config: Config, setting: Setting, spelling: str) -> bool:
    """Whether a setting is an option, or a key of it, by any of its spellings."""
    option = _option(config, spelling)
    return setting.spelling == spelling or (option is not None and setting.name.partition(".")[0] == option.name)


def _drop(new: Launch, setting: Setting) -> None:
    gone = {id(word) for word in setting.words}
    new.argv = [word for word in new.argv if id(word) not in gone]


def _change_json(new: Launch, setting: Setting, path: list[str], change: Callable[[dict[str, Any]], object]) -> bool:
    """Change the object that holds the last key of a path in a JSON option; False where it cannot be changed."""
    word, value = setting.value_word, setting.value
    of_file = all(one is not word for one in new.argv)
    try:
        if of_file and isinstance(new.open, _Changed):
            whole: Any = json.loads(new.open.content)
        else:
            whole = json.loads(value.shown) if value is not None else None
    except ValueError:
        return False
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    if word is None or value is None or not isinstance(inner, dict) or change(inner) is False:
        return False
    if of_file:
        return _change_file(new, setting, json.dumps(whole))
    text = word.shown.removesuffix(value.shown) + json.dumps(whole)
    new.argv = [_word(text) if one is word else one for one in new.argv]
    return True


class _Changed:
    """Opens the files of a launch, one of them with another content."""

    def __init__(self, opens: Callable[[TracedText], OpenedFile | None], path: str, content: str) -> None:
        self.opens, self.path, self.content = opens, path, content

    def __call__(self, name: TracedText) -> OpenedFile | None:
        file = self.opens(name)
        if file is None or name.shown != self.path:
            return file
        return OpenedFile(TracedText.of(self.content), file.path, file.own, file.files)


def _change_file(new: Launch, setting: Setting, content: str) -> bool:
    """Change the YAML file that an option names: JSON is YAML too."""
    at = next((at for at, one in enumerate(new.argv[:-1]) if any(one is word for word in setting.words)), None)
    if at is None or new.open is None:
        return False
    new.open = _Changed(new.open, new.argv[at + 1].shown, content)
    return True


def _rename(old: str, name: str) -> Callable[[dict[str, Any]], object]:
    return lambda inner: inner.update({name: inner.pop(old)})


def _going(new: Launch, config: Config, finding: Finding, step: Step) -> bool:
    """Take out what a step names, or what the finding points at."""
    every, key = config.reading.arguments.every, _key_at(config, finding)
    if step.name.startswith("-"):
        found = [setting for setting in every if _is(config, setting, step.name)]
        for setting in found:
            _drop(new, setting)
        return bool(found)
    if step.name in new.env:
        del new.env[step.name]
        return True
    if step.name:
        if key is not None:
            above = [[*key[1][:depth], step.name] for depth in range(len(key[1]))]
            return any(_change_json(new, key[0], path, lambda inner: inner.pop(step.name, False)) for path in above)
        return any(_change_json(new, one, [step.name], lambda inner: inner.pop(step.name, False)) for one in every)
    at, name = _setting_at(config, finding), _variable_at(new, finding)
    if key is not None and key[0].value is not None and finding.span != key[0].value.span():
        return _change_json(new, *key, lambda inner: inner.pop(key[1][-1]))
    if at is not None:
        _drop(new, at)
        return True
    if name is not None:
        del new.env[name]
        return True
    count = len(new.argv)
    new.argv = [word for word in new.argv if not _inside(word.site, finding.span)]
    return len(new.argv) < count


def _written(new: Launch, config: Config, finding: Finding, step: Step, verb: str) -> bool:
    """Write what a step names: instead of what the finding points at, where it is the same thing."""
    if not step.name:
        return _valued(new, config, finding, step.value or "")
    if step.name.endswith(":"):
        return _lined(new, config, finding, step.name.rstrip(":"), step.value or "")
    if step.name.startswith('"'):
        return _keyed(new, config, finding, step.name.strip('"'), json.loads(step.value or "null"), verb)
    variable = _variable_at(new, finding)
    if not step.name.startswith("-"):
        if variable is not None and verb == "write":
            del new.env[variable]
        new.env[step.name] = Variable(step.name, TracedText.of(step.value or "1"), None)
        return True
    at, value = _setting_at(config, finding), step.value
    option = _option(config, step.name.partition(".")[0])
    if at is None and variable is not None and verb == "write":
        del new.env[variable]
    replaced = at is not None and (at.option is None or finding.rule.partition("/")[2] in _RENAMES)
    replaced |= at is not None and verb == "write" and at.value is not None and at.value.shown == step.value
    if value is None and (option is None or option.takes_value):
        if at is None or at.value is None or not replaced:
            return False
        value = at.value.shown  # of what it replaces
    for setting in config.reading.arguments.every:
        if _is(config, setting, step.name) or (replaced and setting is at):
            _drop(new, setting)
    new.argv += [_word(text) for text in (step.name, value) if text is not None]
    return True


def _valued(new: Launch, config: Config, finding: Finding, value: str) -> bool:
    """Write a value, or a key, instead of the one that the finding points at."""
    key, at, name = _key_at(config, finding), _setting_at(config, finding), _variable_at(new, finding)
    if key is not None:
        setting, path = key
        keys = None
        if config.catalog is not None and config.index is not None and setting.option is not None:
            keys = config.catalog.keys(setting.option.json, config.index)
        if finding.rule.endswith("-json-key") or (keys is not None and len(path) == 1 and keys.get(value) is not None):
            return _change_json(new, setting, path, _rename(path[-1], value))
        return _change_json(new, setting, path, lambda inner: inner.update({path[-1]: _scalar(value)}))
    if at is not None and at.option is None and value.startswith("-"):
        new.argv = [_word(value) if word is at.word else word for word in new.argv]
        return True
    if at is not None and at.value_word is not None and at.value is not None and len(at.values) < 2:
        text = at.value_word.shown.removesuffix(at.value.shown) + value
        new.argv = [_word(text) if one is at.value_word else one for one in new.argv]
        return True
    if name is not None and re.fullmatch(VARIABLE, value) and finding.span.text == name:
        new.env[value] = new.env.pop(name)
    elif name is not None:
        new.env[name] = Variable(name, TracedText.of(value), None)
    return name is not None


def _keyed(new: Launch, config: Config, finding: Finding, name: str, value: Any, verb: str) -> bool:
    """Write a key of the JSON option that the finding points at, or of the only one; it may be the finding's key renamed."""
    key, at = _key_at(config, finding), _setting_at(config, finding)
    if verb == "write" and key is not None and _at_path(*key) == value:
        return _change_json(new, *key, _rename(key[1][-1], name))
    every = [one for one in config.reading.arguments.every if one.value is not None]
    objects = [one for one in every if one.option is not None and one.option.json]
    setting = at if at in objects else objects[0] if len(objects) == 1 else None
    return setting is not None and _change_json(new, setting, [name], lambda inner: inner.update({name: value}))


def _lined(new: Launch, config: Config, finding: Finding, name: str, value: str) -> bool:
    """Write a line of YAML: at the top where the file has such a key there, else beside the key that the finding points at."""
    found = _key_at(config, finding)
    if found is None:
        return False
    setting, path = found
    top = None
    if config.catalog is not None and config.index is not None and setting.option is not None and setting.option.json:
        top = config.catalog.keys(setting.option.json, config.index)
    above = [] if top is not None and top.get(name) is not None else path[:-1]
    return _change_json(new, setting, [*above, name], lambda inner: inner.update({name: _scalar(value)}))


def _scalar(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _at_path(setting: Setting, path: list[str]) -> object:
    try:
        found = json.loads(setting.value.shown if setting.value is not None else "")
    except ValueError:
        return None
    for one in path:
        found = found[one]
    return found


# -- verdicts


def judged_at(launch: Launch, settings: Settings, release: str | None) -> list[Finding]:
    """What servelint says of a launch at a release; as its file names it if none is given."""
    if release is None:
        return judge(launch, settings)
    one = copied(launch)
    one.release = ReleaseClaim()
    return judge(one, settings.with_release(launch.engine, release))


def remains(before: list[Finding], after: list[Finding], finding: Finding, *, parser_only: bool = False) -> list[str]:
    """What is wrong with a launch after an advice: the finding is still there, or an error that was not.

    What fits into a GPU is left out: that an advice gives more to hold is not a fault of what it names.

    Args:
        before: the findings of the launch as it was.
        after: those of the launch that follows the advice.
        finding: the one whose advice it is.
        parser_only: whether only what the engine's parser refuses counts, as for a list of all that it takes.
    """
    had = {(one.rule, one.message) for one in before} | {(one.rule, one.span) for one in before}
    left = [f"{finding.rule} remains"] if _count(after, finding) >= _count(before, finding) else []
    for one in after:
        if one.severity != "error" or one.rule in (finding.rule, *_of_the_plan()):
            continue
        known = (one.rule, one.message) in had or (one.rule, one.span) in had
        new = not known and _count(after, one) > _count(before, one)
        if new and (not parser_only or one.rule.partition("/")[2] in REFUSED):
            left.append(f"{one.rule}: {one.message}")
    return left


def _count(findings: list[Finding], finding: Finding) -> int:
    return sum(one.rule == finding.rule for one in findings)


@lru_cache(maxsize=1)
def _of_the_plan() -> frozenset[str]:
    return frozenset(rule.id for rule in rules() if rule.check in OF_THE_PLAN)


def follow(
    launch: Launch, settings: Settings, release: str | None, before: list[Finding], finding: Finding
) -> tuple[list[str], list[tuple[str | None, Launch]]]:
    """Hold an advice against the catalog, and go each way that it offers, and its fix.

    Args:
        launch: the launch.
        settings: what it was judged by.
        release: the release that it was judged at; None for what its file names.
        before: all of its findings.
        finding: the one whose advice is followed.

    Returns:
        What is wrong with it, a sentence each; and each launch that came of it, with its release: not of guesses and lists.
    """
    there = copied(launch)
    if release is not None:
        there.release, settings = ReleaseClaim(), settings.with_release(launch.engine, release)
    config = possible_releases(there, settings)[1][-1]
    wrong, made = wrong_names(finding.advice, config), list[tuple[str | None, Launch]]()
    offered = ways(finding.advice)
    for way in offered:
        at = _first(launch.engine, way, release or config.release) or release
        new = followed(there, config, finding, way) if way.steps else there
        if new is None or (way.release and at == release):
            continue
        left = remains(before, judged_at(new, settings, at), finding, parser_only=way.verb in _ASKED)
        if way.release and f"{way.release} refuses " in finding.advice:
            left = [one for one in left if one.endswith(" remains")]
        made += [(at or config.release, new)] if way.verb not in _ASKED else []
        steps = [f"{'delete' if one.going else 'write'} {one.name} {one.value or ''}".rstrip() for one in way.steps]
        wrong += [f"{way.release or ', '.join(steps)}: {one}" for one in left]
    if finding.fix is not None:
        source = launch.source
        text = apply(source, [finding], unsafe=True).text
        fixed = [one for one in read(Source(source.path, text)).launches if one.name == launch.name]
        after = judged_at(fixed[0], settings, release) if fixed else []
        left = remains(before, after, finding, parser_only=any(way.verb in _ASKED for way in offered))
        made += [(release or config.release, one) for one in fixed[:1] if not any(way.verb in _ASKED for way in offered)]
        wrong += [f"fix: {finding.fix.title}: {one}" for one in left]
    return [f"{one} ({finding.advice})" for one in wrong], made


def _first(engine: str, way: Way, own: str | None) -> str | None:
    """The release at which a way is tried: the one that it names, or the first that can go it; None for the launch's own."""
    key, at = release_key(way.release or way.since or "0"), release_key(own or "0")
    if not (way.release or way.since) or key is None or (way.since and at is not None and at >= key):
        return None
    return next((one for one in releases_of(engine) if (release_key(one) or key) >= key), None)


def releases_of(engine: str) -> list[str]:
    """The releases of an engine's catalog."""
    catalog = catalogs.load(engine)
    return catalog.releases if catalog is not None else list(known_releases(engine))
