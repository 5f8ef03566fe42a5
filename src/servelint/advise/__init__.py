"""Advice on speculative decoding: whether, by which method, with how many tokens, and at what concurrency it stops paying off.

from servelint import advise
advise.gain(model="Qwen/Qwen3.6-35B-A3B-FP8", gpu="gb10", k=2, concurrency=16)
advise.recommend(use_case=advise.UseCase.SINGLE_USER, gpu_id="h100", model="Qwen/Qwen3.6-27B-FP8").enable
"""

from __future__ import annotations

from servelint.advise.commands import Refused, ServeCommand, serve_command, sglang_mtp_command, vllm_mtp_command
from servelint.advise.recommendation import Objective, Recommendation, UseCase, recommend
from servelint.speculation.gains import Calibration, Crossover, Gain, Measurement, crossover, gain, published

__all__ = [
    "Calibration", "Crossover", "Gain", "Measurement", "Objective", "Recommendation", "Refused", "ServeCommand", "UseCase",
    "crossover", "gain", "published", "recommend", "serve_command", "sglang_mtp_command", "vllm_mtp_command",
]  # fmt: skip
_MODULES = ("advise.commands", "advise.recommendation", "speculation.gains")


def __getattr__(name: str) -> object:
    # a rule that asks for the gain of a launch does not load what writes commands
    if name in __all__:
        from importlib import import_module

        for module in _MODULES:
            found = getattr(import_module(f"servelint.{module}"), name, None)
            if callable(found):
                globals()[name] = found
                return found
    raise AttributeError(f"module 'servelint.advise' has no attribute {name!r}")
