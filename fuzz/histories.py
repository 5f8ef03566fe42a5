"""Random histories of a project, each step checked with a cache and without: the reports must be the same bytes.

    python -m fuzz.histories [--histories N] [--seed S] [--folder FOLDER]

A step edits, renames, links, deletes or touches a file, one beside it, or the settings, or changes the environment, the current
folder or the options. All histories share one cache, so that each meets the results of those before it.

What a check without cache says depends on the state of the folder only, which is small here: it is remembered by that state.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from servelint.cli import main
from servelint.rules import folder as rule_folder

COMPOSE = """services:
  llm:
    image: vllm/vllm-openai:{}
    env_file: [vllm.env]
    command: --model ${{MODEL:-Qwen/Qwen3-8B}} --kv-cache-dtype {} ${{EXTRA}}
    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, count: 1, capabilities: [gpu]}}]}}}}}}
"""
EXTENDS = """services:
  llm:
    extends: {{file: {}, service: base}}
    build: {{context: ., dockerfile: Dockerfile}}
    command: --model m --gpu-memory-utilization {}
"""
BASE = """services:
  base:
    image: vllm/vllm-openai:{}
    environment: {{HF_TOKEN: {}, VLLM_ATTENTION_BACKEND: FLASHINFER}}
"""
SCRIPT = """#!/bin/bash
source {}
. ~/common.sh
# servelint: ignore[vllm/{}] known
vllm serve "$MODEL" --swap-space 4 --api-key {} $EXTRA
"""
OWN_RULE = """id: own/{0}
title: "no {0}"
severity: warning
confidence: high
impact: best-practice
engine: vllm
when: {{swap-space: present}}
at: swap-space
message: "--swap-space is {0}"
advice: delete it
why: |
  An own rule.
evidence: [{{source: x, says: y}}]
examples: {{bad: [{{version: 0.8.5, run: "vllm serve m --swap-space 4"}}], good: [{{version: 0.8.5, run: "vllm serve m"}}]}}
"""
CHART = "apiVersion: v2\nname: llm\nversion: 1.0.0\n"
TEMPLATE = """apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  template:
    spec:
      containers:
      - name: llm
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        args: {{ toYaml .Values.args | nindent 8 }}
"""
MODEL, EAGER, WRONG = "MODEL=Qwen/Qwen3-8B\n", "EXTRA=--enforce-eager\n", "EXTRA=--gpu-memory-utilization 1.5\n"
ENVS = (MODEL, EAGER, WRONG, "MODEL=m\nEXTRA=--swap-space 4\n", "")
COMMON = ("EXTRA=--swap-space\n", "MODEL=Qwen/Qwen3-8B\nEXTRA='--kv-cache-dtype fp7'\n", "EXTRA=\n")
TOKENS = ("hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345", "${HF_TOKEN}", "x")

FAMILIES: dict[str, dict[str, tuple[str, ...]]] = {
    "compose": {
        "compose.yml": (COMPOSE.format("v0.20.0", "fp8"), COMPOSE.format("latest", "fp7"), COMPOSE.format("v0.8.5", "auto")),
        ".env": ENVS,
        "vllm.env": ENVS,
        "compose.override.yml": ("services: {llm: {command: --model m --swap-space 4}}\n", "services: {}\n", "services: [\n"),
    },
    "extends": {
        "app/compose.yml": tuple(
            EXTENDS.format(*one) for one in (("base.yml", "1.5"), ("../base.yml", "0.9"), ("../../out.yml", "2"))
        ),
        "app/base.yml": (BASE.format("v0.20.0", TOKENS[0]), BASE.format("v0.9.0", "x")),
        "base.yml": (BASE.format("v0.10.0", TOKENS[1]), BASE.format("${TAG}", TOKENS[0])),
        "../out.yml": (BASE.format("v0.6.0", "x"), BASE.format("v0.33.0", "y")),
        "app/Dockerfile": ("FROM vllm/vllm-openai:v0.11.0\nENV VLLM_USE_V1=0\n", "FROM vllm/vllm-openai:v0.19.0\n"),
    },
    "script": {
        "run.sh": (
            SCRIPT.format("env.sh", "*", "secret-0123456789"),
            SCRIPT.format("./lib/env.sh", "removed", "$KEY"),
            SCRIPT.format("../out.sh", "x", TOKENS[0]),
        ),
        "env.sh": COMMON,
        "lib/env.sh": COMMON,
        "../out.sh": COMMON,
        "~/common.sh": COMMON,
    },
    "chart": {
        "Chart.yaml": (f"{CHART}appVersion: 0.20.0\n", CHART),
        "values.yaml": (
            "image: {repository: vllm/vllm-openai, tag: v0.20.0}\nargs: [--model, m, --swap-space, '4']\n",
            "image: {repository: vllm/vllm-openai, tag: v0.8.5}\nargs: [--model, m, --kv-cache-dtype, fp7]\n",
        ),
        "templates/deploy.yaml": (TEMPLATE,),
    },
    "build": {
        "Dockerfile": (
            'FROM vllm/vllm-openai:v0.20.0\nCOPY start.sh /start.sh\nENTRYPOINT ["/start.sh"]\n',
            'FROM vllm/vllm-openai:v0.9.0\nCOPY bin/ /bin/\nCMD ["--model", "m", "--swap-space", "4"]\n',
        ),
        "start.sh": ("exec vllm serve m --swap-space 4\n", "exec vllm serve m --gpu-memory-utilization 1.5\n"),
        "Makefile": (
            "include .env\nrun:\n\tvllm serve $(MODEL) $(EXTRA)\n",
            "-include common.mk\nrun:\n\tvllm serve m $(EXTRA)\n",
        ),
        ".env": ENVS,
        "common.mk": ("EXTRA = --swap-space 4\n", "EXTRA = --gpu-memory-utilization 1.5\n"),
    },
}  # fmt: skip
"""Files that depend on each other, each with what may be in it."""

SETTINGS = {
    "servelint.toml": (
        'engine-version = {vllm = "0.20.0"}\n',
        'ignore = ["vllm/*"]\n',
        'gpu = "h100-80gb"\nseverity = "warning"\n',
        'read-outside = [".."]\n',
        'rules = ["own"]\n',
        '[per-path."app/**"]\nprofile = "strict"\n',
        "profile = [\n",
        "",
    ),
    "own/own/first.yaml": (OWN_RULE.format("first"), OWN_RULE.format("first").replace("is first", "is 1"), "id: [\n"),
    "pyproject.toml": ('[tool.servelint]\nprofile = "strict"\n', "[tool.other]\n"),
}

ENVIRONMENT = (
    ("SERVELINT_GPU", ("h100-80gb", "a100-40gb")),
    ("SERVELINT_PROFILE", ("strict", "audit")),
    ("SERVELINT_ENGINE_VERSION", ("vllm=0.9.0", "vllm=0.33.0")),
    ("HOME", ("home", "other")),
)
OPTIONS = (
    ("--format", "json"), ("--format", "text", "-q"), ("--format", "concise"), ("--format", "sarif"),
    ("--show-suppressed", "-q"),
    ("--format", "json", "--show-suppressed"), ("--no-inline-ignore", "--format", "concise"), ("--verbose", "-q"),
    ("--format", "concise", "--profile", "strict"), ("--format", "markdown"), ("--format", "junit"), ("--statistics", "-q"),
)  # fmt: skip


class World:
    """A folder with a project, a folder for the user and one outside, and what is done to them.

    Attributes:
        state: The environment, the current folder and the options.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.project = os.path.join(folder, "project")
        self.state: dict[str, object] = {}
        self.family = ""

    def begin(self, chance: random.Random) -> None:
        """Delete everything, and write the files of a family."""
        for name in ("project", "home", "other", "out.yml", "out.sh"):
            _remove(os.path.join(self.folder, name))
        for name in ("project", "home", "other"):
            os.makedirs(os.path.join(self.folder, name))
        self.family = chance.choice(sorted(FAMILIES))
        self.state = {"here": "", "paths": (".",), "options": chance.choice(OPTIONS)}
        if chance.random() < 0.5:
            os.mkdir(os.path.join(self.project, ".git"))
        for name, texts in FAMILIES[self.family].items():
            if chance.random() < 0.8:
                self._write(name, chance.choice(texts))

    def step(self, chance: random.Random) -> str:
        """Change something. Returns what."""
        kinds: tuple[tuple[Callable[[random.Random], str], int], ...] = (
            (self._edit, 6), (self._delete, 2), (self._link, 3), (self._rename, 1), (self._touch, 1), (self._settings, 3),
            (self._environment, 2), (self._options, 2), (self._bounds, 1), (self._silent_edit, 3),
        )  # fmt: skip
        does = chance.choices([one for one, _ in kinds], [weight for _, weight in kinds])[0]
        return does(chance)

    def snapshot(self) -> tuple[object, ...]:
        """Return all that a check may depend on: files, links and folders without their times, environment and options."""
        found: list[object] = []
        for name in ("project", "home", "other", "out.yml", "out.sh"):
            found += _files(os.path.join(self.folder, name))
        return (*found, *sorted((name, str(value)) for name, value in self.state.items()))

    def check(self, cache: str | None) -> tuple[object, str, str]:
        """Return exit status, standard output and standard error of a check."""
        options = self.state["options"]
        assert isinstance(options, tuple)
        paths = self.state["paths"]
        assert isinstance(paths, tuple)
        args = ["check", *options, *(["--no-cache"] if cache is None else ["--cache-dir", cache]), *paths]
        rule_folder.forget()
        before = dict(os.environ)
        os.chdir(os.path.join(self.project, str(self.state["here"])))
        for name, _ in ENVIRONMENT:
            value = self.state.get(name)
            if name == "HOME":
                value = os.path.join(self.folder, str(value or "home"))
            if value is not None:
                os.environ[name] = str(value)
        os.environ["XDG_CACHE_HOME"] = os.path.join(self.folder, "user")  # one key, whatever HOME is
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = main(args)
        finally:
            os.environ.clear()
            os.environ.update(before)
            os.chdir(self.folder)
        return status, out.getvalue(), err.getvalue()

    def _path(self, name: str) -> str:
        if name.startswith("~/"):
            return os.path.join(self.folder, "home", name[2:])
        return os.path.normpath(os.path.join(self.project, name))

    def _write(self, name: str, text: str) -> None:
        path = self._path(name)
        if os.path.islink(path) or os.path.isdir(path):
            _remove(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _any(self, chance: random.Random) -> tuple[str, tuple[str, ...]]:
        return chance.choice(sorted(FAMILIES[self.family].items()))

    def _edit(self, chance: random.Random) -> str:
        name, texts = self._any(chance)
        if chance.random() < 0.05:
            texts = ("#" * (1 << 20) + "\n", "\0", "\ufeffMODEL=m\n")
        self._write(name, chance.choice(texts))
        return f"edit {name}"

    def _silent_edit(self, chance: random.Random) -> str:
        """Edit a file and put its times back, as some tools do, or as a clock of a coarse file system does."""
        name, texts = self._any(chance)
        path = self._path(name)
        if not os.path.isfile(path):
            return "nothing"
        info = os.stat(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        same = [text.replace("4", "5"), text.replace("0.20.0", "0.19.0"), text.replace("m", "n", 1), chance.choice(texts)]
        with open(path, "r+", encoding="utf-8") as file:
            file.write(chance.choice(same))
            file.truncate()
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
        return f"silent edit {name}"

    def _delete(self, chance: random.Random) -> str:
        name, _ = self._any(chance)
        _remove(self._path(name))
        return f"delete {name}"

    def _link(self, chance: random.Random) -> str:
        name, _ = self._any(chance)
        path = self._path(name)
        target = chance.choice(
            (
                "../out.yml",
                "../out.sh",
                "nowhere",
                name,
                "base.yml",
                ".env",
                "env.sh",
                os.path.join(self.folder, "home", "common.sh"),
            )
        )
        _remove(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
        return f"link {name} to {target}"

    def _rename(self, chance: random.Random) -> str:
        name, _ = self._any(chance)
        other, _ = self._any(chance)
        source, target = self._path(name), self._path(other)
        if os.path.lexists(source) and source != target:
            _remove(target)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.rename(source, target)
        return f"rename {name} to {other}"

    def _touch(self, chance: random.Random) -> str:
        name, _ = self._any(chance)
        if os.path.exists(self._path(name)):
            os.utime(self._path(name))
        return f"touch {name}"

    def _settings(self, chance: random.Random) -> str:
        name, texts = chance.choice(sorted(SETTINGS.items()))
        if chance.random() < 0.3:
            _remove(self._path(name))
        else:
            self._write(name, chance.choice(texts))
        return f"settings {name}"

    def _environment(self, chance: random.Random) -> str:
        name, values = chance.choice(ENVIRONMENT)
        value = chance.choice((*values, None))
        self.state[name] = value
        return f"{name}={value}"

    def _options(self, chance: random.Random) -> str:
        self.state["options"] = chance.choice(OPTIONS)
        return f"options {self.state['options']}"

    def _bounds(self, chance: random.Random) -> str:
        """Change what the project is: a git checkout, the current folder, the paths that are named; or a file to a folder."""
        kind = chance.randrange(4)
        if kind == 0:
            git = os.path.join(self.project, ".git")
            if os.path.isdir(git):
                os.rmdir(git)
            else:
                os.mkdir(git)
        elif kind == 1:
            folders = [one for one in ("", "app", "lib", "templates") if os.path.isdir(os.path.join(self.project, one))]
            self.state["here"] = chance.choice(folders)
            self.state["paths"] = (".",)
        elif kind == 2:
            files = sorted(FAMILIES[self.family])
            above = "../" if self.state["here"] else ""
            self.state["paths"] = chance.choice(
                ((".",), (self.project,), (above + files[0],), (above + files[0], above + files[-1]))
            )
        else:
            name, _ = self._any(chance)
            _remove(self._path(name))
            os.makedirs(self._path(name), exist_ok=True)
        return f"bounds {kind}"


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _files(path: str) -> Iterator[object]:
    if not os.path.lexists(path):
        return
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        yield path, "link", os.readlink(path)
    elif stat.S_ISDIR(mode):
        yield path, "folder"
        for name in sorted(os.listdir(path)):
            yield from _files(os.path.join(path, name))
    else:
        with open(path, "rb") as file:
            yield path, file.read()


def run(folder: str, count: int, seed: int, steps: int = 4, show: Callable[[int], None] | None = None) -> list[str]:
    """Run histories in a folder, and return those in which a check with a cache and one without differ.

    Args:
        folder: An empty folder.
        count: How many histories.
        seed: The same seed gives the same histories.
        steps: How many steps each has at most.
        show: Called with the number of each history that is done.
    """
    chance = random.Random(seed)
    world = World(os.path.realpath(folder))
    cache = os.path.join(world.folder, "cache")
    known: dict[int, tuple[object, str, str]] = {}
    wrong: list[str] = []
    before = os.getcwd()
    try:
        for number in range(count):
            world.begin(chance)
            done = ["begin"]
            for _ in range(chance.randint(1, steps)):
                if not os.path.isdir(os.path.join(world.project, str(world.state["here"]))):
                    break
                state = hash(world.snapshot())
                plain = known.get(state)
                if plain is None:
                    plain = known[state] = world.check(None)
                if (with_cache := world.check(cache)) != plain:
                    wrong.append(f"seed {seed}, history {number} ({world.family}): {', '.join(done)}: {plain} {with_cache}")
                    break
                done.append(world.step(chance))
            if show is not None:
                show(number + 1)
    finally:
        os.chdir(before)
    return wrong


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.histories", description="Compare checks with a cache and without.")
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same histories (1)")
    parser.add_argument("--folder", help="where the project is written (default: a temporary folder)")
    arguments = parser.parse_args()
    started = time.monotonic()

    def show(number: int) -> None:
        if number % 500 == 0:
            print(f"{number:,} histories, {time.monotonic() - started:.0f} s", flush=True)

    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        wrong = run(folder, arguments.histories, arguments.seed, show=show)
    for one in wrong[:8]:
        print(one)
    print(f"{arguments.histories:,} histories, {len(wrong)} with a difference")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(_main())
