"""Hostile input: real files as they are, and thousands of mutations of them, through the checker in one process.

    python benchmarks/hostile.py FOLDER... [--mutations 5000] [--seed 1] [--save FOLDER]

Every file goes through `servelint.lint.check`, as one that a folder holds. Counted are exceptions (which the checker reports
as its own fault), the processor time of each file and the peak memory of the process. It ends with 1 if there was an exception,
a file that took a second, or a peak above 150 MB.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

SECONDS, MEGABYTES = 1.0, 150
_CONTROL = bytes(range(1, 32)) + b"\x7f\xc2\x85\xe2\x80\xa8\xe2\x80\xae\xef\xbb\xbf"
_NUMBERS = (b"1e400", b"-0", b"9" * 400, b"9" * 5000, b"0x" + b"f" * 300, b"1_000", b"\xc2\xb2", b"-1e-400", b"nan", b"1.5e99")
_NESTED = (b"[", b"{", b"{a: ", b"(", b"$(", b"${A:-", b"- ", b"'", b'"', b"`", b"{{ ", b"{% if a %}", b"> ", b"if true; then ")
_UNKNOWN = (b"$X", b"${X}", b"$(x)", b"{{ x }}", b"${{ x }}", b"%X%", b"<x>", b"$(X)", b"%(x)s", b"@X@")

Mutation = Callable[[bytes, random.Random], bytes]


def _place(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 20)):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def delete(data: bytes, chance: random.Random) -> bytes:
    low = _place(data, chance)
    return data[:low] + data[low + chance.randint(1, 400) :]


def repeat(data: bytes, chance: random.Random) -> bytes:
    low = _place(data, chance)
    block = data[low : low + chance.randint(1, 2000)]
    return data[:low] + block * chance.choice((2, 3, 10, 50)) + data[low:]


def swap(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    for _ in range(chance.randint(1, 5)):
        if len(lines) > 1:
            one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[one], lines[two] = lines[two], lines[one]
    return b"".join(lines)


def truncate(data: bytes, chance: random.Random) -> bytes:
    return data[: _place(data, chance)]


def unknown(data: bytes, chance: random.Random) -> bytes:
    words = data.split(b" ")
    for _ in range(chance.randint(1, 8)):
        words[chance.randrange(len(words))] = chance.choice(_UNKNOWN)
    return b" ".join(words)


def nest(data: bytes, chance: random.Random) -> bytes:
    low = _place(data, chance)
    return data[:low] + chance.choice(_NESTED) * chance.choice((3, 60, 600, 20_000)) + data[low:]


def control(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 10)):
        low = _place(data, chance)
        at = chance.randrange(len(_CONTROL))
        data = data[:low] + _CONTROL[at : at + 3] + data[low:]
    return data


def number(data: bytes, chance: random.Random) -> bytes:
    digits = [at for at in range(len(data)) if data[at : at + 1].isdigit()]
    for _ in range(min(len(digits), chance.randint(1, 5))):
        at = chance.choice(digits)
        data = data[:at] + chance.choice(_NUMBERS) + data[at + 1 :]
        digits = [one for one in digits if one < at]
        if not digits:
            break
    return data


def returns(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\n\n", b"\xe2\x80\xa8", b"\\\n")))


def zero(data: bytes, chance: random.Random) -> bytes:
    low = _place(data, chance)
    return data[:low] + b"\0" * chance.randint(1, 3) + data[low:]


MUTATIONS: tuple[Mutation, ...] = (
    flip, delete, repeat, swap, truncate, unknown, nest, control, number, returns, zero
)  # fmt: skip


class Counted:
    """What came of the files that were checked."""

    def __init__(self) -> None:
        self.files = self.launches = self.findings = self.read = 0
        self.errors: Counter[str] = Counter()
        self.faults: list[str] = []
        self.times: list[tuple[float, str]] = []

    def check(self, path: str, label: str) -> bool:
        """Check a file; gives whether the checker failed on it."""
        from servelint.lint import check

        start = time.process_time()
        try:
            report = check([path])
        except Exception as error:
            self.faults.append(f"{label}: {type(error).__name__}: {error}")
            return True
        self.times.append((time.process_time() - start, label))
        self.files += 1
        self.read += bool(report.sources)
        self.launches += len(report.launches)
        self.findings += len(report.findings)
        for problem in report.errors:
            self.errors[problem.message.partition(":")[0]] += 1
            if problem.own:
                self.faults.append(f"{label}: {problem.message}")
        return any(problem.own for problem in report.errors)


def main() -> int:
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("folders", nargs="+", metavar="FOLDER")
    usage.add_argument("--mutations", type=int, default=5000)
    usage.add_argument("--seed", type=int, default=1)
    usage.add_argument("--save", metavar="FOLDER", help="write the mutations on which the checker failed there")
    arguments = usage.parse_args()
    chance = random.Random(arguments.seed)
    found = sorted(str(path) for folder in arguments.folders for path in Path(folder).rglob("*") if path.is_file())
    whole, mutated = Counted(), Counted()
    for path in found:
        whole.check(path, path)
    with tempfile.TemporaryDirectory() as folder:
        for count in range(arguments.mutations):
            path = chance.choice(found)
            mutations = chance.sample(MUTATIONS, chance.choice((1, 1, 2, 3)))
            data = Path(path).read_bytes()
            for mutation in mutations:
                data = mutation(data, chance)
            mutation_path = os.path.join(folder, os.path.basename(path))
            Path(mutation_path).write_bytes(data)
            label = f"{count} ({'+'.join([mutation.__name__ for mutation in mutations])}) {path}"
            if mutated.check(mutation_path, label) and arguments.save:
                Path(arguments.save).mkdir(exist_ok=True)
                (Path(arguments.save) / f"{count}-{os.path.basename(path)}").write_bytes(data)
            os.unlink(mutation_path)
    return _told((("files", whole), ("mutations", mutated)))


def _told(parts: tuple[tuple[str, Counted], ...]) -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    slow = 0
    for name, part in parts:
        times = sorted(part.times, reverse=True)
        slow += sum(seconds > SECONDS for seconds, _ in times)
        print(f"{name}: {part.files}, of which {part.read} were read; {part.launches} launches, {part.findings} findings")
        print(f"  exceptions: {len(part.faults)}; errors: {dict(part.errors.most_common())}")
        if times:
            median = times[len(times) // 2][0]
            above = sum(seconds > SECONDS for seconds, _ in times)
            print(f"  processor time: median {median * 1000:.1f} ms, most {times[0][0]:.2f} s, above {SECONDS:.0f} s: {above}")
        for seconds, label in times[:5]:
            print(f"    {seconds:.2f} s  {label}")
        for fault in part.faults[:20]:
            print(f"    FAULT {fault}")
    print(f"peak memory: {peak:.0f} MB")
    return int(any(part.faults for _, part in parts) or slow > 0 or peak > MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
