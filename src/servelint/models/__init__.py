"""What is known of a model by its name alone. A name that no family claims is an unknown model, not a wrong one.

The facts are listed in FACTS. Numbers are known of a known size only, where the name adds nothing that may change them.
"""

from __future__ import annotations

import re
from copy import copy
from functools import lru_cache

from servelint.core.data import load_data
from servelint.core.text import HOLE, TracedText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Fact = str | int | bool

FACTS = {
    "architecture": ("text", "the architecture that the checkpoint's config.json names"),
    "hybrid": ("bool", "some layers have a recurrent state instead of attention"),
    "mixer": ("text", "the kind of the recurrent layers of a hybrid model: gdn, mamba2, kda, ..."),
    "mtp": ("bool", "the checkpoint has layers for multi-token prediction"),
    "mtp-layers": ("number", "how many layers for multi-token prediction it has"),
    "moe": ("bool", "a mixture of experts"),
    "mla": ("bool", "multi-head latent attention"),
    "multimodal": ("bool", "accepts images, audio or video in addition to text"),
    "sliding": ("bool", "some layers attend to a sliding window"),
    "window": ("number", "the length of the sliding window, in tokens"),
    "quantization": ("text", "the format of the weights: fp8, awq, gptq, mxfp4, gguf, ...; none if they are not quantized"),
    "quant-method": ("text", "quant_method of the checkpoint's config.json"),
    "layers": ("number", "hidden layers"),
    "hidden-size": ("number", "the width of the hidden state"),
    "heads": ("number", "attention heads"),
    "kv-heads": ("number", "key-value heads"),
    "context": ("number", "the longest context of the configuration, in tokens"),
    "experts": ("number", "routed experts of a layer"),
    "vocabulary": ("number", "entries of the vocabulary"),
    "draft-vocabulary": ("number", "entries of the vocabulary from which an EAGLE3 draft proposes"),
    "type": ("text", "model_type of the checkpoint's config.json"),
    "text-type": ("text", "model_type of the language model in it"),
    "family": ("text", "the model family, such as qwen3-moe"),
    "size": ("text", "the part of the name that says the size (30b-a3b); empty if the family has one size"),
    "transformers": ("text", "the first release of Transformers that knows its model type"),
}
"""fact -> its type and its meaning"""

_FORMAT_AT_END = r"[-_.](fp8|awq|gptq|nvfp4|mxfp4|gguf)(?:[-_](?:dynamic|block|int[48]|[48]bits?))?$"
NUMBERS = frozenset(("layers", "hidden-size", "heads", "kv-heads", "experts", "vocabulary", "draft-vocabulary"))
"""facts that the published config.json of a model gives where its family does not"""


class Family:
    """What the name or the config.json of a model says.

    Attributes:
        name: the name of the family.
        facts: those of FACTS that are known, without family, size and transformers.
        size: the part of the name that tells it from others of its family ("30b-a3b"), "" if there is none. None if the size is
            not known, or the name says more than is known.
        tools: the format in which it writes tool calls.
        thinks: the format in which it writes its reasoning.
        transformers: the first release of Transformers that knows its model type.
        like: an architecture that came to the engines with it, where its own is not known.
        source: where the facts of the family are from; "" for those of a config.json.
        inferred: whether a folder above the model or the served name says what it is, which may be another model.
    """

    __slots__ = ("facts", "inferred", "like", "name", "size", "source", "thinks", "tools", "transformers")

    def __init__(self, name: str, facts: dict[str, Fact], size: str | None = None, entry: dict[str, Any] | None = None) -> None:
        entry = entry or {}
        self.name = name
        self.facts = facts
        self.size = size
        self.tools: str | None = entry.get("tools")
        self.thinks: str | None = entry.get("thinks")
        self.transformers: str | None = entry.get("transformers")
        self.like: str | None = entry.get("like")
        self.source: str = entry.get("source", "")
        self.inferred = False

    @property
    def architecture(self) -> str | None:
        """The architecture under which an engine lists the model."""
        found = self.facts.get("architecture", self.like)
        return found if isinstance(found, str) else None

    def fact(self, name: str) -> Fact | None:
        """A fact of FACTS; None if it is not known."""
        if name in ("family", "size", "transformers"):
            return {"family": self.name, "size": self.size, "transformers": self.transformers}[name]
        return self.facts.get(name)


class FamilyTable:
    """The table of families. Its patterns are compiled when a name needs them, because all at once would take milliseconds."""

    __slots__ = ("_foreign", "_plain", "data")

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self._foreign: re.Pattern[str] | None = None
        self._plain: re.Pattern[str] | None = None

    def plain(self, word: str) -> bool:
        """Whether a word of a name says nothing about the model but the format or version of its weights."""
        if word in self.data["words"]:
            return True
        if self._plain is None:
            self._plain = re.compile(self.data["plain"])
        return self._plain.fullmatch(word) is not None

    def foreign(self, text: str) -> bool:
        """Whether the rest of a name makes it another model, or one with more than its weights changed."""
        if self._foreign is None:
            self._foreign = re.compile(self.data["foreign"])
        return self._foreign.search(text) is not None

    def quantization(self, words: list[str]) -> str | None:
        """The format of the weights that words of a name stand for, None if none does."""
        found = [self.data["words"].get(word, "gguf" if word[:1] in ("q", "i") and self.plain(word) else "") for word in words]
        return next((name for name in self.data["quantizations"] if name in found), None)


def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = load_data("models/" + name)
    return data


@lru_cache(maxsize=1)
def table() -> FamilyTable:
    """The table of families, families.json."""
    return FamilyTable(_data("families.json"))


@lru_cache(maxsize=1)
def _parsers() -> dict[str, Any]:
    return _data("parsers.json")


def parsers_of(kind: str, form: str, engine: str) -> list[str]:
    """The parsers of an engine that read a format of parsers.json, the most common first. `kind` is "tools" or "thinks"."""
    found: list[str] = _parsers()[kind].get(form, {}).get(engine, [])
    return found


def is_known_parser(kind: str, parser: str, engine: str) -> bool:
    """Whether the format that a parser of an engine reads is known. `kind` is "tools" or "thinks"."""
    return any(parser in entry.get(engine, []) for entry in _parsers()[kind].values())


def identify(model: TracedText) -> Family | None:
    """The family of a model by the name of its repository, folder or file, None if the name is unknown."""
    publisher, name = _parts(model)
    return None if HOLE in name or not name else _by_name(name, publisher)


_GENERIC = frozenset((
    "model", "models", "weights", "checkpoint", "checkpoints", "target", "base", "hf", "merged", "final", "latest", "data",
    "mnt",
))  # fmt: skip
"""Names of a folder that say nothing of the model in it."""
_STAGE = (
    r"(?:v|checkpoint|ckpt|epoch|step|iter|global_step|iteration|version|rev|run)?[-_]?\d[\d.]*|main|master|original|best|last"
)
"""Names of a folder that say which of several states of the model is in it."""


def inferred(model: TracedText, served: TracedText | None) -> Family | None:
    """The family of a model in a folder whose name says nothing, by the folders above it or by its served name."""
    parts = model.flat.lower().replace("___", ".").replace("\\", "/").rstrip("/").split("/")
    if len(parts) < 2 or (parts[-1] not in _GENERIC and re.fullmatch(_STAGE, parts[-1]) is None):
        return None
    names = [*parts[-2:-4:-1], served.flat.lower().rpartition("/")[2] if served is not None else ""]
    found = next((one for name in names if name and HOLE not in name and (one := _by_name(name, "")) is not None), None)
    if found is not None:
        found = copy(found)
        found.inferred = True
    return found


def named_format(name: str) -> str | None:
    """The format of the weights that the end of an unknown model's name stands for (MODEL-FP8), None if it says none."""
    found = re.search(_FORMAT_AT_END, name.rstrip("/").lower())
    return table().quantization([found.group(1)]) if found is not None else None


@lru_cache(maxsize=64)
def published_quantization(name: str) -> dict[str, Fact]:
    """The facts of a quantization in the config.json of a model by its publisher's name: quant-method, perhaps quantization.

    The quantization is "none" where the config.json is known and has none. Empty where it is not known: defaults of
    Transformers say nothing of it either way, NVIDIA keeps it in a file beside, and what only describes the weights for the
    memory plan does not name the method as the file does.
    """
    from servelint.models.catalog import config_of, sources_of
    from servelint.models.folder import quantization_in

    config = config_of(name)
    if config is None:
        return {}
    own = name.replace("/", "--") + "_config.json"
    sources = sources_of(name)
    if (facts := quantization_in(config)) is not None:
        return facts if any(own in source for source in sources) else {}
    others = any("defaults of" in source or (source.endswith("_config.json") and own not in source) for source in sources)
    return {} if others or name.lower().startswith("nvidia/") else {"quantization": "none"}


@lru_cache(maxsize=64)
def described_number(name: str, fact: str) -> int | None:
    """One of NUMBERS of a model whose config.json is known by its name, None if it is not."""
    from servelint.models.catalog import lookup

    found = lookup(name)
    if found is None:
        return None
    if fact == "kv-heads":
        kinds = {layer.kv_heads for layer in found.attention if layer.kind in ("full", "sliding", "chunked")}
        return kinds.pop() if len(kinds) == 1 and all(layer.mla is None for layer in found.attention) else None
    if fact == "experts":
        return found.experts.count if found.experts is not None else None
    if fact == "draft-vocabulary":
        return (found.draft.vocab or None) if found.draft is not None else None
    return {"layers": found.layers, "hidden-size": found.hidden, "heads": found.heads, "vocabulary": found.vocab}[fact] or None


def _parts(model: TracedText) -> tuple[str, str]:
    """The publisher ("" in a path) and the name of a model in lower case.

    A path of a snapshot in the hub's cache has those of its repository.
    """
    parts = model.flat.lower().replace("___", ".").replace("\\", "/").rstrip("/").split("/")
    if len(parts) > 2 and parts[-2] == "snapshots":
        parts = parts[-3].removeprefix("models--").split("--")
    return parts[0] if len(parts) == 2 else "", parts[-1].partition(":")[0]


@lru_cache(maxsize=256)
def _by_name(name: str, publisher: str) -> Family | None:
    known = table()
    kept_out = {part for part in known.data["not"] if part in name}
    whole, name = name, name[next((len(prefix) for prefix in known.data["prefixes"] if name.startswith(prefix)), 0) :]
    for entry in known.data["families"]:
        start = entry["start"]
        if not kept_out <= set(entry.get("despite", ())):
            continue
        if not name.startswith(start if isinstance(start, str) else tuple(start)):
            continue
        match = re.match(entry["match"] + r"(?![a-z0-9])", name)
        if match is not None:
            found = _found(entry, match, name[match.end() :], publisher)
            if found is not None:
                return found
    found = _by_class(whole) or _by_class(name)
    respelt = _by_other_spelling(whole, publisher) if found is None else None
    return respelt or _by_config(whole, publisher, found) or found


def _by_other_spelling(name: str, publisher: str) -> Family | None:
    """The family of a model whose name has other separators than the known one: `Gemma3_27B`, `qwen2_5-7b`."""
    if not any(one.isdigit() for one in name) or not any(one.isalpha() for one in name):
        return None
    from servelint.models.catalog import respelled

    known = respelled(name)
    if known is None or known == name.removesuffix(".gguf"):
        return None
    return _by_name(known + (".gguf" if name.endswith(".gguf") else ""), publisher)


def _by_config(name: str, publisher: str, known: Family | None) -> Family | None:
    """A checkpoint that no family claims and whose config.json is known. The class of `known`, if there is one, is its own.

    Left out are the context, which the config may scale, and the types of a class that is not the usual one of its type. A
    conversion ("-hf") has another class, and so has a model that scores. A name without a number is not looked up.
    """
    if not any(one.isdigit() for one in name):
        return None
    from servelint.models.catalog import base_of, config_of, last_part, lookup, sources_of
    from servelint.models.config_json import class_of
    from servelint.models.folder import from_config

    whole = f"{publisher}/{name}" if publisher else name
    base, described = base_of(whole), lookup(whole)
    config = config_of(base) if base is not None else None
    if base is None or config is None or described is None:
        return None
    own, words = last_part(base) == name, re.split(_WORD, name)
    facts = from_config(config)
    left_out = ["context", "multimodal"]
    if not own:
        left_out += ["quantization", "quant-method"]
    named = facts.pop("architecture", None)
    architecture = named or class_of(config)
    if known is not None and (named is None or not own):
        architecture = known.architecture
    elif (not own and "hf" in words and "hf" not in re.split(_WORD, base)) or not _OTHER_HEADS.isdisjoint(words):
        architecture = None
    if architecture is None or architecture != class_of(config):
        left_out += ["type", "text-type"]
    for fact in left_out:
        facts.pop(fact, None)
    facts["hybrid"] = bool(described.states)
    facts["sliding"] = any(one.kind in ("sliding", "chunked") for one in described.attention)
    if architecture is not None:
        media = architecture in _classes()[1] or described.vision is not None
        facts["architecture"] = architecture
        if media or str(architecture).endswith(("ForCausalLM", "LMHeadModel")):
            facts["multimodal"] = media
    quantization = table().quantization(words)
    if quantization is not None:
        facts["quantization"] = quantization
    entry = with_source(str(architecture), "; ".join(sources_of(base)))
    return Family(str(architecture or described.model_type), facts, entry=entry)


_WORD = r"[-_.@+ ]"
_COUNT = re.compile(r"\d{3}b")
"""Parameters in a name: those of a large model, for a smaller number may be that of a model distilled from it."""
_OTHER_HEADS = frozenset(("reward", "prm", "rm", "reranker", "classifier"))
_SIZE = r"(?<![a-z0-9.])\d+(?:[._]\d+)?(?=[bm](?![a-z0-9]))"


@lru_cache(maxsize=1)
def _classes() -> tuple[dict[str, str | None], frozenset[str]]:
    """The class of each checkpoint of classes.json by its last part, its size left open, and the classes that take media.

    None stands for a name whose sizes are of different classes.
    """
    data, found = _data("classes.json"), dict[str, str | None]()
    for architecture, names in data["classes"].items():
        for name in names:
            key = _open(name.rpartition("/")[2].lower())
            found[key] = architecture if found.setdefault(key, architecture) == architecture else None
    return found, frozenset(data["multimodal"])


@lru_cache(maxsize=1)
def _first_transformers() -> dict[str, str]:
    return {name: since for since, names in _data("transformers.json")["first"].items() for name in names}


def with_source(architecture: str | None, source: str) -> dict[str, Any]:
    """The entry of a family that families.json does not have: its source, and the first Transformers that knows its class."""
    entry: dict[str, Any] = {"source": source}
    since = _first_transformers().get(architecture) if architecture is not None else None
    if since is not None:
        entry["transformers"] = since
    return entry


def _open(name: str) -> str:
    return re.sub(r"[._@+ ]", "-", re.sub(_SIZE, "#", name))


def _by_class(name: str) -> Family | None:
    """A checkpoint that no family claims and the engines' own tests name: its class alone is known."""
    known, (classes, media), words = table(), _classes(), _open(name).split("-")
    for count in range(len(words), 0, -1):
        architecture = classes.get("-".join(words[:count]))
        if architecture is not None:
            facts: dict[str, Fact | None] = {"architecture": architecture, "quantization": known.quantization(words)}
            if architecture in media or architecture.endswith(("ForCausalLM", "LMHeadModel")):
                facts["multimodal"] = architecture in media
            known_facts = {key: fact for key, fact in facts.items() if fact is not None}
            return Family(architecture, known_facts, entry=with_source(architecture, _data("classes.json")["about"]))
        if not known.plain(words[count - 1]):
            return None
    return None


def _found(entry: dict[str, Any], match: re.Match[str], rest: str, publisher: str) -> Family | None:
    """The family of a name that an entry matches, None if the rest of the name makes it another model."""
    known = table()
    words = [word for word in re.split(r"[-_.@+ ]", rest) if word]
    plain = all(known.plain(word) for word in words)
    pruned = all(known.plain(word) or _COUNT.fullmatch(word) for word in words)  # another count is a pruned model of the class
    if not plain and ((entry.get("plain") and not pruned) or known.foreign(rest)):
        return None
    facts = _kinds(entry["is"])
    facts.update({key: entry[key] for key in ("architecture", "mixer", "quantization", "mtp-layers") if key in entry})
    if "type" in entry:
        types = entry["type"].split()
        facts["type"] = types[0]
        facts.update({"text-type": types[-1]} if types[-1] != "?" else {})  # each size has the language model of another family
    size = (match.groupdict().get("size") or "").replace("_", ".") if plain else None
    numbers = entry.get("sizes", {}).get(size)
    if numbers is None:
        size = None
    else:
        facts.update({key: number for key, number in zip(known.data["columns"], numbers, strict=False) if number is not None})
        for key in ("vocabulary", "window"):
            number = entry.get(key)
            number = number.get(size) if isinstance(number, dict) else number
            facts.update({key: number} if number is not None else {})
        for word in (*re.split(r"[-_]", match.group()), *words):
            facts.update(entry.get("with", {}).get(word, {}))
    quantization = known.quantization(words)
    if quantization is not None:
        facts["quantization"] = quantization
    if plain:
        methods = {**known.data["publishers"].get(publisher, {}), **entry.get("publishers", {}).get(publisher, {})}
        if "quantization" not in facts and "none" in methods:
            facts["quantization"] = "none"
        form = str(facts.get("quantization"))
        method = methods.get(f"{form}-dynamic" if "dynamic" in words else form, methods.get(form))
        if method and "static" not in words:
            facts["quant-method"] = method
    tools = facts.pop("tools", None)  # what a word of the name changes
    family = Family(entry["name"], {key: fact for key, fact in facts.items() if fact is not None}, size, entry)
    if isinstance(tools, str):
        family.tools = tools
    if not plain:
        family.tools = family.thinks = None  # further training may have taught it another format
    return family


def types_of(architecture: str) -> frozenset[str]:
    """The model types of the families of an architecture, as far as they are known."""
    families = table().data["families"]
    return frozenset([one["type"].split()[0] for one in families if one.get("architecture") == architecture and "type" in one])


def _kinds(text: str) -> dict[str, Fact]:
    """The kinds of a family ("hybrid mtp moe?"): true for each word, not known for a word with a question mark, else false."""
    words = text.split()
    return {kind: kind in words for kind in table().data["kinds"] if kind + "?" not in words}
