"""Fixes: text edits that remove what they were made for and leave every other character of a file alone."""

from __future__ import annotations

import os
from textwrap import dedent

import pytest

from servelint.core.finding import Edit, Finding, Fix
from servelint.core.source import Source, Span
from servelint.fixes import apply
from tests.running import Workspace

ALIAS = 'vllm serve Qwen/Qwen3.6-27B --speculative-config \'{"method": "qwen3_next_mtp", "num_speculative_tokens": 2}\'\n'
FIXED = ALIAS.replace("qwen3_next_mtp", "mtp")
TURBO = "pip install vllm==0.20.2\nvllm serve Qwen/Qwen3.6-27B --kv-cache-dtype turboquant_k8v4\n"
SPEC = "export SGLANG_ENABLE_SPEC_V2=1\n"
SERVE = "sglang serve --model-path m\n"
INSTALL = "pip install sglang==0.5.20\n"


def fixed(workspace: Workspace, content: str | bytes, name: str = "run.sh", *options: str) -> str | bytes:
    """A file after its fixes, in the form in which it was given; the fixes change nothing when they run again."""
    path = workspace.file(name, content)
    workspace.run("check", name, *(options or ("--fix",)))
    once = path.read_bytes()
    workspace.run("check", name, *(options or ("--fix",)))
    assert path.read_bytes() == once, "fixing twice changes more"
    return once if isinstance(content, bytes) else once.decode()


class TestSafety:
    def test_a_safe_fix_is_applied(self, workspace: Workspace) -> None:
        assert fixed(workspace, ALIAS) == FIXED

    def test_nothing_is_written_without_being_asked(self, workspace: Workspace) -> None:
        path = workspace.file("run.sh", ALIAS)
        workspace.run("check", "run.sh")
        assert path.read_text() == ALIAS

    def test_an_unsafe_one_is_not(self, workspace: Workspace) -> None:
        assert fixed(workspace, TURBO) == TURBO

    def test_unless_it_is_asked_for(self, workspace: Workspace) -> None:
        assert fixed(workspace, TURBO, "run.sh", "--unsafe-fixes") == TURBO.replace("turboquant_k8v4", "fp8")
        assert fixed(workspace, ALIAS, "run.sh", "--unsafe-fixes") == FIXED

    def test_a_rule_that_is_ignored_fixes_nothing(self, workspace: Workspace) -> None:
        assert fixed(workspace, ALIAS, "run.sh", "--fix", "--ignore", "vllm/spec-method-alias") == ALIAS
        comment = ALIAS.rstrip() + " # servelint: ignore[vllm/spec-method-alias]\n"
        assert fixed(workspace, comment) == comment

    def test_how_many_findings_went(self, workspace: Workspace) -> None:
        workspace.file("run.sh", ALIAS)
        ran = workspace.run("check", "run.sh", "--fix")
        assert (ran.status, ran.err) == (0, "servelint: fixed 1 finding\n")
        assert ran.out.startswith("nothing found in 1 launch (1 file")

    @pytest.mark.parametrize(
        ("content", "options", "status"),
        [
            (ALIAS, ("--fix",), 0),
            (ALIAS, ("--fix", "--exit-non-zero-on-fix"), 1),
            (ALIAS, ("--diff", "--exit-non-zero-on-fix"), 0),
            (ALIAS, ("--exit-non-zero-on-fix",), 0),
            (FIXED, ("--fix", "--exit-non-zero-on-fix"), 0),
            ("vllm serve \xff".encode("latin-1"), ("--fix", "--exit-non-zero-on-fix"), 2),
        ],
    )
    def test_a_hook_can_tell_that_files_changed(
        self, content: str | bytes, options: tuple[str, ...], status: int, workspace: Workspace
    ) -> None:
        workspace.file("run.sh", content)
        assert workspace.run("check", "run.sh", "--fail-on", "never", *options).status == status

    def test_what_is_left_is_reported(self, workspace: Workspace) -> None:
        workspace.file("run.sh", ALIAS + "vllm serve m --gpu-memory-utilization 1.5\n")
        ran = workspace.run("check", "run.sh", "--fix")
        assert ran.status == 1
        assert "vllm/gpu-memory-utilization-out-of-range" in ran.out
        assert "vllm/spec-method-alias" not in ran.out


class TestLayout:
    """All but the edited characters stays: line ends, byte order mark, tabs, comments, a last line without an end."""

    @pytest.mark.parametrize(
        "content",
        [
            ALIAS,
            ALIAS.rstrip("\n"),
            "#!/bin/bash\r\n" + ALIAS.replace("\n", "\r\n"),
            "\ufeff" + ALIAS,
            "#!/bin/bash\n\n\n# a comment: qwen3_next_Mtp \u00e9\u4e2d\U0001f600\n\t" + ALIAS + "\n\n  # the end  \n",
            ALIAS.replace(" --spec", " \\\n\t\t--spec"),
            "x=$'\\t'  \t\n" + ALIAS,
        ],
        ids=["plain", "no final newline", "CRLF", "byte order mark", "comments", "tabs", "trailing white space"],
    )
    def test_shell(self, content: str, workspace: Workspace) -> None:
        raw = content.encode()
        assert fixed(workspace, raw) == raw.replace(b"qwen3_next_mtp", b"mtp")

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_utf_16(self, encoding: str, workspace: Workspace) -> None:
        assert fixed(workspace, ("\ufeff" + ALIAS).encode(encoding)) == ("\ufeff" + FIXED).encode(encoding)

    def test_compose(self, workspace: Workspace) -> None:
        text = dedent("""\
            # The services   of the "house"
            x-nothing:   &nothing   {a: 1,   b: 'c'}

            services:

              llm:   # the one
                image:   "vllm/vllm-openai:v0.28.0"
                command:   [  '--model',  "x/y" ,
                    --speculative-config, '{"method":   "qwen3_next_mtp",  "num_speculative_tokens": 2}'  ]
                x-more: *nothing
        """)
        assert fixed(workspace, text, "compose.yml") == text.replace("qwen3_next_mtp", "mtp")

    @pytest.mark.parametrize(
        "value",
        [
            """'{"method": "qwen3_next_mtp"}'""",
            r'''"{\"method\": \"qwen3_next_mtp\"}"''',
            """'{"model": "it''s", "method": "qwen3_next_mtp"}'""",
        ],
    )
    def test_quoting(self, value: str, workspace: Workspace) -> None:
        text = f"services:\n  llm:\n    image: vllm/vllm-openai:v0.28.0\n    command: [--model, x/y, -sc, {value}]\n"
        assert fixed(workspace, text, "compose.yml") == text.replace("qwen3_next_mtp", "mtp")

    def test_the_file_s_mode_stays(self, workspace: Workspace) -> None:
        path = workspace.file("run.sh", ALIAS)
        path.chmod(0o751)
        workspace.run("check", "run.sh", "--fix")
        assert path.read_text() == FIXED
        assert path.stat().st_mode & 0o777 == 0o751

    def test_a_link_stays_a_link(self, workspace: Workspace) -> None:
        path = workspace.file("real/run.sh", ALIAS)
        link = workspace.folder / "run.sh"
        link.symlink_to("real/run.sh")
        workspace.run("check", "run.sh", "--fix")
        assert link.is_symlink()
        assert path.read_text() == FIXED
        assert os.listdir(path.parent) == ["run.sh"]


class TestWhereTheTextStands:
    def test_in_a_variable(self, workspace: Workspace) -> None:
        text = "METHOD=qwen3_next_mtp\nvllm serve Qwen/Qwen3.6-27B -sc '{\"method\": \"'$METHOD'\"}'\n"
        assert fixed(workspace, text) == text.replace("qwen3_next_mtp", "mtp")

    def test_in_a_default(self, workspace: Workspace) -> None:
        text = "vllm serve Qwen/Qwen3.6-27B -sc.method ${METHOD:-qwen3_next_mtp}\n"
        assert fixed(workspace, text) == text.replace("qwen3_next_mtp", "mtp")

    @pytest.mark.parametrize(
        "text",
        [
            # put together from parts
            "A=qwen3_next\nvllm serve Qwen/Qwen3.6-27B -sc.method ${A}_mtp\n",
            # quotes and escapes in between
            "vllm serve Qwen/Qwen3.6-27B -sc.method qwen3'_next_'mtp\n",
            'vllm serve Qwen/Qwen3.6-27B -sc \'{"method": "qwen3\\u005fnext_mtp"}\'\n',
        ],
    )
    def test_not_in_one_piece(self, text: str, workspace: Workspace) -> None:
        assert fixed(workspace, text) == text

    def test_in_another_file(self, workspace: Workspace) -> None:
        workspace.file(".env", "METHOD=qwen3_next_mtp\n")
        text = "services:\n  a: {image: 'vllm/vllm-openai:v0.28.0', command: [--model, x/y, -sc.method, '${METHOD}']}\n"
        assert fixed(workspace, text, "compose.yml") == text
        assert (workspace.folder / ".env").read_text() == "METHOD=qwen3_next_mtp\n"

    def test_shared_with_a_launch_that_needs_it(self, workspace: Workspace) -> None:
        # 0.10.2 does not know mtp
        text = dedent("""\
            x-command: &command [--model, Qwen/Qwen3-Next-80B-A3B-Instruct, -sc.method, qwen3_next_mtp]
            services:
              old: {image: "vllm/vllm-openai:v0.10.2", command: *command}
              new: {image: "vllm/vllm-openai:v0.28.0", command: *command}
        """)
        assert fixed(workspace, text, "compose.yml") == text

    def test_shared_with_a_launch_that_is_wrong_as_well(self, workspace: Workspace) -> None:
        text = dedent("""\
            x-command: &command [--model, x/y, -sc.method, qwen3_next_mtp]
            services:
              one: {image: "vllm/vllm-openai:v0.27.0", command: *command}
              two: {image: "vllm/vllm-openai:v0.28.0", command: *command}
        """)
        assert fixed(workspace, text, "compose.yml") == text.replace("qwen3_next_mtp", "mtp")

    def test_a_variable_shared_with_a_launch_that_reads_it(self, workspace: Workspace) -> None:
        # 0.5.9 reads SGLANG_ENABLE_SPEC_V2, 0.5.20 does not
        text = dedent("""\
            x-env: &env
              SGLANG_ENABLE_SPEC_V2: "1"
              HF_HOME: /cache
            services:
              old: {image: "lmsysorg/sglang:v0.5.9", environment: *env, command: sglang serve --model-path m}
              new: {image: "lmsysorg/sglang:v0.5.20", environment: *env, command: sglang serve --model-path m}
        """)
        assert fixed(workspace, text, "compose.yml") == text


class TestVariables:
    """A variable is deleted with its line, where that leaves the rest whole."""

    def compose(self, environment: str) -> str:
        return (
            "services:\n  llm:\n    image: lmsysorg/sglang:v0.5.20\n"
            + environment
            + "    command: python3 -m sglang.launch_server --model-path m\n"
        )

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ('      SGLANG_ENABLE_SPEC_V2: "1"\n      A: b\n', "      A: b\n"),
            ("      A: b\n      SGLANG_ENABLE_SPEC_V2: 1  # why\n", "      A: b\n"),
            (
                "      A: b\n      # why\n      SGLANG_ENABLE_SPEC_V2: 'true'\n      C: d\n",
                "      A: b\n      # why\n      C: d\n",
            ),
            ("      - SGLANG_ENABLE_SPEC_V2=1\n      - A=b\n", "      - A=b\n"),
            ('      - A=b\n      - "SGLANG_ENABLE_SPEC_V2=${V2:-1}"\n', "      - A=b\n"),
            ("    - A=b\n    - SGLANG_ENABLE_SPEC_V2=0\n", "    - A=b\n"),
        ],
    )
    def test_one_of_several(self, before: str, after: str, workspace: Workspace) -> None:
        text = self.compose("    environment:\n" + before)
        assert fixed(workspace, text, "compose.yml") == self.compose("    environment:\n" + after)

    @pytest.mark.parametrize(
        "only", ['      SGLANG_ENABLE_SPEC_V2: "1"\n', "      - SGLANG_ENABLE_SPEC_V2=1\n", "    - SGLANG_ENABLE_SPEC_V2=1\n"]
    )
    def test_the_only_one_takes_its_key_with_it(self, only: str, workspace: Workspace) -> None:
        assert fixed(workspace, self.compose("    environment:\n" + only), "compose.yml") == self.compose("")

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ('{SGLANG_ENABLE_SPEC_V2: "1", A: b}', "{A: b}"),
            ('{A: b, SGLANG_ENABLE_SPEC_V2: "1" }', "{A: b }"),
            ("[SGLANG_ENABLE_SPEC_V2=1, A=b]", "[A=b]"),
            ("['A=b', 'SGLANG_ENABLE_SPEC_V2=${V2:-1}']", "['A=b']"),
        ],
    )
    def test_in_one_line(self, before: str, after: str, workspace: Workspace) -> None:
        text = self.compose(f"    environment: {before}\n")
        assert fixed(workspace, text, "compose.yml") == self.compose(f"    environment: {after}\n")

    @pytest.mark.parametrize(
        "environment",
        [
            '    environment: &env\n      SGLANG_ENABLE_SPEC_V2: "1"\n',
            '    environment:\n      # the only one\n      SGLANG_ENABLE_SPEC_V2: "1"\n',
            '    environment:\n      SGLANG_ENABLE_SPEC_V2:\n        "1"\n      A: b\n',
            "    environment:\n      SGLANG_ENABLE_SPEC_V2: >-\n        1\n      A: b\n",
        ],
    )
    def test_not_where_more_hangs_on_it(self, environment: str, workspace: Workspace) -> None:
        text = self.compose(environment)
        assert fixed(workspace, text, "compose.yml") == text

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (INSTALL + SPEC + SERVE, INSTALL + SERVE),
            (INSTALL + "SGLANG_ENABLE_SPEC_V2=1 " + SERVE, INSTALL + SERVE),
            (INSTALL + "exec env SGLANG_ENABLE_SPEC_V2=1 A=1 " + SERVE, INSTALL + "exec env A=1 " + SERVE),
            (INSTALL + "SGLANG_ENABLE_SPEC_V2=1 \\\n  A=1 \\\n  " + SERVE, INSTALL + "  A=1 \\\n  " + SERVE),
            (INSTALL + "if x; then\n  " + SPEC + "  " + SERVE + "fi\n", INSTALL + "if x; then\n  " + SERVE + "fi\n"),
            (INSTALL + "export SGLANG_ENABLE_SPEC_V2=1 B=2\n" + SERVE, INSTALL + "export B=2\n" + SERVE),
            (INSTALL + "export B=2 SGLANG_ENABLE_SPEC_V2='1'\n" + SERVE, INSTALL + "export B=2\n" + SERVE),
            (INSTALL + "A=1 SGLANG_ENABLE_SPEC_V2=1 " + SERVE, INSTALL + "A=1 " + SERVE),
            (
                "docker run -e A=1 -e SGLANG_ENABLE_SPEC_V2=1 lmsysorg/sglang:v0.5.20 " + SERVE,
                "docker run -e A=1 lmsysorg/sglang:v0.5.20 " + SERVE,
            ),
            (
                "docker run \\\n  -e SGLANG_ENABLE_SPEC_V2=1 \\\n  -e A=1 \\\n  lmsysorg/sglang:v0.5.20 " + SERVE,
                "docker run \\\n  -e A=1 \\\n  lmsysorg/sglang:v0.5.20 " + SERVE,
            ),
        ],
    )
    def test_in_a_script(self, before: str, after: str, workspace: Workspace) -> None:
        assert fixed(workspace, before) == after

    @pytest.mark.parametrize(
        "text",
        [
            INSTALL + "if x; then\n  " + SPEC + "fi\n" + SERVE,  # an empty block is not a shell
            INSTALL + "if x; then\n  " + SPEC + "  # why\nelse\n  A=1\nfi\n" + SERVE,
            INSTALL + "for x in 1; do\n  " + SPEC + "done\n" + SERVE,
            INSTALL + "setup() {\n  " + SPEC + "}\nsetup\n" + SERVE,
            INSTALL + "test -f x &&\n  " + SPEC + SERVE,
            INSTALL + "export SGLANG_ENABLE_SPEC_V2=1 \\\n  B=2\n" + SERVE,
            INSTALL + "export B=2 \\\n  SGLANG_ENABLE_SPEC_V2=1\n" + SERVE,
            INSTALL + "export SGLANG_ENABLE_SPEC_V2=1; A=1\n" + SERVE,
            INSTALL + "export SGLANG_ENABLE_SPEC_V2=1;A=1\n" + SERVE,
        ],
    )
    def test_not_where_the_rest_would_not_be_whole(self, text: str, workspace: Workspace) -> None:
        assert fixed(workspace, text) == text


class TestApply:
    """Edits on a text, from its end."""

    SOURCE = Source("run.sh", "0123456789")

    def finding(self, *edits: tuple[int, int, str], safe: bool = True, source: Source | None = None) -> Finding:
        spans = [Edit(Span(source or self.SOURCE, start, end), text) for start, end, text in edits]
        return Finding(
            rule="a/b", severity="error", confidence="high", impact="deprecated", message="m", advice="a",
            span=spans[0].span, fix=Fix("title", safe, spans),
        )  # fmt: skip

    def applied(self, *findings: Finding, unsafe: bool = False) -> tuple[str, int]:
        result = apply(self.SOURCE, list(findings), unsafe)
        return result.text, len(result.findings)

    def test_several_in_any_order(self) -> None:
        assert self.applied(self.finding((8, 9, "")), self.finding((0, 2, "abc")), self.finding((4, 5, "X"))) == (
            "abc23X5679",
            3,
        )

    def test_two_edits_of_one_fix(self) -> None:
        assert self.applied(self.finding((0, 1, "a"), (9, 10, "b"))) == ("a12345678b", 1)

    def test_one_that_overlaps_another_is_left_out(self) -> None:
        assert self.applied(self.finding((2, 5, "x")), self.finding((4, 6, "y"))) == ("01x56789", 1)
        assert self.applied(self.finding((2, 5, "x")), self.finding((0, 9, "y"))) == ("01x56789", 1)

    def test_as_a_whole(self) -> None:
        assert self.applied(self.finding((2, 5, "x")), self.finding((4, 6, "y"), (8, 9, "z"))) == ("01x56789", 1)

    def test_neighbours_do_not_overlap(self) -> None:
        assert self.applied(self.finding((2, 5, "x")), self.finding((5, 6, "y"))) == ("01xy6789", 2)

    def test_the_same_edit_twice_is_made_once(self) -> None:
        assert self.applied(self.finding((2, 5, "x")), self.finding((2, 5, "x"))) == ("01x56789", 2)

    def test_unsafe_ones(self) -> None:
        assert self.applied(self.finding((2, 5, "x"), safe=False)) == ("0123456789", 0)
        assert self.applied(self.finding((2, 5, "x"), safe=False), unsafe=True) == ("01x56789", 1)

    def test_an_edit_of_another_file_keeps_the_whole_fix_back(self) -> None:
        assert self.applied(self.finding((2, 5, "x"), source=Source("other", "0123456789"))) == ("0123456789", 0)

    def test_a_finding_without_a_fix(self) -> None:
        finding = self.finding((2, 5, "x"))
        finding.fix = None
        assert self.applied(finding) == ("0123456789", 0)


class TestDiff:
    def test_shows_the_changes_and_makes_none(self, workspace: Workspace) -> None:
        path = workspace.file("run.sh", "# start\n" + ALIAS)
        ran = workspace.run("check", "run.sh", "--fix", "--diff")
        assert ran.out.startswith("--- a/run.sh\n+++ b/run.sh\n@@ -1,2 +1,2 @@\n # start\n-" + ALIAS + "+" + FIXED)
        assert path.read_text() == "# start\n" + ALIAS
        assert ran.err == "servelint: would fix 1 finding in 1 file\n"

    def test_of_unsafe_fixes(self, workspace: Workspace) -> None:
        workspace.file("run.sh", TURBO)
        assert "+++" not in workspace.run("check", "run.sh", "--diff").out
        assert "--kv-cache-dtype fp8\n" in workspace.run("check", "run.sh", "--diff", "--unsafe-fixes").out

    def test_without_a_final_newline(self, workspace: Workspace) -> None:
        workspace.file("run.sh", ALIAS.rstrip("\n"))
        out = workspace.run("check", "run.sh", "--diff").out
        end = "\\ No newline at end of file\n"
        assert out.startswith(f"--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-{ALIAS}{end}+{FIXED}{end}")

    def test_lines_are_those_of_the_file(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "# a\u2028b\x0cc\n" + ALIAS)
        assert "\n@@ -2 +2 @@\n-" in workspace.run("check", "run.sh", "--diff").out  # the other is not for terminals


class TestWrongUsage:
    @pytest.mark.parametrize("option", ["--fix", "--unsafe-fixes"])
    def test_fixes_are_for_files(self, option: str, workspace: Workspace) -> None:
        for arguments in (("--command", "vllm serve m"), ("-", "--stdin-filename", "run.sh")):
            ran = workspace.run("check", option, *arguments)
            assert ran.status == 2
            assert "fixes are for files" in ran.err

    def test_a_diff_and_a_report_for_machines_do_not_mix(self, workspace: Workspace) -> None:
        workspace.file("run.sh", ALIAS)
        assert workspace.run("check", "run.sh", "--diff", "--format", "json").status == 2
        ran = workspace.run("check", "run.sh", "--diff", "--format", "json", "--output", "report.json")
        assert ran.out.startswith("--- a/run.sh\n")

    def test_a_file_that_cannot_be_written(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        path = workspace.file("run.sh", ALIAS)

        def refuse(source: str, target: str) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("os.replace", refuse)
        ran = workspace.run("check", "run.sh", "--fix")
        assert ran.status == 2
        assert "error: run.sh:1:1: cannot be written: Permission denied\n" in ran.out
        assert "warning[vllm/spec-method-alias]" in ran.out
        assert path.read_text() == ALIAS
        assert os.listdir(workspace.folder) == ["run.sh"]
