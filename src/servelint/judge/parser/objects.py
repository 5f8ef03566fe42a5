"""Complaints about JSON objects: keys that the release does not know, and values that its fields refuse."""

from __future__ import annotations

from servelint.core.text import Text
from servelint.engines.argv import Setting
from servelint.engines.catalog import Keys
from servelint.fixes.change import Change, written_at
from servelint.judge.parser.complaint import Complaint
from servelint.judge.parser.fields import expected
from servelint.judge.parser.wording import Here, Life, similar
from servelint.syntax.json import ARRAY, OBJECT, STRING, UNKNOWN, WORD, JsonNode, parse


def complaints(here: Here) -> list[Complaint]:
    found: list[Complaint] = []
    arguments = here.config.reading.arguments
    for setting in arguments.every:
        option = setting.option
        keys = here.catalog.keys(option.json, here.index) if option is not None and option.json else None
        if option is None or keys is None:
            continue
        if "." in setting.name:
            found += _path(here, setting, keys)
            continue
        node = here.config.reading.parsed(setting.name) if arguments.settings.get(setting.name) is setting else None
        level = setting.spelling == "-O"  # of optimization: an object is made of the number
        if node is not None and node.kind not in (OBJECT, UNKNOWN) and not _is_null(node) and not level and here.checks_fields:
            message = f"{setting.spelling} is {_NAMES.get(node.kind, _SINGLE)} here; {here.release} takes an object"
            found.append(Complaint("invalid-json-value", node.text.span(), message, "write an object", "not an object"))
        if node is not None and node.kind == OBJECT:
            found += _object(here, setting.spelling, option.json, keys, node)
    return found


def _is_null(node: JsonNode) -> bool:
    return node.kind == WORD and node.value is None


def _path(here: Here, setting: Setting, keys: Keys) -> list[Complaint]:
    """A single key, `--option.key value`."""
    spelling, _, path = setting.spelling.partition(".")
    key = path.rstrip("+").partition(".")[0]
    flat = setting.word.text.flat
    if keys.get(key) is None:
        at = flat.find(".") + 1
        return [_unknown(here, spelling, key, keys, setting.word.text.cut(at, at + len(key)))] if at else []
    if "." in path or path.endswith("+") or setting.value is None:
        return []
    return _single(here, spelling, key, setting.value, keys)


def _object(here: Here, spelling: str, name: str, keys: Keys, node: JsonNode) -> list[Complaint]:
    """An object and those inside it. name: what the catalog calls it, `compilation-config.pass_config`"""
    found: list[Complaint] = []
    for key, (written, value) in node.members.items():
        body = keys.get(key)
        if body is None:
            found.append(_unknown(here, spelling, key, keys, written.content, f"{name}.{key}"))
            continue
        if value.kind != UNKNOWN and not _is_null(value) and here.checks_fields:
            found += _kind(here, spelling, key, value.kind, value.text, keys) or _field(here, spelling, key, value, keys)
        inner = here.catalog.inner(f"{name}.{key}", body, here.index)
        if inner is not None and value.kind == OBJECT:
            found += _object(here, f"{spelling}.{key}", f"{name}.{key}", inner, value)
    return found


_NAMES = {OBJECT: "an object", ARRAY: "a list"}
_SINGLE = "a single value"
_SET_BY_ENGINE = ("target_model_config", "target_parallel_config", "draft_model_config", "draft_parallel_config")
"""Fields whose value the engine makes itself, whatever is written."""


def _single(here: Here, spelling: str, name: str, text: Text, keys: Keys) -> list[Complaint]:
    """The value of one key, which is JSON or else a text."""
    if not text.known or not text.flat or not here.checks_fields:
        return []
    node = parse(text)
    if not isinstance(node, JsonNode):
        node = JsonNode(STRING, text, text.flat)
    if text.flat.strip() == "null":
        return []
    return _kind(here, spelling, name, node.kind, text, keys) or _field(here, spelling, name, node, keys)


def _kind(here: Here, spelling: str, name: str, kind: str, text: Text, keys: Keys) -> list[Complaint]:
    """A value that no conversion makes fit: a list or an object where there is to be none, or the other way round."""
    if name.endswith(_SET_BY_ENGINE):
        return []
    types = (keys.get(name) or {}).get("type", "any")
    wanted = ({types} if isinstance(types, str) else set(types)) - {"null"}
    given = {OBJECT: "object", ARRAY: "list"}.get(kind)
    if kind == STRING and wanted & {"list", "object"}:
        return []  # some fields split a text themselves
    if "any" in wanted or (given in wanted if given is not None else bool(wanted - {"object", "list"})):
        return []
    expected = " or ".join(sorted({{"object": "an object", "list": "a list"}.get(one, _SINGLE) for one in wanted}))
    message = f"{name} of {spelling} is {_NAMES.get(kind, _SINGLE)} here; {here.release} takes {expected}"
    return [Complaint("invalid-json-value", text.span(), message, f"write {expected}", f"not {expected}")]


def _field(here: Here, spelling: str, name: str, node: JsonNode, keys: Keys) -> list[Complaint]:
    """A single value that the field does not take."""
    body = keys.get(name) or {}
    wanted = expected(body, node)
    if wanted is None:
        return []
    message = f"{node.text.flat} is no value of {name} of {spelling} in {here.release}"
    choices = [str(one) for one in body.get("choices", ()) if one is not None]
    close = similar(str(node.value), choices) if isinstance(node.value, str) else None
    written = node.content.written
    return [
        Complaint(
            "invalid-json-value",
            node.content.span() or node.text.span(),
            message,
            f"write {close}, if that is meant" if close else f"write {wanted}",
            "not taken",
            change=written_at(written, close) if close else None,
            title=f"write {close}" if close else "",
            new="choices" in body and close is None and not _ever(keys, name, node.value),
        )
    ]


def _ever(keys: Keys, name: str, value: object) -> bool:
    """Whether a value is a choice of any release."""
    return any(value in body.get("choices", ()) for _, _, body in keys.runs.get(name, ()))


def _unknown(here: Here, spelling: str, key: str, keys: Keys, text: Text, operand: str = "") -> Complaint:
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
            change=Change(key=operand) if operand and not refused and life.after is None else None,
            title=f"delete {key}",
            safe=True,
        )
    close = similar(key, keys.known, 0.75)
    written = text.written
    return Complaint(
        rule,
        text.span(),
        f"{key} is no key of {spelling} in {here.release}, which {what}",
        f"write {close}, if that is meant" if close else "delete it",
        "no such key",
        change=written_at(written, close) if close else Change(key=operand) if operand and not refused else None,
        title=f"write {close}" if close else f"delete {key}",
        safe=close is None,
    )
