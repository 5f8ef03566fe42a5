"""The pages in docs/: what they show holds."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from servelint.cli import root
from servelint.cli.command import Group
from servelint.rules.compile import compile_rule, faults, find_rule, read_rules
from tests.running import Workspace
from tests.syntax import yaml_texts

DOCS = Path(__file__).parent.parent / "docs"
RULES = DOCS.parent / "rules"
PAGES = [*DOCS.glob("*.md"), DOCS.parent / "README.md"]


def test_the_examples_in_python() -> None:
    failed, tried = doctest.testfile(str(DOCS / "api.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (failed, tried > 15) == (0, True)


class TestWritingRules:
    BLOCKS = re.findall(r"```yaml\n(.*?)```", (DOCS / "writing-rules.md").read_text(encoding="utf-8"), re.DOTALL)
    WHOLE = BLOCKS[0].partition("id: ")[2].partition("\n")[0]

    def test_the_whole_rule_is_one_of_servelint_s(self) -> None:
        assert self.BLOCKS[0] == (RULES / f"{self.WHOLE}.yaml").read_text(encoding="utf-8")

    @pytest.mark.parametrize("block", BLOCKS[1:-1])
    def test_parts_of_rules_are_compiled(self, block: str, tmp_path: Path) -> None:
        (tmp_path / "part.yaml").write_text(f"id: part\n{block}", encoding="utf-8")
        (part,) = read_rules(str(tmp_path / "part.yaml"), str(tmp_path))
        rule = {**find_rule(self.WHOLE, str(RULES)), **part}
        assert list(faults(rule, compile_rule(rule))) == []

    def test_the_table_is_one(self, tmp_path: Path) -> None:
        (tmp_path / "_table.yaml").write_text(self.BLOCKS[-1], encoding="utf-8")
        (rule,) = read_rules(str(tmp_path / "_table.yaml"), str(tmp_path))
        assert (rule["id"], rule["when"]) == ("dcp-size-not-positive", {"dcp-size": {"at-most": 0}})


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        name, _, anchor = target.partition("#")
        to = (page.parent / name) if name else page
        assert to.exists(), target
        if anchor:
            assert anchor in {_anchor(heading) for heading in re.findall(r"^#+ (.*)$", to.read_text(), re.MULTILINE)}, target


FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
SYNOPSIS = re.compile(r"[\[|]|\.\.\.|\S  +[^\s#]| prints the page | (?:ENGINE|NAME)\b")
"""A line that shows the form of a command, or a command and what it does: not one to type."""


def shown(page: Path, program: str) -> list[list[str]]:
    """The words of each command of a program that the examples of a page show."""
    text = page.read_text(encoding="utf-8")
    blocks = [*FENCE.findall(text), *re.findall(r"(?:^    .+\n)+", text, re.MULTILINE)]
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    lines += [
        one[1:].rstrip("`)").removeprefix("(") for one in re.findall(rf"`{program} [^`\n]+`|\$\({program} [^)\n]+\)", text)
    ]
    typed = [line for line in lines if line.startswith(f"{program} ") and not SYNOPSIS.search(line.partition(" # ")[0])]
    return [shlex.split(re.split(r" +# |\s*(?:&&|[|;>])\s| <", line)[0])[1:] for line in typed]


def accepted(words: list[str]) -> None:
    """Parse the words of a command of servelint. Raises a usage error."""
    one: click.Command = root()
    while isinstance(one, Group) and words and words[0] in one.subcommands:
        found = one.get_command(click.Context(one), words.pop(0))
        assert found is not None
        one = found
    if not isinstance(one, Group):
        one.make_context("servelint", words)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_commands_are_accepted(page: Path) -> None:
    for words in shown(page, "servelint"):
        accepted(words)
    for words in shown(page, "python"):
        if words[0] != "-m":
            assert (DOCS.parent / words[0]).is_file()


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_page_has_an_example(page: Path) -> None:
    assert shown(page, "servelint") + shown(page, "python") or page.name in ("api.md", "writing-rules.md", "operands.md")


WORKFLOWS = sorted((DOCS.parent / ".github" / "workflows").glob("*.yml"))


def steps(workflow: Path) -> list[dict[str, Any]]:
    return [step for job in yaml_texts.load(workflow.read_text())["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=[one.name for one in WORKFLOWS])
class TestWorkflows:
    def test_commands_are_accepted(self, workflow: Path) -> None:
        text = "\n".join(str(step.get("run", "")) for step in steps(workflow)).replace("\\\n", " ")
        for line in re.findall(r"(?m)(?:^|[|;&({]|xargs \S+)\s*(servelint .*)$", text):
            accepted(shlex.split(re.split(r"\s*(?:&&|\|\||[|;>])\s", line)[0])[1:])
        for script in re.findall(r"python (?!-)(\S+\.py)", text):
            assert (DOCS.parent / script.removeprefix("../base/")).is_file()

    def test_actions_are_pinned_and_rights_are_few(self, workflow: Path) -> None:
        text = workflow.read_text()
        assert re.search(r"^permissions: (?:\{\}|read-all)$|^permissions:\n  contents: read$", text, re.MULTILINE)
        uses = re.findall(r"uses: (\S+)(.*)", text)
        for action, version in uses:
            assert action.startswith("./") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
            assert action.startswith("./") or re.fullmatch(r" # v[\d.]+", version), action

    def test_no_expression_is_put_into_a_script(self, workflow: Path) -> None:
        for step in steps(workflow):
            assert "${{" not in str(step.get("run", ""))


class TestTutorial:
    """docs/tutorial.md, followed from top to bottom: each command prints what the page shows."""

    TEXT = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    STEPS = re.findall(r'```(?:\w+ title="([^"]+)"|(console))\n(.*?)```', TEXT, re.DOTALL)

    @staticmethod
    def _pattern(shown: str) -> re.Pattern[str]:
        """What the output has to match: `...` alone on a line stands for any lines, and every duration for any other."""
        lines = [".*" if line == "..." else re.sub(r"\d+\\ ms", r"\\d+\\ ms", re.escape(line)) for line in shown.splitlines()]
        return re.compile("\n".join(lines) + "\n", re.DOTALL)

    def test_every_step(self, workspace: Workspace) -> None:
        statuses = []
        for file, console, body in self.STEPS:
            if not console:
                workspace.file(file, body)
                continue
            command, _, shown = body.partition("\n")
            if "latest" in shown:
                workspace.file("compose.yml", self._edited(workspace, "v0.27.1", "latest"))
            ran = workspace.run(*shlex.split(command.removeprefix("$ servelint ")))
            assert self._pattern(shown).fullmatch(ran.out), (command, ran.out)
            statuses.append(ran.status)
        assert statuses == [1, 0, 1, 0, 0, 0]
        (comment,) = re.findall(r"image: \S+:(latest  # servelint: .*)\n", self.TEXT)
        workspace.file("compose.yml", self._edited(workspace, "latest", comment))
        assert "unpinned-image" not in workspace.run("check", "--profile", "strict", "compose.yml").out

    @staticmethod
    def _edited(workspace: Workspace, old: str, new: str) -> str:
        text = (workspace.folder / "compose.yml").read_text(encoding="utf-8")
        assert old in text
        return text.replace(old, new)
