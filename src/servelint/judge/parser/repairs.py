"""What to write instead of words that a release refuses or ignores: replacements by name, and the edits that make them."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from servelint.core.data import data_path
from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import TracedText
from servelint.engines.argv import Fault, Setting
from servelint.fixes.change import Change, written_at
from servelint.judge.parser.view import ReleaseView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Replacement:
    """What replaces an option or variable that was removed or deprecated.

    Attributes:
        text: what to do, as an advice.
        option: the new spelling, if it takes the same value, or one of `values`.
        values: old value -> new one, where they differ.
        write: the words to write instead of the option and its value.
        by_value: old value -> the words to write instead of the option with this value; none to delete it.
        delete: whether nothing takes its place.
        idle: whether it already had no effect when it was deprecated.
        safe: whether the launch then means the same, or could mean nothing else.
    """

    __slots__ = ("by_value", "delete", "idle", "option", "safe", "text", "values", "write")

    def __init__(self, body: dict[str, Any]) -> None:
        self.option: str | None = body.get("option")
        self.values: dict[str, str] = body.get("values", {})
        self.write: list[str] = body.get("write", [])
        self.by_value: dict[str, list[str]] = body.get("by-value", {})
        self.idle: bool = body.get("idle", False)
        self.delete: bool = body.get("delete", False)
        self.safe: bool = body.get("safe", False)
        self.text: str = body.get("text", f"write {self.option}")


@lru_cache(maxsize=1)
def _data() -> dict[str, dict[str, Any]]:
    with open(data_path("engines/data/replacements.json"), encoding="utf-8") as file:
        found: dict[str, dict[str, Any]] = json.load(file)["engines"]
    return found


_OPTION = r"(?<![\w-])--[a-z][a-z0-9-]*"


def replacement(engine: str, name: str) -> Replacement | None:
    """What replaces an option (without dashes) or a variable of an engine; None if it is not known."""
    body = _data().get(engine, {}).get(name)
    return Replacement(body) if body is not None else None


_ON = ("true", "1", "yes", "on")
_OFF = ("false", "0", "no", "off")
_PLAIN = r"(?a)[\w./:=@%+-]+"


def written_in(fault: Fault) -> Span | None:
    """The span of a fault's option, if the file has it character for character; None otherwise."""
    if fault.span is None or fault.word is None or not fault.word.text.flat.startswith(fault.span.text):
        return None
    return fault.span


def spelled_as(fault: Fault, option: str) -> Change | None:
    """A change of a fault's option, as the file has it: with its dashes, or as a key without those of a long option."""
    span = written_in(fault)
    if span is None and fault.span is not None and option.startswith("--") and "--" + fault.span.text == fault.spelling:
        return written_at(fault.span, option[2:])
    return written_at(span, option)


def setting_of(view: ReleaseView, word: Word | None) -> Setting | None:
    """The setting that a word of the argv makes; None if it makes none."""
    return next((one for one in view.config.reading.arguments.every if one.word is word), None)


def setting_named(view: ReleaseView, spelling: str) -> Setting | None:
    """The setting of an option by any of its spellings; None if the launch does not set it."""
    option = view.find(spelling)
    every = view.config.reading.arguments.every if option is not None else []
    # a word that the release refuses, such as ---port, has the name of the option too, and sets nothing
    return next((one for one in every if option is not None and one.name == option.name and one.option is not None), None)


def in_place_of(view: ReleaseView, name: str, setting: Setting | None = None) -> Replacement | None:
    """What replaces an option or a variable in a launch; None if the release does not have it.

    Nothing does, where the launch sets it already.
    """
    found = replacement(view.engine, name.lstrip("-"))
    if found is None:
        return None
    if found.by_value:
        given = setting or next((one for one in view.config.reading.arguments.every if one.spelling == name), None)
        words = found.by_value.get(given.value.flat) if given is not None and given.value is not None else None
        if words is not None:
            found = Replacement(
                {"write": words, "text": f"write {' '.join(words)}"} if words else {"text": "delete it", "delete": True}
            )
    new = found.option or next(iter(found.write), "")
    if any(view.find(one) is None for one in re.findall(_OPTION, f"{new.partition('.')[0]} {found.text}")):
        return (
            Replacement({"text": "delete it", "delete": True, "safe": found.safe, "idle": found.idle}) if found.delete else None
        )
    there = setting_named(view, new)
    return found if there is None or there is setting else _set_already(new, safe=found.safe)


def _set_already(name: str, *, safe: bool) -> Replacement:
    return Replacement({"text": f"delete it: {name} is set already", "delete": True, "safe": safe})


def instead_of(view: ReleaseView, instead: Replacement | None, setting: Setting | None) -> Change | None:
    """The change from an option to its replacement, if the release takes that; None otherwise."""
    if setting is None or instead is None:
        return None
    new = instead.option or next(iter(instead.write), None)
    if new is None:
        return Change(drop=[setting]) if instead.delete else None
    head, dot, _ = new.partition(".")
    if view.find(head) is None or (dot and not view.at_least("0.9.2")):
        return None
    if instead.option is None:
        there = setting_named(view, head)
        return Change(drop=[setting]) if there is not None else Change(instead=(setting.words, instead.write))
    flat = setting.word.text.flat
    if instead.values:
        value = instead.values.get(setting.value.flat) if setting.value is not None else None
        return Change(instead=(setting.words, [instead.option, value])) if value is not None else None
    return written_at(setting.word.text.cut(0, flat.find("=") if "=" in flat else None).written, instead.option)


def titled(instead: Replacement | None, spelling: str) -> str:
    """The title of the change of `instead_of`."""
    if instead is None:
        return ""
    if instead.delete:
        return f"delete {spelling}"
    return f"write {' '.join(instead.write) or instead.option}"


def two_words(fault: Fault) -> Change | None:
    """The change that splits a word into an option and its value."""
    word = fault.word
    option, _, value = word.text.flat.partition(" ") if word is not None else ("", "", "")
    if word is None or not word.text.known or re.fullmatch(_PLAIN, value.strip()) is None:
        return None
    return Change(instead=([word], [option, value.strip()]))


def switched_off(setting: Setting | None) -> bool | None:
    """Whether the value of a switch means off; None if it means neither on nor off."""
    return _means_off(setting.value.value if setting is not None and setting.value is not None else None)


def _means_off(value: str | None) -> bool | None:
    plain = value.lower() if value is not None else ""
    return True if plain in _OFF else False if plain in _ON else None


def without_value(view: ReleaseView, setting: Setting | None) -> Change | None:
    """The change to a switch without the value that it does not take; nothing is written where the value means off."""
    off = switched_off(setting)
    if setting is None or off is None or not setting.spelling.startswith("--"):
        return None
    return _switch(view, setting, off, [setting.word])


def _switch(view: ReleaseView, setting: Setting, off: bool, words: list[Word]) -> Change:
    if not off:
        return Change(instead=(words, [setting.spelling]))
    other = setting.spelling.replace("--", "--no-", 1)
    if view.find(other) is not None:
        return Change(instead=(words, [other]))
    return Change(words=words)


def swallowed(view: ReleaseView, setting: Setting) -> bool:
    """Whether the value of an option is the next option: some parsers take the next word, whatever it looks like."""
    flat = setting.value.flat if setting.value is not None and setting.option is not None and setting.option.choices else ""
    return view.record.dialect.next_word and flat.startswith("-") and view.find(flat) is not None


def after_switch(view: ReleaseView, fault: Fault) -> tuple[Change | None, str]:
    """The change of a switch with a word `true` or `false` behind it, and its title."""
    setting = _before(view, fault)
    off = _means_off(fault.word.value) if fault.word is not None else None
    if setting is None or off is None or fault.word is None:
        return None, ""
    change = _switch(view, setting, off, [setting.word, fault.word])
    written = change.instead[1] if change.instead is not None else []
    return change, f"write {written[0]} without {fault.word.shown}" if written else f"delete {setting.spelling}"


def _before(view: ReleaseView, fault: Fault) -> Setting | None:
    argv = view.config.launch.argv
    at = next((index for index, word in enumerate(argv) if word is fault.word), 0)
    setting = setting_of(view, argv[at - 1]) if at else None
    option = setting.option if setting is not None else None
    if setting is None or option is None or option.takes_value or setting.value is not None:
        return None
    return setting if setting.spelling.startswith("--") else None


_PYTHON = {"True": "true", "False": "false", "None": "null"}


def mended_json(text: TracedText, at: int) -> tuple[Change | None, str]:
    """The change that mends JSON at a position, and its title: a comma before a closing brace, a word of Python's."""
    flat = text.flat
    if flat[at : at + 1] == "," and flat[at + 1 :].lstrip()[:1] in ("}", "]"):
        return written_at(text.cut(at, at + 1).written, ""), "delete the comma"
    for word, plain in _PYTHON.items():
        if flat.startswith(word, at) and not flat[at + len(word) : at + len(word) + 1].isalnum():
            return written_at(text.cut(at, at + len(word)).written, plain), f"write {plain}"
    return None, ""
