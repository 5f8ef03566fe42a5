"""A file that holds nothing but a vLLM speculative config: the JSON that `--speculative-config` takes."""

from __future__ import annotations

from servelint.core.launch import Launch, Word
from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours
from servelint.readers.registry import JSON, Format
from servelint.syntax import json
from servelint.syntax.json import without_comments

FORMAT = Format(
    "speculative-config", 310, title="speculative config", about="JSON for `--speculative-config`, with comments", syntax=JSON
)

_OWN = frozenset(
    ("num_speculative_tokens", "prompt_lookup_max", "draft_tensor_parallel_size", "suffix_decoding_max_tree_depth")
)
_COMMON = _OWN | {
    "method", "model", "draft_model", "quantization", "max_model_len", "prompt_lookup_min", "parallel_drafting", "moe_backend",
    "attention_backend", "rejection_sample_method", "draft_sample_method", "disable_padded_drafter_batch", "revision",
    "use_local_argmax_reduction", "enforce_eager", "disable_by_batch_size", "suffix_decoding_max_cached_requests",
    "suffix_decoding_max_spec_factor", "suffix_decoding_min_token_prob", "disable_logprobs", "acceptance_method",
    "posterior_threshold", "posterior_alpha", "code_revision", "tensor_parallel_size",
}  # fmt: skip
"""Keys of a config in the releases. A text most of whose keys are others is not one."""
_MARKS = ('"num_speculative_tokens"', "'num_speculative_tokens'")


def read(source: Source, _neighbours: Neighbours) -> list[Launch] | Problem:
    """A fragment of a launch if the text is a speculative config; a problem if it is not JSON but has the keys of one."""
    if not any(key in source.text for key in _OWN):
        return []
    text = TracedText.at(source, 0, len(source.text)).strip()
    node = json.parse(text)
    if isinstance(node, json.JsonFault):
        # comments are taken out before the engine reads it
        text = without_comments(text, lenient=source.path.lower().endswith((".jsonc", ".json5")))
        node = json.parse(text)
    if isinstance(node, json.JsonFault):
        if len(source.text) > 4096 or not any(mark in source.text for mark in _MARKS) or source.path.endswith(".json5"):
            return []
        line, column = source.position(min((text.pieces[0].span or Span(source, 0, 0)).start + node.offset, len(source.text)))
        return Problem(source.path, f"not valid JSON: {node.message}", line, column)
    keys = node.members.keys()
    if node.kind != json.OBJECT or not (keys & _OWN) or len(keys) > 40:
        return []
    if len(keys & _COMMON) * 3 < len(keys):
        return []  # a report of a server, which holds the number as well
    if any(item.kind == json.OBJECT for _, value in node.members.values() for item in value.items):
        return []  # no key takes a list of objects: these are measurements
    # what stands around the object are comments
    inner = node.text.span()
    span = inner if inner is not None else Span(source, len(source.text) - len(source.text.lstrip()), len(source.text.rstrip()))
    return [_launch(source, text, span)]


def unfinished(source: Source) -> Launch | None:
    """A fragment of a launch of a speculative config that is being typed and is not valid JSON yet."""
    text = TracedText.at(source, 0, len(source.text)).strip()
    span = text.span()
    if span is None or not text.flat.startswith("{") or not any(key in text.flat for key in _OWN):
        return None
    return _launch(source, text, span)


def _launch(source: Source, text: TracedText, span: Span) -> Launch:
    engine = next(one for one in ENGINES.values() if one.speculation_json)
    option = Word(TracedText.of("--" + engine.speculation_json), span)
    return Launch(
        source=source, engine=engine.id, argv=[option, Word(text, span)], site=span, name=engine.speculation_json, fragment=True
    )
