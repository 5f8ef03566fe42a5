"""The pages of the rules, their list with filters, and the search for a message from a log."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from bars import bar, engine_name, releases_of, slug
from sample import Sample

from servelint.core.settings import Settings
from servelint.engines import ENGINE_NAMES
from servelint.engines.releases import release_key
from servelint.judge.judging import judge
from servelint.readers import read
from servelint.report import log_search
from servelint.report.formats.text import Painter, finding_text
from servelint.report.places import address
from servelint.rule_examples import example_text, unmarked
from servelint.rules import pages
from servelint.rules.compile import every_rule
from servelint.rules.load import rule_folder
from servelint.rules.load import rules as compiled_rules
from servelint.rules.ranges import compile_range, contains, describe

_RELATED = 6
_SOURCE = re.compile(r"`([a-z][a-z.]*[- ]b?\d[\w.]*[^`]*/[^`]*)`")
_OPTION = re.compile(r"(?<![\w`/-])(--[a-zA-Z][\w.-]*\w)(?![\w`])")
_EXAMPLE = re.compile(r"^(.*:)\n\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule as the site shows it.

    Attributes:
        id: area/name.
        engine: the engine's id, or "any".
        data: the rule as its file has it.
        names: the options, keys and variables that its condition or its finding's place names.
        runs: the releases of the engine in its range: first and last position. Empty if the engine's releases are not known.
    """

    id: str
    engine: str
    data: dict[str, Any]
    names: frozenset[str]
    runs: tuple[tuple[int, int], ...]


def load() -> list[Rule]:
    """Every rule of the rule book."""
    found: list[Rule] = []
    for data in every_rule(rule_folder()):
        releases = releases_of(data["engine"])
        bounds = [(sign, (tuple(key[0]), *key[1:])) for sign, key in compile_range(str(data["versions"]))]
        inside = [index for index, release in enumerate(releases) if contains(bounds, release_key(release))]
        names = {*_operands(data["when"]), *_operands(data.get("unless", {}))}
        names |= {data["at"]} if isinstance(data["at"], str) else set(data["at"])
        found.append(Rule(id=data["id"], engine=data["engine"], data=data, names=frozenset(names), runs=tuple(_runs(inside))))
    return found


def _operands(node: object) -> Iterator[str]:
    """The names that a condition asks for. `any`, `all` and `not` only hold other conditions."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("any", "all", "not"):
                yield from _operands(value)
            elif key == "operand" and isinstance(value, str):
                yield value
            else:
                yield key
                yield from _operands(value) if isinstance(value, dict) else ()
    elif isinstance(node, list):
        for one in node:
            yield from _operands(one)


def _runs(inside: list[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for index in inside:
        if runs and runs[-1][1] + 1 == index:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


def evidence_links(text: str) -> str:
    """Turn `vllm-0.33.0 vllm/x.py:12` in a page into a link to that line at the release's tag."""

    def link(match: re.Match[str]) -> str:
        url = address(match[1])
        return f"[`{match[1]}`]({url})" if url is not None else match[0]

    return _SOURCE.sub(link, text)


def printed(one: Rule) -> str:
    """What `servelint check` prints of the rule's first bad example; empty if it needs more than the example's text."""
    if not one.data["examples"]["bad"]:
        return ""
    example = one.data["examples"]["bad"][0]
    source, _ = unmarked(*example_text(example))
    settings = Settings(select=(one.id,), profile="audit", gpu=example.get("gpu"), gpu_count=example.get("gpus"))
    if "version" in example:
        settings.engine_versions = {one.engine: str(example["version"])}
    found = [finding for launch in read(source).launches for finding in judge(launch, settings, [_compiled()[one.id]])]
    return finding_text(found[0], Painter(False)) if found else ""


@functools.cache
def _compiled() -> dict[str, Any]:
    return {rule.id: rule for rule in compiled_rules()}


def related(one: Rule, book: list[Rule]) -> list[Rule]:
    """The rules of the same engine that name the most of the same options; the closest first."""
    scored = [
        (len(one.names & other.names) / len(one.names | other.names), other)
        for other in book
        if other.id != one.id and other.engine in (one.engine, "any") and one.names & other.names
    ]
    return [other for _, other in sorted(scored, key=lambda pair: (-pair[0], pair[1].id))[:_RELATED]]


def page(one: Rule, book: list[Rule]) -> str:
    """The page of a rule: the text that `servelint explain` prints, with a bar of releases, a finding and related rules."""
    heading = f"# {one.id}\n\n{one.data['title']}.\n"
    written = pages.markdown(one.data).replace(heading, f"# {one.data['title']}\n\n`{one.id}`\n", 1)
    text = "---\nhide: [navigation]\n---\n\n" + evidence_links(_marked(written))
    shown = printed(one)
    if shown:
        rows = [f"    {line}".rstrip() for line in shown.splitlines()]
        text = text.replace("\n## Why\n", "\n".join(["", "## What servelint prints", "", *rows, "", "## Why", ""]), 1)
    if one.runs:
        shown = bar(one.engine, [(first, last, "on", "reported") for first, last in one.runs])
        text = re.sub(r"\n## ", lambda _: f"\n{shown}\n\n## ", text, count=1)
    near = related(one, book)
    if near:
        text += "\n## Related rules\n\n" + "\n".join(
            [f"- [{other.id}](../{other.id}.md): {other.data['title']}" for other in near]
        )
    return text + "\n"


def _marked(text: str) -> str:
    """A page with the options in its sentences as code, which browsers do not break at their hyphens."""
    text = "\n".join([line if line.startswith("    ") else _OPTION.sub(r"`\1`", line) for line in text.split("\n")])
    head, sign, examples = text.partition("\n## Reported\n")
    return head + sign + _EXAMPLE.sub(_fenced, examples)


def _fenced(match: re.Match[str]) -> str:
    language = "yaml" if re.search(r"\.ya?ml`:$", match.group(1)) else "sh"
    return f"{match.group(1)}\n\n~~~~{language}\n{textwrap.dedent(match.group(2))}~~~~\n"


def _list(book: list[Rule]) -> str:
    engines = list(dict.fromkeys([one.engine for one in book]))
    impacts = sorted({str(one.data["impact"]) for one in book})
    choices = {
        "engine": [(name, engine_name(name)) for name in engines],
        "severity": [(name, name) for name in ("error", "warning", "info")],
        "impact": [(name, name) for name in impacts],
    }
    # the search has a page for each of them
    lines = ["---", "hide: [navigation, toc]", "search: {exclude: true}", "---", "", "# Rules", ""]
    lines += ['<form class="filters" id="rule-filters">']
    for name, options in choices.items():
        rows = "".join([f'<option value="{value}">{html.escape(label)}</option>' for value, label in options])
        lines.append(f'<label>{name.capitalize()} <select name="{name}"><option value="">any</option>{rows}</select></label>')
    lines.append('<label>Version <input name="version" placeholder="0.27.1" size="8"></label>')
    lines.append('<label>Option or words <input name="words" placeholder="--kv-cache-dtype" size="24"></label>')
    lines += [f'<output id="rule-count" aria-live="polite">{len(book)} rules</output>', "</form>", ""]
    lines += [
        '<table class="rules" id="rules"><thead><tr><th>rule</th><th>severity</th><th>releases</th><th>what</th></tr></thead>',
        "<tbody>",
    ]
    for one in book:
        data = one.data
        names = " ".join(sorted(one.names))
        attributes = {"engine": one.engine, "severity": data["severity"], "impact": data["impact"], "names": names}
        attributes["runs"] = " ".join([f"{first}-{last}" for first, last in one.runs])
        attributes["range"] = "" if data["versions"] else "all"
        shown = " ".join([f'data-{key}="{html.escape(str(value))}"' for key, value in attributes.items()])
        lines.append(
            f'<tr {shown}><td><a href="{one.id}/">{one.id}</a></td><td>{data["severity"]}</td>'
            f"<td>{html.escape(describe(str(data['versions'])))}</td><td>{html.escape(data['title'])}</td></tr>"
        )
    lines.append("</tbody></table>")
    lines.append(_data("releases", {name: releases_of(name) for name in engines}))
    return "\n".join(lines) + "\n"


def _data(name: str, value: object) -> str:
    text = json.dumps(value, separators=(",", ":")).replace("</", "<\\/")
    return f'<script type="application/json" id="data-{name}">{text}</script>'


_LOG = """\
---
hide: [navigation, toc]
---

# Paste an error

Paste what the engine printed: the line with the error, a traceback, or a whole log. The text stays in this page.
`servelint explain --log FILE` does the same on the command line.

<textarea id="log" rows="8" aria-label="text of a log" placeholder="ValueError: ..."></textarea>
<p id="log-state" role="status"></p>
<ol id="log-found"></ol>
"""


def _log() -> str:
    rows = [[one.rule, one.title, one.engine, one.refusals, " ".join(one.words)] for one in log_search.entries()]
    return _LOG + _data("log", {"rules": rows, **log_search.WEIGHTS}) + "\n"


def write(sample: Sample, book: list[Rule]) -> None:
    """Write the pages below `rules/` and the page for logs."""
    docs = sample.docs
    for one in book:
        sample.write(docs / "rules" / f"{one.id}.md", functools.partial(page, one, book))
    (docs / "rules" / "index.md").write_text(_list(book), encoding="utf-8")
    (docs / "log").mkdir()
    (docs / "log" / "index.md").write_text(_log(), encoding="utf-8")


def about(book: list[Rule], engine: str, names: set[str]) -> list[Rule]:
    """The rules that name an option, key or variable of an engine."""
    return [one for one in book if one.engine in (engine, "any") and one.names & names]


__all__ = ["ENGINE_NAMES", "Rule", "about", "load", "slug", "write"]
