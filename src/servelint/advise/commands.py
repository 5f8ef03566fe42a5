"""The command that serves a model on one release of an engine, with or without drafts, and without findings of the rule book.

A command is written, judged as `servelint check` judges it, and changed where a finding has a remedy. Each change is a note
with the rule's reason and evidence. What has no remedy is refused in the rule's words. The rule book decides what is broken in
which release; only the choice of remedies is made in this module.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field

from servelint import hardware
from servelint.api import check_command
from servelint.core.finding import SEVERITIES, Finding
from servelint.core.settings import Settings
from servelint.engines import catalog
from servelint.engines.registry import ENGINES
from servelint.engines.releases import known_releases, requested
from servelint.speculation import drafts
from servelint.speculation.cases import ADVISED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypedDict

    from typing_extensions import Unpack

    from servelint.engines.catalog import Catalog

    class _Parameters(TypedDict, total=False):
        """Parameters of `serve_command` that are independent of the method."""

        gpu: str | None
        gpu_count: int
        max_model_len: int | None
        max_num_seqs: int | None
        prefix_caching: bool | None
        trust_remote_code: bool
        arguments: Sequence[str]


_WORDS = re.compile(r"--([a-z][a-z-]*) (\S+?)(?=[ ,;]|$)")
_MEASURES = (
    "max-model-len", "context-length", "gpu-memory-utilization", "mem-fraction-static", "max-num-batched-tokens",
    "max-num-seqs", "ctx-size",
)  # fmt: skip
"""Options that a memory rule may advise, because they change only how long and how many requests are."""
METHODS = ("mtp", "eagle3", "dflash")
"""Drafting methods that a command can be written for."""
_ROUNDS = 8
"""No command needs as many changes. A rule that asks for one again and again has no remedy."""


@dataclass(eq=False, slots=True)
class ServeOptions:
    """The options of a launch while it is written.

    Attributes:
        engine: "vllm", "sglang" or "llama.cpp".
        model: the model's name or path.
        release: the release.
        gpu: the GPU as the caller names it.
        prefixes: prefix caching as the caller wants it: True to keep it, False for off, None for either.
        more: words of the caller, which come last.
        values: option -> its value, None for a flag, in the order in which they are written.
        speculation: the keys of vLLM's --speculative-config, none without drafts.
        env: environment variables.
    """

    engine: str
    model: str
    release: str
    gpu: str | None
    prefixes: bool | None
    more: tuple[str, ...]
    values: dict[str, str | None] = field(default_factory=dict)
    speculation: dict[str, object] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    def set(self, option: str, value: object = None) -> bool:
        """Set an option (without its dashes) to a value, None for a flag. Returns whether anything changed."""
        text = None if value is None else str(value)
        if option in self.values and self.values[option] == text:
            return False
        self.values[option] = text
        return True

    def argv(self) -> list[str]:
        """The words after the engine's verb."""
        engine = ENGINES[self.engine]
        words = [self.model] if engine.dialect.positional else [*self.naming(engine.model_option, self.model)]
        for option, value in self.values.items():
            words += ["--" + option] if value is None else ["--" + option, value]
        if self.speculation:
            words += ["--" + engine.speculation_json, json.dumps(self.speculation, separators=(",", ":"))]
        return [*words, *self.more]

    def naming(self, option: str, model: str) -> tuple[str, str]:
        """The option that names a model, with its dashes, and the model: files and repositories may have one each."""
        by_repository = ENGINES[self.engine].repository_options.get(option)
        return "--" + (by_repository if by_repository and not model.endswith(".gguf") else option), model

    def written(self) -> list[str]:
        """Variables, options with their values, and keys of the speculative config, each as one text."""
        options = ["--" + option if value is None else f"--{option} {value}" for option, value in self.values.items()]
        keys = [json.dumps({key: value}, separators=(",", ":"))[1:-1] for key, value in self.speculation.items()]
        return [*(f"{name}={value}" for name, value in self.env.items()), *options, *keys]

    def catalog(self) -> Catalog:
        """The catalog of the engine. Raises ValueError if there is none."""
        found = catalog.load(self.engine)
        if found is None:
            raise ValueError(f"the options of {self.engine!r} are not known")
        return found

    def has(self, option: str) -> bool:
        """Whether the release declares an option."""
        known = self.catalog()
        return known.table(known.nearest(self.release)).find("--" + option) is not None

    def knows(self, kind: str, name: str) -> bool:
        """Whether the release has a name of a kind, such as "speculative-methods"."""
        known = self.catalog()
        index = known.nearest(self.release)
        return any(first <= index <= last for first, last, _ in known.names(kind).get(name, ()))


def mend(options: ServeOptions, finding: Finding) -> bool:
    """Apply the remedy for a finding. Returns False if there is none, or the caller has ruled it out."""
    way = _WAYS.get(finding.rule)
    return way is not None and way(options, finding)


def _extra_buffer(options: ServeOptions, _finding: Finding) -> bool:
    if "disable-radix-cache" in options.values:
        return False
    name = "mamba-radix-cache-strategy"
    return options.set(name if options.has(name) else "mamba-scheduler-strategy", "extra_buffer")


def _no_radix_cache(options: ServeOptions, _finding: Finding) -> bool:
    return options.prefixes is not True and options.set("disable-radix-cache")


def _spec_v2(options: ServeOptions, _finding: Finding) -> bool:
    if "SGLANG_ENABLE_SPEC_V2" in options.env:
        return False
    options.env["SGLANG_ENABLE_SPEC_V2"] = "1"
    return True


def _attention_backend(options: ServeOptions, _finding: Finding) -> bool:
    """Choose fa3 where the GPU has it, else triton, which runs on every GPU."""
    known = hardware.identify(options.gpu) if options.gpu is not None else None
    fast = known is not None and known.facts.get("flash-attention-3") is True
    return "attention-backend" not in options.values and options.set("attention-backend", "fa3" if fast else "triton")


def _no_prefix_caching(options: ServeOptions, _finding: Finding) -> bool:
    return options.prefixes is not True and options.set("no-enable-prefix-caching")


def _keep_block(options: ServeOptions, finding: Finding) -> bool:
    """Keep the cached block where the release can and the caller wants prefix caching, else turn prefix caching off."""
    known = options.catalog()
    keys = known.keys("speculative-config", known.nearest(options.release))
    if options.prefixes is not True:
        return _no_prefix_caching(options, finding)
    if keys is None or keys.get("disable_eagle_block_drop") is None or "disable_eagle_block_drop" in options.speculation:
        return False
    options.speculation["disable_eagle_block_drop"] = True
    return True


def _as_advised(options: ServeOptions, finding: Finding) -> bool:
    """Set the options that the advice begins with, if they are only sizes and the caller has set none of them."""
    advised: list[tuple[str, str]] = []
    rest = finding.advice.removeprefix("write ")
    while (match := _WORDS.match(rest)) is not None:
        advised.append((match[1], match[2]))
        rest = rest[match.end() :].lstrip()
    if not advised or any(option not in _MEASURES or option in options.values for option, _ in advised):
        return False
    for option, value in advised:
        options.set(option, value)
    return True


def _setting(option: str, value: str) -> Callable[[ServeOptions, Finding], bool]:
    """A remedy that sets an option unless it is set."""

    def way(options: ServeOptions, _finding: Finding) -> bool:
        return option not in options.values and options.set(option, value)

    return way


_WAYS: dict[str, Callable[[ServeOptions, Finding], bool]] = {
    "llamacpp/memory-does-not-start": _as_advised,
    "sglang/context-above-kv-cache": _as_advised,
    "sglang/deepseek-v4-wants-eagle": lambda options, _finding: options.set("speculative-algorithm", "EAGLE"),
    "sglang/glm4-moe-loses-overlap": _extra_buffer,
    "sglang/hybrid-spec-drops-radix-cache": _extra_buffer,
    "sglang/hybrid-spec-needs-extra-buffer": _extra_buffer,
    "sglang/llama4-needs-attention-backend": _attention_backend,
    "sglang/memory-after-pools": _as_advised,
    "sglang/memory-does-not-start": _as_advised,
    "sglang/nemotron-h-spec-drops-radix-cache": _no_radix_cache,
    "sglang/nemotron-h-spec-needs-extra-buffer": _extra_buffer,
    "sglang/nemotron-h-spec-needs-radix-off": _no_radix_cache,
    "sglang/spec-v2-not-set": _spec_v2,
    "vllm/cve-2026-22778": _setting("limit-mm-per-prompt", '{"video":0}'),
    "vllm/deepseek-v32-tokenizer-mode": _setting("tokenizer-mode", "deepseek_v32"),
    "vllm/dflash-takes-every-slot": _setting("max-num-seqs", "256"),
    "vllm/hybrid-mtp-drops-cached-block": _keep_block,
    "vllm/hybrid-mtp-prefix-caching": _no_prefix_caching,
    "vllm/max-model-len-above-kv-cache": _as_advised,
    "vllm/max-num-seqs-above-states": _as_advised,
    "vllm/memory-does-not-start": _as_advised,
    "vllm/memory-may-not-start": _as_advised,
}
_DOUBTS = ("vllm/memory-may-not-start", "vllm/state-block-above-default-batch")
"""Rules whose findings do not keep an engine from starting."""


@dataclass(frozen=True, slots=True)
class Note:
    """Why something is written, why no command is possible, or what drafting costs, in one sentence.

    Attributes:
        text: the sentence.
        rule: the rule that says so, "" for none.
        evidence: what the rule cites.
        written: what was written for it ("--disable-radix-cache"), "" for nothing.
    """

    text: str
    rule: str = ""
    evidence: tuple[str, ...] = ()
    written: str = ""


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """A launch without findings.

    Attributes:
        engine: "vllm", "sglang" or "llama.cpp".
        release: the release.
        model: the model's name or path.
        method: "mtp", "eagle3" or "dflash", None without drafts.
        tokens: tokens drafted per step, 0 without drafts.
        argv: the words after the engine's verb, a positional model first.
        env: environment variables that it needs.
        notes: what had to be written and why, then what drafting costs.
    """

    engine: str
    release: str
    model: str
    method: str | None
    tokens: int
    argv: tuple[str, ...]
    env: dict[str, str]
    notes: tuple[Note, ...]

    @property
    def command(self) -> str:
        """The whole command as one line for a shell, with the variables in front."""
        given = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        return " ".join([*given, shlex.join([*ENGINES[self.engine].command, *self.argv])])


class Refused(ValueError):
    """No such command is possible. `reasons` say why, each with its rule and evidence."""

    def __init__(self, engine: str, release: str, model: str, reasons: Sequence[Note]) -> None:
        self.engine = engine
        self.release = release
        self.model = model
        self.reasons = tuple(reasons)
        super().__init__("; ".join(note.text for note in self.reasons))


def vllm_mtp_command(
    model: str, num_speculative_tokens: int = 1, release: str | None = None, **more: Unpack[_Parameters]
) -> ServeCommand:
    r"""`vllm serve` with the model's own layers as the draft. The parameters are those of `serve_command`.

    >>> vllm_mtp_command("Qwen/Qwen3.6-27B", 2, "0.33.0").command
    'vllm serve Qwen/Qwen3.6-27B --speculative-config \'{"method":"mtp","num_speculative_tokens":2}\''
    """
    return serve_command("vllm", model, "mtp", release=release, num_speculative_tokens=num_speculative_tokens, **more)


def sglang_mtp_command(
    model: str, num_speculative_tokens: int = 3, release: str | None = None, **more: Unpack[_Parameters]
) -> ServeCommand:
    """`python -m sglang.launch_server` with NEXTN in one chain: 3/1/4 for few requests at once, 1/1/2 for many.

    The parameters are those of `serve_command`.

    >>> sglang_mtp_command("Qwen/Qwen3.6-27B", 1, "0.5.23").argv[-6:]
    ('--speculative-num-steps', '1', '--speculative-eagle-topk', '1', '--speculative-num-draft-tokens', '2')
    """
    return serve_command("sglang", model, "mtp", release=release, num_speculative_tokens=num_speculative_tokens, **more)


def serve_command(
    engine: str,
    model: str,
    method: str | None = None,
    *,
    release: str | None = None,
    num_speculative_tokens: int = 1,
    draft: str | None = None,
    gpu: str | None = None,
    gpu_count: int = 1,
    max_model_len: int | None = None,
    max_num_seqs: int | None = None,
    prefix_caching: bool | None = None,
    trust_remote_code: bool = False,
    arguments: Sequence[str] = (),
) -> ServeCommand:
    """The command that serves a model.

    Args:
        engine: "vllm", "sglang" or "llama.cpp".
        model: the model's name or path.
        method: "mtp", "eagle3" or "dflash", None for no drafts.
        release: the release, the newest known one by default.
        num_speculative_tokens: tokens drafted per step, in a chain. DFlash in SGLang drafts the block that its draft was
            trained for.
        draft: the draft model of eagle3 and dflash.
        gpu: the GPU's name. Without one memory is not judged.
        gpu_count: how many GPUs: all in tensor parallelism, or with some of the layers each (llama.cpp).
        max_model_len: the longest request in tokens.
        max_num_seqs: the largest number of requests at once.
        prefix_caching: None for on where the release has it on and nothing is against it; True to refuse where it cannot be on.
        trust_remote_code: allow code of the model's repository where the release cannot read the model without.
        arguments: more words for the engine.

    Raises:
        Refused: no such command is possible.
        ValueError: a parameter is wrong.

    >>> serve_command("sglang", "deepseek-ai/DeepSeek-V3", release="0.5.9", gpu_count=8).command
    'python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 8'
    """
    release = release_of(engine, release)
    _valid(model, method, num_speculative_tokens, draft, gpu, gpu_count)
    record = ENGINES[engine]
    for one in (model, draft) if record.repository_options else ():
        if one is not None and "gguf" not in one.lower():
            raise ValueError(f"{record.name} reads GGUF files only; name one, or a repository with one, in place of {one}")
    notes: list[Note] = []
    options = ServeOptions(engine, model, release, gpu, prefix_caching, tuple(arguments))
    if gpu_count > 1 and record.tensor_parallel_option:
        options.set(record.tensor_parallel_option, gpu_count)
    if max_model_len is not None:
        options.set(record.context_option, max_model_len)
    if max_num_seqs is not None:
        options.set(record.requests_option, max_num_seqs)
    caching = record.prefix_caching_on if prefix_caching else record.prefix_caching_off
    if prefix_caching is not None and caching:
        options.set(caching)
    if method == "mtp":
        notes += _own_drafts(options)
    if method is not None:
        _speculate(options, method, num_speculative_tokens, draft)
    notes += _mended(options, Settings(gpu=gpu, gpu_count=gpu_count), trust_remote_code)
    tokens = 0 if method is None else num_speculative_tokens
    return ServeCommand(engine, release, model, method, tokens, tuple(options.argv()), options.env, tuple(notes))


def release_of(engine: str, release: str | None) -> str:
    """The release that a command is for: the newest by default. Raises ValueError for what is not a release."""
    if engine not in ADVISED:
        raise ValueError(f"no command for the engine {engine!r}; use one of {', '.join(ADVISED)}")
    if release is not None:
        return requested(engine, release)
    known = catalog.load(engine)
    return known_releases(engine)[-1] if known is None or known_releases(engine) else known.releases[-1]


def _valid(model: str, method: str | None, tokens: int, draft: str | None, gpu: str | None, gpu_count: int) -> None:
    if not model or model.startswith("-"):
        raise ValueError(f"{model!r} is not a model; write its repository's name or a folder")
    if method not in (None, *METHODS):
        raise ValueError(f"{method!r} is not a method; use one of {', '.join(METHODS)}, or None for no drafts")
    if method is not None and tokens < 1:
        raise ValueError(f"{tokens} draft tokens; write 1 or more")
    if method in ("eagle3", "dflash") and not draft:
        raise ValueError(f"{method} needs the draft model that was made for {model}; name it")
    if method in (None, "mtp") and draft:
        raise ValueError(f"the draft {draft!r} is for eagle3 or dflash; name one of them")
    if gpu is not None and hardware.identify(gpu) is None:
        raise ValueError(f"{gpu!r} is not a known GPU")
    if gpu_count < 1:
        raise ValueError(f"{gpu_count} GPUs; write 1 or more")


def _own_drafts(options: ServeOptions) -> list[Note]:
    """Notes on what is not known of the model's own layers.

    Raises:
        Refused: the release cannot draft with them.
    """
    own = drafts.own_drafts(options.model)
    if (why := drafts.refusal(options.engine, options.release, options.model, own)) is not None:
        text, source = why
        raise Refused(options.engine, options.release, options.model, [Note(text, "", (source,) if source else ())])
    if ENGINES[options.engine].repository_options and not re.search(r"(?i)\bmtp\b", options.model):
        text = (
            f"servelint does not know whether {options.model} holds the draft's tensors (nextn); without them it does not start"
        )
        return [Note(text)]
    if own.layers is None:
        text = (
            f"servelint does not know whether {options.model} has layers for multi-token prediction; "
            "without them it does not start"
        )
        return [Note(text)]
    return []


def _speculate(options: ServeOptions, method: str, tokens: int, draft: str | None) -> None:
    if ENGINES[options.engine].speculation_json:
        # `mtp` from 0.11.0, before `deepseek_mtp`; the rule book refuses what 0.10.2 has in addition
        mtp = "mtp" if options.knows("speculative-methods", "mtp") else "deepseek_mtp"
        options.speculation["method"] = mtp if method == "mtp" else method
        if draft is not None:
            options.speculation["model"] = draft
        options.speculation["num_speculative_tokens"] = tokens
        return
    for option, value in ENGINES[options.engine].drafting[method]:
        text = value.format(draft=draft, tokens=tokens, verified=tokens + 1)
        name, _ = options.naming(option, text)
        options.set(name[2:], text)


def _mended(options: ServeOptions, settings: Settings, trust_remote_code: bool) -> list[Note]:
    """Change the options until only the cost of drafting is found.

    Raises:
        Refused: findings without a remedy remain.
    """
    notes: list[Note] = []
    before: list[Finding] = []
    written = ""
    for _ in range(_ROUNDS):
        findings = check_command(options.engine, options.argv(), options.release, options.env, settings)
        faults = sorted([one for one in findings if one.severity != "info"], key=lambda one: -SEVERITIES.index(one.severity))
        rules = {finding.rule for finding in faults}
        notes += [_note(finding, written) for finding in before if finding.rule not in rules]
        before_words = options.written()
        changed = [_mend(options, finding, trust_remote_code) for finding in faults]
        if not any(changed):
            break
        written = " ".join(word for word in options.written() if word not in before_words)
        before = faults
    if not all(finding.rule in _DOUBTS for finding in faults):
        raise Refused(options.engine, options.release, options.model, [_note(finding) for finding in faults])
    return [*notes, *[_note(finding) for finding in findings]]


def _mend(options: ServeOptions, finding: Finding, trust_remote_code: bool) -> bool:
    if finding.rule.endswith("/config-needs-remote-code"):
        return trust_remote_code and options.set("trust-remote-code")
    return mend(options, finding)


def _note(finding: Finding, written: str = "") -> Note:
    return Note(finding.sentence, finding.rule, tuple(finding.evidence), written)
