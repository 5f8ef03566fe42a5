"""`read` and `mapfile`: what they store of a heredoc or a here-string; unknown for any other input."""

from __future__ import annotations

from servelint.core.launch import Word
from servelint.core.text import EMPTY, Text, unknown
from servelint.syntax.shell.fields import fields_of
from servelint.syntax.shell.state import unsure_items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.walk import Evaluator

_WHITE = " \t\n"


class _Options:
    """The options of `read` and the names after them."""

    def __init__(self, words: list[Word], with_value: str) -> None:
        self.given: dict[str, str | None] = {}
        at = 0
        while at < len(words) and words[at].shown.startswith("-") and len(words[at].shown) > 1:
            letters = words[at].shown[1:]
            at += 1
            for index, letter in enumerate(letters):
                if letter in with_value:
                    rest = letters[index + 1 :]
                    self.given[letter] = rest or (words[at].value if at < len(words) else None)
                    at += 0 if rest else 1
                    break
                self.given[letter] = ""
        self.names = [word.shown for word in words[at:] if word.shown.isidentifier()]


def read(shell: Evaluator, name: str, words: list[Word], inline: dict[str, Text], here: Text | None) -> None:
    if name != "read":
        _lines(shell, _Options(words, "dnOsuCc"), here)
        return
    options = _Options(words, "adinNptu")
    array = options.given.get("a")
    separators = inline["IFS"].value if "IFS" in inline else shell.separators()
    line = _line(options, here) if separators is not None else None
    if array:
        fields = fields_of(line, separators) if line is not None else unsure_items(array)
        shell.set(shell.resolved(array), fields)
        return
    names = options.names or ["REPLY"]
    texts = _split(line, separators or "", len(names)) if line is not None else None
    for index, variable in enumerate(names):
        shell.assign(variable, Text((unknown("${" + variable + "}", None),)) if texts is None else texts[index])


def _line(options: _Options, here: Text | None) -> Text | None:
    """What is read of the input; None if that is not known."""
    if here is None or not here.known or set(options.given) - set("adrs"):
        return None
    delimiter = options.given.get("d", "\n")
    end = here.flat.find(delimiter) if delimiter else -1
    line = here if delimiter is None or end == -1 else here.cut(0, end)
    return None if delimiter is None or ("\\" in line.flat and "r" not in options.given) else line


def _split(line: Text, separators: str, count: int) -> list[Text] | None:
    """The line's fields for a number of names: the last one takes what is left."""
    white = "".join([char for char in separators if char in _WHITE])
    flat = line.flat
    line = line.cut(len(flat) - len(flat.lstrip(white)), len(flat.rstrip(white))) if white else line
    if white != separators and any(char in line.flat for char in separators):
        return None
    texts: list[Text] = []
    while len(texts) < count - 1:
        flat = line.flat
        end = next((at for at, char in enumerate(flat) if char in white), len(flat))
        texts.append(line.cut(0, end))
        line = line.cut(end)
        line = line.cut(len(line.flat) - len(line.flat.lstrip(white))) if white else line
    return [*texts, line]


def _lines(shell: Evaluator, options: _Options, here: Text | None) -> None:
    name = shell.resolved(options.names[0] if options.names else "MAPFILE")
    if here is None or not here.known or set(options.given) != {"t"}:
        shell.set(name, unsure_items(name))
        return
    found: list[Word] = []
    at = 0
    while at < len(here.flat):
        end = here.flat.find("\n", at)
        end = len(here.flat) if end == -1 else end
        found.append(Word(here.cut(at, end) if end > at else EMPTY))
        at = end + 1
    shell.set(name, found)
