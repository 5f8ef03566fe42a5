"""Which arithmetic a release of vLLM has for its KV cache: what changed, and in which release, read in every release's
source."""

from __future__ import annotations

from functools import lru_cache

from servelint.engines.releases import ReleaseKey, release_key


class Rules:
    """How one release plans the KV cache. Files are those of the release: vllm/v1/core/kv_cache_utils.py unless it says another
    (vllm/v1/core/kv_cache_planning.py from 0.33.0).

    fraction:        the default of --gpu-memory-utilization: 0.9, from 0.20.0 0.92 (vllm/config/cache.py)
    graphs_counted:  whether an estimate of the CUDA graphs is taken off the KV cache where nobody sets
                     VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS: from 0.20.0 (vllm/envs.py); the variable is read from 0.18.0
    graphs_known:    whether the release reads that variable
    widen:           layers of one kind may outnumber those of another by less than this factor, and all groups become as large
                     as the largest (_get_kv_cache_groups_uniform_page_size): 1 before 0.12.0, 1.25, from 0.18.0 1.5
    unify:           layers with smaller pages get larger blocks (unify_kv_cache_spec_page_size): from 0.12.0
    pad:             attention pages that divide no larger one are padded instead of refused: from 0.26.0
    one_pool:        layers of one kind with pages of several sizes make one group (UniformTypeKVCacheSpecs): from 0.11.0
    printed:         "GPU KV cache size" is int(concurrency * max_model_len): from 0.20.1; before, blocks // groups * block size
    need:            what is compared with the memory before a start: "layers", the sum over all layers (to 0.13.0); "first",
                     the first group's blocks alone (0.14.0 to 0.18.1); "groups", all groups' blocks (from 0.19.0)
    null_block:      a block is held back from that comparison: from 0.29.0
    in_flight:       sliding and chunked layers keep the tokens of every batch in flight (vllm/v1/kv_cache_interface.py,
                     max_in_flight_tokens): from 0.26.0
    state:           blocks that a request needs of a layer with state (MambaSpec.max_memory_usage_bytes): "one" (to 0.11.0);
                     "length", by max_model_len and its block size (0.11.1 to 0.14.1); "mode", by the cache mode (from 0.15.0)
    all_mode:        whether the mode "all" exists, one state a block of tokens: from 0.11.1 to 0.31.0
    align:           prefix caching keeps one state a request unless "all" is asked for: from 0.28.0
    block_as_given:  the attention block of a hybrid model is a multiple of --block-size: from 0.20.0
                     (vllm/platforms/interface.py)
    mla_128:         and with latent attention a multiple of 128: from 0.27.0
    mamba2_drafts:   draft tokens widen the convolution state of Mamba-2 too: from 0.17.0 (layers/mamba/mamba_utils.py)
    fp8_of_model:    --kv-cache-dtype auto takes the dtype that the checkpoint names: from 0.14.0 (vllm/utils/torch_utils.py)
    """

    __slots__ = (
        "align", "all_mode", "block_as_given", "fp8_of_model", "fraction", "graphs_counted", "graphs_known", "in_flight", "key",
        "mamba2_drafts", "mla_128", "need", "null_block", "one_pool", "pad", "printed", "state", "unify", "widen",
    )  # fmt: skip

    def __init__(self, key: ReleaseKey) -> None:
        self.key = key
        self.fraction = 0.92 if self.since("0.20.0") else 0.9
        self.graphs_counted = self.since("0.20.0")
        self.graphs_known = self.since("0.18.0")
        self.widen = 1.5 if self.since("0.18.0") else 1.25 if self.since("0.12.0") else 1.0
        self.unify = self.since("0.12.0")
        self.pad = self.since("0.26.0")
        self.one_pool = self.since("0.11.0")
        self.printed = self.since("0.20.1")
        self.need = "groups" if self.since("0.19.0") else "first" if self.since("0.14.0") else "layers"
        self.null_block = self.since("0.29.0")
        self.in_flight = self.since("0.26.0")
        self.state = "mode" if self.since("0.15.0") else "length" if self.since("0.11.1") else "one"
        self.all_mode = self.since("0.11.1") and not self.since("0.32.0")
        self.align = self.since("0.28.0")
        self.block_as_given = self.since("0.20.0")
        self.mla_128 = self.since("0.27.0")
        self.mamba2_drafts = self.since("0.17.0")
        self.fp8_of_model = self.since("0.14.0")

    def since(self, release: str) -> bool:
        bound = release_key(release)
        return bound is not None and self.key >= bound


@lru_cache(maxsize=64)
def rules_of(release: str) -> Rules:
    """The arithmetic of a release, also of one between two that are published. Raises ValueError for what is no release."""
    key = release_key(release)
    if key is None:
        raise ValueError(f"{release!r} is not a release; write 0.19.1")
    return Rules(key)
