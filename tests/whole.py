"""Everything that servelint makes of a text, for tests that compare all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from servelint.core.finding import Finding
from servelint.core.launch import Launch, Word
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import ENGINES
from servelint.files.siblings import Neighbours
from servelint.judge.judging import judge
from servelint.readers import read
from servelint.rules.load import rules
from servelint.rules.rule import Rule

Made = Callable[[str, str], Iterator[str]]
"""What makes the lines of a text, of the head of its block and of the text."""


def launch_lines(head: str, text: str) -> Iterator[str]:
    """The launches of a text; with a head `NAME ENGINE=RELEASE` the findings of the rules in rules/catalog/, too."""
    name, *versions = head.split()
    return _whole(name, text, {one.partition("=")[0]: one.partition("=")[2] for one in versions})


def compare(path: Path, made: Made = launch_lines) -> None:
    """Compare each text of a file with what is written below it.

    A text begins at a line `=== HEAD`, and what servelint makes of it at a line `---`.
    `python -m tests.whole FILE` writes it anew, and `python -m tests.memory.whole FILE` that of plans: read the diff.
    """
    written = path.read_text(encoding="utf-8")
    assert written == renewed(written, made)


def renewed(written: str, made: Made) -> str:
    """The texts of a file with what is made of them now."""
    blocks: list[str] = []
    for block in written.split("=== ")[1:]:
        head, _, rest = block.partition("\n")
        text = rest.partition("\n---\n")[0] + "\n"
        blocks.append(f"=== {head}\n{text}---\n" + "".join([line + "\n" for line in made(head, text)]))
    return "\n".join(blocks)


def main(paths: list[str], made: Made) -> None:
    """Write files anew."""
    for path in map(Path, paths):
        path.write_text(renewed(path.read_text(encoding="utf-8"), made), encoding="utf-8")


@lru_cache(maxsize=1)
def _of_catalogs() -> dict[str, list[Rule]]:
    book = [rule for rule in rules() if rule.complaint is not None and rule.engine != "any"]
    return {engine: [rule for rule in book if rule.engine == engine] for engine in ENGINES}


def _whole(name: str, text: str, versions: dict[str, str]) -> Iterator[str]:
    found = read(Source(name, text), Neighbours(None))
    yield from [f"! {one.message}" for one in found.problems]
    for launch in found.launches:
        yield from _of_launch(launch)
        settings = Settings(profile="strict", engine_versions=versions)
        for finding in judge(launch, settings, _of_catalogs()[launch.engine]) if versions else ():
            yield from finding_lines(finding)


def _place(span: Span | None) -> str:
    if span is None:
        return "nowhere"
    line, column = span.source.position(span.start)
    return f"{line}:{column}+{span.end - span.start}"


_MORE = ("gpu", "gpu_count", "gpu_site", "folder", "models", "unsure", "secrets", "elsewhere", "beside", "meanwhile", "nodes")
"""What only some launches have."""


def _shown(value: object) -> str:
    """A value of a launch, and what it is made of: what is not known, empty or False is left out."""
    if value is None or isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, TracedText):
        return value.shown + "~" * value.assumed
    if isinstance(value, Span):
        return _place(value)
    if isinstance(value, Launch):
        return f"the launch at {_place(value.site)}"
    if isinstance(value, Mapping):
        return ", ".join([f"{name}: {_shown(one)}" for name, one in value.items()])
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join([_shown(one) for one in value]) + "]"
    names = getattr(value, "__dict__", None) or [
        name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())
    ]
    fields = {name: getattr(value, name) for name in names}
    shown = " ".join([f"{name}={_shown(one)}" for name, one in fields.items() if one or (one == 0 and one is not False)])
    return f"({shown})"


def _word(word: Word) -> str:
    plain = word.text.span()
    written = "" if plain is not None and plain.text == word.shown else f"@{_place(plain)}"
    return f"[{word.shown}]{'*' * word.many}{'~' * word.text.assumed}{written}"


def _of_launch(launch: Launch) -> Iterator[str]:
    flags = [one for one in ("fragment", "open_env") if getattr(launch, one)]
    flags += [f"not {one}" for one in ("likely", "started") if not getattr(launch, one)]
    claim = launch.release
    release = [f"{claim.release} by {claim.how} at {_place(claim.span)}"] if claim.release or claim.how else []
    yield " ".join(["*", launch.engine, launch.name, launch.launcher, _place(launch.site), *flags, *release])
    yield "  " + " ".join([_word(word) for word in (*launch.verb, *launch.argv)])
    for name, variable in launch.env.items():
        shown = variable.value.shown if variable.value is not None else None
        assumed = "~" if variable.value is not None and variable.value.assumed else ""
        yield f"  env {name}={shown}{assumed} at {_place(variable.site)}"
    container = launch.container
    if container is not None:
        settings = [f"{name}={text.shown}" for name, text in container.settings.items()]
        image = container.image.shown if container.image is not None else ""
        yield " ".join(["  image", image, f"gpus={container.gpus} visible={container.visible_gpus}", *settings])
        flags = [name for name in ("reserved", "open") if getattr(container, name)]
        yield from ["    " + " ".join([*flags, _shown(container.runtime)])] if flags or container.runtime is not None else []
    for name in _MORE:
        value = getattr(launch, name)
        yield from [f"  {name} {_shown(value)}"] if value or value == 0 else []
    yield from [f"  mishap {one.kind} {_place(one.span)} {one.shown} {one.other}" for one in launch.mishaps]
    yield from [f"  cut {_place(launch.cut)}"] if launch.cut is not None else []
    for other in launch.alternatives:
        branches = [f"{'' if one.taken else 'not '}{_place(one.span)}" for one in other.branches]
        yield f"  or {' '.join([word.shown for word in other.argv])} if {' and '.join(branches)}"


def finding_lines(finding: Finding) -> Iterator[str]:
    """All that a finding says."""
    yield f"  {finding.severity} {finding.rule} {finding.impact} {_place(finding.span)} ({finding.label})"
    yield f"    {finding.message}; {finding.advice}"
    yield from [f"    {_place(one.span)}: {one.message}" for one in finding.related]
    if finding.assumption:
        yield f"    if {finding.assumption}"
    if finding.fix is not None:
        edits = [f"{_place(edit.span)} -> {edit.text!r}" for edit in finding.fix.edits]
        yield f"    {'fix' if finding.fix.safe else 'unsafe fix'} ({finding.fix.title}) {', '.join(edits)}"


if __name__ == "__main__":
    import sys

    main(sys.argv[1:], launch_lines)
