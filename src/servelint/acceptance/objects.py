"""Complaints about JSON objects: keys that the release does not know, and values that its fields refuse."""

from __future__ import annotations

from servelint.acceptance.complaint import Complaint
from servelint.acceptance.wording import Here, Life, similar
from servelint.engines.catalog import Keys
from servelint.finding import Edit
from servelint.json_nodes import ARRAY, OBJECT, STRING, UNKNOWN, WORD, JsonNode, parse
from servelint.text import Text


def complaints(here: Here) -> list[Complaint]:
    found: list[Complaint] = []
    for setting in here.config.reading.arguments.every:
        option = setting.option
        if option is None or not option.json:
            continue
        keys = here.catalog.keys(option.json, here.index)
        if keys is None:
            continue
        if "." in setting.name:
            key = setting.name.partition(".")[2].partition(".")[0]
            if key not in keys.known and "." in setting.word.text.flat:
                at = setting.word.text.flat.index(".") + 1
                written = setting.word.text.cut(at, at + len(key))
                found.append(_unknown(here, setting.spelling.partition(".")[0], key, keys, written))
            elif setting.name.count(".") == 1 and not setting.spelling.endswith("+") and setting.value is not None:
                found += _single(here, setting.spelling.partition(".")[0], key, setting.value, keys)
            continue
        node = (
            here.config.reading.parsed(setting.name)
            if here.config.reading.arguments.settings.get(setting.name) is setting
            else None
        )
        if node is not None and node.kind in (ARRAY, STRING) and _validated(here, keys):
            message = f"{setting.spelling} is {_NAMES.get(node.kind, 'a text')} here; {here.release} takes an object"
            found.append(Complaint("invalid-json-value", node.text.span(), message, "write an object", "not an object"))
        if node is not None and node.kind == OBJECT:
            found += _kinds(here, setting.spelling, node, keys)
            found += [
                _unknown(here, setting.spelling, name, keys, member[0].content)
                for name, member in node.members.items()
                if name not in keys.known and isinstance(member[0], JsonNode)
            ]
    return found


_NAMES = {OBJECT: "an object", ARRAY: "a list"}
_SINGLE = "a single value"


def _validated(here: Here, keys: Keys) -> bool:
    """Whether the release holds each field against its type: from 0.16 the classes are pydantic's and refuse unknown keys."""
    return keys.extra == "reject" and here.engine == "vllm" and bool(here.config.at_least("0.16"))


def _kinds(here: Here, spelling: str, node: JsonNode, keys: Keys) -> list[Complaint]:
    """Values that no conversion makes fit: a list or an object where there is to be none, or the other way round."""
    found: list[Complaint] = []
    for name, (_, value) in node.members.items() if _validated(here, keys) else ():
        if value.kind != UNKNOWN and not (value.kind == WORD and value.value is None):
            found += _kind(here, spelling, name, value.kind, value.text, keys)
    return found


def _single(here: Here, spelling: str, name: str, text: Text, keys: Keys) -> list[Complaint]:
    """The same for the value of one key, which is JSON or else a text."""
    if not text.known or not text.flat or not _validated(here, keys):
        return []
    node = parse(text)
    kind = node.kind if isinstance(node, JsonNode) else STRING
    return [] if text.flat.strip() == "null" else _kind(here, spelling, name, kind, text, keys)


def _kind(here: Here, spelling: str, name: str, kind: str, text: Text, keys: Keys) -> list[Complaint]:
    types = keys.known.get(name, {}).get("type", "any")
    wanted = ({types} if isinstance(types, str) else set(types)) - {"null"}
    given = {OBJECT: "object", ARRAY: "list"}.get(kind)
    if kind == STRING and wanted & {"list", "object"}:
        return []  # some fields split a text themselves
    if "any" in wanted or (given in wanted if given is not None else bool(wanted - {"object", "list"})):
        return []
    expected = " or ".join(sorted({{"object": "an object", "list": "a list"}.get(one, _SINGLE) for one in wanted}))
    message = f"{name} of {spelling} is {_NAMES.get(kind, _SINGLE)} here; {here.release} takes {expected}"
    return [Complaint("invalid-json-value", text.span(), message, f"write {expected}", f"not {expected}")]


def _unknown(here: Here, spelling: str, key: str, keys: Keys, text: Text) -> Complaint:
    refused = keys.extra == "reject"
    what = "refuses it" if refused else "ignores it"
    engine = here.name
    rule = "unknown-json-key" if refused else "ignored-json-key"
    runs = keys.runs.get(key)
    if runs:
        life = Life(here.catalog, runs, here.index)
        return Complaint(
            rule,
            text.span(),
            f"{key} of {spelling} {life.told(engine)}; {here.release} {what}",
            f"delete it, or use {life.use(engine)}",
            "not a key of this release",
        )
    close = similar(key, keys.known, 0.75)
    written = text.written
    return Complaint(
        rule,
        text.span(),
        f"{key} is no key of {spelling} in {here.release}, which {what}",
        f"write {close}, if that is meant" if close else "delete it",
        "no such key",
        edits=[Edit(written, close)] if close and written is not None else [],
        title=f"write {close}" if close else "",
    )
