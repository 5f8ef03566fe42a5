"""Bounds: each is said with its place, the rest of the run stands, and the status is 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from servelint import lint
from servelint.cli import main
from servelint.core import bounds
from servelint.core.bounds import BOUNDS, Bound
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.run import Run, time_limit
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.lint import check
from tests.core.bounded import SERVICE, WRONG, checked, rules, said


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


class TestBounds:
    def test_every_one_is_in_the_manual(self) -> None:
        manual = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
        for name, bound in BOUNDS.items():
            told = bound.says.replace("{most}", f"{bound.most:,}").replace("{size}", "SIZE").replace("{name}", "NAME")
            assert f"| {bound.most:,} {bound.unit} | {told or 'nothing: what lies past it is taken as unknown'} |" in manual, (
                name
            )

    def test_are_said_once_for_each_file_at_the_first_place(self) -> None:
        bound = Bound(1, "things", "not read: more than {most} thing")
        one, two = Source("a.sh", "x\ny"), Source("b.sh", "x")
        with Run("a.sh") as run:
            assert not bound.passed(1, None)
            assert bound.passed(2, Span(one, 2, 3))
            assert bound.passed(2, Span(one, 0, 1))
            bound.reached(Span(two, 0, 1))
        assert [repr(problem) for problem in run.problems] == [
            "a.sh:2:1: not read: more than 1 thing",
            "b.sh:1:1: not read: more than 1 thing",
        ]
        assert all(problem.limit for problem in run.problems)

    def test_without_a_place_the_file_is_said(self) -> None:
        with Run("a.sh") as run:
            bounds.STEPS.reached(None)
        assert [(one.path, one.line, one.column) for one in run.problems] == [("a.sh", 1, 1)]

    def test_where_it_is_reached(self) -> None:
        source = Source("a.sh", "ab\ncd\n")
        piece = TracedText.join([TracedText.of("x"), TracedText.at(source, 3, 5)])
        for place, at, expected in (
            (piece, (1, 1), ("a.sh", 2, 1)),
            (TracedText.of("x"), (1, 1), ("run.sh", 1, 1)),
            (None, (3, 2), ("run.sh", 3, 2)),
            (Span(source, 1, 2), (3, 2), ("a.sh", 1, 2)),
        ):
            with Run("run.sh") as run:
                bounds.STEPS.reached(place, at)
            assert [(one.path, one.line, one.column) for one in run.problems] == [expected]

    def test_what_has_no_message_is_not_said(self) -> None:
        with Run("a.sh") as run:
            assert bounds.WORLDS.passed(bounds.WORLDS.most + 1, None)
        assert run.problems == []

    def test_nobody_needs_to_listen(self) -> None:
        bounds.STEPS.reached(None)

    def test_the_exit_status_is_2(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("run.sh").write_text("vllm serve m" + " a" * 1100 + "\n")
        assert main(["check", "run.sh"]) == 2
        assert "error: run.sh:1:1: not judged: a launch of more than 1,000 words" in capsys.readouterr().out


class TestFiles:
    @pytest.mark.parametrize(("name", "size"), [("run.sh", 1 << 22), ("a.yml", 1 << 22), ("a.ipynb", 1 << 22)])
    def test_size(self, name: str, size: int) -> None:
        report = checked(name, "# vllm\n" + "#" * (size - 6))
        assert said(report) == [f"{name}:1:1: {bounds.FILE.says}".format(size=f"{size / (1 << 20):.1f} MiB")]

    def test_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def forever(path: str, asked: object, named: object, undecided: bool, cache: object) -> Report:
            while True:
                pass

        monkeypatch.setattr(bounds.TIME, "most", 0.05)
        monkeypatch.setattr(lint, "_one", forever)
        assert [repr(one) for one in lint.check_in_parallel(["."], Settings()).errors] == []
        Path("run.sh").write_text(WRONG)
        report = lint.check_in_parallel(["."], Settings())
        assert [one.path for one in report.errors] == ["run.sh"]
        assert report.errors[0].message.startswith("not read: it takes more than")

    def test_the_clock_is_taken_down(self) -> None:
        import signal

        before = signal.getsignal(signal.SIGPROF)
        with time_limit(bounds.TIME.most):
            assert signal.getitimer(signal.ITIMER_PROF)[0] > 0
        assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
        assert signal.getsignal(signal.SIGPROF) is before

    def test_work(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.PIECES, "most", 60)
        text = "a=m\n" + 'vllm serve "$a" --gpu-memory-utilization 1.5\n' * 60
        assert said(checked("run.sh", text)) == [f"run.sh:1:1: {bounds.PIECES.message}"]
        assert rules(checked("run.sh", WRONG)) == [1]

    def test_one_long_value_again_and_again(self) -> None:
        text = f"a={'x' * 19000}\nvllm serve m {'$a' * 40000}\n"
        assert said(checked("run.sh", text)) == [f"run.sh:1:1: {bounds.PIECES.message}"]


class TestTexts:
    @pytest.mark.parametrize("text", ["[" * 600, "{a: " * 600, "- " * 600, "[" * 600 + "]" * 600])
    def test_nesting_of_yaml(self, text: str) -> None:
        (problem,) = checked("compose.yml", f"services: # vllm\nx-a:\n  {text}\n").errors
        assert (problem.line, problem.message) == (3, bounds.YAML_DEPTH.message)

    def test_size_of_yaml(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.YAML_NODES, "most", 50)
        report = checked("compose.yml", f"services: {{a: {{{SERVICE}}}}}\nx-a: [{', '.join('a' * 60)}]\n")
        assert said(report) == [f"compose.yml:2:124: {bounds.YAML_NODES.message}"]

    def test_aliases_in_aliases_are_no_more_than_they_are(self) -> None:
        bomb = "a0: &a0 [vllm, serve, m]\n" + "".join(
            [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)]
        )
        report = checked("compose.yml", f"{bomb}services:\n  llm: {{{SERVICE}, labels: *a29}}\n")
        assert (said(report), rules(report)) == ([], [32])

    def test_merge_keys_in_merge_keys(self) -> None:
        bomb = "a0: &a0 {k: vllm}\n" + "".join(
            [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}], k{n}: v}}\n" for n in range(1, 30)]
        )
        assert rules(checked("compose.yml", f"{bomb}services:\n  llm: {{<<: *a29, {SERVICE}}}\n"))

    def test_services_by_aliases(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.VALUES, "most", 500)
        variables = ", ".join([f"K{number}: '1'" for number in range(100)])
        services = "".join([f"  s{number}: {{{SERVICE}, environment: *env}}\n" for number in range(100)])
        report = checked("compose.yml", f"x-env: &env {{{variables}}}\nservices:\n{services}")
        assert [one.message for one in report.errors] == [bounds.VALUES.message]
        assert rules(report)

    def test_nesting_and_numbers_of_json(self) -> None:
        deep = "[" * 70 + "]" * 70
        report = checked("run.sh", f'vllm serve m --hf-overrides \'{{"a": {deep}, "b": {"9" * 200}}}\'\n{WRONG}')
        assert said(report) == [f"run.sh:1:31: {bounds.JSON_DEPTH.message}"] or len(said(report)) == 1
        assert rules(report) == [2]

    @pytest.mark.parametrize(
        "number", ["1e400", "-0", "-1e400", "nan", "9" * 400, "9" * 5000, "1_000", "\u0661\u0662", "\u00b2", "0x" + "f" * 300]
    )
    def test_odd_numbers_where_one_is_expected(self, number: str) -> None:
        options = ("max-model-len", "tensor-parallel-size", "port", "max-num-seqs", "swap-space", "block-size")
        words = " ".join([f"--{option} {number}" for option in options])
        spec = json.dumps({"method": "mtp", "num_speculative_tokens": "N"}).replace('"N"', number)
        for text in (f"vllm serve m {words}\n", f"vllm serve m --speculative-config '{spec}'\n"):
            Path("run.sh").write_text(text)
            assert [one for one in check(["run.sh"]).errors if one.own] == []
        Path("compose.yml").write_text(
            f"services:\n  a:\n    image: vllm/vllm-openai:v0.20.0\n    ports: ['{number}:{number}']\n    shm_size: {number}\n"
            f"    command: --model m --port {number}\n    healthcheck: {{retries: {number}, interval: {number}s}}\n"
        )
        assert [one for one in check(["compose.yml"]).errors if one.own] == []

    @pytest.mark.parametrize(
        "opening", ["$(", "(", "{ ", "${A:-", '"$(echo ', "{a,", "`", "if true; then ", "$((", "bash -c '"]
    )
    def test_nesting_of_scripts(self, opening: str) -> None:
        report = checked("run.sh", f"{WRONG}{opening * 4000}vllm serve m\n")
        assert [one for one in report.errors if one.own] == []

    def test_length_of_a_script(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.SCRIPT, "most", 100)
        assert said(checked("run.sh", WRONG * 3)) == [f"run.sh:1:1: {bounds.SCRIPT.message}"]

    def test_nested_defaults(self) -> None:
        deep = "${A:-" * 40 + "m" + "}" * 40
        report = checked(
            "compose.yml", f"services:\n  a: {{{SERVICE}}}\n  b: {{image: vllm/vllm-openai:v1, command: '{deep}'}}\n"
        )
        assert [one.message for one in report.errors] == [bounds.DEFAULTS.message]
        assert rules(report) == [2]


class TestLaunches:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("run.sh", "vllm serve m{}\n"),
            ("run.sh", "a=({})\nvllm serve m ${{a[@]}}\n"),
            ("compose.yml", "services:\n  a:\n    image: vllm/vllm-openai:v0.20.0\n    command: --model m{}\n"),
            ("Dockerfile", "FROM vllm/vllm-openai:v0.20.0\nCMD vllm serve m{}\n"),
            ("a.service", "[Service]\nExecStart=/usr/bin/vllm serve m{}\n"),
        ],
    )
    def test_words(self, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.WORDS, "most", 40)
        assert len(checked(name, text.format(" --enable-prefix-caching" * 30)).launches) == 2
        report = checked(name, text.format(" --enable-prefix-caching" * 60))
        assert [one.message for one in report.errors] == [bounds.WORDS.message]

    def test_variants(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.LAUNCHES, "most", 10)
        report = checked("run.sh", WRONG * 20)
        assert said(report) == [f"run.sh:11:1: {bounds.LAUNCHES.message}"]
        assert rules(report) == list(range(1, 11))

    def test_branches_do_not_multiply(self) -> None:
        branches = "".join([f'case "$A{n}" in x) O{n}=--a{n};; y) O{n}=--b{n};; esac\n' for n in range(40)])
        report = checked("run.sh", f"{branches}vllm serve m {' '.join([f'$O{n}' for n in range(40)])}\n")
        assert (said(report), len(report.launches)) == ([], 2)

    @pytest.mark.parametrize("braces", ["{1,2}" * 60, "{1..64}" * 30, "{1..999999999}", "{a," * 3000 + "}" * 3000])
    def test_braces_do_not_multiply(self, braces: str) -> None:
        report = checked("run.sh", f"vllm serve m --port {braces}\n{WRONG}")
        assert (said(report), rules(report)) == ([], [2])


class TestSteps:
    def test_of_a_script(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.STEPS, "most", 100)
        report = checked("run.sh", WRONG + "echo a\n" * 200 + WRONG)
        assert said(report) == [f"run.sh:21:1: {bounds.STEPS.message}"] or report.errors[0].message == bounds.STEPS.message
        assert rules(report) == [1]

    @pytest.mark.parametrize(
        "text",
        [
            "while true; do\n" * 6 + WRONG + "done\n" * 6,
            "f() { f; f; }\nf\n" + WRONG,
            ":(){ :|:& };:\n" + WRONG,
            "a=x\n" + 'a="$a$a"\n' * 60 + WRONG + 'echo "$a"\n',
            'c=\'eval "$c"; eval "$c"\'\neval "$c"\n' + WRONG,
            "a=$((9**99999)) b=$((1<<999999))\n" + WRONG,
            "[[ " + "a" * 200 + " =~ (a|a)*(a|aa)*c ]] && x=1\n[[ " + "a" * 290 + " =~ " + "a?" * 200 + "c ]]\n" + WRONG,
        ],
    )
    def test_loops_recursion_and_growth_end(self, text: str) -> None:
        report = checked("run.sh", text)
        assert [one for one in report.errors if one.own] == []
        assert rules(report) or report.errors

    def test_of_scripts_that_it_runs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.STEPS_OF_OTHERS, "most", 50)
        report = checked("run.sh", f"bash -c '{'echo a; ' * 30} vllm serve m'\n" * 20)
        assert [one.message for one in report.errors] == [bounds.STEPS_OF_OTHERS.message]

    def test_in_another_file_is_a_note(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.STEPS_OF_OTHERS, "most", 50)
        report = checked("run.sh", f"bash b.sh 1\nbash b.sh 2\n{WRONG}", b_sh="echo a\n" * 30 + WRONG)
        assert [(one.path, one.message) for one in report.notes] == [("b.sh", bounds.STEPS_OF_OTHERS.message)]
        assert report.errors == []
        assert rules(report)

    def test_circles_of_sources_end(self) -> None:
        report = checked("run.sh", f"source ./b.sh\n{WRONG}", b_sh="source ./run.sh\nsource ./b.sh\n")
        assert (said(report), rules(report)) == ([], [2])

    def test_chains_of_sources(self) -> None:
        chain = {f"s{n}_sh": f"source ./s{n + 1}.sh\n" for n in range(30)}
        report = checked("run.sh", f"source ./s0.sh\n{WRONG}", **chain)
        assert said(report) == [f"run.sh:1:1: {bounds.CALLS.message}"]
        assert rules(report) == [2]

    def test_functions_in_functions(self) -> None:
        functions = "".join([f"f{n}() {{ f{n + 1}; }}\n" for n in range(20)])
        report = checked("run.sh", f"{functions}f20() {{ {WRONG.strip()}; }}\nf0\n")
        assert [one.message for one in report.errors] == [bounds.CALLS.message]

    def test_written_scripts(self) -> None:
        report = checked("run.sh", "".join([f"cat > x{n}.sh <<'EOF'\n{WRONG}EOF\n" for n in range(20)]))
        assert [one.message for one in report.errors] == [bounds.WRITTEN.message]

    def test_batch_files(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert rules(checked("run.bat", f":a\r\n{WRONG}goto a\r\n")) == [2]
        monkeypatch.setattr(bounds.BATCH_STEPS, "most", 50)
        report = checked("run.bat", WRONG + "echo a\r\n" * 100 + WRONG)
        assert [one.message for one in report.errors] == [bounds.BATCH_STEPS.message]
        assert rules(report) == [1]


def test_a_problem_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds.JSON_DIGITS, "most", 20)
    problems: list[Problem] = checked("run.sh", f"vllm serve m --speculative-config '{{\"a\": {'1' * 30}}}'\n").errors
    assert [one.message for one in problems] == ["not read: a number of more than 20 digits"]
