"""llms.txt of the site (https://llmstxt.org): where a language model finds what, and the pages that it links to as Markdown."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.catalog import load
from servelint.rules.load import rules

_SENTENCE = re.compile(r"[^`]*?(?:`[^`]*`[^`]*?)*?\.(?=\s|$)")


def text(root: Path, groups: Mapping[str, Sequence[str]]) -> str:
    """Return llms.txt. groups: title -> the names of the pages of docs/; the last group is optional reading."""
    readme = (root / "README.md").read_text(encoding="utf-8").split("\n\n")
    lines = ["# servelint", "", f"> {' '.join(readme[1].split())}", ""]
    lines += [
        "Options of inference engines change from release to release. `servelint explain vllm --kv-cache-dtype` prints the",
        "history of one, `servelint check --format agent FILE` prints a line for each problem of a file, with the exact edit.",
        "",
        "## Rules and options",
        "",
        "- [When to call servelint, and how](SKILL.md): a skill for coding assistants",
        *[f"- [Rules of {area}](rules/index.html): {count}" for area, count in _areas()],
        *_engines(),
        "- [Compare two releases](compare/index.html): what an upgrade adds, removes and changes",
        "- [What works together](matrix/index.html): speculative decoding, KV cache formats, attention backends",
    ]
    for title, names in groups.items():
        lines += ["", f"## {'Optional' if title == [*groups][-1] else title}", ""]
        lines += [f"- [{one[0]}](docs/{name}.md){one[1]}" for name in names for one in (_page(root / "docs" / f"{name}.md"),)]
    return "\n".join([*lines, ""])


def _areas() -> list[tuple[str, str]]:
    counts = Counter([rule.id.partition("/")[0] for rule in rules()])
    return [(area, f"{count} rule{'s' * (count > 1)}") for area, count in sorted(counts.items())]


def _engines() -> list[str]:
    lines = []
    for engine in ENGINES:
        catalog = load(engine)
        if catalog is not None:
            folder = re.sub(r"[^A-Za-z0-9_.-]", "-", engine)
            names = len(catalog.spellings()) + len(catalog.variables())
            what = f"{names} option names and variables, releases {catalog.releases[0]} to {catalog.releases[-1]}"
            lines.append(f"- [Options of {ENGINE_NAMES[engine]}](options/{folder}/index.html): {what}")
    return lines


def _page(path: Path) -> tuple[str, str]:
    """Return the title of a page, and its first sentence after a colon."""
    title, *blocks = path.read_text(encoding="utf-8").split("\n\n")
    first = next((" ".join(block.split()) for block in blocks if re.match(r"(?!```)[`\w]", block)), "")
    found = _SENTENCE.match(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first))
    return title.removeprefix("# "), f": {found[0].rstrip('.')}" if found else ""


def write(root: Path, out: Path, groups: Mapping[str, Sequence[str]]) -> None:
    """Write llms.txt and the Markdown that it links to into the folder of the built site."""
    (out / "llms.txt").write_text(text(root, groups), encoding="utf-8")
    shutil.copy(root / "SKILL.md", out / "SKILL.md")
    for names in groups.values():
        for name in names:
            shutil.copy(root / "docs" / f"{name}.md", out / "docs" / f"{name}.md")
