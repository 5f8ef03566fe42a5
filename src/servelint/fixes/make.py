"""Edits of a launch's file from what a rule or the engine's parser wants changed, and the launch that must result."""

from __future__ import annotations

import json
import re

from servelint.core.finding import Edit, Effect, Fix
from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.engines.argv import Setting
from servelint.engines.config import Config
from servelint.fixes import entries
from servelint.fixes.change import Change, name_span, site_of
from servelint.fixes.entries import entry_removal, variable_removal
from servelint.fixes.words import Command, addition, ahead, exchange, is_mapped, removal
from servelint.syntax.json import STRING, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Refused(Exception):
    """A change cannot be made where the text stands."""


def of_rule(fix: dict[str, Any], config: Config, at: list[str], fill: Callable[[str], str]) -> Fix | None:
    """The fix that a rule describes at a launch; None if it cannot be made. Arguments as in servelint.fixes.fix_for."""
    maker = _Maker(config)
    try:
        for name, value in fix.get("set", {}).items():
            maker.set(name, value if isinstance(value, bool) else fill(str(value)), at)
        for name, other in fix.get("rename", {}).items():
            maker.rename(name, fill(str(other)))
        if "positional" in fix:
            maker.move_first(fix["positional"])
        if (deleted := [maker.delete(name) for name in fix.get("delete", [])]) and not any(deleted):
            return None
    except _Refused:
        return None
    return maker.fix(bool(fix["safe"]), fix.get("note", ""))


def of_change(change: Change, config: Config, safe: bool, title: str) -> Fix | None:
    """The fix that makes a change; None if it cannot be made."""
    maker = _Maker(config)
    try:
        for span, text in change.replace:
            maker.write(span, text)
        for setting in change.drop:
            maker.drop(setting)
        if change.words:
            maker.drop_words(change.words)
        if change.instead is not None:
            maker.exchange(*change.instead)
        if change.goes_on is not None:
            maker.go_on(change.goes_on)
        if change.key and not maker.delete(change.key):
            return None
        if change.option is not None:
            maker.add(change.option[0].removeprefix("--"), change.option[1], [])
        if change.unset:
            maker.delete_variable(change.unset)
        if change.rename is not None:
            maker.rename_variable(*change.rename)
    except _Refused:
        return None
    return maker.fix(safe, "", title)


class _Maker:
    """Gathers the edits of one fix."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.launch = config.launch
        self.command = Command(self.launch)
        self.effect = Effect(self.launch)
        self.edits: list[Edit] = []
        self.titles: list[str] = []
        self._objects: dict[int, Any] = {}  # the JSON value of a word, as the changes so far leave it

    def fix(self, safe: bool, note: str, title: str = "") -> Fix | None:
        if not self.edits or any(edit.span.source is not self.launch.source for edit in self.edits):
            return None
        if self.config.made is not None and not _is_python(self.launch.source.text, self.edits):
            return None
        return Fix(title or ", ".join(self.titles), safe, self.edits, note=note, effect=self.effect)

    # -- what stands in the file

    def write(self, span: Span, text: str) -> None:
        """Replace characters that stand in the file as they are."""
        if self.config.made is not None:
            text = _argument(span, text)
        self.edits.append(Edit(span, text))
        self.effect.replace(span, text)

    def go_on(self, span: Span) -> None:
        """Continue a shell command on the next line."""
        self.edits.append(Edit(span, " \\"))
        blanks = [word for word in self.launch.argv if word.site is not None and span.start <= word.site.start < span.end]
        self.effect.drop(blanks)  # what a backslash and a blank make
        self.effect.goes_on = True

    def set(self, name: str, value: str | bool, at: list[str]) -> None:
        shown = _shown_of(value)
        head, dot, rest = name.partition(".")
        node = entries.node(self.config.reading, name)
        self.titles.append(_title(name, value, node))
        setting = self._setting(name)
        operand = self.config.operand(name)
        if isinstance(value, bool) and setting is not None and setting.on is value:
            self.titles.pop()  # as it is to be
        elif setting is not None and setting.value is None:
            self._toggle(setting, value)
        elif operand.text is not None and operand.text.flat and operand.present:
            self._value(operand.text.written, shown, node)
        elif (operand.present is not False and setting is None and operand.text is not None) or head == "env":
            raise _Refused
        else:
            self.titles[-1] = self.titles[-1].replace("write ", "add ", 1)
            if dot:
                self._add_member(head, rest, value)
            elif setting is not None:
                raise _Refused
            else:
                self.add(name, value, at)

    def _value(self, written: Span | None, text: str, node: JsonNode | None) -> None:
        if written is None or not text or not entries.PLAIN.issuperset(text):
            raise _Refused
        if node is not None and node.kind != STRING and not entries.is_literal(text):
            raise _Refused
        self.write(written, text)

    def _toggle(self, setting: Setting, on: str | bool) -> None:
        if setting.on is None or isinstance(on, str):
            raise _Refused
        span = setting.word.text.written
        if span is None or not setting.spelling.startswith("--"):
            raise _Refused
        name = setting.spelling.removeprefix("--no-" if on else "--")
        self.write(span, ("--" if on else "--no-") + name)

    def add(self, name: str, value: str | bool, at: list[str]) -> None:
        if self.launch.fragment or not self.launch.argv or not self._is_known(name):
            raise _Refused
        texts = [f"--{name}"] if value is True else [f"--no-{name}"] if value is False else [f"--{name}", str(value)]
        owners = [one if one.startswith("effective.") else one.partition(".")[0] for one in at]
        beside = [setting for one in owners if (setting := self._setting(one)) is not None]
        anchors = [setting.words for setting in beside] + [[self.launch.argv[-1]]]
        for anchor in anchors:
            if not all(self.command.holds(word) for word in anchor):
                continue
            joined = texts
            if len(texts) == 2 and len(anchor) == 1 and "=" in anchor[0].text.flat and anchor[0].text.flat.startswith("--"):
                joined = ["=".join(texts)]
            if (found := addition(self.command, anchor, joined)) is not None:
                edit, before = found
                same = next((one for one in self.edits if one.span == edit.span), None)
                if same is not None:
                    self.edits[self.edits.index(same)] = Edit(edit.span, same.text + edit.text)
                else:
                    self.edits.append(edit)
                self.effect.add(anchor[0] if before else anchor[-1], joined, before=before)
                return
        raise _Refused

    def _is_known(self, name: str, key: str = "") -> bool:
        """Whether the release has an option and a key of it; True where that is not known."""
        catalog, index = self.config.catalog, self.config.index
        if catalog is None or index is None:
            return True
        option = catalog.table(index).find("--" + name)
        if option is None or not key:
            return option is not None
        keys = catalog.keys(option.json, index) if option.json else None
        return keys is None or keys.get(key) is not None

    def rename(self, name: str, other: str) -> None:
        head, _, rest = name.partition(".")
        if head == "env":
            self.rename_variable(rest, other)
            return
        if (node := entries.member(self.config.reading, name)) is not None:
            span = node[0].content.written
            if span is None:
                raise _Refused
            self.titles.append(f"write {other} for {name.rpartition('.')[2]}")
            self.write(span, other)
            return
        setting = self._setting(name)
        if setting is None or "." in name:
            raise _Refused
        flat = setting.word.text.flat
        span = setting.word.text.cut(0, flat.find("=") if "=" in flat else None).written
        if span is None:
            raise _Refused
        self.titles.append(f"write {other} for {setting.spelling}")
        self.write(span, other)

    def rename_variable(self, name: str, other: str) -> None:
        variable = self.launch.env.get(name)
        span = name_span(variable) if variable is not None else None
        if span is None or span.text != name or other in self.launch.env:
            raise _Refused
        self.titles.append(f"write {other} for {name}")
        self.edits.append(Edit(span, other))
        self.effect.rename(name, other)

    def move_first(self, name: str) -> None:
        """Make an option's value the first word, where the engine takes it without the option."""
        setting = self._setting(name)
        argv = self.launch.argv
        if setting is None or setting.value is None or not argv or is_mapped(setting.word):
            raise _Refused
        flat = setting.word.text.flat
        self.titles.append(f"write {setting.value.shown} first, without {setting.spelling}")
        if setting.word is argv[0] and "=" in flat:
            span = setting.word.text.cut(0, flat.index("=") + 1).written
            if span is None:
                raise _Refused
            self.write(span, "")
        elif setting.word is argv[0]:
            self.drop_words([setting.word])
        else:
            place = setting.value.written if "=" in flat else self.command.place(setting.words[-1])
            apart = argv[0].site != setting.word.site and self.command.place(setting.word) != setting.word.site
            edit = None
            if place is not None and len(setting.words) < 3 and not apart:  # other commands may share an array
                edit = ahead(self.command, argv[0], place)
            if edit is None:
                raise _Refused
            self.drop(setting)
            self.edits.append(edit)
            self.effect.add(argv[0], [setting.value.shown], before=True)

    # -- what goes

    def delete(self, name: str) -> bool:
        """Take out an option, a key of a JSON option or a variable; False if it is not there."""
        head, _, rest = name.partition(".")
        if head == "env":
            if rest not in self.launch.env:
                return False
            self.delete_variable(rest)
            return True
        found = [setting for setting in self.config.reading.arguments.every if setting.name == name]
        other = self._setting(name)
        for setting in found or ([other] if other is not None else []):
            self.titles.append(f"delete {setting.spelling}")
            self.drop(setting)
        if found or other is not None:
            return True
        if entries.member(self.config.reading, name) is not None:
            self.titles.append(f"delete {rest}")
            self._drop_member(head, rest)
            return True
        return False

    def delete_variable(self, name: str) -> None:
        variable = self.launch.env.get(name)
        site = site_of(variable) if variable is not None else None
        edit = variable_removal(name, site) if site is not None else None
        if edit is None:
            raise _Refused
        self.titles.append(f"delete {name}")
        self.edits.append(edit)
        self.effect.rename(name, None)

    def drop(self, setting: Setting) -> None:
        if is_mapped(setting.word):
            self._drop_entry(setting)
        else:
            self.drop_words(setting.words)

    def drop_words(self, words: list[Word]) -> None:
        self._edit_words(removal(self.command, words), words)

    def _drop_entry(self, setting: Setting) -> None:
        words, argv = setting.words, self.launch.argv
        key = setting.word.site
        after = next((argv[at + 1] for at, word in enumerate(argv[:-1]) if word is words[-1]), None)
        if after is not None and after.text.flat == "None" and after.site is not None and after.site.start == after.site.end:
            words = [*words, after]  # what a key without a value is read as
        self._edit_words(entry_removal(key, words[-1].site) if key is not None else None, words)

    def exchange(self, words: list[Word], texts: list[str]) -> None:
        self._edit_words(exchange(self.command, words, texts), words)
        self.effect.add(words[-1], texts)

    def _edit_words(self, edit: Edit | None, words: list[Word]) -> None:
        """Take an edit that removes words of the launch."""
        if edit is None or not all(self.command.holds(word) for word in words):
            raise _Refused
        self.edits.append(edit)
        self.effect.drop(words)

    # -- JSON

    def _drop_member(self, option: str, path: str) -> None:
        edit = entries.removal(self.config.reading, option, path) if self.config.made is None else None
        if edit is None:
            raise _Refused
        self._object(option, path, lambda inner, name: inner.pop(name))
        self.edits.append(edit)

    def _add_member(self, option: str, key: str, value: str | bool) -> None:
        known = self._is_known(option, key) and self.config.made is None
        edit = entries.addition(self.config.reading, option, key, _shown_of(value)) if known else None
        if edit is None:
            raise _Refused
        made = entries.literal(_shown_of(value))

        def add(inner: dict[str, Any], name: str) -> None:
            inner[name] = made

        self._object(option, key, add)
        self.edits.append(edit)

    def _object(self, option: str, path: str, change: Callable[[dict[str, Any], str], object]) -> None:
        """Note the new JSON value of an option."""
        setting = self.config.setting(option)
        word = setting.value_word if setting is not None else None
        if setting is None or word is None or setting.value is None or not self.command.holds(word):
            raise _Refused
        shown = setting.value.shown
        if id(word) not in self._objects:
            try:
                self._objects[id(word)] = json.loads(shown)
            except ValueError:
                raise _Refused from None
        whole = inner = self._objects[id(word)]
        *above, last = path.split(".")
        for key in above:
            inner = inner[key]
        change(inner, last)
        self.effect.object(word, word.shown.removesuffix(shown), whole)

    # -- names

    def _setting(self, name: str) -> Setting | None:
        """The option that an operand names, also where the operand is the engine's reading of it."""
        if (found := self.config.setting(name)) is not None or not name.startswith("effective."):
            return found
        text = self.config.operand(name).text
        every = self.config.reading.arguments.every if text is not None else []
        return next((setting for setting in every if text is setting.value or text is setting.word.text), None)


_LITERAL = r"-?\d[\d_]*(?:\.\d+)?(?:e-?\d+)?"
_TRUTH = ("true", "false")


def _argument(span: Span, text: str) -> str:
    """What is written in place of a keyword argument's name or value; the same kind of literal stands there already."""
    old, around = span.text, span.source.text
    if text.startswith("--"):
        name = text[2:].replace("-", "_")
        if text.startswith("--no-") or not (old.isidentifier() and name.isidentifier()):
            raise _Refused
        return name
    if old.lower() in _TRUTH and text.lower() in _TRUTH:
        return text.capitalize()
    before, after = around[span.start - 1 : span.start], around[span.end : span.end + 1]
    quoted = before == after and before in ("'", '"') and not set(text) & set("'\"\\{}\n")
    if not quoted and (re.fullmatch(_LITERAL, old) is None or re.fullmatch(_LITERAL, text) is None):
        raise _Refused
    return text


def _is_python(text: str, edits: list[Edit]) -> bool:
    """Whether a script is valid Python after some edits. Of another file that holds Python, it is not known."""
    import ast

    if not all(edit.span.source.path.endswith(".py") for edit in edits):
        return False
    for edit in sorted(edits, key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _shown_of(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value


def _title(name: str, value: str | bool, node: JsonNode | None) -> str:
    shown = _shown_of(value)
    head, dot, rest = name.partition(".")
    if head == "effective":
        return f"write {shown}"
    if head == "env":
        return f"write {rest}={shown}"
    if dot:
        text = shown if entries.is_literal(shown) and (node is None or node.kind != STRING) else json.dumps(shown)
        return f'write "{name.rpartition(".")[2]}": {text}'
    return f"write --{name}" if value is True else f"write --no-{name}" if value is False else f"write --{name} {shown}"
