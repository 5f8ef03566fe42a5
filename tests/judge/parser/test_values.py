"""Complaints about the values of options: choices, kinds, JSON, and options that stop the start."""

from __future__ import annotations

import pytest

from tests.judge.parser import edits, fixed, in_file, is_safe, kinds, kinds_in, only
from tests.reporting import findings_in
from tests.together import together


class TestChoices:
    @together(
        "engine, release, text, value, message",
        [
            (
                "vllm",
                "0.27.1",
                "m --kv-cache-dtype int3",
                "int3",
                '"int3" is not a valid value for --kv-cache-dtype in vLLM 0.27.1',
            ),
            (
                "vllm",
                "0.27.1",
                "m --kv-cache-dtype=int3",
                "int3",
                '"int3" is not a valid value for --kv-cache-dtype in vLLM 0.27.1',
            ),
            (
                "sglang",
                "0.5.12",
                "--model-path m --kv-cache-dtype fp8",
                "fp8",
                '"fp8" is not a valid value for --kv-cache-dtype in SGLang 0.5.12',
            ),
            ("lmdeploy", "0.18.0", "m --backend vllm", "vllm", '"vllm" is not a valid value for --backend in LMDeploy 0.18.0'),
            (
                "llama.cpp",
                "b11434",
                "-m m.gguf --cache-type-k q9",
                "q9",
                '"q9" is not a valid value for --cache-type-k in llama.cpp b11434',
            ),
            (
                "llama.cpp",
                "b3995",
                "-m m.gguf -ctk q5_9",
                "q5_9",
                '"q5_9" is not a valid value for -ctk in llama.cpp b3995',
            ),
            (
                "lmdeploy",
                "0.14.0",
                "m --quant-policy ''",
                "''",
                '"" is not a valid value for --quant-policy in LMDeploy 0.14.0',
            ),
            ("vllm", "0.27.1", "m --dtype ''", "''", '"" is not a valid value for --dtype in vLLM 0.27.1'),
        ],
    )
    def test_are_told_where_the_value_stands(self, engine: str, release: str, text: str, value: str, message: str) -> None:
        finding = only(engine, text, release)
        assert finding.rule.partition("/")[2] == "invalid-choice"
        assert (finding.message, finding.span.text) == (message, value)
        assert (finding.severity, finding.impact) == ("error", "crash-at-start")
        assert finding.advice.startswith("choose from ")

    def test_name_the_release_that_has_the_value(self) -> None:
        finding = only("vllm", "m --kv-cache-dtype turboquant_k8v4", "0.19.1")
        assert finding.message.endswith("in vLLM 0.19.1; it exists from vLLM 0.20.0")
        assert finding.advice.endswith("or use vLLM 0.20.0 or later")
        assert finding.fix is None

    def test_name_no_release_where_the_choices_of_those_between_are_not_known(self) -> None:
        finding = only("vllm", "m --enable-auto-tool-choice --tool-call-parser llama3_json", "0.6.2")
        assert finding.message.endswith("in vLLM 0.6.2")
        assert finding.advice == "choose from mistral or hermes"

    @pytest.mark.parametrize("text", ["m --kv-cache-dtype turboquant_k8v4", "m --kv-cache-dtype fp8"])
    def test_of_the_release_are_taken(self, text: str) -> None:
        assert kinds("vllm", text, "0.27.1") == []

    def test_a_long_list_is_cut(self) -> None:
        advice = only("vllm", "m --kv-cache-dtype int3", "0.27.1").advice
        assert advice.count(",") < 8
        assert advice.endswith(" more")

    @pytest.mark.parametrize(
        ("text", "edit"),
        [
            ("--model-path m --kv-cache-dtype fp8_e5m3", ("fp8_e5m3", "fp8_e5m2")),
            ("--model-path m --kv-cache-dtype=fp8_e5m3", ("fp8_e5m3", "fp8_e5m2")),
        ],
    )
    def test_a_slip_of_the_pen_is_mended(self, text: str, edit: tuple[str, str]) -> None:
        finding = only("sglang", text, "0.5.12")
        assert (edits(finding), is_safe(finding)) == ([edit], False)
        assert kinds("sglang", fixed(finding).removeprefix("python -m sglang.launch_server "), "0.5.12") == []

    @pytest.mark.parametrize("value", ["$KV", "${KV}", "fp8${SUFFIX}", "$(cat dtype)", '"$KV"'])
    def test_a_value_that_is_not_known_is_left_alone(self, value: str) -> None:
        assert kinds_in(f"vllm serve m --kv-cache-dtype {value}", "run.sh", vllm="0.27.1") == []

    @pytest.mark.parametrize("default", ["fp8", "int3"])
    def test_a_default_is_judged(self, default: str) -> None:
        text = f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.27.1
                command: m --kv-cache-dtype ${{KV:-{default}}}
        """
        assert kinds_in(text) == ([] if default == "fp8" else ["invalid-choice"])

    def test_what_a_plugin_of_a_platform_adds_is_one(self) -> None:
        assert kinds("vllm", "m --quantization ascend", "0.9.1") == []
        assert kinds("vllm", "m --quantization ascending", "0.9.1") == ["invalid-choice"]

    def test_of_a_release_that_is_not_known_are_those_of_every_release(self) -> None:
        assert kinds("vllm", "m --kv-cache-dtype turboquant_k8v4") == []
        assert kinds("sglang", "--model-path m --kv-cache-dtype fp8") == ["invalid-choice"]


class TestKinds:
    @together(
        "engine, release, text, span, message, advice",
        [
            (
                "vllm",
                "0.27.1",
                "m --max-num-seqs many",
                "many",
                '"many" is not a valid value for --max-num-seqs in vLLM 0.27.1',
                "write a whole number",
            ),
            (
                "vllm",
                "0.27.1",
                "m --max_num_seqs=many",
                "many",
                '"many" is not a valid value for --max-num-seqs in vLLM 0.27.1',
                "write a whole number",
            ),
            (
                "vllm",
                "0.27.1",
                "m --gpu-memory-utilization high",
                "high",
                '"high" is not a valid value for --gpu-memory-utilization in vLLM 0.27.1',
                "write a number",
            ),
            (
                "vllm",
                "0.27.1",
                "m --max-model-len 1.5K",
                "1.5K",
                '"1.5K" is not a valid value for --max-model-len in vLLM 0.27.1',
                "write a whole number before K, or 1.5k",
            ),
            ("vllm", "0.27.1", "m --port=", "", '"" is not a valid value for --port', "write a whole number"),
            (
                "sglang",
                "0.5.12",
                "--model-path m --port auto",
                "auto",
                '"auto" is not a valid value for --port in SGLang 0.5.12',
                "write a whole number",
            ),
            (
                "sglang",
                "0.5.12",
                "--model-path m --cuda-graph-bs 1 2 x",
                "x",
                '"x" is not a valid value for --cuda-graph-bs in SGLang 0.5.12',
                "write a whole number",
            ),
            (
                "llama.cpp",
                "b11434",
                "-m m.gguf -c abc",
                "abc",
                '"abc" is not a valid value for -c in llama.cpp b11434',
                "write a whole number",
            ),
            (
                "lmdeploy",
                "0.18.0",
                "m --cache-max-entry-count x",
                "x",
                '"x" is not a valid value for --cache-max-entry-count in LMDeploy 0.18.0',
                "write a number",
            ),
        ],
    )
    def test_say_what_is_expected(self, engine: str, release: str, text: str, span: str, message: str, advice: str) -> None:
        finding = only(engine, text, release)
        assert finding.rule.partition("/")[2] == "invalid-value"
        assert message in finding.message
        assert finding.advice == advice
        assert finding.span.text == span or (span == "" and finding.span.text == "--port=")
        assert (finding.impact, finding.fix) == ("crash-at-start", None)

    @pytest.mark.parametrize(
        ("engine", "release", "text"),
        [
            ("vllm", "0.27.1", "m --max-model-len 8k --max-num-seqs ' 64 '"),
            ("vllm", "0.27.1", "m --max-model-len auto"),
            ("vllm", "0.27.1", "m --seed -1 --gpu-memory-utilization .9"),
            ("sglang", "0.5.12", "--model-path m --port 30_000"),
            ("llama.cpp", "b11434", "-m m.gguf -c 4096"),
        ],
    )
    def test_that_fit_are_taken(self, engine: str, release: str, text: str) -> None:
        assert kinds(engine, text, release) == []

    @pytest.mark.parametrize("value", ["$PORT", "8${X}", '"$(port)"', "${PORT:-$OTHER}"])
    def test_of_a_value_that_is_not_known_are_not_judged(self, value: str) -> None:
        assert kinds_in(f"python -m sglang.launch_server --model-path m --port {value}", "run.sh", sglang="0.5.12") == []

    def test_of_options_that_the_release_lacks_are_not_judged(self) -> None:
        assert kinds("vllm", "m --swap-space much", "0.27.1") == ["removed-option"]


class TestJson:
    @pytest.mark.parametrize(
        ("command", "text"),
        [
            ("""vllm serve m --speculative-config '{"method":"mtp",}'""", ","),
            ("""vllm serve m --speculative-config '{"method":"mtp"'""", '"'),
            ("""vllm serve m --speculative-config "{'method':'mtp'}" """, "'"),
            ("""vllm serve m --speculative-config={"method":"mtp"}""", "m"),
            ("vllm serve m --speculative-config mtp", "m"),
        ],
    )
    def test_that_cannot_be_read_is_told_where_reading_stops(self, command: str, text: str) -> None:
        (finding,) = in_file(command, "run.sh", vllm="0.27.1")
        assert finding.rule == "vllm/malformed-json"
        assert "--speculative-config is not valid JSON: " in finding.message
        assert finding.span.text == text
        assert (finding.impact, edits(finding)) == ("crash-at-start", [(",", "")] if text == "," else [])

    @pytest.mark.parametrize(
        ("value", "advice"),
        [
            ("image=4,video=0", """write '{"image": 4, "video": 0}'"""),
            ("{'image': 4, 'video': None}", """write '{"image": 4, "video": null}'"""),
            ("{image: 4}", """write '{"image": 4}'"""),
            ("{image: 4", "correct it; in a shell put single quotes around the value, and double quotes inside"),
            ("image=4,video", "correct it; in a shell put single quotes around the value, and double quotes inside"),
        ],
    )
    def test_pairs_of_older_releases_are_written_as_json(self, value: str, advice: str) -> None:
        (finding,) = in_file(f'vllm serve m --limit-mm-per-prompt "{value}"', "run.sh", vllm="0.30.0")
        assert (finding.rule, finding.advice) == ("vllm/malformed-json", advice)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ('{"level": 3,}', '{"level": 3}'),
            ('{"cudagraph_capture_sizes": [1, 2, ]}', '{"cudagraph_capture_sizes": [1, 2 ]}'),
            ('{"debug": True}', '{"debug": true}'),
            ('{"debug": None, "level": 3}', '{"debug": null, "level": 3}'),
        ],
    )
    def test_what_python_writes_otherwise_is_mended(self, before: str, after: str) -> None:
        (finding,) = in_file(f"vllm serve m --compilation-config '{before}'", "run.sh", vllm="0.27.1")
        assert (fixed(finding), is_safe(finding)) == (f"vllm serve m --compilation-config '{after}'", True)

    @pytest.mark.parametrize(
        "value",
        ["$SPEC", "'{\"method\":\"'$M'\"}'", '"{\\"num_speculative_tokens\\": $N}"', '\'{"method":"ngram"}\'', "'{}'"],
    )
    def test_that_may_be_read_is_left_alone(self, value: str) -> None:
        assert kinds_in(f"vllm serve m --speculative-config {value}", "run.sh", vllm="0.27.1") == []

    @pytest.mark.parametrize(
        ("value", "release", "expected"),
        [
            ("notjson", "b9246", ["malformed-json"]),
            ("{a: 1}", "b11434", ["malformed-json"]),
            ('{"a": 1}', "b11434", []),
            ("", "b11434", []),  # "if (!cfg.empty())"
            ("$CONFIG", "b11434", []),
        ],
    )
    def test_settings_of_llama_servers_page(self, value: str, release: str, expected: list[str]) -> None:
        quote = '"' if value.startswith("$") else "'"
        line = f"llama-server -m m.gguf --ui-config {quote}{value}{quote}"
        assert kinds_in(line, "run.sh", **{"llama.cpp": release}) == expected


class TestOptionThatEndsTheStart:
    def test_says_what_the_release_says(self) -> None:
        finding = only("sglang", "--model-path m --enable-ep-moe", "0.5.4")
        assert finding.rule == "sglang/refused-option"
        assert finding.message == "SGLang 0.5.4 does not start with --enable-ep-moe"
        assert "--ep-size" in finding.advice
        assert "\n" not in finding.advice
        assert (finding.span.text, finding.impact) == ("--enable-ep-moe", "crash-at-start")

    @pytest.mark.parametrize("release", ["0.5.2", None])
    def test_not_where_a_release_takes_it(self, release: str | None) -> None:
        assert "refused-option" not in kinds("sglang", "--model-path m --enable-ep-moe", release)


QUOTED = """\
pip install vllm==0.27.1
CMD="vllm serve m --speculative-config '{\\"method\\":%s\\"ngram\\",%s\\"num_speculative_tokens\\": 1}' --port 80"
$CMD
"""


@pytest.mark.parametrize("blank", ["", " "])
def test_quotes_that_a_variable_keeps(blank: str) -> None:
    found = [one for one in findings_in(QUOTED % (blank, blank)) if one.severity == "error"]
    assert [(one.rule, one.span.text) for one in found] == [("vllm/malformed-json", "'")]
    assert "no shell removes them" in found[0].message
    assert "array" in found[0].advice


def test_words_for_a_list() -> None:
    (found,) = findings_in("pip install vllm==0.27.1\nvllm serve m --allowed-origins '*'\n")
    assert found.advice == "write '[\"*\"]'"
    (found,) = findings_in("pip install vllm==0.27.1\nvllm serve m --allowed-methods GET,POST\n")
    assert found.advice == 'write \'["GET", "POST"]\''


@pytest.mark.parametrize(
    ("module", "option", "right", "wrong", "advice"),
    [
        (
            "dynamo.sglang",
            "--disaggregation-mode",
            ("null", "prefill", "agg", "pd", "encode", "$MODE"),
            "foo",
            "choose from null",
        ),
        ("dynamo.sglang", "--event-plane", ("nats", "zmq"), "Nats", "did you mean nats?"),
        ("dynamo.trtllm", "--disaggregation-mode", ("agg", "prefill_and_decode", "encode"), "null", "choose from agg"),
        ("dynamo.trtllm", "--modality", ("text", "video_diffusion"), "txt", "did you mean text?"),
        ("dynamo.vllm", "--disaggregation-mode", ("agg", "pd", "${MODE:-agg}"), "both", "choose from agg"),
        ("dynamo.vllm", "--request-plane", ("tcp", "nats", "http"), "grpc", "choose from tcp"),
    ],
)
def test_values_of_a_launcher(module: str, option: str, right: tuple[str, ...], wrong: str, advice: str) -> None:
    model = "--model" if module == "dynamo.vllm" else "--model-path"
    command = f"python3 -m {module} {model} Qwen/Qwen3-8B {option} "

    def found(value: str) -> list[tuple[str, str]]:
        findings = in_file(f"{command}{value}\n", "run.sh")
        return [(one.message, one.advice) for one in findings if one.rule.endswith("/invalid-choice")]

    assert [value for value in right if found(value)] == []
    ((message, said),) = found(wrong)
    assert message == f'"{wrong}" is not a valid value for {option} of {module}'
    assert said.startswith(advice)
