"""Launches that name a release which servelint does not know: newer, older, mistyped, a pre-release or a fork's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import servelint
from servelint.core.finding import SEVERITIES, Finding
from servelint.core.settings import Settings
from servelint.engines.releases import known_releases, place, sort_key
from servelint.judge.extent import judged
from servelint.judge.judging import judge
from tests.launching import launch_in
from tests.together import together

OWN = "servelint/unknown-release"
NEWER = "vllm/vllm-openai:v0.99.0"
IMAGE = "services:\n  llm:\n    image: {image}\n    command: {command}\n"
SHORT = "-m m"
STARTS = {
    "sglang": "python3 -m sglang.launch_server --model-path m",
    "lmdeploy": "lmdeploy serve api_server m",
    "tensorrt-llm": "trtllm-serve m",
    "rocm/vllm:": "vllm serve m",
}
"""How an image is told to start its engine where it does not by itself."""
WRONG = "--model Qwen/Qwen3-8B --swap-space 4 --max-model-lenn 3 --gpu-memory-utilization 1.5 --kv-cache-dtype fp9"


def found(text: str, filename: str = "compose.yml", **versions: str) -> list[Finding]:
    findings = judge(launch_in(text, filename), Settings(engine_versions=versions))
    return [finding for finding in findings if not finding.rule.startswith("container/")]


def own(findings: list[Finding]) -> Finding:
    (one,) = [finding for finding in findings if finding.rule == OWN]
    return one


def in_image(image: str, command: str = WRONG) -> list[Finding]:
    command = command if command != SHORT else next((one for name, one in STARTS.items() if name in image), SHORT)
    return found(IMAGE.format(image=image, command=command))


def severities(findings: list[Finding]) -> dict[tuple[str, str], int]:
    return {(one.rule, one.span.text): SEVERITIES.index(one.severity) for one in findings if one.rule != OWN}


@together(
    "image, severity, text, words",
    [
        ("vllm/vllm-openai:v0.99.0", "info", "0.99.0", "newer than every release that servelint knows (0.33.0 is the newest)"),
        ("vllm/vllm-openai:v0.34.0-cu130", "info", "0.34.0", "it is judged as 0.33.0"),
        ("vllm/vllm-openai:v0.3.3", "info", "0.3.3", "older than every release that servelint knows (0.6.0 is the first)"),
        ("vllm/vllm-openai:v0.331", "warning", "v0.331", "not a release that servelint knows; it is judged as 0.33.0"),
        ("vllm/vllm-openai:v33.0", "warning", "v33.0", "not a release that servelint knows; it is judged as 0.33.0"),
        ("vllm/vllm-openai:0.11.20", "warning", "0.11.20", "judged by 0.11.2 and 0.12.0, as far as they agree"),
        ("vllm/vllm-openai:v0.27.5", "warning", "0.27.5", "judged by 0.27.1 and 0.28.0, as far as they agree"),
        ("vllm/vllm-openai:v0.20.0rc1", "info", "0.20.0rc1", "not in the catalog; it is judged by 0.19.1 and 0.20.0"),
        ("vllm/vllm-openai:v0.20.0.dev45", "info", "0.20.0.dev45", "judged by 0.19.1 and 0.20.0"),
        ("vllm/vllm-openai:v0.23.0-rocm", "info", "0.23.0", "vLLM 0.23.0-rocm is not a published build of 0.23.0"),
        ("vllm/vllm-openai:v0.23.0-acme2", "info", "0.23.0", "it is judged as 0.23.0"),
        ("lmsysorg/sglang:v0.5.24-cu129", "info", "0.5.24", "SGLang 0.5.24 is newer"),
        ("lmsysorg/sglang:v0.523", "warning", "v0.523", "judged as 0.5.23"),
        ("openmmlab/lmdeploy:v0.10.3", "warning", "0.10.3", "judged by 0.10.2 and 0.11.0"),
        ("nvcr.io/nvidia/tensorrt-llm/release:1.3.0rc18", "info", "1.3.0rc18", "judged by 1.3.0rc15 and 1.3.0rc22"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda-b11500", "info", "b11500", "llama.cpp b11500 is newer"),
    ],
)
def test_of_an_image(image: str, severity: str, text: str, words: str) -> None:
    one = own(in_image(image, SHORT))
    assert (one.severity, one.span.text) == (severity, text)
    assert words in one.message
    assert ("did you mean" in one.advice) == (severity == "warning")


@together(
    "requirement, words",
    [
        ("vllm==0.11.0+cu128.fork", "vLLM 0.11.0+cu128.fork is not a published build of 0.11.0"),
        ("vllm==0.11.0+acme", "it is judged as 0.11.0"),
        ("vllm==0.99.0", "newer"),
        ("vllm==0.27.5", "judged by 0.27.1 and 0.28.0"),
        ("vllm==0.11.1.dev45", "judged by 0.11.0 and 0.11.1"),
        ("https://x.example/vllm-0.19.1rc1.dev328+g18013df6a-cp38-abi3-linux_x86_64.whl", "judged by 0.19.0 and 0.20.0"),
        ("'sglang[all]==0.5.24'", "SGLang 0.5.24 is newer"),
        ("lmdeploy==0.99", "LMDeploy 0.99 is newer"),
    ],
)
def test_of_an_installed_package(requirement: str, words: str) -> None:
    starts = next((one for name, one in STARTS.items() if name in requirement), "vllm serve m")
    assert words in own(found(f"pip install {requirement}\n{starts}", "run.sh")).message


@pytest.mark.parametrize(("release", "severity"), [("0.99", "info"), ("0.27.5", "warning"), ("0.11.0+fork", "info")])
def test_of_the_settings(release: str, severity: str) -> None:
    one = own(found("vllm serve m", "run.sh", vllm=release))
    assert (one.severity, one.span.text, one.release_from) == (severity, "vllm serve", "settings")


@together(
    "image",
    [
        *("vllm/vllm-openai:v0.33.0", "vllm/vllm-openai:v0.11.0-x86_64", "vllm/vllm-openai:v0.23.0-cu129-ubuntu2404"),
        *("vllm/vllm-openai:latest", "vllm/vllm-openai:v0.11", "vllm/vllm-openai:nightly-0123456", "vllm/vllm-openai:$TAG"),
        *("vllm/vllm-openai-rocm:v0.23.0", "house/vllm:v0.27.5", "house/vllm:2.0", "rocm/vllm:v0.99.0"),
        *("lmsysorg/sglang:v0.5.12-cu126-amd64", "lmsysorg/sglang:v0.5.12-rocm700-mi35x", "lmsysorg/sglang:v0.5.12-runtime"),
        *("ghcr.io/ggml-org/llama.cpp:server-b9180", "ghcr.io/huggingface/text-generation-inference:3.3.7-intel-cpu"),
    ],
)
def test_what_is_known_or_names_no_release(image: str) -> None:
    assert [one for one in in_image(image, SHORT) if one.rule == OWN or one.assumption] == []


def test_the_findings_say_what_is_assumed() -> None:
    findings = in_image("vllm/vllm-openai:v0.99.0")
    rest = [one for one in findings if one.rule != OWN]
    assert {one.rule for one in rest} >= {"vllm/removed-option", "vllm/unknown-option"}
    expected = "vLLM 0.99.0 is newer than every release that servelint knows (0.33.0 is the newest): judged as 0.33.0"
    assert {(one.assumption, one.release) for one in rest} == {(expected, "0.33.0")}


def test_what_a_later_release_may_mend_is_a_warning() -> None:
    newer = severities(in_image("vllm/vllm-openai:v0.99.0"))
    newest = severities(in_image("vllm/vllm-openai:v0.33.0"))
    assert newest["vllm/gpu-memory-utilization-out-of-range", "1.5"] == SEVERITIES.index("error")
    assert newer["vllm/gpu-memory-utilization-out-of-range", "1.5"] == SEVERITIES.index("warning")
    assert newer["vllm/unknown-option", "--max-model-lenn"] == SEVERITIES.index("warning")
    assert newer["vllm/removed-option", "--swap-space"] == SEVERITIES.index("error")


@pytest.mark.parametrize(
    ("image", "command", "rule"),
    [
        (NEWER, '["--model","m","--speculative-config","{\\"xx\\": 1}"]', "vllm/unknown-json-key"),
        (
            NEWER,
            '["--model","m","--speculative-config","{\\"method\\": \\"mtp\\", \\"num_speculative_tokens\\": \\"x\\"}"]',
            "vllm/invalid-json-value",
        ),
        (NEWER, '["--model","m","--ctx-size","4"]', "vllm/option-of-other-engine"),
        (NEWER, '["--model","m","--port","x"]', "vllm/invalid-value"),
        (NEWER, '["--model","m","--max-model-lenn","4"]', "vllm/unknown-option"),
        (NEWER, '["m","n"]', "vllm/unexpected-argument"),
        ("lmsysorg/sglang:v0.9.9", "python -m sglang.launch_server --port 1", "sglang/missing-argument"),
    ],
)
def test_what_a_later_release_may_take(image: str, command: str, rule: str) -> None:
    assert [one.severity for one in in_image(image, command) if one.rule == rule] == ["warning"]


def test_a_fork_may_know_more() -> None:
    fork = severities(in_image("vllm/vllm-openai:v0.23.0-acme"))
    assert ("vllm/removed-option", "--swap-space") in fork
    assert ("vllm/unknown-option", "--max-model-lenn") not in fork


COMMANDS = (
    *(WRONG, "--model m --swap-space 4 --num-scheduler-steps 8", "--model m --enable-reasoning --disable-log-requests"),
    *("--model m --cpu-offload-gb 4 --use-v2-block-manager", "--model m --compilation-config 3 --async-scheduling"),
    *("--model Qwen/Qwen3-Next-80B-A3B-Instruct --enable-prefix-caching", "--model m --guided-decoding-backend outlines -O9"),
)
RELEASES = known_releases("vllm")
UNKNOWN = st.one_of(
    st.sampled_from(RELEASES[1:]).map(lambda release: f"{release.partition('.post')[0]}rc9"),
    st.tuples(st.integers(6, 33), st.integers(3, 40)).map(lambda pair: f"0.{pair[0]}.{pair[1]}"),
    st.sampled_from(["0.34.0", "0.99.0", "1.0.0", "0.2.7", "0.5.5"]),
).filter(lambda release: (found := place("vllm", release)) is not None and found.kind != "known")


@given(UNKNOWN, st.sampled_from(COMMANDS))
def test_never_above_what_both_neighbours_say(release: str, command: str) -> None:
    unknown = severities(in_image(f"vllm/vllm-openai:v{release}", command))
    before = [one for one in RELEASES if sort_key(one) < sort_key(release)][-1:]
    after = [one for one in RELEASES if sort_key(one) > sort_key(release)][:1]
    for neighbour in (*before, *after):
        known = severities(in_image(f"vllm/vllm-openai:v{neighbour}", command))
        assert {key: severity for key, severity in unknown.items() if severity > known.get(key, -1)} == {}


def test_the_record_has_the_assumption() -> None:
    record = judged(launch_in(IMAGE.format(image="vllm/vllm-openai:v0.99.0", command="--model m")), Settings())
    assert (record.release, record.how, record.known, record.whole) == ("0.33.0", "image", False, False)
    assert record.assumption.endswith(": judged as 0.33.0")
    assert record.standing == "at an unlisted version judged as 0.33.0"


def test_it_can_be_ignored_and_has_a_severity() -> None:
    launch = launch_in("vllm serve m", "run.sh")
    versions = {"vllm": "0.99"}
    assert judge(launch, Settings(engine_versions=versions, ignore=(OWN,))) == []
    (one,) = judge(launch, Settings(engine_versions=versions, rule_settings={OWN: {"severity": "error"}}))
    assert one.severity == "error"


def test_the_api_refuses_what_is_mistyped_and_judges_what_is_newer() -> None:
    with pytest.raises(ValueError, match=r'"0\.331" is not a release of vLLM; did you mean 0\.33\.0\?'):
        servelint.check_command("vllm", ["m"], version="0.331")
    with pytest.raises(ValueError, match=r"did you mean 0\.27\.1 or 0\.28\.0"):
        servelint.check_command("vllm", ["m"], version="0.27.5")
    findings = servelint.check_command("vllm", ["m", "--swap-space", "4"], version="0.99")
    assert [(one.rule, bool(one.assumption)) for one in findings] == [(OWN, False), ("vllm/removed-option", True)]


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ("--server_name a --instance_num 2", []),  # options of the releases before those that are known
        ("--server-nmae a", ["unknown-option"]),
        ("--server-name a", []),
    ],
)
def test_what_a_release_before_all_known_ones_may_have_is_not_reported(words: str, rules: list[str]) -> None:
    launch = launch_in(f"pip install lmdeploy==0.1.0\nlmdeploy serve api_server m {words}\n", "run.sh")
    found = [one for one in judge(launch, Settings()) if one.rule != "servelint/unknown-release"]
    assert [(one.rule.partition("/")[2], one.severity) for one in found] == [(one, "warning") for one in rules]


def test_what_came_later_may_have_been_there_before_all_known_ones() -> None:
    """--mmproj went in March 2024 and came again in b5415; the name of the program says that the build is of then."""
    launch = launch_in("./llama.cpp/server -m a.gguf --mmproj b.gguf\n", "run.sh")
    assert (launch.release.release, judge(launch, Settings())) == ("b3150", [])
