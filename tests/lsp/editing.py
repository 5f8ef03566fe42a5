"""Somebody who edits files: what is typed, deleted, pasted and undone, the same each time."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TEXTS = Path(__file__).parent / "texts"
NAMES = ("compose.yml", "serve.sh", "deployment.yaml", "drafting.json", ".env")

_TYPED = {
    "compose.yml": ("\n      --swap-space 4", " --enforce-eager", "\n  # mañana 🙂", "\n    image: vllm/vllm-openai:v0.33.0"),
    "serve.sh": (" --max-modl-len 9", "\nvllm serve x --tp 2", "  # später 🌙", " \\\n  --seed"),
    "deployment.yaml": ("\n            - --seed=1", "\n            - name: LANG", " # né 🐣"),
    "drafting.json": (',\n  "prompt_lookup_max": 3', " ", '\n  "method": "ngram",'),
    ".env": ("\nHF_TOKEN=x", "\nCHAT_MODEL=Qwen/Qwen3-8B", "8"),
}
_BREAKING = ('"', ": [", "\n\t", "}", "'", "{")


class Edit(NamedTuple):
    """name: of the file;  start, end: offsets of what is replaced;  text: by what"""

    name: str
    start: int
    end: int
    text: str

    def of(self, before: str) -> str:
        return before[: self.start] + self.text + before[self.end :]


def originals() -> dict[str, str]:
    return {name: (TEXTS / name).read_text(encoding="utf-8") for name in NAMES}


def edits(count: int, seed: int) -> Iterator[Edit]:
    """So many edits, one after the other, each of the texts as those before left them."""
    chance = random.Random(seed)
    texts = originals()
    undo: list[Edit] = []
    made = 0
    while made < count:
        name = chance.choices(NAMES, (6, 5, 4, 2, 1))[0]
        for edit in _some(chance, name, texts[name], undo):
            undo.append(Edit(name, edit.start, edit.start + len(edit.text), texts[name][edit.start : edit.end]))
            texts[name] = edit.of(texts[name])
            yield edit
            made += 1
            if made == count:
                return


def _some(chance: random.Random, name: str, text: str, undo: list[Edit]) -> Iterator[Edit]:
    kind = chance.choice(("type", "type", "number", "word", "line", "break", "undo"))
    if kind == "type":
        at = chance.choice([match.start() for match in re.finditer(r"$", text, re.MULTILINE)])
        typed = chance.choice(_TYPED[name])
        for index, char in enumerate(typed):
            yield Edit(name, at + index, at + index, char)
    elif kind in ("number", "word"):
        found = list(re.finditer(r"\d+" if kind == "number" else r"[\w-]+", text))
        if found:
            match = chance.choice(found)
            yield Edit(name, match.start(), match.end(), str(chance.randrange(20)) if kind == "number" else "")
    elif kind == "line":
        found = list(re.finditer(r"[^\n]*\n", text))
        if found:
            match = chance.choice(found)
            yield Edit(name, match.start(), match.end(), match.group() * 2 if chance.random() < 0.7 else "")
    elif kind == "break":
        at = chance.randrange(len(text) + 1)
        broken = chance.choice(_BREAKING)
        yield Edit(name, at, at, broken)
        after = text[:at] + broken + text[at:]
        where = chance.randrange(len(after) + 1)  # something else is typed before it is put right
        yield Edit(name, where, where, "x")
        yield Edit(name, where, where + 1, "")
        yield Edit(name, at, at + len(broken), "")
    elif undo:
        back: list[Edit] = []
        while undo and len(back) < 4 and undo[-1].name == (back[-1].name if back else undo[-1].name):
            back.append(undo.pop())
        yield from back
