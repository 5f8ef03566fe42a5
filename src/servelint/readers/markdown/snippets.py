"""Commands as pages show them: placeholders for the reader to fill in, consoles with prompts, commands among other text.

What a page means to be filled in or added (`<model>`, `{port}`, `[options]`, `...`) is unknown. Of a console, only what was
typed after a prompt counts. Of a block that is not marked as one of commands, only lines that plainly are commands do.
"""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.text import EMPTY, TracedText
from servelint.engines import entry
from servelint.engines.registry import ENGINES
from servelint.readers.commands import SHELLS, WRAPPERS
from servelint.readers.containers import TOOLS
from servelint.readers.markdown.blocks import lines_of

_WHO = (
    r"(?:\([\w .:/-]{1,80}\)[ \t]*)?(?:\[?[\w.-]{1,64}@[\w.-]{1,64}(?:[: ][^\n$#%>]{0,80}?)?\]?[ \t]?|~[^\s$#%>]{0,80}[ \t]?)?"
)
_PROMPT = re.compile(rf"[ \t]*(?:{_WHO}\$|PS(?:[ \t][^\n>]{{0,80}})?>|[A-Za-z]:\\[^\n>]{{0,80}}>|[\u276f\u279c])[ \t]+(?=\S)")
_ROOT = re.compile(rf"[ \t]*{_WHO}#[ \t]+(?=\S)")
_ROOT_OF_HOST = re.compile(
    r"[ \t]*(?:\([\w .:/-]{1,80}\)[ \t]*)?\[?[\w.-]{1,64}@[\w.-]{1,64}(?:[: ][^\n$#%>]{0,80}?)?\]?[ \t]?#[ \t]+(?=\S)"
)
_MORE = re.compile(r"[ \t]*>[ \t]")
_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)")
_LINES_AT_MOST = 400
_UNCLOSED_AT_MOST = 20


def commands(text: TracedText, root: bool = False) -> TracedText | None:
    """What was typed, as a script; None if no line has a prompt. root: a bare `#` is a prompt too."""
    flat = text.flat
    lines = lines_of(flat)
    typed: list[tuple[int, int]] = []
    at = unclosed = 0
    while at < len(lines):
        start, end = lines[at]
        prompt = _PROMPT.match(flat, start, end) or _ROOT_OF_HOST.match(flat, start, end)
        if prompt is None and root:
            prompt = _ROOT.match(flat, start, end)
        at += 1
        if prompt is not None:
            typed.append((prompt.end(), end))
            more, closed = _rest(flat, lines, at, flat[prompt.end() : end], quotes=unclosed < _UNCLOSED_AT_MOST)
            unclosed += not closed
            typed += more
            at += len(more)
    return TracedText.join([text.cut(start, end) for start, end in typed]) if typed else None


def continued(text: TracedText) -> TracedText:
    """A script without the `> ` that a shell printed in front of a continued line that starts with an option."""
    return text.sub(
        re.compile(r"\\\r?\n(?P<mark>[ \t]*>[ \t]+)(?=-)"), lambda match: text.cut(match.start(), match.start("mark"))
    )


_COMMON = (
    r"(?:a|an|and|are|as|at|by|can|for|from|if|in|into|is|it|its|of|on|or|so|than|that|the|then|this|to|when|which|will|with|you"
    r"|your)"
)
_SIGN = r"[ \t]+(?://|<-+|-+>|=>|\u2190|\u2192|\u2014|\u2013)[ \t]"
_NOTE = rf"(?<=\S)[ \t]{{2,}}(?=[^\n]*\b{_COMMON}\b|[A-Z][a-z]+[ \t])[^\W\d_][^\n\"'`$\\|]*$|{_SIGN}[^\n]*$"
_SENTENCE = rf"^[^\n\"'`$\\|;&=]*?(?:[ \t][A-Za-z]+,?){{1,9}}?[ \t]{_COMMON}(?:[ \t]+[A-Za-z]+[,.]?){{2,}}[^\n]*$"


_ROW = r"^[ \t]*[\w./:-]+(?:[ \t]{2,}|\t)\d[\d.,]*(?:%|[kKMGT]?i?B)?(?:[ \t][^\n]*)?$"
"""A row of a table that a program printed: a name, blanks, a number."""
_DRAWN = re.compile(r"^(?![ \t]*#)[^\n#\"']*[\u2190-\u21ff\u2500-\u25ff]", re.MULTILINE)


def without_prose(text: TracedText) -> TracedText:
    """Commands without the notes behind them on their lines, and without lines that are sentences or rows of a table."""
    notes = text.sub(re.compile(_NOTE, re.MULTILINE), lambda _: EMPTY)
    return notes.sub(re.compile(f"{_SENTENCE}|{_ROW}", re.MULTILINE), lambda _: EMPTY)


def is_figure(text: TracedText) -> bool:
    """Whether a block has arrows or lines of a figure, outside comments and quotes."""
    return _DRAWN.search(text.flat) is not None


def _rest(flat: str, lines: list[tuple[int, int]], at: int, line: str, quotes: bool) -> tuple[list[tuple[int, int]], bool]:
    """The lines that a command goes on for, the first of which has an index; and whether its quotes are closed.

    It goes on after a backslash and, with `quotes`, inside quotes and a here-document; one that never closes is an apostrophe.
    """
    more: list[tuple[int, int]] = []
    state = _after(line, "")
    kept = 0
    while state == "\\" or (state and quotes):
        if at + len(more) >= len(lines) or len(more) >= _LINES_AT_MOST:
            return more[:kept], state == "\\"
        low, high = lines[at + len(more)]
        mark = _MORE.match(flat, low, high) if not state.startswith("<") else None
        low = mark.end() if mark is not None else low
        more.append((low, high))
        after_backslash = state == "\\"
        state = _after(flat[low:high], state)
        if after_backslash or state in ("", "\\"):
            kept = len(more)
    return more, not state


def _after(line: str, state: str) -> str:
    """What is open at a line's end: "" nothing, a backslash, a quote, or `<` and the word that ends a here-document."""
    if state.startswith("<"):
        return "" if line.strip() == state[1:] else state
    quote = state if state in ("'", '"') else ""
    heredoc = _HEREDOC.search(line) if not quote else None
    at = 0
    line = line.rstrip("\r\n")
    while at < len(line):
        char = line[at]
        if char == "\\" and quote != "'":
            if at + 1 == len(line):
                return quote or "\\"
            at += 1
        elif char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        elif not quote and char == "#" and (at == 0 or line[at - 1] in " \t"):
            break
        at += 1
    return quote or ("<" + heredoc["word"] if heredoc is not None else "")


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=(?!=)")
_OPERATOR = re.compile(r"[|;&]+|[12&]?>>?.*|<|#.*|\\")
"""A word that ends a command, or is a comment or a redirection behind it."""
_FIGURE = re.compile(r".*[\u2190-\u21ff\u2500-\u25ff].*|<-+|[-=]+>")
"""A word of a figure."""
_VALUE = re.compile(r"[<$\[{\"'.\u2026]|[^/]*/|[\w-]*[\d._-]")
"""How a model or a path begins, which a word of a sentence does not."""
_PLAIN_WORD = re.compile(r"[A-Za-z]+[,.:]?")
_SENTENCE_AT_LEAST = 3
_WORDS_AT_MOST = 40
_AROUND = frozenset((
    *("apt", "apt-get", "cd", "conda", "curl", "echo", "export", "git", "hf", "huggingface-cli", "mkdir", "modelscope", "pip"),
    *("pip3", "rm", "set", "source", "sudo", "tmux", "ulimit", "unset", "uv", "wget"),
))  # fmt: skip
"""Programs of commands beside those that start an engine."""
_PREPARES = frozenset(("conda", "export", "pip", "pip3", "sudo", "uv"))
"""Those of them that may say what the engine finds: its release, its variables."""


def unmarked(text: TracedText, *, mixed: bool) -> TracedText | None:
    """Find the commands of a block that is not marked as one of commands, and has no prompts.

    Args:
        text: the block.
        mixed: whether other lines may come before the first command, as in a text; a block of another language that is
            written as one of commands begins with one.

    Returns:
        The lines that start an engine and those that prepare it; None if no line plainly starts one.
    """
    kept: list[TracedText] = []
    starts = False
    for start, end in _joined(text.flat):
        words = text.flat[start:end].replace("\\\n", " ").replace("\\\r\n", " ").split()
        magic = re.match(r"[ \t]*!", text.flat[start:end])
        if magic is not None:
            words[0] = words[0][1:]
        words = [word for word in words if word]
        if not words or words[0].startswith("#"):
            continue
        begins = _starts_engine(words)
        if not begins and not mixed and not starts and not kept and not _is_command(words):
            return None
        if begins or words[0] in _PREPARES or (len(words) == 1 and _ASSIGNMENT.match(words[0]) is not None):
            kept.append(text.cut(start + (magic.end() if magic is not None else 0), end))
        starts = starts or begins
    return TracedText.join(kept) if starts else None


def _joined(flat: str) -> list[tuple[int, int]]:
    """The lines of a text, each with those that a backslash joins to it."""
    found: list[tuple[int, int]] = []
    goes_on = False
    for start, end in lines_of(flat):
        found.append((found.pop()[0], end) if goes_on else (start, end))
        goes_on = flat[start:end].rstrip("\r\n").endswith("\\")
    return found


def _is_command(words: list[str]) -> bool:
    program = words[0].rpartition("/")[2]
    known = program in _AROUND or program in WRAPPERS or program in SHELLS or program in TOOLS or entry.is_program(program)
    return _ASSIGNMENT.match(words[0]) is not None or known


def _starts_engine(words: list[str]) -> bool:
    """Whether the words of a line plainly are a command that starts an engine."""
    at = next((at for at, word in enumerate(words) if _ASSIGNMENT.match(word) is None), len(words))
    if at == len(words):
        return False
    given = [Word(TracedText.of(word)) for word in words[: at + _WORDS_AT_MOST]]
    program = words[at].rpartition("/")[2]
    if program in TOOLS:
        return len(words) > at + 2 and _are_arguments(words[at + 1 :])
    places = range(at, len(given)) if program in WRAPPERS else (at,)
    found = next((one for place in places if (one := entry.find(given, place)) is not None), None)
    if found is None:
        return False
    arguments = words[found.end :]
    if not arguments:
        return ENGINES[found.engine].pulls_models
    return (arguments[0].startswith("-") or _VALUE.match(arguments[0]) is not None) and _are_arguments(arguments)


def _are_arguments(words: list[str]) -> bool:
    """Whether words are arguments, neither a sentence nor a part of a figure."""
    plain = 0
    for word in words:
        if _OPERATOR.fullmatch(word) is not None and word != "\\":
            return True
        plain = plain + 1 if _PLAIN_WORD.fullmatch(word) is not None else 0
        if _FIGURE.fullmatch(word) is not None or plain >= _SENTENCE_AT_LEAST:
            return False
    return True
