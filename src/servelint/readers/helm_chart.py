"""What a chart makes of its values: the data of readers/charts, and their interpreter.

A chart's file says where in the values its launches stand and which words the chart's template writes for each, in order:

    marks     the values are this chart's if all the paths of one of these lists are there
    entries   where the launches stand: `a.b[]` the items of a list, `a{}` the values of a mapping, "" the whole
    has       what an entry must have;  off, on: conditions under which there is no launch, or is one (any of them is enough)
    image     a path, or those of its parts;  anchor: the key that stands for words which no value made
    cases     the first whose `if` holds gives `command` and `args`, or `args` of an `engine` whose program is not shown
    parts     items that several cases `use`;  env, resources, settings: what surrounds the engine
    closed    conditions under which nothing else than `env` reaches the engine; without it the chart may set more

A path is relative to the entry, to what holds the entries (`../a`) or to the whole (`/a`). A condition is a path whose value
is not empty, `?path` (it is given), `path=text`, `@key` (the entry stands below this key), or `!` and one of these. An item
of words is a text, or an object: `value` (with `option` in front, joined to it if that ends in `=`), `switch`, `list` (with
`split` a text counts as its words, and so does an item with an option and its value, which the template may hand to a shell),
`perhaps` (a word that only some releases of the chart pass), `unknown`, `name`, `use`, or `if` with `then` and `else`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from servelint.core.launch import Container, Launch, Variable, Word
from servelint.core.numbers import whole_number
from servelint.core.source import Source, Span
from servelint.core.text import TracedText, unknown
from servelint.engines import entry, images
from servelint.engines.registry import ENGINES, derived
from servelint.readers.commands import SHELLS, with_options_below
from servelint.readers.containers import identified, in_container
from servelint.readers.context import CommandContext
from servelint.readers.kubernetes import environment, runtime
from servelint.readers.kubernetes.environment import expand
from servelint.readers.kubernetes.objects import File
from servelint.syntax import yaml, yaml_values
from servelint.syntax.shell.words import split
from servelint.syntax.templates import unsure
from servelint.syntax.yaml import Entries, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.readers.helm import Own

    Data = dict[str, Any]
    Pair = tuple[Node, Node]


class Entry:
    """One launch in the values of a chart.

    Attributes:
        root: The values.
        owner: The mapping that holds the entries.
        node: The entry.
        path: Where it stands, as launches show it.
        name: The key or field that names the entry, None without one.
    """

    __slots__ = ("_fields", "name", "node", "owner", "path", "root", "source")

    def __init__(self, source: Source, root: Node, owner: Node, node: Node, path: str, name: Node | None) -> None:
        self.source = source
        self.root = root
        self.owner = owner
        self.node = node
        self.path = path
        self.name = name
        self._fields: dict[int, Entries] = {}

    def fields(self, node: Node) -> Entries:
        """The entries of a mapping, each mapping read once."""
        if id(node) not in self._fields:
            self._fields[id(node)] = yaml.entries(node)
        return self._fields[id(node)]

    def pair(self, path: str) -> Pair | None:
        """The key and the value of a path; None if there is none, or if it is null."""
        node = self.node
        if path.startswith("/"):
            node, path = self.root, path[1:]
        elif path.startswith("../"):
            node, path = self.owner, path[3:]
        found: Pair | None = None
        for key in path.split("."):
            found = self.fields(node).get(key)
            if found is None:
                return None
            node = found[1]
        return None if found is None or yaml.is_null(node) else found

    def text(self, path: str) -> TracedText | None:
        """The scalar at a path as Kubernetes reads it, None if there is none."""
        pair = self.pair(path)
        if pair is None or not yaml.is_scalar(pair[1]):
            return None
        return yaml_values.text(self.source, pair[1], yaml_values.KUBERNETES)

    # -- conditions

    def holds(self, conditions: list[str]) -> bool | None:
        """Whether all of some conditions hold; None if that is not known."""
        answers = [self._holds(condition) for condition in conditions]
        return False if False in answers else None if None in answers else True

    def _holds(self, condition: str) -> bool | None:
        if condition.startswith("!"):
            answer = self._holds(condition[1:])
            return None if answer is None else not answer
        if condition.startswith("@"):
            return condition[1:] in self.path.split(".")
        if condition.startswith("?"):
            return self.pair(condition[1:]) is not None
        path, equals, wanted = condition.partition("=")
        if not equals:
            return self.truth(path)
        text = self.text(path)
        return False if text is None else text.value == wanted if text.known else None

    def truth(self, path: str) -> bool | None:
        """What a template's `if` makes of a value."""
        pair = self.pair(path)
        if pair is None:
            return False
        node = pair[1]
        if not yaml.is_scalar(node):
            return bool(node.value)
        value = yaml.text(self.source, node).value
        if value is None:
            return None
        if node.style:
            return value != ""
        return bool(yaml_values.plain(value, yaml_values.KUBERNETES))


class Reader:
    """Reads one entry by a chart's data."""

    def __init__(self, chart: Data, entry: Entry) -> None:
        self.chart = chart
        self.entry = entry
        self.source = entry.source
        self.given = environment.Environment()
        anchor = entry.pair(chart["anchor"]) if chart.get("anchor") else None
        self.anchor = yaml.span(self.source, anchor[1] if anchor is not None else entry.node)
        self.used = [anchor] if anchor is not None else []

    def launches(self) -> list[Launch]:
        """The launches of the entry, none where a condition of the chart switches it off."""
        entry, chart = self.entry, self.chart
        if any(entry.pair(path) is None for path in chart.get("has", [])):
            return []
        if any(entry.holds([condition]) for condition in chart.get("off", [])):
            return []
        if "on" in chart and all(entry.holds([condition]) is False for condition in chart["on"]):
            return []
        case = next((case for case in chart["cases"] if entry.holds(case.get("if", []))), None)
        if case is None:
            return []
        self.variables(chart.get("env", []))
        found = self.of_case(case)
        for launch in found:
            environment.show_injected(launch, self.given)
        return found

    def of_case(self, case: Data) -> list[Launch]:
        """The launches of one case of the chart."""
        args = self.words(case.get("args", []))
        command = self.words(case["command"]) if "command" in case else None
        image_text = self.image()
        image = identified(image_text)
        context = CommandContext(
            self.source,
            self.entry.path,
            self.site(),
            dict(self.given.variables),
            Container(image_text, self.settings(), *self.gpus(), open=True),
            image.claims,
            open_env=self.given.open or "closed" not in self.chart or not self.entry.holds(self.chart["closed"]),
        )
        engine = case.get("engine")
        if engine is None:
            return in_container(command or None, args, image, context)
        return [context.launch(engine, args, context.site or self.anchor)]

    def site(self) -> Span:
        """From the first key of the entry that made a word to the end of the last one's value."""
        whole = yaml.span(self.source, self.entry.node)
        spans = [Span(self.source, yaml.start(key), yaml.span(self.source, value).end) for key, value in self.used]
        inside = [span for span in spans if whole.start <= span.start < span.end <= whole.end]
        if not inside:
            return whole
        return Span(self.source, min(span.start for span in inside), max(span.end for span in inside))

    # -- words

    def words(self, items: list[Any]) -> list[Word]:
        """The words that some items make."""
        return [word for item in items for word in self.item(item)]

    def item(self, item: Any) -> list[Word]:
        """The words that one item makes."""
        if isinstance(item, str):
            return [Word(TracedText.of(item, self.anchor), self.anchor)]
        if "use" in item:
            return self.words(self.chart["parts"][item["use"]])
        if "if" in item:
            return self.either(item)
        if "list" in item:
            return self.listed(item)
        if "switch" in item:
            return self.switch(item)
        if "perhaps" in item:
            return [_perhaps(Word(TracedText.of(item["perhaps"], self.anchor), self.anchor))]
        return self.option(item)

    def either(self, item: Data) -> list[Word]:
        """The words of `then` or `else`; both are perhaps there where the condition is unknown."""
        answer = self.entry.holds(item["if"])
        if answer is None:
            return [_perhaps(word) for key in ("then", "else") for word in self.words(item.get(key, []))]
        return self.words(item.get("then" if answer else "else", []))

    def listed(self, item: Data) -> list[Word]:
        """A list of words, as the values have it; `$(NAME)` in them is replaced as Kubernetes does."""
        pair = self.entry.pair(item["list"])
        if pair is None:
            return []
        self.used.append(pair)
        words = yaml.listed(self.source, pair[1])
        if words is None and item.get("split") and yaml.scalar(pair[1]) is not None:
            text = yaml.text(self.source, pair[1])
            site = yaml.span(self.source, pair[1])
            if "\n" not in text.flat.strip():
                words = split(text)
            elif item["list"].rpartition(".")[2] in _COMMANDS:  # no container takes a text: a template gives it to a shell
                words = [Word(TracedText.of(one), site) for one in ("sh", "-c")] + [Word(with_options_below(text), site)]
            else:
                words = [Word(text, site)]
        elif words is not None and item.get("split"):
            words = [part for word in words for part in (split(word.text) if _WITH_VALUE.match(word.text.flat) else [word])]
        lookup = self.given.variables.get
        return [
            Word(expand(word.text, lookup, script=any(map(str.isspace, word.text.flat))), word.site, word.many)
            for word in words or []
        ]

    def switch(self, item: Data) -> list[Word]:
        """The word for a value that is on or off."""
        pair = self.entry.pair(item["switch"])
        answer = self.entry.truth(item["switch"])
        if pair is None or (answer is False and "off" not in item):
            return []
        self.used.append(pair)
        site = yaml.span(self.source, pair[0])
        word = Word(TracedText.of(item["off" if answer is False else "on"], site), site)
        return [word] if answer is not None else [_perhaps(word)]

    def option(self, item: Data) -> list[Word]:
        """A value, with its option in front."""
        found = self.value(item)
        if found is None:
            return []
        text, site, key, sure = found
        option = item.get("option")
        if option is None:
            made = [Word(text, site, many=item.get("many", False))]
        elif option.endswith("="):
            made = [Word(TracedText.join((TracedText.of(option), text)), site)]
        else:
            made = [Word(TracedText.of(option, key), key), Word(text, site)]
        return made if sure else [_perhaps(word) for word in made]

    def value(self, item: Data) -> tuple[TracedText, Span, Span, bool] | None:
        """(text, where it stands, where its key does, whether it is passed at all); None if the chart passes nothing."""
        paths = item.get("value", [])
        pair = next((pair for path in ([paths] if isinstance(paths, str) else paths) if (pair := self.entry.pair(path))), None)
        if item.get("name"):
            pair = (self.entry.name, self.entry.name) if self.entry.name is not None else None
        if pair is None or not yaml.is_scalar(pair[1]):
            if "default" in item:
                return TracedText.of(item["default"], self.anchor), self.anchor, self.anchor, True
            return (self.unknown(item, ""), self.anchor, self.anchor, True) if "unknown" in item else None
        self.used.append(pair)
        text = yaml.text(self.source, pair[1])
        site, key = yaml.span(self.source, pair[1]), yaml.span(self.source, pair[0])
        sure = True
        if "above" in item:
            if text.value is not None and (whole_number(text.value) or 0) <= item["above"]:
                return None
            sure = text.known
        if "unless" in item and self.entry.pair(item["unless"]) is not None:
            return TracedText((unknown(text.shown, site),)), site, key, False
        if "patterns" in item:
            text = self.matched(item, text) or self.unknown(item, text.shown)
        return text, site, key, sure

    def matched(self, item: Data, text: TracedText) -> TracedText | None:
        """The part of a text that the first of some patterns takes, below a folder that another value names."""
        for pattern in item["patterns"]:
            match = re.search(pattern["match"], text.flat)
            if match is None:
                continue
            part = text.cut(*match.span(1))
            if "below" not in pattern:
                return part
            folder = self.entry.text(pattern["below"]) or TracedText.of(pattern["default"])
            return TracedText.join((folder, TracedText.of("/"), part))
        return None

    def unknown(self, item: Data, written: str) -> TracedText:
        """A text for a value that only the chart knows."""
        shown = "" if item.get("many") else written or f"{{{item.get('unknown', '')}}}"
        return TracedText((unknown(written or item.get("unknown", "..."), self.anchor, shown=shown),))

    # -- what surrounds the engine

    def variables(self, items: list[Data]) -> None:
        """Add the variables that some items set."""
        file = File(self.source, [])
        for item in items:
            if "if" in item:
                if self.entry.holds(item["if"]) is not False:
                    self.variables(item["then"])
            elif "variables" in item:
                if (pair := self.entry.pair(item["variables"])) is not None:
                    found = environment.of_container(file, {"env": pair})
                    self.given.variables.update(found.variables)
                    self.given.open = self.given.open or found.open or yaml.gaps(pair[1])
            else:
                name = item["variable"]
                value = (
                    (TracedText.of(item["word"], self.anchor), self.anchor) if "word" in item else (self.value(item) or ())[:2]
                )
                if value:
                    self.given.variables[name] = Variable(name, value[0], value[1])

    def image(self) -> TracedText | None:
        """The image; a part of it that the values leave to the chart is unknown."""
        where = self.chart.get("image")
        if where is None or isinstance(where, str):
            return self.entry.text(where) if where else None
        repository = self.entry.text(where["repository"])
        if repository is None or not repository.flat:
            return None
        parts = [repository]
        registry = self.entry.text(where["registry"]) if "registry" in where else None
        if registry is not None and registry.flat:
            parts = [registry, TracedText.of("/"), repository]
        tag = self.entry.text(where["tag"])
        digest = self.entry.text(where["digest"]) if "digest" in where else None
        if tag is not None and tag.flat:
            parts += [TracedText.of("@" if tag.flat.startswith("sha256:") else ":"), tag]
        elif ":" not in repository.flat.rpartition("/")[2] and not (digest is not None and digest.flat):
            version = self.chart.get("version")
            given = version.placed(repository.span(), assumed=True) if version is not None else None
            parts += [TracedText.of(":"), given or TracedText((unknown("{tag}", None),))]
        if digest is not None and digest.flat:
            parts += [TracedText.of("@"), digest]
        return TracedText.join(parts)

    def settings(self) -> dict[str, TracedText]:
        """The settings of the container."""
        found: dict[str, TracedText] = {}
        for name, item in self.chart.get("settings", {}).items():
            if self.entry.holds(item.get("if", [])) and (value := self.value(item)) is not None:
                found[name] = value[0]
        return found

    def gpus(self) -> tuple[int | None, bool | None]:
        """How many GPUs the container has (None if that is not known), and whether it has any."""
        where = self.chart.get("resources", {})
        pair = self.entry.pair(where["container"]) if "container" in where else None
        if pair is not None and yaml.entries(pair[1]):
            fields: Entries = {"resources": pair}
            return runtime.gpus(fields, {}, complete=False)
        count = self.value({**where, "value": where["count"]}) if "count" in where else None
        kind = self.entry.text(where["kind"]) if "kind" in where else None
        number = whole_number(count[0].value) if count is not None and count[0].value is not None else None
        if not number:
            return None, None
        return (number, True) if kind is None or runtime.is_gpu(kind.flat) else (None, None)


def _perhaps(word: Word) -> Word:
    return Word(unsure(word.text), word.site, many=True)


_WITH_VALUE = re.compile(r"--?[A-Za-z][\w.-]*[ \t]+\S")
"""An item of a list that holds an option and its value: one word for a container, two for a shell."""
_COMMANDS = ("command", "cmd", "entrypoint")
_ARGS = ("args", "arguments")
_MORE = (
    "extraArgs", "extra_args", "extraArguments", "extraCmdArgs", "additionalArgs", "serverArgs", "engineArgs", "modelArgs",
    "launchArgs",
)  # fmt: skip
_INSIDE = ("", "image.", "server.", "runtime.", "engine.", "model.", "modelServer.", "llm.")
_AROUND = ("", "service.", "deployment.", "container.", "server.", "app.", "application.", "workload.", "deploy.", "pod.")
"""Where the image stands: beside the words, or in a mapping beside them that is the workload's."""
_ENV = ("env", "extraEnv", "extraEnvVars", "envVars", "environment", "env_vars")
_IMAGE = {
    "repository": ("repository", "repo", "name", "image"),
    "registry": ("registry",),
    "tag": ("tag", "version"),
    "digest": ("digest",),
}
_OFF = ("enabled=false", "create=false", "deploy=false", "disabled=true")
_NOT_INSIDE = frozenset(("metadata", "annotations", "labels", "affinity", "tolerations", "initContainers", "dashboards"))
_VISITS_AT_MOST = 100_000
_DEPTH, _TIMES = 24, 16


@derived
def _inside() -> tuple[str, ...]:
    """Where the words stand: beside the image, in it, or in a mapping beside it that is the server's."""
    return (*_INSIDE, *[f"{name}." for engine in ENGINES.values() for name in engine.yaml_keys])


@derived
def _more() -> tuple[str, ...]:
    """Keys of words that the chart adds to its own."""
    return (*_MORE, *[f"{name}Args" for engine in ENGINES.values() for name in engine.yaml_keys])


@derived
def _beginnings() -> tuple[str, ...]:
    """How a text begins that holds words of a command."""
    starts = [start for engine in ENGINES.values() for start in engine.starts]
    return ("-", "python", *[program + " " for start in starts for program in start.programs])


def of_unknown_chart(source: Source, root: Node, without: set[int], own: Own | None) -> list[Launch]:
    """Read the launches in values of a chart that is not known.

    Args:
        source: The text.
        root: The values.
        without: The ids of nodes that a known chart reads.
        own: The chart beside the values, None if they are for another one.
    """
    return [launch for entry_ in _candidates(source, root, without) for launch in _of_entry(entry_, own)]


def is_candidate(source: Source, root: Node) -> bool:
    """Whether values hold an image with words beside it."""
    return next(_candidates(source, root, set()), None) is not None


def _candidates(source: Source, root: Node, without: set[int]) -> Iterator[Entry]:
    """The mappings with an image and a list of words."""
    waiting: list[tuple[Node, Node, str, int]] = [(root, root, "", 0)]
    left = _VISITS_AT_MOST
    times: dict[int, int] = {}
    while waiting and left > 0:
        node, owner, path, depth = waiting.pop()
        items = yaml.items(node)
        left -= 1
        if depth > _DEPTH or id(node) in without:
            continue
        if items is not None:
            inside = [
                (item, owner, f"{path}.{_name(item) or index}".lstrip("."), depth + 1) for index, item in enumerate(items)
            ]
        else:
            fields = yaml.entries(node)
            if not fields or "apiVersion" in fields:
                continue  # an object that the chart makes
            here = Entry(source, root, owner, node, path, None)
            if any(here.holds([condition]) for condition in _OFF):
                continue
            times[id(node)] = times.get(id(node), 0) + 1
            if times[id(node)] <= _TIMES and _image_at(here) is not None and _lists(here):
                yield here
            inside = [
                (value, node, f"{path}.{key}".lstrip("."), depth + 1)
                for key, (_, value) in fields.items()
                if key not in _NOT_INSIDE and not yaml.is_scalar(value)
            ]
        left -= len(inside)
        waiting += reversed(inside)


def _name(item: Node) -> str:
    name = yaml.entries(item).get("name")
    return (yaml.scalar(name[1]) if name is not None else None) or ""


def _image_at(here: Entry) -> str | None:
    """The path of the image whose words an entry holds, None without one."""
    for around in _AROUND:
        if here.pair(around + "image") is not None:
            own = bool(around) and any(here.pair(around + key) is not None for key in (*_COMMANDS, *_ARGS, *_more()))
            return around + "image" if not own else None  # that mapping is an entry itself
    return None


def _lists(here: Entry) -> list[str]:
    """The paths of an entry that hold words."""
    found: list[str] = []
    for inside in _inside():
        if inside not in ("", "image.") and here.pair(inside + "image") is not None:
            continue  # that server has an image of its own
        for key in (*_COMMANDS, *_ARGS, *_more()):
            pair = here.pair(inside + key)
            if pair is not None and _holds_words(pair[1]):
                found.append(inside + key)
    return found


def _holds_words(node: Node) -> bool:
    if (items := yaml.items(node)) is not None:
        return any(yaml.is_scalar(item) for item in items)
    return (yaml.scalar(node) or "").lstrip().startswith(_beginnings())


def _of_entry(here: Entry, own: Own | None) -> list[Launch]:
    lists = _lists(here)
    if own is not None:
        lists = [path for path in lists if not own.ignores(".".join(filter(None, (here.path, path))))]
    chart = _chart(here, lists)
    if own is not None and own.version is not None:
        chart["version"] = own.version
    kinds = {"command": _COMMANDS, "args": _ARGS, "more": _more()}
    image = Reader(chart, here).image()
    engine = images.identify(image).engine if image is not None else None
    given = {kind: [path for path in chart["lists"] if path.rpartition(".")[2] in keys] for kind, keys in kinds.items()}
    items = {kind: [{"list": path, "split": True} for path in paths] for kind, paths in given.items()}
    reader = Reader(chart, here)
    command, args, more = (reader.words(items[kind]) for kind in kinds)
    if command and engine is not None and command[0].text.flat.startswith("-"):
        # what other platforms call the command is what Kubernetes calls its arguments
        case: dict[str, Any] = {"args": [*items["command"], *items["args"], *items["more"]]}
    elif own is not None and own.adds_words and not any(word.text.flat.startswith("-") for word in [*command, *args, *more]):
        return []  # `command: [vllm, serve]`, whose options the template writes: the launch is the template's
    elif command or _starts(args):
        case = {"args": items["args"] + items["more"]}
        if command:
            case["command"] = items["command"]
    elif engine is not None and any(word.text.flat.startswith("-") for word in [*args, *more]) and _fits(args, more):
        case = {"engine": engine, "args": [{"unknown": "...", "many": True}, *items["args"], *items["more"]]}
    else:
        return []
    return Reader({**chart, "cases": [case]}, here).launches()


def _starts(words: list[Word]) -> bool:
    """Whether words are a whole command: an engine's program, or a shell's script."""
    return bool(words) and (entry.find(words) is not None or entry.program(words[0]) in SHELLS)


def _fits(args: list[Word], more: list[Word]) -> bool:
    """Whether words look like the engine's: options, or a model with options after it."""
    first: TracedText | None = next((word.text for word in [*args, *more] if not word.many), None)
    return first is not None and (not first.known or first.flat.startswith("-") or "/" in first.flat)


def _chart(here: Entry, lists: list[str]) -> dict[str, Any]:
    """The data of a chart that has just this shape."""
    at = _image_at(here) or "image"
    image: Any = at
    if (pair := here.pair(at)) is not None and yaml.is_mapping(pair[1]):
        fields: Entries = yaml.entries(pair[1])
        image = {part: f"{at}." + next((key for key in keys if key in fields), keys[0]) for part, keys in _IMAGE.items()}
        whole = here.text(image["tag"])
        if not any(key in fields for key in _IMAGE["repository"]) and whole is not None and "/" in whole.flat:
            image = image["tag"]  # `version: vllm/vllm-openai:v0.19.0`
    return {
        "image": image,
        "anchor": lists[0] if lists else "image",
        "lists": lists,
        "env": [{"variables": inside + key} for inside in ("", "image.") for key in _ENV],
        "resources": {"container": "resources"},
    }
