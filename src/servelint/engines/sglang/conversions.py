"""Conversions of SGLang's own, by the names that its source gives them."""

from __future__ import annotations

import json
import re

from servelint.engines.conversions import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.conversions import Conversion

_IEC = r"(\d+(?:\.\d+)?)([KMGT]i|[kMGT])"
_POWERS = {"k": 10, "K": 10, "M": 20, "G": 30, "T": 40}
_LORA = '{"lora_name": ..., "lora_path": ...}'
_GRAPHS = '{"decode": {...}, "prefill": {...}}'


def _human_int(text: str) -> int:
    """As human_readable_int: `8k` is 8000 and `8Ki` 8192, case-sensitive; a fraction goes with the former."""
    match = re.fullmatch(_IEC, text.strip())
    if match is None:
        try:
            return int(text.strip())
        except ValueError as error:
            raise Refused("a whole number such as 8192, 8k or 8Ki") from error
    number, suffix = match.groups()
    if suffix.endswith("i") and "." in number:
        raise Refused(f"a whole number before {suffix}")
    return int(float(number) * (2 ** _POWERS[suffix[0]] if suffix.endswith("i") else 10 ** (_POWERS[suffix[0]] // 10 * 3)))


def _strict_json(text: str) -> object:
    """As orjson, which knows no NaN and no Infinity."""
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _nullable(text: str) -> str | None:
    return None if text in ("", "None") else text


def _lora_path(text: str) -> str:
    """As LoRAPathAction: a path, `name=path`, or a JSON object with both."""
    if text.strip().startswith("{") and text.strip().endswith("}"):
        value = json.loads(text)
        if not {"lora_name", "lora_path"} <= value.keys():
            raise Refused(_LORA)
    return text


def _log_level(text: str) -> str:
    if text.lower() not in ("critical", "fatal", "error", "warning", "warn", "info", "debug", "notset"):
        raise Refused("debug, info, warning, error or critical")
    return text


def _cuda_graph_config(text: str) -> object:
    value = json.loads(text)
    if not isinstance(value, dict) or not all(isinstance(phase, dict) for phase in value.values()):
        raise Refused(_GRAPHS)
    if not value.keys() <= {"decode", "prefill"}:
        raise Refused("settings for decode or prefill")
    return value


def _cuda_graph_backend(text: str) -> str:
    if text == "tc_piecewise":
        raise Refused("breakable, full or disabled")
    return text


CONVERSIONS: dict[str, Conversion] = {
    "human_readable_int": (_human_int, "a whole number such as 8192 or 8k"),
    "json_list_type": (_strict_json, "JSON"),
    "LoRAPathAction": (_lora_path, _LORA),
    "logging_level": (_log_level, ""),
    "parse_cuda_graph_config_arg": (_cuda_graph_config, _GRAPHS),
    "nullable_str": (_nullable, ""),
    "parse_cuda_graph_backend_arg": (_cuda_graph_backend, ""),
}
