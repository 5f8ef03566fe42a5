"""Where the model of a container comes from: volumes, the hub, and the token for it."""

from __future__ import annotations

import pytest

from tests.reporting import findings_in
from tests.together import together

IMAGE = "vllm/vllm-openai:v0.33.0"
RULES = ("model-not-mounted", "offline-without-model", "gated-without-token")
LLAMA, QWEN, PATH = "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-8B", "/models/Qwen3-8B"


def _found(text: str, name: str = "run.sh") -> list[str]:
    return [rule for one in findings_in(text, name) if (rule := one.rule.partition("/")[2]) in RULES]


def _run(options: str, model: str, image: str = IMAGE) -> list[str]:
    return _found(f"docker run --gpus all {options} {image} --model {model}\n")


class TestPaths:
    @pytest.mark.parametrize(
        "options",
        ["", "-v ./a:/data", "-v ./a:/models/other", "-v /models:/data", "--mount type=bind,src=/a,dst=/model", "--tmpfs /x"],
    )
    def test_nothing_brings_it(self, options: str) -> None:
        assert _run(options, PATH) == ["model-not-mounted"]

    @together(
        "options",
        [
            "-v ./a:/models",
            "-v ./a:/models/:ro",
            f"-v ./a:{PATH}",
            f"-v ./a:{PATH}/snapshots",
            "-v /:/",
            "--mount type=bind,src=/a,target=/models",
            "-v ./a:$TARGET",
            "$MOUNTS",
            "--volumes-from data",
        ],
    )
    def test_a_mount_that_has_it_or_may_have_it(self, options: str) -> None:
        assert _run(options, PATH) == []

    @pytest.mark.parametrize(
        "model", [QWEN, "$MODEL", "s3://bucket/model", "./model", "/vllm-workspace/examples/m", "/runpod-volume/m"]
    )
    def test_what_is_no_path_of_a_volume(self, model: str) -> None:
        assert _run("", model) == []

    @pytest.mark.parametrize("image", ["acme/vllm-openai:v0.33.0", "$IMAGE", "my-vllm"])
    def test_an_image_that_may_have_it(self, image: str) -> None:
        assert _run("", PATH, image) == []

    @pytest.mark.parametrize("before", [f"hf download {QWEN} --local-dir {PATH}", f"cd /models && git clone https://x/{QWEN}"])
    def test_a_script_that_downloads_it_first(self, before: str) -> None:
        script = f"{before} && vllm serve {PATH}"
        assert _found(f"docker run --gpus all --entrypoint bash {IMAGE} -c '{script}'\n") == []

    @pytest.mark.parametrize("command", [f"[--model, {PATH}]", f"--model {PATH}"])
    def test_the_path_of_the_host(self, command: str) -> None:
        text = f"services:\n  llm:\n    image: {IMAGE}\n    command: {command}\n    volumes: ['/models:/data']\n"
        assert _found(text, "compose.yml") == ["model-not-mounted"]

    def test_other_files(self) -> None:
        assert _run("-v ./a:/models", f"{PATH} --chat-template /templates/tool.jinja") == ["model-not-mounted"]
        assert (
            _run("-v ./a:/models -v ./t/tool.jinja:/templates/tool.jinja", f"{PATH} --chat-template /templates/tool.jinja")
            == []
        )

    @pytest.mark.parametrize(
        ("kind", "volume", "wrong"),
        [
            ("Pod", "", True),
            ("Pod", "volumeMounts: [{name: m, mountPath: /models}], ", False),
            ("InferenceService", "", False),
        ],
    )
    def test_pods(self, kind: str, volume: str, wrong: bool) -> None:
        container = f"{{name: c, image: '{IMAGE}', {volume}args: [--model, {PATH}]}}"
        text = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: llm}}\nspec:\n  containers: [{container}]\n"
        if kind == "InferenceService":
            text = text.replace("apiVersion: v1", "apiVersion: serving.kserve.io/v1beta1").replace(
                "  containers", "  predictor:\n    containers"
            )
        assert (_found(text, "pod.yaml") == ["model-not-mounted"]) is wrong


class TestOffline:
    @pytest.mark.parametrize("value", ["1", "true", "YES", "on"])
    def test_the_hub_is_forbidden(self, value: str) -> None:
        assert _run(f"-e HF_HUB_OFFLINE={value}", QWEN) == ["offline-without-model"]

    @pytest.mark.parametrize(
        "options", ["-e HF_HUB_OFFLINE=0", "-e HF_HUB_OFFLINE", "-e HF_HUB_OFFLINE=1 -v ./hf:/root/.cache/huggingface",
                    "-e HF_HUB_OFFLINE=1 -e HF_HOME=/hf", "-e HF_HUB_OFFLINE=1 --env-file .env", "-e TRANSFORMERS_OFFLINE=1"]
    )  # fmt: skip
    def test_it_is_not_or_a_volume_may_have_the_model(self, options: str) -> None:
        assert _run(options, QWEN) == []

    def test_a_script_that_downloads_it_before(self) -> None:
        script = f"hf download {QWEN} && HF_HUB_OFFLINE=1 vllm serve {QWEN}"
        assert _found(f"docker run --gpus all --entrypoint bash {IMAGE} -c '{script}'\n") == []


class TestGated:
    @pytest.mark.parametrize(
        "model", [LLAMA, "google/gemma-3-27b-it", "google/gemma-2-9b", "google/gemma-7b-it", "google/embeddinggemma-300m"]
    )
    def test_without_a_token(self, model: str) -> None:
        assert _run("", model) == ["gated-without-token"]

    @pytest.mark.parametrize("model", ["google/gemma-4-31B-it", "unsloth/Llama-3.1-8B-Instruct", QWEN, "google/flan-t5-xl"])
    def test_models_for_everybody(self, model: str) -> None:
        assert _run("", model) == []

    @together(
        "options",
        ["-e HF_TOKEN", "-e HF_TOKEN=$T", "-e HUGGING_FACE_HUB_TOKEN=x", "--env-file .env", "-e HF_ENDPOINT=https://hub.example.org",
         "-e VLLM_USE_MODELSCOPE=True", "-v ~/.cache/huggingface:/root/.cache/huggingface", "-e HF_HOME=/hf", "$OPTIONS"],
    )  # fmt: skip
    def test_a_token_or_another_source(self, options: str) -> None:
        assert _run(options, LLAMA) == []

    def test_a_host_where_somebody_may_be_logged_in(self) -> None:
        assert _found(f"vllm serve {LLAMA}\n") == []
