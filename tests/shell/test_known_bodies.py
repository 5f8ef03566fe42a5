"""A script around functions that were read before has the tree that it would have without that."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from servelint.core.source import Source
from servelint.core.text import Text
from servelint.syntax.shell import bodies, tree
from servelint.syntax.shell.evaluate import evaluate
from servelint.syntax.shell.tree import Node

ROOT = Path(__file__).parents[2]
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("benchmarks/inputs/*.sh"))}
PIECES = (
    '"', "'", "`", "\\", "{", "}", "(", ")", "<<EOF\n", "\nEOF\n", "#", "$(", "${", "\n", "\n}\n", "if x; then\n", "fi\n", "; ",
    "&",
)  # fmt: skip

Shape = tuple[str, int, int, "list[Shape]"]


def shape(node: Node, known: dict[int, Node], by: int = 0) -> Shape:
    """A tree as its types and places, a known body in its place."""
    body = known.get(node.start_byte) if not by and node.type == "compound_statement" else None
    if body is not None:
        return shape(body, {}, node.start_byte)
    below = [shape(child, known, by) for child in node.children]
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
    bodies._known.clear()
    script = SCRIPTS[request.param]
    for _ in range(3):
        evaluate(Text.at(Source("run.sh", script), 0, len(script)), lambda _: None)
    assert len(bodies._known) > 8
    return script


@pytest.mark.parametrize("text", SCRIPTS, indirect=True)
def test_the_tree_is_the_same(text: str) -> None:
    chance = random.Random(1)
    around = 0
    for _ in range(150):
        script = edited(text, chance)
        found = bodies.around(script)
        if found is None:
            continue
        root, known = found
        assert known
        around += 1
        whole = {start: body.root for start, body in known.items() if body.root is not None}
        assert shape(root, whole) == shape(tree.read(script), {})
    assert around > 30


@pytest.mark.parametrize("text", SCRIPTS, indirect=True)
@pytest.mark.parametrize("before", ["cat <<EOF\n", "echo '", 'echo "', "V=(\n", "case x in\n", "echo `"])
def test_what_only_looks_like_a_function_is_none(text: str, before: str) -> None:
    assert bodies.around(before + text) is None


def test_as_many_are_kept() -> None:
    bodies._known.clear()
    for number in range(bodies._KEPT_AT_MOST + 3):
        script = f"f() {{\n  echo {number}\n}}\n" + "# a line of a script that is longer than what is kept whole\n" * 10
        for _ in range(2):
            evaluate(Text.at(Source("run.sh", script), 0, len(script)), lambda _: None)
    assert 0 < len(bodies._known) <= bodies._KEPT_AT_MOST
