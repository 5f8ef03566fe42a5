"""A page for every release: what came, what went, what changed, and which rules begin and end; and the comparison of two."""

from __future__ import annotations

import functools
import json

import options
from bars import engine_name, releases_of, slug
from options import Run
from sample import Sample

import rules
from servelint.engines import ENGINES


def _page(engine: str, index: int, names: dict[str, list[Run]], book: list[rules.Rule]) -> str:
    releases = releases_of(engine)
    release = releases[index]
    before = releases[index - 1] if index else None
    lines = ["---", "hide: [navigation]", "---", "", f"# {engine_name(engine)} {release}", ""]
    around = [
        f"{where}: [{releases[at]}]({slug(releases[at])}.md)"
        for where, at in (("previous", index - 1), ("next", index + 1))
        if 0 <= at < len(releases)
    ]
    lines += [" · ".join(around), ""]
    if before is None:
        return "\n".join([*lines, "The oldest release that servelint knows.", ""])
    came, went, changed, old = [], [], [], []
    for name, runs in names.items():
        now = next((run for run in runs if run[0] <= index <= run[1]), None)
        then = next((run for run in runs if run[0] <= index - 1 <= run[1]), None)
        link = f"[`{name}`](../../options/{slug(engine)}/{slug(name)}.md)"
        if now is not None and then is None:
            came.append(f"- {link}: {options._cell(now[2])}")
        elif now is None and then is not None:
            went.append(f"- {link}")
        elif now is not None and then is not None and now[2] != then[2]:
            change = options._difference(then[2], now[2])
            change = f"{then[2]} → {now[2]}" if change == now[2] else change
            changed.append(f"- {link}: {options._cell(change)}")
        if now is not None and now[3] and (then is None or not then[3]):
            old.append(f"- {link}")
    mine = [one for one in book if one.engine == engine and one.data["versions"]]
    begins = [one for one in mine if any(first == index for first, _ in one.runs)]
    ends = [one for one in mine if any(last == index - 1 for _, last in one.runs)]
    counted = [
        (f"{len(rows):,} {kind}", rows)
        for rows, kind in ((went, "removed"), (came, "new"), (old, "deprecated"), (changed, "changed"))
    ]
    lines += [
        f"Options, keys and variables since {before}: {', '.join(text for text, rows in counted if rows) or 'no change'}.",
        "",
    ]
    for title, rows in (("Removed", went), ("New", came), ("Deprecated", old)):
        lines += [f"## {title}", "", *rows, ""] if rows else []
    if changed:
        lines += ["## Changed", "", *changed, ""]
    for title, some in (("Known problems that start here", begins), ("Known problems that end here", ends)):
        if some:
            lines += [f"## {title}", "", *[f"- [{one.id}](../../rules/{one.id}.md): {one.data['title']}" for one in some], ""]
    return "\n".join(lines)


_COMPARE = """\
---
hide: [navigation, toc]
---

# Compare two releases

<form class="filters" id="compare">
<label>Engine <select name="engine">{engines}</select></label>
<label>From <select name="from"></select></label>
<label>To <select name="to"></select></label>
</form>
<div id="compared" aria-live="polite"></div>
"""


def write(sample: Sample, book: list[rules.Rule]) -> None:
    """Write the pages below `releases/` and the page that compares two releases."""
    docs = sample.docs
    folder = docs / "releases"
    folder.mkdir()
    (docs / "compare").mkdir()
    (docs / "assets" / "data").mkdir(parents=True)
    index = ["---", "hide: [navigation]", "---", "", "# Releases", "", "[Compare two releases](../compare/index.md)", ""]
    engines = []
    for engine in ENGINES:
        names = options.everything(engine)
        if not names:
            continue
        releases = releases_of(engine)
        (folder / slug(engine)).mkdir()
        for at, release in enumerate(releases):
            sample.write(folder / slug(engine) / f"{slug(release)}.md", functools.partial(_page, engine, at, names, book))
        links = [f"[{release}]({slug(engine)}/{slug(release)}.md)" for release in reversed(releases)]
        index += [f"## {engine_name(engine)}", "", " · ".join(links), ""]
        engines.append(f'<option value="{slug(engine)}">{engine_name(engine)}</option>')
        texts: dict[str, int] = {}
        rows = {
            name: [[first, last, texts.setdefault(text, len(texts))] for first, last, text, _ in runs]
            for name, runs in names.items()
        }
        mine = [[one.id, one.data["title"], one.runs] for one in book if one.engine == engine and one.data["versions"]]
        data = {"releases": releases, "texts": list(texts), "names": rows, "rules": mine}
        text = json.dumps(data, separators=(",", ":"))
        (docs / "assets" / "data" / f"{slug(engine)}.json").write_text(text, encoding="utf-8")
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")
    (docs / "compare" / "index.md").write_text(_COMPARE.replace("{engines}", "".join(engines)), encoding="utf-8")
