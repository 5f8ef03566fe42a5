"""Paths, columns, fingerprints and addresses of evidence as reports and the tools that read them need them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from servelint.core.finding import Edit, Finding
from servelint.core.secrets import holds_secret
from servelint.core.source import Source
from servelint.engines import ENGINES
from servelint.engines.catalog import has_catalog, load
from servelint.engines.registry import derived
from servelint.report.clean import escape


def relative(path: str) -> str:
    """Return a path relative to the current folder where it lies below it, without `./` and with slashes only."""
    if not path.isprintable():
        path = "".join([escape(char) if _is_no_path(char) else char for char in path])
    if os.path.isabs(path):
        below = os.path.relpath(path)
        path = path if below == os.pardir or below.startswith(os.pardir + os.sep) else below
    return os.path.normpath(path).replace(os.sep, "/")


def _is_no_path(char: str) -> bool:
    """Return whether no file name can have a character; the path then comes from a text, such as escapes in YAML."""
    return char == "\0" or "\ud800" <= char < "\udc80" or "\udcff" < char <= "\udfff"


def utf16(text: str) -> int:
    """Return how many UTF-16 code units a text takes."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


def utf8(text: str) -> int:
    """Return how many bytes a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def position(source: Source, offset: int, length: Callable[[str], int]) -> tuple[int, int]:
    """Return the 1-based line and column of an offset, the column in the units of `length` (`utf8`, `utf16`)."""
    line, column = source.position(offset)
    return line, length(source.text[offset - column + 1 : offset]) + 1


def numbered(findings: Iterable[Finding]) -> Iterator[tuple[Finding, int]]:
    """Yield each finding and its number, from 1, among those with the same fingerprint."""
    seen: dict[str, int] = {}
    for finding in findings:
        seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        yield finding, seen[finding.fingerprint]


def own(fingerprint: str, number: int) -> str:
    """Return a fingerprint that no other finding of the report has, from the number that `numbered` gives."""
    if number == 1:
        return fingerprint
    import hashlib  # it loads OpenSSL

    return hashlib.sha256(f"{fingerprint}:{number}".encode()).hexdigest()[:16]


def printable(finding: Finding) -> bool:
    """Return whether the text of a finding's fix may be printed: it writes no secret."""
    edits = finding.fix.edits if finding.fix is not None else []
    secrets = {secret for span in (finding.span, *[edit.span for edit in edits]) for secret in span.source.redactions.values}
    return not any(holds_secret(edit.text, tuple(secrets)) for edit in edits)


_RELEASE = r"b?\d[\w.]*"
_CITED = (
    rf"(?P<name>[a-z][a-z.]*)[- ](?P<first>{_RELEASE})(?P<more>(?:(?:,| to| and|, and) {_RELEASE})*)"
    r" (?P<path>(?:[\w.+-]+/)+[\w.+-]*)(?::(?P<line>\d+)(?:-(?P<last>\d+))?)?(?= \(|$)"
)
_LIBRARIES = {"transformers": "https://github.com/huggingface/transformers/blob/v{release}/src/transformers/{path}"}


@lru_cache(maxsize=256)  # many findings are of one rule
def address(evidence: str) -> str | None:
    """Return the address of what a rule cites: a page, or a file of an engine's source at the tag of a release.

    Args:
        evidence: as a finding has it, the reason in brackets behind it; None for a run, or for several files.

    >>> address("vllm-0.33.0 vllm/config/cache.py:12 (the check)")
    'https://github.com/vllm-project/vllm/blob/v0.33.0/vllm/config/cache.py#L12'
    """
    if evidence.startswith(("https://", "http://")):
        return evidence.partition(" ")[0]
    cited = re.match(_CITED, evidence)
    if cited is None:
        return None
    name, path = cited["name"], cited["path"]
    engine = ENGINES.get(name)
    home = engine.source_url if engine is not None else _LIBRARIES.get(name, "")
    release = re.findall(_RELEASE, cited["first"] + cited["more"])[-1]
    url = home.format(release=release, path=path).replace(f"/{name}/{name}/", f"/{name}/")
    if cited["line"] and not cited["more"]:  # a line of one release is another line in the next
        url += f"#L{cited['line']}" + (f"-L{cited['last']}" if cited["last"] else "")
    return url if home else None


_NAMED = r"--?[A-Za-z][\w-]*|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b"


@derived
def _cataloged() -> tuple[str, ...]:
    return tuple([engine.id for engine in ENGINES.values() if has_catalog(engine.id, engine.data)])


def see(finding: Finding) -> str:
    """Return where to read more about a finding: an address that opens, or the command that explains it."""
    cited = [(url, one.partition(" (")[2]) for one in finding.evidence if (url := address(one)) is not None]
    if cited:
        url, says = cited[0]
        return f"{url} ({says}" if says else url
    if finding.launch is not None and finding.evidence:
        own = finding.launch.engine
        names = re.findall(_NAMED, finding.message)
        for engine in sorted(_cataloged() if names else (), key=lambda one: one != own):
            catalog = load(engine)
            for name in names:
                if catalog is not None and (catalog.spelled(name) or name in catalog.variables()):
                    return f"servelint explain {engine} {name}"
    return f"servelint explain {finding.rule}" if finding.evidence else ""


def edited(source: Source, edits: list[Edit], start: int, end: int) -> str:
    """Return what edits, in the order of the text, make of a part of it."""
    parts: list[str] = []
    for edit in edits:
        parts += [source.text[start : edit.span.start], edit.text]
        start = edit.span.end
    return "".join([*parts, source.text[start:end]])
