"""Windows batch files: every engine that one starts, itself or in a container."""

from __future__ import annotations

from servelint.core.launch import Launch, ReleaseClaim, Variable
from servelint.core.source import Source
from servelint.core.text import HOLE, Text
from servelint.files.siblings import Neighbours
from servelint.readers import installs
from servelint.readers.commands import launches
from servelint.readers.context import CommandContext, env_file, identity
from servelint.readers.registry import Format
from servelint.syntax.batch.evaluate import Command, evaluate

FORMAT = Format(
    "batch", 190, title="Windows batch files", about="variables, `call`, labels", files=("*.bat", "*.cmd"), languages=("bat",)
)


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a batch file."""
    found: list[Launch] = []
    seen: set[tuple[int, int, str, tuple[str, ...]]] = set()
    claims: dict[str, ReleaseClaim] = {}

    def on_command(ran: Command) -> None:
        claims.update(installs.claims(ran.words))
        env = {
            value.name: Variable(value.name, value.text, value.text.extent())
            for value in ran.state.values()
            if value.text.flat and value.name.isidentifier()
        }
        context = CommandContext(source, env=env, claims=dict(claims), env_file=env_file(neighbours))
        for launch in launches(ran.words, context):
            launch.cut = launch.cut or ran.lost
            launch.likely = ran.likely and launch.likely
            key = identity(launch)
            if key not in seen:
                seen.add(key)
                found.append(launch)

    def called(path: str) -> Text | None:
        """Another batch file, named by its place beside this one."""
        name = path.replace("\\", "/").replace(HOLE + "/", HOLE).removeprefix(HOLE)
        beside = neighbours.read(name) if name and HOLE not in name and ":" not in name else None
        return Text.at(beside, 0, len(beside.text)) if beside is not None else None

    sourced = evaluate(Text.at(source, 0, len(source.text)), on_command, called)
    for launch in found:
        launch.open_env = launch.open_env or (sourced and launch.container is None)
    return found
