"""Reads the released sources of the engines and writes what their command lines accept."""
