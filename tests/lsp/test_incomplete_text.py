"""What is being typed in a text that is not finished."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lsp import cursor, incomplete_text
from servelint.lsp.completion import complete
from servelint.lsp.hover import hover
from servelint.lsp.incomplete_text import Typed, typed_at
from servelint.readers import Reading, read
from tests.lsp.marked import analysed, chart, compose, marked, pod
from tests.together import together

EXAMPLES = {
    path.name: path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parents[2].joinpath("examples").glob("*/*"))
}
QWEN = "vllm serve Qwen/Qwen3-8B "


def typed(name: str, text: str) -> Typed | None:
    found = marked(name, text)
    return typed_at(found.analysis, found.offset)


@together(
    "name, text, kind, what, so_far",
    [
        ("serve.sh", QWEN + "--max-mod‸\n", cursor.OPTION, "max-model-len", "--max-mod"),
        ("serve.sh", QWEN + "--kv-cache-dtype ‸\n", cursor.VALUE, "kv-cache-dtype", ""),
        ("serve.sh", QWEN + "--kv-cache-dtype f‸p8\n", cursor.VALUE, "kv-cache-dtype", "f"),
        ("serve.sh", QWEN + "--kv-cache-dtype=f‸\n", cursor.VALUE, "kv-cache-dtype", "f"),
        ("serve.sh", QWEN + "--kv-cache-dtype 'f‸\n", cursor.VALUE, "kv-cache-dtype", "f"),
        ("serve.sh", QWEN + "--speculative-config '{\"met‸\n", cursor.KEY, "speculative-config", "met"),
        ("serve.sh", QWEN + '--speculative-config "{\\"met‸\n', cursor.KEY, "speculative-config", "met"),
        ("serve.sh", QWEN + '--speculative-config \'{"method": "m‸\n', cursor.FIELD, "speculative-config", "m"),
        ("serve.sh", f"export VLLM_L‸\n{QWEN}\n", cursor.VARIABLE, "VLLM_L", "VLLM_L"),
        ("compose.yml", compose("\n      - --model=x/y\n      - --‸"), cursor.OPTION, "", "--"),
        ("compose.yml", compose(" --model x/y", environment="      - VLLM_L‸"), cursor.VARIABLE, "VLLM_L", "VLLM_L"),
        ("compose.yml", compose(" --model x/y", environment="      A: 1\n      VLLM_L‸"), cursor.VARIABLE, "VLLM_L", "VLLM_L"),
        ("compose.yml", compose(" --model x/y", image="vllm/vllm-openai:‸"), cursor.TAG, "", ""),
        ("compose.yml", compose(" --model x/y", image="vllm/vllm-openai:v0.2‸"), cursor.TAG, "v0.2", "v0.2"),
        ("pod.yaml", pod('      args: ["--model", "x/y", "--kv‸'), cursor.OPTION, "kv", "--kv"),
        ("values.yaml", chart("        maxModelLen: 4096\n        dtype: ‸"), cursor.VALUE, "dtype", ""),
        ("config.yaml", "model: x/y\nmax-model-len: 4096\nkv-ca‸\n", cursor.OPTION, "", "--kv-ca"),
        ("spec.json", '{"num_speculative_tokens": 2, "met‸', cursor.KEY, "speculative-config", "met"),
    ],
)
def test_it_is_told_what_it_is_and_what_there_is_of_it(name: str, text: str, kind: str, what: str, so_far: str) -> None:
    found = typed(name, text)
    assert found is not None
    assert (found.cursor.kind, found.typed) == (kind, so_far)
    assert found.cursor.name.replace(incomplete_text.STAND_IN, "").startswith(what)


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        (QWEN + "--max‸-model-len 4096\n", "--max-model-len"),
        (QWEN + "--kv-cache-dtype a‸uto --port 80\n", "auto"),
        (QWEN + "‸ --port 80\n", ""),
        (QWEN + "--speculative-config '{\"met‸hod\": 1}'\n", "method"),
        (QWEN + '--speculative-config \'{"met‸, "a": 1}\'\n', "met"),
    ],
)
def test_the_whole_of_the_word_is_replaced_and_no_more(text: str, replaced: str) -> None:
    found = typed("serve.sh", text)
    assert found is not None
    assert found.span.text == replaced


def test_the_launch_is_told_without_what_is_being_typed() -> None:
    found = typed("serve.sh", QWEN + "--port 80 --kv-cache-dtype ‸\n")
    assert found is not None
    assert [word.shown for word in found.bare.argv] == ["Qwen/Qwen3-8B", "--port", "80"]


def test_so_it_is_the_same_for_each_character_of_a_word() -> None:
    words = [typed("serve.sh", f"{QWEN}--port 80 {word}‸\n") for word in ("-", "--", "--m", "--max", "--max-model-len")]
    bare = [[one.shown for one in found.bare.argv] for found in words if found is not None]
    assert bare == [["Qwen/Qwen3-8B", "--port", "80"]] * 5


class TestReadingAgain:
    """A text is read again with a stand-in only where a launch may be: the answer without one is the reader's own."""

    @pytest.fixture
    def reads(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        texts: list[str] = []

        def counted(source: Source, neighbours: Neighbours) -> Reading:
            texts.append(source.text)
            return read(source, neighbours)

        monkeypatch.setattr(incomplete_text, "read", counted)
        return texts

    def test_not_for_a_word_that_is_begun(self, reads: list[str]) -> None:
        assert typed("serve.sh", QWEN + "--kv‸\n") is not None
        assert reads == []

    @pytest.mark.parametrize("text", ["# a comm‸ent\n", "echo sta‸rt\n\n", "set -eu‸o pipefail\n\n", "if‸ true; then\n\n"])
    def test_not_where_no_launch_may_be(self, text: str, reads: list[str]) -> None:
        assert typed("serve.sh", f"{text}{'x=1' if text[0] != '#' else ''}\n{QWEN}\n") is None
        assert reads == []

    def test_not_the_same_text_again(self, reads: list[str]) -> None:
        found = marked("serve.sh", f"CODE_‸\n{QWEN}\n")
        assert typed_at(found.analysis, found.offset, found.analysis) is None
        assert len(reads) == len(set(reads)) == 2

    def test_once_for_a_new_item_of_a_list(self, reads: list[str]) -> None:
        assert typed("compose.yml", compose("\n      - --model=x/y\n      - ‸")) is not None
        assert len(reads) == 1
        assert f"      - {incomplete_text.STAND_IN}" in reads[0]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_text_that_was_cut_has_answers_within_it(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(EXAMPLES)))
    whole = EXAMPLES[name]
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(start + 20, len(whole))))
    put = data.draw(st.sampled_from(["", "", "'", '"', "{", "--", "$", "\\", "\n", "- ", "[", "#", ": "]))
    text = whole[:start] + put + (whole[end:] if data.draw(st.booleans()) else "")
    offset = start + len(put)
    analysis = analysed(name, text)
    before = analysed(name, whole) if data.draw(st.booleans()) else None
    spans = [item.span for item in complete(analysis, offset, before)]
    told = hover(analysis, offset)
    for span in [*spans, *([told.span] if told is not None else [])]:
        assert span.source is analysis.source
        assert 0 <= span.start <= offset <= span.end <= len(text)
