"""Violations in the values of options: choices, conversions, JSON that cannot be parsed, keys and fields of JSON objects."""

from __future__ import annotations

import operator
import os
import re
from functools import lru_cache

from servelint.core.launch import Word
from servelint.core.text import TracedText
from servelint.engines.argv import Setting
from servelint.engines.catalog import APPEND, LIST, Catalog, Keys, Option
from servelint.engines.config import object_of_keys
from servelint.engines.conversions import Refused, convert, is_known
from servelint.engines.registry import ENGINES
from servelint.fixes.change import Change, written_at
from servelint.judge.parser.repairs import instead_of, mended_json, replacement, swallowed, titled
from servelint.judge.parser.view import ReleaseView, elsewhere, listed, misspelt, similar
from servelint.judge.parser.violation import Violation
from servelint.syntax import json
from servelint.syntax.json import ARRAY, OBJECT, STRING, UNKNOWN, WORD, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_JSON = frozenset(("none", "json"))
_LONGEST_ADVICE = 200
"""Characters of an object that an advice writes anew."""


def violations(view: ReleaseView) -> list[Violation]:
    """The violations in the values of options, under a release that the catalog has."""
    every = view.config.reading.arguments.every
    if view.record.dialect.last:
        settings = view.config.reading.arguments.settings
        every = [one for one in every if one.option is None or one.option.kind == APPEND or settings.get(one.name) is one]
    parts = [((number, one.option), one) for number, one in enumerate(every) if one.option is not None]
    files = view.record.object_files is not None  # of some releases the keys are not known
    objects = [
        (key, one)
        for key, one in parts
        if one.option is not None and (one.option.json or (files and view.catalog.runs_of_object(one.option.name)))
    ]
    if view.config.made:
        # the constructor of the object's class takes it; of other dictionaries, some classes pass over keys
        return view.each([(key, one) for key, one in objects if one.name in view.record.late_objects], _of_object)
    return view.each(parts, _of_value) + view.each(objects, _of_object) + _of_launcher(view)


def _of_launcher(view: ReleaseView) -> list[Violation]:
    """Values that the program which starts the engine does not take in any release."""
    launcher = view.record.launchers.get(view.config.launch.launcher)
    arguments = view.config.reading.arguments
    found = []
    for name, allowed in (launcher.values if launcher is not None else {}).items():
        setting = arguments.of_launcher.get(name) or arguments.settings.get(name)
        text = setting.value if setting is not None else None
        if setting is None or text is None or not text.known or text.flat in allowed:
            continue
        start = next(one for one in view.record.starts if one.launcher == view.config.launch.launcher)
        close = similar(text.flat, list(allowed)) or misspelt(text.flat, list(allowed)) if text.flat else None
        found.append(
            Violation(
                "invalid-choice",
                text.span() or setting.word.site,
                f'"{text.flat}" is not a valid value for {setting.spelling} of {(start.modules or start.programs)[0]}',
                f"did you mean {close}?" if close else f"choose from {listed(allowed)}",
                "not a choice",
                change=written_at(text.written, close) if close else None,
                title=f"write {close}",
            )
        )
    return found


def _of_value(view: ReleaseView, setting: Setting) -> list[Violation]:
    option = setting.option
    if option is None:
        return []
    found = _misspelt(view, setting, option)
    launcher = view.record.launchers.get(view.config.launch.launcher)
    if "." in setting.name or (launcher is not None and setting.name in launcher.values):
        return found
    if option.refuses:
        return [*found, _refused(view, setting, option.refuses)]
    if not option.takes_value:
        return found
    words = setting.values if option.kind == LIST else [setting.value_word] if setting.value_word is not None else []
    for word in words:
        text = setting.value if word is setting.value_word else word.text
        if text is not None and text.known and not word.many:
            violation = _value(view, setting, option, text, word)
            found += [violation] if violation is not None else []
    return found


def _refused(view: ReleaseView, setting: Setting, reason: str) -> Violation:
    """An option at which the release stops the start."""
    instead = replacement(view.engine, setting.spelling.lstrip("-"))
    return Violation(
        "refused-option",
        setting.word.text.span() or setting.word.site,
        f"{view.release} does not start with {setting.spelling}",
        " ".join(reason.split()),
        "refused",
        change=instead_of(view, instead, setting),
        title=titled(instead, setting.spelling),
        safe=instead is not None and instead.safe and not instead.delete,
    )


def _value(view: ReleaseView, setting: Setting, option: Option, text: TracedText, word: Word) -> Violation | None:
    """The violation in one value of an option; None if the parser takes it."""
    place = text.span() or word.site
    if setting.name == view.record.template_option and _is_missing(view.config.launch.folder, text.flat):
        message = f"{text.flat} looks like a path, but no such file exists; {view.release} refuses it"
        return Violation(
            "invalid-value", place, message, "name a file that exists, or write the template itself", "no such file"
        )
    if "json" in option.types and set(option.types) <= _JSON and text.flat not in ("", "None"):
        return _json(setting, text, word) or _not_object(view, setting, option, text)
    try:
        converted = convert(view.engine, option.types, text.flat)
    except Refused as refused:
        message = f'"{text.flat}" is not a valid value for {setting.spelling} in {view.release}'
        return Violation("invalid-value", place, message, f"write {refused}", f"not {refused}")
    if option.name in view.record.filled_options and text.flat in ("", "None") and view.checks_fields:
        message = f"{setting.spelling} {'None does not unset it' if text.flat else 'is empty'}; {view.release} does not start"
        label = "not a value" if text.flat else "empty"
        return Violation("invalid-value", place, message, f"write a value, or delete {setting.spelling}", label)
    if option.name in view.record.object_options and isinstance(converted, str) and view.checks_fields:
        message = f'"{text.flat}" is not a valid value for {setting.spelling} in {view.release}, which takes an object'
        return Violation("invalid-value", place, message, "write a JSON object", "not an object")
    if option.choices is None:
        return _looked_up(view, setting, option, text, word)
    if not is_known(view.engine, option.types) or (setting.name, text.flat) in ENGINES[view.engine].choices_of_plugins:
        return None
    if any(converted == one and isinstance(converted, bool) == isinstance(one, bool) for one in option.choices):
        return None
    return _choice(view, setting, option.choices, text, word)


def _looked_up(view: ReleaseView, setting: Setting, option: Option, text: TracedText, word: Word) -> Violation | None:
    """A name that the parser takes as it is, and that the engine looks up when it makes its configs of the arguments."""
    if text.flat in ("", "None") and option.name not in view.record.lowered:
        return None
    body = _moved(view, option)
    if body is not None:
        taken = takes(view, option, text.flat)
        return None if taken else _choice(view, setting, [one for one in body["choices"] if one], text, word)
    kind = view.record.looked_up_options.get(option.name)
    if kind is None:
        return None
    known = view.names(kind)
    value = text.flat.strip().lower() if option.name in view.record.lowered else text.flat
    return _choice(view, setting, known, text, word) if known and value not in known else None


def _moved(view: ReleaseView, option: Option) -> dict[str, Any] | None:
    """The field of a JSON option that declares the choices of another option; None if there is none."""
    field = view.record.moved_values.get(option.name)
    keys = view.keys(field[0]) if field is not None else None
    body = view.key(keys, field[1]) if keys is not None and field is not None else None
    return body if body is not None and "choices" in body else None


def takes(view: ReleaseView, option: Option, value: str) -> bool:
    """Whether a value may be one of the choices of an option."""
    body = _moved(view, option)
    if body is not None:
        return expected_of(body, value) is None
    return option.choices is None or value in option.choices


def _misspelt(view: ReleaseView, setting: Setting, option: Option) -> list[Violation]:
    """A value that no release has, and that one letter or two make one that a release has."""
    if "." in setting.name or not option.takes_value:
        return []
    found = [_misspelt_value(view, setting.name, setting.spelling, text) for text in _texts(setting)]
    node = view.config.reading.parsed(setting.name) if option.json else None
    if node is not None and node.kind == OBJECT:
        for key, (_, value) in node.members.items():
            if value.kind == STRING:
                shown = f"{key} of {setting.spelling}"
                found.append(_misspelt_value(view, f"{setting.name}.{key}", shown, value.content, option.json))
    return [one for one in found if one is not None]


def _texts(setting: Setting) -> list[TracedText]:
    texts = [setting.value] if setting.value is not None else []
    texts += [word.text for word in setting.values if word is not setting.value_word and not word.many]
    return [text for text in texts if text.known and text.flat]


def _misspelt_value(view: ReleaseView, name: str, shown: str, text: TracedText, json_name: str = "") -> Violation | None:
    """A misspelt value of an option, or of a key of a JSON option that the catalog calls `json_name`."""
    value = text.flat
    kind, plugin = view.record.value_kinds_of_options.get(name, ("", ""))
    if plugin and view.may_have(plugin):
        return None
    keys = view.keys(json_name) if json_name else None
    lives, plain = _lives(view.catalog, name, kind, keys)
    if not value or not lives or value.lower().replace("_", "-") in plain:
        return None
    now = [one for one in lives if kind and view.has_now(view.catalog.names(kind).get(one))]
    close = misspelt(value, now) or _only_one_with(value, now) or misspelt(value, lives)
    if close is None:
        return None
    has = _had_elsewhere(view, name, kind, close, lives[close])
    return Violation(
        "misspelt-value",
        text.span(),
        f"no {view.name} release has {value} for {shown}",
        f"did you mean {close}{has}?",
        "not a value of any release",
        change=written_at(text.written, close) if not has else None,
        title=f"write {close}",
    )


def _only_one_with(part: str, names: list[str]) -> str | None:
    """The only name that a text is a part of: openai_gptoss for gpt-oss."""
    plain = re.sub(r"[-_]", "", part.lower())
    found = [one for one in names if plain in one.lower().replace("_", "").replace("-", "")] if len(plain) > 4 else []
    return found[0] if len(found) == 1 else None


def _had_elsewhere(view: ReleaseView, name: str, kind: str, value: str, first: int) -> str:
    """In brackets the releases that have a value, where this one does not; "" where it does."""
    runs: list[Any] = [*view.catalog.names(kind).get(value, ())] if kind else []
    every = view.catalog.runs_of(name)
    runs += [run for run in every if value in (run[2].choices or ())]
    # a list of choices that was lifted takes no value away
    runs += [run for run in every if not run[2].choices and any(had[1] + 1 == run[0] for had in runs)]
    runs = runs or [(first, len(view.catalog.releases) - 1)]
    return "" if view.has_now(runs) else f" ({view.life(runs).use(view.name)})"


@lru_cache(maxsize=1024)
def _lives(catalog: Catalog, name: str, kind: str, keys: Keys | None) -> tuple[dict[str, int], frozenset[str]]:
    """The values that any release declares for an option or a key, or has of a kind of names -> the first that has them.

    Beside them the same values in lower case with dashes.
    """
    declared: list[tuple[int, Any]] = [(first, option.choices) for first, _, option in catalog.runs_of(name)]
    if keys is not None:
        runs = keys.runs.get(name.rpartition(".")[2], ())
        declared = [(first, body.get("choices")) for first, _, body in runs]
    lives = {one: first for first, choices in reversed(declared) for one in choices or () if isinstance(one, str)}
    lives |= {one: runs[0][0] for one, runs in catalog.names(kind).items()} if kind else {}
    return lives, frozenset([one.lower().replace("_", "-") for one in lives])


def _is_missing(folder: str | None, template: str) -> bool:
    """Whether vLLM's validate_chat_template finds neither a template nor a file; its own are `.jinja` without a folder."""
    if folder is None or not template or any(char in template for char in "{}\n"):
        return False
    own = "/" not in template and template.endswith(".jinja")
    return not own and not os.path.exists(os.path.join(folder, template))


def _choice(view: ReleaseView, setting: Setting, choices: list[Any], text: TracedText, word: Word) -> Violation:
    """A value that is not one of the choices, though it may be one in another release."""
    place = text.span() or word.site
    if setting.option is not None and "none" in setting.option.types:
        choices = [one for one in choices if one not in (None, "None")]  # the text None never reaches the list
    if swallowed(view, setting):
        message = f"{setting.spelling} takes a value in {view.release}, which takes {text.flat} for it"
        return Violation(
            "missing-value", setting.word.site, message, f"write {setting.spelling} {choices[0]}", "without a value"
        )
    message = f'"{text.flat}" is not a valid value for {setting.spelling} in {view.release}'
    spelled = view.catalog.spelled(setting.spelling)
    runs = [run for run in spelled if run[2].choices is not None]
    known = [
        run
        for run in runs
        if text.flat in (run[2].choices or ())
        and run[2].name == setting.name
        and not {"none"} & {*run[2].types} & {text.flat.lower()}
    ]
    life = view.life(known)
    # a release between the two whose choices are not in the catalog may have it as well
    ends = (life.before, view.index), (view.index, life.after)
    open_runs = [run for run in spelled if run[2].choices is None and run[2].name == setting.name]
    hidden = any(a is not None and b is not None and a < run[0] and run[1] < b for a, b in ends for run in open_runs)
    if known and not hidden:
        advice = f"choose from {listed(choices)}, or use {life.use(view.name)}"
        message = f"{message}; it {life.written(view.name)}"
        return Violation("invalid-choice", place, message, advice, "not a choice of this release")
    names = [str(one) for one in choices]
    close = similar(text.flat, names) or misspelt(text.flat, names) if text.flat else None
    return Violation(
        "invalid-choice",
        place,
        message,
        f"did you mean {close}?" if close else f"choose from {listed(choices)}",
        "not a choice",
        change=written_at(text.written, close) if close else None,
        safe=close is not None and close.lower() == text.flat.lower(),
        title=f"write {close}",
        new=close is None and not elsewhere(view.engine, setting.spelling, text.flat),
    )


JSON_IN_QUOTES = re.compile(r"'\s*[\[{]")
"""JSON whose author put it in single quotes, in a text that no shell takes them from: `CMD="... '{...}'"; $CMD`."""


def _json(setting: Setting, text: TracedText, word: Word) -> Violation | None:
    node = json.parsed(text)
    if isinstance(node, json.JsonNode):
        return None
    at = min(node.offset, len(text.flat) - 1)
    if JSON_IN_QUOTES.match(text.flat):
        return Violation(
            "malformed-json",
            text.span(0, 1) or text.span() or word.site,
            f"{setting.spelling} is not valid JSON: the single quotes are part of the value, since no shell removes them here",
            'write the value without these quotes; in a script keep the command in an array and run "${CMD[@]}"',
            "part of the value",
        )
    change, title = mended_json(text, at)
    return Violation(
        "malformed-json",
        text.span(at, at + 1) or text.span() or word.site,
        f"{setting.spelling} is not valid JSON: {node.message}",
        _as_list(setting, text)
        or _as_object(text)
        or "correct it; in a shell put single quotes around the value, and double quotes inside",
        node.message,
        change=change,
        title=title,
        safe=True,
    )


def _as_list(setting: Setting, text: TracedText) -> str:
    """How plain words are written for an option that takes a list, as `*` for the origins of CORS; "" for others."""
    default = setting.option.default if setting.option is not None else None
    if not isinstance(default, list) or not text.known or re.fullmatch(r"[^\s\[\]{}'\"]+", text.flat) is None:
        return ""
    return "write '[" + ", ".join([f'"{one}"' for one in text.flat.split(",")]) + "]'"


def _as_object(text: TracedText) -> str:
    """How a dictionary of Python, keys without quotes or pairs such as `image=4,video=0` are written as JSON; "" for others."""
    flat = text.flat.strip()
    if not text.known:
        return ""
    if flat.startswith("{") and len(flat) <= _LONGEST_ADVICE:
        import ast  # few launches need it
        from json import dumps, loads

        quoted = re.sub(r"([{,]\s*)([A-Za-z_][\w.-]*)(\s*:)", r'\1"\2"\3', flat)
        for read_as, meant in ((ast.literal_eval, flat), (loads, quoted)):
            try:
                shown = dumps(read_as(meant))
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                continue
            return f"write '{shown}'" if shown.startswith("{") and "'" not in shown else ""
    pairs = [pair.partition("=") for pair in flat.split(",")]
    if not all(key.isidentifier() and number.isdecimal() for key, _, number in pairs):
        return ""
    return "write '{" + ", ".join([f'"{key}": {number}' for key, _, number in pairs]) + "}'"


def _not_object(view: ReleaseView, setting: Setting, option: Option, text: TracedText) -> Violation | None:
    """JSON that is not an object, or has members of another kind, for an option whose field is declared as a dictionary."""
    node = json.parsed(text)
    if option.name not in view.record.object_options or not view.checks_fields or not isinstance(node, JsonNode):
        return None
    if view.config.reading.arguments.settings.get(setting.name) is not setting:
        return None  # the field is made of the last one
    refused_since = view.record.empty_lists_before
    if node.kind == ARRAY and not node.items and refused_since and not view.at_least(refused_since):
        return None
    if node.kind not in (OBJECT, UNKNOWN) and not _is_null(node):
        message = f"{setting.spelling} is {_SHAPES.get(node.kind, _SINGLE)} here; {view.release} takes an object"
        return Violation("invalid-json-value", node.text.span(), message, "write an object", "not an object")
    wanted = view.record.object_members.get(option.name)
    for key, (_, value) in node.members.items() if wanted is not None else ():
        if value.kind not in (wanted, UNKNOWN):
            shape = {OBJECT: "an object", STRING: "a string"}[str(wanted)]
            message = f"{key} of {setting.spelling} is not {shape}; {view.release} does not start"
            return Violation("invalid-json-value", value.text.span(), message, f"write {shape}", f"not {shape}")
    return None


# -- JSON objects: their keys, and the values of their fields


def _of_object(view: ReleaseView, setting: Setting) -> list[Violation]:
    """The violations in a JSON object: keys that the release does not know, and values that its fields refuse."""
    arguments, replaced = view.config.reading.arguments, view.config.reading.by_keys
    option = setting.option
    keys = view.keys(option.json) if option is not None and option.json else None
    if option is not None and not option.json:
        return _of_neighbours(view, setting, option)
    if option is None or keys is None:
        return []
    if "." in setting.name:
        spelling, written, _ = setting.spelling.partition(".")
        if not written:
            return _of_level(view, setting)
        return _object(view, spelling, option.json, keys, object_of_keys([setting]), single=True)
    if arguments.settings.get(setting.name) is setting and setting.name not in replaced:
        node = view.config.reading.parsed(setting.name)
    elif option.name in view.record.late_objects or not view.checks_fields or setting.value is None:
        node = None
    else:
        parsed = json.parsed(setting.value)
        node = parsed if isinstance(parsed, JsonNode) else None
    level = setting.spelling == "-O"  # of optimization: an object is made of the number
    if level and (node is None or node.kind not in (OBJECT, UNKNOWN)):
        return _of_level(view, setting)
    null = node is not None and _is_null(node) and option.name in view.record.late_objects
    if node is not None and node.kind not in (OBJECT, UNKNOWN) and not null and view.checks_fields:
        message = f"{setting.spelling} is {_SHAPES.get(node.kind, _SINGLE)} here; {view.release} takes an object"
        return [Violation("invalid-json-value", node.text.span(), message, "write an object", "not an object")]
    if node is None or node.kind != OBJECT or _of_plugin(view, option.name, node):
        return []
    return _object(view, setting.spelling, option.json, keys, node)


def _of_plugin(view: ReleaseView, name: str, node: JsonNode) -> bool:
    """Whether a key has a value that only a plugin brings, which may bring keys as well."""
    key, values = view.record.keys_of_plugins.get(name, ("", ()))
    member = node.members.get(key)
    return member is not None and member[1].value in values


def _meant(key: str, known: list[str]) -> str | None:
    """The known key of which another one is a misspelling, or which has its words in another order."""
    found = misspelt(key, known)
    in_order = {"_".join(sorted(one.split("_"))): one for one in known if "_" in one} if found is None and "_" in key else {}
    return found or in_order.get(misspelt("_".join(sorted(key.split("_"))), in_order) or "")


def _of_neighbours(view: ReleaseView, setting: Setting, option: Option) -> list[Violation]:
    """Misspelt keys of the release before and the one after, where those of the release itself are not known."""
    runs = view.catalog.runs_of_object(option.name)
    view.run_of(runs)
    before = max((run[1] for run in runs if run[1] < view.index), default=None)
    after = min((run[0] for run in runs if run[0] > view.index), default=None)
    node = (
        view.config.reading.parsed(setting.name)
        if view.config.reading.arguments.settings.get(setting.name) is setting
        else None
    )
    if before is None or after is None or node is None or node.kind != OBJECT:
        return []
    about = (before, after)
    names = " nor ".join(view.catalog.releases[one] for one in about)
    found: list[Violation] = []

    def judge(spelling: str, known: list[tuple[str, Keys | None]], node: JsonNode) -> None:
        for key, (written, value) in node.members.items():
            bodies = [keys.get(key) if keys is not None else None for _, keys in known]
            lives = [life for _, keys in known if keys is not None for life in keys.lives(key)]
            # a candidate may have had a key of its own for a while: one that is gone or misspelt is none
            meant = None if lives else _meant(key, [one for _, keys in known if keys is not None for one in keys.known])
            gone = bool(lives) and all(last < before for _, last, *_ in lives)
            if (gone or meant is not None) and all(keys is not None and keys.extra == "reject" for _, keys in known):
                message = f"{key} of {spelling} is a key of neither {view.name} {names}, and {view.release} is between them"
                advice = f"did you mean {meant}?" if meant is not None else "delete it"
                found.append(Violation("unknown-json-key", written.content.span(), message, advice, "no such key").as_warning())
            if value.kind == OBJECT:
                inner = [
                    (f"{name}.{key}", view.catalog.inner(f"{name}.{key}", body, index) if body is not None else None)
                    for (name, _), body, index in zip(known, bodies, about, strict=True)
                ]
                judge(f"{spelling}.{key}", inner, value)

    judge(setting.spelling, [(option.name, view.catalog.keys(option.name, one)) for one in about], node)
    return found


def _of_level(view: ReleaseView, setting: Setting) -> list[Violation]:
    """The violation of a level of optimization other than 0 to 3: `-O4`, `-O.level=3` before such keys were read."""
    if setting.value is None or not setting.value.known or setting.value.flat in ("0", "1", "2", "3"):
        return []
    if setting.option is not None and "json" in setting.option.types and not isinstance(json.parsed(setting.value), JsonNode):
        return []  # reported as malformed JSON
    message = f'"{setting.value.shown}" is not a valid value for -O in {view.release}'
    advice = "write a level from 0 to 3, or a JSON object"
    return [Violation("invalid-json-value", setting.value.span(), message, advice, "not taken")]


def _is_null(node: JsonNode) -> bool:
    return node.kind == WORD and node.value is None


def _object(
    view: ReleaseView, spelling: str, name: str, keys: Keys, node: JsonNode, *, single: bool = False
) -> list[Violation]:
    """The violations in an object and in those inside it.

    name: the catalog's, `compilation-config.pass_config`
    single: whether a single key makes the object (`--option.key value`)
    """
    found: list[Violation] = []
    for key, (written, value) in node.members.items():
        body = view.key(keys, key)
        if body is None:
            if keys.extra == "open" and not keys.lives(key):
                continue
            found.append(_unknown_key(view, spelling, key, keys, written.content, "" if single else f"{name}.{key}"))
            continue
        same = next(
            (one for one in node.members if key in body.get("aliases", ()) and keys.get(one) is body and one != key), None
        )
        if same is not None and keys.extra == "reject":
            message = (
                f"{key} of {spelling} is another name of {same}, which is set as well; {view.release} refuses the two together"
            )
            found.append(Violation("unknown-json-key", written.content.span(), message, "delete one of them", "set twice"))
        if _is_null(value) and view.checks_fields and not _takes_null(body, key):
            found.append(_no_null(view, spelling, key, value.text))
        if value.kind != UNKNOWN and not _is_null(value) and view.checks_fields:
            strict = name in view.record.strict_lists
            kind = _kind(view, spelling, key, value.kind, value.text, keys, strict=strict)
            found += kind or _field(view, spelling, key, value, keys)
        if value.kind == ARRAY and view.checks_fields:
            found += _items(view, spelling, key, body, value)
        inner = view.inner(f"{name}.{key}", body)
        if inner is not None and value.kind == OBJECT:
            found += _object(view, f"{spelling}.{key}", f"{name}.{key}", inner, value, single=single)
    return found


def _items(view: ReleaseView, spelling: str, key: str, body: dict[str, Any], node: JsonNode) -> list[Violation]:
    """The first item of a list that the field's type of items does not take."""
    kinds = body.get("type", "any")
    items = body.get("items")
    if items is None or ({kinds} if isinstance(kinds, str) else set(kinds)) - {"null"} != {"list"}:
        return []
    types = {items["type"]} if isinstance(items["type"], str) else set(items["type"])
    for item in node.items:
        if item.kind == UNKNOWN or "any" in types:
            continue
        if _is_null(item):
            wanted = None if "null" in types else "another value"
        elif item.kind in (ARRAY, OBJECT):
            wanted = None if types & {"list", "object"} else "a single value"
        else:
            wanted = "a list" if types - {"null"} == {"list"} else expected_of_node(items, item)
        if wanted is not None:
            message = f"{key} of {spelling} has {item.text.shown} in its list; {view.release} takes {wanted} there"
            return [Violation("invalid-json-value", item.text.span(), message, f"write {wanted}", f"not {wanted}")]
    return []


def _takes_null(body: dict[str, Any], name: str) -> bool:
    """Whether a field may be null; also where its types are not known."""
    types = body.get("type", "any")
    kinds = {types} if isinstance(types, str) else set(types)
    return bool(kinds & {"any", "null"}) or None in body.get("choices", ()) or name.endswith(_SET_BY_ENGINE)


def _no_null(view: ReleaseView, spelling: str, name: str, text: TracedText) -> Violation:
    message = f"{name} of {spelling} is null; {view.release} does not accept null for it"
    return Violation("invalid-json-value", text.span(), message, "delete it, or write a value", "null")


_SHAPES = {OBJECT: "an object", ARRAY: "a list"}
_SINGLE = "a single value"
_SET_BY_ENGINE = ("target_model_config", "target_parallel_config", "draft_model_config", "draft_parallel_config")
"""Fields whose value the engine makes itself, so that a written value does not matter."""


def _kind(
    view: ReleaseView, spelling: str, name: str, kind: str, text: TracedText, keys: Keys, *, strict: bool = False
) -> list[Violation]:
    """A value that no conversion makes fit: a list or an object for a single value, or a single value for one of these."""
    if name.endswith(_SET_BY_ENGINE):
        return []
    types = (keys.get(name) or {}).get("type", "any")
    wanted = ({types} if isinstance(types, str) else set(types)) - {"null"}
    given = {OBJECT: "object", ARRAY: "list"}.get(kind)
    choices = (keys.get(name) or {}).get("choices")
    if choices is not None and given is not None and given not in wanted:
        names = listed([one for one in choices if one is not None])
        message = f"{name} of {spelling} is {_SHAPES[kind]} here; {view.release} takes {names}"
        return [Violation("invalid-json-value", text.span(), message, f"write {names}", "not a single value")]
    strict = strict and wanted == {"list"}
    if kind == STRING and wanted & {"list", "object"} and (keys.get(name) or {}).get("text", True) and not strict:
        return []  # some fields split a text themselves
    if "any" in wanted or (given in wanted if given is not None else bool(wanted - {"object", "list"})):
        return []
    expected_of_node = " or ".join(sorted({{"object": "an object", "list": "a list"}.get(one, _SINGLE) for one in wanted}))
    message = f"{name} of {spelling} is {_SHAPES.get(kind, _SINGLE)} here; {view.release} takes {expected_of_node}"
    return [Violation("invalid-json-value", text.span(), message, f"write {expected_of_node}", f"not {expected_of_node}")]


def _field(view: ReleaseView, spelling: str, name: str, node: JsonNode, keys: Keys) -> list[Violation]:
    """A single value that the field does not take."""
    body = keys.get(name) or {}
    wanted = expected_of_node(body, node)
    if wanted is None:
        return []
    message = f'"{node.content.flat}" is not a valid value for {name} of {spelling} in {view.release}'
    choices = [str(one) for one in body.get("choices", ()) if one is not None]
    value = node.value
    close = similar(value, choices) or misspelt(value, choices) if isinstance(value, str) else None
    written = node.content.written
    return [
        Violation(
            "invalid-json-value",
            node.content.span() or node.text.span(),
            message,
            f"did you mean {close}?" if close else f"write {wanted}",
            "not taken",
            change=written_at(written, close) if close else None,
            title=f"write {close}",
            new="choices" in body and close is None and not _ever(keys, name, node.value),
        )
    ]


def _ever(keys: Keys, name: str, value: object) -> bool:
    """Whether a value is a choice of any release."""
    return any(value in body.get("choices", ()) for _, _, body in keys.runs.get(name, ()))


def _unknown_key(view: ReleaseView, spelling: str, key: str, keys: Keys, text: TracedText, operand: str) -> Violation:
    """A key that the release refuses or ignores. `operand`: its name in conditions, "" for a single key."""
    refused = keys.extra != "ignore"
    rule, what = ("unknown-json-key", "refuses it") if refused else ("ignored-json-key", "ignores it")
    delete = Change(key=operand) if operand and not refused else None
    runs = keys.runs.get(key)
    instead = replacement(view.engine, operand) if operand and refused else None
    if runs:
        life = view.life(runs, keys.runs.values())
        return Violation(
            rule,
            text.span(),
            f"{key} of {spelling} {life.written(view.name)}; {view.release} {what}",
            instead.text if instead is not None and life.after is None else f"delete it, or use {life.use(view.name)}",
            "not a key of this release",
            change=delete if life.after is None else None,
            title=f"delete {key}",
            safe=True,
        )
    close = similar(key, keys.known, 0.75) if instead is None else None
    missing = instead.text if instead is not None else "correct its name, or delete it"
    return Violation(
        rule,
        text.span(),
        f"{view.release} has no key {key} in {spelling}, and {what}",
        f"did you mean {close}?" if close else missing,
        "no such key",
        change=written_at(text.written, close) if close else delete,
        title=f"write {close}" if close else f"delete {key}",
        safe=close is None,
    )


# -- fields of an engine's config class: the conversions of pydantic's lax mode, choices and bounds


_INTEGER = r"\s*[-+]?\d[\d_]*(?:\.0*)?\s*"
_TRUTH = frozenset(("0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"))
_BOUNDS = (
    ("ge", "at least", operator.ge),
    ("gt", "more than", operator.gt),
    ("le", "at most", operator.le),
    ("lt", "less than", operator.lt),
)
_TYPES = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text"}


def expected_of_node(body: dict[str, Any], node: JsonNode) -> str | None:
    """What a field takes instead of a JSON value that is a word, a number or a text; None if it may take the value."""
    if node.kind in (UNKNOWN, OBJECT, ARRAY) or node.value is None:
        return None
    return expected_of(body, node.value)


def expected_of(body: dict[str, Any], value: str | float | bool) -> str | None:
    """What a field takes instead of a value; None if it may take the value. `body`: the field in the catalog."""
    kinds = body.get("type", "any")
    types = {kinds} if isinstance(kinds, str) else set(kinds)
    choices = body.get("choices")
    if choices is not None:
        return (
            None if _chosen(choices, value, open_ended="any" in types) else listed([one for one in choices if one is not None])
        )
    if "any" in types or types & {"list", "object"}:
        return None
    fitting = [kind for kind in sorted(types - {"null"}) if _fits(kind, value)]
    if not fitting:
        return " or ".join([_TYPES[kind] for kind in sorted(types - {"null"})])
    if "str" in types or "bool" in types:
        return None
    number = _number(value) if isinstance(value, str) else value
    return _beyond(body, number) if number is not None else None


def _chosen(choices: list[Any], value: str | float | bool, *, open_ended: bool) -> bool:
    """Whether a value is one of the choices, in any case if a validator reads the enum."""
    if open_ended and isinstance(value, str):
        return value.lower() in [one.lower() for one in choices if isinstance(one, str)]
    return any(value == one and isinstance(value, str) == isinstance(one, str) for one in choices)


def _fits(kind: str, value: str | float | bool) -> bool:
    if kind == "str":
        return isinstance(value, str)
    if kind == "int":
        return re.fullmatch(_INTEGER, value) is not None if isinstance(value, str) else float(value).is_integer()
    if kind == "float":
        return not isinstance(value, str) or _number(value) is not None
    if kind == "bool":
        return value.lower() in _TRUTH if isinstance(value, str) else value in (0, 1)
    return True


def _beyond(bounds: dict[str, Any], number: float) -> str | None:
    """The bounds that a number breaks, in words; None if it breaks none. `bounds`: "ge", "gt", "le", "lt" and others."""
    broken = [f"{words} {bounds[name]}" for name, words, holds in _BOUNDS if name in bounds and not holds(number, bounds[name])]
    return f"a number of {' and '.join(broken)}" if broken else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
