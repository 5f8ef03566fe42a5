"""The settings of a check: files, variables of the environment and options, in layers; the last one wins."""
