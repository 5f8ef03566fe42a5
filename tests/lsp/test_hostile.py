"""Hostile text in what an editor shows: nothing of it is markup there, and no secret is shown."""

from __future__ import annotations

import json
import re

import pytest

from servelint.lsp.annotations import symbols
from servelint.lsp.hover import hover
from servelint.report.clean import code, link, plain
from tests.lsp.marked import marked
from tests.together import together

TOKEN = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"
WORST = [
    "[x](command:evil)",
    "![x](http://x/y.png)",
    "<img src=x onerror=alert(1)>",
    "`` ` `code",
    "a\n\n# b\n",
    "\x1b[31m\u202e\u200b",
    "<https://x>",
    "**b** | c\\",
]


@together("text", list(WORST))
def test_text_and_code(text: str) -> None:
    for said in (plain(text), code(text)):
        assert said.isprintable()
    bare = re.sub(r"\\.", "", plain(text))
    assert not re.search(r"[<>\[\]`*|]", bare)
    fence = re.match("`+", code(text))
    assert fence is not None
    assert fence.group() not in code(text)[len(fence.group()) : -len(fence.group())]


@pytest.mark.parametrize("address", ["command:evil", "javascript:x", "data:text/html,x", "file:///etc"])
def test_links_lead_to_the_web(address: str) -> None:
    assert link("source", address) == "source"


def test_an_address_ends_where_its_link_does() -> None:
    assert link("source", "https://x/) [y](command:z") == "[source](https://x/%29%20%5By%5D%28command:z)"


@together("text", list(WORST))
def test_a_hover_over_a_model(text: str) -> None:
    found = marked(
        "compose.yml", f"services:\n  a:\n    image: vllm/vllm-openai:v0.27.1\n    command: [--model, ‸{json.dumps(text)}]\n"
    )
    for offset in range(found.offset, found.offset + 4):
        told = hover(found.analysis, offset)
        if told is not None:
            assert "\x1b" not in told.markdown
            assert "](command:" not in re.sub(r"`[^`]*`|\\.", "", told.markdown)


def test_no_secret_in_the_outline() -> None:
    found = marked("run.sh", f"vllm serve m --api-key {TOKEN} --served-model-name x{TOKEN[3:]} --port‸ 80 --foo {TOKEN}\n")
    told = repr(
        [(one.name, one.detail, [(child.name, child.detail) for child in one.children]) for one in symbols(found.analysis)]
    )
    assert TOKEN not in told
