"""Values that no release has and that one letter or two make one of a release; and what a misspelling does not hide."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.engines.catalog import load
from servelint.judge.judging import judge
from servelint.judge.parser.view import misspelt, similar
from tests.launching import launches_in
from tests.together import together

VLLM = "vllm serve Qwen/Qwen3-8B"
SGLANG = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B"
IMAGES = {
    VLLM: "docker run --gpus all vllm/vllm-openai:v0.27.1 Qwen/Qwen3-8B",
    SGLANG: f"docker run --gpus all lmsysorg/sglang:v0.5.23 {SGLANG}",
}


def told(text: str) -> dict[str, str]:
    launch = launches_in(text + "\n", "run.sh")[0]
    return {finding.rule: finding.advice for finding in judge(launch, Settings())}


class TestValues:
    @pytest.mark.parametrize("pinned", [False, True])
    @pytest.mark.parametrize(
        ("start", "words", "meant"),
        [
            (VLLM, "--quantization awq_marlinn", "awq_marlin"),
            (VLLM, "--quantization fbgem_fp8", "fbgemm_fp8"),
            (VLLM, '--speculative-config \'{"method": "eagel3", "model": "x/y", "num_speculative_tokens": 3}\'', "eagle3"),
            (VLLM, '--speculative-config \'{"method": "ngarm", "num_speculative_tokens": 3}\'', "ngram"),
            (VLLM, "--tool-call-parser hermess --enable-auto-tool-choice", "hermes"),
            (VLLM, "--reasoning-parser deepsek_r1", "deepseek_r1"),
            (VLLM, "--attention-backend FLASHINFR", "FLASHINFER"),
            (VLLM, "--dtype bfloat61", "bfloat16"),
            (VLLM, "--kv-cache-dtype fp8_e4m3n", "fp8_e4m3"),
            (VLLM, "--load-format safetensor", "safetensors"),
            (VLLM, "--scheduling-policy fcsf", "fcfs"),
            (VLLM, '--structured-outputs-config \'{"backend": "xgramar"}\'', "xgrammar"),
            (VLLM, '--kv-transfer-config \'{"kv_connector": "NixlConector", "kv_role": "kv_both"}\'', "NixlConnector"),
            (SGLANG, "--speculative-algorithm NEXTM", "NEXTN"),
            (SGLANG, "--speculative-algorithm EAGEL3", "EAGLE3"),
            (SGLANG, "--quantization awq_marlinn", "awq_marlin"),
            (SGLANG, "--attention-backend flashinfr", "flashinfer"),
            (SGLANG, "--schedule-policy lmp", "lpm"),
            (SGLANG, "--moe-a2a-backend deepp", "deepep"),
            ("lmdeploy serve api_server Qwen/Qwen3-8B", "--tool-call-parser internlmm", "internlm"),
            ("llama-server -m /m.gguf", "--cache-type-k q8_o", None),
        ],
    )
    def test_is_told_what_is_meant(self, start: str, words: str, meant: str | None, pinned: bool) -> None:
        advice = told(f"{IMAGES.get(start, start) if pinned else start} {words}").values()
        assert any(one.startswith(f"did you mean {meant}") for one in advice) is (meant is not None)

    @pytest.mark.parametrize(
        "words",
        [
            "--quantization AWQ_MARLIN",
            "--quantization $METHOD",
            "--reasoning-parser deepseek_r9",
            "--tool-call-parser hermess --tool-parser-plugin ./hermess.py",
            "--tool-call-parser my_own",
            "--load-format my_format",
        ],
    )
    def test_other_values_may_exist(self, words: str) -> None:
        assert "vllm/misspelt-value" not in told(f"{VLLM} {words}")

    def test_a_list_that_was_lifted_takes_no_value_away(self) -> None:
        advice = told(f"{IMAGES[VLLM]} --config-format mstral")
        assert advice["vllm/misspelt-value"] == "did you mean mistral?"

    def test_a_pinned_release_says_it_once(self) -> None:
        rules = told(f"{IMAGES[VLLM]} --quantization awq_marlinn --dtype bfloat61")
        assert ("vllm/misspelt-value" in rules, "vllm/quantization-unknown" in rules) == (False, True)

    @pytest.mark.parametrize(
        ("value", "meant"),
        [
            ("lmp", "lpm"),
            ("lpn", None),
            ("eagel", "eagle"),
            ("eagle4", None),
            ("fp9", None),
            ("flashinfr", "flashinfer"),
            ("zzz", None),
        ],
    )
    def test_how_near(self, value: str, meant: str | None) -> None:
        assert misspelt(value, ("lpm", "eagle", "eagle3", "fp8", "flashinfer")) == meant


class TestOptions:
    @pytest.mark.parametrize(
        ("name", "known"),
        [
            ("--max-model-lenght", "--max-model-len"),
            ("--tensor-paralel-size", "--tensor-parallel-size"),
            ("--tool-call-parser-plugin", "--tool-parser-plugin"),
            ("--deploy-config", None),
        ],
    )
    def test_a_long_word_in_common_is_not_enough(self, name: str, known: str | None) -> None:
        every = ("--max-model-len", "--tensor-parallel-size", "--tool-parser-plugin", "--eplb-config")
        assert similar(name, every) == known

    def test_one_hides_no_fault_of_the_others(self) -> None:
        rules = told(
            f"{VLLM} --tensor-paralel-size 2 --kv-offloading-size abc --gpu-memory-utilization 1.5 --stream-interval 0"
        )
        assert set(rules) >= {
            "vllm/unknown-option",
            "vllm/invalid-value",
            "vllm/gpu-memory-utilization-out-of-range",
            "vllm/number-out-of-range",
        }

    @pytest.mark.parametrize(
        "wrong", ["--typoo x", "--seed abc", "--tensor-paralel-size 2", "--num-scheduler-steps 4", "stray"]
    )
    def test_what_all_releases_refuse_does_not_make_all_possible(self, wrong: str) -> None:
        assert "vllm/invalid-value" in told(f"{VLLM} {wrong} --kv-offloading-size abc")

    def test_what_it_stands_for_is_not_taken_as_absent(self) -> None:
        words = "--enable-auto-tool-choice --tool-call-parser mine"
        assert "vllm/tool-call-parser-unknown" in told(f"{IMAGES[VLLM]} {words}")
        rules = told(f"{IMAGES[VLLM]} {words} --tool-call-parser-plugin mine.py")
        assert ("vllm/unknown-option" in rules, "vllm/tool-call-parser-unknown" in rules) == (True, False)


@together(
    "engine, written, meant",
    [
        ("vllm", "--max-num-sequences", "--max-num-seqs"),
        ("vllm", "--max_num_sequences", "--max-num-seqs"),
        ("vllm", "--max-num-batch-toks", "--max-num-batched-tokens"),
        ("sglang", "--memory-fraction-static", "--mem-fraction-static"),
        ("sglang", "--draft-model-path", "--speculative-draft-model-path"),
        ("vllm", "--draft-model-path", None),
        ("vllm", "--path", None),
        ("vllm", "--cache-config", None),
        ("vllm", "--host-name", None),
        ("sglang", "--cache-config", None),
        ("sglang", "--size", None),
    ],
)
def test_an_option_whose_words_are_spelled_out_or_left_out(engine: str, written: str, meant: str | None) -> None:
    known = load(engine)
    assert known is not None
    assert similar(written, known.table(len(known.releases) - 1).spellings()) == meant


def test_a_variable_is_never_completed_by_its_words() -> None:
    assert similar("DRAFT_MODEL_PATH", ["SPECULATIVE_DRAFT_MODEL_PATH"]) is None
    assert similar("draft-model-path", ["speculative-draft-model-path"]) is None


def test_the_contrary_is_not_what_was_meant() -> None:
    assert similar("enable_overlap_scheduler", ["disable_overlap_scheduler"]) is None
    assert similar("--disable-chunked-prefill", ["--enable-chunked-prefill"]) is None
    assert similar("--enable-chuncked-prefill", ["--enable-chunked-prefill"]) == "--enable-chunked-prefill"
