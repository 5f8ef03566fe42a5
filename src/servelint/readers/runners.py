"""Programs that are given a command as a text: `ssh HOST '...'`, `tmux send-keys '...'`, `su -c '...'`."""

from __future__ import annotations

import re

from servelint.core.launch import Launch, Word
from servelint.core.text import Text, unknown
from servelint.engines import entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.readers.place import Place

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ash", "ksh"))
_SSH_WITH_VALUE = "BbcDEeFIiJLlmOopQRSWw"
_REMOTE = frozenset(("ssh", "pdsh", "clush", "parallel-ssh", "pssh", "gcloud", "az", "at", "batch"))
TEXTS = _REMOTE | frozenset(
    (
        "byobu",
        "flock",
        "gnome-terminal",
        "konsole",
        "parallel",
        "runuser",
        "screen",
        "script",
        "sshpass",
        "su",
        "tmux",
        "watch",
        "wsl",
        "wsl.exe",
        "xargs",
        "xterm",
    )
)
"""Programs whose words may hold a whole command."""


def texts(words: list[Word], place: Place, depth: int) -> list[Launch]:
    """The launches of the commands that such a program is given, as one text or as its last words."""
    from servelint.readers import commands, scripts
    from servelint.syntax.shell.recipe import joined

    name = words[0].text.flat.rpartition("/")[2]
    env = {} if name in _REMOTE else place.env
    inner = place.with_(site=None, env=env, open_env=True)
    inner.open = inner.files = None
    if name == "sshpass":
        at = next((at for at, word in enumerate(words) if word.value in ("ssh", "scp")), None)
        return texts(words[at:], place, depth) if at is not None and words[at].value == "ssh" else []
    if name == "ssh":
        command = _after_host(words)
        bare = (
            len(command) in (1, 2) and entry.program(command[0]) in SHELLS and (len(command) == 1 or command[1].value == "-s")
        )
        if command and not bare:
            return scripts.script_launches(joined([word.text for word in command], " "), inner, None, depth + 1)
        return scripts.script_launches(place.stdin, inner, None, depth + 1) if place.stdin is not None else []
    found: list[Launch] = []
    # what these read is added to the command
    more = [Word(Text((unknown("...", None, ""),)), None, many=True)] if name in ("xargs", "parallel") else []
    for at in range(1, len(words)):
        word = words[at]
        if re.search(r"\s", word.text.flat):
            found += scripts.script_launches(word.text, inner, None, depth + 1)
        elif not word.text.flat.startswith("-") and (at > 1 or name in ("parallel", "watch", "xargs")):
            rest = commands.launches([*words[at:], *more], inner, depth + 1)
            if rest:
                return [*found, *rest]
    if not found and place.stdin is not None and name in ("at", "batch", "wsl", "su"):
        return scripts.script_launches(place.stdin, inner, None, depth + 1)
    return found


def _after_host(words: list[Word]) -> list[Word]:
    """The command of `ssh [options] HOST COMMAND...`, which the other side's shell reads as one text."""
    at = 1
    while at < len(words) and words[at].text.flat.startswith("-"):
        flat = words[at].text.flat
        at += 2 if flat[-1] in _SSH_WITH_VALUE and len(flat) == 2 else 1
    return words[at + 1 :]
