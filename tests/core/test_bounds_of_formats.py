"""Bounds of files that belong together and of single formats: each is said with its place, and what was found before stands."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from servelint.core import bounds
from tests.core.bounded import SERVICE, WRONG, checked, rules, said

PLAY = "- hosts: all\n  tasks:\n"
TASK = f"    - {{name: a, shell: {WRONG.strip()}}}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n"
CONTAINER = '    - {name: a, image: "vllm/vllm-openai:v0.20.0", args: [--model, m, --gpu-memory-utilization, "1.5"]}\n'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def chain(entry: str, count: int) -> str:
    """Entries each of which leads to the next one: {at} is its number, {next} the other's."""
    return "".join([entry.format(at=number, next=number + 1, before=number - 1) for number in range(1, count + 1)])


class TestFilesThatBelongTogether:
    def test_extends_in_a_circle(self) -> None:
        report = checked("compose.yml", f"services:\n  a: {{extends: b, {SERVICE}}}\n  b: {{extends: a}}\n")
        assert [one.message for one in report.errors] == [bounds.COMPOSE_CIRCLE.message]
        assert rules(report)

    def test_extends_in_chains(self) -> None:
        services = "".join([f"  s{n}: {{extends: s{n + 1}}}\n" for n in range(40)])
        report = checked("compose.yml", f"services:\n{services}  s40: {{{SERVICE}}}\n")
        assert [one.message for one in report.errors] == [bounds.COMPOSE_DEPTH.message]
        assert rules(report) == [42] or 42 in rules(report)

    def test_includes_in_a_circle_end(self) -> None:
        Path("c.yml").write_text("include: [compose.yml]\n")
        report = checked("compose.yml", f"include: [c.yml]\nservices: {{a: {{{SERVICE}}}, b: {{extends: a}}}}\n")
        assert said(report) == []
        assert rules(report)

    def test_many_files(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.COMPOSE_FILES, "most", 3)
        for number in range(6):
            Path(f"c{number}.yml").write_text(f"services: {{s{number}: {{image: x}}}}\n")
        files = ", ".join([f"c{number}.yml" for number in range(6)])
        report = checked("compose.yml", f"include: [{files}]\nservices: {{a: {{extends: s5, {SERVICE}}}}}\n")
        assert [one.message for one in report.errors] == [bounds.COMPOSE_FILES.message]


class TestFormats:
    def test_objects(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.KUBERNETES_OBJECTS, "most", 5)
        pod = dedent(
            """\
            ---
            apiVersion: v1
            kind: Pod
            metadata: {name: a}
            spec:
              containers:
                - {name: a, image: "vllm/vllm-openai:v0.20.0", args: [--model, m, --gpu-memory-utilization, "1.5"]}
            """
        )
        report = checked("pods.yml", pod * 8)
        assert [one.message for one in report.errors] == [bounds.KUBERNETES_OBJECTS.message]
        assert len(rules(report)) == 5

    def test_code_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.SNIPPET, "most", 100)
        report = checked("README.md", f"```bash\n{WRONG}```\n\n```bash\n{WRONG * 5}```\n")
        assert said(report) == [f"README.md:6:1: {bounds.SNIPPET.message}"]
        assert rules(report) == [2]

    def test_targets(self) -> None:
        report = checked("Makefile", f"{' '.join([f't{n}' for n in range(12)])}:\n\t{WRONG}")
        assert [one.message for one in report.errors] == [bounds.TARGETS.message]
        assert rules(report) == [2]

    @pytest.mark.parametrize(
        ("bound", "most", "name", "text", "place", "lines"),
        [
            ("TASKS", 3, "playbook.yml", PLAY + TASK * 5, "6:8", [3, 4, 5]),
            (
                "YAML_MERGES",
                5,
                "compose.yml",
                "x-0: &a0 {ipc: host}\n"
                + chain("x-{at}: &a{at} {{<<: *a{before}}}\n", 8)
                + f"services:\n  own: {{{SERVICE}}}\n  all: {{<<: *a8, {SERVICE}}}\n",
                "12:8",
                [11, 12],
            ),
            (
                "COMPOSE_PARTS",
                4,
                "compose.yml",
                "services:\n" + chain("  s{at}: {{extends: s{next}}}\n", 6) + f"  s7: {{{SERVICE}}}\n  own: {{{SERVICE}}}\n",
                "1:1",
                [8, 9],
            ),
            (
                "COMPOSE_FIELDS",
                20,
                "compose.yml",
                f"services:\n  own: {{{SERVICE}}}\n" + chain("  s{at}: {{extends: s{next}}}\n", 6) + f"  s7: {{{SERVICE}}}\n",
                "1:1",
                [2, 9],
            ),
            ("KUBERNETES_CONTAINERS", 2, "pod.yml", POD + CONTAINER * 4, "8:7", [6, 7]),
            (
                "BATCH_CALLS",
                3,
                "run.bat",
                WRONG + "call :a1\nexit /b\n" + chain(":a{at}\ncall :a{next}\nexit /b\n", 5) + ":a6\n" + WRONG,
                "11:6",
                [1, 20],
            ),
            (
                "NODES_SEARCHED",
                20,
                "values.of.something.yml",
                f"a:\n  run: {WRONG}" + chain("b{at}: {{c: {{d: [{{e: 1}}]}}}}\n", 9) + f"z:\n  run: {WRONG}",
                "7:13",
                [2],
            ),
        ],
    )
    def test_where_the_rest_is_left(
        self, bound: str, most: int, name: str, text: str, place: str, lines: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert said(checked(name, text)) == []
        monkeypatch.setattr(bounds.BOUNDS[bound], "most", most)
        report = checked(name, text)
        assert said(report) == [f"{name}:{place}: {bounds.BOUNDS[bound].message}"]
        assert rules(report) == lines

    def test_stages_behind_a_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stages = "FROM vllm/vllm-openai:v0.20.0 AS s0\nCOPY a.sh /a.sh\n" + chain("FROM s{before} AS s{at}\n", 4)
        text = f'{stages}ENTRYPOINT []\nCMD ["/a.sh"]\n'
        assert [launch.argv[0].shown for launch in checked("Dockerfile", text, a_sh=WRONG).launches[:1]] == ["m"]
        monkeypatch.setattr(bounds.DOCKERFILE_DEPTH, "most", 2)
        assert said(checked("Dockerfile", text)) == [f"Dockerfile:8:7: {bounds.DOCKERFILE_DEPTH.message}"]
