"""Addresses of evidence, and what a finding names to read on."""

from __future__ import annotations

import pytest

from servelint.core.source import Source, Span
from servelint.report.places import address, see
from tests.findings import finding
from tests.together import together

SPAN = Span(Source("run.sh", "vllm serve m\n"), 11, 12)
CATALOG = ["the published source of each release (servelint explain ENGINE OPTION shows which releases have an option)"]
VLLM = "https://github.com/vllm-project/vllm/blob/v"


@together(
    "evidence, url",
    [
        ("vllm-0.33.0 vllm/config/cache.py:12 (the check)", VLLM + "0.33.0/vllm/config/cache.py#L12"),
        ("vllm-0.33.0 vllm/config/cache.py:12-20 (the check)", VLLM + "0.33.0/vllm/config/cache.py#L12-L20"),
        # the line is that of one of them only
        ("vllm-0.24.0 and 0.33.0 vllm/config/cache.py:12 (x)", VLLM + "0.33.0/vllm/config/cache.py"),
        ("sglang-0.5.9 srt/a.py:1 (x)", "https://github.com/sgl-project/sglang/blob/v0.5.9/python/sglang/srt/a.py#L1"),
        ("sglang-0.5.9 sglang/srt/a.py (x)", "https://github.com/sgl-project/sglang/blob/v0.5.9/python/sglang/srt/a.py"),
        ("llama.cpp b9093 common/arg.cpp (x)", "https://github.com/ggml-org/llama.cpp/blob/b9093/common/arg.cpp"),
        (
            "transformers-5.2.0 models/a/b.py (x)",
            "https://github.com/huggingface/transformers/blob/v5.2.0/src/transformers/models/a/b.py",
        ),
        ("https://a.invalid/b (says)", "https://a.invalid/b"),
        ("vllm-0.33.0 (run) (the error)", None),
        ("vllm-0.33.0 METADATA (x)", None),
        ("acme-1.0 acme/a.py (x)", None),
    ],
)
def test_the_address_of_evidence(evidence: str, url: str | None) -> None:
    assert address(evidence) == url


@pytest.mark.parametrize(
    ("message", "evidence", "where"),
    [
        ("x", ["vllm-0.33.0 (run) (a)", "https://a.invalid (says)"], "https://a.invalid (says)"),
        ("--swap-space was removed", CATALOG, "servelint explain vllm --swap-space"),
        ("--ctx-size is an option of llama.cpp", CATALOG, "servelint explain llama.cpp --ctx-size"),
        ("nothing reads VLLM_USE_V1", CATALOG, "servelint explain vllm VLLM_USE_V1"),
        ("vLLM has no option --nonesuch-x", CATALOG, "servelint explain vllm/turboquant-with-spec-decode"),
        ("x", [], ""),
    ],
)
def test_where_to_read_on(message: str, evidence: list[str], where: str) -> None:
    assert see(finding(SPAN, message=message, evidence=evidence)) == where
