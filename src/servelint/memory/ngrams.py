"""The table of embeddings of n-grams that Qwen3.8-Flash-Next has (Qwen4Exp): how large it is, and whether a GPU holds it."""

from __future__ import annotations

from servelint.memory.plan import GIB, Interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture


def correction(model: Architecture, tensor: int, *, on_gpu: bool, of_modelopt: bool = True) -> Interval:
    """GiB to add to the weights of a rank, which count the table in 16 bits and on the GPU.

    The table is in FP8 in a checkpoint that is quantized to it, and in one of ModelOpt's if that says so, as nvidia's does.

    Source: _get_ple_embedding_quant_method in vllm/models/qwen4_exp/nvidia/ple_layer.py (0.29.0, which knows no ModelOpt) and
    nvidia/ngram_embedding.py (0.30.0); _ple_table_is_fp8 in sglang/srt/models/qwen4_exp.py, and qwen4_exp_ple_table.py, which
    has it at 47.7 GiB in FP8 (0.5.20).

    Args:
        model: The model; one without a table gives nothing.
        tensor: The ranks that share it.
        on_gpu: Whether the GPU's memory holds it, and not the host's.
        of_modelopt: Whether the release reads a table in FP8 from a checkpoint of ModelOpt.
    """
    if model.ngrams is None:
        return Interval.exact(0)
    rows, columns = model.ngrams
    table = rows * columns / tensor / GIB
    counted = Interval.exact(-2 * table)
    if not on_gpu:
        return counted
    if model.quantization.method == "fp8":
        return counted + Interval.exact(table)
    return (
        counted + Interval(1, 1, 2).scaled(table)
        if model.quantization.method == "modelopt" and of_modelopt
        else Interval.exact(0)
    )
