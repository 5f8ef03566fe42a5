"""Files of process managers: Procfiles and the programs of supervisord.

A Procfile has a line a process, `name: command`, run by a shell with the variables of the `.env` beside it. Values of
supervisord are read as it reads them: Python's ConfigParser with inline comments (`;` and `#` after white space, even inside
quotes), `%(...)s` expansions, then shlex for the words. No shell is involved.
"""

from __future__ import annotations

import re

from servelint.core.launch import Launch, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, Piece, TracedText
from servelint.files.siblings import Neighbours
from servelint.readers.commands import launches, script_launches, without_shell_text
from servelint.readers.context import CommandContext, env_file, named
from servelint.readers.registry import Format
from servelint.syntax.placeholders import in_command
from servelint.syntax.shell.words import split_quoted

PROCFILE = Format(
    "procfile",
    200,
    title="Procfile",
    about="processes with the `.env` beside it",
    files=("Procfile", "Procfile.*"),
    unnamed=r"\A(?:(?:[A-Za-z0-9_-]+:[ \t]+\S[^\n]*|#[^\n]*)?(?:\n|\Z))+\Z",
    read="read_procfile",
)

_PROCESS = re.compile(r"([A-Za-z0-9_-]+):[ \t]*")
_CONTINUED = re.compile(r"[ \t]*\\$")


def read_procfile(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the processes."""
    env = env_file(neighbours)(".env") or {}
    found: list[Launch] = []
    for line, start in enumerate(source.line_starts, start=1):
        flat = source.line_text(line)
        process = _PROCESS.match(flat)
        if process is None or process.end() == len(flat):
            continue
        # a line ends with its line: what a backslash continues in a shell script is not read here
        continued = _CONTINUED.search(flat)
        end = continued.start() if continued is not None else len(flat)
        command = TracedText.at(source, start + process.end(), start + max(end, process.end()))
        context = CommandContext(source, process.group(1), env=env, env_file=env_file(neighbours), files=neighbours.read)
        started = named(script_launches(command, context, None))
        cut = _lost(source, line)
        for launch in started:
            launch.cut = launch.cut or cut
        found += started
    return found


def _lost(source: Source, line: int) -> Span | None:
    """The lines after a line, if they start with an option."""
    starts = source.line_starts
    after = line + 1
    while after <= len(starts) and source.line_text(after).lstrip().startswith("-"):
        after += 1
    if after == line + 1:
        return None
    first, last = source.line_text(line + 1), source.line_text(after - 1)
    return Span(source, starts[line] + len(first) - len(first.lstrip()), starts[after - 2] + len(last.rstrip()))


SUPERVISOR = Format(
    "supervisor",
    150,
    title="supervisord",
    about="programs and their environment",
    shape=r"(?m)^[ \t]*\[program:",
    languages=("ini",),
    read="read_supervisor",
)

_SECTION = re.compile(r"\[([^\]]+)\]")
_OPTION = re.compile(r"([^\s:=;#][^:=]*?)\s*[:=]\s*")
_EXPANSION = re.compile(r"%(?:%|\(([^)]*)\)[-#0 +]*\d*[sdi])|\{\{.*?\}\}")
_PAIR = re.compile(r"([^\s=,]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^,\s]*))")
_PLAIN = re.compile(r"[^\s'\"\\]+")

Options = dict[str, TracedText]


def read_supervisor(source: Source, _neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the programs."""
    sections = parse(source)
    shared = _environment(sections.get("supervisord", {}), {})
    found: list[Launch] = []
    for name, options in sections.items():
        kind, _, program = name.partition(":")
        if kind != "program" or "command" not in options:
            continue
        names = {"program_name": TracedText.of(program), "group_name": TracedText.of(program)}
        env = {**shared, **_environment(options, names)}
        command = expanded(options["command"], names)
        context = CommandContext(source, name, env=env)
        words = split(command)
        found += named(launches(words, context) or without_shell_text(command, words, context))
    return found


def parse(source: Source) -> dict[str, Options]:
    """Parse sections into options. Lines of a value are joined with line ends; the last of two options counts."""
    sections: dict[str, dict[str, list[TracedText]]] = {}
    options: dict[str, list[TracedText]] = {}
    name = ""
    indent = 0
    text = source.text
    starts = source.line_starts
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(text)
        line = text[start:end]
        if line.strip()[:1] in (";", "#"):
            continue
        comment = _comment(line)
        line = line if comment is None else line[:comment]
        low, high = start + len(line) - len(line.lstrip()), start + len(line.rstrip())
        if low >= high:
            if name and comment is None:
                options[name].append(TracedText((Piece("\n", Span(source, start, start)),)))
            continue
        if name and low - start > indent:
            options[name] += [TracedText((Piece("\n", Span(source, low, low)),)), TracedText.at(source, low, high)]
            continue
        indent = low - start
        section = _SECTION.match(text, low, high)
        option = _OPTION.match(text, low, high)
        if section is not None:
            options = sections.setdefault(section.group(1), {})
            name = ""
        elif option is not None:
            name = option.group(1).rstrip().lower()
            options[name] = [TracedText.at(source, option.end(), high)] if option.end() < high else []
    return {
        title: {name: TracedText.join(parts).strip() if parts else EMPTY for name, parts in values.items()}
        for title, values in sections.items()
    }


def _comment(line: str) -> int | None:
    """Where an inline comment starts, as ConfigParser finds it: `;` or `#` after white space, even inside quotes.

    It looks for the next one of both at once, and stops at the first that it finds.
    """
    marks = {";": -1, "#": -1}
    found: list[int] = []
    while marks and not found:
        after = {mark: line.find(mark, at + 1) for mark, at in marks.items()}
        marks = {mark: at for mark, at in after.items() if at != -1}
        found = [at for at in marks.values() if at == 0 or line[at - 1].isspace()]
    return min(found) if found else None


def expanded(text: TracedText, names: dict[str, TracedText]) -> TracedText:
    """A value with its `%(name)s` replaced; what only supervisor knows (`%(here)s`, `%(ENV_HOME)s`) is unknown.

    So is what is filled in before supervisor sees it (`{{ name }}`).
    """

    def value(match: re.Match[str]) -> TracedText:
        span = text.span(*match.span())
        if match.group() == "%%":
            return TracedText.of("%", span)
        return names[match.group(1)].placed(span) if match.group(1) in names else text.unknown(match)

    return text.sub(_EXPANSION, value)


def _environment(options: Options, names: dict[str, TracedText]) -> dict[str, Variable]:
    """`environment=A="b",C=d`."""
    text = options.get("environment", EMPTY)
    found: dict[str, Variable] = {}
    for match in _PAIR.finditer(text.flat):
        group = next((number for number in (2, 3) if match.group(number) is not None), 4)
        value = expanded(text.cut(*match.span(group)), names)
        found[match.group(1)] = Variable(match.group(1), value, text.span(*match.span()))
    return found


def split(text: TracedText) -> list[Word]:
    """The words of a command as Python's shlex.split makes them; a quote that is never closed ends with the text.

    A backslash protects the character after it, a line end too: it does not continue a line.
    """
    return split_quoted(in_command(text), _PLAIN, _escaped)[0]


def _escaped(text: TracedText, at: int, double: bool) -> TracedText | None:
    """What a backslash and the character behind it give; within double quotes, it protects itself and these alone."""
    protects = not double or text.flat[at + 1 : at + 2] in ('"', "\\")
    piece = text.cut(at + protects, at + 2)
    return piece if piece.flat else None
