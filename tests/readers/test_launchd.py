"""Jobs of launchd in property lists."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in
from tests.reporting import findings_in

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/x.dtd">\n'
JOB = """<plist version="1.0">
<dict>
  <key>Label</key>
  <string>com.example.llama</string>
  <key>ProgramArguments</key>
  <array>
    <!-- /usr/local/bin on Intel -->
    <string>/opt/homebrew/bin/llama-server</string>
    <string>-m</string><string>/models/a &amp; b.gguf</string>
    <string>--port</string>
    <string>8080</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>LLAMA_ARG_CTX_SIZE</key>
    <string>4096</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
</dict>
</plist>
"""


def job(*words: str, more: str = "") -> str:
    shown = "".join(f"<string>{word}</string>" for word in words)
    return f"{HEAD}<plist version='1.0'><dict><key>ProgramArguments</key><array>{shown}</array>{more}</dict></plist>\n"


def test_a_job() -> None:
    launch = launch_in(HEAD + JOB, "com.example.llama.plist")
    assert (launch.engine, launch.name, launch.line, launch.end_line) == ("llama.cpp", "com.example.llama", 10, 13)
    assert argv(launch) == ["-m", "/models/a & b.gguf", "--port", "8080"]
    assert environment(launch) == {"LLAMA_ARG_CTX_SIZE": "4096"}


def test_a_finding_is_at_the_word() -> None:
    text = job("/opt/homebrew/bin/llama-server", "-m", "a.gguf", "--ubatch-size", "2048", "--batch-size", "512")
    (found,) = findings_in(text, "a.plist")
    assert (found.rule, found.span.text) == ("llamacpp/ubatch-above-batch", "2048")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (job("/bin/zsh", "-lc", "exec ollama serve"), []),
        (job("/bin/sh", "-c", "cd /srv &amp;&amp; vllm serve a/b --port 80"), ["a/b", "--port", "80"]),
        (job("vllm", "serve", "a/b", more="<key>Program</key><string>/opt/venv/bin/vllm</string>"), ["a/b"]),
        (job("/opt/venv/bin/python", "-m", "vllm.entrypoints.openai.api_server", "--model", "m"), ["--model", "m"]),
        (job("llama-server", "-m", "$HOME/a.gguf", "-c", "__CTX__"), ["-m", None, "-c", None]),
    ],
)
def test_what_a_job_runs(text: str, expected: list[str | None]) -> None:
    assert [word.value for word in launch_in(text, "a.plist").argv] == expected


@pytest.mark.parametrize(
    "text",
    [
        job("/usr/bin/open", "-a", "Ollama"),
        job("/usr/bin/python3", "proxy.py", "llama-server"),
        "<plist><dict><key>Label</key><string>llama-server</string></dict></plist>",
        "<plist><dict><key>ProgramArguments</key><array><string>llama-server</string><true/></array></dict></plist>",
        "<plist><dict><key>ProgramArguments</key><string>llama-server</string></dict></plist>",
        "<plist><dict><key>Program",
        "</dict></plist><plist><array>" * 50,
    ],
)
def test_what_starts_nothing(text: str) -> None:
    assert launches_in(text, "a.plist") == []


@pytest.mark.parametrize("mark", ["xml", "", "plist"])
def test_a_page_that_shows_one(mark: str) -> None:
    launch = launch_in(f"# Service\n\n```{mark}\n{HEAD}{JOB}```\n", "README.md")
    assert argv(launch)[0] == "-m"


def test_one_that_a_script_writes() -> None:
    job_of_script = JOB.replace("8080", "$PORT").replace("&amp;", "and")
    text = f"PORT=8081\ncat > ~/Library/LaunchAgents/a.plist <<EOF\n{HEAD}{job_of_script}EOF\nlaunchctl load a.plist\n"
    assert argv(launch_in(text, "install.sh")) == ["-m", "/models/a and b.gguf", "--port", "8081"]
