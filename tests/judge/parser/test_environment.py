"""Complaints about environment variables that nothing in the release reads, or that it is about to drop."""

from __future__ import annotations

import pytest

import servelint
from servelint.core.settings import Settings
from servelint.judge.judging import judge
from tests.judge.parser import edits, in_file, is_safe, kinds, kinds_in, only
from tests.launching import launch_in
from tests.together import together


def test_one_that_the_release_reads_no_more() -> None:
    finding = only("vllm", "m", "0.27.1", {"VLLM_ATTENTION_BACKEND": "FLASHINFER"})
    assert finding.rule == "vllm/removed-env"
    assert finding.message == "nothing in vLLM 0.27.1 reads VLLM_ATTENTION_BACKEND: it was removed in vLLM 0.15.0"
    assert finding.advice == "write --attention-backend FLASHINFER"
    assert (finding.severity, finding.impact, finding.fix) == ("warning", "silently-ignored", None)


def test_what_releases_read_to_say_that_it_is_removed_was_removed_in_the_first_of_them() -> None:
    launch = launch_in("SGLANG_ENABLE_SPEC_V2=1 sglang serve --model-path m\n", "run.sh")
    (message,) = [one.message for one in judge(launch, Settings()) if "SPEC_V2" in one.message]
    assert message == "nothing in SGLang 0.5.23 reads SGLANG_ENABLE_SPEC_V2: it was removed in SGLang 0.5.14"


def test_one_that_only_later_releases_read() -> None:
    finding = only("vllm", "m", "0.6.0", {"VLLM_USE_V1": "1"})
    assert finding.rule == "vllm/env-not-yet"
    assert finding.message == "nothing in vLLM 0.6.0 reads VLLM_USE_V1: it exists from vLLM 0.6.4"
    assert finding.advice == "delete it, or use vLLM 0.6.4 or later"


def test_one_that_the_release_deprecates() -> None:
    finding = only("vllm", "m", "0.22.0", {"VLLM_FLASHINFER_MOE_BACKEND": "latency"})
    assert finding.rule == "vllm/deprecated-env"
    assert finding.message == "VLLM_FLASHINFER_MOE_BACKEND is deprecated in vLLM 0.22.0"
    assert "--moe-backend" in finding.advice


def test_one_of_another_engine_in_a_container() -> None:
    text = """
        services:
          llm:
            image: vllm/vllm-openai:v0.27.1
            environment: [SGLANG_ENABLE_SPEC_V2=1, SGLANG_SOMETHING_ELSE=1]
            command: --model m
    """
    (finding,) = in_file(text)
    assert finding.rule == "vllm/env-of-other-engine"
    assert finding.message == "SGLANG_ENABLE_SPEC_V2 is a variable of SGLang; nothing in vLLM 0.27.1 reads it"
    assert (finding.advice, finding.span.text) == ("delete it", "SGLANG_ENABLE_SPEC_V2")


def test_one_of_another_engine_in_a_script_may_be_for_that_one() -> None:
    assert kinds_in("export SGLANG_ENABLE_SPEC_V2=1\nvllm serve m", "run.sh", vllm="0.27.1") == []


@pytest.mark.parametrize(
    ("engine", "command", "name", "release", "option"),
    [
        ("vllm", "m", "VLLM_HOST", "0.33.0", "--host"),
        ("vllm", "m", "VLLM_HOST", "0.8.5", "--host"),
        ("sglang", "--model-path m", "SGLANG_HOST", "0.5.23", "--host"),
    ],
)
def test_one_that_is_named_for_an_option(engine: str, command: str, name: str, release: str, option: str) -> None:
    finding = only(engine, command, release, {name: "0.0.0.0"})
    assert finding.rule == f"{engine}/unknown-env"
    assert finding.advice == f"write {option} with its value"
    assert finding.fix is None


def test_one_that_is_named_for_an_option_which_older_releases_lack() -> None:
    """The file names no release: the variable that every release reads is what works."""
    (finding,) = in_file("VLLM_LOG_LEVEL=warning vllm serve m", "run.sh")
    assert (finding.rule, finding.advice) == ("vllm/unknown-env", "did you mean VLLM_LOGGING_LEVEL?")
    text = "docker run --gpus all -e VLLM_LOG_LEVEL=warning vllm/vllm-openai:v0.33.0 --model m"
    (pinned,) = [one for one in in_file(text, "run.sh") if one.rule == finding.rule]
    assert pinned.advice == "write --log-level with its value"


def test_one_that_is_named_for_an_option_of_the_command() -> None:
    assert kinds("vllm", "m --host 0.0.0.0", "0.33.0", {"VLLM_HOST": "0.0.0.0"}) == []


def test_one_that_is_no_more_than_close_to_another() -> None:
    text = "VLLM_USE_FLASHINFR_SAMPLER=1 vllm serve m"
    (finding,) = in_file(text, "run.sh", vllm="0.27.1")
    assert finding.rule == "vllm/unknown-env"
    assert finding.message == "nothing in vLLM 0.27.1 reads VLLM_USE_FLASHINFR_SAMPLER"
    assert finding.advice == "did you mean VLLM_USE_FLASHINFER_SAMPLER?"
    assert edits(finding) == [("VLLM_USE_FLASHINFR_SAMPLER", "VLLM_USE_FLASHINFER_SAMPLER")]
    assert is_safe(finding) is False


def test_one_that_is_close_to_another_is_told_of_a_command_too() -> None:
    assert kinds("vllm", "m", "0.27.1", {"VLLM_USE_FLASHINFR_SAMPLER": "1"}) == ["unknown-env"]


@pytest.mark.parametrize(
    ("release", "env"),
    [
        ("0.27.1", {"VLLM_SOMETHING_ELSE_ENTIRELY": "1"}),  # a script or a plugin may read it
        ("0.27.1", {"VLLM_LOGGING_LEVEL": "DEBUG"}),
        ("0.27.1", {"HF_HOME": "/cache", "SGLANG_SOMETHING_ELSE": "1"}),
        ("0.10.0", {"VLLM_USE_V1": "1"}),
        (None, {"VLLM_USE_V1": "1"}),  # some release reads it
    ],
)
def test_nothing_is_said_of_what_may_be_read(release: str | None, env: dict[str, str]) -> None:
    assert kinds("vllm", "m", release, env) == []


def test_a_former_name_of_sglang_is_read_under_the_new_one() -> None:
    names = ("SGL_ENABLE_JIT_DEEPGEMM_BMM", "SGL_ENABLE_JIT_DEEPGEMN", "SGL_FORCE_SHUTDOWM")
    assert [kinds("sglang", "--model-path m", "0.4.6", {name: "1"}) for name in names] == [["removed-env"], [], []]


_OLLAMA = "services:\n  a:\n    image: ollama/ollama:0.24.0\n    environment:\n      - OLLAMA_NOVEL_THING=1\n"


@together(
    "text, filename, expected",
    [
        ("LLAMA_ARG_NOVEL_THING=1 llama-server -m a.gguf", "run.sh", ["unknown-env"]),
        ("docker run -e LLAMA_ARG_NOVEL_THING=1 ghcr.io/ggml-org/llama.cpp:server-b11434 -m a.gguf", "run.sh", ["unknown-env"]),
        ("docker run -e OLLAMA_NOVEL_THING=1 ollama/ollama:0.24.0", "run.sh", ["unknown-env"]),
        (_OLLAMA, "compose.yml", ["unknown-env"]),
        # each of these may be for something else
        ("LLAMA_NOVEL_THING=1 llama-server -m a.gguf", "run.sh", []),
        ("export LLAMA_ARG_NOVEL_THING=1\n./check $LLAMA_ARG_NOVEL_THING\nllama-server -m a.gguf", "run.sh", []),
        ("docker run -e LLAMA_ARG_NOVEL_THING=1 mine/llama.cpp:server-b11434 -m a.gguf", "run.sh", []),
        ("docker run -e OLLAMA_NOVEL_THING=1 mine/ollama:0.24.0", "run.sh", []),
        ("docker run -e OLLAMA_NOVEL_THING=1 ollama/ollama", "run.sh", []),  # the newest release may be newer
        ("OLLAMA_NOVEL_THING=1 ollama serve", "run.sh", []),
        (_OLLAMA + "    healthcheck:\n      test: ollama show $$OLLAMA_NOVEL_THING\n", "compose.yml", []),
        ("x-both: &both {a: b}\n" + _OLLAMA + "    labels: *both\n", "compose.yml", []),
    ],
)
def test_one_that_is_like_none_of_the_engine(text: str, filename: str, expected: list[str]) -> None:
    found = in_file(text, filename, **({"llama.cpp": "b11434"} if "llama-server" in text else {}))
    assert [one.rule.partition("/")[2] for one in found if "env" in one.rule] == expected


def test_the_name_counts_and_not_the_value() -> None:
    assert kinds_in("VLLM_USE_V1=$X vllm serve m", "run.sh", vllm="0.27.1") == ["removed-env"]


@pytest.mark.parametrize(
    ("filename", "text", "line"),
    [
        ("run.sh", "export VLLM_USE_V1=1\nvllm serve m\n", 1),
        ("run.sh", "VLLM_USE_V1=1 vllm serve m\n", 1),
        ("run.sh", "docker run -e VLLM_USE_V1=1 vllm/vllm-openai:v0.27.1 --model m\n", 1),
        (
            "compose.yml",
            "services:\n  llm:\n    image: vllm/vllm-openai:v0.27.1\n    command: m\n    environment:\n      VLLM_USE_V1: 1\n",
            6,
        ),
        (
            "compose.yml",
            "services:\n  llm:\n    image: vllm/vllm-openai:v0.27.1\n    environment: [VLLM_USE_V1=1]\n    command: m\n",
            4,
        ),
    ],
)
def test_the_place_is_the_name(filename: str, text: str, line: int) -> None:
    (finding,) = in_file(text, filename, vllm="0.27.1")
    assert (finding.rule, finding.span.text) == ("vllm/removed-env", "VLLM_USE_V1")
    assert finding.span.source.position(finding.span.start)[0] == line


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("VLLM_OPENVINO_DEVICE=GPU vllm serve m", []),
        ("VLLM_SKIP_WARMUP=1 vllm serve m", []),  # vllm-gaudi reads it
        ("docker run -e VLLM_OPENVINO_KVCACHE_SPACE=8 quay.io/a/vllm-openvino:v0.27.1 vllm serve m", []),
        ("docker run -e VLLM_OPENVINO_DEVICE=GPU ${IMAGE:-house/vllm} vllm serve m", []),
        ("docker run -e VLLM_OPENVINO_DEVICE=GPU vllm/vllm-openai:v0.27.1 --model m", ["removed-env"]),
    ],
)
def test_a_package_beside_the_engine_may_read_it(command: str, expected: list[str]) -> None:
    assert [one for one in kinds_in(command, "run.sh", vllm="0.27.1") if "env" in one] == expected


@pytest.mark.parametrize("name", ["VLLM_USE_FLASHINFR_SAMPLER", "VLLM_ROCM_USE_AITR"])
def test_a_changed_engine_may_read_more(name: str) -> None:
    text = f"""
        services:
          llm:
            image: registry.example/house/vllm:prod
            environment:
              {name}: "1"
            command: vllm serve m
    """
    assert kinds_in(text, vllm="0.27.1") == []


class TestWhereARuleSaysMore:
    """A finding about the same variable by a rule of its own is enough."""

    COMPOSE = """
        services:
          llm:
            image: lmsysorg/sglang:v0.5.23
            environment:
              {entry}
            command: sglang serve --model-path m
    """

    @pytest.mark.parametrize("entry", ["SGLANG_ENABLE_SPEC_V2: '1'", "- SGLANG_ENABLE_SPEC_V2=1"])
    def test_in_a_file(self, entry: str) -> None:
        findings = judge(launch_in(self.COMPOSE.format(entry=entry)), Settings(ignore=("container/*",)))
        assert [finding.rule for finding in findings] == ["sglang/spec-v2-removed"]

    def test_of_a_command(self) -> None:
        findings = servelint.check_command("sglang", ["--model-path", "m"], "0.5.23", {"SGLANG_ENABLE_SPEC_V2": "1"})
        assert [finding.rule for finding in findings] == ["sglang/spec-v2-removed"]


@pytest.mark.parametrize(
    ("variable", "release", "expected"),
    [
        # SGLang copies what has the old prefix to the new one, also where it reads the old name itself no more
        ("SGL_ENABLE_JIT_DEEPGEMM", "0.5.20", ["sglang/sgl-prefix"]),
        ("SGL_ENABLE_JIT_DEEPGEMM", "0.5.2", []),
        ("SGL_OF_A_HOUSE", "0.5.20", []),
        ("SGL_OF_A_HOUSE", "0.5.2", []),
        ("SGL_DISABLE_TP_MEMORY_INBALANCE_CHECK", "0.5.23", ["sglang/sgl-prefix", "sglang/tp-memory-check-old-name"]),
    ],
)
def test_the_old_prefix_of_sglang(variable: str, release: str, expected: list[str]) -> None:
    findings = servelint.check_command("sglang", ["--model-path", "m"], release, {variable: "1"})
    assert sorted(finding.rule for finding in findings) == expected


def test_one_whose_replacement_is_set_already() -> None:
    env = {"SGLANG_ENABLE_DEEP_GEMM": "0", "SGLANG_ENABLE_JIT_DEEPGEMM": "0"}
    finding = only("sglang", "--model-path m", "0.5.23", env)
    assert (finding.rule, finding.advice) == ("sglang/unknown-env", "delete it: SGLANG_ENABLE_JIT_DEEPGEMM is set already")


def test_one_whose_option_is_set_already() -> None:
    finding = only("vllm", "m --attention-backend FLASHINFER", "0.27.1", {"VLLM_ATTENTION_BACKEND": "FLASHINFER"})
    assert finding.advice == "delete it: --attention-backend is set already"


def test_one_that_the_script_passes_on() -> None:
    from tests.launching import launch_in

    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n    - name: a\n"
        "      image: vllm/vllm-openai:v0.19.0\n      command: [sh, -c, 'exec vllm serve m --host $VLLM_HOST']\n"
        "      env: [{name: VLLM_HOST, value: 0.0.0.0}]\n"
    )
    launch = launch_in(text, "pod.yaml")
    value = launch.env["VLLM_HOST"].value
    assert value is not None
    assert any(piece.span == value.span() for word in launch.argv for piece in word.text.pieces)


def test_a_value_that_the_engine_passes_over() -> None:
    (finding,) = servelint.check_command("ollama", [], version="0.32.15", env={"OLLAMA_NUM_PARALLEL": "x"})
    assert finding.rule == "ollama/ignored-env-value"
    assert finding.advice == "write a whole number that is not negative"


@pytest.mark.parametrize(("value", "written"), [("FLASHINFER", " --attention-backend FLASHINFER"), ("NO_BACKEND", None)])
def test_a_fix_passes_on_only_a_value_that_the_option_takes(value: str, written: str | None) -> None:
    (finding,) = in_file(f"""
        services:
          llm:
            image: vllm/vllm-openai:v0.27.1
            environment: [VLLM_ATTENTION_BACKEND={value}, A=b]
            command: --model m
    """)
    removed = (f"VLLM_ATTENTION_BACKEND={value}, ", "")
    assert edits(finding) == ([("", written), removed] if written is not None else [removed])


@together(
    "name, value, release, advice",
    [
        ("LLAMA_ARG_PARALLEL", "4", "b11434", "did you mean LLAMA_ARG_N_PARALLEL?"),
        ("LLAMA_ARG_NP", "4", "b3889", "did you mean LLAMA_ARG_N_PARALLEL?"),
        ("LLAMA_ARG_CTX_SIZ", "4", "b11434", "did you mean LLAMA_ARG_CTX_SIZE?"),
        ("LLAMA_ARG_BATCH_SIZE", "4", "b11434", "did you mean LLAMA_ARG_BATCH?"),
        ("LLAMA_ARG_TEMP", "1", "b11434", "did you mean LLAMA_ARG_TEMPERATURE?"),
        ("LLAMA_ARG_TEMP", "1", "b10878", "write --temp with its value"),
        ("LLAMA_ARG_NO_WARMUP", "1", "b11434", "write --no-warmup"),
        ("LLAMA_ARG_NO_WARMUP", "0", "b11434", "delete it"),
    ],
)
def test_one_of_llama_cpp_named_for_an_option(name: str, value: str, release: str, advice: str) -> None:
    finding = only("llama.cpp", "-m m.gguf", release, {name: value})
    assert (finding.rule, finding.advice) == ("llamacpp/unknown-env", advice)


def test_one_of_llama_cpp_that_has_another_name_now() -> None:
    finding = only("llama.cpp", "-m m.gguf", "b9093", {"LLAMA_ARG_MODEL_DRAFT": "d.gguf"})
    assert (finding.rule, finding.advice) == ("llamacpp/removed-env", "write LLAMA_ARG_SPEC_DRAFT_MODEL")
    assert kinds("llama.cpp", "-m m.gguf", "b8390", {"LLAMA_ARG_MODEL_DRAFT": "d.gguf"}) == []
    assert kinds("llama.cpp", "-m m.gguf", "b9000", {"LLAMA_ARG_MODEL_DRAFT": "d.gguf"}) == []  # between harvested builds


@pytest.mark.parametrize("release", ["b3889", "b7347", "b7698", "b10867"])
@pytest.mark.parametrize("value", ["0", "1", "on", "off", "true"])
def test_the_words_of_a_switch_of_llama_cpp(release: str, value: str) -> None:
    assert kinds("llama.cpp", "-m m.gguf", release, {"LLAMA_ARG_NO_MMAP": value, "LLAMA_ARG_MLOCK": value}) == []


@together(
    "text, said",
    [
        ("docker run -e OLLAM_KEEP_ALIVE=24h ollama/ollama:0.5.4", "did you mean OLLAMA_KEEP_ALIVE?"),
        (
            "docker run -e OLLAMA_KEEP_ALIVE=24h -e OLLMA_KEEP_ALIVE=24h ollama/ollama:0.5.4",
            "delete it: OLLAMA_KEEP_ALIVE is set already",
        ),
        (
            "docker run -e LAMA_ARG_CTX_SIZE=8192 ghcr.io/ggml-org/llama.cpp:server-b11434 -m a.gguf",
            "did you mean LLAMA_ARG_CTX_SIZE?",
        ),
        ("docker run -e VLM_PORT=1 vllm/vllm-openai:v0.20.0 --model m", None),
        ("docker run -e OLLAM_NO_SUCH=1 ollama/ollama:0.5.4", None),
        ("docker run -e LLAMA_CTX_SIZE=1 ghcr.io/ggml-org/llama.cpp:server-b11434 -m a.gguf", None),
        ("export OLLAM_KEEP_ALIVE=24h\nollama serve", None),
    ],
)
def test_a_slip_in_the_prefix_of_a_variable(text: str, said: str | None) -> None:
    """A container's variables are the engine's, unless they have a name of their own."""
    found = [one.advice for one in judge(launch_in(text + "\n", "run.sh"), Settings()) if one.rule.endswith("/unknown-env")]
    assert found == ([said] if said is not None else [])


_UNIT = "[Service]\nEnvironment=OLLAMA_NUM_PARALEL=4\nExecStart="


@together(
    "filename, text, expected",
    [
        ("ollama.service", _UNIT + "/usr/bin/ollama serve\n", True),
        ("ollama.service.d/override.conf", _UNIT.partition("ExecStart")[0], True),
        ("a.nix", '{ services.ollama = { enable = true; environmentVariables.OLLAMA_NUM_PARALEL = "4"; }; }', True),
        # a script may read it
        ("ollama.service", _UNIT + "/bin/sh -c 'ollama serve & exec app'\n", False),
        ("run.sh", "export OLLAMA_NUM_PARALEL=4\nollama serve\n", False),
    ],
)
def test_a_unit_has_no_variables_but_its_engine_s(filename: str, text: str, expected: bool) -> None:
    found = [one.advice for one in in_file(text, filename) if one.rule == "ollama/unknown-env"]
    assert found == ["did you mean OLLAMA_NUM_PARALLEL?"] * expected
