"""`servelint explain RULE`: a rule's page, from its own file."""

from __future__ import annotations

import difflib
import json
import sys
import textwrap
from typing import Any

from servelint.cli.files import write_out
from servelint.cli.told import tell
from servelint.core.own_rules import OWN
from servelint.engines import ENGINE_NAMES
from servelint.files.settings.files import SettingsFiles
from servelint.report.clean import clean_lines
from servelint.rules.load import every, rule_folder
from servelint.rules.ranges import describe

_USAGE = """usage: servelint explain [--rules FOLDER] RULE
       servelint explain ENGINE OPTION|VARIABLE

Print a rule's page (vllm/turboquant-with-spec-decode), or the life of an option or an environment
variable in the releases of an engine: servelint explain vllm --swap-space
"""


def run(args: list[str]) -> int:
    if args[:1] in (["-h"], ["--help"]):
        write_out(_USAGE)
        return 0
    folders = SettingsFiles().of_folder("").rules
    if args[:1] == ["--rules"] and len(args) == 3:
        folders, args = (args[1],), args[2:]
    if len(args) == 2:
        return _life(*args)
    if len(args) != 1 or args[0].startswith("-"):
        sys.stderr.write(_USAGE)
        return 2
    (name,) = args
    if name in OWN:
        own = OWN[name]
        write_out(f"{name}: {own.title} ({own.severity})\n\n{textwrap.fill(own.why, 100)}\n")
        return 0
    ids = [rule.id for rule in every(folders)]
    if name not in ids:
        near = difflib.get_close_matches(name, ids, n=3, cutoff=0.4)
        hint = f"; did you mean {', '.join(near)}?" if near else " (servelint rules lists them)"
        tell(f"servelint: there is no rule {name!r}{hint}")
        return 2
    for path in folders:
        from servelint.rules import folder

        for written in folder.load(path).written:
            if written["id"] == name:
                write_out(clean_lines(page(written)))
                return 0
    from servelint.rules.compile import find_rule

    write_out(page(find_rule(name, rule_folder())))
    return 0


def _life(engine: str, name: str) -> int:
    from servelint.engines import catalog as catalogs
    from servelint.report import life

    catalog = catalogs.load(engine) if engine in ENGINE_NAMES else None
    if catalog is None:
        known = ", ".join([one for one in ENGINE_NAMES if catalogs.load(one) is not None])
        tell(f"servelint: there is no catalog of {engine!r}; use one of {known}")
        return 2
    text = life.of_variable(catalog, name) or life.of_option(catalog, name)
    if text is None:
        close = life.near(catalog, name)
        hint = f"; did you mean {close}?" if close else ""
        tell(f"servelint: no release of {ENGINE_NAMES[engine]} has {name}{hint}")
        return 2
    write_out(text)
    return 0


def page(data: dict[str, Any]) -> str:
    """A rule's page as plain text."""
    from servelint.rules.compile import on_gpus

    engine = ENGINE_NAMES.get(data["engine"], "any engine,")
    lines = [
        f"{data['id']}: {data['title']}",
        "",
        f"severity    {data['severity']} (confidence {data['confidence']}, impact {data['impact']})",
        f"engine      {engine} {describe(str(data['versions']))}" + (f" ({data['versions']})" if data["versions"] else ""),
        "",
        *textwrap.wrap(" ".join(data["why"].split()), 100),
        "",
        *([*textwrap.wrap(f"Fix: {data['advice']}", 100, subsequent_indent="  "), ""] if data["advice"] else []),
        *_options(data),
        "Evidence:",
    ]
    for entry in data["evidence"]:
        lines.append(f"  {entry.get('url') or entry['source']}")
        lines += textwrap.wrap(entry["says"], 96, initial_indent="    ", subsequent_indent="    ")
    for kind, title in (("bad", "Reported:"), ("good", "Not reported:")):
        lines += ["", title] if data["examples"][kind] else []
        for example in data["examples"][kind]:
            if "text" in example:
                text = example["text"].replace("\u27e6", "").replace("\u27e7", "")
                lines += [f"  {example['file']}:", *[f"    {line}".rstrip() for line in text.splitlines()]]
                continue
            release = f"{engine} {example['version']}" if "version" in example else "release not known"
            release += on_gpus(example)
            variables = [f"{name}={value} " for name, value in example.get("env", {}).items()]
            shown = "".join([*variables, example["run"]]).replace("\u27e6", "").replace("\u27e7", "")
            lines += [f"  {release}:", f"    {shown}"]
    lines += ["", f"Silence it with a comment above the launch: # servelint: ignore[{data['id']}] why", ""]
    return "\n".join(lines)


def _options(data: dict[str, Any]) -> list[str]:
    """What settings may change of a rule."""
    lines = [f"  {name} = {json.dumps(said['is'])}  {said['says']}" for name, said in data.get("options", {}).items()]
    return [f'Options, in a settings file under [rule."{data["id"]}"]:', *lines, ""] if lines else []
