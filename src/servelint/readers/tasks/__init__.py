"""YAML files of other tools whose commands start an engine: CI jobs, cloud tasks, playbooks, model recipes.

This module has what their readers share: texts with expressions, environments, scripts in one scalar or in a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.launch import Launch, ReleaseClaim, Variable, Word
from servelint.core.source import Source
from servelint.core.text import TracedText, unknown
from servelint.files.siblings import Neighbours
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext
from servelint.readers.installs import installed
from servelint.syntax import yaml
from servelint.syntax.templates import expression
from servelint.syntax.yaml import Entries, Node

_EXPRESSION = re.compile(r"\$?\{\{(?!\{)[^\n]{0,300}?\}\}|(?<![${\w\\%])\{[A-Za-z_]\w*\}(?!\})")
"""`${{ matrix.model }}`, `{{ model }}`, and `{model}` of templates; a shell leaves the last as it is written."""
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?P<sign>=?)")
_REFERENCES = ("!Ref", "!GetAtt", "!ImportValue", "!FindInMap", "!Select", "!If")
"""Tags of CloudFormation whose value stands elsewhere."""
_ITEMS_AT_MOST = 1_000
_EXPRESSIONS_AT_MOST = 2_000
_LENGTH_AT_MOST = 1 << 16

Environment = dict[str, Variable]
Claims = dict[str, ReleaseClaim]


def text(source: Source, node: Node) -> TracedText:
    """A scalar's text; an expression of the tool (`${{ matrix.model }}`, `{{ model }}`, `!Ref Model`) is unknown."""
    if yaml.is_scalar(node) and yaml.tag(node).startswith(_REFERENCES):
        return TracedText((unknown(yaml.tag(node) + " " + node.value, yaml.span(source, node)),))
    return with_expressions(verbatim(source, node))


def verbatim(source: Source, node: Node) -> TracedText:
    """A scalar's text as it is written: what two braces mean is the tool's to say, not that of a template of the file.

    The variables of an Ansible role are filled in.
    """
    written = yaml.text(source, node, verbatim=True)
    mask = yaml.mask_of(source) if "{{" in written.flat else None
    lookup = mask.lookup if mask is not None else None
    if lookup is None or not source.path.endswith((".yml", ".yaml")) or written.flat.count("{{") > _EXPRESSIONS_AT_MOST:
        return written

    def value(match: re.Match[str]) -> TracedText:
        known, span = lookup(match.group()), written.span(*match.span())
        return known.placed(span, assumed=True) if known is not None else written.cut(*match.span())

    return written.sub(_EXPRESSION, value)


def with_expressions(written: TracedText) -> TracedText:
    """The text with the tool's expressions as unknowns."""
    if "{" not in written.flat or written.flat.count("{{") > _EXPRESSIONS_AT_MOST:
        return written
    return written.sub(_EXPRESSION, lambda match: expression(written.cut(*match.span())))


def optional(source: Source, fields: Entries, *names: str) -> TracedText | None:
    """The text of the first of several keys that holds a scalar."""
    for name in names:
        if yaml.scalar(yaml.field(fields, name)) is not None:
            return text(source, fields[name][1])
    return None


def environment(source: Source, node: Node | None) -> Environment:
    """Variables: a mapping, a list of `A=b` or `A`, or a list of mappings with a name and a value."""
    found: Environment = {}
    listed = yaml.items(node)
    if listed is None:
        for name, (key, value) in yaml.entries(node).items():
            found[name] = Variable(name, _value(source, value), yaml.span(source, key))
        return found
    for item in listed[:_ITEMS_AT_MOST]:
        fields = yaml.entries(item)
        if (given := optional(source, fields, "name", "key")) is not None and given.value:
            held = yaml.field(fields, "value")
            found[given.value] = Variable(given.value, _value(source, held), yaml.span(source, item))
        elif fields:
            found.update(environment(source, item))
        elif yaml.scalar(item) is not None:
            written = text(source, item)
            if (match := _ASSIGNMENT.match(written.flat)) is not None:
                value_text = written.cut(match.end()) if match["sign"] else None
                found[match["name"]] = Variable(match["name"], value_text, yaml.span(source, item))
    return found


def variables(source: Source, fields: Entries, key: str) -> Environment:
    """The variables that a field sets; none where it is missing."""
    return environment(source, fields[key][1]) if key in fields else {}


def _value(source: Source, node: Node | None) -> TracedText | None:
    """A variable's value; None where it is given from outside, as for one without a value."""
    if node is None or yaml.is_null(node):
        return None
    if yaml.is_mapping(node):
        return optional(source, yaml.entries(node), "value", "default")
    return text(source, node) if yaml.items(node) is None else None


def scalars(node: Node | None, depth: int = 0) -> list[Node]:
    """The scalars of a list, and of the lists in it."""
    found: list[Node] = []
    for item in (yaml.items(node) or [])[:_ITEMS_AT_MOST]:
        if yaml.items(item) is not None:
            found += scalars(item, depth + 1) if depth < 4 else []
        elif not yaml.is_mapping(item):
            found.append(item)
        if len(found) > _ITEMS_AT_MOST:
            break
    return found


def script(source: Source, *nodes: Node | None) -> TracedText:
    """The lines of a script: of one scalar, or of a list that holds a command an item."""
    parts: list[TracedText] = []
    for node in nodes:
        if node is None:
            continue
        for one in [node] if yaml.scalar(node) is not None else scalars(node):
            parts += [text(source, one), TracedText.of("\n")]
    return TracedText.join(parts)


def words(source: Source, node: Node) -> list[Word]:
    """The items of a list as words of a command."""
    return [Word(text(source, item), yaml.span(source, item)) for item in scalars(node)]


def run(written: TracedText, context: CommandContext, claims: Claims) -> list[Launch]:
    """The launches of a script. claims: what was installed before it; what it installs itself is added for what comes after."""
    if not written.flat.strip() or len(written) > _LENGTH_AT_MOST:
        return []
    inside = context.with_(site=None, env=context.env, claims={**context.claims, **claims})
    found = script_launches(written, inside, None)
    given = {name: variable.value for name, variable in context.env.items() if variable.value is not None}
    claims.update(installed(written, given, claims, context.files))
    return found


def tell_apart(found: list[Launch]) -> None:
    """Commands of one script are launches of their own, and so are places of the same name in two documents."""
    sites: dict[str, list[tuple[int, int]]] = {}
    for launch in found:
        if launch.name:
            known = sites.setdefault(launch.name, [])
            site = (launch.site.start, launch.site.end)
            if site not in known:
                known.append(site)
            if known.index(site):
                launch.name += f" #{known.index(site) + 1}"


def each(launches: Callable[[Source, Node], list[Launch]]) -> Callable[[Source, list[Node], Neighbours], list[Launch]]:
    """Make the `read` of a format from a function that reads one document.

    The files beside the text are not asked for: what it runs, runs on another machine.
    """

    def read(source: Source, documents: list[Node], _neighbours: Neighbours) -> list[Launch]:
        found = [launch for document in documents for launch in launches(source, document)]
        tell_apart(found)
        return found

    return read
