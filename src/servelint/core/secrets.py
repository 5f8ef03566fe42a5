"""Secrets in texts: how they look, and printing a source's text without them.

A secret is recognised by how it looks (a token's known beginning, a password in a URL, a private key), by the name in front of
its value, or because a launch uses it as one (servelint.filters.masking). The mask of a secret does not tell its length.

Patterns are compiled on first use: together they would cost a check some milliseconds.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_left
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from servelint.core.source import Source, Span

MASK = "***"

Part = tuple[int, int]
"""Start and end of a secret in a text."""

_KINDS = (
    "hf_", "sk-", "nvapi-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA", "AIza", "eyJ",
    "xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "pypi-", "npm_", "r8_", "gsk_", "hvs.", "sk_live_", "rk_live_", "whsec_",
    "ya29.", "SG.", "dop_v1_", "xai-",
)  # fmt: skip
"""How tokens begin that tell by it whose they are. A mask may show it, because it is not secret."""

_BEGUN = (
    r"(?<![A-Za-z0-9_-])(?:"
    r"hf_[A-Za-z0-9]{16,}|(?:sk|xai)-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}|nvapi-[A-Za-z0-9_-]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|pypi-[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{30,}|r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|hvs\.[A-Za-z0-9_-]{20,}"
    r"|[rs]k_live_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{20,}|ya29\.[A-Za-z0-9_-]{20,}|dop_v1_[a-f0-9]{32,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})={0,2}"
)
_ADDRESS = r"""://[^\s/:@"'<>`]*:([^\s/@"'<>`]+)@"""
_QUERY = (
    r"(?i)[?&](?:[a-z0-9_.-]{0,32}(?:token|secret|passw(?:or)?d|api[-_]?key|signature|credential)|sig|key)"
    r"=([^&\s\"'<>`\\#]{6,})"
)
_HEADER = (
    r"""(?i)\b(?:x-api-key|(?:proxy-)?authorization)["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token)\s{1,4})?"""
    r"""([^\s"'\\,;]{6,})"""
)
_BEARER = r"(?i)\bbearer\s{1,4}([A-Za-z0-9._~+/=-]{16,})"
_BLOCK = r"-----BEGIN [A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END|\Z)"

_NAME_ENDS = (
    r"(?:token|secret|passwo?r?d|passphrase|api[-_]?keys?|access[-_]?key|secret[-_]?key|private[-_]?key|master[-_]?key"
    r"|auth[-_]?key|signing[-_]?key|encryption[-_]?key|credentials?|[-_]auth|[-_]pat)"
)
_OF_A_MODEL = (
    "eos", "bos", "pad", "unk", "stop", "mask", "cls", "sep", "image", "video", "audio", "special", "start", "end",
    "first", "last", "per", "next", "num", "seq", "seqs", "batch", "batched", "total", "prefill", "chunk", "chunked",
    "decode", "prompt", "input", "output", "completion", "new", "draft", "spec", "speculative", "reasoning", "thinking",
    "block", "page", "budget", "limit", "count",
)  # fmt: skip
"""What stands before `token` in names of what a model reads and writes: also in misspelt ones of options."""
_PLAIN = r"(?i)[-+]?\d+(?:[._]\d+)*(?:[kmgt]i?b?|e[-+]?\d+)?|true|false|yes|no|on|off|auto"
"""Numbers and switches, which are not secrets of options and variables except of keys and passwords."""
_NAMED = rf"(?i){_NAME_ENDS}(?=[\"']?[\s:=,])"
_BEFORE = r"[A-Za-z0-9_.-]*\Z"
_VALUE = (
    r"""["']?"""
    # NAME=VALUE, name: VALUE, --name VALUE also on the next line, "--name", "VALUE" and the same as a list of YAML, and the
    # name and the value of a variable of Kubernetes
    r"(?:\s{0,4}(?::[-=]|[:=](?!:))[ \t]{0,4}|[ \t]{1,4}(?:[\\^`]\r?\n\s{0,32})?|\s{0,4},\s{0,32}[\"']value[\"']\s{0,4}:\s{0,4}"
    r"|\s{0,4},\s{0,32}|\s{0,4}\r?\n\s{0,32}-[ \t]{1,4}|\s{0,4}\r?\n\s{0,32}value:[ \t]{1,4})"
    r"""(?P<value>(?:[^\s"',;]+|"[^"\n]*"|'[^'\n]*')+)"""
)
_TO_THE_END = r"(?:(?! #)[^\r\n])*"
_WORDS = ("token", "secret", "passw", "passphrase", "credential", "key", "auth", "pat")
"""One of these is in every name of a secret."""
_UNKNOWN = re.compile(r"""["']?(?:[$<{%&*|>!(\[]|-$|[)}\]]*$|--)""")
"""How a value begins that is looked up elsewhere, or is none."""
_PLACEHOLDER = (
    r"(?i).*(?:your|change[-_ ]?me|replace|example|placeholder|dummy|xxx|<|>|\.\.\.|insert|todo|fixme|redacted|\*\*|\{\{).*"
    r"|\$\{[a-z_]\w*\}|(?-i:\$[A-Z_][A-Z0-9_]*)"
    r"|(?:none|null|empty|true|false|token|key|api-?key|secret|password|test|local|unused|not-?needed|no-?key.*|sk-no-key.*|token-abc\d*|sk-12345?6?)?"
)
_SIGNS = (*_KINDS, "PRIVATE KEY", "uthorization", "UTHORIZATION", "earer", "EARER", "pi-key", "PI-KEY")
_SHORT, _LONG, _LONGEST = 8, 40, 8192
_REMEMBERED = 200
"""Longer names are not names, and not kept."""
_REMEMBERED_LINES = 2000
"""Longer texts are not kept."""


def mask_of(secret: str) -> str:
    """What stands for a secret: whose it is, where it tells that itself, and nothing else of it.

    >>> mask_of("hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"), mask_of("correct horse")
    ('hf_***', '***')
    """
    return next((kind for kind in _KINDS if secret.startswith(kind) and len(secret) > len(kind) + 4), "") + MASK


@lru_cache(maxsize=1 << 10)
def is_placeholder(value: str) -> bool:
    """Whether a value is to be filled in, or says that there is none."""
    return _compiled(_PLACEHOLDER).fullmatch(value) is not None or len(set(value)) < 5


def is_filled_in(value: str) -> bool:
    """Whether there is nothing in a value to hide, so that its line is clearer with it."""
    short = len(value) < _SHORT and len(set(value)) > 1
    return _compiled(_PLACEHOLDER).fullmatch(value) is not None if short else is_placeholder(value)


def is_plain(name: str, value: str) -> bool:
    """Whether a value is a number or a switch, and its name that of no key or password, which may be of digits alone."""
    ends = ("api-key", "api-keys", "password", "passphrase", "secret")
    return _compiled(_PLAIN).fullmatch(value) is not None and not name.lower().replace("_", "-").endswith(ends)


def is_distinct(secret: str) -> bool:
    """Whether a secret is one wherever its characters stand, and not also a number or a word of a language."""
    return not secret.isalpha() and _compiled(_PLAIN).fullmatch(secret) is None


def is_secret_name(name: str) -> bool:
    """Whether an option or a variable holds a secret, by how its name ends."""
    return _ends_so(name) if len(name) <= _REMEMBERED else _ends_so.__wrapped__(name)


@lru_cache(maxsize=1 << 10)
def _ends_so(name: str) -> bool:
    found = any(match.end() == len(name) for match in _compiled(_NAMED).finditer(name + ":"))
    return found and not _is_of_a_model(name.lower().replace("_", "-"))


def _is_of_a_model(name: str) -> bool:
    before = name.removesuffix("token")
    kind = before.removesuffix("-")
    return before != name and (kind.endswith(_OF_A_MODEL) or kind.rpartition("-")[2] in ("max", "min", "n"))


def may_look(text: str) -> bool:
    """Whether anything in a text, or in a part of it, may look like a secret: to ask it of many texts at once is cheap."""
    for sign in _SIGNS:  # any() takes twice the time
        if sign in text:
            return True
    return ("://" in text and "@" in text) or ("=" in text and ("?" in text or "&" in text))


def looks(text: str) -> list[Part]:
    """The parts of any text, also of a sentence, that are secrets by how they look."""
    if not may_look(text):
        return []
    found = [match.span() for match in _compiled(_BEGUN).finditer(text) if not _to_fill_in(match.group())]
    for pattern in (_ADDRESS, _QUERY, _HEADER, _BEARER):
        found += [match.span(1) for match in _compiled(pattern).finditer(text) if _may_be(match.group(1))]
    return merged([*found, *private_keys(text)])


def private_keys(text: str) -> list[Part]:
    """What stands between the first and the last line of each private key."""
    if "PRIVATE KEY" not in text:
        return []
    return [match.span(1) for match in re.finditer(_BLOCK, text, re.DOTALL) if match.group(1)]


def named(text: str) -> list[Part]:
    """The parts of a file's text, or of a command, that are secrets by the name that stands before them."""
    lower = text.lower()
    if not any(word in lower for word in _WORDS):
        return []
    found: list[Part] = []
    at = 0
    for ending in _compiled(_NAMED).finditer(text):
        if ending.start() < at:
            continue
        match = _compiled(_VALUE).match(text, ending.end(), ending.end() + _LONGEST)
        before = _compiled(_BEFORE).search(text[max(0, ending.start() - 64) : ending.start()])
        if match is None or before is None:
            continue
        name = before.group() + ending.group()
        value, (start, end) = match["value"], match.span("value")
        if len(value) > _LONG:
            at = end  # what is that long is read once
        gap = text[ending.end() : start]
        if "=" not in gap and ":" not in gap and not name.startswith("-"):
            continue  # a name and a value that are only words next to each other
        bare = value.rstrip(")]}") if not any(sign in value for sign in "([{") else value
        value, end = bare, end - (len(value) - len(bare))
        quote = value[:1] if value.startswith(("'", '"')) else ""
        if quote and value.endswith(quote) and value.count(quote) == 2:
            start, end, value = start + 1, end - 1, value[1:-1]
        elif value and not quote and ":" in gap and _plain_scalar(text, ending.start() - len(before.group())):
            rest = _compiled(_TO_THE_END).match(text, start, start + _LONGEST)
            end = rest.end() if rest is not None else end
        if value and not is_plain(name, value) and _may_be(value) and is_secret_name(name) and not is_filled_in(value):
            found.append((start, end))
    return merged(found)


def without_lookalikes(text: str) -> str:
    """A text with a mask for each part that looks like a secret."""
    return _masked(text) if len(text) <= _REMEMBERED_LINES else _masked.__wrapped__(text)


@lru_cache(maxsize=512)  # a report says the same of many files
def _masked(text: str) -> str:
    parts = looks(text)
    return replaced(text, parts) if parts else text


def without_secrets(text: str) -> str:
    """A line with a mask for each part that is a secret by how it looks or by the name that stands before it."""
    return replaced(text, merged([*named(text), *looks(text)]))


def replaced(text: str, parts: list[Part]) -> str:
    """A text with a mask for each of some parts; the parts do not overlap and stand in order."""
    return "".join(_around(text, parts))


def merged(parts: list[Part]) -> list[Part]:
    """Parts in order, with parts that touch joined to one."""
    found: list[Part] = []
    for start, end in sorted(parts):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _around(text: str, parts: list[Part]) -> Iterator[str]:
    at = 0
    for start, end in parts:
        yield text[at:start]
        yield mask_of(text[start:end])
        at = end
    yield text[at:]


def _plain_scalar(text: str, at: int) -> bool:
    """Whether nothing but a dash stands before a name on its line: then all of the line is its value."""
    return not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t-\"'")


def _may_be(value: str) -> bool:
    return _UNKNOWN.match(value) is None and not value.endswith(MASK)


def _to_fill_in(value: str) -> bool:
    """Long tokens have any word in them by chance."""
    return len(set(value)) < 8 or (len(value) < _LONG and is_placeholder(value))


@lru_cache(maxsize=32)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@lru_cache(maxsize=512)  # findings point at the same lines, and at those of files that are variants of one
def _apparent(text: str) -> tuple[Part, ...]:
    """The parts of some lines that are secrets by how they look, or by the name that stands before them."""
    return (*looks(text), *named(text))


class Redactions:
    """What of one source's text no report may print, beside what looks like a secret.

    Attributes:
        values: secrets to hide wherever they occur, the longest first.
        places: offsets (start, end) of secrets in the source.
    """

    __slots__ = ("_parts", "places", "values")

    def __init__(self, values: tuple[str, ...] = (), places: tuple[Part, ...] = ()) -> None:
        self.values = values
        self.places = places
        self._parts: dict[tuple[int, int], list[Part]] = {}

    def parts(self, source: Source, first: int, last: int) -> list[Part]:
        """Offsets of the secrets in and around some lines of the source (1-based, inclusive).

        A name may stand in the line before its value, so that the neighbouring lines are looked at too.
        """
        key = (first, last)
        if key not in self._parts:
            starts = source.line_starts
            start = starts[max(first - 3, 0)]
            end = starts[last + 1] if last + 1 < len(starts) else len(source.text)
            text = source.text[start:end]
            alike = _apparent(text) if len(text) <= _REMEMBERED_LINES else _apparent.__wrapped__(text)
            near = [*alike, *occurrences(text, self.values)]
            found = [*self.places, *[(left + start, right + start) for left, right in near]]
            self._parts[key] = merged([*found, *private_keys(source.text)])
        return self._parts[key]


class MaskedLine:
    """A line as a report may print it, with a mask for each secret.

    Attributes:
        text: the line.
    """

    __slots__ = ("_ends", "_parts", "text")

    def __init__(self, line: str, parts: list[Part]) -> None:
        self._parts = parts
        self._ends: list[tuple[int, int]] = []
        moved = 0
        for start, end in parts:
            width = len(mask_of(line[start:end]))
            self._ends.append((start + moved, start + moved + width))
            moved += width - (end - start)
        self.text = replaced(line, parts) if parts else line

    def at(self, column: int, *, end: bool = False) -> int:
        """The offset in the masked line of a 0-based column of the file.

        A column within a secret maps to the beginning of its mask; with `end`, to the end of the mask.
        """
        index = bisect_left(self._parts, (column,)) - 1
        if index < 0:
            return column
        (_, stop), (left, right) = self._parts[index], self._ends[index]
        if column < stop:
            return right if end else left
        return column - stop + right


def masked_line(source: Source, line: int) -> MaskedLine:
    """A 1-based line as a report may print it."""
    text = source.line_text(line)
    if not text:
        return MaskedLine(text, [])
    start = source.line_starts[line - 1]
    return MaskedLine(text, _within(source.redactions.parts(source, line, line), start, start + len(text)))


def masked_span(span: Span) -> str:
    """The characters of a span as a report may print them."""
    parts = span.source.redactions.parts(span.source, span.line, span.end_line)
    return replaced(span.text, _within(parts, span.start, span.end)) if parts else span.text


def masked_text(text: str, source: Source) -> str:
    """A text made from a source's, such as a line that a fix writes, as a report may print it."""
    return replaced(text, merged([*looks(text), *named(text), *occurrences(text, source.redactions.values)]))


def masked_value(name: str, value: str) -> str:
    """A value as a listing prints it. `name`: the option or variable that it belongs to, "" for none."""
    if name and value and is_secret_name(name.lstrip("-")) and not is_plain(name, value) and not is_filled_in(value):
        return mask_of(value)
    return replaced(value, merged([*looks(value), *named(value)]))


def without(text: str, secrets: tuple[str, ...]) -> str:
    """A text with a mask instead of each of some secrets."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, mask_of(secret))
    return text


def without_in(data: Any, secrets: tuple[str, ...]) -> Any:
    """JSON-like data with a mask instead of each of some secrets, in every string value."""
    if isinstance(data, str):
        return without(data, secrets)
    if isinstance(data, dict):
        return {name: without_in(value, secrets) for name, value in data.items()}
    if isinstance(data, list):
        return [without_in(one, secrets) for one in data]
    return data


def holds_secret(text: str, secrets: tuple[str, ...]) -> bool:
    """Whether a text contains one of some secrets, or anything that looks like one."""
    return any(secret in text for secret in secrets) or bool(looks(text))


def occurrences(text: str, secrets: tuple[str, ...]) -> list[Part]:
    """Where some secrets stand in a text, in plain or as base64."""
    found: list[Part] = []
    for secret in secrets:
        for written in (secret, binascii.b2a_base64(secret.encode("utf-8", "surrogatepass"), newline=False).decode()):
            at = text.find(written)
            while at != -1:
                found.append((at, at + len(written)))
                at = text.find(written, at + len(written))
    return found


def _within(parts: list[Part], start: int, end: int) -> list[Part]:
    """The parts between two offsets, counted from the first."""
    return [(max(left, start) - start, min(right, end) - start) for left, right in parts if left < end and right > start]
