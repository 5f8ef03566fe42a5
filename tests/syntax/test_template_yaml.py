"""YAML with templates in it: parsed with holes, each scalar at its place."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.syntax import yaml
from servelint.syntax.template_yaml import masked
from servelint.syntax.yaml import Node
from tests.together import together


def parsed(content: str) -> tuple[Source, Node]:
    source = Source("templates/deployment.yaml", dedent(content).removeprefix("\n"))
    nodes, problem = yaml.documents(source)
    assert problem is None
    assert len(nodes) == 1
    return source, nodes[0]


def at(node: Node, *path: str | int) -> Node:
    for key in path:
        node = (yaml.items(node) or [])[key] if isinstance(key, int) else yaml.entries(node)[key][1]
    return node


def shown(text: TracedText) -> str:
    """The text with each unknown as ⟨what a listing shows of it⟩."""
    return "".join([piece.text if piece.expression is None else f"⟨{piece.shown}⟩" for piece in text.pieces])


def value(content: str, *path: str | int) -> str:
    source, root = parsed(content)
    return shown(yaml.text(source, at(root, *path)))


def words(content: str, *path: str | int) -> list[str] | None:
    """The words of a list; one that may be none or several has a star."""
    source, root = parsed(content)
    found = yaml.listed(source, at(root, *path))
    return None if found is None else [shown(word.text) + ("*" if word.many else "") for word in found]


class TestScalars:
    @together(
        "content, expected",
        [
            ("k: {{ .a }}", "⟨{{ .a }}⟩"),
            ("k: {{ .a }}-{{ .b }}.x", "⟨{{ .a }}⟩-⟨{{ .b }}⟩.x"),
            (
                'k: "{{ required "a \\"b\\"" .c }}:{{ .d | default "v1" }}"',
                '⟨{{ required "a \\"b\\"" .c }}⟩:⟨{{ .d | default "v1" }}⟩',
            ),
            ("k: '{{ .a }}'  # {{ .b }}", "⟨{{ .a }}⟩"),
            ('k: {{ printf "%s"\n     .a }}\nl: 1', '⟨{{ printf "%s"\n     .a }}⟩'),
            ("{{ .k }}: 1\nk: x{{ if .a }}y{{ end }}", "x⟨{{ if .a }}y{{ end }}⟩"),
            ("k: {{/* never */}}a\nl: {{ .b }}", "a"),
            ("k: a\n{{ .b }}: c\n{{ .d }}: e", "a"),
        ],
    )
    def test_values(self, content: str, expected: str) -> None:
        assert value(content, "k") == expected

    def test_places(self) -> None:
        source, root = parsed('a: 1\nk: "{{ .x }}:{{ .y }}-z"\n')
        text = yaml.text(source, at(root, "k"))
        assert [piece.span.text for piece in text.pieces if piece.span is not None] == ["{{ .x }}", ":", "{{ .y }}", "-z"]
        assert yaml.span(source, at(root, "k")).text == '"{{ .x }}:{{ .y }}-z"'

    def test_keys(self) -> None:
        _, root = parsed("a: {{ .b }}\n{{ .c }}: 1\n{{ .d }}: 2\n")
        assert list(yaml.entries(root)) == ["a", "{{ .c }}", "{{ .d }}"]

    def test_yaml_that_is_none_of_a_template(self) -> None:
        """Braces in texts of an ordinary file: what they write is not known either, the rest is read as ever."""
        assert value('k: "a {{ .b }} c\\td"\n', "k") == "a ⟨{{ .b }}⟩ c\td"
        assert value('k: \'{"a": {"b": 1}}\'\n', "k") == '{"a": {"b": 1}}'
        assert value("k: {{a: b}: c}\nl: 1\n", "l") == "1"


class TestLists:
    def test_words(self) -> None:
        assert words("k:\n  - --model\n  - {{ .a }}\n  - --port={{ .b }}\n", "k") == [
            "--model",
            "⟨{{ .a }}⟩",
            "--port=⟨{{ .b }}⟩",
        ]

    def test_a_word_that_may_be_left_out(self) -> None:
        assert words("k:\n  - a\n  {{- if .x }}\n  - b\n  {{- else }}\n  - c={{ .d }}\n  {{- end }}\n  - e\n", "k") == [
            "a",
            "⟨b⟩*",
            "⟨c={{ .d }}⟩*",
            "e",
        ]

    def test_what_it_may_be_is_known(self) -> None:
        source, root = parsed("k:\n  - a\n  {{- if .x }}\n  - --b\n  {{- end }}\n")
        word = (yaml.listed(source, at(root, "k")) or [])[1]
        perhaps = word.text.pieces[0].perhaps
        assert perhaps is not None
        assert perhaps.value == "--b"
        assert word.text.span() == perhaps.span()

    def test_all_of_them_may_be_left_out(self) -> None:
        assert words("k:\n  {{- range .x }}\n  - a\n  {{- end }}\n", "k") == ["⟨a⟩*"]
        assert words("{{- if .x }}\nk:\n  - a\n{{- end }}\nl: 1\n", "k") == ["⟨a⟩*"]

    def test_not_where_the_list_is_left_out_with_all_around_it(self) -> None:
        assert words("{{- if .x }}\na:\n  k:\n    - b\n{{- end }}\n", "a", "k") == ["b"]
        assert words('{{- define "x" }}\nk:\n  - b\n{{- end }}\n', "k") == ["b"]

    @pytest.mark.parametrize(
        "content",
        [
            "k:\n  - a\n  {{- toYaml .b | nindent 2 }}\n",
            "k:\n  - a\n{{ toYaml .b | indent 2 }}\n",
            "k:\n- a\n{{- toYaml .b | nindent 0 }}\n",
            "k:\n  - a\n  {{- with .b }}{{ toYaml . | nindent 2 }}{{ end }}\nl: 1\n",
        ],
    )
    def test_lines_that_the_template_writes(self, content: str) -> None:
        found = words(content, "k")
        assert found is not None
        assert found[0] == "a"
        assert len(found) == 2
        assert found[1].startswith("⟨{{")
        assert found[1].endswith("*")

    def test_they_come_first(self) -> None:
        assert words("k:\n  {{- toYaml .b | nindent 2 }}\n  - a\n", "k") == ["⟨{{- toYaml .b | nindent 2 }}⟩*", "a"]
        assert words("k: {{- toYaml .b | nindent 2 }}\n  - a\n", "k") == ["⟨{{- toYaml .b | nindent 2 }}⟩*", "a"]
        assert words("k: {{- toYaml .b | nindent 0 }}\n- a\n", "k") == ["⟨{{- toYaml .b | nindent 0 }}⟩*", "a"]

    def test_they_belong_to_what_stands_as_deep(self) -> None:
        content = 'a:\n  k:\n    - b\n  {{- include "c" . | nindent 2 }}\n'
        assert words(content, "a", "k") == ["b"]
        _, root = parsed(content)
        assert yaml.gaps(at(root, "a"))
        assert not yaml.gaps(at(root, "a", "k"))

    @pytest.mark.parametrize("content", ["k: {{ toYaml .a | nindent 2 }}\n", "k:\n  {{- toYaml .a | nindent 2 }}\nl: 1\n"])
    def test_the_template_writes_them_all(self, content: str) -> None:
        found = words(content, "k")
        assert found is not None
        assert len(found) == 1
        assert found[0].endswith("*")
        assert yaml.gaps(at(parsed(content)[1], "k"))

    def test_in_brackets(self) -> None:
        assert words("k: [a, {{ .b }}, '{{ .c }}', {{ .d | quote }}]\n", "k") == [
            "a",
            "⟨{{ .b }}⟩*",
            "⟨{{ .c }}⟩",
            "⟨{{ .d | quote }}⟩",
        ]
        assert words("k: [ a {{- if .b }}, c{{ end }}]\n", "k") == ["a", "⟨{{- if .b }}, c{{ end }}⟩*"]

    def test_what_is_no_list(self) -> None:
        assert words("k: a\nl: {{ .b }}\n", "k") is None
        assert words("k: a{{ .b }}\n", "k") is None
        assert yaml.listed(Source("x", ""), None) is None

    def test_variables(self) -> None:
        content = """
            env:
              - name: A
                {{- if .x }}
                value: "1"
                {{- else }}
                value: "2"
                {{- end }}
              {{- if .y }}
              - name: B
                value: "3"
              {{- end }}
              - name: C
                value: "4"
        """
        assert [value(content, "env", number, "value") for number in range(3)] == ["⟨2⟩", "⟨3⟩", "4"]
        assert [value(content, "env", number, "name") for number in range(3)] == ["A", "B", "C"]


class TestBlocks:
    """A script in a template: lines of actions are not there, whatever their indentation."""

    def test_a_script(self) -> None:
        content = """
            k:
              - |
                run {{ .a }} \\
            {{- if .b }}
                  --c \\
            {{- end }}
                  --d
              {{- if .e }}
              - f
              {{- end }}
            l: {{ .m }}
        """
        assert value(content, "k", 0) == "run ⟨{{ .a }}⟩ \\\n  ⟨--c⟩ \\\n  --d\n"
        assert words(content, "k") == ["run ⟨{{ .a }}⟩ \\\n  ⟨--c⟩ \\\n  --d\n", "⟨f⟩*"]

    def test_lines_that_the_template_writes(self) -> None:
        assert value("k: |\n  a\n{{ .b | indent 2 }}\n  c\nl: {{ .d }}\n", "k") == "a\n⟨{{ .b | indent 2 }}⟩\nc\n"

    def test_an_end_that_belongs_to_the_script(self) -> None:
        assert value("k: |-\n  a\n  {{- if .b }}\n  --c\n  {{- end }}\nl: {{ .d }}\n", "k") == "a\n⟨--c⟩"

    def test_a_folded_text(self) -> None:
        assert value("k: >-\n  run {{ .a }}\n  {{- if .b }}\n  --c\n  {{- end }}\n  --d\nl: {{ .e }}\n", "k") == (
            "run ⟨{{ .a }}⟩ ⟨--c⟩ --d"
        )

    def test_places(self) -> None:
        source, root = parsed(
            "k: |\n  a\n  {{- if .b }}\n    --c {{ .d }}\n  {{- end }}\n  e\n{{- if .f }}\nl: 1\n{{- end }}\n"
        )
        text = yaml.text(source, at(root, "k"))
        assert [piece.span.text.strip() for piece in text.pieces if piece.span is not None and piece.span.text.strip()] == [
            "a",
            "--c {{ .d }}",
            "e",
        ]


class TestJinja:
    def test_a_playbook_s_template(self) -> None:
        content = """
            {# a comment: [ #}
            spec:
              {% if big %}
              image: "a:{{ tag }}"
              {% else %}
              image: b
              {% endif %}
              args:
                - "{{ model }}"
                {% for arg in more %}
                - {{ arg }}
                {% endfor %}
        """
        assert value(content, "spec", "image") == "⟨b⟩"
        assert words(content, "spec", "args") == ["⟨{{ model }}⟩", "⟨{{ arg }}⟩*"]


class TestProblems:
    def test_a_template_that_is_no_yaml_either(self) -> None:
        _, problem = yaml.documents(Source("x.yaml", "a: {{ .b }}\nc: [\n"))
        assert problem is not None
        assert (problem.line, problem.column) == (3, 1)

    def test_what_comes_before_is_kept(self) -> None:
        nodes, problem = yaml.documents(Source("x.yaml", "a: {{ .b }}\n---\nc: [\n"))
        assert len(nodes) == 1
        assert problem is not None

    def test_aliases(self) -> None:
        assert value("a: &a {{ .b }}\nk: *a\n", "k") == "⟨{{ .b }}⟩"

    @pytest.mark.parametrize(
        "part", ["- {{ .a }}\n", "{{ if .a }}\n- b\n{{ end }}\n", "{{ .a }}\n", "- a: {{ .b }}\n  {{- .c | nindent 2 }}\n"]
    )
    def test_a_long_text_is_read_at_once(self, part: str) -> None:
        nodes, problem = yaml.documents(Source("x.yaml", part * 5_000))
        assert problem is None
        assert len(nodes) <= 1


PARTS = [
    "{{ if .a }}",
    "{{ else }}",
    "{{- end }}",
    "{{ .b }}",
    "{{ toYaml .c | nindent 2 }}",
    "{{",
    "%}",
    "k: ",
    "- ",
    "x",
    ": ",
]
PARTS += ["|", "\n", "  ", "'", '"', "[", "]", ","]


@given(st.lists(st.sampled_from(PARTS), max_size=40))
def test_any_text_is_read(parts: list[str]) -> None:
    source = Source("x.yaml", "".join(parts))
    copy = masked(source.text).text
    assert copy is not None
    assert len(copy) == len(source.text)
    assert [index for index, char in enumerate(copy) if char == "\n"] == [
        index for index, char in enumerate(source.text) if char == "\n"
    ]
    nodes, _ = yaml.documents(source)
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        assert yaml.span(source, node).end <= len(source.text)
        if yaml.is_scalar(node):
            for piece in yaml.text(source, node).pieces:
                assert piece.span is None or not piece.verbatim or piece.span.text == piece.text
        elif yaml.is_mapping(node):
            waiting += [part for pair in node.value for part in pair]
        elif yaml.is_sequence(node):
            assert yaml.listed(source, node) is not None
            waiting += node.value


@pytest.mark.parametrize("head", ["|", ">-", "|+", "| # the script"])
@pytest.mark.parametrize("column", [0, 2, 12])
def test_actions_in_front_of_the_first_line_of_a_block_scalar(head: str, column: int) -> None:
    action = " " * column + "{{- if .Values.a.long.enough.to.pass.the.indentation }}"
    text = f"args:\n  - {head}\n{action}\n    export A=b\n{' ' * column}{{{{- end }}}}\n    run it\n"
    source, node = parsed(text)
    value = yaml.text(source, at(node, "args", 0))
    assert value.flat.split()[-2:] == ["run", "it"]
    assert "#" not in value.flat


@pytest.mark.parametrize(
    "items",
    [
        'a, {{ if .Values.x }}"--tp", "{{ .Values.tp }}",{{ end }} b',
        "a{{ range .Values.x }}, {{ . | quote }}{{ end }}, b",
        '"a"{{ with .Values.x }}, "{{ . }}"{{ end }}, b',
    ],
)
def test_items_of_a_list_in_brackets(items: str) -> None:
    source, node = parsed(f"args: [{items}]\n")
    words = yaml.listed(source, at(node, "args")) or []
    assert [word.text.value for word in words if word.text.known] == ["a", "b"]
    assert [word.many for word in words] == [False, True, False]
