"""Complaints about JSON objects: keys that the release does not know, and values that its fields refuse."""

from __future__ import annotations

from servelint.acceptance.complaint import Complaint
from servelint.acceptance.wording import Here, Life, similar
from servelint.engines.catalog import Keys
from servelint.finding import Edit
from servelint.json_nodes import ARRAY, OBJECT, UNKNOWN, WORD, JsonNode
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
            continue
        node = (
            here.config.reading.parsed(setting.name)
            if here.config.reading.arguments.settings.get(setting.name) is setting
            else None
        )
        if node is not None and node.kind == OBJECT:
            found += _kinds(here, setting.spelling, node, keys)
            found += [
                _unknown(here, setting.spelling, name, keys, member[0].content)
                for name, member in node.members.items()
                if name not in keys.known and isinstance(member[0], JsonNode)
            ]
    return found


def _kinds(here: Here, spelling: str, node: JsonNode, keys: Keys) -> list[Complaint]:
    """Values that no conversion makes fit: a list or an object where there is to be none, or the other way round.

    From 0.16 the classes are pydantic's and refuse unknown keys; how earlier ones take a value is not the same for all.
    """
    if keys.extra != "reject" or here.engine != "vllm" or not here.config.at_least("0.16"):
        return []
    found: list[Complaint] = []
    for name, (_, value) in node.members.items():
        types = keys.known.get(name, {}).get("type", "any")
        wanted = {types} if isinstance(types, str) else set(types)
        is_ = {OBJECT: "object", ARRAY: "list", UNKNOWN: "", WORD: "word"}.get(value.kind, "single")
        if "any" in wanted or not is_ or (is_ == "word" and value.value is None):
            continue
        fits = is_ in wanted if is_ in ("object", "list") else bool(wanted - {"object", "list", "null"})
        if not fits:
            said = {"object": "an object", "list": "a list"}
            expected = " or ".join([said.get(one, "a single value") for one in sorted(wanted - {"null"})])
            message = f"{name} of {spelling} is {said.get(is_, 'a single value')} here; {here.release} takes {expected}"
            found.append(Complaint("invalid-json-value", value.text.span(), message, f"write {expected}", f"not {expected}"))
    return found


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
    close = similar(key, keys.known)
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
