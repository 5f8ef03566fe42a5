"""Findings made by hand, so that reports are tested apart from rules."""

from __future__ import annotations

from servelint.core.finding import Edit, Finding, Fix, Related
from servelint.core.launch import Launch, ReleaseClaim
from servelint.core.result import Report
from servelint.core.source import Span
from tests.launching import marked

MESSAGE = "turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops"
EVIDENCE = "https://github.com/vllm-project/vllm/issues/53180 (reproduced on stock v0.27.1)"

COMPOSE = """
services:
  # the target and its drafts
  llm:
    image: vllm/vllm-openai:v⟦0.27.1⟧
    command: >-
      --model Qwen/Qwen3.6-27B
      --kv-cache-dtype ⟦turboquant_k8v4⟧
      --speculative-config '{"method":"⟦mtp⟧","num_speculative_tokens":2}'
"""


def finding(
    span: Span,
    *related: tuple[Span, str],
    rule: str = "vllm/turboquant-with-spec-decode",
    severity: str = "error",
    impact: str = "wrong-output",
    message: str = MESSAGE,
    advice: str = "write --kv-cache-dtype fp8",
    label: str = "",
    claim: ReleaseClaim | None = None,
    release: str | None = "0.27.1",
    release_from: str | None = "image",
    affected: str = ">=0.20",
    launch: Launch | str | None = "services.llm",
    fix: Fix | None = None,
    evidence: list[str] | None = None,
) -> Finding:
    """A finding at a span; launch: a launch, the name of one that is made for it, or None."""
    if isinstance(launch, str):
        named = claim or ReleaseClaim("0.27.1", "image", span)
        launch = Launch(source=span.source, engine="vllm", argv=[], site=span, name=launch, release=named)
    return Finding(
        rule=rule,
        severity=severity,
        confidence="high",
        impact=impact,
        message=message,
        advice=advice,
        span=span,
        label=label,
        related=[Related(place, said) for place, said in related],
        fix=fix,
        evidence=[EVIDENCE] if evidence is None else evidence,
        launch=launch,
        release=release,
        release_from=release_from,
        affected=affected,
    )


def simple(text: str, filename: str = "run.sh", label: str = "") -> Finding:
    """A finding at the only mark of a text, without launch, advice and evidence."""
    _, marks = marked(filename, text)
    return finding(marks[0], launch=None, message="a message", advice="", label=label, evidence=[])


def documented() -> Finding:
    """The finding of DESIGN 5.6."""
    _, (tag, dtype, method) = marked("deploy/compose.yml", COMPOSE.removeprefix("\n"))
    return finding(
        dtype,
        (method, "with this draft method"),
        (tag, "vLLM 0.27.1; affected: 0.20 and later"),
        label="this KV cache format",
        fix=Fix("--kv-cache-dtype fp8", False, [Edit(dtype, "fp8")]),
    )


def report(*findings: Finding, files: int = 1) -> Report:
    found = Report()
    found.findings = list(findings)
    found.files = files
    found.launches = [one.launch for one in findings if one.launch is not None]
    found.sources = list({id(one.span.source): one.span.source for one in findings}.values())
    return found
