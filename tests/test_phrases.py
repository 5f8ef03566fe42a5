"""Phrases that may not come back: in messages, rule files, docs, schemas and help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PHRASES = {
    r"\bnobody\b": "the subject that does not: nothing, no client, no release",
    r"\bsomebody\b": "a person, another publisher",
    r"\bwhoever\b": "every client, every reader",
    r"\b(?:is|are|was|were|be) told\b": "reported, set, named",
    r"\btold by\b": "reported with",
    r"\bnot told\b": "not reported",
    r"\bhow much is told\b": "how much is reported",
    r"\bno part of\b": "not part of, outside of",
    r"\bis no patch\b": "is not a patch",
    r"\bthere is no catalog of\b": "no option catalog for",
    r"\bnone is named here\b": "no version is pinned",
    r"\btrue of every\b.*\bcan start this\b": "this holds for every version that accepts this command",
    r"\bturns? round\b": "stops paying off",
    r"\bthen becomes? it\b": "then exec it",
    r"\btells? (?:only|the findings)\b": "reports",
    r"\bon a page of (?:its|their) own\b": "elsewhere",
    r"\bis no (?:YAML|TOML)\b": "is not valid YAML",
    r"\bor say so with\b": "or set it with",
    r"\bhow often it was said\b": "number of times it was reported",
    r"(?<!there )\b(?:is|are) no (?!longer\b|more\b)\w+": "is not a valid value for, is not a, has no",
    r"\bnor of any other up to it\b": "or any earlier one",
    r"\bnot go (?:with|together)\b": "cannot be combined with",
    r"\bgoes with (?:no|neither)\b": "cannot be combined with",
    r"\bexcludes? each other\b": "cannot be combined",
    r"\bthat there (?:is|are) not\b": "that does not exist",
    r"\breports of \{release\} have\b": "{release} is reported to",
    r"\bgives? up when\b": "fails when",
    r"\bunasked\b": "without being asked",
    r"\bfor everybody\b": "for every client",
    r"\bin the place of\b": "instead of",
    r"\bany more\b": "no longer",
    r"\bfor ever\b": "forever",
    r"\bits kin\b": "similar ones",
    r"\bwithout a word\b": "without a warning",
    r"\bthat there is not\b": "unknown, out of range",
    r"\bwhat it does not go\b": "an option that it excludes",
    r"\basks? for no key\b": "requires no key",
    r"\bnone is none of\b": "is not one of",
    r"\bin spite of\b": "despite",
    r"\brules of (?:your|their) own\b": "your own rules",
    r"\ba part of which\b": "some of it",
    r"\bsay(?:s|ing)? otherwise\b": "sets another value",
    r"\bends? the start\b": "stops the server at start, does not start",
    r"\bseldom\b": "rarely",
    r"\b(?:goes|go|went) on (?:with|without)\b|\band goes? on\b": "continues",
    r"\bleave (?:it|them|--[a-z-]+) out\b": "delete",
    r"\bwho reach(?:es)?\b": "every client that reaches",
    r"\bletter by letter\b": "character by character",
    r"\bthat (?:are|is) none\b": "that is not one, invalid",
    r"\bcounts? for (?:more|less)\b": "is stronger, is weaker",
    r"\btakes? the place of\b": "replaces",
    r"\bin its place\b": "instead",
    r"\bnot known here\b": "unknown to servelint",
    r"\bwhat becomes of\b": "what happens to",
    r"\bheld against\b": "compared with",
    r"\bits makers\b": "its developers",
    r"\bslip of the pen\b": "typing mistake",
    r"\bgives? way to\b": "is replaced by",
    r"\bwhere a file does not say\b": "if a file sets none",
    r"\bis asked of\b": "is sent to",
    r"\bis given (?:none|no (?:GPU|device))\b": "requests no GPU, has no device",
    r"@@[A-Z]+@@": "the figure",
}
"""Pattern -> what to write instead."""

QUOTED = {
    "container/expanded-early.yaml": "if no part of the delimiter",
    "SECURITY.md": "test_the_image_runs_as_nobody",
}
"""Words of others and names of tests, which may stay: the file's end -> the text of the line."""


def _texts() -> Iterator[tuple[Path, str]]:
    """Every file that people read, or that prints what they read."""
    for pattern in ("src/**/*.py", "rules/**/*.yaml", "docs/*.md", "schemas/*.json", "*.md", "tools/site/*.py"):
        for path in sorted(ROOT.glob(pattern)):
            yield path, path.read_text(encoding="utf-8")


@pytest.mark.book
def test_no_phrase_comes_back() -> None:
    found: list[str] = []
    edge = r"\b"  # looked for once for all phrases that start with it, which takes a tenth of the time
    starting = "|".join(one.removeprefix(edge) for one in PHRASES if one.startswith(edge))
    wanted = re.compile("|".join([rf"\b(?:{starting})", *[one for one in PHRASES if not one.startswith(edge)]]), re.IGNORECASE)
    for path, text in _texts():
        for match in wanted.finditer(text):
            line = text[text.rfind("\n", 0, match.start()) + 1 : text.find("\n", match.end())]
            allowed = [words for end, words in QUOTED.items() if path.as_posix().endswith(end) and words in line]
            if not allowed:
                number = text.count("\n", 0, match.start()) + 1
                instead = next(says for phrase, says in PHRASES.items() if re.fullmatch(phrase, match[0], re.IGNORECASE))
                found.append(f'{path.relative_to(ROOT)}:{number}: "{match[0]}"; write: {instead}')
    assert found == []


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("a port on which nobody listens", 1),
        ("the option is told\nto the engine", 1),
        ("Nothing listens on the published port", 0),
        ("--retold x", 0),
        ("write 1 or more, or leave it out", 1),
        ("write 1 or more, or delete it", 0),
        ("@@FIGURES@@", 1),
    ],
)
def test_what_the_phrases_match(text: str, hits: int) -> None:
    assert sum(bool(re.search(phrase, text, re.IGNORECASE)) for phrase in PHRASES) == hits
