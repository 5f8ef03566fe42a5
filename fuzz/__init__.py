"""Fuzzing: texts that nobody would write, and what must hold of each. See docs/fuzzing.md.

    python -m fuzz --harness shell --executions 100000
"""
