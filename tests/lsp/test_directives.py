"""Comments to servelint: what they name, and what they may name."""

from __future__ import annotations

import pytest

from servelint.lsp.completion import Item, complete
from servelint.lsp.hover import hover
from tests.lsp.marked import marked

RUN = "vllm serve Qwen/Qwen3-8B --swap-space 4\n"


def offered(text: str) -> list[Item]:
    found = marked("serve.sh", text)
    return complete(found.analysis, found.offset)


def shown(text: str) -> str:
    found = marked("serve.sh", text)
    told = hover(found.analysis, found.offset)
    return told.markdown if told is not None else ""


class TestHover:
    def test_a_rule_that_is_silenced(self) -> None:
        told = shown(f"# servelint: ignore[vllm/turboquant-with-‸spec-decode] why\n{RUN}")
        assert told.splitlines()[0].endswith(" \u00b7 `vllm/turboquant-with-spec-decode`")
        assert "\nerror, wrong-output, vLLM 0.20 and later\n" in told
        assert "](https://github.com/vllm-project/vllm/issues/53180)" in told

    def test_one_of_servelint_s_own(self) -> None:
        assert "`servelint/unused-ignore`" in shown(f"# servelint: ignore[servelint/unused-‸ignore] why\n{RUN}")

    def test_a_gpu(self) -> None:
        told = shown(f"# servelint: gpu=h100-‸80gb\n{RUN}")
        assert told.startswith("**`h100-80gb`**\n\n")
        assert "GiB, compute capability 9.0" in told

    @pytest.mark.parametrize(
        "comment",
        ["ignore[vllm/*‸] why", "ignore[vllm/no-such-‸rule] why", "gpu=no-such-‸gpu", "ig‸nore[vllm/*]", "gpu-count=‸2"],
    )
    def test_nothing_that_is_no_rule_and_no_gpu(self, comment: str) -> None:
        assert shown(f"# servelint: {comment}\n{RUN}") == ""


class TestCompletion:
    @pytest.mark.parametrize("comment", ["ignore[‸", "ignore[vllm/tur‸", "ignore[vllm/removed-option, ‸] why"])
    def test_rules_with_what_they_are_about(self, comment: str) -> None:
        items = {item.label: item for item in offered(f"# servelint: {comment}\n{RUN}")}
        told = items["vllm/turboquant-with-spec-decode"].entry.detail
        assert told.startswith("error: ")
        assert "TurboQuant" in told

    def test_what_is_found_comes_first(self) -> None:
        found = marked("serve.sh", f"{RUN.strip()} # servelint: ignore[‸\n")
        rules = {finding.rule for finding in found.analysis.findings if finding.launch is not None}
        items = sorted(complete(found.analysis, found.offset), key=lambda item: item.entry.sort)
        assert rules
        assert {item.label for item in items[: len(rules)]} == rules

    def test_the_name_is_replaced_as_a_whole(self) -> None:
        (item, *_) = offered(f"# servelint: ignore[vllm/turbo‸quant] why\n{RUN}")
        assert item.span.text == "vllm/turboquant"

    def test_gpus(self) -> None:
        assert "h100" in [item.label for item in offered(f"# servelint: gpu=‸\n{RUN}")]

    @pytest.mark.parametrize("said", ["‸", "ig‸"])
    def test_the_forms_of_a_comment(self, said: str) -> None:
        assert [item.label for item in offered(f"# servelint: {said}\n{RUN}")] == ["ignore[", "gpu=", "gpu-count="]

    def test_nothing_in_the_reason(self) -> None:
        assert offered(f"# servelint: ignore[vllm/*] because ‸\n{RUN}") == []
