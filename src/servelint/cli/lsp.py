"""`servelint lsp`: the language server, for editors."""

from __future__ import annotations

import sys

from servelint.cli.command import Options, address, command, flag, option
from servelint.cli.output import print_stderr

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging


class Connection(Options, title="connection"):
    """How the editor is reached."""

    stdio: bool = flag("--stdio", help="use standard input and output (the default)")
    tcp: str | None = option("--tcp", metavar="HOST:PORT", help="listen there instead; port 0 picks a free one and prints it")


class Logging(Options, title="log"):
    """What is logged, and where to."""

    log: str | None = option("--log", metavar="FILE", help="write a log (default: warnings to standard error)")
    log_level: str = option(
        "--log-level", choices=("error", "warning", "info", "debug"), default="info", help="how much is logged (default: info)"
    )


@command(
    "lsp",
    *(Connection, Logging),
    about="Serve an editor over the Language Server Protocol: diagnostics, quick fixes, hover, completion.",
    notes="An editor starts it; docs/lsp.md has its settings. It needs pygls: pip install 'servelint[lsp]'",
    examples=["servelint lsp", "servelint lsp --tcp 127.0.0.1:2087 --log lsp.log"],
)
def run(connection: Connection, log: Logging) -> int:
    """Serve until the client leaves."""
    listen = address(connection.tcp, "127.0.0.1:2087") if connection.tcp is not None else None
    try:
        import pygls.lsp.server  # noqa: F401
    except ImportError as error:
        print_stderr(f"servelint: the language server needs pygls ({error}); pip install 'servelint[lsp]'")
        return 2
    if not _start_log(log.log, log.log_level):
        return 2
    from servelint.lsp import transport
    from servelint.lsp.server import Server

    if listen is None:
        return transport.serve_pipes(Server())
    try:
        return transport.serve_port(Server, *listen, _ready)
    except OSError as error:
        print_stderr(f"servelint: cannot listen on {connection.tcp}: {error.strerror or error}")
        return 2


def _formatter(form: str) -> logging.Formatter:
    """Return a formatter that escapes: a log may quote the text of a file."""
    import logging

    from servelint.report.clean import clean_lines

    class Formatter(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return clean_lines(super().format(record))

    return Formatter(form)


def _start_log(path: str | None, level: str) -> bool:
    import logging

    try:
        handler = logging.StreamHandler(sys.stderr) if path is None else logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        print_stderr(f"servelint: cannot write {path}: {error.strerror or error}")
        return False
    handler.setFormatter(_formatter("servelint: %(message)s" if path is None else "%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    if path is not None:
        logging.getLogger("servelint").setLevel(level.upper())
    return True


def _ready(host: str, port: int) -> None:
    print_stderr(f"servelint: listening on {host}:{port}")
