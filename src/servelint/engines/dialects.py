"""What each engine's parser does differently from plain argparse."""

from __future__ import annotations


class Dialect:
    """What an engine's parser does differently.

    positional:     canonical name of the option that a first positional stands for, "" if there is none
    underscores:    `--a_b` is `--a-b`;  json_paths: `--a.b v` sets a key of a JSON option
    abbreviations:  a unique prefix stands for an option;  equals: `--a=b` sets an option
    next_word:      an option's value is the next word, whatever it looks like
    """

    __slots__ = ("abbreviations", "equals", "json_paths", "next_word", "positional", "underscores")

    def __init__(
        self,
        positional: str = "",
        *,
        underscores: bool = False,
        json_paths: bool = False,
        abbreviations: bool = True,
        equals: bool = True,
        next_word: bool = False,
    ) -> None:
        self.positional = positional
        self.underscores = underscores
        self.json_paths = json_paths
        self.abbreviations = abbreviations
        self.equals = equals
        self.next_word = next_word


DIALECTS = {
    "vllm": Dialect("model", underscores=True, json_paths=True),
    "sglang": Dialect(),
    "lmdeploy": Dialect("model-path"),
    "trtllm": Dialect("model", abbreviations=False, next_word=True),
    "llama.cpp": Dialect(underscores=True, abbreviations=False, equals=False, next_word=True),
}
PLAIN = Dialect()
