"""The release of an engine that is installed for a program, by the names of metadata folders; nothing is run or imported.

`importlib.metadata` knows only this interpreter, and takes 30 ms to import. If anything is unsure, the release is not known.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping

from servelint.engines.registry import ENGINES
from servelint.engines.releases import release_key

_PYTHON = r"python(?:(\d)(?:\.(\d+))?)?"
_BUILDS = r"(?:cu\d+|cpu|rocm[\d.]*|xpu)?"
"""What a published release is built for, behind the `+` of its version."""
_WRAPPED = r"'''exec'\s+(?:\"([^\"$]+)\"|([^\s\"$]+))\s"
"""The second line of a script whose interpreter has too long a path for a first line: pip writes it so."""
_BESIDE = r"'''exec'\s+\"\$\(dirname[^\n]*?\$0[^\n]*?/'?(python[\d.]*)"
"""The same of a script that may be moved together with its interpreter: uv writes it so."""


def release(engine: str, program: str, environ: Mapping[str, str]) -> str | None:
    """The release of an engine that a program starts.

    Args:
        engine: the engine's id.
        program: the program as a command names it.
        environ: the environment in which it is started.

    Returns:
        The release; None if it is not known, or if it may have been changed.
    """
    package = ENGINES[engine].python_package
    path = shutil.which(program, path=environ.get("PATH", os.defpath))
    if not package or path is None or environ.get("PYTHONHOME"):
        return None
    module = re.fullmatch(_PYTHON, os.path.basename(path)) is not None
    interpreter = path if module else _interpreter(path, environ)
    # what these folders have is imported before what is installed; `python -m` starts with the current one
    first = [folder for folder in environ.get("PYTHONPATH", "").split(os.pathsep) if folder] + ([os.curdir] if module else [])
    if interpreter is None or any(os.path.exists(os.path.join(folder, package)) for folder in first):
        return None
    found = {one for folder in _site_packages(interpreter, environ) for one in _releases(folder, package)}
    return (found.pop() or None) if len(found) == 1 else None


def _interpreter(script: str, environ: Mapping[str, str]) -> str | None:
    """The Python that a script's first lines name."""
    try:
        with open(script, "rb") as file:
            head = os.fsdecode(file.read(2048))
    except OSError:
        return None
    first, _, second = head.partition("\n")
    words = first[2:].split() if first.startswith("#!") else []
    name = os.path.basename(words[0]) if words else ""
    if name == "env":
        words = [word for word in words[1:] if not word.startswith("-")]
        found = shutil.which(words[0], path=environ.get("PATH", os.defpath)) if len(words) == 1 else None
        return found if found is not None and _is_python(found) else None
    if _is_python(name):
        return words[0]
    if name != "sh":
        return None
    beside = re.match(_BESIDE, second)
    if beside is not None:
        return os.path.join(os.path.dirname(os.path.realpath(script)), beside.group(1))
    wrapped = re.match(_WRAPPED, second)
    path = (wrapped.group(1) or wrapped.group(2)) if wrapped is not None else ""
    return path if _is_python(path) else None


def _is_python(path: str) -> bool:
    return re.fullmatch(_PYTHON, os.path.basename(path)) is not None


def _site_packages(interpreter: str, environ: Mapping[str, str]) -> list[str]:
    """The folders in which an interpreter may have packages.

    Those of its virtual environment if it is in one, or else its own, those of the Linux distribution and those of the user.
    """
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(interpreter)))
    if os.path.exists(os.path.join(prefix, "pyvenv.cfg")):
        return [folder for library in ("lib", "lib64") for folder in _of(os.path.join(prefix, library), "", "site-packages")]
    real = os.path.realpath(interpreter)
    prefix = os.path.dirname(os.path.dirname(real))
    match = re.fullmatch(_PYTHON, os.path.basename(real))
    version = f"{match.group(1)}.{match.group(2)}" if match is not None and match.group(2) else ""
    places = [(os.path.join(prefix, "lib"), "site-packages"), (os.path.join(prefix, "lib64"), "site-packages")]
    if prefix == "/usr":  # Debian's interpreter
        places += [("/usr/local/lib", "dist-packages"), ("/usr/lib", "dist-packages"), ("/usr/local/lib", "site-packages")]
    if not environ.get("PYTHONNOUSERSITE"):
        user = environ.get("PYTHONUSERBASE") or os.path.join(environ.get("HOME", os.sep), ".local")
        places.append((os.path.join(user, "lib"), "site-packages"))
    return [folder for library, name in places for folder in _of(library, version, name)]


def _of(library: str, version: str, name: str) -> list[str]:
    """`lib/python3.12/site-packages` of a version of Python ("" for all), or `lib/python3/dist-packages` of Debian."""
    try:
        folders = sorted(os.listdir(library))
    except OSError:
        return []
    wanted = ("python3", f"python{version}")
    return [
        os.path.join(library, folder, name)
        for folder in folders
        if (folder in wanted if version else re.fullmatch(_PYTHON, folder))
    ]


def _releases(folder: str, package: str) -> set[str]:
    """The releases of a package whose metadata stand in a folder; "" for one that is not a published release."""
    try:
        names = os.listdir(folder)
    except OSError:
        return set()
    start, end = package + "-", ".dist-info"
    versions = [name[len(start) : -len(end)] for name in names if name.startswith(start) and name.endswith(end)]
    return {_published(version) for version in versions}


def _published(version: str) -> str:
    """The published release of a version; "" if it may be changed: built from a checkout, or by someone else."""
    release, _, build = version.partition("+")
    if release_key(release) is None or "dev" in release or not re.fullmatch(_BUILDS, build):
        return ""
    return release
