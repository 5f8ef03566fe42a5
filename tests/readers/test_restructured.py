"""Code in reStructuredText: which lines are code, in which language, and the launches in them."""

from __future__ import annotations

from textwrap import dedent

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.files.siblings import Neighbours
from servelint.readers.restructured import blocks, read


def found(page: str) -> list[tuple[str, str]]:
    """(language, code) of each block of a page."""
    source = Source("index.rst", dedent(page).removeprefix("\n"))
    return [(block.language, block.text.flat) for block in blocks(TracedText.at(source, 0, len(source.text)))]


class TestBlocks:
    def test_directives_with_options(self) -> None:
        assert found("""
            .. code-block:: bash
               :linenos:
               :emphasize-lines: 1

               one
                 two

            text
        """) == [("bash", "one\n  two\n")]

    def test_in_other_directives_and_lists(self) -> None:
        assert found("""
            .. tab-set::

               .. tab-item:: pip

                  .. code:: console

                     $ one

            * a point::

                two
            * another

            .. note:: Like this::

                three
        """) == [("console", "$ one\n"), ("", "two\n"), ("", "three\n")]

    def test_literal_blocks_and_the_language_of_the_page(self) -> None:
        assert found("""
            .. highlight:: sh

            Start it::

                one

                two
            More text, and no code::

            .. code-block::

                three
        """) == [("sh", "one\n\ntwo\n"), ("sh", "three\n")]

    def test_comments_and_other_languages_are_not_read(self) -> None:
        assert (
            found("""
            .. Start it::

                one

            ..

                two

            .. raw:: html

               <pre>three</pre>

            .. _a target:

            .. note:: no code
        """)
            == []
        )

    def test_what_a_page_fills_in_is_unknown(self) -> None:
        source = Source("index.rst", ".. parsed-literal::\n\n    vllm serve |model| --port 1\n")
        (block,) = blocks(TracedText.at(source, 0, len(source.text)))
        assert not block.text.known

    def test_ends_of_lines_of_windows(self) -> None:
        assert found("\n.. code-block:: sh\r\n\r\n   one\r\n   two\r\n\r\nend\r\n") == [("sh", "one\r\ntwo\r\n")]


PAGE = """
Serve
=====

.. code-block:: console

   $ pip install vllm==0.9.2
   $ vllm serve Qwen/Qwen3-8B \\
   >     --gpu-memory-utilization 1.5
   INFO: started

.. code-block:: yaml

   services:
     vllm:
       image: vllm/vllm-openai:v0.20.0
       command: --model m --gpu-memory-utilization 1.6

``vllm serve m`` in prose is none.
"""


def test_launches_have_their_places_and_releases() -> None:
    source = Source("index.rst", PAGE)
    launches = read(source, Neighbours(None))
    assert [(launch.engine, launch.line, launch.release.release) for launch in launches] == [
        ("vllm", 8, "0.9.2"),
        ("vllm", 17, "0.20.0"),
    ]
    last = [launch.argv[-1] for launch in launches]
    placed = [(word.value, span.line) for word in last if (span := word.text.span()) is not None]
    assert placed == [("1.5", 9), ("1.6", 17)]
