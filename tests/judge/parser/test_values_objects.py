"""Complaints about JSON objects: keys that a release refuses or passes over."""

from __future__ import annotations

import pytest

import servelint
from servelint.engines.config import configs
from servelint.syntax.json import UNKNOWN
from tests.judge.parser import edits, fixed, in_file, is_safe, kinds, kinds_in, only
from tests.together import together

NEW = """m --speculative-config '{"method":"ngram","num_speculative_tokens":1,"parallel_drafting":true}'"""


def test_a_key_that_the_release_refuses() -> None:
    finding = only("vllm", """m --speculative-config '{"method":"ngram","num_speculative_token":1}'""", "0.27.1")
    assert finding.rule == "vllm/unknown-json-key"
    assert finding.message == "vLLM 0.27.1 has no key num_speculative_token in --speculative-config, and refuses it"
    assert finding.advice == "did you mean num_speculative_tokens?"
    assert (finding.span.text, finding.impact) == ("num_speculative_token", "crash-at-start")
    assert (edits(finding), is_safe(finding)) == ([("num_speculative_token", "num_speculative_tokens")], False)


@pytest.mark.parametrize("words", ["-O3", "-O 0", "-O=2", "-O '{}'"])
@pytest.mark.parametrize("release", ["0.8.5", "0.9.0", "0.10.2", "0.11.1"])
def test_a_level_of_optimization(words: str, release: str) -> None:
    assert kinds("vllm", f"m {words}", release) == []


@pytest.mark.parametrize(
    ("words", "release"),
    [
        ("-O4", "0.9.0"),
        ("-O4", "0.11.1"),
        ("-O 4", "0.8.5"),
        ("-O fast", "0.9.1"),
        ("-O.level=3", "0.8.5"),
        ("-O.level=3", "0.9.1"),
    ],
)
def test_no_level_of_optimization(words: str, release: str) -> None:
    finding = only("vllm", f"m {words}", release)
    assert (finding.rule, finding.span.text) == ("vllm/invalid-json-value", words.removeprefix("-O").strip())
    assert finding.advice == "write a level from 0 to 3, or a JSON object"


def test_a_key_behind_a_dot_before_the_parser_reads_them() -> None:
    finding = only("vllm", "m --rope-scaling.rope_type yarn", "0.8.5")
    assert (finding.rule, finding.fix) == ("vllm/option-not-yet", None)
    assert finding.message == "--rope-scaling.rope_type sets a key of --rope-scaling from vLLM 0.9.0; vLLM 0.8.5 refuses it"
    assert finding.advice == """write --rope-scaling '{"rope_type": ...}', or use vLLM 0.9.0 or later"""
    nested = only("vllm", "m --speculative-config.draft.method=ngram", "0.8.5")
    assert nested.advice.startswith("""write --speculative-config '{"draft": {"method": ...}}', or""")
    assert kinds("vllm", "m --rope-scaling.rope_type yarn", "0.9.0") == []


def test_a_key_that_the_release_passes_over() -> None:
    finding = only("vllm", NEW, "0.11.2")
    assert finding.rule == "vllm/ignored-json-key"
    assert finding.message == ("parallel_drafting of --speculative-config exists from vLLM 0.16.0; vLLM 0.11.2 ignores it")
    assert finding.advice == "delete it, or use vLLM 0.16.0 or later"
    assert (finding.span.text, finding.severity, finding.impact) == ("parallel_drafting", "warning", "silently-ignored")


@pytest.mark.parametrize("release", ["0.16.0", "0.27.1", None])
def test_a_key_of_the_release(release: str | None) -> None:
    assert kinds("vllm", NEW, release) == []


def test_a_key_that_is_like_no_other_is_to_be_deleted() -> None:
    finding = only("vllm", """m --kv-transfer-config '{"zzz": 1}'""", "0.27.1")
    assert (finding.rule, finding.span.text, finding.advice, finding.fix) == (
        "vllm/unknown-json-key",
        "zzz",
        "correct its name, or delete it",
        None,
    )


def test_each_wrong_key_is_told() -> None:
    assert kinds("vllm", """m --speculative-config '{"zzz": 1, "yyy": 2}'""", "0.27.1") == ["unknown-json-key"] * 2


@pytest.mark.parametrize("text", ["--speculative-config.metod mtp", "--speculative-config.metod=mtp", "-sc.metod=mtp"])
def test_a_single_key_is_told(text: str) -> None:
    finding = only("vllm", f"m {text}", "0.27.1")
    assert finding.rule == "vllm/unknown-json-key"
    assert finding.message.startswith("vLLM 0.27.1 has no key metod in ")
    assert "metod" in finding.span.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--speculative-config.metod mtp", "--speculative-config.method mtp"),
        ("--speculative-config.metod=mtp", "--speculative-config.method=mtp"),
    ],
)
def test_a_single_key_is_mended_in_its_place(text: str, expected: str) -> None:
    finding = only("vllm", f"m {text}", "0.27.1")
    assert finding.fix is None or fixed(finding) == f"vllm serve m {expected}"


@pytest.mark.parametrize(
    "text",
    [
        "--speculative-config $SPEC",
        "--speculative-config '{\"method\": \"'$M'\"}'",
        "--speculative-config '{\"'$KEY'\": 1}'",
        "--speculative-config.$KEY 1",
        "--hf-overrides '{\"anything\": 1}'",
        "--speculative-config '{}'",
    ],
)
def test_what_is_not_known_is_left_alone(text: str) -> None:
    assert kinds_in(f"vllm serve m {text}", "run.sh", vllm="0.27.1") == []


def test_a_number_for_an_object() -> None:
    finding = only("vllm", "m --compilation-config 3", "0.27.1")
    assert (finding.rule, finding.message) == (
        "vllm/invalid-json-value",
        "--compilation-config is a single value here; vLLM 0.27.1 takes an object",
    )
    assert kinds_in("vllm serve m -O 2", "run.sh", vllm="0.11.2") == []  # a level, which the parser makes an object of


def test_in_a_block_of_yaml() -> None:
    text = """
        services:
          llm:
            image: vllm/vllm-openai:v0.27.1
            command: >-
              m --speculative-config
              '{"method":"ngram",
                "num_spec_tokens":1}'
    """
    (finding,) = in_file(text)
    assert (finding.rule, finding.span.text, finding.span.source.position(finding.span.start)[0]) == (
        "vllm/unknown-json-key",
        "num_spec_tokens",
        7,
    )


def test_the_last_object_counts() -> None:
    text = """m --speculative-config '{"metod":"x"}' --speculative-config '{"method":"ngram"}'"""
    assert kinds("vllm", text, "0.27.1") == ["repeated-option"]


DASHED = """m --speculative-config '{"method":"ngram","num-speculative-tokens":3,"prompt-lookup-max":4}'"""


def test_dashes_in_a_key_where_the_release_reads_them_as_underscores() -> None:
    assert kinds("vllm", DASHED, "0.33.0") == []
    assert kinds("vllm", DASHED, "0.23.0") == ["unknown-json-key"] * 2


def test_a_key_of_an_object_inside_another() -> None:
    finding = only("vllm", """m --compilation-config '{"pass_config": {"bogus": 1}}'""", "0.33.0")
    assert (finding.rule, finding.span.text) == ("vllm/unknown-json-key", "bogus")
    assert finding.message.startswith("vLLM 0.33.0 has no key bogus in --compilation-config.pass_config")


def test_every_object_that_the_parser_makes_a_config_of_counts() -> None:
    text = """m --kv-events-config '{"zzz": 1}' --kv-events-config '{"publisher": "zmq"}'"""
    assert "unknown-json-key" in kinds("vllm", text, "0.27.1")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("--compilation-config.pass_config.foo true", "unknown-json-key"),
        ("--compilation-config.pass_config.fuse_norm_quant maybe", "invalid-json-value"),
        ("--compilation-config.max_cudagraph_capture_size ''", "invalid-json-value"),
        ("""--compilation-config '{"mode": "3"}'""", "invalid-json-value"),
        ("""--compilation-config '{"cudagraph_mode": "2"}'""", "invalid-json-value"),
    ],
)
def test_a_single_key_is_judged_as_in_an_object(text: str, rule: str) -> None:
    assert kinds("vllm", f"m {text}", "0.33.0") == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "--compilation-config.pass_config.fuse_norm_quant true",
        "--compilation-config.backend ''",
        "--compilation-config.mode 3",
        "--compilation-config.cudagraph_mode full",
        "--compilation-config.custom_ops+ +rms_norm",
        "--attention-config.backend_per_kind.full_attention FLASH_ATTN",
        """--attention-config '{"backend_per_kind": {"full_attention": "FLASH_ATTN"}}'""",
    ],
)
def test_a_single_key_that_the_release_takes(text: str) -> None:
    assert kinds("vllm", f"m {text}", "0.33.0") == []


def test_an_object_that_single_keys_replace() -> None:
    """FlexibleArgumentParser appends the object of all single keys, and the last object counts."""
    beside = """m --speculative-config '{"zzz": 1}' --speculative-config.method ngram -sc.num_speculative_tokens 2"""
    assert kinds("vllm", beside, "0.27.1") == []
    lost = servelint.find_launches(
        """vllm serve m --speculative-config '{"method": "mtp"}' -sc.num_speculative_tokens 2""", "run.sh"
    )
    (config,) = configs(lost[0], ["0.27.1"])
    assert config.operand("speculative-config.method").present is False
    assert config.operand("speculative-config.num_speculative_tokens").value == 2


def test_the_object_that_single_keys_make() -> None:
    text = "vllm serve m -cc.pass_config.a 1 --compilation-config.pass_config.b x -cc.custom_ops+ y -cc.mode $MODE"
    (config,) = configs(servelint.find_launches(text, "run.sh")[0], ["0.33.0"])
    node = config.reading.parsed("compilation-config")
    assert node is not None
    assert node.open
    inner = node.members["pass_config"][1].members
    assert {key: value.value for key, (_, value) in inner.items()} == {"a": 1, "b": "x"}
    assert [node.members[key][1].kind for key in ("custom_ops", "mode")] == [UNKNOWN, UNKNOWN]


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("""--kv-events-config '{"publisher": null}'""", "0.27.1"),
        ("--kv-events-config.publisher null", "0.27.1"),
        ("""--compilation-config '{"cudagraph_mode": {"mode": "FULL"}}'""", "0.12.0"),
        ("--kv-transfer-config null", "0.25.1"),
    ],
)
def test_null_and_objects_where_a_field_takes_none(text: str, release: str) -> None:
    assert kinds("vllm", f"m {text}", release) == ["invalid-json-value"]


def test_null_where_a_field_takes_it() -> None:
    assert kinds("vllm", "m --speculative-config null", "0.27.1") == []
    assert kinds("vllm", """m --kv-transfer-config '{"kv_connector": null}'""", "0.21.0") == []


@pytest.mark.parametrize("text", ["-sc.num-speculative-tokens 2", """--speculative-config '{"num-speculative-tokens": 2}'"""])
def test_a_key_with_dashes_is_the_operand_with_underscores(text: str) -> None:
    launch = servelint.find_launches(f"vllm serve m {text}", "run.sh")[0]
    found = [one.operand("speculative-config.num_speculative_tokens").value for one in configs(launch, ["0.25.1", "0.33.0"])]
    assert found[-1] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            """m --override-generation-config '[{"a":1}]'""",
            "--override-generation-config is a list here; vLLM 0.33.0 takes an object",
        ),
        ("m --limit-mm-per-prompt 3", "--limit-mm-per-prompt is a single value here; vLLM 0.33.0 takes an object"),
        (
            """m --media-io-kwargs '{"video": true}'""",
            "video of --media-io-kwargs is not an object; vLLM 0.33.0 does not start",
        ),
        (
            """m --model-class-overrides '{"x": true}'""",
            "x of --model-class-overrides is not a string; vLLM 0.33.0 does not start",
        ),
        (
            """m --ir-op-priority '{"rms_norm": [1]}'""",
            "rms_norm of --ir-op-priority has 1 in its list; vLLM 0.33.0 takes a text there",
        ),
        (
            """m --compilation-config '{"splitting_ops": ["a", 2]}'""",
            "splitting_ops of --compilation-config has 2 in its list; vLLM 0.33.0 takes a text there",
        ),
    ],
)
def test_dictionaries_and_lists_of_texts(text: str, message: str) -> None:
    finding = only("vllm", text, "0.33.0")
    assert (finding.rule, finding.message) == ("vllm/invalid-json-value", message)


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("""m --override-generation-config '{"a":1}'""", "0.33.0"),
        ("m --mm-processor-kwargs null", "0.33.0"),
        ("""m --media-io-kwargs '{"video": {}}'""", "0.33.0"),
        ("""m --override-generation-config '[1]' --override-generation-config '{}'""", "0.33.0"),
        ("""m --override-generation-config '[1]'""", "0.9.2"),
        ("m --rope-scaling null", "0.9.2"),
        ("""m --ir-op-priority '{"rms_norm": ["native"]}'""", "0.33.0"),
    ],
)
def test_what_the_config_classes_take(text: str, release: str) -> None:
    assert "invalid-json-value" not in kinds("vllm", text, release)


def test_a_name_that_is_empty() -> None:
    finding = only("vllm", "m --served-model-name ''", "0.33.0")
    assert (finding.rule, finding.message) == (
        "vllm/invalid-value",
        "--served-model-name is empty; vLLM 0.33.0 does not start",
    )
    assert finding.advice == "write a value, or delete --served-model-name"
    assert kinds("vllm", "m --served-model-name ''", "0.9.2") == []


@together(
    "words, release, is_refused",
    [
        ('--compilation-config \'{"custom_ops": "all"}\'', "0.33.0", True),
        ('-cc \'{"cudagraph_capture_sizes": "1,2"}\'', "0.17.1", True),
        ("--compilation-config.custom_ops all", "0.25.1", True),
        ("--compilation-config.custom_ops+ all", "0.25.1", False),
        ('--compilation-config \'{"custom_ops": ["all"]}\'', "0.33.0", False),
        ('--compilation-config \'{"custom_ops": "all"}\'', "0.10.0", True),
        ('--compilation-config \'{"custom_ops": "all"}\'', "0.9.2", False),
    ],
)
def test_a_text_is_no_list_of_the_compiler(words: str, release: str, is_refused: bool) -> None:
    """As 0.10.0, 0.11.2, 0.17.1, 0.25.1 and 0.33.0 answer; no validator of CompilationConfig splits a text."""
    assert ("invalid-json-value" in kinds("vllm", f"m {words}", release)) == is_refused


@together(
    "words, release, is_refused",
    [
        ("--served-model-name None", "0.33.0", True),
        ("--served-model-name None", "0.11.2", True),
        ("--served-model-name none", "0.33.0", False),
        ("--logits-processors ''", "0.25.1", True),
        ("--logits-processors a:B None", "0.33.0", True),
        ("--logits-processors a:B", "0.33.0", False),
        ("--allowed-media-domains None", "0.11.2", True),
        ("--allowed-media-domains null", "0.11.2", False),
        ("--numa-bind-nodes ''", "0.31.0", True),
        ("--numa-bind-nodes 0 1", "0.31.0", False),
        ("--numa-bind-cpus None", "0.33.0", True),
        ("--collect-detailed-traces None --otlp-traces-endpoint http://c:4317", "0.31.0", True),
        ("--collect-detailed-traces all --otlp-traces-endpoint http://c:4317", "0.31.0", False),
        ("--api-key ''", "0.33.0", False),
        ("--lora-target-modules None", "0.33.0", False),
    ],
)
def test_none_and_nothing_unset_no_list(words: str, release: str, is_refused: bool) -> None:
    """As the configuration of these releases has it: `None` becomes an element of the list."""
    assert ("invalid-value" in kinds("vllm", f"m {words}", release)) == is_refused


_FILE = "cat > a.yaml <<EOF\n{}\nEOF\n{}\n"


@pytest.mark.parametrize(
    "command",
    ["trtllm-serve m --extra_llm_api_options a.yaml", "python3 -m dynamo.trtllm --model m --extra-engine-args a.yaml"],
)
@pytest.mark.parametrize(
    ("release", "severity", "says"),
    [
        ("1.1.0", "error", "TensorRT-LLM 1.1.0 has no key padding_enabled in {}.cuda_graph_config, and refuses it"),
        ("1.1.0rc2", "error", "TensorRT-LLM 1.1.0rc2 has no key padding_enabled in {}.cuda_graph_config, and refuses it"),
        # its package has no classes: what the releases about it refuse alike
        (
            "1.1.0rc5",
            "warning",
            "padding_enabled of {}.cuda_graph_config is a key of neither {engine} 1.0.0 nor 1.1.0, and {at} is between them",
        ),
    ],
)
def test_a_key_of_the_file_of_tensorrt_llm(command: str, release: str, severity: str, says: str) -> None:
    text = _FILE.format("cuda_graph_config:\n  padding_enabled: true\nkv_cache_config:\n  dtype: fp8", command)
    (finding,) = [one for one in in_file(text, "run.sh", trtllm=release) if one.rule == "trtllm/unknown-json-key"]
    assert (finding.severity, finding.span.text) == (severity, "padding_enabled")
    assert finding.message == says.format("--extra_llm_api_options", engine="TensorRT-LLM", at="TensorRT-LLM " + release)


def test_a_key_of_a_file_for_a_release_after_all_known_ones() -> None:
    text = _FILE.format("anything: 1", "trtllm-serve m --extra_llm_api_options a.yaml")
    (finding,) = [one for one in in_file(text, "run.sh", trtllm="1.4.0rc1") if one.rule == "trtllm/unknown-json-key"]
    assert (finding.severity, finding.span.text) == ("warning", "anything")
    assert finding.assumption.startswith("TensorRT-LLM 1.4.0rc1 is newer than every release")


@pytest.mark.parametrize("release", ["0.20.0", "1.0.0rc6"])
def test_a_key_that_one_of_the_releases_about_it_may_have(release: str) -> None:
    text = _FILE.format("kv_cache_dtype: fp8\nanything: 1\nmax_batchsize: 8", "trtllm-serve m --extra_llm_api_options a.yaml")
    names = [one.span.text for one in in_file(text, "run.sh", trtllm=release) if one.rule == "trtllm/unknown-json-key"]
    assert names == (["max_batchsize"] if release == "1.0.0rc6" else [])


@pytest.mark.parametrize(
    ("content", "refused_by"),
    [
        ("moe_config:\n  backend: AUTO", {"1.1.0", "1.2.0"}),
        ("moe_config:\n  use_low_precision_moe_combine: true", {"1.1.0"}),
        ("kv_cache_config:\n  use_kv_cache_manager_v2: true", {"1.1.0", "1.2.0"}),
        ("cache_transceiver_config:\n  backend: MOONCAKE", {"1.1.0"}),
        ("cache_transceiver_config:\n  backend: nixl", {"1.1.0", "1.2.0", "1.3.0rc3"}),
        ("cache_transceiver_config:\n  kv_transfer_timeout_ms: 500", {"1.1.0"}),
        ("torch_compile_config:\n  capture_num_tokens: [1, 2]", set()),
        ("torch_compile_config:\n  capture_num_tokens: 8", {"1.1.0", "1.2.0", "1.3.0rc3"}),
        ("attention_dp_config:", {"1.1.0", "1.2.0", "1.3.0rc3"}),
        ("enable_mixed_sampler: true", {"1.1.0", "1.2.0", "1.3.0rc3"}),
        ("sampler_type: TorchSampler", set()),
        ("perf_metrics_max_requests: 8", set()),
    ],
)
def test_keys_and_values_of_objects_by_release(content: str, refused_by: set[str]) -> None:
    text = _FILE.format(content, "trtllm-serve m --extra_llm_api_options a.yaml")
    found = {one: [each.rule for each in in_file(text, "run.sh", trtllm=one)] for one in ("1.1.0", "1.2.0", "1.3.0rc3")}
    assert {one for one, rules in found.items() if rules} == refused_by, found


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ("1.2.0", ["model_kwargs", "kv_connector"]),
        # of a candidate only what the next release's candidate refuses too: it may be cut after the branch of the release
        ("1.2.0rc8", ["kv_connector"]),
        ("1.2.1", ["kv_connector"]),
    ],
)
def test_a_candidate_may_have_what_comes_after_its_release(release: str, names: list[str]) -> None:
    text = _FILE.format("model_kwargs:\n  a: 1\nkv_connector: b", "trtllm-serve m --extra_llm_api_options a.yaml")
    assert [one.span.text for one in in_file(text, "run.sh", trtllm=release) if one.rule == "trtllm/unknown-json-key"] == names


def test_the_items_of_a_list_have_the_type_of_the_field() -> None:
    cases = (
        ('{"cudagraph_capture_sizes": [1, "a"]}', True),
        ('{"cudagraph_capture_sizes": [1, "2", true]}', False),
        ('{"cudagraph_capture_sizes": [1, null]}', True),
        ('{"compile_sizes": [1, "cudagraph_capture_sizes"]}', False),
        ('{"compile_sizes": [[1]]}', True),
    )  # as vLLM 0.33.0 itself decides them
    wrong = []
    for text, refused in cases:
        if (kinds("vllm", f"m --compilation-config '{text}'", "0.33.0") == ["invalid-json-value"]) is not refused:
            wrong.append(text)
    assert wrong == []


def test_click_converts_the_last_value_of_an_option() -> None:
    assert "invalid-choice" not in kinds("trtllm", "a/b --tool_parser x --tool_parser qwen3", "1.3.0rc3")
    assert "invalid-choice" in kinds("trtllm", "a/b --tool_parser qwen3 --tool_parser x", "1.3.0rc3")


@together(
    "value, release, is_refused",
    [
        ("4", "b9733", True),
        ("4", "b9837", True),
        ("true", "b9837", True),
        ("'[1]'", "b9837", True),
        ("'[]'", "b9837", False),
        ("'[]'", "b10878", False),
        ("'[]'", "b11076", True),
        ("null", "b9837", False),
        ("'{}'", "b11434", False),
        ("4", "b9725", False),
    ],
)
def test_a_json_schema_of_llama_cpp_is_an_object(value: str, release: str, is_refused: bool) -> None:
    """As the parsers of b9733 and b9837 answer ("Unrecognized schema"); b9725 is not known, and b11076 takes no empty list."""
    assert ("invalid-json-value" in kinds("llama.cpp", f"-m m.gguf -j {value}", release)) == is_refused
