"""Speculative decoding: on or off, by which method, how many tokens, and the number of requests at which that turns round.

from servelint import advise
advise.gain(model="Qwen/Qwen3.6-35B-A3B-FP8", gpu="gb10", k=2, concurrency=16)
"""

from __future__ import annotations

from servelint.advise.gain import Gain, gain

__all__ = ["Gain", "gain"]
