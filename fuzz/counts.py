"""How often something came to pass in a run, so that its report can say what the executions were."""

from __future__ import annotations

from collections import Counter

COUNTS: Counter[str] = Counter()
"""What it was -> how often: launches found, launches judged, words replaced by an unknown, ..."""
