"""Complaints about the values of options: choices, conversions, JSON that cannot be read, options that end the start."""

from __future__ import annotations

import os

from servelint.core.launch import Word
from servelint.core.text import Text
from servelint.engines.argv import Setting
from servelint.engines.catalog import LIST, Option
from servelint.engines.conversions import Refused, convert, is_known
from servelint.fixes.change import written_at
from servelint.judge.parser.complaint import Complaint
from servelint.judge.parser.fields import expected_of
from servelint.judge.parser.repairs import instead_of, mended_json, titled
from servelint.judge.parser.replacements import replacement
from servelint.judge.parser.wording import Here, Life, elsewhere, listed, similar
from servelint.syntax import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_JSON = frozenset(("none", "json"))


def complaints(here: Here) -> list[Complaint]:
    found: list[Complaint] = []
    taken = here.config.reading.taken
    record = here.record
    # releases that declare these alike take different values
    by_release = (*record.moved_values, *record.looked_up_options, *record.object_options)
    for setting in here.config.reading.arguments.every:
        option = setting.option
        if option is None or "." in setting.name:
            continue
        if option.refuses:
            text = " ".join(option.refuses.split())
            instead = replacement(here.engine, setting.spelling.lstrip("-"))
            found.append(
                Complaint(
                    "refused-option",
                    setting.word.text.span() or setting.word.site,
                    f"{here.release} ends the start at {setting.spelling}",
                    text,
                    "refused",
                    change=instead_of(here, instead, setting) if instead is not None else None,
                    title=titled(instead, setting.spelling),
                    safe=instead is not None and instead.safe and not instead.delete,
                )
            )
            continue
        if not option.takes_value:
            continue
        words = setting.values if option.kind == LIST else [setting.value_word] if setting.value_word is not None else []
        for word in words:
            text_of = setting.value if word is setting.value_word else word.text
            place = id(setting), id(word)
            if text_of is not None and text_of.known and not word.many and place not in taken:
                complaint = _value(here, setting, option, text_of, word)
                if complaint is not None:
                    found.append(complaint)
                elif option.name not in by_release:
                    taken.add(place)
    return found


def _value(here: Here, setting: Setting, option: Option, text: Text, word: Word) -> Complaint | None:
    if setting.name == here.record.template_option and _is_missing(here.config.launch.folder, text.flat):
        return Complaint(
            "invalid-value",
            text.span() or word.site,
            f"{text.flat} looks like a path, and there is no such file; {here.release} refuses it",
            "name a file that is there, or write the template itself",
            "no such file",
        )
    if "json" in option.types and set(option.types) <= _JSON and text.flat not in ("", "None"):
        return _json(setting, text, word)
    try:
        converted = convert(here.engine, option.types, text.flat)
    except Refused as refused:
        shown = text.flat if text.flat else "an empty value"
        return Complaint(
            "invalid-value",
            text.span() or word.site,
            f"{setting.spelling} does not take {shown} in {here.release}",
            f"write {refused}",
            f"not {refused}",
        )
    if option.name in here.record.object_options and isinstance(converted, str) and here.checks_fields:
        message = f"{setting.spelling} takes an object in {here.release}, and {text.flat} is none"
        return Complaint("invalid-value", text.span() or word.site, message, "write a JSON object", "not an object")
    if option.choices is None:
        return _looked_up(here, setting, option, text, word)
    if not is_known(here.engine, option.types) or any(
        converted == one and isinstance(converted, bool) == isinstance(one, bool) for one in option.choices
    ):
        return None
    return _choice(here, setting, option.choices, text, word)


def _looked_up(here: Here, setting: Setting, option: Option, text: Text, word: Word) -> Complaint | None:
    """A name that the parser takes as it stands, and that is looked up when the configs are made of the arguments."""
    field = here.record.moved_values.get(option.name)
    if text.flat in ("", "None"):
        return None
    if field is not None:
        keys = here.catalog.keys(field[0], here.index)
        body = keys.get(field[1]) if keys is not None else None
        taken = body is None or "choices" not in body or expected_of(body, text.flat) is None
        return None if taken or body is None else _choice(here, setting, [one for one in body["choices"] if one], text, word)
    kind = here.record.looked_up_options.get(option.name)
    if kind is None:
        return None
    lives = here.catalog.names(kind)
    known = [name for name, runs in lives.items() if any(run[0] <= here.index <= run[1] for run in runs)]
    return _choice(here, setting, known, text, word) if known and text.flat not in known else None


def _is_missing(folder: str | None, template: str) -> bool:
    """Whether vLLM's validate_chat_template finds neither a template nor a file; its own are `.jinja` without a folder."""
    if folder is None or not template or any(char in template for char in "{}\n"):
        return False
    own = "/" not in template and template.endswith(".jinja")
    return not own and not os.path.exists(os.path.join(folder, template))


def _choice(here: Here, setting: Setting, choices: list[Any], text: Text, word: Word) -> Complaint:
    written = text.written
    close = similar(text.flat, [str(one) for one in choices]) if text.flat else None
    message = f"{text.flat or 'an empty value'} is no choice of {setting.spelling} in {here.release}"
    runs = [run for run in here.catalog.spelled(setting.spelling) if run[2].choices is not None]
    known = [run for run in runs if text.flat in (run[2].choices or ()) and run[2].name == setting.name]
    if known:
        engine = here.name
        life = Life(here.catalog, known, here.index)
        return Complaint(
            "invalid-choice",
            text.span() or word.site,
            f"{message}; it {life.told(engine)}",
            f"write {listed(choices)}, or use {life.use(engine)}",
            "not a choice of this release",
        )
    return Complaint(
        "invalid-choice",
        text.span() or word.site,
        message,
        f"write {close}, if that is meant" if close else f"write {listed(choices)}",
        "not a choice",
        change=written_at(written, close) if close else None,
        safe=close is not None and close.lower() == text.flat.lower(),
        title=f"write {close}" if close else "",
        new=close is None and not elsewhere(here.engine, setting.spelling, text.flat),
    )


def _json(setting: Setting, text: Text, word: Word) -> Complaint | None:
    node = json.parsed(text)
    if isinstance(node, json.JsonNode):
        return None
    at = min(node.offset, max(len(text.flat) - 1, 0))
    change, title = mended_json(text, at)
    return Complaint(
        "malformed-json",
        text.span(at, at + 1) or text.span() or word.site,
        f"the value of {setting.spelling} is no JSON: {node.message}",
        "mend it; quote the whole value in a shell, with double quotes inside",
        node.message,
        change=change,
        title=title,
        safe=True,
    )
