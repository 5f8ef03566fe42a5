"""What-if plans: a launch with one thing changed, and the largest or smallest value that fits."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

from servelint.core.launch import Word
from servelint.core.text import TracedText
from servelint.engines import ENGINES
from servelint.engines.config import Config, configs
from servelint.memory import plan_of, plan_over
from servelint.memory.plan import FITS, MemoryPlan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

Planning: TypeAlias = "Callable[[list[Config]], MemoryPlan]"
"""Plans a launch that is given under each release that it may run on: `plan_over`, or what also asks the rules."""

COMMON_GPUS = ("rtx-4090", "rtx-5090", "l40s", "a100-80gb", "h100-80gb", "h200", "rtx-pro-6000", "b200", "gb10")
"""GPUs that a launch without a GPU is planned for."""
_LONGEST = 1 << 24
MOST_SEQUENCES = 4096
"""The largest number of sequences that is tried."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One change of a launch: its name for a reader, and the plan with it."""

    name: str
    plan: MemoryPlan


def changed(config: Config, option: str, value: str) -> Config:
    """The launch under the same release with an option (without its dashes) added, which overrides an earlier one."""
    return _again(config, [*config.launch.argv, Word(TracedText.of(f"--{option}"), None), Word(TracedText.of(value), None)])


def without_speculation(config: Config) -> Config | None:
    """The launch under the same release without speculative decoding, None if it has none."""
    names = ENGINES[config.launch.engine].speculation_options
    words: list[Word] = []
    for name, setting in config.reading.arguments.settings.items():
        if name.startswith(names):
            words += [setting.word, *setting.values]
    if not words:
        return None
    dropped = {id(word) for word in words}
    return _again(config, [word for word in config.launch.argv if id(word) not in dropped])


def on_gpu(config: Config, gpu: str) -> Config:
    """The launch under the same release on another GPU."""
    return _again(config, config.launch.argv, gpu)


def _again(config: Config, argv: list[Word], gpu: str | None = None) -> Config:
    launch = copy(config.launch)
    launch.argv = argv
    if gpu is not None:
        launch.gpu, launch.gpu_site, launch.container = gpu, None, None
    (found,) = configs(launch, [config.release] if config.release is not None else [])
    return found


def what_ifs(launches: list[Config], plan: MemoryPlan, planned: Planning) -> list[WhatIf]:
    """Plan other contexts, sequences and KV dtypes, no drafts and twice as many GPUs, one change at a time.

    `launches` are the launch under each release that it may run on, the newest last, and `plan` is its plan. Only changes that
    make a difference are returned.
    """
    config = launches[-1]
    engine = ENGINES[config.launch.engine]
    length = plan.max_model_len or 0
    values = [(engine.context_option, str(one)) for one in (length // 2, length * 2) if one]
    values += [(engine.requests_option, str(count)) for count in (16, 64, 256)]
    if engine.kv_dtype_option:
        values.append((engine.kv_dtype_option, engine.kv_dtype_fp8))
    tries = [(f"--{option} {value}", _changed(launches, option, value)) for option, value in values]
    plain = [one for one in map(without_speculation, launches) if one is not None]
    if plain:
        tries.append(("without speculation", plain))
    tensor = engine.tensor_parallel_option
    if tensor:
        size = config.operand(tensor).value
        twice = 2 * size if isinstance(size, int) and not isinstance(size, bool) else 2
        tries.append((f"--{tensor} {twice}", _changed(launches, tensor, str(twice))))
    found = [WhatIf(name, planned(several)) for name, several in tries]
    return [one for one in found if one.plan.kv_gib is not None and not _same(one.plan, plan)]


def _same(one: MemoryPlan, other: MemoryPlan) -> bool:
    names = ("kv_gib", "kv_tokens", "max_concurrency", "verdict")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def largest_context(launches: list[Config], plan: MemoryPlan, planned: Planning = plan_over) -> int | None:
    """The largest context in tokens that certainly fits under every release that the launch may run on.

    The plan of the launch bounds the search. None if no context fits or the plan does not know.
    """
    option = ENGINES[launches[-1].launch.engine].context_option
    top = max(plan.largest_context or 0, plan.max_model_len or 0)
    return _largest_started(launches, option, top, planned)


def most_sequences(launches: list[Config], planned: Planning) -> int | None:
    """The largest number of sequences with which the launch certainly starts under every release that it may run on.

    At most `MOST_SEQUENCES`, None if no number fits or the plan does not know.
    """
    option = ENGINES[launches[-1].launch.engine].requests_option
    return _largest_started(launches, option, MOST_SEQUENCES, planned)


def _largest_started(launches: list[Config], option: str, top: int, planned: Planning) -> int | None:
    """The largest value up to a bound with which the memory suffices and nothing else stops the start."""
    found = _largest(
        top, lambda value: all(plan_of(changed(config, option, str(value))).verdict == FITS for config in reversed(launches))
    )

    def starts(value: int) -> bool:
        return planned(_changed(launches, option, str(value))).verdict == FITS

    if found is None or starts(found):
        return found
    # a bound of the engine or of the model lies below; below the least power of two that starts no value is wanted
    low = next((1 << power for power in range(found.bit_length()) if starts(1 << power)), None)
    if low is None:
        return None
    high = found
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if starts(middle) else (low, middle)
    return low


def _changed(launches: list[Config], option: str, value: str) -> list[Config]:
    return [changed(config, option, value) for config in launches]


def _largest(top: int, fits: Callable[[int], bool]) -> int | None:
    """The largest whole number up to a bound that fits. Numbers above one that does not fit do not fit either."""
    if top < 1 or not fits(1):
        return None
    if fits(min(top, _LONGEST)):
        return min(top, _LONGEST)
    low, high = 1, min(top, _LONGEST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def gpus(launches: list[Config], planned: Planning) -> list[MemoryPlan]:
    """Plan the launch, given under each release that it may run on, on each of the common GPUs, the smallest memory first."""
    found = [planned([on_gpu(config, name) for config in launches]) for name in COMMON_GPUS]
    return sorted((plan for plan in found if plan.gpu_gib is not None), key=lambda plan: plan.gpu_gib or 0.0)
