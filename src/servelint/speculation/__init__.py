"""Arithmetic of speculative decoding, which the adviser and the checks share."""
