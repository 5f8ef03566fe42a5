"""The issues and pull requests that rules cite, and the rules that may end with them (docs/updates.md).

    python tools/upstream.py                        print the addresses, one a line
    python tools/upstream.py STATES.json            print the rules that may end, given the states of today
    python tools/upstream.py STATES.json --write    and note these states in tools/upstream.json
    python tools/upstream.py STATES.json --write --source TEXT      with where they were read

STATES.json has address -> state: "open", "closed" or "merged", or an object as the GitHub API answers (`state`, `state_reason`,
`merged`, `merged_at`), which may say `released_in`. Nothing is fetched here.
"""

from __future__ import annotations

import json
import re
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from servelint.rules.compile import every_rule
from servelint.rules.load import rule_folder

NOTED = Path(__file__).with_name("upstream.json")
STATES = ("open", "closed", "merged", "unknown")
_ADDRESS = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+")


@lru_cache(maxsize=1)
def cited() -> dict[str, list[dict[str, Any]]]:
    """Return the address of each thread that rules cite, with these rules."""
    found: dict[str, list[dict[str, Any]]] = {}
    for rule in every_rule(rule_folder()):
        text = json.dumps(rule["evidence"])
        for address in sorted(set(_ADDRESS.findall(text))):
            found.setdefault(address, []).append(rule)
    return dict(sorted(found.items()))


def noted() -> dict[str, dict[str, str]]:
    """Return address -> the state that it had when it was read, and the day."""
    found: dict[str, dict[str, str]] = json.loads(NOTED.read_text(encoding="utf-8"))["threads"]
    return found


def state_of(given: Any) -> tuple[str, str]:
    """Return a state of STATES, and what is known of how the thread ended.

    Raises:
        ValueError: It is not a state.
    """
    one = given if isinstance(given, dict) else {"state": given}
    state = str(one.get("state", "unknown")).lower()
    if one.get("merged") or one.get("merged_at"):
        state = "merged"
    if state not in STATES:
        raise ValueError(f"{state!r} is not a state (one of {', '.join(STATES)})")
    more = f", released in {one['released_in']}" if one.get("released_in") else ""
    reason = str(one.get("state_reason") or "").replace("_", " ")
    return state, (f" as {reason}" if reason and state == "closed" else "") + more


def changes(states: dict[str, Any]) -> list[str]:
    """Return a line for each rule that may end, or may hold again, given the states of today.

    Raises:
        ValueError: A state is not one.
    """
    lines: list[str] = []
    before = noted()
    for address, rules in cited().items():
        was = before.get(address, {"state": "unknown"})
        now, how = state_of(states.get(address, "unknown"))
        if now in (was["state"], "unknown"):
            continue
        known = f"was {was['state']} on {was['read']}" if "read" in was else "was not known"
        if now == "open":
            lines += [f"{rule['id']} ({rule['versions']}): {address} {known}, is open" for rule in rules if _ends(rule)]
        elif "not planned" in how or (now == "closed" and "/pull/" in address):
            continue  # nothing was changed
        else:
            text = f"{address} {known}, is {now}{how}"
            lines += [f"{rule['id']} ({rule['versions']}) may end: {text}" for rule in rules if not _ends(rule)]
    return sorted(lines)


def _ends(rule: dict[str, Any]) -> bool:
    return "<" in str(rule["versions"])


def write(states: dict[str, Any], source: str = "") -> None:
    """Note states in tools/upstream.json, and where they were read; a thread of which nothing is given keeps its own."""
    today = time.strftime("%Y-%m-%d")
    before = noted()
    threads: dict[str, dict[str, str]] = {}
    for address in cited():
        now = state_of(states.get(address, "unknown"))[0]
        threads[address] = before.get(address, {"state": "unknown"})
        if now != "unknown":
            threads[address] = {"state": now, "read": today} | ({"source": source} if source else {})
    about = json.loads(NOTED.read_text(encoding="utf-8"))["about"]
    rows = ",\n".join([f"  {json.dumps(address)}: {json.dumps(one)}" for address, one in threads.items()])
    NOTED.write_text(f'{{\n "about": {json.dumps(about)},\n "threads": {{\n{rows}\n }}\n}}\n', encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the tool."""
    source = argv[argv.index("--source") + 1 : argv.index("--source") + 2] if "--source" in argv else []
    paths = [one for one in argv if one not in ("--write", "--source", *source)]
    if not paths:
        print("\n".join(cited()))
        return 0
    try:
        states = json.loads(Path(paths[0]).read_text(encoding="utf-8"))
        if not isinstance(states, dict):
            raise ValueError("it is not an object of addresses")
        print("\n".join(changes(states) or ["no rule may end"]))
    except (OSError, ValueError) as error:
        print(f"tools/upstream.py: {paths[0]}: {error}", file=sys.stderr)
        return 2
    if "--write" in argv:
        write(states, *source)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
