"""`servelint translate --to ENGINE`: the nearest launch of another engine, option by option."""

from __future__ import annotations

from typing import Any

from servelint.cli import options
from servelint.cli.command import Options, command, fail, option
from servelint.cli.launches import one_each, quoted
from servelint.cli.options import Hardware, Inputs, LaunchOutput, SettingsOptions
from servelint.cli.output import print_problems, print_stderr, write_json, write_stdout
from servelint.core.launch import Word
from servelint.core.secrets import masked_value, without_in
from servelint.engines import ENGINE_NAMES
from servelint.engines import catalog as catalogs
from servelint.engines.releases import requested
from servelint.filters.masking import secrets_of, words
from servelint.report.clean import clean, escapes
from servelint.translate import Translation, targets, translate


class Target(Options, title="target"):
    """Which engine the launches move to."""

    to: str = option("--to", metavar="ENGINE[=RELEASE]", needed=True, help="the engine: vllm or sglang")
    release: str | None = option("--release", metavar="RELEASE", help="its release (default: the newest)")


@command(
    "translate",
    *(Inputs, Target, Hardware, SettingsOptions, LaunchOutput),
    about="Print the nearest launch of another engine, and what changes meaning or has no counterpart.",
    notes="exit status: 0 all carries over, 1 not all does, 2 wrong usage or a file that could not be read",
    examples=[
        "servelint translate --to sglang compose.yml",
        "servelint translate --to vllm=0.33.0 --command 'text-generation-launcher --model-id a/b'",
    ],
)
def run(inputs: Inputs, target: Target, hardware: Hardware, settings: SettingsOptions, writing: LaunchOutput) -> int:
    """Print the translations."""
    engine, release = _target_of(target)
    settings_files = options.settings(inputs, hardware, settings, judging=False)
    report = options.lint(inputs, settings_files)
    if settings_files.problems:
        return options.report_problems(settings_files.problems)
    shown = one_each([launch for launch in report.launches if launch.started and not launch.fragment])
    others = [launch for launch in shown if launch.engine != engine]
    judging = options.settings(inputs, hardware, settings)
    found = [translate(launch, engine, release, judging.of(launch.source.path)) for launch in others]
    data = [_data(one) if writing.show_secrets else _without_secrets(one) for one in found]
    if writing.format == "json":
        errors = [{"path": problem.path, "message": problem.message} for problem in report.errors]
        write_json({"translations": data, "skipped": len(shown) - len(others), "errors": errors}, indent=2)
    else:
        write_stdout("\n".join([_text(one) for one in data]))
        print_problems(report.errors)
        if len(shown) > len(others):
            print_stderr(f"servelint: skipped: {len(shown) - len(others)} already of {ENGINE_NAMES[engine]}")
        if not shown and not report.errors:
            print_stderr("servelint: no launch found")
    return 2 if report.errors else int(not all(one.complete for one in found))


def _target_of(target: Target) -> tuple[str, str]:
    """Read the engine and its release. Raises UsageError if there is no translation to it."""
    engine, sign, release = target.to.partition("=")
    catalog = catalogs.load(engine) if engine in targets() else None
    if catalog is None:
        fail(f"--to {target.to}: write one of {', '.join(targets())}")
    if sign and target.release is not None and target.release != release:
        fail(f"--to {target.to} and --release {target.release} name two releases")
    wanted = release or target.release or catalog.releases[-1]
    try:
        wanted = requested(engine, wanted)
    except ValueError as error:
        fail(f"--release: {error}")
    index = catalog.index(wanted)
    if index is None:
        fail(f"--release {wanted}: write a release of {ENGINE_NAMES[engine]} that servelint engines list shows")
    return engine, catalog.releases[index]


def _data(one: Translation) -> dict[str, Any]:
    from servelint.report.formats.json import finding_data

    def plain(some: list[Word]) -> list[str]:
        return [word.shown for word in some]

    return _shape(one, plain) | {"findings": [finding_data(finding) for finding in one.findings]}


def _without_secrets(one: Translation) -> dict[str, Any]:
    data = _data(one) | _shape(one, words)
    data["env"] = {name: masked_value(name, value) for name, value in data["env"].items()}
    hidden: dict[str, Any] = without_in(data, secrets_of([one.launch, one.target]))
    return hidden


def _shape(one: Translation, shown: Any) -> dict[str, Any]:
    return {
        "path": one.launch.source.path,
        "line": one.launch.line,
        "name": one.launch.name,
        "from": {"engine": one.launch.engine, "release": one.source},
        "to": {"engine": one.target.engine, "release": one.release},
        "image": one.image,
        "command": [word.shown for word in one.target.verb],
        "argv": shown(one.target.argv),
        "env": {name: variable.value.shown for name, variable in one.target.env.items() if variable.value is not None},
        "complete": one.complete,
        "options": [
            {
                "kind": line.kind,
                "concept": line.concept,
                "source": shown(line.source),
                "target": shown(line.target),
                "says": line.says,
            }
            for line in one.lines
        ],
    }


def _text(data: dict[str, Any]) -> str:
    source, target = data["from"], data["to"]
    before = f"{ENGINE_NAMES[source['engine']]} {source['release']}".rstrip()
    head = f"{clean(data['path'])}:{data['line']}: {before} -> {ENGINE_NAMES[target['engine']]} {target['release']}"
    lines = [f"{head} ({clean(data['name'])})" if data["name"] else head]
    if data["image"]:
        lines.append(f"  image    {data['image']}")
    lines += [f"  env      {_joined([f'{name}={value}'])}" for name, value in data["env"].items()]
    lines.append("  command  " + _joined([*data["command"], *data["argv"]]))
    for line in data["options"]:
        written = " -> ".join(_joined(some) for some in (line["source"], line["target"]) if some)
        kind = line["kind"].replace("-", " ")
        lines.append(f"  {kind:<15}" + ": ".join(part for part in (written, clean(line["says"])) if part))
    lines += [clean(f"  breaks         {finding['message']} [{finding['rule']}]") for finding in data["findings"]]
    return "\n".join([*lines, ""])


def _joined(some: list[str]) -> str:
    return " ".join(escapes(quoted(word)) for word in some)
