"""GPU comments: for which launches one speaks, what it counts for, and what is said of one that helps nobody."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.own_rules import GPU_COMMENT
from servelint.core.settings import Settings
from servelint.engines.config import configs
from servelint.files.directives import gpu_comments, name_gpus
from servelint.lint import check_launches
from servelint.readers import read
from tests.launching import marked
from tests.together import together

SETTINGS = Settings(gpu="l4", gpu_count=8)
NOTHING = (None, None)


def launches(text: str, filename: str = "run.sh", settings: Settings | None = None) -> list[Launch]:
    source, _ = marked(filename, dedent(text).removeprefix("\n"))
    found = read(source).launches
    for launch in found:
        name_gpus(launch, settings or Settings())
    return found


def gpus(text: str, filename: str = "run.sh", settings: Settings | None = None) -> list[tuple[str | None, int | None]]:
    """The GPUs of each launch that no container gives."""
    return [(launch.gpu, launch.gpu_count) for launch in launches(text, filename, settings)]


def facts(text: str, filename: str, settings: Settings | None = None) -> tuple[object, object]:
    """The name and the number of GPUs as rules see them."""
    (launch,) = launches(text, filename, settings)
    (config,) = configs(launch, ["0.19.1"])
    return config.operand("gpu.name").value, config.operand("gpu.count").value


def told(text: str, filename: str = "run.sh", settings: Settings | None = None) -> list[Finding]:
    source, marks = marked(filename, dedent(text).removeprefix("\n"))
    findings = check_launches(source, read(source).launches, settings or Settings())
    found = [finding for finding in findings if finding.rule == GPU_COMMENT]
    assert [finding.span for finding in found] == marks
    return found


class TestPlace:
    """A comment speaks for the launch on its line; alone on a line, for the one that starts below it or goes on around it."""

    @pytest.mark.parametrize(
        "text",
        [
            "vllm serve m # servelint: gpu=h100-80gb",
            "# servelint: gpu=h100-80gb\nvllm serve m",
            "  # servelint: gpu=h100-80gb\nvllm serve m \\\n  --max-model-len 8192",
            "vllm serve m \\\n  --max-model-len 8192 # servelint: gpu=h100-80gb",
            "vllm serve m #servelint:gpu=h100-80gb",
            "vllm serve m # at night; # servelint: gpu = h100-80gb the lab's machine",
        ],
    )
    def test_it_speaks_for_the_launch(self, text: str) -> None:
        assert gpus(text) == [("h100-80gb", None)]
        assert told(text) == []

    def test_it_speaks_for_no_other(self) -> None:
        assert gpus("# servelint: gpu=h100-80gb\nvllm serve m\nvllm serve n") == [("h100-80gb", None), NOTHING]
        assert gpus("vllm serve m\nvllm serve n # servelint: gpu=h100-80gb") == [NOTHING, ("h100-80gb", None)]

    @pytest.mark.parametrize("line", [4, 5, 6, 7])
    def test_in_a_compose_file(self, line: int) -> None:
        lines = [
            "services:",
            "  llm:",
            "    image: vllm/vllm-openai:v0.19.1",
            "    command:",
            "      - m",
            "      - --max-model-len",
        ]
        lines += ["      - '8192'", "    gpus: all"]
        beside = [*lines[: line - 1], lines[line - 1] + "  # servelint: gpu=l40s", *lines[line:]]
        above = [*lines[: line - 1], "# servelint: gpu=l40s", *lines[line - 1 :]]
        for text in ("\n".join(beside), "\n".join(above)):
            assert gpus(text, "compose.yml") == [("l40s", None)]
            assert told(text, "compose.yml") == []

    def test_above_a_launch_that_follows_another(self) -> None:
        service = "  {}:\n    image: vllm/vllm-openai:v0.19.1\n{}    command:\n      - m\n"
        text = "services:\n" + service.format("a", "") + service.format("b", "    # servelint: gpu=l40s\n")
        assert gpus(text, "compose.yml") == [NOTHING, ("l40s", None)]

    @pytest.mark.parametrize(
        ("filename", "text"),
        [
            ("Dockerfile", 'FROM vllm/vllm-openai:v0.19.1\n# servelint: gpu=l40s\nCMD ["m"]\n'),
            ("Makefile", "serve:\n\t# servelint: gpu=l40s\n\tvllm serve m\n"),
            ("llm.service", "[Service]\n# servelint: gpu=l40s\nExecStart=/usr/bin/vllm serve m\n"),
            ("README.md", "# Serving\n\n```bash\nvllm serve m  # servelint: gpu=l40s\n```\n"),
            ("justfile", "serve:\n    # servelint: gpu=l40s\n    vllm serve m\n"),
        ],
    )
    def test_in_other_formats(self, filename: str, text: str) -> None:
        assert gpus(text, filename) == [("l40s", None)]
        assert told(text, filename) == []

    @pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
    def test_line_ends(self, end: str) -> None:
        text = end.join(["# servelint: gpu=h100-80gb gpu-count=2", "vllm serve m", ""])
        assert gpus(text) == [("h100-80gb", 2)]
        source, _ = marked("run.sh", text)
        assert [comment.span.text for comment in gpu_comments(source)] == ["# servelint: gpu=h100-80gb gpu-count=2"]


class TestWhatItCountsFor:
    @pytest.mark.parametrize(
        ("said", "found"),
        [
            ("gpu=h100-80gb gpu-count=2", ("h100-80gb", 2)),
            ("gpu-count=2, gpu=h100-80gb", ("h100-80gb", 2)),
            ("gpu=NVIDIA-H100-80GB-HBM3", ("NVIDIA-H100-80GB-HBM3", None)),  # 8 is said of the L4
            ("gpu-count=2", ("l4", 2)),
        ],
    )
    def test_more_than_settings(self, said: str, found: tuple[str, int | None]) -> None:
        assert gpus(f"vllm serve m # servelint: {said}", settings=SETTINGS) == [found]

    def test_without_a_comment_settings_hold(self) -> None:
        assert gpus("vllm serve m # the gpu=h100-80gb", settings=SETTINGS) == [("l4", 8)]

    def test_one_says_the_gpu_and_another_how_many(self) -> None:
        assert gpus("# servelint: gpu=h200\nvllm serve m # servelint: gpu-count=4", settings=SETTINGS) == [("h200", 4)]

    POD = """\
        apiVersion: v1
        kind: Pod
        metadata: {{name: llm}}
        spec:
          nodeSelector: {{nvidia.com/gpu.product: {product}}}
          containers:
            - name: vllm
              image: vllm/vllm-openai:v0.19.1
              args: [--model, m]  {mark}# servelint: gpu={gpu} gpu-count=4{end}
              resources: {{limits: {{nvidia.com/gpu: "2"}}}}
    """

    @pytest.mark.parametrize(
        ("product", "gpu", "name"),
        [
            ("NVIDIA-L40S", "h100-80gb", "l40s"),  # the cluster acts by its selector
            ("our-best", "h100-80gb", "h100-80gb"),
            ("a100", "a100-80gb", "a100-80gb"),  # of which there are two
        ],
    )
    def test_beside_a_node_selector(self, product: str, gpu: str, name: str) -> None:
        text = self.POD.format(product=product, gpu=gpu, mark="", end="")
        assert facts(text, "pod.yaml", SETTINGS) == (name, 2)  # as many as are reserved

    def test_a_node_selector_that_says_another(self) -> None:
        (finding,) = told(self.POD.format(product="NVIDIA-L40S", gpu="h100-80gb", mark="⟦", end="⟧"), "pod.yaml")
        assert finding.sentence == "the launch runs on NVIDIA-L40S, not on h100-80gb; delete the comment, or correct it"

    @pytest.mark.parametrize("product", ["NVIDIA-H100-80GB-HBM3", "nvidia-h100-80gb", "h100", "our-best"])
    def test_a_node_selector_that_says_the_same_or_nothing(self, product: str) -> None:
        assert told(self.POD.format(product=product, gpu="h100-80gb", mark="", end=""), "pod.yaml") == []

    def test_rules_are_told(self) -> None:
        source, (mark,) = marked("run.sh", "vllm serve openai/gpt-oss-120b ⟦# servelint: gpu=l4 gpu-count=1⟧")
        settings = Settings(engine_versions={"vllm": "0.19.1"})
        found = {one.rule: one for one in check_launches(source, read(source).launches, settings)}
        finding = found["vllm/memory-does-not-start"]
        assert " l4" in finding.message
        assert mark in [place.span for place in finding.related]


class TestWhatIsSaidOfIt:
    @together(
        "said, sentence",
        [
            ("⟦gpu=h10-80gb⟧", '"h10-80gb" is not a GPU that servelint knows; did you mean a100-80gb, '),
            ("⟦gpu=xyzzyq⟧", '"xyzzyq" is not a GPU that servelint knows; '),
            (
                f"⟦gpu={'x' * 500}⟧",
                f'"{"x" * 79}\u2026" is not a GPU that servelint knows; write it as in h100-80gb or NVIDIA-L40S',
            ),
            ("⟦gpu=⟧", "gpu= names no GPU; "),
            ("gpu=h100-80gb ⟦gpu-count=two⟧", '"two" is not a number of GPUs; write a whole number from 1 on: gpu-count=2'),
            ("gpu=h100-80gb ⟦gpu-count=0⟧", '"0" is not a number of GPUs; write a whole number'),
            ("gpu=h100-80gb ⟦gpu-count=⟧", "gpu-count= says no number; write a whole number"),
            ("gpu=h100-80gb ⟦x2⟧ for now", "x2 says nothing here; write gpu-count=2"),
            ("gpu=h100-80gb ⟦8x⟧", "8x says nothing here; write gpu-count=8"),
        ],
    )
    def test_what_nobody_understands(self, said: str, sentence: str) -> None:
        (finding,) = told(f"vllm serve m # servelint: {said}")
        assert finding.sentence.startswith(sentence)
        assert (finding.rule, finding.severity, finding.launch) == (GPU_COMMENT, "warning", None)

    def test_a_gpu_that_nobody_knows_says_nothing(self) -> None:
        assert gpus("vllm serve m # servelint: gpu=h10-80gb", settings=SETTINGS) == [("l4", 8)]

    @pytest.mark.parametrize(
        ("text", "advice"),
        [
            ("⟦# servelint: gpu=h200⟧\n\nvllm serve m", "write it above the launch, which starts in line 3"),
            ("vllm serve m\n⟦# servelint: gpu=h200⟧", "write it above the launch, which starts in line 1"),
            ("⟦# servelint: gpu=h200⟧", "delete it"),
        ],
    )
    def test_one_that_belongs_to_no_launch(self, text: str, advice: str) -> None:
        (finding,) = told(text)
        assert finding.sentence == f"the comment names GPUs for no launch; {advice}"

    def test_one_that_another_overrides(self) -> None:
        (finding,) = told("⟦# servelint: gpu=l4⟧\nvllm serve m # servelint: gpu=h200")
        assert finding.sentence == "the launch runs on h200, not on l4; delete the comment, or correct it"

    def test_it_can_be_switched_off(self) -> None:
        text = "# servelint: gpu=h10-80gb\nvllm serve m"
        assert told(text, settings=Settings(ignore=(GPU_COMMENT,))) == []
        assert told(f"# servelint: ignore[{GPU_COMMENT}] {text}") == []


@pytest.mark.parametrize(
    "text", ["# servelint gpu=h200", "servelint: gpu=h200", "# servelint: gpus=h200", "# servelint: gpu is h200"]
)
def test_other_comments_are_none(text: str) -> None:
    source, _ = marked("run.sh", text)
    assert gpu_comments(source) == ()
