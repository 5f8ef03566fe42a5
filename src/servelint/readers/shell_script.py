"""Shell scripts: every engine that a script starts, itself or in a container."""

from __future__ import annotations

from servelint import dotenv
from servelint.launch import Launch, Variable
from servelint.readers.commands import Place, script_launches
from servelint.readers.neighbours import Neighbours
from servelint.source import Source
from servelint.text import Text


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    def env_file(path: str) -> dict[str, Variable] | None:
        beside = neighbours.read(path)
        if beside is None:
            return None
        return {name: Variable(name, value, value.span()) for name, value in dotenv.parse(beside).items()}

    return script_launches(Text.at(source, 0, len(source.text)), Place(source, env_file=env_file), None)
