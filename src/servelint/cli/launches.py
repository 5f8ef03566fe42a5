"""`servelint launches`: the launches that servelint finds, normalised. Secrets are masked."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from servelint.cli import options
from servelint.cli.command import command
from servelint.cli.options import Inputs, LaunchOutput, SettingsOptions, Versions
from servelint.cli.output import print_problems, print_stderr, write_json, write_stdout
from servelint.core.launch import Launch, Word, difference
from servelint.core.numbers import counted
from servelint.core.secrets import MASK, masked_value, without_in
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import configs
from servelint.engines.registry import ENGINES, Launcher
from servelint.filters.masking import secrets_of, words
from servelint.report import extent
from servelint.report.clean import escapes
from servelint.report.formats.json import branch_data, problem_data
from servelint.report.formats.text import Painter, note_text
from servelint.syntax.json import ARRAY, OBJECT, JsonNode


@command(
    "launches",
    *(Inputs, Versions, SettingsOptions, LaunchOutput),
    about="List every launch with its engine, release, arguments and environment.",
    notes="exit status: 0 success, 2 wrong usage or a file that could not be read, 3 an error in servelint\nitself",
    examples=["servelint launches deploy/", "servelint launches --format json compose.yml"],
)
def run(inputs: Inputs, versions: Versions, settings: SettingsOptions, writing: LaunchOutput) -> int:
    """Print the launches."""
    settings_files = options.settings(inputs, versions, settings, writing, judging=False)
    report = options.lint(inputs, settings_files)
    if settings_files.problems:
        return options.report_problems(settings_files.problems)
    shown = _grouped([launch for launch in report.launches if launch.started])

    def data_of(launch: Launch, others: list[Launch]) -> dict[str, Any]:
        data = launch_data(launch, settings_files.of(launch.source.path).engine_versions)
        data = data if writing.show_secrets else _without_secrets(launch, data)
        more = [data_of(one, []) for one in others]
        differing = [one for at, one in enumerate(more) if _words_of(one) not in map(_words_of, [data, *more[:at]])]
        return {**data, "others": differing} if differing else data

    if writing.format == "json":
        data = {
            "launches": [data_of(launch, others) for launch, *others in shown],
            "errors": [problem_data(problem) for problem in report.errors],
        }
        if report.notes:
            data["notes"] = [problem_data(problem) for problem in report.notes]
        write_json(data, secrets=writing.show_secrets)
    else:
        write_stdout("".join([launch_text(launch, data_of(launch, others)) + "\n" for launch, *others in shown]))
        print_problems(report.errors)
        for problem in report.notes:
            print_stderr(note_text(problem, Painter(False)))
        if not shown and not report.errors:
            print_stderr("servelint: no launch found")
    return options.status_of_errors(report)


def one_each(launches: list[Launch]) -> list[Launch]:
    """Return each launch once: the first run of a command in a loop or a function, and one launch for each container."""
    return [several[0] for several in _grouped(launches)]


def _words_of(data: dict[str, Any]) -> tuple[object, ...]:
    return data["engine"], data["version"], data["image"], data["argv"], data["env"]


def _grouped(launches: list[Launch]) -> list[list[Launch]]:
    """Return the runs of each command in a loop or a function, and the launches of each container, the likely one first."""
    every: dict[tuple[object, ...], list[Launch]] = {}
    for launch in launches:
        # a function that is given a whole command starts another one each time
        verb = launch.verb[0].text.span() if launch.verb else None
        place = () if launch.name else (launch.site.start, launch.site.end, verb.start if verb is not None else -1)
        key = (id(launch.source), launch.name, *place)
        several = every.setdefault(key, [])
        several.insert(0 if several and launch.likely and not several[0].likely else len(several), launch)
    return list(every.values())


def _without_secrets(launch: Launch, data: dict[str, Any]) -> dict[str, Any]:
    data = {**data, "argv": words(launch.argv)}
    if launch.alternatives:
        data["possible"] = _possible(launch, words)
    for part in ("env", "config"):
        data[part] = {
            name: masked_value(name, value) if isinstance(value, str) else value for name, value in data[part].items()
        }
    hidden: dict[str, Any] = without_in(data, secrets_of([launch]))
    return hidden


def launch_data(launch: Launch, versions: dict[str, str]) -> dict[str, Any]:
    """Return a launch as the JSON output shows it. versions: engine -> release to assume where the file pins none."""
    claim = launch.release
    release = claim.release or versions.get(launch.engine)
    how = claim.how if claim.release or (claim.rolling and release is None) else "settings" if release else None
    return {
        "path": launch.site.source.path,
        "line": launch.line,
        "end_line": launch.end_line,
        "engine": launch.engine,
        "version": release,
        "version_from": how,
        "image": launch.image.shown if launch.image is not None else None,
        "name": launch.name,
        "fragment": launch.fragment,
        **({"object": launch.launcher} if _made(launch) is not None else {}),
        "argv": _plain(launch.argv),
        "env": {name: variable.value.shown for name, variable in launch.env.items() if variable.value is not None},
        "config": config_data(launch),
        "gpus": launch.container.gpus if launch.container is not None else None,
        **({"possible": _possible(launch)} if launch.alternatives else {}),
        **({"judged": extent.data(launch.judged)} if launch.judged is not None else {}),
    }


def _made(launch: Launch) -> Launcher | None:
    """Return the class of Python whose keyword arguments a launch is; None for a command."""
    launcher = ENGINES[launch.engine].launchers.get(launch.launcher)
    return launcher if launcher is not None and launcher.calls else None


def _plain(argv: list[Word]) -> list[str]:
    return [word.shown for word in argv if word.shown or not word.many]  # "$@" adds none in a plain run


def _possible(launch: Launch, shown_as: Callable[[list[Word]], list[str]] = _plain) -> list[dict[str, Any]]:
    """Return what undecided conditions of the script change in `argv`: words that they add, and those that they replace."""
    found: list[dict[str, Any]] = []
    for other in launch.alternatives:
        gone, added = difference(launch, other)
        removed = [launch.argv[index] for index in gone]
        shown = [shown_as(some) for some in (added, removed)]
        if not any(shown):
            continue
        one: dict[str, Any] = {"words": shown[0]}
        if shown[1]:
            one["instead_of"] = shown[1]
        branches = [branch_data(branch) for branch in other.branches]
        one["branch"] = branches[-1] if branches else None
        if branches[1:]:
            one["within"] = branches[:-1]
        found.append(one)
    return found


def config_data(launch: Launch) -> dict[str, Any]:
    """Return option -> value as the engine reads it; None where it is not known."""
    release = launch.release.release
    (config,) = configs(launch, [release] if release is not None else [])
    reading = config.reading
    data: dict[str, Any] = {}
    if (positional := ENGINES[launch.engine].dialect.positional) and reading.arguments.positionals:
        data[positional] = config.operand("model").value
    for name, setting in reading.arguments.settings.items():
        option = setting.option
        if option is not None and "." not in name and (option.json or "json" in option.types):
            node = reading.parsed(name)
            data[name] = _json(node) if node is not None else None
        elif setting.value is None and setting.on is None:
            data[name] = None
        else:
            operand = config.operand(name)
            # the types of an engine without a catalog are not known: its values are texts
            written = operand.text.value if config.catalog is None and operand.text is not None else None
            data[name] = written if isinstance(operand.value, int) and written is not None else operand.value
    return data


def _json(node: JsonNode) -> Any:
    if node.kind == OBJECT:
        return {key: _json(value) for key, (_, value) in node.members.items()}
    if node.kind == ARRAY:
        return [_json(item) for item in node.items]
    return node.value


def quoted(word: str) -> str:
    """Quote a word for a shell, but neither a variable nor the asterisks of a mask."""
    if word.startswith("${") and word.endswith("}"):
        return word
    return shlex.quote(word) if MASK not in word else shlex.quote(word.replace(MASK, "@")).replace("@", MASK)


def arguments(argv: list[str]) -> list[str]:
    """Return the words of an engine that Python code makes as keyword arguments.

    >>> arguments(["--seed", "1", "--no-enable_lora", "--enforce_eager"])
    ['seed=1', 'enable_lora=False', 'enforce_eager=True']
    """
    found: list[list[str]] = []
    for word in argv:
        if word.startswith("--") or not found or not found[-1][0].startswith("--"):
            found.append([word])
        else:
            found[-1].append(word)
    lines: list[str] = []
    for head, *values in found:
        if not head.startswith("--"):
            lines.append(head)  # arguments that are not known
            continue
        name = head.removeprefix("--no-").removeprefix("--").replace("-", "_")
        value = ", ".join(values) if values else str(not head.startswith("--no-"))
        lines.append(f"{name}={value}" if len(values) < 2 else f"{name}=[{value}]")
    return lines


def launch_text(launch: Launch, data: dict[str, Any]) -> str:
    """Return a launch as text. data: that of `launch_data`, with or without its secrets."""
    release = data["version"] or ("newest" if launch.release.rolling else "release not known")
    head = f"{escapes(launch.site.source.path)}:{launch.line}: {ENGINE_NAMES[launch.engine]} {release}"
    if launch.name:
        head += f" ({escapes(launch.name)})"
    made = _made(launch)
    if made is not None:
        head += f" ({launch.launcher}: {made.about})"
    lines = [head]
    if data["image"]:
        lines.append(f"  image {escapes(data['image'])}")
    for name, value in data["env"].items():
        lines.append(f"  env   {escapes(name)}={escapes(value)}")
    if made is not None:
        lines += [f"  {'args' if at == 0 else '    '}  {escapes(one)}" for at, one in enumerate(arguments(data["argv"]))]
    line = "  argv "
    for word in data["argv"] if made is None else ():
        shown = escapes(quoted(word))
        if word.startswith("-") and len(line) > 7:
            lines.append(line)
            line = "       "
        line += shown if line.endswith(" ") and not line.strip() else " " + shown if line.strip() != "argv" else shown
    lines += [line] if made is None else []
    if "others" in data:
        runs = counted(len(data["others"]), "more run", "more runs")
        lines.append(f"  {runs} with other words (see --format json)")
    return "\n".join(lines)
