"""From the memory that a release leaves to its KV cache to tokens and running requests, as it prints them."""

from __future__ import annotations

from dataclasses import dataclass

from servelint.memory.sglang.cells import Cells
from servelint.memory.sglang.release import Release


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a draft model adds to a token.

    full, sliding: bytes of its layers that grow with the full and with the sliding pool
    counted:       whether the target's pool leaves room for them (False: they are taken from the rest of the GPU)
    """

    full: int = 0
    sliding: int = 0
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """page: --page-size;  limit: --max-total-tokens;  window_share: --swa-full-tokens-ratio, None: one pool for all layers
    headroom: tokens that drafts and verification add to the pool (up to 0.5.6.post2), 0 if none"""

    page: int = 1
    limit: int | None = None
    window_share: float | None = None
    headroom: int = 0


@dataclass(frozen=True, slots=True)
class Pool:
    """tokens: max_total_num_tokens as the release prints it;  sliding: tokens of the pool of sliding layers, 0 if it has none
    bytes:  of the target's KV cache;  drafts: bytes of the draft's"""

    tokens: int
    sliding: int
    bytes: int
    drafts: int


def solve(release: Release, rest: int, cells: Cells, asked: Asked, drafts: Drafts | None = None) -> Pool:
    """The pool that `rest` bytes hold; tokens is zero or less where they hold none.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.4.0 line 472, 0.4.4 line 639, 0.4.9 line 999),
    set_num_token_hybrid there (0.4.9.post3 line 991), set_num_tokens_hybrid_swa in model_runner_kv_cache_mixin.py (0.5.9), and
    pool_configurator.py (0.5.11 line 184, 0.5.23 line 656).
    """
    drafts = drafts or Drafts()
    if asked.window_share is None or not cells.sliding_layers:
        return _one(release, rest, cells, asked, drafts)
    if cells.layers == 0:
        return _all_sliding(rest, cells, asked, drafts)
    return _two(release, rest, cells, asked, drafts, asked.window_share)


def _paged(tokens: int, page: int) -> int:
    return tokens // page * page


def _limited(tokens: int, asked: Asked) -> int:
    return tokens if asked.limit is None else min(tokens, asked.limit)


def _one(release: Release, rest: int, cells: Cells, asked: Asked, drafts: Drafts) -> Pool:
    draft = drafts.full + drafts.sliding
    token = cells.every + (draft if drafts.counted else 0)
    tokens = rest // token if token else 0
    if tokens > 0:
        tokens += asked.headroom
    page = asked.page if release.since("0.4.4") else 1
    tokens = _paged(_limited(tokens, asked), page)
    held = max(tokens, 0)
    return Pool(tokens, 0, held * cells.every, held * draft)


def _all_sliding(rest: int, cells: Cells, asked: Asked, drafts: Drafts) -> Pool:
    draft = drafts.full + drafts.sliding
    token = cells.sliding + (draft if drafts.counted else 0)
    tokens = _paged(_limited(rest // token, asked), asked.page)
    held = max(tokens, 0)
    return Pool(tokens, tokens, held * cells.sliding, held * draft)


def _two(release: Release, rest: int, cells: Cells, asked: Asked, drafts: Drafts, share: float) -> Pool:
    """A pool of full layers and one of sliding layers, which holds a share of the tokens of the first.

    Up to 0.5.8 the split is by layers, as if these were all of one size; a limit counts before it up to 0.5.10.post1.
    """
    if not release.since("0.5.11"):
        tokens = _paged(_limited(rest // cells.every + asked.headroom, asked), asked.page)
        if release.since("0.5.9"):
            tokens = int(tokens * cells.every / (cells.full + share * cells.sliding))
        else:
            tokens = int(tokens * (cells.layers + cells.sliding_layers) / (cells.layers + share * cells.sliding_layers))
    else:
        counted = (drafts.full + share * drafts.sliding) if drafts.counted else 0
        tokens = _limited(int(rest // (cells.full + share * cells.sliding + counted)), asked)
    aligned = asked.page if release.since("0.5.7") else 1
    tokens = _paged(tokens, aligned)
    sliding = _paged(int(tokens * share), aligned)
    held, windows = max(tokens, 0), max(sliding, 0)
    return Pool(tokens, sliding, held * cells.full + windows * cells.sliding, held * drafts.full + windows * drafts.sliding)


def draft_headroom(release: Release, requests: int, steps: int, topk: int, verified: int) -> int:
    """Tokens that drafts and verification add to what was profiled, beyond the memory that was left for it.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.4.3.post3 line 645 to 0.5.6.post2 line 1700); the target's
    pool of 0.4.1.post4 to 0.4.3.post2 and of 0.5.7 and later stays as it is.
    """
    if not release.since("0.4.3.post3") or release.since("0.5.7"):
        return 0
    return requests * steps * topk + requests * verified + 100


def running_requests(release: Release, tokens: int, context: int, asked: int | None, replicas: int) -> int:
    """The most running requests of one replica, before the slots of states limit them.

    Source: init_memory_pool in srt/model_executor/model_runner.py (0.4.0 line 509), srt/managers/tp_worker.py (0.4.0 line 71:
    not more than half the tokens), _resolve_max_num_reqs in model_runner_kv_cache_mixin.py (0.5.10rc0 line 808, 0.5.14 line
    981), resolve_max_num_reqs in srt/mem_cache/kv_cache_configurator.py (0.5.23 line 3119).
    """
    most = min(max(int(tokens / context * 512), 2048), 4096)
    if asked is None:
        return min(most, tokens // 2)
    mine = asked // replicas
    if release.since("0.5.23"):
        mine = max(1, mine)
    if release.since("0.5.14"):
        return min(mine, tokens // 2)
    return min(mine, most) if release.since("0.5.10rc0") else mine
