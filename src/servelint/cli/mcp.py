"""`servelint mcp`: a server of the Model Context Protocol, for coding assistants."""

from __future__ import annotations

import os

from servelint.cli import collect_garbage_as_usual
from servelint.cli.command import Options, argument, command, fail
from servelint.cli.output import print_stderr


class Folders(Options, title="arguments"):
    """What may be read."""

    folders: tuple[str, ...] = argument("FOLDER", "a folder whose files may be read (default: .)", many=True)


@command(
    "mcp",
    Folders,
    about="Serve a coding assistant over the Model Context Protocol, on standard input and output.",
    notes="""The tools check, explain, memory and upgrade give the answers of the commands with these names.
They read only files below FOLDER, and write nothing. docs/mcp.md says how an assistant starts it.
It needs the MCP SDK: pip install 'servelint[mcp]'""",
    examples=["servelint mcp", "servelint mcp deploy/ charts/"],
)
def run(given: Folders) -> int:
    """Serve until the client leaves."""
    folders = given.folders or (".",)
    for folder in folders:
        if not os.path.isdir(folder):
            fail(f'"{folder}" is not a folder')
    try:
        import mcp.server.mcpserver  # noqa: F401

        from servelint.cli.mcp_tools import server
    except ImportError as error:
        print_stderr(f"servelint: the MCP server needs the MCP SDK, 2.0 or later ({error}); pip install 'servelint[mcp]'")
        return 2
    collect_garbage_as_usual()
    found = tuple([os.path.realpath(folder) for folder in folders])
    os.chdir(found[0])
    server(found).run("stdio")
    return 0
