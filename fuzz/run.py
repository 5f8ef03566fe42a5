"""The loop: cases of a seed, one after the other; what breaks a property is made small and kept."""

from __future__ import annotations

import gc
import json
import signal
import time
import traceback
from contextlib import contextmanager
from pathlib import Path

from fuzz.case import BrokenError, Case
from fuzz.chance import Seeded
from fuzz.counts import COUNTS
from fuzz.harnesses import harness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz.harnesses import Harness

SECONDS_AT_MOST = 2.0
"""Of one small case: what takes longer hangs."""

_TRIES_AT_MOST = 4_000
_KEPT_AT_MOST = 25
_OF_A_KIND = 8
"""How many failures of one kind are kept: they may have different causes."""

_EVERY = 2_000
_TOLD_EVERY = 100_000
_WARMING = 20


class Failure:
    """what: the property or the error, with the place in our code;  case: as small as it became;  told: the traceback"""

    __slots__ = ("case", "told", "what")

    def __init__(self, what: str, case: Case, told: str) -> None:
        self.what = what
        self.case = case
        self.told = told


class Ran:
    """executions: how many cases;  seconds: that they took, of the processor;  failures: some for each `what`"""

    __slots__ = ("executions", "failures", "seconds")

    def __init__(self) -> None:
        self.executions = 0
        self.seconds = 0.0
        self.failures: list[Failure] = []


class HangError(BaseException):
    """A case that does not come to its end."""


def _hanging(_number: int, _frame: object) -> None:
    raise HangError


signal.signal(signal.SIGVTALRM, _hanging)


def failing(one: Harness, case: Case) -> Failure | None:
    """How a case breaks a property; None if it does not."""
    began = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS_AT_MOST * 2)
    try:
        one.check(case)
    except HangError as error:
        return Failure("it hangs" + _place(error), case, "".join(traceback.format_exception(error)))
    except RecursionError as error:
        return Failure("RecursionError", case, repr(error))
    except Exception as error:
        return Failure(_what(error), case, "".join(traceback.format_exception(error)))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    taken = time.process_time() - began
    if taken > SECONDS_AT_MOST:
        return Failure("it takes too long", case, f"{taken:.1f} s")
    return None


def _what(error: Exception) -> str:
    if isinstance(error, BrokenError):
        return error.what
    return type(error).__name__ + _place(error)


def _place(error: BaseException) -> str:
    """The innermost of our functions in which an error was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "servelint" in frame.filename]
    return f" in {Path(frames[-1].filename).name}:{frames[-1].name}" if frames else ""


def smaller(one: Harness, failure: Failure) -> Failure:
    """A case that breaks the same, without the lines and characters that have no part in it."""
    tries = 0
    best = failure
    size = max(1, len(best.case.text) // 2)
    while size and tries < _TRIES_AT_MOST:
        at, shrunk = 0, False
        while at < len(best.case.text) and tries < _TRIES_AT_MOST:
            text = best.case.text
            tries += 1
            found = failing(one, best.case.with_text(text[:at] + text[at + size :]))
            if found is not None and found.what == failure.what:
                best, shrunk = found, True
            else:
                at += size
        if not shrunk or size > 1:
            size //= 2
    return best


def _print(told: str) -> None:
    print(told, flush=True)


def loop(
    name: str,
    executions: int,
    seed: int,
    *,
    seconds: float | None = None,
    keep: Path | None = None,
    say: Callable[[str], None] = _print,
    small: bool = True,
) -> Ran:
    """Run so many cases of a harness, those that a seed gives. keep: a folder for what fails"""
    one = harness(name)
    ran = Ran()
    known: dict[str, int] = {}
    for number in range(_WARMING):
        failing(one, one.make(Seeded((seed << 40) - 1 - number)))  # loads what the first of all would be blamed for
    COUNTS.clear()
    with _settled():
        began = time.process_time()
        while ran.executions < executions and (seconds is None or time.process_time() - began < seconds):
            number = ran.executions
            ran.executions += 1
            case = one.make(Seeded((seed << 40) + number))
            failure = failing(one, case)
            if failure is not None:
                COUNTS["failures"] += 1
            if failure is not None and known.get(failure.what, 0) < _OF_A_KIND and len(ran.failures) < _KEPT_AT_MOST:
                known[failure.what] = known.get(failure.what, 0) + 1
                # a text that the grammar made whole is none any more when a part is missing
                least = smaller(one, failure) if small and not case.whole else failure
                if all((one.what, one.case.text) != (least.what, least.case.text) for one in ran.failures):
                    ran.failures.append(least)
                    say(f"{name}: execution {number} of seed {seed}: {least.what}\n  {least.case!r}\n{least.told}")
                    if keep is not None:
                        store(keep, name, least)
            if ran.executions % _EVERY == 0:
                gc.collect()
            if ran.executions % _TOLD_EVERY == 0:
                say(f"{name}: {ran.executions} executions of seed {seed}, {len(known)} kinds of failures")
        ran.seconds = time.process_time() - began
    return ran


@contextmanager
def _settled() -> Iterator[None]:
    """With the garbage collector at work only now and then, and not at what has been loaded, which never goes away."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def store(folder: Path, name: str, failure: Failure) -> Path:
    """Keep a case as JSON, which `--replay` takes."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = "".join([char if char.isalnum() else "-" for char in failure.what])[:60]
    path = folder / f"{name}-{shown}.json"
    others = 1
    while path.exists():
        others += 1
        path = folder / f"{name}-{shown}-{others}.json"
    case = failure.case
    data = {"harness": name, "what": failure.what, "name": case.name, "turn": case.turn, "whole": case.whole, "text": case.text}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return path


def stored(path: Path) -> tuple[str, Case]:
    """(harness, case) of a file that `store` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return data["harness"], Case(data["name"], data["text"], data["turn"], whole=data["whole"])
