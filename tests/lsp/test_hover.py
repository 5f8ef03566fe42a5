"""What an editor shows of what the pointer is on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from servelint.core.settings import Settings
from servelint.lsp.hover import hover
from tests.lsp.marked import analysed, chart, compose, marked
from tests.together import together

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples").glob("*/*"))


def shown(name: str, text: str, settings: Settings | None = None) -> str:
    """The Markdown at the mark; "" if there is none."""
    found = marked(name, text, settings)
    told = hover(found.analysis, found.offset)
    if told is None:
        return ""
    assert told.span.source is found.analysis.source
    assert told.span.start <= found.offset <= told.span.end
    return told.markdown


class TestOption:
    def test_what_it_takes_in_the_release_that_the_image_names(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --kv-cache‸-dtype fp8", image="vllm/vllm-openai:v0.19.1"))
        assert told.startswith("**`--kv-cache-dtype`** \u00b7 vLLM 0.19.1 (by the image)\n")
        assert (
            "One of auto, bfloat16, float16, fp8, fp8_ds_mla, fp8_e4m3, fp8_e5m2 or fp8_inc, default auto." in told.splitlines()
        )
        assert "In every vLLM since 0.6.0, the oldest that is known." in told

    def test_that_is_gone(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --swap-‸space 4"))
        assert "This release has no such option." in told
        assert "In vLLM 0.6.0 to 0.17.1; gone in 0.18.0." in told
        assert "Instead: delete it" in told
        assert "- **error** here: --swap-space was removed in vLLM 0.18.0" in told

    def test_that_is_a_switch(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --enable-prefix‸-caching"))
        assert "A switch, off with --no-enable-prefix-caching." in told

    def test_without_a_sentence_it_links_to_the_documentation(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --additional-‸config {}"))
        assert "[documentation of vLLM](https://docs.vllm.ai/en/latest/cli/serve/)" in told
        assert "documentation of" not in shown("compose.yml", compose(" --model x/y --max-model-‸len 4"))

    def test_that_no_release_has(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --max-modl-‸len 4"))
        assert "No known release has this option." in told
        assert "Did you mean `--max-model-len`?" in told

    def test_by_the_key_of_a_chart(self) -> None:
        told = shown("values.yaml", chart("        maxModel‸Len: 4096"))
        assert told.startswith("**`--max-model-len`** \u00b7 vLLM 0.27.1 (by the image)\n\nLongest request in tokens, ")
        assert "\n\nA whole number" in told

    def test_by_a_key_of_a_file_of_options(self) -> None:
        told = shown("config.yaml", "model: x/y\nmax-model-len: 4096\nkv-cache-‸dtype: fp8\n")
        assert told.startswith("**`--kv-cache-dtype`** \u00b7 vLLM, no release named: ")


class TestReleases:
    def test_that_might_all_run_it_are_named_and_where_they_differ_the_newest_speaks(self) -> None:
        told = shown("serve.sh", "vllm serve Qwen/Qwen3-8B --gpu-memory-‸utilization 0.9\n")
        assert told.startswith("**`--gpu-memory-utilization`** \u00b7 vLLM, no release named: 0.8.4 to ")
        assert "default 0.92" in told
        assert "not the same in all of these releases)." in told

    def test_a_moving_tag_is_the_newest(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --por‸t 80", image="vllm/vllm-openai:latest"))
        assert ", the newest that is known (the image's tag moves)" in told.splitlines()[0]

    def test_settings_name_it_where_the_text_does_not(self) -> None:
        settings = Settings(engine_versions={"vllm": "0.19.1"})
        told = shown("serve.sh", "vllm serve x/y --gpu-memory-‸utilization 0.9\n", settings)
        assert told.startswith("**`--gpu-memory-utilization`** \u00b7 vLLM 0.19.1 (by the settings)\n")
        assert "default 0.9," in told or "default 0.9." in told

    def test_a_release_that_an_installer_names(self) -> None:
        told = shown("serve.sh", "pip install vllm==0.19.1\nvllm serve x/y --por‸t 80\n")
        assert "vLLM 0.19.1 (by its installation)" in told


class TestValue:
    def test_that_is_a_choice_and_since_when(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --kv-cache-dtype turboquant‸_k8v4"))
        assert told.startswith("**`turboquant_k8v4`** of `--kv-cache-dtype` \u00b7 vLLM 0.27.1")
        assert "One of its values." in told
        assert "In vLLM 0.20.0 and later." in told

    def test_that_is_none_of_this_release(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --kv-cache-dtype turbo‸quant_k8v4", image="vllm/vllm-openai:v0.19.1"))
        assert "Not a value in this release; choose from auto, " in told
        assert "In vLLM 0.20.0 and later." in told

    def test_a_name_that_is_looked_up(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --tool-call-parser her‸mes"))
        assert told.startswith("**`hermes`** of `--tool-call-parser`")

    def test_a_number_is_told_of_as_its_option(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --max-num-seqs 25‸6"))
        assert told.startswith("**`--max-num-seqs`** ")

    @pytest.mark.parametrize("value", ["${KV‸}", "${KV‸:?}", "$K‸V"])
    def test_of_which_nothing_is_known_says_nothing_of_a_value(self, value: str) -> None:
        told = shown("serve.sh", f"vllm serve x/y --kv-cache-dtype {value}\n")
        assert told.startswith("**`--kv-cache-dtype`** ")
        assert " here:" not in told

    def test_a_secret_is_not_shown(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --api-key sk-very‸secretindeed"))
        assert "secretindeed" not in told


class TestKeyOfAJsonOption:
    def test_what_it_takes(self) -> None:
        text = compose(' >\n      --model x/y --speculative-config \'{"num_spec‸ulative_tokens": 2, "method": "mtp"}\'')
        told = shown("compose.yml", text)
        assert told.startswith("**`num_speculative_tokens`** of `--speculative-config` \u00b7 vLLM 0.27.1")
        assert "A whole number, more than 0." in told

    def test_that_the_release_does_not_know(self) -> None:
        told = shown("compose.yml", compose(" >\n      --model x/y --speculative-config '{\"tok‸ens\": 2}'"))
        assert "This release has no such key, and refuses the object for it." in told

    def test_a_method(self) -> None:
        told = shown("compose.yml", compose(' >\n      --model x/y --speculative-config \'{"method": "eag‸le3"}\''))
        assert told.startswith("**`eagle3`** of `method` \u00b7 vLLM 0.27.1")
        assert "In vLLM 0.9.1 and later." in told

    def test_a_method_that_is_another_name(self) -> None:
        told = shown("compose.yml", compose(' >\n      --model x/y --speculative-config \'{"method": "qwen3_next‸_mtp"}\''))
        assert "Another name of `mtp`, which the release makes of it." in told

    def test_a_nested_key(self) -> None:
        config = '{\\"pass_config\\": {\\"fuse_‸norm_quant\\": true}}'
        told = shown("compose.yml", compose(f' ["--model", "x/y", "--compilation-config", "{config}"]'))
        assert told.startswith("**`pass_config.fuse_norm_quant`** of `--compilation-config`")


class TestVariable:
    def test_that_the_release_reads(self) -> None:
        told = shown("compose.yml", compose(" --model x/y", environment="      - VLLM_LOGGING‸_LEVEL=DEBUG"))
        assert told.startswith("**`VLLM_LOGGING_LEVEL`** \u00b7 vLLM 0.27.1")
        assert "default INFO" in told

    def test_that_nothing_reads_any_more(self) -> None:
        told = shown("compose.yml", compose(" --model x/y", environment="      - VLLM_USE_V1=‸1"))
        assert "Nothing reads it in this release." in told
        assert "gone in 0.11.1." in told

    def test_of_somebody_else(self) -> None:
        assert shown("compose.yml", compose(" --model x/y", environment="      - MY_OWN_‸THING=1")) == ""


class TestImage:
    def test_its_tag_names_the_release_and_how_old_it_is(self) -> None:
        told = shown("compose.yml", compose(" --model x/y", image="vllm/vllm-openai:v0.27‸.1"))
        assert told.startswith("**`v0.27.1`** \u00b7 vLLM 0.27.1 (by the image)")
        assert "The newest vLLM that servelint knows is " in told

    def test_of_a_tag_that_tells_nothing_nothing_is_claimed(self) -> None:
        told = shown("compose.yml", compose(" --model x/y", image="vllm/vllm-openai:my-own-bu‸ild"))
        assert "servelint cannot find a release of the engine in this tag." in told


class TestProblems:
    COMMAND = (
        " >\n      --model Qwen/Qwen3.6-27B --kv-cache-‸dtype turboquant_k8v4\n"
        '      --speculative-config \'{"method": "mtp", "num_speculative_tokens": 2}\''
    )

    def test_those_that_are_found_here_come_first(self) -> None:
        lines = shown("compose.yml", compose(self.COMMAND)).splitlines()
        first = lines[lines.index("Known problems:") + 2]
        assert first.startswith("- **error** here: turboquant_k8v4 KV cache with speculative decoding falls into token loops")
        assert first.endswith("([source](https://github.com/vllm-project/vllm/issues/53180))")

    def test_a_value_has_those_that_may_hold_with_it(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --kv-cache-dtype f‸p8"))
        assert "fp8_e5m2" not in told.partition("Known problems:")[2]

    def test_an_option_has_those_of_its_release(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --kv-cache-‸dtype fp8", image="vllm/vllm-openai:v0.12.0"))
        assert "TurboQuant" not in told  # which came with 0.20.0

    def test_there_are_never_more_than_fit_a_screen(self) -> None:
        told = shown("compose.yml", compose(' >\n      --model x/y --speculative‸-config \'{"method": "mtp"}\''))
        assert sum(line.startswith("- ") for line in told.splitlines()) <= 6
        assert "more" in told.splitlines()[-1]

    def test_a_rule_is_told_by_its_name_too(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --gpu-memory-‸utilization 0.9"))
        assert "- error: --gpu-memory-utilization is a fraction above 0 and at most 1 (0.6 and later), `vllm/" in told

    def test_rules_that_are_switched_off_are_not_told(self) -> None:
        told = shown("compose.yml", compose(self.COMMAND), Settings(ignore=("vllm/*",)))
        assert "Known problems:" not in told


@together("option, rest", [("--tool-call-parser", " more (in "), ("--reasoning-parser", " more, default an empty text (in ")])
def test_names_of_the_release_are_what_an_option_takes(option: str, rest: str) -> None:
    told = shown("serve.sh", f"vllm serve Qwen/Qwen3-8B {option[:5]}\u2038{option[5:]} x\n")
    (line,) = [one for one in told.splitlines() if one.startswith("One of ")]
    assert ", deepseek_v3, " in line
    assert rest in line


class TestFirstLine:
    def test_the_memory_on_the_gpu_that_a_comment_names(self) -> None:
        told = shown("serve.sh", "# servelint: gpu=h100-80gb\nvllm ser‸ve Qwen/Qwen3-8B --max-model-len 8192\n")
        assert told.startswith("**vLLM, no release named: ")
        assert "It fits on h100-80gb (" in told
        assert "| weights | " in told
        assert "requests of 8,192 at once." in told

    def test_without_a_release_it_is_told_for_which_it_is_planned(self) -> None:
        told = shown("serve.sh", "# servelint: gpu=h100-80gb\nvllm ser‸ve Qwen/Qwen3-32B --max-model-len 24000\n")
        assert re.search(r"It is tight on h100-80gb \(.* GiB a GPU\), planned as [\d.]+ to [\d.]+\.", told)

    def test_the_gpu_of_the_settings(self) -> None:
        told = shown("compose.yml", compose(" --model Qwen/Qwen3-32B").replace("comm", "co‸mm"), Settings(gpu="rtx-4090"))
        assert "It does not fit, and the engine refuses to start on rtx-4090" in told

    def test_without_a_gpu_the_common_ones_that_it_fits_on(self) -> None:
        told = shown("compose.yml", compose(" --model Qwen/Qwen3-32B").replace("comm", "co‸mm"))
        assert "No GPU is named." in told
        assert "- fits: " in told
        assert "- refused: rtx-4090" in told

    def test_a_model_that_nobody_knows_has_no_plan(self) -> None:
        told = shown("compose.yml", compose(" --model $${MODEL}").replace("comm", "co‸mm"), Settings(gpu="h100-80gb"))
        assert "fits" not in told.replace("Whether it fits", "")

    def test_what_is_found_in_the_launch(self) -> None:
        told = shown("compose.yml", compose(" --model x/y --swap-space 4").replace("comm", "co‸mm"))
        assert "- **error** here: --swap-space was removed" in told


class TestModel:
    def test_its_architecture_and_since_when_the_engine_has_it(self) -> None:
        told = shown("compose.yml", compose(" --model Qwen/‸Qwen3-8B"))
        assert "Architecture Qwen3ForCausalLM, in vLLM since 0.8.4" in told

    def test_the_attention_backend_on_the_gpu(self) -> None:
        text = compose(" --model Qwen/‸Qwen3-8B", image="vllm/vllm-openai:v0.33.0")
        assert "Attention backend on b200: `FLASHINFER`" in shown("compose.yml", text, Settings(gpu="b200"))
        assert "Attention backend on l4: `FLASH_ATTN`" in shown("compose.yml", text, Settings(gpu="l4"))
        assert "Attention backend" not in shown("compose.yml", text)

    def test_of_which_nothing_is_known(self) -> None:
        assert "servelint does not know a model of this name." in shown("compose.yml", compose(" --model acme/‸secret"))


@pytest.mark.parametrize(
    ("value", "told"),
    [("[x](command:y)", "\\[x\\](command:y)"), ("<1>x", "\\<1\\>x"), ("a`b`c", "a\\`b\\`c")],
)
def test_nothing_in_a_text_is_markup(value: str, told: str) -> None:
    text = compose(f"\n      - --model=x/y\n      - --kv-cache-‸dtype\n      - '{value}'")
    assert told in shown("compose.yml", text)


def test_nothing_on_what_belongs_to_no_launch() -> None:
    assert shown("compose.yml", compose(" --model x/y").replace("services", "serv‸ices")) == ""


@pytest.mark.book
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_place_of_every_example_has_an_answer_that_is_about_it(path: Path) -> None:
    analysis = analysed(path.name, path.read_text(encoding="utf-8"))
    told = 0
    for offset in range(len(analysis.source.text) + 1):
        found = hover(analysis, offset)
        if found is not None:
            told += 1
            assert found.span.source is analysis.source
            assert 0 <= found.span.start <= offset <= found.span.end <= len(analysis.source.text)
            assert found.markdown.count("\n") < 40
    assert told
