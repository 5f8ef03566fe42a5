"""Evaluation of Python source that is read and never imported: see `servelint.harvest.pysource`."""
