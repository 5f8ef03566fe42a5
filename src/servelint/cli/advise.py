"""servelint advise: should a launch speculate, how, and where does that turn round."""

from __future__ import annotations

import argparse
import json

from servelint.advise import benchmarks
from servelint.advise.profiles import Objective, UseCase
from servelint.advise.recommendation import recommend
from servelint.cli import files, options
from servelint.cli.told import tell
from servelint.core.numbers import is_whole
from servelint.speculation import calibration
from servelint.speculation.cases import ADVISED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.speculation.calibration import Calibration

_EPILOG = """servelint advise calibrate RESULT... makes measurements for --measurements
out of what vllm bench serve has saved."""


def run(args: list[str]) -> int:
    if args[:1] == ["calibrate"]:
        return _calibrate(args[1:])
    usage = parser()
    arguments = usage.parse_args(args)
    measured = _measured(arguments.measurements, usage)
    try:
        found = recommend(
            UseCase(arguments.use_case),
            Objective(arguments.objective),
            arguments.gpu,
            arguments.model,
            arguments.engine,
            gpu_count=arguments.gpu_count,
            release=arguments.release,
            concurrency=arguments.concurrency,
            acceptance=arguments.acceptance,
            method=arguments.method,
            draft=arguments.draft,
            tokens=arguments.tokens,
            max_model_len=arguments.max_model_len,
            max_num_seqs=arguments.max_num_seqs,
            measured=measured,
        )
    except ValueError as error:
        usage.error(str(error))
    if arguments.format == "json":
        from servelint.report.advise_json import advice_data
        from servelint.report.encode import encoded

        text = encoded(advice_data(found), indent=1) + "\n"
    elif arguments.format == "svg":
        from servelint.report.advise_svg import gain_svg

        if found.crossover is None:
            usage.error(f"{found.model} is not known here: there is no curve to draw")
        tokens = found.crossover.spec_tokens
        title = f"{found.model}, {found.gpu or 'any GPU'}: {tokens} drafted {'token' if tokens == 1 else 'tokens'}"
        text = gain_svg(found.crossover, title, found.crossover.near)
    else:
        from servelint.report.advise_text import advice_text

        text = advice_text(found)
    return _out(text, arguments.output, usage)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    usage = options.parser("advise", "Tell whether a launch should speculate, how, and at how many requests that turns round.")
    usage.epilog = _EPILOG
    usage.add_argument("--engine", choices=ADVISED, default=ADVISED[0], help="(default: %(default)s)")
    usage.add_argument("--model", required=True, help="the repository's name, or a folder")
    usage.add_argument("--gpu", help="such as h100 or gb10")
    usage.add_argument("--gpu-count", type=_count, default=1, metavar="N", help="how many, in tensor parallelism (default: 1)")
    usage.add_argument(
        "--use-case", choices=[one.value for one in UseCase], default="chat", help="who is served (default: chat)"
    )
    usage.add_argument("--objective", choices=[one.value for one in Objective], default="latency", help="(default: latency)")
    usage.add_argument("--concurrency", type=_count, metavar="N", help="requests at a time, in place of the use case's")
    usage.add_argument("--release", help="of the engine (default: the newest that is known)")
    usage.add_argument("--acceptance", type=_rate, metavar="RATE", help="the part of the drafts that was accepted, 0 to 1")
    usage.add_argument("--method", choices=("mtp", "eagle3", "dflash"), help="(default: mtp, the model's own layers)")
    usage.add_argument("--draft", metavar="MODEL", help="the draft model of eagle3 and dflash")
    usage.add_argument("--tokens", type=_count, metavar="N", help="how many to draft each step (default: the best)")
    usage.add_argument("--max-model-len", type=_count, metavar="N", help="for the command and its memory")
    usage.add_argument("--max-num-seqs", type=_count, metavar="N", help="for the command and its memory")
    usage.add_argument("--measurements", action="append", default=[], metavar="FILE", help="more measurements, of your own")
    usage.add_argument("--format", choices=("text", "json", "svg"), default="text", help="(default: text)")
    usage.add_argument("--output", metavar="FILE", help="where to write it (default: standard output)")
    return usage


def calibrate_parser() -> argparse.ArgumentParser:
    """The options of `servelint advise calibrate`."""
    usage = options.parser("advise calibrate", "Make measurements out of results of vllm bench serve, with and without drafts.")
    usage.add_argument("results", nargs="+", metavar="RESULT", help="what --save-result or --append-result wrote")
    usage.add_argument("--gpu", required=True, help="what it ran on, such as h100; 4x h100 for several")
    usage.add_argument("--engine", choices=ADVISED, default=ADVISED[0], help="(default: %(default)s)")
    usage.add_argument("--method", default="mtp", help="how it drafted (default: mtp)")
    usage.add_argument("--source", default="your own", help="where the results are published, if they are")
    usage.add_argument("--output", metavar="FILE", help="where to write it (default: standard output)")
    return usage


def _calibrate(args: list[str]) -> int:
    usage = calibrate_parser()
    arguments = usage.parse_args(args)
    found = [one for path in arguments.results for one in _results(path, usage)]
    try:
        made = benchmarks.pairs(found, arguments.engine, arguments.gpu, arguments.method, arguments.source)
        measurements = [calibration.Measurement(one) for one in made]
    except ValueError as error:
        usage.error(str(error))
    for one in measurements:
        case = one.case
        tell(f"servelint: {case.model}, {case.concurrency} at a time: {one.gain:.3f} times the tokens")
    from servelint.report.encode import encoded

    rows = ",\n".join(["  " + encoded(one) for one in made])
    return _out('{\n "measurements": [\n' + rows + "\n ]\n}\n", arguments.output, usage)


def _results(path: str, usage: argparse.ArgumentParser) -> list[dict[str, Any]]:
    try:
        return benchmarks.results(_read(path, usage))
    except benchmarks.Unusable as error:
        usage.error(f"{path}: {error}")


def _measured(paths: list[str], usage: argparse.ArgumentParser) -> Calibration | None:
    """The published measurements and those of some files; None for the published ones alone."""
    if not paths:
        return None
    own = [one for path in paths for one in _of_file(path, usage)]
    return calibration.Calibration((*calibration.published(), *own))


def _of_file(path: str, usage: argparse.ArgumentParser) -> list[calibration.Measurement]:
    try:
        data = json.loads(_read(path, usage))
        rows = data.get("measurements") if isinstance(data, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            usage.error(f"{path}: there is no list of measurements")
        return [calibration.Measurement(row) for row in rows]
    except ValueError as error:
        usage.error(f"{path}: {error}")


def _read(path: str, usage: argparse.ArgumentParser) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        usage.error(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}")


def _out(text: str, path: str | None, usage: argparse.ArgumentParser) -> int:
    if path is None:
        files.write_out(text)
        return 0
    problem = files.write(path, text.encode("utf-8", "backslashreplace"))
    if problem is not None:
        usage.error(f"{path}: {problem}")
    return 0


def _count(text: str) -> int:
    value = int(text) if is_whole(text) else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return value


def _rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no part between 0 and 1")
    return value
