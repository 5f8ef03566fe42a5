"""What one step of decoding reads of a GPU's memory, and what it computes.

Decoding is bound by memory until a step computes more than the memory delivers: the weights are read once a step however many
tokens it has, the experts of a mixture only those that a token of the step is sent to.
"""

from __future__ import annotations

from servelint.models.matrices import MTP, matrices
from servelint.models.quantization import format_of, tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_ELEMENT = 2
_SMALL = ("embedding", "vision", "norms")
"""What a step of decoding reads next to nothing of."""


class Traffic:
    """Of a whole model, undivided; bytes and parameters.

    dense:     bytes that every step reads, the head apart;  head: bytes of the head
    expert:    bytes of one routed expert in all layers that have experts;  experts, per_token: how many there are and take part
    key_value: bytes of keys and values that a token of context costs to read;  windows: (bytes a token, tokens) of sliding ones
    state:     bytes of the recurrent states of one request
    active:    parameters that a token is multiplied with
    draft:     bytes that one pass of the draft reads, experts apart;  draft_expert: of one of its experts
    """

    __slots__ = (
        "active",
        "dense",
        "draft",
        "draft_expert",
        "expert",
        "experts",
        "head",
        "key_value",
        "per_token",
        "state",
        "windows",
    )

    def __init__(self) -> None:
        self.dense = self.head = self.expert = self.draft = self.draft_expert = 0
        self.experts = self.per_token = self.active = 0
        self.key_value = self.state = 0
        self.windows: list[tuple[int, int]] = []

    def read(self, tokens: int) -> float:
        """Bytes of weights that a step of so many tokens reads."""
        return self.dense + self.head + self.expert * self.touched(tokens)

    def touched(self, tokens: int) -> float:
        """Experts of a layer that some tokens are sent to, where each is as likely as any other."""
        if not self.experts:
            return 0.0
        return float(self.experts * (1 - (1 - self.per_token / self.experts) ** tokens))

    def cached(self, context: float, tokens: int) -> float:
        """Bytes of the caches of one request that a step of so many tokens reads and writes.

        A recurrent state is read once and written after each token, since any of the drafts may be the last one that holds:
        vllm-0.33.0 vllm/v1/attention/backends/gdn_attn.py spec_state_indices_tensor has a state for each.
        """
        windows = sum(size * min(context, window) for size, window in self.windows)
        return self.key_value * context + windows + (1 + tokens) * self.state

    def drafting(self, tokens: int) -> float:
        """Bytes that one pass of the draft reads for so many tokens, its own head or the model's among them."""
        return self.draft + self.draft_expert * self.touched(tokens)


def traffic(model: Architecture, *, kv_bits: int = 16, draft: Architecture | None = None) -> Traffic:
    """What a model reads. kv_bits: of an element of the KV cache; draft: the model that drafts, None for its own layer."""
    found = Traffic()
    if model.experts is not None:
        found.experts, found.per_token = model.experts.count, model.experts.per_token
    for module in matrices(model):
        size = sum(tensors(format_of(module, model.quantization), module.rows, module.columns, _ELEMENT))
        if module.layer == MTP:
            if module.count > 1:
                found.draft_expert += size
            else:
                found.draft += size
        elif module.group == "lm_head":
            found.head += size
            found.active += module.parameters
        elif module.count > 1:
            found.expert += size
            found.active += module.rows * module.columns * found.per_token
        elif module.group not in _SMALL:
            found.dense += size
            found.active += module.parameters
    if model.mtp_layers > 1:  # one of them drafts one token
        found.draft //= model.mtp_layers
        found.draft_expert //= model.mtp_layers
    found.draft += found.head
    if draft is not None:
        own = traffic(draft)
        found.draft, found.draft_expert = own.dense + (own.head or found.head), 0
    for layers in model.attention:
        width = layers.mla.cached if layers.mla is not None else layers.kv_heads * (layers.head_dim + layers.value_dim)
        size = layers.layers * width * kv_bits // 8 // layers.compress
        if layers.window is not None and layers.kind != "full":
            found.windows.append((size, layers.window))
        else:
            found.key_value += size
    for state in model.states:
        found.state += state.layers * (4 * state.state_elements + 2 * state.conv_channels * max(state.conv_kernel - 1, 0))
    return found
