"""The terminal recording of the README."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from tools import pictures

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_the_recording_shows_what_the_commands_print() -> None:
    shown = (DOCS / "recording.svg").read_text(encoding="utf-8")
    assert shown == pictures.recording(pictures.screen())
    assert "help: " in "".join(ElementTree.fromstring(shown).itertext())


def test_colours_of_a_terminal_become_fills() -> None:
    drawn = pictures.recording([(0.0, "\x1b[1;31merror\x1b[0m: <x>"), (0.5, "plain")])
    assert '<tspan fill="#ff7b72">error</tspan><tspan>: &lt;x&gt;</tspan>' in drawn
    assert [float(one) for one in re.findall(r"animation-delay:([\d.]+)s", drawn)] == [0.0, 0.5]


def test_the_readme_shows_them() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for picture in re.findall(r"docs/[\w-]+\.svg", readme):
        ElementTree.parse(ROOT / picture)
    assert {"docs/logo.svg", "docs/recording.svg"} <= set(re.findall(r"docs/[\w-]+\.svg", readme))
    assert (DOCS / "social-preview.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
