"""Ask an engine whether it takes the translations of the rule book's examples.

    python tools/translations.py --engine sglang --release 0.5.23 --count 300 --oracle ~/oracle/oracle.py

translates launches of other engines from the rule book's examples and `examples/`, drops those whose words are not all known,
and compares what the oracle (docs/verdicts.md) says of the translation with what servelint says of it. It prints each
translation that the engine refuses and servelint does not, and the figures. Without --oracle, servelint alone judges.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines.registry import ENGINES
from servelint.readers import read
from servelint.readers.discover import files, read_file
from servelint.rule_examples import example_text, unmarked
from servelint.rules.compile import expand, read_rules, rule_files
from servelint.translate import MODEL, Translation, translate

ROOT = Path(__file__).resolve().parent.parent


def translations(engine: str, release: str, count: int, seed: int = 1, folders: list[str] | None = None) -> list[Translation]:
    """Translations of launches of other engines whose words are known, each once; the same for one seed."""
    sources: list[tuple[Source, str]] = []
    book = str(ROOT / "rules")
    for path in rule_files(book):
        for rule in (rule for data in read_rules(path, book) for rule in expand(data)):
            refused = rule.get("impact") == "crash-at-start"  # a value that one engine refuses is no better in another
            examples = [*rule["examples"]["good"], *([] if refused else rule["examples"]["bad"])]
            sources += [(unmarked(*example_text(one))[0], str(one.get("version") or "")) for one in examples]
    opened = [read_file(path) for path in files([str(ROOT / "examples"), *(folders or [])], [])]
    sources += [(source, "") for source in opened if isinstance(source, Source)]
    sources.sort(key=lambda one: sha256(f"{seed} {one[0].text}".encode()).digest())  # a new example moves no other
    found: dict[str, Translation] = {}
    for source, version in sources:
        if len(found) >= count:
            break
        for launch in read(source).launches:
            if launch.engine == engine or launch.fragment or not launch.started:
                continue
            named = {launch.engine: version} if version and launch.engine in ENGINES else {}
            one = translate(launch, engine, release, Settings(engine_versions=named))
            if all(word.text.known for word in one.target.argv):
                found.setdefault(" ".join(word.shown for word in one.target.argv), one)
    return list(found.values())[:count]


def ask(oracle: str, engine: str, release: str, cases: list[Translation]) -> list[dict[str, Any]]:
    """What the engine says of each translation."""
    with tempfile.TemporaryDirectory() as folder:
        batch, out = Path(folder, "cases.jsonl"), Path(folder, "verdicts.jsonl")
        rows = [
            {"id": str(at), "engine": engine, "argv": [word.shown for word in one.target.argv]} for at, one in enumerate(cases)
        ]
        batch.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        command = [oracle, "--engine", engine, "--version", release, "--batch", str(batch), "--out", str(out)]
        subprocess.run([sys.executable, *command] if oracle.endswith(".py") else command, check=True)
        verdicts = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return sorted(verdicts, key=lambda verdict: int(verdict["id"]))


def main() -> int:
    """Compare, and print the figures. Returns 1 if the parser refuses a translation that servelint takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--release", required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oracle", default="")
    parser.add_argument("folders", nargs="*", help="folders with more files to translate")
    options = parser.parse_args()
    cases = translations(options.engine, options.release, options.count, options.seed, options.folders)
    clean = [one for one in cases if not one.findings]
    print(f"{len(cases)} translations, {len(clean)} of them without an error of servelint's own")
    if not options.oracle:
        return 0
    whole = [one for one in clean if MODEL not in [word.shown for word in one.target.argv]]
    verdicts = ask(options.oracle, options.engine, options.release, whole)
    refused = [
        (one, verdict)
        for one, verdict in zip(whole, verdicts, strict=True)
        if not verdict["ok"] and not verdict.get("harness_suspect")
    ]
    for one, verdict in refused:
        print(f"{verdict['stage']}: {' '.join(word.shown for word in one.target.argv)}\n    {str(verdict['error'])[:200]}")
    parsed = sum(verdict["stage"] != "parse" for _, verdict in refused) + len(whole) - len(refused)
    print(f"the engine's parser takes {parsed} of {len(whole)}, its config {len(whole) - len(refused)}")
    return int(parsed < len(whole))


if __name__ == "__main__":
    raise SystemExit(main())
