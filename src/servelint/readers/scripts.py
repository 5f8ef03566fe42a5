"""Scripts: every engine that a shell script or a Windows batch file starts, itself or in a container."""

from __future__ import annotations

import re
from functools import partial

from servelint.core import bounds
from servelint.core.launch import Launch, Mishap, ReleaseClaim, Variable
from servelint.core.problem import Problem
from servelint.core.run import Run, current
from servelint.core.source import Source, Span
from servelint.core.text import HOLE, TracedText
from servelint.files.siblings import Neighbours
from servelint.readers import installs
from servelint.readers.commands import launches, scheduled, script_launches
from servelint.readers.context import CommandContext, env_file, identity
from servelint.readers.registry import SCRIPT_CALLED, Format, calls_script
from servelint.syntax.placeholders import in_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.syntax.batch.evaluate import Command

SHELL = Format(
    "shell",
    120,
    title="shell",
    about="evaluated without running it: variables, arrays, functions, loops, branches, `source`, files that the script "
    "writes, scripts that it calls, `docker run`, `ssh`, `tmux`, `sbatch`, `bash -c` and what else stands before an engine",
    files=("*.bash", "*.command", "*.job", "*.ksh", "*.lsf", "*.pbs", "*.qsub", "*.sbatch", "*.sh", "*.slurm", "*.zsh"),
    shape=r"\A#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)",
    any_name=True,
    languages=("shellscript",),
    read="read_shell",
)

CRONTAB = Format(
    "crontab",
    121,
    title="crontab",
    about="the commands of its lines, with a user's name or without",
    files=("*.cron", "*.crontab", "crontab"),
    shape=r"\A(?:[ \t]*(?:#[^\n]*|[A-Z_]+[ \t]*=[^\n]*)?\r?\n)*[ \t]*"
    r"(?:@(?:reboot|yearly|annually|monthly|weekly|daily|midnight|hourly)"
    r"|(?:[\d*][\d*/,-]*[ \t]+){3}[\d*A-Za-z/,-]+[ \t]+[\d*A-Za-z/,-]+)[ \t]+\S",
    read="read_crontab",
)

_BASH = re.compile(r"#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?bash(?:\s|$)|(?!#!)")
_POSIX = re.compile(r"#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|a)?sh(?:\s|$)")
_LAST_BACKSLASH = re.compile(r"(?<!\\)(?:\\\\)*(\\)\Z")
_TEMPLATE = re.compile(r"\.(?:j2|jinja2?|tmpl|(?:tf)?tpl|gotmpl|template)$", re.IGNORECASE)
_VALUES = re.compile(r"\{\{-?\s*(?:[^{}\n]*[\s(])?\$?\.Values\.")
_BLOCK = re.compile(r"^[ \t]*\{%-?\s*(?:if|for|set)\b[^\n]*%\}", re.MULTILINE)


def read_shell(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a script. One that is a template is read with its holes as unknowns."""
    from servelint.readers import mentions_engine

    data = source.text.encode("utf-8", "replace")
    silent = not mentions_engine(data) and calls_script(source.path, data)
    if silent and not starts_one(source.text, partial(neighbours.read, named=False)):
        return []
    run, language = current(), _language(source.text)
    if language is not None:
        if run is not None and not silent:
            run.report(Problem(source.path, f"not judged: its name is a shell script's, and it is {language}", note="always"))
        return []
    # bash drops a backslash that ends a file; dash makes it a part of the last word
    lost = _LAST_BACKSLASH.search(source.text) if _BASH.match(source.text) else None
    text = TracedText.at(source, 0, lost.start(1) if lost else len(source.text))
    if len(text) > bounds.SCRIPT.most:
        from servelint.readers import cluster_list

        text = cluster_list.without_manifests(text)
    if _TEMPLATE.search(source.path) or _has_actions(source.text):
        from servelint.syntax import templates

        text = templates.filled(text, script=True)
    elif not silent:  # other scripts are for a shell's linter
        _report_syntax(source, text.flat)
    return script_launches(text, CommandContext(source, env_file=env_file(neighbours), files=neighbours.read), None)


_LANGUAGES = (
    ("PowerShell", r"<#|param\s*\(|\[CmdletBinding|\$[A-Za-z_]\w*[ \t]*=(?!=)|(?:Write|Set|Get|New|Start|Import)-[A-Z]\w+\b"),
    ("a Windows batch file", r"(?i)@echo[ \t]+(?:off|on)\b|rem[ \t]|setlocal\b|::"),
    ("Python", r"import[ \t]+\w+(?:[ \t]*,|[ \t]+as\b|\.|[ \t]*$)|from[ \t]+[\w.]+[ \t]+import\b|def[ \t]+\w+\(|\"{3}|'{3}"),
    ("a web page", r"(?i)<!doctype|<html|<\?xml"),
    ("a Dockerfile", r"FROM[ \t]+\S+[ \t]*(?:$|AS[ \t])"),
    ("YAML", r"(?:apiVersion|kind|services|version|name):(?:[ \t]|$)"),
    ("JSON", r"\{[ \t\n]*\"[^\"\n]*\"[ \t]*:"),
)
"""What the first line of code of a file shows that is called a shell script and is written in another language."""
_POWERSHELL = r"(?m)^[ \t]*(?:\$[A-Za-z_]\w*[ \t]+=[ \t]|Write-(?:Host|Output|Error)\b)|^[^`\n]*[ \t]`[ \t]*$"
"""Lines that only PowerShell takes: assignments, its commands, continuations."""
_NO_CODE = r"(?:[ \t]*(?:#(?!!)[^\n]*)?\n)*[ \t]*"
_INTERPRETER = r"\A#!\s*\S*?(?:env\s+(?:-\S+\s+)*)?(?P<name>python[\d.]*|pwsh|perl|ruby|node|php|Rscript)\b"


def _language(text: str) -> str | None:
    """The other language that a text is written in which is called a shell script; None if it shows none."""
    if (interpreter := re.match(_INTERPRETER, text)) is not None:
        return "a script of " + interpreter["name"]
    if text.startswith("#!"):
        return None
    skipped = re.match(_NO_CODE, text)
    start = skipped.end() if skipped is not None else 0
    found = next((name for name, shape in _LANGUAGES if re.compile(shape, re.MULTILINE).match(text, start)), None)
    if found is None and "<<" not in text and len(re.findall(_POWERSHELL, text)) > 1:
        return _LANGUAGES[0][0]
    return found


_CALLED_AT_MOST = 16
_ENTERED = re.compile(r"(?m)\bcd[ \t]+[^\n;&|]*?(?<![\w.-])((?:[\w.-]+/)*[\w.-]+)/?[\"']?[ \t]*(?:$|[;&|])")
"""A folder that a script enters."""


def starts_one(text: str, read: Callable[[str], Source | None]) -> bool:
    """Whether a text that mentions no engine runs a script that does: directly, or through others.

    Args:
        text: The text.
        read: Opens a file by its path below the folder in which the text runs its scripts.
    """
    from servelint.readers import mentions_engine

    asked: dict[str, None] = {}
    todo = [("", text)] if ".sh" in text else []
    while todo:
        folder, text = todo.pop(0)
        folders = ["", *dict.fromkeys(one + "/" for one in _ENTERED.findall(text)), "../"]
        for path in [folder + one + name for name in re.findall(SCRIPT_CALLED, text) for one in folders]:
            if path in asked or len(asked) >= _CALLED_AT_MOST:
                continue
            asked[path] = None
            opened = read(path)
            if opened is not None and mentions_engine(opened.text.encode("utf-8", "replace")):
                return True
            if opened is not None:
                todo.append((path.rpartition("/")[0] + "/" if "/" in path else "", opened.text))
    return False


def starts_something(text: str, beside: Neighbours) -> bool:
    """Whether commands mention an engine, or run a script beside the file that does."""
    from servelint.readers import mentions_engine

    return mentions_engine(text.encode("utf-8", "replace")) or starts_one(text, partial(beside.read, named=False))


def read_crontab(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the jobs of a crontab."""
    return scheduled(TracedText.at(source, 0, len(source.text)), CommandContext(source, files=neighbours.read), 0)


_OPENERS = {"'": "quote", '"': "quote", "`": "backquote", "$": "substitution"}
_LEAVES = re.compile(r"^(?:exit\b|exec[ \t]+[^\s\d&<>])", re.MULTILINE)


_TEMPLATE_SIGNS = ("{{", "{%", "<%")


def _report_syntax(source: Source, flat: str) -> None:
    """Report a quote, a substitution or a compound command that is never closed: a shell refuses what stands behind it."""
    run = current()
    if run is None or (source.text.startswith("#!") and _POSIX.match(source.text) is None):
        return
    from servelint.syntax.shell import lexer

    flat = flat.replace("\r\n", " \n")
    at = lexer.unclosed(flat)
    if at is None and not any(sign in flat for sign in _TEMPLATE_SIGNS) and not source.path.endswith((".zsh", ".ksh")):
        _report_mismatch(source, flat, run)
    if at is None or _LEAVES.search(flat, 0, flat[:at].replace("\\\n", "  ").rfind("\n") + 1) is not None:
        return  # what stands after `exit` may be data
    opener = flat[at : at + (2 if flat[at] == "$" else 1)]
    line, column = source.position(at)
    run.report(Problem(source.path, f"not valid shell: the {_OPENERS[flat[at]]} {opener} is never closed", line, column))


def _report_mismatch(source: Source, flat: str, run: Run) -> None:
    """Report a compound command that does not end, or an end without a beginning, at the line that `bash -n` names.

    Where the last line has no end, bash names the line after it; this is the end of that line.
    """
    from servelint.syntax.shell import blocks

    found = blocks.mismatch(flat)
    if found is None or _LEAVES.search(flat, 0, found.whole) is not None:
        return
    line, column = source.position(found.at)
    open_since = f"the {found.opened} at line {source.position(found.opened_at)[0]}"
    if found.word:
        message = f"unexpected {found.word}" + (f" in {open_since}" if found.opened else "")
    else:
        message = f"unexpected end of file: {open_since} is never closed by {found.closing}"
    run.report(Problem(source.path, f"not valid shell: {message}", line, column))


def _has_actions(text: str) -> bool:
    """Whether a text has what no shell script has, whatever it is called: an action of a chart's or a playbook's template."""
    return (".Values." in text and _VALUES.search(text) is not None) or ("{%" in text and _BLOCK.search(text) is not None)


POWERSHELL = Format(
    "powershell",
    191,
    title="PowerShell",
    about="commands and `Start-Process`, variables, arrays, parameters with defaults",
    files=("*.ps1",),
    shape=r"\A#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?pwsh(?:\s|$)",
    languages=("powershell",),
    read="read_powershell",
)
FISH = Format(
    "fish",
    192,
    title="fish",
    about="commands and `set`",
    files=("*.fish",),
    shape=r"\A#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?fish(?:\s|$)",
    languages=("fish",),
    read="read_fish",
)


def read_powershell(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a PowerShell script."""
    return of_statements(TracedText.at(source, 0, len(source.text)), source, neighbours)


def read_fish(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a fish script."""
    return of_statements(TracedText.at(source, 0, len(source.text)), source, neighbours, fish=True)


def of_statements(text: TracedText, source: Source, neighbours: Neighbours | None, *, fish: bool = False) -> list[Launch]:
    """The launches of a text of PowerShell or fish."""
    from servelint.syntax import statements

    found: dict[object, Launch] = {}
    claims: dict[str, ReleaseClaim] = {}
    for command in statements.commands(in_command(text), fish=fish):
        claims.update(installs.claims(command.words))
        env = {name: Variable(name, value, value.span()) for name, value in command.env.items()}
        beside = env_file(neighbours) if neighbours is not None else None
        for launch in launches(command.words, CommandContext(source, env=env, claims=dict(claims), env_file=beside)):
            found.setdefault(identity(launch), launch)
    return list(found.values())


BATCH = Format(
    "batch",
    190,
    title="Windows batch files",
    about="variables, `call`, labels",
    files=("*.bat", "*.cmd"),
    unnamed=r"(?im)^[ \t]*(?:@echo off|set \w+=|rem\b|setlocal\b)",
    languages=("bat",),
    read="read_batch",
)


def read_batch(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a batch file."""
    from servelint.syntax.batch.evaluate import evaluate

    found: list[Launch] = []
    seen: set[tuple[int, int, str, tuple[str, ...]]] = set()
    claims: dict[str, ReleaseClaim] = {}

    def on_command(ran: Command) -> None:
        claims.update(installs.claims(ran.words))
        env = {
            value.name: Variable(value.name, value.text, value.text.extent())
            for value in ran.state.values()
            if value.text.flat and value.name.isidentifier()
        }
        context = CommandContext(source, env=env, claims=dict(claims), env_file=env_file(neighbours))
        for launch in launches(ran.words, context):
            launch.cut = launch.cut or ran.lost
            launch.likely = ran.likely and launch.likely
            if (key := identity(launch)) not in seen:
                seen.add(key)
                found.append(launch)

    def called(path: str) -> TracedText | None:
        """Another batch file, named by its place beside this one."""
        name = path.replace("\\", "/").replace(HOLE + "/", HOLE).removeprefix(HOLE)
        beside = neighbours.read(name) if name and HOLE not in name and ":" not in name else None
        return TracedText.at(beside, 0, len(beside.text)) if beside is not None else None

    text = in_command(TracedText.at(source, 0, len(source.text)))
    closed: list[Span] = []
    sourced = evaluate(text, on_command, called, closed=closed)
    if closed and not found:
        claims.clear()
        evaluate(text, on_command, called, paired=True)
        for launch in found:
            launch.mishaps = [Mishap("block-closed", closed[0], ")")]
            launch.fragment, launch.started = True, False
    for launch in found:
        launch.open_env = launch.open_env or (sourced and launch.container is None)
    return found
