"""Writing files and standard output: whole, so that nobody ever reads half of a report."""

from __future__ import annotations

import os
import sys


def write(path: str, data: bytes) -> str | None:
    """Replace what a file holds and keep its mode; a pipe or a terminal is written to. Gives what went wrong, if anything."""
    real = os.path.realpath(path)
    temporary = f"{real}.{os.getpid()}.tmp"
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
            return None
        with open(temporary, "wb") as file:
            file.write(data)
        if os.path.exists(real):
            os.chmod(temporary, os.stat(real).st_mode & 0o7777)
        os.replace(temporary, real)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        return f"cannot be written: {error.strerror}"
    return None


def write_out(text: str) -> None:
    """Write to standard output. One that another program left non-blocking would take what fits into the pipe, and no more."""
    try:
        descriptor = sys.stdout.fileno()
        blocking = os.get_blocking(descriptor)
    except (AttributeError, OSError):  # not on this system, or not a file
        blocking = True
    if blocking:
        sys.stdout.write(text)
        return
    os.set_blocking(descriptor, True)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    finally:
        os.set_blocking(descriptor, False)
