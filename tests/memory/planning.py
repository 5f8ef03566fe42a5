"""Launches of vLLM for the tests of memory plans."""

from __future__ import annotations

import shlex

from servelint.core.launch import Launch, Variable
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines.config import Config, configs
from servelint.memory.plan import MemoryPlan
from servelint.memory.vllm import plan
from servelint.syntax.shell.words import split

SMALL = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
"""Qwen3-8B's config.json, as far as memory follows from it."""


def config_of(command: str, release: str, gpu: str | None = None, env: dict[str, str] | None = None) -> Config:
    """`vllm serve` with these words, under a release."""
    text = "vllm serve " + command
    source = Source("<command>", text)
    words = split(TracedText.at(source, 0, len(text)))
    launch = Launch(
        source=source,
        engine="vllm",
        verb=tuple(words[:2]),
        argv=words[2:],
        site=Span(source, 0, len(text)),
        env={name: Variable(name, TracedText.of(value), None) for name, value in (env or {}).items()},
    )
    launch.gpu, launch.gpu_count = gpu, 8
    (found,) = configs(launch, [release])
    return found


def planned(command: str, release: str, gpu: str | None = "h100", env: dict[str, str] | None = None) -> MemoryPlan:
    return plan(config_of(command, release, gpu, env))


def speculating(**keys: str | int) -> str:
    """--speculative-config with these keys."""
    import json

    return "--speculative-config " + shlex.quote(json.dumps(keys))
