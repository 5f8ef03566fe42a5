"""Templates in texts: what an action writes is unknown, what stands in a branch may be left out, the rest keeps its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText
from servelint.syntax.templates import CLOSE, ELSE, OPEN, SILENT, VALUE, filled, scan, unfolded, unsure
from tests.together import together


def text(content: str) -> TracedText:
    return TracedText.at(Source("x", content), 0, len(content))


def shape(found: TracedText) -> str:
    """The text with each unknown as ⟨its expression⟩."""
    return "".join([piece.text if piece.expression is None else f"⟨{piece.expression}⟩" for piece in found.pieces])


@together(
    "content, kinds",
    [
        ("{{ .Values.model }}", [VALUE]),
        ("a {{- .b -}} c {{ d }}", [VALUE, VALUE]),
        ("{{ if .a }}x{{ else if .b }}y{{ else }}z{{ end }}", [OPEN, ELSE, ELSE, CLOSE]),
        ("{{- range $k, $v := .m }}{{ $k }}{{- end }}", [OPEN, VALUE, CLOSE]),
        ("{{ with .a }}{{ toYaml . }}{{ end }}", [OPEN, VALUE, CLOSE]),
        ("{{- $x := .Values.a }}{{ $y = 2 }}{{ $x }}", [SILENT, SILENT, VALUE]),
        ("{{/* don't }} look */}}{{- /* a */ -}}", [SILENT, SILENT]),
        ('{{ "}}" }}{{ `{{ x }}` }}', [VALUE, VALUE]),
        ('{{ fail "no }}" }}', [SILENT]),
        ("{{ '{{' }} env \"P\" {{ '}}' }} {{ a }}", [VALUE, VALUE]),
        ('{{"{{"}}a{{ "}}" }}', [VALUE]),
        ("{{ '{{' }} a\n{{ '}}' }}", [VALUE, VALUE]),
        ("{% if a %}{{ b['}}'] }}{% elif c %}{% endif %}", [OPEN, VALUE, ELSE, CLOSE]),
        ("{% for a in b -%}{% endfor %}{% set x = 1 %}{% set y %}{% endset %}", [OPEN, CLOSE, SILENT, OPEN, CLOSE]),
        ("{# a {{ b }} #}{% include 'x' %}", [SILENT, VALUE]),
        ("{{#if a}}{{/if}}", [OPEN, CLOSE]),
        ("${{ matrix.model }}", [VALUE]),
        ("${#array[@]} {{", []),
        ("{ {a: b} } {%", []),
        ("}} {{ a", []),
    ],
)
def test_actions(content: str, kinds: list[str]) -> None:
    assert [action.kind for action in scan(content)] == kinds


@given(st.text(alphabet="{}%#$\"'`/*- abif\n", max_size=80))
def test_actions_follow_each_other(content: str) -> None:
    at = 0
    for action in scan(content):
        assert at <= action.start < action.end <= len(content)
        at = action.end


class TestLine:
    @together(
        "content, expected",
        [
            ("--model={{ .Values.model }}", "--model=⟨{{ .Values.model }}⟩"),
            ("{{ .a }}:{{ .b }}", "⟨{{ .a }}⟩:⟨{{ .b }}⟩"),
            ("image:${{ inputs.tag || 'latest' }}", "image:⟨${{ inputs.tag || 'latest' }}⟩"),
            ("a{{ if .x }}-{{ .x }}{{ end }}b", "a⟨{{ if .x }}-{{ .x }}{{ end }}⟩b"),
            ("a{{/* never */}}b", "ab"),
            ("a{{ end }}b", "ab"),
            ("docker ps --format '{{.Names}}'", "docker ps --format '⟨{{.Names}}⟩'"),
            ('{"method": "mtp", "more": {"a": {"b": 1}}}', '{"method": "mtp", "more": {"a": {"b": 1}}}'),
        ],
    )
    def test_actions_become_unknown(self, content: str, expected: str) -> None:
        assert shape(filled(text(content))) == expected

    def test_what_is_shown_is_what_is_written(self) -> None:
        content = "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{% endfor %}{% if go %}{{ 'x' }}{% endif %}"
        found = filled(text(content))
        assert found.shown == content
        assert not found.known

    def test_every_unknown_stands_at_its_action(self) -> None:
        content = "--a={{ .b }} --c {{ .d | quote }}"
        found = filled(text(content))
        assert [piece.span.text for piece in found.pieces if piece.span is not None] == [
            "--a=",
            "{{ .b }}",
            " --c ",
            "{{ .d | quote }}",
        ]

    def test_a_lookup_gives_a_value_that_others_may_override(self) -> None:
        found = filled(text("v{{ .a }}-{{ .b }}"), lambda action: TracedText.of("1") if ".a" in action else None)
        assert shape(found) == "v1-⟨{{ .b }}⟩"
        assert found.assumed
        assert found.pieces[1].span is not None
        assert found.pieces[1].span.text == "{{ .a }}"


class TestLines:
    """Texts of several lines: a line of nothing but actions is not there, what stands in a branch is one unknown."""

    def test_words_that_may_be_left_out(self) -> None:
        content = "vllm serve {{ .model }} \\\n  {{- if .len }}\n  --max-model-len {{ .len }} \\\n  {{- end }}\n  --port 8000\n"
        found = filled(text(content))
        assert shape(found) == "vllm serve ⟨{{ .model }}⟩ \\\n  ⟨--max-model-len {{ .len }}⟩ \\\n  --port 8000\n"
        perhaps = next(piece.perhaps for piece in found.pieces if piece.perhaps is not None)
        assert shape(perhaps) == "--max-model-len ⟨{{ .len }}⟩"

    def test_each_branch_is_an_unknown_of_its_own(self) -> None:
        content = "run \\\n{{- if .a }}\n  --a \\\n{{- else }}\n  --b \\\n{{- end }}\n  --c\n"
        assert shape(filled(text(content))) == "run \\\n  ⟨--a⟩ \\\n  ⟨--b⟩ \\\n  --c\n"

    def test_branches_in_branches(self) -> None:
        content = "a\n{{ if .a }}\n-b\n{{ if .c }}\n-d\n{{ end }}\n-e\n{{ end }}\nf\n"
        assert shape(filled(text(content))) == "a\n⟨-b\n-d\n-e⟩\nf\n"

    def test_a_part_that_is_never_left_out(self) -> None:
        assert shape(filled(text('{{ define "x" }}\nvllm serve a\n{{ end }}\n'))) == "vllm serve a\n"

    def test_lines_that_a_template_writes(self) -> None:
        assert shape(filled(text("a\n{{ toYaml .b | nindent 2 }}\nc\n"))) == "a\n⟨{{ toYaml .b | nindent 2 }}⟩\nc\n"

    def test_a_branch_that_nothing_ends_says_nothing(self) -> None:
        assert shape(filled(text("a\n{{ if .a }}\nb\n"))) == "a\nb\n"

    def test_an_action_over_several_lines(self) -> None:
        assert shape(filled(text("a\n{{- if or\n  .a\n  .b }}\n--c\n{{- end }}\nd\n"))) == "a\n⟨--c⟩\nd\n"

    def test_nested_without_end(self) -> None:
        content = "{{ if .a }}\n" * 2000 + "x\n" + "{{ end }}\n" * 2000
        assert HOLE in filled(text(content)).flat

    def test_carriage_returns(self) -> None:
        assert shape(filled(text("a\r\n{{ if .b }}\r\n--c\r\n{{ end }}\r\nd\r\n"))) == "a\r\n⟨--c⟩\r\nd\r\n"


class TestScripts:
    """In a script, commands that may be left out are what a shell's `if` of unknown outcome runs."""

    def shell(self, content: str) -> str:
        return shape(filled(text(content), script=True))

    def test_commands(self) -> None:
        assert self.shell("a\n{{- if .x }}\nexport B=1\n{{- else }}\nray start\n{{- end }}\nc\n") == (
            "a\nif ⟨{{- if .x }}⟩; then\nexport B=1\nelif ⟨{{- else }}⟩; then\nray start\nfi\nc\n"
        )

    @pytest.mark.parametrize(
        "content",
        [
            "run \\\n{{ if .x }}\nmodel \\\n{{ end }}\n-a\n",
            "ARGS=(\n{{ if .x }}\nmodel\n{{ end }}\n)\n",
            "run\n{{ if .x }}\n--a\n{{ end }}\n",
            "run\n{{ if .x }}\n'quoted'\n{{ end }}\n",
            "key:\n{{ if .x }}\nname: value\n{{ end }}\n",
        ],
    )
    def test_words_are_no_commands(self, content: str) -> None:
        assert "then" not in self.shell(content)


@given(
    st.lists(
        st.sampled_from(
            ["{{ if .a }}", "{{ else }}", "{{ end }}", "{{ .b }}", "x y", "--c", "\n", " ", "\\", "{%", "{{", "\r\n"]
        ),
        max_size=30,
    ),
    st.booleans(),
)
def test_any_text_is_filled(parts: list[str], script: bool) -> None:
    content = "".join(parts)
    found = filled(text(content), script=script)
    known = [piece for piece in found.pieces if piece.expression is None and piece.span is not None]
    assert all(piece.span is not None and piece.span.text == piece.text for piece in known)
    starts = [piece.span.start for piece in known if piece.span is not None]
    assert starts == sorted(starts)


@pytest.mark.parametrize(
    "part",
    ["{{", "{%", "{{/*", "{#", '{{ "', "{{ if .a }}\n", "{{ if a }}x", "{% for %} ", "{{ end }}", "{{ a }}", "{{ a }}\n"],
)
def test_a_long_text_is_read_at_once(part: str) -> None:
    content = part * 20_000
    assert len(filled(text(content)).flat) <= len(content)


@together(
    "content, truth, expected",
    [
        # whole lines
        ("a\n{{ if .x }}\nb\n{{ else }}\nc\n{{ end }}\nd", {"{{ if .x }}": True}, "a\nb\nd"),
        ("a\n{{ if .x }}\nb\n{{ else }}\nc\n{{ end }}\nd", {"{{ if .x }}": False}, "a\nc\nd"),
        ("a\n{{ if .x }}\nb\n{{ else }}\nc\n{{ end }}\nd", {}, "a\n⟨b⟩\n⟨c⟩\nd"),
        (
            "{{ if .x }}\na\n{{ else if .y }}\nb\n{{ else }}\nc\n{{ end }}\n",
            {"{{ if .x }}": False, "{{ else if .y }}": True},
            "b\n",
        ),
        ("{{ if .x }}\na\n{{ else if .y }}\nb\n{{ else }}\nc\n{{ end }}\n", {"{{ if .x }}": False}, "⟨a⟩\n⟨b⟩\n⟨c⟩\n"),
        (
            "{{ if .x }}\na\n{{ else if .y }}\nb\n{{ end }}\n",
            {"{{ if .x }}": False, "{{ else if .y }}": False},
            "",
        ),
        ("{{ if .x }}\na\n{{ end }}\n", {"{{ if .x }}": True}, "⟨a⟩\n"),  # it may be left out all the same
        ("{{ if .x }}\n{{ else }}\nc\n{{ end }}\n", {"{{ if .x }}": True}, ""),
        ("{{ range .x }}\na\n{{ end }}\n", {"{{ range .x }}": False}, ""),
        ("{{ range .x }}\na\n{{ end }}\n", {"{{ range .x }}": True}, "⟨a⟩\n"),
        ("{{ range .x }}\na\n{{ else }}\nb\n{{ end }}\n", {"{{ range .x }}": False}, "b\n"),
        # in a line
        ("a{{ range .x }} b{{ end }} c", {"{{ range .x }}": False}, "a c"),
        ("a{{ range .x }} b{{ end }} c", {"{{ range .x }}": True}, "a⟨{{ range .x }} b{{ end }}⟩ c"),
        ("a{{ if .x }} b{{ end }} c", {"{{ if .x }}": False}, "a⟨{{ if .x }} b{{ end }}⟩ c"),
    ],
)
def test_a_condition_whose_truth_is_known(content: str, truth: dict[str, bool], expected: str) -> None:
    assert shape(filled(text(content), truth=truth.get)) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("run a{{ if .x }} --b 1{{ end }} c", "run a ⟨--b 1⟩ c"),
        ("run a{{ if .x }} {{ end }}c", "run a⟨{{ if .x }} {{ end }}⟩c"),
        ("run a{{ if .x }}b{{ end }} c", "run a⟨{{ if .x }}b{{ end }}⟩ c"),
        ("run a{{ if .x }} b{{ else }} c{{ end }}d", "run a ⟨{{ if .x }} b{{ else }} c{{ end }}⟩d"),
        ("run a{{ if .x }}b {{ else }}c {{ end }}d", "run a⟨{{ if .x }}b {{ else }}c {{ end }}⟩ d"),
        ("run a{{ if .x }} b {{ else }} c {{ end }}d", "run a ⟨{{ if .x }} b {{ else }} c {{ end }}⟩ d"),
        ("run a{{ if .x }} b{{ else }}c{{ end }}d", "run a⟨{{ if .x }} b{{ else }}c{{ end }}⟩d"),
    ],
)
def test_blanks_of_a_branch_in_a_line_of_a_script(content: str, expected: str) -> None:
    assert shape(filled(text(content), script=True)) == expected


def test_a_text_that_is_folded_or_may_be_missing() -> None:
    found = filled(text("a\n{{ b }}\nc\n"))
    assert shape(unfolded(found)) == "a ⟨{{ b }}⟩ c "
    assert [piece.span for piece in unfolded(found).pieces] == [piece.span for piece in found.pieces]
    (piece,) = unsure(text("a b")).pieces
    assert (piece.expression, piece.perhaps and piece.perhaps.flat, piece.span and piece.span.text) == ("a b", "a b", "a b")
    assert unsure(text("")).pieces == ()
