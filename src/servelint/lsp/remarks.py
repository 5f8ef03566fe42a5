"""Comments to servelint in a text (`# servelint: ignore[vllm/some-rule] why`): what they name, and what they may name."""

from __future__ import annotations

import re

from servelint import hardware
from servelint.core.own_rules import OWN
from servelint.core.source import Source, Span
from servelint.core.trust import RuleFolder
from servelint.engines import ENGINE_NAMES
from servelint.files.directives import SIGN, ignores
from servelint.lsp.analysis import Analysis
from servelint.lsp.completion import Item
from servelint.lsp.hover import Hover
from servelint.lsp.listing import Entry
from servelint.lsp.markup import code, link, plain
from servelint.report import rule_texts
from servelint.rules.load import every
from servelint.rules.ranges import describe

_LEAD = re.compile(r"#[ \t]*servelint:[ \t]*(?P<said>[^\n]*)$")
_RULE = re.compile(r"ignore\[(?:[^\]]*[,\s])?(?P<name>[\w/.*-]*)$")
_GPU = re.compile(r"(?:.*[\s,])?gpu[ \t]*=[ \t]*(?P<name>[\w.-]*)$")
_FIRST = re.compile(r"(?P<name>[\w-]*)$")
_NAME = re.compile(r"[\w/.*-]*")
_GPU_NAMED = re.compile(r"gpu[ \t]*=[ \t]*(?P<name>[\w.-]+)")
_FORMS = (
    ("ignore[", "silences a rule on this line, the next one or a whole launch"),
    ("gpu=", "the GPU that a launch runs on"),
    ("gpu-count=", "how many GPUs it has"),
)


def is_remark(source: Source, offset: int) -> bool:
    """Whether an offset is in a comment to servelint, behind what tells it is one."""
    return SIGN in source.text and _LEAD.search(_lead(source, offset)) is not None


def hover_remark(analysis: Analysis, offset: int) -> Hover | None:
    """A rule that a comment silences, or the GPU that it names."""
    source = analysis.source
    for comment in ignores(source):
        for name, span in comment.patterns:
            if span.start <= offset <= span.end:
                lines = _rule(name, analysis.settings.rules)
                return Hover("\n".join(lines), span) if lines else None
    line = source.position(offset)[0]
    start = source.line_starts[line - 1]
    for found in _GPU_NAMED.finditer(source.line_text(line)):
        if start + found.start("name") <= offset <= start + found.end("name"):
            gpu = hardware.identify(found["name"])
            lines = _gpu(gpu) if gpu is not None else []
            return (
                Hover("\n".join(lines), Span(source, start + found.start("name"), start + found.end("name"))) if lines else None
            )
    return None


def complete_remark(analysis: Analysis, offset: int) -> list[Item]:
    """Rules behind `ignore[`, those that are found in the text first; GPUs behind `gpu=`; else the forms of a comment."""
    source = analysis.source
    lead = _LEAD.search(_lead(source, offset))
    if lead is None:
        return []
    said = lead["said"]
    for pattern, entries in ((_RULE, _rules), (_GPU, _gpus), (_FIRST, _forms)):
        found = pattern.match(said)
        if found is not None:
            rest = _NAME.match(source.text, offset)
            end = rest.end() if rest is not None else offset
            span = Span(source, offset - len(found["name"]), end)
            return [Item(entry, "value", span, entry.label) for entry in entries(analysis)]
    return []


def _lead(source: Source, offset: int) -> str:
    return source.text[source.line_starts[source.position(offset)[0] - 1] : offset]


def _rules(analysis: Analysis) -> list[Entry]:
    here = {finding.rule for finding in analysis.findings}
    found: list[Entry] = []
    for rule in every(analysis.settings.rules):
        rank = "0" if rule.id in here else "5"
        found.append(Entry(rule.id, f"{rule.severity}: {rule.title}", "", rank + rule.id, deprecated=False))
    return found


def _gpus(analysis: Analysis) -> list[Entry]:
    del analysis
    return [Entry(name, "", "", f"{number:03}", deprecated=False) for number, name in enumerate(hardware.names())]


def _forms(analysis: Analysis) -> list[Entry]:
    del analysis
    return [Entry(form, told, "", str(number), deprecated=False) for number, (form, told) in enumerate(_FORMS)]


def _rule(name: str, folders: tuple[str | RuleFolder, ...]) -> list[str]:
    """A rule's page; nothing of an area, or of a name that no rule has."""
    if name in OWN:
        return [f"**{plain(OWN[name].title)}** \u00b7 {code(name)}", "", plain(OWN[name].why)]
    data = rule_texts.written(name, folders)
    if data is None:
        return []
    engine = ENGINE_NAMES.get(data["engine"], "any engine,")
    lines = [f"**{plain(data['title'])}** \u00b7 {code(name)}", ""]
    lines += [f"{data['severity']}, {data['impact']}, {engine} {describe(str(data['versions']))}"]
    lines += ["", plain(" ".join(data["why"].split()))]
    lines += ["", f"Instead: {plain(data['advice'])}"] if data["advice"] else []
    urls = [(one["url"], one["says"]) for one in data["evidence"] if "url" in one]
    return [*lines, *(["", *[f"- {link(says, url)}" for url, says in urls]] if urls else [])]


def _gpu(gpu: hardware.Gpu) -> list[str]:
    lines = [f"**{code(gpu.name)}**"]
    memory, capability = gpu.facts.get("memory-gib"), gpu.facts.get("capability")
    known = [f"{memory:g} GiB"] if isinstance(memory, (int, float)) else []
    known += [f"compute capability {capability}"] if capability is not None else []
    return [*lines, "", ", ".join(known)] if known else []
