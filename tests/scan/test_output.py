"""A scan that was killed goes on: every row once, however far it was."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from servelint.core.settings import Settings
from servelint.scan.job import FOLDER, Counts, Done, Job, Unit
from servelint.scan.output import File, OutputError

JOB = Job(Settings(), context="one")
UNITS = [Unit(f"r{number}", FOLDER, f"/r{number}") for number in range(5)]
DONE = [Done(f'{{"row":{number}}}\n'.encode() * number, Counts(repositories=1, error=number)) for number in range(5)]
WHOLE = b"".join([one.rows for one in DONE])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def scan(path: Path, units: int, job: Job = JOB, *, restart: bool = False) -> File:
    """Write what the first units give, as far as they are not done."""
    into = File(str(path), job, restart=restart)
    for unit, done in zip(UNITS[:units], DONE, strict=False):
        if not into.is_done(unit):
            into.add(unit, done)
    return into


def test_a_whole_scan_leaves_the_rows_alone(path: Path) -> None:
    scan(path, 5).finish()
    assert path.read_bytes() == WHOLE
    assert list(path.parent.iterdir()) == [path]


def test_another_scan_begins_anew(path: Path) -> None:
    path.write_text("something else, and longer than the rows that come\n" * 20)
    scan(path, 5).finish()
    assert path.read_bytes() == WHOLE


@pytest.mark.parametrize("units", range(6))
def test_it_goes_on(units: int, path: Path) -> None:
    scan(path, units).close()
    again = File(str(path), JOB)
    assert [again.is_done(unit) for unit in UNITS] == [number < units for number in range(5)]
    assert again.before == Counts(repositories=units, error=sum(range(units)))
    again.close()
    scan(path, 5).finish()
    assert path.read_bytes() == WHOLE


def test_wherever_the_kill_came(path: Path) -> None:
    """Both files as they may stand: each cut anywhere, but the journal never ahead of the rows."""
    scan(path, 4).close()
    rows, journal = path.read_bytes(), path.with_name("rows.jsonl.journal").read_bytes()
    ends = [0, *[json.loads(line)["end"] for line in journal.splitlines()[1:]]]
    for cut in range(len(journal) + 1):
        known = journal[:cut].count(b"\n") - 1
        behind = (b"", b'{"ro', rows[ends[max(known, 0)] :])
        at_end = journal[cut - 1 : cut] in (b"", b"\n")  # within a line all cuts are alike
        for extra in behind if at_end else [behind[cut % 3]]:
            path.write_bytes(rows[: ends[max(known, 0)]] + extra)
            path.with_name("rows.jsonl.journal").write_bytes(journal[:cut])
            scan(path, 5).finish()
            assert path.read_bytes() == WHOLE, (cut, extra)


def test_a_journal_that_is_ahead_of_its_rows(path: Path) -> None:
    """The system itself went down."""
    scan(path, 5).close()
    path.write_bytes(WHOLE[:20])
    scan(path, 5).finish()
    assert path.read_bytes() == WHOLE


def test_killed_again_and_again(path: Path) -> None:
    for units in (1, 3, 3, 4, 5):
        into = scan(path, units)
        into._file.write(b'{"half of a ')
        into.close()
    scan(path, 5).finish()
    assert path.read_bytes() == WHOLE


def test_other_settings_do_not_go_on(path: Path) -> None:
    scan(path, 2).close()
    other = JOB._replace(context="two")
    with pytest.raises(OutputError, match="with another servelint, other rules or other settings; add --restart"):
        File(str(path), other)
    scan(path, 5, other, restart=True).finish()
    assert path.read_bytes() == WHOLE


@pytest.mark.parametrize("journal", [b"hello\n", b"[]\n", b'{"context":"one"}\n{"done":1}\n', b'{"context":"one"}\nhello\n'])
def test_a_journal_of_something_else(journal: bytes, path: Path) -> None:
    path.with_name("rows.jsonl.journal").write_bytes(journal)
    with pytest.raises(OutputError, match="is not a journal of a scan; add --restart"):
        File(str(path), JOB)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such lock")
def test_one_scan_at_a_time(path: Path) -> None:
    program = (
        "import sys; from servelint.scan.output import File, OutputError; from servelint.scan.job import Job\n"
        "try: File(sys.argv[1], Job(None, context='one'), restart=len(sys.argv) > 2)\n"
        "except OutputError as error: print(error)"
    )
    first = scan(path, 2)
    for options in ([], ["restart"]):
        ran = subprocess.run([sys.executable, "-c", program, str(path), *options], capture_output=True, text=True, check=True)
        assert ran.stdout == f"{path} is written by another scan\n"
    first.close()
    scan(path, 5).finish()
    assert path.read_bytes() == WHOLE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_a_disk_that_is_full(path: Path) -> None:
    into = scan(path, 2)
    into._file.close()
    into._file = open("/dev/full", "ab", buffering=0)  # noqa: SIM115 - as the scan has it
    with pytest.raises(OutputError, match="cannot be written: No space left on device; run the same command to continue"):
        into.add(UNITS[2], DONE[2])
    into.close()
    scan(path, 5).finish()
    assert path.read_bytes() == WHOLE


def test_a_place_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written: No such file or directory"):
        File(str(tmp_path / "nowhere/rows.jsonl"), JOB)
    with pytest.raises(OutputError, match="cannot be written: Is a directory"):
        File(str(tmp_path), JOB)
