"""What vLLM makes of its settings, release by release."""

from __future__ import annotations

from servelint.engines.config import ABSENT, UNKNOWN, Config, Operand

_METHODS = "speculative-methods"
_METHODS_ON_HIDDEN_STATES = ("mtp", "eagle", "eagle3")


def speculative_method(config: Config) -> Operand:
    """The speculative method under its present name: every `*_mtp` name is `mtp`.

    Source: SpeculativeConfig.__post_init__ in vllm/config/speculative.py (0.11.0 and later); before, each family's own name is
    a real method of the same kind.
    """
    method = config.operand("speculative-config.method")
    if method.present is not True:
        return _undeclared_method(config) if method.present is False else method
    if not isinstance(method.value, str):
        return method
    known = config.named(_METHODS, method.value)
    return Operand(True, known.body.get("alias_of", method.value), method.text, method.site) if known is not None else method


def _undeclared_method(config: Config) -> Operand:
    """Without a method vLLM takes `model: ngram` for n-grams and guesses the rest from the draft's config.json."""
    given = config.operand("speculative-config")
    if given.present is False:
        return ABSENT
    model = config.operand("speculative-config.model")
    if model.value in ("ngram", "[ngram]"):
        return Operand(True, "ngram", model.text, model.site)
    return Operand(None, site=given.site)


def speculative_alias(config: Config) -> Operand:
    """The present name of the method as written, if the release takes the written one for a deprecated alias."""
    method = config.operand("speculative-config.method")
    if not isinstance(method.value, str):
        return ABSENT if method.present is False else UNKNOWN
    known = config.named(_METHODS, method.value)
    if known is None or "alias_of" not in known.body:
        return ABSENT
    renamed = config.at_least("0.11.0")
    if known.here is None or renamed is None:
        return UNKNOWN
    return Operand(True, known.body["alias_of"], method.text, method.site) if known.here and renamed else ABSENT


def speculative_method_known(config: Config) -> Operand:
    """Whether the release's SpeculativeMethod has the method as written. From 0.9.1; earlier releases take any text."""
    method = config.operand("speculative-config.method")
    if not isinstance(method.value, str):
        return UNKNOWN
    known = config.named(_METHODS, method.value)
    here = known.here if known is not None else None if config.index is None else False
    return UNKNOWN if here is None else Operand(True, here, method.text, method.site)


def prefix_caching(config: Config) -> Operand:
    """Whether prefix caching is on.

    Sources: EngineArgs.create_engine_config in vllm/engine/arg_utils.py. On by default for decoder models on the V1 engine
    (the only engine from 0.11.0); for hybrid models off by default until 0.27.1, on from 0.28.0. Qwen3-Next and its kin have it
    overridden to off through 0.14.1 even if asked for (vllm/model_executor/models/config.py).
    """
    hybrid = config.operand("model.hybrid").value
    asked = config.operand("enable-prefix-caching")
    if asked.present is None or (asked.present and not isinstance(asked.value, bool)):
        return UNKNOWN
    if hybrid is True and asked.value is not False:
        honoured, default = config.at_least("0.16.0"), config.at_least("0.28.0")
        if honoured is None or default is None:
            return UNKNOWN
        if not honoured:
            return UNKNOWN if config.at_least("0.15.0") else Operand(True, False)
        if not asked.present:
            return Operand(True, default)
    if asked.present:
        return asked
    if hybrid is None:
        return UNKNOWN
    return Operand(True, True) if config.at_least("0.11.0") else UNKNOWN


def async_scheduling(config: Config) -> Operand:
    """Whether scheduling is asynchronous: opt-in before 0.14.0, then on by default for drafts on hidden states.

    Source: vllm/config/scheduler.py and vllm/config/vllm.py (async_scheduling None means auto from 0.14.0).
    """
    asked = config.operand("async-scheduling")
    if asked.present is not False:
        return asked if isinstance(asked.value, bool) else UNKNOWN
    auto = config.at_least("0.14.0")
    if auto is None:
        return UNKNOWN
    if not auto:
        return Operand(True, False)
    for name in ("pipeline-parallel-size", "distributed-executor-backend"):
        other = config.operand(name)
        if other.present and other.value not in (1, "mp", "uni"):
            return UNKNOWN
    if speculative_method(config).value in _METHODS_ON_HIDDEN_STATES:
        return Operand(True, True)
    return UNKNOWN


FACTS = {
    "speculative-method": speculative_method,
    "speculative-alias": speculative_alias,
    "speculative-method-known": speculative_method_known,
    "prefix-caching": prefix_caching,
    "async-scheduling": async_scheduling,
}
