"""What runs beside an engine: which packages, which CUDA, and which GPUs they are built for."""

from __future__ import annotations

import pytest

from servelint.engines import stack
from servelint.engines.config import configs
from servelint.engines.releases import known_releases, sort_key
from servelint.rules import ranges
from tests.launching import launch_in
from tests.together import together

IMAGE = "docker run --gpus all vllm/vllm-openai:v{} --model Qwen/Qwen3-8B"
BARE = "vllm serve Qwen/Qwen3-8B"


def asked(text: str, release: str, name: str, file: str = "run.sh", gpu: str | None = None) -> object:
    launch = launch_in(text, file)
    launch.gpu = gpu
    return configs(launch, [release])[0].operand(f"stack.{name}").value


def dockerfile(base: str, *installs: str) -> str:
    return "\n".join([f"FROM {base}", *[f"RUN {one}" for one in installs], 'CMD ["vllm", "serve", "Qwen/Qwen3-8B"]', ""])


class TestPackages:
    @pytest.mark.parametrize(
        ("release", "held"),
        [
            ("0.7.3", "4.49.0"),
            ("0.8.3", ">=4.51.0,<=4.51.2"),  # the release asks for the one of its day
            ("0.11.0", ">=4.56.2,<=4.57.0"),
            ("0.27.1", "5.15.0"),
            ("0.33.0", "5.20.2"),
        ],
    )
    def test_of_an_image(self, release: str, held: str) -> None:
        assert asked(IMAGE.format(release), release, "transformers") == held

    @pytest.mark.parametrize(
        ("release", "allowed"),
        [("0.8.5", ">=4.51.1,<5"), ("0.16.0", "<5,>=4.56.0"), ("0.24.0", ">=5.5.3")],
    )
    def test_of_an_installation_that_is_not_shown(self, release: str, allowed: str) -> None:
        assert asked(BARE, release, "transformers") == allowed

    def test_of_a_release_that_the_table_does_not_have(self) -> None:
        assert asked(IMAGE.format("0.99.0"), "0.99.0", "transformers") is None
        assert asked(BARE, "0.99.0", "torch") is None
        assert asked(BARE, "0.99.0", "gpu-kernels", gpu="p100") is False  # what a release has dropped, no later one has

    def test_a_pin_holds_everywhere(self) -> None:
        command = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B"
        assert asked(command, "0.5.9", "transformers") == "4.57.1"
        assert asked(command, "0.5.10", "torch") == "2.9.1"
        assert asked(BARE, "0.20.0", "flashinfer") == "0.6.8.post1"
        assert asked(BARE, "0.10.2", "flashinfer") is None

    @together(
        "base, installs, release, found",
        [
            ("python:3.12", ["pip install vllm==0.11.0"], "0.11.0", ">=5.20.2"),
            ("python:3.12", ["pip install vllm==0.11.1"], "0.11.1", "<5,>=4.56.0"),
            (
                "python:3.12",
                ["apt-get install -y git curl", "pip install -U pip", "pip install vllm==0.11.0"],
                "0.11.0",
                ">=5.20.2",
            ),
            ("python:3.12", ["pip install vllm==0.11.0 huggingface_hub[cli]"], "0.11.0", ">=5.20.2"),
            ("python:3.12", ["pip install vllm==0.11.0 'huggingface_hub<1'"], "0.11.0", ">=4.55.2,<5"),
            ("python:3.12", ["pip install vllm==0.11.0", "pip install sentence-transformers"], "0.11.0", ">=4.55.2,<5"),
            ("python:3.12", ["uv sync --frozen", "pip install vllm==0.11.0"], "0.11.0", ">=4.55.2,<5"),
            ("python:3.9", ["pip install vllm==0.11.0"], "0.11.0", ">=4.55.2,<5"),
            ("python:3.12", ["pip install vllm==0.11.0 -c constraints.txt"], "0.11.0", ">=4.55.2,<5"),
            ("rocm/pytorch:latest", ["pip install vllm==0.11.0"], "0.11.0", ">=5.20.2"),
            ("nvcr.io/nvidia/vllm:25.09-py3", ["pip install vllm==0.11.0"], "0.11.0", None),
        ],
    )
    def test_what_pip_installs_into_an_image(self, base: str, installs: list[str], release: str, found: str | None) -> None:
        assert asked(dockerfile(base, *installs), release, "transformers", "Dockerfile") == found

    @together(
        "installs, found",
        [
            (["pip install transformers==4.57.1"], "4.57.1"),
            (["pip install -U transformers"], ">=5.20.2"),
            (["pip install -U 'transformers>=4.57'"], ">=5.20.2"),
            (["pip install transformers"], None),
            (["pip install 'transformers<5'"], None),
            (["pip install git+https://github.com/huggingface/transformers"], None),
            (["pip install transformers==4.57.1", "pip install transformers==5.1.0"], None),
            (["pip install sentence-transformers"], "4.56.1"),
            (["pip install transformers==$VERSION"], None),
        ],
    )
    def test_what_a_file_installs_over_an_image(self, installs: list[str], found: str | None) -> None:
        text = dockerfile("vllm/vllm-openai:v0.10.2", *installs)
        assert asked(text, "0.10.2", "transformers", "Dockerfile") == found

    def test_what_the_engine_requires_beside_a_pin(self) -> None:
        with_it = dockerfile("python:3.12", "pip install vllm==0.16.0 transformers==4.57.1")
        assert asked(with_it, "0.16.0", "transformers", "Dockerfile") == "4.57.1"
        before = dockerfile("python:3.12", "pip install transformers==5.1.0", "pip install vllm==0.16.0")
        assert asked(before, "0.16.0", "transformers", "Dockerfile") is None
        after = dockerfile("python:3.12", "pip install vllm==0.16.0", "pip install transformers==5.1.0")
        assert asked(after, "0.16.0", "transformers", "Dockerfile") == "5.1.0"

    @pytest.mark.parametrize(
        "image", ["house/vllm-openai:v0.16.0", "nvcr.io/nvidia/vllm:25.09-py3", "vllm/vllm-openai-rocm:v0.16.0"]
    )
    def test_nothing_is_known_of_other_images(self, image: str) -> None:
        text = f"docker run --gpus all {image} vllm serve Qwen/Qwen3-8B"
        assert asked(text, "0.16.0", "transformers") is None
        assert asked(text, "0.16.0", "gpu-kernels", gpu="v100") is None


class TestCuda:
    @pytest.mark.parametrize(
        ("image", "release", "cuda"),
        [
            ("vllm/vllm-openai:v0.8.5", "0.8.5", "12.4"),
            ("vllm/vllm-openai:v0.15.0", "0.15.0", "12.9"),
            ("vllm/vllm-openai:v0.19.1", "0.19.1", "12.9"),
            ("vllm/vllm-openai:v0.19.1-cu130", "0.19.1", "13.0"),
            ("vllm/vllm-openai:v0.20.0", "0.20.0", "13.0"),
            ("vllm/vllm-openai:v0.20.0-cu129", "0.20.0", "12.9"),
            ("house/vllm-openai:v0.20.0", "0.20.0", None),
        ],
    )
    def test_of_an_image(self, image: str, release: str, cuda: str | None) -> None:
        assert asked(f"docker run --gpus all {image} --model Qwen/Qwen3-8B", release, "cuda") == cuda

    def test_of_an_image_of_sglang_by_its_tag_alone(self) -> None:
        command = "docker run lmsysorg/sglang:{} python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B"
        assert asked(command.format("v0.5.5-cu126"), "0.5.5", "cuda") == "12.6"
        assert asked(command.format("v0.5.5"), "0.5.5", "cuda") is None

    def test_of_pytorch_as_pip_installs_it(self) -> None:
        text = dockerfile("python:3.12", "pip install vllm==0.9.2")
        assert asked(text, "0.9.2", "cuda", "Dockerfile") == "12.6"
        other = dockerfile("python:3.12", "uv pip install --system vllm==0.9.2 --torch-backend=auto")
        assert asked(other, "0.9.2", "cuda", "Dockerfile") is None
        assert asked(BARE, "0.9.2", "cuda") is None


class TestGpus:
    @together(
        "text, release, gpu, runs",
        [
            (BARE, "0.19.1", "v100", True),
            (BARE, "0.20.0", "v100", False),
            (BARE, "0.33.0", "p100", False),
            (BARE, "0.33.0", "t4", True),
            (BARE, "0.8.5", "b200", False),
            (BARE, "0.9.0", "b200", True),
            (BARE, "0.9.1", "rtx-5090", False),
            (BARE, "0.9.2", "rtx-5090", True),
            (BARE, "0.10.1.1", "gb10", False),
            (BARE, "0.10.2", "gb10", True),
            (BARE, "0.15.1", "gb10", True),
            (BARE, "0.19.1", "jetson-thor", False),
            (BARE, "0.20.0", "jetson-thor", True),
            (BARE, "0.33.0", "mi300x", None),
            (BARE, "0.33.0", None, None),
            (IMAGE.format("0.8.5"), "0.8.5", "v100", True),
            (IMAGE.format("0.9.1"), "0.9.1", "v100", False),  # PyTorch 2.7 for CUDA 12.8
            (IMAGE.format("0.10.2"), "0.10.2", "v100", True),
            (IMAGE.format("0.19.1-cu130"), "0.19.1", "v100", False),
        ],
    )
    def test_that_the_builds_have_kernels_for(self, text: str, release: str, gpu: str | None, runs: bool | None) -> None:
        assert asked(text, release, "gpu-kernels", gpu=gpu) is runs

    def test_that_pytorch_of_the_package_index_has_none_for(self) -> None:
        for release, runs in (("0.9.2", False), ("0.10.1", False), ("0.10.2", True)):
            text = dockerfile("python:3.12", f"pip install vllm=={release}")
            assert asked(text, release, "gpu-kernels", "Dockerfile", gpu="rtx-5090") is runs


class TestRanges:
    @together(
        "answer, wanted, expected",
        [
            ("5.15.0", ">=5.15", True),
            ("5.9.1", ">=5.15", False),  # not as numbers
            (">=5.13.0,<=5.15.0", ">=5.15", None),
            (">=5.13.0,<=5.15.0", ">=5.16", False),
            (">=5.13.0,<=5.15.0", ">=5,<6", True),
            (">=5.20.2", ">=5.15", True),
            (">=5.20.2", "<6", None),
            (">=4.56.0,<5", "<5", True),
            (">=4.56.0,<5", ">=5", False),
            (">=4.56.0,<5", ">=4.57", None),
            (">=4.56.0,<5", "==4.57.1", None),
            (">=4.56.0,<5", "==5.1.0", False),
            (">=4.56.0,<5", "!=5.1.0", True),
            ("13", ">=13", True),
            ("12.9", "<13", True),
        ],
    )
    def test_an_answer_in_a_range(self, answer: str, wanted: str, expected: bool | None) -> None:
        bounds = ranges.loaded(ranges.compile_range(wanted))
        assert ranges.within(bounds, answer) is expected

    @together(
        "answer, release, expected",
        [
            ("4.57.6", "4.51.0", False),
            ("4.57.6", "5.2.0", True),
            ("4.9.0", "4.51.0", True),
            ("5.2.0", "5.2.3", False),  # patch numbers do not count
            ("5.0.0rc0", "5.0.0", False),
            (">=4.56.0,<5", "5.0.0", True),
            (">=4.56.0,<5", "4.57.0", False),
            (">=5.5.3", "5.0.0", False),
        ],
    )
    def test_whether_it_is_certainly_older(self, answer: str, release: str, expected: bool) -> None:
        assert stack.is_older(answer, release) is expected


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_table_names_releases_of_the_engine_in_order(engine: str) -> None:
    for name, rows in stack._table()[engine].items():
        releases = [release for release, _ in rows]
        assert set(releases) <= set(known_releases(engine)), name
        assert releases == sorted(releases, key=sort_key), name
        assert releases[0] == known_releases(engine)[0], name
