"""Writing files: all at once, so that nobody ever reads half of one."""

from __future__ import annotations

import os


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
