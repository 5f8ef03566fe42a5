"""How long a decoding step takes with and without drafts: a roofline of memory and compute, and how far to trust it.

Decoding is bound by memory until a step computes more than the memory delivers. A step reads the weights once however many
tokens it has, and of a mixture only the experts that a token of the step is sent to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import pstdev

from servelint.engines.registry import ENGINES
from servelint.engines.releases import release_key
from servelint.models.architecture import find
from servelint.models.matrices import MTP as MTP_LAYER
from servelint.models.matrices import matrices
from servelint.models.quantization import format_of, tensors
from servelint.speculation.cases import BLOCK, DRAFT_MODEL, EAGLE, LOOKUP, MEDUSA, MTP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.hardware import Gpu
    from servelint.models.architecture import Architecture
    from servelint.speculation.cases import Case

_ELEMENT = 2
_SMALL = ("embedding", "vision", "norms")
"""Groups of which a decoding step reads almost nothing."""

MEMORY = 0.8
"""The part of the memory's bandwidth that steps reach: 0.75 to 0.85 on the published measurements."""
COMPUTE = 0.77
"""The part of the dense 16-bit rate of the tensor cores that verification reaches: the 21 us by which each token lengthens a
step of Llama-3.1-8B on an H100 (predictor.py in https://github.com/SpecDecode-Bench/simulator), which is linear in the tokens
and comes on top of the memory's time."""
LAYER, RANKS = 10e-6, 60e-6
"""Seconds that a layer takes beside memory and compute: its kernels, and on several GPUs their waiting for each other. The
first is what the forward pass of Llama-3.1-8B on an H100 takes beside memory; the second follows from Llama-3-70B on 4 H100,
where the host takes 6.3 % of a step. Llama-3.3-70B on 8 H100 and 8 H200 and Qwen3-30B-A3B on 2 H100 give 55 to 68 us."""
RANKS_ROCM = 140e-6
"""The same on several AMD GPUs. Without drafts, steps of Kimi-K2.5 (61 layers) and MiniMax-M2.5 (62) on four MI355X take 12.1
and 11.1 ms with four requests, where memory and compute take 3.2 and 2.5 (the tables of
https://github.com/ROCm/rocm-blogs/blob/HEAD/blogs/artificial-intelligence/eagle3-speculative-decoding/README.md, vLLM 0.19)."""
UNLINKED, UNLINKED_EXPERTS = 80e-6, 40e-6
"""What GPUs without NVLink add to it in vLLM and SGLang: the first on two GPUs in steps that verify drafts, the second in each
layer with experts, in all steps. The first grows with the number of GPUs as what a ring moves of a message, 2 (n - 1) / n
(https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md). On two GPUs a layer of such a step takes 0.07 to 0.09 ms
longer: gemma-4-31B-it and Qwen3.6-27B on RTX 3090 (https://github.com/noonghunna/club-3090/blob/HEAD/BENCHMARKS.md),
Qwen3-Coder-30B-A3B (mattbucci, SGLang 0.5.12), DeepSeek-V4-Flash on RTX PRO 6000 (jasl/vllm-ds4-sm120-harness). On four it is
0.11 with GLM-4.7 (AlexGS74/glm47-nvfp4-sm120), 0.12 with Qwen3.5-397B-A17B (local-inference-lab/rtx6kpro), 0.14 to 0.16 with
gemma-4-31B-it, and on eight RTX PRO 6000 0.08 to 0.12 with GLM-5.1 and Kimi-K2.6 (models/glm5.1_v2.md and models/kimi-k26-v2.md
in local-inference-lab/rtx6kpro). Without drafts, steps of Qwen3.5-397B-A17B on four take 0.05 to 0.09 ms longer for each of its
layers."""
_PCIE = {8: 20e9, 12: 40e9}
"""Bytes a second that a ring of GPUs without NVLink sums up, by the major version of their capability: 37.6 to 41.7 GB/s of
messages of 8 MB and more on seven and eight RTX PRO 6000 with PCIe 5.0 (hardware/pcie-bandwidth.md in
local-inference-lab/rtx6kpro), half of it with PCIe 4.0. Each layer sums up two messages of a hidden state for each token
(row-parallel outputs of attention and of the MLP), of which each GPU moves 2 (n - 1) / n. With 128 requests and three drafts,
512 tokens, a step of Kimi-K2.6 on eight takes 77 ms longer than one of 128 tokens, of which this is 29."""
EXPERTS_OWN = 100e-6
"""What a layer with experts takes beside memory and compute in llama.cpp, instead of LAYER: its graph runs routing, sorting and
sum as kernels of their own. The plain steps of Qwen3.6-35B-A3B take 0.18 ms longer for each layer on a V100
(https://github.com/thc1006/qwen3.6-speculative-decoding-v100), 0.11 to 0.16 on a Ryzen AI Max+ 395 and 0.14 on a GB10."""
TRITON_FP4 = 55e-6
"""Seconds that Triton's kernels take for a layer of experts in MXFP4 beside memory and compute. On Hopper vLLM and SGLang run
them so: ranking the experts, sorting the tokens by them, and the sum at the end are kernels of their own. With SGLang on an
H100, steps of gpt-oss-20b and gpt-oss-120b take 53 to 59 us a layer longer than without it, with drafts and without them
(Dogacel/specdrift-gpt-oss-20b-eagle3 and -120b-eagle3 at huggingface.co, one request)."""
INDEXER = 50e-6
"""Seconds that a layer with an indexer of sparse attention takes in vLLM and SGLang beside memory and compute: scores of all
tokens and the choice of the best are kernels of their own. Plain steps of GLM-5.1 on eight RTX PRO 6000 take 0.05 ms longer for
each of 78 such layers (models/glm5.1_v2.md in local-inference-lab/rtx6kpro; 0.09 with the build of models/glm5.md), those of
DeepSeek-V4-Flash on two 0.09 for each of 21 (jasl/vllm-ds4-sm120-harness)."""
SAMPLING, PASS = 0.12e-3, 0.3e-3
"""Seconds that drafts add to a step beside what they read and compute: the comparison of the drafts, and the launch of each
pass of the draft. Of a step of 9.2 ms with 3 drafts, Llama-3.1-8B on an H100 spends 1.3 % on the comparison, and 21 to 25 % on
drafts, of which the host's part is 0.2 to 0.4 ms for each (figure 4 of https://arxiv.org/abs/2601.11580). What the host takes
in every step is `host_seconds` of an engine."""
EAGER = 0.64e-3
"""What a pass takes instead of PASS where the draft runs outside of CUDA graphs: the difference between 4 and 2 tokens of
EAGLE, Llama-3-8B on an H100, beside memory (vllm-project/vllm#16035)."""
EAGER_AHEAD, CUT_LAYER = 4.9e-3, 0.2e-3
"""What the host takes to launch a pass outside of CUDA graphs in releases that prepare a step ahead, and to launch each layer
of the model where drafts are verified outside of full graphs. The GPU waits for the host only where its own work is shorter:
steps of Qwen3.8-27B in NVFP4 on a GB10, with piecewise graphs, take 11 to 15 ms longer for each draft, as memory alone explains
(appendix/qwen38-27b-nvfp4-vllm027.md in jschmied/dgx-spark-setup-guide, vLLM 0.27.1). With one draft a step of GLM-OCR on an
A100 takes 4.0 and 4.3 ms longer than without (zai-org/GLM-OCR issue 218, vLLM 0.17.1). One of Hy3 on four RTX PRO 6000 takes
16.6 ms, and 13.0 ms with a draft in graphs (vllm-project/vllm issue 48766 and pull request 48767): 0.14 ms for each of 80
layers. One of Qwen3.6-35B-A3B with an FP8 cache on an RTX PRO 5000 takes 10.8 ms with a lookup and 13.4, 22.4 and 26.7 ms with
1, 2 and 3 drafts: 0.19 to 0.24 ms for each of 40 layers
(https://github.com/Gavin-Qiao/vserve/blob/HEAD/docs/research/2026-07-11-a3b-spec-decode-sweep.md, vLLM 0.24.0)."""
IN_A_ROW = 0.7
"""Tokens in a row read as many experts as this power of their number of tokens of different requests, because each is sent to
some of those of the tokens before it. Four read 2.5 times the experts of one instead of 3.6 times
(https://cohere.com/blog/mixture-of-experts-models-get-more-from-speculative-decoding), and the steps of Qwen3-30B-A3B on an
H100 with 1, 2, 4 and 8 drafts take 1.1, 2.4, 3.3 and 5.5 ms longer than without, passes of the draft included
(https://github.com/ManasVardhan/runara-takehome/blob/HEAD/results/step_cost.md, vLLM 0.31)."""
PADDED_PASS = 0.2e-3
"""What a pass takes instead of PASS where the drafter takes all drafts, so that the host does not wait for the number that was
accepted: what five of Qwen3 with 1.7 to 32 billion parameters take beside memory on an H20 with vLLM 0.11.2, on average."""
VECTOR, TILE, TILED = 0.36, 8, 4
"""The part of the rate outside of the matrix units that llama.cpp's kernels for few tokens reach, the most tokens for which
they are used (MMVQ_MAX_BATCH_SIZE in ggml/src/ggml-cuda/mmvq.cuh), and what those for more tokens take beside a token's matrix
arithmetic, in tokens of the kernels for few. Of Qwen3.8-27B in Q4_K on an RTX 3090 (35.6 TFLOP/s) each of 2 to 8 tokens adds
2.9 to 6.5 ms to a step, and 12 tokens take 16.6 ms more than one (a curve published with the patch GGML_CUDA_MMVQ_NE11_MAX).
Steps with 1 to 6 drafts on V100, RTX 2080 Ti, 3090, 4090, 5070 Ti and 5090 give 0.3 to 0.5."""
_MATRICES, _COLUMNS, _COLUMNS_OF = 0.6, 8, {"gfx1151": 5}
"""What llama.cpp for Vulkan adds to the deviation where a step has more tokens than its kernels for few take, and how many that
is, also on Strix Halo, whose kernels for six are slow (mul_mat_vec_max_cols in ggml/src/ggml-vulkan/ggml-vulkan.cpp;
https://github.com/LaurentZuijdwijk/llama.cpp/pull/4). Its kernels for many take 1.5 to 7 times as long by public notes, for 16
tokens on an Arc Pro B70 3.5 times (ggml-org/llama.cpp pull request 27652). A case does not say whether an AMD or Intel card
runs Vulkan, whose kernels these are, ROCm or SYCL."""
_UNPACKED = ("Q8_0", "BF16", "F16", "F32")
"""File types whose weights these kernels need not unpack: tokens add almost nothing to memory (Q8_0 on an RTX PRO 6000)."""
STATE_WRITES = 2.5
"""How much longer a recurrent state takes to write after a draft than its bytes: kernels go through the tokens one by one. With
SGLang 0.5.21 on a GH200 each request of Qwen3.5-4B adds 0.28, 0.46 and 0.89 ms to a step of 4, 8 and 16 tokens, where its bytes
take 0.08, 0.14 and 0.27 ms (https://github.com/SamMausberg/verified-progress/blob/HEAD/evidence/bench/README.md)."""
UNSPLIT, _WIDEST, _SHORT = 12e9, 256, 1024
"""Bytes of one head's keys and values that a thread block of an RTX 3090 reads in a second where attention to several tokens of
a request is not split along the context, the longest head of those kernels, and the tokens whose time is in LAYER and RANKS,
which short prompts gave. FlashAttention 2 splits for one token alone (set_params_splitkv under seqlenq_ngroups_swapped in
csrc/flash_attn/flash_api.cpp; vllm-project/flash-attention pull requests 176 and 190). Its tile has 64 rows however few tokens
there are (run_mha_fwd_hdim256 in csrc/flash_attn/src/flash_fwd_launch_template.h), so that the matrix units of one
multiprocessor set the time: 64 operations for each byte, of which an RTX 3090 has 0.87 TFLOP/s, or 13.6 GB/s. On an RTX 3090 Ti
31,000 tokens take 1.4 ms a layer, with any number of heads (pull request 190, vLLM 0.13.0: 11 GB/s if 128 wide), on an Ampere
card 32,768 tokens of heads 256 wide take 2.84 ms (patches/fa2_kvcache_verify in avesed/vllm-ampere-optimized, vLLM 0.23.0: 12
GB/s), and Qwen3.6-27B on four RTX 3090 takes 1.36 to 1.48 ms longer for each thousand of 8,192 to 131,072 tokens (dflash-depth
in LottoLottoLotto/4x3090-llm-benchmarks, vLLM 0.23.0: 13 GB/s over its layers and the drafter's). On RTX PRO 6000, whose matrix
units do twice as much in a cycle, Qwen3.5-397B-A17B in AWQ takes 0.35 to 0.39 ms longer for each thousand of 131,072 tokens
(benchmarks/inference-throughput in local-inference-lab/rtx6kpro, vLLM 0.17.0: 40 to 44 GB/s)."""
_FASTER, _OTHER_CLOCKS = {8.9: 1.4, 12.0: 1.4, 12.1: 1.4}, 0.5
"""How much faster the clocks of GPUs with such a capability are, 2.4 to 2.5 GHz instead of 1.7, and what the attention adds to
the deviation at most, by its share of a step."""
_GRAPHICS = (7.5, 8.6, 8.9, 12.0, 12.1)
"""Compute capabilities of GPUs that no NVSwitch connects; a pair of RTX 3090 or A40 may have a bridge."""
_SMALL_CACHES = ("fp8", "fp8_e4m3", "nvfp4")
_ONE_PASS = (BLOCK, MEDUSA, LOOKUP)
_ANY_BANDWIDTH = 1000.0
"""The GB/s of a GPU that is not known."""
_ANY_INTENSITY = 100.0
"""Operations for each byte of bandwidth where only that is known: 71 to 210 of the cards whose both are."""
_PROMPT_TOKENS = _ANY_INTENSITY * COMPUTE / MEMORY
"""Tokens of prompts that take as long as a step without drafts of a dense model in 16 bits, which reads two bytes of each
parameter and multiplies each token with all of them: 96. The answers for half and twice as many are the deviation. Prompts of
Qwen3.6-27B in 8 bits take one step for 95 to 110 tokens on a CMP 170HX (Ciender/CMP-170HX-SGLang-Qwen3.6-Benchmarks)."""
_EAGLES = {
    "meta-llama/Llama-3.1-8B-Instruct": ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",),
    "meta-llama/Llama-3.3-70B-Instruct": ("yuhuili/EAGLE3-LLaMA3.3-Instruct-70B",),
    "Qwen/Qwen3-8B": ("Tengyunw/qwen3_8b_eagle3",),
    "Qwen/Qwen3-32B": ("RedHatAI/Qwen3-32B-speculator.eagle3",),
    "openai/gpt-oss-120b": ("lmsys/EAGLE3-gpt-oss-120b-bf16",),
}
"""Models -> drafts that their publishers name for them."""
_BLOCKS = {
    "Qwen3-4B": "z-lab/Qwen3-4B-DFlash-b16",
    "Qwen3-8B": "z-lab/Qwen3-8B-DFlash-b16",
    "Qwen3.5-4B": "z-lab/Qwen3.5-4B-DFlash",
    "35B-A3B": "z-lab/Qwen3.5-35B-A3B-DFlash",
    "Qwen3.5-27B": "z-lab/Qwen3.6-27B-DFlash",
    "Qwen3.6-27B": "z-lab/Qwen3.6-27B-DFlash",
    "Qwen3.8-27B": "z-lab/Qwen3.8-27B-DFlash2",
    "Laguna-S-2.1": "poolside/Laguna-S-2.1-DFlash",
    "Laguna-XS-2.1": "poolside/Laguna-XS-2.1-DFlash",
}
"""Parts of the names of models -> their block drafters, of https://github.com/z-lab/dflash and Poolside, as wide as they."""
_ASSISTANTS = {"E2B": 159_000_000, "E4B": 159_000_000, "": 945_000_000}
_ASSISTANT_LAYERS = 4
"""Parts of the names of Gemma 4's models -> bytes that a pass of the assistant reads, and the assistant's layers. It has a head
of its own, 1024 wide (its F16 file for 31B: 945 MB, https://huggingface.co/Radamanthys11/Gemma-4-31B-it-assistant-GGUF), for
E2B and E4B 256 wide with centroids, of which it reads few (159 MB, google/gemma-4-E4B-it-assistant). Gemma4MTP in vllm-0.29.0
vllm/model_executor/models/gemma4_mtp.py."""
_FULL, _Q8_OF_16 = ("BF16", "F16", "F32"), 8.5 / 16
"""GGUF types that are not quantized, and what of an assistant's 16 bits its Q8_0 file has, which people load beside a quantized
model: 440 MB for 26B-A4B (https://github.com/jschmied/dgx-spark-setup-guide/blob/HEAD/08-performance-tuning.md)."""
_BLOCK_LAYERS, _BLOCK_PARAMETERS = 5, 65
"""The layers of most of them, and their parameters as a multiple of the square of their width."""
_DEVIATIONS = {MTP: 0.12, EAGLE: 0.12, MEDUSA: 0.3, DRAFT_MODEL: 0.45, LOOKUP: 0.5, BLOCK: 0.25}
"""The standard deviation of the logarithm of a gain from the arithmetic. For a separate draft model and a lookup the software
takes longer than the memory, and its speed is not known."""
_OUTSIDE_GRAPHS, _WAITS = 0.2, 0.05
"""What it adds to that deviation if drafts run outside of CUDA graphs: hosts differ. The second is the share of a step that the
GPU has to wait for the host, so that it counts."""
_GROUPS, _OTHER_KERNELS, _EXPERTS_OF_BLOCK = 0.4, 0.55, 0.2
"""What a block drafter adds to it: where each layer gets a group of its own, as with the later of a drafter's revisions, where
an engine has kernels of its own, of which it is not known what a block of tokens takes, and where the model is a mixture: of
gpt-oss-120b on an H200 a step of 4 tokens takes 2.5 times as long as one of a token with 1 to 32 requests, where 1.6 to 1.9 is
counted (z-lab/gpt-oss-120b-DFlash at huggingface.co), of gemma-4-26B-A4B on an H100 with 16 requests and Laguna-S-2.1 on four
RTX 3090 with 4 to 32 it takes 1.2 to 1.6 times as long as counted."""
_COST = {MTP: 0.14, EAGLE: 0.1, BLOCK: 0.06, MEDUSA: 0.08, DRAFT_MODEL: 0.25, LOOKUP: 0.06}
"""The share of a step that a draft token costs, where the model or the GPU is not known."""
_UNKNOWN_MODEL, _UNKNOWN_GPU, _HOSTS = 0.22, 0.1, 1.5e-3
"""The last is by how many seconds the hosts of GPUs that are not known differ: of a small model's step they are the most."""
_TABLES = 0.3
"""The same where the host looks n-grams up for each pass, that of a draft too: Qwen3.8-Flash-Next gains 0.92 at 8 requests and
0.68 at 64, and 0.46 with llama.cpp, where the arithmetic has 1.2 to 1.7 (vllm-project/recipes pull request 923, llama.cpp pull
request 27836)."""
_NETWORK = 0.25
"""The same for several GB10, which only a network connects: DeepSeek-V4-Flash takes 0.4 ms longer for each layer than on one
and MiMo-V2.6-Flash 0.2, with drafts 0.8 and 1.3 (jasl/vllm-ds4-sm120-harness; vllm-project/vllm issue 47277), and
Qwen3-Coder-30B-A3B 0.04 (flash7777/vllm-marlin-sm12x)."""
_WEIGHTS_ONLY, _OTHER_GEMM = ("int4", "int8"), 0.4
"""The same for weights in integers on AMD's cards, which vLLM multiplies by Triton's or ExLlama's kernels instead of Marlin's:
a plain step takes 1.1 times as long as counted on a Strix Halo (Qwen3.6-27B), 1.9 times on two MI210 (Qwen3-Next-80B-A3B) and 4
times on an R9700 (Qwen3.6-27B), where four drafts multiply the throughput by 2.7; on two MI210 one draft loses 16 %."""
_COMPRESSED = 0.3
"""The same for attention over a compressed cache (DeepSeek V4) on AMD's GPUs and in SGLang, whose kernels for several tokens
are young: 0.63 at 32 requests on eight MI355X (SemiAnalysisAI/InferenceX pull request 1630), 0.79 and 0.70 with two and three
drafts on four B200 with SGLang 0.5.13.post1 (maleshep/hpc-llm-serving), where 1.6 to 1.8 is counted."""
_XPU = 0.2
"""The same for vLLM on Intel's cards: MTP of Qwen3.8-27B gains 2.3 times on two Arc Pro B60 and loses on one B70, by two notes
in intel/llm-scaler issue 657."""
_FILLED, _SPILLED = 0.75, 0.35
"""The same where an engine's draft loads embedding and head once more (SGLang) and weights and draft fill this share of a GPU:
Qwen3.8-27B in NVFP4 on an RTX 5090 takes twice as long for a step of two tokens (ausboss/qwen38-5090-lab)."""
_INTEGER_PRODUCTS = 6.1
"""The first compute capability with integer dot products, which llama.cpp's kernels for few tokens rest on (GGML_CUDA_CC_DP4A
in ggml/src/ggml-cuda/common.cuh)."""
_UNKNOWN_LENGTH, _MANY_TOKENS, _PROMPTS = 0.08, 0.03, 0.4
"""Deviations of what is not known: of the acceptance length by the root of the draft tokens; and of what the arithmetic knows
badly: a doubling of the tokens of a step above 8, and the share of prompts, which are computed between steps."""
_NUMBERS = {MTP: (1, 2, 3, 5), EAGLE: (2, 3, 5), BLOCK: (7, 15)}
"""Tokens that recipes draft per step. Where a case does not say how many, each is taken for equally likely."""
_LINKS = 0.5
"""How little is known of what GPUs without NVLink add to steps with drafts, as a share of it: a case names neither the slots
nor whether they reach each other's memory, without which a message takes 14 us instead of 0.5 (hardware/pcie-bandwidth.md in
local-inference-lab/rtx6kpro)."""
_SHARES, _HOST_OF_LOOKUP = (0.1, 0.3, 0.5, 0.7, 0.9), 0.15
"""A lookup finds nothing to draft in some steps, and the acceptance length that engines log is of the others alone
(make_spec_decoding_stats in vllm-0.28.0 vllm/v1/core/sched/scheduler.py): any share of the steps is taken for equally likely.
The second is the deviation of the host's part, which vLLM hides in steps without a lookup alone (vllm/config/vllm.py)."""
_UNCOUNTED = 0.05
"""What the logarithm loses with each doubling of requests where no arithmetic counts the computing: fitted on one recipe's
1.03, 0.91 and 0.77 at 1, 128 and 256 requests, and another's 0.92 and 0.68 at 8 and 64."""


@dataclass(eq=False, slots=True)
class Traffic:
    """What one step of decoding reads and computes, of a whole undivided model, in bytes and parameters.

    Attributes:
        dense: bytes that every step reads, except the head.
        head: bytes of the head.
        expert: bytes of one routed expert in all layers with experts.
        experts: routed experts of a layer.
        per_token: experts that a token is sent to.
        key_value: bytes of keys and values that a token of context costs to read.
        windows: bytes per token and tokens of each kind of sliding layer.
        state: bytes of the recurrent states of one request.
        active: parameters that a token is multiplied with.
        draft: bytes that one pass of the draft reads, except experts.
        draft_expert: bytes of one of the draft's experts.
        draft_active: parameters that each token of a block is multiplied with by its drafter, 0 for other drafts.
        draft_layers: layers of a pass of the draft.
        groups: groups of layers that the drafter adds where groups are of one size, as in vLLM.
    """

    dense: int = 0
    head: int = 0
    expert: int = 0
    experts: int = 0
    per_token: int = 0
    key_value: int = 0
    windows: list[tuple[int, int]] = field(default_factory=list)
    state: int = 0
    active: int = 0
    draft: int = 0
    draft_expert: int = 0
    draft_active: int = 0
    draft_layers: int = 1
    groups: int = 0

    def read(self, requests: int, tokens: float = 1) -> float:
        """Bytes of weights that a step reads for some requests of some tokens each."""
        return self.dense + self.head + self.expert * self.touched(requests, tokens)

    def touched(self, requests: int, tokens: float = 1) -> float:
        """Mean number of experts of a layer that tokens are sent to, if all are equally likely for a request's first."""
        if not self.experts:
            return 0.0
        drawn = requests * tokens**IN_A_ROW
        return float(self.experts * (1 - (1 - self.per_token / self.experts) ** drawn))

    def cached(self, context: float, tokens: float) -> float:
        """Bytes of the caches of one request with some tokens of context that a step of some tokens reads and writes.

        A recurrent state is read once and written after each token, because any of the drafts may be the last accepted one
        (spec_state_indices_tensor in vllm-0.33.0 vllm/v1/attention/backends/gdn_attn.py has a state for each). The writes after
        drafts count as the bytes that take as long.
        """
        windows = sum(size * min(context, window) for size, window in self.windows)
        return self.key_value * context + windows + (2 + STATE_WRITES * (tokens - 1)) * self.state

    def drafting(self, requests: int) -> float:
        """Bytes that one pass of the draft reads for some requests, its own head or the model's included."""
        return self.draft + self.draft_expert * self.touched(requests)


def traffic(model: Architecture, draft: Architecture | None = None) -> Traffic:
    """What a model reads and computes with a KV cache of 16 bits per element. `draft` is None for the model's own layer."""
    found = Traffic()
    if model.experts is not None:
        found.experts, found.per_token = model.experts.count, model.experts.per_token
    for matrix in matrices(model):
        size = sum(tensors(format_of(matrix, model.quantization), matrix.rows, matrix.columns, _ELEMENT))
        if matrix.layer == MTP_LAYER:
            if matrix.count > 1:
                found.draft_expert += size
            else:
                found.draft += size
        elif matrix.group == "lm_head":
            found.head += size
            found.active += matrix.parameters
        elif matrix.count > 1:
            found.expert += size
            found.active += matrix.rows * matrix.columns * found.per_token
        elif matrix.group not in _SMALL:
            found.dense += size
            found.active += matrix.parameters
    if model.mtp_layers > 1:  # one of them drafts one token
        found.draft //= model.mtp_layers
        found.draft_expert //= model.mtp_layers
    found.draft += found.head
    if draft is not None:
        own = traffic(draft)
        found.draft, found.draft_expert = own.dense + (own.head or found.head), 0
    for layers in model.attention:
        width = layers.mla.cached if layers.mla is not None else layers.kv_heads * (layers.head_dim + layers.value_dim)
        size = layers.layers * width * _ELEMENT // layers.compress
        if layers.window is not None and layers.kind != "full":
            found.windows.append((size, layers.window))
        else:
            found.key_value += size
    for state in model.states:
        found.state += state.layers * (4 * state.state_elements + 2 * state.conv_channels * max(state.conv_kernel - 1, 0))
    return found


@dataclass(frozen=True, slots=True)
class Steps:
    """Seconds of a step. Of a GPU that is not known they are those of a middling one, without the prompts.

    Attributes:
        before: a step without drafts.
        after: a step with drafts.
        prompts: the prompts of all requests.
        output: tokens of an answer.
        length: the acceptance length in tokens.
        waits: what of a step with drafts the GPU waits for launches of the host.
        unsplit: what of a step with drafts goes to attention that is not split along the context.
        linking: what of it goes to GPUs without NVLink that wait for each other, because of drafts.
    """

    before: float
    after: float
    prompts: float
    output: int
    length: float
    waits: float = 0.0
    unsplit: float = 0.0
    linking: float = 0.0

    @property
    def gain(self) -> float:
        """Throughput with drafts over throughput without. Prompts take as long with drafts."""
        decoding = self.output * self.before
        return (self.prompts + decoding) / (self.prompts + self.output * self.after / self.length)

    @property
    def on_prompts(self) -> float:
        """The share of the time without drafts that is spent on prompts."""
        return self.prompts / (self.prompts + self.output * self.before)


def steps(
    case: Case, model: Architecture, gpu: Gpu | None, count: int, drafting: float = 1.0, launched_alone: bool = False
) -> Steps:
    """How long the steps of a case take on `count` GPUs, of which a share is `drafting`.

    `launched_alone` is true to count drafts as launched and verified outside of CUDA graphs, whatever the case says.

    A step with drafts verifies those of all requests at once, and each pass of the draft reads the draft and a head. Of a GPU
    that is not known only the memory, the host and what drafts add to a step count.
    """
    facts = traffic_of(case, model)
    speeds = [gpu.facts.get(name, 0) if gpu is not None else 0 for name in ("bandwidth-gbs", "bf16-tflops")]
    bandwidth, flops = (float(speed) for speed in speeds)
    if not bandwidth:
        bandwidth, flops = _ANY_BANDWIDTH, 0.0
    elif not flops:
        flops = _ANY_INTENSITY * bandwidth / 1000
    own = case.engine in ENGINES and ENGINES[case.engine].numbered_builds
    if own:  # by default each GPU has some of the layers and waits for the others (--split-mode layer)
        count = 1
    delivered, computed = 1e9 * bandwidth * MEMORY * count, 1e12 * flops * COMPUTE * count
    requests, drafted = case.concurrency, case.drafted
    fixed = 0.0 if gpu is None else LAYER if count == 1 else RANKS_ROCM if gpu.vendor == "amd" else RANKS

    experts = model.experts.layers if model.experts is not None else 0
    unlinked = gpu is not None and count > 1 and _unlinked(gpu)
    summed = _summed(model, gpu, count) if gpu is not None and unlinked else 0.0
    layers = fixed * model.layers
    if _triton_fp4(model, gpu):
        layers += TRITON_FP4 * experts
    if own and gpu is not None:
        layers += (EXPERTS_OWN - LAYER) * experts
    if unlinked:
        layers += UNLINKED_EXPERTS * experts
    if model.indexer is not None and gpu is not None and not own:
        layers += INDEXER * model.indexer.layers

    def multiplied(parameters: float) -> float:
        return 2 * parameters * requests / computed if computed else 0.0

    vector = _unpacking(case, model, gpu) * facts.active / count
    tiled = TILED if gpu is not None and (gpu.capability or 0) >= 7.5 else TILE - 1  # tensor cores with integers

    def step(tokens: float) -> float:
        memory = (facts.read(requests, tokens) + requests * facts.cached(case.context, tokens)) / delivered
        more = requests * tokens - 1
        unpacked = vector * (more if more < TILE else tiled)
        return float(memory + multiplied(facts.active * tokens) + unpacked + layers + summed * more)

    plain, host = ENGINES[case.engine].host_seconds if case.engine in ENGINES else (0.0, 0.0)
    plain = 0.0 if case.method == LOOKUP and _overlaps(case) else plain
    passes = 0 if case.method == LOOKUP else 1 if case.method == BLOCK else drafted
    verified = step(1 + drafting * drafted)
    one_pass = (
        facts.drafting(requests) / delivered + fixed * facts.draft_layers + multiplied(facts.draft_active * (1 + drafted))
    )
    launched = 1 if case.method in _ONE_PASS else drafted
    waits = max(CUT_LAYER * model.layers - verified, 0.0) if launched_alone or _cut(case) else 0.0
    alone = case.method != LOOKUP and (launched_alone or outside_graphs(case))
    if alone and _overlaps(case):
        waits += max(launched * EAGER_AHEAD - passes * one_pass, 0.0)
    else:
        waits += launched * _pass(case, alone)
    after = verified + passes * one_pass + waits + host + SAMPLING
    linking = UNLINKED * 2 * (count - 1) / count * model.layers if unlinked else 0.0
    after += linking
    unsplit = _unsplit(case, model, gpu)
    after += unsplit
    after += facts.groups * (ENGINES[case.engine].group_seconds if case.engine in ENGINES else 0.0)
    prompts = multiplied(facts.active * case.input) if case.input and not case.decoding else 0.0
    length = 1 + drafting * (case.length - 1)
    return Steps(step(1) + plain, after, prompts, case.output or 256, length, waits, unsplit, linking)


def _unlinked(gpu: Gpu) -> bool:
    """Whether several such GPUs have no NVLink between all of them: NVIDIA's dies for graphics, and Intel's cards."""
    return gpu.vendor == "intel" or (gpu.vendor == "nvidia" and (gpu.capability or 0) in _GRAPHICS)


def _summed(model: Architecture, gpu: Gpu, count: int) -> float:
    """Seconds for which GPUs without NVLink sum up one token's hidden states of all layers."""
    ring = _PCIE.get(int(gpu.capability or 0), _PCIE[8])
    return 2 * model.layers * _ELEMENT * model.hidden * 2 * (count - 1) / count / ring


def _unsplit(case: Case, model: Architecture, gpu: Gpu | None) -> float:
    """Seconds for which thread blocks read the context of a request one token after the other, to verify drafts."""
    engine, cache = ENGINES.get(case.engine), case.cache or model.quantization.kv_cache
    majors = engine.unsplit_drafts if engine is not None else ()
    if gpu is None or gpu.vendor != "nvidia" or int(gpu.capability or 0) not in majors or cache in _SMALL_CACHES:
        return 0.0
    if any(one.head_dim > _WIDEST for one in model.attention):  # all of Gemma 4's layers have Triton's kernels
        return 0.0
    layers = [one for one in model.attention if one.mla is None and one.compress == 1]
    read = 0.0
    for one in layers:
        tokens = min(case.context, one.window or case.context) - _SHORT
        read += one.layers * max(tokens, 0) * (one.head_dim + one.value_dim)
    return _ELEMENT * read / UNSPLIT / _FASTER.get(gpu.capability or 0, 1) / _tensor_share(gpu)


def _tensor_share(gpu: Gpu) -> float:
    """How many times more a multiprocessor's tensor cores compute per cycle than those of an RTX 3090."""
    tensor, vector = (float(gpu.facts.get(name, 0)) for name in ("bf16-tflops", "fp32-tflops"))
    return min(tensor / vector, 4.0) / 2 if tensor and vector else 1.0


def _perhaps_small_cache(model: Architecture) -> bool:
    """Whether it is not known if a checkpoint has scales for an FP8 KV cache: NVFP4 by its name alone.

    NVIDIA's recipe has them, lukealonso/Qwen3.5-397B-A17B-NVFP4 too (models/qwen35-397b.md in local-inference-lab/rtx6kpro),
    others have none.
    """
    return model.quantization.scheme == "nvfp4" and model.checkpoint is None and model.quantization.kv_cache is None


def _triton_fp4(model: Architecture, gpu: Gpu | None) -> bool:
    """Whether the experts are in MXFP4 and the GPU is one for which that means Triton's kernels."""
    return model.quantization.scheme == "mxfp4" and gpu is not None and gpu.capability == 9.0


def _unpacking(case: Case, model: Architecture, gpu: Gpu | None) -> float:
    """Seconds that kernels for few tokens compute for one more token and one parameter, 0 if an engine has none."""
    own = case.engine in ENGINES and ENGINES[case.engine].numbered_builds
    file_type = (model.quantization.gguf or "").removeprefix("UD-")
    rate = float(gpu.facts.get("fp32-tflops", 0)) if gpu is not None else 0.0
    if not own or not rate or model.quantization.scheme != "gguf" or file_type.startswith(_UNPACKED):
        return 0.0
    return 2 / (1e12 * VECTOR * rate)


def _pass(case: Case, alone: bool) -> float:
    """What the host takes for one pass of the draft. alone: it is launched outside of CUDA graphs."""
    engine = ENGINES.get(case.engine)
    if engine is None:
        return PASS
    if alone:
        return EAGER
    if engine.padded_drafts_since and _since(case, engine.padded_drafts_since):
        return PADDED_PASS
    return PASS if not engine.graphed_drafts_since or _since(case, engine.graphed_drafts_since) else EAGER


def outside_graphs(case: Case) -> bool:
    """Whether drafts certainly run outside of CUDA graphs."""
    engine, model = ENGINES.get(case.engine), case.architecture
    uncompiled = (
        engine is not None and case.method == MTP and model is not None and model.model_type in engine.uncompiled_drafts
    )
    return _cut(case) or (engine is not None and uncompiled and not _since(case, engine.uncompiled_drafts_until))


def _cut(case: Case) -> bool:
    """Whether drafts are certainly verified outside of full CUDA graphs.

    With an FP8 or FP4 cache on such a GPU FlashInfer's attention is the default, which captures steps of one token alone there.
    """
    engine, capability = ENGINES.get(case.engine), case.gpus[0].capability if case.gpus[0] is not None else None
    if engine is None or capability is None or case.cache not in _SMALL_CACHES:
        return False
    return any(
        int(capability) == major and _since(case, first) and not _since(case, until)
        for major, first, until in engine.cut_drafts
    )


def _perhaps_alone(case: Case) -> bool:
    """Whether it is not known if drafts are verified in CUDA graphs: in layers of Mamba-2.

    vLLM verifies there from 0.17.0 on (BaseMambaAttentionMetadataBuilder in vllm/v1/attention/backends/mamba_attn.py). On a
    GB10, Nemotron 3 Super gains what memory explains. On an H100, a step of Nemotron 3 Nano with four drafts of EAGLE-3 takes
    20.6 ms, and 3.4 ms without, which is what launches one by one take.
    """
    engine, model = ENGINES.get(case.engine), case.architecture
    mamba = model is not None and any(one.kind == "mamba2" for one in model.states)
    return mamba and engine is not None and bool(engine.cut_drafts) and not outside_graphs(case)


def _overlaps(case: Case) -> bool:
    """Whether the host prepares a step while the GPU computes the one before, unless there are drafts of a lookup."""
    since = ENGINES[case.engine].overlaps_since if case.engine in ENGINES else ""
    return bool(since) and _since(case, since)


def _since(case: Case, since: str) -> bool:
    """Whether the release is one or later, or not known."""
    key, first = release_key(case.release or ""), release_key(since)
    return first is not None and (key is None or key >= first)


def traffic_of(case: Case, model: Architecture) -> Traffic:
    """What the steps of a case read and compute, the draft of its method included."""
    quantized = model.quantization.scheme == "gguf" and not (model.quantization.gguf or "").endswith(_FULL)
    return _traffic(model, case.method, _Q8_OF_16 if quantized else 1.0)


@lru_cache(maxsize=256)
def _traffic(model: Architecture, method: str, assistant: float) -> Traffic:
    if method == BLOCK:
        return _block(model)
    if method == MTP and model.architecture.startswith("Gemma4") and not model.mtp_layers:
        found = traffic(model)
        found.draft = round(next(size for part, size in _ASSISTANTS.items() if part in model.name) * assistant)
        found.draft_layers = _ASSISTANT_LAYERS
        return found
    if method != EAGLE:
        return traffic(model)
    named = next((known for name in _EAGLES.get(model.name, ()) if (known := find(name)) is not None), None)
    found = traffic(model, draft=named)
    if named is None:
        # a layer as wide as the model that is fed with twice and three times its width, and a head of 32,000 tokens, as the
        # published EAGLE-3 heads have them
        found.draft, found.draft_expert = 2 * (12 * model.hidden**2 + 32_000 * model.hidden), 0
    return found


def _block(model: Architecture) -> Traffic:
    """With a block drafter: one pass of its layers and the model's head makes all tokens of a block.

    vLLM has groups of as many layers as the smallest kind has (_get_kv_cache_groups_uniform_page_size in vllm-0.33.0
    vllm/v1/core/kv_cache_planning.py). The drafters of 2026 have one layer with full attention, so that each layer of a model
    with states gets a group of its own (vLLM issue 49730 and pull request 51742); those of DFlash2 have only windows.
    """
    drafter = next((find(draft) for part, draft in _BLOCKS.items() if part in model.name), None)
    found = traffic(model)
    layers, parameters = _BLOCK_LAYERS, _BLOCK_PARAMETERS * model.hidden**2
    if drafter is not None:
        layers, parameters = drafter.layers, sum(one.parameters for one in matrices(drafter) if one.group not in _SMALL)
    head = sum(one.parameters for one in matrices(model) if one.group == "lm_head")
    found.draft, found.draft_expert = _ELEMENT * parameters + found.head, 0
    found.draft_active, found.draft_layers = parameters + head, layers
    if model.states:
        kinds = [one.layers for one in model.states] + [one.layers for one in model.attention]
        of_draft = [one.layers for one in drafter.attention] if drafter is not None else [layers]
        size = min(of_draft) if drafter is not None and any(one.window for one in drafter.attention) else 1
        found.groups = sum(-(-count // size) for count in kinds + of_draft) - sum(-(-count // min(kinds)) for count in kinds)
    return found


@dataclass(frozen=True, slots=True)
class Prior:
    """What is expected of a case before any measurement is considered.

    Attributes:
        mean: the mean of the logarithm of the gain.
        deviation: its standard deviation.
        counted: model and GPU are known, so that the arithmetic counts.
        prompts: the share of the time that is spent on prompts.
        step: seconds of a step without drafts, 0 where model or GPU are not known.
        outside: drafts run outside of CUDA graphs, and the GPU waits for the host for it.
        backends: the engine's backends have kernels of very different speed for it.
    """

    mean: float
    deviation: float
    counted: bool
    prompts: float
    step: float
    outside: bool = False
    backends: bool = False


def prior(case: Case) -> Prior | None:
    """What the arithmetic expects of a case, None for a method that it does not know."""
    if case.method not in _DEVIATIONS:
        return None
    deviations = [_DEVIATIONS[case.method]]
    if case.method == BLOCK:
        deviations += _of_block(case)
    gpu, count = case.gpus
    prompts = step = after = 0.0
    outside = outside_graphs(case)
    unsplit = 0.0
    if case.architecture is not None:
        found = steps(case, case.architecture, gpu, count)
        unsplit = found.unsplit / found.after
        deviations.append(_LINKS * found.linking / found.after)
        if case.tokens is None and case.method in _NUMBERS:
            several = [replace(case, tokens=number) for number in _NUMBERS[case.method]]
            gains = [math.log(steps(one, case.architecture, gpu, count).gain) for one in several]
            deviations.append(pstdev(gains))
        outside = outside and found.waits > _WAITS * found.after
        mean, prompts, after = found.gain, found.on_prompts, found.after
        step = found.before if gpu is not None else 0.0
        if case.method == LOOKUP and case.accepted is not None:
            gains = [math.log(steps(case, case.architecture, gpu, count, share).gain) for share in _SHARES]
            mean = math.exp(sum(gains) / len(gains))
            deviations = [_HOST_OF_LOOKUP, pstdev(gains)]
        elif _perhaps_alone(case):
            gains = [math.log(mean), math.log(steps(case, case.architecture, gpu, count, launched_alone=True).gain)]
            mean = math.exp(sum(gains) / len(gains))
            deviations.append(pstdev(gains))
        elif unsplit and case.cache is None and _perhaps_small_cache(case.architecture):
            split = replace(found, after=found.after - found.unsplit, unsplit=0.0)
            gains = [math.log(mean), math.log(split.gain)]
            mean = math.exp(sum(gains) / len(gains))
            deviations.append(pstdev(gains))
    else:
        mean = case.length / (1 + _COST[case.method] * case.drafted)
        deviations.append(_UNKNOWN_MODEL)
    if not prompts and case.input and not case.decoding:
        mean, prompts, deviation = _with_prompts(case, mean)
        deviations.append(deviation)
    if case.architecture is not None and case.architecture.ngrams is not None:
        deviations.append(_TABLES)
    if gpu is None:
        deviations += [_UNKNOWN_GPU, _HOSTS / after if after else 0.0]
    if case.accepted is None:
        deviations.append(_UNKNOWN_LENGTH * math.sqrt(case.drafted))
    deviations.append(_MANY_TOKENS * max(math.log2(case.concurrency * (1 + case.drafted) / 8), 0.0))
    matrices_ = _of_matrices(case, gpu)
    deviations.append(_OTHER_CLOCKS * unsplit)
    deviations += [_PROMPTS * prompts, matrices_, _OUTSIDE_GRAPHS if outside else 0.0, *_of_software(case, gpu, count)]
    counted = case.architecture is not None and gpu is not None
    less = 0.0 if counted else _UNCOUNTED * math.log2(case.concurrency)
    return Prior(
        math.log(mean) - less, math.sqrt(sum(one * one for one in deviations)), counted, prompts, step, outside, matrices_ > 0
    )


def _with_prompts(case: Case, gain: float) -> tuple[float, float, float]:
    """The gain with prompts whose computing is not counted, their share of the time, and the deviation of its logarithm.

    Of a dense model in 16 bits a prompt's tokens take a step's time for each _PROMPT_TOKENS of them, whatever its size.
    """
    output, tokens = case.output or 256, (case.input or 0) * case.concurrency
    found = []
    for share in (0.5, 1, 2):
        prompts = share * tokens / _PROMPT_TOKENS
        found.append((prompts + output) / (prompts + output / gain))
    prompts = tokens / _PROMPT_TOKENS
    return found[1], prompts / (prompts + output), abs(math.log(found[0] / found[2])) / 2


def _of_software(case: Case, gpu: Gpu | None, count: int) -> list[float]:
    """Deviations where software is known to take longer than memory and compute, but not how much longer."""
    model, engine = case.architecture, ENGINES.get(case.engine)
    if gpu is None or engine is None:
        return []
    found: list[float] = []
    if gpu.facts.get("unified") and count > 1 and gpu.vendor == "nvidia":
        found.append(_NETWORK)
    if engine.numbered_builds:
        if gpu.vendor == "nvidia" and (gpu.capability or 9) < _INTEGER_PRODUCTS:
            found.append(_MATRICES)
        return found
    if gpu.vendor == "intel":
        found.append(_XPU)
    if model is None:
        return found
    if gpu.vendor == "amd" and model.quantization.scheme in _WEIGHTS_ONLY:
        found.append(_OTHER_GEMM)
    if any(one.compress > 1 for one in model.attention) and (gpu.vendor == "amd" or engine.draft_has_embeddings):
        found.append(_COMPRESSED)
    if engine.draft_has_embeddings and case.method == MTP and count == 1:
        facts = traffic_of(case, model)
        tables = _ELEMENT * sum(one.parameters for one in matrices(model) if one.group in ("embedding", "lm_head"))
        held = facts.dense + facts.head + facts.expert * facts.experts + facts.draft + tables + tables // 2
        if held > _FILLED * 2**30 * float(gpu.facts.get("memory-gib", math.inf)):
            found.append(_SPILLED)
    return found


def _of_matrices(case: Case, gpu: Gpu | None) -> float:
    """The deviation of llama.cpp's steps that may have too many tokens for the kernels for few."""
    own = case.engine in ENGINES and ENGINES[case.engine].numbered_builds
    if not own or gpu is None or gpu.vendor not in ("amd", "intel"):
        return 0.0
    dense = case.architecture is None or case.architecture.experts is None
    most = _COLUMNS_OF.get(str(gpu.facts.get("architecture")), _COLUMNS) if dense else _COLUMNS
    return _MATRICES if case.concurrency * (1 + case.drafted) > most else 0.0


def _of_block(case: Case) -> list[float]:
    """Deviations that only a block drafter has."""
    engine = ENGINES.get(case.engine)
    if engine is None or engine.numbered_builds:
        return [_OTHER_KERNELS]
    model = case.architecture
    found = [_EXPERTS_OF_BLOCK] if model is not None and model.experts is not None else []
    alone = model is not None and 0 < model.layers <= traffic_of(case, model).groups
    return [*found, _GROUPS] if engine.group_seconds and alone else found
