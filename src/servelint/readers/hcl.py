"""HCL: containers, commands and scripts in Nomad jobs and Terraform files.

An expression is known where it names a variable with a default; any other one is unknown.
"""

from __future__ import annotations

import json
import re

from servelint.core import bounds
from servelint.core.launch import Container, Launch, OpenedFile, Variable, Word
from servelint.core.numbers import is_whole
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText, unknown
from servelint.engines import entry
from servelint.files.siblings import Neighbours
from servelint.readers.commands import launches as launches_of
from servelint.readers.containers import identified, in_container
from servelint.readers.context import CommandContext
from servelint.readers.registry import Format
from servelint.readers.tasks import run
from servelint.syntax import templates, yaml
from servelint.syntax.shell.recipe import joined
from servelint.syntax.shell.words import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Fields = dict[str, Any]
    Values = dict[str, TracedText | list[TracedText]]
    """What variables and locals hold: texts, and lists of texts."""
    Module = tuple[Neighbours, Values]

FORMAT = Format(
    "hcl",
    220,
    title="Nomad, Terraform",
    about="containers, commands, scripts and charts that `helm_release` installs, with the variables and locals of the module",
    files=("*.hcl", "*.nomad", "*.tf"),
    languages=("hcl", "terraform"),
)

_SPACE = re.compile(r"(?:\s|#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_HEREDOC = re.compile(r"<<-?[ \t]*\"?(\w+)\"?[ \t]*\n")
_REST = re.compile(r"(?:[^\n,\[\](){}\"#<]|\"(?:[^\"\\\n]|\\.)*\")+")
_CALLS = frozenset(("base64encode", "base64gzip", "join", "jsonencode", "toset", "tolist", "trimspace", "yamlencode"))
"""Functions whose first argument says what they give."""
_LISTS = frozenset(("compact", "concat", "flatten"))
"""Functions that give the items of the lists that they are given."""
_ESCAPE = re.compile(r"\\(.)|\$(?=\$\{)")
_HOLE = re.compile(r"(?<!\$)[$%]\{(?P<of>[^{}]*)\}")
_REFERENCE = re.compile(r"\s*(?:var|local)\.(?P<name>\w+)\s*")
_PLAIN = re.compile(r"(-?\d+(?:\.\d+)?|true|false)\s*(?://.*)?")
_FOR = re.compile(r"\{\s*for\s+\w+\s*(?:,\s*\w+\s+)?in\b")
"""A mapping that an expression makes: `{ for k, v in local.env : k => v if v != "" }`."""
_KEYS = ("image", "container_image", "docker_image", "image_name", "image_uri")
_MODULE = ("terraform.tfvars", "variables.tf", "vars.tf", "locals.tf", "main.tf")
_DEPTH = 60


_TEMPLATE = re.compile(r"\{\{[^\n]*?\}\}|\{[%#].*?[%#]\}", re.DOTALL)
"""Expressions and blocks of Jinja, as in a job file that Ansible fills in."""


def _masked(match: re.Match[str]) -> str:
    """Return a filler as long as the template's expression, so that the spans of the rest stay right."""
    return re.sub(r"[^\n]", "0" if match.group().startswith("{{") else " ", match.group())


class _Wrong(Exception):
    """The text is not HCL, or nested too deeply."""


class _Parser:
    """Reads bodies and expressions: texts, lists of values, and mappings; blocks of one name are a list of mappings."""

    def __init__(self, source: Source, variables: Values) -> None:
        self.source, self.variables = source, variables
        self.text = _TEMPLATE.sub(_masked, source.text)
        self.at = self.depth = 0

    def space(self) -> str:
        """Step over white space and comments. Returns the next character."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found is not None else self.at
        return self.text[self.at : self.at + 1]

    def body(self, end: str) -> Fields:
        """The attributes and blocks up to a closing brace, or the end of the text."""
        fields: Fields = {}
        self.depth += 1
        if self.depth > _DEPTH:
            raise _Wrong
        while (char := self.space()) != end:
            if char == ",":
                self.at += 1
                continue
            start = self.at
            labels = [self.key()]
            while (char := self.space()) == '"' or _NAME.match(self.text, self.at):
                labels.append(self.key())
            if char in ("=", ":"):
                self.at += 1
                fields[labels[0]] = (self.value(), Span(self.source, start, self.at))
                continue
            if char != "{":
                raise _Wrong
            self.at += 1
            inner = {**self.body("}"), "": ((labels, None), Span(self.source, start, self.at))}
            before = fields.get(labels[0], ([], None))[0]
            fields[labels[0]] = ([*(before if isinstance(before, list) else []), inner], Span(self.source, start, self.at))
        self.at += 1
        self.depth -= 1
        return fields

    def key(self) -> str:
        """A name, or one in quotes."""
        found = _STRING.match(self.text, self.at) or _NAME.match(self.text, self.at)
        if found is None:
            raise _Wrong
        self.at = found.end()
        return found.group().strip('"')

    def value(self) -> Any:
        """An expression: a text, a list or a mapping."""
        char, start = self.space(), self.at
        found: Any = None
        heredoc, string = _HEREDOC.match(self.text, start), _STRING.match(self.text, start)
        name = _NAME.match(self.text, start)
        if heredoc is not None:
            close = self.closing(heredoc)
            self.at = close.end()
            found = templates.filled(
                self.filled(TracedText.at(self.source, heredoc.end(), close.start()), escapes=False), script=True
            )
        elif string is not None:
            self.at = string.end()
            found = self.filled(TracedText.at(self.source, *string.span(1)), escapes=True)
        elif char == "[":
            self.at += 1
            found = []
            while self.space() not in ("]", ""):
                found.append((self.value(), Span(self.source, start, self.at)))
                self.at += self.space() == ","
            self.at += 1
        elif char == "{" and _FOR.match(self.text, start) is None:
            self.at += 1
            found = self.body("}")
        elif name is not None and name.group() in _LISTS and self.text[name.end() : name.end() + 1] == "(":
            self.at = name.end() + 1
            found = self.concatenated()
        elif name is not None and name.group() in _CALLS and self.text[name.end() : name.end() + 1] == "(":
            self.at = name.end() + 1
            found = self.value()
            if name.group() == "join" and self.space() == ",":
                self.at += 1
                lines = self.value()
                known = isinstance(found, TracedText) and isinstance(lines, list)
                found = joined([one for one, _ in lines if isinstance(one, TracedText)], found.flat) if known else None
            if self.space() == ")":
                self.at += 1
        return self.whole(found, start)

    def concatenated(self) -> list[tuple[Any, Span]]:
        """The items of the lists that a call is given; a list that is not known may be any number of items."""
        found: list[tuple[Any, Span]] = []
        while (char := self.space()) not in (")", ""):
            start = self.at
            value = self.value()
            span = Span(self.source, start, self.at)
            if isinstance(value, list):
                found += [inner for one in value for inner in (one[0] if isinstance(one[0], list) else [one])]
            elif isinstance(value, TracedText):
                found.append((Word(value, span, many=True), span))
            self.at += self.space() == "," or self.at == start
        self.at += char == ")"
        return found

    def closing(self, heredoc: re.Match[str]) -> re.Match[str]:
        """The line that ends a heredoc."""
        close = re.compile(rf"^[ \t]*{heredoc.group(1)}[ \t]*$", re.MULTILINE).search(self.text, heredoc.end())
        if close is None:
            raise _Wrong
        return close

    def whole(self, found: Any, start: int) -> Any:
        """A value, unless more of an expression stands behind it."""
        after = self.at
        depth = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            heredoc = _HEREDOC.match(self.text, self.at) if char == "<" else None
            if heredoc is not None:
                self.at = self.closing(heredoc).end()
                continue
            if char in "([{":
                depth += 1
            elif char in ")]}" and depth == 0:
                break
            elif char in ")]}":
                depth -= 1
            elif depth == 0 and char in "\n,#":
                break
            rest = _REST.match(self.text, self.at)
            self.at = rest.end() if rest is not None else self.at + 1
        behind = self.text[after : self.at].strip()
        if found is not None and not behind:
            return found
        span = Span(self.source, start, max(self.at, start + 1))
        if (plain := _PLAIN.fullmatch(self.text, start, self.at)) is not None:
            return TracedText.at(self.source, *plain.span(1))
        reference = _REFERENCE.fullmatch(span.text)
        known = self.variables.get(reference.group("name")) if reference is not None else None
        if isinstance(known, list):
            return [(one if _stands_in(one, self.source) else one.placed(span), span) for one in known]
        if known is None:
            return TracedText((unknown(span.text.strip(), span),))
        return known if _stands_in(known, self.source) else known.placed(span)

    def filled(self, text: TracedText, *, escapes: bool) -> TracedText:
        """A text with its interpolations filled in."""

        def value(match: re.Match[str]) -> TracedText:
            reference = _REFERENCE.fullmatch(match.group("of"))
            known = self.variables.get(reference.group("name")) if reference is not None else None
            return known.placed(text.span(*match.span())) if isinstance(known, TracedText) else text.unknown(match)

        def escaped(match: re.Match[str]) -> TracedText:
            char = {"n": "\n", "t": "\t", "r": "\r"}.get(match.group(1) or "", match.group(1) or "")
            return TracedText.of(char, text.span(*match.span())) if char else TracedText(())

        filled = text.sub(_HOLE, value)
        return filled.sub(_ESCAPE, escaped) if escapes and ("\\" in filled.flat or "$$" in filled.flat) else filled


def _stands_in(text: TracedText, source: Source) -> bool:
    """Whether a text stands in a file, or nowhere."""
    return all(piece.span is None or piece.span.source is source for piece in text.pieces)


def _items(value: Any) -> list[TracedText] | None:
    """The items of a list of known texts."""
    items = [one for one, _ in value] if isinstance(value, list) and all(isinstance(one, tuple) for one in value) else []
    return items if items and all(isinstance(one, TracedText) and one.known for one in items) else None


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a file."""
    if not entry.mentions(source.text) or len(source.text) > bounds.SCRIPT.most:
        return []
    try:
        variables = _beside(source, neighbours)
        variables.update(_defaults(_Parser(source, variables).body("")))
        fields = _Parser(source, variables).body("")
    except (_Wrong, RecursionError):
        return []
    return _inside(source, fields, "", (neighbours, variables))


def _beside(source: Source, neighbours: Neighbours) -> Values:
    """The locals and the variables of the module that conventional files beside this one hold."""
    found: Values = {}
    for name in _MODULE if source.path.endswith(".tf") else ():
        file = neighbours.read(name)
        if file is None or source.path.endswith("/" + name) or source.path == name:
            continue
        try:
            fields = _Parser(file, found).body("")
        except (_Wrong, RecursionError):
            continue
        if name.endswith(".tfvars"):
            found.update({key: one[0] for key, one in fields.items() if isinstance(one[0], TracedText) and one[0].known})
        else:
            found = {**_defaults(fields), **found}
    return found


def _defaults(fields: Fields) -> Values:
    """The defaults of the variables, and the locals."""
    found: Values = {}
    for block in _list(fields, "variable"):
        default, items = _text(block, "default"), _items(block.get("default", (None,))[0])
        if default is not None and default.known:
            found[block[""][0][0][-1]] = default.as_default()
        elif items is not None:
            found[block[""][0][0][-1]] = [one.as_default() for one in items]
    for block in _list(fields, "locals"):
        for name, (value, _) in block.items():
            items = _items(value)
            if items is not None or (isinstance(value, TracedText) and value.known):
                found[name] = items if items is not None else value
    return found


def _list(fields: Fields, name: str) -> list[Any]:
    value = fields.get(name, (None, None))[0]
    items = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    return [one for item in items if isinstance(one := item[0] if isinstance(item, tuple) else item, dict)]


def _text(fields: Fields, *names: str) -> TracedText | None:
    return next((value for name in names if isinstance(value := fields.get(name, (None,))[0], TracedText)), None)


def _words(fields: Fields, *names: str) -> list[Word] | None:
    """The words of the first of some keys: a list, or a text that is split."""
    for name in names:
        value = fields.get(name, (None,))[0]
        if isinstance(value, TracedText):
            return split(value)
        if isinstance(value, list) and not any(isinstance(one, dict) for one in value):
            return [
                one if isinstance(one, Word) else Word(one, one.span())
                for one, _ in value
                if isinstance(one, (TracedText, Word))
            ]
    return None


def _inside(source: Source, fields: Fields, path: str, module: Module) -> list[Launch]:
    """The launches of a mapping and of those in it. module: the files beside the file, and what its variables hold"""
    if fields.get("", (([], None), None))[0][0][:1] == ["task"] and "driver" in fields:
        started = _task(source, fields, path)
        if started:
            return started
    found = container(source, fields, path)
    kind = fields.get("", (([], None), None))[0][0][1:2]
    if kind == ["helm_release"]:
        return _helm_release(source, fields, path, module)
    if kind == ["nomad_job"]:
        return _nomad_job(source, fields, path, module)
    for name, (value, _) in fields.items():
        if isinstance(value, TracedText):
            if ("\n" in value.flat or name in ("command", "inline", "script")) and entry.mentions(value.flat):
                found += [] if "args" in fields else _of_text(source, value, path, name)
        elif name:
            for block in _list(fields, name):
                labels = block[""][0][0] if "" in block else [name]
                found += _inside(source, block, ".".join(filter(None, (path, *labels))), module)
            texts = (
                [one for one, _ in value if isinstance(one, TracedText)] if isinstance(value, list) and name == "inline" else []
            )
            for text in texts:
                found += run(text, CommandContext(source, path, open_env=True), {})
    return found


def _of_text(source: Source, text: TracedText, path: str, key: str) -> list[Launch]:
    """The launches of a text of several lines: a unit, a manifest, containers in JSON, or else a script."""
    from servelint.readers import embedded

    shape = embedded.shape(text.flat)
    if shape is None:
        return run(text, CommandContext(source, path, open_env=True), {})
    found = embedded.of_written(shape, text, source)
    for launch in found:
        launch.name = ".".join(filter(None, (path, key, launch.name)))
    return found


def _task(source: Source, fields: Fields, path: str) -> list[Launch]:
    """The launches of a task of Nomad: its program or container, with its variables, templates and devices."""
    env: dict[str, Variable] = {}
    files: dict[str, TracedText] = {}
    for block in _list(fields, "template"):
        data, destination = _text(block, "data"), _text(block, "destination")
        sets = _text(block, "env")
        if data is not None and sets is not None and sets.flat == "true":
            env.update(_of_lines(data))
        elif data is not None and destination is not None:
            files[destination.flat.lstrip("/")] = data
    env.update(_environment(fields))
    devices = [one for block in _list(fields, "resources") for one in _list(block, "device")]
    counts = [_text(one, "count") for one in devices]
    whole = [int(one.flat) for one in counts if one is not None and is_whole(one.flat)]
    found: list[Launch] = []
    for config in _list(fields, "config"):
        folders = {bound: inside for bound, _, inside in [one.flat.partition(":") for one, _ in _pairs(config, "volumes")]}

        def opened(name: TracedText, folders: dict[str, str] = folders) -> OpenedFile | None:
            inside = [(name.flat.removeprefix("/"), name.flat.startswith(("/local/", "/secrets/", "local/", "secrets/")))]
            inside += [(bound.removeprefix("./"), place.partition(":")[0] == name.flat) for bound, place in folders.items()]
            text = next((files[place] for place, there in inside if there and place in files), None)
            return OpenedFile(text, name.flat, True, None) if text is not None else None

        for launch in container(source, config, f"{path}.config"):
            launch.env = {**env, **launch.env}
            launch.open = opened if files else launch.open
            if launch.container is not None and devices and len(whole) == len(devices):
                launch.container.gpus, launch.container.reserved = sum(whole), True
            found.append(launch)
    return found


def _pairs(fields: Fields, name: str) -> list[tuple[TracedText, Span]]:
    """The texts of a list."""
    value = fields.get(name, (None,))[0]
    return (
        [one for one in value if isinstance(one, tuple) and isinstance(one[0], TracedText)] if isinstance(value, list) else []
    )


def _of_lines(data: TracedText) -> dict[str, Variable]:
    """The variables of a template that Nomad reads as an environment; one with an action in it has no value."""
    found: dict[str, Variable] = {}
    for match in re.finditer(r"([A-Za-z_]\w*)=(.*)", data.flat):
        value = data.cut(*match.span(2)).strip()
        quoted = len(value.flat) > 1 and value.flat[0] == value.flat[-1] == '"'
        value = value.cut(1, len(value.flat) - 1) if quoted else value
        found[match[1]] = Variable(match[1], value if value.known else None, data.span(*match.span(1)))
    return found


_IMAGE_ALONE = (["config"], ["container"], ["init_container"], ["primary_container"])
"""Blocks that start what their image starts."""


def container(source: Source, fields: Fields, path: str, *, alone: bool = False) -> list[Launch]:
    """The launches of a mapping that is a container, or a program with its arguments; `alone`: an image is enough."""
    image = _text(fields, *_KEYS) or _text(next(iter(_list(fields, "image")), {}), "name")  # Jumppad has a block
    overrides: Fields = next(iter(_list(fields, "entrypoint_overrides")), {})
    command, args = (
        _words(fields, "command"),
        _words(fields, "args", "arguments", "cmd", "docker_args") or _words(overrides, "cmd"),
    )
    entrypoint = _words(fields, "entrypoint", "entryPoint")
    parts = ("entrypoint", "command", "args", "arguments", "cmd", "docker_args", "entrypoint_overrides")
    keys: list[str] = [name for name in parts if name in fields]
    labels: list[str] = fields[""][0][0] if "" in fields else []
    alone = alone or labels[:1] in _IMAGE_ALONE or labels[1:2] in (["docker_container"], ["container"])
    keys = keys or (["image"] if alone and "image" in fields else [])
    if not keys or (image is None and (command is None or args is None)):
        return []
    site = Span(source, min(fields[key][1].start for key in keys), max(fields[key][1].end for key in keys))
    context = CommandContext(source, path, site, _environment(fields), open_env=True)
    if image is None:
        return launches_of([*(command or []), *(args or [])], context)
    context.container = Container(image, open=True)
    context.claims = identified(image).claims
    if labels[:1] in (["container"], ["init_container"], ["containers"]):
        entrypoint, command = command, args  # as Kubernetes has it
    else:
        command = [*(command or []), *(args or [])]
    return in_container(entrypoint, command or [], identified(image), context)


def _environment(fields: Fields) -> dict[str, Variable]:
    """The variables of `env` and `environment`: a mapping, or items with a name and a value."""
    found: dict[str, Variable] = {}
    for block in [block for key in ("env", "environment") for block in _list(fields, key)]:
        if (named := _text(block, "name", "key")) is not None and named.value:
            found[named.value] = Variable(named.value, _text(block, "value"), named.span())
            continue
        for name, (value, span) in block.items():
            if isinstance(value, TracedText):
                found[name] = Variable(name, value, span)
    return found


def _nomad_job(source: Source, fields: Fields, path: str, module: Module) -> list[Launch]:
    """The launches of the job that a `nomad_job` holds, or whose template it fills in. A job file alone is judged itself."""
    from servelint.readers import embedded

    given = _text(fields, "jobspec")
    if given is None or re.match(r"file\(", given.shown) is not None:
        return []
    text = _opened(given, source, module)
    inner = Source(source.path, text.flat)
    try:
        job = _Parser(inner, {}).body("")
    except (_Wrong, RecursionError):
        return []
    found = embedded.moved(_inside(inner, job, "", (module[0], {})), inner, text, source)
    for launch in found:
        launch.name = ".".join(filter(None, (path, launch.name)))
        if launch.site.source is not source:
            launch.owner = launch.site.source  # the template, which may be read as well
    return found


_OPENED = re.compile(r"(?:template)?file\(\s*\"([^\"\n]+)\"\s*,?\s*")
_HERE = re.compile(r"\$\{path\.\w+\}/")


def _helm_release(source: Source, fields: Fields, path: str, module: Module) -> list[Launch]:
    """The launches of a chart, by the values that a `helm_release` gives it: documents, files, mappings, and `set`.

    A chart of the same repository is rendered with them.
    """
    from servelint.readers import embedded, helm

    given: Any = {}
    values = fields.get("values", (None, None))[0]
    for one in [item for item, _ in values] if isinstance(values, list) else []:
        if isinstance(one, TracedText):
            read = _of_yaml(_opened(one, source, module), source)
            given = _merged(given, read) if isinstance(read, dict) else given
        elif isinstance(one, dict):
            given = _merged(given, _plain(one))
    for key in ("set", "set_list", "set_sensitive"):
        for block in _list(fields, key):
            name, value = _text(block, "name"), _plain(block.get("value", (None,))[0])
            if name is not None and name.value:
                _put(given, [part for part in re.split(r"(?<!\\)\.|(?=\[\d{1,2}\])", name.value) if part], value)
    chart = _text(fields, "chart")
    folder = _HERE.sub("./", chart.shown).rstrip("/") + "/" if chart is not None else ""
    if chart is not None and folder.startswith(".") and module[0].read(folder + "Chart.yaml") is not None:
        site = chart.span() or fields["chart"][1]
        return helm.of_local_chart(source, module[0], folder, [_loaded(given)], site, path)
    site = chart.span() if chart is not None else None
    if chart is not None and site is not None:
        address = _text(fields, "repository")
        given = _merged(_of_chart(chart, address.shown if address is not None else ""), given)
    text = TracedText.join(_written(given))
    inner = Source(source.path, text.flat)
    found = [launch for node in yaml.documents(inner)[0] for launch in helm.values(inner, node)] if given else []
    for launch in embedded.moved(found, inner, text, source):
        if launch.site.source is not source:
            launch.owner = launch.site.source  # a file of values, which may be read as well
        else:
            launch.name = ".".join(filter(None, (path, launch.name)))
            launch.site = site if site is not None and launch.site.end == 0 else launch.site
    return found


def _of_chart(chart: TracedText, address: str) -> Any:
    """The own values of a known chart, as far as they say what it starts, by its name and where it is from."""
    from servelint.readers import helm

    def placed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: placed(one) for name, one in value.items()}
        return TracedText.of(value, chart.span())

    for one in helm.charts():
        named = one.get("named")
        if named and chart.shown.rpartition("/")[2] == named["chart"] and named["repository"] in f"{address}{chart.shown}":
            return placed(one["defaults"])
    return {}


def _opened(text: TracedText, source: Source, module: Module) -> TracedText:
    """The text of the file that `file("values.yaml")` or `templatefile(path, variables)` reads, and any other text as it is."""
    call, span = _OPENED.match(text.shown), text.span()
    file = module[0].read(_HERE.sub("", call.group(1))) if call is not None and span is not None else None
    if call is None or span is None or file is None:
        return text
    held = TracedText.at(file, 0, len(file.text))
    if not text.shown.startswith("template"):
        return held
    parser = _Parser(source, module[1])
    parser.at = span.start + call.end()
    try:
        passed = parser.value() if parser.space() == "{" else {}
    except _Wrong:
        passed = {}

    def value(match: re.Match[str]) -> TracedText:
        known = passed.get(match.group("of").strip(), (None,))[0]
        return known if isinstance(known, TracedText) and known.known else held.unknown(match)

    return held.sub(_HOLE, value)


def _loaded(value: Any) -> Any:
    """Mappings, lists and texts as the values that a chart is rendered with."""
    from servelint.syntax import go_functions

    if isinstance(value, dict):
        return {name: _loaded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_loaded(one) for one in value]
    if not value.known:
        return value.softened()
    return go_functions.Scalar(json.loads(value.flat), value) if _is_plain(value) else value


def _is_plain(value: TracedText) -> bool:
    return value.known and re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false", value.flat) is not None


def _of_yaml(text: TracedText, source: Source) -> Any:
    """A YAML document as mappings, lists and texts."""
    from servelint.readers import embedded

    inner = Source(source.path, text.flat)

    def loaded(node: yaml.Node, depth: int = 0) -> Any:
        if depth > _DEPTH:
            return EMPTY
        if yaml.is_mapping(node):
            return {name: loaded(value, depth + 1) for name, (_, value) in yaml.entries(node).items()}
        if yaml.is_sequence(node):
            return [loaded(item, depth + 1) for item in yaml.items(node) or []]
        return embedded.taken(yaml.text(inner, node), inner, text) if yaml.is_scalar(node) else EMPTY

    documents = yaml.documents(inner)[0]
    return loaded(documents[0]) if documents else {}


def _plain(value: Any) -> Any:
    """A value of HCL as mappings, lists and texts."""
    if isinstance(value, dict):
        return {name: _plain(one[0]) for name, one in value.items() if name}
    if isinstance(value, list):
        return [_plain(one[0] if isinstance(one, tuple) else one) for one in value]
    return value if isinstance(value, TracedText) else EMPTY


def _merged(base: Any, more: Any) -> Any:
    """Values with other ones over them, as Helm merges them."""
    if not isinstance(base, dict) or not isinstance(more, dict):
        return more
    return {**base, **{name: _merged(base.get(name), value) for name, value in more.items()}}


def _put(into: Any, path: list[str], value: Any) -> None:
    """Set a value at a path such as `a`, `b`, `[0]`, `c`."""
    for at, part in enumerate(path):
        last = at + 1 == len(path)
        new: Any = value if last else [] if path[at + 1].startswith("[") else {}
        if isinstance(into, list) and part.startswith("["):
            index = int(part[1:-1])
            into += [{} for _ in range(index + 1 - len(into))]
            into[index] = new if last or not isinstance(into[index], type(new)) else into[index]
            into = into[index]
        elif isinstance(into, dict) and not part.startswith("["):
            name = part.replace("\\.", ".")
            into[name] = new if last or not isinstance(into.get(name), type(new)) else into[name]
            into = into[name]
        else:
            return


def _written(value: Any) -> list[TracedText]:
    """Mappings, lists and texts as YAML in one line, with the characters of the texts."""
    if isinstance(value, dict):
        inner = [[TracedText.of(json.dumps(name) + ": "), *_written(one)] for name, one in value.items()]
        return [TracedText.of("{"), *_between(inner), TracedText.of("}")]
    if isinstance(value, list):
        return [TracedText.of("["), *_between([_written(one) for one in value]), TracedText.of("]")]
    if _is_plain(value):
        return [value]
    return [TracedText.of('"'), value.sub(_QUOTED, _escaped), TracedText.of('"')]


def _between(parts: list[list[TracedText]]) -> list[TracedText]:
    return [one for part in parts for one in (*part, TracedText.of(", "))][:-1]


_QUOTED = re.compile(r"[\"\\\n\t\r]")


def _escaped(match: re.Match[str]) -> TracedText:
    return TracedText.of(json.dumps(match.group())[1:-1])
