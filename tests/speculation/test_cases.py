"""Names as people write them beside what they measured."""

from __future__ import annotations

import pytest

from servelint.speculation.cases import gpus_of, method_of, model_of


@pytest.mark.parametrize(
    ("name", "gpu", "count"),
    [
        ("GB10", "gb10", 1),
        ("H100 x4 (TP4)", "h100", 4),
        ("GB200 TP4", "gb200", 4),
        ("2x L40S", "l40s", 2),
        ("NVIDIA H100 80GB HBM3", "h100-80gb", 1),
        ("TP16", None, 16),
        ("Radeon gfx1151", None, 1),
    ],
)
def test_gpus(name: str, gpu: str | None, count: int) -> None:
    found, many = gpus_of(name)
    assert ((found.name if found is not None else None), many) == (gpu, count)


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct (BF16)", 32),
        ("Qwen3.6-27B IQ4_XS", 64),
        ("Qwen/Qwen3-8B", 36),
        ("nobody/nothing", None),
    ],
)
def test_models(name: str, layers: int | None) -> None:
    found = model_of(name)
    assert (found.layers if found is not None else None) == layers


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("mtp", "mtp"),
        ("qwen3_next_mtp", "mtp"),
        ("NEXTN", "mtp"),
        ("eagle/mtp", "mtp"),
        ("EAGLE3", "eagle"),
        ("dflash", "block"),
        ("ngram", "lookup"),
        ("draft_model", "draft-model"),
        ("medusa", "medusa"),
        ("telepathy", None),
    ],
)
def test_methods(name: str, kind: str | None) -> None:
    assert method_of(name) == kind


def test_a_gguf_of_any_type_has_the_size_of_its_weights() -> None:
    kinds = ("-Q4_K_M.gguf", " IQ4_XS", "-GGUF:UD-Q4_K_XL", "-GGUF")
    found = [model_of(f"Qwen3.6-27B{kind}") for kind in kinds]
    assert [one and one.quantization.formats[-1].bits for one in found] == [4.8944, 4.4597, 4.8944, 4.8944]
