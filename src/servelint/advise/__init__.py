"""The adviser for speculative decoding: on or off, how many tokens, and the command that serves it."""
