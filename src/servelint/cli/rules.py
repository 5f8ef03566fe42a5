"""`servelint rules` lists the rules, `rules test FOLDER` runs the examples of your own, and `explain` prints a page."""

from __future__ import annotations

import json
import os
import textwrap
from typing import Any

from servelint.cli import options
from servelint.cli.command import Options, argument, command, fail, flag, option
from servelint.cli.options import Rules, SettingsOptions
from servelint.cli.output import plural, print_problems, print_stderr, write_json, write_stdout
from servelint.core.finding import SEVERITIES
from servelint.core.own_rules import OWN
from servelint.core.secrets import without_secrets
from servelint.core.trust import RuleFolder
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.report.clean import clean, clean_lines
from servelint.rules.load import every, rule_folder
from servelint.rules.ranges import describe
from servelint.settings.files import SettingsFiles


class NotFound(Exception):
    """There is nothing by a name. The message is a sentence that says so."""


class OutputOptions(Options, title="output"):
    """How the list is printed."""

    format: str = options.format_option("text", "json")
    operands: bool = flag("--operands", help="list the operands of rule conditions instead")


class Folders(Options, title="arguments"):
    """Rules of one's own."""

    folders: tuple[str, ...] = argument("FOLDER", "a folder with rules, as FOLDER/<area>/<name>.yaml", many=True, needed=True)


class Topic(Options, title="arguments"):
    """What is explained."""

    topic: str | None = argument("RULE|ENGINE", "the id of a rule; or an engine, with OPTION or VARIABLE")
    name: str | None = argument("OPTION|VARIABLE", "an option or an environment variable of the engine")


class Log(Options, title="log"):
    """A log whose error is explained."""

    log: str | None = option(
        "--log", metavar="FILE", help="list the rules that best match the error in a log; - reads standard input"
    )


class Folder(Options, title="rules"):
    """Where your own rules are."""

    rules: str | None = option("--rules", metavar="FOLDER", help="a folder with your own rules; write it before RULE")


@command(
    "test",
    Folders,
    about="Run the examples of the rules in your own folders.",
    notes="exit status: 0 all examples pass, 1 one fails, 2 wrong usage or a file that is not a valid rule",
    examples=["servelint rules test my-rules/"],
)
def _test(folders: Folders) -> int:
    from servelint import rule_examples as examples
    from servelint.rules import folder

    count = wrong = 0
    problems = []
    for path in folders.folders:
        book = folder.load(path)
        problems += book.problems
        for rule, written in zip(book.rules, book.written, strict=True):
            count += sum(len(written["examples"][kind]) for kind in ("bad", "good"))
            for fault in examples.faults(rule, written):
                wrong += 1
                print(clean(f"{rule.id}: {fault}"))
    print_problems(problems)
    print(f"{count - wrong} of {count} {plural(count, 'example')} hold")
    return 2 if problems else int(wrong > 0)


def _operands(form: str) -> int:
    """Print the operands that a rule can ask for, with types, meanings and engines."""
    from servelint.engines.operands import registered

    known = registered()
    if form == "json":
        fields = ("name", "type", "meaning", "engines")
        write_json([{name: getattr(one, name) for name in fields} for one in known])
        return 0
    width = max(len(one.name) for one in known)
    write_stdout("".join([f"{one.name:<{width}}  {one.type:<6}  {one.meaning}{_engines(one.engines)}\n" for one in known]))
    return 0


def _engines(engines: tuple[str, ...]) -> str:
    return "" if len(engines) == len(ENGINE_NAMES) else f" ({', '.join([ENGINE_NAMES[engine] for engine in engines])})"


@command(
    "rules",
    *(Rules, SettingsOptions, OutputOptions),
    about="List the rules that run with these options and settings.",
    usage=["servelint rules [options]", "servelint rules test FOLDER..."],
    subcommands={"test": (_test, "run the examples of your own rules")},
    examples=["servelint rules --select 'vllm/*' --severity error", "servelint rules --format json"],
)
def run(rules: Rules, settings: SettingsOptions, writing: OutputOptions) -> int:
    """Print the list."""
    if writing.operands:
        return _operands(writing.format)
    files = options.settings(rules, settings, writing)
    chosen = options.settings_of(files)
    if files.problems:
        return options.report_problems(files.problems)
    problems = files.rule_problems()
    print_problems(problems)
    least = SEVERITIES.index(chosen.severity)
    wanted = [rule.changed(chosen.of_rule(rule.id)) for rule in every(chosen.rules) if chosen.wants(rule.id, rule.profile)]
    shown = [rule for rule in wanted if SEVERITIES.index(rule.severity) >= least]
    if writing.format == "json":
        fields = ("id", "title", "severity", "confidence", "impact", "engine", "versions", "evidence")
        write_json([{name: getattr(rule, name) for name in fields} for rule in shown])
        return 2 if problems else 0
    width = max([len(rule.id) for rule in shown], default=0)
    lines = [
        f"{rule.id:<{width}}  {rule.severity:<7}  {clean(rule.title)}"
        f" ({ENGINE_NAMES.get(rule.engine, 'any engine,')} {describe(rule.versions)})\n"
        for rule in shown
    ]
    write_stdout("".join(lines))
    return 2 if problems else 0


@command(
    "explain",
    *(Topic, Log, Folder),
    about="Print a rule's page, the history of an option or a variable, or the rules that explain a log.",
    usage=[
        "servelint explain [--rules FOLDER] RULE",
        "servelint explain ENGINE OPTION|VARIABLE",
        "servelint explain --log FILE",
    ],
    examples=[
        "servelint explain vllm/turboquant-with-spec-decode",
        "servelint explain vllm --swap-space",
        "servelint explain sglang SGLANG_ENABLE_SPEC_V2",
        "servelint explain vllm speculative-config.method",
        "docker logs vllm 2>&1 | servelint explain --log -",
    ],
    allow_interspersed_args=False,  # what follows an engine is an option of the engine
)
def explain(topic: Topic, log: Log, folder: Folder) -> int:
    """Print the page."""
    if log.log is not None:
        if topic.topic is not None:
            fail("--log takes no RULE or ENGINE")
        return _of_log(log.log)
    if topic.topic is None:
        fail("RULE or ENGINE is missing, or --log FILE")
    try:
        if topic.name is not None:
            text = life(topic.topic, topic.name)
        else:
            text = rule_page(topic.topic, (folder.rules,) if folder.rules is not None else SettingsFiles().of_folder("").rules)
    except NotFound as error:
        print_stderr(f"servelint: {error}")
        return 2
    write_stdout(text)
    return 0


_LOG_BYTES = 8 * 2**20
_NAMED = 3


def _of_log(path: str) -> int:
    """Print the rules that are nearest to the text of a log, with the line that is nearest to each; 1 if none is near."""
    import sys

    try:
        with sys.stdin.buffer if path == "-" else open(path, "rb") as file:
            if file.seekable():
                file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_BYTES))
            text = file.read(_LOG_BYTES).decode("utf-8", "replace")
    except OSError as error:
        print_stderr(f"servelint: {clean(path)} cannot be read: {error.strerror}")
        return 2
    try:
        write_stdout(log_rules(text))
    except NotFound as error:
        print_stderr(f"servelint: {error}")
        return 1
    return 0


def log_rules(text: str) -> str:
    """Return the rules that are nearest to the text of a log. Raises NotFound, with a sentence, if none is near."""
    from servelint.report.log_search import Index, entries

    lines = text.split("\n")
    found = Index(entries()).search(text)[:_NAMED]
    if not found:
        raise NotFound("no rule matches this log")
    quoted = [clean(textwrap.shorten(without_secrets(lines[one.line - 1]), 200)) for one in found]
    shown = [
        f"{one.entry.rule}: {one.entry.title}\n  line {one.line}: {line}\n" for one, line in zip(found, quoted, strict=True)
    ]
    return "".join(shown) + f"\nservelint explain {found[0].entry.rule} prints the page of the best match\n"


def rule_page(name: str, folders: tuple[str | RuleFolder, ...]) -> str:
    """Return the page of a rule; folders: those of users' rules. Raises NotFound, with a sentence, if there is none."""
    if name in OWN:
        own = OWN[name]
        return f"{name}: {own.title} ({own.severity})\n\n{textwrap.fill(own.why, 100)}\n"
    ids = [rule.id for rule in every(folders)]
    if name not in ids:
        import difflib

        near = difflib.get_close_matches(name, ids, n=3, cutoff=0.4)
        hint = f"; did you mean {', '.join(near)}?" if near else " (servelint rules lists them)"
        raise NotFound(f"there is no rule {name!r}{hint}")
    for path in folders:
        from servelint.rules import folder

        for written in folder.load(path).written:
            if written["id"] == name:
                return clean_lines(page(written))
    from servelint.rules.compile import find_rule

    return page(find_rule(name, rule_folder()))


def life(engine: str, name: str) -> str:
    """Return the history of an option, a key or a variable. Raises NotFound, with a sentence, if there is none."""
    from servelint.engines import catalog as catalogs
    from servelint.report import reference

    found = reference.engine_named(engine)
    catalog = catalogs.load(found) if found is not None else None
    if catalog is None:
        text = reference.without_catalog(found, name) if found is not None else None
        if text is not None:
            return text
        known = ", ".join([one for one in ENGINE_NAMES if catalogs.load(one) is not None])
        missing = ENGINE_NAMES[found] if found is not None else repr(engine)
        page = ENGINES[found].documentation if found is not None else ""
        raise NotFound(f"no option catalog for {missing}; use one of {known}{f', or read {page}' if page else ''}")
    try:
        text = reference.of_name(catalog, name)
    except reference.Ambiguous as error:
        raise NotFound(str(error)) from None
    if text is None:
        close = reference.near(catalog, name)
        hint = f"; did you mean {close}?" if close else ""
        raise NotFound(f"no release of {ENGINE_NAMES[catalog.engine]} has {name}{hint}")
    return text


def page(data: dict[str, Any]) -> str:
    """Return a rule's page as plain text. data: the rule as its file has it."""
    from servelint.rules.compile import on_gpus
    from servelint.rules.pages import impacts

    engine = ENGINE_NAMES.get(data["engine"], "any engine,")
    lines = [
        f"{data['id']}: {data['title']}",
        "",
        f"severity    {data['severity']} (confidence {data['confidence']}, impact {impacts(data)})",
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
    """Return the part of a rule's page on the options that settings can set."""
    lines = [f"  {name} = {json.dumps(one['is'])}  {one['says']}" for name, one in data.get("options", {}).items()]
    return [f'Options, in a settings file under [rule."{data["id"]}"]:', *lines, ""] if lines else []
