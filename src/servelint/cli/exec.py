"""`servelint exec -- COMMAND`: lints a command, then replaces this process with it, as exec does."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys

import click

from servelint.cli import options
from servelint.cli.command import Command, Options, command, fail, flag
from servelint.cli.options import Hardware, Rules, SettingsOptions
from servelint.cli.output import plural, print_stderr, use_color
from servelint.core.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from click.shell_completion import CompletionItem

    from servelint.settings.files import SettingsFiles

FAILED = 125
"""The exit status where servelint itself fails; `env`, `timeout` and others that run a command use the same one."""

NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""Exit statuses of a shell for a command that it cannot start."""

_NO_COMMAND = "write the command after --, as in servelint exec -- vllm serve MODEL"

_NOTES = """The command runs as given: no shell reads it again, and nothing runs before it is linted.
Its release is that of --engine-version or the settings, else the one that is installed.

exit status: that of the command, which replaces servelint. If it was not started:
  1    findings at or above --fail-on     125  servelint itself failed
  2    wrong usage, settings or rules     126  the command cannot be executed
                                          127  the command is not found"""


class Starting(Options, title="starting the command"):
    """What keeps the command from starting."""

    fail_on: str | None = options.fail_on_option("severity that stops the command")
    fail_open: bool = flag("--fail-open", help="start the command even if servelint itself fails")
    dry_run: bool = flag("--dry-run", help="only lint; exit with 0 if the command would be started")


class OutputOptions(Options, title="output"):
    """What is printed on standard error."""

    color: str = options.color_option("findings on standard error")
    quiet: bool = flag("--quiet", help="print only what stops the command")


class _Exec(Command):
    """A command that takes another command after `--`."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse the words before `--`; those after it are `context.obj`, which is None where there is no `--`."""
        at = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(context, args[:at])
        context.obj = args[at + 1 :] if at < len(args) else None
        return rest

    def refuse_argument(self, context: click.Context, _word: str) -> NoReturn:
        """Raise UsageError for a command without `--` before it."""
        raise click.UsageError(_NO_COMMAND, context)

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        """Return the options; none once the other command began, so that nothing of it is completed."""
        return super().get_params(context) if context.obj is None else []

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete options before `--`, and nothing after it."""
        return super().shell_complete(context, incomplete) if context.obj is None else []


@command(
    "exec",
    *(Rules, Hardware, SettingsOptions, Starting, OutputOptions),
    about="Lint a command, then exec it unless there are findings at or above --fail-on.",
    usage=["servelint exec [options] -- COMMAND [ARGUMENT]..."],
    notes=_NOTES,
    examples=[
        "servelint exec -- vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2",
        "servelint exec --gpu h100-80gb -- python -m sglang.launch_server --model-path Qwen/Qwen3-8B",
    ],
    kind=_Exec,
)
def run(rules: Rules, hardware: Hardware, settings: SettingsOptions, starting: Starting, writing: OutputOptions) -> int:
    """Lint, and exec."""
    argv = click.get_current_context().obj
    if not argv:
        fail(_NO_COMMAND)
    try:
        settings_files = options.settings(rules, hardware, settings, starting)
        stop = _lint(argv, settings_files, writing)
    except click.UsageError:
        raise
    except Exception as error:  # a bug of servelint: the command was not judged
        started = "started anyway" if starting.fail_open else "not started; --fail-open starts it anyway"
        if os.environ.get("SERVELINT_TRACEBACK"):
            import traceback

            _write(traceback.format_exc())
        _say(f"an error in servelint itself: {type(error).__name__}: {error}; the command is {started}")
        stop = None if starting.fail_open else FAILED
    if stop is not None or starting.dry_run:
        return stop or 0
    return exec_process(argv)


def _lint(argv: list[str], settings_files: SettingsFiles, writing: OutputOptions) -> int | None:
    """Lint a command and print the findings. Returns the exit status that keeps it from starting, None where nothing does."""
    from servelint.lint import check_launches
    from servelint.readers import process

    settings = options.settings_of(settings_files)
    problems = settings_files.problems or settings_files.rule_problems()
    if problems:
        return options.report_problems(problems)
    source, launches = process.read(argv, os.environ, settings.engine_versions)
    if not launches:
        if not writing.quiet:
            _say("no launch of an engine in this command; it is not judged")
        return None
    found = check_launches(source, launches, settings)
    stopping = [finding for finding in found if options.reaches(finding.severity, settings.fail_on)]
    shown = stopping if writing.quiet else found
    if shown:
        _show(shown, writing.color)
    if stopping:
        _say(f"the command is not started ({len(stopping)} {plural(len(stopping), 'finding')} that stop it)")
    return 1 if stopping else None


def _show(findings: list[Finding], color: str) -> None:
    from servelint.report.formats import text
    from servelint.report.formats.text import Painter

    paint = Painter(sys.stderr is not None and use_color(sys.stderr, color))
    _write("\n\n".join([text.finding_text(finding, paint) for finding in findings]) + "\n\n")


def _say(text: str) -> None:
    from servelint.report.clean import clean_lines

    _write(clean_lines(f"servelint: {text}\n"))


def _write(text: str) -> None:
    """Write to standard error. Where that is closed, the server starts all the same."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass


# -- replacing the process

_COERCED = "LC_CTYPE"


def exec_process(argv: list[str]) -> int:
    """Replace this process with a command: same process id, descriptors, folder, environment and words.

    Returns:
        The exit status, only where the process cannot be replaced: on Windows, or where the command cannot be executed.
    """
    path = shutil.which(argv[0], path=os.environ.get("PATH", os.defpath))
    try:
        if os.name == "nt":  # exec would start a new process there and end this one, whose parent waits for it
            return run_process(argv)
        _restore_signals()
        os.execve(path or _first(argv[0]), argv, _environment())  # noqa: S606 that is what the command is for
    except OSError as error:
        if error.errno == errno.ENOEXEC and path is not None:
            return _script(path, argv)
        return _failed(argv[0], path, error)
    except ValueError as error:  # a null character
        return _failed(argv[0], None, OSError(errno.ENOENT, str(error)))


def run_process(argv: list[str]) -> int:
    """Run a command as a process of its own. Returns its exit status."""
    import subprocess

    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command is interrupted as well, and its status counts
    try:
        return subprocess.call(argv)  # noqa: S603
    finally:
        signal.signal(signal.SIGINT, previous)


def _script(path: str, argv: list[str]) -> int:
    """Run a script without an interpreter line as `execvp` and every shell do."""
    try:
        os.execve("/bin/sh", ["sh", path, *argv[1:]], _environment())  # noqa: S606
    except OSError as error:
        return _failed(argv[0], path, error)


def _first(name: str) -> str:
    """Return the first file of that name in PATH that exists, though it may not be executed; an empty text for none."""
    if os.path.dirname(name):
        return name
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return next((path for folder in folders if os.path.exists(path := os.path.join(folder or os.curdir, name))), "")


def _failed(name: str, path: str | None, error: OSError) -> int:
    missing = error.errno in (errno.ENOENT, errno.ENOTDIR) and path is None
    what = "command not found" if missing and not os.path.dirname(name) else error.strerror
    if error.errno == errno.ENOENT and path is not None:
        what = "the interpreter in its first line does not exist"
    print_stderr(f"servelint: {name}: {what}")
    return NOT_FOUND if missing else NOT_EXECUTABLE


def _restore_signals() -> None:
    """Restore the signals that Python ignores: the new program would go on ignoring them."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # closed by the parent
            stream.flush()
    for name in ("SIGPIPE", "SIGXFSZ"):
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, signal.SIG_DFL)


def _environment() -> dict[str, str]:
    """Return the environment that this process was given: in the C locale, Python sets one variable anew (PEP 538)."""
    environ = dict(os.environ)
    if _COERCED in environ:
        try:
            with open("/proc/self/environ", "rb") as file:
                given = [one.partition(b"=") for one in file.read().split(b"\0")]
        except OSError:  # no Linux
            return environ
        del environ[_COERCED]
        environ |= {os.fsdecode(name): os.fsdecode(value) for name, _, value in given if name == _COERCED.encode()}
    return environ
