"""Which lines of a page are code, in which language, and without what stands in front of them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.readers.markdown.blocks import blocks
from tests.together import together


def found(page: str) -> list[tuple[str, str]]:
    """(language, code) of each block of a page."""
    source = Source("README.md", dedent(page).removeprefix("\n"))
    return [(block.language, block.text.flat) for block in blocks(TracedText.at(source, 0, len(source.text)))]


class TestFences:
    def test_backticks_and_tildes(self) -> None:
        assert found("""
            ```bash
            one
            ```
            ~~~
            two
            ~~~
        """) == [("bash", "one\n"), ("", "two\n")]

    def test_one_that_is_longer_holds_shorter_ones(self) -> None:
        assert found("""
            ````markdown
            ```bash
            one
            ```
            ````
        """) == [("markdown", "```bash\none\n```\n")]

    def test_one_of_the_other_kind_does_not_close_it(self) -> None:
        assert found("```\none\n~~~\ntwo\n```\n") == [("", "one\n~~~\ntwo\n")]

    def test_a_fence_with_a_language_does_not_close_it(self) -> None:
        assert found("```\none\n```bash\ntwo\n```\n") == [("", "one\n```bash\ntwo\n")]

    def test_code_in_a_line_of_text_is_no_fence(self) -> None:
        assert found("```vllm serve m``` starts it\n") == []

    def test_one_that_is_never_closed_goes_on_to_the_end(self) -> None:
        assert found("```bash\none\n\ntwo\n") == [("bash", "one\n\ntwo\n")]

    def test_or_to_the_end_of_its_list_item(self) -> None:
        assert found("- ```bash\n  one\n\nText.\n\n```sh\ntwo\n```\n") == [("bash", "one\n\n"), ("sh", "two\n")]

    @pytest.mark.parametrize("indent", ["   ", "    ", "\t"])
    def test_indentation_is_taken_off(self, indent: str) -> None:
        page = f"1. Start:\n\n{indent}```bash\n{indent}one \\\n{indent}  two\n\n{indent}three\n{indent}```\n"
        assert found(page) == [("bash", "one \\\n  two\n\nthree\n")]

    def test_a_fence_beside_its_list_marker(self) -> None:
        assert found("- ```bash\n  one\n  ```\n1. ```sh\n   two\n   ```\n") == [("bash", "one\n"), ("sh", "two\n")]

    def test_lines_with_less_indentation_than_the_fence(self) -> None:
        assert found("  ```bash\none\n   two\n  ```\n") == [("bash", "one\n two\n")]

    def test_a_deeper_fence_is_code(self) -> None:
        assert found("```\none\n    ```\ntwo\n```\n") == [("", "one\n    ```\ntwo\n")]

    def test_quotes(self) -> None:
        assert found("> Note\n>\n> ```bash\n> one \\\n>   two\n>\n> three\n> ```\n") == [("bash", "one \\\n  two\n\nthree\n")]

    def test_quotes_in_lists_in_quotes(self) -> None:
        assert found("> - > ```bash\n>   > one\n>   > ```\n") == [("bash", "one\n")]

    def test_a_quote_that_ends_ends_its_code(self) -> None:
        assert found("> ```bash\n> one\n\nText.\n") == [("bash", "one\n")]

    def test_carriage_returns(self) -> None:
        assert found("```bash\r\none\r\n```\r\ntext\r\n") == [("bash", "one\r\n")]


class TestLanguages:
    @together(
        "info, language",
        [
            ("", ""),
            ("bash", "bash"),
            (" Bash ", "bash"),
            ('bash title="run.sh" linenums="1"', "bash"),
            ("bash:run.sh", "bash"),
            ("bash,copy", "bash"),
            ("sh{1,3}", "sh"),
            ("{.bash .copy}", "bash"),
            ("{ .bash }", "bash"),
            ("{bash}", "bash"),
            ("{code-block} bash", "bash"),
            ("{code-block}", ""),
            ('title="run.sh"', ""),
            ("shell-session", "shell-session"),
        ],
    )
    def test_of_a_fence(self, info: str, language: str) -> None:
        assert found(f"```{info}\none\n```\n") == [(language, "one\n")]

    def test_directives_hold_markdown(self) -> None:
        assert found("````{note}\n```bash\none\n```\n````\n") == [("markdown", "```bash\none\n```\n")]

    def test_options_of_a_directive_are_not_code(self) -> None:
        assert found("```{code-block} bash\n:caption: run.sh\n:linenos:\n\none\n```\n") == [("bash", "\none\n")]

    def test_but_lines_like_them_elsewhere_are(self) -> None:
        assert found("```bash\n:caption: run.sh\none\n```\n") == [("bash", ":caption: run.sh\none\n")]


class TestIndentation:
    def test_code_after_a_blank_line(self) -> None:
        assert found("Text:\n\n    one\n\n      two\n\nText.\n") == [("", "one\n\n  two\n")]

    def test_not_in_a_paragraph(self) -> None:
        assert found("Text that\n    goes on\n") == []

    def test_not_where_a_list_item_goes_on(self) -> None:
        assert found("- item\n\n    goes on\n") == []

    def test_but_deeper_in_it(self) -> None:
        assert found("- item\n\n      one\n") == [("", "one\n")]

    def test_after_the_list(self) -> None:
        assert found("- item\n\nText.\n\n    one\n") == [("", "one\n")]

    @pytest.mark.parametrize("opening", ['=== "Linux"', "!!! note", '??? tip "More"', "[^1]: see"])
    def test_what_these_hold_is_text(self, opening: str) -> None:
        assert found(f"{opening}\n\n    goes on\n\n        one\n") == [("", "one\n")]

    def test_fences_in_tabs(self) -> None:
        assert found('=== "Linux"\n\n    ```bash\n    one\n    ```\n') == [("bash", "one\n")]


class TestWhatIsLookedThrough:
    @pytest.mark.parametrize(
        "around",
        [
            ("{% raw %}\n", "{% endraw %}\n"),
            (":::note\n", ":::\n"),
            ("<details>\n<summary>More</summary>\n\n", "\n</details>\n"),
            ('<Tabs>\n<TabItem value="a">\n\n', "\n</TabItem>\n</Tabs>\n"),
            ("{{< tabs >}}\n{{% tab %}}\n", "{{% /tab %}}\n{{< /tabs >}}\n"),
        ],
    )
    def test_around_a_fence(self, around: tuple[str, str]) -> None:
        assert found(f"{around[0]}```bash\none\n```\n{around[1]}") == [("bash", "one\n")]

    def test_tags_of_a_template_inside(self) -> None:
        assert found("```bash\n{% raw %}\none\n  {% endraw %}\n```\n") == [("bash", "one\n")]

    def test_front_matter_is_no_page(self) -> None:
        assert found("---\ntitle: a\nexample: |\n\n    one\n---\n```\ntwo\n```\n") == [("", "two\n")]

    def test_a_line_elsewhere_is(self) -> None:
        assert found("Text\n\n---\n\n    one\n\n---\n") == [("", "one\n")]

    @pytest.mark.parametrize("comment", [("<!--", "-->"), ("{/*", "*/}"), ("{#", "#}")])
    def test_comments_are_not_shown(self, comment: tuple[str, str]) -> None:
        page = f"{comment[0]}\n```bash\none\n```\n{comment[1]}\n```bash\ntwo\n```\n"
        assert found(page) == [("bash", "two\n")]

    def test_one_that_is_never_closed_hides_nothing(self) -> None:
        assert found("<!-- a\n```bash\none\n```\n") == [("bash", "one\n")]


class TestHtml:
    @pytest.mark.parametrize(
        ("opening", "closing", "language"),
        [
            ("<pre>", "</pre>", ""),
            ('<pre lang="bash">', "</pre>", "bash"),
            ('<pre><code class="language-bash">', "</code></pre>", "bash"),
            ("<code>", "</code>", ""),
            ("{% highlight bash %}", "{% endhighlight %}", "bash"),
            ("{{< highlight bash >}}", "{{< /highlight >}}", "bash"),
        ],
    )
    def test_code(self, opening: str, closing: str, language: str) -> None:
        assert found(f"{opening}\none\n{closing}\ntext\n") == [(language, "\none\n")]

    def test_entities_and_tags_are_read(self) -> None:
        assert found("<pre>\na &amp;&amp; <b>b</b> &#39;c&#x27; &quot;&lt;d&gt;&quot;<br/>e\n</pre>\n") == [
            ("", "\na && b 'c' \"<d>\"\ne\n")
        ]

    def test_code_in_a_line_is_no_block(self) -> None:
        assert found("<code>vllm serve m</code> starts it\n") == []

    def test_one_that_is_never_closed(self) -> None:
        assert found("<pre>\none\n") == []
