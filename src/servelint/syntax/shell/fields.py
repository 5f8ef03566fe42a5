"""The fields that one raw word expands to: what quotes keep together, and what white space or IFS splits."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.launch import Word
from servelint.core.text import HOLE, Text, spend, unknown

WHITE = " \t\n"


class Fields:
    """Collects the words that one raw word expands to.

    separators: what splits the value of an unquoted expansion (IFS); None if it is not known
    marks:      for each part of the word in progress, whether it is quoted
    nested:     inside a default (`${V:-a b}`), whose plain text is split like a value
    soft:       inside a default that the environment may override
    """

    def __init__(self, split: bool, separators: str | None = WHITE) -> None:
        self.split = split
        self.delimiter = _delimiter(separators) if separators is not None else None
        self.done: list[tuple[Text, bool]] = []
        self.parts: list[Text] = []
        self.marks: list[bool] = []
        self.quoted = False
        self.nested = False
        self.soft = False

    def add(self, text: Text, quoted: bool = True) -> None:
        """Text that is never split."""
        self.parts.append(text.softened() if self.soft else text)
        self.marks.append(quoted)

    def add_plain(self, text: Text) -> None:
        """Text as the word holds it, without quotes."""
        if self.nested:
            self.add_value(text)
        else:
            self.add(text, quoted=False)

    def add_value(self, text: Text) -> None:
        """The value of an unquoted expansion."""
        if not self.split or not text.flat:
            self.add(text, quoted=False)
            return
        if self.delimiter is None:
            self.add(Text((unknown(text.shown, text.span()),)), quoted=False)
            return
        at = 0
        spend(8 * len(text.flat))
        for match in self.delimiter.finditer(text.flat):
            if match.group(1):
                self.add(text.cut(at, match.start()), quoted=False)
                self.quoted = True
            elif match.start() > at:
                self.add(text.cut(at, match.start()), quoted=False)
            self.end()
            at = match.end()
        if at < len(text.flat):
            self.add(text.cut(at), quoted=False)

    def end(self) -> None:
        if self.quoted or any(part.flat for part in self.parts):
            text = Text.join(self.parts)
            self.done.append((text, not self.quoted and not text.flat.strip(HOLE)))
        elif any(part.assumed for part in self.parts):
            self.done.append((Text.join(self.parts), True))  # a default that is empty: no word, unless it is given
        self.parts, self.marks, self.quoted = [], [], False


@lru_cache(maxsize=32)
def _delimiter(separators: str) -> re.Pattern[str]:
    """What stands between two fields; group 1 is a separator that is no white space, which ends even an empty field."""
    white = "".join([char for char in separators if char in WHITE])
    hard = re.escape("".join([char for char in separators if char not in WHITE]))
    spaces = f"[{white}]" if white else "(?!)"
    return re.compile(f"{spaces}*([{hard}]){spaces}*|{spaces}+" if hard else f"(?!)()|{spaces}+")


def fields_of(text: Text, separators: str | None) -> list[Word]:
    """The words that the value of an unquoted expansion is split into."""
    fields = Fields(True, separators)
    fields.add_value(text)
    fields.end()
    return [Word(part, None, many) for part, many in fields.done]
