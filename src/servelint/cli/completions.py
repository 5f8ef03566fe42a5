"""`servelint completions SHELL`: the function with which a shell asks for completions."""

from __future__ import annotations

import sys

SHELLS = ("bash", "zsh", "fish")

_USAGE = f"""usage: servelint completions {"|".join(SHELLS)}

Print what completes the commands, options, rules, releases and GPUs of servelint in a shell. In its
start-up file:

  bash  eval "$(servelint completions bash)"
  zsh   eval "$(servelint completions zsh)"         (after compinit)
  fish  servelint completions fish | source
"""


def run(args: list[str]) -> int:
    if args in (["-h"], ["--help"]):
        sys.stdout.write(_USAGE)
        return 0
    if len(args) != 1 or args[0] not in SHELLS:
        sys.stderr.write(_USAGE)
        return 2
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["servelint"], shell=args[0]))
    return 0
