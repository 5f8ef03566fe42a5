"""What a scan costs: processor time for each repository, name, file, kilobyte and launch, by the way they are stored.

    python benchmarks/scan_costs.py [ROUNDS]

Repositories that differ in one thing are scanned in this process, and the least time of some rounds counts, that of the git
processes among it. docs/costs.md uses these figures.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile

import scan as generated
from servelint.core.settings import Settings
from servelint.scan import job, repository
from servelint.scan.job import FOLDER, GIT, TAR, Unit

FILES = 2_000
LAUNCHES = 200
PROSE = "queue worker cache token batch stream\n"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    asking = job.create(Settings())
    chosen = random.Random(20)
    with tempfile.TemporaryDirectory() as scratch:
        small = PROSE * 10
        made = {
            "empty": {"a.py": ""},
            "names": {f"src/{number % 50}/module_{number}.py": "" for number in range(FILES)},
            "files": {f"docs/{number % 50}/page_{number}.md": f"{number}\n{small}" for number in range(FILES)},
            "kilobytes": {f"docs/{number % 50}/page_{number}.md": f"{number}\n{small * 40}" for number in range(FILES)},
            "launches": {f"deploy/{number}/{_name(number)}": _launch(chosen, number) for number in range(LAUNCHES)},
        }
        stored = {name: _stored(os.path.join(scratch, name), files) for name, files in made.items()}
        sizes = {name: sum(map(len, files.values())) / 1000 for name, files in made.items()}
        for kind in (FOLDER, GIT, TAR):
            least = {name: min(_cost(units[kind], asking) for _ in range(rounds)) for name, units in stored.items()}
            name = (least["names"] - least["empty"]) / FILES * 1e6
            file = (least["files"] - least["names"]) / FILES * 1e6
            kilobyte = (least["kilobytes"] - least["files"]) / (sizes["kilobytes"] - sizes["files"]) * 1e6
            launch = (least["launches"] - least["empty"]) / LAUNCHES * 1e3
            print(
                f"{kind:<7} repository {least['empty'] * 1e3:5.2f} ms   name {name:5.1f} us   looked at +{file:5.1f} us"
                f"   kilobyte {kilobyte:5.2f} us   launch {launch:5.2f} ms"
            )
        cached = asking._replace(cache=os.path.join(scratch, "cache"))
        unit = stored["files"][FOLDER]
        subprocess.run(["find", unit.place, "-exec", "touch", "-d", "2020-01-01", "{}", "+"], check=True)
        repository.scan(unit, cached)
        # changed just now, as far as their inodes tell: the times are to be relied on after two seconds
        while not repository.scan(unit, cached).counts.reused:
            pass
        least_known = min(_cost(unit, cached, forget=False) for _ in range(rounds))
        print(f"folder that is known: file {least_known / FILES * 1e6:.1f} us")


def _name(number: int) -> str:
    return generated.LAUNCHES[number % 4][0].format(number=number).rpartition("/")[2]


def _launch(chosen: random.Random, number: int) -> str:
    return generated._launch(chosen, generated.LAUNCHES[number % 4][1]) + f"\n# {number}\n"


def _stored(folder: str, files: dict[str, str]) -> dict[str, Unit]:
    for path, text in files.items():
        full = os.path.join(folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "somebody"),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "somebody@example.org"),
    }
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "files"], ["repack", "-adq"]):
        subprocess.run(["git", "-C", folder, *words], check=True, env=environment)
    subprocess.run(["git", "-C", folder, "archive", "-o", f"{folder}.tar.gz", "HEAD"], check=True, env=environment)
    return {
        FOLDER: Unit("one", FOLDER, folder),
        GIT: Unit("one", GIT, os.path.join(folder, ".git"), "HEAD"),
        TAR: Unit("one", TAR, f"{folder}.tar.gz"),
    }


def _cost(unit: Unit, asking: job.Job, *, forget: bool = True) -> float:
    """Seconds of the processors, those of git among them, with nothing in memory of earlier rounds."""
    if forget and asking.cache is None and repository._CACHES:
        cache = repository._cache(asking)
        cache.silent.clear()
        cache._known.clear()
    before = _used()
    repository.scan(unit, asking)
    return _used() - before


def _used() -> float:
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


if __name__ == "__main__":
    main()
