"""The commands of the adviser: what it writes, why, and what it refuses."""

from __future__ import annotations

from functools import lru_cache

import pytest

from servelint import Settings, check_command, find_launches
from servelint.advise.commands import Refused, ServeCommand, ServeOptions, serve_command, sglang_mtp_command, vllm_mtp_command
from servelint.engines.releases import known_releases
from servelint.models import catalog as models
from servelint.models import types_of
from servelint.speculation.drafts import OwnDrafts, first_release, own_drafts
from tests.launching import argv
from tests.together import together

HYBRID = "Qwen/Qwen3.6-27B"
DENSE = "Qwen/Qwen3-8B"
NEMOTRON = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8"
FIRST = {"vllm": "0.11.2", "sglang": "0.5.2"}


@lru_cache(maxsize=1)
def drafting() -> list[str]:
    """The checkpoints that are known to have layers for multi-token prediction."""
    names = [name for name in models.known_names() if (known := models.lookup(name)) is not None and known.draft is None]
    return [name for name in names if own_drafts(name).layers]


def written(command: ServeCommand) -> dict[str, str]:
    """What was written beyond what was asked for, by the rule that asks for it."""
    return {note.rule: note.written for note in command.notes if note.written}


class TestWhatIsWritten:
    def test_vllm(self) -> None:
        assert vllm_mtp_command(HYBRID, 2, "0.33.0", gpu_count=2, max_model_len=65536, max_num_seqs=64).command == (
            f"vllm serve {HYBRID} --tensor-parallel-size 2 --max-model-len 65536 --max-num-seqs 64"
            """ --speculative-config '{"method":"mtp","num_speculative_tokens":2}'"""
        )

    def test_sglang(self) -> None:
        assert sglang_mtp_command(HYBRID, 3, "0.5.23", gpu_count=2, max_model_len=65536, max_num_seqs=64).command == (
            f"python -m sglang.launch_server --model-path {HYBRID} --tp-size 2 --context-length 65536 --max-running-requests 64"
            " --speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1"
            " --speculative-num-draft-tokens 4"
        )

    def test_llama_cpp(self) -> None:
        made = serve_command("llama.cpp", "unsloth/Qwen3.6-27B-MTP-GGUF:Q4_K_M", "mtp", num_speculative_tokens=2, gpu_count=2)
        assert made.command == (
            "llama-server --hf-repo unsloth/Qwen3.6-27B-MTP-GGUF:Q4_K_M --spec-type draft-mtp --spec-draft-n-max 2"
        )
        assert made.notes == ()
        made = serve_command(
            "llama.cpp", "/m/gpt-oss-120b.gguf", "eagle3", draft="x/y-GGUF", max_model_len=8192, release="b9310"
        )
        assert made.argv == (
            "--model", "/m/gpt-oss-120b.gguf", "--ctx-size", "8192",
            "--spec-type", "draft-eagle3", "--spec-draft-hf", "x/y-GGUF", "--spec-draft-n-max", "1",
        )  # fmt: skip

    def test_a_file_that_may_lack_the_tensors_of_the_draft(self) -> None:
        made = serve_command("llama.cpp", "unsloth/Qwen3.8-27B-GGUF:Q4_K_M", "mtp")
        (note,) = made.notes
        assert note.text == (
            "servelint does not know whether unsloth/Qwen3.8-27B-GGUF:Q4_K_M holds the draft's tensors (nextn);"
            " without them it does not start"
        )

    @pytest.mark.parametrize("engine", ["vllm", "sglang"])
    def test_without_drafts(self, engine: str) -> None:
        made = serve_command(engine, DENSE)
        assert (made.method, made.tokens, made.notes, made.env) == (None, 0, (), {})
        assert "speculative" not in made.command
        assert made.release == known_releases(engine)[-1]

    def test_a_draft_of_its_own(self) -> None:
        draft = "RedHatAI/Qwen3-8B-speculator.eagle3"
        made = serve_command("vllm", DENSE, "eagle3", draft=draft, num_speculative_tokens=3)
        assert made.argv[-1] == f'{{"method":"eagle3","model":"{draft}","num_speculative_tokens":3}}'
        made = serve_command("sglang", DENSE, "eagle3", draft=draft, num_speculative_tokens=3)
        assert made.argv[2:6] == ("--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", draft)

    def test_a_block_of_dflash_is_its_drafts(self) -> None:
        made = serve_command("sglang", DENSE, "dflash", draft="z-lab/Qwen3-8B-DFlash", num_speculative_tokens=15)
        assert made.argv[2:] == ("--speculative-algorithm", "DFLASH", "--speculative-draft-model-path", "z-lab/Qwen3-8B-DFlash")

    @pytest.mark.parametrize(
        ("release", "method"),
        [("0.10.1", "deepseek_mtp"), ("0.11.2", "mtp")],
    )
    def test_the_method_by_the_name_of_the_release(self, release: str, method: str) -> None:
        made = vllm_mtp_command("deepseek-ai/DeepSeek-V3", 1, release, gpu_count=4)
        assert f'"method":"{method}"' in made.argv[-1]

    def test_more_words(self) -> None:
        assert serve_command("vllm", DENSE, arguments=["--port", "9000"]).argv == (DENSE, "--port", "9000")

    @pytest.mark.parametrize("engine", ["vllm", "sglang"])
    @pytest.mark.parametrize("model", [HYBRID, "./models/my model"])
    def test_the_line_is_read_as_what_it_was_made_of(self, engine: str, model: str) -> None:
        release = "0.5.10" if engine == "sglang" else "0.31.0"
        made = serve_command(engine, model, "mtp", release=release, num_speculative_tokens=2)
        (launch,) = find_launches(made.command, "run.sh")
        assert (launch.engine, tuple(argv(launch))) == (engine, made.argv)
        assert {name: variable.value.value for name, variable in launch.env.items() if variable.value} == made.env


@pytest.mark.parametrize(
    ("release", "renamed", "old"), [("0.5.12", False, True), ("0.5.15", True, True), ("0.5.23", True, False)]
)
def test_whether_a_release_has_an_option(release: str, renamed: bool, old: bool) -> None:
    options = ServeOptions("sglang", DENSE, release, None, None, ())
    assert options.has("mamba-radix-cache-strategy") is renamed
    assert options.has("mamba-scheduler-strategy") is old


class TestWhatTheReleaseNeeds:
    @pytest.mark.parametrize(
        ("release", "option"),
        [
            ("0.5.9", "--mamba-scheduler-strategy"),
            ("0.5.10", "--mamba-scheduler-strategy"),
            ("0.5.13.post1", "--mamba-scheduler-strategy"),
            ("0.5.14", None),
        ],
    )
    def test_a_buffer_for_the_states_of_a_hybrid_model(self, release: str, option: str | None) -> None:
        words = sglang_mtp_command(HYBRID, 3, release).argv
        assert (f"{option} extra_buffer" in " ".join(words)) == (option is not None)
        assert "--disable-radix-cache" not in words

    @pytest.mark.parametrize(
        ("release", "words"),
        [
            ("0.5.9", ("--disable-radix-cache",)),
            ("0.5.12", ("--disable-radix-cache",)),
            ("0.5.13", ("--mamba-scheduler-strategy", "extra_buffer")),
            ("0.5.14", ("--speculative-num-draft-tokens", "4")),
        ],
    )
    def test_nemotron_h_has_no_buffer_before_0_5_13(self, release: str, words: tuple[str, ...]) -> None:
        made = sglang_mtp_command(NEMOTRON, 3, release, gpu_count=4)
        assert made.argv[-len(words) :] == words

    @pytest.mark.parametrize(
        ("release", "worth"),
        [("0.5.4", 0), ("0.5.4.post1", 1), ("0.5.10.post1", 1), ("0.5.11", 0), ("0.5.14", 0), ("0.5.23", 0)],
    )
    def test_the_second_worker_where_it_is_worth_setting(self, release: str, worth: int) -> None:
        made = sglang_mtp_command("deepseek-ai/DeepSeek-V3", 3, release, gpu_count=8)
        assert made.env == ({"SGLANG_ENABLE_SPEC_V2": "1"} if worth else {})
        assert made.command.startswith("SGLANG_ENABLE_SPEC_V2=1 python -m " if worth else "python -m ")

    @pytest.mark.parametrize(("gpu", "backend"), [(None, "triton"), ("h200", "fa3"), ("b200", "triton")])
    def test_an_attention_backend_for_the_gpu(self, gpu: str | None, backend: str) -> None:
        model = "meta-llama/Llama-4-Scout-17B-16E-Instruct"
        made = serve_command("sglang", model, release="0.5.5", gpu=gpu, gpu_count=8, max_model_len=65536)
        assert written(made)["sglang/llama4-needs-attention-backend"] == f"--attention-backend {backend}"
        assert "--attention-backend" not in serve_command("sglang", model, release="0.5.6").argv

    def test_deepseek_v4_takes_the_word_eagle_alone(self) -> None:
        made = sglang_mtp_command("deepseek-ai/DeepSeek-V4-Flash", 1, "0.5.23", gpu_count=4)
        assert made.argv[4:8] == ("--speculative-algorithm", "EAGLE", "--speculative-num-steps", "1")
        assert written(made) == {"sglang/deepseek-v4-wants-eagle": "--speculative-algorithm EAGLE"}

    @pytest.mark.parametrize(
        ("release", "rules"),
        [
            ("0.27.1", set()),  # off by default
            ("0.28.0", {"vllm/hybrid-mtp-prefix-caching", "vllm/hybrid-mtp-drops-cached-block"}),
            ("0.32.0", {"vllm/hybrid-mtp-drops-cached-block"}),
            ("0.33.0", set()),
        ],
    )
    def test_prefix_caching_of_a_hybrid_model(self, release: str, rules: set[str]) -> None:
        made = vllm_mtp_command(HYBRID, 2, release)
        assert {note.rule for note in made.notes} == rules
        assert ("--no-enable-prefix-caching" in made.argv) == bool(rules)

    def test_the_worst_is_told_first_with_its_evidence(self) -> None:
        first = vllm_mtp_command(HYBRID, 2, "0.28.0").notes[0]
        assert (first.rule, first.written) == ("vllm/hybrid-mtp-prefix-caching", "--no-enable-prefix-caching")
        assert any("issues/53912" in source for source in first.evidence)

    def test_prefix_caching_that_is_to_stay(self) -> None:
        made = vllm_mtp_command(HYBRID, 2, "0.32.0", prefix_caching=True)
        assert "--enable-prefix-caching" in made.argv
        assert '"disable_eagle_block_drop":true' in made.argv[-1]
        with pytest.raises(Refused, match="corrupts the output"):
            vllm_mtp_command(HYBRID, 2, "0.28.0", prefix_caching=True)
        with pytest.raises(Refused, match="radix cache"):
            sglang_mtp_command(NEMOTRON, 3, "0.5.12", gpu_count=4, prefix_caching=True)

    def test_prefix_caching_that_is_to_go(self) -> None:
        assert "--disable-radix-cache" in sglang_mtp_command(HYBRID, 3, "0.5.12", prefix_caching=False).argv
        assert "--no-enable-prefix-caching" in vllm_mtp_command(HYBRID, 2, prefix_caching=False).argv

    def test_code_of_the_repository_runs_only_where_that_is_allowed(self) -> None:
        with pytest.raises(Refused, match="--trust-remote-code"):
            vllm_mtp_command("XiaomiMiMo/MiMo-7B-Base")
        made = vllm_mtp_command("XiaomiMiMo/MiMo-7B-Base", trust_remote_code=True)
        assert written(made) == {"vllm/config-needs-remote-code": "--trust-remote-code"}
        assert "--trust-remote-code" not in vllm_mtp_command(HYBRID, trust_remote_code=True).argv
        assert "--trust-remote-code" in sglang_mtp_command("XiaomiMiMo/MiMo-7B-Base", trust_remote_code=True).argv


class TestOnAGpu:
    def test_a_context_that_fits(self) -> None:
        made = vllm_mtp_command("zai-org/GLM-5.3-FP8", 1, "0.33.0", gpu="b200", gpu_count=8)
        length = int(made.argv[made.argv.index("--max-model-len") + 1])
        assert 100_000 < length < 1_048_576
        with pytest.raises(Refused, match="KV cache"):
            vllm_mtp_command("zai-org/GLM-5.3-FP8", 1, "0.33.0", gpu="b200", gpu_count=8, max_model_len=1_048_576)

    def test_weights_that_do_not_fit(self) -> None:
        with pytest.raises(Refused, match="does not start on l4: its weights take"):
            vllm_mtp_command(HYBRID, gpu="l4")

    def test_what_drafting_costs_is_told(self) -> None:
        made = sglang_mtp_command(HYBRID, 3, "0.5.12", gpu="gb10")
        assert [note.rule for note in made.notes if not note.written] == ["sglang/drafts-take-kv-cache"]


class TestRefused:
    @pytest.mark.parametrize(
        ("engine", "model", "release", "why"),
        [
            ("vllm", DENSE, "0.33.0", "has no layer for multi-token prediction"),
            ("vllm", HYBRID, "0.16.0", "use vLLM 0.17.0 or later"),
            ("sglang", HYBRID, "0.5.8", "use SGLang 0.5.9 or later"),
            ("vllm", "MiniMaxAI/MiniMax-M2", "0.33.0", "no release of vLLM that is known drafts"),
            ("sglang", "nvidia/MiniMax-M3-NVFP4", "0.5.23", "no release of SGLang that is known drafts"),
            ("vllm", "stepfun-ai/Step-3.5-Flash", "0.33.0", "not a multiple of this model's 3 MTP layers"),
        ],
    )
    def test_with_the_reason(self, engine: str, model: str, release: str, why: str) -> None:
        with pytest.raises(Refused, match=why) as caught:
            serve_command(engine, model, "mtp", release=release, num_speculative_tokens=5)
        assert (caught.value.engine, caught.value.release, caught.value.model) == (engine, release, model)
        assert len(caught.value.reasons) == 1

    def test_a_model_that_the_release_cannot_load(self) -> None:
        with pytest.raises(Refused, match="came with vLLM") as caught:
            serve_command("vllm", HYBRID, release="0.11.2")
        assert caught.value.reasons[0].rule == "vllm/model-too-new"

    def test_a_build_and_a_model_without_layers_for_drafts(self) -> None:
        with pytest.raises(Refused, match="b9101 has no multi-token prediction; use build b9180 or later"):
            serve_command("llama.cpp", "unsloth/Qwen3.8-27B-GGUF:Q4_K_M", "mtp", release="b9101")
        with pytest.raises(Refused, match="has no layer for multi-token prediction"):
            serve_command("llama.cpp", "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M", "mtp")

    def test_a_method_that_came_later(self) -> None:
        with pytest.raises(Refused, match="dflash"):
            serve_command("vllm", DENSE, "dflash", release="0.19.1", draft="z-lab/Qwen3-8B-DFlash")
        with pytest.raises(Refused, match="DFLASH"):
            serve_command("sglang", DENSE, "dflash", release="0.5.10", draft="z-lab/Qwen3-8B-DFlash")

    def test_words_that_cannot_go_with_drafts(self) -> None:
        with pytest.raises(Refused, match="turboquant_k8v4"):
            vllm_mtp_command(HYBRID, 2, "0.33.0", arguments=["--kv-cache-dtype", "turboquant_k8v4"])

    def test_heads_that_cannot_be_divided(self) -> None:
        with pytest.raises(Refused, match="does not divide the 20 attention heads"):
            vllm_mtp_command("zai-org/GLM-4.7-Flash", gpu_count=8)

    def test_an_unknown_model_is_not_refused(self) -> None:
        (note,) = vllm_mtp_command("acme/unheard-of").notes
        assert note.text.startswith("servelint does not know whether acme/unheard-of has layers for multi-token prediction")


@together(
    "asked, error",
    [
        ({"engine": "tgi"}, "no command for the engine 'tgi'; use one of vllm, sglang"),
        ({"release": "newest"}, '"newest" is not a release of'),
        ({"model": ""}, "'' is not a model"),
        ({"model": "--port"}, "'--port' is not a model"),
        ({"method": "medusa"}, "'medusa' is not a method; use one of mtp, eagle3, dflash"),
        ({"num_speculative_tokens": 0}, "0 draft tokens"),
        ({"method": "eagle3"}, "eagle3 needs the draft model"),
        ({"draft": "x/y"}, "the draft 'x/y' is for eagle3 or dflash"),
        ({"gpu": "abacus"}, "'abacus' is not a known GPU"),
        ({"gpu_count": 0}, "0 GPUs"),
        (
            {"engine": "llama.cpp"},
            "llama.cpp reads GGUF files only; name one, or a repository with one, in place of Qwen/Qwen3.6-27B",
        ),
    ],
)
def test_wrong_parameters(asked: dict[str, object], error: str) -> None:
    engine, model, method = (
        str(asked.pop(key, given)) for key, given in (("engine", "vllm"), ("model", HYBRID), ("method", "mtp"))
    )
    with pytest.raises(ValueError, match=error) as caught:
        serve_command(engine, model, method, **asked)  # type: ignore[arg-type]
    assert not isinstance(caught.value, Refused)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("end", ["oldest", "newest"])
def test_every_model_gets_a_clean_command_or_a_reason(engine: str, end: str) -> None:
    release = FIRST[engine] if end == "oldest" else known_releases(engine)[-1]
    made, refused = 0, 0
    for model in drafting():
        try:
            command = serve_command(
                engine, model, "mtp", release=release, num_speculative_tokens=3, gpu_count=4, trust_remote_code=True
            )
        except Refused as without:
            refused += bool(without.reasons)
            continue
        made += 1
        settings = Settings(gpu_count=4)
        assert check_command(engine, list(command.argv), release, command.env, settings) == [], command.command
    assert made + refused == len(drafting())
    assert made > (80 if end == "newest" else 10)


DRAFTING_SINCE = {
    "vllm": {
        "BailingMoeV2_5ForCausalLM": "0.25.0", "BailingMoeV3ForCausalLM": "0.28.0", "DeepseekV3ForCausalLM": "0.7.3",
        "DeepseekV32ForCausalLM": "0.11.0", "DeepseekV4ForCausalLM": "0.20.0", "Ernie4_5_MoeForCausalLM": "0.10.2",
        "Glm4MoeForCausalLM": "0.10.0", "Glm4MoeLiteForCausalLM": "0.15.0", "GlmMoeDsaForCausalLM": "0.16.0",
        "HYV3ForCausalLM": "0.20.0", "KimiK3ForConditionalGeneration": "0.27.0", "MiMoForCausalLM": "0.9.2",
        "MiMoV2FlashForCausalLM": "0.21.0", "MiniMaxM3SparseForConditionalGeneration": "0.24.0",
        "NemotronHForCausalLM": "0.17.0", "Qwen3NextForCausalLM": "0.10.2", "Qwen3_5ForConditionalGeneration": "0.17.0",
        "Qwen3_5MoeForConditionalGeneration": "0.17.0", "Step3p5ForCausalLM": "0.15.1",
        "Step3p7ForConditionalGeneration": "0.23.0",
    },
    "sglang": {
        "BailingMoeForCausalLM": "0.5.3rc0", "BailingMoeV2ForCausalLM": "0.5.3rc0", "BailingMoeV2_5ForCausalLM": "0.5.9",
        "BailingMoeV3ForCausalLM": "0.5.19", "DeepseekV3ForCausalLM": "0.4.3.post1", "DeepseekV32ForCausalLM": "0.5.3rc2",
        "DeepseekV4ForCausalLM": "0.5.12", "Ernie4_5_MoeForCausalLM": "0.5.0rc0", "ExaoneMoEForCausalLM": "0.5.9",
        "Glm4MoeForCausalLM": "0.4.9.post5", "Glm4MoeLiteForCausalLM": "0.5.8", "GlmMoeDsaForCausalLM": "0.5.9",
        "HYV3ForCausalLM": "0.5.11", "LongcatFlashForCausalLM": "0.5.2rc0", "MiMoForCausalLM": "0.4.6.post5",
        "MiMoV2FlashForCausalLM": "0.5.7", "NemotronHForCausalLM": "0.5.8", "Qwen3NextForCausalLM": "0.5.2",
        "Qwen3_5ForConditionalGeneration": "0.5.9", "Qwen3_5MoeForConditionalGeneration": "0.5.9",
        "Step3p5ForCausalLM": "0.5.9", "Step3p7ForConditionalGeneration": "0.5.13",
    },
}  # fmt: skip
"""The first release that drafts for an architecture, as it was run (vLLM) and read (SGLang) release by release."""


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_first_release_that_drafts_for_a_model(engine: str) -> None:
    since = DRAFTING_SINCE[engine]
    assert {name: first_release(engine, OwnDrafts(name, True, types_of(name))) for name in since} == since


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_no_release_drafts_for_a_model_whose_layers_it_does_not_read(engine: str) -> None:
    assert first_release(engine, OwnDrafts("MiniMaxM2ForCausalLM", True, frozenset({"minimax_m2"}))) is None
