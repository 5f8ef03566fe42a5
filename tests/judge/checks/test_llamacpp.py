"""Names of models, devices and templates where llama-server wants another thing."""

from __future__ import annotations

import servelint
from servelint.engines.config import configs
from tests.judging import fields
from tests.together import together


@together(
    "rule, words, reason",
    [
        ("model-file-not-gguf", "-m hf://Qwen/Qwen3-8B-GGUF", "is an address, and --model takes the path of a file"),
        ("model-file-not-gguf", "-m /m/foo-mmproj-f16.gguf", "is a projector, which --mmproj takes"),
        ("model-file-not-gguf", "-m Qwen/Qwen3-8B", "names a repository, which --hf-repo takes"),
        ("model-file-not-gguf", "-m models/qwen3", None),
        ("model-file-not-gguf", "-m /m/model.file", None),
        ("hf-repo-without-gguf", "-hf unsloth/Qwen3-8B/x.gguf", "is not of the form USER/MODEL or USER/MODEL:QUANT"),
        ("hf-repo-without-gguf", "-hf google/gemma-7b", None),
        ("device-not-there", "-dev gpu:0", "devices are named as --list-devices does, such as CUDA0 or Vulkan0"),
        ("device-not-there", "-devd 1", "devices are named as --list-devices does, such as CUDA0 or Vulkan0"),
        ("device-not-there", "-dev MTL0", None),
        ("device-not-there", "-dev RPC[10.0.0.1:50052]", None),
    ],
)
def test_a_name_is_another_thing(rule: str, words: str, reason: str | None) -> None:
    launch = servelint.find_launches(f"llama-server {words}\n", filename="run.sh")[0]
    found = fields("llamacpp/" + rule, configs(launch, ["b11434"])[0])
    assert (found or {}).get("reason") == reason


def test_the_text_of_a_template_is_no_name() -> None:
    launch = servelint.find_launches("llama-server -m a.gguf --chat-template '{{ messages }}'\n", filename="run.sh")[0]
    assert fields("llamacpp/chat-template-is-a-name", configs(launch, ["b11434"])[0]) is None


def test_the_size_of_a_vocabulary_may_differ_a_little() -> None:
    words = "-m /m/Qwen2.5-32B-Instruct-Q4_K_M.gguf -md /m/Qwen2.5-0.5B-Instruct-Q8_0.gguf --spec-type draft-simple"
    launch = servelint.find_launches(f"llama-server {words}\n", filename="run.sh")[0]
    assert fields("llamacpp/draft-of-another-vocabulary", configs(launch, ["b11434"])[0]) is None
