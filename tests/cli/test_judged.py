"""What `servelint check` says of how far it judged, in each format, and `--require`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.report.kinds import sarif_schema
from tests.running import Workspace

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "report.schema.json").read_text())
IMAGE = "vllm/vllm-openai:v0.33.0"
WHOLE = f"docker run --gpus all {IMAGE} --model Qwen/Qwen3-8B\n"
OPEN = 'vllm serve "$MODEL" --port 8000 "$@"\n'
ROLLING = "docker run --gpus all vllm/vllm-openai:latest --model m\n"
NEWER = "pip install vllm==0.99.0\nvllm serve m --swap-space 4\n"
SILENT = "# see https://docs.vllm.ai\necho sglang\n"


def checked(workspace: Workspace, *args: str, **files: str) -> Any:
    for name, text in files.items():
        workspace.file(f"{name}.sh", text)
    return workspace.run("check", *args)


def data(workspace: Workspace, **files: str) -> Any:
    found = checked(workspace, "--format", "json", "--fail-on", "never", **files).data
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def test_the_closing_line(workspace: Workspace) -> None:
    out = checked(workspace, a=WHOLE, b=OPEN, c=ROLLING, d=WHOLE).out
    assert out.splitlines()[-1] == (
        "4 launches: 2 at a pinned version, 1 at a rolling tag judged as 0.33.0, 1 of unknown version; 2 words not resolved"
        " (--verbose lists them)"
    )


def test_quiet_has_no_closing_line(workspace: Workspace) -> None:
    assert "launch" not in checked(workspace, "-q", b=OPEN).out


def test_verbose_lists_what_was_not_judged(workspace: Workspace) -> None:
    lines = checked(workspace, "--verbose", a=WHOLE, b=OPEN, c=SILENT).out.splitlines()
    assert "b.sh:1: vLLM: of unknown version" in lines
    assert "  1:13: ${MODEL} is not resolved: MODEL has no value in this file" in lines
    assert "  1:34: $@ is not resolved: the arguments of the script are unknown" in lines
    assert "c.sh: mentions vLLM and SGLang, but contains no launch" in lines
    assert any(line.startswith("  ") and "undecided without the GPU: vllm/" in line for line in lines)
    assert lines[-1] == "2 launches: 1 at a pinned version, 1 of unknown version; 2 words not resolved"


def test_json(workspace: Workspace) -> None:
    found = data(workspace, a=WHOLE, b=OPEN, c=SILENT)
    first, second = found["judged"]
    assert (first["path"], first["line"], first["whole"], first["unresolved"]) == ("a.sh", 1, True, [])
    assert first["release"] == {"version": "0.33.0", "how": "image", "assumption": None}
    assert {"rule": "vllm/memory-does-not-start", "lacks": ["the GPU"]} in first["undecided"]
    assert (second["whole"], second["release"]["how"]) == (False, "unknown")
    assert [(one["text"], one["start"]["column"]) for one in second["unresolved"]] == [("${MODEL}", 13), ("$@", 34)]
    assert found["totals"]["launches"] == found["launches"] == 2
    assert (found["totals"]["whole"], found["totals"]["unresolved_words"]) == (1, 2)
    assert found["without_launch"] == [{"path": "c.sh"}]


def test_json_of_a_release_that_is_not_known(workspace: Workspace) -> None:
    found = data(workspace, a=NEWER)
    assumption = "vLLM 0.99.0 is newer than every release that servelint knows (0.33.0 is the newest): judged as 0.33.0"
    assert found["judged"][0]["release"] == {"version": "0.33.0", "how": "pip", "assumption": assumption}
    launches = {one["rule"]: one["launch"] for one in found["findings"]}
    assert launches["vllm/removed-option"]["assumption"] == assumption
    assert found["totals"]["unlisted"] == 1


def test_many_files_are_judged_by_other_processes_too(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("servelint.parallel.processes", lambda _: 2)
    for number in range(20):
        workspace.file(f"{number}.sh", OPEN)
    found = data(workspace)
    assert (len(found["judged"]), found["totals"]["unresolved_words"]) == (20, 40)
    assert all(one["undecided"] for one in found["judged"])


def test_sarif(workspace: Workspace) -> None:
    found = checked(workspace, "--format", "sarif", "--fail-on", "never", a=WHOLE, b=OPEN, c=SILENT, d=NEWER).data
    schema = sarif_schema()
    jsonschema.validators.validator_for(schema)(schema).validate(found)
    (run,) = found["runs"]
    (invocation,) = run["invocations"]
    assert invocation["properties"]["judged"]["launches"] == 3
    places = [one["locations"][0]["physicalLocation"] for one in invocation["toolExecutionNotifications"]]
    notes = {
        (one["descriptor"]["id"], place["artifactLocation"]["uri"]): one
        for one, place in zip(invocation["toolExecutionNotifications"], places, strict=True)
    }
    assert {one["level"] for one in notes.values()} == {"note"}
    word, rest = notes["servelint/not-judged", "b.sh"]["locations"]
    assert (word["physicalLocation"]["region"]["startColumn"], rest["physicalLocation"]["region"]["startColumn"]) == (13, 34)
    assert "${MODEL} is not resolved" in notes["servelint/not-judged", "b.sh"]["message"]["text"]
    assert notes["servelint/not-judged", "b.sh"]["properties"]["judged"]["release"]["how"] == "unknown"
    assert "mentions vLLM and SGLang" in notes["servelint/no-launch", "c.sh"]["message"]["text"]
    removed = next(one for one in run["results"] if one["ruleId"] == "vllm/removed-option")
    assert removed["properties"]["assumption"].endswith("judged as 0.33.0")


@pytest.mark.parametrize("kind", ["html", "markdown"])
def test_other_formats_have_the_closing_line(kind: str, workspace: Workspace) -> None:
    out = checked(workspace, "--format", kind, a=WHOLE, b=OPEN).out
    assert "2 launches: 1 at a pinned version, 1 of unknown version; 2 words not resolved" in out.replace("\\", "")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (
            "from vllm import LLM\n\nllm = LLM(**settings)\n",
            "makes an engine of vLLM in Python (LLM, line 3), which is not judged",
        ),
        (
            "from ray.serve.llm import LLMConfig, build_openai_app\nc = LLMConfig(engine_kwargs=dict())  # vLLM\n",
            "makes an engine of vLLM in Python (LLMConfig, line 2), which is not judged",
        ),
        (
            "from vllm.engine.arg_utils import AsyncEngineArgs\ndef f(c):\n    return AsyncEngineArgs(**c)\n",
            "makes an engine of vLLM in Python (AsyncEngineArgs, line 3), which is not judged",
        ),
        (
            "import sglang as sgl\nsgl.Engine(**settings)\n",
            "makes an engine of SGLang in Python (sgl.Engine, line 2), which is not judged",
        ),
        (
            "from vllm.entrypoints.openai import api_server\n\nasyncio.run(api_server.run_server(args))\n",
            "makes an engine of vLLM in Python (api_server.run_server, line 3), which is not judged",
        ),
        (
            "from sglang.srt.entrypoints.http_server import launch_server\n\nlaunch_server(args)\n",
            "makes an engine of SGLang in Python (launch_server, line 3), which is not judged",
        ),
        (
            "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'llama_cpp.server', '--model', m])\n",
            "starts another server of llama.cpp (llama_cpp.server, line 2), which is not judged",
        ),
        (
            "import os\nos.system('uvicorn llama_cpp.server.app:app')\n",
            "starts another server of llama.cpp (llama_cpp.server, line 2), which is not judged",
        ),
        (
            "from lmdeploy import TurbomindEngineConfig, pipeline\n\npipe = pipeline(m, backend_config=c)\n",
            "makes an engine of LMDeploy in Python (pipeline, line 3), which is not judged",
        ),
        (
            "from tensorrt_llm import LLM\n\nllm = LLM(model=m)\n",
            "makes an engine of TensorRT-LLM in Python (LLM, line 3), which is not judged",
        ),
        (
            "from tensorrt_llm import x\nimport os\nos.system('python3 scripts/launch_triton_server.py --world_size=2')\n",
            "starts another server of TensorRT-LLM (scripts/launch_triton_server.py, line 3), which is not judged",
        ),
        ("import subprocess\nimport sglang\n\ndef launch_server(port): ...\n", "mentions SGLang"),
        ("import subprocess\nfrom vllm import LLM\nsubprocess.run(c)\n", "mentions vLLM"),
    ],
)
def test_engine_that_a_program_makes(workspace: Workspace, text: str, rest: str) -> None:
    workspace.file("a.py", text)
    assert f"no launch found in 1 file; a.py {rest}\n" in workspace.run("check", "a.py").err


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("mpirun -n 2 tritonserver --model-repository=/tensorrtllm_backend/models\n", "TensorRT-LLM (tritonserver, line 1)"),
        (
            "docker run nvcr.io/nvidia/tritonserver:24.08-trtllm-python-py3 \\\n  tritonserver --model-repository /repo\n",
            "TensorRT-LLM (tritonserver, line 2)",
        ),
        ("# vllm\ntritonserver --model-store /vllm_backend/models\n", "vLLM (tritonserver, line 2)"),
    ],
)
def test_triton_around_an_engine(workspace: Workspace, text: str, rest: str) -> None:
    workspace.file("a.sh", text)
    said = f"no launch found in 1 file; a.sh starts another server of {rest}, which is not judged\n"
    assert said in workspace.run("check", "a.sh").err


@pytest.mark.parametrize("text", ["tritonserver --model-repository /repo\n", "docker pull tritonserver  # vllm\n"])
def test_triton_alone(workspace: Workspace, text: str) -> None:
    workspace.file("a.sh", text)
    assert "another server" not in workspace.run("check", "a.sh").err


def test_github_has_a_notice_where_not_all_was_judged(workspace: Workspace) -> None:
    out = checked(workspace, "--format", "github", b=OPEN).out
    assert out == "::notice title=servelint::1 launch: 1 of unknown version; 2 words not resolved\n"
    (workspace.folder / "b.sh").unlink()
    assert checked(workspace, "--format", "github", a=WHOLE).out == ""


def test_html_lists_it_by_launch(workspace: Workspace) -> None:
    out = checked(workspace, "--format", "html", b=OPEN, c=SILENT).out
    assert "<li>${MODEL} is not resolved: MODEL has no value in this file</li>" in out
    assert "c.sh mentions vLLM and SGLang" in out


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        (WHOLE, 0, ""),
        (OPEN, 1, "b.sh:1: vLLM: of unknown version; ${MODEL} is not resolved: MODEL has no value in this file"),
        (ROLLING, 1, "at a rolling tag judged as 0.33.0"),
        (WHOLE.replace("Qwen/Qwen3-8B", "$M"), 1, "at a pinned version; ${M} is not resolved"),
        (WHOLE.replace("v0.33.0", "v0.33.9"), 1, "judged as 0.33.0"),
        (WHOLE.replace("v0.33.0", "v0.33.0-acme"), 1, "not a published build"),
        (WHOLE.replace("--model", "--api-key $KEY --model"), 0, ""),
        (SILENT, 0, "no launch found in 1 file; b.sh mentions vLLM and SGLang"),
    ],
)
def test_require_judged(text: str, status: int, words: str, workspace: Workspace) -> None:
    ran = checked(workspace, "--require", "judged", "--select", "sglang/*", b=text)
    assert ran.status == status
    assert words in ran.err


def test_require_decided_asks_for_the_gpu_too(workspace: Workspace) -> None:
    ran = checked(workspace, "--require", "decided", b=WHOLE)
    assert ran.status == 1
    assert "rules undecided" in ran.err
    assert checked(workspace, "--require", "judged", b=WHOLE).status == 0


def test_require_yields_to_exit_zero_and_to_errors(workspace: Workspace) -> None:
    assert checked(workspace, "--require", "judged", "--exit-zero", b=OPEN).status == 0
    workspace.file("c.yml", "services: {llm: {image: vllm/vllm-openai, command: [\n")
    assert checked(workspace, "--require", "judged", b=OPEN).status == 2


def test_a_secret_is_not_listed(workspace: Workspace) -> None:
    text = "vllm serve m --api-key sk-0123456789abcdef0123$SALT --served-model-name sk-0123456789abcdef0123$SALT\n"
    for kind in ("json", "sarif", "html", "text"):
        assert "0123456789abcdef" not in checked(workspace, "--verbose", "--format", kind, b=text).out


class TestEngineVersion:
    @pytest.mark.parametrize(
        ("given", "meant"),
        [
            ("vllm=0.331", "0.33.0"),
            ("vllm=33.0", "0.33.0"),
            ("vllm=0.27.5", "0.27.1 or 0.28.0"),
            ("sglang=0.523", "0.5.23"),
            ("lmdeploy=0.10.3", "0.10.2 or 0.11.0"),
            ("llama.cpp=b114340", "b11434"),
        ],
    )
    def test_a_mistyped_release_is_refused(self, given: str, meant: str, workspace: Workspace) -> None:
        ran = checked(workspace, "--engine-version", given, b=OPEN)
        assert ran.status == 2
        assert f"did you mean {meant}?" in ran.err

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ("vllm=0.99", "vLLM 0.99 is newer than every release that servelint knows; it is judged as 0.33.0"),
            ("sglang=0.99", "SGLang 0.99 is newer"),
            ("trtllm=1.5.0", "TensorRT-LLM 1.5.0 is newer"),
            ("vllm=0.3.0", "vLLM 0.3.0 is older than every release that servelint knows; it is judged as 0.6.0"),
            ("vllm=0.20.0rc1", "vLLM 0.20.0rc1 is not in the catalog; it is judged by 0.19.1 and 0.20.0"),
        ],
    )
    def test_one_that_is_not_known_is_a_warning(self, given: str, words: str, workspace: Workspace) -> None:
        ran = checked(workspace, "--engine-version", given, b=OPEN)
        assert (ran.status, words in ran.err) == (0, True)

    @pytest.mark.parametrize("given", ["vllm=0.33.0", "vllm=v0.19.1", "llama.cpp=b9180", "tgi=3.3.7"])
    def test_a_known_one_is_not(self, given: str, workspace: Workspace) -> None:
        assert checked(workspace, "--engine-version", given, b=OPEN).err == ""

    def test_of_a_settings_file(self, workspace: Workspace) -> None:
        workspace.file("servelint.toml", '[engine-versions]\nvllm = "0.331"\n')
        ran = checked(workspace, b=OPEN)
        assert ran.status == 2
        assert ran.err.startswith('servelint.toml:2:8: "0.331" is not a release of vLLM; did you mean 0.33.0?')
        workspace.file("servelint.toml", '[engine-versions]\nvllm = "0.99"\n')
        ran = checked(workspace, b=OPEN)
        assert ran.status == 0
        assert "info[servelint/unknown-release]: vLLM 0.99 is newer" in ran.out

    def test_of_the_environment(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SERVELINT_ENGINE_VERSIONS", "vllm=0.331")
        assert checked(workspace, b=OPEN).status == 2
        monkeypatch.setenv("SERVELINT_ENGINE_VERSIONS", "vllm=0.99")
        assert "newer" in checked(workspace, b=OPEN).err


class TestImages:
    """Images that serve a model, and whose containers are not judged."""

    NIM = "nvcr.io/nim/meta/llama3-8b-instruct:1.0.3"
    TEXT = f"""\
services:
  llm:
    image: {IMAGE}
    command: --model Qwen/Qwen3-8B
    gpus: all
  nim:
    image: {NIM}
  second: {{image: {NIM}}}
  own: {{image: registry.example/qwen-vllm:1}}
  webui: {{image: registry.example/vllm-webui:1}}
  web: {{image: nginx}}
  idle: {{image: registry.example/qwen-vllm:1, command: sleep infinity}}
"""
    SAYS = f"{NIM} is not judged: NVIDIA NIM chooses an engine when it starts (vLLM, TensorRT-LLM or SGLang), and sets most"

    def check(self, workspace: Workspace, *args: str, path: str = "compose.yml", text: str = TEXT) -> Any:
        workspace.file(path, text)
        return workspace.run("check", *args, path)

    def test_each_is_a_note(self, workspace: Workspace) -> None:
        lines = self.check(workspace).out.splitlines()
        notes = [line for line in lines if line.startswith("note: ")]
        assert [line.partition(self.SAYS)[0] for line in notes[:2]] == ["note: compose.yml:7:12: ", "note: compose.yml:8:19: "]
        says = "registry.example/qwen-vllm:1 is not judged: its name says vLLM, and the command that starts it is in the image"
        assert notes[2:] == [f"note: compose.yml:9:16: {says}"]
        assert lines[-1] == "1 launch: 1 at a pinned version; 3 images are not judged"

    def test_require_judged(self, workspace: Workspace) -> None:
        ran = self.check(workspace, "--require", "judged")
        assert ran.status == 1
        assert f"not judged: compose.yml:7:12: {self.SAYS}" in ran.err

    @pytest.mark.parametrize("kind", ["html", "github", "junit", "json", "sarif"])
    def test_other_formats(self, workspace: Workspace, kind: str) -> None:
        out = self.check(workspace, "--format", kind).out
        assert out.count(self.SAYS) == 2

    @pytest.mark.parametrize("kind", ["concise", "gitlab", "rdjson"])
    def test_formats_without_a_place_for_it(self, workspace: Workspace, kind: str) -> None:
        assert "; 3 images are not judged" in self.check(workspace, "--format", kind).err

    @pytest.mark.parametrize(
        ("path", "text", "place"),
        [
            ("run.sh", "docker run -p 8000:8000 {}\n", "1:25"),
            ("pod.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: {}\n", "6:12"),
            ("README.md", "Run it:\n\n```yaml\nservices:\n  a:\n    image: {}\n```\n", "6:12"),
            ("job.nomad", 'job "a" {{\n task "a" {{\n  config {{\n   image = "{}"\n  }}\n }}\n}}\n', "4:13"),
            ("llm.container", "[Container]\nImage={}\n", "2:7"),
            (
                "tasks.yml",
                "- hosts: all\n  tasks:\n  - community.docker.docker_container:\n      name: a\n      image: {}\n",
                "5:14",
            ),
        ],
    )
    def test_files_without_another_launch(self, workspace: Workspace, path: str, text: str, place: str) -> None:
        ran = self.check(workspace, path=path, text=text.format(self.NIM))
        assert f"note: {path}:{place}: {self.SAYS}" in ran.out
        assert ran.err == "servelint: no launch found in 1 file; 1 image is not judged\n"

    @pytest.mark.parametrize(
        "text",
        [
            "image:\n  repository: nvcr.io/nim/meta/llama3-8b-instruct\n  tag: 1.0.3\n",
            "apiVersion: v1\nkind: NIMService\nspec:\n  image:\n    repository: nvcr.io/nim/meta/llama3-8b-instruct\n",
        ],
    )
    def test_objects_that_no_reader_takes_for_containers(self, workspace: Workspace, text: str) -> None:
        ran = self.check(workspace, path="values.yaml", text=text)
        assert self.SAYS.replace(":1.0.3", "") in ran.out
        assert self.check(workspace, path="values.yaml", text="# " + text.replace("\n", "\n# ")).out.count("not judged") == 0

    @pytest.mark.parametrize(
        ("name", "image", "says"),
        [
            ("vllm", "${IMAGE}:${TAG}", "vLLM"),
            ("llm", "${SGLANG_IMAGE}:${TAG}", "SGLang"),
            ("llm", "${REGISTRY}/team/qwen-vllm:${TAG}", "vLLM"),
            ("llm", "${IMAGE}:${TAG}", ""),
            ("vllm", "${REGISTRY}/redis:${TAG}", ""),
            ("vllm-ui", "${IMAGE}", ""),
        ],
    )
    def test_images_that_variables_name(self, workspace: Workspace, name: str, image: str, says: str) -> None:
        out = self.check(workspace, text=f"services:\n  {name}:\n    image: {image}\n").out
        why = f"{image} is not judged: its name says {says}, and the command that starts it is in the image"
        assert out.count("not judged") == bool(says)
        assert (why in out) is bool(says)

    def test_a_command_without_a_value(self, workspace: Workspace) -> None:
        out = self.check(workspace, text="services:\n  a:\n    image: team/qwen-vllm\n    command: ${COMMAND}\n").out
        assert "its name says vLLM, and the command that starts it is ${COMMAND}, which has no value" in out
