"""The files of a compose service's `env_file`."""

from __future__ import annotations

import posixpath

from servelint.core.launch import Variable
from servelint.readers.compose_file import File, Service
from servelint.syntax import yaml


def add_files(env: dict[str, Variable], service: Service) -> bool:
    """Add the variables of all the files, later ones over earlier ones; gives whether all of the files are here."""
    complete = True
    for file, path, raw in env_files(service):
        read = env_file(file, path, raw) if path is not None else None
        complete = complete and read is not None
        env.update(read or {})
    return complete


def env_files(service: Service) -> list[tuple[File, str | None, bool]]:
    """The files of `env_file` and whether they are read as they stand; a path of None cannot be told."""
    found: dict[str | None, tuple[File, str | None, bool]] = {}
    for file, _, node in service.layers("env_file"):
        listed = yaml.items(node)
        for item in [node] if listed is None else listed:
            if yaml.is_null(item):
                continue
            fields = yaml.entries(item)
            path = file.optional(fields, "path") if fields else file.text(item) if yaml.scalar(item) else None
            value = path.value if path is not None else None
            kind = file.optional(fields, "format")
            # a file that is named twice keeps its first place (compose-go, override/uncity.go)
            found[posixpath.normpath(file.path(value)) if value is not None else None] = (
                file,
                value,
                kind is not None and kind.flat == "raw",
            )
    return list(found.values())


def env_file(file: File, path: str, raw: bool = False) -> dict[str, Variable] | None:
    """The variables of an env file; None if it is not here."""
    beside = file.read(path)
    if beside is None:
        return None
    from servelint.syntax import dotenv

    values = dotenv.raw(beside) if raw else dotenv.parse(beside, file.lookup)
    return {name: Variable(name, value, value.span()) for name, value in values.items()}
