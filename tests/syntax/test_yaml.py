"""YAML as nodes with positions: the values that libyaml gives, each character at its place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.syntax import yaml
from tests.syntax.yaml_texts import dump


@pytest.fixture(autouse=True, scope="module", params=["libyaml", "python"])
def composer(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test reads with libyaml, and as it is read where that is missing."""
    patch = pytest.MonkeyPatch()
    if request.param == "python":
        patch.setattr(yaml, "CParser", None)
    yield
    patch.undo()


def only(content: str) -> tuple[Source, yaml.Node]:
    source = Source("x.yml", content)
    nodes, problem = yaml.documents(source)
    assert problem is None
    assert len(nodes) == 1
    return source, nodes[0]


def consistent(text: TracedText) -> bool:
    """Whether what is said to be written at a place is what stands there, in the order of the file."""
    last = 0
    for piece in text.pieces:
        if piece.span is None or piece.span.start < last or (piece.verbatim and piece.span.text != piece.text):
            return False
        last = piece.span.end
    return True


SCALARS = st.text(alphabet="ab -#:'\"\\\n\t{}é😀$%|>&*!,[]", max_size=60)


@given(SCALARS, st.sampled_from([None, "'", '"', "|", ">"]), st.integers(2, 6), st.booleans(), st.sampled_from([20, 200]))
def test_a_dumped_scalar_is_traced(value: str, style: str | None, indent: int, in_list: bool, width: int) -> None:
    nested = [{"key": value}] if in_list else {"a": {"key": value}}
    content = dump(nested, style=style, indent=indent, width=width)
    source, root = only(content)
    outer = (yaml.items(root) or [])[0] if in_list else yaml.entries(root)["a"][1]
    node = yaml.entries(outer)["key"][1]
    assert yaml.is_scalar(node)
    text = yaml.text(source, node)
    assert text.flat == value
    assert consistent(text)
    escaped = node.style == '"'  # the writer escapes more than it must
    assert escaped or all(piece.verbatim or not set(piece.text) & set("ab😀é") for piece in text.pieces)


STYLES = {
    "plain": ("k: one two\n", "one two", ["one two"]),
    "plain over lines": ("k: one\n  two\n\n  three\n", "one two\nthree", ["one", "two", "three"]),
    "single": ("k: 'it''s'\n", "it's", ["it", "s"]),
    "single over lines": ("k: 'one\n  two'\n", "one two", ["one", "two"]),
    "double": ('k: "a\\tb\\u00e9"\n', "a\tbé", ["a", "b"]),
    "double with a continuation": ('k: "one\\\n   two"\n', "onetwo", ["one", "two"]),
    "literal": ("k: |\n  one\n    two\n", "one\n  two\n", ["one", "two"]),
    "literal, stripped": ("k: |-\n  one\n\n  two\n\n", "one\n\ntwo", ["one", "two"]),
    "literal, kept": ("k: |+\n  one\n\n", "one\n\n", ["one"]),
    "literal with an indent": ("k: |2\n    one\n", "  one\n", ["one"]),
    "folded": ("k: >\n  one\n  two\n\n  three\n", "one two\nthree\n", ["one", "two", "three"]),
    "folded with a deeper line": ("k: >-\n  one\n    two\n  three\n", "one\n  two\nthree", ["one", "two", "three"]),
    "anchored and tagged": ("k: &a !!str one\n", "one", ["one"]),
    "anchored block": ("k: &a |\n  one\n", "one\n", ["one"]),
    "carriage returns": ("k: |\r\n  one\r\n  two\r\n", "one\ntwo\n", ["one", "two"]),
    "line separators": ("k: 'a\u2028b'\nl: 1\n", "a\u2028b", ["a\u2028b"]),
}


@pytest.mark.parametrize(("content", "value", "written"), STYLES.values(), ids=STYLES.keys())
def test_styles(content: str, value: str, written: list[str]) -> None:
    source, root = only(content)
    text = yaml.text(source, yaml.entries(root)["k"][1])
    assert text.flat == value
    assert consistent(text)
    assert [piece.span.text for piece in text.pieces if piece.span and piece.text.strip() and piece.verbatim] == written


@pytest.mark.parametrize(
    ("content", "written"),
    [
        ("k: one\n", "one"),
        ("k: 'one'\n", "'one'"),
        ("k: &a !t one\n", "one"),
        ("k:\n  a: 1\n\nl: 2\n", "a: 1"),
        ("k: [a, b]\n", "[a, b]"),
        ("\ufeffk: one\n", "one"),
        ('\ufeff{0, "k": ["\\u0031"]}', r'["\u0031"]'),
        ("\ufeff---\nk: one\n", "one"),
        ("\ufeff\ufeffk: one\n", "one"),
    ],
)
def test_span(content: str, written: str) -> None:
    source, root = only(content)
    assert yaml.span(source, yaml.entries(root)["k"][1]).text == written


@pytest.mark.parametrize("content", ['"\\u0031 \\x41"', '\ufeff["\\u0031"]', '\ufeff"\\u0031 a"'])
def test_escapes_behind_a_byte_order_mark(content: str) -> None:
    source, root = only(content)
    for node in yaml.items(root) or [root]:
        text = yaml.text(source, node)
        assert text.flat == yaml.scalar(node)
        assert consistent(text)


@pytest.mark.parametrize(
    ("escape", "character"),
    [
        (r"\0", "\0"),
        (r"\a", "\a"),
        (r"\b", "\b"),
        (r"\t", "\t"),
        ("\\\t", "\t"),
        (r"\n", "\n"),
        (r"\v", "\v"),
        (r"\f", "\f"),
        (r"\r", "\r"),
        (r"\e", "\x1b"),
        (r"\N", "\x85"),
        (r"\_", "\xa0"),
        (r"\L", "\u2028"),
        (r"\P", "\u2029"),
        (r"\"", '"'),
        (r"\\", "\\"),
        (r"\x41", "A"),
        (r"\u0041", "A"),
        (r"\U0001F600", "😀"),
    ],
)
def test_each_escape_is_where_it_stands(escape: str, character: str) -> None:
    source, node = only(f'"x{escape}y"')
    text = yaml.text(source, node)
    assert text.flat == yaml.scalar(node) == f"x{character}y"
    assert [span.text for at in range(3) if (span := text.span(at, at + 1)) is not None] == ["x", escape, "y"]


@pytest.mark.parametrize(
    ("content", "first"),
    [("[a:b]", "a:b"), ("[a :b]", "a :b"), ("[a?b]", "a?b"), ("[a ?b]", "a ?b"), ("[http://x?y=1]", "http://x?y=1")],
)
def test_colons_and_question_marks_inside_a_plain_scalar_between_brackets(content: str, first: str) -> None:
    source, root = only(content)
    (node,) = yaml.items(root) or []
    assert (yaml.scalar(node), yaml.text(source, node).flat) == (first, first)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_escaped_end_of_line_is_nothing(end: str) -> None:
    source, node = only(f'"x\\{end}  y"')
    text = yaml.text(source, node)
    assert text.flat == yaml.scalar(node) == "xy"
    assert [span.text for at in range(2) if (span := text.span(at, at + 1)) is not None] == ["x", "y"]


class TestMerge:
    def values(self, content: str) -> dict[str, str | None]:
        _, root = only(content)
        node = yaml.entries(root)["k"][1]
        return {key: yaml.scalar(value) for key, (_, value) in yaml.entries(node).items()}

    def test_what_is_written_wins(self) -> None:
        assert self.values("a: &a {x: 1, y: 2}\nk: {<<: *a, y: 3}\n") == {"y": "3", "x": "1"}

    def test_the_first_of_several_wins(self) -> None:
        assert self.values("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nk: {<<: [*a, *b]}\n") == {"x": "1", "y": "2"}

    def test_over_levels(self) -> None:
        assert self.values("a: &a {x: 1, z: 1}\nb: &b {<<: *a, x: 2}\nk:\n  <<: *b\n") == {"x": "2", "z": "1"}

    @given(
        st.dictionaries(st.sampled_from("xyz"), st.integers(0, 9)), st.dictionaries(st.sampled_from("xyz"), st.integers(0, 9))
    )
    def test_a_key_of_its_own_wins(self, base: dict[str, int], own: dict[str, int]) -> None:
        written = "".join([f", {key}: {value}" for key, value in own.items()])
        content = f"a: &a {dump(base, flow=True).strip()}\nk: {{<<: *a{written}}}\n"
        assert self.values(content) == {key: str(value) for key, value in {**base, **own}.items()}

    def test_a_quoted_key_does_not_merge(self) -> None:
        assert self.values('a: &a {x: 1}\nk: {"<<": *a}\n') == {"<<": None}

    def test_a_bomb_is_not_unrolled(self) -> None:
        lines = ["a0: &a0 {x: 1}"]
        lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 40)]
        assert self.values("\n".join([*lines, "k: {<<: *a39}", ""])) == {"x": "1"}


class TestProblems:
    @pytest.mark.parametrize(
        ("content", "place"),
        [
            ("a: [1, 2\nb: 3\n", (2, 2)),
            ("a: 'x\n", (2, 1)),
            ("a: *b\n", (1, 4)),
            ("\tb: 1\n", (1, 1)),
            ("a: \x07\n", (1, 4)),
            ("a: b: c\n", (1, 5)),
            ("a: 'x\u2028y'\nc: *d\n", (2, 4)),
            ("\ufeffa: *b\n", (1, 5)),
        ],
    )
    def test_a_text_that_is_not_yaml(self, content: str, place: tuple[int, int]) -> None:
        nodes, problem = yaml.documents(Source("x.yml", content))
        assert nodes == []
        assert problem is not None
        assert problem.message.startswith("not valid YAML: ")
        assert (problem.line, problem.column) == place

    def test_what_comes_before_is_kept(self) -> None:
        nodes, problem = yaml.documents(Source("x.yml", "a: 1\n---\nb: 'x\n"))
        assert len(nodes) == 1
        assert problem is not None

    @pytest.mark.parametrize("content", ["[" * 5000, "{a: " * 5000, "- " * 5000, "? " * 5000])
    def test_nested_without_end(self, content: str) -> None:
        nodes, problem = yaml.documents(Source("x.yml", content))
        assert nodes == []
        assert problem is not None
        assert problem.message == "not read: the YAML is nested more than 500 levels deep"

    def test_depth_is_bounded_behind_a_colon_that_libyaml_refuses(self) -> None:
        nodes, problem = yaml.documents(Source("x.yml", "- [a:b]\n- " + "[" * 5000))
        assert nodes == []
        assert problem is not None
        assert problem.message == "not read: the YAML is nested more than 500 levels deep"

    def test_a_lone_surrogate(self) -> None:
        _, problem = yaml.documents(Source("x.yml", "a: \ud800\n"))
        assert problem is not None

    def test_nothing(self) -> None:
        assert yaml.documents(Source("x.yml", "")) == ([], None)
        assert yaml.documents(Source("x.yml", "# only a comment\n")) == ([], None)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("k:\n", None),
        ("k: ~\n", None),
        ("k: null\n", None),
        ("k: ''\n", ""),
        ("k: 'null'\n", "null"),
        ("k: 1\n", "1"),
        ("k: [1]\n", None),
    ],
)
def test_scalar(content: str, value: str | None) -> None:
    _, root = only(content)
    assert yaml.scalar(yaml.entries(root)["k"][1]) == value


def test_what_is_asked_of_the_wrong_kind() -> None:
    _, root = only("[a]\n")
    assert yaml.entries(root) == {}
    assert yaml.items(yaml.documents(Source("x", "a: 1\n"))[0][0]) is None
    assert yaml.entries(None) == {}
    assert yaml.items(None) is None
    assert not yaml.is_mapping(root)


BETWEEN_BRACKETS = {
    "[a:b, c::d]": ["a:b", "c::d"],
    "[http://x:80/y?z=1]": ["http://x:80/y?z=1"],
    "[it's:x]": ["it's:x"],
    "[a?b, c?]": ["a?b", "c?"],
    "[a ?b]": ["a ?b"],
    "[\"a:b\", 'c?d', e:f]": ["a:b", "c?d", "e:f"],
    "[!t:u a:b]": ["a:b"],
    "[\ue000:\ue001]": ["\ue000:\ue001"],
}


@pytest.mark.parametrize("written", BETWEEN_BRACKETS)
def test_colons_and_question_marks_between_brackets(written: str) -> None:
    """libyaml 0.2 reads them, and so does go.yaml.in/yaml; 0.1.7 does not."""
    source, root = only(f"k: {written}  # a:b?\n")
    nodes = yaml.items(yaml.entries(root)["k"][1]) or []
    assert [yaml.scalar(node) for node in nodes] == BETWEEN_BRACKETS[written]
    assert [yaml.text(source, node).flat for node in nodes] == BETWEEN_BRACKETS[written]
    assert all(consistent(yaml.text(source, node)) for node in nodes)


@pytest.mark.parametrize("written", ["[:a]", "{a: :b}", "{a: ?b}", "[a:b", "[a:b] c?d: ["])
def test_what_no_parser_reads_between_brackets(written: str) -> None:
    nodes, problem = yaml.documents(Source("x.yml", written))
    assert (nodes, problem is None) == ([], False)


def test_a_text_with_every_private_character() -> None:
    every = "".join(map(chr, range(0xE000, 0xF900)))
    nodes, problem = yaml.documents(Source("x.yml", f"- {every}\n- [a?b]\n"))
    assert (nodes, problem is None) == ([], False)


def test_many_colons_after_quotes_are_an_error(request: pytest.FixtureRequest) -> None:
    """Each of them takes a reading of the whole text."""
    nodes, problem = yaml.documents(Source("x.yml", "[" + 'a":b, ' * 100 + "]"))
    assert (problem is None) == (request.node.callspec.params["composer"] == "python")
    assert [len(node.value) for node in nodes] in ([], [100])


def test_an_anchor_that_is_set_again() -> None:
    _, root = only("a: &x 1\nb: &x [2]\nc: *x\n")
    entries = yaml.entries(root)
    assert entries["c"][1] is entries["b"][1]


PARTS = ["a", "k: ", "- ", ": ", ":", "?", "? ", "[", "]", "{", "}", ", ", "\n", "  ", "'", '"', "# c\n", "&a ", "*a", "!!str "]
PARTS += ["!t ", "http://x:80/?z=1", "é", "---\n", "...\n", "<<: ", "~", "\n  k: |\n    a\n", "\n  k: >-\n    a\n"]


def places(node: yaml.Node) -> object:
    """What a node is, and where; of an empty one the composers do not agree where."""
    start = yaml.start(node)
    if yaml.is_scalar(node):
        return (start if node.value else None, node.value, yaml.tag(node), node.style or None)
    if yaml.is_mapping(node):
        return (start, yaml.tag(node), [(places(key), places(value)) for key, value in node.value])
    return (start, yaml.tag(node), [places(item) for item in node.value])


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_both_composers_give_the_same(content: str) -> None:
    """Where both read a text; they differ in what they refuse."""
    found = []
    for libyaml in (True, False):
        with pytest.MonkeyPatch().context() as patch:
            if not libyaml:
                patch.setattr(yaml, "CParser", None)
            found.append(yaml.documents(Source("x.yml", content)))
    (nodes, problem), (other_nodes, other_problem) = found
    if problem is None and other_problem is None:
        assert list(map(places, nodes)) == list(map(places, other_nodes))
