"""Releases that a script gets ready otherwise than by naming a package: checkouts, lock files, images, downloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from tests.launching import launch_in, launches_in
from tests.together import together

VLLM = "https://github.com/vllm-project/vllm"
SGLANG = "https://github.com/sgl-project/sglang.git"
LLAMA = "https://github.com/ggml-org/llama.cpp"


def release(launch: Launch) -> str | None:
    return launch.release.release


def script(lines: str, folder: Path | None = None, **files: str) -> Launch:
    for name, text in files.items():
        (folder or Path()).joinpath(name.replace("_", ".")).write_text(text)
    return launch_in(f"#!/bin/bash\n{lines}\n", "run.sh", folder)


@together(
    "steps, expected",
    [
        (f"git clone -b v0.19.1 {VLLM}.git\ncd vllm\npip install -e .", "0.19.1"),
        (f"git clone --depth 1 --branch=v0.19.1 {VLLM} /opt/src\npip install /opt/src", "0.19.1"),
        (f"git clone {VLLM}\ncd vllm && git checkout v0.19.1\nVLLM_USE_PRECOMPILED=1 uv pip install -v --editable .", "0.19.1"),
        (f"git clone {VLLM} $SRC\ngit -C $SRC switch --detach tags/v0.19.1\npip install -e $SRC[audio]", "0.19.1"),
        (f"[ -d vllm ] || git clone -b v0.19.1 {VLLM}\npushd vllm\npython setup.py develop\npopd", "0.19.1"),
        (f"get() {{ git clone -b v0.19.1 {VLLM}; }}\nget\n(cd vllm; pip install .)", "0.19.1"),
        (f"git clone -b main {VLLM}\npip install ./vllm", None),
        (f"git clone -b v0.19.1 {VLLM}\ncd vllm\ngit pull origin main\npip install .", None),
        (f"git clone -b v0.19.1 {VLLM}\ncd vllm\ngit checkout $REF\npip install .", None),
        (f"git clone {VLLM}\ncd vllm\ngit checkout v0.19.1 -- setup.py\npip install .", None),
        ("git clone -b v0.19.1 https://github.com/house/vllm\npip install ./vllm", None),
        ("git clone -b v0.19.1 https://github.com/ROCm/vllm\npip install ./vllm", None),
        (f"git clone -b v0.19.1 {VLLM}\npip install ./other", None),
        (f"git clone -b v0.19.1 {VLLM}\ncd vllm\npip install -r requirements/build.txt", None),
    ],
)
def test_a_checkout_of_a_tag(steps: str, expected: str | None) -> None:
    assert release(script(f"{steps}\nvllm serve m")) == expected


def test_a_package_below_a_checkout() -> None:
    end = "\npython -m sglang.launch_server --model-path m"
    assert release(script(f'git clone -b v0.5.9 {SGLANG}\ncd sglang\npip install -e "python[all]"' + end)) == "0.5.9"
    assert release(script(f"git clone -b v0.5.9 {SGLANG} /s\npip install /s/python" + end)) == "0.5.9"
    assert release(script(f"git clone -b v0.5.9 {SGLANG} /s\npip install /s/sgl-kernel" + end)) is None


@together(
    "steps, expected",
    [
        (f"git clone {LLAMA}\ncd llama.cpp\ngit checkout b6500\ncmake -B build && cmake --build build -j", "b6500"),
        (f"git clone -b b6500 {LLAMA}.git $S\ncmake -S $S -B $S/build\ncmake --build $S/build", "b6500"),
        ("git clone -b b6500 https://github.com/ggerganov/llama.cpp\nmake -C llama.cpp -j", "b6500"),
        (f"curl -LO {LLAMA}/releases/download/b6500/llama-b6500-bin-ubuntu-x64.zip", "b6500"),
        (f"B=b6500\nwget -q {LLAMA}/releases/download/$B/llama-$B-bin-ubuntu-x64.zip", "b6500"),
        (f"git clone {LLAMA}\ncd llama.cpp && cmake --build build", None),
        (f"git clone -b b6500 {LLAMA}\ncmake --build elsewhere", None),
        (f"wget {LLAMA}/releases/download/$B/llama-$B-bin-ubuntu-x64.zip", None),
        ("wget https://github.com/house/llama.cpp/releases/download/b6500/llama-b6500.zip", None),
    ],
)
def test_a_build_of_llama_cpp(steps: str, expected: str | None) -> None:
    assert release(script(f"{steps}\nbuild/bin/llama-server -m m.gguf")) == expected


def test_what_an_installer_takes_from_a_variable() -> None:
    get = "curl -fsSL https://ollama.com/install.sh"
    assert release(script(f"{get} | OLLAMA_VERSION=0.5.7 sh\nollama serve")) == "0.5.7"
    assert release(script(f"export OLLAMA_VERSION=v0.5.7\n{get} | sh\nollama serve")) == "0.5.7"
    assert release(script(f"{get} | OLLAMA_VERSION=$V sh\nollama serve")) is None
    assert release(script(f"{get} | sh\nollama serve")) is None


@pytest.mark.parametrize(
    ("name", "text", "step", "expected"),
    [
        ("requirements.txt", "torch\nvllm[audio]==0.19.1  # pinned\n", "pip install -r requirements.txt", "0.19.1"),
        ("vllm.txt", "vllm==0.19.1\n", "cd $(dirname $0)\nuv pip install --requirement=vllm.txt", "0.19.1"),
        ("requirements.txt", "vllm==0.19.1 \\\n    --hash=sha256:0\n", "uv pip sync requirements.txt", "0.19.1"),
        ("environment.yml", "dependencies:\n- pip:\n  - vllm==0.19.1\n", "conda env create -f environment.yml", "0.19.1"),
        ("requirements.txt", "vllm>=0.19\n", "pip install -r requirements.txt", None),
        ("requirements.txt", "# vllm==0.19.1\ntorch\n", "pip install -r requirements.txt", None),
        ("other.txt", "vllm==0.19.1\n", "pip install -r requirements.txt", None),
        ("other.txt", "vllm==0.19.1\n", "pip install -c other.txt torch", None),
        ("uv.lock", '[[package]]\nname = "vllm"\nversion = "0.19.1"\n', "uv sync", "0.19.1"),
        ("poetry.lock", '[[package]]\nname = "vllm"\nversion = "0.19.1"\n', "poetry install --no-root", "0.19.1"),
        ("pyproject.toml", '[project]\ndependencies = ["vllm==0.19.1"]\n', "uv sync", "0.19.1"),
        ("pyproject.toml", '[project]\ndependencies = ["vllm==0.19.1"]\n', "pip install -e .", "0.19.1"),
        ("pyproject.toml", '[project]\ndependencies = ["vllm>=0.19.1"]\n', "pip install -e .", None),
        ("pyproject.toml", 'a = ["vllm==0.19.1"]\nb = ["vllm==0.20.0"]\n', "uv sync", None),
        ("uv.lock", '[[package]]\nname = "vllm"\nversion = "0.19.1"\n', ". .venv/bin/activate", None),
        ("inst.sh", "pip install vllm==0.19.1\n", "bash inst.sh", "0.19.1"),
        ("inst.sh", "#!/bin/sh\npip install vllm==0.19.1\n", "./inst.sh", "0.19.1"),
        ("inst.sh", "pip install vllm\n", "bash inst.sh", None),
    ],
)
def test_a_file_beside(tmp_path: Path, name: str, text: str, step: str, expected: str | None) -> None:
    (tmp_path / name).write_text(text)
    assert release(script(f"{step}\nvllm serve m", tmp_path)) == expected


@pytest.mark.parametrize(
    ("tool", "name", "text"),
    [
        ("uv", "uv.lock", '[[package]]\nname = "vllm"\nversion = "0.19.1"\n'),
        ("poetry", "poetry.lock", '[[package]]\nname = "vllm"\nversion = "0.19.1"\n'),
        ("pixi", "pixi.lock", "- pypi: https://files.pythonhosted.org/packages/a/vllm-0.19.1-cp38-abi3-linux_x86_64.whl\n"),
    ],
)
def test_a_command_that_runs_in_a_project(tmp_path: Path, tool: str, name: str, text: str) -> None:
    assert release(script(f"{tool} run vllm serve m", tmp_path)) is None
    (tmp_path / name).write_text(text)
    assert release(script(f"{tool} run vllm serve m", tmp_path)) == "0.19.1"
    assert release(script("vllm serve m", tmp_path)) is None


LOCKED = '[[package]]\nname = "vllm"\nversion = "{}"\n'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"uv.lock": LOCKED.format("0.19.1")}, "0.19.1"),
        ({"uv.lock": LOCKED.format("0.19.1"), "tools/uv.lock": LOCKED.format("0.20.0")}, "0.20.0"),
        ({"uv.lock": LOCKED.format("0.19.1"), "tools/uv.lock": "[[package]]\nname = 'torch'\n"}, None),
        ({"pyproject.toml": '[project]\ndependencies = ["vllm==0.19.1"]\n'}, "0.19.1"),
        ({"uv.lock": LOCKED.format("0.19.1"), "tools/pyproject.toml": "[project]\nname = 'a'\n"}, "0.19.1"),
        ({"other/uv.lock": LOCKED.format("0.19.1")}, None),
    ],
)
@pytest.mark.parametrize("step", ["uv run vllm serve m", "uv sync\nvllm serve m", "exec uv run vllm serve m"])
def test_a_project_of_a_folder_above(tmp_path: Path, files: dict[str, str], expected: str | None, step: str) -> None:
    folder = tmp_path / "tools" / "scripts"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert release(script(step, folder)) == expected


@together(
    "steps, expected",
    [
        ("apptainer pull vllm.sif docker://vllm/vllm-openai:v0.19.1\napptainer exec --nv vllm.sif vllm serve m", "0.19.1"),
        ("singularity build /i/a.sif docker://vllm/vllm-openai:v0.19.1\nsingularity run --nv /i/a.sif vllm serve m", "0.19.1"),
        (
            "enroot import -o v.sqsh docker://vllm/vllm-openai:v0.19.1\nsrun --container-image=$PWD/v.sqsh vllm serve m",
            "0.19.1",
        ),
        (
            "enroot import -o v.sqsh docker://vllm/vllm-openai:v0.19.1\nenroot create -n v v.sqsh\nenroot start v vllm serve m",
            "0.19.1",
        ),
        ("docker build --build-arg VLLM_VERSION=v0.19.1 -t me:1 .\ndocker run --gpus all me:1 vllm serve m", "0.19.1"),
        ("docker tag vllm/vllm-openai:v0.19.1 me:1\ndocker run --gpus all me:1 vllm serve m", None),
        ("apptainer instance run --nv /i/vllm-openai_v0.19.1.sif llm vllm serve m", "0.19.1"),
        ("srun --container-image=/i/vllm-openai-v0.19.1.sqsh vllm serve m", "0.19.1"),
        ("apptainer pull other.sif docker://vllm/vllm-openai:v0.19.1\napptainer exec --nv vllm.sif vllm serve m", None),
        ("apptainer pull vllm.sif docker://vllm/vllm-openai:latest\napptainer exec --nv vllm.sif vllm serve m", None),
        ("docker build --build-arg CUDA_VERSION=12.9.1 -t me:1 .\ndocker run --gpus all me:1 vllm serve m", None),
        ("pip install vllm==0.18.0\ndocker run --gpus all me:1 vllm serve m", None),
    ],
)
def test_a_container_of_an_image_made_before(steps: str, expected: str | None) -> None:
    assert release(script(steps)) == expected


def test_the_name_of_an_instance_is_not_an_argument() -> None:
    for image in ("/i/text-generation-inference_2.3.0.sif", "$DIR/text-generation-inference_2.3.0.sif"):
        launch = script(f"apptainer instance run --nv {image} llm --model-id m")
        assert (release(launch), [word.shown for word in launch.argv]) == ("2.3.0", ["--model-id", "m"])


def test_a_module() -> None:
    assert release(script("module load gcc/12.3.0 vllm/0.19.1\nvllm serve m")) == "0.19.1"
    assert release(script("ml vllm/0.19.1-foss-2024a\nvllm serve m")) == "0.19.1"
    assert release(script("module load vllm\nvllm serve m")) is None
    assert release(script("module load cuda/12.9.1\nvllm serve m")) is None


@pytest.mark.parametrize(
    "step",
    [
        "pip install vllm==0.19.1 2>&1 | tee install.log",
        "yes | pip install vllm==0.19.1",
        "{ pip install -U pip; pip install vllm==0.19.1; } | tail -n 3",
        "prepare() { pip install vllm==0.19.1; }\nprepare | cat",
    ],
)
def test_what_is_installed_in_a_pipeline(step: str) -> None:
    assert release(script(f"{step}\nvllm serve m")) == "0.19.1"


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("pip install vllm==0.19.1", "0.19.1"),
        ("setup() { /opt/v/bin/pip install vllm==0.19.1; }\nsetup", "0.19.1"),
        ("pip install vllm==0.19.1\npip install vllm==0.20.0", None),
        ("docker exec c pip install vllm==0.19.1", None),
        ("true", None),
    ],
)
def test_files_that_a_script_writes(step: str, expected: str | None) -> None:
    unit = "cat > /etc/systemd/system/v.service <<EOF\n[Service]\nExecStart=/opt/v/bin/vllm serve m\nEOF"
    written = "cat > start.sh <<'EOF'\n#!/bin/bash\nvllm serve m\nEOF\nchmod +x start.sh"
    for file in (unit, written):
        assert release(script(f"{step}\n{file}")) == expected
        assert release(script(f"{file}\n{step}")) == expected
    pod = "cat > c.yml <<EOF\nservices: {a: {image: house/vllm, command: vllm serve m}}\nEOF"
    assert release(script(f"{step}\n{pod}")) is None


def workflow(steps: str, tmp_path: Path) -> Launch:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    text = "on: push\njobs:\n  a:\n    runs-on: gpu\n    steps:\n" + steps + "      - run: vllm serve m &\n"
    return launch_in(text, "a.yml", folder)


CHECKOUT = "      - uses: actions/checkout@v4\n        with: {{repository: {}, ref: {}, path: {}}}\n"


@pytest.mark.parametrize(
    ("given", "step", "expected"),
    [
        (("vllm-project/vllm", "v0.19.1", "vllm"), "run: cd vllm && pip install -e .", "0.19.1"),
        (("vllm-project/vllm", "v0.19.1", "src/vllm"), "{run: pip install ., working-directory: src/vllm}", "0.19.1"),
        (("vllm-project/vllm", "v0.19.1", "."), "run: pip install .", "0.19.1"),
        (("vllm-project/vllm", "main", "vllm"), "run: pip install ./vllm", None),
        (("house/vllm", "v0.19.1", "vllm"), "run: pip install ./vllm", None),
        (("vllm-project/vllm", "v0.19.1", "vllm"), "run: pip install .", None),
        (("vllm-project/vllm", "${{ inputs.ref }}", "vllm"), "run: pip install ./vllm", None),
    ],
)
def test_what_a_workflow_checks_out(tmp_path: Path, given: tuple[str, str, str], step: str, expected: str | None) -> None:
    assert release(workflow(CHECKOUT.format(*given) + f"      - {step}\n", tmp_path)) == expected


def test_requirements_of_a_workflow_s_repository(tmp_path: Path) -> None:
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "requirements.txt").write_text("vllm==0.19.1\n")
    assert release(workflow("      - run: pip install -r ci/requirements.txt\n", tmp_path)) == "0.19.1"
    assert release(workflow("      - {run: pip install -r requirements.txt, working-directory: ci}\n", tmp_path)) == "0.19.1"
    assert release(workflow("      - run: pip install -r requirements.txt\n", tmp_path)) is None


@together(
    "steps, expected",
    [
        ("pip install vllm==0.18.1\npatch -p1 < a.patch", ("0.18.1", "+patched")),
        ("pip install vllm==0.18.1\ncd /usr/lib/python3/dist-packages && git apply /patches/a.patch", ("0.18.1", "+patched")),
        (f"git clone -b v0.18.1 {VLLM}\ncd vllm\ngit apply ../a.patch\npip install -e .", ("0.18.1", "+patched")),
        (f"git clone -b v0.18.1 {VLLM}\ncd vllm\ngit cherry-pick abc\npip install -e .", (None, "")),
        ("git clone -b v0.18.1 https://github.com/house/vllm\npip install ./vllm", (None, "+fork")),
        ("pip install git+https://github.com/house/vllm-turbo@v0.18.1", (None, "+fork")),
        ("pip install git+https://github.com/vllm-project/vllm@v0.18.1", ("0.18.1", "")),
        ("pip install git+https://github.com/vllm-project/vllm@main", (None, "")),
        ("patch -p1 < a.patch\npip install vllm==0.18.1", ("0.18.1", "")),
    ],
)
def test_a_changed_engine(steps: str, expected: tuple[str | None, str]) -> None:
    claim = script(f"{steps}\nvllm serve m").release
    assert (claim.release, claim.build) == expected


PULL = "apptainer pull --force {} docker://vllm/vllm-openai:v0.9.2\n"


@pytest.mark.parametrize(
    ("other", "run", "expected"),
    [
        (PULL.format("/data/v.sif"), "apptainer exec --nv /data/v.sif vllm serve m\n", "0.9.2"),
        (
            "singularity build v.sif \\\n  docker://vllm/vllm-openai:v0.9.2\n",
            "singularity run --nv v.sif vllm serve m\n",
            "0.9.2",
        ),
        (
            "enroot import -o $D/v.sqsh docker://vllm/vllm-openai:v0.9.2\n",
            "srun --container-image=/x/v.sqsh vllm serve m\n",
            "0.9.2",
        ),
        (
            "enroot import --output v.sqsh 'docker://nvcr.io#vllm/vllm-openai:v0.9.2'\n",
            "enroot create -n v v.sqsh\nenroot start v vllm serve m\n",
            None,  # of another registry
        ),
        (PULL.format("other.sif"), "apptainer exec v.sif vllm serve m\n", None),
        (PULL.format("my-v.sif"), "apptainer exec v.sif vllm serve m\n", None),
        ("# " + PULL.format("v.sif"), "apptainer exec v.sif vllm serve m\n", None),
        (PULL.format("v.sif") + PULL.format("v.sif").replace("0.9.2", "0.9.1"), "apptainer exec v.sif vllm serve m\n", None),
        ("apptainer pull v.sif docker://$IMAGE\n", "apptainer exec v.sif vllm serve m\n", None),
        (PULL.format("v.sif"), "apptainer exec vllm-0.8.5.sif vllm serve m\n", "0.8.5"),
        (
            PULL.format("v.sif"),
            "apptainer instance start --nv v.sif one\napptainer exec instance://one vllm serve m\n",
            "0.9.2",
        ),
        ("", "enroot create --name v own.sqsh\nenroot start v vllm serve m\n", None),
    ],
)
def test_an_image_that_another_script_of_the_folder_pulls(other: str, run: str, expected: str | None, tmp_path: Path) -> None:
    (tmp_path / "setup.sh").write_text(other)
    (launch,) = launches_in(run, "serve.sh", tmp_path)
    assert (launch.release.release, launch.release.rolling) == (expected, False)


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("Bootstrap: docker\nFrom: vllm/vllm-openai:v0.9.2\n%post\n  apt-get install -y git\n", "0.9.2"),
        ("Bootstrap: docker\nFrom: nvidia/cuda:12.4.1-devel-ubuntu22.04\n%post\n  pip install vllm==0.9.1\n", "0.9.1"),
        ("Bootstrap: docker\nFrom: vllm/vllm-openai:v0.9.2\n%post\n  pip install -U vllm==0.10.0\n", "0.10.0"),
        ("Bootstrap: localimage\nFrom: vllm/vllm-openai:v0.9.2\n", None),
        ("", None),
    ],
)
def test_an_image_of_a_definition_file(recipe: str, expected: str | None, tmp_path: Path) -> None:
    (tmp_path / "llm.def").write_text(recipe)
    text = "apptainer build --fakeroot own.sif llm.def\napptainer exec --nv own.sif vllm serve m\n"
    (launch,) = launches_in(text, "serve.sh", tmp_path)
    assert launch.release.release == expected
