"""A chunk of prefill must be whole pages; with data-parallel attention it is divided among the groups first.

Source: check_server_args in sglang-0.4.6 srt/server_args.py:246 and sglang-0.5.23 srt/arg_groups/validation_hook.py:245. Some
attention backends set a page size of their own (32, 64 or 128), and hybrid models without an extra buffer one of 1 up to
0.5.13: only what fails with those too is told.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole

_KEEP_THE_PAGE_SIZE = ("fa3", "flashinfer", "triton", "torch_native")
_SMALLEST_OTHER = 32


def check(config: Config) -> dict[str, str] | None:
    chunk, page = whole(config, "chunked-prefill-size"), whole(config, "page-size")
    groups = _groups(config)
    if chunk is None or page is None or groups is None or chunk < 1 or page < 2:
        return None
    node = config.operand("disaggregation-mode")
    if node.present is not False and node.value not in ("null", "prefill") and config.at_least("0.5.3rc0") is not False:
        return None  # a decode node is not checked any more
    if config.operand("model.hybrid").value is not False and not config.at_least("0.5.14"):
        return None
    each = chunk // groups
    kept = config.operand("attention-backend").value in _KEEP_THE_PAGE_SIZE
    if each % page == 0 or not (kept or each % _SMALLEST_OTHER):
        return None
    return {"each": str(each), "shared": f" ({each} for each of {groups} groups)" if groups > 1 else ""}


def _groups(config: Config) -> int | None:
    """The groups of data-parallel attention; None if they are not known."""
    shared = config.operand("effective.dp-attention").value
    if shared is False:
        return 1
    widths = [config.operand(name).value for name in ("effective.attn-dp-size", "effective.dp-size")]
    return next((width for width in widths if isinstance(width, int) and width > 1), None) if shared is True else None
