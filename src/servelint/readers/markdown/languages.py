"""The names that pages give to the languages of their code."""

from __future__ import annotations

SHELL, CONSOLE, PLAIN, POWERSHELL, MARKDOWN = "shell", "console", "plain", "powershell", "markdown"
YAML, JSON, DOCKERFILE, UNIT, MAKEFILE, BATCH = "yaml", "json", "dockerfile", "unit", "makefile", "batch"

_NAMES = {
    SHELL: "ash bash cli cmdline command commandline dash fish ksh sh shell shellscript zsh",
    CONSOLE: "bash-session console consolesession session sh-session shell-session shellsession terminal zsh-session",
    PLAIN: "log none output plain plaintext stdout text txt",
    POWERSHELL: "posh powershell ps1 pwsh",
    MARKDOWN: "markdown md mdx myst",
    YAML: "compose docker-compose helm k8s kubernetes yaml yml",
    JSON: "json json5 jsonc",
    DOCKERFILE: "containerfile docker dockerfile",
    UNIT: "conf cfg desktop ini quadlet service supervisor systemd unit",
    MAKEFILE: "just justfile make makefile",
    BATCH: "bat batch batchfile cmd dos dosbatch winbatch",
}
KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
"""name -> kind; what is not here is a language that starts no engine as a command does."""
