"""A script around functions that were read before has the tree that it would have without that."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from servelint.shell import syntax
from servelint.shell.evaluate import evaluate
from servelint.shell.syntax import Node
from servelint.source import Source
from servelint.text import Text

ROOT = Path(__file__).parents[2]
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("benchmarks/inputs/*.sh"))}
PIECES = (
    '"', "'", "`", "\\", "{", "}", "(", ")", "<<EOF\n", "\nEOF\n", "#", "$(", "${", "\n", "\n}\n", "if x; then\n", "fi\n", "; ",
    "&",
)  # fmt: skip

Shape = tuple[str, int, int, "list[Shape]"]


def shape(node: Node, bodies: dict[int, Node], by: int = 0) -> Shape:
    """A tree as its types and places, a known body in its place."""
    body = bodies.get(node.start_byte) if not by and node.type == "compound_statement" else None
    if body is not None:
        return shape(body, {}, node.start_byte)
    below = [shape(child, bodies, by) for child in node.children]
    return node.type, node.start_byte + by, node.end_byte + by, below


def edited(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 2)):
        start = chance.randrange(len(text) + 1)
        end = start + (chance.randrange(80) if chance.random() < 0.3 else 0)
        text = text[:start] + chance.choice(PIECES) + text[end:]
    return text


@pytest.fixture
def text(request: pytest.FixtureRequest) -> str:
    """A script whose functions are known."""
    syntax._bodies.clear()
    script = SCRIPTS[request.param]
    for _ in range(3):
        evaluate(Text.at(Source("run.sh", script), 0, len(script)), lambda _: None)
    assert len(syntax._bodies) > 8
    return script


@pytest.mark.parametrize("text", SCRIPTS, indirect=True)
def test_the_tree_is_the_same(text: str) -> None:
    chance = random.Random(1)
    around = 0
    for _ in range(150):
        script = edited(text, chance)
        found = syntax._around(script)
        if found is None:
            continue
        root, known = found
        assert known
        around += 1
        bodies = {start: part.root for start, part in known.items() if part.root is not None}
        assert shape(root, bodies) == shape(syntax._parsed(script), {})
    assert around > 30


@pytest.mark.parametrize("text", SCRIPTS, indirect=True)
@pytest.mark.parametrize("before", ["cat <<EOF\n", "echo '", 'echo "', "V=(\n", "case x in\n", "echo `"])
def test_what_only_looks_like_a_function_is_none(text: str, before: str) -> None:
    assert syntax._around(before + text) is None


def test_as_many_are_kept() -> None:
    syntax._bodies.clear()
    for number in range(syntax._BODIES_AT_MOST + 3):
        script = f"f() {{\n  echo {number}\n}}\n" + "# a line of a script that is longer than what is kept whole\n" * 10
        for _ in range(2):
            evaluate(Text.at(Source("run.sh", script), 0, len(script)), lambda _: None)
    assert 0 < len(syntax._bodies) <= syntax._BODIES_AT_MOST
