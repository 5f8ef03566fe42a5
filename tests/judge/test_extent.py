"""How far a launch is judged: its release, the parts that are not resolved, the rules that stay undecided."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.judged import Judged, Unresolved, summary, totals
from servelint.core.settings import Settings
from servelint.core.text import TracedText, unknown
from servelint.engines import ENGINES
from servelint.judge.extent import judged, reason, undecided
from servelint.judge.judging import judge
from tests.launching import launch_in, marked_launch
from tests.together import together


def record(text: str, filename: str = "run.sh", **versions: str) -> Judged:
    return judged(launch_in(text, filename), Settings(engine_versions=versions))


def lacks(text: str, filename: str = "run.sh", gpu: str | None = None) -> dict[str, list[str]]:
    found = undecided(launch_in(text, filename), Settings(gpu=gpu))
    return {one.rule: one.lacks for one in found}


@together(
    "text, release, how",
    [
        ("docker run vllm/vllm-openai:v0.33.0 --model m", "0.33.0", "image"),
        (f"docker run vllm/vllm-openai:v0.33.0@sha256:{'0' * 64} --model m", "0.33.0", "digest"),
        (f"docker run vllm/vllm-openai@sha256:{'0' * 64} --model m", None, "unknown"),
        ("docker run vllm/vllm-openai:latest --model m", "0.33.0", "rolling"),
        ("docker run vllm/vllm-openai --model m", "0.33.0", "rolling"),
        ("docker run vllm/vllm-openai:$TAG --model m", None, "unknown"),
        ("docker run house/vllm:2 --model m", None, "unknown"),
        ("pip install vllm==0.27.1\nvllm serve m", "0.27.1", "pip"),
        ("pip install 'vllm>=0.27'\nvllm serve m", None, "unknown"),
        ("vllm serve m", None, "unknown"),
        ("python3 -m sglang.launch_server --model-path m", "0.5.12", "settings"),
    ],
)
def test_the_release_and_how_it_is_known(text: str, release: str | None, how: str) -> None:
    found = record(text, sglang="0.5.12")
    assert (found.release, found.how, found.assumption) == (release, how, "")
    assert found.pinned is (how in ("image", "digest", "pip", "settings"))


def test_a_build_between_two_of_the_catalog_is_known_and_says_what_it_is_judged_by() -> None:
    found = record("docker run ghcr.io/ggml-org/llama.cpp:server-b9180 -m m.gguf")
    assert (found.release, found.known, found.whole) == ("b9180", True, True)
    assert found.assumption == "llama.cpp b9180 is judged by b9113 and b9246, as far as they agree"


@together(
    "text, shown, why",
    [
        ("vllm serve ⟦$MODEL⟧", "${MODEL}", "MODEL has no value in this file"),
        ('vllm serve "⟦${MODEL}⟧"', "${MODEL}", "MODEL has no value in this file"),
        ('vllm serve m "⟦$@⟧"', "$@", "the arguments of the script are unknown"),
        ("vllm serve ⟦$1⟧", "${1}", "the arguments of the script are unknown"),
        ("vllm serve m --port ⟦$(cat port)⟧", "$(cat port)", "the output of a command is not known"),
        ("vllm serve m --port ⟦`cat port`⟧", "`cat port`", "the output of a command is not known"),
        ("vllm serve m ⟦${EAGER:+--enforce-eager}⟧", "${EAGER:+--enforce-eager}", "it is --enforce-eager, or nothing"),
        ("vllm serve m --served-model-name=a-⟦$B⟧", "--served-model-name=a-${B}", "B has no value in this file"),
    ],
)
def test_a_word_that_is_not_resolved(text: str, shown: str, why: str) -> None:
    launch, (place,) = marked_launch(text, "run.sh")
    (one,) = judged(launch, Settings()).unresolved
    assert (one.kind, one.text, one.why, one.matters) == ("word", shown, why, True)
    assert one.span == place


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("{{ .Values.model }}", "a template fills it in"),
        ("<your-model>", "it is a placeholder"),
        ("...", "it is a placeholder"),
        ("${MODEL:?needed}", "MODEL has no value in this file"),
        ("$((A + B))", "the result is not known"),
        ("<(cat x)", "the output of a command is not known"),
        ("?", "its value is not known"),
    ],
)
def test_why_an_expression_has_no_value(expression: str, why: str) -> None:
    assert reason(expression) == why


@pytest.mark.parametrize("text", ["vllm serve m --port ${PORT:-8000}", "P=1\nvllm serve m --port $P", "vllm serve m ${MORE:-}"])
def test_a_default_and_a_variable_with_a_value_are_resolved(text: str) -> None:
    assert record(text).unresolved == []


COMPOSE = """
services:
  llm:
    image: vllm/vllm-openai:v0.33.0
    command: --model m --api-key ${KEY} --hf-token=${HF}
    environment:
      HF_TOKEN:
      VLLM_API_KEY: ${KEY}
      TZ: ${TZ}
      VLLM_LOGGING_LEVEL: ${LEVEL}
      NCCL_DEBUG: INFO
"""


def test_what_a_judgement_cannot_depend_on_does_not_matter() -> None:
    found = record(COMPOSE, "compose.yml")
    matters = {one.text: one.matters for one in found.unresolved}
    assert matters.pop("VLLM_LOGGING_LEVEL=${LEVEL}") is True
    assert set(matters) == {"${KEY}", "--hf-token=${HF}", "HF_TOKEN", "VLLM_API_KEY=${KEY}", "TZ=${TZ}"}
    assert not any(matters.values())
    assert not found.whole
    found.unresolved = [one for one in found.unresolved if not one.matters]
    assert found.whole


def test_variables_of_a_file_that_is_not_there() -> None:
    text = COMPOSE.replace("    environment:\n", "    env_file: nope.env\n    environment:\n")
    (one,) = [one for one in record(text, "compose.yml").unresolved if one.kind == "environment"]
    assert (one.text, one.why) == ("", "variables may be set in a file or a script that was not read")


def test_options_in_a_file_that_is_not_known(tmp_path: Path) -> None:
    (one,) = record("vllm serve m --config config.yaml").unresolved
    assert (one.kind, one.text) == ("file", "--config")
    assert record("vllm serve m --config=config.yaml").unresolved == []  # which no release reads: a finding
    script = tmp_path / "run.sh"
    script.write_text("vllm serve m --config config.yaml\n")
    (tmp_path / "config.yaml").write_text("port: 8000\n")
    launch = launch_in(script.read_text(), "run.sh", tmp_path)
    assert judged(launch, Settings()).unresolved == []


def test_a_file_of_options_of_another_engine_that_is_not_there(tmp_path: Path) -> None:
    command = "trtllm-serve m --extra_llm_api_options{}c.yaml\n"
    for between in (" ", "="):
        text = command.format(between)
        (one,) = [one for one in judged(launch_in(text, "run.sh", tmp_path), Settings()).unresolved if one.kind == "file"]
        assert one.text.startswith("--extra_llm_api_options")
    text = command.format(" ")
    assert judged(launch_in(text.replace("m ", "m --backend _autodeploy "), "run.sh", tmp_path), Settings()).unresolved == []
    (tmp_path / "c.yaml").write_text("max_batch_size: 8\n")
    assert judged(launch_in(text, "run.sh", tmp_path), Settings()).unresolved == []
    (one,) = judged(launch_in(text.replace("c.yaml", "$FILE"), "run.sh", tmp_path), Settings()).unresolved
    assert one.kind == "word"


def test_a_file_of_options_that_is_not_yaml_is_a_finding_alone(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("port: [")
    launch = launch_in("vllm serve m --config config.yaml\n", "run.sh", tmp_path)
    assert judged(launch, Settings()).unresolved == []


def test_an_engine_without_a_catalog_is_not_wholly_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ENGINES["tgi"], "harvested", False, raising=False)
    found = record("docker run ghcr.io/huggingface/text-generation-inference:3.3.4 --model-id m")
    assert (found.pinned, found.checked, found.whole) == (True, False, False)


PINNED = "docker run vllm/vllm-openai:v0.33.0 --model Qwen/Qwen3-8B"


@pytest.mark.parametrize(
    ("text", "rule", "facts"),
    [
        (f"{PINNED} --max-model-len 8192", "vllm/memory-does-not-start", ["the GPU"]),
        (f"{PINNED} --tensor-parallel-size 8", "vllm/world-size-above-gpus", ["how many GPUs there are"]),
        (PINNED.replace("Qwen/Qwen3-8B", "$M --quantization awq"), "vllm/quantization-mismatch", ["the facts of the model"]),
        (f"{PINNED} --speculative-config $SPEC", "vllm/spec-method-unknown", ["the value of --speculative-config"]),
        (f"{PINNED} --max-num-seqs 8 --gpu-memory-utilization $SHARE", "vllm/memory-does-not-start", ["the GPU"]),
    ],
)
def test_the_fact_that_a_rule_lacks(text: str, rule: str, facts: list[str]) -> None:
    assert lacks(text)[rule] == facts


def test_a_plan_lacks_the_model_where_the_gpu_is_known() -> None:
    rule = "vllm/memory-does-not-start"
    assert lacks(PINNED.replace("Qwen/Qwen3-8B", "acme/some-model"), gpu="h100-80gb")[rule] == ["the facts of the model"]
    assert rule not in lacks(PINNED, gpu="h100-80gb")


def test_a_rule_that_needs_another_option_is_not_undecided() -> None:
    found = lacks(f"{PINNED} --port 8000")
    assert len(found) < 12
    assert not any("speculative" in rule or "lora" in rule for rule in found)


@pytest.mark.parametrize(
    ("release", "checked", "known"),
    [
        *(("1.2.0", True, True), ("1.2.1", True, True), ("1.3.0rc5.post1", True, True), ("1.3.0rc29", True, True)),
        ("1.4.0rc1", True, False),  # judged as its neighbour
        ("0.16.0", False, True),
    ],
)
def test_a_published_release_whose_options_are_not_known_is_said(release: str, checked: bool, known: bool) -> None:
    record = judged(
        launch_in(f"docker run nvcr.io/nvidia/tensorrt-llm/release:{release} trtllm-serve m\n", "run.sh"), Settings()
    )
    assert (record.checked, record.known, record.whole) == (checked, known, checked and known)
    assert ("newer than every release that servelint knows" in record.assumption) is not known


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("sglang serve --model-path a/b --num-gpus 2", "--num-gpus"),
        ("sglang serve --model-path a/b --vae-path=c/d", "--vae-path=c/d"),
        ("vllm serve a/b --omni --port 8091", "--omni"),
    ],
)
def test_a_server_of_another_kind_is_not_wholly_judged(text: str, mark: str) -> None:
    found = record(text, sglang="0.5.16", vllm="0.14.0")
    assert (found.checked, found.whole) == (False, False)
    assert [one.text for one in found.unresolved] == [mark]


@pytest.mark.parametrize(
    "text",
    [
        "sglang serve --model-path a/b --tp-size 2",
        "python -m dynamo.sglang --endpoint a.b.c --model-path m",
        "python -m sglang_router.launch_server --model-path m --dp-size 2 --router-selector a=b c=d --tp 2",
        "smg server --router-dp-aware --model-path m --worker-urls http://a http://b --router-prefill http://c 9 --tp 2",
    ],
)
def test_options_of_the_engine_and_of_a_known_wrapper_are_judged(text: str) -> None:
    found = record(text, sglang="0.5.16")
    assert found.checked
    assert not found.unresolved


def test_only_a_launcher_that_sets_nothing_leaves_the_engine_its_defaults() -> None:
    def unknown(program: str) -> set[str]:
        text = f"pip install sglang==0.5.4.post3\n{program} --model-path Qwen/Qwen3-8B --tp 2 --router-policy random"
        return {fact for facts in lacks(text).values() for fact in facts}

    assert "whether --attention-backend is given" not in unknown("python -m sglang_router.launch_server")
    assert "whether --attention-backend is given" in unknown("smg server")


def test_a_named_gpu_decides() -> None:
    text = f"{PINNED} --max-model-len 8192"
    assert "vllm/memory-does-not-start" in lacks(text)
    assert "the GPU" not in [fact for facts in lacks(text, gpu="h100-80gb").values() for fact in facts]


def test_a_rule_that_holds_for_some_releases_only_lacks_the_release() -> None:
    text = "docker run vllm/vllm-openai:{} --model Qwen/Qwen3.6-27B --enable-prefix-caching --speculative-config.method mtp"
    found = lacks(text.format("$TAG"))
    assert "the release" in found["vllm/hybrid-mtp-prefix-caching"]
    assert not any("the release" in facts for facts in lacks(text.format("v0.33.0")).values())


ISSUE = (
    "4 launches: 2 at a pinned version, 1 at a rolling tag judged as 0.33.0, 1 of unknown version;"
    " 3 words not resolved (--verbose lists them)"
)
UNREAD = (
    "1 launch: 1 at a pinned version; 1 file or script not read, 1 launch without a catalog of options (--verbose lists them)"
)


def one(how: str, *unresolved: Unresolved, known: bool = True, checked: bool = True) -> Judged:
    release = None if how == "unknown" else "0.33.0"
    return Judged(release, how, list(unresolved), known=known, checked=checked)


def word(*, matters: bool = True) -> Unresolved:
    return Unresolved("word", "$M", None, "M has no value in this file", matters=matters)


@together(
    "records, line",
    [
        ([], ""),
        ([one("image")], "1 launch: 1 at a pinned version"),
        ([one("image"), one("pip"), one("digest")], "3 launches: 3 at a pinned version"),
        (
            [one("image"), one("image", word()), one("rolling", word(), word()), one("unknown")],
            ISSUE,
        ),
        ([one("settings")], "1 launch: 1 at the version of the settings"),
        ([one("image", word(matters=False))], "1 launch: 1 at a pinned version"),
        ([one("unknown")], "1 launch: 1 of unknown version (--verbose lists more)"),
        ([one("image", known=False)], "1 launch: 1 at an unlisted version judged as 0.33.0 (--verbose lists more)"),
        (
            [one("image", Unresolved("environment", "", None, "x"), checked=False)],
            UNREAD,
        ),
    ],
)
def test_the_closing_line(records: list[Judged], line: str) -> None:
    assert summary(records, hint=True) == line


def test_the_totals() -> None:
    found = totals([one("image"), one("image", word()), one("rolling"), one("pip", known=False)])
    assert found == {
        **dict.fromkeys(("digest", "pip", "settings", "unknown", "undecided_rules"), 0),
        **dict.fromkeys(("whole", "rolling", "unlisted", "unresolved_words", "unresolved"), 1),
        "launches": 4,
        "image": 2,
    }


def test_the_character_that_stands_for_an_unknown_in_a_file() -> None:
    (found,) = record("vllm serve \ufdd0").unresolved
    assert (found.kind, found.why) == ("word", "its value is not known")


@pytest.mark.parametrize(
    ("image", "words", "shown"),
    [
        ("house/vllm-fork:1", "m --prot 1", ["--prot"]),
        ("rocm/vllm-dev:rocm7.0_mi35x_ubuntu22.04_py3.12_vllm_0.11.1", "m --prot 1 --dtype auto", ["--prot"]),
        ("quay.io/ascend/vllm-ascend:v0.11.0rc1", "m --dtype fp7", ["fp7"]),
        ("quay.io/ascend/vllm-ascend:v0.11.0rc1", "m --dtype auto", []),
        ("vllm/vllm-openai:v0.11.0", "m --prot 1", []),  # which is a finding
    ],
)
def test_what_a_build_of_another_publisher_may_take(image: str, words: str, shown: list[str]) -> None:
    launch = launch_in(f"docker run {image} vllm serve {words}", "run.sh")
    judge(launch, Settings())
    found = judged(launch, Settings())
    assert [one.text for one in found.unresolved] == shown
    assert all(
        one.why == "the engine's own releases refuse it, and a build of another publisher may not" for one in found.unresolved
    )


@pytest.mark.parametrize(
    ("image", "words", "shown"),
    [
        (
            "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.6.0",
            "python -m dynamo.vllm --model m --house 1 --tensor-parallel-size 2",
            ["--house"],
        ),
        ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.6.0", "python -m dynamo.trtllm --model-path m --house=1", ["--house"]),
        ("ghcr.io/huggingface/text-generation-inference:3.3.5-llamacpp", "--model-id m --n-gpu-layers 9 --numa numactl", []),
        ("ghcr.io/huggingface/text-generation-inference:3.3.5-llamacpp", "--model-id m --house 9", ["--house"]),
        (
            "ghcr.io/huggingface/text-generation-inference:3.3.5-trtllm",
            "--model-id /data --tokenizer-name m --executor-worker /usr/local/tgi/bin/executorWorker",
            [],
        ),
    ],
)
def test_what_the_program_that_starts_the_engine_may_take(image: str, words: str, shown: list[str]) -> None:
    launch = launch_in(f"docker run {image} {words}", "run.sh")
    findings = judge(launch, Settings())
    assert [one.text for one in judged(launch, Settings()).unresolved] == shown
    assert not [one for one in findings if one.severity == "error"]


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("{{ .Values.llm.length }}", "of the length"),
        ("{{ .Values.llm.other }}", "of llm"),
        ('{{ index .Values "max-len" }}', "of max-len"),
    ],
)
def test_why_a_value_of_a_chart_is_not_known(expression: str, why: str) -> None:
    launch = launch_in("vllm serve m --max-model-len $A\n", "run.sh")
    (piece,) = launch.argv[-1].text.pieces
    launch.argv[-1].text = TracedText((unknown(expression, piece.span),))
    launch.elsewhere = {"llm.length": "of the length", "llm": "of llm", "max-len": "of max-len"}
    assert [one.why for one in judged(launch, Settings()).unresolved] == [why]


def test_the_folder_of_a_script_is_shown_as_it_is_written() -> None:
    found = record('vllm serve "$(dirname "$0")/models/$NAME"')
    assert [one.text for one in found.unresolved] == ['$(dirname "$0")/models/${NAME}']
