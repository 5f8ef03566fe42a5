"""Python scripts: the commands that they start, with the values that the script works out."""

# ruff: noqa: E501  # scripts in one line
from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.readers import discover, read
from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release
from tests.running import Workspace
from tests.together import together


def started(text: str) -> list[str]:
    """The words of the only launch of a script that has `import subprocess` in front."""
    return argv(launch_in("import os, subprocess, sys\n" + text, "serve.py"))


@together(
    "text, words",
    [
        ('subprocess.run(["vllm", "serve", "m", "--port", "8000"])\n', "m --port 8000"),
        ('subprocess.Popen(["vllm", "serve", "m"] + ["--port", "8000"])\n', "m --port 8000"),
        ('subprocess.check_call("vllm serve m --port 8000", shell=True)\n', "m --port 8000"),
        ('subprocess.run(args=("vllm", "serve", "m"))\n', "m"),
        ('os.system("vllm serve m --port 8000 &")\n', "m --port 8000"),
        ('os.execvp("vllm", ["vllm", "serve", "m"])\n', "m"),
        ('cmd = ["vllm", "serve", "m"]\nos.execvp(cmd[0], cmd)\n', "m"),
        ('os.execlp("vllm", "vllm", "serve", "m")\n', "m"),
        ('subprocess.Popen([sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", "m"])\n', "--model m"),
        ('cmd = "vllm serve m".split()\ncmd.append("--port")\ncmd += [str(8000)]\nsubprocess.run(cmd)\n', "m --port 8000"),
        (
            'cmd = ["vllm", "serve", "m"]\ncmd.extend(["--seed", "1"])\nsubprocess.run(" ".join(cmd), shell=True)\n',
            "m --seed 1",
        ),
        ('M, P = "m", 8000\nsubprocess.run(f"vllm serve {M} --port {P}", shell=True)\n', "m --port 8000"),
        ('subprocess.run("vllm serve {} --port {port}".format("m", port=1), shell=True)\n', "m --port 1"),
        ('async def go():\n    import asyncio\n    await asyncio.create_subprocess_exec("vllm", "serve", "m")\n', "m"),
        ('import asyncio\nawait asyncio.subprocess.create_subprocess_exec("vllm", "serve", "m")\n', "m"),
        ('async def go():\n    import asyncio\n    await asyncio.create_subprocess_shell("vllm serve m")\n', "m"),
        ('from subprocess import Popen as start\nstart(["vllm", "serve", "m"])\n', "m"),
        ('import subprocess as sp\nsp.run(["vllm", "serve", "m"])\n', "m"),
        ('def run(cmd):\n    subprocess.run(cmd, shell=True)\n\nrun("vllm serve m")\n', "m"),
        (
            'def cmd(model, port=8000):\n    return ["vllm", "serve", model, "--port", str(port)]\nsubprocess.run(cmd("m"))\n',
            "m --port 8000",
        ),
        (
            'class A:\n    model = "m"\n    def cmd(self):\n        return ["vllm", "serve", self.model]\n    def go(self):\n        subprocess.Popen(self.cmd())\n',
            "m",
        ),
        ('from sglang.utils import launch_server_cmd\nlaunch_server_cmd("vllm serve m")\n', "m"),
        ('for name in ["a/b", "c/d"]:\n    subprocess.run(["vllm", "serve", name])\n', "a/b"),
        (
            'if __name__ == "__main__":\n    with open("log") as log:\n        subprocess.run(["vllm", "serve", "m"], stdout=log)\n',
            "m",
        ),
        ('C = {"model": "m"}\nsubprocess.run(["vllm", "serve", C["model"]])\n', "m"),
        ('try:\n    subprocess.run(["vllm", "serve", "m"])\nexcept OSError:\n    raise\n', "m"),
        ('import threading\nthreading.Thread(target=lambda: subprocess.run(["vllm", "serve", "m"])).start()\n', "m"),
    ],
)
def test_what_is_started(text: str, words: str) -> None:
    assert started(text) == words.split()


@together(
    "text",
    [
        'print("vllm serve m")\n',
        'subprocess.run(["pkill", "-f", "vllm serve"])\n',
        '# subprocess.run(["vllm", "serve", "m"])\n',
        'subprocess.run(["systemctl", "restart", "vllm"])\n',
        'logger.info("vllm serve m")\n',
        'HELP = "vllm serve m"\nsubprocess.run(["ls"])\n',
        'subprocess.run(["vllm", "bench", "serve", "--model", "m"])\n',
        "subprocess.run([",
        'match = re.search(r"vllm serve (\\S+)", text)\n',
    ],
)
def test_what_starts_nothing(text: str) -> None:
    assert read(Source("serve.py", "import os, subprocess, sys\n" + text)).launches == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('m = os.environ["M"]\nsubprocess.run(["vllm", "serve", m])\n', ['{os.environ["M"]}']),
        ('m = os.environ.get("M", "a/b")\nsubprocess.run(["vllm", "serve", m])\n', ["a/b"]),
        (
            'cmd = ["vllm", "serve", "m"]\nif q:\n    cmd += ["--quantization", "fp8"]\nsubprocess.run(cmd)\n',
            ["m", '{["--quantization", "fp8"]}'],
        ),
        ('subprocess.run(["vllm", "serve", "m", *extra])\n', ["m", "{*extra}"]),
        (
            'def go(model: str, port: int = 8000):\n    subprocess.run(["vllm", "serve", model, "--port", str(port)])\n',
            ["{model}", "--port", "8000"],
        ),
        ('subprocess.run(["vllm", "serve", "m"] + (["--x"] if y else []))\n', ["m", "--x"]),
        (
            'p = argparse.ArgumentParser()\np.add_argument("--tp-size", default=2)\nargs = p.parse_args()\nsubprocess.run(["vllm", "serve", "m", "-tp", str(args.tp_size)])\n',
            ["m", "-tp", "2"],
        ),
    ],
)
def test_what_is_not_known(text: str, words: list[str]) -> None:
    found = launches_in("import argparse, os, subprocess\n" + text, "serve.py")
    assert argv(found[0]) == words


def test_alternatives() -> None:
    text = """\
        import subprocess

        if fast:
            cmd = ["vllm", "serve", "a/b"]
        else:
            cmd = ["vllm", "serve", "c/d", "--enforce-eager"]
        cmd.append("--port=1")
        subprocess.Popen(cmd)
        """
    assert [argv(one) for one in launches_in(text, "serve.py")] == [["a/b", "--port=1"], ["c/d", "--enforce-eager", "--port=1"]]


def test_places() -> None:
    launch, spans = marked_launch(
        """\
        import subprocess
        cmd = ["vllm", "serve", "⟦ä⟧",  # "ö"
            "--⟦port⟧", f"{'8'}⟦000⟧"]
        subprocess.run(cmd)
        """,
        "serve.py",
    )
    model, port, value = launch.argv
    assert [model.text.span(), port.text.span(2), value.text.span(1)] == spans
    assert argv(launch) == ["ä", "--port", "8000"]


def test_escapes_and_long_strings() -> None:
    text = 'import subprocess\nsubprocess.run("""\nvllm serve m \\\\\n  --tool-call-parser "a\\tb" \\\n --port 1\n""", shell=True)\n'
    assert argv(launch_in(text, "serve.py")) == ["m", "--tool-call-parser", "a\tb", "--port", "1"]


@pytest.mark.parametrize(
    "text",
    [
        'os.environ["A"] = "1"\nsubprocess.run(["vllm", "serve", "m"])\n',
        'subprocess.run(["vllm", "serve", "m"], env={**os.environ, "A": "1"})\n',
        'env = os.environ.copy()\nenv["A"] = "1"\nsubprocess.run(["vllm", "serve", "m"], env=env)\n',
        'env = dict(os.environ, A="1")\nsubprocess.run(["vllm", "serve", "m"], env=env)\n',
        'env = os.environ.copy()\nenv.update({"A": "1"})\nsubprocess.run(["vllm", "serve", "m"], env=env)\n',
        'os.environ.setdefault("A", "1")\nsubprocess.run(["vllm", "serve", "m"])\n',
        'subprocess.run("A=1 vllm serve m", shell=True)\n',
    ],
)
def test_environment(text: str) -> None:
    assert environment(launch_in("import os, subprocess\n" + text, "serve.py")) == {"A": "1"}


@together(
    "text, expected",
    [
        ('image = modal.Image.debian_slim().pip_install("vllm==0.9.1", "hf_transfer")\n', "0.9.1"),
        ('image = modal.Image.debian_slim().uv_pip_install(["vllm==0.10.2"])\n', "0.10.2"),
        ('image = modal.Image.from_registry("vllm/vllm-openai:v0.11.0")\n', "0.11.0"),
        ('image = modal.Image.from_registry("vllm/vllm-openai:v0.11.0").run_commands("pip install vllm==0.12.0")\n', "0.12.0"),
        (
            'modal.Image.from_registry("vllm/vllm-openai:v0.11.0").run_commands("pip uninstall -y vllm", "pip install -e /src")\n',
            None,
        ),
        (
            'modal.Image.from_registry("vllm/vllm-openai:v0.11.0").run_commands("pip install git+https://github.com/x/vllm")\n',
            None,
        ),
        ('modal.Image.from_registry("vllm/vllm-openai:v0.11.0").run_commands(["apt-get install -y git"])\n', "0.11.0"),
        ('subprocess.run(["pip", "install", "vllm==0.12.0"])\n', "0.12.0"),
        ("", None),
    ],
)
def test_releases(text: str, expected: str | None) -> None:
    text = f"import modal, subprocess\n{text}\ndef serve():\n    subprocess.Popen('vllm serve m', shell=True)\n"
    assert release(launch_in(text, "serve.py"))[0] == expected


IMAGES = """import modal, subprocess

def image(of):
    return modal.Image.from_registry(of).pip_install("httpx")

def old():
    return (
        modal.Image.from_registry("vllm/vllm-openai:v0.11.0")
        .entrypoint([])
        .pip_install("httpx>=0.27")
    )

new = modal.Image.debian_slim().pip_install("vllm==0.14.0")
app = modal.App("x")

@app.cls(image=old(), gpu="L4")
class Old:
    @modal.enter()
    def start(self):
        subprocess.Popen(["vllm", "serve", "a"])

@app.function(image=new)
def other():
    subprocess.Popen(["vllm", "serve", "b"])

@app.function(gpu="L4")
@modal.web_server(8000)
def plain():
    subprocess.Popen(["vllm", "serve", "c"])
"""
SAME = """
@app.function(image=image("vllm/vllm-openai:v0.10.2"))
def first():
    subprocess.Popen(["vllm", "serve", "d"])

@app.function(image=image("vllm/vllm-openai:v0.12.0"))
def second():
    subprocess.Popen(["vllm", "serve", "e"])
"""


def test_image_of_decorator() -> None:
    found = {argv(one)[0]: release(one)[0] for one in launches_in(IMAGES, "serve.py")}
    assert (found["a"], found["b"]) == ("0.11.0", "0.14.0")


def test_images_of_one_function() -> None:
    found = {argv(one)[0]: release(one)[0] for one in launches_in(IMAGES + SAME, "serve.py")}
    assert found["a"] == "0.11.0"
    assert found["e"] is None  # the function makes both
    assert found["d"] != "0.12.0"


LIBRARY = """
import subprocess

MODEL = "Qwen/Qwen3-8B"
ARGS = ["vllm", "serve", MODEL, "--port", "8000"]

def command(model, port=9000):
    words = ["vllm", "serve", model]
    words += ["--port", str(port)]
    return words

def start(model):
    subprocess.Popen(command(model))

class Server:
    port = "1"
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from library import MODEL\nsubprocess.run(['vllm', 'serve', MODEL])\n", ["Qwen/Qwen3-8B"]),
        (
            "from library import ARGS\nsubprocess.run([*ARGS, '--seed', '1'])\n",
            ["Qwen/Qwen3-8B", "--port", "8000", "--seed", "1"],
        ),
        ("from library import ARGS as words\nsubprocess.run(words)\n", ["Qwen/Qwen3-8B", "--port", "8000"]),
        ("from library import command\nsubprocess.run(command('m', port=1))\n", ["m", "--port", "1"]),
        ("from library import *\nsubprocess.run(command(MODEL))\n", ["Qwen/Qwen3-8B", "--port", "9000"]),
        ("import library\nsubprocess.run(library.command(library.MODEL))\n", ["Qwen/Qwen3-8B", "--port", "9000"]),
        ("import library as lib\nsubprocess.run(['vllm', 'serve', lib.MODEL])\n", ["Qwen/Qwen3-8B"]),
        ("from .library import command\nsubprocess.run(command('m'))\n", ["m", "--port", "9000"]),
        ("from . import library\nsubprocess.run(library.ARGS)\n", ["Qwen/Qwen3-8B", "--port", "8000"]),
        ("from tools.library import MODEL\nsubprocess.run(['vllm', 'serve', MODEL])\n", ["Qwen/Qwen3-8B"]),
        ("from tools import library\nsubprocess.run(['vllm', 'serve', library.MODEL])\n", ["Qwen/Qwen3-8B"]),
        ("from middle import ARGS\nsubprocess.run(ARGS)\n", ["Qwen/Qwen3-8B", "--port", "8000"]),
        ("from library import MISSING\nsubprocess.run(['vllm', 'serve', MISSING])\n", ["{MISSING}"]),
    ],
)
def test_modules_beside_the_script(text: str, words: list[str], tmp_path: Path) -> None:
    beside(tmp_path, {"library.py": LIBRARY, "tools/library.py": LIBRARY, "middle.py": "from library import ARGS\n"})
    launch = launch_in("import subprocess\n" + text, "serve.py", tmp_path)
    assert argv(launch) == words
    assert launch.site is not None
    assert launch.site.source is launch.source


@pytest.mark.parametrize(
    "text",
    [
        "from library import start\nstart('m')\n",  # a launch of the module
        "import library\nlibrary.start('m')\n",
        "from library import command\nprint(command('m'))\n",
    ],
)
def test_module_that_starts_an_engine(text: str, tmp_path: Path) -> None:
    beside(tmp_path, {"library.py": LIBRARY})
    assert launches_in("import subprocess\n" + text, "serve.py", tmp_path) == []


def test_modules_of_a_package(tmp_path: Path) -> None:
    build = "def build(model, *, port=80):\n    args: list[str] = ['vllm', 'serve', model]\n    return args + ['--port', str(port)]\n"
    beside(tmp_path, {"src/pack/deep/__init__.py": "", "src/pack/launch.py": build, "lib/launch.py": build})
    installed = "import abc, ast, cmd, csv, dis, html, io, json, math, os, pdb, re, ssl, sys, time, uuid, zlib, numpy, torch\n"
    run = "args = build('m', port=81)\nos.execvp(where(args[0]), args)\n"
    for path, line in (
        ("src/pack/cli.py", "from pack.launch import build"),
        ("src/pack/deep/cli.py", "from pack.launch import build"),
        ("src/pack/deep/cli.py", "from ..launch import build"),
        ("src/pack/cli.py", "import pack.launch as tool\nbuild = tool.build"),
        ("bin/cli.py", "from lib.launch import build"),
        ("cli.py", "from lib.launch import build"),
    ):
        text = f"{installed}{line}\n{run}# vllm\n"
        beside(tmp_path, {path: text})
        folder = (tmp_path / path).parent
        found = read(Source(str(tmp_path / path), text), Neighbours(str(folder))).launches
        assert [argv(one) for one in found] == [["m", "--port", "81"]], (path, line)


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    beside(tmp_path, {"a.py": "from b import X\nY = 'm'\n", "b.py": "from a import Y\nX = 1\n", "broken.py": "def f(:\n"})
    text = "import subprocess, broken\nfrom a import Y\nsubprocess.run(['vllm', 'serve', Y])\n"
    assert argv(launch_in(text, "serve.py", tmp_path)) == ["m"]


def beside(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


LOOP = 'c = ["vllm", "serve", "m"]\nfor k, v in D.items():\n    c += ["--" + k.replace("_", "-"), str(v)]\nsubprocess.run(c)\n'
FLAGS = """
c = ["vllm", "serve", "m"]
for key, value in D.items():
    flag = f"--{key}"
    if isinstance(value, bool):
        if value:
            c.append(flag)
        continue
    c.extend([flag, str(value)])
subprocess.run(c)
"""
SPREAD = """
def serve(model, **given):
    c = ["vllm", "serve", model]
    for key, value in given.items():
        c += ["--" + key, str(value)]
    subprocess.Popen(c)
"""
METHOD = """
class C:
    port: int = 8000
    def {}(self):
        c = ["vllm", "serve", "m"]
        c += ["--port", str(self.port)]
        return c
class S:
    def start(self):
        subprocess.Popen(self.config.{}())
"""


@together(
    "text, words",
    [
        ('D = {"seed": 1, "max_model_len": 4096}\n' + LOOP, "m --seed 1 --max-model-len 4096"),
        ('D = dict(seed=1)\nD["port"] = 80\n' + LOOP, "m --seed 1 --port 80"),
        ('D = {**{"seed": 1}, "port": 80}\n' + LOOP, "m --seed 1 --port 80"),
        ('D = {"enforce-eager": True, "seed": 2, "enable-lora": False}\n' + FLAGS, "m --enforce-eager --seed 2"),
        ('c = ["vllm", "serve", "m"]\nfor x in ["--a", "--b"]:\n    c.append(x)\n    break\nsubprocess.run(c)\n', "m --a"),
        ('D = {"tensor-parallel-size": os.environ.get("TP", 2)}\n' + FLAGS, "m --tensor-parallel-size 2"),
        (SPREAD + 'serve("m", seed=1, port=2)\n', "m --seed 1 --port 2"),
        (SPREAD + 'D = {"seed": 1}\nserve("m", port=2, **D)\n', "m --port 2 --seed 1"),
        (SPREAD + 'class A:\n    def go(self):\n        serve("m", seed=1)\n', "m --seed 1"),
        ('c = ["vllm", "serve", "m"]\nsubprocess.run(" ".join(shlex.quote(x) for x in c), shell=True)\n', "m"),
        ('c = ["vllm", "serve", "m", "--port", 1]\nsubprocess.run([str(x) for x in c])\n', "m --port 1"),
        ('c = " ".join([f"{x}" for x in ["vllm", "serve", "m"]])\nos.system(f"export A=1 && {c} > log 2>&1")\n', "m"),
        ('def run(*words):\n    subprocess.run(words)\n\nrun("vllm", "serve", "m")\n', "m"),
        (
            'def run(*words):\n    subprocess.run(["bash", "-c", words[-1]])\n\nrun("bash", "vllm serve m --seed 1")\n',
            "m --seed 1",
        ),
        (
            'def run(model, *more):\n    subprocess.run(["vllm", "serve", model, *more])\n\nrun("m", "--seed", "1")\n',
            "m --seed 1",
        ),
        (
            'def wrapped(*words):\n    if inside():\n        return ["bash", "-c", words[-1]]\n    return ["wsl", "--"] + list(words)\nasync def go():\n    await asyncio.create_subprocess_exec(*wrapped("bash", "-c", "vllm serve m"))\n',
            "m",
        ),
        (METHOD.format("build_command", "build_command"), "m --port 8000"),
        (METHOD.format("_make_cmd", "_make_cmd"), "m --port 8000"),
        (METHOD.format("to_cli_args", "to_cli_args"), "m --port 8000"),
        (
            'def go(n=5):\n    c = ["vllm", "serve", "m"]\n    if n is not None:\n        c += ["--seed", str(n)]\n    subprocess.run(c)\ngo(3)\n',
            "m --seed 3",
        ),
        (
            'p.add_argument("--model", "-m", default="a/b")\nargs = p.parse_args()\nsubprocess.run(["vllm", "serve", args.model])\n',
            "a/b",
        ),
        (
            'p.add_argument("-m", "--model", default="a/b")\nargs = p.parse_args()\nsubprocess.run(["vllm", "serve", args.model])\n',
            "a/b",
        ),
        (
            'p.add_argument("--model", dest="name", default="a/b")\nargs = p.parse_args()\nsubprocess.run(["vllm", "serve", args.name])\n',
            "a/b",
        ),
        ('from sglang.test.doc_patch import launch_server_cmd\nlaunch_server_cmd("""\nexport A=1 ;\nvllm serve m\n""")\n', "m"),
        ('execute_shell_command("cd /x && source .venv/bin/activate && vllm serve m --port 1")\n', "m --port 1"),
        ('run_in_shell("""\n# a server\nset -e\nulimit -n 65536\nvllm serve m\n""")\n', "m"),
    ],
)
def test_what_a_script_works_out(text: str, words: str) -> None:
    assert " ".join(started(text)) == words


@pytest.mark.parametrize(
    "text",
    [
        'D = {"seed": 1}\nif x:\n    D["port"] = 80\n' + LOOP,
        'D = {"seed": 1}\nD.pop(x)\n' + LOOP,
        'D = {"seed": 1} if x else {"port": 80}\n' + LOOP,
        'D = {"seed": None}\n' + LOOP,
        "D = read()\n" + LOOP,
        SPREAD + 'serve("m", **read())\n',
        'subprocess.run(["vllm", "serve", "m", *[x for x in ["--seed", "1"] if x]])\n',
    ],
)
def test_options_that_are_not_certain(text: str) -> None:
    launch = launch_in("import subprocess\n" + text, "serve.py")
    assert [word.value for word in launch.argv if word.value is not None] == ["m"]


def test_images_that_a_branch_chooses() -> None:
    run = '["docker", "run", "vllm/vllm-openai:v{}", "--model", "m"]'
    text = (
        f"import subprocess\nif x:\n    c = {run.format('0.11.0')}\nelse:\n    c = {run.format('0.12.0')}\nsubprocess.run(c)\n"
    )
    assert [release(one)[0] for one in launches_in(text, "serve.py")] == ["0.11.0", "0.12.0"]


def test_a_container_of_the_docker_sdk() -> None:
    text = """\
        import docker
        client = docker.from_env()
        client.containers.run("vllm/vllm-openai:v0.11.0", ["--model", "m"], environment={"VLLM_LOGGING_LEVEL": "DEBUG"}, detach=True)
        """
    launch = launch_in(text, "serve.py")
    assert (argv(launch), release(launch)) == (["--model", "m"], ("0.11.0", "image"))
    assert environment(launch)["VLLM_LOGGING_LEVEL"] == "DEBUG"


def test_which_scripts_are_read(workspace: Workspace) -> None:
    client = workspace.file("client.py", 'print("vllm serve m")\n')
    workspace.file("serve.py", 'import subprocess\nsubprocess.run(["vllm", "serve", "m", "--prot", "1"])\n')
    assert discover.decode("client.py", client.read_bytes()) is None
    found = workspace.run("check", "--format", "concise", ".")
    assert "client.py" not in found.out
    assert found.out.startswith("serve.py:2:40: warning[vllm/unknown-option]")


def test_a_notebook_that_was_exported() -> None:
    text = """\
        # %%
        import subprocess
        model = "m/m"
        !pip install vllm==0.11.0
        %env CUDA_VISIBLE_DEVICES=0
        # %%
        !nohup vllm serve {model} \\
           --port 8001 &
        if model:
            !vllm serve b/b
        # %% a name
        server = subprocess.Popen(["vllm", "serve", "c/c"])
        """
    found = launches_in(text, "notebook.py")
    assert [argv(launch) for launch in found] == [["c/c"], ["m/m", "--port", "8001"], ["b/b"]]
    assert [release(launch)[0] for launch in found] == ["0.11.0"] * 3
    assert environment(found[1]) == {"CUDA_VISIBLE_DEVICES": "0"}


def test_a_notebook_that_was_exported_with_calls() -> None:
    text = """\
        # In[1]:
        get_ipython().system("pip install vllm==0.11.0")
        get_ipython().system("vllm serve a/a &")
        # In[2]:
        get_ipython().run_cell_magic('bash', '', 'vllm serve b/b --port 1')
        get_ipython().run_cell_magic('html', '', 'vllm serve c/c')
        """
    found = launches_in("import subprocess\n" + dedent(text), "notebook.py")
    assert [(argv(launch), release(launch)[0]) for launch in found] == [(["a/a"], "0.11.0"), (["b/b", "--port", "1"], "0.11.0")]


START = 'import subprocess\nsubprocess.run(["vllm", "serve", "m"])\n'


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("def f(:\n    pass\n", "3:7", "not valid Python: invalid syntax"),
        ('print "x"\n', "3:1", "not valid Python: Missing parentheses in call to 'print'. Did you mean print(...)?"),
    ],
)
def test_what_is_not_valid(workspace: Workspace, text: str, place: str, message: str) -> None:
    workspace.file("serve.py", START + text)
    named = workspace.run("check", "--format", "concise", "serve.py")
    assert (named.status, named.out.splitlines()) == (2, [f"serve.py:{place}: error {message}"])
    found = workspace.run("check", ".")
    assert found.status == 0
    assert f"note: serve.py:{place}: {message}" in found.out
    assert workspace.run("check", ".").out.split("\n")[0] == found.out.split("\n")[0]  # from the cache


@pytest.mark.parametrize("text", ["except A, B:\n    pass\n", 'x = f"{a["b"]}" f"{"\n', "type X[T = int] = = 1\n"])
def test_what_a_later_python_reads(workspace: Workspace, text: str) -> None:
    workspace.file("serve.py", START + "try:\n    pass\n" * text.startswith("except") + text)
    ran = workspace.run("check", "serve.py")
    assert ran.status == 0
    assert "not judged: Python 3." in ran.out


@pytest.mark.parametrize(
    "text", ["x = " + "(" * 5000, "\0import subprocess", "def f(:\n", "import subprocess\n" + "-" * 50_000 + "1"]
)
def test_what_is_no_python(text: str) -> None:
    assert read(Source("serve.py", text + '\nimport subprocess\nsubprocess.run(["vllm", "serve", "m"])')).launches == []


def test_functions_that_call_themselves() -> None:
    text = 'import subprocess\ndef f(n):\n    f(n)\n    g()\ndef g():\n    f(1)\n    subprocess.run(["vllm", "serve", "m"])\nf(1)\n'
    assert argv(launches_in(text, "serve.py")[0]) == ["m"]


def test_what_a_function_gives_in_an_undecided_branch() -> None:
    text = """\
        import subprocess

        def of_vllm(config):
            command = ["vllm", "serve", config.model]
            return command

        def of_sglang(config):
            return ["python", "-m", "sglang.launch_server", "--model-path", config.model]

        class Server:
            def start(self):
                command = of_sglang(self.config) if self.config.other else of_vllm(self.config)
                if self.config.backend == "sglang":
                    command = of_sglang(self.config)
                else:
                    command = of_vllm(self.config)
                subprocess.Popen(command, text=True)
        """
    assert sorted(launch.engine for launch in launches_in(text, "serve.py")) == ["sglang", "vllm"]


def test_each_return_of_a_function() -> None:
    text = """\
        import subprocess, sys

        def command(kind):
            if kind == "small":
                return ["vllm", "serve", "m"]
            try:
                return ["vllm", "serve", "m", "--quantization", "fp8"]
            except OSError:
                return None

        def model():
            if sys.argv[1:]:
                return "a/a"
            return "b/b"

        subprocess.run(command(sys.argv[1]))
        subprocess.run(["vllm", "serve", model()])
        """
    found = [[word.value for word in launch.argv] for launch in launches_in(text, "serve.py")]
    assert found == [["m"], ["m", "--quantization", "fp8"], [None]]


def test_a_program_of_windows() -> None:
    assert started(r'subprocess.Popen([r"C:\llama\llama-server.exe", "-m", "a.gguf"])') == ["-m", "a.gguf"]


@together(
    "call, kinds",
    [
        ('subprocess.run("vllm serve m")', ["one-word"]),
        ('subprocess.Popen(["vllm serve m"])', ["one-word"]),
        ('subprocess.run(["vllm", "serve", "m"], shell=True)', ["shell-arguments"]),
        ('subprocess.run("vllm serve m", shell=True)', []),
        ('subprocess.run(["vllm serve m"], shell=True)', []),
        ('subprocess.run(["vllm", "serve", "m"], shell=False)', []),
        ('subprocess.run("vllm serve m", shell=SHELL)', []),
        ('subprocess.run("vllm serve m", **options)', []),
        ('subprocess.run("llama-server.exe -m m.gguf")', []),
        ('host.run("vllm serve m")', []),
    ],
)
def test_a_text_without_a_shell_and_a_list_with_one_start_nothing(call: str, kinds: list[str]) -> None:
    launch = launch_in(f"import subprocess\n{call}\n", "start.py")
    assert [mishap.kind for mishap in launch.mishaps] == kinds
    assert launch.started is not bool(kinds)


def test_an_attribute_of_an_object_holds_a_command() -> None:
    launch = launch_in(
        """
        import subprocess
        def build(info):
            base = ["vllm", "serve", "m"]
            base += ["--port", "1"]
            return base
        def launch():
            info = Info()
            info.command = build(info)
            subprocess.Popen(info.command)
        """,
        "start.py",
    )
    assert argv(launch) == ["m", "--port", "1"]


def test_an_attribute_of_another_object_is_not_known() -> None:
    text = """
        import subprocess
        info.command = ["vllm", "serve", "m"]
        info = other()
        subprocess.Popen(info.command)
        """
    assert launches_in(text, "start.py") == []


BRANCHES = """\
import os, subprocess, sys

def build(args):
    if args.engine == "vllm":
        cmd = f"vllm serve {args.model} --seed 1"
    elif args.engine == "sglang":
        cmd = f"python -m sglang.launch_server --model-path {args.model}"
    else:
        raise ValueError(args.engine)
    if args.tp > 1:
        cmd += f" --tp {args.tp}"
    return cmd

subprocess.Popen(build(parse()), shell=True)
"""
CHOSEN = 'import os, subprocess\nbase = "vllm serve" if fast() else "python -m sglang.launch_server --model-path"\n'
KEYED = """\
import os, subprocess
COMMANDS = {"vllm": ["vllm", "serve"], "sglang": ["python", "-m", "sglang.launch_server", "--model-path"]}
"""
RECIPES = """\
import subprocess
RECIPES = [{"name": "a", "start": "nohup vllm serve m &"}, {"name": "b", "start": "llama-server -m a.gguf"}]

def ssh(host, cmd):
    return subprocess.run(["ssh", host, cmd])

def start(recipe):
    ssh("gpu1", recipe["start"])
"""
MATCH = """\
import os, subprocess, sys
match sys.argv[1]:
    case "vllm":
        cmd = ["vllm", "serve", "m"]
    case "sglang":
        cmd = ["python", "-m", "sglang.launch_server", "--model-path", "m"]
    case _:
        sys.exit(1)
os.execvp(cmd[0], cmd)
"""
FISH = """\
import subprocess
if fast():
    script = "conda activate vllm;\\nvllm serve m"
else:
    script = "conda activate sgl;\\npython -m sglang.launch_server --model-path m"
subprocess.run(["fish", "-c", script])
"""


def test_commands_that_a_condition_or_a_key_chooses() -> None:
    both = ["sglang", "vllm"]
    for text, engines in (
        (BRANCHES, both),
        (CHOSEN + 'subprocess.run(f"{base} m --port 1", shell=True)\n', both),
        (CHOSEN + "import shlex\nsubprocess.run([*shlex.split(base), name()])\n", both),
        (KEYED + "subprocess.run([*COMMANDS[kind()], name()])\n", both),
        (KEYED + 'subprocess.run(COMMANDS.get(kind()) + ["m"])\n', both),
        (KEYED + 'subprocess.run(COMMANDS["vllm"] + ["m"])\n', ["vllm"]),
        (KEYED + "COMMANDS.update(more())\nsubprocess.run(os.environ[kind()])\n", []),
        (RECIPES, ["llama.cpp", "vllm"]),
        (RECIPES.replace('["start"]', '["name"]'), []),
        (MATCH, both),
        (FISH, both),
    ):
        assert sorted(launch.engine for launch in launches_in(text, "serve.py")) == engines, text
    assert [word.shown for word in launches_in(BRANCHES, "serve.py")[0].argv[-3:]] == ["--seed", "1", "${more_arguments}"]


def test_commands_that_other_functions_are_given() -> None:
    for call, engines in (
        ("c.run(\"tmux new -d -s v 'vllm serve m'\")", ["vllm"]),
        ('client.exec_command("nohup vllm serve m &")', ["vllm"]),
        ('run_on("gpu1", "vllm serve m")', ["vllm"]),
        ('run_on("gpu1", ["docker", "run", "vllm/vllm-openai:v0.9.1", "--model", "m"])', ["vllm"]),
        ('pane.send_keys("vllm serve m")', ["vllm"]),
        ('run_on("gpu1", command="vllm serve m")', ["vllm"]),
        ('agent.run("Explain what vllm serve does")', []),
        ('agent.run("task", "write vllm serve m")', []),
        ('log_command("gpu1", "vllm serve m")', []),
    ):
        assert [launch.engine for launch in launches_in(f"import subprocess\n{call}\n", "serve.py")] == engines, call


def test_where_a_command_begins() -> None:
    text = 'import os\nLENGTH = 8\n\ncmd = f"vllm serve m --max-model-len {LENGTH}"\nos.system(cmd)\n'
    launch = launch_in(text, "serve.py")
    assert launch.site.source.position(launch.site.start) == (4, 9)


CHANGED = """
c = ["vllm", "serve", "m", "--port", "8000", "--seed", "4"]
{}
subprocess.run(c)
"""


def test_lists_that_shrink_and_numbers() -> None:
    for text, words in (
        ("c = c[:-2]", "m --port 8000"),
        ("c = c[:3] + c[5:]", "m --seed 4"),
        ("c = c[0:100]", "m --port 8000 --seed 4"),
        ("del c[-2:]", "m --port 8000"),
        ("c.pop()\nc.pop(-1)", "m --port 8000"),
        ("c.remove('--seed')\nc.pop()", "m --port 8000"),
        ("c[4] = '9'", "m --port 9 --seed 4"),
        ("c[c.index('--port') + 1] = '9'", "m --port 9 --seed 4"),
        ("c[3:5] = ['--enforce-eager']", "m --enforce-eager --seed 4"),
        ("c.insert(3, '--enforce-eager')", "m --enforce-eager --port 8000 --seed 4"),
        ("if '--seed' in c:\n    i = c.index('--seed')\n    del c[i:i + 2]", "m --port 8000"),
        ("c = [w for w in c if not w.startswith('--')]", "m 8000 4"),
        ("c = [w for w in c if w != '--seed'][:-1]", "m --port 8000"),
        ("p = 8000\np += 1\nc[4] = str(p + 2 * 3)", "m --port 8007 --seed 4"),
        ("c[4] = f'{8000 + 1}' + '0'", "m --port 80010 --seed 4"),
        ("c[4] = str(int(os.environ.get('P', '8000')) + 1)", "m --port 8001 --seed 4"),
        ("for i in range(2):\n    c[4] = str(8000 + i)\n    break", "m --port 8000 --seed 4"),
        ("c = 'vllm serve %s --port %d --seed %%' % ('m', 80)\nc = (c[:-2] + '7').split()", "m --port 80 --seed7"),
        ("if x:\n    c.remove('--seed')", 'm --port 8000 {c.remove("--seed")} 4'.replace('"', "'")),
        ("if x:\n    c[4] = '9'", "m --port {c[4]} --seed 4"),
        ("c.pop(x)", "m {c.pop(x)}"),
        ("c[4] = str(8000 + x)", "m --port {8000 + x} --seed 4"),
    ):
        found = launches_in("import os, subprocess\n" + CHANGED.format(text), "serve.py")
        assert " ".join(argv(found[0])) == words, text


def test_scripts_that_a_program_writes() -> None:
    lines = 'out = ["#!/bin/bash"]\nif x:\n    out.append("module load cuda")\nout.append("vllm serve m \\\\")\nout += ["  --seed 1"]\n'
    for text in (
        lines + 'Path("a.sh").write_text("\\n".join(out) + "\\n")\n',
        lines + 'with open("a.sh", "w") as f:\n    f.write("\\n".join(out))\n',
        'def script(n=1):\n    return f"""#!/bin/bash\nset -e\nvllm serve m --seed {n}\n"""\n',
        'f.writelines(["#!/bin/sh\\n", "vllm serve m ", "--seed 1\\n"])\n',
        'subprocess.run(["bash"], input="vllm serve m --seed 1".encode())\n',
        'subprocess.run(["sbatch"], input="#!/bin/bash\\nsrun vllm serve m --seed 1\\n")\n',
    ):
        found = launches_in(text, "serve.py")
        assert [" ".join(argv(one)) for one in found] == ["m --seed 1"], text
        site = found[0].argv[1].site
        assert site is not None
        assert site.text == "--seed", text
    for text in ('f.write("vllm serve m")\n', 'f.write("# vllm serve m\\n#!/bin/sh")\n', 'print("#!/bin/sh\\nvllm serve m")\n'):
        assert launches_in(text, "serve.py") == [], text


_DLC = "763104351884.dkr.ecr.us-west-2.amazonaws.com/sglang:0.5.8-gpu-py312-cu129-ubuntu22.04-sagemaker"


@together(
    "text, expected",
    [
        (
            f'Model(image_uri="{_DLC}", env={{"SM_SGLANG_MODEL_PATH": "a/b", "SM_SGLANG_DISABLE_CUDA_GRAPH": "true"}})',
            ["--model-path", "a/b", "--disable-cuda-graph"],
        ),
        (
            f'sm.create_model(PrimaryContainer={{"Image": "{_DLC}", "Environment": {{"SM_SGLANG_TP_SIZE": "2"}}}})',
            ["--tp-size", "2"],
        ),
        (f'Model(image_uri="{_DLC}", env={{"SM_SGLANG_ENGINE": "diffusion", "SM_SGLANG_TP_SIZE": "2"}})', None),
        (f'Model(image_uri="{_DLC}", env={{"HF_TOKEN": "x"}})', None),
        (
            'M.upload(serving_container_image_uri="x", serving_container_command=["vllm", "serve"], serving_container_args=["a/b"])',
            ["a/b"],
        ),
    ],
)
def test_containers_of_a_cloud_s_client(text: str, expected: list[str] | None) -> None:
    found = launches_in(f"# sglang, vllm\n{text}\n", "deploy.py")
    assert [[word.shown for word in one.argv if not word.many] for one in found] == ([expected] if expected else [])


def test_a_command_that_a_function_makes_for_other_files() -> None:
    made = 'class A:\n    def {}(self):\n        args = ["vllm", "serve", self.model, "--port", "8000"]\n        return args\n'
    module = 'def launch_command(m):\n    return ["python3", "-m", "sglang.launch_server", "--model-path", m, "--tp", "2"]\n'
    grown = 'def build_cmd(m, tp):\n    cmd = ["vllm", "serve"]\n    cmd += [m]\n    return cmd + ["--port", "8000"]\n'
    one = 'def command(fast):\n    if fast:\n        return ["vllm", "serve", "m"]\n    return ["vllm", "serve", "m", "--enforce-eager"]\n'
    cases: list[tuple[str, list[str]]] = [
        (made.format("cmd"), ["{self.model} --port 8000"]),
        (made.format("get_command"), ["{self.model} --port 8000"]),
        (module, ["--model-path {m} --tp 2"]),
        (grown, ["{m} --port 8000"]),
        (one, ["m", "m --enforce-eager"]),
        (made.format("cmd") + "import subprocess\nsubprocess.run(A().cmd())\n", ["{self.model} --port 8000"]),
        ('def cmd():\n    return ["vllm", "bench", "serve", "--model", "m"]\n', []),
        ('def cmd():\n    return ["docker", "pull", "vllm/vllm-openai:v0.20.0"]\n', []),
        ('def cmd():\n    return ["vllm", "the engine that serves"]\n', []),
    ]
    wrong = []
    for text, expected in cases:
        found = [" ".join(word.shown for word in launch.argv) for launch in launches_in(text, "engine.py")]
        if found != expected:
            wrong.append((text, found))
    assert wrong == []
    assert launches_in(module, "test_engine.py") == []


def test_functions_that_call_themselves_do_not_multiply() -> None:
    calls = "    a = f'{command(n - 1)} {command(n - 2)} {other(n)} {other(n - 1)} {command(n)}'\n"
    text = "import os\ndef command(n):\n" + calls * 3 + "    os.system(f'vllm serve {n} {a}')\n    return a\n"
    text += "def other(n):\n" + calls * 3 + "    return a\nos.system('vllm serve m')\n"
    assert sorted([argv(launch)[0] for launch in launches_in(text, "engine.py")]) == ["m", "{n}"]


RAY = """
from ray import serve
from ray.serve.llm import LLMConfig, build_openai_app
import os
{before}
config = LLMConfig(model_loading_config={loading}, engine_kwargs={settings})
serve.run(build_openai_app({{"llm_configs": [config]}}))
"""


@together(
    "before, loading, settings, words",
    [
        ("", '{"model_id": "name", "model_source": "org/m"}', '{"tensor_parallel_size": 2}', "org/m --tensor-parallel-size 2"),
        ("", 'dict(model_id="org/m")', "dict(enforce_eager=True, dtype=None)", "org/m --enforce-eager"),
        ("", '{"model_id": "org/m"}', '{"enable_prefix_caching": False}', "org/m --no-enable-prefix-caching"),
        ('kw = {"max_num_seqs": 8}\nkw["seed"] = 1', '{"model_id": "org/m"}', "kw", "org/m --max-num-seqs 8 --seed 1"),
        ('one = os.getenv("MODEL", "org/m")', '{"model_id": one}', "{}", "org/m"),
    ],
)
def test_ray_serve(before: str, loading: str, settings: str, words: str) -> None:
    """https://docs.ray.io/en/latest/serve/llm/quick-start.html"""
    launch = launch_in(RAY.format(before=before, loading=loading, settings=settings), "deploy.py")
    assert (launch.engine, " ".join(argv(launch))) == ("vllm", words)


def test_an_llm_config_of_sglang() -> None:
    text = """
    from ray.serve.llm import LLMConfig
    from ray.llm.examples.sglang.modules.builder import build_sglang_openai_app
    config = LLMConfig(model_loading_config={"model_id": "a"}, engine_kwargs={"model_path": "a/b", "tp_size": 2})
    app = build_sglang_openai_app({"llm_configs": [config]})
    """
    found = launch_in(text, "serve.py")
    assert (found.engine, argv(found)[:4]) == ("sglang", ["--model-path", "a/b", "--tp-size", "2"])
    assert found.argv[-1].many


@together(
    "text", ["LLMConfig()", 'LLMConfig(accelerator_type="L4")', 'LLMConfig(llm_engine="other", engine_kwargs={"seed": 1})']
)
def test_ray_serve_without_a_model(text: str) -> None:
    assert launches_in(text + "\n", "deploy.py") == []


BUILD = "import subprocess\ndef build(model, quantize):\n"


@together(
    "text, words",
    [
        (
            ' lines = []\n lines.append("vllm serve m")\n if quantize:\n  lines[-1] = lines[-1] + f" --quantization {quantize}"\n return create_spec(command=["bash", "-c", ";".join(lines)])\n',
            "m ${more_arguments}",
        ),
        (
            ' lines = ["vllm serve m"]\n if quantize:\n  lines[0] += " --seed 1"\n return create_spec(command=["sh", "-c", lines[0]])\n',
            "m ${more_arguments}",
        ),
        (
            ' lines = ["pip install x", "mkdir -p /y"]\n lines.append("vllm serve m")\n start_spec(command=" && ".join(lines))\n',
            "m",
        ),
        (' return Bundle(command=["vllm", "serve", "m", "--port", "1"])\n', "m --port 1"),
        (' return Service(name="a", cmd=["bash", "-lc", "cd /x && vllm serve m"])\n', "m"),
        (' client.V1Container(name="a", image="vllm/vllm-openai:v0.19.0", args=["--model", "m"])\n', "--model m"),
        (
            ' V1Container(name="a", image="vllm/vllm-openai:v0.19.0", command=["vllm", "serve", "m"], args=["--port", "1"])\n',
            "m --port 1",
        ),
        (
            ' KubernetesPodOperator(task_id="x", image="vllm/vllm-openai:v0.19.0", arguments=["--model", "m"], cmds=["python3", "-m", "vllm.entrypoints.openai.api_server"])\n',
            "--model m",
        ),
        (
            ' DockerOperator(task_id="x", image="vllm/vllm-openai:v0.19.0", command="--model m --port 1")\n',
            "--model m --port 1",
        ),
        (' sky.Task(name="x", setup="pip install vllm==0.19.0", run="vllm serve m --port 1")\n', "m --port 1"),
    ],
)
def test_specifications(text: str, words: str) -> None:
    assert argv(launch_in(BUILD + text, "serve.py")) == words.split()


@together(
    "text, expected",
    [
        (' V1Container(image="vllm/vllm-openai:v0.19.0", args=["--model", "m"])\n', "0.19.0"),
        (' sky.Task(setup="pip install vllm==0.19.0", run="vllm serve m")\n', "0.19.0"),
        (' Bundle(command=["vllm", "serve", "m"])\n', None),
    ],
)
def test_releases_of_specifications(text: str, expected: str | None) -> None:
    assert release(launch_in(BUILD + text, "serve.py"))[0] == expected


@together(
    "text",
    [
        ' print(command=["vllm", "serve", "m"])\n',
        ' log_command(command=["vllm", "serve", "m"])\n',
        ' Bundle(command=["bash", "-c", "echo hi; ls"])\n',
        ' Bundle(command="vllm serve m")\n',
        ' Bundle(commands=["vllm serve m"])\n',
        ' V1Container(image="redis:7", args=["--model", "m"])\n',
        ' Bundle(command=["vllm", "--version"])\n',
    ],
)
def test_specifications_of_something_else(text: str) -> None:
    assert launches_in(BUILD + text, "serve.py") == []


def test_an_item_behind_the_end_of_a_list() -> None:
    text = ' lines = []\n if quantize:\n  lines[0] = "x"\n start(["vllm", "serve", "m"], lines)\n'
    assert argv(launch_in(BUILD + text, "serve.py")) == ["m"]


def test_specifications_of_tests_are_examples() -> None:
    assert launches_in(BUILD + ' Bundle(command=["vllm", "serve", "m"])\n', "tests/test_serve.py") == []


def test_a_default_of_a_lookup() -> None:
    text = """
        import docker
        IMAGE = "vllm/vllm-openai:v0.11.0"
        def create(card):
            command = ["--model", card["model"]]
            image = card.get("image", IMAGE)
            docker.from_env().containers.create(image=image, command=command + card.get("more", []))
    """
    launch = launch_in(text, "manager.py")
    assert release(launch) == ("0.11.0", "image")
    assert argv(launch)[0] == "--model"
    assert launch.argv[-1].many


TILT = (
    'k8s_yaml(blob("""\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n    - name: vllm\n'
    '      image: vllm/vllm-openai:v0.11.0\n      args: [--model, m]\n"""))\n'
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            TILT,
            [("vllm", "0.11.0", "--model m")],
        ),
        ("local_resource('a', serve_cmd='vllm serve m --port 1')\n", [("vllm", None, "m --port 1")]),
        ("local_resource('a', ['sglang', 'serve', '--model-path', 'm'])\n", [("sglang", None, "--model-path m")]),
        ("local_resource('a', cmd='make', serve_cmd=['vllm', 'serve', 'm'])\n", [("vllm", None, "m")]),
        ("local_resource('vllm', 'make image')\ndocker_build('vllm', '.')\n", []),
    ],
)
def test_a_tiltfile(text: str, expected: list[tuple[str, str | None, str]]) -> None:
    found = launches_in("load('ext://namespace', 'namespace_create')\n" + text, "Tiltfile")
    assert [(one.engine, one.release.release, " ".join(argv(one))) for one in found] == expected
