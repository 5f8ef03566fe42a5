"""JUnit XML, read by junitparser."""

from __future__ import annotations

from xml.etree import ElementTree

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from servelint.core.source import Source
from servelint.report.formats.junit import render
from tests.findings import documented, report
from tests.report.kinds import SECRET, mixed
from tests.running import Workspace


def counted(cases: list[TestCase]) -> tuple[int, int, int]:
    results = [one for case in cases for one in case.result]
    return len(cases), sum(isinstance(one, Failure) for one in results), sum(isinstance(one, Error) for one in results)


def suites(text: str) -> list[TestSuite]:
    """The suites, whose counts are those of their cases, as the whole report's are."""
    xml = JUnitXml.fromstring(text.encode())
    found = list(xml)
    told = [(suite.tests, suite.failures, suite.errors) for suite in found]
    whole = (xml.tests, xml.failures, xml.errors)
    assert [counted(list(suite)) for suite in found] == told
    assert counted([case for suite in found for case in suite]) == whole
    return found


def cases(text: str) -> list[TestCase]:
    return [case for suite in suites(text) for case in suite]


def test_a_finding() -> None:
    (suite,) = suites(render(report(documented())))
    assert suite.name == "deploy/compose.yml"
    (case,) = suite
    assert (case.name, case.classname) == ("vllm/turboquant-with-spec-decode at 7:24", "deploy/compose.yml")
    (failure,) = case.result
    assert isinstance(failure, Failure)
    assert failure.type == "error"
    assert failure.message == (
        "turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops; write --kv-cache-dtype fp8"
    )
    assert failure.text.startswith("error[vllm/turboquant-with-spec-decode]: turboquant_k8v4 KV cache")
    assert "\n7 |       --kv-cache-dtype turboquant_k8v4\n" in failure.text


def test_everything() -> None:
    found = cases(render(mixed()))
    assert len(found) == 10
    kinds = ["failure" if isinstance(one, Failure) else "error" for case in found for one in case.result]
    assert kinds == ["failure"] * 7 + ["error"] * 2
    (passed,) = [case for case in found if case.is_passed]
    assert passed.system_out is not None
    assert passed.system_out.startswith("info[policy/of-ours]")


def test_what_xml_cannot_write() -> None:
    text = render(mixed())
    assert text.isascii()
    ElementTree.fromstring(text)
    messages = [one.message for case in cases(text) for one in case.result]
    assert messages[1] == 'a "quoted" <message> & [a](b) {c} \\x1b[31m; write --kv-cache-dtype fp8'


def test_a_file_without_findings_passes() -> None:
    found = report()
    found.sources = [Source("./good.sh", "vllm serve m\n")]
    (case,) = cases(render(found))
    assert (case.name, case.classname, case.is_passed) == ("servelint", "good.sh", True)


def test_nothing() -> None:
    (case,) = cases(render(report()))
    assert case.is_passed


def test_errors() -> None:
    (case, *_) = [case for case in cases(render(mixed())) if any(isinstance(one, Error) for one in case.result)]
    assert (case.name, case.classname) == ("servelint/not-read at 4:7", "a b:c.yml")
    assert [one.message for one in case.result] == [r"not valid YAML: \x1b 100%"]


def test_no_secret_is_written() -> None:
    assert SECRET not in render(mixed())


def test_how_far_it_judged(workspace: Workspace) -> None:
    workspace.file("a.sh", "vllm serve $M\n")
    workspace.file("b.sh", "vllm --version\n")
    found = workspace.run("check", "--format", "junit")
    assert len(suites(found.out)) == 2
    properties = ElementTree.fromstring(found.out).iterfind("testsuite/properties/property")
    assert [(one.get("name"), one.get("value")) for one in properties] == [
        ("servelint.judged", "1 launch: 1 of unknown version; 1 word not resolved"),
        ("servelint.judged", "mentions vLLM, but contains no launch"),
    ]
    assert found.err == ""
