"""Go templates filled with the values of their chart."""

from __future__ import annotations

import pytest

from servelint.core.source import Source
from servelint.core.text import HOLE
from servelint.syntax import yaml
from servelint.syntax.go_functions import Unknown, loaded
from servelint.syntax.go_templates import Renderer, Template
from tests.together import together

VALUES = """\
model: org/m
tag: ""
count: 2
ratio: 0.90
on: "yes"
off: false
none: null
nested: {a: {b: deep}}
args: [--x, "1", "a b"]
options: {zeta: 9, alpha: "7", empty: ""}
models:
  - {name: one, size: 1}
  - {name: two, size: 2}
written: "{{ .Values.model }}:{{ .Chart.AppVersion }}"
"""
HELPERS = """\
{{- define "name" -}}
{{ .Values.model | replace "/" "-" }}
{{- end -}}
{{- define "image" -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ printf "%s:%s" .repository .tag }}{{- end -}}
{{- end -}}
{{- define "release" -}}{{ .Release.Name }}{{- end -}}
{{- define "args" -}}
- --model
- {{ .Values.model | quote }}
- --served-model-name
- {{ include "release" . | quote }}
- {{ squote .Release.Name }}
- {{ unheardOf .Values.count | int }}
{{- end -}}
"""


def filled(text: str, values: str = VALUES, *, shown: bool = False) -> str | None:
    source = Source("values.yaml", values)
    documents, _ = yaml.documents(source)
    helpers = Template(Source("_helpers.tpl", HELPERS)).helpers
    chart = {"AppVersion": loaded(Source("", "v1"), yaml.documents(Source("", "v1"))[0][0])}
    template = Template(Source("templates/a.yaml", text))
    found = Renderer(loaded(source, documents[0]), chart, {**helpers, **template.helpers}).render(template, shown=shown)
    return found.flat if found is not None else None


class TestActions:
    @together(
        "action, text",
        [
            (".Values.model", "org/m"),
            ("$.Values.nested.a.b", "deep"),
            (".Values.absent", ""),
            (".Values.none", ""),
            (".Values.ratio", "0.90"),
            (".Values.tag | default .Chart.AppVersion", "v1"),
            (".Values.model | quote", '"org/m"'),
            ("default 3 .Values.absent", "3"),
            ("coalesce .Values.tag .Values.none .Values.model", "org/m"),
            ('printf "%s-%d" .Values.model 4', "org/m-4"),
            ('ternary "a" "b" .Values.off', "b"),
            ('join " " .Values.args', "--x 1 a b"),
            ("(index .Values.models 1).name", "two"),
            ('index .Values.options "zeta"', "9"),
            ('get .Values.options "alpha" | int', "7"),
            ("len .Values.args", "3"),
            ("add .Values.count 1", "3"),
            ('trimPrefix "org/" .Values.model', "m"),
            (".Values.model | trunc 3 | upper", "ORG"),
            ('include "name" .', "org-m"),
            ('include "image" (dict "repository" "r" "tag" "t")', "r:t"),
            ('include "image" (dict "repository" "r" "digest" "d")', "r@d"),
            ("tpl .Values.written .", "org/m:v1"),
            ('join " " .Values.args | wrap 5', "--x 1\na b"),
            ('"a bcdefghi" | wrap 3', "a\nbcdefghi"),
            ('mustHas "1" .Values.args', "true"),
            ("max .Values.count 5", "5"),
            ('regexSplit "/" .Values.model -1 | last', "m"),
            ('regexMatch "^org" .Values.model', "true"),
            ('compact (list "" "a") | len', "1"),
            ('without (prepend .Values.args "y") "y" | first', "--x"),
            ("toJson .Values.nested", '{"a":{"b":"deep"}}'),  # as Go writes it: without blanks
            ("toJson .Values.args", '["--x","1","a b"]'),
            ("toRawJson .Values.models", '[{"name":"one","size":1},{"name":"two","size":2}]'),
            ("toYaml (list)", "[]"),
            ("add1 4", "5"),
            ("add 1 2 3", "6"),
            ("sub 7 2", "5"),
            ("mul 2 3 4", "24"),
            ("div 7 2", "3"),
            ("mod 7 4", "3"),
            ("int 3.9", "3"),
            ('int64 "12"', "12"),
            ('append (list "a") "b" | join ","', "a,b"),
            ('concat (list "a") (list "b" "c") | join ","', "a,b,c"),
            ('coalesce "" .Values.tag "z"', "z"),
            ('contains "rg" .Values.model', "true"),
            ('hasPrefix "org" .Values.model', "true"),
            ('hasSuffix "org" .Values.model', "false"),
            ('hasKey .Values.options "zeta"', "true"),
            ('has "1" .Values.args', "true"),
            ('has "2" .Values.args', "false"),
            ("empty .Values.tag", "true"),
            ("empty .Values.model", "false"),
            ("not .Values.model", "false"),
            ('eq .Values.model "org/m"', "true"),
            ('ne .Values.model "org/m"', "false"),
            ("ge 2 2", "true"),
            ("gt 2 2", "false"),
            ("le 2 2", "true"),
            ("lt 2 2", "false"),
            ("first .Values.args", "--x"),
            ("last .Values.args", "a b"),
            ('rest .Values.args | join "+"', "1+a b"),
            ('tuple "a" "b" | join "-"', "a-b"),
            ('(dict "a" "b").a', "b"),
            ('keys .Values.options | join ","', "alpha,empty,zeta"),
            ('sortAlpha (list "b" "a") | join ","', "a,b"),
            ('uniq (list "b" "a" "b") | join ","', "b,a"),
            ('toStrings (list 1 2) | join ","', "1,2"),
            ('until 3 | join ","', "0,1,2"),
            ('toJson (pick .Values.options "zeta")', '{"zeta":9}'),
            ('toJson (omit .Values.options "zeta")', '{"alpha":"7","empty":""}'),
            ('toJson (merge (dict "a" 1) (dict "a" 2 "b" 3))', '{"a":1,"b":3}'),
            ('toJson (mergeOverwrite (dict "a" 1) (dict "a" 2 "b" 3))', '{"a":2,"b":3}'),
            ('fromYaml "a: 1" | toJson', '{"a":1}'),
            ("toString .Values.count", "2"),
            ('lower "ABC"', "abc"),
            ('trim " a "', "a"),
            ('trimAll "$" "$5$"', "5"),
            ('trimSuffix "/m" .Values.model', "org"),
            ('replace "/" "_" .Values.model', "org_m"),
            ("squote .Values.model", "'org/m'"),
            ('quote "a" "b"', '"a" "b"'),
            ('kindIs "string" .Values.model', "true"),
            ('kindIs "slice" .Values.args', "true"),
            ('typeIs "string" .Values.model', "true"),
            ('dig "a" "b" "other" .Values.nested', "deep"),
            ("deepCopy .Values.nested | toJson", '{"a":{"b":"deep"}}'),
            ('indent 2 "a"', "  a"),
            ('nindent 2 "a"', "\n  a"),
            ('b64dec "eA=="', "x"),
            ('required "is missing" .Values.model', "org/m"),
            ("/* a comment */", ""),
            ('dig "a" "c" "other" .Values.nested', "other"),
            ("or .Values.tag .Values.model", "org/m"),
            ("and .Values.model .Values.count", "2"),
            ('splitList "/" .Values.model | last', "m"),
            ("base .Values.model", "m"),
            ("dir .Values.model", "org"),
            ('base "m"', "m"),
            ('dir "m"', "."),
            ('base "/models/a/"', "a"),
            ('dir "/models/a/"', "/models/a"),
            ('dir "/a"', "/"),
            ('initial .Values.args | join "+"', "--x+1"),
            ('reverse (list "a" "b") | join ","', "b,a"),
            ('nospace " a b "', "ab"),
            ('untilStep 0 6 2 | join ","', "0,2,4"),
        ],
    )
    def test_known(self, action: str, text: str) -> None:
        assert filled("<{{ " + action + " }}>") == f"<{text}>"

    @together(
        "action",
        [
            ".Release.Name",
            ".Values.absent.below",
            'include "of.a.library" .',
            'include "release" .',
            'lookup "v1" "Secret" "a" "b"',
            'required "is missing" .Values.tag',
            ".Values.nested",
            ".Values.model .Values.tag",
            "unheardOf .Values.model",
            "eq .Values.model .Values.count",
            "index .Values.args 9",
            ".Capabilities.KubeVersion",
            "quote .Values.nested",
            "a b c (",
        ],
    )
    def test_what_is_not_known_stays(self, action: str) -> None:
        text = "<{{ " + action + " }}>"
        assert filled(text) == text

    def test_white_space(self) -> None:
        assert filled("a  \n  {{- .Values.model -}}  \n b") == "aorg/mb"
        assert filled("a\n  {{- .Release.Name -}}  \n b") == "a\n  {{- .Release.Name -}}  \n b"

    def test_one_unknown_line_of_a_helper_leaves_the_others_known(self) -> None:
        found = filled('args:\n  {{- include "args" . | nindent 2 }}\n')
        assert found == (
            f'args:\n  - --model\n  - "org/m"\n  - --served-model-name\n  - "{HOLE}"\n  - \'{HOLE}\'\n  - {HOLE}\n'
        )
        assert yaml.documents(Source("", found))[1] is None

    def test_lists_and_mappings_as_yaml(self) -> None:
        text = "args:\n  {{- toYaml .Values.args | nindent 2 }}\nenv:\n{{ toYaml .Values.options | indent 2 }}\n"
        found = filled(text)
        assert found is not None
        assert found == 'args:\n  - "--x"\n  - "1"\n  - "a b"\nenv:\n  alpha: "7"\n  empty: ""\n  zeta: 9\n'
        assert yaml.documents(Source("", found))[1] is None


class TestParts:
    @together(
        "condition, holds",
        [
            (".Values.model", True),
            (".Values.tag", False),
            (".Values.off", False),
            ("not .Values.off", True),
            ("and .Values.model (eq (int .Values.count) 2)", True),
            ('or .Values.tag (hasKey .Values "ratio")', True),
            ("and .Release.Name .Values.off", False),
            ('contains "rg" .Values.model', True),
            ("gt (int .Values.count) 3", False),
            ("empty .Values.none", True),
            ('has "--x" .Values.args', True),
        ],
    )
    def test_if(self, condition: str, holds: bool) -> None:
        assert filled("{{ if " + condition + " }}a{{ else }}b{{ end }}") == ("a" if holds else "b")

    def test_else_if(self) -> None:
        text = '{{- if .Values.tag }}a{{ else if eq .Values.model "org/m" }}b{{ else }}c{{ end }}'
        assert filled(text) == "b"

    def test_what_hangs_on_the_installation_stays_with_its_branches(self) -> None:
        text = "{{ if .Release.IsInstall }}{{ .Values.model }}{{ else }}{{ .Values.count }}{{ end }}"
        assert filled(text) == "{{ if .Release.IsInstall }}org/m{{ else }}2{{ end }}"

    def test_range(self) -> None:
        assert filled("{{ range .Values.models }}{{ .name }}={{ $.Values.count }};{{ end }}") == "one=2;two=2;"
        assert filled("{{ range $i, $one := .Values.models }}{{ $i }}{{ $one.size }} {{ end }}") == "01 12 "
        assert filled("{{ range .Values.absent }}a{{ else }}b{{ end }}") == "b"

    def test_keys_of_a_mapping_are_sorted(self) -> None:
        assert (
            filled("{{ range $key, $value := .Values.options }}{{ $key }}={{ $value }} {{ end }}") == "alpha=7 empty= zeta=9 "
        )

    def test_with(self) -> None:
        assert filled("{{ with .Values.nested }}{{ .a.b }}{{ end }}") == "deep"
        assert filled("{{ with .Values.tag }}a{{ else }}b{{ end }}") == "b"

    def test_variables(self) -> None:
        assert filled("{{ $a := 1 }}{{ if .Values.model }}{{ $a = 2 }}{{ end }}{{ $a }}") == "2"
        text = '{{ $root := . }}{{ $one := index $root.Values "nested" }}{{ $one.a.b }}'
        assert filled(text) == "deep"

    def test_a_variable_of_a_part_is_not_the_one_outside(self) -> None:
        for sign, last in ((":=", "1"), ("=", "{{ $a }}")):
            found = filled(
                f"{{{{ $a := 1 }}}}{{{{ if .Values.model }}}}{{{{ $a {sign} .Release.Name }}}}{{{{ end }}}}{{{{ $a }}}}"
            )
            assert found == f"{{{{ $a {sign} .Release.Name }}}}{last}"

    def test_what_follows_an_operand_that_is_not_known_is_still_read(self) -> None:
        for operand in (".Release.Name", '(lookup "v1" "Node" "" "a")', '(lookup "v1" "Node" "" "a").x.y'):
            assert filled(f"{{{{ ternary {operand} .Values.model false }}}}") == "org/m"

    def test_a_variable_that_an_open_branch_may_set(self) -> None:
        found = filled("{{ $a := 1 }}{{ if .Release.IsInstall }}{{ $a = 2 }}{{ end }}{{ $a }}")
        assert found is not None
        assert found.endswith("{{ $a }}")

    def test_a_change_of_the_values_gives_all_up(self) -> None:
        assert filled('{{ $_ := set .Values "model" "x" }}{{ .Values.model }}') is None

    @pytest.mark.parametrize("text", ["{{ if .Values.model }}a", "a{{ end }}", "{{ else }}"])
    def test_parts_without_an_end(self, text: str) -> None:
        with pytest.raises(Unknown):
            Template(Source("", text))

    def test_work_is_bounded(self) -> None:
        loop = "{{ range until 900 }}{{ range until 900 }}{{ range until 900 }}{{ . }}{{ end }}{{ end }}{{ end }}"
        assert filled(loop) is None
        assert filled('{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}') is not None


@together(
    "text, found",
    [
        # white space that an action takes away
        ("a {{- 1 -}} b", "a1b"),
        ("a {{- 1 }} b", "a1 b"),
        ("a {{ 1 -}} b", "a 1b"),
        ("a {{-1}} b", "a -1 b"),
        ("{{ if 1 -}} a {{- end }} b", "a b"),
        ("{{ if 0 -}} a {{- else -}} b {{- end -}} c", "bc"),
        ("{{ range .Values.models -}} {{ .name }} {{- end -}} c", "onetwoc"),
        ("{{ with .Values.nested -}} {{ .a.b }} {{ end -}} c", "deep c"),
        ("a {{- .Release.Name -}} b", "a {{- .Release.Name -}} b"),
        ("a {{- /* said */ -}} b", "ab"),
        # arms
        ("{{ with .Values.tag }}a{{ else with .Values.model }}{{ . }}{{ else }}c{{ end }}", "org/m"),
        ("{{ if $x := .Values.model }}{{ $x }}{{ end }}", "org/m"),
        ("{{ if .Values.absent }}a{{ end }}b", "b"),
        ("{{ with .Release.Name }}{{ . }}{{ $.Values.count }}{{ end }}", "{{ with .Release.Name }}{{ . }}2{{ end }}"),
        (
            "{{ range .Release.Names }}{{ . }}{{ else }}{{ .Values.count }}{{ end }}",
            "{{ range .Release.Names }}{{ . }}{{ else }}2{{ end }}",
        ),
        ("{{ range $i, $x := .Release.Names }}{{ $i }}{{ end }}", "{{ range $i, $x := .Release.Names }}{{ $i }}{{ end }}"),
        ("{{ range .Values.model }}a{{ end }}", "{{ range .Values.model }}a{{ end }}"),
        ("{{ range $one := .Values.args }}{{ $one }};{{ end }}", "--x;1;a b;"),
        ("{{ range .Values.tag }}a{{ else }} b {{- end }}", " b"),
        # helpers
        ('{{ template "name" . }}', "org-m"),
        ('{{ template "none" . }}', '{{ template "none" . }}'),
        ("{{ template name }}", "{{ template name }}"),
        ('{{ define "x" -}} a{{ . }} {{- end }}{{ template "x" 1 }}{{ template "x" }}', "a1a"),
        ('{{ block "x" . }}a{{ end }}', '{{ block "x" . }}a{{ end }}'),
        ('{{ include "release" . }}', '{{ include "release" . }}'),
        ('{{ include "none" . }}', '{{ include "none" . }}'),
        # expressions
        ("{{ (.Values.nested).a.b }}", "deep"),
        ("{{ ((.Values.nested).a).b }}", "deep"),
        ("{{ $.Values.nested.a.b }}", "deep"),
        ("{{ .Values.model .Values.tag }}", "{{ .Values.model .Values.tag }}"),
        ("{{ .Values.model ) }}", "{{ .Values.model ) }}"),
        ("{{ (.Values.model }}", "{{ (.Values.model }}"),
        ("{{ upper .Values.model ) }}", "{{ upper .Values.model ) }}"),
        ("{{ .Values.model | .Values.tag }}", "{{ .Values.model | .Values.tag }}"),
        ("{{ | upper }}", "{{ | upper }}"),
        ("{{ .Values.model | }}", "{{ .Values.model | }}"),
        ("{{ true }}{{ false }}{{ nil }}", "truefalse"),
        ("{{ `a\"b` }}{{ \"a\\tb\" }}", 'a"ba\tb'),
        ('{{ "a\\xb" }}', '{{ "a\\xb" }}'),
        ("{{ +3 }}{{ -3 }}{{ 0.5 }}", "3-30.5"),
        ("{{ 007 }}{{ -01 }}{{ 0.25 }}{{ 0 }}", "{{ 007 }}{{ -01 }}0.250"),
        ("{{ nofunction 1 }}", "{{ nofunction 1 }}"),
        ("{{ div 1 0 }}", "{{ div 1 0 }}"),
        ("{{ .Values.model.x }}", "{{ .Values.model.x }}"),
        ("{{ .Release }}{{ .Chart.Other }}", "{{ .Release }}{{ .Chart.Other }}"),
        ("{{ $none }}", "{{ $none }}"),
        ("{{ $none = 1 }}", "{{ $none = 1 }}"),
        ("{{ default .Release.Name .Values.model }}", "org/m"),
        ("{{ upper .Release.Name }}", "{{ upper .Release.Name }}"),
        ("{{ tpl .Values.model . }}", "org/m"),
        ('{{ tpl "{{ .Release.Name }}" . }}', '{{ tpl "{{ .Release.Name }}" . }}'),
        # an empty value where no chart wants one
        ("image: a:{{ .Values.tag }}", "image: a:{{ .Values.tag }}"),
        ("vllm --model {{ .Values.tag }}", "vllm --model {{ .Values.tag }}"),
        ("vllm --model={{ .Values.tag }}", "vllm --model={{ .Values.tag }}"),
        ('vllm --model "{{ .Values.tag }}"', 'vllm --model "{{ .Values.tag }}"'),
        ("vllm --model m {{ .Values.tag }}", "vllm --model m "),
        ("vllm --x {{ .Values.extraArgs }}", "vllm --x "),
        ("{% raw %}{{ .Values.count }}", "{% raw %}2"),
    ],
)  # fmt: skip
def test_what_a_template_writes(text: str, found: str) -> None:
    assert filled(text) == found


@pytest.mark.parametrize("action", ["break", "continue"])
def test_a_loop_that_is_left_early_is_not_followed(action: str) -> None:
    assert filled(f"a{{{{ range .Values.models }}}}{{{{ {action} }}}}{{{{ end }}}}") is None


@together(
    "text, found",
    [
        ("{{ if .Values.off }}a{{ end }}", "a"),
        ("{{ if .Values.off }}a{{ end }} \n", "a"),
        ("# x\n{{ if .Values.off }}{{ if .Values.tag }}a{{ .Values.count }}{{ end }}{{ end }}\n", "# x\na2"),
        ("{{ if .Values.off }}a{{ else }}b{{ end }}", "b"),
        ("{{ with .Values.tag }}a{{ end }}", ""),
        ("{{ if .Values.off }}a{{ end }}b", "b"),
        ("a", "a"),
        ("", ""),
    ],
)
def test_what_a_condition_around_the_rest_of_a_file_keeps_out_is_shown_on_request(text: str, found: str) -> None:
    assert filled(text, shown=True) == found


def test_values_keep_their_places_and_a_text_of_the_values_stands_at_its_action() -> None:
    source = Source("templates/a.yaml", 'a {{ "x" }} {{ tpl "{{ 1 }}" . }}')
    template = Template(source)
    found = Renderer({}, {}, {}).render(template)
    assert found is not None
    assert [(piece.text, piece.span.text if piece.span else None, piece.assumed) for piece in found.pieces] == [
        ("a ", "a ", False),
        ("x", '{{ "x" }}', False),
        (" ", " ", False),
        ("1", '{{ tpl "{{ 1 }}" . }}', True),
    ]
