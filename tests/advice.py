"""What an advice names and what becomes of a launch that follows it: the reading of advice texts for tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple

from servelint.core.finding import Finding
from servelint.core.launch import Launch, ReleaseClaim, Variable, Word
from servelint.core.settings import Settings
from servelint.core.source import Span
from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES
from servelint.engines import catalog as catalogs
from servelint.engines.argv import Setting
from servelint.engines.catalog import LIST, Catalog
from servelint.engines.config import Config, configs
from servelint.engines.releases import known_releases, release_key
from servelint.fixes.change import name_span
from servelint.judge.checks.memory import OF_THE_PLAN
from servelint.judge.judging import judge
from servelint.judge.parser import violations
from servelint.rules.load import rules

RELEASE = r"b\d{3,}|\d+\.\d+(?:\.\d+)*(?:\.post\d+|rc\d+)?"
OPTION = r"(?<![\w'-])--?[A-Za-z][\w-]*(?:\.[\w]+)*"
VARIABLE = r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"
VALUE = r"""'[^']*'|"[^"]*"|[\w./:+@-]*\w"""

_VERBS = (
    "write", "use", "add", "set", "take", "name", "keep", "delete", "unset", "drop", "leave", "raise", "lower", "give", "did you mean", "choose from",
)  # fmt: skip
_GOING = frozenset(("delete", "unset", "drop", "leave"))
_STOP = frozenset(
    "a an the with for in on of to from and or where if which that it as at by than is not both alone instead times such is on "
    "more less equal together how alone lists "
    "yourself to this also up out them these this there before explicitly anything again too so but while then each any no".split()
)
_COUNTED = r"one|two|three|both|all|none|either"


class Mention(NamedTuple):
    """An option, a variable or a key that an advice tells to write.

    Attributes:
        name: as it is written, with its dashes.
        values: the values that it may have; empty if the advice leaves the value open.
        since, before: releases that the advice restricts it to; "" for none.
    """

    name: str
    values: tuple[str, ...] = ()
    since: str = ""
    before: str = ""


class Step(NamedTuple):
    """One thing to do: `going` takes something out, else it is written.

    Attributes:
        going: whether it goes.
        name: an option with its dashes, a variable, a key in quotes, or "" for what the finding points at.
        value: the value; None for none.
    """

    going: bool
    name: str
    value: str | None = None


class Way(NamedTuple):
    """One of the ways that an advice offers: the steps of it, or the release to run."""

    steps: tuple[Step, ...]
    release: str = ""
    verb: str = ""
    since: str = ""


# -- reading


def _segments(advice: str) -> list[str]:
    """Parts of an advice within which a release restricts what is named."""
    text = re.sub(r"'\{.*?\}'", lambda found: found[0].replace(",", "\x00").replace(";", "\x01"), advice)
    text = re.sub(rf"({OPTION}(?: \w+)?) \(({RELEASE}) and later[^()]*\)", r"\1 from \2", text)
    text = re.sub(rf"({OPTION}(?: \w+)?) \((?:accepted )?from ({RELEASE})[^()]*\)", r"\1 from \2", text)
    text = re.sub(r", (where|which) ", r" \1 ", text)
    text = re.sub(r"\bpython -m \S+", "", text)
    parts = re.split(r"[;()]|,(?! (?:or )?[\w.+-]+(?:,| or )\b)|\.\s", text)
    return [part.replace("\x00", ",").replace("\x01", ";").strip() for part in parts if part.strip()]


def mentions(advice: str) -> Iterator[Mention]:
    """The options and variables that an advice tells to write, not those that it tells to delete."""
    going = False
    for part in _segments(advice):
        for clause in re.split(r"(?<![\w-])(?=(?:" + "|".join(_VERBS) + r"|instead of|without)\b)", part):
            verb = re.match(r"\b(" + "|".join(_VERBS) + r"|instead of|without)\b", clause)
            if verb is not None:
                going = verb[1] in _GOING or verb[1] in ("instead of", "without")
            since, before = _limits(part)
            if going:
                continue
            for found in re.finditer(f"(?P<option>{OPTION})|(?P<variable>{VARIABLE})(?:=(?P<value>[\\w.]+))?", clause):
                if found["option"]:
                    yield Mention(found["option"], tuple(_values(clause[found.end() :])), since, before)
                else:
                    yield Mention(found["variable"], (found["value"],) if found["value"] else (), since, before)
        if "," in part or part is None:
            going = False


def _limits(part: str) -> tuple[str, str]:
    since = re.search(rf"(?:from|since) (?:\w+(?:\.\w+)? )?({RELEASE})|\b({RELEASE}) (?:or|and) later|^on ({RELEASE})|\bbuild ({RELEASE})", part)
    before = re.search(rf"before (?:\w+ )?({RELEASE})|({RELEASE}) or earlier", part)
    return next(filter(None, since.groups()), "") if since else "", next(filter(None, before.groups()), "") if before else ""


def _values(rest: str) -> Iterator[str]:
    """The values that follow the name of an option: ` fa3, flashinfer or triton`."""
    at = re.match(rf"(?:=| )({VALUE})(?!\w)", rest)
    while at is not None and not _is_word(at[1]):
        yield at[1].strip("'\"") if at[1][:1] in "'\"" else at[1]
        rest = rest[at.end() :]
        at = re.match(rf"(?:, or | or |, )({VALUE})(?!\w)(?! [a-z-])", rest) or re.match(rf"(?:, or | or |, )({VALUE})(?!\w)$", rest)
        if at is not None and (at[1].startswith("-") or at[1] in _VERBS):
            return


def _is_word(text: str) -> bool:
    return text in _STOP or text in _VERBS or text.startswith("-")


def ways(advice: str) -> list[Way]:
    """The ways that an advice offers, as far as they can be read; each must do by itself."""
    text = re.sub(rf" \((?:accepted |[\w.]+ )?from ({RELEASE})\)| \(({RELEASE}) and later\)", "\x05\\1\\2", advice)
    text = re.sub(r"\s*\([^()]*\)", "", text)
    text = re.sub(r" or (?:more|less|larger|smaller)\b", "", text)
    found: list[Way] = []
    for sentence in text.split("; "):
        if not re.match("(?:" + "|".join(_VERBS) + r")\b", sentence):
            continue
        found += _sentence(sentence)
    return found


def _sentence(sentence: str) -> Iterator[Way]:
    held = re.sub(rf"({RELEASE}) or (later|earlier)", r"\1 \2", sentence).rstrip("?")
    held = re.sub(r"'\{.*?\}'|\"[^\"]*\": ?(?:\"[^\"]*\"|[\w.]+)", lambda one: one[0].replace(" or ", "\x02").replace(", ", "\x03").replace(" ", "\x04"), held)
    held = held.replace(", and ", " and ")
    verb, option = "", ""
    for part in re.split(r",? or |, ", held):
        part = part.replace("\x02", " or ").replace("\x03", ", ").replace("\x04", " ")
        start = re.match("(" + "|".join(_VERBS) + r")\b ?", part)
        if start is not None:
            verb, part, option = start[1], part[start.end() :], ""
        elif option and re.fullmatch(VALUE, part) and not _is_word(part) and not part.startswith("-"):
            part = f"{option} {part}"
        elif not re.fullmatch(rf"(?:{OPTION}).*|(?:{VALUE})|(?:\w+ )?(?:{RELEASE}) later.*|\"\w+\":.*", part):
            continue
        if not verb:
            continue
        since = re.search(f"\x05({RELEASE})", part)
        part = re.sub(f"\x05(?:{RELEASE})", "", part)
        way = _way(verb, part)
        if way is None:
            verb = ""  # what follows belongs to it
        if way is not None:
            way = way._replace(since=since[1] if since is not None else "")
            names = [step.name for step in way.steps if step.name.startswith("-")]
            option = names[-1] if names and way.steps[-1].value is not None else ""
            yield way


def _way(verb: str, part: str) -> Way | None:
    """The way that a verb and its object are; None where the object is not exact."""
    release = re.match(rf"(?:\w+(?:\.\w+)? )?({RELEASE}) later", part)
    if release is not None:
        rest = part[release.end() :]
        with_it = _way("add", rest.removeprefix(" with ")) if rest.startswith(" with -") else None
        return Way(with_it.steps if with_it is not None else (), release[1], verb) if not rest or with_it is not None else None
    if verb in ("keep", "give", "raise", "lower"):
        return None
    if verb in _GOING:
        return _gone(verb, part)
    steps: list[Step] = []
    rest = part
    while rest:
        one = re.match(rf"(?P<option>{OPTION})|(?P<variable>{VARIABLE})=(?P<given>[\w.]+)|\"(?P<key>\w+)\":[ \x04]?(?P<body>\"[^\"]*\"|[\w.]+)", rest)
        if one is None:
            break
        rest = rest[one.end() :]
        if one["option"]:
            value = next(_values(rest), None)
            if value is not None:
                rest = re.sub(rf"^(?:=| )(?:{VALUE})", "", rest)
            steps.append(Step(False, one["option"], value))
        elif one["variable"]:
            steps.append(Step(False, one["variable"], one["given"]))
        else:
            steps.append(Step(False, f'"{one["key"]}"', one["body"]))
        joined = re.match(r" (?:and |with |--)?(?=[-\"A-Z])", rest)
        if joined is None:
            break
        rest = rest[joined.end() :].lstrip()
    if steps:
        return Way(tuple(steps), verb=verb) if _said(rest) else None
    bare = None if part.startswith(("[", '"')) else re.match(rf"({VALUE})(?!\w)", part) if verb in ("write", "use", "did you mean", "choose from") else None
    if bare is None or _is_word(bare[1]) or not _said(part[bare.end() :]) or re.fullmatch(_COUNTED, bare[1]):
        return None
    if bare[1].isalpha() and bare[1].islower() and (verb == "use" or part[bare.end() :]):
        return None
    return Way((Step(False, "", bare[1].strip("'\"") if bare[1][0] == "'" else bare[1]),), verb=verb)


def _gone(verb: str, part: str) -> Way | None:
    part = part.removesuffix(" out") if verb == "leave" else part
    if re.match(r"(?:it|the option|the variable|them)(?:$|,|:| (?:before|outside|unless|until|with|where|when|to|from|if|and)\b)", part):
        return Way((Step(True, ""),), verb=verb) if " and " not in part else None
    names = re.match(rf"(?:{OPTION}|{VARIABLE}|[a-z]+(?:_[a-z]+)+)(?:=\w+)?(?: and (?:{OPTION}|{VARIABLE}|[a-z]+(?:_[a-z]+)+)(?:=\w+)?)*", part)
    if names is None or not _said(part[names.end() :]):
        return None
    return Way(tuple(Step(True, name.partition("=")[0]) for name in names[0].split(" and ")), verb=verb)


def _said(rest: str) -> bool:
    """Whether what follows only says why, when or where."""
    return not rest.strip() or re.match(r"[:,]| (?:where|if|on|unless|for|which|as|so|before|so that|to say|by|too|here|alone)\b", rest) is not None


# -- what it names


_OF_CONTAINERS = frozenset(("--gpus", "--ipc", "--shm-size", "-c", "-e", "-v"))
"""Options of a container tool or a shell, which an advice may name beside those of the engine."""


def wrong_names(advice: str, config: Config) -> list[str]:
    """The options, variables and values that an advice names and the release lacks, in words.

    Args:
        advice: the text.
        config: the launch under the release that was judged.
    """
    catalog = config.catalog
    if catalog is None or config.index is None:
        return []
    found: list[str] = []
    for one in mentions(advice):
        for index in _indexes(one, catalog, config.index):
            wrong = _wrong(one, catalog, index, config)
            if wrong is not None:
                found.append(f"{wrong} at {catalog.releases[index]}")
    return found


def _indexes(one: Mention, catalog: Catalog, index: int) -> list[int]:
    """The releases at which a mention must hold: that of the launch, or the first and the last that it is restricted to."""
    low, high = 0, len(catalog.releases) - 1
    for position, release in enumerate(catalog.releases):
        key = release_key(release)
        if one.since and key is not None and key < (release_key(one.since) or key):
            low = position + 1
        if one.before and key is not None and key >= (release_key(one.before) or key):
            high = min(high, position - 1)
    return [index] if low <= index <= high else [low] if low <= high else []


def _wrong(one: Mention, catalog: Catalog, index: int, config: Config) -> str | None:
    if not one.name.startswith("-"):
        prefixes = config.reading.launch.engine, *ENGINE_NAMES
        runs = catalog.variables().get(one.name)
        if not one.name.startswith(("VLLM_", "SGLANG_", "LMDEPLOY_", "TLLM_")):
            return None
        here = runs is not None and any(first <= index <= last for first, last, *_ in runs)
        named = [name for name, lives in catalog.names("mentioned-variables").items() if any(run[0] <= index <= run[1] for run in lives)]
        return None if here or one.name in named else f"{one.name} is not read"
    head, dot, path = one.name.partition(".")
    if head.startswith("-O") and head[2:].isdigit():
        head = "-O"
    option = catalog.table(index).find(head)
    if option is None:
        return None if head in _OF_CONTAINERS else f"there is no {head}"
    if dot:
        keys = catalog.keys(option.json, index) if option.json else None
        return f"{head} has no key {path}" if keys is not None and keys.get(path.partition(".")[0]) is None else None
    numbers = bool(option.types) and set(option.types) <= {"int", "float", "none"}
    for value in one.values:
        if value.isalpha() and (numbers or not option.takes_value) and value not in ("true", "false", "on", "off", "auto"):
            continue  # the sentence goes on
        if not option.takes_value:
            return f"{head} takes no value, not {value}"
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


# -- what becomes of it


def _word(text: str) -> Word:
    return Word(TracedText.of(text))


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
    """The launch as a way leaves it; None where the way cannot be gone by itself."""
    new = copied(launch)
    for step in way.steps:
        done = _going(new, config, finding, step) if step.going else _written(new, config, finding, step, way.verb)
        if not done:
            return None
    if any(step.name in _OF_CONTAINERS for step in way.steps):
        return None
    same = [word.shown for word in new.argv] == [word.shown for word in launch.argv]
    values = {name: one.value.shown if one.value is not None else None for name, one in new.env.items()}
    old = {name: one.value.shown if one.value is not None else None for name, one in launch.env.items()}
    return None if same and values == old else new


def _inside(one: Span | None, other: Span | None) -> bool:
    return one is not None and other is not None and one.source is other.source and other.start <= one.start and one.end <= other.end


def _touches(one: Span | None, other: Span | None) -> bool:
    return _inside(one, other) or _inside(other, one)


def pointed_at(config: Config, finding: Finding) -> Setting | None:
    """The option that a finding points at."""
    for setting in config.reading.arguments.every:
        for word in setting.words:
            if _touches(finding.span, word.text.span()) or _touches(finding.span, word.site):
                return setting
    return None


def _variable_at(launch: Launch, finding: Finding) -> str | None:
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
        while node is not None and node.kind == "object":
            for key, (written, value) in node.members.items():
                if _touches(finding.span, written.text.span()) or _touches(finding.span, value.text.span()):
                    path.append(key)
                    node = value
                    break
            else:
                break
        if path:
            return setting, path
    return None


def _drop(new: Launch, setting: Setting) -> None:
    gone = {id(word) for word in setting.words}
    new.argv = [word for word in new.argv if id(word) not in gone]


def _replace_json(new: Launch, setting: Setting, change: Any) -> bool:
    word, value = setting.value_word, setting.value
    if word is None or value is None:
        return False
    try:
        whole = json.loads(value.shown)
    except ValueError:
        return False
    if not isinstance(whole, dict) or change(whole) is False:
        return False
    text = word.shown.removesuffix(value.shown) + json.dumps(whole)
    new.argv = [_word(text) if one is word else one for one in new.argv]
    return True


def _going(new: Launch, config: Config, finding: Finding, step: Step) -> bool:
    if not step.name:
        key = _key_at(config, finding)
        if key is not None and _touches(finding.span, key[0].value.span() if key[0].value is not None else None) and len(key[1]):
            setting, path = key
            if setting.value is not None and finding.span != setting.value.span():
                return _replace_json(new, setting, lambda whole: _remove(whole, path))
        name = _variable_at(new, finding)
        setting_at = pointed_at(config, finding)
        if setting_at is not None:
            _drop(new, setting_at)
            return True
        if name is not None:
            del new.env[name]
            return True
        words = [word for word in new.argv if _inside(word.site, finding.span)]
        new.argv = [word for word in new.argv if not _inside(word.site, finding.span)]
        return bool(words)
    if step.name in new.env:
        del new.env[step.name]
        return True
    if not step.name.startswith("-"):
        for setting in config.reading.arguments.every:
            if setting.option is not None and setting.option.json and _replace_json(new, setting, lambda whole: whole.pop(step.name, False)):
                return True
        return False
    found = [setting for setting in config.reading.arguments.every if _names(config, setting, step.name)]
    for setting in found:
        _drop(new, setting)
    return bool(found)


def _remove(whole: dict[str, Any], path: list[str]) -> bool:
    for key in path[:-1]:
        whole = whole[key]
    whole.pop(path[-1])
    return True


def _names(config: Config, setting: Setting, spelling: str) -> bool:
    option = config.catalog.table(config.index).find(spelling) if config.catalog is not None and config.index is not None else None
    return setting.spelling == spelling or (option is not None and setting.name.partition(".")[0] == option.name)


def _written(new: Launch, config: Config, finding: Finding, step: Step, verb: str) -> bool:
    if not step.name:
        return _valued(new, config, finding, step.value or "")
    if step.name.startswith('"'):
        value, key = json.loads(step.value or "null"), _key_at(config, finding)
        name = step.name.strip('"')
        if verb == "write" and key is not None and _at_path(key, value):
            return _replace_json(new, key[0], lambda whole: _renamed(whole, key[1], name))
        return _keyed(new, config, finding, name, value)
    if not step.name.startswith("-"):
        if verb == "write" and (old := _variable_at(new, finding)) is not None:
            del new.env[old]
        new.env[step.name] = Variable(step.name, TracedText.of(step.value or "1"), None)
        return True
    option = None
    if config.catalog is not None and config.index is not None:
        option = config.catalog.table(config.index).find(step.name.partition(".")[0])
    at, variable = pointed_at(config, finding), _variable_at(new, finding)
    if at is None and variable is not None and verb == "write":
        del new.env[variable]
    value = step.value
    set_already = [setting for setting in config.reading.arguments.every if _names(config, setting, step.name)]
    replaced = at is not None and (at.option is None or finding.rule.partition("/")[2] in _NAMES)
    if at is not None and verb == "write" and at.value is not None and at.value.shown == step.value:
        replaced = True
    if value is None and (option is None or option.takes_value):
        # the value of what it takes the place of
        if at is None or at.value is None or not replaced:
            return False
        value = at.value.shown
    for setting in [*set_already, *([at] if replaced and at is not None else [])]:
        _drop(new, setting)
    words = [step.name] if value is None else [step.name, value]
    new.argv = [*new.argv, *[_word(word) for word in words]]
    return True


_NAMES = frozenset(
    "removed-option deprecated-option ambiguous-option taken-for-another unknown-option option-of-other-engine refused-option "
    "abbreviated-option removed-later option-came-and-went".split()
)


def _valued(new: Launch, config: Config, finding: Finding, value: str) -> bool:
    """Write a value in the place of the one that the finding points at."""
    key = _key_at(config, finding)
    if key is not None:
        setting, path = key
        keys = None
        if config.catalog is not None and config.index is not None and setting.option is not None:
            keys = config.catalog.keys(setting.option.json, config.index)
        if finding.rule.endswith("-json-key") or (keys is not None and len(path) == 1 and keys.get(value) is not None):
            return _replace_json(new, setting, lambda whole: _renamed(whole, path, value))

        def change(whole: dict[str, Any]) -> bool:
            for one in path[:-1]:
                whole = whole[one]
            try:
                whole[path[-1]] = json.loads(value)
            except ValueError:
                whole[path[-1]] = value
            return True

        return _replace_json(new, setting, change)
    setting_at = pointed_at(config, finding)
    if setting_at is not None and setting_at.value_word is not None and setting_at.value is not None:
        word = setting_at.value_word
        if len(setting_at.values) > 1:
            return False
        text = word.shown.removesuffix(setting_at.value.shown) + value
        new.argv = [_word(text) if one is word else one for one in new.argv]
        return True
    name = _variable_at(new, finding)
    if name is not None:
        if re.fullmatch(VARIABLE, value):
            new.env[value] = new.env.pop(name)
        else:
            new.env[name] = Variable(name, TracedText.of(value), None)
        return True
    return False


def _at_path(key: tuple[Setting, list[str]], value: Any) -> bool:
    """Whether a key of a JSON option has a value."""
    setting, path = key
    try:
        found = json.loads(setting.value.shown if setting.value is not None else "")
    except ValueError:
        return False
    for one in path:
        found = found[one]
    return bool(found == value)


def _renamed(whole: dict[str, Any], path: list[str], name: str) -> bool:
    for key in path[:-1]:
        whole = whole[key]
    whole[name] = whole.pop(path[-1])
    return True


def _keyed(new: Launch, config: Config, finding: Finding, key: str, value: Any) -> bool:
    """Write a key of the JSON option that the finding points at, or of the only one."""
    at = pointed_at(config, finding)
    objects = [one for one in config.reading.arguments.every if one.option is not None and one.option.json and one.value is not None]
    setting = at if at in objects else objects[0] if len(objects) == 1 else None
    if setting is None:
        return False

    def change(whole: dict[str, Any]) -> bool:
        whole[key] = value
        return True

    return _replace_json(new, setting, change)


def judged_at(launch: Launch, settings: Settings, release: str | None) -> list[Finding]:
    """What servelint says of a launch at a release; as it is if none is given."""
    if release is None:
        return judge(launch, settings)
    one = copied(launch)
    one.release = ReleaseClaim()
    return judge(one, settings.with_release(launch.engine, release))


def remains(before: list[Finding], after: list[Finding], finding: Finding) -> list[str]:
    """What is wrong with a launch after a way: the finding is still there, or an error that was not."""
    had = {(one.rule, one.message) for one in before if one.severity == "error"}
    rules = [one.rule for one in before]
    left: list[str] = []
    count = sum(one.rule == finding.rule for one in after)
    if count >= rules.count(finding.rule):
        left.append(f"{finding.rule} remains")
    for one in after:
        if one.severity == "error" and (one.rule, one.message) not in had and one.rule != finding.rule:
            if _memory(one):
                continue  # what a GPU holds is no matter of names
            left.append(f"{one.rule}: {one.message}")
    return left


def _memory(finding: Finding) -> bool:
    return any(rule.id == finding.rule and rule.check in OF_THE_PLAN for rule in rules())


def releases_of(engine: str) -> list[str]:
    """The releases of an engine's catalog."""
    catalog = catalogs.load(engine)
    return catalog.releases if catalog is not None else list(known_releases(engine))
