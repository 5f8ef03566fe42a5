"""What ends a harvest."""

from __future__ import annotations


class HarvestError(Exception):
    """A release, an archive or an index that could not be read; the message says which and why."""
