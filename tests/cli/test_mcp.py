"""`servelint mcp`, asked by the client of the official SDK: it answers what the commands answer, and reads its folders only."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.running import Workspace

ROOT = Path(__file__).parents[2]
PINNED = {"engine_versions": {"vllm": "0.27.1"}}
REMOVED = (
    "command.sh:1:14 error vllm/removed-option: --swap-space was removed in vLLM 0.18.0; vLLM 0.27.1 refuses it; edit 1:13-1:28"
)
HEADS = "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (3)."


class Answer:
    """What a tool answers."""

    def __init__(self, result: Any) -> None:
        self.refused = bool(result.is_error)
        (content,) = result.content
        self.text: str = content.text


class Session:
    """A server for some folders of one, for the calls of one test: in this process, or one of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch | None = None) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch

    def run(self, *calls: tuple[str, dict[str, Any]], folders: tuple[str, ...] = ()) -> list[Answer]:
        """Call tools one after the other."""
        import anyio

        return [Answer(one) for one in anyio.run(self._session, calls, folders)[1]]

    def one(self, tool: str, *folders: str, **arguments: Any) -> Answer:
        return self.run((tool, arguments), folders=folders)[0]

    def tools(self) -> list[Any]:
        import anyio

        found: list[Any] = anyio.run(self._session, (), ())[0]
        return found

    async def _session(self, calls: tuple[tuple[str, dict[str, Any]], ...], folders: tuple[str, ...]) -> Any:
        from mcp import Client

        async with Client(self._server(folders)) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    def _server(self, folders: tuple[str, ...]) -> Any:
        from mcp import StdioServerParameters

        from servelint.cli import mcp_tools

        if self._monkeypatch is None:
            env = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
            return StdioServerParameters(
                command=sys.executable, args=["-m", "servelint", "mcp", *folders], cwd=self.folder, env=env
            )
        found = tuple([os.path.realpath(self.folder / folder) for folder in folders or (".",)])
        self._monkeypatch.chdir(found[0])
        return mcp_tools.server(found)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    pytest.importorskip("mcp", reason="needs the MCP SDK: pip install -e '.[mcp]'")
    return Session(tmp_path, monkeypatch)


def printed(*words: str) -> str:
    """What a command prints in the checkout, without the time that it took."""
    ran = subprocess.run([sys.executable, "-m", "servelint", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return re.sub(r", \d+ ms\)", ")", ran.stdout)


class TestAnswers:
    def test_the_tools_only_read(self, session: Session) -> None:
        found = {tool.name: tool for tool in session.tools()}
        assert list(found) == ["check", "explain", "memory", "upgrade"]
        for tool in found.values():
            assert tool.annotations.read_only_hint is True
            assert tool.annotations.open_world_hint is False
            assert tool.description
            described = tool.input_schema["properties"].values()
            assert all(one.get("description") for one in described), tool.name

    def test_the_page_of_the_docs(self, session: Session) -> None:
        page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
        assert re.findall(r"(?m)^\| `(\w+)` \|", page) == [tool.name for tool in session.tools()]
        (block,) = re.findall(r"(?ms)^```json\n(.*?)^```", page)
        (entry,) = json.loads(block)["mcpServers"].values()
        assert entry == {"command": "servelint", "args": ["mcp"]}

    def test_they_answer_what_the_commands_print(self) -> None:
        pytest.importorskip("mcp", reason="needs the MCP SDK: pip install -e '.[mcp]'")
        broken, gpu = ["examples/broken"], ["--gpu", "h100-80gb"]
        expected: list[tuple[tuple[str, dict[str, Any]], str]] = [
            (("check", {"paths": broken}), printed("check", "--format", "agent", *broken)),
            (("check", {"paths": broken, "format": "json"}), printed("check", "--format", "json", *broken)),
            (("check", {"paths": broken, "format": "text"}), printed("check", *broken)),
            (("check", {"paths": broken, "profile": "strict", "severity": "error"}),
             printed("check", "--format", "agent", "--profile", "strict", "--severity", "error", *broken)),
            (("explain", {"topic": "vllm/removed-option"}), printed("explain", "vllm/removed-option")),
            (("explain", {"topic": "vllm", "name": "--swap-space"}), printed("explain", "vllm", "--swap-space")),
            (("memory", {"paths": broken, "gpu": "h100-80gb"}), printed("memory", *gpu, *broken)),
            (("memory", {"paths": broken, "gpu": "h100-80gb", "what_if": True, "solve": "max-model-len"}),
             printed("memory", *gpu, "--what-if", "--solve", "max-model-len", *broken)),
            (("upgrade", {"to": "vllm=0.33.0", "paths": broken}), printed("upgrade", "--to", "vllm=0.33.0", *broken)),
        ]  # fmt: skip
        answers = Session(ROOT).run(*[call for call, _ in expected])
        for (call, text), answer in zip(expected, answers, strict=True):
            assert not answer.refused, (call, answer.text)
            lines = [line for line in answer.text.splitlines() if line]
            wanted = [line for line in text.splitlines() if line]
            # a tool says at its end what a command says on standard error
            assert lines[: len(wanted)] == wanted, call

    def test_a_text_and_a_command_line(self, session: Session) -> None:
        compose = (ROOT / "examples" / "broken" / "turboquant.yml").read_text()
        (session.folder / ".env").write_text("DTYPE=fp7\n")
        (session.folder / "-").write_text("vllm serve m --swap-space 4\n")
        command, text, beside, nothing, empty, dash = session.run(
            ("check", {"text": "vllm serve m --swap-space 4", **PINNED}),
            ("check", {"text": compose, "filename": "new/compose.yml", "severity": "error"}),
            ("check", {"text": compose.replace("turboquant_k8v4", "${DTYPE}"), "filename": "compose.yml", "severity": "error"}),
            ("check", {"text": "hello", "filename": "a.sh"}),
            ("check", {"text": ""}),
            ("check", {"paths": ["-"], **PINNED}),
        )
        assert command.text.startswith(REMOVED)
        assert text.text.startswith("new/compose.yml:12:24 error vllm/turboquant-with-spec-decode")
        assert '"fp7" is not a valid value' in beside.text
        assert nothing.text == empty.text == "no launch found in 1 file"
        assert dash.text == "no launch found in 1 file; ./- mentions vLLM"  # a file, not standard input

    def test_a_log(self, session: Session) -> None:
        found, none = session.run(("explain", {"log": HEADS}), ("explain", {"log": "all is well"}))
        assert found.text.startswith("vllm/heads-not-divisible: ")
        assert (none.refused, none.text) == (True, "Error executing tool explain: no rule matches this log")

    def test_what_a_command_refuses(self, session: Session) -> None:
        refused: list[tuple[str, dict[str, Any], str]] = [
            ("check", {"engine_versions": {"vllm": "x"}}, '"x" is not a release of vLLM; releases look like 0.19.1'),
            ("check", {"paths": ["a.sh"], "text": "vllm serve m", "filename": "b.sh"}, "text cannot be combined with paths"),
            ("check", {"profile": "all"}, "profile"),
            ("explain", {"topic": "vllm/removed-optoin"}, "did you mean vllm/removed-option"),
            ("explain", {"topic": "vllm", "name": "--swap-spaces"}, "did you mean --swap-space?"),
            ("memory", {"gpu": "gtx-1"}, "gtx-1"),
            ("upgrade", {"to": "vllm"}, "write ENGINE=RELEASE"),
        ]
        for answer, (_, _, said) in zip(session.run(*[one[:2] for one in refused]), refused, strict=True):
            assert answer.refused
            assert said in answer.text

    def test_a_release_that_is_not_known_is_mentioned(self, session: Session) -> None:
        answer = session.one("check", text="vllm serve m", engine_versions={"vllm": "0.99.0"})
        assert "0.99.0" in answer.text.splitlines()[-1]

    def test_settings_and_the_baseline_hold(self, session: Session) -> None:
        (session.folder / "run.sh").write_text("vllm serve m --swap-space 4\nsglang serve\n")
        (session.folder / "servelint.toml").write_text('baseline = "known.json"\n[engine-versions]\nvllm = "0.27.1"\n')
        run = [sys.executable, "-m", "servelint", "check"]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        before = session.one("check")
        subprocess.run([*run, "--write-baseline"], cwd=session.folder, env=env, check=True, capture_output=True)
        assert "vllm/removed-option" in before.text
        assert "nothing found in" in session.one("check").text

    def test_what_the_settings_leave_out(self, session: Session) -> None:
        (session.folder / "servelint.toml").write_text('exclude = ["old"]\nforce-exclude = true\n')
        answer = session.one("check", text="vllm serve m --gpu-memory-utilization 1.5", filename="old/run.sh")
        assert answer.text == "no launch found in 0 files"

    def test_settings_that_are_wrong(self, session: Session) -> None:
        (session.folder / "servelint.toml").write_text('profil = "strict"\n')
        answer = session.one("check")
        assert answer.refused
        assert "servelint.toml:1:1" in answer.text

    def test_a_long_answer_ends_with_what_is_left_out(self, session: Session) -> None:
        (session.folder / ("long-" * 40 + ".sh")).write_text("vllm serve m --swap-space 4\n" * 400)
        text, data = session.run(("check", PINNED), ("check", {**PINNED, "format": "json"}))
        assert len(text.text) < 101_000
        assert re.search(r"\n\d+ more lines omitted; name fewer paths, or a severity\Z", text.text)
        assert data.refused
        assert "name fewer paths" in data.text


class TestBounds:
    """What lies outside of the folders is not read, by whatever name."""

    @pytest.fixture(autouse=True)
    def _folders(self, session: Session) -> None:
        """A git checkout of which the server is given one folder, with a secret beside that folder."""
        self.repository = session.folder
        (self.repository / ".git").mkdir()
        (self.repository / "secret.env").write_text("DTYPE=fp7\n")
        self.inside = self.repository / "deploy"
        self.inside.mkdir()
        session.folder = self.inside

    def test_a_path(self, session: Session) -> None:
        (self.inside / "link.env").symlink_to("../secret.env")
        (self.inside / "folder").symlink_to("..")
        calls: list[tuple[str, dict[str, Any]]] = []
        paths = [
            "../secret.env",
            "link.env",
            "folder/secret.env",
            "/etc/passwd",
            "a\0b",
            "..",
            str(self.repository / "secret.env"),
        ]
        for path in paths:
            for tool in ("check", "memory", "upgrade"):
                more = {"to": "vllm=0.33.0"} if tool == "upgrade" else {}
                calls += [(tool, {"paths": [path], **more}), (tool, {"text": "vllm serve", "filename": path, **more})]
        for call, answer in zip(calls, session.run(*calls), strict=True):
            assert answer.refused, call
            assert "is outside the folders that this server may read: " in answer.text

    def test_what_a_file_names(self, session: Session) -> None:
        """The command reads it: it belongs to the same checkout."""
        (self.inside / "compose.yml").write_text(
            "services:\n  a:\n    image: vllm/vllm-openai:v0.27.1\n    env_file: ../secret.env\n"
            "    entrypoint: [bash, -c]\n    command: ['vllm serve m --kv-cache-dtype $$DTYPE']\n"
        )
        (self.inside / "run.sh").write_text("source ../secret.env\nvllm serve m --kv-cache-dtype $DTYPE\n")
        (self.inside / "linked.sh").symlink_to("../other.sh")
        (self.repository / "other.sh").write_text("vllm serve m --kv-cache-dtype fp7\n")
        command, answer = [
            subprocess.run([sys.executable, "-m", "servelint", "check", "--engine-version", "vllm=0.27.1"],
                           cwd=self.inside, capture_output=True, text=True, check=False).stdout,
            session.one("check", **PINNED, verbose=True).text,
        ]  # fmt: skip
        assert '"fp7" is not a valid value' in command
        assert "fp7" not in answer
        assert "2 launches" in answer

    @pytest.mark.parametrize(
        "settings", ['read-outside = [".."]', "read-outside = true", 'extends = "../base.toml"', 'rules = ["../rules"]']
    )
    def test_what_settings_allow(self, settings: str, session: Session) -> None:
        (self.repository / "base.toml").write_text('profile = "marker-of-the-file-outside"\n')
        (self.repository / "rules").mkdir()
        (self.repository / "rules" / "marker.yaml").write_text("marker\n")
        (self.inside / "servelint.toml").write_text(settings + "\n")
        (self.inside / "run.sh").write_text("source ../secret.env\nvllm serve m --kv-cache-dtype $DTYPE\n")
        answer = session.one("check", **PINNED)
        assert "fp7" not in answer.text
        assert "marker" not in answer.text

    def test_settings_above_the_folder_do_not_count(self, session: Session) -> None:
        (self.repository / "servelint.toml").write_text('ignore = ["*"]\n')
        assert "vllm/removed-option" in session.one("check", text="vllm serve m --swap-space 4", **PINNED).text

    def test_several_folders(self) -> None:
        (self.inside / "a").mkdir()
        (self.inside / "b").mkdir()
        (self.inside / "c").mkdir()
        for name in "abc":
            (self.inside / name / "run.sh").write_text("vllm serve m --swap-space 4\n")
        every, one, other = Session(self.inside).run(
            ("check", PINNED), ("check", {"paths": [str(self.inside / "b")], **PINNED}),
            ("check", {"paths": [str(self.inside / "c")], **PINNED}), folders=("a", "b"),
        )  # fmt: skip
        assert every.text.count("error vllm/removed-option") == 2
        assert one.text.startswith(f"{self.inside / 'b' / 'run.sh'}:1:14 error")
        assert other.refused

    def test_limits_are_those_of_the_command_line(self, session: Session) -> None:
        script = "vllm serve m\n" + "echo x\n" * 50_000
        answer, pipe = session.run(
            ("check", {"text": script, "filename": "run.sh"}), ("check", {"text": "vllm serve " + "x" * (5 << 20)})
        )
        assert "a script of more than 262,144 characters; split it" in answer.text
        assert "servelint reads files of up to 4 MiB" in pipe.text


class TestCommand:
    def test_without_the_sdk(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "servelint.cli.mcp_tools", raising=False)
        monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
        ran = workspace.run("mcp")
        assert (ran.status, ran.out) == (2, "")
        pattern = r"servelint: the MCP server needs the MCP SDK, 2\.0 or later \(.*\); pip install 'servelint\[mcp\]'\n"
        assert re.fullmatch(pattern, ran.err)
        assert workspace.run("help", "mcp").status == 0

    def test_a_folder_that_is_none(self, workspace: Workspace) -> None:
        assert workspace.run("mcp", "nowhere") == (2, "", 'servelint mcp: error: "nowhere" is not a folder\n')

    def test_nothing_else_imports_the_sdk(self) -> None:
        program = "import sys; from servelint.cli import main; main(sys.argv[1:]); print('mcp' in sys.modules)"
        for words in (["help", "mcp"], ["check", "examples/sound"], ["explain", "vllm", "--swap-space"]):
            ran = subprocess.run([sys.executable, "-c", program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
            assert ran.stdout.endswith("False\n"), ran.stderr

    def test_it_ends_when_the_client_leaves(self, tmp_path: Path) -> None:
        pytest.importorskip("mcp", reason="needs the MCP SDK: pip install -e '.[mcp]'")
        request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        ran = subprocess.run(
            [sys.executable, "-m", "servelint", "mcp"], input=json.dumps(request) + "\n{not json\n", cwd=tmp_path,
            capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])},
        )  # fmt: skip
        assert ran.returncode == 0
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in ran.stdout.splitlines())
        assert "Traceback" not in ran.stderr
