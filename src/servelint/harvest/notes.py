"""Releases that the catalogs lack, and what each changes, as release notes in Markdown."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import Any

from packaging.version import Version

from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.releases import release_key, sort_key
from servelint.harvest import stale
from servelint.harvest.anchors import Source
from servelint.harvest.archives import HarvestError
from servelint.harvest.sources import published

_STARTUP = re.compile(r"(?:^|/)(?:config|configs|arg_groups|platforms)/|arg_utils|server_args|cli_args|validat")
_LATER = re.compile(r"/(?:models|transformers_utils|kernels|multimodal_gen|test)/")
_NAMES = {
    "architectures": "model architectures",
    "reasoning-parsers": "reasoning parsers",
    "tool-call-parsers": "tool call parsers",
    "speculative-methods": "speculative methods",
    "mtp-models": "models with MTP",
    "attention-backends": "attention backends",
    "kv-cache-dtypes": "KV cache formats",
    "kv-connectors": "KV connectors",
    "quantization": "quantization methods",
    "deprecated-quantization": "deprecated quantization methods",
}
_FIELDS = ("default", "choices", "type", "names", "kind", "deprecated", "list")
MOST = 60
"""The most characters of a value that notes show."""

Snapshot = dict[str, Any]
Rules = Callable[[str, str], list[stale.Rule]]


def available(path: str) -> dict[str, list[str]]:
    """The releases of engines in a JSON file: {"vllm": ["0.34.0"]}. Raises HarvestError."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, UnicodeDecodeError) as error:
        raise HarvestError(f"{path} cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise HarvestError(f"{path}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}") from error
    good = isinstance(data, dict) and all(
        isinstance(one, list) and all(isinstance(release, str) and release_key(release) for release in one)
        for one in data.values()
    )
    if not good:
        raise HarvestError(f'{path}: expected an object such as {{"vllm": ["0.34.0"]}}')
    if unknown := sorted(set(data) - {one.id for one in ENGINES.values() if one.harvested}):
        raise HarvestError(f"{path}: {unknown[0]!r} is not an engine with a catalog")
    found: dict[str, list[str]] = data
    return found


def missing(known: list[str], listed: list[str]) -> list[str]:
    """The releases newer than all that a catalog has, oldest first. Pre-releases are left out."""
    newest = max(map(sort_key, known))
    found = {one for one in listed if sort_key(one) > newest and not _early(one)}
    return sorted(found, key=sort_key)


def _early(release: str) -> bool:
    try:
        return Version(release).is_prerelease
    except ValueError:
        return False  # a numbered build


def ask(engine: str) -> list[str]:
    """The releases that the package index has. Raises HarvestError for an engine that it does not have release by release."""
    if not ENGINES[engine].python_package:
        raise HarvestError(f"{engine} is not on the package index in releases; list them with --available")
    return published(engine)


# -- what a release changes


def changes(before: Snapshot, after: Snapshot) -> str:
    """What came, went or changed between two snapshots, as Markdown."""
    parts: list[tuple[str, Snapshot, Snapshot]] = [
        ("options", _options(before), _options(after)),
        ("environment variables", before.get("env", {}), after.get("env", {})),
        ("keys of JSON options", _keys(before), _keys(after)),
    ]
    kinds = sorted({*before.get("names", {}), *after.get("names", {})} - {"mentioned-variables"})
    parts += [
        (_NAMES.get(kind, kind), before.get("names", {}).get(kind, {}), after.get("names", {}).get(kind, {})) for kind in kinds
    ]
    lines: list[str] = []
    for title, *both in parts:
        old, new = [one if isinstance(one, dict) else {name: {} for name in one} for one in both]
        added, removed = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
        changed = [(name, _fields(old[name], new[name])) for name in sorted(old.keys() & new.keys())]
        changed = [(name, fields) for name, fields in changed if fields]
        if not (added or removed or changed):
            continue
        lines += [f"**{title[0].upper()}{title[1:]}**: {len(added)} new, {len(removed)} removed, {len(changed)} changed", ""]
        lines += [f"- new: {_listed(added)}"] * bool(added) + [f"- removed: {_listed(removed)}"] * bool(removed)
        lines += [f"- `{name}`: {'; '.join(fields)}" for name, fields in changed]
        lines.append("")
    return "\n".join(lines) or "Nothing that the catalogs hold.\n"


def _options(snapshot: Snapshot) -> Snapshot:
    return {f"--{name}": body for name, body in snapshot.get("options", {}).items()}


def _keys(snapshot: Snapshot) -> Snapshot:
    return {
        f"--{name}.{key}": body for name, one in snapshot.get("json", {}).items() for key, body in one.get("keys", {}).items()
    }


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _fields(old: Any, new: Any) -> list[str]:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [] if old == new else [f"{_short(old)} -> {_short(new)}"]
    found: list[str] = []
    for name in sorted({*old, *new}, key=lambda one: (_FIELDS.index(one) if one in _FIELDS else len(_FIELDS), one)):
        one, other = old.get(name), new.get(name)
        if one == other:
            continue
        if isinstance(one, list) and isinstance(other, list):
            gone, came = [item for item in one if item not in other], [item for item in other if item not in one]
            if gone or came:
                said = [f"+ {_short(came)}"] * bool(came) + [f"- {_short(gone)}"] * bool(gone)
                found.append(f"{name} {' '.join(said)}")
            continue
        found.append(f"{name} {_short(one)} -> {_short(other)}")
    return found


def _short(value: Any) -> str:
    if value is None:
        return "none"
    text = ", ".join(map(str, value)) if isinstance(value, list) else json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) <= MOST else f"`{text[:MOST]}...`"


def startup_checks(before: Source, after: Source) -> str:
    """The refusals of the configuration that came or went, by what they print, as Markdown."""
    old, new = (_checks(one) for one in (before, after))
    said_before, said_after = (set(one.values()) for one in (old, new))
    added = sorted({text for key, text in new.items() if text not in said_before})
    removed = sorted({text for key, text in old.items() if text not in said_after})
    both = said_before & said_after
    of = {side: {(text, print_) for (_, print_), text in one.items()} for side, one in (("old", old), ("new", new))}
    changed = sorted({text for text, _ in of["old"] ^ of["new"] if text in both})
    if not (added or removed or changed):
        return ""
    lines = [f"**Start-up checks**: {len(added)} new, {len(removed)} removed, {len(changed)} with other conditions", ""]
    for word, texts in (("new", added), ("removed", removed), ("other conditions", changed)):
        if texts:
            shown = [f"- {word}: {_quoted(text)}" for text in texts]
            lines += [f"<details><summary>{word}</summary>", "", *shown, "", "</details>"]
    return "\n".join([*lines, ""])


def _checks(source: Source) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for path in source.tree.paths():
        if _STARTUP.search(path) and not _LATER.search(path):
            found.update(
                {
                    (one.function, one.fingerprint): one.prints
                    for one in source.module(path)
                    if one.kind == "raise" and one.prints
                }
            )
    return found


def _quoted(text: str) -> str:
    text = " ".join(text.split()).replace("`", "'")
    return f"`{text[:120]}{'...' if len(text) > 120 else ''}`"


# -- the whole


def new_releases(
    engines: list[str],
    listed: dict[str, list[str]] | None,
    *,
    catalog: Callable[[str], dict[str, Any]],
    add: Callable[[str, Snapshot], None],
    open_source: Callable[[str, str], Any],
    progress: Callable[[str], None],
    anchors: str = stale.FILE,
    cap: bool = False,
    texts: bool = True,
    rules: Rules = lambda engine, _: stale.open_rules(engine),
) -> str:
    """Harvest the releases that the catalogs lack, one after the other, and write what each changes.

    Args:
        engines: the engines to look at.
        listed: the releases that there are, by engine; the package index is asked where it is None.
        catalog: gives the catalog of an engine.
        add: puts a snapshot into the catalog of its engine.
        open_source: opens the source of a release.
        progress: gets a line for each step.
        anchors: the file of the anchors, which is written anew.
        cap: whether the ranges of the rules that ring are ended in their files.
        texts: whether the notes show the source of the statements that changed.
        rules: gives the rules of an engine that hold in a release and may end after it.

    Returns:
        the notes, "" without a new release.

    Raises:
        HarvestError: a release cannot be read.
    """
    sections: list[str] = []
    left: list[str] = []
    known_anchors = stale.stored(anchors) if os.path.exists(anchors) else {}
    for engine in engines:
        try:
            releases = listed.get(engine, []) if listed is not None else ask(engine)
        except HarvestError as error:
            progress(str(error))
            left.append(f"- {error}")
            continue
        known = catalog(engine)
        for release in missing(known["releases"], releases):
            progress(f"{engine} {release}: harvesting")
            sections.append(_one(engine, release, catalog, add, open_source, known_anchors, cap, texts, rules))
    if known_anchors:
        stale.write(known_anchors, anchors)
    if not sections:
        return ""
    asked = ["## Not asked", "", *left, ""] if left else []
    return "\n".join(["# New releases", "", *sections, *asked])


def _one(
    engine: str,
    release: str,
    catalog: Callable[[str], dict[str, Any]],
    add: Callable[[str, Snapshot], None],
    open_source: Callable[[str, str], Any],
    known_anchors: dict[str, Any],
    cap: bool,
    texts: bool,
    rules: Rules,
) -> str:
    from servelint.harvest import store
    from servelint.harvest.command import read

    base = catalog(engine)["releases"][-1]
    before = store.snapshot_of(catalog(engine), base)
    tree = open_source(engine, release)
    add(engine, read(tree))
    after = store.snapshot_of(catalog(engine), release)
    lines = [f"## {ENGINE_NAMES[engine]} {base} -> {release}", "", changes(before, after)]
    if engine in known_anchors:
        sources = {base: Source(open_source(engine, base)), release: Source(tree)}

        def source(wanted: str) -> Source:
            if wanted not in sources:
                sources[wanted] = Source(open_source(engine, wanted))
            return sources[wanted]

        lines.append(startup_checks(sources[base], sources[release]))
        verdicts = stale.compare(
            rules(engine, base), known_anchors[engine]["rules"], sources[base], sources[release], (before, after)
        )
        lines.append(stale.markdown(engine, base, release, verdicts, texts=texts))
        if cap:
            left = stale.cap(verdicts, base)
            lines += [f"The range of `{one}` has to be ended by hand." for one in left]
        known_anchors[engine] = {"release": release, "rules": stale.build(rules(engine, release), release, source)}
    return "\n".join(lines)
