"""The lists by which a checkpoint names modules: those that it leaves as they were, or holds in a format of their own.

Lists name the same few modules of each of a hundred layers, so what they say of a layer is told apart from what they say of
all: layers of which they say the same need no second look (`of_layer`).
"""

from __future__ import annotations

import re
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Matches = Callable[[str], re.Match[str] | None]

_PATTERN_AT_MOST = 2000
_REPEATS_AT_MOST = 4
_REPEATS = re.compile(r"[*+{]")
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)(?=\.|$)")
_OF_LAYER = re.compile(r"layers\.(\d+)(?=\.|$)")
_OF_LAYERS = re.compile(r"\(\?!\.\*mtp\)\.\*layers\\\.\((\d+(?:\|\d+)*)\)(?=\\\.|\.\*$)")
"""An expression for modules of many layers, as servelint.harvest.architectures packs lists of names. Where a point follows the
numbers they are whole ones; with .* they are beginnings."""
_LITERAL = re.compile(r"(?:[\w-]|\\\.)*")
_OF_ALL = re.compile(r"(?:[a-z_A-Z-]|\\\.|\.[*+]|[|()^$])*")
"""An expression that matches a name of one layer if it matches that of another: nothing in it stands for a digit, or for one
character."""
_OF_DRAFTS = re.compile(r"(?:\.\*)?mtp\\\.[^|]*$")
"""An expression for modules of multi-token prediction alone, in which no layer of the model's own has a part."""
_PREFIXES = ("model.language_model.", "language_model.model.", "language_model.", "model.")


class Patterns:
    """A list, read once.

    tied:        number of a layer -> what is said of its modules: how, and what follows the number
    begun:       beginnings of numbers of layers that are named whole
    whole:       names, or parts of them from one point to another, of any layer
    expressions: the others: each with what stands before a name for it
    apart:       those of them that may match in one layer what they do not in another
    """

    __slots__ = ("_apart", "_begun", "_expressions", "_numbers", "_tied", "_whole")

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._tied: dict[str, list[tuple[str, str]]] = {}
        self._begun: tuple[str, ...] = ()
        self._expressions: list[tuple[Matches, str]] = []
        self._apart: list[tuple[Matches, str]] = []
        whole: set[str] = set()
        wild: list[str] = []
        apart: list[str] = []
        for pattern in patterns:
            if (
                len(pattern) > _PATTERN_AT_MOST
                or len(_REPEATS.findall(pattern)) > _REPEATS_AT_MOST
                or _REPEATED_GROUP.search(pattern)
            ):
                continue  # no checkpoint needs it, and matching it could take for ever
            if pattern.startswith("re:"):
                self._expression(_translated(pattern[3:], _ESCAPED))
                continue
            text = _translated(_from_layers(pattern), _SAME)
            globs = "*" in text or "?" in text
            layer = _OF_LAYER.match(text)
            if layer is not None:
                self._tie(layer.group(1), "glob" if globs else "name", text[layer.end() :])
            elif globs:
                wild.append(text)
                if not text.startswith("mtp") and ("?" in text or any(one.isdigit() for one in text)):
                    apart.append(text)
            else:
                whole.add(text)
        self._whole = frozenset(whole)
        self._numbers = any(one[:1].isdigit() for one in whole)
        if wild:
            self._expressions.append((_glob(wild).search, ""))
        if apart:
            self._apart.append((_glob(apart).search, ""))

    def _tie(self, number: str, how: str, rest: str) -> None:
        self._tied.setdefault(number, []).append((how, rest))

    def _expression(self, text: str) -> None:
        layers = _OF_LAYERS.match(text)
        if layers is not None:
            numbers, rest = layers.group(1).split("|"), text[layers.end() :]
            if rest == ".*":
                self._begun += tuple(numbers)
                return
            how = "beginning" if _LITERAL.fullmatch(rest) else "expression"
            try:
                rest = rest.replace("\\", "") if how == "beginning" else re.compile(rest).pattern
            except re.error:
                return
            for number in numbers:
                self._tie(number, how, rest)
            return
        try:
            found = re.compile(text).match, "model."
        except re.error:
            return
        self._expressions.append(found)
        if _OF_ALL.fullmatch(text) is None and _OF_DRAFTS.match(text) is None:
            self._apart.append(found)

    def names(self, name: str) -> bool:
        """Whether the list names a module, or what it is in. name: from `layers` on, "layers.3.self_attn.q_proj"."""
        return any(self._of(one) for one in _spoken(name))

    def _of(self, name: str) -> bool:
        if self._whole and not self._whole.isdisjoint(_runs(name)):
            return True
        layer = _LAYER.search(name) if self._tied or self._begun else None
        if layer is not None:
            number, tail, outside = layer.group(1), name[layer.end() :], "mtp" not in name
            if outside and self._begun and number.startswith(self._begun):
                return True
            tied = self._tied.get(number, ())
            if any(_follows(how, rest, tail) for how, rest in tied if outside or how in ("name", "glob")):
                return True
        return any(matches(before + name) is not None for matches, before in self._expressions)

    def of_layer(self, index: int, tails: Iterable[str]) -> object:
        """What the list says of one layer: where that is equal, it names the same modules of two layers.

        tails: the names of its modules after the layer's number, ".self_attn.q_proj"
        """
        tied = (*self._tied.get(str(index), ()), bool(self._begun) and str(index).startswith(self._begun))
        if not self._apart and not self._numbers:
            return tied
        spoken = [f"layers.{index}{one}" for tail in tails for one in _spoken(tail)]
        found = [any(matches(before + name) is not None for matches, before in self._apart) for name in spoken]
        numbers = [not self._whole.isdisjoint(_runs(name)) for name in spoken] if self._numbers else []
        return tied, tuple(found), tuple(numbers)


@lru_cache(maxsize=64)
def patterns(listed: tuple[str, ...]) -> Patterns | None:
    """None for a list that names nothing."""
    return Patterns(listed) if listed else None


def _from_layers(pattern: str) -> str:
    """What comes before `layers` differs between releases of Transformers."""
    start = pattern.find("layers.")
    text = pattern[start:] if start >= 0 and not pattern.startswith("mtp") else pattern
    for before in _PREFIXES:
        text = text.removeprefix(before)
    return text


def _glob(texts: list[str]) -> re.Pattern[str]:
    """Names with * for anything and ? for a character, of whole parts."""
    return re.compile(r"(?:^|\.)(?:" + "|".join(map(_globbed, texts)) + r")(?:\.|$)")


def _globbed(text: str) -> str:
    return re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")


def _follows(how: str, rest: str, tail: str) -> bool:
    """Whether what is tied to a layer names what stands after its number."""
    if how == "name":
        return tail == rest or tail.startswith(rest + ".")
    if how == "beginning":
        return tail.startswith(rest)
    expression = _globbed(rest) + r"(?:\.|$)" if how == "glob" else rest
    return _compiled(expression).match(tail) is not None


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _runs(name: str) -> list[str]:
    """All that stands in a name from one point to another."""
    parts = name.split(".")
    return [".".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)]


def _spoken(name: str) -> tuple[str, ...]:
    """The names that checkpoints give a module: routed experts have each its number, and without a gate up_proj alone."""
    if ".experts." not in name:
        return (name,)
    return (
        name,
        name.replace(".experts.gate_up_proj", ".experts.0.gate_proj").replace(".experts.down_proj", ".experts.0.down_proj"),
        name.replace(".experts.gate_up_proj", ".experts.0.up_proj"),
    )


def _translated(text: str, names: tuple[tuple[str, str], ...]) -> str:
    """A name, or an expression that has names as `names` does, with the names that modules have here."""
    for old, new in names:
        text = text.replace(old, new)
    return text


_SAME = (
    (".attn.", ".self_attn."),
    ("ffn.", "mlp."),
    ("block_sparse_moe", "mlp"),
    ("feed_forward", "mlp"),
    ("shared_expert.", "shared_experts."),
    ("mixer.q_proj", "self_attn.q_proj"),
    ("mixer.k_proj", "self_attn.k_proj"),
    ("mixer.v_proj", "self_attn.v_proj"),
    ("mixer.o_proj", "self_attn.o_proj"),
    ("mixer.qkv_proj", "self_attn.*_proj"),
    ("mixer.experts", "mlp.experts"),
    ("mixer.shared_experts", "mlp.shared_experts"),
    ("mixer.gate", "mlp.gate"),
    ("mixer.fc", "mlp.fc"),
    ("mixer.up_proj", "mlp.up_proj"),
    ("mixer.down_proj", "mlp.down_proj"),
    ("router.gate", "gate"),
    (".w1", ".gate_proj"),
    (".w2", ".down_proj"),
    (".w3", ".up_proj"),
    ("index_q_proj", "indexer.wq_b"),
    ("index_k_proj", "indexer.wk"),
)
"""Names of the same modules in checkpoints of other families."""
_ESCAPED = tuple([(re.escape(old), re.escape(new)) for old, new in _SAME])
