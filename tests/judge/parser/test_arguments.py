"""Complaints about the words of an argv: what a release's parser refuses, and what it takes for something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from servelint.core.settings import Settings
from servelint.engines import catalog as catalogs
from servelint.engines.releases import newest
from servelint.judge.judging import judge
from servelint.judge.parser.repairs import replacement
from servelint.judge.parser.violation import UNLESS_NEWER
from tests.judge.parser import edits, fixed, found, in_file, is_safe, kinds, kinds_in, only
from tests.launching import launch_in, marked_launch
from tests.reporting import findings_in
from tests.together import together

MODEL = {"vllm": "m", "sglang": "--model-path m", "lmdeploy": "m", "llama.cpp": "-m m.gguf"}


def with_model(engine: str, text: str) -> str:
    return f"{MODEL[engine]} {text}"


class TestOptionThatTheReleaseLacks:
    @together(
        "engine, release, text, kind, message, advice",
        [
            (
                "vllm",
                "0.27.1",
                "--swap-space 4",
                "removed-option",
                "--swap-space was removed in vLLM 0.18.0; vLLM 0.27.1 refuses it",
                "--kv-offloading-size",
            ),
            (
                "sglang",
                "0.5.23",
                "--stream-output",
                "removed-option",
                "--stream-output was removed in SGLang 0.5.20; SGLang 0.5.23 refuses it",
                "write --incremental-streaming-output",
            ),
            (
                "vllm",
                "0.8.5",
                "--async-scheduling",
                "option-not-yet",
                "--async-scheduling exists from vLLM 0.10.0; vLLM 0.8.5 refuses it",
                "delete it, or use vLLM 0.10.0 or later",
            ),
            (
                "sglang",
                "0.5.4",
                "--dsa-prefill-backend flashmla_sparse",
                "option-not-yet",
                "--dsa-prefill-backend exists from SGLang 0.5.13; SGLang 0.5.4 refuses it",
                "delete it, or use SGLang 0.5.13 or later",
            ),
            (
                "llama.cpp",
                "b3995",
                "--draft-max 8",
                "option-not-yet",
                "--draft-max exists from llama.cpp b4234; llama.cpp b3995 refuses it",
                "delete it, or use llama.cpp b4234 or later",
            ),
            (
                "vllm",
                "0.27.1",
                "--mem-fraction-static 0.8",
                "option-of-other-engine",
                "--mem-fraction-static is an option of SGLang; vLLM 0.27.1 refuses it",
                "delete it",
            ),
            (
                "sglang",
                "0.5.12",
                "--gpu-memory-utilization 0.8",
                "option-of-other-engine",
                "--gpu-memory-utilization is an option of vLLM; SGLang 0.5.12 refuses it",
                "delete it",
            ),
            (
                "vllm",
                "0.27.1",
                "--context-length 8",
                "option-of-other-engine",
                "--context-length is an option of SGLang; vLLM 0.27.1 refuses it",
                "write --max-model-len, its counterpart in vLLM",
            ),
            (
                "vllm",
                "0.27.1",
                "--num-shard 2",
                "option-of-other-engine",
                "--num-shard is an option of TGI; vLLM 0.27.1 refuses it",
                "write --tensor-parallel-size, its counterpart in vLLM",
            ),
            (
                "vllm",
                "0.27.1",
                "--ctx-size 8 --max-model-len 4",
                "option-of-other-engine",
                "--ctx-size is an option of llama.cpp; vLLM 0.27.1 refuses it",
                "delete it with its value: --max-model-len, its counterpart in vLLM, is set already",
            ),
            (
                "vllm",
                "0.27.1",
                "--disable-radix-cache",
                "option-of-other-engine",
                "--disable-radix-cache is an option of SGLang; vLLM 0.27.1 refuses it",
                "correct its name, or delete it with its value",
            ),
            (
                "sglang",
                "0.5.12",
                "--max-model-len 8",
                "option-of-other-engine",
                "--max-model-len is an option of vLLM; SGLang 0.5.12 refuses it",
                "write --context-length, its counterpart in SGLang",
            ),
            (
                "sglang",
                "0.5.12",
                "--max_num_batched_tokens 8",
                "option-of-other-engine",
                "--max_num_batched_tokens is an option of vLLM; SGLang 0.5.12 refuses it",
                "delete it with its value; the nearest option of SGLang, --chunked-prefill-size, means something else",
            ),
            (
                "llama.cpp",
                "b9180",
                "--max-model-len 8",
                "option-of-other-engine",
                "--max-model-len is an option of vLLM; llama.cpp b9180 refuses it",
                "write --ctx-size, its counterpart in llama.cpp",
            ),
            (
                "llama.cpp",
                "b9180",
                "--tensor-parallel-size 2",
                "option-of-other-engine",
                "--tensor-parallel-size is an option of vLLM; llama.cpp b9180 refuses it",
                "correct its name, or delete it with its value",
            ),
            (
                "lmdeploy",
                "0.9.1",
                "--tensor-parallel-size 2",
                "option-of-other-engine",
                "--tensor-parallel-size is an option of vLLM; LMDeploy 0.9.1 refuses it",
                "write --tp, its counterpart in LMDeploy",
            ),
            (
                "vllm",
                "0.27.1",
                "--no-such-option",
                "unknown-option",
                "vLLM 0.27.1 has no option --no-such-option",
                "delete it",
            ),
            (
                "vllm",
                "0.27.1",
                "--max-model-lenght 8",
                "unknown-option",
                "vLLM 0.27.1 has no option --max-model-lenght",
                "did you mean --max-model-len?",
            ),
            ("lmdeploy", "0.18.0", "--tq 2", "unknown-option", "LMDeploy 0.18.0 has no option --tq", "delete it"),
        ],
    )
    def test_says_since_when_and_what_instead(
        self, engine: str, release: str, text: str, kind: str, message: str, advice: str
    ) -> None:
        finding = only(engine, with_model(engine, text), release)
        assert finding.rule.endswith("/" + kind)
        assert finding.message == message
        assert advice in finding.advice
        assert (finding.severity, finding.impact, finding.release) == ("error", "crash-at-start", release)
        assert finding.span.text == text.split()[0]

    @pytest.mark.parametrize(
        ("command", "advice"),
        [
            ("text-generation-launcher --model-id m --quantization awq", "write --quantize, its counterpart in TGI"),
            (
                "pip install tensorrt_llm==1.0.0\ntrtllm-serve m --max-model-len 8",
                "write --max_seq_len, its counterpart in TensorRT-LLM",
            ),
            (
                "pip install tensorrt_llm==1.3.0rc3\ntrtllm-serve m --tool-call-parser none",
                "delete it with its value; the nearest option of TensorRT-LLM, --tool_parser, takes other values",
            ),
            (
                "ollama serve --ctx-size 8",
                "delete it with its value; Ollama takes this from the variable OLLAMA_CONTEXT_LENGTH",
            ),
        ],
    )
    def test_the_counterpart_of_another_engine_s_option(self, command: str, advice: str) -> None:
        assert [one.advice for one in findings_in(command) if one.rule.endswith("/option-of-other-engine")] == [advice]

    def test_one_that_comes_back(self) -> None:
        finding = only("vllm", "m --disable-log-requests", "0.27.1")
        assert finding.rule == "vllm/removed-option"
        assert "was removed in vLLM 0.17.0 and is back from 0.33.0" in finding.message

    @pytest.mark.parametrize(
        ("engine", "release", "text"),
        [
            ("vllm", "0.17.1", "--swap-space 4"),
            ("vllm", "0.10.0", "--async-scheduling"),
            ("sglang", "0.5.9", "--stream-output"),
            ("sglang", "0.5.13", "--dsa-prefill-backend flashmla_sparse"),
            ("llama.cpp", "b4234", "--draft-max 8"),
        ],
    )
    def test_nothing_is_said_where_the_release_has_it(self, engine: str, release: str, text: str) -> None:
        assert kinds(engine, with_model(engine, text), release) == []

    @together(
        "engine, release, text, expected, safe",
        [
            ("vllm", "0.27.1", "--max-model-lenght 8", [("--max-model-lenght", "--max-model-len")], False),
            ("vllm", "0.27.1", "--max-model-lenght=8", [("--max-model-lenght", "--max-model-len")], False),
            ("sglang", "0.5.12", "--tp_size 2", [("--tp_size", "--tp-size")], False),
            ("llama.cpp", "b11434", "--ctx-siz 8", [("--ctx-siz", "--ctx-size")], False),
            (
                "vllm",
                "0.27.1",
                "--guided-decoding-backend xgrammar",
                [("--guided-decoding-backend", "--structured-outputs-config.backend")],
                False,
            ),
            ("sglang", "0.5.20", "--stream-output", [("--stream-output", "--incremental-streaming-output")], True),
            # nothing takes their place
            ("vllm", "0.27.1", "--swap-space 4", [(" --swap-space 4", "")], True),
            ("vllm", "0.27.1", "--enable-lora-bias", [(" --enable-lora-bias", "")], False),
            # other words do
            (
                "vllm",
                "0.27.1",
                "--disable-mm-preprocessor-cache",
                [("--disable-mm-preprocessor-cache", "--mm-processor-cache-gb 0")],
                True,
            ),
            # what takes their place does not take the same value
            ("vllm", "0.27.1", "--speculative-model x/y", [], None),
            ("vllm", "0.27.1", "--no-such-option", [], None),
            ("vllm", "0.27.1", "--mem-fraction-static 0.8", [], None),
            ("vllm", "0.8.5", "--async-scheduling", [], None),
        ],
    )
    def test_its_fix(self, engine: str, release: str, text: str, expected: list[tuple[str, str]], safe: bool | None) -> None:
        finding = only(engine, with_model(engine, text), release)
        assert (edits(finding), is_safe(finding)) == (expected, safe)

    @pytest.mark.parametrize("text", ["--max-model-lenght 8", "--guided-decoding-backend=xgrammar"])
    def test_what_its_fix_leaves_is_accepted(self, text: str) -> None:
        after = fixed(only("vllm", with_model("vllm", text), "0.27.1"))
        assert kinds("vllm", after.removeprefix("vllm serve "), "0.27.1") == []

    @pytest.mark.parametrize(
        ("option", "advice"),
        [
            ("--mlock", "write --load-mode mlock"),
            ("--no-mmap", "write --load-mode none"),
            ("--mmap", "write --load-mode mmap"),
            ("-ndio", "write --load-mode none"),
        ],
    )
    def test_what_the_last_release_names_instead(self, option: str, advice: str) -> None:
        """A notice speaks of the option that is on: what it names would be the opposite of one that is off."""
        assert only("llama.cpp", f"-m m.gguf {option}", "b11434").advice == advice

    def test_an_option_of_llama_cpp_takes_no_equals_sign(self) -> None:
        finding = only("llama.cpp", "-m m.gguf --ctx-size=8", "b11434")
        assert finding.rule == "llamacpp/unknown-option"
        assert all(before != after for before, after in edits(finding))  # a fix that changes nothing is none

    def test_a_spelling_that_the_shell_puts_together_is_not_mended(self) -> None:
        text = """
            A=lenght
            vllm serve m --max-model-$A 8
        """
        (finding,) = in_file(text, "run.sh", vllm="0.27.1")
        assert (finding.rule, finding.fix) == ("vllm/unknown-option", None)


class TestPrefixes:
    def test_a_unique_one_is_told_and_written_out(self) -> None:
        finding = only("vllm", "m --max-num-batched-token=8", "0.27.1")
        assert finding.rule == "vllm/abbreviated-option"
        assert (finding.severity, finding.impact) == ("info", "best-practice")
        assert finding.message.startswith("--max-num-batched-token is short for --max-num-batched-tokens")
        assert edits(finding) == [("--max-num-batched-token", "--max-num-batched-tokens")]
        assert is_safe(finding) is True

    @pytest.mark.parametrize(
        ("engine", "release", "text", "options"),
        [
            ("vllm", "0.27.1", "--max-num 8", ["--max-num-batched-tokens", "--max-num-seqs"]),
            ("sglang", "0.5.12", "--quant fp8", ["--quantization", "--quantize-and-serve"]),
        ],
    )
    def test_one_that_may_be_several_is_refused(self, engine: str, release: str, text: str, options: list[str]) -> None:
        finding = only(engine, with_model(engine, text), release)
        assert finding.rule == f"{engine}/ambiguous-option"
        assert finding.span.text == text.split()[0]
        assert all(option in finding.message for option in options)
        assert finding.message.endswith(" refuses it")
        assert (finding.impact, finding.fix) == ("crash-at-start", None)
        assert (finding.advice, finding.label) == ("write the option in full", "may be several options")

    def test_a_removed_option_is_taken_for_the_one_that_it_is_a_prefix_of(self) -> None:
        finding = only("vllm", "m --device cuda", "0.27.1")
        assert finding.rule == "vllm/taken-for-another"
        assert finding.message == "--device was removed in vLLM 0.10.0; vLLM 0.27.1 reads it as --device-ids"
        assert (finding.severity, edits(finding), is_safe(finding)) == ("warning", [(" --device cuda", "")], False)

    def test_a_later_spelling_of_the_same_option_is_an_abbreviation(self) -> None:
        assert kinds("sglang", "--model Qwen/Qwen3-8B", "0.4.6") == ["abbreviated-option"]

    def test_llama_cpp_takes_none(self) -> None:
        assert kinds("llama.cpp", "-m m.gguf --ctx-siz 8", "b11434") == ["unknown-option"]

    @pytest.mark.parametrize("text", ["m --max-model-len 8", "m -tp 2", "m --max_num_seqs 8"])
    def test_whole_spellings_are_none(self, text: str) -> None:
        assert kinds("vllm", text, "0.27.1") == []


class TestValuesThatAreMissingOrTooMany:
    @together(
        "engine, release, text, kind, span, message",
        [
            ("vllm", "0.27.1", "--port", "missing-value", "--port", "--port takes a value and has none"),
            ("vllm", "0.27.1", "--port --enforce-eager", "missing-value", "--port", "--port takes a value and has none"),
            ("sglang", "0.5.12", "--port --trust-remote-code", "missing-value", "--port", "takes a value and has none"),
            ("llama.cpp", "b11434", "-c", "missing-value", "-c", "-c takes a value and has none"),
            (
                "vllm",
                "0.27.1",
                "--enforce-eager=true",
                "unexpected-value",
                "--enforce-eager",
                "--enforce-eager is a switch and takes no value in vLLM 0.27.1",
            ),
            (
                "vllm",
                "0.27.1",
                "--enforce-eager true",
                "unexpected-argument",
                "true",
                "unexpected argument 'true'; vLLM 0.27.1 refuses it",
            ),
            ("vllm", "0.27.1", "other", "unexpected-argument", "other", "unexpected argument 'other'"),
            ("lmdeploy", "0.18.0", "other", "unexpected-argument", "other", "unexpected argument 'other'"),
            ("vllm", "0.27.1", "'--dtype auto'", "one-word", "--dtype auto", "--dtype and its value are one word"),
            ("sglang", "0.5.12", "'--dtype auto'", "one-word", "--dtype auto", "--dtype and its value are one word"),
            (
                "vllm",
                "0.27.1",
                "'--dtype auto --port 80'",
                "one-word",
                "--dtype auto --port 80",
                "several options are one word",
            ),
            (
                "llama.cpp",
                "b11434",
                "-fa --port 80",
                "missing-value",
                "-fa",
                "-fa takes a value in llama.cpp b11434, which takes --port",
            ),
            ("llama.cpp", "b11434", "-fa", "missing-value", "-fa", "-fa takes a value in llama.cpp b11434 and has none"),
        ],
    )
    def test_is_refused(self, engine: str, release: str, text: str, kind: str, span: str, message: str) -> None:
        finding = only(engine, with_model(engine, text), release)
        assert finding.rule.partition("/")[2] == kind
        assert finding.span.text == span
        assert message in finding.message
        assert finding.impact == "crash-at-start"
        assert finding.advice != ""

    @pytest.mark.parametrize(("value", "advice"), [("true", "write --enforce-eager"), ("false", "write --no-enforce-eager")])
    def test_a_switch_with_a_value_is_mended_by_what_the_value_says(self, value: str, advice: str) -> None:
        assert only("vllm", f"m --enforce-eager={value}", "0.27.1").advice.startswith(advice)

    @together(
        "text",
        [
            "vllm serve m --port $PORT --enforce-eager",
            "vllm serve m --port=",
            'vllm serve m --port "$@"',
            "vllm serve m --enforce-eager $MORE",
            "vllm serve $ARGS m",
            "vllm serve m $ARGS true",
            'vllm serve m "$OPTION" true',
            'vllm serve m "--dtype=$DTYPE"',
            "vllm serve m --seed -1",
        ],
    )
    def test_unknown_words_silence_it(self, text: str) -> None:
        refused = {"missing-value", "unexpected-value", "unexpected-argument", "one-word"}
        assert refused.isdisjoint(kinds_in(text, "run.sh", vllm="0.27.1"))

    def test_a_command_after_an_image_that_starts_the_engine(self) -> None:
        text = """
            services:
              llm:
                image: vllm/vllm-openai:v0.27.1
                command: vllm serve Qwen/Qwen3-8B
        """
        findings = in_file(text)
        assert findings
        assert {finding.rule for finding in findings} == {"vllm/unexpected-argument"}
        assert any("the image starts the engine itself" in finding.message for finding in findings)


class TestModel:
    @pytest.mark.parametrize(
        ("engine", "release", "text", "name"),
        [
            ("sglang", "0.5.12", "--port 1", "--model-path"),
            ("lmdeploy", "0.18.0", "--tp 2", "a model as an argument"),
            ("vllm", "0.8.2", "--port 1", "a model as an argument"),
        ],
    )
    def test_is_required(self, engine: str, release: str, text: str, name: str) -> None:
        finding = only(engine, text, release)
        assert finding.rule == f"{engine}/missing-argument"
        assert f"does not start without {name}" in finding.message
        assert finding.span.text in ("python -m sglang.launch_server", "lmdeploy serve api_server", "vllm serve")

    @pytest.mark.parametrize("text", ["$ARGS", "--port 1 $ARGS", '"$@"', "--config $FILE", "--$NAME m", "${M:-}"])
    def test_may_be_in_what_is_not_known(self, text: str) -> None:
        assert kinds_in(f"python -m sglang.launch_server {text}", "run.sh", sglang="0.5.12") == []

    @pytest.mark.parametrize(("model", "expected"), [("${MODEL:-}", []), ("", ["missing-argument"])])
    def test_an_empty_default_is_for_the_user_to_set(self, model: str, expected: list[str]) -> None:
        command = f"lmdeploy serve api_server {model} --tp 1"
        compose = f"services:\n  a:\n    image: openmmlab/lmdeploy:v0.9.0\n    gpus: all\n    command: {command}\n"
        assert kinds_in(command, "run.sh", lmdeploy="0.9.0") == expected
        assert [one for one in kinds_in(compose, "compose.yml") if one == "missing-argument"] == expected

    @pytest.mark.parametrize(
        ("release", "text", "kind", "message"),
        [
            ("0.10.0", "--model m", "missing-argument", "takes the model as its first argument, not with --model"),
            ("0.8.2", "--model m", "missing-argument", "takes the model as its first argument, not with --model"),
            ("0.6.2", "--port 1 --model=m", "missing-argument", "takes the model as its first argument, not with --model"),
            ("0.27.1", "m --model m", "unexpected-argument", "gets two: --model and an argument"),
            (
                "0.27.1",
                "--served-model-name x",
                "missing-argument",
                "takes no --served-model-name where the model is not its first argument",
            ),
        ],
    )
    def test_of_vllm_serve_comes_first(self, release: str, text: str, kind: str, message: str) -> None:
        finding = only("vllm", text, release)
        assert finding.rule == f"vllm/{kind}"
        assert message in finding.message
        assert finding.span.text.startswith("--")

    @pytest.mark.parametrize(
        ("release", "text"),
        [
            ("0.27.1", "--model m"),
            ("0.27.1", "m --served-model-name x"),
            ("0.27.1", "--model m --served-model-name x"),
            ("0.10.0", "m"),
            ("0.27.1", "--config=c.yaml --served-model-name x"),
        ],
    )
    def test_of_vllm_serve_where_it_is_taken(self, release: str, text: str) -> None:
        assert kinds("vllm", text, release) == []

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("python3 -m vllm.entrypoints.openai.api_server m --port 1", ["ignored-model"]),
            ("python3 -m vllm.entrypoints.openai.api_server --model m --port 1", []),
            ("python3 -m vllm.entrypoints.openai.api_server $M --port 1", []),
            ("vllm serve m --port 1", []),
        ],
    )
    def test_the_module_does_not_look_at_a_positional_one(self, text: str, expected: list[str]) -> None:
        assert kinds_in(text, "run.sh", vllm="0.27.1") == expected

    def test_the_model_of_the_option_is_judged_beside_a_positional_one(self) -> None:
        text = "python3 -m vllm.entrypoints.openai.api_server Qwen/Qwen3-0.6B --model Qwen/Qwen3-8B --tensor-parallel-size 3\n"
        every = judge(launch_in(text, "run.sh"), Settings(engine_versions={"vllm": "0.27.1"}))
        heads = next(one for one in every if one.rule == "vllm/heads-not-divisible")
        assert "32 attention heads of Qwen/Qwen3-8B" in heads.message
        ignored = next(one for one in every if one.rule == "vllm/ignored-model")
        assert ignored.message.endswith("serves the model of --model")
        assert ignored.advice == "delete Qwen/Qwen3-0.6B"

    def test_an_option_and_its_value_in_one_word_are_ignored_as_one(self) -> None:
        module = "python3 -m vllm.entrypoints.openai.api_server"
        for word in ("--tensor-parallel-size 2", "--dtype half", "--max-model-len 4096"):
            found = judge(launch_in(f"{module} --model m '{word}'\n", "run.sh"), Settings(engine_versions={"vllm": "0.10.0"}))
            about = [one for one in found if one.rule in ("vllm/ignored-model", "vllm/one-word")]
            assert [(one.rule, one.advice) for one in about] == [
                ("vllm/ignored-model", "write it as two words, in a list as two items")
            ]
            assert about[0].message.startswith(f"vllm.entrypoints.openai.api_server ignores {word.split()[0]} and its value")
        assert kinds_in(f"{module} --model m m '--dtype half'\n", "run.sh", vllm="0.27.1") == ["one-word", "ignored-model"]


class TestRepeated:
    def test_the_first_has_no_effect(self) -> None:
        finding = only("vllm", "m --port 8000 --port 9000", "0.27.1")
        assert finding.rule == "vllm/repeated-option"
        assert "--port is set twice with different values" in finding.message
        assert finding.span.start < finding.related[0].span.start
        assert [(place.span.text, place.message) for place in finding.related] == [("--port", "counts")]

    @pytest.mark.parametrize(
        "text",
        [
            "--port 8000 --port 8000",
            "--port 8000 --port $PORT",
            "--port $PORT --port 8000",
            "--enforce-eager --enforce-eager",
            "--speculative-config.method ngram --speculative-config.num_speculative_tokens 2",
            "--allowed-origins '[\"a\"]' --port 1",
        ],
    )
    def test_not_with_the_same_or_an_unknown_value(self, text: str) -> None:
        assert "repeated-option" not in kinds_in(f"vllm serve m {text}", "run.sh", vllm="0.27.1")

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("A='--port 8000'\nvllm serve m $A --port 9000\n", False),
            ("A='--port 8000'\nvllm serve m --port 9000 $A\n", True),
            ("A=(--port 8000)\nA+=(--port 9000)\nvllm serve m ${A[@]}\n", True),
        ],
    )
    def test_the_command_over_a_variable_is_meant(self, text: str, found: bool) -> None:
        assert ("repeated-option" in kinds_in(text, "run.sh", vllm="0.27.1")) is found

    def test_the_command_over_a_macro_is_meant(self) -> None:
        text = "macros:\n  base: llama-server -c 4096 --port ${PORT}\nmodels:\n  m:\n    cmd: ${base} -m a.gguf -c 8192\n"
        assert "repeated-option" not in [one.rule.partition("/")[2] for one in findings_in(text, "config.yaml")]

    @pytest.mark.parametrize("text", ["--enforce-eager --no-enforce-eager", "-tp 2 --tensor-parallel-size 4"])
    def test_by_another_spelling(self, text: str) -> None:
        assert kinds("vllm", f"m {text}", "0.27.1") == ["repeated-option"]


class TestDeprecated:
    def test_says_what_to_write(self) -> None:
        finding = only("sglang", "--model-path m --cuda-graph-max-bs=64", "0.5.16")
        assert finding.rule == "sglang/deprecated-option"
        assert finding.message == "--cuda-graph-max-bs is deprecated in SGLang 0.5.16"
        assert finding.advice == "write --cuda-graph-max-bs-decode"
        assert (finding.severity, finding.impact, finding.span.text) == ("warning", "deprecated", "--cuda-graph-max-bs")

    @pytest.mark.parametrize("release", ["0.5.12", None])
    def test_not_where_a_release_does_not_say_so(self, release: str | None) -> None:
        assert kinds("sglang", "--model-path m --cuda-graph-max-bs 64", release) == []

    def test_an_option_that_ends_the_start_is_not_deprecated_but_refused(self) -> None:
        assert kinds("sglang", "--model-path m --enable-ep-moe", "0.5.4") == ["refused-option"]


class TestPlaces:
    """The option's own characters, wherever they stand."""

    @pytest.mark.parametrize(
        ("filename", "text"),
        [
            ("run.sh", "ARGS=(--port 8000 ⟦--swap-space⟧ 4)\nvllm serve m ${ARGS[@]}\n"),
            ("run.sh", "vllm serve m \\\n  ⟦--swap-space⟧=4\n"),
            ("compose.yml", "services:\n  llm:\n    image: vllm/vllm-openai:v0.27.1\n    command: [m, '⟦--swap-space⟧=4']\n"),
            ("compose.yml", "services:\n  llm:\n    image: vllm/vllm-openai:v0.27.1\n    command: m ⟦--swap-space⟧ 4\n"),
            (
                "compose.yml",
                "services:\n  llm:\n    image: vllm/vllm-openai:v0.27.1\n    command:\n      - m\n      - ⟦--swap-space⟧=4\n",
            ),
        ],
    )
    def test_in_a_file(self, filename: str, text: str) -> None:
        launch, (mark,) = marked_launch(text, filename)
        findings = judge(launch, Settings(ignore=("container/*",), engine_versions={"vllm": "0.27.1"}))
        assert [(finding.rule, finding.span) for finding in findings] == [("vllm/removed-option", mark)]

    def test_the_image_that_names_the_release_is_related(self) -> None:
        text = """
            services:
              llm:
                image: vllm/vllm-openai:v0.27.1
                command: m --swap-space 4
        """
        (finding,) = in_file(text)
        assert [(place.span.text, place.message) for place in finding.related] == [("0.27.1", "vLLM 0.27.1")]


COMPOSE = """
    services:
      llm:
        image: {image}
        command: m {options}
"""
HOUSE = """
    services:
      llm:
        image: registry.example/house/vllm:prod
        command: vllm serve m {options}
"""


class TestWhichRelease:
    WRONG = ("--no-such-option", "--swap-space 4", "--mem-fraction-static 1", "--enforce-eager=true", "--max-num 8")

    def test_that_is_not_known_gets_what_every_release_refuses(self) -> None:
        assert [kinds("vllm", f"m {text}") for text in self.WRONG] == [
            ["unknown-option"],  # a warning, as the next release may have it
            [],
            ["option-of-other-engine"],
            ["unexpected-value"],
            ["ambiguous-option"],
        ]

    def test_that_is_not_known_stands_in_no_finding(self) -> None:
        assert {finding.release for finding in found("vllm", "m --enforce-eager=true")} == {None}

    @pytest.mark.parametrize(("option", "expected"), [("--swap-space 4", ["removed-option"]), ("--port 1", [])])
    def test_of_a_rolling_tag_is_the_newest(self, option: str, expected: list[str]) -> None:
        text = COMPOSE.format(image="vllm/vllm-openai:latest", options=option)
        assert kinds_in(text) == expected
        assert {finding.release for finding in in_file(text)} <= {newest("vllm")}

    def test_of_a_rolling_tag_may_be_newer_than_what_is_known(self) -> None:
        text = COMPOSE.format(image="vllm/vllm-openai:latest", options="--an-option-of-tomorrow")
        assert [(one.rule, one.severity) for one in in_file(text)] == [("vllm/unknown-option", "warning")]
        for tag in ("nightly", "v0.99.0"):  # a build of the branch, a release that is not known
            assert kinds_in(text.replace(":latest", f":{tag}")) == []

    @pytest.mark.parametrize(
        ("image", "command"),
        [
            ("lmsysorg/sglang", "python -m sglang.launch_server --model-path a/b"),
            ("openmmlab/lmdeploy", "lmdeploy serve api_server a/b"),
            ("nvcr.io/nvidia/tensorrt-llm/release", "trtllm-serve a/b"),
            ("ghcr.io/huggingface/text-generation-inference", "--model-id a/b"),
        ],
    )
    def test_of_a_rolling_tag_grades_all_engines_alike(self, image: str, command: str) -> None:
        for tag in ("", ":latest"):
            found = findings_in(f"docker run --gpus all {image}{tag} {command} --frobnicate 1\n", "run.sh")
            (one,) = [one for one in found if one.rule.endswith("/unknown-option")]
            assert (one.severity, one.message.endswith(UNLESS_NEWER)) == ("warning", True)

    @pytest.mark.parametrize(
        "options",
        [
            "--no-such-option",
            "--max-model-lenght 8",
            "--max_model_lenght=8",
            "--speculative-config.metod mtp",
            "--speculative-config '{\"zzz\":1}'",
        ],
    )
    @pytest.mark.parametrize("versions", [{}, {"vllm": "0.27.1"}])
    def test_of_a_house_image_may_have_more(self, options: str, versions: dict[str, str]) -> None:
        assert kinds_in(HOUSE.format(options=options), **versions) == []

    @pytest.mark.parametrize(
        ("options", "kind"), [("--enforce-eager=true", "unexpected-value"), ("--max-num-seqs many", "invalid-value")]
    )
    def test_of_a_house_image_has_no_less_sense(self, options: str, kind: str) -> None:
        assert kinds_in(HOUSE.format(options=options)) == [kind]

    @pytest.mark.parametrize(("release", "nearest"), [("0.5.0", "0.6.0"), ("0.99.0", "0.33.0")])
    @pytest.mark.parametrize("text", WRONG)
    def test_outside_the_catalog_is_judged_as_the_nearest_of_it(self, release: str, nearest: str, text: str) -> None:
        outside = [one for one in kinds("vllm", f"m {text}", release) if one != "unknown-release"]
        assert set(outside) <= set(kinds("vllm", f"m {text}", nearest))

    @pytest.mark.parametrize(
        ("release", "text", "expected"),
        [
            ("b4000", "--ctx-siz 8", ["unknown-option"]),
            ("b3995", "--draft-max 8", ["option-not-yet"]),
            ("b4000", "--draft-max 8", []),  # between b3995, which lacks it, and b4234, which has it
            ("b4234", "--draft-max 8", []),
            ("b100", "--ctx-siz 8", ["unknown-option"]),  # before all of it, and after all of it
            ("b11500", "--ctx-siz 8", ["unknown-option"]),
        ],
    )
    def test_between_two_of_the_catalog_gets_what_both_say(self, release: str, text: str, expected: list[str]) -> None:
        assert [one for one in kinds("llama.cpp", f"-m m.gguf {text}", release) if one != "unknown-release"] == expected

    def test_between_two_of_the_catalog_is_the_one_that_is_told(self) -> None:
        finding = only("llama.cpp", "-m m.gguf --ctx-siz 8", "b4000")
        assert (finding.message, finding.release) == ("llama.cpp b4000 has no option --ctx-siz", "b4000")

    def test_of_an_engine_without_a_catalog_gets_nothing(self, without_catalog: Callable[[str], None]) -> None:
        assert "unknown-option" in kinds("trtllm", "--no-such-option", "1.0.0")
        without_catalog("trtllm")
        assert kinds("trtllm", "--no-such-option", "1.0.0") == []


@pytest.mark.parametrize(
    ("line", "cut"), [("--jinja", False), ("--port 8080", False), ("--port 8081", True), ("--mlock", True)]
)
def test_a_line_whose_words_the_command_has_is_no_loss(line: str, cut: bool) -> None:
    text = f"exec llama-server -m a.gguf \\\n  --port 8080 --jinja\n  {line}\n"
    assert ("llamacpp/command-cut-short" in [one.rule for one in findings_in(text, "run.sh")]) is cut


@pytest.mark.parametrize(("option", "found"), [("-ctx-size", True), ("-top-k", True), ("-draft", False), ("-nope-here", False)])
def test_a_long_option_with_one_dash_is_refused_by_every_build(option: str, found: bool) -> None:
    rules = [one.rule for one in findings_in(f"llama-server -m a.gguf {option} 4\n", "run.sh")]
    assert ("llamacpp/unknown-option" in rules) is found


def test_an_ellipsis_in_a_page_is_no_command_that_is_cut() -> None:
    page = "Serve it:\n\n```bash\nvllm serve {}\n  --enable-auto-tool-choice\n```\n"
    assert "vllm/command-cut-short" not in [one.rule for one in findings_in(page.format("..."), "README.md")]
    assert "vllm/command-cut-short" in [one.rule for one in findings_in(page.format("Qwen/Qwen3-8B"), "README.md")]


@pytest.mark.parametrize(
    ("line", "cut"), [("-gpus   the GPUs to use", False), ("-v /a:/data   a volume", False), ("-p 8080", True)]
)
def test_a_list_behind_a_command_is_no_rest_of_it(line: str, cut: bool) -> None:
    text = f"text-generation-launcher --model-id a/b\n\n{line}\n"
    assert ("tgi/command-cut-short" in [one.rule for one in findings_in(text, "run.sh")]) is cut


def test_a_model_in_one_word_with_its_option_is_no_missing_model() -> None:
    text = "docker run --gpus all --shm-size 1g ghcr.io/huggingface/text-generation-inference:3.3.7 '--model-id a/b'\n"
    assert [one.rule for one in findings_in(text, "run.sh")] == ["tgi/one-word"]


class TestBlankBehindABackslash:
    """It is one finding, where it is, and nothing is said of the words that it makes."""

    @pytest.mark.parametrize(
        ("filename", "text"),
        [
            ("run.sh", "vllm serve Qwen/Qwen3-8B \\ \n  --model Qwen/Qwen3-8B \\\n  --port 80\n"),
            ("run.sh", "vllm serve \\ \t\n  --model Qwen/Qwen3-8B --swap-space 4\n"),
            ("run.sh", "docker run --gpus all vllm/vllm-openai:v0.23.0 \\ \n  --model Qwen/Qwen3-8B\n"),
            ("Makefile", "serve:\n\tvllm serve Qwen/Qwen3-8B \\ \n\t  --port 80\n"),
            ("llm.service", "[Service]\nExecStart=/usr/bin/vllm serve Qwen/Qwen3-8B \\ \n  --port 80\n"),
        ],
    )
    def test_it_is_said(self, filename: str, text: str) -> None:
        (finding,) = findings_in(text, filename)
        assert finding.rule == "vllm/command-cut-short"
        assert finding.advice == "delete the blank after the backslash"
        assert finding.span.text.rstrip(" \t") == "\\"

    @pytest.mark.parametrize("blanks", [" ", "  "])
    def test_a_comment_behind_it_is_named_and_not_joined(self, blanks: str) -> None:
        (finding,) = findings_in(f"vllm serve Qwen/Qwen3-8B \\{blanks}# the model\n  --port 80\n")
        assert finding.message.startswith("a comment follows this backslash, so the line does not continue: ")
        assert (finding.advice, finding.fix) == ("put the comment on a line of its own before the command", None)

    def test_its_fix_continues_the_line(self) -> None:
        (finding,) = findings_in("vllm serve Qwen/Qwen3-8B \\ \n  --port 80\n")
        assert finding.fix is not None
        (edit,) = finding.fix.edits
        text = edit.span.source.text
        assert text[: edit.span.start] + edit.text + text[edit.span.end :] == "vllm serve Qwen/Qwen3-8B \\\n  --port 80\n"

    def test_folded_lines_need_none(self) -> None:
        found = findings_in(
            "services:\n  a:\n    image: vllm/vllm-openai:v0.23.0\n    gpus: all\n    ipc: host\n"
            "    command: >\n      --model Qwen/Qwen3-8B \\\n      --port 8000\n",
            "compose.yml",
        )
        assert [(one.rule, one.advice) for one in found] == [("vllm/command-cut-short", "delete the backslash")]

    def test_each_has_a_fix_of_its_own(self) -> None:
        found = findings_in(
            "services:\n  a:\n    image: vllm/vllm-openai:v0.23.0\n    gpus: all\n    ipc: host\n"
            "    command: |\n      --model Qwen/Qwen3-8B \\ \n      --port 8000 \\  \n      --dtype auto\n",
            "compose.yml",
        )
        edits = [edit for finding in found if finding.fix is not None for edit in finding.fix.edits]
        assert [(edit.span.text, edit.text) for edit in edits] == [(" ", ""), ("  ", "")]

    def test_a_blank_in_a_word_may_be_meant(self) -> None:
        assert findings_in("vllm serve Qwen/Qwen3-8B --served-model-name my\\ model ' x'\n") == []


class TestOptionThatALauncherPassesOver:
    @pytest.mark.parametrize(
        ("option", "advice"),
        [
            ("--max_num_seqs", "write --max-num-seqs"),
            ("--max_model-len", "write --max_model_len"),
            ("--enforce-egar", "did you mean --enforce-eager?"),
            ("--quite-another", "delete it, or look its name up"),
        ],
    )
    def test_it_is_said(self, option: str, advice: str) -> None:
        text = f"python -m huggingfaceserver --model_name m --model_id m/m {option} 64 --backend vllm\n"
        (finding,) = findings_in(text, settings=Settings(engine_versions={"vllm": "0.27.1"}))
        assert finding.message.endswith(f"passes over options that it does not know: {option} has no effect")
        assert (finding.rule, finding.advice, finding.span.text) == ("vllm/ignored-option", advice, option)


def test_an_argument_that_no_option_takes_is_marked() -> None:
    finding = only("vllm", "m other", "0.27.1")
    assert (finding.rule, finding.label) == ("vllm/unexpected-argument", "unexpected")


class TestAdviceForASlipBefore:
    """What follows from one slip is not told, and the advice does not make it worse."""

    @pytest.mark.parametrize("option", ["--speculative-config ", "--speculative-config="])
    def test_json_without_quotes(self, option: str) -> None:
        (finding,) = findings_in(f'vllm serve m/m {option}{{"method":"ngram","num_speculative_tokens":2}}\n')
        assert finding.rule == "vllm/malformed-json"
        assert finding.advice == "put single quotes around the whole value"
        assert finding.fix is not None
        assert finding.fix.edits[0].text == """'{"method":"ngram","num_speculative_tokens":2}'"""

    def test_json_of_the_older_server_is_no_model(self) -> None:
        command = "python3 -m vllm.entrypoints.openai.api_server --model m/m"
        found = findings_in(f'{command} --kv-transfer-config {{"kv_connector":"NixlConnector","kv_role":"kv_both"}}\n')
        assert [one.rule for one in found] == ["vllm/malformed-json"]

    def test_braces_that_are_no_json(self) -> None:
        assert findings_in("vllm serve m/m --served-model-name {a,b}\n") == []

    @pytest.mark.parametrize(
        ("command", "advice"),
        [
            ("vllm serve m/m --model m/m", "delete --model and its value"),
            ("vllm serve half --model m/m", "keep one of them; if half is the value of an option, write the option before it"),
            (
                'vllm serve --model m/m --port 1 ""',
                "delete the empty argument: where a variable leaves it, write ${NAME:?} to have the shell refuse an unset one",
            ),
        ],
    )
    def test_a_second_model_may_be_a_value(self, command: str, advice: str) -> None:
        (finding,) = findings_in(f"pip install vllm==0.33.0\n{command}\n")
        assert finding.advice == advice


class TestAdvice:
    @pytest.mark.parametrize(
        ("engine", "release", "text", "advice"),
        [
            ("sglang", "0.5.23", "--disable-piecewise-cuda-graph", "write --cuda-graph-backend-prefill disabled"),
            ("sglang", "0.5.23", "--enable-breakable-cuda-graph", "write --cuda-graph-backend-prefill breakable"),
            ("sglang", "0.5.23", "--enable-ep-moe", "write --ep-size with the number of GPUs of --tp-size"),
            (
                "sglang",
                "0.5.23",
                "--stream-output --incremental-streaming-output",
                "delete it: --incremental-streaming-output is set already",
            ),
            (
                "sglang",
                "0.5.23",
                "--cuda-graph-max-bs 8 --cuda-graph-max-bs-decode 8",
                "delete it: --cuda-graph-max-bs-decode is set already",
            ),
            (
                "vllm",
                "0.33.0",
                "--cache-dtype auto --kv-cache-dtype fp8",
                "delete it, with its value: --kv-cache-dtype is set already",
            ),
            ("sglang", "0.5.23", "---kv-cache-dtype auto", "did you mean --kv-cache-dtype?"),
        ],
    )
    def test_it_is_complete_and_says_nothing_twice(self, engine: str, release: str, text: str, advice: str) -> None:
        assert only(engine, with_model(engine, text), release).advice == advice

    @pytest.mark.parametrize("engine", ["vllm", "sglang"])
    def test_an_option_instead_of_a_switch_has_its_value(self, engine: str) -> None:
        book = catalogs.load(engine)
        assert book is not None
        tables = [book.table(index) for index in range(len(book.releases))]
        bare: list[str] = []
        for spelling in book.spellings():
            instead = replacement(engine, spelling.lstrip("-"))
            old = next((one for table in tables if (one := table.find(spelling))), None)
            written = instead.text.removeprefix("write ") if instead is not None else ""
            new = next((one for table in reversed(tables) if (one := table.find(written))), None)
            if old is not None and not old.takes_value and new is not None and new.takes_value:
                bare.append(spelling)
        assert bare == []


@pytest.mark.parametrize(
    "text",
    [
        'ARGS=" --model-path m --tp-size 4"\npython3 -m sglang.launch_server "$ARGS"\n',
        'python3 -m sglang.launch_server "--model-path m --port=80"\n',
        "docker run --gpus all lmsysorg/sglang:v0.5.12 python3 -m sglang.launch_server '--model m --port 80 --tp 2'\n",
    ],
)
def test_a_command_line_in_one_word_is_one_finding(text: str) -> None:
    """The model that it names is not missing besides."""
    assert [one.rule for one in findings_in(text, "run.sh") if one.severity == "error"] == ["sglang/one-word"]


class TestClap:
    """What clap does otherwise than argparse, and the variables of its options."""

    @together(
        "words, expected",
        [
            ("-p8080", []),
            ("-p=8080", []),
            ("-p 8080 -e", []),
            ("-pabc", ["invalid-value"]),
            ("--model_id m", ["unknown-option"]),
            ("--max-input 5", ["unknown-option"]),
            ("--num-shard 2 --num-shard 2", ["given-twice"]),
            ("--json-output --json-output", ["given-twice"]),
            ("--cuda-graphs 1 --cuda-graphs 2", []),
            ("--cuda-graphs 1,x", ["invalid-value"]),
            ("--cuda-graphs 1,2,4", []),
            ("--sharded yes", ["invalid-choice"]),
            ("--json-output=true", ["unexpected-value"]),
            ("--port 65536", ["invalid-value"]),
            ("--max-batch-total-tokens -1", ["missing-value", "unknown-option"]),
            ("--waiting-served-ratio .5", []),
            ("m", ["unexpected-argument"]),
        ],
    )
    def test_words(self, words: str, expected: list[str]) -> None:
        assert kinds("tgi", words, "3.3.7") == expected


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ("embed", "write --runner pooling --convert embed"),
        ("draft", "write --runner draft"),
        ("auto", "delete it"),
        ("other", "write --runner (generate or pooling) and --convert (embed, classify)"),
    ],
)
def test_task_is_replaced_by_its_value(value: str, advice: str) -> None:
    finding = only("vllm", f"m --task {value}", "0.13.0")
    assert (finding.rule, finding.advice) == ("vllm/removed-option", advice)


def test_a_second_model_is_not_advised() -> None:
    finding = only("vllm", "m --moel other", "0.33.0")
    assert finding.advice == "delete it, with its value: the model is set already"
    assert finding.fix is None


class TestProgramThatLacksOptions:
    IMAGE = "docker run ghcr.io/huggingface/text-generation-inference:3.3.7{} --model-id a/b {}"

    @pytest.mark.parametrize(
        ("build", "words", "refused"),
        [
            ("-llamacpp", "--quantize awq --num-shard=2 --type-k q8_0 --max-total-tokens 4096", ["--quantize", "--num-shard"]),
            ("-llamacpp", "--max-batch-prefill-tokens 4096", ["--max-batch-prefill-tokens"]),
            ("-trtllm", "--tokenizer-name a/b --executor-worker /x --max-batch-size 4", ["--max-batch-size"]),
            ("-trtllm", "--tokenizer-name a/b --executor-worker /x --max-batch-prefill-tokens 4096", []),
            ("", "--quantize awq --max-batch-size 4", []),
        ],
    )
    def test_refuses_them(self, build: str, words: str, refused: list[str]) -> None:
        found = [one for one in findings_in(self.IMAGE.format(build, words) + "\n", "run.sh") if one.severity == "error"]
        assert [one.span.text for one in found] == refused
        assert all("is an option of text-generation-launcher: text-generation-" in one.message for one in found)


def test_types_of_speculation_are_collected() -> None:
    repeated = "-m m.gguf --spec-type ngram-mod --spec-type draft-mtp"
    assert kinds("llama.cpp", repeated, "b9113") == ["repeated-option"]
    assert kinds("llama.cpp", repeated, "b9246") == []
    assert kinds("llama.cpp", "-m m.gguf -c 4096 -c 8192", "b11434") == ["repeated-option"]


@together(
    "model, command, expected",
    [
        ("model: n", "vllm serve m --config a.yaml", []),
        ("model: n", "vllm serve --config a.yaml", []),
        ("port: 1", "vllm serve m --model n --config a.yaml", ["unexpected-argument"]),
    ],
)
def test_a_model_of_a_file_goes_behind_the_argument(model: str, command: str, expected: list[str]) -> None:
    """_pull_args_from_config sets the file's words behind the argument, after --model was looked for."""
    assert kinds_in(f"cat > a.yaml <<EOF\n{model}\nEOF\n{command}\n", "run.sh", vllm="0.25.1") == expected


def test_a_call_of_python_is_no_word_of_a_shell() -> None:
    text = """
from ray.serve.llm import LLMConfig, build_openai_app
config = LLMConfig(
    model_loading_config=dict(model_id="a", model_source="Qwen/Qwen3-8B"),
    runtime_env=dict(env_vars={"A": "1", "B": "2"}),
    engine_kwargs=dict(tensor_parallel_size=4, limit_mm_per_prompt={"image": 1, "video": 0}),
)
"""
    assert [one for one in findings_in(text, "serve.py") if one.rule == "vllm/malformed-json"] == []
    shell = findings_in('vllm serve m --limit-mm-per-prompt {"image":1,"video":0}\n')
    assert [one.rule for one in shell if one.rule == "vllm/malformed-json"] == ["vllm/malformed-json"]
