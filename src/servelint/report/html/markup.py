"""Text on its way into the page. The files are other people's: nothing in them may become markup, or turn what is around it."""

from __future__ import annotations

from servelint.report.clean import clean


def escaped(text: str) -> str:
    """A text as it may stand in an element and in a quoted attribute."""
    text = clean(text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("'", "&#39;")


def counted(number: int, one: str, many: str) -> str:
    """ "1 launch", "1,204 launches"."""
    return f"{number:,} {one if number == 1 else many}"


def cited(evidence: str) -> str:
    """A source that a rule names: a link where it is an address of the web, and what it says."""
    source, _, says = evidence.partition(" (")
    if not source.startswith(("https://", "http://")) or " " in source:
        return escaped(evidence)
    said = f" ({escaped(says)}" if says else ""
    return f'<a href="{escaped(source)}" rel="noreferrer">{escaped(source.partition("://")[2])}</a>{said}'
