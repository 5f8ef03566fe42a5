"""Writes models/architectures.json: of each config.json what servelint.models.config_json reads, one model a line.

usage: python tools/architectures.py ENTRIES.jsonl OUTPUT.json

An entry has name, config (a config.json), sources (where it was read), and, where they are known, quant (a
hf_quant_config.json), checkpoint (bytes of the published files), vision (parameters of the encoder), also (names of
checkpoints with the same shapes) and alone (true if other publishers' checkpoints of its name are other ones). What OUTPUT.json
already has is kept. An entry without config adds its also and sources to one of those.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from servelint.models.config_json import described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_LAYER = re.compile(r"(.*?\blayers\.)(\d+)(\..*|\*.*|$)")
_EXPERT = re.compile(r"\.experts\.\d+\.")
_SAYS_NO = ("tie_word_embeddings",)
"""Keys that say something where they are false, because some model types have them true by default."""
_LISTS = ("ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers", "llm_int8_skip_modules", "targets")


class _Read(dict[str, "Any"]):
    """An object that remembers which of its keys were asked for."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__({key: _Read(value) if isinstance(value, dict) else value for key, value in data.items()})
        self.asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def items(self) -> Any:
        self.asked.update(self)
        return super().items()

    def values(self) -> Any:
        self.asked.update(self)
        return super().values()

    def kept(self) -> dict[str, Any]:
        """What was asked for, without what says nothing."""
        found = {}
        for key, value in super().items():
            if key in self.asked and value is not None and value != [] and (value is not False or key in _SAYS_NO):
                found[key] = value.kept() if isinstance(value, _Read) else value
        return found


def packed(value: list[Any]) -> Any:
    """A list as the shortest list that repeats to it, or as runs, where that is shorter."""
    if len(value) < 6:
        return value
    for size in range(1, len(value) // 2 + 1):
        if all(one == value[index % size] for index, one in enumerate(value)):
            return {"repeat": value[:size], "length": len(value)}
    runs: list[list[Any]] = []
    for one in value:
        if runs and runs[-1][0] == one:
            runs[-1][1] += 1
        else:
            runs.append([one, 1])
    return {"runs": runs} if len(runs) <= len(value) // 2 else value


def names(value: Iterable[str], layers: int) -> list[str]:
    """Names of modules, those that differ in the number of the layer alone in one: `layers.*.x`, or a pattern of numbers."""
    found: dict[tuple[str, str], set[int]] = {}
    for one in value:
        one = _EXPERT.sub(".experts.*.", one)
        match = None if one.startswith("re:") else _LAYER.fullmatch(one)
        if match is None:
            found.setdefault((one, ""), set())
        else:
            found.setdefault((match.group(1), match.group(3)), set()).add(int(match.group(2)))
    out = []
    for (before, after), numbers in found.items():
        if not numbers:
            out.append(before)
        elif len(numbers) == layers:
            out.append(f"{before}*{after}")
        else:
            several = "|".join(map(str, sorted(numbers)))
            where = r".*mtp\.layers" if "mtp" in before else r"(?!.*mtp).*layers"
            out.append(f"re:{where}\\.({several}){re.escape(after).replace(chr(92) + '*', '.*')}")
    return out


def _of_most(quantized: dict[str, Any]) -> dict[str, str]:
    """Entries of modules, as JSON: of the experts of a layer that of most of them."""
    found: dict[str, dict[str, int]] = {}
    for name, one in quantized.items():
        several = found.setdefault(_EXPERT.sub(".experts.*.", name), {})
        text = json.dumps(one, sort_keys=True)
        several[text] = several.get(text, 0) + 1
    return {name: max(several, key=lambda one: several[one]) for name, several in found.items()}


def _shorter(config: dict[str, Any], layers: int) -> dict[str, Any]:
    """The same with its lists packed."""
    out: dict[str, Any] = {}
    for key, value in config.items():
        if key == "quantized_layers" and isinstance(value, dict):
            by_entry: dict[str, list[str]] = {}
            for name, one in _of_most(value).items():
                by_entry.setdefault(one, []).append(name)
            out[key] = {name: json.loads(one) for one, several in by_entry.items() for name in names(several, layers)}
        elif isinstance(value, dict):
            out[key] = _shorter(value, layers)
        elif isinstance(value, list) and key in _LISTS:
            out[key] = names([one for one in value if isinstance(one, str)], layers)
        elif isinstance(value, list) and not any(isinstance(one, dict) for one in value):
            out[key] = packed(value)
        else:
            out[key] = value
    return out


def entry(given: dict[str, Any]) -> dict[str, Any] | None:
    """What is kept of an entry; None if its config is not described."""
    config = dict(given["config"])
    own = config.get("quantization_config")
    quant = given.get("quant", {}).get("quantization")
    if quant and not (isinstance(own, dict) and own.get("quant_algo")):
        config["quantization_config"] = {"quant_method": "modelopt", **quant}
    read = _Read(config)
    found = described(given["name"], read)
    if found is None:
        return None
    kept = _shorter(read.kept(), found.layers)
    out: dict[str, Any] = {"config": kept}
    out.update({key: given[key] for key in ("checkpoint", "vision", "also", "alone") if given.get(key)})
    out["sources"] = given["sources"]
    return out


def extend(kept: dict[str, Any], given: dict[str, Any]) -> None:
    """Adds names and sources to what is kept of an entry."""
    for key in ("also", "sources"):
        kept[key] = [*kept.get(key, []), *(one for one in given.get(key, []) if one not in kept.get(key, []))]
    kept["sources"] = kept.pop("sources")  # last, as `entry` has it


def main(argv: list[str]) -> int:
    """Writes the file; tells the entries that are not described."""
    output = Path(argv[1])
    models: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))["models"] if output.exists() else {}
    left = 0
    with open(argv[0], encoding="utf-8") as file:
        for line in file:
            given = json.loads(line)
            if "config" not in given:
                extend(next(one for name, one in models.items() if given["name"] in (name, *one.get("also", []))), given)
                continue
            found = entry(given)
            if found is None:
                left += 1
                print(f"not described: {given['name']} ({given['config'].get('model_type')})", file=sys.stderr)
            else:
                models[given["name"]] = found
    about = "What servelint.models.config_json reads of each config.json; written by tools/architectures.py."
    lines = [
        f" {json.dumps(name)}: {json.dumps(models[name], separators=(',', ':'))}" for name in sorted(models, key=str.lower)
    ]
    text = '{"about": ' + json.dumps(about) + ',\n"models": {\n' + ",\n".join(lines) + "\n}}\n"
    output.write_text(text, encoding="utf-8")
    return 1 if left else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
