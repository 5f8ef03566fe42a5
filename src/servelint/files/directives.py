"""Comments to servelint in a file that it reads: for which lines each speaks, and which GPUs they name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.launch import Launch
    from servelint.core.settings import Settings
    from servelint.core.source import Source

SIGN = "servelint:"
"""What every one of them has."""


def lines_of(source: Source, start: int) -> tuple[int, ...]:
    """The lines for which a comment speaks that starts at an offset: its own, and the next one if it stands alone."""
    line = source.position(start)[0]
    alone = not source.line_text(line)[: start - source.line_starts[line - 1]].strip()
    return (line, line + 1) if alone else (line,)


def name_gpus(launch: Launch, settings: Settings) -> None:
    """Set the GPUs of a launch, as far as its file's settings do not say them: by comments, else as the user says."""
    launch.gpu, launch.gpu_count, launch.gpu_site = settings.gpu, settings.gpu_count, None
    if launch.source.holds(SIGN):
        from servelint.files import gpu_directives

        gpu_directives.apply(launch)
