"""What is to be written instead of words that a release refuses, where that is one thing."""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import Text
from servelint.engines.argv import Fault, Setting
from servelint.fixes.change import Change, written_at
from servelint.judge.parser.replacements import Replacement
from servelint.judge.parser.wording import Here

_ON = ("true", "1", "yes", "on")
_OFF = ("false", "0", "no", "off")
_PLAIN = re.compile(r"[\w./:=@%+-]+", re.ASCII)


def written_in(fault: Fault) -> Span | None:
    """Where the option of a fault stands in the file character for character."""
    if fault.span is None or fault.word is None or not fault.word.text.flat.startswith(fault.span.text):
        return None
    return fault.span


def setting_of(here: Here, word: Word | None) -> Setting | None:
    return next((one for one in here.config.reading.arguments.every if one.word is word), None)


def setting_named(here: Here, spelling: str) -> Setting | None:
    """The option of a spelling, where the launch sets it."""
    option = here.catalog.table(here.index).find(spelling)
    return next((one for one in here.config.reading.arguments.every if option is not None and one.name == option.name), None)


def instead_of(here: Here, instead: Replacement, setting: Setting | None) -> Change | None:
    """What takes an option's place, if the release takes that: another spelling, other words, nothing."""
    if setting is None:
        return None
    new = instead.option or next(iter(instead.write), None)
    if new is None:
        return Change(drop=[setting]) if instead.delete else None
    head, dot, _ = new.partition(".")
    if here.catalog.table(here.index).find(head) is None or (dot and not here.config.at_least("0.9.2")):
        return None
    if instead.option is None:
        there = setting_named(here, head)
        return Change(drop=[setting]) if there is not None else Change(instead=(setting.words, instead.write))
    flat = setting.word.text.flat
    return written_at(setting.word.text.cut(0, flat.find("=") if "=" in flat else None).written, instead.option)


def titled(instead: Replacement | None, spelling: str) -> str:
    """What instead_of does."""
    if instead is None:
        return ""
    if instead.delete:
        return f"delete {spelling}"
    return f"write {' '.join(instead.write) or instead.option}"


def two_words(fault: Fault) -> Change | None:
    """An option and its value, which are one word."""
    word = fault.word
    option, _, value = word.text.flat.partition(" ") if word is not None else ("", "", "")
    if word is None or not word.text.known or _PLAIN.fullmatch(value.strip()) is None:
        return None
    return Change(instead=([word], [option, value.strip()]))


def switched_off(setting: Setting | None) -> bool | None:
    """Whether the value that a switch is given says that it is off; None if it says neither."""
    value = setting.value.value if setting is not None and setting.value is not None else None
    return _says_off(value)


def _says_off(value: str | None) -> bool | None:
    plain = value.lower() if value is not None else ""
    return True if plain in _OFF else False if plain in _ON else None


def without_value(here: Here, setting: Setting | None) -> Change | None:
    """A switch without the value that it does not take; nothing where the value says that it is off."""
    off = switched_off(setting)
    if setting is None or off is None or not setting.spelling.startswith("--"):
        return None
    return _switch(here, setting, off, [setting.word])


def _switch(here: Here, setting: Setting, off: bool, words: list[Word]) -> Change:
    if not off:
        return Change(instead=(words, [setting.spelling]))
    other = setting.spelling.replace("--", "--no-", 1)
    if here.catalog.table(here.index).find(other) is not None:
        return Change(instead=(words, [other]))
    return Change(words=words)


def after_switch(here: Here, fault: Fault) -> Change | None:
    """A switch and `true` or `false` behind it."""
    setting = _before(here, fault)
    off = _says_off(fault.word.value) if fault.word is not None else None
    if setting is None or off is None or fault.word is None:
        return None
    return _switch(here, setting, off, [setting.word, fault.word])


def titled_switch(here: Here, fault: Fault) -> str:
    """What after_switch does."""
    setting = _before(here, fault)
    shown = fault.word.text.shown if fault.word is not None else ""
    return f"write {setting.spelling} without {shown}" if setting is not None else ""


def _before(here: Here, fault: Fault) -> Setting | None:
    argv = here.config.launch.argv
    at = next((index for index, word in enumerate(argv) if word is fault.word), 0)
    setting = setting_of(here, argv[at - 1]) if at else None
    option = setting.option if setting is not None else None
    if setting is None or option is None or option.takes_value or setting.value is not None:
        return None
    return setting if setting.spelling.startswith("--") else None


_PYTHON = {"True": "true", "False": "false", "None": "null"}


def mended_json(text: Text, at: int) -> tuple[Change | None, str]:
    """JSON without the comma that stands before a closing brace, or with Python's words as JSON's; and what was done."""
    flat = text.flat
    if flat[at : at + 1] == "," and flat[at + 1 :].lstrip()[:1] in ("}", "]"):
        return written_at(text.cut(at, at + 1).written, ""), "delete the comma"
    for word, plain in _PYTHON.items():
        if flat.startswith(word, at) and not flat[at + len(word) : at + len(word) + 1].isalnum():
            return written_at(text.cut(at, at + len(word)).written, plain), f"write {plain}"
    return None, ""
