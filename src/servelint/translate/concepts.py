"""Concepts whose values a table cannot carry: they depend on other options, or are spread over several."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from servelint.core.launch import Word
from servelint.core.text import TracedText
from servelint.engines.config import given_object
from servelint.engines.registry import ENGINES
from servelint.translate import (
    ADDED,
    CHANGED,
    DEFAULT,
    IMPLIED,
    LEFT_OUT,
    MODEL,
    NO_COUNTERPART,
    SAME,
    Given,
    Line,
    Side,
    _Writer,
    as_word,
    in_makers_image,
    row_of,
)  # fmt: skip

EVERY_INTERFACE = "0.0.0.0"  # noqa: S104 - what a launch says, not what is bound here


def model(writer: _Writer) -> None:
    """Write the model, which comes first: a repository or a folder that both engines read."""
    config = writer.config
    arguments = config.reading.arguments
    found = config.reading.model
    set_by = [one for one in writer.given if one.row["id"] == "model"]
    writer.given = [one for one in writer.given if one.row["id"] != "model"]
    words = [one for given in set_by for one in given.words] or arguments.positionals[:1]
    says = ""
    if found is None or not found.flat:
        found = next((text for given in set_by for text in given.texts), None)
        says = "the launch names no model" if found is None else "the engine has a model format of its own"
    flat = found.flat if found is not None else ""
    if flat and (ENGINES[writer.launch.engine].id == "llama.cpp" or flat.endswith(".gguf")):
        says = "a GGUF file; name the repository of the checkpoint that it was made from"
    option = Side(Side({"option": [ENGINES[writer.engine].model_option or "model-path"]}).body).options[0]
    head = [] if ENGINES[writer.engine].dialect.model_first else [as_word("--" + option)]
    if says or found is None:
        writer.argv += [*head, as_word(MODEL)]
        writer.lines.append(Line(LEFT_OUT, "model", words, [*head, as_word(MODEL)], says))
    else:
        writer.argv += [*head, Word(found)]
        writer.lines.append(Line(SAME, "model", words, [*head, Word(found)]))


def context(writer: _Writer, every: list[Given]) -> None:
    """The context length. llama.cpp divides its own among the slots; auto and -1 of vLLM fit it into the memory."""
    given = every[-1]
    value = given.value = _whole(given.value)
    if writer.launch.engine == "llama.cpp" and given.known and isinstance(value, int):
        slots = _whole(writer.config.operand("parallel").value)
        unified = writer.config.operand("kv-unified")
        if value == 0:
            return writer.note(IMPLIED, given, "the context of the model is the default")
        if isinstance(slots, int) and slots > 1 and unified.present is False and value % slots == 0:
            given.value = value // slots
            given.texts = [TracedText.of(str(given.value))]
            if (option := writer.option(Side(given.row[writer.engine]).options)) is not None:
                says = f"llama.cpp divides {value} among {slots} slots; {option.long_name} counts for each request"
                writer.add(CHANGED, given, [as_word(option.long_name), as_word(given.value)], says)
            return None
        parallel = writer.config.operand("parallel")  # not given: one slot, and since b7079 four that share all of it
        if slots != 1 and unified.value is not True and parallel.present is not False:
            return writer.note(LEFT_OUT, given, "llama.cpp divides it among slots whose number is unknown")
    if given.known and (not isinstance(value, int) or value < 1):
        shown = given.texts[0].shown if given.texts else ""
        return writer.note(LEFT_OUT, given, f"{shown} is not a number of tokens; the context of the model is the default")
    return writer.carry(given)


def _whole(value: object) -> object:
    """A text of digits as the number that it is."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


def prefill(writer: _Writer, every: list[Given]) -> None:
    """Chunked prefill: a switch and a budget in vLLM, a size that is -1 for off in SGLang."""
    for given in every:
        size = Side(given.row[writer.engine]).options
        off = given.value is False or given.value == -1
        if writer.engine == "sglang" and isinstance(given.value, bool):
            if off:
                writer.add(SAME, given, [as_word("--chunked-prefill-size"), as_word(-1)])
            else:
                writer.note(IMPLIED, given, f"{writer.names[1]} does so by default")
        elif writer.engine == "vllm" and off and size:
            option = writer.option(["enable-chunked-prefill"])
            negative = option.negatives[:1] if option is not None else []
            if negative:
                writer.add(SAME, given, [as_word(next(one for one in option.negatives if one[:2] == "--"))] if option else [])
            else:
                writer.note(NO_COUNTERPART, given, f"{writer.shown} cannot switch chunks off")
        else:
            writer.carry(given)


def experts(writer: _Writer, every: list[Given]) -> None:
    """Expert parallelism: a switch in vLLM (over all ranks), a size in the other engines."""
    given = every[-1]
    ranks = _ranks(writer)
    value = given.value
    option = writer.option(Side(given.row[writer.engine]).names)
    if option is None:
        return writer.note(NO_COUNTERPART, given, writer.lacks(Side(given.row[writer.engine])))
    if value is False or (value == 1 and value is not True):
        return writer.note(IMPLIED, given, f"{writer.names[1]} has none by default")
    if ranks is None or not given.known:
        return writer.note(LEFT_OUT, given, "the number of ranks is not known, or data parallel ranks take part")
    if writer.engine == "vllm":
        if value == ranks and ranks > 1:
            return writer.add(SAME, given, [as_word(option.long_name)])
        return writer.note(LEFT_OUT, given, f"{option.long_name} spreads the experts over all {ranks} ranks, not over {value}")
    size = ranks if value is True else value
    return writer.add(SAME, given, [as_word(option.long_name), as_word(size)])


def _ranks(writer: _Writer) -> int | None:
    """The tensor parallel size of a launch without data parallelism; None if it is not known."""
    option = ENGINES[writer.launch.engine].tensor_parallel_option
    for name in [option, *Side(row_of("tensor-parallel")[writer.launch.engine]).options]:
        operand = writer.config.operand(name) if name else None
        if operand is not None and operand.present is not False:
            found = operand.value
            break
    else:
        found = 1
    parallel = row_of("data-parallel").get(writer.launch.engine)
    side = Side(parallel) if parallel is not None else None
    for name in [*side.options, *side.body.get("unless", ())] if side is not None else []:
        replicas = writer.config.operand(name)
        if replicas.present is not False and name != "enable-expert-parallel" and replicas.value != 1:
            return None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def rendezvous(writer: _Writer, every: list[Given]) -> None:
    """The address at which nodes meet: two options in vLLM, one in SGLang."""
    words = [one for given in every for one in given.words]
    texts = {given.name: given.texts[0] for given in every if given.texts}
    if writer.engine == "sglang":
        host, port = texts.get("master-addr"), texts.get("master-port")
        if host is None or not host.known or (port is not None and not port.known):
            return writer.note(LEFT_OUT, every[0], "--dist-init-addr takes HOST:PORT, of which a part is unknown")
        found = [as_word("--dist-init-addr"), as_word(f"{host.flat}:{port.flat if port is not None else 29501}")]
    else:
        address = next(iter(texts.values()), None)
        host_text, _, port_text = (address.flat if address is not None and address.known else "").rpartition(":")
        if not host_text or not port_text.isdigit() or writer.option(["master-addr"]) is None:
            return writer.note(LEFT_OUT, every[0], "--master-addr and --master-port take the two parts of the address")
        found = [as_word("--master-addr"), as_word(host_text), as_word("--master-port"), as_word(port_text)]
    writer.argv += found
    writer.lines.append(Line(SAME, "rendezvous", words, found))
    return None


def adapters(writer: _Writer, every: list[Given]) -> None:
    """LoRA adapters: NAME=PATH words, or a list with commas in TGI, where a name may be the path itself."""
    given = every[-1]
    pairs: list[TracedText] = []
    for text in given.texts:
        if not text.known:
            pairs.append(text)
            continue
        for part in text.flat.split(",") if writer.launch.engine == "tgi" else [text.flat]:
            name, sign, path = part.strip().partition("=")
            if name.startswith("{") or "," in part or not name:
                return writer.note(LEFT_OUT, given, f"{part} has no counterpart as NAME=PATH")
            pairs.append(TracedText.of(f"{name}={path if sign else name}"))
    option = writer.option(Side(given.row[writer.engine]).options)
    if option is None:
        return writer.note(NO_COUNTERPART, given, writer.lacks(Side(given.row[writer.engine])))
    if writer.launch.engine == "tgi" and any(not text.known for text in given.texts):
        return writer.note(LEFT_OUT, given, f"its value is unknown; {option.long_name} takes NAME=PATH")
    return writer.add(SAME, given, [as_word(option.long_name), *[Word(text) for text in pairs]])


def address(writer: _Writer, every: list[Given]) -> None:
    """The interface; some engines have one variable for it and the port."""
    given, source = every[-1], ENGINES[writer.launch.engine]
    if not source.address_variable:
        return writer.carry(given)
    text = given.texts[0]
    match = re.fullmatch(r"(?:https?://)?(?P<host>[^:/\[\]]*)(?::(?P<port>\d+))?/?", text.flat) if text.known else None
    if match is None:
        return writer.note(LEFT_OUT, given, "an interface and a port are not both known here")
    found = [as_word("--host"), as_word(match["host"] or EVERY_INTERFACE)]
    writer.add(SAME, given, [*found, as_word("--port"), as_word(match["port"] or source.port)])
    return None


# -- what the target needs besides


def complete(writer: _Writer) -> None:
    """Add what the launch relies on and the target does otherwise: the interface, the port, all GPUs of TGI."""
    source, target = ENGINES[writer.launch.engine], ENGINES[writer.engine]
    set_by = {given.row["id"] for given in writer.given}
    written = [one.shown for one in writer.argv]
    makers = in_makers_image(writer.launch)
    unwritten = not writer.config.reading.arguments.complete
    open_source = not source.loopback or (source.open_images and makers)
    needed: list[tuple[str, object, str]] = []
    if "host" not in set_by or not source.address_variable:
        if "host" not in set_by and open_source and target.loopback:
            needed.append(("host", EVERY_INTERFACE, f"{source.name} listens on every interface"))
        elif "host" not in set_by and not open_source and not target.loopback and not unwritten:
            says = f"interface: 127.0.0.1 in {source.name}, every interface in {target.name}; --host 127.0.0.1 keeps the first"
            writer.lines.append(Line(DEFAULT, "host", [], [], says))
        port = source.image_port if makers and source.image_port else source.port
        if "port" not in set_by and "--port" not in written and port and port != target.port:
            needed.append(("port", port, f"{source.name} listens on {port}"))
    for name, value, says in needed:
        if unwritten:  # an unknown word may be the option
            writer.lines.append(Line(DEFAULT, name, [], [], f"{name}: {says}; --{name} {value} does so"))
        else:
            writer.add(ADDED, None, [as_word("--" + name), as_word(value)], says, name)
    devices = writer.config.operand("env.CUDA_VISIBLE_DEVICES")
    if source.id == "tgi" and "tensor-parallel" not in set_by and "sharded" not in set_by and isinstance(devices.value, str):
        count = len([one for one in devices.value.split(",") if one.strip()])
        option = writer.option(Side(row_of("tensor-parallel")[writer.engine]).options)
        if count > 1 and option is not None:
            says = "TGI uses every device of CUDA_VISIBLE_DEVICES"
            writer.add(ADDED, None, [as_word(option.long_name), as_word(count)], says, "tensor-parallel")


# -- speculative decoding


_ALGORITHMS = {"eagle": "EAGLE", "eagle3": "EAGLE3", "mtp": "NEXTN", "ngram": "NGRAM", "draft_model": "STANDALONE"}
"""Method of vLLM -> algorithm of SGLang. A chain of N drafted tokens is N steps, a top k of 1 and N + 1 tokens to verify."""


def speculation(writer: _Writer, every: list[Given]) -> None:
    """Speculative decoding: one JSON object in vLLM, one option for each of its parts elsewhere."""
    engine = writer.launch.engine
    words = [one for given in every for one in given.words]

    def leave_out(says: str) -> None:
        writer.lines.append(Line(LEFT_OUT, "speculation", words, [], says))

    if engine == "tgi":
        return leave_out(
            "TGI drafts with the Medusa heads of the checkpoint, or by n-grams if it has none; which it is must be known"
        )
    if engine == "llama.cpp":
        return leave_out("the draft is a GGUF file or a method of llama.cpp's own")
    readers = {"vllm": _of_vllm, "trtllm": _of_trtllm}
    found = readers[engine](writer) if engine in readers else _of_options(writer, every)
    if isinstance(found, str):
        return leave_out(found)
    method, draft, tokens, rest = found
    if tokens < 1:
        return leave_out(f"with {tokens} drafted tokens nothing is drafted")
    said = f"; not carried: {', '.join(sorted(rest))}" if rest else ""
    if writer.engine == "vllm":
        if method not in _names(writer, "vllm", "speculative-methods"):
            return leave_out(f"{writer.shown} has no method {method}")
        body: dict[str, Any] = {"method": method}
        body |= {"model": draft} if draft is not None else {}
        body |= {"num_speculative_tokens": tokens}
        option = writer.option(["speculative-config"])
        if option is None:
            return leave_out(f"{writer.shown} has no --speculative-config")
        target = [as_word(option.long_name), as_word(json.dumps(body))]
    else:
        algorithm = _ALGORITHMS.get(method, "")
        if algorithm not in _names(writer, "sglang", "speculative-methods"):
            return leave_out(f"{writer.shown} has no counterpart of the method {method}")
        target = [as_word("--speculative-algorithm"), as_word(algorithm)]
        if draft is not None:
            target += [as_word("--speculative-draft-model-path"), as_word(draft)]
        if method == "ngram":
            said += f"; SGLang drafts a tree of n-grams of its own size instead of {tokens} tokens"
        else:
            target += [as_word("--speculative-num-steps"), as_word(tokens), as_word("--speculative-eagle-topk"), as_word(1)]
            target += [as_word("--speculative-num-draft-tokens"), as_word(tokens + 1)]
    writer.argv += target
    writer.lines.append(Line(CHANGED if said else SAME, "speculation", words, target, said.removeprefix("; ")))
    return None


def _names(writer: _Writer, engine: str, kind: str) -> set[str]:
    return {name for name in writer.catalog.names(kind) if writer.named(kind, name)} if writer.engine == engine else set()


_Drafts = tuple[str, "str | None", int, "set[str]"]
"""The method by vLLM's name, the draft model, the number of drafted tokens, and what is not carried."""


def _of_vllm(writer: _Writer) -> _Drafts | str:
    config = writer.config
    body = given_object(config, "speculative-config")
    if body is None and config.setting("speculative-config") is not None:
        return "a part of --speculative-config is unknown"
    body = dict(body or {})
    for name, key in (("spec-method", "method"), ("spec-model", "model"), ("spec-tokens", "num_speculative_tokens")):
        operand = config.operand(name)
        if operand.present and operand.value is None:
            return f"the value of --{name} is unknown"
        if operand.present:
            body[key] = operand.value
    method, draft, tokens = body.pop("method", None), body.pop("model", None), body.pop("num_speculative_tokens", None)
    if method is None:
        return "it names no method; vLLM chooses one by the draft model"
    if not isinstance(method, str) or not isinstance(tokens, int) or not (draft is None or isinstance(draft, str)):
        return "the number of drafted tokens is left to vLLM"
    if method.endswith("mtp"):
        method = "mtp"
        draft = None if draft == str(config.operand("model").value) else draft
        if draft is not None:
            return "the MTP layers are those of another checkpoint than the model"
    return method, draft, tokens, set(body)


_DECODING = {"eagle": "eagle3", "eagle3": "eagle3", "mtp": "mtp", "ngram": "ngram", "draft_target": "draft_model"}
"""`decoding_type` of TensorRT-LLM -> method of vLLM. Its PyTorch backend runs Eagle as EAGLE-3 (llm_args.py of 1.3.0rc3)."""


def _of_trtllm(writer: _Writer) -> _Drafts | str:
    def value(key: str) -> Any:
        return writer.config.operand(f"config.speculative_config.{key}").value

    kind = str(value("decoding_type") or "").lower()
    method = _DECODING.get(kind)
    tokens = value("num_nextn_predict_layers") if kind == "mtp" else value("max_draft_len")
    draft = value("speculative_model") or value("speculative_model_dir")
    if method is None:
        return f"servelint knows no counterpart of {kind or 'an unknown decoding type'}"
    if not isinstance(tokens, int) or (draft is None and method not in ("mtp", "ngram")):
        return "the number of drafted tokens or the draft model is unknown"
    rest = {"max_matching_ngram_size"} if value("max_matching_ngram_size") is not None else set()
    return method, None if method in ("mtp", "ngram") else _text(draft), tokens, rest


def _of_options(writer: _Writer, every: list[Given]) -> _Drafts | str:
    config = writer.config
    values = {given.name: given.value for given in every}
    if unknown := [given.name for given in every if not given.known or given.value is None]:
        return f"the value of --{unknown[0]} is unknown"
    algorithm = str(values.get("speculative-algorithm", "")).upper()
    if writer.launch.engine == "lmdeploy":
        named = {"DEEPSEEK_MTP": "mtp", "QWEN3_5_MTP": "mtp", "HY3_MTP": "mtp", "EAGLE": "eagle", "EAGLE3": "eagle3"}
        tokens = values.get("speculative-num-draft-tokens", 1)
        draft = values.get("speculative-draft-model")
        if algorithm not in named or not isinstance(tokens, int):
            return f"servelint knows no counterpart of {algorithm.lower() or 'the method'}"
        return named[algorithm], None if named[algorithm] == "mtp" else _text(draft), tokens, set()
    methods = {value: name for name, value in _ALGORITHMS.items()}
    method = methods.get(algorithm)
    draft = values.get("speculative-draft-model-path")
    if method is None:
        return f"servelint knows no counterpart of {algorithm or 'no algorithm'}"
    same = draft == config.operand("model").value
    if method == "eagle" and (draft is None or same):
        method = "mtp"  # EAGLE with the model's own layers
    if method == "mtp" and draft is not None and not same:
        return "the MTP layers are those of another checkpoint than the model"
    rest: set[str] = {
        name for name in ("speculative-draft-model-quantization", "speculative-draft-model-revision") if name in values
    }
    steps, width = values.get("speculative-num-steps"), values.get("speculative-eagle-topk")
    if method == "ngram":
        return "n-grams of SGLang are a tree, of vLLM a chain; choose num_speculative_tokens anew"
    verified = values.get("speculative-num-draft-tokens")
    if not isinstance(steps, int) or width not in (1, None) or (width is None and verified is None):
        return "vLLM drafts a chain, whose length follows only from --speculative-num-steps with --speculative-eagle-topk 1"
    if verified not in (None, steps + 1):
        return f"{steps} steps verify {steps + 1} tokens in a chain, not {verified}"
    return method, None if method == "mtp" else _text(draft), steps, rest


def _text(value: object) -> str | None:
    return None if value is None else str(value)


CODE: dict[str, Callable[[_Writer, list[Given]], None]] = {
    "context": context,
    "prefill": prefill,
    "experts": experts,
    "rendezvous": rendezvous,
    "adapters": adapters,
    "address": address,
    "speculation": speculation,
}
"""Name in the table -> function of the options that the launch sets of a concept."""
