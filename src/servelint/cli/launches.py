"""`servelint launches`: what servelint sees, normalised. Secrets are hidden unless all is asked for."""

from __future__ import annotations

import argparse
import shlex

from servelint.cli import options
from servelint.cli.files import write_out
from servelint.cli.told import tell
from servelint.core.launch import Launch
from servelint.core.secrets import MASK, masked_value, without_in
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import configs
from servelint.engines.registry import ENGINES
from servelint.filters.masking import secrets_of, words
from servelint.report.clean import escapes
from servelint.report.encode import encoded
from servelint.report.json_report import problem_data
from servelint.report.text import Painter, note_text, problem_text
from servelint.syntax.json import ARRAY, OBJECT, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.files.settings.files import SettingsFiles


def run(args: list[str]) -> int:
    usage = parser()
    arguments = usage.parse_args(args)
    asked = options.settings(arguments, usage, judging=False)
    report = options.run(arguments, asked, usage)
    if asked.problems:
        return options.stop(asked.problems)
    shown = one_each([launch for launch in report.launches if not launch.fragment])

    def data_of(launch: Launch) -> dict[str, Any]:
        data = launch_data(launch, _versions(launch, asked))
        return data if arguments.show_secrets else _without_secrets(launch, data)

    if arguments.format == "json":
        data = {
            "launches": [data_of(launch) for launch in shown],
            "errors": [problem_data(problem) for problem in report.errors],
        }
        if report.notes:
            data["notes"] = [problem_data(problem) for problem in report.notes]
        write_out(encoded(data, indent=1, secrets=arguments.show_secrets) + "\n")
    else:
        paint = Painter(False)
        write_out("".join([launch_text(launch, data_of(launch)) + "\n" for launch in shown]))
        for problem in report.errors:
            tell(problem_text(problem, paint))
        for problem in report.notes:
            tell(note_text(problem, paint))
        if not shown and not report.errors:
            tell("servelint: no launch found")
    return options.status(report)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    usage = options.parser("launches", "List every launch: engine, release, argv, environment.")
    options.add_inputs(usage)
    options.add_engine_version(usage)
    options.add_settings(usage)
    usage.add_argument("--format", choices=("text", "json"), default="text", help="(default: text)")
    usage.add_argument("--show-secrets", action="store_true", help="print keys and tokens as they are written")
    return usage


def _versions(launch: Launch, asked: SettingsFiles) -> dict[str, str]:
    return asked.of(launch.source.path).engine_versions


def one_each(launches: list[Launch]) -> list[Launch]:
    """A command in a loop or in a function that is called twice is one launch, shown as it runs first; so is a container,
    whatever branches its script has."""
    first: dict[tuple[int, str, int, int], Launch] = {}
    for launch in launches:
        key = (id(launch.source), launch.name, *((0, 0) if launch.name else (launch.site.start, launch.site.end)))
        if key not in first or (launch.likely and not first[key].likely):
            first[key] = launch
    return list(first.values())


def _argv(launch: Launch) -> list[str]:
    """The words; an expansion that adds none in a plain run (`"$@"`) is left out."""
    return [word.shown for word in launch.argv if word.shown or not word.many]


def _without_secrets(launch: Launch, data: dict[str, Any]) -> dict[str, Any]:
    """The same with a mask for each secret."""
    data = {**data, "argv": words(launch)}
    for part in ("env", "config"):
        data[part] = {
            name: masked_value(name, value) if isinstance(value, str) else value for name, value in data[part].items()
        }
    hidden: dict[str, Any] = without_in(data, secrets_of([launch]))
    return hidden


def launch_data(launch: Launch, versions: dict[str, str]) -> dict[str, Any]:
    claim = launch.release
    release = claim.release or versions.get(launch.engine)
    how = claim.how if claim.release or (claim.rolling and release is None) else "settings" if release else None
    return {
        "path": launch.source.path,
        "line": launch.line,
        "end_line": launch.end_line,
        "engine": launch.engine,
        "version": release,
        "version_from": how,
        "image": launch.image.shown if launch.image is not None else None,
        "name": launch.name,
        "argv": _argv(launch),
        "env": {name: variable.value.shown for name, variable in launch.env.items() if variable.value is not None},
        "config": config_data(launch),
        "gpus": launch.container.gpus if launch.container is not None else None,
    }


def config_data(launch: Launch) -> dict[str, Any]:
    """Option -> value as the engine reads it; null where it is not known."""
    release = launch.release.release
    (config,) = configs(launch, [release] if release is not None else [])
    reading = config.reading
    data: dict[str, Any] = {}
    positional = ENGINES[launch.engine].dialect.positional
    if positional and reading.arguments.positionals:
        data[positional] = config.operand("model").value
    for name, setting in reading.arguments.settings.items():
        option = setting.option
        if option is not None and "." not in name and (option.json or "json" in option.types):
            node = reading.parsed(name)
            data[name] = _json(node) if node is not None else None
        elif setting.value is None and setting.on is None:
            data[name] = None
        else:
            data[name] = config.operand(name).value
    return data


def _json(node: JsonNode) -> Any:
    if node.kind == OBJECT:
        return {key: _json(value) for key, (_, value) in node.members.items()}
    if node.kind == ARRAY:
        return [_json(item) for item in node.items]
    return node.value


def _quoted(word: str) -> str:
    """A word as a shell takes it; a mask is no pattern."""
    return shlex.quote(word) if MASK not in word else shlex.quote(word.replace(MASK, "@")).replace("@", MASK)


def launch_text(launch: Launch, data: dict[str, Any]) -> str:
    """data: what launch_data gives, with or without its secrets"""
    release = data["version"] or ("newest" if launch.release.rolling else "release not known")
    head = f"{escapes(launch.source.path)}:{launch.line}: {ENGINE_NAMES[launch.engine]} {release}"
    if launch.name:
        head += f" ({escapes(launch.name)})"
    lines = [head]
    if data["image"]:
        lines.append(f"  image {escapes(data['image'])}")
    for name, value in data["env"].items():
        lines.append(f"  env   {escapes(name)}={escapes(value)}")
    line = "  argv "
    for word in data["argv"]:
        quoted = escapes(word if word.startswith("${") and word.endswith("}") else _quoted(word))
        if word.startswith("-") and len(line) > 7:
            lines.append(line)
            line = "       "
        line += quoted if line.endswith(" ") and not line.strip() else " " + quoted if line.strip() != "argv" else quoted
    lines.append(line)
    return "\n".join(lines)
