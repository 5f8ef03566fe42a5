"""The command that serves a model on one release of an engine, with drafts or without: the rule book has nothing against it.

A command is written, judged as `servelint check` judges it, and changed where a finding tells how: each change is a note with
the rule's reason and evidence. What cannot be mended is refused, with the rule's words.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from servelint import hardware
from servelint.advise.options import Options
from servelint.advise.remedies import mend
from servelint.api import check_command
from servelint.core.finding import SEVERITIES, Finding
from servelint.core.settings import Settings
from servelint.engines.registry import ENGINES
from servelint.engines.releases import known_releases, normalize
from servelint.speculation import drafts
from servelint.speculation.cases import ADVISED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

METHODS = ("mtp", "eagle3", "dflash")
_ROUNDS = 8
"""No command needs as many changes; a rule that asks for one again and again is not mended by it."""


@dataclass(frozen=True, slots=True)
class Note:
    """Why something is written, or why nothing can be, or what drafting costs: one sentence.

    rule:     that says it, "" for none;  evidence: what the rule cites
    written:  what was written for it ("--disable-radix-cache"), "" where nothing was
    """

    text: str
    rule: str = ""
    evidence: tuple[str, ...] = ()
    written: str = ""


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """A launch that `servelint check` has nothing against.

    argv:    the words after the engine's verb, a positional model first; env: the variables that it needs
    command: all of it as one line for a shell, the variables in front
    method:  "mtp", "eagle3", "dflash", None without drafts;  tokens: how many are drafted at once, 0 without
    notes:   what had to be written and why, then what drafting costs here
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
        given = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        return " ".join([*given, shlex.join([*ENGINES[self.engine].command, *self.argv])])


class Refused(ValueError):
    """No command of this kind is right: `reasons` say why, each with its rule and evidence."""

    def __init__(self, engine: str, release: str, model: str, reasons: Sequence[Note]) -> None:
        self.engine = engine
        self.release = release
        self.model = model
        self.reasons = tuple(reasons)
        super().__init__("; ".join(note.text for note in self.reasons))


def vllm_mtp_command(
    model: str,
    num_speculative_tokens: int = 1,
    release: str | None = None,
    *,
    gpu: str | None = None,
    gpu_count: int = 1,
    max_model_len: int | None = None,
    max_num_seqs: int | None = None,
    prefix_caching: bool | None = None,
    trust_remote_code: bool = False,
    arguments: Sequence[str] = (),
) -> ServeCommand:
    """`vllm serve` with the model's own layers as the draft; the parameters are those of serve_command.

    >>> vllm_mtp_command("Qwen/Qwen3.6-27B", 2, "0.33.0").command
    'vllm serve Qwen/Qwen3.6-27B --speculative-config \\'{"method":"mtp","num_speculative_tokens":2}\\''
    """
    return serve_command(
        "vllm",
        model,
        "mtp",
        release=release,
        num_speculative_tokens=num_speculative_tokens,
        gpu=gpu,
        gpu_count=gpu_count,
        max_model_len=max_model_len,
        max_num_seqs=max_num_seqs,
        prefix_caching=prefix_caching,
        trust_remote_code=trust_remote_code,
        arguments=arguments,
    )


def sglang_mtp_command(
    model: str,
    num_speculative_tokens: int = 3,
    release: str | None = None,
    *,
    gpu: str | None = None,
    gpu_count: int = 1,
    max_model_len: int | None = None,
    max_num_seqs: int | None = None,
    prefix_caching: bool | None = None,
    trust_remote_code: bool = False,
    arguments: Sequence[str] = (),
) -> ServeCommand:
    """`python -m sglang.launch_server` with NEXTN in one chain: 3/1/4 for few requests at once, 1/1/2 for many.

    >>> sglang_mtp_command("Qwen/Qwen3.6-27B", 1, "0.5.23").argv[-6:]
    ('--speculative-num-steps', '1', '--speculative-eagle-topk', '1', '--speculative-num-draft-tokens', '2')
    """
    return serve_command(
        "sglang",
        model,
        "mtp",
        release=release,
        num_speculative_tokens=num_speculative_tokens,
        gpu=gpu,
        gpu_count=gpu_count,
        max_model_len=max_model_len,
        max_num_seqs=max_num_seqs,
        prefix_caching=prefix_caching,
        trust_remote_code=trust_remote_code,
        arguments=arguments,
    )


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
    """The command for a model on a release (None: the newest that is known).

    method:          "mtp", "eagle3" or "dflash"; None: without drafts
    num_speculative_tokens: drafted at once, in a chain; DFlash in SGLang drafts the block that its draft was trained for
    draft:           the draft model of eagle3 and dflash
    gpu, gpu_count:  what it runs on; all of them in tensor parallelism. Without a name nothing is said of memory
    prefix_caching:  None: on where the release has it on and nothing is against it; True: refused where it cannot be on
    trust_remote_code: whether code of the model's repository may run, where the release cannot read the model without
    arguments:       more words for the engine
    Raises Refused where no such command is right, ValueError for a wrong parameter.

    >>> serve_command("sglang", "deepseek-ai/DeepSeek-V3", release="0.5.9", gpu_count=8).command
    'python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 8'
    """
    release = _release(engine, release)
    _valid(model, method, num_speculative_tokens, draft, gpu, gpu_count)
    record = ENGINES[engine]
    notes: list[Note] = []
    options = Options(engine, model, release, gpu, prefix_caching, tuple(arguments))
    if gpu_count > 1:
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
    settings = Settings(gpu=gpu, gpu_count=gpu_count)
    notes += _mended(options, settings, trust_remote_code)
    tokens = 0 if method is None else num_speculative_tokens
    return ServeCommand(engine, release, model, method, tokens, tuple(options.argv()), options.env, tuple(notes))


def _release(engine: str, release: str | None) -> str:
    if engine not in ADVISED:
        raise ValueError(f"no command for the engine {engine!r}; use one of {', '.join(ADVISED)}")
    if release is None:
        return known_releases(engine)[-1]
    try:
        return normalize(engine, release)
    except ValueError as error:
        raise ValueError(f"{error}; write {known_releases(engine)[-1]}") from None


def _valid(model: str, method: str | None, tokens: int, draft: str | None, gpu: str | None, gpu_count: int) -> None:
    if not model or model.startswith("-"):
        raise ValueError(f"{model!r} is no model; write its repository's name or a folder")
    if method not in (None, *METHODS):
        raise ValueError(f"{method!r} is no method; use one of {', '.join(METHODS)}, or None for no drafts")
    if method is not None and tokens < 1:
        raise ValueError(f"{tokens} drafted tokens; write 1 or more")
    if method in ("eagle3", "dflash") and not draft:
        raise ValueError(f"{method} needs the draft model that was made for {model}; name it")
    if method in (None, "mtp") and draft:
        raise ValueError(f"the draft {draft!r} is for eagle3 or dflash; name one of them")
    if gpu is not None and hardware.identify(gpu) is None:
        raise ValueError(f"{gpu!r} is no GPU that is known")
    if gpu_count < 1:
        raise ValueError(f"{gpu_count} GPUs; write 1 or more")


def _own_drafts(options: Options) -> list[Note]:
    """Notes on what is not known of the model's own layers. Raises Refused where the release cannot draft with them."""
    own = drafts.own_drafts(options.model)
    why = drafts.refusal(options.engine, options.release, options.model, own)
    if why is not None:
        text, source = why
        raise Refused(options.engine, options.release, options.model, [Note(text, "", (source,) if source else ())])
    if own.layers is None:
        text = f"whether {options.model} has layers for multi-token prediction is not known; without any it does not start"
        return [Note(text)]
    return []


def _speculate(options: Options, method: str, tokens: int, draft: str | None) -> None:
    if ENGINES[options.engine].speculation_json:
        options.speculation["method"] = _own_layers(options) if method == "mtp" else method
        if draft is not None:
            options.speculation["model"] = draft
        options.speculation["num_speculative_tokens"] = tokens
        return
    options.set("speculative-algorithm", "NEXTN" if method == "mtp" else method.upper())
    if draft is not None:
        options.set("speculative-draft-model-path", draft)
    if method != "dflash":
        options.set("speculative-num-steps", tokens)
        options.set("speculative-eagle-topk", 1)
        options.set("speculative-num-draft-tokens", tokens + 1)


def _own_layers(options: Options) -> str:
    """`mtp` from vLLM 0.11.0 on; of 0.10.2 only deepseek_mtp is written, as the rule book has that release refused."""
    return "mtp" if options.knows("speculative-methods", "mtp") else "deepseek_mtp"


def _mended(options: Options, settings: Settings, trust_remote_code: bool) -> list[Note]:
    """Change the options until nothing but what drafting costs is said of them. Raises Refused with what stays."""
    notes: list[Note] = []
    before: list[Finding] = []
    written = ""
    for _ in range(_ROUNDS):
        findings = check_command(options.engine, options.argv(), options.release, options.env, settings)
        faults = sorted([one for one in findings if one.severity != "info"], key=lambda one: -SEVERITIES.index(one.severity))
        rules = {finding.rule for finding in faults}
        notes += [_note(finding, written) for finding in before if finding.rule not in rules]
        said = options.said()
        changed = [_mend(options, finding, trust_remote_code) for finding in faults]
        if not any(changed):
            break
        written = " ".join(word for word in options.said() if word not in said)
        before = faults
    if faults:
        raise Refused(options.engine, options.release, options.model, [_note(finding) for finding in faults])
    return [*notes, *[_note(finding) for finding in findings]]


def _mend(options: Options, finding: Finding, trust_remote_code: bool) -> bool:
    if finding.rule.endswith("/config-needs-remote-code"):
        return trust_remote_code and options.set("trust-remote-code")
    return mend(options, finding)


def _note(finding: Finding, written: str = "") -> Note:
    return Note(finding.sentence, finding.rule, tuple(finding.evidence), written)
