"""What an editor waits for: `servelint lsp` over standard input and output, as a client of its own speaks it.

    python benchmarks/editor.py [EDITS]

Needs servelint with its extra `lsp` beside this interpreter. Measured are the two files of 300 lines in inputs/: a compose file
with three engines among fourteen services, and a script that starts two in containers. Printed are

- from a keystroke to the diagnostics of the text with it: options, comments and variables typed in and taken out again, one
  character an edit, at places all over the file; after every tenth a hover and a completion where it was typed
- the processor time that the server takes for an edit, with a tenth of a hover and of a completion: it is the same on a busy
  machine
- the server's memory after the first tenth of the edits and after all of them (default: 10,000, half of them in each file)
- the longest that a hover waits while 20,000 files are searched, and while a text of 5 MB is opened
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from queue import Queue

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = {name: os.path.join(HERE, "inputs", name) for name in ("editor-compose.yml", "editor-serve.sh")}
TYPED = {
    "editor-compose.yml": (
        ("      --max-model-len 32768\n", "      --max-num-seqs 64 --enforce-eager\n"),
        ('      - "0.85"\n', "      - --disable-radix-cache\n"),
        ("      HF_TOKEN: ${HF_TOKEN}\n", '      VLLM_USE_V1: "1"\n'),
        ("  redis:\n", "    # nothing is kept here\n"),
        ("    image: grafana/grafana:11.5.2\n", "    hostname: grafana\n"),
    ),
    "editor-serve.sh": (
        ('    --max-model-len "$CHAT_LEN" \\\n', "    --max-num-seqs 64 --enforce-eager \\\n"),
        ("    --mem-fraction-static 0.85 \\\n", "    --disable-radix-cache \\\n"),
        ("CODE_LEN=65536\n", "CODE_SEQS=128\n"),
        ("# -- small helpers\n", "# each says what it does\n"),
        ("    stop)\n", '      log "stopping"\n'),
    ),
}
"""What is typed after which line."""
FILES = 20_000


class Client:
    """A server process, and the messages that it sends, each with the time at which it was here."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "servelint", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.messages: Queue[tuple[float, dict]] = Queue()
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        stream = self.process.stdout
        while line := stream.readline():
            if line.startswith(b"Content-Length"):
                length = int(line.split(b":")[1])
                while stream.readline().strip():
                    pass
                body = stream.read(length)
                self.messages.put((time.perf_counter(), json.loads(body)))

    def send(self, **message: object) -> float:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        started = time.perf_counter()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()
        return started

    def ask(self, method: str, params: object) -> tuple[float, dict]:
        """The seconds until the answer is here, and the answer."""
        self.number += 1
        started = self.send(id=self.number, method=method, params=params)
        while True:
            arrived, message = self.messages.get(timeout=120)
            if message.get("id") == self.number and "method" not in message:
                return arrived - started, message

    def told(self, uri: str, version: int, started: float) -> float:
        """The seconds until the diagnostics of a version of a text are here."""
        while True:
            arrived, message = self.messages.get(timeout=120)
            params = message.get("params", {})
            told = message.get("method") == "textDocument/publishDiagnostics"
            if told and (params["uri"], params["version"]) == (uri, version):
                return arrived - started

    def begin(self, folder: str | None = None) -> None:
        uri = "file://" + folder if folder is not None else None
        self.ask("initialize", {"processId": os.getpid(), "rootUri": uri, "capabilities": {}})
        self.send(method="initialized", params={})

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "plaintext", "version": 1, "text": text}
        self.told(uri, 1, self.send(method="textDocument/didOpen", params={"textDocument": document}))

    def memory(self) -> float:
        """MiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

    def processor(self) -> float:
        """Seconds of the processor that the server has used."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self.ask("shutdown", None)
        self.send(method="exit")
        self.process.wait(timeout=60)


class Typing:
    """Somebody who types in a text and takes it out again."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.uri = "file://" + INPUTS[name]
        with open(INPUTS[name], encoding="utf-8") as file:
            self.text = file.read()
        self.version = 1
        self.waits: list[float] = []
        self.hovers: list[float] = []
        self.completions: list[float] = []
        self.processor = 0.0
        self.typed = TYPED[name]
        client.open(self.uri, self.text)

    def edit(self, start: int, end: int, text: str) -> None:
        self.version += 1
        change = {"range": {"start": self.place(start), "end": self.place(end)}, "text": text}
        params = {"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": [change]}
        self.text = self.text[:start] + text + self.text[end:]
        self.waits.append(
            self.client.told(self.uri, self.version, self.client.send(method="textDocument/didChange", params=params))
        )
        if self.version % 10 == 0:
            params = {"textDocument": {"uri": self.uri}, "position": self.place(start)}
            self.hovers.append(self.client.ask("textDocument/hover", params)[0])
            self.completions.append(self.client.ask("textDocument/completion", params)[0])

    def place(self, offset: int) -> dict[str, int]:
        before = self.text[:offset]
        return {"line": before.count("\n"), "character": offset - before.rfind("\n") - 1}

    def run(self, edits: int, chance: random.Random) -> None:
        done, before = len(self.waits) + edits, self.client.processor()
        while len(self.waits) < done:
            after, typed = chance.choice(self.typed)
            start = self.text.index(after) + len(after)
            for index, char in enumerate(typed):
                self.edit(start + index, start + index, char)
            for index in range(len(typed), 0, -1):
                self.edit(start + index - 1, start + index, "")
        self.processor += self.client.processor() - before


def shown(name: str, seconds: list[float]) -> None:
    times = sorted(one * 1000 for one in seconds)
    at = [times[min(int(len(times) * share), len(times) - 1)] for share in (0.5, 0.9, 0.99)]
    print(f"{name:<38} median {at[0]:6.1f} ms   p90 {at[1]:6.1f}   p99 {at[2]:6.1f}   max {times[-1]:7.1f}   ({len(times)})")


def edits(count: int) -> None:
    client = Client()
    client.begin()
    writers = {name: Typing(client, name) for name in INPUTS}
    chance = random.Random(1)
    for name in INPUTS:
        writers[name].run(count // 20, chance)
    first = client.memory()
    for _ in range(9):
        for name in INPUTS:
            writers[name].run(count // 20, chance)
    last = client.memory()
    for name, one in writers.items():
        shown(f"{name}: diagnostics", one.waits)
        shown(f"{name}: hover", one.hovers)
        shown(f"{name}: completion", one.completions)
        print(f"{name}: processor time".ljust(38), f"mean   {one.processor / len(one.waits) * 1000:6.1f} ms an edit")
    total = sum(len(one.waits) for one in writers.values())
    print(
        f"memory: {first:.1f} MiB after {total // 10} edits, {last:.1f} MiB after {total} ({(last / first - 1) * 100:+.1f} %)"
    )
    client.end()


def searched() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            if number % 1000 == 0:
                os.mkdir(os.path.join(folder, str(number)))
            path = os.path.join(folder, str(number // 1000 * 1000), f"{number}.yml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("services:\n  a:\n    image: " + ("vllm/vllm-openai:v0.27.1\n" if number % 100 == 0 else "nginx\n"))
        client = Client()
        client.begin(folder)
        with open(INPUTS["editor-compose.yml"], encoding="utf-8") as file:
            client.open("file://" + INPUTS["editor-compose.yml"], file.read())
        client.number += 1
        scan, started = (
            client.number,
            client.send(id=client.number, method="workspace/diagnostic", params={"previousResultIds": []}),
        )
        waits, ended = [], 0.0
        hover = {"textDocument": {"uri": "file://" + INPUTS["editor-compose.yml"]}, "position": {"line": 34, "character": 10}}
        while not ended:
            client.number += 1
            asked = client.send(id=client.number, method="textDocument/hover", params=hover)
            while True:
                arrived, message = client.messages.get(timeout=120)
                if message.get("id") == scan:
                    ended = arrived - started
                elif message.get("id") == client.number:
                    waits.append(arrived - asked)
                    break
        shown(f"hover while {FILES:,} files are searched", waits)
        print(f"the search itself: {ended:.1f} s")
        large = "# vllm\n" + "# nothing else\n" * 350_000
        client.send(
            method="textDocument/didOpen",
            params={"textDocument": {"uri": "file:///large.yml", "languageId": "yaml", "version": 1, "text": large}},
        )
        shown("hover behind a text of 5 MB", [client.ask("textDocument/hover", hover)[0] for _ in range(20)])
        client.end()


def main() -> None:
    edits(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    searched()


if __name__ == "__main__":
    main()
