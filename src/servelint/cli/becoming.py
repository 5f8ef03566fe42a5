"""Putting a command in the place of this process: same process id, descriptors, folder, environment and words."""

from __future__ import annotations

import errno
import os
import signal
import sys

from servelint.cli.told import tell
from servelint.files import programs

NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""Exit statuses of a shell for a command that it cannot start."""

_ENVIRONMENT = "/proc/self/environ"
_COERCED = "LC_CTYPE"


def become(argv: list[str]) -> int:
    """Run a command in the place of this process; gives an exit status only where that cannot be done."""
    path = programs.find(argv[0], os.environ)
    try:
        if os.name == "nt":  # there a new process would be started, and whoever waits for this one be told that it has ended
            return run(argv)
        _restore()
        os.execve(path or _first(argv[0]), argv, _environment())  # noqa: S606 that is what the command is for
    except OSError as error:
        if error.errno == errno.ENOEXEC and path is not None:
            return _script(path, argv)
        return _failed(argv[0], path, error)
    except ValueError as error:  # a null character
        return _failed(argv[0], None, OSError(errno.ENOENT, str(error)))


def run(argv: list[str]) -> int:
    """Run a command as a process of its own; gives its exit status."""
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
    """The file to blame for a program that is not found: one that is there and may not be executed, else none."""
    if os.path.dirname(name):
        return name
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return next((path for folder in folders if os.path.exists(path := os.path.join(folder or os.curdir, name))), "")


def _failed(name: str, path: str | None, error: OSError) -> int:
    missing = error.errno in (errno.ENOENT, errno.ENOTDIR) and path is None
    what = "command not found" if missing and not os.path.dirname(name) else error.strerror
    if error.errno == errno.ENOENT and path is not None:
        what = "the interpreter in its first line is not there"
    tell(f"servelint: {name}: {what}")
    return NOT_FOUND if missing else NOT_EXECUTABLE


def _restore() -> None:
    """Undo what Python has changed of this process and a new program would keep: it ignores these signals."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # closed by whoever started us
            stream.flush()
    for name in ("SIGPIPE", "SIGXFSZ"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_DFL)


def _environment() -> dict[str, str]:
    """The environment as this process was given it: in the C locale, Python sets one variable anew (PEP 538)."""
    environ = dict(os.environ)
    if _COERCED in environ:
        try:
            with open(_ENVIRONMENT, "rb") as file:
                given = [one.partition(b"=") for one in file.read().split(b"\0")]
        except OSError:  # no Linux
            return environ
        del environ[_COERCED]
        environ |= {os.fsdecode(name): os.fsdecode(value) for name, _, value in given if name == _COERCED.encode()}
    return environ
