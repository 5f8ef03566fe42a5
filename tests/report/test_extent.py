"""How far a report judged, of reports made by hand."""

from __future__ import annotations

from servelint.core.launch import Launch, ReleaseClaim
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.source import Source, Span
from servelint.report import extent
from tests.together import together

MAKES = "from vllm import LLM\n\nllm = LLM('m')\n"


def report(*sources: Source, files: int = 1) -> Report:
    found = Report()
    found.sources, found.files = list(sources), files
    return found


@together(
    "text, expected",
    [
        ("vllm and sglang, llama-server", "vLLM, SGLang and llama.cpp"),
        ("image: VLLM", "vLLM"),
        ("lmdeploy, vllm", "vLLM and LMDeploy"),
        ("nothing", "an engine"),
    ],
)
def test_the_engines_that_a_file_mentions(text: str, expected: str) -> None:
    assert extent.mentions(Source("a.yml", text)) == expected


@together(
    "path, text, expected",
    [
        ("a.py", MAKES, "makes an engine of vLLM in Python (LLM, line 3)"),
        ("a.py", "import ray\nx = 1\n  \ny = LLM(m)\n", "makes an engine of vLLM in Python (LLM, line 4)"),
        ("a.py", "import other\nx = LLM(m)\n", ""),
        ("a.sh", MAKES, ""),
        ("a.py", "import vllm\n", ""),
    ],
)
def test_what_a_file_starts_that_is_not_judged(path: str, text: str, expected: str) -> None:
    assert extent.not_judged(Source(path, text)) == expected


def test_a_report_without_launches() -> None:
    some, made = Source("a.yml", "vllm"), Source("b.py", MAKES)
    assert extent.no_launch(report(files=2)) == "no launch found in 2 files"
    assert extent.no_launch(report(some)) == "no launch found in 1 file; a.yml mentions vLLM"
    python = "makes an engine of vLLM in Python (LLM, line 3), which is not judged"
    assert extent.no_launch(report(some, made)) == f"no launch found in 1 file; a.yml mentions vLLM, b.py {python}"
    assert extent.no_launch(report(some, files=0)) == "no launch found in the command; it mentions vLLM"
    assert extent.no_launch(report(Source("", "x"), files=0)) == "no launch found in the command"
    assert extent.lines(report(some, made)) == ["a.yml: mentions vLLM, but contains no launch", f"b.py: {python}"]
    assert (extent.closing(report(some)), extent.by_file(report(made))) == ("", [("b.py", python)])


def test_files_that_were_not_read_are_not_without_launches() -> None:
    found = report(Source("a.yml", "vllm"), Source("b.yml", "sglang"))
    found.notes = [Problem("a.yml", "x is not judged", 4, note="unjudged"), Problem("b.yml", "a note", note="other")]
    assert [one.path for one in extent.without_launch(found)] == ["b.yml"]
    assert extent.no_launch(found) == "no launch found in 1 file; 1 image is not judged; b.yml mentions SGLang"
    assert extent.by_file(found)[0] == ("a.yml", "line 4: x is not judged")
    found.errors = [Problem("b.yml", "cannot be read")]
    assert (extent.without_launch(found), extent.no_launch(found)) == ([], "")
    span = Span(Source("c.sh", "x"), 0, 1)
    found.launches = [Launch(source=span.source, engine="vllm", argv=[], site=span, release=ReleaseClaim())]
    found.errors = []
    assert extent.no_launch(found) == ""


def test_at_most_eight_files_are_named() -> None:
    sources = [Source(f"{number}.yml", "vllm") for number in range(10)]
    named = ", ".join([f"{number}.yml mentions vLLM" for number in range(8)])
    assert extent.mentioning(report(*sources[:8])) == named
    assert extent.mentioning(report(*sources[:9])) == f"{named}, 1 more file mentions an engine"
    assert extent.mentioning(report(*sources)) == f"{named}, 2 more files mention an engine"


def test_values_whose_templates_are_elsewhere() -> None:
    rest = ", as values of a chart whose templates are not beside it"
    assert extent.mentioning(report(Source("b/values.yaml", "vllm"))) == f"b/values.yaml mentions vLLM{rest}"
    assert extent.mentioning(report(Source("a/values-x.yml", "vllm"))) == f"a/values-x.yml mentions vLLM{rest}"
    assert extent.mentioning(report(Source("b/my-values.yaml", "vllm"))) == "b/my-values.yaml mentions vLLM"
    assert extent.mentioning(report(Source("b/values.json", "vllm"))) == "b/values.json mentions vLLM"
