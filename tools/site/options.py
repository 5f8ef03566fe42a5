"""A page for every option, key of a JSON option and environment variable of every engine: its life over the releases."""

from __future__ import annotations

import functools
import html
import json
import re
import shlex
from typing import Any

from bars import bar, engine_name, releases_of, slug
from sample import Sample

import rules
from servelint.engines import ENGINES
from servelint.engines.catalog import Catalog, Option, load
from servelint.report import reference

Run = tuple[int, int, str, bool]
"""First position, last position, what it takes, whether it is deprecated."""

_TAG = re.compile(r"(?<=[:v-])(?:b\d+|\d+(?:\.\d+)+)$")
"""The release at the end of the image in an engine's first sample."""


def _joined(runs: list[Run]) -> list[Run]:
    found: list[Run] = []
    for run in sorted(runs):
        if found and run[0] <= found[-1][1]:
            continue
        if found and found[-1][1] + 1 == run[0] and found[-1][3] == run[3] and _same(found[-1][2], run[2]):
            found[-1] = (found[-1][0], run[1], *run[2:])
        else:
            found.append(run)
    return found


def _same(before: str, text: str) -> bool:
    return before == text or _difference(before, text) == _SAME


def options_of(catalog: Catalog) -> dict[str, tuple[list[Run], list[str]]]:
    """Canonical name -> its runs, and all of its spellings."""
    found: dict[str, tuple[list[Run], list[str]]] = {}
    for spelling in catalog.spellings():
        for first, last, option in catalog.spelled(spelling):
            runs, names = found.setdefault(option.name, ([], []))
            if spelling not in names:
                names.append(spelling)
            runs.append((first, last, reference.takes(option, ""), bool(option.deprecated)))
    return {name: (_joined(runs), names) for name, (runs, names) in sorted(found.items())}


def keys_of(catalog: Catalog) -> dict[str, list[Run]]:
    """`speculative-config.method` -> its runs, for every key of every JSON option."""
    found: dict[str, list[Run]] = {}
    for name in catalog.json_names():
        for index in range(len(catalog.releases)):
            keys = catalog.keys(name, index)
            for key, body in keys.known.items() if keys is not None else ():
                run = (index, index, reference.field(body), bool(body.get("deprecated")))
                found.setdefault(f"{name}.{key}", []).append(run)
    return {name: _joined(runs) for name, runs in sorted(found.items())}


def variables_of(catalog: Catalog) -> dict[str, list[Run]]:
    """Environment variable -> its runs."""
    return {
        name: _joined([(first, last, reference.reads(body), bool(body.get("deprecated"))) for first, last, body in runs])
        for name, runs in sorted(catalog.variables().items())
    }


def _table(engine: str, runs: list[Run]) -> list[str]:
    releases = releases_of(engine)
    lines = ["| releases | accepts |", "|---|---|"]

    for number in range(len(runs) - 1, -1, -1):
        first, last, text, _ = runs[number]
        text = _difference(runs[number - 1][2], text) if number and runs[number - 1][1] + 1 == first else text
        where = releases[first] if first == last else f"{releases[first]} to {releases[last]}"
        if last == len(releases) - 1:
            where = f"{releases[first]} and later"
        lines.append(f"| {where} | {_cell(text)} |")
    return lines


_SAME = "the same choices"
_CHOICES = re.compile(r"^one of (.*?)(?=, default |, several|, may stand|, deprecated|$)")


def _difference(before: str, text: str) -> str:
    """What a run accepts; only what was added and removed where both runs list choices."""
    old, new = _CHOICES.match(before), _CHOICES.match(text)
    if old is None or new is None or "and " in old.group(1) + new.group(1):
        return text
    was, now = [re.split(r", | or ", one.group(1)) for one in (old, new)]
    came, went = [one for one in now if one not in was], [one for one in was if one not in now]
    if len(came) + len(went) >= len(now):
        return text
    parts = [f"also {', '.join(came)}"] if came else []
    parts += [f"no longer {', '.join(went)}"] if went else []
    rest, was_rest = text[new.end() :].lstrip(", "), before[old.end() :].lstrip(", ")
    if rest != was_rest:
        parts.append(rest or "no default")
    return "; ".join(parts) or _SAME


def _cell(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", " ").replace("*", "\\*").replace("_", "\\_")


def _page(
    engine: str,
    title: str,
    runs: list[Run],
    others: list[str],
    about: list[rules.Rule],
    extra: list[str],
    what: str | None = None,
) -> str:
    catalog = load(engine)
    assert catalog is not None
    when = reference.when([(first, last) for first, last, _, _ in runs], catalog)
    marks = [
        (first, last, ("old" if old else "on", "alt")[number % 2 and not old], text)
        for number, (first, last, text, old) in enumerate(runs)
    ]
    lines = ["---", "hide: [navigation]", "---", "", f"# {title} ({engine_name(engine)})", ""]
    lines += [what, ""] if what else []
    lines += [f"{engine_name(engine)} {when}.", ""]
    lines += [f"Also written {', '.join([f'`{name}`' for name in others])}.", ""] if others else []
    lines += [bar(engine, marks), "", "## Releases", "", *_table(engine, runs), ""]
    lines += extra
    if about:
        lines += ["## Rules", ""]
        lines += [f"- [{one.id}](../../rules/{one.id}.md): {one.data['title']}" for one in about]
    return "\n".join(lines) + "\n"


def _written(engine: str, option: Option, release: str) -> list[str]:
    """How an option is written in a shell script, in compose, in Kubernetes and in Helm."""
    value = ""
    if option.takes_value and not isinstance(option.default, (dict, list)):
        value = str(option.default if option.default not in (None, "") else (option.choices or ["VALUE"])[0])
    spelling = next((name for name in option.names if name.startswith("--")), option.names[0])
    return _ways(
        engine, release, words=[spelling, value] if value else [spelling, "VALUE"] if option.takes_value else [spelling]
    )


def _key_written(catalog: Catalog, key: str, index: int) -> list[str]:
    """How a key of a JSON option is written; nothing where no option of the release has the object."""
    option, *path = key.split(".")
    if catalog.table(index).find(f"--{option}") is None:
        return []
    value: object = "VALUE"
    for part in reversed(path):
        value = {part: value}
    return _ways(catalog.engine, catalog.releases[index], words=[f"--{option}", json.dumps(value)])


def _ways(engine: str, release: str, *, words: list[str] | None = None, variable: str = "") -> list[str]:
    """How words of the command line, or a variable, are written in each kind of file."""
    record = ENGINES.get(engine)
    image, count = _TAG.subn(release, record.samples[0][0]) if record is not None and record.samples else ("", 0)
    if record is None or not count:
        return []
    command = " ".join(record.command)
    if words is not None:
        shell = f"{command} MODEL {shlex.join(words)}" if engine == "vllm" else f"{command} {shlex.join(words)}"
        items = ", ".join([json.dumps(word) for word in words])
        compose, container = [f"command: [..., {items}]"], [f"args: [..., {items}]"]
        chart = ["vllmConfig:", f"  extraArgs: [{items}]"]
    else:
        shell = f"export {variable}=VALUE"
        compose = ["environment:", f"  {variable}: VALUE"]
        container = ["env:", f"  - name: {variable}", "    value: VALUE"]
        chart = container
    start = [] if words is None or engine in ("tgi", "llama.cpp") else [f"command: {json.dumps(command.split())}"]
    frames = {
        f"In a shell script, for {engine_name(engine)} {release}:": ("sh", [shell]),
        "In a compose file:": ("yaml", ["services:", "  server:", f"    image: {image}", *_indented(4, compose)]),
        "In a Kubernetes manifest:": (
            "yaml",
            ["containers:", "  - name: server", f"    image: {image}", *_indented(4, container)],
        ),
    }
    if engine == "vllm":
        name, _, tag = image.partition(":")
        head = ["servingEngineSpec:", "  modelSpec:", "    - name: server", "      modelURL: MODEL"]
        head += [f"      repository: {name}", f"      tag: {tag}"]
        frames["In Helm values, for the chart of the vLLM production stack:"] = ("yaml", [*head, *_indented(6, chart)])
    else:
        head = ["decode:", "  containers:", "    - name: server", f"      image: {image}", "      modelCommand: custom"]
        frames["In Helm values, for llm-d's modelservice:"] = ("yaml", [*head, *_indented(6, [*start, *container])])
    lines = ["## How to write it", ""]
    for title, (language, body) in frames.items():
        lines += [title, "", f"```{language}", *body, "```", ""]
    return lines


def _indented(width: int, lines: list[str]) -> list[str]:
    return [" " * width + line for line in lines]


def write(sample: Sample, book: list[rules.Rule]) -> None:
    """Write the pages below `options/`."""
    folder = sample.docs / "options"
    folder.mkdir()
    index = ["---", "hide: [navigation, toc]", "---", "", "# Options", ""]
    index += ["Every option, key of a JSON option and environment variable, over all releases that servelint knows.", ""]
    for engine in ENGINES:
        catalog = load(engine)
        if catalog is None:
            continue
        (folder / slug(engine)).mkdir()
        last = len(catalog.releases) - 1
        sections: dict[str, list[tuple[str, str, bool]]] = {"Options": [], "Keys": [], "Environment variables": []}
        for name, (runs, names) in options_of(catalog).items():
            option = next((one for first, end, one in catalog.spelled(names[0]) if end == runs[-1][1]), None)
            if option is None:
                option = catalog.spelled(names[0])[-1][2]
            title = option.names[0] if option.names else "--" + name
            title = "--" + name if "--" + name in names else title
            extra = [*reference.instead(catalog, name, runs[-1][1]), ""]
            extra += _written(engine, option, catalog.releases[runs[-1][1]])
            record = ENGINES[engine]
            extra += (
                ["", f"More: [documentation of {record.name}]({record.documentation}).", ""] if record.documentation else []
            )
            others = [one for one in names if one != title]
            what = reference.purpose_of(catalog, option, title)
            page = functools.partial(_page, engine, title, runs, others, rules.about(book, engine, {name}), extra, what)
            sample.write(folder / slug(engine) / f"{slug(name)}.md", page)
            sections["Options"].append((title, slug(name), runs[-1][1] == last))
        for name, runs in keys_of(catalog).items():
            ways = _key_written(catalog, name, runs[-1][1])
            page = functools.partial(_page, engine, name, runs, [], rules.about(book, engine, {name}), ways)
            sample.write(folder / slug(engine) / f"{slug(name)}.md", page)
            sections["Keys"].append((name, slug(name), runs[-1][1] == last))
        for name, runs in variables_of(catalog).items():
            extra = [*reference.instead(catalog, name, runs[-1][1]), ""]
            extra += _ways(engine, catalog.releases[runs[-1][1]], variable=name)
            page = functools.partial(_page, engine, name, runs, [], rules.about(book, engine, {f"env.{name}"}), extra)
            sample.write(folder / slug(engine) / f"{slug(name)}.md", page)
            sections["Environment variables"].append((name, slug(name), runs[-1][1] == last))
        count = sum(len(rows) for rows in sections.values())
        known = f"{catalog.releases[0]} to {catalog.releases[-1]}"
        index.append(f"- [{engine_name(engine)}]({slug(engine)}/index.md): {count} names, {known}")
        lines = ["---", "hide: [navigation, toc]", "search: {exclude: true}", "---", ""]
        lines += [f"# Options of {engine_name(engine)}", ""]
        lines += [
            '<form class="filters"><label>Find <input id="name-filter" size="30" placeholder="kv-cache"></label></form>',
            "",
        ]
        for title, rows in sections.items():
            if rows:
                items = "".join(
                    [
                        f'<li{"" if alive else " class=gone"}><a href="{to}/">{html.escape(shown)}</a></li>'
                        for shown, to, alive in rows
                    ]
                )
                lines += [f"## {title}", "", f'<ul class="names">{items}</ul>', ""]
        lines += ["Struck through: the newest release no longer has it.", ""]
        (folder / slug(engine) / "index.md").write_text("\n".join(lines), encoding="utf-8")
    (folder / "index.md").write_text("\n".join([*index, ""]), encoding="utf-8")


def everything(engine: str) -> dict[str, list[Run]]:
    """Every name of an engine with its runs: options with dashes, keys and variables."""
    catalog = load(engine)
    if catalog is None:
        return {}
    found: dict[str, Any] = {"--" + name: runs for name, (runs, _) in options_of(catalog).items()}
    return {**found, **keys_of(catalog), **variables_of(catalog)}
