"""Limits: how much of a file servelint reads, each with its unit, in one place.

A limit is never passed in silence: the file gets an error with the limit and its place (exit status 2), or a note where only
a file that it runs or names reaches the limit. What was found before it and all other files stand. Limits count work, not
time, so that a file has the same answer on every machine.
docs/limits.md lists them.
"""

from __future__ import annotations

from servelint.core.problem import Problem
from servelint.core.run import STEPS_OF_WALKS, WALKS, current
from servelint.core.text import TracedText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.source import Span


class Bound:
    """A limit.

    Attributes:
        most: How much is read.
        unit: The unit of `most`.
        says: The message of an error past the limit, with `{most}` in it; empty if what lies past it is taken as unknown.
    """

    __slots__ = ("most", "says", "unit")

    def __init__(self, most: int, unit: str, says: str) -> None:
        self.most = most
        self.unit = unit
        self.says = says

    @property
    def message(self) -> str:
        """The message with the limit filled in."""
        return self.says.format(most=f"{self.most:,}")

    def passed(self, count: int, place: Span | TracedText | None) -> bool:
        """Whether a count is past this limit; if so, it is reported to the current run."""
        if count <= self.most:
            return False
        self.reached(place)
        return True

    def reached(self, place: Span | TracedText | None, at: tuple[int, int] = (1, 1)) -> None:
        """Report to the current run that this limit was reached.

        Args:
            place: Where; None if that is not known.
            at: Line and column, where the place is not known.
        """
        run = current()
        if run is None or not self.says:
            return
        span = place.extent() if isinstance(place, TracedText) else place
        shown = span.source.path if span is not None else ""
        line, column = span.source.position(span.start) if span is not None else at
        run.report(Problem(shown, self.message, line, column, limit=True))


# -- of files

FILE = Bound(4 << 20, "bytes", "not read: {size}, and servelint reads files of up to 4 MiB")
CLUSTER = Bound(128 << 20, "bytes", "not read: {size}, and servelint reads a list of Kubernetes objects of up to 128 MiB")
"""What kubectl prints of a cluster, and bundles in YAML: only the objects that start engines are read with their places. It may
take as much more work than another file as CLUSTER_NODES is more than YAML_NODES."""
NEIGHBOUR = Bound(FILE.most, "bytes", "not read: the file {name} is larger than 4 MiB")

TIME = Bound(10, "seconds of the processor", "not read: it takes more than {most} seconds of the processor")
"""The last of all, and the only one that depends on the machine: only `servelint` on files stops for it."""

# -- of texts

YAML_DEPTH = Bound(500, "levels", "not read: the YAML is nested more than {most} levels deep")
YAML_NODES = Bound(100_000, "nodes", "not read: the YAML has more than {most} keys and values")
CLUSTER_NODES = Bound(1_000_000, "nodes", "not read: the objects that start engines have more than {most} keys and values")
YAML_MERGES = Bound(10_000, "merge keys", "not read further: more than {most} merge keys for one mapping")
VALUES = Bound(
    100_000, "values", "not read further: aliases make more than {most} values of this file beside those that it holds itself"
)
JSON_DEPTH = Bound(64, "levels", "not read: the JSON is nested more than {most} levels deep")
JSON_DIGITS = Bound(150, "digits", "not read: a number of more than {most} digits")
SCRIPT = Bound(1 << 18, "characters", "not read: a script of more than {most} characters; split it")

DEFAULTS = Bound(32, "levels", "not filled in: defaults of variables nested more than {most} levels deep")
PIECES = Bound(
    800_000, "pieces of text", "not read: to read it takes more than {most} pieces of text, a measure of work; split it"
)
"""For what no other bound stops: nearly all work on a file makes texts out of pieces."""

# -- of launches

WORDS = Bound(1_000, "words", "not judged: a launch of more than {most} words")
LAUNCHES = Bound(1_000, "launches", "not read further: more than {most} launches in one file; split it")
JSON_MANIFESTS = Bound(
    50, "manifests", "not read further: more than {most} manifests with an engine in one JSON file; split it"
)

# -- of the evaluation of scripts

STEPS = Bound(20_000, "steps", "not followed further: the script takes more than {most} steps; split it")
STEPS_OF_OTHERS = Bound(
    20_000, "steps", "not followed further: the scripts that this file runs take more than {most} steps together"
)
STEPS_SOURCED = Bound(6_000, "steps", "")
STEPS_OF_WORLDS = Bound(STEPS_OF_WALKS, "steps", "")
"""All runs together that decide the conditions of a file's scripts one way or the other."""
WORLDS = Bound(20, "ways to decide the conditions of a script", "")
WORLDS_OF_FILE = Bound(WALKS, "ways to decide the conditions of all scripts in one file", "")
ALTERNATIVES = Bound(12, "alternatives of one launch", "")
CALLS = Bound(12, "calls", "not followed further: functions call each other, or scripts source each other, {most} deep")
WRITTEN = Bound(12, "scripts", "not followed further: the script writes more than {most} scripts")
NESTED = Bound(1_000, "levels", "not followed further: nested about {most} levels deep")
"""What the interpreter's own stack holds; a level of a script takes several of it."""
SCRIPTS = Bound(6, "scripts", "not followed further: commands and scripts inside each other, {most} deep")
BATCH_STEPS = Bound(50_000, "steps", "not followed further: the batch file takes more than {most} steps; split it")
BATCH_CALLS = Bound(8, "calls", "not followed further: labels call each other {most} deep")

# -- of files that belong together

COMPOSE_DEPTH = Bound(20, "files", "not followed further: `extends` and `include` {most} deep")
COMPOSE_CIRCLE = Bound(1, "time", "not followed: `extends` comes back to the service that it started from")
COMPOSE_KEYS = Bound(1, "time", "Docker Compose refuses this file: a mapping has the same key twice")
COMPOSE_FILES = Bound(100, "files", "not followed further: a project of more than {most} files")
COMPOSE_PARTS = Bound(200, "parts", "not followed further: a service that more than {most} others are merged into")
COMPOSE_FIELDS = Bound(1_000_000, "fields", "not followed further: services that have more than {most} fields when merged")

# -- of single formats

KUBERNETES_OBJECTS = Bound(5_000, "objects", "not read further: more than {most} objects in one file; split it")
KUBERNETES_CONTAINERS = Bound(2_000, "containers", "not read further: more than {most} containers in one file; split it")
DOCKERFILE_DEPTH = Bound(8, "stages", "not followed further: stages build on each other {most} deep")
TASKS = Bound(5_000, "tasks", "not read further: more than {most} tasks in one file; split it")
NODES_SEARCHED = Bound(
    100_000, "nodes", "not read further: commands are looked for in {most} keys and values of a file, aliases counted each time"
)
SNIPPET = Bound(1 << 16, "characters", "not read: a code block of more than {most} characters")
TARGETS = Bound(8, "targets", "not read further: a rule of more than {most} targets")
NEEDED = Bound(32, "rules", "")

BOUNDS = {name: bound for name, bound in globals().items() if isinstance(bound, Bound)}
