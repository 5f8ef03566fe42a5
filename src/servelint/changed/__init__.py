"""Findings of changed code only: what git says has changed, and which findings that touches."""
