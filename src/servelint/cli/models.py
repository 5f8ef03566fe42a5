"""`servelint models`: which facts of a model or a GPU come from where, and models of your own."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from servelint.cli.command import Options, argument, command, fail, option
from servelint.cli.output import print_stderr, write_file, write_stdout

FILE = "servelint-models.json"


class Shown(Options, title="arguments"):
    """What is shown."""

    name: str | None = argument("NAME", "a model, its folder, or its config.json")
    gpu: str | None = option("--gpu", metavar="NAME", help="a GPU instead")
    file: str = option("--file", metavar="FILE", help=f"the models file (default: {FILE})", default=FILE)


class Added(Options, title="arguments"):
    """What is added."""

    path: str = argument("PATH", "a config.json, the folder that has it, or a GGUF file", needed=True)
    name: str | None = option("--name", metavar="NAME", help="the model as launches name it (default: the name of the folder)")
    file: str = option("--file", metavar="FILE", help=f"the models file (default: {FILE})", default=FILE)


@command(
    "show",
    Shown,
    about="Show what is known of a model or a GPU, with the source of each fact.",
    examples=["servelint models show Qwen/Qwen3-8B", "servelint models show --gpu h100", "servelint models show ./my-model"],
)
def _show(wanted: Shown) -> int:
    from servelint import hardware
    from servelint.models import sources

    if (wanted.name is None) == (wanted.gpu is None):
        fail("name a model, or a GPU with --gpu")
    rows: Sequence[tuple[str, object, str]]
    if wanted.gpu is not None:
        rows = hardware.sources(wanted.gpu)
    else:
        name = str(wanted.name)
        try:
            own = _models(wanted.file).get(name)
            if own is None and os.path.exists(name):
                own = sources.read_folder(name)
            rows = sources.of_entry(own) if own is not None else sources.of_name(name)
        except (ValueError, KeyError, OSError) as error:
            print_stderr(f"servelint: {_why(error)}")
            return 2
    if not rows:
        print_stderr(f"servelint: nothing is known of {wanted.name or wanted.gpu}")
        return 2
    write_stdout("".join([f"{fact:<18} {_written(value):<34} {source}\n" for fact, value, source in rows]))
    return 0


@command(
    "add",
    Added,
    about="Add the facts of your own model, from its config.json or its GGUF file, to a models file.",
    notes='Name the file in the settings: models = "servelint-models.json". servelint then knows the model. The\n'
    "weights are not needed; if their index or headers are there, they give the size.",
    examples=["servelint models add ./my-model --name acme/My-Model-8B", "servelint models add config.json --name acme/M"],
)
def _add(wanted: Added) -> int:
    from servelint.models import sources

    whole = os.path.abspath(wanted.path)
    name = wanted.name or os.path.basename(whole.removesuffix("config.json").removesuffix(".gguf").rstrip(os.sep))
    try:
        gguf = wanted.path.lower().endswith(".gguf")
        entry = sources.read_gguf(wanted.path) if gguf else sources.read_folder(wanted.path)
        every = {**_models(wanted.file), name: entry}
    except (ValueError, OSError) as error:
        print_stderr(f"servelint: {_why(error)}")
        return 2
    found = {"servelint-models": 1, "models": dict(sorted(every.items()))}
    if (wrong := write_file(wanted.file, (json.dumps(found, indent=1) + "\n").encode())) is not None:
        print_stderr(f"servelint: {wanted.file}: {wrong}")
        return 2
    rows = sources.of_entry(entry)
    write_stdout("".join([f"{fact:<18} {_written(value):<34} {source}\n" for fact, value, source in rows]))
    print_stderr(f'servelint: {name} is in {wanted.file}; the settings need models = "{wanted.file}"')
    return 0


def _models(path: str) -> dict[str, dict[str, object]]:
    """The models of a models file; none where there is no file. Raises ValueError or OSError."""
    from servelint.models.folder import described_files

    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8-sig") as file:
        text = file.read()
    try:
        described_files(text)
        found: dict[str, dict[str, object]] = json.loads(text)["models"]
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}:{getattr(error, 'lineno', 1)}:{getattr(error, 'colno', 1)}: {error}") from None
    return {name: {"sources": dict.fromkeys(("config", "bytes"), path), **entry} for name, entry in found.items()}


def _why(error: Exception) -> str:
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)


def _written(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


@command(
    "models",
    about="Show which facts of a model or a GPU come from where, or describe a model of your own.",
    subcommands={
        "show": (_show, "show what is known of a model or a GPU, with the source of each fact"),
        "add": (_add, "describe a model of your own by its config.json or its GGUF file"),
    },
    usage=["servelint models show NAME", "servelint models add PATH [options]"],
    examples=["servelint models show Qwen/Qwen3-8B", "servelint models add ./my-model --name acme/My-Model-8B"],
)
def run() -> int:
    """Refuse to run without a subcommand."""
    fail("name a command: show or add")
