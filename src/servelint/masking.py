"""Secrets of a file's launches are not printed whole: not in the lines that a report shows, and not in what findings say."""

from __future__ import annotations

from servelint.finding import Finding
from servelint.launch import Launch
from servelint.surroundings import secrets
from servelint.text import Text

_MORE = ("hf-token",)
_STARTS = ("hf_", "sk-", "nvapi-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "AKIA")
_SHORTEST = 8


def mask(launches: list[Launch], findings: list[Finding]) -> None:
    """Have the sources that findings show hide the secrets of some launches, and take these out of what the findings say."""
    hidden = secrets_of(launches)
    if not hidden:
        return
    for finding in findings:
        for span in (finding.span, *[related.span for related in finding.related]):
            span.source.secrets = hidden
        finding.message, finding.advice, finding.label = (
            without(text, hidden) for text in (finding.message, finding.advice, finding.label)
        )
        for related in finding.related:
            related.message = without(related.message, hidden)
        if finding.fix is not None:
            finding.fix.title = without(finding.fix.title, hidden)


def secrets_of(launches: list[Launch]) -> tuple[str, ...]:
    """The secrets that stand in some launches, the longest first."""
    values: set[str] = set()
    for launch in launches:
        for text in _secrets(launch):
            value = text.value
            if value is not None and len(value) >= _SHORTEST and not _to_fill_in(value):
                values.add(value)
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def without(text: str, hidden: tuple[str, ...]) -> str:
    """A text with the first characters of its secrets alone."""
    for secret in hidden:
        if secret in text:
            text = text.replace(secret, secret[:3] + "\u2026")
    return text


def _secrets(launch: Launch) -> list[Text]:
    """The values of a launch that are secrets by the name of their option or variable, or by how they start."""
    found: list[Text] = []
    before = ""
    for word in launch.argv:
        flat = word.text.flat
        name, sign, _ = flat.partition("=")
        if _is_option(before) or flat.startswith(_STARTS):
            found.append(word.text)
        elif sign and _is_option(name):
            found.append(word.text.cut(len(name) + 1))
        before = flat
    for name, variable in launch.env.items():
        if variable.value is not None and (name.endswith(secrets.ENDS) or variable.value.flat.startswith(_STARTS)):
            found.append(variable.value)
    return found


def _is_option(word: str) -> bool:
    name = word.removeprefix("--").replace("_", "-")
    return word.startswith("--") and (name in secrets.OPTIONS or name in _MORE)


def _to_fill_in(value: str) -> bool:
    """Whether a value is plainly no secret: there is nothing in it to hide, and its line is clearer with it."""
    return secrets.is_placeholder(value)
