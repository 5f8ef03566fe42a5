"""`servelint lsp`: the language server, for editors."""

from __future__ import annotations

import sys

from servelint.cli import options
from servelint.cli.told import tell
from servelint.core.numbers import is_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    import logging

_EPILOG = """An editor starts it and speaks on its standard input and output; docs/lsp.md has its settings.
It needs pygls: pip install 'servelint[lsp]'"""


def run(args: list[str]) -> int:
    usage = _parser()
    arguments = usage.parse_args(args)
    address = _address(arguments.tcp, usage) if arguments.tcp is not None else None
    try:
        import pygls.lsp.server  # noqa: F401
    except ImportError as error:
        tell(f"servelint: the language server needs pygls ({error}); pip install 'servelint[lsp]'")
        return 2
    if not _logging(arguments.log, arguments.log_level):
        return 2
    from servelint.lsp import running
    from servelint.lsp.server import Server

    if address is None:
        return running.serve_pipes(Server())
    try:
        return running.serve_port(Server, *address, _ready)
    except OSError as error:
        tell(f"servelint: cannot listen on {arguments.tcp}: {error.strerror or error}")
        return 2


def _parser() -> argparse.ArgumentParser:
    usage = options.parser("lsp", "Serve an editor: findings while typing, quick fixes, what options mean.")
    usage.epilog = _EPILOG
    usage.add_argument("--stdio", action="store_true", help="speak on standard input and output, as is done anyway")
    usage.add_argument("--tcp", metavar="HOST:PORT", help="listen there instead; port 0 takes a free one and prints it")
    usage.add_argument("--log", metavar="FILE", help="write what happens into a file (default: warnings to standard error)")
    usage.add_argument(
        "--log-level", choices=("error", "warning", "info", "debug"), default="info", help="how much of it (default: info)"
    )
    return usage


def _address(text: str, usage: argparse.ArgumentParser) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not is_whole(port) or int(port) > 65535:
        usage.error(f'"{text}" is not an address; write HOST:PORT, such as 127.0.0.1:2087')
    return host.strip("[]"), int(port)


def _formatter(form: str) -> logging.Formatter:
    """What is logged may quote a text that somebody has open."""
    import logging

    from servelint.report.clean import clean_lines

    class Formatter(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return clean_lines(super().format(record))

    return Formatter(form)


def _logging(path: str | None, level: str) -> bool:
    import logging

    if path is None:
        shown = logging.StreamHandler(sys.stderr)
        shown.setFormatter(_formatter("servelint: %(message)s"))
        logging.basicConfig(level=logging.WARNING, handlers=[shown])
        return True
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        tell(f"servelint: cannot write {path}: {error.strerror or error}")
        return False
    handler.setFormatter(_formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("servelint").setLevel(level.upper())
    return True


def _ready(host: str, port: int) -> None:
    tell(f"servelint: listening on {host}:{port}")
