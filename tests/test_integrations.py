"""What other tools take: descriptors against the schemas that these tools publish, and one address and one version in all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import servelint
from servelint.core.settings import FORMATS
from tests.published import problems, schemastore, vendored
from tests.running import Workspace
from tests.syntax import yaml_texts
from tests.together import together

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
URLS: dict[str, str] = PROJECT["urls"]
OWNER, NAME = URLS["Repository"].removeprefix("https://github.com/").split("/")
WRONG = "vllm serve m --gpu-memory-utilization 1.5\n"
MEGALINTER = (
    "https://raw.githubusercontent.com/megalinter/megalinter/main/megalinter/descriptors/schemas/"
    "megalinter-descriptor.jsonschema.json"
)


def loaded(path: str) -> Any:
    text = (ROOT / path).read_text(encoding="utf-8")
    return json.loads(text) if path.endswith(".json") else yaml_texts.load(text)


def texts() -> dict[str, str]:
    """The files of the repository that may name it."""
    folders = [".ci", ".github", "deploy", "docs", "integrations", "man", "schemas", "src/servelint", "templates", "tools"]
    suffixes = {"", ".json", ".md", ".mjs", ".py", ".toml", ".ts", ".yaml", ".yml", ".1"}
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
    paths += [path for folder in (ROOT, ROOT / "editors/vscode") for path in folder.iterdir() if path.suffix in suffixes]
    left_out = ("/engines/data/", "/node_modules/", "/__pycache__/", "/purposes/")
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in paths
        if path.is_file() and not any(part in str(path) for part in left_out) and path.name != ".git"
    }


TEXTS = texts()


class TestAddress:
    """pyproject.toml names the repository; every other place that names it is held equal."""

    def test_the_urls_are_of_one_repository(self) -> None:
        assert set(URLS) == {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}
        assert URLS["Issues"].startswith(URLS["Repository"])
        assert URLS["Changelog"].startswith(URLS["Repository"])
        assert URLS["Homepage"] == f"https://{OWNER}.github.io/{NAME}/"
        assert URLS["Documentation"].startswith(URLS["Homepage"])

    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            (rf"https://github\.com/([\w.-]+/{NAME})\b", f"{OWNER}/{NAME}"),
            (rf"https://raw\.githubusercontent\.com/([\w.-]+/{NAME})/", f"{OWNER}/{NAME}"),
            (rf"ghcr\.io/([\w.-]+/{NAME})\b", f"{OWNER}/{NAME}"),
            (rf"uses: ([\w.-]+/{NAME})@", f"{OWNER}/{NAME}"),
            (rf"https://([\w-]+)\.github\.io/{NAME}/", OWNER),
            (r"\b([\w-]+)\.github\.io/(?:mode)\b", OWNER),
        ],
    )  # fmt: skip
    def test_each_place_names_it(self, pattern: str, expected: str) -> None:
        found = {(path, name) for path, text in TEXTS.items() for name in re.findall(pattern, text)}
        assert found
        assert {name for _, name in found} == {expected}, sorted(found)

    def test_no_placeholder_is_left(self) -> None:
        placeholder = (
            r"git\+ADDRESS|repo: ADDRESS|\bOWNER/servelint|servelint\.(?:invalid|example)\b|registry\.example/servelint"
        )
        assert [path for path, text in TEXTS.items() if re.search(placeholder, text)] == []

    @together(
        "pattern",
        [
            rf"{NAME}@v?(\d[\w.]*)", rf"{NAME}==(\d[\w.]*)", rf"ghcr\.io/\w+/{NAME}:(\d[\w.]*)", r"^    rev: v(\d[\w.]*)",
            rf"{NAME}-(\d+\.\d+\.\d+)[.-]", r"newTag: (\S+)", r"known_good_version: (\S+)", r"^      default: (\d[\w.]*)$",
            r'^  "version": "([^"]+)"', r'^\.TH .* "servelint (\S+)"',
            rf"{OWNER}/{NAME}/v(\d[\w.]*)/",
        ],
    )  # fmt: skip
    def test_each_version_is_the_version(self, pattern: str) -> None:
        found = [(path, version) for path, text in TEXTS.items() for version in re.findall(pattern, text, re.MULTILINE)]
        assert found
        assert [one for one in found if one[1].rstrip(".") != servelint.__version__] == []


class TestDescriptors:
    def test_megalinter(self) -> None:
        data = loaded("integrations/mega-linter-plugin-servelint/servelint.megalinter-descriptor.yml")
        schema = schemastore(MEGALINTER)
        assert problems(data, schema) == []
        assert problems({**data, "descriptor_type": "linter"}, schema)
        (linter,) = data["linters"]
        assert re.search(linter["cli_lint_errors_regex"], "found 4 errors, 1 warning in 9 launches")
        assert re.search(linter["version_extract_regex"], f"servelint {servelint.__version__}")

    def test_megalinter_s_command_lines(self, workspace: Workspace) -> None:
        (linter,) = loaded("integrations/mega-linter-plugin-servelint/servelint.megalinter-descriptor.yml")["linters"]
        workspace.file("run.sh", WRONG)
        workspace.file("servelint.toml", 'profile = "strict"\n')
        sarif = [one.replace("{{SARIF_OUTPUT_FILE}}", "out.sarif") for one in linter["cli_sarif_args"]]
        settings = [linter["cli_config_arg_name"], linter["config_file_name"]]
        ran = workspace.run(*linter["cli_lint_extra_args"], *sarif, *settings)
        assert ran.status == 1
        assert re.search(linter["cli_lint_errors_regex"], ran.out)
        assert json.loads((workspace.folder / "out.sarif").read_text())["runs"][0]["results"]
        assert workspace.run(linter["cli_version_arg_name"]).status == 0
        assert workspace.run(linter["cli_help_arg_name"]).status == 0

    def test_trunk(self, workspace: Workspace) -> None:
        data = loaded("plugin.yaml")
        schema = schemastore("https://static.trunk.io/pub/trunk-yaml-schema.json")
        assert problems(data, schema) == []
        assert problems({**data, "lint": []}, schema)
        (linter,) = data["lint"]["definitions"]
        (command,) = linter["commands"]
        workspace.file("run.sh", WRONG)
        workspace.file("bad.yml", "vllm: [\n")
        for target, status in (("run.sh", 0), ("bad.yml", 2)):
            ran = workspace.run(*command["run"].replace("${target}", target).split()[1:])
            assert ran.status == status
            assert status in command["success_codes"]
            assert ran.data["version"] == "2.1.0"
        version = linter["version_command"]
        assert workspace.run(*version["run"].split()[1:]).out.strip() == version["parse_regex"].replace(
            "${semver}", servelint.__version__
        )

    def test_reviewdog(self, workspace: Workspace) -> None:
        """The structure that reviewdog documents: commands by name, each with a format that it knows."""
        (runner,) = loaded("integrations/reviewdog.yml")["runner"].values()
        assert set(runner) == {"name", "cmd", "format", "level"}
        assert runner["format"] in FORMATS
        workspace.file("run.sh", WRONG)
        ran = workspace.run(*runner["cmd"].split()[1:])
        assert ran.status == 0
        assert ran.data["diagnostics"]

    def test_schemastore(self) -> None:
        schema = loaded("integrations/schemastore/servelint.json")
        entry = loaded("integrations/schemastore/catalog-entry.json")
        catalog = {"$schema": "https://json.schemastore.org/schema-catalog.json", "version": 1, "schemas": [entry]}
        assert problems(catalog, schemastore("https://json.schemastore.org/schema-catalog.json")) == []
        assert schema["$id"] == entry["url"]
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
        assert problems(schema, {"$ref": schema["$schema"]}) == []
        settings = {"profile": "strict", "rule": {"container/*": {"severity": "error"}}, "per-path": [{"paths": ["a/**"]}]}
        assert problems(settings, schema) == []
        assert problems({"profil": "strict"}, schema)
        assert problems({"rule": {"container/*": {"severity": "fatal"}}}, schema)

    @pytest.mark.skipif(os.name == "nt", reason="the lines are those of a shell")
    def test_the_gitlab_component(self, tmp_path: Path) -> None:
        head, body = (ROOT / "templates" / "servelint.yml").read_text(encoding="utf-8").split("---\n")
        inputs = yaml_texts.load(head)["spec"]["inputs"]
        used = set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", body))
        assert used == set(inputs)
        assert all(set(one) == {"description", "default"} for one in inputs.values())
        job = yaml_texts.load(re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: str(inputs[found[1]]["default"]), body))
        assert problems(job, vendored("gitlab-ci")) == []
        (tmp_path / "run.sh").write_text(WRONG)
        script = [line for line in job["servelint"]["script"] if not line.startswith("pip ")]
        shell = f'servelint() {{ "{sys.executable}" -m servelint "$@"; }}\n' + "\n".join(script)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
        ran = subprocess.run(["bash", "-e", "-c", shell], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert ran.returncode == 1, ran.stderr
        assert json.loads((tmp_path / job["servelint"]["artifacts"]["reports"]["codequality"]).read_text())

    @pytest.mark.skipif(os.name == "nt", reason="a script of a shell")
    def test_the_formula(self, tmp_path: Path) -> None:
        archive = tmp_path / f"servelint-{servelint.__version__}.tar.gz"
        archive.write_bytes(b"an archive")
        formula = tmp_path / "servelint.rb"
        subprocess.run([str(ROOT / ".ci" / "formula"), str(archive), str(formula)], check=True)
        text = formula.read_text()
        (url,) = re.findall(r'^  url "(.*)"$', text, re.MULTILINE)
        assert url == f"{URLS['Repository']}/releases/download/v{servelint.__version__}/{archive.name}"
        assert f'  sha256 "{hashlib.sha256(archive.read_bytes()).hexdigest()}"\n' in text
        for path in re.findall(r"requirements/\w+\.txt|man/\w+\.1", text):
            assert (ROOT / path).exists()
        assert len(re.findall(r"^ *(?:class|def|test do)\b", text, re.MULTILINE)) == len(
            re.findall(r"^ *end$", text, re.MULTILINE)
        )
        if shutil.which("ruby") is not None:
            subprocess.run(["ruby", "-c", str(formula)], check=True, capture_output=True)


class TestExtension:
    MANIFEST = loaded("editors/vscode/package.json")

    def test_what_the_marketplace_shows(self) -> None:
        assert (
            problems(self.MANIFEST, {"type": "object", "required": ["icon", "repository", "license", "publisher", "bugs"]})
            == []
        )
        assert self.MANIFEST["repository"]["url"] == URLS["Repository"] + ".git"
        assert (ROOT / self.MANIFEST["repository"]["directory"]) == ROOT / "editors" / "vscode"

    def test_the_icon(self) -> None:
        """A PNG of 128 pixels or more; the package carries it."""
        icon = (ROOT / "editors/vscode" / self.MANIFEST["icon"]).read_bytes()
        assert icon[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", icon[16:24])
        assert width == height >= 128
        ignored = ROOT / "editors/vscode/.vscodeignore"
        assert not ignored.exists() or "!icon.png" in ignored.read_text().splitlines()


class TestImage:
    TEXT = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")

    def test_it_runs_the_command_line(self) -> None:
        """`docker run IMAGE check .` in a mounted folder."""
        last = self.TEXT.rpartition("\nFROM ")[2]
        assert re.findall(r"(?m)^(ENTRYPOINT|CMD|WORKDIR|USER) (.*)$", last) == [
            ("USER", "65532:65532"), ("WORKDIR", "/work"), ("ENTRYPOINT", '["servelint"]'), ("CMD", '["--help"]'),
        ]  # fmt: skip

    def test_what_it_copies_is_there_and_is_all_that_the_wheel_is_made_of(self) -> None:
        copied = {path for line in re.findall(r"(?m)^COPY (?!--from)(.*) \S+$", self.TEXT) for path in line.split()}
        assert all((ROOT / path).exists() for path in copied)
        build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"][
            "wheel"
        ]
        wanted = {*build["force-include"], *[path.split("/")[0] for path in build["shared-data"]], "src", "hatch_build.py"}
        assert wanted <= copied
