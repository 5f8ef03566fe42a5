"""`serving.properties` of DJL Serving."""

from __future__ import annotations

import pytest

from tests.launching import launch_in, launches_in, sites

TEXT = """\
# a comment: option.max_model_len=1
engine=Python
option.model_id = Qwen/Qwen3-8B
option.rolling_batch=vllm
option.tensor_parallel_degree=max
option.max_rolling_batch_size: 64
option.max_model_len=8192
option.enable_prefix_caching=true
option.dtype={{dtype}}
job_queue_size=100
"""


def test_its_properties_set_options() -> None:
    launch = launch_in(TEXT, "serving.properties")
    assert (launch.engine, launch.fragment, launch.argv[0].many) == ("vllm", True, True)
    assert [word.value for word in launch.argv[1:]] == [
        "--model", "Qwen/Qwen3-8B", "--max-num-seqs", "64", "--max-model-len", "8192", "--enable-prefix-caching",
    ]  # fmt: skip
    (site,) = {one for one in sites(launch.argv[6:7]) if one is not None}
    assert site.text == "8192"


@pytest.mark.parametrize("batch", ["trtllm", "auto", "lmi-dist", "$BATCH", "sglang"])
def test_another_engine_may_read_it(batch: str) -> None:
    assert launches_in(TEXT.replace("rolling_batch=vllm", f"rolling_batch={batch}"), "serving.properties") == []


def test_without_an_engine_it_is_not_read() -> None:
    assert launches_in("option.model_id=m\noption.max_model_len=8192\n", "serving.properties") == []
    assert launches_in(TEXT, "application.properties") == []
