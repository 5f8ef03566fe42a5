"""`servelint advise`: whether a launch should use speculative decoding, how, and up to what concurrency it pays off."""

from __future__ import annotations

import json

from servelint.advise import benchmarks
from servelint.advise.recommendation import Objective, UseCase, recommend
from servelint.cli import options
from servelint.cli.command import Options, argument, command, fail, option, whole_number
from servelint.cli.output import plural, print_stderr, write_text
from servelint.engines import ENGINE_NAMES
from servelint.engines.releases import unlisted_note
from servelint.speculation import gains
from servelint.speculation.cases import ADVISED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")


def _rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ValueError(f'"{text}" is not a number from 0 to 1')
    return value


def _advised(engine: str) -> str:
    if engine not in ADVISED:
        listed = ", ".join(ADVISED)
        raise ValueError(
            f"servelint knows no measurements of speculative decoding in {ENGINE_NAMES[engine]}: advice is for {listed}"
        )
    return engine


def _engine_option() -> Any:
    shown, text = f"{{{','.join(ADVISED)}}}", f"engine (default: {ADVISED[0]})"
    return option("--engine", metavar=shown, choices=tuple(ENGINE_NAMES), default=ADVISED[0], read=_advised, help=text)


class Serving(Options, title="model and hardware"):
    """What is served, and on what."""

    model: str = option("--model", needed=True, help="repository name of the model, or a folder")
    engine: str = _engine_option()
    release: str | None = option("--release", help="release of the engine (default: the newest that is known)")
    gpu: str | None = option("--gpu", help="GPU, such as h100 or gb10")
    gpu_count: int = option(
        "--gpu-count", metavar="N", default="1", read=whole_number, help="number of GPUs, in tensor parallelism (default: 1)"
    )


class Load(Options, title="load"):
    """How the server is used."""

    use_case: str = option(
        "--use-case", choices=tuple(one.value for one in UseCase), default="chat", help="kind of load (default: chat)"
    )
    objective: str = option(
        "--objective",
        choices=tuple(one.value for one in Objective),
        default="latency",
        help="time of one answer, or tokens of the server (default: latency)",
    )
    concurrency: int | None = option(
        "--concurrency", metavar="N", read=whole_number, help="concurrent requests, instead of those of the use case"
    )


class Drafting(Options, title="speculative decoding"):
    """How tokens are drafted."""

    method: str | None = option(
        "--method", choices=("mtp", "eagle3", "dflash"), help="speculative method (default: mtp, the model's own layers)"
    )
    draft: str | None = option("--draft", metavar="MODEL", help="draft model of eagle3 and dflash")
    tokens: int | None = option(
        "--tokens", metavar="N", read=whole_number, help="draft tokens of each step (default: the best number)"
    )
    acceptance: float | None = option(
        "--acceptance", metavar="RATE", read=_rate, help="measured acceptance rate of draft tokens, 0 to 1"
    )
    measurements: tuple[str, ...] = option("--measurements", metavar="FILE", many=True, help="add your own measurements")


class Launching(Options, title="command"):
    """Options of the command that is printed."""

    max_model_len: int | None = option(
        "--max-model-len", metavar="N", read=whole_number, help="context length of the printed command"
    )
    max_num_seqs: int | None = option(
        "--max-num-seqs", metavar="N", read=whole_number, help="concurrent sequences of the printed command"
    )


def _output_option() -> Any:
    return option("--output", metavar="FILE", help="write to FILE (default: standard output)")


class OutputOptions(Options, title="output"):
    """How the advice is printed."""

    format: str = options.format_option("text", "json", "svg")
    output: str | None = _output_option()


class Measuring(Options, title="measurements"):
    """What was measured."""

    results: tuple[str, ...] = argument("RESULT", "a file that --save-result or --append-result wrote", many=True, needed=True)
    gpu: str = option("--gpu", needed=True, help="GPU of the runs, such as h100, or 4x h100 for several")
    engine: str = _engine_option()
    method: str = option("--method", default="mtp", help="speculative method of the runs (default: mtp)")
    source: str = option("--source", default="your own", help="where the results are published, if they are")
    output: str | None = _output_option()


@command(
    "calibrate",
    Measuring,
    about="Turn results of vllm bench serve, with and without drafts, into a file for --measurements.",
    examples=["servelint advise calibrate off.json on.json --gpu h100 --output mine.json"],
)
def _calibrate(measuring: Measuring) -> int:
    found = [one for path in measuring.results for one in _read(path, benchmarks.results)]
    try:
        made = benchmarks.pairs(found, measuring.engine, measuring.gpu, measuring.method, measuring.source)
        measurements = [gains.Measurement(one) for one in made]
    except ValueError as error:
        fail(str(error))
    for one in measurements:
        case = one.case
        print_stderr(f"servelint: {case.model}, {case.concurrency} at a time: {one.gain:.3f} times the tokens")
    from servelint.report.clean import encoded

    rows = ",\n".join(["  " + encoded(one) for one in made])
    return _write('{\n "measurements": [\n' + rows + "\n ]\n}\n", measuring.output)


@command(
    "advise",
    *(Serving, Load, Drafting, Launching, OutputOptions),
    about="Recommend whether and how to use speculative decoding, and up to what concurrency it pays off.",
    usage=["servelint advise [options] --model MODEL", "servelint advise calibrate [options] --gpu GPU RESULT..."],
    subcommands={"calibrate": (_calibrate, "make measurements for --measurements from results of vllm bench serve")},
    examples=[
        "servelint advise --model Qwen/Qwen3.6-27B-FP8 --gpu h100 --use-case single-user",
        "servelint advise --model Qwen/Qwen3.6-27B-FP8 --gpu h100 --format svg --output gain.svg",
    ],
)
def run(serving: Serving, load: Load, drafting: Drafting, launching: Launching, writing: OutputOptions) -> int:
    """Print the recommendation."""
    own = [one for path in drafting.measurements for one in _read(path, _measurements)]
    try:
        found = recommend(
            UseCase(load.use_case),
            Objective(load.objective),
            serving.gpu,
            serving.model,
            serving.engine,
            gpu_count=serving.gpu_count,
            release=serving.release,
            concurrency=load.concurrency,
            acceptance=drafting.acceptance,
            method=drafting.method,
            draft=drafting.draft,
            tokens=drafting.tokens,
            max_model_len=launching.max_model_len,
            max_num_seqs=launching.max_num_seqs,
            measured=gains.Calibration((*gains.published(), *own)) if own else None,
        )
    except ValueError as error:
        fail(str(error))
    if serving.release is not None and (note := unlisted_note(serving.engine, found.release)):
        print_stderr(f"servelint: {note}")
    if writing.format == "json":
        from servelint.report.advice import advice_data
        from servelint.report.clean import encoded

        text = encoded(advice_data(found), indent=1) + "\n"
    elif writing.format == "svg":
        from servelint.report.advice import gain_svg

        if found.crossover is None:
            fail(f"{found.model} is not a known model: there is no curve to draw")
        tokens = found.crossover.spec_tokens
        title = f"{found.model}, {found.gpu or 'any GPU'}: {tokens} draft {plural(tokens, 'token')}"
        text = gain_svg(found.crossover, title, found.crossover.near)
    else:
        from servelint.report.advice import advice_text

        text = advice_text(found)
    return _write(text, writing.output)


def _measurements(text: str) -> list[gains.Measurement]:
    """Return the measurements in the text of a file. Raises ValueError."""
    data = json.loads(text)
    rows = data.get("measurements") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("there is no list of measurements")
    return [gains.Measurement(row) for row in rows]


def _read(path: str, parse: Callable[[str], list[T]]) -> list[T]:
    """Return what a function makes of the text of a file. Raises UsageError if the file or its text cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}")
    try:
        return parse(text)
    except ValueError as error:
        fail(f"{path}: {error}")


def _write(text: str, path: str | None) -> int:
    if (problem := write_text(text, path)) is not None:
        fail(f"{path}: {problem}")
    return 0
