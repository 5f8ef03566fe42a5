"""What each word of the readers' tables does to the command behind it.

word_tables.txt has a command with a gap, the words for the gap, and the launches that each makes. `python -m
tests.readers.test_word_tables` writes what follows `---` anew: read the diff.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from servelint.core.launch import Launch
from tests.launching import launches_in
from tests.whole import compare, main

PATH = Path(__file__).with_name("word_tables.txt")


def _shown(launch: Launch) -> str:
    flags = [name for name in ("open_env", "fragment") if getattr(launch, name)]
    flags += [f"not {name}" for name in ("likely", "started") if not getattr(launch, name)]
    words = [word.shown for word in (*launch.verb, *launch.argv)]
    image = launch.container.image if launch.container is not None else None
    return " ".join([*flags, *words, *([f"in {image.shown}"] if image is not None else [])])


def _lines(command: str, words: str) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for word in words.split():
        shown = "; ".join([_shown(one) for one in launches_in(command.replace("{}", word), "run.sh")])
        found.setdefault(shown, []).append(word)
    yield from [f"{shown or 'nothing'}: {' '.join(same)}" for shown, same in found.items()]


def test_words() -> None:
    compare(PATH, _lines)


if __name__ == "__main__":
    main([str(PATH)], _lines)
