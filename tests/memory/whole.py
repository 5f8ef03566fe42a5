"""Everything that a memory plan says of a launch, for a test that compares all of it at once."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator

from servelint.core.launch import Launch, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines.config import configs
from servelint.memory import plan_over
from servelint.memory.plan import Interval
from tests.whole import main


def plan_lines(head: str, text: str) -> Iterator[str]:
    """What the plan of a text says.

    Args:
        head: the engine, a release or the oldest and the newest one with a comma between them, the GPU, and how many of them.
        text: the words of the launch.
    """
    engine, releases, gpu, count = head.split()
    source = Source("<command>", text)
    argv = [Word(TracedText.of(word)) for word in shlex.split(text)]
    launch = Launch(source=source, engine=engine, verb=(), argv=argv, site=Span(source, 0, len(text)), env={})
    launch.gpu, launch.gpu_count = gpu, int(count)
    plan = plan_over(configs(launch, releases.split(",")))
    for field in dataclasses.fields(plan):
        value = getattr(plan, field.name)
        if field.name == "parts":
            for part in value:
                yield f"{part.name}: {_shown(part.gib)}{'' if part.inside else ' outside'} ({part.origin})"
        elif isinstance(value, list):
            yield from [f"{field.name}: {one}" for one in value]
        elif value is not None and field.name not in ("engine", "gpu"):
            yield f"{field.name}: {_shown(value)}"


def _shown(value: object) -> str:
    if isinstance(value, Interval):
        return _shown(value.mid) if value.known else " ".join([_shown(one) for one in (value.low, value.mid, value.high)])
    return f"{value:.6g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:], plan_lines)
