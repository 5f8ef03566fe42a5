"""What every layer shares: sources and traced text, launches, findings, settings, limits, and the context of a run."""
