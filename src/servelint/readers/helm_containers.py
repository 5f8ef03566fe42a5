"""Values of charts that nobody knows: an engine's image with the engine's words beside it.

    image: {repository: vllm/vllm-openai, tag: v0.19.0}
    extraArgs: [--max-model-len, "4096"]

What the chart itself passes is unknown, and so are the words in front of those that are given.
"""

from __future__ import annotations

from collections.abc import Iterator

from servelint.core.launch import Launch, Word
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.engines import entry, images
from servelint.engines.registry import ENGINES, derived
from servelint.readers.helm_chart import Entry, Reader
from servelint.readers.runners import SHELLS
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_COMMANDS = ("command", "cmd", "entrypoint")
_ARGS = ("args", "arguments")
_MORE = (
    "extraArgs", "extra_args", "extraArguments", "extraCmdArgs", "additionalArgs", "serverArgs", "engineArgs", "modelArgs",
    "launchArgs",
)  # fmt: skip
_INSIDE = ("", "image.", "server.", "runtime.", "engine.", "model.", "modelServer.")
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


def launches(source: Source, root: Node, path: str, without: set[int]) -> list[Launch]:
    """The launches in some values. without: the ids of nodes that a known chart reads"""
    return [launch for entry_ in _candidates(source, root, path, without) for launch in _of_entry(entry_)]


def is_candidate(source: Source, root: Node) -> bool:
    return next(_candidates(source, root, "", set()), None) is not None


def _candidates(source: Source, root: Node, path: str, without: set[int]) -> Iterator[Entry]:
    """The mappings with an image and a list of words."""
    waiting: list[tuple[Node, Node, str, int]] = [(root, root, path, 0)]
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
            if "image" in fields and times[id(node)] <= _TIMES and _lists(here):
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
    items = yaml.items(node)
    if items is not None:
        return any(yaml.is_scalar(item) for item in items)
    return (yaml.scalar(node) or "").lstrip().startswith(_beginnings())


def _of_entry(here: Entry) -> list[Launch]:
    chart = _chart(here, _lists(here))
    kinds = {"command": _COMMANDS, "args": _ARGS, "more": _more()}
    image = Reader(chart, here).image()
    engine = images.identify(image).engine if image is not None else None
    given = {kind: [path for path in chart["lists"] if path.rpartition(".")[2] in keys] for kind, keys in kinds.items()}
    items = {kind: [{"list": path, "split": True} for path in paths] for kind, paths in given.items()}
    reader = Reader(chart, here)
    command, args, more = (reader.words(items[kind]) for kind in kinds)
    if command or _starts(args):
        case: dict[str, Any] = {"args": items["args"] + items["more"]}
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
    first: Text | None = next((word.text for word in [*args, *more] if not word.many), None)
    return first is not None and (not first.known or first.flat.startswith("-") or "/" in first.flat)


def _chart(here: Entry, lists: list[str]) -> dict[str, Any]:
    """The data of a chart that has just this shape."""
    image: Any = "image"
    pair = here.pair("image")
    if pair is not None and yaml.is_mapping(pair[1]):
        fields: Entries = yaml.entries(pair[1])
        image = {part: "image." + next((key for key in keys if key in fields), keys[0]) for part, keys in _IMAGE.items()}
    return {
        "image": image,
        "anchor": lists[0] if lists else "image",
        "lists": lists,
        "env": [{"variables": inside + key} for inside in ("", "image.") for key in _ENV],
        "resources": {"container": "resources"},
    }
