"""Parsers from text to positioned nodes: YAML, JSON, templates, interpolation, shell, make, just, batch, units."""
