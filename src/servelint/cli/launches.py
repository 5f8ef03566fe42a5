"""`servelint launches`: what servelint sees, normalised. The text hides secrets; the JSON is for programs, and holds all."""

from __future__ import annotations

import argparse
import json
import shlex
import sys

from servelint.cli import options
from servelint.cli.files import write_out
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import configs
from servelint.engines.dialects import DIALECTS, PLAIN
from servelint.json_nodes import ARRAY, OBJECT, JsonNode
from servelint.launch import Launch
from servelint.masking import secrets_of, without
from servelint.report.clean import clean
from servelint.report.json_report import problem_data
from servelint.report.text import Painter, note_text, problem_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.settings_files.files import SettingsFiles


def run(args: list[str]) -> int:
    usage = parser()
    arguments = usage.parse_args(args)
    asked = options.settings(arguments, usage, judging=False)
    report = options.run(arguments, asked, usage)
    if asked.problems:
        return options.stop(asked.problems)
    shown = one_each([launch for launch in report.launches if not launch.fragment])
    if arguments.format == "json":
        data = {
            "launches": [launch_data(launch, _versions(launch, asked)) for launch in shown],
            "errors": [problem_data(problem) for problem in report.errors],
        }
        if report.notes:
            data["notes"] = [problem_data(problem) for problem in report.notes]
        write_out(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    else:
        paint = Painter(False)
        texts = [without(launch_text(launch, _versions(launch, asked)), secrets_of([launch])) for launch in shown]
        write_out("".join([text + "\n" for text in texts]))
        for problem in report.errors:
            print(problem_text(problem, paint), file=sys.stderr)
        for problem in report.notes:
            print(note_text(problem, paint), file=sys.stderr)
        if not shown and not report.errors:
            print("servelint: no launch found", file=sys.stderr)
    return options.status(report)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    usage = options.parser("launches", "List every launch: engine, release, argv, environment.")
    options.add_inputs(usage)
    options.add_engine_version(usage)
    options.add_settings(usage)
    usage.add_argument("--format", choices=("text", "json"), default="text", help="(default: text)")
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
    positional = DIALECTS.get(launch.engine, PLAIN).positional
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


def launch_text(launch: Launch, versions: dict[str, str]) -> str:
    data = launch_data(launch, versions)
    release = data["version"] or ("newest" if launch.release.rolling else "release not known")
    head = f"{clean(launch.source.path)}:{launch.line}: {ENGINE_NAMES[launch.engine]} {release}"
    if launch.name:
        head += f" ({clean(launch.name)})"
    lines = [head]
    if data["image"]:
        lines.append(f"  image {clean(data['image'])}")
    for name, value in data["env"].items():
        lines.append(f"  env   {clean(name)}={clean(value)}")
    line = "  argv "
    for word in data["argv"]:
        quoted = clean(word if word.startswith("${") and word.endswith("}") else shlex.quote(word))
        if word.startswith("-") and len(line) > 7:
            lines.append(line)
            line = "       "
        line += quoted if line.endswith(" ") and not line.strip() else " " + quoted if line.strip() != "argv" else quoted
    lines.append(line)
    return "\n".join(lines)
