"""The harnesses led by coverage: atheris changes the bytes that the choices are made of, and keeps what leads further."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

from fuzz.counts import COUNTS

_BYTES_AT_MOST = 384
_SEEDS = 300


def main(name: str, executions: int, seed: int, keep: Path) -> int:
    """Run so many executions of a harness. What fails is kept; the engine goes on."""
    with atheris.instrument_imports(include=["servelint"]):
        from fuzz import run
        from fuzz.chance import Drawn
        from fuzz.harnesses import harness

        one = harness(name)
        _warm(name)
    known: set[str] = set()
    done = 0

    def execute(data: bytes) -> None:
        nonlocal done
        done += 1
        failure = run.failing(one, one.make(Drawn(data)))
        if failure is not None:
            COUNTS["failures"] += 1
        if failure is not None and failure.what not in known:
            known.add(failure.what)
            print(f"{name}: {failure.what}\n  {failure.case!r}\n{failure.told}", flush=True)
            run.store(keep, name, failure)
        if done == executions:
            print(f"{name}: {done} executions led by coverage; {COUNTS.pop('failures', 0)} failures of {len(known)} kinds")
            print("  " + ", ".join([f"{what}: {count}" for what, count in sorted(COUNTS.items())]), flush=True)

    with tempfile.TemporaryDirectory() as corpus:
        _first(Path(corpus), seed)
        options = [f"-runs={executions}", f"-seed={seed}", f"-max_len={_BYTES_AT_MOST}", "-print_final_stats=1", corpus]
        atheris.Setup([sys.argv[0], *options], execute)
        atheris.Fuzz()
    return 1 if known else 0


def _warm(name: str) -> None:
    """Import what the harness needs while imports are instrumented: servelint imports most of itself when it is asked for."""
    from fuzz import run

    run.loop(name, 400, 0, small=False, say=lambda _: None)
    COUNTS.clear()


def _first(folder: Path, seed: int) -> None:
    """Bytes to start from: choices at random."""
    import random

    chance = random.Random(seed)
    for number in range(_SEEDS):
        (folder / f"{number:03}").write_bytes(chance.randbytes(32 + chance.randrange(_BYTES_AT_MOST - 32)))
