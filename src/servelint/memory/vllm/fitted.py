"""Constants that no source states, each fitted on published start-up logs. Everything else is arithmetic.

The logs: Qwen2-7B, gpt-oss-20b and gpt-oss-120b on A100s (vLLM 0.10.1.1), gpt-oss-120b refused on one H100 (0.10.1, vLLM issue
23278), Qwen3-Next-80B on two H200s (0.10.2), MiniMax-M2.5 and GLM-5.1 on RTX PRO 6000s (0.20.2 and before), Gemma 4 26B on an
A100 (0.19.0), Qwen3.6-35B on an RTX 5090 (0.24.0); on GB10s Qwen3.6-35B in bf16 and FP8, Nemotron 3 Super and Gemma 4 12B
(0.19.1 to main); and those in tests/memory/vllm_logs.json.
"""

from __future__ import annotations

from servelint.memory.plan import Interval

BASE = Interval(0.1, 0.22, 0.6)
"""GiB that torch does not account for, and small buffers. Fitted on Qwen2-7B on one A100: 0.55 GiB in all."""

ZEROTH = Interval(0.2, 0.35, 0.9)
"""The same with CUDA's context in the V0 engine: 0.34 and 0.35 GiB of Llama-3.1-8B on an RTX 3090 (vLLM issue 10517)."""

TENSOR, TENSOR_NODE = Interval(0.03, 0.15, 1.2), Interval(0.03, 0.15, 1.0)
"""GiB more with tensor parallelism: NCCL and its buffers, most of all across nodes. Fitted on Qwen2-7B on two A100s: 0.67 GiB
in all on one node, 1.5 GiB across two. The second is where one node has all ranks."""

TENSOR_SWITCHED = Interval(0.1, 1.85, 2.4)
"""The same on H100s that switches join: twelve starts of vLLM 0.19.0 print 2.05 to 2.21 GiB of "non-torch forward increase
memory" on two and on four GPUs, for models of 7B to 109B alike, and 0.24 to 0.26 on one (llm-d-planner's accuracy report)."""

FORWARD_HIDDEN, FORWARD_INNER = 4.0, 6.0
"""Bytes of activations per token for each element of the hidden size, and for each of the widest layer's inner size on a GPU.
Counted: the residual stream and the output, and the outputs of the first matrix and their product, in 16 bits each. Of the logs
in which a batch decides the median error is 1.1 %, such as 14.4 GiB for 14.54 of Llama-3.1-70B in FP8 on an RTX PRO 6000."""
FORWARD_MIXED = 12.0
"""The same of the hidden size where layers keep states, or the residual stream is several. Fitted on Qwen3.6-27B in NVFP4 on an
RTX 5090 (1.6 GiB in all for 8,192 tokens), and on Qwen3-Next."""
FORWARD_EAGER = 6.0
"""The same of both in the V0 engine, whose layers are not compiled: the residual stream, its norm and the output, the outputs
of the first matrix and their product, in 16 bits each. Counted: 20,000 and 29,000 tokens of Llama-3.1-8B differ by 0.92 GiB."""
FORWARD_EXPERTS = 8.0
"""Bytes per token for each element of the hidden size that are held while experts run: the residual stream, the input and
the output of the experts, and what the router makes. Counted, not fitted."""
FORWARD_SPREAD = 0.35

SORTED_BYTES = 36.5
"""Bytes per logit of the sampler that sorts the vocabulary: logits in two dtypes, sorted values and indices, the sort's own
buffers. Fitted on gpt-oss-120b on one H100, the only log with this sampler."""
SORTED_GATHERED = 5.0
"""Bytes more with tensor parallelism, where each rank gathers all logits: Qwen3-Next and MiniMax-M2.5."""
MASKED_BYTES, DRAWN_BYTES = 10.0, 14.0
"""Bytes per logit of the samplers that do not sort, not fitted but counted: logits in two dtypes and probabilities
(FlashInfer's), and the random numbers that vLLM's own sampler divides them by."""
PICKED_BYTES = Interval(2.0, 2.0, 6.0)
COUNTS_BYTES = 4.125
WARMED_BYTES = Interval(10.0, 14.0, 18.0)
"""The same of the second model runner, counted too: the logits that it draws from in the profiled run, at most in 32 bits as
well; its counts of tokens; and what it needs when it warms up: logits in two dtypes, the masked ones, and probabilities."""
SAMPLER_SPREAD = 0.15

VISION_BYTES = Interval(14.0, 25.0, 46.0)
"""Bytes of activations per patch for each element of the encoder's hidden size. Counted: the residual stream and its norm, what
its widest matrix makes before and after the activation, and the pixels in 32 bits are 24 to 26. Four logs have 17 to 32
(Qwen3.5-2B and 9B, Qwen3.6-35B on an RTX 5090 and on a GB10)."""
VISION_DIVIDED = Interval(7.0, 15.0, 15.0)
"""Of these what tensor parallelism divides: what the widest matrix makes, 3.74 hidden sizes wide, before and after the
activation (Qwen3_VisionMLP in vllm/model_executor/models/qwen3_vl.py)."""
VISION_TOKENS = 16384
"""Tokens of the largest picture that Qwen's processors take (their longest_edge of 16,777,216 pixels), not a constant of
vLLM."""

GRAPHS = Interval(0.0, 0.2, 0.5)
GRAPHS_WIDEST = Interval(0.1, 0.5, 1.4)
"""GiB of CUDA graphs as vLLM estimates them, and what is added for the widest captures, of 512 tokens; narrower ones add their
share. Fitted on the estimates of eight logs, where attention keeps keys and values: 0.2 to 1.6 at 512, 0.7 at 160, 0.08 at 8
(club-3090 issue 617)."""
GRAPHS_STATES = Interval(0.1, 1.3, 2.6)
"""The same added where layers keep states, which are captured for every batch in two ways. Fitted on what five starts with
1,024 sequences left: Qwen3.6-27B in FP8 and in bf16, Qwen3.6-35B in FP8 and in bf16 on Hopper (recipes pull request 551, KAITO
pull request 2344), 5.2 to 6.3 GiB in all beside the weights, and Qwen3.6-35B on GB10, whose estimate was 0.93."""
GRAPHS_STATES_EXTRAPOLATED = Interval(0.1, 1.3, 5.0), Interval(0.2, 2.9, 5.0)
"""The same as the second model runner estimates it, and on Hopper: two starts on H100s (0.30.0). On other GPUs it is the first
one's until more logs tell: an RTX PRO 6000 estimated 0.69 and 0.77 in all (Qwen3.8-27B in bf16, 0.29.0)."""
GRAPHS_EXTRAPOLATED_SHARED = Interval(0.0, 1.5, 4.5)
"""GiB more where the host shares the memory: the difference between two readings of the free memory, which the host changes
too, stands for up to 51 captures. MiniMax M2.7 on two GB10s estimated 5.1 (spark-vllm-docker issue 396)."""
GRAPHS_LATENT = Interval(3.5, 4.9, 7.0)
"""The same with sparse latent attention, which allocates its buffers there: GLM-5.1 on eight GPUs (4.8 and 5.1, 6.0 and 6.8
with drafts)."""
GRAPHS_COMPRESSED = Interval(0.4, 2.2, 4.5)
"""What is added for the widest captures of DeepSeek V4, whose buffers are there before: 2.44 estimated and 2.51 captured for 51
sizes up to 512 (vLLM issue 50576), 0.50 and 0.58 for a few small ones (vllm-backport issues 41 and 34), all of Flash. Pro, with
61 layers that are 1.75 times as wide, is within the interval."""
GRAPHS_OUTSIDE = Interval(0.0, 0.2, 0.9), Interval(0.1, 0.2, 0.6)
GRAPHS_OUTSIDE_RANKS = Interval(0.0, 0.3, 1.0), Interval(0.1, 0.9, 1.4)
"""GiB of captured CUDA graphs where nothing is reserved for them, without and with tensor parallelism, and what is added for
captures of 512 tokens and more. Fitted on eighteen logs: 0.1 to 1.7 on one GPU and 0.1 to 2.4 on several at 512; 0.73 at 1,
0.4 at 4, 0.04 and 0.79 on two GPUs at 16. Models of 1B and less captured 0.11 to 0.21 at 512 (vLLM pull request 11349 and two
logs more)."""
GRAPHS_SMALL, SMALL = (Interval(0.0, 0.1, 0.2), Interval(0.05, 0.1, 0.2)), 3.0
"""The same for weights of at most so many GiB: Qwen2.5-0.5B captured 0.00 on an RTX 3060 Laptop (0.18.0,
CChen19/inferops-agent), Qwen3-1.7B 0.04 on an H100."""
GRAPHS_A_LAYER = 1.2e-3
"""GiB that a CUDA graph of one layer for one batch takes at most, where graphs are in pieces: 0.0008 for Llama-3.3-70B on two
H100s (80 layers and 51 batches, 3.5 to 4.2 GiB in all, tomasruizt/vllm-scripts), 0.001 for Gemma 3 27B on a B200 (4.2 GiB), and
over 0.0011 for Qwen3-VL-235B on eight A100s, which died after 67 batches of 94 layers with 7.9 GiB beside the fraction
(QwenLM/Qwen3-VL issue 1684)."""
MANY_RANKS, RANKS_LATER = 8, Interval(0.0, 0.3, 1.0)
"""GiB that each of so many ranks takes after the profiled run, though CUDA graphs are counted in it. One start of eight died
0.9 GiB over its fraction and CUDA's context, with 0.06 GiB of graphs (vLLM pull request 51590); on two to four none did."""
DOUBT = 0.35
"""A start is certain if an interval outside the fraction fits up to this part of the way from its middle to its upper end.
Before 0.9.1 it is certain only if all of it fits: Qwen3-30B-A3B on four A10s (0.8.5, vLLM issue 17469) ran out of memory in
the captures, with 2.2 GiB left for them."""

CONTEXT = Interval(0.3, 0.5, 0.9)
"""GiB of CUDA's own context, which no engine counts within its fraction: the driver's figure on data-centre and consumer
GPUs."""

UNIFIED = Interval(0.4, 2.2, 6.0)
"""GiB that the engine's processes and the page cache take of memory shared with the host, on top of what a discrete GPU would
show: fitted on Qwen3.6-35B in bf16, FP8 and NVFP4, Qwen3-30B-A3B and Qwen2.5-14B in FP8, Nemotron 3 Super and Gemma 4 12B on
GB10. Two starts of one launch differed by 3.4 GiB, and two of Qwen3.8-27B in bf16 took 5.3 and 6.0."""

WEIGHTS_UNIFIED = 0.01
"""Share by which the figure of the weights varies there."""

TAKEN_UNIFIED, TAKEN_UNIFIED_NODES = Interval(1.5, 3.5, 6.0), Interval(1.5, 5.0, 9.5)
"""GiB of memory shared with the host that are in use when the engine starts on an idle system: the logs of five GB10s. The
second is where several such machines work together: with Ray's processes 8.1 were in use on one of two, which refused 0.95
(https://github.com/microscaler/cylon-local-infra, vLLM 0.17.1)."""

HIDDEN, HIDDEN_SHARE = 0.35, 0.0025
"""GiB, and a share of the memory, that nvidia-smi shows and CUDA does not give to programs. Fitted on the totals in messages of
PyTorch: 79.25 of 80.00 (A100), 79.1 of 79.65 (H100), 139.8 of 140.4 (H200), 94.97 of 95.59 (RTX PRO 6000), 31.36 of 31.84 (RTX
5090)."""

ASSISTANT = Interval(0.1, 0.4, 1.0)
"""GiB of an assistant of Gemma 4, whose config.json is not known: 0.1 to 0.5 billion parameters, by their model cards."""

GRAPHS_TRITON_FP4 = Interval(1.0, 1.9, 2.2), Interval(1.0, 1.7, 2.0)
"""GiB of the CUDA graphs of experts in MXFP4 with Triton's kernels: in pieces for batches of up to 1,024 tokens, and as a
whole for as many sequences. gpt-oss-20b on an H100 at 0.95 (0.19.0) died in the sampler's warm-up with 0.6 GiB in pools of
graphs, 1.8 that they keep and do not use, and 1.2 that the driver holds for 83 graphs of each kind, by PyTorch's message; vLLM
had estimated 0.66 and 0.64. gpt-oss-120b died at 0.97 with one sequence (0.14.1, vLLM issue 33155)."""

HEAD_WIDTH, HEAD_VOCABULARY = 3, 32000
"""The feed-forward part in hidden sizes, and the vocabulary, of an EAGLE head whose config.json is not known, as published
heads of Llama 3.1 8B and Qwen3 8B have them. Heads with all of the model's vocabulary, or of another width, are within the
interval."""
