"""A rule's page in Markdown, from its own file. tools/pages.py writes them all."""

from __future__ import annotations

import json
from typing import Any

from servelint.engines import ENGINE_NAMES
from servelint.rules.compile import on_gpus
from servelint.rules.ranges import describe

_MARKS = str.maketrans("", "", "\u27e6\u27e7")


def markdown(data: dict[str, Any]) -> str:
    """The page of a rule: what it reports and why, its releases, evidence and examples, how to suppress it."""
    engine = ENGINE_NAMES.get(data["engine"], "any engine,")
    bounds = f" (`{data['versions']}`)" if data["versions"] else ""
    lines = [
        f"# {data['id']}",
        "",
        f"{data['title']}.",
        "",
        "| | |",
        "|---|---|",
        f"| severity | {data['severity']} |",
        f"| confidence | {data['confidence']} |",
        f"| impact | {impacts(data)} |",
        f"| releases | {engine} {describe(str(data['versions']))}{bounds} |",
        f"| profile | {data.get('profile', 'default')} |",
        "",
        "## Why",
        "",
        data["why"].strip(),
        "",
    ]
    if data["advice"]:
        lines += ["## What to write instead", "", f"{data['advice'][:1].upper()}{data['advice'][1:]}.", ""]
    if "fix" in data:
        safe = "`--fix` applies it" if data["fix"]["safe"] else "`--unsafe-fixes` applies it; it changes what the launch does"
        lines += [f"{safe}.", ""]
    if "options" in data:
        lines += ["## Options", "", f'In a settings file under `[rule."{data["id"]}"]`:', ""]
        lines += [f"- `{name} = {json.dumps(option['is'])}`: {option['says']}" for name, option in data["options"].items()]
        lines.append("")
    lines += ["## Evidence", ""]
    for entry in data["evidence"]:
        place = f"<{entry['url']}>" if "url" in entry else f"`{entry['source']}`"
        lines.append(f"- {place}: {entry['says']}")
    for kind, title in (("bad", "Reported"), ("good", "Not reported")):
        examples = data["examples"][kind]
        lines += ["", f"## {title}"] if examples else []
        for example in examples:
            lines += ["", *_example(engine, example)]
    comment = f"# servelint: ignore[{data['id']}] why"
    lines += ["", "## How to suppress it", "", "On the line of the finding, above it, or above its launch:", ""]
    lines += [f"    {comment}", ""]
    return "\n".join(lines)


def impacts(data: dict[str, Any]) -> str:
    """The impact of a rule, with the releases in which it differs."""
    others = [f"{impact} ({describe(text)})" for text, impact in data.get("impact-in", {}).items()]
    return ", ".join([data["impact"], *others])


def _example(engine: str, example: dict[str, Any]) -> list[str]:
    if "text" in example:
        title, text = f"`{example['file']}`", example["text"]
    else:
        title = f"{engine} {example['version']}" if "version" in example else f"{engine}, release not known"
        title += on_gpus(example)
        text = "".join([f"{name}={value} " for name, value in example.get("env", {}).items()]) + example["run"]
    return [f"{title}:", "", *[f"    {line}".rstrip() for line in text.translate(_MARKS).splitlines()]]
