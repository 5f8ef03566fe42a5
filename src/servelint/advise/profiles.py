"""What people serve: the loads of the use cases, and the tuning profiles that recipes name."""

from __future__ import annotations

import json
import os
from enum import Enum
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class UseCase(Enum):
    """Who is served."""

    SINGLE_USER = "single-user"
    CHAT = "chat"
    MULTI_USER = "multi-user"
    LONG_CONTEXT = "long-context"
    BATCH = "batch"


class Objective(Enum):
    """What counts: how long one answer takes, or how many tokens the server gives in all."""

    MINIMIZE_LATENCY = "latency"
    MAXIMIZE_THROUGHPUT = "throughput"


class Load:
    """concurrency: requests at a time;  input, output: tokens of a request;  says, source: what it is, and who measured it"""

    __slots__ = ("concurrency", "input", "output", "says", "source")

    def __init__(self, data: dict[str, Any]) -> None:
        self.concurrency: int = data["concurrency"]
        self.input: int = data["input"]
        self.output: int = data["output"]
        self.says: str = data["says"]
        self.source: str = data["source"]


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), "data", "profiles.json"), encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
        return data


def load_of(use_case: UseCase) -> Load:
    """The load that stands for a use case.

    >>> load_of(UseCase.MULTI_USER).concurrency
    16
    """
    return Load(_data()["use_cases"][use_case.value])


def profile_of(tokens: int) -> str:
    """The tuning profile that a number of drafted tokens belongs to.

    >>> [profile_of(tokens) for tokens in (0, 1, 2, 3, 5)]
    ['off', 'balanced', 'balanced', 'low-latency', 'low-latency']
    """
    return "off" if tokens == 0 else "balanced" if tokens < _data()["profiles"]["low-latency"]["steps"] else "low-latency"
